//! Admission policies that refuse whatever they match, and so prevent what the collector or the namespace controller
//! must do. Such a policy is no problem until then.

use serde_json::json;

use crate::{
    model::ObjectId,
    simulate::obstacles::{BoundPolicy, Called, Operation, bound_policies},
};

use super::{
    case::{Case, FindingsBuilder},
    code::Code,
    collector::{Turn, Write},
    finding::{Finding, Remedy},
};

/// Finds policies that refuse pending writes of the collector, or deletes in a terminating namespace.
pub(super) fn gather(case: &Case<'_>, turns: &[Turn], findings: &mut FindingsBuilder) {
    let policies = bound_policies(case.stage, &mut findings.wanted.needs);
    let policies: Vec<BoundPolicy<'_>> = policies.into_iter().filter(BoundPolicy::refuses_all).collect();
    if policies.is_empty() {
        return;
    }
    let content = content(case);
    for policy in &policies {
        let refuses =
            |object: ObjectId, operation: Operation| policy.judges(case.stage, object, operation) == Called::Yes;
        let operation = |turn: &Turn| if turn.write == Write::Delete { Operation::Delete } else { Operation::Update };
        let held: Vec<&Turn> = turns.iter().filter(|turn| refuses(turn.object, operation(turn))).collect();
        findings.refused.extend(held.iter().map(|turn| turn.object));
        let mut refused: Vec<ObjectId> = held.iter().map(|turn| turn.object).collect();
        let mut waiting: Vec<ObjectId> = held.iter().filter_map(|turn| turn.waiting).collect();
        for (namespace, objects) in &content {
            let before = refused.len();
            let is_kept = |object: &ObjectId| refuses(*object, Operation::of_content(case.snapshot(), *object));
            refused.extend(objects.iter().copied().filter(is_kept));
            if refused.len() > before {
                waiting.push(*namespace);
            }
        }
        refused.sort_unstable();
        refused.dedup();
        if !refused.is_empty() {
            findings.findings.push(finding(case, policy, &refused, &waiting));
        }
    }
}

/// The terminating namespaces, and what is in them and isn't terminating.
fn content(case: &Case<'_>) -> Vec<(ObjectId, Vec<ObjectId>)> {
    let snapshot = case.snapshot();
    let namespaces = case.stage.built_in.namespaces.map_or(&[][..], |resource| case.stage.of_resource(resource));
    let terminating = namespaces.iter().copied().filter(|id| {
        snapshot.object(*id).terminating() && !case.fresh.contains(id) && case.limit.asks_about(snapshot, *id)
    });
    let left = |namespace: ObjectId| -> Vec<ObjectId> {
        let all = case.stage.in_namespace(snapshot.object(namespace).name).iter().copied();
        all.filter(|id| {
            let object = snapshot.object(*id);
            !object.terminating() && snapshot.resources.get(object.resource).has_verb("delete")
        })
        .collect()
    };
    terminating.map(|namespace| (namespace, left(namespace))).collect()
}

fn finding(case: &Case<'_>, policy: &BoundPolicy<'_>, refused: &[ObjectId], waiting: &[ObjectId]) -> Finding {
    let snapshot = case.snapshot();
    let mut related = [refused, waiting, &[policy.binding]].concat();
    related.sort_unstable();
    related.dedup();
    let uid = |id: ObjectId| snapshot.text(snapshot.object(id).uid);
    let [name, binding] = [policy.policy, policy.binding].map(|id| snapshot.short_name(id));
    let warn = json!({"spec": {"validationActions": ["Warn", "Audit"]}});
    Finding {
        code: Code::PolicyRefuses,
        severity: Code::PolicyRefuses.severity(),
        cause: format!("{} {}", uid(policy.policy), uid(policy.binding)),
        message: format!(
            "{name} refuses all that it matches (its validation is the constant false); {binding} binds it."
        ),
        consequence: format!(
            "Requests for {} are refused, and repeated forever. Somebody may have protected these on purpose.",
            case.names(refused, None)
        ),
        objects: vec![policy.policy],
        references: Vec::new(),
        related,
        remedies: vec![
            Remedy::new(
                "let the policy warn instead of refuse: then nothing that it matches is protected, and the deletes \
                 go on",
                case.commands().merge(policy.binding, &warn),
            )
            .deciding(true),
            Remedy::new("see what it protects, and why", case.commands().get(policy.policy)),
        ],
    }
}
