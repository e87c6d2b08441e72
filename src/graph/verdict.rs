//! What a look-up of one owner reference says: the table of §3.4, in the two halves that lie before and after the
//! answer.

use crate::model::{Coordinate, Mapping, ObjectId, Presence, Reference, ResourceId, Resources, Snapshot, Symbol};

use super::owner_graph::OwnerGraph;

/// Where a reference has to be looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Address {
    /// GET this.
    At(Coordinate),
    /// A list kind: the path doesn't exist, which reads as absent (R3.15).
    NoSuchPath,
    /// The same to who doesn't take a path that doesn't exist for the absence of an object (R3.16).
    DoubtedPath,
    /// No such version and kind is served, or no name is given: an error that is retried for ever (L2, R3.13).
    Unmappable,
    /// A cluster-scoped holder names an owner of a namespaced kind: an error that is never retried (L3).
    InvalidScope,
    /// It is not known whether its version and kind are served.
    Undiscovered,
}

/// Why a reference is dangling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dangling {
    /// Nothing is at its coordinates (L4).
    Absent,
    /// An object with another uid is there (L6).
    OtherUid(ObjectId),
    /// Its kind is a list kind (R3.15).
    ListKind,
}

/// What one reference of one holder turns out to be (§3.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The owner is there and not waiting for its dependents (L8).
    Solid(ObjectId),
    /// The owner is there, terminating with the foreground finalizer (L7).
    Waiting(ObjectId),
    /// The owner is verifiably not there (L4, L6).
    Dangling(Dangling),
    /// See [`Address::Unmappable`].
    Unmappable,
    /// See [`Address::InvalidScope`].
    InvalidScope,
    /// See [`Address::DoubtedPath`]: it proves nothing, so that whoever holds it is left alone.
    Doubted,
    /// It could not be read (L5, R10.2).
    Unknown,
}

impl Address {
    /// Where `reference`, held by an object in `namespace` (empty: cluster-scoped), is looked up (L2–L4).
    pub fn of(snapshot: &Snapshot, graph: &OwnerGraph, reference: &Reference, namespace: Symbol) -> Address {
        match Address::mapped(&snapshot.resources, graph.mapping(reference), reference.name, namespace) {
            Address::NoSuchPath if graph.doubts_missing_apis() => Address::DoubtedPath,
            address => address,
        }
    }

    /// Where an owner of this name is looked up, to whose apiVersion and kind this is what they map to.
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
            // No request is made at all: the collector's client refuses to.
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
    /// The coordinate to look up, or the verdict where there is nothing to look up.
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
    /// The verdict on a reference as the snapshot stands, with nothing deleted.
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

    /// The verdict on a reference at whose coordinates there is this object (L6–L8).
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Origin, RawObject, RawReference, Resource, Resources, SnapshotBuilder};

    /// What references that are spelled like this lead to: an object in a namespace has them to another one there,
    /// which is called `owner`.
    fn leads_to(spellings: &[[&str; 3]]) -> Vec<Verdict> {
        let kind = Resource {
            version: "v1".to_owned(),
            plural: "pods".to_owned(),
            kind: "Pod".to_owned(),
            namespaced: true,
            verbs: ["delete", "list", "watch"].map(str::to_owned).to_vec(),
            ..Resource::default()
        };
        let resources = Resources::new(vec![kind], Vec::new());
        let pods = resources.by_group_plural("", "pods").expect("pods");
        let mut builder = SnapshotBuilder::new(Origin::Dump { paths: Vec::new() }, resources);
        let object = |name: &'static str, owners: Vec<RawReference<'static>>| RawObject {
            namespace: "shop".into(),
            name: name.into(),
            uid: name.into(),
            owners,
            ..RawObject::default()
        };
        builder.add(pods, &object("owner", Vec::new()));
        let reference = |[api_version, kind, name]: &[&str; 3]| RawReference {
            api_version: api_version.to_string().into(),
            kind: kind.to_string().into(),
            name: name.to_string().into(),
            uid: "owner".into(),
            ..RawReference::default()
        };
        let holder = builder.add(pods, &object("holder", spellings.iter().map(reference).collect()));
        let snapshot = builder.build();
        let (graph, holder) = (OwnerGraph::new(&snapshot), snapshot.object(holder));
        holder.owners.iter().map(|reference| Verdict::of(&snapshot, &graph, reference, holder.namespace)).collect()
    }

    #[test]
    fn spellings() {
        let verdicts = leads_to(&[
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
        assert_eq!(leads_to(&unmappable), [Verdict::Unmappable; 5]);
    }
}
