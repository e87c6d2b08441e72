//! From the arguments of a delete to what it would do: what `plan` and `delete` share.

use crate::{
    foretell::{Assume, Besides, Gates, Needs, Plan, Request, Shut, Stage, Summary, besides, explore, plan, shut},
    graph::OwnerGraph,
    model::Resources,
    server::Propagation,
};

use super::{
    args::{GateArgs, GraceArgs, PropagationArg},
    error::CliError,
    session::Session,
    targets::TargetError,
};

/// What a plan needs to know leads to more that it needs to know, but not for ever: each round reads another level of owners.
pub(super) const ROUNDS: usize = 32;

/// What is asked of a delete beside its targets and its policy. Types are looked up before anything is read.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    gates: Gates,
}

impl Asked {
    /// What the arguments ask for.
    ///
    /// # Errors
    /// A type that isn't served.
    pub fn of(resources: &Resources, gates: &GateArgs) -> Result<Self, CliError> {
        let mut deny = Vec::new();
        for text in &gates.deny {
            for resource in resources.find_types(text).map_err(TargetError::from)? {
                if !deny.contains(&resource) {
                    deny.push(resource);
                }
            }
        }
        Ok(Asked { gates: Gates { deny, max: gates.max } })
    }
}

/// What a delete would do, and all that there is to tell about it.
#[derive(Debug)]
pub struct Foretold {
    pub plan: Plan,
    /// What the other policies would do.
    pub instead: Vec<(Propagation, Summary)>,
    /// What deleted Namespaces reach besides what has an outcome, counted where that can be asked.
    pub besides: Vec<Besides>,
    /// The gates that it runs into.
    pub shut: Vec<Shut>,
}

/// The plan and what the other policies would do, with everything read that they turn out to rest on.
///
/// # Errors
/// A target that the API server refuses to delete.
pub fn foretell(session: &mut Session, request: &Request, assume: Assume, asked: &Asked) -> Result<Foretold, CliError> {
    let (plan, instead) = play(session, request, assume)?;
    let besides = {
        let graph = OwnerGraph::new(&session.snapshot);
        besides(&Stage::new(&session.snapshot, &graph, assume), &plan)
    };
    let besides = session.count(besides);
    let shut = shut(&session.snapshot, &plan, &besides, &asked.gates);
    Ok(Foretold { plan, instead, besides, shut })
}

/// Plays it again until nothing is missing that could be had.
fn play(session: &mut Session, request: &Request, assume: Assume) -> Result<(Plan, Vec<(Propagation, Summary)>), CliError> {
    let others = [Propagation::Background, Propagation::Foreground, Propagation::Orphan]
        .into_iter()
        .filter(|propagation| *propagation != request.propagation);
    for round in 0.. {
        let graph = OwnerGraph::new(&session.snapshot);
        let stage = Stage::new(&session.snapshot, &graph, assume);
        let main = explore(&stage, request);
        if let Some((object, why)) = main.refused.first() {
            return Err(CliError::Refused { object: session.snapshot.short_name(*object), why });
        }
        let mut needs = main.needs.clone();
        let instead = others.clone().map(|propagation| {
            let plan = plan(&stage, &Request { propagation, ..request.clone() });
            needs.add(&plan.needs);
            (propagation, plan.summary)
        });
        let instead: Vec<_> = instead.collect();
        if round == ROUNDS || !fetch(session, &needs) {
            return Ok((main, instead));
        }
    }
    unreachable!("the last round returns")
}

/// Reads what is needed. Says whether that made a difference.
pub(super) fn fetch(session: &mut Session, needs: &Needs) -> bool {
    if needs.is_empty() {
        return false;
    }
    let known =
        |session: &Session| (session.snapshot.facts.len(), session.snapshot.len(), session.snapshot.confirmed_absent().count());
    let before = known(session);
    session.fetch(needs) && known(session) != before
}

/// The policy that an argument means.
pub(super) fn propagation_of(argument: PropagationArg) -> Propagation {
    match argument {
        PropagationArg::Background => Propagation::Background,
        PropagationArg::Foreground => Propagation::Foreground,
        PropagationArg::Orphan => Propagation::Orphan,
    }
}

/// What kubectl makes of its grace flags (R1.41); none leaves it to the pods.
///
/// # Errors
/// Flags that contradict each other.
pub(super) fn grace_period(args: &GraceArgs) -> Result<Option<i64>, CliError> {
    if args.now && args.grace_period >= 0 {
        return Err(CliError::Grace("--now and --grace-period contradict each other: give one of them"));
    }
    if args.force && (args.grace_period > 0 || args.now) {
        return Err(CliError::Grace("--force means no grace: it can't go with --now or a --grace-period above 0"));
    }
    Ok(match (args.force, args.now, args.grace_period) {
        (true, ..) => Some(0),
        (_, true, _) => Some(1),
        // Without --force, kubectl turns 0 into 1.
        (_, _, 0) => Some(1),
        (_, _, seconds) if seconds > 0 => Some(seconds),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grace_flags_mean_what_they_mean_in_kubectl() {
        let grace = |grace_period, now, force| grace_period_of(grace_period, now, force).map_err(|_| ());
        fn grace_period_of(grace_period: i64, now: bool, force: bool) -> Result<Option<i64>, CliError> {
            super::grace_period(&GraceArgs { grace_period, now, force })
        }
        assert_eq!(grace(-1, false, false), Ok(None));
        assert_eq!(grace(0, false, false), Ok(Some(1)));
        assert_eq!(grace(7, false, false), Ok(Some(7)));
        assert_eq!(grace(-1, true, false), Ok(Some(1)));
        assert_eq!(grace(-1, false, true), Ok(Some(0)));
        assert_eq!(grace(0, false, true), Ok(Some(0)));
        assert_eq!(grace(7, false, true), Err(()));
        assert_eq!(grace(7, true, false), Err(()));
        assert_eq!(grace(-1, true, true), Err(()));
    }
}
