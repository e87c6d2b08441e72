//! The scope of a diagnosis: which findings are reported if only some objects are requested.

use rustc_hash::FxHashSet;

use crate::model::{ObjectId, Snapshot, Symbol};

use super::{
    code::{Code, Trait},
    finding::Finding,
};

/// The scope.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Limit {
    #[default]
    Everything,
    /// Objects with these uids, and namespaces: each Namespace, and everything in it.
    Only { uids: FxHashSet<Symbol>, namespaces: FxHashSet<Symbol> },
}

impl Limit {
    /// A namespace: the object, and everything in it.
    pub fn namespace(namespace: Symbol) -> Self {
        Limit::Only { uids: FxHashSet::default(), namespaces: [namespace].into_iter().collect() }
    }

    /// These objects, and what is in those that are Namespaces.
    pub fn objects(snapshot: &Snapshot, objects: impl IntoIterator<Item = ObjectId>) -> Self {
        let (mut uids, mut namespaces) = (FxHashSet::default(), FxHashSet::default());
        for id in objects {
            uids.insert(snapshot.object(id).uid);
            namespaces.extend(snapshot.is_namespace(id).then(|| snapshot.object(id).name));
        }
        Limit::Only { uids, namespaces }
    }

    /// Whether a finding is in scope: a requested object is affected or involved. One that a requested object only
    /// causes isn't: the finding about the cause names what suffers, and what mends the cause mends that. A finding
    /// about the whole cluster concerns every namespace, but no single object.
    pub fn takes(&self, snapshot: &Snapshot, finding: &Finding) -> bool {
        let any = || finding.concerned().any(|id| self.asks_about(snapshot, id));
        match self {
            Limit::Everything => true,
            Limit::Only { .. } => self.has_namespaces() && ails_all(finding) || any(),
        }
    }

    /// Whether it is limited to what is in some namespaces.
    pub(super) fn has_namespaces(&self) -> bool {
        matches!(self, Limit::Only { namespaces, .. } if !namespaces.is_empty())
    }

    /// Whether an object is in scope.
    pub fn asks_about(&self, snapshot: &Snapshot, id: ObjectId) -> bool {
        let object = snapshot.object(id);
        match self {
            Limit::Everything => true,
            Limit::Only { uids, namespaces } => {
                uids.contains(&object.uid)
                    || namespaces.contains(&object.namespace)
                    || namespaces.contains(&object.name) && snapshot.is_namespace(id)
            }
        }
    }

    /// Whether an object that no longer exists is in scope. `namespace` is empty for a cluster-scoped object.
    pub fn asks_about_namespace(&self, snapshot: &Snapshot, namespace: &str) -> bool {
        match self {
            Limit::Everything => true,
            Limit::Only { namespaces, .. } => namespaces.iter().any(|asked| snapshot.text(*asked) == namespace),
        }
    }
}

/// Whether a finding is about the whole cluster, or only about objects that no longer exist.
fn ails_all(finding: &Finding) -> bool {
    // Events about other namespaces were filtered when they were gathered.
    let of_what_is_gone = finding.code == Code::OwnerNamespaceEvent && finding.objects.is_empty();
    finding.code.has(Trait::OfCluster) || of_what_is_gone
}
