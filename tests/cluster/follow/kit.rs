//! A plan, its deletes, and how following them ended.

use std::{collections::BTreeSet, future, path::Path, time::Duration};

use kubectl_gc::{
    act::{Deletion, Ended, FollowEvent, Followed, Following, Sent, delete, follow},
    cluster::Scope,
    graph::OwnerGraph,
    model::{ObjectId, RecheckResult, Snapshot, Symbol},
    plan::{OutcomeKind, Plan, PlanTracker, explore},
    server::Propagation,
    simulate::{Assume, Request, SimContext},
};
use serde_json::Value;

use crate::{harness::uid, plan::trial::Trial, reading::connect_with};

/// No test waits longer for what ends by itself.
const PATIENCE: Duration = Duration::from_secs(90);
/// What a plan needs to know leads to more that it needs to know.
const ROUNDS: usize = 8;

/// A delete that is carried out.
pub struct Carried<'t> {
    trial: &'t Trial<'t>,
    targets: Vec<&'t Value>,
    assume: Assume,
    timeout: Option<Duration>,
    called_off: Option<Duration>,
    kubeconfig: std::path::PathBuf,
}

/// What came of it.
pub struct Outcome {
    pub plan: Plan,
    pub sent: Vec<Sent>,
    pub followed: Followed,
    pub events: Vec<FollowEvent>,
}

impl<'t> Carried<'t> {
    /// The delete of these objects, in the trial's policy.
    pub fn new(trial: &'t Trial<'t>, targets: Vec<&'t Value>) -> Self {
        let kubeconfig = trial.cluster.kubeconfig(crate::harness::ADMIN);
        Carried { trial, targets, assume: Assume::Known, timeout: Some(PATIENCE), called_off: None, kubeconfig }
    }

    /// By another way than straight to the server.
    pub fn by(mut self, kubeconfig: &Path) -> Self {
        self.kubeconfig = kubeconfig.to_owned();
        self
    }

    /// Up to this time.
    pub fn within(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Until somebody has enough of it.
    pub fn called_off_after(mut self, time: Duration) -> Self {
        self.called_off = Some(time);
        self
    }

    /// Plans, deletes and follows. `between` happens after the plan is made and before it is carried out, `after` once
    /// everything was deleted.
    #[track_caller]
    pub fn out(self, between: impl FnOnce(), after: impl FnOnce()) -> Outcome {
        self.trial.cluster.settled();
        self.unsettled(between, after)
    }

    /// The same where no collector has to come to rest before.
    #[track_caller]
    pub fn unsettled(self, between: impl FnOnce(), after: impl FnOnce()) -> Outcome {
        let targets = self.targets.len();
        let outcome = self.carry(between, after).expect("the targets are there");
        assert_eq!(outcome.sent.len(), targets, "the targets are there");
        outcome
    }

    /// The same of those targets that are there; none where none is.
    pub fn if_there(self) -> Option<Outcome> {
        self.carry(|| (), || ())
    }

    fn carry(self, between: impl FnOnce(), after: impl FnOnce()) -> Option<Outcome> {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        let connection = connect_with(&self.kubeconfig, &runtime);
        runtime.block_on(async {
            let (resources, _) = connection.discover().await.expect("discovery");
            let mut snapshot = connection.read(resources, &Scope::Everything, &[]).await.expect("a snapshot");
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
            // A target that is terminating already may have no outcome, and is followed all the same.
            let followed = plan.outcomes.iter().map(|outcome| outcome.object).chain(targets.iter().copied());
            let uids: BTreeSet<Symbol> = followed.map(|id| snapshot.object(id).uid).collect();
            let deletion = Deletion::by(propagation);
            let sent = delete(&connection, &snapshot, &targets, &deletion, future::pending(), &mut |_| ()).await;
            tokio::task::block_in_place(after);
            let mut events = Vec::new();
            let mut describe = |event| events.push(event);
            let (assume, timeout, patience) = (self.assume, self.timeout, Duration::from_secs(2));
            let following = Following { connection: &connection, watches: &watches, assume, timeout, patience };
            let called_off = async {
                match self.called_off {
                    Some(time) => tokio::time::sleep(time).await,
                    None => future::pending().await,
                }
            };
            let followed = follow(following, &mut snapshot, course, &sent, called_off, &mut describe).await;
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
    /// What each object was foretold that came otherwise, and what has become of it.
    pub fn otherwise(&self) -> Vec<(String, OutcomeKind, OutcomeKind)> {
        let describe = self.followed.otherwise.iter();
        describe.map(|one| (one.object.short_name(), one.predicted[0], one.actual)).collect()
    }

    /// It ended as foretold, and nothing that was there before went besides; so many objects are gone.
    #[track_caller]
    pub fn as_planned(&self) -> usize {
        let followed = &self.followed;
        assert_eq!(followed.ended, Ended::AsPlanned, "{followed:#?}");
        assert_eq!(self.otherwise(), [], "{followed:#?}");
        assert!(followed.lost.is_empty(), "{followed:#?}");
        // A controller may make something anew before it sees that its own object goes.
        assert!(followed.outside.iter().all(|one| one.new && one.gone), "{followed:#?}");
        assert_eq!(followed.progress.arrived, followed.progress.all);
        assert!(self.sent.iter().all(|sent| !sent.answered.failed()), "{:?}", self.sent);
        followed.progress.gone
    }
}
