//! The screen on a real cluster: a delete from it asks as the command does, and its cascade is seen as it happens.

use serde_json::json;

use crate::{
    harness::{ADMIN, uid},
    plan::trial::Trial,
    tmux::Tmux,
};

#[test]
fn a_delete_from_the_screen_asks_and_is_seen() {
    let trial = Trial::new("tui", "Background");
    let (cluster, ns) = (trial.cluster, trial.namespace.as_str());
    let owner = trial.config_map("owner").create();
    trial.config_map("leaf").owned_by(&owner).create();
    let held = trial.config_map("held").owned_by(&owner).finalizer("acme.io/held").create();
    trial.config_map("other").create();
    cluster.seen_by_collector(&[uid(&owner), uid(&held)]);
    let tmux = Tmux::of(80, 24, cluster.folder());
    tmux.starts(&format!("tui -n {ns} --kubeconfig {}", cluster.kubeconfig(ADMIN).display()));
    tmux.until("? help");
    tmux.until("live");
    // What appears is shown without a key.
    trial.config_map("newcomer").create();
    tmux.until("ConfigMap/newcomer");
    tmux.press(&["/", "owner", "Enter", "Home", "Space"]);
    tmux.until("1 marked");
    // Whoever does not say yes changes nothing, and is back on the screen.
    tmux.press(&["d"]);
    tmux.until("To confirm, type held");
    tmux.types("no");
    tmux.until("Nothing was changed");
    tmux.press(&["Enter"]);
    tmux.until("? help");
    assert!(
        cluster.get(&cluster.path_of(&owner)).is_some_and(|owner| owner["metadata"]["deletionTimestamp"].is_null())
    );
    // What was typed too early answers no question.
    tmux.press(&["d"]);
    tmux.until("To confirm, type held");
    tmux.types("held");
    let shown = tmux.until("Terminating");
    assert!(shown.contains("ConfigMap/held"), "{shown}");
    // On a slow machine, the delete ends as planned before the screen has drawn that, or before the object is let go.
    const OVER: &str = "What came of the delete";
    let is_gone = |shown: &str| !shown.contains("ConfigMap/leaf") && shown.contains("ConfigMap/other");
    let shown = tmux.until_it("the rest to go", |shown| is_gone(shown) || shown.contains(OVER));
    let came = if shown.contains(OVER) {
        tmux.press(&["q"]);
        tmux.until_it("the rest to go", is_gone);
        cluster.patch(&cluster.path_of(&held), &json!({"metadata": {"finalizers": null}}));
        shown
    } else {
        cluster.patch(&cluster.path_of(&held), &json!({"metadata": {"finalizers": null}}));
        let came = tmux.until(OVER);
        tmux.press(&["q"]);
        came
    };
    let is_stuck = came.contains("STUCK: as planned");
    assert!(is_stuck || came.contains("DONE"), "{came}");
    tmux.until_it("it to go", |shown| !shown.contains("ConfigMap/held") && shown.contains("ConfigMap/other"));
    tmux.press(&["q"]);
    tmux.is_restored(if is_stuck { 2 } else { 0 });
    assert!(cluster.get(&cluster.path_of(&owner)).is_none());
}
