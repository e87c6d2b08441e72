//! `--print-role`: the least rights that this very command needs.

use std::{collections::BTreeSet, hash::Hasher as _, time::Duration};

use rustc_hash::FxHasher;

use crate::operations::{
    Discovered, Lists, OperationError, ReadScope, TargetConfig,
    delete::HoldConfig,
    hold::Cancel,
    predict::{PlanOptions, predict},
    restore::Restore,
    rights::{self, Rights, rule},
    targets::{KeepQuery, TargetArgs},
    usage,
};
use gc_cluster::{
    act::{Access, Mode},
    archive::Archive,
    cluster::Scope,
};
use gc_core::{
    model::ResourceId,
    server::Propagation,
    simulate::{Assume, Request},
};

use super::{
    archive::targets_and_file,
    args::{GlobalArgs, PropagationArgs},
    cancel,
    commands::Command,
    delete::DeleteArgs,
    report::Report,
    restore,
};

/// What reads take: lists, and single objects that no list proves or that are needed whole.
const READ: [&str; 2] = ["get", "list"];
const READ_AND_WATCH: [&str; 3] = ["get", "list", "watch"];

/// The rights as YAML, if they are asked for instead of the command itself.
pub(super) fn asked(global: &GlobalArgs, command: &Command) -> Result<Option<Report>, OperationError> {
    if !global.print_role {
        return Ok(None);
    }
    if let Command::Sweep(args) = command {
        return Ok(Some(Report::of(role(if args.watching.watch { Role::Watch } else { Role::Pass }))));
    }
    if !global.source.from.is_empty() {
        return usage("--print-role: this command reads files, not a cluster, and needs no rights");
    }
    let (name, rights, blocking) = rights(global, command)?;
    if rights.is_empty() {
        return Ok(Some(Report::of(format!("# {name} needs no rights but discovery, which every user has.\n"))));
    }
    let head = format!(
        "# The least rights of this {name}, for the resources that are served now. Every user may already discover \
         them and\n# check own rights. Bind each role to the user: kubectl create clusterrolebinding or rolebinding.\n"
    );
    let more = match blocking.as_slice() {
        [] => String::new(),
        of => format!(
            "# Where the admission plugin OwnerReferencesPermissionEnforcement is on, as in OpenShift, also the right \
             to update\n# {}: references block these.\n",
            of.join(", ")
        ),
    };
    // Whoever applies the rights of another command must not change this role.
    let mut hasher = FxHasher::default();
    hasher.write(rights.yaml("").as_bytes());
    let of_rights = hasher.finish() & 0xffff_ffff;
    Ok(Some(Report::of(format!("{head}{more}{}", rights.yaml(&format!("kubectl-gc-{name}-{of_rights:08x}"))))))
}

/// How much a command reads.
enum Reads {
    /// What is in the targets' namespace.
    Namespace,
    Everything,
    /// What a plan with this policy depends on.
    Plan(Propagation),
}

