//! One pass of a sweep: planned, approved, carried out and followed.

use gc_cluster::act::{FollowEvent, Settings};
use gc_core::{
    collector::live::Limit,
    graph::OwnerGraph,
    model::{Identity, ObjectId, ResourceId, Snapshot},
    plan::{Consent, Incomplete, Plan, PlanTracker, explore, plan},
    progress::{self, Work},
    simulate::{Assume, Request, SimContext, Start, WriteScope},
};

use super::{
    ClusterConfig, Discovered, LiveSession, OperationError, ReadScope, Session, Source, TargetConfig,
    approve::{PlanFingerprint, Proposal, World},
    error::Unread,
    live::{SweepLoad, SweepResult},
    session::{ROUNDS, complete},
    signals::now,
    unread::AllowIncomplete,
};

/// The assumptions of a sweep.
#[derive(Clone, Copy, Debug)]
pub struct SweepRules {
    pub assume: Assume,
    /// Whether an API path that doesn't exist proves that its objects don't exist (R3.16).
    pub trust_missing_apis: bool,
}

impl SweepRules {
    /// The owner graph of a sweep: without `trust_missing_apis`, it is stricter than the collector's (R3.16).
    pub fn graph(&self, snapshot: &Snapshot) -> OwnerGraph {
        let graph = OwnerGraph::new(snapshot);
        if self.trust_missing_apis { graph } else { graph.doubting_missing_apis() }
    }

    /// What a pass over these objects would do (`None`: over all). Reads everything that the result depends on.
    pub fn simulate(&self, session: &mut Session, limit: Option<&[ObjectId]>) -> Plan {
        let request = Request::only_collect(Start::Sweep);
        let request = match limit {
            Some(limit) => request.limited_to(WriteScope::new(limit.iter().copied())),
            None => request,
        };
        let play = |session: &mut Session, play: fn(&SimContext<'_>, &Request) -> Plan| {
            let graph = self.graph(&session.snapshot);
            let time = now(session);
            let context =
                SimContext::new(&session.snapshot, &graph, self.assume).at(time).with_obstacles_of_sweep(time);
            Ok::<_, std::convert::Infallible>(progress::during(Work::Simulating, || play(&context, &request)))
        };
        let learn = |session: &mut Session, plan: &Plan| {
            let moved = session.confirm(&plan.needs.all_absences());
            Ok(session.fetch(&plan.needs) || moved)
        };
        // Simulating one order of events finds nearly all missing reads; all orders are explored once nothing is
        // missing.
        let Ok(plan) = complete(
            ROUNDS,
            session,
            |session| {
                complete(ROUNDS, session, |session| play(session, plan), learn)?;
                play(session, explore)
            },
            learn,
        );
        plan
    }
}

/// The objects that may be written to: the targets, or all of the namespace; `None`: all.
pub fn limit(session: &Session) -> Option<Vec<ObjectId>> {
    if let Some(targets) = &session.targets {
        return Some(targets.clone());
    }
    let namespace = session.snapshot.strings.find(session.namespace.as_deref()?);
    let objects = session.snapshot.objects();
    Some(objects.filter(|(_, object)| Some(object.namespace) == namespace).map(|(id, _)| id).collect())
}

/// Why a pass would refuse what could be planned; `None` if it would not. The gaps say what could not be read.
pub fn refusal<S: Source + ?Sized>(session: &Session<S>, plan: &Plan) -> Option<&'static str> {
    let snapshot = &session.snapshot;
    if plan.outcomes.is_empty() {
        let unseen = snapshot.may_hide_in(session.namespace.as_deref());
        let may_be_more = session.is_live() && session.targets.is_none() && !unseen.is_empty();
        return may_be_more.then_some("nothing to sweep was found in what could be read");
    }
    let unseen = Incomplete::of(snapshot, plan).unseen;
    (!unseen.is_empty()).then_some("what could not be read may contain dependents of these objects")
}

/// A pass that is being approved.
pub struct SweepPass {
    pub session: LiveSession,
    pub rules: SweepRules,
    /// The uids of the targets, if any were named: ids change, uids don't.
    targets: Option<Vec<String>>,
}

/// What a pass would do.
#[derive(Debug)]
pub struct SweepPlan {
    pub plan: Plan,
    /// The objects that may be written to; `None`: all.
    pub limit: Option<Vec<ObjectId>>,
}

