//! The loop that plans, shows, asks and catches up, until what was agreed to is what would happen now.

#[cfg(test)]
mod tests;

use crate::{cluster::LostWatch, model::ResourceId};

use super::{
    LiveSession, OperationError,
    question::{Answer, Question, Terminal},
};

/// So often a plan may change while the user looks at it.
pub const ROUNDS: usize = 20;

/// What a user is asked to agree to.
pub trait Proposal {
    type Plan;
    /// What of a plan the user agrees to: a plan with another one is shown and asked about again.
    type Fingerprint: PartialEq;

    /// Plans on what is known now; `None` where its objects don't exist any more.
    ///
    /// # Errors
    /// Why nothing can be planned.
    fn plan(&mut self, notes: &mut Vec<String>) -> Result<Option<Self::Plan>, OperationError>;

    fn fingerprint(&self, plan: &Self::Plan) -> Self::Fingerprint;

    /// Whether there is nothing to agree to: nothing to do, or a gate that forbids it.
    fn is_settled(&self, plan: &Self::Plan) -> bool;

    /// # Errors
    /// Why it can't be done, or may not.
    fn check(&mut self, _plan: &Self::Plan, _notes: &mut Vec<String>) -> Result<(), OperationError> {
        Ok(())
    }

    /// Begins an archive, and writes what would go. Returns what to say about it.
    ///
    /// # Errors
    /// What can't be archived.
    fn begin_archive(&mut self, _plan: &Self::Plan, _now: &jiff::Zoned) -> Result<Vec<String>, OperationError> {
        Ok(Vec::new())
    }

    /// Writes what a begun archive lacks. Returns whether it lacked anything, which took time.
    ///
    /// # Errors
    /// What can't be archived.
    fn complete_archive(&mut self, _plan: &Self::Plan) -> Result<bool, OperationError> {
        Ok(false)
    }

    /// The question took time: what was archived before has to be read again.
    fn time_has_passed(&mut self) {}

    /// What goes on while the user thinks; `None` where carrying it out reads everything again.
    fn world(&mut self) -> Option<&mut dyn World>;

    /// Whether missed events of this resource may change the plan.
    fn concerns(&self, _resource: ResourceId) -> bool {
        true
    }
}

/// A cluster that is watched while a plan is looked at.
pub trait World {
    /// Forgets what no watch keeps up to date. Returns whether there was any.
    fn forget(&mut self) -> bool;

    /// Applies what has happened. Returns whether anything has.
    fn catch_up(&mut self) -> bool;

    /// Every watch that has missed events so far, with the resource's full name.
    fn missed(&self) -> Vec<(LostWatch, String)>;

    /// Reads all known objects of a resource again. Returns whether any has changed.
    fn recheck_all(&mut self, resource: ResourceId) -> bool;
}

/// How a plan is shown and asked about.
pub trait View<P: Proposal> {
    /// Shows a plan; `again` where another one was shown before.
    ///
    /// # Errors
    /// What can't be printed.
    fn show(&mut self, proposal: &P, plan: &P::Plan, again: bool) -> Result<(), OperationError>;

    fn question(&self, proposal: &P, plan: &P::Plan) -> Question;
}

/// What the flags say beforehand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// `--yes`
    pub yes: bool,
    pub missed: OnMissed,
}

/// What missed events mean: objects that nobody has seen may have been created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnMissed {
    /// Read the known objects again, say so, and go on.
    Recheck,
    /// Stop; the error names the flag that would allow it, if there is one.
    Refuse { unless: Option<&'static str> },
}

/// How the question ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Approval<Plan> {
    /// This is to be carried out now.
    Approved(Plan),
    /// There is nothing to agree to.
    Settled(Plan),
    /// What was to be planned for doesn't exist; `shown`: it did when a plan was shown.
    Gone { shown: bool },
    /// The user did not say yes.
    Declined,
}

/// Plans, shows what has not been shown, checks, asks, archives and catches up, until nothing has changed since.
///
/// # Errors
/// Why it can't be done, and [`OperationError::Unsettled`] where the plan never stops changing.
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
            view.show(proposal, &plan, shown.is_some())?;
            // A yes is for the plan that was shown.
            agreed = policy.yes;
            shown = Some(fingerprint);
        }
        if proposal.is_settled(&plan) {
            return Ok(Approval::Settled(plan));
        }
        proposal.check(&plan, notes)?;
        let (mut took_time, mut forgot) = (round == 0, false);
        if !agreed {
            if !ask(proposal, view, terminal, &plan)? {
                return Ok(Approval::Declined);
            }
            (agreed, took_time) = (true, true);
            // The question may have taken minutes: read everything again that no watch keeps up to date.
            forgot = proposal.world().is_some_and(World::forget);
            proposal.time_has_passed();
        }
        // What was forgotten decides what goes: it is read before anything is archived.
        if !forgot {
            took_time |= proposal.complete_archive(&plan)?;
        }
        // Without a pause there is no reason to look: a busy cluster always has news, and it rarely matters.
        if !(took_time && (catch_up(proposal, policy.missed, &mut missed, notes)? || forgot)) {
            return Ok(Approval::Approved(plan));
        }
    }
    Err(OperationError::Unsettled { rounds: ROUNDS })
}

fn ask<P: Proposal>(
    proposal: &mut P,
    view: &dyn View<P>,
    terminal: &mut dyn Terminal,
    plan: &P::Plan,
) -> Result<bool, OperationError> {
    if !terminal.can_ask() {
        return Err(OperationError::NoTerminal);
    }
    loop {
        let question = view.question(proposal, plan);
        match question.judge(&terminal.ask(&question.preface, &question.prompt)) {
            Answer::Yes => return Ok(true),
            Answer::No => return Ok(false),
            Answer::Archive => {
                proposal.begin_archive(plan, &terminal.now())?.iter().for_each(|line| terminal.say(line));
            }
        }
    }
}

/// Applies what has happened meanwhile. Returns whether anything has; `seen` watches that missed events are dealt with.
fn catch_up<P: Proposal>(
    proposal: &mut P,
    policy: OnMissed,
    seen: &mut usize,
    notes: &mut Vec<String>,
) -> Result<bool, OperationError> {
    let Some(world) = proposal.world() else { return Ok(false) };
    let mut changed = world.catch_up();
    let all = world.missed();
    for (LostWatch { resource, reason, .. }, name) in all.iter().skip(std::mem::replace(seen, all.len())) {
        if !proposal.concerns(*resource) {
            continue;
        }
        match policy {
            OnMissed::Refuse { unless } => {
                return Err(OperationError::MissedEvents { resource: name.clone(), reason: reason.clone(), unless });
            }
            OnMissed::Recheck => {
                notes.push(format!("new {name} may have been missed since they were listed ({reason})."));
                changed |= proposal.world().is_some_and(|world| world.recheck_all(*resource));
            }
        }
    }
    Ok(changed)
}

impl World for LiveSession {
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
