//! What every user finds: owners whose dependents are Secrets, which many may not see.

use std::{fs, path::PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::users::{ANONYMOUS, User};
use crate::{
    harness::{ADMIN, Ran, uid},
    plan::trial::Trial,
    sweep::uncollected,
};

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
        let trial = Trial::on(uncollected(), &format!("rights-{}", user.name.replace(':', "-")), "Background");
        let cluster = trial.cluster;
        let owner = trial.config_map("owner").create();
        trial.config_map("dependent").blocking(&owner).create();
        trial.secret("hidden").blocking(&owner).create();
        let alone = trial.config_map("alone").create();
        trial.config_map("below").blocking(&alone).create();
        let kept = trial.secret("kept").create();
        let of_secret = trial.config_map("of-secret").owned_by(&kept).create();
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
        let cluster = self.trial.cluster;
        let mut all: Vec<&str> = args.iter().map(String::as_str).collect();
        if self.user.name == ANONYMOUS {
            let mut config: Value =
                serde_json::from_slice(&fs::read(cluster.kubeconfig(ADMIN)).expect("a kubeconfig")).expect("JSON");
            config["users"] = json!([]);
            config["contexts"][0]["context"]["user"] = json!("");
            let path = self.file("anonymous.kubeconfig");
            fs::write(&path, config.to_string()).expect("a kubeconfig");
            return cluster.gc_with(&path, &all);
        }
        let user = self.user.in_namespace(&self.trial.namespace);
        let impersonate = format!("--as={user}");
        all.push(&impersonate);
        cluster.gc(&all)
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

pub fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
