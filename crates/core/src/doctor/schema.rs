//! Objects that no longer satisfy the schema of their CRD: the API server refuses the collector's changes of them.
//! DELETEs are not validated (`customResourceStrategy.ValidateUpdate` in Kubernetes' `customresource/strategy.go`).
//! Ratcheting forgives only values that don't change, and a change of metadata changes the object as a whole.

use std::collections::BTreeMap;

use crate::{
    model::{ObjectId, ResourceId, Symbol},
    simulate::doubt::{Turn, Write},
};

use super::{
    case::{Case, FindingsBuilder, sorted},
    code::Code,
    finding::{Finding, Step},
};

/// At most this many objects are tried: each is a request.
const MOST: usize = 50;

/// Finds overdue changes of custom resources that the API server refuses. Only it can tell, so this wants it asked.
pub(super) fn gather(case: &Case<'_>, turns: &[Turn], findings: &mut FindingsBuilder) {
    let snapshot = case.snapshot();
    let is_patch = |turn: &&Turn| {
        turn.write != Write::Delete
            && case.stage.definition_of(snapshot.object(turn.object).resource).is_some()
            && !findings.refused.contains(&turn.object)
    };
    let mut patches: Vec<Turn> = turns.iter().filter(is_patch).copied().collect();
    // What the answer is about comes first.
    let asked = |id: ObjectId| case.limit.asks_about(snapshot, id);
    patches.sort_by_key(|turn| !(asked(turn.object) || turn.waiting.is_some_and(asked)));
    patches.truncate(MOST);
    let mut by_kind: BTreeMap<(ResourceId, &str), Vec<Turn>> = BTreeMap::new();
    for turn in patches {
        let object = snapshot.object(turn.object);
        match snapshot.schema_fault(turn.object) {
            Some(fault) => by_kind.entry((object.resource, fault)).or_default().push(turn),
            None => drop(case.stage.lacks(|needs| needs.patches.insert(turn.object))),
        }
    }
    for ((resource, why), turns) in by_kind {
        findings.refused.extend(turns.iter().map(|turn| turn.object));
        let finding = finding(case, resource, why, &turns);
        findings.findings.push(finding);
    }
}

fn finding(case: &Case<'_>, resource: ResourceId, why: &str, turns: &[Turn]) -> Finding {
    let snapshot = case.snapshot();
    let invalid = sorted(turns.iter().map(|turn| turn.object));
    let objects = sorted(turns.iter().map(|turn| turn.waiting.unwrap_or(turn.object)));
    let definition = case.stage.definition_of(resource);
    let mut related: Vec<ObjectId> = invalid.iter().copied().filter(|id| objects.binary_search(id).is_err()).collect();
    related.extend(definition);
    let is_own = |turn: &&Turn| turn.write == Write::Finalizer;
    let own = sorted(turns.iter().filter(is_own).map(|turn| turn.object));
    let others = sorted(turns.iter().filter(|turn| !is_own(turn)).map(|turn| turn.object));
    let commands = case.commands();
    let orphans = own.iter().any(|id| snapshot.object(*id).finalizers.contains(&Symbol::ORPHAN));
    let last = if orphans {
        "the collector's finalizers; all dependents are already freed"
    } else {
        "the collector's finalizers"
    };
    let remedies = vec![
        Step::Heal.by(
            format!("delete it again with --cascade=background: a delete is not validated, and removes {last}"),
            commands.delete(&own, "background", &[]),
        ),
        commands.satisfy_schema(others.into_iter()),
    ];
    let definition = definition.map_or_else(|| "its CRD".to_owned(), |id| case.name(id, None));
    let (verb, they) = if invalid.len() == 1 { ("no longer satisfies", "it") } else { ("no longer satisfy", "them") };
    Finding {
        message: format!(
            "{} {verb} the schema in {definition}, so the API server refuses every change of {they}: {why}.",
            case.names(&invalid, None)
        ),
        consequence: "The collector's changes fail, and it retries forever: the delete never ends.".to_owned(),
        related,
        objects,
        remedies,
        ..Finding::of(Code::StuckOnSchema, format!("{}: {why}", snapshot.resources.get(resource).full_name()))
    }
}
