//! Stored data that is lost with what is deleted, and what controllers delete elsewhere with it: a finding that deletes
//! something says so.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    model::{ObjectId, effects::EffectKind},
    plan::{OutsideEffect, effects_of},
};

use super::{
    case::Case,
    code::{Code, Trait},
    finding::{Finding, Remedy},
};

/// Says of findings about Terminating objects which data goes in the end, and how to keep it. The others say by
/// themselves what their remedies lose.
pub(super) fn tell(case: &Case<'_>, findings: &mut [Finding]) {
    let of_finalizers = |finding: &Finding| {
        matches!(finding.code, Code::StuckFinalizer | Code::SlowFinalizer | Code::ArmedDeletion) && releases(finding)
    };
    let own = findings.iter().filter(|it| of_finalizers(it)).flat_map(|it| it.objects.iter().copied());
    let own: BTreeSet<ObjectId> = own.collect();
    for finding in findings.iter_mut().filter(|finding| releases(finding)) {
        let is_leaving = |id: &ObjectId| case.snapshot().object(*id).terminating();
        let of_finalizer = of_finalizers(finding);
        // What something else keeps, too, stays; and a Namespace has findings of its own about what is in it.
        let is_told = |id: &ObjectId| of_finalizer && case.snapshot().is_namespace(*id);
        let others = finding.related.iter().filter(|id| case.stage.later().goes(**id) && !is_told(id));
        let leaving: Vec<ObjectId> = finding.objects.iter().chain(others).copied().filter(is_leaving).collect();
        let mut released = case.released_with(&leaving);
        released.extend(held_back(case, finding));
        if of_finalizer {
            released.retain(|id| finding.objects.contains(id) || !own.contains(id));
        }
        let losses = Losses::of(case, released);
        let is_known = |id: &ObjectId| !case.projection.uncertain(*id);
        let told = losses.told(case, finding.objects.iter().all(is_known));
        // An armed deletion tells by itself what its controller does.
        let outside = match finding.code {
            Code::SlowFinalizer | Code::StuckFinalizer | Code::DeletionInProgress | Code::NamespaceStuck => {
                losses.told_outside(case, &finding.objects)
            }
            _ => String::new(),
        };
        let told = [told, outside].into_iter().filter(|told| !told.is_empty());
        finding.irreversible.extend(told.map(|told| told.trim_start().to_owned()));
        let known: BTreeSet<ObjectId> = finding.named().collect();
        finding.related.extend(losses.objects.difference(&known));
        if let Some(keep) = losses.keep(case) {
            finding.remedies.iter_mut().take(1).for_each(Remedy::follow);
            finding.remedies.insert(0, keep);
        }
    }
}

/// What the API server refuses to delete until a finding is mended, and what goes with it.
fn held_back(case: &Case<'_>, finding: &Finding) -> Vec<ObjectId> {
    let content = finding.objects.iter().flat_map(|object| case.stage.contents(*object)).copied();
    let is_refused = |id: &ObjectId| {
        !case.snapshot().object(*id).terminating()
            && (case.projection.refused(*id).is_some() || case.projection.goes(*id))
    };
    let others: Vec<ObjectId> = match finding.code {
        Code::NamespaceStuck => content.filter(|id| case.projection.refused(*id).is_some()).collect(),
        Code::DefinitionStuck | Code::ConversionBroken => content.collect(),
        Code::WebhookUnreachable | Code::PolicyRefuses | Code::StuckOnSchema => {
            finding.related.iter().copied().filter(is_refused).collect()
        }
        _ => return Vec::new(),
    };
    let below = case.goes_below(&others);
    [others, below].concat()
}

/// Whether the remedies of a finding let Terminating objects go, or these go by themselves.
fn releases(finding: &Finding) -> bool {
    finding.code == Code::DeletionInProgress || !finding.remedies.is_empty() && finding.code.has(Trait::Releases)
}

/// The data that goes with some objects.
#[derive(Debug, Default)]
pub(super) struct Losses {
    /// Objects whose data is lost, or may be.
    objects: BTreeSet<ObjectId>,
    /// Their volumes.
    volumes: BTreeSet<ObjectId>,
    /// Those of which it isn't known that their data is lost.
    doubted: BTreeSet<ObjectId>,
    /// What controllers delete with objects that is no data, in words: most of it is outside of the cluster.
    outside: BTreeMap<String, BTreeSet<ObjectId>>,
}

