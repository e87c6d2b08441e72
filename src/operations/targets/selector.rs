//! Label selectors, in the grammar of apimachinery's `labels.Parse`, and field selectors, in that of
//! `fields.ParseSelector`.

use std::{collections::BTreeSet, fmt};

/// An invalid selector, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{flag} {text:?}: {message}, at character {position}")]
pub struct SelectorError {
    /// The selector's flag.
    pub flag: &'static str,
    /// The whole selector.
    pub text: String,
    /// The position in characters, from 1.
    pub position: usize,
    /// What is wrong.
    pub message: String,
}

impl SelectorError {
    pub(super) fn at(flag: &'static str, text: &str, byte: usize, message: String) -> Self {
        let position = 1 + text.char_indices().take_while(|(index, _)| *index < byte).count();
        SelectorError { flag, text: text.to_owned(), position, message }
    }
}

/// The value of `-l`: all requirements must match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelSelector {
    requirements: Vec<Requirement>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Requirement {
    key: String,
    test: Test,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Test {
    Exists,
    Absent,
    Equal(String),
    NotEqual(String),
    In(BTreeSet<String>),
    NotIn(BTreeSet<String>),
    Above(i64),
    Below(i64),
}

impl LabelSelector {
    /// Parses a selector such as `key=value,key in (a,b),!key`.
    pub fn parse(text: &str) -> Result<LabelSelector, SelectorError> {
        let mut parser = Parser { text, tokens: tokens(text), next: 0 };
        let mut requirements = Vec::new();
        if parser.peek().kind == Kind::End {
            return Ok(LabelSelector { requirements });
        }
        loop {
            requirements.push(parser.requirement()?);
            let token = parser.take();
            match token.kind {
                Kind::End => return Ok(LabelSelector { requirements }),
                Kind::Symbol(",") => {}
                _ => return Err(parser.expected(token, "a comma or the end")),
            }
        }
    }

    /// Whether an object matches; `label` looks up its labels.
    pub fn matches<'a>(&self, label: impl Fn(&str) -> Option<&'a str>) -> bool {
        self.requirements.iter().all(|Requirement { key, test }| {
            let value = label(key);
            let number = || value.and_then(|value| value.parse::<i64>().ok());
            match test {
                Test::Exists => value.is_some(),
                Test::Absent => value.is_none(),
                Test::Equal(wanted) => value == Some(wanted),
                Test::NotEqual(other) => value != Some(other),
                Test::In(wanted) => value.is_some_and(|value| wanted.contains(value)),
                Test::NotIn(others) => value.is_none_or(|value| !others.contains(value)),
                Test::Above(bound) => number().is_some_and(|number| number > *bound),
                Test::Below(bound) => number().is_some_and(|number| number < *bound),
            }
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Word,
    Symbol(&'static str),
    End,
}

#[derive(Clone, Copy, Debug)]
struct Token<'a> {
    kind: Kind,
    text: &'a str,
    start: usize,
}

const SYMBOLS: [&str; 9] = ["==", "!=", "=", "!", "(", ")", ",", ">", "<"];

/// Splits the text. The last token is the only [`Kind::End`].
fn tokens(text: &str) -> Vec<Token<'_>> {
    let space = |char: char| matches!(char, ' ' | '\t' | '\r' | '\n');
    let mut tokens = Vec::new();
    let mut start = 0;
    loop {
        let rest = text[start..].trim_start_matches(space);
        start = text.len() - rest.len();
        if rest.is_empty() {
            tokens.push(Token { kind: Kind::End, text: "", start });
            return tokens;
        }
        let (kind, length) = match SYMBOLS.into_iter().find(|symbol| rest.starts_with(symbol)) {
            Some(symbol) => (Kind::Symbol(symbol), symbol.len()),
            None => (Kind::Word, rest.find(|char| space(char) || "=!(),<>".contains(char)).unwrap_or(rest.len())),
        };
        tokens.push(Token { kind, text: &rest[..length], start });
        start += length;
    }
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token<'a>>,
    next: usize,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Token<'a> {
        let end = Token { kind: Kind::End, text: "", start: self.text.len() };
        self.tokens.get(self.next).copied().unwrap_or(end)
    }

    fn take(&mut self) -> Token<'a> {
        let token = self.peek();
        self.next += 1;
        token
    }

    fn fail(&self, byte: usize, message: String) -> SelectorError {
        SelectorError::at("-l", self.text, byte, message)
    }

    fn expected(&self, token: Token<'_>, what: &str) -> SelectorError {
        let found = if token.kind == Kind::End { "the end".to_owned() } else { format!("{:?}", token.text) };
        self.fail(token.start, format!("expected {what}, found {found}"))
    }

    fn requirement(&mut self) -> Result<Requirement, SelectorError> {
        let absent = self.peek().kind == Kind::Symbol("!");
        if absent {
            self.next += 1;
        }
        let token = self.take();
        if token.kind != Kind::Word {
            return Err(self.expected(token, if absent { "a label's key" } else { "a label's key or !" }));
        }
        check_key(token.text).map_err(|message| self.fail(token.start, message))?;
        let key = token.text.to_owned();
        if absent {
            return Ok(Requirement { key, test: Test::Absent });
        }
        if matches!(self.peek().kind, Kind::End | Kind::Symbol(",")) {
            return Ok(Requirement { key, test: Test::Exists });
        }
        let operator = self.take();
        let test = match (operator.kind, operator.text) {
            (Kind::Symbol("=" | "=="), _) => Test::Equal(self.value()?),
            (Kind::Symbol("!="), _) => Test::NotEqual(self.value()?),
            (Kind::Symbol(">"), _) => Test::Above(self.number()?),
            (Kind::Symbol("<"), _) => Test::Below(self.number()?),
            (Kind::Word, "in") => Test::In(self.values()?),
            (Kind::Word, "notin") => Test::NotIn(self.values()?),
            _ => return Err(self.expected(operator, "=, ==, !=, in, notin, <, > or a comma")),
        };
        Ok(Requirement { key, test })
    }

    /// Parses one value, which may be empty.
    fn value(&mut self) -> Result<String, SelectorError> {
        match self.peek().kind {
            Kind::End | Kind::Symbol(",") => Ok(String::new()),
            _ => self.word(),
        }
    }

    fn number(&mut self) -> Result<i64, SelectorError> {
        let token = self.peek();
        self.value()?.parse().map_err(|_| self.expected(token, "a whole number"))
    }

    fn word(&mut self) -> Result<String, SelectorError> {
        let token = self.take();
        if token.kind != Kind::Word {
            return Err(self.expected(token, "a value"));
        }
        check_value(token.text).map_err(|message| self.fail(token.start, message))?;
        Ok(token.text.to_owned())
    }

    /// Parses `(a,b)`, in which values may be empty.
    fn values(&mut self) -> Result<BTreeSet<String>, SelectorError> {
        let open = self.take();
        if open.kind != Kind::Symbol("(") {
            return Err(self.expected(open, "("));
        }
        let mut values = BTreeSet::new();
        loop {
            values.insert(match self.peek().kind {
                Kind::Word => self.word()?,
                _ => String::new(),
            });
            let token = self.take();
            match token.kind {
                Kind::Symbol(")") => return Ok(values),
                Kind::Symbol(",") => {}
                _ => return Err(self.expected(token, "a comma or )")),
            }
        }
    }
}

