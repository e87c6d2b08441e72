//! The sections below an answer: a label, and what is said beside it.

use std::{
    fmt::Display,
    io::{self, Write},
};

use unicode_width::UnicodeWidthStr;

use super::{
    doctor::set,
    escape::visible,
    output::TextOptions,
    picture::{Section, section},
    style::Tone,
};

/// The width of the labels of all answers, in columns.
pub(super) const INDENT: usize = 12;

/// A label and its paragraphs.
pub(super) type Labelled = (&'static str, Vec<Said>);

/// One paragraph of a section.
pub(super) struct Said {
    pub text: String,
    /// The width of the column that the text begins with. What follows is wrapped beside it.
    pub column: usize,
    /// A command or an address is never wrapped, so that it can be pasted.
    pub is_command: bool,
}

impl From<String> for Said {
    fn from(text: String) -> Self {
        Said { text, column: 0, is_command: false }
    }
}

impl Said {
    pub(super) fn command(line: impl Display) -> Self {
        Said { text: line.to_string(), column: 0, is_command: true }
    }
}

/// Writes the sections.
pub(super) fn write(sections: &[Labelled], options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
    for (label, said) in sections {
        let mut label = *label;
        for Said { text, column, is_command } in said {
            let (column, rest) = text.split_at_checked(*column).unwrap_or(("", text));
            let room = options.width.map_or(usize::MAX, |width| width.saturating_sub(INDENT + column.len()));
            let lines = if *is_command { vec![visible(rest).into_owned()] } else { set(rest, room) };
            for (part, line) in lines.iter().enumerate() {
                let padding = " ".repeat(INDENT.saturating_sub(label.width()));
                let column = if part == 0 { column.to_owned() } else { " ".repeat(column.len()) };
                writeln!(out, "{}{padding}{column}{line}", options.style.paint(Tone::Strong, label))?;
                label = "";
            }
        }
    }
    Ok(())
}

/// The sections as a picture shows them.
pub(super) fn drawn(sections: Vec<Labelled>) -> Vec<Section> {
    let line = |Said { text, is_command, .. }: Said| match is_command {
        true => text.trim().to_owned(),
        false => visible(&text).split_whitespace().collect::<Vec<_>>().join(" "),
    };
    let sections = sections.into_iter();
    sections.filter_map(|(label, said)| section(label, said.into_iter().map(line).collect())).collect()
}
