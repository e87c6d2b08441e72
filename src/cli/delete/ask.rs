//! The question before a delete, and the meaning of the answers. The more severe the consequences, the more the user
//! has to type.

use std::collections::BTreeMap;

use crate::{
    operations::{approve::Question, delete::Delete},
    render::{header::header, words::plural},
};
use gc_core::{
    hold::meanwhile,
    model::{ObjectId, ResourceId, Snapshot, effects::EffectKind},
    plan::{ConfirmationReason, Consent, Plan, severe_objects},
    wording::{count, duration, thousands},
};

/// The answer that archives first.
const ARCHIVE: &str = "a";
/// The same, if the name to type is equal to that answer.
const ARCHIVE_OTHERWISE: &str = "A";

/// The question about a plan. `namespace`: the namespace of the command; `archived`: an archive contains everything
/// that will be deleted.
pub(super) fn question(
    snapshot: &Snapshot,
    plan: &Plan,
    consent: Consent,
    namespace: Option<&str>,
    archived: bool,
) -> Question {
    let place = header(snapshot, namespace, &[]);
    let objects = count(plan.going().len(), "object", "objects");
    let (word, why) = match consent {
        Consent::Yes => (None, String::new()),
        Consent::Number(number) => (Some(number.to_string()), String::new()),
        Consent::Name(object) => {
            let name = snapshot.text(snapshot.object(object).name).to_owned();
            (Some(name), format!(" {}", at_stake(snapshot, &severe_objects(snapshot, plan))))
        }
    };
    let archive = (!archived).then(|| if word.as_deref() == Some(ARCHIVE) { ARCHIVE_OTHERWISE } else { ARCHIVE });
    let key = archive.map(|key| format!("{key}: archive first")).unwrap_or_default();
    let answers = match (&word, consent) {
        (None, _) if key.is_empty() => "[y/N]".to_owned(),
        (None, _) => format!("[y/N, {key}]"),
        (Some(word), Consent::Number(_)) => {
            format!("To confirm, type the number of objects: {word} ({})", or_stop(&key))
        }
        (Some(word), _) => format!("To confirm, type {word} ({})", or_stop(&key)),
    };
    Question { preface: format!("{place}{why}"), prompt: format!("Delete {objects}? {answers}"), word, archive }
}

fn or_stop(key: &str) -> String {
    if key.is_empty() { "anything else: stop".to_owned() } else { format!("{key}, anything else: stop") }
}

/// `Deletes Namespace/shop with everything in it, 5 PersistentVolumeClaims (perhaps DATA LOSS).`: the most severe
/// first, objects of one kind and reason together.
fn at_stake(snapshot: &Snapshot, severe: &[(ConfirmationReason, ObjectId)]) -> String {
    let mut groups: BTreeMap<(ConfirmationReason, ResourceId), Vec<ObjectId>> = BTreeMap::new();
    for (reason, object) in severe {
        groups.entry((*reason, snapshot.object(*object).resource)).or_default().push(*object);
    }
    let describe = groups.into_iter().map(|((reason, resource), objects)| {
        let kind = plural(snapshot.resources.get(resource), objects.len());
        match objects.as_slice() {
            [one] => format!("{}{}", snapshot.short_name(*one), heavy(reason, true)),
            many => format!("{} {kind}{}", thousands(many.len()), heavy(reason, false)),
        }
    });
    format!("Deletes {}.", describe.collect::<Vec<_>>().join(", "))
}

/// The reason, to follow a name or a number of objects.
fn heavy(reason: ConfirmationReason, one: bool) -> &'static str {
    match (reason, one) {
        (ConfirmationReason::Namespace, true) => " with everything in it",
        (ConfirmationReason::Namespace, false) => " with everything in them",
        (ConfirmationReason::Definition, true) => " with every object of its kind",
        (ConfirmationReason::Definition, false) => " with every object of their kinds",
        (ConfirmationReason::Volume | ConfirmationReason::Claim, _) => " (perhaps DATA LOSS)",
        (ConfirmationReason::Outside(kind), _) => match (kind, one) {
            (EffectKind::DataLost, _) => " (DATA LOSS)",
            (EffectKind::ExternalDeleted, true) => " (its resource outside the cluster is deleted)",
            (EffectKind::ExternalDeleted, false) => " (their resources outside the cluster are deleted)",
            (EffectKind::ObjectsDeleted, true) => " (also deletes objects that have no owner reference to it)",
            (EffectKind::ObjectsDeleted, false) => " (also deletes objects that have no owner reference to them)",
            (EffectKind::LoadBalancerReleased, true) => " (its load balancer is released)",
            (EffectKind::LoadBalancerReleased, false) => " (their load balancers are released)",
            (_, true) => " (the effect of its finalizers is not known)",
            (_, false) => " (the effect of their finalizers is not known)",
        },
    }
}

