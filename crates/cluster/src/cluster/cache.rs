//! What servers served the last time, in files below kubectl's cache folder.

use std::{
    fs::{self, File},
    hash::{Hash as _, Hasher as _},
    io::{self, Write as _},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use rustc_hash::FxHasher;
use serde::Deserialize;

use crate::bounded;
use gc_core::model::{Resource, Resources};

use super::kubeconfig::Environment;

/// How long a file is used, as in kubectl.
const TIME_TO_LIVE: Duration = Duration::from_hours(6);
/// When files of other servers and users are removed: most will never be asked again.
const FORGOTTEN: Duration = Duration::from_hours(30 * 24);
/// The largest file to read or to write: of about 15,000 kinds.
const LARGEST: u64 = 4 << 20;
/// Our folder in kubectl's cache.
const FOLDER: &str = "gc";
const EXTENSION: &str = "discovery";

/// What one server served to one user the last time, in a file below kubectl's cache folder.
///
/// Nothing is concluded from it: it says only which lists are worth beginning. So a file that is missing, old, broken
/// or made up costs time, and nothing else. kubectl's own files are not read: they are one for each group version, and
/// lack what the server prefers.
#[derive(Clone, Debug)]
pub(super) struct DiscoveryCache {
    file: PathBuf,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Content {
    resources: Vec<Resource>,
    preferred_versions: Vec<(String, String)>,
}

/// kubectl's cache folder: the flag's, else the environment's, else the one in the home folder.
pub(super) fn cache_folder(flag: Option<&Path>, environment: &dyn Environment) -> Option<PathBuf> {
    let variable = || environment.variable("KUBECACHEDIR").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let usual = || environment.home().map(|home| home.join(".kube").join("cache"));
    flag.map(Path::to_owned).or_else(variable).or_else(usual)
}

impl DiscoveryCache {
    /// The file of a server (URL), which may be another one with another authority, and of who asks: a gateway may show
    /// each user other resources. Named as kubectl's folders for servers are (client-go's `computeDiscoverCacheDir`).
    pub(super) fn of(cache: &Path, server: &str, authority: Option<&[Vec<u8>]>, who: &str) -> Self {
        let mut hasher = FxHasher::default();
        (server, authority, who).hash(&mut hasher);
        let host = server.split_once("://").map_or(server, |(_, host)| host);
        let legal = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '_' };
        let host: String = host.chars().take(100).map(legal).collect();
        let name = format!("{host}-{:016x}.{EXTENSION}", hasher.finish());
        DiscoveryCache { file: cache.join(FOLDER).join(name) }
    }

    /// What was served the last time, if that isn't long ago.
    pub(super) fn read(&self) -> Option<Resources> {
        let Content { resources, preferred_versions } = serde_json::from_slice(&self.bytes()?).ok()?;
        let is_name = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte));
        let are_names =
            |resource: &Resource| [&resource.group, &resource.version, &resource.plural].map(|it| is_name(it));
        let valid = resources.iter().all(|resource| are_names(resource) == [true; 3]);
        valid.then(|| Resources::new(resources, preferred_versions))
    }

    /// Keeps what is served for the next time. What can't be written isn't kept.
    pub(super) fn write(&self, resources: &Resources) {
        let all: Vec<&Resource> = resources.iter().map(|(_, resource)| resource).collect();
        let content = serde_json::json!({"resources": all, "preferredVersions": resources.preferred_versions()});
        let content = content.to_string().into_bytes();
        if content.len() as u64 <= LARGEST && self.bytes().as_ref() != Some(&content) {
            // Ignore errors: the next run is slower.
            let _ = self.replace(&content);
        }
    }

    /// The file's content, unless it is too old or too large. Not even opened if it is a pipe, which would hold up the
    /// program. Whose it is doesn't matter: nothing is concluded from it.
    fn bytes(&self) -> Option<Vec<u8>> {
        let about = fs::metadata(&self.file).ok()?;
        let young = about.modified().ok()?.elapsed().is_ok_and(|age| age < TIME_TO_LIVE);
        (about.is_file() && young).then(|| bounded::read(File::open(&self.file).ok()?, LARGEST).ok())?
    }

    /// Replaces the file at once: nobody reads half of it.
    fn replace(&self, content: &[u8]) -> io::Result<()> {
        let folder = self.file.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        if !self.file.exists() {
            forget_others(folder);
        }
        // Only its owner can read or write it; a link in its place is replaced, not followed.
        let mut file = tempfile::Builder::new().suffix(&format!(".{EXTENSION}")).tempfile_in(folder)?;
        file.write_all(content)?;
        file.persist(&self.file)?;
        Ok(())
    }
}

