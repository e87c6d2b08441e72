//! `delete`: asks, deletes, and follows the cascade to its end.

mod archiving;
mod asking;
mod following;
mod inventories;
mod keeping;
pub mod kit;
mod refusing;
