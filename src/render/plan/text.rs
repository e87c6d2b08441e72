//! A plan as text: the verdict, what becomes of each object, and the sections below. What goes with a Namespace or a
//! CRD is shown by kind: data first and by name, then what is stuck, then the rest.

use std::io::{self, Write};

use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::render::{
    lines::{self, Line},
    output::{Output, TextOptions},
    picture::{Fate, Objects, Picture, PictureOptions, Section, Verdict as PictureVerdict, View, remarks_of, section},
    sections::{Heading, Said, Sections},
    states::Tone,
    words::{full_names, plural},
};
use gc_core::{
    document::Named,
    model::{ObjectId, ResourceId, resources::is_built_in_group},
    plan::{Outcome, OutcomeKind, Summary},
    server::Propagation,
    simulate::{Assumption, State},
    wording::{all_of, count, each_once, some_of, thousands},
};

use super::{
    NAMED, NAMED_KINDS, PlanView, document,
    effects::{self, describe_claims, describe_kept, describe_reaction},
    forbidden::{describe_gate, obstacles},
    next::what_next,
    rows::{Row, held_by, outline, rows, without_usual},
    then::then,
    verdict::{self, further_doubts},
};

/// A plan with up to this many lines is shown in full before its delete: it fits a screen.
const WHOLE: usize = 30;
/// Of a longer plan, at most this many stuck objects are shown then, and as many that survive changed.
const MOST: usize = 8;
/// So many reasons of targets and stuck objects have lines of their own where kinds are shown.
const MOST_ALONE: usize = 12;
/// On a narrow terminal, more kinds than this that the same becomes of, and nothing else, share a line.
const MOST_PLAIN: usize = 3;
/// Elsewhere, at most this many such kinds have lines of their own, and as many of those that share one are told.
const MOST_KINDS: usize = 16;
/// A terminal of fewer columns has fewer lines, too.
const NARROW: usize = 100;

impl Output for PlanView<'_> {
    fn document(&self) -> impl Serialize {
        Named(self.snapshot, document::PlanDocument::of(self))
    }

    /// The objects that would be deleted, in order: in the first end, and then in the second. As gates do, it counts
    /// those that stay Terminating.
    fn names(&self) -> Option<Vec<String>> {
        let gone = self.plan.both_ends().filter(|outcome| outcome.kind.removes());
        Some(full_names(self.snapshot, each_once(gone.map(|outcome| outcome.object))))
    }

    fn picture(&self, options: &PictureOptions<'_>) -> Option<Picture> {
        Some(of_plan(self, options))
    }

    /// Writes the verdict, the lines, and the sections below them.
    fn write(&self, options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
        verdict::write_line(self, options, out)?;
        let by_kind = options.fold && !options.wide && self.kept.is_none() && what_is_in_it(self).is_some();
        if by_kind {
            writeln!(out)?;
            write_kinds(self, options, out)?;
        } else {
            let rows = rows(self, options.fold, true);
            match self.to_be_done && options.fold && rows.len() > WHOLE {
                true => write_some(self, &rows, options, out)?,
                false if rows.is_empty() => {}
                false => {
                    writeln!(out)?;
                    write_rows(self, &rows, options, out)?;
                }
            }
        }
        sections(self, options.fold, options.wide).write_below(options, out)
    }

    fn write_verdict(&self, options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
        verdict::write_line(self, options, out)
    }
}

/// Writes the most important of many lines: what the user is asked to confirm.
fn write_some(view: &PlanView<'_>, rows: &[Row<'_>], options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
    let is_stuck = |row: &Row<'_>| row.outcome.state == Some(State::Stuck);
    let survives = |row: &Row<'_>| {
        matches!(row.outcome.kind, OutcomeKind::Orphaned | OutcomeKind::Detached | OutcomeKind::Unblocked)
    };
    let wanted: [&dyn Fn(&Row<'_>) -> bool; 2] = [&is_stuck, &survives];
    let mut left_out = rows.len();
    for wanted in wanted {
        let mut some: Vec<Row<'_>> = rows.iter().filter(|row| wanted(row)).take(MOST).cloned().collect();
        // Without the rows above them.
        for row in &mut some {
            row.depth = 0;
            if row.more == 0 {
                row.title = view.name(row.object);
            }
        }
        left_out -= some.len();
        if !some.is_empty() {
            writeln!(out)?;
            write_rows(view, &some, options, out)?;
        }
    }
    let rest = format!("… {left_out} more lines: run kubectl gc plan, or add --dry-run --all, to see them.");
    writeln!(out)?;
    lines::write_paragraph(Tone::Quiet, &rest, options, out)
}

fn write_rows(view: &PlanView<'_>, rows: &[Row<'_>], options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut outline = outline(rows);
    if options.wide {
        for (drawn, row) in outline.rows.iter_mut().zip(rows) {
            drawn.line = with_reason(drawn.line.clone(), view, row);
        }
    }
    lines::write_padded(outline.lines(), options, out)
}

