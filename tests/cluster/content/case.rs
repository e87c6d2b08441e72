//! Random content of namespaces and CRDs, always the same for a seed. It prints in the text form of the engine's tests
//! (`tests/engine/scene.rs`), so that a wrong prediction can be pasted there as a row.

use std::fmt::{self, Display, Formatter};

use kubectl_gc::server::Propagation::{self, Background, Foreground, Orphan};
use proptest::{
    prelude::RngExt as _,
    test_runner::{RngAlgorithm, TestRng},
};

/// A kind in graphs. Custom kinds have no group here: each graph has its own.
#[derive(Debug, PartialEq, Eq)]
pub struct Kind {
    pub name: &'static str,
    pub api_version: &'static str,
    pub plural: &'static str,
    pub namespaced: bool,
}

const fn kind(name: &'static str, api_version: &'static str, plural: &'static str, namespaced: bool) -> Kind {
    Kind { name, api_version, plural, namespaced }
}

const NAMESPACE: Kind = kind("Namespace", "v1", "namespaces", false);
const DEFINITION: Kind =
    kind("CustomResourceDefinition", "apiextensions.k8s.io/v1", "customresourcedefinitions", false);
const POD: Kind = kind("Pod", "v1", "pods", true);

/// Namespaced kinds, custom kinds, and kinds that are neither. `Shop` is served in two versions.
pub static KINDS: [Kind; 6] = [
    kind("ConfigMap", "v1", "configmaps", true),
    kind("Secret", "v1", "secrets", true),
    POD,
    kind("Shop", "", "shops", true),
    kind("ClusterRole", "rbac.authorization.k8s.io/v1", "clusterroles", false),
    kind("Region", "", "regions", false),
];

/// Namespaces and CRDs, by name.
pub static ABOVE: [(&str, Kind); 4] =
    [("ns", NAMESPACE), ("other", NAMESPACE), ("Shop", DEFINITION), ("Region", DEFINITION)];

/// An object before the delete.
#[derive(Clone, Debug)]
pub struct Node {
    pub kind: &'static Kind,
    pub name: String,
    /// Whether it is in the second namespace of its graph.
    pub elsewhere: bool,
    pub finalizers: Vec<&'static str>,
    /// Whether a Namespace has one more entry in `spec.finalizers`.
    pub spec_finalizer: bool,
    /// Whether a pod is scheduled to a node, which doesn't exist.
    pub scheduled: bool,
    /// Whether it is already being deleted, with the policy that its finalizers imply.
    pub terminating: bool,
    pub owners: Vec<Owner>,
}

impl Node {
    /// Whether this is an instance of one of the graph's own kinds.
    pub fn is_custom(&self) -> bool {
        self.kind.api_version.is_empty()
    }

    /// Whether this is the CRD of one of the graph's own kinds.
    pub fn is_definition(&self) -> bool {
        self.kind.name == DEFINITION.name
    }
}

/// An owner reference.
#[derive(Clone, Debug)]
pub struct Owner {
    pub node: usize,
    /// One of `version`, `name` and `uid`, and the wrong value written there.
    pub bend: Option<(&'static str, &'static str)>,
    pub block: Option<bool>,
}

/// A graph, and the delete to test.
#[derive(Clone, Debug)]
pub struct Case {
    pub seed: u64,
    pub nodes: Vec<Node>,
    pub targets: Vec<usize>,
    pub propagation: Propagation,
}

impl Case {
    /// Whether the graph has its own CRDs; otherwise it uses the shared kinds.
    pub fn has_definitions(&self) -> bool {
        self.nodes.iter().any(Node::is_definition)
    }

    /// A node's kind and name: `Shop/o3`.
    pub fn called(&self, node: usize) -> String {
        format!("{}/{}", self.nodes[node].kind.name, self.nodes[node].name)
    }
}

/// The case for a seed.
pub fn case(seed: u64) -> Case {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let mut rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
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
    let mut nodes: Vec<Node> = Vec::new();
    for (name, kind) in above {
        let (mut node, is_namespace) = (empty(kind, (*name).to_owned()), kind.name == NAMESPACE.name);
        node.spec_finalizer = is_namespace && may_stick && rng.random_bool(0.08);
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
            nodes[index].owners.push(Owner { node, bend: None, block });
        }
    }
    let targets = targets(&mut rng, &nodes, first);
    let propagation = one_of(&mut rng, &[Background, Foreground, Orphan]);
    Case { seed, nodes, targets, propagation }
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

