//! Credential plugins.

use std::{
    fs,
    path::{Path, PathBuf},
    thread,
    time::{Duration, SystemTime},
};

use rustix::process::Signal;
use serde_json::{Value, json};

use super::{admin, folder, kubeconfig, world};
use crate::harness::{Cluster, Ran, Supervised, owner_reference, shared};

const VERSION: &str = "client.authentication.k8s.io/v1";
const WATCHED: Duration = Duration::from_mins(2);

/// A plugin that prints one credential after the other, and the last again and again. It notes each run.
struct Plugin {
    folder: tempfile::TempDir,
    config: PathBuf,
}

impl Plugin {
    fn new(cluster: &Cluster, printed: &[String], settings: &Value) -> Self {
        let folder = folder();
        for (number, text) in printed.iter().enumerate() {
            fs::write(folder.path().join(format!("{}", number + 1)), text).expect("a credential");
        }
        let script = format!(
            "cd '{}'; echo run >> runs; echo \"$KUBERNETES_EXEC_INFO\" > info; \
             echo \"${{A-unset}},${{B-unset}}\" > env; \
             n=$(wc -l < runs); while [ ! -e $n ]; do n=$((n - 1)); done; cat $n",
            folder.path().display()
        );
        let mut exec =
            json!({"apiVersion": VERSION, "command": "sh", "args": ["-c", script], "interactiveMode": "Never"});
        for (name, value) in settings.as_object().into_iter().flatten() {
            exec[name] = value.clone();
        }
        let config = kubeconfig(cluster, folder.path(), &json!({"exec": exec}));
        Plugin { folder, config }
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folder.path().join(name)).unwrap_or_default()
    }

    fn runs(&self) -> usize {
        self.read("runs").lines().count()
    }
}

fn credential(status: &Value) -> String {
    json!({"apiVersion": VERSION, "kind": "ExecCredential", "status": status}).to_string()
}

fn token(token: &str) -> String {
    credential(&json!({"token": token}))
}

