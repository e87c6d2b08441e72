//! What covers the forest: texts to scroll, and lists to choose from.

use crate::render::style::Tone;
use gc_core::model::Identity;

use super::text::{Line, wrapped};

/// One thing that covers the forest.
#[derive(Clone, Debug)]
pub(super) enum Pane {
    Text(TextPane),
    List(ListPane),
}

/// What a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextKind {
    Plain,
    Plan,
    Finding,
    /// A command that was copied.
    Copied,
}

/// A text to scroll.
#[derive(Clone, Debug)]
pub(super) struct TextPane {
    pub kind: TextKind,
    pub title: String,
    pub lines: Vec<Line>,
    /// The first line on the screen, and how many of the screen's lines that it takes up are above.
    pub top: usize,
    pub within: usize,
    /// The commands to copy, and which is next.
    pub commands: Vec<String>,
    pub next: usize,
    /// Whether text and commands are still to come.
    pub awaited: bool,
    /// Whether a command is to be copied once they are there.
    pub copies: bool,
    /// Where `o` goes.
    pub object: Option<Identity>,
}

impl TextPane {
    pub(super) fn new(kind: TextKind, title: impl Into<String>, lines: Vec<Line>) -> Self {
        let title = title.into();
        let (commands, next, awaited, copies) = (Vec::new(), 0, false, false);
        TextPane { kind, title, lines, top: 0, within: 0, commands, next, awaited, copies, object: None }
    }

    /// Scrolls by so many of the screen's lines. Looks only at what comes by.
    pub(super) fn scroll(&mut self, by: isize, width: usize, height: usize) {
        match by {
            isize::MIN => (self.top, self.within) = (0, 0),
            isize::MAX => {
                (self.top, self.within) = (self.lines.len().saturating_sub(1), 0);
                (1..height).for_each(|_| self.up(width));
            }
            by if by < 0 => (0..by.unsigned_abs()).for_each(|_| self.up(width)),
            _ => (0..by.unsigned_abs()).for_each(|_| self.down(width, height)),
        }
    }

    fn up(&mut self, width: usize) {
        if self.within > 0 {
            self.within -= 1;
        } else if self.top > 0 {
            self.top -= 1;
            self.within = wrapped(&self.lines[self.top], width).len() - 1;
        }
    }

    fn down(&mut self, width: usize, height: usize) {
        let Some(first) = self.lines.get(self.top) else { return };
        let first = wrapped(first, width).len();
        let mut left = first.saturating_sub(self.within);
        for line in self.lines.iter().skip(self.top + 1) {
            if left > height {
                break;
            }
            left += wrapped(line, width).len();
        }
        if left <= height {
            return;
        }
        match self.within + 1 < first {
            true => self.within += 1,
            false => (self.top, self.within) = (self.top + 1, 0),
        }
    }
}

/// What a list is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListKind {
    Findings,
    Owners,
}

/// One line of a list.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub tone: Tone,
    pub text: String,
    /// Where Enter goes; `None`: nowhere, or the finding with this number.
    pub object: Option<Identity>,
}

/// A list to choose from.
#[derive(Clone, Debug)]
pub(super) struct ListPane {
    pub kind: ListKind,
    pub title: String,
    pub items: Vec<Item>,
    /// What to say instead of items.
    pub empty: String,
    pub selected: usize,
    pub top: usize,
}

impl ListPane {
    pub(super) fn step(&mut self, by: isize, height: usize) {
        self.selected = self.selected.saturating_add_signed(by).min(self.items.len().saturating_sub(1));
        self.top = in_view(self.top, self.selected, height);
    }
}

/// The first row to show, so that the selected one is among so many.
pub(super) fn in_view(top: usize, selected: usize, height: usize) -> usize {
    if selected < top { selected } else { top.max((selected + 1).saturating_sub(height.max(1))) }
}
