//! `kubectl gc sweep`: does the collector's work from the client.

mod watch;

use std::{
    io,
    time::{Duration, Instant},
};

use clap::Args;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::{
    operations::{
        OperationError, ReadScope, Session,
        approve::{Approval, OnMissed, PlanFingerprint, Policy, Proposal as _, Question, View, approve},
        live::{SweepLoad, SweepResult},
        sweep::{SweepPass, SweepPlan, SweepRules, limit, refusal},
        targets::TargetArgs,
        usage,
    },
    render::{
        deletion::DeletionView,
        output::{Output, TextOptions, header},
        picture::{Picture, PictureOptions},
        plan::PlanView,
    },
};
use gc_cluster::{
    cluster::Connection,
    metrics::{Listen, Metrics},
};
use gc_core::{
    command_line::{ShellCommand, is_label},
    model::{Identity, ObjectId},
    plan::{Plan, VerdictResult},
    simulate::{State, Uncertainty},
    wording::count,
};

use super::{
    args::{AssumeArgs, GlobalArgs, OpenArgs, SourceArgs},
    connection::time_of,
    output::{Printer, changes, show_before},
    progress::FollowReporter,
    report::{Exit, Report, StdTerminal, heading},
};

/// Shows one pass, carries it out, or continues with `--watch`.
pub fn run(global: &GlobalArgs, args: &SweepArgs) -> Result<Report, OperationError> {
    let order = SweepConfig::read(global, args)?;
    let rules = SweepRules { assume: args.assumed.assume, trust_missing_apis: args.trust_missing_apis };
    match (args.watching.watch, args.dry_run) {
        (true, _) => watch::watch(global, args, &order),
        (false, true) => dry_run(global, args, rules),
        (false, false) => pass(global, args, &order, rules),
    }
}

/// Predicts one pass of the collector.
fn dry_run(global: &GlobalArgs, args: &SweepArgs, rules: SweepRules) -> Result<Report, OperationError> {
    let mut session = global.open(&global.scope_of(&args.targets), ReadScope::Everything)?;
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
    let mut view = PlanView::new(snapshot, &graph, plan, &[], namespace.as_deref());
    let kubectl = global.kubectl();
    view.kubectl = &kubectl;
    view.sweep = sweep_command(global, args, namespace.as_deref().unwrap_or_default());
    let heading = || {
        let more = format!(" Nothing was changed.{}", limited(limit));
        heading(snapshot, namespace.as_deref(), &global.source.from, &more)
    };
    let printer = Printer::of_plan(global, args.targets.all);
    let out = printer.print(&view, heading)?;
    let mut report = Report::of(out).with_gaps(&snapshot.gaps);
    if let Some(why) = refusal(session, plan) {
        report.notes.push(format!("error: without --dry-run, a sweep would refuse: {why}"));
        report.exit = Exit::Failed;
    }
    if let Some(uncertain) = uncertain(plan) {
        report.notes.push(uncertain);
        report.exit = Exit::Failed;
    } else if (plan.stuck() || view.verdict().is_at_least(VerdictResult::DataLoss)) && report.exit == Exit::Fine {
        report.exit = Exit::BadNews;
    }
    Ok(report)
}

/// The sweep that a dry run predicts, of the same targets.
fn sweep_command(global: &GlobalArgs, args: &SweepArgs, namespace: &str) -> Option<ShellCommand> {
    let live = GlobalArgs { source: SourceArgs::default(), ..global.clone() };
    let sweep = live.same("sweep", &args.targets, false);
    let sweep = sweep.flags(if args.trust_missing_apis { &["--trust-missing-apis"] } else { &[] });
    let is_said = global.connection.namespace().is_some() || args.targets.all_namespaces || namespace.is_empty();
    if is_said { Some(sweep) } else { is_label(namespace).then(|| sweep.flags(&["-n", namespace])) }
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
        an outcome, 2 objects stay stuck, or --dry-run shows what can't be taken back. --watch exits with 0 on SIGTERM \
        and Ctrl-C."
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
    #[arg(long)]
    pub print_role: bool,
    #[command(flatten)]
    pub open: OpenArgs,
    #[command(flatten)]
    pub watching: WatchingArgs,
    #[command(flatten)]
    pub load: SweepLoad,
}

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
    pub fn read(global: &GlobalArgs, args: &SweepArgs) -> Result<Self, OperationError> {
        if !args.dry_run && !global.source.from.is_empty() {
            return usage(
                "--from and --example read files, which cannot be swept: --dry-run shows what a sweep would do",
            );
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
            load: SweepLoad { timeout: time_of("--timeout", &args.timeout)?, ..args.load },
            resync,
            metrics: metrics.transpose()?,
        })
    }

    /// A connection with the configured rate limit, whose requests are counted.
    #[must_use]
    pub fn within_limits(&self, connection: Connection, metrics: &Metrics) -> Connection {
        let requests = metrics.requests(&connection.endpoint().server);
        connection.also_telling(requests).with_limits(self.load.qps, self.load.burst)
    }
}