/// The line with the reason and the uid.
fn with_reason(line: Line, view: &PlanView<'_>, row: &Row<'_>) -> Line {
    let because = view.because(row.object, row.outcome.because.as_ref()).map(|because| {
        let is_said = remarks_of(&row.remarks).contains(&because.message);
        format!("[{}]{}", because.reason, if is_said { String::new() } else { format!(" {}", because.message) })
    });
    let uid = format!("uid {}", view.snapshot.text(view.snapshot.object(row.object).uid));
    line.remarked(Tone::Plain, because).remarked(Tone::Plain, [uid])
}

/// Objects of a kind that the same becomes of.
struct Kind<'a> {
    rows: Vec<Row<'a>>,
    fate: Fate,
    remark: String,
    loses_data: bool,
    has_target: bool,
}

/// Writes a line for each kind and what becomes of it.
fn write_kinds(view: &PlanView<'_>, options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut kinds = kinds(view);
    kinds.sort_by_key(|kind| {
        let (is_stuck, is_plain) = (kind.fate == Fate::Stuck, kind.remark.is_empty());
        (!kind.has_target, !kind.loses_data, !is_stuck, kind.fate, is_plain, !kind.is_told(view), kind.resource(view))
    });
    let narrow = options.width.is_some_and(|width| width < NARROW);
    let kinds = kinds_together(kinds, narrow);
    let mut lines: Vec<Line> = kinds.iter().map(|kinds| line_of(view, kinds, narrow)).collect();
    let folds = |kinds: &Vec<Kind<'_>>| {
        let objects = kinds.iter().flat_map(Kind::objects).count();
        kinds.len() > 1 || objects > if narrow { 1 } else { NAMED }
    };
    // It stands where names are missing, if anywhere.
    let leaves_out = |kinds: &Vec<Kind<'_>>| kinds[0].loses_data && kinds[0].objects().count() > NAMED;
    if let Some(place) = kinds.iter().position(leaves_out).or_else(|| kinds.iter().rposition(folds)) {
        lines[place].remark(Tone::Quiet, "-o wide names each");
    }
    lines::write_padded(lines, options, out)
}

impl Kind<'_> {
    fn resource(&self, view: &PlanView<'_>) -> ResourceId {
        view.snapshot.object(self.rows[0].object).resource
    }

    fn objects(&self) -> impl Iterator<Item = ObjectId> {
        self.rows.iter().map(|row| row.object)
    }

    /// Whether it stands for an application, or for its data: these are always named.
    fn is_told(&self, view: &PlanView<'_>) -> bool {
        let resource = view.snapshot.resources.get(self.resource(view));
        ["StatefulSet", "PersistentVolumeClaim"].contains(&resource.kind.as_str())
            || !is_built_in_group(&resource.group)
    }

    /// Its object, or how many there are.
    fn title(&self, view: &PlanView<'_>) -> String {
        let first = self.rows[0].object;
        match self.rows.len() {
            1 => view.name_in_plan(first),
            number => format!("{} {}", thousands(number), plural(view.snapshot.resource(first), number)),
        }
    }
}

/// All objects by kind, fate and remark, in the order of the plan.
fn kinds<'a>(view: &PlanView<'a>) -> Vec<Kind<'a>> {
    let mut kinds: Vec<Kind<'a>> = Vec::new();
    let mut known: FxHashMap<(ResourceId, Fate, String), usize> = FxHashMap::default();
    let mut alone = 0;
    for mut row in rows(view, false, false) {
        let (fate, has_target) = (row.fate, view.is_target(row.object));
        let remarks = without_usual(std::mem::take(&mut row.remarks));
        let mut key = (view.snapshot.object(row.object).resource, fate, remarks_of(&remarks));
        // Each reason has a line of its own, until they are too many.
        if (has_target || fate == Fate::Stuck) && !known.contains_key(&key) {
            alone += 1;
            if alone > MOST_ALONE {
                key.2.clear();
            }
        }
        let place = *known.entry(key).or_insert_with_key(|(.., remark)| {
            let (remark, loses_data) = (remark.clone(), view.loses_data(row.object));
            kinds.push(Kind { rows: Vec::new(), fate, remark, loses_data, has_target });
            kinds.len() - 1
        });
        kinds[place].rows.push(row);
    }
    kinds
}

