//! The order of creation: each object after its owners, its namespace and its CRD; among those that are ready, first
//! what other objects need to run.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::graph::cycles::components;

/// The kinds that are created early or late, with the sources.
const RANKS: &[(u8, &str, &[&str])] = &[
    (0, "", &["Namespace"]),
    (1, "apiextensions.k8s.io", &["CustomResourceDefinition"]),
    // Admission looks them up when other objects are created.
    (2, "scheduling.k8s.io", &["PriorityClass"]),
    (2, "node.k8s.io", &["RuntimeClass"]),
    (2, "storage.k8s.io", &["StorageClass", "CSIDriver", "VolumeAttributesClass"]),
    (2, "networking.k8s.io", &["IngressClass"]),
    // The token controller deletes the Secret of an account that doesn't exist.
    (2, "", &["ServiceAccount"]),
    // It sets limits on pods, also on those that a restored controller creates at once.
    (2, "", &["LimitRange"]),
    (2, "rbac.authorization.k8s.io", &["ClusterRole", "Role"]),
    // A binding refers to its role, and a pod mounts objects of its namespace.
    (3, "rbac.authorization.k8s.io", &["ClusterRoleBinding", "RoleBinding"]),
    (3, "", &["Secret", "ConfigMap", "PersistentVolume", "Service"]),
    // After the volumes that wait for them: otherwise new volumes would be provisioned.
    (4, "", &["PersistentVolumeClaim"]),
    (6, "apps", &["Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"]),
    (6, "batch", &["Job", "CronJob"]),
    (6, "", &["Pod", "ReplicationController"]),
    // Last, what would reject or change other objects: webhooks whose servers don't run yet, and quotas that aren't
    // counted yet.
    (8, "", &["ResourceQuota"]),
    (8, "apiregistration.k8s.io", &["APIService"]),
    (
        9,
        "admissionregistration.k8s.io",
        &[
            "MutatingWebhookConfiguration",
            "ValidatingWebhookConfiguration",
            "MutatingAdmissionPolicy",
            "MutatingAdmissionPolicyBinding",
            "ValidatingAdmissionPolicy",
            "ValidatingAdmissionPolicyBinding",
        ],
    ),
];

/// The rank of every other kind, including custom resources.
const OTHERS: u8 = 5;
/// The rank of objects whose owner a controller must recreate first.
pub(super) const LATEST: u8 = 10;

/// The rank of a kind: lower ones are created earlier.
pub fn rank(group: &str, kind: &str) -> u8 {
    let row = RANKS.iter().find(|(_, of, kinds)| group == *of && kinds.contains(&kind));
    row.map_or(OTHERS, |(rank, ..)| *rank)
}

/// What must exist before an object is created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    /// The item that is needed.
    pub item: usize,
    /// The index of the owner reference that needs it; `None` for the namespace and the CRD, without which the object
    /// can't exist, and for what a controller adopts. Needs of that sort make no cycles: they lead from workloads to
    /// what they make, and from objects to their namespace and their CRD.
    pub reference: Option<usize>,
}

/// An order of creation.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct CreationOrder {
    /// The items of each step, created one after the other.
    pub steps: Vec<Vec<usize>>,
    /// References that close an ownership cycle: an object, and the index of its reference. They are added once all
    /// objects exist.
    pub closing: Vec<(usize, usize)>,
}

/// Finds an order. `ranks` and `needs` are indexed by item; only the items in `wanted` are created, and only needs of
/// those items count.
pub fn creation_order(wanted: &[usize], ranks: &[u8], needs: &[Vec<Need>]) -> CreationOrder {
    let mut search = Search::new(wanted, ranks, needs);
    loop {
        search.take_all_ready();
        if search.left == 0 {
            return search.found;
        }
        search.open_circles();
    }
}

struct Search<'a> {
    wanted: &'a [usize],
    ranks: &'a [u8],
    needs: &'a [Vec<Need>],
    /// The items that need an item, once for each need.
    needed_by: Vec<Vec<usize>>,
    /// The number of needs of an item that are not met yet.
    unmet: Vec<usize>,
    placed: Vec<bool>,
    ready: BTreeMap<u8, Vec<usize>>,
    left: usize,
    found: CreationOrder,
}

