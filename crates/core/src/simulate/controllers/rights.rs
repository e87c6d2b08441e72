//! Whether a delete takes from a controller the right to change an object: then it can't remove its finalizer (R9.46).

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    model::{ObjectId, Presence, ResourceId, Snapshot, Symbol, facts::Required},
    wording::some_of,
};

use super::super::built_in::BuiltIn;

/// At most this many objects are named in one sentence.
const NAMED: usize = 2;

/// The ServiceAccounts, roles and bindings that are gone once a delete is through.
pub(crate) struct RightsGone<'a> {
    snapshot: &'a Snapshot,
    built_in: BuiltIn,
    gone: FxHashSet<ObjectId>,
    /// The ClusterRoleBindings, and the RoleBindings of each namespace; empty if nothing is gone.
    everywhere: &'a [ObjectId],
    bindings: FxHashMap<Symbol, Vec<ObjectId>>,
}

/// What takes the right to change an object from its controller.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    pub(crate) by: Vec<ObjectId>,
    /// Whether these are known to have given it.
    pub(crate) is_certain: bool,
}

impl Taken {
    /// What these workloads lose, and because of what.
    pub(crate) fn in_words(&self, snapshot: &Snapshot, workloads: &[ObjectId]) -> String {
        let names = |all: &[ObjectId]| {
            let names: Vec<String> = all.iter().map(|id| snapshot.short_name(*id)).collect();
            some_of(names, NAMED)
        };
        let lose = match (self.is_certain, workloads.len()) {
            (false, _) => "may lose",
            (true, 1) => "loses",
            (true, _) => "lose",
        };
        let go = if self.by.len() == 1 { "goes" } else { "go" };
        let (who, what) = (names(workloads), names(&self.by));
        format!("{who} {lose} the right to change it: {what} {go} in this delete, too")
    }
}

/// Whether a binding lets an account change an object.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gives {
    Yes,
    Perhaps,
    No,
}

impl<'a> RightsGone<'a> {
    /// Of what goes, what rights depend on. `of_resource`: all objects of a resource.
    pub(crate) fn of(
        snapshot: &'a Snapshot,
        built_in: BuiltIn,
        of_resource: impl Fn(ResourceId) -> &'a [ObjectId],
        going: impl Iterator<Item = ObjectId>,
    ) -> Self {
        let BuiltIn { accounts, roles, cluster_roles, role_bindings, cluster_role_bindings, .. } = built_in;
        let kinds = [accounts, roles, cluster_roles, role_bindings, cluster_role_bindings];
        let gone: FxHashSet<ObjectId> =
            going.filter(|id| kinds.contains(&Some(snapshot.object(*id).resource))).collect();
        let all = |kind: Option<ResourceId>| kind.filter(|_| !gone.is_empty()).map_or(&[][..], &of_resource);
        let everywhere = all(cluster_role_bindings);
        let mut bindings: FxHashMap<Symbol, Vec<ObjectId>> = FxHashMap::default();
        for binding in all(role_bindings) {
            bindings.entry(snapshot.object(*binding).namespace).or_default().push(*binding);
        }
        RightsGone { snapshot, built_in, gone, everywhere, bindings }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.gone.is_empty()
    }

    /// What takes the right to change an object from all of these workloads; `None` if one keeps it, or if nothing is
    /// known to have given it.
    pub(crate) fn taken(
        &self,
        unread: &mut BTreeSet<ObjectId>,
        workloads: &[ObjectId],
        object: ObjectId,
    ) -> Option<Taken> {
        if self.is_empty() || workloads.is_empty() {
            return None;
        }
        let mut taken = Taken { by: Vec::new(), is_certain: true };
        for workload in workloads {
            let of_this = self.taken_from(unread, *workload, object)?;
            taken.by.extend(of_this.by);
            taken.is_certain &= of_this.is_certain;
        }
        taken.by.sort_unstable();
        taken.by.dedup();
        Some(taken)
    }

    fn taken_from(&self, unread: &mut BTreeSet<ObjectId>, workload: ObjectId, object: ObjectId) -> Option<Taken> {
        let snapshot = self.snapshot;
        let (namespace, name) = account_of(snapshot, workload)?;
        let account = self.built_in.accounts.map(|all| snapshot.look_up_named(all, namespace, name));
        if let Some(Presence::Present(account)) = account
            && self.gone.contains(&account)
        {
            return Some(Taken { by: vec![account], is_certain: true });
        }
        let here = self.bindings.get(&snapshot.object(object).namespace).map_or(&[][..], Vec::as_slice);
        let bindings = || self.everywhere.iter().chain(here).copied();
        // Bindings name a role that goes. Which do is read of them.
        let roles = [self.built_in.roles, self.built_in.cluster_roles];
        let is_role = |id: &ObjectId| roles.contains(&Some(snapshot.object(*id).resource));
        let lacks_roles = self.gone.iter().any(is_role);
        let mut taken = Taken::default();
        for binding in bindings().filter(|binding| lacks_roles || self.gone.contains(binding)) {
            let (gives, role) = self.gives(unread, binding, (namespace, name), object);
            let going = [Some(binding), role].into_iter().flatten().find(|id| self.gone.contains(id));
            if let Some(going) = going.filter(|_| gives != Gives::No) {
                taken.by.push(going);
                taken.is_certain |= gives == Gives::Yes;
            }
        }
        if taken.by.is_empty() {
            return None;
        }
        let is_kept = bindings().any(|binding| {
            let (gives, role) = self.gives(unread, binding, (namespace, name), object);
            gives == Gives::Yes && ![Some(binding), role].into_iter().flatten().any(|id| self.gone.contains(&id))
        });
        (!is_kept).then_some(taken)
    }

