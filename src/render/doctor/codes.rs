//! The list of all finding codes.

use std::io::{self, Write};

use serde::Serialize;

use crate::{
    doctor::Code,
    document::API_VERSION,
    model::effects::Severity,
    render::{
        output::{Format, Output, TextOptions},
        style::{Style, Tone},
        table::{Column, lines},
    },
};

/// `kind: Codes`, described in `docs/schema/codes.json`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct CodesDocument {
    api_version: &'static str,
    kind: &'static str,
    codes: Vec<CodeJson>,
}

#[derive(Debug, Serialize)]
struct CodeJson {
    code: Code,
    severity: Severity,
    title: &'static str,
}

/// The list of all codes.
#[derive(Clone, Copy, Debug)]
pub struct CodesView;

impl Output for CodesView {
    fn document(&self) -> impl Serialize {
        let row = |code: Code| CodeJson { code, severity: code.severity(), title: code.title() };
        CodesDocument { api_version: API_VERSION, kind: "Codes", codes: Code::ALL.map(row).into() }
    }

    /// A table. A title that is too long for the width wraps; wide output doesn't wrap.
    fn write(&self, options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
        write(options.width.filter(|_| !options.wide), options.style, out)
    }

    fn other(&self, format: Format) -> Option<String> {
        let names = || Code::ALL.map(|code| format!("{}\n", code.name())).concat();
        (format == Format::Name).then(names)
    }
}

fn write(width: Option<usize>, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let columns = [Column::name("CODE"), Column::text("SEVERITY"), Column::prose("MEANING")];
    let row = |code: Code| vec![code.name().to_owned(), code.severity().name().to_owned(), code.title().to_owned()];
    let rows = Code::ALL.map(row).into();
    for (index, line) in lines(&columns, rows, width).iter().enumerate() {
        writeln!(out, "{}", style.paint(if index == 0 { Tone::Strong } else { Tone::Plain }, line))?;
    }
    Ok(())
}
