//! Explains one object: the status of its references, what the collector does next, what the object waits for, and what
//! would change that. The engine simulates each "if" ([`Condition`]) to its end.

mod conditions;
mod dependents;
mod end;
mod finalizers;
mod next;
mod references;
mod waits;

use std::{cell::OnceCell, collections::BTreeMap};

use rustc_hash::FxHashMap;
use serde::{Serialize, Serializer};

use crate::{
    model::{ObjectId, ResourceId, Snapshot, facts},
    reclaim::{self, Removal},
    simulate::{Blockers, Controllers, Needs},
};

use super::{case::Case, finding::Finding, limit::Limit, losses::Losses, needed};
use end::{Explainer, deletes};

pub use conditions::{Condition, ConditionOutcome, Dropped, Released, Trigger};
pub use dependents::{DependentKind, Dependents};
pub use end::{FinalState, Later};
pub use finalizers::{FinalizerStory, Remover};
pub use next::{Attention, Follows, NextStory};
pub use references::{Blocks, OwnerState, ReferenceStory};
pub use waits::{RootCause, Waiting};

/// The explanation of one object: all that texts, pictures and documents say of it.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    pub object: ObjectId,
    /// Why the collector doesn't watch its kind; `None` if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_watched: Option<String>,
    pub terminating: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deletion_timestamp: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deletion_grace_period_seconds: Option<i64>,
    /// Its finalizers, in order, and who removes each.
    pub finalizers: Vec<FinalizerStory>,
    /// Its owner references, in order.
    pub references: Vec<ReferenceStory>,
    pub dependents: Dependents,
    /// What is in it, by kind, if it is a Namespace.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub content: Vec<KindCount>,
    /// What the collector does next with it.
    pub next: NextStory,
    /// Its outcome if nothing else is deleted.
    pub end: FinalState,
    /// What follows for one that stays for now; `None` if nothing does.
    #[serde(rename = "then", skip_serializing_if = "Option::is_none")]
    pub later: Option<Later>,
    /// How another of Kubernetes' controllers than the collector removes it ([`foresee`]); `None` if none is known to,
    /// and for one that is Terminating: of that, the rest tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removal: Option<Removal>,
    /// What would change the outcome.
    pub conditions: Vec<Condition>,
    /// What an object waits for if it is or remains terminating: a tree in depth-first order with the object as root.
    #[serde(serialize_with = "each_once")]
    pub waits: Vec<Waiting>,
    /// The root causes, if it isn't deleted in the end.
    pub causes: Vec<RootCause>,
    /// The controllers that should remove what it, or what it waits for, has.
    #[serde(skip)]
    pub controllers: Controllers,
    /// Whether nothing in a dump tells whether its deletion is still under way.
    #[serde(skip)]
    pub untimed: bool,
    /// The conditions that say what keeps it, if it is a Namespace or CRD, without those of the past.
    #[serde(skip)]
    pub said: Vec<facts::Condition>,
    /// The objects that wait for it, nearest first.
    pub waited_for_by: Vec<ObjectId>,
    /// Which data those lose once this one is deleted, which nothing deletes yet: a sentence, with a space before it;
    /// empty if none is known to be lost.
    #[serde(skip)]
    pub lost_above: String,
    /// The findings that affect it or are caused by it; of a Namespace, also those about what is in it.
    pub findings: Vec<Finding>,
}

/// How many objects of a kind are in a Namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct KindCount {
    pub resource: ResourceId,
    pub count: usize,
}

/// Writes each object that another waits for once: a tree may show it again.
fn each_once<S: Serializer>(waits: &[Waiting], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(waits.iter().filter(|line| !line.above))
}

/// The explanations of some objects, and what must be read to be sure of them.
#[derive(Clone, Debug, Default)]
pub struct Explained {
    pub explanations: Vec<Explanation>,
    pub wanted: Needs,
}

impl Explanation {
    /// All objects that the explanations mention: their state may have changed since they were read.
    pub fn spoken_of(&self) -> impl Iterator<Item = ObjectId> + '_ {
        let owners = self.references.iter().filter_map(|story| story.found);
        let waits = self.waits.iter().map(|line| line.object);
        let holding = self.dependents.blocking.iter().filter(|_| self.dependents.waits).copied();
        let first = self.later.iter().flat_map(|later| &later.once).map(|finished| finished.object);
        let others = waits.chain(holding).chain(first).chain(self.waited_for_by.iter().copied());
        std::iter::once(self.object).chain(owners).chain(others)
    }
}

