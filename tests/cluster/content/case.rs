//! Random content of namespaces and CRDs, always the same for a seed. It prints in the text form of the engine's tests
//! (`tests/engine/scene.rs`), so that a wrong prediction can be pasted there as a row.

use std::fmt::{self, Display, Formatter};

use gc_core::server::Propagation::{self, Background, Foreground, Orphan};
use proptest::{prelude::RngExt as _, test_runner::TestRng};

use crate::{
    differential::build::GROUP,
    graphs::{
        generate::{one_of, rng},
        kinds::Kind,
        text::{Bent, Graph, Line},
    },
};

/// Namespaced kinds, custom kinds, and kinds that are neither. `Shop` and `Region` are served in two versions.
pub const KINDS: [&str; 6] = ["ConfigMap", "Secret", "Pod", "Shop", "ClusterRole", "Region"];

const DEFINITION: &str = "CustomResourceDefinition";
/// Namespaces and CRDs, by name.
pub const ABOVE: [(&str, &str); 4] =
    [("ns", "Namespace"), ("other", "Namespace"), ("Shop", DEFINITION), ("Region", DEFINITION)];

/// A graph, and the delete to test.
#[derive(Clone, Debug)]
pub struct Case {
    pub seed: u64,
    pub graph: Graph,
    /// Indices of its lines.
    pub targets: Vec<usize>,
    pub propagation: Propagation,
}

impl Case {
    /// Whether the graph has its own CRDs; otherwise it uses the shared kinds.
    pub fn has_definitions(&self) -> bool {
        self.graph.lines.iter().any(|line| line.kind.name == DEFINITION)
    }
}

/// The case for a seed.
pub fn case(seed: u64) -> Case {
    let mut rng = rng(seed);
    let of_definition = rng.random_bool(0.4);
    // A CRD that stays Terminating occupies one of the API server's five workers for good.
    let may_stick = !of_definition || seed.is_multiple_of(10);
    let taste = Taste {
        held: if may_stick { one_of(&mut rng, &[1, 3, 6]) } else { 0 },
        marked: one_of(&mut rng, &[0, 1, 3]),
        dying: if may_stick { one_of(&mut rng, &[0, 0, 1, 2]) } else { 0 },
        bent: one_of(&mut rng, &[0, 0, 1, 2]),
        roots: one_of(&mut rng, &[2, 4]),
        above: one_of(&mut rng, &[1, 3]),
    };
    let above = if of_definition { &ABOVE[..] } else { &ABOVE[..2] };
    let mut nodes: Vec<Line> = Vec::new();
    for (name, kind) in above {
        let (mut node, is_namespace) = (Line::new(Kind::named(kind), name), *kind == "Namespace");
        let is_held = is_namespace && may_stick && rng.random_bool(0.08);
        node.spec_finalizer = is_held.then(|| "acme.io/x".to_owned());
        node.terminating = rng.random_bool(if !may_stick {
            0.0
        } else if is_namespace {
            0.1
        } else {
            0.2
        });
        finalizers(&mut rng, &taste, 0.5, &mut node);
        nodes.push(node);
    }
    let first = nodes.len();
    for number in 0..rng.random_range(3..=14) {
        let node = content(&mut rng, &taste, &nodes, first, number);
        nodes.push(node);
    }
    // A namespace or a CRD may have an owner, too.
    for index in 0..first {
        if rng.random_bool(0.15) {
            let node = rng.random_range(first..nodes.len());
            let block = one_of(&mut rng, &[Some(true), None]);
            let owner = refer(&nodes[node], None, block);
            nodes[index].references.push(owner);
        }
    }
    let targets = targets(&mut rng, &nodes, first);
    let propagation = one_of(&mut rng, &[Background, Foreground, Orphan]);
    Case { seed, graph: Graph { lines: nodes, ..Graph::default() }, targets, propagation }
}

/// How common some things are in one graph, in tenths. If all graphs were alike, the first hundred would find all that
/// they can find.
struct Taste {
    /// Objects with a finalizer of another controller, and with one of the collector.
    held: u32,
    marked: u32,
    dying: u32,
    bent: u32,
    roots: u32,
    /// References to namespaces and CRDs.
    above: u32,
}

