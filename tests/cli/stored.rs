//! Stored data: what keeps it, what loses it, and where it is.

use serde_json::{Value, json};

use super::{
    agree::{LOCKER, claim, object, on, owners, says},
    field::{at_ten, namespace, node, pod},
};

/// A claim whose owner is gone keeps its data as long as a pod uses it: a delete of that pod makes the loss final.
#[test]
fn the_data_that_only_a_pod_keeps_counts() {
    let [mut gold, volume] = claim("nobody");
    gold["metadata"]["finalizers"] = json!(["kubernetes.io/pvc-protection"]);
    let user = |name: &str| {
        let mut user = pod(name, json!({}));
        user["spec"]["volumes"] = json!([{"name": "d", "persistentVolumeClaim": {"claimName": "gold"}}]);
        user
    };
    let here = object(LOCKER, "here", json!({}));
    let of = |gold: &Value, users: &[Value], line: &str| {
        let rest = [gold.clone(), volume.clone(), here.clone(), namespace(json!({})), node("True", "x"), at_ten()];
        on(&[&rest[..], users].concat(), line)
    };
    let line = "plan pod/web -n vault --deny-effect=data-loss";
    let ran = of(&gold, &[user("web")], line);
    says(&ran, &["REFUSED: ", "--deny-effect=data-loss: 1 object loses its data", "PersistentVolumeClaim/gold"]);
    says(&of(&gold, &[user("web")], "plan pod/web -n vault"), &["DATA LOSS: "]);
    // Another pod still keeps it, it has lost its data without this delete, or it stays.
    says(&of(&gold, &[user("web"), user("api")], line), &["DELETES: "]);
    says(&of(&gold, &[pod("web", json!({}))], line), &["DELETES: "]);
    let mut kept = gold.clone();
    kept["metadata"]["ownerReferences"] = owners(LOCKER, &["here"]);
    says(&of(&kept, &[user("web")], line), &["DELETES: "]);
}
