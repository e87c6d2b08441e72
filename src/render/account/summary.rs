//! The end of an account, in a few lines.

use std::time::Duration;

use crate::{
    account::{Loop, Summary},
    wording::{age, count},
};

use super::{
    text::{makers_of, not_seen},
    words::with_uid,
};

/// How many loops are named.
const NAMED: usize = 5;

/// What was told, for standard error.
pub fn summary(summary: &Summary, took: Duration) -> Vec<String> {
    let Summary { collected, with_container, otherwise, unknown, recreated, terminating, loops, missing } = summary;
    let seconds = i64::try_from(took.as_secs()).unwrap_or(i64::MAX);
    let parts = [
        (*collected, "by the collector"),
        (*with_container, "with their namespace or definition"),
        (*otherwise, "not by the collector"),
        (*unknown, "for an unknown reason"),
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
    lines.extend(loops.iter().take(NAMED).map(looped));
    if loops.len() > NAMED {
        lines.push(format!("LOOP: and {} more.", loops.len() - NAMED));
    }
    if !missing.is_empty() {
        lines.push(format!("Not watched: {}.", not_seen(missing)));
    }
    lines
}

fn looped(found: &Loop) -> String {
    let Loop { object, owner, times, managers, .. } = found;
    let place = if object.namespace.is_empty() { String::new() } else { format!(" -n {}", object.namespace) };
    let by = if managers.is_empty() { String::new() } else { format!(" by {}", makers_of(managers)) };
    format!(
        "LOOP: {}{place} was made {times} times{by} with an owner that does not exist: {}.",
        object.short_name(),
        with_uid(owner)
    )
}
