use gc_core::{
    model::ObjectId,
    tree::{
        DebugGraph, Direction, ObjectStatus, Statuses, Tree,
        fixture::{World, owner, shop},
    },
};

use super::{
    output::{Output as _, TextOptions},
    states::Style,
    testing::{plain, shown},
    tree::{TreeView, collector_dot},
};

/// As on a day after the objects were created.
fn options() -> TextOptions<'static> {
    TextOptions { now: Some(90_000), ..plain(None) }
}

#[test]
fn shows_a_namespace() {
    let (snapshot, graph) = shop();
    let tree = Tree::of_scope(&snapshot, &graph, snapshot.strings.find("shop"), None);
    insta::assert_snapshot!(shown(&TreeView::new(&snapshot, &graph, &tree), &options()));
}

#[test]
fn shows_everything() {
    let (snapshot, graph) = shop();
    let tree = Tree::of_scope(&snapshot, &graph, None, None);
    let options = TextOptions { fold: false, ..options() };
    insta::assert_snapshot!(shown(&TreeView::new(&snapshot, &graph, &tree), &options));
}

#[test]
fn shows_more_columns() {
    let (snapshot, graph) = shop();
    let tree = Tree::of_scope(&snapshot, &graph, snapshot.strings.find("shop"), Some(1));
    let options = TextOptions { wide: true, ..options() };
    insta::assert_snapshot!(shown(&TreeView::new(&snapshot, &graph, &tree), &options));
}

#[test]
fn shows_owners() {
    let (snapshot, graph) = shop();
    let uids = [
        "configmap-both",
        "configmap-left-over",
        "configmap-locked",
        "configmap-lost",
        "configmap-stale",
        "configmap-astray",
    ];
    let targets: Vec<ObjectId> =
        uids.iter().map(|uid| snapshot.by_uid(snapshot.strings.find(uid).unwrap()).unwrap()).collect();
    let tree = Tree::of_targets(&snapshot, &graph, &targets, snapshot.strings.find("shop"), Direction::Owners, None);
    insta::assert_snapshot!(shown(&TreeView::new(&snapshot, &graph, &tree), &options()));
}

