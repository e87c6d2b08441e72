//! What follows once others have done their part: the second end in words.

use rustc_hash::FxHashSet;

use gc_core::{
    model::ObjectId,
    plan::{Outcome, OutcomeKind},
    simulate::{BlockedBy, Finished, State},
    wording::{count, thousands},
};

use super::{
    PlanView,
    verdict::{Part, RootCauses, in_words, root_causes, the_finalizers},
};

/// How many more objects go once others have done their part.
pub(super) fn more_later(view: &PlanView<'_>) -> Option<Part> {
    let number = in_second_end(view).later;
    (number > 0).then(|| Part::new(5, format!("{} later", thousands(number))).listed())
}

/// What only the second end removes.
pub(super) struct SecondEnd {
    pub(super) objects: Vec<ObjectId>,
    /// How many of them are not even Terminating before.
    later: usize,
}

pub(super) fn in_second_end(view: &PlanView<'_>) -> SecondEnd {
    let removed = |outcome: &&Outcome| outcome.kind == OutcomeKind::Deleted;
    let ids = |outcome: &Outcome| outcome.object;
    let first: FxHashSet<ObjectId> = view.plan.outcomes.iter().filter(removed).map(ids).collect();
    let second = view.plan.then.iter().flat_map(|then| &then.outcomes).filter(removed).map(ids);
    let objects: Vec<ObjectId> = second.filter(|object| !first.contains(object)).collect();
    let stays = view.plan.outcomes.iter().filter(|it| it.kind == OutcomeKind::Terminating || it.state.is_some());
    let stays: FxHashSet<ObjectId> = stays.chain(&view.plan.stays).map(ids).collect();
    SecondEnd { later: objects.iter().filter(|object| !stays.contains(object)).count(), objects }
}

/// What is deleted once others have done their part, without a full stop. `wide` also says of which kinds.
pub(super) fn then(view: &PlanView<'_>, wide: bool) -> Option<String> {
    let SecondEnd { objects: second, later } = in_second_end(view);
    if second.is_empty() || !wide && says_what_follows(view) {
        return None;
    }
    let objects = match second.as_slice() {
        [one] => format!("{} is deleted", view.name(*one)),
        many if wide => {
            let kinds = view.by_kind(many.iter().copied());
            format!("{} objects are deleted ({kinds})", thousands(many.len()))
        }
        many if later == 0 || later == many.len() => format!("{} objects are deleted", thousands(many.len())),
        many => {
            let stay = count(many.len() - later, "stays until then", "stay until then");
            format!("{} objects are deleted ({stay}, {} later)", thousands(many.len()), thousands(later))
        }
    };
    let is_prevented = view.plan.obstacles.iter().any(|obstacle| !obstacle.prevents.is_empty());
    let mended = if is_prevented { "that is mended and " } else { "" };
    let once = || view.plan.then.iter().flat_map(|then| &then.once).flat_map(|finished| &finished.blockers);
    // The collector removes its own once nothing is in its way.
    let is_own = |name: &&str| is_prevented && matches!(*name, "orphan" | "foregroundDeletion");
    let names = match root_causes(view) {
        RootCauses::Finalizers(names) if view.plan.summary.stuck > 0 => names,
        _ if is_prevented => once().filter(|it| it.finalizer().is_some()).map(|it| it.name(view.snapshot)).collect(),
        _ => Vec::new(),
    };
    let mut names: Vec<&str> = names.into_iter().filter(|name| !is_own(name)).collect();
    names.dedup();
    let blocked = blocked_later(view);
    // What stays Terminating until a kubelet acts says so itself.
    let tells_of_kubelet = blocked.as_ref().is_some_and(|blocked| blocked.by_kubelet);
    let needs_kubelet = !tells_of_kubelet && once().any(|it| it.is_kubelet());
    let ended = if needs_kubelet { "a kubelet has ended the pods and " } else { "" };
    let when = match names.as_slice() {
        [] if is_prevented => "once that is mended, ".to_owned(),
        [] if once().any(|blocker| *blocker == BlockedBy::Said) => {
            "once what the API server says is mended, ".to_owned()
        }
        [] if view.plan.summary.stuck == 0 => String::new(),
        [] if tells_of_kubelet || blocked.is_some() => String::new(),
        [] if once().all(|blocker| blocker.is_kubelet()) => "once a kubelet has ended the pods, ".to_owned(),
        [] => "once that is mended, ".to_owned(),
        names => {
            let are = if names.len() == 1 { "is" } else { "are" };
            format!("once {mended}{ended}{} {are} removed, {}", the_finalizers(names), others_act(view))
        }
    };
    Some(match blocked {
        // The first line says how many, and what they wait for.
        None if when.is_empty() && !wide && tells_later(view, &sentence_of(view)) => return None,
        None => format!("{when}{objects}"),
        Some(Blocked { objects: blocked, until, .. }) if blocked == second => format!("once {until}, {objects}"),
        Some(Blocked { what, until, .. }) => format!("{when}{what} until {until}; then {objects}"),
    })
}

