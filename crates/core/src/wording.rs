//! Formats numbers, counts and ages for every output.

use std::{hash::Hash, time::Duration};

use rustc_hash::{FxHashMap, FxHashSet};

/// `1 object`, `3 objects`, `101,204 objects`.
pub fn count(number: usize, one: &str, many: &str) -> String {
    format!("{} {}", thousands(number), if number == 1 { one } else { many })
}

/// The first few items of a long list, for an error message: `a; b; and 3 more`.
pub fn named(all: &[String]) -> String {
    const NAMED: usize = 12;
    listed(all.iter().cloned(), NAMED, "; ")
}

/// At most this many items of a list, and how many more there are.
pub fn listed(all: impl Iterator<Item = String>, most: usize, between: &str) -> String {
    let mut first: Vec<String> = all.collect();
    let more = first.len().saturating_sub(most);
    first.truncate(most);
    first.extend((more > 0).then(|| format!("and {more} more")));
    first.join(between)
}

/// `a`, `a and b`, `a, b and c`: all names of a list, with this word before the last.
pub fn all_of<N: AsRef<str>>(names: &[N], word: &str) -> String {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    match names.as_slice() {
        [some @ .., last] if !some.is_empty() => format!("{} {word} {last}", some.join(", ")),
        one => one.concat(),
    }
}

/// What follows the first few names of a list: ` and 3 more`, or nothing.
pub fn and_more(rest: usize) -> String {
    if rest == 0 { String::new() } else { format!(" and {rest} more") }
}

/// Items by key: the keys in the order in which they first come.
pub fn grouped<K: Clone + Eq + Hash, T>(items: impl IntoIterator<Item = (K, T)>) -> Vec<(K, Vec<T>)> {
    let mut groups: Vec<(K, Vec<T>)> = Vec::new();
    let mut places: FxHashMap<K, usize> = FxHashMap::default();
    for (key, item) in items {
        let place = *places.entry(key).or_insert_with_key(|key| {
            groups.push((key.clone(), Vec::new()));
            groups.len() - 1
        });
        groups[place].1.push(item);
    }
    groups
}

/// How the field manager of a restore begins; the archived object's uid follows.
pub const RESTORES: &str = "kubectl-gc-restore:";

/// Who writes under the name of a field manager.
pub fn maker(manager: &str) -> &str {
    if manager.starts_with(RESTORES) { "kubectl gc restore" } else { manager }
}

/// Each item once, where it first comes.
pub fn each_once<T: Clone + Eq + Hash>(items: impl Iterator<Item = T>) -> impl Iterator<Item = T> {
    let mut seen: FxHashSet<T> = FxHashSet::default();
    items.filter(move |item| seen.insert(item.clone()))
}

/// The first few names of a list, and how many more there are: `pods, secrets and 3 more`.
pub fn some_of<N: AsRef<str>>(names: impl IntoIterator<Item = N, IntoIter: ExactSizeIterator>, most: usize) -> String {
    let names = names.into_iter();
    let more = and_more(names.len().saturating_sub(most));
    let named: Vec<N> = names.take(most).collect();
    format!("{}{more}", named.iter().map(N::as_ref).collect::<Vec<_>>().join(", "))
}

/// A number with thousands separators: `101,204`.
pub fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A duration in kubectl's short form, as [`age`].
pub fn duration(time: Duration) -> String {
    age(time.as_secs().try_into().unwrap_or(i64::MAX))
}

/// An age in kubectl's short form: the largest unit that fits.
pub fn age(seconds: i64) -> String {
    match seconds {
        ..0 => "0s".to_owned(),
        0..120 => format!("{seconds}s"),
        120..7_200 => format!("{}m", seconds / 60),
        7_200..172_800 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        let text = [0, 7, 999, 1_000, 101_204, 1_234_567].map(thousands);
        assert_eq!(text, ["0", "7", "999", "1,000", "101,204", "1,234,567"]);
        assert_eq!([count(1, "object", "objects"), count(1_000, "object", "objects")], ["1 object", "1,000 objects"]);
    }

    #[test]
    fn of_many_the_first_are_named() {
        let all: Vec<String> = (0..13).map(|number| number.to_string()).collect();
        assert_eq!(named(&all[..2]), "0; 1");
        assert_eq!(named(&all), "0; 1; 2; 3; 4; 5; 6; 7; 8; 9; 10; 11; and 1 more");
    }

    #[test]
    fn a_word_stands_before_the_last() {
        let names = ["a", "b", "c"];
        assert_eq!([0, 1, 2, 3].map(|some| all_of(&names[..some], "or")), ["", "a", "a or b", "a, b or c"]);
    }

    #[test]
    fn ages_are_short() {
        let ages = [-5, 119, 120, 7_199, 7_200, 172_799, 172_800].map(age);
        assert_eq!(ages, ["0s", "119s", "2m", "119m", "2h", "47h", "2d"]);
    }
}
