//! `delete`: asked for, done, followed to its end.

mod asking;
mod kit;
mod refusing;
