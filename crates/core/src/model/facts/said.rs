//! What an object's status says of why it is not deleted yet, in its controller's own words.

use serde_json::Value;

use super::{read::kind_has_facts, values::unix_seconds};

/// At most this many conditions are quoted, and so many characters of each.
const QUOTED: usize = 2;
const LONGEST: usize = 200;

/// Where a status tells an error besides its conditions: of VolumeAttachments (storage.k8s.io/v1), of kapp's Apps, and
/// of others.
const ERRORS: [&str; 6] =
    ["detachError", "attachError", "error", "errorMessage", "failureMessage", "usefulErrorMessage"];

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
/// How the types of conditions end that are as they should be if they are true.
const WELL: [&str; 6] = ["Ready", "Available", "Succeeded", "Healthy", "Completed", "Synced"];

/// Which keys of `status` [`read_said`] needs at each depth.
pub fn contains_said(depth: usize, key: &str) -> bool {
    match depth {
        0 => matches!(key, "conditions" | "message" | "phase" | "state") || ERRORS.contains(&key),
        _ => matches!(key, "type" | "status" | "reason" | "message" | "lastTransitionTime"),
    }
}

/// Whether the status of objects of a kind may say why they are not deleted: those of Kubernetes' own kinds with facts
/// are understood, and read as these.
pub fn may_say_why(group: &str, kind: &str) -> bool {
    group.contains('.') && !kind_has_facts(group, kind)
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
        "Unknown" => is_about_deletion(kind),
        // Argo CD's conditions have no status.
        _ => is_trouble || !is_well && is_about_deletion(kind),
    }
}

fn is_about_deletion(kind: &str) -> bool {
    ["Delet", "Terminat", "Drain"].iter().any(|word| kind.contains(word))
}

/// What the status of a Terminating object says of why it is not deleted: a failed detachment, conditions about the
/// deletion, and conditions of trouble; else its error or message. What changed since the object was deleted comes
/// first, and says enough.
pub fn read_said(group: &str, kind: &str, object: &Value) -> Vec<String> {
    let seconds = |time: &Value| time.as_i64().or_else(|| unix_seconds(time.as_str()?));
    // `Value::pointer` takes memory, and this is asked of every object.
    let deleted = || object.get("metadata")?.get("deletionTimestamp").and_then(seconds);
    // One that can't attach a volume that is being deleted is not deleted itself.
    let attaches = || (kind == "VolumeAttachment").then_some(0);
    let deleted = may_say_why(group, kind).then(|| deleted().or_else(attaches)).flatten();
    let (Some(deleted), Some(status)) = (deleted, object.get("status")) else { return Vec::new() };
    let told = |key: &str| {
        let text = status.get(key).and_then(|told| told.as_str().or_else(|| told.get("message")?.as_str()));
        text.map(in_one_line).filter(|text| !text.is_empty())
    };
    if let Some(message) = told(ERRORS[0]).or_else(|| told(ERRORS[1])) {
        return vec![message];
    }
    let conditions = status.get("conditions").and_then(Value::as_array);
    let mut said: Vec<(u8, String)> = Vec::new();
    for condition in conditions.into_iter().flatten() {
        let text = |key: &str| in_one_line(condition.get(key).and_then(Value::as_str).unwrap_or_default());
        let (kind, status, reason, message) = (text("type"), text("status"), text("reason"), text("message"));
        let is_news = condition.get("lastTransitionTime").and_then(seconds).is_some_and(|time| time >= deleted);
        let says_nothing = message.is_empty() && matches!(reason.as_str(), "" | "Deleting" | "Terminating");
        if says_nothing || !is_cause(&kind, &status) {
            continue;
        }
        let rank = if is_about_deletion(&kind) { 0 } else { 1 + u8::from(!is_news) };
        let mut words = if status.is_empty() { kind } else { format!("{kind} is {status}") };
        let more = [&reason, &message].into_iter().filter(|text| !text.is_empty());
        more.for_each(|text| words = format!("{words}: {text}"));
        said.push((rank, in_one_line(&words)));
    }
    said.sort_by_key(|(rank, _)| *rank);
    let is_old = |rank: u8| rank == 2;
    let only_old = said.first().is_some_and(|(rank, _)| is_old(*rank));
    said.retain(|(rank, _)| only_old || !is_old(*rank));
    if said.is_empty() {
        let is_trouble = |text: &String| {
            ["phase", "state"].iter().any(|key| told(key).is_some_and(|it| tells_of_trouble(&it)))
                || tells_of_trouble(text)
        };
        let error = ERRORS.iter().find_map(|key| told(key));
        return error.or_else(|| told("message").filter(is_trouble)).into_iter().collect();
    }
    said.into_iter().take(QUOTED).map(|(_, words)| words).collect()
}

/// A message without line breaks, and cut where it is too long.
pub(super) fn in_one_line(message: &str) -> String {
    let line = message.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.trim_end_matches('.').to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn conditions_about_the_deletion_come_first() {
        let of = |conditions: Value| {
            let metadata = json!({"deletionTimestamp": "2026-03-01T10:00:00Z"});
            let object = json!({"metadata": metadata, "status": {"conditions": conditions}});
            read_said("acme.io", "Widget", &object).join("; ")
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
        let long = condition("Deleting", "True", "", &"ä".repeat(300), after);
        assert_eq!(of(json!([long])).chars().count(), LONGEST + 1);
    }

    #[test]
    fn only_what_is_terminating_and_not_understood_is_quoted() {
        let condition = json!([{"type": "Ready", "status": "False", "reason": "X", "message": "y"}]);
        let lives = json!({"metadata": {}, "status": {"conditions": condition}});
        assert!(read_said("acme.io", "Widget", &lives).is_empty());
        let goes = json!({"metadata": {"deletionTimestamp": 7}, "status": {"conditions": condition,
            "detachError": {"message": "no such node"}}});
        assert_eq!(read_said("acme.io", "Widget", &goes), ["no such node"]);
        let says = |status: Value| {
            read_said("acme.io", "Widget", &json!({"metadata": {"deletionTimestamp": 7}, "status": status})).join("; ")
        };
        assert_eq!(says(json!({"error": {"message": "no quota"}})), "no quota");
        assert_eq!(says(json!({"phase": "Failed", "message": "no disk"})), "no disk");
        assert_eq!(says(json!({"message": "cannot reach it."})), "cannot reach it");
        assert_eq!(says(json!({"phase": "Ready", "message": "all is well"})), "");
        assert!(read_said("", "Pod", &goes).is_empty() && read_said("batch", "Job", &goes).is_empty());
    }
}
