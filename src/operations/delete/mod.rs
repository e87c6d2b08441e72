//! A delete: planned, approved, carried out and followed.

mod held;

use std::{collections::BTreeSet, path::PathBuf, time::Duration};

use gc_cluster::act::{
    Access, Answered, Deletion, DetachedObject, FollowEvent, Followed, KeepError, RefusalCause, Released, Sent, cut,
    put_back, release as release_guards,
};
use gc_core::{
    command_line::Kubectl,
    model::{Coordinate, Identity, ObjectId, Presence, ResourceId, Snapshot, Symbol},
    plan::{Consent, Plan, PlanTracker},
    server::Propagation,
    simulate::{Assume, Request},
};

use super::{
    ClusterConfig, Discovered, LiveSession, OperationError, ReadScope, TargetConfig,
    approve::{PlanFingerprint, Proposal, World},
    archive::Archiving,
    error::Unread,
    live::interrupted,
    predict::{NamedGates, PlanOptions, PlanResult, predict, refuse_orphaning_in_vain},
    signals::Clock,
    unread::AllowIncomplete,
};

pub use held::{HeldTarget, HoldConfig};

/// How to delete.
#[derive(Clone, Debug)]
pub struct DeleteConfig {
    pub propagation: Propagation,
    pub grace: Option<i64>,
    pub assume: Assume,
    /// The values of `--keep`, as typed.
    pub keep: Vec<String>,
    pub gates: NamedGates,
    /// Write nothing to the cluster, nor to an archive.
    pub dry_run: bool,
    /// The archive to write before anything is deleted.
    pub archive: Option<PathBuf>,
    pub allow_incomplete: AllowIncomplete,
    /// Whether a user is asked on a terminal.
    pub asks: bool,
    /// For more objects than this, the user must type their number.
    pub confirm_above: usize,
    /// Whether the delete waits and can be taken back.
    pub hold: Option<HoldConfig>,
}

/// A delete that is being approved.
pub struct Delete {
    pub session: LiveSession,
    pub config: DeleteConfig,
    /// The archive of all objects that will be deleted, if one is wanted.
    pub archived: Option<Archiving>,
    options: PlanOptions,
    targets: Vec<Target>,
    /// What may stay unread whatever the question names.
    allowed: AllowIncomplete,
}

/// What a delete would do, and what the user must type first.
#[derive(Debug)]
pub struct DeletePlan {
    pub result: PlanResult,
    pub consent: Consent,
}

/// A target by its uid: ids change, uids don't.
#[derive(Clone, Debug)]
struct Target {
    uid: Symbol,
    coordinate: Coordinate,
    name: String,
}

impl Target {
    fn of(snapshot: &Snapshot, object: ObjectId) -> Self {
        let found = snapshot.object(object);
        Target { uid: found.uid, coordinate: found.coordinate(), name: snapshot.short_name(object) }
    }
}

impl Delete {
    /// Begins the archive, and reads the cluster.
    ///
    /// # Errors
    /// Why the archive can't be written, or the targets can't be read.
    pub fn open(
        cluster: &ClusterConfig,
        targets: &TargetConfig,
        mut config: DeleteConfig,
    ) -> Result<Self, OperationError> {
        let path = config.archive.as_deref().filter(|_| !config.dry_run);
        let archived = path.map(Archiving::begin_or_resume).transpose()?;
        // An earlier, interrupted run of this command may have deleted some targets already.
        let resumed = archived.as_ref().is_some_and(Archiving::resumed);
        let targets = TargetConfig { ignore_not_found: targets.ignore_not_found || resumed, ..targets.clone() };
        let discovered = Discovered::expecting(cluster, &targets, ReadScope::Diagnosis)?;
        config.allow_incomplete = config.allow_incomplete.resolve(&discovered.resources)?;
        let options =
            PlanOptions::of(&discovered.resources, &config.keep, &config.gates)?.allowing(&config.allow_incomplete);
        let allowed = config.allow_incomplete.clone();
        if config.asks {
            config.allow_incomplete = config.allow_incomplete.or_asked();
        }
        let mut session = discovered.read(&targets, ReadScope::Diagnosis)?;
        if !config.dry_run {
            // Watch from where the lists ended, so that no event is missed.
            session.watch();
        }
        let targets = session.targets.iter().flatten().map(|target| Target::of(&session.snapshot, *target)).collect();
        Ok(Delete { session, config, archived, options, targets, allowed })
    }

    /// What a question must say was not read.
    pub fn unread_in_question(&self, plan: &Plan) -> Option<String> {
        let unread = self.config.asks.then(|| Unread::of_plan(&self.session, plan, &self.allowed)).flatten();
        unread.map(|unread| unread.in_question())
    }

