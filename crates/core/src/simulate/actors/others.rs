//! What a simulation doesn't play by itself: controllers that remove finalizers of their own, and kubelets that don't
//! report. A plan's second end lets all of them do their part (R9.37).

use rustc_hash::FxHashSet;
use serde::Serialize;

use crate::{
    model::{
        Gap, ObjectId, Snapshot, Symbol,
        effects::{KnownFinalizer, When},
    },
    server::{DeleteOptions, OwnDelete},
    simulate::{
        blockers::{Blockers, unfinished_by_sweep},
        cause::Cause,
        controllers::{Controllers, FinalizerController},
        foreign_spec_finalizers,
        state::{BlockedBy, State},
        world::{Assume, World},
    },
};

use super::is_removed_by_controller_manager;

/// What others have to do, and have done.
#[derive(Clone, Debug, Default)]
pub struct Others {
    /// Objects to look at even if nothing has changed them.
    roots: Vec<ObjectId>,
    /// The length of the log when it was last looked at; `None`: not yet.
    looked_at: Option<usize>,
    /// Objects whose controllers wait for what they have deleted.
    waiting: Vec<ObjectId>,
    /// What they finished, in this order.
    pub finished: Vec<Finished>,
    /// Who they are.
    pub controllers: Controllers,
}

/// An object that others have done their part for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    pub object: ObjectId,
    /// What blocked it: finalizers, a kubelet, or entries of `spec.finalizers`.
    pub blockers: Vec<BlockedBy>,
    /// Whether these are known to do their part.
    pub state: State,
    /// What could not be read of the objects that its controller deletes with it (R9.38).
    pub unread: Vec<Gap>,
}

/// What somebody has to do for an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Act {
    pub object: ObjectId,
    pub finalizers: Vec<String>,
    /// Who, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// What was seen of them.
    pub seen: &'static str,
}

impl Finished {
    /// One act for each of those who have to act.
    pub fn acts(&self, snapshot: &Snapshot, controllers: &Controllers) -> Vec<Act> {
        let mut all: Vec<Act> = Vec::new();
        for blocker in &self.blockers {
            let finalizers = match blocker {
                BlockedBy::SpecFinalizers => foreign_spec_finalizers(snapshot, self.object),
                BlockedBy::Finalizer(_) => vec![blocker.name(snapshot)],
                _ => Vec::new(),
            };
            let finalizers = finalizers.into_iter().map(str::to_owned);
            let controller = controllers.get(self.object, *blocker);
            let by = match (blocker, controller) {
                (BlockedBy::Kubelet(_), _) => Some("kubelet".to_owned()),
                (_, controller) => controller.and_then(|controller| controller.told(snapshot)),
            };
            let seen = controller.map_or("unknown", FinalizerController::seen);
            match all.iter_mut().find(|known| known.by == by && known.seen == seen) {
                Some(known) => known.finalizers.extend(finalizers),
                None => all.push(Act { object: self.object, finalizers: finalizers.collect(), by, seen }),
            }
        }
        all
    }
}

impl Others {
    /// Others that also look at these objects.
    pub fn of(roots: Vec<ObjectId>) -> Self {
        Others { roots, ..Others::default() }
    }

    /// Lets them look at these objects, too.
    pub(crate) fn look_at(&mut self, objects: &[ObjectId]) {
        self.roots.extend(objects);
    }
}

impl World<'_, '_> {
    /// Whether others may have something to do, once nothing else is left to do.
    pub(crate) fn others_have_work(&self) -> bool {
        self.others.as_ref().is_some_and(|others| others.looked_at != Some(self.log.len()))
    }

