//! Following with watches that report nothing: whatever decides the result is read before.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use super::{
    delete::{Answered, Sent},
    follow::*,
};
use crate::cluster::testing::{RecordedRequest, Say, json, pods, serve, serving};
use gc_core::{
    graph::OwnerGraph,
    model::{Identity, ListRecord, ObjectEvent, ObjectId, RawObject, RawReference, Resource, ResourceId, Snapshot},
    plan::{OutcomeKind, PlanTracker, plan},
    server::Propagation,
    simulate::{Assume, Request, SimContext},
};

/// How long nothing may move while something is left.
const PATIENCE: Duration = Duration::from_secs(1);

/// Calls it off after this time.
async fn timed_out(seconds: u64) -> Ended {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    Ended::TimedOut
}

/// A listed pod without a node, kept by a finalizer.
fn held() -> RawObject<'static> {
    RawObject {
        resource_version: "5".into(),
        finalizers: vec!["acme.io/x".into()],
        ..RawObject::named("shop", "held", "u-held")
    }
}

fn snapshot() -> Snapshot {
    let pods =
        Resource { verbs: ["delete", "list", "watch"].map(str::to_owned).to_vec(), kind: "Thing".into(), ..pods() };
    let mut builder = serving([pods]);
    builder.add(ResourceId(0), &held());
    builder.list(ListRecord {
        resource: ResourceId(0),
        namespace: None,
        resource_version: "7".to_owned(),
        failure: None,
    });
    builder.build()
}

/// The delete of its first object.
fn course(snapshot: &Snapshot) -> PlanTracker {
    let graph = OwnerGraph::new(snapshot);
    let stage = SimContext::new(snapshot, &graph, Assume::Known);
    PlanTracker::new(snapshot, &plan(&stage, &Request::delete(vec![ObjectId(0)], Propagation::Background)))
}

/// Follows the delete of that pod, with this answer to its DELETE and these answers to GETs.
async fn followed(
    answered: Answered,
    get: impl Fn(&RecordedRequest) -> Say + Send + Sync + 'static,
) -> (Followed, usize) {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    let connection = serve(move |asked: &RecordedRequest| {
        if asked.url.contains("watch=true") {
            return Say { open: true, ..json(200, "") };
        }
        assert_eq!((asked.method.as_str(), asked.url.as_str()), ("GET", "/api/v1/namespaces/shop/pods/held"));
        count.fetch_add(1, Ordering::Relaxed);
        get(asked)
    });
    let connection = connection.await;
    let mut snapshot = snapshot();
    let watches = connection.watch(&snapshot);
    let course = course(&snapshot);
    let target = Identity::of(&snapshot, ObjectId(0));
    let marked = ObjectEvent { resource: ResourceId(0), object: RawObject { deleted: Some(9), ..held() }, gone: false };
    let seen = (answered == Answered::Accepted).then_some(marked);
    let sent = [Sent { target, answered, seen }];
    let following = Following {
        connection: &connection,
        watches: &watches,
        swept: true,
        assume: Assume::Known,
        patience: PATIENCE,
    };
    let followed = follow(following, &mut snapshot, course, &sent, timed_out(30), &mut |_| ()).await;
    (followed, asked.load(Ordering::Relaxed))
}

fn gone(_: &RecordedRequest) -> Say {
    json(404, r#"{"kind":"Status","reason":"NotFound","details":{"name":"held","kind":"pods"}}"#)
}

fn marked(_: &RecordedRequest) -> Say {
    json(
        200,
        r#"{"apiVersion":"v1","kind":"Thing","metadata":{"name":"held","namespace":"shop","uid":"u-held",
            "resourceVersion":"9","finalizers":["acme.io/x"],"deletionTimestamp":"1970-01-01T00:00:09Z"}}"#,
    )
}

#[tokio::test]
async fn what_is_left_is_looked_at_before_it_is_told() {
    let (followed, asked) = followed(Answered::Accepted, marked).await;
    // One GET for who set its finalizer, and one before it is reported as left.
    assert_eq!((followed.ended, followed.left, asked), (Ended::AsPlanned, 1, 2), "{followed:#?}");
}

/// The finalizer was removed, but the watch doesn't report it. The plan says what follows then (R9.37).
#[tokio::test]
async fn what_a_watch_does_not_tell_is_seen() {
    let (followed, _) = followed(Answered::Accepted, gone).await;
    assert_eq!((followed.ended, followed.left, followed.progress.gone), (Ended::AsPlanned, 0, 1), "{followed:#?}");
    assert_eq!(followed.ends["u-held"], OutcomeKind::Deleted, "{followed:#?}");
}

