//! The rules that output cites. `docs/rules.md` has the text of each, and of all others.

use std::fmt::{self, Display, Formatter};

use serde::{Serialize, Serializer, ser::SerializeStruct};

/// Where the rule book is published. Relative to the repository until that has a public address, which is
/// krew-manifest.yaml's `HOMEPAGE`.
const RULE_BOOK: &str = "docs/rules.md";

macro_rules! rules {
    ($($rule:ident => $id:literal, $title:literal;)*) => {
        /// A rule of the rule book. It is named by its id, `R3_13` for R3.13.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Rule {
            $(#[doc = $title] $rule,)*
        }

        impl Rule {
            /// Every rule that output cites.
            pub const ALL: &[Rule] = &[$(Rule::$rule),*];

            /// The id, which never changes meaning: `R3.13`.
            pub fn id(self) -> &'static str {
                match self { $(Rule::$rule => $id),* }
            }

            /// The rule in a few words, without a full stop.
            pub fn title(self) -> &'static str {
                match self { $(Rule::$rule => $title),* }
            }
        }
    };
}

rules! {
    D1 => "D1", "An object of which every owner is solid stays as it is";
    F2 => "F2", "A waiting owner doesn't keep its dependents";
    F3 => "F3", "A waiting owner is released when no blocker is left";
    F4 => "F4", "A waiting owner waits for its blockers, and queues them again";
    G4 => "G4", "An object without owner references is left alone";
    L3 => "L3", "A namespaced owner of a cluster-scoped object is an error, and the object is given up";
    L4 => "L4", "An owner that isn't there counts as gone";
    L6 => "L6", "An object with another uid is not the owner";
    L7 => "L7", "An owner that is terminating with the foreground finalizer is waiting";
    L8 => "L8", "An owner that is there and isn't waiting is solid";
    R2_7 => "R2.7", "Objects of a kind that the collector doesn't watch are hardly ever collected";
    R3_5 => "R3.5", "If two objects share a uid, the first keeps the node";
    R3_7 => "R3.7", "An owner in another namespace counts as gone";
    R3_8 => "R3.8", "An owner under a wrong apiVersion, kind or name is looked up as it is written";
    R3_13 => "R3.13", "One reference that can't be looked up shields the whole object";
    R3_15 => "R3.15", "A kind is found as it is spelled or in lower case, and List kinds are never there";
    R3_22 => "R3.22", "The collector can forget an owner that two references of one object name";
    R4_6 => "R4.6", "A terminating owner that isn't waiting is solid until it is gone";
    R4_8 => "R4.8", "Stripping removes every reference with that uid";
    R5_10 => "R5.10", "A foreground delete takes the whole cycle, and breaks the order at one point";
    R6_2 => "R6.2", "An orphan delete frees every direct dependent";
    R6_4 => "R6.4", "The orphan finalizer is removed when every dependent is free";
    R8_3 => "R8.3", "A terminating object without a collector finalizer is left alone";
    R8_4 => "R8.4", "An object without a good owner left is deleted";
    R8_5 => "R8.5", "An object with a good owner loses its other owners";
    R10_2 => "R10.2", "Forbidden is not absent";
    R12_1 => "R12.1", "A finished Job goes after its `ttlSecondsAfterFinished`";
    R12_2 => "R12.2", "A CronJob keeps only so many finished Jobs";
    R12_3 => "R12.3", "A Deployment keeps only so many old ReplicaSets";
    R12_4 => "R12.4", "A StatefulSet keeps only so many old revisions";
    R12_5 => "R12.5", "A DaemonSet keeps only so many old revisions, and one copy of the current one";
    R12_6 => "R12.6", "Of Pods that have ended, the oldest above a threshold go";
    R12_7 => "R12.7", "A Pod goes after its Node";
    R12_8 => "R12.8", "A Pod that is terminating and was never scheduled goes";
    R12_9 => "R12.9", "A Pod that is terminating on a Node out of service goes";
    R12_10 => "R12.10", "A volume without its claim goes, stays or is emptied, as its reclaim policy says";
    R12_11 => "R12.11", "Claims and volumes in use are held until nothing uses them";
    R12_12 => "R12.12", "A StatefulSet that wants fewer pods deletes or keeps their claims";
    R12_13 => "R12.13", "A CertificateSigningRequest goes some time after its end";
    R12_14 => "R12.14", "A bootstrap token goes when it expires";
    R12_15 => "R12.15", "A token of a ServiceAccount that nobody uses is marked, and goes later";
    R12_16 => "R12.16", "The Lease of a Node goes with it";
    R12_17 => "R12.17", "The Lease of an API server goes once it has expired";
    R12_18 => "R12.18", "A workload that wants fewer pods deletes those that are too many";
    R12_19 => "R12.19", "Endpoints without a Service go when kube-controller-manager starts";
}

impl Rule {
    /// Where to read the rule.
    pub fn url(self) -> String {
        format!("{RULE_BOOK}#{}", self.id().to_lowercase())
    }
}

impl Display for Rule {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

/// As in every document: `id`, `title` and `url`.
impl Serialize for Rule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut rule = serializer.serialize_struct("Rule", 3)?;
        rule.serialize_field("id", self.id())?;
        rule.serialize_field("title", self.title())?;
        rule.serialize_field("url", &self.url())?;
        rule.end()
    }
}
