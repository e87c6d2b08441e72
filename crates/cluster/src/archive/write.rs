//! Writes an archive: collects objects in an unnamed file, and creates the archive under its name atomically.

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

use crate::dump::folder_of;
use gc_core::{
    model::group_of,
    restore::{self, Need},
};

use super::{Archive, ArchiveError, END, End, HEADER, Header, SEPARATOR, TITLE, yaml};

/// The allowed endings of names, and whether the file is compressed.
const ENDINGS: [(&str, bool); 4] = [(".yaml", false), (".yml", false), (".yaml.gz", true), (".yml.gz", true)];
/// The ending of the names of incomplete files.
const PART: &str = ".part";

/// An archive that is being written. Nothing appears on disk until [`save`](Self::save), and a killed process leaves
/// nothing. If it is killed while saving, it may leave a file `.NAME.….part`, which the next archive of that name
/// removes.
///
/// After a save, more objects can be added and saved: that atomically replaces the file by the longer one.
#[derive(Debug)]
pub struct ArchiveWriter {
    path: PathBuf,
    /// The text of all objects, in an unnamed file that ends with the process.
    spool: BufWriter<File>,
    spooled: u64,
    entries: Vec<Entry>,
    by_uid: FxHashMap<String, usize>,
    /// By group, kind, namespace and name: only one object can have them at a time.
    by_place: FxHashMap<[String; 4], usize>,
    /// The file at the path, once saved.
    saved: Option<File>,
}

#[derive(Debug)]
struct Entry {
    standing: ArchiveEntry,
    api_version: String,
    kind: String,
    /// Where its text begins in the spool.
    start: u64,
    length: u64,
}

/// The content of a saved file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saved {
    /// The uids of its objects, in their order.
    pub uids: Vec<String>,
    /// How many objects of each kind, by apiVersion and kind.
    pub kinds: BTreeMap<(String, String), usize>,
    /// The size of the file.
    pub bytes: u64,
}

impl ArchiveWriter {
    /// Checks that a file can be written at the path, and that none exists, so that errors appear before anything is
    /// read from a cluster.
    ///
    /// # Errors
    /// [`ArchiveError::Name`], `Exists`, `IsFolder`, `NoFolder`, `Unwritable`.
    pub fn create(path: &Path) -> Result<Self, ArchiveError> {
        let shown = || path.display().to_string();
        // Don't follow links: a link counts as an existing file.
        if let Ok(found) = fs::symlink_metadata(path) {
            return Err(match found.is_dir() {
                true => ArchiveError::IsFolder { path: shown() },
                false => ArchiveError::Exists { path: shown(), found: describe(path, &found) },
            });
        }
        if ending(path).is_none() {
            return Err(ArchiveError::Name { path: shown() });
        }
        let folder = folder_of(path);
        if !folder.is_dir() {
            return Err(ArchiveError::NoFolder { path: shown(), folder: folder.display().to_string() });
        }
        clear_away(path);
        Self::begin(path, None)
    }

    /// Without objects yet; `saved` is the file at the path.
    fn begin(path: &Path, saved: Option<File>) -> Result<Self, ArchiveError> {
        let unwritable = |source| ArchiveError::Unwritable { path: path.display().to_string(), source };
        let spool = BufWriter::new(tempfile::tempfile_in(folder_of(path)).map_err(unwritable)?);
        let (path, entries, by_uid, by_place) =
            (path.to_owned(), Vec::new(), FxHashMap::default(), FxHashMap::default());
        Ok(ArchiveWriter { path, spool, spooled: 0, entries, by_uid, by_place, saved })
    }

    /// Continues a complete archive: its objects stay, and the next save replaces the file.
    ///
    /// # Errors
    /// Those of [`Archive::open`]; `Unwritable`.
    pub fn resume(path: &Path) -> Result<(Self, Header), ArchiveError> {
        let archive = Archive::open(path)?;
        let unwritable = |source| ArchiveError::Unwritable { path: path.display().to_string(), source };
        let mut writer = Self::begin(path, Some(File::open(path).map_err(unwritable)?))?;
        for object in archive.objects()? {
            writer.add(object?)?;
        }
        Ok((writer, archive.header().clone()))
    }

