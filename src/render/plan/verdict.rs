//! The verdict on a plan in words: the first line of its text, and `verdict` in its documents.

use std::{
    collections::BTreeSet,
    io::{self, Write},
};

use rustc_hash::FxHashSet;
use serde::Serialize;

use crate::{
    model::{ObjectId, Origin, Symbol},
    plan::{Outcome, OutcomeKind, ReasonKind, Summary, Uncertainty, Verdict, VerdictReason, VerdictResult},
    render::{
        lines::{self, Run},
        output::TextOptions,
        style::Tone,
    },
    simulate::{BlockedBy, Cause, Finished, State, until_who_is_done},
    wording::{count, thousands},
};

use super::{
    PlanView,
    details::held,
    gates::describe as describe_gate,
    names::{by_kind, finished_pods, name, stuck},
    obstacles::{describe as describe_obstacle, word as obstacle_word},
};

/// A verdict as text shows it: a word, its tone, and a sentence.
pub(super) struct VerdictText {
    pub word: &'static str,
    pub tone: Tone,
    pub sentence: Vec<Run>,
    /// The verb that the sentence lacks, because it is the word.
    verb: Option<&'static str>,
}

impl VerdictText {
    pub(super) fn new(word: &'static str, tone: Tone, sentence: impl Into<String>) -> Self {
        VerdictText { word, tone, sentence: vec![Run::plain(sentence)], verb: None }
    }

    /// The same with losses first.
    pub(super) fn after(self, losses: Vec<Run>) -> Self {
        VerdictText { sentence: [losses, self.sentence].concat(), ..self }
    }
}

