//! Deletes that wait: records of objects in a snapshot and their dependents, for `delete --hold` and `cancel`; and how
//! they are taken back.

use std::collections::BTreeSet;

use clap::Args;
use serde::Serialize;
use serde_json::Value;

use gc_cluster::{
    act::{Access, Begun, HoldFailure, StoredHold, TakeBack, find_hold, list_holds},
    cluster::{Scope, path},
};
use gc_core::{
    graph::OwnerGraph,
    hold::{About, HeldDependent, HoldRecord, MOST, SECRET_PREFIX, Stage, adopts},
    model::{Gap, HOLD, Identity, Mapping, ObjectId, RawObject, ResourceId, Resources, Snapshot, group_of},
};

use super::{
    ClusterConfig, Discovered, LiveSession, OperationError, ReadScope, TargetConfig, rights::Rights,
    targets::type_and_names,
};

/// What came of one hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome")]
pub enum HoldOutcome {
    /// It waits, at least until this time, and until somebody lets it go.
    Held { until: String },
    /// It exists again, and its dependents have references to it.
    TakenBack,
    /// It would.
    WouldBeTakenBack,
    /// It was never deleted; its hold is removed.
    NotDeleted,
    /// Its delete went on before.
    GoneOn,
    /// It was taken back, and deleted again since.
    DeletedAgain,
    /// Another client takes it back, or has.
    ByOthers,
    /// It isn't taken back yet.
    Failed,
}

/// One hold, and what came of it, as documents have it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HoldResult {
    /// As it was deleted.
    pub object: Identity,
    #[serde(flatten)]
    pub outcome: HoldOutcome,
    pub secret: HoldSecret,
    /// How many dependents it has.
    pub dependents: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_uid: Option<String>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// Whether another object has its name, or will before it is created again: its dependents can only get that one.
    #[serde(skip)]
    pub use_existing: bool,
    pub notes: Vec<String>,
}

/// Where a hold is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HoldSecret {
    pub namespace: String,
    pub name: String,
}

impl HoldResult {
    pub(super) fn of(stored: &StoredHold, outcome: HoldOutcome, dependents: usize) -> Self {
        let object = stored.record.about.identity.clone();
        let secret = HoldSecret { namespace: stored.namespace.clone(), name: stored.name.clone() };
        Self::new(object, outcome, secret, dependents)
    }

    /// What came of a hold, without more to say of it.
    pub(crate) fn new(object: Identity, outcome: HoldOutcome, secret: HoldSecret, dependents: usize) -> Self {
        HoldResult {
            object,
            outcome,
            secret,
            dependents,
            current_uid: None,
            because: None,
            use_existing: false,
            notes: Vec::new(),
        }
    }
}

/// The record of an object that was read whole. None if its name is no path in the API.
pub(super) fn record(snapshot: &Snapshot, id: ObjectId, whole: Value, until: String) -> Option<HoldRecord> {
    let about = About {
        path: path::of(snapshot, id)?.url().to_owned(),
        identity: Identity::of(snapshot, id),
        has_status: snapshot.resource(id).has_status,
        until,
        stage: Stage::Held,
        new_uid: None,
        dependents: Vec::new(),
    };
    Some(HoldRecord { about, object: whole })
}

/// The dependents of an object, by its uid. One in another namespace is none (R3.7).
pub(super) fn dependents(snapshot: &Snapshot, owner: &Identity) -> Vec<HeldDependent> {
    let graph = OwnerGraph::new(snapshot);
    let node = snapshot.strings.find(&owner.uid).and_then(|uid| graph.by_uid(uid));
    let ids = node.map_or(&[][..], |node| graph.dependents(node));
    ids.iter().filter_map(|id| dependent(snapshot, *id, owner)).collect()
}

