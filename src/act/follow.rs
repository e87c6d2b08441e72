//! Following a plan that is being carried out, until it is over.
//!
//! How does a client know that a cascade is over? The collector doesn't say. What tells is the state: once nothing has
//! moved for a moment, everybody's next steps are played on from what is there, as a plan plays them
//! ([`PlanTracker::judge`]). Where that would change nothing of what was touched, it is over, as foretold or otherwise.

use std::{
    pin::pin,
    time::{Duration, Instant},
};

use tokio::time::{sleep_until, timeout_at};

use crate::{
    cluster::{Connection, LostWatch, WatchUpdates, Watches},
    model::{ObjectEvent, ObjectId, Snapshot},
    plan::{
        PlanTracker,
        tracker::{Blocker, Progress, TrackerVerdict, UnexpectedOutcome, UnplannedObject},
    },
    simulate::{Assume, SimContext, State},
};

use super::{delete::Sent, look::Poller};

/// The state is judged once nothing of the plan has moved for this long. Events of one resource overtake those of
/// another by less.
const QUIET: Duration = Duration::from_millis(500);
/// And judged again after pauses that double up to this one, as long as nothing moves.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// How long nothing may move before it is called over where it came out otherwise.
const OTHERWISE: Duration = Duration::from_secs(2);
/// The same where everything is as foretold and something more was to come of it, which doesn't: a plan knows better
/// what the collector has seen.
const PATIENCE: Duration = Duration::from_secs(15);
/// When nothing has moved for this long, what is waited for is told, and told again.
const WAITING: Duration = Duration::from_secs(10);
/// Progress is not told more often.
const BETWEEN_TOLD: Duration = Duration::from_millis(100);
/// News is taken in together that comes within this time: where anything is gone, that costs as much as the snapshot is
/// large.
const TOGETHER: Duration = Duration::from_millis(100);
/// What a judgement finds missing leads to more that is missing, but not for ever.
const ROUNDS: usize = 8;

/// What a follower is told on the way.
#[derive(Clone, Debug)]
pub enum FollowEvent {
    /// It got on.
    Progress(Progress),
    /// Nothing has moved for a while.
    Waiting {
        progress: Progress,
        /// For how long.
        quiet: Duration,
        /// What is waited for, as far as it is known: what holds up whatever is still there.
        blockers: Vec<Blocker>,
    },
    /// What happens to a resource is not told any more, or was not told for a while. Objects that matter are asked for
    /// one by one.
    LostWatch {
        /// `pods`, `deployments.apps`.
        resource: String,
        lost: LostWatch,
    },
}

/// How following ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ended {
    /// Everything is in an end that was foretold. What is left, was to be left.
    AsPlanned,
    /// It came out otherwise, and nothing more happens; nothing is stuck.
    Otherwise,
    /// It came out otherwise, and something is left that nobody is known to finish: [`Followed::blockers`].
    Stuck,
    /// The time is up, and it is not over.
    TimedOut,
    /// It was called off, and is not over. What was deleted stays deleted, and the collector goes on.
    CalledOff,
}

/// What came of a plan.
#[derive(Clone, Debug)]
pub struct Followed {
    pub ended: Ended,
    pub progress: Progress,
    /// What is not in an end that was foretold: as yet, where it is not over.
    pub otherwise: Vec<UnexpectedOutcome>,
    /// How many objects are marked for deletion and still there.
    pub left: usize,
    /// What holds them.
    pub blockers: Vec<Blocker>,
    /// What went besides.
    pub outside: Vec<UnplannedObject>,
    /// How many objects went meanwhile that have nothing to do with it.
    pub unrelated: usize,
    /// Where not everything could be seen.
    pub lost: Vec<LostWatch>,
}

/// How to follow.
#[derive(Clone, Copy)]
pub struct Following<'c> {
    pub connection: &'c Connection,
    /// Begun before the plan was made.
    pub watches: &'c Watches,
    /// What is taken for granted of others, as in the plan.
    pub assume: Assume,
    /// How long at most; none: to the end.
    pub timeout: Option<Duration>,
    /// How long nothing may move before it is called over where something is left that nobody is known to finish: a
    /// controller that nobody knows of may be about to.
    pub patience: Duration,
}

