//! `kubectl gc delete`

mod hold;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    time::{Duration, Instant},
};

use clap::Args;

use crate::{
    operations::{
        OperationError, TargetConfig,
        approve::{Approval, OnMissed, PlanFingerprint, Policy, Proposal as _, Question, Terminal as _, View, approve},
        archive::Archiving,
        delete::{CarryOut, Delete, DeleteConfig, DeletePlan, DependentsTried, HeldTarget, HoldConfig, Objection},
        predict::PlanResult,
        signals::SystemClock,
        targets::TargetArgs,
        unread::AllowIncomplete,
        usage,
    },
    render::{
        deletion::DeletionView,
        output::place,
        plan::{PlanView, VerdictJson},
        words::plural,
    },
};
use gc_cluster::act::{FollowEvent, Mode, RefusalCause};
use gc_core::{
    graph::OwnerGraph,
    hold::meanwhile,
    model::{ObjectId, ResourceId, Snapshot, effects::EffectKind},
    plan::{ConfirmationReason, Consent, Incomplete, OutcomeKind, Plan, severe_objects},
    server::Propagation,
    wording::{count, duration, thousands},
};

use super::{
    args::{
        AssumeArgs, ConsentArgs, GateArgs, GlobalArgs, GraceArgs, KeepArgs, OpenArgs, PropagationArgs, grace_period,
    },
    connection::time_of,
    output::{Printer, changes, show_before, view_of},
    progress::FollowReporter,
    report::{Exit, Report, StdTerminal, describe_error, heading},
    values::allow_incomplete,
};

/// Shows the plan, asks, deletes, and follows the cascade.
pub(super) fn run(global: &GlobalArgs, args: &DeleteArgs) -> Result<Report, OperationError> {
    let (targets, timeout) = check(global, args)?;
    let config = DeleteConfig { asks: !args.consent.yes && StdTerminal.can_ask(), ..delete_config(args)? };
    let mut delete = Delete::open(&global.cluster()?, &targets, config)?;
    if delete.config.dry_run {
        let (mut notes, view) = (Vec::new(), DeleteReport { global, args });
        let mut report = match delete.plan(&mut notes)? {
            Some(plan) => view.try_out(&mut delete, &plan, &mut notes)?,
            None => view.nothing_there(&delete)?,
        };
        report.notes.splice(..0, notes);
        return Ok(report);
    }
    match ask(global, args, delete)? {
        Asked::Over(report) => Ok(report),
        Asked::Approved(approved) if args.hold.is_some() => approved.hold(global, args, timeout),
        Asked::Approved(approved) => {
            let mut progress = FollowReporter::new(Instant::now());
            let report = approved.carry_out(global, args, timeout, &mut |event| progress.describe(event));
            progress.end();
            report
        }
    }
}

/// What came of the question.
pub(super) enum Asked {
    /// Nothing is to be done; why.
    Over(Report),
    Approved(Box<Approved>),
}

/// A delete that the user has approved.
pub(super) struct Approved {
    delete: Delete,
    plan: DeletePlan,
    notes: Vec<String>,
}

/// Shows the plan, and asks.
pub(super) fn ask(global: &GlobalArgs, args: &DeleteArgs, mut delete: Delete) -> Result<Asked, OperationError> {
    let mut notes = Vec::new();
    let mut view = DeleteReport { global, args };
    let missed = match args.allow_incomplete {
        AllowIncomplete::Everything => OnMissed::Recheck,
        _ => OnMissed::Refuse { unless: Some("--allow-incomplete") },
    };
    let policy = Policy { yes: args.consent.yes, missed };
    let mut report = match approve(&mut delete, &mut view, &mut StdTerminal, policy, &mut notes)? {
        Approval::Approved(plan) => return Ok(Asked::Approved(Box::new(Approved { delete, plan, notes }))),
        Approval::Settled(plan) => view.gated(&delete, &plan.result)?,
        Approval::Declined(word) => Report::declined(word.as_deref()).with_gaps(&delete.session.snapshot.gaps),
        Approval::Gone { shown } => {
            let mut report = view.nothing_there(&delete)?;
            if shown {
                // The plan that was shown was not carried out, and the effects of the other delete are unknown.
                let gone = "error: another client has deleted it since the plan was shown; check what is left";
                report.notes.push(gone.to_owned());
                report.exit = Exit::Failed;
            }
            report
        }
    };
    report.notes.splice(..0, notes);
    Ok(Asked::Over(report))
}

