//! One DELETE as the API server executes it (§1.2–1.7, §1.9).

use std::borrow::Cow;

use crate::model::{Propagation, Symbol, facts::PodFacts};

use super::{
    Stored,
    kinds::{KindRules, OwnDelete},
};

/// The options of one DELETE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeleteOptions {
    pub propagation: Option<Propagation>,
    /// `gracePeriodSeconds`; only relevant for pods (§1.5).
    pub grace: Option<i64>,
    /// `preconditions.uid` (R1.6).
    pub uid: Option<Symbol>,
    /// `preconditions.resourceVersion` (R1.6), as [`Stored::version`].
    pub version: Option<u32>,
}

/// The API server's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeleteAnswer<'a> {
    /// The object was removed.
    Removed,
    /// The object has this new state.
    Updated(Stored<'a>),
    Unchanged,
    /// 409: a precondition failed (R1.6, R1.7).
    Conflict,
}

/// The effect of one DELETE on an object with this uid.
///
/// `pod` are a pod's facts; without them, assume a scheduled pod with a grace period, as nearly all are.
/// `held_by_spec`: whether a Namespace still has `spec.finalizers` (R1.25).
pub fn delete<'a>(
    stored: &Stored<'a>,
    uid: Symbol,
    rules: KindRules,
    pod: Option<&PodFacts>,
    held_by_spec: bool,
    options: &DeleteOptions,
) -> DeleteAnswer<'a> {
    if options.uid.is_some_and(|expected| expected != uid)
        || options.version.is_some_and(|expected| expected != stored.version)
    {
        return DeleteAnswer::Conflict;
    }
    match rules.own_delete {
        OwnDelete::Namespace if !stored.terminating => {
            let finalizers = collector_finalizers(stored, rules, options.propagation);
            return updated(stored, None, finalizers);
        }
        OwnDelete::Namespace if held_by_spec => return DeleteAnswer::Unchanged,
        OwnDelete::Definition if !stored.terminating => {
            let mut finalizers = stored.finalizers.to_vec();
            if !finalizers.contains(&Symbol::DEFINITION) {
                finalizers.push(Symbol::DEFINITION);
            }
            return updated(stored, None, Cow::Owned(finalizers));
        }
        _ => {}
    }
    generic_delete(stored, rules, pod, options)
}

fn generic_delete<'a>(
    stored: &Stored<'a>,
    rules: KindRules,
    pod: Option<&PodFacts>,
    options: &DeleteOptions,
) -> DeleteAnswer<'a> {
    let graceful = match grace_period(stored, rules, pod, options) {
        Grace::AlreadyPending => return DeleteAnswer::Unchanged,
        Grace::None => None,
        Grace::Seconds(seconds) => Some(seconds),
    };
    let finalizers = collector_finalizers(stored, rules, options.propagation);
    if finalizers.is_empty() && graceful.unwrap_or(0) == 0 {
        // R1.7: without a grace period, an update that only drops finalizers empties the precondition's version, and
        // the request fails.
        let dropped_finalizers = !stored.finalizers.is_empty();
        return if graceful.is_none() && dropped_finalizers && options.version.is_some() {
            DeleteAnswer::Conflict
        } else {
            DeleteAnswer::Removed
        };
    }
    // R1.12: the grace period is 0 otherwise, also for pods that were already terminating (R1.18).
    updated(stored, Some(graceful.unwrap_or(0)), finalizers)
}

fn updated<'a>(stored: &Stored<'a>, grace: Option<i64>, finalizers: Cow<'a, [Symbol]>) -> DeleteAnswer<'a> {
    if stored.terminating && stored.grace == grace && stored.finalizers == finalizers {
        return DeleteAnswer::Unchanged;
    }
    DeleteAnswer::Updated(Stored {
        terminating: true,
        grace,
        finalizers,
        owners: stored.owners.clone(),
        version: stored.version + 1,
    })
}

enum Grace {
    /// No graceful deletion.
    None,
    /// A grace period that starts, or a shorter one that replaces it.
    Seconds(i64),
    /// R1.17: the request doesn't shorten the current grace period, so nothing changes, not even finalizers.
    AlreadyPending,
}

fn grace_period(stored: &Stored<'_>, rules: KindRules, pod: Option<&PodFacts>, options: &DeleteOptions) -> Grace {
    if !rules.graceful {
        return Grace::None;
    }
    // R1.3
    let requested = options.grace.map(|seconds| if seconds < 0 { 1 } else { seconds });
    if stored.terminating {
        return match (stored.grace.unwrap_or(0), requested) {
            (0, _) => Grace::None,
            (current, Some(shorter)) if shorter < current => Grace::Seconds(shorter),
            _ => Grace::AlreadyPending,
        };
    }
    // R1.14
    let seconds = match pod {
        None => requested.unwrap_or(30),
        Some(pod) if pod.node.is_none() || pod.finished() => 0,
        Some(pod) => requested.or(pod.grace).unwrap_or(0),
    };
    Grace::Seconds(if seconds < 0 { 1 } else { seconds })
}

/// The finalizers after a DELETE (table of §1.3), in the order of R1.9.
fn collector_finalizers<'a>(
    stored: &Stored<'a>,
    rules: KindRules,
    requested: Option<Propagation>,
) -> Cow<'a, [Symbol]> {
    let existing = stored.finalizers.iter().find_map(|finalizer| match *finalizer {
        Symbol::FOREGROUND => Some(Propagation::Foreground),
        Symbol::ORPHAN => Some(Propagation::Orphan),
        _ => None,
    });
    let collector_finalizer = match requested.or(existing).unwrap_or(rules.default_policy) {
        _ if !rules.collected => None,
        Propagation::Background => None,
        Propagation::Foreground => Some(Symbol::FOREGROUND),
        Propagation::Orphan => Some(Symbol::ORPHAN),
    };
    let is_collector_finalizer = |finalizer: Symbol| collector_finalizer == Some(finalizer);
    let unchanged = [Symbol::FOREGROUND, Symbol::ORPHAN]
        .into_iter()
        .all(|finalizer| stored.has_finalizer(finalizer) == is_collector_finalizer(finalizer));
    if unchanged {
        return stored.finalizers.clone();
    }
    let foreign = stored.finalizers.iter().copied().filter(|finalizer| !finalizer.is_collectors_finalizer());
    foreign.chain(collector_finalizer).collect()
}
