//! Writes the section of `docs/fidelity.md` about workloads. The other sections are written by `random_graphs`.

use std::{env, fmt::Write as _, fs, path::PathBuf};

use super::{
    OPEN,
    report::{Figures, Report},
};

/// The heading of the section, which is the last one.
const HEADING: &str = "## Workloads with every controller";

/// The section in a file that is written anew, or nothing.
pub fn section_of(path: &PathBuf) -> String {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.find(HEADING).map_or_else(String::new, |start| format!("\n{}", &text[start..]))
}

/// Writes what was measured into the file that `FIDELITY` names.
pub fn write(server: &str, seed: u64, reports: &[Report]) {
    let Some(path) = env::var_os("FIDELITY").map(PathBuf::from) else { return };
    let text = fs::read_to_string(&path).unwrap_or_default();
    let before = text.find(HEADING).map_or(text.as_str(), |start| &text[..start]).trim_end().to_owned();
    let section = section(server, seed, reports);
    fs::write(&path, format!("{before}\n\n{section}"))
        .unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
}

fn section(server: &str, seed: u64, reports: &[Report]) -> String {
    let played: Vec<&Report> = reports.iter().filter(|report| !report.case.targets.is_empty()).collect();
    let today = jiff::Timestamp::now().strftime("%Y-%m-%d");
    let mut text = format!(
        "{HEADING}\n\n\
         <!-- Written by a command; see the end. Do not edit it. -->\n\n\
         On {today}, kubectl-gc {} planned {} deletes of random workloads on Kubernetes {server}, where every\n\
         controller of kube-controller-manager ran; the test played the scheduler and the kubelets. Then the\n\
         test deleted, waited until all was at rest, and compared every object of the cluster.\n\n\
         | targets | deletes | objects | changed | outcomes | certain | exact | wrong | missed |\n\
         |---|---|---|---|---|---|---|---|---|\n",
        env!("CARGO_PKG_VERSION"),
        played.len(),
    );
    let mut kinds: Vec<String> = played.iter().map(|report| targets(report)).collect();
    kinds.sort();
    kinds.dedup();
    for kind in &kinds {
        text += &row(kind, &Figures::of(played.iter().copied().filter(|report| targets(report) == *kind)));
    }
    text += &row("all", &Figures::of(reports));
    if !OPEN.is_empty() {
        text += "\nNot right yet, of all seeds that were played:\n\n";
    }
    for (seed, why) in OPEN {
        let _ = writeln!(text, "* {seed}: {why}");
    }
    let _ = write!(
        text,
        "\n*Changed*: removed, created, marked for deletion, or with other finalizers or owner references.\n\
         *Exact*: deletes of which everything came as told. *Wrong*: deletes after which something that the\n\
         plan calls certain ended differently. *Missed*: deletes after which something had changed that is not\n\
         in the plan as outcome, effect, reaction or assumption.\n\n\
         Written by\n\n```console\n\
         $ WORKLOADS={} SEED={seed} FIDELITY=docs/fidelity.md \\\n    \
         cargo test --test cluster -- --ignored --nocapture random_workloads\n```\n",
        crate::bench::number("WORKLOADS", crate::differential::workloads::WORKLOADS),
    );
    text
}

/// The sort of what is deleted.
fn targets(report: &Report) -> String {
    match report.case.targets.as_slice() {
        [one] => match one.split('/').next().unwrap_or_default() {
            "pod-of" => "pod",
            "replicaset-of" => "replicaset",
            "slice-of" => "endpointslice",
            "revision-of" => "controllerrevision",
            "job-of" => "job",
            "kind" => "customresourcedefinition",
            "volume" => "persistentvolume",
            other => other,
        }
        .to_owned(),
        _ => "several".to_owned(),
    }
}

fn row(name: &str, figures: &Figures) -> String {
    let Figures { deletes, objects, changed, outcomes, certain, exact, wrong, missed } = figures;
    format!("| {name} | {deletes} | {objects} | {changed} | {outcomes} | {certain} | {exact} | {wrong} | {missed} |\n")
}
