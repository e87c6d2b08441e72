//! Graphs of objects in the text form of the engine's own tests (`tests/engine/scene.rs`), so that one that is foretold wrong can be
//! pasted there as a row.

use std::fmt::{self, Display, Formatter};

/// A kind that graphs are made of.
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

/// Built-in and custom kinds of both scopes; `Shop` is served in two versions.
pub const KINDS: &[Kind] = &[
    kind("ConfigMap", "v1", "configmaps", true),
    kind("Secret", "v1", "secrets", true),
    kind("Pod", "v1", "pods", true),
    kind("Shop", "acme.io/v1", "shops", true),
    kind("ClusterRole", "rbac.authorization.k8s.io/v1", "clusterroles", false),
    kind("Region", "acme.io/v1", "regions", false),
];

impl Kind {
    /// The kind of this name.
    #[track_caller]
    pub fn named(name: &str) -> &'static Kind {
        KINDS.iter().find(|kind| kind.name == name).unwrap_or_else(|| panic!("no kind {name}"))
    }
}

/// An object as it is before anything is deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub kind: &'static Kind,
    pub name: String,
    /// In the second namespace of its graph.
    pub elsewhere: bool,
    /// Already being deleted, by the policy that its finalizers ask for.
    pub terminating: bool,
    /// `deletionGracePeriodSeconds`, where it has been observed.
    pub grace: Option<i64>,
    pub finalizers: Vec<String>,
    /// A pod on a node, which doesn't exist.
    pub scheduled: bool,
    pub references: Vec<Bent>,
}

/// A reference: that to `kind/name`, with some of its fields bent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bent {
    pub kind: String,
    pub name: String,
    /// `version`, `kind`, `name` or `uid`, and what is written there instead.
    pub bends: Vec<(String, String)>,
    pub block: Option<bool>,
}

impl Bent {
    /// What is written in a field instead of what would be right.
    pub fn bend(&self, field: &str) -> Option<&str> {
        self.bends.iter().find(|(bent, _)| bent == field).map(|(_, value)| value.as_str())
    }
}

/// Objects of one graph, which have nothing to do with any other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    pub lines: Vec<Line>,
}

impl Graph {
    /// Reads the text form.
    #[track_caller]
    pub fn parse(text: &str) -> Self {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        Graph { lines: lines.map(parse_line).collect() }
    }
}

fn parse_line(text: &str) -> Line {
    let (object, references) = text.split_once("<-").unwrap_or((text, ""));
    let mut words = object.split_whitespace();
    let kind = Kind::named(words.next().unwrap_or_default());
    let name = words.next().unwrap_or_else(|| panic!("no name in {text}"));
    let (elsewhere, name) = name.split_once(':').map_or((false, name), |(_, name)| (true, name));
    let mut line = Line {
        kind,
        name: name.to_owned(),
        elsewhere,
        terminating: false,
        grace: None,
        finalizers: Vec::new(),
        scheduled: false,
        references: references.split_whitespace().map(parse_reference).collect(),
    };
    for word in words {
        match word.split_once('=') {
            None if word == "T" => line.terminating = true,
            Some(("T", grace)) => {
                line.terminating = true;
                line.grace = grace.parse().ok();
            }
            Some(("fin", list)) => line.finalizers = list.split(',').map(str::to_owned).collect(),
            Some(("node", _)) => line.scheduled = true,
            _ => panic!("what is {word} in {text}?"),
        }
    }
    line
}

fn parse_reference(text: &str) -> Bent {
    let plain = text.trim_end_matches(['!', '~']);
    let mut parts = plain.split('@');
    let (kind, name) = parts.next().and_then(|part| part.split_once('/')).unwrap_or_else(|| panic!("{text} is not Kind/name"));
    let bends = parts.map(|part| part.split_once('=').unwrap_or_else(|| panic!("what is @{part} in {text}?")));
    Bent {
        kind: kind.to_owned(),
        name: name.to_owned(),
        bends: bends.map(|(field, value)| (field.to_owned(), value.to_owned())).collect(),
        block: text.ends_with('!').then_some(true).or(text.ends_with('~').then_some(false)),
    }
}

impl Display for Graph {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.lines.iter().try_for_each(|line| writeln!(f, "{line}"))
    }
}

impl Display for Line {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}{}", self.kind.name, if self.elsewhere { "other:" } else { "" }, self.name)?;
        match (self.terminating, self.grace) {
            (true, Some(grace)) => write!(f, " T={grace}")?,
            (true, None) => f.write_str(" T")?,
            _ => {}
        }
        if !self.finalizers.is_empty() {
            write!(f, " fin={}", self.finalizers.join(","))?;
        }
        if self.scheduled {
            f.write_str(" node=n1")?;
        }
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
        f.write_str(match self.block {
            Some(true) => "!",
            Some(false) => "~",
            None => "",
        })
    }
}

#[test]
fn graphs_are_read_as_they_are_written() {
    let text =
        "Pod o0 T=30 fin=acme.io/x,orphan node=n1 <- Shop/o1@version=acme.io/v9@uid=x! Region/o9~ Secret/o2\nShop other:o1 T\n";
    assert_eq!(Graph::parse(text).to_string(), text);
}
