//! What the collector would do once a file is applied, as text and as a document.

use std::io::{self, Write};

use serde::Serialize;

use gc_core::{
    apply::{
        ApplyCounts, ApplyPlan, ApplyResult, Arrival, Fate, FileReference, ManifestObject, Mend, Mending, Place,
        Standing,
    },
    collector::Reason,
    command_line::ShellCommand,
    document::{Head, Named},
    graph::OwnerGraph,
    model::{ObjectId, Reference, Rule},
    plan::{Because, Outcome, OutcomeKind, because},
    server::Propagation,
    simulate::{Cause, Uncertainty},
    wording::{count, some_of, thousands},
};

use super::{
    lines,
    output::{Output, TextOptions},
    plan::{PlanView, kept_outside, lost, obstacles, perhaps_lost},
    sections::{Heading, Said, Sections, first_of},
    states::{Fate as Shown, Tone, Toned},
    table::{Column, Table},
    words::{count_kinds, full_name, kinds_of},
};

/// A prediction with what is needed to print it.
#[derive(Clone, Copy, Debug)]
pub struct ApplyView<'a> {
    pub apply: &'a ApplyPlan,
    /// The objects of the file, in its order.
    pub objects: &'a [&'a ManifestObject],
    /// What would mend each of them.
    pub mendings: &'a [Mending],
    /// Of the scene.
    pub graph: &'a OwnerGraph,
    /// Where objects without a namespace go.
    pub namespace: &'a str,
    /// The command that prints the mended file.
    pub fix: &'a ShellCommand,
}

impl ApplyView<'_> {
    /// `Kind/name` of an object of the file, with its namespace unless that is the expected one.
    fn name(&self, index: usize) -> String {
        let short = self.objects[index].short_name();
        let namespace = &self.apply.objects[index].placed.namespace;
        if namespace.is_empty() || namespace == self.namespace { short } else { format!("{short} -n {namespace}") }
    }

    /// Whether the mended file differs.
    fn mends_anything(&self) -> bool {
        self.mendings.iter().any(|mending| !mending.is_nothing())
    }

    /// The verdict in a sentence.
    pub fn verdict(&self) -> String {
        verdict(self)
    }

    fn fate(&self, index: usize) -> Fate {
        self.apply.objects[index].fate
    }
}

/// At most this many other objects are named.
const OTHERS: usize = 20;

impl Output for ApplyView<'_> {
    fn document(&self) -> impl Serialize {
        Named(&self.apply.scene.snapshot, ApplyDocument::of(self))
    }

    fn write(&self, options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
        let style = options.style;
        self.write_verdict(options, out)?;
        writeln!(out)?;
        let unsure = |index: usize| self.apply.objects[index].uncertain;
        let unsure = |index| unsure(index).map(|why| format!(" (not certain: {})", why.name())).unwrap_or_default();
        let arrival = |index: usize| self.apply.objects[index].placed.arrival.name().to_lowercase();
        let table = Table::default()
            .with(Column::name("OBJECT"), |index: &usize| self.name(*index))
            .with(Column::text("STATE"), |index| word(self.fate(*index)).1)
            .with_if(options.wide, Column::text("APPLY"), |index| arrival(*index))
            .with_if(options.wide, Column::text("IN"), |index| self.objects[*index].place.to_string())
            .with(Column::prose("WHY"), |index| format!("{}{}", why(self, *index).message, unsure(*index)));
        let all: Vec<usize> = (0..self.objects.len()).collect();
        for (number, line) in table.lines(&all, options.width).iter().enumerate() {
            let tone = number.checked_sub(1).map_or(Tone::Plain, |index| word(self.fate(index)).0);
            writeln!(out, "{}", style.paint(tone, line))?;
        }
        sections(self, options).write_below(options, out)
    }

    fn write_verdict(&self, options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
        let tone = match self.apply.result() {
            ApplyResult::Collects | ApplyResult::Refused => Tone::Error,
            ApplyResult::Keeps => Tone::Good,
            ApplyResult::Unsure | ApplyResult::Strips => Tone::Warning,
        };
        lines::write_paragraph(tone, &self.verdict(), options, out)
    }

    /// The objects that are lost.
    fn names(&self) -> Option<Vec<String>> {
        let name = |found: &ManifestObject| {
            let short = found.short_name();
            let (kind, name) = short.split_once('/').unwrap_or((&short, ""));
            full_name(kind, found.group(), name)
        };
        let lost = self.apply.objects.iter().zip(self.objects).filter(|(object, _)| object.fate.is_loss());
        Some(lost.map(|(_, found)| name(found)).collect())
    }
}

