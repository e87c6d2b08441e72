//! An archive that was written, and a restore, before and after it: as text and as a document.

use std::{
    collections::BTreeMap,
    io::{self, Write},
};

use serde::Serialize;

use gc_cluster::act::Mode;
use gc_core::{
    command_line::ShellCommand,
    document::{Head, ObjectJson},
    model::{Gap, Identity, Mapping, Resource, Resources},
    restore::{
        Archived, Detached, Difference, Item, LeftOut, Lost, Outcome, OwnerReference, RestorePlan, Restored,
        StillNamed, lost,
    },
    wording::{count, grouped, listed, thousands},
};

use super::{
    lines::{self, Line},
    output::{Output, TextOptions},
    sections::{Heading, Said, Sections, first_of, more_lines},
    states::{Fate, Headline, Tone},
    words::plural,
};

#[cfg(test)]
mod tests;

/// The result of a restore or of its dry run, with what is needed to print it.
#[derive(Clone, Copy, Debug)]
pub struct RestoreView<'a> {
    pub plan: &'a RestorePlan,
    /// The result for each object of the plan.
    pub restored: &'a [Restored],
    pub mode: Mode,
    /// The served resources, for the names of kinds.
    pub resources: &'a Resources,
    pub gaps: &'a [Gap],
    /// The targets of the delete that the archive was written for.
    pub targets: &'a [Identity],
    /// The command that repeats the restore: `kubectl gc restore shop.yaml`.
    pub again: &'a ShellCommand,
}

impl Output for RestoreView<'_> {
    fn document(&self) -> impl Serialize {
        RestorationDocument::of(self)
    }

    fn write(&self, options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
        self.write_verdict(options, out)?;
        writeln!(out)?;
        lines::write_padded(self.lines(options.wide), options, out)?;
        self.sections(options.wide).write_below(options, out)
    }

    fn write_verdict(&self, options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
        let (headline, sentence) = self.verdict();
        lines::write_sentence(headline.word(), headline.tone(), &sentence, options, out)
    }
}

impl<'a> RestoreView<'a> {
    /// Whether every object that should be back is back, or would be.
    pub fn is_fine(&self) -> bool {
        self.restored.iter().all(Restored::is_fine)
    }

    /// Whether an interrupt came before every object was tried.
    pub fn is_interrupted(&self) -> bool {
        self.restored.iter().any(|restored| restored.outcome == Outcome::NotTried)
    }

    /// The number of objects with such an outcome.
    pub fn count(&self, of: impl Fn(&Outcome) -> bool) -> usize {
        self.restored.iter().filter(|restored| of(&restored.outcome)).count()
    }

    fn objects(&self) -> impl Iterator<Item = (&'a Item, &'a Restored)> + use<'a> {
        self.plan.items.iter().zip(self.restored)
    }

    /// What the restored objects have lost for good.
    fn lost(&self) -> Vec<gc_core::restore::Lost> {
        let created = self
            .objects()
            .filter(|(_, restored)| matches!(restored.outcome, Outcome::Created | Outcome::WouldBeCreated));
        let created = created.filter(|(_, restored)| restored.volume.is_none()).map(|(item, _)| &item.archived);
        let is_target = |object: &Archived| self.targets.iter().any(|target| target.uid == object.uid);
        lost(created, self.plan.items.iter().map(|item| &item.archived), is_target)
    }

    /// The number of objects of each kind: `1 Namespace, 3 ConfigMaps`, in the order of the archive.
    fn kinds(&self, objects: impl Iterator<Item = &'a Archived>) -> String {
        let of_kinds = grouped(objects.map(|object| ((object.place.group(), &object.place.kind), &object.place)));
        let describe = of_kinds.into_iter().map(|(_, places)| {
            let (place, count) = (places[0], places.len());
            let named = match self.resources.map(&place.api_version, &place.kind) {
                Mapping::Served(id) => plural(self.resources.get(id), count),
                _ => plural(&Resource { kind: place.kind.clone(), ..Resource::default() }, count),
            };
            format!("{} {named}", thousands(count))
        });
        describe.collect::<Vec<_>>().join(", ")
    }
}

/// At most this many objects of one state are listed.
const SHOWN: usize = 12;
/// At most this many of the objects that are left out for one reason are listed.
const SHOWN_OF_REASON: usize = 3;
/// At most this many of an object's differences are shown.
const DIFFERENCES: usize = 3;
/// Longer values are cut.
const VALUE: usize = 24;

