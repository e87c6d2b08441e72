//! What deleting a Namespace also deletes, or deletes later, in addition to the listed outcomes; in JSON and in words.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{
    document::ObjectJson,
    model::{ResourceId, Snapshot},
    plan::{OutsideEffect, Unlisted, UnlistedContents},
    render::words::kinds_of,
    wording::{count, some_of},
};

use super::{PlanView, document::EffectJson, names::name};

/// At most this many pods are named.
const NAMED_PODS: usize = 2;
/// At most this many resources that are deleted later are counted separately.
const NAMED_RESOURCES: usize = 3;

/// Objects that are deleted with a Namespace although the plan doesn't list them.
#[derive(Debug, Serialize)]
pub(super) struct AlsoDeletesJson<'a> {
    namespace: &'a str,
    resource: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u64>,
}

/// What a Namespace keeps for now, and the pods that must be gone first.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DeletedLaterJson<'a> {
    namespace: &'a str,
    after_pods: Vec<ObjectJson<'a>>,
    resources: Vec<ResourceCountJson>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    effects: Vec<EffectJson<'a>>,
}

#[derive(Debug, Serialize)]
struct ResourceCountJson {
    resource: String,
    count: usize,
}

fn namespace<'a>(view: &PlanView<'a>, unlisted_contents: &UnlistedContents) -> &'a str {
    view.snapshot.text(view.snapshot.object(unlisted_contents.namespace).name)
}

/// What a plan deletes in addition, for JSON. Resources that are known to have no objects are omitted.
pub(super) fn also_deletes<'a>(view: &PlanView<'a>) -> Vec<AlsoDeletesJson<'a>> {
    let of_namespace = |unlisted_contents: &'a UnlistedContents| {
        taken(unlisted_contents).map(|unlisted| AlsoDeletesJson {
            namespace: namespace(view, unlisted_contents),
            resource: view.snapshot.resources.get(unlisted.resource).full_name(),
            count: unlisted.count,
        })
    };
    view.unlisted_contents.iter().flat_map(of_namespace).collect()
}

fn taken(unlisted_contents: &UnlistedContents) -> impl Iterator<Item = &Unlisted> {
    unlisted_contents.unlisted.iter().filter(|unlisted| unlisted.count != Some(0))
}

/// What a plan leaves until some pods are gone, for JSON.
pub(super) fn deleted_later<'a>(view: &PlanView<'a>) -> Vec<DeletedLaterJson<'a>> {
    let mut later: BTreeMap<&str, Vec<&OutsideEffect>> = BTreeMap::new();
    for effect in &view.plan.effects_later {
        let namespace = view.snapshot.text(view.snapshot.object(effect.object).namespace);
        later.entry(namespace).or_default().push(effect);
    }
    let of_namespace = |unlisted_contents: &'a UnlistedContents| DeletedLaterJson {
        namespace: namespace(view, unlisted_contents),
        after_pods: unlisted_contents.pods.iter().map(|pod| ObjectJson::of(view.snapshot, *pod)).collect(),
        resources: unlisted_contents
            .spared
            .iter()
            .map(|(resource, count)| ResourceCountJson {
                resource: view.snapshot.resources.get(*resource).full_name(),
                count: *count,
            })
            .collect(),
        effects: later
            .get(namespace(view, unlisted_contents))
            .into_iter()
            .flatten()
            .map(|effect| EffectJson::of(view.snapshot, effect))
            .collect(),
    };
    view.unlisted_contents
        .iter()
        .filter(|unlisted_contents| !unlisted_contents.spared.is_empty())
        .map(of_namespace)
        .collect()
}

/// What is deleted in addition, in words.
pub(super) fn also(view: &PlanView<'_>) -> Vec<String> {
    let of_namespace = |unlisted_contents: &UnlistedContents| {
        let describe: Vec<String> =
            taken(unlisted_contents).map(|unlisted| describe(view.snapshot, *unlisted)).collect();
        let last = if unlisted_contents.pods.is_empty() { "" } else { ", once its pods are deleted" };
        (!describe.is_empty()).then(|| {
            format!("deletes {} in namespace {}{last}", describe.join(", "), namespace(view, unlisted_contents))
        })
    };
    view.unlisted_contents.iter().filter_map(of_namespace).collect()
}

/// `12 events`, or `any events` if they can't be counted.
fn describe(snapshot: &Snapshot, unlisted: Unlisted) -> String {
    let resource = snapshot.resources.get(unlisted.resource);
    match unlisted.count {
        Some(1) if resource.plural == "events" => "1 event".to_owned(),
        Some(count) => format!("{count} {}", resource.full_name()),
        None => format!("any {}", resource.full_name()),
    }
}

/// What is deleted later, in words.
pub(super) fn spared(view: &PlanView<'_>) -> Vec<String> {
    let of_namespace = |unlisted_contents: &UnlistedContents| {
        let total: usize = unlisted_contents.spared.iter().map(|(_, count)| count).sum();
        let here = Some(unlisted_contents.namespace);
        let pods = some_of(unlisted_contents.pods.iter().map(|pod| name(view, *pod, here)), NAMED_PODS);
        format!(
            "{} in namespace {} ({}) {} deleted only after {pods}",
            count(total, "object", "objects"),
            namespace(view, unlisted_contents),
            by_kind(view.snapshot, &unlisted_contents.spared),
            if total == 1 { "is" } else { "are" },
        )
    };
    view.unlisted_contents
        .iter()
        .filter(|unlisted_contents| !unlisted_contents.spared.is_empty())
        .map(of_namespace)
        .collect()
}

fn by_kind(snapshot: &Snapshot, spared: &[(ResourceId, usize)]) -> String {
    let mut spared = spared.to_vec();
    spared.sort_by_key(|(resource, count)| (std::cmp::Reverse(*count), *resource));
    kinds_of(snapshot, spared, NAMED_RESOURCES)
}
