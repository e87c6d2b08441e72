//! A small graph in a namespace of its own, and one command on it over a faulty line.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::Read as _,
    path::{Path, PathBuf},
    process::Stdio,
    sync::{Arc, LazyLock},
    time::{Duration, Instant},
};

use regex::Regex;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    harness::{ADMIN, Cluster, CountingProxy, Fault, Faults, Line, Ran, Watching, others, resource_version, uid},
    plan::trial::Trial,
    sweep::seat::SweepSettings,
};

/// What one request may take over the faulty line, on which some never end.
const TIMEOUT: &str = "--request-timeout=2s";
/// What one request may take over a good line, on a busy machine.
const LONG_TIMEOUT: &str = "--request-timeout=30s";
/// What a command may take, on a busy machine: each of its requests meets a few faults at most.
const DEADLINE: Duration = Duration::from_mins(2);

/// What a delete of `owner` removes.
pub const OWNED: [&str; 4] = ["owner", "part", "block", "below"];
/// What a sweep removes.
pub const SWEPT: [&str; 5] = ["lost", "below-lost", "leaving", "waiting", "first"];
/// Phrases that call something absent.
const ABSENT: [&str; 4] = ["not found", "does not exist", "it is missing", "there is no"];

/// What a gateway says of another object than the one that was asked for.
static ABOUT_ANOTHER: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"about another object: \S+ "[^"]*" not found"#).expect("a pattern"));

/// A graph, and a faulty line to it.
pub struct Scene<'c> {
    pub trial: Trial<'c>,
    proxy: CountingProxy,
    pub faults: Arc<Faults>,
    /// Which of the other objects is read in place of each that exists, instead of faults by chance.
    mixed_up: Option<usize>,
    folder: TempDir,
    /// The objects at the beginning, by their names.
    pub before: BTreeMap<String, Value>,
}

impl<'c> Scene<'c> {
    /// The graph of a delete; `swept`: with what a sweep finds.
    #[track_caller]
    pub fn build(cluster: &'c Cluster, seed: u64, swept: bool) -> Self {
        let trial = Trial::on(cluster, "faulty-line", "Background");
        let owner = trial.config_map("owner").create();
        trial.widget("part").owned_by(&owner).create();
        let block = trial.config_map("block").blocking(&owner).create();
        let below = trial.widget("below").blocking(&block).create();
        let keeper = trial.config_map("keeper").create();
        let shared = trial.config_map("shared").owned_by(&owner).owned_by(&keeper).create();
        trial.config_map("stays").create();
        if swept {
            let lost = trial.config_map("lost").owned_by(&trial.gone("gone")).create();
            trial.widget("below-lost").owned_by(&lost).create();
            trial.config_map("half").owned_by(&trial.gone("gone-too")).owned_by(&keeper).create();
            let leaving = trial.config_map("leaving").create();
            trial.widget("freed").blocking(&leaving).create();
            cluster.delete(&cluster.path_of(&leaving), Some("Orphan"), None);
            let waiting = trial.widget("waiting").create();
            trial.config_map("first").blocking(&waiting).create();
            cluster.delete(&cluster.path_of(&waiting), Some("Foreground"), None);
        }
        let line = [Line::Plain, Line::Tls, Line::Http2][seed as usize % 3];
        let proxy = CountingProxy::start_over(cluster, ADMIN, line);
        let past = [&owner, &block, &below, &keeper, &shared].map(|object| resource_version(object).to_owned());
        let faults = Faults::of(seed, &trial.namespace, past.into());
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut scene = Scene { trial, proxy, faults, mixed_up: None, folder, before: BTreeMap::new() };
        scene.before = scene.now();
        scene
    }

    /// The same, over a line that mixes up the answers to reads of single objects: it reads another one each time.
    #[track_caller]
    pub fn mixed_up(cluster: &'c Cluster, other: usize, swept: bool) -> Self {
        Scene { mixed_up: Some(other), ..Self::build(cluster, 0, swept) }
    }

    /// How often an object was read over the faulty line.
    pub fn reads(&self, name: &str) -> usize {
        let path = self.trial.cluster.path_of(&self.before[name]);
        self.proxy.requests().iter().filter(|request| request.method == "GET" && request.path == path).count()
    }

    /// The objects that exist, by their names.
    #[track_caller]
    pub fn now(&self) -> BTreeMap<String, Value> {
        let cluster = self.trial.cluster;
        let lists = [("/api/v1", "v1", "ConfigMap"), ("/apis/gc.test/v1", "gc.test/v1", "Widget")];
        let objects = lists.iter().flat_map(|(path, version, kind)| {
            let list = format!("{path}/namespaces/{}/{}s", self.trial.namespace, kind.to_lowercase());
            cluster.list(&list).into_iter().map(move |mut object| {
                // Items of a list don't say it.
                object["apiVersion"] = json!(version);
                object["kind"] = json!(kind);
                object
            })
        });
        let named = |object: Value| (object["metadata"]["name"].as_str().unwrap_or_default().to_owned(), object);
        objects.map(named).filter(|(name, _)| name != "kube-root-ca.crt").collect()
    }

