//! The list of all finding codes.

use std::io::{self, Write};

use serde::Serialize;

use crate::render::{
    output::{Format, Output, TextOptions},
    style::{Style, Tone},
    table::{Column, Table},
};
use gc_core::{doctor::Code, document::API_VERSION, model::effects::Severity};

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
    let table = Table::default()
        .with(Column::name("CODE"), |code: &Code| code.name().to_owned())
        .with(Column::text("SEVERITY"), |code| code.severity().name().to_owned())
        .with(Column::prose("MEANING"), |code| code.title().to_owned());
    for (index, line) in table.lines(&Code::ALL, width).iter().enumerate() {
        writeln!(out, "{}", style.paint(if index == 0 { Tone::Strong } else { Tone::Plain }, line))?;
    }
    Ok(())
}
