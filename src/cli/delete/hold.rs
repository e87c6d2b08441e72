//! `kubectl gc delete --hold`: holds the targets, waits, and lets them go, unless they are taken back.

use std::{
    io::IsTerminal as _,
    time::{Duration, Instant},
};

use crate::{
    cli::{
        args::GlobalArgs,
        cancel,
        output::Printer,
        progress::{FollowReporter, TICK, spinner},
        report::{Exit, Report, StdTerminal, complain, describe_error, say},
    },
    operations::{
        OperationError, TargetConfig,
        approve::{PlanFingerprint, Proposal as _, Terminal as _},
        archive::Archiving,
        delete::{Delete, HeldTarget},
        hold::{HoldOutcome, HoldResult},
        signals::{INTERRUPT, Signals, TERMINATE},
    },
    render::{
        hold::HoldView,
        output::{Format, place},
        states::Style,
    },
};
use gc_cluster::{act::Seen, cluster::clock};
use gc_core::{
    plan::Plan,
    wording::{count, duration},
};

use super::{Approved, DeleteArgs, DeleteReport};

/// How often to look whether somebody has taken a target back or let it go.
const LOOK: Duration = Duration::from_secs(1);

/// Why the wait has ended.
enum Waited {
    TimeUp,
    /// Leave everything as it is.
    Leave,
    TakeBack,
    /// This became of the targets without us.
    Others(Vec<Seen>),
}

impl Approved {
    /// Holds the targets, waits until the time is up, and lets them go.
    pub(super) fn hold(
        self,
        global: &GlobalArgs,
        args: &DeleteArgs,
        timeout: Option<Duration>,
    ) -> Result<Report, OperationError> {
        let Approved { mut delete, plan, mut notes } = self;
        let Some(config) = delete.config.hold.clone() else { return Ok(Report::of("")) };
        let begun = Instant::now();
        let until = clock::now().checked_add(jiff::SignedDuration::try_from(config.time).unwrap_or_default());
        let until = until.unwrap_or(jiff::Timestamp::MAX);
        let shown = jiff::Timestamp::from_second(until.as_second()).unwrap_or(until).to_string();
        // What is to be known beforehand, is told beforehand, and only then.
        let told = std::mem::take(&mut notes);
        told.iter().for_each(|note| say(note));
        // From now on, an interrupt doesn't end the process.
        let hear = async |_: &_, _: &_| Signals::hear(&[INTERRUPT, TERMINATE]);
        let mut signals = delete.session.run(hear).map_err(OperationError::Runtime)?;
        // While it waits, the snapshot changes, and the plan's ids mean nothing any more.
        let before = Before { fingerprint: delete.fingerprint(&plan), objects: goes(&plan.result.plan) };
        let held = delete.hold(&plan.result.plan, shown)?;
        drop(plan);
        let waits: Vec<HoldResult> = held.iter().map(HeldTarget::waits).collect();
        let kubectl = global.connection.kubectl();
        let mut printer = Printer::new(global);
        if printer.format.is_text() || printer.format.draws() {
            printer.format = Format::Text;
        }
        let view = DeleteReport { global, args };
        let left = |delete: &Delete, results: &[HoldResult]| -> Result<Report, OperationError> {
            let snapshot = &delete.session.snapshot;
            let gaps = &snapshot.gaps;
            let view = HoldView { results, gaps, resources: &snapshot.resources, kubectl: &kubectl };
            // The plan above has said which cluster it is.
            let data = printer.print(&view, || b"\n".to_vec())?;
            Ok(Report { exit: cancel::exit(results), ..Report::of(data) })
        };
        let with_notes = |mut report: Report, mut notes: Vec<String>| {
            notes.retain(|note| !told.contains(note));
            report.notes.splice(..0, notes);
            Ok(report)
        };
        if !args.wait {
            return with_notes(left(&delete, &waits)?, notes);
        }
        let snapshot = &delete.session.snapshot;
        let (gaps, resources) = (&snapshot.gaps, &snapshot.resources);
        let waiting = HoldView { results: &waits, gaps, resources, kubectl: &kubectl };
        let held_until = printer.clone().text_in(Style::new(false)).print(&waiting, Vec::new)?;
        let held_until = String::from_utf8_lossy(&held_until).trim_end().to_owned();
        if !config.time.is_zero() {
            complain(&held_until);
        }
        match wait(&mut delete, &held, begun, config.time, &mut signals) {
            Waited::TimeUp => {}
            Waited::Leave => return with_notes(left(&delete, &waits)?, notes),
            Waited::TakeBack => {
                drop(delete);
                return with_notes(cancel::take_back(&global.cluster()?, &waits, &printer, &kubectl)?, notes);
            }
            Waited::Others(seen) => return with_notes(left(&delete, &by_others(waits, &seen))?, notes),
        }
        // Minutes have passed: everything is read again, and planned again.
        let again = || renewed(global, delete, &held, &before, &mut notes);
        let (mut delete, result) = match again() {
            Ok(renewed) => renewed,
            Err(why) => {
                say(&format!("error: {}", describe_error(&why)));
                complain(&held_until);
                return with_notes(
                    Report { exit: Exit::Failed, ..Report::of("") },
                    vec!["Nothing was let go: everything is held.".to_owned()],
                );
            }
        };
        let mut progress = FollowReporter::new(Instant::now());
        let report = view.carry_out(&mut delete, &result, Some(&held), timeout, &mut notes, &mut |event| {
            progress.describe(event);
        });
        progress.end();
        with_notes(report?, notes)
    }
}

