//! Writes to etcd directly, for states that the API server refuses to write but still must handle.

use std::time::Duration;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use http::{Method, Request, header};
use serde_json::{Value, json};

use super::{
    api::{Answer, Api},
    cluster::{Alone, Cluster},
    credentials::hex,
    wait::{Retry, poll},
};

/// Until the API server's watch of etcd reports the write. Generous, so that no test fails because the machine is busy.
const SEEN: Duration = Duration::from_secs(30);
/// Until the API server gives up a watch that hit undecodable data: it retries for half a minute.
const SPOILED: Duration = Duration::from_mins(2);

/// API groups of built-in kinds whose etcd keys begin with the group.
const GROUPS_WITH_PREFIX: [&str; 2] = ["apiextensions.k8s.io", "apiregistration.k8s.io"];

/// Built-in resources with another name in etcd (`SpecialDefaultResourcePrefixes` in the API server).
const OTHER_PREFIXES: [(&str, &str, &str); 5] = [
    ("", "replicationcontrollers", "controllers"),
    ("", "endpoints", "services/endpoints"),
    ("", "nodes", "minions"),
    ("", "services", "services/specs"),
    ("networking.k8s.io", "ingresses", "ingress"),
];

/// Data that an API server encrypted with a key that is lost: the usual way to lose an object.
pub const LOST_KEY: &[u8] = b"k8s:enc:aescbc:v1:lost:\x01\x02\x03";

impl Alone {
    /// Writes to etcd. Returns the new revision, which is the resourceVersion of the written object. The API server
    /// sees the write a moment later.
    #[track_caller]
    pub fn etcd_put(&self, key: &str, value: &[u8]) -> u64 {
        self.put(key, value)
    }

    /// Deletes a key from etcd. The API server sees that a moment later.
    #[track_caller]
    pub fn etcd_delete(&self, key: &str) {
        self.ask_etcd("deleterange", json!({"key": encode(key)}));
    }

    /// Overwrites an object with half of its JSON, which no server can decode (S19): see [`Alone::spoil_with`].
    #[track_caller]
    pub fn spoil(&self, object: &Value) -> Answer {
        let whole = object.to_string();
        self.spoil_with(object, &whole.as_bytes()[..whole.len() / 2])
    }

    /// Overwrites or creates an object with bytes that no server can decode. Returns the response to a list of its kind
    /// in pages, as kubectl requests it. Every such list fails until the key is deleted ([`Alone::etcd_delete`]).
    ///
    /// Watches notice it only half a minute later: until then, the API server serves what it knew before. This function
    /// waits for that, so a collector that starts afterwards can't list the kind, either.
    #[track_caller]
    pub fn spoil_with(&self, object: &Value, bytes: &[u8]) -> Answer {
        let collection = self.collection_of(object);
        self.etcd_put(&self.etcd_key(object), bytes);
        let verdict = poll(SPOILED, || {
            let [watched, list] =
                ["resourceVersion=0", "limit=500"].map(|query| self.api.get(&format!("{collection}?{query}")));
            let (watched, list) = (watched.map_err(Retry::Later)?, list.map_err(Retry::Later)?);
            let is_over = !watched.is_success() && !list.is_success();
            if is_over {
                Ok(list)
            } else {
                Err(Retry::Later(format!("it is still read: {} {}", watched.status, list.status)))
            }
        });
        verdict.unwrap_or_else(|error| panic!("an object of {collection} was spoiled in etcd: {error}"))
    }
}

impl Cluster {
    /// The value of a key in etcd.
    #[track_caller]
    pub fn etcd_get(&self, key: &str) -> Option<Vec<u8>> {
        let answer = self.ask_etcd("range", json!({"key": encode(key)}));
        let value = answer["kvs"][0]["value"].as_str();
        // etcd omits an empty value.
        let value = value.or(answer["kvs"][0]["key"].as_str().map(|_| ""))?;
        Some(BASE64_STANDARD.decode(value).unwrap_or_else(|error| panic!("etcd says {value:?} of {key}: {error}")))
    }

    #[track_caller]
    fn put(&self, key: &str, value: &[u8]) -> u64 {
        let answer = self.ask_etcd("put", json!({"key": encode(key), "value": encode(value)}));
        let revision = answer["header"]["revision"].as_str().and_then(|revision| revision.parse().ok());
        revision.unwrap_or_else(|| panic!("a put without a revision: {answer}"))
    }

