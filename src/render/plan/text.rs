//! A plan for people: the verdict, what becomes of everything, and what else could be done.

use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

use crate::{
    foretell::{Assumption, Holder, Outcome, OutcomeKind, State, Summary, Uncertainty},
    model::{ObjectId, facts::has_facts},
    render::{
        guides::Guides,
        style::{Style, Tone},
        tree::Options,
        words::{count_kinds, middle_cut, plural, wrapped},
    },
    server::Propagation,
};

use super::{
    PlanView,
    because::because,
    details::name,
    document::holder_name,
    forest::{Row, rows},
};

/// What stands before the second column of the sections below.
const SECTION_INDENT: usize = 10;
/// What stands before every line.
const MARGIN: usize = 2;
/// What the word of a line takes, with the space around it.
const WORD_COLUMNS: usize = 10;
/// No name is cut to less than this.
const LEAST_NAME: usize = 16;
/// The second column begins no later than this.
const MOST_ALIGNED: usize = 60;
/// So many nodes are named, and one more.
const NAMED_NODES: usize = 2;

/// Writes the verdict, the lines, and the sections below them.
pub fn write(view: &PlanView<'_>, options: &Options<'_>, out: &mut dyn Write) -> io::Result<()> {
    write_verdict(view, options, out)?;
    let rows = rows(view, options.fold);
    if !rows.is_empty() {
        writeln!(out)?;
        write_rows(view, &rows, options, out)?;
    }
    writeln!(out)?;
    let sections = sections(view);
    write_sections(&sections, options, out)
}

fn write_verdict(view: &PlanView<'_>, options: &Options<'_>, out: &mut dyn Write) -> io::Result<()> {
    let (word, tone, sentence) = verdict(view);
    let lines = wrapped(format!("{word}: {sentence}").split(' '), options.width.unwrap_or(usize::MAX));
    for (index, line) in lines.iter().enumerate() {
        match line.strip_prefix(word).filter(|_| index == 0) {
            Some(rest) => writeln!(out, "{}{rest}", options.style.paint(tone, word))?,
            None => writeln!(out, "{line}")?,
        }
    }
    Ok(())
}

/// The one line that matters.
fn verdict(view: &PlanView<'_>) -> (&'static str, Tone, String) {
    let summary = view.plan.summary;
    let because_of =
        |wanted: fn(Uncertainty) -> bool| view.plan.outcomes.iter().filter(|outcome| outcome.uncertain.is_some_and(wanted)).count();
    let varying = because_of(|uncertainty| uncertainty == Uncertainty::Order);
    let unread = because_of(|uncertainty| uncertainty != Uncertainty::Order);
    let mut unsure = String::new();
    if varying > 0 {
        unsure += &format!(" What becomes of {varying} of them depends on the order of events.");
    }
    if unread > 0 {
        unsure += &format!(" Not certain for {unread} of them, because something could not be read or played to its end.");
    }
    let uncertain = varying + unread;
    let survivors = summary.orphaned + summary.detached + summary.unblocked;
    let stay = if survivors == 0 { String::new() } else { format!(" {}, changed.", count(survivors, "survives", "survive")) };
    let targets: Vec<ObjectId> = view.plan.request.targets.clone();
    if view.plan.outcomes.is_empty() {
        return ("NOTHING", Tone::Warning, format!("this delete changes nothing about {}.", listed(view, &targets)));
    }
    let kinds = gone_by_kind(view);
    if summary.stuck > 0 {
        let total = summary.deleted + summary.terminating;
        let behind = root_causes(view);
        let sentence = format!(
            "{} of {total} objects {}, {} Terminating{behind}.{stay}{unsure}",
            summary.deleted,
            if summary.deleted == 1 { "goes" } else { "go" },
            count(summary.terminating, "stays", "stay"),
        );
        return ("STUCK", Tone::Error, sentence);
    }
    if summary.terminating > 0 {
        let sentence = format!(
            "{}; {} Terminating until somebody else is done.{stay}{unsure}",
            objects_go(summary, &kinds),
            count(summary.terminating, "stays", "stay")
        );
        return ("WAITS", Tone::Warning, sentence);
    }
    let word = if uncertain > 0 { "UNSURE" } else { "GOES" };
    let tone = if uncertain > 0 { Tone::Warning } else { Tone::Strong };
    (word, tone, format!("{}.{stay}{unsure}", objects_go(summary, &kinds)))
}

