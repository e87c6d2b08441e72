//! What a session does to a cluster: it deletes, and follows what comes of it.

use std::{
    future,
    sync::{Arc, OnceLock},
    time::Duration,
};

use tokio::sync::watch;

use crate::{
    act::{
        Deletion, DetachedObject, FollowEvent, Followed, Following, KeepError, Released, Sent, Settings, Sweeper, cut,
        delete, follow, put_back, release,
    },
    cluster::LostWatch,
    collector::live::KindId,
    model::{Identity, ObjectEvent, ObjectId, ResourceId},
    plan::{Plan, PlanTracker},
    simulate::{Assume, Cut},
};

use super::Session;

/// How long what is on its way is waited for: on a healthy line events take milliseconds.
const ON_ITS_WAY: Duration = Duration::from_millis(100);

/// How long nothing may move before what nobody is known to finish is called stuck: operators take their time.
const PATIENCE: Duration = Duration::from_secs(20);
/// And at most so long where there is a time-out, half of which is waited.
const LONGEST_PATIENCE: Duration = Duration::from_secs(60);

/// How often it is looked whether a sweep goes on in vain, and for how long that has to be so.
const BETWEEN_LOOKS: Duration = Duration::from_millis(500);
const IN_VAIN: Duration = Duration::from_secs(10);
/// How long the work of a sweep that is under way may take to come to its end.
const TO_STOP: Duration = Duration::from_secs(15);

/// Whether somebody has pressed Ctrl-C. None before anybody wants to know: then it ends the process, as ever.
static INTERRUPTED: OnceLock<watch::Receiver<bool>> = OnceLock::new();

impl Session {
    /// From now on Ctrl-C calls off what is under way, in good order, instead of ending the process: something is about
    /// to be done that must not be left half-done without a word. Pressed again, it ends the process.
    pub fn hear_interrupts(&self) {
        let Some(live) = &self.live else { return };
        INTERRUPTED.get_or_init(|| {
            let (heard, receiver) = watch::channel(false);
            live.runtime.spawn(async move {
                while tokio::signal::ctrl_c().await.is_ok() {
                    if heard.send_replace(true) {
                        std::process::exit(130);
                    }
                }
                // Interrupts can't be heard of: nobody is to wait for one.
                heard.closed().await;
            });
            receiver
        });
    }

    /// Whether somebody has pressed Ctrl-C.
    pub fn was_interrupted(&self) -> bool {
        INTERRUPTED.get().is_some_and(|heard| *heard.borrow())
    }

    /// Begins to watch everything that was listed, from where the lists ended: nothing is listed again. Does nothing
    /// where there is no cluster, or it is watched already.
    pub fn watch(&mut self) {
        if let (Some(live), None) = (&self.live, &self.watches) {
            let _runtime = live.runtime.enter();
            self.watches = Some(live.connection.watch(&self.snapshot));
        }
    }

    /// Takes into the snapshot what watches have told so far. Says whether anything that is kept has changed: **ids may
    /// change then**, and whatever was built on the snapshot is to be built anew.
    ///
    /// What happened just now may not have been told yet; [`Session::recheck`] is sure of the objects that it is given.
    /// What was not told at all is in [`Session::lost`].
    pub fn catch_up(&mut self) -> bool {
        let (Some(live), Some(watches)) = (&self.live, &self.watches) else { return false };
        live.runtime.block_on(async { tokio::time::sleep(ON_ITS_WAY).await });
        self.snapshot.apply_events(watches.seen())
    }

    /// Where something may have happened since [`Session::watch`] that was not told, so that the snapshot may be old.
    pub fn lost(&self) -> Vec<LostWatch> {
        self.watches.as_ref().map(crate::cluster::Watches::lost).unwrap_or_default()
    }

    /// Cuts what is to be kept loose from what dies ([`cut`]), where there is a cluster.
    ///
    /// # Errors
    /// What can't be kept; all references are as they were then, or it is said which are not.
    pub fn cut(&self, cuts: &[Cut]) -> Result<Vec<DetachedObject>, KeepError> {
        let Some(live) = &self.live else { return Ok(Vec::new()) };
        live.runtime.block_on(cut(&live.connection, &self.snapshot, cuts))
    }

    /// Puts references back, where nothing is deleted after all ([`put_back`]).
    pub fn put_back(&self, detached: &[DetachedObject]) -> Vec<(String, String)> {
        let Some(live) = &self.live else { return Vec::new() };
        live.runtime.block_on(put_back(&live.connection, &self.snapshot, detached))
    }

    /// Takes away the guards of what was cut loose ([`release`]), once that is safe; none where somebody interrupted
    /// it, or that took longer.
    ///
    /// # Errors
    /// The first object that could not be released.
    pub fn release(
        &self,
        plan: &Plan,
        detached: &[DetachedObject],
        patience: Duration,
    ) -> Result<Option<Vec<(ObjectId, Released)>>, KeepError> {
        let Some(live) = &self.live else { return Ok(None) };
        live.runtime.block_on(async {
            tokio::select! {
                released = release(&live.connection, &self.snapshot, plan, detached, patience) => released.map(Some),
                () = interrupted() => Ok(None),
            }
        })
    }

