//! The order in which objects can be created one after the other.

use std::{cmp::Reverse, collections::BinaryHeap};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::restore;

/// What decides an object's place.
#[derive(Clone, Debug)]
pub struct ArchiveEntry {
    pub uid: String,
    /// The uids that its owner references name.
    pub owners: Vec<String>,
    pub rank: u8,
}

/// How early a kind is to be created, which is the same for whoever creates it with kubectl and for a restore.
pub fn rank(api_version: &str, kind: &str) -> u8 {
    restore::rank(api_version.split_once('/').map_or("", |(group, _)| group), kind)
}

/// The indices in an order in which every object comes after its owners among them; apart from that by rank, and as
/// they were given. A circle of owners is begun with one of them, which can't be helped.
pub fn creatable(objects: &[ArchiveEntry]) -> Vec<usize> {
    let by_uid: FxHashMap<&str, usize> =
        objects.iter().enumerate().map(|(index, object)| (object.uid.as_str(), index)).collect();
    let owners_of = |index: usize| objects[index].owners.iter().filter_map(|uid| by_uid.get(uid.as_str()).copied());
    let mut waits_for = vec![0usize; objects.len()];
    let mut dependents: Vec<Vec<usize>> = vec![Vec::new(); objects.len()];
    for (index, waits) in waits_for.iter_mut().enumerate() {
        for owner in owners_of(index) {
            *waits += 1;
            dependents[owner].push(index);
        }
    }
    let place = |index: usize| Reverse((objects[index].rank, index));
    let mut ready: BinaryHeap<_> = (0..objects.len()).filter(|index| waits_for[*index] == 0).map(place).collect();
    let (mut order, mut placed) = (Vec::with_capacity(objects.len()), vec![false; objects.len()]);
    let mut first_unplaced = 0;
    loop {
        let next = match ready.pop() {
            Some(Reverse((_, index))) => index,
            None => {
                while placed.get(first_unplaced).is_some_and(|placed| *placed) {
                    first_unplaced += 1;
                }
                if first_unplaced == objects.len() {
                    return order;
                }
                // All that is left waits for circles: up from any of it leads into one.
                let mut passed = FxHashSet::default();
                let mut above = first_unplaced;
                while passed.insert(above) {
                    above = owners_of(above).find(|owner| !placed[*owner]).unwrap_or(above);
                }
                above
            }
        };
        if std::mem::replace(&mut placed[next], true) {
            continue;
        }
        order.push(next);
        for dependent in &dependents[next] {
            waits_for[*dependent] -= 1;
            if waits_for[*dependent] == 0 && !placed[*dependent] {
                ready.push(place(*dependent));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `name rank <- owner owner`
    fn ordered(lines: &[&str]) -> Vec<String> {
        let objects: Vec<ArchiveEntry> = lines
            .iter()
            .map(|line| {
                let mut words = line.split_whitespace().filter(|word| *word != "<-");
                let uid = words.next().unwrap().to_owned();
                let rank = words.next().unwrap().parse().unwrap();
                ArchiveEntry { uid, rank, owners: words.map(str::to_owned).collect() }
            })
            .collect();
        creatable(&objects).into_iter().map(|index| objects[index].uid.clone()).collect()
    }

    #[test]
    fn owners_come_before_their_dependents_and_the_rest_by_rank() {
        assert_eq!(
            ordered(&["pod 4 <- set", "set 4 <- web web", "web 4", "config 3", "shop 0"]),
            ["shop", "config", "web", "set", "pod"]
        );
        assert_eq!(ordered(&["secret 3 <- crd-object", "crd-object 4", "crd 1"]), ["crd", "crd-object", "secret"]);
        assert_eq!(ordered(&["pod 4 <- gone", "a 4"]), ["pod", "a"], "an owner that isn't there is not waited for");
    }

    #[test]
    fn circles_are_begun_somewhere_and_nothing_is_lost() {
        assert_eq!(
            ordered(&["below 4 <- b", "a 4 <- b", "b 4 <- a", "self 4 <- self", "free 4"]),
            ["free", "b", "below", "a", "self"]
        );
        assert_eq!(ordered(&["b 4 <- a", "a 3 <- b", "leaf 4 <- b"]), ["b", "a", "leaf"]);
        assert_eq!(ordered(&["self 4 <- self"]), ["self"]);
    }

    #[test]
    fn ten_thousands_in_a_chain_are_no_trouble() {
        let line =
            |number: usize| ArchiveEntry { uid: number.to_string(), owners: vec![(number + 1).to_string()], rank: 4 };
        let objects: Vec<ArchiveEntry> = (0..50_000).map(line).collect();
        assert_eq!(creatable(&objects), (0..50_000).rev().collect::<Vec<_>>());
    }
}
