//! Every kind of finding: one code each, which never changes meaning. `docs/findings.md` has a section for each.

use crate::model::effects::Severity;

/// What a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Code {
    // References (§3.6).
    OwnerAbsent,
    OwnerOtherUid,
    OwnerOtherName,
    OwnerOtherKind,
    OwnerOtherNamespace,
    OwnerListKind,
    OwnerInvalidScope,
    OwnerNotServed,
    OwnerMalformed,
    OwnerDuplicated,
    OwnerUnread,
    SharedUid,
    // Cycles (§5.2, §5.3).
    OwnershipCycle,
    SelfOwned,
    BlockingCycle,
    ForegroundDeadlock,
    // Stuck deletions (§5.4).
    StuckFinalizer,
    SlowFinalizer,
    StuckOnNotServed,
    StuckOnInvalidScope,
    StuckOnProtected,
    StuckUnwatched,
    NamespaceMissing,
    DependentsRecreated,
    PodWithoutKubelet,
    PodClaimDeadlock,
    NamespaceSpecFinalizer,
    NamespaceStuck,
    ArmedDeletion,
    // The collector, and what blinds it.
    CollectorIdle,
    CollectorRefused,
    CollectorStopped,
    ApiUnavailable,
    ConversionBroken,
    WebhookUnreachable,
    UndecodableObject,
    ListUnreadable,
    OwnerNamespaceEvent,
}

impl Code {
    /// All of them, in the order in which they are listed.
    pub const ALL: [Code; 38] = [
        Code::OwnerAbsent,
        Code::OwnerOtherUid,
        Code::OwnerOtherName,
        Code::OwnerOtherKind,
        Code::OwnerOtherNamespace,
        Code::OwnerListKind,
        Code::OwnerInvalidScope,
        Code::OwnerNotServed,
        Code::OwnerMalformed,
        Code::OwnerDuplicated,
        Code::OwnerUnread,
        Code::SharedUid,
        Code::OwnershipCycle,
        Code::SelfOwned,
        Code::BlockingCycle,
        Code::ForegroundDeadlock,
        Code::StuckFinalizer,
        Code::SlowFinalizer,
        Code::StuckOnNotServed,
        Code::StuckOnInvalidScope,
        Code::StuckOnProtected,
        Code::StuckUnwatched,
        Code::NamespaceMissing,
        Code::DependentsRecreated,
        Code::PodWithoutKubelet,
        Code::PodClaimDeadlock,
        Code::NamespaceSpecFinalizer,
        Code::NamespaceStuck,
        Code::ArmedDeletion,
        Code::CollectorIdle,
        Code::CollectorRefused,
        Code::CollectorStopped,
        Code::ApiUnavailable,
        Code::ConversionBroken,
        Code::WebhookUnreachable,
        Code::UndecodableObject,
        Code::ListUnreadable,
        Code::OwnerNamespaceEvent,
    ];

