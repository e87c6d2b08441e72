//! Work that the collector hasn't done: signs that it isn't running, or that its writes are refused (S7–S9, S15,
//! R3.22).

use rustc_hash::FxHashSet;

use crate::{
    command_line::{SEE_MANAGER, ShellCommand},
    model::{ObjectId, ResourceId, Rule, Symbol, effects::Severity},
    simulate::{
        Liveness, Projection, SimContext,
        doubt::{Turn, Write},
        is_removed_by_controller_manager,
        liveness::{may_be_taken_over, of_controller_manager},
        obstacles::{WebhookCall, bound_policies},
        turns::{self, dangles, just_defined},
    },
    tree::ResolvedReference,
    wording::{age, count},
};

use super::{
    case::{Case, FindingsBuilder, Probed, sorted},
    code::Code,
    commands::one_after_another,
    finding::{Finding, Remedy, Step},
    limit::Limit,
    losses::Losses,
    refusers::who_may_refuse,
    sweep,
};

/// All writes that the collector could make now, or soon, to objects whose state is not new.
pub(super) fn turns(case: &Case<'_>) -> Vec<Turn> {
    let mut turns = turns::turns(case.stage, case.projection);
    turns.retain(|turn| !turn.parties().any(|object| case.fresh.contains(&object)));
    turns
}

/// The deletes that follow from these writes.
pub(super) fn follow(case: &Case<'_>, turns: &[Turn]) -> Vec<Turn> {
    let deleted: Vec<ObjectId> =
        turns.iter().filter(|turn| turn.write == Write::Delete).map(|turn| turn.object).collect();
    let below = case.goes_below(&deleted).into_iter();
    below.map(|object| Turn { object, write: Write::Delete, waiting: None }).collect()
}

/// Those of these writes that a working collector has made by now.
pub(super) fn overdue(case: &Case<'_>, turns: &[Turn]) -> Vec<Turn> {
    turns.iter().copied().filter(|turn| case.live || turns::is_overdue(turn, case.stage)).collect()
}

/// Reports all overdue writes that no other finding explains.
pub(super) fn gather(case: &Case<'_>, calls: &[WebhookCall<'_>], turns: &[Turn], findings: &mut FindingsBuilder) {
    let snapshot = case.snapshot();
    let young = just_defined(case.stage);
    let said = |turn: &Turn| {
        // The collector's writes don't help an owner that waits in a cycle, which is reported separately.
        let in_vain = turn.waiting.is_some_and(|waiting| case.projection.waits_in_cycle(waiting));
        let asked = turn.parties().any(|id| case.limit.asks_about(snapshot, id));
        let unseen = turn.parties().any(|id| young.contains(&snapshot.object(id).resource));
        asked && !in_vain && !unseen && !findings.refused.contains(&turn.object)
    };
    let left: Vec<Turn> = turns.iter().copied().filter(said).collect();
    let some_refused = !findings.refused.is_empty();
    match case.probed {
        Some(probed @ (Probed::Stopped { .. } | Probed::NotHeld)) => {
            let finding = stopped(case, &left, probed, some_refused);
            findings.findings.push(finding);
            return;
        }
        _ if left.is_empty() => {
            let away = manager_away(case);
            findings.findings.extend(away);
            return;
        }
        _ => {}
    }
    let works = matches!(case.probed, Some(Probed::Works));
    let code = if works { Code::CollectorRefused } else { Code::CollectorIdle };
    let objects = suffering(&left);
    let related = waiting(&left, &objects);
    let suspects = suspects(case, calls, &left);
    let hidden = case.hidden_dependents(&objects);
    let why = if works {
        format!("The collector is running, but has not done its work here: {}.", describe(case, &left))
    } else {
        let (_, manager) = of_controller_manager(case.stage, case.now);
        format!("The collector should act, but nothing happens: {}; {}.", describe(case, &left), manager.evidence())
    };
    let message = match suspects.as_slice() {
        [] if works => format!("{why} An admission policy or the collector's permissions may have changed."),
        [] => why,
        some => format!("{why} These may reject its writes: {}.", some.join(", ")),
    };
    let stuck = left.iter().any(|turn| turn.waiting.is_some() || turn.write == Write::Finalizer);
    let restarts = case.live && !works && may_be_taken_over(case.stage, case.now);
    findings.findings.push(Finding {
        severity: if stuck && !restarts { Severity::Error } else { Severity::Warning },
        message,
        consequence: match restarts {
            true => "Its leader does not renew that: if it restarts, the next one does all of this within a minute \
                     after it has taken over."
                .to_owned(),
            false => consequence(case, works, some_refused) + &hidden,
        },
        remedies: match restarts {
            true => vec![case.commands().see_manager()],
            false => remedies(case, works, &left, !suspects.is_empty()),
        },
        related,
        objects,
        ..Finding::of(code, "")
    });
}

