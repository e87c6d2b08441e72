//! `kubectl gc delete`

mod ask;
mod config;
mod hold;

use std::{
    collections::BTreeSet,
    path::Path,
    time::{Duration, Instant},
};

use crate::{
    operations::{
        OperationError,
        approve::{Approval, OnMissed, Policy, Proposal as _, Question, Terminal as _, View, approve},
        archive::Archiving,
        delete::{CarryOut, Delete, DeleteConfig, DeletePlan, DependentsTried, HeldTarget, Objection},
        predict::PlanResult,
        signals::SystemClock,
        unread::AllowIncomplete,
    },
    render::{
        deletion::DeletionView,
        plan::{PlanView, VerdictJson},
    },
};
use gc_cluster::act::{FollowEvent, RefusalCause};
use gc_core::{
    graph::OwnerGraph,
    plan::Incomplete,
    wording::{count, thousands},
};

use super::{
    args::{DryRunArg, GlobalArgs},
    delete::{
        ask::{foretold, question},
        config::Checked,
    },
    follow::FollowReporter,
    output::{Printer, show_before, view_of},
    report::{Exit, Report, StdTerminal, describe_error, heading},
};

pub(super) use config::{DeleteArgs, delete_config};

/// Shows the plan, asks, deletes, and follows the cascade.
pub(super) fn run(global: &GlobalArgs, args: &DeleteArgs) -> Result<Report, OperationError> {
    let Checked { cluster, targets, delete, timeout } = config::check(global, args)?;
    let delete = DeleteConfig { asks: !args.consent.yes && StdTerminal.can_ask(), ..delete };
    let mut delete = Delete::open(&cluster, &targets, delete)?;
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
            let mut observer = |noted: &BTreeSet<String>, event| progress.describe(noted, event);
            let report = approved.carry_out(global, args, timeout, &mut observer);
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
    /// Deletes, follows the cascade, and reports the result. `observer` also gets the resources of whose lost watches a
    /// note tells.
    pub(super) fn carry_out(
        self,
        global: &GlobalArgs,
        args: &DeleteArgs,
        timeout: Option<Duration>,
        observer: &mut dyn FnMut(&BTreeSet<String>, FollowEvent),
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
    fn show(&mut self, delete: &Delete, plan: &DeletePlan, again: bool) -> Result<(), OperationError> {
        let again = if again { " The cluster has changed: this is the new plan." } else { "" };
        let print = |printer: &Printer| self.describe(delete, &plan.result, printer, again);
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
        !self.args.output.unwrap_or_default().is_text()
    }

    fn printer(&self) -> Printer {
        Printer::of_plan(self.global, self.args.output, self.args.targets.all)
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
            server: delete.session.snapshot.resources.server(),
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
        observer: &mut dyn FnMut(&BTreeSet<String>, FollowEvent),
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
        // The approval has noted these.
        let noted: BTreeSet<String> =
            delete.session.lost().iter().map(|lost| resources.get(lost.resource).full_name()).collect();
        let done = delete.carry_out(plan, &how, &mut |event| observer(&noted, event))?;
        notes.extend(done.unfinished.iter().cloned());
        let prevented = plan.obstacles.iter().map(|obstacle| obstacle.prevents.len()).sum();
        let view = DeletionView {
            propagation: plan.request.propagation,
            namespace: namespace.as_deref(),
            gaps: &delete.session.snapshot.gaps,
            server: delete.session.snapshot.resources.server(),
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
        if self.args.consent.dry_run == DryRunArg::Server {
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
