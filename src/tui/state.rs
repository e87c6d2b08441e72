//! What the screen shows, and what each key and each piece of news makes of it.

mod keys;

use rustc_hash::{FxHashMap, FxHashSet};

use gc_core::{
    model::{Identity, ObjectId},
    server::Propagation,
    tree::ObjectStatus,
    wording::count,
};

use super::{
    Finding, News,
    draw::Layout,
    keys::Key,
    pane::{Pane, TextKind, TextPane},
    scene::{Rows, Scene},
};

/// What is open at the beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Start {
    #[default]
    Forest,
    /// The targets are marked, and their plan is open.
    Plan,
    Findings,
}

/// What is to be done outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Simulate a delete, and write its plan for this width.
    Plan {
        request: u64,
        targets: Vec<Identity>,
        propagation: Propagation,
        width: usize,
    },
    /// Look for problems, and write them for this width.
    Diagnose {
        width: usize,
    },
    /// Read READY and STATUS of these objects.
    Statuses(Vec<Identity>),
    /// Read everything again.
    Read,
    /// Put a text on the clipboard of the terminal.
    Copy(String),
    /// Show the plan on the ordinary screen, ask, and delete.
    Delete {
        targets: Vec<Identity>,
        propagation: Propagation,
    },
    Leave,
}

/// The longest filter, in characters.
const LONGEST_FILTER: usize = 200;
/// Statuses are read again after so many seconds.
const STATUSES_LAST: i64 = 5;

/// The screen.
#[derive(Debug)]
pub struct State {
    pub(super) scene: Box<Scene>,
    pub(super) rows: Rows,
    /// The selected row, and the first one on the screen.
    pub(super) selected: usize,
    pub(super) top: usize,
    /// In the order in which they were marked.
    pub(super) marks: Vec<Identity>,
    pub(super) marked: FxHashSet<ObjectId>,
    pub(super) policy: Propagation,
    pub(super) filter: String,
    /// Whether keys go to the filter.
    pub(super) filtering: bool,
    /// What covers the forest; the last one is on top.
    pub(super) panes: Vec<Pane>,
    pub(super) findings: Vec<Finding>,
    /// The plan on the screen is of a cluster that has changed.
    pub(super) outdated: bool,
    /// Where `b` goes.
    history: Vec<Identity>,
    pub(super) statuses: FxHashMap<String, Option<ObjectStatus>>,
    /// The time in Unix seconds at which statuses were asked for, until they come.
    asked: Option<i64>,
    read_statuses_at: i64,
    /// The number of the last plan that was asked for.
    request: u64,
    pub(super) doing: String,
    pub(super) deleting: Option<String>,
    pub(super) note: String,
    pub(super) now: i64,
    pub(super) size: (u16, u16),
    pub(super) colours: bool,
    /// Whether the user was told that a delete is running.
    warned: bool,
}

impl State {
    /// Shows a scene on a terminal of this many columns and lines, at this time in Unix seconds.
    pub fn new(scene: Box<Scene>, policy: Propagation, size: (u16, u16), now: i64, colours: bool) -> Self {
        let rows = Rows::of(&scene);
        State {
            scene,
            rows,
            selected: 0,
            top: 0,
            marks: Vec::new(),
            marked: FxHashSet::default(),
            policy,
            filter: String::new(),
            filtering: false,
            panes: Vec::new(),
            findings: Vec::new(),
            outdated: false,
            history: Vec::new(),
            statuses: FxHashMap::default(),
            asked: None,
            read_statuses_at: 0,
            request: 0,
            doing: String::new(),
            deleting: None,
            note: String::new(),
            now,
            size,
            colours,
            warned: false,
        }
    }

    /// Opens what the command line asks for; `targets` are what it names.
    pub fn start(&mut self, start: Start, targets: &[Identity]) -> Vec<Effect> {
        match start {
            Start::Forest => {}
            Start::Plan if targets.is_empty() => {
                self.note = "Mark objects with Space; p shows what a delete of them does.".to_owned();
            }
            Start::Plan => {
                targets.iter().for_each(|target| self.mark(target.clone()));
                return self.plan();
            }
            Start::Findings => return self.diagnose(),
        }
        self.wanted_statuses()
    }