/// The verdict on a plan as JSON shows it. It names objects by text, so that it outlives the snapshot.
#[derive(Clone, Debug, Serialize)]
pub struct VerdictJson {
    result: &'static str,
    certain: bool,
    message: String,
    counts: CountsJson,
    reasons: Vec<ReasonJson>,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct CountsJson {
    deleted: usize,
    terminating: usize,
    stuck: usize,
    deleted_later: usize,
    uncertain: usize,
    data_lost: usize,
    external: usize,
}

#[derive(Clone, Debug, Serialize)]
struct ReasonJson {
    kind: &'static str,
    result: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    objects: Option<usize>,
    message: String,
}

impl VerdictJson {
    /// The verdict in one sentence.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The verdict on the plan in view.
    pub fn of(view: &PlanView<'_>) -> Self {
        let verdict = view.verdict();
        let counts = verdict.counts;
        let message = message(view, &verdict);
        VerdictJson {
            result: verdict.result.name(),
            certain: verdict.certain,
            message,
            counts: CountsJson {
                deleted: counts.deleted,
                terminating: counts.terminating,
                stuck: counts.stuck,
                deleted_later: counts.later,
                uncertain: counts.uncertain,
                data_lost: counts.data_lost,
                external: counts.external,
            },
            reasons: verdict
                .reasons
                .iter()
                .map(|reason| ReasonJson {
                    kind: reason.kind.name(),
                    result: reason.result.name(),
                    objects: (!reason.objects.is_empty()).then_some(reason.objects.len()),
                    message: reason_in_words(view, reason),
                })
                .collect(),
        }
    }
}

/// The verdict in one sentence, without the word for its result: what refuses the delete, then what it would do.
fn message(view: &PlanView<'_>, verdict: &Verdict) -> String {
    let obstacles = obstacles(verdict).map(|reason| format!("{}.", reason_in_words(view, reason)));
    let gates = view.gates.iter().map(|violation| describe_gate(view.snapshot, violation));
    let text = describe(view, verdict);
    let sentence: String = text.sentence.iter().map(|run| run.text.as_str()).collect();
    let sentence = match text.verb {
        Some(verb) => format!("{verb} {sentence}"),
        None => capitalized(&sentence),
    };
    gates.chain(obstacles).chain([sentence]).collect::<Vec<_>>().join(" ")
}

fn capitalized(sentence: &str) -> String {
    let mut chars = sentence.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// Reasons that are neither gates, nor outcomes or effects: each has a line of its own.
fn obstacles(verdict: &Verdict) -> impl Iterator<Item = &VerdictReason> {
    let obstacle =
        |kind| matches!(kind, ReasonKind::Admission | ReasonKind::Webhook | ReasonKind::Api | ReasonKind::Collector);
    verdict.reasons.iter().filter(move |reason| obstacle(reason.kind))
}

/// Writes the violated gates, the obstacles and the verdict.
pub(super) fn write(
    view: &PlanView<'_>,
    verdict: VerdictText,
    options: &TextOptions<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    for violation in view.gates {
        lines::write_sentence("GATE", Tone::Error, &describe_gate(view.snapshot, violation), options, out)?;
    }
    for obstacle in &view.plan.obstacles {
        let sentence = describe_obstacle(view, obstacle);
        lines::write_sentence(obstacle_word(obstacle), Tone::Error, &sentence, options, out)?;
    }
    lines::write_runs(verdict.word, verdict.tone, &verdict.sentence, options, out)
}

/// The word for a result; gates and obstacles have lines of their own.
pub(super) fn word(result: VerdictResult) -> &'static str {
    match result {
        VerdictResult::Refused => "REFUSED",
        VerdictResult::Stuck => "STUCK",
        VerdictResult::Depends => "DEPENDS ON CONTROLLER",
        VerdictResult::Waits => "WAITS",
        VerdictResult::Unsure => "UNSURE",
        VerdictResult::DataLoss => "DATA LOSS",
        VerdictResult::External | VerdictResult::Deletes => "DELETES",
        VerdictResult::Nothing => "NOTHING",
    }
}

fn tone(result: VerdictResult) -> Tone {
    match result {
        VerdictResult::Refused | VerdictResult::Stuck | VerdictResult::DataLoss => Tone::Error,
        VerdictResult::Depends | VerdictResult::Waits | VerdictResult::Unsure | VerdictResult::Nothing => Tone::Warning,
        VerdictResult::External | VerdictResult::Deletes => Tone::Strong,
    }
}

/// The verdict on a plan as its text shows it: what it would do if nothing refused it.
pub(super) fn describe(view: &PlanView<'_>, verdict: &Verdict) -> VerdictText {
    let refuses = |reason: &&VerdictReason| reason.result != VerdictResult::Refused;
    let nothing = view.plan.outcomes.is_empty();
    let result = match verdict.reasons.iter().find(refuses) {
        Some(reason) => reason.result,
        None if nothing => VerdictResult::Nothing,
        None => VerdictResult::Deletes,
    };
    // A doubt doesn't hide a loss.
    let loses_data = verdict.reasons_of(ReasonKind::DataLoss).next().is_some();
    let result = if result == VerdictResult::Unsure && loses_data { VerdictResult::DataLoss } else { result };
    let targets = &view.plan.request.targets;
    if nothing {
        let terminating = targets.iter().all(|target| view.snapshot.object(*target).terminating());
        let already = match (terminating, targets.len()) {
            (false, _) => "",
            (true, 1) => ", which is already being deleted",
            (true, _) => ", which are already being deleted",
        };
        let waits = view.plan.anyway.iter().find(|outcome| targets.contains(&outcome.object));
        let why = waits.map(|outcome| held(view, outcome)).filter(|why| terminating && !why.is_empty());
        let why = why.map(|why| format!(": {why}")).unwrap_or_default();
        let sentence = format!("this delete does not change {}{already}{why}.", listed(view, targets));
        return VerdictText::new(word(VerdictResult::Nothing), Tone::Warning, sentence);
    }
    let losses = losses_first(view, verdict, result);
    let course = course(view, verdict);
    // Without losses and doubts, the word is the verb of a shorter sentence.
    if losses.is_empty() && result == VerdictResult::Deletes && view.plan.summary.deleted > 0 {
        let objects = count(view.plan.summary.deleted, "object", "objects");
        let sentence = format!("{objects} ({}).{}", gone_by_kind(view), course.more);
        return VerdictText { verb: Some("Deletes"), ..VerdictText::new(word(result), tone(result), sentence) };
    }
    let (verb, begin) = match (losses.is_empty(), word(result)) {
        (true, _) => (None, course.objects),
        (false, "DELETES") => (Some("Deletes"), capitalized(&course.objects)),
        (false, _) => (None, capitalized(&course.objects)),
    };
    let sentence = format!("{begin}.{}", course.more);
    VerdictText { verb, ..VerdictText::new(word(result), tone(result), sentence).after(losses) }
}

/// The losses as the beginning of a longer sentence.
pub(super) fn losses_first(view: &PlanView<'_>, verdict: &Verdict, result: VerdictResult) -> Vec<Run> {
    let mut sentence = losses(view, verdict, result);
    if !sentence.is_empty() {
        sentence.push(Run::plain(" "));
    }
    sentence
}

/// What is lost beyond the objects, the worst first; empty if nothing is: `deletes Namespace/shop: 5
/// PersistentVolumeClaims lose their data, 1 load balancer is released.`
fn losses(view: &PlanView<'_>, verdict: &Verdict, result: VerdictResult) -> Vec<Run> {
    let lost = verdict.reasons.iter().filter_map(|reason| Some((loss_tone(reason.kind)?, loss(view, reason))));
    let lost: Vec<(Tone, String)> = lost.collect();
    if lost.is_empty() {
        return Vec::new();
    }
    let targets = &view.plan.request.targets;
    let is = |kind: OutcomeKind| {
        targets.iter().all(|target| view.outcome(*target).is_some_and(|outcome| outcome.kind == kind))
    };
    let what = format!("{}{}", listed(view, targets), with_instances(view));
    let begin = match targets.len() {
        0 => String::new(),
        _ if word(result) == "DELETES" => format!("{what}: "),
        _ if is(OutcomeKind::Deleted) => format!("deletes {what}: "),
        1 if is(OutcomeKind::Terminating) => format!("{what} stays Terminating: "),
        _ if is(OutcomeKind::Terminating) => format!("{what} stay Terminating: "),
        _ => String::new(),
    };
    let mut runs = vec![Run::plain(begin)];
    let last = lost.len() - 1;
    for (index, (tone, text)) in lost.into_iter().enumerate() {
        runs.push(Run { tone, text });
        runs.push(Run::plain(if index == last { "." } else { ", " }));
    }
    runs
}

/// The instances that go with deleted CRDs: ` with 12 Shops`.
fn with_instances(view: &PlanView<'_>) -> String {
    let is_instance =
        |outcome: &&Outcome| matches!(outcome.because, Some(Cause::Definition(_))) && outcome.kind.removes();
    let instances = view.plan.outcomes.iter().filter(is_instance).map(|outcome| outcome.object);
    let kinds = by_kind(view, instances);
    if kinds.is_empty() { kinds } else { format!(" with {kinds}") }
}

/// The tone of what is lost; `None` if the reason isn't about a loss.
fn loss_tone(kind: ReasonKind) -> Option<Tone> {
    match kind {
        ReasonKind::DataLoss | ReasonKind::ExternalDeleted | ReasonKind::ObjectsDeleted => Some(Tone::Error),
        ReasonKind::LoadBalancer => Some(Tone::Warning),
        _ => None,
    }
}

/// `5 PersistentVolumeClaims lose their data`
fn loss(view: &PlanView<'_>, reason: &VerdictReason) -> String {
    let one = reason.objects.len() == 1;
    let kinds = by_kind(view, reason.objects.iter().copied());
    // Whether they are deleted in the most likely order.
    let sure = reason.objects.iter().any(|object| view.outcome(*object).is_none_or(|outcome| outcome.kind.removes()));
    let may = |verb: &'static str, plural: &'static str, bare: &'static str| match (sure, one) {
        (false, _) => format!("may {bare}"),
        (true, true) => verb.to_owned(),
        (true, false) => plural.to_owned(),
    };
    // Contents of a Namespace without outcomes are deleted after its pods.
    let later = if reason.objects.iter().all(|object| view.outcome(*object).is_none()) { " later" } else { "" };
    let loss = match reason.kind {
        ReasonKind::DataLoss if one => format!("{kinds} {} its data", may("loses", "lose", "lose")),
        ReasonKind::DataLoss => format!("{kinds} {} their data", may("loses", "lose", "lose")),
        ReasonKind::ExternalDeleted => {
            let resource = if one { "external resource" } else { "external resources" };
            format!("the {resource} of {kinds} {} deleted", may("is", "are", "be"))
        }
        ReasonKind::ObjectsDeleted => format!("{kinds} also {} other objects", may("deletes", "delete", "delete")),
        ReasonKind::LoadBalancer => {
            let number = count(reason.objects.len(), "load balancer", "load balancers");
            format!("{number} {} released", may("is", "are", "be"))
        }
        _ => format!("the pods on {kinds} {} deleted, too", may("are", "are", "be")),
    };
    loss + later
}

