//! Tracking a plan while it is carried out: which events were seen, and whether the plan is complete.

use gc_core::{
    graph::OwnerGraph,
    model::{Identity, ObjectEvent, ObjectId, RawObject, RawReference},
    plan::{
        Alternative, OutcomeKind, Plan, PlanTracker, explore,
        tracker::{Progress, Relation, TrackerVerdict},
    },
    server::Propagation,
    simulate::{Assume, Request, SimContext, State},
};

use crate::scene::Scene;

/// A plan in progress, and the present state of the cluster.
struct Way {
    scene: Scene,
    plan: Plan,
    course: PlanTracker,
}

impl Way {
    fn new(text: &str, targets: &str, propagation: Propagation) -> Self {
        let scene = Scene::new(text);
        let plan = {
            let graph = OwnerGraph::new(&scene.snapshot);
            let stage = SimContext::new(&scene.snapshot, &graph, Assume::Known);
            let targets = targets.split_whitespace().map(|target| scene.id(target)).collect();
            explore(&stage, &Request::delete(targets, propagation))
        };
        let course = PlanTracker::new(&scene.snapshot, &plan);
        Way { scene, plan, course }
    }

    /// An event with an object's present state.
    fn object(&self, name: &str) -> ObjectEvent {
        let (id, snapshot) = (self.scene.id(name), &self.scene.snapshot);
        ObjectEvent { resource: snapshot.object(id).resource, object: snapshot.raw(id).into_owned(), gone: false }
    }

    fn see(&mut self, seen: ObjectEvent) -> bool {
        let moved = self.scene.snapshot.is_news(&seen) && self.course.see(&self.scene.snapshot, &seen);
        self.scene.snapshot.apply_events([seen]);
        moved
    }

    /// An object is deleted.
    fn goes(&mut self, name: &str) -> bool {
        let seen = ObjectEvent { gone: true, ..self.object(name) };
        self.see(seen)
    }

