//! `kubectl gc archive`

use std::path::PathBuf;

use crate::{
    archive::Saved,
    graph::OwnerGraph,
    model::{Mapping, ObjectId},
    operations::{Discovered, LiveSession, OperationError, ReadScope},
    plan::Plan,
    render::{gaps, go_quote::visible, words::plural},
    server::Propagation,
    simulate::{Request, SimContext},
    wording::{count, shell_word, thousands},
};

use super::{
    archiving::{Archiving, Goes, goes, placed},
    args::{ArchiveArgs, GlobalArgs, TargetArgs},
    predict::{PlanOptions, PlanResult, predict, propagation_of},
    report::{Report, heading},
};

/// While an archive is written, some of what goes may be replaced; so often it is found out anew what goes.
const ROUNDS: usize = 5;

/// Writes what a delete of the targets would remove.
pub fn run(global: &GlobalArgs, args: &ArchiveArgs) -> Result<Report, OperationError> {
    let (targets, path) = targets_and_file(&args.targets)?;
    let mut archiving = Archiving::begin(&path)?;
    let targets = global.targets(&targets)?;
    let mut session = Discovered::connect(&global.cluster()?)?.read(&targets, ReadScope::Everything)?;
    let propagation = args.propagation.policy().map_or(Propagation::Background, propagation_of);
    let nothing_more = PlanOptions::default();
    for round in 1.. {
        let targets = session.targets.clone().unwrap_or_default();
        let PlanResult { plan, .. } =
            predict(&mut session, &Request::delete(targets, propagation), args.assume.assume(), &nothing_more)?;
        let goes = {
            let graph = OwnerGraph::new(&session.snapshot);
            goes(&SimContext::new(&session.snapshot, &graph, args.assume.assume()), &plan)
        };
        if let Some(what) = gaps::describe(&goes.hidden).filter(|_| !args.allow_incomplete) {
            return Err(OperationError::MayLack {
                path: archiving.path().to_owned(),
                what: what.trim_end_matches('.').to_owned(),
            });
        }
        let gone = archiving.take(&session, &goes)?;
        if round == ROUNDS || !recheck(&mut session, &plan, &gone, archiving.path())? {
            let saved = archiving.save(&session.snapshot, &plan)?;
            return Ok(describe(&session, &plan, &goes, &archiving, &saved, &global.connection.kubectl()));
        }
    }
    unreachable!("the last round returns")
}

/// FILE is what stands last, behind the targets.
fn targets_and_file(args: &TargetArgs) -> Result<(TargetArgs, PathBuf), OperationError> {
    let usage = |why: &str| {
        OperationError::Usage(format!("{why}: kubectl gc archive TARGET... FILE, where FILE ends in .yaml or .yaml.gz"))
    };
    let mut targets = args.clone();
    let Some(file) = targets.targets.pop() else {
        let nothing = targets.filenames.is_empty();
        return Err(usage(if nothing {
            "say what to archive, and the FILE to write it to"
        } else {
            "the FILE to write is missing"
        }));
    };
    let name = file.to_ascii_lowercase();
    let is_file = [".yaml", ".yml", ".gz"].iter().any(|ending| name.ends_with(ending));
    if !is_file {
        return Err(usage(&format!("the FILE to write is missing: {file:?} stands last")));
    }
    if targets.targets.is_empty() && targets.filenames.is_empty() {
        return Err(usage(&format!("say what to archive into {file}")));
    }
    Ok((targets, PathBuf::from(file)))
}

/// Looks whether another object has taken the name of one that is gone, and so may go in its place. Says whether
/// anything is otherwise now.
fn recheck(session: &mut LiveSession, plan: &Plan, gone: &[ObjectId], path: &str) -> Result<bool, OperationError> {
    if let Some(target) = plan.request.targets.iter().find(|target| gone.contains(target)) {
        return Err(OperationError::Moved { object: placed(&session.snapshot, *target), path: path.to_owned() });
    }
    let snapshot = &session.snapshot;
    let uids: Vec<_> = plan.request.targets.iter().map(|target| snapshot.object(*target).uid).collect();
    if gone.is_empty() || !session.recheck(gone) {
        return Ok(false);
    }
    session.targets = Some(uids.into_iter().filter_map(|uid| session.snapshot.by_uid(uid)).collect());
    Ok(true)
}

fn describe(
    session: &LiveSession,
    plan: &Plan,
    goes: &Goes,
    archiving: &Archiving,
    saved: &Saved,
    kubectl: &str,
) -> Report {
    let snapshot = &session.snapshot;
    let mut out =
        heading(snapshot, session.namespace_of(&plan.request.targets).as_deref(), &[], " Nothing was deleted.");
    let bytes = thousands(usize::try_from(saved.bytes).unwrap_or(usize::MAX));
    let objects = count(saved.uids.len(), "object", "objects");
    let mut text = format!("Wrote {objects} to {} ({bytes} bytes).\n", archiving.path());
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
    for note in archiving.notes() {
        text += &format!("{note}\n");
    }
    text += &format!("\nBring it back with: {kubectl} gc restore {}\n", shell_word(archiving.path()));
    // Some names may be made of anything.
    for line in text.lines() {
        out.extend_from_slice(visible(line).as_bytes());
        out.push(b'\n');
    }
    Report::of(out).with_gaps(&goes.hidden)
}
