//! `kubectl gc sweep`: does the collector's work from the client.

mod pass;
mod watch;

use std::{sync::Arc, time::Duration};

use clap::Args;

use crate::{
    operations::{
        OperationError, ReadScope, Session,
        live::SweepLoad,
        sweep::{SweepRules, limit, refusal},
        usage,
    },
    render::{output::Format, plan::PlanView},
};
use gc_cluster::{
    cluster::Connection,
    metrics::{Listen, Metrics},
};
use gc_core::{model::ObjectId, plan::Plan, simulate::Uncertainty};

use super::{
    args::{AssumeArgs, GlobalArgs, OpenArgs, PrintArgs, SourceArgs, TargetArgs},
    connection::time_of,
    formats::{self, formats},
    output::Printer,
    report::{Exit, Report, heading},
};

/// Shows one pass, carries it out, or continues with `--watch`.
pub fn run(global: &GlobalArgs, args: &SweepArgs) -> Result<Report, OperationError> {
    let order = SweepConfig::read(args)?;
    let rules = SweepRules { assume: args.assumed.assume, trust_missing_apis: args.trust_missing_apis };
    match (args.watching.watch, args.dry_run) {
        (true, _) => watch::watch(global, args, &order),
        (false, true) => dry_run(global, args, rules),
        (false, false) => pass::pass(global, args, &order, rules),
    }
}

/// Predicts one pass of the collector.
fn dry_run(global: &GlobalArgs, args: &SweepArgs, rules: SweepRules) -> Result<Report, OperationError> {
    let mut session = global.open(&args.source, &global.scope_of(&args.targets), ReadScope::Everything)?;
    session.enter_namespace();
    if rules.trust_missing_apis {
        session.trust_missing_apis();
    }
    let limit = limit(&session);
    let plan = rules.simulate(&mut session, limit.as_deref());
    report(global, args, &session, rules, limit.as_deref(), &plan)
}

fn report(
    global: &GlobalArgs,
    args: &SweepArgs,
    session: &Session,
    rules: SweepRules,
    limit: Option<&[ObjectId]>,
    plan: &Plan,
) -> Result<Report, OperationError> {
    let snapshot = &session.snapshot;
    let namespace = session.namespace_of_targets();
    let graph = rules.graph(snapshot);
    let view = PlanView::new(snapshot, &graph, plan, &[], namespace.as_deref());
    let heading = || {
        let more = format!(" Nothing was changed.{}", pass::limited(limit));
        heading(snapshot, namespace.as_deref(), &args.source.from, &more)
    };
    let printer = Printer::of_plan(global, args.output, args.targets.all);
    let out = printer.with_commands(global.object_commands(&args.source)).print(&view, heading)?;
    let mut report = Report::of(out).with_gaps(&snapshot.gaps);
    if let Some(why) = refusal(session, plan) {
        report.notes.push(format!("error: without --dry-run, a sweep would refuse: {why}"));
        report.exit = Exit::Failed;
    }
    if let Some(uncertain) = uncertain(plan) {
        report.notes.push(uncertain);
        report.exit = Exit::Failed;
    } else if plan.stuck() && report.exit == Exit::Fine {
        report.exit = Exit::BadNews;
    }
    Ok(report)
}

/// A note if unread data may change what the sweep does: a real sweep leaves an object alone whose owner it can't read.
fn uncertain(plan: &Plan) -> Option<String> {
    match plan.outcomes.iter().filter(|outcome| outcome.uncertain == Some(Uncertainty::Gap)).count() {
        0 => None,
        1 => Some(
            "error: 1 outcome is not certain, because something could not be read: a sweep may leave \
             that object as it is"
                .to_owned(),
        ),
        some => Some(format!(
            "error: {some} outcomes are not certain, because something could not be read: a sweep may leave \
             those objects as they are"
        )),
    }
}

/// Do the garbage collector's work: one pass, or --watch
///
/// For clusters where no collector is running. One pass removes references to missing owners, deletes objects whose
/// owners are all gone, and finishes foreground and orphan deletes. It shows the plan, asks, works until nothing is
/// left to do, and reports the result. --dry-run only shows the plan. --watch continues like the controller, without
/// asking.
///
/// Covers the whole cluster unless -n NAMESPACE or TARGETs limit which objects may be changed; it always reads
/// everything that decides.
///
/// Use it where only an API server runs, as in envtest, or while the controller manager is down.
#[derive(Debug, Args)]
#[command(
    after_long_help = "Exit codes: 0 success, 1 the command failed, or something that could not be read may change \
        an outcome, 2 objects stay stuck. --watch exits with 0 on SIGTERM and Ctrl-C."
)]
pub struct SweepArgs {
    #[command(flatten)]
    pub targets: TargetArgs,
    /// Only show what would happen
    #[arg(long)]
    pub dry_run: bool,
    /// Do not ask; --watch never asks
    #[arg(short, long, conflicts_with = "dry_run")]
    pub yes: bool,
    /// How long to continue, as in kubectl (30s, 5m); 0: to the end
    #[arg(long, value_name = "TIME", default_value = "0", conflicts_with = "dry_run")]
    pub timeout: String,
    #[command(flatten)]
    pub assumed: AssumeArgs,
    /// Treat the objects of an API that answers 404 as absent, as the collector does; without it they are unknown
    #[arg(long)]
    pub trust_missing_apis: bool,
    /// Print the ClusterRole that a sweep needs (with --watch: that of --watch); needs no cluster
    #[arg(long, conflicts_with_all = WHAT_A_ROLE_DOES_NOT_DEPEND_ON)]
    pub print_role: bool,
    /// Output format
    #[arg(short, long, value_name = "FORMAT", ignore_case = true, value_parser = formats(formats::PLAN))]
    pub output: Option<Format>,
    #[command(flatten)]
    pub open: OpenArgs,
    #[command(flatten)]
    pub printing: PrintArgs,
    #[command(flatten)]
    pub watching: WatchingArgs,
    #[command(flatten)]
    pub load: LoadArgs,
    #[command(flatten)]
    pub source: SourceArgs,
}

