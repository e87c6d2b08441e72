//! What plans predict beyond the graph: external effects, what running controllers do afterwards, and deletes that do
//! nothing.

use kubectl_gc::{
    graph::OwnerGraph,
    model::{
        Fact,
        effects::PolicyFacts,
        facts::{
            AccountFacts, ClaimFacts, ClaimTemplates, JobFacts, KubeletReport, NodeFacts, PodFacts, ServiceFacts,
            SnapshotContentFacts, SnapshotFacts, TokenFacts, VolumeDeleter, VolumeFacts, WorkloadFacts,
        },
    },
    plan::{Afterwards, Plan, explore},
    server::Propagation::{self, Background, Foreground, Orphan},
    simulate::{Assume, Assumption, Request, SimContext},
};

use crate::{graphs::scene::selector_of, scene::Scene};

/// A graph with facts: `facts Kind/name WORDS` says what is known about an object. The words depend on its kind.
pub fn scene(text: &str) -> Scene {
    let is_fact = |line: &&str| line.trim_start().starts_with("facts ");
    let graph: Vec<&str> = text.lines().filter(|line| !is_fact(line)).collect();
    let mut scene = Scene::new(&graph.join("\n"));
    for line in text.lines().filter(is_fact) {
        let words: Vec<&str> = line.split_whitespace().skip(1).collect();
        let (object, words) = words.split_first().expect("an object");
        let id = scene.id(object);
        scene.snapshot.learn(id, fact(object, words));
    }
    scene
}

fn fact(object: &str, words: &[&str]) -> Fact {
    let word = |index: usize| words.get(index).filter(|word| **word != "-").map(|word| (*word).to_owned());
    match object.split_once('/').expect("Kind/name").0 {
        "PersistentVolume" => Fact::Volume(VolumeFacts {
            reclaim_policy: word(0),
            claim: word(1),
            phase: word(2),
            deleted_by: word(3).map(|by| match by.as_str() {
                "kubernetes" => VolumeDeleter::Kubernetes,
                "nobody" => VolumeDeleter::Nobody,
                _ => VolumeDeleter::Provisioner(by),
            }),
        }),
        "PersistentVolumeClaim" => Fact::Claim(ClaimFacts { volume: word(0) }),
        "Service" => Fact::Service(ServiceFacts {
            kind: word(0),
            cluster_ips: words.iter().skip(1).map(|address| (*address).to_owned()).collect(),
            selects: true,
        }),
        "ServiceAccount" => Fact::Account(AccountFacts {}),
        "Deployment" => Fact::Workload(WorkloadFacts {
            paused: words.contains(&"paused"),
            selector: Some(selector_of(words.first().copied().unwrap_or("none"))),
            ..WorkloadFacts::default()
        }),
        "StatefulSet" => Fact::Workload(WorkloadFacts {
            claims: Some(ClaimTemplates {
                names: words.iter().map(|name| (*name).to_owned()).collect(),
                deleted: false,
            }),
            ..WorkloadFacts::default()
        }),
        "ReplicaSet" => Fact::Workload(WorkloadFacts {
            wanted: words[0].parse().ok(),
            selector: words.get(1).map(|app| selector_of(app)),
            ..WorkloadFacts::default()
        }),
        "Job" => Fact::Job(JobFacts {
            managed_by: None,
            failures_left: word(0).map(|left| left.parse().expect("a number")),
            judges_failures: words.contains(&"judges"),
            seconds_after_finished: words.iter().find_map(|word| word.strip_prefix("ttl=")?.parse().ok()),
            selector: Some(selector_of(words.get(1).copied().unwrap_or("none"))),
            ..JobFacts::default()
        }),
        "Secret" => Fact::Token(TokenFacts { account: words[0].to_owned(), uid: word(1) }),
        "Node" => {
            let kubelet = match words {
                ["Silent"] => Some(KubeletReport::Silent),
                ["NotReady"] => Some(KubeletReport::NotReady),
                ["OutOfService"] => Some(KubeletReport::OutOfService),
                ["Ready"] => Some(KubeletReport::Ready),
                _ => None,
            };
            let pods = kubelet.is_none().then(|| words.iter().map(|uid| (*uid).to_owned()).collect());
            Fact::Node(NodeFacts { pods, kubelet })
        }
        "Pod" => Fact::Pod(PodFacts {
            node: word(0),
            phase: word(1),
            grace: Some(30),
            deletion_cost: word(2).map_or(0, |cost| cost.parse().expect("a number")),
            ..PodFacts::default()
        }),
        "VolumeSnapshot" => Fact::VolumeSnapshot(SnapshotFacts { content: word(0) }),
        "VolumeSnapshotContent" => Fact::VolumeSnapshotContent(SnapshotContentFacts { deletion_policy: word(0) }),
        _ => Fact::Policy(PolicyFacts(
            words
                .iter()
                .filter_map(|word| word.split_once('='))
                .map(|(key, value)| (key.into(), value.into()))
                .collect(),
        )),
    }
}

fn planned(scene: &Scene, targets: &str, propagation: Propagation) -> Plan {
    let graph = OwnerGraph::new(&scene.snapshot);
    let stage = SimContext::new(&scene.snapshot, &graph, Assume::Known);
    let targets = targets.split_whitespace().map(|target| scene.id(target)).collect();
    explore(&stage, &Request::delete(targets, propagation))
}

