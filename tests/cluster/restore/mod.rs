//! Restores archives to the real API server.

mod elsewhere;
mod killed;
mod kit;
mod many;
mod races;
mod round_trip;
mod shop;
mod single;
mod some;
mod workloads;

pub use kit::quiet;
