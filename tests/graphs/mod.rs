//! Graphs of objects, their predicted ends and their real ends. The tests of the engine (`tests/engine`) and those
//! against the real collector (`tests/cluster`) share this module, so the same code judges records and live runs.
//!
//! Nothing here talks to a cluster. Don't add tests here: they would run in both.

pub mod early;
pub mod end;
pub mod generate;
pub mod judge;
pub mod kinds;
pub mod record;
pub mod record_files;
pub mod scene;
pub mod shrink;
pub mod text;