/// `Kind/name effect-kind (related)`, separated by commas.
fn effects(scene: &Scene, plan: &Plan) -> String {
    let describe = plan.effects.iter().map(|effect| {
        let related: Vec<String> = effect.related.iter().map(|id| scene.snapshot.short_name(*id)).collect();
        let related = if related.is_empty() { String::new() } else { format!(" ({})", related.join(" ")) };
        format!("{} {}{related}", scene.snapshot.short_name(effect.object), effect.kind.name())
    });
    describe.collect::<Vec<_>>().join(", ")
}

/// `Kind/name reaction`, such as `recreated by Kind/name`, in the order of the lines.
fn afterwards(scene: &Scene, plan: &Plan) -> String {
    let mut outcomes: Vec<_> = plan.outcomes.iter().collect();
    outcomes.sort_by_key(|outcome| outcome.object);
    let describe =
        outcomes.iter().flat_map(|outcome| outcome.afterwards.iter().map(move |after| (outcome.object, after)));
    let describe = describe.map(|(object, after)| {
        let name = |id| scene.snapshot.short_name(id);
        let what = match *after {
            Afterwards::Recreated { by } => format!("recreated by {}", name(by)),
            Afterwards::RecreatedEmpty { by } => format!("recreated empty by {}", name(by)),
            Afterwards::MayBeRecreated { by } => format!("maybe by {}", name(by)),
            Afterwards::KeptUp { by } => format!("recreated by {by}"),
            Afterwards::MirroredAgain { node } => format!("mirrored on {}", name(node)),
            Afterwards::Adopted { by } => format!("adopted through {}", name(by)),
            Afterwards::AdoptedBy { by } => format!("adopted by {}", name(by)),
            Afterwards::MayBeAdopted => "maybe adopted".to_owned(),
        };
        format!("{} {what}", name(object))
    });
    describe.collect::<Vec<_>>().join(", ")
}

