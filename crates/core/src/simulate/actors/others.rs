//! What a simulation doesn't play by itself: controllers that remove finalizers of their own, and kubelets that don't
//! report. A plan's second end lets all of them do their part (R9.37).

use rustc_hash::FxHashSet;

use crate::{
    model::{
        ObjectId, Symbol,
        effects::{KnownFinalizer, When},
    },
    server::{DeleteOptions, OwnDelete},
    simulate::{
        blockers::unfinished_by_sweep, cause::Cause, context::Assume, foreign_spec_finalizers,
        is_removed_by_controller_manager, projection::Blockers, state::BlockedBy, world::World,
    },
};

use super::Finished;

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
        self.context.lacks(|needs| needs.evidence.extend(kept.flat_map(|(_, keepers)| &keepers.unread)));
        open.extend(self.context.no_longer_used(|keepers, user| self.keeps(keepers, user)));
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
            | BlockedBy::Guard(..)
            | BlockedBy::Schema(_)
            | BlockedBy::Api(_) => false,
        }
    }
}
