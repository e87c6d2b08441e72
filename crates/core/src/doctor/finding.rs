//! A finding: the problem, its consequences, and the remedies.

use std::{
    collections::{BTreeMap, BTreeSet},
    hash::{DefaultHasher, Hash as _, Hasher as _},
};

use serde::{Serialize, Serializer};

use crate::{
    command_line::ShellCommand,
    document::rfc3339,
    model::{ObjectId, Reference, Symbol, effects::Severity},
    simulate::Needs,
};

use super::code::Code;

/// One cause of trouble, with all objects that it affects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub code: Code,
    pub severity: Severity,
    /// Distinguishes this cause from others of the same code; the same in every look.
    pub cause: String,
    /// The affected objects; empty if the whole cluster is affected.
    pub objects: Vec<ObjectId>,
    /// The uids of the missing owners, by dependent: each may be dealt with by itself.
    pub(super) missing: BTreeMap<ObjectId, Symbol>,
    /// The references at fault, of the first affected object.
    pub references: Vec<Reference>,
    /// The webhooks that it is about: their configurations, and their places there.
    pub(super) webhooks: Vec<(ObjectId, usize)>,
    /// Terminating objects for which the controllers of the affected ones wait, or may wait, if nothing else is known.
    pub(super) below: Vec<ObjectId>,
    /// Whether another finding has this one as its cause.
    pub(super) is_cause: bool,
    /// Other objects involved: the owner, what waits, the rest of a cycle.
    pub related: Vec<ObjectId>,
    /// Those of them that it has only as its cause: whoever asks about these doesn't ask about it.
    pub(super) culprits: Vec<ObjectId>,
    /// When the delete of the first of the affected objects was requested, in seconds since 1970; `None` if none is
    /// Terminating.
    pub since: Option<i64>,
    /// The problem, said of the affected objects: "is owned by …", which does not exist.
    pub message: String,
    /// The consequence.
    pub consequence: String,
    /// Which data is lost with it, and what is taken down: sentences.
    pub irreversible: Vec<String>,
    /// The remedies, in the order of their steps; what comes first for another's sake stands before that one.
    pub remedies: Vec<Remedy>,
}

/// A dependent that was created while its owner waited for its dependents to be deleted (S12). By the next look,
/// another one may have replaced it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecreatedDependent {
    /// The owner's uid.
    pub owner: Symbol,
    /// The dependent's uid.
    pub uid: Symbol,
    /// `Kind/name`.
    pub name: String,
    /// The creation time in Unix seconds.
    pub created: i64,
}

impl Finding {
    /// The beginning of a finding of this code with this cause, as severe as can be, about nothing yet.
    pub(super) fn of(code: Code, cause: impl Into<String>) -> Self {
        Finding {
            code,
            severity: code.severity(),
            cause: cause.into(),
            objects: Vec::new(),
            missing: BTreeMap::new(),
            references: Vec::new(),
            webhooks: Vec::new(),
            below: Vec::new(),
            is_cause: false,
            related: Vec::new(),
            culprits: Vec::new(),
            since: None,
            message: String::new(),
            consequence: String::new(),
            irreversible: Vec::new(),
            remedies: Vec::new(),
        }
    }

    /// What distinguishes its cause for one of its objects from that for others; empty if nothing does.
    pub fn part_of(&self, id: ObjectId) -> Symbol {
        self.missing.get(&id).copied().unwrap_or(Symbol::EMPTY)
    }

    /// All that follows.
    pub fn follows(&self) -> String {
        let said = std::iter::once(&self.consequence).filter(|said| !said.is_empty()).chain(&self.irreversible);
        said.map(String::as_str).collect::<Vec<_>>().join(" ")
    }

    /// The same, with those remedies that let this object go on.
    pub(super) fn as_told_of(&self, object: ObjectId) -> Finding {
        let mut finding = self.clone();
        finding.remedies.retain(|remedy| remedy.frees.is_empty() || remedy.frees.contains(&object));
        finding
    }

    /// Puts the remedies that have commands into the order of their steps.
    pub(super) fn put_in_order(&mut self) {
        self.remedies.retain(|remedy| !remedy.commands.is_empty());
        self.remedies.sort_by_key(|remedy| remedy.step);
    }

    /// The affected objects, and the others involved, without its cause.
    pub(super) fn concerned(&self) -> impl Iterator<Item = ObjectId> + '_ {
        self.named().filter(|id| self.objects.contains(id) || !self.culprits.contains(id))
    }

    /// The affected objects, and the others involved.
    pub fn named(&self) -> impl Iterator<Item = ObjectId> + '_ {
        self.objects.iter().chain(&self.related).copied()
    }
}

