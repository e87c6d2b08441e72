//! `kubectl gc reclaim`

use std::time::Duration;

use crate::{
    operations::{OperationError, ReadScope},
    render::reclaim::ReclaimView,
};
use gc_cluster::cluster::clock;
use gc_core::{
    model::{Gap, Origin, Snapshot},
    reclaim::{Settings, forecast},
};

use super::{
    args::{GlobalArgs, ReclaimArgs},
    connection::time_of,
    output::Printer,
    report::{Report, heading},
};

/// Says what the cluster will remove by itself.
pub(super) fn run(global: &GlobalArgs, args: &ReclaimArgs) -> Result<Report, OperationError> {
    let within = args.within.as_deref().map(|within| time_of("--within", within)).transpose()?.flatten();
    let within = within.map(seconds);
    let mut settings = settings(args)?;
    let mut session = global.open(&args.targets.to_be_shown(), ReadScope::Reclaim)?;
    session.enter_namespace();
    let snapshot = &session.snapshot;
    let now = time(args, snapshot)?;
    settings.read_at = Some(snapshot.time().unwrap_or_else(|| clock::now().as_second()));
    let forecast = forecast(snapshot, &settings, now);
    let mut gaps: Vec<Gap> = snapshot.gaps.iter().chain(&forecast.gaps).cloned().collect();
    gaps.sort();
    let view = ReclaimView {
        snapshot,
        forecast: &forecast,
        namespace: session.namespace.as_deref(),
        targets: session.targets.as_deref(),
        now,
        within,
        never: args.never,
        gaps: &gaps,
    };
    let more = match snapshot.origin {
        Origin::Dump { .. } => format!(" As of {}.", jiff::Timestamp::from_second(now).unwrap_or_default()),
        Origin::Cluster { .. } => String::new(),
    };
    let heading = || heading(snapshot, session.namespace.as_deref(), &global.source.from, &more);
    let out = Printer::new(global).print(&view, heading)?;
    Ok(Report::of(out).with_gaps(&gaps))
}

fn seconds(time: Duration) -> i64 {
    i64::try_from(time.as_secs()).unwrap_or(i64::MAX)
}

/// What the user knows of the controllers.
fn settings(args: &ReclaimArgs) -> Result<Settings, OperationError> {
    let flag = "--legacy-service-account-token-clean-up-period";
    let period = args.legacy_service_account_token_clean_up_period.as_deref();
    let period = period.map(|period| time_of(flag, period)).transpose()?.flatten();
    Ok(Settings {
        terminated_pod_gc_threshold: args.terminated_pod_gc_threshold,
        legacy_token_clean_up_period: period.map(seconds),
        read_at: None,
    })
}

/// Of when the forecast is: now, or for files when they were made, as far as they tell.
fn time(args: &ReclaimArgs, snapshot: &Snapshot) -> Result<i64, OperationError> {
    if let Some(at) = &args.at {
        let at: jiff::Timestamp = at.parse().map_err(|_| {
            OperationError::Usage(format!("--at={at} is not a time: give one such as 2026-01-31T12:00:00Z"))
        })?;
        return Ok(at.as_second());
    }
    Ok(snapshot.time().unwrap_or_else(|| clock::now().as_second()))
}
