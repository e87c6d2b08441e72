//! What the real collector did with graphs, as text that tests compare and replay.
//!
//! ```text
//! # full 17
//! delete Foreground Shop/o0
//!   Shop o0
//!   ConfigMap o1 fin=orphan <- Shop/o0
//!   Secret o2 <- ConfigMap/o1!
//! ended 2 times
//!   gone ConfigMap/o1
//!   Secret o2
//!   gone Shop/o0
//! ended 1 times
//!   gone ConfigMap/o1
//!   gone Secret/o2
//!   gone Shop/o0
//! ```
//!
//! A record begins with the start: `restart` (a collector starts on this graph) or `delete` with a policy and the
//! targets, while the collector is at rest. Then come the graph and each observed end with its changes. Lines with `#`
//! say where the record comes from.

use std::fmt::{self, Display, Formatter};

use gc_core::server::Propagation::{self, Background, Foreground, Orphan};

use super::{
    end::Changes,
    text::{Graph, Line},
};

/// What sets off the changes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Start {
    /// A collector starts on the graph as it is.
    Restarted,
    /// Every object is examined once. No collector does that, so no records of it exist.
    Sweep,
    /// A client deletes objects, one right after the other, while the collector is at rest.
    Delete { targets: Vec<String>, propagation: Propagation },
    /// The same, and then all others do their part for what waits for them (R9.37).
    Finish { targets: Vec<String>, propagation: Propagation },
}

/// The input of a test: everything that determines its end, except the order of events.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Trial {
    pub graph: Graph,
    pub start: Start,
}

/// A trial with its observed ends, and how often each was observed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Where the record comes from.
    pub notes: Vec<String>,
    pub trial: Trial,
    pub ends: Vec<(Changes, u32)>,
}

impl Start {
    /// Reads what [`Display`] writes.
    #[track_caller]
    pub fn parse(text: &str) -> Self {
        let mut words = text.split_whitespace();
        match (words.next(), words.next()) {
            (Some("restart"), None) => Start::Restarted,
            (Some("sweep"), None) => Start::Sweep,
            (Some(word @ ("delete" | "finish")), Some(policy)) => {
                let known = [Background, Foreground, Orphan].into_iter().find(|known| known.name() == policy);
                let propagation = known.unwrap_or_else(|| panic!("what is {policy} in {text}?"));
                let targets: Vec<String> = words.map(str::to_owned).collect();
                assert!(!targets.is_empty(), "what is deleted in {text}?");
                match word {
                    "finish" => Start::Finish { propagation, targets },
                    _ => Start::Delete { propagation, targets },
                }
            }
            _ => panic!("what is {text}? It begins with `restart`, `sweep`, `delete POLICY` or `finish POLICY`"),
        }
    }
}

/// Reads records. A record without ends is a trial that hasn't been run yet.
#[track_caller]
pub fn parse(text: &str) -> Vec<Record> {
    let mut records: Vec<Record> = Vec::new();
    let mut notes = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        if let Some(note) = line.strip_prefix('#') {
            notes.push(note.trim().to_owned());
            continue;
        }
        let Some(body) = line.strip_prefix(' ') else {
            match (line.strip_prefix("ended "), records.last_mut()) {
                (Some(times), Some(record)) => {
                    let times = times.split_whitespace().next().and_then(|times| times.parse().ok());
                    record.ends.push((Changes::default(), times.unwrap_or_else(|| panic!("how often is {line}?"))));
                }
                _ => records.push(Record {
                    notes: std::mem::take(&mut notes),
                    trial: Trial { graph: Graph::default(), start: Start::parse(line) },
                    ends: Vec::new(),
                }),
            }
            continue;
        };
        let record = records.last_mut().unwrap_or_else(|| panic!("{line} belongs to no record"));
        match record.ends.last_mut() {
            Some((changes, _)) => changes.read(body.trim()),
            None => record.trial.graph.lines.push(Line::parse(body.trim())),
        }
    }
    records
}

impl Record {
    /// The trial as a row for `tests/engine/rows`, with the first observed end.
    pub fn row(&self) -> String {
        let Trial { graph, start } = &self.trial;
        let lines: String = graph.lines.iter().map(|line| format!("  {line}\n")).collect();
        let told = self.ends.first().map(|(changes, _)| changes.tell(graph)).unwrap_or_default();
        let told = if told.is_empty() { "nothing" } else { &told };
        format!("found by random graphs ({})\n{lines}{start}\n  {told}\n", self.notes.join(", "))
    }
}

/// Merges an observation into the known records: if the end is already known, only its count increases.
pub fn add(known: &mut Vec<Record>, seen: Record) {
    let Some(record) = known.iter_mut().find(|record| record.trial == seen.trial) else {
        known.push(seen);
        return;
    };
    for (changes, times) in seen.ends {
        match record.ends.iter_mut().find(|(known, _)| *known == changes) {
            Some((_, count)) => *count += times,
            None => record.ends.push((changes, times)),
        }
    }
}

impl Display for Start {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Start::Restarted => f.write_str("restart"),
            Start::Sweep => f.write_str("sweep"),
            Start::Delete { targets, propagation } => write!(f, "delete {} {}", propagation.name(), targets.join(" ")),
            Start::Finish { targets, propagation } => write!(f, "finish {} {}", propagation.name(), targets.join(" ")),
        }
    }
}

impl Display for Record {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.notes.iter().try_for_each(|note| writeln!(f, "# {note}"))?;
        writeln!(f, "{}", self.trial.start)?;
        self.trial.graph.lines.iter().try_for_each(|line| writeln!(f, "  {line}"))?;
        self.ends.iter().try_for_each(|(changes, times)| write!(f, "ended {times} times\n{changes}"))
    }
}
