//! The account of `watch`: one line of text, or one document, for each happening.

#[cfg(test)]
mod tests;

use std::time::Duration;

use jiff::{Timestamp, tz::TimeZone};
use serde::Serialize;

use gc_core::{
    account::{
        Change, Content, DeletionPolicy, Happening, Holds, Loop, Millis, Missing, Owner, OwnerState, Reason, Summary,
        What, time,
    },
    document::API_VERSION,
    model::{Identity, ServerVersion},
    wording::{age, and_more, count, grouped, maker, some_of, thousands},
};

use super::{
    document::json_line,
    escape::visible,
    states::{Style, Tone},
    words::wrapped,
};

/// How to write the lines.
#[derive(Clone, Debug)]
pub struct AccountOptions<'a> {
    /// Whether objects of several namespaces are told of.
    pub namespaces: bool,
    /// The width of the terminal; `None`: no line is broken.
    pub width: Option<usize>,
    pub style: &'a Style,
    pub zone: jiff::tz::TimeZone,
    /// The version of the server, if it tells it: every document says whether it is tested.
    pub server: Option<&'a ServerVersion>,
}

/// A happening as JSON.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WatchEventJson<'a> {
    api_version: &'static str,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<&'a ServerVersion>,
    time: String,
    r#type: &'static str,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    object: Option<&'a Identity>,
    #[serde(flatten)]
    what: &'a What,
}

/// A happening as a document, with its line break.
pub fn document(happening: &Happening, options: &AccountOptions<'_>) -> String {
    let words = Words { namespaces: options.namespaces, zone: &options.zone };
    let Happening { at, what } = happening;
    json_line(&WatchEventJson {
        api_version: API_VERSION,
        kind: "WatchEvent",
        server: options.server,
        time: time(*at),
        r#type: what.name(),
        message: words.what(what),
        object: what.object(),
        what,
    })
}

/// The columns of the time and the space after it.
const TIME: usize = 9;
/// How many unwatched resources are named for one reason.
const NAMED: usize = 6;
/// How many resources are named that are listed instead.
const NAMED_POLLED: usize = 3;
/// What introduces a loop.
const LOOP: &str = "LOOP:";

pub fn text(happening: &Happening, options: &AccountOptions<'_>) -> String {
    let words = Words { namespaces: options.namespaces, zone: &options.zone };
    let (time, line) = (words.time(happening.at), words.what(&happening.what));
    let line = visible(&line).into_owned();
    let lines = match options.width {
        Some(width) => wrapped(&line, width.saturating_sub(TIME).max(20)),
        None => vec![line],
    };
    let mut text = options.style.paint(Tone::Quiet, &time);
    for (number, line) in lines.iter().enumerate() {
        text += if number == 0 { " " } else { "\n         " };
        match line.strip_prefix(LOOP).filter(|_| number == 0) {
            Some(rest) => text += &format!("{}{rest}", options.style.paint(Tone::Error, LOOP)),
            None => text += &options.style.paint(tone(&happening.what), line),
        }
    }
    text + "\n"
}

fn tone(what: &What) -> Tone {
    match what {
        What::WatchFailing { .. } | What::Polled { .. } | What::WatchLost { .. } => Tone::Warning,
        What::Object { change: Change::StillTerminating { .. }, .. } => Tone::Warning,
        What::Watching { .. } | What::WatchRecovered { .. } | What::Listed { .. } => Tone::Quiet,
        _ => Tone::Plain,
    }
}