/// R9.17, and effects outside the cluster.
#[test]
fn effects_outside_are_told_of_what_goes() {
    let rows = [
        (
            "reclaim policy Delete",
            "PersistentVolumeClaim data
             PersistentVolume pv
             facts PersistentVolume/pv Delete ns/data Bound",
            "PersistentVolumeClaim/data",
            "PersistentVolumeClaim/data data-destroyed (PersistentVolume/pv)",
        ),
        (
            "reclaim policy Delete, and nobody who can",
            "PersistentVolumeClaim data
             PersistentVolume pv
             facts PersistentVolume/pv Delete ns/data Bound nobody",
            "PersistentVolumeClaim/data",
            "PersistentVolumeClaim/data data-kept (PersistentVolume/pv)",
        ),
        (
            "a volume that an earlier claim of this name released",
            "PersistentVolumeClaim data
             PersistentVolume pv
             facts PersistentVolume/pv Delete ns/data Failed kubernetes
             facts PersistentVolumeClaim/data -",
            "PersistentVolumeClaim/data",
            "",
        ),
        (
            "an earlier claim's volume beside its own",
            "PersistentVolumeClaim data
             PersistentVolume a
             PersistentVolume b
             PersistentVolume c
             PersistentVolume d
             facts PersistentVolume/a Retain ns/data Released
             facts PersistentVolume/b Delete ns/data Bound kubernetes
             facts PersistentVolume/c Retain ns/data Failed
             facts PersistentVolume/d Retain ns/data Available",
            "PersistentVolumeClaim/data",
            "PersistentVolumeClaim/data data-destroyed (PersistentVolume/b)",
        ),
        (
            "a volume that waits for this claim may be bound in a moment",
            "PersistentVolumeClaim data
             PersistentVolume pv
             facts PersistentVolume/pv Delete ns/data Available kubernetes",
            "PersistentVolumeClaim/data",
            "PersistentVolumeClaim/data data-destroyed (PersistentVolume/pv)",
        ),
        (
            "reclaim policy Retain",
            "PersistentVolumeClaim data
             PersistentVolume pv
             facts PersistentVolume/pv Retain ns/data Bound",
            "PersistentVolumeClaim/data",
            "PersistentVolumeClaim/data data-kept (PersistentVolume/pv)",
        ),
        (
            "the volume of the same name's claim elsewhere is none of its business",
            "PersistentVolumeClaim data
             PersistentVolume pv
             facts PersistentVolume/pv Delete other/data Bound",
            "PersistentVolumeClaim/data",
            "",
        ),
        (
            "a claim that names a volume which is another's",
            "PersistentVolumeClaim data
             PersistentVolume pv
             PersistentVolume more
             facts PersistentVolumeClaim/data pv
             facts PersistentVolume/pv Delete ns/other Bound",
            "PersistentVolumeClaim/data",
            "",
        ),
        (
            "a claim whose volume is not known",
            "PersistentVolumeClaim data
             PersistentVolume pv
             facts PersistentVolumeClaim/data pv",
            "PersistentVolumeClaim/data",
            "PersistentVolumeClaim/data unknown",
        ),
        (
            "an unbound claim",
            "PersistentVolumeClaim data
             PersistentVolume pv
             facts PersistentVolumeClaim/data -",
            "PersistentVolumeClaim/data",
            "",
        ),
        (
            "a claim that goes as somebody's dependent",
            "Shop main
             PersistentVolumeClaim data fin=kubernetes.io/pvc-protection <- Shop/main
             PersistentVolume pv
             facts PersistentVolume/pv Delete ns/data Bound",
            "Shop/main",
            "PersistentVolumeClaim/data data-destroyed (PersistentVolume/pv)",
        ),
        (
            "a volume that is deleted itself",
            "PersistentVolume pv fin=external-provisioner.volume.kubernetes.io/finalizer
             facts PersistentVolume/pv Delete - Released",
            "PersistentVolume/pv",
            "PersistentVolume/pv data-destroyed",
        ),
        (
            "a volume whose finalizers make nobody delete its data",
            "PersistentVolume pv
             facts PersistentVolume/pv Delete - Available",
            "PersistentVolume/pv",
            "PersistentVolume/pv unknown",
        ),
        (
            "a retained volume that is deleted itself",
            "PersistentVolume pv
             facts PersistentVolume/pv Retain - Released",
            "PersistentVolume/pv",
            "PersistentVolume/pv data-kept",
        ),
        (
            "a load balancer without a finalizer",
            "Service a
             Service b
             facts Service/a LoadBalancer
             facts Service/b ClusterIP",
            "Service/a Service/b",
            "Service/a load-balancer-released",
        ),
        (
            "a load balancer's finalizer says it all",
            "Service a fin=service.kubernetes.io/load-balancer-cleanup,service.k8s.aws/resources",
            "Service/a",
            "Service/a load-balancer-released",
        ),
        ("a Service that could not be read", "Service a", "Service/a", "Service/a unknown"),
        (
            "Argo CD deletes what it tracks",
            "Application web fin=resources-finalizer.argocd.argoproj.io",
            "Application/web",
            "Application/web objects-deleted",
        ),
        (
            "Crossplane deletes the real thing",
            "Bucket logs fin=finalizer.managedresource.crossplane.io
             facts Bucket/logs spec.deletionPolicy=Delete",
            "Bucket/logs",
            "Bucket/logs external-deleted",
        ),
        (
            "or leaves it",
            "Bucket logs fin=finalizer.managedresource.crossplane.io
             facts Bucket/logs spec.deletionPolicy=Orphan",
            "Bucket/logs",
            "Bucket/logs external-kept",
        ),
        (
            "or that is not known",
            "Bucket logs fin=finalizer.managedresource.crossplane.io",
            "Bucket/logs",
            "Bucket/logs unknown",
        ),
        ("nobody knows this finalizer", "Shop main fin=acme.io/drain", "Shop/main", "Shop/main unknown"),
        (
            "the collector's own finalizers and protections do nothing outside",
            "Shop main fin=foregroundDeletion
             PersistentVolumeClaim data fin=kubernetes.io/pvc-protection
             facts PersistentVolumeClaim/data -",
            "Shop/main PersistentVolumeClaim/data",
            "",
        ),
        (
            "what survives has no effects",
            "Shop main
             Shop other
             Bucket logs fin=finalizer.managedresource.crossplane.io <- Region/eu
             Region eu
             PersistentVolumeClaim data <- Shop/main Shop/other
             PersistentVolume pv
             facts PersistentVolume/pv Delete ns/data Bound",
            "Shop/main",
            "",
        ),
        (
            "a snapshot's content",
            "VolumeSnapshot s fin=snapshot.storage.kubernetes.io/volumesnapshot-bound-protection
             VolumeSnapshotContent c
             facts VolumeSnapshot/s c
             facts VolumeSnapshotContent/c Delete",
            "VolumeSnapshot/s",
            "VolumeSnapshot/s data-destroyed (VolumeSnapshotContent/c)",
        ),
        (
            "a content that is deleted itself",
            "VolumeSnapshotContent c
             facts VolumeSnapshotContent/c Retain",
            "VolumeSnapshotContent/c",
            "VolumeSnapshotContent/c data-kept",
        ),
        (
            "R9.7 pods of a Node have outcomes of their own",
            "Node n1
             Node n2
             Pod a node=n1
             Pod b node=n2
             Pod mirror node=n1 <- Node/n1+",
            "Node/n1",
            "",
        ),
        (
            "R9.7 but for those that nobody has seen",
            "Node n1
             Pod a node=?
             Pod b node=?
             facts Node/n1 Pod-a unheard-of",
            "Node/n1",
            "Node/n1 pods-deleted",
        ),
        ("R9.7 where nobody was asked", "Node n1\nPod a node=?", "Node/n1", "Node/n1 unknown"),
        (
            "R9.7 where not all were asked",
            "Node n1
             Pod a node=?
             Pod b node=n1",
            "Node/n1",
            "Node/n1 unknown",
        ),
        ("R9.7 a Node without pods", "Node n1\nNode n2\nPod b node=n2", "Node/n1", ""),
        (
            "the worst first",
            "Shop main fin=acme.io/drain
             PersistentVolumeClaim data
             PersistentVolume pv
             facts PersistentVolume/pv Delete ns/data Bound",
            "Shop/main PersistentVolumeClaim/data",
            "PersistentVolumeClaim/data data-destroyed (PersistentVolume/pv), Shop/main unknown",
        ),
    ];
    for (rule, text, targets, expected) in rows {
        let scene = scene(text);
        assert_eq!(effects(&scene, &planned(&scene, targets, Background)), expected, "{rule}");
    }
}

