//! Makes a case smaller that is not as told: all its smaller versions are played side by side.

use std::collections::BTreeSet;

use super::{bench::Bench, case::Case, report::Report};

/// Cases that are made smaller at once.
const MOST: usize = 6;

/// Leaves out of the first case of each cause whatever makes no difference, and prints what is left.
pub fn shrink(reports: &[Report]) {
    let mut causes: BTreeSet<&str> = BTreeSet::new();
    let mut cases: Vec<Shrinking> = Vec::new();
    for report in reports.iter().filter(|report| !report.case.pieces.is_empty()) {
        let mut new = report.compared.differences.iter().filter(|difference| !causes.contains(&*difference.cause));
        if let (Some(difference), true) = (new.next(), cases.len() < MOST) {
            cases.push(Shrinking { case: report.case.clone(), cause: difference.cause.clone() });
        }
        causes.extend(report.compared.differences.iter().map(|difference| &*difference.cause));
    }
    // Each piece alone first, then all together that make no difference alone.
    let singles: Vec<(usize, usize, Case)> = (cases.iter().enumerate())
        .flat_map(|(index, shrinking)| {
            let pieces = 0..shrinking.case.pieces.len();
            pieces.filter_map(move |piece| Some((index, piece, without(&shrinking.case, &[piece])?)))
        })
        .collect();
    let played = play(singles.iter().map(|(.., case)| case));
    for (index, shrinking) in cases.iter_mut().enumerate() {
        let needless: Vec<usize> = (singles.iter().zip(&played))
            .filter(|((of, ..), causes)| *of == index && causes.contains(&shrinking.cause))
            .map(|((_, piece, _), _)| *piece)
            .collect();
        if let Some(smaller) = without(&shrinking.case, &needless) {
            shrinking.case = smaller;
        }
    }
    let played = play(cases.iter().map(|shrinking| &shrinking.case));
    for (shrinking, causes) in cases.iter().zip(played) {
        let still = if causes.contains(&shrinking.cause) { "smaller" } else { "too small, it is as told" };
        println!("{}\n{still}:\n{}", shrinking.cause, shrinking.case);
    }
}

/// A case, and the cause of what differs in it.
struct Shrinking {
    case: Case,
    cause: String,
}

/// Plays cases; for each, the causes of what differs.
fn play<'c>(cases: impl Iterator<Item = &'c Case>) -> Vec<BTreeSet<String>> {
    // Each must be found again among the reports.
    let cases: Vec<Case> =
        cases.enumerate().map(|(number, case)| Case { from: format!("smaller {number}"), ..case.clone() }).collect();
    let reports = Bench::start().run(&cases);
    let causes = |case: &Case| {
        let of_case = reports.iter().filter(|report| report.case.from == case.from);
        of_case.flat_map(|report| &report.compared.differences).map(|difference| difference.cause.clone()).collect()
    };
    cases.iter().map(causes).collect()
}

/// A case without these pieces, and without what they own; `None` if no target would be left.
fn without(case: &Case, pieces: &[usize]) -> Option<Case> {
    let mut left_out: BTreeSet<String> = pieces.iter().map(|piece| case.pieces[*piece].called()).collect();
    let mut smaller = case.clone();
    smaller.pieces.retain(|piece| {
        let mut needs = piece.list("owners").map(|owner| owner.trim_end_matches(['!', '*']).to_owned()).chain(
            [
                ("on", "node"),
                ("mirror", "node"),
                ("devices", "resourceclaimtemplate"),
                ("of", "kind"),
                ("volume", "volume"),
                ("account", "serviceaccount"),
            ]
            .into_iter()
            .filter_map(|(option, sort)| Some(format!("{sort}/{}", piece.get(option)?))),
        );
        let goes = left_out.contains(&piece.called()) || needs.any(|needed| left_out.contains(&needed));
        if goes {
            left_out.insert(piece.called());
        }
        !goes
    });
    // `pod-of/web` needs a piece that is named web.
    let is_there = |target: &String| {
        let name = target.rsplit('/').next().unwrap_or_default();
        case.pieces.iter().all(|piece| piece.name != name) || smaller.pieces.iter().any(|piece| piece.name == name)
    };
    smaller.targets = case.targets.iter().filter(|target| is_there(target)).cloned().collect();
    (smaller.targets.len() == case.targets.len() && !smaller.pieces.is_empty()).then_some(smaller)
}
