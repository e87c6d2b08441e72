//! `--print-role`: the least rights that this very command needs.

use std::collections::BTreeSet;

use crate::{
    archive::Archive,
    cluster::Scope,
    model::{Resource, Resources},
    operations::{
        Discovered, OperationError, ReadScope, TargetConfig,
        cancel::Cancel,
        predict::{PlanOptions, predict},
        restore::Restore,
        rights::Rights,
        targets::KeepQuery,
    },
    server::Propagation,
    simulate::{Assume, Request},
};

use super::{
    archive::targets_and_file,
    args::{DeleteArgs, DryRunArg, GlobalArgs, RestoreArgs, TargetArgs},
    cancel,
    commands::Command,
    flags::propagation_of,
    report::Report,
    restore,
    sweep::{Role, role, scope},
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
    if global.reads_files {
        let why = "--print-role: this command reads files, not a cluster, and needs no rights";
        return Err(OperationError::Usage(why.to_owned()));
    }
    let (name, rights) = rights(global, command)?;
    if rights.is_empty() {
        return Ok(Some(Report::of(format!("# {name} needs no rights but discovery, which every user has.\n"))));
    }
    let head = format!(
        "# The least rights of this {name}, for the resources that are served now. Every user may already discover \
         them and\n# check own rights. Bind each role to the user: kubectl create clusterrolebinding or rolebinding.\n"
    );
    Ok(Some(Report::of(format!("{head}{}", rights.yaml(&format!("kubectl-gc-{name}"))))))
}

