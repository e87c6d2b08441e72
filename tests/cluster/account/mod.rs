//! `watch`: what it tells of what the real collector, the API server and controllers do.

mod cascades;
mod ends;
mod kit;
mod loops;
mod lost;
mod rights;