    /// Those of these workloads whose ServiceAccounts have rights from what is gone, as far as was read.
    pub(crate) fn losers(&self, unread: &mut BTreeSet<ObjectId>, mut workloads: Vec<ObjectId>) -> Vec<ObjectId> {
        let (snapshot, built_in) = (self.snapshot, self.built_in);
        let is = |id: ObjectId, kind| Some(snapshot.object(id).resource) == kind;
        let here = |role| self.bindings.get(&snapshot.object(role).namespace).map_or(&[][..], Vec::as_slice);
        let bindings: Vec<ObjectId> = self
            .gone
            .iter()
            .flat_map(|gone| match *gone {
                role if is(role, built_in.roles) => here(role).to_vec(),
                role if is(role, built_in.cluster_roles) => {
                    self.everywhere.iter().chain(self.bindings.values().flatten()).copied().collect()
                }
                other => vec![other],
            })
            .collect();
        let is_unread = |id: &&ObjectId| snapshot.facts.get(**id).is_none();
        unread.extend(bindings.iter().filter(is_unread));
        let is_about = |id: &ObjectId, namespace: &str, name: Option<&str>| {
            let object = snapshot.object(*id);
            let is_it = |it: Symbol, text: &str| snapshot.text(it) == text;
            let is_account = is(*id, built_in.accounts)
                && is_it(object.namespace, namespace)
                && name.is_none_or(|name| is_it(object.name, name));
            is_account || snapshot.facts.binding(*id).is_some_and(|facts| facts.names(namespace, name))
        };
        workloads.retain(|workload| {
            let namespace = snapshot.text(snapshot.object(*workload).namespace);
            bindings.iter().any(|id| is_about(id, namespace, None))
        });
        unread.extend(workloads.iter().filter(is_unread));
        workloads.retain(|workload| {
            let Some((namespace, name)) = account_of(snapshot, *workload) else { return false };
            bindings.iter().any(|id| is_about(id, namespace, Some(name)))
        });
        workloads
    }

    /// Whether a binding lets a ServiceAccount change an object, and its role, if that exists.
    fn gives(
        &self,
        unread: &mut BTreeSet<ObjectId>,
        binding: ObjectId,
        (namespace, name): (&str, &str),
        object: ObjectId,
    ) -> (Gives, Option<ObjectId>) {
        let snapshot = self.snapshot;
        // One that could not be read is a gap: most don't name this account.
        let Some(facts) = snapshot.facts.binding(binding) else {
            unread.insert(binding);
            return (Gives::No, None);
        };
        if !facts.names(namespace, Some(name)) {
            return (Gives::No, None);
        }
        let (kind, place) = match facts.cluster {
            true => (self.built_in.cluster_roles, ""),
            false => (self.built_in.roles, snapshot.text(snapshot.object(binding).namespace)),
        };
        let role = match kind.map(|kind| snapshot.look_up_named(kind, place, &facts.role)) {
            Some(Presence::Present(role)) => role,
            Some(Presence::Absent) => return (Gives::No, None),
            _ => return (Gives::Perhaps, None),
        };
        let Some(facts) = snapshot.facts.role(role) else {
            unread.insert(role);
            return (Gives::Perhaps, Some(role));
        };
        let found = snapshot.object(object);
        let may_write = facts.may_write(snapshot.resources.get(found.resource), snapshot.text(found.name));
        (if may_write { Gives::Yes } else { Gives::No }, Some(role))
    }
}

/// The namespace and name of the ServiceAccount of a workload's pods; `None` if not read.
fn account_of(snapshot: &Snapshot, workload: ObjectId) -> Option<(&str, &str)> {
    let facts = snapshot.facts.workload(workload)?;
    let named = facts.requires.iter().find_map(|required| match required {
        Required::ServiceAccount(name) => Some(name.as_str()),
        _ => None,
    });
    Some((snapshot.text(snapshot.object(workload).namespace), named.unwrap_or("default")))
}
