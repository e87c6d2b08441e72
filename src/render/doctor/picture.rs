//! A diagnosis as a picture: each finding, and below it the objects that it affects.

use crate::render::{
    picture::{Fate, Objects, Picture, PictureOptions, Row, Section, Verdict, View, section},
    sections::Heading,
};
use gc_core::{
    doctor::{Finding, Remedy},
    graph::OwnerGraph,
    model::ObjectId,
    wording::{count, thousands},
};

use super::{DoctorView, fate_of, subjects::NAMED, text::joint};

/// The word of an object that a finding affects.
const AFFECTED: &str = "affected";

/// Draws the findings. With `fold`, only the objects that the text names have rows.
pub(super) fn picture(view: &DoctorView<'_>, options: &PictureOptions<'_>) -> Picture {
    let graph = OwnerGraph::new(view.snapshot);
    let mut objects = Objects::new(view.snapshot, &graph, options.commands);
    let mut rows = Vec::new();
    for finding in &view.diagnosis.findings {
        let at = rows.len();
        rows.push(row_of_finding(view, finding));
        let (most, related) = if options.fold { (NAMED, &[][..]) } else { (usize::MAX, finding.related.as_slice()) };
        let fate = fate_of(finding.severity);
        let mut add = |id: &ObjectId, fate: Fate, word: &str, detail: String, more: usize| {
            let title = match more {
                0 => format!("{}{}", view.snapshot.short_name(*id), view.place(&[*id])),
                more => format!("… {} more", thousands(more)),
            };
            let (object, parent) = (Some(objects.add(*id)), Some(at));
            rows.push(Row { object, parent, word: word.to_owned(), detail, more, ..Row::new(title, fate) });
        };
        let named = if finding.objects.len() > most { &finding.objects[..most] } else { &finding.objects };
        named.iter().for_each(|id| add(id, fate, AFFECTED, String::new(), 0));
        if let Some(first) = finding.objects.get(named.len()) {
            add(
                first,
                fate,
                AFFECTED,
                view.kinds(&finding.objects[named.len()..]),
                finding.objects.len() - named.len(),
            );
        }
        related.iter().for_each(|id| add(id, Fate::Untouched, "related", String::new(), 0));
    }
    let of = match (view.targets, view.namespace) {
        (Some(targets), _) => count(targets, "target", "targets"),
        (None, Some(namespace)) => format!("namespace {namespace}"),
        (None, None) => "all objects".to_owned(),
    };
    let (verdict, sections) = (Some(verdict(view)), view.if_deleted().drawn());
    let view = View { verdict, rows, sections, ..View::default() };
    Picture::of("Diagnosis", format!("Diagnosis: {of}"), objects, view)
}

/// The first line of the text: how many findings there are, or what was examined if there is none.
fn verdict(view: &DoctorView<'_>) -> Verdict {
    let worst = view.diagnosis.findings.iter().map(|finding| finding.severity).min();
    match worst {
        Some(worst) => {
            let fate = fate_of(worst);
            Verdict { fate, word: fate.text().to_owned(), sentence: format!("{}.", view.counts()) }
        }
        None => {
            let unknown = view.snapshot.is_empty();
            let fate = if unknown { Fate::Unsure } else { Fate::Untouched };
            let said = view.nothing_found();
            let said = said.strip_prefix("UNKNOWN: ").unwrap_or(&said).to_owned();
            Verdict { fate, word: if unknown { "UNKNOWN" } else { "OK" }.to_owned(), sentence: said }
        }
    }
}

fn row_of_finding(view: &DoctorView<'_>, finding: &Finding) -> Row {
    let fate = fate_of(finding.severity);
    Row {
        word: fate.text().to_owned(),
        detail: finding.message.clone(),
        story: story(finding),
        commands: finding.remedies.iter().flat_map(commands).collect(),
        ..Row::new(view.code_and_subject(finding), fate)
    }
}

/// What follows from a finding, and what mends it. The commands stand below what they do.
fn story(finding: &Finding) -> Vec<Section> {
    let then = section(Heading::Then, vec![finding.consequence.clone()]);
    let remedy = |(index, remedy): (usize, &Remedy)| {
        let what = format!("{}{}", joint(&finding.remedies, index), remedy.what);
        std::iter::once(what).chain(commands(remedy)).collect::<Vec<_>>()
    };
    let next = finding.remedies.iter().enumerate().flat_map(remedy).collect();
    then.into_iter().chain(section(Heading::Next, next)).collect()
}

/// The commands of a remedy, one per line.
pub(in crate::render) fn commands(remedy: &Remedy) -> impl Iterator<Item = String> {
    remedy.commands.iter().map(ToString::to_string)
}
