//! Objects that can't be archived: the command writes no file, and says what may be missing.

use std::{path::Path, process::Command, thread, time::Duration};

use gc_cluster::archive::Archive;
use serde_json::json;

use super::{Folder, archive, names, objects, same, sorted};
use crate::{
    harness::{ADMIN, Api, CountingProxy, Fault, NOBODY, Ran, Request, VIEWER, uid},
    plan::trial::Trial,
    sweep::uncollected,
};

/// An owner with three dependents.
fn family(prefix: &str) -> Trial<'static> {
    let trial = Trial::on(uncollected(), prefix, "Background");
    let owner = trial.widget("owner").create();
    for name in ["a", "b", "c"] {
        trial.config_map(name).owned_by(&owner).create();
    }
    trial
}

/// Archives the owner and its dependents through a proxy.
fn through(proxy: &CountingProxy, trial: &Trial<'_>, file: &Path, more: &[&str]) -> Ran {
    let args = args_for(trial, file);
    trial.cluster.gc_with(proxy.kubeconfig(), &[&args[..], more].concat())
}

fn args_for<'a>(trial: &'a Trial<'_>, file: &'a Path) -> [&'a str; 5] {
    ["archive", "-n", &trial.namespace, "widget/owner", file.to_str().unwrap()]
}

/// The error message of a failed command, without the folder's path.
#[track_caller]
fn describe(ran: &Ran, folder: &Folder) -> String {
    assert_eq!(ran.expect(1), "", "{}", ran.stderr);
    assert_eq!(folder.files(), [""; 0], "something is left");
    ran.stderr.replace(&folder.path("").display().to_string(), "").trim_end().trim_start_matches("error: ").to_owned()
}

#[test]
fn what_cannot_be_read_whole_stops_it_all() {
    let trial = family("unreadable");
    let proxy = CountingProxy::start(trial.cluster);
    // The program reads the objects one by one here, so the proxy refuses only these requests.
    proxy.with(|request| match request.path.rsplit_once('/') {
        Some((list, "a" | "b")) if list.ends_with("/configmaps") => Some(Fault::status(403, "Forbidden")),
        Some((list, "c")) if list.ends_with("/configmaps") => {
            let body = object!("v1 ConfigMap", {"name": "other", "uid": "u"});
            Some(Fault::Answer { status: 200, headers: Vec::new(), body })
        }
        _ => None,
    });
    let folder = Folder::new();
    let ran = through(&proxy, &trial, &folder.path("a.yaml"), &[]);
    let namespace = &trial.namespace;
    assert_eq!(
        describe(&ran, &folder),
        format!(
            "a.yaml was not written: 3 objects to be deleted cannot be read completely: ConfigMap/a -n \
             {namespace}, ConfigMap/b -n {namespace} (forbidden: Forbidden, says the test's proxy); \
             ConfigMap/c -n {namespace} (unreadable answer: not the requested object). Archiving \
             needs the verb get on all of them"
        )
    );
    proxy.without();
    through(&proxy, &trial, &folder.path("a.yaml"), &[]).expect(0);
    assert_eq!(objects(&folder.path("a.yaml")).len(), 4);
}

#[test]
#[ignore = "long: slow"]
fn what_goes_meanwhile_is_told_and_what_takes_its_place_is_found() {
    let trial = family("meanwhile");
    let (cluster, namespace) = (trial.cluster, trial.namespace.clone());
    let path = |name: &str| format!("/api/v1/namespaces/{namespace}/configmaps/{name}");
    let owner = cluster.get(&format!("/apis/gc.test/v1/namespaces/{namespace}/widgets/owner")).unwrap();
    let a = cluster.get(&path("a")).unwrap();
    let proxy = CountingProxy::start(cluster);
    let asks_for_all =
        |request: &Request| request.accept == "application/json" && request.path.contains("/configmaps/");
    proxy.with(move |request| asks_for_all(request).then_some(Fault::Delay(Duration::from_secs(3))));
    let folder = Folder::new();
    let file = folder.path("a.yaml");
    let args = args_for(&trial, &file);
    let ran = thread::scope(|scope| {
        let run = scope.spawn(|| cluster.gc_with(proxy.kubeconfig(), &args));
        cluster.wait_until("the objects to be asked for", Duration::from_secs(60), || {
            proxy.requests().iter().any(asks_for_all)
        });
        // One dependent is deleted, one is replaced by a dependent of the same owner, one by an object without an
        // owner.
        for name in ["a", "b", "c"] {
            cluster.delete(&path(name), Some("Background"), None);
        }
        trial.config_map("b").owned_by(&owner).create();
        trial.config_map("c").create();
        run.join().expect("it ends")
    });
    let describe = ran.expect(0);
    let archived = objects(&folder.path("a.yaml"));
    assert_eq!(names(&archived), ["Widget/owner", "ConfigMap/b"]);
    let now = cluster.get(&path("b")).unwrap();
    same(&archived[1], &now);
    assert!(describe.contains("Deleted before they could be archived: ConfigMap/"), "{describe}");
    let gone = Archive::open(&folder.path("a.yaml")).unwrap().header().gone.clone();
    assert_eq!(sorted(gone.iter().map(|object| object.name.clone()).collect()), ["a", "b", "c"]);
    assert!(gone.iter().any(|object| object.uid == uid(&a)));
}

