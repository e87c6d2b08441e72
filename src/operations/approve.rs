//! The loop that plans, shows, asks and catches up, until the approved plan is what would happen now; what it asks; and
//! by what it knows a plan again.

#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::ControlFlow,
};

use gc_cluster::cluster::LostWatch;
use gc_core::{
    model::{ObjectId, ResourceId, Snapshot, effects::EffectKind},
    plan::{Consent, Outcome, OutcomeKind, Plan},
    simulate::{State, Uncertainty},
    wording::some_of,
};

use super::{LiveSession, OperationError, error::missed};

/// How often a plan may change while the user looks at it.
pub const ROUNDS: usize = 20;

/// At most so many objects are named of those that a plan tells differently than before.
const NAMED: usize = 3;

/// A change that a user is asked to approve.
pub trait Proposal {
    type Plan;
    /// The part of a plan that the user approves: if it changes, the plan is shown again, and asked about again.
    type Fingerprint: PartialEq;

    /// Plans on the current snapshot; `None` if its objects no longer exist.
    ///
    /// # Errors
    /// Why nothing can be planned.
    fn plan(&mut self, notes: &mut Vec<String>) -> Result<Option<Self::Plan>, OperationError>;

    fn fingerprint(&self, plan: &Self::Plan) -> Self::Fingerprint;

    /// Whether there is nothing to approve: nothing to do, or a gate forbids it.
    fn is_settled(&self, plan: &Self::Plan) -> bool;

    /// # Errors
    /// Why it is impossible or forbidden.
    fn check(&mut self, _plan: &Self::Plan, _notes: &mut Vec<String>) -> Result<(), OperationError> {
        Ok(())
    }

    /// Begins an archive, and writes the objects that would be deleted. Returns lines to print.
    ///
    /// # Errors
    /// Objects that can't be archived.
    fn begin_archive(&mut self, _plan: &Self::Plan, _now: &jiff::Zoned) -> Result<Vec<String>, OperationError> {
        Ok(Vec::new())
    }

    /// Writes objects that a begun archive lacks. Returns whether there were any: that took time.
    ///
    /// # Errors
    /// Objects that can't be archived.
    fn complete_archive(&mut self, _plan: &Self::Plan) -> Result<bool, OperationError> {
        Ok(false)
    }

    /// Called after the question, which took time: archived objects must be read again.
    fn time_has_passed(&mut self) {}

    /// The watched cluster; `None` if carrying out the plan reads everything again.
    fn world(&mut self) -> Option<&mut dyn World>;

    /// Whether nothing is settled before the watches have told what they know: lists may be older than they should be.
    fn is_settled_by_watches(&self) -> bool {
        false
    }

    /// Whether events of this resource that were missed may change the plan.
    fn concerns(&self, _resource: ResourceId) -> bool {
        true
    }
}

/// A cluster that is watched while the user looks at a plan.
pub trait World {
    /// Drops facts that no watch keeps up to date. Returns whether there were any.
    fn forget(&mut self) -> bool;

    /// Waits until all watches have begun, but no longer than a moment.
    fn wait_for_watches(&mut self) {}

    /// Applies new events. Returns whether anything has changed.
    fn catch_up(&mut self) -> bool;

    /// Every watch that has missed events so far, with its resource's full name.
    fn missed(&self) -> Vec<(LostWatch, String)>;

    /// Reads all known objects of a resource again. Returns whether any has changed.
    fn recheck_all(&mut self, resource: ResourceId) -> bool;
}

/// Shows plans and asks about them.
pub trait View<P: Proposal> {
    /// Shows a plan, and what has changed since the one that was shown `before`.
    ///
    /// # Errors
    /// Output errors.
    fn show(&mut self, proposal: &P, plan: &P::Plan, before: Option<&P::Fingerprint>) -> Result<(), OperationError>;

    fn question(&self, proposal: &P, plan: &P::Plan) -> Question;
}

/// The flags that decide in advance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// `--yes`
    pub yes: bool,
    pub missed: OnMissed,
}

/// What to do about missed events: objects may have been created without being seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnMissed {
    /// Read the known objects again, add a note, and go on.
    Recheck,
    /// Stop; the error names the flag that would allow it, if there is one.
    Refuse { unless: Option<&'static str> },
}

/// The result of the approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Approval<Plan> {
    /// Carry this out now.
    Approved(Plan),
    /// There is nothing to approve.
    Settled(Plan),
    /// The targets no longer exist; `shown`: they did when a plan was shown.
    Gone { shown: bool },
    /// The user didn't say yes, or didn't type this word.
    Declined(Option<String>),
}

