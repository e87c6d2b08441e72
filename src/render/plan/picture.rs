//! Plans, sweeps and blast radii as pictures.

use crate::{
    graph::OwnerGraph,
    model::{ObjectId, effects::EffectKind},
    plan::{Outcome, Radius, VerdictResult},
    render::picture::{
        Fate, Levels, Objects, Picture, PictureOptions, Row as PictureRow, Section, Verdict as PictureVerdict, View,
        row_of, section,
    },
    render::sections::Heading,
    simulate::{BlockedBy, State},
};

use super::{
    BlastRadius, PlanView,
    because::{Because, because},
    forest::rows,
    names::{located, name},
    sections, side_effects,
    text::row_name,
    verdict::{self, VerdictText},
};

/// At most this many objects that one waits for are named.
const MOST_NAMED: usize = 50;

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
    let (kind, title) = match is_sweep {
        true => ("Sweep", "Sweep".to_owned()),
        false => ("Plan", format!("Plan: delete {}{of}", targets(view))),
    };
    let (objects, links) = objects.finish();
    Picture { kind, title, source: String::new(), objects, links, views, shown: 0 }
}

/// The picture of what deleting each of several roots would do.
pub(super) fn of_radius(radius: &BlastRadius<'_>, options: &PictureOptions<'_>) -> Picture {
    let graph = OwnerGraph::new(radius.snapshot);
    let mut objects = Objects::new(radius.snapshot, &graph, options.commands);
    let draw = |row: &Radius| PictureRow { object: Some(objects.add(row.object)), ..row_of(&radius.line(row)) };
    let rows = radius.rows.iter().map(draw).collect();
    let sections = section(Heading::Note, radius.left_out().into_iter().collect()).into_iter().collect();
    let views = vec![View { name: String::new(), verdict: None, rows, waits: Vec::new(), sections }];
    let (objects, links) = objects.finish();
    Picture { kind: "BlastRadius", title: radius.title(), source: String::new(), objects, links, views, shown: 0 }
}

fn targets(view: &PlanView<'_>) -> String {
    match view.plan.request.targets.as_slice() {
        [one] => located(view.snapshot, *one, None),
        many => format!("{} targets", many.len()),
    }
}

fn drawn(view: &PlanView<'_>, name: String, fold: bool, objects: &mut Objects<'_>) -> View {
    let mut levels = Levels::default();
    let mut above: Vec<ObjectId> = Vec::new();
    let mut drawn = Vec::new();
    let mut waits = Vec::new();
    for (index, row) in rows(view, fold).into_iter().enumerate() {
        above.truncate(row.depth as usize);
        let title = row_name(view, &row, above.last().copied());
        above.push(row.object);
        let parent = levels.parent(index, row.depth);
        let story = if row.more == 0 { story(view, row.outcome) } else { Vec::new() };
        if row.more == 0 {
            let others = row.outcome.waits_for.iter().take(MOST_NAMED).filter(|other| view.shown(**other).is_some());
            waits.extend(others.map(|other| [objects.add(row.object), objects.add(*other)]));
        }
        drawn.push(PictureRow {
            object: Some(objects.add(row.object)),
            parent,
            word: row.fate.text().to_owned(),
            detail: row.detail,
            loses: view.effects_of(row.object).any(|effect| effect.kind == EffectKind::DataLost),
            more: row.more,
            story,
            ..PictureRow::new(title, row.fate)
        });
    }
    let sections = sections::sections(view, fold, false).drawn();
    View { name, verdict: Some(of_verdict(&verdict::in_words(view))), rows: drawn, waits, sections }
}

pub(super) fn of_result(result: VerdictResult) -> Fate {
    match result {
        VerdictResult::External => Fate::Warning,
        VerdictResult::Nothing => Fate::Untouched,
        other => verdict::headline(other).fate(),
    }
}

fn of_verdict(VerdictText { headline, sentence }: &VerdictText) -> PictureVerdict {
    PictureVerdict {
        fate: headline.fate(),
        word: headline.word().to_owned(),
        sentence: sentence.iter().map(|run| run.text.as_str()).collect(),
    }
}

/// What the line of an object has no room for.
fn story(view: &PlanView<'_>, outcome: &Outcome) -> Vec<Section> {
    let cause = outcome.because.as_ref();
    let because = cause.map(|cause| because(view.snapshot, outcome.object, cause, view.plan.request.propagation));
    let because = because.map(|Because { message, .. }| message);
    let effects = view.effects_of(outcome.object).map(|effect| effect.message.to_string()).collect();
    let state = outcome.state.unwrap_or(State::Stuck);
    let describe = |holder: &BlockedBy| holder.describe(view.snapshot, outcome.object, state, &view.plan.controllers);
    let mut waits: Vec<String> = outcome.held_by.iter().map(describe).collect();
    let objects = outcome.waits_for.iter().take(MOST_NAMED);
    waits.extend(objects.map(|object| format!("waits for {}", name(view, *object, Some(outcome.object)))));
    let more = outcome.waits_for.len().saturating_sub(MOST_NAMED);
    waits.extend((more > 0).then(|| format!("… {more} more")));
    let afterwards = outcome.afterwards.iter().map(|after| side_effects::describe(view.snapshot, *after).1).collect();
    let why = because.into_iter().chain(waits).collect();
    let sections = [(Heading::Why, why), (Heading::Lost, effects), (Heading::Then, afterwards)];
    sections.into_iter().filter_map(|(heading, lines)| section(heading, lines)).collect()
}
