//! Not one object with an owner that lives is ever deleted, whoever changes what meanwhile, and whatever fails: and yet
//! all that has to go goes.
//!
//! [`between`] puts a change exactly between a look and what follows from it. [`at_random`] does all at once: owners
//! are deleted and made anew under their names, references change all the time, requests take their time, the API
//! server crashes, and so do sweeps.

mod at_random;
mod audit;
mod between;
mod recreated;
mod stubborn;
mod world;

use crate::harness::{ADMIN, Cluster, CountingProxy, KINDS, Options};

/// A cluster on which nobody collects yet, and the way to it on which requests can be held up.
fn cluster(options: &Options) -> (Cluster, CountingProxy) {
    let cluster = Cluster::start(options);
    cluster.apply_yaml(KINDS);
    let proxy = CountingProxy::start_as(&cluster, ADMIN);
    (cluster, proxy)
}
