//! The result of a delete as text: first how it ended, then what differs from the plan, what blocks the remaining
//! objects, and what to do about it.

use std::io::{self, Write};

use crate::render::{
    headline::Headline,
    lines::{self, Line},
    output::TextOptions,
    sections::{Heading, Said, Sections, more_lines},
    states::Fate,
    style::Tone,
};
use gc_cluster::act::{Answered, Ended, Followed, Sent};
use gc_core::{
    command_line::ShellCommand,
    model::{Identity, group_of},
    plan::{
        OutcomeKind,
        tracker::{Blocker, Relation, UnexpectedOutcome, UnplannedObject},
    },
    simulate::State,
    wording::{count, duration, thousands},
};

use super::{DeletionView, surprises, went_all_the_same};

/// At most this many objects of a kind are named, unless the output is wide.
const NAMED: usize = 10;
/// What can't be changed.
const FAILED: (Fate, &str) = (Fate::Error, "failed");

/// Writes the whole text.
pub(super) fn write(view: &DeletionView<'_>, options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
    let (headline, sentence) = verdict(view);
    lines::write_sentence(headline.word(), headline.tone(), &sentence, options, out)?;
    let most = if options.wide { usize::MAX } else { NAMED };
    for group in groups(view, most).into_iter().filter(|group| !group.lines.is_empty()) {
        let more = (group.all > most).then(|| Line::quiet(&more_lines(group.all - most)));
        let lines = group.lines.into_iter().map(|(_, line)| line).chain(more).collect();
        writeln!(out)?;
        lines::write_padded(lines, lines::MARGIN, options, out)?;
    }
    let mut sections = Sections::default();
    sections.add(Heading::Next, view.followed.and_then(|followed| next(view, followed)).map(Said::command));
    sections.write_below(options, out)
}

/// Lines of one sort.
pub(super) struct Group<'a> {
    pub lines: Vec<(&'a Identity, Line)>,
    /// How many there would be if none were left out.
    all: usize,
}

impl<'a> Group<'a> {
    fn of<T>(all: &'a [T], most: usize, line: impl Fn(&'a T) -> (&'a Identity, Line)) -> Self {
        Group { lines: all.iter().take(most).map(line).collect(), all: all.len() }
    }
}

/// What differs from the plan, what blocks the remaining objects, and what else went, each with at most so many lines,
/// but for the targets.
pub(super) fn groups<'a>(view: &DeletionView<'a>, most: usize) -> Vec<Group<'a>> {
    let not_done = view.sent.iter().filter_map(|sent| Some((&sent.target, not_done(view, sent)?))).collect();
    let failed = Group::of(view.sweep.unwrap_or_default(), most, |(object, why)| {
        (object, line(view, object, FAILED, Tone::Error, vec![why.clone()]))
    });
    let mut groups = vec![Group { lines: not_done, all: 0 }, failed];
    let Some(followed) = view.followed else { return groups };
    if followed.ended != Ended::AsPlanned && !went_all_the_same(followed) {
        groups.push(Group::of(&followed.otherwise, most, |it| (&it.object, otherwise_line(view, it))));
    }
    groups.push(Group::of(&followed.blockers, most, |it| (&it.object, blocker_line(view, it))));
    groups.push(Group::of(&followed.outside, most, |it| (&it.object, outside_line(view, it))));
    groups
}

pub(super) type Verdict = (Headline, String);

/// How it ended, in a word and a sentence.
pub(super) fn verdict(view: &DeletionView<'_>) -> Verdict {
    let failed = view.sent.iter().filter(|sent| sent.answered.failed()).count();
    if view.is_not_done() {
        return (Headline::NotDone, "nothing was deleted.".to_owned());
    }
    let unlisted_contents =
        view.followed.map_or(0, |followed| followed.outside.iter().filter(|one| one.gone || one.terminating).count());
    let archived = match (view.archive, unlisted_contents) {
        (None, _) => String::new(),
        (Some(path), 0) => format!(" All of them are archived in {}.", path.display()),
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
        let targets = count(view.sent.len() - failed, "target is", "targets are");
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
    if let Some(why) = &followed.manager_away {
        let away = format!(
            ". No controller manager seems to run: {why}. Start it, or let kubectl gc sweep do the collector's work."
        );
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
            None => (
                Headline::NotFinished,
                "interrupted ",
                ". Deleted objects stay deleted, and the cascade continues in the cluster.",
            ),
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
        Answered::Refused { reason } => ((Fate::Error, "refused"), Tone::Error, reason.clone()),
        Answered::Unsure { reason } => {
            let why = format!("it is not known whether the API server deleted it: {reason}");
            ((Fate::Unsure, "unsure"), Tone::Error, why)
        }
        Answered::Failed { reason } => (FAILED, Tone::Error, reason.clone()),
        Answered::NotSent => ((Fate::Untouched, "not tried"), Tone::Warning, "an earlier target failed".to_owned()),
    };
    Some(line(view, &sent.target, state, tone, vec![why]))
}

fn otherwise_line(view: &DeletionView<'_>, otherwise: &UnexpectedOutcome) -> Line {
    let predicted: Vec<&str> = otherwise.predicted.iter().map(|kind| in_words(*kind)).collect();
    let came = match otherwise.actual {
        OutcomeKind::Deleted => (Fate::Deleted, "deleted"),
        OutcomeKind::Terminating => (Fate::Waits, "Terminating"),
        _ => (Fate::Kept, "exists"),
    };
    let mut remarks = vec![format!("planned: {}", predicted.join(", or "))];
    if !otherwise.finalizers.is_empty() {
        let finalizers = if otherwise.finalizers.len() == 1 { "finalizer" } else { "finalizers" };
        remarks.push(format!("{finalizers} {}", otherwise.finalizers.join(", ")));
    }
    if otherwise.together {
        remarks.push("but not in combination with what happened to the other objects".to_owned());
    }
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
pub(super) fn next(view: &DeletionView<'_>, followed: &Followed) -> Option<ShellCommand> {
    if followed.manager_away.is_some() {
        return view.kubectl.plugin("sweep").in_namespace(view.namespace.unwrap_or_default());
    }
    if followed.collector_idle.is_some() {
        return Some(view.kubectl.plugin("doctor").arg("--probe"));
    }
    let object = &followed.blockers.first()?.object;
    let group = group_of(&object.api_version);
    let explain = view.kubectl.plugin("explain").object(&object.kind.to_lowercase(), group, &object.name)?;
    explain.in_namespace(&object.namespace)
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
