//! Several threads that create, change and delete ConfigMaps all the time.

use std::{
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread,
    time::Duration,
};

use http::{Method, Request, header};
use proptest::{prelude::RngExt as _, test_runner::TestRng};
use serde_json::{Value, json};

use crate::{
    graphs::generate::rng,
    harness::{ADMIN, Api, Cluster},
};

const WRITERS: u64 = 4;
/// The number of names that each thread chooses from.
const NAMES: u32 = 40;

pub struct Writers {
    api: Api,
    collection: String,
}

impl Writers {
    /// Writers in this namespace.
    #[track_caller]
    pub fn new(cluster: &Cluster, namespace: &str) -> Self {
        let api = Api::connect(&cluster.kubeconfig(ADMIN), None).unwrap_or_else(|error| panic!("{error}"));
        Writers { api, collection: format!("/api/v1/namespaces/{namespace}/configmaps") }
    }

    /// Creates this many ConfigMaps that are never changed afterwards.
    #[track_caller]
    pub fn fill(&self, many: usize) {
        let done = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..WRITERS {
                scope.spawn(|| {
                    loop {
                        let number = done.fetch_add(1, Ordering::Relaxed);
                        if number >= many {
                            return;
                        }
                        let object =
                            json!({"metadata": {"name": format!("still-{number}"), "labels": {"still": "yes"}}});
                        assert!(self.send(&Method::POST, "", &object), "it can be created");
                    }
                });
            }
        });
    }

    /// Writes while `work` runs. Returns how many writes succeeded.
    pub fn write_while(&self, work: impl FnOnce()) -> usize {
        let (over, written) = (AtomicBool::new(false), AtomicUsize::new(0));
        thread::scope(|scope| {
            // Set it also if `work` panics: otherwise the threads would never end.
            struct Over<'o>(&'o AtomicBool);
            impl Drop for Over<'_> {
                fn drop(&mut self) {
                    self.0.store(true, Ordering::Relaxed);
                }
            }
            let _over = Over(&over);
            for writer in 0..WRITERS {
                let (over, written) = (&over, &written);
                scope.spawn(move || {
                    let mut rng = rng(writer);
                    while !over.load(Ordering::Relaxed) {
                        written.fetch_add(usize::from(self.write(writer, &mut rng)), Ordering::Relaxed);
                        thread::sleep(Duration::from_millis(rng.random_range(0..20)));
                    }
                });
            }
            work();
        });
        written.into_inner()
    }

    /// One random write. Returns whether it succeeded.
    fn write(&self, writer: u64, rng: &mut TestRng) -> bool {
        let name = format!("moves-{writer}-{}", rng.random_range(0..NAMES));
        let finalizers = if rng.random_bool(0.2) { json!(["gc.test/held"]) } else { json!([]) };
        let owner = json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": format!("made-up-{}",
            rng.random_range(0..9))}]);
        let owners = if rng.random_bool(0.3) { owner } else { json!([]) };
        let metadata = json!({"name": name, "finalizers": finalizers, "ownerReferences": owners});
        match rng.random_range(0..10) {
            0..4 => self.send(&Method::POST, "", &json!({"metadata": metadata})),
            4..7 => self.send(&Method::PATCH, &name, &json!({"metadata": metadata})),
            _ => self.send(&Method::DELETE, &name, &json!({})),
        }
    }

    /// Sends a write, and returns whether it succeeded; the server may be away.
    fn send(&self, method: &Method, name: &str, body: &Value) -> bool {
        let content_type = if *method == Method::PATCH { "application/merge-patch+json" } else { "application/json" };
        let path = if name.is_empty() { self.collection.clone() } else { format!("{}/{name}", self.collection) };
        let request = Request::builder().method(method).uri(path).header(header::CONTENT_TYPE, content_type);
        let request = request.body(body.to_string().into_bytes()).expect("a request");
        self.api.send(request).is_ok_and(|answer| answer.is_success())
    }
}
