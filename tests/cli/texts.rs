//! The exact text output: real runs on the example, into a pipe and therefore without colour.

use insta::assert_snapshot;

use super::run::{LEFTOVERS, on_shop};

/// Runs on the example, and shows the command and its output.
fn shown(line: &str) -> String {
    format!("$ kubectl gc {line}\n{}", on_shop(&super::run::words(line)))
}

/// Runs on another dump, and shows the command and its output.
fn shown_on(dump: &str, line: &str) -> String {
    let line = format!("{line} --from {dump}");
    format!("$ kubectl gc {line}\n{}", super::run::run(&line))
}

#[test]
fn tree() {
    assert_snapshot!("tree", shown("tree"));
    assert_snapshot!("tree-namespace", shown("tree -n shop"));
    assert_snapshot!("tree-no-fold", shown("tree -A --no-fold"));
    assert_snapshot!("tree-depth", shown("tree shop/main -n shop --depth 1"));
    assert_snapshot!("tree-owners", shown("tree pod/web-6d5f8c7b94-x2lqp cm/shop-settings -n shop --owners"));
    assert_snapshot!("tree-selector", shown("tree deploy,sts -l app -n shop"));
    assert_snapshot!("tree-name", shown("tree -n shop -o name"));
    assert_snapshot!("tree-dot", shown("tree deploy/web -n shop -o collector-dot"));
    // Secrets could not be read: some may be there, and depend on what is shown.
    assert_snapshot!("tree-forbidden", shown_on("tests/cli/dumps/forbidden.json", "tree"));
    assert_snapshot!("tree-forbidden-nothing", shown_on("tests/cli/dumps/forbidden.json", "tree -n other"));
}

/// The ages are left out because they depend on the clock.
#[test]
fn tree_wide() {
    let wide = shown("tree deploy/web -n shop -o wide");
    let header = wide.lines().find(|line| line.starts_with("OBJECT")).unwrap();
    assert_eq!(
        header.split_whitespace().collect::<Vec<_>>(),
        ["OBJECT", "UID", "REFERENCE", "FINALIZERS", "AGE", "STATE"]
    );
    let pod = wide.lines().find(|line| line.contains("x2lqp")).unwrap();
    assert!(pod.contains("controller,blocking") && pod.contains("acme.io/drain"), "{pod}");
}

#[test]
fn plan() {
    assert_snapshot!("plan-foreground", shown("plan deploy/web -n shop --propagation=foreground"));
    assert_snapshot!("plan-background", shown("plan deploy/web -n shop"));
    assert_snapshot!("plan-orphan", shown("plan deploy/web -n shop --cascade=orphan"));
    assert_snapshot!("plan-namespace", shown("plan namespace/shop"));
    assert_snapshot!("plan-definition", shown("plan crd/shops.acme.io"));
    assert_snapshot!("plan-claims", shown("plan sts/db -n shop"));
    assert_snapshot!("plan-assume-none", shown("plan sts/db -n shop --assume=none"));
    assert_snapshot!("plan-several", shown("plan deploy/api deploy/web -n shop"));
    assert_snapshot!("plan-nothing", shown("plan cm/shop-settings -n shop --cascade=orphan --now"));
    assert_snapshot!("plan-wide", shown("plan deploy/api -n shop -o wide"));
    assert_snapshot!("plan-name", shown("plan shop/main -n shop -o name"));
}

/// What is kept, what else survives because of that, and what could not be kept.
#[test]
fn keep() {
    assert_snapshot!("keep", shown("plan deploy/web -n shop --keep rs/web-6d5f8c7b94"));
    assert_snapshot!(
        "keep-several",
        shown(
            "plan shop/main -n shop --keep=deploy,pvc --keep pod/api-7c9d5f6b8-4hjwk,svc/web --keep 'cm -l app=nobody' \
                --cascade=foreground"
        )
    );
    assert_snapshot!("keep-json", shown("plan deploy/api -n shop --keep rs -o json"));
    assert_snapshot!("keep-name", shown("plan deploy/api -n shop --keep rs -o name"));
    assert_snapshot!("keep-gates", shown("plan deploy/api -n shop --keep po --deny=po --max=1"));
    assert_snapshot!("keep-adopted", shown("plan rs/api-7c9d5f6b8 -n shop --keep pod/api-7c9d5f6b8-4hjwk"));
    assert_snapshot!("keep-wide", shown("plan deploy/api -n shop --keep rs -o wide"));
}

