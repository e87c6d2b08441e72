//! Deletes that wait, or were taken back: as text and as a document.

use std::io::{self, Write};

use serde::Serialize;

use crate::operations::hold::{HoldOutcome, HoldResult};
use gc_core::{
    command_line::{Kubectl, ShellCommand},
    document::Head,
    model::{Gap, Resources},
    wording::count,
};

use super::{
    lines,
    output::{Output, TextOptions},
    sections::{Heading, Said, Sections},
    states::Headline,
};

/// Holds, and what came of them.
#[derive(Clone, Copy, Debug)]
pub struct HoldView<'a> {
    pub results: &'a [HoldResult],
    pub gaps: &'a [Gap],
    pub resources: &'a Resources,
    /// How to call kubectl for this cluster.
    pub kubectl: &'a Kubectl,
}

#[derive(Clone, Debug, Serialize)]
struct HoldDocument<'a> {
    #[serde(flatten)]
    head: Head,
    objects: &'a [HoldResult],
}

impl Output for HoldView<'_> {
    fn document(&self) -> impl Serialize {
        HoldDocument { head: Head::new("Hold", self.gaps, self.resources.server()), objects: self.results }
    }

    fn write(&self, options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
        self.write_verdict(options, out)?;
        let mut sections = Sections::default();
        let is_held = self.results.iter().any(|result| matches!(result.outcome, HoldOutcome::Held { .. }));
        sections.add(Heading::Note, is_held.then_some("what is held is Terminating, and stays until it is let go"));
        sections.add(Heading::Note, self.results.iter().flat_map(|result| result.notes.iter().cloned()));
        for (what, command) in self.commands() {
            sections.add(Heading::Next, [Said::from(what), Said::command(command)]);
        }
        sections.write_below(options, out)
    }

    fn write_verdict(&self, options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
        self.results.iter().try_for_each(|result| {
            let (headline, sentence) = verdict(result);
            lines::write_sentence(headline.word(), headline.tone(), &sentence, options, out)
        })
    }
}

impl HoldView<'_> {
    /// What is left to decide or to do, and the commands for that.
    fn commands(&self) -> Vec<(String, ShellCommand)> {
        let mut commands = Vec::new();
        for one in self.results {
            let it = if self.results.len() == 1 { "it".to_owned() } else { one.object.placed() };
            let cancel = || {
                let flags = [(one.use_existing, "--use-existing"), (!self.gaps.is_empty(), "--allow-incomplete")];
                let flags = flags.into_iter().filter(|(is_needed, _)| *is_needed).map(|(_, flag)| flag);
                Some(self.kubectl.plugin("cancel").naming(self.resources, &one.object)?.args(flags))
            };
            let mut add = |what: String, command: Option<ShellCommand>| {
                commands.extend(command.map(|command| (what, command)));
            };
            match one.outcome {
                HoldOutcome::Held { .. } => {
                    let delete = self.kubectl.plugin("delete").naming(self.resources, &one.object);
                    add(format!("delete {it} now:"), delete.map(|delete| delete.arg("--hold=0s")));
                    // With gaps, it goes on in spite of them, as the hold did.
                    add(format!("or take {it} back:"), cancel());
                }
                HoldOutcome::Failed if one.use_existing => {
                    add(format!("give the dependents of {it} to the one that has its name now:"), cancel());
                }
                HoldOutcome::Failed => add(format!("take {it} back again:"), cancel()),
                _ => {}
            }
        }
        commands
    }
}

