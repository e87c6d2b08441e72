//! Tests of the harness itself: the control plane is real, and nothing is left over.

mod collector;
mod etcd;
mod leftovers;
mod proxy;
mod servers;
