//! The result of a delete or a sweep, as text, as a document and as a picture.

#[cfg(test)]
mod tests;

use std::{
    collections::HashMap,
    io::{self, Write},
    path::Path,
    time::Duration,
};

use serde::Serialize;

use gc_cluster::act::{Answered, Ended, Followed, RefusalCause, Sent};
use gc_core::{
    command_line::{Kubectl, SEE_MANAGER, ShellCommand},
    doctor::Code,
    document::Head,
    model::{Gap, Identity, Resources, group_of},
    plan::{
        OutcomeKind, Summary,
        tracker::{Blocker, ManagerAway, Progress, Relation, UnexpectedOutcome, UnplannedObject},
    },
    server::Propagation,
    simulate::State,
    wording::{count, duration, thousands},
};

use super::{
    lines::{self, Line},
    output::{Output, TextOptions},
    picture::{Fate, Picture, PictureOptions, Row, Verdict, View, folded, of_identity, row_of, section},
    plan::VerdictJson,
    sections::{Heading, Said, Sections, more_lines},
    states::{Headline, Tone},
    words::full_name,
};

/// A finished delete, with what is needed to describe it.
#[derive(Clone, Copy, Debug, Default)]
pub struct DeletionView<'a> {
    pub propagation: Propagation,
    /// The namespace in view; objects elsewhere are printed with theirs.
    pub namespace: Option<&'a str>,
    pub gaps: &'a [Gap],
    /// What the server offers.
    pub resources: Option<&'a Resources>,
    /// The verdict on the plan; `None` if there was none.
    pub verdict: Option<&'a VerdictJson>,
    /// What the plan predicted.
    pub planned: Summary,
    /// How many objects an obstacle keeps from following, as planned.
    pub prevented: usize,
    /// The answers to the DELETEs of the targets.
    pub sent: &'a [Sent],
    /// What happened after the DELETEs; `None` if the cascade was not followed.
    pub followed: Option<&'a Followed>,
    /// Time since the first DELETE.
    pub took: Duration,
    /// The objects that `--keep` preserved as intended.
    pub kept: &'a [Identity],
    /// Messages about kept objects that are not as intended.
    pub unfinished: &'a [String],
    /// The archive file, if one was written.
    pub archive: Option<&'a Path>,
    /// kubectl with the flags that select the cluster, for printed commands.
    pub kubectl: &'a Kubectl,
    /// For a sweep, which has no targets: the objects that could not be written or read, and why.
    pub sweep: Option<&'a [(Identity, String)]>,
    /// The picture of the plan, not folded, if the result is drawn.
    pub drawn: Option<&'a Picture>,
}

/// `kind: Deletion`
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DeletionDocument<'a> {
    #[serde(flatten)]
    head: Head,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<&'a VerdictJson>,
    propagation: Propagation,
    targets: &'a [Sent],
    planned: Summary,
    #[serde(flatten)]
    result: ResultJson<'a>,
    #[serde(skip_serializing_if = "<[Identity]>::is_empty")]
    kept: &'a [Identity],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    unfinished: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    archive: Option<String>,
}

/// The result, compared with the plan.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResultJson<'a> {
    ended: &'static str,
    /// Time since the first DELETE, in seconds.
    seconds: f64,
    /// For how many seconds the collector had not acted, if that ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    collector_idle: Option<f64>,
    /// The code of the doctor's finding, if nobody collects.
    #[serde(skip_serializing_if = "Option::is_none")]
    finding: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seen: Option<Progress>,
    unexpected: &'a [UnexpectedOutcome],
    blockers: &'a [Blocker],
    unplanned: &'a [UnplannedObject],
    /// Of a sweep: what could not be written or read.
    #[serde(skip_serializing_if = "Option::is_none")]
    failed: Option<Vec<FailedJson<'a>>>,
}

#[derive(Serialize)]
struct FailedJson<'a> {
    object: &'a Identity,
    reason: &'a str,
}

