//! How the result of a delete is printed.

use std::{path::Path, time::Duration};

use serde_json::json;

use super::DeletionView;
use crate::render::{
    output::Output as _,
    picture::{ObjectCommands, PictureOptions},
    testing::{plain, shown},
};
use gc_cluster::act::{Answered, Ended, Followed, RefusalCause, Sent};
use gc_core::{
    command_line::Kubectl,
    model::{Identity, Resource, Resources},
    plan::{
        OutcomeKind,
        tracker::{Blocker, ManagerAway, Progress, Relation, UnexpectedOutcome, UnplannedObject},
    },
    server::Propagation,
    simulate::{State, Uncertainty},
};

fn object(kind: &str, namespace: &str, name: &str) -> Identity {
    let api_version = if kind == "Deployment" { "apps/v1" } else { "v1" }.to_owned();
    let (kind, namespace, name) = (kind.to_owned(), namespace.to_owned(), name.to_owned());
    let uid = format!("{kind}-{name}");
    Identity { api_version, kind, namespace, name, uid }
}

fn sent(name: &str, answered: Answered) -> Sent {
    Sent { target: object("Deployment", "shop", name), answered, seen: None }
}

fn followed(ended: Ended) -> Followed {
    Followed {
        ended,
        collector_idle: None,
        manager_away: None,
        progress: Progress { all: 7, arrived: 7, to_go: 6, gone: 6, terminating: 0, changed: 1 },
        otherwise: Vec::new(),
        ends: std::collections::HashMap::new(),
        left: 0,
        blockers: Vec::new(),
        outside: Vec::new(),
        unrelated: 0,
        lost: Vec::new(),
    }
}

fn stuck(ended: Ended) -> Followed {
    let blocker = Blocker {
        object: object("Pod", "shop", "web-1"),
        state: State::Stuck,
        held_by: vec!["acme.io/drain".to_owned()],
        remarks: vec!["finalizer acme.io/drain".to_owned()],
        waits_for: Vec::new(),
        holds_up: 2,
    };
    let progress = Progress { all: 7, arrived: 4, to_go: 6, gone: 4, terminating: 2, changed: 0 };
    Followed { progress, left: 2, blockers: vec![blocker], ..followed(ended) }
}

#[test]
fn a_page_says_what_is_left_and_where_the_archive_is() {
    let kubectl = Kubectl::new(Vec::new());
    let (followed, commands) = (stuck(Ended::Stuck), ObjectCommands::of_cluster(&kubectl));
    let view = DeletionView {
        namespace: Some("shop"),
        followed: Some(&followed),
        archive: Some(Path::new("shop.yaml")),
        kubectl: &kubectl,
        ..DeletionView::default()
    };
    let picture = view.picture(&PictureOptions { fold: false, now: None, commands: &commands }).unwrap();
    let facts = picture.views[0].facts.iter().map(|fact| format!("{}: {}", fact.label, fact.lines.join(", ")));
    let left = "Left Terminating: Pod/web-1: STUCK; finalizer acme.io/drain; blocks 2 other objects";
    assert_eq!(facts.collect::<Vec<_>>(), [left, "Archive: shop.yaml"]);
}

/// The text at 80 columns, and the resulting exit code.
fn describe(sent: &[Sent], followed: Option<&Followed>) -> (String, i32) {
    let kubectl = Kubectl::new(vec!["--context=prod".to_owned()]);
    let resources = Resources::new(vec![Resource::named("", "v1", "pods", "Pod")], Vec::new());
    let view = DeletionView {
        propagation: Propagation::Foreground,
        namespace: Some("shop"),
        sent,
        followed,
        took: Duration::from_millis(1_234),
        resources: Some(&resources),
        kubectl: &kubectl,
        ..DeletionView::default()
    };
    let code = match () {
        () if view.is_refused() => 2,
        () if view.failed() => 1,
        () => 2 * i32::from(view.bad_news()),
    };
    (shown(&view, &plain(Some(80))), code)
}