    /// Adds an object as the API server returned it, without `managedFields`. Its `resourceVersion` becomes a comment,
    /// because it must not be set on create. Replaces an object with the same uid, or with the same group, kind,
    /// namespace and name: only one of them can be restored.
    ///
    /// # Errors
    /// [`ArchiveError::NoObject`] if it lacks apiVersion, kind, name or uid; `Unwritable`.
    pub fn add(&mut self, mut object: Value) -> Result<(), ArchiveError> {
        let text_at = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (api_version, kind) = (text_at("/apiVersion"), text_at("/kind"));
        let (name, uid) = (text_at("/metadata/name"), text_at("/metadata/uid"));
        let group = group_of(&api_version).to_owned();
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

    /// Whether an object with this uid was added.
    pub fn contains(&self, uid: &str) -> bool {
        self.by_uid.contains_key(uid)
    }

    /// How many objects were added.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Writes all objects, and returns once they are safely on disk under the archive's name. The first save requires
    /// that the name is free; later ones replace the saved file.
    ///
    /// # Errors
    /// `Exists`, `NotOurs`, `Unwritable`. The file that was at the path before is still there.
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
        // The file's name is on disk once its folder is synced.
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

    /// Writes the whole archive to a file with a temporary name, and syncs it to disk.
    fn write_part(&mut self, header: &Header, order: &[usize]) -> io::Result<NamedTempFile> {
        self.spool.flush()?;
        // Created readable by its owner only: it may contain Secrets.
        let part = tempfile::Builder::new()
            .prefix(&part_prefix(&self.path))
            .suffix(PART)
            .tempfile_in(folder_of(&self.path))?;
        // The lock shows that the file is in use. Where locks don't work, `clear_away` removes nothing either.
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

/// JSON for a comment: it escapes line breaks that JSON allows, but that would end the comment in YAML.
fn one_line(value: &impl serde::Serialize) -> io::Result<String> {
    let mut line = String::new();
    for c in serde_json::to_string(value)?.chars() {
        match c {
            ' '..='~' => line.push(c),
            // Outside ASCII there are only strings, which may contain escapes.
            c => c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| line.push_str(&format!("\\u{unit:04x}"))),
        }
    }
    Ok(line)
}

/// Writes on, and computes the checksum.
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

/// In the format of `sha256sum`.
pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whether a path's file is compressed; `None` if its name isn't an archive's.
fn ending(path: &Path) -> Option<bool> {
    let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
    ENDINGS
        .into_iter()
        .find(|(ending, _)| name.len() > ending.len() && name.ends_with(ending))
        .map(|(_, packed)| packed)
}

/// Describes the existing file, for users who run the same command twice.
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

/// The prefix of temporary names. Names may have 255 bytes: leave room for the rest.
fn part_prefix(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    format!(".{}.", &name[..name.floor_char_boundary(200)])
}

/// Removes files that killed runs left for the same name. A file in use is locked.
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
            // Ignore errors: a file that can't be removed does no harm.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Whether this file is the one at the path.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let same = |(one, other): (fs::Metadata, fs::Metadata)| (one.dev(), one.ino()) == (other.dev(), other.ino());
    file.metadata().ok().zip(fs::symlink_metadata(path).ok()).is_some_and(same)
}

/// Whether this file is the one at the path, as far as its metadata shows.
#[cfg(not(unix))]
fn is_at(file: &File, path: &Path) -> bool {
    let same = |(one, other): (fs::Metadata, fs::Metadata)| {
        (one.len(), one.created().ok()) == (other.len(), other.created().ok()) && other.is_file()
    };
    file.metadata().ok().zip(fs::symlink_metadata(path).ok()).is_some_and(same)
}

/// What decides an object's position.
#[derive(Clone, Debug)]
pub(super) struct ArchiveEntry {
    pub uid: String,
    /// The uids that its owner references name.
    pub owners: Vec<String>,
    pub rank: u8,
}

/// How early a kind must be created; the same for a restore and for kubectl.
pub(super) fn rank(api_version: &str, kind: &str) -> u8 {
    restore::rank(group_of(api_version), kind)
}

/// Indices in creation order: every object after its owners; apart from that by rank, then in the given order. A circle
/// of owners is opened at one of its objects.
pub(super) fn creatable(objects: &[ArchiveEntry]) -> Vec<usize> {
    let by_uid: FxHashMap<&str, usize> =
        objects.iter().enumerate().map(|(index, object)| (object.uid.as_str(), index)).collect();
    let needs = |object: &ArchiveEntry| {
        let owners = object.owners.iter().enumerate();
        let need = |(reference, uid): (usize, &String)| {
            Some(Need { item: *by_uid.get(uid.as_str())?, reference: Some(reference) })
        };
        owners.filter_map(need).collect()
    };
    let needs: Vec<Vec<Need>> = objects.iter().map(needs).collect();
    let ranks: Vec<u8> = objects.iter().map(|object| object.rank).collect();
    let all: Vec<usize> = (0..objects.len()).collect();
    restore::creation_order(&all, &ranks, &needs).steps.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `name rank <- owner owner`
    fn ordered(lines: &[&str]) -> Vec<String> {
        let objects: Vec<ArchiveEntry> = lines
            .iter()
            .map(|line| {
                let mut words = line.split_whitespace().filter(|word| *word != "<-");
                let uid = words.next().unwrap().to_owned();
                let rank = words.next().unwrap().parse().unwrap();
                ArchiveEntry { uid, rank, owners: words.map(str::to_owned).collect() }
            })
            .collect();
        creatable(&objects).into_iter().map(|index| objects[index].uid.clone()).collect()
    }

    #[test]
    fn owners_come_before_their_dependents_and_the_rest_by_rank() {
        assert_eq!(
            ordered(&["pod 4 <- set", "set 4 <- web web", "web 4", "config 3", "shop 0"]),
            ["shop", "config", "web", "set", "pod"]
        );
        assert_eq!(ordered(&["secret 3 <- crd-object", "crd-object 4", "crd 1"]), ["crd", "crd-object", "secret"]);
        assert_eq!(ordered(&["pod 4 <- gone", "a 4"]), ["pod", "a"], "an owner that isn't there is not waited for");
    }

    #[test]
    fn circles_are_begun_somewhere_and_nothing_is_lost() {
        assert_eq!(
            ordered(&["below 4 <- b", "a 4 <- b", "b 4 <- a", "self 4 <- self", "free 4"]),
            ["self", "free", "a", "b", "below"]
        );
        assert_eq!(ordered(&["b 4 <- a", "a 3 <- b", "leaf 4 <- b"]), ["a", "b", "leaf"]);
        assert_eq!(ordered(&["self 4 <- self"]), ["self"]);
    }

    #[test]
    fn ten_thousands_in_a_chain_are_no_trouble() {
        let line =
            |number: usize| ArchiveEntry { uid: number.to_string(), owners: vec![(number + 1).to_string()], rank: 4 };
        let objects: Vec<ArchiveEntry> = (0..50_000).map(line).collect();
        assert_eq!(creatable(&objects), (0..50_000).rev().collect::<Vec<_>>());
    }
}