fn suffering(turns: &[Turn]) -> Vec<ObjectId> {
    sorted(turns.iter().map(|turn| turn.waiting.unwrap_or(turn.object)))
}

fn waiting(turns: &[Turn], objects: &[ObjectId]) -> Vec<ObjectId> {
    sorted(turns.iter().map(|turn| turn.object).filter(|id| objects.binary_search(id).is_err()))
}

/// The overdue writes, counted.
fn describe(case: &Case<'_>, turns: &[Turn]) -> String {
    let of = |write: Write| -> Vec<ObjectId> {
        turns.iter().filter(|turn| turn.write == write).map(|turn| turn.object).collect()
    };
    let misses = |id: &ObjectId| dangles(case.snapshot(), case.graph(), case.snapshot().object(*id));
    let (missing, waiting): (Vec<ObjectId>, Vec<ObjectId>) = of(Write::References).into_iter().partition(misses);
    let parts = [
        (
            of(Write::Finalizer),
            "has nothing left to wait for, but keeps its finalizer",
            "have nothing left to wait for, but keep their finalizers",
        ),
        (of(Write::Delete), "should have been deleted, but still exists", "should have been deleted, but still exist"),
        (missing, "still has a reference to a missing owner", "still have references to missing owners"),
        (
            waiting,
            "still has a reference to an owner that waits for its dependents",
            "still have references to owners that wait for their dependents",
        ),
        (of(Write::Free), "still has to be orphaned", "still have to be orphaned"),
    ];
    let describe = parts.into_iter().filter(|(objects, ..)| !objects.is_empty()).map(|(mut objects, one, many)| {
        objects.dedup();
        format!("{} {}", case.names(&objects, None), if objects.len() == 1 { one } else { many })
    });
    describe.collect::<Vec<_>>().join("; ")
}

/// What happens when the collector works again. If some of its writes are refused, others don't follow.
fn fires(case: &Case<'_>, some_refused: bool) -> String {
    let live = |id: &ObjectId| !case.snapshot().object(*id).terminating();
    let with_refusals = some_refused.then(|| {
        let context = SimContext::new(case.snapshot(), case.graph(), case.stage.assume).at(case.now);
        Projection::of(&context.with_refused_writes())
    });
    let projection = with_refusals.as_ref().unwrap_or(case.projection);
    let going: Vec<ObjectId> = projection.all_leaving().filter(live).collect();
    let staying = sweep::how_many_stay(projection, going.iter().copied());
    let shows = match going.len() {
        0 => return String::new(),
        1 => "kubectl gc sweep --dry-run shows it",
        _ => "kubectl gc sweep --dry-run shows them",
    };
    let (are, stay) = match going.len() - staying {
        0 => (
            count(
                staying,
                "existing object becomes Terminating and stays so",
                "existing objects become Terminating and stay so",
            ),
            String::new(),
        ),
        gone => (count(gone, "existing object is deleted", "existing objects are deleted"), sweep::stay(staying)),
    };
    let lost = Losses::of(case, going).told(case, true);
    format!(" Once it works again, {are}{stay}; {shows}.{lost} Decide first whether you want that.")
}

fn consequence(case: &Case<'_>, works: bool, some_refused: bool) -> String {
    let fires = fires(case, some_refused);
    if works {
        format!("The collector retries, after pauses of up to 17 minutes, until its writes are accepted.{fires}")
    } else {
        format!(
            "If the collector does not run, nothing is collected, and foreground deletes never finish. If it runs, it \
             waits for its next retry, or has lost track of these (see {}).{fires}",
            Rule::R3_22.url()
        )
    }
}

