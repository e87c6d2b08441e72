//! A delete that waits: checked beforehand, begun, watched, and let go.

use std::{collections::BTreeSet, time::Duration};

use serde_json::Value;

use gc_cluster::{
    act::{Access, Answered, Holding, LetGo, Seen, Sent, go_on, hold as hold_object, list_holds, look},
    cluster::Whole,
};
use gc_core::{
    hold::{Held, HoldRecord, MOST, NotHeld, counted_pods, meanwhile, why_not},
    model::{HOLD, Identity, ObjectEvent, ObjectId, ResourceId, Resources, Snapshot, UNCANCELLED},
    plan::Plan,
};

use super::{
    super::{
        OperationError,
        error::HoldTrouble,
        hold::{HoldOutcome, HoldResult, dependents, record},
    },
    Delete,
};

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
}

impl Delete {
    /// Sets held targets back in the snapshot to what they were before they were deleted, so that the plan is that of
    /// their delete.
    pub(super) fn plan_as_if_not_held(&mut self) {
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
    pub(super) fn check_hold(&mut self, plan: &Plan) -> Result<Vec<String>, OperationError> {
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
            let done = self.session.run(async |connection, _| hold_object(connection, &namespace, record, grace).await);
            match done {
                Ok(holding) => {
                    let dependents = dependents(&self.session.snapshot, &identity).len();
                    held.push(HeldTarget { identity, holding, dependents });
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
    pub(super) fn let_go(&mut self, held: &[HeldTarget]) -> Vec<Sent> {
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
        HoldResult {
            object: self.identity.clone(),
            outcome: HoldOutcome::Held { until: stored.record.about.until.clone() },
            secret: (stored.namespace.clone(), stored.name.clone()),
            new_uid: None,
            dependents: self.dependents,
            notes: Vec::new(),
        }
    }
}
