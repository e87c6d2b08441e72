//! What stands below what, and how each of it looks: a text draws an outline as lines with guides, and every picture as
//! rows, so that both show the same.

use gc_core::model::{ObjectId, Reference};

use super::{
    guides::Guides,
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
        let guides = Guides::of(self.rows.iter().map(|row| row.depth));
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
