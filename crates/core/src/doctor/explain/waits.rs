//! What a terminating object waits for, down to the root causes, and what waits for it.

use rustc_hash::FxHashSet;
use serde::Serialize;

use crate::{
    model::{ObjectId, Symbol, facts::CONTENT_FAILURE},
    server::kinds::protected,
    simulate::{BlockedBy, Next, NoAction, State, foreign_spec_finalizers},
};

use super::{Case, Explainer, FinalState, finalizers};
use crate::{doctor::cycles, wording::thousands};

/// At most this many reasons are given in a sentence.
const NAMED: usize = 8;

/// One object in the tree of what an object waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Waiting {
    pub object: ObjectId,
    /// The depth below the explained object.
    #[serde(skip)]
    pub depth: u32,
    /// It is deleted in the end: what it waits for only takes time.
    #[serde(rename = "deleted")]
    pub goes: bool,
    /// It survives, but loses the reference that makes its owner wait for it: another owner keeps it.
    #[serde(rename = "stopsBlocking")]
    pub lets_go: bool,
    /// Whether anyone will finish it, if it isn't deleted by itself.
    pub state: State,
    /// What blocks the object itself, in addition to what it waits for.
    #[serde(skip)]
    pub held_by: Vec<BlockedBy>,
    /// The names of these.
    #[serde(rename = "heldBy")]
    pub holders: Vec<String>,
    /// What it waits for: the lines below it, unless they were shown above.
    pub waits_for: Vec<ObjectId>,
    /// It was shown above.
    #[serde(skip)]
    pub above: bool,
    /// Its namespace says that the API server refuses to delete something in it: perhaps this.
    #[serde(skip)]
    pub doubted: bool,
}

/// A root cause of an object that isn't deleted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RootCause {
    /// The objects at fault; several if they wait for each other.
    pub objects: Vec<ObjectId>,
    pub state: State,
    #[serde(skip)]
    pub held_by: Vec<BlockedBy>,
    /// The names of these.
    #[serde(rename = "heldBy")]
    pub holders: Vec<String>,
    /// The problem, said of the first of the objects.
    pub message: String,
}

impl Explainer<'_, '_> {
    /// The tree of what an object waits for if it is or remains terminating, and the root causes.
    pub(super) fn waits(&mut self, object: ObjectId, end: &FinalState) -> (Vec<Waiting>, Vec<RootCause>) {
        if !self.case.snapshot().object(object).terminating() && end.state.is_none() {
            return Default::default();
        }
        let mut lines = Vec::new();
        let mut describe: FxHashSet<ObjectId> = FxHashSet::default();
        let mut open = vec![(object, 0)];
        while let Some((waiting, depth)) = open.pop() {
            let above = !describe.insert(waiting);
            let waits_for = self.waits_for(waiting);
            if !above {
                open.extend(waits_for.iter().rev().map(|other| (*other, depth + 1)));
            }
            lines.push(self.line(waiting, depth, waits_for, above));
        }
        let blamed = |line: &&Waiting| !line.above && !line.goes && !line.lets_go;
        let goes = self.case.projection.goes(object);
        let blamed = lines.iter().filter(blamed).map(|line| line.object).filter(|_| !goes).collect();
        let mut causes = self.causes(blamed);
        causes.sort_by_key(|cause| std::cmp::Reverse(cause.state));
        (lines, causes)
    }

    fn line(&self, object: ObjectId, depth: u32, waits_for: Vec<ObjectId>, above: bool) -> Waiting {
        let held_by = self.holders(object);
        Waiting {
            object,
            depth,
            goes: self.goes(object),
            doubted: self.is_doubted(object),
            lets_go: self.lets_go(object),
            state: self.state(object),
            holders: self.names_of(&held_by),
            held_by,
            waits_for,
            above,
        }
    }

    fn lets_go(&self, object: ObjectId) -> bool {
        let live = !self.case.snapshot().object(object).terminating();
        live && self.case.projection.outcome_of(object).is_some_and(|outcome| !outcome.removes())
    }

    /// Whether anyone will finish an object; [`State::Waiting`] if it is deleted or unblocks its owner.
    fn state(&self, object: ObjectId) -> State {
        match () {
            () if self.goes(object) || self.lets_go(object) => State::Waiting,
            () if self.is_doubted(object) => State::Unknown,
            () => self.case.projection.state(object),
        }
    }

    /// Whether an object is deleted by itself.
    fn goes(&self, object: ObjectId) -> bool {
        self.case.projection.goes(object) && !self.is_doubted(object)
    }

