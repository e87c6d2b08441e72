//! The verdict on a plan or a sweep in words: the first line of its text, and `verdict` in its documents.

use std::{
    borrow::Cow,
    collections::BTreeSet,
    io::{self, Write},
};

use rustc_hash::FxHashSet;
use serde::Serialize;
use unicode_width::UnicodeWidthStr;

use crate::render::{
    escape::visible,
    lines,
    output::TextOptions,
    states::{Headline, LONGEST, Tone, Toned},
};
use gc_core::{
    model::{
        ObjectId, Symbol,
        effects::{EffectKind, When, known_finalizer},
    },
    plan::{
        Afterwards, MORE_OBJECTS, NoteKind, Outcome, OutcomeKind, ReasonKind, Verdict, VerdictCounts, VerdictReason,
        VerdictResult,
    },
    simulate::{BlockedBy, Obstacle, ObstacleKind, State, Uncertainty, foreign_spec_finalizers, until_who_is_done},
    wording::{count, some_of, thousands},
};

use super::{
    PlanView,
    forbidden::{describe_gate, describe_obstacle, gate_flag},
    then::{in_second_end, more_later},
};

/// A part of a verdict's sentence.
pub(super) struct Part {
    /// What it says, the longest first, each with how much is lost without it. The first that fits is taken, and the
    /// least is lost first.
    says: Vec<(u8, String)>,
    tone: Tone,
    /// What joins it to the part before.
    pub(super) joint: &'static str,
    /// Whether it begins with a number of objects, and doesn't say so: `2 stuck`. At the beginning, it must.
    of_objects: bool,
}

impl Part {
    /// `left_out` says how much is lost without it.
    pub(super) fn new(left_out: u8, says: impl Into<String>) -> Self {
        Part { says: vec![(left_out, says.into())], tone: Tone::Plain, joint: "; ", of_objects: false }
    }

    /// The same with something shorter to say, which loses this much.
    fn or(mut self, lost: u8, shorter: impl Into<String>) -> Self {
        let left_out = self.says.last_mut().map_or(lost, |(price, _)| std::mem::replace(price, lost));
        self.says.push((left_out, shorter.into()));
        self
    }

    /// The same, joined to the part before in this way.
    fn joined(self, joint: &'static str) -> Self {
        Part { joint, ..self }
    }

    /// The same as the next item of a list.
    pub(super) fn listed(self) -> Self {
        self.joined(", ")
    }

    /// The same, which begins with a number of objects.
    pub(super) fn of_objects(self) -> Self {
        Part { of_objects: true, ..self }
    }

    /// What it says: the longest that has not been dropped. `first`: at the beginning of the sentence.
    pub(super) fn text(&self, first: bool) -> Cow<'_, str> {
        let text = self.says.first().map_or("", |(_, text)| text);
        match text.split_once(' ').filter(|_| first && self.of_objects) {
            Some((number, rest)) => {
                let objects = if number == "1" { "object" } else { "objects" };
                Cow::Owned(format!("{number} {objects} {rest}"))
            }
            None => Cow::Borrowed(text),
        }
    }
}

/// The verdict on a plan as JSON shows it. It names objects by text, so that it outlives the snapshot.
#[derive(Clone, Debug, Serialize)]
pub struct VerdictJson {
    result: &'static str,
    certain: bool,
    message: String,
    counts: VerdictCounts,
    reasons: Vec<ReasonJson>,
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

    /// The verdict on the plan in view. What is Terminating already and stays so counts, too.
    pub fn of(view: &PlanView<'_>) -> Self {
        let verdict = view.verdict();
        let (headline, sentence) = in_words(view, &verdict);
        let sentence: String = sentence.iter().map(|(_, text)| text.as_str()).collect();
        let (counts, stays) = (verdict.counts, &view.plan.stays);
        let reason = |reason: &VerdictReason| ReasonJson {
            kind: reason.kind.name(),
            result: reason.result.name(),
            objects: (!reason.objects.is_empty()).then_some(reason.objects.len()),
            message: reason_in_words(view, reason),
        };
        VerdictJson {
            result: verdict.result.name(),
            certain: verdict.certain && counts.uncertain == 0,
            message: format!("{}: {sentence}", headline.word()),
            counts: VerdictCounts {
                terminating: counts.terminating + stays.len(),
                stuck: counts.stuck + stays.iter().filter(|stays| stays.state == Some(State::Stuck)).count(),
                ..counts
            },
            reasons: verdict.reasons.iter().map(reason).collect(),
        }
    }
}

/// The verdict on a plan or a sweep in one line of at most [`LONGEST`] characters: a word, and a sentence.
pub(super) fn in_words(view: &PlanView<'_>, verdict: &Verdict) -> (Headline, Vec<Toned>) {
    if view.is_sweep() { of_sweep(view, verdict) } else { of_plan(view, verdict) }
}

