//! Explains one object: the status of its references, what the collector does next, what the object waits for, and what
//! would change that. The engine simulates each "if" ([`Condition`]) to its end.

mod conditions;
mod dependents;
mod finalizers;
mod next;
mod references;
mod waits;

use std::{cell::OnceCell, collections::BTreeMap};

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Serialize, Serializer};

use crate::{
    model::{ObjectId, ResourceId, Snapshot, facts},
    plan::{Because, OutcomeKind, because},
    reclaim::{self, Removal},
    server::{Propagation, kinds::protected},
    simulate::{
        Act, BlockedBy, Blockers, Cause, Change, Controllers, Effect, Finished, Needs, Next, Projection, State,
        Uncertainty,
    },
};

use super::{case::Case, finding::Finding, limit::Limit, losses::Losses, needed};

pub use conditions::{Condition, ConditionOutcome, Dropped, Released, Trigger};
pub use dependents::{DependentKind, Dependents};
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
    /// The controllers that leave it, or what it waits for, alone.
    #[serde(skip)]
    pub paused: Controllers,
    /// The conditions that say what keeps it, if it is a Namespace or CRD, without those of the past.
    #[serde(skip)]
    pub said: Vec<facts::Condition>,
    /// The objects that wait for it, nearest first.
    pub waited_for_by: Vec<ObjectId>,
    /// The findings that affect it or are caused by it; of a Namespace, also those about what is in it.
    pub findings: Vec<Finding>,
}

/// How many objects of a kind are in a Namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct KindCount {
    pub resource: ResourceId,
    pub count: usize,
}

/// The outcome of an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FinalState {
    /// `None` if it stays as it is.
    #[serde(serialize_with = "name_of_outcome")]
    pub outcome: Option<OutcomeKind>,
    pub certain: bool,
    /// Why it isn't; what could not be read may have to be freed first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uncertain_because: Option<Uncertainty>,
    /// Why the outcome is uncertain, whatever has to be freed first; `None` if it is certain.
    #[serde(skip)]
    pub uncertain: Option<Uncertainty>,
    /// If it remains terminating: whether anyone will finish that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<State>,
    /// How many owner references remain, if anything changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub references: Option<usize>,
    /// What triggers it; `None` if nothing happens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub because: Option<Because>,
    /// The cause of that.
    #[serde(skip)]
    pub cause: Option<Cause>,
    /// Why it isn't deleted or changed, if the API server refuses that: a clause.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// Whether that keeps something from deleting it, which tries again and again.
    #[serde(skip)]
    pub undeleted: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub data_lost: bool,
    /// Which data is lost with it: a sentence, with a space before it; empty if none is known to be.
    #[serde(skip)]
    pub lost: String,
}

/// What follows for an object that is deleted once others have done their part (R9.37).
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Later {
    /// Terminating, if something keeps it then; else it is gone.
    pub outcome: OutcomeKind,
    /// Whether nothing that could not be read decides it.
    pub certain: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub data_lost: bool,
    /// What each of the others has to do first.
    #[serde(rename = "once")]
    pub acts: Vec<Act>,
    /// The same by object, in this order. It is not empty.
    #[serde(skip)]
    pub once: Vec<Finished>,
    /// Who they are.
    #[serde(skip)]
    pub controllers: Controllers,
    /// Whether they are known to do it: of all, the worst.
    #[serde(skip)]
    pub state: State,
    /// What keeps it Terminating then.
    #[serde(skip)]
    pub held_by: Vec<BlockedBy>,
    /// Which objects keep it Terminating then.
    #[serde(skip)]
    pub waits_for: Vec<ObjectId>,
    /// Its data that is lost then: a sentence; empty if none is.
    #[serde(skip)]
    pub lost: String,
}

impl Later {
    /// Whether something keeps the object Terminating then.
    pub fn stays(&self) -> bool {
        self.outcome == OutcomeKind::Terminating
    }
}

/// Writes each object that another waits for once: a tree may show it again.
fn each_once<S: Serializer>(waits: &[Waiting], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(waits.iter().filter(|line| !line.above))
}

