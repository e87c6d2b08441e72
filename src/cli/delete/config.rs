//! Checks the arguments of a delete before anything is read.

use std::time::Duration;

use crate::{
    operations::{
        ClusterConfig, OperationError, TargetConfig,
        delete::{DeleteConfig, HoldConfig},
        usage,
    },
    server::Propagation,
};

use super::super::{
    args::{DeleteArgs, DryRunArg, GlobalArgs, TargetArgs},
    connection::time_of,
    flags::grace_period,
};

/// A checked command line.
pub(super) struct Checked {
    pub cluster: ClusterConfig,
    pub targets: TargetConfig,
    pub delete: DeleteConfig,
    /// How long to follow the cascade; `None`: to the end.
    pub timeout: Option<Duration>,
}

/// # Errors
/// Invalid arguments, or a combination that can't work on any cluster.
pub(super) fn check(global: &GlobalArgs, args: &DeleteArgs) -> Result<Checked, OperationError> {
    let named = args.targets.any();
    if !named {
        return usage("no TARGET: give TYPE/NAME, TYPE NAME, TYPE with -l or --all, or -f MANIFEST");
    }
    let timeout = time_of("--timeout", &args.timeout)?;
    if timeout.is_some() && !args.wait {
        return usage("--timeout sets how long to wait, and --wait=false means not to wait: use one of them");
    }
    // As in kubectl: with --all or a selector, it is fine if no object matches.
    let chooses = args.targets.all || args.targets.selector.is_some() || args.targets.field_selector.is_some();
    let ignore_not_found = args.ignore_not_found || chooses;
    let delete = delete_config(args)?;
    let targets = TargetArgs { ignore_not_found, ..args.targets.clone() };
    Ok(Checked { cluster: global.cluster()?, targets: global.targets(&targets)?, delete, timeout })
}

/// How to delete.
///
/// # Errors
/// Contradictory flags.
pub(in crate::cli) fn delete_config(args: &DeleteArgs) -> Result<DeleteConfig, OperationError> {
    let propagation = args.propagation.policy();
    Ok(DeleteConfig {
        propagation,
        hold: hold(args, propagation)?,
        grace: grace_period(&args.grace)?,
        assume: args.assume,
        keep: args.keep.keep.clone(),
        gates: args.gates.named(),
        dry_run: args.consent.dry_run != DryRunArg::None,
        archive: args.archive.clone(),
        allow_incomplete: args.allow_incomplete.clone(),
        asks: false,
        confirm_above: args.confirm_above,
    })
}

/// How long to hold.
///
/// # Errors
/// No time, or a propagation policy with which nothing can be held.
fn hold(args: &DeleteArgs, propagation: Propagation) -> Result<Option<HoldConfig>, OperationError> {
    let Some(text) = &args.hold else { return Ok(None) };
    let time = time_of("--hold", text)?.unwrap_or_default();
    match propagation {
        Propagation::Background => Ok(Some(HoldConfig { time, namespace: args.hold_namespace.clone() })),
        Propagation::Foreground => {
            usage("--hold can't be used with --cascade=foreground: the collector would begin with the dependents")
        }
        Propagation::Orphan => {
            usage("--hold can't be used with --cascade=orphan: the collector would free the dependents at once")
        }
    }
}
