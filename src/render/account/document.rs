//! Each happening as a JSON document on one line.

use serde::Serialize;

use crate::{
    account::{Change, DeletionPolicy, Happening, Holds, Loop, Owner, OwnerState, Reason, What},
    document::{API_VERSION, ObjectJson, ServerJson},
};

use super::{
    AccountOptions,
    words::{Words, is_certain},
};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WatchEventJson<'a> {
    api_version: &'static str,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<ServerJson>,
    time: String,
    r#type: &'static str,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    object: Option<ObjectJson<'a>>,
    #[serde(flatten)]
    details: Details<'a>,
}

/// What some types of events have.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Details<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    resource: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    watched_resources: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_watched: Option<Vec<NotWatchedJson<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gone: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    new: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    because: Option<ReasonJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    policy: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    waits_for: Option<HoldsJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    removed_finalizers: Option<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    owners: Option<Vec<OwnerJson<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    owners_left: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    managers: Option<Vec<&'a str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    times: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    former_uid: Option<&'a str>,
}

#[derive(Serialize)]
struct NotWatchedJson<'a> {
    resource: &'a str,
    reason: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ReasonJson<'a> {
    reason: &'static str,
    /// Whether the collector deletes it; none if that is unknown.
    collected: Option<bool>,
    certain: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    owners: Vec<OwnerJson<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct OwnerJson<'a> {
    api_version: &'a str,
    kind: &'a str,
    name: &'a str,
    uid: &'a str,
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    deleted_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    policy: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    current_uid: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unknown_because: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct HoldsJson<'a> {
    finalizers: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    grace_period_seconds: Option<i64>,
    /// The first ones.
    blocking_dependents: Vec<ObjectJson<'a>>,
    blocking_dependents_count: usize,
    orphaning: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<ContentJson<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ContentJson<'a> {
    objects: usize,
    with_finalizers: Vec<ObjectJson<'a>>,
}

/// A happening as a document, with its line break.
pub fn document(happening: &Happening, options: &AccountOptions<'_>) -> String {
    let words = Words { namespaces: options.namespaces, zone: &options.zone };
    let (r#type, details) = details(&happening.what);
    let object = match &happening.what {
        What::Object { object, .. } | What::Loop(Loop { object, .. }) => Some(ObjectJson::named(object)),
        _ => None,
    };
    let event = WatchEventJson {
        api_version: API_VERSION,
        kind: "WatchEvent",
        server: options.server.map(ServerJson::of),
        time: time(happening.at),
        r#type,
        message: words.what(&happening.what),
        object,
        details,
    };
    crate::render::document::json_line(&event)
}

fn time(at: i64) -> String {
    jiff::Timestamp::from_millisecond(at).unwrap_or_default().to_string()
}

fn details(what: &What) -> (&'static str, Details<'_>) {
    let of = |resource| Details { resource: Some(resource), ..Details::default() };
    match what {
        What::Watching { resources, missing } => {
            let missing = missing.iter().map(|one| NotWatchedJson { resource: &one.resource, reason: &one.why });
            let details = Details {
                watched_resources: Some(*resources),
                not_watched: Some(missing.collect()),
                ..Details::default()
            };
            ("Watching", details)
        }
        What::WatchFailing { resource, .. } => ("WatchFailing", of(resource)),
        What::WatchRecovered { resource } => ("WatchRecovered", of(resource)),
        What::WatchLost { resource } => ("WatchLost", of(resource)),
        What::Listed { resource, gone, new, .. } => {
            ("Listed", Details { gone: Some(*gone), new: Some(*new), ..of(resource) })
        }
        What::NotServed { resource, objects } => ("NotServed", Details { gone: Some(*objects), ..of(resource) }),
        What::Object { change, .. } => of_change(change),
        What::Loop(Loop { owner, times, managers, since, .. }) => {
            let details = Details {
                owners: Some(vec![owner_json(owner)]),
                times: Some(*times),
                managers: Some(managers.iter().map(String::as_str).collect()),
                since: Some(time(*since)),
                ..Details::default()
            };
            ("Loop", details)
        }
    }
}

fn of_change(change: &Change) -> (&'static str, Details<'_>) {
    let nothing = Details::default;
    match change {
        Change::DeletionRequested { policy, why, holds } => {
            let details = Details {
                policy: Some(policy_name(*policy)),
                because: Some(reason_json(why)),
                waits_for: Some(holds_json(holds)),
                ..nothing()
            };
            ("DeletionRequested", details)
        }
        Change::PolicyChanged { policy } => {
            ("PolicyChanged", Details { policy: Some(policy_name(*policy)), ..nothing() })
        }
        Change::Gone { why, after, removed } => {
            let details = Details {
                because: why.as_ref().map(reason_json),
                seconds: after.map(|after| after as f64 / 1000.0),
                removed_finalizers: Some(removed).filter(|removed| !removed.is_empty()).map(Vec::as_slice),
                ..nothing()
            };
            ("Gone", details)
        }
        Change::FinalizersRemoved { removed, .. } => {
            ("FinalizersRemoved", Details { removed_finalizers: Some(removed), ..nothing() })
        }
        Change::StillTerminating { since, holds } => {
            ("StillTerminating", Details { since: Some(time(*since)), waits_for: Some(holds_json(holds)), ..nothing() })
        }
        Change::OwnersRemoved { owners, left } => {
            ("OwnersRemoved", Details { owners: Some(owners_json(owners)), owners_left: Some(*left), ..nothing() })
        }
        Change::OwnersAdded { owners } => ("OwnersAdded", Details { owners: Some(owners_json(owners)), ..nothing() }),
        Change::CreatedDangling { manager, owners } => {
            let managers = manager.as_deref().map(|manager| vec![manager]);
            ("CreatedDangling", Details { owners: Some(owners_json(owners)), managers, ..nothing() })
        }
        Change::Recreated { times, manager, former_uid, owners } => {
            let managers = manager.as_deref().map(|manager| vec![manager]);
            let details = Details {
                owners: Some(owners_json(owners)).filter(|owners| !owners.is_empty()),
                managers,
                times: Some(*times),
                former_uid: Some(former_uid),
                ..nothing()
            };
            ("Recreated", details)
        }
    }
}

fn policy_name(policy: DeletionPolicy) -> &'static str {
    match policy {
        DeletionPolicy::Background => "Background",
        DeletionPolicy::Foreground => "Foreground",
        DeletionPolicy::Orphan => "Orphan",
    }
}

