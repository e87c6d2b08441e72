//! Reads an archive. The checksum of the whole file is verified before any object is used.

use std::{
    fs::{self, File},
    io::{self, BufRead, BufReader, Read},
    path::{Path, PathBuf},
};

use flate2::bufread::MultiGzDecoder;
use serde::Deserialize as _;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::dump::yaml::{self, Document};

use super::{ArchiveError, END, End, FORMAT, HEADER, Header, SEPARATOR, TITLE, write::hexadecimal};

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// The longest line and object, in bytes. Anything longer was not written by this tool, and is not read into memory.
const LONGEST: u64 = if cfg!(test) { 1 << 20 } else { 64 << 20 };

/// A complete, unchanged archive.
#[derive(Debug)]
pub struct Archive {
    path: PathBuf,
    file: File,
    header: Header,
}

impl Archive {
    /// Opens an archive, and verifies the whole file.
    ///
    /// # Errors
    /// What is wrong with the file: see [`ArchiveError`]. Nothing of a truncated, changed or extended file is ever
    /// used.
    pub fn open(path: &Path) -> Result<Self, ArchiveError> {
        let shown = || path.display().to_string();
        let unreadable = |source: io::Error| match source.kind() {
            io::ErrorKind::NotFound => ArchiveError::NotFound { path: shown() },
            _ => ArchiveError::Unreadable { path: shown(), source },
        };
        if !fs::metadata(path).map_err(unreadable)?.is_file() {
            // The file is read twice, which a pipe doesn't allow. Opening a pipe would wait for its writer.
            return Err(ArchiveError::NotAnArchive { path: shown(), found: "it is not a file" });
        }
        let file = File::open(path).map_err(unreadable)?;
        let mut scan = Scan::new(path, &file)?;
        let header = scan.header()?;
        while scan.lines_of_object(|_| ())? {}
        scan.check_count(header.objects)?;
        drop(scan);
        Ok(Archive { path: path.to_owned(), file, header })
    }

    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Its objects, in an order in which they can be created. Each call starts at the first.
    ///
    /// # Errors
    /// The operating system's error.
    pub fn objects(&self) -> Result<Objects<'_>, ArchiveError> {
        let mut scan = Scan::new(&self.path, &self.file)?;
        scan.header()?;
        Ok(Objects { scan, done: false })
    }
}

/// The header of the archive at a path, whatever comes after it; `None` if there is no archive.
pub fn header_of(path: &Path) -> Option<Header> {
    fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    let file = File::open(path).ok()?;
    Scan::new(path, &file).ok()?.header().ok()
}

/// The objects of an archive. Ends after the first error.
pub struct Objects<'a> {
    scan: Scan<'a>,
    done: bool,
}

impl Iterator for Objects<'_> {
    type Item = Result<Value, ArchiveError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let object = self.scan.object().transpose();
        self.done = !matches!(object, Some(Ok(_)));
        object
    }
}

/// A reader from the file's start on, with its own position.
struct FromStart<'a> {
    file: &'a File,
    at: u64,
}

impl Read for FromStart<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        #[cfg(unix)]
        let read = std::os::unix::fs::FileExt::read_at(self.file, buffer, self.at)?;
        #[cfg(windows)]
        let read = std::os::windows::fs::FileExt::seek_read(self.file, buffer, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

/// One pass over the file.
struct Scan<'a> {
    path: &'a Path,
    from: Box<dyn BufRead + 'a>,
    packed: bool,
    /// Of all lines before the current one.
    sum: Sha256,
    line: Vec<u8>,
    /// The number of `line`, from 1.
    number: usize,
    /// How many objects were begun.
    objects: usize,
    /// The number of objects in the header.
    expected: Option<usize>,
}

impl<'a> Scan<'a> {
    fn new(path: &'a Path, file: &'a File) -> Result<Self, ArchiveError> {
        let unreadable = |source| ArchiveError::Unreadable { path: path.display().to_string(), source };
        let mut from = BufReader::new(FromStart { file, at: 0 });
        let packed = from.fill_buf().map_err(unreadable)?.starts_with(&GZIP_MAGIC);
        let from: Box<dyn BufRead + 'a> =
            if packed { Box::new(BufReader::new(MultiGzDecoder::new(from))) } else { Box::new(from) };
        Ok(Scan { path, from, packed, sum: Sha256::new(), line: Vec::new(), number: 0, objects: 0, expected: None })
    }

    fn shown(&self) -> String {
        self.path.display().to_string()
    }

    fn cut_off(&self) -> ArchiveError {
        // The last object that was begun may be incomplete.
        ArchiveError::CutOff { path: self.shown(), objects: self.objects.saturating_sub(1), expected: self.expected }
    }

    fn not_an_archive(&self, found: &'static str) -> ArchiveError {
        ArchiveError::NotAnArchive { path: self.shown(), found }
    }

    /// Reads the next line. A line without its line break is cut off.
    fn advance(&mut self) -> Result<(), ArchiveError> {
        self.line.clear();
        let read = (&mut self.from).take(LONGEST).read_until(b'\n', &mut self.line);
        match read {
            Ok(_) if self.line.len() as u64 == LONGEST => Err(self.too_long()),
            Ok(_) if self.line.ends_with(b"\n") => {
                self.number += 1;
                Ok(())
            }
            Ok(_) => Err(self.cut_off()),
            Err(source) => Err(self.failed(source)),
        }
    }

    /// What it means that it can't be read.
    fn failed(&self, source: io::Error) -> ArchiveError {
        match source.kind() {
            io::ErrorKind::UnexpectedEof if self.packed => self.cut_off(),
            _ if self.packed => ArchiveError::Gzip { path: self.shown(), source },
            _ => ArchiveError::Unreadable { path: self.shown(), source },
        }
    }