impl Words<'_> {
    /// A happening in words, without its time.
    fn what(&self, what: &What) -> String {
        match what {
            What::Watching { resources, missing } => {
                let mut text = format!("Watching {}.", count(*resources, "resource", "resources"));
                if !missing.is_empty() {
                    text += &format!(" What happens to these is not seen: {}.", not_seen(missing));
                }
                text
            }
            What::WatchFailing { resource, why } => {
                format!("{resource}: {why}; what happens to them is not seen until that works again")
            }
            What::Polled { resources } => polled(resources),
            What::WatchRecovered { resource } => format!("{resource} are watched again; nothing was missed"),
            What::WatchLost { resource } => {
                format!("{resource}: the watch was lost; listing them again. What happened in between is not known.")
            }
            What::Listed { resource, again: true, gone, new } => {
                format!("{resource} are watched again; meanwhile, {} went and {} came", thousands(*gone), new)
            }
            What::Listed { resource, .. } => format!("{resource} are watched from now on"),
            What::NotServed { resource, objects: 0 } => format!("{resource} are no longer served"),
            What::NotServed { resource, objects } => {
                format!("{resource} are no longer served; {} known", count(*objects, "object was", "objects were"))
            }
            What::Object { object, change } => format!("{} {}", self.object(object), self.change(object, change)),
            What::Loop(found) => self.found(found),
        }
    }

    fn change(&self, object: &Identity, change: &Change) -> String {
        match change {
            Change::DeletionRequested { policy, why, holds } => {
                let how = match policy {
                    DeletionPolicy::Background => "is being deleted",
                    DeletionPolicy::Foreground => "is being deleted in the foreground",
                    DeletionPolicy::Orphan => "is being deleted with --cascade=orphan",
                };
                let waits = self.holds(object, holds);
                let waits = if waits.is_empty() { waits } else { format!("; it waits for {waits}") };
                format!("{}{waits}", self.reason(why, "is being collected", how))
            }
            Change::PolicyChanged { policy: DeletionPolicy::Orphan } => {
                "was deleted again, with --cascade=orphan".to_owned()
            }
            Change::PolicyChanged { .. } => "was deleted again, in the foreground".to_owned(),
            Change::Gone { why: Some(why), .. } => self.reason(why, "collected", "deleted"),
            Change::Gone { why: None, after, .. } => {
                format!("gone{}", after.map(|after| format!(" after {}", seconds(after))).unwrap_or_default())
            }
            Change::FinalizersRemoved { removed, left } => {
                let left =
                    if left.is_empty() { "none is left".to_owned() } else { format!("left: {}", left.join(", ")) };
                format!("lost {}; {left}", finalizers(removed))
            }
            Change::StillTerminating { holds, since } => {
                let waits = self.holds(object, holds);
                let waits = match waits.is_empty() {
                    true => "what it waits for is not in its metadata".to_owned(),
                    false => format!("it waits for {waits}"),
                };
                format!("still Terminating since {}: {waits}", self.time(*since))
            }
            Change::OwnersRemoved { owners, left } => {
                let left = match left {
                    0 => "it has no owner any more".to_owned(),
                    left => format!("{} left", count(*left, "owner is", "owners are")),
                };
                format!("{}; {left}", self.removed(owners))
            }
            Change::OwnersAdded { owners } => {
                format!("is now owned by {}", owners.iter().map(named).collect::<Vec<_>>().join(", "))
            }
            Change::CreatedDangling { manager, owners } => {
                format!("created{}: {}; the collector deletes it", by(manager.as_ref(), ""), self.owners(owners))
            }
            Change::Recreated { times, manager, owners, .. } => {
                let times = if *times > 1 { format!(", {}", ordinal(*times)) } else { String::new() };
                let uid = &object.uid;
                let dangling = match owners.is_empty() {
                    true => String::new(),
                    false => format!(": {}; the collector deletes it", self.owners(owners)),
                };
                // An object without any field of its own has no managed fields.
                let unknown = || "; by whom is not known".to_owned();
                let by = manager.as_ref().map_or_else(unknown, |manager| by(Some(manager), ","));
                format!("recreated (uid {uid}{by}){times}{dangling}")
            }
        }
    }

    /// Why references were removed.
    fn removed(&self, owners: &[Owner]) -> String {
        let orphans = |owner: &Owner| match owner.state {
            OwnerState::SeenGoing { policy, .. } => policy == Some(DeletionPolicy::Orphan),
            OwnerState::Exists { orphaning, .. } => orphaning,
            _ => false,
        };
        if owners.iter().all(orphans) {
            return format!("orphaned: {}", self.owners(owners));
        }
        let names: Vec<String> = owners.iter().map(named).collect();
        format!("lost its reference to {}: {}", names.join(", "), self.owners(owners))
    }

    fn found(&self, found: &Loop) -> String {
        let Loop { object, owner, times, managers, since } = found;
        let owner_name = named(owner);
        let now = match &owner.state {
            OwnerState::Absent { current_uid: Some(uid) } => {
                format!("{owner_name} has uid {uid} now, so the maker goes by what it knew before")
            }
            _ => format!("there is no {owner_name} with this uid any more, so the maker goes by what it knew before"),
        };
        let makers = match managers.as_slice() {
            [] => "Its maker is not known (no field manager)".to_owned(),
            managers => format!("It is made by {}", makers_of(managers)),
        };
        format!(
            "{LOOP} {} was made {} since {} with the same owner that is missing, {}, and the collector deletes it \
             each time: {now}. {makers}. Next: restart or fix the maker, so that it names a {} that exists, or no \
             owner. From here on, only every doubling of this number is told.",
            self.object(object),
            count(*times as usize, "time", "times"),
            self.time(*since),
            with_uid(owner),
            owner.kind,
        )
    }
}

/// A short time with a tenth of a second.
fn seconds(time: Millis) -> String {
    if time < 10_000 { format!("{}.{}s", time / 1000, time % 1000 / 100) } else { age(time / 1000) }
}