/// Whether the verdict says which finalizer must be removed, and how much is deleted then.
fn says_what_follows(view: &PlanView<'_>) -> bool {
    let sentence = sentence_of(view);
    let causes = root_causes(view);
    let mut once = view.plan.then.iter().flat_map(|then| &then.once).flat_map(|finished| &finished.blockers);
    let SecondEnd { objects, later } = in_second_end(view);
    let is_simple = matches!(&causes, RootCauses::Finalizers(names) if names.len() == 1)
        && objects.len() - later >= view.stuck().count()
        && view.plan.obstacles.is_empty()
        && !once.any(|blocker| blocker.is_kubelet())
        && blocked_later(view).is_none()
        && others_act(view).is_empty();
    is_simple && sentence.contains(&causes.on(view)) && tells_later(view, &sentence)
}

fn sentence_of(view: &PlanView<'_>) -> String {
    in_words(view, &view.verdict()).1.into_iter().map(|(_, text)| text).collect()
}

/// Whether a sentence says how much goes later, if anything does.
fn tells_later(view: &PlanView<'_>, sentence: &str) -> bool {
    more_later(view).is_none_or(|part| sentence.contains(&[part.joint, &part.text(false)].concat()))
}

/// That other controllers have finalizers to remove as well, before all that is told is deleted.
fn others_act(view: &PlanView<'_>) -> &'static str {
    let is_other =
        |it: &Finished| it.state != State::Stuck && it.blockers.iter().any(|blocker| blocker.finalizer().is_some());
    match view.plan.then.iter().flat_map(|then| &then.once).any(is_other) {
        true => "and other controllers have removed theirs, ",
        false => "",
    }
}

/// What stays Terminating on the way to the second end, because nobody is known to finish it.
struct Blocked {
    objects: Vec<ObjectId>,
    /// `Replica/orders stays Terminating`
    what: String,
    /// `nobody.other.io/f is removed`
    until: String,
    /// Whether a kubelet, or the pod garbage collector, ends the pods.
    by_kubelet: bool,
}

fn blocked_later(view: &PlanView<'_>) -> Option<Blocked> {
    let blocked: Vec<&Finished> = view.plan.once_later().filter(|it| it.state != State::Waiting).collect();
    let first = *blocked.first()?;
    let mut holders: Vec<&str> = blocked.iter().flat_map(|it| &it.blockers).map(|it| it.name(view.snapshot)).collect();
    holders.sort_unstable();
    holders.dedup();
    let what = match blocked.len() {
        1 => format!("{} stays Terminating", view.name(first.object)),
        number => format!("{} of them stay Terminating", thousands(number)),
    };
    let until = match holders.as_slice() {
        [one] if first.blockers.iter().all(|it| it.finalizer().is_some()) => format!("{one} is removed"),
        ["kubelet"] if blocked.iter().all(|it| it.blockers.iter().all(|it| it.is_for_pod_collector())) => {
            "the pod garbage collector deletes it".to_owned()
        }
        ["kubelet"] => "a kubelet ends it".to_owned(),
        _ => "others have done their part".to_owned(),
    };
    Some(Blocked {
        objects: blocked.iter().map(|it| it.object).collect(),
        what,
        until,
        by_kubelet: holders == ["kubelet"],
    })
}