/// Writes the verdict.
pub(super) fn write_line(view: &PlanView<'_>, options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
    let (headline, sentence) = in_words(view, &view.verdict());
    let word = (headline.tone(), headline.word().to_owned());
    let runs: Vec<Toned> = [word, (Tone::Plain, ": ".to_owned())].into_iter().chain(sentence).collect();
    lines::write_runs(&runs, 0, options, out)
}

/// The word for a result.
pub(super) fn headline(result: VerdictResult) -> Headline {
    match result {
        VerdictResult::Refused => Headline::Refused,
        VerdictResult::TakesDown => Headline::TakesDown,
        VerdictResult::Stuck => Headline::Stuck,
        VerdictResult::Depends => Headline::Depends,
        VerdictResult::Waits => Headline::Waits,
        VerdictResult::Unsure => Headline::Unsure,
        VerdictResult::DataLoss => Headline::DataLoss,
        VerdictResult::External | VerdictResult::Deletes => Headline::Deletes,
        VerdictResult::Nothing => Headline::Nothing,
    }
}

/// The verdict on a plan: what can't be taken back first.
fn of_plan(view: &PlanView<'_>, verdict: &Verdict) -> (Headline, Vec<Toned>) {
    let targets = &view.plan.request.targets;
    let mut parts = Vec::new();
    let refused = refusals(view, verdict);
    let leaves_already =
        !targets.is_empty() && targets.iter().all(|target| view.snapshot.object(*target).terminating());
    let is_nothing = view.plan.outcomes.is_empty() && view.plan.stays.is_empty();
    if leaves_already || is_nothing && refused.is_empty() {
        let (named, are) = match targets.as_slice() {
            [one] => (view.name(*one), "is"),
            many => (format!("the {} targets", many.len()), "are"),
        };
        parts.push(match (leaves_already, targets.len()) {
            (true, _) => Part::new(10, format!("{named} {are} already being deleted")).or(2, "already being deleted"),
            (false, 1) => {
                Part::new(20, format!("this delete does not change {named}")).or(4, "the target stays as it is")
            }
            (false, _) => Part::new(20, format!("this delete does not change {named}")),
        });
    }
    let said = parts.len();
    if is_nothing && refused.is_empty() {
        parts.extend(perhaps_lost(view, verdict));
        parts.extend(uncertain(view, verdict));
    } else {
        parts.extend(taken_down(view));
        parts.extend(losses_of(view, verdict));
        parts.extend(perhaps_lost(view, verdict));
        parts.extend(course(view, verdict));
    }
    if let Some(next) = parts.get_mut(said).filter(|_| said > 0) {
        next.joint = "; ";
    }
    if let Some(first) = parts.first_mut().filter(|_| !refused.is_empty() && !view.plan.outcomes.is_empty()) {
        first.joint = "; otherwise ";
    }
    in_a_line(headline(verdict.result), refused.into_iter().chain(parts).collect())
}

/// The verdict on a sweep: what one pass of the collector would do.
fn of_sweep(view: &PlanView<'_>, verdict: &Verdict) -> (Headline, Vec<Toned>) {
    let result = verdict.result;
    let is_unsure = result == VerdictResult::Unsure;
    if view.plan.outcomes.is_empty() && (is_unsure || result == VerdictResult::Nothing) {
        let limit = if view.plan.request.only.is_some() { " among the objects it may change" } else { "" };
        let doubted = view.plan.notes.iter().any(|note| note.kind == NoteKind::DoubtedPath);
        let but = if doubted { ", but see Note" } else { "" };
        let nothing = Part::new(14, format!("nothing is left over{limit}{but}"));
        let headline = if is_unsure { Headline::Unsure } else { Headline::Ok };
        return in_a_line(headline, [nothing].into_iter().chain(uncertain(view, verdict)).collect());
    }
    let mut parts = losses_of(view, verdict);
    parts.extend(perhaps_lost(view, verdict));
    parts.extend(changes(view));
    parts.extend(holds(view));
    parts.extend(prevented(view));
    if parts.is_empty() {
        // An object that changes only in another order of events has an outcome, too.
        parts.push(Part::new(14, "nothing changes at once"));
    }
    parts.extend(more_later(view));
    parts.extend(come_back(view));
    parts.extend(uncertain(view, verdict));
    let is_mild = matches!(result, VerdictResult::Deletes | VerdictResult::External);
    let changes = is_mild && view.plan.summary.deleted == 0;
    in_a_line(if changes { Headline::Changes } else { headline(result) }, parts)
}

