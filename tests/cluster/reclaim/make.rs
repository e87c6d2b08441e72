//! Makes the objects of one seed. The same seed always makes the same objects, at other times.

use proptest::{prelude::RngExt as _, test_runner::TestRng};
use serde_json::{Value, json};

use crate::graphs::generate::{one_of, rng};

/// A finalizer that nobody removes.
pub const FOREIGN: &str = "example.com/keep";

/// A seed whose objects are being made.
pub struct Making {
    pub rng: TestRng,
    pub seed: u64,
    /// In Unix seconds.
    pub now: i64,
    pub namespace: String,
    pub objects: Vec<Value>,
    names: usize,
}

/// RFC 3339.
pub fn time(seconds: i64) -> Value {
    json!(jiff::Timestamp::from_second(seconds).expect("a time").to_string())
}

impl Making {
    pub fn new(seed: u64, now: i64) -> Self {
        Making { rng: rng(seed), seed, now, namespace: format!("old-{seed}"), objects: Vec::new(), names: 0 }
    }

    pub fn some(&mut self, tenths: u32) -> bool {
        self.rng.random_ratio(tenths, 10)
    }

    pub fn number(&mut self, range: std::ops::RangeInclusive<i64>) -> i64 {
        self.rng.random_range(range)
    }

    pub fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        one_of(&mut self.rng, all)
    }

    /// A name that no other seed uses.
    pub fn name(&mut self, sort: &str) -> String {
        self.names += 1;
        format!("{sort}-{}-{}", self.seed, self.names)
    }

    fn uid(&self) -> String {
        format!("{:08x}-{:04x}-4000-8000-00000000c1ea", self.seed, self.objects.len())
    }

    /// A time before now: some seconds, minutes, hours or days.
    pub fn past(&mut self) -> i64 {
        let unit = self.one_of(&[1, 60, 3_600, 86_400]);
        self.now - unit * self.number(1..=50)
    }

    /// Adds an object in this namespace; none: cluster-scoped. Sometimes with a finalizer that nobody removes.
    pub fn add(&mut self, namespace: &str, mut object: Value) -> Value {
        let created = self.past();
        let finalizer = self.some(1);
        let uid = self.uid();
        let metadata = object["metadata"].as_object_mut().expect("metadata");
        if !namespace.is_empty() {
            metadata.insert("namespace".to_owned(), json!(namespace));
        }
        metadata.entry("uid").or_insert(json!(uid));
        metadata.entry("creationTimestamp").or_insert(time(created));
        if finalizer {
            let list = metadata.entry("finalizers").or_insert(json!([]));
            list.as_array_mut().expect("a list").push(json!(FOREIGN));
        }
        self.objects.push(object.clone());
        object
    }

    /// Adds an object in the namespace of the seed.
    pub fn own(&mut self, object: Value) -> Value {
        let namespace = self.namespace.clone();
        self.add(&namespace, object)
    }
}

/// An owner reference to a controller.
pub fn controlled_by(owner: &Value) -> Value {
    json!([{"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"], "controller": true, "blockOwnerDeletion": true}])
}

/// A pod template with these labels, whose image tells its version.
pub fn template(labels: &Value, version: i64) -> Value {
    json!({"metadata": {"labels": labels},
        "spec": {"containers": [{"name": "app", "image": format!("registry.example.com/app:{version}")}]}})
}
