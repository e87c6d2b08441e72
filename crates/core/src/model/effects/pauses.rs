//! Objects that their own controller leaves alone until somebody resumes it: until then, it removes no finalizer.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::operators::{OPERATORS, Pausable, Sign};
use crate::model::facts::unix_seconds;

/// What makes a controller leave an object alone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Pause {
    /// An annotation, by its key.
    Annotation(String),
    /// A field below the object.
    Field(String),
    /// A condition, with its message: the controller waits for what it names.
    Condition(String),
    /// Somebody must approve the deletion of this, once the object is being deleted.
    Approval(String),
}

/// The annotation of an Application that approves its deletion, with a time that is not before that
/// (argoproj/argo-cd pkg/apis/application/v1alpha1/types.go:IsDeletionConfirmed).
const APPROVED: &str = "argocd.argoproj.io/deletion-approved";

/// What pauses a Cluster of Cluster API itself, whatever its finalizers.
const OF_CLUSTERS: &str = "cluster.cluster.x-k8s.io";

impl Pausable {
    fn has(&self, finalizer: &str) -> bool {
        self.finalizers.iter().any(|pattern| matches_pattern(pattern, finalizer))
    }
}

/// Whether an annotation pauses a controller.
pub(crate) fn is_pausing_annotation(key: &str) -> bool {
    let is_it = |sign: &Sign| matches!(sign, Sign::Annotation(known, _) if *known == key);
    key == APPROVED || OPERATORS.pauses.iter().flat_map(|pausable| &pausable.signs).any(is_it)
}

/// Whether a finalizer's controller is one of Cluster API's, which pause all that belongs to a paused Cluster.
pub(crate) fn pauses_with_its_cluster(finalizer: &str) -> bool {
    OPERATORS.pauses.iter().any(|pausable| pausable.with_its_cluster && pausable.has(finalizer))
}

impl Pause {
    /// Whether the controller of a finalizer can be paused.
    pub(crate) fn is_possible(finalizer: &str) -> bool {
        OPERATORS.pauses.iter().any(|pausable| pausable.has(finalizer))
    }

    /// The kind of what pauses all that belongs to it, whatever its finalizers.
    pub(super) const CLUSTER: (&'static str, &'static str) = ("cluster.x-k8s.io", "Cluster");

    /// What makes the controllers of these finalizers leave a whole object of a kind alone.
    pub fn read(kind: (&str, &str), finalizers: &[&str], object: &Value) -> Option<Pause> {
        let of_kind = (kind == Pause::CLUSTER).then_some(OF_CLUSTERS);
        let has =
            |pausable: &Pausable| finalizers.iter().copied().chain(of_kind).any(|finalizer| pausable.has(finalizer));
        let pausable = OPERATORS.pauses.iter().filter(|pausable| has(pausable));
        pausable.flat_map(|pausable| &pausable.signs).find_map(|sign| sign.read(object))
    }

    /// What pauses it, as a remark.
    pub fn in_words(&self) -> String {
        match self {
            Pause::Annotation(key) => format!("paused by the annotation {key}"),
            Pause::Field(field) => format!("paused by {field}"),
            Pause::Condition(said) => said.clone(),
            Pause::Approval(of) => format!("{of} has Delete=confirm: somebody must approve that"),
        }
    }

    /// The merge patch that resumes the controller of an object that is being deleted since this time; `None` if no
    /// field decides that.
    pub(crate) fn resuming(&self, deleted: Option<&str>) -> Option<Value> {
        match self {
            Pause::Annotation(key) => Some(json!({"metadata": {"annotations": {key: null}}})),
            Pause::Field(field) => Some(field.rsplit('.').fold(Value::Null, |value, key| json!({ key: value }))),
            Pause::Condition(_) => None,
            Pause::Approval(_) => Some(json!({"metadata": {"annotations": {APPROVED: deleted?}}})),
        }
    }
}

impl Sign {
    fn read(&self, object: &Value) -> Option<Pause> {
        match self {
            Sign::Annotation(key, values) => {
                let value = object.pointer("/metadata/annotations")?.get(*key)?.as_str()?;
                (values.is_empty() || values.contains(&value)).then(|| Pause::Annotation((*key).to_owned()))
            }
            Sign::Field(field, value) => {
                let found = field.split('.').try_fold(object, |object, key| object.get(key))?;
                (found == value).then(|| Pause::Field((*field).to_owned()))
            }
            Sign::Condition(kind, status) => {
                let mut conditions = object.pointer("/status/conditions")?.as_array()?.iter();
                let found =
                    conditions.find(|condition| condition["type"] == *kind && condition["status"] == *status)?;
                let message = found["message"].as_str().unwrap_or_default().trim_end_matches('.');
                Some(Pause::Condition(format!("{kind}: {message}")))
            }
            Sign::Confirm => {
                let mut resources = object.pointer("/status/resources")?.as_array()?.iter();
                let found = resources.find(|resource| resource["requiresDeletionConfirmation"] == json!(true))?;
                let approved = object["metadata"]["annotations"][APPROVED].as_str();
                // An approval of before counts for nothing.
                let seconds = |time: &Value| time.as_i64().or_else(|| unix_seconds(time.as_str()?));
                let deleted = seconds(&object["metadata"]["deletionTimestamp"]);
                let is_approved = approved.and_then(unix_seconds).zip(deleted).is_some_and(|(at, since)| at >= since);
                let [kind, name] = ["kind", "name"].map(|key| found[key].as_str().unwrap_or_default());
                (!is_approved).then(|| Pause::Approval(format!("{kind}/{name}")))
            }
        }
    }
}

