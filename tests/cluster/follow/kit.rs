//! A plan, its deletes, and the result of following them.

use std::{collections::BTreeSet, future, path::Path, time::Duration};

use gc_cluster::{
    act::{Deletion, Ended, FollowEvent, Followed, Following, Sent, delete, follow},
    cluster::{EarlyLists, Wanted},
};
use gc_core::{
    graph::OwnerGraph,
    model::{ObjectId, RecheckResult, Snapshot, Symbol},
    plan::{OutcomeKind, Plan, PlanTracker, explore},
    server::Propagation,
    simulate::{Assume, Request, SimContext},
};
use serde_json::Value;
use tokio::sync::Notify;

use crate::{harness::uid, plan::trial::Trial, reading::connect_with};

/// The longest wait for a cascade that ends by itself.
const PATIENCE: Duration = Duration::from_secs(90);
/// Resolving the needs of a plan can reveal further needs.
const ROUNDS: usize = 8;

/// A delete to carry out.
pub struct Carried<'t> {
    trial: &'t Trial<'t>,
    targets: Vec<&'t Value>,
    assume: Assume,
    timeout: Option<Duration>,
    heeds: Box<dyn FnMut(&FollowEvent) -> bool + 't>,
    kubeconfig: std::path::PathBuf,
}

/// The result.
pub struct Outcome {
    pub plan: Plan,
    pub sent: Vec<Sent>,
    pub followed: Followed,
    pub events: Vec<FollowEvent>,
}

impl<'t> Carried<'t> {
    /// Deletes these targets, with the trial's policy.
    pub fn new(trial: &'t Trial<'t>, targets: Vec<&'t Value>) -> Self {
        let kubeconfig = trial.cluster.kubeconfig(crate::harness::ADMIN);
        let heeds = Box::new(|_: &FollowEvent| false);
        Carried { trial, targets, assume: Assume::Known, timeout: Some(PATIENCE), heeds, kubeconfig }
    }

    /// Connects through this kubeconfig file, for instance to a proxy.
    pub fn by(mut self, kubeconfig: &Path) -> Self {
        self.kubeconfig = kubeconfig.to_owned();
        self
    }

    /// No other controllers run than the collector, the namespace controller and the CRD finalizer controller.
    pub fn without_other_controllers(mut self) -> Self {
        self.assume = Assume::None;
        self
    }

