//! `-o html`: one file that a browser shows without a network. The page is built from the folder `web`; here it gets
//! its picture: columns as numbers, and each text once. A browser reads 100,000 objects at once.

use std::{borrow::Cow, hash::Hash, io::Write as _};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use flate2::{Compression, write::GzEncoder};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;
use strum::VariantArray;

use crate::render::{document::json_line, states::Look};
use gc_core::wording::count;

use super::{Fate, Link, Object, Picture, Row, Section, Verdict, View};

/// The page, with places for a title, a text that says the same, and a picture in a script that is data.
const PAGE: &str = include_str!("../html/page.html");
/// The text has at most this many lines.
const MOST_LINES: usize = 2000;
/// Documents that say of all objects what becomes of them.
const CHANGES: [&str; 3] = ["Plan", "Sweep", "Deletion"];
/// A larger picture is packed.
const LARGE: usize = 16 * 1024;

/// The page that shows a picture, with the text that says the same.
pub(in crate::render) fn write(picture: &Picture, text: &str) -> String {
    let json = json_line(&Data::of(picture));
    let packed = Some(&json).filter(|json| json.len() > LARGE).and_then(|json| packed(json));
    let kind = if packed.is_some() { "application/gzip" } else { "application/json" };
    // No browser reads this as markup, whatever it contains.
    let data = packed
        .unwrap_or_else(|| json.trim_end().replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026"));
    let mut page = String::with_capacity(PAGE.len() + text.len() + data.len());
    let mut rest = PAGE;
    // Each place once, in the page's order: a title or a text may contain another.
    for (place, content) in [
        ("{{TITLE}}", &*escaped(&picture.title)),
        ("{{TEXT}}", &escaped(&in_short(text))),
        ("{{TYPE}}", kind),
        ("{{PICTURE}}", &data),
    ] {
        let (before, after) = rest.split_once(place).expect("the page has this place");
        page.push_str(before);
        page.push_str(content);
        rest = after;
    }
    page + rest
}

/// The first lines of a text: where scripts run, nobody sees it.
fn in_short(text: &str) -> Cow<'_, str> {
    match text.match_indices('\n').nth(MOST_LINES) {
        Some((end, _)) if end + 1 < text.len() => {
            let more = text[end..].lines().count() - 1;
            let more = count(more, "more line", "more lines");
            Cow::from(format!("{}\n… and {more}, shown where scripts run\n", &text[..end]))
        }
        _ => Cow::from(text),
    }
}

/// JSON in gzip and base64. Memory takes all that is written.
fn packed(json: &str) -> Option<String> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(json.as_bytes()).ok()?;
    Some(BASE64_STANDARD.encode(packed.finish().ok()?))
}

/// A text between tags or in a quoted attribute. Control characters, which XML forbids, were made visible before.
pub(super) fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;").replace('\'', "&#39;")
}

/// A number for each object, reference or row: without other words a place in [`Data::texts`]. 0 is none.
type Column = Vec<usize>;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Data<'a> {
    kind: &'static str,
    title: &'a str,
    source: &'a str,
    program: &'static str,
    shown: usize,
    /// The states that are not shown at first.
    off: &'static str,
    states: Vec<Look>,
    texts: Vec<Cow<'a, str>>,
    stories: Vec<&'a [Section]>,
    /// Commands that show an object, cut where its name belongs.
    commands: Vec<Vec<Vec<&'a str>>>,
    /// What is said of a reference, beside the owner.
    abouts: Vec<String>,
    objects: Objects<'a>,
    links: Links,
    views: Vec<Rows<'a>>,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Objects<'a> {
    name: Vec<&'a str>,
    api_version: Column,
    kind: Column,
    namespace: Column,
    created: Column,
    finalizers: Column,
    /// 1: terminating. 2: no object with this uid was read.
    flags: Column,
    /// A place in [`Data::commands`].
    commands: Column,
}

/// Owner references. All three are places, from 0.
#[derive(Default, Serialize)]
struct Links {
    dependent: Column,
    owner: Column,
    about: Column,
}

