//! The controllers of a volume's driver: which workload and which Lease are those of its provisioner or its attacher.

use crate::{
    model::{
        ObjectId, Snapshot,
        facts::{VolumeDeleter, VolumeFacts},
    },
    simulate::needs::Needs,
};

/// The finalizer of a volume's provisioner.
pub(super) const PROVISIONER: &str = "external-provisioner.volume.kubernetes.io/finalizer";

/// Words in names of drivers that tell nothing.
const COMMON: [&str; 7] = ["csi", "com", "org", "k8s", "io", "driver", "cluster"];
/// What is in the names of workloads that a driver has beside its provisioner.
const BESIDE: [&str; 9] =
    ["node", "nodeplugin", "plugin", "agent", "attacher", "resizer", "snapshotter", "snapshot", "webhook"];

/// The driver, or another provisioner, whose controller should remove a finalizer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Driver {
    /// `ebs.csi.aws.com`, `rancher.io/local-path`; of a finalizer of its attacher, `ebs-csi-aws-com`.
    name: String,
    provisions: bool,
}

impl Driver {
    /// The driver that a finalizer of an object is about, if it is about one, and if that was read.
    pub(super) fn of(snapshot: &Snapshot, needs: &mut Needs, object: ObjectId, finalizer: &str) -> Option<Driver> {
        if let Some(("external-attacher" | "external-resizer", name)) = finalizer.split_once('/') {
            return Some(Driver { name: name.to_owned(), provisions: false });
        }
        if finalizer != PROVISIONER {
            return None;
        }
        let Some(facts) = snapshot.facts.volume(object) else {
            needs.evidence.insert(object);
            return None;
        };
        Driver::of_volume(facts)
    }

    /// The provisioner of a volume.
    pub(super) fn of_volume(facts: &VolumeFacts) -> Option<Driver> {
        match &facts.deleted_by {
            Some(VolumeDeleter::Provisioner(name)) => Some(Driver { name: name.to_string(), provisions: true }),
            _ => None,
        }
    }

    /// Whether its provisioner is meant: the only one of its controllers that is looked for by its name alone.
    pub(super) fn provisions(&self) -> bool {
        self.provisions
    }

    /// The names of the Lease of its leader (kubernetes-csi/external-attacher cmd/csi-attacher/main.go,
    /// kubernetes-csi/external-provisioner cmd/csi-provisioner/csi-provisioner.go, kubernetes-csi/csi-lib-utils
    /// leaderelection/leader_election.go:sanitizeName).
    pub(super) fn leases(&self) -> Vec<String> {
        if !self.provisions {
            return vec![format!("external-attacher-leader-{}", self.name)];
        }
        let plain = self.name.replace('/', "-");
        let is_allowed = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
        let sanitized = plain.chars().map(|letter| if is_allowed(letter) { letter } else { '-' }).collect();
        vec![plain, sanitized]
    }

    /// Whether a workload is called like it: `ebs-csi-controller` for `ebs.csi.aws.com`, `csi-provisioner` in the
    /// namespace `longhorn-system` for `driver.longhorn.io`.
    pub(super) fn is_run_by(&self, snapshot: &Snapshot, workload: ObjectId) -> bool {
        let name = snapshot.name(workload);
        let is_csi = name.split('-').any(|part| part == "csi");
        if !self.provisions {
            return is_csi && self.words().any(|word| word.len() > 2 && is_in(word, name));
        }
        (is_csi || is_provisioner(name))
            && !is_beside(snapshot, workload)
            && self.words().any(|word| is_in(word, name) || is_in(word, snapshot.namespace(workload)))
    }

    /// Whether a workload may be its provisioner: it is called a provisioner, or after the driver in some way.
    pub(super) fn may_be_run_by(&self, snapshot: &Snapshot, workload: ObjectId) -> bool {
        let name = snapshot.name(workload);
        let is_called = |word: &str| is_in(word, name) || is_in(word, snapshot.namespace(workload));
        let mut words = self.words().filter(|word| word.len() > 3);
        !is_beside(snapshot, workload) && (is_provisioner(name) || words.any(is_called))
    }

    /// The words of its name that tell it from others.
    fn words(&self) -> impl Iterator<Item = &str> {
        let words = self.name.split(['-', '.', '/']);
        words.filter(|word| word.len() > 1 && !COMMON.contains(word))
    }

    /// What is said if nothing shows that its provisioner runs; `installed`: its CSIDriver exists.
    pub(super) fn unseen(&self, installed: bool) -> String {
        let name = &self.name;
        match installed {
            true => format!("no evidence: CSIDriver/{name} exists, and its provisioner may run outside of the cluster"),
            false => format!(
                "no evidence: the cluster has no workload, Lease or CSIDriver of {name}, which may run outside of it"
            ),
        }
    }

    /// Whether its CSIDriver exists, as far as was read.
    pub(super) fn is_installed(&self, snapshot: &Snapshot) -> bool {
        let drivers = snapshot.resources.by_group_kind("storage.k8s.io", "CSIDriver");
        drivers.is_some_and(|drivers| snapshot.look_up_named(drivers, "", &self.name).object().is_some())
    }
}

/// Whether a word of a driver is in a name.
fn is_in(word: &str, name: &str) -> bool {
    let is_part = |part: &str| part == word || word.len() > 2 && !COMMON.contains(&part) && part.contains(word);
    name.split('-').any(is_part)
}

fn is_provisioner(name: &str) -> bool {
    name.split('-').any(|part| part == "provisioner")
}

/// Whether a workload is what a driver has beside its provisioner.
fn is_beside(snapshot: &Snapshot, workload: ObjectId) -> bool {
    snapshot.resource(workload).kind == "DaemonSet"
        || snapshot.name(workload).split('-').any(|part| BESIDE.contains(&part))
}