#[test]
fn what_would_have_to_be_read_is_only_of_what_goes() {
    let needs_of = |text: &str, targets: &str| {
        let scene = scene(text);
        let plan = planned(&scene, targets, Background);
        let facts: Vec<String> = plan.needs.facts.iter().map(|id| scene.snapshot.short_name(*id)).collect();
        (facts.join(" "), plan.certain())
    };
    let needs = |text: &str, targets: &str| {
        let (facts, certain) = needs_of(text, targets);
        assert!(certain, "what is not known of the outside leaves outcomes certain");
        facts
    };
    assert_eq!(needs("PersistentVolumeClaim data\nPersistentVolumeClaim other", "PersistentVolumeClaim/data"), "");
    let unread = "PersistentVolumeClaim data\nPersistentVolumeClaim other\nPersistentVolume pv";
    assert_eq!(needs(unread, "PersistentVolumeClaim/data"), "PersistentVolumeClaim/data", "first which volume it is");
    let named = format!("{unread}\nfacts PersistentVolumeClaim/data pv");
    assert_eq!(needs(&named, "PersistentVolumeClaim/data"), "PersistentVolume/pv", "then what becomes of that");
    assert_eq!(needs("Service a\nService b", "Service/a"), "Service/a");
    assert_eq!(needs("Node n1\nNode n2\nPod a node=?", "Node/n1"), "Node/n1", "one question instead of one a pod");
    assert_eq!(needs("Node n1\nPod a node=n1", "Node/n1"), "");
    let owned =
        "Bucket a fin=finalizer.managedresource.crossplane.io\nBucket b fin=finalizer.managedresource.crossplane.io";
    // No workload was read, so whether Crossplane's provider runs is unknown.
    assert_eq!(needs_of(owned, "Bucket/a"), ("Bucket/a".to_owned(), false));
}

#[test]
fn what_goes_only_in_some_order_has_its_effects_only_then() {
    // M15: one of two dying owners orphans, so that their dependent is either deleted or orphaned, depending on the
    // order.
    let scene = scene(
        "Shop r
         Shop a fin=orphan <- Shop/r!
         Shop b <- Shop/r!
         ConfigMap c fin=acme.io/y <- Shop/a! Shop/b!",
    );
    let plan = planned(&scene, "Shop/r", Background);
    let of_c = scene.id("ConfigMap/c");
    let varies = plan.outcome(of_c).is_some_and(|outcome| !outcome.alternatives.is_empty());
    let describe: Vec<&str> =
        plan.effects.iter().filter(|effect| effect.object == of_c).map(|effect| &*effect.message).collect();
    assert!(varies, "{}", scene.describe(&plan));
    assert_eq!(describe.len(), 1, "{describe:?}");
    assert!(describe[0].ends_with("only if events come in an order in which it is deleted"), "{describe:?}");
}

