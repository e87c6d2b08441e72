//! Tables as kubectl prints them: columns without borders. comfy-table lays them out. Sentences wrap inside their
//! column. Names are never shortened: one that has no room has a line of its own.

use comfy_table::{CellAlignment, ColumnConstraint, Width, presets};
use unicode_width::UnicodeWidthStr;

use super::{escape::visible, words::broken};

/// The gap between columns.
const GAP: usize = 2;
/// No column of names is narrowed to fewer columns of text.
const LEAST: usize = 8;
/// The same of a column of sentences.
const LEAST_PROSE: usize = 28;
/// No column is padded to more: no API server accepts a longer name, but a dump may have one of megabytes.
const MOST: usize = 300;

/// A column, by its heading.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    pub heading: &'static str,
    /// Numbers are right-aligned.
    pub number: bool,
    narrows: Narrows,
}

/// What becomes of a column where the table has no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Narrows {
    No,
    /// A row continues on the next line after a text that has no room.
    Breaks,
    /// A text wraps inside the column.
    Wraps,
}

impl Column {
    /// A column of texts, as wide as the widest.
    pub const fn text(heading: &'static str) -> Self {
        Column { heading, number: false, narrows: Narrows::No }
    }

    /// A column of names: a row continues on the next line after a name that has no room.
    pub const fn name(heading: &'static str) -> Self {
        Column { heading, number: false, narrows: Narrows::Breaks }
    }

    /// A column of sentences: they wrap inside it.
    pub const fn prose(heading: &'static str) -> Self {
        Column { heading, number: false, narrows: Narrows::Wraps }
    }

    /// The fewest columns of text that it is narrowed to; `None` if it isn't.
    fn least(self) -> Option<usize> {
        match self.narrows {
            Narrows::No => None,
            Narrows::Breaks => Some(LEAST.max(self.heading.width())),
            Narrows::Wraps => Some(LEAST_PROSE.max(self.heading.width())),
        }
    }

    /// A column of numbers.
    pub const fn number(heading: &'static str) -> Self {
        Column { heading, number: true, narrows: Narrows::No }
    }
}

/// What a cell says of one item.
type Cell<'t, T> = Box<dyn Fn(&T) -> String + 't>;

/// Columns, each with what its cells say of one item.
pub struct Table<'t, T>(Vec<(Column, Cell<'t, T>)>);

impl<T> Default for Table<'_, T> {
    fn default() -> Self {
        Table(Vec::new())
    }
}

impl<'t, T> Table<'t, T> {
    /// With one more column.
    #[must_use]
    pub fn with(mut self, column: Column, cell: impl Fn(&T) -> String + 't) -> Self {
        self.0.push((column, Box::new(cell)));
        self
    }

    /// The same, if the column is shown.
    #[must_use]
    pub fn with_if(self, is_shown: bool, column: Column, cell: impl Fn(&T) -> String + 't) -> Self {
        if is_shown { self.with(column, cell) } else { self }
    }

    fn columns(&self) -> Vec<Column> {
        self.0.iter().map(|(column, _)| *column).collect()
    }

    fn rows(&self, items: &[T]) -> Vec<Vec<String>> {
        items.iter().map(|item| self.0.iter().map(|(_, cell)| cell(item)).collect()).collect()
    }

    /// The [`lines`] of these items.
    pub fn lines(&self, items: &[T], width: Option<usize>) -> Vec<String> {
        lines(&self.columns(), self.rows(items), width)
    }

    /// The width of the table if every row has one line.
    pub fn natural_width(&self, items: &[T]) -> usize {
        let shown = |cell: String| visible(&cell).into_owned();
        let rows = self.rows(items).into_iter().map(|row| row.into_iter().map(shown).collect());
        total(&widths(&self.columns(), &rows.collect::<Vec<_>>()))
    }
}

