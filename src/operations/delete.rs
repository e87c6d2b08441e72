//! A delete: planned, approved, carried out and followed.

use std::{collections::BTreeSet, path::PathBuf, time::Duration};

use serde_json::Value;

use gc_cluster::{
    act::{
        Access, Answered, Deletion, DetachedObject, FollowEvent, Followed, Holding, KeepError, LetGo, RefusalCause,
        Released, Seen, Sent, cut, go_on, hold as hold_object, list_holds, look, put_back, release as release_guards,
    },
    cluster::Whole,
};
use gc_core::{
    command_line::Kubectl,
    hold::{Held, HoldRecord, MOST, NotHeld, counted_pods, meanwhile, why_not},
    model::{HOLD, Identity, ObjectEvent, ObjectId, Presence, ResourceId, Resources, Snapshot, UNCANCELLED},
    plan::{Afterwards, Consent, Gates, Plan, PlanTracker},
    server::Propagation,
    simulate::{Assume, Request},
};

use super::{
    ClusterConfig, Discovered, LiveSession, OperationError, ReadScope, TargetConfig,
    approve::{PlanFingerprint, Proposal, World},
    archive::Archiving,
    error::{HoldTrouble, Unread},
    examine::Named,
    hold::{HoldOutcome, HoldResult, dependents, record},
    live::interrupted,
    predict::{PlanOptions, PlanResult, predict, refuse_orphaning_in_vain},
    signals::Clock,
    unread::AllowIncomplete,
};

/// How to delete.
#[derive(Clone, Debug)]
pub struct DeleteConfig {
    pub propagation: Propagation,
    pub grace: Option<i64>,
    pub assume: Assume,
    /// The values of `--keep`, as typed.
    pub keep: Vec<String>,
    pub gates: Gates<String>,
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
    targets: Vec<Named>,
    /// What may stay unread whatever the question names.
    allowed: AllowIncomplete,
}

/// What a delete would do, and what the user must type first.
#[derive(Debug)]
pub struct DeletePlan {
    pub result: PlanResult,
    pub consent: Consent,
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
        let targets = session.targets.iter().flatten().map(|target| Named::of(&session.snapshot, *target)).collect();
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
        let (there, gone): (Vec<Named>, Vec<Named>) =
            self.targets.drain(..).partition(|target| snapshot.by_uid(target.uid).is_some());
        for target in gone {
            if let Presence::Present(_) = snapshot.look_up(target.coordinate) {
                return Err(OperationError::Replaced { object: target.short_name(snapshot) });
            }
            notes.push(format!("{} is already deleted.", target.short_name(snapshot)));
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
                let may_be_more = unread.is_some_and(|unread| unread.forbidden);
                return Err(OperationError::Forbidden { done, what, may_be_more });
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
const MOST_TRIED: usize = 200;

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
        let mut tried =
            DependentsTried { untried: objects.len().saturating_sub(MOST_TRIED), ..DependentsTried::default() };
        objects.truncate(MOST_TRIED);
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
        objects.iter().flat_map(|object| self.session.delete(&[*object], deletion)).collect()
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
            None => session.delete(&plan.request.targets, &deletion),
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

/// How long to hold, and where to store what is cluster-scoped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HoldConfig {
    pub time: Duration,
    /// The namespace of the Secrets of cluster-scoped targets; `None`: the kubeconfig's.
    pub namespace: Option<String>,
}

impl HoldConfig {
    /// What holding a target takes, or without a name any of a resource: the Secret, the finalizers and the DELETE.
    pub fn requests(
        &self,
        resources: &Resources,
        target: ResourceId,
        namespace: &str,
        name: &str,
        default_namespace: &str,
    ) -> Vec<Access> {
        let place = match resources.get(target).namespaced {
            true => namespace,
            false => self.namespace.as_deref().unwrap_or(default_namespace),
        };
        let secrets = resources.by_group_kind("", "Secret").into_iter();
        let secrets = secrets.flat_map(|id| Access::each(&["create", "get", "patch", "delete"], id, place, ""));
        Access::each(&["get", "patch", "delete"], target, namespace, name).chain(secrets).collect()
    }
}

/// A target that is held.
#[derive(Clone, Debug, PartialEq)]
pub struct HeldTarget {
    pub identity: Identity,
    pub holding: Holding,
    /// How many dependents it has.
    pub dependents: usize,
    /// Whether something makes it again as soon as it is gone.
    pub comes_back: bool,
}

impl Delete {
    /// Sets held targets back in the snapshot to what they were before they were deleted, so that the plan is that of
    /// their delete.
    fn plan_as_if_not_held(&mut self) {
        if self.config.hold.is_none() {
            return;
        }
        let snapshot = &self.session.snapshot;
        let targets = self.targets.iter().filter_map(|target| snapshot.by_uid(target.uid));
        let events: Vec<ObjectEvent> = targets.filter_map(|id| not_held(snapshot, id)).collect();
        self.session.snapshot.apply_events(events);
    }

