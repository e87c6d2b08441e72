//! A restore from an archive: planned, approved and carried out.

use std::collections::BTreeSet;

use crate::{
    act::{Access, Mode, restore, review},
    model::{Gap, Mapping, Resources},
    restore::{Archived, Item, Outcome, RestorePlan, Restored, ToDo},
};

use super::{
    ClusterConfig, Discovered, OperationError,
    access::require_allowed,
    approve::{Proposal, World},
    live::Cluster,
    restore_request::RestoreRequest,
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

    /// Restores the objects, or only finds out what would happen. Calls `step` after each.
    pub fn carry_out(&self, mode: Mode, step: &mut dyn FnMut()) -> Vec<Restored> {
        let mut step = |_: usize, _: &Restored| step();
        let restored = restore(&self.cluster.connection, &self.plan, self.resources.clone(), mode, &mut step);
        self.cluster.runtime.block_on(restored)
    }

    /// What is served once it is needed: also the kinds that archived CRDs define.
    pub fn with_defined(&self) -> Resources {
        let served = self.resources.iter().map(|(_, resource)| resource.clone());
        let defined = self.plan.items.iter().flat_map(Item::defines);
        Resources::new(served.chain(defined).collect(), self.resources.preferred_versions().to_vec())
    }

    /// # Errors
    /// All requests that the API server would forbid.
    fn require_allowed(&self, foreseen: &[Restored]) -> Result<Option<String>, OperationError> {
        let resources = self.with_defined();
        let wanted = wanted(&self.plan, &resources, foreseen);
        let Cluster { runtime, connection, .. } = &self.cluster;
        require_allowed(runtime.block_on(review(connection, &resources, &wanted)), &resources, "restored")
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
        let foreseen = self.carry_out(Mode::ClientDryRun, &mut || ());
        notes.extend(self.require_allowed(&foreseen)?);
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
        if restored.is_left_out() {
            continue;
        }
        let mut want = |verb, subresource| {
            let (namespace, name) = (place.namespace.clone(), String::new());
            wanted.insert(Access { verb, resource, subresource, namespace, name });
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