/// What became of targets that somebody else has taken back or let go.
fn by_others(waits: Vec<HoldResult>, seen: &[Seen]) -> Vec<HoldResult> {
    let outcome = |one: &HoldResult, seen: &Seen| match seen {
        Seen::Held => one.outcome.clone(),
        Seen::TakenBack => HoldOutcome::ByOthers,
        Seen::LetGo => HoldOutcome::GoneOn,
    };
    let results = waits.into_iter().zip(seen);
    results.map(|(one, seen)| HoldResult { outcome: outcome(&one, seen), ..one }).collect()
}

/// Waits until the time is up, somebody interferes, or the user decides.
fn wait(delete: &mut Delete, held: &[HeldTarget], begun: Instant, time: Duration, signals: &mut Signals) -> Waited {
    let bar = std::io::stderr().is_terminal().then(|| spinner("{spinner} {msg}"));
    let ended = loop {
        // Who can't be asked is looked at again: nothing is let go by mistake before it is read.
        if let Ok(seen) = delete.look(held)
            && seen.iter().any(|seen| *seen != Seen::Held)
        {
            break Waited::Others(seen);
        }
        let left = time.saturating_sub(begun.elapsed());
        if left.is_zero() {
            break Waited::TimeUp;
        }
        if let Some(bar) = &bar {
            bar.set_message(format!(
                "{} held; the delete goes on in {}. Ctrl-C asks",
                count(held.len(), "object", "objects"),
                duration(left)
            ));
        }
        match delete.wait_a_moment(left.min(LOOK), signals.next()) {
            None => {}
            Some(INTERRUPT) if StdTerminal.can_ask() => {
                if let Some(bar) = &bar {
                    bar.disable_steady_tick();
                    bar.finish_and_clear();
                }
                match ask(delete, held) {
                    Some(waited) => return waited,
                    None => {
                        if let Some(bar) = &bar {
                            bar.reset();
                            bar.enable_steady_tick(TICK);
                        }
                    }
                }
            }
            Some(_) => break Waited::Leave,
        }
    };
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    ended
}

/// Asks what to do; `None`: to wait on.
fn ask(delete: &Delete, held: &[HeldTarget]) -> Option<Waited> {
    let preface = place(&delete.session.snapshot, None);
    let what = match held {
        [one] => one.identity.placed(),
        many => count(many.len(), "object", "objects"),
    };
    let prompt = format!(
        "{what} held: t takes the delete back, l leaves it held and ends, d deletes now, anything else waits on"
    );
    match StdTerminal.ask(&preface, &prompt).trim() {
        "t" => Some(Waited::TakeBack),
        "l" => Some(Waited::Leave),
        "d" => Some(Waited::TimeUp),
        _ => None,
    }
}

/// What was approved, without ids.
struct Before {
    fingerprint: PlanFingerprint,
    /// How many objects it deletes.
    objects: usize,
}

/// The delete of the same objects, read and planned again. Its archive, if there is one, gets what has come since.
///
/// # Errors
/// Why it must not go on.
fn renewed(
    global: &GlobalArgs,
    delete: Delete,
    held: &[HeldTarget],
    before: &Before,
    notes: &mut Vec<String>,
) -> Result<(Delete, crate::operations::predict::PlanResult), OperationError> {
    let archive = delete.archived.as_ref().map(Archiving::path).map(std::path::Path::to_owned);
    let config = crate::operations::delete::DeleteConfig { archive, ..delete.config.clone() };
    // Its connection ends here, and its watches.
    drop(delete);
    let identities: Vec<_> = held.iter().map(|one| one.identity.clone()).collect();
    let mut delete = Delete::open(&global.cluster()?, &TargetConfig::of_objects(&identities), config)?;
    let Some(plan) = delete.plan(notes)? else {
        return Err(OperationError::NotHeld(vec!["it is gone already".to_owned()]));
    };
    if delete.is_settled(&plan) {
        return Err(OperationError::NotHeld(vec!["a gate stops this delete by now".to_owned()]));
    }
    delete.check(&plan, notes)?;
    delete.complete_archive(&plan)?;
    if delete.fingerprint(&plan) != before.fingerprint {
        notes.push(format!(
            "The cluster has changed while it was held: {} deleted now, {} when it was planned.",
            count(goes(&plan.result.plan), "object is", "objects are"),
            before.objects
        ));
    }
    Ok((delete, plan.result))
}

/// How many objects a plan deletes.
fn goes(plan: &Plan) -> usize {
    plan.summary.deleted + plan.summary.terminating
}