/// The answer to the DELETE was lost: the object is read at once.
#[tokio::test]
async fn what_is_not_known_of_a_delete_is_asked() {
    let unsure = || Answered::Unsure { reason: "connection reset".to_owned() };
    let (done, _) = followed(unsure(), marked).await;
    assert_eq!((done.ended, done.left), (Ended::AsPlanned, 1), "{done:#?}");
    let unmarked = |_: &RecordedRequest| {
        json(
            200,
            r#"{"apiVersion":"v1","kind":"Thing","metadata":{"name":"held","namespace":"shop","uid":"u-held",
                "resourceVersion":"5","finalizers":["acme.io/x"]}}"#,
        )
    };
    let (not_done, asked) = followed(unsure(), unmarked).await;
    assert_eq!((not_done.ended, not_done.otherwise.len()), (Ended::Otherwise, 1), "{not_done:#?}");
    assert_eq!(asked, 2, "at once, and before it is told");
}

/// An object that was read is gone, and its watch has not told it: nobody waits for the object any more, but the watch
/// may be silent about others, too.
#[tokio::test]
async fn a_watch_that_has_not_told_what_was_read_is_doubted() {
    let connection = serve(|asked| match asked.url.as_str() {
        url if url.contains("watch=true") => Say { open: true, ..json(200, "") },
        url if url.contains("limit=") => json(200, r#"{"metadata":{"resourceVersion":"9"},"items":[]}"#),
        _ => gone(asked),
    });
    let connection = connection.await;
    let mut snapshot = snapshot();
    let watches = connection.watch_or_list(&snapshot);
    watches.all_begun().await;
    let course = course(&snapshot);
    let answered = Answered::Unsure { reason: "connection reset".to_owned() };
    let sent = [Sent { target: Identity::of(&snapshot, ObjectId(0)), answered, seen: None }];
    let following = Following {
        connection: &connection,
        watches: &watches,
        swept: true,
        assume: Assume::Known,
        patience: PATIENCE,
    };
    let mut polled = false;
    let mut hear = |event| polled |= matches!(event, FollowEvent::Polled(_));
    let followed = follow(following, &mut snapshot, course, &sent, timed_out(600), &mut hear).await;
    assert_eq!(followed.progress.gone, 1, "{followed:#?}");
    let told = async {
        while !polled {
            watches.changed().await;
            polled = !watches.news().polled.is_empty();
        }
    };
    tokio::time::timeout(Duration::from_secs(60), told).await.expect("a list in the watch's place");
}

/// A late event reports an owner whose DELETE already said that it is gone: it stays gone, and its dependent is still
/// to be deleted.
#[tokio::test]
async fn what_is_late_brings_nothing_back() {
    let event = r#"{"type":"MODIFIED","object":{"metadata":{"name":"held","namespace":"shop","uid":"u-held","resourceVersion":"6"}}}"#;
    let dependent = r#"{"apiVersion":"v1","kind":"Thing",
        "metadata":{"name":"dependent","namespace":"shop","uid":"u-dependent","ownerReferences":[
        {"apiVersion":"v1","kind":"Thing","name":"held","uid":"u-held"}]}}"#;
    let connection = serve(move |asked| match asked.url.as_str() {
        "/api/v1/namespaces/shop/pods/dependent" => json(200, dependent),
        watch if watch.contains("watch=true") => Say { open: true, ..json(200, format!("{event}\n")) },
        other => panic!("{other}"),
    });
    let connection = connection.await;
    let mut snapshot = snapshot();
    snapshot.apply_events([ObjectEvent {
        resource: ResourceId(0),
        object: RawObject {
            name: "dependent".into(),
            uid: "u-dependent".into(),
            finalizers: Vec::new(),
            owners: vec![RawReference::to("v1", "Thing", "held", "u-held")],
            ..held()
        },
        gone: false,
    }]);
    snapshot.apply_events([ObjectEvent {
        object: RawObject { finalizers: Vec::new(), ..held() },
        resource: ResourceId(0),
        gone: false,
    }]);
    let watches = connection.watch(&snapshot);
    let course = course(&snapshot);
    let target = Identity::of(&snapshot, ObjectId(0));
    let seen = Some(ObjectEvent {
        resource: ResourceId(0),
        object: RawObject { resource_version: "".into(), ..held() },
        gone: true,
    });
    let sent = [Sent { target, answered: Answered::Removed, seen }];
    let following = Following {
        connection: &connection,
        watches: &watches,
        swept: true,
        assume: Assume::Known,
        patience: PATIENCE,
    };
    let followed = follow(following, &mut snapshot, course, &sent, timed_out(4), &mut |_| ()).await;
    assert_eq!(
        (followed.ended, followed.progress.gone, followed.progress.to_go),
        (Ended::TimedOut, 1, 2),
        "{followed:#?}"
    );
}
