//! Errors of TARGETs. Each says what to type instead.

use std::fmt;

use super::{super::manifests::ManifestError, SelectorError};
use gc_core::{
    apply::Place,
    model::{UnknownType, type_names::did_you_mean},
    wording::all_of,
};

/// Why targets are invalid or were not found.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// No resource has this name.
    #[error(transparent)]
    UnknownType(#[from] UnknownType),
    /// A manifest's kind is not served.
    #[error("{place}: no kind {kind:?} is served in {api_version:?}{}", served_as(served))]
    UnknownKind { place: Place, api_version: String, kind: String, served: Vec<String> },
    /// Neither a TYPE, nor like one.
    #[error("the server has no resource type {text:?}; an object is TYPE/NAME, for instance deploy/web")]
    NoType {
        /// What was typed, alone.
        text: String,
    },
    /// `TYPE` alone.
    #[error("{types:?} is not enough: write TYPE/NAME, as in deploy/web, or a TYPE with a NAME, -l SELECTOR or --all")]
    NoName { types: String },
    /// `TYPE/NAME` next to `TYPE NAME`.
    #[error("{with_slash:?} and {without:?} cannot be mixed: write TYPE/NAME everywhere, or TYPE NAME NAME")]
    Mixed { with_slash: String, without: String },
    /// A type is empty.
    #[error("{target:?} lacks a type: write TYPE/NAME, TYPE NAME or TYPE,TYPE")]
    EmptyType { target: String },
    /// A name is empty.
    #[error("{target:?} lacks a name: write TYPE/NAME or TYPE NAME")]
    EmptyName { target: String },
    /// `a/b/c`
    #[error("{target:?} has more than one slash: write TYPE/NAME, the namespace with -n")]
    TwoSlashes { target: String },
    /// `a,b/name`
    #[error("{target:?} has several types before the slash: write TYPE,TYPE NAME")]
    SeveralTypes { target: String },
    /// `all/name`
    #[error(
        "{category:?} is a category of {types} types: write TYPE/NAME, or choose objects of all types with -l \
         SELECTOR or --all"
    )]
    CategoryWithName { category: String, types: usize },
    /// A selector or `--all` with names.
    #[error("{flag} selects among all objects of a type, {name:?} is one object: use one or the other")]
    NameAndSelector { flag: &'static str, name: String },
    /// A selector without a type.
    #[error("{flag} needs a TYPE, as in: deployments {flag} …")]
    SelectorWithoutType { flag: &'static str },
    /// A selector with `--all`.
    #[error("{flag} and --all contradict each other: leave one out")]
    AllAndSelector { flag: &'static str },
    /// A selector or `--all` with `-f`.
    #[error("{flag} cannot be used with -f, which names its objects: leave one out")]
    ManifestAndSelector { flag: &'static str },
    /// A target with `-f`.
    #[error("{target:?} cannot be used with -f, which names its objects: leave one out")]
    ManifestAndTarget { target: String },
    /// Malformed `-l` or `--field-selector`.
    #[error(transparent)]
    Selector(#[from] SelectorError),
    /// Fields that a snapshot doesn't contain, without a server to select by them.
    #[error(
        "--field-selector {fields} needs a server: with a dump only metadata.name and metadata.namespace work; \
         or use -l"
    )]
    FieldNeedsServer { fields: String },
    /// `-f` or `-k` can't be read.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// An object whose name the server will generate.
    #[error("{place}: this {kind} has only a generateName: name the object as TYPE/NAME")]
    GeneratedName { place: Place, kind: String },
    /// A manifest that contradicts `-n`.
    #[error("{place}: {name:?} is in namespace {own:?}, -n says {explicit:?}: pass -n {own}, or no -n")]
    OtherNamespace { place: Place, name: String, own: String, explicit: String },
    /// A name with `-A`.
    #[error(
        "{resource} {name:?} cannot be found by name across all namespaces: give its namespace with -n instead of -A"
    )]
    NameInAllNamespaces { resource: String, name: String },
    /// A name that occurs more than once in a dump.
    #[error("{resource} {name:?} exists in {}: choose one with -n", in_namespaces(namespaces))]
    Ambiguous { resource: String, name: String, namespaces: Vec<String> },
    /// No object of this name.
    #[error(transparent)]
    Missing(Box<Missing>),
    /// Several objects that were not found, one per line.
    #[error("{}", .0.iter().map(Missing::to_string).collect::<Vec<_>>().join("\n"))]
    AllMissing(Vec<Missing>),
    /// A selection that matches no objects.
    #[error(transparent)]
    NoMatch(Box<NoMatch>),
    /// A selection from a resource that could not be read.
    #[error("{resource}{} could not be read ({reason}), so they cannot be selected",
        in_namespace(namespace.as_deref()))]
    Unread { resource: String, namespace: Option<String>, reason: String },
}

