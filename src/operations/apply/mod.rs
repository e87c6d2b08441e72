//! What would be collected at once if a file were applied, and the file with its owner references mended.

mod edit;
#[cfg(test)]
mod tests;

pub use edit::{FileFormat, Fixed, fixed};

use rustc_hash::FxHashMap;

use gc_core::{
    apply::{ApplyPlan, LastApplied, ManifestObject, Scene},
    graph::OwnerGraph,
    plan::{Plan, explore, plan},
    simulate::{Assume, Request, SimContext},
};

use super::{
    Session,
    clock::now,
    complete::{ROUNDS, complete},
};

/// Predicts what the collector does once these objects are applied. Objects without a namespace are in `namespace`.
/// Reads everything that this depends on.
pub fn predict_apply(session: &mut Session, objects: &[ManifestObject], namespace: &str, assume: Assume) -> ApplyPlan {
    let mut last: FxHashMap<String, LastApplied> = FxHashMap::default();
    let mut played = |session: &mut Session, play: fn(&SimContext<'_>, &Request) -> Plan| {
        let simulate = |session: &mut Session| {
            let scene = loop {
                let scene = Scene::of(&mut session.snapshot, objects, namespace, &last);
                let read = session.fetch_last_applied(&scene.unread_last);
                if read.is_empty() {
                    break scene;
                }
                last.extend(read);
            };
            let time = now(session);
            let follow = |scene: &Scene, graph: &OwnerGraph| {
                let context = SimContext::new(&scene.snapshot, graph, assume).at(time);
                play(&context.with_obstacles(time), &Request::appear(scene.appearing.clone()))
            };
            let graph = OwnerGraph::new(&scene.snapshot);
            let plan = follow(&scene, &graph);
            let served = scene.once_served().map(|served| follow(&served, &OwnerGraph::new(&served.snapshot)));
            let mut apply = ApplyPlan::of(scene, &graph, plan, objects);
            if let Some(served) = served {
                apply.add_once_served(served);
            }
            Ok::<_, std::convert::Infallible>((apply, ()))
        };
        let learn = |session: &mut Session, (apply, ()): &(ApplyPlan, ())| {
            let mut needs = apply.scene.of_cluster(&apply.plan.needs);
            needs.add(&apply.scene.needs);
            Ok(session.learn(&needs))
        };
        let Ok((apply, ())) = complete(ROUNDS, session, simulate, learn);
        apply
    };
    // One order of events finds nearly all missing reads.
    played(session, plan);
    played(session, explore)
}
