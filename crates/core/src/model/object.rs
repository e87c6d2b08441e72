//! Object metadata in compact form.

use std::{borrow::Cow, sync::Arc};

use serde::Serialize;

use super::{
    compact::{MaybeSeconds, ResourceVersion},
    effects::Spared,
    reference::Reference,
    resources::ResourceId,
    strings::{Strings, Symbol},
};

/// The index of an object in its snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct ObjectId(pub u32);

impl ObjectId {
    /// The id as an index into per-object tables.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The coordinates of an object in the API server's URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Coordinate {
    /// The picked version of the resource (`Resources::picked`).
    pub resource: ResourceId,
    /// Empty for cluster scope.
    pub namespace: Symbol,
    pub name: Symbol,
}

/// The metadata of an object that decides what a delete does to it, and its labels for selectors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Object {
    /// The resource that it is stored under, in the version that the collector picks (R2.1).
    pub resource: ResourceId,
    /// Empty for cluster scope.
    pub namespace: Symbol,
    /// `metadata.name`.
    pub name: Symbol,
    /// `metadata.uid`.
    pub uid: Symbol,
    /// `metadata.resourceVersion`; empty if the source has none.
    pub resource_version: ResourceVersion,
    /// `metadata.creationTimestamp`, in Unix seconds.
    pub created: MaybeSeconds,
    /// `metadata.deletionTimestamp`, in Unix seconds; set means terminating.
    pub deleted: MaybeSeconds,
    /// `metadata.deletionGracePeriodSeconds`.
    pub grace: MaybeSeconds,
    /// `metadata.finalizers`, in their order. Objects share equal lists ([`Strings`](super::Strings)).
    pub finalizers: Arc<[Symbol]>,
    /// `metadata.ownerReferences`, in their order.
    pub owners: Arc<[Reference]>,
    /// `metadata.labels`, sorted by key.
    pub labels: Arc<[(Symbol, Symbol)]>,
    /// Who leaves it alone, as its annotations say.
    pub spared: Spared,
    /// The Application of Argo CD that its annotation names; empty if none does.
    pub tracked_by: Symbol,
}

impl Object {
    /// Whether `deletionTimestamp` is set.
    pub fn terminating(&self) -> bool {
        self.deleted.is_some()
    }

    /// When its deletion was requested, in Unix seconds: `deletionTimestamp` is the end of the grace period.
    pub(crate) fn deletion_requested(&self) -> Option<i64> {
        Some(self.deleted.get()? - self.grace.get().unwrap_or(0))
    }

    /// Whether its controller is the object with this uid.
    pub(crate) fn is_controlled_by(&self, uid: Symbol) -> bool {
        self.owners.iter().any(|reference| reference.is_controller() && reference.uid == uid)
    }

    pub fn coordinate(&self) -> Coordinate {
        Coordinate { resource: self.resource, namespace: self.namespace, name: self.name }
    }
}

/// An object's metadata before interning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RawObject<'a> {
    pub namespace: Cow<'a, str>,
    pub name: Cow<'a, str>,
    pub uid: Cow<'a, str>,
    pub resource_version: Cow<'a, str>,
    /// Unix seconds.
    pub created: Option<i64>,
    /// Unix seconds.
    pub deleted: Option<i64>,
    pub grace: Option<i64>,
    pub finalizers: Vec<Cow<'a, str>>,
    pub owners: Vec<RawReference<'a>>,
    pub labels: Vec<(Cow<'a, str>, Cow<'a, str>)>,
    /// What its annotations say.
    pub spared: Spared,
    /// The Application of Argo CD that its annotation names; else empty.
    pub tracked_by: Cow<'a, str>,
    /// The field manager that created it; only watches tell, when an object is created. Else empty.
    pub manager: Cow<'a, str>,
}

/// An owner reference before interning. In a file, what is missing is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RawReference<'a> {
    pub api_version: Cow<'a, str>,
    pub kind: Cow<'a, str>,
    pub name: Cow<'a, str>,
    pub uid: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub controller: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_owner_deletion: Option<bool>,
}

/// An owned copy of a text.
fn own(text: Cow<'_, str>) -> Cow<'static, str> {
    Cow::Owned(text.into_owned())
}

impl<'a> RawObject<'a> {
    /// An object of which nothing else matters.
    pub fn named(
        namespace: impl Into<Cow<'a, str>>,
        name: impl Into<Cow<'a, str>>,
        uid: impl Into<Cow<'a, str>>,
    ) -> Self {
        RawObject { namespace: namespace.into(), name: name.into(), uid: uid.into(), ..RawObject::default() }
    }

    /// A copy that borrows nothing.
    pub fn into_owned(self) -> RawObject<'static> {
        RawObject {
            namespace: own(self.namespace),
            name: own(self.name),
            uid: own(self.uid),
            resource_version: own(self.resource_version),
            created: self.created,
            deleted: self.deleted,
            grace: self.grace,
            finalizers: self.finalizers.into_iter().map(own).collect(),
            owners: self.owners.into_iter().map(RawReference::into_owned).collect(),
            labels: self.labels.into_iter().map(|(key, value)| (own(key), own(value))).collect(),
            spared: self.spared,
            tracked_by: own(self.tracked_by),
            manager: own(self.manager),
        }
    }
}

impl<'a> RawReference<'a> {
    /// A reference without flags.
    pub fn to(
        api_version: impl Into<Cow<'a, str>>,
        kind: impl Into<Cow<'a, str>>,
        name: impl Into<Cow<'a, str>>,
        uid: impl Into<Cow<'a, str>>,
    ) -> Self {
        let (api_version, kind) = (api_version.into(), kind.into());
        RawReference { api_version, kind, name: name.into(), uid: uid.into(), ..RawReference::default() }
    }

    /// The same in symbols of these strings.
    pub fn intern(&self, strings: &mut Strings) -> Reference {
        Reference {
            api_version: strings.intern(&self.api_version),
            kind: strings.intern(&self.kind),
            name: strings.intern(&self.name),
            uid: strings.intern(&self.uid),
            controller: self.controller,
            block_owner_deletion: self.block_owner_deletion,
        }
    }

    /// A copy that borrows nothing.
    pub fn into_owned(self) -> RawReference<'static> {
        RawReference {
            api_version: own(self.api_version),
            kind: own(self.kind),
            name: own(self.name),
            uid: own(self.uid),
            controller: self.controller,
            block_owner_deletion: self.block_owner_deletion,
        }
    }
}