fn remedies(case: &Case<'_>, works: bool, turns: &[Turn], may_be_refused: bool) -> Vec<Remedy> {
    let commands = case.commands();
    let waits = |turn: &&Turn| turn.write == Write::Finalizer || turn.waiting.is_some();
    let waiting = sorted(turns.iter().filter(waits).map(|turn| turn.waiting.unwrap_or(turn.object)));
    let orphans = |id: &ObjectId| case.snapshot().object(*id).finalizers.contains(&Symbol::ORPHAN);
    let (orphaning, foreground): (Vec<ObjectId>, Vec<ObjectId>) = waiting.into_iter().partition(orphans);
    let mut dangling: Vec<ObjectId> = turns
        .iter()
        .filter(|turn| turn.write == Write::Delete && turn.waiting.is_none())
        .map(|turn| turn.object)
        .collect();
    dangling.sort_unstable();
    let mut remedies = if works {
        vec![Step::Look.by("find out why: this sends the same request as a dry run", tried(case, turns))]
    } else {
        let (_, manager) = of_controller_manager(case.stage, case.now);
        let mut remedies = Vec::new();
        // A manager that runs may have tried in vain; a sweep would, too.
        if may_be_refused && matches!(manager, Liveness::Alive(_)) {
            let text = "find out whether the API server refuses that: this sends the same request as a dry run";
            remedies.push(Step::Look.by(text, tried(case, turns)).before_others());
        }
        remedies.extend(sweep::remedies(case, turns));
        remedies.push(case.commands().see_manager());
        remedies
    };
    remedies.push(Step::GiveUp.by(
        "unblock the waiting objects: delete them again with --cascade=background; the collector deletes \
         their dependents later",
        commands.delete(&foreground, "background", &[]),
    ));
    let free = orphaning.iter().filter_map(|owner| free_dependents(case, *owner));
    let by_hand = "remove the dependents' references by hand, then remove the owner's finalizer";
    remedies.push(Step::GiveUp.by(by_hand, free));
    let delete = commands.delete(&dangling, "background", &[]);
    let delete = Step::GiveUp.by("delete the objects that the collector should have deleted", delete);
    remedies.push(delete.deciding(true));
    remedies
}

/// Removes the references of all dependents to an owner, and then the owner's orphan finalizer. `None` if a dependent
/// can't be freed by a command: the collector would delete it once its owner is gone.
fn free_dependents(case: &Case<'_>, owner: ObjectId) -> Option<ShellCommand> {
    let uid = case.snapshot().object(owner).uid;
    let dependents = case.graph().dependents(owner.into());
    let mut steps: Vec<ShellCommand> = Vec::new();
    for dependent in dependents {
        let drop = case.commands().drop_owner(*dependent, uid);
        if drop.is_empty() {
            return None;
        }
        steps.extend(drop);
    }
    let release = case.commands().remove_finalizers(owner, &[Symbol::ORPHAN]);
    if release.is_empty() {
        return None;
    }
    steps.extend(release);
    one_after_another(steps)
}

/// Commands that try one write of each kind, so that the server prints why it refuses it.
fn tried(case: &Case<'_>, turns: &[Turn]) -> Vec<ShellCommand> {
    let mut seen: FxHashSet<(ResourceId, Symbol, Write)> = FxHashSet::default();
    let new = |turn: &&Turn| {
        let object = case.snapshot().object(turn.object);
        seen.insert((object.resource, object.namespace, turn.write))
    };
    let write = |turn: &Turn| {
        let (commands, object) = (case.commands(), case.snapshot().object(turn.object));
        match turn.write {
            Write::Delete => commands.delete(&[turn.object], "background", &[]),
            Write::References => {
                let dangles = |place: &usize| {
                    !ResolvedReference::of(case.snapshot(), case.graph(), object, &object.owners[*place])
                        .standing
                        .valid()
                };
                commands.drop_references(turn.object, &(0..object.owners.len()).filter(dangles).collect::<Vec<_>>())
            }
            Write::Free => turn
                .waiting
                .map_or(Vec::new(), |owner| commands.drop_owner(turn.object, case.snapshot().object(owner).uid)),
            Write::Finalizer => {
                let of_collector = object.finalizers.iter().copied().find(|found| found.is_collectors_finalizer());
                commands.remove_finalizers(turn.object, of_collector.as_slice())
            }
        }
    };
    turns.iter().filter(new).flat_map(write).map(|command| command.arg("--dry-run=server")).collect()
}