#[test]
fn what_came_as_foretold_takes_one_sentence() {
    let target = [sent("web", Answered::Accepted)];
    let (text, code) = describe(&target, Some(&followed(Ended::AsPlanned)));
    assert_eq!((text.as_str(), code), ("DONE: as planned, after 1.2s: 6 objects are deleted, 1 kept.\n", 0));
    let (text, code) = describe(&target, None);
    assert_eq!(
        (text.as_str(), code),
        ("SENT: Deployment/web -n shop is deleted; the cascade continues without being\nfollowed.\n", 0)
    );
}

#[test]
fn what_is_stuck_is_told_with_what_holds_it() {
    let below = "\n  Pod/web-1  ■ STUCK  finalizer acme.io/drain; blocks 2 other objects\n\n\
                 Next  kubectl gc explain --context=prod pods/web-1 -n shop\n";
    let target = [sent("web", Answered::Accepted)];
    for (ended, first, code) in [
        (Ended::AsPlanned, "STUCK: as planned, after 1.2s: 4 of 6 objects are deleted, 2 are left\nTerminating.\n", 2),
        (
            Ended::Stuck,
            "STUCK: after 1.2s: 4 of 6 objects are deleted, 2 are left Terminating. No\ncontroller is known to finish \
                this.\n",
            2,
        ),
        (
            Ended::TimedOut,
            "STUCK: timed out after 1.2s: 4 of 6 objects are deleted, 2 are left Terminating.\nNo controller is known \
                to finish this.\n",
            2,
        ),
    ] {
        assert_eq!(describe(&target, Some(&stuck(ended))), (format!("{first}{below}"), code), "{ended:?}");
    }
    let (text, code) = describe(&target, Some(&stuck(Ended::CalledOff)));
    assert!(text.starts_with("NOT FINISHED: interrupted after ") && text.contains("The cascade"), "{text}");
    assert_eq!(code, 1);
}

/// Without a controller manager, whatever ended the wait.
#[test]
fn that_nobody_collects_is_told_with_what_to_do() {
    let why = "kube-controller-manager's lease expired 3m ago".to_owned();
    for (ended, how) in [(Ended::Stuck, ""), (Ended::AsPlanned, "as planned, "), (Ended::TimedOut, "timed out ")] {
        let away = |sweep_helps| Some(ManagerAway { why: why.clone(), sweep_helps });
        let mut followed = Followed { manager_away: away(true), ..stuck(ended) };
        followed.blockers.clear();
        let (text, code) = describe(&[sent("web", Answered::Accepted)], Some(&followed));
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let verdict = format!("STUCK: {how}after 1.2s: 4 of 6 objects are deleted, 2 are left Terminating.");
        assert!(text.starts_with(&verdict), "{text}");
        assert!(text.contains(&format!("No controller manager is known to run: {why}.")), "{text}");
        assert!(text.ends_with("Next kubectl gc sweep --context=prod -n shop"), "{text}");
        assert_eq!(code, 2, "{text}");
        // A sweep empties no namespace.
        followed.manager_away = away(false);
        let (text, _) = describe(&[sent("web", Answered::Accepted)], Some(&followed));
        assert!(text.contains("Start it.") && !text.contains("sweep"), "{text}");
        assert!(text.contains("get pods -n kube-system -l component=kube-controller-manager"), "{text}");
    }
}

