//! The question before a delete, and what an answer means. The heavier what follows, the more has to be typed.

use crate::{
    model::{Snapshot, effects::EffectKind},
    operations::question::Question,
    plan::{ConfirmationReason, Consent, Plan},
    render::header::header,
    wording::count,
};

/// The key that archives first.
const ARCHIVE: &str = "a";
/// The same where the name that is to be typed is that key.
const ARCHIVE_OTHERWISE: &str = "A";

/// The question about a plan. `namespace` is the one that is looked at; `archived`: everything that goes is in an
/// archive.
pub(super) fn question(
    snapshot: &Snapshot,
    plan: &Plan,
    consent: Consent,
    namespace: Option<&str>,
    archived: bool,
) -> Question {
    let place = header(snapshot, namespace, &[]);
    let going = match consent {
        Consent::Number(number) => number,
        _ => plan.summary.deleted + plan.summary.terminating,
    };
    let objects = count(going, "object", "objects");
    let (word, why) = match consent {
        Consent::Yes => (None, String::new()),
        Consent::Number(number) => (Some(number.to_string()), String::new()),
        Consent::Name { object, reason, more } => {
            let others =
                if more == 0 { String::new() } else { format!(", and {} like it", count(more, "other", "others")) };
            let name = snapshot.text(snapshot.object(object).name).to_owned();
            (Some(name), format!(" {}{others}: {}.", snapshot.short_name(object), heavy(reason)))
        }
    };
    let archive = (!archived).then(|| if word.as_deref() == Some(ARCHIVE) { ARCHIVE_OTHERWISE } else { ARCHIVE });
    let key = archive.map(|key| format!("{key}: archive first")).unwrap_or_default();
    let answers = match (&word, consent) {
        (None, _) if key.is_empty() => "[y/N]".to_owned(),
        (None, _) => format!("[y/N, {key}]"),
        (Some(word), Consent::Number(_)) => {
            format!("Type the number of objects, {word}, to confirm ({})", or_stop(&key))
        }
        (Some(word), _) => format!("Type the name, {word}, to confirm ({})", or_stop(&key)),
    };
    Question { preface: format!("{place}{why}"), prompt: format!("Delete {objects}? {answers}"), word, archive }
}

fn or_stop(key: &str) -> String {
    if key.is_empty() { "anything else: stop".to_owned() } else { format!("{key}, anything else: stop") }
}

fn heavy(reason: ConfirmationReason) -> &'static str {
    match reason {
        ConfirmationReason::Namespace => "everything in it is deleted",
        ConfirmationReason::Definition => "every object of its kind is deleted",
        ConfirmationReason::Volume | ConfirmationReason::Claim => "stored data may be lost",
        ConfirmationReason::Outside(kind) => match kind {
            EffectKind::DataDestroyed => "stored data is destroyed",
            EffectKind::ExternalDeleted => "a resource outside the cluster is deleted",
            EffectKind::ObjectsDeleted => "other objects are deleted that have no owner reference to it",
            EffectKind::LoadBalancerReleased => "a load balancer is released",
            _ => "the effect of its finalizers is not known",
        },
    }
}
