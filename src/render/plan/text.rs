//! A plan as text: the verdict, the outcomes of all objects, and the alternatives.

use std::io::{self, Write};

use crate::{
    model::{ObjectId, Symbol},
    plan::{Outcome, OutcomeKind, Summary, Uncertainty},
    render::{
        go_quote::visible,
        guides::Guides,
        lines::{self, Line},
        output::TextOptions,
        style::Tone,
        words::plural,
    },
    simulate::{BlockedBy, State, until_who_is_done},
    wording::count,
};

use super::{
    PlanView,
    because::{Because, because},
    forest::{Row, rows},
    gates,
    names::{by_kind, name, stuck},
    sections, side_effects,
    unlisted_contents::spared_objects,
};

/// The indent of every line.
pub(super) const MARGIN: usize = 2;
/// The width of the second column; the rare longer word exceeds it.
const WORD: usize = "deleted".len();

/// The most important line: a word, its tone, and a sentence.
pub(super) type Verdict = (&'static str, Tone, String);

/// Writes the violated gates, the verdict, the lines, and the sections below them.
pub(super) fn write(view: &PlanView<'_>, options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
    write_below(view, verdict(view), options, out)
}

/// Writes the violated gates and the verdict.
pub(super) fn write_head(
    view: &PlanView<'_>,
    verdict: Verdict,
    options: &TextOptions<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    for gate_violations in view.gates {
        lines::write_sentence("GATE", Tone::Error, &gates::describe(view.snapshot, gate_violations), options, out)?;
    }
    write_verdict(view, verdict, options, out)
}

/// Like [`write`], with another verdict.
pub(super) fn write_below(
    view: &PlanView<'_>,
    verdict: Verdict,
    options: &TextOptions<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    write_head(view, verdict, options, out)?;
    let rows = rows(view, options.fold);
    if !rows.is_empty() {
        writeln!(out)?;
        write_rows(view, &rows, options, out)?;
    }
    sections::write(view, options, out)
}

fn write_verdict(
    view: &PlanView<'_>,
    (word, tone, sentence): Verdict,
    options: &TextOptions<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    lines::write_sentence(word, tone, &(sentence + &side_effects::verdict(view)), options, out)
}

/// How many outcomes depend on the order of events, how many on what could not be read or simulated to its end, and
/// both in words.
pub(super) fn uncertain(view: &PlanView<'_>) -> (usize, usize, String) {
    let because_of = |wanted: fn(Uncertainty) -> bool| {
        view.plan.outcomes.iter().filter(|outcome| outcome.uncertain.is_some_and(wanted)).count()
    };
    let varying = because_of(|uncertainty| uncertainty == Uncertainty::Order);
    let unread = because_of(|uncertainty| uncertainty != Uncertainty::Order);
    let mut unsure = String::new();
    if varying > 0 {
        unsure += &format!(" The result for {} depends on the order of events.", count(varying, "object", "objects"));
    }
    if unread > 0 {
        let outcomes = count(unread, "outcome is", "outcomes are");
        unsure += &format!(
            " {outcomes} not certain, because something could not be read or simulated to the \
            end."
        );
    }
    (varying, unread, unsure)
}

pub(super) fn verdict(view: &PlanView<'_>) -> Verdict {
    let summary = view.plan.summary;
    let (varying, unread, unsure) = uncertain(view);
    let uncertain = varying + unread;
    let survivors = summary.orphaned + summary.detached + summary.unblocked;
    let stay = match survivors {
        0 => String::new(),
        _ => format!(" {} with changed owner references.", count(survivors, "survives", "survive")),
    };
    let targets: Vec<ObjectId> = view.plan.request.targets.clone();
    if view.plan.outcomes.is_empty() {
        let terminating = targets.iter().all(|target| view.snapshot.object(*target).terminating());
        let already = match (terminating, targets.len()) {
            (false, _) => "",
            (true, 1) => ", which is already being deleted",
            (true, _) => ", which are already being deleted",
        };
        return ("NOTHING", Tone::Warning, format!("this delete does not change {}{already}.", listed(view, &targets)));
    }
    let kinds = gone_by_kind(view);
    let spared = match spared_objects(view) {
        0 => String::new(),
        spared => {
            format!(" {spared} more {} deleted only after the pods.", if spared == 1 { "is" } else { "are" })
        }
    };
    if summary.stuck > 0 {
        let total = summary.deleted + summary.terminating;
        let behind = root_causes(view);
        let sentence = format!(
            "{} of {total} objects {}, {} Terminating{behind}.{spared}{stay}{unsure}",
            summary.deleted,
            if summary.deleted == 1 { "is deleted" } else { "are deleted" },
            count(summary.terminating, "stays", "stay"),
        );
        return ("STUCK", Tone::Error, sentence);
    }
    if summary.terminating > 0 {
        let sentence = format!(
            "{}; {} Terminating until {}.{spared}{stay}{unsure}",
            objects_go(summary, &kinds),
            count(summary.terminating, "stays", "stay"),
            until(view, &view.plan.outcomes)
        );
        return (waiting_word(&view.plan.outcomes), Tone::Warning, sentence);
    }
    let word = if uncertain > 0 { "UNSURE" } else { "DELETES" };
    let tone = if uncertain > 0 { Tone::Warning } else { Tone::Strong };
    let deleted = match summary.deleted {
        0 => "no object is deleted".to_owned(),
        _ if uncertain > 0 => objects_go(summary, &kinds),
        deleted => format!("{} ({kinds})", count(deleted, "object", "objects")),
    };
    (word, tone, format!("{deleted}.{stay}{unsure}"))
}

/// The verdict if objects wait and none is stuck; it depends on whether the controllers that they wait for are known to
/// run.
pub(super) fn waiting_word<'a>(outcomes: impl IntoIterator<Item = &'a Outcome>) -> &'static str {
    let depends = |outcome: &Outcome| {
        outcome.state == Some(State::Unknown)
            && outcome.held_by.iter().any(|blocker| matches!(blocker, BlockedBy::Finalizer(_)))
    };
    if outcomes.into_iter().any(depends) { "DEPENDS ON CONTROLLER" } else { "WAITS" }
}

