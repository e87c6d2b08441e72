//! What every user finds: owners whose dependents are Secrets, which many may not see.

use std::{fs, io::Read as _, path::PathBuf, process::Stdio, sync::LazyLock, time::Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::users::{ANONYMOUS, User};
use crate::{
    harness::{ADMIN, Alone, PATIENCE, Ran, Watching, uid},
    plan::trial::Trial,
    sweep::without_collector,
};

pub use crate::harness::text;

/// Users get rights in all of it.
static CLUSTER: LazyLock<Alone> = LazyLock::new(without_collector);

/// A namespace, on a cluster without a collector, and a user with rights in it or everywhere.
pub struct World {
    pub trial: Trial<'static>,
    pub user: &'static User,
    /// What nobody may lose, whoever deletes or sweeps what is seen: Secrets, and what a Secret owns.
    hidden: Vec<Value>,
    folder: TempDir,
}

impl World {
    #[track_caller]
    pub fn of(user: &'static User) -> Self {
        let trial = Trial::on(&CLUSTER, &format!("rights-{}", user.name.replace(':', "-")), "Background");
        let cluster = trial.cluster;
        let owner = trial.config_map("owner").create();
        trial.config_map("dependent").blocking(&owner).create();
        trial.secret("hidden").blocking(&owner).create();
        let alone = trial.config_map("alone").create();
        trial.config_map("below").blocking(&alone).create();
        let kept = trial.secret("kept").create();
        let of_secret = trial.config_map("of-secret").owned_by(&kept).create();
        for name in ["followed", "followed-all-the-same"] {
            trial.config_map(name).create();
        }
        let gone = trial.gone("gone");
        trial.config_map("lost").owned_by(&gone).create();
        let orphaning = trial.config_map("orphaning").create();
        let orphan = trial.secret("orphan").blocking(&orphaning).create();
        trial.config_map("free").blocking(&orphaning).create();
        cluster.delete(&cluster.path_of(&orphaning), Some("Orphan"), None);
        let waiting = trial.config_map("waiting").create();
        trial.secret("blocking").blocking(&waiting).create();
        trial.config_map("in-the-way").blocking(&waiting).create();
        cluster.delete(&cluster.path_of(&waiting), Some("Foreground"), None);
        user.grant(cluster, &trial.namespace);
        let folder = tempfile::tempdir().expect("a temporary folder");
        let former = trial.config_map("former").create();
        let file = folder.path().join("before.yaml");
        let file = file.to_str().expect("a temporary folder has a readable name");
        cluster.gc(&["archive", "cm/former", file, "-n", &trial.namespace]).expect(0);
        cluster.delete(&cluster.path_of(&former), None, None);
        World { trial, user, hidden: vec![kept, of_secret, orphan], folder }
    }

    /// A path in a folder of this world.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs a command as the user.
    #[track_caller]
    pub fn run(&self, args: &[String]) -> Ran {
        let (kubeconfig, args) = self.as_user(args);
        self.trial.cluster.gc_with(&kubeconfig, &args.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Runs a command that goes on, as the user, and ends it once its documents are enough. The exit code is its own
    /// only if it ends by itself.
    #[track_caller]
    pub fn first_documents(&self, args: &[String], enough: impl Fn(&[Value]) -> bool) -> Ran {
        let (kubeconfig, args) = self.as_user(args);
        let mut command = self.trial.cluster.gc_command(&kubeconfig);
        let mut watching = Watching::of(command.args(&args).stderr(Stdio::piped()));
        let (begun, mut stdout, mut code) = (Instant::now(), String::new(), None);
        while !enough(&documents(&stdout)) {
            assert!(begun.elapsed() < PATIENCE, "it says nothing: {args:?}: {stdout}");
            match watching.next() {
                Some(line) => stdout += &(line + "\n"),
                None if code.is_some() => break,
                None => code = watching.child.try_wait().expect("a status").map(|status| status.code()),
            }
        }
        let mut errors = watching.child.stderr.take().expect("its errors");
        drop(watching);
        let mut stderr = String::new();
        errors.read_to_string(&mut stderr).expect("text");
        Ran { code: code.unwrap_or(Some(0)), stdout, stderr }
    }

    /// The kubeconfig file and the arguments by which the user runs a command.
    fn as_user(&self, args: &[String]) -> (PathBuf, Vec<String>) {
        let (cluster, mut args) = (self.trial.cluster, args.to_vec());
        if self.user.name == ANONYMOUS {
            let mut config: Value =
                serde_json::from_slice(&fs::read(cluster.kubeconfig(ADMIN)).expect("a kubeconfig")).expect("JSON");
            config["users"] = json!([]);
            config["contexts"][0]["context"]["user"] = json!("");
            let path = self.file("anonymous.kubeconfig");
            fs::write(&path, config.to_string()).expect("a kubeconfig");
            return (path, args);
        }
        let user = self.user.in_namespace(&self.trial.namespace);
        args.push(format!("--as={user}"));
        (cluster.kubeconfig(ADMIN), args)
    }

    /// The objects in the namespace.
    pub fn there(&self) -> Vec<Value> {
        let (cluster, namespace) = (self.trial.cluster, &self.trial.namespace);
        let list = |path: &str, kind: &str| {
            let objects = cluster.list(&format!("{path}/namespaces/{namespace}/{kind}"));
            let named = objects.into_iter().filter(|object| object["metadata"]["name"] != "kube-root-ca.crt");
            named.map(|object| json!({"resource": kind, "metadata": object["metadata"]})).collect::<Vec<_>>()
        };
        let core = ["configmaps", "secrets"].into_iter().flat_map(|kind| list("/api/v1", kind));
        core.chain(list("/apis/gc.test/v1", "widgets")).collect()
    }

    /// What was lost that nobody asked to delete: Secrets, what belongs to them, and what has yet to be freed.
    pub fn losses(&self) -> Vec<String> {
        let now = self.there();
        let find = |name: &str| now.iter().find(|object| object["metadata"]["name"] == name);
        let is_there = |object: &Value| now.iter().any(|other| other["metadata"]["uid"] == uid(object));
        let mut lost: Vec<String> = self
            .hidden
            .iter()
            .filter(|object| !is_there(object))
            .map(|object| format!("{} is lost", text(&object["metadata"]["name"])))
            .collect();
        // Who sees Secrets may delete their owner.
        let seen = self.may("list", "secrets");
        for (owner, dependent) in [("orphaning", "orphan"), ("waiting", "blocking"), ("owner", "hidden")] {
            if seen && owner == "owner" {
                continue;
            }
            let refers = find(dependent).is_some_and(|found| found["metadata"]["ownerReferences"].is_array());
            if find(owner).is_none() && refers {
                lost.push(format!("{owner} went before {dependent}, which the collector would now delete"));
            }
        }
        lost
    }

    /// Whether the user may do this in the namespace.
    pub fn may(&self, verb: &str, resource: &str) -> bool {
        self.user.may(self.trial.cluster, &self.trial.namespace, verb, resource)
    }
}

/// The documents that stand whole in a text.
pub fn documents(text: &str) -> Vec<Value> {
    serde_json::Deserializer::from_str(text).into_iter().map_while(Result::ok).collect()
}
