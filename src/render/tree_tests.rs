use super::{
    dot,
    output::TextOptions,
    style::Style,
    tree::{names, write},
};
use crate::{
    model::ObjectId,
    tree::{
        DebugGraph, Direction, Tree,
        fixture::{World, owner, shop},
    },
};

fn text(write: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn options(style: &Style) -> TextOptions<'_> {
    TextOptions { width: None, fold: true, wide: false, now: Some(90_000), style }
}

#[test]
fn shows_a_namespace() {
    let (snapshot, graph) = shop();
    let tree = Tree::of_scope(&snapshot, &graph, snapshot.strings.find("shop"), None);
    insta::assert_snapshot!(text(|out| write(&snapshot, &graph, &tree, &options(&Style::default()), out)));
}

#[test]
fn shows_everything() {
    let (snapshot, graph) = shop();
    let tree = Tree::of_scope(&snapshot, &graph, None, None);
    let style = Style::default();
    let options = TextOptions { fold: false, ..options(&style) };
    insta::assert_snapshot!(text(|out| write(&snapshot, &graph, &tree, &options, out)));
}

#[test]
fn shows_more_columns() {
    let (snapshot, graph) = shop();
    let tree = Tree::of_scope(&snapshot, &graph, snapshot.strings.find("shop"), Some(1));
    let style = Style::default();
    let options = TextOptions { wide: true, ..options(&style) };
    insta::assert_snapshot!(text(|out| write(&snapshot, &graph, &tree, &options, out)));
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
    insta::assert_snapshot!(text(|out| write(&snapshot, &graph, &tree, &options(&Style::default()), out)));
}

#[test]
fn prints_names() {
    let (snapshot, graph) = shop();
    let target = snapshot.by_uid(snapshot.strings.find("deployment-web").unwrap()).unwrap();
    let tree =
        Tree::of_targets(&snapshot, &graph, &[target], snapshot.strings.find("shop"), Direction::Dependents, Some(1));
    insta::assert_snapshot!(names(&snapshot, &graph, &tree), @r"
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
    let mut world = World::new();
    let long = "a-very-long-name-that-does-not-fit-".repeat(3);
    world.add("shop", "Deployment/web", &[]);
    world.add("shop", &format!("ReplicaSet/{long}"), &["Deployment/web", "ReplicaSet/gone"]);
    let (snapshot, graph) = world.build();
    let tree = Tree::of_scope(&snapshot, &graph, snapshot.strings.find("shop"), None);
    let style = Style::default();
    let piped = text(|out| write(&snapshot, &graph, &tree, &options(&style), out));
    assert!(piped.contains(&long));
    let terminal =
        text(|out| write(&snapshot, &graph, &tree, &TextOptions { width: Some(80), ..options(&style) }, out));
    assert!(terminal.contains(&format!("ReplicaSet/{long}\n")), "{terminal}");
    let others = terminal.lines().filter(|line| !line.contains(&long));
    assert!(others.clone().count() >= 2, "{terminal}");
    assert!(others.into_iter().all(|line| unicode_width::UnicodeWidthStr::width(line) <= 80), "{terminal}");
}

#[test]
fn prints_the_collectors_graph() {
    let (snapshot, graph) = shop();
    let tree = Tree::of_scope(&snapshot, &graph, snapshot.strings.find("shop"), None);
    let dot = dot::text(&DebugGraph::of(&snapshot, &graph, &tree));
    // One line per vertex shows enough.
    let short: Vec<String> =
        dot.replace("\n    ", " ").lines().map(str::to_owned).filter(|line| line != "  ];").collect();
    insta::assert_snapshot!(short.join("\n"));
}

#[test]
fn prints_vertices_as_the_endpoint_does() {
    let mut world = World::new();
    let odd =
        crate::model::RawReference { uid: "b\"\\I\u{f1}\u{1f439}".into(), kind: "Od\u{a0}d".into(), ..owner("Shop/x") };
    world.add_with("shop", "Deployment/web", vec![odd], |raw| {
        raw.uid = "a".into();
        raw.deleted = Some(1);
        raw.finalizers = vec!["foregroundDeletion".into()];
    });
    let (snapshot, graph) = world.build();
    let tree = Tree::of_scope(&snapshot, &graph, None, None);
    let dot = dot::text(&DebugGraph::of(&snapshot, &graph, &tree));
    insta::assert_snapshot!(dot);
    assert_eq!(dot::text(&DebugGraph::default()), "strict digraph full {\n}\n");
}

#[test]
fn a_long_chain_is_shown_in_linear_time() {
    let mut world = World::new();
    world.add("shop", "Shop/0", &[]);
    for index in 1..100_000 {
        world.add("shop", &format!("Shop/{index}"), &[&format!("Shop/{}", index - 1)]);
    }
    let (snapshot, graph) = world.build();
    let tree = Tree::of_scope(&snapshot, &graph, None, None);
    let shown = text(|out| write(&snapshot, &graph, &tree, &options(&Style::default()), out));
    assert_eq!(shown.lines().count(), 100_002);
    let last = ObjectId(99_999);
    let up = Tree::of_targets(&snapshot, &graph, &[last], None, Direction::Owners, None);
    assert_eq!(up.entries.len(), 100_000);
    assert_eq!(DebugGraph::of(&snapshot, &graph, &tree).edges.len(), 99_999);
}
