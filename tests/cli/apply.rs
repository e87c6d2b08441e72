//! `plan --apply`, on a dump.

use super::run::{SHOP, gc, on_shop, program, repository, write};

const BACKUP: &str = "examples/backup.yaml";

#[test]
fn a_backup_is_told_object_by_object() {
    insta::assert_snapshot!(on_shop(&["plan", "--apply", "-f", BACKUP]).to_string());
    insta::assert_snapshot!(on_shop(&["plan", "--apply", "-f", BACKUP, "-o", "wide"]).to_string());
    insta::assert_snapshot!(on_shop(&["plan", "--apply", "-f", BACKUP, "-o", "name"]).to_string());
}

#[test]
fn the_mended_file_keeps_its_text() {
    let ran = on_shop(&["plan", "--apply", "-f", BACKUP, "--fix"]);
    insta::assert_snapshot!(ran.err);
    assert_eq!(ran.code, 0);
    let (given, mended) = (repository(BACKUP), ran.out);
    let added: Vec<&str> = mended.lines().filter(|line| !given.lines().any(|known| known == *line)).collect();
    assert_eq!(added, ["    uid: \"1b9ff751-fa82-4f26-ac61-3a86c1a1cf76\" # of before"]);
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), "mended.yaml", &mended);
    let again = on_shop(&["plan", "--apply", "-f", &path]);
    assert_eq!(again.code, 0, "{again}");
    assert!(again.out.contains("KEEPS: nothing is collected."), "{again}");
    // Nothing is left to mend.
    assert_eq!(on_shop(&["plan", "--apply", "-f", &path, "--fix"]).out, mended);
}

#[test]
fn standard_input_folders_and_json() {
    let from_input = super::run::finish(
        program().args(["plan", "--apply", "-f", "-", "-o", "name", "--from", SHOP]).write_stdin(repository(BACKUP)),
    );
    assert_eq!(from_input.out, on_shop(&["plan", "--apply", "-f", BACKUP, "-o", "name"]).out);
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("below")).unwrap();
    write(&folder.path().join("below"), "a.yaml", &repository(BACKUP));
    let path = folder.path().to_str().unwrap();
    let names = |args: &[&str]| on_shop(&[&["plan", "--apply", "-f", path], args].concat());
    assert!(names(&[]).err.contains("no manifests in this folder"));
    assert_eq!(names(&["-R", "-o", "name"]).out, from_input.out);
    let json = on_shop(&["plan", "--apply", "-f", BACKUP, "--fix", "-o", "json"]);
    let path = write(folder.path(), "backup.json", &json.out);
    assert!(json.err.contains("YAML was written as JSON: comments are lost."), "{json}");
    let again = on_shop(&["plan", "--apply", "-f", &path, "-o", "name"]);
    assert_eq!((again.code, again.out.as_str()), (0, ""), "{again}");
}

/// What exists in a Namespace that is being deleted goes with it, whatever is applied.
#[test]
fn what_is_in_a_namespace_that_goes_is_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let settings = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: old, uid: c}\n";
    let leaving = "apiVersion: v1\nkind: Namespace\nmetadata: {name: old, uid: n, \
                   deletionTimestamp: \"2026-03-01T09:00:00Z\"}\nspec: {finalizers: [kubernetes]}\n";
    let file = write(folder.path(), "settings.yaml", &settings.replace(", uid: c", ""));
    let dump = write(folder.path(), "dump.yaml", &format!("{settings}---\n{leaving}"));
    let ran = gc(&["plan", "--apply", "-f", &file, "--from", &dump, "--assume-complete"]);
    assert!(ran.out.contains("ConfigMap/settings -n old  » later  namespace old is being deleted"), "{ran}");
    assert_eq!(ran.code, 2, "{ran}");
}

/// A dump proves absence only for kinds it has: nothing is called kept that was not read.
#[test]
fn what_a_dump_lacks_is_unknown() {
    let folder = tempfile::tempdir().unwrap();
    let text = "apiVersion: v1\nkind: Secret\nmetadata: {name: token, namespace: shop}\n---\napiVersion: v1\n\
                kind: ConfigMap\nmetadata:\n  name: of-secret\n  namespace: shop\n  ownerReferences:\n  \
                - {apiVersion: v1, kind: Secret, name: token, uid: a}\n";
    let path = write(folder.path(), "secret.yaml", text);
    // The example is whole; a copy of it isn't known to be.
    let copy = format!("{}# copied\n", std::fs::read_to_string(SHOP).unwrap());
    let shop = write(folder.path(), "shop.yaml", &copy);
    let on_copy = |args: &[&str]| gc(&[&["plan", "--apply", "-f", &path, "--from", &shop], args].concat());
    let ran = on_copy(&[]);
    let lines: Vec<&str> = ran.out.lines().filter(|line| line.contains(" -n shop")).collect();
    assert!(lines.iter().all(|line| line.contains("? unsure")), "{ran}");
    assert_eq!(ran.code, 0);
    assert_eq!(on_copy(&["--fail-on=unsure"]).code, 2);
    let fix = on_copy(&["--fix"]);
    assert_eq!((fix.code, fix.out.as_str()), (2, text), "{fix}");
    assert!(fix.err.contains("could not be read were left as they are"), "{fix}");
    let complete = on_copy(&["--assume-complete", "-o", "name"]);
    assert_eq!(complete.out, "configmap/of-secret\n", "{complete}");
}

#[test]
fn usage() {
    for (args, why) in [
        (&["plan", "--apply"][..], "--apply needs a file: -f FILE, a folder, -f - or -k FOLDER"),
        (&["plan", "--fix", "-f", BACKUP], "--apply"),
        (&["plan", "--apply", "-f", BACKUP, "deploy/web"], "--apply needs -f FILE or -k FOLDER, and no TARGET"),
        (&["plan", "--apply", "-f", BACKUP, "--max=1"], "cannot be used with"),
        (&["plan", "--apply", "-f", BACKUP, "-o", "svg"], "--apply has no pictures"),
        (&["plan", "--apply", "-f", BACKUP, "--fix", "-o", "wide"], "--fix prints a file: -o yaml or -o json"),
        (&["plan", "--apply", "-f", "nowhere.yaml"], "No such file"),
    ] {
        let ran = on_shop(args);
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{args:?}");
        assert!(ran.err.contains(why), "{args:?}: {ran}");
    }
    let other = on_shop(&["plan", "--apply", "-f", BACKUP, "-n", "elsewhere"]);
    assert!(other.err.contains("\"search\" is in namespace \"shop\", -n says \"elsewhere\""), "{other}");
    let twice = gc(&["plan", "--apply", "-f", "-", "--from", "-"]);
    assert!(twice.err.contains("standard input cannot be both"), "{twice}");
}
