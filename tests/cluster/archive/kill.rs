//! Whenever the program is killed, the archive either is complete or doesn't exist. Running the same command again
//! finishes the job.

use std::{fs, os::unix::process::ExitStatusExt as _, path::Path};

use gc_cluster::archive::Archive;
use rustix::process::{Pid, Resource, Rlimit, Signal, prlimit};

use super::{Folder, archive};
use crate::{
    harness::{Cluster, Killer, Moment, Request},
    plan::trial::Trial,
    restore::quiet,
};

/// More than are read at once.
const DEPENDENTS: usize = 20;

/// An owner with this many dependents.
fn family(dependents: usize) -> Trial<'static> {
    let trial = Trial::on(quiet(), "killed", "Background");
    let owner = trial.widget("owner").create();
    for number in 0..dependents {
        trial.config_map(&format!("d{number}")).owned_by(&owner).create();
    }
    trial
}

/// Whether a request reads one of its objects. All other requests come before.
fn reads_an_object(request: &Request) -> bool {
    ["/widgets/", "/configmaps/"].iter().any(|part| request.path.contains(part))
}

/// Whether the archive exists; panics if it exists and is incomplete.
#[track_caller]
fn complete(file: &Path, objects: usize) -> bool {
    if !file.exists() {
        return false;
    }
    let archive = Archive::open(file).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(archive.header().objects, objects);
    assert!(archive.objects().unwrap().all(|object| object.is_ok()));
    true
}

/// Runs the command once more, which finishes the job, and clears away what killed runs have left.
#[track_caller]
fn finished(cluster: &Cluster, trial: &Trial<'_>, folder: &Folder, name: &str, objects: usize) {
    let file = folder.path(name);
    archive(cluster, &trial.namespace, &["widget/owner"], &file).expect(0);
    assert!(complete(&file, objects));
    assert_eq!(folder.files(), [name], "what killed runs have left is cleared away");
    let again = archive(cluster, &trial.namespace, &["widget/owner"], &file).ended(1);
    let exists = format!("already exists (a complete archive with {objects} objects");
    assert!(again.stderr.contains(&exists), "{}", again.stderr);
}

#[test]
#[ignore = "long: kills it again and again"]
fn a_run_that_is_killed_leaves_all_or_nothing() {
    each_kill_leaves_all_or_nothing(5);
}

#[test]
#[ignore = "long: before and after each request"]
fn a_run_that_is_killed_leaves_all_or_nothing_each_time() {
    each_kill_leaves_all_or_nothing(usize::MAX);
}

/// Kills runs that write plain text, and as many that compress it.
fn each_kill_leaves_all_or_nothing(most: usize) {
    let trial = family(DEPENDENTS);
    let killer = Killer::of(trial.cluster, reads_an_object);
    for name in ["a.yaml", "a.yaml.gz"] {
        let folder = Folder::new();
        let file = folder.path(name);
        let args = ["archive", "-n", &trial.namespace, "widget/owner", file.to_str().unwrap()];
        let requests = killer.requests(&args);
        assert!(complete(&file, DEPENDENTS + 1));
        assert!(requests > DEPENDENTS, "each object is read: {requests}");
        fs::remove_file(&file).unwrap();
        for moment in Moment::some(requests, most) {
            assert!(killer.kill(moment, &args), "{moment:?}");
            // It has not read the last object.
            assert_eq!(folder.files(), [""; 0], "{name}, {moment:?}");
        }
        finished(trial.cluster, &trial, &folder, name, DEPENDENTS + 1);
    }
}

/// No request is sent while the file is written: the kernel kills the run at the first byte that it may not write. What
/// it has written has another name.
#[test]
fn half_a_file_is_no_archive() {
    let trial = family(0);
    let killer = Killer::of(trial.cluster, reads_an_object);
    // The text of the object is written to a file without a name first, which is to become whole.
    let mut text_of_objects = 0;
    for name in ["a.yaml", "a.yaml.gz"] {
        let folder = Folder::new();
        let file = folder.path(name);
        let args = ["archive", "-n", &trial.namespace, "widget/owner", file.to_str().unwrap()];
        let requests = killer.requests(&args);
        let whole = fs::metadata(&file).unwrap().len();
        if name == "a.yaml" {
            let lines = fs::read_to_string(&file).unwrap();
            let (begin, last_line) = (lines.find("\n---\n").unwrap(), lines.trim_end().rfind('\n').unwrap());
            text_of_objects = (last_line - begin) as u64;
        }
        fs::remove_file(&file).unwrap();
        // Its time may be compressed a little better.
        let most = whole - 8;
        assert!(text_of_objects < most, "{name}: {text_of_objects} bytes, of which {whole} are made");
        for limit in [text_of_objects, text_of_objects.midpoint(most), most] {
            let status = killer.stop(Moment::After(requests), &args, |child, gate| {
                let limit = Rlimit { current: Some(limit), maximum: Some(limit) };
                prlimit(Some(Pid::from_child(child)), Resource::Fsize, limit).unwrap();
                gate.open();
            });
            let signal = status.expect("it comes so far").signal();
            assert_eq!(signal, Some(Signal::XFSZ.as_raw()), "{name}, {limit} of {whole} bytes");
            let files = folder.files();
            let [part] = files.as_slice() else { panic!("{name}, {limit} bytes: {files:?}") };
            assert!(part.ends_with(".part"), "{part}");
            assert_eq!(fs::metadata(folder.path(part)).unwrap().len(), limit);
            finished(trial.cluster, &trial, &folder, name, 1);
            fs::remove_file(&file).unwrap();
        }
    }
}