/// The kinds of each line. Of those of which nothing else is to be said than that the same becomes of them, many share
/// one: on a narrow terminal all of them, elsewhere the last.
fn kinds_together(kinds: Vec<Kind<'_>>, narrow: bool) -> Vec<Vec<Kind<'_>>> {
    let is_plain =
        |kind: &Kind<'_>| !kind.has_target && !kind.loses_data && kind.fate != Fate::Stuck && kind.remark.is_empty();
    let mut plain: FxHashMap<Fate, usize> = FxHashMap::default();
    kinds.iter().filter(|kind| is_plain(kind)).for_each(|kind| *plain.entry(kind.fate).or_default() += 1);
    let (most, alone) = if narrow { (MOST_PLAIN, 0) } else { (MOST_KINDS, MOST_KINDS - 1) };
    let mut lines: Vec<Vec<Kind<'_>>> = Vec::new();
    // How many of a fate have lines of their own, and the line of the others.
    let mut shared: FxHashMap<Fate, (usize, Option<usize>)> = FxHashMap::default();
    for kind in kinds {
        let place = match is_plain(&kind) && plain[&kind.fate] > most {
            true => {
                let (before, line) = shared.entry(kind.fate).or_default();
                *before += 1;
                if *before > alone { *line.get_or_insert(lines.len()) } else { lines.len() }
            }
            false => lines.len(),
        };
        if place == lines.len() {
            lines.push(Vec::new());
        }
        lines[place].push(kind);
    }
    lines
}

/// `narrow`: on a narrow terminal, fewer kinds are told.
fn line_of(view: &PlanView<'_>, kinds: &[Kind<'_>], narrow: bool) -> Line {
    let fate = kinds[0].fate;
    let objects = || kinds.iter().flat_map(Kind::objects);
    let number = objects().count();
    let (title, tone, remark) = match kinds {
        [kind] => {
            let mut remark = kind.remark.clone();
            let few = number <= NAMED && !narrow && remark.is_empty();
            if (kind.loses_data || fate == Fate::Stuck || few) && number > 1 {
                let mut names: Vec<&str> = objects().map(|object| view.snapshot.name(object)).collect();
                names.sort_unstable();
                let begin = if remark.is_empty() { String::new() } else { format!("{remark}: ") };
                remark = format!("{begin}{}", some_of(names, NAMED));
            }
            (kind.title(view), if kind.loses_data { Tone::Error } else { Tone::Plain }, remark)
        }
        _ => {
            let (one, many) = if narrow { ("object", "objects") } else { ("more object", "more objects") };
            let title = format!("{} of {} kinds", count(number, one, many), kinds.len());
            let (told, others): (Vec<&Kind<'_>>, Vec<&Kind<'_>>) = kinds.iter().partition(|kind| kind.is_told(view));
            let rest = others.iter().flat_map(|kind| kind.objects());
            let rest = match told.len() {
                _ if others.is_empty() => String::new(),
                0 | 1 if narrow => view.by_some_kinds(rest, NAMED_KINDS - told.len()),
                _ if narrow => count(others.len(), "more kind", "more kinds"),
                _ => view.by_some_kinds(rest, MOST_KINDS),
            };
            // What stands for an application comes first, and by name.
            let told: Vec<String> = told.iter().map(|kind| kind.title(view)).collect();
            let both = [some_of(told, MOST_KINDS), rest].into_iter().filter(|part| !part.is_empty());
            (title, Tone::Plain, both.collect::<Vec<String>>().join(", "))
        }
    };
    Line::new(&title).becomes(fate, fate.column()).remarked(tone, [remark])
}

/// The width of a policy's name.
const POLICY: usize = "background".len();
/// At most this many nodes are named.
const NAMED_NODES: usize = 3;

