//! Objects as YAML that every reader takes for the same object.
//!
//! Readers differ in what an unquoted text is: to kubectl's, `on` is true, `012` is ten, `1_000` a thousand. Therefore
//! only what is beyond doubt stands unquoted, and the rest as in JSON, with everything escaped that YAML does not take
//! as it is.

use std::fmt::Write as _;

use serde_json::Value;

/// Longer keys have to be announced, says YAML (`? key`).
const LONGEST_KEY: usize = 1000;

/// Words that some reader takes for something else than a text.
const WORDS: [&str; 12] = ["y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf", "infinity"];

/// One object in block style, its keys in the order in which they come. The value is not deeper than `serde_json` reads
/// (128).
pub(super) fn write(value: &Value, out: &mut String) {
    block(value, 0, out);
}

/// A value that begins on a line of its own.
fn block(value: &Value, indent: usize, out: &mut String) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            for (index, (key, value)) in map.iter().enumerate() {
                if index > 0 {
                    pad(indent, out);
                }
                let start = out.len();
                text(key, out);
                if out.len() - start > LONGEST_KEY {
                    out.insert_str(start, "? ");
                    out.push('\n');
                    pad(indent, out);
                }
                out.push(':');
                match value {
                    Value::Object(inner) if !inner.is_empty() => {
                        out.push('\n');
                        pad(indent + 2, out);
                        block(value, indent + 2, out);
                    }
                    Value::Array(inner) if !inner.is_empty() => {
                        out.push('\n');
                        pad(indent, out);
                        block(value, indent, out);
                    }
                    value => {
                        out.push(' ');
                        block(value, indent, out);
                    }
                }
            }
        }
        Value::Array(values) if !values.is_empty() => {
            for (index, value) in values.iter().enumerate() {
                if index > 0 {
                    pad(indent, out);
                }
                out.push_str("- ");
                block(value, indent + 2, out);
            }
        }
        Value::String(string) => {
            text(string, out);
            out.push('\n');
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) | Value::Array(_) => {
            // These are written as in JSON: a scalar, {} or [].
            let _ = writeln!(out, "{value}");
        }
    }
}

fn pad(indent: usize, out: &mut String) {
    out.extend(std::iter::repeat_n(' ', indent));
}

/// A text, unquoted only where nobody can take it for anything else.
fn text(text: &str, out: &mut String) {
    if is_plain(text) {
        out.push_str(text);
    } else {
        quoted(text, out);
    }
}

fn is_plain(text: &str) -> bool {
    text.len() < 200
        && text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_./".contains(c))
        && !WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// As in JSON, and escaped whatever YAML doesn't take as it is: controls, line breaks of any alphabet, marks of byte
/// order, no characters.
pub(super) fn quoted(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            ' '..='~'
            | '\u{a0}'..='\u{2027}'
            | '\u{202a}'..='\u{d7ff}'
            | '\u{e000}'..='\u{fefe}'
            | '\u{ff00}'..='\u{fffd}' => {
                out.push(c);
            }
            '\u{10000}'.. => out.push(c),
            c => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
        }
    }
    out.push('"');
}
