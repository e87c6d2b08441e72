//! The words for fates, references and what mends them.

use serde::Serialize;

use crate::render::{
    plan::because,
    states::Fate as Shown,
    style::Tone,
    words::{count_kinds, kinds_of},
};
use gc_core::{
    apply::{ApplyPlan, ApplyResult, Arrival, Fate, FileReference, Mend, Standing},
    collector::Reason,
    model::Rule,
    plan::{Outcome, OutcomeKind},
    server::Propagation,
    simulate::Cause,
    wording::{count, thousands},
};

use super::ApplyView;

/// Why an object has its fate.
#[derive(Debug, Serialize)]
pub(super) struct Why {
    /// The reason in one word; its meaning never changes.
    pub reason: &'static str,
    /// Without a full stop.
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<Rule>,
}

/// The symbol and the word of a fate, and how its line looks.
pub(super) fn word(fate: Fate) -> (Tone, String) {
    let (tone, (_, word)) = match fate {
        Fate::Collected => (Tone::Error, Shown::Deleted.column_of("collected")),
        Fate::Terminating => (Tone::Error, Shown::Waits.column_of("Terminating")),
        Fate::GoesLater => (Tone::Error, Shown::Later.column()),
        Fate::Refused => (Tone::Error, Shown::Error.column_of("refused")),
        Fate::Unknown => (Tone::Warning, Shown::Unsure.column()),
        Fate::Stripped => (Tone::Warning, Shown::Kept.column()),
        Fate::Kept => (Tone::Plain, Shown::Kept.column()),
    };
    (tone, word)
}

/// The verdict in one sentence.
pub(super) fn verdict(view: &ApplyView<'_>) -> String {
    let counts = view.apply.counts();
    let of = format!("of {}", count(counts.objects, "object", "objects"));
    match view.apply.result() {
        ApplyResult::Collects if counts.lost() == 0 => {
            format!("COLLECTS: {} that the file does not have.", count(counts.others, "object", "objects"))
        }
        ApplyResult::Collects => {
            let others = match counts.others {
                0 => String::new(),
                1 => "; 1 other object goes with them".to_owned(),
                others => format!("; {} other objects go with them", thousands(others)),
            };
            format!("COLLECTS: {} {of} in the file ({}){others}.", thousands(counts.lost()), lost_kinds(view))
        }
        ApplyResult::Refused => {
            let are = if counts.refused == 1 { "is" } else { "are" };
            format!("REFUSED: {} {of} {are} refused; nothing is collected.", thousands(counts.refused))
        }
        ApplyResult::Unsure => {
            "UNSURE: not everything that decides could be read; nothing else is collected.".to_owned()
        }
        ApplyResult::Strips => {
            let lose = if counts.stripped == 1 { "loses" } else { "lose" };
            format!("STRIPS: {} {of} {lose} owner references; nothing is collected.", thousands(counts.stripped))
        }
        ApplyResult::Keeps => "KEEPS: nothing is collected.".to_owned(),
    }
}

/// `2 Pods, 1 ConfigMap`
fn lost_kinds(view: &ApplyView<'_>) -> String {
    let snapshot = &view.apply.scene.snapshot;
    let lost = view.apply.objects.iter().filter(|object| object.fate.is_loss());
    kinds_of(snapshot, count_kinds(snapshot, lost.filter_map(|object| object.placed.object)), usize::MAX)
}

