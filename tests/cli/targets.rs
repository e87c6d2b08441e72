//! All ways to name objects select the same objects.

use super::run::{SHOP, finish, program, run, run_with, write};

/// The targets of `tree --depth 0 -o name` in the shop dump.
fn named(arguments: &str) -> Vec<String> {
    let ended = run(&format!("tree {arguments} --depth 0 -o name --from {SHOP}"));
    assert_eq!(ended.code, 0, "{arguments}: {}", ended.err);
    ended.out.lines().map(str::to_owned).collect()
}

/// kubectl habit: TYPE by kind, plural, singular, short name, `TYPE.GROUP`, `TYPE.VERSION.GROUP` | same
#[test]
fn types_have_many_names() {
    let types = [
        "deploy",
        "deployment",
        "deployments",
        "Deployment",
        "DEPLOY",
        "deployments.apps",
        "deploy.apps",
        "deployments.v1.apps",
        "Deployment.v1.apps",
    ];
    for name in types {
        assert_eq!(named(&format!("{name}/web")), ["deployment.apps/web"], "{name}");
        assert_eq!(named(&format!("{name} web")), ["deployment.apps/web"], "{name}");
    }
    assert_eq!(named("shops.acme.io/main"), ["shop.acme.io/main"]);
}

/// kubectl habit: `TYPE/NAME…`, `TYPE NAME…`, `TYPE,TYPE` | same
#[test]
fn several_targets_keep_their_order_and_count_once() {
    assert_eq!(named("svc/web deploy/web svc/db"), ["service/web", "deployment.apps/web", "service/db"]);
    assert_eq!(named("svc,deploy web"), ["service/web", "deployment.apps/web"]);
    assert_eq!(named("svc web db web"), ["service/web", "service/db"]);
    assert_eq!(named("service/web svc/web"), ["service/web"]);
}

/// kubectl flag: `-l`, `--field-selector`, `--all` | same
#[test]
fn selectors_choose() {
    assert_eq!(named("deploy --all -n shop"), ["deployment.apps/api", "deployment.apps/web"]);
    assert_eq!(named("deploy --all -A").len(), 3);
    assert_eq!(named("deploy --all").len(), 3);
    assert_eq!(named("deploy --field-selector metadata.name=web"), ["deployment.apps/web"]);
    assert_eq!(named("deploy --field-selector metadata.name!=web,metadata.namespace=shop"), ["deployment.apps/api"]);
    // Kubernetes gives every Namespace a label with its name.
    let namespaces =
        |line: &str| -> Vec<String> { named(line).into_iter().filter(|name| name.starts_with("namespace/")).collect() };
    assert_eq!(namespaces("ns -l 'kubernetes.io/metadata.name in (shop)'"), ["namespace/shop"]);
    assert_eq!(namespaces("ns -l 'kubernetes.io/metadata.name,!nothing' -n anything").len(), 2);
}

/// A Namespace is shown with what is in it: as `-n` shows it, and the Namespace itself.
#[test]
fn a_namespace_stands_for_its_content() {
    let of = |line: &str| -> Vec<String> {
        named(line).into_iter().filter(|name| !name.starts_with("namespace/")).collect()
    };
    assert!(of("ns/shop").len() > 5, "{:?}", of("ns/shop"));
    assert_eq!(named("ns/shop")[0], "namespace/shop");
    assert_eq!(of("ns/shop"), of("-n shop"));
    assert_eq!(named("ns/elsewhere ns/shop").len(), of("-n elsewhere").len() + of("-n shop").len() + 2);
    assert_eq!(named("ns/shop --owners"), ["namespace/shop"]);
    let doctor = |line: &str| run(&format!("doctor --from {SHOP} -o json {line}")).out;
    assert_eq!(doctor("ns/elsewhere"), doctor("-n elsewhere"));
    assert!(doctor("ns/elsewhere").contains("owner-other-namespace"));
    for command in ["sweep --dry-run --assume-complete", "reclaim --assume-complete"] {
        let of = |line: &str| run(&format!("{command} --from examples/leftovers.yaml -o json {line}")).out;
        assert_eq!(of("ns/shop"), of("-n shop"), "{command}");
        assert_ne!(of("ns/shop"), of("ns/kube-system"), "{command}");
    }
}