#[derive(Serialize)]
struct Rows<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<Headline<'a>>,
    reasons: &'a str,
    rows: Columns,
    /// Places of objects, from 0.
    waits: &'a [[usize; 2]],
    /// How many rows end in each of [`Data::states`], and how many lose data.
    numbers: Column,
    lost: usize,
    /// What stands above the objects, in this order, and below them.
    facts: Vec<Cow<'a, Section>>,
    notes: Vec<&'a Section>,
}

#[derive(Serialize)]
struct Headline<'a> {
    /// A place in [`Data::states`].
    fate: usize,
    word: &'a str,
    sentence: &'a str,
}

#[derive(Default, Serialize)]
struct Columns {
    /// Its place, from 1.
    object: Column,
    /// How many rows above stands the one that it stands below.
    parent: Column,
    /// None: the object's own.
    title: Column,
    /// A place in [`Data::states`].
    fate: Column,
    word: Column,
    detail: Column,
    /// 1: it points elsewhere. 2: its stored data is lost.
    flags: Column,
    /// A place in [`Data::stories`].
    story: Column,
}

/// Values by number, each once.
struct Once<T>(FxHashMap<T, usize>, Vec<T>);

impl<T: Clone + Eq + Hash> Once<T> {
    /// With a value that is none.
    fn new(none: T) -> Self {
        Once([(none.clone(), 0)].into_iter().collect(), vec![none])
    }

    fn place(&mut self, value: T) -> usize {
        let Once(places, values) = self;
        *places.entry(value).or_insert_with_key(|value| {
            values.push(value.clone());
            values.len() - 1
        })
    }
}

impl<'a> Data<'a> {
    pub(super) fn of(picture: &'a Picture) -> Self {
        let mut texts = Once::new(Cow::from(""));
        let mut stories = Once::new(&[][..]);
        let mut commands = Once::new(Vec::new());
        let mut abouts = Once::new(String::new());
        let mut objects = Objects::default();
        for object in &picture.objects {
            objects.push(object, &mut texts, &mut commands);
        }
        let mut links = Links::default();
        for link in &picture.links {
            links.dependent.push(link.dependent);
            links.owner.push(link.owner);
            links.about.push(abouts.place(about(link)));
        }
        let views = picture.views.iter().map(|view| Rows::of(view, picture, &mut texts, &mut stories)).collect();
        let Picture { kind, title, source, shown, .. } = picture;
        Data {
            kind,
            title,
            source,
            program: concat!("kubectl gc ", env!("CARGO_PKG_VERSION")),
            shown: *shown,
            off: if CHANGES.contains(kind) { "untouched" } else { "" },
            states: Fate::VARIANTS.iter().map(|fate| fate.look()).collect(),
            texts: texts.1,
            stories: stories.1,
            commands: commands.1,
            abouts: abouts.1,
            objects,
            links,
            views,
        }
    }
}

/// What is said of a reference.
fn about(link: &Link) -> String {
    let said = [
        (link.controller, "its controller"),
        (link.blocks, "blocking"),
        (!link.invalid.is_empty(), &link.invalid),
        (link.closes_cycle, "closes a cycle"),
    ];
    said.into_iter().filter_map(|(is, said)| is.then_some(said)).collect::<Vec<_>>().join(", ")
}

impl<'a> Objects<'a> {
    fn push(&mut self, object: &'a Object, texts: &mut Once<Cow<'a, str>>, commands: &mut Once<Vec<Vec<&'a str>>>) {
        self.name.push(&object.name);
        self.api_version.push(texts.place(Cow::from(&object.api_version)));
        self.kind.push(texts.place(Cow::from(&object.kind)));
        self.namespace.push(texts.place(Cow::from(&object.namespace)));
        // `2026-11-24 18:37:05` of a timestamp of the API server.
        let created = object.created.as_deref().unwrap_or_default().replace('T', " ").replace('Z', "");
        self.created.push(texts.place(created.into()));
        self.finalizers.push(texts.place(object.finalizers.join(", ").into()));
        self.flags.push(usize::from(object.terminating) + 2 * usize::from(object.is_virtual));
        let cut = object.commands.iter().map(|command| command.split(&object.name).collect());
        self.commands.push(commands.place(cut.collect()));
    }
}

