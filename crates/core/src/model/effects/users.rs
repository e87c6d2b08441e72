//! Objects that keep another: as long as they are there, its controller leaves its finalizer alone (R9.40).

/// What keeps a finalizer in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownUsers {
    finalizer: &'static str,
    /// Their kinds, in the group of the object that they keep.
    pub kinds: &'static [&'static str],
    /// The label with which they name it; `None`: all that are in its namespace.
    pub label: Option<&'static str>,
}

const USERS: &[KnownUsers] = &[
    // crossplane/crossplane-runtime pkg/reconciler/providerconfig/reconciler.go
    KnownUsers {
        finalizer: "in-use.crossplane.io",
        kinds: &["ProviderConfigUsage", "ClusterProviderConfigUsage"],
        label: Some("crossplane.io/provider-config"),
    },
    // rook/rook pkg/operator/ceph/cluster/dependents.go:CephClusterDependents
    KnownUsers {
        finalizer: "cephcluster.ceph.rook.io",
        kinds: &[
            "CephBlockPool",
            "CephRBDMirror",
            "CephFilesystem",
            "CephFilesystemMirror",
            "CephObjectStore",
            "CephObjectStoreUser",
            "CephObjectZone",
            "CephObjectZoneGroup",
            "CephObjectRealm",
            "CephNFS",
            "CephClient",
        ],
        label: None,
    },
];

/// What keeps this finalizer in its place, if anything does.
pub fn known_users(finalizer: &str) -> Option<&'static KnownUsers> {
    USERS.iter().find(|users| users.finalizer == finalizer)
}
