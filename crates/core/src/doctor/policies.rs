//! Admission policies that refuse whatever they match, and so prevent what the collector or the namespace controller
//! must do. Such a policy is no problem until then.

use rustc_hash::FxHashSet;

use crate::{
    model::ObjectId,
    simulate::{
        actors::ENDS_A_POD,
        doubt::Turn,
        obstacles::{BoundPolicy, Called, Operation, Refuses, bound_policies},
    },
};

use super::{
    case::{Case, FindingsBuilder, sorted},
    causes::writes,
    code::Code,
    finding::{Finding, Remedy, Step},
};

/// Finds policies that refuse pending writes of the collector or kubelets, or deletes in a terminating namespace.
pub(super) fn gather(case: &Case<'_>, turns: &[Turn], findings: &mut FindingsBuilder) {
    let policies = bound_policies(case.stage);
    if policies.is_empty() {
        return;
    }
    let content = content(case);
    for policy in &policies {
        let refuses = |object: ObjectId, operation: Operation| {
            let judges = policy.judges(case.stage, object, operation) == Called::Yes;
            judges && policy.refuses(case.stage, object, |_| true).is_some()
        };
        let held: Vec<&Turn> = turns.iter().filter(|turn| refuses(turn.object, turn.write.operation())).collect();
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
        let is_kept = |object: &ObjectId| refuses(*object, Operation::Update);
        let ends = |pod: &ObjectId| ENDS_A_POD.into_iter().any(|write| refuses(*pod, write));
        refused.extend(case.ending_pods().filter(ends));
        let refused = sorted(refused);
        let releases: Vec<ObjectId> = case.held_by_controllers().filter(is_kept).collect();
        if !refused.is_empty() || !releases.is_empty() {
            findings.findings.push(finding(case, policy, [&refused, &releases, &waiting]));
        }
    }
}

