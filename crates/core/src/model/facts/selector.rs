//! Label selectors: of admission webhooks, policies, workloads and operators, and those that are written as text.

use std::{cmp::Ordering, collections::BTreeSet, fmt};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::values::list;

/// A LabelSelector: all of its requirements must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LabelSelector(pub Vec<LabelRequirement>);

sparse! {
    /// One requirement; `matchLabels` become `In` with one value.
    pub struct LabelRequirement {
        pub key: String,
        /// `In`, `NotIn`, `Exists`, `DoesNotExist`; in texts also `Gt` and `Lt`, with a whole number.
        pub operator: String,
        pub values?: Vec<String>,
    }
}

/// Requirements of labels with these values.
pub(super) fn equal_to<'v>(
    labels: impl Iterator<Item = (&'v String, &'v Value)>,
) -> impl Iterator<Item = LabelRequirement> {
    labels.map(|(key, value)| LabelRequirement {
        key: key.clone(),
        operator: "In".to_owned(),
        values: value.as_str().map(str::to_owned).into_iter().collect(),
    })
}

/// A LabelSelector; `None` if it has no requirements, and matches everything.
pub(super) fn selector(object: Option<&Value>) -> Option<LabelSelector> {
    let labels = equal_to(object?.get("matchLabels").and_then(Value::as_object).into_iter().flatten());
    let expressions = list(object?.get("matchExpressions")).map(|requirement| {
        let text = |key: &str| requirement[key].as_str().unwrap_or_default().to_owned();
        let values = list(requirement.get("values")).filter_map(Value::as_str).map(str::to_owned);
        LabelRequirement { key: text("key"), operator: text("operator"), values: values.collect() }
    });
    let requirements: Vec<LabelRequirement> = labels.chain(expressions).collect();
    (!requirements.is_empty()).then_some(LabelSelector(requirements))
}

impl LabelSelector {
    /// Parses a selector such as `key=value,key in (a,b),!key`, in the grammar of apimachinery's `labels.Parse`.
    ///
    /// # Errors
    /// What is wrong, and where.
    pub fn parse(text: &str) -> Result<LabelSelector, SelectorFault> {
        let mut parser = Parser { text, tokens: tokens(text), next: 0 };
        let mut requirements = Vec::new();
        if parser.peek().kind == Kind::End {
            return Ok(LabelSelector(requirements));
        }
        loop {
            requirements.push(parser.requirement()?);
            let token = parser.take();
            match token.kind {
                Kind::End => return Ok(LabelSelector(requirements)),
                Kind::Symbol(",") => {}
                _ => return Err(Parser::expected(token, "a comma or the end")),
            }
        }
    }

    /// Whether labels match (apimachinery `labels/selector.go: Requirement.Matches`): an absent label matches `NotIn`.
    pub fn matches<'t>(&self, label: impl Fn(&str) -> Option<&'t str>) -> bool {
        self.0.iter().all(|requirement| {
            let value = label(&requirement.key);
            let number = |text: &str| text.parse::<i64>().ok();
            let order = || number(value?).zip(number(requirement.values.first()?)).map(|(one, other)| one.cmp(&other));
            let is_listed = value.is_some_and(|value| requirement.values.iter().any(|one| one == value));
            match requirement.operator.as_str() {
                "In" => is_listed,
                "NotIn" => !is_listed,
                "Exists" => value.is_some(),
                "DoesNotExist" => value.is_none(),
                "Gt" => order() == Some(Ordering::Greater),
                "Lt" => order() == Some(Ordering::Less),
                _ => false,
            }
        })
    }
}

impl LabelRequirement {
    fn new(key: String, operator: &str, values: Vec<String>) -> Self {
        LabelRequirement { key, operator: operator.to_owned(), values }
    }
}

impl fmt::Display for LabelSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, LabelRequirement { key, operator, values }) in self.0.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(f, "{comma}")?;
            match (operator.as_str(), values.as_slice()) {
                ("DoesNotExist", _) => write!(f, "!{key}"),
                ("In", [value]) => write!(f, "{key}={value}"),
                ("NotIn", [value]) => write!(f, "{key}!={value}"),
                ("In", values) => write!(f, "{key} in ({})", values.join(",")),
                ("NotIn", values) => write!(f, "{key} notin ({})", values.join(",")),
                ("Gt", values) => write!(f, "{key}>{}", values.join("")),
                ("Lt", values) => write!(f, "{key}<{}", values.join("")),
                _ => write!(f, "{key}"),
            }?;
        }
        Ok(())
    }
}

