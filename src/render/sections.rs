//! What stands below the first line of an answer: at most five headings, the same in all commands, in one layout.

use std::{
    fmt::Display,
    io::{self, Write},
};

use strum::{IntoStaticStr, VariantArray};

use super::{
    escape::visible,
    lines::{self, Line},
    picture::{Section, section},
    states::{TextOptions, Tone},
    words::set,
};

/// What is said below an answer, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(const_into_str)]
pub(super) enum Heading {
    /// What decides the answer, and where that can be seen.
    Why,
    /// What can't be brought back.
    Lost,
    /// What follows.
    Then,
    /// What else there is to know, and what is not certain.
    Note,
    /// What to do now.
    Next,
}

/// The width of the headings, in columns.
const INDENT: usize = 6;
/// What belongs to the line above it stands so much further to the right.
const STEP: usize = 2;

/// What is said under a heading.
#[derive(Clone, Debug)]
pub(super) enum Said {
    /// A paragraph.
    Text(String),
    /// A command or an address is never wrapped, so that it can be pasted.
    Command(String),
    /// Lines of their own, and what they are.
    Lines(String, Vec<Line>),
}

impl From<String> for Said {
    fn from(text: String) -> Self {
        Said::Text(text)
    }
}

impl From<&str> for Said {
    fn from(text: &str) -> Self {
        Said::Text(text.to_owned())
    }
}

impl Said {
    pub(super) fn command(line: impl Display) -> Self {
        Said::Command(line.to_string())
    }

    /// The lines of the text below its heading. A command that begins it stands beside the heading.
    fn lines(&self, begins: bool, options: &TextOptions<'_>) -> io::Result<Vec<String>> {
        // Further than the next line of a paragraph.
        let step = " ".repeat(2 * STEP);
        let room = options.width.map(|width| width.saturating_sub(INDENT));
        let paragraph = |text: &str| set(text, room.unwrap_or(usize::MAX), STEP);
        Ok(match self {
            Said::Text(text) => paragraph(text),
            Said::Command(line) if begins => vec![visible(line).into_owned()],
            Said::Command(line) => vec![step + &visible(line)],
            Said::Lines(title, rows) => {
                let mut text = Vec::new();
                lines::write_padded(rows.clone(), &TextOptions { width: room, ..*options }, &mut text)?;
                let mut all = paragraph(title);
                all.extend(String::from_utf8_lossy(&text).lines().map(str::to_owned));
                all
            }
        })
    }
}

/// All that is said below an answer.
#[derive(Clone, Debug, Default)]
pub(super) struct Sections(Vec<(Heading, Said)>);

impl Sections {
    pub(super) fn add<S: Into<Said>>(&mut self, heading: Heading, said: impl IntoIterator<Item = S>) {
        self.0.extend(said.into_iter().map(|said| (heading, said.into())));
    }

    /// Whether nothing is said under this heading.
    pub(super) fn is_empty(&self, heading: Heading) -> bool {
        self.of(heading).next().is_none()
    }

    /// Whether this is said under the heading, perhaps with more.
    pub(super) fn says(&self, heading: Heading, what: &str) -> bool {
        self.of(heading).any(|said| matches!(said, Said::Text(text) if text.contains(what)))
    }

    fn of(&self, heading: Heading) -> impl Iterator<Item = &Said> {
        self.0.iter().filter(move |(of, _)| *of == heading).map(|(_, said)| said)
    }

    /// Writes what is said, after an empty line if there is anything.
    pub(super) fn write_below(&self, options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
        if !self.0.is_empty() {
            writeln!(out)?;
        }
        self.write(options, out)
    }

    /// Writes what is said: each heading once, and the texts beside it.
    pub(super) fn write(&self, options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
        for heading in Heading::VARIANTS.iter().copied() {
            let mut label = heading.into_str();
            for (index, said) in self.of(heading).enumerate() {
                for line in said.lines(index == 0, options)? {
                    let gap = " ".repeat(INDENT - label.len());
                    writeln!(out, "{}{gap}{line}", options.style.paint(Tone::Strong, label))?;
                    label = "";
                }
            }
        }
        Ok(())
    }

    /// The sections as a picture shows them: it has rows for what are lines here.
    pub(super) fn drawn(&self) -> Vec<Section> {
        let line = |said: &Said| match said {
            Said::Text(text) => Some(visible(text).split_whitespace().collect::<Vec<_>>().join(" ")),
            Said::Command(line) => Some(line.clone()),
            Said::Lines(..) => None,
        };
        let command = |said: &Said| matches!(said, Said::Command(_)).then(|| line(said)).flatten();
        let drawn = |heading: Heading| {
            let drawn = section(heading, self.of(heading).filter_map(line).collect())?;
            Some(Section { commands: self.of(heading).filter_map(command).collect(), ..drawn })
        };
        Heading::VARIANTS.iter().copied().filter_map(drawn).collect()
    }
}

/// The first of many, and how many more there are. One more takes no more room than the line that says so.
pub(super) fn first_of(mut said: Vec<Said>, most: usize, wide: bool) -> Vec<Said> {
    if !wide && said.len() > most + 1 {
        let more = said.len() - most;
        said.truncate(most);
        said.push(Said::Text(more_lines(more)));
    }
    said
}

/// Says that lines are left out.
pub(super) fn more_lines(more: usize) -> String {
    format!("… and {} more: -o wide shows all", gc_core::wording::thousands(more))
}
