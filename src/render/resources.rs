//! The served resources: which of them the collector watches, and why not the others.

use std::{
    collections::BTreeMap,
    io::{self, Write},
};

use rustc_hash::FxHashMap;
use serde::Serialize;

use gc_core::{
    model::{Gap, NotWatched, Resource, ResourceId, Resources},
    wording::{count, grouped},
};

use super::{
    document::Head,
    escape::visible,
    output::{Output, TextOptions},
    states::{Style, Tone},
    table::{Column, Table},
};

/// Everything that `kubectl gc resources` shows.
#[derive(Clone, Copy, Debug)]
pub struct ResourcesView<'a> {
    pub resources: &'a Resources,
    pub gaps: &'a [Gap],
    /// The number of objects of each resource, if they were counted; resources that could not be counted are missing.
    pub counts: Option<&'a BTreeMap<ResourceId, usize>>,
}

/// One resource, in the version that the collector picks.
struct Row<'a> {
    id: ResourceId,
    resource: &'a Resource,
    /// The other served versions.
    also: Vec<&'a str>,
    not_watched: Option<&'a NotWatched>,
}

impl Row<'_> {
    /// Whether the collector watches it and why not, and the other versions.
    fn collector(&self) -> String {
        let watched = match self.not_watched {
            None => "watched".to_owned(),
            Some(why) => format!("not watched: {why}"),
        };
        self.and_versions(watched)
    }

    /// The heading that rows of the same version share if the terminal is too narrow for columns.
    fn heading(&self) -> String {
        let api_version = self.resource.api_version();
        self.and_versions(match self.not_watched {
            None => api_version,
            Some(why) => format!("{api_version}: {why}"),
        })
    }

    fn and_versions(&self, text: String) -> String {
        if self.also.is_empty() { text } else { format!("{text}; also served as {}", self.also.join(", ")) }
    }
}

impl Output for ResourcesView<'_> {
    /// Described in `docs/schema/resources.json`.
    fn document(&self) -> impl Serialize {
        let view = *self;
        let resources = view.resources.iter().map(|(id, resource)| ResourceJson {
            group: &resource.group,
            version: &resource.version,
            name: &resource.plural,
            kind: &resource.kind,
            singular: &resource.singular,
            short_names: &resource.short_names,
            categories: &resource.categories,
            namespaced: resource.namespaced,
            verbs: &resource.verbs,
            watched: view.resources.not_watched(id).is_none(),
            not_watched_because: view.resources.not_watched(id).map(|why| Because::of(view.resources, id, why)),
            objects: view.count(id),
        });
        Document { head: Head::new("Resources", view.gaps, view.resources.server()), resources: resources.collect() }
    }

    /// One line for each resource. If that doesn't fit the width, resources of the same version share a heading.
    fn write(&self, options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
        let TextOptions { wide, width, style, .. } = *options;
        let rows = self.rows();
        if rows.is_empty() {
            return writeln!(out, "No resources.");
        }
        let table = self.table(wide);
        match width.filter(|width| !wide && table.natural_width(&rows) > *width) {
            Some(width) => self.write_grouped(&rows, width, style, out),
            None => {
                for (index, line) in table.lines(&rows, None).iter().enumerate() {
                    let quiet = index > 0 && rows.get(index - 1).is_some_and(|row| row.not_watched.is_some());
                    writeln!(out, "{}", style.paint(if quiet { Tone::Quiet } else { Tone::Plain }, line))?;
                }
                Ok(())
            }
        }
    }

    /// `plural.group` of each resource, as kubectl prints it.
    fn names(&self) -> Option<Vec<String>> {
        Some(self.rows().iter().map(|row| row.resource.full_name()).collect())
    }
}

