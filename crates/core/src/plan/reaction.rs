//! What an outcome means beyond the graph of owners: effects, and what living controllers do in response.

use std::borrow::Cow;

use serde::{Serialize, Serializer};

use crate::{
    model::{
        ObjectId,
        effects::{EffectKind, Severity},
    },
    simulate::Refusal,
};

/// Something that happens outside the graph because an object is or may be deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutsideEffect {
    /// The deleted object.
    pub object: ObjectId,
    pub kind: EffectKind,
    /// For [`EffectKind::Unknown`]: what it is at worst, if that depends only on what could not be read.
    pub at_worst: Option<EffectKind>,
    pub message: Cow<'static, str>,
    /// Other objects concerned: a claim's volume, a Node's pods.
    pub related: Vec<ObjectId>,
}

impl OutsideEffect {
    pub fn severity(&self) -> Severity {
        self.kind.severity()
    }

    /// Whether it is such an effect, or may be.
    pub fn may_be(&self, kind: EffectKind) -> bool {
        self.kind == kind || self.at_worst == Some(kind)
    }
}

/// What becomes of the claims of a deleted StatefulSet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ClaimsOfSet {
    #[serde(rename = "statefulSet")]
    pub set: ObjectId,
    /// Whether `whenDeleted` is `Delete`; `None` if that, and which claims are its own, could not be read.
    #[serde(rename = "whenDeleted", skip_serializing_if = "Option::is_none", serialize_with = "as_policy")]
    pub deletes: Option<bool>,
    pub kept: Vec<ObjectId>,
    /// Not deleted by this delete, but sooner or later without it, too: they are Terminating, or their owners are gone
    /// or going.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub going: Vec<ObjectId>,
    pub deleted: Vec<ObjectId>,
    /// Deleted or kept, depending on something uncertain.
    #[serde(rename = "uncertain", skip_serializing_if = "Vec::is_empty")]
    pub unsure: Vec<ObjectId>,
}

fn as_policy<S: Serializer>(deletes: &Option<bool>, serializer: S) -> Result<S::Ok, S::Error> {
    deletes.map(ClaimsOfSet::policy).serialize(serializer)
}

impl ClaimsOfSet {
    /// `whenDeleted`, as it is stored.
    pub fn policy(deletes: bool) -> &'static str {
        if deletes { "Delete" } else { "Retain" }
    }

    pub(super) fn is_empty(&self) -> bool {
        [&self.kept, &self.going, &self.deleted, &self.unsure].iter().all(|claims| claims.is_empty())
    }
}

/// What a living controller does in response to an outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Afterwards {
    /// This controller survives and recreates the object.
    Recreated { by: ObjectId },
    /// This StatefulSet survives and makes a claim of this name again, without its data.
    RecreatedEmpty { by: ObjectId },
    /// This controller survives and may recreate the object.
    MayBeRecreated { by: ObjectId },
    /// This controller survives and would recreate the object, but can't (R9.44). `None`: what does it is no object.
    NotRecreated { by: Option<ObjectId>, because: Refusal },
    /// This part of Kubernetes, or who holds it, makes such an object whenever it is missing.
    KeptUp { by: &'static str },
    /// The kubelet of this Node creates the mirror pod again.
    MirroredAgain { node: ObjectId },
    /// This controller creates a new owner, which adopts the object.
    Adopted { by: ObjectId },
    /// This controller, whose selector matches, adopts the object.
    AdoptedBy { by: ObjectId },
    /// A living controller in the namespace adopts the object if its selector matches.
    MayBeAdopted,
}

impl Afterwards {
    /// Whether a controller certainly recreates the object.
    pub fn recreates(self) -> bool {
        matches!(
            self,
            Afterwards::Recreated { .. }
                | Afterwards::RecreatedEmpty { .. }
                | Afterwards::KeptUp { .. }
                | Afterwards::MirroredAgain { .. }
        )
    }
}
