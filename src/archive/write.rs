//! Writing an archive: objects are collected in a nameless file, and appear under the archive's name all at once, or
//! never.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, BufWriter, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use flate2::{Compression, write::GzEncoder};
use rustc_hash::FxHashMap;
use serde_json::Value;
use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;

use super::{
    Archive, ArchiveError, END, End, HEADER, Header, SEPARATOR, TITLE,
    order::{ArchiveEntry, creatable, rank},
    yaml,
};

/// How names end, and whether what is in the file is compressed.
const ENDINGS: [(&str, bool); 4] = [(".yaml", false), (".yml", false), (".yaml.gz", true), (".yml.gz", true)];
/// The end of names of files that are not complete yet.
const PART: &str = ".part";

/// An archive in the making. Until [`save`](Self::save), nothing is to be seen of it, and a process that is killed
/// leaves nothing; in the midst of saving, it may leave a file `.NAME.….part`, which the next archive of that name
/// clears away.
///
/// What was saved can be added to and saved again: the file is then replaced by the longer one, never by a part of it.
#[derive(Debug)]
pub struct ArchiveWriter {
    path: PathBuf,
    /// Holds the texts of the objects; it has no name, and goes with the process.
    spool: BufWriter<File>,
    spooled: u64,
    entries: Vec<Entry>,
    by_uid: FxHashMap<String, usize>,
    /// By group, kind, namespace and name: there can be one object of each at a time.
    by_place: FxHashMap<[String; 4], usize>,
    /// The file that is at the path since it was saved.
    saved: Option<File>,
}

#[derive(Debug)]
struct Entry {
    standing: ArchiveEntry,
    api_version: String,
    kind: String,
    /// Where its text is in the spool.
    start: u64,
    length: u64,
}

/// What is in a file now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saved {
    /// The uids of its objects, in its order.
    pub uids: Vec<String>,
    /// How many there are of each kind, by apiVersion and kind.
    pub kinds: BTreeMap<(String, String), usize>,
    /// How long the file is.
    pub bytes: u64,
}

impl ArchiveWriter {
    /// Checks that a file can be written at the path, and that there is none: what is wrong shows before anything is
    /// read of a cluster.
    ///
    /// # Errors
    /// [`ArchiveError::Name`], `Exists`, `IsFolder`, `NoFolder`, `Unwritable`.
    pub fn create(path: &Path) -> Result<Self, ArchiveError> {
        let path = path.to_owned();
        let shown = || path.display().to_string();
        let unwritable = |source| ArchiveError::Unwritable { path: shown(), source };
        // A link's target is not looked at: a name is either free or not.
        if let Ok(found) = fs::symlink_metadata(&path) {
            return Err(match found.is_dir() {
                true => ArchiveError::IsFolder { path: shown() },
                false => ArchiveError::Exists { path: shown(), found: describe(&path, &found) },
            });
        }
        if ending(&path).is_none() {
            return Err(ArchiveError::Name { path: shown() });
        }
        let folder = folder_of(&path);
        if !folder.is_dir() {
            return Err(ArchiveError::NoFolder { path: shown(), folder: folder.display().to_string() });
        }
        clear_away(&path);
        let spool = tempfile::tempfile_in(folder).map_err(unwritable)?;
        let (spool, entries) = (BufWriter::new(spool), Vec::new());
        let (by_uid, by_place) = Default::default();
        Ok(ArchiveWriter { path, spool, spooled: 0, entries, by_uid, by_place, saved: None })
    }

    /// Goes on with an archive that is complete: what is in it stays in it, and the file is replaced once more is
    /// saved.
    ///
    /// # Errors
    /// What is wrong with the archive; `Unwritable`.
    pub fn resume(path: &Path) -> Result<(Self, Header), ArchiveError> {
        let archive = Archive::open(path)?;
        let unwritable = |source| ArchiveError::Unwritable { path: path.display().to_string(), source };
        let spool = tempfile::tempfile_in(folder_of(path)).map_err(unwritable)?;
        let saved = Some(File::open(path).map_err(unwritable)?);
        let (spool, entries) = (BufWriter::new(spool), Vec::new());
        let (by_uid, by_place) = Default::default();
        let mut writer = ArchiveWriter { path: path.to_owned(), spool, spooled: 0, entries, by_uid, by_place, saved };
        for object in archive.objects()? {
            writer.add(object?)?;
        }
        Ok((writer, archive.header().clone()))
    }

