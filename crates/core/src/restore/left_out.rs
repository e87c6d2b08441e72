//! Which objects are not restored, kind by kind, with the source: those that a controller recreates itself once its
//! owner is back, and those whose work would be repeated.

use std::{borrow::Cow, fmt};

use rustc_hash::FxHashSet;
use serde::Serialize;
use serde_json::Value;

use crate::{
    hold::has_finished,
    model::{
        facts::{VolumeDeleter, VolumeFacts},
        made::{MADE_BY_CONTROLLERS, MadeKind},
    },
    wording::some_of,
};

use super::archived::{Archived, Place};

/// Why an object of an archive is not restored.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LeftOut {
    /// This component recreates it. `--all` restores it nevertheless.
    MadeBy(&'static str),
    /// It has finished, and would run again (a finished Job or Pod).
    Finished,
    /// It was being deleted before it was archived, or all its owners were. `--all` restores it nevertheless.
    Terminating,
    /// The archive has a later object with the same coordinates.
    Replaced,
    /// It owns an object that is restored by name, and wasn't named itself.
    NotNamed,
    /// It is cluster-scoped, and objects are restored into another namespace. Naming it, or `--cluster-scoped`,
    /// restores it nevertheless.
    ClusterScoped,
    /// A Namespace whose objects are restored into another one.
    Moved,
}

impl LeftOut {
    /// Whether `--all` restores it.
    pub fn with_all(&self) -> bool {
        matches!(self, LeftOut::MadeBy(_) | LeftOut::Terminating)
    }
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LeftOut::MadeBy(who) => write!(f, "recreated by {who}"),
            LeftOut::Finished => f.write_str("finished, and would run again"),
            LeftOut::Terminating => f.write_str("it or its owner was Terminating already when it was archived"),
            LeftOut::Replaced => f.write_str("the archive has a newer object with the same name"),
            LeftOut::NotNamed => f.write_str("owns an object that is restored, and was not named itself"),
            LeftOut::ClusterScoped => {
                f.write_str("cluster-scoped, and not restored with another namespace unless named or --cluster-scoped")
            }
            LeftOut::Moved => f.write_str("its objects are restored into another namespace"),
        }
    }
}

/// Objects that a component recreates without a controller reference that names it.
const MADE_BY_OTHERS: &[(&str, &str, &str)] = &[
    // staging/src/k8s.io/api/core/v1: events report the past, and expire.
    ("", "Event", "the component that reports the event"),
    ("events.k8s.io", "Event", "the component that reports the event"),
    // pkg/registry/core/service/ipallocator: the server keeps one for each cluster IP.
    ("networking.k8s.io", "IPAddress", "the API server, with each Service"),
    // pkg/controller/volume/attachdetach.
    ("storage.k8s.io", "VolumeAttachment", "the attach-detach controller"),
    // external-provisioner and device drivers publish what is available.
    ("storage.k8s.io", "CSIStorageCapacity", "its driver"),
    ("resource.k8s.io", "ResourceSlice", "its driver"),
];

