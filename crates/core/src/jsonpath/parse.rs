//! Reads templates as client-go's `util/jsonpath/parser.go` does, with its oddities.

/// How deep filters and unions may stand in each other. The parser's own rules allow less.
const DEEPEST: usize = 16;
/// The longest template.
const LONGEST: usize = 1 << 16;

/// Why a template is no template, or can't be applied to a document.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PathError(pub String);

impl PathError {
    pub(super) fn new(why: impl Into<String>) -> Self {
        PathError(why.into())
    }
}

/// A part of a template.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    /// What stands between two braces.
    List(Vec<Node>),
    Text(String),
    Field(String),
    /// `range` or `end`; others are refused when they are evaluated.
    Identifier(String),
    Slice(Slice),
    Filter {
        left: Vec<Node>,
        right: Vec<Node>,
        operator: String,
    },
    Union(Vec<Vec<Node>>),
    Int(i64),
    Float(f64),
    Bool(bool),
    Wildcard,
    Recursive,
}

/// `[start:end:step]`; an index is a slice of one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Slice {
    pub(super) start: Option<i64>,
    pub(super) end: Option<i64>,
    /// Whether the end is that of an index.
    pub(super) is_index: bool,
    pub(super) step: Option<i64>,
}

pub(super) fn parse(template: &str) -> Result<Vec<Node>, PathError> {
    if template.len() > LONGEST {
        return Err(PathError::new(format!("the template is longer than {LONGEST} bytes")));
    }
    parse_at(template, 0)
}

fn parse_at(template: &str, depth: usize) -> Result<Vec<Node>, PathError> {
    if depth > DEEPEST {
        return Err(PathError::new("the template is nested too deep"));
    }
    Parser { input: template, at: 0, start: 0, width: 0, depth }.parse()
}

/// What stands between braces that are added to this text.
fn parse_action(text: &str, depth: usize) -> Result<Vec<Node>, PathError> {
    match parse_at(&format!("{{{text}}}"), depth + 1)?.into_iter().next() {
        Some(Node::List(nodes)) => Ok(nodes),
        _ => Ok(Vec::new()),
    }
}

struct Parser<'t> {
    input: &'t str,
    at: usize,
    /// Where the text begins that is not consumed yet.
    start: usize,
    /// The width of the last character.
    width: usize,
    depth: usize,
}

impl<'t> Parser<'t> {
    fn parse(mut self) -> Result<Vec<Node>, PathError> {
        let mut root = Vec::new();
        loop {
            let rest = &self.input[self.at..];
            let text = rest.split('{').next().unwrap_or_default();
            if !text.is_empty() {
                root.push(Node::Text(text.to_owned()));
            }
            self.at += text.len();
            if text.len() == rest.len() {
                return Ok(root);
            }
            self.at += 1;
            self.start = self.at;
            let mut nodes = Vec::new();
            self.action(&mut nodes)?;
            root.push(Node::List(nodes));
        }
    }

    /// Reads up to the right brace.
    fn action(&mut self, nodes: &mut Vec<Node>) -> Result<(), PathError> {
        loop {
            let rest = &self.input[self.at..];
            if rest.starts_with('}') {
                self.at += 1;
                self.start = self.at;
                return Ok(());
            }
            if rest.starts_with("[?(") {
                self.filter(nodes)?;
                continue;
            }
            if rest.starts_with("..") {
                self.recursive(nodes)?;
                continue;
            }
            match self.next() {
                None | Some('\r' | '\n') => return Err(PathError::new("unclosed action")),
                Some(' ' | '@' | '$') => self.start = self.at,
                Some('[') => self.array(nodes)?,
                Some(quote @ ('"' | '\'')) => self.quote(nodes, quote)?,
                Some('.') => self.field(nodes),
                Some(first) if matches!(first, '+' | '-') || is_digit(first) => {
                    self.back();
                    self.number(nodes)?;
                }
                Some(first) if is_alphanumeric(first) => {
                    self.back();
                    self.identifier(nodes);
                }
                Some(other) => {
                    let code = u32::from(other);
                    return Err(PathError::new(format!("unrecognized character in action: U+{code:04X} '{other}'")));
                }
            }
        }
    }

    fn next(&mut self) -> Option<char> {
        let next = self.input[self.at..].chars().next();
        self.width = next.map_or(0, char::len_utf8);
        self.at += self.width;
        next
    }

    fn back(&mut self) {
        self.at -= self.width;
    }