/// What is wrong with the text of a selector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectorFault {
    /// Where, in bytes.
    pub byte: usize,
    /// What is wrong.
    pub message: String,
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

    fn fail(byte: usize, message: String) -> SelectorFault {
        SelectorFault { byte, message }
    }

    fn expected(token: Token<'_>, what: &str) -> SelectorFault {
        let found = if token.kind == Kind::End { "the end".to_owned() } else { format!("{:?}", token.text) };
        Self::fail(token.start, format!("expected {what}, found {found}"))
    }

    fn requirement(&mut self) -> Result<LabelRequirement, SelectorFault> {
        let absent = self.peek().kind == Kind::Symbol("!");
        if absent {
            self.next += 1;
        }
        let token = self.take();
        if token.kind != Kind::Word {
            return Err(Self::expected(token, if absent { "a label's key" } else { "a label's key or !" }));
        }
        check_key(token.text).map_err(|message| Self::fail(token.start, message))?;
        let key = token.text.to_owned();
        if absent {
            return Ok(LabelRequirement::new(key, "DoesNotExist", Vec::new()));
        }
        if matches!(self.peek().kind, Kind::End | Kind::Symbol(",")) {
            return Ok(LabelRequirement::new(key, "Exists", Vec::new()));
        }
        let operator = self.take();
        let (operator, values) = match (operator.kind, operator.text) {
            (Kind::Symbol("=" | "=="), _) => ("In", vec![self.value()?]),
            (Kind::Symbol("!="), _) => ("NotIn", vec![self.value()?]),
            (Kind::Symbol(">"), _) => ("Gt", vec![self.number()?.to_string()]),
            (Kind::Symbol("<"), _) => ("Lt", vec![self.number()?.to_string()]),
            (Kind::Word, "in") => ("In", self.values()?),
            (Kind::Word, "notin") => ("NotIn", self.values()?),
            _ => return Err(Self::expected(operator, "=, ==, !=, in, notin, <, > or a comma")),
        };
        Ok(LabelRequirement::new(key, operator, values))
    }

    /// Parses one value, which may be empty.
    fn value(&mut self) -> Result<String, SelectorFault> {
        match self.peek().kind {
            Kind::End | Kind::Symbol(",") => Ok(String::new()),
            _ => self.word(),
        }
    }

    fn number(&mut self) -> Result<i64, SelectorFault> {
        let token = self.peek();
        self.value()?.parse().map_err(|_| Self::expected(token, "a whole number"))
    }

    fn word(&mut self) -> Result<String, SelectorFault> {
        let token = self.take();
        if token.kind != Kind::Word {
            return Err(Self::expected(token, "a value"));
        }
        check_value(token.text).map_err(|message| Self::fail(token.start, message))?;
        Ok(token.text.to_owned())
    }

    /// Parses `(a,b)`, in which values may be empty: sorted, each once.
    fn values(&mut self) -> Result<Vec<String>, SelectorFault> {
        let open = self.take();
        if open.kind != Kind::Symbol("(") {
            return Err(Self::expected(open, "("));
        }
        let mut values = BTreeSet::new();
        loop {
            values.insert(match self.peek().kind {
                Kind::Word => self.word()?,
                _ => String::new(),
            });
            let token = self.take();
            match token.kind {
                Kind::Symbol(")") => return Ok(values.into_iter().collect()),
                Kind::Symbol(",") => {}
                _ => return Err(Self::expected(token, "a comma or )")),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requirements_are_those_of_the_api_server() {
        let matches = |operator: &str, values: &[&str]| {
            let values = values.iter().map(|value| (*value).to_owned()).collect();
            let requirement = LabelRequirement { key: "tier".to_owned(), operator: operator.to_owned(), values };
            let selector = LabelSelector(vec![requirement]);
            [Some("a"), None].map(|value| selector.matches(|key| value.filter(|_| key == "tier")))
        };
        assert_eq!(matches("In", &["a", "b"]), [true, false]);
        assert_eq!(matches("In", &["b"]), [false, false]);
        assert_eq!(matches("NotIn", &["a"]), [false, true]);
        assert_eq!(matches("NotIn", &["b"]), [true, true]);
        assert_eq!(matches("Exists", &[]), [true, false]);
        assert_eq!(matches("DoesNotExist", &[]), [false, true]);
        assert!(LabelSelector::default().matches(|_| None), "an empty selector matches everything");
    }

    #[test]
    fn selectors_are_read_as_kubectl_writes_them() {
        let labels = |key: &str| [("tier", "a"), ("shard", "one")].into_iter().find(|it| it.0 == key).map(|it| it.1);
        for (text, expected) in [
            ("tier=a", true),
            ("tier==b", false),
            ("tier!=b,shard", true),
            ("!shard", false),
            ("shard in (one, two),tier = a", true),
            ("shard notin (one,two)", false),
            ("other", false),
            ("tier>3", false),
            ("", true),
        ] {
            let selector = LabelSelector::parse(text).unwrap();
            assert_eq!(selector.matches(labels), expected, "{text}");
        }
        assert!(["tier in a", "tier>b", ",", "a,,b"].map(LabelSelector::parse).iter().all(Result::is_err));
    }
}
