//! Graphs of objects, what is foretold of them, and what really became of them: shared by the tests of the engine
//! (`tests/engine`) and by those against the real collector (`tests/cluster`), so that a record of the one is judged by
//! the same code in the other.
//!
//! Nothing in here talks to a cluster, and no test stands in here, or it would run in both.

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