fn dependent(snapshot: &Snapshot, id: ObjectId, owner: &Identity) -> Option<HeldDependent> {
    let object = snapshot.object(id);
    let resource = snapshot.resources.get(object.resource);
    if !owner.namespace.is_empty() && snapshot.text(object.namespace) != owner.namespace {
        return None;
    }
    let written = object.owners.iter().find(|reference| snapshot.text(reference.uid) == owner.uid)?;
    let reference = serde_json::to_value(gc_core::document::Named(snapshot, written)).ok()?;
    let owner_group = group_of(&owner.api_version);
    let adopted = written.is_controller()
        && adopts((owner_group, owner.kind.as_str()), (resource.group.as_str(), resource.kind.as_str()));
    Some(HeldDependent {
        path: path::of(snapshot, id)?.url().to_owned(),
        identity: Identity::of(snapshot, id),
        reference,
        adopted,
    })
}

/// The uids of owners of an object that verifiably don't exist: with a reference to one, a new object would be deleted
/// at once.
pub(super) fn lost_owners(snapshot: &Snapshot, whole: &Value) -> Vec<String> {
    let namespace = whole["metadata"]["namespace"].as_str().unwrap_or_default();
    let references = whole["metadata"]["ownerReferences"].as_array().into_iter().flatten();
    let text = |reference: &Value, field: &str| reference[field].as_str().unwrap_or_default().to_owned();
    let is_lost = |reference: &&Value| {
        let uid = text(reference, "uid");
        let there = snapshot.with_uid(&uid).is_some();
        let mapping = snapshot.resources.map(&text(reference, "apiVersion"), &text(reference, "kind"));
        let covered = match mapping {
            Mapping::Served(resource) => {
                let place = Some(namespace).filter(|namespace| !namespace.is_empty());
                let symbol = place.and_then(|namespace| snapshot.strings.find(namespace));
                snapshot.covers(resource, symbol) || snapshot.covers(resource, None)
            }
            _ => false,
        };
        !there && covered
    };
    references.filter(is_lost).map(|reference| text(reference, "uid")).collect()
}

/// How often dependents that come meanwhile get guards. Those that come later are freed by the collector.
const ROUNDS: usize = 4;

/// What to take back, and how.
#[derive(Clone, Debug, Default, Args)]
pub struct CancelConfig {
    /// TYPE/NAME..., or TYPE NAME...: what was deleted with --hold, or its Secret
    #[arg(value_name = "TARGET", required = true)]
    pub targets: Vec<String>,
    /// Where the Secrets of cluster-scoped TARGETs are; without it all namespaces
    #[arg(long, value_name = "NAMESPACE")]
    pub hold_namespace: Option<String>,
    /// If another object has the name by now, make it the owner of the dependents
    #[arg(long)]
    pub use_existing: bool,
    /// Go on even if something that could not be read may contain dependents
    #[arg(long)]
    pub allow_incomplete: bool,
    /// `-n`
    #[arg(skip)]
    pub namespace: Option<String>,
}

/// Deletes that are to be taken back.
pub struct Cancel {
    pub session: LiveSession,
    config: CancelConfig,
    holds: Vec<StoredHold>,
}

