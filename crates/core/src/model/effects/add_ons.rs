//! Controllers of add-ons: how their workloads and Leases are called, so that evidence shows whether they run.

use super::operators::{AddOn, OPERATORS};

/// The add-on whose controller removes this finalizer from an object of this kind, by what is known of it.
pub fn add_on(finalizer: &str, group: &str, kind: &str) -> Option<&'static AddOn> {
    let known = OPERATORS.add_ons.iter().find(|add_on| {
        add_on.domains.iter().any(|own| is_of_domain(finalizer, own, kind))
            && (add_on.groups.is_empty() || add_on.groups.contains(&group))
            && (add_on.kinds.is_empty() || add_on.kinds.contains(&kind))
    });
    known.or_else(|| of_same_maker(finalizer))
}

/// The only add-on that has other finalizers of this domain, or whose group that is.
fn of_same_maker(finalizer: &str) -> Option<&'static AddOn> {
    let (domain, _) = finalizer.split_once('/').filter(|(domain, _)| !is_within(domain, "k8s.io"))?;
    let is_its = |add_on: &&AddOn| [&add_on.domains, &add_on.groups].iter().any(|all| all.contains(&domain));
    let mut its = OPERATORS.add_ons.iter().filter(is_its);
    let first = its.next().filter(|add_on| add_on.kinds.is_empty())?;
    its.next().is_none().then_some(first)
}

/// Whether a finalizer is one of a domain of the table.
fn is_of_domain(finalizer: &str, own: &str, kind: &str) -> bool {
    let domain = finalizer.split('/').next().unwrap_or(finalizer);
    if let Some(parent) = own.strip_prefix('.') {
        return is_within(domain, parent);
    }
    let before = || domain.strip_suffix(own)?.strip_suffix('.');
    let is_plain = |word: &str| {
        let singular = word.strip_suffix('s').unwrap_or(word);
        word.contains("finalizer") || kind.to_ascii_lowercase().starts_with(singular)
    };
    domain == own
        || own.contains('/') && finalizer.starts_with(own)
        || before().is_some_and(|words| words.split('.').all(is_plain))
}

/// Whether a domain is another or a part of it.
pub(crate) fn is_within(domain: &str, parent: &str) -> bool {
    domain == parent || domain.strip_suffix(parent).is_some_and(|rest| rest.ends_with('.'))
}

/// A name of the table for objects of this group.
fn for_group(name: &str, group: &str) -> String {
    name.replace('*', group.split('.').next().unwrap_or_default())
}

/// Whether a workload of this name is known as the controller of something else than this group.
pub(crate) fn is_of_another(workload: &str, group: &str, add_on: Option<&AddOn>) -> bool {
    let is_its = |other: &AddOn| {
        let groups = other.groups.iter().copied().filter(|own| *own != group);
        other.is_called(workload, "*") || groups.into_iter().any(|of| other.is_called(workload, of))
    };
    !add_on.is_some_and(|add_on| add_on.is_called(workload, group)) && OPERATORS.add_ons.iter().any(is_its)
}

impl AddOn {
    /// Whether a workload of this name is its controller for objects of this group. A release's name may precede the
    /// usual name.
    pub(crate) fn is_called(&self, name: &str, group: &str) -> bool {
        self.workloads.iter().any(|usual| {
            let usual = for_group(usual, group);
            name.strip_suffix(&*usual).is_some_and(|rest| rest.is_empty() || rest.ends_with('-'))
        })
    }

    /// Whether the name of its workload is known.
    pub(crate) fn has_names(&self) -> bool {
        !self.workloads.is_empty()
    }

    /// How its workload is usually called.
    pub(crate) fn usual_name(&self, group: &str) -> Option<String> {
        self.workloads.first().map(|usual| for_group(usual, group))
    }

    /// The Leases of its leader.
    pub(crate) fn leases(&self, group: &str) -> impl Iterator<Item = String> {
        self.leases.iter().map(move |lease| for_group(lease, group))
    }

    /// Whether nothing but its name is known: then the kind itself may tell more.
    pub(crate) fn is_only_a_name(&self) -> bool {
        !self.has_names() && self.labels.is_empty() && self.beginnings.is_empty() && !self.may_run_outside
    }