/// Plans, shows new plans, checks, asks, archives and catches up, until nothing changes any more.
///
/// # Errors
/// Why it can't be done; [`OperationError::Unsettled`] if the plan never stops changing.
pub fn approve<P: Proposal>(
    proposal: &mut P,
    view: &mut dyn View<P>,
    terminal: &mut dyn Terminal,
    policy: Policy,
    notes: &mut Vec<String>,
) -> Result<Approval<P::Plan>, OperationError> {
    let mut agreed = policy.yes;
    let mut shown: Option<P::Fingerprint> = None;
    let mut missed = 0;
    for round in 0..ROUNDS {
        let Some(plan) = proposal.plan(notes)? else { return Ok(Approval::Gone { shown: shown.is_some() }) };
        let fingerprint = proposal.fingerprint(&plan);
        if shown.as_ref() != Some(&fingerprint) {
            view.show(proposal, &plan, shown.as_ref())?;
            // The yes was for the plan that was shown before.
            agreed = policy.yes;
            shown = Some(fingerprint);
        }
        if proposal.is_settled(&plan) {
            if round == 0 && proposal.is_settled_by_watches() {
                if let Some(world) = proposal.world() {
                    world.wait_for_watches();
                }
                if catch_up(proposal, policy.missed, &mut missed, notes)? {
                    continue;
                }
            }
            return Ok(Approval::Settled(plan));
        }
        proposal.check(&plan, notes)?;
        let (mut took_time, mut forgot) = (round == 0, false);
        if !agreed {
            if let ControlFlow::Break(word) = ask(proposal, view, terminal, &plan)? {
                return Ok(Approval::Declined(word));
            }
            (agreed, took_time) = (true, true);
            // The question may have taken minutes: drop everything that no watch keeps up to date.
            forgot = proposal.world().is_some_and(World::forget);
            proposal.time_has_passed();
        }
        // The dropped facts decide what is deleted: read them again before archiving.
        if !forgot {
            took_time |= proposal.complete_archive(&plan)?;
        }
        // Without a pause, don't look for events: a busy cluster always has some, and they rarely matter.
        if !(took_time && (catch_up(proposal, policy.missed, &mut missed, notes)? || forgot)) {
            return Ok(Approval::Approved(plan));
        }
    }
    Err(OperationError::Unsettled { rounds: ROUNDS })
}

/// Asks until there is an answer; breaks with the word that was not typed.
fn ask<P: Proposal>(
    proposal: &mut P,
    view: &dyn View<P>,
    terminal: &mut dyn Terminal,
    plan: &P::Plan,
) -> Result<ControlFlow<Option<String>>, OperationError> {
    if !terminal.can_ask() {
        return Err(OperationError::NoTerminal);
    }
    loop {
        let question = view.question(proposal, plan);
        match question.judge(&terminal.ask(&question.preface, &question.prompt)) {
            Answer::Yes => return Ok(ControlFlow::Continue(())),
            Answer::No => return Ok(ControlFlow::Break(question.word)),
            Answer::Archive => {
                proposal.begin_archive(plan, &terminal.now())?.iter().for_each(|line| terminal.say(line));
            }
        }
    }
}

/// Applies new events. Returns whether anything has changed. The first `seen` watches in [`World::missed`] are already
/// dealt with.
fn catch_up<P: Proposal>(
    proposal: &mut P,
    policy: OnMissed,
    seen: &mut usize,
    notes: &mut Vec<String>,
) -> Result<bool, OperationError> {
    let Some(world) = proposal.world() else { return Ok(false) };
    let mut changed = world.catch_up();
    let all = world.missed();
    let mut noted: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (LostWatch { resource, reason, .. }, name) in all.iter().skip(std::mem::replace(seen, all.len())) {
        if !proposal.concerns(*resource) {
            continue;
        }
        match policy {
            OnMissed::Refuse { unless } => {
                return Err(OperationError::MissedEvents { resource: name.clone(), reason: reason.clone(), unless });
            }
            OnMissed::Recheck => {
                noted.entry(reason).or_default().push(name);
                changed |= proposal.world().is_some_and(|world| world.recheck_all(*resource));
            }
        }
    }
    // One line for what has one reason: a user who may not watch may watch nothing.
    notes.extend(noted.into_iter().map(|(reason, names)| format!("{}.", missed(&names, reason))));
    Ok(changed)
}

impl World for LiveSession {
    fn wait_for_watches(&mut self) {
        LiveSession::wait_for_watches(self);
    }

    fn forget(&mut self) -> bool {
        let any = !self.snapshot.facts.is_empty();
        self.snapshot.facts.clear();
        any
    }

    fn catch_up(&mut self) -> bool {
        LiveSession::catch_up(self)
    }

    fn missed(&self) -> Vec<(LostWatch, String)> {
        let name = |lost: &LostWatch| self.snapshot.resources.get(lost.resource).full_name();
        self.lost().into_iter().map(|lost| (lost.clone(), name(&lost))).collect()
    }