impl Cancel {
    /// Finds the holds, and reads what may be their dependents.
    ///
    /// # Errors
    /// Objects of which no delete waits; why the cluster can't be read.
    pub fn open(cluster: &ClusterConfig, config: CancelConfig) -> Result<Self, OperationError> {
        let discovered = Discovered::connect(cluster)?;
        let names = type_and_names(&config.targets)?;
        let namespace = config.namespace.clone().unwrap_or_else(|| discovered.namespace());
        let (mut holds, mut missing): (Vec<StoredHold>, Vec<String>) = Default::default();
        for (of_type, name) in names {
            let resource = discovered.resources.find_type(&of_type).map_err(super::targets::TargetError::from)?;
            match find(&discovered, &config, resource, &namespace, &name)? {
                Ok(found) => holds.extend(found),
                Err(why) => missing.push(why),
            }
        }
        if !missing.is_empty() {
            return Err(OperationError::NoHold(missing));
        }
        // An object and its Secret may both be named.
        holds.sort_by(|a, b| (&a.namespace, &a.name).cmp(&(&b.namespace, &b.name)));
        holds.dedup_by(|a, b| a.namespace == b.namespace && a.name == b.name);
        let identities: Vec<Identity> = holds.iter().map(|hold| hold.record.about.identity.clone()).collect();
        let mut namespaces: Vec<&str> = identities.iter().map(|object| object.namespace.as_str()).collect();
        namespaces.dedup();
        let only = Some(namespaces).filter(|all| all.len() == 1).and_then(|all| all.first().copied());
        let targets = TargetConfig {
            namespace: only.filter(|namespace| !namespace.is_empty()).map(str::to_owned),
            ..TargetConfig::of_objects(&identities)
        };
        let mut session = discovered.read(&targets, ReadScope::Namespace)?;
        session.watch();
        Ok(Cancel { session, config, holds })
    }

    /// The objects that are held, as they were deleted.
    pub fn objects(&self) -> Vec<Identity> {
        self.holds.iter().map(|hold| hold.record.about.identity.clone()).collect()
    }

    /// Checks that all dependents are known, and that the user may do all of it. Returns notes.
    ///
    /// # Errors
    /// Resources that could not be read, and missing rights.
    pub fn check(&self) -> Result<Vec<String>, OperationError> {
        let gaps = self.gaps();
        if !gaps.is_empty() && !self.config.allow_incomplete {
            let names: Vec<String> = gaps.iter().map(ToString::to_string).collect();
            let why = "may contain dependents, which would be deleted: --allow-incomplete goes on nevertheless";
            return Err(OperationError::NoHold(vec![format!(
                "nothing was taken back: what could not be read ({}) {why}",
                names.join(", ")
            )]));
        }
        // Before anything is stopped: a hold that can't be recorded could then neither go on nor be taken back.
        let too_big: Vec<String> = self.holds.iter().filter_map(|hold| self.too_big(hold)).collect();
        if !too_big.is_empty() {
            return Err(OperationError::NoHold(too_big));
        }
        Ok(self.session.require_allowed(&self.requests(), "taken back")?.into_iter().collect())
    }

    /// Why the dependents of a hold can't be recorded, if that is so.
    fn too_big(&self, hold: &StoredHold) -> Option<String> {
        let mut more = self.dependents(hold);
        more.retain(|one| !hold.record.about.dependents.iter().any(|known| known.identity.uid == one.identity.uid));
        let size = hold.record.size(&more);
        (size > MOST).then(|| {
            format!(
                "nothing was taken back: {} and its {} dependents need {size} bytes of a Secret, which may have \
                 {MOST}; delete or free some of them first",
                hold.record.about.identity.placed(),
                more.len()
            )
        })
    }

    /// What could not be read, and may contain dependents of what is still there.
    pub fn gaps(&self) -> Vec<Gap> {
        let snapshot = &self.session.snapshot;
        let there: Vec<_> =
            self.holds.iter().filter_map(|hold| snapshot.with_uid(&hold.record.about.identity.uid)).collect();
        snapshot.may_hide(&there)
    }

    fn requests(&self) -> BTreeSet<Access> {
        let resources = &self.session.snapshot.resources;
        let mut wanted = BTreeSet::new();
        let secrets = resources.by_group_kind("", "Secret");
        for hold in &self.holds {
            let Identity { api_version, kind, namespace, name, .. } = &hold.record.about.identity;
            let mut want = |verbs: &[&'static str], resource: Option<ResourceId>, namespace: &str, name: &str| {
                wanted.extend(resource.into_iter().flat_map(|id| Access::each(verbs, id, namespace, name)));
            };
            let resource = served(resources, api_version, kind);
            want(&["create"], resource, namespace, "");
            want(&["get", "patch", "delete"], resource, namespace, name);
            want(&["get", "patch", "delete"], secrets, &hold.namespace, &hold.name);
            for dependent in self.dependents(hold).iter().chain(&hold.record.about.dependents) {
                let Identity { api_version, kind, namespace, name, .. } = &dependent.identity;
                want(&["get", "patch"], served(resources, api_version, kind), namespace, name);
            }
        }
        wanted
    }