impl<'a> Rows<'a> {
    fn of(
        view: &'a View,
        picture: &Picture,
        texts: &mut Once<Cow<'a, str>>,
        stories: &mut Once<&'a [Section]>,
    ) -> Self {
        let View { name, verdict, reasons, facts, rows, waits, sections } = view;
        let headline =
            |said: &'a Verdict| Headline { fate: said.fate as usize, word: &said.word, sentence: &said.sentence };
        let mut columns = Columns::default();
        for (index, row) in rows.iter().enumerate() {
            let Row { object, title, parent, fate, word, detail, points, loses, more, story, .. } = row;
            // A line that stands for several objects is none of them.
            let object = object.filter(|_| *more == 0);
            let own =
                object.map(|object| &picture.objects[object]).map(|Object { kind, name, .. }| format!("{kind}/{name}"));
            columns.object.push(object.map_or(0, |object| object + 1));
            columns.parent.push(parent.map_or(0, |parent| index - parent));
            columns.title.push(if own.as_ref() == Some(title) { 0 } else { texts.place(Cow::from(title)) });
            columns.fate.push(*fate as usize);
            let usual = if *fate == Fate::Untouched { "" } else { fate.text() };
            columns.word.push(texts.place(Cow::from(if word.is_empty() { usual } else { word })));
            columns.detail.push(texts.place(Cow::from(detail)));
            columns.flags.push(usize::from(*points) + 2 * usize::from(*loses));
            columns.story.push(stories.place(story));
        }
        let by = |label: &'static str| sections.iter().filter(move |section| section.label == label);
        let goes: Vec<&Section> = if facts.is_empty() { by("Then").collect() } else { facts.iter().collect() };
        let said = by("Why").chain(goes).chain(by("Next")).map(Cow::Borrowed);
        Rows {
            name,
            verdict: verdict.as_ref().map(headline),
            reasons,
            rows: columns,
            waits,
            numbers: numbers(rows),
            lost: rows.iter().filter(|row| row.loses).count(),
            facts: by("Lost").map(Cow::Borrowed).chain(holds(picture.kind, view).map(Cow::Owned)).chain(said).collect(),
            notes: by("Note").collect(),
        }
    }
}

/// How many rows end in each state. Findings count as in the verdict: without the objects below them.
fn numbers(rows: &[Row]) -> Column {
    let is_finding = |row: &&Row| matches!(row.fate, Fate::Error | Fate::Warning | Fate::Note) && row.object.is_none();
    let found: FxHashSet<Fate> = rows.iter().filter(is_finding).map(|row| row.fate).collect();
    let mut numbers = vec![0; Fate::VARIANTS.len()];
    for row in rows.iter().filter(|row| !row.points && (row.object.is_none() || !found.contains(&row.fate))) {
        numbers[row.fate as usize] += 1;
    }
    numbers
}

/// What holds it up: objects that don't go, and wait for no other; those for the same reason in one line.
fn holds(kind: &str, view: &View) -> Option<Section> {
    let waiting: FxHashSet<usize> = view.waits.iter().map(|[object, _]| *object).collect();
    let (mut reasons, mut objects) = (Once(FxHashMap::default(), Vec::new()), Vec::new());
    for row in view.rows.iter().filter(|row| row.fate < Fate::Unsure && row.more == 0) {
        let Some(object) = row.object.filter(|object| !waiting.contains(object)) else { continue };
        let reason = reasons.place(row.detail.as_str());
        objects.resize_with(reasons.1.len(), Vec::new);
        objects[reason].push(object);
    }
    let lines = reasons.1.iter().map(|reason| if reason.is_empty() { String::new() } else { format!(": {reason}") });
    let section =
        Section { label: "What holds it up".to_owned(), lines: lines.collect(), objects, ..Section::default() };
    // What came of a delete says it, too.
    let is_said = view.facts.iter().any(|fact| fact.label == "Left Terminating");
    (CHANGES.contains(&kind) && !is_said && !section.lines.is_empty()).then_some(section)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut() {
        let lines = "line\n".repeat(MOST_LINES);
        assert_eq!(in_short(&lines), lines);
        let more = format!("{lines}last one\nlast\n");
        assert_eq!(in_short(&more), format!("{lines}last one\n… and 1 more line, shown where scripts run\n"));
    }
}
