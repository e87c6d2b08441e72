//! The arguments of a delete, and their check before anything is read.

use std::time::Duration;

use clap::Args;

use crate::{
    operations::{
        ClusterConfig, OperationError, TargetConfig,
        delete::{DeleteConfig, HoldConfig},
        unread::AllowIncomplete,
        usage,
    },
    render::output::Format,
};
use gc_core::server::Propagation;

use super::super::{
    args::{
        AssumeArgs, ConsentArgs, DryRunArg, GateArgs, GlobalArgs, GraceArgs, KeepArgs, OpenArgs, PrintArgs,
        PropagationArgs, RoleArgs, TargetArgs, grace_period,
    },
    connection::time_of,
    formats::{self, formats},
    values::allow_incomplete,
};

/// Show the plan, ask, delete, and follow it to its end
///
/// Shows what the delete does to every object, asks, deletes the TARGETs (the garbage collector deletes their
/// dependents), and follows the cascade until nothing more happens. Reports objects that ended differently than
/// planned, and objects that are stuck with what blocks them.
///
/// Deletes nothing unless the API server says that you may, everything that decides the outcome could be read, and you
/// confirm. Asks again if the cluster changes so that other objects would be deleted.
///
/// With --hold, the delete waits, and can be taken back until its time is up: see docs/hold.md.
///
/// Use it in place of kubectl delete wherever an object has dependents, data or finalizers.
#[derive(Debug, Args)]
#[command(after_long_help = "Exit codes: 0 success, 1 the command failed, or something that could not be read may \
    change the outcome, 2 a gate stopped it, the API server refuses it to everybody, objects are stuck, or the result \
    differs from the plan.")]
pub struct DeleteArgs {
    #[command(flatten)]
    pub targets: TargetArgs,
    #[command(flatten)]
    pub propagation: PropagationArgs,
    #[command(flatten)]
    pub grace: GraceArgs,
    #[command(flatten)]
    pub keep: KeepArgs,
    #[command(flatten)]
    pub gates: GateArgs,
    #[command(flatten)]
    pub consent: ConsentArgs,
    /// Confirm by typing the number of objects if there are more than this
    #[arg(long, value_name = "N", default_value_t = 50, hide_short_help = true)]
    pub confirm_above: usize,
    /// Write all objects to be deleted into FILE (.yaml or .yaml.gz) before anything is deleted
    #[arg(long, value_name = "FILE")]
    pub archive: Option<std::path::PathBuf>,
    /// Delete even if something that could not be read may change the outcome; TYPEs allow only these to be unread
    #[arg(long, value_name = "TYPE,…", num_args = 0..=1, require_equals = true, default_value = "false",
        default_missing_value = "true", hide_default_value = true, value_parser = allow_incomplete,
        hide_short_help = true)]
    pub allow_incomplete: AllowIncomplete,
    /// Ignore TARGETs that do not exist
    #[arg(long, hide_short_help = true)]
    pub ignore_not_found: bool,
    /// Follow the cascade to its end; --wait=false only sends the deletes
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t = true,
        default_missing_value = "true", value_name = "BOOL", action = clap::ArgAction::Set)]
    pub wait: bool,
    /// Ask before anything is deleted: that is so without --yes
    #[arg(short, long, conflicts_with = "yes", hide_short_help = true)]
    pub interactive: bool,
    /// How long to follow the cascade, as in kubectl (30s, 5m); 0: to the end
    #[arg(long, value_name = "TIME", default_value = "0")]
    pub timeout: String,
    /// Delete only after this time (30s, 10m); until then, cancel takes it back. 0: let held TARGETs go now
    #[arg(long, value_name = "TIME", conflicts_with = "keep")]
    pub hold: Option<String>,
    /// With --hold: where to store cluster-scoped TARGETs; without it the current namespace
    #[arg(long, value_name = "NAMESPACE", requires = "hold", hide_short_help = true)]
    pub hold_namespace: Option<String>,
    #[command(flatten)]
    pub assumed: AssumeArgs,
    /// Output format
    #[arg(short, long, value_name = "FORMAT", ignore_case = true, value_parser = formats(formats::PLAN))]
    pub output: Option<Format>,
    #[command(flatten)]
    pub open: OpenArgs,
    #[command(flatten)]
    pub printing: PrintArgs,
    #[command(flatten)]
    pub role: RoleArgs,
}

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
        assume: args.assumed.assume,
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
