//! What an archive has, as text.

use std::{
    collections::BTreeMap,
    io::{self, Write},
};

use serde::Serialize;

use gc_core::{
    command_line::ShellCommand,
    model::{Mapping, Resources},
    wording::{count, thousands},
};

use super::{
    lines::{self, Line},
    output::{Output, TextOptions},
    sections::{Heading, Said, Sections},
    states::Headline,
    words::plural,
};

/// An archive that was written.
#[derive(Clone, Copy, Debug)]
pub struct ArchiveView<'a> {
    pub resources: &'a Resources,
    /// How many objects of each kind it has, by apiVersion and kind.
    pub kinds: &'a BTreeMap<(String, String), usize>,
    /// Where it is.
    pub path: &'a str,
    pub bytes: u64,
    /// What to know of it.
    pub notes: &'a [String],
    /// The command that brings its objects back.
    pub restore: &'a ShellCommand,
}

impl Output for ArchiveView<'_> {
    /// There is none: the archive itself is for programs.
    fn document(&self) -> impl Serialize {}

    fn write(&self, options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
        self.write_verdict(options, out)?;
        let named =
            |((api_version, kind), number): (&(String, String), &usize)| match self.resources.map(api_version, kind) {
                Mapping::Served(resource) => (*number, plural(self.resources.get(resource), *number)),
                _ => (*number, kind.clone()),
            };
        let mut kinds: Vec<(usize, String)> = self.kinds.iter().map(named).collect();
        kinds.sort_by(|(one, a), (other, b)| other.cmp(one).then_with(|| a.cmp(b)));
        let kinds = kinds.iter().map(|(number, kind)| Line::new(&format!("{} {kind}", thousands(*number))));
        writeln!(out)?;
        lines::write_padded(kinds.collect(), options, out)?;
        let mut sections = Sections::default();
        sections.add(Heading::Note, self.notes.iter().cloned());
        sections.add(Heading::Next, [Said::from("to bring it back:"), Said::command(self.restore)]);
        sections.write_below(options, out)
    }

    fn write_verdict(&self, options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
        let objects = count(self.kinds.values().sum(), "object is", "objects are");
        let bytes = thousands(usize::try_from(self.bytes).unwrap_or(usize::MAX));
        let sentence = format!("{objects} archived in {} ({bytes} bytes).", self.path);
        lines::write_sentence(Headline::Done.word(), Headline::Done.tone(), &sentence, options, out)
    }
}