/// A finding in a document, which repeats the first of what there may be several of.
#[derive(Serialize)]
struct FindingJson<'a> {
    code: Code,
    severity: Severity,
    #[serde(skip_serializing_if = "Option::is_none")]
    object: Option<&'a ObjectId>,
    objects: &'a [ObjectId],
    #[serde(skip_serializing_if = "Option::is_none")]
    reference: Option<&'a Reference>,
    #[serde(skip_serializing_if = "<[Reference]>::is_empty")]
    references: &'a [Reference],
    related: &'a [ObjectId],
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<String>,
    message: &'a str,
    consequence: String,
    /// The commands of the first remedy, one per line.
    remedy: String,
    remedies: &'a [Remedy],
}

impl Serialize for Finding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Finding { code, severity, objects, references, related, since, message, remedies, .. } = self;
        let commands = remedies.iter().take(1).flat_map(|first| &first.commands).map(ToString::to_string);
        FindingJson {
            code: *code,
            severity: *severity,
            object: objects.first(),
            objects,
            reference: references.first(),
            references,
            related,
            since: since.map(rfc3339),
            message,
            consequence: self.follows(),
            remedy: commands.collect::<Vec<_>>().join("\n"),
            remedies,
        }
        .serialize(serializer)
    }
}

/// Combines several causes into a short text that distinguishes them from others and is the same in every look.
pub(super) fn one_cause(causes: &BTreeSet<String>) -> String {
    let first = causes.first().map_or("", String::as_str);
    if causes.len() <= 1 {
        return first.to_owned();
    }
    // The hasher's keys are fixed.
    let mut hasher = DefaultHasher::new();
    causes.hash(&mut hasher);
    format!("{first} and {} more {:016x}", causes.len() - 1, hasher.finish())
}

/// What a remedy does to what is there. The remedies of a finding are told in this order: what heals comes before what
/// harms, and nothing after what can't be undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// Keeps data that the others lose; done as well.
    Keep,
    /// Mends nothing by itself: without it, those that follow are refused, or in vain. Where it stands is its meaning.
    First,
    /// Lets those who should do their work do it, or removes what prevents that.
    Heal,
    /// Changes nothing, and shows what to do.
    Look,
    /// Does without what doesn't work, or deletes what others need.
    GiveUp,
    /// Removes what says that somebody isn't done: nobody finishes that then.
    Force,
}

/// A way to resolve a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Remedy {
    /// What it does, and which harm, in a few words: "let it go, as the collector would". What joins it to the remedy
    /// before ("then", "or"), and the punctuation, are not part of it.
    pub what: String,
    /// Plain kubectl commands to paste, each on one line. They are independent: if one fails, the others still run. A
    /// command that must run only after another succeeded is joined to it with `&&`.
    pub commands: Vec<ShellCommand>,
    /// Whether it decides between keeping and losing something: a person has to choose it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub decides: bool,
    /// In a document, whether it comes first.
    #[serde(rename = "comesFirst", skip_serializing_if = "Step::stands_alone", serialize_with = "is_true")]
    pub step: Step,
    /// What holds data, and keeps it once the first commands have changed its policy.
    #[serde(skip)]
    pub(super) holders: Vec<ObjectId>,
    /// The only objects that it lets go on; empty: all of the finding.
    #[serde(skip)]
    pub(super) frees: Vec<ObjectId>,
}

/// How it is said that a remedy comes before all others.
const FIRST: &str = "first ";

impl Step {
    /// Whether it does something without the remedies that follow it.
    fn stands_alone(&self) -> bool {
        *self > Step::First
    }

    /// A remedy with those of these commands that a shell can run. Force is always a decision.
    pub fn by(self, what: impl Into<String>, commands: impl IntoIterator<Item = ShellCommand>) -> Remedy {
        Remedy {
            what: what.into(),
            commands: commands.into_iter().filter(ShellCommand::fits).collect(),
            decides: self == Step::Force,
            step: self,
            holders: Vec::new(),
            frees: Vec::new(),
        }
    }
}

fn is_true<S: Serializer>(_: &Step, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bool(true)
}

impl Remedy {
    /// Whether it is done as well, before one of those that follow.
    pub fn comes_first(&self) -> bool {
        !self.step.stands_alone()
    }

    /// The same, as a decision between keeping and losing something if this is true.
    pub(super) fn deciding(self, decides: bool) -> Self {
        Remedy { decides, ..self }
    }

    /// The same, as what the other remedies of a finding need first.
    pub fn before_others(self) -> Self {
        let what = self.what.strip_prefix(FIRST).unwrap_or(&self.what);
        Remedy { what: format!("{FIRST}{what}"), step: self.step.min(Step::First), ..self }
    }

    /// Lets another come before it.
    pub fn follow(&mut self) {
        self.what = self.what.strip_prefix(FIRST).unwrap_or(&self.what).to_owned();
    }
}

/// The findings, the worst first.
#[derive(Clone, Debug, Default)]
pub struct Diagnosis {
    pub findings: Vec<Finding>,
    pub wanted: Needs,
    /// Recreated dependents to pass to the next look, which may not see them ([`Case::made`](super::Case::made)).
    pub made: Vec<RecreatedDependent>,
}

impl Diagnosis {
    /// The number of findings of a severity.
    pub fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|finding| finding.severity == severity).count()
    }
}