/// Gate violations are printed before everything else; with `-o name`, they go to standard error.
#[test]
fn gates() {
    assert_snapshot!("gates", shown("plan deploy/api -n shop --deny=po,cm --deny=rs --max=3"));
    assert_snapshot!("gates-json", shown("plan deploy/api -n shop --deny=replicasets --max 1 -o json"));
    assert_snapshot!("gates-name", shown("plan deploy/api -n shop --deny=deploy -o name"));
    assert_snapshot!("gates-namespace", shown("plan ns/shop --deny=events --max=500"));
    assert_snapshot!("gates-effects", shown("plan sts/db -n shop --deny-effect=data-loss,unknown --fail-on=unsure"));
    assert_snapshot!("gates-later", shown("plan ns/shop --deny-effect=data-loss,external --fail-on=waits"));
    assert_eq!(
        shown("plan deploy/api -n shop --deny=secrets --max=100").replace(" --deny=secrets --max=100", ""),
        shown("plan deploy/api -n shop")
    );
}

#[test]
fn blast_radius() {
    assert_snapshot!("blast-radius", shown("plan -A --assume-complete"));
    assert_snapshot!("blast-radius-namespace", shown("plan -n shop --propagation=foreground"));
    assert_snapshot!("blast-radius-name", shown("plan -A -o name"));
}

#[test]
fn sweep() {
    let leftovers = |line: &str| shown_on(LEFTOVERS, line);
    assert_snapshot!("sweep", leftovers("sweep --dry-run"));
    assert_snapshot!("sweep-name", leftovers("sweep --dry-run -o name"));
    assert_snapshot!("sweep-wide", leftovers("sweep --dry-run -o wide"));
    assert_snapshot!("sweep-assume-none", leftovers("sweep --dry-run --assume=none"));
    assert_snapshot!("sweep-namespace", leftovers("sweep --dry-run -n elsewhere"));
    assert_snapshot!("sweep-targets", leftovers("sweep --dry-run sts/db cronjob/backup pod/db-0"));
    assert_snapshot!("sweep-nothing", leftovers("sweep --dry-run secret --all"));
    assert_snapshot!("sweep-shop", shown("sweep --dry-run"));
    assert_snapshot!("sweep-troubles", shown_on("tests/cli/dumps/troubles.yaml", "sweep --dry-run"));
    assert_snapshot!("sweep-unseen", shown_on("tests/cli/dumps/unseen.yaml", "sweep --dry-run"));
    let list_kinds = |line: &str| shown_on("tests/cli/dumps/list-kinds.yaml", line);
    assert_snapshot!("sweep-list-kinds", list_kinds("sweep --dry-run"));
    assert_snapshot!("sweep-list-kinds-trusted", list_kinds("sweep --dry-run --trust-missing-apis"));
    assert_snapshot!("sweep-list-kind", list_kinds("sweep --dry-run cm/of-a-list"));
    assert_snapshot!("sweep-forbidden", shown_on("tests/cli/dumps/forbidden.json", "sweep --dry-run"));
}

/// Similar objects are folded, even if each has lost a different owner; `--all` shows them.
#[test]
fn a_sweep_of_many() {
    let many: Vec<String> = (0..40)
        .map(|number| {
            let owner = format!("{{apiVersion: v1, kind: ConfigMap, name: owner-{number}, uid: gone-{number}}}");
            let metadata =
                format!("{{name: lost-{number}, namespace: shop, uid: u{number}, ownerReferences: [{owner}]}}");
            format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {metadata}\n")
        })
        .collect();
    let dump = many.join("---\n");
    let run = |line: &str| super::run::run_with(line, &dump);
    assert_snapshot!("sweep-many", run("sweep --dry-run --from -"));
    assert_eq!(run("sweep --dry-run --all --from -").fine().matches("is missing").count(), 40);
    assert_eq!(run("sweep --dry-run -o wide --from -").fine().matches("is missing").count(), 40);
    assert_eq!(run("sweep --dry-run -o name --from -").fine().lines().count(), 40);
}

