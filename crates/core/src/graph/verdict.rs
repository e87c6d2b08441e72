//! Resolves one owner reference by the table of §3.4: first to a coordinate, then, with the answer, to a verdict.

use crate::model::{Coordinate, Mapping, ObjectId, Presence, Reference, ResourceId, Resources, Snapshot, Symbol};

use super::owner_graph::OwnerGraph;

/// How a reference is looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Address {
    /// With a GET of this coordinate.
    At(Coordinate),
    /// Not at all: it names a list kind, whose API path doesn't exist. The collector reads the 404 as "absent" (R3.15).
    NoSuchPath,
    /// The same for a collector that doesn't read a 404 for a whole API path as "absent" (R3.16).
    DoubtedPath,
    /// Not at all: no such apiVersion and kind is served, or the name is empty. The collector retries forever (L2,
    /// R3.13).
    Unmappable,
    /// Not at all: a cluster-scoped dependent names an owner of a namespaced kind. The collector never retries (L3).
    InvalidScope,
    /// Unknown: the group version could not be discovered.
    Undiscovered,
}

/// Why a reference is dangling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dangling {
    /// No object has its coordinates (L4).
    Absent,
    /// An object with another uid has its coordinates (L6).
    OtherUid(ObjectId),
    /// It names a list kind (R3.15).
    ListKind,
}

/// What a dependent's owner reference resolves to (§3.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The owner exists and doesn't wait for its dependents (L8).
    Solid(ObjectId),
    /// The owner is terminating with the foreground finalizer (L7).
    Waiting(ObjectId),
    /// The owner is proven absent (L4, L6).
    Dangling(Dangling),
    /// See [`Address::Unmappable`].
    Unmappable,
    /// See [`Address::InvalidScope`].
    InvalidScope,
    /// See [`Address::DoubtedPath`]: nothing is proven, so the dependent is left alone.
    Doubted,
    /// The owner could not be read (L5, R10.2).
    Unknown,
}

impl Address {
    /// How a reference of a dependent in `namespace` (empty: cluster-scoped) is looked up (L2–L4).
    pub fn of(snapshot: &Snapshot, graph: &OwnerGraph, reference: &Reference, namespace: Symbol) -> Address {
        match Address::mapped(&snapshot.resources, graph.mapping(reference), reference.name, namespace) {
            Address::NoSuchPath if graph.doubts_missing_apis() => Address::DoubtedPath,
            address => address,
        }
    }

    /// How an owner with this name is looked up if its apiVersion and kind map to `mapping`.
    pub fn mapped(resources: &Resources, mapping: Mapping, name: Symbol, namespace: Symbol) -> Address {
        let (served, namespaced): (Option<ResourceId>, bool) = match mapping {
            Mapping::Unmappable => return Address::Unmappable,
            Mapping::Undiscovered => return Address::Undiscovered,
            Mapping::ListKind { namespaced } => (None, namespaced),
            Mapping::Served(id) => (Some(resources.picked(id)), resources.get(id).namespaced),
        };
        if namespaced && namespace.is_empty() {
            return Address::InvalidScope;
        }
        if name.is_empty() {
            // The collector's client refuses to send a request without a name.
            return Address::Unmappable;
        }
        match served {
            None => Address::NoSuchPath,
            Some(resource) => Address::At(Coordinate {
                resource,
                namespace: if namespaced { namespace } else { Symbol::EMPTY },
                name,
            }),
        }
    }
}

impl Address {
    /// The coordinate to look up, or the verdict if nothing needs to be looked up.
    pub fn coordinate(self) -> Result<Coordinate, Verdict> {
        match self {
            Address::At(coordinate) => Ok(coordinate),
            Address::NoSuchPath => Err(Verdict::Dangling(Dangling::ListKind)),
            Address::DoubtedPath => Err(Verdict::Doubted),
            Address::Unmappable => Err(Verdict::Unmappable),
            Address::InvalidScope => Err(Verdict::InvalidScope),
            Address::Undiscovered => Err(Verdict::Unknown),
        }
    }
}

