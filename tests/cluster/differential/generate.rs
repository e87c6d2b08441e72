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
    /// Nothing that makes an end depend on the order of events by rule. Left out are
    ///
    /// * orphaning, by policy or finalizer: who shares a dependent with another dying owner may be freed or deleted (M7, M14, M15);
    /// * two references of one uid: they are looked up one after the other (R4.11);
    /// * in foreground deletions a second owner, cycles, and anybody who is being foreground-deleted before: owners of such an object
    ///   may be taken for members of a cycle, and are then unblocked, or not, before they are deleted (R5.11, R4.12);
    /// * in foreground deletions references that don't block: whoever isn't waited for may see its owner waiting, or be too late (M7);
    /// * several owners of what stays for a while after its deletion: it may have lost one of them before, or not;
    /// * references that can't be mapped: what is retried with a back-off takes long rather than another turn (R8.9).
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

/// The first round is after the start of a collector; later ones are under one that remembers.
pub const ROUNDS: usize = 3;

fn cases(mix: Mix) -> impl Strategy<Value = Case> {
    let policies = match mix {
        Mix::Full => vec![Background, Foreground, Orphan],
        Mix::OrderFree => vec![Background, Foreground],
    };
    (3..=12usize, prop::collection::vec(select(policies), ROUNDS), tastes())
        .prop_flat_map(move |(size, policies, taste)| {
            let tree = mix == Mix::OrderFree && policies.contains(&Foreground);
            let rounds: Vec<_> = policies.into_iter().map(|policy| deletes(mix, size, policy)).collect();
            (prop::collection::vec(drafts(mix, tree, taste), size), rounds)
        })
        .prop_map(move |(drafts, rounds)| Case { graph: graph(&drafts, mix), rounds })
}

fn deletes(mix: Mix, size: usize, propagation: Propagation) -> impl Strategy<Value = Delete> {
    let most_targets = match mix {
        Mix::Full => vec![1, 1, 1, 2, 2, 3],
        Mix::OrderFree => vec![1],
    };
    // Those that come first own more.
    let (order, any_order) = (Just((0..size).collect::<Vec<_>>()), Just((0..size).collect::<Vec<_>>()).prop_shuffle());
    (prop_oneof![2 => order, 1 => any_order], select(most_targets)).prop_map(move |(wanted, most_targets)| Delete {
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

/// How common things are in one graph: graphs that are all alike would find what they find in the first hundred.
#[derive(Clone, Copy, Debug)]
struct Taste {
    /// Of ten references: how many are bent, and how many may close a cycle.
    bent: u32,
    cyclic: u32,
    absent: u32,
    /// Of ten objects: how many have no owner, finalizers, are terminating, or elsewhere.
    roots: u32,
    held: u32,
    dying: u32,
    elsewhere: u32,
}

fn tastes() -> impl Strategy<Value = Taste> {
    (
        select(vec![0, 1, 2, 5]),
        select(vec![0, 2, 5]),
        select(vec![0, 1]),
        select(vec![1, 3]),
        select(vec![1, 3, 6]),
        select(vec![0, 1, 3]),
        select(vec![0, 1, 3]),
    )
        .prop_map(|(bent, cyclic, absent, roots, held, dying, elsewhere)| Taste {
            bent,
            cyclic,
            absent,
            roots,
            held,
            dying,
            elsewhere,
        })
}

fn drafts(mix: Mix, tree: bool, taste: Taste) -> impl Strategy<Value = Draft> {
    let tenths = |tenths: u32| prop::bool::weighted(f64::from(tenths) / 10.0);
    let (finalizers, bends) = match mix {
        Mix::Full => (FINALIZERS, BENDS),
        Mix::OrderFree => (FOREIGN_FINALIZERS, GENTLE_BENDS),
    };
    let owner = prop_oneof![
        10 - taste.cyclic => any::<prop::sample::Index>().prop_map(Owner::Earlier),
        if tree { 0 } else { taste.cyclic } => any::<prop::sample::Index>().prop_map(Owner::Any),
        taste.absent => Just(Owner::Absent),
    ];
    let bend = prop_oneof![10 - taste.bent => Just(""), taste.bent => select(bends)];
    let block = select(if tree { vec![Some(true)] } else { vec![Some(true), Some(true), Some(false), None] });
    let most_owners = if tree { 1 } else { 3 };
    let owners = prop_oneof![
        taste.roots => Just(Vec::new()),
        10 - taste.roots => prop::collection::vec((owner, bend, block), 1..=most_owners),
    ];
    (
        0..KINDS.len(),
        tenths(taste.elsewhere),
        tenths(taste.dying),
        prop_oneof![10 - taste.held => Just(&[][..]), taste.held => select(finalizers)],
        any::<bool>(),
        owners,
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

const FOREIGN_FINALIZERS: &[&[&str]] = &[&["acme.io/x"], &["acme.io/x", "acme.io/y"]];

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

fn graph(drafts: &[Draft], mix: Mix) -> Graph {
    let mut lines: Vec<Line> = drafts.iter().enumerate().map(|(number, draft)| line(drafts, number, draft)).collect();
    if mix == Mix::OrderFree {
        for line in &mut lines {
            keep_one_of_each_uid(&mut line.references);
            if line.scheduled || !line.finalizers.is_empty() {
                line.references.truncate(1);
            }
        }
    }
    Graph { lines }
}

fn keep_one_of_each_uid(references: &mut Vec<Bent>) {
    let mut seen: Vec<String> = Vec::new();
    references.retain(|reference| {
        let uid = reference.bend("uid").map_or_else(|| reference.name.clone(), str::to_owned);
        let is_new = !seen.contains(&uid);
        seen.push(uid);
        is_new
    });
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
