//! Merges gaps of single objects: one gap for all objects with the same reason.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::{Coordinate, Gap, Snapshot};
use crate::wording::{and_more, grouped};

/// At most this many resources are named for one reason.
const NAMED: usize = 6;
/// At most this many reasons are given.
const REASONS: usize = 4;

/// Collects objects that could not be read.
#[derive(Clone, Debug, Default)]
pub struct Gaps {
    /// By resource and reason: namespaces and names.
    found: BTreeMap<(String, String), BTreeSet<(String, String)>>,
}

impl Gaps {
    pub fn add(&mut self, resource: String, namespace: &str, name: &str, reason: impl Into<String>) {
        // A name in a reference can be any text, even empty.
        let plain =
            !name.is_empty() && !name.contains(|character: char| character.is_control() || character.is_whitespace());
        let name = if plain { name.to_owned() } else { format!("{name:?}") };
        self.found.entry((resource, reason.into())).or_default().insert((namespace.to_owned(), name));
    }

    pub fn add_object(&mut self, snapshot: &Snapshot, at: Coordinate, reason: impl Into<String>) {
        let resource = snapshot.resources.get(at.resource).full_name();
        self.add(resource, snapshot.text(at.namespace), snapshot.text(at.name), reason);
    }

    /// The merged gaps, each with the first few names.
    fn merged(&self) -> Vec<Gap> {
        let merge = |((resource, reason), objects): (&(String, String), &BTreeSet<(String, String)>)| {
            let namespaces: BTreeSet<&str> = objects.iter().map(|(namespace, _)| namespace.as_str()).collect();
            let one = namespaces.first().copied().filter(|_| namespaces.len() == 1);
            let name = |(namespace, name): &(String, String)| match one {
                None if !namespace.is_empty() => format!("{namespace}/{name}"),
                _ => name.clone(),
            };
            let names: Vec<String> = objects.iter().map(name).collect();
            let names = match names.as_slice() {
                [first, second, third, _, ..] => format!("{first}, {second}, {third} and {} more", names.len() - 3),
                _ => names.join(", "),
            };
            let namespace = one.filter(|namespace| !namespace.is_empty()).map(str::to_owned);
            Gap { resource: resource.clone(), namespace, reason: format!("{names}: {reason}").into() }
        };
        self.found.iter().map(merge).collect()
    }

    /// Adds the gaps to a snapshot's, in order, and merges them with those of earlier reads.
    pub fn record(self, snapshot: &mut Snapshot) {
        let before = snapshot.unread_objects.merged();
        for (key, objects) in self.found {
            snapshot.unread_objects.found.entry(key).or_default().extend(objects);
        }
        let merged = snapshot.unread_objects.merged();
        snapshot.gaps.retain(|gap| !before.contains(gap) && !merged.contains(gap));
        snapshot.gaps.extend(merged);
        snapshot.gaps.sort();
    }
}

/// These gaps without those that repeat another: an object can't be read, and no list with it either; or what is
/// missing in a namespace is missing everywhere. What is gone since it was listed hides nothing.
pub fn each_once(gaps: &[Gap]) -> Vec<Gap> {
    let is_told = |gap: &Gap, names: &str| {
        let tells = |list: &Gap| match list.reason.as_str().strip_prefix("forbidden") {
            Some("") => list.namespace.is_none() || list.namespace == gap.namespace,
            Some(rest) => rest.strip_prefix(" outside of namespace ").is_some_and(|here| match &gap.namespace {
                Some(namespace) => namespace != here,
                None => !names.contains(&format!("{here}/")) && !names.ends_with(" more"),
            }),
            None => false,
        };
        gaps.iter().any(|list| list.resource == gap.resource && tells(list))
    };
    let everywhere = gaps.iter().filter(|gap| gap.namespace.is_none());
    let everywhere: HashSet<_> = everywhere.map(|gap| (gap.resource.as_str(), gap.reason.as_str())).collect();
    let repeats = |gap: &&Gap| match gap.forbidden_objects() {
        Some(names) => is_told(gap, names),
        None => gap.namespace.is_some() && everywhere.contains(&(gap.resource.as_str(), gap.reason.as_str())),
    };
    gaps.iter().filter(|gap| !gap.is_of_gone() && !repeats(gap)).cloned().collect()
}

