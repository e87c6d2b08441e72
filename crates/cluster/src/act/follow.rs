//! Follows a plan that is being carried out, until the cascade is over.
//!
//! The collector doesn't announce the end of a cascade. So once nothing has moved for a moment, all next steps are
//! simulated from the current state, as a plan simulates them ([`PlanTracker::judge`]). If that changes nothing that
//! was touched, the cascade is over, as predicted or otherwise.

use std::{
    collections::HashMap,
    pin::pin,
    time::{Duration, Instant},
};

use tokio::time::sleep_until;

use crate::cluster::{Connection, LostWatch, WatchUpdates, Watches, clock};
use gc_core::{
    account::Missing,
    graph::OwnerGraph,
    model::{Gap, ObjectEvent, Snapshot},
    plan::{
        OutcomeKind, PlanTracker,
        tracker::{Blocker, ManagerAway, Progress, TrackerVerdict, UnexpectedOutcome, UnplannedObject},
    },
    simulate::{Assume, SimContext, State},
};

use super::{
    delete::Sent,
    look::{Polled, Poller, fetch},
};

/// The state is judged once nothing of the plan has moved for this long. Events of different resources overtake each
/// other by less.
const QUIET: Duration = Duration::from_millis(500);
/// While nothing moves, the pauses between judgements double up to this.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// Who renewed a Lease that was read this long ago may be away.
const LEASES_LAST: Duration = Duration::from_secs(20);
/// How long nothing may move before an outcome that differs from the prediction is final.
const OTHERWISE: Duration = Duration::from_secs(2);
/// The same if everything is as predicted, but the simulation still expects more, which doesn't come: the plan knows
/// better what the collector has seen.
const PATIENCE: Duration = Duration::from_secs(15);
/// How long nothing may move although it is the collector's turn. A collector that runs acts within moments, unless its
/// writes fail or it has very much else to do.
const COLLECTOR_IDLE: Duration = Duration::from_mins(1);
/// How long controllers may take to delete what belongs to an object that is gone: the pod garbage collector looks
/// every 20 seconds for pods of Nodes that have been missing for 40.
const FOLLOW_UPS: Duration = Duration::from_mins(2);
/// After how long without movement a waiting event is sent, and sent again.
const WAITING: Duration = Duration::from_secs(10);
/// After how long without movement the watches have to show that they work, the first time; then each time twice as
/// long.
const DOUBT: Duration = Duration::from_secs(10);
/// The least time between two progress events.
const BETWEEN_TOLD: Duration = Duration::from_millis(100);
/// Events that arrive within this time are applied together: if any object is gone, applying them costs time
/// proportional to the snapshot's size.
const TOGETHER: Duration = Duration::from_millis(100);
/// How often a judgement may ask for more reads, because what it reads may call for further reads.
const ROUNDS: usize = 8;

/// An event for the caller.
#[derive(Clone, Debug)]
pub enum FollowEvent {
    /// Something moved.
    Progress(Progress),
    /// Nothing has moved for a while.
    Waiting {
        progress: Progress,
        /// For how long.
        quiet: Duration,
        /// What blocks the objects that are still there, as far as it is known.
        blockers: Vec<Blocker>,
    },
    /// A watch ended or missed events. Objects that matter are read one by one.
    LostWatch {
        /// `pods`, `deployments.apps`.
        resource: String,
        lost: LostWatch,
    },
    /// Resources, and why they are listed again and again: their watches fail. Nothing is missed.
    Polled(Vec<Missing>),
}

/// How following ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ended {
    /// Every object ended as predicted. Only what was meant to stay is left.
    AsPlanned,
    /// It ended differently, and nothing more happens; nothing is stuck.
    Otherwise,
    /// It ended differently, and something is left that no known controller will finish: [`Followed::blockers`].
    Stuck,
    /// The timeout passed before it was over.
    TimedOut,
    /// The user called it off before it was over. What was deleted stays deleted, and the collector goes on.
    CalledOff,
}

