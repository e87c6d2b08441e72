//! One pass: predicts, shows, asks, carries out and reports.

use std::{collections::BTreeSet, io, time::Instant};

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::{
    cli::{
        args::GlobalArgs,
        follow::FollowReporter,
        output::{Printer, show_before},
        report::{Exit, Report, StdTerminal, heading},
    },
    operations::{
        OperationError,
        approve::{Approval, OnMissed, Policy, Question, View, approve},
        live::SweepResult,
        sweep::{SweepPass, SweepPlan, SweepRules},
    },
    render::{
        deletion::DeletionView,
        header::header,
        output::{Format, Output, TextOptions},
        picture::{Picture, PictureOptions},
        plan::PlanView,
    },
};
use gc_core::{
    model::{Identity, ObjectId},
    plan::Plan,
    simulate::State,
    wording::count,
};

use super::{SweepArgs, SweepConfig};

/// Runs one pass.
pub(super) fn pass(
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
pub(super) fn limited(limit: Option<&[ObjectId]>) -> String {
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
    names: Option<String>,
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

    fn other(&self, format: Format) -> Option<String> {
        self.names.clone().filter(|_| format == Format::Name)
    }
}

impl View<SweepPass> for PassReport<'_> {
    fn show(&mut self, pass: &SweepPass, plan: &SweepPlan, again: bool) -> Result<(), OperationError> {
        let again = if again { " The cluster has changed: this is the new plan." } else { "" };
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
        !self.args.output.unwrap_or_default().is_text()
    }

    fn printer(&self) -> Printer {
        Printer::of_plan(self.global, self.args.output, self.args.targets.all)
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
            names: view.other(Format::Name),
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
            pass.carry_out(plan, &order.load, &mut |event| progress.describe(&BTreeSet::new(), event));
        progress.end();
        let kubectl = self.global.connection.kubectl();
        let view = DeletionView {
            namespace: namespace.as_deref(),
            gaps: &pass.session.snapshot.gaps,
            server: pass.session.snapshot.resources.server(),
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
