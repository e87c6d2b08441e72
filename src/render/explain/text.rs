//! Explanations as text: the verdict, what the object waits for, its owners, and the outcome.

use std::io::{self, Write};

use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;

use crate::render::{
    doctor::{Told, all_of_code, cures, fate_of},
    lines::{self, Line},
    outline::{Outline, OutlineRow, Subject},
    output::{Output, TextOptions},
    picture::{Picture, PictureOptions},
    sections::{Heading, Said, Sections, more_lines},
    states::{FINDING, Headline, Tone},
    words::kinds_of,
};
use gc_core::{
    command_line::{ShellCommand, WriteKind},
    doctor::{
        Code, Explanation, Finding, Remedy,
        explain::{
            Attention, Blocks, ConditionOutcome, FinalizerStory, Follows, OwnerState, ReferenceStory, Remover,
            RootCause, Trigger, Waiting,
        },
    },
    document::{Head, Named},
    model::{ObjectId, Reference, Rule, Symbol, effects::Severity, facts::Condition},
    server::Propagation,
    simulate::{BlockedBy, Cause, Controllers, Next, NoAction, OutcomeKind, State, Uncertainty, says_why},
    tree::ResolvedReference,
    wording::{count, each_once, thousands},
};

use super::{
    ExplainView,
    words::{self, NAMED, Removed, Verdict, because_of, is_idle, is_later, removed},
};

/// Explanations as JSON or YAML (see `docs/schema`).
#[derive(Debug, Serialize)]
struct ExplanationDocument<'a> {
    #[serde(flatten)]
    head: Head,
    explanations: Named<'a, Vec<ExplanationJson<'a>>>,
}

#[derive(Debug, Serialize)]
struct ExplanationJson<'a> {
    verdict: VerdictJson,
    #[serde(flatten)]
    explanation: &'a Explanation,
}

#[derive(Debug, Serialize)]
struct VerdictJson {
    result: &'static str,
    /// The first line of the text.
    message: String,
}

