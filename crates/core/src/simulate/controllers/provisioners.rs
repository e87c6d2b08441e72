//! Who deletes a volume whose claim is gone, and whether that is seen to run (R9.35).

use std::sync::Arc;

use crate::model::{ObjectId, Symbol};

use super::{
    super::{context::SimContext, state::Liveness},
    controller::FinalizerController,
    driver::{Driver, PROVISIONER},
    judged_as,
};

/// The judgement on the provisioner of a volume, which needs no finalizer for that.
fn judged_by(context: &SimContext<'_>, driver: &Driver, volume: ObjectId) -> Arc<FinalizerController> {
    let snapshot = context.snapshot;
    let volumes = context.of_resource(snapshot.object(volume).resource);
    let sample = volumes.first().copied().unwrap_or(volume);
    let finalizer = (snapshot.strings.find(PROVISIONER).unwrap_or(Symbol::EMPTY), PROVISIONER);
    judged_as(context, Some(driver.clone()), sample, volume, finalizer)
}

/// The provisioner of a volume, whatever finalizers that has.
pub(crate) fn provisioner_of(context: &SimContext<'_>, volume: ObjectId) -> Option<Arc<FinalizerController>> {
    let driver = Driver::of_volume(context.snapshot.facts.volume(volume)?)?;
    Some(judged_by(context, &driver, volume))
}

/// The provisioner of a volume, which deletes it once its claim is gone, if it is not seen to run:
/// it is known not to, or all that could show it was read and shows nothing.
pub(crate) fn unseen_provisioner(context: &SimContext<'_>, volume: ObjectId) -> Option<Arc<FinalizerController>> {
    let snapshot = context.snapshot;
    let driver = Driver::of_volume(snapshot.facts.volume(volume)?)?;
    let controller = judged_by(context, &driver, volume);
    let told = || Liveness::Unknown(format!("its provisioner must run: {}", controller.liveness.evidence()));
    (controller.is_away() || !driver.is_installed(snapshot) && controller.is_unseen(context))
        .then(|| Arc::new(FinalizerController { liveness: told(), ..(*controller).clone() }))
}

/// Whether the provisioner that should remove its finalizer from a volume is known not to run, or nothing shows it.
pub(crate) fn lacks_provisioner(context: &SimContext<'_>, volume: ObjectId, finalizer: Symbol) -> bool {
    let snapshot = context.snapshot;
    let facts = snapshot.facts.volume(volume).filter(|_| snapshot.text(finalizer) == PROVISIONER);
    facts.and_then(Driver::of_volume).is_some_and(|driver| {
        let controller = judged_by(context, &driver, volume);
        controller.is_away() || controller.shows_nothing() && !driver.is_installed(snapshot)
    })
}
