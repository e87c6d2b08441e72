//! Operators that refuse while something is in what is deleted, that wipe, or that list what they delete, in dumps as
//! people have them.

use serde_json::{Value, json};

use super::{
    agree::{claim, object, on, running, says, says_not},
    field::at_ten,
};

/// An object with a spec and with these finalizers.
fn made(kind: (&str, &str), name: &str, finalizers: &[&str], spec: Value) -> Value {
    let mut made = object(kind, name, json!({"finalizers": finalizers}));
    made["spec"] = spec;
    made
}

/// The claim `gold` and its volume, with the attributes that a driver of Rook's writes.
fn in_ceph(attributes: Value) -> Vec<Value> {
    let mut all = claim("nobody");
    all[0]["metadata"].as_object_mut().unwrap().remove("ownerReferences");
    all[1]["spec"]["csi"]["volumeAttributes"] = attributes;
    all.to_vec()
}

/// R9.40: what is bound to a service, a bus or a cluster of databases keeps it, and is named to be deleted first.
#[test]
fn what_is_bound_keeps_what_it_is_bound_to() {
    const CATALOG: &str = "servicecatalog.k8s.io/v1beta1";
    const CLOUD: &str = "services.cloud.sap.com/v1";
    const EVENTS: &str = "argoproj.io/v1alpha1";
    const REDIS: &str = "app.redislabs.com/v1";
    const OF_CLUSTER: &str = "redbfinalizer.redisenterpriseclusters.app.redislabs.com";
    type Spec = fn(&str) -> Value;
    let instance: Spec = |name| json!({"instanceRef": {"name": name}});
    let binding: Spec = |name| json!({"serviceInstanceName": name});
    let bus: Spec = |name| json!({"eventBusName": name});
    let cluster: Spec = |name| json!({"redisEnterpriseCluster": {"name": name}});
    let all = [
        (CATALOG, "ServiceInstance", "kubernetes-incubator/service-catalog", "ServiceBinding", instance),
        (CLOUD, "ServiceInstance", "services.cloud.sap.com/sap-btp-finalizer", "ServiceBinding", binding),
        (EVENTS, "EventBus", "eventbus-controller", "EventSource", bus),
        (EVENTS, "EventBus", "eventbus-controller", "Sensor", bus),
        (REDIS, "RedisEnterpriseCluster", OF_CLUSTER, "RedisEnterpriseDatabase", cluster),
    ];
    for (version, kind, finalizer, by, spec) in all {
        for (uses, is_kept) in [("main", true), ("another", false)] {
            let user = made((version, by), "user", &[], spec(uses));
            let mut objects = vec![made((version, kind), "main", &[finalizer], json!({})), user, at_ten()];
            let ran = on(&objects, &format!("plan {kind}/main -n vault"));
            assert_eq!(ran.out.contains(&format!("waits for {by}/user")), is_kept, "{ran}");
            assert_eq!(ran.out.contains(&format!("delete {by}/user first")), is_kept, "{ran}");
            objects[0]["metadata"]["deletionTimestamp"] = json!("2026-03-01T07:00:00Z");
            let ran = on(&objects, "doctor");
            assert_eq!(ran.out.contains(&format!("{kind}/main is in use by {by}/user.")), is_kept, "{ran}");
        }
    }
    // Who names no bus uses the one that is called default.
    for (name, is_kept) in [("default", true), ("main", false)] {
        let source = made((EVENTS, "EventSource"), "hook", &[], json!({}));
        let objects = [made((EVENTS, "EventBus"), name, &["eventbus-controller"], json!({})), source, at_ten()];
        let ran = on(&objects, &format!("plan eventbus/{name} -n vault"));
        assert_eq!(ran.out.contains("waits for EventSource/hook"), is_kept, "{ran}");
    }
}

/// R9.38: what KubeDB does with the claims of a database, the database itself says.
#[test]
fn a_database_of_kubedb_says_what_becomes_of_its_claims() {
    let of = |policy: Value, instance: &str, line: &str| {
        let mut all = in_ceph(json!({}));
        all[0]["metadata"]["labels"] =
            json!({"app.kubernetes.io/managed-by": "kubedb.com", "app.kubernetes.io/instance": instance});
        all.push(made(("kubedb.com/v1", "Postgres"), "main", &["kubedb.com"], policy));
        all.push(running("kubedb-kubedb-provisioner"));
        on(&all, line)
    };
    let (plan, gate) = ("plan postgres/main -n vault", "plan postgres/main -n vault --deny=pvc");
    for lost in [json!({"deletionPolicy": "WipeOut"}), json!({"deletionPolicy": "Delete"}), json!({})] {
        says(&of(lost.clone(), "main", plan), &["DATA LOSS: ", "PersistentVolumeClaim/gold", "KubeDB must remove"]);
        says(&of(lost.clone(), "main", gate), &["REFUSED: "]);
        says_not(&of(lost, "other", plan), &["DATA LOSS", "PersistentVolumeClaim/gold"]);
    }
    for kept in [json!({"deletionPolicy": "Halt"}), json!({"terminationPolicy": "Halt"})] {
        let ran = of(kept, "main", gate);
        says(&ran, &["WAITS: "]);
        says_not(&ran, &["DATA LOSS", "REFUSED"]);
    }
    let refused = of(json!({"deletionPolicy": "DoNotTerminate"}), "main", plan);
    says(&refused, &["unless its webhook refuses this delete: DoNotTerminate"]);
}