#[test]
fn living_controllers_make_anew_and_adopt() {
    let rows = [
        (
            "R9.1 a pod",
            "ReplicaSet rs
             Pod a <- ReplicaSet/rs+!",
            "Pod/a",
            Background,
            "Pod/a recreated by ReplicaSet/rs",
        ),
        (
            "R9.2 nobody remakes what goes with its controller",
            "ReplicaSet rs
             Pod a <- ReplicaSet/rs+!",
            "ReplicaSet/rs",
            Background,
            "",
        ),
        (
            "R9.1 a terminating controller doesn't remake",
            "ReplicaSet rs T fin=acme.io/x
             Pod a <- ReplicaSet/rs+!",
            "Pod/a",
            Background,
            "",
        ),
        (
            "an owner that is no controller doesn't remake",
            "ReplicaSet rs
             Pod a <- ReplicaSet/rs!",
            "Pod/a",
            Background,
            "",
        ),
        (
            "a pod that has ended was replaced then",
            "ReplicaSet rs
             Pod a <- ReplicaSet/rs+!
             facts Pod/a n1 Failed",
            "Pod/a",
            Background,
            "",
        ),
        (
            "a pod that was terminating was replaced then",
            "ReplicaSet rs
             Pod a T=30 node=n1 fin=acme.io/x <- ReplicaSet/rs+!
             Node n1",
            "Pod/a",
            Foreground,
            "",
        ),
        (
            "what somebody makes anew makes others anew",
            "Deployment web
             ReplicaSet rs <- Deployment/web+!
             Pod a <- ReplicaSet/rs+!",
            "ReplicaSet/rs",
            Background,
            "ReplicaSet/rs recreated by Deployment/web, Pod/a recreated by Deployment/web",
        ),
        (
            "an old ReplicaSet is not surely made anew",
            "Deployment web
             ReplicaSet old <- Deployment/web+!
             ReplicaSet new <- Deployment/web+!
             Pod a <- ReplicaSet/new+!",
            "ReplicaSet/old",
            Background,
            "ReplicaSet/old maybe by Deployment/web",
        ),
        (
            "a Job's pods and a CronJob's Jobs depend on more",
            "CronJob c
             Job j <- CronJob/c+!
             Pod a <- Job/j+!",
            "Job/j",
            Background,
            "Job/j maybe by CronJob/c",
        ),
        (
            "other controllers may",
            "Shop main
             ConfigMap c <- Shop/main+!",
            "ConfigMap/c",
            Background,
            "ConfigMap/c maybe by Shop/main",
        ),
        (
            "nothing is made in a namespace that goes",
            "Namespace ns
             ReplicaSet rs
             Pod a <- ReplicaSet/rs+!",
            "Namespace/ns Pod/a",
            Background,
            "",
        ),
        (
            "R9.6 the kubelet shows its static pods again",
            "Node n1
             Pod mirror node=n1 <- Node/n1+",
            "Pod/mirror",
            Background,
            "Pod/mirror mirrored on Node/n1",
        ),
        (
            "R9.6 but not where its Node goes",
            "Node n1
             Pod mirror node=n1 <- Node/n1+",
            "Node/n1",
            Background,
            "",
        ),
        (
            "R9.4, R6.8 a new ReplicaSet adopts the pods",
            "Deployment web
             ReplicaSet rs <- Deployment/web+!
             Pod a <- ReplicaSet/rs+!",
            "ReplicaSet/rs",
            Orphan,
            "ReplicaSet/rs recreated by Deployment/web, Pod/a adopted through Deployment/web",
        ),
        (
            "R9.4 it may be an earlier ReplicaSet, which nobody makes again",
            "Deployment web
             ReplicaSet rs <- Deployment/web+!
             ReplicaSet other <- Deployment/web+!
             Pod a <- ReplicaSet/rs+!",
            "ReplicaSet/rs",
            Orphan,
            "ReplicaSet/rs maybe by Deployment/web, Pod/a maybe adopted, Pod/a maybe by Deployment/web",
        ),
        (
            "R9.3 what is orphaned is adopted if somebody's selector matches",
            "Deployment web
             Deployment other
             ReplicaSet rs <- Deployment/web+!
             facts Deployment/other rs",
            "Deployment/web",
            Orphan,
            "ReplicaSet/rs adopted by Deployment/other",
        ),
        (
            "R9.3 otherwise not",
            "Deployment web
             Deployment other
             ReplicaSet rs <- Deployment/web+!",
            "Deployment/web",
            Orphan,
            "",
        ),
        (
            "R9.3 what two may adopt",
            "Deployment web
             Deployment other
             Deployment third
             ReplicaSet rs <- Deployment/web+!
             facts Deployment/other rs
             facts Deployment/third rs",
            "Deployment/web",
            Orphan,
            "ReplicaSet/rs maybe adopted",
        ),
        (
            "R9.24 before the new ReplicaSet, another one may adopt",
            "Deployment web
             ReplicaSet rs <- Deployment/web+!
             Pod a <- ReplicaSet/rs+!
             ReplicaSet other
             facts ReplicaSet/other 1 a",
            "ReplicaSet/rs",
            Orphan,
            "ReplicaSet/rs recreated by Deployment/web, Pod/a maybe adopted, Pod/a maybe by Deployment/web",
        ),
        (
            "R9.3 and stays alone where nobody could",
            "Deployment web
             Deployment elsewhere:other
             ReplicaSet rs <- Deployment/web+!",
            "Deployment/web",
            Orphan,
            "",
        ),
        (
            "R9.3 no built-in controller adopts these",
            "Shop main
             ConfigMap c <- Shop/main+!
             Deployment other",
            "Shop/main",
            Orphan,
            "",
        ),
        (
            "what every namespace has",
            "ConfigMap kube-root-ca.crt
             ConfigMap other",
            "ConfigMap/kube-root-ca.crt ConfigMap/other",
            Background,
            "ConfigMap/kube-root-ca.crt recreated by the root CA publisher",
        ),
        (
            "but for one that goes",
            "Namespace ns
             ConfigMap kube-root-ca.crt",
            "Namespace/ns",
            Background,
            "",
        ),
        (
            "a circle of controllers makes nothing",
            "Shop a <- Shop/b+
             Shop b <- Shop/a+",
            "Shop/a Shop/b",
            Background,
            "",
        ),
    ];
    for (rule, text, targets, propagation, expected) in rows {
        let scene = scene(text);
        let plan = planned(&scene, targets, propagation);
        assert_eq!(afterwards(&scene, &plan), expected, "{rule}");
        let recreated = expected.matches("recreated by").count() + expected.matches("mirrored on").count();
        assert_eq!(plan.summary.recreated, recreated, "{rule}");
    }
}

