//! Facts about what is served, and by which backend: namespaces, CustomResourceDefinitions, APIServices.

use std::{collections::BTreeMap, fmt, net::IpAddr, num::NonZeroU32};

use serde::{Deserialize, Serialize};

/// The condition of a Namespace that says what is left in it.
pub(crate) const REMAINS: &str = "NamespaceContentRemaining";

/// The condition of a Namespace that says what could not be deleted in it.
pub(crate) const CONTENT_FAILURE: &str = "NamespaceDeletionContentFailure";

/// The condition of a Namespace that says which finalizers are left in it.
pub(crate) const FINALIZERS_REMAIN: &str = "NamespaceFinalizersRemaining";

sparse! {
    /// A condition of `status.conditions` that is true.
    pub struct Condition {
        #[serde(rename = "type")]
        pub kind: String,
        pub reason?: String,
        pub message?: String,
    }
}

impl Condition {
    /// Whether it says that a controller can't go on with the delete of a Namespace or CustomResourceDefinition
    /// (`namespaced_resources_deleter.go`, `crd_finalizer.go`).
    pub fn fails(&self) -> bool {
        match self.kind.as_str() {
            "NamespaceDeletionDiscoveryFailure" | "NamespaceDeletionGroupVersionParsingFailure" | CONTENT_FAILURE => {
                true
            }
            "Terminating" => self.reason == "InstanceDeletionFailed",
            _ => false,
        }
    }

    /// Whether it says that the API server has refused a delete of what is in a Namespace: a webhook, a policy or a
    /// lack of rights did.
    pub fn refuses(&self) -> bool {
        let said = ["denied the request", "denied request", "is forbidden"];
        self.kind == CONTENT_FAILURE && said.iter().any(|words| self.message.contains(words))
    }

    /// Whether it names something, as a word.
    pub fn names(&self, name: &str) -> bool {
        let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '.');
        self.message.split(|letter| !is_part(letter)).any(|word| word.trim_end_matches('.') == name)
    }

    /// Whether it says that something keeps a Terminating Namespace or CustomResourceDefinition.
    pub fn keeps(&self) -> bool {
        self.fails()
            || match self.kind.as_str() {
                REMAINS | FINALIZERS_REMAIN => true,
                "Terminating" => self.reason == "InstanceDeletionCheck",
                _ => false,
            }
    }

    /// The resources that it says are left in a Namespace, by full name, each once (`status_condition_utils.go`):
    /// `Some resources are remaining: pods. has 1 resource instances, deployments.apps has 2 resource instances`, or
    /// `Failed to delete all resource types, 1 remaining: unexpected items still remain in namespace: shop for gvr:
    /// apps/v1, Resource=deployments`. Empty if it says anything else.
    pub fn remaining_resources(&self) -> Vec<String> {
        let mut names: Vec<String> = match self.kind.as_str() {
            REMAINS => {
                let words = self.message.split([' ', ',']).filter(|word| word.contains('.'));
                words.map(|word| word.trim_matches('.').to_owned()).collect()
            }
            CONTENT_FAILURE => {
                let mut parts = self.message.split("unexpected items still remain in namespace: ");
                let failures = parts.next().and_then(|start| start.split_once("types, ")?.1.split_once(" remaining: "));
                let names: Option<Vec<String>> = parts.map(of_group_version_resource).collect();
                let is_all = |names: &Vec<String>| failures.is_some_and(|(all, _)| all == names.len().to_string());
                names.filter(is_all).unwrap_or_default()
            }
            _ => Vec::new(),
        };
        names.dedup();
        names
    }

    /// The finalizers that it says are left in a Namespace (`status_condition_utils.go`): `Some content in the
    /// namespace has finalizers remaining: acme.io/a in 1 resource instances, acme.io/b in 2 resource instances`.
    pub fn remaining_finalizers(&self) -> Vec<&str> {
        let all = self.message.split_once("finalizers remaining: ").filter(|_| self.kind == FINALIZERS_REMAIN);
        let all = all.into_iter().flat_map(|(_, all)| all.split(", "));
        all.filter_map(|one| Some(one.split_once(" in ")?.0)).collect()
    }

    /// The groups and versions that it says could not be discovered, as client-go words it: `unable to retrieve the
    /// complete list of server APIs: GROUP/VERSION: why, GROUP/VERSION: why` (discovery_client.go:
    /// ErrGroupDiscoveryFailed).
    pub fn undiscovered(&self) -> Vec<(&str, &str)> {
        let failed = self.message.split_once("complete list of server APIs: ").map_or("", |(_, failed)| failed);
        failed.split(' ').filter_map(|word| word.strip_suffix(':')?.split_once('/')).collect()
    }

    /// `NamespaceContentRemaining: Some resources are remaining: …`, with the reason where the type says nothing.
    pub fn in_words(&self) -> String {
        let kind = if self.kind == "Terminating" { &self.reason } else { &self.kind };
        let message: Vec<&str> = self.message.split_whitespace().collect();
        format!("{kind}: {}", message.join(" ").trim_end_matches('.'))
    }
}