/// What the collector does at once: deletions, terminating owners that are removed, references.
fn changes(view: &PlanView<'_>) -> Vec<Part> {
    let of = |wanted: &dyn Fn(&Outcome) -> bool| view.plan.outcomes.iter().filter(|outcome| wanted(outcome)).count();
    let goes = |outcome: &Outcome| outcome.kind == OutcomeKind::Deleted;
    // Whether it is already terminating with a finalizer that the collector removes (R8.1, R8.2).
    let was_leaving = |outcome: &Outcome| view.snapshot.waits_for_dependents(outcome.object);
    let kept = |outcome: &Outcome| matches!(outcome.kind, OutcomeKind::Detached | OutcomeKind::Orphaned);
    let gone = [
        (of(&|outcome| goes(outcome) && !was_leaving(outcome)), 14, "object goes", "objects go"),
        (of(&|outcome| goes(outcome) && was_leaving(outcome)), 11, "deletion ends", "deletions end"),
    ];
    let changed = [
        (of(&kept), 10, "loses owner references", "lose owner references"),
        (
            of(&|outcome| outcome.kind == OutcomeKind::Unblocked),
            7,
            "no longer blocks its owner",
            "no longer block their owners",
        ),
    ];
    let part = |(number, left_out, one, many): (usize, u8, &str, &str)| {
        (number > 0).then(|| Part::new(left_out, count(number, one, many)).listed())
    };
    gone.into_iter().filter_map(part).chain(changed.into_iter().filter_map(part).map(Part::of_objects)).collect()
}

/// Joins parts to a line. Where it gets too long, what matters least is shortened, then left out.
fn in_a_line(headline: Headline, mut parts: Vec<Part>) -> (Headline, Vec<Toned>) {
    let length = |parts: &[Part]| -> usize {
        let each = parts.iter().enumerate();
        let joint = |at: usize, part: &Part| if at == 0 { ": ".len() } else { part.joint.len() };
        let lengths = each.map(|(at, part)| joint(at, part) + visible(&part.text(at == 0)).width());
        headline.word().width() + lengths.sum::<usize>() + ".".len()
    };
    let is_last = |parts: &[Part]| matches!(parts, [one] if one.says.len() < 2);
    while length(&parts) > LONGEST && !is_last(&parts) {
        let least = parts.iter().enumerate().min_by_key(|(_, part)| part.says[0].0).map_or(0, |(at, _)| at);
        parts[least].says.remove(0);
        parts.retain(|part| !part.says.is_empty());
    }
    let mut sentence: Vec<Toned> = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        sentence.extend((at > 0).then(|| (Tone::Plain, part.joint.to_owned())));
        sentence.push((part.tone, part.text(at == 0).into_owned()));
    }
    sentence.push((Tone::Plain, ".".to_owned()));
    (headline, sentence)
}

/// Who forbids the delete.
fn refusals(view: &PlanView<'_>, verdict: &Verdict) -> Vec<Part> {
    let mut parts = Vec::new();
    let gates: Vec<String> = view.gates.iter().map(|violation| gate_flag(view.snapshot, violation)).collect();
    parts.extend(match gates.as_slice() {
        [] => None,
        [one] => Some(Part::new(20, format!("{one} forbids it")).or(12, "a gate forbids it")),
        many => Some(Part::new(20, format!("{} gates forbid it", many.len()))),
    });
    let refuses = |reason: &&VerdictReason| reason.kind != ReasonKind::Gate && reason.result == VerdictResult::Refused;
    if let Some(reason) = verdict.reasons.iter().find(refuses) {
        let mut obstacles = view.plan.obstacles.iter();
        let obstacle = obstacles.find(|obstacle| ReasonKind::of_obstacle(obstacle.kind) == reason.kind);
        // What protects itself is named by what it prevents.
        let by = obstacle.map(|obstacle| obstacle.kind.object()).filter(|by| !view.plan.request.targets.contains(by));
        let refuses = "the API server refuses it";
        let named = by.map(|by| format!("{refuses} ({})", view.snapshot.short_name(by)));
        parts.push(Part::new(20, named.unwrap_or_else(|| refuses.to_owned())).or(12, refuses));
    }
    parts
}

/// What the API server can't use any more.
fn taken_down(view: &PlanView<'_>) -> Option<Part> {
    let down: Vec<&Obstacle> = view.plan.obstacles.iter().filter(|obstacle| obstacle.taken_down).collect();
    let first = down.first()?;
    let (what, name) = match first.kind {
        ObstacleKind::WebhookUnreachable { configuration, place } => {
            ("webhook", BlockedBy::Webhook(configuration, place).name(view.snapshot))
        }
        ObstacleKind::ConversionBroken { definition } => ("conversion of", view.snapshot.name(definition)),
        ObstacleKind::PolicyRefuses { policy, .. } => ("policy", view.snapshot.name(policy)),
        kind => ("API", view.snapshot.name(kind.object())),
    };
    let short = if what == "conversion of" { "conversion" } else { what };
    let is_policy = |obstacle: &Obstacle| matches!(obstacle.kind, ObstacleKind::PolicyRefuses { .. });
    let lost = if is_policy(first) { "parameters" } else { "backend" };
    Some(match (down.len(), down.iter().any(|it| is_policy(it))) {
        (1, _) => {
            Part::new(18, format!("{what} {name} loses its {lost}")).or(5, format!("one {short} loses its {lost}"))
        }
        (number, true) => Part::new(18, format!("{} webhooks, policies and APIs stop working", thousands(number))),
        (number, _) => Part::new(18, format!("{} webhooks and APIs lose their backend", thousands(number))),
    })
}

