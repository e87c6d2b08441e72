//! What each key does: the help, and the last line of the screen.

/// A key, whatever the terminal calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    Char(char),
    Ctrl(char),
    Up,
    Down,
    Left,
    Right,
    PageUp,
    PageDown,
    Home,
    End,
    Enter,
    Esc,
    Tab,
    Backspace,
}

/// The keys of the forest, and what they do.
pub(super) const FOREST: [(&str, &str); 18] = [
    ("↑ ↓  k j", "up, down"),
    ("PgUp PgDn", "a screen up, down (also Ctrl-B, Ctrl-F)"),
    ("Home End  g G", "to the first, the last row"),
    ("→  l", "show the dependents; again: go to the first of them"),
    ("←  h", "hide the dependents; again: go to the owner above"),
    ("+  -", "show, hide the dependents of everything"),
    ("/", "filter: words of kind/name, namespace, terminating"),
    ("o  b", "go to an owner of the object; go back to where you were"),
    ("Enter", "all about the object"),
    ("Space  u", "mark the object for a delete, or unmark it; unmark everything"),
    ("p", "plan: what a delete of the marked objects does"),
    ("Tab", "other policy: background, foreground, orphan"),
    ("d", "delete the marked objects: shows the plan and asks"),
    ("f", "findings of doctor, and their remedies"),
    ("y", "copy the command for what you look at"),
    ("!", "what could not be read"),
    ("r  Ctrl-L", "read everything again; draw everything again"),
    ("q Esc", "close what is open; leave (Ctrl-C: leave at once)"),
];

/// What stands in a row, for the help.
pub(super) const SIGNS: (&str, &str) = ("> * ▾ ▸", "selected; marked; dependents shown; hidden, with their number");

/// The main keys in each place, for the last line; the first ones matter most.
pub(super) const FOR_FOREST: [(&str, &str); 9] = [
    ("?", "help"),
    ("q", "leave"),
    ("/", "filter"),
    ("Space", "mark"),
    ("p", "plan"),
    ("d", "delete"),
    ("f", "findings"),
    ("o", "owner"),
    ("Enter", "details"),
];
pub(super) const FOR_FILTER: [(&str, &str); 3] = [("Enter", "keep the filter"), ("Esc", "drop it"), ("↑↓", "move")];
pub(super) const FOR_PLAN: [(&str, &str); 6] = [
    ("Tab", "other policy"),
    ("d", "delete"),
    ("y", "copy command"),
    ("p", "plan again"),
    ("↑↓", "scroll"),
    ("q", "close"),
];
pub(super) const FOR_LIST: [(&str, &str); 4] = [("↑↓", "choose"), ("Enter", "open"), ("?", "help"), ("q", "close")];
pub(super) const FOR_FINDING: [(&str, &str); 4] =
    [("y", "copy command"), ("o", "go to the object"), ("↑↓", "scroll"), ("q", "close")];
pub(super) const FOR_TEXT: [(&str, &str); 3] = [("↑↓", "scroll"), ("?", "help"), ("q", "close")];