    /// Deletes these objects one after the other ([`delete`]), where there is a cluster. An interrupt stops it after
    /// the one that is under way.
    pub fn delete(&mut self, targets: &[ObjectId], deletion: &Deletion, observer: &mut dyn FnMut(&Sent)) -> Vec<Sent> {
        let Some(live) = &self.live else { return Vec::new() };
        live.runtime.block_on(delete(&live.connection, &self.snapshot, targets, deletion, interrupted(), observer))
    }

    /// Follows a plan to its end ([`follow`]), for so long at most; none where nothing is watched. An interrupt calls
    /// it off.
    ///
    /// The plan was made on the snapshot as it is now: between [`Session::catch_up`] and this, it must not change.
    pub fn follow(
        &mut self,
        course: PlanTracker,
        sent: &[Sent],
        assume: Assume,
        timeout: Option<Duration>,
        observer: &mut dyn FnMut(FollowEvent),
    ) -> Option<Followed> {
        let (Some(live), Some(watches)) = (&self.live, &self.watches) else { return None };
        let following =
            Following { connection: &live.connection, watches, assume, timeout, patience: patience(timeout) };
        Some(live.runtime.block_on(follow(following, &mut self.snapshot, course, sent, interrupted(), observer)))
    }
}

/// What came of a sweep.
pub struct SweepResult {
    pub followed: Followed,
    /// What was tried in vain to its end, and why.
    pub failing: Vec<(Identity, String)>,
}

/// How to sweep.
pub struct SweepSettings {
    pub settings: Settings,
    /// Requests a second, and how many at once after a pause.
    pub rate: (f64, u32),
    pub assume: Assume,
    pub timeout: Option<Duration>,
}

impl Session {
    /// Does the collector's work from the state that the plan was made on, and follows what comes of it until nothing
    /// is left to do, or nothing that is left can be done; none where nothing is watched. An interrupt calls it off.
    ///
    /// Between [`Session::catch_up`] and this, the snapshot must not change.
    pub fn sweep(
        &mut self,
        course: PlanTracker,
        sweeping: SweepSettings,
        observer: &mut dyn FnMut(FollowEvent),
    ) -> Option<SweepResult> {
        let (Some(live), Some(watches)) = (&self.live, &self.watches) else { return None };
        let SweepSettings { settings, rate: (qps, burst), assume, timeout } = sweeping;
        let patience = patience(timeout);
        let connection = live.connection.clone().with_limits(qps, burst);
        let snapshot = &mut self.snapshot;
        Some(live.runtime.block_on(async {
            let sweeper = Arc::new(Sweeper::new(connection, settings, Arc::new(())));
            sweeper.serve(snapshot.resources.clone(), &snapshot.gaps);
            let kinds: Vec<KindId> = snapshot.resources.iter().map(|(_, resource)| sweeper.kind(resource)).collect();
            let watched = |id: ResourceId| snapshot.resources.not_watched(id).is_none();
            sweeper.tell(|graph| {
                for (id, object) in snapshot.objects().filter(|(_, object)| watched(object.resource)) {
                    graph.see(kinds[object.resource.index()], &snapshot.raw(id));
                }
            });
            let mut seen = watches.tap();
            let listening = tokio::spawn({
                let sweeper = sweeper.clone();
                async move {
                    while let Some(ObjectEvent { resource, object, gone }) = seen.recv().await {
                        sweeper.tell(|graph| {
                            if gone { graph.gone(&object.uid) } else { graph.see(kinds[resource.index()], &object) }
                        });
                    }
                }
            });
            sweeper.begin();
            let following = Following { connection: &live.connection, watches, assume, timeout, patience };
            let in_vain = in_vain(&sweeper);
            let ends = async {
                tokio::select! {
                    () = interrupted() => {}
                    () = in_vain => {}
                }
            };
            let followed = follow(following, snapshot, course, &[], ends, observer).await;
            listening.abort();
            let failing = sweeper.standing().failing;
            // Whoever waits for a server that doesn't answer isn't waited for.
            drop(tokio::time::timeout(TO_STOP, sweeper.stop()).await);
            SweepResult { followed, failing }
        }))
    }
}

/// Done when nothing has got on for some time but what is tried again and again in vain.
async fn in_vain(sweeper: &Sweeper) {
    loop {
        tokio::time::sleep(BETWEEN_LOOKS).await;
        let standing = sweeper.standing();
        if !standing.failing.is_empty() && standing.idle && standing.quiet >= IN_VAIN {
            return;
        }
    }
}

/// How long nothing may move before what nobody is known to finish is called stuck.
fn patience(timeout: Option<Duration>) -> Duration {
    timeout.map_or(PATIENCE, |timeout| (timeout / 2).clamp(PATIENCE, LONGEST_PATIENCE))
}

/// Done when somebody has pressed Ctrl-C since [`Session::hear_interrupts`]; from the second time on, the process ends
/// at once.
async fn interrupted() {
    match INTERRUPTED.get() {
        // Who is heard once is heard until the end.
        Some(heard) => drop(heard.clone().wait_for(|heard| *heard).await),
        None => future::pending::<()>().await,
    }
}
