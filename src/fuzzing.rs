//! What the fuzzers in the folder `fuzz` call, a function for each. A function panics if something doesn't hold that
//! holds for all input. `cargo test` replays the corpus.

use std::{collections::BTreeSet, fs, path::Path};

use serde_json::{Value, json};

use crate::operations::targets;
use gc_cluster::{archive::Archive, cluster, dump};
use gc_core::{
    graph::OwnerGraph,
    jsonpath::{CustomColumns, JsonPath},
    model::ObjectId,
    plan::{OutcomeKind, Plan, explore, plan},
    server::Propagation,
    simulate::{Assume, Request, SimContext, Start},
};

/// Dumps and snapshot files, also compressed.
pub fn dump(bytes: &[u8]) {
    dump::fuzzing::dump(bytes);
}

/// Archives, as they are and with the right last line.
pub fn archive(bytes: &[u8]) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("archive.yaml");
    for text in [bytes.to_vec(), gc_cluster::archive::sealed(bytes)] {
        fs::write(&path, text).expect("a file");
        let Ok(archive) = Archive::open(&path) else { continue };
        let objects = archive.objects().expect("an archive that was verified");
        assert!(objects.count() <= archive.header().objects);
    }
}

/// Answers of the API server: protobuf and JSON.
pub fn answer(bytes: &[u8]) {
    cluster::fuzzing::answer(bytes);
}

/// A kubeconfig file, and the choice in it.
pub fn kubeconfig(bytes: &[u8]) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("config");
    fs::write(&path, bytes).expect("a file");
    cluster::fuzzing::kubeconfig(&path);
}

/// TARGETs, selectors and manifests.
pub fn targets(bytes: &[u8]) {
    targets::fuzzing::parse(&String::from_utf8_lossy(bytes));
}

/// A template in the first line, applied to the JSON after it.
pub fn jsonpath(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (template, document) = text.split_once('\n').unwrap_or((&text, "{}"));
    let document: Value = serde_json::from_str(document).unwrap_or_else(|_| json!({"items": [{"a": 1}, {"a": "b"}]}));
    if let Ok(path) = JsonPath::parse(template) {
        for allow_missing in [false, true] {
            let text = path.text(&document, allow_missing);
            assert_eq!(text.is_ok(), path.text(&document, allow_missing).is_ok());
            drop(path.json(&document, allow_missing));
        }
    }
    if let Ok(columns) = CustomColumns::parse(template) {
        drop(columns.row(&document));
    }
}

/// The kinds of the objects of a random graph; the last one's objects are cluster-scoped.
const KINDS: [(&str, &str); 5] = [
    ("v1", "ConfigMap"),
    ("v1", "Pod"),
    ("v1", "Secret"),
    ("apps/v1", "ReplicaSet"),
    ("rbac.authorization.k8s.io/v1", "ClusterRole"),
];
/// The most objects of a graph.
const MOST: usize = 12;

/// A graph that the bytes describe, as a dump: four bytes for each object.
fn graph(bytes: &[u8]) -> Vec<Value> {
    let named = |place: usize, kind: usize| (KINDS[kind % KINDS.len()], format!("o{place}"));
    let kind_of = |place: usize| bytes.get(4 * place).map_or(0, |byte| usize::from(*byte) % KINDS.len());
    let object = |(place, bytes): (usize, &[u8])| {
        let [kind, flags, first, second] = bytes else { unreachable!("chunks of four") };
        let ((api_version, kind), name) = named(place, usize::from(*kind));
        let mut metadata = json!({"name": name, "uid": format!("u{place}")});
        if kind != "ClusterRole" {
            metadata["namespace"] = if flags & 1 == 0 { "shop" } else { "other" }.into();
        }
        let finalizers = ["acme.io/x", "orphan", "foregroundDeletion"];
        let finalizers: Vec<&str> =
            (0..3).filter(|bit| flags & (2 << bit) != 0).map(|bit: usize| finalizers[bit]).collect();
        // The API server keeps no terminating object without a finalizer (R1.11).
        if flags & 16 != 0 && !finalizers.is_empty() {
            metadata["deletionTimestamp"] = "2026-01-31T08:00:00Z".into();
        }
        metadata["finalizers"] = json!(finalizers);
        let count = usize::from(flags >> 5) % 3;
        let references = [first, second].into_iter().take(count).map(|byte| {
            let place = usize::from(byte & 15);
            let bend = byte >> 4;
            let ((api_version, kind), name) = named(place, kind_of(place) + usize::from(bend == 1));
            let uid = if bend == 2 { "another".to_owned() } else { format!("u{place}") };
            let name = if bend == 3 { "another".to_owned() } else { name };
            let blocks = bend & 1 == 0;
            json!({"apiVersion": api_version, "kind": kind, "name": name, "uid": uid, "blockOwnerDeletion": blocks})
        });
        metadata["ownerReferences"] = references.collect();
        json!({"apiVersion": api_version, "kind": kind, "metadata": metadata})
    };
    bytes.chunks_exact(4).take(MOST).enumerate().map(object).collect()
}

