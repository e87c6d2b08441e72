//! What the cluster removes by itself, as text and as a document.

use std::io::{self, Write};

use serde::Serialize;

use gc_core::{
    document::{Head, Named, rfc3339},
    model::{Gap, ObjectId, Snapshot},
    reclaim::{Assumption, Forecast, Freed, Removal, Stays, When},
    wording::{age, and_more, count},
};

use super::{
    lines,
    output::{Output, TextOptions},
    sections::{Heading, Sections},
    states::Tone,
    table::{Column, Table},
    words::full_names,
};

/// `kind: Reclaim`, described in `docs/schema/reclaim.json`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ReclaimDocument<'a> {
    #[serde(flatten)]
    head: Head,
    time: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    within_seconds: Option<i64>,
    removals: Named<'a, Vec<&'a Removal>>,
    without_time: usize,
    frees: Freed,
    #[serde(skip_serializing_if = "Option::is_none")]
    stays: Option<Named<'a, Vec<&'a Stays>>>,
    assumes: &'a [Assumption],
}

/// A forecast with what is needed to print it.
#[derive(Clone, Copy, Debug)]
pub struct ReclaimView<'a> {
    pub snapshot: &'a Snapshot,
    pub forecast: &'a Forecast,
    /// The namespace in view; `None`: all.
    pub namespace: Option<&'a str>,
    /// The targets; `None` if none were named.
    pub targets: Option<&'a [ObjectId]>,
    /// Of when the forecast is, in Unix seconds.
    pub now: i64,
    /// Only what goes within so many seconds.
    pub within: Option<i64>,
    /// Whether what stays is shown.
    pub never: bool,
    /// What could not be read.
    pub gaps: &'a [Gap],
}

impl Output for ReclaimView<'_> {
    /// Described in `docs/schema/reclaim.json`.
    fn document(&self) -> impl Serialize {
        let removals = self.removals();
        let frees = Freed {
            objects: removals.iter().map(|removal| removal.frees.objects).sum(),
            bytes: removals.iter().map(|removal| removal.frees.bytes).sum(),
        };
        ReclaimDocument {
            head: Head::of("Reclaim", self.gaps, self.snapshot),
            time: rfc3339(self.now),
            within_seconds: self.within,
            removals: Named(self.snapshot, removals),
            without_time: self.without_time(),
            frees,
            stays: self.never.then(|| Named(self.snapshot, self.stays())),
            assumes: &self.forecast.assumptions,
        }
    }

    fn write(&self, options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
        self.write_verdict(options, out)?;
        write_table(&of_removals(self, options.wide), &self.removals(), options, out)?;
        if self.never {
            writeln!(out)?;
            let stays = self.stays();
            let summary = match stays.len() {
                0 => "Nothing stays that you may expect to go.".to_owned(),
                number => {
                    format!("{}, though you may expect otherwise.", count(number, "object stays", "objects stay"))
                }
            };
            lines::write_paragraph(Tone::Strong, &summary, options, out)?;
            write_table(&of_stays(self, options.wide), &stays, options, out)?;
        }
        notes(self, options.wide).write_below(options, out)
    }

    fn write_verdict(&self, options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
        lines::write_paragraph(Tone::Strong, &summary(self), options, out)
    }

    /// `kind.group/name` of what goes, without dependents; with `--never`, of what stays.
    fn names(&self) -> Option<Vec<String>> {
        Some(match self.never {
            true => full_names(self.snapshot, self.stays().iter().map(|stays| stays.object)),
            false => full_names(self.snapshot, self.removals().iter().map(|removal| removal.object)),
        })
    }
}

impl<'a> ReclaimView<'a> {
    /// What goes and is in view.
    fn removals(&self) -> Vec<&'a Removal> {
        let all = self.forecast.removals.iter().filter(|removal| self.shows(removal.object));
        all.filter(|removal| self.is_within(removal) == Some(true)).collect()
    }

    /// How many go that are in view, but nobody knows when.
    fn without_time(&self) -> usize {
        let all = self.forecast.removals.iter().filter(|removal| self.shows(removal.object));
        all.filter(|removal| self.is_within(removal).is_none()).count()
    }

    /// What stays and is in view.
    fn stays(&self) -> Vec<&'a Stays> {
        self.forecast.stays.iter().filter(|stays| self.shows(stays.object)).collect()
    }

    /// How many cluster-scoped objects go that a namespace doesn't show.
    fn beside_namespace(&self) -> usize {
        if self.targets.is_some() || self.namespace.is_none() {
            return 0;
        }
        let is_beside = |removal: &&Removal| self.snapshot.object(removal.object).namespace.is_empty();
        self.forecast.removals.iter().filter(is_beside).count()
    }

    fn shows(&self, id: ObjectId) -> bool {
        match (self.targets, self.namespace) {
            (Some(targets), _) => targets.contains(&id),
            (None, Some(namespace)) => self.snapshot.namespace(id) == namespace,
            (None, None) => true,
        }
    }

    /// Whether it goes soon enough; `None` if only an event tells.
    fn is_within(&self, removal: &Removal) -> Option<bool> {
        let Some(within) = self.within else { return Some(true) };
        let earliest = removal.reason().when.earliest(self.now)?;
        Some(earliest <= self.now.saturating_add(within))
    }
}

