//! The tests on other versions of Kubernetes.
//!
//! One test builds another control plane and runs others of this binary against it, in a process of its own:
//! `CONTROL_PLANE_VERSION` chooses the version, else it is the oldest; `SELECTION=all` runs the whole quick tier. With
//! `VERSIONS=docs/versions.md` it writes what came of it into that page.

use std::{
    collections::BTreeSet,
    env, fs,
    path::{Path, PathBuf},
    time::Duration,
};

use gc_core::model::server_version::TESTED;

use crate::harness::{NOT_RUN, Program, Supervised, VERSION, build, say, versions};

/// What runs on the oldest version in every long tier: the rules on random graphs, in the collector's place and beside
/// it; what empties namespaces; a delete to its end; a healthy cluster.
const SELECTION: [&str; 15] = [
    "content::content_ends_as_foretold",
    "delete::following::a_namespace_is_followed_to_its_end",
    "delete::following::documents_say_it_all",
    "differential::graphs_end_as_foretold",
    "differential::graphs_end_as_foretold_under_a_sweep",
    "differential::kept::graphs_of_which_something_is_kept_end_as_foretold",
    "differential::pass::one_pass_ends_as_foretold",
    "doctor::healthy::a_healthy_cluster_is_read_once",
    "facts::a_snapshot_file_tells_the_facts_that_the_objects_tell",
    "plan::definitions::a_definition_goes_with_its_instances_whatever_the_policy",
    "plan::namespaces::a_namespace_goes_with_its_content",
    "requests::a_tree_of_a_namespace_lists_what_is_in_its_scope_once",
    "requests::servers_without_aggregated_discovery_give_the_same",
    "sweep::pass::a_pass_does_what_it_foretold_and_touches_nothing_else",
    "differential::workloads::workloads_end_as_told",
];

/// How often to say that the tests still run.
const SIGN_OF_LIFE: u32 = 60;

/// The result of one run.
struct Outcome {
    passed: usize,
    failed: Vec<String>,
    /// Those that passed without running, or running in part: `TEST | NEEDED MINOR VERSION | WHY`.
    not_run: BTreeSet<String>,
}

#[test]
#[ignore = "long: builds another control plane"]
fn the_oldest_version_ends_as_foretold() {
    let known = versions().unwrap_or_else(|error| panic!("{error}"));
    let version = env::var(VERSION).ok().filter(|version| !version.is_empty()).unwrap_or_else(|| known[0].clone());
    let whole = env::var("SELECTION").is_ok_and(|selection| selection == "all");
    // Here, so that a version that can't be built is the error, and not one for each test.
    build(&version).unwrap_or_else(|error| panic!("{version}: {error}"));
    let outcome = run(&version, whole);
    let Outcome { passed, failed, not_run } = &outcome;
    say(&format!("{version}: {passed} passed, {} failed, {} not run", failed.len(), not_run.len()));
    if let Some(page) = env::var_os("VERSIONS") {
        write(&PathBuf::from(page), &version, whole, &outcome);
    }
    assert!(failed.is_empty(), "on {version}:\n{}", failed.join("\n"));
    assert!(whole || *passed >= SELECTION.len(), "{passed} of {} tests were found", SELECTION.len());
}

/// Runs tests of this binary against another version.
fn run(version: &str, whole: bool) -> Outcome {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let program = Program::new(env::current_exe().expect("this binary")).env(VERSION, version);
    // The tests of the other process must not take this one's settings.
    let program = program.with(|command| {
        for name in ["VERSIONS", "SELECTION", "KUBEBUILDER_ASSETS"] {
            command.env_remove(name);
        }
        if !whole {
            command.args(["--include-ignored", "--exact"]).args(SELECTION);
        }
    });
    let tests = Supervised::start("tests", folder.path(), program).expect("this binary runs");
    for tick in 0_u32.. {
        if tests.ended().is_some() {
            break;
        }
        if tick % SIGN_OF_LIFE == SIGN_OF_LIFE - 1 {
            say(&format!("still testing {version}: {} tests have passed", read(&tests.log()).passed));
        }
        std::thread::sleep(Duration::from_secs(1));
    }
    let log = tests.log();
    let outcome = read(&log);
    if !outcome.failed.is_empty() || !log.contains("test result: ") {
        say(&log);
    }
    assert!(log.contains("test result: "), "the tests of {version} did not end");
    outcome
}

/// What the tests printed.
fn read(log: &str) -> Outcome {
    let ended = |line: &str, how: &str| {
        let line = line.strip_prefix("test ")?.strip_suffix(how)?;
        line.strip_suffix(" ... ").map(str::to_owned)
    };
    let passed = log.lines().filter(|line| ended(line, "ok").is_some()).count();
    let failed = log.lines().filter_map(|line| ended(line, "FAILED")).collect();
    let not_run: BTreeSet<String> =
        log.lines().filter_map(|line| line.strip_prefix(NOT_RUN)).map(str::to_owned).collect();
    Outcome { passed, failed, not_run }
}

