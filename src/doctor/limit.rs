//! The scope of a diagnosis: which findings are reported if only some objects are requested.

use rustc_hash::FxHashSet;

use crate::model::{ObjectId, Snapshot, Symbol};

use super::{code::Code, finding::Finding};

/// The scope.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Limit {
    #[default]
    Everything,
    /// A namespace: the object, and everything in it.
    Namespace(Symbol),
    /// Objects with these uids.
    Objects(FxHashSet<Symbol>),
}

impl Limit {
    /// Whether a finding is in scope: a requested object is affected or involved. A finding about the whole cluster
    /// concerns every namespace, but no single object.
    pub fn takes(&self, snapshot: &Snapshot, finding: &Finding) -> bool {
        let any = || finding.objects.iter().chain(&finding.related).any(|id| self.asks_about(snapshot, *id));
        match self {
            Limit::Everything => true,
            Limit::Objects(_) => any(),
            Limit::Namespace(_) => ails_all(finding) || any(),
        }
    }

    /// Whether an object is in scope.
    pub fn asks_about(&self, snapshot: &Snapshot, id: ObjectId) -> bool {
        let object = snapshot.object(id);
        match self {
            Limit::Everything => true,
            Limit::Objects(uids) => uids.contains(&object.uid),
            Limit::Namespace(namespace) => {
                let is_namespace = || snapshot.resources.get(object.resource).kind == "Namespace";
                object.namespace == *namespace || (object.name == *namespace && is_namespace())
            }
        }
    }

    /// Whether an object that no longer exists is in scope. `namespace` is empty for a cluster-scoped object.
    pub fn asks_about_namespace(&self, snapshot: &Snapshot, namespace: &str) -> bool {
        match self {
            Limit::Everything => true,
            Limit::Objects(_) => false,
            Limit::Namespace(asked) => snapshot.text(*asked) == namespace,
        }
    }
}

/// Whether a finding is about the whole cluster, or only about objects that no longer exist.
fn ails_all(finding: &Finding) -> bool {
    // Events about other namespaces were filtered when they were gathered.
    let of_what_is_gone = finding.code == Code::OwnerNamespaceEvent && finding.objects.is_empty();
    let of_all = matches!(
        finding.code,
        Code::CollectorStopped
            | Code::ApiUnavailable
            | Code::ConversionBroken
            | Code::WebhookUnreachable
            | Code::UndecodableObject
            | Code::ListUnreadable
    );
    of_all || of_what_is_gone
}
