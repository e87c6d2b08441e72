//! What is known of operators: one entry for each in `operators.json`. Who adds an operator writes its entry.
//!
//! Of what matches, the first counts, in the file's order.

use std::sync::LazyLock;

use serde::{Deserialize, Deserializer, de::IgnoredAny};
use serde_json::Value;

use super::EffectKind;

/// An entry of the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Operator {
    /// It stands for who has none of its own.
    name: &'static str,
    #[serde(default)]
    controllers: Vec<AddOn>,
    #[serde(default)]
    finalizers: Vec<KnownFinalizer>,
    #[serde(default)]
    policies: Vec<Setting>,
    #[serde(default)]
    pauses: Vec<Pausable>,
    #[serde(default)]
    kept_by: Vec<KnownUsers>,
    #[serde(default)]
    creates_first: Vec<CreatedFirst>,
    #[serde(default)]
    needs: Vec<KnownNeed>,
    #[serde(default)]
    needed_keys: Vec<KnownKey>,
    #[serde(default)]
    guards: Vec<Guard>,
}

/// What is known of all operators, by what is asked.
#[derive(Default)]
pub(super) struct Operators {
    pub add_ons: Vec<AddOn>,
    pub finalizers: Vec<KnownFinalizer>,
    pub policies: Vec<Setting>,
    pub pauses: Vec<Pausable>,
    pub kept_by: Vec<KnownUsers>,
    pub creates_first: Vec<CreatedFirst>,
    pub needs: Vec<KnownNeed>,
    pub needed_keys: Vec<KnownKey>,
    pub guards: Vec<Guard>,
}

const FILE: &str = include_str!("operators.json");

/// All of the file, read when it is asked for the first time.
pub(super) static OPERATORS: LazyLock<Operators> = LazyLock::new(|| {
    let entries: Vec<Operator> = serde_json::from_str(FILE).expect("a test of this file parses it");
    let mut all = Operators::default();
    for mut of in entries {
        let names = of.controllers.iter_mut().map(|it| &mut it.name);
        let names = names.chain(of.finalizers.iter_mut().map(|it| &mut it.by));
        names.filter(|name| name.is_empty()).for_each(|name| *name = of.name);
        all.add_ons.extend(of.controllers);
        all.finalizers.extend(of.finalizers);
        all.policies.extend(of.policies);
        all.pauses.extend(of.pauses);
        all.kept_by.extend(of.kept_by);
        all.creates_first.extend(of.creates_first);
        all.needs.extend(of.needs);
        all.needed_keys.extend(of.needed_keys);
        all.guards.extend(of.guards);
    }
    all
});

/// A group, empty for the core's, and a kind.
pub(super) type Kind = (&'static str, &'static str);

/// Reads `apps/Deployment` and `Secret`.
pub(super) fn kinds<'de: 'static, D: Deserializer<'de>>(from: D) -> Result<Vec<Kind>, D::Error> {
    let kinds = Vec::<&'static str>::deserialize(from)?;
    Ok(kinds.into_iter().map(split).collect())
}

/// Reads one of these.
pub(super) fn kind<'de: 'static, D: Deserializer<'de>>(from: D) -> Result<Kind, D::Error> {
    <&'static str>::deserialize(from).map(split)
}

fn split(kind: &'static str) -> Kind {
    kind.split_once('/').unwrap_or(("", kind))
}

/// Where something is documented, or what else a reader of the file should know: nothing asks for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Remark;

impl<'de> Deserialize<'de> for Remark {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(from).map(|_| Remark)
    }
}

