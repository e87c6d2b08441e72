//! Explanations as text: the verdict, what the object waits for, its owners, and the outcome.

use std::io::{self, Write};

use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;

use crate::render::{
    lines::{self, Line},
    outline::{Outline, OutlineRow, Subject},
    output::{Output, TextOptions},
    picture::{Picture, PictureOptions},
    style::Tone,
};
use gc_core::{
    doctor::{
        Explanation,
        explain::{Blocks, OwnerState, ReferenceStory, RootCause, Waiting},
    },
    document::{Head, Named},
    model::{ObjectId, Reference},
    simulate::{Controllers, State},
    tree::ResolvedReference,
    wording::{count, thousands},
};

use super::{
    ExplainView, picture, sections,
    words::{self, Verdict},
};

/// Explanations as JSON or YAML (see `docs/schema`).
#[derive(Debug, Serialize)]
struct ExplanationDocument<'a> {
    #[serde(flatten)]
    head: Head,
    explanations: Named<'a, &'a [Explanation]>,
}

impl Output for ExplainView<'_> {
    /// One document with a list of explanations, one for each target.
    fn document(&self) -> impl Serialize {
        let head = Head::of("Explanation", &self.gaps(), self.snapshot);
        ExplanationDocument { head, explanations: Named(self.snapshot, self.explanations) }
    }

    fn picture(&self, options: &PictureOptions<'_>) -> Option<Picture> {
        Some(picture::picture(self, options))
    }

    fn write(&self, options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
        write(self, options, out)
    }

    fn write_verdict(&self, options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
        self.explanations.iter().try_for_each(|explanation| write_verdict(self, explanation, options, out))
    }
}

/// What the trees are.
pub(super) const WAITS_FOR: &str = "waits for";
pub(super) const OWNED_BY: &str = "owned by";
/// At most this many blockers are shown below each line, unless the output is wide.
const SHOWN: usize = 5;

/// Writes every explanation.
pub(super) fn write(view: &ExplainView<'_>, options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
    for (index, explanation) in view.explanations.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        view.write_one(explanation, options, out)?;
    }
    Ok(())
}

/// Writes what comes of an object, in a line.
pub(super) fn write_verdict(
    view: &ExplainView<'_>,
    explanation: &Explanation,
    options: &TextOptions<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let Verdict { headline, sentence, .. } = words::verdict(view, explanation, options.now);
    lines::write_sentence(headline.word(), headline.tone(), &sentence, options, out)
}

impl ExplainView<'_> {
    fn write_one(&self, explanation: &Explanation, options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
        write_verdict(self, explanation, options, out)?;
        sections::sections(self, explanation, options.wide, options.now).write_below(options, out)
    }
}

/// Whether there is a tree of what the object waits for. The finalizers of one that waits for no other are described
/// below, unless it only takes time.
pub(super) fn tells_waits(explanation: &Explanation) -> bool {
    let takes_time = explanation.causes.is_empty() && explanation.waits.iter().any(|line| !line.held_by.is_empty());
    explanation.waits.len() > 1 || takes_time
}

/// What an object waits for.
pub(super) fn waiting(view: &ExplainView<'_>, explanation: &Explanation, wide: bool) -> Outline {
    let causes = explanation.causes.iter().flat_map(|cause| cause.objects.iter().map(move |object| (*object, cause)));
    let causes: FxHashMap<ObjectId, &RootCause> = causes.collect();
    let row = |waiting: &Waiting| {
        let (fate, word) = words::waiting(view.snapshot, waiting);
        let line = Line::new(&view.name(waiting.object)).becomes(fate, fate.column_of(word));
        let line = line.remarked(Tone::Plain, remarks(view, explanation.object, &causes, waiting));
        let subject = Subject::Object(waiting.object);
        OutlineRow { depth: waiting.depth, subject, points: waiting.above, more: 0, line }
    };
    Outline { rows: folded(&explanation.waits, wide, row), ..Outline::default() }
}