/// Whether a text matches a pattern; each star matches at least one character.
pub(crate) fn matches_pattern(pattern: &str, text: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut text) = text.strip_prefix(head) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let tail = parts.pop().unwrap_or_default();
    for part in parts {
        let Some(at) = text.char_indices().skip(1).map(|(at, _)| at).find(|at| text[*at..].starts_with(part)) else {
            return false;
        };
        text = &text[at + part.len()..];
    }
    text.len() > tail.len() && text.ends_with(tail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_resumes_an_object_takes_away_what_paused_it() {
        let paused = |finalizer: &str, object: &Value| Pause::read(("", ""), &[finalizer], object);
        let annotated = |key: &str, value: &str| json!({"metadata": {"annotations": {key: value}}});
        let cases = [
            ("machine.cluster.x-k8s.io", annotated("cluster.x-k8s.io/paused", "")),
            ("cluster.cluster.x-k8s.io", json!({"spec": {"paused": true}})),
            (
                "resources-finalizer.argocd.argoproj.io",
                json!({"metadata": {"deletionTimestamp": "2026-03-01T10:00:00Z"}, "status": {"resources":
                    [{"kind": "Secret", "name": "keys", "requiresDeletionConfirmation": true}]}}),
            ),
            ("finalizer.managedresource.crossplane.io", annotated("crossplane.io/paused", "true")),
            ("finalizer.managedresource.crossplane.io", json!({"spec": {"managementPolicies": []}})),
            ("resources-finalizer.argocd.argoproj.io", annotated("argocd.argoproj.io/skip-reconcile", "true")),
            ("finalizers.tf.contrib.fluxcd.io", json!({"spec": {"suspend": true}})),
            ("finalizers.kapp-ctrl.k14s.io/delete", json!({"spec": {"paused": true}})),
            ("finalizers.kapp-ctrl.k14s.io/delete", json!({"spec": {"canceled": true}})),
            ("hive.openshift.io/deprovision", annotated("hive.openshift.io/reconcile-pause", "true")),
            ("baremetalhost.metal3.io", annotated("baremetalhost.metal3.io/paused", "")),
            ("revision.pkg.crossplane.io", annotated("crossplane.io/paused", "true")),
            (
                "finalizer.elasticsearch.k8s.elastic.co/secure-settings-secret",
                annotated("eck.k8s.elastic.co/managed", "false"),
            ),
        ];
        for (finalizer, mut object) in cases {
            let pause = paused(finalizer, &object).unwrap_or_else(|| panic!("{finalizer}: {object}"));
            json_patch(&mut object, &pause.resuming(Some("2026-03-01T10:00:00Z")).unwrap());
            assert_eq!(paused(finalizer, &object), None, "{finalizer}: {object}");
        }
        // A MachineDeployment's own field is about its rollout.
        assert_eq!(paused("machinedeployment.cluster.x-k8s.io", &json!({"spec": {"paused": true}})), None);
        assert_eq!(
            paused("finalizer.managedresource.crossplane.io", &annotated("crossplane.io/paused", "false")),
            None
        );
        assert_eq!(paused("finalizers.fluxcd.io", &json!({"spec": {"suspend": true}})), None);
        assert_eq!(paused("strimzi.io/topic-operator", &annotated("strimzi.io/pause-reconciliation", "true")), None);
        assert_eq!(
            Pause::read(Pause::CLUSTER, &[], &json!({"spec": {"paused": true}})).map(|it| it.in_words()),
            Some("paused by spec.paused".to_owned())
        );
        let blocked = json!([{"type": "DeletionIsBlocked", "status": "True", "message": "CephBlockPool: [a]."}]);
        let blocked = paused("cephcluster.ceph.rook.io", &json!({"status": {"conditions": blocked}}));
        assert_eq!(blocked, Some(Pause::Condition("DeletionIsBlocked: CephBlockPool: [a]".to_owned())));
    }

    fn json_patch(object: &mut Value, patch: &Value) {
        for (key, value) in patch.as_object().into_iter().flatten() {
            if value.is_null() {
                object.as_object_mut().unwrap().remove(key);
            } else if value.is_object() {
                json_patch(&mut object[key], value);
            } else {
                object[key] = value.clone();
            }
        }
    }
}
