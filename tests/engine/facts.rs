//! What is known of an object beyond its metadata: `facts Kind/name WORDS` in a graph. The words depend on the kind.

use gc_core::model::{
    Fact,
    effects::PolicyFacts,
    facts::{
        AccountFacts, ClaimFacts, ClaimTemplates, JobFacts, KubeletReport, NodeFacts, PodFacts, ServiceFacts,
        SnapshotContentFacts, SnapshotFacts, TokenFacts, VolumeDeleter, VolumeFacts, WorkloadFacts,
    },
};

use crate::graphs::scene::selector_of;

pub fn fact(object: &str, words: &[&str]) -> Fact {
    let word = |index: usize| words.get(index).filter(|word| **word != "-").map(|word| (*word).to_owned());
    let kind = object.split_once('/').expect("Kind/name").0;
    let most = match kind {
        "ServiceAccount" => 0,
        "PersistentVolumeClaim" | "VolumeSnapshot" | "VolumeSnapshotContent" => 1,
        "Deployment" | "ReplicaSet" | "Secret" => 2,
        "Job" | "PersistentVolume" | "Pod" => 4,
        _ => usize::MAX,
    };
    assert!(words.len() <= most, "what is {} of {object}?", words[words.len() - 1]);
    match kind {
        "PersistentVolume" => Fact::Volume(VolumeFacts {
            reclaim_policy: word(0).map(Into::into),
            claim: word(1).map(Into::into),
            phase: word(2).map(Into::into),
            deleted_by: word(3).map(|by| match by.as_str() {
                "kubernetes" => VolumeDeleter::Kubernetes,
                "nobody" => VolumeDeleter::Nobody,
                "former-plugin" => VolumeDeleter::FormerPlugin,
                _ => VolumeDeleter::Provisioner(by.into()),
            }),
            ..VolumeFacts::default()
        }),
        "PersistentVolumeClaim" => Fact::Claim(ClaimFacts { volume: word(0), ..ClaimFacts::default() }),
        "Service" => Fact::Service(ServiceFacts {
            kind: word(0),
            cluster_ips: words.iter().skip(1).map(|address| (*address).to_owned()).collect(),
            selects: true,
            ..ServiceFacts::default()
        }),
        "ServiceAccount" => Fact::Account(AccountFacts {}),
        "Deployment" => Fact::Workload(WorkloadFacts {
            paused: words.contains(&"paused"),
            selector: Some(selector_of(words.first().copied().unwrap_or("none"))),
            ..WorkloadFacts::default()
        }),
        "StatefulSet" => Fact::Workload(WorkloadFacts {
            claims: Some(ClaimTemplates {
                names: words.iter().filter(|word| **word != "deleted").map(|name| (*name).to_owned()).collect(),
                deleted: words.contains(&"deleted"),
            }),
            ..WorkloadFacts::default()
        }),
        "ReplicaSet" => Fact::Workload(WorkloadFacts {
            wanted: word(0).map(|wanted| wanted.parse().expect("a number")),
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
            account: word(3),
            ..PodFacts::default()
        }),
        "VolumeSnapshot" => Fact::VolumeSnapshot(SnapshotFacts { content: word(0), ..SnapshotFacts::default() }),
        "VolumeSnapshotContent" => Fact::VolumeSnapshotContent(SnapshotContentFacts {
            deletion_policy: word(0),
            ..SnapshotContentFacts::default()
        }),
        _ => {
            let fields = words.iter().map(|word| word.split_once('=').unwrap_or_else(|| panic!("what is {word}?")));
            let fields = fields.map(|(key, value)| (key.into(), value.into())).collect();
            Fact::Policy(PolicyFacts { fields, ..PolicyFacts::default() })
        }
    }
}
