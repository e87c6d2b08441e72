//! The same output on a terminal of 80 columns: no line is wider, and nothing is missing.
#![cfg(unix)]

use std::{
    fs::{File, OpenOptions},
    io::{Read, Write},
    process::{Command, Stdio},
};

use insta::assert_snapshot;
use regex::Regex;
use rustix::{
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{Winsize, tcsetwinsize},
};
use unicode_width::UnicodeWidthStr;

use super::{
    colour::plain,
    doctor::SICK,
    run::{LEFTOVERS, SHOP, words},
};

/// The two ends of a terminal with this many columns and 24 lines: ours and the program's.
fn terminal(columns: u16) -> (File, File) {
    terminal_of(columns, 24)
}

fn terminal_of(columns: u16, lines: u16) -> (File, File) {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap();
    let theirs = OpenOptions::new().read(true).write(true).open(name.to_str().unwrap()).unwrap();
    tcsetwinsize(&ours, Winsize { ws_row: lines, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
    (File::from(ours), theirs)
}

/// The program with these arguments, on no terminal yet.
fn program(args: &[&str]) -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_kubectl-gc"));
    program.args(args).current_dir(env!("CARGO_MANIFEST_DIR")).env_clear().env("TERM", "xterm");
    program.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    program
}

/// The output on a terminal with this many columns.
pub fn shown(args: &[&str], columns: u16) -> String {
    printed(program(args), terminal(columns))
}

/// The output of a program on a terminal.
fn printed(mut program: Command, (mut ours, theirs): (File, File)) -> String {
    let mut child = program.stdout(theirs).spawn().unwrap();
    // The program has its own copy, and nothing else holds the terminal.
    drop(program);
    let mut text = Vec::new();
    // When the other end is closed, Linux returns EIO, and other systems return end of file.
    let _ = ours.read_to_end(&mut text);
    child.wait().unwrap();
    String::from_utf8(text).unwrap().replace("\r\n", "\n")
}

/// What stands on the terminal once it contains this text.
fn until(terminal: &mut File, text: &str) -> String {
    let (mut all, mut some) = (Vec::new(), [0; 4096]);
    while !String::from_utf8_lossy(&all).contains(text) {
        let read = terminal.read(&mut some).unwrap_or(0);
        assert!(read > 0, "it ended before it said {text:?}: {:?}", String::from_utf8_lossy(&all));
        all.extend(&some[..read]);
    }
    String::from_utf8_lossy(&all).into_owned()
}

/// A line says how far long work is, and goes with it. Where standard error is no terminal, nothing is said of it: not
/// by a run that began earlier, and has as much to do.
#[test]
fn progress() {
    let tree = || program(&["tree", "--from", "-"]);
    let mut elsewhere = tree().stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (mut ours, theirs) = terminal(80);
    let mut child = tree().stdin(Stdio::piped()).stderr(theirs).spawn().unwrap();
    let mut dumps = [elsewhere.stdin.take().unwrap(), child.stdin.take().unwrap()];
    dumps.iter_mut().for_each(|dump| dump.write_all(&[b' '; 1_200_000]).unwrap());
    let told = until(&mut ours, "Reading files: 2 MB");
    assert!(!told.contains("\r\n"), "one line: {told:?}");
    dumps.iter_mut().for_each(|dump| dump.write_all(b"what: ever").unwrap());
    drop(dumps);
    let told = until(&mut ours, "error: ");
    assert!(told.contains("\u{1b}[2K"), "the line is cleared first: {told:?}");
    assert_eq!(child.wait().unwrap().code(), Some(1));
    let told = String::from_utf8(elsewhere.wait_with_output().unwrap().stderr).unwrap();
    assert!(told.starts_with("error: "), "{told:?}");
}

/// The output of a command on the example, at 80 columns, without colours.
fn at_80_columns(line: &str) -> String {
    of_at_80_columns(SHOP, line)
}

/// The output of a command on another dump, at 80 columns, without colours.
fn of_at_80_columns(dump: &str, line: &str) -> String {
    let text = shown(&[&words(line)[..], &["--from", dump]].concat(), 80);
    assert!(text.contains("\u{1b}["), "a terminal gets colours");
    let text = plain(&text);
    for line in text.lines().filter(|line| !is_command(line)) {
        assert!(line.width() <= 80, "{} columns: {line}", line.width());
    }
    format!("$ kubectl gc {line}\n{text}")
}

/// Commands that users paste are never wrapped.
fn is_command(line: &str) -> bool {
    ["kubectl delete", "kubectl gc delete", "kubectl gc plan", " | kubectl "].iter().any(|part| line.contains(part))
        || ["kubectl ", "test ! -e "].iter().any(|begin| line.trim_start().starts_with(begin))
}

/// On the examples, on a small terminal and on a large one, with colours (`{1;31}` begins one, `{}` ends it) and
/// without: then the words are the same.
#[test]
fn on_the_examples() {
    let colour = Regex::new("\u{1b}\\[([0-9;]*)m").unwrap();
    for (name, line) in [
        ("plan", "plan ns/shop --example"),
        ("roots", "plan -A --example"),
        ("tree", "tree -n shop --example"),
        ("doctor", "doctor --example=leftovers"),
        ("explain", "explain cronjob/backup -n shop --example=leftovers"),
        ("sweep", "sweep --dry-run --example=leftovers"),
    ] {
        for (columns, lines) in [(80, 24), (120, 40)] {
            let coloured = printed(program(&words(line)), terminal_of(columns, lines));
            let mut without = program(&words(line));
            without.env("NO_COLOR", "1");
            let text = printed(without, terminal_of(columns, lines));
            assert_eq!(plain(&coloured), text, "{line}");
            for line in text.lines().filter(|line| !is_command(line)) {
                assert!(line.width() <= usize::from(columns), "{} columns: {line}", line.width());
            }
            let rows: usize = text.lines().map(|line| line.width().div_ceil(columns.into()).max(1)).sum();
            let shows_all = rows < usize::from(lines);
            assert!(shows_all || (name, lines) != ("plan", 24), "a screen shows it all, and the prompt: {text}");
            let mut parts = text.trim_end().split("\n\n").skip(1);
            let verdict = parts.next();
            assert_eq!(verdict == parts.last(), !shows_all && name != "tree", "the verdict, above and below: {text}");
            let marked = colour.replace_all(&coloured, "{$1}").replace("{0}", "{}");
            assert_snapshot!(format!("on-{columns}x{lines}-{name}"), format!("$ kubectl gc {line}\n{marked}"));
        }
    }
}

#[test]
fn tree() {
    assert_snapshot!("tree-80", at_80_columns("tree -n shop"));
    assert_snapshot!("tree-owners-80", at_80_columns("tree cm/web-dashboard -n elsewhere --owners"));
}

/// Long remarks are wrapped, and continue on the line below.
#[test]
fn troubles() {
    let troubles = "tests/cli/dumps/troubles.yaml";
    assert_snapshot!("troubles-tree-80", of_at_80_columns(troubles, "tree"));
    assert_snapshot!("troubles-plan-80", of_at_80_columns(troubles, "plan cm/solid --propagation=foreground"));
    assert_snapshot!("troubles-pod-80", of_at_80_columns(troubles, "plan ns/trouble"));
    let unseen = "tests/cli/dumps/unseen.yaml";
    assert_snapshot!("unseen-plan-80", of_at_80_columns(unseen, "plan deploy/web"));
    assert_snapshot!(
        "forbidden-plan-80",
        of_at_80_columns("tests/cli/dumps/forbidden.json", "plan deploy/web --cascade=orphan")
    );
}

#[test]
fn plan() {
    assert_snapshot!("plan-foreground-80", at_80_columns("plan deploy/web -n shop --propagation=foreground"));
    assert_snapshot!("plan-namespace-80", at_80_columns("plan ns/shop"));
    assert_snapshot!("plan-definition-80", at_80_columns("plan crd/shops.acme.io"));
    assert_snapshot!("plan-wide-80", at_80_columns("plan deploy/api -n shop -o wide"));
    assert_snapshot!("blast-radius-80", at_80_columns("plan -A --assume-complete"));
}

/// External effects and reactions of controllers; the worst comes first.
#[test]
fn outside() {
    let shown = |line: &str| of_at_80_columns("tests/cli/dumps/outside.yaml", line);
    assert_snapshot!("outside-namespace-80", shown("plan ns/shop"));
    assert_snapshot!("outside-crossplane-80", shown("plan crd/buckets.s3.aws.upbound.io --cascade=orphan"));
    assert_snapshot!("outside-replicaset-80", shown("plan rs/web-6d5f -n shop"));
    assert_snapshot!("outside-orphaned-80", shown("plan rs/web-6d5f -n shop --cascade=orphan"));
    assert_snapshot!("outside-node-80", shown("plan node/worker-1"));
    assert_snapshot!("outside-mirror-80", shown("plan pod/etcd-worker-1 service/api -n shop"));
    assert_snapshot!("outside-second-delete-80", shown("plan pod/leaving -n elsewhere --cascade=foreground"));
    assert_snapshot!("outside-roots-80", shown("plan -A --assume-complete"));
}

#[test]
fn sweep() {
    assert_snapshot!("sweep-80", of_at_80_columns(LEFTOVERS, "sweep --dry-run"));
    assert_snapshot!("sweep-targets-80", of_at_80_columns(LEFTOVERS, "sweep --dry-run sts/db cronjob/backup pod/db-0"));
    assert_snapshot!("sweep-unseen-80", of_at_80_columns("tests/cli/dumps/unseen.yaml", "sweep --dry-run"));
}

/// Commands are never wrapped, because users paste them.
#[test]
fn explain() {
    let shown = |dump: &str, line: &str| {
        let text = plain(&shown(&[&words(line)[..], &["--from", dump]].concat(), 80));
        for line in text.lines().filter(|line| !line.contains(" kubectl ")) {
            assert!(line.width() <= 80, "{} columns: {line}", line.width());
        }
        format!("$ kubectl gc {line}\n{text}")
    };
    assert_snapshot!("explain-80", shown(SHOP, "explain pod/web-6d5f8c7b94-x2lqp -n shop"));
    assert_snapshot!("explain-stuck-80", shown(LEFTOVERS, "explain cronjob/backup"));
    assert_snapshot!("explain-wide-80", shown(LEFTOVERS, "explain cm/api-dashboard -o wide"));
    assert_snapshot!(
        "explain-troubles-80",
        shown("tests/cli/dumps/troubles.yaml", "explain cm/misled cm/waiting pv/everywhere")
    );
}

#[test]
fn doctor() {
    assert_snapshot!("doctor-80", of_at_80_columns(SICK, "doctor"));
    assert_snapshot!("doctor-codes-80", plain(&shown(&["doctor", "--list-codes"], 80)));
    for line in plain(&shown(&["doctor", "--list-codes"], 80)).lines() {
        assert!(line.width() <= 80, "{line}");
    }
}

#[test]
fn resources() {
    assert_snapshot!("resources-80", at_80_columns("resources"));
}

/// On a terminal that is too narrow, text is wrapped where possible, and the rest stays unwrapped.
#[test]
fn a_narrow_terminal_breaks_nothing() {
    for columns in [1, 2, 10, 20, 40] {
        for (line, dump) in [
            ("tree", SHOP),
            ("plan deploy/web -n shop --propagation=foreground", SHOP),
            ("plan -A", SHOP),
            ("resources --count", SHOP),
            ("sweep --dry-run", LEFTOVERS),
            ("doctor", SICK),
            ("doctor -o wide", SICK),
            ("explain cronjob/backup cm/api-dashboard", LEFTOVERS),
        ] {
            let text = shown(&[&words(line)[..], &["--from", dump]].concat(), columns);
            assert!(!text.contains("panicked") && text.lines().count() > 10, "{columns}: {line}");
        }
    }
}

/// The short help fits on one screen.
#[test]
fn the_short_help_fits_a_screen() {
    let help = plain(&shown(&["-h"], 80));
    assert!(help.lines().count() <= 24, "{} lines", help.lines().count());
    // That of a command takes at most four.
    for command in ["plan", "tree", "doctor", "explain", "sweep", "delete", "restore", "reclaim", "watch"] {
        let help = plain(&shown(&[command, "-h"], 80));
        assert!(help.lines().count() <= 90, "{command}: {} lines", help.lines().count());
    }
    // What only tunes is in `help COMMAND` and in the docs.
    let help = plain(&shown(&["plan", "-h"], 80));
    assert!(!help.contains("--max-input"), "{help}");
    assert!(plain(&shown(&["help", "plan"], 80)).contains("--max-input"));
}
