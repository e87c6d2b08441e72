//! Tokens in Secrets: bootstrap tokens that expire (R12.14), and tokens of ServiceAccounts, made by Kubernetes itself,
//! that nobody uses (R12.15).

use rustc_hash::{FxHashMap, FxHashSet};

use crate::model::{
    ObjectId, Presence, Rule, Symbol,
    facts::{Expiration, ReclaimFacts, TRACKING, TokenFacts},
};

use super::{Found, Reason, When, scene::Scene};

const DAY: i64 = 86_400;
/// `legacy_serviceaccount_token_cleaner.go`: `DefaultCleanerSyncInterval`.
const EVERY: i64 = DAY;
/// The labels with the dates of a token's last use, and since when it is invalid.
const LAST_USED: &str = "kubernetes.io/legacy-token-last-used";
const INVALID_SINCE: &str = "kubernetes.io/legacy-token-invalid-since";

/// Bootstrap tokens.
pub(super) fn find(scene: &Scene<'_>, found: &mut Found) {
    for id in scene.of("", "Secret") {
        let Some(ReclaimFacts::BootstrapToken(expiration)) = scene.facts(*id) else { continue };
        let object = scene.object(*id);
        if object.terminating() {
            continue;
        }
        if scene.snapshot.text(object.namespace) != "kube-system" {
            found.stays(*id, Rule::R12_14, "a bootstrap token counts only in kube-system");
            continue;
        }
        let (when, why) = match expiration {
            Expiration::Never => {
                found.stays(*id, Rule::R12_14, "a bootstrap token without an expiration");
                continue;
            }
            Expiration::At(time) => (When::At { time: *time }, "it expires"),
            Expiration::Unreadable => (When::Now, "its expiration is no time, which counts as expired"),
        };
        found.goes(*id, Reason::new(Rule::R12_14, "token-cleaner-controller", when, why));
    }
}

/// Tokens of ServiceAccounts.
pub(super) fn find_of_accounts(scene: &Scene<'_>, found: &mut Found) {
    // Without this date, nothing is removed. The day itself doesn't count.
    let Some(tracked) = tracked_since(scene).map(|date| date.saturating_add(DAY)) else { return };
    let mut mentioned: FxHashMap<Symbol, FxHashSet<&str>> = FxHashMap::default();
    for id in scene.of("", "Pod") {
        if let Some(ReclaimFacts::Pod(pod)) = scene.facts(*id) {
            let names = mentioned.entry(scene.object(*id).namespace).or_default();
            names.extend(pod.secrets.iter().map(String::as_str));
        }
    }
    for id in scene.of("", "Secret") {
        let Some(token) = scene.snapshot.facts.token(*id) else { continue };
        let object = scene.object(*id);
        if object.terminating() || !is_listed_by_account(scene, *id, token) {
            continue;
        }
        if mentioned.get(&object.namespace).is_some_and(|names| names.contains(scene.name(*id))) {
            found.stays(*id, Rule::R12_15, "a token of a ServiceAccount that a pod names");
            continue;
        }
        match end(scene, *id, tracked) {
            Some((from, why)) => {
                let from = from.max(scene.now);
                let when = When::Pass { from, until: from.saturating_add(EVERY), every: EVERY };
                let controller = "legacy-serviceaccount-token-cleaner-controller";
                found.goes(*id, Reason::new(Rule::R12_15, controller, when, why));
            }
            None => found.stays(*id, Rule::R12_15, "nobody can read when this token was used last"),
        }
    }
}

/// The day since which uses are recorded.
fn tracked_since(scene: &Scene<'_>) -> Option<i64> {
    let Presence::Present(id) = scene.look_up("", "ConfigMap", "kube-system", TRACKING) else { return None };
    match scene.facts(id) {
        Some(ReclaimFacts::TokensTrackedSince(Some(date))) => day(date),
        _ => None,
    }
}

/// Whether its ServiceAccount names it: else it isn't known to be made by Kubernetes itself.
fn is_listed_by_account(scene: &Scene<'_>, id: ObjectId, token: &TokenFacts) -> bool {
    let namespace = scene.snapshot.text(scene.object(id).namespace);
    let Presence::Present(account) = scene.look_up("", "ServiceAccount", namespace, &token.account) else {
        return false;
    };
    let is_same = token.uid.as_deref().is_none_or(|uid| uid == scene.snapshot.text(scene.object(account).uid));
    let names = match scene.facts(account) {
        Some(ReclaimFacts::Account(names)) => names.as_slice(),
        _ => &[],
    };
    is_same && names.iter().any(|name| name == scene.name(id))
}

/// The first time from which on it is removed, and why; `None` if a date can't be read (`evaluateSATokens`).
fn end(scene: &Scene<'_>, id: ObjectId, tracked: i64) -> Option<(i64, String)> {
    let period = scene.settings.clean_up_period();
    let used = match scene.snapshot.label(id, LAST_USED) {
        Some(date) => day(date)?.saturating_add(DAY),
        None => i64::MIN,
    };
    // It must be older than the period, not as old.
    let created = scene.created(id).saturating_add(1);
    let invalid = tracked.max(used).max(created).saturating_add(period);
    let since = scene.snapshot.label(id, INVALID_SINCE).and_then(day);
    let marked = since.unwrap_or_else(|| midnight(invalid.max(scene.now)));
    let from = invalid.max(marked.saturating_add(DAY).saturating_add(period));
    let why = match since {
        Some(_) => "an unused token of a ServiceAccount, marked as invalid long enough",
        None => "an unused token of a ServiceAccount: it is marked as invalid first",
    };
    Some((from, why.to_owned()))
}

/// The beginning of a day, as `2006-01-02`.
fn day(date: &str) -> Option<i64> {
    let is_date = date.len() == 10 && date.is_ascii();
    let date: jiff::civil::Date = date.parse().ok().filter(|_| is_date)?;
    Some(date.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp().as_second())
}

fn midnight(time: i64) -> i64 {
    time - time.rem_euclid(DAY)
}