impl Output for ExplainView<'_> {
    /// One document with a list of explanations, one for each target.
    fn document(&self) -> impl Serialize {
        let head = Head::of("Explanation", &self.gaps(), self.snapshot);
        let told = |explanation| {
            let Verdict { headline, sentence, .. } = words::verdict(self, explanation, None);
            let verdict =
                VerdictJson { result: headline.into_str(), message: format!("{}: {sentence}", headline.word()) };
            ExplanationJson { verdict, explanation }
        };
        let explanations = self.explanations.iter().map(told).collect();
        ExplanationDocument { head, explanations: Named(self.snapshot, explanations) }
    }

    fn picture(&self, options: &PictureOptions<'_>) -> Option<Picture> {
        Some(super::picture(self, options))
    }

    /// Writes every explanation.
    fn write(&self, options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
        for (index, explanation) in self.explanations.iter().enumerate() {
            if index > 0 {
                writeln!(out)?;
            }
            self.write_one(explanation, options, out)?;
        }
        Ok(())
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
        sections(self, explanation, options.wide, options.now).write_below(options, out)
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
    // What the API server says of the object itself stands below in full.
    let is_below = |holder: &&BlockedBy| line.object == explained && **holder == BlockedBy::Said;
    for holder in line.held_by.iter().filter(|holder| !is_below(holder)) {
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
        let doubted =
            || "the namespace controller deletes it, unless the API server refuses that: see below".to_owned();
        remarks.extend(line.doubted.then(doubted));
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
    if remarks.is_empty() && view.snapshot.facts.is_being_taken(line.object) {
        remarks.push("is being taken of it".to_owned());
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
        let is_said = |message: &&String| message.ends_with(word) || message.as_str() == "it is missing";
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

/// At most this many causes are shown.
const TOLD: usize = 5;
/// At most this many finalizers are described.
const FINALIZERS: usize = 20;

/// At most this many kinds of what is in a Namespace are counted, unless the output is wide.
const KINDS: usize = 3;
/// At most this many findings that are about other objects are told in full, unless the output is wide.
const IN_FULL: usize = 3;
/// At most this many findings have a line that only names them.
const LISTED: usize = 6;

/// How much is told of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Detail {
    /// Nothing happens to it: what is as usual is left out.
    Fine,
    Usual,
    Wide,
}

/// All that is said below the verdict on an object.
pub(super) fn sections(view: &ExplainView<'_>, explanation: &Explanation, wide: bool, now: Option<i64>) -> Sections {
    let mut sections = Sections::default();
    let verdict = words::verdict(view, explanation, now);
    let detail = match verdict.headline {
        _ if wide => Detail::Wide,
        Headline::Ok => Detail::Fine,
        _ => Detail::Usual,
    };
    for (heading, said) in &verdict.rest {
        sections.add(*heading, [said.as_str()]);
    }
    if tells_waits(explanation) {
        let waits = waiting(view, explanation, wide).lines();
        sections.add(Heading::Why, [Said::Lines(format!("{}:", WAITS_FOR), waits)]);
    }
    if !explanation.references.is_empty() {
        let owners = owners(view, explanation, wide).lines();
        sections.add(Heading::Why, [Said::Lines(format!("{}:", OWNED_BY), owners)]);
    }
    sections.add(Heading::Why, finalizers(view, explanation, detail));
    sections.add(Heading::Why, causes(view, explanation));
    sections.add(Heading::Why, conditions(view, explanation, &verdict.sentence));
    sections.add(Heading::Why, failed(view, explanation));
    sections.add(Heading::Note, released(view, explanation));

    sections.add(Heading::Then, next(explanation, wide));
    sections.add(Heading::Then, end(view, explanation));
    sections.add(Heading::Then, removed_later(view, explanation));
    let untold = |lost: &str| Some(lost.trim_start().to_owned()).filter(|lost| !verdict.says(lost));
    sections.add(Heading::Then, untold(&explanation.end.lost));
    sections.add(Heading::Then, untold(&explanation.end.outside));
    // The verdict tells of all others.
    let is_told = explanation.end.refused.is_none() && words::leads_on(view, explanation).is_some();
    let in_the_end = explanation.later.as_ref().filter(|later| later.state == State::Stuck && !is_told);
    let in_the_end = in_the_end.and_then(|later| match &explanation.end.refused {
        Some(_) => untold(&later.lost),
        None => Some(words::in_the_end(view, explanation.object, later).1.join(" ")),
    });
    sections.add(Heading::Then, in_the_end);
    let is_told = |trigger: &Trigger| {
        detail != Detail::Fine || !matches!(trigger, Trigger::Deleted { propagation: Propagation::Orphan, .. })
    };
    let is_released = |trigger: &Trigger| matches!(trigger, Trigger::Released { .. });
    // That no finalizer alone is enough is implied in what comes of all together, which stands last.
    let last = explanation.conditions.iter().rposition(|condition| is_released(&condition.what));
    let conditions = explanation.conditions.iter().enumerate().filter(|(place, condition)| {
        let is_vain = matches!(condition.then, ConditionOutcome::Terminating(_)) && is_released(&condition.what);
        is_told(&condition.what) && (!is_vain || last == Some(*place))
    });
    sections.add(Heading::Then, conditions.map(|(_, condition)| format!("if {}.", condition.message)));

    add_findings(view, explanation, detail, &mut sections);
    sections.add(Heading::Note, content(view, explanation, wide));
    sections.add(Heading::Note, dependents(view, explanation, detail));
    sections.add(Heading::Note, waited_for_by(view, explanation));
    if wide {
        sections.add(Heading::Note, rules(explanation));
    }
    sections
}

/// What is wrong with the object, and what mends that. Of what is wrong with others, no more than its name if nothing
/// happens to this one.
fn add_findings(view: &ExplainView<'_>, explanation: &Explanation, detail: Detail, sections: &mut Sections) {
    let is_own = |finding: &&Finding| finding.objects.contains(&explanation.object);
    let (own, others): (Vec<&Finding>, Vec<&Finding>) = explanation.findings.iter().partition(is_own);
    let others_in_full = match detail {
        Detail::Fine => 0,
        Detail::Usual => IN_FULL,
        Detail::Wide => usize::MAX,
    };
    let (others, listed) = others.split_at(others_in_full.min(others.len()));
    let mut told = Told::default();
    let mut has_more = !listed.is_empty();
    for finding in own.into_iter().chain(others.iter().copied()) {
        // What it waits for stands above.
        let goes_on = finding.code == Code::DeletionInProgress && finding.severity == Severity::Note;
        let is_said = goes_on && is_own(&finding);
        let said = (!is_said).then(|| finding_told(view, explanation, finding, detail, sections));
        sections.add(Heading::Note, said);
        let (said, is_cut) = mended(view, explanation, finding, detail, &mut told);
        sections.add(Heading::Next, said);
        if detail == Detail::Wide && is_cut {
            sections.add(Heading::Next, all_of_code(view.doctor, finding.code));
        }
        has_more |= is_cut;
    }
    let some = if listed.len() > LISTED + 1 { LISTED } else { listed.len() };
    let lines = listed[..some].iter().map(|finding| {
        let (word, code) = (fate_of(finding.severity).text(), finding.code.name());
        format!("{FINDING} {word} {code}: {}", view.names(&finding.objects, 1))
    });
    sections.add(Heading::Note, lines);
    sections.add(Heading::Note, (some < listed.len()).then(|| more_lines(listed.len() - some)));
    if detail != Detail::Wide && has_more {
        let is_first = sections.is_empty(Heading::Next);
        sections.add(Heading::Next, (!is_first).then(|| Said::from("all that is wrong, and what mends it:")));
        sections.add(Heading::Next, [Said::command(view.doctor)]);
    }
}

fn finalizers(view: &ExplainView<'_>, explanation: &Explanation, detail: Detail) -> Vec<Said> {
    let own =
        explanation.causes.iter().filter(|cause| cause.objects == [explanation.object] && !is_told(explanation, cause));
    let of_causes: FxHashSet<Symbol> = own.flat_map(|cause| &cause.held_by).filter_map(|it| it.finalizer()).collect();
    let own_row = explanation.waits.iter().find(|line| line.object == explanation.object && tells_waits(explanation));
    let in_tree = |story: &FinalizerStory| {
        own_row.is_some_and(|row| row.held_by.iter().any(|by| by.finalizer() == Some(story.finalizer)))
    };
    // Kubernetes' own do their work, as long as nothing says otherwise.
    let is_usual = |story: &FinalizerStory| match (detail, story.by) {
        (Detail::Wide, _) => false,
        (Detail::Fine, by) => matches!(by, Remover::Collector | Remover::CleanUp | Remover::Known(_)),
        (Detail::Usual, Remover::Collector) => tells_waits(explanation),
        // The tree says who removes it.
        (Detail::Usual, by) => matches!(by, Remover::Known(_)) && in_tree(story),
    };
    let all = explanation.finalizers.iter();
    let all = all.filter(|story| !of_causes.contains(&story.finalizer) && !is_usual(story));
    let all: Vec<&FinalizerStory> = all.collect();
    let describe =
        |story: &FinalizerStory| format!("finalizer {}: {}", view.snapshot.text(story.finalizer), story.message);
    let more = all.len().saturating_sub(FINALIZERS);
    let more = (more > 0).then(|| format!("and {} more; -o json has all", thousands(more)));
    all.into_iter().take(FINALIZERS).map(describe).chain(more).map(Into::into).collect()
}

/// Why the data of a volume could not be deleted, unless a finalizer or a finding says it.
fn failed(view: &ExplainView<'_>, explanation: &Explanation) -> Option<String> {
    let failure = view.snapshot.facts.volume(explanation.object)?.failure.as_deref()?;
    let quotes = |story: &FinalizerStory| says_why(view.snapshot, explanation.object, story.finalizer).is_some();
    let in_tree = tells_waits(explanation) && explanation.finalizers.iter().any(quotes);
    let stories = explanation.finalizers.iter().map(|story| &story.message);
    let mut told = stories.chain(explanation.findings.iter().map(|finding| &finding.message));
    let is_told = in_tree || told.any(|told| told.contains(failure));
    (!is_told).then(|| format!("it is Failed: {failure}"))
}

/// What becomes of a volume that has lost its claim, and keeps its data.
fn released(view: &ExplainView<'_>, explanation: &Explanation) -> Option<&'static str> {
    let volume = view.snapshot.facts.volume(explanation.object).filter(|_| !explanation.terminating)?;
    let is_released = volume.phase.as_deref() == Some("Released");
    (is_released && volume.reclaim_policy.as_deref() == Some("Retain"))
        .then_some("its claim is gone, and its data is kept: another claim can have it once spec.claimRef is removed")
}

/// What is in a Namespace.
fn content(view: &ExplainView<'_>, explanation: &Explanation, wide: bool) -> Vec<Said> {
    if !view.snapshot.is_namespace(explanation.object) {
        return Vec::new();
    }
    let most = if wide { usize::MAX } else { KINDS };
    let kinds = kinds_of(view.snapshot, explanation.content.iter().map(|kind| (kind.resource, kind.count)), most);
    let all = explanation.content.iter().map(|kind| kind.count).sum();
    vec![match all {
        0 => "it contains nothing that was read".to_owned().into(),
        1 => format!("it contains {kinds}").into(),
        all => format!("it contains {}: {kinds}", count(all, "object", "objects")).into(),
    }]
}

fn dependents(view: &ExplainView<'_>, explanation: &Explanation, detail: Detail) -> Vec<Said> {
    let dependents = &explanation.dependents;
    let mut said: Vec<Said> = Vec::new();
    let kinds = kinds_of(view.snapshot, dependents.kinds.iter().map(|kind| (kind.resource, kind.count)), usize::MAX);
    // Of the dependents that are waited for, those that are never deleted come first.
    let blocking = match &explanation.next.next {
        Next::WaitForDependents(blocking) => view.names(blocking, NAMED),
        _ => view.names(&dependents.blocking, NAMED),
    };
    let is_one = dependents.count == 1;
    let told = match dependents.blocking.len() {
        _ if kinds.is_empty() => None,
        // What it waits for shows them.
        1.. if dependents.waits && detail != Detail::Wide && tells_waits(explanation) => None,
        // It is not about to be deleted at all.
        _ if detail == Detail::Fine => Some(format!("dependents: {kinds}")),
        // It is not deleted in the foreground, and goes without them.
        _ if explanation.terminating && !dependents.waits => {
            Some(format!("dependents: {kinds}; the collector doesn't wait for them"))
        }
        0 if dependents.waits => Some(format!("dependents: {kinds}; none blocks it")),
        1 if dependents.waits && is_one => Some(format!("dependent: {blocking}, which blocks it now")),
        _ if dependents.waits => Some(format!("dependents: {kinds}; blocked now by {blocking}")),
        // Nothing is being deleted.
        0 => Some(format!("dependents: {kinds}; a foreground delete waits for none of them")),
        1 if is_one => Some(format!("dependent: {blocking}; a foreground delete waits for it")),
        some => Some(format!("dependents: {kinds}; a foreground delete waits for {}: {blocking}", thousands(some))),
    };
    said.extend(told.map(Said::from));
    if !dependents.unseen.is_empty() {
        let unseen = count(dependents.unseen.len(), "dependent is", "dependents are");
        let explanation = format!(
            "{unseen} invisible to the collector, which does not watch their kind: {}",
            view.names(&dependents.unseen, NAMED)
        );
        said.push(explanation.into());
    }
    said
}

/// What the API server says keeps a Terminating Namespace or CustomResourceDefinition, and the first line doesn't say.
fn conditions(view: &ExplainView<'_>, explanation: &Explanation, sentence: &str) -> Vec<Said> {
    if !explanation.terminating {
        return Vec::new();
    }
    let said = view.snapshot.facts.said_to_keep(explanation.object).into_iter().map(Condition::in_words);
    said.filter(|words| !sentence.contains(words)).map(|words| format!("{words}.").into()).collect()
}

fn waited_for_by(view: &ExplainView<'_>, explanation: &Explanation) -> Option<String> {
    let waits = match explanation.waited_for_by.as_slice() {
        [] => return None,
        [one] => format!("{} waits for it", view.name(*one)),
        many => format!("{} wait for it, directly or indirectly", view.names(many, NAMED)),
    };
    let lost = &explanation.lost_above;
    Some(if lost.is_empty() { waits } else { format!("{waits}. Once it is deleted:{lost}") })
}

/// Whether a root cause is nothing but finalizers of the object itself, which are described already.
fn is_told(explanation: &Explanation, cause: &RootCause) -> bool {
    let is_said = cause.held_by.contains(&BlockedBy::Said);
    let finalizers = is_said || cause.held_by.iter().all(|holder| matches!(holder, BlockedBy::Finalizer(_)));
    cause.objects == [explanation.object] && finalizers && !cause.held_by.is_empty() && !collector_is_at_fault(cause)
}

fn causes(view: &ExplainView<'_>, explanation: &Explanation) -> Vec<Said> {
    let mut said: Vec<Said> = Vec::new();
    for cause in explanation.causes.iter().filter(|cause| !is_told(explanation, cause)).take(TOLD) {
        let of_itself = cause.objects.as_slice() == [explanation.object];
        let name = cause.objects.first().map(|object| view.name(*object)).unwrap_or_default();
        said.push(
            if of_itself || cause.objects.len() > 1 {
                cause.message.clone()
            } else {
                format!("{name}: {}", cause.message)
            }
            .into(),
        );
    }
    let more = explanation.causes.len().saturating_sub(TOLD);
    said.extend(
        (more > 0)
            .then(|| Said::from(format!("and {} (-o json lists them all)", count(more, "more cause", "more causes")))),
    );
    said
}

/// Whether the root cause is a finalizer that the collector itself removes.
fn collector_is_at_fault(cause: &RootCause) -> bool {
    cause.held_by.iter().any(|holder| matches!(holder, BlockedBy::Finalizer(Symbol::FOREGROUND | Symbol::ORPHAN)))
}

/// What the collector does next, and of an object that is being deleted what becomes of its dependents. Without `wide`
/// nothing if what stands above says it: the owners that exist, that there are none, or what the object waits for.
fn next(explanation: &Explanation, wide: bool) -> Vec<Said> {
    let is_told = match explanation.next.next {
        Next::Nothing(NoAction::OnItsWayOut) => {
            let Some(Follows { message, keep }) = &explanation.next.follows else { return Vec::new() };
            let keep = keep.iter().flat_map(|(keep, again)| [Said::from(keep.clone()), Said::command(again)]);
            return std::iter::once(Said::from(message.clone())).chain(keep).collect();
        }
        Next::Nothing(NoAction::OwnersSolid | NoAction::NoOwners) | Next::WaitForDependents(_) => !wide,
        _ => false,
    };
    if is_told {
        return Vec::new();
    }
    let message = &explanation.next.message;
    let mut said = message.strip_prefix("Nothing: ").unwrap_or(message).to_owned();
    // The verdict says why.
    if let Some(told) = explanation.end.refused.as_ref().and_then(|why| said.strip_suffix(&format!(": {why}.")))
        && said.matches(" refuses that").count() == 1
    {
        said = format!("{told}.");
    }
    // Objects that the collector never examines, that have no owners, or that only wait are already described in full.
    let waits = matches!(explanation.next.next, Next::WaitForDependents(_) | Next::Nothing(NoAction::NoOwners));
    let refused =
        explanation.next.next.writes() && explanation.end.outcome.is_none() && explanation.end.uncertain.is_none();
    let tells_all = waits || refused || is_idle(explanation) || explanation.next.attention == Attention::Never;
    if !tells_all {
        said = format!("{said} {}", explanation.next.attention.sentence());
    }
    vec![said.into()]
}

/// The rules behind the reference statuses and the next step, each once: title and where to read it.
fn rules(explanation: &Explanation) -> Vec<Said> {
    let mut rules: Vec<Rule> = Vec::new();
    for rule in explanation.references.iter().map(|story| story.rule).chain([explanation.next.rule]) {
        if !rules.contains(&rule) {
            rules.push(rule);
        }
    }
    rules
        .into_iter()
        .flat_map(|rule| [Said::from(format!("rule: {}", rule.title())), Said::command(rule.url())])
        .collect()
}

/// The projected outcome, if it says more than the next step.
fn end(view: &ExplainView<'_>, explanation: &Explanation) -> Option<String> {
    if explanation.end.uncertain == Some(Uncertainty::Order) {
        return Some(
            "it may also stay unchanged: a waiting owner may be deleted before the collector processes this \
             object"
                .to_owned(),
        );
    }
    if explanation.next.next.writes() || explanation.end.uncertain.is_some() {
        return None;
    }
    let why = because_of(view, explanation);
    // What happens once its dependents are gone is not so yet.
    let waits = explanation.dependents.waits && !explanation.dependents.blocking.is_empty() && !why.is_empty()
        || explanation.end.cause == Some(Cause::NamespaceEmpty) && !explanation.content.is_empty();
    match explanation.end.outcome {
        Some(OutcomeKind::Deleted) if why.is_empty() => Some("it is deleted".to_owned()),
        Some(OutcomeKind::Deleted) if waits => Some(format!("it is deleted once {why}")),
        Some(_) if waits => Some(format!("it is changed once {why}")),
        Some(OutcomeKind::Deleted) => Some(format!("it is deleted: {why}")),
        Some(_) => Some(format!("it is changed: {why}")),
        None => None,
    }
}

/// Which controller removes it once something has happened.
fn removed_later(view: &ExplainView<'_>, explanation: &Explanation) -> Option<String> {
    let removal = explanation.removal.as_ref().filter(|removal| is_later(removal))?;
    let Removed { controller, deletes, when, why } = removed(view, removal, None);
    let it = match removal.object == explanation.object {
        true => "it".to_owned(),
        false => format!("{}, with which it goes", view.names(&[removal.object], 1)),
    };
    Some(format!("{controller} {deletes} {it}{when}: {why}"))
}

/// A finding. What follows for this object stands elsewhere, so only what a person has to know before the remedy below
/// is told of that: of what prevents this and much else, what can't be undone; all if the output is wide.
fn finding_told(
    view: &ExplainView<'_>,
    explanation: &Explanation,
    finding: &Finding,
    detail: Detail,
    sections: &Sections,
) -> String {
    let others: Vec<ObjectId> = finding.objects.iter().copied().filter(|id| *id != explanation.object).collect();
    let is_its = finding.objects.contains(&explanation.object);
    let whose = match (is_its, others.len()) {
        (_, 0) => String::new(),
        (true, some) => format!(" (and {some} more)"),
        (false, _) => format!(" ({})", view.names(&others, 1)),
    };
    let (word, code) = (fate_of(finding.severity).text(), finding.code.name());
    let prevents_others = !is_its && finding.code.prevents();
    let follows = match detail {
        Detail::Wide => finding.follows(),
        _ if !decides(finding) => String::new(),
        _ if prevents_others => finding.irreversible.join(" "),
        _ => finding.follows(),
    };
    let message = shortened(&finding.message, sections);
    format!("{FINDING} {word} {code}{whose}: {message} {follows}").trim_end().to_owned()
}

/// A message without the sentences and what stands in parentheses at its end, if that is said above.
fn shortened(message: &str, sections: &Sections) -> String {
    let is_said = |(_, rest): &(&str, &str)| {
        let rest = rest.trim_end_matches('.');
        let (first, others) = rest.split_at(rest.chars().next().map_or(0, char::len_utf8));
        sections.says(Heading::Why, &(first.to_lowercase() + others))
    };
    let parts = message.match_indices(". ").map(|(at, end)| (&message[..=at], &message[at + end.len()..]));
    let message = parts.into_iter().find(is_said).map_or(message, |(begin, _)| begin);
    let added = message.split_once(" (").and_then(|(begin, rest)| Some((begin, rest.strip_suffix(").")?)));
    match added {
        Some((begin, added)) if sections.says(Heading::Why, added) => format!("{begin}."),
        _ => message.to_owned(),
    }
}

/// How many remedies of a finding are shown, unless the output is wide: what comes first, and what then mends it.
fn shown(finding: &Finding) -> usize {
    finding.remedies.iter().position(|remedy| !remedy.comes_first()).map_or(finding.remedies.len(), |mends| mends + 1)
}

/// Whether what mends it stands above already.
fn stands_above(finding: &Finding, told: &Told<'_>) -> bool {
    let mut shown = finding.remedies.iter().take(shown(finding)).peekable();
    shown.peek().is_some() && shown.all(|remedy| told.contains(&remedy.commands[..]))
}

/// Whether a person has to choose between keeping and losing something before what is shown is done.
fn decides(finding: &Finding) -> bool {
    finding.remedies.iter().take(shown(finding)).any(|remedy| remedy.decides)
}

/// Which other objects than the explained one a remedy writes to, but for those that are named beside it.
fn written(view: &ExplainView<'_>, object: ObjectId, remedy: &Remedy, named: &[ObjectId]) -> String {
    let writes: Vec<(ObjectId, WriteKind)> = remedy.commands.iter().flat_map(ShellCommand::writes).collect();
    let is_told = |other: &ObjectId| named == [*other] || remedy.what.contains(&view.snapshot.short_name(*other));
    let others = writes.iter().map(|(other, _)| *other).filter(|other| *other != object);
    let others: Vec<ObjectId> = each_once(others).filter(|other| !is_told(other)).collect();
    let verb = if writes.iter().all(|(_, kind)| *kind == WriteKind::Delete) { "deletes" } else { "changes" };
    let and = if writes.iter().any(|(own, _)| *own == object) { " this object and" } else { "" };
    if others.is_empty() { String::new() } else { format!(" ({verb}{and} {})", view.names(&others, NAMED)) }
}

/// What mends a finding, and whether that is not all. Unless the output is wide, what stands above is not repeated.
fn mended<'f>(
    view: &ExplainView<'_>,
    explanation: &Explanation,
    finding: &'f Finding,
    detail: Detail,
    told: &mut Told<'f>,
) -> (Vec<Said>, bool) {
    let most = if detail == Detail::Wide { usize::MAX } else { shown(finding) };
    let is_its = finding.objects.contains(&explanation.object);
    if detail != Detail::Wide && stands_above(finding, told) {
        return (Vec::new(), true);
    }
    let named = if is_its || explanation.findings.len() < 2 { &[][..] } else { finding.objects.as_slice() };
    let (mut said, is_cut) = cures(finding, most, told, |remedy| written(view, explanation.object, remedy, named));
    told.extend(finding.remedies.iter().take(most).map(|remedy| &remedy.commands[..]));
    if let (Some(Said::Text(first)), 2..) = (said.first_mut(), explanation.findings.len()) {
        let of = match is_its || finding.objects.is_empty() {
            true => String::new(),
            false => format!(" of {}", view.names(&finding.objects, 1)),
        };
        *first = format!("{}{of}: {first}", finding.code.name());
    }
    (said, is_cut)
}
