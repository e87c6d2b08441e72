//! Tables as kubectl prints them: columns without borders, one line per row. Names are never shortened.

use unicode_width::UnicodeWidthStr;

use super::go_quote::visible;

/// The gap between columns.
const GAP: usize = 2;
/// No column is narrowed to fewer columns of text.
const LEAST: usize = 8;
/// No column is padded to more: no API server accepts a longer name, but a dump may have one of megabytes.
const MOST: usize = 300;

/// A column, by its heading.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    pub heading: &'static str,
    /// Numbers are right-aligned.
    pub number: bool,
    /// Whether a row continues on the next line after a text that has no room.
    pub breaks: bool,
}

impl Column {
    /// A column of texts, as wide as the widest.
    pub const fn text(heading: &'static str) -> Self {
        Column { heading, number: false, breaks: false }
    }

    /// A column of names: a row continues on the next line after a name that has no room.
    pub const fn name(heading: &'static str) -> Self {
        Column { heading, number: false, breaks: true }
    }

    /// A column of numbers.
    pub const fn number(heading: &'static str) -> Self {
        Column { heading, number: true, breaks: false }
    }
}

/// The rows of a table: the heading, then the others. If a width is given, rows with names that have no room are broken
/// into several lines. Control characters are escaped.
pub fn lines(columns: &[Column], mut rows: Vec<Vec<String>>, width: Option<usize>) -> Vec<String> {
    for cell in rows.iter_mut().flatten() {
        *cell = visible(cell).into_owned();
    }
    let widths = widths(columns, &rows);
    let over = width.map_or(0, |width| total(&widths).saturating_sub(width));
    let widths = narrowed(columns, &widths, over);
    let headings = columns.iter().map(|column| column.heading.to_owned()).collect();
    std::iter::once(headings).chain(rows).map(|row: Vec<String>| written(columns, &widths, &row, width)).collect()
}

/// One row, broken before and after cells that are wider than their columns.
fn written(columns: &[Column], widths: &[usize], row: &[String], room: Option<usize>) -> String {
    let mut text = String::new();
    let mut start = 0;
    let mut used = 0;
    for ((cell, column), width) in row.iter().zip(columns).zip(widths) {
        let before = if column.number { width.saturating_sub(cell.width()) } else { 0 };
        if !cell.is_empty() {
            let end = start + before + cell.width();
            let over = if cell.width() > *width { room.map_or(0, |room| end.saturating_sub(room)) } else { 0 };
            let mut at = (start + before).saturating_sub(over);
            if room.is_none() && used > 0 {
                at = at.max(used + GAP);
            }
            if used > 0 && used + GAP > at {
                text.push('\n');
                used = 0;
            }
            text.push_str(&" ".repeat(at - used));
            text.push_str(cell);
            used = at + cell.width();
        }
        start += width + GAP;
    }
    text
}

/// The width of the table if every row has one line.
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
        .map(|(index, column)| cells(index).max().unwrap_or(0).min(MOST).max(column.heading.width()))
        .collect()
}

fn total(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1)
}

/// The widths after narrowing the widest columns of names, until `over` columns are saved or no column can be narrowed.
fn narrowed(columns: &[Column], widths: &[usize], mut over: usize) -> Vec<usize> {
    let mut widths = widths.to_vec();
    while over > 0 {
        let narrows = |(index, width): &(usize, &mut usize)| {
            columns[*index].breaks && **width > LEAST.max(columns[*index].heading.width())
        };
        let Some((_, widest)) = widths.iter_mut().enumerate().filter(narrows).max_by_key(|(_, width)| **width) else {
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
    fn names_without_room_have_lines_of_their_own() {
        let long = [["a-name-that-does-not-fit", "1", "this stays as it is"], ["short", "20", ""]];
        assert_eq!(natural_width(&COLUMNS, &rows(&long)), 54);
        assert_eq!(lines(&COLUMNS, rows(&long), Some(54))[1], "a-name-that-does-not-fit        1  this stays as it is");
        let broken = [
            "NAME      OBJECTS  WHY",
            "a-name-that-does-not-fit\n                1  this stays as it is",
            "short          20",
        ];
        for narrow in [0, 1, 20, 37] {
            assert_eq!(lines(&COLUMNS, rows(&long), Some(narrow)), broken);
        }
        let wider = "a-name-that-does-not-fit       1  this stays as it is";
        assert_eq!(lines(&COLUMNS, rows(&long), Some(53))[1], wider);
    }

    #[test]
    fn rows_stay_on_one_line() {
        let lines = lines(&COLUMNS, rows(&[["two\nlines", "1", "\u{1b}[31m red \t"]]), None);
        assert_eq!(lines[1..], ["two\\nlines        1  \\x1b[31m red \\t"]);
    }

    #[test]
    fn a_name_of_megabytes_pads_no_other_row() {
        let long = "x".repeat(1 << 20);
        let lines = lines(&COLUMNS, rows(&[[&long, "1", "why"], ["short", "20", "why"]]), None);
        assert_eq!((lines[1].lines().count(), lines[1].len()), (1, long.len() + "  1  why".len()));
        assert_eq!(lines[2].len(), MOST + "  OBJECTS  why".len());
    }

    #[test]
    fn a_table_may_be_empty() {
        assert_eq!(lines(&COLUMNS, Vec::new(), Some(10)), ["NAME  OBJECTS  WHY"]);
        assert!(lines(&[], Vec::new(), None).join("").is_empty());
    }
}