/// The controller that removes some finalizers.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct AddOn {
    pub name: &'static str,
    /// Its finalizers: what stands in front of the slash. Words of finalizers and of the object's kind may precede it:
    /// another word is another's (`results.tekton.dev` on a TaskRun). `.x.y` is any domain within `x.y`; one with a
    /// slash is how the whole finalizer begins.
    pub(super) domains: Vec<&'static str>,
    /// The groups of the objects that it handles; empty: any. A group below may be a sister's.
    pub(super) groups: Vec<&'static str>,
    /// The kinds that it handles; empty: any.
    pub(super) kinds: Vec<&'static str>,
    /// The usual names of its workload, in which `*` is the first word of the object's group. A release's name may
    /// precede them. Without any, nothing shows that it runs: which workload it is isn't known.
    pub(super) workloads: Vec<&'static str>,
    /// How names of workloads begin that may be its own: it runs several, one for each provider or service.
    pub(super) beginnings: Vec<&'static str>,
    /// The add-on's names in labels such as `app.kubernetes.io/part-of`: such a workload is some component of it.
    pub labels: Vec<&'static str>,
    /// The Leases of its leader, with `*` as in `workloads`.
    pub(super) leases: Vec<&'static str>,
    /// It may run where the cluster doesn't show it, for instance in a cloud's control plane.
    pub may_run_outside: bool,
    /// It leaves its finalizers on objects of others when it goes: only where it is seen, it is said to remove them.
    pub often_left: bool,
    /// Since which of its versions it leaves these finalizers, though it runs; which version runs isn't known.
    pub given_up: &'static str,
    /// Unless a setting names other namespaces, it handles what is in its own.
    pub own_namespace: bool,
    /// It runs beside what it handles, and nowhere else.
    pub runs_beside: bool,
    #[serde(rename = "source")]
    pub(super) _source: Remark,
    #[serde(rename = "remark")]
    pub(super) _remark: Remark,
}

/// A finalizer with a known controller.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct KnownFinalizer {
    /// The finalizer; one `*` matches any text.
    pub finalizer: &'static str,
    /// The groups and kinds that have it; empty: any.
    #[serde(default, deserialize_with = "kinds")]
    pub on: Vec<Kind>,
    /// The controller that removes it.
    #[serde(default)]
    pub by: &'static str,
    #[serde(default)]
    pub when: When,
    /// What that does outside the graph before; `None`: nothing, or something that is reported for the volume itself.
    #[serde(default)]
    pub does: Option<EffectKind>,
    /// The same as a clause.
    #[serde(default)]
    pub says: &'static str,
    /// What may prevent it.
    #[serde(default)]
    pub policy: Option<Policy>,
    #[serde(rename = "source")]
    pub(super) _source: Remark,
}

/// What the controller waits for before it removes its finalizer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum When {
    Terminating,
    /// The object is terminating, and nobody uses it.
    Unused,
    /// No scheduled pod mentions the claim; completed pods count as well (§9.5).
    ClaimUnused,
    /// The volume's claim is gone.
    VolumeUnbound,
    /// The pod is terminating, finished or no longer a Job's (R9.8).
    JobDoneWithPod,
    /// Its own work outside the graph, which can't be predicted.
    #[default]
    Elsewhere,
    /// A person lets the object go.
    Asked,
}

