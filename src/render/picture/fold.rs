//! Folds a picture further than the text does, so that it fits where little fits.

use rustc_hash::FxHashMap;

use crate::wording::{count, thousands};

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
    fn harder(most: usize) -> impl Iterator<Item = Folds> {
        let alike = [3, 1].map(|samples| Folds { samples, ..Folds::NONE });
        let shallow = [6, 3, 2].map(|depth| Folds { samples: 1, depth, ..Folds::NONE });
        let few = [1, 2, 4, 8, 16].map(|part| Folds { samples: 1, depth: 2, rows: most / part });
        let none = Folds { rows: 0, ..Folds::NONE };
        std::iter::once(Folds::NONE).chain(alike).chain(shallow).chain(few).chain([none])
    }
}

/// The view, folded harder and harder, wherever it has at most so many rows. The last row says how many are left out.
pub(super) fn fitting(picture: &Picture, view: &View, most: usize) -> impl Iterator<Item = View> {
    Folds::harder(most - 1).filter_map(move |folds| {
        let (mut folded, left_out) = folded(picture, view, folds);
        folded.rows.extend((left_out > 0).then(|| rest(left_out)));
        (folded.rows.len() <= most).then_some(folded)
    })
}

/// The row that stands for all that are left out.
fn rest(left_out: usize) -> Row {
    Row {
        object: None,
        title: format!("… and {}: -o html shows them", count(left_out, "more object", "more objects")),
        parent: None,
        fate: Fate::Untouched,
        word: String::new(),
        detail: String::new(),
        points: false,
        more: left_out,
        story: Vec::new(),
        commands: Vec::new(),
    }
}

/// Rows that may share a line: with the same parent, kind, fate and word. Those that are too deep share one, whatever
/// they are.
#[derive(PartialEq, Eq, Hash)]
enum Alike<'a> {
    Siblings(Option<usize>, &'a str, Fate, &'a str),
    Below(Option<usize>),
}

/// The view with fewer rows, and for how many objects no row stands any more.
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
        place[index] = above;
        let stands_for = row.more.max(1);
        let line = if too_deep { Alike::Below(above) } else { alike() };
        if let Some(line) = lines.get(&line) {
            let line = &mut shown[*line];
            line.more += stands_for;
            if row.fate < line.fate {
                (line.fate, line.word) = (row.fate, row.word.clone());
            }
        } else if shown.len() < folds.rows && (too_deep || folds_away()) {
            lines.insert(line, shown.len());
            let title = if too_deep { "below" } else { kind }.to_owned();
            let story = Vec::new();
            let (detail, more) = (String::new(), stands_for);
            shown.push(Row { parent: above, title, detail, more, story, commands: Vec::new(), ..row.clone() });
        } else {
            left_out += stands_for;
        }
    }
    for line in lines.into_values() {
        let line = &mut shown[line];
        let of = if line.title == "below" { String::from("below") } else { format!("of kind {}", line.title) };
        line.title = format!("… {} more {of}", thousands(line.more));
    }
    (View { rows: shown, ..view.clone() }, left_out)
}
