//! A tree as a picture.

use crate::{
    model::ObjectId,
    tree::{Direction, fold::Row as TreeRow},
    wording::count,
};

use super::{
    lines::Line,
    output::TextOptions,
    picture::{Levels, Objects, Picture, PictureOptions, Row, View, remarks_of, row_of, section},
    plan::located,
    sections::Heading,
    style::Style,
    template::TemplateOptions,
    tree::TreeView,
    tree::{TreeLines, no_objects, totals},
};

/// The picture of a tree.
pub(super) fn picture(view: &TreeView<'_>, options: &PictureOptions<'_>) -> Picture {
    let TreeView { snapshot, graph, tree, .. } = *view;
    let text = TextOptions {
        width: None,
        fold: options.fold,
        wide: false,
        templates: TemplateOptions::default(),
        now: options.now,
        style: &Style::default(),
    };
    let TreeLines { rows, lines, titles, lone } = TreeLines::of(view, &text);
    let mut objects = Objects::new(snapshot, graph, options.commands);
    let mut levels = Levels::default();
    let mut drawn: Vec<Row> = Vec::with_capacity(rows.len());
    for (index, (row, line)) in rows.iter().zip(&lines).enumerate() {
        let entry = &tree.entries[row.entry()];
        let object = match graph.object(entry.node) {
            Some(id) => Some(objects.add(id)),
            None => entry.reference(snapshot).and_then(|reference| objects.add_owner(reference)),
        };
        let (word, detail) = columns(&titles, line);
        let more = if let TreeRow::More { count, .. } = row { *count } else { 0 };
        let parent = levels.parent(index, entry.depth);
        let points = !entry.showing.here();
        drawn.push(Row { object, parent, word, detail, points, more, ..row_of(line) });
    }
    let mut totals = totals(view, &lone);
    if totals.is_empty() {
        totals.push(no_objects(view.snapshot).to_owned());
    }
    let sections = section(Heading::Note, totals).into_iter().collect();
    let (objects, links) = objects.finish();
    let views = vec![View { name: String::new(), verdict: None, rows: drawn, waits: Vec::new(), sections }];
    Picture { kind: "Tree", title: title(view), source: String::new(), objects, links, views, shown: 0 }
}

/// `Tree: Deployment/web`, `Owners: 2 targets`, `Tree: namespace shop`.
fn title(view: &TreeView<'_>) -> String {
    let TreeView { snapshot, graph, tree, .. } = *view;
    let namespace = tree.namespace.map(|namespace| snapshot.text(namespace));
    let roots = || tree.entries.iter().filter(|entry| entry.depth == 0).filter_map(|entry| graph.object(entry.node));
    let roots: Vec<ObjectId> = if tree.targeted { roots().collect() } else { Vec::new() };
    let of = match (roots.as_slice(), namespace) {
        ([one], _) => located(snapshot, *one, None),
        ([], Some(namespace)) => format!("namespace {namespace}"),
        ([], None) => "all objects".to_owned(),
        (many, _) => count(many.len(), "target", "targets"),
    };
    match tree.direction {
        Direction::Dependents => format!("Tree: {of}"),
        Direction::Owners => format!("Owners: {of}"),
    }
}

/// What the columns and remarks of a line say: the STATUS, and everything else.
fn columns(titles: &[String], line: &Line) -> (String, String) {
    let (mut status, mut rest) = (String::new(), Vec::new());
    for (title, (_, cell)) in titles.iter().zip(&line.columns) {
        match (title.trim(), cell.trim()) {
            (_, "" | "-") => {}
            ("STATUS", cell) => cell.clone_into(&mut status),
            ("READY" | "AGE", cell) => rest.push(cell.to_owned()),
            (title, cell) => rest.push(format!("{title} {cell}")),
        }
    }
    let remarks = Some(remarks_of(&line.remarks)).filter(|remarks| !remarks.is_empty());
    let details: Vec<String> =
        Some(rest.join("  ")).filter(|rest| !rest.is_empty()).into_iter().chain(remarks).collect();
    (status, details.join("; "))
}
