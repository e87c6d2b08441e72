//! What covers the forest: texts to scroll, in tones, and lists to choose from.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::render::states::{Tone, Toned};
use gc_core::model::Identity;

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

/// One line: its parts, each in a tone.
pub type Line = Vec<Toned>;

/// The lines of a text whose tones are written as [`crate::render::states::Style`] paints them. Other sequences are
/// left out: views escape what comes from a cluster.
pub fn lines(text: &str) -> Vec<Line> {
    text.lines().map(line).collect()
}

fn line(text: &str) -> Line {
    let mut line: Line = Vec::new();
    let mut tone = Tone::Plain;
    for (index, part) in text.split("\u{1b}[").enumerate() {
        let part = match part.split_once('m').filter(|_| index > 0) {
            Some((code, rest)) => {
                tone = painted_as(code);
                rest
            }
            None => part,
        };
        if !part.is_empty() {
            line.push((tone, part.to_owned()));
        }
    }
    line
}

fn painted_as(code: &str) -> Tone {
    match code {
        "2" => Tone::Quiet,
        "1" => Tone::Strong,
        "32" => Tone::Good,
        "33" => Tone::Warning,
        "35" => Tone::Later,
        "31;1" => Tone::Error,
        _ => Tone::Plain,
    }
}

/// A line, broken into lines of so many columns: at spaces if it has some, and otherwise anywhere.
pub(super) fn wrapped(line: &Line, width: usize) -> Vec<Line> {
    let all: usize = line.iter().map(|(_, text)| text.width()).sum();
    if all <= width {
        return vec![line.clone()];
    }
    let characters: Vec<(Tone, char)> =
        line.iter().flat_map(|(tone, text)| text.chars().map(|character| (*tone, character))).collect();
    let mut lines = Vec::new();
    let mut begin = 0;
    while begin < characters.len() {
        let mut used = 0;
        let fits = characters[begin..].iter().take_while(|(_, character)| {
            used += character.width().unwrap_or(0);
            used <= width
        });
        // At least one character, or there would be no end.
        let fits = fits.count().max(1);
        let mut end = begin + fits;
        let mut next = end;
        if end < characters.len()
            && let Some(space) = characters[begin..=end].iter().rposition(|(_, character)| *character == ' ')
            && characters[begin..begin + space].iter().any(|(_, character)| *character != ' ')
        {
            end = begin + space;
            next = end + 1;
        }
        lines.push(joined(&characters[begin..end]));
        begin = next;
    }
    lines
}

/// Characters of one tone after another, as parts.
fn joined(characters: &[(Tone, char)]) -> Line {
    let mut line: Line = Vec::new();
    for (tone, character) in characters {
        match line.last_mut() {
            Some((last, text)) if last == tone => text.push(*character),
            _ => line.push((*tone, character.to_string())),
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::states::Style;

    /// Every tone comes back as it was painted.
    #[test]
    fn tones_are_read_back() {
        let style = Style::new(true);
        for tone in [Tone::Plain, Tone::Quiet, Tone::Strong, Tone::Good, Tone::Later, Tone::Warning, Tone::Error] {
            let painted = format!("a {} b", style.paint(tone, "x"));
            let expected = [(Tone::Plain, "a "), (tone, "x"), (Tone::Plain, " b")];
            let read = line(&painted);
            match tone {
                Tone::Plain => assert_eq!(read, [(Tone::Plain, "a x b".to_owned())]),
                _ => assert_eq!(read, expected.map(|(tone, text)| (tone, text.to_owned()))),
            }
        }
    }
}
