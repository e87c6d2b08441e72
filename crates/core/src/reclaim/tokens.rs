//! Bootstrap tokens that expire (R12.14).

use crate::model::{
    Rule,
    facts::{Expiration, ReclaimFacts},
};

use super::{Found, Reason, When, scene::Scene};

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
