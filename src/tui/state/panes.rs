//! What covers the forest: how it is opened, and its keys.

use crate::render::{escape::visible, header::describe_gaps, style::Tone};
use gc_core::model::effects::Severity;

use super::{
    super::{
        Finding, Planned,
        keys::{FOREST, Key, SIGNS},
        pane::{Item, ListKind, ListPane, Pane, TextKind, TextPane},
        text::Line,
    },
    Effect, State, details,
};

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
        let name = details::name(&self.scene, object);
        let mut lines = details::lines(&self.scene, object, self.now);
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
