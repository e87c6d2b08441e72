//! The smallest case that still fails, found by leaving things out.
//!
//! Asking whether a case still fails is expensive (a collector has to start and to come to rest), but many can be asked
//! side by side. So all parts are left out at once, each in a case of its own; those without which it still fails are
//! then left out together, as many of them as possible; and so on, until nothing can be left out any more.

use std::collections::BTreeSet;

use super::{
    generate::{Case, Delete},
    text::Line,
};

/// A part of a case that can be left out.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    /// A round, by its number.
    Round(usize),
    /// A target, by the number of its round.
    Target(usize, String),
    /// An object, with the references to it.
    Object(String),
    /// A reference, by its place among those of its object.
    Reference(String, usize),
    Finalizer(String, String),
    /// Being deleted before.
    Terminating(String),
    By(String),
    Node(String),
    Elsewhere(String),
    /// What is bent of a reference, by the field.
    Bend(String, usize, String),
    Controller(String, usize),
    /// What is said of blocking.
    Block(String, usize),
}

/// What came of shrinking.
#[derive(Clone, Debug)]
pub struct Shrunk {
    pub case: Case,
    /// How often cases were tried side by side.
    pub batches: usize,
    /// Whether nothing can be left out any more; otherwise there were too many batches.
    pub smallest: bool,
}

/// Leaves out of a case that fails whatever it also fails without. `still_fails` says of each case whether it fails in
/// the same way; it is asked `most_batches` times at most.
pub fn shrink(case: Case, most_batches: usize, mut still_fails: impl FnMut(&[Case]) -> Vec<bool>) -> Shrunk {
    let mut case = plain(case);
    let mut batches = 0;
    while batches < most_batches {
        let parts = parts(&case);
        let single: Vec<Case> = parts.iter().map(|part| without(&case, std::slice::from_ref(part))).collect();
        if single.is_empty() {
            return Shrunk { case, batches, smallest: true };
        }
        let fails = still_fails(&single);
        batches += 1;
        let spare: Vec<Part> = parts.into_iter().zip(fails).filter_map(|(part, fails)| fails.then_some(part)).collect();
        let Some(first) = spare.first() else { return Shrunk { case, batches, smallest: true } };
        if spare.len() == 1 || batches >= most_batches {
            case = without(&case, std::slice::from_ref(first));
            continue;
        }
        // Any one of them can be left out; but not all of them together, perhaps.
        let together: Vec<Case> = (1..=spare.len()).rev().map(|count| without(&case, &spare[..count])).collect();
        let fails = still_fails(&together);
        batches += 1;
        let longest = together.into_iter().zip(fails).find_map(|(candidate, fails)| fails.then_some(candidate));
        // A case that fails only now and then may do so in none of them.
        case = longest.unwrap_or_else(|| without(&case, std::slice::from_ref(first)));
    }
    Shrunk { case, batches, smallest: false }
}

/// The same case without what has no meaning: targets that are not there, or too many of them.
fn plain(case: Case) -> Case {
    without(&case, &[])
}

fn parts(case: &Case) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    parts.extend((0..case.rounds.len()).filter(|_| case.rounds.len() > 1).map(Part::Round));
    parts.extend(case.graph.lines.iter().map(|line| Part::Object(line.short_name())));
    for line in &case.graph.lines {
        let name = || line.short_name();
        parts.extend((0..line.references.len()).map(|place| Part::Reference(name(), place)));
        parts.extend(line.finalizers.iter().map(|finalizer| Part::Finalizer(name(), finalizer.clone())));
        parts.extend(line.terminating.then(|| Part::Terminating(name())));
        parts.extend(line.by.map(|_| Part::By(name())));
        parts.extend(line.node.as_ref().map(|_| Part::Node(name())));
        parts.extend(line.elsewhere.as_ref().map(|_| Part::Elsewhere(name())));
        for (place, reference) in line.references.iter().enumerate() {
            parts.extend(reference.bends.iter().map(|(field, _)| Part::Bend(name(), place, field.clone())));
            parts.extend(reference.controller.then(|| Part::Controller(name(), place)));
            parts.extend(reference.block.map(|_| Part::Block(name(), place)));
        }
    }
    for (number, round) in case.rounds.iter().enumerate().filter(|(_, round)| round.wanted.len() > 1) {
        parts.extend(round.wanted.iter().map(|target| Part::Target(number, target.clone())));
    }
    parts
}

fn without(case: &Case, parts: &[Part]) -> Case {
    let left_out: BTreeSet<&Part> = parts.iter().collect();
    let out = |part: Part| left_out.contains(&part);
    let mut smaller = case.clone();
    smaller.graph.lines.retain(|line| !out(Part::Object(line.short_name())));
    let gone: Vec<String> =
        case.graph.lines.iter().map(Line::short_name).filter(|name| out(Part::Object(name.clone()))).collect();
    for line in &mut smaller.graph.lines {
        let name = line.short_name();
        let references =
            std::mem::take(&mut line.references).into_iter().enumerate().filter_map(|(place, mut reference)| {
                let leads_nowhere = gone.contains(&format!("{}/{}", reference.kind, reference.name));
                reference.bends.retain(|(field, _)| !out(Part::Bend(name.clone(), place, field.clone())));
                reference.controller &= !out(Part::Controller(name.clone(), place));
                reference.block = reference.block.filter(|_| !out(Part::Block(name.clone(), place)));
                (!leads_nowhere && !out(Part::Reference(name.clone(), place))).then_some(reference)
            });
        line.references = references.collect();
        line.finalizers.retain(|finalizer| !out(Part::Finalizer(name.clone(), finalizer.clone())));
        if out(Part::Terminating(name.clone())) {
            (line.terminating, line.by) = (false, None);
        }
        if out(Part::By(name.clone())) {
            line.by = None;
        }
        if out(Part::Node(name.clone())) {
            line.node = None;
        }
        if out(Part::Elsewhere(name)) {
            line.elsewhere = None;
        }
    }
    let there: Vec<String> = smaller.graph.lines.iter().map(Line::short_name).collect();
    let rounds = case.rounds.iter().enumerate().filter(|(number, _)| !out(Part::Round(*number)));
    smaller.rounds = rounds
        .map(|(number, round)| {
            let wanted = round
                .wanted
                .iter()
                .filter(|target| there.contains(target) && !out(Part::Target(number, (*target).clone())));
            Delete { wanted: wanted.cloned().collect(), ..round.clone() }
        })
        .collect();
    smaller
}