    /// An object changes.
    fn changes(&mut self, name: &str, change: impl FnOnce(&mut RawObject<'static>)) -> bool {
        let mut seen = self.object(name);
        change(&mut seen.object);
        self.see(seen)
    }

    /// An object is marked for deletion and gets these finalizers.
    fn marked(&mut self, name: &str, finalizers: &[&'static str]) -> bool {
        self.changes(name, |object| {
            object.deleted = Some(1);
            object.finalizers.extend(finalizers.iter().map(|finalizer| (*finalizer).into()));
        })
    }

    fn freed(&mut self, name: &str) -> bool {
        self.changes(name, |object| object.owners.clear())
    }

    /// An object is created with an owner.
    fn created(&mut self, like: &str, name: &'static str, owner: &str) -> bool {
        let owner = self.object(owner);
        let mut seen = self.object(like);
        seen.object = RawObject {
            owners: vec![RawReference::to("v1", "ConfigMap", owner.object.name, owner.object.uid)],
            ..RawObject::named(seen.object.namespace, name, format!("new-{name}"))
        };
        self.see(seen)
    }

    /// An object reaches this end.
    fn comes_to(&mut self, id: ObjectId, end: &Alternative) {
        let snapshot = &self.scene.snapshot;
        let seen = self.object(&snapshot.short_name(id));
        let seen = match &end.after {
            None => ObjectEvent { gone: true, ..seen },
            Some(after) => {
                let text = |symbol| snapshot.text(symbol).to_owned();
                let deleted = after.terminating.then_some(1);
                let finalizers = after.finalizers.iter().map(|finalizer| text(*finalizer).into()).collect();
                let kept = |owner: &RawReference<'_>| after.owners.iter().any(|kept| text(kept.uid) == owner.uid);
                let block = |owner: &RawReference<'_>| {
                    after.owners.iter().find(|kept| text(kept.uid) == owner.uid)?.block_owner_deletion
                };
                let mut owners: Vec<RawReference<'static>> = seen.object.owners.clone();
                owners.retain(kept);
                for owner in &mut owners {
                    owner.block_owner_deletion = block(owner);
                }
                ObjectEvent { object: RawObject { deleted, finalizers, owners, ..seen.object }, ..seen }
            }
        };
        // Don't update the snapshot: the ids in all ends are those of the plan.
        if self.scene.snapshot.is_news(&seen) {
            self.course.see(&self.scene.snapshot, &seen);
        }
    }

    fn judged(&self) -> TrackerVerdict {
        let graph = OwnerGraph::new(&self.scene.snapshot);
        self.course.judge(&SimContext::new(&self.scene.snapshot, &graph, Assume::Known))
    }

    /// The outcomes that differ from the plan: `ConfigMap/a Deleted Orphaned`.
    fn otherwise(&self) -> Vec<String> {
        let otherwise = self.course.otherwise();
        let predicted = |kinds: &[OutcomeKind]| kinds.iter().map(|kind| kind.name()).collect::<Vec<_>>().join("/");
        otherwise
            .iter()
            .map(|one| format!("{} {} {}", one.object.short_name(), predicted(&one.predicted), one.actual.name()))
            .collect()
    }
}

/// Whether the plan is complete, and whether more will happen.
fn state(judgement: &TrackerVerdict) -> (bool, bool) {
    (judgement.arrived, judgement.more)
}

const BACKGROUND: &str = "ConfigMap owner\nConfigMap a <- ConfigMap/owner\nConfigMap b <- ConfigMap/a\nConfigMap other";

#[test]
fn it_is_over_when_everything_is_where_it_was_to_be() {
    let mut way = Way::new(BACKGROUND, "ConfigMap/owner", Propagation::Background);
    assert_eq!(state(&way.judged()), (false, false), "nothing has been deleted yet");
    assert_eq!(way.course.progress(), Progress { all: 3, to_go: 3, ..Progress::default() });
    assert!(way.goes("ConfigMap/owner"));
    assert_eq!(state(&way.judged()), (false, true), "the collector has yet to see it");
    assert!(way.goes("ConfigMap/a"));
    assert_eq!(state(&way.judged()), (false, true));
    assert_eq!(way.otherwise(), ["ConfigMap/b Deleted Unchanged"]);
    assert!(way.goes("ConfigMap/b"));
    assert_eq!(state(&way.judged()), (true, false));
    assert_eq!(way.course.progress(), Progress { all: 3, arrived: 3, to_go: 3, gone: 3, ..Progress::default() });
    assert_eq!(way.otherwise(), [] as [&str; 0]);
}

#[test]
fn what_has_gone_does_not_come_back() {
    let mut way = Way::new(BACKGROUND, "ConfigMap/owner", Propagation::Background);
    let late = way.object("ConfigMap/owner");
    way.goes("ConfigMap/owner");
    assert!(way.course.is_gone(&late.object.uid) && !way.course.is_gone("who?"));
    assert!(!way.course.see(&way.scene.snapshot, &late));
    assert_eq!(way.course.progress().gone, 1);
}

#[test]
fn what_is_freed_is_where_it_was_to_be() {
    let text = "ConfigMap owner\nConfigMap a <- ConfigMap/owner\nConfigMap b <- ConfigMap/owner";
    let mut way = Way::new(text, "ConfigMap/owner", Propagation::Orphan);
    way.marked("ConfigMap/owner", &["orphan"]);
    way.freed("ConfigMap/a");
    assert_eq!(
        way.course.progress(),
        Progress { all: 3, arrived: 1, to_go: 1, terminating: 1, changed: 1, ..Progress::default() }
    );
    assert_eq!(state(&way.judged()), (false, true));
    way.freed("ConfigMap/b");
    way.goes("ConfigMap/owner");
    assert_eq!(state(&way.judged()), (true, false));
}

/// A finalizer that the plan expects to block: the plan is complete although objects remain.
#[test]
fn what_was_to_be_left_may_be() {
    let text = "ConfigMap owner\nConfigMap held fin=acme.io/x <- ConfigMap/owner!";
    let mut way = Way::new(text, "ConfigMap/owner", Propagation::Foreground);
    way.marked("ConfigMap/owner", &["foregroundDeletion"]);
    assert_eq!(state(&way.judged()), (false, true));
    way.marked("ConfigMap/held", &[]);
    let judged = way.judged();
    assert_eq!((state(&judged), judged.left, judged.worst()), ((true, false), 2, Some(State::Stuck)));
    let [blocker] = judged.blockers.as_slice() else { panic!("{:#?}", judged.blockers) };
    assert_eq!((blocker.object.short_name().as_str(), blocker.holds_up), ("ConfigMap/held", 1));
    assert_eq!(blocker.held_by, ["acme.io/x"]);
    // R9.37: another component removes the finalizer, and what follows as the plan says is waited for.
    way.goes("ConfigMap/held");
    assert_eq!(state(&way.judged()), (false, true));
    way.goes("ConfigMap/owner");
    assert_eq!(state(&way.judged()), (true, false));
    assert_eq!(way.otherwise(), [""; 0]);
}

/// The plan didn't know the finalizer.
#[test]
fn what_gets_stuck_is_seen() {
    let text = "ConfigMap owner\nConfigMap middle <- ConfigMap/owner!\nConfigMap low <- ConfigMap/middle!";
    let mut way = Way::new(text, "ConfigMap/owner", Propagation::Foreground);
    for name in ["ConfigMap/owner", "ConfigMap/middle"] {
        way.marked(name, &["foregroundDeletion"]);
    }
    way.marked("ConfigMap/low", &["acme.io/x"]);
    let judged = way.judged();
    assert_eq!((state(&judged), judged.left, judged.worst()), ((false, false), 3, Some(State::Stuck)));
    assert_eq!(judged.blockers.len(), 1);
    assert_eq!((judged.blockers[0].object.short_name().as_str(), judged.blockers[0].holds_up), ("ConfigMap/low", 2));
}

/// An object that isn't part of the plan may block it.
#[test]
fn what_holds_from_outside_is_named() {
    let text = "ConfigMap owner\nConfigMap a <- ConfigMap/owner!\nConfigMap stranger fin=acme.io/x";
    let mut way = Way::new(text, "ConfigMap/owner", Propagation::Foreground);
    way.marked("ConfigMap/owner", &["foregroundDeletion"]);
    way.goes("ConfigMap/a");
    let owner = way.object("ConfigMap/owner").object;
    way.changes("ConfigMap/stranger", |object| {
        object.deleted = Some(1);
        object.owners.push(RawReference {
            block_owner_deletion: Some(true),
            ..RawReference::to("v1", "ConfigMap", owner.name, owner.uid)
        });
    });
    let judged = way.judged();
    assert_eq!((state(&judged), judged.left), ((false, false), 2));
    assert_eq!(judged.blockers.iter().map(|one| one.object.short_name()).collect::<Vec<_>>(), ["ConfigMap/stranger"]);
    let outside: Vec<(String, bool, bool)> =
        way.course.outside().map(|one| (one.object.short_name(), one.new, one.terminating)).collect();
    assert_eq!(outside, [("ConfigMap/stranger".to_owned(), false, true)]);
}

/// An object that was stuck before isn't part of the plan, but still blocks.
#[test]
fn what_was_stuck_before_is_named() {
    let text = "ConfigMap owner\nConfigMap a <- ConfigMap/owner!\nConfigMap stuck T fin=acme.io/x <- ConfigMap/owner!";
    let mut way = Way::new(text, "ConfigMap/owner", Propagation::Foreground);
    assert!(way.plan.outcomes.iter().all(|outcome| way.scene.snapshot.short_name(outcome.object) != "ConfigMap/stuck"));
    way.marked("ConfigMap/owner", &["foregroundDeletion"]);
    way.goes("ConfigMap/a");
    let judged = way.judged();
    assert_eq!((state(&judged), judged.left, judged.worst()), ((true, false), 1, Some(State::Stuck)));
    assert_eq!(judged.blockers.iter().map(|one| one.object.short_name()).collect::<Vec<_>>(), ["ConfigMap/stuck"]);
}

/// R9.37: others have done their part, and the collector is late. What the plan says to follow is still to come.
#[test]
fn what_follows_the_part_of_others_is_waited_for() {
    let text = "Shop owner fin=acme.io/x\nShop other fin=acme.io/x\nConfigMap a fin=acme.io/y <- Shop/owner";
    let mut way = Way::new(text, "Shop/owner Shop/other", Propagation::Background);
    for name in ["Shop/owner", "Shop/other"] {
        way.marked(name, &[]);
    }
    assert_eq!(state(&way.judged()), (true, false), "the first end");
    way.goes("Shop/owner");
    assert_eq!(state(&way.judged()), (false, true), "the collector has yet to see it");
    way.marked("ConfigMap/a", &[]);
    assert_eq!(state(&way.judged()), (true, false), "somebody has to act again");
    way.goes("ConfigMap/a");
    assert_eq!((state(&way.judged()), way.course.goes_on()), ((true, false), true), "the other one is left");
    way.goes("Shop/other");
    assert_eq!((state(&way.judged()), way.course.goes_on()), ((true, false), false));
}

#[test]
fn pods_in_their_grace_are_waited_for() {
    let text = "Node n1\nReplicaSet rs\nPod p node=n1 <- ReplicaSet/rs!";
    let mut way = Way::new(text, "ReplicaSet/rs", Propagation::Foreground);
    way.marked("ReplicaSet/rs", &["foregroundDeletion"]);
    way.changes("Pod/p", |object| (object.deleted, object.grace) = (Some(31), Some(30)));
    let judged = way.judged();
    assert_eq!((state(&judged), judged.worst()), ((false, true), Some(State::Waiting)), "{:?}", judged.blockers);
    assert_eq!(judged.blockers[0].held_by, ["kubelet"]);
    assert!(judged.needs.is_empty(), "what is known of the pod has not been forgotten");
}

/// Objects created after the plan are deleted, too; the tracker waits for them and marks them as new.
#[test]
fn what_goes_besides_is_told() {
    let text = "ConfigMap owner\nConfigMap a <- ConfigMap/owner\nConfigMap there\nConfigMap far\nConfigMap leaving T \
        fin=acme.io/x";
    let mut way = Way::new(text, "ConfigMap/owner", Propagation::Background);
    assert!(way.created("ConfigMap/a", "new", "ConfigMap/owner"));
    assert!(way.created("ConfigMap/a", "below", "ConfigMap/new"));
    assert!(!way.created("ConfigMap/a", "apart", "ConfigMap/far"));
    way.goes("ConfigMap/owner");
    way.goes("ConfigMap/a");
    assert!(way.course.arrived() && way.judged().more_outside);
    for name in ["ConfigMap/new", "ConfigMap/below"] {
        assert!(way.goes(name));
    }
    assert_eq!(state(&way.judged()), (true, false));
    // These are unrelated to the plan.
    for name in ["ConfigMap/apart", "ConfigMap/far", "ConfigMap/leaving"] {
        assert!(!way.goes(name));
    }
    let describe = |because: &Relation| match because {
        Relation::Owner(Identity { name, .. }) => name.clone(),
        other => format!("{other:?}"),
    };
    let outside: Vec<_> =
        way.course.outside().map(|one| (one.object.name.clone(), one.new, one.gone, describe(&one.because))).collect();
    assert_eq!(outside, [("new".into(), true, true, "owner".into()), ("below".into(), true, true, "new".into())]);
    assert_eq!(way.course.unrelated(), 2, "what was leaving before is nobody's surprise");
}

#[test]
fn what_is_in_a_namespace_that_goes_has_to_do_with_it() {
    let mut way = Way::new("Namespace ns\nConfigMap a", "Namespace/ns", Propagation::Background);
    way.marked("Namespace/ns", &[]);
    way.created("ConfigMap/a", "late", "ConfigMap/a");
    let outside: Vec<&Relation> = way.course.outside().map(|one| &one.because).collect();
    assert!(matches!(outside[..], [Relation::Owner(_)]), "{outside:?}");
    let mut stranger = way.object("ConfigMap/a");
    (stranger.object.name, stranger.object.uid) = ("alone".into(), "alone".into());
    way.see(stranger);
    assert!(way.course.outside().any(|one| one.object.name == "alone" && one.because == Relation::Namespace));
}

/// Joint ends of several objects are compared jointly, not object by object.
#[test]
fn what_hangs_together_is_compared_together() {
    // R5.11: the collector may remember that c was foreground-deleted before.
    let text = "Shop a\nConfigMap b <- Shop/a!\nSecret c T=0 fin=acme.io/x <- ConfigMap/b!";
    let new = || Way::new(text, "Shop/a", Propagation::Foreground);
    let way = new();
    let [ends] = way.plan.ends.as_slice() else { panic!("one group: {:#?}", way.plan.ends) };
    assert!(ends.len() > 1, "{ends:#?}");
    for end in ends {
        let mut way = new();
        end.iter().for_each(|(id, end)| way.comes_to(*id, end));
        assert!(way.course.arrived(), "{end:#?}: {:?}", way.otherwise());
    }
    // Each object alone may match some end, while no end has both states.
    let mut apart = 0;
    for [first, second] in ends.iter().flat_map(|first| ends.iter().map(move |second| [first, second])) {
        let mut way = new();
        let mixed = [first[0].clone(), second[1].clone()];
        let predicted = ends.iter().any(|end| end[0].1.after == mixed[0].1.after && end[1].1.after == mixed[1].1.after);
        mixed.iter().for_each(|(id, end)| way.comes_to(*id, end));
        assert_eq!(way.course.arrived(), predicted);
        let otherwise = way.course.otherwise();
        assert_eq!(otherwise.len(), if predicted { 0 } else { 2 }, "{otherwise:#?}");
        assert!(otherwise.iter().all(|one| one.together));
        apart += usize::from(!predicted);
    }
    assert!(apart > 0);
}

/// R9.24: of alike pods, any may go; a new ReplicaSet may adopt them first, and then none does. Nothing is unexpected
/// about an object of which the plan says that nobody knows what becomes of it.
#[test]
fn who_adopts_first_is_not_known() {
    let text = |facts: &str| {
        let set = "Pod web-a <- ReplicaSet/many+!\nPod web-b <- ReplicaSet/many+!\nfacts ReplicaSet/few 1 web";
        let few = "ReplicaSet few\nPod own <- ReplicaSet/few+!\nDeployment web\nReplicaSet many <- Deployment/web+!";
        format!("Node n1\n{few}\nJob other\n{set}\nfacts {facts}")
    };
    let (raced, several) = ("Pod/own n1 Running", "Job/other - web");
    for (facts, gone) in [
        (raced, "Pod/web-a Pod/web-b"),
        (raced, "Pod/own"),
        (raced, ""),
        (several, "Pod/web-a"),
        (several, "Pod/own"),
        (several, ""),
    ] {
        let mut way = Way::new(&text(facts), "ReplicaSet/many", Propagation::Orphan);
        for pod in gone.split_whitespace() {
            assert!(way.goes(pod));
        }
        for pod in ["Pod/web-a", "Pod/web-b"].iter().filter(|pod| !gone.contains(**pod)) {
            assert!(way.freed(pod));
        }
        assert!(way.goes("ReplicaSet/many"));
        assert_eq!(way.otherwise().join(", "), "", "{facts}: {gone}");
        assert!(way.course.arrived(), "{facts}: {gone}");
    }
    // Without a Deployment nobody else adopts them.
    let alone = text(raced).replace(" <- Deployment/web+!", "");
    let mut way = Way::new(&alone, "ReplicaSet/many", Propagation::Orphan);
    assert!(way.freed("Pod/web-a") && way.goes("Pod/web-b") && way.goes("ReplicaSet/many"));
    assert_eq!(way.otherwise(), ["Pod/web-a Deleted Orphaned"]);
}