    /// Stops following after this time.
    pub fn within(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Does this with each event, and calls following off if it says so.
    pub fn heeding(mut self, heeds: impl FnMut(&FollowEvent) -> bool + 't) -> Self {
        self.heeds = Box::new(heeds);
        self
    }

    /// Plans, deletes and follows. Calls `between` after planning and before the deletes, and `after` once all deletes
    /// are sent.
    #[track_caller]
    pub fn out(self, between: impl FnOnce(), after: impl FnOnce()) -> Outcome {
        self.trial.cluster.settled();
        self.unsettled(between, after)
    }

    /// Like [`Self::out`], without waiting until the collector has settled.
    #[track_caller]
    pub fn unsettled(self, between: impl FnOnce(), after: impl FnOnce()) -> Outcome {
        let targets = self.targets.len();
        let outcome = self.carry(between, after).expect("the targets are there");
        assert_eq!(outcome.sent.len(), targets, "the targets are there");
        outcome
    }

    /// Plans, deletes and follows those targets that still exist; `None` if none does.
    pub fn if_there(self) -> Option<Outcome> {
        self.carry(|| (), || ())
    }

    fn carry(mut self, between: impl FnOnce(), after: impl FnOnce()) -> Option<Outcome> {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        let connection = connect_with(&self.kubeconfig, &runtime);
        runtime.block_on(async {
            let (resources, _) = connection.discover().await.expect("discovery");
            let mut snapshot =
                connection.read(resources, &Wanted::default(), &EarlyLists::default()).await.expect("a snapshot").0;
            let watches = connection.watch(&snapshot);
            let propagation = match self.trial.policy {
                "Foreground" => Propagation::Foreground,
                "Orphan" => Propagation::Orphan,
                _ => Propagation::Background,
            };
            if self.targets(&snapshot).is_empty() {
                return None;
            }
            let mut rounds = 0;
            let plan = loop {
                let targets = self.targets(&snapshot);
                let graph = OwnerGraph::new(&snapshot);
                let stage = SimContext::new(&snapshot, &graph, self.assume);
                let plan = explore(&stage, &Request::delete(targets, propagation));
                rounds += 1;
                if plan.needs.is_empty() || rounds == ROUNDS {
                    break plan;
                }
                let look_ups: Vec<_> = plan.needs.look_ups.iter().copied().collect();
                connection.look_up(&mut snapshot, &look_ups).await;
                let facts: Vec<_> = plan.needs.facts.iter().copied().collect();
                connection.fetch_facts(&mut snapshot, &facts).await;
            };
            tokio::task::block_in_place(between);
            let course = PlanTracker::new(&snapshot, &plan);
            let targets = self.targets(&snapshot);
            // An already terminating target may have no outcome, but is followed, too.
            let followed = plan.both_ends().map(|outcome| outcome.object).chain(targets.iter().copied());
            let uids: BTreeSet<Symbol> = followed.map(|id| snapshot.object(id).uid).collect();
            let deletion = Deletion::by(propagation);
            let sent = delete(&connection, &snapshot, &targets, &deletion, future::pending()).await;
            tokio::task::block_in_place(after);
            let mut events = Vec::new();
            let mut heeds = std::mem::replace(&mut self.heeds, Box::new(|_| false));
            let called_off = Notify::new();
            let mut describe = |event| {
                if tokio::task::block_in_place(|| heeds(&event)) {
                    called_off.notify_one();
                }
                events.push(event);
            };
            let (assume, patience) = (self.assume, Duration::from_secs(2));
            let ends = async {
                let limit = self.timeout.unwrap_or(Duration::MAX);
                match tokio::time::timeout(limit, called_off.notified()).await {
                    Ok(()) => Ended::CalledOff,
                    Err(_) => Ended::TimedOut,
                }
            };
            let following = Following { connection: &connection, watches: &watches, assume, swept: false, patience };
            let followed = follow(following, &mut snapshot, course, &sent, ends, &mut describe).await;
            if matches!(followed.ended, Ended::AsPlanned | Ended::Otherwise | Ended::Stuck) {
                tokio::task::block_in_place(|| self.trial.cluster.settled());
                let named: Vec<ObjectId> = uids.iter().filter_map(|uid| snapshot.by_uid(*uid)).collect();
                let again = connection.recheck(&snapshot, &named).await;
                let moved: Vec<_> = again.into_iter().filter(|(_, again)| *again != RecheckResult::Same).collect();
                assert!(moved.is_empty(), "it was said to be over, and then came more: {moved:#?} {followed:#?}");
                assert_eq!(named.len(), followed.progress.all - followed.progress.gone, "{followed:#?}");
            }
            Some(Outcome { plan, sent, followed, events })
        })
    }

    fn targets(&self, snapshot: &Snapshot) -> Vec<ObjectId> {
        let find = |target: &&Value| snapshot.by_uid(snapshot.strings.find(uid(target))?);
        self.targets.iter().filter_map(find).collect()
    }
}

impl Outcome {
    /// The objects whose end differs from the plan: predicted and actual outcome.
    pub fn otherwise(&self) -> Vec<(String, OutcomeKind, OutcomeKind)> {
        let describe = self.followed.otherwise.iter();
        describe.map(|one| (one.object.short_name(), one.predicted[0], one.actual)).collect()
    }

    /// Panics unless everything ended as planned and nothing else was deleted. Returns the number of deleted objects.
    #[track_caller]
    pub fn as_planned(&self) -> usize {
        let followed = &self.followed;
        assert_eq!(followed.ended, Ended::AsPlanned, "{followed:#?}");
        assert_eq!(self.otherwise(), [], "{followed:#?}");
        assert!(followed.lost.is_empty(), "{followed:#?}");
        // A controller may recreate a dependent before it sees that its own object is being deleted.
        assert!(followed.outside.iter().all(|one| one.new && one.gone), "{followed:#?}");
        assert_eq!(followed.progress.arrived, followed.progress.all);
        assert!(self.sent.iter().all(|sent| !sent.answered.failed()), "{:?}", self.sent);
        followed.progress.gone
    }
}
