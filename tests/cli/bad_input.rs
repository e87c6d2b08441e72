//! Whatever is typed wrong ends with exit code 1, one clear message on standard error, and nothing on standard output.

use super::run::{SHOP, finish, program, run, run_with, write};

/// Runs `tree` on the shop and expects exactly this error.
fn fails(arguments: &str, expected: &str) {
    let ended = run(&format!("tree {arguments} --from {SHOP}"));
    assert_eq!((ended.code, ended.out.as_str()), (1, ""), "{arguments}: {}", ended.err);
    assert_eq!(ended.err, format!("error: {expected}\n"), "{arguments}");
}

/// Runs a whole line and expects an error with this in it.
fn fails_with(line: &str, expected: &str) {
    let ended = run(line);
    assert_eq!((ended.code, ended.out.as_str()), (1, ""), "{line}: {}", ended.err);
    assert!(ended.err.starts_with("error: ") && ended.err.contains(expected), "{line}: {}", ended.err);
    assert!(!ended.err.contains("panicked"), "{line}: {}", ended.err);
}

#[test]
fn types_that_do_not_exist() {
    fails("deplyo/web", r#"the server has no resource type "deplyo"; did you mean deployments?"#);
    fails("zzzzzz/web", r#"the server has no resource type "zzzzzz""#);
    fails("deployments.v9.batch/web", r#"the server has no resource type "deployments.v9.batch"; did you mean deployments?"#);
    fails("svc,deplyo web", r#"the server has no resource type "deplyo"; did you mean deployments?"#);
}

#[test]
fn objects_that_do_not_exist() {
    fails("deploy/wbe -n shop", r#"deployments.apps "wbe" not found in namespace "shop"; did you mean web?"#);
    fails("deploy/wbe", r#"deployments.apps "wbe" not found; did you mean web?"#);
    let ended = run(&format!("tree deploy/web -n elsewhere --from {SHOP}"));
    assert_eq!((ended.code, ended.out.as_str()), (1, ""));
    assert!(ended.err.contains("namespace shop"), "{}", ended.err);
    fails("pods -l app=nothing", "no pods match -l app=nothing");
}

#[test]
fn forms_that_are_mixed_or_cut_short() {
    fails("deploy", r#""deploy" alone is a TYPE and names no object: write TYPE/NAME, or add a NAME, -l SELECTOR or --all"#);
    fails("deploy svc/web", r#""svc/web" and "deploy" cannot be mixed: write TYPE/NAME everywhere, or TYPE NAME NAME"#);
    fails("deploy/web api", r#""deploy/web" and "api" cannot be mixed: write TYPE/NAME everywhere, or TYPE NAME NAME"#);
    fails("deploy/", r#""deploy/" lacks a name: write TYPE/NAME or TYPE NAME"#);
    fails("deploy,svc/web", r#""deploy,svc/web" has several types before the slash: write TYPE,TYPE NAME"#);
    for line in ["/web", "''", "deploy ''", "a/b/c", "/", ",", "deploy, web", "' '", "'deploy web'"] {
        fails_with(&format!("tree {line} --from {SHOP}"), "");
    }
}

#[test]
fn selectors_that_make_no_sense() {
    fails("pods -l 'app in web'", r#"-l "app in web": expected (, found "web", at character 8"#);
    fails("-l app=web", "-l needs a TYPE to choose from, as in: deployments -l …");
    fails_with(&format!("tree pods --field-selector metadata.name --from {SHOP}"), "none of =");
    fails_with(&format!("tree pods --field-selector status.phase=Failed --from {SHOP}"), "can only be told by a server");
    fails_with(&format!("tree deploy/web -l app=web --from {SHOP}"), "-l");
    fails_with(&format!("tree deploy web --all --from {SHOP}"), "--all");
    fails_with(&format!("tree deploy --all -l app=web --from {SHOP}"), "--all");
}

#[test]
fn names_across_all_namespaces() {
    let told = r#"deployments.apps "web" cannot be found by name across all namespaces: give its namespace with -n instead of -A"#;
    fails("deploy/web -A", told);
}

#[test]
fn manifests_that_name_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let nameless = write(folder.path(), "a.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {generateName: web-}\n");
    fails_with(&format!("tree -f {nameless} --from {SHOP}"), "name");
    let unknown = write(folder.path(), "b.yaml", "apiVersion: v9\nkind: Pood\nmetadata: {name: web}\n");
    fails_with(&format!("tree -f {unknown} --from {SHOP}"), "Pood");
    let broken = write(folder.path(), "c.yaml", "kind: [\n");
    fails_with(&format!("tree -f {broken} --from {SHOP}"), "c.yaml");
    fails_with(&format!("tree -f https://example.org/web.yaml --from {SHOP}"), "curl");
    fails_with(&format!("tree -f /nonexistent.yaml --from {SHOP}"), "/nonexistent.yaml");
    fails_with(&format!("tree deploy/web -f {broken} --from {SHOP}"), "-f");
    fails_with(&format!("tree -R --from {SHOP}"), "--filename");
    let ended = run_with("tree -f - --from -", "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\n");
    assert_eq!(ended.err, "error: standard input can't be both --from and -f: give a file for one of them\n");
}

#[test]
fn flags_that_make_no_sense() {
    fails_with("tree -o xml", "possible values: json, yaml");
    fails_with("bogus", "unrecognized subcommand");
    fails_with("tree --assume-complete", "--from");
    fails_with("snapshot --from examples", "--from");
    fails_with("completion tcsh", "possible values");
    fails_with(&format!("tree --depth=-1 --from {SHOP}"), "depth");
    fails_with(&format!("tree --request-timeout soon --from {SHOP}"), "--request-timeout");
    fails_with(&format!("plan deploy/web --propagation=sometimes --from {SHOP}"), "background, foreground, orphan");
    fails_with(&format!("plan deploy/web --propagation=orphan --cascade=orphan --from {SHOP}"), "cannot be used with");
    fails_with(&format!("plan deploy/web --now --grace-period=5 --from {SHOP}"), "--now and --grace-period");
    fails_with(&format!("plan deploy/web --force --grace-period=5 --from {SHOP}"), "--force");
}

#[test]
fn dumps_that_cannot_be_read() {
    fails_with("tree --from /nonexistent", "no such file or folder");
    let ended = run_with("tree --from -", "");
    assert_eq!((ended.code, ended.out.as_str(), ended.err.as_str()), (1, "", "error: no objects in standard input\n"));
}

#[test]
fn clusters_that_are_not_there() {
    fails_with("tree", "no kubeconfig");
    fails_with("plan deploy/web --server http://127.0.0.1:1", "cannot reach");
    let folder = tempfile::tempdir().unwrap();
    let config = write(folder.path(), "config", "not: [a, kubeconfig");
    let ended = finish(program().args(["tree", "--kubeconfig", &config]));
    assert_eq!((ended.code, ended.out.as_str()), (1, ""));
    assert!(ended.err.contains(&config), "{}", ended.err);
}
