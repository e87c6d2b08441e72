//! What blocks an object that stays terminating, what is seen of those who have to act, and what will come of it.

use serde::Serialize;
use strum::IntoStaticStr;

use crate::model::{ObjectId, Symbol, effects::Guard};

/// What blocks an object, apart from the objects that it waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BlockedBy {
    /// A finalizer in its metadata.
    Finalizer(Symbol),
    /// The kubelet, which has to confirm that the pod's containers have ended.
    Kubelet(Kubelet),
    /// A Namespace's `spec.finalizers`.
    SpecFinalizers,
    /// Resources that can't be listed, by index of their gap: a Namespace may contain some (R9.11).
    Unreadable(usize),
    /// A webhook that must be called before the write that is left to do, and can't be: its configuration, and its
    /// place there.
    Webhook(ObjectId, u32),
    /// A ValidatingAdmissionPolicy that refuses the write that is left to do.
    Policy(ObjectId),
    /// A value of the object, for which a webhook of this configuration refuses the DELETE that is left to do, or the
    /// object's API server (R9.48).
    Guard(ObjectId, &'static Guard),
    /// A CustomResourceDefinition whose schema refuses the write that is left to do (R1.36).
    Schema(ObjectId),
    /// An APIService whose API doesn't answer, so that a Namespace can't be emptied.
    Api(ObjectId),
    /// What the conditions of a Namespace or CustomResourceDefinition say, which nothing that was read explains.
    Said,
    /// Something that was not read keeps a Namespace, which should be gone long ago.
    Unseen,
}

/// Whether a terminating object will be removed in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// A living controller will finish it.
    Waiting,
    /// Something that decides it could not be read.
    Unknown,
    /// No known controller will finish it.
    Stuck,
}

named!(State);

/// The kubelet that would end a pod in its grace period.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kubelet {
    /// The kubelet of its Node, which exists.
    Reports,
    /// The kubelet of its Node, which has a problem.
    NotReady,
    /// The kubelet of its Node, which runs, and should have ended it by now.
    Overdue,
    /// The kubelet of its Node, which should have ended it long ago, and has not (S13).
    Late,
    /// None: the kubelet of the Node has stopped reporting (S13).
    Silent,
    /// None: the Node is out of service. The pod garbage collector removes such pods (R9.7).
    OutOfService,
    /// None: the Node doesn't exist (S13).
    Absent,
    /// None any more: the Node was deleted as well. The pod garbage collector removes such pods (R9.7).
    Deleted(ObjectId),
    /// The kubelet of its Node, if that works: the Node could not be read. Most users may not read Nodes.
    Unread,
    /// The pod's node could not be read.
    Unknown,
}

/// Whether a component seems to be running, and the evidence.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Liveness {
    /// There is evidence that it doesn't run.
    Away(String),
    /// There is evidence that it runs.
    Alive(String),
    /// Everything was read, and nothing tells which component it is.
    Nobody(String),
    /// The evidence contradicts itself, or the component may run where it can't be seen.
    Unknown(String),
    /// The possible evidence could not be read.
    Unread(String),
}

named!(&Liveness);

impl Liveness {
    /// The evidence in words.
    pub fn evidence(&self) -> &str {
        match self {
            Liveness::Away(words)
            | Liveness::Alive(words)
            | Liveness::Nobody(words)
            | Liveness::Unknown(words)
            | Liveness::Unread(words) => words,
        }
    }
}
