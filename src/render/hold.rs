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
    escape::visible,
    output::{Output, TextOptions},
    words::wrapped,
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
        let width = options.width.unwrap_or(usize::MAX);
        for result in self.results {
            for line in wrapped(&visible(&sentence(result)), width) {
                writeln!(out, "{line}")?;
            }
            for note in &result.notes {
                writeln!(out, "  {}", visible(note))?;
            }
        }
        for (what, command) in self.commands() {
            writeln!(out, "{what}: {command}")?;
        }
        Ok(())
    }
}

impl HoldView<'_> {
    /// The commands for what is left to decide or to do.
    fn commands(&self) -> Vec<(&'static str, ShellCommand)> {
        let of = |wanted: fn(&HoldOutcome) -> bool| self.results.iter().filter(move |result| wanted(&result.outcome));
        let cancel = |one: &HoldResult| cancel_command(self, one);
        let mut commands = Vec::new();
        for one in of(|outcome| matches!(outcome, HoldOutcome::Held { .. })) {
            commands.extend(let_go_command(self, one).map(|command| ("Delete it now", command)));
            commands.extend(cancel(one).map(|command| ("Take it back", command)));
        }
        for one in of(|outcome| matches!(outcome, HoldOutcome::Failed)) {
            let what = if one.use_existing { "Give its dependents to that one" } else { "Run this again" };
            commands.extend(cancel(one).map(|command| (what, command)));
        }
        commands
    }
}

/// The command that lets a held object go.
pub fn let_go_command(view: &HoldView<'_>, held: &HoldResult) -> Option<ShellCommand> {
    Some(view.kubectl.plugin("delete").about(view.resources, &held.object)?.arg("--hold=0s"))
}

/// The command that takes a delete back; with gaps, it goes on in spite of them, as the hold did.
pub fn cancel_command(view: &HoldView<'_>, held: &HoldResult) -> Option<ShellCommand> {
    let flags = [(held.use_existing, "--use-existing"), (!view.gaps.is_empty(), "--allow-incomplete")];
    let flags = flags.into_iter().filter(|(is_needed, _)| *is_needed).map(|(_, flag)| flag.to_owned());
    Some(view.kubectl.plugin("cancel").about(view.resources, &held.object)?.args(flags))
}

/// What came of one, in a sentence.
fn sentence(result: &HoldResult) -> String {
    let name = result.object.placed();
    let below = count(result.dependents, "dependent", "dependents");
    match &result.outcome {
        HoldOutcome::Held { until } => format!(
            "{name} is held until {until}: it is Terminating, and {} until it is let go.",
            match result.dependents {
                0 => "stays".to_owned(),
                1 => "it and its dependent stay".to_owned(),
                many => format!("it and its {many} dependents stay"),
            }
        ),
        HoldOutcome::TakenBack => match result.dependents {
            0 => format!("{name} is back, with a new uid."),
            1 => format!("{name} is back, with a new uid; its dependent has a reference to it again."),
            many => format!("{name} is back, with a new uid; its {many} dependents have references to it again."),
        },
        HoldOutcome::WouldBeTakenBack => {
            format!("{name} would be created again, with a new uid, and {below} would get references to it.")
        }
        HoldOutcome::NotDeleted => format!("{name} had not been deleted yet: it is as it was."),
        HoldOutcome::GoneOn => format!("The delete of {name} has gone on: it can no longer be taken back."),
        HoldOutcome::DeletedAgain => {
            format!("{name} had been taken back, and was deleted again since: nothing is left to take back.")
        }
        HoldOutcome::ByOthers => format!("The delete of {name} was taken back by another client."),
        HoldOutcome::Failed => {
            format!("{name} is not taken back yet: {}.", result.because.as_deref().unwrap_or_default())
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
            text(&[result(HoldOutcome::Held { until }, 1)]),
            "Deployment/web -n shop is held until 2026-01-02T03:04:05Z: it is Terminating, and it and its \
             dependent stay until it is let go.\n\
             Delete it now: kubectl gc delete deployments.apps/web -n shop --hold=0s\n\
             Take it back: kubectl gc cancel deployments.apps/web -n shop\n"
        );
        assert_eq!(
            text(&[result(HoldOutcome::TakenBack, 2)]),
            "Deployment/web -n shop is back, with a new uid; its 2 dependents have references to it again.\n"
        );
        let gap = Gap { resource: "widgets.acme.io".to_owned(), namespace: None, reason: "forbidden".into() };
        let text_with_gap = text_of(&[result(HoldOutcome::Failed, 2)], &[gap]);
        assert!(text_with_gap.contains("gc cancel deployments.apps/web -n shop --allow-incomplete\n"));
        let failed = result(HoldOutcome::Failed, 2);
        let again = "Run this again: kubectl gc cancel deployments.apps/web -n shop\n";
        assert!(text(std::slice::from_ref(&failed)).ends_with(again));
        let with_that = "dependents to that one: kubectl gc cancel deployments.apps/web -n shop --use-existing\n";
        assert!(text(&[HoldResult { use_existing: true, ..failed }]).ends_with(with_that));
    }
}
