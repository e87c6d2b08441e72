//! Compares a plan with what really happened, object by object.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

/// Everything in an object's metadata that a delete can change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    pub terminating: bool,
    pub finalizers: Vec<String>,
    pub owners: Vec<Value>,
}

impl State {
    pub fn of(object: &Value) -> Self {
        let metadata = &object["metadata"];
        Self {
            terminating: metadata["deletionTimestamp"].is_string(),
            finalizers: in_order(&object["kind"], texts(&metadata["finalizers"])),
            owners: metadata["ownerReferences"].as_array().cloned().unwrap_or_default(),
        }
    }

    /// The state in which an object ends by the plan; `None` if it is deleted.
    pub fn predicted(object: &Value, after: &Value) -> Result<Option<Self>, String> {
        match (after["deleted"].as_bool(), after["terminating"].as_bool()) {
            (Some(true), _) => Ok(None),
            (Some(false), Some(terminating)) => {
                let owners = after["ownerReferences"].as_array().cloned().unwrap_or_default();
                let finalizers = in_order(&object["kind"], texts(&after["finalizers"]));
                Ok(Some(Self { terminating, finalizers, owners }))
            }
            _ => Err(format!("what the plan says comes after makes no sense: {after}")),
        }
    }

    /// The outcome that a plan should have for this change; `None` without a change.
    pub fn outcome(before: &Self, after: Option<&Self>) -> Option<&'static str> {
        let Some(after) = after else { return Some("Deleted") };
        let lost = after.owners.len() < before.owners.len();
        match after {
            after if after == before => None,
            after if after.terminating => Some("Terminating"),
            after if lost && after.owners.is_empty() => Some("Orphaned"),
            _ if lost => Some("Detached"),
            after if after.owners != before.owners => Some("Unblocked"),
            _ => Some("Unchanged"),
        }
    }
}

impl std::fmt::Display for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let owners: Vec<String> = self.owners.iter().map(ToString::to_string).collect();
        let standing = if self.terminating { "terminating" } else { "alive" };
        write!(f, "{standing}, finalizers {:?}, owners [{}]", self.finalizers, owners.join(", "))
    }
}

/// Compares the plan's outcomes with the objects before and now: the metadata state of each object that the plan names,
/// that no other object changed, and that the rest of the plan fits its outcomes. Events are ignored.
///
/// New objects are allowed only where a living controller created them, one that existed before and still does.
pub fn compare(plan: &Value, before: &[Value], after: &[Value]) -> Result<(), String> {
    let mut wrong = Wrong::default();
    let before = by_uid(before);
    let now = by_uid(after);
    let mut named = BTreeSet::new();
    let outcomes = plan["outcomes"].as_array().cloned().unwrap_or_default();
    for outcome in &outcomes {
        let uid = outcome["object"]["uid"].as_str().unwrap_or_default();
        let who = described(&outcome["object"]);
        if !named.insert(uid.to_owned()) {
            wrong.add(format!("{who}: named twice"));
        }
        let Some(was) = before.get(uid) else {
            wrong.add(format!("{who}: the plan has an outcome for something that was not there"));
            continue;
        };
        let is = now.get(uid);
        if let Err(error) = check(plan, outcome, was, is, &now) {
            wrong.add(format!("{who}: {error}"));
        }
        if **was != described_object(outcome, was) {
            wrong.add(format!("{who}: the plan calls it {}", outcome["object"]));
        }
    }
    for (uid, was) in before.iter().filter(|(uid, _)| !named.contains(**uid)) {
        let (old, new) = (State::of(was), now.get(uid).map(|object| State::of(object)));
        if let Some(change) = State::outcome(&old, new.as_ref()) {
            let is = new.map_or("gone".to_owned(), |state| state.to_string());
            wrong.add(format!(
                "{}: the plan does not name it, but it is {change}\n  before: {old}\n  now:    {is}",
                described_real(was)
            ));
        }
    }
    for (uid, is) in now.iter().filter(|(uid, _)| !before.contains_key(**uid)) {
        if !made_by_the_living(is, &before, &now) {
            wrong.add(format!("{} ({uid}): it is new, and no living controller made it", described_real(is)));
        }
    }
    check_whole(plan, &outcomes, &mut wrong);
    for group in plan["jointOutcomes"].as_array().into_iter().flatten() {
        let comes_true = |end: &Value| end.as_array().is_some_and(|end| end.iter().all(|object| is_so(object, &now)));
        if !group.as_array().is_some_and(|ends| ends.iter().any(comes_true)) {
            let objects: Vec<String> =
                group[0].as_array().into_iter().flatten().map(|end| described(&end["object"])).collect();
            wrong.add(format!("no end that was told of {} together is the real one", objects.join(", ")));
        }
    }
    wrong.verdict(plan)
}

/// Whether all objects that the plan names ended in the outcome that it calls the most likely.
pub fn as_most_likely(plan: &Value, after: &[Value]) -> bool {
    let now = by_uid(after);
    plan["outcomes"].as_array().into_iter().flatten().all(|outcome| is_so(outcome, &now))
}