    /// The least rights that this needs.
    pub fn rights(&self) -> Rights {
        let (resources, mut rights) = (&self.session.snapshot.resources, Rights::default());
        let verbs = ["get", "list", "watch"];
        for hold in &self.holds {
            match hold.record.about.identity.namespace.as_str() {
                "" => rights.read(resources, &Scope::Everything, &verbs),
                namespace => rights.read_namespace(resources, namespace, &verbs),
            }
        }
        rights.grant(resources, self.requests());
        rights
    }

    fn dependents(&self, hold: &StoredHold) -> Vec<HeldDependent> {
        dependents(&self.session.snapshot, &hold.record.about.identity)
    }

    /// How many dependents are kept.
    pub fn kept(&self) -> usize {
        let of_hold = |hold: &StoredHold| {
            let uids = self.dependents(hold).into_iter().map(|one| one.identity.uid);
            uids.chain(hold.record.about.dependents.iter().map(|one| one.identity.uid.clone()))
                .collect::<BTreeSet<_>>()
                .len()
        };
        self.holds.iter().map(of_hold).sum()
    }

    /// What would be done.
    pub fn foresee(&self) -> Vec<HoldResult> {
        let foresee = |hold: &StoredHold| {
            let dependents = self.dependents(hold).len().max(hold.record.about.dependents.len());
            HoldResult::of(hold, HoldOutcome::WouldBeTakenBack, dependents)
        };
        self.holds.iter().map(foresee).collect()
    }

    /// Takes the deletes back, one after the other. What one needs doesn't depend on another.
    pub fn carry_out(&mut self) -> Vec<HoldResult> {
        self.holds.clone().into_iter().map(|hold| self.take_back(hold)).collect()
    }

    fn take_back(&mut self, hold: StoredHold) -> HoldResult {
        let mut result = HoldResult::of(&hold, HoldOutcome::Failed, 0);
        let connection = self.session.run(async |connection, _| connection.clone());
        let mut work = TakeBack::new(&connection, hold, self.config.use_existing);
        match self.steps(&mut work, &result.object) {
            Ok((outcome, dependents)) => (result.outcome, result.dependents) = (outcome, dependents),
            Err(why) => {
                result.dependents = work.stored.record.about.dependents.len();
                result.use_existing = matches!(why, HoldFailure::Replaced(_));
                result.because = Some(why.to_string());
            }
        }
        HoldResult { current_uid: work.new_uid, notes: work.notes, ..result }
    }

    fn steps(&mut self, work: &mut TakeBack<'_>, object: &Identity) -> Result<(HoldOutcome, usize), HoldFailure> {
        match self.session.run(async |_, _| work.begin().await)? {
            Begun::NotDeleted => return Ok((HoldOutcome::NotDeleted, 0)),
            Begun::GoneOn => return Ok((HoldOutcome::GoneOn, 0)),
            Begun::DeletedAgain => return Ok((HoldOutcome::DeletedAgain, 0)),
            Begun::Stopped => {
                // From now on, nothing lets it go. What has become a dependent meanwhile gets a guard, too.
                self.session.catch_up();
                for _ in 0..ROUNDS {
                    let found = dependents(&self.session.snapshot, object);
                    self.session.run(async |_, _| work.guard(found).await)?;
                    if !self.session.catch_up() || self.all_known(work, object) {
                        break;
                    }
                }
                self.session.run(async |_, _| work.let_go().await)?;
            }
            Begun::Guarded => {}
        }
        let lost = lost_owners(&self.session.snapshot, &work.stored.record.object);
        self.session.run(async |_, _| work.create(&lost).await)?;
        if !lost.is_empty() {
            work.notes.push(format!(
                "{} has lost {}, because they no longer exist.",
                object.placed(),
                gc_core::wording::count(lost.len(), "reference to an owner", "references to owners")
            ));
        }
        let moved = self.session.run(async |_, _| work.move_references().await)?;
        self.session.run(async |_, _| work.finish().await)?;
        Ok((HoldOutcome::TakenBack, moved))
    }

