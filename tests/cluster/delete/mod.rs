//! `delete`: asks, deletes, and follows the cascade to its end.

mod archiving;
mod asking;
mod following;
mod keeping;
pub mod kit;
mod refusing;
