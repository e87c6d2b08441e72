//! Reads objects again that have changed since they were listed.

use gc_cluster::cluster::{EarlyLists, Scope, Wanted};
use gc_core::model::{Presence, RecheckResult};
use serde_json::{Value, json};

use crate::{
    harness::{ADMIN, VIEWER, uid},
    plan::draft::HOLD,
    plan::trial::Trial,
    reading::connect,
    sweep::without_collector,
};

#[test]
fn what_changed_since_the_lists_is_seen() {
    let alone = without_collector();
    let cluster = &*alone;
    let trial = Trial::on(cluster, "again", "Background");
    let kept = trial.config_map("kept").create();
    let objects = ["counted", "relabelled", "doomed", "gone", "replaced"].map(|name| trial.widget(name).create());
    let rack = trial.rack("rack").create();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let connection = connect(cluster, ADMIN, &runtime);
    let wanted = Wanted { scope: Scope::Namespace(trial.namespace.clone()), ..Wanted::default() };
    let mut snapshot = runtime.block_on(async {
        let (resources, _) = connection.discover().await.expect("discovery");
        connection.read(resources, &wanted, &EarlyLists::default()).await.expect("a snapshot").0
    });
    let paths = objects.each_ref().map(|object| cluster.path_of(object));
    let [counted, relabelled, doomed, gone, replaced] = &paths;
    // The first object changes only in fields that a snapshot doesn't keep.
    cluster.patch(counted, &json!({"spec": {"count": 2}}));
    cluster.patch(relabelled, &json!({"metadata": {"labels": {"app": "shop"}}}));
    cluster.patch(doomed, &json!({"metadata": {"finalizers": [HOLD]}}));
    for path in [doomed, gone, replaced] {
        cluster.delete(path, Some("Background"), None);
    }
    let successor = trial.widget("replaced").create();

    let find = |object: &Value| {
        let uid = snapshot.strings.find(uid(object)).expect("it was read");
        snapshot.by_uid(uid).expect("it was read")
    };
    let [kept, rack] = [&kept, &rack].map(find);
    let ids = objects.each_ref().map(find);
    let all: Vec<_> = ids.into_iter().chain([kept, rack]).collect();
    let seen = runtime.block_on(connection.recheck(&snapshot, &all));
    let again = |id| seen.iter().find(|(of, _)| *of == id).map(|(_, again)| again).expect("an answer for each");
    assert_eq!(
        [again(kept), again(rack), again(ids[0]), again(ids[3])],
        [&RecheckResult::Same, &RecheckResult::Same, &RecheckResult::Same, &RecheckResult::Gone]
    );
    assert!(
        matches!(again(ids[1]), RecheckResult::Changed(raw) if raw.labels == [("app".into(), "shop".into())]),
        "{seen:?}"
    );
    assert!(matches!(again(ids[2]), RecheckResult::Changed(raw) if raw.deleted.is_some()), "{seen:?}");
    assert!(matches!(again(ids[4]), RecheckResult::Replaced(raw) if raw.uid == uid(&successor)), "{seen:?}");

    // A viewer who may not read cluster-scoped objects gets no answer, which doesn't mean that the object is gone.
    cluster.let_viewer_see(&trial.namespace);
    let viewer = connect(cluster, VIEWER, &runtime);
    let seen_by_viewer = runtime.block_on(viewer.recheck(&snapshot, &[rack]));
    assert_eq!(seen_by_viewer, [(rack, RecheckResult::Unanswered("forbidden".to_owned()))]);

    let places = all.iter().map(|id| snapshot.object(*id).coordinate()).collect::<Vec<_>>();
    snapshot.update(seen);
    let is = |place: usize| match snapshot.look_up(places[place]) {
        Presence::Present(id) => snapshot.text(snapshot.object(id).uid).to_owned(),
        other => format!("{other:?}"),
    };
    assert_eq!([is(3), is(4)], ["Absent", uid(&successor)]);
    let old = snapshot.strings.find(uid(&objects[4])).expect("it was read once");
    assert_eq!(snapshot.by_uid(old), None);
}
