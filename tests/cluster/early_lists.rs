//! Lists that begin before discovery has answered, by what was served the last time: they spare the wait, and change
//! nothing else.

use std::{
    fs,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use serde_json::{Value, json};

use crate::{
    doctor::apis::definition,
    harness::{Alone, Cluster, CountingProxy, Fault, Options, Ran, Request, VIEWER, owner_reference},
    plan::trial::Trial,
    requests::{once, paths},
};

/// How long a removed kind may take to go.
const GOING: Duration = Duration::from_mins(2);

/// A cache folder, and a proxy whose server no other test asks.
struct Cached<'c> {
    cluster: &'c Cluster,
    proxy: CountingProxy,
    folder: PathBuf,
}

impl<'c> Cached<'c> {
    fn new(cluster: &'c Cluster) -> Self {
        let folder = cluster.folder().join(cluster.unique("cache"));
        Cached { cluster, proxy: CountingProxy::start(cluster), folder }
    }

    fn gc(&self, args: &[&str]) -> Ran {
        self.gc_in(self.folder.to_str().expect("UTF-8"), args)
    }

    /// Without a cache.
    fn gc_uncached(&self, args: &[&str]) -> Ran {
        self.gc_in("/dev/null", args)
    }

    fn gc_in(&self, folder: &str, args: &[&str]) -> Ran {
        self.proxy.forget();
        self.cluster.gc_with(self.proxy.kubeconfig(), &[args, &["--cache-dir", folder]].concat())
    }

    /// The files in the cache.
    fn files(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.folder.join("gc")).into_iter().flatten();
        entries.map(|entry| entry.expect("a readable folder").path()).collect()
    }

    /// Lets `/apis` answer 503 until this path was asked for.
    fn hold_discovery_until_asked_for(&self, path: &str) {
        let (path, asked) = (path.to_owned(), Arc::new(AtomicBool::new(false)));
        self.proxy.with(move |request: &Request| {
            if request.path == path {
                asked.store(true, Ordering::SeqCst);
            }
            let held = request.path == "/apis" && !asked.load(Ordering::SeqCst);
            let wait = vec![("retry-after", "1")];
            held.then(|| Fault::Answer { status: 503, headers: wait, body: json!({}) })
        });
    }

    /// How often this list was asked for; Tables don't count.
    fn asked_for(&self, path: &str) -> usize {
        let is_list = |request: &&Request| request.path == path && request.accept.contains("PartialObjectMetadataList");
        self.proxy.requests().iter().filter(is_list).count()
    }
}

#[test]
fn lists_begin_while_discovery_is_on_its_way() {
    let trial = Trial::new("early", "Background");
    let owner = trial.config_map("owner").create();
    trial.config_map("dependent").owned_by(&owner).create();
    let cached = Cached::new(trial.cluster);
    let args = ["tree", "configmap/owner", "-o", "name", "-n", &trial.namespace];
    let lists: Vec<String> = trial.cluster.listed().iter().map(|kind| kind.path_in(&trial.namespace)).collect();
    let first = cached.gc(&args);
    assert_eq!((first.expect(0).lines().count(), first.stderr.as_str()), (2, ""));
    assert_eq!(paths(&cached.proxy, &lists, false), once(&lists));
    assert_eq!(cached.files().len(), 1);
    // The second time: the same requests, each once; discovery is read in full again.
    let size = |path: &str| -> u64 {
        cached
            .proxy
            .requests()
            .iter()
            .filter(|request| request.path == path)
            .map(|request| request.response_bytes)
            .sum()
    };
    let discovery = size("/apis");
    let second = cached.gc(&args);
    assert_eq!((&second.stdout, &second.stderr), (&first.stdout, &first.stderr));
    assert_eq!(paths(&cached.proxy, &lists, false), once(&lists));
    assert!(discovery > 10_000 && size("/apis") == discovery, "{discovery} bytes, then {}", size("/apis"));
    // They don't wait for discovery, also of a kind that not every server has; without a cache, that does.
    let widgets = format!("/apis/gc.test/v1/namespaces/{}/widgets", trial.namespace);
    assert!(lists.contains(&widgets));
    cached.hold_discovery_until_asked_for(&widgets);
    let held = cached.gc(&args);
    assert_eq!((held.expect(0), cached.asked_for(&widgets)), (first.stdout.as_str(), 1));
    // Discovery is compared with APIServices: their list is no older.
    let asked: Vec<String> = cached.proxy.requests().into_iter().map(|request| request.path).collect();
    let at = |path: &str| asked.iter().rposition(|asked| asked == path).expect("it was asked for");
    assert!(at("/apis") < at("/apis/apiregistration.k8s.io/v1/apiservices"), "{asked:#?}");
    cached.hold_discovery_until_asked_for(&widgets);
    let waits = cached.gc_uncached(&args);
    assert_eq!((waits.code, cached.asked_for(&widgets)), (Some(1), 0), "{}", waits.stderr);
    // What Kubernetes serves by default needs no cache.
    cached.hold_discovery_until_asked_for(&lists[0]);
    let held = cached.gc_uncached(&args);
    assert_eq!((held.expect(0), cached.asked_for(&lists[0])), (first.stdout.as_str(), 1));
    // Another user of the same server begins anew.
    cached.hold_discovery_until_asked_for(&widgets);
    let other = format!("--as={VIEWER}");
    assert_eq!(cached.gc(&["tree", "configmaps", "-n", &trial.namespace, &other]).code, Some(1));
    assert_eq!(cached.asked_for(&widgets), 0, "nothing is known of what this user may discover");
}