/// Follows a plan to its end. `snapshot` is the one that it was made on, and has taken in nothing since; it takes in
/// everything from now on, so that **ids change**. `sent` is what came of the targets' DELETEs.
///
/// Ends as soon as it is over, at the latest when `called_off` is done or the time is up.
pub async fn follow(
    following: Following<'_>,
    snapshot: &mut Snapshot,
    course: PlanTracker,
    sent: &[Sent],
    called_off: impl Future<Output = ()>,
    on_event: &mut dyn FnMut(FollowEvent),
) -> Followed {
    let begun = Instant::now();
    let Following { connection, watches, assume, timeout, patience } = following;
    let looker = Poller::new(snapshot, watches.begun());
    let mut follower = Follower {
        connection,
        snapshot,
        course,
        assume,
        patience,
        looker,
        on_event,
        last_moved: begun,
        last_told: None,
        last_waiting: begun,
        untold: true,
        judgement: TrackerVerdict::default(),
        lost: Vec::new(),
    };
    follower.begin(sent);
    let over = async { follower.until_over(watches).await };
    let mut called_off = pin!(called_off);
    let ended = {
        let limited = async {
            // A time that no clock will ever show is none.
            match timeout.and_then(|limit| begun.checked_add(limit)) {
                Some(end) => timeout_at(end.into(), over).await.unwrap_or(Ended::TimedOut),
                None => over.await,
            }
        };
        tokio::select! {
            ended = limited => ended,
            () = &mut called_off => Ended::CalledOff,
        }
    };
    follower.conclude(ended).await
}

struct Follower<'f> {
    connection: &'f Connection,
    snapshot: &'f mut Snapshot,
    course: PlanTracker,
    assume: Assume,
    patience: Duration,
    looker: Poller,
    on_event: &'f mut dyn FnMut(FollowEvent),
    last_moved: Instant,
    last_told: Option<Instant>,
    last_waiting: Instant,
    /// Something moved that was not told yet.
    untold: bool,
    judgement: TrackerVerdict,
    lost: Vec<LostWatch>,
}

