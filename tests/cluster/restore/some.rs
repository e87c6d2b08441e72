//! Restores some objects of an archive.

use serde_json::json;

use super::kit::{Archives, archived, describe, live, outcomes, owned, restore};
use crate::harness::{shared, uid};

#[test]
fn an_object_comes_back_with_what_is_its_own() {
    let cluster = shared();
    let archives = Archives::new();
    let namespace = cluster.namespace("some");
    let config = |name: &str| archived("v1", "ConfigMap", &namespace, name, &json!({"data": {"name": name}}));
    let above = config("above");
    let named = owned(archived("gc.test/v1", "Widget", &namespace, "named", &json!({"spec": {"size": 1}})), &[&above]);
    let below = owned(config("below"), &[&named]);
    let beside = owned(config("beside"), &[&above]);
    let all = [above.clone(), named.clone(), below.clone(), beside.clone()];
    let archive = archives.write("some", &all);

    let absent = restore(cluster, &archive, &["widget/absent"]).ended(1);
    let has = format!("the archive has no widget/absent; it has Widget/named -n {namespace}");
    assert!(absent.stderr.contains(&has), "{}", absent.stderr);

    let ran = restore(cluster, &archive, &["widget/named"]).ended(0);
    let list = |ran| outcomes(ran).iter().map(|(name, it)| format!("{name} {it}")).collect::<Vec<_>>();
    assert_eq!(list(&ran), ["ConfigMap/above LeftOut", "ConfigMap/below Created", "Widget/named Created"]);
    assert_eq!(
        describe(&ran, "ConfigMap/above")["because"],
        "owns an object that is restored, and was not named itself"
    );
    assert_eq!(
        describe(&ran, "Widget/named")["unowned"][0]["because"],
        format!("ConfigMap/above -n {namespace} does not exist; the archive has it: name it, too, to restore it")
    );
    cluster.settled();
    let there = live(cluster, &[named.clone(), below]);
    assert_eq!(there[1]["metadata"]["ownerReferences"][0]["uid"], *uid(&there[0]));
    assert!(cluster.get(&cluster.path_of(&beside)).is_none(), "it is its owner's, not the Widget's");

    // An owner that an earlier run restored is its owner again.
    restore(cluster, &archive, &["cm/above"]).expect(0);
    cluster.delete(&cluster.path_of(&beside), None, Some(0));
    let _ran = restore(cluster, &archive, &["configmap", "beside"]).ended(0);
    let there = live(cluster, &[above, beside]);
    assert_eq!(there[1]["metadata"]["ownerReferences"][0]["uid"], *uid(&there[0]));

    // The text names them.
    let text = cluster.gc(&["restore", archive.to_str().expect("a path"), "widget/named", "--yes"]);
    for line in [format!("Widget/named -n {namespace}"), format!("ConfigMap/above -n {namespace}")] {
        assert!(text.expect(0).lines().any(|it| it.split("  ").any(|part| part == line)), "{line}: {}", text.stdout);
    }
}

/// Who restores a dependent first, and then its owner with it, gets the reference, too.
#[test]
fn what_is_restored_first_gets_its_owner_later() {
    let cluster = shared();
    let archives = Archives::new();
    let namespace = cluster.namespace("later");
    // Who has created an object is only known of one with fields.
    let config = |name: &str| archived("v1", "ConfigMap", &namespace, name, &json!({"data": {"name": name}}));
    let owner = config("owner");
    let dependent = owned(config("dependent"), &[&owner]);
    let archive = archives.write("later", &[owner.clone(), dependent.clone()]);
    restore(cluster, &archive, &["cm/dependent"]).ended(0);
    assert!(live(cluster, std::slice::from_ref(&dependent))[0]["metadata"]["ownerReferences"].is_null());
    let again = restore(cluster, &archive, &["cm/dependent", "cm/owner"]).ended(0);
    assert_eq!(describe(&again, "ConfigMap/dependent")["outcome"], "AlreadyRestored");
    let there = live(cluster, &[owner, dependent]);
    assert_eq!(there[1]["metadata"]["ownerReferences"][0]["uid"], *uid(&there[0]));
}
