//! The report that `docs/fidelity.md` is: what one run measured, and nothing else.

use std::{env, fmt::Write as _, fs, path::PathBuf};

use crate::graphs::{generate::Mix, judge::Verdict, record::Start};

use super::report::{Figures, Report};

/// One run of random graphs.
#[derive(Debug, Default)]
pub struct Run {
    pub server: String,
    pub seed: u64,
    /// Of each mix.
    pub graphs: u64,
    /// Deletes in each graph.
    pub rounds: u64,
    pub mixes: Vec<(Mix, Vec<Report>)>,
}

impl Run {
    pub fn reports(&self) -> impl Iterator<Item = &Report> {
        self.mixes.iter().flat_map(|(_, reports)| reports)
    }

    /// Writes the report where `FIDELITY` says.
    pub fn write(&self) {
        let Some(path) = env::var_os("FIDELITY").map(PathBuf::from) else { return };
        fs::write(&path, self.report()).unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
    }

    fn report(&self) -> String {
        let Run { server, seed, graphs, rounds, .. } = self;
        let mixes: Vec<&str> = self.mixes.iter().map(|(mix, _)| mix.name()).collect();
        let today = jiff::Timestamp::now().strftime("%Y-%m-%d");
        let built: usize = self.mixes.len() * *graphs as usize;
        let objects: usize =
            self.reports().filter(|report| report.is_restart()).map(|report| report.trial.graph.lines.len()).sum();
        let mut text = format!(
            "# How true plans are\n\n\
             <!-- Written by a command; see the end. Not to be edited. -->\n\n\
             On {today}, kubectl-gc {} was held against the garbage collector of Kubernetes {server}: {built} random \
                 graphs of {objects}\n\
             objects in all, which nobody drew by hand. Each graph was built while no collector ran; what one that \
                 starts would do to it was\n\
             foretold (*restart*), a real collector was started, and when it had come to rest, everything that it may \
                 change of every object\n\
             was compared: whether it is there, whether it is terminating, its finalizers, and each field of its owner \
                 references. Then\n\
             what a delete would do was foretold (*delete*), objects were deleted, and everything was compared again, \
                 {}.\n\n",
            env!("CARGO_PKG_VERSION"),
            times(*rounds),
        );
        text += "| graphs | what was foretold | predictions | objects | of them changed | exact | order-dependent | \
            wrong |\n";
        text += "|---|---|---|---|---|---|---|---|\n";
        for (mix, reports) in &self.mixes {
            for (name, is_restart) in [("restart", true), ("delete", false)] {
                text += &row(
                    mix.name(),
                    name,
                    &Figures::of(reports.iter().filter(|report| report.is_restart() == is_restart)),
                );
            }
        }
        text += &row("all", "both", &Figures::of(self.reports()));
        text += "\n*Exact*: every object ended as the plan says first. *Order-dependent*: the plan says that the order \
            of events decides, and names \
                 the\nend that came among others; what share of predictions says so, whichever end came, is in \
                     brackets. *Wrong*: an end that \
                 the\nplan does not name.\n\n";
        text += &self.sweeps();
        text += &self.what_graphs_are();
        let _ = write!(
            text,
            "\nWritten by\n\n```console\n$ GRAPHS={graphs} SEED={seed} ROUNDS={rounds} MIX={} \
                FIDELITY=docs/fidelity.md \\\n    cargo test --test \
             cluster -- --ignored --nocapture random_graphs\n```\n",
            mixes.join(","),
        );
        text
    }

    /// How a sweep compares with the start of a collector.
    fn sweeps(&self) -> String {
        let restarts: Vec<&Report> = self.reports().filter(|report| report.trial.start == Start::Restarted).collect();
        let same: Vec<&&Report> = restarts.iter().filter(|report| report.as_a_sweep == Some(true)).collect();
        let exact = same.iter().filter(|report| report.verdict == Verdict::Exact).count();
        format!(
            "A sweep is foretold to come to the same end as the start of a collector for {} of {} graphs; the real one \
                came to it with\n\
             {exact} of these. Where the two differ, the collector does not look at something that a sweep looks at \
                 (R8.10), or the order\n\
             of events decides.\n\n",
            same.len(),
            restarts.len(),
        )
    }

    fn what_graphs_are(&self) -> String {
        let about = self.mixes.iter().map(|(mix, _)| match mix {
            Mix::Full => {
                "* *full*: built-in and custom kinds of both scopes, several owners, cycles, references bent in every \
                    way, all kinds of \
                 finalizers,\n  objects that are terminating already, pods in their grace period, two namespaces.\n"
            }
            Mix::Legal => {
                "* *legal*: the same with references as they ought to be: none is bent, none leads into \
                another namespace.\n"
            }
            Mix::OrderFree => "* *order-free*: nothing that makes an end depend on the order of events by rule.\n",
        });
        about.collect()
    }
}

fn row(mix: &str, name: &str, figures: &Figures) -> String {
    let Figures { predictions, objects, changed, exact, describe, possible, wrong, order_dependent, .. } = figures;
    let share = order_dependent.map_or_else(String::new, |depend| {
        format!(" ({depend} told so, {:.1} %)", 100.0 * depend as f64 / (*predictions).max(1) as f64)
    });
    format!(
        "| {mix} | {name} | {predictions} | {objects} | {changed} | {exact} | {describe}{share} | {} |\n",
        possible + wrong
    )
}

fn times(rounds: u64) -> String {
    match rounds {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        _ => format!("{rounds} times"),
    }
}
