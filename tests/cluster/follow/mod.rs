//! Plans that are carried out and followed to their end, on the real control plane.

mod ends;
mod kit;
mod lost;
mod many;
mod random;