/// Checks `[prefix/]name` by the rules of apimachinery's `IsQualifiedName`.
fn check_key(key: &str) -> Result<(), String> {
    let (prefix, name) = key.split_once('/').map_or((None, key), |(prefix, name)| (Some(prefix), name));
    let label = |label: &str| {
        let alphanumeric = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let bytes = label.as_bytes();
        bytes.first().is_some_and(alphanumeric)
            && bytes.last().is_some_and(alphanumeric)
            && bytes.iter().all(|byte| alphanumeric(byte) || *byte == b'-')
    };
    let prefix_fits = prefix.is_none_or(|prefix| prefix.len() <= 253 && prefix.split('.').all(label));
    if prefix_fits && !name.is_empty() && fits(name) { Ok(()) } else { Err(format!("{key:?} cannot be a label's key")) }
}

fn check_value(value: &str) -> Result<(), String> {
    if fits(value) { Ok(()) } else { Err(format!("{value:?} cannot be a label's value")) }
}

fn fits(text: &str) -> bool {
    let bytes = text.as_bytes();
    text.len() <= 63
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
        && [bytes.first(), bytes.last()].into_iter().flatten().all(u8::is_ascii_alphanumeric)
}

impl fmt::Display for LabelSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let join = |values: &BTreeSet<String>| values.iter().map(String::as_str).collect::<Vec<_>>().join(",");
        for (index, Requirement { key, test }) in self.requirements.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(f, "{comma}")?;
            match test {
                Test::Exists => write!(f, "{key}"),
                Test::Absent => write!(f, "!{key}"),
                Test::Equal(value) => write!(f, "{key}={value}"),
                Test::NotEqual(value) => write!(f, "{key}!={value}"),
                Test::In(values) => write!(f, "{key} in ({})", join(values)),
                Test::NotIn(values) => write!(f, "{key} notin ({})", join(values)),
                Test::Above(bound) => write!(f, "{key}>{bound}"),
                Test::Below(bound) => write!(f, "{key}<{bound}"),
            }?;
        }
        Ok(())
    }
}