fn sections(view: &ApplyView<'_>, options: &TextOptions<'_>) -> Sections {
    let apply = view.apply;
    let snapshot = &apply.scene.snapshot;
    let other = |outcome: &Outcome| {
        let what = match outcome.kind {
            OutcomeKind::Deleted if apply.later(outcome.object).is_some() => "deleted later",
            OutcomeKind::Deleted => "deleted",
            OutcomeKind::Terminating => "stays Terminating",
            OutcomeKind::Unchanged => "not certain",
            _ => "kept",
        };
        let told = outcome.because.as_ref();
        let told = told.map(|cause| because(snapshot, outcome.object, cause, Propagation::Background).message);
        let why = told.map(|why| format!(": {why}")).unwrap_or_default();
        Said::Text(format!("{} {what}{why}", snapshot.located(outcome.object, Some(view.namespace))))
    };
    let plan = PlanView::new(snapshot, view.graph, &apply.plan, &[], Some(view.namespace));
    let mut sections = Sections::default();
    sections.add(Heading::Why, obstacles(&plan));
    sections.add(Heading::Lost, lost(&plan, options.fold));
    sections.add(Heading::Then, first_of(apply.others().map(other).collect(), OTHERS, options.wide || !options.fold));
    sections.add(Heading::Note, perhaps_lost(&plan, options.fold));
    sections.add(Heading::Note, kept_outside(&plan, options.fold));
    if options.wide {
        sections.add(Heading::Note, ["assumed: kubectl apply sends the objects in the order of the file"]);
        sections.add(Heading::Note, apply.plan.assumptions.iter().map(|assumption| format!("assumed: {assumption}")));
        let unknown = "not judged: what the API server says of fields other than metadata, what webhooks and policies \
            do, and what controllers adopt or create";
        sections.add(Heading::Note, [unknown]);
    }
    sections.add(Heading::Next, view.mends_anything().then(|| Said::command(view.fix)));
    let lost = apply.plan.outcomes.iter().filter(|outcome| matches!(outcome.because, Some(Cause::ClaimGone(None))));
    let lost: Vec<String> = lost.map(|outcome| snapshot.short_name(outcome.object)).collect();
    if !lost.is_empty() {
        let volumes = some_of(lost, OTHERS);
        let rebind = "then each is bound to the claim of that name";
        sections.add(Heading::Next, [format!("remove spec.claimRef.uid of {volumes} from the file: {rebind}")]);
    }
    sections
}

/// Why an object has its fate.
#[derive(Debug, Serialize)]
struct Why {
    /// The reason in one word; its meaning never changes.
    pub reason: &'static str,
    /// Without a full stop.
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<Rule>,
}

/// The symbol and the word of a fate, and how its line looks.
fn word(fate: Fate) -> Toned {
    let (tone, (_, word)) = match fate {
        Fate::Collected => (Tone::Error, Shown::Deleted.column_of("collected")),
        Fate::Terminating => (Tone::Error, Shown::Waits.column_of("Terminating")),
        Fate::GoesLater => (Tone::Error, Shown::Later.column()),
        Fate::Refused => (Tone::Error, Shown::Error.column_of("refused")),
        Fate::Unknown => (Tone::Warning, Shown::Unsure.column()),
        Fate::Stripped => (Tone::Warning, Shown::Kept.column()),
        Fate::Kept => (Tone::Plain, Shown::Kept.column()),
    };
    (tone, word)
}

