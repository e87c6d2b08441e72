//! The owners of an object as a tree that grows upwards: the object's own references, and below each the owners of that
//! owner.

use rustc_hash::FxHashSet;

use crate::{
    doctor::{
        Explanation,
        explain::{Blocks, OwnerState, ReferenceStory},
    },
    model::{ObjectId, Reference},
    render::{guides::Guides, lines::Line, style::Tone},
    tree::ResolvedReference,
};

use super::{ExplainView, Subject, TreeLine, words};

/// The levels of owners or blockers that are shown, unless the output is wide.
pub(super) const DEEPEST: u32 = 8;

/// One owner.
struct Row<'a> {
    depth: u32,
    holder: ObjectId,
    reference: &'a Reference,
    link: ResolvedReference,
    /// How the reference is explained; `None` for owners of owners.
    story: Option<&'a ReferenceStory>,
    /// Already shown above.
    above: bool,
    /// Its owners are omitted.
    cut: bool,
}

/// The lines of an object's owners.
pub(super) fn lines(view: &ExplainView<'_>, explanation: &Explanation, wide: bool) -> Vec<TreeLine> {
    let rows = rows(view, explanation, wide);
    let guides = Guides::of(rows.iter().map(|row| row.depth));
    let line = |(row, guide): (&Row<'_>, String)| TreeLine {
        depth: row.depth,
        subject: Subject::Owner(*row.reference),
        points: row.above,
        line: line(view, explanation.object, row, guide, wide),
    };
    rows.iter().zip(guides).map(line).collect()
}

fn rows<'a>(view: &ExplainView<'a>, explanation: &'a Explanation, wide: bool) -> Vec<Row<'a>> {
    let mut rows = Vec::new();
    let mut seen: FxHashSet<ObjectId> = FxHashSet::from_iter([explanation.object]);
    let mut open: Vec<(ObjectId, usize, u32)> =
        (0..explanation.references.len()).rev().map(|place| (explanation.object, place, 0)).collect();
    while let Some((holder, place, depth)) = open.pop() {
        let object = view.snapshot.object(holder);
        let Some(reference) = object.owners.get(place) else { continue };
        let link = ResolvedReference::of(view.snapshot, view.graph, object, reference);
        let owner = link.found.filter(|_| link.standing.valid());
        let above = owner.is_some_and(|owner| !seen.insert(owner));
        let more = owner.filter(|_| !above).map_or(0, |owner| view.snapshot.object(owner).owners.len());
        let cut = !wide && depth >= DEEPEST && more > 0;
        if let Some(owner) = owner.filter(|_| !above && !cut) {
            open.extend((0..more).rev().map(|place| (owner, place, depth + 1)));
        }
        let story = explanation.references.get(place).filter(|_| depth == 0);
        rows.push(Row { depth, holder, reference, link, story, above, cut });
    }
    rows
}

fn line(view: &ExplainView<'_>, object: ObjectId, row: &Row<'_>, guide: String, wide: bool) -> Line {
    let text = |symbol| view.snapshot.text(symbol);
    let (word, tone, fate) = words::standing(row.link.standing);
    let owner = row.link.found.filter(|_| row.link.standing.valid());
    let name = match owner {
        Some(owner) if view.snapshot.object(owner).namespace == view.snapshot.object(row.holder).namespace => {
            view.snapshot.short_name(owner)
        }
        Some(owner) => view.name(owner),
        None => format!("{}/{}", text(row.reference.kind), text(row.reference.name)),
    };
    let mut remarks: Vec<String> = Vec::new();
    if let Some(story) = row.story {
        // The word says that an owner exists, or doesn't.
        let is_said = |message: &&String| message.ends_with(word) || message.as_str() == "it does not exist";
        remarks.extend(Some(&story.message).filter(|message| !is_said(message)).cloned());
        remarks.extend((row.reference.is_controller()).then(|| "controller".to_owned()));
        remarks.extend(blocks(story).map(str::to_owned));
        if wide {
            remarks.push(format!("{} uid {}", text(row.reference.api_version), text(row.reference.uid)));
        }
    }
    if row.above {
        remarks.push(if owner == Some(object) { "itself: a cycle" } else { "see above" }.to_owned());
    }
    if row.cut {
        remarks.push("has more owners: see kubectl gc tree --owners".to_owned());
    }
    let line = Line::new(&name).becomes(fate, (tone, word.to_owned())).remarked(Tone::Plain, remarks);
    Line { guide, ..line }
}

fn blocks(story: &ReferenceStory) -> Option<&'static str> {
    match (story.blocks, story.owner) {
        // Nearly every reference would, and only a foreground delete of the owner asks.
        (Blocks::No | Blocks::Nobody, _) | (Blocks::Would, Some(OwnerState::Live)) => None,
        (Blocks::Unseen, _) => Some("meant to block it, but the collector does not see that"),
        (Blocks::Would, _) => Some("would block it"),
        (Blocks::Now, _) => Some("blocks it now"),
    }
}
