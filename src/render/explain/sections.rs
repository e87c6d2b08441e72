//! The sections below the trees of an explanation: a label and its text.

use rustc_hash::FxHashSet;

use crate::render::{
    doctor::{Told, cures, fate_of},
    sections::{Heading, Said, Sections},
    states::FINDING,
    words::kinds_of,
};
use gc_core::{
    doctor::{
        Explanation, Finding,
        explain::{Attention, FinalizerStory, Follows, RootCause},
    },
    model::{ObjectId, Rule, Symbol, facts::Condition},
    simulate::{BlockedBy, Next, NoAction, OutcomeKind, State, Uncertainty},
    wording::{count, thousands},
};

use super::{
    ExplainView, text,
    words::{self, NAMED, Removed, because_of, is_idle, is_later, removed},
};

/// At most this many causes are shown.
const TOLD: usize = 5;
/// At most this many finalizers are described.
const FINALIZERS: usize = 20;

/// All that is said below the verdict on an object.
pub(super) fn sections(view: &ExplainView<'_>, explanation: &Explanation, wide: bool, now: Option<i64>) -> Sections {
    let mut sections = Sections::default();
    let verdict = words::verdict(view, explanation, now);
    for (heading, said) in &verdict.rest {
        sections.add(*heading, [said.as_str()]);
    }
    if text::tells_waits(explanation) {
        let waits = text::waiting(view, explanation, wide).lines();
        sections.add(Heading::Why, [Said::Lines(format!("{}:", text::WAITS_FOR), waits)]);
    }
    if !explanation.references.is_empty() {
        let owners = text::owners(view, explanation, wide).lines();
        sections.add(Heading::Why, [Said::Lines(format!("{}:", text::OWNED_BY), owners)]);
    }
    sections.add(Heading::Why, finalizers(view, explanation));
    sections.add(Heading::Why, causes(view, explanation));
    sections.add(Heading::Why, conditions(view, explanation, &verdict.sentence));

    sections.add(Heading::Then, next(explanation, wide));
    sections.add(Heading::Then, end(view, explanation));
    sections.add(Heading::Then, removed_later(view, explanation));
    sections.add(Heading::Then, Some(explanation.end.lost.trim_start()).filter(|lost| !lost.is_empty()));
    // The verdict tells of all others.
    let stuck = explanation.later.as_ref().filter(|later| later.state == State::Stuck);
    let in_the_end = stuck.map(|later| match &explanation.end.refused {
        Some(_) => later.lost.trim_start().to_owned(),
        None => words::in_the_end(view, explanation.object, later).1.join(" "),
    });
    sections.add(Heading::Then, in_the_end.filter(|said| !said.is_empty()));
    sections.add(Heading::Then, explanation.conditions.iter().map(|condition| format!("if {}.", condition.message)));

    sections.add(Heading::Note, explanation.findings.iter().map(|finding| finding_told(view, explanation, finding)));
    sections.add(Heading::Note, content(view, explanation));
    sections.add(Heading::Note, dependents(view, explanation));
    sections.add(Heading::Note, waiting(view, explanation));
    if wide {
        sections.add(Heading::Note, rules(explanation));
    }
    let mut told = Told::default();
    for finding in &explanation.findings {
        sections.add(Heading::Next, mended(view, explanation, finding, wide, &mut told));
    }
    sections
}

fn finalizers(view: &ExplainView<'_>, explanation: &Explanation) -> Vec<Said> {
    let own =
        explanation.causes.iter().filter(|cause| cause.objects == [explanation.object] && !is_told(explanation, cause));
    let of_causes: FxHashSet<Symbol> = own.flat_map(|cause| &cause.held_by).filter_map(|it| it.finalizer()).collect();
    let all = explanation.finalizers.iter().filter(|story| !of_causes.contains(&story.finalizer));
    let all: Vec<&FinalizerStory> = all.collect();
    let describe =
        |story: &FinalizerStory| format!("finalizer {}: {}", view.snapshot.text(story.finalizer), story.message);
    let more = all.len().saturating_sub(FINALIZERS);
    let more = (more > 0).then(|| format!("and {} more; -o json has all", thousands(more)));
    all.into_iter().take(FINALIZERS).map(describe).chain(more).map(Into::into).collect()
}

/// What is in a Namespace.
fn content(view: &ExplainView<'_>, explanation: &Explanation) -> Vec<Said> {
    if !view.snapshot.is_namespace(explanation.object) {
        return Vec::new();
    }
    let kinds = kinds_of(view.snapshot, explanation.content.iter().map(|kind| (kind.resource, kind.count)), usize::MAX);
    let all = explanation.content.iter().map(|kind| kind.count).sum();
    vec![match all {
        0 => "it contains nothing that was read".to_owned().into(),
        all => format!("it contains {}: {kinds}", count(all, "object", "objects")).into(),
    }]
}

fn dependents(view: &ExplainView<'_>, explanation: &Explanation) -> Vec<Said> {
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
        // It is not deleted in the foreground, and goes without them.
        _ if explanation.terminating && !dependents.waits => {
            Some(format!("dependents: {kinds}; none blocks it: it is not deleted in the foreground"))
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

fn waiting(view: &ExplainView<'_>, explanation: &Explanation) -> Vec<Said> {
    match explanation.waited_for_by.as_slice() {
        [] => Vec::new(),
        [one] => vec![format!("{} waits for it", view.name(*one)).into()],
        many => vec![format!("{} wait for it, directly or indirectly", view.names(many, NAMED)).into()],
    }
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
    let waits = explanation.dependents.waits && !explanation.dependents.blocking.is_empty() && !why.is_empty();
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
    Some(format!("{controller} {deletes} it{when}: {why}"))
}

/// A finding, and what follows from it.
fn finding_told(view: &ExplainView<'_>, explanation: &Explanation, finding: &Finding) -> String {
    let others: Vec<ObjectId> = finding.objects.iter().copied().filter(|id| *id != explanation.object).collect();
    let whose = match (finding.objects.contains(&explanation.object), others.len()) {
        (true, 0) => String::new(),
        (true, some) => format!(" (and {some} more)"),
        (false, _) => format!(" ({})", view.names(&others, 1)),
    };
    let (word, code) = (fate_of(finding.severity).text(), finding.code.name());
    format!("{FINDING} {word} {code}{whose}: {} {}", finding.message, finding.consequence).trim_end().to_owned()
}

/// What mends a finding: with what comes first, the first remedy that mends it, or all.
fn mended<'f>(
    view: &ExplainView<'_>,
    explanation: &Explanation,
    finding: &'f Finding,
    wide: bool,
    told: &mut Told<'f>,
) -> Vec<Said> {
    let most = finding.remedies.iter().position(|remedy| !remedy.comes_first).map_or(1, |mends| mends + 1);
    let mut said = cures(finding, if wide { usize::MAX } else { most }, view.doctor, told);
    if let (Some(Said::Text(first)), 2..) = (said.first_mut(), explanation.findings.len()) {
        let is_its = finding.objects.contains(&explanation.object);
        let of = if is_its { String::new() } else { format!(" of {}", view.names(&finding.objects, 1)) };
        *first = format!("{}{of}: {first}", finding.code.name());
    }
    said
}
