//! What goes with a Namespace or a CRD, by kind: data first and by name, then what is stuck, then the rest.

use std::io::{self, Write};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    model::{ObjectId, ResourceId, effects::EffectKind, resources::is_built_in_group},
    render::{
        lines::{self, Line},
        output::TextOptions,
        states::Fate,
        style::Tone,
        words::plural,
    },
    wording::{count, some_of, thousands},
};

use super::{
    PlanView,
    details::without_grace,
    forest::{Row, rows_of_table},
    names::{by_some_kinds, name},
    sections,
};

/// So many reasons of targets and stuck objects have lines of their own.
const MOST_ALONE: usize = 12;
/// So many objects of a line are named, where data is lost or they are stuck.
const NAMED: usize = 3;

/// More kinds than this that the same becomes of, and nothing else, share a line.
const MOST_PLAIN: usize = 3;

/// Objects of a kind that the same becomes of.
struct Kind<'a> {
    rows: Vec<Row<'a>>,
    loses_data: bool,
}

/// Whether the kinds are shown instead of each object.
pub(super) fn are_shown(view: &PlanView<'_>, options: &TextOptions<'_>) -> bool {
    options.fold && !options.wide && view.kept.is_none() && sections::what_is_in_it(view).is_some()
}

/// Writes a line for each kind and what becomes of it.
pub(super) fn write(view: &PlanView<'_>, options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut kinds = kinds(view);
    let rank = |kind: &Kind<'_>| -> (bool, bool, bool, Fate, bool, ResourceId) {
        let first = &kind.rows[0];
        let is_target = view.plan.request.targets.contains(&first.object);
        let (is_stuck, is_plain) = (first.fate == Fate::Stuck, first.detail.is_empty());
        (!is_target, !kind.loses_data, !is_stuck, first.fate, is_plain, resource_of(view, first.object))
    };
    kinds.sort_by_key(rank);
    let lines = kinds_together(view, kinds).iter().map(|kinds| line_of(view, kinds)).collect();
    lines::write_padded(lines, lines::MARGIN, options, out)?;
    writeln!(out, "  {}", options.style.paint(Tone::Quiet, "(each object: -o wide)"))
}

fn resource_of(view: &PlanView<'_>, object: ObjectId) -> ResourceId {
    view.snapshot.object(object).resource
}

/// All objects by kind, fate and remark, in the order of the plan.
fn kinds<'a>(view: &PlanView<'a>) -> Vec<Kind<'a>> {
    let losses = view.plan.all_effects().filter(|effect| effect.kind == EffectKind::DataLost);
    let losses: FxHashSet<ObjectId> = losses.map(|effect| effect.object).collect();
    let mut kinds: Vec<Kind<'a>> = Vec::new();
    let mut known: FxHashMap<(ResourceId, Fate, String), usize> = FxHashMap::default();
    let mut alone = 0;
    for mut row in rows_of_table(view) {
        let is_target = view.plan.request.targets.contains(&row.object);
        let loses_data = losses.contains(&row.object);
        row.detail = without_grace(row.detail);
        // Each reason has a line of its own, until they are too many.
        let tells = is_target || row.fate == Fate::Stuck;
        let mut key = (resource_of(view, row.object), row.fate, row.detail.clone());
        if tells && !known.contains_key(&key) {
            alone += 1;
            if alone > MOST_ALONE {
                row.detail.clear();
                key.2.clear();
            }
        }
        let place = *known.entry(key).or_insert_with(|| {
            kinds.push(Kind { rows: Vec::new(), loses_data });
            kinds.len() - 1
        });
        kinds[place].rows.push(row);
    }
    kinds
}

/// The kinds of each line. Of those of which nothing else is to be said than that the same becomes of them, many share
/// one.
fn kinds_together<'a>(view: &PlanView<'_>, kinds: Vec<Kind<'a>>) -> Vec<Vec<Kind<'a>>> {
    // What stands for an application, or for its data, is never one of many.
    let is_telling = |object: ObjectId| {
        let resource = view.snapshot.resources.get(resource_of(view, object));
        let kept = ["StatefulSet", "PersistentVolumeClaim"].contains(&resource.kind.as_str());
        kept || !is_built_in_group(&resource.group)
    };
    let is_plain = |kind: &Kind<'_>| {
        let first = &kind.rows[0];
        let is_told = view.plan.request.targets.contains(&first.object) || is_telling(first.object);
        !is_told && !kind.loses_data && first.fate != Fate::Stuck && first.detail.is_empty()
    };
    let plain =
        |kinds: &[Kind<'_>], fate: Fate| kinds.iter().filter(|it| is_plain(it) && it.rows[0].fate == fate).count();
    let many: Vec<Fate> =
        kinds.iter().map(|kind| kind.rows[0].fate).filter(|fate| plain(&kinds, *fate) > MOST_PLAIN).collect();
    let mut lines: Vec<Vec<Kind<'a>>> = Vec::new();
    let mut place_of: FxHashMap<Fate, usize> = FxHashMap::default();
    for kind in kinds {
        let fate = kind.rows[0].fate;
        if !is_plain(&kind) || !many.contains(&fate) {
            lines.push(vec![kind]);
            continue;
        }
        let place = *place_of.entry(fate).or_insert_with(|| {
            lines.push(Vec::new());
            lines.len() - 1
        });
        lines[place].push(kind);
    }
    lines
}

fn line_of(view: &PlanView<'_>, kinds: &[Kind<'_>]) -> Line {
    if let [kind] = kinds {
        return line(view, kind);
    }
    let objects = || kinds.iter().flat_map(|kind| &kind.rows).map(|row| row.object);
    let fate = kinds[0].rows[0].fate;
    let title = format!("{} of {} kinds", count(objects().count(), "object", "objects"), kinds.len());
    Line::new(&title).becomes(fate, fate.column()).remarked(Tone::Plain, [by_some_kinds(view, objects())])
}

fn line(view: &PlanView<'_>, kind: &Kind<'_>) -> Line {
    let [first, rest @ ..] = kind.rows.as_slice() else { unreachable!("a kind has a row") };
    let resource = view.snapshot.resources.get(resource_of(view, first.object));
    let number = kind.rows.len();
    let title = match rest {
        [] => name(view, first.object, view.plan.request.targets.first().copied()),
        _ => format!("{} {}", thousands(number), plural(resource, number)),
    };
    let mut remark = first.detail.clone();
    if (kind.loses_data || first.fate == Fate::Stuck) && number > 1 {
        let names = kind.rows.iter().map(|row| view.snapshot.text(view.snapshot.object(row.object).name));
        let begin = if remark.is_empty() { String::new() } else { format!("{remark}: ") };
        remark = format!("{begin}{}", some_of(names, NAMED));
    }
    let tone = if kind.loses_data { Tone::Error } else { Tone::Plain };
    Line::new(&title).becomes(first.fate, first.fate.column()).remarked(tone, [remark])
}
