//! Explanations of objects, as text and as a document.

mod text;
mod words;

use gc_core::{
    command_line::ShellCommand,
    doctor::Explanation,
    graph::OwnerGraph,
    model::{Gap, ObjectId, Snapshot, is_built_in_group},
    wording::{count, some_of},
};

use super::{
    outline::Outline,
    picture::{Fate, Objects, Picture, PictureOptions, Row, Section, Verdict, View},
};

/// Explanations with what is needed to print them.
#[derive(Clone, Copy, Debug)]
pub struct ExplainView<'a> {
    pub snapshot: &'a Snapshot,
    pub graph: &'a OwnerGraph,
    pub explanations: &'a [Explanation],
    /// The namespace in view; objects elsewhere are printed with theirs.
    pub namespace: Option<&'a str>,
    /// The command that diagnoses the same targets.
    pub doctor: &'a ShellCommand,
}

impl ExplainView<'_> {
    /// What could not be read, and may hide dependents of an object that the collector is about to let go, or what a
    /// Namespace or a definition contains.
    pub fn gaps(&self) -> Vec<Gap> {
        let contains = |id: ObjectId| {
            let resource = self.snapshot.resource(id);
            matches!(resource.kind.as_str(), "Namespace" | "CustomResourceDefinition")
                && is_built_in_group(&resource.group)
        };
        let told = |it: &&Explanation| it.next.may_wait || contains(it.object);
        let let_go: Vec<ObjectId> = self.explanations.iter().filter(told).map(|it| it.object).collect();
        let mut gaps = self.snapshot.gaps_and_lacking(self.explanations.iter().map(|explanation| explanation.object));
        let hiding = self.snapshot.may_hide(&let_go).into_iter().filter(|gap| !gaps.contains(gap));
        gaps.extend(hiding.collect::<Vec<_>>());
        gaps
    }

    /// `Kind/name`, with the namespace if it is not the one in view.
    fn name(&self, object: ObjectId) -> String {
        self.snapshot.located(object, self.namespace)
    }

    /// The first few names, and how many more there are.
    fn names(&self, objects: &[ObjectId], most: usize) -> String {
        some_of(objects.iter().map(|object| self.name(*object)), most)
    }
}

/// Draws the explanations. With `fold`, only so many blockers and owners have rows as the text has lines.
fn picture(view: &ExplainView<'_>, options: &PictureOptions<'_>) -> Picture {
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
        let sections: Vec<Section> = text::sections(view, explanation, !options.fold, options.now).drawn();
        rows.push(Row {
            object: Some(objects.add(explanation.object)),
            word,
            detail: sentence,
            story: sections.clone(),
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
