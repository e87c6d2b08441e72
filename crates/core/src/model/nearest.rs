//! Suggestions for a mistyped name.

/// The maximum number of suggestions.
pub(crate) const OFFERED: usize = 3;

/// Of `known` (pairs of suggestion and name), those nearest to `text`: at most [`OFFERED`], each once, best first.
///
/// A name is near if it differs by a letter or two, or if it starts with `text`.
pub fn nearest<'a, T: Clone + PartialEq>(text: &str, known: impl IntoIterator<Item = (T, &'a str)>) -> Vec<T> {
    let text = text.to_lowercase();
    let length = text.chars().count();
    let mut found: Vec<(usize, T)> = Vec::new();
    for (offer, name) in known {
        let Some(distance) = distance(&text, length, &name.to_lowercase()) else { continue };
        match found.iter().position(|(_, known)| *known == offer) {
            Some(index) if found[index].0 <= distance => continue,
            Some(index) => drop(found.remove(index)),
            None => {}
        }
        // Equally near names keep their order.
        let place = found.partition_point(|(other, _)| *other <= distance);
        found.insert(place, (distance, offer));
        found.truncate(OFFERED);
    }
    found.into_iter().map(|(_, offer)| offer).collect()
}

fn distance(text: &str, length: usize, name: &str) -> Option<usize> {
    if length >= 2 && name.starts_with(text) {
        return Some(1);
    }
    // Skip the quadratic comparison if the lengths differ too much.
    let most = (length / 3).clamp(1, 3);
    if name.chars().count().abs_diff(length) > most {
        return None;
    }
    Some(strsim::damerau_levenshtein(text, name)).filter(|distance| *distance <= most && *distance < length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found() {
        let offers = |text: &str, known: &[&'static str]| nearest(text, known.iter().map(|name| (*name, *name)));
        assert_eq!(offers("deploi", &["daemonsets", "deploy", "pods"]), ["deploy"]);
        assert_eq!(offers("web", &["db", "web-7d9f", "web-8c", "weg"]), ["web-7d9f", "web-8c", "weg"]);
        assert_eq!(offers("pdo", &["pod", "pods", "nodes"]), ["pod"]);
        assert_eq!(offers("a", &["b", "c"]), [""; 0]);
        assert_eq!(offers("", &["", "b"]), [""; 0]);
        assert_eq!(offers("aaaa", &["aaab", "aaac", "aaad", "aaaf"]).len(), OFFERED);
    }
}
