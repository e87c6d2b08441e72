//! What an object's status, and events about it, say of why it is not deleted yet, in its controller's own words.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    read::kind_has_facts,
    values::{in_one_line, unix_seconds},
};

/// At most this many conditions are quoted.
const QUOTED: usize = 2;

/// What is said of an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "ReadSaid")]
pub struct Said {
    pub words: String,
    pub source: Source,
    /// Whether it is an error.
    #[serde(rename = "error")]
    pub is_error: bool,
    /// When it was said, in Unix seconds, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<i64>,
}

/// Where that is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Source {
    /// In the status: about the deletion, or since then.
    Status,
    /// In the status; whether it was said before the deletion is not known.
    Untimed,
    /// In the status, before the deletion.
    Before,
    /// In an event since the deletion.
    Event,
}

impl Source {
    /// Who says it, and when, before a colon.
    pub fn speaker(self) -> &'static str {
        match self {
            Source::Status => "its controller says",
            Source::Untimed => "its controller says, and may have said so before the delete",
            Source::Before => "before the delete, its controller said",
            Source::Event => "an Event about it says",
        }
    }

    /// Whether it was said because of the deletion.
    pub fn is_of_deletion(self) -> bool {
        matches!(self, Source::Status | Source::Event)
    }
}

/// As older files have it, too.
#[derive(Deserialize)]
#[serde(untagged)]
enum ReadSaid {
    Words(String),
    Said { words: String, source: Source, error: bool, at: Option<i64> },
}

impl From<ReadSaid> for Said {
    fn from(read: ReadSaid) -> Said {
        match read {
            ReadSaid::Words(words) => Said { words, source: Source::Status, is_error: false, at: None },
            ReadSaid::Said { words, source, error, at } => Said { words, source, is_error: error, at },
        }
    }
}

/// Where a status tells an error besides its conditions: of VolumeAttachments (storage.k8s.io/v1), of kapp's Apps, and
/// of others.
const ERRORS: [&str; 6] =
    ["detachError", "attachError", "error", "errorMessage", "failureMessage", "usefulErrorMessage"];

fn is_of_error(key: &str) -> bool {
    // Of many names, such as `failureReason` and `lastError`.
    ERRORS.contains(&key) || key.contains("fail") || key.ends_with("Error")
}

/// What is in the type of a condition that means trouble if it is true, and in messages about trouble.
const TROUBLE: [&str; 14] = [
    "error",
    "fail",
    "stalled",
    "degraded",
    "block",
    "unavailable",
    "unreachable",
    "unhealthy",
    "invalid",
    "conflict",
    "cannot",
    "denied",
    // aws-controllers-k8s/runtime apis/core/v1alpha1/conditions.go
    "ack.recoverable",
    "ack.terminal",
];
/// What is in reasons that something prevents a deletion.
const REFUSED: [&str; 3] = ["NotEmpty", "InUse", "HasDependents"];
/// How the types of conditions end that are as they should be if they are true.
const WELL: [&str; 6] = ["Ready", "Available", "Succeeded", "Healthy", "Completed", "Synced"];

/// Which keys of `status` [`read_said`] needs at each depth.
pub fn contains_said(depth: usize, _: &str, key: &str) -> bool {
    match depth {
        0 => matches!(key, "conditions" | "v1beta2" | "message" | "phase" | "state") || is_of_error(key),
        _ => matches!(key, "conditions" | "type" | "status" | "reason" | "message" | "lastTransitionTime" | "time"),
    }
}

/// Whether the status of objects of a kind may say why they are not deleted: those of Kubernetes' own kinds with facts
/// are understood, and read as these.
pub fn may_say_why(group: &str, kind: &str) -> bool {
    group.contains('.') && !kind_has_facts(group, kind) || kind == "VolumeSnapshotContent"
}

fn tells_of_trouble(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    TROUBLE.iter().any(|word| text.contains(word))
}