    /// Checks that every target can be held, that its record fits, and that the user may do all of it. Returns what to
    /// know beforehand.
    ///
    /// # Errors
    /// Targets that can't be held; missing rights.
    fn check_hold(&mut self, plan: &Plan) -> Result<Vec<String>, OperationError> {
        let Some(config) = self.config.hold.clone() else { return Ok(Vec::new()) };
        let records = self.records(plan, String::new())?;
        let snapshot = &self.session.snapshot;
        let mut refused = Vec::new();
        let mut notes: Vec<String> = Vec::new();
        let mut patched = BTreeSet::new();
        for (id, record) in &records {
            let identity = Identity::of(snapshot, *id);
            let below = dependents(snapshot, &identity);
            for dependent in &below {
                patched.extend(snapshot.with_uid(&dependent.identity.uid));
            }
            let why = self.why_not_held(plan, *id, &record.object, below.len());
            let why = why.map(|why| format!("{} can't be held: {why}", identity.placed()));
            // Some room, because more dependents may come meanwhile.
            let size = record.size(&below);
            let big = (size > MOST - MOST / 8).then(|| {
                format!(
                    "{} can't be held: it and its {} dependents need {size} bytes of a Secret, which may have {MOST}; \
                     delete it with --archive instead",
                    identity.placed(),
                    below.len(),
                )
            });
            refused.extend(why.or(big));
            let told = format!("{}: {}", identity.short_name(), meanwhile(record.group(), &identity.kind));
            notes.extend(Some(told).filter(|told| !notes.contains(told)));
            notes.extend(comes_back(plan, *id).then(|| {
                format!(
                    "{}: something makes it again as soon as it is gone, and may be faster than cancel, which then \
                     needs --use-existing.",
                    identity.short_name()
                )
            }));
        }
        if !refused.is_empty() {
            return Err(OperationError::NotHeld(refused));
        }
        notes.extend(self.session.require_allowed(&self.hold_requests(plan, &config), "deleted")?);
        let verdicts = self.session.source.review(&snapshot.resources, &self.cancel_requests(plan, &patched));
        if let Some(what) = verdicts.forbidden(&snapshot.resources) {
            notes.push(format!("You could not take it back yourself: you may not {what}."));
        }
        Ok(notes)
    }

    fn why_not_held(&self, plan: &Plan, id: ObjectId, whole: &Value, below: usize) -> Option<NotHeld> {
        let snapshot = &self.session.snapshot;
        let object = snapshot.object(id);
        let resource = snapshot.resources.get(object.resource);
        let others = plan.request.targets.iter().copied().filter(|other| *other != id);
        let mut owners = others.filter(|other| {
            let uid = snapshot.object(*other).uid;
            object.owners.iter().any(|reference| reference.uid == uid)
        });
        if let Some(owner) = owners.next() {
            return Some(NotHeld::Below(snapshot.short_name(owner)));
        }
        let lacking = ["get", "patch", "delete", "create"].into_iter().find(|verb| !resource.has_verb(verb));
        let is_job = (resource.group.as_str(), resource.kind.as_str()) == ("batch", "Job");
        let gone = is_job && counted_pods(whole) > i64::try_from(below).unwrap_or(i64::MAX);
        why_not(&resource.group, whole)
            .or_else(|| lacking.map(NotHeld::Verb))
            .or_else(|| gone.then_some(NotHeld::PodsGone))
    }

