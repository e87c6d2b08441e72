//! How facts are read from JSON, whatever they are about.

use serde_json::Value;

/// The value at a path of keys. To take a path apart each time would cost more than all else.
pub(super) fn at<'v>(value: &'v Value, path: &[&str]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, key| value.get(key))
}

/// The items of a list; none of anything else.
pub(super) fn list(value: Option<&Value>) -> impl Iterator<Item = &Value> {
    value.and_then(Value::as_array).into_iter().flatten()
}

/// Parses RFC 3339, with or without fractions.
pub fn unix_seconds(time: &str) -> Option<i64> {
    time.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_second)
}

/// Of a longer message, so many characters are kept at its beginning and at its end: what wraps an error says what
/// failed first, and why last.
pub(super) const BEGINNING: usize = 140;
pub(super) const END: usize = 200;

/// A message without line breaks, and cut in the middle where it is too long.
pub(super) fn in_one_line(message: &str) -> String {
    let line = message.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = line.trim_end_matches('.');
    let place = |number| line.char_indices().nth(number).map(|(at, _)| at);
    match place(BEGINNING).zip(line.char_indices().rev().nth(END - 1)) {
        Some((begin, (end, _))) if begin + 1 < end => {
            format!("{} … {}", line[..begin].trim_end(), line[end..].trim_start())
        }
        _ => line.to_owned(),
    }
}