/// What is lost beyond the objects, the worst first.
fn losses_of(view: &PlanView<'_>, verdict: &Verdict) -> Vec<Part> {
    let lost = verdict.reasons.iter().filter_map(|reason| {
        let (tone, left_out) = match reason.kind {
            ReasonKind::Effect(EffectKind::DataLost) => (Tone::Error, 19),
            ReasonKind::Effect(EffectKind::ExternalDeleted) => (Tone::Error, 13),
            ReasonKind::Effect(EffectKind::ObjectsDeleted) => (Tone::Error, 12),
            ReasonKind::Effect(EffectKind::LoadBalancerReleased) => (Tone::Warning, 9),
            _ => return None,
        };
        let resource_of = |object: &ObjectId| view.snapshot.object(*object).resource;
        let first = reason.objects.first()?;
        let resource = view.snapshot.resource(*first);
        let are_volumes = resource.group.is_empty() && resource.kind.starts_with("PersistentVolume");
        let same = |object: &ObjectId| resource_of(object) == resource_of(first);
        let objects = match are_volumes && reason.objects.iter().all(same) {
            true => count(reason.objects.len(), "volume", "volumes"),
            false => count(reason.objects.len(), "object", "objects"),
        };
        let short = loss_of(view, reason, &objects, true);
        let loss = loss(view, reason);
        let part = match reason.objects.as_slice() {
            [one] => Part::new(left_out, loss_of(view, reason, &view.name(*one), false)).or(1, loss),
            _ if are_volumes => Part::new(left_out, short.clone()),
            _ => Part::new(left_out, loss),
        };
        let part = part.or(1, short);
        Some(Part { tone, ..part.listed() })
    });
    lost.collect()
}

/// What may be lost, where nothing is worse.
fn perhaps_lost(view: &PlanView<'_>, verdict: &Verdict) -> Option<Part> {
    let first = doubts(verdict).next().filter(|first| is_loss(first))?;
    let is_claim = |id: &ObjectId| view.snapshot.resource(*id).kind == "PersistentVolumeClaim";
    let of_data = first.objects.iter().all(|id| view.may_lose_data(*id) && is_claim(id));
    let short = if of_data { "may lose data" } else { Uncertainty::Effect.row().short };
    let part = Part::new(16, reason_in_words(view, first)).or(5, short).listed();
    (verdict.result == VerdictResult::Unsure || of_data).then_some(part)
}

/// Whether something may be lost, or go on, for that reason.
fn is_loss(reason: &VerdictReason) -> bool {
    reason.kind.open().is_none_or(|why| why == Uncertainty::Effect)
}

/// The reasons why something is not certain, the first of which an UNSURE verdict says: what may be lost comes first.
fn doubts(verdict: &Verdict) -> impl Iterator<Item = &VerdictReason> {
    let all = || verdict.reasons.iter().filter(|reason| reason.result == VerdictResult::Unsure);
    all().filter(|reason| is_loss(reason)).chain(all().filter(|reason| !is_loss(reason)))
}

/// At most this many objects are named that a result depends on and that were not read.
const NAMED_UNREAD: usize = 3;

/// What is not certain and stands in no verdict, a sentence each. What is assumed is told by itself.
pub(super) fn further_doubts(view: &PlanView<'_>) -> Vec<String> {
    let verdict = view.verdict();
    let said = usize::from(verdict.result == VerdictResult::Unsure);
    let unread: Vec<String> = view.plan.needs.facts.iter().map(|object| view.name(*object)).collect();
    let is_open = verdict.reasons_of(ReasonKind::Open(Uncertainty::Gap)).next().is_some() && !unread.is_empty();
    let more = is_open.then(|| format!("what decides was not read of {}", some_of(unread, NAMED_UNREAD)));
    let others = doubts(&verdict).skip(said).filter(|reason| reason.kind.open() != Some(Uncertainty::Assumption));
    // Which lists is told below, with why.
    let in_words = |reason: &VerdictReason| match reason.kind.open() {
        Some(Uncertainty::Hidden) => MORE_OBJECTS.to_owned(),
        _ => reason_in_words(view, reason),
    };
    others.map(in_words).chain(more).collect()
}