impl Output for DeletionView<'_> {
    fn document(&self) -> impl Serialize {
        DeletionDocument {
            head: Head::new("Deletion", self.gaps, self.resources.and_then(Resources::server)),
            verdict: self.verdict,
            propagation: self.propagation,
            targets: self.sent,
            planned: self.planned,
            result: self.result_json(),
            kept: self.kept,
            unfinished: self.unfinished,
            archive: self.archive.map(|path| path.display().to_string()),
        }
    }

    /// Writes the whole text.
    fn write(&self, options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
        self.write_verdict(options, out)?;
        let most = if options.wide { usize::MAX } else { NAMED };
        for group in groups(self, most).into_iter().filter(|group| !group.lines.is_empty()) {
            let more = (group.all > most).then(|| Line::quiet(&more_lines(group.all - most)));
            let lines = group.lines.into_iter().map(|(_, line)| line).chain(more).collect();
            writeln!(out)?;
            lines::write_padded(lines, options, out)?;
        }
        let mut sections = Sections::default();
        sections.add(Heading::Next, self.followed.and_then(|followed| next(self, followed)).map(Said::command));
        sections.write_below(options, out)
    }

    fn write_verdict(&self, options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
        let (headline, sentence) = verdict(self);
        lines::write_sentence(headline.word(), headline.tone(), &sentence, options, out)
    }

    fn picture(&self, options: &PictureOptions<'_>) -> Option<Picture> {
        Some(picture(self, options))
    }

    /// The targets that are terminating or gone, as kubectl's own `delete -o name`.
    fn names(&self) -> Option<Vec<String>> {
        let done = self.sent.iter().filter(|sent| !sent.answered.failed()).map(|sent| &sent.target);
        Some(done.map(|object| full_name(&object.kind, group_of(&object.api_version), &object.name)).collect())
    }
}

impl<'a> DeletionView<'a> {
    /// The result, for the document of a sweep.
    pub fn result(&self) -> impl Serialize {
        self.result_json()
    }

    fn result_json(&self) -> ResultJson<'a> {
        let failed = |failing: &'a [(Identity, String)]| {
            failing.iter().map(|(object, reason)| FailedJson { object, reason }).collect()
        };
        ResultJson {
            ended: self.ended(),
            seconds: (self.took.as_secs_f64() * 1_000.0).round() / 1_000.0,
            collector_idle: self.followed.and_then(|followed| followed.collector_idle).map(|idle| idle.as_secs_f64()),
            finding: self.followed.and_then(|followed| match (&followed.manager_away, followed.collector_idle) {
                (Some(_), _) => Some(Code::CollectorStopped.name()),
                (None, Some(_)) => Some(Code::CollectorIdle.name()),
                (None, None) => None,
            }),
            seen: self.followed.map(|followed| followed.progress),
            unexpected: self.followed.map_or(&[], |followed| &followed.otherwise),
            blockers: self.followed.map_or(&[], |followed| &followed.blockers),
            unplanned: self.followed.map_or(&[], |followed| &followed.outside),
            failed: self.sweep.map(failed),
        }
    }

    /// The outcome in one word; its meaning never changes.
    fn ended(&self) -> &'static str {
        match self.followed.map(|followed| followed.ended) {
            _ if self.is_not_done() => "NotDeleted",
            None => "NotFollowed",
            Some(Ended::AsPlanned) => "AsPlanned",
            Some(Ended::Otherwise) => "Unexpected",
            Some(Ended::Stuck) => "Stuck",
            Some(Ended::TimedOut) => "TimedOut",
            Some(Ended::CalledOff) => "Interrupted",
        }
    }

    /// Whether the outcome is bad: objects remain, or something differs from the plan.
    pub fn bad_news(&self) -> bool {
        self.followed.is_some_and(|followed| match followed.ended {
            Ended::CalledOff => false,
            _ if followed.manager_away.is_some() => true,
            Ended::AsPlanned => followed.left > 0 || self.prevented > 0 || surprises(followed) > 0,
            Ended::Otherwise if went_all_the_same(followed) => false,
            Ended::Otherwise | Ended::Stuck | Ended::TimedOut => true,
        })
    }

    /// Whether a request failed, or the cascade was not followed as requested.
    pub fn failed(&self) -> bool {
        let called_off = self.followed.is_some_and(|followed| followed.ended == Ended::CalledOff);
        let in_vain = self.sweep.is_some_and(|failing| !failing.is_empty());
        called_off || in_vain || self.sent.iter().any(|sent| sent.answered.failed())
    }

    /// Whether nothing else failed than DELETEs that the API server refused, and not for lack of rights. After a
    /// refusal nothing is sent.
    pub fn is_refused(&self) -> bool {
        let is_judged =
            |sent: &&Sent| matches!(sent.answered, Answered::Refused { cause: RefusalCause::Judgement, .. });
        let mut failed = self.sent.iter().filter(|sent| sent.answered.failed() && sent.answered != Answered::NotSent);
        let called_off = self.followed.is_some_and(|followed| followed.ended == Ended::CalledOff);
        let any = self.sent.iter().any(|sent| is_judged(&sent));
        self.sweep.is_none() && !called_off && any && failed.all(|sent| is_judged(&sent))
    }

    /// Whether certainly no target was deleted.
    fn is_not_done(&self) -> bool {
        self.sweep.is_none() && !self.sent.iter().any(|sent| sent.answered.may_be_done())
    }
}