    /// A file that commands write.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The names of the files that commands left.
    pub fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).expect("it is there");
        entries.map(|entry| entry.unwrap().file_name().into_string().expect("UTF-8")).collect()
    }

    /// Runs a command over the faulty line. An error if it crashes, or doesn't end.
    pub fn faulty(&self, args: &[&str]) -> Result<Ran, String> {
        self.spoil();
        self.run(self.proxy.kubeconfig(), args, TIMEOUT)
    }

    /// Runs a `watch` of `owner` to its end over the faulty line, and deletes `owner` once it has begun.
    pub fn watch_of_a_delete(&self) -> Result<Ran, String> {
        self.spoil();
        let args = ["watch", "cm/owner", "--until-gone", "--timeout=20s", "-o", "json"];
        let mut command = self.trial.cluster.gc_command(self.proxy.kubeconfig());
        command.args(args).args(["-n", &self.trial.namespace, TIMEOUT]).stderr(Stdio::piped());
        let mut watching = Watching::of(&mut command);
        let (begun, mut stdout, mut deleted) = (Instant::now(), String::new(), false);
        let code = loop {
            let line = watching.next();
            // Faults may prevent that it begins.
            if !deleted && (line.is_none() || stdout.contains("Watching")) {
                deleted = true;
                let cluster = self.trial.cluster;
                cluster.delete(&cluster.path_of(&self.before["owner"]), Some("Background"), None);
            }
            let said = line.is_some();
            stdout += &line.map_or_else(String::new, |line| line + "\n");
            match watching.child.try_wait().map_err(|error| error.to_string())? {
                Some(status) if !said => break status.code(),
                _ if begun.elapsed() > DEADLINE => return Err(format!("it does not end: {stdout}")),
                _ => {}
            }
        };
        let mut stderr = String::new();
        let mut errors = watching.child.stderr.take().expect("its errors");
        errors.read_to_string(&mut stderr).map_err(|error| error.to_string())?;
        let ran = Ran { code, stdout, stderr };
        check(matches!(ran.code, Some(0..=2)) && !ran.stderr.contains("panicked"), "it crashed", &ran)?;
        Ok(ran)
    }

    /// Starts a command that goes on over the faulty line. Its errors go to a file.
    pub fn watching(&self, args: &[&str], errors: &Path) -> Result<Watching, String> {
        self.spoil();
        let errors = std::fs::File::create(errors).map_err(|error| error.to_string())?;
        let mut command = self.trial.cluster.gc_command(self.proxy.kubeconfig());
        command.args(args).args(["-n", &self.trial.namespace, TIMEOUT]).stderr(errors);
        Ok(Watching::of(&mut command))
    }

    /// Starts `sweep --watch` over the faulty line.
    pub fn sweeping(&self) -> SweepSettings {
        self.spoil();
        let args = ["sweep", "--watch", "--qps=0", "--resync=2s", "-n", &self.trial.namespace, TIMEOUT];
        SweepSettings::start_as(self.trial.cluster, self.proxy.kubeconfig(), &args)
    }

    /// From now on the line is good.
    pub fn mend(&self) {
        self.proxy.without();
    }

    fn spoil(&self) {
        let Some(other) = self.mixed_up else {
            let faults = Arc::clone(&self.faults);
            return self.proxy.with(move |request| faults.strike(request));
        };
        let exist: BTreeSet<String> = self.before.values().map(|object| self.trial.cluster.path_of(object)).collect();
        self.proxy.with(move |request| {
            let is_read = request.method == "GET" && exist.contains(&request.path);
            is_read.then(|| others(&request.path)).flatten().map(|others| Fault::Elsewhere(others[other].clone()))
        });
    }

    /// Runs a command over a good line.
    pub fn flawless(&self, args: &[&str]) -> Result<Ran, String> {
        self.run(&self.trial.cluster.kubeconfig(ADMIN), args, LONG_TIMEOUT)
    }

    fn run(&self, kubeconfig: &Path, args: &[&str], timeout: &str) -> Result<Ran, String> {
        let args = [args, &["-n", &self.trial.namespace, timeout]].concat();
        let ran = self.trial.cluster.gc_within(DEADLINE, kubeconfig, &args)?;
        check(matches!(ran.code, Some(0..=2)) && !ran.stderr.contains("panicked"), "it crashed", &ran)?;
        // The messages of the faults are not the program's own.
        let said = ran.stderr.replace("404 page not found", "");
        let said = ABOUT_ANOTHER.replace_all(&said, "");
        check(!ABSENT.iter().any(|phrase| said.contains(phrase)), "it calls something absent that is there", &ran)?;
        Ok(ran)
    }

    /// An error unless every object but these is as it was, and there is no new one.
    pub fn untouched_but(&self, names: &[&str], ran: &Ran) -> Result<BTreeMap<String, Value>, String> {
        let now = self.now();
        self.unchanged_but(names, &now, ran)?;
        let new: Vec<&String> = self.newcomers(&now).collect();
        check(new.is_empty(), &format!("{new:?} came from nowhere"), ran)?;
        Ok(now)
    }

    /// An error unless every object but these is now as it was.
    pub fn unchanged_but(&self, names: &[&str], now: &BTreeMap<String, Value>, ran: &Ran) -> Result<(), String> {
        for (name, object) in &self.before {
            let same = now.get(name).is_some_and(|after| after["metadata"] == object["metadata"]);
            check(same || names.contains(&name.as_str()), &format!("{name} was touched"), ran)?;
        }
        Ok(())
    }

    /// The names of the objects that were not there at the beginning.
    pub fn newcomers<'n>(&self, now: &'n BTreeMap<String, Value>) -> impl Iterator<Item = &'n String> {
        now.keys().filter(|name| !self.before.contains_key(*name))
    }

    /// The uids of the objects at the beginning.
    pub fn uids(&self) -> BTreeSet<&str> {
        self.before.values().map(uid).collect()
    }
}

/// An error unless something is so.
pub fn check(is_so: bool, wrong: &str, ran: &Ran) -> Result<(), String> {
    if is_so { Ok(()) } else { Err(format!("{wrong}: {ran:#?}")) }
}