/// Explains each of these objects. Of the `findings`, which are from [`super::diagnose`], each is attached to the
/// objects that it concerns.
pub fn explain(case: &Case<'_>, objects: &[ObjectId], findings: &[Finding]) -> Explained {
    let now = Blockers::now(case.stage);
    let is_held = !case.projection.left().is_empty();
    let later = is_held.then(|| case.stage.later());
    let later_deletes = later.iter().flat_map(|later| &later.log).filter(|change| deletes(change));
    let later_causes = later_deletes.map(|change| (change.object, change.cause.clone())).collect();
    let mut teller = Explainer { case, now, later, unmended: OnceCell::new(), later_causes };
    let explanations: Vec<Explanation> = objects.iter().map(|object| teller.tell(*object, findings)).collect();
    let mut wanted = case.stage.needs();
    needed::narrow(case, &mut wanted, explanations.iter().flat_map(Explanation::spoken_of));
    Explained { explanations, wanted }
}

/// Adds to explanations what the cluster removes by itself, as of `now` in Unix seconds: them, or an owner with them.
/// Of a live cluster, only what a look-up confirms counts as gone.
pub fn foresee(snapshot: &Snapshot, explanations: &mut [Explanation], now: i64) {
    let forecast = reclaim::forecast(snapshot, &reclaim::Settings::default(), now);
    let is_gone = |coordinate| snapshot.is_dump() || snapshot.was_looked_up(coordinate);
    let is_confirmed = |removal: &Removal| reclaim::absence(snapshot, removal).is_none_or(is_gone);
    let confirmed: Vec<&Removal> = forecast.removals.iter().filter(|removal| is_confirmed(removal)).collect();
    // What removes an object itself comes before what takes it along, and of several owners, the first that goes.
    let along = confirmed.iter().rev().flat_map(|removal| removal.takes.iter().map(|taken| (*taken, *removal)));
    let own = confirmed.iter().map(|removal| (removal.object, *removal));
    let removals: FxHashMap<ObjectId, &Removal> = along.chain(own).collect();
    for explanation in explanations.iter_mut().filter(|it| !snapshot.object(it.object).terminating()) {
        explanation.removal = removals.get(&explanation.object).map(|removal| (*removal).clone());
    }
}

impl Explainer<'_, '_> {
    fn tell(&mut self, object: ObjectId, findings: &[Finding]) -> Explanation {
        let references = references::of(self.case, object);
        let next = self.next(object);
        let end = self.end(object, &next);
        let (waits, causes) = self.waits(object, &end);
        let conditions = self.conditions(object, &references, &next, &end, &causes);
        let snapshot = self.case.snapshot();
        let asked = Limit::objects(snapshot, [object]);
        let names = |finding: &&Finding| finding.concerned().any(|id| asked.asks_about(snapshot, id));
        let mut content: BTreeMap<ResourceId, usize> = BTreeMap::new();
        if snapshot.is_namespace(object) {
            for id in self.case.stage.in_namespace(snapshot.object(object).name) {
                *content.entry(snapshot.object(*id).resource).or_default() += 1;
            }
        }
        let waited_for_by = self.waited_for_by(object);
        let found = snapshot.object(object);
        let above = waited_for_by.iter().copied().filter(|_| !found.terminating());
        let lost_above = Losses::of(self.case, above).told(self.case, false);
        let deleted = found.deleted.get().and_then(|seconds| jiff::Timestamp::from_second(seconds).ok());
        Explanation {
            object,
            not_watched: snapshot.resources.not_watched(found.resource).map(ToString::to_string),
            terminating: found.terminating(),
            deletion_timestamp: deleted.map(|time| time.to_string()),
            deletion_grace_period_seconds: found.grace.get().filter(|_| found.terminating()),
            finalizers: self.finalizers(object),
            dependents: Dependents::of(self.case, object),
            content: content.into_iter().map(|(resource, count)| KindCount { resource, count }).collect(),
            controllers: self.case.projection.controllers().clone(),
            untimed: !self.case.live && self.case.going_for(object).is_none(),
            said: self.case.stage.still_said_to_keep(object).into_iter().cloned().collect(),
            waited_for_by,
            lost_above,
            findings: findings.iter().filter(names).map(|finding| finding.as_told_of(object)).collect(),
            later: self.later(object, &end),
            removal: None,
            references,
            next,
            end,
            conditions,
            waits,
            causes,
        }
    }
}
