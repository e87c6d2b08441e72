//! `delete --hold` and `cancel`, against the real collector and controllers.

mod cancelling;
mod deciding;
mod holding;
mod killing;
pub mod kit;
mod refusing;
mod rights;
