//! `kubectl gc delete`

mod archived;
mod ask;
mod clear;
mod config;
mod doing;
mod fingerprint;

use std::{io::Write as _, time::Duration};

use crate::{
    act::{Answered, Sent},
    graph::OwnerGraph,
    model::{Coordinate, ObjectId, Presence, Snapshot, Symbol},
    operations::{Discovered, LiveSession, OperationError, ReadScope},
    plan::{Consent, Summary},
    render::{
        deletion::DeletionView,
        document,
        go_quote::visible,
        plan::{BriefView, PlanView},
        style::Style,
    },
    simulate::Request,
    wording::count,
};

pub use doing::FollowReporter;
pub use fingerprint::PlanFingerprint;

use self::{
    archived::{Archived, made_up},
    ask::{Answer, Question},
    config::DeleteConfig,
};
use super::{
    args::{DeleteArgs, DryRunArg, GlobalArgs, PlanFormat},
    colour,
    exit::Exit,
    plan::{in_form, text_options},
    predict::{PlanOptions, PlanResult, predict, refuse_orphaning_in_vain},
    report::{Report, describe_error, heading, print_data},
    tree::in_memory,
};

/// So often what goes may change before it is given up to delete it.
const ROUNDS: usize = 20;

/// Plans, shows, asks, deletes and follows.
pub fn run(global: &GlobalArgs, args: &DeleteArgs) -> Result<Report, OperationError> {
    let mut order = DeleteConfig::read(args)?;
    let archived =
        order.archive.as_deref().filter(|_| order.dry_run == DryRunArg::None).map(Archived::begin).transpose()?;
    // A command that was cut short may have deleted some of its targets already.
    order.targets.ignore_not_found |= archived.as_ref().is_some_and(Archived::resumed);
    let targets = global.targets(&order.targets)?;
    let discovered = Discovered::connect(&global.cluster()?)?;
    let asked = PlanOptions::of(&discovered.resources, &args.keep, &args.gates)?;
    let mut session = discovered.read(&targets, ReadScope::Everything)?;
    if order.dry_run == DryRunArg::None {
        // From the moment it was listed on, nothing that happens is missed.
        session.watch();
    }
    let targets = session.targets.clone().unwrap_or_default();
    let targets = targets.into_iter().map(|target| Target::of(&session.snapshot, target)).collect();
    Delete {
        global,
        args,
        order,
        session,
        asked,
        targets,
        archived,
        lost: 0,
        forgot: false,
        shown: None,
        agreed: args.consent.yes,
        notes: Vec::new(),
    }
    .run()
}

/// A delete on its way from being planned to its end.
struct Delete<'a> {
    global: &'a GlobalArgs,
    args: &'a DeleteArgs,
    order: DeleteConfig,
    session: LiveSession,
    asked: PlanOptions,
    /// What is to be deleted.
    targets: Vec<Target>,
    /// What has all that goes, if that is wanted.
    archived: Option<Archived>,
    /// How many of the places where something may have been missed were looked at.
    lost: usize,
    /// Whether what was known beyond metadata was forgotten, because it may be otherwise by now.
    forgot: bool,
    /// What was shown last.
    shown: Option<PlanFingerprint>,
    /// Whether what was shown last is to be done.
    agreed: bool,
    notes: Vec<String>,
}

/// What is to be deleted: this very object, whatever becomes of its number.
#[derive(Clone, Debug)]
struct Target {
    uid: Symbol,
    coordinate: Coordinate,
    name: String,
}

impl Target {
    fn of(snapshot: &Snapshot, object: ObjectId) -> Self {
        let found = snapshot.object(object);
        Target { uid: found.uid, coordinate: found.coordinate(), name: snapshot.short_name(object) }
    }
}

/// What the user has decided.
enum Decision {
    Do(Box<PlanResult>),
    /// It is over: this is what there is to say.
    Stop(Report),
}

