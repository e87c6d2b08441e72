//! What came of a delete or a sweep as a picture: that of its plan, with what happened instead of what was foretold.

use std::collections::HashMap;

use crate::render::{
    picture::{Fate, Picture, PictureOptions, Row, Verdict, View, folded, of_identity, row_of, section},
    sections::Heading,
};
use gc_cluster::act::Answered;
use gc_core::{plan::OutcomeKind, wording::count};

use super::{
    DeletionView,
    text::{self, Group},
};

/// So many of many similar objects without dependents have rows of their own if they are folded.
const SAMPLES: usize = 3;

/// Draws what happened.
pub(super) fn picture(view: &DeletionView<'_>, options: &PictureOptions<'_>) -> Picture {
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
    for Group { lines, .. } in text::groups(view, usize::MAX) {
        for (object, line) in lines {
            let told = row_of(&line, &[]);
            match row_of_uid.get(&object.uid) {
                Some(row) => {
                    let row = &mut rows[*row];
                    (row.fate, row.word, row.detail) = (told.fate, told.word, told.detail);
                }
                None => {
                    row_of_uid.insert(object.uid.clone(), rows.len());
                    picture.objects.push(of_identity(object, options.commands));
                    rows.push(Row { object: Some(picture.objects.len() - 1), ..told });
                }
            }
        }
    }
    let (headline, sentence) = text::verdict(view);
    let next = view.followed.and_then(|followed| text::next(view, followed)).map(|command| command.to_string());
    let sections =
        [section(Heading::Then, view.unfinished.to_vec()), section(Heading::Next, next.into_iter().collect())];
    // What waited when it was planned may be gone.
    let (sections, waits) = (sections.into_iter().flatten().collect(), Vec::new());
    let drawn = View { verdict: Some(Verdict::of(headline, sentence)), rows, waits, sections, ..planned };
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