/// What happens to the objects.
struct Course {
    /// How many are deleted, and how many stay, without a full stop.
    objects: String,
    /// Further sentences, each with a space before it.
    more: String,
}

fn course(view: &PlanView<'_>, verdict: &Verdict) -> Course {
    let summary = view.plan.summary;
    let (_, _, unsure) = uncertain(view);
    let hidden = verdict.reasons_of(ReasonKind::Gap).any(|reason| reason.objects.is_empty());
    let hidden = match &view.snapshot.origin {
        _ if !hidden => "",
        Origin::Dump { .. } => " What the dump leaves out may follow, too.",
        Origin::Cluster { .. } => " Lists that could not be read may hide more objects.",
    };
    let survivors = summary.orphaned + summary.detached + summary.unblocked;
    let stay = match survivors {
        0 => String::new(),
        _ => format!(" {} with changed owner references.", count(survivors, "survives", "survive")),
    };
    // The second end counts them.
    let spared = if view.plan.then.is_some() { 0 } else { verdict.counts.later };
    let spared = match spared {
        0 => String::new(),
        1 => " 1 more is deleted only after the pods.".to_owned(),
        more => format!(" {} more are deleted only after the pods.", thousands(more)),
    };
    let then = then(view);
    let more = format!("{spared}{then}{stay}{unsure}{hidden}{}{}", unread_effects(view, verdict), recreated(summary));
    let objects = if summary.stuck > 0 {
        let total = summary.deleted + summary.terminating;
        format!(
            "{} of {total} objects {}, {} Terminating{}",
            summary.deleted,
            if summary.deleted == 1 { "is deleted" } else { "are deleted" },
            count(summary.terminating, "stays", "stay"),
            root_causes(view),
        )
    } else if summary.terminating > 0 {
        format!(
            "{}; {} Terminating until {}",
            objects_go(summary, &gone_by_kind(view)),
            count(summary.terminating, "stays", "stay"),
            until(view, &view.plan.outcomes)
        )
    } else {
        objects_go(summary, &gone_by_kind(view))
    };
    Course { objects, more }
}

