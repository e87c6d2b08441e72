//! Whether a delete takes from a controller the right to change an object: then it can't remove its finalizer (R9.46).

use std::sync::{Arc, PoisonError};

use rustc_hash::FxHashSet;

use crate::{
    groups::Groups,
    model::{
        ObjectId, Presence, Snapshot, Symbol,
        facts::{Forbidden, LabelSelector, Required},
    },
    wording::some_of,
};

use super::{
    super::{built_in::BuiltIn, context::SimContext, state::Liveness},
    controller::FinalizerController,
    lacks::Lack,
};

/// At most this many objects are named in one sentence.
const NAMED: usize = 2;

/// The ServiceAccounts, roles and bindings that are gone once a delete is through.
pub(crate) struct RightsGone<'c, 'a> {
    context: &'c SimContext<'a>,
    gone: FxHashSet<ObjectId>,
}

/// What takes the right to change an object from its controller.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    pub(crate) by: Vec<ObjectId>,
    /// Whether these are known to have given it.
    pub(crate) is_certain: bool,
}

impl Taken {
    /// A controller all of whose workloads lose the right.
    pub(crate) fn from(self, snapshot: &Snapshot, controller: &FinalizerController) -> FinalizerController {
        let liveness = Liveness::Unknown(self.in_words(snapshot, controller));
        FinalizerController { liveness, loses: self.by, paused: None, ..controller.clone() }
    }

    /// What a controller loses, and because of what.
    fn in_words(&self, snapshot: &Snapshot, controller: &FinalizerController) -> String {
        let names = |all: &[ObjectId]| {
            let names: Vec<String> = all.iter().map(|id| snapshot.short_name(*id)).collect();
            some_of(names, NAMED)
        };
        let workloads = controller.acting();
        let lose = match (self.is_certain, workloads.len()) {
            (false, _) => "may lose",
            (true, 1) => "loses",
            (true, _) => "lose",
        };
        let go = if self.by.len() == 1 { "goes" } else { "go" };
        let doubt = if controller.running.is_empty() { ", which may be its controller," } else { "" };
        let (who, what) = (names(workloads), names(&self.by));
        format!("{who}{doubt} {lose} the right to change it: {what} {go} in this delete, too")
    }
}

/// The verbs with which a controller follows objects, and changes them.
const WRITES: &str = "get,list,watch,update,patch";

/// What the API server refuses to a controller, as the message says that is told of an object. A controller's client
/// reports it word by word.
pub(crate) fn refused(context: &SimContext<'_>, object: ObjectId) -> Option<Lack> {
    let said = context.snapshot.facts.why_not_deleted(object).filter(|said| said.source.is_of_deletion())?;
    let Forbidden { account: (place, name), verb, resource } = said.forbidden()?;
    Some(Lack::Refused { account: (place.to_owned(), name.to_owned()), verb: verb.to_owned(), resource })
}

/// The same controller, with what it lacks if nothing lets any of its workloads change the object. The only one that is
/// said to be refused that is the controller.
pub(super) fn without_rights(
    context: &SimContext<'_>,
    controller: Arc<FinalizerController>,
    object: ObjectId,
) -> Arc<FinalizerController> {
    let missing = match refused(context, object) {
        Some(told) => vec![told],
        None => {
            let acting = controller.acting().iter();
            let missing = acting.map(|workload| RightsGone::missing(context, *workload, object));
            missing.collect::<Option<Vec<_>>>().unwrap_or_default()
        }
    };
    let Some(first) = missing.first().cloned() else { return controller };
    let lacking = FinalizerController { lacks: missing, ..(*controller).clone() };
    let Lack::Refused { account: (place, name), .. } = first else { return Arc::new(lacking) };
    let is_its = |workload: &ObjectId| account_of(context.snapshot, *workload) == Some((&*place, &*name));
    let its: Vec<ObjectId> = controller.acting().iter().copied().filter(is_its).collect();
    match (its.first(), &controller.liveness) {
        // Another controller may say so.
        (None, _) => controller,
        (Some(first), Liveness::Unknown(_)) if controller.running.is_empty() => {
            let liveness = Liveness::Alive(format!("{} acts on it", context.snapshot.located(*first, None)));
            Arc::new(FinalizerController { liveness, running: its, may_be: Vec::new(), ..lacking })
        }
        _ => Arc::new(lacking),
    }
}

