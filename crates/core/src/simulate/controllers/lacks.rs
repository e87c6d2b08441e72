//! What a controller lacks to remove its finalizer, as far as it is known: one list for plans, the doctor and stories.

use std::mem;

use crate::{
    model::{ObjectId, Snapshot},
    wording::some_of,
};

/// At most this many objects are named in one sentence.
const NAMED: usize = 2;

/// The namespace and name of a ServiceAccount.
pub(crate) type Account = (String, String);

/// What a controller lacks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lack {
    /// The ServiceAccount as which this workload acts doesn't exist.
    Account { workload: ObjectId, account: Account },
    /// The right to do that with what it is to change: verbs, with commas, and a resource in full.
    Right { account: Account, verbs: String, resource: String },
    /// The right to do that, as the API server says.
    Refused { account: Account, verb: String, resource: String },
    /// It needs, or may need, what doesn't exist.
    Object(Needed),
    /// This workload leaves out where the object is, or what has its labels.
    Scope(ObjectId),
    /// This workload, which may be it, has no pods that are ready, in words; `idle`: it is scaled to 0.
    Pods { workload: ObjectId, why: String, idle: bool },
    /// Its workloads are being deleted, too.
    Workloads(Vec<ObjectId>),
}

impl Lack {
    /// What a controller lacks, each sort once: a clause about it.
    pub(crate) fn in_words(all: &[Lack], snapshot: &Snapshot) -> Option<String> {
        let sort = |lack: &Lack| mem::discriminant(lack);
        let is_new = |(place, lack): &(usize, &Lack)| !all[..*place].iter().any(|other| sort(other) == sort(lack));
        let words = all.iter().enumerate().filter(is_new).filter_map(|(_, lack)| lack.words(all, snapshot));
        let words = words.collect::<Vec<_>>().join(", and ");
        (!words.is_empty()).then_some(words)
    }

    /// The name of what is surely needed, and doesn't exist in this namespace.
    pub(super) fn missing_in(&self, namespace: &str) -> Option<&str> {
        match self {
            Lack::Object(needed) if needed.need == Need::Surely && needed.place.1 == namespace => Some(&needed.name),
            _ => None,
        }
    }

    fn words(&self, all: &[Lack], snapshot: &Snapshot) -> Option<String> {
        Some(match self {
            Lack::Account { account: (place, name), .. } => {
                format!("acts as ServiceAccount/{name} -n {place}, which does not exist")
            }
            Lack::Right { account: (place, name), resource, .. } => {
                format!("has no right to change it: no role lets {place}/{name}, its ServiceAccount, patch {resource}")
            }
            Lack::Refused { verb, resource, .. } => format!("has no right to {verb} {resource}"),
            Lack::Object(_) => {
                let object = |lack: &'_ Lack| if let Lack::Object(needed) = lack { Some(needed.clone()) } else { None };
                let objects: Vec<Needed> = all.iter().filter_map(object).collect();
                return Needed::in_words(&objects, ["does not exist", "do not exist"]);
            }
            Lack::Scope(_) => "leaves it out: its arguments or its environment say so".to_owned(),
            Lack::Pods { workload, why, .. } => format!("may be {}, which {why}", snapshot.located(*workload, None)),
            Lack::Workloads(all) => {
                let names: Vec<String> = all.iter().map(|id| snapshot.located(*id, None)).collect();
                let is = if names.len() == 1 { "is" } else { "are" };
                format!("is being deleted, too: once {} {is} gone, nobody removes the finalizer", names.join(" and "))
            }
        })
    }
}

/// An object that a controller needs, or may need.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Needed {
    pub(super) name: String,
    /// `None`: it doesn't exist.
    pub(crate) id: Option<ObjectId>,
    pub(super) need: Need,
    /// What its kind is called in commands, and its namespace.
    pub(crate) place: (String, String),
}

/// How much a controller needs an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Need {
    /// It acts as this ServiceAccount, and does nothing without it.
    ActsAs,
    Surely,
    Perhaps,
}

impl Needed {
    /// One that doesn't exist, of a kind that has this word in commands, in a namespace, with a name; another object
    /// names it.
    pub(super) fn missing(
        snapshot: &Snapshot,
        by: ObjectId,
        (kind, word): (&str, String),
        (namespace, name): (&str, &str),
        need: Need,
    ) -> Needed {
        let is_near = namespace.is_empty() || namespace == snapshot.namespace(by);
        let elsewhere = if is_near { String::new() } else { format!(" -n {namespace}") };
        Needed { name: format!("{kind}/{name}{elsewhere}"), id: None, need, place: (word, namespace.to_owned()) }
    }

    pub(super) fn is_same(&self, other: &Needed) -> bool {
        (&self.name, &self.place) == (&other.name, &other.place)
    }

    /// Of these, what is said first, as a verb and its objects; `what` they do.
    pub(super) fn in_words(all: &[Needed], what: [&str; 2]) -> Option<String> {
        let need = all.iter().map(|needed| needed.need).min()?;
        let names: Vec<&str> = all.iter().filter(|it| it.need == need).map(|needed| needed.name()).collect();
        let verb = match need {
            Need::ActsAs => "acts as",
            Need::Surely => "needs",
            Need::Perhaps => "may need",
        };
        let what = what[usize::from(names.len() > 1)];
        Some(format!("{verb} {}, which {what}", some_of(&names, NAMED)))
    }

    /// Its kind and name, and its namespace if the object that names it is in another.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}
