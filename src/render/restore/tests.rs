//! Every outcome in every format.

use serde_json::{Value, json};

use super::*;
use crate::render::{
    document,
    testing::{errors, plain, shown},
};
use gc_core::{
    command_line::PLAIN,
    model::well_known,
    restore::{Detached, Difference},
};

fn object(api_version: &str, kind: &str, name: &str, more: &Value) -> Value {
    let mut object =
        json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name, "namespace": "shop", "uid": name}});
    for (key, value) in more.as_object().unwrap() {
        match key.as_str() {
            "owners" => object["metadata"]["ownerReferences"] = value.clone(),
            key => object[key] = value.clone(),
        }
    }
    object
}

/// An archive, and the result for each of its objects.
fn restored() -> (RestorePlan, Vec<Restored>) {
    let reference = |kind: &str, name: &str, controller: bool| {
        json!([{"apiVersion": "apps/v1", "kind": kind,
        "name": name, "uid": name, "controller": controller}])
    };
    let gone = json!({"owners": reference("Deployment", "gone", false)});
    let objects = [
        object("apps/v1", "Deployment", "web", &json!({})),
        object("apps/v1", "ReplicaSet", "web-1", &json!({"owners": reference("Deployment", "web", true)})),
        object("v1", "Pod", "done", &json!({"status": {"phase": "Succeeded"}})),
        object(
            "v1",
            "Service",
            "web",
            &json!({"metadata": {"name": "web", "namespace": "shop", "uid": "s"}, "spec": {"clusterIP": "10.0.0.1"}}),
        ),
        object("v1", "ConfigMap", "free", &gone),
        object("acme.io/v1", "Shop", "main", &json!({"status": {}})),
        object("v1", "ConfigMap", "same", &json!({})),
        object("v1", "Secret", "changed", &json!({})),
        object("nowhere.io/v1", "Nothing", "n", &json!({})),
        object(
            "v1",
            "ConfigMap",
            "below",
            &json!({"owners": [{"apiVersion": "nowhere.io/v1", "kind": "Nothing", "name": "n", "uid": "n"}]}),
        ),
        object("v1", "ConfigMap", "back", &json!({})),
    ];
    let plan = RestorePlan::new(objects, false).unwrap();
    let difference = |path: &str, archived: Option<&str>, live: Option<&str>| Difference {
        path: path.to_owned(),
        archived: archived.map(str::to_owned),
        live: live.map(str::to_owned),
    };
    let differences = vec![
        difference("data.password", None, None),
        difference("immutable", Some("true"), None),
        difference("type", Some("\"Opaque\""), Some("\"a type with a name that is very long\"")),
        difference("metadata.labels.a", None, Some("\"b\"")),
    ];
    let there = |outcome: Outcome| Restored { uid: Some("now".to_owned()), ..Restored::absent(outcome) };
    let left_out = |item: usize| Restored::absent(Outcome::LeftOut(plan.items[item].left_out.clone().unwrap()));
    let restored = vec![
        there(Outcome::Created),
        left_out(1),
        left_out(2),
        there(Outcome::Created),
        Restored {
            detached: vec![Detached {
                reference: plan.items[4].archived.references[0].clone(),
                why: "Deployment/gone -n shop does not exist".to_owned(),
            }],
            ..there(Outcome::Created)
        },
        Restored {
            unfinished: vec!["its status could not be restored: forbidden".to_owned()],
            ..there(Outcome::Created)
        },
        there(Outcome::Same),
        there(Outcome::Different(differences)),
        Restored::absent(Outcome::Failed("the server does not serve nowhere.io/v1 Nothing\u{1b}[31m".to_owned())),
        Restored::absent(Outcome::Blocked(8)),
        there(Outcome::AlreadyBack),
    ];
    (plan, restored)
}

fn describe(mode: Mode, plan: &RestorePlan, restored: &[Restored]) -> (String, Value) {
    let resources = well_known::served();
    let view = RestoreView {
        plan,
        restored,
        mode,
        resources: &resources,
        gaps: &[],
        targets: &[],
        again: &PLAIN.plugin("restore").file("shop.yaml"),
    };
    (shown(&view, &plain(Some(80))), serde_json::from_str(&document::json(&view.document())).unwrap())
}

#[track_caller]
fn check(document: &Value) {
    assert_eq!(errors("restoration", document), [""; 0], "{document:#}");
}

