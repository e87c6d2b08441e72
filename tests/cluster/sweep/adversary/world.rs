//! Objects that must survive, and objects that must be collected, while everything around them changes.

use std::{
    fmt,
    sync::{
        Mutex, RwLock,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use http::Method;
use proptest::{prelude::RngExt as _, test_runner::TestRng};
use serde_json::{Value, json};

use super::stubborn::{MERGE_PATCH, Stubborn};
use crate::{
    graphs::generate::rng,
    harness::{Cluster, owner_reference, uid},
    plan::draft::blocking,
};

/// How long to wait until a name may be free.
const STILL_THERE: Duration = Duration::from_millis(20);

/// Kinds of owners and dependents: built-in and custom kinds are patched differently; the last is cluster-scoped.
const KINDS: [(&str, &str, &str); 4] = [
    ("v1", "ConfigMap", "configmaps"),
    ("v1", "Secret", "secrets"),
    ("gc.test/v1", "Widget", "widgets"),
    ("gc.test/v1", "Rack", "racks"),
];
/// Only these first kinds can be dependents: Racks are cluster-scoped, so no namespaced object can own them.
const DEPENDENTS: usize = 3;
const POLICIES: [&str; 3] = ["Background", "Foreground", "Orphan"];

/// An object whose fate is certain.
#[derive(Clone)]
pub struct Known {
    path: String,
    uid: String,
    /// What happened to its owners.
    story: String,
    /// Whether another object took the name of an owner: then the collector can miss that the owner is gone (R2.11).
    pub replaced: bool,
}

impl Known {
    pub fn path(&self) -> &str {
        &self.path
    }
}

impl fmt::Display for Known {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} ({}): {}", self.path, self.uid, self.story)
    }
}

/// The objects of one run, and the adversaries that change them.
pub struct World {
    pub api: Stubborn,
    namespace: String,
    /// Owners that are never deleted.
    anchors: Vec<Value>,
    pub over: AtomicBool,
    /// What adversaries do. Each of their rounds holds it, so whoever changes it waits until these have ended.
    pub manners: RwLock<Manners>,
    numbers: AtomicUsize,
    /// Objects that had a living owner at every moment since they were created.
    must_live: Mutex<Vec<Known>>,
    /// Objects whose owners are all gone.
    pub must_go: Mutex<Vec<Known>>,
    /// How often an owner was replaced by another; and how many objects got a new owner after theirs was deleted, in
    /// time and too late.
    pub exchanged: AtomicUsize,
    pub saved: AtomicUsize,
    pub lost: AtomicUsize,
}

/// What adversaries do.
#[derive(Debug, Default)]
pub struct Manners {
    /// Whether adversaries also annotate contested objects. The real collector is not safe after such a conflict
    /// (R4.2).
    pub annotates: bool,
    /// Whether the real collector works next to a sweep. If two clients remove the last finalizer of an object, the API
    /// server still completes the real collector's PATCH if it began before the other one finished: it deletes whatever
    /// object has the name then, without the PATCH's preconditions (`deleteWithoutFinalizers` in its generic store). So
    /// an object that takes the name of an owner with a finalizer may be deleted instead of it, although nobody decided
    /// that. Adversaries therefore take no such names while this is set. Sweeps don't do that to each other: they
    /// finish such an owner with a DELETE that carries its uid.
    pub beside_the_original: bool,
}

impl Manners {
    /// Whether another object may take the name of an owner that was deleted with this policy.
    fn may_be_taken(&self, policy: &str) -> bool {
        policy == "Background" || !self.beside_the_original
    }
}

