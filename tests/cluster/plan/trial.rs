//! A delete that is foretold by the built program, done for real, and compared.

use std::{cell::RefCell, time::Duration};

use serde_json::{Value, json};

use super::compare::compare;
use crate::harness::{Cluster, Listed, Retry, poll, shared, wait_until};

/// The namespace controller looks again only after some seconds, and the API server's own clean-up of definitions polls.
const PATIENCE: Duration = Duration::from_secs(30);

/// The three ways to delete.
pub const POLICIES: [&str; 3] = ["Background", "Foreground", "Orphan"];

/// Namespaces of its own on the shared cluster, and cluster-scoped objects whose names begin with that of the first.
pub struct Trial {
    pub cluster: &'static Cluster,
    /// The first namespace, where targets are.
    pub namespace: String,
    marks: RefCell<Vec<String>>,
    /// The Node whose kubelet is played here.
    node: RefCell<Option<String>>,
    pub policy: &'static str,
}

/// What was foretold, and what was there then.
pub struct Foretold<'t> {
    trial: &'t Trial,
    pub plan: Value,
    before: Vec<Value>,
    /// The kinds of what was there.
    kinds: Vec<Listed>,
    grace: Option<i64>,
}

impl Trial {
    /// A trial of one way to delete.
    #[track_caller]
    pub fn new(prefix: &str, policy: &'static str) -> Self {
        let cluster = shared();
        let namespace = cluster.namespace(prefix);
        Self { cluster, marks: RefCell::new(vec![namespace.clone()]), namespace, node: RefCell::default(), policy }
    }

    /// Another namespace.
    #[track_caller]
    pub fn another_namespace(&self) -> String {
        let name = self.cluster.namespace(&self.namespace);
        self.marks.borrow_mut().push(name.clone());
        name
    }

    /// Something else whose end matters, by the name of the cluster-scoped object.
    pub fn watch_over(&self, name: &str) {
        self.marks.borrow_mut().push(name.to_owned());
    }

    /// A name for a cluster-scoped object of this trial.
    pub fn global(&self, name: &str) -> String {
        format!("{}.{name}", self.namespace)
    }

    /// A Node that exists, whose kubelet ends pods as soon as they are told to. Returns its name.
    #[track_caller]
    pub fn node(&self) -> String {
        let name = self.global("node");
        self.cluster.create(json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}));
        *self.node.borrow_mut() = Some(name.clone());
        name
    }

    /// Everything that matters here.
    #[track_caller]
    fn look(&self, kinds: &[Listed]) -> Vec<Value> {
        let marks = self.marks.borrow();
        let marks: Vec<&str> = marks.iter().map(String::as_str).collect();
        self.cluster.objects_of(kinds, &marks)
    }

    /// Lets the collector see everything, and then asks the program what deleting these would do.
    #[track_caller]
    pub fn foretell(&self, targets: &[&str]) -> Foretold<'_> {
        self.foretell_with(targets, &[], None)
    }

    /// The same with more flags, that come to this grace period.
    #[track_caller]
    pub fn foretell_with(&self, targets: &[&str], flags: &[&str], grace: Option<i64>) -> Foretold<'_> {
        self.cluster.settled();
        let propagation = format!("--propagation={}", self.policy.to_lowercase());
        let args = [&["plan", "-o", "json", "-n", &self.namespace, &propagation], flags, targets].concat();
        let plan = self.plan(&args);
        let listed = self.cluster.listed();
        let before = self.look(&listed);
        let is_there = |kind: &Listed| before.iter().any(|object| kind.is_of(object));
        let kinds = listed.into_iter().filter(is_there).collect();
        Foretold { trial: self, plan, before, kinds, grace }
    }

    /// Runs `plan`. Another test's kind may go while it reads; that is a gap, and it asks again.
    #[track_caller]
    fn plan(&self, args: &[&str]) -> Value {
        let plan = poll(PATIENCE, || {
            let ran = self.cluster.gc(args);
            assert!(!ran.stdout.is_empty(), "kubectl gc {}: {:?}\n{}", args.join(" "), ran.code, ran.stderr);
            let plan = ran.json();
            let stuck = plan["summary"]["stuck"].as_i64().unwrap_or(0) > 0;
            ran.expect(if stuck { 2 } else { 0 });
            if plan["complete"] == true { Ok(plan) } else { Err(Retry::Later(plan["gaps"].to_string())) }
        });
        plan.unwrap_or_else(|gaps| panic!("kubectl gc {}: gaps: {gaps}", args.join(" ")))
    }

    /// The kubelet of this trial's node: a terminating pod's containers end at once.
    fn play_kubelet(&self) {
        let node = self.node.borrow();
        let Some(node) = node.as_deref() else { return };
        for pod in self.cluster.list(&format!("/api/v1/namespaces/{}/pods", self.namespace)) {
            let grace = pod["metadata"]["deletionGracePeriodSeconds"].as_i64().unwrap_or(0);
            if grace > 0 && pod["spec"]["nodeName"] == node {
                let name = pod["metadata"]["name"].as_str().unwrap_or_default();
                self.cluster.delete(&format!("/api/v1/namespaces/{}/pods/{name}", self.namespace), None, Some(0));
            }
        }
    }
}