    /// A key was pressed.
    pub fn key(&mut self, key: Key) -> Vec<Effect> {
        self.note.clear();
        let mut effects = match key {
            Key::Ctrl('c') => vec![Effect::Leave],
            _ if self.filtering => self.filter_key(key),
            _ if self.panes.is_empty() => self.forest_key(key),
            _ => self.pane_key(key),
        };
        if key != Key::Char('q') && key != Key::Esc {
            self.warned = false;
        }
        effects.extend(self.wanted_statuses());
        effects
    }

    /// The terminal has this size now.
    pub(super) fn resized(&mut self, size: (u16, u16)) -> Vec<Effect> {
        if self.size == size {
            return Vec::new();
        }
        let width = self.size.0;
        self.size = size;
        self.keep_in_view();
        let plan = matches!(self.panes.last(), Some(Pane::Text(pane)) if pane.kind == TextKind::Plan);
        let mut effects = if plan && width != size.0 { self.ask_for_plan() } else { Vec::new() };
        effects.extend(self.wanted_statuses());
        effects
    }

    /// Time has passed.
    pub fn tick(&mut self, now: i64) -> Vec<Effect> {
        self.now = now;
        self.wanted_statuses()
    }

    /// Something has happened outside.
    pub fn news(&mut self, news: News) -> Vec<Effect> {
        match news {
            News::Scene(scene) => self.next_scene(scene),
            News::Statuses(statuses) => {
                self.statuses.extend(statuses);
                self.asked = None;
                self.read_statuses_at = self.now;
            }
            News::Planned(planned) => {
                let mut effects = self.planned(planned);
                effects.extend(self.wanted_statuses());
                return effects;
            }
            News::Diagnosed(found) => self.diagnosed(found),
            News::Doing(text) => self.doing = text,
            News::Deleting(text) => self.deleting = Some(text),
            News::Deleted(lines) => {
                self.deleting = None;
                self.panes.push(Pane::Text(TextPane::new(TextKind::Plain, "What came of the delete", lines)));
            }
            News::Note(text) => self.note = text,
        }
        self.wanted_statuses()
    }

    /// A delete was approved, and is carried out.
    pub fn begins_to_delete(&mut self) {
        self.deleting = Some("Deleting".to_owned());
        self.marks.clear();
        self.marked.clear();
        self.panes.clear();
        // A filter would hide what goes.
        if self.rows.is_filtered() {
            let entry = self.rows.get(self.selected);
            self.filter.clear();
            self.rows.filter(&self.scene, "");
            self.selected = entry.and_then(|entry| self.rows.row_of(entry)).unwrap_or(0);
            self.keep_in_view();
        }
        "The delete has begun: the tree shows what goes.".clone_into(&mut self.note);
    }

    /// Whether a delete is being carried out.
    pub fn is_deleting(&self) -> bool {
        self.deleting.is_some()
    }

    pub(super) fn layout(&self) -> Layout {
        Layout::of(self.size)
    }

    fn keep_in_view(&mut self) {
        self.selected = self.selected.min(self.rows.len().saturating_sub(1));
        let height = self.layout().list;
        self.top = super::pane::in_view(self.top, self.selected, height);
        // Nothing is left empty below the last row.
        self.top = self.top.min(self.rows.len().saturating_sub(height.max(1)));
    }

    /// The object in the selected row.
    pub(super) fn current(&self) -> Option<ObjectId> {
        self.scene.object(self.rows.get(self.selected)?)
    }

    /// What a plan or a delete is about: the marked objects, or else the selected one.
    fn targets(&self) -> Vec<Identity> {
        match self.marks.is_empty() {
            false => self.marks.clone(),
            true => self.current().map(|object| self.scene.identity(object)).into_iter().collect(),
        }
    }

    fn mark(&mut self, identity: Identity) {
        let Some(object) = self.scene.find(&identity) else { return };
        match self.marked.insert(object) {
            true => self.marks.push(identity),
            false => {
                self.marked.remove(&object);
                self.marks.retain(|mark| *mark != identity);
            }
        }
    }

