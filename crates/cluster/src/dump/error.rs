//! Errors of reading a dump. Each message names the file, the place in it, and the remedy.

use std::io;

/// The place of an object in the input.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Place {
    /// The file as given; `-` for standard input.
    pub file: String,
    /// The number of the document, from 1; `None` if the file has only one.
    pub document: Option<usize>,
    /// The number of the item in its list, from 1; `None` outside of lists.
    pub item: Option<usize>,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(name_of(&self.file))?;
        if let Some(document) = self.document {
            write!(f, ", document {document}")?;
        }
        if let Some(item) = self.item {
            write!(f, ", item {item}")?;
        }
        Ok(())
    }
}

/// The name of an input in messages.
pub(super) fn name_of(file: &str) -> &str {
    if file == "-" { "standard input" } else { file }
}

/// Why a dump could not be read, or a snapshot file not written.
#[derive(Debug, thiserror::Error)]
pub enum DumpError {
    /// A path of `--from` doesn't exist.
    #[error("{path}: no such file or folder")]
    NotFound { path: String },
    /// A path of `--from` is a URL, but none that is fetched.
    #[error("{path}: only http:// and https:// are fetched: give what is there as standard input, with --from -")]
    Scheme { path: String },
    /// What is behind a URL of `--from` can't be fetched.
    #[error("{url}: {why}")]
    Url { url: String, why: String },
    /// The program brings no example of this name.
    #[error("there is no example {}: use {known}", name_of(name))]
    NoExample { name: String, known: String },
    /// The system refused to read it.
    #[error("{}: cannot be read: {source}", name_of(path))]
    Unreadable { path: String, source: io::Error },
    /// More than the limit allows, decompressed.
    #[error(
        "{}: there is more to read than --max-input allows, decompressed: raise it if there is memory for that",
        name_of(path)
    )]
    TooLarge { path: String },
    /// A folder without JSON or YAML files.
    #[error("{path}: no dump files in this folder (.json, .ndjson, .jsonl, .yaml, .yml, also with .gz)")]
    NoDumpFiles { path: String },
    /// Invalid gzip data.
    #[error("{}: broken gzip: {source}", name_of(path))]
    Gzip { path: String, source: io::Error },
    /// An archive, or other binary data.
    #[error("{}: {what}", name_of(path))]
    NotText { path: String, what: &'static str },
    /// Invalid UTF-8.
    #[error("{}: not UTF-8, line {line}{}", name_of(path), if *utf16 { ": this is UTF-16, as PowerShell's > writes it; \
        save it as UTF-8" } else { "" })]
    NotUtf8 { path: String, line: usize, utf16: bool },
    /// Malformed JSON.
    #[error("{}: malformed JSON at line {line}, column {column}: {message}{}", name_of(path),
        if message.starts_with("EOF") { CUT_OFF } else { "" })]
    Json { path: String, line: usize, column: usize, message: String },
    /// Malformed YAML, or too many aliases.
    #[error("{}: malformed YAML{}: {message}", name_of(path), at_line(*line, *column))]
    Yaml { path: String, line: usize, column: usize, message: String },
    /// A document or item that is not an object.
    #[error("{place}: {found} instead of a Kubernetes object{A_DUMP}")]
    NotAnObject { place: Place, found: String },
    /// An object without a required field.
    #[error("{place}: {object} has no {field}{}", advice(field))]
    Missing { place: Place, object: String, field: &'static str },
    /// An apiVersion that is neither `version` nor `group/version`.
    #[error("{place}: {object}: apiVersion {found:?} is neither a version nor group/version")]
    ApiVersion { place: Place, object: String, found: String },
    /// A namespace for a cluster-scoped kind, or none for a namespaced kind.
    #[error("{place}: {object} has {}, yet {kind} is {}", if *namespaced { "no namespace" } else { "a namespace" },
        if *namespaced { "namespaced" } else { "cluster-scoped" })]
    Scope { place: Place, object: String, kind: String, namespaced: bool },
    /// An invalid timestamp.
    #[error("{place}: {object}: metadata.{field} is {found}, not a time as in 2026-01-31T08:00:00Z")]
    Timestamp { place: Place, object: String, field: &'static str, found: String },
    /// Metadata without the object's kind.
    #[error("{place}: a {kind} does not contain the kind of its objects; dump whole objects with kubectl get -o yaml")]
    KindLost { place: Place, kind: String },
    /// An error of the API server instead of objects.
    #[error("{place}: this is an error of the API server, not a dump: {message}")]
    Status { place: Place, message: String },
    /// No objects at all.
    #[error("no objects in {}", paths.iter().map(|path| name_of(path)).collect::<Vec<_>>().join(", "))]
    Empty { paths: Vec<String> },
    /// A snapshot file together with other input.
    #[error("{}: a snapshot file contains a whole cluster: --from must not name any other file", name_of(path))]
    SnapshotNotAlone { path: String },
    /// A snapshot file of another version, or other output of this tool.
    #[error("{}: {found} is not a snapshot this version can read (kubectl-gc/v1 Snapshot)", name_of(path))]
    SnapshotVersion { path: String, found: String },
    /// An inconsistent snapshot file.
    #[error("{}: broken snapshot: {message}", name_of(path))]
    SnapshotBroken { path: String, message: String },
    /// A snapshot file could not be written.
    #[error("{path}: cannot be written: {source}")]
    Unwritable { path: String, source: io::Error },
}

impl DumpError {
    /// The same without the number of the document: its file has no other.
    pub(super) fn in_the_only_document(mut self) -> Self {
        if let DumpError::NotAnObject { place, .. }
        | DumpError::Missing { place, .. }
        | DumpError::ApiVersion { place, .. }
        | DumpError::Timestamp { place, .. }
        | DumpError::KindLost { place, .. }
        | DumpError::Status { place, .. } = &mut self
        {
            place.document = None;
        }
        self
    }
}

/// What is said where a dump ends too early.
pub(super) const CUT_OFF: &str = "; the file ends here: it seems cut off, dump it again";

/// What is said of a text that seems to be none.
pub(super) const A_DUMP: &str = "; a dump is the output of kubectl get -o yaml or -o json";

fn at_line(line: usize, column: usize) -> String {
    if line == 0 { String::new() } else { format!(" at line {line}, column {column}") }
}

fn advice(field: &str) -> &'static str {
    match field {
        "uid" => "; manifests for kubectl apply have none: dump with kubectl get -o yaml",
        "kind" | "apiVersion" => A_DUMP,
        _ => "",
    }
}
