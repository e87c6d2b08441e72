//! What plans say of the claims of deleted StatefulSets.

use kubectl_gc::{
    graph::OwnerGraph,
    model::{
        Fact, ObjectId, Snapshot,
        facts::{ClaimTemplates, WorkloadFacts},
    },
    plan::{Plan, explore},
    server::Propagation::{self, Background, Foreground, Orphan},
    simulate::{Assume, Request, SimContext},
};

use crate::scene::Scene;

fn planned(scene: &Scene, target: &str, propagation: Propagation) -> Plan {
    let graph = OwnerGraph::new(&scene.snapshot);
    let stage = SimContext::new(&scene.snapshot, &graph, Assume::Known);
    explore(&stage, &Request::delete(vec![scene.id(target)], propagation))
}

/// `StatefulSet/db Retain: kept a b; deleted c`
fn describe(snapshot: &Snapshot, plan: &Plan) -> String {
    let names = |claims: &[ObjectId]| -> String {
        claims.iter().map(|id| format!(" {}", snapshot.text(snapshot.object(*id).name))).collect()
    };
    let lines = plan.claims.iter().map(|of| {
        let policy = of.deletes.map_or("unread", |deletes| if deletes { "Delete" } else { "Retain" });
        let parts = [("kept", &of.kept), ("deleted", &of.deleted), ("unsure", &of.unsure)];
        let parts = parts.iter().filter(|(_, claims)| !claims.is_empty());
        let parts: Vec<String> = parts.map(|(word, claims)| format!("{word}{}", names(claims))).collect();
        format!("{} {policy}: {}", snapshot.short_name(of.set), parts.join("; "))
    });
    lines.collect::<Vec<_>>().join(", ")
}

const CLAIMS: &str = "Namespace ns\nStatefulSet db\nPersistentVolumeClaim data-db-0\nPersistentVolumeClaim data-db-10\n\
    PersistentVolumeClaim data-db-2\nPersistentVolumeClaim log-db-0\nPersistentVolumeClaim data-other-db-0\n\
    PersistentVolumeClaim data-db-x\nPersistentVolumeClaim uploads";
const OWNED: &str = "Namespace ns\nStatefulSet db\nPersistentVolumeClaim data-db-0 <- StatefulSet/db!\n\
    PersistentVolumeClaim data-db-1";

#[test]
fn the_claims_of_a_deleted_set_are_kept_or_deleted() {
    let rows = [
        (
            "without references",
            CLAIMS,
            &["data"][..],
            false,
            "StatefulSet/db",
            Background,
            "StatefulSet/db Retain: kept data-db-0 data-db-2 data-db-10",
        ),
        (
            "two templates",
            CLAIMS,
            &["data", "log"],
            false,
            "StatefulSet/db",
            Foreground,
            "StatefulSet/db Retain: kept data-db-0 data-db-2 data-db-10 log-db-0",
        ),
        ("no template", CLAIMS, &[], false, "StatefulSet/db", Background, ""),
        // A claim that a scale-down left, or one of before the policy, has no reference.
        (
            "the policy deletes what is owned",
            OWNED,
            &["data"],
            true,
            "StatefulSet/db",
            Background,
            "StatefulSet/db Delete: kept data-db-1; deleted data-db-0",
        ),
        ("owned is enough", OWNED, &[], true, "StatefulSet/db", Background, "StatefulSet/db Delete: deleted data-db-0"),
        (
            "orphaned",
            OWNED,
            &["data"],
            true,
            "StatefulSet/db",
            Orphan,
            "StatefulSet/db Delete: kept data-db-0 data-db-1",
        ),
        (
            "a namespace deletes them anyway",
            OWNED,
            &["data"],
            false,
            "Namespace/ns",
            Background,
            "StatefulSet/db Retain: deleted data-db-0 data-db-1",
        ),
        ("only a claim", OWNED, &["data"], true, "PersistentVolumeClaim/data-db-0", Background, ""),
    ];
    for (name, graph, templates, deleted, target, policy, expected) in rows {
        let mut scene = Scene::new(graph);
        let names = templates.iter().map(|name| (*name).to_owned()).collect();
        let claims = Some(ClaimTemplates { names, deleted });
        scene
            .snapshot
            .learn(scene.id("StatefulSet/db"), Fact::Workload(WorkloadFacts { claims, ..WorkloadFacts::default() }));
        let plan = planned(&scene, target, policy);
        assert_eq!(describe(&scene.snapshot, &plan), expected, "{name}");
        assert!(!plan.needs.facts.contains(&scene.id("StatefulSet/db")), "{name}");
        assert!(plan.certain(), "{name}");
    }
}

#[test]
fn a_set_that_was_not_read_is_read_or_said_to_be_unread() {
    let scene = Scene::new(OWNED);
    let plan = planned(&scene, "StatefulSet/db", Background);
    assert_eq!(describe(&scene.snapshot, &plan), "StatefulSet/db unread: deleted data-db-0");
    assert!(plan.needs.facts.contains(&scene.id("StatefulSet/db")));
    assert!(plan.certain(), "owner references decide");
    let without = Scene::new("StatefulSet db\nPersistentVolumeClaim uploads");
    let plan = planned(&without, "StatefulSet/db", Background);
    assert_eq!(describe(&without.snapshot, &plan), "", "no claim here can be its own");
    let plan = planned(&scene, "PersistentVolumeClaim/data-db-1", Background);
    assert!(plan.claims.is_empty() && !plan.needs.facts.contains(&scene.id("StatefulSet/db")));
}
