//! Graphs written as text, one object a line: for tables of rules, for records, and for failing random graphs.
//!
//! ```text
//! Deployment web
//! ReplicaSet web-1 <- Deployment/web!
//! Pod a fin=acme.io/drain node=n1 <- ReplicaSet/web-1! ConfigMap/gone
//! ```
//!
//! `ns:name` puts an object into another namespace than the graph's; cluster-scoped kinds have none. `T` makes it
//! terminating, `T=30` with that grace period; `by=Foreground` says with which DELETE to build this state on a cluster
//! (`by=none`: one without a policy). `node=?` is a pod whose facts are unknown, `claim=x` a PVC that a pod uses,
//! `spec=x` an additional entry of a Namespace's spec.finalizers (`spec=-`: none at all; for a CRD: never established).
//! References: `!` blocks, `~` says `blockOwnerDeletion: false`, `+!` is a controller that blocks; `@name=x`,
//! `@kind=x`, `@version=x`, `@uid=x` replace the correct value. An owner that no line declares is absent. `unread KIND`
//! says that listing the kind failed; `unconverted KIND`, that it failed because of a conversion webhook.

use std::fmt::{self, Display, Formatter};

use gc_core::server::Propagation;

use super::kinds::Kind;

/// The objects of one graph. They have no references to or from other graphs.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Graph {
    pub lines: Vec<Line>,
    /// Kinds that could not be listed.
    pub unread: Vec<String>,
    /// Kinds that could not be listed because their conversion webhook failed.
    pub unconverted: Vec<String>,
}

/// An object before anything is deleted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Line {
    pub kind: &'static Kind,
    pub name: String,
    /// The namespace, if it is not the graph's.
    pub elsewhere: Option<String>,
    pub uid: Option<String>,
    /// Already being deleted.
    pub terminating: bool,
    /// The DELETE with which to build this state on a cluster; `None`: one that doesn't change the finalizers.
    pub by: Option<By>,
    /// `deletionGracePeriodSeconds`.
    pub grace: Option<i64>,
    pub finalizers: Vec<String>,
    /// The node of a pod.
    pub node: Option<String>,
    /// PVCs that a pod uses.
    pub claims: Vec<String>,
    /// An additional entry of a Namespace's `spec.finalizers`.
    pub spec_finalizer: Option<String>,
    pub references: Vec<Bent>,
}

/// The propagation policy of the DELETE that builds a terminating object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum By {
    /// No policy: finalizers or the kind decide (§1.3).
    Nothing,
    Policy(Propagation),
}

impl By {
    pub const ALL: [By; 4] = [
        By::Nothing,
        By::Policy(Propagation::Background),
        By::Policy(Propagation::Foreground),
        By::Policy(Propagation::Orphan),
    ];

    pub fn policy(self) -> Option<Propagation> {
        match self {
            By::Nothing => None,
            By::Policy(policy) => Some(policy),
        }
    }

    fn name(self) -> &'static str {
        self.policy().map_or("none", Propagation::name)
    }
}

/// A reference to `kind/name`. Some of its fields may have wrong values.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bent {
    pub kind: String,
    pub name: String,
    /// A field (`version`, `kind`, `name` or `uid`), and the wrong value written there.
    pub bends: Vec<(String, String)>,
    pub controller: bool,
    pub block: Option<bool>,
}

impl Bent {
    /// The wrong value of a field; `None` if the field is correct.
    pub fn bend(&self, field: &str) -> Option<&str> {
        self.bends.iter().find(|(bent, _)| bent == field).map(|(_, value)| value.as_str())
    }
}

impl Line {
    /// A line with nothing but a kind and a name.
    pub fn new(kind: &'static Kind, name: &str) -> Self {
        Line {
            kind,
            name: name.to_owned(),
            elsewhere: None,
            uid: None,
            terminating: false,
            by: None,
            grace: None,
            finalizers: Vec::new(),
            node: None,
            claims: Vec::new(),
            spec_finalizer: None,
            references: Vec::new(),
        }
    }

    /// `Kind/name`.
    pub fn short_name(&self) -> String {
        format!("{}/{}", self.kind.name, self.name)
    }

    /// The uid; by default, it is made from kind and name.
    pub fn uid(&self) -> String {
        self.uid.clone().unwrap_or_else(|| format!("{}-{}", self.kind.name, self.name))
    }