/// What happens to the objects.
fn course(view: &PlanView<'_>, verdict: &Verdict) -> Vec<Part> {
    let summary = view.plan.summary;
    let mut parts = Vec::new();
    match summary.deleted {
        0 if view.plan.outcomes.is_empty() => {}
        // What stays says so, too.
        0 => parts.push(Part::new(3, "nothing goes at once").listed()),
        number => parts.push(Part::new(14, count(number, "object goes", "objects go")).listed()),
    }
    parts.extend(holds(view));
    let perhaps = verdict.reasons_of(ReasonKind::Stuck).map(|reason| reason.objects.len()).sum::<usize>();
    if perhaps > 0 && view.stuck().next().is_none() && view.plan.once_later().all(|it| it.state != State::Stuck) {
        parts.push(Part::new(15, format!("{} may get stuck", thousands(perhaps))).listed().of_objects());
    }
    parts.extend(prevented(view));
    let spared = verdict.counts.later;
    let then = more_later(view);
    if then.is_none() && spared > 0 {
        parts.push(Part::new(5, format!("{} more after the pods", thousands(spared))));
    }
    parts.extend(stuck_later(view));
    parts.extend(then);
    let goes_later: FxHashSet<ObjectId> = in_second_end(view).objects.into_iter().collect();
    let is_kept = |outcome: &&Outcome| {
        let kept = matches!(outcome.kind, OutcomeKind::Orphaned | OutcomeKind::Detached | OutcomeKind::Unblocked);
        kept && !goes_later.contains(&outcome.object)
    };
    let kept = view.plan.outcomes.iter().filter(is_kept).count();
    if kept > 0 {
        parts.push(Part::new(3, format!("{} kept", thousands(kept))));
    }
    parts.extend(come_back(view));
    parts.extend(uncertain(view, verdict));
    parts
}

/// What gets stuck only once others have done their part, where nothing does before.
fn stuck_later(view: &PlanView<'_>) -> Option<Part> {
    let number = view.plan.summary.stuck_later;
    if number == 0 || view.stuck().next().is_some() {
        return None;
    }
    let stuck = format!("{} stuck", thousands(number));
    Some(Part::new(15, format!("{stuck}{}", root_causes(view).on(view))).or(4, stuck).joined("; then ").of_objects())
}

/// What an obstacle keeps from being deleted or changed.
fn prevented(view: &PlanView<'_>) -> Option<Part> {
    let prevents = view.plan.obstacles.iter().filter(|obstacle| !obstacle.taken_down && !obstacle.prevents.is_empty());
    let prevents: Vec<&Obstacle> = prevents.collect();
    let first = prevents.first()?;
    let objects: BTreeSet<ObjectId> = prevents.iter().flat_map(|obstacle| &obstacle.prevents).copied().collect();
    let number = count(objects.len(), "is prevented", "are prevented");
    let by = match first.kind {
        ObstacleKind::ControllersAway { .. } => "no controller manager runs".to_owned(),
        kind => view.snapshot.short_name(kind.object()),
    };
    Some(Part::new(11, format!("{number} ({by})")).or(6, number).listed().of_objects())
}

/// What stays Terminating, and behind what.
fn holds(view: &PlanView<'_>) -> Vec<Part> {
    let stuck = view.stuck().count();
    let waiting: Vec<&Outcome> = view.first_end().filter(is_waiting).collect();
    let mut parts = Vec::new();
    if stuck > 0 {
        let stuck = format!("{} stuck", thousands(stuck));
        parts.push(Part::new(15, format!("{stuck}{}", root_causes(view).on(view))).or(6, stuck).listed().of_objects());
    }
    if !waiting.is_empty() {
        let waits = count(waiting.len(), "waits", "wait");
        let holders = waiting.iter().flat_map(|it| others_of(view, it).map(|holder| (it.object, *holder)));
        let holders: Vec<(ObjectId, BlockedBy)> = holders.collect();
        let told = |holder: BlockedBy| match holder {
            BlockedBy::Said => "what the API server says is left",
            BlockedBy::Unseen => "the namespace controller",
            _ => holder.name(view.snapshot),
        };
        let names: BTreeSet<&str> = holders.iter().map(|(_, holder)| told(*holder)).collect();
        let mut part = Part::new(15, format!("{waits} until {}", until(view, &waiting)));
        if let Some((names, run)) = running(view, &holders) {
            part = part.or(1, format!("{waits} for {names}{run}")).or(4, format!("{waits} for {names}"));
        }
        if let Some(controller) = known_controller(view, &holders) {
            part = part.or(3, format!("{waits} for {controller}"));
        }
        let part = match names.into_iter().collect::<Vec<_>>().as_slice() {
            [] => part,
            [one] => part.or(4, format!("{waits} for {one}")),
            many => part.or(4, format!("{waits} for {} finalizers", many.len())),
        };
        parts.push(part.or(6, waits).listed().of_objects());
    }
    parts
}

fn is_waiting(outcome: &&Outcome) -> bool {
    outcome.state.is_some_and(|state| state != State::Stuck)
}