impl Approved {
    /// Deletes, follows the cascade, and reports the result.
    pub(super) fn carry_out(
        self,
        global: &GlobalArgs,
        args: &DeleteArgs,
        timeout: Option<Duration>,
        observer: &mut dyn FnMut(FollowEvent),
    ) -> Result<Report, OperationError> {
        let Approved { mut delete, plan, mut notes } = self;
        let view = DeleteReport { global, args };
        let mut report = view.carry_out(&mut delete, &plan.result, None, timeout, &mut notes, observer)?;
        report.notes.splice(..0, notes);
        Ok(report)
    }
}

/// Prints a delete.
struct DeleteReport<'a> {
    global: &'a GlobalArgs,
    args: &'a DeleteArgs,
}

impl View<Delete> for DeleteReport<'_> {
    /// Shows the plan, if the output is text or the user has to confirm.
    fn show(
        &mut self,
        delete: &Delete,
        plan: &DeletePlan,
        before: Option<&PlanFingerprint>,
    ) -> Result<(), OperationError> {
        let again = changes(before, || delete.fingerprint(plan));
        let print = |printer: &Printer| self.describe(delete, &plan.result, printer, &again);
        show_before(self.printer(), self.args.consent.yes, print)
    }

    fn question(&self, delete: &Delete, plan: &DeletePlan) -> Question {
        let DeletePlan { result: PlanResult { plan, .. }, consent } = plan;
        let namespace = delete.session.namespace_of(&plan.request.targets);
        let mut question =
            question(&delete.session.snapshot, plan, *consent, namespace.as_deref(), delete.archived.is_some());
        if let Some(unread) = delete.unread_in_question(plan) {
            question.preface = format!("{} {unread}", question.preface);
        }
        if let Some(told) = foretold(delete, plan) {
            question.preface = format!("{} {told}", question.preface);
        }
        question
    }
}