/// The name of a command, its rights, and what it needs besides where an admission plugin asks for that.
fn rights(global: &GlobalArgs, command: &Command) -> Result<(&'static str, Rights, Vec<String>), OperationError> {
    let while_watched = |watched: bool| -> &[&'static str] { if watched { &READ_AND_WATCH } else { &READ } };
    let policy = |args: &PropagationArgs| Reads::Plan(args.policy());
    let nothing = TargetArgs::default();
    let (name, targets, reads, verbs): (_, _, _, &[&'static str]) = match command {
        Command::Restore(args) => {
            let archive = Archive::open(&args.archive)?;
            let objects = restore::objects(&archive)?;
            let restore =
                Restore::open(&global.cluster()?, objects, archive.header(), &restore::request(global, args))?;
            return Ok(("restore", restore.rights(), restore.rights_to_block()));
        }
        Command::Cancel(args) => {
            let cancel = Cancel::open(&global.cluster()?, cancel::config(global, args))?;
            return Ok(("cancel", cancel.rights(), Vec::new()));
        }
        Command::Tree(args) => ("tree", args.targets.clone(), Reads::Namespace, while_watched(args.watch)),
        // Owners may be anywhere.
        Command::Plan(args) if args.apply.apply => ("plan", nothing, Reads::Everything, &READ),
        Command::Plan(args) => ("plan", args.targets.clone(), policy(&args.propagation), &READ),
        Command::Archive(args) => ("archive", targets_and_file(&args.targets)?.0, policy(&args.propagation), &READ),
        Command::Delete(args) => {
            let verbs = while_watched(args.consent.dry_run == Mode::Apply);
            ("delete", args.targets.clone(), policy(&args.propagation), verbs)
        }
        Command::Doctor(args) => ("doctor", global.scope_of(&args.targets), Reads::Everything, &READ),
        Command::Explain(args) => ("explain", args.targets.clone(), Reads::Everything, &READ),
        // What is deleted is chosen later: that right is not part of it.
        Command::Tui(args) => ("tui", args.targets.clone(), Reads::Everything, &READ_AND_WATCH),
        Command::Reclaim(args) => ("reclaim", args.targets.clone(), Reads::Everything, &READ),
        Command::Snapshot(_) => ("snapshot", nothing, Reads::Everything, &READ),
        Command::Resources(args) if args.count => ("resources", nothing, Reads::Everything, &["list"]),
        _ => return Ok(("resources", Rights::default(), Vec::new())),
    };
    let targets = global.targets(&targets)?;
    let discovered = Discovered::connect(&global.cluster()?)?;
    let (resources, mut rights) = (&discovered.resources, Rights::default());
    let lists = discovered.lists(&targets, ReadScope::Namespace)?;
    // What the collector ignores is read only if it is a target.
    for (id, namespace) in lists.named().into_keys() {
        if resources.not_watched(resources.picked(id)).is_some() {
            rights.allow(&namespace, resources.get(id), verbs);
        }
    }
    if matches!(command, Command::Doctor(_) | Command::Explain(_) | Command::Tui(_)) {
        rights.read_events(resources);
    }
    if matches!(command, Command::Plan(_) | Command::Delete(_) | Command::Tui(_)) {
        rights.read_admission(resources, verbs);
    }
    match command {
        Command::Doctor(args) if args.probe => {
            if let Some(id) = resources.by_group_kind("", "ConfigMap") {
                rights.allow(&discovered.namespace(), resources.get(id), &["create", "delete", "get"]);
            }
        }
        Command::Delete(args) => write(&mut rights, &discovered, &lists, args)?,
        _ => {}
    }
    match reads {
        Reads::Namespace => rights.read(resources, lists.scope(), verbs),
        Reads::Everything => rights.read(resources, &Scope::Everything, verbs),
        Reads::Plan(propagation) => read_for_plan(&mut rights, discovered, &targets, &lists, propagation, verbs)?,
    }
    Ok((name, rights, Vec::new()))
}

/// A plan of objects in one namespace reads that namespace, and by name the nodes and volumes that the plan depends on:
/// to find them, it is made with the rights of the user who asks. A foreground delete can be blocked from elsewhere.
fn read_for_plan(
    rights: &mut Rights,
    discovered: Discovered,
    targets: &TargetConfig,
    lists: &Lists,
    propagation: Propagation,
    verbs: &[&'static str],
) -> Result<(), OperationError> {
    let namespace = match lists.only_namespace() {
        Some(namespace) if propagation != Propagation::Foreground => namespace,
        _ => {
            rights.read(&discovered.resources, &Scope::Everything, verbs);
            rights.read_events(&discovered.resources);
            return Ok(());
        }
    };
    rights.read_namespace(&discovered.resources, namespace, verbs);
    let mut session = discovered.read(targets, ReadScope::Everything)?;
    let targets = session.targets.clone().unwrap_or_default();
    let request = Request::delete(targets, propagation);
    predict(&mut session, &request, Assume::default(), &PlanOptions::default())?;
    let snapshot = &session.snapshot;
    let (mut nodes, mut volumes) = (BTreeSet::new(), BTreeSet::new());
    for (id, object) in snapshot.objects() {
        nodes.extend(snapshot.facts.pod(id).and_then(|pod| pod.node.clone()));
        volumes.extend(snapshot.facts.claim(id).and_then(|claim| claim.volume.clone()));
        volumes.extend(snapshot.facts.volume(id).map(|_| snapshot.text(object.name).to_owned()));
    }
    rights.read_named(&snapshot.resources, "Node", nodes);
    rights.read_named(&snapshot.resources, "PersistentVolume", volumes);
    Ok(())
}

/// The user's own writes of a delete.
fn write(rights: &mut Rights, discovered: &Discovered, lists: &Lists, args: &DeleteArgs) -> Result<(), OperationError> {
    let resources = &discovered.resources;
    let hold = HoldConfig { time: Duration::ZERO, namespace: args.hold_namespace.clone() };
    for ((id, namespace), names) in lists.named() {
        // Without names, all objects of the type.
        for name in names.iter().map(String::as_str).chain(names.is_empty().then_some("")) {
            rights.grant(resources, Access::each(&["delete"], id, &namespace, name));
            if args.hold.is_some() {
                rights.grant(resources, hold.requests(resources, id, &namespace, name, &discovered.namespace()));
            }
        }
    }
    let only = lists.only_namespace().unwrap_or_default();
    for text in &args.keep.keep {
        let types: Vec<ResourceId> = match KeepQuery::parse(text, resources)?.resources() {
            types if types.is_empty() => resources.deletable().map(|(id, _)| id).collect(),
            types => types,
        };
        types.into_iter().for_each(|id| rights.allow(only, resources.get(id), &["patch"]));
    }
    Ok(())
}

/// What the ClusterRole is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// One pass.
    Pass,
    /// `--watch`.
    Watch,
}

/// `list` and `watch` read the state, `get` proves what a list can't, and the collector's own writes are PATCH and
/// DELETE. It never creates or updates the objects that it collects, and the role covers all present and future
/// resources.
const VERBS: [&str; 5] = ["get", "list", "watch", "patch", "delete"];

const NAME: &str = "kubectl-gc-sweep";

/// The ClusterRole in YAML, for `kubectl apply -f -`. It never varies.
pub fn role(of: Role) -> String {
    let (command, mut notes) = match of {
        Role::Pass => ("kubectl gc sweep", Vec::new()),
        Role::Watch => (
            "kubectl gc sweep --watch",
            vec![
                "# Warnings about owners in other namespaces are written as events, like the collector's; \
                patch is granted above.",
            ],
        ),
    };
    // By default, every authenticated user has these permissions, including service accounts.
    notes.push(
        "# Discovery and checks of one's own permissions need no rule here: the API server binds \
         system:discovery and",
    );
    notes.push("# system:basic-user to system:authenticated, which covers every service account.");
    let mut rules = vec![rule("*", &["*"], &[], &VERBS)];
    if of == Role::Watch {
        rules.push(rule("", &["events"], &[], &["create"]));
    }
    let yaml = rights::role(NAME, "", rules);
    let does = format!(
        "# The permissions that {command} needs: read and watch everything, delete and patch the objects that \
         it collects."
    );
    format!("{does}\n{}\n{yaml}", notes.join("\n"))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn rules(of: Role) -> Value {
        let read: Value = serde_yaml::from_str(&role(of)).unwrap();
        assert_eq!(read["apiVersion"], "rbac.authorization.k8s.io/v1");
        assert_eq!(read["kind"], "ClusterRole");
        read["rules"].clone()
    }

    /// It creates or updates only events: a subject with this role can't create objects to make the collector delete
    /// others.
    #[test]
    fn the_role_is_what_the_collector_does() {
        let collects =
            json!({"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list", "watch", "patch", "delete"]});
        let complains = json!({"apiGroups": [""], "resources": ["events"], "verbs": ["create"]});
        assert_eq!(rules(Role::Pass), json!([collects]));
        assert_eq!(rules(Role::Watch), json!([collects, complains]));
    }

    #[test]
    fn its_lines_are_read_where_they_are_printed() {
        for of in [Role::Pass, Role::Watch] {
            assert!(role(of).lines().all(|line| line.len() <= 132) && role(of).ends_with('\n'), "{}", role(of));
        }
    }
}