const NAME: &str = "metadata.name";
const NAMESPACE: &str = "metadata.namespace";

/// The value of `--field-selector`: all terms must match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSelector {
    terms: Vec<Term>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Term {
    field: String,
    equal: bool,
    value: String,
}

impl FieldSelector {
    /// Parses `field=value,field!=value`, in which a backslash escapes `,`, `=` and itself.
    pub fn parse(text: &str) -> Result<FieldSelector, SelectorError> {
        let mut terms = Vec::new();
        let mut start = 0;
        while let Some(rest) = text.get(start..) {
            let end = start + term_length(rest);
            // Empty terms are ignored, as in kubectl.
            if !text[start..end].is_empty() {
                terms.push(term(text, start, end)?);
            }
            start = end + 1;
        }
        Ok(FieldSelector { terms })
    }

    /// Whether metadata alone decides.
    pub fn local(&self) -> bool {
        self.terms.iter().all(|term| [NAME, NAMESPACE].contains(&term.field.as_str()))
    }

    /// Whether an object matches. Only meaningful if the selector is [`FieldSelector::local`].
    pub fn matches(&self, namespace: &str, name: &str) -> bool {
        self.terms.iter().all(|term| {
            let value = if term.field == NAME { name } else { namespace };
            (value == term.value) == term.equal
        })
    }
}

/// The length up to the next comma that isn't escaped.
fn term_length(text: &str) -> usize {
    let mut escaped = false;
    for (index, char) in text.char_indices() {
        match char {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            ',' => return index,
            _ => {}
        }
    }
    text.len()
}

fn term(text: &str, start: usize, end: usize) -> Result<Term, SelectorError> {
    let part = &text[start..end];
    let fail = |at: usize, message: String| SelectorError::at("--field-selector", text, start + at, message);
    let operator = part.char_indices().find_map(|(index, _)| {
        let rest = &part[index..];
        ["!=", "==", "="].into_iter().find(|operator| rest.starts_with(operator)).map(|operator| (index, operator))
    });
    let Some((index, operator)) = operator else {
        return Err(fail(0, format!("{part:?} has none of =, ==, !=")));
    };
    let field = part[..index].trim();
    if field.is_empty() {
        return Err(fail(index, format!("expected a field before {operator}")));
    }
    let mut value = String::new();
    let value_start = index + operator.len();
    let mut chars = part[value_start..].char_indices();
    while let Some((at, char)) = chars.next() {
        match char {
            '\\' => match chars.next() {
                Some((_, escaped @ ('\\' | ',' | '='))) => value.push(escaped),
                _ => return Err(fail(value_start + at, r"a backslash escapes only \ , and =".to_owned())),
            },
            '=' => return Err(fail(value_start + at, r"= in a value is written \=".to_owned())),
            _ => value.push(char),
        }
    }
    Ok(Term { field: field.to_owned(), equal: operator != "!=", value })
}

impl fmt::Display for FieldSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, Term { field, equal, value }) in self.terms.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            let value = value.replace('\\', r"\\").replace(',', r"\,").replace('=', r"\=");
            write!(f, "{comma}{field}{}{value}", if *equal { "=" } else { "!=" })?;
        }
        Ok(())
    }
}
