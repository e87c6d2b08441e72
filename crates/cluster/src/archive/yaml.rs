//! Writes objects as YAML that every parser reads as the same object.
//!
//! Parsers differ about unquoted text: for kubectl's, `on` is true, `012` is ten, and `1_000` a thousand. So only
//! unambiguous text is unquoted. All other text is quoted as in JSON, and characters that YAML doesn't allow are
//! escaped.

use std::fmt::Write as _;

use serde_json::Value;

/// YAML requires longer keys to be written as `? key`.
const LONGEST_KEY: usize = 1000;

/// Words that some parser doesn't read as text.
const WORDS: [&str; 12] = ["y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf", "infinity"];

/// One object as YAML.
pub fn yaml_of(value: &Value) -> String {
    let mut text = String::new();
    write(value, &mut text);
    text
}

/// Writes one object in block style, with its keys in their order. `serde_json` limits its depth (128).
pub(super) fn write(value: &Value, out: &mut String) {
    block(value, 0, out);
}

/// Writes a value at the current position; further lines get this indent.
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
            // As in JSON: a scalar, {} or [].
            let _ = writeln!(out, "{value}");
        }
    }
}

fn pad(indent: usize, out: &mut String) {
    out.extend(std::iter::repeat_n(' ', indent));
}

/// Writes a text, unquoted only if every parser reads that as this text.
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

/// Quotes as in JSON, and escapes what YAML doesn't allow: control characters, Unicode line breaks, byte order marks
/// and noncharacters.
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