impl DeleteReport<'_> {
    fn is_document(&self) -> bool {
        !self.global.printing.format().is_text()
    }

    fn printer(&self) -> Printer {
        Printer::of_plan(self.global, self.args.targets.all)
    }

    /// What precedes the result: an empty line below the plan, or the source of a picture.
    fn source(&self, delete: &Delete, namespace: Option<&str>) -> Vec<u8> {
        match self.is_document() {
            true => heading(&delete.session.snapshot, namespace, &[], ""),
            false => vec![b'\n'],
        }
    }

    /// The plan in the printer's format.
    fn describe(
        &self,
        delete: &Delete,
        result: &PlanResult,
        printer: &Printer,
        more: &str,
    ) -> Result<Vec<u8>, OperationError> {
        let snapshot = &delete.session.snapshot;
        let namespace = delete.session.namespace_of(&result.plan.request.targets);
        let heading = || heading(snapshot, namespace.as_deref(), &[], more);
        self.with_view(delete, result, |view| printer.print(&view.about_to_be_done(), heading))
    }

    /// Calls this with a view of the plan.
    fn with_view<T>(&self, delete: &Delete, result: &PlanResult, then: impl FnOnce(PlanView<'_>) -> T) -> T {
        let snapshot = &delete.session.snapshot;
        let namespace = delete.session.namespace_of(&result.plan.request.targets);
        let graph = OwnerGraph::new(snapshot);
        let kubectl = self.global.connection.kubectl();
        then(view_of(snapshot, &graph, result, namespace.as_deref(), &kubectl))
    }

    /// The report if none of the targets exists.
    fn nothing_there(&self, delete: &Delete) -> Result<Report, OperationError> {
        let nothing = "Nothing is deleted: no such object exists.";
        if !self.is_document() {
            return Ok(Report::of(format!("{nothing}\n")));
        }
        let view = DeletionView {
            propagation: delete.config.propagation,
            gaps: &delete.session.snapshot.gaps,
            resources: Some(&delete.session.snapshot.resources),
            archive: archive(delete),
            ..DeletionView::default()
        };
        let source = || self.source(delete, None);
        let mut report = Report::of(self.printer().print(&view, source)?);
        report.notes.push(nothing.to_owned());
        Ok(report)
    }

    /// The report if a gate stops the delete.
    fn gated(&self, delete: &Delete, result: &PlanResult) -> Result<Report, OperationError> {
        let data = match self.is_document() {
            true => self.describe(delete, result, &self.printer(), "")?,
            false => Vec::new(),
        };
        let gaps = Incomplete::gaps_that_matter(&delete.session.snapshot, &result.plan);
        let mut report = Report { exit: Exit::BadNews, ..Report::of(data).with_gaps(&gaps) };
        report.notes.push("Nothing was deleted: a gate stops this delete.".to_owned());
        Ok(report)
    }

    /// Deletes, follows the cascade, and reports the result.
    fn carry_out(
        &self,
        delete: &mut Delete,
        result: &PlanResult,
        held: Option<&[HeldTarget]>,
        timeout: Option<Duration>,
        notes: &mut Vec<String>,
        observer: &mut dyn FnMut(FollowEvent),
    ) -> Result<Report, OperationError> {
        let plan = &result.plan;
        let namespace = delete.session.namespace_of(&plan.request.targets);
        let kubectl = self.global.connection.kubectl();
        let clock = SystemClock::start();
        let how = CarryOut { wait: self.args.wait, timeout, kubectl: &kubectl, clock: &clock, held };
        let (verdict, drawn) =
            self.with_view(delete, result, |view| (VerdictJson::of(&view), self.printer().picture(&view)));
        // Following changes the ids that the plan has: what matters of the gaps is judged before.
        let known = delete.session.snapshot.gaps.clone();
        let mut gaps = Incomplete::gaps_that_matter(&delete.session.snapshot, plan);
        let resources = &delete.session.snapshot.resources;
        // The approval has told of these.
        let told: BTreeSet<String> =
            delete.session.lost().iter().map(|lost| resources.get(lost.resource).full_name()).collect();
        let snapshot = &delete.session.snapshot;
        let prevented = plan.obstacles.iter().flat_map(|obstacle| &obstacle.prevents);
        let prevented: Vec<String> = prevented.map(|id| snapshot.text(snapshot.object(*id).uid).to_owned()).collect();
        let mut tell = |event| match &event {
            FollowEvent::LostWatch { resource, .. } if told.contains(resource) => {}
            _ => observer(event),
        };
        let done = delete.carry_out(plan, &how, &mut tell)?;
        notes.extend(done.unfinished.iter().cloned());
        // What seemed to be in the way may not have been.
        let ends = done.followed.as_ref().map(|followed| &followed.ends);
        let stays = |uid: &&String| ends.and_then(|ends| ends.get(*uid)) != Some(&OutcomeKind::Deleted);
        let prevented = prevented.iter().filter(stays).count();
        let view = DeletionView {
            propagation: plan.request.propagation,
            namespace: namespace.as_deref(),
            gaps: &delete.session.snapshot.gaps,
            resources: Some(&delete.session.snapshot.resources),
            verdict: Some(&verdict),
            planned: plan.summary,
            prevented,
            sent: &done.sent,
            followed: done.followed.as_ref(),
            took: done.took,
            kept: &done.kept,
            unfinished: &done.unfinished,
            archive: archive(delete),
            kubectl: &kubectl,
            drawn: drawn.as_ref(),
            ..DeletionView::default()
        };
        let exit = match () {
            () if view.is_refused() => Exit::BadNews,
            () if view.failed() => Exit::Failed,
            () if view.bad_news() || !done.unfinished.is_empty() => Exit::BadNews,
            () => Exit::Fine,
        };
        gaps.extend(delete.session.snapshot.gaps.iter().filter(|gap| !known.contains(gap)).cloned());
        let source = || self.source(delete, namespace.as_deref());
        Ok(Report { exit, ..Report::of(self.printer().print(&view, source)?).with_gaps(&gaps) })
    }

    /// Reports what would happen, and with a server dry run whether the API server accepts it.
    fn try_out(
        &self,
        delete: &mut Delete,
        plan: &DeletePlan,
        notes: &mut Vec<String>,
    ) -> Result<Report, OperationError> {
        let result = &plan.result;
        let data = self.describe(delete, result, &self.printer(), " Nothing was changed.")?;
        let gaps = Incomplete::gaps_that_matter(&delete.session.snapshot, &result.plan);
        let mut report = Report::of(data).with_gaps(&gaps);
        let verdict = self.with_view(delete, result, |view| view.verdict().result);
        if !result.gate_violations.is_empty() || self.args.gates.fails_at(verdict) {
            report.exit = Exit::BadNews;
        }
        let refusal = delete.check(plan, notes).err();
        if let Some(refusal) = &refusal {
            // Its lines are escaped already.
            report.notes.extend(format!("error: {}", describe_error(refusal)).split('\n').map(str::to_owned));
            report.exit = Exit::Failed;
        }
        let mut refusals: Vec<Objection> = Vec::new();
        if self.args.consent.dry_run == Mode::ServerDryRun {
            let targets = &result.plan.request.targets;
            refusals.extend(delete.server_refusals(targets));
            let tried = delete.try_dependents(&result.plan);
            report.notes.extend(describe_tried(&tried));
            refusals.extend(tried.refusals);
            if refusal.is_none() && refusals.is_empty() && !self.is_document() {
                let deletes = count(targets.len(), "delete", "deletes");
                report.data.extend_from_slice(format!("\nThe API server would accept the {deletes}.\n").as_bytes());
            }
        }
        if !refusals.is_empty() {
            report.notes.extend(refusals.iter().map(|refusal| format!("error: {}", refusal.words)));
            let is_judged =
                report.exit != Exit::Failed && refusals.iter().all(|refusal| refusal.cause == RefusalCause::Judgement);
            report.exit = if is_judged { Exit::BadNews } else { Exit::Failed };
        }
        Ok(report)
    }
}

