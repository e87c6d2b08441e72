//! The screen in a real terminal emulator.
#![cfg(unix)]

use std::{fs, path::Path};

use insta::assert_snapshot;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use super::{
    run::{SHOP, gc},
    tmux::Tmux,
};

/// A terminal in the folder of the repository.
fn terminal() -> Tmux {
    Tmux::of(80, 24, Path::new(env!("CARGO_MANIFEST_DIR")))
}

/// A picture without ages, which depend on the day.
fn ageless(shown: &str) -> String {
    let is_age = |word: &str| {
        word.starts_with(|letter: char| letter.is_ascii_digit())
            && word.ends_with(['d', 'h', 'm', 's'])
            && word.chars().all(|letter| letter.is_ascii_digit() || "ydhms".contains(letter))
    };
    let line = |line: &str| match line.trim_end().rsplit_once(' ') {
        Some((before, age)) if is_age(age) => format!("{}  AGE", before.trim_end()),
        _ => line.to_owned(),
    };
    shown.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_walk_through_the_example() {
    let tmux = terminal();
    tmux.starts(&format!("tui --from {SHOP} -n shop"));
    assert_snapshot!("tui-forest", ageless(&tmux.until("? help")));
    tmux.press(&["/", "w", "e", "b", "Enter"]);
    assert_snapshot!("tui-filter", ageless(&tmux.until("Esc drops it")));
    tmux.press(&["Escape", "Home", "Space"]);
    tmux.until("1 marked");
    tmux.press(&["p"]);
    assert_snapshot!(
        "tui-plan",
        tmux.until_it("the plan", |shown| shown.contains("copy command") && !shown.contains("Simulating"))
    );
    tmux.press(&["Tab"]);
    tmux.until_it("the plan in the foreground", |shown| {
        shown.contains("web-uploads, foreground") && !shown.contains("Simulating")
    });
    tmux.press(&["y"]);
    tmux.until("Copied: command");
    tmux.press(&["q", "q", "?"]);
    assert_snapshot!("tui-help", ageless(&tmux.until("dependents shown; hidden")));
    tmux.press(&["q", "f"]);
    tmux.until_it("the findings", |shown| shown.contains("Findings of doctor") && !shown.contains("Looking"));
    tmux.press(&["q", "q"]);
    tmux.is_restored(0);
}

#[test]
fn the_screen_follows_the_terminal() {
    let tmux = terminal();
    tmux.starts(&format!("tui --from {SHOP} -n shop"));
    tmux.until("? help");
    tmux.call(&["resize-window", "-x", "120", "-y", "40"]);
    tmux.until_it("a wide screen", |shown| {
        shown.lines().count() >= 40 && shown.lines().last().is_some_and(|last| last.contains("? help"))
    });
    // As fast as it can, so that many a size comes while the last one is drawn.
    for (columns, lines) in [("30", "6"), ("3", "2"), ("1", "1"), ("80", "24")].repeat(20) {
        tmux.call(&["resize-window", "-x", columns, "-y", lines]);
    }
    tmux.until("? help");
    tmux.press(&["q"]);
    tmux.is_restored(0);
}

/// However it ends, the terminal is as it was.
#[test]
fn every_end_restores_the_terminal() {
    let tmux = terminal();
    tmux.starts(&format!("tree -i --from {SHOP} -n shop"));
    tmux.until("? help");
    tmux.press(&["C-c"]);
    tmux.is_restored(0);
    for (signal, code) in [(Signal::TERM, 143), (Signal::INT, 130), (Signal::HUP, 129)] {
        let tmux = terminal();
        tmux.starts(&format!("tui --from {SHOP}"));
        tmux.until("? help");
        let pid = fs::read_to_string(tmux.path("pid")).unwrap();
        let pid = Pid::from_raw(pid.trim().parse().unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
        tmux.is_restored(code);
    }
}

/// A panic is told on the terminal as it was before.
#[test]
fn a_panic_restores_the_terminal() {
    let tmux = terminal();
    tmux.starts_with("KUBECTL_GC_TEST_PANIC=1", &format!("tui --from {SHOP}"));
    tmux.until("? help");
    tmux.press(&["IC"]);
    tmux.is_restored_and_says(101, "KUBECTL_GC_TEST_PANIC set");
}

/// Without a terminal there is nothing to draw on: an error says what to do.
#[test]
fn a_pipe_is_no_terminal() {
    for args in [&["tui", "--from", SHOP][..], &["tree", "-i", "--from", SHOP], &["doctor", "-i", "--from", SHOP]] {
        let ran = gc(args);
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{ran:?}");
        assert!(ran.err.contains("needs a terminal") && ran.err.contains("without -i"), "{ran:?}");
    }
    let stdin = gc(&["tui", "--from", "-"]);
    assert!(stdin.code == 1 && stdin.err.contains("write the dump into a file"), "{stdin:?}");
}

/// 100,000 objects open, and can be walked.
#[test]
fn a_large_dump() {
    let tmux = terminal();
    let object = |number: usize| {
        json!({"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": format!("c{number:06}"), "namespace": "shop", "uid": format!("u{number}")}})
    };
    let dump = tmux.path("dump.json");
    let items: Vec<_> = (0..100_000).map(object).collect();
    fs::write(&dump, json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string()).unwrap();
    tmux.starts(&format!("tui --from {}", dump.display()));
    assert!(tmux.until("? help").contains("100,000 objects"));
    tmux.press(&["End"]);
    tmux.until("ConfigMap/c099999");
    tmux.press(&["/", "c054321"]);
    tmux.until("1 of 100,000 match");
    tmux.press(&["C-c"]);
    tmux.is_restored(0);
}