    /// Reads one line.
    #[track_caller]
    pub fn parse(text: &str) -> Self {
        let mut words = text.split_whitespace();
        let kind = Kind::named(words.next().unwrap_or_default());
        let name = words.next().unwrap_or_else(|| panic!("no name in {text}"));
        let (elsewhere, name) =
            name.split_once(':').map_or((None, name), |(namespace, name)| (Some(namespace.to_owned()), name));
        let mut line = Line { elsewhere, ..Line::new(kind, name) };
        while let Some(word) = words.next() {
            match word.split_once('=') {
                None if word == "T" => line.terminating = true,
                None if word == "<-" => line.references = words.by_ref().map(Bent::parse).collect(),
                Some(("T", grace)) => {
                    line.terminating = true;
                    line.grace = Some(grace.parse().unwrap_or_else(|_| panic!("no grace period in {text}")));
                }
                Some(("by", by)) => line.by = Some(named_by(by, text)),
                Some(("fin", list)) => line.finalizers = list.split(',').map(str::to_owned).collect(),
                Some(("node", node)) => line.node = Some(node.to_owned()),
                Some(("claim", claim)) => line.claims.push(claim.to_owned()),
                Some(("spec", finalizer)) => line.spec_finalizer = Some(finalizer.to_owned()),
                Some(("uid", uid)) => line.uid = Some(uid.to_owned()),
                _ => panic!("what is {word} in {text}?"),
            }
        }
        line
    }
}

#[track_caller]
fn named_by(name: &str, text: &str) -> By {
    By::ALL.into_iter().find(|by| by.name() == name).unwrap_or_else(|| panic!("what is by={name} in {text}?"))
}

impl Graph {
    /// Reads the text form.
    #[track_caller]
    pub fn parse(text: &str) -> Self {
        let mut graph = Graph::default();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            match line.split_once(' ') {
                Some(("unread", kind)) => graph.unread.push(Kind::named(kind.trim()).name.to_owned()),
                Some(("unconverted", kind)) => graph.unconverted.push(Kind::named(kind.trim()).name.to_owned()),
                _ => graph.lines.push(Line::parse(line)),
            }
        }
        graph
    }

    /// The line of `Kind/name`.
    pub fn line(&self, short_name: &str) -> Option<&Line> {
        self.lines.iter().find(|line| line.short_name() == short_name)
    }
}

impl Bent {
    #[track_caller]
    fn parse(text: &str) -> Self {
        let block = text.ends_with('!').then_some(true).or(text.ends_with('~').then_some(false));
        let plain = text.trim_end_matches(['!', '~']);
        let (plain, controller) = plain.strip_suffix('+').map_or((plain, false), |plain| (plain, true));
        let mut parts = plain.split('@');
        let named = parts.next().and_then(|part| part.split_once('/'));
        let (kind, name) = named.unwrap_or_else(|| panic!("{text} is not Kind/name"));
        let bends = parts.map(|part| match part.split_once('=') {
            Some((field @ ("version" | "kind" | "name" | "uid"), value)) => (field.to_owned(), value.to_owned()),
            _ => panic!("what is @{part} in {text}?"),
        });
        Bent { kind: kind.to_owned(), name: name.to_owned(), bends: bends.collect(), controller, block }
    }
}

impl Display for Graph {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.unread.iter().try_for_each(|kind| writeln!(f, "unread {kind}"))?;
        self.unconverted.iter().try_for_each(|kind| writeln!(f, "unconverted {kind}"))?;
        self.lines.iter().try_for_each(|line| writeln!(f, "{line}"))
    }
}

impl Display for Line {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.kind.name)?;
        if let Some(namespace) = &self.elsewhere {
            write!(f, "{namespace}:")?;
        }
        f.write_str(&self.name)?;
        if let Some(uid) = &self.uid {
            write!(f, " uid={uid}")?;
        }
        match (self.terminating, self.grace) {
            (true, Some(grace)) => write!(f, " T={grace}")?,
            (true, None) => f.write_str(" T")?,
            _ => {}
        }
        if let Some(by) = self.by {
            write!(f, " by={}", by.name())?;
        }
        if !self.finalizers.is_empty() {
            write!(f, " fin={}", self.finalizers.join(","))?;
        }
        if let Some(finalizer) = &self.spec_finalizer {
            write!(f, " spec={finalizer}")?;
        }
        if let Some(node) = &self.node {
            write!(f, " node={node}")?;
        }
        self.claims.iter().try_for_each(|claim| write!(f, " claim={claim}"))?;
        if !self.references.is_empty() {
            f.write_str(" <-")?;
        }
        self.references.iter().try_for_each(|reference| write!(f, " {reference}"))
    }
}

impl Display for Bent {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.kind, self.name)?;
        self.bends.iter().try_for_each(|(field, value)| write!(f, "@{field}={value}"))?;
        if self.controller {
            f.write_str("+")?;
        }
        f.write_str(match self.block {
            Some(true) => "!",
            Some(false) => "~",
            None => "",
        })
    }
}