/// How certain it is that an object doesn't exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// Everything in which it could be was read.
    Absent,
    /// It could not be read, for this reason.
    Unread(String),
    /// The dump contains no objects of its kind and scope.
    NotInDump,
}

/// What the user may have meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hint {
    Nothing,
    /// The namespace doesn't exist either.
    NoNamespace,
    /// Objects of this name exist in these namespaces.
    Elsewhere(Vec<String>),
    /// Objects of the type with similar names.
    Similar(Vec<String>),
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Hint::Nothing => Ok(()),
            Hint::NoNamespace => f.write_str("; there is no such namespace"),
            Hint::Elsewhere(namespaces) => {
                let subject = if namespaces.len() == 1 { "one exists" } else { "some exist" };
                write!(f, "; {subject} in {}", in_namespaces(namespaces))
            }
            Hint::Similar(names) => f.write_str(&did_you_mean(names)),
        }
    }
}

/// An object that was not found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Missing {
    /// `plural.group`
    pub resource: String,
    pub name: String,
    /// `None` for cluster scope, and where all namespaces were searched.
    pub namespace: Option<String>,
    /// The manifest that contains it.
    pub place: Option<Place>,
    pub why: Why,
    pub hint: Hint,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Missing { resource, name, namespace, place, why, hint } = self;
        if let Some(place) = place {
            write!(f, "{place}: ")?;
        }
        let scope = in_namespace(namespace.as_deref());
        match why {
            Why::Absent => write!(f, "{resource} {name:?} not found{scope}"),
            Why::Unread(reason) => {
                write!(f, "{resource}{scope} could not be read ({reason}), so it is not known whether {name:?} exists")
            }
            Why::NotInDump => write!(f, "{resource} {name:?} is not in the dump, which contains no {resource}{scope}"),
        }?;
        if name.contains(',') {
            let each: Vec<String> = name.split(',').map(|name| format!("{resource}/{name}")).collect();
            return write!(f, "; a TARGET names one object: write {}", each.join(" "));
        }
        write!(f, "{hint}")
    }
}

/// A selection that matches nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct NoMatch {
    /// `plural.group` of each type.
    pub resources: Vec<String>,
    /// The namespace searched; `None` for all, and for cluster scope.
    pub namespace: Option<String>,
    /// The selectors as flags; empty for `--all`.
    pub selection: String,
    /// The types that could not be read, and why.
    pub unread: Vec<(String, String)>,
    pub hint: Hint,
}

impl fmt::Display for NoMatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NoMatch { resources, namespace, selection, unread, hint } = self;
        write!(f, "no {}{}", some_of(resources, "or"), in_namespace(namespace.as_deref()))?;
        match (selection.as_str(), resources.len()) {
            ("", _) => f.write_str(" found"),
            (selection, _) => write!(f, " match {selection}"),
        }?;
        write!(f, "{hint}")?;
        if let Some((_, reason)) = unread.first() {
            let names: Vec<String> = unread.iter().map(|(name, _)| name.clone()).collect();
            write!(f, "; {} could not be read ({reason})", some_of(&names, "and"))?;
        }
        Ok(())
    }
}

fn in_namespace(namespace: Option<&str>) -> String {
    namespace.map_or(String::new(), |namespace| format!(" in namespace {namespace:?}"))
}

fn in_namespaces(namespaces: &[String]) -> String {
    let word = if namespaces.len() == 1 { "namespace" } else { "namespaces" };
    format!("{word} {}", some_of(namespaces, "and"))
}

/// `a, b and c`, or `a, b, c and 4 more`.
fn some_of(names: &[String], word: &str) -> String {
    const SHOWN: usize = 5;
    if names.len() <= SHOWN {
        return all_of(names, word);
    }
    format!("{} {word} {} more", names[..SHOWN - 1].join(", "), names.len() - (SHOWN - 1))
}

fn served_as(served: &[String]) -> String {
    if served.is_empty() { String::new() } else { format!("; it is served in {}", some_of(served, "and")) }
}