impl Verdict {
    /// The verdict on a reference in the current snapshot.
    pub fn of(snapshot: &Snapshot, graph: &OwnerGraph, reference: &Reference, namespace: Symbol) -> Verdict {
        let coordinate = match Address::of(snapshot, graph, reference, namespace).coordinate() {
            Ok(coordinate) => coordinate,
            Err(verdict) => return verdict,
        };
        match snapshot.look_up(coordinate) {
            Presence::Unknown => Verdict::Unknown,
            Presence::Absent => Verdict::Dangling(Dangling::Absent),
            Presence::Present(owner) => {
                let object = snapshot.object(owner);
                let waiting = object.terminating() && object.finalizers.contains(&Symbol::FOREGROUND);
                Verdict::on(snapshot, reference, owner, waiting)
            }
        }
    }

    /// The verdict on a reference if this object has its coordinates (L6–L8).
    pub fn on(snapshot: &Snapshot, reference: &Reference, owner: ObjectId, waiting: bool) -> Verdict {
        if snapshot.object(owner).uid != reference.uid {
            Verdict::Dangling(Dangling::OtherUid(owner))
        } else if waiting {
            Verdict::Waiting(owner)
        } else {
            Verdict::Solid(owner)
        }
    }
}

/// The owners of these objects that only a list calls absent or replaced, or that no list covers. One that was created
/// between two lists is missing in one of them, and its dependents are in the other: only a look-up proves its absence
/// (R8.7).
pub fn unconfirmed_owners(
    snapshot: &Snapshot,
    graph: &OwnerGraph,
    objects: impl Iterator<Item = ObjectId>,
) -> Vec<Coordinate> {
    let mut unconfirmed = Vec::new();
    for object in objects.map(|id| snapshot.object(id)) {
        for reference in object.owners.iter() {
            if let Address::At(coordinate) = Address::of(snapshot, graph, reference, object.namespace)
                && !matches!(
                    Verdict::of(snapshot, graph, reference, object.namespace),
                    Verdict::Solid(_) | Verdict::Waiting(_)
                )
                && !snapshot.was_looked_up(coordinate)
            {
                unconfirmed.push(coordinate);
            }
        }
    }
    unconfirmed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Origin, RawObject, RawReference, Resource, Resources, SnapshotBuilder};

    /// The verdicts on references with these apiVersions, kinds and names, to an object `owner` in the same namespace.
    fn verdicts_on(spellings: &[[&str; 3]]) -> Vec<Verdict> {
        let kind = Resource::named("", "v1", "pods", "Pod").with_verbs(&["delete", "list", "watch"]);
        let resources = Resources::new(vec![kind], Vec::new());
        let pods = resources.by_group_plural("", "pods").expect("pods");
        let mut builder = SnapshotBuilder::new(Origin::Dump { paths: Vec::new() }, resources);
        let object = |name: &'static str, owners: Vec<RawReference<'static>>| RawObject {
            owners,
            ..RawObject::named("shop", name, name)
        };
        builder.add(pods, &object("owner", Vec::new()));
        let reference = |[api_version, kind, name]: &[&str; 3]| {
            RawReference::to(api_version.to_string(), kind.to_string(), name.to_string(), "owner")
        };
        let holder = builder.add(pods, &object("holder", spellings.iter().map(reference).collect()));
        let snapshot = builder.build();
        let (graph, holder) = (OwnerGraph::new(&snapshot), snapshot.object(holder));
        holder.owners.iter().map(|reference| Verdict::of(&snapshot, &graph, reference, holder.namespace)).collect()
    }

    #[test]
    fn spellings() {
        let verdicts = verdicts_on(&[
            ["v1", "Pod", "owner"],
            ["v1", "pod", "owner"],
            ["/v1", "Pod", "owner"],
            ["v1", "PodList", "owner"],
        ]);
        let owner = ObjectId(0);
        let list = Verdict::Dangling(Dangling::ListKind);
        assert_eq!(verdicts, [Verdict::Solid(owner), Verdict::Solid(owner), Verdict::Solid(owner), list]);
        let unmappable = [
            ["v1", "POD", "owner"],
            ["v1", "Pod", ""],
            ["", "Pod", "owner"],
            ["a/b/v1", "Pod", "owner"],
            ["v1/", "Pod", "owner"],
        ];
        assert_eq!(verdicts_on(&unmappable), [Verdict::Unmappable; 5]);
    }
}