    /// Whether a workload of this name may be its controller.
    pub(crate) fn may_be_called(&self, name: &str) -> bool {
        self.beginnings.iter().any(|beginning| name.starts_with(beginning))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::effects::When;

    #[test]
    fn domains_match_as_a_whole() {
        let name = |finalizer, group, kind| add_on(finalizer, group, kind).map(|add_on| add_on.name);
        let argo = "resources-finalizer.argocd.argoproj.io";
        assert_eq!(name(argo, "argoproj.io", "Application"), Some("Argo CD"));
        let background = "resources-finalizer.argocd.argoproj.io/background";
        assert_eq!(name(background, "argoproj.io", "Application"), Some("Argo CD"));
        assert_eq!(name("workflows.argoproj.io/artifact-gc", "argoproj.io", "Workflow"), Some("Argo Workflows"));
        assert_eq!(name("notargoproj.io/x", "argoproj.io", "Application"), None);
        assert_eq!(name("baremetalhost.metal3.io/secret", "", "Secret"), Some("Metal3's operator"));
        assert_eq!(name("openebs.io/x", "openebs.io", "Other"), None, "several have this domain");
        assert_eq!(name("acme.io/hold", "acme.io", "Widget"), None);
        let sets = ("addons.cluster.x-k8s.io", "addons.cluster.x-k8s.io", "ClusterResourceSet");
        assert_eq!(name(sets.0, sets.1, sets.2), Some("Cluster API"));
        let gateway = name("gateway.k8s.aws/alb", "gateway.networking.k8s.io", "Gateway");
        assert_eq!(gateway, Some("the AWS Load Balancer Controller"));
        assert_eq!(name("networking.k8s.aws/resources", "networking.k8s.io", "NetworkPolicy"), Some("EKS"));
        let flux = |group| add_on("finalizers.fluxcd.io", group, "X").map(|add_on| add_on.usual_name(group));
        assert_eq!(flux("helm.toolkit.fluxcd.io"), Some(Some("helm-controller".to_owned())));
        assert_eq!(flux("image.toolkit.fluxcd.io"), Some(None));
        let image = |kind| add_on("finalizers.fluxcd.io", "image.toolkit.fluxcd.io", kind).map(|it| &*it.workloads);
        assert_eq!(image("ImagePolicy"), Some(&["image-reflector-controller"][..]));
        let source = add_on("finalizers.fluxcd.io", "source.toolkit.fluxcd.io", "GitRepository").unwrap();
        let other = |name| is_of_another(name, "source.toolkit.fluxcd.io", Some(source));
        assert!(other("kustomize-controller") && !other("source-controller") && !other("flux-something"));
    }

    #[test]
    fn workloads_have_their_usual_names_behind_a_release() {
        let argo = add_on("resources-finalizer.argocd.argoproj.io", "argoproj.io", "Application").unwrap();
        let called = |name| argo.is_called(name, "argoproj.io");
        assert!(called("argocd-application-controller") && called("prod-argocd-application-controller"));
        assert!(!called("argocd-server") && !called("notargocd-application-controller"));
        let group = "s3.services.k8s.aws";
        let ack = add_on("finalizers.s3.services.k8s.aws/Bucket", group, "Bucket").unwrap();
        assert!(ack.is_called("ack-s3-controller", group) && ack.is_called("ack-s3-controller-s3-chart", group));
        assert!(!ack.is_called("ack-rds-controller", group));
        let provider = add_on("finalizer.managedresource.crossplane.io", "s3.example.org", "Bucket").unwrap();
        assert!(provider.may_be_called("provider-aws-s3-3a5b") && !provider.may_be_called("crossplane"));
    }

    #[test]
    fn a_sister_is_not_the_controller() {
        let has_names = |finalizer, group, kind| add_on(finalizer, group, kind).is_some_and(AddOn::has_names);
        for (finalizer, group, kind) in [
            ("cdi.kubevirt.io/dataVolumeFinalizer", "cdi.kubevirt.io", "DataVolume"),
            ("operator.cdi.kubevirt.io", "cdi.kubevirt.io", "CDI"),
            ("kubevirt.io/hyperconverged", "hco.kubevirt.io", "HyperConverged"),
            ("results.tekton.dev/taskrun", "tekton.dev", "TaskRun"),
            ("tektonconfigs.operator.tekton.dev", "operator.tekton.dev", "TektonConfig"),
            ("eventlisteners.triggers.tekton.dev", "triggers.tekton.dev", "EventListener"),
            ("httpscaledobject.http.keda.sh", "http.keda.sh", "HTTPScaledObject"),
            ("trust.cert-manager.io/x", "trust.cert-manager.io", "Bundle"),
            ("kubernetes.crossplane.io/referred-by-object-1", "", "ConfigMap"),
            ("x.machine.openshift.io", "machine.openshift.io", "ControlPlaneMachineSet"),
            ("wrangler.cattle.io/on-helm-chart-remove", "helm.cattle.io", "HelmChart"),
            ("wrangler.cattle.io/x", "network.harvesterhci.io", "VlanConfig"),
        ] {
            assert!(!has_names(finalizer, group, kind), "{finalizer} on {kind}");
        }
        for (finalizer, group, kind) in [
            ("kubevirt.io/virtualMachineControllerFinalize", "kubevirt.io", "VirtualMachine"),
            ("snapshot.kubevirt.io/vmsnapshot-protection", "snapshot.kubevirt.io", "VirtualMachineSnapshot"),
            ("pipelineruns.tekton.dev", "tekton.dev", "PipelineRun"),
            ("finalizer.keda.sh", "keda.sh", "ScaledObject"),
            ("finalizer.acme.cert-manager.io", "acme.cert-manager.io", "Challenge"),
            ("composite.apiextensions.crossplane.io", "acme.io", "XDatabase"),
            ("machinepool.cluster.x-k8s.io", "cluster.x-k8s.io", "MachinePool"),
            ("cephblockpool.ceph.rook.io", "ceph.rook.io", "CephBlockPool"),
        ] {
            assert!(has_names(finalizer, group, kind), "{finalizer} on {kind}");
        }
    }

    #[test]
    fn every_known_finalizer_of_an_add_on_has_one() {
        for known in OPERATORS.finalizers.iter().filter(|known| known.when == When::Elsewhere) {
            let (group, kind) = known.on.first().copied().unwrap_or(("any.example.org", "Any"));
            let found = add_on(&known.finalizer.replace('*', "x"), group, kind);
            assert!(found.is_some(), "{}", known.finalizer);
        }
    }
}