/// Whether all differences are objects that were expected to get stuck and are gone: a finalizer was removed by a
/// controller that the plan didn't know to be running.
fn went_all_the_same(followed: &Followed) -> bool {
    let let_go = |otherwise: &UnexpectedOutcome| {
        otherwise.actual == OutcomeKind::Deleted
            && otherwise.predicted.iter().all(|kind| *kind == OutcomeKind::Terminating)
    };
    followed.left == 0 && surprises(followed) == 0 && followed.otherwise.iter().all(let_go)
}

/// How many objects were deleted that existed at planning time and were predicted to stay.
fn surprises(followed: &Followed) -> usize {
    followed.outside.iter().filter(|one| !one.new && (one.gone || one.terminating)).count()
}

/// At most this many objects of a kind are named, unless the output is wide.
const NAMED: usize = 10;
/// What can't be changed.
const FAILED: (Fate, &str) = (Fate::Error, "failed");

/// Lines of one sort.
struct Group<'a> {
    title: &'static str,
    pub lines: Vec<(&'a Identity, Line)>,
    /// How many there would be if none were left out.
    all: usize,
}

impl<'a> Group<'a> {
    fn of<T>(
        title: &'static str,
        all: impl IntoIterator<Item = T>,
        most: usize,
        line: impl Fn(T) -> (&'a Identity, Line),
    ) -> Self {
        let all: Vec<T> = all.into_iter().collect();
        let number = all.len();
        Group { title, lines: all.into_iter().take(most).map(line).collect(), all: number }
    }
}

/// What differs from the plan, what blocks the remaining objects, and what else went, each with at most so many lines,
/// but for the targets.
fn groups<'a>(view: &DeletionView<'a>, most: usize) -> Vec<Group<'a>> {
    let not_done = view.sent.iter().filter_map(|sent| Some((&sent.target, not_done(view, sent)?))).collect();
    let failed = Group::of("Failed", view.sweep.unwrap_or_default(), most, |(object, why)| {
        (object, line(view, object, FAILED, Tone::Error, vec![why.clone()]))
    });
    let mut groups = vec![Group { title: "Not done", lines: not_done, all: 0 }, failed];
    let Some(followed) = view.followed else { return groups };
    let mut blockers: Vec<&Blocker> = followed.blockers.iter().collect();
    let blocker_of = |it: &UnexpectedOutcome| followed.blockers.iter().find(|blocker| blocker.object == it.object);
    if followed.ended != Ended::AsPlanned && !went_all_the_same(followed) {
        let line = |it: &'a UnexpectedOutcome| (&it.object, otherwise_line(view, it, blocker_of(it)));
        groups.push(Group::of("Otherwise than planned", &followed.otherwise, most, line));
        blockers.retain(|blocker| !followed.otherwise.iter().take(most).any(|it| it.object == blocker.object));
    }
    groups.push(Group::of("Left Terminating", blockers, most, |it| (&it.object, blocker_line(view, it))));
    groups.push(Group::of("Not in the plan", &followed.outside, most, |it| (&it.object, outside_line(view, it))));
    groups
}