/// The rows of a table: the heading, then the others. If a width is given, rows with names that have no room are broken
/// into several lines. Control characters are escaped.
pub fn lines(columns: &[Column], mut rows: Vec<Vec<String>>, width: Option<usize>) -> Vec<String> {
    for cell in rows.iter_mut().flatten() {
        *cell = visible(cell).into_owned();
    }
    let natural = widths(columns, &rows);
    let over = width.map_or(0, |width| total(&natural).saturating_sub(width));
    let widths = narrowed(columns, &natural, over);
    let heights: Vec<usize> = rows.iter_mut().map(|row| wrap(columns, row, &widths)).collect();
    let mut table = comfy_table::Table::new();
    table.load_style(presets::NOTHING).set_header(columns.iter().map(|column| column.heading));
    for row in &rows {
        table.add_row(
            row.iter().zip(&widths).map(|(cell, width)| if has_room(cell, *width) { cell.as_str() } else { "" }),
        );
    }
    let mut last = columns.len();
    for ((laid_out, column), width) in table.column_iter_mut().zip(columns).zip(&widths) {
        last -= 1;
        let gap = if last == 0 { 0 } else { GAP };
        laid_out
            .set_padding((0, narrow(gap)))
            .set_constraint(ColumnConstraint::Absolute(Width::Fixed(narrow(width + gap))));
        if column.number {
            laid_out.set_cell_alignment(CellAlignment::Right);
        }
    }
    let mut lines = table.lines().map(|line| line.trim_end().to_owned());
    let heading = lines.next().unwrap_or_default();
    let rows = rows.iter().zip(heights).map(|(row, height)| {
        let first = with_long_names(lines.next().unwrap_or_default(), row, &widths, width);
        std::iter::once(first).chain(lines.by_ref().take(height - 1)).collect::<Vec<_>>().join("\n")
    });
    std::iter::once(heading).chain(rows).collect()
}

/// Wraps the sentences of a row, and returns how many lines it has then.
fn wrap(columns: &[Column], row: &mut [String], widths: &[usize]) -> usize {
    let mut height = 1;
    for ((column, cell), width) in columns.iter().zip(row).zip(widths) {
        if column.narrows == Narrows::Wraps && !has_room(cell, *width) {
            let lines = broken(cell, *width);
            height = height.max(lines.len());
            *cell = lines.join("\n");
        }
    }
    height
}

/// A column of texts: each as wide as the widest, but for those that have no end.
pub fn column<'t>(texts: impl Iterator<Item = &'t str> + Clone) -> Vec<String> {
    let width = texts.clone().map(|text| text.width()).filter(|width| *width <= MOST).max().unwrap_or(0);
    let mut table = comfy_table::Table::new();
    table.load_style(presets::NOTHING);
    table.add_rows(texts.clone().map(|text| [if has_room(text, width) { text } else { "" }]));
    if let Some(column) = table.column_mut(0) {
        column.set_padding((0, 0)).set_constraint(ColumnConstraint::Absolute(Width::Fixed(narrow(width))));
    }
    table.lines().zip(texts).map(|(line, text)| if has_room(text, width) { line } else { text.to_owned() }).collect()
}

fn has_room(text: &str, width: usize) -> bool {
    text.lines().all(|line| line.width() <= width)
}

/// A width as comfy-table takes it. No column is that wide.
fn narrow(width: usize) -> u16 {
    u16::try_from(width).unwrap_or(u16::MAX)
}