/// The result of following a plan.
#[derive(Clone, Debug)]
pub struct Followed {
    pub ended: Ended,
    pub progress: Progress,
    /// Objects that did not end as predicted; if it is not over, that have not yet.
    pub otherwise: Vec<UnexpectedOutcome>,
    /// What came of each object of the plan, by its uid.
    pub ends: HashMap<String, OutcomeKind>,
    /// How many terminating objects are left.
    pub left: usize,
    /// What blocks them.
    pub blockers: Vec<Blocker>,
    /// Whether it is [`Ended::Stuck`] because the collector should act, and didn't for this time.
    pub collector_idle: Option<Duration>,
    /// Why no controller manager is known to run, if it waits for that.
    pub manager_away: Option<ManagerAway>,
    /// Objects that were deleted although the plan didn't contain them.
    pub outside: Vec<UnplannedObject>,
    /// How many unrelated objects were deleted meanwhile.
    pub unrelated: usize,
    /// Watches that missed something.
    pub lost: Vec<LostWatch>,
}

/// How to follow.
#[derive(Clone, Copy)]
pub struct Following<'c> {
    pub connection: &'c Connection,
    /// Started before the plan was made.
    pub watches: &'c Watches,
    /// What is assumed of other controllers, as in the plan.
    pub assume: Assume,
    /// Whether a sweep does the collector's work. Its own failures say what refuses its writes.
    pub swept: bool,
    /// How long nothing may move before it is over although something is left that no known controller will finish: an
    /// unknown controller may be about to.
    pub patience: Duration,
}

/// Follows a plan to its end. `snapshot` is the one that the plan was made on, without later events; events are applied
/// to it from now on, so **its ids change**. `sent` are the results of the targets' DELETEs.
///
/// Ends as soon as it is over, and at the latest when `called_off` is done, as that says: what the watches have told by
/// then counts.
pub async fn follow(
    following: Following<'_>,
    snapshot: &mut Snapshot,
    course: PlanTracker,
    sent: &[Sent],
    called_off: impl Future<Output = Ended>,
    on_event: &mut dyn FnMut(FollowEvent),
) -> Followed {
    let begun = Instant::now();
    let mut follower = Follower {
        looker: Poller::new(snapshot, following.watches.begun()),
        gaps: snapshot.gaps.clone(),
        following,
        snapshot,
        course,
        on_event,
        last_moved: begun,
        last_told: None,
        last_waiting: begun,
        refreshed: begun,
        untold: true,
        judgement: TrackerVerdict::default(),
        lost: Vec::new(),
        doubt: DOUBT,
        polled: Polled::default(),
    };
    follower.begin(sent);
    let called_off = pin!(called_off);
    let ended = tokio::select! {
        ended = follower.until_over() => ended,
        ended = called_off => {
            follower.apply_events(following.watches.news());
            ended
        }
    };
    follower.conclude(ended).await
}

struct Follower<'f> {
    following: Following<'f>,
    snapshot: &'f mut Snapshot,
    course: PlanTracker,
    looker: Poller,
    on_event: &'f mut dyn FnMut(FollowEvent),
    last_moved: Instant,
    last_told: Option<Instant>,
    last_waiting: Instant,
    /// When what changes without a change of metadata was read last.
    refreshed: Instant,
    /// Something moved since the last progress event.
    untold: bool,
    judgement: TrackerVerdict,
    lost: Vec<LostWatch>,
    /// The gaps from before.
    gaps: Vec<Gap>,
    /// After how long without movement the watches have to show that they work.
    doubt: Duration,
    polled: Polled,
}