    fn consume(&mut self) -> &'t str {
        let text = &self.input[self.start..self.at];
        self.start = self.at;
        text
    }

    fn identifier(&mut self, nodes: &mut Vec<Node>) {
        while self.next().is_some_and(|next| !is_terminator(next)) {}
        self.back();
        nodes.push(match self.consume() {
            "true" => Node::Bool(true),
            "false" => Node::Bool(false),
            name => Node::Identifier(name.to_owned()),
        });
    }

    fn recursive(&mut self, nodes: &mut Vec<Node>) -> Result<(), PathError> {
        if nodes.last() == Some(&Node::Recursive) {
            return Err(PathError::new("invalid multiple recursive descent"));
        }
        self.at += "..".len();
        self.start = self.at;
        nodes.push(Node::Recursive);
        if self.input[self.at..].chars().next().is_some_and(is_alphanumeric) {
            self.field(nodes);
        }
        Ok(())
    }

    fn number(&mut self, nodes: &mut Vec<Node>) -> Result<(), PathError> {
        if self.input[self.at..].starts_with(['+', '-']) {
            self.next();
        }
        while self.next().is_some_and(|next| next == '.' || is_digit(next)) {}
        self.back();
        let text = self.consume();
        // Go takes no other digits than these, and no name of a number.
        let plain = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'+' | b'-'));
        nodes.push(match (text.parse::<i64>(), text.parse::<f64>()) {
            (Ok(number), _) => Node::Int(number),
            (Err(_), Ok(number)) if plain && number.is_finite() => Node::Float(number),
            _ => return Err(PathError::new(format!("cannot parse number {text}"))),
        });
        Ok(())
    }

    fn array(&mut self, nodes: &mut Vec<Node>) -> Result<(), PathError> {
        loop {
            match self.next() {
                None | Some('\n') => return Err(PathError::new("unterminated array")),
                Some(']') => break,
                Some(_) => {}
            }
        }
        let text = self.consume();
        let text = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or_default();
        let text = if text == "*" { ":" } else { text };
        if text.contains(',') {
            let part = |part: &str| parse_action(&format!("[{}]", part.trim_matches(' ')), self.depth);
            nodes.push(Node::Union(text.split(',').map(part).collect::<Result<_, _>>()?));
            return Ok(());
        }
        if let Some(key) = text.strip_prefix('\'').and_then(|text| text.strip_suffix('\''))
            && !key.contains('\'')
        {
            nodes.extend(parse_action(&format!(".{key}"), self.depth)?);
            return Ok(());
        }
        nodes.push(Node::Slice(slice(text)?));
        Ok(())
    }

    fn filter(&mut self, nodes: &mut Vec<Node>) -> Result<(), PathError> {
        self.at += "[?(".len();
        self.start = self.at;
        let (mut begun, mut ended) = (false, false);
        let mut pair = '\0';
        loop {
            match self.next() {
                None | Some('\n') => return Err(PathError::new("unterminated filter")),
                Some(quote @ ('"' | '\'')) => {
                    if !begun {
                        (begun, pair) = (true, quote);
                    } else if quote == pair && !self.is_escaped() {
                        ended = true;
                    }
                }
                Some(')') if begun == ended => break,
                Some(_) => {}
            }
        }
        if self.next() != Some(']') {
            return Err(PathError::new("unclosed array expect ]"));
        }
        let text = self.consume();
        let text = text.strip_suffix(")]").unwrap_or_default();
        nodes.push(match comparison(text) {
            Some((left, operator, right)) => Node::Filter {
                left: parse_action(left, self.depth)?,
                right: parse_action(right, self.depth)?,
                operator: operator.to_owned(),
            },
            None => {
                Node::Filter { left: parse_action(text, self.depth)?, right: Vec::new(), operator: "exists".to_owned() }
            }
        });
        Ok(())
    }

    /// Whether a backslash stands before the last character.
    fn is_escaped(&self) -> bool {
        self.input[..self.at - self.width].ends_with('\\')
    }

    fn quote(&mut self, nodes: &mut Vec<Node>, end: char) -> Result<(), PathError> {
        loop {
            match self.next() {
                None | Some('\n') => return Err(PathError::new("unterminated quoted string")),
                Some(next) if next == end && !self.is_escaped() => break,
                Some(_) => {}
            }
        }
        let quoted = self.consume();
        let text = unquote(quoted, end)
            .ok_or_else(|| PathError::new(format!("unquote string {quoted} error invalid syntax")))?;
        nodes.push(Node::Text(text));
        Ok(())
    }

    fn field(&mut self, nodes: &mut Vec<Node>) {
        self.start = self.at;
        loop {
            match self.next() {
                Some('\\') => {
                    self.next();
                }
                Some(next) if !is_terminator(next) => {}
                _ => {
                    self.back();
                    break;
                }
            }
        }
        nodes.push(match self.consume() {
            "*" => Node::Wildcard,
            name => Node::Field(name.replace('\\', "")),
        });
    }
}

