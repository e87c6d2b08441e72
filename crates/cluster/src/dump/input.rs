//! Finds and reads the files of `--from`: folders, gzip, encodings.

use std::{
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use flate2::read::MultiGzDecoder;
use walkdir::WalkDir;

use super::error::DumpError;
use crate::bounded;
use gc_core::{progress, url};

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
const EXTENSIONS: [&str; 5] = ["json", "ndjson", "jsonl", "yaml", "yml"];

/// How the path of a dump begins that the program brings.
pub const EXAMPLE: &str = "example:";

/// Dumps that the program brings to try the commands on, by name.
pub type Examples = &'static [(&'static str, &'static [u8])];

/// Fetches what is behind a URL; else says why not.
pub type Fetch = fn(&str) -> Result<Vec<u8>, String>;

/// How input is read.
#[derive(Clone, Copy, Debug)]
pub struct ReadOptions {
    /// The limit for the size of all input together, decompressed, in bytes.
    pub max_input: u64,
    /// Fetches `http://` and `https://`.
    pub fetch: Fetch,
    /// What [`EXAMPLE`] may name.
    pub examples: Examples,
    /// Whether a plain dump proves that what it doesn't contain doesn't exist. Without, it proves that only of the
    /// kinds and namespaces that it contains. Snapshot files record what they cover.
    pub assume_complete: bool,
    /// Whether to keep what decides when the cluster removes objects by itself ([`gc_core::reclaim`]).
    pub for_reclaim: bool,
}

/// The content of an example, if the path means one.
fn example(path: &str, examples: Examples) -> Result<Option<&'static [u8]>, DumpError> {
    let Some(name) = path.strip_prefix(EXAMPLE) else { return Ok(None) };
    match examples.iter().find(|(known, _)| *known == name) {
        Some((_, content)) => Ok(Some(content)),
        None => Err(DumpError::NoExample {
            name: name.to_owned(),
            known: examples.iter().map(|(known, _)| format!("--example={known}")).collect::<Vec<_>>().join(", "),
        }),
    }
}

/// Whether a path means an example, or a file that is one, byte for byte: these are whole.
pub(super) fn is_example(path: &str, examples: Examples) -> bool {
    let size = || fs::metadata(path).ok().filter(fs::Metadata::is_file).map(|file| file.len());
    let is_it = |size: u64| {
        let mut same = examples.iter().filter(|(_, content)| content.len() as u64 == size);
        same.any(|(_, content)| fs::read(path).is_ok_and(|read| read == *content))
    };
    path.starts_with(EXAMPLE) || size().is_some_and(is_it)
}

/// A file to read, a URL, or standard input.
#[derive(Debug)]
pub(super) struct Input {
    /// Its name in messages; `-` for standard input.
    pub shown: String,
    /// Its name may not be UTF-8.
    path: PathBuf,
}

impl Input {
    fn of(path: &Path) -> Self {
        Input { shown: path.display().to_string(), path: path.to_owned() }
    }
}

/// The files to read, in a stable order, each once. Folders are searched; URLs and `-` stay as they are.
///
/// In folders, hidden files and files without a JSON or YAML extension are skipped.
pub(super) fn files(paths: &[String], examples: Examples) -> Result<Vec<Input>, DumpError> {
    let mut files = Vec::new();
    for path in paths {
        if path == "-" || url::is_fetched(path) || example(path, examples)?.is_some() {
            files.push(Input::of(Path::new(path)));
            continue;
        }
        let metadata = fs::metadata(path).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound if path.contains("://") => DumpError::Scheme { path: path.clone() },
            io::ErrorKind::NotFound => DumpError::NotFound { path: path.clone() },
            _ => DumpError::Unreadable { path: path.clone(), source },
        })?;
        if metadata.is_dir() {
            let before = files.len();
            search(path, &mut files)?;
            if files.len() == before {
                return Err(DumpError::NoDumpFiles { path: path.clone() });
            }
        } else {
            files.push(Input::of(Path::new(path)));
        }
    }
    let mut seen = std::collections::HashSet::new();
    files.retain(|file| seen.insert(file.path.clone()));
    Ok(files)
}

fn search(folder: &str, files: &mut Vec<Input>) -> Result<(), DumpError> {
    let visible =
        |entry: &walkdir::DirEntry| entry.depth() == 0 || !entry.file_name().to_string_lossy().starts_with('.');
    for entry in WalkDir::new(folder).follow_links(true).sort_by_file_name().into_iter().filter_entry(visible) {
        let entry = match entry {
            Ok(entry) => entry,
            // A link to a parent folder contains nothing new.
            Err(error) if error.loop_ancestor().is_some() => continue,
            // A link that leads nowhere, as editors leave them. One that is called like a dump is an error.
            Err(error) if error.path().is_some_and(|path| path.is_symlink() && !is_dump(path)) => continue,
            Err(error) => {
                let path = error.path().unwrap_or(Path::new(folder)).display().to_string();
                let source = error.into_io_error().unwrap_or_else(|| io::Error::other("cannot be walked"));
                return Err(DumpError::Unreadable { path, source });
            }
        };
        if entry.file_type().is_file() && is_dump(entry.path()) {
            files.push(Input::of(entry.path()));
        }
    }
    Ok(())
}