fn notes(view: &ReclaimView<'_>, wide: bool) -> Sections {
    let mut sections = Sections::default();
    let away = view.forecast.manager_away.as_ref();
    sections.add(Heading::Note, away.map(|why| format!("no controller manager is known to run: {why}")));
    let (without, beside) = (view.without_time(), view.beside_namespace());
    sections.add(
        Heading::Note,
        (without > 0).then(|| {
            let more = count(without, "more object goes", "more objects go");
            format!("{more} at a time that is not known: leave out --within to see them")
        }),
    );
    sections.add(
        Heading::Note,
        (beside > 0)
            .then(|| format!("{} without a namespace: -A shows them", count(beside, "object goes", "objects go"))),
    );
    if wide {
        let assumed = view.forecast.assumptions.iter().map(|assumption| assumption.text.as_str());
        sections.add(Heading::Note, [format!("assumed: {}", assumed.collect::<Vec<_>>().join("; "))]);
    }
    let collected = "not counted: what the garbage collector deletes; kubectl gc sweep --dry-run shows it";
    sections.add(Heading::Note, [collected]);
    sections
}

fn summary(view: &ReclaimView<'_>) -> String {
    let removals = view.removals();
    let within = view.within.map(|within| format!(" within {}", age(within))).unwrap_or_default();
    if removals.is_empty() {
        let read = if view.gaps.is_empty() { "Nothing" } else { "Nothing that could be read" };
        return format!("{read} goes by itself{within}.");
    }
    let takes: usize = removals.iter().map(|removal| removal.takes.len()).sum();
    let with = if takes == 0 { String::new() } else { format!(", with {}", count(takes, "dependent", "dependents")) };
    let bytes: u64 = removals.iter().map(|removal| removal.frees.bytes).sum();
    let bytes = if bytes == 0 { String::new() } else { format!(", {} of storage", size(bytes)) };
    let goes = count(removals.len(), "object goes by itself", "objects go by themselves");
    let is_away = view.forecast.manager_away.is_some();
    let once = if is_away { ", once a controller manager runs" } else { "" };
    format!("{goes}{within}{once}{with}{bytes}.")
}

/// In the largest unit that leaves a number of at most three digits before the point.
fn size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["bytes", "Ki", "Mi", "Gi", "Ti"];
    let power = (0..UNITS.len() - 1).find(|power| bytes >> (10 * (power + 1)) == 0).unwrap_or(UNITS.len() - 1);
    match power {
        0 => format!("{bytes} bytes"),
        power => {
            let tenths = (bytes >> (10 * (power - 1))) * 10 / 1024;
            let rest = if tenths.is_multiple_of(10) { String::new() } else { format!(".{}", tenths % 10) };
            format!("{}{rest}{}", tenths / 10, UNITS[power])
        }
    }
}

fn of_removals<'v>(view: &'v ReclaimView<'_>, wide: bool) -> Table<'v, &'v Removal> {
    let earliest = |removal: &Removal| removal.reason().when.earliest(view.now);
    Table::default()
        .with(Column::text("WHEN"), |removal: &&Removal| when(&removal.reason().when, view.now))
        .with_if(wide, Column::text("FROM"), move |removal| earliest(removal).map_or_else(|| "-".to_owned(), rfc3339))
        .with(Column::name("OBJECT"), |removal| name(view, removal.object))
        .with(Column::number("WITH"), |removal| removal.takes.len().to_string())
        .with_if(wide, Column::text("RULE"), |removal| removal.reason().rule.id().to_owned())
        .with_if(wide, Column::text("CONTROLLER"), |removal| removal.reason().controller.to_string())
        .with(Column::prose("WHY"), |removal| why(view.snapshot, removal))
}

fn of_stays<'v>(view: &'v ReclaimView<'_>, wide: bool) -> Table<'v, &'v Stays> {
    Table::default()
        .with(Column::name("OBJECT"), |stays: &&Stays| name(view, stays.object))
        .with_if(wide, Column::text("RULE"), |stays| stays.rule.id().to_owned())
        .with(Column::prose("WHY"), |stays| stays.why.clone())
}

/// A table below a paragraph, if it has rows. Wide output has lines of any length.
fn write_table<T>(table: &Table<'_, T>, items: &[T], options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
    if items.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    let lines = table.lines(items, options.width.filter(|_| !options.wide));
    lines.iter().try_for_each(|line| writeln!(out, "{line}"))
}

/// `Kind/name -n NAMESPACE`; without the namespace if only one is in view.
fn name(view: &ReclaimView<'_>, id: ObjectId) -> String {
    view.snapshot.located(id, view.namespace)
}

/// `at once`, `in 12m`, `within 20s`, `in 3h to 4h`.
pub(super) fn when(when: &When, now: i64) -> String {
    match (when.earliest(now), when.latest(now)) {
        (Some(from), Some(until)) if until == now && from == now => "at once".to_owned(),
        (Some(from), Some(until)) if from == now => format!("within {}", age(until - now)),
        (Some(from), Some(until)) if from == until => format!("in {}", age(from - now)),
        (Some(from), Some(until)) => format!("in {} to {}", age(from - now), age(until - now)),
        _ => "later".to_owned(),
    }
}

/// Why an object goes, and what holds it then.
pub(super) fn why(snapshot: &Snapshot, removal: &Removal) -> String {
    let reason = removal.reason();
    let mut why = reason.why.clone();
    if let When::Once { event, .. } = &reason.when {
        why.push_str(&format!("; due once {event}"));
    }
    for held in &removal.held {
        why.push_str(&format!("; the finalizer {} then holds it", held.finalizer));
        if let Some(by) = held.by {
            why.push_str(&format!(", which {by} removes"));
        }
        if let Some(first) = held.for_objects.first() {
            let more = and_more(held.for_objects.len() - 1);
            why.push_str(&format!(" once {}{more} is gone", snapshot.short_name(*first)));
        }
    }
    if let Some(first) = removal.held_dependents.first() {
        let more = and_more(removal.held_dependents.len() - 1);
        why.push_str(&format!("; a finalizer then holds {}{more}", snapshot.short_name(*first)));
    }
    if let Some(doubt) = removal.doubt() {
        why.push_str(&format!("; not certain: {doubt}"));
    }
    why
}