#[test]
fn what_came_otherwise_is_told_one_by_one() {
    let otherwise = UnexpectedOutcome {
        object: object("ConfigMap", "other", "kept"),
        predicted: vec![OutcomeKind::Deleted],
        actual: OutcomeKind::Orphaned,
        finalizers: Vec::new(),
        uncertain: None,
        together: false,
    };
    let outside = UnplannedObject {
        object: object("Pod", "shop", "late"),
        new: true,
        terminating: false,
        gone: true,
        because: Relation::Owner(object("Deployment", "shop", "web")),
    };
    let came = Followed { otherwise: vec![otherwise], outside: vec![outside], ..followed(Ended::Otherwise) };
    let (text, code) = describe(&[sent("web", Answered::Accepted)], Some(&came));
    assert_eq!(
        text,
        "UNEXPECTED: 1 object ended differently than planned, after 1.2s: 6 objects are\ndeleted, 1 kept.\n\
         \n  ConfigMap/kept -n other  ● exists  planned: deleted\n\
         \n  Pod/late  × also deleted  created after the plan, owned by Deployment/web\n"
    );
    assert_eq!(code, 2);
}

/// A finalizer that is removed after all is no reason for an alarm.
#[test]
fn what_went_although_it_was_to_get_stuck_is_no_bad_news() {
    let otherwise = UnexpectedOutcome {
        object: object("Pod", "shop", "web-1"),
        predicted: vec![OutcomeKind::Terminating],
        actual: OutcomeKind::Deleted,
        finalizers: Vec::new(),
        uncertain: None,
        together: false,
    };
    let progress = Progress { all: 7, arrived: 6, to_go: 6, gone: 7, terminating: 0, changed: 0 };
    let came = Followed { otherwise: vec![otherwise.clone()], progress, ..followed(Ended::Otherwise) };
    let (text, code) = describe(&[sent("web", Answered::Accepted)], Some(&came));
    assert_eq!(
        (text.as_str(), code),
        ("DONE: after 1.2s: 7 objects are deleted, 1 of them although the plan said STUCK.\n", 0)
    );
    // Something else is left.
    let (text, code) = describe(&[sent("web", Answered::Accepted)], Some(&Followed { left: 1, ..came }));
    assert!(text.starts_with("UNEXPECTED") && code == 2, "{code} {text}");
}

#[test]
fn many_are_counted_unless_all_are_wanted() {
    let outside = |number: usize| UnplannedObject {
        object: object("Pod", "shop", &format!("late-{number}")),
        new: true,
        terminating: false,
        gone: true,
        because: Relation::Namespace,
    };
    let came = Followed { outside: (0..12).map(outside).collect(), ..followed(Ended::AsPlanned) };
    let (text, code) = describe(&[sent("web", Answered::Accepted)], Some(&came));
    assert!(
        text.contains("Pod/late-9 ")
            && !text.contains("late-10")
            && text.ends_with("  … and 2 more: -o wide shows all\n"),
        "{text}"
    );
    assert_eq!(code, 0);
}

/// If the answer got lost, the object may be gone.
#[test]
fn what_nobody_knows_is_not_called_undone() {
    let unsure = Answered::Unsure { reason: "the connection was lost".to_owned() };
    let (text, code) = describe(&[sent("web", unsure)], Some(&followed(Ended::AsPlanned)));
    assert!(!text.contains("NOT DONE") && text.contains("it is not known whether the API server deleted it"), "{text}");
    assert_eq!(code, 1);
}

#[test]
fn what_was_not_deleted_is_never_called_done() {
    let refused = || Answered::Refused { reason: "denied by policy".to_owned(), cause: RefusalCause::Judgement };
    let (text, code) = describe(&[sent("web", refused()), sent("api", Answered::NotSent)], None);
    assert_eq!(
        text,
        "NOT DONE: nothing was deleted.\n\n  Deployment/web  ▲ refused    denied by policy\n  Deployment/api  · not \
         tried  an earlier target failed\n"
    );
    assert_eq!(code, 2);
    let forbidden = Answered::Refused { reason: "forbidden".to_owned(), cause: RefusalCause::Rights };
    assert_eq!(describe(&[sent("web", forbidden)], None).1, 1);
    let (text, code) =
        describe(&[sent("web", Answered::Accepted), sent("api", refused())], Some(&followed(Ended::AsPlanned)));
    assert!(
        text.starts_with("PARTLY DONE: after 1.2s: 6 objects are deleted, 1 kept. 1 target was not\ndeleted."),
        "{text}"
    );
    assert_eq!(code, 2);
}