    /// The namespace of the Secret of an object.
    fn secret_namespace(&self, record: &HoldRecord) -> String {
        if !record.about.identity.namespace.is_empty() {
            return record.about.identity.namespace.clone();
        }
        let chosen = self.config.hold.as_ref().and_then(|hold| hold.namespace.clone());
        // One that is held has its Secret already.
        let known = || {
            let finalizers = record.object["metadata"]["finalizers"].as_array().into_iter().flatten();
            Held::of(finalizers.filter_map(Value::as_str))?;
            let (all, _) = self.session.run(async |connection, _| list_holds(connection, None).await).ok()?;
            all.into_iter()
                .find(|hold| hold.record.about.identity.uid == record.about.identity.uid)
                .map(|hold| hold.namespace)
        };
        let default = || self.session.run(async |connection, _| connection.default_namespace().to_owned());
        chosen.or_else(known).unwrap_or_else(default)
    }

    /// The whole targets.
    fn records(&self, plan: &Plan, until: String) -> Result<Vec<(ObjectId, HoldRecord)>, OperationError> {
        let targets = &plan.request.targets;
        let (mut records, mut failed) = (Vec::new(), Vec::new());
        let take = |id, whole| {
            let snapshot = &self.session.snapshot;
            let name = || Identity::of(snapshot, id).placed();
            match whole {
                Whole::Object(whole) => match record(snapshot, id, *whole, until.clone()) {
                    Some(record) => records.push((id, record)),
                    None => failed.push(format!("{} can't be held: it has no path in the API", name())),
                },
                Whole::Gone => failed.push(format!("{} was deleted or replaced; try again", name())),
                Whole::Unreadable(why) => failed.push(format!("{} can't be held: it can't be read: {why}", name())),
            }
            Ok::<(), std::convert::Infallible>(())
        };
        let read = self.session.run(async |connection, snapshot| connection.fetch_whole(snapshot, targets, take).await);
        match read {
            Ok(()) if failed.is_empty() => Ok(records),
            Ok(()) => Err(OperationError::NotHeld(failed)),
            Err(never) => match never {},
        }
    }

    /// The user's own requests: the Secret, the finalizers and the DELETE.
    fn hold_requests(&self, plan: &Plan, config: &HoldConfig) -> BTreeSet<Access> {
        let snapshot = &self.session.snapshot;
        let default = self.session.run(async |connection, _| connection.default_namespace().to_owned());
        let requests = plan.request.targets.iter().flat_map(|target| {
            let object = snapshot.object(*target);
            let (namespace, name) = (snapshot.text(object.namespace), snapshot.text(object.name));
            config.requests(&snapshot.resources, object.resource, namespace, name, &default)
        });
        requests.collect()
    }

    /// What `cancel` sends beyond that.
    fn cancel_requests(&self, plan: &Plan, dependents: &BTreeSet<ObjectId>) -> BTreeSet<Access> {
        let snapshot = &self.session.snapshot;
        let create = plan.request.targets.iter().flat_map(|target| {
            let object = snapshot.object(*target);
            Access::each(&["create"], object.resource, snapshot.text(object.namespace), "")
        });
        create.chain(dependents.iter().flat_map(|one| Access::to(&["patch"], snapshot, *one))).collect()
    }