/// A kind of deletion policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
pub enum Policy {
    /// None: its controller always deletes what it lists.
    ArgoCd,
    /// None: Crossplane always deletes the composite resource of a claim.
    CrossplaneClaim,
    /// None: the operator always deletes the claims for which it has a finalizer.
    PerconaClaims,
    /// None of its own: the operator's configuration says what it keeps.
    Zalando,
    /// None of its own: a label of each claim says whether it is kept.
    Altinity,
    /// `spec.deletionPolicy` and `spec.managementPolicies` (crossplane-runtime
    /// `pkg/reconciler/managed/policies.go:ShouldDelete`).
    Crossplane,
    /// `spec.deletionPolicy`, `spec.prune` and `spec.suspend` (kustomize-controller `finalizerShouldDeleteResources`).
    Kustomization,
    /// `spec.suspend` (helm-controller `reconcileDelete`).
    HelmRelease,
    /// `spec.destroyResourcesOnDeletion`.
    Terraform,
    /// `spec.destroyOnFinalize`.
    Pulumi,
    /// An annotation of the object, then of its namespace, then the controller's flag.
    Ack,
    /// An annotation; `abandon` keeps.
    ConfigConnector,
    /// An annotation, then the operator's own default.
    AzureServiceOperator,
    /// `spec.cleanupPolicy.confirmation`.
    Rook,
    /// An annotation: unmanaged topics are kept.
    Strimzi,
    /// `spec.keepResources` of a GitRepo.
    Fleet,
    /// The same of a HelmOp.
    FleetHelm,
    /// None of its own: a Bundle deletes its BundleDeployments.
    FleetBundle,
    /// `spec.options.keepResources` of a BundleDeployment.
    FleetDeployment,
    /// None: k3s uninstalls the chart.
    HelmChart,
    /// `spec.noopDelete`.
    Kapp,
    /// None: the operator deletes the control plane.
    IstioOperator,
    /// `spec.deleteStrategy.type`.
    Portworx,
    /// `spec.databaseReclaimPolicy`.
    CloudNativePg,
    /// `spec.cleanupPolicy`.
    MariaDb,
    /// `spec.pools[].reclaimStorage`, once the Tenant is gone.
    Minio,
    /// `spec.reclaimPolicy` of an ObjectBucket; a claim names that.
    Bucket,
    /// `spec.uninstallStrategy`.
    KubeVirt,
    /// The same of a CDI.
    Cdi,
    /// None: Rancher deletes the Node that `status.nodeName` names.
    RancherNode,
    /// None: Capsule deletes the Namespaces of a Tenant.
    Capsule,
    /// None: KubeVela deletes an Application's ResourceTrackers.
    KubeVela,
    /// None: KubeVela deletes what a ResourceTracker lists.
    KubeVelaTracker,
    /// None: it has the finalizer only if its annotation says so.
    ConfigSync,
    /// None: OpenShift deletes the Node that `status.nodeRef` names.
    OpenShiftMachine,
    /// What Config Sync applies for a RootSync or RepoSync of this name.
    ConfigSyncGroup,
    /// The Secret of a Certificate.
    Certificate,
    /// `spec.preserveOnDelete`.
    Hive,
    /// `spec.cleanPolicy`.
    TidbBackup,
    /// `spec.deletionPolicy`, formerly `spec.terminationPolicy`.
    KubeDb,
}

/// A policy that is one field.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Setting {
    pub(super) policy: Policy,
    /// The field, and what else of the object counts.
    #[serde(borrow)]
    pub(super) fields: Vec<&'static str>,
    pub(super) does: Does,
    /// Why the controller keeps what the object stands for.
    pub(super) why: &'static str,
    /// The value that makes it keep that; `None`: nobody can set it.
    pub(super) keep: Option<Value>,
    #[serde(rename = "source")]
    pub(super) _source: Remark,
    #[serde(default, rename = "remark")]
    pub(super) _remark: Remark,
}

/// When a controller acts, by the value of the field.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Does {
    /// With these only.
    ActWith(#[serde(borrow)] Vec<&'static str>),
    /// With all others.
    KeepWith(&'static str),
}

/// How an object can say that its controller leaves it alone.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Sign {
    /// An annotation with one of these values; none: with any.
    Annotation(&'static str, Vec<&'static str>),
    /// A field with this value.
    Field(&'static str, Value),
    /// A condition with this status.
    Condition(&'static str, &'static str),
    /// An object that it lists is deleted only once an annotation approves that.
    Confirm,
}

/// A controller that can be paused: its finalizers, and how an object says so. It looks at this before it looks at the
/// deletionTimestamp. Others do the opposite: a suspended Kustomization or HelmRelease of Flux goes, and what it has
/// applied stays; a KafkaTopic of Strimzi, a RabbitmqCluster and a Shoot of Gardener go though they are paused.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Pausable {
    /// Patterns: a star matches any text.
    #[serde(borrow)]
    pub(super) finalizers: Vec<&'static str>,
    pub(super) signs: Vec<Sign>,
    /// A paused Cluster of Cluster API pauses it, too.
    #[serde(default)]
    pub(super) with_its_cluster: bool,
    #[serde(rename = "source")]
    pub(super) _source: Remark,
}

