//! What becomes of stored data: volumes of claims, and snapshots.

use crate::model::{Coordinate, ObjectId, Presence, ResourceId, Symbol, effects::EffectKind};

use super::SideEffects;

const DELETE: &str = "Delete";
const RETAIN: &str = "Retain";
/// Finalizers that make a deleted volume's data go with it (KEP-2644, honouring the reclaim policy).
const DELETES_DATA: &[&str] = &["external-provisioner.volume.kubernetes.io/finalizer", "kubernetes.io/pv-controller"];

/// What an object names.
enum Named {
    /// This object.
    Object(ObjectId),
    /// Nothing, or nothing that is there.
    Nothing,
    /// It could not be read.
    Unknown,
}

impl SideEffects<'_, '_> {
    /// A claim's volume is reclaimed when the claim is gone.
    pub(super) fn claim(&mut self, claim: ObjectId) {
        let volume = match self.volume_of(claim) {
            Named::Object(volume) => volume,
            Named::Nothing => return,
            Named::Unknown => {
                self.add(
                    claim,
                    EffectKind::Unknown,
                    "what becomes of its volume could not be read: its data may be destroyed",
                );
                return;
            }
        };
        match self.stage.snapshot.facts.volume(volume).and_then(|facts| facts.reclaim_policy.as_deref()) {
            Some(DELETE) => {
                self.add_about(
                    claim,
                    EffectKind::DataDestroyed,
                    "its volume goes, and all data on it (reclaim policy Delete)",
                    volume,
                );
            }
            Some(RETAIN) => {
                self.add_about(
                    claim,
                    EffectKind::DataKept,
                    "its volume stays, Released, with its data (reclaim policy Retain)",
                    volume,
                );
            }
            Some("Recycle") => {
                self.add_about(
                    claim,
                    EffectKind::DataDestroyed,
                    "its volume is wiped for the next claim (reclaim policy Recycle)",
                    volume,
                );
            }
            _ => self.add_about(claim, EffectKind::Unknown, "its volume's reclaim policy could not be read", volume),
        }
    }

    /// The volume that is bound to a claim. The volume's claimRef decides; the claim's own word only says which volume
    /// to look at.
    fn volume_of(&mut self, claim: ObjectId) -> Named {
        let stage = self.stage;
        if let Some(volume) = stage.beyond.volume_of(stage.snapshot, claim) {
            return Named::Object(volume);
        }
        let Some(volumes) = stage.built_in.volumes else { return Named::Unknown };
        let Some(facts) = stage.snapshot.facts.claim(claim) else {
            if stage.beyond.knows_all(stage.snapshot, volumes) {
                return Named::Nothing;
            }
            self.needs.facts.insert(claim);
            return Named::Unknown;
        };
        let named = facts.volume.as_deref().map_or(Named::Nothing, |name| self.named(volumes, name));
        match named {
            Named::Object(volume) if stage.snapshot.facts.volume(volume).is_none() => {
                self.needs.facts.insert(volume);
                Named::Unknown
            }
            // It is bound to another claim, or to none.
            Named::Object(_) => Named::Nothing,
            other => other,
        }
    }

    fn named(&mut self, resource: ResourceId, name: &str) -> Named {
        let Some(name) = self.stage.snapshot.strings.find(name) else { return Named::Unknown };
        let coordinate = Coordinate { resource, namespace: Symbol::EMPTY, name };
        match self.stage.snapshot.look_up(coordinate) {
            Presence::Present(object) => Named::Object(object),
            Presence::Absent => Named::Nothing,
            Presence::Unknown => {
                self.needs.look_ups.insert(coordinate);
                Named::Unknown
            }
        }
    }

    /// A volume that is deleted itself: its data goes where somebody is told to delete it.
    pub(super) fn volume(&mut self, volume: ObjectId) {
        let snapshot = self.stage.snapshot;
        let Some(facts) = snapshot.facts.volume(volume) else {
            self.needs.facts.insert(volume);
            self.add(volume, EffectKind::Unknown, "its reclaim policy could not be read: its data may be destroyed");
            return;
        };
        let describe = snapshot
            .object(volume)
            .finalizers
            .iter()
            .any(|finalizer| DELETES_DATA.contains(&snapshot.text(*finalizer)));
        let bound = facts.phase.as_deref() == Some("Bound");
        match facts.reclaim_policy.as_deref() {
            Some(DELETE) if describe && bound => {
                self.add(
                    volume,
                    EffectKind::DataDestroyed,
                    "its data is destroyed when its claim is gone (reclaim policy Delete)",
                );
            }
            Some(DELETE) if describe => {
                self.add(volume, EffectKind::DataDestroyed, "its data is destroyed (reclaim policy Delete)")
            }
            Some(DELETE) => self.add(
                volume,
                EffectKind::Unknown,
                "its reclaim policy is Delete, but no finalizer makes anybody delete the data, which may stay behind",
            ),
            Some(_) => self.add(volume, EffectKind::DataKept, "its data stays in the storage (reclaim policy Retain)"),
            None => {
                self.add(volume, EffectKind::Unknown, "its reclaim policy could not be read: its data may be destroyed")
            }
        }
    }

    /// A VolumeSnapshot takes its content along where that says so.
    pub(super) fn volume_snapshot(&mut self, object: ObjectId) {
        let snapshot = self.stage.snapshot;
        let unread = "what becomes of its data could not be read: it may be destroyed";
        let Some(facts) = snapshot.facts.volume_snapshot(object) else {
            self.needs.facts.insert(object);
            return self.add(object, EffectKind::Unknown, unread);
        };
        let Some(name) = facts.content.as_deref() else { return };
        let Some(contents) = self.stage.built_in.snapshot_contents else {
            return self.add(object, EffectKind::Unknown, unread);
        };
        let content = match self.named(contents, name) {
            Named::Object(content) => content,
            Named::Nothing => return,
            Named::Unknown => return self.add(object, EffectKind::Unknown, unread),
        };
        match snapshot.facts.volume_snapshot_content(content).map(|facts| facts.deletion_policy.as_deref()) {
            Some(Some(DELETE)) => {
                self.add_about(
                    object,
                    EffectKind::DataDestroyed,
                    "the snapshot's data is destroyed (deletionPolicy Delete)",
                    content,
                );
            }
            Some(Some(RETAIN)) => {
                self.add_about(
                    object,
                    EffectKind::DataKept,
                    "the snapshot's data stays (deletionPolicy Retain)",
                    content,
                );
            }
            Some(_) => self.add_about(object, EffectKind::Unknown, unread, content),
            None => {
                self.needs.facts.insert(content);
                self.add_about(object, EffectKind::Unknown, unread, content);
            }
        }
    }

    /// A VolumeSnapshotContent that is deleted itself.
    pub(super) fn snapshot_content(&mut self, content: ObjectId) {
        match self.stage.snapshot.facts.volume_snapshot_content(content).map(|facts| facts.deletion_policy.as_deref()) {
            Some(Some(DELETE)) => {
                self.add(
                    content,
                    EffectKind::DataDestroyed,
                    "the snapshot's data is destroyed (deletionPolicy Delete)",
                );
            }
            Some(Some(RETAIN)) => {
                self.add(content, EffectKind::DataKept, "the snapshot's data stays (deletionPolicy Retain)")
            }
            known => {
                if known.is_none() {
                    self.needs.facts.insert(content);
                }
                self.add(
                    content,
                    EffectKind::Unknown,
                    "its deletionPolicy could not be read: its data may be destroyed",
                );
            }
        }
    }
}
