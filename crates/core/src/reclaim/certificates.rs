//! CertificateSigningRequests whose time is over (R12.13).

use crate::model::{
    Rule,
    facts::{ReclaimFacts, RequestFacts},
};

use super::{Found, Reason, When, scene::Scene};

const HOUR: i64 = 3_600;
/// `cleaner.go`: `pollingInterval`.
const EVERY: i64 = HOUR;

pub(super) fn find(scene: &Scene<'_>, found: &mut Found) {
    for id in scene.of("certificates.k8s.io", "CertificateSigningRequest") {
        let (false, Some(ReclaimFacts::Request(request))) = (scene.object(*id).terminating(), scene.facts(*id)) else {
            continue;
        };
        match ends(request, scene.object(*id).created.get()) {
            Some((time, why)) => {
                // It must be older than that, not as old.
                let from = time.saturating_add(1).max(scene.now);
                let when = When::Pass { from, until: from.saturating_add(EVERY), every: EVERY };
                let controller = "certificatesigningrequest-cleaner-controller";
                found.goes(*id, Reason::new(Rule::R12_13, controller, when, why));
            }
            None => found.stays(*id, Rule::R12_13, "none of its conditions says since when"),
        }
    }
}

/// The first time from which on it is removed, and why (`handle`).
fn ends(request: &RequestFacts, created: Option<i64>) -> Option<(i64, &'static str)> {
    if request.conditions.is_empty() {
        return Some((created?.saturating_add(24 * HOUR), "pending for 24 hours"));
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
