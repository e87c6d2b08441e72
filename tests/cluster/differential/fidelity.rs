//! Writes `docs/fidelity.md`: the measurements of one run.

use std::{env, fmt::Write as _, fs, path::PathBuf};

use crate::graphs::{generate::Mix, judge::Verdict, record::Start};

use super::{
    report::{Figures, Report},
    workloads::fidelity::section_of,
};

/// One run of random graphs.
#[derive(Debug, Default)]
pub struct Run {
    pub server: String,
    pub seed: u64,
    /// Graphs in each mix.
    pub graphs: u64,
    /// Deletes in each graph.
    pub rounds: u64,
    pub mixes: Vec<(Mix, Vec<Report>)>,
}

impl Run {
    pub fn reports(&self) -> impl Iterator<Item = &Report> {
        self.mixes.iter().flat_map(|(_, reports)| reports)
    }

    /// Writes the report to the path in `FIDELITY`.
    pub fn write(&self) {
        let Some(path) = env::var_os("FIDELITY").map(PathBuf::from) else { return };
        let workloads = section_of(&path);
        fs::write(&path, self.report() + &workloads)
            .unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
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
             <!-- Written by a command; see the end. Do not edit it. -->\n\n\
             On {today}, kubectl-gc {} was compared with the garbage collector of Kubernetes {server},\n\
             on {built} random graphs with {objects} objects. Each graph was built while no collector ran.\n\
             kubectl-gc predicted what a collector that starts would do (*restart*), and a real collector was\n\
             started. When it was idle, the test compared, for every object that the collector may change:\n\
             whether it exists, whether it is terminating, its finalizers, and each field of its owner\n\
             references. Then kubectl-gc predicted a delete (*delete*), the test deleted, and compared\n\
             everything again, {}.\n\n",
            env!("CARGO_PKG_VERSION"),
            times(*rounds),
        );
        text += "| graphs | prediction | predictions | objects | changed | exact | order-dependent | wrong |\n";
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
        text += "\n*Exact*: every object ended as the plan says first. *Order-dependent*: the plan says that the\n\
            order of events decides, and the end is another one that it names; in brackets, the share of all\n\
            predictions that say so, whichever end came. *Wrong*: an end that the plan doesn't name.\n\n";
        text += &self.sweeps();
        text += &self.what_graphs_are();
        let _ = write!(
            text,
            "\nWritten by\n\n```console\n\
             $ GRAPHS={graphs} SEED={seed} ROUNDS={rounds} MIX={} FIDELITY=docs/fidelity.md \\\n    \
             cargo test --test cluster -- --ignored --nocapture random_graphs\n```\n",
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
            "For {} of {} graphs, kubectl-gc predicts the same end for a sweep as for the start of a collector;\n\
             the real collector reached it for {exact} of these. They differ where the collector doesn't look at\n\
             something that a sweep looks at (R8.10), or where the order of events decides.\n\n",
            same.len(),
            restarts.len(),
        )
    }

    fn what_graphs_are(&self) -> String {
        let about = self.mixes.iter().map(|(mix, _)| match mix {
            Mix::Full => {
                "* *full*: built-in and custom kinds of both scopes, several owners, cycles, references that are\n\
                 \x20 wrong in every way, all kinds of finalizers, terminating objects, Pods in their grace period,\n\
                 \x20 two namespaces.\n"
            }
            Mix::Legal => "* *legal*: the same with valid references only.\n",
            Mix::OrderFree => "* *order-free*: nothing that makes an end depend on the order of events by rule.\n",
        });
        about.collect()
    }
}

fn row(mix: &str, name: &str, figures: &Figures) -> String {
    let Figures { predictions, objects, changed, exact, describe, possible, wrong, order_dependent, .. } = figures;
    let share = order_dependent.map_or_else(String::new, |depend| {
        format!(" ({depend} say so, {:.1} %)", 100.0 * depend as f64 / (*predictions).max(1) as f64)
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