impl Delete<'_> {
    fn run(mut self) -> Result<Report, OperationError> {
        match self.decide()? {
            Decision::Stop(mut report) => {
                report.notes.splice(..0, self.notes);
                Ok(report)
            }
            Decision::Do(result) => self.carry_out(&result),
        }
    }

    /// Plans, shows and asks, until what was agreed to is what would happen now.
    fn decide(&mut self) -> Result<Decision, OperationError> {
        let mut rounds = 0;
        loop {
            let targets = self.targets_now()?;
            if let Some(archived) = &self.archived {
                archived.check(&self.session.snapshot, &targets)?;
            }
            if targets.is_empty() {
                let mut report = self.nothing_there()?;
                if self.shown.is_some() {
                    // What was shown has not come to pass, and what has is anybody's guess.
                    report.notes.push(
                        "error: somebody else has deleted it since it was shown what would go; see what is left"
                            .to_owned(),
                    );
                    report.exit = Exit::Failed;
                }
                return Ok(Decision::Stop(report));
            }
            let request = Request { grace: self.order.grace, ..Request::delete(targets, self.order.propagation) };
            let result = predict(&mut self.session, &request, self.order.assume, &self.asked)?;
            self.notes
                .extend(result.notes.iter().filter(|note| !self.notes.contains(note)).cloned().collect::<Vec<_>>());
            if self.order.dry_run != DryRunArg::None {
                return self.try_out(&result).map(Decision::Stop);
            }
            let consent = Consent::to(&self.session.snapshot, &result.plan, self.args.confirm_above);
            let essence = PlanFingerprint::of(&self.session.snapshot, &result.plan, consent);
            if self.shown.as_ref() != Some(&essence) {
                self.show(&result)?;
                // Whoever said yes said it to something else.
                self.agreed = self.args.consent.yes;
                self.shown = Some(essence);
            }
            if !result.gate_violations.is_empty() {
                let mut report = Report { exit: Exit::BadNews, ..self.stopped("a gate is shut") };
                if self.args.output.is_some_and(|form| form != PlanFormat::Wide) {
                    report.data = self.describe(&result, self.args.output, "", &Style::new(false))?;
                }
                return Ok(Decision::Stop(report));
            }
            self.check(&result)?;
            let mut time_has_passed = rounds == 0;
            if !self.agreed {
                if !self.ask(&result, consent)? {
                    return Ok(Decision::Stop(Report { exit: Exit::Failed, ..self.stopped("that was no yes") }));
                }
                (self.agreed, time_has_passed) = (true, true);
                // Who knows how long that took.
                self.forgot = !self.session.snapshot.facts.is_empty();
                self.session.snapshot.facts.clear();
                if let Some(archived) = &mut self.archived {
                    archived.grow_stale();
                }
            }
            // What was forgotten decides what goes: it is read first.
            if let Some(archived) = self.archived.as_mut().filter(|_| !self.forgot) {
                time_has_passed |=
                    archived.complete(&self.session, &result.plan, &self.order, self.args.allow_incomplete)?;
            }
            rounds += 1;
            // Only where it took time: on a busy cluster there is always something new, and mostly it makes no
            // difference.
            if !(time_has_passed && self.catch_up()?) {
                return Ok(Decision::Do(Box::new(result)));
            }
            if rounds == ROUNDS {
                let why = format!(
                    "nothing was deleted: what goes has changed {ROUNDS} times while it was looked at; try again when it is quieter"
                );
                return Err(OperationError::Refusal(why));
            }
        }
    }

    /// Takes in what has happened meanwhile. Says whether anything is otherwise, or was forgotten and has to be read
    /// anew.
    ///
    /// # Errors
    /// Where something new may have been missed, unless that is allowed.
    fn catch_up(&mut self) -> Result<bool, OperationError> {
        let forgotten = std::mem::take(&mut self.forgot);
        let mut changed = self.session.catch_up();
        let all = self.session.lost();
        let lost = all.iter().skip(std::mem::replace(&mut self.lost, all.len()));
        for lost in lost {
            let resources = &self.session.snapshot.resources;
            let (picked, name) = (resources.picked(lost.resource), resources.get(lost.resource).full_name());
            let missed = format!("new {name} may have been missed since they were listed ({})", lost.reason);
            if !self.args.allow_incomplete {
                let why = format!("nothing was deleted: {missed}; try again, or give --allow-incomplete");
                return Err(OperationError::Refusal(why));
            }
            self.notes.push(format!("{missed}."));
            let objects = self.session.snapshot.objects();
            let objects: Vec<ObjectId> =
                objects.filter(|(_, object)| object.resource == picked).map(|(id, _)| id).collect();
            changed |= self.session.recheck(&objects);
        }
        Ok(changed || forgotten)
    }

    /// What is said where no target is there.
    fn nothing_there(&self) -> Result<Report, OperationError> {
        let nothing = "Nothing is deleted: no such object is there.";
        if self.args.output.is_none_or(|form| form == PlanFormat::Wide) {
            return Ok(Report::of(format!("{nothing}\n")));
        }
        let view = DeletionView {
            propagation: self.order.propagation,
            namespace: None,
            gaps: &self.session.snapshot.gaps,
            planned: Summary::default(),
            sent: &[],
            followed: None,
            took: Duration::ZERO,
            kept: &[],
            unfinished: &[],
            archive: self.archived.as_ref().map(|archived| archived.path.as_path()),
            kubectl: "",
            sweep: None,
        };
        let mut report = Report::of(self.in_form(&view)?);
        report.notes.push(nothing.to_owned());
        Ok(report)
    }

    /// What came of it, in the form that was asked for.
    fn in_form(&self, view: &DeletionView<'_>) -> Result<Vec<u8>, OperationError> {
        let mut out = Vec::new();
        match self.args.output {
            Some(PlanFormat::Json) => out = document::json(&view.document()).into_bytes(),
            Some(PlanFormat::Yaml) => out = document::yaml(&view.document()).into_bytes(),
            Some(PlanFormat::Name) => out = view.names().into_bytes(),
            None | Some(PlanFormat::Wide) => {
                // What was shown before stands above.
                out.push(b'\n');
                let style = Style::new(colour::wanted(self.global.color, &std::io::stdout()));
                view.write(&text_options(self.args.output, self.args.targets.all, &style), &mut out)
                    .map_err(in_memory)?;
            }
        }
        Ok(out)
    }

    /// Does it, and says what came of it.
    fn carry_out(mut self, result: &PlanResult) -> Result<Report, OperationError> {
        let plan = &result.plan;
        let namespace = self.session.namespace_of(&plan.request.targets);
        let kubectl = self.global.connection.kubectl();
        let done = doing::carry_out(&mut self.session, plan, &self.order, self.args.wait, &kubectl)?;
        self.notes.extend(done.unfinished.iter().cloned());
        let view = DeletionView {
            propagation: plan.request.propagation,
            namespace: namespace.as_deref(),
            gaps: &self.session.snapshot.gaps,
            planned: plan.summary,
            sent: &done.sent,
            followed: done.followed.as_ref(),
            took: done.took,
            kept: &done.kept,
            unfinished: &done.unfinished,
            archive: self.archived.as_ref().map(|archived| archived.path.as_path()),
            kubectl: &kubectl,
            sweep: None,
        };
        let out = self.in_form(&view)?;
        let exit = match () {
            () if view.failed() => Exit::Failed,
            () if view.bad_news() || !done.unfinished.is_empty() => Exit::BadNews,
            () => Exit::Fine,
        };
        let mut report = Report { exit, ..Report::of(out).with_gaps(&self.session.snapshot.gaps) };
        report.notes.splice(..0, self.notes);
        Ok(report)
    }

    /// The targets that are there; ids change while the world goes on.
    ///
    /// # Errors
    /// Where another object has taken the name of one: nobody has agreed to delete that.
    fn targets_now(&mut self) -> Result<Vec<ObjectId>, OperationError> {
        let snapshot = &self.session.snapshot;
        let (there, gone): (Vec<Target>, Vec<Target>) =
            self.targets.iter().cloned().partition(|target| snapshot.by_uid(target.uid).is_some());
        for target in gone {
            if let Presence::Present(_) = snapshot.look_up(target.coordinate) {
                let why = format!(
                    "nothing was deleted: {} was replaced meanwhile by another object of its name",
                    target.name
                );
                return Err(OperationError::Refusal(why));
            }
            self.notes.push(format!("{} is gone already.", target.name));
        }
        let found = there.iter().filter_map(|target| snapshot.by_uid(target.uid)).collect();
        self.targets = there;
        Ok(found)
    }

    /// Shows the plan, where text is wanted, or where somebody is to be asked about it.
    fn show(&self, result: &PlanResult) -> Result<(), OperationError> {
        let document = self.args.output.is_some_and(|form| form != PlanFormat::Wide);
        if document && self.args.consent.yes {
            return Ok(());
        }
        let again = if self.shown.is_some() { " It has changed meanwhile: this is what would happen now." } else { "" };
        let to_stdout = !document;
        let style = Style::new(if to_stdout { colour::wanted(self.global.color, &std::io::stdout()) } else { false });
        let text = self.describe(
            result,
            Some(PlanFormat::Wide).filter(|wide| self.args.output == Some(*wide)),
            again,
            &style,
        )?;
        if to_stdout {
            print_data(&text).map_err(OperationError::Print)
        } else {
            std::io::stderr().write_all(&text).map_err(OperationError::Print)
        }
    }

    /// The plan in one of its forms.
    fn describe(
        &self,
        result: &PlanResult,
        form: Option<PlanFormat>,
        more: &str,
        style: &Style,
    ) -> Result<Vec<u8>, OperationError> {
        let snapshot = &self.session.snapshot;
        let PlanResult { plan, instead, unlisted_contents, gate_violations, kept, notes: _ } = result;
        let namespace = self.session.namespace_of(&plan.request.targets);
        let graph = OwnerGraph::new(snapshot);
        let view = PlanView::new(snapshot, &graph, plan, instead, namespace.as_deref())
            .with_unlisted_contents(unlisted_contents)
            .with_gates(gate_violations)
            .with_kept(kept.as_ref());
        let options = text_options(form, self.args.targets.all, style);
        in_form(form, &BriefView::new(view), &options, || heading(snapshot, namespace.as_deref(), &[], more))
    }

    /// What would happen, and whether it could be done.
    fn try_out(&mut self, result: &PlanResult) -> Result<Report, OperationError> {
        let style = Style::new(colour::wanted(self.global.color, &std::io::stdout()));
        let mut report = Report::of(self.describe(result, self.args.output, " Nothing was changed.", &style)?)
            .with_gaps(&self.session.snapshot.gaps);
        if result.plan.stuck() || !result.gate_violations.is_empty() {
            report.exit = Exit::BadNews;
        }
        let mut refusals: Vec<String> =
            self.check(result).err().map(|refusal| describe_error(&refusal)).into_iter().collect();
        if self.order.dry_run == DryRunArg::Server {
            refusals.extend(self.judged(&result.plan.request.targets));
            if refusals.is_empty() && self.args.output.is_none_or(|form| form == PlanFormat::Wide) {
                let targets = count(result.plan.request.targets.len(), "delete", "deletes");
                report.data.extend_from_slice(format!("\nThe API server would accept the {targets}.\n").as_bytes());
            }
        }
        if !refusals.is_empty() {
            report.notes.extend(refusals.iter().map(|refusal| format!("error: {refusal}")));
            report.exit = Exit::Failed;
        }
        report.notes.splice(..0, std::mem::take(&mut self.notes));
        Ok(report)
    }

    /// What the API server has against the deletes, each of which it goes through without doing it.
    fn judged(&mut self, targets: &[ObjectId]) -> Vec<String> {
        let deletion = self.order.deletion(true);
        let sent = targets
            .iter()
            .flat_map(|target| self.session.delete(&[*target], &deletion, &mut |_| ()))
            .collect::<Vec<_>>();
        let against = |sent: &Sent| match &sent.answered {
            Answered::Removed | Answered::Accepted | Answered::GoneBefore | Answered::Replaced | Answered::NotSent => {
                None
            }
            Answered::Refused { reason } => {
                Some(format!("the API server refuses to delete {}: {reason}", sent.target.short_name()))
            }
            Answered::Unsure { reason } | Answered::Failed { reason } => {
                Some(format!("whether the API server would delete {} is not known: {reason}", sent.target.short_name()))
            }
        };
        sent.iter().filter_map(against).collect()
    }

    /// # Errors
    /// Where it can't be done: something is not known that has to be, or not allowed.
    fn check(&mut self, result: &PlanResult) -> Result<(), OperationError> {
        let snapshot = &self.session.snapshot;
        refuse_orphaning_in_vain(snapshot, &result.plan)?;
        clear::complete(snapshot, &result.plan, self.args.allow_incomplete)?;
        let wanted = clear::requests(snapshot, &result.plan.request);
        self.notes.extend(clear::allowed(&self.session, &wanted)?);
        Ok(())
    }

    /// Asks, and archives first where that is the answer.
    fn ask(&mut self, result: &PlanResult, consent: Consent) -> Result<bool, OperationError> {
        let snapshot = &self.session.snapshot;
        let namespace = self.session.namespace_of(&result.plan.request.targets);
        let question = Question::about(snapshot, &result.plan, consent, namespace.as_deref(), self.archived.is_some());
        match question.ask()? {
            Answer::Yes => Ok(true),
            Answer::No => Ok(false),
            Answer::Archive => {
                let path = made_up(&self.session.snapshot, &result.plan);
                let mut archived = Archived::begin(&path)?;
                archived.complete(&self.session, &result.plan, &self.order, self.args.allow_incomplete)?;
                for line in archived.describe() {
                    // Nobody is left to tell when standard error is closed.
                    let _ = writeln!(std::io::stderr(), "{}", visible(&line));
                }
                self.archived = Some(archived);
                self.ask(result, consent)
            }
        }
    }

    /// What is said where nothing was done.
    fn stopped(&self, why: &str) -> Report {
        let mut report = Report::of(Vec::new()).with_gaps(&self.session.snapshot.gaps);
        report.notes.push(format!("Nothing was deleted: {why}."));
        report
    }
}
