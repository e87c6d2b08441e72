//! Folds a picture further than the text does, so that it fits where little fits.

use rustc_hash::FxHashMap;

use crate::wording::thousands;

use super::{Fate, Picture, Row, View};

/// How hard to fold.
#[derive(Clone, Copy, Debug)]
pub(in crate::render) struct Folds {
    /// So many rows with the same parent, kind and fate that have nothing below them are shown.
    pub samples: usize,
    /// Rows deeper than this are counted.
    pub depth: usize,
    /// So many rows are shown; the others are left out.
    pub rows: usize,
}

impl Folds {
    pub(in crate::render) const NONE: Folds = Folds { samples: usize::MAX, depth: usize::MAX, rows: usize::MAX };

    /// From not at all to very hard.
    pub(super) fn harder() -> impl Iterator<Item = Folds> {
        let alike = [3, 1].map(|samples| Folds { samples, ..Folds::NONE });
        let shallow = [6, 3, 2].map(|depth| Folds { samples: 1, depth, ..Folds::NONE });
        let few = [300, 200, 120, 60, 20, 5, 0].map(|rows| Folds { samples: 1, depth: 2, rows });
        std::iter::once(Folds::NONE).chain(alike).chain(shallow).chain(few)
    }
}

/// Rows that may share a line: with the same parent, kind, fate and word. Those that are too deep share one, whatever
/// they are.
#[derive(PartialEq, Eq, Hash)]
enum Alike<'a> {
    Siblings(Option<usize>, &'a str, Fate, &'a str),
    Below(Option<usize>),
}

/// The view with fewer rows, and how many of its rows don't stand for themselves any more.
pub(in crate::render) fn folded(picture: &Picture, view: &View, folds: Folds) -> (View, usize) {
    let rows = &view.rows;
    let mut has_below = vec![false; rows.len()];
    let mut depths: Vec<usize> = Vec::with_capacity(rows.len());
    for row in rows {
        depths.push(row.parent.map_or(0, |parent| depths[parent] + 1));
        row.parent.into_iter().for_each(|parent| has_below[parent] = true);
    }
    let mut shown: Vec<Row> = Vec::new();
    // For each row, the shown one that stands for it or is above it.
    let mut place: Vec<Option<usize>> = vec![None; rows.len()];
    let mut seen: FxHashMap<Alike<'_>, usize> = FxHashMap::default();
    let mut lines: FxHashMap<Alike<'_>, usize> = FxHashMap::default();
    let mut left_out = 0;
    for (index, row) in rows.iter().enumerate() {
        let above = row.parent.and_then(|parent| place[parent]);
        let kind = row.object.map_or("", |object| picture.objects[object].kind.as_str());
        let alike = || Alike::Siblings(row.parent, kind, row.fate, &row.word);
        let folds_away = || !has_below[index] && row.object.is_some();
        let too_deep = depths[index] > folds.depth;
        let is_sample = !folds_away() || {
            let seen = seen.entry(alike()).or_default();
            *seen += 1;
            *seen <= folds.samples
        };
        if !too_deep && is_sample && shown.len() < folds.rows {
            place[index] = Some(shown.len());
            shown.push(Row { parent: above, ..row.clone() });
            continue;
        }
        left_out += row.more.max(1);
        place[index] = above;
        let line = if too_deep { Alike::Below(above) } else { alike() };
        if let Some(line) = lines.get(&line) {
            let line = &mut shown[*line];
            line.more += row.more.max(1);
            if severity(row.fate) > severity(line.fate) {
                (line.fate, line.word) = (row.fate, row.word.clone());
            }
        } else if shown.len() < folds.rows && (too_deep || folds_away()) {
            lines.insert(line, shown.len());
            let title = if too_deep { "below" } else { kind }.to_owned();
            let story = Vec::new();
            let (detail, more) = (String::new(), row.more.max(1));
            shown.push(Row { parent: above, title, detail, more, story, commands: Vec::new(), ..row.clone() });
        }
    }
    for line in lines.into_values() {
        let line = &mut shown[line];
        let of = if line.title == "below" { String::from("below") } else { format!("of kind {}", line.title) };
        line.title = format!("… {} more {of}", thousands(line.more));
    }
    (View { rows: shown, ..view.clone() }, left_out)
}

/// Which of several fates a line that stands for all of them shows.
fn severity(fate: Fate) -> u8 {
    match fate {
        Fate::Stays => 0,
        Fate::Note => 1,
        Fate::Kept => 2,
        Fate::Absent => 3,
        Fate::Deleted => 4,
        Fate::Warning => 5,
        Fate::Unsure => 6,
        Fate::Waits => 7,
        Fate::Error => 8,
        Fate::Stuck => 9,
    }
}
