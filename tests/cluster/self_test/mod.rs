//! Tests of the harness itself: that the control plane is real, and that nothing of it stays behind.

mod collector;
mod etcd;
mod leftovers;
mod proxy;
mod servers;
