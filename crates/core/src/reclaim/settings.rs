//! What nobody can read of the controllers: their flags, and whether they run. A flag of the command says it.

use serde::Serialize;

use super::Removal;
use crate::model::Rule;

const DAY: i64 = 86_400;

/// Settings of kube-controller-manager, `None` if not given: Kubernetes' default is assumed. And when it was seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// `--terminated-pod-gc-threshold`: 0 or less turns it off.
    pub terminated_pod_gc_threshold: Option<i64>,
    /// `--legacy-service-account-token-clean-up-period`, in seconds.
    pub legacy_token_clean_up_period: Option<i64>,
    /// When the objects were read, in Unix seconds, if the forecast is of another time.
    pub read_at: Option<i64>,
}

impl Settings {
    pub(super) fn threshold(&self) -> i64 {
        self.terminated_pod_gc_threshold.unwrap_or(12_500)
    }

    pub(super) fn clean_up_period(&self) -> i64 {
        self.legacy_token_clean_up_period.unwrap_or(365 * DAY)
    }

    /// What is assumed for these removals.
    pub(super) fn assumptions(&self, removals: &[Removal], manager_is_away: bool) -> Vec<Assumption> {
        let cites = |rule: Rule| removals.iter().any(|removal| removal.reasons.iter().any(|one| one.rule == rule));
        let runs = if manager_is_away { "kube-controller-manager will run" } else { "kube-controller-manager runs" };
        let mut all = vec![Assumption { text: format!("{runs}, with its default --controllers"), flag: None }];
        if cites(Rule::R12_14) {
            let text = "the token-cleaner-controller runs, which is off by default (kubeadm turns it on)";
            all.push(Assumption { text: text.to_owned(), flag: None });
        }
        if self.terminated_pod_gc_threshold.is_none() {
            let text = format!("--terminated-pod-gc-threshold={} (the default)", self.threshold());
            all.push(Assumption { text, flag: Some("--terminated-pod-gc-threshold") });
        }
        if self.legacy_token_clean_up_period.is_none() {
            let text = "--legacy-service-account-token-clean-up-period=8760h (the default)";
            let flag = Some("--legacy-service-account-token-clean-up-period");
            all.push(Assumption { text: text.to_owned(), flag });
        }
        all
    }
}

/// What was assumed, because it can't be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Assumption {
    #[serde(rename = "assumption")]
    pub text: String,
    /// The flag of the command that says otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flag: Option<&'static str>,
}
