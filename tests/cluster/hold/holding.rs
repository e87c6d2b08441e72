//! A delete that waits until its time is up.

use super::kit::{Kind, PATIENCE, Scene};

/// As long as it is held, everything below it stays; then it goes, and all that goes with it.
#[test]
fn what_is_held_goes_when_the_time_is_up() {
    goes_when_the_time_is_up(&Kind::SOME);
}

#[test]
#[ignore = "long: every kind"]
fn what_is_held_goes_when_the_time_is_up_whatever_its_kind() {
    goes_when_the_time_is_up(&Kind::ALL);
}

fn goes_when_the_time_is_up(kinds: &[Kind]) {
    for kind in kinds.iter().copied() {
        let scene = Scene::of(kind);
        let before = scene.state();
        scene.hold();
        assert_eq!(scene.secrets().len(), 1);
        assert!(scene.root()["metadata"]["deletionTimestamp"].is_string());
        scene.fence();
        assert_eq!(scene.state(), before, "{kind:?}");
        // Somebody else goes on, for a moment more.
        let ran = scene.gc(&["delete", kind.word(), "--hold=1s", "--yes"]);
        let shown = ran.expect(0).to_owned();
        assert!(shown.contains("as planned") || shown.contains("As planned"), "{shown}\n{}", ran.stderr);
        assert!(ran.stderr.contains("is held until"), "{}", ran.stderr);
        scene.cluster.wait_until("the end", PATIENCE, || scene.state().is_empty());
        assert_eq!(scene.secrets(), [""; 0]);
    }
}

/// A delete with `--hold` is one command, from the plan to the end of the cascade.
#[test]
fn one_command_holds_and_goes_on() {
    let scene = Scene::of(Kind::Deployment);
    let archive = scene.cluster.folder().join(format!("{}.yaml", scene.namespace));
    let flag = format!("--archive={}", archive.display());
    let ran = scene.gc(&["delete", "deployment/web", "--hold=2s", "--yes", "-o", "json", &flag]).ended(0);
    let document = ran.json();
    assert_eq!((&document["kind"], &document["ended"]), (&"Deletion".into(), &"AsPlanned".into()), "{document:#}");
    assert!(ran.stderr.contains("Meanwhile it is not scaled or rolled out"), "{}", ran.stderr);
    assert!(scene.state().is_empty() && scene.secrets().is_empty());
    assert!(archive.exists());
}
