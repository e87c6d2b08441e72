//! Monitors of a test server with scripted answers.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use super::{
    WatchEvent,
    monitors::{Monitors, WAITING},
    position::SILENT,
    task::MonitorId,
};
use crate::cluster::testing::{RecordedRequest, Say, begins_at, bookmark, event, json, open, pods, refuse, serve};
use gc_core::model::Resource;

/// Long enough for every expected event, even on a busy machine.
const LONG: Duration = Duration::from_secs(60);
const PODS: MonitorId = MonitorId(0);

fn resource(plural: &str) -> Resource {
    Resource { plural: plural.to_owned(), ..pods() }
}

/// A page of a list with these objects, which have labels.
fn page(names: &[&str], version: &str, next: &str) -> Say {
    let item = |name: &&str| {
        format!(r#"{{"metadata":{{"name":"{name}","namespace":"shop","uid":"u-{name}","labels":{{"a":"b"}}}}}}"#)
    };
    let items = names.iter().map(item).collect::<Vec<_>>().join(",");
    let metadata = format!(r#"{{"resourceVersion":"{version}","continue":"{next}"}}"#);
    json(200, format!(r#"{{"kind":"PodList","metadata":{metadata},"items":[{items}]}}"#))
}

fn list(names: &[&str], version: &str) -> Say {
    page(names, version, "")
}

fn is_watch(asked: &RecordedRequest) -> bool {
    asked.url.contains("watch=true")
}

/// An event in a few words.
fn word((_, event): &(MonitorId, WatchEvent)) -> String {
    match event {
        WatchEvent::Listing => "listing".to_owned(),
        WatchEvent::Seen { object, gone } => {
            assert!(object.labels.is_empty(), "{object:?}");
            format!("{} {}", if *gone { "gone" } else { "there" }, object.name)
        }
        WatchEvent::Listed => "listed".to_owned(),
        WatchEvent::Failing { reason } => reason.clone(),
        WatchEvent::Recovered => "recovered".to_owned(),
        WatchEvent::Polled { reason, .. } => format!("polled: {reason}"),
        WatchEvent::Lost { .. } => panic!("monitors lose nothing"),
    }
}

/// Collects events until there are `much`.
async fn hear(monitors: &mut Monitors, much: usize) -> Vec<(MonitorId, WatchEvent)> {
    let mut heard = Vec::new();
    let all = async {
        while heard.len() < much {
            heard.extend(monitors.recv().await);
        }
    };
    let in_time = tokio::time::timeout(LONG, all).await.is_ok();
    assert!(in_time, "no more came than {heard:#?}");
    heard
}

/// Asserts that no more events arrive for a while.
async fn hear_nothing(monitors: &mut Monitors) {
    let more = tokio::time::timeout(Duration::from_millis(300), monitors.recv()).await;
    assert!(more.is_err(), "{more:?}");
}

/// Follows pods from a list on. Returns `much` events, and the requests. With a version, the first list is empty and
/// has that version, and both results omit it.
async fn follow(
    version: Option<&'static str>,
    much: usize,
    answer: impl Fn(&RecordedRequest) -> Say + Send + Sync + 'static,
) -> (Vec<String>, Vec<String>) {
    let log: Arc<Mutex<Vec<String>>> = Arc::default();
    let asked = log.clone();
    let listed = AtomicBool::new(false);
    let connection = serve(move |asked| {
        if let Some(version) = version
            && !listed.swap(true, Ordering::Relaxed)
        {
            return list(&[], version);
        }
        let url = asked.url.split("&timeoutSeconds").next().unwrap_or_default();
        log.lock().unwrap().push(url.replace("watch=true&allowWatchBookmarks=true&resourceVersion=", "from="));
        answer(asked)
    });
    let mut monitors = Monitors::new(connection.await);
    monitors.start(PODS, &pods());
    let left_out = if version.is_some() { 2 } else { 0 };
    let heard = hear(&mut monitors, left_out + much).await;
    hear_nothing(&mut monitors).await;
    assert!(heard.iter().all(|(monitor, _)| *monitor == PODS));
    let asked = asked.lock().unwrap().iter().map(|url| url.replace("/api/v1/pods?", "")).collect();
    (heard[left_out..].iter().map(word).collect(), asked)
}

#[tokio::test]
async fn what_is_listed_is_watched_from_there_on() {
    let (describe, asked) = follow(None, 7, |asked| match asked.url.as_str() {
        "/api/v1/pods?limit=500" => page(&["a", "b"], "7", "t"),
        "/api/v1/pods?limit=2000&continue=t" => list(&["c"], "7"),
        _ if begins_at(asked) == "7" => json(200, event("DELETED", "a", 8) + &bookmark(9)),
        _ => open(event("ADDED", "d", 10)),
    })
    .await;
    assert_eq!(describe, ["listing", "there a", "there b", "there c", "listed", "gone a", "there d"]);
    assert_eq!(asked, ["limit=500", "limit=2000&continue=t", "from=7", "from=9"]);
}

/// 410 as an answer, or within a stream after it reported changes.
#[tokio::test]
async fn a_version_that_is_too_old_is_listed_anew() {
    for in_stream in [false, true] {
        let too_old = r#"{"kind":"Status","message":"too old resource version","code":410}"#;
        let (describe, asked) = follow(Some("7"), 4 + usize::from(in_stream), move |asked| match asked.url.as_str() {
            "/api/v1/pods?limit=500" => list(&["b"], "50"),
            _ if begins_at(asked) == "50" => open(event("ADDED", "c", 51)),
            _ if in_stream => {
                json(200, event("ADDED", "a", 8) + &format!("{{\"type\":\"ERROR\",\"object\":{too_old}}}\n"))
            }
            _ => json(410, too_old),
        })
        .await;
        let expected = ["there a", "listing", "there b", "listed", "there c"];
        assert_eq!(describe, expected[usize::from(!in_stream)..]);
        assert_eq!(asked, ["from=7", "limit=500", "from=50"]);
    }
}

/// A server whose versions expire immediately: lists must still be paced.
#[tokio::test]
async fn lists_that_are_too_old_at_once_are_read_with_pauses() {
    let begun = Instant::now();
    let (describe, _) = follow(None, 9, |asked| match (is_watch(asked), asked.before) {
        (false, before) => list(&[], &format!("7{before}")),
        (true, _) if asked.url.contains("=74") => open(""),
        (true, _) => refuse(410),
    })
    .await;
    assert_eq!(describe, ["listing", "listed"].repeat(5));
    // 0.2, 0.4, 0.8 and 1.6 seconds.
    assert!(begun.elapsed() >= Duration::from_secs(3), "{:?}", begun.elapsed());
}

/// Objects of the first attempt may be gone, so it is void.
#[tokio::test]
async fn a_list_whose_token_expires_begins_anew() {
    let (describe, asked) = follow(None, 6, |asked| match asked.url.as_str() {
        "/api/v1/pods?limit=500" => page(&["a", "b"], "7", "t"),
        "/api/v1/pods?limit=2000&continue=t" => refuse(410),
        "/api/v1/pods?" => list(&["b"], "9"),
        _ => open(""),
    })
    .await;
    assert_eq!(describe, ["listing", "there a", "there b", "listing", "there b", "listed"]);
    assert_eq!(asked, ["limit=500", "limit=2000&continue=t", "", "from=9"]);
}

/// For any reason: permission, API or conversion may be fixed later.
#[tokio::test]
async fn what_cannot_be_listed_is_tried_on() {
    let reasons = [(403, "forbidden"), (404, "no longer served (404 Not Found)"), (405, "405 Method Not Allowed: no")];
    for (status, reason) in reasons {
        let (describe, _) = follow(None, 5, move |asked| match (is_watch(asked), asked.before) {
            (false, 0..3) => refuse(status),
            (false, _) => list(&["a"], "7"),
            (true, _) => open(event("ADDED", "b", 8)),
        })
        .await;
        // A list is enough: no separate event says that it is watched again.
        assert_eq!(describe, [&*format!("it cannot be listed: {reason}"), "listing", "there a", "listed", "there b"]);
    }
}

/// In the middle of a list, after pages were reported.
#[tokio::test]
async fn a_list_that_breaks_off_is_void() {
    let broken = || Say { content_type: "application/vnd.kubernetes.protobuf", ..json(200, b"k8s\0\x12\x7f") };
    let (describe, _) = follow(None, 6, move |asked| match (asked.url.as_str(), asked.before) {
        ("/api/v1/pods?limit=500", 0) => page(&["a"], "7", "t"),
        ("/api/v1/pods?limit=500", _) => list(&["b"], "8"),
        ("/api/v1/pods?limit=2000&continue=t", _) => broken(),
        _ => open(""),
    })
    .await;
    let reason = "it cannot be listed: unreadable answer: a field is longer than the message it is in";
    assert_eq!(describe, ["listing", "there a", reason, "listing", "there b", "listed"]);
}

#[tokio::test]
async fn a_watch_that_fails_goes_on_from_where_it_was() {
    let (describe, asked) = follow(Some("7"), 4, |asked| match (begins_at(asked), asked.before) {
        ("7", 0) => Say { status: 0, ..refuse(500) },
        ("7", 1..3) => refuse(503),
        ("7", _) => json(200, event("ADDED", "a", 8)),
        _ => open(""),
    })
    .await;
    let reasons = [
        "it cannot be watched: the connection was lost",
        "it cannot be watched: 503 Service Unavailable: no",
        "recovered",
        "there a",
    ];
    assert_eq!(describe, reasons);
    assert_eq!(asked, ["from=7", "from=7", "from=7", "from=7", "from=8"]);
}

/// Recovery doesn't need any change.
#[tokio::test]
async fn a_watch_that_has_nothing_to_say_has_recovered() {
    let failed = r#"{"type":"ERROR","object":{"kind":"Status","message":"no","code":500}}"#;
    let (describe, _) = follow(Some("7"), 2, move |asked| match asked.before {
        0 => refuse(500),
        // It starts like a good stream, and then fails.
        1 => json(200, format!("{failed}\n")),
        _ => open(""),
    })
    .await;
    assert_eq!(describe, ["it cannot be watched: 500 Internal Server Error: no", "recovered"]);
}

/// A version that the server will never reach, because its store was restored from a backup.
#[tokio::test]
async fn what_cannot_be_watched_for_long_is_listed_anew() {
    let (describe, asked) = follow(Some("7000"), 5, |asked| match is_watch(asked) {
        false => list(&["a"], "7"),
        // The event proves that the watch was requested, however busy the machine is.
        true if begins_at(asked) == "7" => open(event("ADDED", "b", 8)),
        true => refuse(504),
    })
    .await;
    assert_eq!(describe, ["it cannot be watched: 504 Gateway Timeout: no", "listing", "there a", "listed", "there b"]);
    assert_eq!(asked[5..], ["limit=500", "from=7"]);
}

#[tokio::test]
async fn a_server_that_is_busy_says_when_to_come_back() {
    let begun = Instant::now();
    let (describe, _) = follow(Some("7"), 3, |asked| match asked.before {
        0 => Say { headers: "retry-after: 2\r\n", ..refuse(429) },
        _ => open(event("ADDED", "a", 8)),
    })
    .await;
    assert_eq!(describe, ["it cannot be watched: 429 Too Many Requests: no", "recovered", "there a"]);
    assert!(begun.elapsed() >= Duration::from_secs(2));
}

#[tokio::test]
async fn servers_that_know_no_metadata_are_asked_for_json() {
    let (describe, _) = follow(None, 4, |asked| match asked.accept.as_str() {
        "application/json" if is_watch(asked) => open(event("ADDED", "b", 8)),
        "application/json" => list(&["a"], "7"),
        _ => refuse(406),
    })
    .await;
    assert_eq!(describe, ["listing", "there a", "listed", "there b"]);
}

/// More resources than there are places hang, during an answer or before any; the others are still read soon.
#[tokio::test]
async fn what_hangs_holds_up_nobody() {
    let hangs = || Say { open: true, ..json(200, "") };
    let connection = serve(move |asked| match (asked.url.contains("pods"), is_watch(asked)) {
        (false, _) => hangs(),
        (true, false) => list(&["a"], "7"),
        (true, true) => open(event("ADDED", "b", 8)),
    });
    let mut monitors = Monitors::new(connection.await);
    for number in 1..30 {
        monitors.start(MonitorId(number), &resource(&format!("things{number}")));
    }
    monitors.start(PODS, &pods());
    let begun = Instant::now();
    let describe: Vec<String> = hear(&mut monitors, 4).await.iter().map(word).collect();
    assert_eq!(describe, ["listing", "there a", "listed", "there b"]);
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
}

/// A hanging request fails eventually, even if no limit is configured.
#[tokio::test]
async fn there_is_always_a_limit() {
    let mut connection = serve(|_| refuse(500)).await;
    connection.limits = crate::cluster::connect::Limits::new(Some(Duration::ZERO));
    let monitors = Monitors::new(connection);
    assert_ne!(
        format!("{:?}", monitors.connection.limits),
        format!("{:?}", crate::cluster::connect::Limits::default())
    );
}

/// An endless list whose events are not taken.
#[tokio::test]
async fn no_more_is_read_than_is_taken_in() {
    let pages = Arc::new(AtomicUsize::new(0));
    let asked = pages.clone();
    let connection = serve(move |_| {
        let number = pages.fetch_add(1, Ordering::Relaxed);
        let names: Vec<String> = (0..1000).map(|one| format!("{number}-{one}")).collect();
        page(&names.iter().map(String::as_str).collect::<Vec<_>>(), "7", &format!("t{number}"))
    });
    let mut monitors = Monitors::new(connection.await);
    monitors.start(PODS, &pods());
    let many = WAITING / 1000 + 1;
    let quiet = |much: usize| {
        let asked = &asked;
        async move {
            let until = Instant::now() + LONG;
            while asked.load(Ordering::Relaxed) < much && Instant::now() < until {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            tokio::time::sleep(Duration::from_millis(500)).await;
            asked.load(Ordering::Relaxed)
        }
    };
    assert_eq!(quiet(many).await, many);
    // It is read as far as events are taken.
    let taken = hear(&mut monitors, 3000).await.len();
    assert!(quiet(many + 2).await <= (taken + WAITING) / 1000 + 1, "{taken}");
    assert!(asked.load(Ordering::Relaxed) > many);
}

#[tokio::test]
async fn what_was_stopped_has_nothing_to_say() {
    let connection = serve(|asked| match (asked.url.contains("pods"), is_watch(asked)) {
        (true, false) => list(&["a"], "7"),
        (false, false) => list(&["other"], "7"),
        (_, true) => open(""),
    });
    let mut monitors = Monitors::new(connection.await);
    monitors.start(PODS, &pods());
    // All events wait to be taken.
    tokio::time::sleep(Duration::from_millis(500)).await;
    monitors.stop(PODS);
    hear_nothing(&mut monitors).await;
    // After an id is reused, no events of its former resource arrive.
    monitors.start(PODS, &pods());
    tokio::time::sleep(Duration::from_millis(500)).await;
    monitors.start(PODS, &resource("things"));
    let describe: Vec<String> = hear(&mut monitors, 3).await.iter().map(word).collect();
    assert_eq!(describe, ["listing", "there other", "listed"]);
    hear_nothing(&mut monitors).await;
}

/// An aggregated API may return such objects.
#[tokio::test]
async fn objects_without_a_uid_are_left_out() {
    let (describe, _) = follow(None, 3, |asked| match is_watch(asked) {
        false => json(
            200,
            r#"{"kind":"XList","metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"x"}},{"metadata":{"name":"a","uid":"u"}}]}"#,
        ),
        true => open(""),
    })
    .await;
    assert_eq!(describe, ["listing", "there a", "listed"]);
}

/// A watch that sends nothing, not even a bookmark: something between may hold back what the server sends.
#[tokio::test]
async fn what_is_silent_is_listed_anew() {
    let connection = serve(|asked| match (is_watch(asked), asked.before) {
        (true, _) => open(""),
        (false, 0) => list(&["a"], "7"),
        (false, _) => list(&["b"], "8"),
    });
    let mut monitors = Monitors::new(connection.await);
    monitors.start(PODS, &pods());
    let mut heard: Vec<String> = hear(&mut monitors, 3).await.iter().map(word).collect();
    for _ in 0..50 {
        // Time for the next stream to begin; and then time passes for it.
        if let Ok(more) = tokio::time::timeout(Duration::from_millis(300), monitors.recv()).await {
            // A request that has not been answered by then has failed.
            let is_failure = |word: &String| word.starts_with("it cannot be") || word == "recovered";
            heard.extend(more.iter().map(word).filter(|word| !is_failure(word)));
        }
        if heard.len() >= 6 {
            break;
        }
        tokio::time::pause();
        tokio::time::advance(SILENT).await;
        tokio::time::resume();
    }
    assert_eq!(heard, ["listing", "there a", "listed", "listing", "there b", "listed"]);
}

/// With lists in the watch's place, a watch that is refused is no failure. It is tried again after each list.
#[tokio::test]
async fn what_may_not_be_watched_is_listed_again() {
    let connection = serve(|asked| match (is_watch(asked), asked.before) {
        (false, 0) => list(&["a"], "7"),
        (false, _) => list(&["b"], "8"),
        (true, _) if begins_at(asked) == "8" => open(event("ADDED", "c", 9)),
        (true, _) => refuse(403),
    });
    let mut monitors = Monitors::new(connection.await).or_lists();
    let begun = Instant::now();
    monitors.start(PODS, &pods());
    let heard = hear(&mut monitors, 10).await;
    let words: Vec<String> = heard.iter().map(word).collect();
    let polled = "polled: forbidden";
    assert_eq!(
        words,
        ["listing", "there a", "listed", polled, "listing", "there b", "listed", polled, "recovered", "there c"]
    );
    let lists: Vec<Instant> = heard
        .iter()
        .filter_map(|heard| match heard {
            (_, WatchEvent::Polled { begun, .. }) => *begun,
            _ => None,
        })
        .collect();
    assert!(begun < lists[0] && lists[0] < lists[1], "each tells when its list began");
}

/// The time that a server has asked for is not the time that it takes for a list, which decides about the next one.
#[tokio::test]
async fn what_was_refused_for_a_moment_is_listed_again_as_soon_as_others() {
    let connection = serve(|asked| match (is_watch(asked), asked.url.contains("pods"), asked.before) {
        (true, _, _) => refuse(403),
        (false, true, 0) => Say { headers: "retry-after: 2\r\n", ..refuse(429) },
        (false, _, _) => list(&[], "7"),
    });
    let mut monitors = Monitors::new(connection.await).or_lists();
    monitors.start(PODS, &pods());
    monitors.start(MonitorId(1), &resource("things"));
    let (mut of_pods, mut of_things) = (0, 0);
    while of_pods < 2 {
        for heard in hear(&mut monitors, 1).await {
            let listed = |monitor| usize::from(heard == (monitor, WatchEvent::Listed));
            of_pods += listed(PODS);
            of_things += listed(MonitorId(1));
        }
        assert!(of_things < 4, "of pods there was no list for a long time");
    }
}

/// Streams that fail for another reason are tried a few times before each list.
#[tokio::test]
async fn what_cannot_be_watched_is_listed_again() {
    for fails in [200, 500] {
        let connection = serve(move |asked| match is_watch(asked) {
            false => list(&[], &format!("7{}", asked.before)),
            true if fails == 200 => json(200, ""),
            true => refuse(fails),
        });
        let mut monitors = Monitors::new(connection.await).or_lists();
        monitors.start(PODS, &pods());
        let words: Vec<String> = hear(&mut monitors, 9).await.iter().map(word).collect();
        let reason = if fails == 200 { "the watch ends as soon as it begins" } else { "500 Internal Server Error: no" };
        assert_eq!(words[..3], ["listing", "listed", &format!("it cannot be watched: {reason}")], "{fails}: {words:?}");
        let polled = format!("polled: {reason}");
        assert_eq!(words[3..], ["listing", "listed", &polled, "listing", "listed", &polled], "{fails}");
    }
}