/// Whether an object ended in the state `after`.
pub fn is_so(predicted: &Value, now: &BTreeMap<&str, &Value>) -> bool {
    let uid = predicted["object"]["uid"].as_str().unwrap_or_default();
    let real = now.get(uid).map(|object| State::of(object));
    State::predicted(&predicted["object"], &predicted["after"]).is_ok_and(|state| state == real)
}

/// The API server writes the finalizers of a deleted Namespace in random order: they come from a Go map (R1.25).
fn in_order(kind: &Value, mut finalizers: Vec<String>) -> Vec<String> {
    if kind == "Namespace" {
        finalizers.sort();
    }
    finalizers
}

/// Whether a controller that existed before and still does created an object, directly or through objects that it
/// created.
fn made_by_the_living(object: &Value, before: &BTreeMap<&str, &Value>, now: &BTreeMap<&str, &Value>) -> bool {
    let mut controllers = State::of(object).owners.into_iter().filter(|reference| reference["controller"] == true);
    controllers.any(|reference| {
        let uid = reference["uid"].as_str().unwrap_or_default();
        now.get(uid).is_some_and(|owner| before.contains_key(uid) || made_by_the_living(owner, before, now))
    })
}

/// Compares one outcome with one object.
fn check(
    plan: &Value,
    outcome: &Value,
    was: &Value,
    is: Option<&&Value>,
    now: &BTreeMap<&str, &Value>,
) -> Result<(), String> {
    let (old, new) = (State::of(was), is.map(|object| State::of(object)));
    let mut ends = vec![State::predicted(&outcome["object"], &outcome["after"])?];
    let mut words = vec![outcome["outcome"].as_str().unwrap_or_default()];
    match (outcome["certain"].as_bool(), outcome["uncertainBecause"].as_str()) {
        (Some(true), None) => {}
        (Some(false), Some("order")) => {
            for alternative in outcome["alternatives"].as_array().into_iter().flatten() {
                ends.push(State::predicted(&outcome["object"], &alternative["after"])?);
                words.push(alternative["outcome"].as_str().unwrap_or_default());
            }
        }
        _ => return Err(format!("it is not certain, although everything could be read: {outcome}")),
    }
    let Some(end) = ends.iter().position(|end| *end == new) else {
        let describe = |state: &Option<State>| state.as_ref().map_or("gone".to_owned(), ToString::to_string);
        let predicted: Vec<String> = ends.iter().map(describe).collect();
        return Err(format!(
            "it ended differently ({})\n  before:   {old}\n  foretold: {}\n  real:     {}",
            because(outcome),
            predicted.join("\n        or: "),
            describe(&new)
        ));
    };
    let word = State::outcome(&old, new.as_ref()).unwrap_or("Unchanged");
    if words[end] != word {
        return Err(format!("the plan calls that {:?}, and it is {word:?}", words[end]));
    }
    if ends.len() == 1 && new.as_ref() == Some(&old) {
        return Err(format!("it has an outcome, though nothing of it changes: {outcome}"));
    }
    if word == "Terminating" && end == 0 {
        let is = is.unwrap_or(&&Value::Null);
        check_holders(plan, outcome, is, now)?;
    }
    Ok(())
}

/// Checks that the blockers of a remaining object exist. Everything is at rest when this is called, so the object is
/// stuck or waits for an object that isn't being deleted.
pub fn check_holders(plan: &Value, outcome: &Value, is: &Value, now: &BTreeMap<&str, &Value>) -> Result<(), String> {
    let state = State::of(is);
    let obstacles = plan["obstacles"].as_array().into_iter().flatten();
    let in_the_way: Vec<&Value> =
        obstacles.flat_map(|obstacle| [&obstacle["webhook"], &obstacle["object"]["name"]]).collect();
    let waits_for = outcome["waitsFor"].as_array().cloned().unwrap_or_default();
    let lives = |other: &&Value| {
        now.get(other["uid"].as_str().unwrap_or_default()).is_some_and(|other| !State::of(other).terminating)
    };
    if outcome["state"] != "stuck" && (outcome["state"] != "waiting" || waits_for.iter().find(lives).is_none()) {
        return Err(format!("it is {}, and everything is at rest", outcome["state"]));
    }
    let held_by = texts(&outcome["heldBy"]);
    for holder in &held_by {
        let holds = match holder.as_str() {
            "kubelet" => is["kind"] == "Pod" && is["metadata"]["deletionGracePeriodSeconds"].as_i64().unwrap_or(0) > 0,
            "spec.finalizers" => is["kind"] == "Namespace",
            obstacle if in_the_way.iter().any(|name| *name == obstacle) => true,
            finalizer => state.finalizers.iter().any(|real| real == finalizer),
        };
        if !holds {
            return Err(format!("the plan says that {holder} holds it; it is {state}"));
        }
    }
    for other in &waits_for {
        if !now.contains_key(other["uid"].as_str().unwrap_or_default()) {
            return Err(format!("the plan says that it waits for {}, which is gone", described(other)));
        }
    }
    if held_by.is_empty() && waits_for.is_empty() {
        return Err("the plan does not say what holds it".to_owned());
    }
    Ok(())
}