fn name_of_outcome<S: Serializer>(outcome: &Option<OutcomeKind>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match outcome {
        Some(OutcomeKind::Deleted) => "Deleted",
        Some(_) => "Changes",
        None => "Kept",
    })
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
    let (now, needs) = Blockers::now(case.stage);
    let is_held = !case.projection.left().is_empty();
    let later = is_held.then(|| case.stage.later());
    let mut wanted = later.map(|later| later.needs.clone()).unwrap_or_default();
    wanted.add(&case.projection.needs);
    let mut later_causes: FxHashMap<ObjectId, Vec<Cause>> = FxHashMap::default();
    for change in later.iter().flat_map(|later| &later.log).filter(|change| deletes(change)) {
        later_causes.entry(change.object).or_default().push(change.cause.clone());
    }
    let mut teller = Explainer { case, now, later, unmended: OnceCell::new(), later_causes, wanted };
    teller.wanted.add(&needs);
    let explanations: Vec<Explanation> = objects.iter().map(|object| teller.tell(*object, findings)).collect();
    let mut wanted = teller.wanted;
    needed::narrow(case, &mut wanted, explanations.iter().flat_map(Explanation::spoken_of));
    Explained { explanations, wanted }
}

fn deletes(change: &Change) -> bool {
    matches!(change.effect, Effect::Removed | Effect::Deleting)
}

/// Adds to explanations what the cluster removes by itself, as of `now` in Unix seconds. Of a live cluster, only what a
/// look-up confirms counts as gone.
pub fn foresee(snapshot: &Snapshot, explanations: &mut [Explanation], now: i64) {
    let forecast = reclaim::forecast(snapshot, &reclaim::Settings::default(), now);
    let is_gone = |coordinate| snapshot.is_dump() || snapshot.was_looked_up(coordinate);
    let is_confirmed = |removal: &Removal| reclaim::absence(snapshot, removal).is_none_or(is_gone);
    let removals: FxHashMap<ObjectId, &Removal> =
        forecast.removals.iter().map(|removal| (removal.object, removal)).collect();
    for explanation in explanations {
        let lives = !snapshot.object(explanation.object).terminating();
        let removal = removals.get(&explanation.object).filter(|removal| lives && is_confirmed(removal));
        explanation.removal = removal.map(|removal| (*removal).clone());
    }
}

/// Writes explanations, and records what must still be read.
struct Explainer<'c, 'a> {
    case: &'c Case<'a>,
    /// Who waits for whom now.
    now: Blockers,
    /// What follows once all others have done their part; `None` if nothing waits for them.
    later: Option<&'a Projection>,
    /// What follows as long as nobody mends what is in the way.
    unmended: OnceCell<Projection>,
    /// What deletes each object then.
    later_causes: FxHashMap<ObjectId, Vec<Cause>>,
    wanted: Needs,
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
        let names = |finding: &&Finding| {
            finding.objects.iter().chain(&finding.related).any(|id| asked.asks_about(snapshot, *id))
        };
        let mut content: BTreeMap<ResourceId, usize> = BTreeMap::new();
        if snapshot.is_namespace(object) {
            for id in self.case.stage.in_namespace(snapshot.object(object).name) {
                *content.entry(snapshot.object(*id).resource).or_default() += 1;
            }
        }
        let found = snapshot.object(object);
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
            paused: self.case.projection.controllers().paused(),
            said: self.case.stage.still_said_to_keep(object).into_iter().cloned().collect(),
            waited_for_by: self.waited_for_by(object),
            findings: findings.iter().filter(names).cloned().collect(),
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

    fn end(&mut self, object: ObjectId, next: &NextStory) -> FinalState {
        let projection = self.case.projection;
        let outcome = projection.outcome_of(object);
        let was_terminating = self.case.snapshot().object(object).terminating();
        let terminating = outcome.map_or(was_terminating, |outcome| outcome == OutcomeKind::Terminating);
        // The cause of a deletion says more than what ends it.
        let writes = || projection.log.iter().filter(|change| change.object == object);
        let change = writes().find(|change| deletes(change)).or(writes().next_back());
        let cause = change.map(|change| change.cause.clone()).filter(|_| outcome.is_some());
        let why = |cause| because(self.case.snapshot(), object, cause, Propagation::Background);
        let because = cause.as_ref().map(why);
        let uncertain = self.uncertainty(object, &next.next, outcome);
        let unread = (projection.goes(object) && next.may_wait).then_some(Uncertainty::Gap);
        let uncertain_because = uncertain.or(unread);
        let changes = outcome.is_some_and(|outcome| outcome != OutcomeKind::Deleted);
        let references = changes.then(|| projection.references_left(object));
        let leaves = projection.leaves(object) || was_terminating;
        let lost = if leaves { self.lost(object, uncertain.is_none()) } else { String::new() };
        FinalState {
            certain: uncertain_because.is_none(),
            uncertain_because,
            uncertain,
            references,
            because,
            cause,
            state: terminating.then(|| projection.state(object)),
            refused: projection.why_refused(self.case.snapshot(), object),
            undeleted: projection.refuses_delete(object),
            outcome,
            data_lost: !lost.is_empty(),
            lost,
        }
    }