/// Writes the page: the other runs stay as they are.
fn write(path: &Path, version: &str, whole: bool, outcome: &Outcome) {
    let before = fs::read_to_string(path).unwrap_or_default();
    let today = jiff::Timestamp::now().strftime("%Y-%m-%d").to_string();
    fs::write(path, page(&before, version, whole, outcome, &today))
        .unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
}

/// Whether a line of the page is about a version, and no title.
fn is_row(line: &str) -> bool {
    line.strip_prefix("| v").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

fn page(before: &str, version: &str, whole: bool, outcome: &Outcome, today: &str) -> String {
    let what = if whole { "the whole quick tier" } else { "the selection of the long tier" };
    let key = format!("| {version} | {what} |");
    let Outcome { passed, failed, not_run } = outcome;
    let names = failed.iter().map(|name| format!(": `{name}`")).collect::<String>();
    let row = format!("{key} {passed} | {} | {}{names} | {today} |", not_run.len(), failed.len());
    let mut rows: Vec<&str> =
        before.lines().filter(|line| is_row(line) && !line.starts_with(&key)).chain([row.as_str()]).collect();
    rows.sort_unstable();
    // What a run of another version did not run stays, too.
    let begin = format!("| {version} | `");
    let own: Vec<String> = not_run.iter().map(|test| format!("| {version} | {test} |")).collect();
    let listed = |line: &&str| is_row(line) && line.contains(" | `");
    let mut unrun: Vec<&str> =
        before.lines().filter(listed).filter(|line| !whole || !line.starts_with(&begin)).collect();
    unrun.extend(own.iter().map(String::as_str));
    unrun.sort_unstable();
    unrun.dedup();
    rows.retain(|line| !listed(line));
    let (first, last) = (TESTED.start(), TESTED.end());
    let mut page = format!(
        "# Versions of Kubernetes\n\n\
         <!-- Written by a command; see the end. Do not edit it. -->\n\n\
         kubectl gc is tested with Kubernetes 1.{first} to 1.{last}. On any other server, every command says so on\n\
         standard error, and `server.tested` is false in its JSON documents. If a server doesn't tell its version,\n\
         `server` is absent. A rule that is not the same on all of these versions says so in\n\
         [the rule book](rules.md).\n\n\
         What ran on a real control plane of each version, with the real garbage collector:\n\n\
         | version | what ran | passed | of these not or in part | failed | on |\n|---|---|---|---|---|---|\n"
    );
    for row in rows {
        page += &format!("{row}\n");
    }
    if !unrun.is_empty() {
        page += "\nTests that need a newer server, at least in part:\n\n";
        page += "| not on | test | needs | because |\n|---|---|---|---|\n";
        for row in unrun {
            page += &format!("{row}\n");
        }
    }
    page += "\nThe long tier runs the selection on the oldest version each time. Written by\n\n\
        ```console\n\
        $ CONTROL_PLANE_VERSION=v1.33.13 SELECTION=all VERSIONS=$PWD/docs/versions.md \\\n    \
        cargo test --test cluster -- --ignored --nocapture the_oldest_version\n\
        ```\n";
    page
}

#[test]
fn the_page_keeps_what_other_runs_wrote() {
    let outcome = |log: &str| read(log);
    let old = outcome("test a::b ... ok\nnot run: `c::d` | 1.36 | it is new\ntest c::d ... ok\ntest e ... FAILED\n");
    assert_eq!((old.passed, old.failed.as_slice(), old.not_run.len()), (2, &["e".to_owned()][..], 1));
    let first = page("", "v1.33.13", true, &old, "2026-01-01");
    assert!(first.contains("| v1.33.13 | the whole quick tier | 2 | 1 | 1: `e` | 2026-01-01 |\n"), "{first}");
    assert!(first.contains("| v1.33.13 | `c::d` | 1.36 | it is new |\n"), "{first}");
    let new = outcome("test a::b ... ok\n");
    let second = page(&first, "v1.36.3", true, &new, "2026-01-02");
    assert!(
        second.contains("| v1.33.13 | the whole quick tier | 2 | 1 | 1: `e` | 2026-01-01 |\n| v1.36.3 | "),
        "{second}"
    );
    assert!(second.contains("| v1.33.13 | `c::d` | 1.36 | it is new |\n"), "{second}");
    let third = page(&second, "v1.33.13", true, &new, "2026-01-03");
    assert!(third.contains("| v1.33.13 | the whole quick tier | 1 | 0 | 0 | 2026-01-03 |\n"), "{third}");
    assert!(!third.contains("it is new"), "{third}");
}