fn time(time: SystemTime) -> String {
    jiff::Timestamp::try_from(time).expect("a time").strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Many requests: every served resource is listed.
const MANY: [&str; 2] = ["tree", "-A"];

#[track_caller]
fn works(ran: &Ran) {
    assert!(ran.expect(0).contains("Namespaces"), "{}", ran.stdout);
}

/// kubectl credential: plugins (`exec`) run once for a token's lifetime | same
#[test]
fn a_plugin_runs_once_for_all_requests() {
    let cluster = shared();
    let (_, secret) = admin(cluster);
    let now = SystemTime::now();
    let plenty = Duration::from_hours(1);
    // A token that is valid for less than a minute, and one that had ended when it came: the clocks differ.
    for expires in [None, Some(now + Duration::from_secs(50)), Some(now - plenty), Some(now + plenty)] {
        let mut status = json!({"token": secret});
        if let Some(expires) = expires {
            status["expirationTimestamp"] = json!(time(expires));
        }
        let plugin = Plugin::new(cluster, &[credential(&status)], &json!({}));
        works(&cluster.gc_with(&plugin.config, &MANY));
        assert_eq!(plugin.runs(), 1, "{expires:?}");
    }
}

/// kubectl credential: plugins after a 401 | different: the request is sent again, too
#[test]
fn after_a_401_it_runs_again_once() {
    let cluster = shared();
    let (_, secret) = admin(cluster);
    let plugin = Plugin::new(cluster, &[token("revoked-token"), token(&secret)], &json!({}));
    works(&cluster.gc_with(&plugin.config, &MANY));
    assert_eq!(plugin.runs(), 2);

    let plugin = Plugin::new(cluster, &[token("revoked-token")], &json!({}));
    let ran = cluster.gc_with(&plugin.config, &MANY).ended(1);
    assert!(ran.stderr.contains("401 Unauthorized") && !ran.stderr.contains("revoked-token"), "{}", ran.stderr);
    assert_eq!(plugin.runs(), 2);
}

#[test]
fn it_gets_what_the_kubeconfig_says() {
    let cluster = shared();
    let (_, secret) = admin(cluster);
    for (env, seen) in [
        (json!(null), "unset,unset"),
        (json!([{"name": "A", "value": ""}, {"name": "B", "value": "b"}]), ",b"),
        (json!([{"name": "B", "value": ""}]), "unset,"),
    ] {
        let settings = json!({"env": env, "interactiveMode": "IfAvailable", "installHint": null});
        let plugin = Plugin::new(cluster, &[token(&secret)], &settings);
        works(&cluster.gc_with(&plugin.config, &MANY));
        assert_eq!(plugin.read("env").trim(), seen);
        let info: Value = serde_json::from_str(&plugin.read("info")).expect("an ExecCredential");
        // Standard input is no terminal.
        assert_eq!(info, json!({"apiVersion": VERSION, "kind": "ExecCredential", "spec": {"interactive": false}}));
    }
}

#[test]
fn what_fails_says_why() {
    let cluster = shared();
    let secret = "a-secret-token";
    let none = json!({});
    let cases: [(String, Value, usize, &[&str]); 12] = [
        (token(secret), json!({"interactiveMode": "Always"}), 0, &["credential plugin sh", "needs a terminal"]),
        (token(secret), json!({"interactiveMode": null}), 0, &["it has no interactiveMode", "IfAvailable"]),
        (token(secret), json!({"apiVersion": "client.authentication.k8s.io/v1alpha1"}), 0, &["v1alpha1", "supported"]),
        (token(secret), json!({"command": ""}), 0, &["it has no command"]),
        (
            token(secret),
            json!({"command": "no-such-plugin", "installHint": "install it"}),
            0,
            &["credential plugin no-such-plugin cannot be run", "install it"],
        ),
        (token(secret), json!({"args": ["-c", "echo log in first >&2; exit 3"]}), 0, &["log in first", "status: 3"]),
        (secret.to_owned(), none.clone(), 1, &["returned no ExecCredential"]),
        (json!({"kind": "ExecCredential", "status": secret}).to_string(), none.clone(), 1, &["no ExecCredential"]),
        (json!({"kind": "ExecCredential"}).to_string(), none.clone(), 1, &["no status"]),
        (credential(&none), none.clone(), 1, &["neither a token nor a certificate"]),
        (credential(&json!({"clientKeyData": secret})), none.clone(), 1, &["only one of"]),
        (
            credential(&json!({"clientKeyData": secret, "clientCertificateData": secret})),
            none,
            1,
            &["returned a certificate or a key that can't be read"],
        ),
    ];
    for (printed, settings, runs, words) in cases {
        let plugin = Plugin::new(cluster, &[printed], &settings);
        let ran = cluster.gc_with(&plugin.config, &MANY).ended(1);
        for word in words {
            assert!(ran.stderr.contains(word), "{word:?} is not in: {}", ran.stderr);
        }
        assert!(!ran.stderr.contains(secret), "{}", ran.stderr);
        assert_eq!(plugin.runs(), runs, "{}", ran.stderr);
    }
}

/// kubectl credential: plugins: `interactiveMode` | same
#[test]
fn it_asks_on_a_terminal() {
    let cluster = shared();
    let (_, secret) = admin(cluster);
    for mode in ["Always", "IfAvailable"] {
        let plugin = Plugin::new(cluster, &[], &json!({}));
        let script = format!(
            "echo \"$KUBERNETES_EXEC_INFO\" > '{}/info'; echo 'Password?' >&2; read -r p; \
             [ \"$p\" = right ] && echo '{}'",
            plugin.folder.path().display(),
            token(&secret)
        );
        let exec = json!({"apiVersion": VERSION, "command": "sh", "args": ["-c", script], "interactiveMode": mode});
        let config = kubeconfig(cluster, plugin.folder.path(), &json!({"exec": exec}));
        let terminal =
            cluster.gc_on_terminal(&["tree", "-A", "--kubeconfig", config.to_str().expect("a path in UTF-8")]);
        terminal.shows("Password?");
        let (code, shown) = terminal.answered("right");
        assert!(code == Some(0) && shown.contains("Namespaces"), "{mode}: {shown}");
        let info: Value = serde_json::from_str(&plugin.read("info")).expect("an ExecCredential");
        assert_eq!(info["spec"]["interactive"], true);
    }
}

/// As in client-go, who has a token or a certificate needs no plugin.
/// kubectl credential: a token beside a plugin | same
#[test]
fn a_token_takes_precedence() {
    let cluster = shared();
    let (_, secret) = admin(cluster);
    let plugin = Plugin::new(cluster, &[token("wrong")], &json!({}));
    works(&cluster.gc_with(&plugin.config, &["tree", "-A", "--token", &secret]));
    assert_eq!(plugin.runs(), 0);
}

/// Certificates of which each is valid for a short time; `told`: whether the plugin says until when.
fn certificates(told: bool) -> Vec<String> {
    let world = world();
    let until = [Duration::from_secs(15), Duration::from_secs(30), Duration::from_hours(1)];
    let one = |valid: Duration| {
        let until = SystemTime::now() + valid;
        let (certificate, key) = world.authority.client("cert-admin", until);
        let mut status = json!({"clientCertificateData": certificate, "clientKeyData": key});
        if told {
            status["expirationTimestamp"] = json!(time(until));
        }
        credential(&status)
    };
    until.into_iter().map(one).collect()
}

#[test]
fn a_certificate_is_enough() {
    let plugin = Plugin::new(&world().cluster, &certificates(true)[2..], &json!({}));
    works(&world().cluster.gc_with(&plugin.config, &MANY));
    assert_eq!(plugin.runs(), 1);
}

/// Deletes what has lost its owner, in place of the collector.
fn lost(cluster: &Cluster, name: &str) -> Value {
    let config_map = |name: &str| {
        let metadata = json!({"name": name, "namespace": "default"});
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})
    };
    let owner = cluster.create(config_map(&format!("{name}-owner")));
    cluster.delete(&cluster.path_of(&owner), Some("Background"), None);
    let mut dependent = config_map(name);
    dependent["metadata"]["ownerReferences"] = json!([owner_reference(&owner)]);
    cluster.create(dependent)
}

