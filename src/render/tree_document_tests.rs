use serde_json::json;

use super::{
    testing::{errors, schema},
    tree::{Document, TreeView},
};
use gc_core::{
    model::{Gap, ObjectId},
    tree::{
        Direction, ObjectStatus, Statuses, Tree,
        fixture::{World, shop},
    },
};

#[test]
fn the_document_tells_what_a_server_prints() {
    let (snapshot, graph) = shop();
    let all: Vec<ObjectId> = snapshot.objects().map(|(id, _)| id).collect();
    let crashing = ObjectStatus { ready: "0/1".into(), status: "CrashLoopBackOff".into(), restarts: "7".into() };
    let [known, unread] = [all[0], all[1]].map(|id| snapshot.object(id).uid);
    let mut statuses = Statuses::default();
    statuses.add([known, unread], [(known, crashing)].into_iter().collect());
    statuses.gaps.push(Gap { resource: "pods".to_owned(), namespace: None, reason: "forbidden".into() });
    let tree = Tree::of_targets(&snapshot, &graph, &all[..2], None, Direction::Dependents, Some(0));
    let view = TreeView { statuses: Some(&statuses), ..TreeView::new(&snapshot, &graph, &tree) };
    let document = serde_json::to_value(Document::of(&view)).unwrap();
    assert_eq!(errors("tree", &document), [""; 0], "{document}");
    let [first, second] = [0, 1].map(|at| &document["nodes"][at]);
    assert_eq!([&first["ready"], &first["status"], &first["restarts"]], ["0/1", "CrashLoopBackOff", "7"]);
    assert_eq!([first.get("statusUnread"), second.get("statusUnread")], [None, Some(&json!(true))]);
    assert_eq!([second.get("ready"), second.get("status")], [None, None]);
    assert_eq!(document["statusGaps"], json!([{"resource": "pods", "reason": "forbidden"}]));
}

#[test]
fn the_schema_knows_every_code() {
    let schema = schema("tree");
    let (snapshot, graph) = shop();
    let known = schema.pointer("/$defs/node/properties/marks/items/anyOf").unwrap().as_array().unwrap();
    for tree in [Tree::of_scope(&snapshot, &graph, None, Some(1)), Tree::of_scope(&snapshot, &graph, None, None)] {
        for code in Document::of(&TreeView::new(&snapshot, &graph, &tree)).nodes.iter().flat_map(|node| &node.marks) {
            assert!(known.iter().any(|known| known["const"] == **code), "{code}");
        }
    }
}

#[test]
fn nodes_and_edges_say_what_was_read() {
    let mut world = World::empty();
    world.add("shop", "Deployment/web", &[]);
    let set = world.add("shop", "ReplicaSet/web", &["Deployment/web", "Shop/gone"]);
    world.add("shop", "Pod/web", &["ReplicaSet/web"]);
    let (snapshot, graph) = world.build();
    let tree = Tree::of_targets(&snapshot, &graph, &[set], None, Direction::Dependents, Some(0));
    let document = serde_json::to_value(Document::of(&TreeView::new(&snapshot, &graph, &tree))).unwrap();
    let expected = json!({
        "apiVersion": "kubectl-gc/v1", "kind": "Tree", "complete": true, "gaps": [], "direction": "Dependents",
        "read": {"from": {"context": "test", "server": "test:6443"}, "at": "1970-01-01T00:16:40Z",
                 "program": env!("CARGO_PKG_VERSION")},
        "roots": ["replicaset-web"],
        "nodes": [
            {"apiVersion": "apps/v1", "kind": "ReplicaSet", "namespace": "shop", "name": "web", "uid": "replicaset-web",
             "created": "1970-01-01T00:16:40Z", "terminating": false, "finalizers": [],
             "marks": ["owner-outside", "owner-absent", "depth"], "more": 1},
            {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "shop", "name": "web", "uid": "deployment-web",
             "created": "1970-01-01T00:16:40Z", "terminating": false, "finalizers": [], "marks": [], "outside": true},
            {"apiVersion": "example.org/v1", "kind": "Shop", "name": "gone", "uid": "shop-gone",
             "terminating": false, "finalizers": [], "marks": [], "virtual": true, "outside": true},
        ],
        "edges": [
            {"dependent": "replicaset-web", "owner": "deployment-web", "apiVersion": "apps/v1", "kind": "Deployment",
             "name": "web", "controller": true, "blockOwnerDeletion": true, "verdict": "Solid"},
            {"dependent": "replicaset-web", "owner": "shop-gone", "apiVersion": "example.org/v1", "kind": "Shop",
             "name": "gone", "controller": true, "blockOwnerDeletion": true, "verdict": "Absent"},
        ],
    });
    assert_eq!(document, expected);
}