#[test]
fn an_archive_is_named() {
    let target = [sent("web", Answered::Accepted)];
    let view = DeletionView { sent: &target, archive: Some(Path::new("web.yaml")), ..DeletionView::default() };
    assert!(shown(&view, &plain(None)).ends_with(" Archived in web.yaml.\n"));
    assert_eq!(view.names().unwrap(), ["deployment.apps/web"]);
}

/// As `docs/schema/deletion.json` has it: what was sent and followed is the document.
#[test]
fn what_came_is_a_document() {
    let refused = Answered::Refused { reason: "denied by policy".to_owned(), cause: RefusalCause::Judgement };
    let targets = [sent("web", Answered::Accepted), sent("api", refused), sent("gone", Answered::GoneBefore)];
    let otherwise = UnexpectedOutcome {
        object: object("ConfigMap", "", "kept"),
        predicted: vec![OutcomeKind::Deleted],
        actual: OutcomeKind::Orphaned,
        finalizers: Vec::new(),
        uncertain: Some(Uncertainty::Order),
        together: true,
    };
    let owned = UnplannedObject {
        object: object("Pod", "shop", "late"),
        new: true,
        terminating: false,
        gone: true,
        because: Relation::Owner(object("Deployment", "shop", "web")),
    };
    let defined = UnplannedObject { because: Relation::Definition, ..owned.clone() };
    let came = Followed { otherwise: vec![otherwise], outside: vec![owned, defined], ..stuck(Ended::Otherwise) };
    let failing = [(object("Pod", "shop", "web-2"), "forbidden".to_owned())];
    let view = DeletionView { sent: &targets, followed: Some(&came), sweep: Some(&failing), ..DeletionView::default() };
    let document = serde_json::to_value(view.document()).unwrap();
    let named = |kind: &str, name: &str| {
        let api_version = if kind == "Deployment" { "apps/v1" } else { "v1" };
        json!({"apiVersion": api_version, "kind": kind, "namespace": "shop", "name": name,
            "uid": format!("{kind}-{name}")})
    };
    assert_eq!(
        document["targets"],
        json!([
            {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "shop", "name": "web",
             "uid": "Deployment-web", "answer": "Accepted"},
            {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "shop", "name": "api",
             "uid": "Deployment-api", "answer": "Refused", "reason": "denied by policy"},
            {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "shop", "name": "gone",
             "uid": "Deployment-gone", "answer": "AlreadyDeleted"},
        ])
    );
    let kept = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "kept", "uid": "ConfigMap-kept"});
    assert_eq!(document["seen"], json!({"gone": 4, "terminating": 2, "changed": 0}));
    assert_eq!(
        document["unexpected"],
        json!([{"object": kept, "predicted": ["Deleted"], "result": "Orphaned", "finalizers": [],
            "uncertainBecause": "order"}])
    );
    assert_eq!(
        document["blockers"],
        json!([{"object": named("Pod", "web-1"), "state": "stuck", "heldBy": ["acme.io/drain"], "waitsFor": [],
            "waitingObjects": 2}])
    );
    let late = named("Pod", "late");
    assert_eq!(
        document["unplanned"],
        json!([
            {"object": late, "new": true, "gone": true, "terminating": false, "because": "owner",
             "owner": named("Deployment", "web")},
            {"object": late, "new": true, "gone": true, "terminating": false, "because": "crd"},
        ])
    );
    assert_eq!(document["failed"], json!([{"object": named("Pod", "web-2"), "reason": "forbidden"}]));
    let planned = json!({"deleted": 0, "terminating": 0, "stuck": 0, "orphaned": 0, "detached": 0, "unblocked": 0,
        "recreated": 0});
    assert_eq!((&document["planned"], &document["propagation"]), (&planned, &json!("Background")));
}
