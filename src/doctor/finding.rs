//! What is wrong, what it leads to, and what mends it.

use std::{
    collections::BTreeSet,
    hash::{DefaultHasher, Hash as _, Hasher as _},
};

use crate::{
    command_line::ShellCommand,
    model::{ObjectId, Reference, effects::Severity},
    simulate::Needs,
};

use super::{case::RecreatedDependent, code::Code};

/// One cause of trouble, with everything that suffers from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub code: Code,
    pub severity: Severity,
    /// Tells this cause from others of the same code, and stays the same from look to look.
    pub cause: String,
    /// All that suffer from it; none where that is the cluster as a whole.
    pub objects: Vec<ObjectId>,
    /// The references at fault, of the first of the objects.
    pub references: Vec<Reference>,
    /// The other parties: the owner, who waits, the rest of a cycle.
    pub related: Vec<ObjectId>,
    /// What is so, said of the objects: "is owned by …", which does not exist.
    pub message: String,
    /// What it leads to.
    pub consequence: String,
    /// What mends it; the first does the least harm.
    pub remedies: Vec<Remedy>,
}

/// Several causes in a few words that tell them from others, the same from look to look.
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

/// A way to mend something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remedy {
    /// What it does, and what harm, in a few words: "let it go, as the collector would". What stands before it ("Do:",
    /// "Or:") and behind it is not part of it.
    pub what: String,
    /// To paste: plain kubectl, one command each, on one line. Each stands by itself: when one fails, the others are
    /// run all the same. What must not be done unless something else has succeeded is joined to it with `&&`.
    pub commands: Vec<ShellCommand>,
}

impl Remedy {
    /// A remedy of those of these commands that a system can run.
    pub fn new(what: impl Into<String>, commands: impl IntoIterator<Item = ShellCommand>) -> Self {
        Remedy { what: what.into(), commands: commands.into_iter().filter(ShellCommand::fits).collect() }
    }
}

/// What would have to be read to know more.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadsNeeded {
    pub needs: Needs,
    /// Objects of whose finalizers it is to be read who set them.
    pub setters: BTreeSet<ObjectId>,
}

/// What was found, the worst first.
#[derive(Clone, Debug, Default)]
pub struct Diagnosis {
    pub findings: Vec<Finding>,
    pub wanted: ReadsNeeded,
    /// What the next look may not see any more ([`Case::made`](super::Case::made)).
    pub made: Vec<RecreatedDependent>,
}

impl Diagnosis {
    /// How many findings there are of a severity.
    pub fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|finding| finding.severity == severity).count()
    }
}