/// Removes files that were not written for long.
fn forget_others(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_file = entry.path().extension().is_some_and(|extension| extension == EXTENSION);
        let written = entry.metadata().and_then(|about| about.modified());
        let age = written.ok().and_then(|written| SystemTime::now().duration_since(written).ok());
        if is_file && age.is_some_and(|age| age > FORGOTTEN) {
            // Ignore errors: somebody else may have removed it.
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::testing::pods;

    fn served() -> Resources {
        Resources::new(vec![pods()], vec![("apps".to_owned(), "v1".to_owned())])
    }

    fn describe(resources: &Resources) -> String {
        let all: Vec<&Resource> = resources.iter().map(|(_, resource)| resource).collect();
        format!("{all:?} {:?}", resources.preferred_versions())
    }

    fn in_folder(folder: &Path) -> DiscoveryCache {
        DiscoveryCache::of(folder, "https://10.0.0.1:6443", None, "user me")
    }

    #[test]
    fn what_was_served_is_kept_for_its_owner() {
        let folder = tempfile::tempdir().unwrap();
        let cache = in_folder(&folder.path().join("a/b"));
        assert!(cache.read().is_none());
        cache.write(&served());
        assert_eq!(describe(&cache.read().unwrap()), describe(&served()));
        let written = fs::metadata(&cache.file).unwrap().modified().unwrap();
        cache.write(&served());
        assert_eq!(fs::metadata(&cache.file).unwrap().modified().unwrap(), written, "nothing new is not written");
        cache.write(&Resources::default());
        assert!(cache.read().unwrap().is_empty());
        let ours = cache.file.parent().unwrap();
        assert_eq!(fs::read_dir(ours).unwrap().count(), 1, "only the file itself is left");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;

            let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!(mode(&cache.file), 0o600);
        }
    }

    #[test]
    fn servers_and_users_have_their_own_files() {
        let ca = [vec![1_u8]];
        let folder = Path::new("/c");
        let of = |server, authority, who| DiscoveryCache::of(folder, server, authority, who).file;
        let files = [
            of("https://h:6443", None, ""),
            of("https://h:6443", Some(&ca[..]), ""),
            of("https://h:6443", None, "user a"),
            of("http://h:6443", None, ""),
            of("https://h:6443/../../x", None, ""),
            of(&format!("https://{}/a", "h".repeat(5000)), None, ""),
        ];
        let distinct: std::collections::BTreeSet<&PathBuf> = files.iter().collect();
        assert_eq!(distinct.len(), files.len());
        for file in &files {
            assert_eq!(file.parent(), Some(Path::new("/c/gc")), "{file:?}");
            assert!(file.file_name().unwrap().len() < 200);
        }
        assert!(files[0].to_str().unwrap().starts_with("/c/gc/h_6443-"), "{:?}", files[0]);
    }

    #[test]
    fn what_is_no_answer_of_ours_is_ignored() {
        let folder = tempfile::tempdir().unwrap();
        let cache = in_folder(folder.path());
        cache.write(&served());
        let good = fs::read(&cache.file).unwrap();
        let elsewhere = String::from_utf8(good.clone()).unwrap().replace("\"pods\"", "\"pods/../../x\"");
        let too_large = [&good[..], &vec![b' '; LARGEST as usize]].concat();
        for bad in [&good[..good.len() / 2], b"", b"[]", b"\0\xff", elsewhere.as_bytes(), &too_large] {
            fs::write(&cache.file, bad).unwrap();
            assert!(cache.read().is_none(), "{:?}", &bad[..bad.len().min(60)]);
        }
        cache.write(&served());
        assert_eq!(fs::read(&cache.file).unwrap(), good, "and replaced");
        for age in [TIME_TO_LIVE + Duration::from_mins(1), Duration::ZERO] {
            let file = fs::OpenOptions::new().write(true).open(&cache.file).unwrap();
            let then = SystemTime::now() - age;
            file.set_modified(if age.is_zero() { then + Duration::from_hours(1) } else { then }).unwrap();
            assert!(cache.read().is_none(), "too old, or from the future");
        }
        cache.write(&served());
        assert!(cache.read().is_some(), "written anew because of its age");
    }

    /// robustness input: a link, a pipe and a folder in place of a cached discovery, and a link to what it must not
    ///   write | each | as without a cache
    #[cfg(unix)]
    #[test]
    fn what_is_no_file_is_ignored() {
        use std::os::unix::fs::symlink;

        let folder = tempfile::tempdir().unwrap();
        let cache = in_folder(folder.path());
        cache.write(&served());
        fs::remove_file(&cache.file).unwrap();
        let made = std::process::Command::new("mkfifo").arg(&cache.file).status().unwrap();
        assert!(made.success() && cache.read().is_none(), "a pipe, which must not hold up anything");
        fs::remove_file(&cache.file).unwrap();
        fs::create_dir(&cache.file).unwrap();
        cache.write(&served());
        assert!(cache.read().is_none() && cache.file.is_dir(), "a folder");
        fs::remove_dir(&cache.file).unwrap();
        let other = folder.path().join("other");
        fs::write(&other, "mine").unwrap();
        symlink(&other, &cache.file).unwrap();
        assert!(cache.read().is_none(), "a link to something else");
        cache.write(&served());
        assert!(cache.read().is_some() && fs::read(&other).unwrap() == b"mine", "only the link is replaced");
    }

    #[test]
    fn what_cannot_be_written_is_not_kept() {
        let cache = in_folder(Path::new("/dev/null"));
        cache.write(&served());
        assert!(cache.read().is_none());
    }

    #[test]
    fn files_of_long_ago_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let old = DiscoveryCache::of(folder.path(), "https://old", None, "");
        old.write(&served());
        let other = old.file.with_extension("txt");
        fs::write(&other, "").unwrap();
        for file in [&old.file, &other] {
            let file = fs::OpenOptions::new().write(true).open(file).unwrap();
            file.set_modified(SystemTime::now() - 2 * FORGOTTEN).unwrap();
        }
        in_folder(folder.path()).write(&served());
        assert!(!old.file.exists() && other.exists());
    }

    /// kubectl flag: `--cache-dir`, and `KUBECACHEDIR` | same: with our own files, in the folder `gc`
    #[test]
    fn the_cache_is_where_kubectl_has_it() {
        struct Set(Option<&'static str>, Option<&'static str>);

        impl Environment for Set {
            fn variable(&self, name: &str) -> Option<std::ffi::OsString> {
                (name == "KUBECACHEDIR").then_some(self.0?.into())
            }

            fn home(&self) -> Option<PathBuf> {
                self.1.map(PathBuf::from)
            }
        }

        let at = |flag: Option<&str>, variable, home| cache_folder(flag.map(Path::new), &Set(variable, home));
        assert_eq!(at(Some("/f"), Some("/v"), Some("/h")), Some("/f".into()));
        assert_eq!(at(None, Some("/v"), Some("/h")), Some("/v".into()));
        assert_eq!(at(None, Some(""), Some("/h")), Some("/h/.kube/cache".into()));
        assert_eq!(at(None, None, None), None);
    }
}