#[test]
fn a_namespace_is_needed_only_where_a_name_is_ambiguous() {
    let folder = tempfile::tempdir().unwrap();
    let pod = |namespace: &str| {
        format!("---\napiVersion: v1\nkind: Pod\nmetadata: {{name: web, namespace: {namespace}, uid: {namespace}-1}}\n")
    };
    let dump = write(folder.path(), "pods.yaml", &(pod("a") + &pod("b")));
    let ambiguous = run(&format!("tree pod/web --from {dump}"));
    assert_eq!((ambiguous.code, ambiguous.out.as_str()), (1, ""));
    assert!(ambiguous.err.contains('a') && ambiguous.err.contains("-n"), "{}", ambiguous.err);
    assert_eq!(run(&format!("tree pod/web -n b -o name --from {dump}")).out, "pod/web\n");
    assert_eq!(run(&format!("tree pods --all -o name --from {dump}")).out, "pod/web\npod/web\n");
}

#[test]
fn a_namespace_is_nothing_to_what_is_cluster_scoped() {
    assert_eq!(named("node/worker-1 -n shop"), ["node/worker-1"]);
    assert_eq!(named("node --all -n shop").len(), 2);
}

/// kubectl flag: `-f FILE`, `-f FOLDER`, `-f -`, `-f a,b`, `-R` | same
#[test]
fn manifests_name_targets() {
    let folder = tempfile::tempdir().unwrap();
    let list =
        r#"{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Service","metadata":{"name":"db"}}]}"#;
    write(folder.path(), "1.json", list);
    write(
        folder.path(),
        "2.yaml",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\n---\n",
    );
    let folder = folder.path().display();
    assert_eq!(named(&format!("-f {folder}")), ["service/db", "deployment.apps/web"]);
    assert_eq!(named(&format!("-f {folder}/2.yaml -n shop")), ["deployment.apps/web"]);
    assert_eq!(named(&format!("-f {folder}/2.yaml,{folder}/1.json")), ["deployment.apps/web", "service/db"]);
    assert_eq!(named(&format!("-f '{folder}/[12].*'")), ["service/db", "deployment.apps/web"]);
    // As in Go, ^ negates, and a star never matches a slash.
    assert_eq!(named(&format!("-f '{folder}/[^1].*'")), ["deployment.apps/web"]);
    assert_eq!(named(&format!("-f '{folder}/[!1].*'")), ["service/db"]);
    std::fs::create_dir_all(format!("{folder}/deep/deeper")).unwrap();
    std::fs::copy(format!("{folder}/1.json"), format!("{folder}/deep/deeper/1.json")).unwrap();
    assert_eq!(run(&format!("tree -f '{folder}/**/1.json' --from {SHOP}")).code, 1);
    for odd in ["\\*.yaml", "[[:alpha:]].yaml"] {
        let refused = run(&format!("tree -f '{folder}/{odd}' --from {SHOP}"));
        assert!(refused.err.contains("not understood"), "{}", refused.err);
    }
    let none = run(&format!("tree -f '{folder}/*.yml' --from {SHOP}"));
    assert_eq!((none.code, none.err), (1, format!("error: -f {folder}/*.yml: no file matches\n")));
    let piped = run_with(&format!("tree -f - --depth 0 -o name --from {SHOP}"), list);
    assert_eq!(piped.out, "service/db\n");
}

/// kubectl flag: `-k FOLDER` | same: `kubectl kustomize` builds it
#[test]
#[cfg(unix)]
fn kubectl_builds_kustomizations() {
    use std::os::unix::fs::PermissionsExt as _;
    let bin = tempfile::tempdir().unwrap();
    let script = [
        "#!/bin/sh",
        "for last; do :; done",
        "[ \"$1\" = kustomize ] || exit 9",
        "[ -d \"$last\" ] || { echo \"error: no $last\" >&2; exit 1; }",
        "echo 'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}'",
    ];
    let kubectl = write(bin.path(), "kubectl", &script.join("\n"));
    std::fs::set_permissions(&kubectl, std::fs::Permissions::from_mode(0o755)).unwrap();
    let tree = |folder: &str| {
        let args = ["tree", "-k", folder, "--depth", "0", "-o", "name", "--from", SHOP];
        finish(program().env("PATH", bin.path()).args(args))
    };
    assert_eq!(tree("examples").out, "deployment.apps/web\n");
    assert_eq!(tree("nowhere").err, "error: -k nowhere: no nowhere\n");
    let empty = tempfile::tempdir().unwrap();
    let sweep = ["sweep", "--dry-run", "-k", "examples", "--from", SHOP];
    let without = finish(program().env("PATH", empty.path()).args(sweep));
    assert!(without.err.starts_with("error: -k examples: cannot run kubectl: "), "{}", without.err);
    assert!(run("tree -k a -f b").err.contains("cannot be used with"));
}

