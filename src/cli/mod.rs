//! The command line: arguments in, text out.

pub mod args;
pub mod colour;
pub mod connection;