/// Why an object is not restored; `None` if it is. `find` finds an object of the archive by uid, `at` by its
/// coordinates.
pub(super) fn why_left_out<'a>(
    object: &Archived,
    find: impl Fn(&str) -> Option<&'a Archived>,
    at: impl Fn(&Place) -> Option<&'a Archived>,
) -> Option<LeftOut> {
    let place = &object.place;
    if is_finished(place, &object.whole) {
        // Whoever created it, its work must not be repeated.
        return Some(LeftOut::Finished);
    }
    if let Some(controller) = object.controller().and_then(|reference| find(&reference.uid)) {
        let is_it = |made: &&MadeKind| {
            controller.place.is(made.owner.0, made.owner.1) && place.is(made.dependent.0, made.dependent.1)
        };
        // A person has made this Job from its CronJob (kubectl pkg/cmd/create/create_job.go).
        let by_hand = object.whole["metadata"]["annotations"]["cronjob.kubernetes.io/instantiate"] == "manual";
        if let Some(made) = MADE_BY_CONTROLLERS.iter().find(is_it).filter(|_| !by_hand) {
            return Some(LeftOut::MadeBy(made.by));
        }
    }
    if let Some((.., who)) = MADE_BY_OTHERS.iter().find(|(group, kind, _)| place.is(group, kind)) {
        return Some(LeftOut::MadeBy(who));
    }
    let label = |key: &str| object.whole["metadata"]["labels"][key].as_str().unwrap_or_default();
    match (place.group(), place.kind.as_str()) {
        // It is deleted with its claim, and the disk behind it too: a new claim gets a new one (R9.35).
        ("", "PersistentVolume") if is_provisioned(&object.whole) => {
            let claim = &object.whole["spec"]["claimRef"];
            let text = |key: &str| claim[key].as_str().unwrap_or_default().to_owned();
            let claim = at(&Place {
                api_version: "v1".to_owned(),
                kind: "PersistentVolumeClaim".to_owned(),
                namespace: text("namespace"),
                name: text("name"),
            });
            claim.map(|_| LeftOut::MadeBy("its provisioner, without the data, for the restored claim"))
        }
        // pkg/controller/certificates/rootcacertpublisher.
        ("", "ConfigMap") if place.name == "kube-root-ca.crt" => Some(LeftOut::MadeBy("the root CA publisher")),
        // pkg/controller/serviceaccount/serviceaccounts_controller.go creates one without additions.
        ("", "ServiceAccount") if place.name == "default" && is_bare(&object.whole) => {
            Some(LeftOut::MadeBy("the service account controller"))
        }
        // pkg/controller/endpoint: it doesn't create the Endpoints of a Service without a selector.
        ("", "Endpoints") => {
            let service = at(&Place { kind: "Service".to_owned(), ..place.clone() });
            let selects = service.is_some_and(|service| is_filled(&service.whole["spec"]["selector"]));
            selects.then_some(LeftOut::MadeBy("its Service's controller"))
        }
        // kube-aggregator, autoregister: one for each group and version that the server itself or a CRD serves.
        ("apiregistration.k8s.io", "APIService") if !label("kube-aggregator.kubernetes.io/automanaged").is_empty() => {
            Some(LeftOut::MadeBy("the API server"))
        }
        _ => None,
    }
}

/// Whether a PersistentVolume was made for its claim, and is deleted with it.
fn is_provisioned(volume: &Value) -> bool {
    let provisioner = &volume["metadata"]["annotations"][VolumeDeleter::PROVISIONED_BY];
    is_text(provisioner) && volume["spec"]["persistentVolumeReclaimPolicy"] == VolumeFacts::DELETE
}

/// Whether a Pod has ended, or a Job is complete or has failed.
fn is_finished(place: &Place, whole: &Value) -> bool {
    if place.is("", "Pod") {
        return matches!(whole["status"]["phase"].as_str(), Some("Succeeded" | "Failed"));
    }
    place.is("batch", "Job") && has_finished(whole)
}

/// Whether the default ServiceAccount of a namespace has no additions.
fn is_bare(account: &Value) -> bool {
    let metadata = &account["metadata"];
    let added = [
        &metadata["labels"],
        &metadata["annotations"],
        &metadata["finalizers"],
        &metadata["ownerReferences"],
        &account["imagePullSecrets"],
    ];
    !added.into_iter().any(is_filled) && account["automountServiceAccountToken"].is_null()
}

fn is_filled(value: &Value) -> bool {
    value.as_object().is_some_and(|map| !map.is_empty()) || value.as_array().is_some_and(|list| !list.is_empty())
}

/// A kind of loss.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Lost {
    /// What is lost.
    pub what: &'static str,
    /// What replaces it.
    #[serde(rename = "replacement")]
    pub instead: Cow<'static, str>,
    /// The number of objects that have lost it.
    pub objects: usize,
}

/// Which objects are concerned, what they lose, and what replaces it.
type Row = (fn(&Place, &Value) -> bool, &'static str, &'static str);

