//! Colour is only used on a terminal, and never carries information alone.

use super::run::{Ran, SHOP, finish, on_shop, program};

const COMMANDS: [&[&str]; 7] = [
    &["tree"],
    &["plan", "deploy/web", "-n", "shop"],
    &["plan", "-A"],
    &["resources"],
    &["doctor"],
    &["doctor", "-o", "wide"],
    &["explain", "cm/shop-settings"],
];

fn with_variable(args: &[&str], name: &str, value: &str) -> Ran {
    finish(program().args(args).args(["--from", SHOP]).env(name, value))
}

/// A text without its escape sequences.
pub fn plain(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once('m').expect("a colour").1)
}

#[test]
fn there_is_none_in_a_pipe() {
    for args in COMMANDS {
        assert!(!on_shop(args).done().contains('\u{1b}'), "{args:?}");
        assert!(!with_variable(args, "TERM", "xterm-256color").done().contains('\u{1b}'), "{args:?}");
    }
}

#[test]
fn it_is_there_when_asked_for() {
    for args in COMMANDS {
        let always = on_shop(&[args, &["--color=always"]].concat()).done();
        assert!(always.contains("\u{1b}["), "{args:?}");
        assert_eq!(plain(&always), on_shop(args).done(), "colour says nothing of its own");
    }
}

/// Lost data comes first in a namespace's plan, and has the colour of the worst.
#[test]
fn lost_data_is_the_worst() {
    let args = ["plan", "ns/shop", "--color=always", "--from", "tests/cli/dumps/outside.yaml"];
    let text = finish(program().args(args)).out;
    // The target itself is the first line.
    let below: Vec<&str> = text.lines().filter(|line| line.starts_with("  ")).skip(1).collect();
    assert!(below[0].contains("PersistentVolumeClaim/data"), "{text}");
    assert!(below[0].ends_with("\u{1b}[31;1m! DATA LOSS\u{1b}[0m"), "{:?}", below[0]);
    assert!(below[1].contains("\u{1b}[31;1m■ STUCK"), "{:?}", below[1]);
}

#[test]
fn the_flag_is_stronger_than_the_environment() {
    let args = &["plan", "deploy/web", "-n", "shop"];
    assert!(with_variable(args, "CLICOLOR_FORCE", "1").done().contains('\u{1b}'));
    assert!(!with_variable(args, "CLICOLOR_FORCE", "0").done().contains('\u{1b}'));
    assert!(with_variable(&[args, &["--color=always"][..]].concat(), "NO_COLOR", "1").done().contains('\u{1b}'));
    assert!(!with_variable(&[args, &["--color=never"][..]].concat(), "CLICOLOR_FORCE", "1").done().contains('\u{1b}'));
    let both = finish(program().args(args).args(["--from", SHOP]).env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1"));
    assert!(!both.done().contains('\u{1b}'));
}

#[test]
fn documents_have_none() {
    for format in ["json", "yaml", "name"] {
        let out = on_shop(&["plan", "deploy/web", "-n", "shop", "--color=always", "-o", format]).done();
        assert!(!out.contains('\u{1b}'), "{format}");
    }
}