/// The digits of other scripts make no number, and no other sense either.
fn is_digit(character: char) -> bool {
    character.is_ascii_digit()
}

fn is_alphanumeric(character: char) -> bool {
    character == '_' || character.is_alphanumeric()
}

fn is_terminator(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\r' | '\n' | '.' | ',' | '[' | ']' | '$' | '@' | '{' | '}')
}

/// Splits `left operator right`, as `^([^!<>=]+)([!<>=]+)(.+?)$` does.
fn comparison(text: &str) -> Option<(&str, &str, &str)> {
    let is_operator = |character: char| matches!(character, '!' | '<' | '>' | '=');
    let begins = text.find(is_operator).filter(|at| *at > 0)?;
    let (left, rest) = text.split_at(begins);
    let ends = rest.find(|character| !is_operator(character)).unwrap_or(rest.len());
    // Something has to be compared with.
    let ends = if ends == rest.len() { ends - 1 } else { ends };
    (ends > 0).then(|| (left, &rest[..ends], &rest[ends..]))
}

/// Reads `^(-?[\d]*)(:-?[\d]*)?(:-?[\d]*)?$`.
fn slice(text: &str) -> Result<Slice, PathError> {
    let invalid = || PathError::new(format!("invalid array index {text}"));
    let parts: Vec<&str> = text.split(':').collect();
    let is_part = |part: &&str| part.strip_prefix('-').unwrap_or(part).bytes().all(|byte| byte.is_ascii_digit());
    if parts.len() > 3 || !parts.iter().all(is_part) {
        return Err(invalid());
    }
    let number = |part: &str| -> Result<Option<i64>, PathError> {
        let number = || part.parse().map_err(|_| PathError::new(format!("array index {part} is not a number")));
        if part.is_empty() { Ok(None) } else { number().map(Some) }
    };
    let start = number(parts[0])?;
    Ok(Slice {
        start,
        end: match parts.get(1) {
            Some(end) => number(end)?,
            None => Some(start.unwrap_or(0).saturating_add(1)),
        },
        is_index: parts.len() == 1,
        step: parts.get(2).map_or(Ok(None), |step| number(step))?,
    })
}

/// Go's `strconv.UnquoteChar` on what is quoted.
fn unquote(quoted: &str, quote: char) -> Option<String> {
    let inner = quoted.strip_prefix(quote)?.strip_suffix(quote)?;
    if !inner.contains(['\\', quote]) {
        return Some(inner.to_owned());
    }
    let mut bytes: Vec<u8> = Vec::new();
    let mut rest = inner.chars();
    while let Some(next) = rest.next() {
        if next == quote {
            return None;
        }
        if next != '\\' {
            bytes.extend(next.encode_utf8(&mut [0; 4]).bytes());
            continue;
        }
        let escaped = rest.next()?;
        let byte = match escaped {
            'a' => 7,
            'b' => 8,
            'f' => 12,
            'n' => b'\n',
            'r' => b'\r',
            't' => b'\t',
            'v' => 11,
            '\\' => b'\\',
            'x' => u8::try_from(digits(&mut rest, 2, 16, None)?).ok()?,
            first @ '0'..='7' => u8::try_from(digits(&mut rest, 2, 8, first.to_digit(8))?).ok()?,
            'u' | 'U' => {
                let code = digits(&mut rest, if escaped == 'u' { 4 } else { 8 }, 16, None)?;
                bytes.extend(char::from_u32(code)?.encode_utf8(&mut [0; 4]).bytes());
                continue;
            }
            same if same == quote => quote as u8,
            _ => return None,
        };
        bytes.push(byte);
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn digits(rest: &mut std::str::Chars<'_>, count: usize, radix: u32, first: Option<u32>) -> Option<u32> {
    let mut number = first.unwrap_or(0);
    for _ in 0..count {
        number = number.checked_mul(radix)?.checked_add(rest.next()?.to_digit(radix)?)?;
    }
    Some(number)
}
