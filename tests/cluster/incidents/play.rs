//! Plays one incident as an on-call engineer lives through it: a plan, the delete, the doctor, its first remedy.

use serde_json::{Value, json};

use crate::{
    doctor::{
        Found, follow,
        kit::{aged, is_terminating},
    },
    harness::{Alone, Cluster, PATIENCE, Ran, Retry, poll},
};

/// After the first remedy, at most this many others are needed for what it has freed.
const ROUNDS: usize = 3;
/// What the doctor says only if nothing is wrong.
const HEALTHY: &str = "No problems found";

/// What somebody does in a staged incident, and what they see then.
pub struct Incident<'c> {
    pub cluster: &'c Cluster,
    /// Whether a collector runs there.
    pub collected: bool,
    /// Controllers that were away, and come back after the delete.
    pub come_back: Option<(&'c Alone, &'static [&'static str])>,
    /// The controllers of a controller manager that is away, until the doctor says to start it.
    pub manager: Option<(&'c Alone, &'static [&'static str])>,
    /// The targets and flags of the delete; none if the incident needs no delete.
    pub delete: Vec<String>,
    /// Names of the cause, which plan and doctor must mention.
    pub cause: Vec<String>,
    /// What the plan must answer before the delete.
    pub plan: Foreseen,
    /// The arguments of the doctor: a target, or a namespace.
    pub doctor: Vec<String>,
    /// An object that has been terminating for an hour when the doctor comes: controllers have had their time.
    pub aged: Vec<Value>,
    /// What must be gone once the first remedy has worked.
    pub gone: Vec<Value>,
    /// The workload of an operator that has no ready pod: once it has, it removes the finalizers of what must go.
    pub operator: Option<Value>,
}

/// What a plan says of a delete that gets stuck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Foreseen {
    /// Something stays stuck: exit code 2.
    Stuck,
    /// The API server refuses it: exit code 2, too.
    Refused,
}

/// Follows the first remedy that changes something, and what is only shown before it. Returns all commands.
#[track_caller]
fn follow_first(cluster: &Cluster, finding: &Value) -> Vec<String> {
    let shows = |command: &String| {
        ["get", "describe", "logs"].iter().any(|verb| command.starts_with(&format!("kubectl {verb} ")))
    };
    let mut followed = Vec::new();
    for remedy in 0..finding["remedies"].as_array().map_or(1, Vec::len) {
        let commands = follow(cluster, finding, remedy);
        let only_shows = commands.iter().all(shows);
        followed.extend(commands);
        if !only_shows {
            break;
        }
    }
    followed
}

impl Incident<'_> {
    /// Plays it: the plan names the cause, nothing is healthy before it is, and the first remedy heals it.
    #[track_caller]
    pub fn play(&self) {
        if !self.delete.is_empty() {
            self.plan();
            self.delete();
        }
        if let Some((cluster, controllers)) = self.come_back {
            cluster.start_controllers(controllers);
        }
        if self.collected {
            self.cluster.settled();
        }
        for object in &self.aged {
            is_terminating(self.cluster, object);
            aged(self.cluster, object, 3600);
        }
        let finding = self.diagnosis();
        let commands = match self.manager {
            Some((cluster, controllers)) => {
                let what = &finding["remedies"][0]["what"];
                assert!(what.as_str().is_some_and(|what| what.starts_with("start kube-controller-manager")), "{what}");
                cluster.start_controllers(controllers);
                follow(self.cluster, &finding, 0)
            }
            // What is shown of an operator that has no ready pod leads to what mends that.
            None if self.operator.is_some() => follow(self.cluster, &finding, 0),
            None => follow_first(self.cluster, &finding),
        };
        if let Some(operator) = &self.operator {
            let started = self.cluster.get(&self.cluster.path_of(operator)).expect("the operator is there");
            assert_eq!(started["spec"]["replicas"], 1, "after {commands:?}, the operator is to run");
            for object in &self.gone {
                self.cluster.patch(&self.cluster.path_of(object), &json!({"metadata": {"finalizers": null}}));
            }
        }
        self.healed(&commands);
    }

    fn plan(&self) {
        let args: Vec<&str> = ["plan"].into_iter().chain(self.delete.iter().map(String::as_str)).collect();
        let ran = self.cluster.gc(&args);
        let said = format!("exit code {:?}\n{}\n{}", ran.code, ran.stdout, ran.stderr);
        assert_eq!(ran.code, Some(2), "the plan: {said}");
        self.names_the_cause("the plan", &said);
    }

    fn delete(&self) {
        let flags: Vec<String> = self.delete.iter().map(|flag| flag.replace("--propagation=", "--cascade=")).collect();
        let args: Vec<&str> = ["delete", "--wait=false"].into_iter().chain(flags.iter().map(String::as_str)).collect();
        let ran = self.cluster.kubectl(&args);
        let refused = self.plan == Foreseen::Refused;
        assert_eq!(ran.code == Some(0), !refused, "kubectl {args:?}: {}", ran.stderr);
    }

    /// The first finding, once there is one.
    #[track_caller]
    fn diagnosis(&self) -> Value {
        let look = || {
            let ran = self.examine(&["-o", "json"]);
            let found = Found::of(&ran);
            let findings: Vec<&Value> = found.findings().collect();
            let first = findings.iter().find(|finding| self.is_of_it(finding));
            first.map(|first| (*first).clone()).ok_or_else(|| Retry::Later(format!("no finding: {:#}", found.document)))
        };
        let text = self.examine(&[]);
        assert!(self.gone.is_empty() || !self.left().is_empty(), "it was not staged: all is gone by itself");
        assert!(!text.stdout.contains(HEALTHY), "it is called healthy: {}", text.stdout);
        let finding = poll(PATIENCE, look).unwrap_or_else(|error| panic!("{error}"));
        self.names_the_cause("the finding", &format!("{finding:#}"));
        finding
    }

    fn examine(&self, more: &[&str]) -> Ran {
        let args: Vec<&str> =
            ["doctor"].into_iter().chain(self.doctor.iter().map(String::as_str)).chain(more.iter().copied()).collect();
        self.cluster.gc(&args)
    }

    #[track_caller]
    fn names_the_cause(&self, who: &str, said: &str) {
        for name in &self.cause {
            assert!(said.contains(name), "{who} does not name {name}:\n{said}");
        }
    }

    /// Whether a finding is of this incident: not a remark, and not that the whole cluster has no controller manager,
    /// which stays so to the end where none runs.
    fn is_of_it(&self, finding: &Value) -> bool {
        finding["severity"] != "Note" && (self.collected || finding["code"] != "collector-stopped")
    }

    /// The paths of those of [`Self::gone`] that exist.
    fn left(&self) -> Vec<String> {
        let paths = self.gone.iter().map(|object| self.cluster.path_of(object));
        paths.filter(|path| self.cluster.get(path).is_some()).collect()
    }

    #[track_caller]
    fn healed(&self, commands: &[String]) {
        let result = poll(PATIENCE, || match self.left() {
            left if left.is_empty() => Ok(()),
            left => Err(Retry::Later(format!("still there: {left:?}"))),
        });
        result.unwrap_or_else(|error| panic!("{commands:?} did not heal it: {error}\n{}", self.examine(&[]).stdout));
        self.becomes_healthy();
    }

    /// What a remedy frees may leave another problem, whose first remedy is followed, too.
    #[track_caller]
    pub fn becomes_healthy(&self) {
        for _ in 0..ROUNDS {
            let Some(next) = poll(PATIENCE, || self.next_problem()).unwrap_or_else(|error| panic!("{error}")) else {
                return;
            };
            follow_first(self.cluster, &next);
        }
        panic!("it is not healthy after {ROUNDS} more remedies:\n{}", self.examine(&[]).stdout);
    }

    /// The first problem that is left, if any. Where the doctor says that a controller looks again, it must do so.
    fn next_problem(&self) -> Result<Option<Value>, Retry> {
        let ran = self.examine(&["-o", "json"]);
        if ran.code == Some(1) && ran.stderr.contains("not found") {
            return Ok(None);
        }
        let found = Found::of(&ran);
        let next = found.findings().find(|finding| self.is_of_it(finding));
        let looks_again = |next: &&Value| next["consequence"].as_str().is_some_and(|it| it.contains("looks again"));
        match next.filter(looks_again) {
            Some(_) => Err(Retry::Later(format!("nothing has changed since: {:#}", found.document))),
            None => Ok(next.cloned()),
        }
    }
}