/// How it ended, in a word and a sentence.
fn verdict(view: &DeletionView<'_>) -> (Headline, String) {
    let failed = view.sent.iter().filter(|sent| sent.answered.failed()).count();
    if view.is_not_done() {
        return (Headline::NotDone, "nothing was deleted.".to_owned());
    }
    let unlisted_contents =
        view.followed.map_or(0, |followed| followed.outside.iter().filter(|one| one.gone || one.terminating).count());
    let archived = match (view.archive, unlisted_contents) {
        (None, _) => String::new(),
        (Some(path), 0) => format!(" Archived in {}.", path.display()),
        (Some(path), _) => {
            let unlisted_contents = count(unlisted_contents, "unplanned object is", "unplanned objects are");
            format!(" The planned objects are archived in {}; {unlisted_contents} not in it.", path.display())
        }
    };
    let in_vain = view.sweep.map_or(0, <[_]>::len);
    let part = match (failed, in_vain) {
        (0, 0) => String::new(),
        (0, in_vain) => format!(" {} not be changed.", count(in_vain, "object could", "objects could")),
        (failed, _) => format!(" {} not deleted.", count(failed, "target was", "targets were")),
    };
    let failed = failed + in_vain;
    let Some(followed) = view.followed else {
        let targets = match view.sent {
            [one] => format!("{} is", one.target.placed()),
            all => count(all.len() - failed, "target is", "targets are"),
        };
        let sent = format!("{targets} deleted; the cascade continues without being followed.{part}{archived}");
        return (Headline::Sent, sent);
    };
    let (headline, how, then) = how_it_ended(view, followed, failed);
    let (after, came) = (view.took.as_secs_f64(), what_came(followed));
    (headline, format!("{how}after {after:.1}s: {came}{then}{part}{archived}"))
}

/// How a cascade ended: a word, how it begins, and what follows what came of it. `failed` counts what wasn't done.
fn how_it_ended(view: &DeletionView<'_>, followed: &Followed, failed: usize) -> (Headline, String, String) {
    let unknown = ". No controller is known to finish this.";
    if let Some(ManagerAway { why, sweep_helps }) = &followed.manager_away {
        let or_sweep = if *sweep_helps { ", or let kubectl gc sweep do the collector's work" } else { "" };
        let away = format!(". No controller manager is known to run: {why}. Start it{or_sweep}.");
        let how = match followed.ended {
            Ended::AsPlanned => "as planned, ",
            Ended::TimedOut => "timed out ",
            Ended::CalledOff => "interrupted ",
            Ended::Stuck | Ended::Otherwise => "",
        };
        return (Headline::Stuck, how.to_owned(), away);
    }
    let (headline, how, then) = match followed.ended {
        Ended::AsPlanned if surprises(followed) > 0 => {
            let more = count(surprises(followed), "object was deleted", "objects were deleted");
            return (Headline::Unexpected, format!("{more} that the plan did not name, "), ".".to_owned());
        }
        Ended::AsPlanned if failed > 0 => (Headline::PartlyDone, "", "."),
        Ended::AsPlanned if followed.left == 0 && view.prevented > 0 => {
            let stay = count(view.prevented, "object stays", "objects stay");
            return (Headline::Stuck, "as planned, ".to_owned(), format!(". {stay} that would follow."));
        }
        Ended::AsPlanned if followed.left == 0 => (Headline::Done, "as planned, ", "."),
        Ended::AsPlanned if !is_stuck(followed) => (Headline::Waits, "as planned, ", "."),
        Ended::AsPlanned => (Headline::Stuck, "as planned, ", "."),
        Ended::Stuck if let Some(idle) = followed.collector_idle => {
            let idle = format!(
                ". The collector has not acted for {}: it does not run, its writes fail, or it has too much to do. \
                 kubectl gc doctor --probe shows which; kubectl gc sweep does its work.",
                duration(idle)
            );
            return (Headline::Stuck, String::new(), idle);
        }
        Ended::Stuck => (Headline::Stuck, "", unknown),
        Ended::Otherwise if went_all_the_same(followed) && failed == 0 => {
            let more = format!(", {} of them although the plan said STUCK.", thousands(followed.otherwise.len()));
            return (Headline::Done, String::new(), more);
        }
        Ended::Otherwise => {
            let number = count(followed.otherwise.len(), "object ended", "objects ended");
            return (Headline::Unexpected, format!("{number} differently than planned, "), ".".to_owned());
        }
        Ended::TimedOut if is_stuck(followed) => (Headline::Stuck, "timed out ", unknown),
        Ended::TimedOut if view.sweep.is_some() => (Headline::NotFinished, "timed out ", ". The rest is unchanged."),
        Ended::TimedOut => (Headline::NotFinished, "timed out ", ". The cascade continues in the cluster."),
        Ended::CalledOff => match view.sweep {
            Some([_, ..]) => (Headline::NotFinished, "stopped ", ". These changes stay; the rest is unchanged."),
            Some([]) => (Headline::NotFinished, "interrupted ", ". These changes stay; the rest is unchanged."),
            None => (Headline::NotFinished, "interrupted ", ". The cascade continues in the cluster."),
        },
    };
    (headline, how.to_owned(), then.to_owned())
}

