//! PersistentVolumes without their claim (R12.10), and those that protection holds (R12.11).

use crate::model::{
    Object, ObjectId, Presence, Rule, Snapshot,
    facts::{ReclaimFacts, VolumeDeleter, VolumeFacts, VolumeUse},
};

use super::{Found, Reason, When, scene::Scene};

const CONTROLLER: &str = "persistentvolume-binder-controller";
/// The finalizer of volumes that claims are bound to.
const PROTECTION: &str = "kubernetes.io/pv-protection";

pub(super) fn find(scene: &Scene<'_>, found: &mut Found) {
    for id in scene.of("", "PersistentVolume") {
        let (Some(volume), Some(ReclaimFacts::Volume(of))) = (scene.snapshot.facts.volume(*id), scene.facts(*id))
        else {
            continue;
        };
        if scene.object(*id).terminating() {
            terminating(scene, *id, found);
        } else if let Some(end) = end(scene, *id, volume, of) {
            reclaimed(scene, *id, volume, of, end, found);
        }
    }
}

/// How a volume loses its claim.
struct End {
    why: String,
    when: When,
    doubt: Option<String>,
}

impl End {
    fn now(why: &str) -> Option<Self> {
        Some(End { why: why.to_owned(), when: When::Now, doubt: None })
    }
}

/// How a volume has lost its claim (`syncVolume`), or loses it; `None` if it keeps it, or if that is unknown.
fn end(scene: &Scene<'_>, id: ObjectId, volume: &VolumeFacts, of: &VolumeUse) -> Option<End> {
    let Some(uid) = volume.claim_uid.as_deref() else { return bound_before_its_end(scene, volume, of) };
    let claim = match scene.snapshot.claim_of(id) {
        // Its phase says so, too.
        Presence::Unknown if volume.is_released() => return End::now("its claim is gone"),
        Presence::Unknown => return None,
        Presence::Absent => return End::now("its claim is gone"),
        Presence::Present(claim) => claim,
    };
    if scene.snapshot.text(scene.object(claim).uid) != uid {
        return End::now("its claim is gone, and another has its name");
    }
    let bound_to = scene.snapshot.facts.claim(claim).and_then(|claim| claim.volume.as_deref());
    if of.provisioned && bound_to.is_some_and(|volume| !volume.is_empty() && volume != scene.name(id)) {
        return End::now("its claim is bound to another volume");
    }
    let why = "its claim is deleted".to_owned();
    scene.object(claim).terminating().then(|| End { why, when: When::after(scene, vec![claim]), doubt: None })
}

/// Whether a volume is deleted once it is bound to a claim and loses it.
fn may_be_bound_and_go(volume: &VolumeFacts) -> bool {
    volume.claim.is_none() && volume.goes_with_its_claim()
}

/// The claims that are deleted, and may still be bound to this volume; none if that changes nothing for it.
pub(super) fn claims_at_their_end(snapshot: &Snapshot, volume: ObjectId) -> Vec<ObjectId> {
    let matters = snapshot.facts.volume(volume).is_some_and(may_be_bound_and_go);
    let claims = snapshot.resources.by_group_kind("", "PersistentVolumeClaim").filter(|_| matters);
    let is_one = |object: &Object| Some(object.resource) == claims && object.terminating();
    let all = claims.into_iter().flat_map(|_| snapshot.objects());
    all.filter(|(_, object)| is_one(object)).map(|(id, _)| id).collect()
}