/// All that is said below the lines, or without `wide` only what this delete differs in from others.
pub(super) fn sections(view: &PlanView<'_>, fold: bool, wide: bool) -> Sections {
    let mut sections = Sections::default();
    sections.add(Heading::Why, view.gates.iter().map(|violation| describe_gate(view.snapshot, violation)));
    sections.add(Heading::Why, obstacles(view));
    sections.add(Heading::Lost, effects::lost(view, fold));
    sections.add(Heading::Then, then(view, wide));
    if view.plan.then.is_none() {
        // The lines above say what is deleted later, where others can do what it waits for.
        sections.add(Heading::Then, effects::spared(view));
    }
    sections.add(Heading::Then, effects::afterwards(view));
    sections.add(Heading::Note, describe_kept(view));
    sections.add(Heading::Note, further_doubts(view));
    sections.add(Heading::Note, effects::perhaps_lost(view, fold));
    sections.add(Heading::Note, describe_claims(view, wide));
    sections.add(Heading::Note, effects::notes(view));
    sections.add(Heading::Note, assumes(view, |assumption| !assumption.is_usual()));
    if wide {
        sections.add(Heading::Note, effects::also(view));
        sections.add(Heading::Note, effects::kept_outside(view, fold));
        sections.add(Heading::Note, assumes(view, Assumption::is_usual));
        sections.add(Heading::Note, other_policies(view));
    }
    sections.add(Heading::Next, what_next(view));
    sections
}

/// What the other policies would do.
fn other_policies(view: &PlanView<'_>) -> Option<Said> {
    let name = |(propagation, _): &(Propagation, Summary)| propagation.name().to_lowercase();
    let same = view.instead.iter().all(|(_, summary)| *summary == view.plan.summary);
    match what_is_in_it(view) {
        _ if view.instead.is_empty() || same && view.plan.outcomes.is_empty() => None,
        Some(what) if same => {
            let policies: Vec<String> = view.instead.iter().map(name).collect();
            Some(Said::Text(format!("{} give the same result for {what}", policies.join(" and "))))
        }
        _ => {
            let line = |policy: &(Propagation, Summary)| {
                Line::new(&format!("{:<POLICY$}", name(policy))).remarked(Tone::Plain, [in_short(policy.1)])
            };
            Some(Said::Lines("other policies:".to_owned(), view.instead.iter().map(line).collect()))
        }
    }
}

/// What is deleted under every policy, if nothing else is deleted (R1.25, R1.26).
pub(super) fn what_is_in_it(view: &PlanView<'_>) -> Option<&'static str> {
    let mut kinds = view.plan.request.targets.iter().map(|target| {
        let resource = view.snapshot.resource(*target);
        (resource.group.as_str(), resource.kind.as_str())
    });
    let first = kinds.next().filter(|_| !view.plan.outcomes.is_empty())?;
    match first {
        _ if kinds.any(|kind| kind != first) => None,
        ("", "Namespace") => Some("a namespace"),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => Some("a CRD and its instances"),
        _ => None,
    }
}

/// What the plan assumes about controllers and kubelets, of what is `wanted`; all kubelets are in one line.
fn assumes(view: &PlanView<'_>, wanted: fn(&Assumption) -> bool) -> Vec<String> {
    let (mut nodes, mut are_unread): (Vec<&str>, bool) = (Vec::new(), false);
    let mut lines: Vec<String> = Vec::new();
    let told = view.plan.assumptions.iter().filter(|assumption| wanted(assumption) && !assumption.is_told_of_objects());
    for assumption in told {
        match assumption {
            Assumption::Kubelet { node, unread } => {
                nodes.push(node);
                are_unread = *unread;
            }
            other => lines.push(other.to_string()),
        }
    }
    let kubelets = match nodes.as_slice() {
        [] => None,
        [one] => Some(format!("the kubelet on node {one} ends its pods after their grace period")),
        some if some.len() <= NAMED_NODES => {
            Some(format!("the kubelets on nodes {} end their pods after their grace period", all_of(some, "and")))
        }
        many => Some(format!("the kubelets on {} nodes end their pods after their grace period", many.len())),
    };
    let unread = if are_unread { ", though nothing was read of it" } else { "" };
    let kubelets = kubelets.map(|kubelets| format!("{kubelets}{unread}"));
    kubelets.into_iter().chain(lines).map(|line| format!("assumed: {line}")).collect()
}

/// A summary in half a line.
pub(super) fn in_short(summary: Summary) -> String {
    let more = [
        (summary.stuck, "stuck", "stuck"),
        (summary.terminating - summary.stuck, "waits", "wait"),
        (summary.orphaned + summary.detached + summary.unblocked, "kept", "kept"),
        (summary.later, "later", "later"),
        (summary.recreated, "comes back", "come back"),
    ];
    let more = more.into_iter().filter(|(number, ..)| *number > 0);
    let mut parts: Vec<String> = more.map(|(number, one, many)| count(number, one, many)).collect();
    if summary.deleted > 0 || parts.is_empty() {
        parts.insert(0, format!("{} deleted", thousands(summary.deleted)));
    }
    parts.join(", ")
}

/// A fact names at most this many kinds.
const KINDS_IN_FACTS: usize = 8;

/// The picture of a plan or a sweep. In a page, the other policies have views of their own.
pub(super) fn of_plan(view: &PlanView<'_>, options: &PictureOptions<'_>) -> Picture {
    let is_sweep = view.is_sweep();
    let policy = |view: &PlanView<'_>| match is_sweep {
        true => String::new(),
        false => view.plan.request.propagation.name().to_lowercase(),
    };
    let mut objects = Objects::new(view.snapshot, view.graph, options.commands);
    let views = std::iter::once(view).chain(&view.others);
    let views: Vec<View> = views.map(|view| drawn(view, policy(view), options.fold, &mut objects)).collect();
    // Several policies are in one page: it says which one it shows.
    let of = if views.len() > 1 { String::new() } else { format!(", {}", policy(view)) };
    let (kind, title) = match view.plan.request.targets.as_slice() {
        _ if is_sweep => ("Sweep", "Sweep".to_owned()),
        [one] => ("Plan", format!("Plan: delete {}{of}", view.snapshot.located(*one, None))),
        many => ("Plan", format!("Plan: delete {} targets{of}", many.len())),
    };
    let (objects, links) = objects.finish();
    Picture { kind, title, objects, links, views, ..Picture::default() }
}

