//! Requests that are repeated until there is an answer, because the API server may be away for a while.

use std::{
    thread,
    time::{Duration, Instant},
};

use http::Method;
use serde_json::{Value, json};

use crate::harness::{ADMIN, Answer, Api, Cluster};

/// A killed API server is back before that.
const AWAY: Duration = Duration::from_mins(2);
const PAUSE: Duration = Duration::from_millis(50);

pub const MERGE_PATCH: &str = "application/merge-patch+json";

/// A connection that survives a crash of the server.
#[derive(Clone)]
pub struct Stubborn {
    api: Api,
}

impl Stubborn {
    pub fn to(cluster: &Cluster) -> Self {
        Self { api: Api::connect(&cluster.kubeconfig(ADMIN), None).unwrap_or_else(|error| panic!("{error}")) }
    }

    /// Sends a request until the server answers it. The request must be idempotent.
    #[track_caller]
    pub fn ask(&self, method: &Method, path: &str, body: Option<(&str, &Value)>) -> Answer {
        let deadline = Instant::now() + AWAY;
        loop {
            let why = match self.api.try_to_ask(method, path, body) {
                Ok(answer) if !says_nothing(&answer) => return answer,
                Ok(answer) => format!("{} {}", answer.status, answer.text()),
                Err(error) => error,
            };
            assert!(Instant::now() < deadline, "{method} {path}: no answer for {AWAY:?}: {why}");
            thread::sleep(PAUSE);
        }
    }

    /// Creates an object and returns it, also if an earlier attempt created it and only the answer was lost. `None` if
    /// another object still has the name.
    #[track_caller]
    pub fn create(&self, list: &str, object: &Value) -> Option<Value> {
        let mark = object["metadata"]["labels"]["made"].clone();
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        let answer = self.ask(&Method::POST, list, Some(("application/json", object)));
        if answer.is_success() {
            return Some(answer.json());
        }
        assert_eq!(answer.status, 409, "POST {list}: {}", answer.text());
        let there = self.get(&format!("{list}/{name}"))?;
        (there["metadata"]["labels"]["made"] == mark && there["metadata"]["deletionTimestamp"].is_null())
            .then_some(there)
    }

    #[track_caller]
    pub fn get(&self, path: &str) -> Option<Value> {
        let answer = self.ask(&Method::GET, path, None);
        assert!(answer.is_success() || answer.status == 404, "GET {path}: {} {}", answer.status, answer.text());
        answer.is_success().then(|| answer.json())
    }

    #[track_caller]
    pub fn delete(&self, path: &str, policy: &str) {
        let options = json!({"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": policy});
        let answer = self.ask(&Method::DELETE, path, Some(("application/json", &options)));
        assert!(answer.is_success() || answer.status == 404, "DELETE {path}: {} {}", answer.status, answer.text());
    }

    /// Replaces the owner references of the object with this uid and no other, and returns the answer, success or not.
    #[track_caller]
    pub fn set_owners(&self, path: &str, uid: &str, owners: &[Value]) -> Answer {
        let changes = json!({"metadata": {"uid": uid, "ownerReferences": owners}});
        self.ask(&Method::PATCH, path, Some((MERGE_PATCH, &changes)))
    }
}

/// Whether the server has not handled the request: it is starting, or busy, or doesn't know its kinds yet.
fn says_nothing(answer: &Answer) -> bool {
    let is_away = answer.status >= 500 || answer.status == 429;
    is_away || answer.status == 404 && answer.text().contains("could not find the requested resource")
}
