//! Tests of the comparison: it accepts correct plans and rejects wrong ones.

use serde_json::{Value, json};

use super::compare::compare;

fn reference(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": format!("uid-{name}")})
}

fn object(name: &str, metadata: &Value) -> Value {
    let mut object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata.clone()});
    object["metadata"]["name"] = json!(name);
    object["metadata"]["namespace"] = json!("shop");
    object["metadata"]["uid"] = json!(format!("uid-{name}"));
    object
}

fn outcome(order: u32, name: &str, outcome: &str, after: &Value) -> Value {
    json!({
        "object": {"apiVersion": "v1", "kind": "ConfigMap", "namespace": "shop", "name": name,
            "uid": format!("uid-{name}")},
        "outcome": outcome, "order": order, "certain": true, "because": {"reason": "r", "message": "m"},
        "waitsFor": [], "heldBy": [], "after": after,
    })
}

/// A delete of `root`, which stays because of a finalizer: `leaf` is deleted, `both` loses one of two owners, `free`
/// its only one.
fn right() -> (Value, Vec<Value>, Vec<Value>) {
    let before = vec![
        object("root", &json!({"finalizers": ["hold"]})),
        object("leaf", &json!({"ownerReferences": [reference("root")]})),
        object("both", &json!({"ownerReferences": [reference("root"), reference("other")]})),
        object("free", &json!({"ownerReferences": [reference("root")]})),
        object("other", &json!({})),
    ];
    let after = vec![
        object("root", &json!({"finalizers": ["hold"], "deletionTimestamp": "2020-01-01T00:00:00Z"})),
        object("both", &json!({"ownerReferences": [reference("other")]})),
        object("free", &json!({})),
        object("other", &json!({})),
    ];
    let mut root = outcome(
        1,
        "root",
        "Terminating",
        &json!({"deleted": false, "terminating": true, "finalizers": ["hold"], "ownerReferences": []}),
    );
    root["heldBy"] = json!(["hold"]);
    root["state"] = json!("stuck");
    let stays =
        |owners: Value| json!({"deleted": false, "terminating": false, "finalizers": [], "ownerReferences": owners});
    let plan = json!({
        "propagation": "Background",
        "targets": [root["object"]],
        "outcomes": [
            root,
            outcome(2, "leaf", "Deleted", &json!({"deleted": true})),
            outcome(3, "both", "Detached", &stays(json!([reference("other")]))),
            outcome(4, "free", "Orphaned", &stays(json!([]))),
        ],
        "summary": {"deleted": 1, "terminating": 1, "stuck": 1, "orphaned": 1, "detached": 1, "unblocked": 0,
            "recreated": 0},
    });
    (plan, before, after)
}

/// Spoils a correct plan, or the objects before or after.
type Doctor = fn(&mut Value, &mut Vec<Value>, &mut Vec<Value>);

#[test]
fn a_right_plan_is_accepted() {
    let (plan, before, after) = right();
    assert_eq!(compare(&plan, &before, &after), Ok(()));
}

#[test]
fn wrong_plans_are_noticed() {
    let doctors: [(&str, Doctor); 21] = [
        ("the plan does not name it, but it is Deleted", |plan, _, _| remove_outcome(plan, 1)),
        ("the plan does not name it, but it is Detached", |plan, _, _| remove_outcome(plan, 2)),
        ("it ended differently", |plan, _, _| plan["outcomes"][1]["after"] = plan["outcomes"][3]["after"].clone()),
        ("it ended differently", |plan, _, _| plan["outcomes"][3]["after"] = json!({"deleted": true})),
        ("it ended differently", |plan, _, _| plan["outcomes"][0]["after"]["finalizers"] = json!([])),
        ("it ended differently", |plan, _, _| plan["outcomes"][0]["after"]["finalizers"] = json!(["hold", "more"])),
        ("it ended differently", |plan, _, _| plan["outcomes"][3]["after"]["terminating"] = json!(true)),
        ("it ended differently", |plan, _, _| {
            plan["outcomes"][2]["after"]["ownerReferences"][0]["controller"] = json!(false)
        }),
        ("makes no sense", |plan, _, _| plan["outcomes"][2]["after"] = json!({"deleted": false})),
        ("the plan calls that", |plan, _, _| plan["outcomes"][2]["outcome"] = json!("Orphaned")),
        ("the plan calls it", |plan, _, _| plan["outcomes"][2]["object"]["name"] = json!("another")),
        ("was not there", |plan, _, _| plan["outcomes"][2]["object"]["uid"] = json!("another")),
        ("named twice", |plan, _, _| plan["outcomes"][2] = plan["outcomes"][1].clone()),
        ("is not certain", |plan, _, _| plan["outcomes"][2]["certain"] = json!(false)),
        ("not numbered", |plan, _, _| plan["outcomes"][2]["order"] = json!(2)),
        ("the summary is", |plan, _, _| plan["summary"]["deleted"] = json!(2)),
        ("the summary is", |plan, _, _| plan["summary"]["recreated"] = json!(1)),
        ("says that more holds it", |plan, _, _| plan["outcomes"][0]["heldBy"] = json!(["more"])),
        ("everything is at rest", |plan, _, _| plan["outcomes"][0]["state"] = json!("waiting")),
        ("it is new", |_, _, after| after.push(object("new", &json!({"ownerReferences": [reference("leaf")]})))),
        ("does not name it, but it is Terminating", |_, _, after| {
            after[3]["metadata"]["deletionTimestamp"] = json!("2020-01-01T00:00:00Z");
        }),
    ];
    for (number, (expected, doctor)) in doctors.into_iter().enumerate() {
        let (mut plan, mut before, mut after) = right();
        doctor(&mut plan, &mut before, &mut after);
        let error = compare(&plan, &before, &after).expect_err(&format!("doctored plan {number} ({expected})"));
        assert!(error.contains(expected), "doctored plan {number}: {expected:?} is not in: {error}");
    }
}

#[test]
fn an_order_may_decide_between_named_ends_only() {
    let (mut plan, before, after) = right();
    let detached = &mut plan["outcomes"][2];
    detached["alternatives"] = json!([{"outcome": "Detached", "after": detached["after"]}]);
    detached["outcome"] = json!("Deleted");
    detached["after"] = json!({"deleted": true});
    detached["certain"] = json!(false);
    detached["uncertainBecause"] = json!("order");
    plan["summary"]["deleted"] = json!(2);
    plan["summary"]["detached"] = json!(0);
    assert_eq!(compare(&plan, &before, &after), Ok(()));
    plan["outcomes"][2]["alternatives"] = json!([]);
    assert!(compare(&plan, &before, &after).unwrap_err().contains("it ended differently"));
}

#[test]
fn what_a_living_controller_makes_anew_and_events_are_no_surprise() {
    let (plan, before, mut after) = right();
    let mut reference = reference("other");
    reference["controller"] = json!(true);
    after.push(object("made-anew", &json!({"ownerReferences": [reference]})));
    let mut event = object("event", &json!({}));
    event["kind"] = json!("Event");
    after.push(event);
    assert_eq!(compare(&plan, &before, &after), Ok(()));
}

fn remove_outcome(plan: &mut Value, index: usize) {
    plan["outcomes"].as_array_mut().expect("a list").remove(index);
}
