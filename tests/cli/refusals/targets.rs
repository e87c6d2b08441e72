//! Targets that don't exist or make no sense.

use super::{super::run::SHOP, describe, gc, on_shop, with_input, write};

#[test]
fn types_and_names_that_are_not_there() {
    for (args, error) in [
        (&["tree", "zzzzzz/web"][..], r#"the server has no resource type "zzzzzz""#),
        (&["tree", "svc,deplyo", "web"], r#"the server has no resource type "deplyo"; did you mean deployments?"#),
        (
            &["tree", "storefront"],
            r#"the server has no resource type "storefront"; an object is TYPE/NAME, for instance deploy/web"#,
        ),
        (&["tree", "deploy/wbe"], r#"deployments.apps "wbe" not found; did you mean web?"#),
        (&["plan", "deplyo/web"], r#"the server has no resource type "deplyo"; did you mean deployments?"#),
        (
            &["tree", "deployments.v1.acme.io/web"],
            r#"the server has no resource type "deployments.v1.acme.io"; did you mean deployments?"#,
        ),
        (
            &["plan", "deploy/wbe", "-n", "shop"],
            r#"deployments.apps "wbe" not found in namespace "shop"; did you mean web?"#,
        ),
        (
            &["tree", "deploy/web", "-n", "elsewhere"],
            r#"deployments.apps "web" not found in namespace "elsewhere"; one exists in namespace shop"#,
        ),
        (
            &["tree", "deploy/web", "-n", "nowhere"],
            r#"deployments.apps "web" not found in namespace "nowhere"; one exists in namespace shop"#,
        ),
        (&["plan", "-n", "nowhere"], r#"no namespace "nowhere" in the dump, which contains elsewhere, shop"#),
        (&["plan", "ns/production"], r#"namespaces "production" not found"#),
    ] {
        assert_eq!(describe(&on_shop(args)), error, "{args:?}");
    }
    // The example is whole. A copy with another line says nothing of what it lacks.
    let copy = format!("{}# copied\n", std::fs::read_to_string(SHOP).unwrap());
    assert_eq!(
        describe(&with_input(&["tree", "deploy/web", "-n", "nowhere", "--from", "-"], copy)),
        "deployments.apps \"web\" is not in the dump, which contains no deployments.apps in namespace \"nowhere\"; one \
         exists in namespace shop",
    );
}

/// A namespace of which the dump has nothing may be among what could not be read: that is no typing error.
#[test]
fn a_namespace_that_may_hide_is_not_absent() {
    let said = gc(&["tree", "-o", "json", "-n", "elsewhere", "--from", "tests/cli/dumps/forbidden.json"]).done();
    assert!(said.contains("\"complete\": false"), "{said}");
}

/// All missing targets are reported, not only the first.
#[test]
fn all_that_is_missing_is_told() {
    let ran = on_shop(&["plan", "deploy", "web", "no", "nor", "-n", "shop"]);
    assert_eq!(describe(&ran).lines().count(), 2, "{ran}");
}

#[test]
fn targets_that_make_no_sense() {
    for (args, error) in [
        (
            &["plan", "deploy"][..],
            r#""deploy" is not enough: write TYPE/NAME, as in deploy/web, or a TYPE with a NAME, -l SELECTOR or --all"#,
        ),
        (&["plan", "deploy/"], r#""deploy/" lacks a name: write TYPE/NAME or TYPE NAME"#),
        (&["tree", "deploy,svc/web"], r#""deploy,svc/web" has several types before the slash: write TYPE,TYPE NAME"#),
        (
            &["tree", "deploy", "svc/web"],
            r#""svc/web" and "deploy" cannot be mixed: write TYPE/NAME everywhere, or TYPE NAME NAME"#,
        ),
        (&["plan", "/web"], r#""/web" lacks a type: write TYPE/NAME, TYPE NAME or TYPE,TYPE"#),
        (
            &["plan", "shop/deploy/web"],
            r#""shop/deploy/web" has more than one slash: write TYPE/NAME, the namespace with -n"#,
        ),
        (
            &["tree", "deploy/web", "sts"],
            r#""deploy/web" and "sts" cannot be mixed: write TYPE/NAME everywhere, or TYPE NAME NAME"#,
        ),
        (&["tree", "--owners"], "--owners needs a TARGET, such as pod/web-0"),
        (&["tree", "-l", "app=web"], "-l needs a TYPE, as in: deployments -l …"),
        (
            &["plan", "deploy/web", "-A"],
            "deployments.apps \"web\" cannot be found by name across all namespaces: give its namespace with -n \
                instead of -A",
        ),
    ] {
        assert_eq!(describe(&on_shop(args)), error, "{args:?}");
    }
}

#[test]
fn targets_of_odd_signs() {
    for target in ["", " ", "/", ",", "a/b/c", "deploy web", "deploy,"] {
        describe(&on_shop(&["tree", target]));
        describe(&on_shop(&["tree", target, ""]));
        describe(&on_shop(&["tree", "deploy", target]));
    }
}

#[test]
fn selectors() {
    for (selector, error) in [
        ("app in web", r#"-l "app in web": expected (, found "web", at character 8"#),
        ("a in (", r#"-l "a in (": expected a comma or ), found the end, at character 7"#),
        ("a=b,,", r#"-l "a=b,,": expected a label's key or !, found ",", at character 5"#),
        ("app=nothing", r#"no deployments.apps in namespace "shop" match -l app=nothing"#),
    ] {
        assert_eq!(describe(&on_shop(&["plan", "deploy", "-n", "shop", "-l", selector])), error, "{selector}");
    }
    assert_eq!(
        describe(&on_shop(&["tree", "pods", "--field-selector", "status.phase=Running"])),
        "--field-selector status.phase=Running needs a server: with a dump only metadata.name and \
         metadata.namespace work; or use -l"
    );
}

#[test]
fn selectors_with_names() {
    for (args, flag) in [
        (&["deploy/web", "-l", "app=web"][..], "-l "),
        (&["deploy", "web", "--all"], "--all "),
        (&["deploy", "--all", "-l", "app=web"], "-l and --all "),
        (&["pods", "--field-selector", "metadata.name"], "--field-selector \"metadata.name\""),
    ] {
        let ran = on_shop(&[&["tree"], args].concat());
        assert!(describe(&ran).starts_with(flag), "{args:?} {ran}");
    }
}

#[test]
fn manifests() {
    let plan = &["plan", "--from", super::super::run::SHOP, "-f", "-"];
    for (manifest, error) in [
        ("", "-f standard input: no objects in it"),
        ("kind: Deployment\n", "standard input: the object has no apiVersion"),
        (
            "apiVersion: apps/v2\nkind: Deployment\nmetadata: {name: web}\n",
            r#"standard input: no kind "Deployment" is served in "apps/v2"; it is served in apps/v1"#,
        ),
        (
            "apiVersion: v1\nkind: Pod\nmetadata: {generateName: a-}\n",
            "standard input: this Pod has only a generateName: name the object as TYPE/NAME",
        ),
    ] {
        assert_eq!(describe(&with_input(plan, manifest)), error, "{manifest}");
    }
}

#[test]
fn manifests_that_cannot_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let broken = write(folder.path(), "c.yaml", "kind: [\n");
    for (args, error) in [
        (&["-f", &broken][..], broken.as_str()),
        (&["-f", "/nonexistent.yaml"], "-f /nonexistent.yaml: "),
        (&["-f", "http://me:pw@/web.yaml"], "-f http:///web.yaml: unable to read the URL: "),
        (&["deploy/web", "-f", &broken], "\"deploy/web\" cannot be used with -f"),
        (&["-R"], "the following required arguments were not provided:"),
    ] {
        let ran = on_shop(&[&["tree"], args].concat());
        assert!(describe(&ran).starts_with(error), "{args:?} {ran}");
    }
}

/// There is no plan for a delete that the API server always refuses.
#[test]
fn protected_namespaces() {
    let dump = "apiVersion: v1\nkind: Namespace\nmetadata: {name: kube-system, uid: ks}\n";
    for format in [&[][..], &["-o", "json"], &["-o", "name"]] {
        let ran = with_input(&[&["plan", "ns/kube-system", "--from", "-"], format].concat(), dump);
        let refused =
            "error: the API server refuses to delete Namespace/kube-system: this namespace may not be deleted\n";
        assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (2, "", refused));
    }
    assert_eq!(with_input(&["tree", "ns/kube-system", "--from", "-"], dump).code, 0, "looking at it is fine");
}
