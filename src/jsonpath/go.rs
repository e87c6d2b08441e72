//! Values as Go prints and compares them.

use std::{
    borrow::Cow,
    cmp::Ordering,
    fmt::Write as _,
    io::{self, Write},
};

use serde::Serialize;
use serde_json::{Number, Value, ser::Formatter};

use super::{Item, PathError};

/// What `fmt.Fprint` and, for objects and arrays, `json.Marshal` write.
pub(super) fn print(item: &Item<'_>, text: &mut String) {
    match item {
        Item::Json(value @ (Value::Object(_) | Value::Array(_))) => text.push_str(&marshal(value, None)),
        Item::Json(value) => text.push_str(&scalar(value, "null")),
        Item::Text(own) => text.push_str(own),
        Item::Int(number) => text.push_str(&number.to_string()),
        Item::Float(number) => text.push_str(&float(*number)),
        Item::Bool(value) => text.push_str(if *value { "true" } else { "false" }),
        Item::Byte(byte) => text.push_str(&byte.to_string()),
        Item::Nothing => text.push_str("<no value>"),
    }
}

/// What `fmt.Sprint` writes: `map[a:1]`, `[a b]`, `<nil>`. Such a value is never nested deeply: a document's own
/// nesting limits it.
pub(super) fn sprint(item: &Item<'_>) -> String {
    enum Part<'v> {
        Value(&'v Value),
        Text(&'v str),
    }
    let mut text = String::new();
    let Item::Json(value) = item else {
        print(item, &mut text);
        return text;
    };
    let mut open = vec![Part::Value(value)];
    while let Some(part) = open.pop() {
        match part {
            Part::Text(part) => text.push_str(part),
            Part::Value(Value::Array(elements)) => {
                text.push('[');
                open.push(Part::Text("]"));
                for (index, element) in elements.iter().enumerate().rev() {
                    open.push(Part::Value(element));
                    if index > 0 {
                        open.push(Part::Text(" "));
                    }
                }
            }
            Part::Value(Value::Object(fields)) => {
                text.push_str("map[");
                open.push(Part::Text("]"));
                let fields: Vec<_> = fields.iter().collect();
                for (index, (name, value)) in fields.into_iter().enumerate().rev() {
                    open.extend([Part::Value(value), Part::Text(":"), Part::Text(name)]);
                    if index > 0 {
                        open.push(Part::Text(" "));
                    }
                }
            }
            Part::Value(value) => text.push_str(&scalar(value, "<nil>")),
        }
    }
    text
}

fn scalar(value: &Value, null: &str) -> String {
    match value {
        Value::Null => null.to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(value) => number(value),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Kubernetes reads whole numbers as int64, all others as float64.
fn number(number: &Number) -> String {
    match number.as_i64() {
        Some(whole) => whole.to_string(),
        None => float(number.as_f64().unwrap_or_default()),
    }
}

/// `%v`: the shortest digits, with an exponent if that is less than -4 or at least 6.
fn float(number: f64) -> String {
    let scientific = format!("{number:e}");
    let Some((digits, exponent)) = scientific.split_once('e') else { return scientific };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..6).contains(&exponent) {
        return number.to_string();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

/// `json.Marshal`, or with an indent `json.MarshalIndent`.
fn marshal(value: &impl Serialize, indent: Option<usize>) -> String {
    let mut bytes = Vec::new();
    let formatter = GoFormatter { indent, depth: 0, has_value: false };
    let written = value.serialize(&mut serde_json::Serializer::with_formatter(&mut bytes, formatter));
    debug_assert!(written.is_ok(), "a value is always JSON");
    let text = String::from_utf8_lossy(&bytes);
    // encoding/json escapes what HTML could misread; outside of texts none of it occurs.
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                let _ = write!(escaped, "\\u{:04x}", u32::from(character));
            }
            other => escaped.push(other),
        }
    }
    escaped
}

/// A JSON array of results, as `jsonpath-as-json` prints it.
pub(super) fn array(items: &[Item<'_>]) -> String {
    marshal(&items.iter().map(value).collect::<Vec<_>>(), Some(4))
}

pub(super) fn value(item: &Item<'_>) -> Value {
    match item {
        Item::Json(value) => (*value).clone(),
        Item::Text(text) => Value::String(text.clone().into_owned()),
        Item::Int(number) => Value::from(*number),
        Item::Float(number) => Value::from(*number),
        Item::Bool(value) => Value::Bool(*value),
        Item::Byte(byte) => Value::from(*byte),
        Item::Nothing => Value::Null,
    }
}

/// Numbers as encoding/json writes them, and its indents.
struct GoFormatter {
    indent: Option<usize>,
    depth: usize,
    has_value: bool,
}

impl GoFormatter {
    fn new_line<W: ?Sized + Write>(&self, writer: &mut W) -> io::Result<()> {
        match self.indent {
            Some(indent) => write!(writer, "\n{}", " ".repeat(indent * self.depth)),
            None => Ok(()),
        }
    }

    fn begin<W: ?Sized + Write>(&mut self, writer: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.depth += 1;
        self.has_value = false;
        writer.write_all(bracket)
    }

    fn end<W: ?Sized + Write>(&mut self, writer: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.depth -= 1;
        if self.has_value {
            self.new_line(writer)?;
        }
        writer.write_all(bracket)
    }

    fn separate<W: ?Sized + Write>(&self, writer: &mut W, first: bool) -> io::Result<()> {
        if !first {
            writer.write_all(b",")?;
        }
        self.new_line(writer)
    }
}

impl Formatter for GoFormatter {
    fn write_f64<W: ?Sized + Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        // encoding/json: an exponent below 1e-6 and from 1e21 on, without a leading zero if negative.
        let text = match value.abs() {
            small if small != 0.0 && small < 1e-6 => float(value).replace("e-0", "e-"),
            large if large >= 1e21 => float(value),
            _ => value.to_string(),
        };
        writer.write_all(text.as_bytes())
    }

    fn write_u64<W: ?Sized + Write>(&mut self, writer: &mut W, value: u64) -> io::Result<()> {
        match i64::try_from(value) {
            Ok(whole) => write!(writer, "{whole}"),
            Err(_) => self.write_f64(writer, value as f64),
        }
    }

    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.begin(writer, b"[")
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.end(writer, b"]")
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.separate(writer, first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, _writer: &mut W) -> io::Result<()> {
        self.has_value = true;
        Ok(())
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.begin(writer, b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.end(writer, b"}")
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.separate(writer, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(if self.indent.is_some() { b": " } else { b":" })
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, _writer: &mut W) -> io::Result<()> {
        self.has_value = true;
        Ok(())
    }
}

/// The kinds that Go's templates compare (`template/funcs.go: basicKind`).
enum Basic<'v> {
    Bool(bool),
    Int(i128),
    Float(f64),
    Text(Cow<'v, str>),
}

fn basic<'v>(item: &'v Item<'_>) -> Result<Basic<'v>, PathError> {
    Ok(match item {
        Item::Json(Value::Bool(value)) => Basic::Bool(*value),
        Item::Json(Value::Number(number)) => match number.as_i64() {
            Some(whole) => Basic::Int(whole.into()),
            None => Basic::Float(number.as_f64().unwrap_or_default()),
        },
        Item::Json(Value::String(text)) => Basic::Text(Cow::Borrowed(text)),
        Item::Text(text) => Basic::Text(Cow::Borrowed(text)),
        Item::Int(number) => Basic::Int((*number).into()),
        Item::Byte(byte) => Basic::Int((*byte).into()),
        Item::Float(number) => Basic::Float(*number),
        Item::Bool(value) => Basic::Bool(*value),
        Item::Json(Value::Null | Value::Array(_) | Value::Object(_)) | Item::Nothing => {
            return Err(PathError::new("invalid type for comparison"));
        }
    })
}

/// Whether `left operator right`, as in Go's templates.
pub(super) fn compare(left: &Item<'_>, right: &Item<'_>, operator: &str) -> Result<bool, PathError> {
    if !["<", ">", "==", "!=", "<=", ">="].contains(&operator) {
        return Err(PathError::new(format!("unrecognized filter operator {operator}")));
    }
    let order = match (basic(left)?, basic(right)?) {
        (Basic::Bool(left), Basic::Bool(right)) if matches!(operator, "==" | "!=") => Some(left.cmp(&right)),
        (Basic::Bool(_), Basic::Bool(_)) => return Err(PathError::new("invalid type for comparison")),
        (Basic::Int(left), Basic::Int(right)) => Some(left.cmp(&right)),
        (Basic::Float(left), Basic::Float(right)) => left.partial_cmp(&right),
        (Basic::Text(left), Basic::Text(right)) => Some(left.cmp(&right)),
        _ => return Err(PathError::new("incompatible types for comparison")),
    };
    Ok(match operator {
        "<" => order == Some(Ordering::Less),
        ">" => order == Some(Ordering::Greater),
        "==" => order == Some(Ordering::Equal),
        "!=" => order != Some(Ordering::Equal),
        "<=" => order.is_some_and(Ordering::is_le),
        _ => order.is_some_and(Ordering::is_ge),
    })
}

/// The name of a value's type in Go, for messages.
pub(super) fn type_of(item: &Item<'_>) -> &'static str {
    match item {
        Item::Json(Value::Object(_)) => "map[string]interface {}",
        Item::Json(Value::Array(_)) => "[]interface {}",
        Item::Json(Value::String(_)) | Item::Text(_) => "string",
        Item::Json(Value::Bool(_)) | Item::Bool(_) => "bool",
        Item::Json(Value::Number(number)) if number.as_i64().is_none() => "float64",
        Item::Json(Value::Number(_)) => "int64",
        Item::Json(Value::Null) | Item::Nothing => "nothing",
        Item::Int(_) => "int",
        Item::Float(_) => "float64",
        Item::Byte(_) => "uint8",
    }
}