/// The terminating namespaces, and what is in them and isn't terminating.
fn content(case: &Case<'_>) -> Vec<(ObjectId, Vec<ObjectId>)> {
    let snapshot = case.snapshot();
    let namespaces = case.stage.of_resource(case.stage.built_in.namespaces);
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

/// `refused`: what the collector or the namespace controller would write; `releases`: what controllers would release;
/// `waiting`: what waits for the first.
fn finding(case: &Case<'_>, policy: &BoundPolicy<'_>, [refused, releases, waiting]: [&[ObjectId]; 3]) -> Finding {
    let snapshot = case.snapshot();
    let mut then: Vec<String> = Vec::new();
    if !refused.is_empty() {
        then.push(format!("Requests for {} are refused, and repeated forever.", case.names(refused, None)));
    }
    if !releases.is_empty() {
        then.push(format!("{}.", case.cannot_be_released(releases)));
    }
    then.push("Somebody may have protected these on purpose.".to_owned());
    let first = *refused.iter().chain(releases).next().unwrap_or(&policy.policy);
    let related = sorted([refused, releases, waiting, &[policy.binding]].concat());
    let uid = |id: ObjectId| snapshot.text(snapshot.object(id).uid);
    let [name, binding] = [policy.policy, policy.binding].map(|id| snapshot.short_name(id));
    let why = policy.refuses(case.stage, first, |_| true).map(Refuses::why).unwrap_or_default();
    Finding {
        message: format!("{name} refuses all that it matches ({why}); {binding} binds it."),
        consequence: then.join(" "),
        objects: vec![policy.policy],
        related,
        remedies: vec![
            let_pass(case, policy, first),
            Step::Look.by("see what it protects, and why", case.commands().get(policy.policy)),
        ],
        ..Finding::of(Code::PolicyRefuses, format!("{} {}", uid(policy.policy), uid(policy.binding)))
    }
}

/// What lets writes to this object pass.
pub(super) fn let_pass(case: &Case<'_>, policy: &BoundPolicy<'_>, object: ObjectId) -> Remedy {
    let refuses = policy.refuses(case.stage, object, |_| true);
    case.commands().past_policy(policy.binding, refuses.is_some_and(Refuses::lacks_parameters))
}

/// Names the policies that judge the remedies of findings, and may refuse them. Of a policy that certainly refuses
/// some, what lets them pass comes right before the first of these: others may heal without that.
pub(super) fn judge_remedies(case: &Case<'_>, findings: &mut [Finding]) {
    let policies = bound_policies(case.stage);
    let held = if policies.is_empty() { FxHashSet::default() } else { case.held_by_controllers().collect() };
    for finding in findings.iter_mut().filter(|finding| !policies.is_empty() && finding.code != Code::PolicyRefuses) {
        let mut first: Vec<(usize, Remedy)> = Vec::new();
        let mut asked: Vec<ObjectId> = Vec::new();
        for policy in policies.iter().filter(|policy| !policy.mutates) {
            let judges = |(id, operation): (ObjectId, Operation)| policy.judges(case.stage, id, operation);
            let judged = |remedy| -> Vec<_> { writes(remedy).map(|write| (write.0, judges(write))).collect() };
            let judged: Vec<Vec<(ObjectId, Called)>> = finding.remedies.iter().map(judged).collect();
            if judged.iter().flatten().all(|(_, called)| *called == Called::No) {
                continue;
            }
            let refuses = |(id, called): &(ObjectId, Called)| {
                Some((*id, policy.refuses(case.stage, *id, |_| true).filter(|_| *called == Called::Yes)?))
            };
            let refused: Vec<_> = judged.iter().map(|of_remedy| of_remedy.iter().find_map(refuses)).collect();
            let surely = refused.iter().enumerate().find_map(|(place, refused)| Some((place, refused.as_ref()?)));
            if let Some((place, (first_judged, why))) = surely {
                let name = case.snapshot().short_name(policy.policy);
                let mut of_all = judged.iter().zip(&refused).filter(|(writes, _)| !writes.is_empty());
                let which = if of_all.all(|(_, refused)| refused.is_some()) { "the" } else { "some of the" };
                finding.consequence.push_str(&format!(" {name} refuses {which} remedies below ({}).", why.why()));
                // The collector would be the first to pass.
                let is_spared = |id: &ObjectId| {
                    let is_judged = judges((*id, Operation::Delete)) == Called::Yes;
                    let lives = !case.snapshot().object(*id).terminating();
                    lives && is_judged && policy.refuses(case.stage, *id, |_| true).is_some()
                };
                let only = case.commands().exempt_all_but_the_collector(policy.policy);
                let keeps = writes(&finding.remedies[place]).any(|(_, operation)| operation == Operation::Update);
                let only = only.filter(|_| keeps && finding.objects.iter().any(is_spared)).map(|only| {
                    let what = "let the policy refuse only the collector, which would delete it at once otherwise";
                    Step::Heal.by(what, [only]).deciding(true)
                });
                let pass = only.unwrap_or_else(|| let_pass(case, policy, *first_judged));
                // Whoever else should remove its finalizer may not, either.
                let is_refused = |id: &&ObjectId| {
                    let is_judged = held.contains(id) && judges((**id, Operation::Update)) == Called::Yes;
                    is_judged && policy.refuses(case.stage, **id, |_| true).is_some()
                };
                let mends = finding.remedies.iter().position(|remedy| remedy.step > Step::First);
                first.push(match finding.objects.iter().find(is_refused).and(mends) {
                    Some(mends) if mends > 0 && mends < place => (mends, Remedy { step: Step::First, ..pass }),
                    mends => (mends.unwrap_or(place).min(place), pass.before_others()),
                });
            } else {
                asked.push(policy.policy);
            }
            if !finding.related.contains(&policy.policy) {
                finding.related.push(policy.policy);
            }
        }
        // A policy may be bound more than once.
        let asked = sorted(asked);
        if !asked.is_empty() {
            let (names, verb) = (case.names(&asked, None), if asked.len() == 1 { "is" } else { "are" });
            let says = match asked.as_slice() {
                [policy] => case.snapshot().facts.admission_policy(*policy).and_then(|facts| facts.says.as_deref()),
                _ => None,
            };
            let says = says.map(|says| format!(" It says {says}.")).unwrap_or_default();
            let asked = format!(" {names} {verb} asked about the remedies below, and may refuse them.{says}");
            finding.consequence.push_str(&asked);
        }
        first.sort_by_key(|(place, _)| *place);
        for (place, remedy) in first.into_iter().rev() {
            finding.remedies[place].follow();
            finding.remedies.insert(place, remedy);
        }
    }
}
