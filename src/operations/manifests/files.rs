//! The texts of `-f` and `-k`: files, folders, patterns, addresses, standard input.

use std::{fs, io, path::PathBuf};

use glob::{MatchOptions, glob_with};
use walkdir::WalkDir;

use super::ManifestError;
use gc_cluster::{
    bounded::{self, LARGEST_SETTING},
    cluster, dump,
};
use gc_core::url;

/// Passes on the texts of the values of `-f`, in order. `take` says whether there is any object in one.
///
/// # Errors
/// A text that can't be read, a value without any object, and the first error of `take`.
pub(super) fn each_text(
    paths: &[String],
    recursive: bool,
    mut take: impl FnMut(&str, String) -> Result<bool, ManifestError>,
) -> Result<(), ManifestError> {
    let mut stdin_read = false;
    for path in paths {
        let mut any = false;
        if url::is_fetched(path) {
            let shown = url::without_password(path);
            let fetched = cluster::fetch(path).map_err(|why| ManifestError::Url { url: shown.clone(), why })?;
            any |= take(&shown, text(&shown, fetched)?)?;
        } else if path == "-" {
            if std::mem::replace(&mut stdin_read, true) {
                continue;
            }
            let bytes =
                bounded::read(io::stdin().lock(), LARGEST_SETTING).map_err(|source| unreadable(path, source))?;
            any |= take(path, text(path, bytes)?)?;
        } else {
            for file in matching(path)? {
                for file in files(&file, recursive)? {
                    let shown = file.display().to_string();
                    let bytes = bounded::read_setting(&file).map_err(|source| unreadable(&shown, source))?;
                    any |= take(&shown, text(&shown, bytes)?)?;
                }
            }
        }
        if !any {
            return Err(ManifestError::NoObjects { path: path.clone() });
        }
    }
    Ok(())
}

/// The text that `kubectl kustomize` makes of a folder.
///
/// # Errors
/// Why there is none.
pub(super) fn kustomized_text(folder: &str) -> Result<String, ManifestError> {
    let built = dump::kustomized(folder);
    let built = built.map_err(|why| ManifestError::Kustomize { folder: folder.to_owned(), why })?;
    text(folder, built)
}

/// As in kubectl: what doesn't exist under this name may be a pattern.
fn matching(path: &str) -> Result<Vec<String>, ManifestError> {
    if fs::symlink_metadata(path).is_ok() || !path.contains(['*', '?', '[']) {
        return Ok(vec![path.to_owned()]);
    }
    let invalid = |why: String| unreadable(path, io::Error::new(io::ErrorKind::InvalidInput, why));
    let pattern = pattern_of_go(path).map_err(invalid)?;
    let options = MatchOptions { require_literal_separator: true, ..MatchOptions::new() };
    let found = glob_with(&pattern, options).map_err(|error| invalid(error.to_string()))?;
    let files: Vec<String> = found
        .map(|file| file.map(|file| file.display().to_string()).map_err(|error| unreadable(path, error.into())))
        .collect::<Result<_, _>>()?;
    if files.is_empty() {
        return Err(unreadable(path, io::Error::new(io::ErrorKind::NotFound, "no file matches")));
    }
    Ok(files)
}

/// A pattern of Go's `filepath.Match`, in this crate's grammar: there `[^…]` negates and not `[!…]`, and two stars
/// match no slash either.
fn pattern_of_go(pattern: &str) -> Result<String, String> {
    let mut own = String::new();
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '*' if own.ends_with('*') => {}
            '\\' => return Err("a pattern with a backslash is not understood".to_owned()),
            '[' => {
                let class: String = chars.by_ref().take_while(|c| *c != ']').collect();
                if class.contains(['\\', '[']) {
                    return Err(format!("[{class}] is not understood in a pattern"));
                }
                match class.strip_prefix('^') {
                    Some(others) => own.push_str(&format!("[!{others}]")),
                    // Here, a ! at the beginning stands for itself.
                    None if class.starts_with('!') && class.len() > 1 => {
                        own.push_str(&format!("[{}!]", &class[1..]));
                    }
                    None => own.push_str(&format!("[{class}]")),
                }
            }
            c => own.push(c),
        }
    }
    Ok(own)
}

fn unreadable(path: &str, source: io::Error) -> ManifestError {
    ManifestError::Unreadable { path: path.to_owned(), source }
}

/// A file, whatever its name; or the manifests in a folder, by their extensions.
fn files(path: &str, recursive: bool) -> Result<Vec<PathBuf>, ManifestError> {
    if !fs::metadata(path).map_err(|source| unreadable(path, source))?.is_dir() {
        return Ok(vec![PathBuf::from(path)]);
    }
    let mut files = Vec::new();
    let depth = if recursive { usize::MAX } else { 1 };
    for entry in WalkDir::new(path).max_depth(depth).sort_by_file_name() {
        let entry = entry.map_err(|error| {
            let place = error.path().map_or(path.to_owned(), |path| path.display().to_string());
            unreadable(&place, error.into_io_error().unwrap_or_else(|| io::Error::other("cannot be walked")))
        })?;
        let name = entry.file_name().to_string_lossy();
        if !entry.file_type().is_dir() && [".json", ".yaml", ".yml"].iter().any(|extension| name.ends_with(extension)) {
            files.push(entry.into_path());
        }
    }
    if files.is_empty() { Err(ManifestError::NoManifestFiles { path: path.to_owned(), recursive }) } else { Ok(files) }
}

fn text(path: &str, bytes: Vec<u8>) -> Result<String, ManifestError> {
    let text = String::from_utf8(bytes).map_err(|_| ManifestError::NotUtf8 { path: path.to_owned() })?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}