/// The controllers that are known to run and have to act, if all that waits is held by their finalizers.
fn running(view: &PlanView<'_>, holders: &[(ObjectId, BlockedBy)]) -> Option<(String, &'static str)> {
    let mut names: BTreeSet<String> = BTreeSet::new();
    for (object, holder) in holders {
        let controller = view.plan.controllers.get(*object, *holder).filter(|controller| controller.runs())?;
        names.insert(controller.told(view.snapshot)?);
    }
    let runs = if names.len() == 1 { ", which runs" } else { ", which run" };
    let names: Vec<String> = names.into_iter().collect();
    matches!(names.len(), 1 | 2).then(|| (names.join(" and "), runs))
}

/// Whose finalizer it is, if all that waits has one well-known controller.
fn known_controller(view: &PlanView<'_>, holders: &[(ObjectId, BlockedBy)]) -> Option<&'static str> {
    let names = holders.iter().map(|(object, holder)| holder.controller(view.snapshot, *object));
    let mut names = names.collect::<Option<BTreeSet<&str>>>()?;
    names.pop_first().filter(|_| names.is_empty())
}

/// What others than the garbage collector and the controllers of namespaces and CRDs must do for an object: those act
/// by themselves once its dependents or contents are gone.
fn others_of<'o>(view: &PlanView<'_>, outcome: &'o Outcome) -> impl Iterator<Item = &'o BlockedBy> {
    let all_own = foreign_spec_finalizers(view.snapshot, outcome.object).is_empty();
    outcome.held_by.iter().filter(move |holder| match holder {
        BlockedBy::Finalizer(Symbol::DEFINITION | Symbol::FOREGROUND | Symbol::ORPHAN) => false,
        BlockedBy::SpecFinalizers => !all_own,
        _ => true,
    })
}

/// How much of what goes is recreated, and how much would be if the API server didn't refuse it.
fn come_back(view: &PlanView<'_>) -> impl Iterator<Item = Part> {
    let is_refused =
        |outcome: &Outcome| outcome.afterwards.iter().any(|it| matches!(it, Afterwards::NotRecreated { .. }));
    let number = |is_it: fn(&Outcome) -> bool| {
        let those = view.plan.both_ends().filter(|outcome| is_it(outcome)).map(|outcome| outcome.object);
        those.collect::<BTreeSet<ObjectId>>().len()
    };
    let all = [
        (number(Outcome::recreated), "comes back", "come back"),
        (number(is_refused), "does not come back", "do not come back"),
    ];
    let some = all.into_iter().filter(|(number, ..)| *number > 0);
    some.map(|(number, one, many)| Part::new(4, count(number, one, many)))
}

/// That something is not certain, and why, where nothing is worse.
fn uncertain(view: &PlanView<'_>, verdict: &Verdict) -> Option<Part> {
    if verdict.result != VerdictResult::Unsure {
        return (!verdict.certain).then(|| Part::new(20, "not certain"));
    }
    let first = doubts(verdict).next().filter(|first| !is_loss(first))?;
    let short =
        open_by_name(view, first).or(first.kind.open().map(|why| why.row().short.to_owned())).unwrap_or_default();
    let part = Part::new(20, "not certain");
    Some(if short.is_empty() { part } else { Part::new(20, format!("not certain: {short}")).or(5, "not certain") })
}

/// `5 PersistentVolumeClaims lose their data`
fn loss(view: &PlanView<'_>, reason: &VerdictReason) -> String {
    loss_of(view, reason, &view.by_kind(reason.objects.iter().copied()), false)
}

/// The same, where the objects are called `kinds`; in as few words as can be, if it is to be short.
fn loss_of(view: &PlanView<'_>, reason: &VerdictReason, kinds: &str, is_short: bool) -> String {
    let one = reason.objects.len() == 1;
    // Whether they are deleted in the most likely order, now or later.
    let is_leaving = |object: &ObjectId| view.snapshot.object(*object).terminating();
    let goes =
        |object: &ObjectId| is_leaving(object) || view.outcome(*object).is_none_or(|outcome| outcome.kind.removes());
    let sure = reason.objects.iter().any(goes);
    let is_now = |object: &ObjectId| view.outcome(*object).is_some_and(|outcome| outcome.kind == OutcomeKind::Deleted);
    let later = if sure && !reason.objects.iter().any(is_now) { " later" } else { "" };
    let may = |verb: &'static str, plural: &'static str, bare: &'static str| match (sure, one) {
        (false, _) => format!("may {bare}"),
        (true, true) => verb.to_owned(),
        (true, false) => plural.to_owned(),
    };
    let loss = match reason.kind {
        ReasonKind::Effect(EffectKind::DataLost) => {
            let data = match (is_short, one) {
                (true, _) => "data",
                (false, true) => "its data",
                (false, false) => "their data",
            };
            format!("{kinds} {} {data}", may("loses", "lose", "lose"))
        }
        ReasonKind::Effect(EffectKind::ExternalDeleted) => {
            let resources = match is_short {
                true => count(reason.objects.len(), "external resource", "external resources"),
                false => format!("the external {} of {kinds}", if one { "resource" } else { "resources" }),
            };
            format!("{resources} {} deleted", may("is", "are", "be"))
        }
        ReasonKind::Effect(EffectKind::ObjectsDeleted) => {
            let others = if is_short { "others" } else { "other objects" };
            format!("{kinds} also {} {others}", may("deletes", "delete", "delete"))
        }
        ReasonKind::Effect(EffectKind::LoadBalancerReleased) => {
            let number = count(reason.objects.len(), "load balancer", "load balancers");
            format!("{number} {} released", may("is", "are", "be"))
        }
        ReasonKind::Effect(EffectKind::MayStillRun) => return "containers may still run".to_owned(),
        _ => format!("the pods on {kinds} {} deleted, too", may("are", "are", "be")),
    };
    loss + later
}

