//! Controllers that an object names: a volume its driver, whose provisioner or attacher is meant; a GatewayClass and a
//! bucket the program that handles them. Which workload and which Lease are theirs.

use crate::model::{
    ObjectId, Snapshot,
    effects::{PolicyFacts, is_within},
    facts::{VolumeDeleter, VolumeFacts},
};

/// The finalizer of a volume's provisioner.
pub(crate) const PROVISIONER: &str = "external-provisioner.volume.kubernetes.io/finalizer";

/// The finalizer of a bucket, whose claim, ConfigMap and Secret have this label, too (kube-object-storage/
/// lib-bucket-provisioner pkg/provisioner/controller.go).
const BUCKET: (&str, &str) = ("objectbucket.io/finalizer", "bucket-provisioner");
/// What its finalizers are within, and whose `spec.controllerName` says who handles it.
const GATEWAYS: (&str, &str) = PolicyFacts::GATEWAY_CLASS;

/// What follows the first word of an operator's name, if that is of its finalizer's domain.
pub(super) const ROLES: [&str; 6] =
    ["-operator-controller-manager", "-controller-manager", "-operator", "-controller", "-manager", "kop"];

/// Words in names of drivers that tell nothing.
const COMMON: [&str; 13] = [
    "csi",
    "com",
    "org",
    "k8s",
    "io",
    "driver",
    "cluster",
    "cloud",
    "gateway",
    "bucket",
    "networking",
    "application",
    "controller",
];
/// What is in the names of workloads that a driver has beside its provisioner.
const BESIDE: [&str; 9] =
    ["node", "nodeplugin", "plugin", "agent", "attacher", "resizer", "snapshotter", "snapshot", "webhook"];

/// The driver, or another provisioner, whose controller should remove a finalizer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Driver {
    /// `ebs.csi.aws.com`, `rancher.io/local-path`; of a finalizer of its attacher, `ebs-csi-aws-com`.
    name: String,
    part: Part,
}

/// Which of its controllers is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Part {
    Provisioner,
    Attacher,
    /// The only one: the object names it by a domain of its maker, so that several workloads may be it.
    Itself,
}

impl Driver {
    /// The driver that a finalizer of an object is about, if it is about one. The error is the object that says which,
    /// if that was not read.
    pub(super) fn of(snapshot: &Snapshot, object: ObjectId, finalizer: &str) -> Result<Option<Driver>, ObjectId> {
        if let Some(("external-attacher" | "external-resizer", name)) = finalizer.split_once('/') {
            return Ok(Some(Driver { name: name.to_owned(), part: Part::Attacher }));
        }
        let itself = |name: &str| Some(Driver { name: name.to_owned(), part: Part::Itself });
        if finalizer == BUCKET.0 {
            let mut both = [Some(object), snapshot.controller_of(object)].into_iter().flatten();
            return Ok(both.find_map(|id| snapshot.label(id, BUCKET.1)).and_then(itself));
        }
        let resource = snapshot.resource(object);
        if is_within(finalizer, GATEWAYS.0) && (&*resource.group, &*resource.kind) == GATEWAYS {
            return Ok(snapshot.facts.policy(object).ok_or(object)?.controller().and_then(itself));
        }
        if let Some(("provisioner.storage.kubernetes.io", _)) = finalizer.split_once('/') {
            return Driver::of_source(snapshot, object).transpose();
        }
        if finalizer != PROVISIONER {
            return Ok(None);
        }
        Ok(Driver::of_volume(snapshot.facts.volume(object).ok_or(object)?))
    }

    /// The provisioner that fills a volume from a VolumeSnapshot, or from a claim.
    fn of_source(snapshot: &Snapshot, object: ObjectId) -> Option<Result<Driver, ObjectId>> {
        let resource = snapshot.resource(object);
        if resource.kind == "PersistentVolumeClaim" {
            let volume = snapshot.facts.claim(object)?.volume.as_deref()?;
            let volumes = snapshot.resources.by_group_kind("", "PersistentVolume")?;
            let volume = snapshot.look_up_named(volumes, "", volume).object()?;
            return Driver::of_volume(snapshot.facts.volume(volume)?).map(Ok);
        }
        let contents = snapshot.resources.by_group_kind(&resource.group, "VolumeSnapshotContent")?;
        let Some(facts) = snapshot.facts.volume_snapshot(object) else { return Some(Err(object)) };
        let content = snapshot.look_up_named(contents, "", facts.content.as_deref()?).object()?;
        let Some(facts) = snapshot.facts.volume_snapshot_content(content) else { return Some(Err(content)) };
        Some(Ok(Driver { name: facts.driver.clone()?, part: Part::Provisioner }))
    }

    /// The provisioner of a volume.
    pub(super) fn of_volume(facts: &VolumeFacts) -> Option<Driver> {
        match &facts.deleted_by {
            Some(VolumeDeleter::Provisioner(name)) => Some(Driver { name: name.to_string(), part: Part::Provisioner }),
            _ => None,
        }
    }

    /// Whether its provisioner is meant: the only one of its controllers that is looked for by its name alone.
    pub(super) fn provisions(&self) -> bool {
        self.part == Part::Provisioner
    }

    /// Its name, if it is all that the object says of its controller.
    pub(super) fn itself(&self) -> Option<&str> {
        (self.part == Part::Itself).then_some(&*self.name)
    }

    /// The names of the Lease of its leader (kubernetes-csi/external-attacher cmd/csi-attacher/main.go,
    /// kubernetes-csi/external-provisioner cmd/csi-provisioner/csi-provisioner.go, kubernetes-csi/csi-lib-utils
    /// leaderelection/leader_election.go:sanitizeName).
    pub(super) fn leases(&self) -> Vec<String> {
        match self.part {
            Part::Provisioner => {}
            Part::Attacher => return vec![format!("external-attacher-leader-{}", self.name)],
            Part::Itself => return Vec::new(),
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
        if self.part == Part::Itself {
            // Of a store, only the operator makes buckets; controllers of gateways are called in many ways.
            return self.may_be_named(name) && (self.name.contains('/') || has_role(snapshot, workload));
        }
        let is_csi = name.split('-').any(|part| part == "csi");
        if self.part == Part::Attacher {
            return is_csi && self.words().any(|word| word.len() > 2 && is_in(word, name));
        }
        (is_csi || is_provisioner(name))
            && !is_beside(snapshot, workload)
            && self.words().any(|word| is_in(word, name) || is_in(word, snapshot.namespace(workload)))
    }

    /// Whether a workload is called after its maker, as `envoy-gateway` for `gateway.envoyproxy.io/…`, or as its name
    /// ends: `gateway-api-controller` for `application-networking.k8s.aws/gateway-api-controller`.
    fn may_be_named(&self, workload: &str) -> bool {
        let (domain, own) = self.name.split_once('/').unwrap_or((&self.name, ""));
        let mut words = domain.rsplit(['.', '-']).filter(|word| word.len() > 3 && !COMMON.contains(word));
        let Some(word) = words.next() else { return workload == own };
        let mut parts = workload.split('-').filter(|part| !COMMON.contains(part));
        workload == own
            || parts.any(|part| {
                part.starts_with(word) || part.len() > 3 && (word.starts_with(part) || word.ends_with(part))
            })
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

/// Whether a workload is called as operators are.
pub(super) fn has_role(snapshot: &Snapshot, workload: ObjectId) -> bool {
    ROLES.iter().any(|role| snapshot.name(workload).ends_with(role))
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
