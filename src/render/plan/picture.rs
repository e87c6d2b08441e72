//! Plans, sweeps and blast radii as pictures.

use crate::{
    render::picture::{
        Fate, Objects, Picture, PictureOptions, Row as PictureRow, Section, Verdict as PictureVerdict, View, row_of,
        section,
    },
    render::sections::Heading,
};
use gc_core::{
    graph::OwnerGraph,
    plan::{Outcome, Radius, VerdictResult},
};

use super::{
    BlastRadius, PlanView,
    effects::describe_reaction,
    remarks::held_by,
    rows::{outline, rows},
    sections::sections,
    verdict,
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
    let (kind, title) = match view.plan.request.targets.as_slice() {
        _ if is_sweep => ("Sweep", "Sweep".to_owned()),
        [one] => ("Plan", format!("Plan: delete {}{of}", view.snapshot.located(*one, None))),
        many => ("Plan", format!("Plan: delete {} targets{of}", many.len())),
    };
    let (objects, links) = objects.finish();
    Picture { kind, title, objects, links, views, ..Picture::default() }
}

/// The picture of what deleting each of several roots would do.
pub(super) fn of_radius(radius: &BlastRadius<'_>, options: &PictureOptions<'_>) -> Picture {
    let graph = OwnerGraph::new(radius.snapshot);
    let mut objects = Objects::new(radius.snapshot, &graph, options.commands);
    let draw = |row: &Radius| PictureRow { object: Some(objects.add(row.object)), ..row_of(&radius.line(row), &[]) };
    let rows = radius.rows.iter().map(draw).collect();
    let sections = section(Heading::Note, radius.left_out().into_iter().collect()).into_iter().collect();
    Picture::of("BlastRadius", radius.title(), objects, View { rows, sections, ..View::default() })
}

fn drawn(view: &PlanView<'_>, name: String, fold: bool, objects: &mut Objects<'_>) -> View {
    let rows = rows(view, fold, true);
    let (mut drawn, mut waits) = (Vec::new(), Vec::new());
    outline(&rows).draw(objects, None, &mut drawn);
    for (drawn, row) in drawn.iter_mut().zip(rows) {
        drawn.loses = view.loses_data(row.object);
        if row.more == 0 {
            drawn.story = story(view, row.outcome);
            let others = row.outcome.waits_for.iter().take(MOST_NAMED).filter(|other| view.shown(**other).is_some());
            waits.extend(others.map(|other| [objects.add(row.object), objects.add(*other)]));
        }
    }
    let (headline, sentence) = verdict::in_words(view, &view.verdict());
    let sentence = sentence.iter().map(|run| run.text.as_str()).collect();
    let verdict = Some(PictureVerdict::of(headline, sentence));
    View { name, verdict, rows: drawn, waits, sections: sections(view, fold, false).drawn() }
}

pub(super) fn of_result(result: VerdictResult) -> Fate {
    match result {
        VerdictResult::External => Fate::Warning,
        VerdictResult::Nothing => Fate::Untouched,
        other => verdict::headline(other).fate(),
    }
}

/// What the line of an object has no room for.
fn story(view: &PlanView<'_>, outcome: &Outcome) -> Vec<Section> {
    let mut why: Vec<String> = Vec::new();
    why.extend(view.because(outcome.object, outcome.because.as_ref()).map(|because| because.message));
    why.extend(outcome.held_by.iter().map(|blocker| held_by(view, outcome, *blocker)));
    let objects = outcome.waits_for.iter().take(MOST_NAMED);
    why.extend(objects.map(|object| format!("waits for {}", view.name_below(*object, outcome.object))));
    let more = outcome.waits_for.len().saturating_sub(MOST_NAMED);
    why.extend((more > 0).then(|| format!("… {more} more")));
    let effects = view.effects_of(outcome.object).map(|effect| effect.message.to_string()).collect();
    let afterwards = outcome.afterwards.iter().map(|after| describe_reaction(view.snapshot, *after)).collect();
    let sections = [(Heading::Why, why), (Heading::Lost, effects), (Heading::Then, afterwards)];
    sections.into_iter().filter_map(|(heading, lines)| section(heading, lines)).collect()
}
