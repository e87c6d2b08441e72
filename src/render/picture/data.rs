//! What a page gets: the columns of a picture as numbers, and each text once. A browser reads 100,000 objects at once.

use std::{borrow::Cow, hash::Hash};

use rustc_hash::FxHashMap;
use serde::Serialize;
use strum::VariantArray;

use crate::render::states::Look;

use super::{Fate, Link, Object, Picture, Row, Section, Verdict, View};

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
    facts: &'a [Section],
    sections: &'a [Section],
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
        let views =
            picture.views.iter().map(|view| Rows::of(view, &picture.objects, &mut texts, &mut stories)).collect();
        let Picture { kind, title, source, shown, .. } = picture;
        Data {
            kind,
            title,
            source,
            program: concat!("kubectl gc ", env!("CARGO_PKG_VERSION")),
            shown: *shown,
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
        objects: &[Object],
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
            let own = object.map(|object| &objects[object]).map(|Object { kind, name, .. }| format!("{kind}/{name}"));
            columns.object.push(object.map_or(0, |object| object + 1));
            columns.parent.push(parent.map_or(0, |parent| index - parent));
            columns.title.push(if own.as_ref() == Some(title) { 0 } else { texts.place(Cow::from(title)) });
            columns.fate.push(*fate as usize);
            columns.word.push(texts.place(Cow::from(word)));
            columns.detail.push(texts.place(Cow::from(detail)));
            columns.flags.push(usize::from(*points) + 2 * usize::from(*loses));
            columns.story.push(stories.place(story));
        }
        Rows { name, verdict: verdict.as_ref().map(headline), reasons, rows: columns, waits, facts, sections }
    }
}
