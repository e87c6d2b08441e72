//! The keys of the forest, and of what covers it: how that is opened, and all that is known of one object.

use crate::render::{escape::visible, output::describe_gaps, states::Tone};
use gc_core::{
    model::{Identity, ObjectId, effects::Severity},
    server::Propagation,
    tree::{ReferenceStatus, ResolvedReference, State as Terminating},
    wording::{age, count},
};

use super::{
    super::{
        Finding, Planned,
        keys::{FOREST, Key, SIGNS},
        pane::{Item, Line, ListKind, ListPane, Pane, TextKind, TextPane},
        scene::Scene,
    },
    Effect, LONGEST_FILTER, State,
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
        let owners = owners(&self.scene, object);
        match owners.as_slice() {
            [] => "It has no owner.".clone_into(&mut self.note),
            [Owner { identity: Some(owner), .. }] if self.is_in_forest(owner) => {
                let owner = owner.clone();
                self.go_to(&owner);
            }
            _ => {
                let item = |owner: Owner| Item {
                    tone: if owner.valid { Tone::Plain } else { Tone::Warning },
                    text: owner.words,
                    object: owner.identity,
                };
                self.panes.push(Pane::List(ListPane {
                    kind: ListKind::Owners,
                    title: format!("Owners of {}", name(&self.scene, object)),
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

impl State {
    pub(super) fn pane_key(&mut self, key: Key) -> Vec<Effect> {
        // The first line is the title.
        let height = self.layout().pane.saturating_sub(1);
        let width = usize::from(self.size.0).max(1);
        let page = height.max(1) as isize;
        let by = match key {
            Key::Up | Key::Char('k') => Some(-1),
            Key::Down | Key::Char('j') => Some(1),
            Key::PageUp | Key::Ctrl('b') => Some(-page),
            Key::PageDown | Key::Ctrl('f') | Key::Char(' ') => Some(page),
            Key::Home | Key::Char('g') => Some(isize::MIN),
            Key::End | Key::Char('G') => Some(isize::MAX),
            _ => None,
        };
        match (key, self.panes.last_mut(), by) {
            (Key::Char('q') | Key::Esc | Key::Left | Key::Char('h'), _, _) => {
                self.panes.pop();
            }
            (_, Some(Pane::Text(pane)), Some(by)) => pane.scroll(by, width, height),
            (_, Some(Pane::List(pane)), Some(by)) => pane.step(by, height),
            (Key::Enter | Key::Right | Key::Char('l'), Some(Pane::List(_)), _) => self.choose(),
            (Key::Enter, Some(Pane::Text(_)), _) => {
                self.panes.pop();
            }
            (Key::Tab, Some(Pane::Text(pane)), _) if pane.kind == TextKind::Plan => {
                self.next_policy();
                return self.ask_for_plan();
            }
            (Key::Char('p'), Some(Pane::Text(pane)), _) if pane.kind == TextKind::Plan => return self.ask_for_plan(),
            (Key::Char('r'), Some(Pane::List(pane)), _) if pane.kind == ListKind::Findings => {
                self.panes.pop();
                return self.diagnose();
            }
            (Key::Char('o'), Some(Pane::Text(pane)), _) => {
                if let Some(object) = pane.object.clone() {
                    self.go_to(&object);
                }
            }
            // Help is on the screen already.
            (Key::Char('?'), Some(Pane::Text(pane)), _) if pane.title == HELP => {}
            _ => return self.common_key(key).unwrap_or_default(),
        }
        Vec::new()
    }

    /// Opens what is selected in the list on top.
    fn choose(&mut self) {
        let Some(Pane::List(list)) = self.panes.last() else { return };
        let Some(item) = list.items.get(list.selected) else { return };
        match (list.kind, item.object.clone()) {
            (ListKind::Owners, Some(owner)) => self.go_to(&owner),
            (ListKind::Owners, None) => {
                "No object that was read has its uid.".clone_into(&mut self.note);
            }
            (ListKind::Findings, object) => {
                let Some(finding) = self.findings.get(list.selected) else { return };
                let Finding { title, text, commands, .. } = finding.clone();
                let pane = TextPane::new(TextKind::Finding, title, text);
                self.panes.push(Pane::Text(TextPane { commands, object, ..pane }));
            }
        }
    }

    pub(super) fn details(&mut self) {
        let Some(object) = self.current() else { return };
        let name = name(&self.scene, object);
        let mut lines = lines(&self.scene, object, self.now);
        let uid = self.scene.snapshot.text(self.scene.snapshot.object(object).uid);
        match self.statuses.get(uid) {
            Some(Some(status)) => {
                let text = [&status.ready, &status.status, &status.restarts];
                let text: Vec<&str> = text.into_iter().filter(|text| !text.is_empty()).map(String::as_str).collect();
                if !text.is_empty() {
                    lines.push(vec![
                        (Tone::Quiet, format!("{:<12}", "Status")),
                        (Tone::Plain, visible(&text.join(", ")).into_owned()),
                    ]);
                }
            }
            Some(None) => lines.push(vec![
                (Tone::Quiet, format!("{:<12}", "Status")),
                (Tone::Warning, "could not be read".to_owned()),
            ]),
            None => {}
        }
        self.panes.push(Pane::Text(TextPane::new(TextKind::Plain, name, lines)));
    }

    pub(super) fn help(&mut self) {
        let key =
            |(key, what): &(&str, &str)| vec![(Tone::Strong, format!("{key:<14}")), (Tone::Plain, (*what).into())];
        let mut lines: Vec<Line> = FOREST.iter().map(key).collect();
        lines.push(Vec::new());
        lines.push(key(&SIGNS));
        self.panes.push(Pane::Text(TextPane::new(TextKind::Plain, HELP, lines)));
    }

    pub(super) fn gaps(&mut self) {
        let text = match describe_gaps(&self.scene.snapshot.gaps) {
            Some(text) => vec![(Tone::Warning, visible(&text).into_owned())],
            None => vec![(Tone::Good, "Everything could be read.".to_owned())],
        };
        self.panes.push(Pane::Text(TextPane::new(TextKind::Plain, "Not read", vec![text])));
    }

    /// Opens the plan of the marked objects.
    pub(super) fn plan(&mut self) -> Vec<Effect> {
        if self.targets().is_empty() {
            "There is no object to plan a delete of.".clone_into(&mut self.note);
            return Vec::new();
        }
        let plans = |pane: &Pane| matches!(pane, Pane::Text(pane) if pane.kind == TextKind::Plan);
        self.panes.retain(|pane| !plans(pane));
        self.panes.push(Pane::Text(TextPane::new(TextKind::Plan, "", Vec::new())));
        self.ask_for_plan()
    }

    /// Asks for the plan again, as after another policy is chosen.
    pub(super) fn ask_for_plan(&mut self) -> Vec<Effect> {
        let targets = self.targets();
        let what = match targets.as_slice() {
            [one] => visible(&one.short_name()).into_owned(),
            many => super::objects(many.len()),
        };
        let policy = self.policy.name().to_lowercase();
        for pane in &mut self.panes {
            if let Pane::Text(pane) = pane
                && pane.kind == TextKind::Plan
            {
                pane.title = format!("Plan: delete {what}, {policy}");
                pane.commands.clear();
                pane.lines = vec![vec![(Tone::Quiet, "Simulating what the delete does …".to_owned())]];
                (pane.top, pane.within, pane.next) = (0, 0, 0);
                (pane.awaited, pane.copies) = (true, false);
            }
        }
        self.outdated = false;
        self.request += 1;
        let width = usize::from(self.size.0).max(20);
        vec![Effect::Plan { request: self.request, targets, propagation: self.policy, width }]
    }

    /// Shows a plan that has come, and copies its command if that was asked for meanwhile.
    pub(super) fn planned(&mut self, planned: Planned) -> Vec<Effect> {
        let Planned { request, propagation, text, commands } = planned;
        if request != self.request || propagation != self.policy {
            return Vec::new();
        }
        let last = self.panes.len().saturating_sub(1);
        for (place, pane) in self.panes.iter_mut().enumerate() {
            if let Pane::Text(pane) = pane
                && pane.kind == TextKind::Plan
            {
                (pane.lines, pane.commands) = (text, commands);
                let copies = pane.copies && place == last;
                (pane.awaited, pane.copies) = (false, false);
                return if copies { self.copy() } else { Vec::new() };
            }
        }
        Vec::new()
    }

    pub(super) fn delete(&mut self) -> Vec<Effect> {
        let targets = self.targets();
        let refusal = match () {
            () if !self.scene.live => "This is a dump: nothing can be deleted. In the plan, y copies the command.",
            () if self.is_deleting() => "A delete is going on: wait until it is over.",
            () if targets.is_empty() => "There is no object to delete.",
            () => return vec![Effect::Delete { targets, propagation: self.policy }],
        };
        refusal.clone_into(&mut self.note);
        Vec::new()
    }

    /// Looks for problems, and opens the list of them.
    pub(super) fn diagnose(&mut self) -> Vec<Effect> {
        let is_list = |pane: &Pane| matches!(pane, Pane::List(list) if list.kind == ListKind::Findings);
        self.panes.retain(|pane| !is_list(pane));
        let empty = match self.scene.live {
            true => "Looking for problems. What is found is looked at again for some seconds …",
            false => "Looking for problems …",
        };
        self.findings.clear();
        self.panes.push(Pane::List(ListPane {
            kind: ListKind::Findings,
            title: "Findings of doctor".to_owned(),
            items: Vec::new(),
            empty: empty.to_owned(),
            selected: 0,
            top: 0,
        }));
        vec![Effect::Diagnose { width: usize::from(self.size.0).max(20) }]
    }

    pub(super) fn diagnosed(&mut self, found: Result<Vec<Finding>, String>) {
        let list = self.panes.iter_mut().find_map(|pane| match pane {
            Pane::List(list) if list.kind == ListKind::Findings => Some(list),
            _ => None,
        });
        let (findings, empty) = match found {
            Ok(findings) if findings.is_empty() && self.scene.snapshot.gaps.is_empty() => {
                (findings, "No problems found.".to_owned())
            }
            Ok(findings) if findings.is_empty() => {
                (findings, "No problems found as far as could be read (! says what could not).".to_owned())
            }
            Ok(findings) => (findings, String::new()),
            Err(why) => (Vec::new(), format!("error: {why}")),
        };
        if let Some(list) = list {
            let item = |finding: &Finding| Item {
                tone: match finding.severity {
                    Severity::Error => Tone::Error,
                    Severity::Warning => Tone::Warning,
                    Severity::Note => Tone::Plain,
                },
                text: finding.title.clone(),
                object: finding.object.clone(),
            };
            list.items = findings.iter().map(item).collect();
            list.empty = empty;
            list.selected = 0;
        }
        self.findings = findings;
    }

    /// Copies the next command of what is on top; in the forest, the one that explains the selected object.
    pub(super) fn copy(&mut self) -> Vec<Effect> {
        // The command that was copied covers what it comes from.
        if matches!(self.panes.last(), Some(Pane::Text(pane)) if pane.kind == TextKind::Copied) {
            self.panes.pop();
        }
        let (command, place) = match self.panes.last_mut() {
            Some(Pane::Text(pane)) if !pane.commands.is_empty() => {
                let (at, all) = (pane.next % pane.commands.len(), pane.commands.len());
                pane.next = at + 1;
                (pane.commands[at].clone(), format!(" {} of {all}", at + 1))
            }
            Some(Pane::Text(pane)) if pane.awaited => {
                pane.copies = true;
                "The command is copied as soon as the plan is there.".clone_into(&mut self.note);
                return Vec::new();
            }
            Some(_) => {
                "There is no command to copy here.".clone_into(&mut self.note);
                return Vec::new();
            }
            None => match self.current().and_then(|object| super::super::scene::explain(&self.scene, object)) {
                Some(command) => (command, String::new()),
                None => {
                    "There is no command to copy here.".clone_into(&mut self.note);
                    return Vec::new();
                }
            },
        };
        let quiet = |text: &str| vec![(Tone::Quiet, text.to_owned())];
        let lines = vec![
            vec![(Tone::Plain, command.clone())],
            Vec::new(),
            quiet("Your terminal was asked to put this on its clipboard (OSC 52). If it does"),
            quiet("not do that, copy it from here."),
        ];
        self.panes.push(Pane::Text(TextPane::new(TextKind::Copied, format!("Copied: command{place}"), lines)));
        vec![Effect::Copy(command)]
    }
}

/// The title of the help.
const HELP: &str = "Keys";

/// An owner that an object names.
pub(super) struct Owner {
    /// The object with its uid, if there is one.
    pub identity: Option<Identity>,
    /// `Kind/name`, and what is wrong with the reference.
    pub words: String,
    pub valid: bool,
}

/// `Kind/name -n namespace`, escaped.
pub(super) fn name(scene: &Scene, object: ObjectId) -> String {
    let short = scene.snapshot.short_name(object);
    visible(&match scene.namespace(object) {
        "" => short,
        namespace => format!("{short} -n {namespace}"),
    })
    .into_owned()
}

/// The owners that an object names, in its order.
pub(super) fn owners(scene: &Scene, id: ObjectId) -> Vec<Owner> {
    let (snapshot, graph) = (&scene.snapshot, &scene.graph);
    let object = snapshot.object(id);
    let owner = |reference: &gc_core::model::Reference| {
        let link = ResolvedReference::of(snapshot, graph, object, reference);
        let found = graph.by_uid(reference.uid).and_then(|node| graph.object(node)).or(link.found);
        let flags = match (reference.is_controller(), reference.blocks()) {
            (true, true) => "; controller, blocks its foreground delete",
            (true, false) => "; controller",
            (false, true) => "; blocks its foreground delete",
            (false, false) => "",
        };
        let standing = match link.standing {
            ReferenceStatus::Solid => "exists".to_owned(),
            ReferenceStatus::Waiting => "exists, waits for its dependents".to_owned(),
            ReferenceStatus::Unread => "could not be read: it is not known whether it exists".to_owned(),
            ReferenceStatus::Absent => "missing".to_owned(),
            ReferenceStatus::OtherUid => "missing: that name has another uid now".to_owned(),
            ReferenceStatus::OtherNamespace => "invalid: the owner is in another namespace".to_owned(),
            ReferenceStatus::InvalidScope => "invalid: cluster-scoped, but the owner is namespaced".to_owned(),
            ReferenceStatus::NotServed => "its kind is not served".to_owned(),
            ReferenceStatus::ListKind => "invalid: a list kind".to_owned(),
            ReferenceStatus::OtherName | ReferenceStatus::OtherKind => {
                let is = found.map(|object| snapshot.short_name(object)).unwrap_or_default();
                format!("invalid: the object with that uid is {is}")
            }
        };
        let name = format!("{}/{}", snapshot.text(reference.kind), snapshot.text(reference.name));
        Owner {
            identity: found.map(|object| scene.identity(object)),
            words: visible(&format!("{name}: {standing}{flags}")).into_owned(),
            valid: link.standing.valid(),
        }
    };
    object.owners.iter().map(owner).collect()
}

/// Everything about an object, without what its rows say of it.
pub(super) fn lines(scene: &Scene, id: ObjectId, now: i64) -> Vec<Line> {
    let snapshot = &scene.snapshot;
    let object = snapshot.object(id);
    let resource = snapshot.resources.get(object.resource);
    let mut lines: Vec<Line> = Vec::new();
    let mut say = |label: &str, tone: Tone, text: &str| {
        lines.push(vec![(Tone::Quiet, format!("{label:<12}")), (tone, visible(text).into_owned())]);
    };
    say("Name", Tone::Strong, snapshot.text(object.name));
    if !object.namespace.is_empty() {
        say("Namespace", Tone::Plain, snapshot.text(object.namespace));
    }
    say("Kind", Tone::Plain, &format!("{}, {}", resource.kind, resource.api_version()));
    say("UID", Tone::Plain, snapshot.text(object.uid));
    let age = object.created.get().map_or_else(|| "unknown".to_owned(), |created| age(now - created));
    say("Age", Tone::Plain, &age);
    if let Some(state) = Terminating::of(snapshot, object) {
        say("State", Tone::Warning, &state.words(snapshot));
    }
    for finalizer in object.finalizers.iter() {
        say("Finalizer", Tone::Plain, snapshot.text(*finalizer));
    }
    let owners = owners(scene, id);
    if owners.is_empty() {
        say("Owners", Tone::Plain, "none");
    }
    for owner in owners {
        say("Owner", if owner.valid { Tone::Plain } else { Tone::Warning }, &owner.words);
    }
    let dependents = scene.graph.all_dependents(id.into()).count();
    say("Dependents", Tone::Plain, &count(dependents, "object", "objects"));
    if let Some(why) = snapshot.resources.not_watched(object.resource) {
        say("Collector", Tone::Plain, &format!("does not watch this type: {why}"));
    }
    lines
}