/// The verdict in one sentence.
fn verdict(view: &ApplyView<'_>) -> String {
    let counts = view.apply.counts();
    let of = format!("of {}", count(counts.objects, "object", "objects"));
    match view.apply.result() {
        ApplyResult::Collects if counts.lost() == 0 => {
            format!("COLLECTS: {} that the file does not have.", count(counts.others, "object", "objects"))
        }
        ApplyResult::Collects => {
            let others = match counts.others {
                0 => String::new(),
                1 => "; 1 other object goes with them".to_owned(),
                others => format!("; {} other objects go with them", thousands(others)),
            };
            format!("COLLECTS: {} {of} in the file ({}){others}.", thousands(counts.lost()), lost_kinds(view))
        }
        ApplyResult::Refused => {
            let are = if counts.refused == 1 { "is" } else { "are" };
            format!("REFUSED: {} {of} {are} refused; nothing is collected.", thousands(counts.refused))
        }
        ApplyResult::Unsure => {
            "UNSURE: not everything that decides could be read; nothing else is collected.".to_owned()
        }
        ApplyResult::Strips => {
            let lose = if counts.stripped == 1 { "loses" } else { "lose" };
            format!("STRIPS: {} {of} {lose} owner references; nothing is collected.", thousands(counts.stripped))
        }
        ApplyResult::Keeps => "KEEPS: nothing is collected.".to_owned(),
    }
}

/// `2 Pods, 1 ConfigMap`
fn lost_kinds(view: &ApplyView<'_>) -> String {
    let snapshot = &view.apply.scene.snapshot;
    let lost = view.apply.objects.iter().filter(|object| object.fate.is_loss());
    kinds_of(snapshot, count_kinds(snapshot, lost.filter_map(|object| object.placed.object)), usize::MAX)
}

/// Why an object of the file has its fate.
fn why(view: &ApplyView<'_>, index: usize) -> Why {
    let object = &view.apply.objects[index];
    let written = view.objects[index].written();
    let outcome = object.placed.object.and_then(|object| view.apply.outcome(object));
    let plain = |reason, message: String| Why { reason, message, rule: None };
    match (&object.placed.arrival, object.fate) {
        (Arrival::Refused(refusal), _) => plain(refusal.name(), refusal.to_string()),
        (Arrival::Unknown(unread), _) => plain("unread", unread.to_string()),
        (_, Fate::Collected | Fate::Terminating) => match outcome {
            Some(outcome) => why_lost(view, index, outcome),
            None => plain("terminating", "it exists, and is being deleted already".to_owned()),
        },
        (_, Fate::GoesLater) if let Some(later) = object.placed.object.and_then(|object| view.apply.later(object)) => {
            why_lost(view, index, later)
        }
        (_, Fate::GoesLater) if object.placed.namespace_goes => {
            plain("goes-later", format!("namespace {} is being deleted, with all in it", object.placed.namespace))
        }
        (_, Fate::GoesLater) => {
            let waits = |standing: &&Standing| matches!(standing, Standing::Going(_) | Standing::DefinedByFile(_));
            let first = object.standings.iter().find(waits);
            let message =
                each(written, &object.standings, |standing| !matches!(standing, Standing::Solid(_)) || first.is_none());
            let message = if first.is_none() { format!("its owners go later: {message}") } else { message };
            Why { reason: "goes-later", message, rule: first.map(Standing::rule) }
        }
        (_, Fate::Unknown) => {
            let unread = each(written, &object.standings, |standing| *standing == Standing::Unread);
            let message =
                if unread.is_empty() { "something that decides could not be read".to_owned() } else { unread };
            Why { reason: "unread", message, rule: Some(Rule::R10_2) }
        }
        (_, Fate::Stripped) => match outcome {
            Some(outcome) => why_lost(view, index, outcome),
            None => plain("solid-owner", "it loses owner references".to_owned()),
        },
        (arrival, Fate::Kept | Fate::Refused) => {
            let mut why = kept(arrival, written, &object.standings);
            if view.objects[index].name.is_empty() {
                why.message += " by kubectl create: kubectl apply refuses a generateName";
            }
            why
        }
    }
}

