//! The codes of findings. A code never changes its meaning; `docs/findings.md` has a section for each.

use serde::{Serialize, Serializer};

use crate::model::effects::Severity;

/// What findings of a code have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trait {
    /// A working collector or controller would resolve them without help.
    Passes,
    /// They are about the whole cluster.
    OfCluster,
    /// They prevent writes or reads, and so cause others.
    Causes,
    /// Their remedies let Terminating objects go.
    Releases,
}

/// Declares the codes: name, highest severity, a short title, and traits.
macro_rules! codes {
    ($($code:ident, $name:literal, $severity:ident, $title:literal, [$($trait:ident),*];)*) => {
        /// The kind of a finding.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Code {
            $($code,)*
        }

        impl Code {
            /// All codes, in the order in which they are listed.
            pub const ALL: [Code; [$(Code::$code),*].len()] = [$(Code::$code),*];

            fn row(self) -> (&'static str, Severity, &'static str, &'static [Trait]) {
                match self {
                    $(Code::$code => ($name, Severity::$severity, $title, &[$(Trait::$trait),*]),)*
                }
            }
        }
    };
}

codes! {
    // References (§3.6).
    OwnerAbsent, "owner-absent", Error, "an owner is missing", [Passes];
    OwnerOtherUid, "owner-other-uid", Error, "an owner is missing, and another object has its name", [Passes];
    OwnerOtherName, "owner-other-name", Error, "a reference has the wrong name for its owner", [Passes];
    OwnerOtherKind, "owner-other-kind", Error, "a reference has the wrong kind for its owner", [Passes];
    OwnerOtherNamespace, "owner-other-namespace", Error,
        "an owner is in another namespace, so it does not count", [Passes];
    OwnerListKind, "owner-list-kind", Error, "a reference names a list kind, which is never found", [Passes];
    OwnerInvalidScope, "namespaced-owner-of-cluster-scoped", Warning,
        "a cluster-scoped object names a namespaced owner", [];
    OwnerNotServed, "owner-not-served", Warning, "a reference's kind is not served in this version", [];
    OwnerMalformed, "owner-malformed", Warning, "a reference is incomplete or cannot be parsed", [];
    OwnerDuplicated, "owner-duplicated", Warning, "several references have the same uid", [];
    OwnerUnread, "owner-unread", Note, "an owner could not be read, and may not exist", [];
    SharedUid, "shared-uid", Warning, "several objects have the same uid", [];
    // Cycles (§5.2, §5.3).
    OwnershipCycle, "ownership-cycle", Warning, "objects own each other in a cycle", [];
    SelfOwned, "self-owned", Warning, "an object owns itself", [];
    BlockingCycle, "blocking-cycle", Warning, "a foreground delete would wait for itself forever", [];
    ForegroundDeadlock, "foreground-deadlock", Error, "foreground deletes wait for each other forever", [Releases];
    // Stuck deletions (§5.4).
    StuckFinalizer, "stuck-finalizer", Error,
        "a finalizer blocks a deletion, and no controller is known to remove it", [Passes, Releases];
    SlowFinalizer, "slow-finalizer", Warning,
        "a finalizer blocks a deletion, and it is known who removes it", [Releases];
    DeletionInProgress, "deletion-in-progress", Warning, "a deletion is not done yet", [];
    StuckOnNotServed, "stuck-on-not-served", Error,
        "a foreground delete waits for a dependent with a reference that cannot be looked up", [Releases];
    StuckOnInvalidScope, "stuck-on-invalid-scope", Error,
        "a foreground delete waits for a cluster-scoped dependent with a namespaced owner", [Releases];
    StuckOnProtected, "stuck-on-protected", Error, "a foreground delete waits for a dependent that the API server \
        refuses to delete", [Releases];
    StuckUnwatched, "stuck-unwatched", Error,
        "a delete waits for the collector, which does not watch this kind", [Releases];
    StuckOnSchema, "stuck-on-schema", Error,
        "a delete waits for a change that an object's CRD no longer allows", [Releases];
    NamespaceMissing, "namespace-missing", Error, "objects are in a namespace that does not exist", [Passes];
    DependentsRecreated, "dependents-recreated", Warning,
        "a client keeps creating dependents that a foreground delete waits for", [Releases];
    PodWithoutKubelet, "pod-without-kubelet", Error, "a pod is Terminating, and no kubelet ends it", [Passes, Releases];
    PodClaimDeadlock, "pod-claim-deadlock", Error, "a pod and a claim wait for each other", [];
    ClaimInUse, "claim-in-use", Warning, "a claim is Terminating, and its data goes when a pod that uses it ends", [];
    NamespaceSpecFinalizer, "namespace-spec-finalizer", Error,
        "a finalizer in a namespace's spec blocks its deletion, and no controller is known to remove it", [Releases];
    NamespaceStuck, "namespace-stuck", Error, "a namespace is Terminating and makes no progress", [Passes, Releases];
    DefinitionStuck, "definition-stuck", Error, "a CRD is Terminating, and its instances cannot be deleted", [Releases];
    HeldDeletion, "held-deletion", Warning, "a delete waits until somebody lets it go or takes it back", [];
    ArmedDeletion, "armed-deletion", Error, "deletions will start when a controller or API comes back", [];
    // The collector, and what keeps it from reading or writing.
    CollectorIdle, "collector-idle", Error, "the collector has not done its work on these objects", [Passes];
    CollectorRefused, "collector-refused", Error, "the collector is running, but its writes to these objects are \
        rejected", [Passes];
    CollectorStopped, "collector-stopped", Error, "no collector is running", [OfCluster];
    ApiUnavailable, "api-unavailable", Error, "an aggregated API does not answer", [OfCluster, Causes, Releases];
    ConversionBroken, "conversion-broken", Error, "a CRD's conversion webhook fails", [OfCluster, Causes, Releases];
    WebhookUnreachable, "webhook-unreachable", Error,
        "a required admission webhook is unreachable", [OfCluster, Causes, Releases];
    PolicyRefuses, "policy-refuses", Error, "an admission policy refuses what the collector or the namespace \
        controller must do", [Causes, Releases];
    UndecodableObject, "undecodable-object", Error, "a stored object cannot be decoded", [OfCluster, Causes];
    ListUnreadable, "list-unreadable", Warning, "a list fails", [OfCluster];
    OwnerNamespaceEvent, "owner-namespace-event", Note, "the collector reported an owner in another namespace", [];
}