/// Runs one pass.
fn pass(
    global: &GlobalArgs,
    args: &SweepArgs,
    order: &SweepConfig,
    rules: SweepRules,
) -> Result<Report, OperationError> {
    let targets = global.targets(&global.scope_of(&args.targets))?;
    let mut pass = SweepPass::open(&global.cluster()?, &targets, rules)?;
    let mut view = PassReport { global, args };
    let policy = Policy { yes: args.yes, missed: OnMissed::Refuse { unless: None } };
    let mut notes = Vec::new();
    let mut report = match approve(&mut pass, &mut view, &mut StdTerminal, policy, &mut notes)? {
        Approval::Approved(plan) => view.carry_out(&mut pass, &plan, order)?,
        Approval::Settled(plan) => view.nothing_to_do(&pass, &plan.plan)?,
        Approval::Declined(word) => Report::declined(word.as_deref()).with_gaps(&pass.session.snapshot.gaps),
        Approval::Gone { .. } => Report::of(Vec::new()),
    };
    report.notes.splice(..0, notes);
    Ok(report)
}

/// How many objects may be changed, if that is limited.
fn limited(limit: Option<&[ObjectId]>) -> String {
    match limit {
        None => String::new(),
        Some([_]) => " Only 1 object may be changed.".to_owned(),
        Some(objects) => format!(" Only {} objects may be changed.", objects.len()),
    }
}

/// Prints a pass.
struct PassReport<'a> {
    global: &'a GlobalArgs,
    args: &'a SweepArgs,
}

/// The prediction, stored until the result is known: ids change during the pass.
struct PassDocument {
    document: Map<String, Value>,
    names: Option<Vec<String>>,
    picture: Option<Picture>,
}

impl PassDocument {
    /// # Errors
    /// The result can't be written as a JSON object.
    fn with_result(mut self, result: &impl Serialize, picture: Option<Picture>) -> Result<Self, OperationError> {
        self.picture = picture.or(self.picture);
        self.document.insert("result".to_owned(), Value::Object(fields(result)?));
        Ok(self)
    }
}

impl Output for PassDocument {
    fn document(&self) -> impl Serialize {
        &self.document
    }

    /// Does nothing: text is printed during the pass.
    fn write(&self, _options: &TextOptions<'_>, _out: &mut dyn io::Write) -> io::Result<()> {
        Ok(())
    }

    fn picture(&self, _options: &PictureOptions<'_>) -> Option<Picture> {
        self.picture.clone()
    }

    fn names(&self) -> Option<Vec<String>> {
        self.names.clone()
    }
}

impl View<SweepPass> for PassReport<'_> {
    fn show(
        &mut self,
        pass: &SweepPass,
        plan: &SweepPlan,
        before: Option<&PlanFingerprint>,
    ) -> Result<(), OperationError> {
        let again = changes(before, || pass.fingerprint(plan));
        let namespace = pass.session.namespace_of_targets();
        let snapshot = &pass.session.snapshot;
        let graph = pass.rules.graph(snapshot);
        let view = PlanView::new(snapshot, &graph, &plan.plan, &[], namespace.as_deref());
        let more = format!("{}{again}", limited(plan.limit.as_deref()));
        let heading = || heading(snapshot, namespace.as_deref(), &[], &more);
        show_before(self.printer(), self.args.yes, |printer| printer.print(&view, heading))
    }

    fn question(&self, pass: &SweepPass, plan: &SweepPlan) -> Question {
        let objects = count(plan.plan.outcomes.len(), "object", "objects");
        Question {
            preface: header(&pass.session.snapshot, pass.session.namespace_of_targets().as_deref(), &[]),
            prompt: format!("Sweep {objects}? [y/N]"),
            ..Question::default()
        }
    }
}

