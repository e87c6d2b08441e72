//! What is really on the cluster, read without any of the code that is under test.

use std::{
    collections::BTreeMap,
    fmt::{self, Display, Formatter},
};

use serde_json::Value;

use crate::harness::{Cluster, uid};

use super::{
    build::{PREFIX, Place},
    graph::{Bent, Graph, KINDS, Kind, Line},
};

/// The part of an object that deletes change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    pub terminating: bool,
    pub finalizers: Vec<String>,
    pub owners: Vec<Written>,
}

/// An owner reference, field by field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    pub api_version: String,
    pub kind: String,
    pub name: String,
    pub uid: String,
    pub controller: Option<bool>,
    pub block: Option<bool>,
}

impl Display for State {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let owner = |owner: &Written| {
            let block = match owner.block {
                Some(true) => "!",
                Some(false) => "~",
                None => "",
            };
            format!("{} {}/{}{block}", owner.api_version, owner.kind, owner.name)
        };
        let owners: Vec<String> = self.owners.iter().map(owner).collect();
        let terminating = if self.terminating { "T " } else { "" };
        write!(f, "[{terminating}{} <- {}]", self.finalizers.join(","), owners.join(", "))
    }
}

/// An object on the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub kind: &'static Kind,
    pub uid: String,
    pub elsewhere: bool,
    pub grace: Option<i64>,
    pub scheduled: bool,
    pub state: State,
}

/// Objects by their names, which are unique.
pub type Objects = BTreeMap<String, Found>;

/// Everything of all graphs.
#[track_caller]
pub fn read(cluster: &Cluster) -> Objects {
    let mut objects = Objects::new();
    for kind in KINDS {
        let base = if kind.api_version.contains('/') { "/apis" } else { "/api" };
        for item in cluster.list(&format!("{base}/{}/{}", kind.api_version, kind.plural)) {
            let name = text(&item["metadata"]["name"]);
            if name.starts_with(PREFIX) {
                objects.insert(name, found(kind, &item));
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
        elsewhere: text(&metadata["namespace"]).ends_with("elsewhere"),
        grace: metadata["deletionGracePeriodSeconds"].as_i64().filter(|grace| *grace > 0),
        scheduled: item["spec"]["nodeName"].is_string(),
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

/// The objects of one place as a graph in the text form.
pub fn graph(place: &Place, objects: &Objects) -> Graph {
    let own: Vec<(&str, &Found)> = objects.iter().filter_map(|(name, found)| Some((place.name_in_graph(name)?, found))).collect();
    let by_uid: BTreeMap<&str, (&str, &str)> =
        own.iter().map(|(name, found)| (found.uid.as_str(), (found.kind.name, *name))).collect();
    let lines = own.iter().map(|(name, found)| Line {
        kind: found.kind,
        name: (*name).to_owned(),
        elsewhere: found.elsewhere,
        terminating: found.state.terminating,
        grace: found.grace,
        finalizers: found.state.finalizers.clone(),
        scheduled: found.scheduled,
        references: found.state.owners.iter().map(|written| bent(place, written, &by_uid)).collect(),
    });
    Graph { lines: lines.collect() }
}

/// A reference, told by what it names with its uid and what of it is wrong.
fn bent(place: &Place, written: &Written, by_uid: &BTreeMap<&str, (&str, &str)>) -> Bent {
    let written_name = place.name_in_graph(&written.name).unwrap_or(&written.name);
    let uid = place.name_in_graph(&written.uid).unwrap_or(&written.uid);
    let meant = by_uid.get(written.uid.as_str()).copied();
    let absent = uid.strip_prefix("absent-").and_then(|absent| absent.split_once('-'));
    let (kind, name) = meant.or(absent).unwrap_or((&written.kind, written_name));
    let api_version = KINDS.iter().find(|known| known.name == kind).map_or("v1", |known| known.api_version);
    let mut bends = Vec::new();
    let mut bend = |field: &str, right: &str, is: &str| {
        if right != is {
            bends.push((field.to_owned(), is.to_owned()));
        }
    };
    bend("version", api_version, &written.api_version);
    bend("kind", kind, &written.kind);
    bend("name", name, written_name);
    if meant.or(absent).is_none() {
        bend("uid", "", uid);
    }
    Bent { kind: kind.to_owned(), name: name.to_owned(), bends, block: written.block }
}
