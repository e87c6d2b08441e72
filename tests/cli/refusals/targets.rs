//! Targets that don't exist or make no sense.

use super::{super::run::SHOP, describe, gc, on_shop, with_input, write};

#[test]
fn types_and_names_that_are_not_there() {
    for (args, error) in [
        (&["tree", "zzzzzz/web"][..], r#"the server has no resource type "zzzzzz""#),
        (
            &["tree", "storefront"],
            r#"the server has no resource type "storefront"; an object is TYPE/NAME, for instance deploy/web"#,
        ),
        (&["tree", "deploy/wbe"], r#"deployments.apps "wbe" not found; did you mean web?"#),
        (
            &["tree", "deployments.v1.acme.io/web"],
            r#"the server has no resource type "deployments.v1.acme.io"; did you mean deployments?"#,
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

/// Every mistake in a line has its words in src/operations/targets/tests.
#[test]
fn targets_that_make_no_sense() {
    for (args, error) in [
        (&["plan", "deploy/"][..], r#""deploy/" lacks a name: write TYPE/NAME or TYPE NAME"#),
        (&["plan", "deploy", "-l", "a=b,,"], r#"-l "a=b,,": expected a label's key or !, found ",", at character 5"#),
        (&["tree", "--owners"], "--owners needs a TARGET, such as pod/web-0"),
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
fn manifests() {
    let plan = &["plan", "--from", super::super::run::SHOP, "-f", "-"];
    for (manifest, error) in [
        ("", "-f standard input: no objects in it"),
        ("kind: Deployment\n", "standard input: the object has no apiVersion"),
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