impl PassReport<'_> {
    fn is_document(&self) -> bool {
        !self.global.printing.format().is_text()
    }

    fn printer(&self) -> Printer {
        Printer::of_plan(self.global, self.args.targets.all)
    }

    /// The source of a picture.
    fn source(&self, pass: &SweepPass) -> Vec<u8> {
        heading(&pass.session.snapshot, pass.session.namespace_of_targets().as_deref(), &[], "")
    }

    /// The document of the prediction, and what `draw` makes of it.
    fn document(
        &self,
        pass: &SweepPass,
        plan: &Plan,
        draw: fn(&Printer, &PlanView<'_>) -> Option<Picture>,
    ) -> Result<PassDocument, OperationError> {
        let snapshot = &pass.session.snapshot;
        let graph = pass.rules.graph(snapshot);
        let namespace = pass.session.namespace_of_targets();
        let view = PlanView::new(snapshot, &graph, plan, &[], namespace.as_deref());
        Ok(PassDocument {
            document: fields(&view.document())?,
            names: view.names(),
            picture: draw(&self.printer(), &view),
        })
    }

    fn nothing_to_do(&self, pass: &SweepPass, plan: &Plan) -> Result<Report, OperationError> {
        let mut report = Report::of(Vec::new()).with_gaps(&pass.session.snapshot.gaps);
        if self.is_document() {
            let nothing = json!({
                "ended": "NothingToDo", "seconds": 0.0, "unexpected": [], "blockers": [], "unplanned": [], "failed": []
            });
            report.data = self.printer().print(
                &self.document(pass, plan, |printer, view| printer.drawn(view))?.with_result(&nothing, None)?,
                || self.source(pass),
            )?;
        }
        if stays_stuck(plan) {
            report.exit = Exit::BadNews;
        }
        Ok(report)
    }

    /// Carries out the pass, and reports the result.
    fn carry_out(&self, pass: &mut SweepPass, plan: &SweepPlan, order: &SweepConfig) -> Result<Report, OperationError> {
        let begun = Instant::now();
        // What came of it is drawn, and folded, later.
        let mut document = self.document(pass, &plan.plan, |printer, view| printer.picture(view))?;
        let drawn = document.picture.take();
        let mut progress = FollowReporter::new(begun);
        // The sweep changes which objects have which ids.
        let namespace = pass.session.namespace_of_targets();
        let snapshot = &pass.session.snapshot;
        let prevented = plan.plan.obstacles.iter().flat_map(|obstacle| &obstacle.prevents);
        let prevented: Vec<Identity> = prevented.map(|id| Identity::of(snapshot, *id)).collect();
        let SweepResult { followed, failing } =
            pass.carry_out(plan, &order.load, &mut |event| progress.describe(event));
        progress.end();
        let kubectl = self.global.connection.kubectl();
        let view = DeletionView {
            namespace: namespace.as_deref(),
            gaps: &pass.session.snapshot.gaps,
            resources: Some(&pass.session.snapshot.resources),
            planned: plan.plan.summary,
            followed: Some(&followed),
            took: begun.elapsed(),
            kubectl: &kubectl,
            sweep: Some(&failing),
            drawn: drawn.as_ref(),
            ..DeletionView::default()
        };
        let out = match self.is_document() {
            true => {
                let (result, picture) = (fields(&view.result())?, self.printer().drawn(&view));
                self.printer().print(&document.with_result(&result, picture)?, || self.source(pass))?
            }
            // An empty line below the prediction.
            false => self.printer().print(&view, || vec![b'\n'])?,
        };
        // What was foretold is bad news, and no failure.
        let unforetold: Vec<_> = failing.iter().filter(|(object, _)| !prevented.contains(object)).cloned().collect();
        let exit = match () {
            () if (DeletionView { sweep: Some(&unforetold), ..view }).failed() => Exit::Failed,
            () if view.bad_news() || stays_stuck(&plan.plan) => Exit::BadNews,
            () => Exit::Fine,
        };
        Ok(Report { exit, ..Report::of(out).with_gaps(&pass.session.snapshot.gaps) })
    }
}

/// The fields of a document.
///
/// # Errors
/// It is no JSON object.
fn fields(document: &impl Serialize) -> Result<Map<String, Value>, OperationError> {
    // Deserialize into a map: only an object is a document, `null` is not.
    let fields = serde_json::to_value(document).and_then(serde_json::from_value);
    fields.map_err(OperationError::Document)
}

/// Whether an object that the pass works on stays stuck, or writes of the pass are prevented.
fn stays_stuck(plan: &Plan) -> bool {
    let prevented = plan.obstacles.iter().any(|obstacle| !obstacle.prevents.is_empty());
    prevented || plan.outcomes.iter().chain(&plan.stays).any(|outcome| outcome.state == Some(State::Stuck))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_but_an_object_is_a_document() {
        assert!(fields(&()).is_err() && fields(&[1]).is_err());
        assert_eq!(fields(&json!({"a": 1})).unwrap()["a"], 1);
    }
}