/// The bindings that name a ServiceAccount, or a group that has it, and those that were not read.
#[derive(Debug, Default)]
pub(super) struct Bindings {
    everywhere: Vec<ObjectId>,
    by_namespace: Groups<Symbol>,
    /// Whether one names the account itself, and not a group that has it.
    name_it: bool,
}

impl Bindings {
    fn of(all: &RightsGone<'_, '_>, namespace: &str, name: &str) -> Self {
        let snapshot = all.context.snapshot;
        let facts = |binding: &ObjectId| snapshot.facts.binding(*binding);
        let counts = |binding: &ObjectId| facts(binding).is_none_or(|facts| facts.names(namespace, Some(name)));
        let of = |some: &[ObjectId]| some.iter().copied().filter(counts).collect::<Vec<_>>();
        let everywhere = of(all.everywhere());
        let beside = all.by_namespace().iter().flat_map(|(place, some)| of(some).into_iter().map(|id| (*place, id)));
        let by_namespace: Groups<Symbol> = beside.collect();
        let all = everywhere.iter().chain(by_namespace.iter().flat_map(|(_, some)| some));
        let name_it = all.filter_map(facts).any(|facts| facts.names_itself(namespace, name));
        Bindings { everywhere, by_namespace, name_it }
    }

    /// Those that count for objects of a namespace.
    fn that_count_in(&self, namespace: Symbol) -> impl Iterator<Item = ObjectId> {
        self.everywhere.iter().chain(self.by_namespace.of(&namespace)).copied()
    }
}

/// Whether a binding lets an account change an object.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gives {
    Yes,
    Perhaps,
    No,
}

impl<'c, 'a> RightsGone<'c, 'a> {
    /// Of what goes, what rights depend on.
    pub(crate) fn of(context: &'c SimContext<'a>, going: impl Iterator<Item = ObjectId>) -> Self {
        let BuiltIn { accounts, roles, cluster_roles, role_bindings, cluster_role_bindings, .. } = context.built_in;
        let kinds = [accounts, roles, cluster_roles, role_bindings, cluster_role_bindings];
        let gone = going.filter(|id| kinds.contains(&Some(context.snapshot.object(*id).resource))).collect();
        RightsGone { context, gone }
    }