#[test]
fn every_outcome_is_told() {
    let (plan, restored) = restored();
    let (text, document) = describe(Mode::Apply, &plan, &restored);
    insta::assert_snapshot!(text);
    check(&document);
    assert_eq!(
        document["summary"],
        json!({"created": 4, "existing": 2, "different": 1, "leftOut": 2, "failed": 2, "notTried": 0, "unfinished": 1})
    );
    let outcomes: std::collections::BTreeSet<&str> =
        document["objects"].as_array().unwrap().iter().map(|it| it["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes.len(), 7, "all but what is only foreseen: {outcomes:?}");
    assert_eq!(document["objects"][9]["needs"]["name"], "n");
    // A schema that accepts everything would prove nothing.
    let mut broken = document;
    broken["objects"][0]["outcome"] = json!("Failed");
    assert!(std::panic::catch_unwind(|| check(&broken)).is_err());
}

#[test]
fn what_would_be_done_is_told_as_such() {
    let (plan, mut restored) = restored();
    for one in &mut restored {
        if !one.is_left_out() {
            *one = Restored::absent(Outcome::WouldBeCreated);
        }
    }
    let (text, document) = describe(Mode::ServerDryRun, &plan, &restored);
    insta::assert_snapshot!(text);
    check(&document);
    assert_eq!((&document["dryRun"], &document["objects"][0]["outcome"]), (&json!("server"), &json!("WouldBeCreated")));
    assert!(describe(Mode::ClientDryRun, &plan, &restored).1["dryRun"] == "client");
}

#[test]
fn verdicts_count_what_they_say() {
    let (plan, restored) = restored();
    let verdict = |mode: Mode, outcome: fn(usize) -> Outcome| {
        let made = |(index, one): (usize, &Restored)| match one.is_left_out() {
            true => one.clone(),
            false => Restored { uid: Some("u".to_owned()), ..Restored::absent(outcome(index)) },
        };
        let all: Vec<Restored> = restored.iter().enumerate().map(made).collect();
        describe(mode, &plan, &all).0.split("\n\n").next().unwrap_or_default().replace('\n', " ")
    };
    assert_eq!(verdict(Mode::Apply, |_| Outcome::Created), "DONE: 9 objects created.");
    assert_eq!(verdict(Mode::Apply, |_| Outcome::Same), "DONE: all 9 objects already existed.");
    let mixed = |index: usize| if index == 0 { Outcome::Created } else { Outcome::AlreadyBack };
    assert_eq!(verdict(Mode::Apply, mixed), "DONE: Deployment/web -n shop created, 8 already existed.");
    let failed = |index: usize| if index == 0 { Outcome::Failed("no".to_owned()) } else { Outcome::Created };
    assert_eq!(verdict(Mode::Apply, failed), "PARTLY DONE: 1 of 9 objects is not as archived.");
    let interrupted = |index: usize| if index == 0 { Outcome::Created } else { Outcome::NotTried };
    let not_tried = "NOT FINISHED: interrupted: Deployment/web -n shop created, 8 of 9 objects were not tried.";
    assert_eq!(verdict(Mode::Apply, interrupted), not_tried);
    assert_eq!(verdict(Mode::ClientDryRun, |_| Outcome::Same), "OK: all 9 objects exist.");
    assert_eq!(verdict(Mode::ClientDryRun, |_| Outcome::WouldBeCreated), "CREATES: 9 objects.");
    let some = |index: usize| if index == 0 { Outcome::Failed("no".to_owned()) } else { Outcome::WouldBeCreated };
    assert_eq!(verdict(Mode::ClientDryRun, some), "CREATES: 8 objects; 1 of 9 objects would not be as archived.");
}

#[test]
fn many_names_are_folded_unless_all_are_wanted() {
    let objects = (0..20).map(|number| object("v1", "ConfigMap", &format!("c{number}"), &json!({})));
    let plan = RestorePlan::new(objects, false).unwrap();
    let restored = vec![Restored::absent(Outcome::WouldBeCreated); 20];
    let resources = well_known::served();
    let again = PLAIN.plugin("restore").file("shop.yaml");
    let mode = Mode::ClientDryRun;
    let view = RestoreView {
        plan: &plan,
        restored: &restored,
        mode,
        resources: &resources,
        gaps: &[],
        targets: &[],
        again: &again,
    };
    let text = |wide: bool| shown(&view, &TextOptions { wide, ..plain(Some(80)) });
    let named = |text: &str| text.matches("ConfigMap/c").count();
    let short = text(false);
    assert!(named(&short) == 12 && short.contains("… and 8 more: -o wide shows all"), "{short}");
    assert_eq!(named(&text(true)), 20);
}