/// Whether the plugin says until when, or only the server's 401 does.
/// kubectl credential: plugins: an expired certificate is fetched anew | same
#[test]
#[ignore = "long: waits until certificates end"]
fn a_sweep_outlives_its_certificates() {
    let cluster = &world().cluster;
    let sweeps = [true, false].map(|told| {
        let plugin = Plugin::new(cluster, &certificates(told), &json!({}));
        let config = plugin.config.clone();
        let program = cluster.gc_program(&config, &["sweep", "--watch"]);
        let sweep = Supervised::start("sweep", plugin.folder.path(), program).expect("a sweep");
        (plugin, sweep)
    });
    // One sweep alone has to do the work at a time: the other one is stopped.
    let [first, second] = &sweeps;
    let goes = |name: &str| {
        let path = cluster.path_of(&lost(cluster, name));
        let what = format!("{path} to go\n{}\n{}", first.1.log_tail(), second.1.log_tail());
        cluster.wait_until(&what, WATCHED, || cluster.get(&path).is_none());
    };
    goes("at-first");
    // Both short certificates end.
    thread::sleep(Duration::from_secs(35));
    for (number, (stopped, _)) in [(first, second), (second, first)].into_iter().enumerate() {
        stopped.1.signal(Signal::STOP);
        goes(&format!("later-{number}"));
        stopped.1.signal(Signal::CONT);
    }
    for (plugin, _) in &sweeps {
        assert!((2..=3).contains(&plugin.runs()), "{} runs", plugin.runs());
    }
}

#[test]
fn a_token_file_is_trimmed() {
    let cluster = shared();
    let (_, secret) = admin(cluster);
    let folder = folder();
    let file: &Path = &folder.path().join("token");
    fs::write(file, format!("{secret}\n")).expect("a token");
    // The kubeconfig's folder is where the name leads from.
    works(&cluster.gc_with(&kubeconfig(cluster, folder.path(), &json!({"tokenFile": "token"})), &MANY));
    fs::write(file, "\n").expect("a token");
    let ran = cluster.gc_with(&kubeconfig(cluster, folder.path(), &json!({"tokenFile": "token"})), &MANY).ended(1);
    assert!(ran.stderr.contains("it is empty"), "{}", ran.stderr);
}
