//! No object with a living owner is ever deleted, whatever changes or fails meanwhile; and every object that must be
//! collected is.
//!
//! [`between`] makes one change exactly between a read and the request that follows from it. [`at_random`] does
//! everything at once: owners are deleted and recreated under their names, references change all the time, requests are
//! slow, the API server and the sweeps crash.

mod at_random;
mod between;
mod recreated;
mod stubborn;
mod world;

use crate::harness::{ADMIN, Alone, CountingProxy, KINDS, Options};

/// A cluster without a collector yet, and a proxy to it that can delay requests.
fn cluster(options: &Options) -> (Alone, CountingProxy) {
    let cluster = Alone::start(options);
    cluster.apply_yaml(KINDS);
    let proxy = CountingProxy::start_as(&cluster, ADMIN);
    (cluster, proxy)
}