/// Whether a condition of a Terminating object is a cause of trouble: one that should be true and is false, or one of
/// trouble, or about the deletion, that is true.
fn is_cause(kind: &str, status: &str) -> bool {
    let is_well = WELL.iter().any(|end| kind.ends_with(end)) && !kind.starts_with("Not");
    let is_trouble = !is_well && (tells_of_trouble(kind) || kind.starts_with("Not"));
    match status {
        // What is not going on, or not paused, is no trouble.
        "False" => !is_trouble && !kind.ends_with("ing") && !matches!(kind, "Paused" | "Suspended"),
        // Whoever does not answer can't be asked to end.
        "Unknown" => is_about_deletion(kind) || is_well,
        // Argo CD's conditions have no status.
        _ => is_trouble || !is_well && is_about_deletion(kind),
    }
}

fn is_about_deletion(kind: &str) -> bool {
    ["Delet", "Terminat", "Drain"].iter().any(|word| kind.contains(word))
}

/// What is in words that say what a deletion waits for.
const WAITS: [&str; 11] =
    ["wait", "still", "remain", "depend", "until", "pending", "left", "exist", "before", "requir", "not "];

/// What the status of a Terminating object says of why it is not deleted: a failed detachment, conditions about the
/// deletion, and conditions of trouble; else its error or message. What changed since the object was deleted comes
/// first, and says enough.
pub fn read_said(group: &str, kind: &str, object: &Value) -> Vec<Said> {
    // `Value::pointer` takes memory, and this is asked of every object.
    let deleted = || object.get("metadata")?.get("deletionTimestamp").and_then(seconds);
    // One that can't attach a volume that is being deleted is not deleted itself.
    let attaches = || (kind == "VolumeAttachment").then_some(0);
    let deleted = may_say_why(group, kind).then(|| deleted().or_else(attaches)).flatten();
    let (Some(deleted), Some(status)) = (deleted, object.get("status")) else { return Vec::new() };
    let source = |at: Option<i64>| match at {
        Some(at) if at < deleted => Source::Before,
        Some(_) => Source::Status,
        None => Source::Untimed,
    };
    let told = |key: &str| {
        let told = status.get(key)?;
        let words = in_one_line(told.as_str().or_else(|| told.get("message")?.as_str())?);
        let at = told.get("time").and_then(seconds);
        let source = if ERRORS[..2].contains(&key) { Source::Status } else { source(at) };
        (!words.is_empty()).then_some(Said { words, source, is_error: true, at })
    };
    if let Some(error) = told(ERRORS[0]).or_else(|| told(ERRORS[1])) {
        return vec![error];
    }
    let lists = [status.get("conditions"), status.get("v1beta2").and_then(|newer| newer.get("conditions"))];
    let mut said: Vec<(u8, Said)> = Vec::new();
    for condition in lists.into_iter().flatten().filter_map(Value::as_array).flatten() {
        let text = |key: &str| in_one_line(condition.get(key).and_then(Value::as_str).unwrap_or_default());
        let (kind, status, reason, message) = (text("type"), text("status"), text("reason"), text("message"));
        let says_nothing = message.is_empty() && matches!(reason.as_str(), "" | "Deleting" | "Terminating");
        if says_nothing || !is_cause(&kind, &status) {
            continue;
        }
        let at = condition.get("lastTransitionTime").and_then(seconds);
        let of_type = is_about_deletion(&kind);
        let mut words = if status.is_empty() { kind } else { format!("{kind} is {status}") };
        let more = [&reason, &message].into_iter().filter(|text| !text.is_empty());
        more.for_each(|text| words = format!("{words}: {text}"));
        let is_refused = REFUSED.iter().any(|word| words.contains(word));
        let is_error = tells_of_trouble(&words) || is_refused;
        // A deletion can't fail before it has begun.
        let of_deletion = is_refused || words.to_ascii_lowercase().contains("delet");
        let (rank, source) = match source(at) {
            _ if !is_error && only_repeats(&words) => (3, Source::Status),
            _ if of_type => (0, Source::Status),
            Source::Status => (1, Source::Status),
            Source::Untimed if of_deletion => (1, Source::Status),
            source => (2, source),
        };
        said.push((rank, Said { words, source, is_error, at }));
    }
    // What is older is told if there is nothing else, and what only repeats that it is being deleted only then.
    said.sort_by_key(|(rank, _)| *rank);
    let best = said.first().map_or(3, |(rank, _)| *rank);
    said.retain(|(rank, _)| *rank <= best.max(1));
    if best == 3 {
        let is_trouble = |said: &Said| {
            let in_state = |key| told(key).is_some_and(|state| tells_of_trouble(&state.words));
            ["phase", "state"].into_iter().any(in_state) || tells_of_trouble(&said.words)
        };
        let known = ERRORS.iter().find_map(|key| told(key));
        let keys = || status.as_object()?.keys().filter(|key| is_of_error(key)).find_map(|key| told(key));
        let error = known.or_else(keys);
        if let Some(error) = error.or_else(|| told("message").filter(is_trouble)) {
            return vec![error];
        }
    }
    said.into_iter().take(QUOTED).map(|(_, said)| said).collect()
}

