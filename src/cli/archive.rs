//! `kubectl gc archive`

use std::path::{Path, PathBuf};

use crate::{
    operations::{
        Discovered, LiveSession, OperationError, ReadScope,
        archive::{Archived, Archiving, archive, of_content},
        targets::TargetArgs,
    },
    render::{escape::visible, words::plural},
};
use gc_cluster::archive::header_of;
use gc_core::{
    command_line::{Kubectl, ShellCommand, word_of},
    model::{Mapping, ObjectId, Snapshot},
    wording::{count, thousands},
};

use super::{
    args::{ArchiveArgs, GlobalArgs},
    connection::ConnectionArgs,
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
    Ok(describe(&session, &archived, &archiving, &global.connection.kubectl()))
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

fn describe(session: &LiveSession, archived: &Archived, archiving: &Archiving, kubectl: &Kubectl) -> Report {
    let Archived { plan, goes, saved } = archived;
    let snapshot = &session.snapshot;
    let mut out =
        heading(snapshot, session.namespace_of(&plan.request.targets).as_deref(), &[], " Nothing was deleted.");
    let bytes = thousands(usize::try_from(saved.bytes).unwrap_or(usize::MAX));
    let objects = count(saved.uids.len(), "object", "objects");
    let mut text = format!("Wrote {objects} to {} ({bytes} bytes).\n", archiving.shown());
    let named =
        |((api_version, kind), number): (&(String, String), &usize)| match snapshot.resources.map(api_version, kind) {
            Mapping::Served(resource) => (*number, plural(snapshot.resources.get(resource), *number)),
            _ => (*number, kind.clone()),
        };
    let mut kinds: Vec<(usize, String)> = saved.kinds.iter().map(named).collect();
    kinds.sort_by(|(one, a), (other, b)| other.cmp(one).then_with(|| a.cmp(b)));
    for (number, kind) in kinds {
        text += &format!("  {} {kind}\n", thousands(number));
    }
    for note in archiving.notes().iter().map(String::as_str).chain(of_content(&saved.kinds)) {
        text += &format!("{note}\n");
    }
    text += &format!("\nRestore with: {}\n", kubectl.plugin("restore").file(&archiving.shown()));
    // Some names may contain any character.
    for line in text.lines() {
        out.extend_from_slice(visible(line).as_bytes());
        out.push(b'\n');
    }
    Report::of(out).with_gaps(&goes.hidden)
}

/// The command that brings an object back from the only file that was read, if that is an archive.
pub(super) fn bring_back(from: &[String], snapshot: &Snapshot, id: ObjectId) -> Option<ShellCommand> {
    let [path] = from else { return None };
    let header = header_of(Path::new(path))?;
    let word = word_of(snapshot, id)?;
    let kubectl = ConnectionArgs::default().kubectl_in(&header.context);
    Some(kubectl.plugin("restore").file(path).args([word]))
}
