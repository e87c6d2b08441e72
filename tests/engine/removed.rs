//! What may be gone after a delete without being known: it is in a list that could not be read. What is known is in
//! `rows/removed.txt`.

use gc_core::model::Gap;

use crate::scene::Scene;

#[test]
fn only_what_may_hold_dependents_may_hide_something() {
    let hides = |graph: &str, targets: &str| {
        let scene = Scene::new(graph);
        let targets: Vec<_> = targets.split_whitespace().map(|target| scene.id(target)).collect();
        let gaps = scene.snapshot.may_hide(&targets);
        gaps.iter().map(|gap| gap.resource.clone()).collect::<Vec<_>>().join(" ")
    };
    let unread = "
        unread Secret
        unread Region
        Shop a
        Bucket b
        Namespace ns";
    assert_eq!(hides(unread, "Shop/a"), "secrets", "what is in a namespace owns nothing outside");
    for owner in ["Bucket/b", "Namespace/ns", "Shop/a Bucket/b"] {
        assert_eq!(hides(unread, owner), "regions.acme.io secrets");
    }
    assert_eq!(hides(unread, ""), "");
    assert_eq!(hides("Shop a\nBucket b", "Shop/a Bucket/b"), "", "what the collector doesn't watch hides nothing");
    let mut scene = Scene::new("Shop a");
    let undiscovered = Gap { resource: "acme.io/v1".to_owned(), namespace: None, reason: "503".into() };
    let look_up =
        Gap { resource: "secrets".to_owned(), namespace: Some("ns".to_owned()), reason: "s: forbidden".into() };
    scene.snapshot.gaps = vec![undiscovered.clone(), look_up];
    assert_eq!(
        scene.snapshot.may_hide(&[scene.id("Shop/a")]),
        [undiscovered],
        "one object that can't be looked up hides none"
    );
}
