//! What a terminating object waits for, down to what holds it all, and who waits for it.

use rustc_hash::FxHashSet;

use crate::{
    model::{ObjectId, Symbol},
    server::kinds::protected,
    simulate::{BlockedBy, Next, NoAction, ProjectedOutcome, State, foreign_spec_finalizers},
};

use super::{Case, Explainer, FinalState, ReadsNeeded, finalizers};
use crate::{doctor::cycles, wording::thousands};

/// So many reasons are told in a sentence.
const NAMED: usize = 8;

/// A line of what an object waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    pub object: ObjectId,
    /// How many lines are above it on the way to the object that is explained.
    pub depth: u32,
    /// It goes in the end: what it waits for only takes its time.
    pub goes: bool,
    /// It lives on, and loses the reference by which it is waited for: another owner keeps it.
    pub lets_go: bool,
    /// Whether anybody finishes it, where it doesn't go.
    pub state: State,
    /// What holds it itself, beside what it waits for.
    pub held_by: Vec<BlockedBy>,
    /// What it waits for; the lines below it, unless it was told above.
    pub waits_for: Vec<ObjectId>,
    /// It has been told above.
    pub above: bool,
}

/// What it comes down to that something doesn't go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootCause {
    /// What is at fault; several where they wait for each other.
    pub objects: Vec<ObjectId>,
    pub state: State,
    pub held_by: Vec<BlockedBy>,
    /// What is so, said of the first of the objects.
    pub message: String,
}

impl Explainer<'_, '_> {
    /// What an object that is terminating, or going to stay so, waits for, from itself downwards, and what that comes
    /// down to.
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
        let projection = self.case.projection;
        Waiting {
            object,
            depth,
            goes: projection.goes(object),
            lets_go: self.lets_go(object),
            state: self.state(object),
            held_by: self.holders(object),
            waits_for,
            above,
        }
    }

    fn lets_go(&self, object: ObjectId) -> bool {
        let live = !self.case.snapshot().object(object).terminating();
        live && matches!(self.case.projection.outcome_of(object), ProjectedOutcome::Changes { terminating: false, .. })
    }

    /// Whether anybody finishes an object, as far as that is to be said of a live one.
    fn state(&self, object: ObjectId) -> State {
        let projection = self.case.projection;
        if projection.goes(object) || self.lets_go(object) { State::Waiting } else { projection.state(object) }
    }

    /// What an object waits for: in the end, and before that now. What never goes comes first.
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
        // The collector's own go by themselves where it works, unless it is they that it comes down to.
        let is_its_own =
            |holder: &BlockedBy| matches!(holder, BlockedBy::Finalizer(Symbol::FOREGROUND | Symbol::ORPHAN));
        held.iter().copied().filter(|holder| !projection.goes(object) || !is_its_own(holder)).collect()
    }

    /// Those of some objects, none of which goes, that it comes down to, each with why.
    fn causes(&mut self, objects: Vec<ObjectId>) -> Vec<RootCause> {
        let projection = self.case.projection;
        let mut causes = Vec::new();
        let mut circle: Vec<ObjectId> = Vec::new();
        for object in objects {
            match projection.own_state(object) {
                Some(State::Waiting) => {}
                Some(state) => causes.push(RootCause {
                    objects: vec![object],
                    state,
                    held_by: self.holders(object),
                    message: self.why(object),
                }),
                None if projection.waits_in_cycle(object) => circle.push(object),
                None => {}
            }
        }
        // Of those that wait in a circle, some only wait for others that do: they are no part of it.
        let blamed: FxHashSet<ObjectId> = circle.into_iter().collect();
        let circles = if blamed.is_empty() { Vec::new() } else { cycles::deadlocks(self.case.snapshot(), projection) };
        for members in circles.into_iter().filter(|members| members.iter().any(|id| blamed.contains(id))) {
            let message = match members.len() {
                1 => "it waits for itself".to_owned(),
                _ => format!("they wait for each other: {}", self.case.names(&members, members.first().copied())),
            };
            causes.push(RootCause { objects: members, state: State::Stuck, held_by: Vec::new(), message });
        }
        causes
    }

    /// Why something doesn't go of itself.
    fn why(&mut self, object: ObjectId) -> String {
        let holders = self.holders(object);
        let held = holders.into_iter().filter_map(|holder| holds(self.case, &mut self.wanted, object, holder));
        let held: Vec<String> = held.collect();
        if !held.is_empty() {
            return first_few(held);
        }
        if let Some(why) = protected(self.case.snapshot(), object) {
            return format!("the API server refuses to delete it: {why}");
        }
        let owners = &self.case.snapshot().object(object).owners;
        let at = |place: usize| owners.get(place).map(|reference| self.case.reference(reference)).unwrap_or_default();
        match Next::of(self.case.stage, object).0 {
            Next::Nothing(NoAction::Unmappable(place)) => {
                format!("the collector fails on it: the kind of its owner {} is not served", at(place))
            }
            Next::Nothing(NoAction::InvalidScope(place)) => {
                format!("the collector gives up on it: it is cluster-scoped, but its owner {} is namespaced", at(place))
            }
            Next::Nothing(NoAction::Unread(Some(place))) => format!("its owner {} could not be read", at(place)),
            _ if !self.case.snapshot().object(object).terminating() => "nothing deletes it".to_owned(),
            _ => "the objects it waits for could not be read".to_owned(),
        }
    }

    /// Everything that waits for an object as things stand, or in the end, nearest first.
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

/// What one holder means for the object that it holds.
fn holds(case: &Case<'_>, wanted: &mut ReadsNeeded, object: ObjectId, holder: BlockedBy) -> Option<String> {
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
            let story = finalizers::story(case, wanted, object, finalizer);
            format!("finalizer {}: {}", snapshot.text(finalizer), story.message)
        }
        BlockedBy::Kubelet => {
            let state = case.projection.own_state(object).filter(|state| *state == State::Stuck);
            holder.describe(snapshot, object, state.unwrap_or(State::Unknown))
        }
        BlockedBy::SpecFinalizers if foreign_spec_finalizers(snapshot, object).is_empty() => return None,
        BlockedBy::SpecFinalizers => {
            let finalizers = holder.describe(snapshot, object, State::Stuck);
            format!("{finalizers}: no controller is known to remove them")
        }
        BlockedBy::Unreadable(_) => holder.describe(snapshot, object, State::Stuck),
    })
}