fn objects_go(summary: Summary, kinds: &str) -> String {
    match summary.deleted {
        0 => "no object is deleted".to_owned(),
        1 => format!("1 object is deleted ({kinds})"),
        deleted => format!("{deleted} objects are deleted ({kinds})"),
    }
}

fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

fn gone_by_kind(view: &PlanView<'_>) -> String {
    let gone = view.plan.outcomes.iter().filter(|outcome| outcome.kind == OutcomeKind::Deleted).map(|outcome| outcome.object);
    let counts = count_kinds(view.snapshot, gone);
    let told = counts.iter().map(|(resource, count)| format!("{count} {}", plural(view.snapshot.resources.get(*resource), *count)));
    told.collect::<Vec<_>>().join(", ")
}

/// What everything that is stuck comes down to: finalizers, kubelets, objects that nobody deletes.
fn root_causes(view: &PlanView<'_>) -> String {
    let mut finalizers: Vec<&str> = Vec::new();
    for outcome in stuck(view) {
        for holder in &outcome.held_by {
            let name = holder_name(view.snapshot, *holder);
            if matches!(holder, Holder::Finalizer(_)) && !finalizers.contains(&name) {
                finalizers.push(name);
            }
        }
    }
    match finalizers.as_slice() {
        [] => String::new(),
        [one] => format!(" behind the finalizer {one}"),
        many => format!(" behind {} finalizers", many.len()),
    }
}

fn stuck<'v>(view: &PlanView<'v>) -> impl Iterator<Item = &'v Outcome> {
    view.plan.outcomes.iter().filter(|outcome| outcome.state == Some(State::Stuck))
}

fn write_rows(view: &PlanView<'_>, rows: &[Row], options: &Options<'_>, out: &mut dyn Write) -> io::Result<()> {
    let guides = Guides::of(rows.iter().map(|row| row.depth));
    let mut above: Vec<ObjectId> = Vec::new();
    let mut names: Vec<String> = Vec::with_capacity(rows.len());
    for row in rows {
        above.truncate(row.depth as usize);
        names.push(row_name(view, row, above.last().copied()));
        above.push(row.object);
    }
    let longest = names.iter().zip(&guides).map(|(name, guide)| name.width() + guide.width()).max().unwrap_or(0);
    let column = longest.min(MOST_ALIGNED).min(options.width.map_or(usize::MAX, |width| (width / 2).max(LEAST_NAME)));
    for ((row, name), guide) in rows.iter().zip(&names).zip(&guides) {
        let room = column.saturating_sub(guide.width()).max(LEAST_NAME);
        let name = if options.width.is_some() { middle_cut(name, room) } else { name.clone() };
        let padding = " ".repeat(column.saturating_sub(guide.width() + name.width()));
        let tone = if row.more > 0 { Tone::Quiet } else { Tone::Plain };
        let word = format!("{:<7}", row.word.text());
        let before = MARGIN + column.max(guide.width() + name.width()) + WORD_COLUMNS;
        let details =
            wrapped(remark(view, row, options).split(' '), options.width.map_or(usize::MAX, |width| width.saturating_sub(before)));
        let mut details = details.iter();
        let line = format!(
            "  {}{}{padding}  {} {}",
            options.style.paint(Tone::Quiet, guide),
            options.style.paint(tone, &name),
            options.style.paint(row.word.tone(), &word),
            details.next().map_or("", String::as_str)
        );
        writeln!(out, "{}", line.trim_end())?;
        for detail in details {
            let guide = continued(guide);
            let padding = " ".repeat(before.saturating_sub(MARGIN + guide.width()));
            writeln!(out, "  {}{padding}{detail}", options.style.paint(Tone::Quiet, &guide))?;
        }
    }
    Ok(())
}

/// The guide of a line that goes on: its own branch leads nowhere, those of its elders go on.
fn continued(guide: &str) -> String {
    guide.replace("├─ ", "│  ").replace("└─ ", "   ")
}

/// What is said beside a line; in wide output with the uid and the reason.
fn remark(view: &PlanView<'_>, row: &Row, options: &Options<'_>) -> String {
    let outcome = view.plan.outcome(row.object).filter(|_| options.wide);
    let Some(outcome) = outcome else { return row.detail.clone() };
    let mut parts: Vec<String> = Vec::new();
    if !row.detail.is_empty() {
        parts.push(row.detail.clone());
    }
    if let Some(cause) = &outcome.because {
        let (rule, message) = because(view.snapshot, row.object, cause, view.plan.request.propagation);
        parts.push(format!("[{rule}] {message}"));
    }
    parts.push(format!("uid {}", view.snapshot.text(view.snapshot.object(row.object).uid)));
    parts.join("; ")
}

