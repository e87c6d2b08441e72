//! READY and STATUS of an object, read from the row that the API server prints about it in a Table.
//!
//! Each kind prints columns of its own. READY is the column Ready, for workloads with the wanted number behind it, or
//! Available if it is a condition (APIServices). STATUS is the first of Status, Phase, State, Health Status, Health,
//! Sync Status and Condition that has a text, and the reason if there is one. Columns of custom resources
//! (`additionalPrinterColumns`) count by the same names, in any letter case.

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::Value;

use crate::model::{Gap, Symbol};

/// Columns that tell a STATUS, the first of them that has a text.
const STATUS: [&str; 7] = ["status", "phase", "state", "health status", "health", "sync status", "condition"];

/// What the server prints for a text that is not set.
const UNSET: [&str; 3] = ["<none>", "<unset>", "<nil>"];

/// How an object is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Health {
    /// As it should be, or nothing says otherwise.
    #[default]
    Good,
    /// Not ready, or not all of it.
    NotReady,
    /// It has failed, or fails again and again.
    Failing,
}

/// What the server prints of one object. An empty text: its kind has no such column, or nothing is in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ObjectStatus {
    pub ready: String,
    pub status: String,
    /// As printed, such as `7 (3m ago)`; empty if the object has never restarted.
    pub restarts: String,
}

/// The names of a Table's columns, in lower case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Columns(Vec<String>);

impl Columns {
    pub fn of<'n>(names: impl IntoIterator<Item = &'n str>) -> Self {
        Columns(names.into_iter().map(str::to_lowercase).collect())
    }

    /// Reads a row.
    pub fn read(&self, cells: &[Value]) -> ObjectStatus {
        let cell = |name: &str| self.0.iter().position(|known| known == name).and_then(|at| cells.get(at)).map(text);
        let given = |name: &str| cell(name).filter(|text| !text.is_empty());
        let mut reason = given("reason");
        let condition = given("available").filter(|text| is_condition(text));
        let ready = match given("ready").or(condition).unwrap_or_default() {
            number if is_number(&number) => match given("desired").filter(|desired| is_number(desired)) {
                Some(desired) => format!("{number}/{desired}"),
                None => number,
            },
            // As APIServices print it: False (MissingEndpoints).
            condition => match condition.strip_suffix(')').and_then(|condition| condition.split_once(" (")) {
                Some((condition, why)) if is_condition(condition) => {
                    reason = reason.or_else(|| Some(why.to_owned()));
                    condition.to_owned()
                }
                _ => condition,
            },
        };
        let suspended = || cell("suspend").filter(|text| text == "True").map(|_| "Suspended".to_owned());
        let status = STATUS.into_iter().find_map(given).or_else(suspended);
        ObjectStatus {
            ready,
            status: match (status, reason) {
                (Some(status), Some(reason)) if status != reason => format!("{status} ({reason})"),
                (status, reason) => status.or(reason).unwrap_or_default(),
            },
            restarts: given("restarts").filter(|restarts| restarts != "0").unwrap_or_default(),
        }
    }
}