impl Losses {
    /// What goes with these objects once they are deleted.
    pub(super) fn of(case: &Case<'_>, objects: impl IntoIterator<Item = ObjectId>) -> Self {
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
        losses.extend(case, effects_of(case.stage, &objects));
        losses
    }

    /// Adds what is lost by some effects, the worst first, or may be.
    fn extend(&mut self, case: &Case<'_>, effects: impl IntoIterator<Item = OutsideEffect>) {
        for effect in effects {
            if effect.may_be(EffectKind::ExternalDeleted) || effect.kind == EffectKind::ObjectsDeleted {
                self.outside.entry(effect.message.into_owned()).or_default().insert(effect.object);
                continue;
            }
            if !effect.may_be(EffectKind::DataLost) {
                continue;
            }
            if self.objects.insert(effect.object) && effect.kind != EffectKind::DataLost {
                self.doubted.insert(effect.object);
            }
            let holders = effect.related.into_iter().chain([effect.object]);
            self.volumes.extend(holders.filter(|id| case.commands().holds_data(*id)));
        }
    }

    /// Adds the data of other volumes that may be lost by effects of which no more is known.
    pub(super) fn extend_by_unknown(&mut self, case: &Case<'_>, effects: Vec<OutsideEffect>) {
        let is_new = |effect: &OutsideEffect| {
            effect.related.is_empty() || effect.related.iter().any(|volume| !self.volumes.contains(volume))
        };
        let new: Vec<OutsideEffect> = effects.into_iter().filter(is_new).collect();
        self.extend(case, new);
    }

    /// Objects whose data is lost, or may be.
    pub(super) fn objects(&self) -> impl Iterator<Item = ObjectId> + '_ {
        self.objects.iter().copied()
    }

    pub(super) fn is_nothing(&self) -> bool {
        self.objects.is_empty()
    }

    /// A sentence, with a space before it; empty if nothing is lost. `is_certain`: whether they are surely deleted.
    pub(super) fn told(&self, case: &Case<'_>, is_certain: bool) -> String {
        let is_sure = |id: &ObjectId| is_certain && !self.doubted.contains(id);
        let (sure, perhaps): (Vec<ObjectId>, Vec<ObjectId>) = self.objects.iter().copied().partition(is_sure);
        let lose = |objects: &[ObjectId], one: &str, many: &str| {
            let lose = if objects.len() == 1 { one } else { many };
            (!objects.is_empty()).then(|| format!("{} {lose}", case.names(objects, None)))
        };
        let sure = lose(&sure, "loses its data", "lose their data");
        let perhaps = lose(&perhaps, "may lose its data", "may lose their data");
        let all: Vec<String> = sure.into_iter().chain(perhaps).collect();
        if all.is_empty() { String::new() } else { format!(" DATA LOSS: {}.", all.join("; ")) }
    }

    /// A sentence for each thing that controllers delete with these objects, as told of `objects`, with a space before
    /// it.
    pub(super) fn told_outside(&self, case: &Case<'_>, objects: &[ObjectId]) -> String {
        let with = |with: &BTreeSet<ObjectId>| match objects {
            [one] if with.len() == 1 && with.contains(one) => "it".to_owned(),
            _ if with.len() > 1 && objects.iter().all(|id| with.contains(id)) && with.len() == objects.len() => {
                "them".to_owned()
            }
            _ => case.names(&Vec::from_iter(with.iter().copied()), objects.first().copied()),
        };
        let each = |goes: &BTreeSet<ObjectId>| if goes.len() > 1 { "each of " } else { "" };
        self.outside.iter().map(|(what, goes)| format!(" With {}{}, {what}.", each(goes), with(goes))).collect()
    }

    /// What keeps the data of the volumes, to be done before anything is deleted; `None` if there are none.
    pub(super) fn keep(&self, case: &Case<'_>) -> Option<Remedy> {
        case.commands().keep_volumes(self.volumes.iter().copied())
    }
}