    /// As it is written.
    pub fn name(self) -> &'static str {
        self.row().0
    }

    /// The worst that a finding of this code can be.
    pub fn severity(self) -> Severity {
        self.row().1
    }

    /// What it means, in a few words.
    pub fn title(self) -> &'static str {
        self.row().2
    }

    /// The code of this name.
    pub fn named(name: &str) -> Option<Code> {
        Code::ALL.into_iter().find(|code| code.name() == name)
    }

    /// Whether the collector, or a controller, that works would end it by itself: where some of it goes from one look
    /// to the next, somebody is at work on it, and it is no finding.
    pub fn passes(self) -> bool {
        matches!(
            self,
            Code::OwnerAbsent
                | Code::OwnerOtherUid
                | Code::OwnerOtherName
                | Code::OwnerOtherKind
                | Code::OwnerOtherNamespace
                | Code::OwnerListKind
                | Code::CollectorIdle
                | Code::CollectorRefused
                | Code::NamespaceMissing
                | Code::NamespaceStuck
                | Code::StuckFinalizer
                | Code::PodWithoutKubelet
        )
    }

    fn row(self) -> (&'static str, Severity, &'static str) {
        use Severity::{Error, Info, Warning};
        match self {
            Code::OwnerAbsent => ("owner-absent", Warning, "an owner does not exist"),
            Code::OwnerOtherUid => {
                ("owner-other-uid", Error, "an owner's name is taken by another object: its successor, most likely")
            }
            Code::OwnerOtherName => ("owner-other-name", Error, "a reference names its owner wrongly"),
            Code::OwnerOtherKind => ("owner-other-kind", Error, "a reference gives its owner another kind"),
            Code::OwnerOtherNamespace => {
                ("owner-other-namespace", Error, "an owner is in another namespace, where it doesn't count")
            }
            Code::OwnerListKind => ("owner-list-kind", Error, "a reference names a list kind, which is never found"),
            Code::OwnerInvalidScope => {
                ("namespaced-owner-of-cluster-scoped", Warning, "a cluster-scoped object names a namespaced owner")
            }
            Code::OwnerNotServed => ("owner-not-served", Warning, "a reference's kind is not served in this version"),
            Code::OwnerMalformed => ("owner-malformed", Warning, "a reference lacks something, or can't be parsed"),
            Code::OwnerDuplicated => ("owner-duplicated", Warning, "several references have the same uid"),
            Code::OwnerUnread => ("owner-unread", Info, "an owner could not be read: not verified"),
            Code::SharedUid => ("shared-uid", Warning, "several objects have the same uid"),
            Code::OwnershipCycle => ("ownership-cycle", Warning, "objects own one another in a circle"),
            Code::SelfOwned => ("self-owned", Warning, "an object owns itself"),
            Code::BlockingCycle => ("blocking-cycle", Warning, "a foreground delete would wait for itself, for ever"),
            Code::ForegroundDeadlock => {
                ("foreground-deadlock", Error, "foreground deletes wait for one another, for ever")
            }
            Code::StuckFinalizer => {
                ("stuck-finalizer", Error, "a finalizer holds a deletion, and nobody is known to remove it")
            }
            Code::SlowFinalizer => {
                ("slow-finalizer", Info, "a finalizer holds a deletion, and its controller seems to be there")
            }
            Code::StuckOnNotServed => (
                "stuck-on-not-served",
                Error,
                "a foreground delete waits for a dependent with a reference that can't be looked up",
            ),
            Code::StuckOnInvalidScope => (
                "stuck-on-invalid-scope",
                Error,
                "a foreground delete waits for a cluster-scoped dependent with a namespaced owner",
            ),
            Code::StuckOnProtected => {
                ("stuck-on-protected", Error, "a foreground delete waits for a dependent that may not be deleted")
            }
            Code::StuckUnwatched => {
                ("stuck-unwatched", Error, "a delete waits for the collector, which doesn't watch this kind")
            }
            Code::NamespaceMissing => ("namespace-missing", Error, "objects are in a namespace that does not exist"),
            Code::DependentsRecreated => (
                "dependents-recreated",
                Warning,
                "somebody goes on making dependents that a foreground delete waits for",
            ),
            Code::PodWithoutKubelet => ("pod-without-kubelet", Error, "a pod is terminating, and no kubelet ends it"),
            Code::PodClaimDeadlock => ("pod-claim-deadlock", Error, "a pod and a claim wait for each other"),
            Code::NamespaceSpecFinalizer => (
                "namespace-spec-finalizer",
                Error,
                "a namespace is held by a finalizer in its spec that nobody is known to remove",
            ),
            Code::NamespaceStuck => ("namespace-stuck", Error, "a namespace is terminating and does not get on"),
            Code::ArmedDeletion => ("armed-deletion", Error, "bringing something back sets off deletions"),
            Code::CollectorIdle => {
                ("collector-idle", Error, "what the collector should have dealt with is still there")
            }
            Code::CollectorRefused => {
                ("collector-refused", Error, "the collector works, but not on these: its writes are refused")
            }
            Code::CollectorStopped => ("collector-stopped", Error, "no collector is running"),
            Code::ApiUnavailable => ("api-unavailable", Error, "an aggregated API does not answer"),
            Code::ConversionBroken => ("conversion-broken", Error, "a definition's conversion webhook fails"),
            Code::WebhookUnreachable => {
                ("webhook-unreachable", Error, "an admission webhook that must be asked can't be")
            }
            Code::UndecodableObject => ("undecodable-object", Error, "an object in storage can't be decoded"),
            Code::ListUnreadable => ("list-unreadable", Warning, "a list fails"),
            Code::OwnerNamespaceEvent => {
                ("owner-namespace-event", Info, "the collector complained of an owner in another namespace")
            }
        }
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
