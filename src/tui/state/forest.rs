//! The keys of the forest.

use crate::render::style::Tone;
use gc_core::{model::Identity, server::Propagation};

use super::{
    super::{
        keys::Key,
        pane::{Item, ListKind, ListPane, Pane},
    },
    Effect, LONGEST_FILTER, State, details,
};

impl State {
    pub(super) fn forest_key(&mut self, key: Key) -> Vec<Effect> {
        match key {
            Key::Char('q') => return self.leave(),
            Key::Esc if self.rows.is_filtered() => self.set_filter(""),
            Key::Esc => return self.leave(),
            Key::Char('/') => self.filtering = true,
            Key::Right | Key::Char('l') => self.open(),
            Key::Left | Key::Char('h') => self.close(),
            Key::Char('+' | '=') => self.turn_all(true),
            Key::Char('-') => self.turn_all(false),
            Key::Char('o') => self.owners(),
            Key::Char('b') => {
                if let Some(identity) = self.history.pop() {
                    let before = self.history.len();
                    self.go_to(&identity);
                    self.history.truncate(before);
                }
            }
            Key::Char(' ') => {
                if let Some(object) = self.current() {
                    self.mark(self.scene.identity(object));
                    self.step(1);
                }
            }
            Key::Char('u') => {
                self.marks.clear();
                self.marked.clear();
            }
            Key::Tab => self.next_policy(),
            Key::Enter => self.details(),
            _ => return self.common_key(key).unwrap_or_else(|| self.move_key(key)),
        }
        Vec::new()
    }

    /// The keys that mean the same everywhere.
    pub(super) fn common_key(&mut self, key: Key) -> Option<Vec<Effect>> {
        Some(match key {
            Key::Char('?') => {
                self.help();
                Vec::new()
            }
            Key::Char('p') => self.plan(),
            Key::Char('d') => self.delete(),
            Key::Char('f') => self.diagnose(),
            Key::Char('y') => self.copy(),
            Key::Char('!') => {
                self.gaps();
                Vec::new()
            }
            Key::Char('r') => vec![Effect::Read],
            _ => return None,
        })
    }

    fn move_key(&mut self, key: Key) -> Vec<Effect> {
        let page = self.layout().list.max(1) as isize;
        match key {
            Key::Up | Key::Char('k') => self.step(-1),
            Key::Down | Key::Char('j') => self.step(1),
            Key::PageUp | Key::Ctrl('b') => self.step(-page),
            Key::PageDown | Key::Ctrl('f') => self.step(page),
            Key::Home | Key::Char('g') => self.step(isize::MIN),
            Key::End | Key::Char('G') => self.step(isize::MAX),
            Key::Char(other) => self.note = format!("{:?} does nothing here: ? lists the keys.", other),
            _ => {}
        }
        Vec::new()
    }

    pub(super) fn filter_key(&mut self, key: Key) -> Vec<Effect> {
        match key {
            Key::Enter => self.filtering = false,
            Key::Esc => {
                self.filtering = false;
                self.set_filter("");
            }
            Key::Backspace => {
                let mut text = self.filter.clone();
                text.pop();
                self.set_filter(&text);
            }
            Key::Ctrl('u') => self.set_filter(""),
            Key::Char(character) if self.filter.chars().count() < LONGEST_FILTER => {
                let text = format!("{}{character}", self.filter);
                self.set_filter(&text);
            }
            Key::Up | Key::Down | Key::PageUp | Key::PageDown => return self.move_key(key),
            _ => {}
        }
        Vec::new()
    }

    /// Filters, and selects the first match. Without a filter, what was selected stays so.
    fn set_filter(&mut self, text: &str) {
        let current = self.rows.get(self.selected);
        text.clone_into(&mut self.filter);
        self.rows.filter(&self.scene, text);
        let selected = if self.rows.is_filtered() { self.rows.first } else { current };
        if let Some(entry) = selected.filter(|_| !self.rows.is_filtered()) {
            self.rows.reveal(&self.scene, entry);
        }
        self.selected = selected.and_then(|entry| self.rows.row_of(entry)).unwrap_or(0);
        self.keep_in_view();
    }

    fn step(&mut self, by: isize) {
        self.selected = self.selected.saturating_add_signed(by);
        self.keep_in_view();
    }

    fn open(&mut self) {
        let Some(entry) = self.rows.get(self.selected) else { return };
        match self.rows.is_open(&self.scene, entry) {
            Some(true) => self.step(1),
            Some(false) => self.rows.turn(&self.scene, entry),
            None => {}
        }
    }

    fn close(&mut self) {
        let Some(entry) = self.rows.get(self.selected) else { return };
        if self.rows.is_open(&self.scene, entry) == Some(true) && !self.rows.is_filtered() {
            self.rows.turn(&self.scene, entry);
        } else if let Some(parent) = self.scene.parent(entry) {
            self.selected = self.rows.row_of(parent).unwrap_or(self.selected);
        }
        self.keep_in_view();
    }

    fn turn_all(&mut self, open: bool) {
        let entry = self.rows.get(self.selected);
        self.rows.turn_all(&self.scene, open);
        // What was selected may be hidden now: then what it is below of is selected.
        let mut at = entry;
        while let Some(hidden) = at.filter(|entry| self.rows.row_of(*entry).is_none()) {
            at = self.scene.parent(hidden);
        }
        self.selected = at.and_then(|entry| self.rows.row_of(entry)).unwrap_or(0);
        self.keep_in_view();
    }

    pub(super) fn next_policy(&mut self) {
        self.policy = match self.policy {
            Propagation::Background => Propagation::Foreground,
            Propagation::Foreground => Propagation::Orphan,
            Propagation::Orphan => Propagation::Background,
        };
        self.note = format!("Policy: {}.", self.policy.name().to_lowercase());
    }

    /// Goes to the only owner, or lists the owners.
    fn owners(&mut self) {
        let Some(object) = self.current() else { return };
        let owners = details::owners(&self.scene, object);
        match owners.as_slice() {
            [] => "It has no owner.".clone_into(&mut self.note),
            [details::Owner { identity: Some(owner), .. }] if self.is_in_forest(owner) => {
                let owner = owner.clone();
                self.go_to(&owner);
            }
            _ => {
                let item = |owner: details::Owner| Item {
                    tone: if owner.valid { Tone::Plain } else { Tone::Warning },
                    text: owner.words,
                    object: owner.identity,
                };
                self.panes.push(Pane::List(ListPane {
                    kind: ListKind::Owners,
                    title: format!("Owners of {}", details::name(&self.scene, object)),
                    items: owners.into_iter().map(item).collect(),
                    empty: String::new(),
                    selected: 0,
                    top: 0,
                }));
            }
        }
    }

    fn is_in_forest(&self, identity: &Identity) -> bool {
        self.scene.find(identity).is_some_and(|object| self.scene.place(object).is_some())
    }
}
