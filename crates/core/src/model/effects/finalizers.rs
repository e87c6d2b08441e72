//! All known finalizers, except the collector's own and the one of CustomResourceDefinitions (R1.26): who removes
//! them, and what their controllers do first.

use super::{
    EffectKind,
    named::surely_needs,
    operators::{Kind, KnownFinalizer, OPERATORS, When},
    pauses::matches_pattern,
};

impl KnownFinalizer {
    /// Whether its controller is a part of Kubernetes, which runs wherever the collector does: not a cloud's, a volume
    /// driver's or an add-on's.
    pub(crate) fn is_kubernetes_own(&self) -> bool {
        const OTHERS: [&str; 2] =
            ["service.kubernetes.io/load-balancer-cleanup", "external-provisioner.volume.kubernetes.io/finalizer"];
        !matches!(self.when, When::Elsewhere | When::Asked) && !OTHERS.contains(&self.finalizer)
    }

    /// Whether this is the entry for a finalizer on an object of this kind.
    pub fn matches(&self, finalizer: &str, group: &str, kind: &str) -> bool {
        (self.on.is_empty() || self.on.contains(&(group, kind))) && matches_pattern(self.finalizer, finalizer)
    }
}

/// Whether objects with the same finalizer share what its controller deletes with the last of them.
pub(crate) fn is_of_a_group(finalizer: &str) -> bool {
    finalizer.starts_with("group.ingress.k8s.aws/")
}

/// The entry for a finalizer on an object of this kind.
pub fn known_finalizer(finalizer: &str, group: &str, kind: &str) -> Option<&'static KnownFinalizer> {
    OPERATORS.finalizers.iter().find(|known| known.matches(finalizer, group, kind))
}

/// The entry for a finalizer on objects of one of these resources, by their full names.
pub(crate) fn known_finalizer_in(finalizer: &str, resources: &[String]) -> Option<&'static KnownFinalizer> {
    let is_of = |resource: &String, (group, kind): (&str, &str)| {
        let (plural, own) = resource.split_once('.').unwrap_or((resource, ""));
        let kind = kind.to_ascii_lowercase();
        // The plural of `policy` ends otherwise.
        own == group && plural.starts_with(&kind[..kind.len().saturating_sub(1)])
    };
    let is_here = |on: &Kind| resources.iter().any(|resource| is_of(resource, *on));
    let mut all = OPERATORS.finalizers.iter().filter(|known| known.on.is_empty() || known.on.iter().any(is_here));
    all.find(|known| matches_pattern(known.finalizer, finalizer))
}

/// These controllers read what their objects name, and remove their finalizers without it (fluxcd/source-controller
/// internal/controller/gitrepository_controller.go:reconcileDelete).
const NEEDS_NOTHING: &str = "finalizers.fluxcd.io";

/// Whether the controller of a finalizer may need what an object of a kind names: a table says so, it is in no table,
/// or it deletes something outside of the cluster.
pub(crate) fn may_need(finalizer: &str, group: &str, kind: &str) -> bool {
    if surely_needs(finalizer, group, kind) {
        return true;
    }
    let deletes_outside = |does| matches!(does, Some(EffectKind::ExternalDeleted | EffectKind::DataLost));
    // Kubernetes' own kinds name what others use.
    group.contains('.')
        && !group.ends_with(".k8s.io")
        && !matches!(finalizer, "foregroundDeletion" | "orphan")
        && finalizer != NEEDS_NOTHING
        && known_finalizer(finalizer, group, kind).is_none_or(|known| deletes_outside(known.does))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_match_at_least_one_character() {
        let cases = [
            ("a/b", "a/b", true),
            ("a/b", "a/bc", false),
            ("a/*", "a/", false),
            ("a/*", "a/b", true),
            ("finalizers.*.services.k8s.aws/*", "finalizers.s3.services.k8s.aws/Bucket", true),
            ("finalizers.*.services.k8s.aws/*", "finalizers.services.k8s.aws/Bucket", false),
            ("finalizers.*.services.k8s.aws/*", "finalizers.s3.services.k8s.aws/", false),
            ("finalizers.*.services.k8s.aws/*", "finalizers.ä.services.k8s.aws/ü", true),
            ("a*b", "ab", false),
            ("a*b", "axb", true),
        ];
        for (pattern, text, expected) in cases {
            assert_eq!(matches_pattern(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn every_entry_is_found() {
        for known in &OPERATORS.finalizers {
            let example = known.finalizer.replace('*', "x");
            let (group, kind) = known.on.first().copied().unwrap_or(("any.example.org", "Any"));
            assert_eq!(
                known_finalizer(&example, group, kind),
                Some(known),
                "each entry is the first for what it is about"
            );
        }
        assert_eq!(
            known_finalizer("karpenter.sh/termination", "karpenter.sh", "NodePool"),
            None,
            "its Nodes are its dependents"
        );
    }
}
