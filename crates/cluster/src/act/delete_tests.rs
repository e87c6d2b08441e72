//! Deletes against a server that answers as the API server may.

use std::{
    future,
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};

use super::delete::*;
use crate::cluster::testing::{
    RecordedRequest, Say, absent, json as say, mix_ups, no_such, pods, refuse, removed, serve, serving, status,
};
use gc_core::{
    model::{ObjectId, RawObject, Resource, ResourceId, Snapshot},
    server::Propagation,
};

/// A snapshot with pods of these names and a Namespace.
fn snapshot(names: &[&str]) -> (Snapshot, Vec<ObjectId>) {
    let namespaces = Resource { namespaced: false, ..Resource::named("", "v1", "namespaces", "Namespace") };
    let mut builder = serving([pods(), namespaces]);
    let ids = names.iter().map(|name| {
        let is_namespace = *name == "shop";
        let object = RawObject::named(if is_namespace { "" } else { "shop" }, (*name).to_owned(), format!("u-{name}"));
        builder.add(ResourceId(u32::from(is_namespace)), &object)
    });
    let ids = ids.collect();
    (builder.build(), ids)
}

/// An answer with an object in its current or last state.
fn object(name: &str, rest: &Value) -> Say {
    let mut metadata = json!({"name": name, "namespace": "shop", "uid": format!("u-{name}"), "resourceVersion": "9"});
    metadata.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
    say(200, json!({"kind": "Pod", "metadata": metadata}).to_string())
}