/// `deployments.apps` of `shop for gvr: apps/v1, Resource=deployments, `.
fn of_group_version_resource(text: &str) -> Option<String> {
    let (group_version, plural) = text.split_once(" for gvr: ")?.1.split_once(", Resource=")?;
    let plural = plural.trim_end_matches([' ', ',', ']']);
    let group = group_version.rsplit_once('/')?.0;
    Some(if group.is_empty() { plural.to_owned() } else { format!("{plural}.{group}") })
}

/// A backend that the API server calls.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Backend {
    /// A Service in the cluster, and its port.
    Service {
        namespace: String,
        name: String,
        #[serde(default = "Backend::https")]
        port: i64,
    },
    /// The scheme and host of an external URL.
    Url(String),
}

/// As objects are named in text.
impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Backend::Service { namespace, name, .. } => write!(f, "Service/{name} -n {namespace}"),
            Backend::Url(url) => f.write_str(url),
        }
    }
}

impl Backend {
    /// The port of a Service that names none.
    pub fn https() -> i64 {
        443
    }

    /// A URL, without its path and query, which may be a secret.
    pub fn of_url(url: &str) -> Self {
        let [scheme, host, _] = crate::url::parts(url);
        Backend::Url(format!("{scheme}{host}"))
    }

    /// The port of the Service, if it is one.
    pub fn port(&self) -> Option<i64> {
        match self {
            Backend::Service { port, .. } => Some(*port),
            Backend::Url(_) => None,
        }
    }

    /// Namespace and name of the Service, if it is one.
    pub fn service(&self) -> Option<(&str, &str)> {
        match self {
            Backend::Service { namespace, name, .. } => Some((namespace, name)),
            Backend::Url(_) => None,
        }
    }
}

sparse! {
    /// What delays the deletion of a Namespace (R1.25).
    pub struct NamespaceFacts {
        /// `spec.finalizers`.
        #[serde(default)]
        pub finalizers: Vec<String>,
        /// The conditions that are true; for a terminating Namespace, why it still exists.
        pub conditions?: Vec<Condition>,
        /// Whether its condition NamespaceContentRemaining is false: nothing is left in it.
        pub emptied?: bool,
        /// The deletion policies of ACK's services for what is in it: `s3` → `retain`.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        pub ack: BTreeMap<String, String>,
        /// When its label [`NamespaceFacts::ENFORCED`] was set, in Unix seconds, if that was read: its value is not
        /// `privileged`.
        pub enforced_since?: Option<i64>,
    }
}

impl NamespaceFacts {
    /// The label by which the API server creates only pods of some security.
    pub(crate) const ENFORCED: &str = "pod-security.kubernetes.io/enforce";

    /// The service of which an annotation of a Namespace has the deletion policy.
    pub(crate) fn ack_service(annotation: &str) -> Option<&str> {
        annotation.strip_suffix(".services.k8s.aws/deletion-policy")
    }
}

sparse! {
    /// What a CustomResourceDefinition defines, and whether deleting it deletes instances (R1.26).
    pub struct DefinitionFacts {
        /// `spec.group`.
        pub group: String,
        /// `spec.names.kind`.
        pub kind: String,
        /// `spec.names.plural`.
        pub plural: String,
        /// Whether the condition Established is true.
        pub established: bool,
        /// The webhook that converts between versions, if there is one and there are several.
        pub conversion?: Option<Box<Backend>>,
        /// The version that its instances are stored in, if no version is served: nobody can read them.
        pub unserved?: Option<Box<StoredVersion>>,
        /// Whether its spec has changed since it was made: its schema may refuse what was stored before.
        pub revised?: bool,
        /// The conditions that are true.
        pub conditions?: Vec<Condition>,
    }
}

/// The version of a CustomResourceDefinition in which its instances are stored.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct StoredVersion {
    /// Its place in `spec.versions`.
    pub place: usize,
    pub name: String,
}

impl DefinitionFacts {
    /// Resources whose storage overlaps with built-in ones.
    const OVERLAPPING: [(&str, &str); 2] =
        [("apiregistration.k8s.io", "apiservices"), ("apiextensions.k8s.io", "customresourcedefinitions")];

