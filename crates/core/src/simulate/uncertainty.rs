//! What may be open in a plan, and what follows from that: gates, `--keep`, archives, verdicts, words and documents
//! read this table. Which outcomes it concerns: `simulate/open.rs` and `plan/explore.rs`.

use serde::{Serialize, Serializer};

/// Something that is open. Verdicts tell it in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Uncertainty {
    /// An outcome depends on the order of events.
    Order,
    /// An outcome rests on a collector that should have acted before, and hasn't (R3.22).
    Overdue,
    /// The same, where more is deleted if that collector doesn't come back first.
    ComesBack,
    /// An outcome rests on a controller manager that may not work: its Lease has just expired, or its collector should
    /// have acted elsewhere.
    Manager,
    /// Something that decides an outcome could not be read.
    Gap,
    /// Lists that could not be read may hide objects; no outcome has this.
    Hidden,
    /// The search for other outcomes was cut short.
    Bound,
    /// A volume goes only if its provisioner runs, and that isn't seen; or it is still attached.
    Provisioner,
    /// An outcome rests on an assumption about another actor, which may be wrong.
    Assumption,
    /// An outcome rests on the assumption that no webhook or policy refuses a write.
    Refusal,
    /// What is lost with an object is not known, or could not be read; no outcome has this.
    Effect,
}

/// In which direction the real outcome may differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Otherwise {
    /// As the alternatives of the outcome say.
    AsListed,
    /// More may be deleted: gates, `--keep`, archives and `-o name` count the object.
    More,
    /// Less happens than the plan says.
    Less,
}

/// What follows from something that is open.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The name in JSON.
    pub name: &'static str,
    pub otherwise: Otherwise,
    /// Whether the plan is incomplete: a delete needs `--allow-incomplete`, and `--keep` can't save the object.
    pub incomplete: bool,
    /// A reason of a verdict, behind `1 outcome` and behind `2 outcomes`; empty if a reason names more.
    pub reason: [&'static str; 2],
    /// The same without the number; empty if what is assumed is told by itself.
    pub short: &'static str,
    /// Beside an outcome, as a clause; empty if that names more.
    pub remark: &'static str,
}

impl Uncertainty {
    /// The table.
    pub const fn row(self) -> Row {
        match self {
            Uncertainty::Order => Row {
                name: "order",
                otherwise: Otherwise::AsListed,
                incomplete: false,
                reason: ["depends on the order of events", "depend on the order of events"],
                short: "the order of events decides",
                remark: "",
            },
            Uncertainty::Overdue => Row {
                name: "overdue",
                otherwise: Otherwise::AsListed,
                incomplete: false,
                reason: [
                    "waits for the collector, which should have acted by now",
                    "wait for the collector, which should have acted by now",
                ],
                short: "the collector should have acted by now",
                remark: "",
            },
            Uncertainty::ComesBack => Row {
                reason: [
                    "depends on whether the collector, which is late, acts first",
                    "depend on whether the collector, which is late, acts first",
                ],
                short: "the collector is late",
                ..Uncertainty::Overdue.row()
            },
            Uncertainty::Manager => Row {
                otherwise: Otherwise::Less,
                reason: [
                    "depends on whether kube-controller-manager works",
                    "depend on whether kube-controller-manager works",
                ],
                short: "kube-controller-manager may not work",
                remark: "kube-controller-manager must work",
                ..Uncertainty::Assumption.row()
            },
            Uncertainty::Gap => Row {
                name: "gap",
                otherwise: Otherwise::More,
                incomplete: true,
                reason: ["depends on something that is not known", "depend on something that is not known"],
                short: "not all that decides was read",
                remark: "",
            },
            Uncertainty::Hidden => Row {
                name: "gap",
                otherwise: Otherwise::More,
                incomplete: true,
                reason: [""; 2],
                short: "lists that could not be read may hide objects",
                remark: "",
            },
            Uncertainty::Bound => Row {
                name: "bound",
                otherwise: Otherwise::More,
                incomplete: true,
                reason: ["could not be simulated to the end"; 2],
                short: "it could not be simulated to the end",
                remark: "not simulated to the end",
            },
            Uncertainty::Assumption => Row {
                name: "assumption",
                otherwise: Otherwise::More,
                incomplete: false,
                reason: ["depends on an assumption", "depend on an assumption"],
                short: "",
                remark: "",
            },
            Uncertainty::Provisioner => Row {
                reason: ["depends on the volume's provisioner", "depend on the volumes' provisioners"],
                short: "a provisioner decides",
                remark: "its provisioner must run",
                ..Uncertainty::Assumption.row()
            },
            Uncertainty::Refusal => Row { otherwise: Otherwise::Less, ..Uncertainty::Assumption.row() },
            Uncertainty::Effect => Row {
                name: "unknown-effect",
                otherwise: Otherwise::More,
                incomplete: false,
                reason: [""; 2],
                short: "what is lost is not known",
                remark: "",
            },
        }
    }

    /// The name in JSON.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Whether an object may be deleted though the plan doesn't say so.
    pub fn may_remove(self) -> bool {
        self.row().otherwise == Otherwise::More
    }

    /// Whether the alternatives of an outcome say what else may happen.
    pub fn has_alternatives(self) -> bool {
        self.row().otherwise == Otherwise::AsListed
    }

    /// The reason of a verdict that tells it: two sorts of assumptions are one.
    pub fn told_as(self) -> Self {
        if self == Uncertainty::Refusal { Uncertainty::Assumption } else { self }
    }
}

impl Serialize for Uncertainty {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
