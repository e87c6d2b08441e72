//! `plan --apply`: files are really applied with the real collector, and the end of each object is compared with the
//! prediction. Then the same with the mended file, of which nothing may be collected.

mod kit;
mod mended;
mod random;
mod refused;
mod scenes;
