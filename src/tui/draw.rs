//! The picture: only what is visible is laid out, whatever the number of objects.

use ratatui::{
    buffer::Buffer,
    style::{Color, Modifier, Style},
};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::render::{
    escape::visible,
    states::{Tone, Toned},
    tree::name,
};
use gc_core::{
    model::ObjectId,
    tree::{Mark, State as Terminating},
    wording::{age, thousands},
};

use super::{
    keys,
    pane::{Line, ListKind, ListPane, Pane, TextKind, TextPane, wrapped},
    state::{Effect, State},
};

/// The widths of READY, STATUS and AGE.
const READY: usize = 7;
const STATUS: usize = 16;
const AGE: usize = 5;
/// READY is left out where less is left for names, and then STATUS.
const LEAST_NAME: usize = 36;
/// The places of `>` and `*`.
const MARKS: usize = 2;

/// How the lines of the screen are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub title: bool,
    pub columns: bool,
    /// The rows of the forest.
    pub list: usize,
    /// The lines about the selected object.
    pub strip: usize,
    pub message: bool,
    pub footer: bool,
    /// The lines of what covers the forest.
    pub pane: usize,
}

impl Layout {
    pub(super) fn of((_, height): (u16, u16)) -> Self {
        let height = usize::from(height);
        let (title, footer, message) = (height >= 3, height >= 4, height >= 5);
        let (columns, strip) = (height >= 10, if height >= 16 { 3 } else { 0 });
        let pane = height - usize::from(title) - usize::from(footer) - usize::from(message);
        let list = pane - usize::from(columns) - strip;
        Layout { title, columns, list, strip, message, footer, pane }
    }
}

/// What was drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drawn {
    /// How many rows or lines of a text were laid out.
    pub rows: usize,
    /// What a size other than the last one asks for.
    pub effects: Vec<Effect>,
}

/// Draws the screen. How large it is, only the buffer knows: a terminal changes its size at any moment, and its message
/// about that comes later.
pub fn draw(state: &mut State, buffer: &mut Buffer) -> Drawn {
    let area = buffer.area;
    let effects = state.resized((area.width, area.height));
    let layout = Layout::of((area.width, area.height));
    let mut page = Page { buffer, width: usize::from(area.width), colours: state.colours, y: 0 };
    if layout.title {
        page.title(state);
    }
    let rows = match state.panes.last() {
        None => page.forest(state, layout),
        Some(Pane::Text(pane)) => page.text(pane, layout.pane.saturating_sub(1)),
        Some(Pane::List(pane)) => page.list(pane, layout.pane.saturating_sub(1)),
    };
    page.y = area.height - u16::from(layout.message) - u16::from(layout.footer);
    if layout.message {
        page.message(state);
    }
    if layout.footer {
        page.footer(state);
    }
    Drawn { rows, effects }
}

struct Page<'b> {
    buffer: &'b mut Buffer,
    width: usize,
    colours: bool,
    /// The next line.
    y: u16,
}