    /// Whether every dependent that is known now has its guard.
    fn all_known(&self, work: &TakeBack<'_>, object: &Identity) -> bool {
        let guarded = &work.stored.record.about.dependents;
        dependents(&self.session.snapshot, object)
            .iter()
            .all(|one| guarded.iter().any(|known| known.identity.uid == one.identity.uid))
    }
}

fn served(resources: &Resources, api_version: &str, kind: &str) -> Option<ResourceId> {
    match resources.map(api_version, kind) {
        Mapping::Served(resource) => Some(resource),
        _ => None,
    }
}

/// The holds of one target, or why there is none.
fn find(
    discovered: &Discovered,
    config: &CancelConfig,
    resource: ResourceId,
    namespace: &str,
    name: &str,
) -> Result<Result<Vec<StoredHold>, String>, OperationError> {
    let of = discovered.resources.get(resource);
    let (runtime, connection) = (&discovered.cluster.runtime, &discovered.cluster.connection);
    let unreadable = |failure: gc_cluster::cluster::Failure| {
        OperationError::NoHold(vec![format!(
            "it is not known whether a delete of {}/{name} waits: Secrets can't be read: {}",
            of.kind,
            failure.in_full()
        )])
    };
    if (of.group.as_str(), of.kind.as_str()) == ("", "Secret") && name.starts_with(SECRET_PREFIX) {
        let found = runtime.block_on(find_hold(connection, namespace, name)).map_err(unreadable)?;
        return Ok(match found {
            Some(Ok(hold)) => Ok(vec![hold]),
            Some(Err(malformed)) => Err(malformed.to_string()),
            None => Err(format!("there is no Secret/{name} -n {namespace}")),
        });
    }
    let (place, listed) = match (of.namespaced, &config.hold_namespace) {
        (true, _) => (format!(" in namespace {namespace}"), Some(namespace)),
        (false, Some(chosen)) => (format!(" with a Secret in namespace {chosen}"), Some(chosen.as_str())),
        (false, None) => (String::new(), None),
    };
    let (all, malformed) = runtime.block_on(list_holds(connection, listed)).map_err(unreadable)?;
    let is_it = |hold: &StoredHold| {
        let about = &hold.record.about.identity;
        let group = hold.record.group();
        let in_place = if of.namespaced { about.namespace == namespace } else { about.namespace.is_empty() };
        group == of.group && about.kind == of.kind && about.name == name && in_place
    };
    let found: Vec<StoredHold> = all.into_iter().filter(is_it).collect();
    if found.is_empty() {
        let there = runtime.block_on(connection.find(of, namespace, name, ""));
        let is_held = |object: &RawObject<'_>| object.finalizers.iter().any(|finalizer| finalizer == HOLD);
        if there.is_ok_and(|there| there.is_some_and(|object| is_held(&object))) {
            return Ok(Err(format!(
                "the delete of {}/{name} is held{place}, but the Secret of its hold is gone: it can't be taken back; \
                 kubectl gc delete with --hold=0s lets it go",
                of.kind
            )));
        }
        let spoiled: String = malformed.iter().map(|one| format!("\n{one}")).collect();
        return Ok(Err(format!("no delete of {}/{name} waits{place}{spoiled}", of.kind)));
    }
    Ok(Ok(found))
}