/// What came of an object: its place among the others, its state, and the remark.
type State = (usize, Fate, &'static str, String);

impl RestoreView<'_> {
    /// The objects, the worst first. Unless the output is wide, only the first few of a state.
    fn lines(&self, wide: bool) -> Vec<Line> {
        let mut groups: BTreeMap<(usize, String), Vec<(&Archived, State)>> = BTreeMap::new();
        for (item, restored) in self.objects() {
            let state = self.state(restored);
            // What is left out is folded by its reason.
            let reason = if restored.is_left_out() { state.3.clone() } else { String::new() };
            groups.entry((state.0, reason)).or_default().push((&item.archived, state));
        }
        let mut lines = Vec::new();
        for ((_, reason), objects) in groups {
            let most = if reason.is_empty() { SHOWN } else { SHOWN_OF_REASON };
            let shown = if wide || objects.len() <= most + 1 { objects.len() } else { most };
            let line = |(object, (_, fate, word, remark)): &(&Archived, State)| {
                Line::new(&object.place.to_string())
                    .becomes(*fate, fate.column_of(word))
                    .remarked(Tone::Plain, [remark])
            };
            lines.extend(objects[..shown].iter().map(line));
            let rest = &objects[shown..];
            let kinds = || self.kinds(rest.iter().map(|(object, _)| *object));
            let more = (!rest.is_empty()).then(|| format!("{} ({})", more_lines(rest.len()), kinds()));
            lines.extend(more.map(|more| Line::quiet(&more)));
        }
        lines
    }

    fn state(&self, restored: &Restored) -> State {
        match &restored.outcome {
            Outcome::Failed(why) => (0, Fate::Error, "failed", why.clone()),
            Outcome::Blocked(by) => {
                (1, Fate::Untouched, "not tried", format!("it needs {}", self.plan.items[*by].archived.place))
            }
            Outcome::Different(differences) => {
                let remarks = [differs(differences), detached(restored)];
                (
                    2,
                    Fate::Warning,
                    "differs",
                    remarks.into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join("; "),
                )
            }
            Outcome::NotTried => (3, Fate::Untouched, "not tried", String::new()),
            Outcome::Created => (4, Fate::Kept, "created", detached(restored)),
            Outcome::WouldBeCreated => (4, Fate::Kept, "would be created", detached(restored)),
            Outcome::Same | Outcome::AlreadyBack => (5, Fate::Untouched, "exists", detached(restored)),
            Outcome::LeftOut(why) => (6, Fate::Untouched, "left out", why.to_string()),
        }
    }

    fn sections(&self, wide: bool) -> Sections {
        let of = |line: &dyn Fn(&Item, &Restored) -> Option<String>| {
            let said = self.objects().filter_map(|(item, restored)| line(item, restored));
            first_of(said.map(Said::Text).collect(), SHOWN, wide)
        };
        let lost = self.lost();
        let lost = lost.iter().map(|lost| format!("{} ({}): {}", lost.what, thousands(lost.objects), lost.instead));
        let mut sections = Sections::default();
        sections.add(Heading::Lost, lost);
        sections.add(Heading::Note, of(&unfinished));
        sections.add(Heading::Note, of(&|item, _| still_names(item)));
        let is_terminating = |outcome: &Outcome| *outcome == Outcome::LeftOut(LeftOut::Terminating);
        let with_all = |outcome: &Outcome| matches!(outcome, Outcome::LeftOut(why) if why.with_all());
        let terminating = self.count(is_terminating);
        let hints = [
            (self.count(with_all) > terminating, "--all also restores objects that a controller recreates"),
            (terminating > 0, "--all, or its name, also restores what was Terminating when it was archived"),
        ];
        sections.add(Heading::Note, hints.into_iter().filter(|(applies, _)| *applies).map(|(_, hint)| hint));
        if self.mode == Mode::Apply && !self.is_fine() {
            let only_interrupted =
                self.restored.iter().all(|restored| restored.is_fine() || restored.outcome == Outcome::NotTried);
            let first = match only_interrupted {
                true => "run this again, it creates the rest:",
                false => "fix the problems above, then run this again:",
            };
            sections.add(Heading::Next, [first]);
            sections.add(Heading::Next, [Said::command(self.again)]);
        }
        sections
    }

    fn verdict(&self) -> (Headline, String) {
        let wanted = self.restored.len() - self.count(|outcome| matches!(outcome, Outcome::LeftOut(_)));
        let not_fine = self.restored.iter().filter(|restored| !restored.is_fine()).count();
        let created = self.count(|outcome| matches!(outcome, Outcome::Created | Outcome::WouldBeCreated));
        let there = wanted - not_fine - created.min(wanted - not_fine);
        // One object is named.
        let counted = |number: usize, of: &dyn Fn(&Outcome) -> bool| {
            let first = self.objects().find(|(_, restored)| number == 1 && of(&restored.outcome));
            first.map_or_else(|| count(number, "object", "objects"), |(item, _)| item.archived.place.to_string())
        };
        let objects = counted(wanted, &|outcome| !matches!(outcome, Outcome::LeftOut(_)));
        let new = counted(created, &|outcome| matches!(outcome, Outcome::Created | Outcome::WouldBeCreated));
        let some = |number: usize| match wanted {
            1 => objects.clone(),
            _ => format!("{} of {objects}", thousands(number)),
        };
        match (self.mode == Mode::Apply, not_fine) {
            _ if wanted == 0 => (Headline::Nothing, "no object of this archive is restored.".to_owned()),
            (true, 0) if created == 0 && wanted == 1 => (Headline::Done, format!("{objects} already existed.")),
            (true, 0) if created == 0 => (Headline::Done, format!("all {objects} already existed.")),
            (true, 0) => {
                let there = if there == 0 { String::new() } else { format!(", {} already existed", thousands(there)) };
                (Headline::Done, format!("{new} created{there}."))
            }
            (true, _) if self.is_interrupted() => {
                let not_tried = self.count(|outcome| *outcome == Outcome::NotTried);
                let were = if not_tried == 1 { "was" } else { "were" };
                let not_tried = some(not_tried);
                (Headline::NotFinished, format!("interrupted: {new} created, {not_tried} {were} not tried."))
            }
            (true, _) => {
                let are = if not_fine == 1 { "is" } else { "are" };
                (Headline::PartlyDone, format!("{} {are} not as archived.", some(not_fine)))
            }
            (false, 0) if created == 0 && wanted == 1 => (Headline::Ok, format!("{objects} exists.")),
            (false, 0) if created == 0 => (Headline::Ok, format!("all {objects} exist.")),
            (false, 0) => (Headline::Creates, format!("{new}.")),
            (false, _) => (Headline::Creates, format!("{new}; {} would not be as archived.", some(not_fine))),
        }
    }
}

