//! What `doctor` prints, in every format.

use std::{fs, path::Path, process::Command};

use insta::assert_snapshot;
use serde_json::{Value, json};

use super::run::{LEFTOVERS, Ran, gc, run, run_with, with_input, words, write};

/// Contains as many kinds of findings as a dump can produce.
pub const SICK: &str = "tests/cli/dumps/sick.yaml";

/// A cluster in which the collector can't see everything.
pub const BLIND: &str = "tests/cli/dumps/blind.json";

/// A cluster in which no collector is running.
pub const IDLE: &str = "tests/cli/dumps/idle.yaml";

/// Runs on a dump, and shows the command and its output.
fn shown_on(dump: &str, line: &str) -> String {
    let line = format!("{line} --from {dump}");
    format!("$ kubectl gc {line}\n{}", run(&line))
}

fn shown(line: &str) -> String {
    shown_on(SICK, line)
}

/// One cause may have effects in many namespaces: with `-n`, neither objects nor commands are of another.
#[test]
fn nothing_of_another_namespace_is_told_or_mended() {
    let reference = |kind: &str, uid: &str| json!({"apiVersion": "v1", "kind": kind, "name": "owner", "uid": uid});
    let object = |(namespace, reference): (&str, &Value)| {
        let name = format!("{namespace}-{}", reference["kind"].as_str().unwrap_or_default().to_lowercase());
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata":
            {"name": name, "namespace": namespace, "uid": name, "ownerReferences": [reference]}})
    };
    let faults = [reference("ConfigMap", "gone"), reference("PodList", "listed"), reference("Thing", "odd")];
    let items: Vec<Value> =
        faults.iter().flat_map(|fault| ["here", "there"].map(|namespace| object((namespace, fault)))).collect();
    let dump = json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string();
    for format in ["json", "remedies", "name"] {
        let run = |scope: &str| {
            with_input(&words(&format!("doctor --assume-complete {scope} -o {format} --from -")), dump.clone()).out
        };
        let (here, all) = (run("-n here"), run("-A"));
        for fault in ["configmap", "podlist", "thing"] {
            assert!(all.contains(&format!("there-{fault}")), "{format}: {all}");
            assert!(here.contains(&format!("here-{fault}")) && !here.contains("there-"), "{format}: {here}");
        }
    }
}

#[test]
fn texts() {
    assert_snapshot!("doctor", shown("doctor"));
    assert_snapshot!("doctor-namespace", shown("doctor -n shop --only=owner-absent,owner-other-namespace"));
    assert_snapshot!("doctor-wide", shown("doctor -o wide --only=owner-absent,ownership-cycle,owner-other-namespace"));
    assert_snapshot!("doctor-name", shown("doctor -o name --only=owner-absent,namespaced-owner-of-cluster-scoped"));
    assert_snapshot!("doctor-oneline", shown("doctor -o oneline"));
    assert_snapshot!("doctor-remedies", shown("doctor -o remedies --only=owner-absent,owner-other-uid,owner-unread"));
    assert_snapshot!("doctor-json", shown("doctor -o json --only=owner-other-uid"));
    assert_snapshot!("doctor-leftovers", shown_on(LEFTOVERS, "doctor"));
    assert_snapshot!("doctor-blind", shown_on(BLIND, "doctor"));
    assert_snapshot!("doctor-idle", shown_on(IDLE, "doctor"));
    assert_snapshot!("doctor-forbidden", shown_on("tests/cli/dumps/forbidden.json", "doctor"));
}

