//! Which findings are told where only some objects are asked about.

use rustc_hash::FxHashSet;

use crate::model::{ObjectId, Snapshot, Symbol};

use super::{code::Code, finding::Finding};

/// What is asked about.
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
    /// Whether a finding has to do with what is asked about: it suffers, or has a part in it. What ails the cluster as
    /// a whole has to do with every namespace, but with no single object.
    pub fn takes(&self, snapshot: &Snapshot, finding: &Finding) -> bool {
        let any = || finding.objects.iter().chain(&finding.related).any(|id| self.asks_about(snapshot, *id));
        match self {
            Limit::Everything => true,
            Limit::Objects(_) => any(),
            Limit::Namespace(_) => ails_all(finding) || any(),
        }
    }

    /// Whether an object is asked about.
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

    /// Whether something in a namespace (none where it is empty) that is not there any more is asked about.
    pub fn asks_about_namespace(&self, snapshot: &Snapshot, namespace: &str) -> bool {
        match self {
            Limit::Everything => true,
            Limit::Objects(_) => false,
            Limit::Namespace(asked) => snapshot.text(*asked) == namespace,
        }
    }
}

/// Whether a finding ails the whole cluster, or speaks only of what is not there any more.
fn ails_all(finding: &Finding) -> bool {
    // Complaints about other namespaces were left out when they were gathered.
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