/// Why an object of the file has its fate.
pub(super) fn why(view: &ApplyView<'_>, index: usize) -> Why {
    let object = &view.apply.objects[index];
    let written = view.objects[index].written();
    let outcome = object.placed.object.and_then(|object| view.apply.outcome(object));
    let plain = |reason, message: String| Why { reason, message, rule: None };
    match (&object.placed.arrival, object.fate) {
        (Arrival::Refused(refusal), _) => plain(refusal.name(), refusal.to_string()),
        (Arrival::Unknown(unread), _) => plain("unread", unread.to_string()),
        (_, Fate::Collected | Fate::Terminating) => match outcome {
            Some(outcome) => lost(view, index, outcome),
            None => plain("terminating", "it exists, and is being deleted already".to_owned()),
        },
        (_, Fate::GoesLater) => {
            let waits = |standing: &&Standing| matches!(standing, Standing::Going(_) | Standing::DefinedByFile(_));
            let first = object.standings.iter().find(waits);
            let message =
                each(written, &object.standings, |standing| !matches!(standing, Standing::Solid(_)) || first.is_none());
            let message = if first.is_none() { format!("its owners go later: {message}") } else { message };
            Why { reason: "goes-later", message, rule: first.map(Standing::rule) }
        }
        (_, Fate::Unknown) => {
            let unread = each(written, &object.standings, |standing| *standing == Standing::Unread);
            let message =
                if unread.is_empty() { "something that decides could not be read".to_owned() } else { unread };
            Why { reason: "unread", message, rule: Some(Rule::R10_2) }
        }
        (_, Fate::Stripped) => match outcome {
            Some(outcome) => lost(view, index, outcome),
            None => plain("solid-owner", "it loses owner references".to_owned()),
        },
        (arrival, Fate::Kept | Fate::Refused) => {
            let mut why = kept(arrival, written, &object.standings);
            if view.objects[index].name.is_empty() {
                why.message += " by kubectl create: kubectl apply refuses a generateName";
            }
            why
        }
    }
}

/// Why an object goes, or loses owner references.
fn lost(view: &ApplyView<'_>, index: usize, outcome: &Outcome) -> Why {
    let object = &view.apply.objects[index];
    let written = view.objects[index].written();
    let was_terminating = view.apply.scene.snapshot.object(outcome.object).terminating();
    let all_dangle = !written.is_empty() && object.standings.iter().all(Standing::dangles);
    let mut why = match &outcome.because {
        _ if was_terminating => {
            let held = if outcome.kind == OutcomeKind::Deleted { "; nothing holds it any more" } else { "" };
            let message = format!("it exists, and is being deleted already{held}");
            Why { reason: "terminating", message, rule: None }
        }
        Some(Cause::Collector(Reason::NoOwnerLeft)) if all_dangle => Why {
            reason: "dangling",
            message: each(written, &object.standings, |_| true),
            rule: object.standings.first().map(Standing::rule),
        },
        Some(cause) => {
            let told = because(&view.apply.scene.snapshot, outcome.object, cause, Propagation::Background);
            let rule = match cause {
                Cause::Collector(Reason::OtherOwnerSolid(_)) => Some(Rule::R8_5),
                Cause::Collector(_) => Some(Rule::R8_4),
                _ => None,
            };
            Why { reason: told.reason, message: told.message, rule }
        }
        None => Why { reason: "unread", message: "not certain".to_owned(), rule: None },
    };
    if outcome.kind == OutcomeKind::Terminating {
        let snapshot = &view.apply.scene.snapshot;
        let held: Vec<&str> = outcome.held_by.iter().map(|holder| holder.name(snapshot)).collect();
        let waits: Vec<String> = outcome.waits_for.iter().map(|object| snapshot.short_name(*object)).collect();
        if !held.is_empty() {
            why.message += &format!("; stays until this is removed: {}", held.join(", "));
        } else if !waits.is_empty() {
            why.message += &format!("; waits for {}", waits.join(", "));
        }
    }
    if !outcome.alternatives.is_empty() {
        why.message += "; other orders of events end differently";
    }
    why
}

fn kept(arrival: &Arrival, written: &[FileReference], standings: &[Standing]) -> Why {
    let done = match arrival {
        Arrival::Created => "created",
        Arrival::Patched => "exists; its owner references change",
        _ => "exists; its owner references stay as they are",
    };
    let odd = |standing: &Standing| {
        matches!(standing, Standing::InvalidScope | Standing::Unserved | Standing::DefinedByFile(_))
    };
    let shielded = each(written, standings, odd);
    let rule = standings.iter().find(|standing| odd(standing)).map(Standing::rule);
    let owners = each_name(written, standings, |standing| matches!(standing, Standing::Solid(_)));
    let message = match (shielded.is_empty(), owners.is_empty()) {
        (false, _) => format!("{done}; {shielded}"),
        (true, false) => format!("{done}; owned by {owners}"),
        (true, true) => done.to_owned(),
    };
    Why { reason: "kept", message, rule }
}