impl Follower<'_> {
    /// Applies the answers to the DELETEs.
    fn begin(&mut self, sent: &[Sent]) {
        let seen = sent.iter().filter_map(|sent| sent.seen.clone()).collect();
        self.apply_events(WatchUpdates { seen, ..WatchUpdates::default() });
        // The state of these targets is unknown.
        let unsure = sent.iter().filter(|sent| sent.seen.is_none()).map(|sent| sent.target.uid.clone());
        self.looker.ask(unsure);
    }

    /// Applies new events.
    fn apply_events(&mut self, news: WatchUpdates) {
        let WatchUpdates { mut seen, lost, polled } = news;
        seen.retain(|one| !self.course.is_gone(&one.object.uid));
        let mut moved = false;
        // An object that came and went between two looks was never in the snapshot.
        let is_news = |snapshot: &Snapshot, one: &ObjectEvent| {
            snapshot.is_news(one) || (one.gone && snapshot.find(one).is_none())
        };
        for one in seen.iter().filter(|one| is_news(self.snapshot, one)) {
            moved |= self.course.see(self.snapshot, one);
        }
        self.snapshot.apply_events(seen);
        for (resource, reason) in polled {
            let resource = self.snapshot.resources.get(resource).full_name();
            self.polled.add(resource, reason);
        }
        for lost in lost {
            self.looker.lose(self.snapshot, &lost, self.course.outstanding());
            let resource = self.snapshot.resources.get(lost.resource).full_name();
            (self.on_event)(FollowEvent::LostWatch { resource, lost: lost.clone() });
            self.lost.push(lost);
        }
        if moved {
            self.last_moved = Instant::now();
            self.untold = true;
        }
    }

    async fn until_over(&mut self) -> Ended {
        let watches = self.following.watches;
        let mut pause = QUIET;
        let mut judged = self.last_moved;
        loop {
            self.apply_events(watches.news());
            self.look().await;
            self.tell_progress();
            self.tell_polled(false);
            if self.last_moved > judged {
                (judged, pause) = (self.last_moved, QUIET);
                self.doubt = DOUBT;
            }
            if judged.elapsed() >= pause {
                self.judge().await;
                let over = self.over();
                let quiet = self.last_moved.elapsed();
                if let Some((ended, _)) = over.filter(|(_, lasting)| quiet >= *lasting)
                    && self.sure().await
                {
                    return ended;
                }
                judged = Instant::now();
                let until_over =
                    over.and_then(|(_, lasting)| lasting.checked_sub(quiet)).filter(|left| !left.is_zero());
                pause = (pause * 2).min(LONGEST_PAUSE).min(until_over.unwrap_or(LONGEST_PAUSE));
            }
            self.doubt();
            self.tell_waiting();
            let mut next = (judged + pause).min(self.last_moved.max(self.last_waiting) + WAITING);
            if let Some(at) = self.looker.next() {
                next = next.min(at);
            }
            if let Some(on_event) = self.last_told.filter(|_| self.untold) {
                next = next.min(on_event + BETWEEN_TOLD);
            }
            next = self.polled.due().map_or(next, |due| next.min(due));
            let taken = Instant::now();
            tokio::select! {
                () = watches.changed() => sleep_until((taken + TOGETHER).into()).await,
                () = sleep_until(next.into()) => {}
            }
        }
    }

    /// What simulations start from now.
    fn context<'a>(&'a self, graph: &'a OwnerGraph) -> SimContext<'a> {
        let context = SimContext::new(self.snapshot, graph, self.following.assume);
        let now = Some(clock::now().as_second());
        if self.following.swept { context.with_manager_of_sweep(now) } else { context.with_obstacles(now) }
    }

    /// Judges the state. A controller that seems away is judged by what is read now; so is each now and then: what a
    /// Lease said when the delete began says nothing any more.
    async fn judge(&mut self) {
        self.judge_what_was_read().await;
        let is_away = |blocker: &Blocker| blocker.state != State::Waiting && !blocker.held_by.is_empty();
        let seems_away = self.judgement.manager_away.is_some() || self.judgement.blockers.iter().any(is_away);
        let elapsed = self.refreshed.elapsed();
        if elapsed >= if seems_away { LONGEST_PAUSE } else { LEASES_LAST } {
            self.refreshed = Instant::now();
            self.snapshot.facts.forget_what_passes();
            self.judge_what_was_read().await;
        }
    }

    /// Judges the state, and reads what the judgement needs.
    async fn judge_what_was_read(&mut self) {
        for _ in 0..ROUNDS {
            let graph = self.course.graph(self.snapshot);
            self.judgement = self.course.judge(&self.context(&graph));
            if !fetch(self.following.connection, self.snapshot, &self.judgement.needs).await {
                return;
            }
        }
    }

    /// How it ends, and how long after the last movement; none if more is expected.
    fn over(&self) -> Option<(Ended, Duration)> {
        let TrackerVerdict { arrived, certain, more, more_outside, collector_due, follow_ups, left, .. } =
            self.judgement;
        let lasting = if left == 0 { QUIET } else { self.following.patience };
        // A controller that is seen running goes on, and the plan says what follows then.
        let is_awaited = |blocker: &Blocker| blocker.state == State::Waiting && !blocker.held_by.is_empty();
        if arrived && !more && self.course.goes_on() && self.judgement.blockers.iter().any(is_awaited) {
            return None;
        }
        if arrived {
            let nothing_more = !more_outside && (!more || (certain && left == 0));
            let lasting = match nothing_more {
                _ if follow_ups > 0 => FOLLOW_UPS,
                true => lasting,
                false => PATIENCE,
            };
            return Some((Ended::AsPlanned, lasting));
        }
        if more || more_outside {
            let waits_in_vain = collector_due && !self.following.swept;
            return waits_in_vain.then_some((Ended::Stuck, COLLECTOR_IDLE));
        }
        let stuck = self.judgement.blockers.iter().any(|blocker| blocker.state == State::Stuck);
        if self.judgement.manager_away.is_some() {
            return Some((Ended::Stuck, COLLECTOR_IDLE));
        }
        let lasting = if follow_ups == 0 { lasting.max(OTHERWISE) } else { FOLLOW_UPS };
        Some((if stuck { Ended::Stuck } else { Ended::Otherwise }, lasting))
    }

    /// Before it is over, reads what the watches may be late with: objects that did not end as predicted, and what is
    /// left. Returns whether nothing moved.
    async fn sure(&mut self) -> bool {
        self.apply_events(self.following.watches.news());
        let before = self.last_moved;
        self.looker.ask(self.course.otherwise().into_iter().map(|otherwise| otherwise.object.uid));
        self.looker.ask(self.course.left().map(|identity| identity.uid.clone()));
        self.look().await;
        self.last_moved == before
    }

    /// Reads objects that no watch reports.
    async fn look(&mut self) {
        self.looker.due(self.snapshot, || self.course.outstanding(), self.last_moved.elapsed());
        let seen = self.looker.look(self.following.connection, self.snapshot).await;
        // Their watches have not told it. What else these would tell, nobody would ask for: what is gone is awaited no
        // more.
        self.following.watches.doubt(seen.iter().map(|one| one.resource));
        self.apply_events(WatchUpdates { seen, ..WatchUpdates::default() });
    }

    /// Lets the watches show that they work, of what is expected to change and doesn't.
    fn doubt(&mut self) {
        let quiet = self.last_moved.elapsed();
        if quiet < self.doubt {
            return;
        }
        self.doubt = quiet * 2;
        let snapshot = &*self.snapshot;
        let outstanding = self.course.outstanding().into_iter().filter_map(|identity| snapshot.with_uid(&identity.uid));
        self.following.watches.doubt(outstanding.map(|id| snapshot.object(id).resource));
    }

    fn tell_progress(&mut self) {
        if self.untold && self.last_told.is_none_or(|on_event| on_event.elapsed() >= BETWEEN_TOLD) {
            self.untold = false;
            self.last_told = Some(Instant::now());
            (self.on_event)(FollowEvent::Progress(self.course.progress()));
        }
    }

    fn tell_polled(&mut self, all: bool) {
        let polled = self.polled.take(all);
        if !polled.is_empty() {
            (self.on_event)(FollowEvent::Polled(polled));
        }
    }

    fn tell_waiting(&mut self) {
        let quiet = self.last_moved.elapsed();
        if quiet < WAITING || self.last_waiting.elapsed() < WAITING {
            return;
        }
        self.last_waiting = Instant::now();
        let (progress, blockers) = (self.course.progress(), self.judgement.blockers.clone());
        (self.on_event)(FollowEvent::Waiting { progress, quiet, blockers });
    }

    async fn conclude(mut self, ended: Ended) -> Followed {
        self.tell_polled(true);
        if matches!(ended, Ended::TimedOut | Ended::CalledOff) {
            // Judge by what is known: the caller wants no further wait.
            let graph = self.course.graph(self.snapshot);
            self.judgement = self.course.judge(&self.context(&graph));
        }
        if self.untold {
            (self.on_event)(FollowEvent::Progress(self.course.progress()));
        }
        // What goes while it is followed is no gap.
        self.snapshot.gaps.retain(|gap| self.gaps.contains(gap) || !gap.is_of_gone());
        let waits_for_collector = self.judgement.more || self.judgement.more_outside;
        let collector_idle = (ended == Ended::Stuck && waits_for_collector).then(|| self.last_moved.elapsed());
        Followed {
            ended,
            collector_idle,
            manager_away: self.judgement.manager_away,
            progress: self.course.progress(),
            otherwise: self.course.otherwise(),
            ends: self.course.ends().map(|(uid, kind)| (uid.to_owned(), kind)).collect(),
            left: self.judgement.left,
            blockers: self.judgement.blockers,
            outside: self.course.outside().cloned().collect(),
            unrelated: self.course.unrelated(),
            lost: self.lost,
        }
    }
}