fn is_stuck(followed: &Followed) -> bool {
    followed.blockers.iter().any(|blocker| blocker.state == State::Stuck)
}

/// `4 of 7 objects are gone, 3 are left Terminating, 1 kept`
fn what_came(followed: &Followed) -> String {
    let progress = followed.progress;
    let gone = match (progress.gone, progress.to_go) {
        (0, 0) => "nothing is deleted".to_owned(),
        (gone, to_go) if gone >= to_go => format!("{} deleted", count(gone, "object is", "objects are")),
        (gone, to_go) => format!("{} of {} deleted", thousands(gone), count(to_go, "object is", "objects are")),
    };
    let left = match followed.left {
        0 => String::new(),
        left => format!(", {} left Terminating", count(left, "is", "are")),
    };
    let changed = match progress.changed {
        0 => String::new(),
        changed => format!(", {} kept", thousands(changed)),
    };
    format!("{gone}{left}{changed}")
}

/// A target that was not deleted.
fn not_done(view: &DeletionView<'_>, sent: &Sent) -> Option<Line> {
    let (state, tone, why) = match &sent.answered {
        Answered::Removed | Answered::Accepted => return None,
        Answered::GoneBefore => ((Fate::Missing, "absent"), Tone::Plain, "it was already deleted".to_owned()),
        Answered::Replaced => (
            (Fate::Kept, "left"),
            Tone::Warning,
            "it was already deleted; a new object with the same name was not touched".to_owned(),
        ),
        Answered::Refused { reason, .. } => ((Fate::Error, "refused"), Tone::Error, reason.clone()),
        Answered::Unsure { reason } => {
            let why = format!("it is not known whether the API server deleted it: {reason}");
            ((Fate::Unsure, "unsure"), Tone::Error, why)
        }
        Answered::Failed { reason } => (FAILED, Tone::Error, reason.clone()),
        Answered::NotSent => ((Fate::Untouched, "not tried"), Tone::Warning, "an earlier target failed".to_owned()),
    };
    Some(line(view, &sent.target, state, tone, vec![why]))
}

/// `blocker`: what blocks the object, if anything does.
fn otherwise_line(view: &DeletionView<'_>, otherwise: &UnexpectedOutcome, blocker: Option<&Blocker>) -> Line {
    let predicted: Vec<&str> = otherwise.predicted.iter().map(|kind| in_words(*kind)).collect();
    let came = match otherwise.actual {
        OutcomeKind::Deleted => (Fate::Deleted, "deleted"),
        OutcomeKind::Terminating => (Fate::Waits, "Terminating"),
        _ => (Fate::Kept, "exists"),
    };
    let mut remarks = vec![format!("planned: {}", predicted.join(", or "))];
    let blocked = blocker.map(|blocker| why(blocker, view.namespace)).filter(|why| !why.is_empty());
    if let Some(why) = blocked {
        remarks.push(why);
    } else if !otherwise.finalizers.is_empty() {
        let finalizers = if otherwise.finalizers.len() == 1 { "finalizer" } else { "finalizers" };
        remarks.push(format!("{finalizers} {}", otherwise.finalizers.join(", ")));
    }
    if otherwise.together {
        remarks.push("but not in combination with what happened to the other objects".to_owned());
    }
    let came = match blocker.map(|blocker| blocker.state) {
        Some(State::Stuck) => (Fate::Stuck, Fate::Stuck.text()),
        Some(State::Unknown) => (Fate::Depends, Fate::Depends.text()),
        Some(State::Waiting) | None => came,
    };
    line(view, &otherwise.object, came, Tone::Warning, remarks)
}