/// Whether a file is called like a dump.
fn is_dump(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    name.rsplit_once('.').is_some_and(|(_, extension)| EXTENSIONS.contains(&extension))
}

impl Input {
    /// Its bytes, decompressed; an error after so many.
    pub(super) fn open(&self, limit: u64, options: ReadOptions) -> Result<impl Read + use<>, DumpError> {
        let fetch = options.fetch;
        let file: Box<dyn Read> = match (self.shown.as_str(), example(&self.shown, options.examples)?) {
            ("-", _) => Box::new(io::stdin().lock()),
            (url, _) if url::is_fetched(url) => {
                Box::new(io::Cursor::new(fetch(url).map_err(|why| DumpError::Url { url: url.to_owned(), why })?))
            }
            (_, Some(content)) => Box::new(content),
            _ => Box::new(File::open(&self.path).map_err(|error| self.failed(error))?),
        };
        decompressed(Counted(file), limit).map_err(|error| self.failed(error))
    }

    /// What it means that it can't be read.
    pub(super) fn failed(&self, source: io::Error) -> DumpError {
        failed(&self.shown, source)
    }
}

/// Counts what is read.
struct Counted<R>(R);

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.0.read(into)?;
        progress::advance(read as u64);
        Ok(read)
    }
}

/// The size of all files together, in bytes; 0 if one of them doesn't say.
pub(super) fn size(files: &[Input]) -> u64 {
    let sizes = files.iter().map(|file| match fs::metadata(&file.path) {
        Ok(metadata) if metadata.is_file() && file.shown != "-" => metadata.len(),
        _ => 0,
    });
    sizes.reduce(|all, size| if all == 0 || size == 0 { 0 } else { all + size }).unwrap_or(0)
}

/// What it means that a file can't be read.
pub(super) fn failed(path: &str, source: io::Error) -> DumpError {
    let path = path.to_owned();
    match source.kind() {
        io::ErrorKind::FileTooLarge => DumpError::TooLarge { path },
        _ if source.get_ref().is_some_and(|inner| inner.is::<BrokenGzip>()) => DumpError::Gzip { path, source },
        _ => DumpError::Unreadable { path, source },
    }
}

/// What is wrong with compressed data.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct BrokenGzip(io::Error);

/// Bytes, decompressed if they are compressed, whatever the file's name; an error after so many.
pub(super) fn decompressed<'r>(mut from: impl Read + 'r, limit: u64) -> io::Result<Box<dyn Read + 'r>> {
    let mut magic = Vec::new();
    from.by_ref().take(GZIP_MAGIC.len() as u64).read_to_end(&mut magic)?;
    let is_gzip = magic == GZIP_MAGIC;
    let all = io::Cursor::new(magic).chain(from);
    Ok(if is_gzip {
        Box::new(bounded::Limited::of(Gzip(MultiGzDecoder::new(io::BufReader::new(all))), limit))
    } else {
        Box::new(bounded::Limited::of(all, limit))
    })
}

/// Tells errors of the data from errors of the file.
struct Gzip<R>(R);

impl<R: Read> Read for Gzip<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.0.read(into).map_err(|error| match error.kind() {
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => {
                io::Error::new(error.kind(), BrokenGzip(error))
            }
            _ => error,
        })
    }
}

/// Bytes as text.
pub(super) fn utf8(path: &str, bytes: Vec<u8>) -> Result<String, DumpError> {
    String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        DumpError::NotUtf8 {
            path: path.to_owned(),
            line: 1 + good.iter().filter(|byte| **byte == b'\n').count(),
            utf16: matches!(error.as_bytes(), [0xff, 0xfe, ..] | [0xfe, 0xff, ..]),
        }
    })
}

/// Runs `kubectl kustomize`, and returns the manifests that it prints.
///
/// # Errors
/// What kubectl complains about, or why it can't be run.
pub fn kustomized(folder: &str) -> Result<Vec<u8>, String> {
    let mut kubectl = Command::new("kubectl");
    let ran = kubectl.arg("kustomize").arg("--").arg(folder).stdin(Stdio::null()).output();
    let ran = ran.map_err(|error| format!("cannot run kubectl: {error}"))?;
    if ran.status.success() {
        return Ok(ran.stdout);
    }
    let said = String::from_utf8_lossy(&ran.stderr);
    Err(said.trim().trim_start_matches("error: ").to_owned())
}