    /// Goes to an object, and says so if it isn't in the forest.
    fn go_to(&mut self, identity: &Identity) {
        let place = self.scene.find(identity).and_then(|object| self.scene.place(object));
        let Some(entry) = place else {
            self.note = format!("{} is not in this forest.", identity.short_name());
            return;
        };
        if let Some(from) = self.current() {
            self.history.push(self.scene.identity(from));
        }
        self.panes.clear();
        self.rows.reveal(&self.scene, entry);
        if !self.rows.is_filtered() {
            self.filter.clear();
        }
        self.selected = self.rows.row_of(entry).unwrap_or(0);
        self.keep_in_view();
    }

    /// Shows the next state of the source. What was selected, open and marked stays so.
    fn next_scene(&mut self, scene: Box<Scene>) {
        let selected = self.rows.get(self.selected);
        let identity = self.current().map(|object| self.scene.identity(object));
        let gone = lost(&self.scene, &scene);
        let new = lost(&scene, &self.scene);
        self.rows = std::mem::take(&mut self.rows).carried(&self.scene, &scene);
        self.scene = scene;
        let entry = identity.and_then(|identity| self.scene.place(self.scene.find(&identity)?));
        self.selected = match entry.and_then(|entry| self.rows.row_of(entry)) {
            Some(row) => row,
            None => selected.map_or(0, |entry| self.rows.nearest(entry)),
        };
        let before = self.marks.len();
        self.marks.retain(|mark| self.scene.find(mark).is_some());
        self.marked = self.marks.iter().filter_map(|mark| self.scene.find(mark)).collect();
        let unmarked = before - self.marks.len();
        let news = [(gone, "gone"), (new, "new"), (unmarked, "no longer marked")];
        let news: Vec<String> =
            news.iter().filter(|(number, _)| *number > 0).map(|(number, what)| format!("{number} {what}")).collect();
        if !news.is_empty() {
            self.note = format!("The cluster has changed: {}.", news.join(", "));
        }
        self.outdated = true;
        self.read_statuses_at = 0;
        self.keep_in_view();
    }

    /// Asks for the statuses of the rows on the screen, if they are unknown or old.
    fn wanted_statuses(&mut self) -> Vec<Effect> {
        if !self.scene.live || self.asked.is_some_and(|asked| self.now < asked + STATUSES_LAST) {
            return Vec::new();
        }
        let objects: Vec<ObjectId> = self.visible().filter_map(|entry| self.scene.object(entry)).collect();
        let uid = |object: &ObjectId| self.scene.snapshot.text(self.scene.snapshot.object(*object).uid);
        let is_old = self.now >= self.read_statuses_at + STATUSES_LAST;
        if objects.is_empty() || (!is_old && objects.iter().all(|object| self.statuses.contains_key(uid(object)))) {
            return Vec::new();
        }
        self.asked = Some(self.now);
        vec![Effect::Statuses(objects.iter().map(|object| self.scene.identity(*object)).collect())]
    }

    /// The entries of the rows on the screen.
    pub(super) fn visible(&self) -> impl Iterator<Item = u32> {
        (self.top..self.top + self.layout().list).map_while(|row| self.rows.get(row))
    }

    fn leave(&mut self) -> Vec<Effect> {
        if self.is_deleting() && !self.warned {
            self.warned = true;
            self.note = "The delete is still going on. q again leaves; what was sent goes on without you.".to_owned();
            return Vec::new();
        }
        vec![Effect::Leave]
    }
}

/// How many objects in the forest of one state the other lacks.
fn lost(of: &Scene, other: &Scene) -> usize {
    let is_there = |uid: &str| other.snapshot.strings.find(uid).is_some_and(|uid| other.snapshot.by_uid(uid).is_some());
    let shown = of.snapshot.objects().filter(|(id, _)| of.place(*id).is_some());
    shown.filter(|(_, object)| !is_there(of.snapshot.text(object.uid))).count()
}

/// `3 objects`
pub(super) fn objects(number: usize) -> String {
    count(number, "object", "objects")
}