    fn recheck_all(&mut self, resource: ResourceId) -> bool {
        let picked = self.snapshot.resources.picked(resource);
        let of_it = self.snapshot.objects().filter(|(_, object)| object.resource == picked);
        let objects: Vec<_> = of_it.map(|(id, _)| id).collect();
        self.recheck(&objects)
    }
}

/// Outcomes and effects by uid, in any order, and what has to be typed to approve them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanFingerprint {
    ends: BTreeMap<String, End>,
    then: BTreeMap<String, End>,
    effects: BTreeSet<(String, EffectKind)>,
    cuts: BTreeSet<String>,
    word: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct End {
    /// The object's name: it belongs to the uid.
    name: String,
    kind: OutcomeKind,
    state: Option<State>,
    uncertain: Option<Uncertainty>,
    otherwise: Vec<(OutcomeKind, Option<State>)>,
}

impl PlanFingerprint {
    /// The fingerprint of a plan on this snapshot, with this consent; it doesn't depend on ids.
    pub fn of(snapshot: &Snapshot, plan: &Plan, consent: Consent) -> Self {
        let uid = |object: ObjectId| snapshot.text(snapshot.object(object).uid).to_owned();
        let end = |outcome: &Outcome| {
            let otherwise = outcome.alternatives.iter().map(|other| (other.kind, other.state)).collect();
            let name = snapshot.short_name(outcome.object);
            let Outcome { kind, state, uncertain, .. } = *outcome;
            (uid(outcome.object), End { name, kind, state, uncertain, otherwise })
        };
        PlanFingerprint {
            ends: plan.outcomes.iter().map(end).collect(),
            then: plan.then.iter().flat_map(|then| &then.outcomes).map(end).collect(),
            effects: plan.all_effects().map(|effect| (uid(effect.object), effect.kind)).collect(),
            cuts: plan.request.cuts.iter().map(|cut| uid(cut.object)).collect(),
            word: match consent {
                Consent::Yes => None,
                Consent::Number(number) => Some(number.to_string()),
                Consent::Name(object) => Some(uid(object)),
            },
        }
    }

    /// That the plan is another one than that which was shown before, and which objects' outcomes differ.
    pub fn changed_since(&self, before: &Self) -> String {
        let effects = |of: &Self, uid: &str| -> Vec<EffectKind> {
            of.effects.iter().filter(|(object, _)| object == uid).map(|(_, kind)| *kind).collect()
        };
        let (mut new, mut other) = (Vec::new(), Vec::new());
        for (uid, end) in &self.ends {
            match before.ends.get(uid) {
                None => new.push(&end.name),
                Some(was) if was == end && before.then.get(uid) == self.then.get(uid) => {
                    other.extend((effects(before, uid) != effects(self, uid)).then_some(&end.name));
                }
                Some(_) => other.push(&end.name),
            }
        }
        let gone = before.ends.iter().filter(|(uid, _)| !self.ends.contains_key(*uid)).map(|(_, end)| &end.name);
        let all = [("new", new), ("no longer", gone.collect()), ("otherwise", other)];
        let told = all.iter().filter(|(_, names)| !names.is_empty());
        let told: Vec<String> = told.map(|(what, names)| format!("{what}: {}", some_of(names, NAMED))).collect();
        match told.is_empty() {
            true => "The cluster has changed: this is the new plan.".to_owned(),
            false => format!("The cluster has changed ({}): this is the new plan.", told.join("; ")),
        }
    }
}

/// Where questions are asked.
pub trait Terminal {
    /// Whether a user can answer.
    fn can_ask(&self) -> bool;

    /// Asks, and returns the typed line; an empty one at the end of input.
    fn ask(&mut self, preface: &str, prompt: &str) -> String;

    /// Prints a line while a question is open.
    fn say(&mut self, line: &str);

    fn now(&self) -> jiff::Zoned;
}

/// What is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Question {
    /// Printed above the question; may be empty.
    pub preface: String,
    /// Printed before the answer.
    pub prompt: String,
    /// The word to type; `None`: yes.
    pub word: Option<String>,
    /// What to type to archive first; `None` if that isn't offered.
    pub archive: Option<&'static str>,
}

/// What was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Yes,
    No,
    /// Archive first, and ask again.
    Archive,
}

impl Question {
    /// The meaning of a line: no, unless it is an expected answer.
    pub fn judge(&self, line: &str) -> Answer {
        let line = line.trim();
        match &self.word {
            Some(word) if line == word => Answer::Yes,
            None if is_yes(line) => Answer::Yes,
            _ if self.archive == Some(line) => Answer::Archive,
            _ => Answer::No,
        }
    }
}

fn is_yes(line: &str) -> bool {
    ["y", "yes"].contains(&line.to_lowercase().as_str())
}
