//! Clusters of any number of objects of one kind.

use gc_core::model::{
    ListRecord, Origin, RawObject, RawReference, Resource, ResourceId, Resources, Snapshot, SnapshotBuilder,
};

/// An object: the numbers of its owners, whether it is terminating, and its finalizers.
pub type Shop = (Vec<u32>, bool, &'static [&'static str]);

/// The sizes on the command line, or three usual ones.
pub fn sizes() -> Vec<u32> {
    let sizes: Vec<u32> = std::env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    if sizes.is_empty() { vec![10_000, 100_000, 1_000_000] } else { sizes }
}

/// A cluster of so many.
pub fn cluster(size: u32, shop: impl Fn(u32) -> Shop) -> Snapshot {
    let verbs = ["get", "list", "watch", "delete", "patch"];
    let kind = Resource::named("acme.io", "v1", "shops", "Shop").with_verbs(&verbs);
    let mut builder = SnapshotBuilder::new(Origin::Dump { paths: Vec::new() }, Resources::new(vec![kind], Vec::new()));
    for number in 0..size {
        let (owners, terminating, finalizers) = shop(number);
        let owners = owners.into_iter().map(|owner| {
            // The last object's reference closes the cycle.
            let owner = if owner == size { 0 } else { owner };
            let to = RawReference::to("acme.io/v1", "Shop", format!("o{owner}"), format!("u{owner}"));
            RawReference { block_owner_deletion: Some(true), ..to }
        });
        let object = RawObject {
            deleted: terminating.then_some(1),
            finalizers: finalizers.iter().map(|finalizer| (*finalizer).into()).collect(),
            owners: owners.collect(),
            ..RawObject::named("ns", format!("o{number}"), format!("u{number}"))
        };
        builder.add(ResourceId(0), &object);
    }
    builder.list(ListRecord::complete(ResourceId(0)));
    builder.build()
}