#[test]
fn explain() {
    let leftovers = |line: &str| shown_on(LEFTOVERS, &format!("explain {line}"));
    let troubles = |line: &str| shown_on("tests/cli/dumps/troubles.yaml", &format!("explain {line}"));
    assert_snapshot!("explain-kept", shown("explain pod/web-6d5f8c7b94-x2lqp -n shop"));
    assert_snapshot!("explain-two-owners", shown("explain cm/shop-settings"));
    assert_snapshot!("explain-stuck", leftovers("cronjob/backup"));
    assert_snapshot!("explain-going-to-be-stuck", leftovers("job/backup-29495520"));
    assert_snapshot!("explain-several", leftovers("sts/db pod/db-0 job/import -n shop"));
    assert_snapshot!("explain-wide", leftovers("cm/api-dashboard -o wide"));
    assert_snapshot!("explain-wrong-names", troubles("cm/misled"));
    assert_snapshot!("explain-circle", troubles("cm/egg"));
    assert_snapshot!("explain-lets-go", troubles("cm/waiting cm/blocking"));
    assert_snapshot!("explain-invalid-scope", troubles("pv/everywhere"));
    let sick = |line: &str| shown_on("tests/cli/dumps/sick.yaml", &format!("explain {line}"));
    assert_snapshot!("explain-namespace", sick("namespace old project"));
    assert_snapshot!("explain-pod-and-claim", sick("pod/db-1 pvc/data-db-1"));
    assert_snapshot!("explain-no-kubelet", sick("pod/stranded"));
    assert_snapshot!("explain-protected", sick("namespace/kube-public"));
    assert_snapshot!("explain-not-watched", sick("events.events.k8s.io/deployed"));
    assert_snapshot!("explain-in-the-way", sick("shop/restless"));
    assert_snapshot!("explain-unseen", shown_on("tests/cli/dumps/unseen.yaml", "explain pod/web-1 pod/web-2"));
}

/// Objects that are never deleted come first. Of many deleted objects, only the first few are shown; `-o wide` shows
/// all.
#[test]
fn a_story_of_many() {
    let object = |kind: &str, name: &str, more: &str| {
        format!("apiVersion: v1\nkind: {kind}\nmetadata: {{name: {name}, namespace: shop, uid: {name}, {more}}}\n")
    };
    let owner = "ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: root, uid: root, blockOwnerDeletion: true}]";
    let terminating = r#"deletionTimestamp: "2026-01-31T08:00:00Z", deletionGracePeriodSeconds: 0"#;
    let mut dump = vec![object("ConfigMap", "root", &format!("{terminating}, finalizers: [foregroundDeletion]"))];
    dump.extend((0..40).map(|number| object("Secret", &format!("s{number}"), owner)));
    dump.push(object("Secret", "zz-held", &format!("{owner}, {terminating}, finalizers: [acme.io/x]")));
    let dump = dump.join("---\n");
    assert_snapshot!("explain-many", super::run::run_with("explain cm/root --from -", &dump));
    // A long chain is abbreviated, too, but its root cause is shown.
    let chain: Vec<String> = (0..30)
        .map(|number: i32| {
            let finalizer = if number == 29 { "acme.io/x" } else { "foregroundDeletion" };
            let above = format!("c{}", number - 1);
            let owner =
                format!("{{apiVersion: v1, kind: ConfigMap, name: {above}, uid: {above}, blockOwnerDeletion: true}}");
            let owners = if number == 0 { String::new() } else { format!(", ownerReferences: [{owner}]") };
            object("ConfigMap", &format!("c{number}"), &format!("{terminating}, finalizers: [{finalizer}]{owners}"))
        })
        .collect();
    assert_snapshot!("explain-long-way", super::run::run_with("explain cm/c0 --from -", &chain.join("---\n")));
    assert_eq!(
        super::run::run_with("explain cm/root -o wide --from -", &dump)
            .fine()
            .matches("the collector deletes it")
            .count(),
        40
    );
}

#[test]
fn resources() {
    assert_snapshot!("resources", shown("resources"));
    assert_snapshot!("resources-count", shown("resources --count"));
    assert_snapshot!("resources-name", shown("resources -o name"));
    assert_snapshot!("resources-wide", shown("resources -o wide"));
}

#[test]
fn help() {
    assert_snapshot!("help", super::run::gc(&["-h"]));
    assert_eq!(super::run::gc(&["version"]).fine(), format!("kubectl gc {}\n", env!("CARGO_PKG_VERSION")));
    assert_eq!(super::run::gc(&["--version"]).fine(), format!("kubectl gc {}\n", env!("CARGO_PKG_VERSION")));
}