/// If nothing was found, the summary claims no more than was examined.
#[test]
fn nothing_found() {
    let healthy = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop, uid: a}\n";
    let node = "---\napiVersion: v1\nkind: Node\nmetadata: {name: a, uid: b}\n";
    assert_snapshot!("doctor-healthy", run_with("doctor --from -", healthy));
    assert_snapshot!("doctor-healthy-namespace", run_with("doctor -n shop --from -", &format!("{healthy}{node}")));
    assert_snapshot!("doctor-not-found", shown("doctor --only=collector-stopped,list-unreadable --assume-complete"));
    assert_eq!(run_with("doctor --from - -o name", healthy).fine(), "");
    assert_snapshot!("doctor-healthy-target", run_with("doctor cm/a --from -", healthy));
    let script = run_with("doctor --from - -o remedies", healthy).fine();
    assert!(script.ends_with("# There are no findings, so there is nothing to do.\n"), "{script}");

    let head = json!({"apiVersion": "kubectl-gc/v1", "kind": "Snapshot", "complete": false, "objects": [],
                      "origin": {"cluster": {"context": "prod", "server": "prod:6443"}},
                          "preferredVersions": {"": "v1"},
                      "gaps": [{"resource": "configmaps", "reason": "forbidden"}],
                      "resources": [{"group": "", "version": "v1", "name": "configmaps", "singular": "configmap",
                          "kind": "ConfigMap",
                                     "namespaced": true, "verbs": ["delete", "get", "list", "patch", "update",
                                         "watch"]}],
                      "lists": [{"resource": "configmaps", "version": "v1", "failure": "forbidden"}]});
    assert_snapshot!("doctor-nothing-read", run_with("doctor --from -", &head.to_string()));
    let mut half = head;
    half["objects"] = json!([{"apiVersion": "v1", "kind": "ConfigMap", "namespace": "shop", "name": "a", "uid": "a"}]);
    assert_snapshot!("doctor-healthy-with-gaps", run_with("doctor --from -", &half.to_string()));
}

#[test]
fn codes() {
    assert_snapshot!("doctor-codes", run("doctor --list-codes"));
    let names = run("doctor --list-codes -o name").fine();
    let json: Value = serde_json::from_str(&run("doctor --list-codes -o json").fine()).unwrap();
    let listed: Vec<&str> =
        json["codes"].as_array().unwrap().iter().map(|code| code["code"].as_str().unwrap()).collect();
    assert_eq!(names.lines().collect::<Vec<_>>(), listed);
    assert_eq!(run("doctor --list-codes").out, run("doctor --list-codes -o wide").out);
}

/// How a finding names and counts the affected objects.
#[test]
fn who_suffers() {
    let head = |objects: &[(&str, &str, &str)]| {
        let object = |(index, (kind, api_version, namespace)): (usize, &(&str, &str, &str))| {
            let owner = json!({"apiVersion": "v1", "kind": "Secret", "name": "gone", "uid": "gone"});
            json!({"apiVersion": api_version, "kind": kind, "metadata":
                   {"name": format!("n{index}"), "namespace": namespace, "uid": format!("u{index}"),
                       "ownerReferences": [owner]}})
        };
        let items: Vec<Value> = objects.iter().enumerate().map(object).collect();
        let list = json!({"kind": "List", "apiVersion": "v1", "items": items}).to_string();
        let out = run_with("doctor --from - --assume-complete", &list).done();
        let words: Vec<&str> = out.split_whitespace().skip_while(|word| *word != "▲").skip(3).collect();
        words.join(" ").split(" Why The owner v1 Secret/gone ").next().unwrap().to_owned()
    };
    let map = ("ConfigMap", "v1", "shop");
    assert_eq!(head(&[map]), "ConfigMap/n0 -n shop");
    assert_eq!(head(&[map; 3]), "ConfigMap/n0, ConfigMap/n1 and ConfigMap/n2 -n shop");
    assert_eq!(head(&[map; 4]), "4 ConfigMaps -n shop (ConfigMap/n0, ConfigMap/n1, ConfigMap/n2 -n shop and 1 more)");
    let bucket = ("Bucket", "s3.example.org/v1", "shop");
    let ingress = ("Ingress", "networking.k8s.io/v1", "shop");
    let describe = head(&[&[bucket; 4][..], &[ingress; 2], &[map]].concat());
    assert!(describe.starts_with("4 Buckets (s3.example.org), 2 Ingresses and 1 ConfigMap -n shop "), "{describe}");
    let others =
        ["Service", "LimitRange", "ResourceQuota", "Endpoints", "ServiceAccount"].map(|kind| (kind, "v1", "shop"));
    let describe = head(&[&[map; 1200][..], &[ingress; 2], &others].concat());
    assert!(
        describe.starts_with("1,200 ConfigMaps, 2 Ingresses, 1 ")
            && describe.contains(" and 2 of 2 other kinds -n shop "),
        "{describe}"
    );
    assert!(describe.ends_with(" and 1,204 more)"), "{describe}");
}