/// What a server dry run says about the objects that follow, in sentences; nothing if there are none.
fn describe_tried(tried: &DependentsTried) -> Vec<String> {
    let DependentsTried { accepted, refusals, forbidden, untried } = tried;
    let mut described = Vec::new();
    if *accepted + refusals.len() > 0 {
        described.push(format!(
            "As you, the API server would also accept {} of {} that follow; it may answer others when the collector or \
             the namespace controller asks.",
            thousands(*accepted),
            count(*accepted + refusals.len(), "delete", "deletes")
        ));
    }
    if *forbidden > 0 {
        described.push(format!(
            "You may not delete {} that follow, so nothing was learnt about them.",
            count(*forbidden, "object", "objects")
        ));
    }
    if *untried > 0 {
        described.push(format!("{} that follow were not tried.", count(*untried, "delete", "deletes")));
    }
    described
}

fn archive(delete: &Delete) -> Option<&Path> {
    delete.archived.as_ref().map(Archiving::path)
}

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
    #[command(flatten)]
    pub open: OpenArgs,
}

/// The targets, and how long to follow the cascade; `None`: to the end.
///
/// # Errors
/// Invalid arguments, or a combination that can't work on any cluster.
fn check(global: &GlobalArgs, args: &DeleteArgs) -> Result<(TargetConfig, Option<Duration>), OperationError> {
    if !args.targets.any() {
        return usage("no TARGET: give TYPE/NAME, TYPE NAME, TYPE with -l or --all, or -f MANIFEST");
    }
    let timeout = time_of("--timeout", &args.timeout)?;
    if timeout.is_some() && !args.wait {
        return usage("--timeout sets how long to wait, and --wait=false means not to wait: use one of them");
    }
    Ok((global.targets(&args.targets.to_be_deleted(args.ignore_not_found))?, timeout))
}

