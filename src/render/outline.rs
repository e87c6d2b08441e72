//! What stands below what, and how each of it looks: a text draws an outline as lines with guides, and every picture as
//! rows, so that both show the same.

use gc_core::model::{ObjectId, Reference};

use super::{
    lines::Line,
    picture::{Levels, Objects, Row, row_of},
};

/// Rows in reading order.
#[derive(Debug, Default)]
pub(super) struct Outline {
    /// The titles of the columns, as wide as these; empty without titles.
    pub titles: Vec<String>,
    pub rows: Vec<OutlineRow>,
}

/// A row, at most one level deeper than the one before it.
#[derive(Debug)]
pub(super) struct OutlineRow {
    pub depth: u32,
    pub subject: Subject,
    /// It only says where another row is.
    pub points: bool,
    /// How many objects it stands for; 0 if it shows one.
    pub more: usize,
    /// Without its guide.
    pub line: Line,
}

/// What a row is about.
#[derive(Debug)]
pub(super) enum Subject {
    Object(ObjectId),
    /// The owner that a reference names; it need not exist.
    Owner(Reference),
    Several,
}

impl Outline {
    /// The lines of a text, with the guides that lead from each row to those below it.
    pub(super) fn lines(self) -> Vec<Line> {
        let guides = guides(self.rows.iter().map(|row| row.depth));
        self.rows.into_iter().zip(guides).map(|(row, guide)| Line { guide, ..row.line }).collect()
    }

    /// Adds the rows of a picture, those without a row above them below this one.
    pub(super) fn draw(&self, objects: &mut Objects<'_>, below: Option<usize>, drawn: &mut Vec<Row>) {
        let mut levels = Levels::default();
        for OutlineRow { depth, subject, points, more, line } in &self.rows {
            let object = match subject {
                Subject::Object(id) => Some(objects.add(*id)),
                Subject::Owner(reference) => objects.add_owner(reference),
                Subject::Several => None,
            };
            let parent = levels.parent(drawn.len(), *depth).or(below);
            drawn.push(Row { object, parent, points: *points, more: *more, ..row_of(line, &self.titles) });
        }
    }
}

/// So many levels are drawn side by side. Deeper ones restart at the left, with the number of omitted levels.
const LEVELS: usize = 10;

/// The guides of lines with these depths, in reading order. Takes linear time, at any depth.
fn guides(depths: impl Iterator<Item = u32>) -> Vec<String> {
    let depths: Vec<usize> = depths.map(|depth| depth as usize).collect();
    let last = last_of_siblings(&depths);
    let mut ends = Vec::new();
    let mut guides = Vec::with_capacity(depths.len());
    for (index, depth) in depths.iter().copied().enumerate() {
        ends.truncate(depth);
        // A line is at most one level deeper than the one before it; more is never drawn.
        ends.resize(depth, true);
        ends.push(last[index]);
        guides.push(draw(depth, &ends[depth + 1 - levels(depth)..]));
    }
    guides
}

/// For every line, whether it is the last of its siblings.
pub(crate) fn last_of_siblings(depths: &[usize]) -> Vec<bool> {
    let mut follows: Vec<bool> = Vec::new();
    let mut last = vec![true; depths.len()];
    for (index, depth) in depths.iter().copied().enumerate().rev() {
        follows.truncate(depth + 1);
        follows.resize(depth + 1, false);
        last[index] = !std::mem::replace(&mut follows[depth], true);
    }
    last
}

/// How many levels the guide of a line at this depth draws: its own, and those of its nearest ancestors.
pub(crate) fn levels(depth: usize) -> usize {
    depth - left_out(depth)
}

/// The omitted levels.
fn left_out(depth: usize) -> usize {
    depth.saturating_sub(1) / LEVELS * LEVELS
}

/// The guide of a line. `ends` says of its nearest ancestors and, last, of itself, whether each is the last of its
/// siblings, for as many [`levels`] as are drawn.
pub(crate) fn draw(depth: usize, ends: &[bool]) -> String {
    let Some((end, ancestors)) = ends.split_last() else { return String::new() };
    let left_out = left_out(depth);
    let mut guides = if left_out == 0 { String::new() } else { format!("+{left_out} ") };
    for end in ancestors {
        guides.push_str(if *end { "   " } else { "│  " });
    }
    guides.push_str(if *end { "└─ " } else { "├─ " });
    guides
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connects_siblings() {
        let guides = guides([0, 1, 2, 2, 1, 0, 1].into_iter());
        assert_eq!(guides, ["", "├─ ", "│  ├─ ", "│  └─ ", "└─ ", "", "└─ "]);
    }

    #[test]
    fn starts_again_at_the_left_when_deep() {
        let guides = guides(0..25);
        assert_eq!(guides[10], format!("{}└─ ", " ".repeat(27)));
        assert_eq!(guides[11], "+10 └─ ");
        assert_eq!(guides[12], "+10    └─ ");
        assert_eq!(guides[21], "+20 └─ ");
    }

    #[test]
    fn stays_linear_in_a_chain() {
        let guides = guides((0..100_000).chain((1..100_000).rev()));
        assert!(guides.iter().all(|guides| guides.chars().count() < 50));
    }
}