#[test]
fn prints_names() {
    let (snapshot, graph) = shop();
    let target = snapshot.by_uid(snapshot.strings.find("deployment-web").unwrap()).unwrap();
    let tree =
        Tree::of_targets(&snapshot, &graph, &[target], snapshot.strings.find("shop"), Direction::Dependents, Some(1));
    insta::assert_snapshot!(TreeView::new(&snapshot, &graph, &tree).names().unwrap().join("\n"), @r"
    deployment.apps/web
    configmap/astray
    configmap/both
    configmap/misnamed
    replicaset.apps/web-1
    replicaset.apps/web-2
    reading.example.org/r1
    ");
}

#[test]
fn names_are_whole_on_a_terminal() {
    let mut world = World::empty();
    let long = "a-very-long-name-that-does-not-fit-".repeat(3);
    world.add("shop", "Deployment/web", &[]);
    world.add("shop", &format!("ReplicaSet/{long}"), &["Deployment/web", "ReplicaSet/gone"]);
    let (snapshot, graph) = world.build();
    let tree = Tree::of_scope(&snapshot, &graph, snapshot.strings.find("shop"), None);
    let piped = shown(&TreeView::new(&snapshot, &graph, &tree), &options());
    assert!(piped.contains(&long));
    let terminal = shown(&TreeView::new(&snapshot, &graph, &tree), &TextOptions { width: Some(80), ..options() });
    assert!(terminal.contains(&format!("ReplicaSet/{long}\n")), "{terminal}");
    let others = terminal.lines().filter(|line| !line.contains(&long));
    assert!(others.clone().count() >= 2, "{terminal}");
    assert!(others.into_iter().all(|line| unicode_width::UnicodeWidthStr::width(line) <= 80), "{terminal}");
}

#[test]
fn prints_the_collectors_graph() {
    let (snapshot, graph) = shop();
    let tree = Tree::of_scope(&snapshot, &graph, snapshot.strings.find("shop"), None);
    let dot = collector_dot(&DebugGraph::of(&snapshot, &graph, &tree));
    // One line per vertex shows enough.
    let short: Vec<String> =
        dot.replace("\n    ", " ").lines().map(str::to_owned).filter(|line| line != "  ];").collect();
    insta::assert_snapshot!(short.join("\n"));
}

#[test]
fn prints_vertices_as_the_endpoint_does() {
    let mut world = World::empty();
    let odd = gc_core::model::RawReference {
        uid: "b\"\\I\u{f1}\u{1f439}".into(),
        kind: "Od\u{a0}d".into(),
        ..owner("Shop/x")
    };
    world.add_with("shop", "Deployment/web", vec![odd], |raw| {
        raw.uid = "a".into();
        raw.deleted = Some(1);
        raw.finalizers = vec!["foregroundDeletion".into()];
    });
    let (snapshot, graph) = world.build();
    let tree = Tree::of_scope(&snapshot, &graph, None, None);
    let dot = collector_dot(&DebugGraph::of(&snapshot, &graph, &tree));
    insta::assert_snapshot!(dot);
    assert_eq!(collector_dot(&DebugGraph::default()), "strict digraph full {\n}\n");
}

#[test]
#[ignore = "long: draws 100,000 owners"]
fn a_long_chain_is_shown_in_linear_time() {
    let mut world = World::empty();
    world.add("shop", "Shop/0", &[]);
    for index in 1..100_000 {
        world.add("shop", &format!("Shop/{index}"), &[&format!("Shop/{}", index - 1)]);
    }
    let (snapshot, graph) = world.build();
    let tree = Tree::of_scope(&snapshot, &graph, None, None);
    let shown = shown(&TreeView::new(&snapshot, &graph, &tree), &options());
    assert_eq!(shown.lines().count(), 100_002);
    let last = ObjectId(99_999);
    let up = Tree::of_targets(&snapshot, &graph, &[last], None, Direction::Owners, None);
    assert_eq!(up.entries.len(), 100_000);
    assert_eq!(DebugGraph::of(&snapshot, &graph, &tree).edges.len(), 99_999);
}

/// A ReplicaSet with eight pods: six are fine, one crashes again and again, and one could not be read.
#[test]
fn shows_what_the_server_prints() {
    let mut world = World::empty();
    world.add("shop", "Shop/main", &[]);
    world.add("shop", "ReplicaSet/web-6d5f8c7b94", &["Shop/main"]);
    for index in 0..8 {
        world.add("shop", &format!("Pod/web-6d5f8c7b94-x2lq{index}"), &["ReplicaSet/web-6d5f8c7b94"]);
    }
    let (snapshot, graph) = world.build();
    let mut statuses = Statuses::default();
    let mut rows = rustc_hash::FxHashMap::default();
    let mut asked = Vec::new();
    for (_, object) in snapshot.objects() {
        let (ready, status, restarts) = match snapshot.text(object.name) {
            "main" => ("False", "waits for the database that another team provides", ""),
            "web-6d5f8c7b94" => ("6/8", "", ""),
            "web-6d5f8c7b94-x2lq1" => ("0/1", "CrashLoopBackOff", "12 (3m ago)"),
            _ => ("1/1", "Running", "1 (2d ago)"),
        };
        asked.push(object.uid);
        if snapshot.text(object.name) != "web-6d5f8c7b94-x2lq7" {
            let [ready, status, restarts] = [ready, status, restarts].map(str::to_owned);
            rows.insert(object.uid, ObjectStatus { ready, status, restarts });
        }
    }
    statuses.add(asked, rows);
    let tree = Tree::of_scope(&snapshot, &graph, snapshot.strings.find("shop"), None);
    let view = TreeView { statuses: Some(&statuses), ..TreeView::new(&snapshot, &graph, &tree) };
    let terminal = shown(&view, &TextOptions { width: Some(80), ..options() });
    assert!(terminal.lines().all(|line| unicode_width::UnicodeWidthStr::width(line) <= 80), "{terminal}");
    insta::assert_snapshot!(terminal);
    let piped = shown(&view, &TextOptions { wide: true, fold: false, ..options() });
    assert!(piped.contains("waits for the database that another team provides"), "{piped}");
    insta::assert_snapshot!("wide_with_what_the_server_prints", piped);
    let painted = shown(&view, &TextOptions { style: &Style::new(true), ..options() });
    let crash = painted.lines().find(|line| line.contains("CrashLoopBackOff")).unwrap();
    assert!(crash.contains("\x1b[31;1mCrashLoopBackOff\x1b[0m"), "{crash:?}");
}