/// Whether words that tell of no trouble say of an object only that it is being deleted.
fn only_repeats(words: &str) -> bool {
    let words = words.to_ascii_lowercase();
    let is_about = ["delet", "terminat", "drain"].iter().any(|word| words.contains(word));
    is_about && !WAITS.iter().any(|word| words.contains(word))
}

fn seconds(time: &Value) -> Option<i64> {
    time.as_i64().or_else(|| unix_seconds(time.as_str()?))
}

/// The keys of an event that [`read_warning`] reads, beside its type and message.
pub fn holds_warning(key: &str) -> Option<&'static str> {
    const KEYS: [&str; 9] = [
        "involvedObject",
        "regarding",
        "reason",
        "count",
        "deprecatedCount",
        "series",
        "lastTimestamp",
        "deprecatedLastTimestamp",
        "eventTime",
    ];
    KEYS.into_iter().find(|known| *known == key)
}

/// The uid of the object that a Warning is about, and what it says: of the core group, or of `events.k8s.io`,
/// whose note stands as the message.
pub fn read_warning(kind: &str, event: &Value) -> Option<(String, Said)> {
    if kind != "Event" || event["type"] != "Warning" {
        return None;
    }
    let either = |keys: [&str; 2]| keys.into_iter().find_map(|key| event.get(key).filter(|value| !value.is_null()));
    let uid = either(["involvedObject", "regarding"])?.get("uid")?.as_str().filter(|uid| !uid.is_empty())?;
    let times = [event.get("eventTime"), either(["lastTimestamp", "deprecatedLastTimestamp"])];
    let series = event.get("series");
    let times = times.into_iter().chain([series.and_then(|series| series.get("lastObservedTime"))]);
    let at = times.flatten().filter_map(seconds).max();
    let count = series.and_then(|series| series.get("count")).or_else(|| either(["count", "deprecatedCount"]));
    let times = match count.and_then(Value::as_i64) {
        Some(count) if count > 1 => format!(" ({count} times)"),
        _ => String::new(),
    };
    let message = in_one_line(event.get("message")?.as_str()?);
    let words = format!("{}{times}: {message}", event["reason"].as_str().unwrap_or_default());
    Some((uid.to_owned(), Said { words, source: Source::Event, is_error: true, at }))
}

/// What the API server refuses to a ServiceAccount.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Forbidden<'s> {
    /// Its namespace and name.
    pub(crate) account: (&'s str, &'s str),
    pub(crate) verb: &'s str,
    /// The resource in full, perhaps with a subresource: `widgets.acme.io/status`.
    pub(crate) resource: String,
}