/// What keeps a finalizer in its place.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct KnownUsers {
    /// One `*` matches any text.
    pub(super) finalizer: &'static str,
    /// The kind of what they keep; empty: any.
    #[serde(default)]
    pub(super) of: &'static str,
    /// Their groups and kinds; `*` is the group of the object that they keep.
    #[serde(deserialize_with = "kinds")]
    pub kinds: Vec<Kind>,
    #[serde(default)]
    pub naming: Naming,
    /// They keep it as long as nobody deletes them; otherwise, until they are gone.
    #[serde(default)]
    pub only_living: bool,
    /// They are lost without it: nobody should remove the finalizer by hand before they are gone.
    #[serde(default)]
    pub need_it: bool,
    /// Where its own policy has `true` in this field, they don't keep it.
    #[serde(default)]
    pub unless: &'static str,
    #[serde(rename = "source")]
    pub(super) _source: Remark,
    #[serde(default, rename = "remark")]
    pub(super) _remark: Remark,
}

/// How users name what they use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Naming {
    /// Not at all: they use what is in their namespace.
    #[default]
    Namespace,
    /// By a label with this key.
    Label(&'static str),
    /// The object that they keep names them, by a label with this key.
    LabelOfKept(&'static str),
    /// By a field of theirs; lists on the way to it are read through.
    Field(&'static str),
    /// By a field of theirs; without it, they use what has this name.
    FieldOr(&'static str, &'static str),
    /// By fields with its namespace and its name; without the second: they use what is in that namespace.
    Fields(&'static str, &'static str),
    /// By what their own facts say.
    Fact,
    /// By what the facts of the object that they keep say.
    OfKept,
    /// By what a running operation of theirs has made, anywhere.
    Operation,
}

/// What a controller creates in the namespace of an object before it removes a finalizer.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CreatedFirst {
    pub(super) finalizer: &'static str,
    pub(super) what: &'static str,
    #[serde(rename = "source")]
    pub(super) _source: Remark,
}

/// What a controller surely needs to remove its finalizer: nothing else that objects of this kind name.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KnownNeed {
    #[serde(deserialize_with = "kind")]
    pub(super) on: Kind,
    /// A part of the finalizers.
    pub(super) finalizer: &'static str,
    /// Where its objects name it.
    pub(super) path: &'static str,
    /// Its group, if that is another.
    #[serde(default)]
    pub(super) group: &'static str,
    /// Its kind, where they don't name that.
    pub(super) kind: &'static str,
    /// Its namespace.
    #[serde(default)]
    pub(super) namespace: &'static str,
    /// The name of what is always there.
    #[serde(default)]
    pub(super) except: &'static str,
    #[serde(rename = "source")]
    pub(super) _source: Remark,
    #[serde(default, rename = "remark")]
    pub(super) _remark: Remark,
}

/// A finalizer, and the key by which objects of any kind name what its controller surely needs, beside other things: in
/// the same group or in that above it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KnownKey {
    pub(super) finalizer: &'static str,
    pub(super) key: &'static str,
    #[serde(rename = "source")]
    pub(super) _source: Remark,
    #[serde(default, rename = "remark")]
    pub(super) _remark: Remark,
}

/// A value that guards objects, and who heeds it.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Guard {
    /// The groups and kinds of what it guards; `*` is every kind. Empty: everything.
    #[serde(default, deserialize_with = "kinds")]
    pub(super) of: Vec<Kind>,
    pub(crate) value: GuardValue,
    /// Whether it guards only a Namespace with pods, a CRD with instances, and a workload with replicas.
    #[serde(default)]
    pub(crate) only_populated: bool,
    /// It guards no longer once these are gone, and somebody takes the value away.
    #[serde(default, deserialize_with = "kinds")]
    pub while_any: Vec<Kind>,
    /// A part of the names of the webhook that heeds it; empty: the API server of these kinds does.
    #[serde(default)]
    pub(super) by: &'static str,
    #[serde(rename = "source")]
    pub(super) _source: Remark,
    #[serde(default, rename = "remark")]
    pub(super) _remark: Remark,
}

