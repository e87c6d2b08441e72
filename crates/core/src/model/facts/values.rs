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