    /// Which data is lost once an object goes, with what goes along.
    fn lost(&mut self, object: ObjectId, is_certain: bool) -> String {
        let released = if self.case.snapshot().object(object).terminating() {
            self.case.released_with(&[object])
        } else {
            [vec![object], self.case.goes_below(&[object])].concat()
        };
        Losses::of(self.case, &mut self.wanted, released).told(self.case, is_certain)
    }

    /// What follows for an object that stays.
    fn later(&mut self, object: ObjectId, end: &FinalState) -> Option<Later> {
        let later = self.later?;
        let stays = end.outcome.is_none() && end.uncertain.is_none() && end.state.is_none();
        if !stays || !later.leaves(object) {
            return None;
        }
        let certain = !later.uncertain(object);
        let finished = &later.others.finished;
        let own = finished.iter().find(|finished| finished.object == object);
        let behind = self.behind(object);
        let others = || finished.iter().filter(|finished| finished.object != object);
        let mut once: Vec<Finished> = others().filter(|finished| behind.contains(&finished.object)).cloned().collect();
        once.extend(behind.iter().chain([&object]).filter_map(|id| self.prevented(*id)));
        once.sort_by_key(|finished| finished.object);
        if once.is_empty() {
            once.extend(others().cloned());
        }
        let state = once.iter().map(|finished| finished.state).max()?;
        let controllers = later.others.controllers.clone();
        let waits_for = later.waits_for(object).to_vec();
        let holders = if waits_for.is_empty() { later.holders(object) } else { &[] };
        let held_by = own.map_or(holders, |own| &own.blockers).to_vec();
        let stays = !held_by.is_empty() || !waits_for.is_empty();
        let lost = Losses::of(self.case, &mut self.wanted, [object]).told(self.case, certain && !stays);
        let acts = once.iter().flat_map(|finished| finished.acts(self.case.snapshot(), &controllers)).collect();
        let (outcome, data_lost) =
            (if stays { OutcomeKind::Terminating } else { OutcomeKind::Deleted }, !lost.is_empty());
        Some(Later { outcome, certain, data_lost, acts, once, controllers, state, held_by, waits_for, lost })
    }

    /// What is in the way of an object's deletion, as something that others have to mend.
    fn prevented(&self, object: ObjectId) -> Option<Finished> {
        let stage = self.case.stage;
        let refused = |unmended: &Projection| unmended.refused(object);
        let later = || refused(self.unmended.get_or_init(|| Projection::once_others_finish(stage, false)));
        let blockers = vec![refused(self.case.projection).or_else(later)?];
        Some(Finished { object, blockers, state: State::Stuck, unread: Vec::new() })
    }

    /// The objects whose deletion leads to that of this one, and what those wait for.
    fn behind(&self, object: ObjectId) -> FxHashSet<ObjectId> {
        let snapshot = self.case.snapshot();
        let mut behind: FxHashSet<ObjectId> = FxHashSet::default();
        let mut open = vec![object];
        while let Some(id) = open.pop() {
            let mut found: Vec<ObjectId> = Vec::new();
            if snapshot.object(id).terminating() {
                // Its own owners don't matter any more.
                found.extend(self.case.projection.waits_for(id));
            } else {
                let causes = self.later_causes.get(&id).into_iter().flatten();
                for cause in causes {
                    match cause {
                        Cause::Collector(_) => {
                            let owners = snapshot.object(id).owners.iter();
                            found.extend(owners.filter_map(|owner| snapshot.by_uid(owner.uid)));
                        }
                        _ => found.extend(cause.above()),
                    }
                }
            }
            open.extend(found.into_iter().filter(|found| behind.insert(*found)));
        }
        behind
    }

    /// The first object that the collector must change next for this one, or this, where the API server refuses that.
    fn refused(&self, object: ObjectId, next: &Next) -> Option<ObjectId> {
        let freed: &[ObjectId] = if let Next::FreeDependents(dependents) = next { dependents } else { &[] };
        let mut written = std::iter::once(object).chain(freed.iter().copied());
        written.find(|id| self.case.projection.refused(*id).is_some())
    }

    /// An owner may stop waiting before the collector examines a dependent that it would delete for that owner: then
    /// the dependent is kept.
    fn uncertainty(&self, object: ObjectId, next: &Next, outcome: Option<OutcomeKind>) -> Option<Uncertainty> {
        let refused = protected(self.case.snapshot(), object).is_some() || self.refused(object, next).is_some();
        let overtaken = next.writes() && outcome.is_none() && !refused;
        let unread = self.case.projection.uncertain(object);
        unread.then_some(Uncertainty::Gap).or(overtaken.then_some(Uncertainty::Order))
    }
}