fn text(cell: &Value) -> String {
    match cell {
        Value::Null => String::new(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::String(text) if UNSET.contains(&text.as_str()) => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a text begins with the status of a condition.
fn is_condition(text: &str) -> bool {
    matches!(text.split(' ').next(), Some("True" | "False" | "Unknown"))
}

impl ObjectStatus {
    pub fn health(&self) -> Health {
        let word = self.status.split([',', ' ']).next().unwrap_or_default();
        let word = word.rsplit(':').next().unwrap_or_default();
        let fails = ["BackOff", "Error"].iter().any(|end| word.ends_with(end))
            || word.starts_with("Err")
            || FAILING.contains(&word);
        let is_over = matches!(word, "Completed" | "Succeeded" | "Complete");
        let lacks = match self.ready.split_once('/').map(|(ready, of)| (ready.parse::<u64>(), of.parse::<u64>())) {
            Some((Ok(ready), Ok(of))) => ready < of,
            _ => matches!(self.ready.as_str(), "False" | "Unknown") || matches!(word, "Pending" | "Terminating"),
        };
        match () {
            () if fails => Health::Failing,
            () if lacks && !is_over => Health::NotReady,
            () => Health::Good,
        }
    }
}

/// Words of a STATUS that tell of a failure, besides those that end in Error and BackOff.
const FAILING: [&str; 14] = [
    "ContainerCannotRun",
    "ContainerStatusUnknown",
    "CreateContainerConfigError",
    "DeadlineExceeded",
    "Degraded",
    "Evicted",
    "Failed",
    "InvalidImageName",
    "Lost",
    "NotReady",
    "OOMKilled",
    "OutOfcpu",
    "OutOfmemory",
    "Unhealthy",
];

/// What is known of one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusOf<'s> {
    Known(&'s ObjectStatus),
    /// Its resource could not be read, or the object was not there any more.
    Unread,
}

/// What the server printed of the objects that are shown.
#[derive(Clone, Debug, Default)]
pub struct Statuses {
    by_uid: FxHashMap<Symbol, ObjectStatus>,
    unread: FxHashSet<Symbol>,
    /// The resources that could not be read, and why.
    pub gaps: Vec<Gap>,
}

impl Statuses {
    /// Takes what was read of the objects with these uids; those without a row are unread.
    pub fn add(&mut self, asked: impl IntoIterator<Item = Symbol>, mut rows: FxHashMap<Symbol, ObjectStatus>) {
        for uid in asked {
            match rows.remove(&uid) {
                Some(status) => {
                    self.unread.remove(&uid);
                    self.by_uid.insert(uid, status);
                }
                None => {
                    self.by_uid.remove(&uid);
                    self.unread.insert(uid);
                }
            }
        }
    }

    /// What is known of the object with this uid; `None` if it wasn't asked for.
    pub fn of(&self, uid: Symbol) -> Option<StatusOf<'_>> {
        match self.by_uid.get(&uid) {
            Some(status) => Some(StatusOf::Known(status)),
            None => self.unread.contains(&uid).then_some(StatusOf::Unread),
        }
    }

    /// READY and STATUS of an object as one text, to compare it with others.
    pub fn look(&self, uid: Symbol) -> Option<String> {
        match self.of(uid)? {
            StatusOf::Known(status) => Some(format!("{}\0{}", status.ready, status.status)),
            StatusOf::Unread => Some("\0unread".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(row: &[(&str, Value)]) -> ObjectStatus {
        let cells: Vec<Value> = row.iter().map(|(_, cell)| cell.clone()).collect();
        Columns::of(row.iter().map(|(name, _)| *name)).read(&cells)
    }

    fn words(row: &[(&str, Value)]) -> [String; 2] {
        let ObjectStatus { ready, status, .. } = read(row);
        [ready, status]
    }

    /// The columns of `pkg/printers/internalversion/printers.go`.
    #[test]
    fn built_in_kinds() {
        let pod = [("Ready", json!("0/1")), ("Status", json!("CrashLoopBackOff")), ("Restarts", json!("7 (3m ago)"))];
        assert_eq!(words(&pod), ["0/1", "CrashLoopBackOff"]);
        assert_eq!(read(&pod).restarts, "7 (3m ago)");
        assert_eq!(read(&pod).health(), Health::Failing);
        let set = [("Desired", json!(3)), ("Current", json!(3)), ("Ready", json!(2))];
        assert_eq!(words(&set), ["2/3", ""]);
        assert_eq!(read(&set).health(), Health::NotReady);
        let deployment = [("Ready", json!("3/3")), ("Up-to-date", json!(3)), ("Available", json!(3))];
        assert_eq!(words(&deployment), ["3/3", ""]);
        assert_eq!(words(&[("Available", json!("False (MissingEndpoints)"))]), ["False", "MissingEndpoints"]);
        assert_eq!(words(&[("Available", json!("True"))]), ["True", ""]);
        assert_eq!(words(&[("Status", json!("Released")), ("Reason", json!(""))]), ["", "Released"]);
        assert_eq!(words(&[("Status", json!("Complete")), ("Completions", json!("1/1"))]), ["", "Complete"]);
        assert_eq!(words(&[("Suspend", json!("True")), ("Active", json!(0))]), ["", "Suspended"]);
        assert_eq!(words(&[("Suspend", json!("False"))]), ["", ""]);
        assert_eq!(words(&[("Data", json!(3)), ("Age", json!("5m"))]), ["", ""]);
    }

    #[test]
    fn custom_resources() {
        let certificate = [("READY", json!("False")), ("Secret", json!("tls")), ("REASON", json!("Issuing"))];
        assert_eq!(words(&certificate), ["False", "Issuing"]);
        assert_eq!(read(&certificate).health(), Health::NotReady);
        assert_eq!(
            words(&[("Sync Status", json!("OutOfSync")), ("Health Status", json!("Degraded"))]),
            ["", "Degraded"]
        );
        assert_eq!(words(&[("Phase", json!("Failed")), ("Reason", json!("Quota"))]), ["", "Failed (Quota)"]);
        assert_eq!(words(&[("Ready", json!(true)), ("Status", json!(null)), ("State", json!("up"))]), ["True", "up"]);
        assert_eq!(words(&[("Available", json!(3)), ("Status", json!("<none>"))]), ["", ""]);
    }

    #[test]
    fn health() {
        let health = |ready: &str, status: &str| {
            ObjectStatus { ready: ready.to_owned(), status: status.to_owned(), restarts: String::new() }.health()
        };
        for status in ["Error", "Init:Error", "ErrImagePull", "ImagePullBackOff", "OOMKilled", "NotReady,Scheduling"] {
            assert_eq!(health("0/1", status), Health::Failing, "{status}");
        }
        for (ready, status) in
            [("0/1", "Pending"), ("1/2", "Running"), ("False", ""), ("0/1", "Terminating"), ("", "Pending")]
        {
            assert_eq!(health(ready, status), Health::NotReady, "{ready} {status}");
        }
        for (ready, status) in [("0/1", "Completed"), ("1/1", "Running"), ("0/0", ""), ("True", ""), ("", "Ready")] {
            assert_eq!(health(ready, status), Health::Good, "{ready} {status}");
        }
    }

    #[test]
    fn short_rows_are_no_trouble() {
        assert_eq!(Columns::of(["Name", "Ready", "Status"]).read(&[json!("a")]), ObjectStatus::default());
        assert_eq!(Columns::default().read(&[json!("a")]), ObjectStatus::default());
    }
}
