//! Watches of a test server with scripted answers.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use super::{position::Position, *};
use crate::cluster::testing::{
    RecordedRequest, Say, begins_at, bookmark, event, json, open, pods, refuse, serve, serving,
};
use gc_core::model::{ListRecord, RawObject, Resource, ResourceId, Snapshot};

/// Long enough for every expected event, even on a busy machine.
const LONG: Duration = Duration::from_secs(60);

/// A snapshot that has listed this resource in all namespaces, at version 7.
fn listed(resource: Resource, failure: Option<&str>) -> Snapshot {
    let mut builder = serving([resource]);
    builder.list(ListRecord {
        resource: ResourceId(0),
        namespace: None,
        resource_version: "7".to_owned(),
        failure: failure.map(Into::into),
    });
    builder.build()
}

fn watched_pods() -> Resource {
    Resource { verbs: ["delete", "list", "watch"].map(str::to_owned).to_vec(), ..pods() }
}

/// Watches until there are `much` events; returns them and the requests.
async fn watch(
    snapshot: &Snapshot,
    much: usize,
    answer: impl Fn(&RecordedRequest) -> Say + Send + Sync + 'static,
) -> (Vec<String>, Vec<String>) {
    watch_with(false, snapshot, much, answer).await
}

/// The same; `lists`: where the watch fails, lists tell.
async fn watch_with(
    lists: bool,
    snapshot: &Snapshot,
    much: usize,
    answer: impl Fn(&RecordedRequest) -> Say + Send + Sync + 'static,
) -> (Vec<String>, Vec<String>) {
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    let log = asked.clone();
    let connection = serve(move |asked| {
        log.lock().unwrap().push(asked.url.split("&timeoutSeconds").next().unwrap_or_default().to_owned());
        answer(asked)
    });
    let connection = connection.await;
    let watches = if lists { connection.watch_or_list(snapshot) } else { connection.watch(snapshot) };
    let mut describe = Vec::new();
    let all = async {
        while describe.len() < much {
            watches.changed().await;
            let WatchUpdates { seen, lost, polled } = watches.news();
            describe.extend(polled.into_iter().map(|(_, reason)| format!("listed: {reason}")));
            describe.extend(seen.iter().map(|one| {
                let object = &one.object;
                format!("{} {}/{}", if one.gone { "gone" } else { "there" }, object.namespace, object.name)
            }));
            describe.extend(lost.iter().map(|lost| format!("lost, watched {}: {}", lost.watched, lost.reason)));
        }
    };
    tokio::time::timeout(LONG, all).await.unwrap_or_else(|_| panic!("not all came, but {:?}", asked.lock().unwrap()));
    // Further requests would follow soon.
    tokio::time::sleep(Duration::from_millis(300)).await;
    let asked = asked.lock().unwrap().clone();
    (describe, asked)
}

const WATCH: &str = "/api/v1/pods?watch=true&allowWatchBookmarks=true&resourceVersion=";

#[tokio::test]
async fn a_watch_that_ends_is_taken_up_from_where_it_was() {
    let (describe, asked) = watch(&listed(watched_pods(), None), 4, |asked| match begins_at(asked) {
        "7" => {
            assert!(
                asked.accept.starts_with("application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;"),
                "{}",
                asked.accept
            );
            json(200, event("ADDED", "a", 8) + &event("MODIFIED", "b", 9) + &bookmark(12))
        }
        // The stream breaks off within an event, which is sent again.
        "12" => json(200, event("DELETED", "x", 13) + &event("ADDED", "c", 14)[..40]),
        "13" => open(event("ADDED", "c", 14)),
        other => panic!("{other}"),
    })
    .await;
    assert_eq!(describe, ["there shop/a", "there shop/b", "gone shop/x", "there shop/c"]);
    assert_eq!(asked, ["7", "12", "13"].map(|version| format!("{WATCH}{version}")));
}

/// An API server sends a bookmark each minute: after that has come, a stream that ends is taken up; without any, it was
/// silent from the beginning.
#[tokio::test]
async fn a_stream_that_sends_nothing_is_given_up() {
    for (said, is_silent) in [(String::new(), true), (bookmark(7), false)] {
        let connection = serve(move |_| open(said.clone())).await;
        let mut position = Position::new(connection, "/api/v1/pods".to_owned(), "7".to_owned(), 0);
        let Ok(mut line) = position.begin().await else { panic!("the stream begins") };
        // What has arrived by now is read; and then time passes at once.
        tokio::time::sleep(Duration::from_millis(300)).await;
        tokio::time::pause();
        let Err(end) = position.next(&mut line).await else { panic!("there is no event") };
        assert!(end.useful);
        assert_eq!(matches!(end.why, position::Why::Silent), is_silent);
        assert!(is_silent || matches!(end.why, position::Why::Over));
        tokio::time::resume();
    }
}