/// What differs of an object that exists, and was not changed.
fn differs(differences: &[Difference]) -> String {
    format!("not changed: {}", listed(differences.iter().map(difference), DIFFERENCES, "; "))
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

fn detached(restored: &Restored) -> String {
    let volume = restored.volume.iter().map(|volume| format!("gets PersistentVolume/{volume} back, with its data"));
    let describe = restored.detached.iter().map(|Detached { reference: OwnerReference { place, .. }, why }| {
        format!("no longer owned by {}/{} ({why})", place.kind, place.name)
    });
    volume.chain(describe).collect::<Vec<_>>().join("; ")
}

/// The result of a restore: `Restoration`.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct RestorationDocument<'a> {
    #[serde(flatten)]
    head: Head,
    /// The kind of dry run; absent if the restore was real.
    #[serde(skip_serializing_if = "Option::is_none")]
    dry_run: Option<&'static str>,
    objects: Vec<RestoredJson<'a>>,
    lost: Vec<Lost>,
    summary: SummaryJson,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct RestoredJson<'a> {
    /// The object with its archived uid.
    object: ObjectJson<'a>,
    /// The namespace that it was archived in, if it is restored into another.
    #[serde(skip_serializing_if = "Option::is_none")]
    archived_namespace: Option<&'a str>,
    outcome: &'a Outcome,
    #[serde(skip_serializing_if = "Option::is_none")]
    current_uid: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    because: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    needs: Option<ObjectJson<'a>>,
    #[serde(skip_serializing_if = "<[Difference]>::is_empty")]
    differences: &'a [Difference],
    #[serde(skip_serializing_if = "<[Detached]>::is_empty")]
    unowned: &'a [Detached],
    #[serde(skip_serializing_if = "Option::is_none")]
    volume: Option<&'a str>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    unfinished: &'a [String],
    #[serde(skip_serializing_if = "<[StillNamed]>::is_empty")]
    still_names: &'a [StillNamed],
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct SummaryJson {
    created: usize,
    existing: usize,
    different: usize,
    left_out: usize,
    failed: usize,
    not_tried: usize,
    unfinished: usize,
}

impl<'a> RestorationDocument<'a> {
    fn of(view: &RestoreView<'a>) -> Self {
        let objects = view.objects().map(|(item, restored)| {
            let (because, needs, differences) = match &restored.outcome {
                Outcome::LeftOut(why) => (Some(why.to_string()), None, &[][..]),
                Outcome::Failed(why) => (Some(why.clone()), None, &[][..]),
                Outcome::Blocked(by) => (None, Some(named(&view.plan.items[*by].archived)), &[][..]),
                Outcome::Different(differences) => (None, None, differences.as_slice()),
                Outcome::WouldBeCreated
                | Outcome::Created
                | Outcome::AlreadyBack
                | Outcome::Same
                | Outcome::NotTried => (None, None, &[][..]),
            };
            RestoredJson {
                object: named(&item.archived),
                archived_namespace: item.archived.moved_from.as_deref(),
                outcome: &restored.outcome,
                current_uid: restored.uid.as_deref(),
                because,
                needs,
                differences,
                unowned: &restored.detached,
                volume: restored.volume.as_deref(),
                unfinished: &restored.unfinished,
                still_names: &item.still_named,
            }
        });
        RestorationDocument {
            head: Head::new("Restoration", view.gaps, view.resources.server()),
            dry_run: match view.mode {
                Mode::Apply => None,
                Mode::ServerDryRun => Some("server"),
                Mode::ClientDryRun => Some("client"),
            },
            objects: objects.collect(),
            lost: view.lost(),
            summary: SummaryJson {
                created: view.count(|it| matches!(it, Outcome::Created | Outcome::WouldBeCreated)),
                existing: view.count(|it| matches!(it, Outcome::Same | Outcome::AlreadyBack)),
                different: view.count(|it| matches!(it, Outcome::Different(_))),
                left_out: view.count(|it| matches!(it, Outcome::LeftOut(_))),
                failed: view.count(|it| matches!(it, Outcome::Failed(_) | Outcome::Blocked(_))),
                not_tried: view.count(|it| matches!(it, Outcome::NotTried)),
                unfinished: view.restored.iter().filter(|restored| !restored.unfinished.is_empty()).count(),
            },
        }
    }
}

fn named(archived: &Archived) -> ObjectJson<'_> {
    let place = &archived.place;
    ObjectJson {
        api_version: place.api_version.clone(),
        kind: &place.kind,
        namespace: Some(place.namespace.as_str()).filter(|namespace| !namespace.is_empty()),
        name: &place.name,
        uid: &archived.uid,
    }
}

