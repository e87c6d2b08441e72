//! One pass: it is foretold, shown, asked about, done and told.

use std::{io::Write as _, time::Instant};

use serde_json::{Value, json};

use crate::{
    act::Settings,
    collector::live::Limit,
    model::{Identity, ObjectId},
    operations::{Discovered, LiveSession, OperationError, ReadScope, live::SweepSettings},
    plan::{Consent, Incomplete, Plan, PlanTracker},
    render::{
        deletion::DeletionView,
        document,
        go_quote::visible,
        header::header,
        plan::{PlanReport as _, PlanView, SweepView},
        style::Style,
    },
    server::Propagation,
    simulate::State,
    wording::{count, named},
};

use super::{
    super::{
        args::{GlobalArgs, PlanFormat, SweepArgs},
        colour,
        delete::{FollowReporter, PlanFingerprint},
        exit::Exit,
        plan::{in_form, text_options},
        prompt::{self, can_ask, is_yes},
        report::{Report, heading, print_data},
        tree::in_memory,
    },
    SweepConfig,
    predict::{graph_of, limit, limited, predict, request},
    scope,
};

/// So often what is to be done may change before it is given up.
const ROUNDS: usize = 20;

/// Sweeps once.
pub fn pass(global: &GlobalArgs, args: &SweepArgs, order: &SweepConfig) -> Result<Report, OperationError> {
    let targets = global.targets(&scope(global, &args.targets))?;
    let mut session = Discovered::connect(&global.cluster()?)?.read(&targets, ReadScope::Everything)?;
    if args.trust_missing_apis {
        session.trust_missing_apis();
    }
    // From the moment it was listed on, nothing that happens is missed.
    session.watch();
    let targets = session.targets.take();
    let targets =
        targets.map(|targets| targets.iter().map(|target| Identity::of(&session.snapshot, *target).uid).collect());
    Pass { global, args, order, session, targets, shown: None, agreed: args.yes }.run()
}

/// A pass on its way from being foretold to its end.
struct Pass<'a> {
    global: &'a GlobalArgs,
    args: &'a SweepArgs,
    order: &'a SweepConfig,
    session: LiveSession,
    /// The uids that the pass is limited to, if targets were named: numbers change with every look.
    targets: Option<Vec<String>>,
    shown: Option<PlanFingerprint>,
    agreed: bool,
}