fn empty(kind: &'static Kind, name: String) -> Node {
    Node {
        kind,
        name,
        elsewhere: false,
        finalizers: Vec::new(),
        spec_finalizer: false,
        scheduled: false,
        terminating: false,
        owners: Vec::new(),
    }
}

fn one_of<T: Copy>(rng: &mut TestRng, from: &[T]) -> T {
    from[rng.random_range(0..from.len())]
}

fn tenths(rng: &mut TestRng, tenths: u32, share: f64) -> bool {
    rng.random_bool(f64::from(tenths) / 10.0 * share)
}

fn finalizers(rng: &mut TestRng, taste: &Taste, share: f64, node: &mut Node) {
    if tenths(rng, taste.held, share) {
        node.finalizers.push("acme.io/x");
    }
    if tenths(rng, taste.marked, share) {
        node.finalizers.push(one_of(rng, &["orphan", "foregroundDeletion"]));
    }
    if rng.random_bool(0.5) {
        node.finalizers.reverse();
    }
}

fn content(rng: &mut TestRng, taste: &Taste, before: &[Node], first: usize, number: usize) -> Node {
    // Most namespaces have no pods, because a pod delays the deletion of everything else.
    let kind = &KINDS[one_of(rng, &[0, 0, 0, 1, 1, 1, 2, 3, 3, 3, 3, 4, 5, 5])];
    let mut node = empty(kind, format!("o{number}"));
    node.elsewhere = kind.namespaced && rng.random_bool(0.2);
    node.scheduled = kind.name == POD.name && taste.held > 0 && rng.random_bool(0.3);
    node.terminating = tenths(rng, taste.dying, 1.0);
    finalizers(rng, taste, 1.0, &mut node);
    if tenths(rng, taste.roots, 1.0) {
        return node;
    }
    for _ in 0..one_of(rng, &[1, 1, 2, 2, 3]) {
        let owner = if before.len() == first || tenths(rng, taste.above, 1.0) {
            rng.random_range(0..first)
        } else {
            rng.random_range(first..before.len())
        };
        // Only one reference per uid: the collector looks up several one after the other, which another test covers.
        if node.owners.iter().any(|known| known.node == owner) {
            continue;
        }
        let bends: &[_] = match (before[owner].is_custom(), taste.held > 0) {
            (true, true) => &[("name", "other"), ("uid", "other"), ("version", "v1alpha1"), ("version", "v9")],
            (true, false) => &[("name", "other"), ("uid", "other"), ("version", "v1alpha1")],
            (false, true) => &[("name", "other"), ("uid", "other"), ("version", "v9")],
            (false, false) => &[("name", "other"), ("uid", "other")],
        };
        let bend = tenths(rng, taste.bent, 1.0).then(|| one_of(rng, bends));
        node.owners.push(Owner { node: owner, bend, block: one_of(rng, &[Some(true), Some(true), Some(false), None]) });
    }
    node
}

fn targets(rng: &mut TestRng, nodes: &[Node], first: usize) -> Vec<usize> {
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
        let targets: Vec<String> = self.targets.iter().map(|target| self.called(*target)).collect();
        writeln!(f, "seed {}, {:?} of {}, built as", self.seed, self.propagation, targets.join(" "))?;
        for node in &self.nodes {
            let Node { kind, name, elsewhere, finalizers, spec_finalizer, scheduled, terminating, owners } = node;
            write!(f, "{} {}{name}", kind.name, if *elsewhere { "other:" } else { "" })?;
            f.write_str(if *terminating { " T" } else { "" })?;
            f.write_str(if *spec_finalizer { " spec=acme.io/x" } else { "" })?;
            if !finalizers.is_empty() {
                write!(f, " fin={}", finalizers.join(","))?;
            }
            f.write_str(if *scheduled { " node=n1" } else { "" })?;
            f.write_str(if owners.is_empty() { "" } else { " <-" })?;
            for owner in owners {
                write!(f, " {}", self.called(owner.node))?;
                if let Some((field, value)) = owner.bend {
                    write!(f, "@{field}={value}")?;
                }
                f.write_str(match owner.block {
                    Some(true) => "!",
                    Some(false) => "~",
                    None => "",
                })?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