/// An archive that was written.
#[derive(Clone, Copy, Debug)]
pub struct ArchiveView<'a> {
    pub resources: &'a Resources,
    /// How many objects of each kind it has, by apiVersion and kind.
    pub kinds: &'a BTreeMap<(String, String), usize>,
    /// Where it is.
    pub path: &'a str,
    pub bytes: u64,
    /// What to know of it.
    pub notes: &'a [String],
    /// The command that brings its objects back.
    pub restore: &'a ShellCommand,
}

impl Output for ArchiveView<'_> {
    /// There is none: the archive itself is for programs.
    fn document(&self) -> impl Serialize {}

    fn write(&self, options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
        self.write_verdict(options, out)?;
        let named =
            |((api_version, kind), number): (&(String, String), &usize)| match self.resources.map(api_version, kind) {
                Mapping::Served(resource) => (*number, plural(self.resources.get(resource), *number)),
                _ => (*number, kind.clone()),
            };
        let mut kinds: Vec<(usize, String)> = self.kinds.iter().map(named).collect();
        kinds.sort_by(|(one, a), (other, b)| other.cmp(one).then_with(|| a.cmp(b)));
        let kinds = kinds.iter().map(|(number, kind)| Line::new(&format!("{} {kind}", thousands(*number))));
        writeln!(out)?;
        lines::write_padded(kinds.collect(), options, out)?;
        let mut sections = Sections::default();
        sections.add(Heading::Note, self.notes.iter().cloned());
        sections.add(Heading::Next, [Said::from("to bring it back:"), Said::command(self.restore)]);
        sections.write_below(options, out)
    }

    fn write_verdict(&self, options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
        let objects = count(self.kinds.values().sum(), "object is", "objects are");
        let bytes = thousands(usize::try_from(self.bytes).unwrap_or(usize::MAX));
        let sentence = format!("{objects} archived in {} ({bytes} bytes).", self.path);
        lines::write_sentence(Headline::Done.word(), Headline::Done.tone(), &sentence, options, out)
    }
}
