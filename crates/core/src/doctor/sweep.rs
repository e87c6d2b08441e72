//! Remedies that do the collector's work with this plugin, limited to the objects of a finding.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use crate::{
    command_line::ShellCommand,
    model::{ObjectId, Symbol},
    simulate::{
        Projection,
        doubt::{Turn, Write},
    },
    wording::{count, thousands},
};

use super::{
    case::Case,
    commands::in_batches,
    finding::{Remedy, Step},
    losses::Losses,
};

/// What does the collector's work on these writes: first what finishes deletes that somebody requested, then what
/// starts others. All that deletes an existing object needs a decision. What keeps data comes first.
pub(super) fn remedies(case: &Case<'_>, turns: &[Turn]) -> Vec<Remedy> {
    let requested = |turn: &&Turn| turn.waiting.is_some() || turn.write == Write::Finalizer;
    let of = |requests: bool| -> Vec<ObjectId> {
        let turns = turns.iter().filter(|turn| requested(turn) == requests);
        with_dependents(case, turns.flat_map(|turn| [turn.waiting, Some(turn.object)]).flatten())
    };
    let (requested, others) = (of(true), of(false));
    let goes = |id: &&ObjectId| is_deleted(case, **id);
    let losses = Losses::of(case, requested.iter().chain(&others).filter(goes).copied());
    let of_requested = Losses::of(case, requested.iter().filter(goes).copied());
    let decides = requested.iter().any(|id| is_deleted(case, *id));
    let finish = Step::Heal.by(
        format!(
            "do the collector's work: finish the deletes that wait for it; {}{}",
            harm(case, &requested),
            clause(case, &of_requested)
        ),
        commands(case, &requested, decides),
    );
    let of_others = Losses::of(case, others.iter().filter(goes).copied());
    let what = format!(
        "do the collector's work on objects with missing owners: {}{}",
        harm(case, &others),
        clause(case, &of_others)
    );
    let others = Step::Heal.by(what, commands(case, &others, true)).deciding(true);
    losses.keep(case).into_iter().chain([finish.deciding(decides), others]).collect()
}

/// What is lost, to follow a remedy's words.
fn clause(case: &Case<'_>, losses: &Losses) -> String {
    let told = losses.told(case, true);
    if told.is_empty() { told } else { format!(".{}", told.trim_end_matches('.')) }
}

/// These objects, and all below that the collector then deletes or changes, too; owners before their dependents.
fn with_dependents(case: &Case<'_>, objects: impl Iterator<Item = ObjectId>) -> Vec<ObjectId> {
    let mut seen: FxHashSet<ObjectId> = FxHashSet::default();
    let mut all: Vec<ObjectId> = objects.filter(|id| seen.insert(*id)).collect();
    let mut next = 0;
    while let Some(object) = all.get(next).copied() {
        next += 1;
        let follows = |id: &ObjectId| case.projection.outcome_of(*id).is_some() && seen.insert(*id);
        all.extend(case.graph().dependents(object.into()).iter().copied().filter(follows));
    }
    all
}

/// Whether the collector deletes an existing object.
fn is_deleted(case: &Case<'_>, id: ObjectId) -> bool {
    !case.snapshot().object(id).terminating() && case.projection.leaves(id)
}

/// How many existing objects are deleted.
fn harm(case: &Case<'_>, objects: &[ObjectId]) -> String {
    let goes = |id: &&ObjectId| is_deleted(case, **id);
    match objects.iter().filter(goes).count() {
        0 => "it deletes no other object".to_owned(),
        some => {
            let staying = how_many_stay(case.projection, objects.iter().copied().filter(|id| is_deleted(case, *id)));
            match some - staying {
                0 => format!("{} Terminating", count(staying, "existing object stays", "existing objects stay")),
                gone => format!("it deletes {}{}", count(gone, "existing object", "existing objects"), stay(staying)),
            }
        }
    }
}

/// How many of those that are deleted stay Terminating: a sweep counts them apart.
pub(super) fn how_many_stay(projection: &Projection, deleted: impl Iterator<Item = ObjectId>) -> usize {
    deleted.filter(|id| !projection.goes(*id)).count()
}

/// That as many more stay Terminating: a clause, to follow how many are deleted.
pub(super) fn stay(number: usize) -> String {
    match number {
        0 => String::new(),
        1 => ", and 1 more stays Terminating".to_owned(),
        some => format!(", and {} more stay Terminating", thousands(some)),
    }
}

/// Sweeps of these objects, one for each namespace; cluster-scoped objects come last, because they have no namespaced
/// owners. What decides asks before it changes anything.
fn commands(case: &Case<'_>, objects: &[ObjectId], decides: bool) -> Vec<ShellCommand> {
    let snapshot = case.snapshot();
    let mut by_namespace: BTreeMap<(bool, Symbol), Vec<String>> = BTreeMap::new();
    for id in objects {
        let object = snapshot.object(*id);
        let Some(word) = case.commands().word(*id) else { continue };
        by_namespace.entry((object.namespace.is_empty(), object.namespace)).or_default().push(word);
    }
    let batches = by_namespace
        .into_iter()
        .flat_map(|((_, place), words)| in_batches(words, |word| word.len() + 1).map(move |b| (place, b)));
    let sweep = |(namespace, words): (Symbol, Vec<String>)| {
        let command = case.kubectl.plugin("sweep").args(words).in_namespace(snapshot.text(namespace))?;
        Some(command.args((!decides).then_some("--yes")))
    };
    batches.filter_map(sweep).collect()
}
