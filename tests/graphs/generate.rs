//! Random graphs and deletes, the same for the same seed.

use kubectl_gc::server::Propagation::{self, Background, Foreground, Orphan};
use proptest::{
    prelude::*,
    sample::select,
    strategy::ValueTree as _,
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};

use super::{
    kinds::Kind,
    text::{Bent, By, Graph, Line},
};

/// Built-in and custom kinds of both scopes, some with a default policy or a patch of their own; `Shop` is served in
/// two versions.
pub const KINDS: &[&str] =
    &["ConfigMap", "Secret", "Pod", "Deployment", "ReplicaSet", "Job", "Shop", "ClusterRole", "Region"];

/// The second namespace of a graph.
pub const ELSEWHERE: &str = "other";

/// A graph, and what is to be deleted of it, in one round after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    pub graph: Graph,
    pub rounds: Vec<Delete>,
}

/// A delete of one object or several, one right after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delete {
    /// The targets (`Kind/name`) in the order of preference: the first of them that are still there are deleted.
    pub wanted: Vec<String>,
    pub most_targets: usize,
    pub propagation: Propagation,
}

/// What graphs are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mix {
    /// Everything.
    Full,
    /// Everything that may be with references as they ought to be: none is bent, and owners are in the namespace of
    /// their dependents or outside of all.
    Legal,
    /// Nothing that makes an end depend on the order of events by rule. Left out are
    ///
    /// * orphaning, by policy or finalizer: who shares a dependent with another dying owner may be freed or deleted
    ///   (M7, M14, M15);
    /// * two references of one uid: they are looked up one after the other (R4.11);
    /// * in foreground deletions a second owner, cycles, and anybody who is being foreground-deleted before: owners of
    ///   such an object may be taken for members of a cycle, and are then unblocked, or not, before they are deleted
    ///   (R5.11, R4.12);
    /// * in foreground deletions references that don't block: whoever isn't waited for may see its owner waiting, or be
    ///   too late (M7);
    /// * several owners of what stays for a while after its deletion: it may have lost one of them before, or not;
    /// * references that can't be mapped: what is retried with a back-off takes long rather than another turn (R8.9).
    OrderFree,
}

impl Mix {
    pub const ALL: [Mix; 3] = [Mix::Full, Mix::Legal, Mix::OrderFree];

    /// As it is written where a mix is chosen.
    pub fn name(self) -> &'static str {
        match self {
            Mix::Full => "full",
            Mix::Legal => "legal",
            Mix::OrderFree => "order-free",
        }
    }
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
        Mix::Full | Mix::Legal => vec![Background, Foreground, Orphan],
        Mix::OrderFree => vec![Background, Foreground],
    };
    (3..=12usize, prop::collection::vec(select(policies), ROUNDS), tastes())
        .prop_flat_map(move |(size, policies, taste)| {
            let tree = mix == Mix::OrderFree && policies.contains(&Foreground);
            let rounds: Vec<_> = policies.into_iter().map(|policy| deletes(mix, size, policy)).collect();
            (prop::collection::vec(drafts(mix, tree, taste), size), rounds)
        })
        .prop_map(move |(drafts, rounds)| {
            let graph = graph(&drafts, mix);
            let named =
                |numbers: Vec<usize>| numbers.into_iter().map(|number| graph.lines[number].short_name()).collect();
            let rounds = rounds.into_iter().map(|(wanted, most_targets, propagation)| Delete {
                wanted: named(wanted),
                most_targets,
                propagation,
            });
            Case { rounds: rounds.collect(), graph }
        })
}

/// The numbers of the targets, how many of them at most, and the policy.
fn deletes(mix: Mix, size: usize, propagation: Propagation) -> impl Strategy<Value = (Vec<usize>, usize, Propagation)> {
    let most_targets = match mix {
        Mix::Full | Mix::Legal => vec![1, 1, 1, 2, 2, 3],
        Mix::OrderFree => vec![1],
    };
    // Those that come first own more.
    let (order, any_order) = (Just((0..size).collect::<Vec<_>>()), Just((0..size).collect::<Vec<_>>()).prop_shuffle());
    (prop_oneof![2 => order, 1 => any_order], select(most_targets))
        .prop_map(move |(wanted, most_targets)| (wanted, most_targets, propagation))
}