/// The value of a guard.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum GuardValue {
    Label(&'static str, &'static str),
    /// An annotation that is `true`.
    Annotation(&'static str),
    /// An annotation that is not `true`.
    Unconfirmed(&'static str),
    /// One of these fields has this value, and another lets the object go.
    Field(Vec<&'static str>, &'static str, &'static str),
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;

    fn entries() -> Vec<Value> {
        serde_json::from_str(FILE).unwrap()
    }

    #[test]
    fn the_file_is_read_strictly() {
        let refused = |entry: &'static str| serde_json::from_str::<Operator>(entry).is_err();
        assert!(!refused(r#"{"name": "Acme", "controllers": [{"domains": ["acme.io"]}]}"#));
        assert!(refused(r#"{"name": "Acme", "controlers": []}"#));
        assert!(refused(r#"{"name": "Acme", "controllers": [{"domain": "acme.io"}]}"#));
        assert!(refused(r#"{"name": "Acme", "controllers": [], "controllers": []}"#));
        assert!(refused(r#"{"name": "Acme", "finalizers": [{"finalizer": "acme.io/x", "does": "nothing"}]}"#));
        assert!(!OPERATORS.add_ons.is_empty() && !OPERATORS.finalizers.is_empty());
    }

    #[test]
    fn each_operator_has_one_entry_that_says_something() {
        let mut names = BTreeSet::new();
        for entry in entries() {
            let name = entry["name"].as_str().unwrap().to_owned();
            assert!(!name.is_empty() && names.insert(name), "{}", entry["name"]);
            assert!(entry.as_object().unwrap().len() > 1, "{} is empty", entry["name"]);
            for (part, rows) in entry.as_object().unwrap().iter().filter(|(part, _)| *part != "name") {
                let rows = rows.as_array().unwrap();
                assert!(!rows.is_empty(), "{}: {part} is empty", entry["name"]);
                let others = |row: &Value| rows.iter().filter(|other| *other == row).count();
                assert!(rows.iter().all(|row| others(row) == 1), "{}: {part} has a row twice", entry["name"]);
                for row in rows.iter().filter_map(Value::as_object) {
                    // What a setting is to be may well be false or empty.
                    let values = row.iter().filter(|(key, _)| *key != "keep").map(|(_, value)| value);
                    let is_empty =
                        |value: &Value| [Value::from(""), Value::Array(Vec::new()), false.into()].contains(value);
                    assert!(!values.clone().any(is_empty), "{}: {row:?} says what is so without it", entry["name"]);
                }
            }
        }
    }

    #[test]
    fn what_is_documented_names_a_file_or_a_page() {
        let rows = entries().into_iter().flat_map(|entry| entry.as_object().unwrap().clone());
        for row in rows.filter_map(|(_, rows)| rows.as_array().cloned()).flatten() {
            let sources = row["source"].as_array().cloned().unwrap_or_else(|| vec![row["source"].clone()]);
            for source in sources.iter().filter_map(Value::as_str) {
                let parts = if row.get("says").is_some() { 3 } else { 2 };
                let cited = source.starts_with("https://") || source.split(['/', ' ']).count() >= parts;
                assert!(cited, "{source}");
            }
            assert!(row["source"] != Value::Null || row.get("finalizer").is_none(), "{row}: says who?");
        }
    }

    #[test]
    fn each_finalizer_stands_once() {
        let mut found = BTreeSet::new();
        for known in &OPERATORS.finalizers {
            let kinds = if known.on.is_empty() { &[("", "")][..] } else { &known.on };
            for kind in kinds {
                assert!(found.insert((known.finalizer, *kind)), "{} on {kind:?}", known.finalizer);
            }
        }
    }
}
