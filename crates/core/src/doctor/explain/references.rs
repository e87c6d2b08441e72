//! The status of each owner reference of an object, the rule behind it, and what it means.

use serde::Serialize;

use crate::{
    model::{ObjectId, Reference, Rule, Symbol},
    tree::{ReferenceStatus, ResolvedReference},
};

use super::Case;
use crate::doctor::references::served_under;

/// One owner reference of an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReferenceStory {
    pub reference: Reference,
    #[serde(rename = "verdict")]
    pub standing: ReferenceStatus,
    /// The rule behind the status.
    pub rule: Rule,
    /// The status in words, said of the reference.
    pub message: String,
    /// The object with the uid; for `OtherUid`, the object that has the name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<ObjectId>,
    /// The state of the owner that it refers to.
    #[serde(rename = "ownerState", skip_serializing_if = "Option::is_none")]
    pub owner: Option<OwnerState>,
    pub blocks: Blocks,
}

/// The state of an owner, as far as it matters to dependents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum OwnerState {
    Live,
    /// Terminating, and waiting for its dependents to be deleted.
    Waiting,
    /// Terminating, and about to orphan its dependents.
    Orphaning,
    /// Terminating for another reason: it counts as existing until it is gone (R4.6).
    Terminating,
}

/// Whether an owner waits for the dependent that has the reference (F3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Blocks {
    /// The reference doesn't block (R5.2).
    No,
    /// No object that was read has the uid.
    #[serde(rename = "NoObject")]
    Nobody,
    /// The collector doesn't see the dependent (R2.7).
    Unseen,
    /// A foreground delete of the owner would wait for it.
    Would,
    /// The owner waits for it now.
    Now,
}

impl OwnerState {
    fn of(case: &Case<'_>, owner: ObjectId) -> Self {
        let owner = case.snapshot().object(owner);
        match owner.terminating() {
            false => OwnerState::Live,
            true if owner.finalizers.contains(&Symbol::FOREGROUND) => OwnerState::Waiting,
            true if owner.finalizers.contains(&Symbol::ORPHAN) => OwnerState::Orphaning,
            true => OwnerState::Terminating,
        }
    }
}

/// The rule behind the status of a reference.
fn rule(standing: ReferenceStatus, owner: Option<OwnerState>) -> Rule {
    match (standing, owner) {
        (ReferenceStatus::Solid, Some(OwnerState::Terminating | OwnerState::Orphaning)) => Rule::R4_6,
        (ReferenceStatus::Solid, _) => Rule::L8,
        (ReferenceStatus::Waiting, _) => Rule::L7,
        (ReferenceStatus::Absent, _) => Rule::L4,
        (ReferenceStatus::OtherUid, _) => Rule::L6,
        (ReferenceStatus::OtherNamespace, _) => Rule::R3_7,
        (ReferenceStatus::OtherName | ReferenceStatus::OtherKind, _) => Rule::R3_8,
        (ReferenceStatus::ListKind, _) => Rule::R3_15,
        (ReferenceStatus::NotServed, _) => Rule::R3_13,
        (ReferenceStatus::InvalidScope, _) => Rule::L3,
        (ReferenceStatus::Unread, _) => Rule::R10_2,
    }
}

impl ReferenceStory {
    /// The owner that it refers to, if that exists.
    pub fn leads_to(&self) -> Option<ObjectId> {
        self.found.filter(|_| self.standing.valid())
    }
}

/// The references of an object, in order.
pub(super) fn of(case: &Case<'_>, holder: ObjectId) -> Vec<ReferenceStory> {
    let object = case.snapshot().object(holder);
    let story = |reference: &Reference| {
        let link = ResolvedReference::of(case.snapshot(), case.graph(), object, reference);
        let owner =
            link.found.filter(|_| link.standing != ReferenceStatus::OtherUid).map(|owner| OwnerState::of(case, owner));
        let blocks = blocks(case, holder, reference);
        ReferenceStory {
            reference: *reference,
            standing: link.standing,
            rule: rule(link.standing, owner),
            message: message(case, holder, reference, link, owner),
            found: link.found,
            owner,
            blocks,
        }
    };
    object.owners.iter().map(story).collect()
}

/// Blocking depends on the uid alone, even if the rest of the reference doesn't match (§0).
fn blocks(case: &Case<'_>, holder: ObjectId, reference: &Reference) -> Blocks {
    let owner = case.graph().by_uid(reference.uid).and_then(|node| case.graph().object(node));
    let node_of_holder = case.graph().by_uid(case.snapshot().object(holder).uid);
    let seen = case.snapshot().resources.not_watched(case.snapshot().object(holder).resource).is_none();
    match owner {
        _ if !reference.blocks() => Blocks::No,
        None => Blocks::Nobody,
        _ if !seen || node_of_holder != Some(holder.into()) => Blocks::Unseen,
        Some(owner) if OwnerState::of(case, owner) == OwnerState::Waiting => Blocks::Now,
        Some(_) => Blocks::Would,
    }
}

fn message(
    case: &Case<'_>,
    holder: ObjectId,
    reference: &Reference,
    link: ResolvedReference,
    owner: Option<OwnerState>,
) -> String {
    let snapshot = case.snapshot();
    let found = link.found.map(|found| case.name(found, Some(holder))).unwrap_or_default();
    match link.standing {
        ReferenceStatus::Solid => match owner {
            Some(OwnerState::Terminating) => "it is Terminating, and counts as an owner until it is deleted".to_owned(),
            Some(OwnerState::Orphaning) => {
                "it is Terminating and orphans its dependents first; it counts as an owner until then".to_owned()
            }
            _ => "it exists".to_owned(),
        },
        ReferenceStatus::Waiting => "it is being deleted, and waits for its dependents to be deleted".to_owned(),
        ReferenceStatus::Absent if snapshot.complained_about(snapshot.object(holder).namespace, reference) => {
            "it is missing in this namespace, as the collector's event OwnerRefInvalidNamespace says".to_owned()
        }
        ReferenceStatus::Absent => "it is missing".to_owned(),
        ReferenceStatus::OtherUid => {
            let uid = link.found.map_or("", |found| snapshot.text(snapshot.object(found).uid));
            format!("the object of that name has another uid, {uid}: it is a different object")
        }
        ReferenceStatus::OtherNamespace => {
            format!("the object with that uid is {found}: owners in other namespaces do not count")
        }
        ReferenceStatus::OtherName => format!(
            "the object with that uid is {found}: with this name in the \
            reference, the collector treats it as missing"
        ),
        ReferenceStatus::OtherKind => format!(
            "the object with that uid is {found}: with this kind in the \
            reference, the collector treats it as missing"
        ),
        ReferenceStatus::ListKind => {
            "this is a list kind, which is never found: the collector treats it as missing".to_owned()
        }
        ReferenceStatus::NotServed => format!(
            "{} {} is not served: the collector fails on the object, regardless of its other owners",
            snapshot.text(reference.api_version),
            snapshot.text(reference.kind)
        ),
        ReferenceStatus::InvalidScope => {
            "a namespaced kind cannot own a cluster-scoped object: the collector gives up on the object".to_owned()
        }
        ReferenceStatus::Unread => match served_under(snapshot, holder, reference) {
            Some(known) => format!("it exists as {known}; whether this version is served could not be read"),
            None => "it could not be read".to_owned(),
        },
    }
}