    /// The ClusterRoleBindings.
    fn everywhere(&self) -> &'c [ObjectId] {
        self.context.of_resource(self.context.built_in.cluster_role_bindings)
    }

    /// The RoleBindings of each namespace.
    fn by_namespace(&self) -> &'c Groups<Symbol> {
        let context = self.context;
        context.controllers.role_bindings.get_or_init(|| {
            let bindings = context.of_resource(context.built_in.role_bindings).iter();
            bindings.map(|binding| (context.snapshot.object(*binding).namespace, *binding)).collect()
        })
    }

    /// Found once for each account: many objects wait for one controller.
    fn bindings_of(&self, (namespace, name): (&str, &str)) -> Arc<Bindings> {
        let mut found = self.context.controllers.bindings.lock().unwrap_or_else(PoisonError::into_inner);
        let bindings = found.entry((namespace.to_owned(), name.to_owned()));
        Arc::clone(bindings.or_insert_with(|| Arc::new(Bindings::of(self, namespace, name))))
    }

    /// The RoleBindings in the namespace of an object.
    fn beside(&self, object: ObjectId) -> &'c [ObjectId] {
        self.by_namespace().of(&self.context.snapshot.object(object).namespace)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.gone.is_empty()
    }

    /// What takes the right to change an object from all of these workloads; `None` if one keeps it, or if nothing is
    /// known to have given it.
    pub(crate) fn taken(&self, workloads: &[ObjectId], object: ObjectId) -> Option<Taken> {
        if self.is_empty() || workloads.is_empty() {
            return None;
        }
        let mut taken = Taken { by: Vec::new(), is_certain: true };
        for workload in workloads {
            let of_this = self.taken_from(*workload, object)?;
            taken.by.extend(of_this.by);
            taken.is_certain &= of_this.is_certain;
        }
        taken.by.sort_unstable();
        taken.by.dedup();
        Some(taken)
    }

    fn taken_from(&self, workload: ObjectId, object: ObjectId) -> Option<Taken> {
        let snapshot = self.context.snapshot;
        let (namespace, name) = account_of(snapshot, workload)?;
        let account = self.context.built_in.accounts.map(|all| snapshot.look_up_named(all, namespace, name));
        if let Some(Presence::Present(account)) = account
            && self.gone.contains(&account)
        {
            return Some(Taken { by: vec![account], is_certain: true });
        }
        let named = self.bindings_of((namespace, name));
        let bindings = || named.that_count_in(snapshot.object(object).namespace);
        // Bindings name a role that goes. Which do is read of them.
        let roles = [self.context.built_in.roles, self.context.built_in.cluster_roles];
        let is_role = |id: &ObjectId| roles.contains(&Some(snapshot.object(*id).resource));
        let lacks_roles = self.gone.iter().any(is_role);
        let mut taken = Taken::default();
        for binding in bindings().filter(|binding| lacks_roles || self.gone.contains(binding)) {
            let (gives, role) = self.gives(binding, object);
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
            let (gives, role) = self.gives(binding, object);
            gives == Gives::Yes && ![Some(binding), role].into_iter().flatten().any(|id| self.gone.contains(&id))
        });
        (!is_kept).then_some(taken)
    }

    /// What a workload lacks where nothing lets it change an object as the cluster is; `None` if something does, or not
    /// all was read that may.
    fn missing(context: &'c SimContext<'a>, workload: ObjectId, object: ObjectId) -> Option<Lack> {
        let snapshot = context.snapshot;
        let now = RightsGone { context, gone: FxHashSet::default() };
        let namespace = snapshot.object(object).namespace;
        let BuiltIn { accounts, role_bindings, cluster_role_bindings, .. } = context.built_in;
        context.evidence(workload, snapshot.facts.workload(workload))?;
        let (place, name) = account_of(snapshot, workload)?;
        // What has an account of its own acts as that, if the object has been waiting for so long.
        let is_overdue = name != "default" && context.overdue_for(object).is_some();
        if is_overdue && accounts.is_some_and(|all| snapshot.look_up_named(all, place, name) == Presence::Absent) {
            return Some(Lack::Account { workload, account: (place.to_owned(), name.to_owned()) });
        }
        let are_listed = snapshot.covers(cluster_role_bindings?, None)
            && (namespace.is_empty() || snapshot.covers(role_bindings?, Some(namespace)));
        let bindings = now.bindings_of((place, name));
        let mut that_count = bindings.that_count_in(snapshot.object(object).namespace);
        let gives_it = |binding| now.gives(binding, object).0 != Gives::No;
        let (is_given, unread) = context.noting(|| that_count.any(gives_it));
        // What no role names at all may run elsewhere, or as somebody else.
        let is_known = are_listed && unread.evidence.is_empty() && (bindings.name_it || is_overdue);
        // Rules name plurals.
        let resource = Some(snapshot.resource(object)).filter(|it| !it.doubtful_plural)?.full_name();
        let account = (place.to_owned(), name.to_owned());
        (is_known && !is_given).then(|| Lack::Right { account, verbs: WRITES.to_owned(), resource })
    }

    /// Those of these workloads whose ServiceAccounts have rights from what is gone, as far as was read.
    pub(crate) fn losers(&self, mut workloads: Vec<ObjectId>) -> Vec<ObjectId> {
        let (snapshot, built_in) = (self.context.snapshot, self.context.built_in);
        let is = |id: ObjectId, kind| Some(snapshot.object(id).resource) == kind;
        let bindings: Vec<ObjectId> = self
            .gone
            .iter()
            .flat_map(|gone| match *gone {
                role if is(role, built_in.roles) => self.beside(role).to_vec(),
                role if is(role, built_in.cluster_roles) => self
                    .everywhere()
                    .iter()
                    .chain(self.by_namespace().iter().flat_map(|(_, some)| some))
                    .copied()
                    .collect(),
                other => vec![other],
            })
            .collect();
        let is_unread = |id: &&ObjectId| snapshot.facts.get(**id).is_none();
        self.context.lacks(|needs| needs.evidence.extend(bindings.iter().filter(is_unread)));
        let is_about = |id: &ObjectId, namespace: &str, name: Option<&str>| {
            let object = snapshot.object(*id);
            let is_it = |it: Symbol, text: &str| snapshot.text(it) == text;
            let is_account = is(*id, built_in.accounts)
                && is_it(object.namespace, namespace)
                && name.is_none_or(|name| is_it(object.name, name));
            is_account || snapshot.facts.binding(*id).is_some_and(|facts| facts.names(namespace, name))
        };
        workloads.retain(|workload| {
            let namespace = snapshot.namespace(*workload);
            bindings.iter().any(|id| is_about(id, namespace, None))
        });
        self.context.lacks(|needs| needs.evidence.extend(workloads.iter().filter(is_unread)));
        workloads.retain(|workload| {
            let Some((namespace, name)) = account_of(snapshot, *workload) else { return false };
            bindings.iter().any(|id| is_about(id, namespace, Some(name)))
        });
        workloads
    }

    /// Whether a binding lets those whom it names change an object; and its role, if that exists, or the part of that
    /// which goes and alone gives it this right.
    fn gives(&self, binding: ObjectId, object: ObjectId) -> (Gives, Option<ObjectId>) {
        let (snapshot, built_in) = (self.context.snapshot, self.context.built_in);
        // One that could not be read is a gap: most don't name this account.
        let Some(facts) = self.context.evidence(binding, snapshot.facts.binding(binding)) else {
            return (Gives::No, None);
        };
        let (kind, place) = match facts.cluster {
            true => (built_in.cluster_roles, ""),
            false => (built_in.roles, snapshot.namespace(binding)),
        };
        let role = match kind.map(|kind| snapshot.look_up_named(kind, place, &facts.role)) {
            Some(Presence::Present(role)) => role,
            Some(Presence::Absent) => return (Gives::No, None),
            _ => return (Gives::Perhaps, None),
        };
        let Some(facts) = self.context.evidence(role, snapshot.facts.role(role)) else {
            return (Gives::Perhaps, Some(role));
        };
        let found = snapshot.object(object);
        let may_write = facts.may_write(snapshot.resources.get(found.resource), snapshot.text(found.name));
        let part = facts.parts.first().and_then(|_| self.lost_part(role, &facts.parts, object));
        (if may_write { Gives::Yes } else { Gives::No }, part.or(Some(role)))
    }

    /// The part of an aggregated ClusterRole that goes, if it gives the right to change an object, and no other part
    /// does (kubernetes/kubernetes pkg/controller/clusterroleaggregation).
    fn lost_part(&self, role: ObjectId, parts: &[LabelSelector], object: ObjectId) -> Option<ObjectId> {
        let snapshot = self.context.snapshot;
        let is_part = |id: &ObjectId| {
            *id != role && parts.iter().any(|selector| selector.matches(|key| snapshot.label(*id, key)))
        };
        let all = self.context.of_resource(self.context.built_in.cluster_roles?).iter().copied().filter(is_part);
        let (gone, left): (Vec<ObjectId>, Vec<ObjectId>) = all.partition(|id| self.gone.contains(id));
        let found = snapshot.object(object);
        let mut gives = |id: &ObjectId| match self.context.evidence(*id, snapshot.facts.role(*id)) {
            Some(facts) => facts.may_write(snapshot.resources.get(found.resource), snapshot.text(found.name)),
            // Until it is read, it may.
            None => true,
        };
        let lost = gone.into_iter().find(&mut gives)?;
        (!left.iter().any(gives)).then_some(lost)
    }
}

/// The namespace and name of the ServiceAccount of a workload's pods; `None` if not read.
fn account_of(snapshot: &Snapshot, workload: ObjectId) -> Option<(&str, &str)> {
    let facts = snapshot.facts.workload(workload)?;
    let named = facts.requires.iter().find_map(|required| match required {
        Required::ServiceAccount(name) => Some(name.as_str()),
        _ => None,
    });
    Some((snapshot.namespace(workload), named.unwrap_or("default")))
}