    /// The etcd key of an object with an apiVersion, kind, namespace and name.
    #[track_caller]
    pub fn etcd_key(&self, object: &Value) -> String {
        let path = self.path_of(object);
        let mut rest = path.split('/').skip(2);
        let group = if path.starts_with("/api/") { "" } else { rest.next().unwrap_or_default() };
        let rest: Vec<&str> = rest.skip(1).collect();
        let (plural, in_namespace) = match rest.as_slice() {
            ["namespaces", namespace, plural, name] => (*plural, format!("{namespace}/{name}")),
            [plural, name] => (*plural, (*name).to_owned()),
            _ => panic!("{path} is not the path of an object"),
        };
        let other = OTHER_PREFIXES.iter().find(|(of, resource, _)| (*of, *resource) == (group, plural));
        let prefix = match other {
            Some((_, _, prefix)) => (*prefix).to_owned(),
            None if GROUPS_WITH_PREFIX.contains(&group) || self.is_custom(group, plural) => format!("{group}/{plural}"),
            None => plural.to_owned(),
        };
        format!("/registry/{prefix}/{in_namespace}")
    }

    #[track_caller]
    fn is_custom(&self, group: &str, plural: &str) -> bool {
        self.get(&format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{plural}.{group}")).is_some()
    }

    /// Writes an object unvalidated, in its apiVersion, and returns it as the API server reads it. Adds a uid and a
    /// creationTimestamp if they are missing. Returns when lists show the object, too.
    #[track_caller]
    pub fn store(&self, object: &Value) -> Value {
        let (key, path) = (self.etcd_key(object), self.path_of(object));
        self.may_write(&path);
        // The path of a Namespace contains this, too; the path of its list doesn't.
        let in_namespace = self.collection_of(object).contains("/namespaces/");
        let mut object = object.clone();
        let metadata =
            object["metadata"].as_object_mut().unwrap_or_else(|| panic!("no metadata to be stored under {key}"));
        // etcd keeps the resourceVersion outside the object.
        metadata.remove("resourceVersion");
        if in_namespace {
            metadata.entry("namespace").or_insert_with(|| json!("default"));
        }
        metadata.entry("uid").or_insert_with(|| json!(self.made_up_uid()));
        let now = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        metadata.entry("creationTimestamp").or_insert_with(|| json!(now));
        let revision = self.put(&key, object.to_string().as_bytes());
        self.wait_for_watch_cache(&self.collection_of(&object), revision);
        self.get(&path).unwrap_or_else(|| panic!("{path} was written to etcd, and something has deleted it since"))
    }

    /// Waits until the API server's watch cache of a resource, which serves lists and watches, has reached a revision
    /// of etcd.
    #[track_caller]
    fn wait_for_watch_cache(&self, collection: &str, revision: u64) {
        let verdict = poll(SEEN, || {
            let list = self.api.get(&format!("{collection}?resourceVersion=0")).map_err(Retry::Later)?;
            let seen: Option<u64> =
                list.json()["metadata"]["resourceVersion"].as_str().and_then(|seen| seen.parse().ok());
            match seen {
                Some(seen) if list.is_success() && seen >= revision => Ok(()),
                _ => Err(Retry::Later(format!("GET {collection}: {} {}", list.status, list.text()))),
            }
        });
        verdict.unwrap_or_else(|error| panic!("the API server has not seen revision {revision} of etcd: {error}"));
    }

    /// A uid that is unique in this cluster.
    fn made_up_uid(&self) -> String {
        let number = self.unique("").trim_start_matches('-').parse().unwrap_or(0_u32);
        let noise: [u8; 8] = super::credentials::random().unwrap_or_else(|error| panic!("no random bytes: {error}"));
        let noise = hex(&noise);
        format!("{number:08x}-{}-4000-8000-{}", &noise[..4], &noise[4..])
    }

    /// Sends one request to etcd's JSON gateway.
    #[track_caller]
    fn ask_etcd(&self, method: &str, body: Value) -> Value {
        let request = Request::builder().method(Method::POST).uri(format!("/v3/kv/{method}"));
        let request = request.header(header::CONTENT_TYPE, "application/json").body(body.to_string().into_bytes());
        let request = request.unwrap_or_else(|error| panic!("etcd {method}: {error}"));
        let answer = Api::anonymous(&self.etcd_url).and_then(|etcd| etcd.send(request));
        let answer = answer.unwrap_or_else(|error| panic!("etcd {method}: {error}"));
        assert!(answer.is_success(), "etcd {method}: {} {}\nasked: {body}", answer.status, answer.text());
        answer.json()
    }
}

fn encode(bytes: impl AsRef<[u8]>) -> String {
    BASE64_STANDARD.encode(bytes)
}
