//! Lists that are asked for while discovery is still on its way, by what the server served the last time, or else by
//! what Kubernetes serves by default.
//!
//! They spare a command the wait, and decide nothing: a list counts only if discovery, read in this run, wants the very
//! same request. The others are dropped, and what was not expected is listed once discovery names it.

use std::{
    fs::{self, File},
    hash::{Hash as _, Hasher as _},
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, SystemTime},
};

use futures::StreamExt as _;
use http::StatusCode;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use serde::Deserialize;
use tokio::{sync::oneshot, task::JoinSet};

use crate::bounded;
use gc_core::model::{Resource, Resources};

use super::{
    Connection, Exchange, Progress, answer::Answer, error::Failure, kubeconfig::Environment, request::LARGEST_LIST,
};

/// The size of the answers that may wait for discovery, in bytes; further lists are read after it.
const MOST_WAITING: usize = 4 << 20;

/// A GET: its URL and its Accept header.
pub(super) type Get = (String, &'static str);

/// The first try of a request.
struct Tried {
    outcome: Result<Answer, Failure>,
    /// The server's warnings. They are told only if the answer is used.
    warnings: Vec<String>,
}

/// The first pages of lists that are under way. Dropping this ends the others.
#[derive(Default)]
pub struct EarlyLists {
    tries: Mutex<FxHashMap<Get, oneshot::Receiver<Tried>>>,
    /// Dropping it ends them.
    _sending: JoinSet<()>,
}

impl EarlyLists {
    /// Drops all requests but these.
    pub(super) fn keep(&self, wanted: &FxHashSet<Get>) {
        self.tries.lock().unwrap_or_else(PoisonError::into_inner).retain(|get, _| wanted.contains(get));
    }

    /// The outcome of a request that was sent early; once, because the next time it would be old.
    pub(super) async fn take(&self, get: &Get, progress: &dyn Progress) -> Option<Result<Answer, Failure>> {
        let tried = self.tries.lock().unwrap_or_else(PoisonError::into_inner).remove(get)?;
        let Tried { outcome, warnings } = tried.await.ok()?;
        // Discovery, which has answered since, names it: it is served by now.
        if outcome.as_ref().is_ok_and(|answer| answer.status == StatusCode::NOT_FOUND) {
            return None;
        }
        warnings.iter().for_each(|warning| progress.warned(warning));
        Some(outcome)
    }
}

impl Connection {
    /// Sends these requests, at most `at_once` at a time, in this order. Needs a tokio runtime.
    pub(super) fn send_early(&self, gets: Vec<Get>, at_once: usize) -> EarlyLists {
        let (mut tries, mut requests) = (FxHashMap::default(), Vec::new());
        for get in gets {
            let (sender, receiver) = oneshot::channel();
            requests.push((get.clone(), sender));
            tries.insert(get, receiver);
        }
        let (connection, waiting) = (self.clone(), Arc::new(AtomicUsize::new(0)));
        let sending = futures::stream::iter(requests).for_each_concurrent(at_once, move |(get, mut sender)| {
            let (connection, waiting) = (connection.clone(), waiting.clone());
            async move {
                if sender.is_closed() || waiting.load(Ordering::Relaxed) > MOST_WAITING {
                    return;
                }
                let tried = tokio::select! {
                    tried = connection.try_early(&get) => tried,
                    () = sender.closed() => return,
                };
                waiting.fetch_add(tried.outcome.as_ref().map_or(0, |answer| answer.body.len()), Ordering::Relaxed);
                drop(sender.send(tried));
            }
        });
        EarlyLists { tries: Mutex::new(tries), _sending: JoinSet::from_iter([sending]) }
    }

    async fn try_early(&self, (url, accept): &Get) -> Tried {
        let held = Arc::new(HeldWarnings { progress: self.progress.clone(), warnings: Mutex::default() });
        let connection = self.clone().with_progress(held.clone());
        let outcome = connection.send_get(url, accept, LARGEST_LIST).await;
        let warnings = std::mem::take(&mut *held.warnings.lock().unwrap_or_else(PoisonError::into_inner));
        Tried { outcome, warnings }
    }
}

/// Passes on everything but warnings.
struct HeldWarnings {
    progress: Arc<dyn Progress>,
    warnings: Mutex<Vec<String>>,
}

impl Progress for HeldWarnings {
    fn started(&self, lists: usize) {
        self.progress.started(lists);
    }

    fn list_done(&self, resource: &Resource, objects: usize) {
        self.progress.list_done(resource, objects);
    }

    fn exchanged(&self, exchange: &Exchange<'_>) {
        self.progress.exchanged(exchange);
    }

    fn warned(&self, text: &str) {
        self.warnings.lock().unwrap_or_else(PoisonError::into_inner).push(text.to_owned());
    }

    fn untested(&self, text: &str) {
        self.progress.untested(text);
    }
}

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
    use crate::cluster::{
        Scope, Wanted,
        testing::{RecordedRequest, Say, json, pods, refuse, serve},
    };
    use gc_core::model::{Resources, Snapshot};

    /// Warnings, and the URLs of all requests that ended.
    #[derive(Default)]
    struct Told(Mutex<Vec<String>>);

    impl Progress for Told {
        fn warned(&self, text: &str) {
            self.0.lock().unwrap().push(text.to_owned());
        }

        fn exchanged(&self, exchange: &Exchange<'_>) {
            self.0.lock().unwrap().push(exchange.url.to_owned());
        }
    }

    const PODS: &str = "/api/v1/pods?limit=500";

    fn named(plural: &str) -> Resource {
        let verbs = ["delete", "list", "watch"].map(str::to_owned).to_vec();
        Resource { plural: plural.to_owned(), kind: format!("Kind of {plural}"), verbs, ..pods() }
    }

    /// Begins the lists of what was served, and once all have ended reads what is served. Returns what was told, too.
    async fn read(
        before: &[&str],
        now: &[&str],
        answer: impl Fn(&RecordedRequest) -> Say + Send + Sync + 'static,
    ) -> (Snapshot, Vec<String>) {
        let told = Arc::new(Told::default());
        let connection = serve(answer).await.with_progress(told.clone());
        let [before, now] =
            [before, now].map(|names| Resources::new(names.iter().map(|name| named(name)).collect(), Vec::new()));
        let wanted = Wanted { scope: Scope::Everything, whole: Vec::new(), targets: Vec::new(), instead: Vec::new() };
        let mut early = connection.begin_lists(&before, &wanted);
        while early._sending.join_next().await.is_some() {}
        let (snapshot, nothing) = connection.read_some(now, &wanted, &early).await.unwrap();
        assert!(nothing.is_none() && early.tries.lock().unwrap().is_empty());
        let mut told = told.0.lock().unwrap().clone();
        told.sort();
        (snapshot, told)
    }

    fn one(name: &str) -> Say {
        json(200, format!(r#"{{"kind":"XList","items":[{{"metadata":{{"name":"{name}","uid":"u-{name}"}}}}]}}"#))
    }

    fn names(snapshot: &Snapshot) -> Vec<&str> {
        snapshot.objects().map(|(_, object)| snapshot.text(object.name)).collect()
    }

    #[tokio::test]
    async fn each_list_is_asked_for_once() {
        let (snapshot, told) = read(&["pods", "gone"], &["pods", "new"], |asked| {
            assert_eq!(asked.before, 0, "{}", asked.url);
            one(asked.url.trim_start_matches("/api/v1/").trim_end_matches("?limit=500"))
        })
        .await;
        assert_eq!(names(&snapshot), ["pods", "new"], "what isn't served any more doesn't count");
        assert!(snapshot.complete());
        assert_eq!(told, ["/api/v1/gone?limit=500", "/api/v1/new?limit=500", PODS]);
    }

    /// Discovery is compared with them.
    #[tokio::test]
    async fn api_services_are_never_listed_early() {
        let (group, kind) = ("apiregistration.k8s.io".to_owned(), "APIService".to_owned());
        let resources =
            Resources::new(vec![named("pods"), Resource { group, kind, ..named("apiservices") }], Vec::new());
        let wanted = Wanted { scope: Scope::Everything, whole: Vec::new(), targets: Vec::new(), instead: Vec::new() };
        let early = serve(|_| one("a")).await.begin_lists(&resources, &wanted);
        let tries = early.tries.lock().unwrap();
        assert_eq!(tries.keys().map(|(url, _)| url.as_str()).collect::<Vec<_>>(), [PODS]);
    }

    #[tokio::test]
    async fn what_was_not_served_yet_is_asked_for_again() {
        let answer = |asked: &RecordedRequest| if asked.before == 0 { refuse(404) } else { one("a") };
        let (snapshot, told) = read(&["pods"], &["pods"], answer).await;
        assert_eq!((names(&snapshot), snapshot.complete()), (vec!["a"], true));
        assert_eq!(told, [PODS; 2]);
        let (snapshot, told) = read(&["pods"], &[], |_| refuse(404)).await;
        assert!(snapshot.gaps.is_empty() && told == [PODS]);
    }

    #[tokio::test]
    async fn what_was_asked_early_is_the_first_try() {
        let busy = |asked: &RecordedRequest| match asked.before {
            0 => Say { headers: "retry-after: 0\r\n", ..refuse(429) },
            _ => one("a"),
        };
        let (snapshot, told) = read(&["pods"], &["pods"], busy).await;
        assert_eq!((names(&snapshot), snapshot.complete()), (vec!["a"], true));
        assert_eq!(told, [PODS; 2]);
        // Forbidden is forbidden: for all namespaces, and then for one.
        let (snapshot, told) = read(&["pods", "nodes"], &["pods", "nodes"], |asked| match asked.url.contains("pods") {
            true => refuse(403),
            false => one("n"),
        })
        .await;
        assert_eq!(names(&snapshot), ["n"]);
        let (all, in_one) =
            (told.iter().filter(|url| *url == PODS), told.iter().filter(|url| url.contains("default/pods")));
        assert_eq!((all.count(), in_one.count()), (1, 1), "{told:?}");
    }

    #[tokio::test]
    async fn warnings_are_told_of_what_is_used() {
        let warning = |asked: &RecordedRequest| Say {
            headers: if asked.url.contains("pods") {
                "warning: 299 - \"of pods\"\r\n"
            } else {
                "warning: 299 - \"old\"\r\n"
            },
            ..one("a")
        };
        let (_, told) = read(&["pods", "gone"], &["pods"], warning).await;
        assert_eq!(told, ["/api/v1/gone?limit=500", PODS, "of pods"]);
    }

    #[tokio::test]
    async fn little_waits_for_discovery() {
        let large = |_: &RecordedRequest| {
            let labels = "x".repeat(MOST_WAITING);
            let item = format!(r#"{{"metadata":{{"name":"a","uid":"u","labels":{{"a":"{labels}"}}}}}}"#);
            json(200, format!(r#"{{"kind":"XList","items":[{item}]}}"#))
        };
        let connection = serve(large).await;
        let gets: Vec<Get> = ["/a", "/b", "/c"].map(|url| (url.to_owned(), "application/json")).to_vec();
        let early = connection.send_early(gets.clone(), 1);
        let mut read = Vec::new();
        for get in &gets {
            read.push(early.take(get, &()).await.is_some());
        }
        assert_eq!(read, [true, false, false]);
    }
}

#[cfg(test)]
mod cache_tests {
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