/// Why an object goes, or loses owner references.
fn why_lost(view: &ApplyView<'_>, index: usize, outcome: &Outcome) -> Why {
    let object = &view.apply.objects[index];
    let written = view.objects[index].written();
    let was_terminating = view.apply.scene.snapshot.object(outcome.object).terminating();
    let all_dangle = !written.is_empty() && object.standings.iter().all(Standing::dangles);
    let mut why = match &outcome.because {
        _ if was_terminating => {
            let held = if outcome.kind == OutcomeKind::Deleted { "; nothing holds it any more" } else { "" };
            let message = format!("it exists, and is being deleted already{held}");
            Why { reason: "terminating", message, rule: None }
        }
        Some(Cause::Collector(Reason::NoOwnerLeft)) if all_dangle => Why {
            reason: "dangling",
            message: each(written, &object.standings, |_| true),
            rule: object.standings.first().map(Standing::rule),
        },
        Some(cause) => {
            let told = because(&view.apply.scene.snapshot, outcome.object, cause, Propagation::Background);
            let rule = match cause {
                Cause::Collector(Reason::OtherOwnerSolid(_)) => Some(Rule::R8_5),
                Cause::Collector(_) => Some(Rule::R8_4),
                _ => None,
            };
            Why { reason: told.reason, message: told.message, rule }
        }
        None => Why { reason: "unread", message: "not certain".to_owned(), rule: None },
    };
    if outcome.kind == OutcomeKind::Terminating {
        let snapshot = &view.apply.scene.snapshot;
        let held: Vec<&str> = outcome.held_by.iter().map(|holder| holder.name(snapshot)).collect();
        let waits: Vec<String> = outcome.waits_for.iter().map(|object| snapshot.short_name(*object)).collect();
        if !held.is_empty() {
            why.message += &format!("; stays until this is removed: {}", held.join(", "));
        } else if !waits.is_empty() {
            why.message += &format!("; waits for {}", waits.join(", "));
        }
    }
    if !outcome.alternatives.is_empty() {
        why.message += "; other orders of events end differently";
    }
    why
}

fn kept(arrival: &Arrival, written: &[FileReference], standings: &[Standing]) -> Why {
    let done = match arrival {
        Arrival::Created => "created",
        Arrival::Patched => "exists; its owner references change",
        _ => "exists; its owner references stay as they are",
    };
    let odd = |standing: &Standing| {
        matches!(standing, Standing::InvalidScope | Standing::Unserved | Standing::DefinedByFile(_))
    };
    let shielded = each(written, standings, odd);
    let rule = standings.iter().find(|standing| odd(standing)).map(Standing::rule);
    let owners = each_name(written, standings, |standing| matches!(standing, Standing::Solid(_)));
    let message = match (shielded.is_empty(), owners.is_empty()) {
        (false, _) => format!("{done}; {shielded}"),
        (true, false) => format!("{done}; owned by {owners}"),
        (true, true) => done.to_owned(),
    };
    Why { reason: "kept", message, rule }
}

/// Owners that don't keep an object, in words: each with what is wrong.
fn each(written: &[FileReference], standings: &[Standing], wanted: impl Fn(&Standing) -> bool) -> String {
    let all = written.iter().zip(standings).filter(|(_, standing)| wanted(standing));
    let told: Vec<String> = all.map(|(reference, standing)| describe(reference, standing)).collect();
    told.join("; ")
}

fn each_name(written: &[FileReference], standings: &[Standing], wanted: impl Fn(&Standing) -> bool) -> String {
    let all = written.iter().zip(standings).filter(|(_, standing)| wanted(standing));
    all.map(|(reference, _)| name(reference)).collect::<Vec<_>>().join(", ")
}

fn name(reference: &FileReference) -> String {
    format!("{}/{}", reference.kind, reference.name)
}

