//! Explanations as a picture: each object, and below it what it waits for and who owns it.

use crate::render::{
    doctor::commands,
    outline::Outline,
    picture::{Fate, Objects, Picture, PictureOptions, Row, Section, Verdict, View},
};
use gc_core::wording::count;

use super::{ExplainView, sections, text, words};

/// Draws the explanations. With `fold`, only so many blockers and owners have rows as the text has lines.
pub(super) fn picture(view: &ExplainView<'_>, options: &PictureOptions<'_>) -> Picture {
    let mut objects = Objects::new(view.snapshot, view.graph, options.commands);
    let mut rows: Vec<Row> = Vec::new();
    let mut all_sections = Vec::new();
    let several = view.explanations.len() > 1;
    let mut verdict = None;
    for explanation in view.explanations {
        let words::Verdict { headline, sentence, .. } = words::verdict(view, explanation, options.now);
        let (fate, word) = (headline.fate(), headline.word().to_owned());
        verdict = Some(Verdict { fate, word: word.clone(), sentence: sentence.clone() }).filter(|_| !several);
        let at = rows.len();
        let name = view.name(explanation.object);
        let sections: Vec<Section> = sections::sections(view, explanation, !options.fold, options.now).drawn();
        rows.push(Row {
            object: Some(objects.add(explanation.object)),
            word,
            detail: sentence,
            story: sections.clone(),
            commands: explanation.findings.iter().flat_map(|found| found.remedies.iter().flat_map(commands)).collect(),
            ..Row::new(name.clone(), fate)
        });
        let of = |section: Section| Section { label: format!("{name}: {}", section.label), ..section };
        all_sections.extend(sections.into_iter().map(|section| if several { of(section) } else { section }));
        let mut tree = |heading: &str, outline: Outline| {
            let top = rows.len();
            rows.push(Row { parent: Some(at), ..Row::new(heading, Fate::Untouched) });
            outline.draw(&mut objects, Some(top), &mut rows);
        };
        if text::tells_waits(explanation) {
            tree(text::WAITS_FOR, text::waiting(view, explanation, !options.fold));
        }
        if !explanation.references.is_empty() {
            tree(text::OWNED_BY, text::owners(view, explanation, !options.fold));
        }
    }
    let title = match view.explanations {
        [one] => view.snapshot.located(one.object, None),
        many => count(many.len(), "target", "targets"),
    };
    let drawn = View { verdict, rows, sections: all_sections, ..View::default() };
    Picture::of("Explanation", format!("Explanation: {title}"), objects, drawn)
}
