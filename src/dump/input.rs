//! Finds and reads the files of `--from`: folders, gzip, encodings.

use std::{
    fs,
    io::{self, Read},
    path::Path,
};

use flate2::read::MultiGzDecoder;
use walkdir::WalkDir;

use super::error::DumpError;

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
const BOM: &str = "\u{feff}";
const EXTENSIONS: [&str; 5] = ["json", "ndjson", "jsonl", "yaml", "yml"];

/// The files to read, in a stable order, each once. Folders are searched; `-` stays as it is.
///
/// In folders, hidden files and files without a JSON or YAML extension are skipped.
pub(super) fn files(paths: &[String]) -> Result<Vec<String>, DumpError> {
    let mut files = Vec::new();
    for path in paths {
        if path == "-" {
            files.push(path.clone());
            continue;
        }
        let metadata = fs::metadata(path).map_err(|source| match source.kind() {
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
            files.push(path.clone());
        }
    }
    let mut seen = std::collections::HashSet::new();
    files.retain(|file| seen.insert(file.clone()));
    Ok(files)
}

fn search(folder: &str, files: &mut Vec<String>) -> Result<(), DumpError> {
    let visible =
        |entry: &walkdir::DirEntry| entry.depth() == 0 || !entry.file_name().to_string_lossy().starts_with('.');
    for entry in WalkDir::new(folder).follow_links(true).sort_by_file_name().into_iter().filter_entry(visible) {
        let entry = match entry {
            Ok(entry) => entry,
            // A link to a parent folder contains nothing new.
            Err(error) if error.loop_ancestor().is_some() => continue,
            Err(error) => {
                let path = error.path().unwrap_or(Path::new(folder)).display().to_string();
                let source = error.into_io_error().unwrap_or_else(|| io::Error::other("cannot be walked"));
                return Err(DumpError::Unreadable { path, source });
            }
        };
        if entry.file_type().is_file() && is_dump_name(&entry.file_name().to_string_lossy()) {
            files.push(entry.path().display().to_string());
        }
    }
    Ok(())
}

fn is_dump_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    name.rsplit_once('.').is_some_and(|(_, extension)| EXTENSIONS.contains(&extension))
}

/// The text of a file or of standard input, decompressed, without a byte order mark.
pub(super) fn text(path: &str) -> Result<String, DumpError> {
    let unreadable = |source| DumpError::Unreadable { path: path.to_owned(), source };
    let bytes = if path == "-" {
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes).map_err(unreadable)?;
        bytes
    } else {
        fs::read(path).map_err(unreadable)?
    };
    decode(path, bytes)
}

/// The text of these bytes, whatever the file's name.
pub(super) fn decode(path: &str, mut bytes: Vec<u8>) -> Result<String, DumpError> {
    if bytes.starts_with(&GZIP_MAGIC) {
        let mut unpacked = Vec::new();
        MultiGzDecoder::new(bytes.as_slice())
            .read_to_end(&mut unpacked)
            .map_err(|source| DumpError::Gzip { path: path.to_owned(), source })?;
        bytes = unpacked;
    }
    let mut text = String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        DumpError::NotUtf8 {
            path: path.to_owned(),
            line: 1 + good.iter().filter(|byte| **byte == b'\n').count(),
            utf16: matches!(error.as_bytes(), [0xff, 0xfe, ..] | [0xfe, 0xff, ..]),
        }
    })?;
    if text.starts_with(BOM) {
        text.drain(..BOM.len());
    }
    Ok(text)
}
