//! A restore as text: the verdict, then only what differs from the archive.

use std::{
    collections::BTreeMap,
    io::{self, Write},
};

use crate::{
    act::Mode,
    render::{
        doctor::set,
        escape::visible,
        sections::INDENT,
        style::{Style, Tone},
    },
    restore::{Archived, Difference, Item, ItemId, Outcome, Restored, StillNamed},
    wording::{count, thousands},
};

use super::RestoreView;

/// The width of the labels, in columns.
const MARGIN: usize = INDENT;
/// At most this many objects are listed under a label.
const SHOWN: usize = 12;
/// At most this many of the objects that are left out for one reason are named.
const SHOWN_OF_REASON: usize = 3;
/// At most this many of an object's differences are shown.
const DIFFERENCES: usize = 3;
/// Longer values are cut.
const VALUE: usize = 24;

impl RestoreView<'_> {
    /// Writes the verdict and the remarks on objects.
    pub(super) fn write_text(
        &self,
        width: Option<usize>,
        wide: bool,
        style: &Style,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let page = Page { width: width.unwrap_or(usize::MAX), wide, style };
        let (tone, verdict) = self.verdict();
        page.verdict(tone, &verdict, out)?;
        writeln!(out)?;
        let done = self.mode == Mode::Apply;
        let of = |wanted: fn(&Outcome) -> bool| -> Vec<&Archived> {
            let objects = self.objects().filter(move |(_, _, restored)| wanted(&restored.outcome));
            objects.map(|(_, item, _)| &item.archived).collect()
        };
        let created = of(|it| matches!(it, Outcome::Created | Outcome::WouldBeCreated));
        self.write_named(if done { "Created" } else { "Creates" }, &created, &page, out)?;
        let existing = of(|it| matches!(it, Outcome::Same | Outcome::AlreadyBack));
        self.write_named("Existing", &existing, &page, out)?;
        page.list("Differs", &self.each(|_, item, restored| differs(item, restored)), out)?;
        page.list(
            if done { "Failed" } else { "Fails" },
            &self.each(|_, item, restored| self.failed(item, restored)),
            out,
        )?;
        let notes = [
            self.each(|_, item, restored| unfinished(item, restored)),
            self.each(|_, item, restored| detached(item, restored)),
            self.each(|_, item, _| still_names(item)),
        ];
        page.list("Note", &notes.concat(), out)?;
        self.write_left_out(&page, out)?;
        let lost: Vec<String> = self
            .lost()
            .iter()
            .map(|lost| format!("{} ({}): {}", lost.what, thousands(lost.objects), lost.instead))
            .collect();
        page.list("Lost", &lost, out)?;
        if done && !self.is_fine() {
            page.line("Next", "fix the problems above, then run this again:", out)?;
            writeln!(out, "{}{}", " ".repeat(MARGIN), self.again)?;
        }
        Ok(())
    }

    /// Writes how many objects of each kind there are, and their names.
    fn write_named(&self, label: &str, objects: &[&Archived], page: &Page<'_>, out: &mut dyn Write) -> io::Result<()> {
        page.line(label, &self.kinds(objects.iter().copied()), out)?;
        page.names(objects, SHOWN, out)
    }

    fn verdict(&self) -> (Tone, String) {
        let wanted = self.restored.len() - self.count(|outcome| matches!(outcome, Outcome::LeftOut(_)));
        let not_fine = self.restored.iter().filter(|restored| !restored.is_fine()).count();
        let created = self.count(|outcome| matches!(outcome, Outcome::Created | Outcome::WouldBeCreated));
        let there = wanted - not_fine - created.min(wanted - not_fine);
        let objects = count(wanted, "object", "objects");
        match (self.mode == Mode::Apply, not_fine) {
            (true, 0) if created == 0 && wanted == 1 => {
                (Tone::Good, "RESTORED: the object already existed.".to_owned())
            }
            (true, 0) if created == 0 => (Tone::Good, format!("RESTORED: all {objects} already existed.")),
            (true, 0) => {
                let there = if there == 0 { String::new() } else { format!(", {} already existed", thousands(there)) };
                (Tone::Good, format!("RESTORED: {} created{there}.", count(created, "object", "objects")))
            }
            (true, _) => {
                let are = if not_fine == 1 { "is" } else { "are" };
                (Tone::Error, format!("PARTLY RESTORED: {} of {objects} {are} not as archived.", thousands(not_fine)))
            }
            (false, 0) if created == 0 && wanted == 1 => (Tone::Good, "NOTHING TO DO: the object exists.".to_owned()),
            (false, 0) if created == 0 => (Tone::Good, format!("NOTHING TO DO: all {objects} exist.")),
            (false, 0) => (Tone::Strong, format!("CREATES {}.", count(created, "object", "objects"))),
            (false, _) => {
                let creates = count(created, "object", "objects");
                (
                    Tone::Warning,
                    format!("CREATES {creates}; {} of {objects} would not be as archived.", thousands(not_fine)),
                )
            }
        }
    }

    /// The lines that `line` returns for the objects.
    fn each(&self, line: impl Fn(ItemId, &Item, &Restored) -> Option<String>) -> Vec<String> {
        self.objects().filter_map(|(id, item, restored)| line(id, item, restored)).collect()
    }

    fn failed(&self, item: &Item, restored: &Restored) -> Option<String> {
        match &restored.outcome {
            Outcome::Failed(why) => Some(format!("{}: {why}", item.archived.place)),
            Outcome::Blocked(by) => {
                let by = &self.plan.items[*by].archived.place;
                Some(format!("{}: not tried, because it needs {by}", item.archived.place))
            }
            _ => None,
        }
    }

    fn write_left_out(&self, page: &Page<'_>, out: &mut dyn Write) -> io::Result<()> {
        let mut by_reason: BTreeMap<String, Vec<&Archived>> = BTreeMap::new();
        let mut any_with_all = false;
        for (_, item, restored) in self.objects() {
            if let Outcome::LeftOut(why) = &restored.outcome {
                any_with_all |= why.with_all();
                by_reason.entry(why.to_string()).or_default().push(&item.archived);
            }
        }
        for (index, (why, objects)) in by_reason.iter().enumerate() {
            let describe = format!("{}: {why}", self.kinds(objects.iter().copied()));
            page.line(if index == 0 { "Left out" } else { "" }, &describe, out)?;
            page.names(objects, SHOWN_OF_REASON, out)?;
        }
        let hint = if any_with_all { "--all also restores objects that a controller recreates" } else { "" };
        page.line("", hint, out)
    }
}

