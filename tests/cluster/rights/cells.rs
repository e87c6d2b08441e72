//! One user under one command.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    users::ANONYMOUS,
    world::{World, documents, text},
};
use crate::harness::Ran;

/// The commands, those that write last. `{folder}` is a folder of the world; `-n NAMESPACE` is added. Those that go on
/// are ended after what they say first.
pub const COMMANDS: [&str; 21] = [
    "tree",
    "tree -o json",
    "tree --watch -o json",
    "plan cm/owner --max=9",
    "plan cm/owner -o json",
    "explain cm/of-secret",
    "explain cm/orphaning cm/waiting",
    "doctor",
    "doctor cm/of-secret -o json",
    "doctor --watch -o json",
    "watch -o json",
    "watch cm/owner --until-gone -o json",
    "snapshot -o {folder}/snapshot.json",
    "archive cm/owner {folder}/archive.yaml",
    "sweep --dry-run -o json",
    "restore {folder}/before.yaml --yes",
    "delete cm/owner --yes --wait=false",
    "delete cm/alone --yes --wait=false",
    "delete cm/followed --yes",
    "delete cm/followed-all-the-same --yes --allow-incomplete",
    "sweep --yes --timeout=60s",
];

/// The commands that write.
const WRITING: [&str; 3] = ["restore", "delete", "sweep --yes"];

/// Runs a command, and says what is wrong with its answer.
pub fn check(world: &World, command: &str) -> Vec<String> {
    let folder = world.file("");
    let folder = folder.to_str().expect("a temporary folder has a readable name").trim_end_matches('/');
    let mut args: Vec<String> = command.split(' ').map(|word| word.replace("{folder}", folder)).collect();
    args.extend(["-n".to_owned(), world.trial.namespace.clone()]);
    let before = world.there();
    let is_account = command.starts_with("watch");
    let goes_on = is_account || command.contains("--watch");
    let ran = match goes_on {
        true if is_account => world.first_documents(&args, |events| !events.is_empty() && names_secrets(world, events)),
        true => world.first_documents(&args, |documents| !documents.is_empty()),
        false => world.run(&args),
    };
    let mut faults = Vec::new();
    let unfinished = command.starts_with("sweep") && ran.stdout.contains("NOT FINISHED");
    let may_write = WRITING.iter().any(|writing| command.starts_with(writing)) && (ran.code == Some(0) || unfinished);
    if !may_write && before != world.there() {
        faults.push("it has written".to_owned());
    }
    everywhere(world, &ran, &mut faults);
    if ran.code != Some(1) && !is_account {
        unread(world, command, &ran, &mut faults);
    }
    if command.ends_with("-o json") && ran.code != Some(1) {
        let all = documents(&ran.stdout);
        let told = &all[0];
        if all.iter().any(|told| told["server"]["tested"] != true) {
            faults.push("the document doesn't say of which server it is".to_owned());
        }
        if is_account { unwatched(world, &all, &mut faults) } else { document(world, told, &mut faults) }
    }
    if command.starts_with("delete") && ran.code == Some(0) && !command.contains("--wait=false") {
        followed(world, command, &ran, &mut faults);
    }
    faults.extend(world.losses());
    let told = |fault| {
        format!(
            "{}: {command}: {fault}\nexit code {:?}\n{}--- stderr\n{}",
            world.user.name, ran.code, ran.stdout, ran.stderr
        )
    };
    faults.into_iter().map(told).collect()
}

/// What holds for every answer.
fn everywhere(world: &World, ran: &Ran, faults: &mut Vec<String>) {
    if !matches!(ran.code, Some(0..=2)) || ran.stderr.contains("panicked") {
        faults.push("it doesn't end as documented".to_owned());
    }
    if ran.code == Some(1) && !ran.stderr.contains("error: ") && !ran.stdout.contains("NOT FINISHED") {
        faults.push("no error says why it failed".to_owned());
    }
    if ran.stderr.contains("\\n") {
        faults.push("lines are joined".to_owned());
    }
    if ran.stderr.contains("forbidden: forbidden") {
        faults.push("a word is doubled".to_owned());
    }
    if world.user.name != ANONYMOUS && ran.stderr.contains("user admin") {
        faults.push("it names another user".to_owned());
    }
    let mut told: BTreeMap<&str, usize> = BTreeMap::new();
    // A definition is an object with its resource's name.
    let stderr = without_definitions(&ran.stderr);
    // A flag to copy names them again.
    let words = stderr.split_whitespace().filter(|word| !word.starts_with("--allow-incomplete="));
    for word in words.flat_map(|word| word.split([',', ';', '(', ')', ':'])) {
        if ["configmaps", "secrets", "widgets.gc.test", "nodes", "namespaces"].contains(&word) {
            *told.entry(word).or_default() += 1;
        }
    }
    faults.extend(told.iter().filter(|(_, times)| **times > 1).map(|(word, times)| format!("{word}: {times} times")));
}