#[test]
fn a_target_that_goes_meanwhile_is_an_error() {
    let trial = family("target");
    let cluster = trial.cluster;
    let proxy = CountingProxy::start(cluster);
    proxy.with(|request| {
        let asks_for_all = request.accept == "application/json" && request.path.ends_with("/widgets/owner");
        asks_for_all.then(|| Fault::Answer {
            status: 404,
            headers: Vec::new(),
            body: json!({"kind": "Status", "code": 404, "reason": "NotFound", "details": {"name": "owner",
                "kind": "widgets"}}),
        })
    });
    let folder = Folder::new();
    let ran = through(&proxy, &trial, &folder.path("a.yaml"), &[]);
    let place = format!("Widget/owner -n {} was deleted or replaced since the cluster was read", trial.namespace);
    assert_eq!(describe(&ran, &folder), format!("{place}: nothing was written to a.yaml; run this again"));
}

#[test]
fn an_archive_that_may_lack_something_is_refused_or_says_so() {
    let trial = family("lacking");
    let proxy = CountingProxy::start(trial.cluster);
    proxy.with(|request| (request.path == "/api/v1/secrets").then(|| Fault::status(503, "ServiceUnavailable")));
    let folder = Folder::new();
    let ran = through(&proxy, &trial, &folder.path("a.yaml"), &[]);
    let refused = describe(&ran, &folder);
    assert!(
        refused.starts_with(
            "a.yaml was not written: it could lack objects that the delete removes:\n  secrets in all namespaces could \
             not be read: 503 Service Unavailable"
        ),
        "{refused}"
    );
    assert!(
        refused.ends_with("\nTry again once it can be read, or go on without: --allow-incomplete=secrets"),
        "{refused}"
    );
    let ran = through(&proxy, &trial, &folder.path("a.yaml"), &["--allow-incomplete=secrets"]).ended(0);
    assert!(ran.stderr.contains("Could not list: secrets (503 Service Unavailable"), "{}", ran.stderr);
    let archive = Archive::open(&folder.path("a.yaml")).unwrap();
    assert_eq!(archive.header().gaps.iter().map(|gap| gap.resource.as_str()).collect::<Vec<_>>(), ["secrets"]);
    assert_eq!(archive.header().objects, 4);
}

#[test]
fn whoever_sees_one_namespace_archives_what_is_in_it() {
    let trial = family("viewer-archive");
    let (cluster, namespace) = (trial.cluster, trial.namespace.as_str());
    cluster.let_viewer_see(namespace);
    let api = Api::connect(&cluster.kubeconfig(VIEWER), None).expect("the viewer has a kubeconfig");
    let path = format!("/api/v1/namespaces/{namespace}/configmaps");
    cluster.wait_until("the role binding to work", Duration::from_secs(30), || {
        api.get(&path).is_ok_and(|answer| answer.is_success())
    });
    let folder = Folder::new();
    let file = folder.path("a.yaml");
    let args = ["archive", "-n", namespace, "widget/owner", file.to_str().unwrap()];
    let nobody = describe(&cluster.gc_as(NOBODY, &args), &folder);
    assert!(nobody.contains("refuses all lists"), "{nobody}");
    let other = family("viewer-elsewhere");
    let elsewhere = cluster.gc_as(VIEWER, &["archive", "-n", &other.namespace, "widget/owner", file.to_str().unwrap()]);
    assert!(describe(&elsewhere, &folder).contains("forbidden"), "{}", elsewhere.stderr);
    // Namespaces that the viewer may not read can't contain dependents of this owner.
    cluster.gc_as(VIEWER, &args).expect(0);
    assert_eq!(sorted(names(&objects(&file))), ["ConfigMap/a", "ConfigMap/b", "ConfigMap/c", "Widget/owner"]);
    let whole = folder.path("b.yaml");
    archive(cluster, namespace, &["widget/owner"], &whole).expect(0);
    assert_eq!(objects(&whole), objects(&file));
}

/// Limits the size of files: the closest thing to a full disk that needs no disk.
#[test]
fn what_there_is_no_space_for_is_not_written() {
    let trial = family("full");
    let cluster = trial.cluster;
    let folder = Folder::new();
    let file = folder.path("a.yaml");
    let program = cluster.gc_command(&cluster.kubeconfig(ADMIN));
    let limited = |blocks: u32| {
        let mut command = Command::new("sh");
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
        command.arg("-c").arg(script).arg(program.get_program()).args(args_for(&trial, &file));
        command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let ran = command.output().expect("sh runs");
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Ran { code: ran.status.code(), stdout: text(ran.stdout), stderr: text(ran.stderr) }
    };
    let error = describe(&limited(1), &folder);
    assert!(error.starts_with("a.yaml cannot be written: "), "{error}");
    assert!(error.ends_with("; free some space, or give a name on another disk"), "{error}");
    limited(1_000).expect(0);
    assert_eq!(objects(&file).len(), 4);
}