    /// Lets others finish what is terminating because of what has happened since they last looked, and what that waits
    /// for.
    pub(crate) fn let_others_finish(&mut self) {
        let Some(mut others) = self.others.take() else { return };
        let mut open = match others.looked_at {
            Some(looked_at) => self.log[looked_at..].iter().map(|change| change.object).collect(),
            None => self.touched(),
        };
        let waited: FxHashSet<ObjectId> = others.waiting.drain(..).collect();
        open.extend(&waited);
        open.append(&mut others.roots);
        let kept = self.context.kept_by_users().iter();
        self.needs.evidence.extend(kept.flat_map(|(_, keepers)| &keepers.unread));
        open.extend(self.context.no_longer_used(|object| self.exists(object)));
        if others.looked_at.is_none() && self.collector.sweeps {
            open.extend(unfinished_by_sweep(self));
        }
        others.looked_at = Some(self.log.len());
        let blockers = Blockers::beneath(self, open);
        for object in blockers.objects() {
            let (held_by, known) = (blockers.holders(object).iter().copied(), self.known_finalizers_of(object));
            let held_by: Vec<BlockedBy> =
                held_by.filter(|holder| self.is_for_others(object, *holder, &known)).collect();
            if held_by.is_empty() {
                continue;
            }
            let mut finalizers: Vec<Symbol> = held_by.iter().filter_map(|holder| holder.finalizer()).collect();
            let mut unread = Vec::new();
            if self.delete_inventory(object, &mut finalizers, &mut unread) {
                others.waiting.push(object);
            }
            self.remove_finalizers(object, &finalizers);
            if held_by.iter().any(|holder| holder.is_kubelet()) && self.exists(object) {
                self.delete(object, &DeleteOptions { grace: Some(0), ..DeleteOptions::default() }, Cause::Kubelet);
            }
            if held_by.iter().any(|holder| matches!(holder, BlockedBy::SpecFinalizers | BlockedBy::Said)) {
                self.freed.insert(object);
                self.actors.notice(object);
            }
            if !waited.contains(&object) {
                let state = blockers.own_state(object).unwrap_or_else(|| blockers.state(object));
                others.finished.push(Finished { object, blockers: held_by, state, unread });
            }
        }
        others.controllers.add(blockers.controllers());
        self.others = Some(others);
    }

    /// Whether someone removes what blocks an object whom the simulation doesn't play. `known`: its known finalizers.
    fn is_for_others(&self, object: ObjectId, blocker: BlockedBy, known: &[&KnownFinalizer]) -> bool {
        let snapshot = self.context.snapshot;
        match blocker {
            BlockedBy::Finalizer(Symbol::FOREGROUND | Symbol::ORPHAN) => false,
            BlockedBy::Finalizer(Symbol::DEFINITION)
                if self.context.rules(object).own_delete == OwnDelete::Definition =>
            {
                false
            }
            BlockedBy::Finalizer(_) if self.context.assume == Assume::None => true,
            BlockedBy::Finalizer(finalizer) => {
                let text = snapshot.text(finalizer);
                match known.iter().find(|known| known.finalizer == text).map(|known| known.when) {
                    Some(_) if self.manager_away() && is_removed_by_controller_manager(text) => false,
                    Some(When::JobDoneWithPod) => self.is_managed_elsewhere(object, finalizer),
                    Some(When::Terminating | When::ClaimUnused | When::VolumeUnbound) => false,
                    Some(When::Unused | When::Elsewhere | When::Asked) | None => true,
                }
            }
            BlockedBy::Kubelet(_) => true,
            BlockedBy::SpecFinalizers => {
                !self.freed.contains(&object) && !foreign_spec_finalizers(snapshot, object).is_empty()
            }
            // All that is in a namespace and can be listed is deleted whatever the API server says of the rest.
            BlockedBy::Said => {
                self.context.rules(object).own_delete == OwnDelete::Definition && !self.freed.contains(&object)
            }
            BlockedBy::Unseen
            | BlockedBy::Unreadable(_)
            | BlockedBy::Webhook(..)
            | BlockedBy::Policy(_)
            | BlockedBy::Schema(_)
            | BlockedBy::Api(_) => false,
        }
    }
}
