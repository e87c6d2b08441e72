//! Reads the real state of the cluster without any of the code under test.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{
    graphs::{
        end::{Changes, End, State, Written},
        generate::{ELSEWHERE, KINDS},
        kinds::Kind,
        text::{Bent, Graph, Line},
    },
    harness::{Cluster, uid},
};

use super::build::{PREFIX, Place, Uids};

/// An object on the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub kind: &'static Kind,
    pub uid: String,
    pub elsewhere: bool,
    pub grace: Option<i64>,
    pub node: Option<String>,
    pub state: State,
}

/// Objects by their names and kinds.
pub type Objects = BTreeMap<(String, &'static str), Found>;

fn path(kind: &Kind) -> String {
    let base = if kind.api_version.contains('/') { "/apis" } else { "/api" };
    format!("{base}/{}/{}", kind.api_version, kind.plural)
}

/// All objects of all graphs.
#[track_caller]
pub fn read(cluster: &Cluster) -> Objects {
    let mut objects = Objects::new();
    for kind in KINDS.iter().map(|kind| Kind::named(kind)) {
        for item in cluster.list(&path(kind)) {
            let name = text(&item["metadata"]["name"]);
            if name.starts_with(PREFIX) {
                objects.insert((name, kind.name), found(kind, &item));
            }
        }
    }
    objects
}

fn found(kind: &'static Kind, item: &Value) -> Found {
    let metadata = &item["metadata"];
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    Found {
        kind,
        uid: uid(item).to_owned(),
        elsewhere: text(&metadata["namespace"]).ends_with(ELSEWHERE),
        grace: metadata["deletionGracePeriodSeconds"].as_i64().filter(|grace| *grace > 0),
        node: item["spec"]["nodeName"].as_str().map(str::to_owned),
        state: State {
            terminating: metadata["deletionTimestamp"].is_string(),
            finalizers: list(&metadata["finalizers"]).iter().map(text).collect(),
            owners: list(&metadata["ownerReferences"])
                .iter()
                .map(|reference| Written {
                    api_version: text(&reference["apiVersion"]),
                    kind: text(&reference["kind"]),
                    name: text(&reference["name"]),
                    uid: text(&reference["uid"]),
                    controller: reference["controller"].as_bool(),
                    block: reference["blockOwnerDeletion"].as_bool(),
                })
                .collect(),
        },
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The objects of one place.
pub fn of<'o>(place: &Place, objects: &'o Objects) -> impl Iterator<Item = (&'o str, &'o Found)> {
    let prefix = place.prefix().to_owned();
    let from = objects.range((prefix.clone(), "")..);
    let of_place = from.take_while(move |((name, _), _)| name.starts_with(&prefix));
    of_place.map(|((name, _), found)| (name.as_str(), found))
}

/// The objects of one place, as a graph in text form.
pub fn graph(place: &Place, objects: &Objects, uids: &Uids) -> Graph {
    let lines = of(place, objects).map(|(name, found)| Line {
        elsewhere: found.elsewhere.then(|| ELSEWHERE.to_owned()),
        terminating: found.state.terminating,
        grace: found.grace,
        finalizers: found.state.finalizers.clone(),
        node: found.node.clone(),
        references: found.state.owners.iter().map(|written| bent(place, written, uids)).collect(),
        ..Line::new(found.kind, place.name_in_graph(name).unwrap_or(name))
    });
    Graph { lines: lines.collect(), ..Graph::default() }
}

/// How a graph has changed.
pub fn changes(before: &Graph, place: &Place, objects: &Objects, uids: &Uids) -> Changes {
    Changes::between(before, &graph(place, objects, uids))
}

/// The predicted objects of a place, by their names on the cluster.
pub fn predicted(place: &Place, objects: &Objects, end: &End) -> Objects {
    let left = of(place, objects).filter_map(|(name, found)| {
        let state = end.get(&format!("{}/{name}", found.kind.name))?.clone()?;
        Some(((name.to_owned(), found.kind.name), Found { state, ..found.clone() }))
    });
    left.collect()
}

/// How a reference differs from a correct one to the object with its uid.
fn bent(place: &Place, written: &Written, uids: &Uids) -> Bent {
    let written_name = place.name_in_graph(&written.name).unwrap_or(&written.name);
    let uid = place.name_in_graph(&written.uid).unwrap_or(&written.uid);
    let meant = uids.get(&written.uid).map(|(kind, name)| (*kind, name.as_str()));
    let absent = uid.strip_prefix("absent-").and_then(|absent| absent.split_once('-'));
    let (kind, name) = meant.or(absent).unwrap_or((&written.kind, written_name));
    let mut bends = Vec::new();
    let mut bend = |field: &str, right: &str, is: &str| {
        if right != is {
            bends.push((field.to_owned(), is.to_owned()));
        }
    };
    bend("version", Kind::api_version_of(kind), &written.api_version);
    bend("kind", kind, &written.kind);
    bend("name", name, written_name);
    if meant.or(absent).is_none() {
        bend("uid", "", uid);
    }
    Bent {
        kind: kind.to_owned(),
        name: name.to_owned(),
        bends,
        controller: written.controller == Some(true),
        block: written.block,
    }
}
