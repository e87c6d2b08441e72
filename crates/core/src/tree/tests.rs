use std::borrow::Cow;

use super::{
    fixture::{World, owner, terminating, uid},
    fold::{self, Row},
    *,
};
use crate::{
    graph::OwnerGraph,
    model::{ObjectId, RawReference, Snapshot},
};

/// The entries as `depth name showing`.
fn outline(snapshot: &Snapshot, graph: &OwnerGraph, tree: &Tree) -> Vec<String> {
    let name = |entry: &Entry| match graph.object(entry.node) {
        Some(id) => snapshot.name(id),
        None => snapshot.text(graph.virtual_uid(entry.node).unwrap()),
    };
    let showing = |entry: &Entry| match entry.showing {
        Showing::Full => String::new(),
        other => format!(" {other:?}"),
    };
    tree.entries
        .iter()
        .map(|entry| format!("{}{}{}", "-".repeat(entry.depth as usize), name(entry), showing(entry)))
        .collect()
}

fn scope_outline(world: World, depth: Option<u32>) -> Vec<String> {
    let (snapshot, graph) = world.build();
    let tree = Tree::of_scope(&snapshot, &graph, None, depth);
    outline(&snapshot, &graph, &tree)
}

#[test]
fn a_diamond_is_shown_once_with_a_pointer() {
    let mut world = World::empty();
    world.add("shop", "Shop/top", &[]);
    world.add("shop", "Shop/left", &["Shop/top"]);
    world.add("shop", "Shop/right", &["Shop/top"]);
    world.add("shop", "Shop/bottom", &["Shop/left", "Shop/right"]);
    world.add("shop", "Shop/under", &["Shop/bottom"]);
    assert_eq!(scope_outline(world, None), ["top", "-left", "--bottom", "---under", "-right", "--bottom Above"]);
}

#[test]
fn a_cycle_gets_its_first_member_as_root() {
    let mut world = World::empty();
    // `a` is below the cycle of b, c, d; the cycle of x, y is below `a`.
    world.add("shop", "Shop/a", &["Shop/c"]);
    world.add("shop", "Shop/c", &["Shop/b"]);
    world.add("shop", "Shop/d", &["Shop/c"]);
    world.add("shop", "Shop/b", &["Shop/d"]);
    world.add("shop", "Shop/x", &["Shop/y", "Shop/d"]);
    world.add("shop", "Shop/y", &["Shop/x"]);
    world.add("shop", "Shop/self", &["Shop/self"]);
    assert_eq!(
        scope_outline(world, None),
        [
            "b CycleStart",
            "-c",
            "--a",
            "--d",
            "---b Cycle",
            "---x",
            "----y",
            "-----x Cycle",
            "self CycleStart",
            "-self Cycle"
        ]
    );
}

#[test]
fn a_cycle_below_a_root_needs_no_root_of_its_own() {
    let mut world = World::empty();
    world.add("shop", "Shop/root", &[]);
    world.add("shop", "Shop/a", &["Shop/root", "Shop/b"]);
    world.add("shop", "Shop/b", &["Shop/a"]);
    assert_eq!(scope_outline(world, None), ["root", "-a", "--b", "---a Cycle"]);
}

#[test]
fn depth_counts_from_the_least_deep_place() {
    let mut world = World::empty();
    world.add("shop", "Shop/top", &[]);
    world.add("shop", "Shop/a", &["Shop/top"]);
    world.add("shop", "Shop/b", &["Shop/a", "Shop/top"]);
    world.add("shop", "Shop/c", &["Shop/b"]);
    world.add("shop", "Shop/d", &["Shop/c"]);
    assert_eq!(scope_outline(world, Some(2)), ["top", "-a", "--b Below", "-b", "--c Cut(1)"]);
}

#[test]
fn targets_come_in_their_order_and_repeat_as_pointers() {
    let mut world = World::empty();
    let top = world.add("shop", "Shop/top", &[]);
    let low = world.add("shop", "Shop/low", &["Shop/top"]);
    let (snapshot, graph) = world.build();
    let tree = Tree::of_targets(&snapshot, &graph, &[low, top, low], None, Direction::Dependents, None);
    assert_eq!(outline(&snapshot, &graph, &tree), ["low", "top", "-low Above", "low Above"]);
}

#[test]
fn owners_go_up_to_what_is_missing() {
    let mut world = World::empty();
    world.add("shop", "Deployment/web", &[]);
    world.add("shop", "ReplicaSet/web", &["Deployment/web"]);
    let pod = world.add("shop", "Pod/web", &["ReplicaSet/web", "Shop/gone", "ReplicaSet/web"]);
    let (snapshot, graph) = world.build();
    let tree = Tree::of_targets(&snapshot, &graph, &[pod], None, Direction::Owners, None);
    assert_eq!(outline(&snapshot, &graph, &tree), ["web", "-web", "--web", "-shop-gone"]);
    let marks = Mark::of(&snapshot, &graph, &tree, &tree.entries[3]);
    assert_eq!(marks.iter().map(|mark| mark.words(&snapshot, tree.direction)).collect::<Vec<_>>(), ["missing"]);
}

