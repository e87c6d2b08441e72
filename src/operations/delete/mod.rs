//! A delete: planned, approved, carried out and followed.

mod archived;
mod carry_out;
mod dry_run;
mod held;

use std::{collections::BTreeSet, path::PathBuf};

use crate::{
    act::{Access, Deletion},
    model::{Coordinate, ObjectId, Presence, ResourceId, Snapshot, Symbol},
    plan::{Consent, Plan},
    server::Propagation,
    simulate::{Assume, Request},
};

pub use self::{
    archived::Archived,
    carry_out::{CarryOut, Done},
    dry_run::DependentsTried,
    held::{HeldTarget, HoldConfig},
};

use super::{
    ClusterConfig, Discovered, LiveSession, OperationError, ReadScope, TargetConfig,
    approve::{Proposal, World},
    fingerprint::PlanFingerprint,
    predict::{NamedGates, PlanOptions, PlanResult, predict, refuse_orphaning_in_vain},
    unread::{AllowIncomplete, Unread},
};

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
    pub archived: Option<Archived>,
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
        let archived = path.map(Archived::begin).transpose()?;
        // An earlier, interrupted run of this command may have deleted some targets already.
        let resumed = archived.as_ref().is_some_and(Archived::resumed);
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
        if let Some(unread) = Unread::of_plan(&self.session, plan, &self.config.allow_incomplete) {
            return Err(OperationError::Incomplete(Box::new(unread)));
        }
        notes.extend(self.session.require_allowed(&requests(snapshot, &plan.request), "deleted")?);
        let told = self.check_hold(plan)?;
        notes.extend(told.into_iter().filter(|told| !notes.contains(told)).collect::<Vec<_>>());
        Ok(())
    }

    fn begin_archive(&mut self, plan: &DeletePlan, now: &jiff::Zoned) -> Result<Vec<String>, OperationError> {
        let path = archived::default_path(&self.session.snapshot, &plan.result.plan, now);
        self.archived = Some(Archived::begin(&path)?);
        self.complete_archive(plan)?;
        Ok(self.archived.as_ref().map(Archived::describe).unwrap_or_default())
    }

    fn complete_archive(&mut self, plan: &DeletePlan) -> Result<bool, OperationError> {
        let DeleteConfig { assume, allow_incomplete, .. } = &self.config;
        let complete =
            |archived: &mut Archived| archived.complete(&self.session, &plan.result.plan, *assume, allow_incomplete);
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