/// How to delete.
///
/// # Errors
/// Contradictory flags.
pub(super) fn delete_config(args: &DeleteArgs) -> Result<DeleteConfig, OperationError> {
    let propagation = args.propagation.policy();
    Ok(DeleteConfig {
        propagation,
        hold: hold(args, propagation)?,
        grace: grace_period(&args.grace)?,
        assume: args.assumed.assume,
        keep: args.keep.keep.clone(),
        gates: args.gates.named(),
        dry_run: args.consent.dry_run != Mode::Apply,
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

/// The answer that archives first.
const ARCHIVE: &str = "a";
/// The same, if the name to type is equal to that answer.
const ARCHIVE_OTHERWISE: &str = "A";

/// The question about a plan. `namespace`: the namespace of the command; `archived`: an archive contains everything
/// that will be deleted.
fn question(snapshot: &Snapshot, plan: &Plan, consent: Consent, namespace: Option<&str>, archived: bool) -> Question {
    let place = place(snapshot, namespace);
    let objects = count(plan.going().len(), "object", "objects");
    let (word, why) = match consent {
        Consent::Yes => (None, String::new()),
        Consent::Number(number) => (Some(number.to_string()), String::new()),
        Consent::Name(object) => {
            let name = snapshot.name(object).to_owned();
            (Some(name), format!(" {}", at_stake(snapshot, &severe_objects(snapshot, plan))))
        }
    };
    let archive = (!archived).then(|| if word.as_deref() == Some(ARCHIVE) { ARCHIVE_OTHERWISE } else { ARCHIVE });
    let key = archive.map(|key| format!("{key}: archive first")).unwrap_or_default();
    let answers = match (&word, consent) {
        (None, _) if key.is_empty() => "[y/N]".to_owned(),
        (None, _) => format!("[y/N, {key}]"),
        (Some(word), Consent::Number(_)) => {
            format!("To confirm, type the number of objects: {word} ({})", or_stop(&key))
        }
        (Some(word), _) => format!("To confirm, type {word} ({})", or_stop(&key)),
    };
    Question { preface: format!("{place}{why}"), prompt: format!("Delete {objects}? {answers}"), word, archive }
}

fn or_stop(key: &str) -> String {
    if key.is_empty() { "anything else: stop".to_owned() } else { format!("{key}, anything else: stop") }
}

/// `Deletes Namespace/shop with everything in it, 5 PersistentVolumeClaims (may lose data).`: the most severe
/// first, objects of one kind and reason together.
fn at_stake(snapshot: &Snapshot, severe: &[(ConfirmationReason, ObjectId)]) -> String {
    let mut groups: BTreeMap<(ConfirmationReason, ResourceId), Vec<ObjectId>> = BTreeMap::new();
    for (reason, object) in severe {
        groups.entry((*reason, snapshot.object(*object).resource)).or_default().push(*object);
    }
    let describe = groups.into_iter().map(|((reason, resource), objects)| {
        let kind = plural(snapshot.resources.get(resource), objects.len());
        match objects.as_slice() {
            [one] => format!("{}{}", snapshot.short_name(*one), heavy(reason, true)),
            many => format!("{} {kind}{}", thousands(many.len()), heavy(reason, false)),
        }
    });
    format!("Deletes {}.", describe.collect::<Vec<_>>().join(", "))
}

/// The reason, to follow a name or a number of objects.
fn heavy(reason: ConfirmationReason, one: bool) -> &'static str {
    match (reason, one) {
        (ConfirmationReason::Namespace, true) => " with everything in it",
        (ConfirmationReason::Namespace, false) => " with everything in them",
        (ConfirmationReason::Definition, true) => " with every object of its kind",
        (ConfirmationReason::Definition, false) => " with every object of their kinds",
        (ConfirmationReason::Volume | ConfirmationReason::Claim, _) => " (may lose data)",
        (ConfirmationReason::Outside(kind), _) => match (kind, one) {
            (EffectKind::DataLost, _) => " (DATA LOSS)",
            (EffectKind::ExternalDeleted, true) => " (its resource outside the cluster is deleted)",
            (EffectKind::ExternalDeleted, false) => " (their resources outside the cluster are deleted)",
            (EffectKind::ObjectsDeleted, true) => " (also deletes objects that have no owner reference to it)",
            (EffectKind::ObjectsDeleted, false) => " (also deletes objects that have no owner reference to them)",
            (EffectKind::LoadBalancerReleased, true) => " (its load balancer is released)",
            (EffectKind::LoadBalancerReleased, false) => " (their load balancers are released)",
            (_, true) => " (the effect of its finalizers is not known)",
            (_, false) => " (the effect of their finalizers is not known)",
        },
    }
}

/// What a question says of a hold: `Held for 10m. …`
fn foretold(delete: &Delete, plan: &Plan) -> Option<String> {
    let config = delete.config.hold.as_ref()?;
    if config.time.as_secs() == 0 {
        return None;
    }
    let mut told = vec![format!("It is held for {}, and can be taken back until then.", duration(config.time))];
    let snapshot = &delete.session.snapshot;
    for target in &plan.request.targets {
        let resource = snapshot.resource(*target);
        let sentence = meanwhile(&resource.group, &resource.kind).to_owned();
        if !told.contains(&sentence) {
            told.push(sentence);
        }
    }
    Some(told.join(" "))
}

#[cfg(test)]
mod tests {
    use gc_cluster::dump;
    use gc_core::{
        graph::OwnerGraph,
        plan::explore,
        server::Propagation,
        simulate::{Assume, Request, SimContext},
    };

    use super::*;

    /// The question before deleting these objects of the example.
    fn asked(targets: &[&str], above: usize, archived: bool) -> String {
        asked_of("examples/shop.yaml", targets, above, archived)
    }

    fn asked_of(file: &str, targets: &[&str], above: usize, archived: bool) -> String {
        let file = format!("{}/{file}", env!("CARGO_MANIFEST_DIR"));
        let mut snapshot = dump::read(&[file], false).unwrap();
        snapshot.origin =
            gc_core::model::Origin::Cluster { context: "prod".to_owned(), server: "prod:6443".to_owned() };
        let id = |target: &&str| snapshot.objects().find(|(id, _)| snapshot.short_name(*id) == **target).unwrap().0;
        let targets = targets.iter().map(id).collect();
        let graph = OwnerGraph::new(&snapshot);
        let context = SimContext::new(&snapshot, &graph, Assume::Known);
        let plan = explore(&context, &Request::delete(targets, Propagation::Background));
        let consent = Consent::to(&snapshot, &plan, above);
        let question = question(&snapshot, &plan, consent, Some("shop"), archived);
        format!("{} {}", question.preface, question.prompt)
    }

    #[test]
    fn the_question_says_what_is_at_stake_and_what_to_type() {
        let place = "Context prod (prod:6443), namespace shop.";
        assert_eq!(asked(&["Service/web"], 9, false), format!("{place} Delete 2 objects? [y/N, a: archive first]"));
        assert_eq!(
            asked(&["Service/web"], 1, true),
            format!("{place} Delete 2 objects? To confirm, type the number of objects: 2 (anything else: stop)")
        );
        assert_eq!(
            asked(&["PersistentVolumeClaim/web-uploads"], 9, true),
            format!(
                "{place} Deletes PersistentVolumeClaim/web-uploads (may lose data). Delete 1 object? \
                 To confirm, type web-uploads (anything else: stop)"
            )
        );
        // What goes once the operator has removed its finalizer counts, too.
        let asked_later = asked_of("tests/cli/dumps/operator.yaml", &["PgCluster/orders"], 9, true);
        assert!(
            asked_later.contains(
                "Deletes 2 PersistentVolumeClaims (may lose data), PgCluster/orders (the effect of its \
                 finalizers is not known). Delete 8 objects?"
            ),
            "{asked_later}"
        );
        assert_eq!(
            asked(&["StatefulSet/db", "Namespace/elsewhere"], 9, false),
            format!(
                "{place} Deletes Namespace/elsewhere with everything in it, 2 PersistentVolumeClaims (may lose \
                 data). Delete 11 objects? To confirm, type elsewhere \
                 (a: archive first, anything else: stop)"
            )
        );
    }
}
