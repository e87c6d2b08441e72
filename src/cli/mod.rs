//! The command line: arguments in, text out.

pub mod args;
pub mod colour;
pub mod completion;
pub mod connection;
pub mod version;