    /// The options of each DELETE.
    fn deletion(&self, dry_run: bool) -> Deletion {
        Deletion { propagation: self.config.propagation, grace: self.config.grace, dry_run }
    }

    /// The targets that still exist.
    ///
    /// # Errors
    /// If another object has the name of a target: the user has not approved its deletion.
    fn targets_now(&mut self, notes: &mut Vec<String>) -> Result<Vec<ObjectId>, OperationError> {
        let snapshot = &self.session.snapshot;
        let (there, gone): (Vec<Target>, Vec<Target>) =
            self.targets.drain(..).partition(|target| snapshot.by_uid(target.uid).is_some());
        for target in gone {
            if let Presence::Present(_) = snapshot.look_up(target.coordinate) {
                return Err(OperationError::Replaced { object: target.name });
            }
            notes.push(format!("{} is already deleted.", target.name));
        }
        let found = there.iter().filter_map(|target| snapshot.by_uid(target.uid)).collect();
        self.targets = there;
        Ok(found)
    }
}

/// The user's own requests: a PATCH for each kept object, and a DELETE for each target. The collector does the rest.
fn requests(snapshot: &Snapshot, request: &Request) -> BTreeSet<Access> {
    let kept = request.cuts.iter().flat_map(|cut| Access::to(&["patch"], snapshot, cut.object));
    kept.chain(request.targets.iter().flat_map(|target| Access::to(&["delete"], snapshot, *target))).collect()
}

impl Proposal for Delete {
    type Plan = DeletePlan;
    type Fingerprint = PlanFingerprint;

    fn plan(&mut self, notes: &mut Vec<String>) -> Result<Option<DeletePlan>, OperationError> {
        self.plan_as_if_not_held();
        let targets = self.targets_now(notes)?;
        if let Some(archived) = &self.archived {
            archived.check(&self.session.snapshot, &targets)?;
        }
        if targets.is_empty() {
            return Ok(None);
        }
        let request = Request { grace: self.config.grace, ..Request::delete(targets, self.config.propagation) };
        let result = predict(&mut self.session, &request, self.config.assume, &self.options)?;
        let news: Vec<String> = result.notes.iter().filter(|note| !notes.contains(note)).cloned().collect();
        notes.extend(news);
        let consent = Consent::to(&self.session.snapshot, &result.plan, self.config.confirm_above);
        Ok(Some(DeletePlan { result, consent }))
    }

    fn fingerprint(&self, plan: &DeletePlan) -> PlanFingerprint {
        PlanFingerprint::of(&self.session.snapshot, &plan.result.plan, plan.consent)
    }

    /// A gate forbids it.
    fn is_settled(&self, plan: &DeletePlan) -> bool {
        !plan.result.gate_violations.is_empty()
    }

    fn check(&mut self, plan: &DeletePlan, notes: &mut Vec<String>) -> Result<(), OperationError> {
        let (snapshot, plan) = (&self.session.snapshot, &plan.result.plan);
        refuse_orphaning_in_vain(snapshot, plan)?;
        let allowed = self.session.require_allowed(&requests(snapshot, &plan.request), "deleted");
        match (allowed, Unread::of_plan(&self.session, plan, &self.config.allow_incomplete).map(Box::new)) {
            (Ok(note), None) => notes.extend(note),
            (Ok(_), Some(unread)) => return Err(OperationError::Incomplete(unread)),
            // What the user may not do comes first: no flag helps there.
            (Err(OperationError::Forbidden { done, what, .. }), unread) => {
                return Err(OperationError::Forbidden { done, what, unread });
            }
            (Err(why), _) => return Err(why),
        }
        let told = self.check_hold(plan)?;
        notes.extend(told.into_iter().filter(|told| !notes.contains(told)).collect::<Vec<_>>());
        Ok(())
    }

    fn begin_archive(&mut self, plan: &DeletePlan, now: &jiff::Zoned) -> Result<Vec<String>, OperationError> {
        let path = default_path(&self.session.snapshot, &plan.result.plan, now);
        self.archived = Some(Archiving::begin_or_resume(&path)?);
        self.complete_archive(plan)?;
        Ok(self.archived.as_ref().map(Archiving::describe).unwrap_or_default())
    }

    fn complete_archive(&mut self, plan: &DeletePlan) -> Result<bool, OperationError> {
        let DeleteConfig { assume, allow_incomplete, .. } = &self.config;
        let complete =
            |archived: &mut Archiving| archived.complete(&self.session, &plan.result.plan, *assume, allow_incomplete);
        self.archived.as_mut().map_or(Ok(false), complete)
    }

