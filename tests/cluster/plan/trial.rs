//! Predicts a delete with the built program, does it, and compares.

use std::{cell::RefCell, panic, thread, time::Duration};

use serde_json::{Value, json};

use super::compare::compare;
use crate::harness::{Cluster, Listed, PATIENCE, Retry, poll, shared, text, wait_until};

/// The pod garbage collector deletes the pods of a Node a minute later.
const UNTIL_TRUE: Duration = Duration::from_mins(2);

/// How long a plan may be uncertain because the collector may not watch a new kind yet (R2.5).
const UNTIL_OLD: Duration = Duration::from_mins(1);

/// The three propagation policies.
pub const POLICIES: [&str; 3] = ["Background", "Foreground", "Orphan"];

/// Test namespaces on a cluster, and cluster-scoped objects whose names begin with that of the first.
pub struct Trial<'c> {
    pub cluster: &'c Cluster,
    /// The first namespace, which contains the targets.
    pub namespace: String,
    pub policy: &'static str,
    marks: RefCell<Vec<String>>,
    /// The Node whose kubelet the trial simulates.
    node: RefCell<Option<String>>,
    /// The uids of drafted objects that have owners.
    pub(super) made: RefCell<Vec<String>>,
}

impl<'c> Trial<'c> {
    /// A trial of one policy, on the shared cluster.
    #[track_caller]
    pub fn new(prefix: &str, policy: &'static str) -> Trial<'static> {
        Trial::on(shared(), prefix, policy)
    }

    /// A trial of one policy.
    #[track_caller]
    pub fn on(cluster: &'c Cluster, prefix: &str, policy: &'static str) -> Self {
        let namespace = cluster.namespace(prefix);
        Self {
            cluster,
            policy,
            marks: RefCell::new(vec![namespace.clone()]),
            namespace,
            node: RefCell::default(),
            made: RefCell::default(),
        }
    }

    /// Creates another namespace.
    #[track_caller]
    pub fn another_namespace(&self) -> String {
        let name = self.cluster.namespace(&self.namespace);
        self.marks.borrow_mut().push(name.clone());
        name
    }

    /// A name for a cluster-scoped object of this trial.
    pub fn global(&self, name: &str) -> String {
        format!("{}.{name}", self.namespace)
    }

    /// Adds a cluster-scoped object whose name doesn't begin like that to the trial.
    pub fn includes(&self, name: &str) {
        self.marks.borrow_mut().push(name.to_owned());
    }

    /// Creates a Node whose simulated kubelet ends deleted pods at once. Returns its name.
    #[track_caller]
    pub fn node(&self) -> String {
        let name = self.global("node");
        self.cluster.create(object!("v1 Node", {"name": name}));
        *self.node.borrow_mut() = Some(name.clone());
        name
    }

    /// Creates an admission policy of this kind, in force in this trial's namespace only. Returns its binding.
    pub fn policy(&self, kind: &str, spec: Value) -> Value {
        let (group, name) = ("admissionregistration.k8s.io/v1", &self.namespace);
        self.cluster.create(json!({"apiVersion": group, "kind": kind, "metadata": {"name": name}, "spec": spec}));
        let mut bound = json!({
            "policyName": name,
            "matchResources": {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": name}}},
        });
        if kind == "ValidatingAdmissionPolicy" {
            bound["validationActions"] = json!(["Deny"]);
        }
        let kind = format!("{kind}Binding");
        self.cluster.create(json!({"apiVersion": group, "kind": kind, "metadata": {"name": name}, "spec": bound}))
    }

    /// Creates a policy that refuses these operations on objects of a core resource in this trial's namespace, unless
    /// the expression holds. Returns its binding.
    pub fn refusing(&self, operations: &[&str], resource: &str, unless: &str) -> Value {
        let rule = json!({"apiGroups": [""], "apiVersions": ["v1"], "operations": operations, "resources": [resource]});
        let spec = json!({"matchConstraints": {"resourceRules": [rule]}, "validations": [{"expression": unless}]});
        self.policy("ValidatingAdmissionPolicy", spec)
    }

    /// The delete of these targets, with nothing else on the command line.
    pub fn deleting(self, targets: Vec<String>) -> Case<'c> {
        Case { trial: self, targets, flags: Vec::new(), grace: None }
    }

    /// Whether an object belongs to this trial.
    pub fn is_own(&self, object: &Value) -> bool {
        let (namespace, name) = (text(&object["metadata"]["namespace"]), text(&object["metadata"]["name"]));
        let is_named = |mark: &String| {
            name.strip_prefix(mark.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let marks = self.marks.borrow();
        if namespace.is_empty() { marks.iter().any(is_named) } else { marks.iter().any(|mark| mark == namespace) }
    }

    /// Those of these objects that belong to this trial.
    fn own(&self, objects: &[Value]) -> Vec<Value> {
        objects.iter().filter(|object| self.is_own(object)).cloned().collect()
    }

    /// Simulates the kubelet of this trial's node: a terminating pod's containers end at once.
    fn play_kubelet(&self) {
        let node = self.node.borrow();
        let Some(node) = node.as_deref() else { return };
        for pod in self.cluster.list(&format!("/api/v1/namespaces/{}/pods", self.namespace)) {
            let grace = pod["metadata"]["deletionGracePeriodSeconds"].as_i64().unwrap_or(0);
            if grace > 0 && pod["spec"]["nodeName"] == node {
                self.cluster.delete(&self.cluster.path_of(&named("v1", "Pod", &pod["metadata"])), None, Some(0));
            }
        }
    }
}

/// A delete as a user types it.
pub struct Case<'c> {
    pub trial: Trial<'c>,
    pub targets: Vec<String>,
    /// More flags, and the grace period that kubectl makes of them.
    pub flags: Vec<&'static str>,
    pub grace: Option<i64>,
}

impl Case<'_> {
    /// The command line.
    fn args(&self) -> Vec<String> {
        let propagation = format!("--propagation={}", self.trial.policy.to_lowercase());
        let mut args: Vec<String> =
            ["plan", "-o", "json", "-n", &self.trial.namespace, &propagation].map(str::to_owned).into();
        args.extend(self.flags.iter().map(|flag| (*flag).to_owned()));
        args.extend_from_slice(&self.targets);
        args
    }

    /// Deletes the targets for real, in the order of the plan and the way kubectl does: one DELETE after the other.
    #[track_caller]
    fn delete(&self, plan: &Value) {
        let cluster = self.trial.cluster;
        for target in plan["targets"].as_array().into_iter().flatten() {
            let object = named(text(&target["apiVersion"]), text(&target["kind"]), target);
            cluster.delete(&cluster.path_of(&object), Some(self.trial.policy), self.grace);
        }
    }
}

/// A case, its plan, and the objects before the delete.
pub struct Prediction<'c> {
    pub case: Case<'c>,
    pub plan: Value,
    before: Vec<Value>,
}

