//! The verdict on an object, and words for states.

use rustc_hash::FxHashSet;
use unicode_width::UnicodeWidthStr;

use crate::render::{
    reclaim::{when, why},
    sections::Heading,
    states::{Fate, Headline, LONGEST, Tone},
};
use gc_core::{
    collector::Reason,
    doctor::{
        Code, Explanation, Finding,
        explain::{Later, ReferenceStory, Waiting},
    },
    model::{
        ObjectId, Rule, Snapshot,
        effects::{Severity, known_users},
        facts::Condition,
    },
    reclaim::{End, Removal, When},
    simulate::{BlockedBy, Cause, Next, NoAction, OutcomeKind, State, Uncertainty, until_who_is_done},
    tree::ReferenceStatus,
    wording::age,
};

use super::ExplainView;

/// At most this many objects are named in a line.
pub(super) const NAMED: usize = 3;

/// What is said of what nobody is known to finish.
const UNKNOWN_END: &str = ", and no controller is known to finish it";

/// The verdict on an object.
pub(super) struct Verdict {
    pub headline: Headline,
    pub sentence: String,
    /// What the line has no room for.
    pub rest: Vec<(Heading, String)>,
}

impl Verdict {
    fn new(headline: Headline, sentence: impl Into<String>) -> Self {
        Verdict { headline, sentence: sentence.into(), rest: Vec::new() }
    }

    /// The first of these that fits a line, or the last: each with what it leaves out.
    fn fitting(headline: Headline, choices: impl IntoIterator<Item = (String, Vec<(Heading, String)>)>) -> Self {
        let mut choices = choices.into_iter().map(|(sentence, rest)| Verdict { headline, sentence, rest }).peekable();
        let fits = |verdict: &Verdict| headline.word().len() + ": ".len() + verdict.sentence.width() <= LONGEST;
        loop {
            match choices.next() {
                Some(choice) if fits(&choice) || choices.peek().is_none() => return choice,
                Some(_) => {}
                None => return Verdict::new(headline, ""),
            }
        }
    }

    /// Whether the line has this, or this is nothing.
    pub(super) fn says(&self, what: &str) -> bool {
        let what = what.strip_prefix(DATA_LOSS).unwrap_or(what);
        self.sentence.contains(what.trim_end_matches('.'))
    }

    /// `WHAT: WHY.`, or where that is too long, why stands below.
    fn with(headline: Headline, what: &str, joint: &str, why: &str) -> Self {
        let rest = vec![(Heading::Why, format!("{why}."))];
        Self::fitting(headline, [(format!("{what}{joint}{why}."), Vec::new()), (format!("{what}."), rest)])
    }
}

/// What will happen to an object, in a line: what can't be taken back first.
pub(super) fn verdict(view: &ExplainView<'_>, explanation: &Explanation, now: Option<i64>) -> Verdict {
    let verdict = end_in_words(view, explanation, now);
    let (end, later) = (&explanation.end, explanation.later.as_ref());
    let is_begun = end.outcome.is_some_and(OutcomeKind::removes) && explanation.next.deletes();
    let of_end = (end.certain || is_begun).then_some(end.lost.as_str());
    let of_later = later.filter(|later| later.certain).map(|later| later.lost.as_str());
    let mut lost = of_end.into_iter().chain(of_later).filter(|lost| !lost.contains(MAY_LOSE));
    let lost = lost.find_map(|lost| lost.trim_start().strip_prefix(DATA_LOSS));
    let Some(loses) = lost.filter(|_| !matches!(verdict.headline, Headline::Ok | Headline::Unsure)) else {
        return verdict;
    };
    let sentence = verdict.sentence.replace(&format!(" {SEE_LOSS}"), "").replace(&format!("{DATA_LOSS}{loses}"), "");
    let sentence = sentence.trim_end();
    // What stands below says already what it waits for.
    let below = |also: &str| {
        let sentence = if verdict.rest.is_empty() { sentence } else { "" };
        let reason = [sentence, also].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ");
        let why = (!reason.is_empty()).then_some((Heading::Why, reason));
        verdict.rest.iter().cloned().chain(why).collect::<Vec<_>>()
    };
    let name = view.snapshot.short_name(explanation.object);
    let first = match loses.starts_with(&format!("{name} ")) {
        true => sentence.to_owned(),
        false => format!("{}; {sentence}", loses.trim_end_matches('.')),
    };
    let choices = [
        (first, verdict.rest.clone()),
        (loses.to_owned(), below("")),
        (format!("{name} takes data with it."), below(loses)),
    ];
    Verdict::fitting(Headline::DataLoss, choices)
}

