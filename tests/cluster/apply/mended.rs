//! The mended file: nothing is collected, and the second step puts back the references to new owners.

use std::fs;

use serde_json::Value;

use super::{
    kit::{By, Scene, config_map, now, predictions, shown, trial},
    scenes::BEFORE,
};
use crate::harness::shared;

const BACKUP: &str = r#"# Of yesterday.
apiVersion: v1
kind: ConfigMap
metadata:
  uid: 11111111-1111-4111-8111-111111111111
  name:   root   # odd spaces
  resourceVersion: "7"
data: {a: "1",   b: 'two'}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: of-root
  resourceVersion: "8"
  uid: 22222222-2222-4222-8222-222222222222
  ownerReferences:
  # the root
  - {apiVersion: v1, kind: ConfigMap, name: root, uid: 11111111-1111-4111-8111-111111111111, controller: true}
---
apiVersion: v1
kind: List
items:
- apiVersion: gc.test/v1
  kind: Widget
  metadata:
    ownerReferences:
    - apiVersion: v1
      kind: ConfigMap
      name: of-root # was created by root
      uid: 22222222-2222-4222-8222-222222222222
    - apiVersion: v1
      kind: ConfigMap
      name: living
      uid: '33333333-3333-4333-8333-333333333333'
    name: below
- {apiVersion: gc.test/v1, kind: Widget, metadata: {name: flow, ownerReferences: [{apiVersion: v1, kind: ConfigMap,
    name: gone, uid: 44444444-4444-4444-8444-444444444444}, {apiVersion: v1, kind: ConfigMap, name: living, uid: x}]}}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: of-elsewhere
  namespace: {there}
  ownerReferences:
  - apiVersion: v1
    kind: ConfigMap
    name: living
    uid: {uid:living}
"#;

fn owners(object: &Value) -> Vec<String> {
    let references = object["metadata"]["ownerReferences"].as_array().into_iter().flatten();
    references.map(|reference| reference["name"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn nothing_of_the_mended_file_is_collected_and_a_second_step_restores_the_tree() {
    let scene = Scene::new(shared(), "mended");
    scene.send(By::Apply, &scene.file("before.yaml", BEFORE)).expect(0);
    let backup = scene.file("backup.yaml", BACKUP);
    assert_eq!(scene.plan(&backup)["summary"]["collected"], 4);

    let (first, ran) = scene.fix(&backup, "first.yaml");
    ran.expect(0);
    assert!(ran.stderr.contains("put them back from the original file: kubectl gc plan"), "{}", ran.stderr);
    // Only references were changed.
    let left: Vec<&str> = ran.stdout.lines().collect();
    let given = shown(&backup);
    let lost: Vec<&str> = given.lines().filter(|line| !left.contains(line)).collect();
    assert!(lost.iter().all(|line| !line.contains("odd spaces") && !line.starts_with("data:")), "{lost:?}");
    let plan = trial(&scene, By::Apply, &first);
    assert_eq!(plan["verdict"]["result"], "keeps", "{plan:#}");
    assert!(now(&scene, &plan).iter().all(Option::is_some), "nothing was collected");

    // As it is, the backup is refused: the objects have other uids now.
    let again = scene.plan(&backup);
    let fates = predictions(&again);
    let root = &fates[&format!("ConfigMap/{}/root", scene.here)];
    assert_eq!((root.arrival.as_str(), root.fate.as_str()), ("Refused", "Refused"), "{root:?}");

    let (second, ran) = scene.fix(&backup, "second.yaml");
    ran.expect(0);
    assert!(!ran.stderr.contains("put them back"), "{}", ran.stderr);
    let plan = trial(&scene, By::Apply, &second);
    assert_eq!(plan["verdict"]["result"], "keeps", "{plan:#}");
    let widget = |name: &str| {
        let mut object = config_map(&scene.here, name);
        object["apiVersion"] = "gc.test/v1".into();
        object["kind"] = "Widget".into();
        scene.get(&object).expect("a widget")
    };
    assert_eq!(owners(&scene.get(&config_map(&scene.here, "of-root")).expect("it is there")), ["root"]);
    assert_eq!(owners(&widget("below")), ["of-root", "living"]);
    assert_eq!(owners(&widget("flow")), ["living"]);
    assert_eq!(owners(&scene.get(&config_map(&scene.there, "of-elsewhere")).expect("it is there")), [""; 0]);

    // A third time there is nothing left to mend but the uids of the saved objects.
    let (third, _) = scene.fix(&second, "third.yaml");
    assert_eq!(fs::read_to_string(third).unwrap(), fs::read_to_string(second).unwrap());
}

#[test]
fn json_is_mended_where_it_is() {
    let scene = Scene::new(shared(), "json");
    scene.send(By::Apply, &scene.file("before.yaml", BEFORE)).expect(0);
    let text = r#"{"apiVersion": "v1", "kind": "ConfigMap",
  "metadata": {"name": "one",
    "ownerReferences": [
      {"apiVersion": "v1", "kind": "ConfigMap", "name": "gone", "uid": "a"},
      {"apiVersion": "v1", "kind": "ConfigMap", "name": "living", "uid": "b"}
    ]}, "data": {"z": "1", "a": "2"}}
{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"ownerReferences": [
  {"apiVersion": "v1", "kind": "ConfigMap", "name": "gone", "uid": "a"}], "name": "two"}}
"#;
    let file = scene.file("backup.json", text);
    let (mended, ran) = scene.fix(&file, "mended.json");
    ran.expect(0);
    let living = shown(&scene.file("living", "{uid:living}"));
    let gone = r#"{"apiVersion": "v1", "kind": "ConfigMap", "name": "gone", "uid": "a"}"#;
    let expected = text
        .replacen(&format!("      {gone},\n"), "", 1)
        .replace("\"b\"", &format!("{living:?}"))
        .replace(&format!("{{\"ownerReferences\": [\n  {gone}], \"name\""), "{\"name\"");
    assert_eq!(ran.stdout, expected);
    let plan = trial(&scene, By::Create, &mended);
    assert_eq!(plan["verdict"]["result"], "keeps", "{plan:#}");
}