#[test]
fn a_shared_uid_is_shown_for_each_object() {
    let mut world = World::empty();
    let same = |raw: &mut crate::model::RawObject<'_>| raw.uid = Cow::Borrowed("same");
    world.add_with("shop", "Shop/first", vec![], same);
    world.add_with("shop", "Shop/second", vec![owner("Shop/top")], same);
    world.add_with("shop", "Pod/p", vec![RawReference { uid: Cow::Borrowed("same"), ..owner("Shop/first") }], |_| {});
    world.add("shop", "Shop/top", &[]);
    let (snapshot, graph) = world.build();
    let tree = Tree::of_scope(&snapshot, &graph, None, None);
    assert_eq!(outline(&snapshot, &graph, &tree), ["first", "-p", "top", "-second"]);
    let marks = Mark::of(&snapshot, &graph, &tree, &tree.entries[3]);
    assert_eq!(marks, [Mark::SharedUid(ObjectId(0))]);
}

#[test]
fn folds_similar_objects_and_counts_lone_ones() {
    let mut world = World::empty();
    world.add("shop", "ReplicaSet/web", &[]);
    for index in 0..100 {
        world.add("shop", &format!("Pod/{index:03}"), &["ReplicaSet/web"]);
    }
    world.add_with("shop", "Pod/007x", vec![owner("ReplicaSet/web")], terminating(&["acme.io/drain"]));
    for index in 0..30 {
        world.add("shop", &format!("ConfigMap/{index}"), &[]);
    }
    let (snapshot, graph) = world.build();
    let tree = Tree::of_scope(&snapshot, &graph, None, None);
    let rows = fold::folded(&snapshot, &graph, &tree, None, |_| Vec::new());
    let lone = rows.iter().filter(|row| matches!(row, Row::Lone(_))).count();
    assert_eq!(lone, 30);
    let more: Vec<usize> =
        rows.iter().filter_map(|row| if let Row::More { count, .. } = row { Some(*count) } else { None }).collect();
    assert_eq!(more, [97]);
    assert_eq!(rows.len(), 30 + 1 + 3 + 1 + 1);
    assert_eq!(fold::unfolded(&tree).len(), 132);
}

#[test]
fn folds_similar_subtrees() {
    let mut world = World::empty();
    world.add("shop", "Deployment/web", &[]);
    for index in 0..9 {
        let name = format!("ReplicaSet/web-{index}");
        world.add("shop", &name, &["Deployment/web"]);
        for pod in 0..2 {
            world.add("shop", &format!("Pod/{index}-{pod}"), &[&name]);
        }
    }
    world.add("shop", "Pod/extra", &["ReplicaSet/web-4"]);
    let (snapshot, graph) = world.build();
    let tree = Tree::of_scope(&snapshot, &graph, None, None);
    let rows = fold::folded(&snapshot, &graph, &tree, None, |_| Vec::new());
    let more: Vec<(usize, usize)> = rows
        .iter()
        .filter_map(|row| if let Row::More { count, below, .. } = row { Some((*count, *below)) } else { None })
        .collect();
    assert_eq!(more, [(5, 10)]);
}

#[test]
fn every_problem_of_a_reference_has_its_own_mark() {
    let mut world = World::empty().unread("Secret");
    world.add("shop", "Deployment/web", &[]);
    world.add("shop", "Shop/new", &[]);
    let bent = |change: fn(&mut RawReference<'static>)| {
        let mut reference = owner("Deployment/web");
        change(&mut reference);
        reference
    };
    let cases = [
        ("shop", bent(|_| {}), ReferenceStatus::Solid),
        ("shop", owner("Shop/gone"), ReferenceStatus::Absent),
        ("shop", RawReference { uid: "old".into(), ..owner("Shop/new") }, ReferenceStatus::OtherUid),
        ("other", bent(|_| {}), ReferenceStatus::OtherNamespace),
        ("shop", bent(|reference| reference.name = "wbe".into()), ReferenceStatus::OtherName),
        ("shop", bent(|reference| reference.kind = "ReplicaSet".into()), ReferenceStatus::OtherKind),
        ("shop", bent(|reference| reference.kind = "DeploymentList".into()), ReferenceStatus::ListKind),
        ("shop", bent(|reference| reference.api_version = "apps/v9".into()), ReferenceStatus::NotServed),
        ("shop", owner("Secret/token"), ReferenceStatus::Unread),
    ];
    let mut expected: Vec<(ObjectId, ReferenceStatus)> = Vec::new();
    for (index, (namespace, reference, standing)) in cases.into_iter().enumerate() {
        expected.push((world.add_with(namespace, &format!("Pod/{index}"), vec![reference], |_| {}), standing));
    }
    expected.push((world.add("", "Node/n", &["Deployment/web"]), ReferenceStatus::InvalidScope));
    let (snapshot, graph) = world.build();
    for (id, standing) in expected {
        let object = snapshot.object(id);
        assert_eq!(ResolvedReference::of(&snapshot, &graph, object, &object.owners[0]).standing, standing);
    }
}

