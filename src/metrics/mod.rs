//! What a running sweep tells of itself: numbers for Prometheus, and whether it is alive.

mod listen;

pub use listen::{Listen, ListenError};