fn in_words(kind: OutcomeKind) -> &'static str {
    match kind {
        OutcomeKind::Deleted => "deleted",
        OutcomeKind::Terminating => "Terminating",
        OutcomeKind::Orphaned => "kept without an owner",
        OutcomeKind::Detached => "kept with fewer owners",
        OutcomeKind::Unblocked => "kept, no longer blocks its owner",
        OutcomeKind::Unchanged => "unchanged",
    }
}

fn blocker_line(view: &DeletionView<'_>, blocker: &Blocker) -> Line {
    let fate = match blocker.state {
        State::Stuck => Fate::Stuck,
        State::Unknown => Fate::Depends,
        State::Waiting => Fate::Waits,
    };
    line(view, &blocker.object, (fate, fate.text()), fate.tone(), vec![why(blocker, view.namespace)])
}

/// What a blocker waits for, in a few words.
pub fn why(blocker: &Blocker, namespace: Option<&str>) -> String {
    let mut parts = blocker.remarks.clone();
    match blocker.waits_for.as_slice() {
        [] => {}
        [one] => parts.push(format!("waits for {}", named(one, namespace))),
        [first, rest @ ..] => parts.push(format!("waits for {} and {} more", named(first, namespace), rest.len())),
    }
    if blocker.holds_up > 0 {
        parts.push(format!("blocks {}", count(blocker.holds_up, "other object", "other objects")));
    }
    parts.join("; ")
}

fn outside_line(view: &DeletionView<'_>, outside: &UnplannedObject) -> Line {
    let state = match (outside.gone, outside.terminating) {
        (true, _) => (Fate::Deleted, "also deleted"),
        (false, true) => (Fate::Waits, "also Terminating"),
        (false, false) => (Fate::Kept, "new"),
    };
    let since = if outside.new { "created after the plan" } else { "not in the plan" };
    let because = match &outside.because {
        Relation::Owner(owner) => format!("owned by {}", named(owner, view.namespace)),
        Relation::Namespace => "its namespace is deleted".to_owned(),
        Relation::Definition => "its CRD is deleted".to_owned(),
    };
    line(view, &outside.object, state, Tone::Warning, vec![format!("{since}, {because}")])
}

/// The command to run next if objects remain.
fn next(view: &DeletionView<'_>, followed: &Followed) -> Option<ShellCommand> {
    match &followed.manager_away {
        Some(away) if away.sweep_helps => {
            return view.kubectl.plugin("sweep").in_namespace(view.namespace.unwrap_or_default());
        }
        Some(_) => return Some(view.kubectl.verb("get").args(SEE_MANAGER)),
        None => {}
    }
    if followed.collector_idle.is_some() {
        return Some(view.kubectl.plugin("doctor").arg("--probe"));
    }
    view.kubectl.plugin("explain").naming(view.resources?, &followed.blockers.first()?.object)
}

/// `Kind/name`, with its namespace if that is not the one in view.
fn named(object: &Identity, namespace: Option<&str>) -> String {
    let elsewhere = !object.namespace.is_empty() && namespace != Some(object.namespace.as_str());
    if elsewhere { format!("{} -n {}", object.short_name(), object.namespace) } else { object.short_name() }
}

/// `tone` says how bad it is here.
fn line(
    view: &DeletionView<'_>,
    object: &Identity,
    (fate, word): (Fate, &str),
    tone: Tone,
    remarks: Vec<String>,
) -> Line {
    let column = (tone, fate.column_of(word).1);
    Line::new(&named(object, view.namespace)).becomes(fate, column).remarked(Tone::Plain, remarks)
}