#[test]
fn the_debug_graph_distinguishes_virtual_from_missing() {
    let mut world = World::empty().unread("Secret");
    world.add("shop", "ConfigMap/absent", &["Shop/gone"]);
    world.add("shop", "ConfigMap/absent-too", &["Shop/gone"]);
    world.add("shop", "ConfigMap/unread", &["Secret/token"]);
    world.add("shop", "ConfigMap/unserved", &["Widget/w"]);
    world.add("shop", "ConfigMap/torn-1", &["Shop/torn"]);
    world.add_with("shop", "ConfigMap/torn-2", vec![RawReference { name: "trn".into(), ..owner("Shop/torn") }], |_| {});
    world.add("shop", "ConfigMap/mixed", &["Shop/mixed"]);
    let unserved = RawReference { api_version: "v9".into(), name: "unserved".into(), ..owner("Shop/mixed") };
    world.add_with("shop", "ConfigMap/mixed-2", vec![unserved], |_| {});
    world.add("", "Node/odd", &["Shop/nowhere"]);
    world.add("shop", "Reading/r", &["Shop/nothing"]);
    world.add("shop", "ConfigMap/of-reading", &["Reading/r"]);
    world.add("shop", "Shop/alone", &[]);
    world.add("shop", "Shop/selfish", &["Shop/vanished", "Shop/selfish"]);
    let (snapshot, graph) = world.build();
    let tree = Tree::of_scope(&snapshot, &graph, None, None);
    let debug = DebugGraph::of(&snapshot, &graph, &tree);
    let special: Vec<String> = debug
        .vertices
        .iter()
        .filter(|vertex| vertex.is_virtual || vertex.missing)
        .map(|vertex| {
            let what = if vertex.missing { "missing" } else { "virtual" };
            format!("{what} {}/{} in {:?}", vertex.kind, vertex.name, vertex.namespace)
        })
        .collect();
    assert_eq!(
        special,
        [
            "virtual Reading/r in \"shop\"",
            "virtual Secret/token in \"shop\"",
            "missing Shop/gone in \"\"",
            "missing Shop/gone in \"\"",
            "virtual Shop/unserved in \"shop\"",
            "virtual Shop/nowhere in \"\"",
            "missing Shop/torn in \"\"",
            "missing Shop/trn in \"\"",
            "missing Shop/vanished in \"\"",
            "virtual Widget/w in \"shop\"",
        ]
    );
    assert!(debug.vertices.iter().all(|vertex| vertex.name != "alone" && vertex.name != "nothing"));
    let of_selfish: Vec<_> =
        debug.edges.iter().filter(|edge| edge.0 == uid("Shop", "selfish")).map(|edge| edge.1).collect();
    assert_eq!(of_selfish, ["shop-vanished", "shop-vanished"]);
}

#[test]
fn types_are_left_out_or_the_only_ones() {
    let mut world = World::empty();
    world.add("shop", "Deployment/web", &[]);
    world.add("shop", "ReplicaSet/web-1", &["Deployment/web"]);
    world.add("shop", "Pod/web-1-a", &["ReplicaSet/web-1"]);
    world.add("shop", "ConfigMap/of-set", &["ReplicaSet/web-1"]);
    world.add("shop", "ConfigMap/of-both", &["Deployment/web", "ReplicaSet/web-1"]);
    world.add("shop", "Secret/alone", &[]);
    let (snapshot, graph) = world.build();
    let types = |names: &[&str]| names.iter().map(|name| snapshot.resources.find_type(name).unwrap()).collect();
    let tree = |targets: Option<&[ObjectId]>, include: Option<&[&str]>, exclude: &[&str]| {
        let filter = TypeFilter { include: include.map(types), exclude: types(exclude) };
        let (direction, namespace) = (Direction::Dependents, None);
        let query = Query { targets, namespace, direction, depth: None, types: &filter, places: None };
        let tree = Tree::of(&snapshot, &graph, &query);
        for entry in &tree.entries {
            assert!(tree.shows(entry.node));
        }
        outline(&snapshot, &graph, &tree)
    };
    assert_eq!(tree(None, Some(&["pods"]), &[]), ["web", "-web-1", "--web-1-a"]);
    assert_eq!(tree(None, Some(&["secrets"]), &[]), ["alone"]);
    // What is below another object, too, is shown there.
    assert_eq!(tree(None, None, &["replicasets"]), ["alone", "web", "-of-both"]);
    assert_eq!(tree(None, None, &["configmaps", "secrets"]), ["web", "-web-1", "--web-1-a"]);
    assert_eq!(tree(None, Some(&["configmaps"]), &["replicasets"]), ["web", "-of-both"]);
    assert_eq!(tree(None, Some(&["nodes"]), &[]), [""; 0]);
    let web = snapshot.by_uid(snapshot.strings.find(&uid("Deployment", "web")).unwrap()).unwrap();
    assert_eq!(tree(Some(&[web]), Some(&["nodes"]), &["deployments"]), ["web"]);
    // A pointer stays beside what it points to.
    assert_eq!(tree(None, Some(&["configmaps"]), &[]), ["web", "-of-both", "-web-1", "--of-both Above", "--of-set"]);
}
