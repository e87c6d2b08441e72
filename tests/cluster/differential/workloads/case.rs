//! A case: what is built, what is deleted, and how. Its text can be printed, and played again.

use std::fmt::{self, Display, Formatter};

use crate::plan::trial::POLICIES;

/// One thing that is built: `deployment web replicas=2 on=n1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    pub sort: String,
    pub name: String,
    options: Vec<(String, String)>,
}

impl Piece {
    pub fn new(sort: &str, name: &str) -> Self {
        Piece { sort: sort.to_owned(), name: name.to_owned(), options: Vec::new() }
    }

    /// Adds an option.
    pub fn with(mut self, key: &str, value: impl Display) -> Self {
        self.options.push((key.to_owned(), value.to_string()));
        self
    }

    /// Adds an option, or nothing.
    pub fn maybe(self, key: &str, value: Option<impl Display>) -> Self {
        match value {
            Some(value) => self.with(key, value),
            None => self,
        }
    }

    pub fn get(&self, key: &str) -> Option<&str> {
        self.options.iter().find(|(other, _)| other == key).map(|(_, value)| value.as_str())
    }

    /// A list with commas.
    pub fn list(&self, key: &str) -> impl Iterator<Item = &str> {
        self.get(key).into_iter().flat_map(|value| value.split(','))
    }

    pub fn number(&self, key: &str, otherwise: usize) -> usize {
        self.get(key).map_or(otherwise, |text| {
            text.parse().unwrap_or_else(|_| panic!("{key}={text} of {} {} is no number", self.sort, self.name))
        })
    }

    /// `deployment/web`, as targets and owners name it.
    pub fn called(&self) -> String {
        format!("{}/{}", self.sort, self.name)
    }

    fn parse(line: &str) -> Self {
        let mut words = line.split_whitespace();
        let (Some(sort), Some(name)) = (words.next(), words.next()) else { panic!("no piece of a case: {line:?}") };
        let mut piece = Piece::new(sort, name);
        for word in words {
            let (key, value) = word.split_once('=').unwrap_or((word, "yes"));
            piece = piece.with(key, value);
        }
        piece
    }
}

impl Display for Piece {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.sort, self.name)?;
        self.options.iter().try_for_each(|(key, value)| write!(f, " {key}={value}"))
    }
}

/// What is built, and what is deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The seed, or why it is played.
    pub from: String,
    pub pieces: Vec<Piece>,
    /// See [`Place::target`](super::place::Place::target).
    pub targets: Vec<String>,
    pub policy: &'static str,
}

impl Case {
    /// What is only built.
    pub fn of(from: &str, pieces: Vec<Piece>) -> Self {
        Case { from: from.to_owned(), pieces, targets: Vec::new(), policy: "Background" }
    }

    /// Reads cases: one piece in each line, and then `delete TARGET… POLICY`; the policy `Each` makes a case of each.
    /// Lines that begin with `#` tell where a case comes from.
    pub fn parse(text: &str) -> Vec<Self> {
        let (mut cases, mut pieces, mut from) = (Vec::new(), Vec::new(), String::new());
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            if let Some(note) = line.strip_prefix('#') {
                note.trim().clone_into(&mut from);
            } else if let Some(delete) = line.strip_prefix("delete ") {
                let mut targets: Vec<String> = delete.split_whitespace().map(str::to_owned).collect();
                let policy = targets.pop().unwrap_or_default();
                let policies = POLICIES.into_iter().filter(|known| *known == policy || policy == "Each");
                let (from, pieces) = (std::mem::take(&mut from), std::mem::take(&mut pieces));
                let before = cases.len();
                cases.extend(policies.map(|policy| Case {
                    from: from.clone(),
                    pieces: pieces.clone(),
                    targets: targets.clone(),
                    policy,
                }));
                assert!(cases.len() > before, "no policy at the end of {line:?}");
            } else {
                pieces.push(Piece::parse(line));
            }
        }
        assert!(pieces.is_empty(), "the last case deletes nothing");
        cases
    }

    pub fn piece(&self, called: &str) -> Option<&Piece> {
        self.pieces.iter().find(|piece| piece.called() == called)
    }
}

impl Display for Case {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "# {}", self.from)?;
        self.pieces.iter().try_for_each(|piece| writeln!(f, "{piece}"))?;
        writeln!(f, "delete {} {}", self.targets.join(" "), self.policy)
    }
}