/// The engine on a random graph: it ends, says the same twice, and keeps its promises.
pub fn engine(bytes: &[u8]) {
    let Some(([policy, assume, target], rest)) = bytes.split_first_chunk::<3>() else { return };
    let objects = graph(rest);
    let list = json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string();
    let Ok(snapshot) = dump::read_bytes(list.as_bytes(), true) else { return };
    if snapshot.is_empty() {
        return;
    }
    let policies = [Propagation::Background, Propagation::Foreground, Propagation::Orphan];
    let assume = if assume % 2 == 0 { Assume::Known } else { Assume::None };
    let target = ObjectId(u32::from(*target) % u32::try_from(snapshot.len()).expect("a small graph"));
    let graph = OwnerGraph::new(&snapshot);
    let stage = SimContext::new(&snapshot, &graph, assume);
    let delete = Request::delete(vec![target], policies[usize::from(*policy) % 3]);
    for request in [delete, Request::only_collect(Start::Sweep), Request::only_collect(Start::AtRest)] {
        let first = plan(&stage, &request);
        assert_eq!(format!("{first:?}"), format!("{:?}", plan(&stage, &request)), "{list}");
        reasons(&first, &list);
        reasons(&explore(&stage, &request), &list);
    }
}

/// What stays waits for something that stays, and no controller removes a finalizer that nobody knows.
fn reasons(plan: &Plan, list: &str) {
    let gone: BTreeSet<ObjectId> = plan
        .outcomes
        .iter()
        .filter(|outcome| outcome.kind == OutcomeKind::Deleted)
        .map(|outcome| outcome.object)
        .collect();
    for outcome in &plan.outcomes {
        assert!(outcome.waits_for.iter().all(|other| !gone.contains(other)), "{:?} in {list}", outcome.object);
        if outcome.kind == OutcomeKind::Terminating {
            assert!(!outcome.waits_for.is_empty() || !outcome.held_by.is_empty(), "{:?} in {list}", outcome.object);
        }
        assert_eq!(outcome.kind == OutcomeKind::Deleted, outcome.after.is_none(), "{:?} in {list}", outcome.object);
    }
}

/// A fuzzer: the name of its target, and its function.
pub type Fuzzer = (&'static str, fn(&[u8]));

/// All fuzzers.
pub const FUZZERS: [Fuzzer; 7] = [
    ("answer", answer),
    ("archive", archive),
    ("dump", dump),
    ("engine", engine),
    ("jsonpath", jsonpath),
    ("kubeconfig", kubeconfig),
    ("targets", targets),
];

/// The inputs that are kept for a fuzzer, in `fuzz/corpus`: in one file, each after a line with its length in bytes.
pub fn corpus(name: &str) -> Vec<Vec<u8>> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(name);
    let bytes = fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let mut rest = bytes.as_slice();
    let mut inputs = Vec::new();
    while !rest.is_empty() {
        let end = rest.iter().position(|byte| *byte == b'\n').expect("a line with a length");
        let length: usize =
            std::str::from_utf8(&rest[..end]).ok().and_then(|text| text.parse().ok()).expect("a length");
        let (input, after) = rest[end + 1..].split_at(length);
        inputs.push(input.to_vec());
        rest = &after[1..];
    }
    inputs
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many inputs there are at least.
    const INPUTS: usize = 2_000;

    /// robustness fuzzing: {FUZZERS} fuzzers: what they found to reach new code, again | more than {INPUTS} inputs
    ///   | no panic, and every promise of `src/fuzzing.rs` kept
    #[test]
    #[ignore = "long: all of it"]
    fn the_corpus_is_replayed() {
        assert!(replayed(1) > INPUTS);
    }

    #[test]
    fn every_twelfth_of_the_corpus_is_replayed() {
        assert!(replayed(12) > INPUTS / 12);
    }

    /// Replays every so many inputs, and returns how many these were.
    fn replayed(every: usize) -> usize {
        let inputs = FUZZERS
            .into_iter()
            .flat_map(|(name, fuzzer)| corpus(name).into_iter().step_by(every).map(move |input| fuzzer(&input)));
        inputs.count()
    }
}