/// The lines to show. Unless the output is wide, each line has only the first few below it, and depth is limited. Lines
/// that never end come first, so that those that do are omitted; the root causes of a long chain are described
/// separately.
fn folded(lines: &[Waiting], wide: bool, row: impl Fn(&Waiting) -> OutlineRow) -> Vec<OutlineRow> {
    let (most, deepest) = if wide { (usize::MAX, u32::MAX) } else { (SHOWN, DEEPEST) };
    let mut rows: Vec<OutlineRow> = Vec::new();
    // For every line above: how many lines are below it so far, and how many of those are omitted.
    let mut above: Vec<(usize, usize)> = Vec::new();
    let mut hidden: Option<u32> = None;
    let close = |above: &mut Vec<(usize, usize)>, depth: usize, rows: &mut Vec<OutlineRow>| {
        while above.len() > depth {
            let below = above.len() as u32;
            if let Some((_, left_out)) = above.pop().filter(|(_, left_out)| *left_out > 0) {
                let line = Line::quiet(&format!("… {} more", thousands(left_out)));
                rows.push(OutlineRow { depth: below, subject: Subject::Several, points: false, more: 0, line });
            }
        }
    };
    for line in lines {
        if hidden.is_some_and(|depth| line.depth > depth) {
            above.last_mut().into_iter().for_each(|(_, left_out)| *left_out += 1);
            continue;
        }
        hidden = None;
        close(&mut above, line.depth as usize, &mut rows);
        if let Some((below, left_out)) = above.last_mut() {
            *below += 1;
            if *below > most || line.depth > deepest {
                *left_out += 1;
                hidden = Some(line.depth);
                continue;
            }
        }
        rows.push(row(line));
        above.push((0, 0));
    }
    close(&mut above, 0, &mut rows);
    rows
}

fn remarks(
    view: &ExplainView<'_>,
    explained: ObjectId,
    causes: &FxHashMap<ObjectId, &RootCause>,
    line: &Waiting,
) -> Vec<String> {
    let mut remarks: Vec<String> = Vec::new();
    for holder in &line.held_by {
        let state = if line.goes { State::Waiting } else { line.state };
        // The root causes below say more about controllers.
        remarks.push(holder.describe(view.snapshot, line.object, state, &Controllers::default()));
    }
    if !view.snapshot.object(line.object).terminating() {
        let is_owned = !view.snapshot.object(line.object).owners.is_empty();
        let goes = match is_owned && !view.snapshot.is_namespace(explained) {
            true => "the collector deletes it",
            false => "it is deleted with what it is in",
        };
        remarks.extend(line.goes.then(|| goes.to_owned()));
        remarks
            .extend(line.lets_go.then(|| "another owner keeps it, and the blocking reference is removed".to_owned()));
    }
    if let Some(cause) = causes.get(&line.object).filter(|_| remarks.is_empty()) {
        remarks.push(if cause.objects.len() > 1 { "in a cycle".to_owned() } else { cause.message.clone() });
    }
    if remarks.is_empty() && words::is_user(view.snapshot, line) {
        let finished = view.snapshot.facts.has_finished(line.object);
        remarks.push(if finished { "has finished, and uses it" } else { "uses it" }.to_owned());
    }
    if line.above {
        remarks = vec!["see above".to_owned()];
    } else if line.waits_for.len() > SHOWN {
        remarks.push(format!("waits for {}", count(line.waits_for.len(), "object", "objects")));
    }
    remarks
}

/// The levels of owners or blockers that are shown, unless the output is wide.
const DEEPEST: u32 = 8;

/// One owner.
struct OwnerRow<'a> {
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

/// An object's owners, as a tree that grows upwards: its own references, and below each the owners of that owner.
pub(super) fn owners(view: &ExplainView<'_>, explanation: &Explanation, wide: bool) -> Outline {
    let row = |row: &OwnerRow<'_>| OutlineRow {
        depth: row.depth,
        subject: Subject::Owner(*row.reference),
        points: row.above,
        more: 0,
        line: owner_line(view, explanation.object, row, wide),
    };
    Outline { rows: owner_rows(view, explanation, wide).iter().map(row).collect(), ..Outline::default() }
}

fn owner_rows<'a>(view: &ExplainView<'a>, explanation: &'a Explanation, wide: bool) -> Vec<OwnerRow<'a>> {
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
        rows.push(OwnerRow { depth, holder, reference, link, story, above, cut });
    }
    rows
}

fn owner_line(view: &ExplainView<'_>, object: ObjectId, row: &OwnerRow<'_>, wide: bool) -> Line {
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
    Line::new(&name).becomes(fate, (tone, word.to_owned())).remarked(Tone::Plain, remarks)
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