fn by(manager: Option<&String>, joint: &str) -> String {
    manager.map(|manager| format!("{joint} by {}", maker(manager))).unwrap_or_default()
}

/// The makers of a loop, for a sentence.
fn makers_of(managers: &[String]) -> String {
    let mut makers: Vec<&str> = managers.iter().map(|manager| maker(manager)).collect();
    makers.dedup();
    makers.join(", ")
}

/// `2nd time`
fn ordinal(number: u32) -> String {
    let ending = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("the {number}{ending} time")
}

/// Resources that are not watched, grouped by reason.
fn not_seen(missing: &[Missing]) -> String {
    let by_reason = grouped(missing.iter().map(|Missing { resource, why }| (why, resource.as_str())));
    let reasons = by_reason.iter().map(|(why, resources)| format!("{} ({why})", some_of(resources, NAMED)));
    reasons.collect::<Vec<_>>().join("; ")
}

/// Describes that lists take the place of watches, each resource with the reason: one line for a reason.
pub fn polled(resources: &[Missing]) -> String {
    let by_reason = grouped(resources.iter().map(|Missing { resource, why }| (why, resource.as_str())));
    let line = |(reason, resources): &(&String, Vec<&str>)| match resources.as_slice() {
        [one] => format!("Cannot watch {one} ({reason}): listing it again and again instead."),
        many => format!(
            "Cannot watch {} resources ({reason}): listing them again and again instead ({}).",
            thousands(many.len()),
            some_of(many, NAMED_POLLED)
        ),
    };
    by_reason.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// How many loops are named.
const NAMED_LOOPS: usize = 5;

/// What was told, for standard error.
pub fn summary(summary: &Summary, took: Duration) -> Vec<String> {
    let Summary { collected, with_container, otherwise, unknown, recreated, terminating, loops, missing } = summary;
    let seconds = i64::try_from(took.as_secs()).unwrap_or(i64::MAX);
    let parts = [
        (*collected, "by the collector"),
        (*with_container, "with their namespace or definition"),
        (*otherwise, "not by the collector"),
        (*unknown, "for a reason that is not known"),
    ];
    let parts = parts.iter().filter(|(number, _)| *number > 0).map(|(number, how)| format!("{number} {how}"));
    let deletions = collected + with_container + otherwise + unknown;
    let mut line = format!("Watched for {}: {}", age(seconds), count(deletions, "deletion", "deletions"));
    let parts: Vec<String> = parts.collect();
    if !parts.is_empty() {
        line += &format!(" ({})", parts.join(", "));
    }
    line += &format!(", {} recreated, {terminating} still Terminating.", count(*recreated, "object", "objects"));
    let mut lines = vec![line];
    lines.extend(loops.iter().take(NAMED_LOOPS).map(looped));
    if loops.len() > NAMED_LOOPS {
        lines.push(format!("LOOP: and {} more.", loops.len() - NAMED_LOOPS));
    }
    if !missing.is_empty() {
        lines.push(format!("Not watched: {}.", not_seen(missing)));
    }
    lines
}

fn looped(found: &Loop) -> String {
    let Loop { object, owner, times, managers, .. } = found;
    let by = if managers.is_empty() { String::new() } else { format!(" by {}", makers_of(managers)) };
    format!("LOOP: {} was made {times} times{by} with an owner that is missing: {}.", object.placed(), with_uid(owner))
}

/// How many owners a line names.
const OWNERS: usize = 3;

/// Names objects and times as one account does.
struct Words<'a> {
    pub namespaces: bool,
    pub zone: &'a TimeZone,
}

