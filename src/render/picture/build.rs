//! Rows of a picture from lines of a text.

use crate::render::{lines::Line, sections::Heading, states::word_in, style::Tone};

use super::{Row, Section};

/// Finds the rows that rows stand below, by how deep each is.
#[derive(Debug, Default)]
pub(in crate::render) struct Levels(Vec<usize>);

impl Levels {
    /// The row that the next one, `row`, stands below.
    pub(in crate::render) fn parent(&mut self, row: usize, depth: u32) -> Option<usize> {
        self.0.truncate(depth as usize);
        let parent = self.0.last().copied();
        self.0.push(row);
        parent
    }
}

/// The row that says the same as a line: its first column is the word, unless it has several.
pub(in crate::render) fn row_of(line: &Line) -> Row {
    let (word, columns) = match line.columns.as_slice() {
        [(_, word)] => (word_in(word).to_owned(), &[][..]),
        columns => (String::new(), columns),
    };
    let columns = columns.iter().map(|(_, text)| text.trim()).filter(|text| !text.is_empty());
    let columns = columns.collect::<Vec<_>>().join(" ");
    let details: Vec<String> =
        [columns, remarks_of(&line.remarks)].into_iter().filter(|text| !text.is_empty()).collect();
    Row { word, detail: details.join("; "), ..Row::new(line.name.clone(), line.fate) }
}

/// The remarks of a line, as one text.
pub(in crate::render) fn remarks_of(remarks: &[(Tone, String)]) -> String {
    remarks.iter().map(|(_, remark)| remark.as_str()).collect::<Vec<_>>().join("; ")
}

/// A section, if it has lines.
pub(in crate::render) fn section(heading: Heading, lines: Vec<String>) -> Option<Section> {
    (!lines.is_empty()).then(|| Section { label: heading.word().to_owned(), lines, commands: Vec::new() })
}