/// What the Lease of the controller manager shows, where nothing else shows yet that it is away.
fn manager_away(case: &Case<'_>) -> Option<Finding> {
    let why = case.manager_away()?;
    case.probed.is_none().then(|| Finding {
        severity: Severity::Error,
        message: format!("No controller manager is known to run: {why}."),
        consequence: format!(
            "Nothing is collected, no namespace is emptied, and foreground deletes never finish.{}",
            fires(case, false)
        ),
        remedies: vec![look_at_manager(case)],
        related: left_to_manager(case),
        ..Finding::of(Code::CollectorStopped, "")
    })
}

/// The objects that were asked about and that something would become of if a controller manager ran.
fn left_to_manager(case: &Case<'_>) -> Vec<ObjectId> {
    if *case.limit == Limit::Everything {
        return Vec::new();
    }
    let snapshot = case.snapshot();
    let context = SimContext::new(snapshot, case.graph(), case.stage.assume).at(case.now);
    let without = Projection::of(&context.with_obstacles(case.now));
    let is_left = |id: &ObjectId| {
        let object = snapshot.object(*id);
        let held = |finalizer: &Symbol| is_removed_by_controller_manager(snapshot.text(*finalizer));
        case.projection.outcome_of(*id) != without.outcome_of(*id)
            || object.terminating() && object.finalizers.iter().any(held)
    };
    let asked = snapshot.objects().map(|(id, _)| id).filter(|id| case.limit.asks_about(snapshot, *id));
    asked.filter(is_left).collect()
}

fn look_at_manager(case: &Case<'_>) -> Remedy {
    Step::Look.by(
        "check that kube-controller-manager is running, and that its --controllers flag includes the collector",
        [case.kubectl.verb("get").args(SEE_MANAGER).args(["-o", "yaml"])],
    )
}

fn stopped(case: &Case<'_>, turns: &[Turn], probed: Probed, some_refused: bool) -> Finding {
    let objects = suffering(turns);
    let (message, nothing, remedy) = match probed {
        Probed::Stopped { waited } => (
            format!("A test object that was deleted in the foreground was not collected within {}.", age(waited)),
            "Nothing is collected, and foreground deletes never finish.",
            look_at_manager(case),
        ),
        _ => (
            "The API server removed a test object at once that was deleted in the foreground: garbage \
             collection is turned off in the API server."
                .to_owned(),
            "Foreground and orphan deletes act like background deletes: a running collector deletes the \
             dependents; without one they are kept.",
            Step::Look.by(
                "check whether the API server runs with --enable-garbage-collector=false",
                [case.kubectl.verb("get").args([
                    "pods",
                    "-n",
                    "kube-system",
                    "-l",
                    "component=kube-apiserver",
                    "-o",
                    "yaml",
                ])],
            ),
        ),
    };
    let mut remedies = sweep::remedies(case, turns);
    remedies.push(remedy);
    Finding {
        severity: Severity::Error,
        message,
        consequence: format!("{nothing}{}", fires(case, some_refused)),
        related: waiting(turns, &objects),
        objects,
        remedies,
        ..Finding::of(Code::CollectorStopped, "")
    }
}

/// What is asked before these writes: one of them may refuse.
fn suspects(case: &Case<'_>, calls: &[WebhookCall<'_>], turns: &[Turn]) -> Vec<String> {
    let policies = bound_policies(case.stage);
    let mut names: Vec<String> = Vec::new();
    for turn in turns {
        for name in who_may_refuse(case, calls, &policies, turn.object, turn.write.operation()) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}
