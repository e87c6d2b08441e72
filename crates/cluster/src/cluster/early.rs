//! Lists that are asked for while discovery is still on its way, by what the server served the last time, or else by
//! what Kubernetes serves by default.
//!
//! They spare a command the wait, and decide nothing: a list counts only if discovery, read in this run, wants the very
//! same request. The others are dropped, and what was not expected is listed once discovery names it.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use futures::StreamExt as _;
use http::StatusCode;
use parking_lot::Mutex;
use rustc_hash::{FxHashMap, FxHashSet};
use tokio::{sync::oneshot, task::JoinSet};

use super::{Connection, ReadEvent, answer::Answer, error::Failure, request::LARGEST_LIST};

/// The size of the answers that may wait for discovery, in bytes; further lists are read after it.
const MOST_WAITING: usize = 4 << 20;

/// A GET: its URL and its Accept header.
pub(super) type Get = (String, &'static str);

/// The first try of a request.
struct Tried {
    outcome: Result<Answer, Failure>,
    /// The server's warnings. They are told only if the answer is used.
    warnings: Vec<String>,
}

/// The first pages of lists that are under way. Dropping this ends the others.
#[derive(Default)]
pub struct EarlyLists {
    tries: Mutex<FxHashMap<Get, oneshot::Receiver<Tried>>>,
    /// Dropping it ends them.
    _sending: JoinSet<()>,
}

impl EarlyLists {
    /// Drops all requests but these.
    pub(super) fn keep(&self, wanted: &FxHashSet<Get>) {
        self.tries.lock().retain(|get, _| wanted.contains(get));
    }

    /// The outcome of a request that was sent early; once, because the next time it would be old.
    pub(super) async fn take(&self, get: &Get, connection: &Connection) -> Option<Result<Answer, Failure>> {
        let tried = self.tries.lock().remove(get)?;
        let Tried { outcome, warnings } = tried.await.ok()?;
        // Discovery, which has answered since, names it: it is served by now.
        if outcome.as_ref().is_ok_and(|answer| answer.status == StatusCode::NOT_FOUND) {
            return None;
        }
        warnings.iter().for_each(|warning| connection.tell(ReadEvent::Warned(warning)));
        Some(outcome)
    }
}

impl Connection {
    /// Sends these requests, at most `at_once` at a time, in this order. Needs a tokio runtime.
    pub(super) fn send_early(&self, gets: Vec<Get>, at_once: usize) -> EarlyLists {
        let (mut tries, mut requests) = (FxHashMap::default(), Vec::new());
        for get in gets {
            let (sender, receiver) = oneshot::channel();
            requests.push((get.clone(), sender));
            tries.insert(get, receiver);
        }
        let (connection, waiting) = (self.clone(), Arc::new(AtomicUsize::new(0)));
        let sending = futures::stream::iter(requests).for_each_concurrent(at_once, move |(get, mut sender)| {
            let (connection, waiting) = (connection.clone(), waiting.clone());
            async move {
                if sender.is_closed() || waiting.load(Ordering::Relaxed) > MOST_WAITING {
                    return;
                }
                let tried = tokio::select! {
                    tried = connection.try_early(&get) => tried,
                    () = sender.closed() => return,
                };
                waiting.fetch_add(tried.outcome.as_ref().map_or(0, |answer| answer.body.len()), Ordering::Relaxed);
                drop(sender.send(tried));
            }
        });
        EarlyLists { tries: Mutex::new(tries), _sending: JoinSet::from_iter([sending]) }
    }

    async fn try_early(&self, (url, accept): &Get) -> Tried {
        let held: Arc<Mutex<Vec<String>>> = Arc::default();
        let (connection, hold) = (self.clone(), held.clone());
        let holding = self.clone().telling(Arc::new(move |event| match event {
            ReadEvent::Warned(warning) => hold.lock().push(warning.to_owned()),
            event => connection.tell(event),
        }));
        let outcome = holding.send_get(url, accept, LARGEST_LIST).await;
        let warnings = std::mem::take(&mut *held.lock());
        Tried { outcome, warnings }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::{
        Wanted,
        testing::{RecordedRequest, Say, json, pods, refuse, serve},
    };
    use gc_core::model::{Resource, Resources, Snapshot};

    const PODS: &str = "/api/v1/pods?limit=500";

    fn named(plural: &str) -> Resource {
        let verbs = ["delete", "list", "watch"].map(str::to_owned).to_vec();
        Resource { plural: plural.to_owned(), kind: format!("Kind of {plural}"), verbs, ..pods() }
    }

    /// Begins the lists of what was served, and once all have ended reads what is served. Returns what was told, too.
    async fn read(
        before: &[&str],
        now: &[&str],
        answer: impl Fn(&RecordedRequest) -> Say + Send + Sync + 'static,
    ) -> (Snapshot, Vec<String>) {
        // Warnings, and the URLs of all requests that ended.
        let told: Arc<Mutex<Vec<String>>> = Arc::default();
        let log = told.clone();
        let connection = serve(answer).await.telling(Arc::new(move |event| match event {
            ReadEvent::Warned(text) => log.lock().push(text.to_owned()),
            ReadEvent::Exchanged(exchange) => log.lock().push(exchange.url.to_owned()),
            _ => {}
        }));
        let [before, now] =
            [before, now].map(|names| Resources::new(names.iter().map(|name| named(name)).collect(), Vec::new()));
        let wanted = Wanted::default();
        let mut early = connection.begin_lists(&before, &wanted);
        while early._sending.join_next().await.is_some() {}
        let (snapshot, nothing) = connection.read(now, &wanted, &early).await.unwrap();
        assert!(nothing.is_none() && early.tries.lock().is_empty());
        let mut told = told.lock().clone();
        told.sort();
        (snapshot, told)
    }

    fn one(name: &str) -> Say {
        json(200, format!(r#"{{"kind":"XList","items":[{{"metadata":{{"name":"{name}","uid":"u-{name}"}}}}]}}"#))
    }

    fn names(snapshot: &Snapshot) -> Vec<&str> {
        snapshot.objects().map(|(_, object)| snapshot.text(object.name)).collect()
    }

    #[tokio::test]
    async fn each_list_is_asked_for_once() {
        let (snapshot, told) = read(&["pods", "gone"], &["pods", "new"], |asked| {
            assert_eq!(asked.before, 0, "{}", asked.url);
            one(asked.url.trim_start_matches("/api/v1/").trim_end_matches("?limit=500"))
        })
        .await;
        assert_eq!(names(&snapshot), ["pods", "new"], "what isn't served any more doesn't count");
        assert!(snapshot.complete());
        assert_eq!(told, ["/api/v1/gone?limit=500", "/api/v1/new?limit=500", PODS]);
    }

    /// Discovery is compared with them.
    #[tokio::test]
    async fn api_services_are_never_listed_early() {
        let (group, kind) = ("apiregistration.k8s.io".to_owned(), "APIService".to_owned());
        let resources =
            Resources::new(vec![named("pods"), Resource { group, kind, ..named("apiservices") }], Vec::new());
        let wanted = Wanted::default();
        let early = serve(|_| one("a")).await.begin_lists(&resources, &wanted);
        let tries = early.tries.lock();
        assert_eq!(tries.keys().map(|(url, _)| url.as_str()).collect::<Vec<_>>(), [PODS]);
    }

    #[tokio::test]
    async fn what_was_not_served_yet_is_asked_for_again() {
        let answer = |asked: &RecordedRequest| if asked.before == 0 { refuse(404) } else { one("a") };
        let (snapshot, told) = read(&["pods"], &["pods"], answer).await;
        assert_eq!((names(&snapshot), snapshot.complete()), (vec!["a"], true));
        assert_eq!(told, [PODS; 2]);
        let (snapshot, told) = read(&["pods"], &[], |_| refuse(404)).await;
        assert!(snapshot.gaps.is_empty() && told == [PODS]);
    }

    #[tokio::test]
    async fn what_was_asked_early_is_the_first_try() {
        let busy = |asked: &RecordedRequest| match asked.before {
            0 => Say { headers: "retry-after: 0\r\n", ..refuse(429) },
            _ => one("a"),
        };
        let (snapshot, told) = read(&["pods"], &["pods"], busy).await;
        assert_eq!((names(&snapshot), snapshot.complete()), (vec!["a"], true));
        assert_eq!(told, [PODS; 2]);
        // Forbidden is forbidden: for all namespaces, and then for one.
        let (snapshot, told) = read(&["pods", "nodes"], &["pods", "nodes"], |asked| match asked.url.contains("pods") {
            true => refuse(403),
            false => one("n"),
        })
        .await;
        assert_eq!(names(&snapshot), ["n"]);
        let (all, in_one) =
            (told.iter().filter(|url| *url == PODS), told.iter().filter(|url| url.contains("default/pods")));
        assert_eq!((all.count(), in_one.count()), (1, 1), "{told:?}");
    }

    #[tokio::test]
    async fn warnings_are_told_of_what_is_used() {
        let warning = |asked: &RecordedRequest| Say {
            headers: if asked.url.contains("pods") {
                "warning: 299 - \"of pods\"\r\n"
            } else {
                "warning: 299 - \"old\"\r\n"
            },
            ..one("a")
        };
        let (_, told) = read(&["pods", "gone"], &["pods"], warning).await;
        assert_eq!(told, ["/api/v1/gone?limit=500", PODS, "of pods"]);
    }

    #[tokio::test]
    async fn little_waits_for_discovery() {
        let large = |_: &RecordedRequest| {
            let labels = "x".repeat(MOST_WAITING);
            let item = format!(r#"{{"metadata":{{"name":"a","uid":"u","labels":{{"a":"{labels}"}}}}}}"#);
            json(200, format!(r#"{{"kind":"XList","items":[{item}]}}"#))
        };
        let connection = serve(large).await;
        let gets: Vec<Get> = ["/a", "/b", "/c"].map(|url| (url.to_owned(), "application/json")).to_vec();
        let early = connection.send_early(gets.clone(), 1);
        let mut read = Vec::new();
        for get in &gets {
            read.push(early.take(get, &connection).await.is_some());
        }
        assert_eq!(read, [true, false, false]);
    }
}
