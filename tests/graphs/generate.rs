//! Random graphs and deletes. The same seed always gives the same case.

use gc_core::server::Propagation::{self, Background, Foreground, Orphan};
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

/// Built-in and custom kinds of both scopes, some with a special default policy or patch type; `Shop` is served in two
/// versions.
pub const KINDS: &[&str] =
    &["ConfigMap", "Secret", "Pod", "Deployment", "ReplicaSet", "Job", "Shop", "ClusterRole", "Region"];

/// The second namespace of a graph.
pub const ELSEWHERE: &str = "other";

/// A graph, and the rounds of deletes in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    pub graph: Graph,
    pub rounds: Vec<Delete>,
}

/// A delete of one or more objects, one right after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delete {
    /// Possible targets (`Kind/name`) in order of preference: the first ones that still exist are deleted.
    pub wanted: Vec<String>,
    pub most_targets: usize,
    pub propagation: Propagation,
}

/// What random graphs may contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mix {
    /// Everything.
    Full,
    /// Everything except invalid references: all fields are correct, and owners are in the namespace of their
    /// dependents or cluster-scoped.
    Legal,
    /// Nothing that makes an end depend on the order of events by rule. It leaves out
    ///
    /// * orphaning, by policy or finalizer: a dependent shared with another dying owner may be orphaned or deleted (M7,
    ///   M14, M15);
    /// * two references with the same uid: the collector looks them up one after the other (R4.11);
    /// * in foreground deletions: second owners, cycles, and objects that are already being foreground-deleted. The
    ///   collector may take owners of such an object for members of a cycle, and unblock them, or not, before deleting
    ///   them (R5.11, R4.12);
    /// * in foreground deletions: references that don't block. A dependent that doesn't block may see its owner
    ///   waiting, or be too late (M7);
    /// * several owners of an object that stays Terminating for a while: it may already have lost one of them, or not;
    /// * references that can't be mapped: the collector retries them with a back-off, which delays them instead of
    ///   reordering them (R8.9).
    OrderFree,
}

impl Mix {
    pub const ALL: [Mix; 3] = [Mix::Full, Mix::Legal, Mix::OrderFree];

    /// The name that selects this mix in a test run.
    pub fn name(self) -> &'static str {
        match self {
            Mix::Full => "full",
            Mix::Legal => "legal",
            Mix::OrderFree => "order-free",
        }
    }
}

/// Random numbers that are the same for a seed, on each machine.
pub fn rng(seed: u64) -> TestRng {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    TestRng::from_seed(RngAlgorithm::ChaCha, &bytes)
}

/// One of these.
pub fn one_of<T: Copy>(rng: &mut TestRng, from: &[T]) -> T {
    from[rng.random_range(0..from.len())]
}

/// The case for a seed.
pub fn case(seed: u64, mix: Mix) -> Case {
    let mut runner = TestRunner::new_with_rng(Config::default(), rng(seed));
    cases(mix).new_tree(&mut runner).expect("nothing is rejected").current()
}

/// The first round follows the start of a collector; in later ones, the collector remembers earlier events.
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

/// The indexes of the targets, the maximum number of targets, and the policy.
fn deletes(mix: Mix, size: usize, propagation: Propagation) -> impl Strategy<Value = (Vec<usize>, usize, Propagation)> {
    let most_targets = match mix {
        Mix::Full | Mix::Legal => vec![1, 1, 1, 2, 2, 3],
        Mix::OrderFree => vec![1],
    };
    // Earlier objects own more.
    let (order, any_order) = (Just((0..size).collect::<Vec<_>>()), Just((0..size).collect::<Vec<_>>()).prop_shuffle());
    (prop_oneof![2 => order, 1 => any_order], select(most_targets))
        .prop_map(move |(wanted, most_targets)| (wanted, most_targets, propagation))
}

/// An object whose owners are still indexes.
#[derive(Clone, Debug)]
struct Draft {
    kind: &'static Kind,
    elsewhere: bool,
    /// `Some` if already being deleted. The inner value says by which DELETE; `None` leaves the finalizers unchanged.
    dying: Option<Option<By>>,
    finalizers: Vec<&'static str>,
    scheduled: bool,
    owners: Vec<ResolvedReference>,
    /// Which reference is the controller's (R1.32: at most one).
    controller: Option<prop::sample::Index>,
}

/// A reference whose owner is still an index.
#[derive(Clone, Debug)]
struct ResolvedReference {
    owner: Owner,
    /// Whether the owner of the previous reference is repeated: two references with the same uid.
    again: bool,
    bend: &'static str,
    block: Option<bool>,
}

/// Which object of the graph the reference names as owner.
#[derive(Clone, Copy, Debug)]
enum Owner {
    /// An earlier object; none if this is the first.
    Earlier(prop::sample::Index),
    /// Any object, itself included.
    Any(prop::sample::Index),
    Absent,
}

/// How common each feature is in one graph. Varied graphs find more than thousands of similar ones.
#[derive(Clone, Copy, Debug)]
struct Taste {
    /// Out of ten references: how many have wrong values, may close a cycle, name an absent owner, or repeat an owner.
    bent: u32,
    cyclic: u32,
    absent: u32,
    again: u32,
    /// Out of ten objects: how many have no owner, have finalizers, have a controller, are terminating, or are in
    /// another namespace.
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
    // An object deleted with Orphan before is still orphaned after a collector's start.
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

/// All wrong values of §3.6. `KIND` is the owner's kind in that case, `N` is an object's number.
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

/// Wrong values that only make the reference dangle, or are as good as correct.
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

/// Owners must be in the namespace of their dependents, or cluster-scoped. Absent owners are legal, too.
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
    // The owner is random already, so the other object that a wrong value names can be its neighbour.
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
