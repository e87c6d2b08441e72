//! `delete --archive`: archives objects before it deletes them.

use std::{
    fs,
    path::{Path, PathBuf},
};

use gc_cluster::archive::Archive;
use serde_json::Value;

use super::kit::Family;
use crate::harness::{Killer, Moment, PATIENCE, is_write, shared};

/// A path for an archive that no other test uses.
fn place(family: &Family, ending: &str) -> PathBuf {
    family.cluster.folder().join(format!("{}.{ending}", family.namespace))
}

/// The sorted names in an archive; panics if the archive is invalid.
fn names(path: &Path) -> Vec<String> {
    let archive = Archive::open(path).unwrap_or_else(|error| panic!("{error}"));
    let objects: Result<Vec<Value>, _> = archive.objects().unwrap().collect();
    let mut names: Vec<String> =
        objects.unwrap().iter().filter_map(|object| object["metadata"]["name"].as_str()).map(str::to_owned).collect();
    names.sort();
    names
}

#[test]
fn everything_that_goes_is_archived_first() {
    for ending in ["yaml", "yaml.gz"] {
        let family = Family::of("archived", 2);
        let path = place(&family, ending);
        let ran = family.cluster.gc(&family.args(&["--yes", "--archive", path.to_str().unwrap()]));
        assert!(ran.expect(0).contains(path.to_str().unwrap()), "{}", ran.stdout);
        assert_eq!(names(&path), ["leaf-0", "leaf-1", "root"]);
        assert_eq!(family.there(), [""; 0]);
    }
}

/// If the archive can't be written, nothing is deleted.
#[test]
fn without_its_archive_nothing_is_deleted() {
    let family = Family::of("unarchived", 1);
    let folder = family.cluster.folder().join("no-such-folder").join("file.yaml");
    family.cluster.gc(&family.args(&["--yes", "--archive", folder.to_str().unwrap()])).expect(1);
    family.cluster.gc(&family.args(&["--yes", "--archive", "file.txt"])).expect(1);
    let taken = place(&family, "yaml");
    fs::write(&taken, "something else").unwrap();
    family.cluster.gc(&family.args(&["--yes", "--archive", taken.to_str().unwrap()])).expect(1);
    assert_eq!(fs::read_to_string(&taken).unwrap(), "something else");
    assert_eq!(family.there(), ["leaf-0", "root"]);
}

/// An existing archive of other objects is left alone.
#[test]
fn another_archive_is_left_alone() {
    let family = Family::of("first", 1);
    let path = place(&family, "yaml");
    family.cluster.gc(&family.args(&["--yes", "--archive", path.to_str().unwrap()])).expect(0);
    let before = fs::read(&path).unwrap();
    let other = Family::of("second", 1);
    let ran = other.cluster.gc(&other.args(&["--yes", "--archive", path.to_str().unwrap()])).ended(1);
    assert!(ran.stderr.contains("it is an archive of other objects"), "{}", ran.stderr);
    assert_eq!((fs::read(&path).unwrap(), other.there().len()), (before, 2));
}

/// The file whose name the program chose.
fn made_up(family: &Family, shown: &str) -> PathBuf {
    let file = shown.split_whitespace().find(|word| word.contains("-configmap-root-")).unwrap().trim_end_matches('.');
    family.cluster.folder().join(file)
}

/// An object with the same name isn't the same object.
#[test]
fn an_archive_of_a_predecessor_is_left_alone() {
    let family = Family::of("again", 0);
    let path = place(&family, "yaml");
    let args = family.args(&["--yes", "--archive", path.to_str().unwrap()]);
    family.cluster.gc(&args).expect(0);
    let before = fs::read(&path).unwrap();
    family.cluster.create(super::kit::config_map(&family.namespace, "root", &[]));
    family.cluster.gc(&args).expect(1);
    assert_eq!((fs::read(&path).unwrap(), family.there()), (before, vec!["root".to_owned()]));
}

/// The key `a` archives, and then the program asks again.
#[test]
fn a_key_archives_first() {
    let family = Family::of("asked-archive", 1);
    let mut terminal = family.cluster.gc_on_terminal(&family.args(&[]));
    terminal.shows("a: archive first");
    terminal.types("a");
    terminal.shows(&format!("Archived 2 objects in {}-configmap-root-", family.namespace));
    terminal.shows(&format!("namespace {}. Delete 2 objects? [y/N]", family.namespace));
    assert_eq!(family.there().len(), 2);
    let (code, shown) = terminal.answered("y");
    let archived = names(&made_up(&family, &shown));
    assert_eq!(
        (code, archived, family.there()),
        (Some(0), vec!["leaf-0".to_owned(), "root".to_owned()], vec![]),
        "{shown}"
    );
}

#[test]
fn killed_at_any_moment_nothing_is_lost() {
    each_kill_loses_nothing(5);
}

#[test]
#[ignore = "long: before and after each request"]
fn killed_at_any_moment_nothing_is_lost_each_time() {
    each_kill_loses_nothing(usize::MAX);
}

/// Whenever a run is killed: an existing archive is complete, no object is gone that isn't in it, and running the same
/// command again finishes the job.
fn each_kill_loses_nothing(most: usize) {
    // The last of these is the DELETE.
    let killer = Killer::of(shared(), |request| is_write(request) || request.path.contains("/configmaps/"));
    let family = Family::of("unkilled", 6);
    let path = place(&family, "yaml");
    let requests = killer.requests(&family.args(&["--yes", "--wait=false", "--archive", path.to_str().unwrap()]));
    for moment in Moment::some(requests, most) {
        let family = Family::of("killed", 6);
        let path = place(&family, "yaml");
        let args = family.args(&["--yes", "--wait=false", "--archive", path.to_str().unwrap()]);
        let expected = family.there();
        assert_eq!(expected.len(), 7);
        assert!(killer.kill(moment, &args), "{moment:?}");
        let is_deleted = moment == Moment::After(requests);
        let is_archived = is_deleted || moment == Moment::Before(requests);
        assert_eq!(path.exists(), is_archived, "{moment:?}");
        if is_deleted {
            assert!(!family.there().contains(&"root".to_owned()));
        } else {
            assert_eq!(family.there(), expected, "{moment:?}");
        }
        if is_archived {
            assert_eq!(names(&path), expected, "{moment:?}: an archive that is there is complete");
        }
        // An archive names the server, which is the proxy.
        let ran = killer.run(&family.args(&["--yes", "--archive", path.to_str().unwrap()])).ended(0);
        family.cluster.wait_until("the rest to go", PATIENCE, || family.there().is_empty());
        assert_eq!(names(&path), expected, "{moment:?}: {}", ran.stderr);
    }
}

/// If an object changes while the user hesitates, it is archived again before it is deleted.
#[test]
fn what_changed_since_it_was_archived_is_archived_again() {
    let family = Family::of("rewritten", 1);
    let mut terminal = family.cluster.gc_on_terminal(&family.args(&[]));
    terminal.shows("Delete 2 objects?");
    terminal.types("a");
    terminal.shows("Archived 2 objects in");
    terminal.shows("[y/N]");
    family.cluster.patch(&family.cluster.path_of(&family.root), &serde_json::json!({"data": {"of": "later"}}));
    let (code, shown) = terminal.answered("y");
    assert_eq!(code, Some(0), "{shown}");
    let path = made_up(&family, &shown);
    let archive = Archive::open(&path).unwrap_or_else(|error| panic!("{error}"));
    let root =
        archive.objects().unwrap().map(Result::unwrap).find(|object| object["metadata"]["name"] == "root").unwrap();
    assert_eq!(root["data"]["of"], "later");
}