/// What is deleted once others have done their part, in a sentence that starts with a space.
pub(super) fn then(view: &PlanView<'_>) -> String {
    let removed = |outcome: &&Outcome| outcome.kind == OutcomeKind::Deleted;
    let first: FxHashSet<ObjectId> = view.plan.outcomes.iter().filter(removed).map(|outcome| outcome.object).collect();
    let second = view.plan.then.iter().flat_map(|then| &then.outcomes).filter(removed).map(|outcome| outcome.object);
    let second: Vec<ObjectId> = second.filter(|object| !first.contains(object)).collect();
    match second.len() {
        0 => String::new(),
        number => {
            let when = match (view.plan.summary.stuck, root_causes(view).is_empty()) {
                (0, _) => "Then",
                (_, true) => "Once that is mended,",
                (_, false) => "Once that is removed,",
            };
            let objects = count(number, "more object is deleted", "more objects are deleted");
            let when = match blocked_later(view) {
                None => when.to_owned(),
                Some(blocked) => format!("{when} {blocked}. Then"),
            };
            format!(" {when} {objects} ({}).", by_kind(view, second.into_iter()))
        }
    }
}

/// What stays Terminating on the way to the second end, because nobody is known to finish it: `Replica/orders stays
/// Terminating until nobody.other.io/f is removed`.
fn blocked_later(view: &PlanView<'_>) -> Option<String> {
    let blocked: Vec<&Finished> = view.plan.once_later().filter(|it| it.state != State::Waiting).collect();
    let first = *blocked.first()?;
    let mut holders: Vec<&str> = blocked.iter().flat_map(|it| &it.blockers).map(|it| it.name(view.snapshot)).collect();
    holders.sort_unstable();
    holders.dedup();
    let what = match blocked.len() {
        1 => format!("{} stays Terminating", name(view, first.object, None)),
        number => format!("{} of them stay Terminating", thousands(number)),
    };
    Some(match holders.as_slice() {
        [one] if first.blockers.iter().all(|it| it.finalizer().is_some()) => format!("{what} until {one} is removed"),
        _ => format!("{what} until others have done their part"),
    })
}

