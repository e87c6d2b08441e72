//! A restore as a document.

use serde::Serialize;

use gc_cluster::act::Mode;
use gc_core::{
    document::{Head, ObjectJson},
    restore::{Archived, Detached, Difference, Lost, Outcome, StillNamed},
};

use super::RestoreView;

/// The result of a restore: `Restoration`.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RestorationDocument<'a> {
    #[serde(flatten)]
    head: Head,
    /// The kind of dry run; absent if the restore was real.
    #[serde(skip_serializing_if = "Option::is_none")]
    dry_run: Option<&'static str>,
    objects: Vec<RestoredJson<'a>>,
    lost: Vec<Lost>,
    summary: SummaryJson,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct RestoredJson<'a> {
    /// The object with its archived uid.
    object: ObjectJson<'a>,
    /// The namespace that it was archived in, if it is restored into another.
    #[serde(skip_serializing_if = "Option::is_none")]
    archived_namespace: Option<&'a str>,
    outcome: &'a Outcome,
    #[serde(skip_serializing_if = "Option::is_none")]
    current_uid: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    because: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    needs: Option<ObjectJson<'a>>,
    #[serde(skip_serializing_if = "<[Difference]>::is_empty")]
    differences: &'a [Difference],
    #[serde(skip_serializing_if = "<[Detached]>::is_empty")]
    unowned: &'a [Detached],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    unfinished: &'a [String],
    #[serde(skip_serializing_if = "<[StillNamed]>::is_empty")]
    still_names: &'a [StillNamed],
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct SummaryJson {
    created: usize,
    existing: usize,
    different: usize,
    left_out: usize,
    failed: usize,
    not_tried: usize,
    unfinished: usize,
}

impl<'a> RestorationDocument<'a> {
    pub(super) fn of(view: &RestoreView<'a>) -> Self {
        let objects = view.objects().map(|(item, restored)| {
            let (because, needs, differences) = match &restored.outcome {
                Outcome::LeftOut(why) => (Some(why.to_string()), None, &[][..]),
                Outcome::Failed(why) => (Some(why.clone()), None, &[][..]),
                Outcome::Blocked(by) => (None, Some(named(&view.plan.items[*by].archived)), &[][..]),
                Outcome::Different(differences) => (None, None, differences.as_slice()),
                Outcome::WouldBeCreated
                | Outcome::Created
                | Outcome::AlreadyBack
                | Outcome::Same
                | Outcome::NotTried => (None, None, &[][..]),
            };
            RestoredJson {
                object: named(&item.archived),
                archived_namespace: item.archived.moved_from.as_deref(),
                outcome: &restored.outcome,
                current_uid: restored.uid.as_deref(),
                because,
                needs,
                differences,
                unowned: &restored.detached,
                unfinished: &restored.unfinished,
                still_names: &item.still_named,
            }
        });
        RestorationDocument {
            head: Head::new("Restoration", view.gaps, view.resources.server()),
            dry_run: match view.mode {
                Mode::Apply => None,
                Mode::ServerDryRun => Some("server"),
                Mode::ClientDryRun => Some("client"),
            },
            objects: objects.collect(),
            lost: view.lost(),
            summary: SummaryJson {
                created: view.count(|it| matches!(it, Outcome::Created | Outcome::WouldBeCreated)),
                existing: view.count(|it| matches!(it, Outcome::Same | Outcome::AlreadyBack)),
                different: view.count(|it| matches!(it, Outcome::Different(_))),
                left_out: view.count(|it| matches!(it, Outcome::LeftOut(_))),
                failed: view.count(|it| matches!(it, Outcome::Failed(_) | Outcome::Blocked(_))),
                not_tried: view.count(|it| matches!(it, Outcome::NotTried)),
                unfinished: view.restored.iter().filter(|restored| !restored.unfinished.is_empty()).count(),
            },
        }
    }
}

fn named(archived: &Archived) -> ObjectJson<'_> {
    let place = &archived.place;
    ObjectJson {
        api_version: place.api_version.clone(),
        kind: &place.kind,
        namespace: Some(place.namespace.as_str()).filter(|namespace| !namespace.is_empty()),
        name: &place.name,
        uid: &archived.uid,
    }
}