/// What a reference comes to: a sentence about the owner.
fn describe(reference: &FileReference, standing: &Standing) -> String {
    let owner = name(reference);
    match standing {
        Standing::Solid(_) => format!("its owner {owner} is there"),
        Standing::Going(_) => format!("its owner {owner} is being deleted"),
        Standing::NewUid(_) => format!("its owner {owner} gets a new uid"),
        Standing::OtherUid(_) => format!("its owner {owner} has another uid"),
        Standing::Elsewhere(namespace) => format!("its owner {owner} is in namespace {namespace}"),
        Standing::Absent { .. } => format!("its owner {owner} is missing"),
        Standing::ListKind => format!("its owner {owner} is a list, and lists don't exist"),
        Standing::Unserved => {
            format!("no {} is served in {}, so the collector leaves it alone", reference.kind, reference.api_version)
        }
        Standing::DefinedByFile(definition) => {
            format!("its owner {owner} is missing once {definition} is served")
        }
        Standing::InvalidScope => format!("its owner {owner} is namespaced, so the collector leaves it alone"),
        Standing::Unread => format!("whether its owner {owner} exists could not be read"),
    }
}

/// The changes of a mended file, one line for each reference.
pub fn mended(view: &ApplyView<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    for (index, mending) in view.mendings.iter().enumerate() {
        let object = view.name(index);
        let standings = &view.apply.objects[index].standings;
        let written = view.objects[index].written();
        for ((mend, standing), reference) in mending.references.iter().zip(standings).zip(written) {
            let owner = name(reference);
            lines.extend(match mend {
                Mend::Keep => None,
                Mend::SetUid(uid) => Some(format!("{object}: its owner {owner} has the uid {uid} now.")),
                Mend::Remove => {
                    Some(format!("{object}: its reference to {owner} was removed: {}.", describe(reference, standing)))
                }
                Mend::RemoveForNow => {
                    Some(format!("{object}: its reference to {owner} was removed for now: the file creates its owner."))
                }
            });
        }
        if mending.remove_uid {
            lines.push(format!("{object}: metadata.uid was removed: it exists with another one."));
        }
        if mending.remove_version {
            lines.push(format!("{object}: metadata.resourceVersion was removed: it has changed since."));
        }
    }
    lines
}

/// The objects that are refused even from the mended file, one line for each.
pub fn refused(view: &ApplyView<'_>, plan: &ApplyPlan) -> Vec<String> {
    let mut lines = Vec::new();
    for (index, object) in plan.objects.iter().enumerate() {
        if let Arrival::Refused(refusal) = &object.placed.arrival
            && !object.placed.other_uid
            && !object.placed.other_version
            && let Some(refusal) = view.mendings[index].refusal(view.objects[index], refusal)
        {
            lines.push(format!("{}: still refused: {refusal}.", view.name(index)));
        }
    }
    lines
}

/// A prediction as JSON or YAML, once its ids are [`Named`](gc_core::document::Named) by the scene's snapshot.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ApplyDocument<'a> {
    #[serde(flatten)]
    head: Head,
    verdict: VerdictJson,
    objects: Vec<FileObjectJson<'a>>,
    others: Vec<OtherJson>,
    outside: Vec<String>,
    summary: ApplyCounts,
    assumes: Vec<String>,
}

#[derive(Debug, Serialize)]
struct VerdictJson {
    result: ApplyResult,
    sentence: String,
    certain: bool,
}

/// An object of the file.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct FileObjectJson<'a> {
    place: &'a Place,
    object: NamedJson<'a>,
    arrival: &'static str,
    fate: Fate,
    certain: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    uncertain_because: Option<Uncertainty>,
    because: Why,
    references: Vec<FileReferenceJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<AfterJson<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    held_by: Vec<&'a str>,
}

/// An object of the file; only one that exists has a uid.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct NamedJson<'a> {
    api_version: &'a str,
    kind: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    namespace: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    generate_name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    uid: Option<&'a str>,
}

/// An object that stays.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct AfterJson<'a> {
    owner_references: &'a [Reference],
}

/// A reference of the file, where it leads, and what mends it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct FileReferenceJson<'a> {
    #[serde(flatten)]
    written: &'a FileReference,
    standing: &'static str,
    message: String,
    rule: Rule,
    #[serde(flatten)]
    mend: &'a Mend,
}

