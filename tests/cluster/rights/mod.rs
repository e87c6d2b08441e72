//! Users who may do little, under every command: what they can't see is neither absent nor well, and nothing is written
//! that depends on it.

mod cells;
mod users;
mod world;

use std::{sync::Mutex, thread};

use serde_json::{Value, json};
use world::{World, text};

use crate::{harness::Ran, plan::trial::Trial};

const USERS: [users::User; 12] = users::USERS;
const COMMANDS: [&str; 21] = cells::COMMANDS;
/// How many users are tried at the same time.
const AT_ONCE: usize = 4;

#[test]
fn who_may_not_read_secrets_under_every_command() {
    under_every_command(&USERS.iter().filter(|user| user.name == "no-secrets").collect::<Vec<_>>());
}

/// robustness rights: users who may do little, from nothing to all but secrets | {USERS} users under {COMMANDS}
///   commands each | an answer names what could not be read, once for each resource; no document calls itself complete
///   that isn't; nothing hidden is lost
#[test]
#[ignore = "long: twelve users, each under twenty-one commands"]
fn every_user_under_every_command() {
    under_every_command(&USERS.iter().collect::<Vec<_>>());
}

#[track_caller]
fn under_every_command(users: &[&'static users::User]) {
    let waiting = Mutex::new(users.iter());
    let faults = Mutex::new(Vec::new());
    let work = || {
        loop {
            let Some(user) = waiting.lock().unwrap().next() else { return };
            let world = World::of(user);
            for command in COMMANDS {
                faults.lock().unwrap().extend(cells::check(&world, command));
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(work);
        }
    });
    let faults = faults.into_inner().unwrap();
    assert!(faults.is_empty(), "{} faults:\n\n{}", faults.len(), faults.join("\n\n"));
}

/// All commands of all remedies.
fn commands(diagnosis: &Value) -> Vec<String> {
    let all = |value: &Value, key: &str| value[key].as_array().cloned().unwrap_or_default();
    let remedies = all(diagnosis, "findings").into_iter().flat_map(|finding| all(&finding, "remedies"));
    remedies.flat_map(|remedy| all(&remedy, "commands")).map(|command| text(&command).to_owned()).collect()
}

/// Owners that are deleted with `Orphan` and `Foreground` have dependents that can be seen, and Secrets.
const WAITING: [&str; 2] = ["orphaning", "waiting"];

/// robustness rights: `doctor`, `explain` and `plan` without secrets, which depend on owners that wait
///   | {WAITING} kinds of waiting | nothing is offered that lets the owner go, and nothing is said to end well
#[test]
fn owners_are_not_let_go_while_dependents_may_be_hidden() {
    let user = USERS.iter().find(|user| user.name == "no-secrets").expect("there is one");
    let world = World::of(user);
    let (cluster, namespace) = (world.trial.cluster, world.trial.namespace.as_str());
    let run = |line: &str| -> Ran {
        let args = line.split(' ').chain(["-n", namespace]).map(str::to_owned).collect::<Vec<_>>();
        world.run(&args)
    };
    // Whoever sees all is offered it.
    let lets_go = |command: &String| {
        let names = WAITING.iter().any(|name| command.contains(&format!("configmaps/{name} ")));
        names && (command.contains("/metadata/finalizers") || command.contains("--cascade=background"))
    };
    let seen = cluster.gc(&["doctor", "-o", "json", "-n", namespace]).json();
    assert_eq!(commands(&seen).iter().filter(|command| lets_go(command)).count(), WAITING.len(), "{seen:#}");
    let unseen = run("doctor -o json").json();
    assert_eq!(commands(&unseen).iter().find(|command| lets_go(command)), None, "{unseen:#}");
    let read = "Dependents may be among what could not be read: secrets (forbidden).";
    assert!(unseen["findings"].to_string().contains(read), "{unseen:#}");
    for name in WAITING {
        let told = run(&format!("explain cm/{name}")).ended(0);
        let told = told.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains("UNSURE: ") && told.contains(&format!("ConfigMap/{name}")), "{told}");
    }
    let next = &run("explain cm/orphaning -o json").json()["explanations"][0]["next"];
    assert_eq!((&next["action"], &next["reason"]), (&json!("Nothing"), &json!("Unread")), "{next:#}");
    let told = run("explain cm/orphaning").stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("Others may be among what could not be read: secrets (forbidden)."), "{told}");
    let plan = run("plan cm/orphaning").stdout;
    let first = "Next  read first what may still refer to ConfigMap/orphaning: secrets";
    assert!(plan.contains(first) && !plan.contains("gc delete"), "{plan}");
    let plan = cluster.gc(&["plan", "cm/orphaning", "-n", namespace]).stdout;
    assert!(plan.contains("gc explain configmaps/orphaning") && !plan.contains("read first"), "{plan}");
    let dependents = "what could not be read may contain dependents of";
    let foretold = run("sweep --dry-run").ended(1);
    let refuses = format!("error: without --dry-run, a sweep would refuse: {dependents}");
    assert!(foretold.stderr.contains(&refuses), "{foretold:#?}");
    let swept = run("sweep --yes").ended(1);
    assert!(swept.stderr.contains(&format!("error: nothing was changed: {dependents}")), "{swept:#?}");
}

/// robustness rights: a pass of `sweep` in one namespace, by a user of that namespace, of an owner that waits and has a
///   blocking dependent in another namespace | once | the plan says what it assumes; the owner goes, as nothing in its
///   namespace blocks it, and its dependent elsewhere is left to who may see it
#[test]
fn what_may_wait_for_another_namespace_is_told() {
    let user = USERS.iter().find(|user| user.name == "one-namespace").expect("there is one");
    let world = World::of(user);
    let (cluster, namespace) = (world.trial.cluster, world.trial.namespace.as_str());
    let elsewhere = Trial::on(cluster, "rights-elsewhere", "Background");
    let owner = world.trial.widget("owner-of-two").create();
    let here = world.trial.config_map("here").blocking(&owner).create();
    let there = elsewhere.config_map("there").blocking(&owner).create();
    cluster.delete(&cluster.path_of(&owner), Some("Foreground"), None);
    let args: Vec<String> = ["sweep", "--yes", "-n", namespace].map(str::to_owned).to_vec();
    let ran = world.run(&args).ended(0);
    let told = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let assumed = format!("nothing outside of namespace {namespace}, where not everything could be read, has an owner");
    assert!(told.contains(&assumed), "{ran:#?}");
    assert!([&owner, &here].iter().all(|object| cluster.get(&cluster.path_of(object)).is_none()), "{ran:#?}");
    assert_eq!(cluster.get(&cluster.path_of(&there)), Some(there.clone()));
    // Its owner is in another namespace: it goes anyway, as with the collector (R3.7).
    cluster.gc(&["sweep", "--yes", "-n", &elsewhere.namespace]).expect(0);
    assert_eq!(cluster.get(&cluster.path_of(&there)), None);
}
