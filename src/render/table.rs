//! Tables as kubectl prints them: columns without borders, one line per row.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use unicode_width::UnicodeWidthStr;

use super::{go_quote::visible, words::middle_cut};

/// The gap between columns.
const GAP: usize = 2;
/// No column is cut to fewer columns of text.
const LEAST: usize = 8;

/// A column, by its heading.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    pub heading: &'static str,
    /// Numbers are right-aligned.
    pub number: bool,
    /// Whether texts are cut in the middle if there is no room for them.
    pub cut: bool,
}

impl Column {
    /// A column of texts that are never cut.
    pub const fn text(heading: &'static str) -> Self {
        Column { heading, number: false, cut: false }
    }

    /// A column of names, cut in the middle if there is no room for them.
    pub const fn name(heading: &'static str) -> Self {
        Column { heading, number: false, cut: true }
    }

    /// A column of numbers.
    pub const fn number(heading: &'static str) -> Self {
        Column { heading, number: true, cut: false }
    }
}

/// The lines of a table: the heading, then one for each row. If a width is given, names are cut so that lines fit it.
/// Control characters are escaped.
pub fn lines(columns: &[Column], mut rows: Vec<Vec<String>>, width: Option<usize>) -> Vec<String> {
    for cell in rows.iter_mut().flatten() {
        *cell = visible(cell).into_owned();
    }
    let widths = widths(columns, &rows);
    if let Some(over) = width.and_then(|width| total(&widths).checked_sub(width)).filter(|over| *over > 0) {
        let room = narrowed(columns, &widths, over);
        for row in &mut rows {
            for ((cell, column), room) in row.iter_mut().zip(columns).zip(&room) {
                if column.cut {
                    *cell = middle_cut(cell, *room);
                }
            }
        }
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled).force_no_tty();
    table.set_header(columns.iter().map(|column| column.heading));
    table.add_rows(rows);
    for (column, description) in table.column_iter_mut().zip(columns) {
        column.set_padding((0, GAP as u16));
        if description.number {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.lines().map(|line| line.trim_end().to_owned()).collect()
}

/// The width of the table if nothing is cut.
pub fn natural_width(columns: &[Column], rows: &[Vec<String>]) -> usize {
    let rows: Vec<Vec<String>> =
        rows.iter().map(|row| row.iter().map(|cell| visible(cell).into_owned()).collect()).collect();
    total(&widths(columns, &rows))
}

fn widths(columns: &[Column], rows: &[Vec<String>]) -> Vec<usize> {
    let cells = |index: usize| rows.iter().filter_map(move |row| row.get(index)).map(|cell| cell.width());
    columns
        .iter()
        .enumerate()
        .map(|(index, column)| cells(index).max().unwrap_or(0).max(column.heading.width()))
        .collect()
}

fn total(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1)
}

/// The widths after narrowing the widest cuttable columns, until `over` columns are saved or nothing more can be cut.
fn narrowed(columns: &[Column], widths: &[usize], mut over: usize) -> Vec<usize> {
    let mut widths = widths.to_vec();
    while over > 0 {
        let cuttable = |(index, width): &(usize, &mut usize)| columns[*index].cut && **width > LEAST;
        let Some((_, widest)) = widths.iter_mut().enumerate().filter(cuttable).max_by_key(|(_, width)| **width) else {
            break;
        };
        *widest -= 1;
        over -= 1;
    }
    widths
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [Column; 3] = [Column::name("NAME"), Column::number("OBJECTS"), Column::text("WHY")];

    fn rows(rows: &[[&str; 3]]) -> Vec<Vec<String>> {
        rows.iter().map(|row| row.map(str::to_owned).to_vec()).collect()
    }

    #[test]
    fn sets_columns_side_by_side() {
        let lines = lines(&COLUMNS, rows(&[["pods", "1200", "in use"], ["日本", "7", ""]]), Some(80));
        assert_eq!(lines, ["NAME  OBJECTS  WHY", "pods     1200  in use", "日本        7"]);
    }

    #[test]
    fn cuts_names_and_nothing_else() {
        let long = [["a-name-that-does-not-fit", "1", "this stays as it is"]];
        assert_eq!(natural_width(&COLUMNS, &rows(&long)), 54);
        assert_eq!(lines(&COLUMNS, rows(&long), Some(54))[1], "a-name-that-does-not-fit        1  this stays as it is");
        assert_eq!(lines(&COLUMNS, rows(&long), Some(45))[1], "a-name-…not-fit        1  this stays as it is");
        for too_narrow in [0, 1, 20, 37] {
            assert_eq!(lines(&COLUMNS, rows(&long), Some(too_narrow))[1], "a-na…fit        1  this stays as it is");
        }
    }

    #[test]
    fn rows_stay_on_one_line() {
        let lines = lines(&COLUMNS, rows(&[["two\nlines", "1", "\u{1b}[31m red \t"]]), None);
        assert_eq!(lines[1..], ["two\\nlines        1  \\x1b[31m red \\t"]);
    }

    #[test]
    fn a_table_may_be_empty() {
        assert_eq!(lines(&COLUMNS, Vec::new(), Some(10)), ["NAME  OBJECTS  WHY"]);
        assert!(lines(&[], Vec::new(), None).join("").is_empty());
    }
}