/// How a sentence begins that says whose data is lost.
const DATA_LOSS: &str = "DATA LOSS: ";
/// What it says if that isn't certain.
const MAY_LOSE: &str = " may lose ";
/// Says that such a sentence stands below.
const SEE_LOSS: &str = "DATA LOSS: see Then.";

fn end_in_words(view: &ExplainView<'_>, explanation: &Explanation, now: Option<i64>) -> Verdict {
    let name = view.name(explanation.object);
    if explanation.terminating {
        return terminating(view, explanation, &name, now);
    }
    let why = because_of(view, explanation);
    match explanation.end.outcome {
        _ if explanation.end.uncertain == Some(Uncertainty::Order) => {
            Verdict::new(Headline::Unsure, format!("whether {name} is deleted depends on the order of events."))
        }
        // The end may not be known; the beginning is.
        Some(outcome) if explanation.end.uncertain.is_some() && outcome.removes() && explanation.next.deletes() => {
            let what = format!("the collector is about to delete {name}");
            let then = "when it is gone depends on something that is not known";
            Verdict::with(Headline::WillBeDeleted, &what, "; ", then)
        }
        _ if let Some(owner) = explanation.next.keeper => {
            let what = format!("nothing deletes {name}: {} owns it", view.name(owner));
            Verdict::with(Headline::Ok, &what, "; ", "whether it loses another owner is not known")
        }
        _ if explanation.end.uncertain.is_some() => {
            let what = format!("what happens to {name} depends on something that is not known.");
            Verdict::new(Headline::Unsure, what)
        }
        Some(outcome) if is_stopped(explanation) => {
            let done = if outcome.removes() { "deleted" } else { "changed" };
            Verdict::new(Headline::Stuck, format!("{name} should be {done}, and {NOBODY_RUNS}."))
        }
        Some(OutcomeKind::Deleted) if explanation.next.next.writes() && is_idle(explanation) => {
            Verdict::new(Headline::Waits, format!("the collector should delete {name}, and does not: see Note."))
        }
        // Under "Then" it says why.
        Some(OutcomeKind::Deleted) if explanation.next.deletes() => {
            Verdict::new(Headline::WillBeDeleted, format!("the collector is about to delete {name}."))
        }
        Some(OutcomeKind::Deleted) => Verdict::with(Headline::WillBeDeleted, &name, ": ", &why),
        Some(OutcomeKind::Terminating) => {
            let until = || format!(" until {}", until(view, explanation));
            let (headline, stays) = match explanation.end.state {
                Some(State::Waiting) => (Headline::Waits, until()),
                Some(State::Unknown) => (Headline::Depends, until()),
                _ => (Headline::Stuck, for_ever(view, explanation)),
            };
            let goes = format!("{name} will be deleted");
            let reason = (Heading::Why, format!("{why}."));
            let later = (Heading::Why, format!("it stays Terminating{stays}."));
            let choices = [
                (format!("{goes} ({why}) and stays Terminating{stays}."), Vec::new()),
                (format!("{goes} and stays Terminating{stays}."), vec![reason.clone()]),
                (format!("{goes}, and stays Terminating."), vec![reason, later]),
            ];
            Verdict::fitting(headline, choices)
        }
        Some(_) => Verdict::with(Headline::Changes, &format!("{name} is kept, but changed"), ": ", &why),
        None => match &explanation.removal {
            Some(removal) if explanation.end.refused.is_none() && !is_later(removal) => {
                let headline = match (removal.doubt(), removal.end) {
                    (Some(_), _) | (None, End::Either) => Headline::Unsure,
                    (None, End::Terminating) if removal.held.iter().any(|held| held.by.is_none()) => Headline::Stuck,
                    (None, End::Terminating) => Headline::Waits,
                    (None, End::Gone) => Headline::WillBeDeleted,
                };
                let Removed { controller, deletes, when, why } = removed(view, removal, now);
                let goes = if deletes == "deletes" { "is deleted" } else { "may be deleted" };
                let reason = |why: String| vec![(Heading::Why, why)];
                if removal.object != explanation.object {
                    let owner = view.names(&[removal.object], NAMED);
                    let what = format!("{name} goes with {owner}, which {controller} {deletes}{when}");
                    return Verdict::with(headline, &what, ": ", &why);
                }
                let choices = [
                    (format!("{controller} {deletes} {name}{when}: {why}."), Vec::new()),
                    (format!("{controller} {deletes} {name}{when}."), reason(format!("{why}."))),
                    (format!("{name} {goes}{when}."), reason(format!("{controller} {deletes} it: {why}."))),
                ];
                Verdict::fitting(headline, choices)
            }
            // The collector or the namespace controller tries again and again.
            _ if let Some(refused) = explanation.end.refused.as_ref().filter(|_| explanation.end.undeleted) => {
                let what = format!("{name} is to be deleted, but the API server refuses that");
                Verdict::with(Headline::Stuck, &what, ": ", refused)
            }
            // Under "Then" it says by whom, and why.
            Some(removal)
                if explanation.end.refused.is_none()
                    && explanation.later.is_none()
                    && let When::Once { event, .. } = &removal.reason().when =>
            {
                let goes = if removal.doubt().is_some() { "may be deleted" } else { "is deleted" };
                let with = (removal.object != explanation.object).then(|| view.names(&[removal.object], NAMED));
                let with = with.map(|owner| format!(" with {owner}")).unwrap_or_default();
                Verdict::new(Headline::Depends, format!("{name} {goes}{with} once {event}."))
            }
            removal => {
                if let Some(later) = leads_on(view, explanation) {
                    let waits = later.state == State::Waiting;
                    let headline = if waits { Headline::Waits } else { Headline::Depends };
                    let (goes, ends) = in_the_end(view, explanation.object, later);
                    let loses = if later.lost.is_empty() { String::new() } else { format!(" {SEE_LOSS}") };
                    let below = |ends: &[String]| ends.iter().map(|end| (Heading::Then, end.clone())).collect();
                    let choices = [
                        (ends.join(" "), Vec::new()),
                        (format!("{}{loses}", ends[0]), below(&ends[1..])),
                        (format!("{goes} others act.{loses}"), below(&ends)),
                    ];
                    return Verdict::fitting(headline, choices);
                }
                if let Some(namespace) = leaving_namespace(view, explanation.object) {
                    let namespace = view.name(namespace);
                    let what = format!("{name} goes with {namespace}, and no controller is known to finish that");
                    return Verdict::with(Headline::Stuck, &what, ": ", &format!("explain {namespace} says why"));
                }
                let now = if removal.is_some() || explanation.later.is_some() { " now" } else { "" };
                let kept = format!("{} {name}{now}", nothing(view, explanation));
                match why_it_stays(explanation) {
                    why if why.is_empty() => Verdict::new(Headline::Ok, format!("{kept}.")),
                    why => Verdict::with(Headline::Ok, &kept, ": ", &why),
                }
            }
        },
    }
}