/// What a question says of a hold: `Held for 10m. …`
pub(super) fn foretold(delete: &Delete, plan: &Plan) -> Option<String> {
    let config = delete.config.hold.as_ref()?;
    if config.time.as_secs() == 0 {
        return None;
    }
    let mut told = vec![format!("It is held for {}, and can be taken back until then.", duration(config.time))];
    let snapshot = &delete.session.snapshot;
    for target in &plan.request.targets {
        let resource = snapshot.resources.get(snapshot.object(*target).resource);
        let sentence = meanwhile(&resource.group, &resource.kind).to_owned();
        if !told.contains(&sentence) {
            told.push(sentence);
        }
    }
    Some(told.join(" "))
}

#[cfg(test)]
mod tests {
    use gc_cluster::dump;
    use gc_core::{
        graph::OwnerGraph,
        plan::explore,
        server::Propagation,
        simulate::{Assume, Request, SimContext},
    };

    use super::*;

    /// The question before deleting these objects of the example.
    fn asked(targets: &[&str], above: usize, archived: bool) -> String {
        asked_of("examples/shop.yaml", targets, above, archived)
    }

    fn asked_of(file: &str, targets: &[&str], above: usize, archived: bool) -> String {
        let file = format!("{}/{file}", env!("CARGO_MANIFEST_DIR"));
        let mut snapshot = dump::read(&[file], false).unwrap();
        snapshot.origin =
            gc_core::model::Origin::Cluster { context: "prod".to_owned(), server: "prod:6443".to_owned() };
        let id = |target: &&str| snapshot.objects().find(|(id, _)| snapshot.short_name(*id) == **target).unwrap().0;
        let targets = targets.iter().map(id).collect();
        let graph = OwnerGraph::new(&snapshot);
        let context = SimContext::new(&snapshot, &graph, Assume::Known);
        let plan = explore(&context, &Request::delete(targets, Propagation::Background));
        let consent = Consent::to(&snapshot, &plan, above);
        let question = question(&snapshot, &plan, consent, Some("shop"), archived);
        format!("{} {}", question.preface, question.prompt)
    }

    #[test]
    fn the_question_says_what_is_at_stake_and_what_to_type() {
        let place = "Context prod (prod:6443), namespace shop.";
        assert_eq!(asked(&["Service/web"], 9, false), format!("{place} Delete 2 objects? [y/N, a: archive first]"));
        assert_eq!(
            asked(&["Service/web"], 1, true),
            format!("{place} Delete 2 objects? To confirm, type the number of objects: 2 (anything else: stop)")
        );
        assert_eq!(
            asked(&["PersistentVolumeClaim/web-uploads"], 9, true),
            format!(
                "{place} Deletes PersistentVolumeClaim/web-uploads (perhaps DATA LOSS). Delete 1 object? \
                 To confirm, type web-uploads (anything else: stop)"
            )
        );
        // What goes once the operator has removed its finalizer counts, too.
        let asked_later = asked_of("tests/cli/dumps/operator.yaml", &["PgCluster/orders"], 9, true);
        assert!(
            asked_later.contains(
                "Deletes 2 PersistentVolumeClaims (perhaps DATA LOSS), PgCluster/orders (the effect of its \
                 finalizers is not known). Delete 8 objects?"
            ),
            "{asked_later}"
        );
        assert_eq!(
            asked(&["StatefulSet/db", "Namespace/elsewhere"], 9, false),
            format!(
                "{place} Deletes Namespace/elsewhere with everything in it, 2 PersistentVolumeClaims (perhaps \
                 DATA LOSS). Delete 11 objects? To confirm, type elsewhere \
                 (a: archive first, anything else: stop)"
            )
        );
    }
}