    fn time_has_passed(&mut self) {
        if let Some(archived) = &mut self.archived {
            archived.grow_stale();
        }
    }

    fn world(&mut self) -> Option<&mut dyn World> {
        Some(&mut self.session)
    }

    /// Resources that the collector doesn't watch have no dependents. Those among the targets go by their uids,
    /// whatever came since.
    fn concerns(&self, resource: ResourceId) -> bool {
        self.session.snapshot.resources.not_watched(resource).is_none()
    }
}

/// A new file in the current folder, named after the first target and the time.
pub(super) fn default_path(snapshot: &Snapshot, plan: &Plan, now: &jiff::Zoned) -> PathBuf {
    let now = now.strftime("%Y%m%d-%H%M%S%.3f").to_string();
    let safe = |text: &str| {
        text.chars().map(|c| if c.is_ascii_alphanumeric() || "-.".contains(c) { c } else { '_' }).collect::<String>()
    };
    let first = plan.request.targets.first().map_or_else(String::new, |target| {
        let object = snapshot.object(*target);
        let kind = snapshot.resources.get(object.resource).kind.to_lowercase();
        let namespace =
            if object.namespace.is_empty() { String::new() } else { format!("{}-", snapshot.text(object.namespace)) };
        format!("{namespace}{kind}-{}-", safe(snapshot.text(object.name)))
    });
    PathBuf::from(format!("{first}{now}.yaml"))
}

/// At most this many dependents are tried: each is a request.
const MOST: usize = 200;

/// What the API server says about the DELETEs that follow from a delete, if the user sent them. It may say something
/// else to the collector and the namespace controller: webhooks and policies see who asks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DependentsTried {
    /// How many it would delete.
    pub accepted: usize,
    pub refusals: Vec<Objection>,
    /// How many the user may not delete, so that nothing is known about them.
    pub forbidden: usize,
    /// How many were not tried.
    pub untried: usize,
}

impl Delete {
    /// The API server's objections to the DELETE of each target.
    pub fn server_refusals(&mut self, targets: &[ObjectId]) -> Vec<Objection> {
        let deletion = self.deletion(true);
        let sent: Vec<Sent> = self.try_out(targets, &deletion);
        sent.iter().filter_map(objection).collect()
    }

    /// Sends a dry run for each other object that the plan deletes, or would delete without an obstacle.
    pub fn try_dependents(&mut self, plan: &Plan) -> DependentsTried {
        let removed = plan.outcomes.iter().filter(|outcome| outcome.kind.removes()).map(|outcome| outcome.object);
        let prevented = plan.obstacles.iter().flat_map(|obstacle| obstacle.prevents.iter().copied());
        let mut objects: Vec<ObjectId> = removed.chain(prevented).collect();
        objects.sort_unstable();
        objects.dedup();
        objects.retain(|id| !plan.request.targets.contains(id) && !self.session.snapshot.object(*id).terminating());
        let mut tried = DependentsTried { untried: objects.len().saturating_sub(MOST), ..DependentsTried::default() };
        objects.truncate(MOST);
        let deletion = Deletion { propagation: Propagation::Background, grace: None, dry_run: true };
        for sent in self.try_out(&objects, &deletion) {
            match objection(&sent) {
                None => tried.accepted += 1,
                // The user's rights say nothing about the collector's.
                Some(objection) if objection.cause == RefusalCause::Rights => tried.forbidden += 1,
                Some(objection) => tried.refusals.push(objection),
            }
        }
        tried
    }

    fn try_out(&self, objects: &[ObjectId], deletion: &Deletion) -> Vec<Sent> {
        objects.iter().flat_map(|object| self.session.delete(&[*object], deletion, &mut |_| ())).collect()
    }
}

/// Why the API server would not delete an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Objection {
    /// A sentence.
    pub words: String,
    pub cause: RefusalCause,
}

/// Why the API server would not delete an object; `None` if it would.
fn objection(sent: &Sent) -> Option<Objection> {
    let name = sent.target.short_name();
    match &sent.answered {
        Answered::Removed | Answered::Accepted | Answered::GoneBefore | Answered::Replaced | Answered::NotSent => None,
        Answered::Refused { reason, cause } => {
            Some(Objection { words: format!("the API server refuses to delete {name}: {reason}"), cause: *cause })
        }
        Answered::Unsure { reason } | Answered::Failed { reason } => Some(Objection {
            words: format!("whether the API server would delete {name} is not known: {reason}"),
            cause: RefusalCause::Other,
        }),
    }
}

/// How long to wait for the former owners of kept objects.
const UNTIL_RELEASED: Duration = Duration::from_secs(60);

