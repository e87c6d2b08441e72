//! Random graphs and deletes, the same for the same seed.

use kubectl_gc::server::Propagation::{self, Background, Foreground, Orphan};
use proptest::{
    prelude::*,
    sample::select,
    strategy::ValueTree as _,
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};

use super::graph::{Bent, Graph, KINDS, Line};

/// A graph, and what is to be deleted of it, in one round after the other.
#[derive(Clone, Debug)]
pub struct Case {
    pub graph: Graph,
    pub rounds: Vec<Delete>,
}

/// A delete of one object or several, one right after the other.
#[derive(Clone, Debug)]
pub struct Delete {
    /// The lines of the targets in the order of preference: the first of them that are still there are deleted.
    pub wanted: Vec<usize>,
    pub most_targets: usize,
    pub propagation: Propagation,
}

/// What graphs are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mix {
    /// Everything.
    Full,
    /// Nothing that makes an end depend on the order of events by rule.
    OrderFree,
}

/// The case of a seed.
pub fn case(seed: u64, mix: Mix) -> Case {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    cases(mix).new_tree(&mut runner).expect("nothing is rejected").current()
}

fn cases(mix: Mix) -> impl Strategy<Value = Case> {
    (3..=11usize)
        .prop_flat_map(move |size| (prop::collection::vec(drafts(mix), size), prop::collection::vec(deletes(mix, size), ROUNDS)))
        .prop_map(|(drafts, rounds)| Case { graph: graph(&drafts), rounds })
}

/// The first round is after the start of a collector; later ones are under one that remembers.
const ROUNDS: usize = 3;

fn deletes(mix: Mix, size: usize) -> impl Strategy<Value = Delete> {
    let (policies, most_targets) = match mix {
        Mix::Full => (vec![Background, Foreground, Orphan], vec![1, 1, 1, 2, 2, 3]),
        Mix::OrderFree => (vec![Background, Foreground], vec![1]),
    };
    // Those that come first own more.
    let (order, any_order) = (Just((0..size).collect::<Vec<_>>()), Just((0..size).collect::<Vec<_>>()).prop_shuffle());
    (prop_oneof![order, any_order], select(most_targets), select(policies)).prop_map(|(wanted, most_targets, propagation)| Delete {
        wanted,
        most_targets,
        propagation,
    })
}

/// An object whose owners are still numbers.
#[derive(Clone, Debug)]
struct Draft {
    kind: usize,
    elsewhere: bool,
    terminating: bool,
    finalizers: Vec<&'static str>,
    scheduled: bool,
    owners: Vec<(Owner, &'static str, Option<bool>)>,
}

/// Which object of the graph is named as the owner.
#[derive(Clone, Copy, Debug)]
enum Owner {
    /// One of those before it, or none where it is the first.
    Earlier(prop::sample::Index),
    /// Any, itself included.
    Any(prop::sample::Index),
    Absent,
}

fn drafts(mix: Mix) -> impl Strategy<Value = Draft> {
    let finalizers = match mix {
        Mix::Full => select(FINALIZERS),
        Mix::OrderFree => select(FOREIGN_FINALIZERS),
    };
    let owner = prop_oneof![
        6 => any::<prop::sample::Index>().prop_map(Owner::Earlier),
        3 => any::<prop::sample::Index>().prop_map(Owner::Any),
        1 => Just(Owner::Absent),
    ];
    let bends = match mix {
        Mix::Full => select(BENDS),
        Mix::OrderFree => select(GENTLE_BENDS),
    };
    let bend = prop_oneof![6 => Just(""), 3 => bends];
    let block = select(vec![Some(true), Some(true), Some(false), None]);
    (
        0..KINDS.len(),
        prop::bool::weighted(0.15),
        prop::bool::weighted(0.15),
        prop_oneof![3 => Just(&[][..]), 2 => finalizers],
        any::<bool>(),
        prop::collection::vec((owner, bend, block), 0..=3),
    )
        .prop_map(|(kind, elsewhere, terminating, finalizers, scheduled, owners)| Draft {
            kind,
            elsewhere,
            terminating,
            finalizers: finalizers.to_vec(),
            scheduled,
            owners,
        })
}

const FINALIZERS: &[&[&str]] = &[
    &["acme.io/x"],
    &["acme.io/x"],
    &["acme.io/x", "acme.io/y"],
    &["orphan"],
    &["orphan", "acme.io/x"],
    &["foregroundDeletion"],
    &["acme.io/x", "foregroundDeletion"],
    &["foregroundDeletion", "acme.io/x"],
];

const FOREIGN_FINALIZERS: &[&[&str]] = &[&["acme.io/x"], &["acme.io/x", "acme.io/y"], &["foregroundDeletion"]];

/// Every way of section 3.6. `KIND` stands for the owner's kind in the given letters, `N` for a number of an object.
const BENDS: &[&str] = &[
    "uid=other",
    "uid=other",
    "uid=UID",
    "name=other",
    "name=other",
    "name=oN",
    "kind=Secret",
    "kind=Region",
    "version=acme.io/v1@kind=Region",
    "version=v1@kind=ConfigMap",
    "kind=lower",
    "kind=upper",
    "kind=KINDList",
    "kind=List",
    "version=acme.io/v1alpha1",
    "version=acme.io/v1alpha1@kind=Shop",
    "version=acme.io/v9",
    "version=v9",
    "kind=Nope",
];

/// Those that only make a reference dangle, or that are as good as right.
const GENTLE_BENDS: &[&str] = &["uid=other", "name=other", "kind=lower"];

fn graph(drafts: &[Draft]) -> Graph {
    Graph { lines: drafts.iter().enumerate().map(|(number, draft)| line(drafts, number, draft)).collect() }
}

fn line(drafts: &[Draft], number: usize, draft: &Draft) -> Line {
    let kind = &KINDS[draft.kind];
    Line {
        kind,
        name: format!("o{number}"),
        elsewhere: draft.elsewhere && kind.namespaced,
        terminating: draft.terminating,
        grace: None,
        finalizers: draft.finalizers.iter().map(|finalizer| (*finalizer).to_owned()).collect(),
        scheduled: draft.scheduled && kind.name == "Pod",
        references: draft.owners.iter().map(|(owner, bend, block)| reference(drafts, number, *owner, bend, *block)).collect(),
    }
}

fn reference(drafts: &[Draft], number: usize, owner: Owner, bend: &str, block: Option<bool>) -> Bent {
    let owner = match owner {
        Owner::Earlier(index) if number > 0 => Some(index.index(number)),
        Owner::Any(index) => Some(index.index(drafts.len())),
        _ => None,
    };
    let kind = owner.map_or("ConfigMap", |owner| KINDS[drafts[owner].kind].name);
    // Which other object a bend names is as random as the owner, and needs no dice of its own.
    let other = (number + 1) % drafts.len();
    let bends = bend.split('@').filter_map(|bend| bend.split_once('=')).map(|(field, value)| {
        let value = match value {
            "lower" => kind.to_lowercase(),
            "upper" => kind.to_uppercase(),
            "UID" => format!("{}-o{other}", KINDS[drafts[other].kind].name),
            _ => value.replace("KIND", kind).replace("oN", &format!("o{other}")),
        };
        (field.to_owned(), value)
    });
    let name = owner.map_or_else(|| "gone".to_owned(), |owner| format!("o{owner}"));
    Bent { kind: kind.to_owned(), name, bends: bends.collect(), block }
}
