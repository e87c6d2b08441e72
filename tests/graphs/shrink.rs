//! Finds the smallest case that still fails, by leaving out parts.
//!
//! Checking whether a case still fails is expensive (a collector has to start and come to rest), but many cases can be
//! checked in parallel. So each batch tries to leave out every part, each in a separate case. The next batch leaves out
//! as many of the unnecessary parts together as possible. This repeats until no part can be left out.

use std::collections::BTreeSet;

use super::{
    generate::{Case, Delete},
    text::Line,
};

/// A part of a case that can be left out.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    /// A round, by index.
    Round(usize),
    /// A target, by the index of its round.
    Target(usize, String),
    /// An object, and all references to it.
    Object(String),
    /// A reference, by its index in its object.
    Reference(String, usize),
    Finalizer(String, String),
    /// The object's terminating state.
    Terminating(String),
    By(String),
    Node(String),
    Elsewhere(String),
    /// A wrong value in a reference, by its field.
    Bend(String, usize, String),
    Controller(String, usize),
    /// The `blockOwnerDeletion` of a reference.
    Block(String, usize),
}

/// The result of shrinking.
#[derive(Clone, Debug)]
pub struct Shrunk {
    pub case: Case,
    /// How many batches of cases were checked.
    pub batches: usize,
    /// Whether no part can be left out any more. If false, the limit of batches was reached.
    pub smallest: bool,
}

/// Leaves out every part that isn't needed for the case to fail. `still_fails` says for each case whether it fails in
/// the same way; it is called at most `most_batches` times.
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
        // Each of them can be left out alone, but perhaps not all together.
        let together: Vec<Case> = (1..=spare.len()).rev().map(|count| without(&case, &spare[..count])).collect();
        let fails = still_fails(&together);
        batches += 1;
        let longest = together.into_iter().zip(fails).find_map(|(candidate, fails)| fails.then_some(candidate));
        // If a case fails only sometimes, perhaps none of these fails.
        case = longest.unwrap_or_else(|| without(&case, std::slice::from_ref(first)));
    }
    Shrunk { case, batches, smallest: false }
}

/// The same case without meaningless parts: absent targets, or more targets than are used.
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