/// 410 as an answer or within the stream: reads one object to find the version to continue from, not the whole list.
#[tokio::test]
async fn a_version_that_is_too_old_is_said() {
    for in_stream in [false, true] {
        let too_old = r#"{"kind":"Status","message":"too old resource version","code":410}"#;
        let (describe, asked) = watch(&listed(watched_pods(), None), 2, move |asked| match asked.url.as_str() {
            "/api/v1/pods?limit=1" => {
                json(200, r#"{"kind":"PodList","metadata":{"resourceVersion":"50","continue":"x"},"items":[]}"#)
            }
            _ if begins_at(asked) == "50" => open(event("ADDED", "new", 51)),
            _ if in_stream => json(200, format!("{{\"type\":\"ERROR\",\"object\":{too_old}}}\n")),
            _ => json(410, too_old),
        })
        .await;
        assert_eq!(describe, ["lost, watched true: 410 Gone: too old resource version", "there shop/new"]);
        assert_eq!(asked, [format!("{WATCH}7"), "/api/v1/pods?limit=1".to_owned(), format!("{WATCH}50")]);
    }
}

#[tokio::test]
async fn what_may_not_be_watched_is_said_once() {
    for (status, reason) in
        [(403, "forbidden"), (405, "405 Method Not Allowed: no"), (404, "no longer served (404 Not Found)")]
    {
        let (describe, asked) = watch(&listed(watched_pods(), None), 1, move |_| refuse(status)).await;
        assert_eq!(describe, [format!("lost, watched false: {reason}")]);
        assert_eq!(asked, [format!("{WATCH}7")]);
    }
    let unwatchable = Resource { verbs: vec!["list".to_owned()], ..pods() };
    let (describe, asked) = watch(&listed(unwatchable, None), 1, |asked| panic!("{}", asked.url)).await;
    assert_eq!((describe, asked), (vec!["lost, watched false: it cannot be watched".to_owned()], Vec::new()));
}

#[tokio::test]
async fn what_passes_is_tried_again() {
    let (describe, asked) = watch(&listed(watched_pods(), None), 1, |asked| match asked.before {
        0 => refuse(503),
        1 => Say { status: 0, ..refuse(503) },
        2 => json(200, ""),
        _ => open(event("ADDED", "a", 8)),
    })
    .await;
    assert_eq!(describe, ["there shop/a"]);
    assert_eq!(asked, [0; 4].map(|_| format!("{WATCH}7")));
}

#[tokio::test]
async fn servers_that_know_no_metadata_are_asked_for_json() {
    let (describe, _) = watch(&listed(watched_pods(), None), 1, |asked| match asked.accept.as_str() {
        "application/json" => open(event("ADDED", "a", 8)),
        _ => refuse(406),
    })
    .await;
    assert_eq!(describe, ["there shop/a"]);
}

#[tokio::test]
async fn what_could_not_be_listed_is_not_watched() {
    let connection = serve(|asked| panic!("{}", asked.url)).await;
    let watches = connection.watch(&listed(watched_pods(), Some("forbidden")));
    tokio::time::sleep(Duration::from_millis(200)).await;
    let WatchUpdates { seen, lost, polled } = watches.news();
    assert!(seen.is_empty() && lost.is_empty() && polled.is_empty());
}

/// A list in this version, of pods with their versions.
fn list(version: u32, pods: &[(&str, u32)]) -> Say {
    let item = |(name, version): &(&str, u32)| {
        format!(
            r#"{{"metadata":{{"name":"{name}","namespace":"shop","uid":"u-{name}","resourceVersion":"{version}"}}}}"#
        )
    };
    let items = pods.iter().map(item).collect::<Vec<_>>().join(",");
    json(200, format!(r#"{{"kind":"PodList","metadata":{{"resourceVersion":"{version}"}},"items":[{items}]}}"#))
}

/// A snapshot that has listed these pods, at version 7.
fn with_pods(pods: &[(&str, u32)]) -> Snapshot {
    let mut builder = serving([watched_pods()]);
    for (name, version) in pods {
        let object = RawObject {
            resource_version: version.to_string().into(),
            ..RawObject::named("shop", (*name).to_owned(), format!("u-{name}"))
        };
        builder.add(ResourceId(0), &object);
    }
    builder.list(ListRecord {
        resource: ResourceId(0),
        namespace: None,
        resource_version: "7".to_owned(),
        failure: None,
    });
    builder.build()
}

/// What is gone comes first: another object may have its name.
#[tokio::test]
async fn lists_tell_what_a_watch_that_is_refused_does_not() {
    for status in [403, 404, 405] {
        let snapshot = with_pods(&[("a", 1), ("same", 2), ("changed", 3), ("young", 90)]);
        let (describe, asked) = watch_with(true, &snapshot, 5, move |asked| match asked.url.contains("watch=true") {
            true => refuse(status),
            false if asked.before == 0 => list(9, &[("same", 2), ("changed", 8), ("new", 9)]),
            false => list(10 + u32::try_from(asked.before).unwrap(), &[("same", 2), ("changed", 8), ("young", 90)]),
        })
        .await;
        let reason = match status {
            403 => "forbidden",
            404 => "no longer served (404 Not Found)",
            _ => "405 Method Not Allowed: no",
        };
        assert_eq!(describe[0], format!("listed: {reason}"), "it is said once");
        let expected = ["gone shop/a", "there shop/changed", "there shop/new", "gone shop/new"];
        assert_eq!(describe[1..], expected, "{status}: what is younger than a list is not gone");
        assert_eq!(asked.iter().filter(|url| url.contains("watch=true")).count(), 1, "{asked:?}");
    }
}

/// Streams that end at once, errors, and versions that are too old.
#[tokio::test]
async fn lists_tell_what_a_watch_that_fails_does_not() {
    for fails in [0, 500, 200, 410] {
        let snapshot = with_pods(&[("a", 1)]);
        let much = if fails == 410 { 2 } else { 3 };
        let (describe, asked) = watch_with(true, &snapshot, much, move |asked| {
            match (asked.url.contains("watch=true"), begins_at_or(asked)) {
                (true, "9") => open(event("ADDED", "c", 10)),
                (true, _) if fails == 200 => json(200, ""),
                (true, _) => Say { status: fails, ..refuse(fails) },
                (false, _) => list(9, &[("a", 1), ("b", 9)]),
            }
        })
        .await;
        assert_eq!(describe[much - 2..], ["there shop/b", "there shop/c"], "{fails}: {asked:?}");
        assert_eq!(describe.len() == 3, describe[0].starts_with("listed: "), "{fails}: {describe:?}");
        assert_eq!(asked.iter().filter(|url| url.contains("limit=")).count(), 1, "{fails}: one list: {asked:?}");
    }
}

/// The version that a watch starts from; empty for lists.
fn begins_at_or(asked: &RecordedRequest) -> &str {
    if asked.url.contains("watch=true") { begins_at(asked) } else { "" }
}

/// A list that is refused, or older than what is known, tells nothing: changes are missed.
#[tokio::test]
async fn what_can_be_neither_watched_nor_listed_is_lost() {
    for (listed, reason) in
        [(None, "forbidden"), (Some(6), "unreadable answer: a list that is older than what was known before it")]
    {
        let snapshot = with_pods(&[("a", 1)]);
        let (describe, _) = watch_with(true, &snapshot, 2, move |asked| match asked.url.contains("watch=true") {
            true => refuse(403),
            false => listed.map_or_else(|| refuse(403), |version| list(version, &[])),
        })
        .await;
        assert_eq!(describe, ["listed: forbidden".to_owned(), format!("lost, watched false: {reason}")]);
    }
}

/// Whoever must know what is there now gets a list that begins after the question, and no answer before.
#[tokio::test]
async fn what_is_listed_is_read_anew_when_it_is_wanted() {
    let connection = serve(|asked| match asked.url.contains("watch=true") {
        true => refuse(403),
        false => list(9 + u32::try_from(asked.before).unwrap(), &[]),
    });
    let watches = connection.await.watch_or_list(&with_pods(&[]));
    let mut tapped = watches.tap();
    let listed = async {
        loop {
            if let Some((_, WatchEvent::Polled { begun: Some(begun), .. })) = tapped.recv().await {
                return begun;
            }
        }
    };
    let first = tokio::time::timeout(LONG, listed).await.expect("a list");
    let asked = Instant::now();
    assert!(first < asked);
    tokio::time::timeout(LONG, watches.listed_again()).await.expect("another list");
    let mut last = first;
    while let Ok((_, event)) = tapped.try_recv() {
        if let WatchEvent::Polled { begun: Some(begun), .. } = event {
            last = begun;
        }
    }
    assert!(last >= asked);
}

/// A watch that fails, and then is never answered, keeps nobody waiting who wants to know what is there.
#[tokio::test]
async fn a_watch_that_never_begins_is_not_waited_for() {
    let connection = serve(|asked| match (asked.url.contains("watch=true"), asked.before) {
        (true, 0) => refuse(503),
        (true, _) => loop {
            std::thread::park();
        },
        (false, _) => list(9, &[]),
    });
    let watches = connection.await.watch_or_list(&with_pods(&[]));
    let mut tapped = watches.tap();
    let failed = async {
        while let Some((_, event)) = tapped.recv().await {
            if matches!(event, WatchEvent::Failing { .. }) {
                return;
            }
        }
    };
    tokio::time::timeout(LONG, failed).await.expect("the watch fails");
    tokio::time::timeout(LONG, watches.listed_again()).await.expect("a list instead");
}

/// A watch that stays open and tells nothing, although a list shows that objects have changed.
#[tokio::test]
async fn lists_tell_what_a_silent_watch_does_not() {
    let connection = serve(|asked| match asked.url.contains("watch=true") {
        true => open(String::new()),
        false => list(9 + u32::try_from(asked.before).unwrap(), &[("b", 9)]),
    });
    let watches = connection.await.watch_or_list(&with_pods(&[("a", 1)]));
    watches.doubt([ResourceId(0)]);
    let (mut polled, mut seen) = (Vec::new(), Vec::new());
    let all = async {
        while seen.len() < 2 {
            watches.changed().await;
            let news = watches.news();
            polled.extend(news.polled.into_iter().map(|(_, reason)| reason));
            seen.extend(news.seen.iter().map(|one| (one.object.name.to_string(), one.gone)));
        }
    };
    tokio::time::timeout(LONG, all).await.expect("what the list shows");
    assert_eq!(polled, ["it is silent although objects have changed"]);
    assert_eq!(seen, [("a".to_owned(), true), ("b".to_owned(), false)]);
}

/// Each doubt counts, also if another resource is doubted before any list, and if the first list fails.
#[tokio::test]
async fn each_doubt_is_answered() {
    let connection = serve(|asked| match (asked.url.contains("watch=true"), asked.before) {
        (true, _) => open(String::new()),
        (false, 0) => refuse(403),
        (false, _) => list(9, &[("b", 9)]),
    });
    let watches = connection.await.watch_or_list(&with_pods(&[]));
    watches.doubt([ResourceId(0)]);
    watches.doubt([ResourceId(1)]);
    let told = async {
        while watches.news().polled.is_empty() {
            watches.changed().await;
        }
    };
    tokio::time::timeout(LONG, told).await.expect("a list in the watch's place");
}

/// A list that shows what the watch has told, or tells a moment later, is no reason to give the watch up.
#[tokio::test]
async fn a_watch_that_works_is_kept() {
    let (listed, lists) = tokio::sync::watch::channel(0);
    let connection = serve(move |asked| match asked.url.contains("watch=true") {
        true => open(event("ADDED", "b", 9)),
        false => {
            listed.send_modify(|number| *number += 1);
            list(9, &[("a", 1), ("b", 9)])
        }
    });
    let watches = connection.await.watch_or_list(&with_pods(&[("a", 1)]));
    // Before the stream begins, and when it has told all.
    for number in 1..=2 {
        watches.doubt([ResourceId(0)]);
        let mut lists = lists.clone();
        let asked = lists.wait_for(|listed| *listed >= number);
        drop(tokio::time::timeout(LONG, asked).await.expect("a list").expect("the server"));
    }
    tokio::time::sleep(Duration::from_millis(300)).await;
    let news = watches.news();
    assert_eq!((news.polled, news.lost), (Vec::new(), Vec::new()));
    assert_eq!(news.seen.len(), 1);
    // Of other resources, nothing is listed.
    watches.doubt([ResourceId(1)]);
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(*lists.borrow(), 2);
}