/// An object of the cluster that the file doesn't have.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct OtherJson {
    object: ObjectId,
    outcome: OutcomeKind,
    certain: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    uncertain_because: Option<Uncertainty>,
    #[serde(skip_serializing_if = "Option::is_none")]
    because: Option<Because>,
}

impl<'a> ApplyDocument<'a> {
    fn of(view: &ApplyView<'a>) -> Self {
        let apply = view.apply;
        let snapshot = &apply.scene.snapshot;
        let plan = PlanView::new(snapshot, view.graph, &apply.plan, &[], Some(view.namespace));
        ApplyDocument {
            head: Head::of("ApplyPlan", &snapshot.gaps, snapshot),
            verdict: VerdictJson { result: apply.result(), sentence: view.verdict(), certain: apply.certain() },
            objects: (0..view.objects.len()).map(|index| FileObjectJson::of(view, index)).collect(),
            others: apply.others().map(|outcome| OtherJson::of(view, outcome)).collect(),
            outside: [lost(&plan, false), perhaps_lost(&plan, false), kept_outside(&plan, false)].concat(),
            summary: apply.counts(),
            assumes: apply.plan.assumptions.iter().map(ToString::to_string).collect(),
        }
    }
}

impl<'a> FileObjectJson<'a> {
    fn of(view: &ApplyView<'a>, index: usize) -> Self {
        let found = view.objects[index];
        let object = &view.apply.objects[index];
        let snapshot = &view.apply.scene.snapshot;
        let existing = object.placed.object.filter(|object| !view.apply.scene.is_new(*object));
        let outcome = object.placed.object.and_then(|object| view.apply.outcome(object));
        let references = found.written().iter().enumerate();
        FileObjectJson {
            place: &found.place,
            object: NamedJson {
                api_version: &found.api_version,
                kind: &found.kind,
                namespace: &object.placed.namespace,
                name: &found.name,
                generate_name: if found.name.is_empty() { &found.generate_name } else { "" },
                uid: existing.map(|existing| snapshot.text(snapshot.object(existing).uid)),
            },
            arrival: object.placed.arrival.name(),
            fate: object.fate,
            certain: object.uncertain.is_none(),
            uncertain_because: object.uncertain,
            because: why(view, index),
            references: references.map(|(place, written)| FileReferenceJson::of(view, index, place, written)).collect(),
            after: after(view, index, outcome),
            held_by: outcome
                .map_or_else(Vec::new, |outcome| outcome.held_by.iter().map(|holder| holder.name(snapshot)).collect()),
        }
    }
}

/// The references of an object that stays, once the collector has removed some.
fn after<'a>(view: &ApplyView<'a>, index: usize, outcome: Option<&'a Outcome>) -> Option<AfterJson<'a>> {
    let object = &view.apply.objects[index];
    let snapshot = &view.apply.scene.snapshot;
    let stays = matches!(object.fate, Fate::Kept | Fate::Stripped | Fate::GoesLater);
    let stored = object.placed.object.filter(|_| stays).map(|object| snapshot.object(object))?;
    let owners = outcome.and_then(|outcome| outcome.after.as_ref()).map_or(&*stored.owners, |after| &after.owners);
    Some(AfterJson { owner_references: owners })
}

impl<'a> FileReferenceJson<'a> {
    fn of(view: &ApplyView<'a>, index: usize, place: usize, written: &'a FileReference) -> Self {
        let standing = &view.apply.objects[index].standings[place];
        FileReferenceJson {
            written,
            standing: standing.name(),
            message: describe(written, standing),
            rule: standing.rule(),
            mend: &view.mendings[index].references[place],
        }
    }
}

impl OtherJson {
    fn of(view: &ApplyView<'_>, outcome: &Outcome) -> Self {
        let because = |cause| because(&view.apply.scene.snapshot, outcome.object, cause, Propagation::Background);
        OtherJson {
            object: outcome.object,
            outcome: outcome.kind,
            certain: outcome.uncertain.is_none(),
            uncertain_because: outcome.uncertain,
            because: outcome.because.as_ref().map(because),
        }
    }
}