impl<'a> Search<'a> {
    fn new(wanted: &'a [usize], ranks: &'a [u8], needs: &'a [Vec<Need>]) -> Self {
        let mut search = Search {
            wanted,
            ranks,
            needs,
            needed_by: vec![Vec::new(); needs.len()],
            unmet: vec![0; needs.len()],
            placed: vec![false; needs.len()],
            ready: BTreeMap::new(),
            left: wanted.len(),
            found: CreationOrder::default(),
        };
        for item in wanted {
            for need in &needs[*item] {
                match need.reference {
                    // Its uid is known only after its creation.
                    Some(reference) if need.item == *item => search.found.closing.push((*item, reference)),
                    _ => {
                        search.needed_by[need.item].push(*item);
                        search.unmet[*item] += 1;
                    }
                }
            }
        }
        for item in wanted {
            if search.unmet[*item] == 0 {
                search.ready.entry(ranks[*item]).or_default().push(*item);
            }
        }
        search
    }

    /// Takes all items that are ready, the lowest rank first.
    fn take_all_ready(&mut self) {
        while let Some((_, mut step)) = self.ready.pop_first() {
            step.sort_unstable();
            self.left -= step.len();
            for item in &step {
                self.placed[*item] = true;
                for dependent in std::mem::take(&mut self.needed_by[*item]) {
                    self.meet(dependent);
                }
            }
            self.found.steps.push(step);
        }
    }

    fn meet(&mut self, item: usize) {
        self.unmet[item] -= 1;
        if self.unmet[item] == 0 {
            self.ready.entry(self.ranks[item]).or_default().push(item);
        }
    }

    /// If no item is ready, there are cycles. Of each cycle that waits for nothing outside of it, one member is created
    /// without its references into the cycle.
    fn open_circles(&mut self) {
        let left: Vec<usize> = self.wanted.iter().copied().filter(|item| !self.placed[*item]).collect();
        let components = components(&left, |item| self.open_needs(item).map(|need| need.item));
        let mut component_of: FxHashMap<usize, usize> = FxHashMap::default();
        for (index, members) in components.iter().enumerate() {
            component_of.extend(members.iter().map(|member| (*member, index)));
        }
        for (index, members) in components.iter().enumerate() {
            let inside = |need: &Need| component_of[&need.item] == index;
            if members.iter().any(|member| self.open_needs(*member).any(|need| !inside(&need))) {
                continue;
            }
            // Needs without a reference make no cycles, so one member needs the others only as owners.
            let by_references = |member: &&usize| self.open_needs(**member).all(|need| need.reference.is_some());
            let first = members.iter().filter(by_references).min_by_key(|member| (self.ranks[**member], **member));
            let Some(first) = first.copied() else { continue };
            let opened: Vec<Need> = self.open_needs(first).collect();
            for need in opened {
                self.found.closing.extend(need.reference.map(|reference| (first, reference)));
                let waiting = &mut self.needed_by[need.item];
                if let Some(place) = waiting.iter().position(|item| *item == first) {
                    waiting.swap_remove(place);
                }
                self.meet(first);
            }
        }
    }

    /// The needs of an item that are not met yet, except for itself.
    fn open_needs(&self, item: usize) -> impl Iterator<Item = Need> + '_ {
        self.needs[item].iter().copied().filter(move |need| need.item != item && !self.placed[need.item])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by_owner(owners: &[usize]) -> Vec<Need> {
        owners.iter().enumerate().map(|(reference, item)| Need { item: *item, reference: Some(reference) }).collect()
    }

    fn found(ranks: &[u8], needs: &[Vec<Need>]) -> (Vec<Vec<usize>>, Vec<(usize, usize)>) {
        let wanted: Vec<usize> = (0..ranks.len()).collect();
        let CreationOrder { steps, mut closing } = creation_order(&wanted, ranks, needs);
        closing.sort_unstable();
        (steps, closing)
    }