impl Said {
    /// What it says that the API server refuses to a ServiceAccount (apiserver
    /// pkg/endpoints/handlers/responsewriters/errors.go: forbiddenMessage).
    pub(crate) fn forbidden(&self) -> Option<Forbidden<'_>> {
        let (_, rest) = self.words.split_once("forbidden: User \"system:serviceaccount:")?;
        let (account, rest) = rest.split_once("\" cannot ")?;
        let (verb, rest) = rest.split_once(" resource \"")?;
        let (resource, rest) = rest.split_once("\" in API group \"")?;
        let (group, _) = rest.split_once('"')?;
        let (plural, below) =
            resource.split_once('/').map_or((resource, None), |(plural, below)| (plural, Some(below)));
        let full = if group.is_empty() { plural.to_owned() } else { format!("{plural}.{group}") };
        let resource = below.map_or(full.clone(), |below| format!("{full}/{below}"));
        let is_whole = ![account, verb, &resource].iter().any(|part| part.contains(['…', ' ', '"']));
        is_whole.then_some(Forbidden { account: account.split_once(':')?, verb, resource })
    }

    /// What it says is not found: its kind or its resource, with a group if it has one, and its name (apimachinery
    /// pkg/api/errors:NewNotFound): `secrets "NAME" not found`.
    pub(crate) fn missing(&self) -> Option<(&str, &str)> {
        self.words.match_indices("\" not found").find_map(|(at, _)| {
            let (before, name) = self.words[..at].rsplit_once('"')?;
            let is_part = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-');
            let kind = before.strip_suffix(' ')?.rsplit(|letter| !is_part(letter)).next()?;
            (!kind.is_empty() && !name.is_empty()).then_some((kind, name))
        })
    }

    /// Whether it says that nothing can be created in a namespace, as that is being deleted (apiserver
    /// pkg/admission/plugin/namespace/lifecycle).
    pub(crate) fn tells_of_leaving_namespace(&self) -> bool {
        self.words.contains("because it is being terminated")
    }

    /// Whether it was said because of the deletion, and says more than that there is one.
    pub(crate) fn gives_a_reason(&self) -> bool {
        self.source == Source::Status && (self.is_error || !only_repeats(&self.words))
    }

    /// Whether an event says why a pod can't use its volumes: its kubelet may hang at that.
    pub(crate) fn tells_of_volumes(&self) -> bool {
        ["FailedMount", "FailedAttachVolume", "FailedMapVolume"].iter().any(|reason| self.words.starts_with(reason))
    }

    /// Whether an event says why a deletion takes its time. Of a pod, others tell of its containers' life.
    pub(crate) fn tells_of_deletion(&self) -> bool {
        const WORDS: [&str; 11] = [
            "delet", "finali", "terminat", "drain", "detach", "kill", "evict", "remov", "unmount", "teardown",
            "prestop",
        ];
        let text = self.words.to_ascii_lowercase();
        WORDS.iter().any(|word| text.contains(word)) && !text.starts_with("policyviolation")
    }

    /// Whether this event says more than another one about the same object: of the deletion, of its volumes, or later.
    pub fn outweighs(&self, other: &Said) -> bool {
        let rank = |said: &Said| (said.tells_of_deletion(), said.tells_of_volumes(), said.at);
        rank(self) > rank(other)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::facts::values::{BEGINNING, END};

    fn words(said: &[Said]) -> String {
        said.iter().map(|said| said.words.as_str()).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn conditions_about_the_deletion_come_first() {
        let of = |conditions: Value| {
            let metadata = json!({"deletionTimestamp": "2026-03-01T10:00:00Z"});
            let object = json!({"metadata": metadata, "status": {"conditions": conditions}});
            words(&read_said("acme.io", "Widget", &object))
        };
        let [before, after] = ["2026-03-01T09:00:00Z", "2026-03-01T11:00:00Z"];
        let condition = |kind: &str, status: &str, reason: &str, message: &str, time: &str| {
            json!({"type": kind, "status": status, "reason": reason, "message": message,
                "lastTransitionTime": time})
        };
        let old = condition("Ready", "False", "NoQuota", "quota is used up", before);
        let new = condition("Synced", "False", "ReconcileError", "bucket is\n  not empty.", after);
        let quiet = condition("Ready", "False", "Deleting", "", after);
        let hook = condition("DeleteHookSucceeded", "False", "WaitingExternalHook", "", after);
        let fine = condition("Healthy", "True", "", "all is well", after);
        assert_eq!(of(json!([old])), "Ready is False: NoQuota: quota is used up");
        assert_eq!(of(json!([old, quiet, fine, new])), "Synced is False: ReconcileError: bucket is not empty");
        let both = "DeleteHookSucceeded is False: WaitingExternalHook; Synced is False: ReconcileError: bucket is not \
            empty";
        assert_eq!(of(json!([new, hook])), both);
        let in_use = json!({"type": "Terminating", "status": "True", "reason": "InUse", "message": "it is in use"});
        assert_eq!(of(json!([in_use])), "Terminating is True: InUse: it is in use");
        let failed = json!({"type": "DeletionError", "message": "no such cluster"});
        assert_eq!(of(json!([failed])), "DeletionError: no such cluster");
        assert_eq!(of(json!([7, {"type": "Ready", "status": "False"}, null])), "");
        let is_cause = |kind: &str, status: &str| !of(json!([condition(kind, status, "R", "m", after)])).is_empty();
        let causes = [
            ("Error", "True"),
            ("Failed", "True"),
            ("Stalled", "True"),
            ("Ready", "False"),
            ("ReconcileError", "True"),
            ("DeletionError", ""),
            ("DeleteFailed", "True"),
            ("DeletionIsBlocked", "True"),
            ("NotReady", "True"),
            ("Synced", "False"),
            ("DrainingSucceeded", "False"),
        ];
        let fine = [
            ("Degraded", "False"),
            ("Stalled", "False"),
            ("Ready", "True"),
            ("Error", "False"),
            ("DeletionIsBlocked", "False"),
            ("Progressing", "False"),
            ("Paused", "False"),
            ("NotReady", "False"),
            ("DrainingSucceeded", "True"),
            ("FailureDomainsReady", "True"),
            ("Stalled", "Unknown"),
        ];
        for (all, expected) in [(causes, true), (fine, false)] {
            all.iter().for_each(|(kind, status)| assert_eq!(is_cause(kind, status), expected, "{kind} {status}"));
        }
        // The beginning of a long message is kept, and its end, where the cause is.
        let long =
            condition("Deleting", "True", "", &format!("{} {}, the cause.", "ä".repeat(300), "ö".repeat(300)), after);
        let said = of(json!([long]));
        assert_eq!(said.chars().count(), "Deleting is True: ".len() + BEGINNING + 3 + END);
        assert!(said.contains("ä … ö") && said.ends_with(", the cause"), "{said}");
        let just = condition("Deleting", "True", "", &"ä".repeat(BEGINNING + END - 20), after);
        assert!(!of(json!([just])).contains('…'));
    }

    #[test]
    fn only_what_is_terminating_and_not_understood_is_quoted() {
        let condition = json!([{"type": "Ready", "status": "False", "reason": "X", "message": "y"}]);
        let lives = json!({"metadata": {}, "status": {"conditions": condition}});
        assert!(read_said("acme.io", "Widget", &lives).is_empty());
        let goes = json!({"metadata": {"deletionTimestamp": 7}, "status": {"conditions": condition,
            "detachError": {"message": "no such node"}}});
        assert_eq!(words(&read_said("acme.io", "Widget", &goes)), "no such node");
        let says = |status: Value| {
            words(&read_said("acme.io", "Widget", &json!({"metadata": {"deletionTimestamp": 7}, "status": status})))
        };
        assert_eq!(says(json!({"error": {"message": "no quota"}})), "no quota");
        assert_eq!(says(json!({"phase": "Failed", "message": "no disk"})), "no disk");
        assert_eq!(says(json!({"message": "cannot reach it."})), "cannot reach it");
        assert_eq!(says(json!({"phase": "Ready", "message": "all is well"})), "");
        assert!(read_said("", "Pod", &goes).is_empty() && read_said("batch", "Job", &goes).is_empty());
    }

    /// What was said before the deletion is not why the object stays; when that was may not be known.
    #[test]
    fn what_is_older_than_the_deletion_is_no_reason() {
        let of = |status: Value| {
            let object = json!({"metadata": {"deletionTimestamp": 700}, "status": status});
            let said = read_said("acme.io", "Widget", &object);
            said.iter().map(|said| (said.source, said.is_error, said.at)).collect::<Vec<_>>()
        };
        let ready =
            |time: Value| json!({"type": "Ready", "status": "False", "reason": "X", "lastTransitionTime": time});
        let newer =
            json!({"v1beta2": {"conditions": [{"type": "Deleting", "status": "True", "reason": "WaitingForX"}]}});
        for (status, expected) in [
            (json!({"conditions": [ready(json!(600))]}), (Source::Before, false, Some(600))),
            (json!({"conditions": [ready(json!(800))]}), (Source::Status, false, Some(800))),
            (json!({"conditions": [ready(json!(null))]}), (Source::Untimed, false, None)),
            (newer, (Source::Status, false, None)),
            (json!({"error": {"message": "no quota", "time": 800}}), (Source::Status, true, Some(800))),
            (json!({"error": "no quota"}), (Source::Untimed, true, None)),
            (json!({"detachError": {"message": "no such node"}}), (Source::Status, true, None)),
            (
                json!({"conditions": [{"type": "ACK.Recoverable", "status": "True", "message": "BucketNotEmpty"}]}),
                (Source::Status, true, None),
            ),
        ] {
            assert_eq!(of(status.clone()), [expected], "{status}");
        }
    }

    #[test]
    fn warnings_are_read_from_events_of_both_groups() {
        let old = json!({"type": "Warning", "involvedObject": {"uid": "u"}, "reason": "FailedX",
            "message": "could\nnot.", "count": 3, "lastTimestamp": 70, "eventTime": null});
        let new = json!({"type": "Warning", "regarding": {"uid": "u"}, "reason": "FailedX", "message": "could not",
            "series": {"count": 3, "lastObservedTime": 70}, "eventTime": 50, "deprecatedCount": 1});
        let said = Said {
            words: "FailedX (3 times): could not".to_owned(),
            source: Source::Event,
            is_error: true,
            at: Some(70),
        };
        for event in [&old, &new] {
            assert_eq!(read_warning("Event", event), Some(("u".to_owned(), said.clone())));
        }
        assert_eq!(read_warning("Widget", &old), None);
        let with = |key: &str, value: Value| {
            let mut event = old.clone();
            event[key] = value;
            read_warning("Event", &event)
        };
        assert_eq!(with("type", json!("Normal")), None);
        assert_eq!(with("involvedObject", json!({"name": "n"})), None);
        let (_, late) = with("lastTimestamp", json!(71)).unwrap();
        let (_, of_deletion) = with("message", json!("failed to delete it")).unwrap();
        assert!(late.outweighs(&said) && of_deletion.outweighs(&late) && !said.outweighs(&said));
    }

    #[test]
    fn what_is_not_found_is_named() {
        let of = |words: &str| {
            let said = Said { words: words.to_owned(), source: Source::Event, is_error: true, at: None };
            said.missing().map(|(kind, name)| format!("{kind} {name}"))
        };
        for (words, named) in [
            ("secret \"a/b\" not found: x", "secret a/b"),
            ("no: serviceaccounts \"b\" not found", "serviceaccounts b"),
            ("Ready is False: Failed: it needs shops.acme.io \"b\" not found", "shops.acme.io b"),
        ] {
            assert_eq!(of(words).as_deref(), Some(named));
        }
        for words in ["\" not found", "not found", "secret \"b\" is invalid", "\"b\" not found"] {
            assert_eq!(of(words), None, "{words}");
        }
    }

    #[test]
    fn what_is_forbidden_names_an_account() {
        let of = |words: &str| Said { words: words.to_owned(), source: Source::Event, is_error: true, at: None };
        let told = "forbidden: User \"system:serviceaccount:acme:op\" cannot update resource \"widgets/status\" in API \
                    group \"acme.io\" at the cluster scope";
        let account = ("acme", "op");
        let resource = "widgets.acme.io/status".to_owned();
        assert_eq!(of(told).forbidden(), Some(Forbidden { account, verb: "update", resource }));
        let core = told.replace("widgets/status", "pods").replace("acme.io", "");
        assert_eq!(of(&core).forbidden().map(|it| it.resource), Some("pods".to_owned()));
        // What is cut, and who is no ServiceAccount.
        for other in [told.replace("acme:op", "ac … op"), told.replace("system:serviceaccount:acme:op", "alice")] {
            assert_eq!(of(&other).forbidden(), None);
        }
    }

    #[test]
    fn files_of_before_have_only_words() {
        let read: Vec<Said> = serde_json::from_value(json!(["no quota"])).unwrap();
        assert_eq!((words(&read).as_str(), read[0].source), ("no quota", Source::Status));
        let (_, said) =
            read_warning("Event", &json!({"type": "Warning", "message": "m", "regarding": {"uid": "u"}})).unwrap();
        assert_eq!(serde_json::from_value::<Said>(json!(said)).unwrap(), said);
    }
}