    /// Holds all targets, one after the other, until this time (RFC 3339).
    ///
    /// # Errors
    /// The first that can't be held. Those before it are held; the error names them.
    pub fn hold(&mut self, plan: &Plan, until: String) -> Result<Vec<HeldTarget>, OperationError> {
        let records = self.records(plan, until)?;
        let mut held: Vec<HeldTarget> = Vec::new();
        for (id, record) in records {
            let identity = Identity::of(&self.session.snapshot, id);
            let (namespace, grace) = (self.secret_namespace(&record), self.config.grace);
            let at_once = self.config.hold.as_ref().is_some_and(|hold| hold.time.is_zero());
            let hold = async |connection: &_, _: &_| hold_object(connection, &namespace, record, grace, at_once).await;
            let done = self.session.run(hold);
            match done {
                Ok(holding) => {
                    let dependents = dependents(&self.session.snapshot, &identity).len();
                    held.push(HeldTarget { identity, holding, dependents, comes_back: comes_back(plan, id) });
                }
                Err(why) => {
                    let others = held.iter().map(|one| format!("{} is held.", one.identity.placed())).collect();
                    let object = identity.placed();
                    return Err(HoldTrouble { object, what: "held, and not deleted", why, others }.into());
                }
            }
        }
        Ok(held)
    }

    /// Looks at each held target.
    ///
    /// # Errors
    /// Why one could not be read.
    pub fn look(&self, held: &[HeldTarget]) -> Result<Vec<Seen>, String> {
        self.session.run(async |connection, _| {
            let mut seen = Vec::with_capacity(held.len());
            for one in held {
                seen.push(look(connection, &one.holding.stored).await.map_err(|failure| failure.in_full())?);
            }
            Ok(seen)
        })
    }

    /// Waits for this time, or until `ends` is done; applies what has happened meanwhile. Returns whether it is done.
    pub fn wait_a_moment<T>(&mut self, time: Duration, ends: impl Future<Output = T>) -> Option<T> {
        let ended = self.session.run(async |_, _| tokio::time::timeout(time, ends).await.ok());
        self.session.catch_up();
        ended
    }

    /// Lets the targets go, one after the other, and stops at the first that can't be.
    fn let_go(&mut self, held: &[HeldTarget]) -> Vec<Sent> {
        let mut sent: Vec<Sent> = Vec::new();
        let mut stopped = false;
        for one in held {
            let target = one.identity.clone();
            if stopped {
                sent.push(Sent { target, answered: Answered::NotSent, seen: None });
                continue;
            }
            let done = self.session.run(async |connection, _| go_on(connection, &one.holding.stored).await);
            let answered = match done {
                Ok(LetGo::Now) => Answered::Removed,
                Ok(LetGo::Before) => Answered::GoneBefore,
                Err(why) => {
                    stopped = true;
                    Answered::Failed { reason: why.to_string() }
                }
            };
            let snapshot = &self.session.snapshot;
            let id = snapshot.with_uid(&target.uid);
            let seen = id.filter(|_| !answered.failed()).map(|id| ObjectEvent::of_gone(snapshot, id));
            sent.push(Sent { target, answered, seen });
        }
        sent
    }
}

/// Whether something makes an object again as soon as it is gone, or may.
fn comes_back(plan: &Plan, target: ObjectId) -> bool {
    let reactions = plan.outcomes.iter().filter(|outcome| outcome.object == target).flat_map(|it| &it.afterwards);
    reactions.into_iter().any(|reaction| reaction.recreates() || matches!(reaction, Afterwards::MayBeRecreated { .. }))
}

/// The event that sets a held object back to what it was; none if it isn't held, or is being taken back.
fn not_held(snapshot: &Snapshot, id: ObjectId) -> Option<ObjectEvent> {
    let object = snapshot.object(id);
    let finalizers = object.finalizers.iter().map(|finalizer| snapshot.text(*finalizer));
    if Held::of(finalizers) != Some(Held::Waits) {
        return None;
    }
    let mut raw = snapshot.raw(id).into_owned();
    raw.finalizers.retain(|finalizer| finalizer != HOLD && finalizer != UNCANCELLED);
    (raw.deleted, raw.grace) = (None, None);
    Some(ObjectEvent { resource: object.resource, object: raw, gone: false })
}

impl HeldTarget {
    /// That it waits.
    pub fn waits(&self) -> HoldResult {
        let stored = &self.holding.stored;
        let outcome = HoldOutcome::Held { until: stored.record.about.until.clone() };
        let result = HoldResult::of(stored, outcome, self.dependents);
        HoldResult { object: self.identity.clone(), use_existing: self.comes_back, ..result }
    }
}