/// The text without the names of definitions, which stand in parentheses behind their resource.
fn without_definitions(text: &str) -> String {
    const DEFINITIONS: &str = "customresourcedefinitions.apiextensions.k8s.io (";
    match text.split_once(DEFINITIONS).and_then(|(before, rest)| Some((before, rest.split_once(')')?.1))) {
        Some((before, after)) => format!("{before}{}", without_definitions(after)),
        None => text.to_owned(),
    }
}

/// What can't be listed is named.
fn unread(world: &World, command: &str, ran: &Ran, faults: &mut Vec<String>) {
    let needs_nothing = command.starts_with("restore");
    if !needs_nothing && !world.may("list", "secrets") {
        if !ran.stderr.contains("Could not") {
            faults.push("it doesn't say that something was not read".to_owned());
        }
        if ran.stdout.contains("No problems found") {
            faults.push("it calls well what it didn't read".to_owned());
        }
    }
    if command.contains("--max") && !world.may("list", "secrets") && ran.code != Some(2) {
        faults.push("the gate is open".to_owned());
    }
}

/// A document says what is missing, once for each resource.
fn document(world: &World, document: &Value, faults: &mut Vec<String>) {
    let resources: Vec<&str> =
        document["gaps"].as_array().into_iter().flatten().map(|gap| text(&gap["resource"])).collect();
    if !world.may("list", "secrets") && (document["complete"] != false || !resources.contains(&"secrets")) {
        faults.push("the document doesn't say that secrets are missing".to_owned());
    }
    once_each(resources, faults);
}

/// The resources that an account doesn't watch: it says so when it begins, or when it learns of it.
fn unwatched_in(events: &[Value]) -> Vec<&str> {
    let first = events.iter().flat_map(|event| event["notWatched"].as_array().into_iter().flatten());
    let later = events.iter().filter(|event| event["type"] == "WatchFailing");
    let listed = events.iter().flat_map(|event| event["resources"].as_array().into_iter().flatten());
    first.chain(later).chain(listed).map(|it| text(&it["resource"])).collect()
}

/// Whether an account says what can't be seen of secrets, if there is anything to be said.
fn names_secrets(world: &World, events: &[Value]) -> bool {
    ["list", "watch"].into_iter().all(|verb| world.may(verb, "secrets")) || unwatched_in(events).contains(&"secrets")
}

/// What isn't watched is named, once for each resource.
fn unwatched(world: &World, events: &[Value], faults: &mut Vec<String>) {
    if events[0]["type"] != "Watching" {
        faults.push("it doesn't begin with what is watched".to_owned());
    }
    if !names_secrets(world, events) {
        faults.push("the account doesn't say that secrets are not watched".to_owned());
    }
    once_each(unwatched_in(events), faults);
}

fn once_each(mut resources: Vec<&str>, faults: &mut Vec<String>) {
    let all = resources.len();
    resources.sort_unstable();
    resources.dedup();
    if resources.len() < all {
        faults.push("several gaps for one resource".to_owned());
    }
}

/// A followed delete of what has no dependents says that it is gone, and it is.
fn followed(world: &World, command: &str, ran: &Ran, faults: &mut Vec<String>) {
    let name = command.split(['/', ' ']).nth(2).unwrap_or_default();
    if world.there().iter().any(|object| object["metadata"]["name"] == name) || !ran.stdout.contains("1 object") {
        faults.push("it doesn't follow to the end".to_owned());
    }
    if !command.contains("--allow-incomplete") && !world.may("list", "secrets") {
        faults.push("it deletes what hidden objects may depend on".to_owned());
    }
}