fn drawn(view: &PlanView<'_>, name: String, fold: bool, objects: &mut Objects<'_>) -> View {
    let rows = rows(view, fold, true);
    let kinds = |fate: Fate| {
        view.by_some_kinds(rows.iter().filter(|row| row.fate == fate).map(|row| row.object), KINDS_IN_FACTS)
    };
    let (now, later) = (kinds(Fate::Deleted), kinds(Fate::Later));
    let later = if later.is_empty() { later } else { format!("later: {later}") };
    let (mut drawn, mut waits) = (Vec::new(), Vec::new());
    outline(&rows).draw(objects, None, &mut drawn);
    for (drawn, row) in drawn.iter_mut().zip(rows) {
        drawn.loses = view.loses_data(row.object);
        if row.more == 0 {
            drawn.story = story(view, row.outcome);
            let others = row.outcome.waits_for.iter().filter(|other| view.shown(**other).is_some());
            waits.extend(others.map(|other| [objects.add(row.object), objects.add(*other)]));
        }
    }
    let verdict = view.verdict();
    let (headline, sentence) = verdict::in_words(view, &verdict);
    let sentence = sentence.iter().map(|(_, text)| text.as_str()).collect();
    let reasons: Vec<String> = verdict.reasons.iter().map(|reason| verdict::reason_in_words(view, reason)).collect();
    let sections = sections(view, fold, false).drawn();
    let then = sections.iter().filter(|section| section.label == Heading::Then.into_str());
    let then = then.flat_map(|section| section.lines.iter().cloned());
    let lines = [now, later].into_iter().chain(then).filter(|line| !line.is_empty()).collect();
    View {
        name,
        verdict: Some(PictureVerdict::of(headline, sentence)),
        reasons: reasons.join("; "),
        facts: section("Goes", lines).into_iter().collect(),
        rows: drawn,
        waits,
        sections,
    }
}

/// What the line of an object has no room for.
fn story(view: &PlanView<'_>, outcome: &Outcome) -> Vec<Section> {
    let mut why: Vec<String> = Vec::new();
    why.extend(view.because(outcome.object, outcome.because.as_ref()).map(|because| because.message));
    why.extend(outcome.held_by.iter().map(|blocker| held_by(view, outcome, *blocker)));
    // A picture shows what waits for another of its objects.
    let objects = outcome.waits_for.iter().filter(|other| view.shown(**other).is_none());
    why.extend(objects.map(|object| format!("waits for {}", view.name_below(*object, outcome.object))));
    let effects = view.effects_of(outcome.object).map(|effect| effect.message.to_string()).collect();
    let afterwards = outcome.afterwards.iter().map(|after| describe_reaction(view.snapshot, *after)).collect();
    let sections = [(Heading::Why, why), (Heading::Lost, effects), (Heading::Then, afterwards)];
    sections.into_iter().filter_map(|(heading, lines)| section(heading, lines)).collect()
}
