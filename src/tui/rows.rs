//! Which entries of the forest are rows: what is open, and what the filter lets through.

use rustc_hash::FxHashSet;

use crate::render::outline::{draw, last_of_siblings, levels};
use gc_core::model::ObjectId;

use super::scene::Scene;

/// A forest with at most this many entries is open from the start.
const OPEN: usize = 200;

/// The rows of a scene, in reading order.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    /// The entries, ascending.
    shown: Vec<u32>,
    /// Whether what is not in `turned` is open.
    open: bool,
    /// The objects that differ from that.
    turned: FxHashSet<ObjectId>,
    /// The words of the filter, in lower case.
    words: Vec<String>,
    /// The first entry that matches the filter.
    pub first: Option<u32>,
    /// How many entries match the filter.
    pub matching: usize,
    /// Whether each entry (with a filter: each row) is the last of its siblings.
    last: Vec<bool>,
}

impl Rows {
    pub(super) fn of(scene: &Scene) -> Self {
        let mut rows = Rows { open: scene.len() <= OPEN, ..Rows::default() };
        rows.build(scene);
        rows
    }

    /// The rows of the next state of the same source: what was open stays open.
    pub(super) fn carried(self, before: &Scene, scene: &Scene) -> Self {
        let turned = self.turned.iter().filter_map(|object| scene.find(&before.identity(*object))).collect();
        let mut rows = Rows { turned, ..self };
        rows.build(scene);
        rows
    }

    pub(super) fn len(&self) -> usize {
        self.shown.len()
    }

    pub(super) fn get(&self, row: usize) -> Option<u32> {
        self.shown.get(row).copied()
    }

    /// The row of an entry, if it has one.
    pub(super) fn row_of(&self, entry: u32) -> Option<usize> {
        self.shown.binary_search(&entry).ok()
    }

    /// The row of an entry, or the one where it would be.
    pub(super) fn nearest(&self, entry: u32) -> usize {
        self.shown.partition_point(|shown| *shown < entry).min(self.len().saturating_sub(1))
    }

    pub(super) fn is_filtered(&self) -> bool {
        !self.words.is_empty()
    }

    /// Whether the dependents of an entry are rows, too; `None` if it has none.
    pub(super) fn is_open(&self, scene: &Scene, entry: u32) -> Option<bool> {
        if scene.below(entry) == 0 {
            return None;
        }
        if self.is_filtered() {
            return Some(true);
        }
        let turned = scene.object(entry).is_some_and(|object| self.turned.contains(&object));
        Some(self.open != turned)
    }

    /// Opens or closes an entry. Touches only the rows below it.
    pub(super) fn turn(&mut self, scene: &Scene, entry: u32) {
        let (Some(object), Some(open), Some(row)) =
            (scene.object(entry), self.is_open(scene, entry), self.row_of(entry))
        else {
            return;
        };
        if self.is_filtered() {
            return;
        }
        if !self.turned.remove(&object) {
            self.turned.insert(object);
        }
        let end = self.shown.partition_point(|shown| *shown < scene.end(entry));
        let below = if open { Vec::new() } else { self.below(scene, entry + 1, scene.end(entry)) };
        self.shown.splice(row + 1..end, below);
    }

    /// Opens or closes everything.
    pub(super) fn turn_all(&mut self, scene: &Scene, open: bool) {
        self.open = open;
        self.turned.clear();
        self.build(scene);
    }

    /// Opens everything above an entry, so that it has a row, and drops the filter if it hides it.
    pub(super) fn reveal(&mut self, scene: &Scene, entry: u32) {
        if self.row_of(entry).is_some() {
            return;
        }
        self.words.clear();
        let mut above = scene.parent(entry);
        while let Some(parent) = above {
            if self.is_open(scene, parent) == Some(false)
                && let Some(object) = scene.object(parent)
                && !self.turned.remove(&object)
            {
                self.turned.insert(object);
            }
            above = scene.parent(parent);
        }
        self.build(scene);
    }

    /// Shows only entries in which every word of a text occurs, and what leads to them.
    pub(super) fn filter(&mut self, scene: &Scene, text: &str) {
        self.words = text.split_whitespace().map(str::to_lowercase).collect();
        self.build(scene);
    }

    fn build(&mut self, scene: &Scene) {
        if self.is_filtered() {
            self.shown = self.filtered(scene);
            let depths: Vec<usize> = self.shown.iter().map(|entry| scene.entry(*entry).depth as usize).collect();
            self.last = last_of_siblings(&depths);
        } else {
            self.matching = scene.len();
            self.shown = self.below(scene, 0, scene.len() as u32);
            let depths: Vec<usize> = scene.tree.entries.iter().map(|entry| entry.depth as usize).collect();
            self.last = last_of_siblings(&depths);
        }
    }

    /// The rows among the entries of a range, which begins with a sibling of all that are not below others in it.
    fn below(&self, scene: &Scene, begin: u32, end: u32) -> Vec<u32> {
        let mut shown = Vec::new();
        let mut entry = begin;
        while entry < end {
            shown.push(entry);
            entry = match self.is_open(scene, entry) {
                Some(false) => scene.end(entry),
                _ => entry + 1,
            };
        }
        shown
    }

    fn filtered(&mut self, scene: &Scene) -> Vec<u32> {
        let mut shown = vec![false; scene.len()];
        let mut text = String::new();
        (self.matching, self.first) = (0, None);
        for entry in 0..scene.len() as u32 {
            let Some(object) = scene.object(entry).filter(|_| scene.entry(entry).showing.here()) else { continue };
            searchable(scene, object, &mut text);
            if !self.words.iter().all(|word| text.contains(word.as_str())) {
                continue;
            }
            self.matching += 1;
            self.first = self.first.or(Some(entry));
            let mut above = Some(entry);
            while let Some(one) = above.filter(|one| !shown[*one as usize]) {
                shown[one as usize] = true;
                above = scene.parent(one);
            }
        }
        (0..scene.len() as u32).filter(|entry| shown[*entry as usize]).collect()
    }

    /// The guide before the name in a row. Looks at a few ancestors only.
    pub(super) fn guide(&self, scene: &Scene, row: usize) -> String {
        let Some(entry) = self.get(row) else { return String::new() };
        let depth = scene.entry(entry).depth as usize;
        let mut ends = Vec::new();
        let mut at = Some(entry);
        while let Some(one) = at.filter(|_| ends.len() < levels(depth)) {
            let place = if self.is_filtered() { self.row_of(one) } else { Some(one as usize) };
            ends.push(place.and_then(|place| self.last.get(place)).copied().unwrap_or(true));
            at = scene.parent(one);
        }
        ends.reverse();
        draw(depth, &ends)
    }
}

/// What the filter looks at: `kind/name namespace`, in lower case, and the word terminating.
fn searchable(scene: &Scene, id: ObjectId, text: &mut String) {
    let object = scene.snapshot.object(id);
    text.clear();
    text.push_str(&scene.snapshot.resources.get(object.resource).kind);
    text.push('/');
    text.push_str(scene.snapshot.text(object.name));
    text.push(' ');
    text.push_str(scene.snapshot.text(object.namespace));
    if object.terminating() {
        text.push_str(" terminating");
    }
    if text.is_ascii() {
        text.make_ascii_lowercase();
    } else {
        *text = text.to_lowercase();
    }
}
