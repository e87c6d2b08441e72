//! All ways to name objects select the same objects.

use super::run::{SHOP, finish, program, run, run_with, write};

/// The targets of `tree --depth 0 -o name` in the shop dump.
fn named(arguments: &str) -> Vec<String> {
    let ended = run(&format!("tree {arguments} --depth 0 -o name --from {SHOP}"));
    assert_eq!(ended.code, 0, "{arguments}: {}", ended.err);
    ended.out.lines().map(str::to_owned).collect()
}

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

#[test]
fn several_targets_keep_their_order_and_count_once() {
    assert_eq!(named("svc/web deploy/web svc/db"), ["service/web", "deployment.apps/web", "service/db"]);
    assert_eq!(named("svc,deploy web"), ["service/web", "deployment.apps/web"]);
    assert_eq!(named("svc web db web"), ["service/web", "service/db"]);
    assert_eq!(named("service/web svc/web"), ["service/web"]);
}

#[test]
fn selectors_choose() {
    assert_eq!(named("deploy --all -n shop"), ["deployment.apps/api", "deployment.apps/web"]);
    assert_eq!(named("deploy --all -A").len(), 3);
    assert_eq!(named("deploy --all").len(), 3);
    assert_eq!(named("deploy --field-selector metadata.name=web"), ["deployment.apps/web"]);
    assert_eq!(named("deploy --field-selector metadata.name!=web,metadata.namespace=shop"), ["deployment.apps/api"]);
    // Kubernetes gives every Namespace a label with its name.
    assert_eq!(named("ns -l 'kubernetes.io/metadata.name in (shop)'"), ["namespace/shop"]);
    assert_eq!(named("ns -l 'kubernetes.io/metadata.name,!nothing' -n anything").len(), 2);
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
    let piped = run_with(&format!("tree -f - --depth 0 -o name --from {SHOP}"), list);
    assert_eq!(piped.out, "service/db\n");
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