const LOSSES: &[Row] = &[
    (
        |place, whole| {
            place.is("", "Service") && is_text(&whole["spec"]["clusterIP"]) && whole["spec"]["clusterIP"] != "None"
        },
        "cluster IPs and node ports",
        "the server assigns new ones",
    ),
    (
        |place, whole| place.is("", "Service") && whole["status"]["loadBalancer"]["ingress"].is_array(),
        "addresses of load balancers",
        "the load balancer provider assigns new ones",
    ),
    (
        |place, whole| place.is("", "Pod") && is_text(&whole["spec"]["nodeName"]),
        "nodes of pods",
        "the scheduler chooses nodes again",
    ),
    (
        |place, whole| place.is("", "PersistentVolumeClaim") && is_text(&whole["spec"]["volumeName"]),
        "data of volumes",
        "a claim gets a new volume unless a PersistentVolume is reserved for it",
    ),
    (
        |place, _| place.is("", "PersistentVolume"),
        "storage behind PersistentVolumes",
        "each refers to its old storage, which may have been deleted with it",
    ),
    (
        |place, whole| place.is("", "Secret") && whole["type"] == "kubernetes.io/service-account-token",
        "tokens of ServiceAccounts",
        "new ones are issued; clients of old tokens need new ones",
    ),
    (|place, _| place.is("batch", "Job"), "progress of Jobs", "they start over"),
];

/// What the restored objects have lost, each kind of loss with the number of objects. `all`: the whole archive.
/// `is_target`: whether somebody deleted the object itself.
pub fn lost<'a>(
    objects: impl IntoIterator<Item = &'a Archived>,
    all: impl IntoIterator<Item = &'a Archived>,
    is_target: impl Fn(&Archived) -> bool,
) -> Vec<Lost> {
    let claims = all.into_iter().filter(|object| object.place.is("", "PersistentVolumeClaim"));
    let claims: FxHashSet<&str> = claims.map(|claim| claim.uid.as_str()).collect();
    let mut counts = vec![0; LOSSES.len()];
    let mut destroyed: Vec<String> = Vec::new();
    for object in objects {
        if went_with_its_claim(object, &claims) && !is_target(object) {
            destroyed.push(object.place.to_string());
            continue;
        }
        for ((loses, ..), count) in LOSSES.iter().zip(&mut counts) {
            *count += usize::from(loses(&object.place, &object.whole));
        }
    }
    let counted = LOSSES.iter().zip(counts).filter(|(_, objects)| *objects > 0);
    let counted = counted.map(|((_, what, instead), objects)| Lost { what, instead: Cow::Borrowed(instead), objects });
    let gone = (!destroyed.is_empty()).then(|| Lost {
        what: "data of PersistentVolumes with reclaim policy Delete",
        instead: Cow::Owned(format!(
            "it was deleted with their claims: whatever is bound to {} finds no storage",
            some_of(destroyed.iter().cloned(), NAMED)
        )),
        objects: destroyed.len(),
    });
    gone.into_iter().chain(counted).collect()
}

/// At most this many volumes are named.
const NAMED: usize = 3;

/// Whether a PersistentVolume went because its claim did: whoever removes it destroys its storage first
/// (kubernetes/kubernetes pkg/controller/volume/persistentvolume/pv_controller.go: deleteVolumeOperation).
fn went_with_its_claim(volume: &Archived, claims: &FxHashSet<&str>) -> bool {
    let spec = &volume.whole["spec"];
    volume.place.is("", "PersistentVolume")
        && spec["persistentVolumeReclaimPolicy"] == VolumeFacts::DELETE
        && spec["claimRef"]["uid"].as_str().is_some_and(|uid| claims.contains(uid))
}

