//! Stored data that is lost with what is deleted: a finding that deletes something says so.

use std::collections::BTreeSet;

use crate::{
    model::{ObjectId, effects::EffectKind},
    plan::effects_of,
    simulate::Needs,
};

use super::{
    case::Case,
    code::Code,
    finding::{Finding, Remedy},
};

/// Says of findings about Terminating objects which data goes once they are mended, and how to keep it. The others say
/// by themselves what their remedies lose.
pub(super) fn tell(case: &Case<'_>, findings: &mut [Finding], wanted: &mut Needs) {
    for finding in findings.iter_mut().filter(|finding| releases(finding.code) && !finding.remedies.is_empty()) {
        let is_leaving = |id: &ObjectId| case.snapshot().object(*id).terminating();
        let leaving: Vec<ObjectId> = finding.named().filter(is_leaving).collect();
        if leaving.is_empty() {
            continue;
        }
        let losses = Losses::of(case, wanted, case.released_with(&leaving));
        finding.consequence.push_str(&losses.told(case, true));
        let known: BTreeSet<ObjectId> = finding.named().collect();
        finding.related.extend(losses.objects.difference(&known));
        finding.remedies.splice(..0, losses.keep(case));
    }
}

/// Whether the remedies of a finding let Terminating objects go.
fn releases(code: Code) -> bool {
    matches!(
        code,
        Code::StuckFinalizer
            | Code::SlowFinalizer
            | Code::NamespaceStuck
            | Code::PodWithoutKubelet
            | Code::ForegroundDeadlock
            | Code::WebhookUnreachable
            | Code::PolicyRefuses
            | Code::StuckOnSchema
    )
}

/// The data that goes with some objects.
#[derive(Debug, Default)]
pub(super) struct Losses {
    /// Objects whose data is lost, or may be.
    objects: BTreeSet<ObjectId>,
    /// Their volumes.
    volumes: BTreeSet<ObjectId>,
}

impl Losses {
    /// What goes with these objects once they are deleted. Adds to `wanted` what decides it and was not read.
    pub(super) fn of(case: &Case<'_>, wanted: &mut Needs, objects: impl IntoIterator<Item = ObjectId>) -> Self {
        let snapshot = case.snapshot();
        let may_have_data = |id: &ObjectId| {
            let object = snapshot.object(*id);
            let kind = snapshot.resources.get(object.resource).kind.as_str();
            let stores = matches!(kind, "PersistentVolumeClaim" | "VolumeSnapshot" | "VolumeSnapshotContent");
            stores || object.finalizers.iter().any(|finalizer| !finalizer.is_collectors_finalizer())
        };
        let objects: Vec<ObjectId> = objects.into_iter().filter(may_have_data).collect();
        let mut losses = Losses::default();
        if objects.is_empty() {
            return losses;
        }
        let (effects, needs) = effects_of(case.stage, &objects);
        wanted.add(&needs);
        for effect in effects.into_iter().filter(|effect| effect.may_be(EffectKind::DataLost)) {
            losses.objects.insert(effect.object);
            losses.volumes.extend(effect.related);
        }
        losses
    }

    pub(super) fn is_nothing(&self) -> bool {
        self.objects.is_empty()
    }

    /// A sentence, with a space before it; empty if nothing is lost. `is_certain`: whether they are surely deleted.
    pub(super) fn told(&self, case: &Case<'_>, is_certain: bool) -> String {
        let objects: Vec<ObjectId> = self.objects.iter().copied().collect();
        let lose = match (objects.len(), is_certain) {
            (0, _) => return String::new(),
            (1, true) => "loses its data",
            (1, false) => "may lose its data",
            (_, true) => "lose their data",
            (_, false) => "may lose their data",
        };
        format!(" DATA LOSS: {} {lose}.", case.names(&objects, None))
    }

    /// What keeps the data of the volumes, to be done before anything is deleted; `None` if there are none.
    pub(super) fn keep(&self, case: &Case<'_>) -> Option<Remedy> {
        let retain: Vec<_> = self.volumes.iter().filter_map(|volume| case.commands().retain(*volume)).collect();
        let what = match retain.len() {
            0 => return None,
            1 => "keep the data: set the reclaim policy of its volume to Retain",
            _ => "keep the data: set the reclaim policy of its volumes to Retain",
        };
        Some(Remedy::new(what, retain).before_others())
    }
}
