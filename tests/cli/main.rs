//! The binary as a user runs it, on the dumps in `examples/` and on small ones made here.

mod bad_input;
mod run;
mod streams;
mod targets;