    fn too_long(&self) -> ArchiveError {
        ArchiveError::Line { path: self.shown(), line: self.number + 1, why: "it is too long for an object".to_owned() }
    }

    /// The JSON after this beginning, if the line has it.
    fn line_of(&self, beginning: &str) -> Option<&[u8]> {
        self.line.strip_prefix(beginning.as_bytes())
    }

    fn makes_no_sense(&self, error: &serde_json::Error) -> ArchiveError {
        ArchiveError::Line { path: self.shown(), line: self.number, why: error.to_string() }
    }

    /// Reads up to the first object, or to the end line if there is none.
    fn header(&mut self) -> Result<Header, ArchiveError> {
        match self.advance() {
            // Even an incomplete first line may show that this is no archive.
            Err(cut_off @ ArchiveError::CutOff { .. }) => return Err(self.other_file().unwrap_or(cut_off)),
            read => read?,
        }
        if let Some(other) = self.other_file() {
            return Err(other);
        }
        let mut header = None;
        while !self.at_object() && self.line_of(END).is_none() {
            if header.is_none()
                && let Some(json) = self.line_of(HEADER)
            {
                let read: Header = self.checked_header(json)?;
                self.expected = Some(read.objects);
                header = Some(read);
            }
            self.sum.update(&self.line);
            self.advance()?;
        }
        header.ok_or_else(|| self.not_an_archive("it has no header"))
    }

    /// The error for a file whose first line isn't an archive's, or the beginning of one.
    fn other_file(&self) -> Option<ArchiveError> {
        let alike = self.line.len().min(TITLE.len());
        match self.line.as_slice() {
            [] if self.packed => None,
            [] => Some(self.not_an_archive("it is empty")),
            line if line[..alike] == TITLE.as_bytes()[..alike] => None,
            _ => Some(self.not_an_archive("its first line is not that of an archive")),
        }
    }

    /// Parses a header, if this version knows its format.
    fn checked_header(&self, json: &[u8]) -> Result<Header, ArchiveError> {
        let any: Value = serde_json::from_slice(json).map_err(|error| self.makes_no_sense(&error))?;
        let format = any.get("format").and_then(Value::as_u64).unwrap_or(0);
        if format > u64::from(FORMAT) {
            let version = any.get("kubectlGc").and_then(Value::as_str).unwrap_or_default().to_owned();
            return Err(ArchiveError::Newer { path: self.shown(), format, version });
        }
        Header::deserialize(any).map_err(|error| self.makes_no_sense(&error))
    }

    fn at_object(&self) -> bool {
        self.line.strip_suffix(b"\n").is_some_and(|line| line == SEPARATOR.as_bytes())
    }

    /// Reads an object; none at the end line, after verifying it.
    fn object(&mut self) -> Result<Option<Value>, ArchiveError> {
        let (mut bytes, lines_before) = (Vec::new(), self.number);
        if !self.lines_of_object(|line| bytes.extend_from_slice(line))? {
            return Ok(None);
        }
        let path = self.shown();
        let number = self.objects;
        let bad = |why: &str| ArchiveError::Object { path: path.clone(), number, why: why.to_owned() };
        let text = String::from_utf8(bytes).map_err(|_| bad("not UTF-8"))?;
        let document = Document { text: &text, lines_before };
        let read = || {
            yaml::read(&document, |reader| Value::deserialize(reader))
                .map_err(|error| yaml::error(&path, &document, &error))
        };
        let object = yaml::with_stack(&path, read)?;
        let has = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).is_some_and(|text| !text.is_empty());
        if !["/apiVersion", "/kind", "/metadata/name", "/metadata/uid"].into_iter().all(has) {
            return Err(bad("not an object with apiVersion, kind, name and uid"));
        }
        Ok(Some(object))
    }

    /// Passes the lines of the next object to `each`, and stops at the object after it. Returns false at the end line.
    fn lines_of_object(&mut self, mut each: impl FnMut(&[u8])) -> Result<bool, ArchiveError> {
        if !self.at_object() {
            return self.end().map(|()| false);
        }
        self.objects += 1;
        let mut length = 0;
        loop {
            self.sum.update(&self.line);
            self.advance()?;
            length += self.line.len() as u64;
            if length > LONGEST {
                return Err(self.too_long());
            }
            if self.at_object() || self.line_of(END).is_some() {
                return Ok(true);
            }
            each(&self.line);
        }
    }

    /// Verifies the end line against everything before it, and that nothing follows.
    fn end(&mut self) -> Result<(), ArchiveError> {
        let Some(json) = self.line_of(END) else { return Err(self.cut_off()) };
        let end: End = serde_json::from_slice(json).map_err(|error| self.makes_no_sense(&error))?;
        let found = hexadecimal(&self.sum.clone().finalize());
        if found != end.sha256 {
            return Err(ArchiveError::Sum { path: self.shown(), found, expected: end.sha256 });
        }
        self.check_count(end.objects)?;
        let mut more = [0];
        match self.from.read(&mut more) {
            Ok(0) => Ok(()),
            Ok(_) => Err(ArchiveError::AfterEnd { path: self.shown(), line: self.number + 1 }),
            Err(source) => Err(self.failed(source)),
        }
    }

    fn check_count(&self, expected: usize) -> Result<(), ArchiveError> {
        match self.objects == expected {
            true => Ok(()),
            false => Err(ArchiveError::Count { path: self.shown(), found: self.objects, expected }),
        }
    }
}