impl Page<'_> {
    fn style(&self, tone: Tone) -> Style {
        let style = Style::new();
        match tone {
            _ if !self.colours => style,
            Tone::Plain => style,
            Tone::Quiet => style.add_modifier(Modifier::DIM),
            Tone::Strong => style.add_modifier(Modifier::BOLD),
            Tone::Good => style.fg(Color::Green),
            Tone::Later => style.fg(Color::Magenta),
            Tone::Warning => style.fg(Color::Yellow),
            Tone::Error => style.fg(Color::Red).add_modifier(Modifier::BOLD),
        }
    }

    /// Writes parts in the next line, from a column on, in at most so many columns. What does not fit ends with `…`.
    /// Returns the columns that it takes.
    fn put(&mut self, x: usize, parts: &[(Tone, &str)], most: usize) -> usize {
        let most = most.min(self.width.saturating_sub(x));
        let all: usize = parts.iter().map(|(_, text)| text.width()).sum();
        let room = if all > most { most.saturating_sub(1) } else { most };
        let mut used = 0;
        for (tone, text) in parts {
            let cut = fitting(text, room - used);
            self.buffer.set_stringn((x + used) as u16, self.y, cut, room - used, self.style(*tone));
            used += cut.width();
            if cut.len() < text.len() {
                break;
            }
        }
        if all > most && most > 0 {
            self.buffer.set_stringn((x + used) as u16, self.y, "…", 1, self.style(Tone::Quiet));
            used += 1;
        }
        used
    }

    /// Writes a line with something at its right end, and goes to the next one.
    fn line(&mut self, left: &[(Tone, &str)], right: &[(Tone, &str)]) {
        let end: usize = right.iter().map(|(_, text)| text.width()).sum();
        let beside = if end == 0 { 0 } else { end + 2 };
        if beside >= self.width {
            self.put(0, left, self.width);
        } else {
            self.put(0, left, self.width - beside);
            self.put(self.width - end, right, end);
        }
        self.y += 1;
    }

    fn reverse(&mut self) {
        let area = ratatui::layout::Rect { x: 0, y: self.y, width: self.width as u16, height: 1 };
        self.buffer.set_style(area, Style::new().add_modifier(Modifier::REVERSED));
    }

    fn title(&mut self, state: &State) {
        let scene = &state.scene;
        let number = match state.rows.is_filtered() {
            true => format!("{} of {} match", thousands(state.rows.matching), thousands(scene.objects)),
            false => super::state::objects(scene.objects),
        };
        let live = if scene.live { ", live" } else { "" };
        let right = format!("{number}{live}");
        self.line(&[(Tone::Strong, &scene.header)], &[(Tone::Plain, &right)]);
    }

    fn forest(&mut self, state: &State, layout: Layout) -> usize {
        let columns = Columns::of(self.width, state.scene.live);
        if layout.columns {
            self.put(MARKS, &[(Tone::Strong, "OBJECT")], columns.name);
            for (x, title, width) in columns.titles() {
                self.put(x, &[(Tone::Strong, title)], width);
            }
            self.y += 1;
        }
        let begin = self.y;
        if state.rows.len() == 0 {
            let nothing = match state.rows.is_filtered() {
                true => "Nothing matches the filter.",
                false => crate::render::no_objects(&state.scene.snapshot),
            };
            self.put(MARKS, &[(Tone::Plain, nothing)], self.width);
        }
        let mut rows = 0;
        for (offset, entry) in state.visible().enumerate() {
            self.row(state, state.top + offset, entry, &columns);
            rows += 1;
        }
        self.y = begin + layout.list as u16;
        if layout.strip > 0 {
            self.strip(state, layout.strip);
        }
        rows
    }

    fn row(&mut self, state: &State, row: usize, entry: u32, columns: &Columns) {
        let scene = &state.scene;
        let object = scene.object(entry);
        let selected = row == state.selected;
        let marked = object.is_some_and(|object| state.marked.contains(&object));
        if selected {
            self.put(0, &[(Tone::Plain, ">")], 1);
        }
        if marked {
            self.put(1, &[(Tone::Warning, "*")], 1);
        }
        let guide = state.rows.guide(scene, row);
        let open = state.rows.is_open(scene, entry);
        let sign = match open {
            Some(true) => "▾ ",
            Some(false) => "▸ ",
            None if guide.is_empty() => "  ",
            None => "",
        };
        let shown = visible(&name(&scene.snapshot, &scene.graph, &scene.tree, scene.entry(entry))).into_owned();
        let hidden = match open {
            Some(false) => format!(" ({})", thousands(scene.below(entry))),
            _ => String::new(),
        };
        let remarks = remarks(state, entry);
        let mut parts =
            vec![(Tone::Quiet, guide.as_str()), (Tone::Plain, sign), (Tone::Plain, &shown), (Tone::Quiet, &hidden)];
        for (tone, text) in &remarks {
            parts.push((Tone::Plain, "  "));
            parts.push((*tone, text));
        }
        self.put(MARKS, &parts, columns.name);
        if scene.entry(entry).showing.here()
            && let Some(object) = object
        {
            for ((x, _, width), (tone, text)) in columns.titles().zip(cells(state, object, columns)) {
                self.put(x, &[(tone, &text)], width);
            }
        }
        if selected {
            self.reverse();
        }
        self.y += 1;
    }

    /// All that the selected row has no room for.
    fn strip(&mut self, state: &State, height: usize) {
        let begin = self.y;
        if let Some(entry) = state.rows.get(state.selected)
            && let Some(object) = state.scene.object(entry)
        {
            let scene = &state.scene;
            let short = scene.snapshot.short_name(object);
            let place = match scene.namespace(object) {
                "" => short,
                namespace => format!("{short} -n {namespace}"),
            };
            let mut line: Line = vec![(Tone::Strong, visible(&place).into_owned())];
            for (tone, text) in remarks(state, entry) {
                line.push((Tone::Plain, "; ".to_owned()));
                line.push((tone, text));
            }
            let lines = wrapped(&line, self.width);
            let all = lines.len();
            for (index, line) in lines.iter().take(height).enumerate() {
                let mut parts: Vec<(Tone, &str)> = line.iter().map(|(tone, text)| (*tone, text.as_str())).collect();
                if index + 1 == height && all > height {
                    parts.push((Tone::Quiet, " … Enter: all"));
                }
                self.put(0, &parts, self.width);
                self.y += 1;
            }
        }
        self.y = begin + height as u16;
    }

    fn heading(&mut self, title: &str, place: &str) {
        self.line(&[(Tone::Strong, title)], &[(Tone::Quiet, place)]);
    }

    fn text(&mut self, pane: &TextPane, height: usize) -> usize {
        let place = match pane.lines.len() {
            0 | 1 => String::new(),
            all => format!("line {} of {}", thousands(pane.top + 1), thousands(all)),
        };
        self.heading(&pane.title, &place);
        let mut used = 0;
        for (index, line) in pane.lines.iter().enumerate().skip(pane.top) {
            if used >= height {
                break;
            }
            let hidden = if index == pane.top { pane.within } else { 0 };
            for line in wrapped(line, self.width).iter().skip(hidden).take(height - used) {
                let parts: Vec<(Tone, &str)> = line.iter().map(|(tone, text)| (*tone, text.as_str())).collect();
                self.put(0, &parts, self.width);
                self.y += 1;
                used += 1;
            }
        }
        used
    }

    fn list(&mut self, pane: &ListPane, height: usize) -> usize {
        let place = match pane.items.len() {
            0 => String::new(),
            all => format!("{} of {}", thousands(pane.selected + 1), thousands(all)),
        };
        self.heading(&pane.title, &place);
        if pane.items.is_empty() {
            for line in wrapped(&vec![(Tone::Plain, pane.empty.clone())], self.width).iter().take(height) {
                let parts: Vec<(Tone, &str)> = line.iter().map(|(tone, text)| (*tone, text.as_str())).collect();
                self.put(0, &parts, self.width);
                self.y += 1;
            }
            return 0;
        }
        let mut rows = 0;
        for (index, item) in pane.items.iter().enumerate().skip(pane.top).take(height) {
            let sign = if index == pane.selected { "> " } else { "  " };
            self.put(0, &[(Tone::Plain, sign), (item.tone, &item.text)], self.width);
            if index == pane.selected {
                self.reverse();
            }
            self.y += 1;
            rows += 1;
        }
        rows
    }

    fn message(&mut self, state: &State) {
        let plan = matches!(state.panes.last(), Some(Pane::Text(pane)) if pane.kind == TextKind::Plan);
        let gaps = state.scene.snapshot.gaps.len();
        let marks = match state.marks.len() {
            0 => String::new(),
            number => format!("{} marked, {}", thousands(number), state.policy.name().to_lowercase()),
        };
        let (tone, text) = match () {
            () if state.filtering => (Tone::Strong, format!("/{}_", visible(&state.filter))),
            () if !state.note.is_empty() => (Tone::Plain, visible(&state.note).into_owned()),
            () if plan && state.outdated => (Tone::Warning, "The cluster has changed: p plans again.".to_owned()),
            () if state.deleting.is_some() => {
                (Tone::Warning, visible(state.deleting.as_deref().unwrap_or_default()).into_owned())
            }
            () if !state.doing.is_empty() => (Tone::Warning, visible(&state.doing).into_owned()),
            () if !state.filter.is_empty() => (Tone::Strong, format!("/{}  (Esc drops it)", visible(&state.filter))),
            () if gaps > 0 => {
                let what = gc_core::wording::count(gaps, "resource", "resources");
                (Tone::Warning, format!("{what} could not be read (!)"))
            }
            () => (Tone::Plain, String::new()),
        };
        self.line(&[(tone, &text)], &[(Tone::Warning, &marks)]);
    }

    fn footer(&mut self, state: &State) {
        let keys: &[(&str, &str)] = match state.panes.last() {
            _ if state.filtering => &keys::FOR_FILTER,
            None => &keys::FOR_FOREST,
            Some(Pane::List(list)) if list.kind == ListKind::Findings && list.items.is_empty() => &keys::FOR_LIST[2..],
            Some(Pane::List(_)) => &keys::FOR_LIST,
            Some(Pane::Text(pane)) => match pane.kind {
                TextKind::Plan => &keys::FOR_PLAN,
                TextKind::Finding => &keys::FOR_FINDING,
                TextKind::Plain | TextKind::Copied => &keys::FOR_TEXT,
            },
        };
        let mut x = 0;
        for (key, what) in keys {
            let width = key.width() + 1 + what.width();
            if x + width > self.width {
                // A key that is known by half helps nobody.
                break;
            }
            let used = self.put(x, &[(Tone::Strong, key), (Tone::Plain, " "), (Tone::Quiet, what)], width);
            x += used + 2;
        }
        self.y += 1;
    }
}