/// An owner reference, and one of `version`, `name` and `uid` with the wrong value written there.
fn refer(owner: &Line, bend: Option<(&str, &str)>, block: Option<bool>) -> Bent {
    let group = owner.kind.api_version.rsplit_once('/').map_or(String::new(), |(group, _)| format!("{group}/"));
    let bend = bend.map(|(field, value)| match field {
        "version" => (field.to_owned(), format!("{group}{value}")),
        _ => (field.to_owned(), value.to_owned()),
    });
    let (kind, name) = (owner.kind.name.to_owned(), owner.name.clone());
    Bent { kind, name, bends: bend.into_iter().collect(), controller: false, block }
}

fn tenths(rng: &mut TestRng, tenths: u32, share: f64) -> bool {
    rng.random_bool(f64::from(tenths) / 10.0 * share)
}

fn finalizers(rng: &mut TestRng, taste: &Taste, share: f64, node: &mut Line) {
    if tenths(rng, taste.held, share) {
        node.finalizers.push("acme.io/x".to_owned());
    }
    if tenths(rng, taste.marked, share) {
        node.finalizers.push(one_of(rng, &["orphan", "foregroundDeletion"]).to_owned());
    }
    if rng.random_bool(0.5) {
        node.finalizers.reverse();
    }
}

fn content(rng: &mut TestRng, taste: &Taste, before: &[Line], first: usize, number: usize) -> Line {
    // Most namespaces have no pods, because a pod delays the deletion of everything else.
    let kind = Kind::named(KINDS[one_of(rng, &[0, 0, 0, 1, 1, 1, 2, 3, 3, 3, 3, 4, 5, 5])]);
    let mut node = Line::new(kind, &format!("o{number}"));
    node.elsewhere = (kind.namespaced && rng.random_bool(0.2)).then(|| "other".to_owned());
    // The node doesn't exist.
    node.node = (kind.name == "Pod" && taste.held > 0 && rng.random_bool(0.3)).then(|| "n1".to_owned());
    node.terminating = tenths(rng, taste.dying, 1.0);
    finalizers(rng, taste, 1.0, &mut node);
    if tenths(rng, taste.roots, 1.0) {
        return node;
    }
    let mut owners: Vec<usize> = Vec::new();
    for _ in 0..one_of(rng, &[1, 1, 2, 2, 3]) {
        let owner = if before.len() == first || tenths(rng, taste.above, 1.0) {
            rng.random_range(0..first)
        } else {
            rng.random_range(first..before.len())
        };
        // Only one reference per uid: the collector looks up several one after the other, which another test covers.
        if owners.contains(&owner) {
            continue;
        }
        owners.push(owner);
        let is_custom = before[owner].kind.api_version.starts_with(GROUP);
        let bends: &[_] = match (is_custom, taste.held > 0) {
            (true, true) => &[("name", "other"), ("uid", "other"), ("version", "v1alpha1"), ("version", "v9")],
            (true, false) => &[("name", "other"), ("uid", "other"), ("version", "v1alpha1")],
            (false, true) => &[("name", "other"), ("uid", "other"), ("version", "v9")],
            (false, false) => &[("name", "other"), ("uid", "other")],
        };
        let bend = tenths(rng, taste.bent, 1.0).then(|| one_of(rng, bends));
        let block = one_of(rng, &[Some(true), Some(true), Some(false), None]);
        node.references.push(refer(&before[owner], bend, block));
    }
    node
}

fn targets(rng: &mut TestRng, nodes: &[Line], first: usize) -> Vec<usize> {
    let any = |rng: &mut TestRng| rng.random_range(first..nodes.len());
    let (namespace, definition) = (rng.random_range(0..2), rng.random_range(2..4));
    let mut targets = match (first > 2, rng.random_range(0..10)) {
        (true, 0..=5) => vec![definition],
        (true, 6) => vec![2, 3],
        (true, 7) => vec![definition, any(rng)],
        (true, 8) => vec![namespace],
        (true, _) => vec![definition, namespace],
        (false, 0..=5) => vec![namespace],
        (false, 6) => vec![0, 1],
        (false, 7 | 8) => vec![namespace, any(rng)],
        (false, _) => vec![any(rng)],
    };
    if rng.random_bool(0.5) {
        targets.reverse();
    }
    targets.dedup();
    targets
}

impl Display for Case {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let targets: Vec<String> = self.targets.iter().map(|target| self.graph.lines[*target].short_name()).collect();
        let Case { seed, propagation, graph, .. } = self;
        write!(f, "seed {seed}, {propagation:?} of {}, built as\n{graph}", targets.join(" "))
    }
}
