//! A view as a graph: nodes and edges, for formats that lay out by themselves.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Link, Picture, Row, View};

/// The nodes and edges of a view.
pub(super) struct Graph<'a> {
    /// The rows that are nodes, by index. A row that only points to another one is none.
    pub nodes: Vec<(usize, &'a Row)>,
    pub edges: Vec<Edge<'a>>,
}

/// A line from an owner to a dependent, or from a row to one that stands below it.
#[derive(Clone, Copy)]
pub(super) struct Edge<'a> {
    /// The rows.
    pub from: usize,
    pub to: usize,
    /// The owner reference; without one, the text lists the one below the other for another reason.
    pub link: Option<&'a Link>,
    /// Whether the row stands below the other one.
    pub places: bool,
    /// One waits for the other ([`View::waits`]).
    pub waits: bool,
}

impl<'a> Graph<'a> {
    pub(super) fn of(picture: &'a Picture, view: &'a View) -> Self {
        // The row of each object.
        let mut row_of: FxHashMap<usize, usize> = FxHashMap::default();
        for (index, row) in view.rows.iter().enumerate() {
            if let Some(object) = row.object.filter(|_| !row.points && row.more == 0) {
                row_of.entry(object).or_insert(index);
            }
        }
        let is_node = |row: &Row| !row.points || row.object.is_none_or(|object| !row_of.contains_key(&object));
        let mut links: FxHashMap<(usize, usize), &Link> = FxHashMap::default();
        for link in &picture.links {
            links.entry((link.owner, link.dependent)).or_insert(link);
        }
        let node_of = |index: usize| {
            let row = &view.rows[index];
            let object = row.object.filter(|_| !is_node(row));
            object.and_then(|object| row_of.get(&object).copied()).unwrap_or(index)
        };
        // In a tree of owners, the owner stands below.
        let between = |one: Option<usize>, other: Option<usize>| {
            let (one, other) = (one?, other?);
            links.get(&(one, other)).or_else(|| links.get(&(other, one))).copied()
        };
        let mut drawn: FxHashSet<(usize, usize)> = FxHashSet::default();
        let mut edges = Vec::new();
        for (index, row) in view.rows.iter().enumerate() {
            let Some(parent) = row.parent else { continue };
            let link = between(view.rows[parent].object, row.object).filter(|_| view.rows[parent].more == 0);
            // A heading may stand between an object and what is listed below it.
            let heading = Some(parent).filter(|parent| view.rows[*parent].object.is_none());
            let above = heading.and_then(|heading| view.rows[view.rows[heading].parent?].object);
            for link in link.into_iter().chain(between(above, row.object)) {
                drawn.insert((link.owner, link.dependent));
            }
            let upwards =
                link.is_some_and(|link| Some(link.owner) == row.object && row.object != view.rows[parent].object);
            let (from, to) = if upwards { (index, parent) } else { (parent, index) };
            edges.push(Edge { from: node_of(from), to: node_of(to), link, places: is_node(row), waits: false });
        }
        for link in &picture.links {
            if let (Some(from), Some(to)) = (row_of.get(&link.owner), row_of.get(&link.dependent))
                && drawn.insert((link.owner, link.dependent))
            {
                let link = Some(link);
                edges.push(Edge { from: *from, to: *to, link, places: false, waits: false });
            }
        }
        for [from, to] in &view.waits {
            if let (Some(from), Some(to)) = (row_of.get(from), row_of.get(to)) {
                edges.push(Edge { from: *from, to: *to, link: None, places: false, waits: true });
            }
        }
        let nodes = view.rows.iter().enumerate().filter(|(_, row)| is_node(row)).collect();
        Graph { nodes, edges }
    }
}
