//! Wording: plurals, counts by kind, wrapping.

use std::collections::BTreeMap;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::{escape::visible, lines::pieces};
use gc_core::{
    model::{ObjectId, Resource, ResourceId, Snapshot},
    wording::{count, thousands},
};

/// The number of objects of each kind, in the order of discovery.
pub type KindCounts = BTreeMap<ResourceId, usize>;

/// Counts objects by kind.
pub fn count_kinds(snapshot: &Snapshot, objects: impl Iterator<Item = ObjectId>) -> KindCounts {
    let mut counts = KindCounts::new();
    for id in objects {
        *counts.entry(snapshot.object(id).resource).or_default() += 1;
    }
    counts
}

/// `12 Pods, 3 Services and 9 more kinds`: at most so many kinds, or one more if that is all.
pub fn kinds_of(
    snapshot: &Snapshot,
    counts: impl IntoIterator<Item = (ResourceId, usize), IntoIter: ExactSizeIterator>,
    most: usize,
) -> String {
    let kind = |(resource, number): (ResourceId, usize)| {
        format!("{} {}", thousands(number), plural(snapshot.resources.get(resource), number))
    };
    let counts = counts.into_iter();
    let most = if counts.len() <= most.saturating_add(1) { counts.len() } else { most };
    let more = counts.len() - most;
    let kinds = counts.take(most).map(kind).collect::<Vec<_>>().join(", ");
    if more == 0 { kinds } else { format!("{kinds} and {}", count(more, "more kind", "more kinds")) }
}

/// The name of a kind for a count: `1 Ingress`, `2 Ingresses`, `2 NetworkPolicies`, `2 Endpoints`. The plural ending is
/// taken from the resource's name if both agree up to there.
pub fn plural(resource: &Resource, count: usize) -> String {
    let kind = &resource.kind;
    if count == 1 || resource.shares_kind {
        let more = if count == 1 { "" } else { " objects" };
        return format!("{}{more}", resource.named_kind());
    }
    let lower = kind.to_lowercase();
    let common = lower.bytes().zip(resource.plural.bytes()).take_while(|(a, b)| a == b).count();
    match (kind.get(..common), resource.plural.get(common..)) {
        (Some(stem), Some(ending)) if common + 1 >= kind.len() && lower.len() == kind.len() => {
            format!("{stem}{ending}")
        }
        _ => format!("{kind}s"),
    }
}

/// `kind.group/name`, as kubectl's `-o name` prints it.
pub fn full_name(kind: &str, group: &str, name: &str) -> String {
    let dot = if group.is_empty() { "" } else { "." };
    format!("{}{dot}{group}/{name}", kind.to_lowercase())
}

/// The full names of these objects.
pub fn full_names(snapshot: &Snapshot, objects: impl IntoIterator<Item = ObjectId>) -> Vec<String> {
    let name = |id| {
        let object = snapshot.object(id);
        let resource = snapshot.resources.get(object.resource);
        full_name(&resource.kind, &resource.group, snapshot.text(object.name))
    };
    objects.into_iter().map(name).collect()
}

/// A text, wrapped at `width` columns, at spaces and punctuation; lines after the first are indented by `hanging`. Line
/// breaks in the text are escaped.
pub(super) fn set(text: &str, width: usize, hanging: usize) -> Vec<String> {
    let narrow = width.saturating_sub(hanging);
    let words = unbroken(&visible(text));
    hung(words.iter().flat_map(|word| pieces(word, narrow)), width, hanging)
}

/// The words of a text. A flag stays on one line with its value, a number with what it counts, a symbol with its word.
fn unbroken(text: &str) -> Vec<String> {
    let is_symbol = |word: &str| {
        let mut chars = word.chars();
        matches!((chars.next(), chars.next()), (Some(c), None) if !c.is_ascii() || matches!(c, '!' | '?'))
    };
    let is_number = |word: &str| {
        let number = word.trim_start_matches('(');
        number.ends_with(|c: char| c.is_ascii_digit()) && number.chars().all(|c| c.is_ascii_digit() || c == ',')
    };
    let mut words: Vec<String> = Vec::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        match words
            .last_mut()
            .filter(|last| ["-n", "-o"].contains(&last.as_str()) || is_number(last) || is_symbol(last))
        {
            Some(last) => *last += &format!(" {word}"),
            None => words.push(word.to_owned()),
        }
    }
    words
}

