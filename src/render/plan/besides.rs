//! What the delete of a Namespace reaches besides what has an outcome, in JSON and in words.

use serde::Serialize;

use crate::{
    document::ObjectJson,
    foretell::{Besides, Unlisted},
    model::{ResourceId, Snapshot},
    render::words::plural,
    wording::count,
};

use super::{PlanView, details::name};

/// So many pods are named.
const NAMED_PODS: usize = 2;
/// So many resources of what is spared are counted apart.
const NAMED_RESOURCES: usize = 3;

/// What goes with a Namespace although it is never listed.
#[derive(Debug, Serialize)]
pub struct AlsoTakesJson<'a> {
    namespace: &'a str,
    resource: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u64>,
}

/// What of a Namespace is left alone, and the pods that have to go first.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SparesJson<'a> {
    namespace: &'a str,
    until_gone: Vec<ObjectJson<'a>>,
    resources: Vec<ResourceCountJson>,
}

#[derive(Debug, Serialize)]
struct ResourceCountJson {
    resource: String,
    count: usize,
}

fn namespace<'a>(view: &PlanView<'a>, besides: &Besides) -> &'a str {
    view.snapshot.text(view.snapshot.object(besides.namespace).name)
}

/// What a plan takes besides, as JSON says it. What is known to be nothing is left out.
pub fn also_takes<'a>(view: &PlanView<'a>) -> Vec<AlsoTakesJson<'a>> {
    let of_namespace = |besides: &'a Besides| {
        taken(besides).map(|unlisted| AlsoTakesJson {
            namespace: namespace(view, besides),
            resource: view.snapshot.resources.get(unlisted.resource).full_name(),
            count: unlisted.count,
        })
    };
    view.besides.iter().flat_map(of_namespace).collect()
}

fn taken(besides: &Besides) -> impl Iterator<Item = &Unlisted> {
    besides.unlisted.iter().filter(|unlisted| unlisted.count != Some(0))
}

/// What a plan spares as long as some pods stay, as JSON says it.
pub fn spares<'a>(view: &PlanView<'a>) -> Vec<SparesJson<'a>> {
    let of_namespace = |besides: &'a Besides| SparesJson {
        namespace: namespace(view, besides),
        until_gone: besides.pods.iter().map(|pod| ObjectJson::of(view.snapshot, *pod)).collect(),
        resources: besides
            .spared
            .iter()
            .map(|(resource, count)| ResourceCountJson {
                resource: view.snapshot.resources.get(*resource).full_name(),
                count: *count,
            })
            .collect(),
    };
    view.besides.iter().filter(|besides| !besides.spared.is_empty()).map(of_namespace).collect()
}

/// What goes besides, in words.
pub fn also(view: &PlanView<'_>) -> Vec<String> {
    let of_namespace = |besides: &Besides| {
        let told: Vec<String> = taken(besides).map(|unlisted| told(view.snapshot, *unlisted)).collect();
        let first = if besides.pods.is_empty() { "" } else { "once its pods are gone, " };
        (!told.is_empty()).then(|| format!("{first}{} in namespace {}", told.join(", "), namespace(view, besides)))
    };
    view.besides.iter().filter_map(of_namespace).collect()
}

/// `12 events`, or where they can't be counted, `whatever there is of events`.
fn told(snapshot: &Snapshot, unlisted: Unlisted) -> String {
    let resource = snapshot.resources.get(unlisted.resource);
    match unlisted.count {
        Some(1) if resource.plural == "events" => "1 event".to_owned(),
        Some(count) => format!("{count} {}", resource.full_name()),
        None => format!("whatever there is of {}", resource.full_name()),
    }
}

/// How many objects are spared.
pub fn spared_objects(view: &PlanView<'_>) -> usize {
    view.besides.iter().flat_map(|besides| &besides.spared).map(|(_, count)| count).sum()
}

/// What is spared, in words.
pub fn spared(view: &PlanView<'_>) -> Vec<String> {
    let of_namespace = |besides: &Besides| {
        let total: usize = besides.spared.iter().map(|(_, count)| count).sum();
        let here = Some(besides.namespace);
        let pods: Vec<String> = besides.pods.iter().take(NAMED_PODS).map(|pod| name(view, *pod, here)).collect();
        let more = besides.pods.len() - pods.len();
        let pods = if more == 0 { pods.join(" and ") } else { format!("{} and {more} more", pods.join(", ")) };
        format!(
            "{} in namespace {} ({}) {} when {pods} {} gone, and not before",
            count(total, "object", "objects"),
            namespace(view, besides),
            by_kind(view.snapshot, &besides.spared),
            if total == 1 { "goes" } else { "go" },
            if besides.pods.len() == 1 { "is" } else { "are" },
        )
    };
    view.besides.iter().filter(|besides| !besides.spared.is_empty()).map(of_namespace).collect()
}

fn by_kind(snapshot: &Snapshot, spared: &[(ResourceId, usize)]) -> String {
    let mut spared = spared.to_vec();
    spared.sort_by_key(|(resource, count)| (std::cmp::Reverse(*count), *resource));
    let kinds = spared.iter().take(NAMED_RESOURCES);
    let mut told: Vec<String> =
        kinds.map(|(resource, count)| format!("{count} {}", plural(snapshot.resources.get(*resource), *count))).collect();
    if spared.len() > NAMED_RESOURCES {
        told.push("…".to_owned());
    }
    told.join(", ")
}