#[test]
fn policies_that_do_nothing_are_said_to() {
    let rows = [
        ("R1.26", "CustomResourceDefinition Shop", "CustomResourceDefinition/Shop", Orphan, "policy-ignored"),
        ("R1.26", "CustomResourceDefinition Shop", "CustomResourceDefinition/Shop", Foreground, "policy-ignored"),
        ("R1.26", "CustomResourceDefinition Shop", "CustomResourceDefinition/Shop", Background, ""),
        ("R1.25", "Namespace ns", "Namespace/ns", Orphan, "policy-ignored"),
        ("R1.25 it takes its content along anyway", "Namespace ns", "Namespace/ns", Foreground, ""),
        ("nothing depends on it", "ConfigMap c", "ConfigMap/c", Foreground, "policy-without-effect"),
        ("nothing depends on it", "ConfigMap c", "ConfigMap/c", Orphan, "policy-without-effect"),
        ("background is what it is", "ConfigMap c", "ConfigMap/c", Background, ""),
        ("something does", "Shop main\nConfigMap c <- Shop/main", "Shop/main", Foreground, ""),
        ("something may", "Shop main\nunread ConfigMap", "Shop/main", Foreground, ""),
        ("R1.17", "Pod a T=30 node=n1\nNode n1", "Pod/a", Foreground, "delete-without-effect"),
        ("R1.25", "Namespace ns T\nPod a T=30 node=n1\nNode n1", "Namespace/ns", Orphan, "delete-without-effect"),
        ("§1.7", "Shop main T fin=acme.io/x", "Shop/main", Background, "delete-without-effect"),
        ("§1.7 another policy counts", "Shop main T fin=foregroundDeletion,acme.io/x", "Shop/main", Background, ""),
    ];
    for (rule, text, targets, propagation, expected) in rows {
        let scene = scene(text);
        let plan = planned(&scene, targets, propagation);
        let notes: Vec<&str> = plan.notes.iter().map(|note| note.kind.name()).collect();
        assert_eq!(notes.join(" "), expected, "{rule}: {targets} {propagation:?}");
    }
    // R1.17: a shorter grace period is applied.
    let scene = scene("Pod a T=30 node=n1\nNode n1");
    let graph = OwnerGraph::new(&scene.snapshot);
    let stage = SimContext::new(&scene.snapshot, &graph, Assume::Known);
    let notes = |grace| {
        let request = Request { grace: Some(grace), ..Request::delete(vec![scene.id("Pod/a")], Background) };
        explore(&stage, &request).notes.len()
    };
    assert_eq!([notes(5), notes(30), notes(60)], [0, 1, 1]);
}

/// S13, R9.7: who ends a pod, if its Node's kubelet doesn't.
#[test]
fn the_kubelet_of_a_node_may_not_end_pods() {
    let (goes, stays) = ("ReplicaSet/rs Deleted, Pod/a Deleted", "ReplicaSet/rs Terminating(foregroundDeletion)");
    let stays = format!("{stays}, Pod/a Terminating()");
    for (report, targets, expected) in [
        ("Ready", "ReplicaSet/rs", format!("{goes}: []")),
        // It could not be read.
        ("Unread", "ReplicaSet/rs", "ReplicaSet/rs Deleted?, Pod/a Deleted?: []".to_owned()),
        ("Silent", "ReplicaSet/rs", format!("{stays}: [Stuck, Stuck]")),
        (
            "NotReady",
            "ReplicaSet/rs",
            "ReplicaSet/rs Terminating(foregroundDeletion)?, Pod/a Terminating()?: [Unknown, Unknown]".to_owned(),
        ),
        ("OutOfService", "ReplicaSet/rs", format!("{goes}: []")),
        // The pod garbage collector ends the pods of a Node that is gone.
        ("Silent", "ReplicaSet/rs Node/n1", format!("Node/n1 Deleted, {goes}: []")),
    ] {
        let node = match report {
            "Unread" => "Node n1 node=?".to_owned(),
            _ => format!("Node n1\nfacts Node/n1 {report}"),
        };
        let scene = scene(&format!("{node}\nReplicaSet rs\nPod a node=n1 <- ReplicaSet/rs!"));
        let plan = planned(&scene, targets, Foreground);
        let states: Vec<_> = plan.outcomes.iter().filter_map(|outcome| outcome.state).collect();
        assert_eq!(format!("{}: {states:?}", scene.describe(&plan)), expected, "{report} {targets}");
    }
}

/// R9.23: it scales another one up.
#[test]
fn a_paused_deployment_makes_no_replica_set() {
    let web = "Deployment web\nReplicaSet new <- Deployment/web+!\nPod a <- ReplicaSet/new+!";
    let old = "ReplicaSet old <- Deployment/web+!";
    let paused = "facts Deployment/web paused";
    for (text, targets, propagation, expected) in [
        (format!("{web}\n{paused}"), "ReplicaSet/new", Background, ""),
        (format!("{web}\n{old}\n{paused}"), "ReplicaSet/new", Background, "Pod/a recreated by Deployment/web"),
        (format!("{web}\n{old}\n{paused}"), "ReplicaSet/new", Orphan, "Pod/a recreated by Deployment/web"),
        (format!("{web}\n{old}\n{paused}"), "ReplicaSet/new ReplicaSet/old", Background, ""),
        (format!("{web}\n{old}\n{paused}"), "Pod/a", Background, "Pod/a recreated by ReplicaSet/new"),
    ] {
        let scene = scene(&text);
        assert_eq!(afterwards(&scene, &planned(&scene, targets, propagation)), expected, "{text}: {targets}");
    }
}