/// What follows once others act, if the first line tells it: of the content of a Namespace that nobody is known to
/// finish, that line names the Namespace.
pub(super) fn leads_on<'e>(view: &ExplainView<'_>, explanation: &'e Explanation) -> Option<&'e Later> {
    let is_told = |later: &&Later| later.state != State::Stuck || leaving_namespace(view, explanation.object).is_none();
    explanation.later.as_ref().filter(is_told)
}

/// The Terminating Namespace of an object.
fn leaving_namespace(view: &ExplainView<'_>, object: ObjectId) -> Option<ObjectId> {
    let snapshot = view.snapshot;
    let namespaces = snapshot.resources.by_group_kind("", "Namespace")?;
    let namespace = snapshot.look_up_named(namespaces, "", snapshot.namespace(object)).object()?;
    snapshot.object(namespace).terminating().then_some(namespace)
}

/// What follows for an object once others have done their part: how the first sentence begins, and all of them.
pub(super) fn in_the_end(view: &ExplainView<'_>, object: ObjectId, later: &Later) -> (String, Vec<String>) {
    let name = view.names(&[object], NAMED);
    let owners: Vec<ObjectId> =
        later.once.iter().map(|finished| finished.object).filter(|other| *other != object).collect();
    let owners = leaving_namespace(view, object).map_or(owners, |namespace| vec![namespace]);
    let with = if owners.is_empty() { String::new() } else { format!(" with {}", view.names(&owners, NAMED)) };
    let blocked = later.once.iter().map(|finished| (finished.object, finished.blockers.as_slice()));
    let until = until_who_is_done(view.snapshot, &later.controllers, blocked);
    let once = until.unwrap_or_else(|| "that is gone".to_owned());
    let (goes, then) = match (later.stays(), later.certain) {
        (false, true) => ("goes", String::new()),
        (false, false) => ("may go", String::new()),
        (true, certain) => {
            let held_by = std::iter::once((object, later.held_by.as_slice()));
            let until = until_who_is_done(view.snapshot, &later.controllers, held_by);
            let until = until.unwrap_or_else(|| deleted(view, &later.waits_for));
            let goes = if certain { "will be deleted" } else { "may be deleted" };
            (goes, format!("Then it stays Terminating until {until}."))
        }
    };
    let goes = format!("{name} {goes}{with} once");
    let mut sentences = vec![format!("{goes} {once}."), then, later.lost.trim_start().to_owned()];
    sentences.retain(|sentence| !sentence.is_empty());
    (goes, sentences)
}

