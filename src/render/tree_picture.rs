//! A tree as a picture.

use gc_core::{model::ObjectId, tree::Direction, wording::count};

use super::{
    output::TextOptions,
    picture::{Objects, Picture, PictureOptions, Row, View, section},
    sections::Heading,
    style::Style,
    template::TemplateOptions,
    tree::{TreeView, no_objects, outline, totals},
};

/// The picture of a tree.
pub(super) fn picture(view: &TreeView<'_>, options: &PictureOptions<'_>) -> Picture {
    let TreeView { snapshot, graph, .. } = *view;
    let text = TextOptions {
        width: None,
        fold: options.fold,
        wide: false,
        templates: TemplateOptions::default(),
        now: options.now,
        style: &Style::default(),
    };
    let (outline, lone) = outline(view, &text);
    let mut objects = Objects::new(snapshot, graph, options.commands);
    let mut rows: Vec<Row> = Vec::with_capacity(outline.rows.len());
    outline.draw(&mut objects, None, &mut rows);
    let mut totals = totals(view, &lone);
    if totals.is_empty() {
        totals.push(no_objects(view.snapshot).to_owned());
    }
    let sections = section(Heading::Note, totals).into_iter().collect();
    Picture::of("Tree", title(view), objects, View { rows, sections, ..View::default() })
}

/// `Tree: Deployment/web`, `Owners: 2 targets`, `Tree: namespace shop`.
fn title(view: &TreeView<'_>) -> String {
    let TreeView { snapshot, graph, tree, .. } = *view;
    let namespace = tree.namespace.map(|namespace| snapshot.text(namespace));
    let roots = || tree.entries.iter().filter(|entry| entry.depth == 0).filter_map(|entry| graph.object(entry.node));
    let roots: Vec<ObjectId> = if tree.targeted { roots().collect() } else { Vec::new() };
    let of = match (roots.as_slice(), namespace) {
        ([one], _) => snapshot.located(*one, None),
        ([], Some(namespace)) => format!("namespace {namespace}"),
        ([], None) => "all objects".to_owned(),
        (many, _) => count(many.len(), "target", "targets"),
    };
    match tree.direction {
        Direction::Dependents => format!("Tree: {of}"),
        Direction::Owners => format!("Owners: {of}"),
    }
}