/// Deletes pods of these names; returns the results, and what was sent.
async fn deleted(
    names: &[&str],
    deletion: Deletion,
    answer: impl Fn(&str, usize) -> Say + Send + Sync + 'static,
) -> (Vec<Sent>, Vec<Value>) {
    let bodies: Arc<Mutex<Vec<Value>>> = Arc::default();
    let sent = bodies.clone();
    let connection = serve(move |asked: &RecordedRequest| {
        let name = asked.url.rsplit('/').next().unwrap_or_default();
        if asked.method == "GET" {
            // The GET after a conflict, or after an answer that says little.
            let uid = if name.starts_with("replaced") { "u-new".to_owned() } else { format!("u-{name}") };
            let mut metadata = json!({"name": name, "namespace": "shop", "uid": uid});
            if name == "leaving" {
                metadata["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
            }
            return match name {
                "vanished" | "passed-on" => absent(asked),
                _ => say(200, json!({"kind": "Pod", "metadata": metadata}).to_string()),
            };
        }
        assert_eq!(asked.method, "DELETE");
        sent.lock().unwrap().push(serde_json::from_slice(&asked.body).unwrap());
        answer(asked.url.rsplit('/').next().unwrap_or_default(), asked.before)
    });
    let (snapshot, ids) = snapshot(names);
    let all = delete(&connection.await, &snapshot, &ids, &deletion, future::pending()).await;
    let bodies = bodies.lock().unwrap().clone();
    (all, bodies)
}

/// A success that names no object.
fn something() -> Say {
    say(200, r#"{"kind":"Status","status":"Success"}"#)
}

fn words(all: &[Sent]) -> Vec<String> {
    let seen = |one: &Sent| match &one.seen {
        Some(seen) if seen.gone => "gone",
        Some(_) => "there",
        None => "unseen",
    };
    all.iter().map(|one| format!("{} {:?} {}", one.target.short_name(), one.answered, seen(one))).collect()
}

/// R1.5: a Status if the object is gone, the object if it stays.
#[tokio::test]
async fn answers_are_told_apart() {
    let names = [
        "removed",
        "held",
        "graceful",
        "last",
        "killed",
        "shop",
        "gone",
        "replaced",
        "vanished",
        "passing",
        "lost",
        "passed-on",
        "leaving",
        "replaced-since",
    ];
    let (all, bodies) = deleted(&names, Deletion::by(Propagation::Foreground), |name, before| match name {
        "removed" => removed(name),
        "held" => object(
            name,
            &json!({"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["a/b"],
                "deletionGracePeriodSeconds": 0}),
        ),
        "graceful" => object(
            name,
            &json!({"deletionTimestamp": "2026-01-01T00:00:00Z",
            "deletionGracePeriodSeconds": 30}),
        ),
        // Kinds that are answered with their last state.
        "last" => object(name, &json!({})),
        "killed" => object(
            name,
            &json!({"deletionTimestamp": "2026-01-01T00:00:00Z",
            "deletionGracePeriodSeconds": 0}),
        ),
        "shop" => object(name, &json!({"deletionTimestamp": "2026-01-01T00:00:00Z"})),
        "gone" => no_such("", "pods", name),
        "replaced" | "vanished" => status(409, "the UID in the precondition does not match the UID in record"),
        "passing" if before == 0 => refuse(503),
        "passing" => removed(name),
        // Done, and the answer was lost.
        "lost" if before == 0 => Say { status: 0, ..refuse(503) },
        "lost" => no_such("", "pods", name),
        // An aggregated API that passes requests on may name no object.
        "passed-on" | "leaving" | "replaced-since" => something(),
        other => panic!("{other}"),
    })
    .await;
    let expected = [
        "Pod/removed Removed gone",
        "Pod/held Accepted there",
        "Pod/graceful Accepted there",
        "Pod/last Removed gone",
        "Pod/killed Removed gone",
        "Namespace/shop Accepted there",
        "Pod/gone GoneBefore gone",
        "Pod/replaced Replaced gone",
        "Pod/vanished GoneBefore gone",
        "Pod/passing Removed gone",
        "Pod/lost GoneBefore gone",
        "Pod/passed-on Removed gone",
        "Pod/leaving Accepted there",
        "Pod/replaced-since Removed gone",
    ];
    assert_eq!(words(&all), expected);
    assert!(all.iter().all(|one| !one.answered.failed()));
    let body = json!({
        "apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Foreground",
            "preconditions": {"uid": "u-removed"},
    });
    assert_eq!(bodies[0], body);
}

/// robustness line: a DELETE that isn't done and answered with another document and status 200
///   | each kind of document | it isn't taken for done, and no other target is deleted
#[tokio::test]
async fn nothing_is_sent_after_a_failure() {
    let neither = r#"Unsure { reason: "unreadable answer: neither the deleted object nor a Status" }"#;
    let webhook = r#"admission webhook "guard.acme.io" denied the request: not today"#;
    for (answer, describe) in [
        (
            status(403, webhook),
            format!("Refused {{ reason: {:?}, cause: Judgement }}", format!("forbidden: {webhook}")),
        ),
        (status(409, "it is used"), r#"Refused { reason: "409 Conflict: it is used", cause: Judgement }"#.to_owned()),
        (
            status(403, r#"pods "b" is forbidden: User "me" cannot delete resource "pods""#),
            format!(
                "Refused {{ reason: {:?}, cause: Rights }}",
                r#"forbidden: User "me" cannot delete resource "pods""#
            ),
        ),
        (
            status(400, webhook),
            format!("Refused {{ reason: {:?}, cause: Judgement }}", format!("400 Bad Request: {webhook}")),
        ),
        (refuse(404), r#"Refused { reason: "no longer served (404 Not Found)", cause: Other }"#.to_owned()),
        (
            say(200, "garbage"),
            r#"Unsure { reason: "unreadable answer: expected value at line 1 column 1" }"#.to_owned(),
        ),
        // Answers of a gateway, and of a server that did not do it.
        (say(200, "{}"), neither.to_owned()),
        (say(200, r#"{"kind":"Status","status":"Failure"}"#), neither.to_owned()),
        (object("other", &json!({})), neither.to_owned()),
        (removed("other"), r#"Unsure { reason: "unreadable answer: a Status of another object" }"#.to_owned()),
        (
            something(),
            r#"Unsure { reason: "the answer was a success, and the object is not being deleted" }"#.to_owned(),
        ),
        (
            status(500, "Internal error occurred: failed calling webhook 'v.acme.io': no endpoints"),
            "Refused { reason: \"500 Internal Server Error: Internal error occurred: failed calling webhook \
             'v.acme.io': no endpoints\", cause: Judgement }"
                .to_owned(),
        ),
        (status(500, "no"), r#"Unsure { reason: "500 Internal Server Error: no" }"#.to_owned()),
    ] {
        let answer = Mutex::new(answer);
        let (all, bodies) = deleted(&["a", "b", "c"], Deletion::by(Propagation::Orphan), move |name, _| match name {
            "a" => removed(name),
            "b" => {
                let say = answer.lock().unwrap();
                Say { body: say.body.clone(), headers: "", ..*say }
            }
            other => panic!("{other} was deleted"),
        })
        .await;
        assert_eq!(
            words(&all),
            ["Pod/a Removed gone".to_owned(), format!("Pod/b {describe} unseen"), "Pod/c NotSent unseen".to_owned()]
        );
        assert!(all[1].answered.failed() && all[2].answered.failed() && bodies.len() >= 2);
    }
}

#[tokio::test]
async fn what_is_only_tried_changes_nothing() {
    let deletion = Deletion { propagation: Propagation::Background, grace: Some(5), dry_run: true };
    let (all, bodies) = deleted(&["a"], deletion, |_, _| something()).await;
    assert_eq!(words(&all), ["Pod/a Removed unseen"]);
    assert_eq!((&bodies[0]["dryRun"], &bodies[0]["gracePeriodSeconds"]), (&json!(["All"]), &json!(5)));
}

#[tokio::test]
async fn what_is_called_off_is_not_sent() {
    let (snapshot, ids) = snapshot(&["a", "b"]);
    let connection = serve(|asked| panic!("{} {}", asked.method, asked.url)).await;
    let deletion = Deletion::by(Propagation::Background);
    let all = delete(&connection, &snapshot, &ids, &deletion, future::ready(())).await;
    assert_eq!(words(&all), ["Pod/a NotSent unseen", "Pod/b NotSent unseen"]);
}

#[tokio::test]
async fn a_name_that_can_be_no_path_is_refused() {
    let (all, _) = deleted(&["a/b"], Deletion::by(Propagation::Background), |name, _| panic!("{name}")).await;
    assert_eq!(words(&all), [r#"Pod/a/b Refused { reason: "not a valid object name", cause: Other } unseen"#]);
}

/// Neither an answer to the DELETE nor one to the GET after it says that the target is gone, if it is about another
/// object.
#[tokio::test]
async fn no_answer_about_another_object_is_the_targets_end() {
    let answered = async |to_delete: Say, to_get: Say| {
        let connection =
            serve(move |asked| if asked.method == "GET" { to_get.clone() } else { to_delete.clone() }).await;
        let (snapshot, ids) = snapshot(&["a"]);
        let deletion = Deletion::by(Propagation::Background);
        delete(&connection, &snapshot, &ids, &deletion, future::pending()).await.remove(0).answered
    };
    let there = say(
        200,
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "shop",
        "uid": "u-a"}})
        .to_string(),
    );
    for (what, mixed_up) in mix_ups("v1", "Pod", "a") {
        let unsure = |answered: &Answered| matches!(answered, Answered::Unsure { .. });
        let deleted = answered(mixed_up.clone(), there.clone()).await;
        assert!(unsure(&deleted), "{what}: {deleted:?}");
        let read = answered(something(), mixed_up.clone()).await;
        assert!(unsure(&read), "{what}: {read:?}");
        let compared = answered(status(409, "the UID does not match"), mixed_up).await;
        assert!(matches!(compared, Answered::Refused { .. }), "{what}: {compared:?}");
    }
}