impl Words<'_> {
    /// `Kind/name`, with its namespace if that isn't clear.
    fn object(&self, object: &Identity) -> String {
        if self.namespaces { object.placed() } else { object.short_name() }
    }

    /// The time of day.
    fn time(&self, at: Millis) -> String {
        let time = Timestamp::from_millisecond(at).unwrap_or_default();
        time.to_zoned(self.zone.clone()).strftime("%H:%M:%S").to_string()
    }

    /// What is known of each owner: `its owner Runner/a (uid …) does not exist`.
    fn owners(&self, owners: &[Owner]) -> String {
        let mut described: Vec<String> = owners.iter().take(OWNERS).map(|owner| self.owner(owner)).collect();
        if owners.len() > OWNERS {
            described.push(format!("and {}", count(owners.len() - OWNERS, "more owner", "more owners")));
        }
        described.join("; ")
    }

    fn owner(&self, owner: &Owner) -> String {
        let name = named(owner);
        match &owner.state {
            OwnerState::SeenGoing { at, policy } => {
                let how = match policy {
                    Some(DeletionPolicy::Background) => " in the background",
                    Some(DeletionPolicy::Foreground) => " in the foreground",
                    Some(DeletionPolicy::Orphan) => " with --cascade=orphan",
                    None => "",
                };
                format!("its owner {name} was deleted{how} at {}", self.time(*at))
            }
            OwnerState::Absent { current_uid: None } => format!("its owner {} is missing", with_uid(owner)),
            OwnerState::Absent { current_uid: Some(uid) } => {
                format!("its owner {} is missing, {name} has uid {uid} now", with_uid(owner))
            }
            OwnerState::Waiting => format!("its owner {name} is being deleted in the foreground"),
            OwnerState::Exists { terminating: false, .. } => format!("its owner {name} exists"),
            OwnerState::Exists { orphaning: true, .. } => {
                format!("its owner {name} is being deleted with --cascade=orphan")
            }
            OwnerState::Exists { .. } => {
                format!("its owner {name} exists: it is Terminating, but not in the foreground")
            }
            OwnerState::Watched => format!("its owner {name} exists, as far as its watch shows"),
            OwnerState::Unknown(why) => format!("whether its owner {} exists is not known ({why})", with_uid(owner)),
        }
    }

    /// Why an object goes; `going` is the verb if the collector does it, `deleted` otherwise.
    fn reason(&self, why: &Reason, going: &str, deleted: &str) -> String {
        match why {
            Reason::OwnersGone { owners } if why.is_certain() => format!("{going}: {}", self.owners(owners)),
            Reason::OwnersGone { owners } => format!("{going} (not certain): {}", self.owners(owners)),
            Reason::OwnerWaits { owners } => format!("{going}: {}", self.owners(owners)),
            Reason::Namespace { name } => format!("{deleted} with Namespace/{name}, which is being deleted"),
            Reason::Definition { name } => {
                format!("{deleted} with CustomResourceDefinition/{name}, which is being deleted")
            }
            Reason::NoOwner => format!("{deleted}, not by the collector: it has no owner"),
            Reason::OwnerExists { owners } => format!("{deleted}, not by the collector: {}", self.keeping(owners)),
            Reason::Unknown { owners } => format!("{deleted}; by whom is not known: {}", self.owners(owners)),
            Reason::WhileLost => "gone; when and why is not known, because its watch was lost".to_owned(),
        }
    }

    /// Of several owners, those that exist explain why the collector keeps an object.
    fn keeping(&self, owners: &[Owner]) -> String {
        let exists = |owner: &&Owner| matches!(owner.state, OwnerState::Exists { .. } | OwnerState::Watched);
        let keeping: Vec<Owner> = owners.iter().filter(exists).cloned().collect();
        self.owners(&keeping)
    }

    /// What a Terminating object waits for.
    fn holds(&self, object: &Identity, holds: &Holds) -> String {
        let mut waits: Vec<String> = Vec::new();
        if !holds.finalizers.is_empty() {
            waits.push(finalizers(&holds.finalizers));
        }
        if holds.blocking_count > 0 {
            let named: Vec<String> = holds.blocking.iter().map(|dependent| self.object(dependent)).collect();
            let more = and_more(holds.blocking_count.saturating_sub(named.len()));
            let word = if holds.blocking_count == 1 { "its dependent" } else { "its dependents" };
            waits.push(format!("{word} {}{more}", named.join(", ")));
        }
        if holds.orphaning {
            waits.push("the collector, which frees its dependents".to_owned());
        }
        match holds.grace {
            Some(grace) if object.kind == "Pod" => waits.push(format!("its kubelet (grace period {})", age(grace))),
            Some(grace) => waits.push(format!("its grace period of {}", age(grace))),
            None => {}
        }
        waits.extend(holds.content.as_ref().and_then(|content| self.content(object, content)));
        waits.join("; ")
    }

    fn content(&self, object: &Identity, content: &Content) -> Option<String> {
        if content.objects == 0 {
            return None;
        }
        let what = if object.kind == "Namespace" { "in it" } else { "of its kind" };
        let mut text = format!("{} {what}", count(content.objects, "object", "objects"));
        if !content.held.is_empty() {
            let held: Vec<String> = content.held.iter().map(Identity::short_name).collect();
            text += &format!(", with finalizers: {}", held.join(", "));
        }
        Some(text)
    }
}

/// `finalizers a, b`
fn finalizers(names: &[String]) -> String {
    let word = if names.len() == 1 { "finalizer" } else { "finalizers" };
    format!("{word} {}", names.join(", "))
}

/// `Kind/name` of an owner.
fn named(owner: &Owner) -> String {
    format!("{}/{}", owner.kind, owner.name)
}

/// `Kind/name (uid …)` of an owner.
fn with_uid(owner: &Owner) -> String {
    format!("{} (uid {})", named(owner), owner.uid)
}