/// How many outcomes depend on the order of events, how many on what could not be read or simulated to its end or is
/// assumed, and all of that in words.
pub(super) fn uncertain(view: &PlanView<'_>) -> (usize, usize, String) {
    let because_of = |wanted: &[Uncertainty]| {
        // That objects depend on their controllers is already said.
        let depends = |outcome: &&Outcome| outcome.is_assumed() && outcome.state == Some(State::Unknown);
        let uncertain = view.plan.outcomes.iter().filter(|outcome| !depends(outcome));
        uncertain.filter_map(|outcome| outcome.uncertain).filter(|uncertainty| wanted.contains(uncertainty)).count()
    };
    let varying = because_of(&[Uncertainty::Order]);
    let unread = because_of(&[Uncertainty::Gap, Uncertainty::Bound]);
    let assumed = because_of(&[Uncertainty::Assumption, Uncertainty::Refusal]);
    let mut unsure = String::new();
    if varying > 0 {
        unsure += &format!(" The result for {} depends on the order of events.", count(varying, "object", "objects"));
    }
    let outcomes = |number: usize| count(number, "outcome is", "outcomes are");
    if unread > 0 {
        unsure +=
            &format!(" {} not certain, because something could not be read or simulated to the end.", outcomes(unread));
    }
    if assumed > 0 {
        unsure += &format!(" {} on an assumption that may be wrong.", count(assumed, "outcome rests", "outcomes rest"));
    }
    (varying, unread + assumed, unsure)
}

fn unread_effects(view: &PlanView<'_>, verdict: &Verdict) -> String {
    let objects = verdict.reasons_of(ReasonKind::UnknownEffect).flat_map(|reason| reason.objects.iter().copied());
    let kinds = by_kind(view, objects);
    if kinds.is_empty() { String::new() } else { format!(" What is lost with {kinds} could not be read.") }
}

/// How many objects are recreated, in a sentence that starts with a space.
pub(super) fn recreated(summary: Summary) -> String {
    match summary.recreated {
        0 => String::new(),
        number => {
            let recreated = count(
                number,
                "of the deleted objects is recreated by its controller",
                "of the deleted objects are recreated by their controllers",
            );
            format!(" {recreated}.")
        }
    }
}

/// A reason in words, without a full stop.
fn reason_in_words(view: &PlanView<'_>, reason: &VerdictReason) -> String {
    if let Some(message) = &reason.message {
        return message.clone();
    }
    let number = reason.objects.len();
    let objects = count(number, "object", "objects");
    let stays = if number == 1 { "stays" } else { "stay" };
    let outcomes = count(number, "outcome", "outcomes");
    let depends = if number == 1 { "depends" } else { "depend" };
    match reason.kind {
        ReasonKind::Gate => {
            let gates = view.gates.iter().map(|violation| describe_gate(view.snapshot, violation));
            gates.collect::<Vec<_>>().join(" ").trim_end_matches('.').to_owned()
        }
        ReasonKind::Webhook | ReasonKind::Admission | ReasonKind::Api | ReasonKind::Collector => {
            let of_kind =
                view.plan.obstacles.iter().filter(|obstacle| ReasonKind::of_obstacle(obstacle.kind) == reason.kind);
            let sentences: Vec<String> = of_kind.map(|obstacle| describe_obstacle(view, obstacle)).collect();
            sentences.join(" ").trim_end_matches('.').to_owned()
        }
        ReasonKind::Stuck => format!("{objects} {stays} Terminating{}", root_causes(view)),
        ReasonKind::Depends | ReasonKind::Waits => {
            format!("{objects} {stays} Terminating until {}", until(view, &view.plan.outcomes))
        }
        ReasonKind::Order => format!("{outcomes} {depends} on the order of events"),
        ReasonKind::Gap => format!("{outcomes} {depends} on something that could not be read"),
        ReasonKind::Bound => format!("{outcomes} could not be simulated to the end"),
        ReasonKind::Assumption => {
            format!("{} on an assumption that may be wrong", count(number, "outcome rests", "outcomes rest"))
        }
        ReasonKind::UnknownEffect => {
            format!("what is lost with {} could not be read", by_kind(view, reason.objects.iter().copied()))
        }
        _ => loss(view, reason),
    }
}