impl Pass<'_> {
    fn run(mut self) -> Result<Report, OperationError> {
        for _ in 0..ROUNDS {
            self.session.targets = self.targets_now();
            let limit = limit(&self.session);
            let plan = predict(
                &mut self.session,
                &request(limit.as_deref()),
                self.args.assume.assume(),
                self.args.trust_missing_apis,
            );
            self.refuse_what_is_not_clear(&plan)?;
            let essence = PlanFingerprint::of(&self.session.snapshot, &plan, Consent::Yes);
            let mut time_has_passed = self.shown.is_none();
            if self.shown.as_ref() != Some(&essence) {
                self.show(&plan, limit.as_deref())?;
                // Whoever said yes said it to something else.
                self.agreed = self.args.yes;
                self.shown = Some(essence);
            }
            if plan.outcomes.is_empty() {
                return self.nothing_to_do(&plan);
            }
            if !self.agreed {
                if !self.ask(&plan)? {
                    let mut report =
                        Report { exit: Exit::Failed, ..Report::of(Vec::new()).with_gaps(&self.session.snapshot.gaps) };
                    report.notes.push("Nothing was changed: that was no yes.".to_owned());
                    return Ok(report);
                }
                (self.agreed, time_has_passed) = (true, true);
                // Who knows how long that took.
                self.session.snapshot.facts.clear();
            }
            if !(time_has_passed && self.session.catch_up()) {
                return self.carry_out(&plan, limit.as_deref());
            }
        }
        let why = format!(
            "nothing was changed: what is to be done has changed {ROUNDS} times while it was looked at; try again, or use --watch"
        );
        Err(OperationError::Refusal(why))
    }

    /// The objects that the pass is limited to, as far as they are there.
    fn targets_now(&self) -> Option<Vec<ObjectId>> {
        let snapshot = &self.session.snapshot;
        let targets = self.targets.as_ref()?.iter();
        Some(targets.filter_map(|uid| snapshot.by_uid(snapshot.strings.find(uid)?)).collect())
    }

    /// # Errors
    /// Where dependents that nobody has seen may be lost: who frees an owner of them, or lets it go, would leave them
    /// to be collected.
    fn refuse_what_is_not_clear(&self, plan: &Plan) -> Result<(), OperationError> {
        let missing = Incomplete::of(&self.session.snapshot, plan);
        if missing.unseen.is_empty() || plan.outcomes.is_empty() {
            return Ok(());
        }
        let unseen: Vec<String> = missing.unseen.iter().map(ToString::to_string).collect();
        let why = format!(
            "nothing was changed: dependents of what is to be swept may be among what could not be read: {}. See that it can be read, \
             or limit the sweep to what has nothing to do with it (-n, TARGET)",
            named(&unseen)
        );
        Err(OperationError::Refusal(why))
    }

    fn show(&self, plan: &Plan, limit: Option<&[ObjectId]>) -> Result<(), OperationError> {
        let document = self.args.output.is_some_and(|form| form != PlanFormat::Wide);
        if document && self.args.yes {
            return Ok(());
        }
        let again =
            if self.shown.is_some() { " It has changed meanwhile: this is what would be done now." } else { "" };
        let style = Style::new(if document { false } else { colour::wanted(self.global.color, &std::io::stdout()) });
        let namespace = self.namespace();
        let snapshot = &self.session.snapshot;
        let graph = graph_of(snapshot, self.args.trust_missing_apis);
        let view = SweepView(PlanView::new(snapshot, &graph, plan, &[], namespace.as_deref()));
        let form = self.args.output.filter(|form| *form == PlanFormat::Wide);
        let options = text_options(form, self.args.targets.all, &style);
        let text = in_form(form, &view, &options, || {
            heading(snapshot, namespace.as_deref(), &[], &format!("{}{again}", limited(limit)))
        })?;
        let printed = if document { std::io::stderr().write_all(&text) } else { print_data(&text) };
        printed.map_err(OperationError::Print)
    }

    fn namespace(&self) -> Option<String> {
        match &self.session.targets {
            Some(targets) => self.session.namespace_of(targets),
            None => self.session.namespace.clone(),
        }
    }

    /// # Errors
    /// Where there is no terminal to ask on: nobody is taken to have agreed.
    fn ask(&self, plan: &Plan) -> Result<bool, OperationError> {
        if !can_ask() {
            let why =
                "nothing was changed: there is no terminal to ask on; give --yes if it is to be done without asking";
            return Err(OperationError::Refusal(why.to_owned()));
        }
        let place = visible(&header(&self.session.snapshot, self.namespace().as_deref(), &[])).into_owned();
        // Nobody is left to tell when standard error is closed.
        let _ = writeln!(std::io::stderr(), "\n{place}");
        Ok(is_yes(&prompt::line(&format!("Sweep {}? [y/N]", count(plan.outcomes.len(), "object", "objects")))))
    }

    fn nothing_to_do(&self, plan: &Plan) -> Result<Report, OperationError> {
        let mut report = Report::of(Vec::new()).with_gaps(&self.session.snapshot.gaps);
        if self.args.output.is_some_and(|form| form != PlanFormat::Wide) {
            report.data = self.describe(self.document(plan), None);
        }
        if stays_stuck(plan) {
            report.exit = Exit::BadNews;
        }
        Ok(report)
    }

    /// Does it, and says what came of it.
    fn carry_out(mut self, plan: &Plan, limit: Option<&[ObjectId]>) -> Result<Report, OperationError> {
        let begun = Instant::now();
        let document = self.document(plan);
        let mut course = PlanTracker::new(&self.session.snapshot, plan);
        let settings = Settings {
            workers: self.order.workers,
            trust_missing_apis: self.args.trust_missing_apis,
            limit: match (&self.targets, self.session.namespace.clone()) {
                (Some(targets), _) => Limit::Uids(targets.iter().cloned().collect()),
                (None, Some(namespace)) => Limit::Namespace(namespace),
                (None, None) => Limit::None,
            },
        };
        if let Some(limit) = limit {
            course = course.limited_to(limit.iter().map(|id| Identity::of(&self.session.snapshot, *id).uid).collect());
        }
        if !self.args.trust_missing_apis {
            course = course.doubting_missing_apis();
        }
        let sweeping = SweepSettings {
            settings,
            rate: (self.order.qps, self.order.burst),
            assume: self.args.assume.assume(),
            timeout: self.order.timeout,
        };
        self.session.hear_interrupts();
        let mut telling = FollowReporter::new(begun);
        let swept = self.session.sweep(course, sweeping, &mut |event| telling.describe(event));
        telling.end();
        let namespace = self.namespace();
        let kubectl = self.global.connection.kubectl();
        let view = DeletionView {
            propagation: Propagation::Background,
            namespace: namespace.as_deref(),
            gaps: &self.session.snapshot.gaps,
            planned: plan.summary,
            sent: &[],
            followed: Some(&swept.followed),
            took: begun.elapsed(),
            kept: &[],
            unfinished: &[],
            archive: None,
            kubectl: &kubectl,
            sweep: Some(&swept.failing),
        };
        let out = match self.args.output {
            None | Some(PlanFormat::Wide) => {
                // What was shown before stands above.
                let mut out = vec![b'\n'];
                let style = Style::new(colour::wanted(self.global.color, &std::io::stdout()));
                view.write(&text_options(self.args.output, self.args.targets.all, &style), &mut out)
                    .map_err(in_memory)?;
                out
            }
            Some(_) => self.describe(document, Some(serde_json::to_value(view.came()).unwrap_or_default())),
        };
        let exit = match () {
            () if view.failed() => Exit::Failed,
            () if view.bad_news() || stays_stuck(plan) => Exit::BadNews,
            () => Exit::Fine,
        };
        Ok(Report { exit, ..Report::of(out).with_gaps(&self.session.snapshot.gaps) })
    }

    /// The document of what was foretold, or the names in it.
    fn document(&self, plan: &Plan) -> (Value, String) {
        let snapshot = &self.session.snapshot;
        let graph = graph_of(snapshot, self.args.trust_missing_apis);
        let namespace = self.namespace();
        let view = SweepView(PlanView::new(snapshot, &graph, plan, &[], namespace.as_deref()));
        (serde_json::to_value(view.document()).unwrap_or_default(), view.names())
    }

    /// The document with what came of it, in the form that was asked for.
    fn describe(&self, (mut document, names): (Value, String), came: Option<Value>) -> Vec<u8> {
        document["came"] = came.unwrap_or_else(
            || json!({"ended": "NothingToDo", "took": 0.0, "otherwise": [], "blockers": [], "besides": [], "failed": []}),
        );
        match self.args.output {
            Some(PlanFormat::Yaml) => document::yaml(&document).into_bytes(),
            Some(PlanFormat::Name) => names.into_bytes(),
            _ => document::json(&document).into_bytes(),
        }
    }
}

/// Whether something that the pass takes up can't be finished by anybody.
fn stays_stuck(plan: &Plan) -> bool {
    plan.outcomes.iter().chain(&plan.stays).any(|outcome| outcome.state == Some(State::Stuck))
}