impl Prediction<'_> {
    /// The outcome of the object of this kind and name; `None` if the plan doesn't name it.
    pub fn outcome(&self, kind: &str, name: &str) -> Option<&str> {
        let is_it = |outcome: &&Value| outcome["object"]["kind"] == kind && outcome["object"]["name"] == name;
        self.plan["outcomes"].as_array()?.iter().find(is_it)?["outcome"].as_str()
    }

    /// Deletes for real.
    #[track_caller]
    pub fn delete(&self) {
        self.case.delete(&self.plan);
    }

    fn compare(&self, now: &[Value]) -> Result<(), String> {
        compare(&self.plan, &self.before, &self.case.trial.own(now))
    }
}

/// Waits until the collector has seen everything, and then plans these deletes.
#[track_caller]
pub fn predict<'c>(cases: Vec<Case<'c>>) -> Vec<Prediction<'c>> {
    let cluster = cases[0].trial.cluster;
    cluster.settled();
    let objects = cluster.objects_of(&cluster.listed());
    let commands: Vec<Vec<String>> = cases.iter().map(Case::args).collect();
    let plans: Vec<Value> = thread::scope(|scope| {
        let running: Vec<_> = commands.iter().map(|args| scope.spawn(move || plan(cluster, args))).collect();
        running.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| panic::resume_unwind(panic))).collect()
    });
    let predicted = |(case, plan): (Case<'c>, Value)| Prediction { plan, before: case.trial.own(&objects), case };
    cases.into_iter().zip(plans).map(predicted).collect()
}