    /// Takes an object as the API server gave it. Of what that said nothing is left out but `managedFields`; its
    /// `resourceVersion`, with which nothing can be created, becomes a comment. An object that is known already, by its
    /// uid, is replaced, and so is one whose place it has taken: only one of them can be brought back.
    ///
    /// # Errors
    /// [`ArchiveError::NoObject`] for what lacks what makes it an object; `Unwritable`.
    pub fn add(&mut self, mut object: Value) -> Result<(), ArchiveError> {
        let text_at = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (api_version, kind) = (text_at("/apiVersion"), text_at("/kind"));
        let (name, uid) = (text_at("/metadata/name"), text_at("/metadata/uid"));
        let group = api_version.split_once('/').map_or("", |(group, _)| group).to_owned();
        let place = [group, kind.clone(), text_at("/metadata/namespace"), name.clone()];
        let needed = [("apiVersion", &api_version), ("kind", &kind), ("name", &name), ("uid", &uid)];
        if let Some((field, _)) = needed.into_iter().find(|(_, text)| text.is_empty()) {
            return Err(ArchiveError::NoObject { field, object: format!("{kind}/{name}") });
        }
        let owners =
            object.pointer("/metadata/ownerReferences").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let owners = owners.iter().filter_map(|owner| owner.get("uid")?.as_str().map(str::to_owned)).collect();
        let standing = ArchiveEntry { uid: uid.clone(), owners, rank: rank(&api_version, &kind) };

        let mut text = format!("{SEPARATOR}\n");
        if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.remove("managedFields");
            if let Some(version) = metadata.remove("resourceVersion") {
                text.push_str("# resourceVersion ");
                yaml::quoted(version.as_str().unwrap_or_default(), &mut text);
                text.push('\n');
            }
        }
        yaml::write(&object, &mut text);
        self.spool.write_all(text.as_bytes()).map_err(|source| self.unwritable(source))?;
        let entry = Entry { standing, api_version, kind, start: self.spooled, length: text.len() as u64 };
        self.spooled += entry.length;
        let known = self.by_uid.get(&uid).or_else(|| self.by_place.get(&place)).copied();
        let index = known.unwrap_or(self.entries.len());
        match self.entries.get_mut(index) {
            Some(before) => {
                self.by_uid.remove(&before.standing.uid);
                *before = entry;
            }
            None => self.entries.push(entry),
        }
        self.by_uid.insert(uid, index);
        self.by_place.insert(place, index);
        Ok(())
    }

    /// Whether an object of this uid was taken.
    pub fn contains(&self, uid: &str) -> bool {
        self.by_uid.contains_key(uid)
    }

    /// How many objects were taken.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether no object was taken.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Writes all objects that were taken, and returns when they are safe: on the disk, under the archive's name. The
    /// first time, that must still be free; from then on, the file that was saved is replaced by the new one.
    ///
    /// # Errors
    /// `Exists`, `NotOurs`, `Unwritable`; what was at the path before is then still there.
    pub fn save(&mut self, header: &Header) -> Result<Saved, ArchiveError> {
        if self.saved.as_ref().is_some_and(|saved| !is_at(saved, &self.path)) {
            return Err(ArchiveError::NotOurs { path: self.path.display().to_string() });
        }
        let standings: Vec<ArchiveEntry> = self.entries.iter().map(|entry| entry.standing.clone()).collect();
        let order = creatable(&standings);
        let written = self.write_part(header, &order).map_err(|source| self.unwritable(source))?;
        let persisted = match self.saved {
            Some(_) => written.persist(&self.path),
            None => written.persist_noclobber(&self.path),
        };
        let file = persisted.map_err(|error| match error.error.kind() {
            io::ErrorKind::AlreadyExists => ArchiveError::Exists { path: self.path.display().to_string(), found: None },
            _ => self.unwritable(error.error),
        })?;
        let bytes = file.metadata().map_err(|source| self.unwritable(source))?.len();
        self.saved = Some(file);
        // The name is on the disk when the folder is.
        #[cfg(unix)]
        File::open(folder_of(&self.path))
            .and_then(|folder| folder.sync_all())
            .map_err(|source| self.unwritable(source))?;
        let mut kinds = BTreeMap::new();
        for entry in &self.entries {
            *kinds.entry((entry.api_version.clone(), entry.kind.clone())).or_default() += 1;
        }
        Ok(Saved { kinds, uids: order.iter().map(|index| standings[*index].uid.clone()).collect(), bytes })
    }

    /// The whole archive in a file that does not have its name yet; the system keeps it, whatever happens then.
    fn write_part(&mut self, header: &Header, order: &[usize]) -> io::Result<NamedTempFile> {
        self.spool.flush()?;
        // For nobody but its owner from the first byte on: there may be Secrets in it.
        let part = tempfile::Builder::new()
            .prefix(&part_prefix(&self.path))
            .suffix(PART)
            .tempfile_in(folder_of(&self.path))?;
        // Says that it isn't a left-over. Where nothing can be locked, nothing is cleared away, either.
        let _ = part.as_file().try_lock();
        let mut to = BufWriter::new(part);
        if ending(&self.path) == Some(true) {
            let mut packed = GzEncoder::new(to, Compression::default());
            self.write_text(header, order, &mut packed)?;
            to = packed.finish()?;
        } else {
            self.write_text(header, order, &mut to)?;
        }
        let part = to.into_inner().map_err(io::IntoInnerError::into_error)?;
        part.as_file().sync_all()?;
        Ok(part)
    }

    fn write_text(&mut self, header: &Header, order: &[usize], to: &mut dyn Write) -> io::Result<()> {
        let mut to = Summed { to, sum: Sha256::new() };
        let header = Header { objects: order.len(), ..header.clone() };
        let mut from = String::new();
        yaml::quoted(if header.context.is_empty() { &header.server } else { &header.context }, &mut from);
        writeln!(to, "{TITLE}as they were in {from} at {}.", header.time.escape_default())?;
        writeln!(to, "# Restore them with: kubectl gc restore FILE")?;
        writeln!(to, "{HEADER}{}", one_line(&header)?)?;
        let spool = self.spool.get_mut();
        for index in order {
            let entry = &self.entries[*index];
            spool.seek(SeekFrom::Start(entry.start))?;
            let copied = io::copy(&mut spool.take(entry.length), &mut to)?;
            if copied != entry.length {
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the collected objects are missing"));
            }
        }
        spool.seek(SeekFrom::Start(self.spooled))?;
        let end = End { objects: order.len(), sha256: hexadecimal(&to.sum.clone().finalize()) };
        writeln!(to, "{END}{}", one_line(&end)?)
    }

    fn unwritable(&self, source: io::Error) -> ArchiveError {
        ArchiveError::Unwritable { path: self.path.display().to_string(), source }
    }
}