impl Foretold<'_> {
    /// Deletes the targets for real, in the order of the plan and the way kubectl does: one DELETE after the other.
    #[track_caller]
    pub fn delete(&self) {
        for target in self.plan["targets"].as_array().into_iter().flatten() {
            let mut object = json!({
                "apiVersion": target["apiVersion"],
                "kind": target["kind"],
                "metadata": {"name": target["name"]},
            });
            if target["namespace"].is_string() {
                object["metadata"]["namespace"] = target["namespace"].clone();
            }
            let cluster = self.trial.cluster;
            cluster.delete(&cluster.path_of(&object), Some(self.trial.policy), self.grace);
        }
    }

    /// Whether everything came as foretold. What is not so yet may still come; what is, has to stay so.
    pub fn came_true(&self) -> Result<(), String> {
        poll(PATIENCE, || {
            self.trial.play_kubelet();
            compare(&self.plan, &self.before, &self.trial.look(&self.kinds)).map_err(Retry::Later)
        })?;
        self.trial.cluster.settled();
        compare(&self.plan, &self.before, &self.trial.look(&self.trial.cluster.listed()))
            .map_err(|error| format!("it was as foretold, and then came something more: {error}"))
    }

    /// The outcome of the object with this kind and name, for what a test wants to be sure of besides.
    pub fn outcome(&self, kind: &str, name: &str) -> Option<&str> {
        let is_it = |outcome: &&Value| outcome["object"]["kind"] == kind && outcome["object"]["name"] == name;
        self.plan["outcomes"].as_array()?.iter().find(is_it)?["outcome"].as_str()
    }
}

/// Builds the same three times, foretells one way to delete the targets for each, deletes, and compares.
///
/// `build` returns the targets as they are typed. What the plans say of the other ways is compared, too.
#[track_caller]
pub fn three_ways(prefix: &str, build: impl Fn(&Trial) -> Vec<String>) {
    let trials = POLICIES.map(|policy| Trial::new(prefix, policy));
    let targets = trials.each_ref().map(&build);
    let foretold: Vec<Foretold<'_>> = trials
        .iter()
        .zip(&targets)
        .map(|(trial, targets)| trial.foretell(&targets.iter().map(String::as_str).collect::<Vec<_>>()))
        .collect();
    check_alternatives(&foretold);
    all_come_true(&foretold);
}

/// Deletes and compares; all that is wrong is told at once.
#[track_caller]
pub fn all_come_true(foretold: &[Foretold<'_>]) {
    for one in foretold {
        one.delete();
    }
    let wrong: Vec<String> = foretold.iter().filter_map(|one| one.came_true().err()).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// Equal graphs come to equal sums, whichever plan tells them.
#[track_caller]
fn check_alternatives(foretold: &[Foretold<'_>]) {
    for one in foretold {
        for instead in one.plan["instead"].as_array().into_iter().flatten() {
            let other = foretold.iter().find(|other| instead["propagation"] == other.trial.policy);
            let summary = &other.expect("all three ways are foretold").plan["summary"];
            assert_eq!(&instead["summary"], summary, "what the {} plan says of {}", one.trial.policy, instead["propagation"]);
        }
    }
}

/// Waits until so many objects are in a list.
#[track_caller]
pub fn wait_for_items(cluster: &Cluster, path: &str, count: usize) -> Vec<Value> {
    wait_until(&format!("{count} objects in {path}"), PATIENCE, || cluster.list(path).len() == count);
    cluster.list(path)
}