fn differs(item: &Item, restored: &Restored) -> Option<String> {
    let Outcome::Different(differences) = &restored.outcome else { return None };
    let mut describe: Vec<String> = differences.iter().take(DIFFERENCES).map(difference).collect();
    if differences.len() > DIFFERENCES {
        describe.push(format!("and {} more", differences.len() - DIFFERENCES));
    }
    Some(format!("{} exists and was not changed: {}", item.archived.place, describe.join("; ")))
}

fn difference(difference: &Difference) -> String {
    let Difference { path, archived, live } = difference;
    let path = if path.is_empty() { "the whole object" } else { path };
    match (archived, live) {
        (Some(archived), Some(live)) => format!("{path} was {}, is {}", short(archived), short(live)),
        (Some(archived), None) => format!("{path} was {}, is unset", short(archived)),
        (None, Some(live)) => format!("{path} was unset, is {}", short(live)),
        (None, None) => format!("{path} differs"),
    }
}

fn short(value: &str) -> String {
    match value.char_indices().nth(VALUE) {
        Some((end, _)) => format!("{}…", &value[..end]),
        None => value.to_owned(),
    }
}

fn still_names(item: &Item) -> Option<String> {
    let mut by_namespace: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for StillNamed { path, namespace } in &item.still_named {
        by_namespace.entry(namespace).or_default().push(path);
    }
    let each = by_namespace.iter().map(|(namespace, paths)| format!("namespace {namespace} in {}", paths.join(", ")));
    let each: Vec<String> = each.collect();
    (!each.is_empty()).then(|| format!("{}: still names {}", item.archived.place, each.join("; ")))
}

fn unfinished(item: &Item, restored: &Restored) -> Option<String> {
    let what = restored.unfinished.join("; ");
    (!what.is_empty()).then(|| format!("{}: {what}", item.archived.place))
}

fn detached(item: &Item, restored: &Restored) -> Option<String> {
    let describe = restored.detached.iter().map(|detached| {
        let owner = &item.archived.references[detached.reference].place;
        format!("no longer owned by {}/{} ({})", owner.kind, owner.name, detached.why)
    });
    let describe = describe.collect::<Vec<_>>().join("; ");
    (!describe.is_empty()).then(|| format!("{}: {describe}", item.archived.place))
}

/// The width and style of the text.
struct Page<'a> {
    width: usize,
    /// Whether nothing is left out of lists.
    wide: bool,
    style: &'a Style,
}

impl Page<'_> {
    fn verdict(&self, tone: Tone, text: &str, out: &mut dyn Write) -> io::Result<()> {
        for (index, line) in set(text, self.width).iter().enumerate() {
            let end = if index == 0 { line.find(':').or(line.find(' ')).unwrap_or(line.len()) } else { 0 };
            writeln!(out, "{}{}", self.style.paint(tone, &line[..end]), &line[end..])?;
        }
        Ok(())
    }

    /// Writes a text after its label; nothing if the text is empty.
    fn line(&self, label: &str, text: &str, out: &mut dyn Write) -> io::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        self.paragraph(label, text, out)
    }

    /// Writes several texts, the first after the label.
    fn list(&self, label: &str, texts: &[String], out: &mut dyn Write) -> io::Result<()> {
        let shown = self.shown(texts.len(), SHOWN);
        for (index, text) in texts.iter().take(shown).enumerate() {
            self.paragraph(if index == 0 { label } else { "" }, text, out)?;
        }
        self.rest(texts.len() - shown, out)
    }

    /// Writes the names of objects, each on its own line: they may be copied.
    fn names(&self, objects: &[&Archived], most: usize, out: &mut dyn Write) -> io::Result<()> {
        let shown = self.shown(objects.len(), most);
        for object in &objects[..shown] {
            writeln!(out, "{}{}", " ".repeat(MARGIN + 2), visible(&object.place.to_string()))?;
        }
        self.rest(objects.len() - shown, out)
    }

    /// How many of so many are shown. One more takes no more room than the line that says so.
    fn shown(&self, all: usize, most: usize) -> usize {
        if self.wide || all <= most + 1 { all } else { most }
    }

    fn rest(&self, more: usize, out: &mut dyn Write) -> io::Result<()> {
        match more {
            0 => Ok(()),
            more => self.paragraph("", &format!("… and {} more: -o wide shows all", thousands(more)), out),
        }
    }

    fn paragraph(&self, label: &str, text: &str, out: &mut dyn Write) -> io::Result<()> {
        // Continuation lines are indented, so that objects stay distinguishable.
        let room = self.width.saturating_sub(MARGIN + 2);
        for (index, line) in set(text, room).iter().enumerate() {
            let label = if index == 0 { label } else { "" };
            let hanging = if index == 0 { "" } else { "  " };
            let gap = " ".repeat(MARGIN.saturating_sub(label.len()));
            writeln!(out, "{}{gap}{hanging}{line}", self.style.paint(Tone::Strong, label))?;
        }
        Ok(())
    }
}
