//! What an outcome means outside the graph of owners: effects, and what living controllers do in response.

use std::borrow::Cow;

use crate::model::{
    ObjectId,
    effects::{EffectKind, Severity},
};

/// Something that happens outside the graph because an object goes, or may go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutsideEffect {
    /// The object that goes.
    pub object: ObjectId,
    pub kind: EffectKind,
    pub message: Cow<'static, str>,
    /// Other objects that this is about: a claim's volume, a Node's pods.
    pub related: Vec<ObjectId>,
}

impl OutsideEffect {
    /// How bad it is.
    pub fn severity(&self) -> Severity {
        self.kind.severity()
    }
}

/// What somebody does with an object, or because of it, after the plan is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Afterwards {
    /// This controller lives on and makes one like it.
    Recreated { by: ObjectId },
    /// It lives on and may make one like it.
    MayBeRecreated { by: ObjectId },
    /// This one of Kubernetes' own controllers keeps every namespace furnished with it.
    KeptUp { by: &'static str },
    /// The kubelet of this Node shows its static pod again.
    MirroredAgain { node: ObjectId },
    /// This controller makes a new owner for it, which adopts it.
    Adopted { by: ObjectId },
    /// A living controller in its namespace adopts it if its selector matches.
    MayBeAdopted,
    /// Somebody removes this object, too, although it refers to nothing.
    Removes { object: ObjectId },
}

impl Afterwards {
    /// Whether a controller certainly recreates the object.
    pub(super) fn recreates(self) -> bool {
        matches!(self, Afterwards::Recreated { .. } | Afterwards::KeptUp { .. } | Afterwards::MirroredAgain { .. })
    }
}
