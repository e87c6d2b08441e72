//! Objects in etcd that no API server can decode (S19).

use std::thread;

use serde_json::{Value, json};

use super::{
    Found, examine, follow,
    kit::{is_gone, names, words},
    paste,
};
use crate::harness::{Alone, LOST_KEY, NAMESPACES};

/// An object to spoil, and what the doctor reports about it.
struct Spoiled {
    object: Value,
    bytes: Vec<u8>,
    /// How the message begins. Where a scheme was made differs by version.
    message: &'static str,
    /// Part of the last remedy.
    in_etcd: &'static str,
}

fn named(api_version: &str, kind: &str, namespace: Option<&str>) -> Value {
    json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "spoiled", "namespace": namespace,
        "uid": "spoiled"}})
}

/// Kinds with different storage encodings, and different ways to spoil an object.
fn all() -> Vec<Spoiled> {
    let config_map = named("v1", "ConfigMap", Some("default"));
    let half = config_map.to_string();
    vec![
        Spoiled {
            bytes: half.as_bytes()[..half.len() / 2].to_vec(),
            object: config_map,
            message: "The list of configmaps fails because a stored object cannot be decoded: couldn't get \
                version/kind; json parse error: unexpected end of JSON input.",
            in_etcd: "etcdctl get --prefix --keys-only /registry/configmaps/",
        },
        Spoiled {
            object: named("v1", "Secret", Some("default")),
            bytes: LOST_KEY.to_vec(),
            message: "Secret default/spoiled cannot be decrypted, so the list of secrets fails; there may be \
                more such objects: Internal error occurred: unable to transform key \
                \"/registry/secrets/default/spoiled\": identity transformer tried to read encrypted data.",
            in_etcd: "etcdctl del /registry/secrets/default/spoiled",
        },
        Spoiled {
            object: named("v1", "Service", Some("default")),
            bytes: b"k8s\0\x0a\x05\x0a\x02v1\x12\x07Service\x12\xff".to_vec(),
            message: "The list of services fails because a stored object cannot be decoded: unexpected EOF.",
            in_etcd: "etcdctl get --prefix --keys-only /registry/services/specs/",
        },
        Spoiled {
            object: named("apps/v1", "Deployment", Some("default")),
            bytes: br#"{"apiVersion":"apps/v0","kind":"Deployment"}"#.to_vec(),
            message: "The list of deployments.apps fails because a stored object cannot be decoded: no kind \
                \"Deployment\" is registered for version \"apps/v0\" in scheme ",
            in_etcd: "etcdctl get --prefix --keys-only /registry/deployments/",
        },
        Spoiled {
            object: named("coordination.k8s.io/v1", "Lease", Some("default")),
            bytes: b"k8s\0\x0a\x1f\x0a\x16coordination.k8s.io/v1\x12\x05Lease\x12\x03\x0a\x01\x07".to_vec(),
            message: "The list of leases.coordination.k8s.io fails because a stored object cannot be decoded: \
                proto: ObjectMeta: illegal tag 0 (wire type 7).",
            in_etcd: "etcdctl get --prefix --keys-only /registry/leases/",
        },
        Spoiled {
            object: named("gc.test/v1", "Rack", None),
            bytes: b"{}".to_vec(),
            message: "The list of racks.gc.test fails because a stored object cannot be decoded: Object 'Kind' \
                is missing in '{}'.",
            in_etcd: "etcdctl get --prefix --keys-only /registry/gc.test/racks/",
        },
        Spoiled {
            object: named("gc.test/v1", "Widget", Some("default")),
            bytes: named("gc.test/v0", "Widget", Some("default")).to_string().into_bytes(),
            message: "The list of widgets.gc.test fails: some are stored as gc.test/v0, a version that their \
                CRD no longer has.",
            in_etcd: "etcdctl get --prefix --keys-only /registry/gc.test/widgets/",
        },
    ]
}

pub fn objects_that_cannot_be_decoded() {
    let cluster = Alone::with(&[]);
    let doomed = object!("v1 Namespace", {"name": cluster.namespace("doomed")});
    let all = all();
    // In parallel: each takes half a minute.
    thread::scope(|scope| {
        for Spoiled { object, bytes, .. } in &all {
            scope.spawn(|| cluster.spoil_with(object, bytes));
        }
    });
    cluster.start_controllers(&[NAMESPACES]);
    cluster.delete(&cluster.path_of(&doomed), Some("Background"), None);
    let found = examine(&cluster, &[]);
    assert_eq!((found.findings().count(), found.code), (all.len(), Some(2)), "{:#}", found.document);
    for Spoiled { message, in_etcd, .. } in &all {
        let begins = |finding: &&Value| words(finding, "message").starts_with(message);
        let finding = found.findings().find(begins);
        let finding = finding.unwrap_or_else(|| panic!("{message}\n{:#}", found.document));
        assert_eq!(
            (&finding["code"], &finding["severity"]),
            (&json!("undecodable-object"), &json!("Error")),
            "{finding:#}"
        );
        assert_eq!(names(&finding["related"]), [words(&doomed["metadata"], "name")]);
        let remedies = finding["remedies"].as_array().expect("remedies");
        assert_eq!(remedies.last().expect("one at least")["commands"], json!([in_etcd]), "{finding:#}");
    }
    // A namespace waits even if it contains none of them.
    assert!(cluster.get(&cluster.path_of(&doomed)).is_some());

    // The message names this namespace and no other.
    let of = |found: &Found, words: &str| {
        found.findings().find(|finding| finding["message"].to_string().contains(words)).cloned()
    };
    let finding = of(&found, "The list of configmaps").expect("it was found");
    let narrowed = paste(&cluster, words(&finding, "remedy"));
    assert_eq!(narrowed.trim(), "default");

    let stored_elsewhere = of(&found, "gc.test/v0").expect("it was found");
    follow(&cluster, &stored_elsewhere, 0);
    // As etcdctl would do it.
    for Spoiled { object, .. } in all.iter().filter(|spoiled| spoiled.object["kind"] != "Widget") {
        cluster.etcd_delete(&cluster.etcd_key(object));
    }
    is_gone(&cluster, &doomed);
    let found = examine(&cluster, &[]);
    assert!(found.findings().next().is_none(), "{:#}", found.document);
    assert!(cluster.get("/apis/gc.test/v1/namespaces/default/widgets/spoiled").is_some());
}
