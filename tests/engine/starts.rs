//! What a collector does when it starts on a state, and what a sweep does, without any delete (§8 and §8.1). Their rows
//! are in `rows/starts.txt`.

use crate::{
    rows::{Row, read},
    scene::Scene,
};

/// A sweep limited to all objects equals an unlimited one.
#[test]
fn a_limit_of_everything_is_none() {
    for row in read("starts.txt") {
        let scene = Scene::new(&row.graph);
        let all: Vec<String> = scene.snapshot.objects().map(|(id, _)| scene.snapshot.short_name(id)).collect();
        assert_eq!(scene.tell(&format!("sweep only {}", all.join(" "))), scene.tell("sweep"), "{}", row.title);
    }
}

/// A sweep of one namespace has the same effect there as a full sweep, unless an object outside has to be changed
/// first.
#[test]
fn a_sweep_of_a_namespace_does_there_what_a_whole_one_does() {
    let by_itself =
        |Scene { snapshot }: &Scene| snapshot.objects().all(|(_, object)| snapshot.text(object.namespace) == "ns");
    let rows: Vec<Row> = read("starts.txt").into_iter().filter(|row| by_itself(&Scene::new(&row.graph))).collect();
    assert!(rows.len() > 10, "{} rows", rows.len());
    for Row { title, graph, .. } in rows {
        let whole = Scene::new(&graph).tell("sweep");
        let beside = Scene::new(&format!("{graph}\nConfigMap other:x <- Shop/gone\nShop other:y T=0 fin=orphan"));
        assert_eq!(beside.tell("sweep only ns"), whole, "{title}");
        assert_ne!(beside.tell("sweep"), whole, "{title}: there is something to do outside");
    }
}

/// One sweep of a cluster with many unconnected graphs: each is searched alone, whatever happens to the others, and
/// none is left uncertain because of their number.
#[test]
fn parts_that_have_nothing_to_do_with_each_other_are_searched_alone() {
    are_searched_alone(60);
}

#[test]
#[ignore = "long: 600 parts"]
fn many_parts_that_have_nothing_to_do_with_each_other_are_searched_alone() {
    are_searched_alone(600);
}

fn are_searched_alone(parts: usize) {
    let mut graph = String::new();
    for number in 0..parts {
        // M14, R8.11: whether c is examined before or after a's orphaning frees it decides its end.
        graph += &format!("Shop a{number} T=0 fin=orphan\nConfigMap c{number} <- Shop/a{number}! Shop/gone{number}!\n");
    }
    let describe = Scene::new(&graph).tell("sweep");
    assert_eq!(
        describe.matches("Deleted/Orphaned").count() + describe.matches("Orphaned/Deleted").count(),
        parts,
        "{}",
        &describe[..200]
    );
    assert!(!describe.contains('?'), "nothing is unknown");
}