/// Checks the plan's order and its summary.
fn check_whole(plan: &Value, outcomes: &[Value], wrong: &mut Wrong) {
    let orders: Vec<i64> = outcomes.iter().filter_map(|outcome| outcome["order"].as_i64()).collect();
    let changed =
        outcomes.iter().filter(|outcome| outcome["outcome"] != "Unchanged" || outcome["order"].is_i64()).count();
    if !orders.iter().copied().eq(1..=changed as i64) {
        wrong.add(format!("the outcomes are not numbered in their order: {orders:?}"));
    }
    let count = |key: &str, value: &str| outcomes.iter().filter(|outcome| outcome[key] == value).count();
    let afterwards = |outcome: &Value| outcome["afterwards"].as_array().cloned().unwrap_or_default();
    let anew = |after: &Value| after["what"] == "recreated" || after["what"] == "mirrored-again";
    let recreated = outcomes.iter().filter(|outcome| afterwards(outcome).iter().any(anew)).count();
    let removes = |outcome: &Value| matches!(outcome["outcome"].as_str(), Some("Deleted" | "Terminating"));
    let may_be_removed = |outcome: &&Value| {
        let others = outcome["alternatives"].as_array();
        let is_unknown = outcome["uncertainBecause"].as_str().is_some_and(|why| why != "order");
        removes(outcome) || others.is_some_and(|others| others.iter().any(removes)) || is_unknown
    };
    // What is Terminating already goes already.
    let remaining = plan["remaining"].as_array().into_iter().flatten();
    let first = outcomes.iter().filter(may_be_removed).chain(remaining).map(|outcome| &outcome["object"]);
    let first: BTreeSet<String> = first.map(Value::to_string).collect();
    let then = plan["then"]["outcomes"].as_array().into_iter().flatten().filter(may_be_removed);
    let later = then.filter(|outcome| !first.contains(&outcome["object"].to_string())).count();
    let mut counted = json!({
        "deleted": count("outcome", "Deleted"),
        "terminating": count("outcome", "Terminating"),
        "stuck": count("state", "stuck"),
        "orphaned": count("outcome", "Orphaned"),
        "detached": count("outcome", "Detached"),
        "unblocked": count("outcome", "Unblocked"),
        "recreated": recreated,
    });
    if later > 0 {
        counted["deletedLater"] = json!(later);
    }
    if plan["summary"] != counted {
        wrong.add(format!("the summary is {}, the outcomes come to {counted}", plan["summary"]));
    }
}

/// The errors found in a plan.
#[derive(Default)]
struct Wrong(Vec<String>);

impl Wrong {
    fn add(&mut self, what: String) {
        self.0.push(what);
    }

    fn verdict(self, plan: &Value) -> Result<(), String> {
        if self.0.is_empty() {
            return Ok(());
        }
        let targets: Vec<String> = plan["targets"].as_array().into_iter().flatten().map(described).collect();
        let policy = plan["propagation"].as_str().unwrap_or("?");
        Err(format!("{policy} delete of {}:\n- {}", targets.join(", "), self.0.join("\n- ")))
    }
}

pub fn by_uid(objects: &[Value]) -> BTreeMap<&str, &Value> {
    let is_event = |object: &Value| object["kind"] == "Event";
    objects
        .iter()
        .filter(|object| !is_event(object))
        .map(|object| (object["metadata"]["uid"].as_str().unwrap_or_default(), object))
        .collect()
}

/// The object with the kind, name and namespace that the plan gives it.
fn described_object(outcome: &Value, was: &Value) -> Value {
    let named = &outcome["object"];
    let mut object = was.clone();
    object["apiVersion"] = named["apiVersion"].clone();
    object["kind"] = named["kind"].clone();
    object["metadata"]["name"] = named["name"].clone();
    if named.get("namespace").is_some() || was["metadata"].get("namespace").is_some() {
        object["metadata"]["namespace"] = named["namespace"].clone();
    }
    object
}

pub fn described(object: &Value) -> String {
    let text = |key: &str| object[key].as_str().unwrap_or_default();
    match object["namespace"].as_str() {
        Some(namespace) => format!("{}/{} in {namespace}", text("kind"), text("name")),
        None => format!("{}/{}", text("kind"), text("name")),
    }
}

pub fn described_real(object: &Value) -> String {
    let metadata = &object["metadata"];
    let mut named = json!({"kind": object["kind"], "name": metadata["name"]});
    if let Some(namespace) = metadata.get("namespace") {
        named["namespace"] = namespace.clone();
    }
    described(&named)
}

fn because(outcome: &Value) -> String {
    let because = &outcome["because"];
    format!(
        "{}: {}",
        because["reason"].as_str().unwrap_or("no reason"),
        because["message"].as_str().unwrap_or("no message")
    )
}

fn texts(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().filter_map(|text| text.as_str().map(str::to_owned)).collect()
}
