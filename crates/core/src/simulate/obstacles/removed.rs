//! What goes once a delete removes the obstacle that prevented it: whoever was refused tries again (R9.42).

use crate::{
    model::ObjectId,
    server::Stored,
    simulate::{state::BlockedBy, world::World},
};

/// The groups of webhook configurations, policies and their bindings, and of APIServices.
const GROUPS: [&str; 2] = ["admissionregistration.k8s.io", "apiregistration.k8s.io"];

impl World<'_, '_> {
    /// An object is gone: perhaps it prevented something.
    pub(crate) fn note_lost_obstacle(&mut self, object: ObjectId) {
        let snapshot = self.context.snapshot;
        let group = &snapshot.resource(object).group;
        if self.tries_again && self.context.obstacles.is_some() && GROUPS.contains(&group.as_str()) {
            self.lost_obstacles.push(object);
        }
    }

    /// Lets the collector, the namespace controller and all others try again what the lost obstacles prevented.
    pub(crate) fn try_again(&mut self) {
        let context = self.context;
        let lost = std::mem::take(&mut self.lost_obstacles);
        let Some(obstacles) = &context.obstacles else { return };
        let of_binding = obstacles.admission.policies.iter().filter(|bound| lost.contains(&bound.binding));
        let unbound: Vec<ObjectId> = of_binding.map(|bound| bound.policy).collect();
        let present = context.present();
        let kept = present.kept_by(|by| match by {
            BlockedBy::Webhook(object, _) | BlockedBy::Api(object) | BlockedBy::Guard(object, _) => {
                lost.contains(&object)
            }
            BlockedBy::Policy(policy) => lost.contains(&policy) || unbound.contains(&policy),
            _ => false,
        });
        let kept = [kept, self.undiscovered_because_of(&lost)].concat();
        for object in kept.iter().copied().filter(|object| self.exists(*object)).collect::<Vec<ObjectId>>() {
            let owners = context.snapshot.object(object).owners.iter();
            let owners = owners.filter_map(|owner| context.snapshot.by_uid(owner.uid));
            let above: Vec<ObjectId> = context.above(object).chain(owners).collect();
            self.collector.to_delete.add(object.into());
            for object in above.into_iter().chain([object]) {
                let Some(stored) = self.stored(object).filter(|stored| stored.terminating) else { continue };
                self.queue_unfinished(object, &stored);
                self.tried_again.insert(object);
            }
            self.actors.notice(object);
        }
        if let Some(others) = &mut self.others {
            others.look_at(&kept);
        }
    }

    /// The Terminating Namespaces whose conditions say nothing else than that these APIs can't be discovered.
    fn undiscovered_because_of(&self, lost: &[ObjectId]) -> Vec<ObjectId> {
        let (context, snapshot) = (self.context, self.context.snapshot);
        let is_lost = |(group, version): (&str, &str)| {
            let name = format!("{version}.{group}");
            lost.iter().any(|service| snapshot.name(*service) == name)
        };
        let namespaces = context.built_in.namespaces.map_or(&[][..], |kind| context.of_resource(kind)).iter().copied();
        let waits = |namespace: &ObjectId| {
            let said = snapshot.facts.said_to_keep(*namespace);
            !said.is_empty()
                && said.iter().all(|condition| {
                    let all = condition.undiscovered();
                    !all.is_empty() && all.into_iter().all(is_lost)
                })
        };
        namespaces.filter(waits).collect()
    }

    /// Queues what is left to do for an object that is Terminating.
    pub(crate) fn queue_unfinished(&mut self, object: ObjectId, stored: &Stored<'_>) {
        self.actors.notice(object);
        if stored.waiting() {
            self.collector.to_delete.add(object.into());
        }
        if stored.orphaning() {
            self.collector.to_orphan.add(object.into());
        }
    }
}