/// An object whose owners are still numbers.
#[derive(Clone, Debug)]
struct Draft {
    kind: &'static Kind,
    elsewhere: bool,
    /// Already being deleted, and by which DELETE; none leaves the finalizers as they are.
    dying: Option<Option<By>>,
    finalizers: Vec<&'static str>,
    scheduled: bool,
    owners: Vec<ResolvedReference>,
    /// Which of the references is the controller's (R1.32: one at most).
    controller: Option<prop::sample::Index>,
}

/// A reference to an owner that is still a number.
#[derive(Clone, Debug)]
struct ResolvedReference {
    owner: Owner,
    /// The owner of the reference before it once more: two references of one uid.
    again: bool,
    bend: &'static str,
    block: Option<bool>,
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
    /// Of ten references: how many are bent, may close a cycle, lead to nobody, or name an owner once more.
    bent: u32,
    cyclic: u32,
    absent: u32,
    again: u32,
    /// Of ten objects: how many have no owner, finalizers, a controller, are terminating, or elsewhere.
    roots: u32,
    held: u32,
    controlled: u32,
    dying: u32,
    elsewhere: u32,
}

fn tastes() -> impl Strategy<Value = Taste> {
    let of_references = (select(vec![0, 1, 2, 5]), select(vec![0, 2, 5]), select(vec![0, 1]), select(vec![0, 0, 1]));
    let of_objects =
        (select(vec![1, 3]), select(vec![1, 3, 6]), select(vec![0, 5]), select(vec![0, 1, 3]), select(vec![0, 1, 3]));
    (of_references, of_objects).prop_map(
        |((bent, cyclic, absent, again), (roots, held, controlled, dying, elsewhere))| Taste {
            bent,
            cyclic,
            absent,
            again,
            roots,
            held,
            controlled,
            dying,
            elsewhere,
        },
    )
}

fn tenths(tenths: u32) -> impl Strategy<Value = bool> {
    prop::bool::weighted(f64::from(tenths) / 10.0)
}

fn drafts(mix: Mix, tree: bool, taste: Taste) -> impl Strategy<Value = Draft> {
    let finalizers = if mix == Mix::OrderFree { FOREIGN_FINALIZERS } else { FINALIZERS };
    // What has been deleted with orphaning before still orphans when a collector comes up.
    let by = match mix {
        Mix::OrderFree => vec![None, Some(By::Policy(Background))],
        _ => std::iter::once(None).chain(By::ALL.into_iter().map(Some)).collect(),
    };
    let most_owners = if tree { 1 } else { 3 };
    let owners = prop_oneof![
        taste.roots => Just(Vec::new()),
        10 - taste.roots => prop::collection::vec(links(mix, tree, taste), 1..=most_owners),
    ];
    let controller = prop_oneof![
        10 - taste.controlled => Just(None),
        taste.controlled => any::<prop::sample::Index>().prop_map(Some),
    ];
    (
        select(KINDS),
        tenths(taste.elsewhere),
        prop_oneof![10 - taste.dying => Just(None), taste.dying => select(by).prop_map(Some)],
        prop_oneof![10 - taste.held => Just(&[][..]), taste.held => select(finalizers)],
        any::<bool>(),
        owners,
        controller,
    )
        .prop_map(|(kind, elsewhere, dying, finalizers, scheduled, owners, controller)| Draft {
            kind: Kind::named(kind),
            elsewhere,
            dying,
            finalizers: finalizers.to_vec(),
            scheduled,
            owners,
            controller,
        })
}