/// The result of a delete.
pub struct Done {
    pub sent: Vec<Sent>,
    pub followed: Option<Followed>,
    pub took: Duration,
    /// Objects that were kept, and need nothing more.
    pub kept: Vec<Identity>,
    /// Messages about kept objects that need more work.
    pub unfinished: Vec<String>,
}

/// How to carry out a delete.
pub struct CarryOut<'a> {
    /// Whether to follow the cascade.
    pub wait: bool,
    /// How long to follow; `None`: no limit.
    pub timeout: Option<Duration>,
    /// How to call kubectl for this cluster.
    pub kubectl: &'a Kubectl,
    pub clock: &'a dyn Clock,
    /// The targets that are held: they are let go instead of deleted.
    pub held: Option<&'a [HeldTarget]>,
}

impl Delete {
    /// Removes references from kept objects, sends the DELETEs, and follows the cascade.
    ///
    /// # Errors
    /// Objects that can't be kept; nothing was deleted then.
    pub fn carry_out(
        &mut self,
        plan: &Plan,
        how: &CarryOut<'_>,
        observer: &mut dyn FnMut(FollowEvent),
    ) -> Result<Done, KeepError> {
        let (deletion, assume) = (self.deletion(false), self.config.assume);
        let session = &mut self.session;
        let begun = how.clock.elapsed();
        let took = || how.clock.elapsed().saturating_sub(begun);
        let course = PlanTracker::new(&session.snapshot, plan);
        session.hear_interrupts();
        let detached = session.run(async |connection, snapshot| cut(connection, snapshot, &plan.request.cuts).await)?;
        let sent = match how.held {
            Some(held) => self.let_go(held),
            None => session.delete(&plan.request.targets, &deletion, &mut |_| ()),
        };
        let session = &mut self.session;
        // If an answer was lost, the delete may have been done: kept objects stay detached then.
        if !sent.iter().any(|sent| sent.answered.may_be_done()) {
            let left = session.run(async |connection, snapshot| put_back(connection, snapshot, &detached).await);
            let unfinished = left.into_iter().map(|(object, why)| format!("{object} {why}")).collect();
            return Ok(Done { sent, followed: None, took: took(), kept: Vec::new(), unfinished });
        }
        let (kept, unfinished) = release(session, plan, how, &detached);
        let followed = how.wait.then(|| session.follow(course, &sent, assume, how.timeout, observer));
        Ok(Done { sent, followed, took: took(), kept, unfinished })
    }
}

/// Removes the guards from kept objects. Returns the objects that are done, and messages about the others.
fn release(
    session: &LiveSession,
    plan: &Plan,
    how: &CarryOut<'_>,
    detached: &[DetachedObject],
) -> (Vec<Identity>, Vec<String>) {
    let snapshot = &session.snapshot;
    let guarded = |one: &DetachedObject, why: &str| {
        let name = snapshot.short_name(one.object);
        let command = one.release_command(snapshot, how.kubectl)?;
        Some(format!(
            "{name} is kept; it still has itself as its controller, because {why}. Remove that later with: \
             {command}"
        ))
    };
    if detached.is_empty() {
        return Default::default();
    }
    let patience = how.timeout.unwrap_or(UNTIL_RELEASED).min(UNTIL_RELEASED);
    let released = session.run(async |connection, snapshot| {
        tokio::select! {
            released = release_guards(connection, snapshot, plan, detached, patience) => released.map(Some),
            () = interrupted() => Ok(None),
        }
    });
    let released = match released {
        Ok(Some(released)) => released,
        Ok(None) => {
            return (Vec::new(), detached.iter().filter_map(|one| guarded(one, "the wait was interrupted")).collect());
        }
        Err(KeepError { object, place, why, .. }) => {
            let mut unfinished = vec![format!(
                "{object}{place} is kept, but its temporary controller reference could not be removed: {why}"
            )];
            unfinished.extend(detached.iter().filter_map(|one| guarded(one, "removing these references was given up")));
            return (Vec::new(), unfinished);
        }
    };
    let (mut kept, mut unfinished) = (Vec::new(), Vec::new());
    for ((object, released), one) in released.into_iter().zip(detached) {
        match released {
            Released::Free => kept.push(Identity::of(snapshot, object)),
            Released::Guarded(owner) => {
                let why = format!("{} still exists and would adopt it again", snapshot.short_name(owner));
                unfinished.extend(guarded(one, &why));
            }
            Released::Lost => unfinished
                .push(format!("{} was to be kept, but another client has deleted it.", snapshot.short_name(object))),
        }
    }
    (kept, unfinished)
}