fn reason_json(why: &Reason) -> ReasonJson<'_> {
    let (reason, collected, name, owners): (_, _, Option<&str>, &[Owner]) = match why {
        Reason::OwnersGone { owners } => ("OwnersGone", Some(true), None, owners),
        Reason::OwnerWaits { owners } => ("OwnerWaits", Some(true), None, owners),
        Reason::Namespace { name } => ("Namespace", None, Some(name), &[]),
        Reason::Definition { name } => ("Definition", None, Some(name), &[]),
        Reason::NoOwner => ("NoOwner", Some(false), None, &[]),
        Reason::OwnerExists { owners } => ("OwnerExists", Some(false), None, owners),
        Reason::Unknown { owners } => ("Unknown", None, None, owners),
        Reason::WhileLost => ("WatchLost", None, None, &[]),
    };
    ReasonJson { reason, collected, certain: is_certain(why), name, owners: owners_json(owners) }
}

fn owners_json(owners: &[Owner]) -> Vec<OwnerJson<'_>> {
    owners.iter().map(owner_json).collect()
}

fn owner_json(owner: &Owner) -> OwnerJson<'_> {
    let Owner { api_version, kind, name, uid, state } = owner;
    let mut json = OwnerJson {
        api_version,
        kind,
        name,
        uid,
        state: "Exists",
        deleted_at: None,
        policy: None,
        current_uid: None,
        unknown_because: None,
    };
    match state {
        OwnerState::SeenGoing { at, policy } => {
            (json.state, json.deleted_at, json.policy) = ("Deleted", Some(time(*at)), policy.map(policy_name));
        }
        OwnerState::Absent { current_uid } => (json.state, json.current_uid) = ("Absent", current_uid.as_deref()),
        OwnerState::Waiting => json.state = "Waiting",
        OwnerState::Exists { terminating, .. } => json.state = if *terminating { "Terminating" } else { "Exists" },
        OwnerState::Watched => json.state = "Watched",
        OwnerState::Unknown(why) => (json.state, json.unknown_because) = ("Unknown", Some(why.as_str())),
    }
    json
}

fn holds_json(holds: &Holds) -> HoldsJson<'_> {
    HoldsJson {
        finalizers: &holds.finalizers,
        grace_period_seconds: holds.grace,
        blocking_dependents: holds.blocking.iter().map(ObjectJson::named).collect(),
        blocking_dependents_count: holds.blocking_count,
        orphaning: holds.orphaning,
        content: holds.content.as_ref().map(|known| ContentJson {
            objects: known.objects,
            with_finalizers: known.held.iter().map(ObjectJson::named).collect(),
        }),
    }
}