impl SweepPass {
    /// Reads the cluster.
    ///
    /// # Errors
    /// Why the cluster can't be read.
    pub fn open(cluster: &ClusterConfig, targets: &TargetConfig, rules: SweepRules) -> Result<Self, OperationError> {
        let mut session = Discovered::connect(cluster)?.read(targets, ReadScope::Everything)?;
        session.enter_namespace();
        if rules.trust_missing_apis {
            session.trust_missing_apis();
        }
        // Watch from where the lists ended, so that no event is missed.
        session.watch_or_list();
        let uid = |target: &ObjectId| Identity::of(&session.snapshot, *target).uid;
        let targets = session.targets.as_ref().map(|targets| targets.iter().map(uid).collect());
        Ok(SweepPass { session, rules, targets })
    }

    /// Sweeps, and follows the sweep until nothing is left to do.
    pub fn carry_out(
        &mut self,
        plan: &SweepPlan,
        load: &SweepLoad,
        observer: &mut dyn FnMut(FollowEvent),
    ) -> SweepResult {
        let snapshot = &self.session.snapshot;
        let mut course = PlanTracker::new(snapshot, &plan.plan);
        if let Some(limit) = &plan.limit {
            course = course.limited_to(limit.iter().map(|id| Identity::of(snapshot, *id).uid).collect());
        }
        if !self.rules.trust_missing_apis {
            course = course.doubting_missing_apis();
        }
        let limit = match (&self.targets, &self.session.namespace) {
            (Some(targets), _) => Limit::Uids(targets.iter().cloned().collect()),
            (None, Some(namespace)) => Limit::Namespace(namespace.clone()),
            (None, None) => Limit::None,
        };
        let settings =
            Settings { workers: load.workers.into(), trust_missing_apis: self.rules.trust_missing_apis, limit };
        self.session.hear_interrupts();
        self.session.sweep(course, settings, load, self.rules.assume, observer)
    }
}

impl Proposal for SweepPass {
    type Plan = SweepPlan;
    type Fingerprint = PlanFingerprint;

    /// Refuses if unread resources may contain dependents: the collector would delete them once their owner is deleted
    /// or freed.
    fn plan(&mut self, _notes: &mut Vec<String>) -> Result<Option<SweepPlan>, OperationError> {
        let snapshot = &self.session.snapshot;
        let existing = |uid: &String| snapshot.with_uid(uid);
        self.session.targets = self.targets.as_ref().map(|targets| targets.iter().filter_map(existing).collect());
        let limit = limit(&self.session);
        let plan = self.rules.simulate(&mut self.session, limit.as_deref());
        let missing = Incomplete::of(&self.session.snapshot, &plan);
        // Dependents of what is in one namespace are in it: a narrower limit would not help.
        let limited = self.session.namespace.is_some();
        if !missing.unseen.is_empty() && !plan.outcomes.is_empty() {
            let unread = Unread::of_gaps(&self.session, &plan, &missing.unseen, &AllowIncomplete::Nothing);
            let unread = Box::new(unread.unwrap_or_default());
            return Err(OperationError::UnseenDependents { unread, limited });
        }
        // What can't be read isn't empty. Named targets were read themselves.
        let unseen = self.session.snapshot.may_hide_in(self.session.namespace.as_deref());
        if plan.outcomes.is_empty() && self.targets.is_none() && !unseen.is_empty() {
            return Err(OperationError::UnseenObjects { resources: unseen, limited });
        }
        Ok(Some(SweepPlan { plan, limit }))
    }

    fn fingerprint(&self, plan: &SweepPlan) -> PlanFingerprint {
        PlanFingerprint::of(&self.session.snapshot, &plan.plan, Consent::Yes)
    }

    fn is_settled(&self, plan: &SweepPlan) -> bool {
        plan.plan.outcomes.is_empty()
    }

    /// A list may still show an owner that is gone. To look up each owner would cost a request for each; the watches
    /// cost nothing more, and begin where the lists ended.
    fn is_settled_by_watches(&self) -> bool {
        true
    }

    fn world(&mut self) -> Option<&mut dyn World> {
        Some(&mut self.session)
    }

    /// Resources that the collector doesn't watch have neither owners nor dependents.
    fn concerns(&self, resource: ResourceId) -> bool {
        self.session.snapshot.resources.not_watched(resource).is_none()
    }
}
