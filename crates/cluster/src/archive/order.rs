//! The order in which archived objects can be created one after the other, which is that of a restore.

use rustc_hash::FxHashMap;

use gc_core::{
    model::group_of,
    restore::{self, Need},
};

/// What decides an object's position.
#[derive(Clone, Debug)]
pub(super) struct ArchiveEntry {
    pub uid: String,
    /// The uids that its owner references name.
    pub owners: Vec<String>,
    pub rank: u8,
}

/// How early a kind must be created; the same for a restore and for kubectl.
pub(super) fn rank(api_version: &str, kind: &str) -> u8 {
    restore::rank(group_of(api_version), kind)
}

/// Indices in creation order: every object after its owners; apart from that by rank, then in the given order. A circle
/// of owners is opened at one of its objects.
pub(super) fn creatable(objects: &[ArchiveEntry]) -> Vec<usize> {
    let by_uid: FxHashMap<&str, usize> =
        objects.iter().enumerate().map(|(index, object)| (object.uid.as_str(), index)).collect();
    let needs = |object: &ArchiveEntry| {
        let owners = object.owners.iter().enumerate();
        let need = |(reference, uid): (usize, &String)| {
            Some(Need { item: *by_uid.get(uid.as_str())?, reference: Some(reference) })
        };
        owners.filter_map(need).collect()
    };
    let needs: Vec<Vec<Need>> = objects.iter().map(needs).collect();
    let ranks: Vec<u8> = objects.iter().map(|object| object.rank).collect();
    let all: Vec<usize> = (0..objects.len()).collect();
    restore::creation_order(&all, &ranks, &needs).steps.into_iter().flatten().collect()
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
            ["self", "free", "a", "b", "below"]
        );
        assert_eq!(ordered(&["b 4 <- a", "a 3 <- b", "leaf 4 <- b"]), ["a", "b", "leaf"]);
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
