//! A running `watch -o json`, and its documents.

use std::{
    io::Read as _,
    path::Path,
    process::Stdio,
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::{
    harness::{self, ADMIN, PATIENCE},
    plan::trial::Trial,
};

pub(super) struct Watching {
    process: harness::Watching,
    schema: jsonschema::Validator,
}

impl Watching {
    /// Watches the namespace of a trial, and waits until everything is watched.
    #[track_caller]
    pub(super) fn namespace(trial: &Trial<'_>) -> Self {
        Self::start(trial, &trial.cluster.kubeconfig(ADMIN), &["-n", &trial.namespace])
    }

    /// The same with other arguments, by this kubeconfig file.
    #[track_caller]
    pub(super) fn start(trial: &Trial<'_>, kubeconfig: &Path, args: &[&str]) -> Self {
        let watching = Self::unlisted(trial, kubeconfig, args);
        watching.until("the first lists", |event| event["type"] == "Watching");
        watching
    }

    #[track_caller]
    pub(super) fn unlisted(trial: &Trial<'_>, kubeconfig: &Path, args: &[&str]) -> Self {
        let mut command = trial.cluster.gc_command(kubeconfig);
        let process = harness::Watching::of(command.args(["watch", "-o", "json"]).args(args).stderr(Stdio::piped()));
        let schema: Value = serde_json::from_str(include_str!("../../../docs/schema/watch-event.json")).unwrap();
        let schema = jsonschema::options().with_draft(jsonschema::Draft::Draft202012).build(&schema).unwrap();
        Watching { process, schema }
    }

    /// The events up to one for which this holds. Each one matches the schema.
    #[track_caller]
    pub(super) fn until(&self, what: &str, is_it: impl Fn(&Value) -> bool) -> Vec<Value> {
        let (begun, mut events) = (Instant::now(), Vec::new());
        while begun.elapsed() < PATIENCE {
            let Some(event) = self.process.next().map(event) else { continue };
            let wrong: Vec<String> = self.schema.iter_errors(&event).map(|error| error.to_string()).collect();
            assert!(wrong.is_empty(), "{event:#}\n{}", wrong.join("\n"));
            let found = is_it(&event);
            events.push(event);
            if found {
                return events;
            }
        }
        panic!("no {what} in {events:#?}");
    }

    /// The events up to this one.
    #[track_caller]
    pub(super) fn up_to(&self, of_type: &str, kind: &str, name: &str) -> Vec<Value> {
        let is_it = |event: &Value| is(event, of_type, kind, name);
        self.until(&format!("{of_type} {kind}/{name}"), is_it)
    }

    /// Ends it as Ctrl-C does. Returns the rest of its events, its standard error, and the exit code.
    #[track_caller]
    pub(super) fn interrupted(mut self) -> (Vec<Value>, String, Option<i32>) {
        let pid = Pid::from_raw(self.process.child.id().cast_signed()).expect("a pid");
        kill_process(pid, Signal::INT).expect("it runs");
        self.ended()
    }

    /// Waits until it ends by itself.
    #[track_caller]
    pub(super) fn ended(&mut self) -> (Vec<Value>, String, Option<i32>) {
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = self.process.child.try_wait().expect("a status") {
                break status;
            }
            assert!(begun.elapsed() < PATIENCE, "it does not end");
            thread::sleep(Duration::from_millis(20));
        };
        let mut stderr = String::new();
        self.process.child.stderr.take().expect("its errors").read_to_string(&mut stderr).expect("text");
        (self.process.rest().map(event).collect(), stderr, status.code())
    }
}

#[track_caller]
fn event(line: String) -> Value {
    serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
}

/// Whether an event has this type and is about this object.
pub(super) fn is(event: &Value, of_type: &str, kind: &str, name: &str) -> bool {
    event["type"] == of_type && event["object"]["kind"] == kind && event["object"]["name"] == name
}

/// The event of this type about this object.
#[track_caller]
pub(super) fn one<'e>(events: &'e [Value], of_type: &str, kind: &str, name: &str) -> &'e Value {
    let found = events.iter().find(|event| is(event, of_type, kind, name));
    found.unwrap_or_else(|| panic!("no {of_type} {kind}/{name} in {events:#?}"))
}

/// The reason of an event, with the owners and their states: `OwnersGone Widget/a=Absent`.
pub(super) fn because(event: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut because = text(&event["because"]["reason"]);
    for owner in event["because"]["owners"].as_array().into_iter().flatten() {
        because += &format!(" {}/{}={}", text(&owner["kind"]), text(&owner["name"]), text(&owner["state"]));
    }
    because
}