fn links(mix: Mix, tree: bool, taste: Taste) -> impl Strategy<Value = ResolvedReference> {
    let owner = prop_oneof![
        10 - taste.cyclic => any::<prop::sample::Index>().prop_map(Owner::Earlier),
        if tree { 0 } else { taste.cyclic } => any::<prop::sample::Index>().prop_map(Owner::Any),
        taste.absent => Just(Owner::Absent),
    ];
    let (bent, bends) = match mix {
        Mix::Full => (taste.bent, BENDS),
        Mix::Legal => (0, BENDS),
        Mix::OrderFree => (taste.bent, GENTLE_BENDS),
    };
    let bend = prop_oneof![10 - bent => Just(""), bent => select(bends)];
    let block = select(if tree { vec![Some(true)] } else { vec![Some(true), Some(true), Some(false), None] });
    (owner, tenths(if mix == Mix::OrderFree { 0 } else { taste.again }), bend, block)
        .prop_map(|(owner, again, bend, block)| ResolvedReference { owner, again, bend, block })
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

/// Every way of §3.6. `KIND` stands for the owner's kind in the given letters, `N` for a number of an object.
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
    match mix {
        Mix::Full => {}
        Mix::Legal => keep_legal(&mut lines),
        Mix::OrderFree => {
            for line in &mut lines {
                keep_one_of_each_uid(&mut line.references);
                if line.node.is_some() || !line.finalizers.is_empty() {
                    line.references.truncate(1);
                }
            }
        }
    }
    Graph { lines, ..Graph::default() }
}

/// Owners are in the namespace of their dependents, or outside of all. Absent ones are no less legal.
fn keep_legal(lines: &mut [Line]) {
    let places: Vec<(String, bool, bool)> =
        lines.iter().map(|line| (line.name.clone(), line.kind.namespaced, line.elsewhere.is_some())).collect();
    for line in lines {
        let (namespaced, elsewhere) = (line.kind.namespaced, line.elsewhere.is_some());
        line.references.retain(|reference| match places.iter().find(|(name, ..)| *name == reference.name) {
            Some((_, owner_namespaced, owner_elsewhere)) => {
                !owner_namespaced || (namespaced && *owner_elsewhere == elsewhere)
            }
            None => namespaced,
        });
    }
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
    let mut references: Vec<Bent> = Vec::new();
    let mut last = None;
    for ResolvedReference { owner, again, bend, block } in &draft.owners {
        let owner = match owner {
            _ if *again && last.is_some() => last.flatten(),
            Owner::Earlier(index) if number > 0 => Some(index.index(number)),
            Owner::Any(index) => Some(index.index(drafts.len())),
            _ => None,
        };
        last = Some(owner);
        references.push(reference(drafts, number, owner, bend, *block));
    }
    if let (Some(index), false) = (draft.controller, references.is_empty()) {
        let chosen = index.index(references.len());
        references[chosen].controller = true;
    }
    Line {
        elsewhere: (draft.elsewhere && draft.kind.namespaced).then(|| ELSEWHERE.to_owned()),
        terminating: draft.dying.is_some(),
        by: draft.dying.flatten(),
        finalizers: draft.finalizers.iter().map(|finalizer| (*finalizer).to_owned()).collect(),
        node: (draft.scheduled && draft.kind.name == "Pod").then(|| "n1".to_owned()),
        references,
        ..Line::new(draft.kind, &format!("o{number}"))
    }
}

fn reference(drafts: &[Draft], number: usize, owner: Option<usize>, bend: &str, block: Option<bool>) -> Bent {
    let kind = owner.map_or("ConfigMap", |owner| drafts[owner].kind.name);
    // Which other object a bend names is as random as the owner, and needs no dice of its own.
    let other = (number + 1) % drafts.len();
    let bends = bend.split('@').filter_map(|bend| bend.split_once('=')).map(|(field, value)| {
        let value = match value {
            "lower" => kind.to_lowercase(),
            "upper" => kind.to_uppercase(),
            "UID" => format!("{}-o{other}", drafts[other].kind.name),
            _ => value.replace("KIND", kind).replace("oN", &format!("o{other}")),
        };
        (field.to_owned(), value)
    });
    let name = owner.map_or_else(|| "gone".to_owned(), |owner| format!("o{owner}"));
    Bent { kind: kind.to_owned(), name, bends: bends.collect(), controller: false, block }
}