/// Owners that don't keep an object, in words: each with what is wrong.
fn each(written: &[FileReference], standings: &[Standing], wanted: impl Fn(&Standing) -> bool) -> String {
    let all = written.iter().zip(standings).filter(|(_, standing)| wanted(standing));
    let told: Vec<String> = all.map(|(reference, standing)| describe(reference, standing)).collect();
    told.join("; ")
}

fn each_name(written: &[FileReference], standings: &[Standing], wanted: impl Fn(&Standing) -> bool) -> String {
    let all = written.iter().zip(standings).filter(|(_, standing)| wanted(standing));
    all.map(|(reference, _)| name(reference)).collect::<Vec<_>>().join(", ")
}

fn name(reference: &FileReference) -> String {
    format!("{}/{}", reference.kind, reference.name)
}

/// What a reference comes to: a sentence about the owner.
pub(super) fn describe(reference: &FileReference, standing: &Standing) -> String {
    let owner = name(reference);
    match standing {
        Standing::Solid(_) => format!("its owner {owner} is there"),
        Standing::Going(_) => format!("its owner {owner} is being deleted"),
        Standing::NewUid(_) => format!("its owner {owner} gets a new uid"),
        Standing::OtherUid(_) => format!("its owner {owner} has another uid"),
        Standing::Elsewhere(namespace) => format!("its owner {owner} is in namespace {namespace}"),
        Standing::Absent { .. } => format!("its owner {owner} does not exist"),
        Standing::ListKind => format!("its owner {owner} is a list, and lists don't exist"),
        Standing::Unserved => {
            format!("no {} is served in {}, so the collector leaves it alone", reference.kind, reference.api_version)
        }
        Standing::DefinedByFile(definition) => {
            format!("its owner {owner} does not exist once {definition} is served")
        }
        Standing::InvalidScope => format!("its owner {owner} is namespaced, so the collector leaves it alone"),
        Standing::Unread => format!("whether its owner {owner} exists could not be read"),
    }
}

/// The changes of a mended file, one line for each reference.
pub fn mended(view: &ApplyView<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    for (index, mending) in view.mendings.iter().enumerate() {
        let object = view.name(index);
        let standings = &view.apply.objects[index].standings;
        let written = view.objects[index].written();
        for ((mend, standing), reference) in mending.references.iter().zip(standings).zip(written) {
            let owner = name(reference);
            lines.extend(match mend {
                Mend::Keep => None,
                Mend::SetUid(uid) => Some(format!("{object}: its owner {owner} has the uid {uid} now.")),
                Mend::Remove => {
                    Some(format!("{object}: its reference to {owner} was removed: {}.", describe(reference, standing)))
                }
                Mend::RemoveForNow => {
                    Some(format!("{object}: its reference to {owner} was removed for now: the file creates its owner."))
                }
            });
        }
        if mending.remove_uid {
            lines.push(format!("{object}: metadata.uid was removed: it exists with another one."));
        }
        if mending.remove_version {
            lines.push(format!("{object}: metadata.resourceVersion was removed: it has changed since."));
        }
    }
    lines
}

/// The objects that are refused even from the mended file, one line for each.
pub fn refused(view: &ApplyView<'_>, plan: &ApplyPlan) -> Vec<String> {
    let mut lines = Vec::new();
    for (index, object) in plan.objects.iter().enumerate() {
        if let Arrival::Refused(refusal) = &object.placed.arrival
            && !object.placed.other_uid
            && !object.placed.other_version
            && let Some(refusal) = view.mendings[index].refusal(view.objects[index], refusal)
        {
            lines.push(format!("{}: still refused: {refusal}.", view.name(index)));
        }
    }
    lines
}