/// Unknown codes are reported before any input is read.
#[test]
fn what_cannot_be_asked() {
    for (line, error) in [
        (
            "doctor --only=owner-absnt --from nowhere",
            "there is no code \"owner-absnt\"; did you mean owner-absent? (--list-codes prints all)",
        ),
        ("doctor --only=x,owner-absent --from nowhere", "there is no code \"x\" (--list-codes prints all)"),
        ("doctor --only= --from nowhere", "--only has an empty code; --list-codes prints all"),
        ("doctor --list-codes -o remedies", "--list-codes cannot be combined with -o remedies"),
        ("doctor --list-codes -o oneline", "--list-codes cannot be combined with -o oneline"),
    ] {
        let ran = run(line);
        assert_eq!(
            (ran.code, ran.out.as_str(), ran.err.as_str()),
            (1, "", format!("error: {error}\n").as_str()),
            "{line}"
        );
    }
    for line in ["doctor --list-codes --only=owner-absent", "doctor --list-codes pods", "doctor --list-codes --from x"]
    {
        let ran = run(line);
        assert!(ran.code == 1 && ran.err.contains("cannot be used with"), "{line} {ran}");
    }
}

#[test]
fn exit_codes() {
    for (line, code) in [
        ("doctor", 2),
        ("doctor -o json", 2),
        ("doctor -o remedies", 2),
        ("doctor --fail-on=never", 0),
        ("doctor --only=owner-absent", 0),
        ("doctor --only=owner-absent --fail-on=warning", 2),
        ("doctor --only=owner-unread --fail-on=warning", 0),
        ("doctor --only=collector-stopped --fail-on=warning", 0),
    ] {
        let ran = run(&format!("{line} --from {SICK}"));
        assert_eq!(ran.code, code, "{line} {ran}");
    }
}

/// Each finding of the document is one line, which begins with its severity and code.
/// kubectl output: `doctor -o oneline` | own: a line for each finding, for grep
#[test]
fn each_finding_is_one_line() {
    let hostile =
        |format: &str| with_input(&["doctor", "--from", "-", "--assume-complete", "-o", format], hostile()).done();
    let sick = |format: &str| gc(&["doctor", "-o", format, "--from", SICK]).done();
    for [lines, document] in [["oneline", "json"].map(hostile), ["oneline", "json"].map(sick)] {
        let document: Value = serde_json::from_str(&document).unwrap();
        let findings = document["findings"].as_array().unwrap();
        let codes: Vec<&str> = findings.iter().map(|finding| finding["code"].as_str().unwrap()).collect();
        let told: Vec<&str> = lines.lines().filter_map(|line| line.split([' ', ':']).nth(1)).collect();
        assert_eq!(told, codes, "{lines}");
        assert!(!codes.is_empty() && lines.ends_with('\n'), "{lines}");
    }
}

/// However `doctor` is called, it prints the command that prints all remedies.
#[test]
fn what_to_call_for_all_remedies() {
    for line in ["doctor", "doctor -n shop", "doctor --assume-complete -A"] {
        let line = format!("{line} --from {SICK}");
        let ran = run(&line);
        let all = ran
            .out
            .lines()
            .skip_while(|line| line.trim() != "all remedies:")
            .find_map(|line| line.strip_prefix("          kubectl gc "))
            .expect("a finding with many objects");
        let script = run(all).out;
        assert!(
            script.starts_with("#!/bin/sh\n") && script.contains("owner-absent: ") && script.contains("report-7d9f"),
            "{all} {script}"
        );
    }
}

/// Scripts for several dumps, one of them with names that try to break out of their quoting.
fn scripts() -> Vec<String> {
    let hostile = with_input(&words("doctor --from - --assume-complete -o remedies"), hostile());
    assert_eq!(hostile.err, "");
    let mut scripts: Vec<String> = [SICK, LEFTOVERS, "tests/cli/dumps/troubles.yaml", "tests/cli/dumps/forbidden.json"]
        .map(|dump| gc(&["doctor", "-o", "remedies", "--from", dump]).done())
        .into();
    scripts.push(hostile.done());
    scripts
}

/// Names that a shell, a comment or a terminal could misinterpret.
const NAMES: [&str; 7] = [
    "a $(touch pwned); isn't `touch pwned`",
    "b\ntouch pwned\n#",
    "c\r\u{1b}[2Jtouch pwned",
    "\\",
    "'; touch pwned; '",
    "e\u{2028}touch pwned\u{85}touch pwned",
    "\" || touch pwned # {}",
];

/// Uses Roles, because their names may contain almost any character.
fn hostile() -> String {
    let objects = NAMES.iter().enumerate().map(|(index, name)| {
        let owner = json!({"apiVersion": "v1", "kind": "Secret", "name": name, "uid": format!("gone {name}")});
        json!({"apiVersion": RBAC, "kind": "Role", "metadata":
               {"name": name, "namespace": "shop", "uid": format!("u{index}"), "ownerReferences": [owner]}})
    });
    json!({"apiVersion": "v1", "kind": "List", "items": objects.collect::<Vec<_>>()}).to_string()
}