const NOBODY_RUNS: &str = "no controller manager is known to run";

/// Whether a finding says that nobody is there who should work on the object.
fn is_stopped(explanation: &Explanation) -> bool {
    explanation.findings.iter().any(|finding| finding.code == Code::CollectorStopped)
}

/// Whether a finding says that the collector doesn't do its work on the object.
pub(super) fn is_idle(explanation: &Explanation) -> bool {
    let is_it = |finding: &Finding| {
        matches!(finding.code, Code::CollectorIdle | Code::CollectorStopped | Code::CollectorRefused)
    };
    explanation.findings.iter().any(is_it)
}

/// Tokens in Secrets may expire; what is in a Secret isn't read.
fn nothing(view: &ExplainView<'_>, explanation: &Explanation) -> &'static str {
    let resource = view.snapshot.resource(explanation.object);
    let is_unread = resource.kind == "Secret" && resource.group.is_empty() && !view.snapshot.is_dump();
    if is_unread { "the collector does not delete" } else { "nothing deletes" }
}

/// Whether only an event brings the removal about.
pub(super) fn is_later(removal: &Removal) -> bool {
    matches!(removal.reason().when, When::Once { .. })
}

/// Which controller deletes an object, when, and why: clauses.
pub(super) struct Removed {
    pub controller: String,
    /// Whether it does is not certain: `may delete`.
    pub deletes: &'static str,
    /// What goes with it, and when.
    pub when: String,
    pub why: String,
}

pub(super) fn removed(view: &ExplainView<'_>, removal: &Removal, now: Option<i64>) -> Removed {
    let reason = removal.reason();
    let deletes = if removal.doubt().is_some() { "may delete" } else { "deletes" };
    let when = now.or(view.snapshot.time()).map(|now| format!(" {}", when(&reason.when, now))).unwrap_or_default();
    // Only such a volume goes whose reclaim policy is Delete.
    let (controller, data) = match reason.rule {
        Rule::R12_10 if !reason.controller.ends_with("-controller") => ("provisioner ", " with all its data"),
        Rule::R12_10 => ("", " with all its data"),
        _ => ("", ""),
    };
    Removed {
        controller: format!("the {controller}{}", reason.controller),
        deletes,
        when: format!("{data}{when}"),
        why: why(view.snapshot, removal),
    }
}

fn why_it_stays(explanation: &Explanation) -> String {
    if let Some(refused) = &explanation.end.refused {
        return format!("the API server refuses to change it: {refused}");
    }
    let why = match &explanation.next.next {
        Next::Nothing(NoAction::OwnersSolid) if explanation.references.len() == 1 => "its owner keeps it",
        Next::Nothing(NoAction::OwnersSolid) => "its owners keep it",
        Next::Nothing(NoAction::NoOwners) => "",
        Next::Nothing(NoAction::Unmappable(_) | NoAction::InvalidScope(_)) => "the collector cannot process it",
        Next::Nothing(NoAction::NotWatched | NoAction::SharedUid(_)) => "the collector ignores it",
        // The collector would delete it, but it still exists.
        Next::Delete(..) | Next::Unblock => "the API server refuses that",
        _ => "",
    };
    why.to_owned()
}

fn terminating(view: &ExplainView<'_>, explanation: &Explanation, name: &str, now: Option<i64>) -> Verdict {
    let deleted = view.snapshot.object(explanation.object).deleted.get();
    let since = match now.zip(deleted).map(|(now, deleted)| now - deleted) {
        Some(seconds) if seconds >= 0 => format!("is Terminating (for {})", age(seconds)),
        _ => "is Terminating".to_owned(),
    };
    let said = &explanation.said;
    let what = format!("{name} {since}");
    // What does not fit stands below: all that the API server says does, unless the first line has it.
    let says = |headline: Headline, of: &dyn Fn(&Condition) -> bool| {
        let of: Vec<&Condition> = said.iter().filter(|condition| of(condition)).collect();
        let words: Vec<String> = of.iter().map(|condition| condition.in_words()).collect();
        let short: Vec<&str> = words.iter().filter_map(|words| words.split(':').next()).collect();
        let says = |why: String| format!("{what}. The API server says why{why}.");
        let waits = waits_for(view, explanation);
        let mut holders = last_of(explanation).into_iter().flat_map(|line| &line.held_by);
        // What says who must act says more than the name of a condition.
        let until = holders.any(|by| matches!(by, BlockedBy::Webhook(..) | BlockedBy::Policy(_) | BlockedBy::Api(_)));
        let until = until.then(|| format!("{name} stays until {}.", self::until(view, explanation)));
        let waits = waits.map(|last| format!("{name} waits for {last}."));
        let others = [says(format!(": {}", short.join(", "))), says(String::new())];
        let choices = [says(format!(": {}", words.join("; ")))].into_iter().chain(until).chain(waits).chain(others);
        Verdict::fitting(headline, choices.map(|choice| (choice, Vec::new())))
    };
    let until = |headline: Headline| {
        let (until, kind) = (until(view, explanation), view.snapshot.resource(explanation.object).named_kind());
        let rest = vec![(Heading::Why, format!("it stays until {until}."))];
        let whole = [format!("{what} until {until}."), format!("{name} stays until {until}.")];
        let (short, last) = match waits_for(view, explanation) {
            Some(last) => (None, format!("{name} waits for {last}.")),
            None => (Some(format!("this {kind} stays until {until}.")), format!("{what} until others act.")),
        };
        let whole = whole.into_iter().chain(short).map(|whole| (whole, Vec::new()));
        Verdict::fitting(headline, whole.chain([(last, rest)]))
    };
    let goes = explanation.end.outcome == Some(OutcomeKind::Deleted);
    match explanation.end.state {
        _ if explanation.end.uncertain.is_some() && said.is_empty() => match waits_for_somebody(explanation) {
            true => until(Headline::Unsure),
            false => Verdict::with(Headline::Unsure, &what, "; ", "not all that decides what happens next was read"),
        },
        // What the API server says comes before what we foretell.
        _ if !goes && said.iter().any(|condition| condition.fails()) => says(Headline::Stuck, &Condition::fails),
        _ if goes && explanation.next.may_wait => {
            let why = "dependents that could not be read may have to be freed first";
            Verdict::with(Headline::Unsure, &what, "; ", why)
        }
        _ if is_stopped(explanation) => Verdict::new(Headline::Stuck, format!("{what}, and {NOBODY_RUNS}.")),
        _ if goes && is_idle(explanation) => {
            let why = "the collector should act, but nothing happens: see Note";
            Verdict::with(Headline::Depends, &what, "; ", why)
        }
        _ if goes && in_trouble(explanation) => {
            Verdict::new(Headline::Waits, format!("{what}, and should go by itself: see Note."))
        }
        state if (goes || state == Some(State::Unknown)) && !said.is_empty() => {
            says(if goes { Headline::Waits } else { Headline::Depends }, &|_| true)
        }
        _ if goes && waits_for_somebody(explanation) => {
            until(if explanation.untimed { Headline::Waits } else { Headline::WillBeDeleted })
        }
        _ if goes => Verdict::new(Headline::WillBeDeleted, format!("{what}, and nothing blocks that.")),
        Some(State::Waiting) => until(Headline::Waits),
        Some(State::Unknown) => until(Headline::Depends),
        _ if is_all_known(view, explanation) => until(Headline::Stuck),
        _ => {
            let waits = waits_for(view, explanation).map(|last| format!("{name} waits for {last}{UNKNOWN_END}."));
            let ends = waits.into_iter().chain([format!("{what}{UNKNOWN_END}.")]);
            Verdict::fitting(Headline::Stuck, ends.map(|end| (end, Vec::new())))
        }
    }
}

/// Whether it is known who has to act in the end: a kubelet, or whoever removes a finalizer.
fn waits_for_somebody(explanation: &Explanation) -> bool {
    let is_somebodys = |by: &BlockedBy| matches!(by, BlockedBy::Kubelet(_)) || by.finalizer().is_some();
    last_of(explanation).iter().any(|line| line.held_by.iter().any(is_somebodys))
}

/// What an object waits for in the end, if it waits for another one.
fn waits_for(view: &ExplainView<'_>, explanation: &Explanation) -> Option<String> {
    let last = last_of(explanation).into_iter().map(|line| line.object);
    let others: Vec<ObjectId> = last.filter(|last| *last != explanation.object).collect();
    (!others.is_empty()).then(|| view.names(&others, 1))
}

/// What nobody is known to do, to follow `stays Terminating`.
fn for_ever(view: &ExplainView<'_>, explanation: &Explanation) -> String {
    match is_all_known(view, explanation) {
        true => format!(" until {}", until(view, explanation)),
        false => UNKNOWN_END.to_owned(),
    }
}

/// Whether it is known of all that an object waits for what would end that.
fn is_all_known(view: &ExplainView<'_>, explanation: &Explanation) -> bool {
    let is_known = |line: &&Waiting| {
        let refused = |holder: &BlockedBy| {
            use BlockedBy::{Api, Guard, Policy, Said, Schema, Unseen, Webhook};
            matches!(holder, Webhook(..) | Policy(_) | Guard(..) | Schema(_) | Api(_) | Said | Unseen)
                || holder.is_hold(view.snapshot)
        };
        // R9.40: once it is deleted, the controller of what it uses goes on.
        let keeps = |above: &Waiting| {
            let mut finalizers = above.held_by.iter().filter_map(|holder| holder.finalizer());
            let kind = &view.snapshot.resource(above.object).kind;
            let has_users =
                finalizers.any(|finalizer| known_users(view.snapshot.text(finalizer), kind).next().is_some());
            has_users && above.waits_for.contains(&line.object)
        };
        line.state != State::Stuck
            || view.snapshot.facts.has_finished(line.object)
            || line.held_by.iter().any(refused)
            || line.held_by.is_empty() && explanation.waits.iter().any(keeps)
    };
    let last = last_of(explanation);
    !last.is_empty() && last.iter().all(is_known)
}

/// What waits for nothing else but what goes by itself.
fn last_of(explanation: &Explanation) -> Vec<&Waiting> {
    let moves = |line: &&Waiting| line.goes || line.lets_go;
    let going: FxHashSet<ObjectId> = explanation.waits.iter().filter(moves).map(|line| line.object).collect();
    let is_last = |line: &&Waiting| !line.above && line.waits_for.iter().all(|other| going.contains(other));
    let last: Vec<&Waiting> = explanation.waits.iter().filter(is_last).collect();
    let (moving, stays): (Vec<&Waiting>, Vec<&Waiting>) = last.into_iter().partition(moves);
    if stays.is_empty() { moving } else { stays }
}

/// Who has to do what before the object is deleted, as a clause after "until".
fn until(view: &ExplainView<'_>, explanation: &Explanation) -> String {
    let last = last_of(explanation);
    let held_by = last.iter().map(|line| (line.object, line.held_by.as_slice()));
    until_who_is_done(view.snapshot, &explanation.controllers, held_by).unwrap_or_else(|| {
        let others: Vec<ObjectId> =
            last.iter().map(|line| line.object).filter(|last| *last != explanation.object).collect();
        match view.snapshot.resource(explanation.object).kind.as_str() {
            "CustomResourceDefinition" if others.is_empty() => "its custom resources are deleted".to_owned(),
            _ => deleted(view, &others),
        }
    })
}

/// That these are deleted: a clause.
fn deleted(view: &ExplainView<'_>, objects: &[ObjectId]) -> String {
    let finished = objects.iter().all(|id| view.snapshot.facts.has_finished(*id));
    let taken = objects.iter().all(|id| view.snapshot.facts.is_being_taken(*id));
    match objects.len() {
        0 => "what it waits for is deleted".to_owned(),
        1 if view.snapshot.facts.runs_hooks(objects[0]) => {
            format!("the operation of {} ends", view.names(objects, NAMED))
        }
        1 if finished => format!("{}, which has finished, is deleted", view.names(objects, NAMED)),
        1 if taken => format!("{} is ready or deleted", view.names(objects, NAMED)),
        _ if taken => format!("{} are ready or deleted", view.names(objects, NAMED)),
        1 => format!("{} is deleted", view.names(objects, NAMED)),
        _ => format!("{} are deleted", view.names(objects, NAMED)),
    }
}

/// Whether something is wrong although a working collector and working controllers would finish the object.
fn in_trouble(explanation: &Explanation) -> bool {
    explanation.findings.iter().any(|finding| finding.severity <= Severity::Warning)
}

/// What triggers the projected outcome; empty if nothing does.
pub(super) fn because_of(view: &ExplainView<'_>, explanation: &Explanation) -> String {
    if let Some(Cause::Collector(Reason::NoOwnerLeft)) = explanation.end.cause {
        // Those that exist are deleted before.
        let owners: Vec<ObjectId> = explanation.references.iter().filter_map(ReferenceStory::leads_to).collect();
        if !owners.is_empty() {
            let owner = if owners.len() == 1 { "owner" } else { "owners" };
            return format!("its {owner} {} will be deleted", view.names(&owners, NAMED));
        }
    }
    explanation.end.because.as_ref().map(|because| because.message.clone()).unwrap_or_default()
}

/// The status of a reference, in a word, and the state of its owner.
pub(super) fn standing(standing: ReferenceStatus) -> (&'static str, Tone, Fate) {
    match standing {
        ReferenceStatus::Solid => ("exists", Tone::Good, Fate::Untouched),
        ReferenceStatus::Waiting => ("waiting", Tone::Warning, Fate::Waits),
        ReferenceStatus::NotServed => ("not served", Tone::Error, Fate::Error),
        ReferenceStatus::InvalidScope => ("invalid", Tone::Error, Fate::Error),
        ReferenceStatus::Unread => ("not read", Tone::Warning, Fate::Unsure),
        ReferenceStatus::Absent | ReferenceStatus::OtherUid | ReferenceStatus::ListKind => {
            ("□ missing", Tone::Error, Fate::Missing)
        }
        _ => ("invalid", Tone::Error, Fate::Error),
    }
}

/// Whether a line is a pod that nobody deletes, and that uses what waits for it.
pub(super) fn is_user(snapshot: &Snapshot, line: &Waiting) -> bool {
    let moves = snapshot.object(line.object).terminating() || line.goes || line.lets_go;
    !moves && snapshot.facts.pod(line.object).is_some()
}

/// The outcome of a blocker, and the word for it here.
pub(super) fn waiting(snapshot: &Snapshot, line: &Waiting) -> (Fate, &'static str) {
    let word = match line.state {
        _ if line.goes => return (Fate::Deleted, "will be deleted"),
        _ if line.lets_go => return (Fate::Kept, "stops blocking"),
        State::Stuck => Fate::Stuck,
        State::Unknown => Fate::Depends,
        State::Waiting if is_user(snapshot, line) => Fate::Kept,
        State::Waiting => Fate::Waits,
    };
    (word, word.text())
}