/// The gaps in a few words, grouped by reason: `secrets, pods in namespace shop (forbidden)`.
pub fn in_words(gaps: &[Gap]) -> String {
    let by_reason = grouped(gaps.iter().map(|gap| (gap.reason.as_str(), gap.clone())));
    let reasons: Vec<String> =
        by_reason.iter().take(REASONS).map(|(reason, same)| format!("{} ({reason})", names_in_words(same))).collect();
    let untold: usize = by_reason.iter().skip(REASONS).map(|(_, same)| same.len()).sum();
    let rest = if untold == 0 { String::new() } else { format!("; and {untold} more (-o json lists them)") };
    format!("{}{rest}", reasons.join("; "))
}

/// What the first few gaps are about, without the reason: `secrets, pods and 2 more in namespace shop`.
pub fn names_in_words(gaps: &[Gap]) -> String {
    let named = gaps.iter().take(NAMED);
    let by_namespace = grouped(named.map(|gap| (gap.namespace.as_deref(), gap.resource.as_str())));
    let more = and_more(gaps.len().saturating_sub(NAMED));
    // Whatever is not named may be elsewhere.
    let all_here = by_namespace.len() == 1 && gaps.iter().all(|gap| gap.namespace == gaps[0].namespace);
    let place = |namespace: Option<&str>| namespace.map(|one| format!(" in namespace {one}")).unwrap_or_default();
    if all_here {
        return format!("{}{more}{}", by_namespace[0].1.join(", "), place(by_namespace[0].0));
    }
    let named: Vec<String> =
        by_namespace.iter().map(|(namespace, names)| names.join(", ") + &place(*namespace)).collect();
    named.join(", ") + &more
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_of_one_reason_are_one_gap() {
        let mut gaps = Gaps::default();
        for name in ["e", "d", "c", "b", "a"] {
            gaps.add("pods".into(), "shop", name, "forbidden");
        }
        gaps.add("nodes".into(), "", "n", "timed out after 30s");
        let told = |gaps: &Gaps| gaps.merged().iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(
            told(&gaps),
            ["nodes (n: timed out after 30s)", "pods in namespace shop (a, b, c and 2 more: forbidden)"]
        );
        gaps.add("pods".into(), "web", "x", "forbidden");
        assert_eq!(told(&gaps)[1], "pods (shop/a, shop/b, shop/c and 3 more: forbidden)");
    }

    #[test]
    fn a_list_that_may_not_be_read_tells_of_its_objects() {
        let gap = |namespace: Option<&str>, reason: &str| Gap {
            resource: "secrets".into(),
            namespace: namespace.map(str::to_owned),
            reason: reason.into(),
        };
        let elsewhere = gap(None, "forbidden outside of namespace shop");
        let object = |namespace: &str| gap(Some(namespace), "a: forbidden");
        let one = |list: &Gap, object: &Gap| each_once(&[list.clone(), object.clone()]).len() == 1;
        assert!(one(&gap(None, "forbidden"), &object("shop")));
        assert!(one(&gap(Some("shop"), "forbidden"), &object("shop")));
        assert!(!one(&gap(Some("shop"), "forbidden"), &object("web")));
        assert!(one(&elsewhere, &object("web")) && !one(&elsewhere, &object("shop")));
        assert!(one(&elsewhere, &gap(None, "web/a, web/b: forbidden")));
        assert!(!one(&elsewhere, &gap(None, "shop/a, web/b: forbidden")));
        assert!(!one(&gap(None, "503 Service Unavailable"), &object("shop")));
        assert!(!one(&gap(None, "forbidden"), &gap(Some("shop"), "a: timed out after 30s")));
    }

    #[test]
    fn what_is_read_later_joins_what_was_read_before() {
        let origin = crate::model::Origin::Dump { paths: Vec::new() };
        let mut snapshot = crate::model::SnapshotBuilder::new(origin, crate::model::Resources::default()).build();
        for (namespace, name) in [("shop", "a"), ("shop", "b"), ("web", "a"), ("shop", "a")] {
            let mut gaps = Gaps::default();
            gaps.add("pods".into(), namespace, name, "forbidden");
            gaps.record(&mut snapshot);
        }
        let told: Vec<String> = snapshot.gaps.iter().map(ToString::to_string).collect();
        assert_eq!(told, ["pods (shop/a, shop/b, web/a: forbidden)"]);
    }
}
