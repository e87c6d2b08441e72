//! What plans assume about other actors, in words, and what follows from that.

use crate::model::{Gap, effects::KnownFinalizer};

/// Something that a plan assumes other actors do.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Assumption {
    /// The kubelet of this node ends its pods after their grace period; `unread` if nothing was read of it.
    Kubelet { node: String, unread: bool },
    /// A controller removes its own finalizer; `foreign` if it is no part of Kubernetes, and not what reclaims volumes,
    /// of which their outcomes tell.
    Finalizer { finalizer: &'static str, by: &'static str, foreign: bool },
    /// The namespace controller deletes what is in a terminating namespace.
    NamespaceController,
    /// A surviving controller doesn't replace the objects it lost, although it is supposed to (R9.1).
    NotReplaced { controller: String },
    /// No living controller adopts objects without an owner (R9.3, R9.4).
    NotAdopted,
    /// A controller that adopts pods deletes these of several that it may choose from (R9.24).
    ScaledDown { controller: String, deletes: usize, of: usize },
    /// What controllers adopt, and delete then, depends on more than could be read (R9.24).
    Adopted { controller: String },
    /// A controller adopts what is freed before a ReplicaSet does that a Deployment has yet to make (R9.24).
    AdoptsFirst { controller: String },
    /// The pod garbage collector removes pods of deleted Nodes (R9.7).
    PodGarbageCollector,
    /// A Job that fails with this delete is still there when all else is done (R9.36).
    ExpiresLater { job: String, seconds: i64 },
    /// This provisioner deletes volumes whose claims are gone (R9.35); `None` if its name was not read.
    Reclaimed { by: Option<String> },
    /// The operator of an object deletes what it has made for it.
    Operator { deletes_what_it_made_for: String, keeps_claims: bool },
    /// A webhook or policy that is asked about writes of this delete allows them.
    Admission { by: String },
    /// A webhook that can't be called isn't called for writes of this delete: what decides that can't be judged.
    NotCalled { by: String },
    /// No webhook or policy prevents writes of this delete, or adds what keeps objects: some could not be read.
    AdmissionUnread,
    /// Nothing outside of this namespace, where lists could not be read, refers to what waits for its dependents. Such
    /// a reference is invalid, but blocks all the same.
    NoneElsewhere { namespace: String },
    /// A policy that is applied to writes of this delete doesn't add what keeps objects.
    Mutation { by: String },
    /// The namespace controller reads this aggregated API before it loses its backend.
    ApiLasts { api: String },
    /// No instance of a CRD whose conversion webhook can't be reached has to be converted (S9).
    NothingConverted { kind: String },
    /// The objects of a dump satisfy the schema of their CRD (R1.36).
    SchemaAccepts { kind: String },
    /// A controller manager works of which something raises a doubt: what, as a clause.
    ManagerWorks { though: String },
    /// The collector already watches a kind that is served for only so many seconds (R2.5).
    Watched { kind: String, seconds: i64 },
}

impl Assumption {
    /// That the controller of a known finalizer removes it.
    pub(crate) fn of_finalizer(known: &KnownFinalizer) -> Self {
        let foreign = !known.is_kubernetes_own() && !known.on.contains(&("", "PersistentVolume"));
        Assumption::Finalizer { finalizer: known.finalizer, by: known.by, foreign }
    }

    /// Whether nearly every cluster does this: Kubernetes' own controllers, and kubelets.
    pub fn is_usual(&self) -> bool {
        matches!(
            self,
            Assumption::Kubelet { unread: false, .. }
                | Assumption::Finalizer { foreign: false, .. }
                | Assumption::NamespaceController
                | Assumption::PodGarbageCollector
                | Assumption::Reclaimed { .. }
                | Assumption::SchemaAccepts { .. }
        )
    }

    /// Whether the outcomes say it, beside each object concerned.
    pub fn is_told_of_objects(&self) -> bool {
        matches!(self, Assumption::NotReplaced { .. } | Assumption::NotAdopted)
    }

    /// Whether it is made because of this gap.
    pub(crate) fn is_about(&self, gap: &Gap) -> bool {
        match self {
            Assumption::AdmissionUnread => gap.resource.ends_with(".admissionregistration.k8s.io"),
            Assumption::NoneElsewhere { .. } => true,
            _ => false,
        }
    }
}

