//! The words for owners, reasons, and what a Terminating object waits for.

use jiff::{Timestamp, tz::TimeZone};

use gc_core::{
    account::{Content, DeletionPolicy, Holds, Millis, Owner, OwnerState, Reason},
    model::Identity,
    wording::{age, and_more, count},
};

/// How many owners a line names.
const NAMED: usize = 3;

/// Names objects and times as one account does.
pub(super) struct Words<'a> {
    pub namespaces: bool,
    pub zone: &'a TimeZone,
}

impl Words<'_> {
    /// `Kind/name`, with its namespace if that isn't clear.
    pub(super) fn object(&self, object: &Identity) -> String {
        if self.namespaces { object.placed() } else { object.short_name() }
    }

    /// The time of day.
    pub(super) fn time(&self, at: Millis) -> String {
        let time = Timestamp::from_millisecond(at).unwrap_or_default();
        time.to_zoned(self.zone.clone()).strftime("%H:%M:%S").to_string()
    }

    /// What is known of each owner: `its owner Runner/a (uid …) does not exist`.
    pub(super) fn owners(&self, owners: &[Owner]) -> String {
        let mut described: Vec<String> = owners.iter().take(NAMED).map(|owner| self.owner(owner)).collect();
        if owners.len() > NAMED {
            described.push(format!("and {}", count(owners.len() - NAMED, "more owner", "more owners")));
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
            OwnerState::Absent { current_uid: None } => format!("its owner {} does not exist", with_uid(owner)),
            OwnerState::Absent { current_uid: Some(uid) } => {
                format!("its owner {} does not exist, {name} has uid {uid} now", with_uid(owner))
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
            OwnerState::Unknown(why) => format!("its owner {} is unknown ({why})", with_uid(owner)),
        }
    }

    /// Why an object goes; `going` is the verb if the collector does it, `deleted` otherwise.
    pub(super) fn reason(&self, why: &Reason, going: &str, deleted: &str) -> String {
        match why {
            Reason::OwnersGone { owners } if why.is_certain() => format!("{going}: {}", self.owners(owners)),
            Reason::OwnersGone { owners } => format!("probably {going}: {}", self.owners(owners)),
            Reason::OwnerWaits { owners } => format!("{going}: {}", self.owners(owners)),
            Reason::Namespace { name } => format!("{deleted} with Namespace/{name}, which is being deleted"),
            Reason::Definition { name } => {
                format!("{deleted} with CustomResourceDefinition/{name}, which is being deleted")
            }
            Reason::NoOwner => format!("{deleted}, not by the collector: it has no owner"),
            Reason::OwnerExists { owners } => format!("{deleted}, not by the collector: {}", self.keeping(owners)),
            Reason::Unknown { owners } => format!("{deleted}; by whom is unknown: {}", self.owners(owners)),
            Reason::WhileLost => "gone; when and why is unknown, because its watch was lost".to_owned(),
        }
    }

    /// Of several owners, those that exist explain why the collector keeps an object.
    fn keeping(&self, owners: &[Owner]) -> String {
        let exists = |owner: &&Owner| matches!(owner.state, OwnerState::Exists { .. } | OwnerState::Watched);
        let keeping: Vec<Owner> = owners.iter().filter(exists).cloned().collect();
        self.owners(&keeping)
    }

    /// What a Terminating object waits for.
    pub(super) fn holds(&self, object: &Identity, holds: &Holds) -> String {
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
pub(super) fn finalizers(names: &[String]) -> String {
    let word = if names.len() == 1 { "finalizer" } else { "finalizers" };
    format!("{word} {}", names.join(", "))
}

/// `Kind/name` of an owner.
pub(super) fn named(owner: &Owner) -> String {
    format!("{}/{}", owner.kind, owner.name)
}

/// `Kind/name (uid …)` of an owner.
pub(super) fn with_uid(owner: &Owner) -> String {
    format!("{} (uid {})", named(owner), owner.uid)
}