/// Where the columns are.
struct Columns {
    name: usize,
    ready: Option<usize>,
    status: Option<usize>,
    age: Option<usize>,
}

impl Columns {
    fn of(width: usize, live: bool) -> Self {
        let room = width.saturating_sub(MARKS);
        let with = |columns: usize| room.checked_sub(columns).filter(|name| *name >= LEAST_NAME);
        let (age, status, ready) = (AGE + 1, STATUS + 1, READY + 1);
        let full = with(age + status + ready).filter(|_| live);
        let some = with(age + status).filter(|_| live);
        let (name, has_status, has_ready, has_age) = match (full, some, with(age)) {
            (Some(name), ..) => (name, true, true, true),
            (_, Some(name), _) => (name, true, false, true),
            (.., Some(name)) => (name, false, false, true),
            _ => (room, false, false, false),
        };
        let mut x = MARKS + name;
        let mut next = |has: bool, width: usize| {
            has.then(|| {
                let at = x + 1;
                x += width;
                at
            })
        };
        let ready = next(has_ready, ready);
        let status = next(has_status, status);
        let age = next(has_age, age);
        Columns { name, ready, status, age }
    }

    /// The place, the title and the width of each.
    fn titles(&self) -> impl Iterator<Item = (usize, &'static str, usize)> {
        let all = [(self.ready, "READY", READY), (self.status, "STATUS", STATUS), (self.age, "AGE", AGE)];
        all.into_iter().filter_map(|(x, title, width)| Some((x?, title, width)))
    }
}