#[test]
#[ignore = "long: a cluster of its own, and kinds that come and go"]
fn kinds_that_came_and_went_since_are_seen_at_once() {
    let cluster = &Alone::start(&Options::default());
    let place = cluster.namespace("kinds");
    let cached = Cached::new(cluster);
    let object = |api_version: &str, kind: &str, owners: &[&Value]| {
        let owners: Vec<Value> = owners.iter().map(|owner| owner_reference(owner)).collect();
        let metadata = json!({"name": kind.to_lowercase(), "namespace": place, "ownerReferences": owners});
        cluster.create(json!({"apiVersion": api_version, "kind": kind, "metadata": metadata}))
    };
    let owner = object("v1", "ConfigMap", &[]);
    let tree = ["tree", "configmap/configmap", "-o", "json", "-n", &place];
    let roots = |ran: &Ran| {
        let document = ran.json();
        assert_eq!((&document["complete"], ran.stderr.as_str()), (&json!(true), ""), "{document}");
        ran.stdout.matches("\"name\": \"crate\"").count()
    };
    assert_eq!(roots(&cached.gc(&tree)), 0);
    // A kind that is new.
    let kind = definition("crates", &["v1"]);
    cluster.create(&kind);
    object("odd.test/v1", "Crate", &[&owner]);
    let path = format!("/apis/odd.test/v1/namespaces/{place}/crates");
    let with = cached.gc(&tree);
    assert!(roots(&with) > 0, "{}", with.stdout);
    assert_eq!(cached.asked_for(&path), 1);
    assert_eq!(cached.gc(&tree).told(), with.told());
    assert_eq!(cached.gc_uncached(&tree).told(), with.told());
    // A type that is new is found, too.
    assert_eq!(cached.gc(&["tree", "crate/crate", "-n", &place]).code, Some(0));
    // A kind that is gone: its list is asked for, and doesn't count.
    cluster.delete(&cluster.path_of(&kind), Some("Background"), None);
    cluster.wait_until("the kind is gone", GOING, || {
        cluster.get(&cluster.path_of(&kind)).is_none() && roots(&cached.gc_uncached(&tree)) == 0
    });
    cached.hold_discovery_until_asked_for(&path);
    assert_eq!((roots(&cached.gc(&tree)), cached.asked_for(&path)), (0, 1));
    cached.proxy.without();
    assert_eq!((roots(&cached.gc(&tree)), cached.asked_for(&path)), (0, 0));
    let gone = cached.gc(&["tree", "crate/crate", "-n", &place]);
    assert!(gone.code == Some(1) && gone.stderr.contains("crate"), "{}", gone.stderr);
}

/// robustness input: a cached discovery that is cut off, garbage, empty, and one that names a kind that isn't served
///   in place of those that are | each, under `tree` and `plan` | the same output as without a cache
#[test]
#[ignore = "long: slow"]
fn whatever_the_cache_says_the_output_is_the_same() {
    let trial = Trial::new("cached-lies", "Background");
    let owner = trial.config_map("owner").create();
    trial.config_map("dependent").owned_by(&owner).create();
    let cached = Cached::new(trial.cluster);
    let commands = [
        &["tree", "configmap/owner", "-o", "name", "-n", &trial.namespace][..],
        &["plan", "configmap/owner", "-o", "name", "-n", &trial.namespace],
        &["tree", "madeups", "-n", &trial.namespace],
    ];
    cached.gc(commands[0]).expect(0);
    let [file] = cached.files().try_into().expect("one file");
    let good = fs::read_to_string(&file).expect("a readable file");
    let kind = |plural: &str, kind: &str| {
        let verbs = ["delete", "list", "watch"];
        json!({"group": "", "version": "v1", "name": plural, "kind": kind, "namespaced": true, "verbs": verbs})
    };
    let lies = [kind("madeups", "MadeUp"), kind("configmaps", "ConfigMap")];
    let lies = json!({"resources": lies, "preferredVersions": []}).to_string();
    let in_namespace = format!("/api/v1/namespaces/{}/madeups", trial.namespace);
    for content in ["", "{}", &good[..good.len() / 2], &lies] {
        for args in commands {
            let path = if args[0] == "tree" { &in_namespace } else { "/api/v1/madeups" };
            fs::write(&file, content).expect("a file that can be written");
            cached.proxy.without();
            let expected = cached.gc_uncached(args);
            if content == lies {
                cached.hold_discovery_until_asked_for(path);
            }
            let ran = cached.gc(args);
            let what = |ran: &Ran| (ran.code, ran.stdout.clone(), ran.stderr.clone());
            assert_eq!(what(&ran), what(&expected), "{args:?} with {content:?}");
            assert_eq!(cached.asked_for(path), usize::from(content == lies));
            assert_eq!(fs::read_to_string(&file).expect("a readable file"), good, "{args:?} with {content:?}");
        }
    }
}