impl std::fmt::Display for Assumption {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Assumption::Kubelet { node, .. } => {
                write!(f, "the kubelet on node {node} ends its pods after their grace period")
            }
            Assumption::Finalizer { finalizer, by, .. } => write!(f, "{by} removes its finalizer {finalizer}"),
            Assumption::NotReplaced { controller } => {
                write!(f, "{controller} stays and may create objects again; these change nothing else")
            }
            Assumption::NotAdopted => f.write_str("no controller adopts objects that have no owner any more"),
            Assumption::ScaledDown { controller, deletes, of } => write!(
                f,
                "{controller} adopts pods and deletes {deletes} of {of} that are alike; they may be others than these"
            ),
            Assumption::Adopted { controller } => {
                write!(f, "{controller}, whose selector matches what is freed, ")?;
                f.write_str(match controller.starts_with("Deployment/") {
                    true => "has the same template as that: any other ReplicaSet is scaled to 0, and its pods go",
                    false => "deletes none of it, and nothing for it",
                })
            }
            Assumption::AdoptsFirst { controller } => {
                write!(f, "{controller} adopts pods before a new ReplicaSet of their Deployment does")
            }
            Assumption::PodGarbageCollector => f.write_str(
                "the pod garbage collector deletes the pods of nodes that no longer exist, and no kubelet registers \
                     its node again",
            ),
            Assumption::ExpiresLater { job, seconds } => write!(
                f,
                "{job}, which fails with this, is followed no further: its TTL controller deletes it {seconds} s later"
            ),
            Assumption::Reclaimed { by: Some(by) } => {
                write!(f, "the provisioner {by} deletes its volumes whose claims are gone")
            }
            Assumption::Reclaimed { by: None } => {
                f.write_str("a provisioner, whose name was not read, deletes volumes whose claims are gone")
            }
            Assumption::Operator { deletes_what_it_made_for: object, keeps_claims } => {
                let kept = match keeps_claims {
                    true => "apart from claims, which its configuration keeps",
                    false => "and no configuration that was read keeps any of it",
                };
                write!(f, "the operator of {object} deletes what it has made for it, {kept}")
            }
            Assumption::ApiLasts { api } => {
                write!(f, "the namespace controller is done before it notices that {api} no longer answers")
            }
            Assumption::Admission { by } => write!(f, "{by} allows these deletes and changes"),
            Assumption::NotCalled { by } => {
                write!(
                    f,
                    "{by}, which cannot be reached, exempts these deletes and changes: otherwise they are refused"
                )
            }
            Assumption::AdmissionUnread => f.write_str(
                "no webhook or admission policy refuses these deletes and changes (not all webhooks and policies could \
                 be read)",
            ),
            Assumption::NoneElsewhere { namespace } if namespace.is_empty() => f.write_str(
                "nothing that could not be read has an owner reference to what waits for its dependents: it would be \
                 invalid, and block all the same",
            ),
            Assumption::NoneElsewhere { namespace } => write!(
                f,
                "nothing outside of namespace {namespace}, where not everything could be read, has an owner reference \
                 to what waits for its dependents: it would be invalid, and block all the same"
            ),
            Assumption::Mutation { by } => {
                write!(f, "{by} neither refuses these changes nor adds finalizers or owner references to them")
            }
            Assumption::NothingConverted { kind } => write!(
                f,
                "no {kind} is stored in another version than is asked for: its conversion webhook cannot be reached, \
                 and such an object could be neither changed nor deleted"
            ),
            Assumption::SchemaAccepts { kind } => {
                write!(f, "the schema of {kind} accepts the objects as they are (a dump is not checked against it)")
            }
            Assumption::ManagerWorks { though } => write!(f, "kube-controller-manager does its work, though {though}"),
            Assumption::Watched { kind, seconds } => write!(
                f,
                "the collector already watches {kind}, a kind that has been served for only {seconds} s (it learns of \
                 new kinds every 30 s)"
            ),
            Assumption::NamespaceController => {
                f.write_str("the namespace controller deletes the content of a Terminating namespace")
            }
        }
    }
}
