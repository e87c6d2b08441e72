//! What an object's status says of why it is not deleted yet, in its controller's own words.

use serde_json::Value;

use super::read::{kind_has_facts, unix_seconds};

/// At most this many conditions are quoted, and so many characters of each.
const QUOTED: usize = 2;
const LONGEST: usize = 200;

/// Which keys of `status` [`read_said`] needs at each depth.
pub fn contains_said(depth: usize, key: &str) -> bool {
    match depth {
        0 => matches!(key, "conditions" | "detachError"),
        _ => matches!(key, "type" | "status" | "reason" | "message" | "lastTransitionTime"),
    }
}

/// Whether the status of objects of a kind may say why they are not deleted: those of Kubernetes' own kinds with facts
/// are understood, and read as these.
pub fn may_say_why(group: &str, kind: &str) -> bool {
    group.contains('.') && !kind_has_facts(group, kind)
}

/// What the status of a Terminating object says of why it is not deleted: a failed detachment, conditions about the
/// deletion, and conditions that are false. What changed since the object was deleted comes first, and says enough.
pub fn read_said(group: &str, kind: &str, object: &Value) -> Vec<String> {
    let seconds = |time: &Value| time.as_i64().or_else(|| unix_seconds(time.as_str()?));
    // `Value::pointer` takes memory, and this is asked of every object.
    let deleted = || object.get("metadata")?.get("deletionTimestamp").and_then(seconds);
    let Some(deleted) = may_say_why(group, kind).then(deleted).flatten() else { return Vec::new() };
    // storage.k8s.io/v1 VolumeAttachment
    let error = object.pointer("/status/detachError/message").and_then(Value::as_str);
    if let Some(message) = error.map(in_one_line).filter(|message| !message.is_empty()) {
        return vec![message];
    }
    let conditions = object.pointer("/status/conditions").and_then(Value::as_array);
    let mut said: Vec<(u8, String)> = Vec::new();
    for condition in conditions.into_iter().flatten() {
        let text = |key: &str| in_one_line(condition.get(key).and_then(Value::as_str).unwrap_or_default());
        let (kind, status, reason, message) = (text("type"), text("status"), text("reason"), text("message"));
        let is_about_deletion = ["Delet", "Terminat", "Drain"].iter().any(|word| kind.contains(word));
        let is_news = condition.get("lastTransitionTime").and_then(seconds).is_some_and(|time| time >= deleted);
        let says_nothing = message.is_empty() && matches!(reason.as_str(), "" | "Deleting" | "Terminating");
        if says_nothing || status != "False" && !is_about_deletion {
            continue;
        }
        // Argo CD's conditions have no status.
        let mut words = if status.is_empty() { kind } else { format!("{kind} is {status}") };
        let more = [&reason, &message].into_iter().filter(|text| !text.is_empty());
        more.for_each(|text| words = format!("{words}: {text}"));
        let rank = if is_about_deletion { 0 } else { 1 + u8::from(!is_news) };
        said.push((rank, in_one_line(&words)));
    }
    said.sort_by_key(|(rank, _)| *rank);
    let is_old = |rank: u8| rank == 2;
    let only_old = said.first().is_some_and(|(rank, _)| is_old(*rank));
    said.retain(|(rank, _)| only_old || !is_old(*rank));
    said.into_iter().take(QUOTED).map(|(_, words)| words).collect()
}

/// A message without line breaks, and cut where it is too long.
fn in_one_line(message: &str) -> String {
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
        assert!(read_said("", "Pod", &goes).is_empty() && read_said("batch", "Job", &goes).is_empty());
    }
}