/// Who has to do what before the waiting objects are deleted, as a clause after "until".
pub(super) fn until<'a>(view: &PlanView<'_>, outcomes: impl IntoIterator<Item = &'a Outcome>) -> String {
    let waiting = outcomes.into_iter().filter(|outcome| outcome.state.is_some_and(|state| state != State::Stuck));
    until_who_is_done(view.snapshot, waiting.map(|outcome| (outcome.object, outcome.held_by.as_slice())))
}

fn objects_go(summary: Summary, kinds: &str) -> String {
    match summary.deleted {
        0 => "no object is deleted".to_owned(),
        1 => format!("1 object is deleted ({kinds})"),
        deleted => format!("{deleted} objects are deleted ({kinds})"),
    }
}

fn gone_by_kind(view: &PlanView<'_>) -> String {
    let gone = view.plan.outcomes.iter().filter(|outcome| outcome.kind == OutcomeKind::Deleted);
    by_kind(view, gone.map(|outcome| outcome.object))
}

/// The root causes of all stuck objects: finalizers, kubelets, objects that are never deleted.
pub(super) fn root_causes(view: &PlanView<'_>) -> String {
    let mut finalizers: Vec<&str> = Vec::new();
    for outcome in stuck(view) {
        for holder in &outcome.held_by {
            let name = holder.name(view.snapshot);
            // A CRD's clean-up waits for custom resources, which have causes of their own.
            let is_cause = matches!(holder, BlockedBy::Finalizer(finalizer) if *finalizer != Symbol::DEFINITION);
            if is_cause && !finalizers.contains(&name) {
                finalizers.push(name);
            }
        }
    }
    match finalizers.as_slice() {
        [] => String::new(),
        [one] => format!(" because of the finalizer {one}"),
        many => format!(" because of {} finalizers", many.len()),
    }
}

pub(super) fn write_rows(
    view: &PlanView<'_>,
    rows: &[Row<'_>],
    options: &TextOptions<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let guides = Guides::of(rows.iter().map(|row| row.depth));
    let word = rows.iter().map(|row| row.word.text().len()).max().unwrap_or(0).max(WORD);
    let mut above: Vec<ObjectId> = Vec::new();
    let mut lines: Vec<Line> = Vec::with_capacity(rows.len());
    for (row, guide) in rows.iter().zip(guides) {
        above.truncate(row.depth as usize);
        let name = visible(&row_name(view, row, above.last().copied())).into_owned();
        above.push(row.object);
        let tone = if row.more > 0 { Tone::Quiet } else { Tone::Plain };
        let column = Some((row.word.tone(), format!("{:<word$}", row.word.text())));
        let remarks = remarks(view, row, options.wide).into_iter();
        let remarks = remarks.map(|remark| (Tone::Plain, visible(&remark).into_owned())).collect();
        lines.push(Line { guide, tone, name, column, remarks });
    }
    let width = options.width.map(|width| width.saturating_sub(MARGIN));
    lines::write(&lines, lines::aligned(&lines, width), MARGIN, options.width, options.style, out)
}

/// The remarks on a line; wide output adds the reason and the uid.
fn remarks(view: &PlanView<'_>, row: &Row<'_>, wide: bool) -> Vec<String> {
    let mut remarks: Vec<String> = (!row.detail.is_empty()).then(|| row.detail.clone()).into_iter().collect();
    if wide {
        if let Some(cause) = &row.outcome.because {
            let Because { reason, message } = because(view.snapshot, row.object, cause, view.plan.request.propagation);
            remarks.push(if row.detail.contains(&message) {
                format!("[{reason}]")
            } else {
                format!("[{reason}] {message}")
            });
        }
        remarks.push(format!("uid {}", view.snapshot.text(view.snapshot.object(row.object).uid)));
    }
    remarks
}

fn row_name(view: &PlanView<'_>, row: &Row<'_>, above: Option<ObjectId>) -> String {
    if row.more == 0 {
        return name(view, row.object, above);
    }
    let resource = view.snapshot.resources.get(view.snapshot.object(row.object).resource);
    format!("… {} more {}", row.more, plural(resource, row.more))
}

fn listed(view: &PlanView<'_>, objects: &[ObjectId]) -> String {
    match objects {
        [one] => name(view, *one, None),
        many => format!("the {} targets", many.len()),
    }
}