/// Runs `plan`; again while a kind is too young for the plan to be certain.
#[track_caller]
fn plan(cluster: &Cluster, args: &[String]) -> Value {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let plan = poll(PATIENCE + UNTIL_OLD, || {
        let ran = cluster.gc(&args);
        assert!(!ran.stdout.is_empty(), "kubectl gc {}: {:?}\n{}", args.join(" "), ran.code, ran.stderr);
        let plan = ran.json();
        let result = plan["verdict"]["result"].as_str().expect("a result");
        // What can't be taken back, or doesn't end by itself.
        let is_bad = ["refused", "takes-down", "data-loss", "stuck", "depends"].contains(&result);
        ran.expect(if is_bad { 2 } else { 0 });
        assert_eq!(plan["complete"], true, "{}", plan["gaps"]);
        match plan["assumes"].to_string() {
            young if young.contains("the collector already watches") => Err(Retry::Later(young)),
            _ => Ok(plan),
        }
    });
    plan.unwrap_or_else(|why| panic!("kubectl gc {}: {why}", args.join(" ")))
}

/// Deletes and compares, reporting all errors at once. Waits until everything is as predicted, and checks that it stays
/// so.
#[track_caller]
pub fn all_come_true(predicted: &[Prediction<'_>]) {
    all_come_true_by(predicted, Prediction::delete);
}

/// The same with another way to delete.
#[track_caller]
pub fn all_come_true_by<'c>(predicted: &[Prediction<'c>], delete: impl Fn(&Prediction<'c>)) {
    let cluster = predicted[0].case.trial.cluster;
    for one in predicted {
        delete(one);
    }
    let is_there = |kind: &Listed| predicted.iter().any(|one| one.before.iter().any(|object| kind.is_of(object)));
    let kinds: Vec<Listed> = cluster.listed().into_iter().filter(is_there).collect();
    let compared = |now: &[Value]| {
        let wrong: Vec<String> = predicted.iter().filter_map(|one| one.compare(now).err()).collect();
        if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n\n")) }
    };
    let verdict = poll(UNTIL_TRUE, || {
        for one in predicted {
            one.case.trial.play_kubelet();
        }
        compared(&cluster.objects_of(&kinds)).map_err(Retry::Later)
    });
    verdict.unwrap_or_else(|error| panic!("{error}"));
    cluster.settled();
    let later = compared(&cluster.objects_of(&cluster.listed()));
    later.unwrap_or_else(|error| panic!("it was as foretold, and then came something more: {error}"));
}

/// For each policy: builds the same objects, predicts the delete of the targets, deletes, and compares.
///
/// `build` returns the targets as a user types them. What the plans say of the other policies is compared, too.
#[track_caller]
pub fn three_ways(prefix: &str, build: impl Fn(&Trial<'_>) -> Vec<String>) {
    three_ways_on(shared(), prefix, build);
}

/// The same on another cluster.
#[track_caller]
pub fn three_ways_on(cluster: &Cluster, prefix: &str, build: impl Fn(&Trial<'_>) -> Vec<String>) {
    let cases = POLICIES.map(|policy| {
        let trial = Trial::on(cluster, prefix, policy);
        let targets = build(&trial);
        trial.deleting(targets)
    });
    let predicted = predict(cases.into());
    check_alternatives(&predicted);
    all_come_true(&predicted);
}

/// Checks that what each plan says of the other policies matches their own plans: the graphs are equal.
#[track_caller]
fn check_alternatives(predicted: &[Prediction<'_>]) {
    for one in predicted {
        for instead in one.plan["otherPolicies"].as_array().into_iter().flatten() {
            let other = predicted.iter().find(|other| instead["propagation"] == other.case.trial.policy);
            let summary = &other.expect("all three ways are foretold").plan["summary"];
            assert_eq!(
                &instead["summary"], summary,
                "what the {} plan says of {}",
                one.case.trial.policy, instead["propagation"]
            );
        }
    }
}

/// As much of an object as its path needs.
fn named(api_version: &str, kind: &str, from: &Value) -> Value {
    let mut metadata = json!({"name": from["name"]});
    if from["namespace"].is_string() {
        metadata["namespace"] = from["namespace"].clone();
    }
    json!({"apiVersion": api_version, "kind": kind, "metadata": metadata})
}

/// Waits until a list contains this many objects.
#[track_caller]
pub fn wait_for_items(cluster: &Cluster, path: &str, count: usize) -> Vec<Value> {
    wait_until(&format!("{count} objects in {path}"), PATIENCE, || cluster.list(path).len() == count);
    cluster.list(path)
}