/// R9.24: `few` wants one pod and has one, and adopts two.
#[test]
fn a_controller_with_fewer_replicas_deletes_what_it_adopts() {
    let free = "Pod/web-a Orphaned, Pod/web-b Orphaned";
    let goes = "Pod/web-a Deleted, Pod/web-b Deleted";
    let unsure = "Pod/own Unchanged?, ReplicaSet/many Deleted, Pod/web-a Orphaned?, Pod/web-b Orphaned?";
    let dearest = "Pod/own Deleted, ReplicaSet/many Deleted, Pod/web-a Deleted, Pod/web-b Orphaned";
    let one_goes = "Pod/own Deleted?, ReplicaSet/many Deleted, Pod/web-a Deleted, Pod/web-b Orphaned?";
    for (what, facts, more, expected) in [
        ("another selector", "1 other", "", format!("ReplicaSet/many Deleted, {free}")),
        ("its own runs", "1 web", "facts Pod/own n1 Running", format!("ReplicaSet/many Deleted, {goes}")),
        ("one of the others runs", "1 web", "facts Pod/web-b n1 Running", dearest.to_owned()),
        ("one of the others is dearer", "1 web", "facts Pod/web-b - - 3", dearest.to_owned()),
        (
            "all are alike",
            "1 web",
            "",
            "Pod/own Deleted?, ReplicaSet/many Deleted, Pod/web-a Deleted?, Pod/web-b Orphaned?".to_owned(),
        ),
        (
            "one goes, and one of two",
            "1 web",
            "facts Pod/own n1 Running\nfacts Pod/web-b n1 Running",
            one_goes.to_owned(),
        ),
        (
            "what has ended is not adopted",
            "1 web",
            "facts Pod/web-a n1 Failed\nfacts Pod/web-b n1 Succeeded",
            format!("ReplicaSet/many Deleted, {free}"),
        ),
        ("it is not at rest", "2 web", "", unsure.to_owned()),
        ("its selector was not read", "1", "", unsure.to_owned()),
        ("there is another one", "1 web", "facts Job/other - web", unsure.to_owned()),
    ] {
        let text = format!(
            "Node n1
             ReplicaSet few
             Pod own <- ReplicaSet/few+!
             ReplicaSet many
             Pod web-a <- ReplicaSet/many+!
             Pod web-b <- ReplicaSet/many+!
             Job other
             facts ReplicaSet/few {facts}
             {more}"
        );
        let scene = scene(&text);
        assert_eq!(scene.describe(&planned(&scene, "ReplicaSet/many", Orphan)), expected, "{what}");
    }
}

/// R9.24: the pods are free before their ReplicaSet is gone, and only then does its Deployment make another one, which
/// may be faster all the same.
#[test]
fn a_controller_with_fewer_replicas_is_faster_than_a_new_replica_set() {
    let text = "Node n1
         ReplicaSet few
         Pod own <- ReplicaSet/few+!
         Deployment web
         ReplicaSet many <- Deployment/web+!
         Pod web-a <- ReplicaSet/many+!
         Pod web-b <- ReplicaSet/many+!
         facts ReplicaSet/few 1 web
         facts Pod/own n1 Running";
    let scene = scene(text);
    let plan = planned(&scene, "ReplicaSet/many", Orphan);
    let expected = "Pod/own Unchanged?, ReplicaSet/many Deleted, Pod/web-a Deleted?, Pod/web-b Deleted?";
    assert_eq!(scene.describe(&plan), expected);
    let first = Assumption::AdoptsFirst { controller: "ReplicaSet/few".to_owned() };
    assert!(plan.assumptions.contains(&first), "{:?}", plan.assumptions);
}

/// R9.25: the claim of a living StatefulSet comes again with its pod, and without its data.
#[test]
fn a_stateful_set_makes_its_claims_again() {
    let set = "Node n1\nStatefulSet my-db\nPod my-db-0 node=n1 claim=data-my-db-0 <- StatefulSet/my-db+!";
    let claims = "PersistentVolumeClaim data-my-db-0 fin=kubernetes.io/pvc-protection\nPersistentVolumeClaim data-db-0";
    let facts = "facts StatefulSet/my-db data";
    let [claim, pod] = ["PersistentVolumeClaim/data-my-db-0", "Pod/my-db-0"];
    let (both, again) = (format!("{claim} {pod}"), format!("{pod} recreated by StatefulSet/my-db"));
    for (facts, targets, expected) in [
        (facts, both.as_str(), format!("{again}, {claim} recreated empty by StatefulSet/my-db")),
        // The pod still uses it.
        (facts, claim, format!("{claim} maybe by StatefulSet/my-db")),
        (facts, "PersistentVolumeClaim/data-db-0", String::new()),
        ("facts StatefulSet/my-db log", &both, again.clone()),
        ("", &both, format!("{again}, {claim} maybe by StatefulSet/my-db")),
        (facts, &format!("{both} StatefulSet/my-db"), String::new()),
        // Both are stuck.
        ("facts StatefulSet/my-db data\nfacts Node/n1 Silent", &both, String::new()),
    ] {
        let scene = scene(&format!("{set}\n{claims}\n{facts}"));
        assert_eq!(afterwards(&scene, &planned(&scene, targets, Background)), expected, "{facts} {targets}");
    }
}

/// R9.22: of three pods, one or two are deleted.
#[test]
fn a_job_that_fails_deletes_its_other_pods() {
    let [one, two] = ["Pod/a Deleted", "Pod/a Deleted, Pod/b Deleted"];
    for (facts, targets, expected) in [
        ("facts Job/j 0", "Pod/a", format!("{two}, Pod/c Deleted")),
        ("facts Job/j 1", "Pod/a", one.to_owned()),
        ("facts Job/j 1", "Pod/a Pod/b", format!("{two}, Pod/c Deleted")),
        ("facts Job/j 2", "Pod/a Pod/b", two.to_owned()),
        ("facts Job/j -", "Pod/a Pod/b", two.to_owned()),
        // One that has succeeded doesn't count, and one that has failed was counted.
        ("facts Job/j 0\nfacts Pod/a n1 Succeeded", "Pod/a", one.to_owned()),
        ("facts Job/j 0\nfacts Pod/b n1 Failed", "Pod/a", format!("{one}, Pod/c Deleted")),
        ("facts Job/j 0 judges", "Pod/a", format!("{one}, Pod/b Unchanged?, Pod/c Unchanged?")),
    ] {
        let pods =
            ["a", "b", "c"].map(|name| format!("Pod {name} node=n1 fin=batch.kubernetes.io/job-tracking <- Job/j+!\n"));
        let scene = scene(&format!("Node n1\nJob j\n{}{facts}", pods.concat()));
        assert_eq!(scene.describe(&planned(&scene, targets, Background)), expected, "{facts} {targets}");
    }
}