impl<'a> ResourcesView<'a> {
    /// Every resource once, the watched ones first, both in the order of discovery.
    fn rows(&self) -> Vec<Row<'a>> {
        let mut also: FxHashMap<ResourceId, Vec<&'a str>> = FxHashMap::default();
        let (mut picked, mut others) = (Vec::new(), Vec::new());
        for (id, resource) in self.resources.iter() {
            match self.resources.not_watched(id) {
                Some(NotWatched::OtherVersion(_)) => {
                    also.entry(self.resources.picked(id)).or_default().push(&resource.version);
                }
                not_watched => {
                    let rows = if not_watched.is_none() { &mut picked } else { &mut others };
                    rows.push(Row { id, resource, also: Vec::new(), not_watched });
                }
            }
        }
        picked.append(&mut others);
        for row in &mut picked {
            row.also = also.remove(&row.id).unwrap_or_default();
        }
        picked
    }

    fn table(&self, wide: bool) -> Table<'_, Row<'a>> {
        Table::default()
            .with(Column::text("NAME"), |row: &Row<'_>| row.resource.plural.clone())
            .with_if(wide, Column::text("SHORTNAMES"), |row| listed(&row.resource.short_names))
            .with(Column::text("APIVERSION"), |row| row.resource.api_version())
            .with(Column::text("NAMESPACED"), |row| row.resource.namespaced.to_string())
            .with(Column::text("KIND"), |row| row.resource.kind.clone())
            .with_if(wide, Column::text("VERBS"), |row| listed(&row.resource.verbs))
            .with_if(wide, Column::text("CATEGORIES"), |row| listed(&row.resource.categories))
            .with_if(self.counts.is_some(), Column::number("OBJECTS"), |row| self.objects(row))
            .with(Column::text("COLLECTOR"), Row::collector)
    }

    /// The cell of the count.
    fn objects(&self, row: &Row<'_>) -> String {
        let name = row.resource.full_name();
        let partial = self.gaps.iter().any(|gap| gap.resource == name);
        match self.count(row.id) {
            None => "?".to_owned(),
            Some(count) if partial => format!("{count}+"),
            Some(count) => count.to_string(),
        }
    }

    fn count(&self, id: ResourceId) -> Option<usize> {
        self.counts?.get(&id).copied()
    }

    /// Repeated columns become headings, so that nearly all rows fit a terminal of 80 columns.
    fn write_grouped(&self, rows: &[Row<'_>], width: usize, style: &Style, out: &mut dyn Write) -> io::Result<()> {
        let table = Table::default()
            .with(Column::name("NAME"), |row: &Row<'_>| row.resource.plural.clone())
            .with(Column::text("NAMESPACED"), |row| row.resource.namespaced.to_string())
            .with(Column::name("KIND"), |row| row.resource.kind.clone())
            .with_if(self.counts.is_some(), Column::number("OBJECTS"), |row| self.objects(row));
        let lines = table.lines(rows, Some(width.saturating_sub(2)));
        let Some((header, lines)) = lines.split_first() else { return Ok(()) };
        let rows: Vec<(&Row<'_>, &String)> = rows.iter().zip(lines).collect();
        let (watched, others): (Vec<_>, Vec<_>) = rows.into_iter().partition(|(row, _)| row.not_watched.is_none());
        let sections = [("Watched by the garbage collector", watched), ("Not watched", others)];
        for (index, (title, rows)) in sections.iter().filter(|(_, rows)| !rows.is_empty()).enumerate() {
            if index > 0 {
                writeln!(out)?;
            }
            let number = count(rows.len(), "resource", "resources");
            writeln!(out, "{}", style.paint(Tone::Strong, &format!("{title}: {number}")))?;
            writeln!(out)?;
            writeln!(out, "  {header}")?;
            for (heading, lines) in grouped(rows.iter().map(|(row, line)| (row.heading(), *line))) {
                writeln!(out, "{}", visible(&heading))?;
                for line in lines.iter().flat_map(|line| line.lines()) {
                    writeln!(out, "  {line}")?;
                }
            }
        }
        Ok(())
    }
}

fn listed(words: &[String]) -> String {
    if words.is_empty() { "-".to_owned() } else { words.join(",") }
}

/// `kind: Resources`.
#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    head: Head,
    resources: Vec<ResourceJson<'a>>,
}

/// One resource in one version.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResourceJson<'a> {
    group: &'a str,
    version: &'a str,
    name: &'a str,
    kind: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    singular: &'a str,
    short_names: &'a [String],
    categories: &'a [String],
    namespaced: bool,
    verbs: &'a [String],
    watched: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_watched_because: Option<Because>,
    #[serde(skip_serializing_if = "Option::is_none")]
    objects: Option<usize>,
}

/// Why a resource is not watched: a word whose meaning never changes, and a sentence.
#[derive(Serialize)]
struct Because {
    reason: &'static str,
    message: String,
}

impl Because {
    fn of(resources: &Resources, id: ResourceId, why: &NotWatched) -> Self {
        let picked_is_watched = resources.not_watched(resources.picked(id)).is_none();
        let (reason, message) = match why {
            NotWatched::OtherVersion(version) if !picked_is_watched => {
                ("other-version", format!("served after {version}, which is not watched"))
            }
            NotWatched::OtherVersion(_) => ("other-version", why.to_string()),
            NotWatched::MissingVerbs(_) => ("missing-verbs", why.to_string()),
            NotWatched::Ignored => ("ignored", why.to_string()),
        };
        Because { reason, message }
    }
}
