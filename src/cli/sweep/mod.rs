//! `kubectl gc sweep`: does the collector's work from the client.

mod config;
mod dry_run;
mod pass;
mod role;
mod watch;

use crate::operations::{OperationError, sweep::SweepRules};

use super::{
    args::{GlobalArgs, TargetArgs},
    report::Report,
};

pub use config::{SweepArgs, SweepConfig};
pub use role::{Role, role};
pub(super) use watch::ended;

/// Shows one pass, carries it out, or continues with `--watch`.
pub fn run(global: &GlobalArgs, args: &SweepArgs) -> Result<Report, OperationError> {
    let order = SweepConfig::read(args)?;
    let rules = SweepRules { assume: args.assumed.assume, trust_missing_apis: args.trust_missing_apis };
    match (args.watching.watch, args.dry_run) {
        (true, _) => watch::watch(global, args, &order),
        (false, true) => dry_run::show(global, args, rules),
        (false, false) => pass::pass(global, args, &order, rules),
    }
}

/// Without targets, sweeps the whole cluster, whatever the kubeconfig's namespace; only an explicit `-n` limits it.
pub(super) fn scope(global: &GlobalArgs, targets: &TargetArgs) -> TargetArgs {
    let anything = !targets.any() && global.connection.namespace().is_none();
    TargetArgs { all_namespaces: targets.all_namespaces || anything, ..targets.clone() }
}
