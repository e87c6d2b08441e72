//! Merges gaps of single objects: one gap for all objects with the same reason.

use std::collections::BTreeMap;

use super::{Coordinate, Gap, Snapshot};

/// Collects objects that could not be read.
#[derive(Default)]
pub(crate) struct Gaps {
    /// By resource, namespace and reason: the names.
    found: BTreeMap<(String, String, String), Vec<String>>,
}

impl Gaps {
    pub(crate) fn add(&mut self, resource: String, namespace: &str, name: &str, reason: impl Into<String>) {
        // A name in a reference can be any text, even empty.
        let plain =
            !name.is_empty() && !name.contains(|character: char| character.is_control() || character.is_whitespace());
        let name = if plain { name.to_owned() } else { format!("{name:?}") };
        self.found.entry((resource, namespace.to_owned(), reason.into())).or_default().push(name);
    }

    pub(crate) fn add_object(&mut self, snapshot: &Snapshot, at: Coordinate, reason: impl Into<String>) {
        let resource = snapshot.resources.get(at.resource).full_name();
        self.add(resource, snapshot.text(at.namespace), snapshot.text(at.name), reason);
    }

    /// The merged gaps, each with the first few names.
    fn finish(self) -> impl Iterator<Item = Gap> {
        self.found.into_iter().map(|((resource, namespace, reason), mut names)| {
            names.sort();
            let names = match names.as_slice() {
                [first, second, third, _, ..] => format!("{first}, {second}, {third} and {} more", names.len() - 3),
                _ => names.join(", "),
            };
            let namespace = Some(namespace).filter(|namespace| !namespace.is_empty());
            Gap { resource, namespace, reason: format!("{names}: {reason}").into() }
        })
    }

    /// Adds the gaps to a snapshot's, in order.
    pub(crate) fn record(self, snapshot: &mut Snapshot) {
        for gap in self.finish() {
            if !snapshot.gaps.contains(&gap) {
                snapshot.gaps.push(gap);
            }
        }
        snapshot.gaps.sort();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_of_one_reason_are_one_gap() {
        let mut gaps = Gaps::default();
        for name in ["e", "d", "c", "b", "a"] {
            gaps.add("pods".into(), "shop", name, "forbidden");
        }
        gaps.add("nodes".into(), "", "n", "timed out after 30s");
        let gaps: Vec<String> = gaps.finish().map(|gap| gap.to_string()).collect();
        assert_eq!(gaps, ["nodes (n: timed out after 30s)", "pods in namespace shop (a, b, c and 2 more: forbidden)"]);
    }
}
