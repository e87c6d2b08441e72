//! The command line.

pub mod args;
pub mod connection;
pub mod targets;
