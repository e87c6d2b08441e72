//! `archive` checks its arguments and the output file before it contacts a cluster: these tests have none.

use std::fs;

use super::run::{describe, gc, write};

#[test]
fn what_to_archive_and_where_to_has_to_be_said() {
    let usage = ": kubectl gc archive TARGET... FILE, where FILE ends in .yaml or .yaml.gz";
    for (args, error) in [
        (&[][..], "name the objects to archive and the FILE to write"),
        (&["-A"], "name the objects to archive and the FILE to write"),
        (&["-f", "manifest.yaml"], "the FILE to write is missing"),
        (&["deploy/web"], "the FILE to write is missing: \"deploy/web\" is the last argument"),
        (&["deploy", "web", "-n", "shop"], "the FILE to write is missing: \"web\" is the last argument"),
        (&["deploy", "-l", "app=web"], "the FILE to write is missing: \"deploy\" is the last argument"),
        (&["a.yaml"], "name the objects to archive into a.yaml"),
        (&["-A", "a.yaml.gz"], "name the objects to archive into a.yaml.gz"),
    ] {
        assert_eq!(describe(&gc(&[&["archive"], args].concat())), format!("{error}{usage}"), "{args:?}");
    }
    assert_eq!(
        describe(&gc(&["archive", "-l", "a=b", "/tmp/a.yaml"])),
        format!("name the objects to archive into /tmp/a.yaml{usage}")
    );
}

#[test]
fn a_file_that_cannot_be_written_is_told_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let there = write(folder.path(), "there.yaml", "mine");
    fs::create_dir(folder.path().join("folder.yaml")).unwrap();
    for (file, error) in [
        (there.clone(), format!("{there} already exists: it is never replaced; give another name, or move it away")),
        (at("folder.yaml"), format!("{} is a folder: give the name of a file in it", at("folder.yaml"))),
        (at("a.gz"), format!("{}: an archive's name ends in .yaml, or in .yaml.gz to be compressed", at("a.gz"))),
        (
            at("none/a.yaml"),
            format!("{} cannot be written: there is no folder {}; create it first", at("none/a.yaml"), at("none")),
        ),
    ] {
        assert_eq!(describe(&gc(&["archive", "deploy/web", &file])), error);
    }
    assert_eq!(fs::read_to_string(&there).unwrap(), "mine");
    #[cfg(target_os = "linux")]
    {
        let read_only = describe(&gc(&["archive", "deploy/web", "/proc/a.yaml"])).to_owned();
        assert!(read_only.starts_with("/proc/a.yaml cannot be written: "), "{read_only}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing is left behind");
}

#[test]
fn an_archive_is_of_a_cluster() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.yaml").display().to_string();
    let no_cluster = gc(&["archive", "deploy/web", &file]);
    assert!(describe(&no_cluster).contains("kubeconfig"), "{no_cluster}");
    let target = gc(&["archive", "deploy/web", "pod", &file]);
    assert!(describe(&target).contains("\"pod\""), "{target}");
    assert!(
        gc(&["archive", "--from", "examples", "deploy/web", &file])
            .err
            .starts_with("error: --from and --example read files, and archive needs a cluster")
    );
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

const ARCHIVE: &str = concat!(
    "# kubectl gc archive: whole objects, as they were in \"prod\" at 2026-01-31T08:00:00Z.\n",
    "# Restore them with: kubectl gc restore FILE\n",
    r#"# kubectl-gc-archive: {"format":1,"time":"2026-01-31T08:00:00Z","context":"prod","targets":[{"apiVersion":"v1","#,
    r#""kind":"ConfigMap","namespace":"shop","name":"a","uid":"u"}],"propagation":"Background","objects":1}"#,
    "\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop, uid: u}\n",
);

#[test]
fn an_archive_that_is_read_is_called_one_and_says_how_its_object_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "a.yaml", ARCHIVE);
    let ran = gc(&["explain", "cm/a", "-n", "shop", "--from", &file]);
    let told = format!(
        "{file} is an archive: objects as they were in prod at 2026-01-31T08:00:00Z, before a delete (background) of \
         ConfigMap/a -n shop. They may be gone by now.\n"
    );
    assert_eq!(ran.out.lines().nth(1), Some(told.trim_end()), "{}", ran.out);
    let command = format!("kubectl gc restore --context=prod {file} configmaps/a");
    assert_eq!(ran.err, format!("note: this restores it from the archive: {command}\n"));
    // A dump is no archive.
    let dump = write(folder.path(), "dump.yaml", ARCHIVE.split_once("---\n").unwrap().1);
    let ran = gc(&["explain", "cm/a", "-n", "shop", "--from", &dump]);
    assert_eq!((ran.out.contains("archive"), ran.err.as_str()), (false, ""), "{}", ran.out);
}
