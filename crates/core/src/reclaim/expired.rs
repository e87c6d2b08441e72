//! What is of no use any more once its time is over: CertificateSigningRequests (R12.13), bootstrap tokens (R12.14),
//! tokens of ServiceAccounts, made by Kubernetes itself, that nobody uses (R12.15), and Leases of Nodes (R12.16) and of
//! API servers (R12.17) that are gone.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    graph::{OwnerGraph, Verdict},
    model::{
        ObjectId, Presence, Rule, Symbol,
        facts::{Expiration, ReclaimFacts, RequestFacts, TRACKING, TokenFacts},
    },
};

use super::{Found, Reason, When, scene::Scene};

const HOUR: i64 = 3_600;
const DAY: i64 = 24 * HOUR;

/// CertificateSigningRequests. Their controller looks each hour (`cleaner.go`: `pollingInterval`).
pub(super) fn find_requests(scene: &Scene<'_>, found: &mut Found) {
    for id in scene.of("certificates.k8s.io", "CertificateSigningRequest") {
        let (false, Some(ReclaimFacts::Request(request))) = (scene.object(*id).terminating(), scene.facts(*id)) else {
            continue;
        };
        match end_of_request(request, scene.object(*id).created.get()) {
            Some((time, why)) => {
                // It must be older than that, not as old.
                let from = time.saturating_add(1).max(scene.now);
                let when = When::Pass { from, until: from.saturating_add(HOUR), every: HOUR };
                let controller = "certificatesigningrequest-cleaner-controller";
                found.goes(*id, Reason::new(Rule::R12_13, controller, when, why));
            }
            None => found.stays(*id, Rule::R12_13, "none of its conditions says since when"),
        }
    }
}

/// The first time from which on it is removed, and why (`handle`).
fn end_of_request(request: &RequestFacts, created: Option<i64>) -> Option<(i64, &'static str)> {
    if request.conditions.is_empty() {
        return Some((created?.saturating_add(DAY), "pending for 24 hours"));
    }
    let of_condition = |(kind, updated): &(String, Option<i64>)| -> Vec<(i64, &'static str)> {
        let after = |hours: i64| updated.map(|updated| updated.saturating_add(hours * HOUR));
        let (after, why) = match (kind.as_str(), request.issued) {
            ("Approved", true) => {
                let expired = request.expires.map(|expires| (expires, "its certificate has expired"));
                return after(1).map(|time| (time, "approved, for an hour")).into_iter().chain(expired).collect();
            }
            ("Approved", false) => (after(24), "approved, without a certificate for 24 hours"),
            ("Denied", _) => (after(1), "denied, for an hour"),
            ("Failed", _) => (after(1), "failed, for an hour"),
            _ => (None, ""),
        };
        after.map(|time| (time, why)).into_iter().collect()
    };
    request.conditions.iter().flat_map(of_condition).min()
}

/// The labels with the dates of a token's last use, and since when it is invalid.
const LAST_USED: &str = "kubernetes.io/legacy-token-last-used";
const INVALID_SINCE: &str = "kubernetes.io/legacy-token-invalid-since";

/// Bootstrap tokens.
pub(super) fn find_bootstrap_tokens(scene: &Scene<'_>, found: &mut Found) {
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

/// Tokens of ServiceAccounts. Their controller looks each day (`legacy_serviceaccount_token_cleaner.go`:
/// `DefaultCleanerSyncInterval`).
pub(super) fn find_account_tokens(scene: &Scene<'_>, found: &mut Found) {
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
        match end_of_token(scene, *id, tracked) {
            Some((from, why)) => {
                let from = from.max(scene.now);
                let when = When::Pass { from, until: from.saturating_add(DAY), every: DAY };
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
fn end_of_token(scene: &Scene<'_>, id: ObjectId, tracked: i64) -> Option<(i64, String)> {
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

/// The label that an API server's Lease has, with this value.
const IDENTITY: (&str, &str) = ("apiserver.kubernetes.io/identity", "kube-apiserver");

/// Leases.
pub(super) fn find_leases(scene: &Scene<'_>, graph: &OwnerGraph, found: &mut Found) {
    for id in scene.of("coordination.k8s.io", "Lease") {
        let object = scene.object(*id);
        if object.terminating() {
            continue;
        }
        match scene.snapshot.text(object.namespace) {
            "kube-node-lease" => of_node(scene, graph, *id, found),
            "kube-system" if scene.snapshot.label(*id, IDENTITY.0) == Some(IDENTITY.1) => {
                of_api_server(scene, *id, found);
            }
            _ => {}
        }
    }
}

/// The kubelet makes it with its Node as the owner; the collector removes it with the Node.
fn of_node(scene: &Scene<'_>, graph: &OwnerGraph, id: ObjectId, found: &mut Found) {
    let object = scene.object(id);
    if object.owners.is_empty() {
        if scene.look_up("", "Node", "", scene.name(id)) == Presence::Absent {
            found.stays(id, Rule::R12_16, "its Node is gone, and it has no owner: nothing removes it");
        }
        return;
    }
    let verdict = |reference| Verdict::of(scene.snapshot, graph, reference, object.namespace);
    if object.owners.iter().all(|reference| matches!(verdict(reference), Verdict::Dangling(_))) {
        let why = "its Node, which owns it, is gone";
        found.goes(id, Reason::new(Rule::R12_16, "garbage-collector-controller", When::Now, why));
    }
}

/// Without a time or a duration, it counts as expired (`isLeaseExpired`).
fn of_api_server(scene: &Scene<'_>, id: ObjectId, found: &mut Found) {
    let Some(lease) = scene.snapshot.facts.lease(id) else { return };
    let expired = match lease.renewed.zip(lease.seconds) {
        Some((renewed, seconds)) => renewed.saturating_add(seconds).saturating_add(1),
        None => scene.now,
    };
    // Others are renewed.
    if expired <= scene.now {
        // `K/pkg/controlplane/apiserver/server.go`: `IdentityLeaseGCPeriod`.
        let when = When::Pass { from: scene.now, until: scene.now + HOUR, every: HOUR };
        let why = "the Lease of an API server that no longer renews it";
        found.goes(id, Reason::new(Rule::R12_17, "kube-apiserver", when, why));
    }
}