/// A reason in words, without a full stop.
pub(super) fn reason_in_words(view: &PlanView<'_>, reason: &VerdictReason) -> String {
    if let Some(message) = &reason.message {
        return message.clone();
    }
    let number = reason.objects.len();
    let objects = count(number, "object", "objects");
    let stays = if number == 1 { "stays" } else { "stay" };
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
        ReasonKind::Stuck => format!("{objects} {stays} Terminating{}", root_causes(view).because(view)),
        ReasonKind::Depends | ReasonKind::Waits => {
            format!("{objects} {stays} Terminating until {}", until_both_ends(view))
        }
        ReasonKind::Open(Uncertainty::Effect) => {
            let is_data = |id: &ObjectId| view.may_lose_data(*id);
            match reason.objects.as_slice() {
                [one] if is_data(one) => format!("{} may lose its data", view.name(*one)),
                all if all.iter().all(is_data) => {
                    format!("{} may lose their data", view.by_kind(all.iter().copied()))
                }
                all => format!("what is lost with {} is not known", view.by_kind(all.iter().copied())),
            }
        }
        ReasonKind::Open(why) => open_by_name(view, reason).unwrap_or_else(|| {
            let [one, many] = why.row().reason;
            format!("{} {}", count(number, "outcome", "outcomes"), if number == 1 { one } else { many })
        }),
        _ => loss(view, reason),
    }
}

/// What could not be read, where a name says it.
fn open_by_name(view: &PlanView<'_>, reason: &VerdictReason) -> Option<String> {
    let [definition] = reason.objects.as_slice() else { return None };
    if reason.kind.open() != Some(Uncertainty::Gap) || view.snapshot.unread_instances(*definition).is_none() {
        return None;
    }
    let unserved = view.snapshot.facts.definition(*definition).is_some_and(|facts| facts.unserved.is_some());
    let name = view.snapshot.name(*definition);
    Some(if unserved { format!("no version of {name} is served") } else { format!("discovery does not list {name}") })
}

/// Who has to do what before the waiting objects are deleted, as a clause after "until".
fn until(view: &PlanView<'_>, waiting: &[&Outcome]) -> String {
    let held_by = waiting.iter().map(|outcome| (outcome.object, outcome.held_by.as_slice()));
    until_who_is_done(view.snapshot, &view.plan.controllers, held_by).unwrap_or_else(|| {
        let mut seen: FxHashSet<ObjectId> = waiting.iter().map(|outcome| outcome.object).collect();
        let all = waiting.iter().flat_map(|outcome| &outcome.waits_for).copied();
        match all.filter(|object| seen.insert(*object)).collect::<Vec<ObjectId>>().as_slice() {
            [] => "others are deleted".to_owned(),
            [one] => format!("{} is deleted", view.name(*one)),
            [one, rest @ ..] => format!("{} and {} more are deleted", view.name(*one), rest.len()),
        }
    })
}

/// The same of what waits in either end.
fn until_both_ends(view: &PlanView<'_>) -> String {
    let mut controllers = view.plan.controllers.clone();
    view.plan.then.iter().for_each(|then| controllers.add(&then.controllers));
    let waiting: Vec<&Outcome> = view.plan.outcomes.iter().filter(is_waiting).collect();
    let first = waiting.iter().map(|outcome| (outcome.object, outcome.held_by.as_slice()));
    let later = view.plan.once_later().filter(|finished| finished.state != State::Stuck);
    let later = later.map(|finished| (finished.object, finished.blockers.as_slice()));
    until_who_is_done(view.snapshot, &controllers, first.chain(later)).unwrap_or_else(|| until(view, &waiting))
}

/// The root causes of all stuck objects, as far as a line names them.
pub(super) enum RootCauses<'v> {
    /// Finalizers of controllers, each once.
    Finalizers(Vec<&'v str>),
    /// Pods that have finished, and that nobody deletes.
    FinishedPods(BTreeSet<ObjectId>),
    /// Kubelets, objects that are never deleted: their lines tell.
    Others,
}