/// JSON as it may stand in a comment, which YAML ends at line breaks that JSON doesn't mind.
fn one_line(value: &impl serde::Serialize) -> io::Result<String> {
    let mut line = String::new();
    for c in serde_json::to_string(value)?.chars() {
        match c {
            ' '..='~' => line.push(c),
            // Outside of ASCII there are only texts, in which escapes may stand.
            c => c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| line.push_str(&format!("\\u{unit:04x}"))),
        }
    }
    Ok(line)
}

/// Sums up what passes.
struct Summed<'w> {
    to: &'w mut dyn Write,
    sum: Sha256,
}

impl Write for Summed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.to.write(bytes)?;
        self.sum.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// As `sha256sum` writes it.
pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whether a path's file is compressed; `None` if its name doesn't say that it is an archive.
fn ending(path: &Path) -> Option<bool> {
    let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
    ENDINGS
        .into_iter()
        .find(|(ending, _)| name.len() > ending.len() && name.ends_with(ending))
        .map(|(_, packed)| packed)
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// What is at the archive's name already, for whoever runs the same command again.
fn describe(path: &Path, found: &fs::Metadata) -> Option<String> {
    if found.is_symlink() {
        return Some("a symbolic link".to_owned());
    }
    if !found.is_file() {
        return None;
    }
    let archive = Archive::open(path).ok()?;
    Some(format!("a complete archive with {} objects, of {}", archive.header().objects, archive.header().time))
}

/// How the name of a file begins that is not complete yet. Names may be 255 bytes long, of which some are left for the
/// rest.
fn part_prefix(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    format!(".{}.", &name[..name.floor_char_boundary(200)])
}

/// Removes what killed runs for the same name have left. What is being written is locked.
fn clear_away(path: &Path) {
    let Ok(entries) = fs::read_dir(folder_of(path)) else { return };
    let prefix = part_prefix(path);
    for entry in entries.flatten() {
        let of_this = |other: &str| {
            let random = other.strip_prefix(&prefix).and_then(|rest| rest.strip_suffix(PART));
            random.is_some_and(|random| random.len() == 6 && random.chars().all(|c| c.is_ascii_alphanumeric()))
        };
        if of_this(&entry.file_name().to_string_lossy())
            && entry.file_type().is_ok_and(|kind| kind.is_file())
            && File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok())
        {
            // What can't be removed is in nobody's way.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Whether a file is what is at a path.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let same = |(one, other): (fs::Metadata, fs::Metadata)| (one.dev(), one.ino()) == (other.dev(), other.ino());
    file.metadata().ok().zip(fs::symlink_metadata(path).ok()).is_some_and(same)
}

/// Whether a file is what is at a path, as far as can be told.
#[cfg(not(unix))]
fn is_at(file: &File, path: &Path) -> bool {
    let same = |(one, other): (fs::Metadata, fs::Metadata)| {
        (one.len(), one.created().ok()) == (other.len(), other.created().ok()) && other.is_file()
    };
    file.metadata().ok().zip(fs::symlink_metadata(path).ok()).is_some_and(same)
}