/// A text, wrapped at `width` columns where its words allow it.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    hung(unbroken(text).iter().map(String::as_str), width, 0)
}

/// The words, wrapped, with an indent before all lines but the first.
fn hung<'a>(words: impl Iterator<Item = &'a str>, width: usize, hanging: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut used = 0;
    for word in words {
        let columns = word.width();
        match lines.last_mut() {
            Some(line) if used + 1 + columns <= width => {
                line.push(' ');
                line.push_str(word);
                used += 1 + columns;
            }
            _ => {
                let indent = if lines.is_empty() { 0 } else { hanging };
                lines.push(" ".repeat(indent) + word);
                used = indent + columns;
            }
        }
    }
    lines
}

/// How many rows of a terminal with so many columns a line takes up, which may have colours.
pub fn rows_of(line: &str, columns: usize) -> usize {
    let mut parts = line.split("\x1b[");
    let first = parts.next().map_or(0, UnicodeWidthStr::width);
    let rest = parts.map(|part| part.split_once('m').map_or(0, |(_, text)| text.width()));
    (first + rest.sum::<usize>()).div_ceil(columns.max(1)).max(1)
}

/// The lines of a text, none wider than `width` columns. A word that can't be broken anywhere else is broken anywhere.
pub(in crate::render) fn broken(text: &str, width: usize) -> Vec<String> {
    let words = text.split(' ').filter(|word| !word.is_empty()).flat_map(|word| pieces(word, width));
    hung(words.flat_map(|word| anywhere(word, width)), width, 0)
}

/// A word in pieces of at most this many columns.
fn anywhere(word: &str, width: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = word;
    while rest.width() > width {
        let mut used = 0;
        let fits = |(at, c): (usize, char)| {
            used += UnicodeWidthChar::width(c).unwrap_or(0);
            (used > width && at > 0).then_some(at)
        };
        let Some(at) = rest.char_indices().find_map(fits) else { break };
        pieces.push(&rest[..at]);
        rest = &rest[at..];
    }
    pieces.push(rest);
    pieces
}

/// The first characters of a text that is longer than `most` columns, with a mark that it is cut.
pub(in crate::render) fn cut(text: &str, most: usize) -> String {
    match anywhere(text, most).as_slice() {
        [first, _, ..] => format!("{first}…"),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plural_of(kind: &str, resource: &str) -> String {
        let resource = Resource::named("", "v1", resource, kind);
        plural(&resource, 2)
    }

    #[test]
    fn plurals_end_like_the_resource() {
        assert_eq!(plural_of("Pod", "pods"), "Pods");
        assert_eq!(plural_of("Ingress", "ingresses"), "Ingresses");
        assert_eq!(plural_of("NetworkPolicy", "networkpolicies"), "NetworkPolicies");
        assert_eq!(plural_of("Endpoints", "endpoints"), "Endpoints");
        assert_eq!(plural_of("Person", "people"), "Persons");
        assert_eq!(plural_of("İ", "ix"), "İs");
    }

    /// Eleven columns take up two rows of ten; colours take up none.
    #[test]
    fn counts_rows_as_a_terminal_does() {
        assert_eq!(["", "0123456789", "01234567890"].map(|line| rows_of(line, 10)), [1, 1, 2]);
        assert_eq!(rows_of("\x1b[1;31m0123456789\x1b[0m", 10), 1);
        assert_eq!(rows_of("0123\x1b[2m456789日\x1b[0m", 10), 2);
    }

    #[test]
    fn wraps_between_words() {
        assert_eq!(wrapped("one two three", 8), ["one two", "three"]);
        assert_eq!(hung(["in one piece", "a"].into_iter(), 5, 0), ["in one piece", "a"]);
    }

    /// What belongs together stays on one line, whatever the width.
    #[test]
    fn some_words_are_not_parted() {
        let text = "Pod/a -n shop: ▲ ERROR → 3 Pods, ! DATA LOSS (12 objects) -o wide";
        let together = ["-n shop:", "▲ ERROR", "→ 3", "! DATA", "(12 objects)", "-o wide"];
        for width in 1..text.len() {
            let lines = wrapped(text, width);
            assert!(together.iter().all(|part| lines.iter().any(|line| line.contains(part))), "{width}: {lines:?}");
        }
    }
}