    /// Whether its instances are deleted with it: not those of a CRD that was never established, or that overlaps a
    /// built-in resource (R1.26).
    pub(crate) fn deletes_instances(&self) -> bool {
        self.established && !Self::OVERLAPPING.contains(&(self.group.as_str(), self.plural.as_str()))
    }

    /// Whether there is anything to convert, with so many versions and so many that were ever stored.
    pub fn may_convert(versions: [usize; 2]) -> bool {
        versions != [1, 1]
    }
}

sparse! {
    /// The group version of an APIService, and whether it is available.
    pub struct ApiServiceFacts {
        /// `spec.group`.
        pub group: String,
        /// `spec.version`.
        pub version: String,
        /// `spec.service`; `None` if the API server serves it itself.
        pub service?: Option<Backend>,
        /// The status of the condition Available; `None` if missing.
        pub available?: Option<bool>,
        /// Since when the condition has this status, in Unix seconds, as small as that is.
        pub since?: Option<NonZeroU32>,
        /// The condition's reason.
        pub reason?: String,
        /// The condition's message.
        pub message?: String,
    }

    /// Who uses a ResourceClaim.
    pub struct ResourceClaimFacts {
        /// Whether others than pods use it: Kubernetes doesn't know when these no longer do.
        pub others?: bool,
        /// The names of the pods in `status.reservedFor`.
        pub pods?: Vec<String>,
    }

    /// The addresses that a ServiceCIDR offers to Services.
    pub struct ServiceCidrFacts {
        /// `spec.cidrs`.
        pub ranges?: Vec<String>,
    }
}

impl ApiServiceFacts {
    /// What it serves: `metrics.k8s.io/v1beta1`.
    pub(crate) fn group_version(&self) -> String {
        format!("{}/{}", self.group, self.version)
    }
}

impl ServiceCidrFacts {
    /// Whether one of its ranges contains an address.
    pub fn contains(&self, address: IpAddr) -> bool {
        let bits = |address: IpAddr| -> (u128, u32) {
            match address {
                IpAddr::V4(address) => (u128::from(u32::from(address)), 32),
                IpAddr::V6(address) => (u128::from(address), 128),
            }
        };
        self.ranges.iter().any(|range| {
            let Some((network, length)) = range.split_once('/') else { return false };
            let (Ok(network), Ok(length)) = (network.parse::<IpAddr>(), length.parse::<u32>()) else { return false };
            let ((network, width), (address, own_width)) = (bits(network), bits(address));
            let differing = width.saturating_sub(length);
            let prefix = |bits: u128| bits.checked_shr(differing).unwrap_or(0);
            width == own_width && prefix(network) == prefix(address)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_contain_addresses() {
        let ranges = ["10.96.0.0/12", "fd00::/108"].map(str::to_owned).to_vec();
        let contains = |address: &str| ServiceCidrFacts { ranges: ranges.clone() }.contains(address.parse().unwrap());
        assert!(contains("10.96.0.1") && contains("10.111.255.255") && contains("fd00::1"));
        assert!(!contains("10.112.0.1") && !contains("fd01::1") && !contains("::1"));
        assert!(ServiceCidrFacts { ranges: vec!["0.0.0.0/0".to_owned()] }.contains([9, 9, 9, 9].into()));
    }

    #[test]
    fn a_condition_names_the_resources_that_are_left() {
        let named = |kind: &str, message: &str| {
            let condition = Condition { kind: kind.to_owned(), message: message.to_owned(), ..Condition::default() };
            condition.remaining_resources().join(" ")
        };
        let remains = "Some resources are remaining: pods. has 1 resource instances, widgets.acme.io has 2 resource \
            instances";
        assert_eq!(named(REMAINS, remains), "pods widgets.acme.io");
        let left = |gvr: &str| format!("unexpected items still remain in namespace: shop for gvr: {gvr}");
        let failed = |number: u32, what: &str| {
            named(CONTENT_FAILURE, &format!("Failed to delete all resource types, {number} remaining: {what}"))
        };
        assert_eq!(failed(1, &left("/v1, Resource=pods")), "pods");
        let both = format!("[{}, {}]", left("/v1, Resource=pods"), left("acme.io/v1, Resource=widgets"));
        assert_eq!(failed(2, &both), "pods widgets.acme.io");
        // Whatever else fails may be about any resource.
        assert_eq!(failed(2, &format!("[{}, admission webhook denied it]", left("/v1, Resource=pods"))), "");
        assert_eq!(failed(1, "an error on the server"), "");
    }
}