const RBAC: &str = "rbac.authorization.k8s.io/v1";

fn checked(program: &str, args: &[&str], script: &Path) -> Option<(bool, String)> {
    let output = Command::new(program).args(args).arg(script).output().ok()?;
    Some((
        output.status.success(),
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr)),
    ))
}

/// Shellcheck's lower severities only ask whether text in single quotes is meant literally. It is.
const SHELLCHECK: &[&str] = &["--shell=sh", "--severity=warning"];

/// Every available shell accepts every script; shellcheck, if available, reports nothing.
#[test]
fn scripts_are_in_order() {
    let folder = tempfile::tempdir().unwrap();
    for script in scripts() {
        let path = write(folder.path(), "script.sh", &script);
        let path = Path::new(&path);
        assert_eq!(checked("sh", &["-n"], path).expect("a shell"), (true, String::new()), "{script}");
        for (program, args) in [("dash", &["-n"][..]), ("bash", &["-n"]), ("shellcheck", SHELLCHECK)] {
            if let Some(said) = checked(program, args, path) {
                assert_eq!(said, (true, String::new()), "{program}\n{script}");
            }
        }
        let obeyed = script.chars().find(|c| (c.is_control() && *c != '\n') || *c == '\u{2028}');
        assert_eq!(obeyed, None, "{script}");
        assert!(!script.lines().any(|line| line.starts_with("touch")), "{script}");
    }
}

