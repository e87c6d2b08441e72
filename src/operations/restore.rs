//! A restore from an archive: planned, approved and carried out.

use std::collections::BTreeSet;

use crate::{
    act::{Access, Mode, restore},
    model::{Gap, Mapping, Resources},
    progress::{self, Work},
    restore::{Archived, Item, Outcome, Owner, Place, RestorePlan, Restored, ToDo},
};

use super::{
    ClusterConfig, Discovered, OperationError,
    approve::{Proposal, World},
    live::Cluster,
    restore_request::RestoreRequest,
    rights::Rights,
};

/// A restore that is being approved.
pub struct Restore {
    pub cluster: Cluster,
    /// The resources that are served before anything is created.
    pub resources: Resources,
    pub gaps: Vec<Gap>,
    pub plan: RestorePlan,
}

impl Restore {
    /// Connects to the cluster, discovers its resources, and plans what is asked for.
    ///
    /// # Errors
    /// Why the cluster can't be used, and objects or namespaces that the archive lacks.
    pub fn open(
        cluster: &ClusterConfig,
        archived: Vec<Archived>,
        request: &RestoreRequest,
    ) -> Result<Self, OperationError> {
        let Discovered { cluster, resources, gaps, .. } = Discovered::connect(cluster)?;
        let options = request.resolve(&archived, &resources)?;
        let plan = RestorePlan::of(archived, &options).map_err(|why| OperationError::Malformed(why.to_string()))?;
        Ok(Restore { cluster, resources, gaps, plan })
    }

    /// Restores the objects, or only finds out what would happen.
    pub fn carry_out(&self, mode: Mode) -> Vec<Restored> {
        let restore = || {
            progress::expect(self.plan.steps.iter().map(Vec::len).sum::<usize>() as u64);
            let mut step = |_: usize, _: &Restored| progress::advance(1);
            let restored = restore(&self.cluster.connection, &self.plan, self.resources.clone(), mode, &mut step);
            self.cluster.runtime.block_on(restored)
        };
        if mode == Mode::Apply { progress::during(Work::Restoring, restore) } else { restore() }
    }

    /// What is served once it is needed: also the kinds that archived CRDs define.
    fn with_defined(&self) -> Resources {
        let served = self.resources.iter().map(|(_, resource)| resource.clone());
        let defined = self.plan.items.iter().flat_map(Item::defines);
        Resources::new(served.chain(defined).collect(), self.resources.preferred_versions().to_vec())
    }

    /// The least rights that this needs if none of its objects exists.
    pub fn rights(&self) -> Rights {
        let resources = self.with_defined();
        let there = self.plan.items.iter().filter(|item| item.left_out.is_none());
        let created: BTreeSet<&str> = there
            .clone()
            .filter(|item| item.archived.place.is("", "Namespace"))
            .map(|item| item.archived.place.name.as_str())
            .collect();
        let absent = vec![Restored::absent(Outcome::WouldBeCreated); self.plan.items.len()];
        let owners = there.flat_map(|Item { archived, owners, .. }| {
            let elsewhere = archived.references.iter().zip(owners).filter(|(_, it)| !matches!(it, Owner::Archived(_)));
            let find = |place: &Place| resources.by_group_kind(place.group(), &place.kind);
            let found = elsewhere.filter_map(move |(reference, _)| find(&reference.place));
            found.flat_map(|id| Access::each(&["get"], id, &archived.place.namespace, ""))
        });
        // No Role can be in a namespace that doesn't exist yet.
        let placed = |access: Access| match created.contains(access.namespace.as_str()) {
            true => Access { namespace: String::new(), ..access },
            false => access,
        };
        let mut rights = Rights::default();
        rights.grant(&resources, wanted(&self.plan, &resources, &absent).into_iter().chain(owners).map(placed));
        rights
    }
}

/// How many objects would be created, and how many objects of an earlier restore completed.
pub fn to_write(foreseen: &[Restored]) -> (usize, usize) {
    (
        foreseen.iter().filter(|restored| restored.outcome == Outcome::WouldBeCreated).count(),
        foreseen.iter().filter(|restored| restored.to_do != ToDo::default()).count(),
    )
}

impl Proposal for Restore {
    type Plan = Vec<Restored>;
    type Fingerprint = ();

    fn plan(&mut self, notes: &mut Vec<String>) -> Result<Option<Vec<Restored>>, OperationError> {
        let foreseen = self.carry_out(Mode::ClientDryRun);
        let resources = self.with_defined();
        let wanted = wanted(&self.plan, &resources, &foreseen);
        notes.extend(self.cluster.require_allowed(&resources, &wanted, "restored")?);
        Ok(Some(foreseen))
    }

