//! `delete`: asked for, done, followed to its end.

mod archiving;
mod asking;
mod following;
mod keeping;
mod kit;
mod refusing;