    #[test]
    fn owners_come_before_dependents_and_ranks_decide_among_the_ready() {
        let needs = [by_owner(&[1]), by_owner(&[2]), by_owner(&[]), by_owner(&[]), by_owner(&[2])];
        let (steps, closing) = found(&[0, 5, 5, 3, 6], &needs);
        // 0 has the lowest rank, but waits for its owner 1.
        assert_eq!((steps, closing), (vec![vec![3], vec![2], vec![1], vec![0], vec![4]], vec![]));
    }

    #[test]
    fn circles_are_opened_where_nothing_else_is_waited_for() {
        // 0 → 1 → 2 → 0, and 3 below it; 4 owns itself.
        let needs = [by_owner(&[1]), by_owner(&[2]), by_owner(&[0]), by_owner(&[2]), by_owner(&[4])];
        let (steps, closing) = found(&[5; 5], &needs);
        assert_eq!((steps, closing), (vec![vec![4], vec![0], vec![2], vec![1, 3]], vec![(0, 0), (4, 0)]));
        // Two cycles, the second below the first: the second is opened only after the first is created.
        let needs = [by_owner(&[1]), by_owner(&[0]), by_owner(&[3, 0]), by_owner(&[2])];
        let (steps, closing) = found(&[5; 4], &needs);
        assert_eq!((steps, closing), (vec![vec![0], vec![1], vec![2], vec![3]], vec![(0, 0), (2, 0)]));
    }

    #[test]
    fn nothing_is_created_before_its_definition() {
        // A custom resource (0) owns its own CRD (1).
        let needs = [vec![Need { item: 1, reference: None }], by_owner(&[0])];
        assert_eq!(found(&[5, 1], &needs), (vec![vec![1], vec![0]], vec![(1, 0)]));
        // A namespace (0) is owned by an object (1) in it.
        let needs = [by_owner(&[1]), vec![Need { item: 0, reference: None }]];
        assert_eq!(found(&[0, 5], &needs), (vec![vec![0], vec![1]], vec![(0, 0)]));
    }

    #[test]
    fn an_owner_that_is_named_twice_is_waited_for_once() {
        let needs = [by_owner(&[1, 1]), by_owner(&[])];
        assert_eq!(found(&[5, 5], &needs), (vec![vec![1], vec![0]], vec![]));
        let needs = [by_owner(&[1, 1]), by_owner(&[0])];
        assert_eq!(found(&[5, 5], &needs), (vec![vec![0], vec![1]], vec![(0, 0), (0, 1)]));
    }

    #[test]
    fn every_item_is_placed_once_and_after_all_that_it_needs() {
        // Random graphs from a small generator.
        let mut seed = 1_u64;
        let mut random = move |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(seed >> 33).unwrap() % below
        };
        for _ in 0..300 {
            let items = 1 + random(12);
            let needs: Vec<Vec<Need>> =
                (0..items).map(|_| by_owner(&(0..random(3)).map(|_| random(items)).collect::<Vec<_>>())).collect();
            let ranks: Vec<u8> = (0..items).map(|_| u8::try_from(random(4)).unwrap()).collect();
            let (steps, closing) = found(&ranks, &needs);
            let mut placed = vec![false; items];
            for step in steps {
                for item in &step {
                    for need in &needs[*item] {
                        let left_for_later = closing.contains(&(*item, need.reference.unwrap()));
                        assert!(placed[need.item] != left_for_later, "{needs:?}");
                    }
                }
                for item in step {
                    assert!(!std::mem::replace(&mut placed[item], true), "{needs:?}");
                }
            }
            assert!(placed.into_iter().all(|placed| placed), "{needs:?}");
        }
    }

    #[test]
    fn long_chains_are_no_matter() {
        let items = 100_000;
        let needs: Vec<Vec<Need>> = (0..items).map(|item| by_owner(&[(item + 1) % items])).collect();
        let (steps, closing) = found(&vec![5; items], &needs);
        assert_eq!((steps.len(), closing), (items, vec![(0, 0)]));
    }
}