/// So many of many similar objects without dependents have rows of their own if they are folded.
const SAMPLES: usize = 3;

/// Draws what happened.
fn picture(view: &DeletionView<'_>, options: &PictureOptions<'_>) -> Picture {
    let mut picture = view.drawn.cloned().unwrap_or_default();
    (picture.kind, picture.title) = match view.sweep {
        Some(_) => ("Sweep", "Sweep: what came of it".to_owned()),
        None => ("Deletion", title(view)),
    };
    let planned = picture.views.into_iter().nth(picture.shown).unwrap_or_default();
    let mut rows = planned.rows;
    let mut row_of_uid: HashMap<String, usize> = HashMap::new();
    for (index, row) in rows.iter_mut().enumerate() {
        let Some(object) = row.object.map(|object| &picture.objects[object]) else { continue };
        row_of_uid.entry(object.uid.clone()).or_insert(index);
        now(view, &object.uid, row);
    }
    let mut facts = Vec::new();
    for Group { title, lines, .. } in groups(view, usize::MAX) {
        let mut said = Vec::new();
        for (object, line) in lines {
            let told = row_of(&line, &[]);
            let fact = format!("{}: {}; {}", told.title, told.word, told.detail);
            said.push(fact.trim_end_matches("; ").to_owned());
            match row_of_uid.get(&object.uid) {
                Some(row) => {
                    let row = &mut rows[*row];
                    (row.fate, row.word, row.detail) = (told.fate, told.word, told.detail);
                }
                None => {
                    row_of_uid.insert(object.uid.clone(), rows.len());
                    picture.objects.push(of_identity(object, view.resources, options.commands));
                    rows.push(Row { object: Some(picture.objects.len() - 1), ..told });
                }
            }
        }
        facts.extend(section(title, said));
    }
    facts.extend(view.archive.and_then(|path| section("Archive", vec![path.display().to_string()])));
    facts.extend(section(Heading::Then, view.unfinished.to_vec()));
    let (headline, sentence) = verdict(view);
    let next = view.followed.and_then(|followed| next(view, followed)).map(|command| command.to_string());
    let sections =
        [section(Heading::Then, view.unfinished.to_vec()), section(Heading::Next, next.into_iter().collect())];
    // What waited when it was planned may be gone.
    let (sections, waits) = (sections.into_iter().flatten().collect(), Vec::new());
    let (verdict, reasons) = (Some(Verdict::of(headline, sentence)), String::new());
    let drawn = View { verdict, reasons, facts, rows, waits, sections, name: planned.name };
    picture.views = Vec::new();
    picture.shown = 0;
    let drawn = if options.fold { folded(&picture, drawn, SAMPLES) } else { drawn };
    picture.views.push(drawn);
    picture
}

fn title(view: &DeletionView<'_>) -> String {
    let what = match view.sent {
        [one] => one.target.short_name(),
        many => count(many.len(), "target", "targets"),
    };
    format!("Delete: {what}, {}", view.propagation.name().to_lowercase())
}

/// Says what came of the object of a row, instead of what was planned.
fn now(view: &DeletionView<'_>, uid: &str, row: &mut Row) {
    let end = match view.followed {
        Some(followed) => followed.ends.get(uid).copied(),
        None => view.sent.iter().find(|sent| sent.target.uid == uid).and_then(|sent| match sent.answered {
            Answered::Removed => Some(OutcomeKind::Deleted),
            Answered::Accepted => Some(OutcomeKind::Terminating),
            _ => None,
        }),
    };
    let (fate, word) = match end {
        Some(OutcomeKind::Deleted) => (Fate::Deleted, "deleted"),
        Some(OutcomeKind::Terminating) => (Fate::Waits, "Terminating"),
        Some(OutcomeKind::Orphaned | OutcomeKind::Detached | OutcomeKind::Unblocked) => (Fate::Kept, "kept"),
        Some(OutcomeKind::Unchanged) => (Fate::Untouched, "unchanged"),
        None => (Fate::Unsure, "not followed"),
    };
    if row.word != word {
        row.detail = format!("planned: {}", row.word);
    }
    (row.fate, row.word, row.story) = (fate, word.to_owned(), Vec::new());
}