pub(super) fn is_text(value: &Value) -> bool {
    value.as_str().is_some_and(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::restore::testing::{archived, object, owned};

    /// Why the last of these is left out.
    fn why(objects: Vec<Value>) -> Option<String> {
        let objects = archived(objects);
        let find = |uid: &str| objects.iter().find(|object| object.uid == uid);
        let at = |place: &Place| objects.iter().find(|object| object.place == *place);
        why_left_out(objects.last().unwrap(), find, at).map(|why| why.to_string())
    }

    #[test]
    fn every_row_of_the_table_has_its_say() {
        for MadeKind { owner: (group, kind), dependent: (below_group, below_kind), by: who, .. } in MADE_BY_CONTROLLERS
        {
            let version = |group: &str| if group.is_empty() { "v1".to_owned() } else { format!("{group}/v1") };
            let (above, below) = (version(group), version(below_group));
            let controller = object(&above, kind, "a", &json!({"metadata": {"namespace": "shop"}}));
            let dependent = owned(&below, below_kind, "b", &[(&above, kind, "a")]);
            let describe = why(vec![controller, dependent.clone()]);
            assert_eq!(describe, Some(format!("recreated by {who}")), "{kind} {below_kind}");
            // It is not recreated if its controller is not restored.
            assert_eq!(why(vec![dependent]), None, "{kind} {below_kind}");
            let mut plain = owned(&below, below_kind, "b", &[(&above, kind, "a")]);
            plain["metadata"]["ownerReferences"][0]["controller"] = json!(false);
            assert_eq!(
                why(vec![object(&above, kind, "a", &json!({})), plain]),
                None,
                "an owner is no controller: {kind}"
            );
        }
        let mut by_hand = owned("batch/v1", "Job", "b", &[("batch/v1", "CronJob", "a")]);
        by_hand["metadata"]["annotations"] = json!({"cronjob.kubernetes.io/instantiate": "manual"});
        assert_eq!(why(vec![object("batch/v1", "CronJob", "a", &json!({})), by_hand]), None);
        for (group, kind, who) in MADE_BY_OTHERS {
            let version = if group.is_empty() { "v1".to_owned() } else { format!("{group}/v1") };
            assert_eq!(why(vec![object(&version, kind, "a", &json!({}))]), Some(format!("recreated by {who}")));
        }
    }

    #[test]
    fn what_somebody_has_added_to_is_brought_back() {
        let account = |more: Value| why(vec![object("v1", "ServiceAccount", "default", &more)]);
        assert_eq!(account(json!({})).as_deref(), Some("recreated by the service account controller"));
        assert_eq!(account(json!({"imagePullSecrets": [{"name": "registry"}]})), None);
        assert_eq!(account(json!({"metadata": {"annotations": {"role": "arn"}}})), None);
        assert_eq!(account(json!({"automountServiceAccountToken": false})), None);
        assert_eq!(why(vec![object("v1", "ServiceAccount", "build", &json!({}))]), None);

        let endpoints = || owned("v1", "Endpoints", "web", &[]);
        let service =
            |spec: Value| object("v1", "Service", "web", &json!({"metadata": {"namespace": "shop"}, "spec": spec}));
        let describe = why(vec![service(json!({"selector": {"app": "web"}})), endpoints()]);
        assert_eq!(describe.as_deref(), Some("recreated by its Service's controller"));
        assert_eq!(why(vec![service(json!({})), endpoints()]), None, "somebody has written them by hand");
        assert_eq!(why(vec![endpoints()]), None);

        let volume = |policy: &str, annotations: Value| {
            let claim = json!({"namespace": "shop", "name": "data", "uid": "old"});
            let spec = json!({"persistentVolumeReclaimPolicy": policy, "claimRef": claim});
            object("v1", "PersistentVolume", "pv", &json!({"metadata": {"annotations": annotations}, "spec": spec}))
        };
        let claim = || owned("v1", "PersistentVolumeClaim", "data", &[]);
        let provisioned = || json!({"pv.kubernetes.io/provisioned-by": "disks.acme.io"});
        assert!(why(vec![claim(), volume("Delete", provisioned())]).is_some());
        assert_eq!(why(vec![volume("Delete", provisioned())]), None, "it may wait for a claim that is there");
        assert_eq!(why(vec![claim(), volume("Retain", provisioned())]), None, "its disk is still there");
        assert_eq!(why(vec![claim(), volume("Delete", json!({}))]), None, "somebody has made it");

        let api = |labels: Value| {
            why(vec![object("apiregistration.k8s.io/v1", "APIService", "a", &json!({"metadata": {"labels": labels}}))])
        };
        assert!(api(json!({"kube-aggregator.kubernetes.io/automanaged": "onstart"})).is_some());
        assert_eq!(api(json!({})), None);
    }

    #[test]
    fn what_has_finished_does_not_run_again() {
        let job = |status: Value| why(vec![object("batch/v1", "Job", "import", &json!({"status": status}))]);
        let condition = |kind: &str, status: &str| json!({"conditions": [{"type": kind, "status": status}]});
        assert_eq!(job(condition("Complete", "True")).as_deref(), Some("finished, and would run again"));
        assert!(job(condition("Failed", "True")).is_some());
        assert_eq!(job(condition("Complete", "False")), None);
        assert_eq!(job(condition("Suspended", "True")), None);
        let pod = |phase: &str| why(vec![object("v1", "Pod", "once", &json!({"status": {"phase": phase}}))]);
        assert!(pod("Succeeded").is_some() && pod("Failed").is_some());
        assert_eq!((pod("Running"), pod("Pending")), (None, None));
        // Its CronJob would create other Jobs, but not this one.
        let mut of_cron_job = owned("batch/v1", "Job", "report-1", &[("batch/v1", "CronJob", "report")]);
        of_cron_job["status"] = condition("Complete", "True");
        let describe = why(vec![owned("batch/v1", "CronJob", "report", &[]), of_cron_job]);
        assert_eq!(describe.as_deref(), Some("finished, and would run again"));
        assert!(LeftOut::MadeBy("x").with_all() && !LeftOut::Finished.with_all());
    }

    #[test]
    fn each_loss_is_told_with_how_many_have_it() {
        let service = |name: &str, spec: Value| object("v1", "Service", name, &json!({"spec": spec}));
        let objects = archived([
            service("web", json!({"clusterIP": "10.0.0.7"})),
            service("db", json!({"clusterIP": "None"})),
            service("api", json!({"clusterIP": "10.0.0.8"})),
            object("v1", "Service", "lb", &json!({"status": {"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}}})),
            object("v1", "Pod", "bound", &json!({"spec": {"nodeName": "worker-1"}})),
            object("v1", "Pod", "pending", &json!({"spec": {}})),
            object("v1", "PersistentVolumeClaim", "data", &json!({"spec": {"volumeName": "pv-1"}})),
            object("v1", "PersistentVolumeClaim", "unbound", &json!({"spec": {}})),
            object("v1", "PersistentVolume", "pv-1", &json!({})),
            object("v1", "Secret", "token", &json!({"type": "kubernetes.io/service-account-token"})),
            object("v1", "Secret", "password", &json!({"type": "Opaque"})),
            object("batch/v1", "Job", "import", &json!({})),
        ]);
        let of = |objects: &[Archived]| lost(objects, objects, |_| false);
        let describe: Vec<(&str, usize)> = of(&objects).into_iter().map(|lost| (lost.what, lost.objects)).collect();
        assert_eq!(
            describe,
            [
                ("cluster IPs and node ports", 2),
                ("addresses of load balancers", 1),
                ("nodes of pods", 1),
                ("data of volumes", 1),
                ("storage behind PersistentVolumes", 1),
                ("tokens of ServiceAccounts", 1),
                ("progress of Jobs", 1),
            ]
        );
        assert_eq!(of(&archived([object("v1", "ConfigMap", "a", &json!({}))])), []);
    }

    #[test]
    fn what_was_destroyed_with_its_claim_is_named() {
        let of = |policy: &str, uid: &str, is_target: bool| {
            let claim = object("v1", "PersistentVolumeClaim", "data", &json!({"metadata": {"uid": "u-data"}}));
            let spec = json!({"persistentVolumeReclaimPolicy": policy, "claimRef": {"name": "data", "uid": uid}});
            let objects = archived([claim, object("v1", "PersistentVolume", "pv-1", &json!({"spec": spec}))]);
            lost(&objects, &objects, |object| is_target && object.place.kind == "PersistentVolume")
        };
        let gone = of("Delete", "u-data", false);
        assert_eq!((gone.len(), gone[0].what), (1, "data of PersistentVolumes with reclaim policy Delete"));
        assert!(gone[0].instead.contains("PersistentVolume/pv-1 finds no storage"), "{gone:?}");
        for other in [of("Retain", "u-data", false), of("Delete", "u-other", false), of("Delete", "u-data", true)] {
            assert_eq!(other[0].what, "storage behind PersistentVolumes");
        }
    }
}
