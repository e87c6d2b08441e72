//! Manifests: the values of `-f` and `-k`, and the objects in them.
//!
//! ```text
//! files  their texts    read  the objects in these    spans  where in a text a value is
//! ```

mod files;
mod read;
mod spans;

use std::io;

pub use read::{Document, Found, ManifestFile};

pub(super) use read::yaml_value;
pub(super) use spans::Spans;

use gc_core::apply::{Place, name_of};

/// Why manifests can't be read.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    /// `-f https://…` can't be fetched.
    #[error("-f {url}: unable to read the URL: {why}")]
    Url { url: String, why: String },
    /// `kubectl kustomize` fails.
    #[error("-k {folder}: {why}")]
    Kustomize { folder: String, why: String },
    /// A manifest that cannot be read.
    #[error("-f {}: {source}", name_of(path))]
    Unreadable { path: String, source: io::Error },
    /// A manifest that is not UTF-8.
    #[error("-f {}: not UTF-8", name_of(path))]
    NotUtf8 { path: String },
    /// A folder without manifests.
    #[error("-f {path}: no manifests in this folder (.yaml, .yml, .json){}",
        if *recursive { "" } else { "; -R looks into its folders too" })]
    NoManifestFiles { path: String, recursive: bool },
    /// Files without objects.
    #[error("-f {}: no objects in it", name_of(path))]
    NoObjects { path: String },
    /// Malformed JSON or YAML, or metadata of a wrong type.
    #[error("{place}: malformed: {message}")]
    Malformed { place: Place, message: String },
    /// A document that is no object.
    #[error("{place}: {found} instead of a Kubernetes object")]
    NotAnObject { place: Place, found: &'static str },
    /// An object without a required field.
    #[error("{place}: the object has no {field}")]
    MissingField { place: Place, field: &'static str },
}