fn row_name(view: &PlanView<'_>, row: &Row, above: Option<ObjectId>) -> String {
    if row.more == 0 {
        return name(view, row.object, above);
    }
    let resource = view.snapshot.resources.get(view.snapshot.object(row.object).resource);
    format!("… {} more {}", row.more, plural(resource, row.more))
}

/// The sections below the lines: a word each, and what is to be said.
fn sections(view: &PlanView<'_>) -> Vec<(&'static str, Vec<String>)> {
    let mut sections: Vec<(&'static str, Vec<String>)> = Vec::new();
    for (heading, lines) in [("Assumes", assumes(view)), ("But", afterwards(view))] {
        if !lines.is_empty() {
            sections.push((heading, lines));
        }
    }
    let instead: Vec<String> = view
        .instead
        .iter()
        .map(|(propagation, summary)| format!("{:<11} {}", propagation.name().to_lowercase(), in_short(*summary)))
        .collect();
    if !instead.is_empty() {
        sections.push(("Instead", instead));
    }
    sections.push(("Next", next(view)));
    sections
}

/// What others are taken to do; kubelets in one line, however many there are.
fn assumes(view: &PlanView<'_>) -> Vec<String> {
    let mut nodes: Vec<&str> = Vec::new();
    let mut lines: Vec<String> = Vec::new();
    for assumption in &view.plan.assumptions {
        match assumption {
            Assumption::Kubelet { node } => nodes.push(node),
            Assumption::NotReplaced { .. } | Assumption::NotAdopted => {}
            other => lines.push(other.to_string()),
        }
    }
    let kubelets = match nodes.as_slice() {
        [] => None,
        [one] => Some(format!("the kubelet on node {one} ends its pods after their grace period")),
        [some @ .., last] if some.len() <= NAMED_NODES => {
            Some(format!("the kubelets on nodes {} and {last} end their pods after their grace period", some.join(", ")))
        }
        many => Some(format!("the kubelets on {} nodes end their pods after their grace period", many.len())),
    };
    kubelets.into_iter().chain(lines).collect()
}

/// What living controllers do afterwards, and a plan leaves out.
fn afterwards(view: &PlanView<'_>) -> Vec<String> {
    let mut controllers: Vec<&str> = Vec::new();
    let mut lines: Vec<String> = Vec::new();
    for assumption in &view.plan.assumptions {
        match assumption {
            Assumption::NotReplaced { controller } => controllers.push(controller),
            Assumption::NotAdopted => {
                lines.push("a living controller whose selector matches adopts what is left without an owner".to_owned());
            }
            _ => {}
        }
    }
    let told = match controllers.as_slice() {
        [] => None,
        [one] => Some(format!("{one} lives on, and may replace what it controls")),
        [some @ .., last] if some.len() <= NAMED_NODES => {
            Some(format!("{} and {last} live on, and may replace what they control", some.join(", ")))
        }
        many => Some(format!("{} controllers live on, and may replace what they control", many.len())),
    };
    told.into_iter().chain(lines).collect()
}

/// A summary in half a line.
pub fn in_short(summary: Summary) -> String {
    let mut parts = vec![count(summary.deleted, "goes", "go")];
    let mut add = |number: usize, told: String| {
        if number > 0 {
            parts.push(told);
        }
    };
    add(summary.stuck, format!("{} stuck", count(summary.stuck, "stays", "stay")));
    let waiting = summary.terminating - summary.stuck;
    add(waiting, format!("{} Terminating for now", count(waiting, "stays", "stay")));
    add(summary.orphaned, format!("{} without an owner", count(summary.orphaned, "stays", "stay")));
    add(summary.detached, format!("{} with fewer owners", count(summary.detached, "stays", "stay")));
    add(summary.unblocked, format!("{} unblocked", count(summary.unblocked, "stays", "stay")));
    parts.join(", ")
}

/// What to do now, in plain kubectl.
fn next(view: &PlanView<'_>) -> Vec<String> {
    let command = |propagation: Propagation| delete_command(view, propagation);
    if !view.plan.stuck() {
        return vec![command(view.plan.request.propagation)];
    }
    let mut lines = Vec::new();
    let mut held: Vec<(&str, ObjectId)> = Vec::new();
    for outcome in stuck(view) {
        for holder in outcome.held_by.iter().filter(|holder| matches!(holder, Holder::Finalizer(_))) {
            let finalizer = holder_name(view.snapshot, *holder);
            let of_collector = matches!(finalizer, "foregroundDeletion" | "orphan");
            if !of_collector && !held.iter().any(|(known, _)| *known == finalizer) {
                held.push((finalizer, outcome.object));
            }
        }
    }
    for (finalizer, object) in held.iter().take(2) {
        lines.push(format!(
            "see that the controller behind {finalizer} runs ({} has it), and plan again",
            name(view, *object, None)
        ));
    }
    let (best, least) = view
        .instead
        .iter()
        .filter(|(propagation, summary)| *propagation == Propagation::Background && summary.stuck < view.plan.summary.stuck)
        .map(|(propagation, summary)| (*propagation, summary.stuck))
        .next()
        .unwrap_or((view.plan.request.propagation, view.plan.summary.stuck));
    if best != view.plan.request.propagation {
        let rest = if least == 0 { "leaving nothing stuck".to_owned() } else { format!("leaving only {least} stuck") };
        lines.push(format!("or, {rest}:"));
        lines.push(command(best));
    }
    if lines.is_empty() {
        lines.push("kubectl gc tree shows who is in the way".to_owned());
    }
    lines
}

/// The delete that was planned, as kubectl takes it.
fn delete_command(view: &PlanView<'_>, propagation: Propagation) -> String {
    let targets = &view.plan.request.targets;
    let mut namespaces: Vec<&str> =
        targets.iter().map(|target| view.snapshot.text(view.snapshot.object(*target).namespace)).collect();
    namespaces.retain(|namespace| !namespace.is_empty());
    namespaces.dedup();
    let namespace = match namespaces.as_slice() {
        [] => String::new(),
        [one] => format!(" -n {one}"),
        _ => return format!("kubectl delete each target with --cascade={}", propagation.name().to_lowercase()),
    };
    let grace = view.plan.request.grace.map_or_else(String::new, |grace| match grace {
        0 => " --force".to_owned(),
        seconds => format!(" --grace-period={seconds}"),
    });
    if targets.len() > 5 {
        return format!(
            "kubectl delete the {} targets{namespace} --cascade={}{grace}",
            targets.len(),
            propagation.name().to_lowercase()
        );
    }
    let names: Vec<String> = targets.iter().map(|target| kubectl_name(view, *target)).collect();
    format!("kubectl delete {}{namespace} --cascade={}{grace}", names.join(" "), propagation.name().to_lowercase())
}

/// `deployment/web`, or with its group where the kind is not one of Kubernetes' own.
fn kubectl_name(view: &PlanView<'_>, object: ObjectId) -> String {
    let found = view.snapshot.object(object);
    let resource = view.snapshot.resources.get(found.resource);
    let well_known = !resource.group.contains('.') || has_facts(&resource.group, &resource.kind);
    let kind = resource.kind.to_lowercase();
    let kind = if well_known { kind } else { format!("{kind}.{}", resource.group) };
    format!("{kind}/{}", view.snapshot.text(found.name))
}

fn listed(view: &PlanView<'_>, objects: &[ObjectId]) -> String {
    match objects {
        [one] => name(view, *one, None),
        many => format!("the {} targets", many.len()),
    }
}

fn write_sections(sections: &[(&'static str, Vec<String>)], options: &Options<'_>, out: &mut dyn Write) -> io::Result<()> {
    let style: &Style = options.style;
    for (heading, lines) in sections {
        for (index, line) in lines.iter().enumerate() {
            // A command is never broken: it is there to be pasted.
            let room = if line.starts_with("kubectl ") {
                usize::MAX
            } else {
                options.width.map_or(usize::MAX, |width| width.saturating_sub(SECTION_INDENT))
            };
            for (part, text) in wrapped(line.split(' '), room).iter().enumerate() {
                let label = if index == 0 && part == 0 { *heading } else { "" };
                let padding = " ".repeat(SECTION_INDENT.saturating_sub(label.width()));
                writeln!(out, "{}{padding}{text}", style.paint(Tone::Strong, label))?;
            }
        }
    }
    Ok(())
}