    /// Whether the API server may refuse to delete an object: its namespace says that of something in it.
    fn is_doubted(&self, object: ObjectId) -> bool {
        let (case, snapshot) = (self.case, self.case.snapshot());
        let found = snapshot.object(object);
        let is_to_go = case.projection.goes(object) && !found.terminating();
        let namespace = case.stage.namespace_named(found.namespace).filter(|_| is_to_go);
        namespace.is_some_and(|namespace| {
            let said = snapshot.facts.said_to_keep(namespace);
            said.iter().any(|condition| condition.kind == CONTENT_FAILURE)
                && case.projection.holders(namespace).contains(&BlockedBy::Said)
        })
    }

    /// What an object waits for, in the end and now. What is never deleted comes first.
    pub(super) fn waits_for(&self, object: ObjectId) -> Vec<ObjectId> {
        let projection = self.case.projection;
        let mut waits_for = projection.waits_for(object).to_vec();
        waits_for.extend(self.now.waits_for(object));
        waits_for.sort_by_key(|other| (std::cmp::Reverse(self.state(*other)), projection.goes(*other), *other));
        waits_for.dedup();
        waits_for
    }

    fn holders(&self, object: ObjectId) -> Vec<BlockedBy> {
        let projection = self.case.projection;
        let held = if projection.goes(object) { self.now.holders(object) } else { projection.holders(object) };
        let refused = projection.refused(object).filter(|by| !held.contains(by));
        // A working collector removes its own finalizers, so they don't count unless they are the root cause.
        let is_its_own =
            |holder: &BlockedBy| matches!(holder, BlockedBy::Finalizer(Symbol::FOREGROUND | Symbol::ORPHAN));
        let held = held.iter().copied().filter(|holder| !projection.goes(object) || !is_its_own(holder));
        held.chain(refused).collect()
    }

    fn names_of(&self, holders: &[BlockedBy]) -> Vec<String> {
        holders.iter().map(|holder| holder.name(self.case.snapshot()).to_owned()).collect()
    }

    /// The root causes among objects that aren't deleted, each with the reason.
    fn causes(&mut self, objects: Vec<ObjectId>) -> Vec<RootCause> {
        let projection = self.case.projection;
        let mut causes = Vec::new();
        let mut circle: Vec<ObjectId> = Vec::new();
        for object in objects {
            match projection.own_state(object) {
                Some(State::Waiting) => {}
                Some(_) => {
                    let state = projection.state(object);
                    let (objects, held_by, message) = (vec![object], self.holders(object), self.why(object));
                    causes.push(RootCause { objects, state, holders: self.names_of(&held_by), held_by, message });
                }
                None if projection.waits_in_cycle(object) => circle.push(object),
                None => {}
            }
        }
        // Of the objects that wait because of a cycle, some are not in it: they only wait for its members.
        let blamed: FxHashSet<ObjectId> = circle.into_iter().collect();
        let circles = if blamed.is_empty() { Vec::new() } else { cycles::deadlocks(self.case.snapshot(), projection) };
        for members in circles.into_iter().filter(|members| members.iter().any(|id| blamed.contains(id))) {
            let message = match members.len() {
                1 => "it waits for itself".to_owned(),
                _ => format!("they wait for each other: {}", self.case.names(&members, members.first().copied())),
            };
            let (held_by, holders) = Default::default();
            causes.push(RootCause { objects: members, state: State::Stuck, held_by, holders, message });
        }
        causes
    }

    /// Why an object isn't deleted by itself.
    fn why(&mut self, object: ObjectId) -> String {
        let holders = self.holders(object);
        let held = holders.into_iter().filter_map(|holder| holds(self.case, object, holder));
        let held: Vec<String> = held.collect();
        if !held.is_empty() {
            return first_few(held);
        }
        if let Some(why) = protected(self.case.snapshot(), object) {
            return format!("the API server refuses to delete it: {why}");
        }
        if self.case.stage.said_to_refuse(object).is_some() {
            return "the API server refuses to delete it".to_owned();
        }
        if self.case.snapshot().facts.runs_hooks(object) {
            return "its operation runs".to_owned();
        }
        let owners = &self.case.snapshot().object(object).owners;
        let at = |place: usize| owners.get(place).map(|reference| self.case.reference(reference)).unwrap_or_default();
        match Next::of(self.case.stage, object) {
            Next::Nothing(NoAction::Unmappable(place)) => {
                format!("the collector fails on it: the kind of its owner {} is not served", at(place))
            }
            Next::Nothing(NoAction::InvalidScope(place)) => {
                format!("the collector gives up on it: it is cluster-scoped, but its owner {} is namespaced", at(place))
            }
            Next::Nothing(NoAction::Unread(Some(place))) => format!("its owner {} could not be read", at(place)),
            _ if !self.case.snapshot().object(object).terminating() => {
                if let Some(why) = self.refused_with(object) {
                    return why;
                }
                if self.case.snapshot().facts.has_finished(object) {
                    "it has finished, and nothing deletes it"
                } else {
                    "nothing deletes it"
                }
                .to_owned()
            }
            _ => "the objects it waits for could not be read".to_owned(),
        }
    }