/// The word if objects wait and none is stuck; it depends on whether the controllers that they wait for are known to
/// run.
pub(super) fn waiting_word<'a>(outcomes: impl IntoIterator<Item = &'a Outcome>) -> &'static str {
    word(if outcomes.into_iter().any(Outcome::depends_on_controller) {
        VerdictResult::Depends
    } else {
        VerdictResult::Waits
    })
}

/// Who has to do what before the waiting objects are deleted, as a clause after "until".
pub(super) fn until<'a>(view: &PlanView<'_>, outcomes: impl IntoIterator<Item = &'a Outcome>) -> String {
    let waits = |outcome: &&Outcome| outcome.state.is_some_and(|state| state != State::Stuck);
    let waiting: Vec<&Outcome> = outcomes.into_iter().filter(waits).collect();
    let held_by = waiting.iter().map(|outcome| (outcome.object, outcome.held_by.as_slice()));
    until_who_is_done(view.snapshot, &view.plan.controllers, held_by).unwrap_or_else(|| {
        let waits: FxHashSet<ObjectId> = waiting.iter().map(|outcome| outcome.object).collect();
        let mut seen: FxHashSet<ObjectId> = FxHashSet::default();
        let all = waiting.iter().flat_map(|outcome| &outcome.waits_for).copied();
        let first: Vec<ObjectId> = all.filter(|object| !waits.contains(object) && seen.insert(*object)).collect();
        match first.as_slice() {
            [] => "what they wait for is deleted".to_owned(),
            [one] => format!("{} is deleted", name(view, *one, None)),
            [one, rest @ ..] => format!("{} and {} more are deleted", name(view, *one, None), rest.len()),
        }
    })
}

fn objects_go(summary: Summary, kinds: &str) -> String {
    match summary.deleted {
        0 => "no object is deleted".to_owned(),
        1 => format!("1 object is deleted ({kinds})"),
        deleted => format!("{} objects are deleted ({kinds})", thousands(deleted)),
    }
}

fn gone_by_kind(view: &PlanView<'_>) -> String {
    let gone = view.plan.outcomes.iter().filter(|outcome| outcome.kind == OutcomeKind::Deleted);
    by_kind(view, gone.map(|outcome| outcome.object))
}

/// The root causes of all stuck objects: finalizers, kubelets, objects that are never deleted.
pub(super) fn root_causes(view: &PlanView<'_>) -> String {
    let mut finalizers: Vec<&str> = Vec::new();
    let mut finished: BTreeSet<ObjectId> = BTreeSet::new();
    for outcome in stuck(view) {
        let pods = finished_pods(view, outcome);
        if !pods.is_empty() && pods.len() == outcome.waits_for.len() {
            finished.extend(pods);
            continue;
        }
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
        [] => match finished.first() {
            Some(pod) if finished.len() == 1 => {
                format!(" until {}, which has finished, is deleted", name(view, *pod, None))
            }
            Some(_) => format!(" until {} finished pods are deleted", finished.len()),
            None => String::new(),
        },
        [one] => format!(" because of the finalizer {one}"),
        many => format!(" because of {} finalizers", many.len()),
    }
}

fn listed(view: &PlanView<'_>, objects: &[ObjectId]) -> String {
    match objects {
        [one] => name(view, *one, None),
        many => format!("the {} targets", many.len()),
    }
}