/// kubectl habit: a TYPE alone | same: `tree` lists it, `delete` refuses it
#[test]
fn a_type_alone_is_shown_whole_and_never_deleted() {
    assert_eq!(named("deploy -n shop"), ["deployment.apps/api", "deployment.apps/web"]);
    assert_eq!(named("deploy,node -A").len(), 5);
    for command in ["plan", "explain", "doctor", "sweep --dry-run"] {
        let refused = run(&format!("{command} deploy -n shop --from {SHOP}"));
        assert!(refused.err.contains("is not enough: write TYPE"), "{command}: {}", refused.err);
    }
}

/// As kubectl get: that nothing is there is no failure, but that an object is missing is one.
/// kubectl habit: "No resources found", exit 0 | same
#[test]
fn nothing_of_a_type_is_no_failure() {
    let ran = |line: &str| {
        let ran = run(&format!("{line} --from {SHOP}"));
        (ran.code, ran.out, ran.err)
    };
    let nothing = |place: &str| (0, String::new(), format!("No resources found{place}\n"));
    assert_eq!(ran("tree deploy -l app=nothing -n shop"), nothing(" in shop namespace."));
    assert_eq!(ran("tree deploy -l app=nothing -A -o name"), nothing(""));
    let (code, out, err) = ran("tree deploy -l app=nothing -n shop -o json");
    let document: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &document["kind"], err.as_str()), (0, &"Tree".into(), "No resources found in shop namespace.\n"));
    assert_eq!(ran("tree deploy/nothing -n shop").0, 1);
    // As kubectl delete.
    let nothing = (0, "Nothing would be deleted: no such object exists.\n".to_owned(), String::new());
    assert_eq!(ran("plan deploy -l app=nothing -n shop"), nothing);
    assert_eq!(ran("plan deploy/nothing -n shop --ignore-not-found"), nothing);
    assert_eq!(ran("plan deploy/nothing -n shop").0, 1);
    assert_eq!(ran("plan deploy -l app=nothing -n shop -o name"), (0, String::new(), String::new()));
    let (code, out, _) = ran("plan deploy -l app=nothing -n shop -o json --max=0");
    let document: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &document["verdict"]["result"]), (0, &"nothing".into()), "{document:#}");
}

/// As in kubectl.
/// kubectl habit: the last of a repeated flag wins | same
/// kubectl output: `-o JSON`: formats in any letter case | same
#[test]
fn the_last_of_a_repeated_flag_wins_and_formats_have_any_letter_case() {
    assert_eq!(named("deploy/web -n nowhere -n shop"), ["deployment.apps/web"]);
    assert_eq!(named("deploy --all=true -n shop").len(), 2);
    assert_eq!(run(&format!("tree deploy --all -A --all=false --all -o json -o NAME --from {SHOP}")).code, 0);
    let ran = run(&format!("tree deploy/web --depth 0 -o json -o NAME --from {SHOP}"));
    assert_eq!(ran.out, "deployment.apps/web\n");
    let ran = run(&format!("plan deploy/web -o JSON --from {SHOP}"));
    assert!(ran.out.starts_with('{'), "{}", ran.out);
    let refused = run(&format!("plan deploy/web --all=perhaps --from {SHOP}"));
    assert!(refused.err.starts_with("error: invalid argument \"perhaps\" for --all"), "{}", refused.err);
}

#[test]
fn files_need_no_kubeconfig() {
    let folder = tempfile::tempdir().unwrap();
    let broken = write(folder.path(), "config", "not: [a, kubeconfig");
    let line = ["tree", "deploy/web", "-o", "name", "--from", SHOP];
    assert_eq!(finish(program().env("KUBECONFIG", &broken).args(line)).code, 0);
    assert_eq!(finish(program().args(["--context", "none", "--kubeconfig", &broken]).args(line)).code, 0);
}

#[test]
fn a_dump_can_be_piped_in_and_put_together() {
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: a, uid: u1}\n";
    assert_eq!(run_with("tree -o name --from -", pod).out, "pod/web\n");
    let both = run_with(&format!("tree pod/web deploy/web --depth 0 -o name --from {SHOP} --from -"), pod);
    assert_eq!(both.out, "pod/web\ndeployment.apps/web\n");
}
