use http::Method;
use serde_json::json;

use super::{gadget, world};

const OLD: &str = "Warning: gadgets are \"old\": use widgets, ☂";

fn warnings(stderr: &str) -> Vec<&str> {
    stderr.lines().filter(|line| line.starts_with("Warning:")).collect()
}

/// kubectl output: `Warning:` headers of the server | same: each once
/// kubectl flag: `--warnings-as-errors` | same
#[test]
fn each_warning_of_the_server_is_told_once() {
    let cluster = world();
    let namespace = cluster.namespace("warned");
    for name in ["a", "b", "c"] {
        cluster.create(gadget(&namespace, name));
    }
    // kubectl says it, too, and its exit codes are the same.
    let theirs = cluster.kubectl(&["get", "gadgets", "-n", &namespace]);
    assert_eq!(warnings(&theirs.stderr), [OLD], "{}", theirs.stderr);
    let theirs = cluster.kubectl(&["get", "gadgets", "-n", &namespace, "--warnings-as-errors"]);
    assert!(theirs.code == Some(1) && theirs.stderr.contains("1 warning received"), "{}", theirs.stderr);

    let run = |args: &[&str]| cluster.gc(&[args, &["-n", &namespace]].concat());
    let reads: [&[&str]; 4] =
        [&["tree", "gadgets"], &["tree"], &["plan", "gadget/a"], &["delete", "gadget/a", "--dry-run=server"]];
    for args in reads {
        let ran = run(args).ended(0);
        assert_eq!(warnings(&ran.stderr), [OLD], "{args:?}: {}", ran.stderr);
    }
    let ran = run(&["tree", "gadgets", "--warnings-as-errors"]);
    assert_eq!(ran.expect(1).matches("Gadget/").count(), 3, "{}", ran.stdout);
    assert_eq!(ran.stderr.lines().last(), Some("error: 1 warning received"));
    run(&["tree", "gadgets", "--warnings-as-errors=false"]).expect(0);
    let ran = run(&["delete", "gadget/b", "--yes", "--warnings-as-errors"]).ended(1);
    assert_eq!(warnings(&ran.stderr), [OLD], "{}", ran.stderr);
    assert!(cluster.get(&format!("/apis/habits.test/v1/namespaces/{namespace}/gadgets/b")).is_none());
    // A command that fails says only why.
    let ran = run(&["tree", "gadget/none", "--warnings-as-errors"]).ended(1);
    assert!(!ran.stderr.contains("warning received"), "{}", ran.stderr);
}

#[test]
fn a_warning_about_a_write_is_told() {
    let cluster = world();
    let namespace = cluster.namespace("warned-write");
    let object = |kind: &str, spec: serde_json::Value| {
        let api_version = "admissionregistration.k8s.io/v1";
        cluster.create(json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": namespace}, "spec": spec}))
    };
    object(
        "ValidatingAdmissionPolicy",
        json!({
            "failurePolicy": "Fail",
            "matchConstraints": {"resourceRules": [
                {"apiGroups": [""], "apiVersions": ["*"], "operations": ["*"], "resources": ["configmaps"]},
            ]},
            "validations": [{"expression": "false", "message": "think twice"}],
        }),
    );
    object(
        "ValidatingAdmissionPolicyBinding",
        json!({
            "policyName": namespace,
            "validationActions": ["Warn"],
            "matchResources": {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}}},
        }),
    );
    let maps = format!("/api/v1/namespaces/{namespace}/configmaps");
    for name in ["a", "b"] {
        let metadata = json!({"name": name, "namespace": namespace});
        cluster.create(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}));
    }
    cluster.wait_until("the policy to count", std::time::Duration::from_secs(60), || {
        let args = ["delete", "configmap", "a", "--dry-run=server", "-n", &namespace];
        cluster.kubectl(&args).stderr.contains("think twice")
    });
    for args in [["--dry-run=server", "--yes=false"], ["--yes", "--archive=ARCHIVE"]] {
        let archive = cluster.folder().join(format!("{namespace}.yaml")).display().to_string();
        let args = args.map(|arg| arg.replace("ARCHIVE", &archive));
        let ran = cluster.gc(&["delete", "configmap/a", "configmap/b", "-n", &namespace, &args[0], &args[1]]);
        let told: Vec<&str> = ran.stderr.lines().filter(|line| line.contains("think twice")).collect();
        assert!(told.len() == 1 && told[0].starts_with("Warning: "), "{args:?}: {}", ran.stderr);
    }
    assert!(cluster.ask(&Method::GET, &format!("{maps}/a"), None).status == 404);
    let archive = cluster.folder().join(format!("{namespace}.yaml")).display().to_string();
    let ran = cluster.gc(&["restore", &archive, "--yes"]);
    assert_eq!(ran.stderr.matches("Warning: ").count(), 1, "{}", ran.stderr);
    ran.expect(0);
}

/// Every command reads all resources. Nobody has asked for the deprecated ones.
/// kubectl output: `Warning:` of reading Endpoints | different: not told, because every command reads them
#[test]
fn what_is_read_because_everything_is_warns_of_nothing() {
    let cluster = world();
    let namespace = cluster.namespace("unwarned");
    let theirs = cluster.kubectl(&["get", "endpoints", "-n", &namespace]);
    assert!(theirs.stderr.contains("Warning: v1 Endpoints is deprecated"), "{}", theirs.stderr);
    let ran = cluster.gc(&["resources", "--count"]).ended(0);
    assert_eq!(warnings(&ran.stderr), [OLD], "{}", ran.stderr);
}