/// The flags that have no effect with `--print-role`.
const WHAT_A_ROLE_DOES_NOT_DEPEND_ON: [&str; 20] = [
    "targets",
    "selector",
    "field_selector",
    "all",
    "filenames",
    "kustomize",
    "all_namespaces",
    "dry_run",
    "yes",
    "timeout",
    "assume",
    "trust_missing_apis",
    "output",
    "resync",
    "metrics_bind_address",
    "workers",
    "qps",
    "burst",
    "from",
    "assume_complete",
];

/// The flags of `sweep --watch`.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Watching")]
pub struct WatchingArgs {
    /// Continue like the controller, until SIGTERM or Ctrl-C
    #[arg(
        short,
        long,
        conflicts_with_all = ["dry_run", "timeout", "assume", "output", "from", "assume_complete"]
    )]
    pub watch: bool,
    /// How often to look for new and removed resources
    #[arg(long, value_name = "TIME", default_value = "30s", requires = "watch", hide_short_help = true)]
    pub resync: String,
    /// Serve /metrics, /healthz and /readyz on this address: :8080, 127.0.0.1:8080; port 0 chooses a free port and
    /// prints it [default: not served]
    #[arg(long, value_name = "[HOST]:PORT", requires = "watch")]
    pub metrics_bind_address: Option<String>,
}

/// The load of `sweep` on the API server and on this machine.
#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = "Load")]
pub struct LoadArgs {
    /// How many objects to process at once
    #[arg(long, value_name = "N", default_value_t = 20, conflicts_with = "dry_run", hide_short_help = true,
        value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub workers: u16,
    /// Limit of requests per second; 0: no limit. Watches do not count
    #[arg(long, value_name = "N", default_value_t = 50.0, conflicts_with = "dry_run", hide_short_help = true,
        value_parser = per_second)]
    pub qps: f64,
    /// How many requests may be sent at once after a pause
    #[arg(long, value_name = "N", default_value_t = 100, conflicts_with = "dry_run", hide_short_help = true,
        value_parser = clap::value_parser!(u32).range(1..))]
    pub burst: u32,
}

fn per_second(text: &str) -> Result<f64, &'static str> {
    let rate = text.parse::<f64>().ok().filter(|rate| rate.is_finite() && *rate >= 0.0);
    rate.ok_or("give a number of requests per second, such as 50 or 0.5, or 0 for no limit")
}

/// The configuration of a sweep.
#[derive(Clone, Debug)]
pub struct SweepConfig {
    pub load: SweepLoad,
    /// How often `--watch` looks for new and removed resources.
    pub resync: Duration,
    /// Where `--watch` serves its metrics.
    pub metrics: Option<Listen>,
}

impl SweepConfig {
    /// # Errors
    /// Invalid arguments, or a combination that can't work on any cluster.
    pub fn read(args: &SweepArgs) -> Result<Self, OperationError> {
        if !args.dry_run && !args.source.from.is_empty() {
            return usage("--from reads files, which cannot be swept: use --dry-run to see what a sweep would do");
        }
        let resync = time_of("--resync", &args.watching.resync)?.ok_or_else(|| {
            let why = "--resync=0 would never find new resources: give a time as in kubectl (30s, 5m)";
            OperationError::Usage(why.to_owned())
        })?;
        let metrics = args.watching.metrics_bind_address.as_deref().map(|address| {
            let address = address.parse::<Listen>();
            address.map_err(|why| OperationError::Usage(format!("--metrics-bind-address: {why}")))
        });
        Ok(SweepConfig {
            load: SweepLoad {
                workers: usize::from(args.load.workers),
                qps: args.load.qps,
                burst: args.load.burst,
                timeout: time_of("--timeout", &args.timeout)?,
            },
            resync,
            metrics: metrics.transpose()?,
        })
    }

    /// A connection with the configured rate limit, whose requests are counted.
    #[must_use]
    pub fn within_limits(&self, connection: Connection, metrics: &Metrics) -> Connection {
        let requests = metrics.requests(&connection.endpoint().server);
        connection.also_telling(Arc::new(requests)).with_limits(self.load.qps, self.load.burst)
    }
}
