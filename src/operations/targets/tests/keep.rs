use super::{NamespaceChoice, cluster, dump, one, show, snapshot};
use crate::operations::targets::KeepQuery;
use gc_core::model::{Snapshot, SnapshotBuilder, well_known};

const SHOP: &str = "
    pods
    deploy
    cm
    secrets !forbidden
    pods shop/web-2 app=web
    pods shop/web-1 app=web tier=front
    pods shop/db app=db
    pods prod/web-1 app=web
    cm shop/db app=db
    deploy prod/api
";

/// `NAMED; DESCRIBED`, or the error.
fn meant(snapshot: &Snapshot, choice: &NamespaceChoice, text: &str) -> String {
    match KeepQuery::parse(text, &well_known::served()).and_then(|query| query.resolve(snapshot, choice, None)) {
        Ok(meant) => format!("{}; {}", show(snapshot, &meant.named), show(snapshot, &meant.described)),
        Err(error) => error.to_string(),
    }
}

#[test]
fn what_is_kept_can_be_typed_in_many_ways() {
    let snapshot = snapshot(cluster(), SHOP);
    let web = "; pods:shop/web-2 pods:shop/web-1 pods:prod/web-1";
    let cases = [
        ("pod/db", "pods:shop/db; "),
        ("pod/db,cm/db", "pods:shop/db configmaps:shop/db; "),
        (" pod/db pod/web-1 ", "pods:shop/db pods:shop/web-1; "),
        ("pod db web-1", "pods:shop/db pods:shop/web-1; "),
        ("pods", "; pods:shop/web-2 pods:shop/web-1 pods:shop/db pods:prod/web-1"),
        ("deploy,cm", "; deployments:prod/api configmaps:shop/db"),
        ("pod/db,cm", "pods:shop/db; configmaps:shop/db"),
        ("pod/db,pods", "pods:shop/db; pods:shop/web-2 pods:shop/web-1 pods:prod/web-1"),
        ("pods -l app=web", web),
        ("pods -lapp=web", web),
        ("pods,cm --selector=app=db", "; pods:shop/db configmaps:shop/db"),
        ("-l app=db", "; pods:shop/db configmaps:shop/db"),
        ("-l=app=db", "; pods:shop/db configmaps:shop/db"),
        ("-lapp=db", "; pods:shop/db configmaps:shop/db"),
        ("--selector app=db", "; pods:shop/db configmaps:shop/db"),
        ("app=db", "; pods:shop/db configmaps:shop/db"),
        ("app in (web,x),!tier", "; pods:shop/web-2 pods:prod/web-1"),
        ("-l tier", "; pods:shop/web-1"),
        ("jobs", "; "),
        ("-l app=nobody", "; "),
    ];
    for (text, expected) in cases {
        assert_eq!(meant(&snapshot, &one("shop"), text), expected, "{text:?}");
    }
    assert_eq!(meant(&snapshot, &one("prod"), "pod/web-1"), "pods:prod/web-1; ");
}

#[test]
fn what_is_not_there_or_makes_no_sense_is_told() {
    let shop = snapshot(cluster(), SHOP);
    let cases = [
        ("", "\"\" lacks a type: write TYPE/NAME, TYPE NAME or TYPE,TYPE"),
        ("-l", "\"-l\" lacks a type: write TYPE/NAME, TYPE NAME or TYPE,TYPE"),
        ("pods,", "\"pods,\" lacks a type: write TYPE/NAME, TYPE NAME or TYPE,TYPE"),
        ("pod/", "\"pod/\" lacks a name: write TYPE/NAME or TYPE NAME"),
        ("pods,cm/a/b", "\"cm/a/b\" has more than one slash: write TYPE/NAME, the namespace with -n"),
        ("pod/db cm", "\"pod/db\" and \"cm\" cannot be mixed: write TYPE/NAME everywhere, or TYPE NAME NAME"),
        ("pds", "the server has no resource type \"pds\"; did you mean pods, daemonsets, poddisruptionbudgets?"),
        ("pod/nobody", "pods \"nobody\" not found in namespace \"shop\""),
        ("pod/api", "pods \"api\" not found in namespace \"shop\""),
        ("secrets", "secrets could not be read (forbidden), so they cannot be selected"),
        (
            "secret/s",
            "secrets in namespace \"shop\" could not be read (forbidden), so it is not known whether \"s\" \
             exists",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(meant(&shop, &one("shop"), text), expected, "{text:?}");
    }
    assert!(meant(&shop, &one("shop"), "app=(").contains("-l"), "a selector that is none");
    // In a dump without -n, unique names are enough.
    let dump = snapshot(dump(), SHOP);
    assert_eq!(meant(&dump, &NamespaceChoice::WhereverUnique, "deploy/api"), "deployments:prod/api; ");
    assert!(meant(&dump, &NamespaceChoice::WhereverUnique, "pod/web-1").contains("choose one with -n"));
    assert_eq!(meant(&SnapshotBuilder::new(cluster(), well_known::served()).build(), &one("shop"), "app=x"), "; ");
}