    fn fingerprint(&self, _: &Vec<Restored>) {}

    /// Nothing would be written.
    fn is_settled(&self, foreseen: &Vec<Restored>) -> bool {
        to_write(foreseen) == (0, 0)
    }

    /// None: every object is read again right before it is created.
    fn world(&mut self) -> Option<&mut dyn World> {
        None
    }
}

/// The requests of a restore: a get of each object, and depending on the prediction its create and its patches.
fn wanted(plan: &RestorePlan, resources: &Resources, foreseen: &[Restored]) -> BTreeSet<Access> {
    let mut wanted = BTreeSet::new();
    for (id, (item, restored)) in plan.items.iter().zip(foreseen).enumerate() {
        let place = &item.archived.place;
        let Mapping::Served(resource) = resources.map(&place.api_version, &place.kind) else { continue };
        if item.left_out.is_some() {
            continue;
        }
        let mut want = |verb, subresource| {
            let with_subresource = |access| Access { subresource, ..access };
            wanted.extend(Access::each(&[verb], resource, &place.namespace, "").map(with_subresource));
        };
        want("get", "");
        // If it is unknown whether it exists, it may have to be created.
        let create = matches!(restored.outcome, Outcome::WouldBeCreated | Outcome::Failed(_) | Outcome::Blocked(_));
        let closes = plan.closing_of(id).next().is_some();
        if create {
            want("create", "");
        }
        if create && closes || restored.to_do.references {
            want("patch", "");
        }
        if create && item.status.is_some() && resources.get(resource).has_status || restored.to_do.status {
            want("patch", "status");
        }
    }
    wanted
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// The kinds `Plain` and, with a status subresource, `Rich`.
    fn kinds() -> Resources {
        let kind = |kind: &str, has_status| crate::model::Resource {
            group: "acme.io".to_owned(),
            version: "v1".to_owned(),
            plural: kind.to_lowercase(),
            kind: kind.to_owned(),
            namespaced: true,
            has_status,
            ..Default::default()
        };
        Resources::new(vec![kind("Plain", false), kind("Rich", true)], Vec::new())
    }

    fn describe(plan: &RestorePlan, foreseen: &[Restored]) -> Vec<String> {
        let kinds = kinds();
        wanted(plan, &kinds, foreseen).iter().map(|access| access.describe(&kinds)).collect()
    }

    fn object(kind: &str, owners: &[&str]) -> Value {
        let references =
            owners.iter().map(|owner| json!({"apiVersion": "acme.io/v1", "kind": owner, "name": "a", "uid": owner}));
        let references: Vec<Value> = references.collect();
        json!({"apiVersion": "acme.io/v1", "kind": kind, "status": {"a": 1},
               "metadata": {"name": "a", "namespace": "shop", "uid": kind, "ownerReferences": references}})
    }

    #[test]
    fn whoever_restores_may_patch_only_what_is_patched() {
        let absent = || Restored::absent(Outcome::WouldBeCreated);
        let plan = RestorePlan::new([object("Plain", &[]), object("Rich", &[])], false).unwrap();
        assert_eq!(
            describe(&plan, &[absent(), absent()]),
            [
                "create plain.acme.io in namespace shop",
                "create rich.acme.io in namespace shop",
                "get plain.acme.io in namespace shop",
                "get rich.acme.io in namespace shop",
                "patch rich.acme.io/status in namespace shop",
            ]
        );
        // In a circle, one object is patched once the other exists.
        let circle = RestorePlan::new([object("Plain", &["Rich"]), object("Rich", &["Plain"])], false).unwrap();
        let closes = if circle.closing.contains(&(0, 0)) { "plain" } else { "rich" };
        let patches = |foreseen: &[Restored]| -> Vec<String> {
            describe(&circle, foreseen).into_iter().filter(|access| access.starts_with("patch")).collect()
        };
        let closed = format!("patch {closes}.acme.io in namespace shop");
        assert!(patches(&[absent(), absent()]).contains(&closed));
        // What an earlier run has done is not repeated.
        let back = |to_do| Restored { to_do, ..Restored::absent(Outcome::AlreadyBack) };
        assert_eq!(patches(&[back(ToDo::default()), back(ToDo::default())]), [""; 0]);
        let left = back(ToDo { status: true, references: true });
        assert_eq!(
            patches(&[back(ToDo::default()), left]),
            ["patch rich.acme.io in namespace shop", "patch rich.acme.io/status in namespace shop"]
        );
    }
}