/// A row, with each name that has no room: where the line has none either, on a line above it, and the first of them
/// beside what stands before it; all on one line if no width is given.
fn with_long_names(line: String, row: &[String], widths: &[usize], width: Option<usize>) -> String {
    let is_long = |(cell, width): &(&String, &usize)| !has_room(cell, **width);
    let long = row.iter().zip(widths).filter(is_long).count();
    let Some(width) = width.filter(|_| long > 0) else {
        return if long == 0 { line } else { row.join(&" ".repeat(GAP)).trim_end().to_owned() };
    };
    let free = line.len() - line.trim_start().len();
    if long == 1 && row[0].width() > widths[0] && row[0].width() + GAP <= free {
        return row[0].clone() + &line[row[0].width()..];
    }
    let starts = widths.iter().scan(0, |next, width| Some(std::mem::replace(next, *next + width + GAP)));
    let mut names = row.iter().zip(widths).zip(starts).filter(|(cell, _)| is_long(cell)).peekable();
    let (before, rest) = split_at_column(&line, names.peek().map_or(0, |(_, start)| *start));
    let rest = format!("{}{rest}", " ".repeat(before.width()));
    let mut above = before.to_owned();
    let mut lines = Vec::new();
    for ((name, _), start) in names {
        let start = if above.trim().is_empty() { start.min(width.saturating_sub(name.width())) } else { start };
        lines.push(format!("{:<start$}{name}", above.trim_end()));
        above.clear();
    }
    lines.extend((!rest.trim().is_empty()).then_some(rest));
    lines.join("\n")
}

/// A line in two parts, the first of this width.
fn split_at_column(line: &str, column: usize) -> (&str, &str) {
    let end = line.char_indices().map(|(at, _)| at).find(|at| line[..*at].width() >= column);
    line.split_at(end.unwrap_or(line.len()))
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

/// The widths after narrowing the widest columns, until `over` columns are saved or no column can be narrowed.
fn narrowed(columns: &[Column], widths: &[usize], mut over: usize) -> Vec<usize> {
    let mut widths = widths.to_vec();
    while over > 0 {
        let narrows =
            |(index, width): &(usize, &mut usize)| columns[*index].least().is_some_and(|least| **width > least);
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
        let cell = |at: usize| move |row: &[&str; 3]| row[at].to_owned();
        let table = (0..3).fold(Table::default(), |table, at| table.with(COLUMNS[at], cell(at)));
        assert_eq!(table.natural_width(&long), 54);
        assert_eq!(table.lines(&long, Some(54)), lines(&COLUMNS, rows(&long), Some(54)));
        assert_eq!(lines(&COLUMNS, rows(&long), Some(54))[1], "a-name-that-does-not-fit        1  this stays as it is");
        let columns = [Column::text("WHEN"), Column::name("NAME"), Column::text("WHY")];
        let late = lines(&columns, rows(&[["later", "a-name-that-does-not-fit", "this is why"]]), Some(30));
        assert_eq!(late[1], "later  a-name-that-does-not-fit\n                   this is why");
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
    fn sentences_wrap_inside_their_column() {
        let columns = [Column::name("NAME"), Column::prose("WHY"), Column::number("OBJECTS")];
        let rows =
            rows(&[["pods", "this one is a sentence that has no room beside the others", "1"], ["x", "short", "20"]]);
        let wrapped = [
            "NAME  WHY                              OBJECTS",
            "pods  this one is a sentence that has        1\n      no room beside the others",
            "x     short                                 20",
        ];
        assert_eq!(lines(&columns, rows.clone(), Some(46)), wrapped);
        assert_eq!(lines(&columns, rows, None)[1].lines().count(), 1);
        // A word without a place to break it takes no line of the next row.
        let long = "x".repeat(70);
        let rows =
            vec![vec!["a".to_owned(), long, "1".to_owned()], vec!["b".to_owned(), "y".to_owned(), "2".to_owned()]];
        let broken = lines(&columns, rows, Some(46));
        assert_eq!(
            (broken[1].lines().count(), broken[2].as_str()),
            (3, "b     y                                      2")
        );
    }

    #[test]
    fn rows_stay_on_one_line() {
        let lines = lines(&COLUMNS, rows(&[["two\nlines", "1", "\u{1b}[31m red \t"]]), None);
        assert_eq!(lines[1..], ["two\\nlines        1  \\u{1b}[31m red \\t"]);
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