impl Code {
    /// The code as it is printed.
    pub fn name(self) -> &'static str {
        self.row().0
    }

    /// The highest severity of a finding with this code.
    pub fn severity(self) -> Severity {
        self.row().1
    }

    /// A short description.
    pub fn title(self) -> &'static str {
        self.row().2
    }

    /// The code with this name.
    pub fn named(name: &str) -> Option<Code> {
        Code::ALL.into_iter().find(|code| code.name() == name)
    }

    /// Whether a working collector or controller would resolve it without help. If the affected objects decrease
    /// between looks, it is not reported, because someone is working on it.
    pub fn passes(self) -> bool {
        self.has(Trait::Passes)
    }

    /// Whether it keeps others from writing or reading, and so causes other findings.
    pub fn prevents(self) -> bool {
        self.has(Trait::Causes)
    }

    pub(super) fn has(self, wanted: Trait) -> bool {
        self.row().3.contains(&wanted)
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_code_has_a_name_of_its_own() {
        let names: BTreeSet<&str> = Code::ALL.into_iter().map(Code::name).collect();
        assert_eq!(names.len(), Code::ALL.len());
        for code in Code::ALL {
            assert_eq!(Code::named(code.name()), Some(code));
            assert!(code.name().bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'), "{}", code.name());
        }
    }
}