/// A claim that is deleted and not bound may still be bound to a volume, which loses it then.
fn bound_before_its_end(scene: &Scene<'_>, volume: &VolumeFacts, of: &VolumeUse) -> Option<End> {
    if !may_be_bound_and_go(volume) {
        return None;
    }
    let may_be_bound = |id: &&ObjectId| {
        let is_bound = scene.snapshot.facts.claim(**id).is_none_or(|claim| claim.volume.is_some());
        let fits = matches!(scene.facts(**id), Some(ReclaimFacts::Claim(claim)) if claim.class == of.class);
        scene.object(**id).terminating() && !is_bound && fits
    };
    let claim = scene.of("", "PersistentVolumeClaim").iter().find(may_be_bound)?;
    let doubt = format!("{} is deleted, and may be bound to it before it is gone", scene.short(*claim));
    Some(End { why: "it is Available".to_owned(), when: When::Now, doubt: Some(doubt) })
}

fn reclaimed(scene: &Scene<'_>, id: ObjectId, volume: &VolumeFacts, of: &VolumeUse, end: End, found: &mut Found) {
    let End { why, when, doubt } = end;
    let fails = || Some(format!("that fails, and is tried again: {}", scene.snapshot.facts.why_not_deleted(id)?.words));
    let doubt = doubt.or_else(|| fails().filter(|_| volume.is_being_deleted()));
    let policy = volume.reclaim_policy.as_deref().unwrap_or_default();
    let mut stays = |what: &str| found.stays(id, Rule::R12_10, format!("{why}, and {what}"));
    match (policy, &volume.deleted_by) {
        ("Retain", _) => stays("its reclaim policy is Retain: it stays until somebody deletes it"),
        ("Recycle", _) if of.migrated => stays("its reclaim policy is Recycle, which its CSI driver doesn't know"),
        ("Recycle", _) => stays("its reclaim policy is Recycle: it is emptied, and becomes Available again"),
        (VolumeFacts::DELETE, Some(deleter))
            if *deleter == VolumeDeleter::Kubernetes || *deleter == VolumeDeleter::Nobody && was_tried(volume) =>
        {
            let why = format!("{why}, and its reclaim policy is Delete");
            found.goes(id, Reason::new(Rule::R12_10, CONTROLLER, when, why).doubted(doubt));
        }
        (VolumeFacts::DELETE, Some(VolumeDeleter::Provisioner(provisioner))) => {
            let why = format!("{why}, and its reclaim policy is Delete");
            let lost = scene.lost_node(id).map(|node| When::once(format!("{node}, which its data is on, is back")));
            let runs = || format!("it goes only if the provisioner {provisioner} runs");
            let doubt = doubt.or_else(|| (!scene.has_provisioner(id)).then(runs));
            let reason = Reason::new(Rule::R12_10, provisioner.to_string(), lost.unwrap_or(when), why);
            found.goes(id, reason.doubted(doubt));
        }
        (VolumeFacts::DELETE, _) => stays("nobody can delete what it is made of: its phase becomes Failed"),
        (other, _) => stays(&format!("its reclaim policy {other:?} is not known: its phase becomes Failed")),
    }
}

/// Whether a plugin was found that deletes a volume: those of some clouds were once a part of Kubernetes.
fn was_tried(volume: &VolumeFacts) -> bool {
    volume.failure.as_deref().is_some_and(|why| !why.contains("plugin"))
}

/// A volume that is deleted, and waits for nothing else than the end of its claim (`pv_protection_controller.go`).
fn terminating(scene: &Scene<'_>, id: ObjectId, found: &mut Found) {
    let finalizers = scene.object(id).finalizers.iter().map(|finalizer| scene.snapshot.text(*finalizer));
    if !finalizers.into_iter().any(|finalizer| finalizer == PROTECTION) {
        return;
    }
    let is_bound = scene.snapshot.facts.volume(id).is_some_and(|volume| volume.phase.as_deref() == Some("Bound"));
    let when = match scene.bound_claim(id) {
        Some(claim) => When::after(scene, vec![claim]),
        None if is_bound => When::once("it is no longer Bound"),
        None => When::Now,
    };
    let why = format!("it is Terminating, and {PROTECTION} holds it while it is Bound");
    found.goes(id, Reason::new(Rule::R12_11, "persistentvolume-protection-controller", when, why));
}