    /// Why an object in a Terminating namespace isn't deleted: the API server deletes all of a kind in one request,
    /// which ends at the first that it refuses (R9.30). And its finalizers, which keep it afterwards.
    fn refused_with(&mut self, object: ObjectId) -> Option<String> {
        let (case, snapshot) = (self.case, self.case.snapshot());
        case.stage.leaving_namespace_of(object)?;
        let found = snapshot.object(object);
        let is_of_kind = |id: &&ObjectId| **id != object && snapshot.object(**id).resource == found.resource;
        let mut siblings = case.stage.in_namespace(found.namespace).iter().filter(is_of_kind);
        let (first, by) = siblings.find_map(|id| Some((*id, case.projection.refused(*id)?)))?;
        let refuses = by.describe(snapshot, first, State::Stuck, case.projection.controllers());
        let mut why = match case.refuses_deletes_of(object, by) {
            true => refuses,
            false => format!("it is deleted after {}: {refuses}", case.name(first, Some(object))),
        };
        for finalizer in found.finalizers.iter().copied().filter(|finalizer| !finalizer.is_collectors_finalizer()) {
            let story = finalizers::story(case, object, finalizer);
            why.push_str(&format!("; then finalizer {}: {}", snapshot.text(finalizer), story.message));
        }
        Some(why)
    }

    /// All objects that wait for an object, now or in the end, nearest first.
    pub(super) fn waited_for_by(&self, object: ObjectId) -> Vec<ObjectId> {
        let mut seen: FxHashSet<ObjectId> = FxHashSet::from_iter([object]);
        let mut all = Vec::new();
        let mut next = vec![object];
        while !next.is_empty() {
            let above =
                next.iter().flat_map(|id| self.now.waited_for_by(*id).chain(self.case.projection.waited_for_by(*id)));
            let mut above: Vec<ObjectId> = above.collect();
            above.sort_unstable();
            above.retain(|id| seen.insert(*id));
            all.extend(&above);
            next = above;
        }
        all
    }
}

/// The first few of many reasons.
fn first_few(mut held: Vec<String>) -> String {
    let more = held.len().saturating_sub(NAMED);
    held.truncate(NAMED);
    held.extend((more > 0).then(|| format!("and {} more", thousands(more))));
    held.join("; ")
}

/// What one blocker means for the object that it blocks.
fn holds(case: &Case<'_>, object: ObjectId, holder: BlockedBy) -> Option<String> {
    let snapshot = case.snapshot();
    Some(match holder {
        BlockedBy::Finalizer(Symbol::FOREGROUND | Symbol::ORPHAN) => {
            let why = snapshot.resources.not_watched(snapshot.object(object).resource).map(ToString::to_string);
            match why {
                Some(why) => {
                    format!("the collector does not watch its kind ({why}), so it never removes its finalizer")
                }
                None => "the collector does not remove its finalizer".to_owned(),
            }
        }
        BlockedBy::Finalizer(finalizer) => {
            let story = finalizers::story(case, object, finalizer);
            format!("finalizer {}: {}", snapshot.text(finalizer), story.message)
        }
        BlockedBy::Kubelet(_) => {
            let state = case.projection.own_state(object).filter(|state| *state == State::Stuck);
            holder.describe(snapshot, object, state.unwrap_or(State::Unknown), case.projection.controllers())
        }
        BlockedBy::SpecFinalizers if foreign_spec_finalizers(snapshot, object).is_empty() => return None,
        BlockedBy::SpecFinalizers => {
            let finalizers = holder.describe(snapshot, object, State::Stuck, case.projection.controllers());
            format!("{finalizers}: no controller is known to remove them")
        }
        BlockedBy::Unreadable(_)
        | BlockedBy::Webhook(..)
        | BlockedBy::Policy(_)
        | BlockedBy::Guard(..)
        | BlockedBy::Schema(_)
        | BlockedBy::Api(_)
        | BlockedBy::Said
        | BlockedBy::Unseen => holder.describe(snapshot, object, State::Stuck, case.projection.controllers()),
    })
}