/// READY, STATUS and AGE of an object, as far as there are columns for them.
fn cells(state: &State, object: ObjectId, columns: &Columns) -> Vec<Toned> {
    let snapshot = &state.scene.snapshot;
    let found = snapshot.object(object);
    let known = state.statuses.get(snapshot.text(found.uid));
    let mut cells = Vec::new();
    let text = |text: &str, tone| match text {
        "" => (Tone::Plain, "-".to_owned()),
        text => (tone, visible(text).into_owned()),
    };
    let (ready, status) = match known {
        // Not asked for yet.
        None => ((Tone::Plain, String::new()), (Tone::Plain, String::new())),
        Some(None) => ((Tone::Warning, "?".to_owned()), (Tone::Warning, "<unknown>".to_owned())),
        Some(Some(status)) => {
            let tone = Tone::from(status.health());
            (text(&status.ready, tone), text(&status.status, tone))
        }
    };
    cells.extend(columns.ready.map(|_| ready));
    cells.extend(columns.status.map(|_| status));
    let age = found.created.get().map_or_else(|| "?".to_owned(), |created| age(state.now - created));
    cells.extend(columns.age.map(|_| (Tone::Plain, age)));
    cells
}

/// What a row says beside the name: the state of the object, and problems of its references.
fn remarks(state: &State, entry: u32) -> Vec<Toned> {
    let scene = &state.scene;
    let (snapshot, shown) = (&scene.snapshot, scene.entry(entry));
    let mut remarks = Vec::new();
    if shown.showing.here()
        && let Some(terminating) =
            scene.object(entry).and_then(|object| Terminating::of(snapshot, snapshot.object(object)))
    {
        remarks.push((Tone::Warning, terminating.words(snapshot)));
    }
    for mark in Mark::of(snapshot, &scene.graph, &scene.tree, shown) {
        let tone = if mark.warns() { Tone::Error } else { Tone::Quiet };
        remarks.push((tone, mark.words(snapshot, scene.tree.direction)));
    }
    remarks.into_iter().map(|(tone, text)| (tone, visible(&text).into_owned())).collect()
}

/// As much of a text as fits so many columns.
fn fitting(text: &str, columns: usize) -> &str {
    let mut used = 0;
    for (at, character) in text.char_indices() {
        used += character.width().unwrap_or(0);
        if used > columns {
            return &text[..at];
        }
    }
    text
}