fn rights(global: &GlobalArgs, command: &Command) -> Result<(&'static str, Rights), OperationError> {
    if let Command::Restore(args) = command {
        return Ok(("restore", of_restore(global, args)?));
    }
    if let Command::Cancel(args) = command {
        return Ok(("cancel", Cancel::open(&global.cluster()?, cancel::config(global, args))?.rights()));
    }
    let open = |targets: &TargetArgs| -> Result<(Discovered, TargetConfig), OperationError> {
        let targets = global.targets(targets)?;
        Ok((Discovered::connect(&global.cluster()?)?, targets))
    };
    let everything = |discovered: &Discovered, verbs: &[&'static str]| {
        let mut rights = Rights::default();
        rights.read(&discovered.resources, &Scope::Everything, verbs);
        rights
    };
    Ok(match command {
        Command::Tree(args) => {
            let (discovered, targets) = open(&args.targets)?;
            let mut rights = Rights::default();
            let verbs: &[&'static str] = if args.watch { &READ_AND_WATCH } else { &READ };
            rights.read(&discovered.resources, &discovered.scope(&targets, ReadScope::Namespace)?, verbs);
            rights.add(of_ignored(&discovered, &targets, verbs)?);
            ("tree", rights)
        }
        // Owners may be anywhere.
        Command::Plan(args) if args.apply.apply => {
            let discovered = open(&TargetArgs::default())?.0;
            let mut rights = everything(&discovered, &READ);
            rights.read_admission(&discovered.resources, &READ);
            ("plan", rights)
        }
        Command::Plan(args) => {
            let (discovered, targets) = open(&args.targets)?;
            let mut rights = Rights::default();
            rights.read_admission(&discovered.resources, &READ);
            rights.add(of_plan(discovered, &targets, args.propagation.policy().map(propagation_of), &READ)?);
            ("plan", rights)
        }
        Command::Archive(args) => {
            let (discovered, targets) = open(&targets_and_file(&args.targets)?.0)?;
            ("archive", of_plan(discovered, &targets, args.propagation.policy().map(propagation_of), &READ)?)
        }
        Command::Delete(args) => ("delete", of_delete(open(&args.targets)?, args)?),
        Command::Doctor(args) => {
            let (discovered, targets) = open(&scope(global, &args.targets))?;
            let mut rights = everything(&discovered, &READ);
            rights.add(of_ignored(&discovered, &targets, &READ)?);
            rights.read_events(&discovered.resources);
            if args.probe {
                let namespace = discovered.namespace();
                if let Some(resource) = core(&discovered.resources, "ConfigMap") {
                    rights.allow(&namespace, resource, &[], &["create", "delete", "get"]);
                }
            }
            ("doctor", rights)
        }
        Command::Explain(args) => {
            let (discovered, targets) = open(&args.targets)?;
            let mut rights = everything(&discovered, &READ);
            rights.add(of_ignored(&discovered, &targets, &READ)?);
            rights.read_events(&discovered.resources);
            ("explain", rights)
        }
        // What is deleted is chosen later: that right is not part of it.
        Command::Tui(args) => {
            let (discovered, targets) = open(&args.targets)?;
            let mut rights = everything(&discovered, &READ_AND_WATCH);
            rights.read_admission(&discovered.resources, &READ_AND_WATCH);
            rights.add(of_ignored(&discovered, &targets, &READ_AND_WATCH)?);
            rights.read_events(&discovered.resources);
            ("tui", rights)
        }
        Command::Reclaim(args) => {
            let (discovered, targets) = open(&args.targets)?;
            let mut rights = everything(&discovered, &READ);
            rights.add(of_ignored(&discovered, &targets, &READ)?);
            ("reclaim", rights)
        }
        Command::Snapshot(_) => ("snapshot", everything(&open(&TargetArgs::default())?.0, &READ)),
        Command::Resources(args) if args.count => {
            ("resources", everything(&open(&TargetArgs::default())?.0, &["list"]))
        }
        _ => ("resources", Rights::default()),
    })
}

/// What the collector ignores is read only if it is a target.
fn of_ignored(
    discovered: &Discovered,
    targets: &TargetConfig,
    verbs: &[&'static str],
) -> Result<Rights, OperationError> {
    let mut rights = Rights::default();
    let resources = &discovered.resources;
    for (id, namespace, _) in discovered.named(targets)? {
        if resources.not_watched(resources.picked(id)).is_some() {
            rights.allow(&namespace, resources.get(id), &[], verbs);
        }
    }
    Ok(rights)
}

/// A plan of objects in one namespace reads that namespace, and by name the nodes and volumes that the plan depends on:
/// to find them, it is made with the rights of the user who asks. A foreground delete can be blocked from elsewhere.
fn of_plan(
    discovered: Discovered,
    targets: &TargetConfig,
    propagation: Option<Propagation>,
    verbs: &[&'static str],
) -> Result<Rights, OperationError> {
    let mut rights = of_ignored(&discovered, targets, verbs)?;
    let namespace = match discovered.only_namespace(targets)? {
        Some(namespace) if propagation != Some(Propagation::Foreground) => namespace,
        _ => {
            rights.read(&discovered.resources, &Scope::Everything, verbs);
            rights.read_events(&discovered.resources);
            return Ok(rights);
        }
    };
    rights.read_namespace(&discovered.resources, &namespace, verbs);
    let mut session = discovered.read(targets, ReadScope::Everything)?;
    let targets = session.targets.clone().unwrap_or_default();
    let request = Request::delete(targets, propagation.unwrap_or(Propagation::Background));
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
    Ok(rights)
}

fn of_delete((discovered, targets): (Discovered, TargetConfig), args: &DeleteArgs) -> Result<Rights, OperationError> {
    let mut own = Rights::default();
    let resources = &discovered.resources;
    for (resource, namespace, names) in discovered.named(&targets)? {
        own.allow(&namespace, resources.get(resource), &names, &["delete"]);
        if args.hold.is_some() {
            own.allow(&namespace, resources.get(resource), &names, &["get", "patch"]);
            let place = match (resources.get(resource).namespaced, &args.hold_namespace) {
                (true, _) => namespace,
                (false, Some(chosen)) => chosen.clone(),
                (false, None) => discovered.namespace(),
            };
            if let Some(secrets) = core(resources, "Secret") {
                own.allow(&place, secrets, &[], &["create", "delete", "get", "patch"]);
            }
        }
    }
    let only = discovered.only_namespace(&targets)?.unwrap_or_default();
    for text in &args.keep.keep {
        let types: Vec<&Resource> = match KeepQuery::parse(text, resources)?.resources() {
            types if types.is_empty() => resources.deletable().map(|(_, resource)| resource).collect(),
            types => types.into_iter().map(|id| resources.get(id)).collect(),
        };
        types.into_iter().for_each(|resource| own.allow(&only, resource, &[], &["patch"]));
    }
    let dry_run = args.consent.dry_run;
    let verbs: &[&'static str] = if dry_run == DryRunArg::None { &READ_AND_WATCH } else { &READ };
    own.read_admission(resources, verbs);
    let mut rights = of_plan(discovered, &targets, args.propagation.policy().map(propagation_of), verbs)?;
    rights.add(own);
    Ok(rights)
}

fn of_restore(global: &GlobalArgs, args: &RestoreArgs) -> Result<Rights, OperationError> {
    let objects = restore::objects(&Archive::open(&args.archive)?)?;
    let restore = Restore::open(&global.cluster()?, objects, &restore::request(global, args))?;
    let mut rights = Rights::default();
    rights.restore(&restore.with_defined(), &restore.plan);
    Ok(rights)
}

fn core<'a>(resources: &'a Resources, kind: &str) -> Option<&'a Resource> {
    resources.by_group_kind("", kind).map(|id| resources.get(id))
}