impl RootCauses<'_> {
    /// ` on acme.io/drain`
    pub(super) fn on(&self, view: &PlanView<'_>) -> String {
        match self {
            RootCauses::Finalizers(names) => match names.as_slice() {
                [one] => format!(" on {one}"),
                many => format!(" on {}", the_finalizers(many)),
            },
            _ => self.because(view),
        }
    }

    /// ` because of the finalizer acme.io/drain`
    fn because(&self, view: &PlanView<'_>) -> String {
        match self {
            RootCauses::Finalizers(names) => format!(" because of {}", the_finalizers(names)),
            RootCauses::FinishedPods(pods) => match pods.first() {
                Some(pod) if pods.len() == 1 => {
                    format!(" until {}, which has finished, is deleted", view.name(*pod))
                }
                _ => format!(" until {} finished pods are deleted", pods.len()),
            },
            RootCauses::Others => String::new(),
        }
    }
}

/// `the finalizer acme.io/drain`, `2 finalizers`
pub(super) fn the_finalizers(names: &[&str]) -> String {
    match names {
        [one] => format!("the finalizer {one}"),
        many => format!("{} finalizers", many.len()),
    }
}

pub(super) fn root_causes<'v>(view: &PlanView<'v>) -> RootCauses<'v> {
    let mut finalizers: Vec<&str> = Vec::new();
    let mut seen: FxHashSet<&str> = FxHashSet::default();
    let mut finished: BTreeSet<ObjectId> = BTreeSet::new();
    for outcome in view.stuck() {
        let pods = view.finished_pods(outcome);
        if !pods.is_empty() && pods.len() == outcome.waits_for.len() {
            finished.extend(pods);
            continue;
        }
        let kind = view.snapshot.resource(outcome.object);
        for holder in &outcome.held_by {
            let name = holder.name(view.snapshot);
            // What the clean-up of a CRD, and the protection of a claim wait for has causes of its own.
            let is_used = || {
                let known = known_finalizer(name, &kind.group, &kind.kind);
                !outcome.waits_for.is_empty() && known.is_some_and(|known| known.when == When::ClaimUnused)
            };
            let is_cause = matches!(holder, BlockedBy::Finalizer(finalizer) if *finalizer != Symbol::DEFINITION);
            if is_cause && !is_used() && seen.insert(name) {
                finalizers.push(name);
            }
        }
    }
    if view.stuck().next().is_none() {
        let later = view.plan.once_later().filter(|finished| finished.state == State::Stuck);
        let later = later.flat_map(|finished| &finished.blockers).filter(|holder| holder.finalizer().is_some());
        let new: BTreeSet<&str> = later.map(|holder| holder.name(view.snapshot)).collect();
        finalizers.extend(new.into_iter().filter(|name| seen.insert(name)));
    }
    match (finalizers.is_empty(), finished.is_empty()) {
        (false, _) => RootCauses::Finalizers(finalizers),
        (true, false) => RootCauses::FinishedPods(finished),
        (true, true) => RootCauses::Others,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(parts: Vec<Part>) -> String {
        let (headline, sentence) = in_a_line(Headline::Stuck, parts);
        format!("{}: {}", headline.word(), sentence.into_iter().map(|(_, text)| text).collect::<String>())
    }

    /// What matters least is shortened or left out first; what can't be shorter than the line stands alone.
    #[test]
    fn a_verdict_fits_its_line() {
        let all = |name: &str| {
            vec![
                Part::new(19, format!("{name} loses its data")).or(1, "1 volume loses data"),
                Part::new(14, "5 objects go").listed(),
                Part::new(15, format!("2 stuck on {name}")).or(6, "2 stuck").listed(),
                Part::new(5, "3 go").joined("; then "),
                Part::new(3, "1 kept"),
                Part::new(20, "not certain"),
            ]
        };
        assert_eq!(
            line(all("abc")),
            "STUCK: abc loses its data, 5 objects go, 2 stuck on abc; then 3 go; 1 kept; not certain."
        );
        let long = line(all(&"x".repeat(253)));
        assert_eq!(long, "STUCK: 1 volume loses data, 5 objects go, 2 stuck; not certain.");
        for length in 0..300 {
            let line = line(all(&"x".repeat(length)));
            assert!(line.chars().count() <= LONGEST && line.starts_with("STUCK: "), "{line}");
        }
        assert_eq!(line(vec![Part::new(1, "y".repeat(200)).or(1, "short")]), "STUCK: short.");
        let stuck = |number: &str| Part::new(6, format!("{number} stuck")).listed().of_objects();
        assert_eq!(line(vec![stuck("1"), stuck("1,002")]), "STUCK: 1 object stuck, 1,002 stuck.");
    }
}
