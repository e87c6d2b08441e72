//! Every kind of finding: one code each, which never changes meaning. `docs/findings.md` has a section for each.

use crate::model::effects::Severity;

/// Declares the codes: each with its name, the worst that a finding of it can be, and what it means in a few words.
macro_rules! codes {
    ($($code:ident, $name:literal, $severity:ident, $title:literal;)*) => {
        /// What a finding is about.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Code {
            $($code,)*
        }

        impl Code {
            /// All of them, in the order in which they are listed.
            pub const ALL: [Code; [$(Code::$code),*].len()] = [$(Code::$code),*];

            fn row(self) -> (&'static str, Severity, &'static str) {
                match self {
                    $(Code::$code => ($name, Severity::$severity, $title),)*
                }
            }
        }
    };
}

codes! {
    // References (§3.6).
    OwnerAbsent, "owner-absent", Warning, "an owner does not exist";
    OwnerOtherUid, "owner-other-uid", Error, "an owner's name is taken by another object: its successor, most likely";
    OwnerOtherName, "owner-other-name", Error, "a reference names its owner wrongly";
    OwnerOtherKind, "owner-other-kind", Error, "a reference gives its owner another kind";
    OwnerOtherNamespace, "owner-other-namespace", Error, "an owner is in another namespace, where it doesn't count";
    OwnerListKind, "owner-list-kind", Error, "a reference names a list kind, which is never found";
    OwnerInvalidScope, "namespaced-owner-of-cluster-scoped", Warning,
        "a cluster-scoped object names a namespaced owner";
    OwnerNotServed, "owner-not-served", Warning, "a reference's kind is not served in this version";
    OwnerMalformed, "owner-malformed", Warning, "a reference lacks something, or can't be parsed";
    OwnerDuplicated, "owner-duplicated", Warning, "several references have the same uid";
    OwnerUnread, "owner-unread", Info, "an owner could not be read: not verified";
    SharedUid, "shared-uid", Warning, "several objects have the same uid";
    // Cycles (§5.2, §5.3).
    OwnershipCycle, "ownership-cycle", Warning, "objects own one another in a circle";
    SelfOwned, "self-owned", Warning, "an object owns itself";
    BlockingCycle, "blocking-cycle", Warning, "a foreground delete would wait for itself, for ever";
    ForegroundDeadlock, "foreground-deadlock", Error, "foreground deletes wait for one another, for ever";
    // Stuck deletions (§5.4).
    StuckFinalizer, "stuck-finalizer", Error, "a finalizer holds a deletion, and nobody is known to remove it";
    SlowFinalizer, "slow-finalizer", Info, "a finalizer holds a deletion, and its controller seems to be there";
    StuckOnNotServed, "stuck-on-not-served", Error,
        "a foreground delete waits for a dependent with a reference that can't be looked up";
    StuckOnInvalidScope, "stuck-on-invalid-scope", Error,
        "a foreground delete waits for a cluster-scoped dependent with a namespaced owner";
    StuckOnProtected, "stuck-on-protected", Error, "a foreground delete waits for a dependent that may not be deleted";
    StuckUnwatched, "stuck-unwatched", Error, "a delete waits for the collector, which doesn't watch this kind";
    NamespaceMissing, "namespace-missing", Error, "objects are in a namespace that does not exist";
    DependentsRecreated, "dependents-recreated", Warning,
        "somebody goes on making dependents that a foreground delete waits for";
    PodWithoutKubelet, "pod-without-kubelet", Error, "a pod is terminating, and no kubelet ends it";
    PodClaimDeadlock, "pod-claim-deadlock", Error, "a pod and a claim wait for each other";
    NamespaceSpecFinalizer, "namespace-spec-finalizer", Error,
        "a namespace is held by a finalizer in its spec that nobody is known to remove";
    NamespaceStuck, "namespace-stuck", Error, "a namespace is terminating and does not get on";
    ArmedDeletion, "armed-deletion", Error, "bringing something back sets off deletions";
    // The collector, and what blinds it.
    CollectorIdle, "collector-idle", Error, "what the collector should have dealt with is still there";
    CollectorRefused, "collector-refused", Error, "the collector works, but not on these: its writes are refused";
    CollectorStopped, "collector-stopped", Error, "no collector is running";
    ApiUnavailable, "api-unavailable", Error, "an aggregated API does not answer";
    ConversionBroken, "conversion-broken", Error, "a definition's conversion webhook fails";
    WebhookUnreachable, "webhook-unreachable", Error, "an admission webhook that must be asked can't be";
    UndecodableObject, "undecodable-object", Error, "an object in storage can't be decoded";
    ListUnreadable, "list-unreadable", Warning, "a list fails";
    OwnerNamespaceEvent, "owner-namespace-event", Info, "the collector complained of an owner in another namespace";
}

impl Code {
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
