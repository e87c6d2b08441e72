//! `kubectl gc archive`

use std::path::{Path, PathBuf};

use crate::{
    operations::{
        Discovered, LiveSession, OperationError, ReadScope,
        archive::{Archived, Archiving, archive, of_content},
        targets::TargetArgs,
    },
    render::restore::ArchiveView,
};
use gc_cluster::archive::header_of;
use gc_core::{
    command_line::{ShellCommand, word_of},
    model::{ObjectId, Snapshot},
};

use super::{
    args::{ArchiveArgs, GlobalArgs},
    connection::ConnectionArgs,
    output::Printer,
    report::{Report, heading},
};

/// Archives the objects that a delete of the targets would remove.
pub(super) fn run(global: &GlobalArgs, args: &ArchiveArgs) -> Result<Report, OperationError> {
    let (targets, path) = targets_and_file(&args.targets)?;
    let mut archiving = Archiving::begin(&path)?;
    let targets = global.targets(&targets)?;
    let mut session = Discovered::expecting(&global.cluster()?, &targets, ReadScope::Everything)?
        .read(&targets, ReadScope::Everything)?;
    let propagation = args.propagation.policy();
    let archived = archive(&mut session, &mut archiving, propagation, args.assumed.assume, &args.allow_incomplete)?;
    describe(&session, &archived, &archiving, global)
}

/// FILE is the last argument, after the targets.
pub(super) fn targets_and_file(args: &TargetArgs) -> Result<(TargetArgs, PathBuf), OperationError> {
    let usage = |why: &str| {
        OperationError::Usage(format!("{why}: kubectl gc archive TARGET... FILE, where FILE ends in .yaml or .yaml.gz"))
    };
    let mut targets = args.clone();
    let Some(file) = targets.targets.pop() else {
        let nothing = !targets.names_manifests();
        return Err(usage(if nothing {
            "name the objects to archive and the FILE to write"
        } else {
            "the FILE to write is missing"
        }));
    };
    let name = file.to_ascii_lowercase();
    let is_file = [".yaml", ".yml", ".gz"].iter().any(|ending| name.ends_with(ending));
    if !is_file {
        return Err(usage(&format!("the FILE to write is missing: {file:?} is the last argument")));
    }
    if !targets.any() {
        return Err(usage(&format!("name the objects to archive into {file}")));
    }
    Ok((targets, PathBuf::from(file)))
}

fn describe(
    session: &LiveSession,
    archived: &Archived,
    archiving: &Archiving,
    global: &GlobalArgs,
) -> Result<Report, OperationError> {
    let Archived { plan, goes, saved } = archived;
    let (snapshot, path) = (&session.snapshot, archiving.shown());
    let notes = archiving.notes().into_iter().chain(of_content(&saved.kinds).into_iter().map(str::to_owned));
    let view = ArchiveView {
        resources: &snapshot.resources,
        kinds: &saved.kinds,
        path: &path,
        bytes: saved.bytes,
        notes: &notes.collect::<Vec<_>>(),
        restore: &global.connection.kubectl().plugin("restore").file(&path),
    };
    let namespace = session.namespace_of(&plan.request.targets);
    let heading = || heading(snapshot, namespace.as_deref(), &[], " Nothing was deleted.");
    Ok(Report::of(Printer::new(global).print(&view, heading)?).with_gaps(&goes.hidden))
}

/// The command that brings an object back from the only file that was read, if that is an archive.
pub(super) fn bring_back(from: &[String], snapshot: &Snapshot, id: ObjectId) -> Option<ShellCommand> {
    let [path] = from else { return None };
    let header = header_of(Path::new(path))?;
    let word = word_of(snapshot, id)?;
    let kubectl = ConnectionArgs::default().kubectl_in(&header.context);
    Some(kubectl.plugin("restore").file(path).args([word]))
}