impl Follower<'_> {
    /// What the DELETEs themselves were answered is seen already.
    fn begin(&mut self, sent: &[Sent]) {
        let seen = sent.iter().filter_map(|sent| sent.seen.clone()).collect();
        self.apply_events(WatchUpdates { seen, lost: Vec::new() });
        // Nobody knows of these.
        let unsure = sent.iter().filter(|sent| sent.seen.is_none()).map(|sent| sent.target.uid.clone());
        self.looker.ask(unsure);
    }

    /// Takes in what has come.
    fn apply_events(&mut self, news: WatchUpdates) {
        let WatchUpdates { mut seen, lost } = news;
        seen.retain(|one| !self.course.is_gone(&one.object.uid));
        let mut moved = false;
        // What came and went between two looks was never known.
        let is_news = |snapshot: &Snapshot, one: &ObjectEvent| {
            snapshot.is_news(one) || (one.gone && snapshot.find(one).is_none())
        };
        for one in seen.iter().filter(|one| is_news(self.snapshot, one)) {
            moved |= self.course.see(self.snapshot, one);
        }
        self.snapshot.apply_events(seen);
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

    async fn until_over(&mut self, watches: &Watches) -> Ended {
        let mut pause = QUIET;
        let mut judged = self.last_moved;
        loop {
            self.apply_events(watches.news());
            self.look().await;
            self.tell_progress();
            if self.last_moved > judged {
                (judged, pause) = (self.last_moved, QUIET);
            }
            if judged.elapsed() >= pause {
                self.judge().await;
                let over = self.over();
                let quiet = self.last_moved.elapsed();
                if let Some((ended, _)) = over.filter(|(_, lasting)| quiet >= *lasting)
                    && self.sure(watches).await
                {
                    return ended;
                }
                judged = Instant::now();
                let until_over =
                    over.and_then(|(_, lasting)| lasting.checked_sub(quiet)).filter(|left| !left.is_zero());
                pause = (pause * 2).min(LONGEST_PAUSE).min(until_over.unwrap_or(LONGEST_PAUSE));
            }
            self.tell_waiting();
            let mut next = (judged + pause).min(self.last_moved.max(self.last_waiting) + WAITING);
            if let Some(at) = self.looker.next() {
                next = next.min(at);
            }
            if let Some(on_event) = self.last_told.filter(|_| self.untold) {
                next = next.min(on_event + BETWEEN_TOLD);
            }
            let taken = Instant::now();
            tokio::select! {
                () = watches.changed() => sleep_until((taken + TOGETHER).into()).await,
                () = sleep_until(next.into()) => {}
            }
        }
    }

    /// Judges the state, and reads what that rests on.
    async fn judge(&mut self) {
        for _ in 0..ROUNDS {
            let graph = self.course.graph(self.snapshot);
            let stage = SimContext::new(self.snapshot, &graph, self.assume);
            self.judgement = self.course.judge(&stage);
            if !self.fetch().await {
                return;
            }
        }
    }

    /// Reads what the judgement found missing. Says whether that was anything new.
    async fn fetch(&mut self) -> bool {
        let needs = &self.judgement.needs;
        let look_ups: Vec<_> =
            needs.look_ups.iter().copied().filter(|coordinate| !self.snapshot.was_looked_up(*coordinate)).collect();
        let unknown = |id: &ObjectId| self.snapshot.facts.get(*id).is_none();
        let facts: Vec<ObjectId> = needs.facts.iter().copied().filter(unknown).collect();
        if !look_ups.is_empty() {
            self.connection.look_up(self.snapshot, &look_ups).await;
        }
        let before = self.snapshot.facts.len();
        if !facts.is_empty() {
            self.connection.fetch_facts(self.snapshot, &facts).await;
        }
        !look_ups.is_empty() || self.snapshot.facts.len() != before
    }

    /// How it has ended if nothing moves for so long, counted from the last movement; none where more is to come.
    fn over(&self) -> Option<(Ended, Duration)> {
        let TrackerVerdict { arrived, certain, more, more_outside, left, .. } = self.judgement;
        let lasting = if left == 0 { QUIET } else { self.patience };
        if arrived {
            let nothing_more = !more_outside && (!more || (certain && left == 0));
            return Some((Ended::AsPlanned, if nothing_more { lasting } else { PATIENCE }));
        }
        if more || more_outside {
            return None;
        }
        let stuck = self.judgement.blockers.iter().any(|blocker| blocker.state == State::Stuck);
        Some((if stuck { Ended::Stuck } else { Ended::Otherwise }, lasting.max(OTHERWISE)))
    }

    /// Before it is called over, what the watches may be late with is asked for: whatever is not where it was to be,
    /// and what is left.
    async fn sure(&mut self, watches: &Watches) -> bool {
        self.apply_events(watches.news());
        let before = self.last_moved;
        self.looker.ask(self.course.otherwise().into_iter().map(|otherwise| otherwise.object.uid));
        self.looker.ask(self.course.left().map(|identity| identity.uid.clone()));
        self.look().await;
        self.last_moved == before
    }

    /// Asks for objects that nothing else is heard of.
    async fn look(&mut self) {
        self.looker.due(self.snapshot, || self.course.outstanding(), self.last_moved.elapsed());
        let seen = self.looker.look(self.connection, self.snapshot).await;
        self.apply_events(WatchUpdates { seen, lost: Vec::new() });
    }

    fn tell_progress(&mut self) {
        if self.untold && self.last_told.is_none_or(|on_event| on_event.elapsed() >= BETWEEN_TOLD) {
            self.untold = false;
            self.last_told = Some(Instant::now());
            (self.on_event)(FollowEvent::Progress(self.course.progress()));
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
        if matches!(ended, Ended::TimedOut | Ended::CalledOff) {
            // What is read by now is enough: nobody is to wait any longer.
            let graph = self.course.graph(self.snapshot);
            self.judgement = self.course.judge(&SimContext::new(self.snapshot, &graph, self.assume));
        }
        if self.untold {
            (self.on_event)(FollowEvent::Progress(self.course.progress()));
        }
        Followed {
            ended,
            progress: self.course.progress(),
            otherwise: self.course.otherwise(),
            left: self.judgement.left,
            blockers: self.judgement.blockers,
            outside: self.course.outside().cloned().collect(),
            unrelated: self.course.unrelated(),
            lost: self.lost,
        }
    }
}
