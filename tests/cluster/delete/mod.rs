//! `delete`: asked for, done, followed to its end.

mod asking;
mod following;
mod kit;
mod refusing;