/// What came of one: the word, and a sentence.
fn verdict(result: &HoldResult) -> (Headline, String) {
    let name = result.object.placed();
    let below = count(result.dependents, "dependent", "dependents");
    match &result.outcome {
        HoldOutcome::Held { until } => {
            let with = match result.dependents {
                0 => String::new(),
                1 => ", with its dependent".to_owned(),
                many => format!(", with its {many} dependents"),
            };
            (Headline::Waits, format!("{name} is held until {until}{with}."))
        }
        HoldOutcome::TakenBack => {
            let back = match result.dependents {
                0 => String::new(),
                1 => "; its dependent has a reference to it again".to_owned(),
                many => format!("; its {many} dependents have references to it again"),
            };
            (Headline::Done, format!("{name} is back, with a new uid{back}."))
        }
        HoldOutcome::WouldBeTakenBack => {
            (Headline::Creates, format!("{name} again, with a new uid; {below} would get references to it."))
        }
        HoldOutcome::NotDeleted => (Headline::Ok, format!("{name} had not been deleted yet: it is as it was.")),
        HoldOutcome::GoneOn => {
            (Headline::NotDone, format!("the delete of {name} has gone on: it can no longer be taken back."))
        }
        HoldOutcome::DeletedAgain => {
            (Headline::NotDone, format!("{name} was deleted again since: nothing is left to take back."))
        }
        HoldOutcome::ByOthers => {
            (Headline::Unexpected, format!("the delete of {name} was taken back by another client."))
        }
        HoldOutcome::Failed => {
            let because = result.because.as_deref().unwrap_or_default();
            (Headline::NotDone, format!("{name} is not taken back yet: {because}."))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operations::hold::HoldSecret;
    use crate::render::testing::{plain, shown};
    use gc_cluster::act::HoldFailure;
    use gc_core::{
        command_line::PLAIN,
        model::{Identity, Resource},
    };

    fn result(outcome: HoldOutcome, dependents: usize) -> HoldResult {
        let object = Identity {
            api_version: "apps/v1".to_owned(),
            kind: "Deployment".to_owned(),
            namespace: "shop".to_owned(),
            name: "web".to_owned(),
            uid: "u-1".to_owned(),
        };
        let secret = HoldSecret { namespace: "shop".to_owned(), name: "kubectl-gc-hold-u-1".to_owned() };
        let because = (outcome == HoldOutcome::Failed).then(|| HoldFailure::Unstable.to_string());
        HoldResult { because, ..HoldResult::new(object, outcome, secret, dependents) }
    }

    fn text_of(results: &[HoldResult], gaps: &[Gap]) -> String {
        let served = Resources::new(vec![Resource::named("apps", "v1", "deployments", "Deployment")], Vec::new());
        shown(&HoldView { results, gaps, resources: &served, kubectl: &PLAIN }, &plain(None))
    }

    fn text(results: &[HoldResult]) -> String {
        text_of(results, &[])
    }

    #[test]
    fn what_waits_comes_with_both_commands() {
        let until = "2026-01-02T03:04:05Z".to_owned();
        assert_eq!(
            text(&[result(HoldOutcome::Held { until: until.clone() }, 1)]),
            "WAITS: Deployment/web -n shop is held until 2026-01-02T03:04:05Z, with its dependent.\n\n\
             Note  what is held is Terminating, and stays until it is let go\n\
             Next  delete it now:\n          kubectl gc delete deployments.apps/web -n shop --hold=0s\n      \
             or take it back:\n          kubectl gc cancel deployments.apps/web -n shop\n"
        );
        let two = [result(HoldOutcome::Held { until: until.clone() }, 0), result(HoldOutcome::Held { until }, 2)];
        assert!(text(&two).contains("Next  delete Deployment/web -n shop now:\n"), "each by its name");
        assert_eq!(
            text(&[result(HoldOutcome::TakenBack, 2)]),
            "DONE: Deployment/web -n shop is back, with a new uid; its 2 dependents have references to it again.\n"
        );
        let gap = Gap { resource: "widgets.acme.io".to_owned(), namespace: None, reason: "forbidden".into() };
        let text_with_gap = text_of(&[result(HoldOutcome::Failed, 2)], &[gap]);
        assert!(text_with_gap.contains("gc cancel deployments.apps/web -n shop --allow-incomplete\n"));
        let failed = result(HoldOutcome::Failed, 2);
        let again = "Next  take it back again:\n          kubectl gc cancel deployments.apps/web -n shop\n";
        assert!(text(std::slice::from_ref(&failed)).ends_with(again));
        let with_that = "its name now:\n          kubectl gc cancel deployments.apps/web -n shop --use-existing\n";
        assert!(text(&[HoldResult { use_existing: true, ..failed }]).ends_with(with_that));
    }
}