impl World {
    pub fn on(cluster: &Cluster) -> Self {
        let world = Self {
            api: Stubborn::to(cluster),
            namespace: cluster.namespace("world"),
            anchors: Vec::new(),
            over: AtomicBool::new(false),
            manners: RwLock::default(),
            numbers: AtomicUsize::new(0),
            must_live: Mutex::default(),
            must_go: Mutex::default(),
            exchanged: AtomicUsize::new(0),
            saved: AtomicUsize::new(0),
            lost: AtomicUsize::new(0),
        };
        let anchors = (0..KINDS.len())
            .map(|kind| world.make(kind, &world.name("anchor"), &[]).expect("the name is free"))
            .collect();
        Self { anchors, ..world }
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    fn name(&self, prefix: &str) -> String {
        format!("{prefix}-{}", self.numbers.fetch_add(1, Ordering::Relaxed))
    }

    fn list(&self, kind: usize) -> String {
        let (version, kind, plural) = KINDS[kind];
        let base = if version == "v1" { "/api/v1".to_owned() } else { format!("/apis/{version}") };
        if kind == "Rack" {
            format!("{base}/{plural}")
        } else {
            format!("{base}/namespaces/{}/{plural}", self.namespace)
        }
    }

    /// Creates an object; `None` if the name is not free.
    fn make(&self, kind: usize, name: &str, owners: &[Value]) -> Option<Value> {
        let (version, word, _) = KINDS[kind];
        let metadata = json!({"name": name, "labels": {"made": self.name("made")}, "ownerReferences": owners});
        let mut made =
            self.api.create(&self.list(kind), &json!({"apiVersion": version, "kind": word, "metadata": metadata}))?;
        (made["apiVersion"], made["kind"]) = (json!(version), json!(word));
        Some(made)
    }

    fn path(&self, kind: usize, object: &Value) -> String {
        format!("{}/{}", self.list(kind), object["metadata"]["name"].as_str().unwrap_or_default())
    }

    fn known(&self, kind: usize, object: &Value, story: &str) -> Known {
        Known { path: self.path(kind, object), uid: uid(object).to_owned(), story: story.to_owned(), replaced: false }
    }

    /// Keeps one object alive by a chain of owners: the next one exists and owns it before the last one is deleted.
    /// Owners reuse the names of earlier ones as soon as these are free.
    pub fn keep_alive(&self, seed: u64) {
        let mut rng = rng(seed);
        let kind = rng.random_range(0..DEPENDENTS);
        let owners = rng.random_range(0..KINDS.len());
        let mut slots = [self.name("owner"), self.name("owner"), self.name("owner")];
        let mut last = self.make(owners, &slots[0], &[]).expect("the name is free");
        let object = self.make(kind, &self.name("lives"), &[owner_reference(&last)]).expect("the name is free");
        let known = self.known(kind, &object, &format!("owners are {}", KINDS[owners].1));
        self.must_live.lock().unwrap().push(known.clone());
        let (mut slot, mut last_slot) = (0, 0);
        while !self.is_over() {
            let manners = self.manners.read().unwrap();
            slot = (slot + 1) % slots.len();
            let Some(next) = self.make(owners, &slots[slot], &[]) else {
                thread::sleep(STILL_THERE);
                continue;
            };
            let reference = |owner: &Value, blocks: bool| if blocks { blocking(owner) } else { owner_reference(owner) };
            let mut references = vec![reference(&last, rng.random()), reference(&next, rng.random())];
            if rng.random() {
                references.reverse();
            }
            let answer = self.api.set_owners(&known.path, &known.uid, &references);
            if answer.status == 404 {
                // `wrongly_gone` reports it.
                return;
            }
            assert!(answer.is_success(), "{known}: {} {}", answer.status, answer.text());
            let policy = POLICIES[rng.random_range(0..POLICIES.len())];
            self.api.delete(&self.path(owners, &last), policy);
            if !manners.may_be_taken(policy) {
                slots[last_slot] = self.name("owner");
            }
            last_slot = slot;
            self.exchanged.fetch_add(1, Ordering::Relaxed);
            last = next;
            // Mostly change again before the last change has taken full effect, and sometimes after that.
            let most = if rng.random_bool(0.2) { 800 } else { 60 };
            pause(&mut rng, most);
        }
    }

    /// Deletes the only owner of an object, and gives it another a moment later. If the API server accepts that, the
    /// object must survive.
    pub fn save(&self, seed: u64) {
        let mut rng = rng(seed);
        while !self.is_over() {
            let manners = self.manners.read().unwrap();
            let (kind, owners) = (rng.random_range(0..DEPENDENTS), rng.random_range(0..KINDS.len()));
            let owner = self.make(owners, &self.name("leaves"), &[]).expect("the name is free");
            let object =
                self.make(kind, &self.name("contested"), &[owner_reference(&owner)]).expect("the name is free");
            let path = self.path(kind, &object);
            pause(&mut rng, 30);
            let policy = POLICIES[rng.random_range(0..2)];
            self.api.delete(&self.path(owners, &owner), policy);
            // In time or too late, however fast those are that collect.
            let late = [4, 40, 300][rng.random_range(0..3)];
            pause(&mut rng, late);
            if manners.annotates {
                for number in 0..rng.random_range(0..3) {
                    let note = json!({"metadata": {"annotations": {"note": number.to_string()}}});
                    self.api.ask(&Method::PATCH, &path, Some((MERGE_PATCH, &note)));
                    pause(&mut rng, late / 3);
                }
            }
            let anchor = &self.anchors[rng.random_range(0..self.anchors.len())];
            let mut references = vec![owner_reference(&owner), owner_reference(anchor)];
            if rng.random() {
                references.swap_remove(0);
            }
            let answer = self.api.set_owners(&path, uid(&object), &references);
            let story =
                format!("its {} was deleted ({policy}), then it got {}", KINDS[owners].1, anchor["metadata"]["name"]);
            let known = self.known(kind, &object, &story);
            let (list, count) = match answer.status {
                200 if answer.json()["metadata"]["deletionTimestamp"].is_null() => (&self.must_live, &self.saved),
                200 | 404 | 409 => (&self.must_go, &self.lost),
                status => panic!("PATCH {path}: {status} {}", answer.text()),
            };
            list.lock().unwrap().push(known);
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Creates chains of objects that must be collected: all their owners are deleted. Other objects take the owners'
    /// names.
    pub fn doom(&self, seed: u64) {
        let mut rng = rng(seed);
        while !self.is_over() {
            let manners = self.manners.read().unwrap();
            let number = rng.random_range(1..3);
            let policy = POLICIES[rng.random_range(0..2)];
            let owners: Vec<(usize, Value)> = (0..number)
                .map(|_| rng.random_range(0..KINDS.len()))
                .map(|kind| (kind, self.make(kind, &self.name("dies"), &[]).expect("the name is free")))
                .collect();
            let mut references: Vec<Value> = owners.iter().map(|(_, owner)| blocking(owner)).collect();
            let mut doomed = Vec::new();
            for level in 0..3 {
                let kind = rng.random_range(0..DEPENDENTS);
                let object = self.make(kind, &self.name("doomed"), &references).expect("the name is free");
                let story = format!("{number} owners deleted ({policy}), level {level}");
                doomed.push(self.known(kind, &object, &story));
                references = vec![owner_reference(&object)];
            }
            for (kind, owner) in &owners {
                self.api.delete(&self.path(*kind, owner), policy);
                let name = owner["metadata"]["name"].as_str().unwrap_or_default();
                // After a background delete the name is free at once; otherwise a moment later.
                let mut replaced = manners.may_be_taken(policy) && self.make(*kind, name, &[]).is_some();
                if manners.may_be_taken(policy) && !replaced {
                    thread::sleep(STILL_THERE);
                    replaced = self.make(*kind, name, &[]).is_some();
                }
                doomed.iter_mut().for_each(|known| known.replaced |= replaced);
            }
            self.must_go.lock().unwrap().extend(doomed);
            pause(&mut rng, 200);
        }
    }

    /// Objects that must survive and don't.
    pub fn wrongly_gone(&self) -> Vec<Known> {
        let must_live = self.must_live.lock().unwrap().clone();
        let lives = |known: &Known| {
            let now = self.api.get(&known.path);
            now.is_some_and(|now| now["metadata"]["uid"] == known.uid && now["metadata"]["deletionTimestamp"].is_null())
        };
        must_live.into_iter().filter(|known| !lives(known)).collect()
    }

    /// Waits until everything doomed is gone, and returns what is left when time is up.
    pub fn wait_for_the_rest(&self, patience: Duration) -> Vec<Known> {
        let deadline = Instant::now() + patience;
        loop {
            let left = self.still_there();
            if left.is_empty() || Instant::now() >= deadline {
                return left;
            }
            thread::sleep(Duration::from_millis(200));
        }
    }

    /// Objects that must be collected and still exist.
    pub fn still_there(&self) -> Vec<Known> {
        let mut there = Vec::new();
        for kind in 0..DEPENDENTS {
            let list = self.api.get(&self.list(kind)).unwrap_or_default();
            let uids = list["items"].as_array().into_iter().flatten();
            there.extend(uids.filter_map(|item| item["metadata"]["uid"].as_str().map(str::to_owned)));
        }
        let must_go = self.must_go.lock().unwrap();
        must_go.iter().filter(|known| there.contains(&known.uid)).cloned().collect()
    }
}

/// Sleeps for less than `most` milliseconds.
pub fn pause(rng: &mut TestRng, most: u64) {
    thread::sleep(Duration::from_millis(rng.random_range(0..most)));
}