/// Runs a script with a fake kubectl that logs its arguments, and that fails if they contain `fails`.
fn played(script: &str, fails: &str) -> (Ran, Vec<Vec<String>>) {
    let folder = tempfile::tempdir().unwrap();
    let kubectl = format!(
        "#!/bin/sh\nprintf '%s\\037' \"$@\" >> {0}/calls\nprintf '\\036' >> {0}/calls\ncase \"$*\" in *'{fails}'*) \
            exit 1;; esac\n",
        folder.path().display()
    );
    let kubectl = write(folder.path(), "kubectl", &kubectl);
    #[cfg(unix)]
    fs::set_permissions(kubectl, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let script = write(folder.path(), "script.sh", script);
    let path = format!("{}:/usr/bin:/bin", folder.path().display());
    let output = Command::new("sh").arg(script).env("PATH", path).current_dir(folder.path()).output().unwrap();
    assert!(!folder.path().join("pwned").exists());
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let calls = fs::read_to_string(folder.path().join("calls")).unwrap_or_default();
    let calls =
        calls.split_terminator('\u{1e}').map(|call| call.split_terminator('\u{1f}').map(str::to_owned).collect());
    (Ran { code: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }, calls.collect())
}

/// The script runs only the first remedy of each finding, and continues after a failure.
#[test]
#[cfg(unix)]
fn scripts_do_what_they_say() {
    let names = ["a", "b", "c", "report-1", "d", "e"];
    let role = |name: &str, owners: Value| {
        json!({"apiVersion": RBAC, "kind": "Role", "metadata":
               {"name": name, "namespace": "x", "uid": name, "ownerReferences": owners}})
    };
    let wrong = json!([{"apiVersion": RBAC, "kind": "Role", "name": "wrong", "uid": "owner"}]);
    let mut objects: Vec<Value> = names.iter().map(|name| role(name, wrong.clone())).collect();
    objects.push(role("owner", json!([])));
    let dump = json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string();
    let script = with_input(&words("doctor --from - --only=owner-other-name -o remedies"), dump).done();
    for (fails, code, said) in
        [("nothing", 0, ""), ("report-1", 1, "1 of 6 commands failed\n"), ("patch", 1, "6 of 6 commands failed\n")]
    {
        let (ran, calls) = played(&script, fails);
        assert_eq!((ran.code, ran.err.as_str()), (code, said), "{fails} {ran}");
        assert_eq!(calls.len(), names.len(), "{calls:?}");
        for name in names {
            let named = |call: &&Vec<String>| call[0] == "patch" && call[1].ends_with(&format!("/{name}"));
            assert_eq!(calls.iter().filter(named).count(), 1, "{calls:?}");
        }
    }
}

/// A remedy that needs a decision first is commented out.
#[test]
#[cfg(unix)]
fn scripts_leave_decisions() {
    let script = gc(&["doctor", "-o", "remedies", "--from", SICK, "--only=armed-deletion"]).done();
    assert!(script.contains("\n# kubectl patch buckets.s3.aws.upbound.io/logs-eu "), "{script}");
    let (ran, calls) = played(&script, "nothing");
    assert_eq!((ran.code, ran.err.as_str(), calls.len()), (0, "", 0));
    // Whether to keep what the collector would delete is a decision, too.
    let leftovers = gc(&["doctor", "-o", "remedies", "--from", LEFTOVERS, "-A"]).done();
    let (ran, calls) = played(&leftovers, "nothing");
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let undecided = ["replicasets.apps/web-6d5f8c7b94", "configmaps/api-dashboard"];
    assert!(undecided.iter().all(|name| leftovers.contains(name)), "{leftovers}");
    assert!(!calls.iter().flatten().any(|word| undecided.contains(&word.as_str())), "{calls:?}");
    assert!(calls.iter().any(|call| call[0] == "patch"), "what decides nothing runs: {calls:?}");
}

/// A name appears unchanged in a command, or the command is left out.
#[test]
#[cfg(unix)]
fn scripts_keep_names_together() {
    let script =
        with_input(&words("doctor --from - --assume-complete --only=owner-absent -o remedies"), hostile()).done();
    // Its remedies are decisions: somebody chose to keep the objects.
    let script = script.replace("\n# kubectl patch ", "\nkubectl patch ");
    let (ran, calls) = played(&script, "nothing");
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let called: Vec<&str> =
        calls.iter().map(|call| call[1].strip_prefix("roles.rbac.authorization.k8s.io/").expect("an object")).collect();
    let print: Vec<&str> =
        NAMES.into_iter().filter(|name| !name.contains(|c: char| c.is_control() || c == '\u{2028}')).collect();
    assert_eq!(print.len(), 4);
    for name in &print {
        assert!(called.contains(name), "{name}: {called:?}");
    }
    assert_eq!(called.len(), print.len());
}

/// A self-owning Role that waits for itself, named like a flag that deletes all Roles, is deleted by its name; so are
/// other objects with such names.
#[test]
#[cfg(unix)]
fn scripts_take_no_name_for_a_flag() {
    let names =
        ["--all", "--server=evil.example", "-A", "a,b", "c,d", "it's \"$(touch pwned)\"", "a\u{1b}[31mb", "a\nb"];
    let objects = names.iter().map(|name| {
        let owner = json!({"apiVersion": RBAC, "kind": "Role", "name": name, "uid": name, "blockOwnerDeletion": true});
        json!({"apiVersion": RBAC, "kind": "Role", "metadata":
               {"name": name, "namespace": "x", "uid": name, "deletionTimestamp": "2026-01-31T08:00:00Z",
                "finalizers": ["foregroundDeletion"], "ownerReferences": [owner]}})
    });
    let dump = json!({"apiVersion": "v1", "kind": "List", "items": objects.collect::<Vec<_>>()}).to_string();
    let script = with_input(&words("doctor --from - --only=foreground-deadlock -o remedies"), dump).done();
    let (ran, calls) = played(&script, "nothing");
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{script}");
    let mut called: Vec<&str> = Vec::new();
    for call in &calls {
        let [delete, object, flags @ ..] = call.as_slice() else { panic!("{call:?}") };
        assert_eq!((delete.as_str(), flags.join(" ")), ("delete", DELETES.to_owned()), "{call:?}");
        called.push(object.strip_prefix("roles.rbac.authorization.k8s.io/").expect("an object"));
    }
    called.sort_unstable();
    let mut print = names[..6].to_vec();
    print.sort_unstable();
    assert_eq!(called, print);
}

const DELETES: &str = "-n x --cascade=background --wait=false --ignore-not-found";

/// If no API server accepts a string as a group, name or namespace, no command contains it, and none of it is executed.
#[test]
#[cfg(unix)]
fn scripts_leave_out_what_no_server_accepts() {
    for (api_version, name, namespace) in [
        ("acme.io$(touch pwned)/v1", "a", "x"),
        ("acme.io;touch pwned;/v1", "a", "x"),
        ("acme.io/v1", "a/../b", "x"),
        ("acme.io/v1", "..", "x"),
        ("acme.io/v1", "a", "--all-namespaces"),
        ("acme.io/v1", "a", "$(touch pwned)"),
    ] {
        let owner = json!({"apiVersion": api_version, "kind": "Gone", "name": name, "uid": "gone"});
        let object = json!({"apiVersion": api_version, "kind": "Thing", "metadata":
               {"name": name, "namespace": namespace, "uid": "u", "ownerReferences": [owner],
                "deletionTimestamp": "2026-01-31T08:00:00Z", "finalizers": ["acme.io/a"]}});
        for line in ["doctor --from - --assume-complete -o remedies", "doctor --from - -o remedies"] {
            let script = with_input(&words(line), object.to_string()).done();
            assert!(!script.lines().any(|line| !line.starts_with('#') && line.contains("acme.io")), "{script}");
            let (ran, calls) = played(&script, "nothing");
            assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{script}");
            let looks = [["get", "deployments.apps,statefulsets.apps,daemonsets.apps", "--all-namespaces"]];
            let is_whole = line.contains("--assume-complete");
            assert_eq!(calls, if is_whole { &looks[..0] } else { &looks[..] }, "{script}");
        }
        let plan = with_input(&words("plan thing --all -A --from -"), object.to_string());
        assert!(!plan.out.contains("kubectl delete"), "{plan}");
    }
}

/// The command at the end of a plan deletes only the planned object; if that is impossible, it is commented out.
#[test]
fn plans_name_no_other_object() {
    let next = |name: &str| {
        let role =
            json!({"apiVersion": RBAC, "kind": "Role", "metadata": {"name": name, "namespace": "x", "uid": "u"}});
        let out = with_input(&words("plan roles --all -n x --from -"), role.to_string()).fine();
        out.lines().find_map(|line| line.strip_prefix("Next  ")).expect("a command").to_owned()
    };
    assert_eq!(next("--all"), "kubectl gc delete roles.rbac.authorization.k8s.io/--all -n x");
    assert_eq!(next("a b"), "kubectl gc delete 'roles.rbac.authorization.k8s.io/a b' -n x");
    let by_hand = "# a name in this has characters that don't print, and has to be put in by hand: kubectl gc delete ";
    assert!(next("a\u{1b}[31mb").starts_with(by_hand) && next("a\nb").starts_with(by_hand));
}

/// A script changes the cluster that was examined, even if the current context has changed since.
#[test]
#[cfg(unix)]
fn scripts_stay_with_their_cluster() {
    let script = gc(&["doctor", "-o", "remedies", "--from", "tests/cli/dumps/forbidden.json"]).done();
    let (_, calls) = played(&script, "nothing");
    assert!(!calls.is_empty() && calls.iter().all(|call| call[0] == "--context=prod-eu"), "{calls:?}");
}

/// Remedies contain no leading or trailing punctuation or conjunctions: the output format adds them. What heals comes
/// before what is done by force, in every dump.
#[test]
fn remedies_are_told_alike() {
    let folders = ["tests/cli/dumps", "tests/cli/reports", "examples"];
    let files = folders.iter().flat_map(|folder| std::fs::read_dir(folder).unwrap());
    let mut forced = 0;
    for (file, whole) in
        files.flat_map(|file| [None, Some("--assume-complete")].map(|whole| (file.as_ref().unwrap().path(), whole)))
    {
        let words = ["doctor", "-A", "-o", "json", "--from", file.to_str().unwrap()].into_iter().chain(whole);
        let Ok(json) = serde_json::from_str::<Value>(&gc(&words.collect::<Vec<_>>()).out) else { continue };
        for finding in json["findings"].as_array().into_iter().flatten() {
            let mut is_forced = false;
            for remedy in finding["remedies"].as_array().unwrap() {
                let what = remedy["what"].as_str().unwrap();
                assert!(!what.starts_with("or ") && !what.ends_with(['.', ':']), "{what}");
                let commands: Vec<&str> =
                    remedy["commands"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
                assert!(commands.iter().all(|command| !command.contains('\n')), "{what}");
                let forces = |command: &&str| {
                    let releases = command.contains(r#""op":"remove","path":"/metadata/finalizers/"#)
                        && !command.contains(r#""value":"orphan""#)
                        && !command.contains("--dry-run");
                    releases || ["--force", "/finalize ", "etcdctl del"].iter().any(|word| command.contains(word))
                };
                let is_last = commands.iter().any(forces);
                assert!(is_last || !is_forced, "{} {}: {what}", file.display(), finding["code"]);
                (is_forced, forced) = (is_last, forced + usize::from(is_last));
            }
        }
    }
    assert!(forced > 20, "{forced}");
}
