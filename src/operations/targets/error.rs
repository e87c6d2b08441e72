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
    /// What was typed names or chooses nothing, or nothing that can be found: why, and what to type instead.
    #[error("{0}")]
    Wrong(String),
    /// Malformed `-l` or `--field-selector`.
    #[error(transparent)]
    Selector(#[from] SelectorError),
    /// `-f` or `-k` can't be read.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// No object of this name.
    #[error(transparent)]
    Missing(Box<Missing>),
    /// Several objects that were not found, one per line.
    #[error("{}", .0.iter().map(Missing::to_string).collect::<Vec<_>>().join("\n"))]
    AllMissing(Vec<Missing>),
    /// A selection that matches no objects.
    #[error(transparent)]
    NoMatch(Box<NoMatch>),
}

impl TargetError {
    /// A type is empty.
    pub(super) fn empty_type(target: &str) -> Self {
        TargetError::Wrong(format!("{target:?} lacks a type: write TYPE/NAME, TYPE NAME or TYPE,TYPE"))
    }

    /// A name is empty.
    pub(super) fn empty_name(target: &str) -> Self {
        TargetError::Wrong(format!("{target:?} lacks a name: write TYPE/NAME or TYPE NAME"))
    }

    /// A manifest that contradicts `-n`.
    pub(crate) fn other_namespace(place: &Place, name: &str, own: &str, explicit: &str) -> Self {
        let is = format!("{name:?} is in namespace {own:?}, -n says {explicit:?}");
        TargetError::Wrong(format!("{place}: {is}: pass -n {own}, or no -n"))
    }

    /// A selection from a resource that could not be read.
    pub(super) fn unread(resource: &str, namespace: Option<&str>, reason: &str) -> Self {
        let scope = in_namespace(namespace);
        TargetError::Wrong(format!("{resource}{scope} could not be read ({reason}), so they cannot be selected"))
    }
}

/// Fails because of what was typed.
pub(super) fn wrong<T>(why: String) -> Result<T, TargetError> {
    Err(TargetError::Wrong(why))
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

pub(super) fn in_namespaces(namespaces: &[String]) -> String {
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

pub(super) fn served_as(served: &[String]) -> String {
    if served.is_empty() { String::new() } else { format!("; it is served in {}", some_of(served, "and")) }
}