/// R9.36, R9.7: also after the pod garbage collector has deleted the pods of a Node that is gone.
#[test]
fn a_job_expires_after_its_node() {
    let pod = "Pod a node=n1 fin=batch.kubernetes.io/job-tracking <- Job/j+!";
    let scene = scene(&format!("Node n1\nJob j\n{pod}\nConfigMap c <- Job/j\nfacts Job/j 0 ttl=5\nfacts Pod/a n1"));
    let expected = "Node/n1 Deleted, Job/j Deleted, Pod/a Deleted, ConfigMap/c Deleted";
    assert_eq!(scene.describe(&planned(&scene, "Node/n1", Background)), expected);
}

/// R9.19, R9.20: what controllers delete without an owner reference, and what is below that, has outcomes.
#[test]
fn what_follows_without_a_reference_has_outcomes() {
    for (rule, text, targets, expected) in [
        (
            "R9.20 a Service's Endpoints and IPAddresses",
            "Service web
             Endpoints web
             Endpoints other
             ConfigMap c <- Endpoints/web!
             IPAddress 10.0.0.1
             IPAddress 10.0.0.2
             facts Service/web ClusterIP 10.0.0.1",
            "Service/web",
            "Service/web Deleted, Endpoints/web Deleted, ConfigMap/c Deleted, IPAddress/10.0.0.1 Deleted",
        ),
        (
            "R9.20 not those of a Service that stays terminating",
            "Service web fin=acme.io/x
             Endpoints web
             facts Service/web LoadBalancer",
            "Service/web",
            "Service/web Terminating(acme.io/x)",
        ),
        (
            "R9.19 the token Secrets of a ServiceAccount",
            "ServiceAccount robot
             Secret a
             Secret b
             Secret c
             Secret d
             Secret elsewhere:e
             ConfigMap below <- Secret/a!
             facts ServiceAccount/robot
             facts Secret/a robot
             facts Secret/b robot another
             facts Secret/c other
             facts Secret/e robot",
            "ServiceAccount/robot",
            "ServiceAccount/robot Deleted, Secret/a Deleted, ConfigMap/below Deleted",
        ),
        (
            "R9.19 one with a finalizer stays terminating",
            "ServiceAccount robot
             Secret a fin=acme.io/x
             facts ServiceAccount/robot
             facts Secret/a robot",
            "ServiceAccount/robot",
            "ServiceAccount/robot Deleted, Secret/a Terminating(acme.io/x)",
        ),
        (
            "R9.35 the volume of a claim",
            "PersistentVolumeClaim data
             PersistentVolume pv fin=kubernetes.io/pv-protection
             ConfigMap of-pv <- PersistentVolume/pv
             facts PersistentVolume/pv Delete ns/data Bound kubernetes",
            "PersistentVolumeClaim/data",
            "PersistentVolumeClaim/data Deleted, PersistentVolume/pv Deleted, ConfigMap/of-pv Deleted",
        ),
        (
            "R9.35 not of one that stays terminating, nor one that nobody can delete",
            "PersistentVolumeClaim data fin=acme.io/x
             PersistentVolume pv
             PersistentVolumeClaim more
             PersistentVolume nfs
             facts PersistentVolume/pv Delete ns/data Bound kubernetes
             facts PersistentVolume/nfs Delete ns/more Bound nobody",
            "PersistentVolumeClaim/data PersistentVolumeClaim/more",
            "PersistentVolumeClaim/data Terminating(acme.io/x), PersistentVolumeClaim/more Deleted",
        ),
        (
            "R9.36 a Job that fails, and its ttlSecondsAfterFinished",
            "Job run
             Pod a fin=batch.kubernetes.io/job-tracking <- Job/run+!
             Pod b fin=batch.kubernetes.io/job-tracking <- Job/run+!
             facts Job/run 0 run ttl=5",
            "Pod/a",
            "Job/run Deleted, Pod/a Deleted, Pod/b Deleted",
        ),
        (
            "R9.36 not one that has to wait for a pod, nor in an hour, nor with a try left",
            "Job run
             Pod a fin=batch.kubernetes.io/job-tracking,acme.io/x <- Job/run+!
             Job slow
             Pod b fin=batch.kubernetes.io/job-tracking <- Job/slow+!
             Job again
             Pod c fin=batch.kubernetes.io/job-tracking <- Job/again+!
             facts Job/run 0 run ttl=5
             facts Job/slow 0 slow ttl=3600
             facts Job/again 1 again ttl=5",
            "Pod/a Pod/b Pod/c",
            "Pod/a Terminating(acme.io/x), Pod/b Deleted, Pod/c Deleted",
        ),
    ] {
        let scene = scene(text);
        assert_eq!(scene.describe(&planned(&scene, targets, Background)), expected, "{rule}");
    }
}
