//! The question before a delete, and what an answer means. The heavier what follows, the more has to be typed.

use std::io::Write as _;

use crate::{
    model::{Snapshot, effects::EffectKind},
    operations::OperationError,
    plan::{ConfirmationReason, Consent, Plan},
    render::{go_quote::visible, header::header, words::wrapped},
    wording::count,
};

use super::super::{
    prompt::{self, can_ask, is_yes},
    report::terminal_width,
};

/// The key that archives first.
const ARCHIVE: &str = "a";
/// The same where the name that is to be typed is that key.
const ARCHIVE_OTHERWISE: &str = "A";

/// What was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Yes,
    No,
    /// Archive first, and ask again.
    Archive,
}

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// Where it is, and what is heavy about it.
    preface: String,
    /// What stands before the answer.
    prompt: String,
    /// What is to be typed; none where it is yes or no.
    word: Option<String>,
    /// The key that archives first, unless that was done.
    archive: Option<&'static str>,
}

impl Question {
    /// The question about a plan. `namespace` is the one that is looked at; `archived`: everything that goes is in an
    /// archive.
    pub fn about(snapshot: &Snapshot, plan: &Plan, consent: Consent, namespace: Option<&str>, archived: bool) -> Self {
        let place = header(snapshot, namespace, &[]);
        let going = match consent {
            Consent::Number(number) => number,
            _ => plan.summary.deleted + plan.summary.terminating,
        };
        let objects = count(going, "object", "objects");
        let (word, why) = match consent {
            Consent::Yes => (None, String::new()),
            Consent::Number(number) => (Some(number.to_string()), String::new()),
            Consent::Name { object, weight, more } => {
                let others =
                    if more == 0 { String::new() } else { format!(", and {} like it", count(more, "other", "others")) };
                let name = snapshot.text(snapshot.object(object).name).to_owned();
                (Some(name), format!(" {}{others}: {}.", snapshot.short_name(object), heavy(weight)))
            }
        };
        let archive = (!archived).then(|| if word.as_deref() == Some(ARCHIVE) { ARCHIVE_OTHERWISE } else { ARCHIVE });
        let key = archive.map(|key| format!("{key}: archive first")).unwrap_or_default();
        let answers = match (&word, consent) {
            (None, _) if key.is_empty() => "[y/N]".to_owned(),
            (None, _) => format!("[y/N, {key}]"),
            (Some(word), Consent::Number(_)) => format!("Type their number, {word} ({})", or_stop(&key)),
            (Some(word), _) => format!("Type the name, {word} ({})", or_stop(&key)),
        };
        let visible = |text: String| visible(&text).into_owned();
        Question {
            preface: visible(format!("{place}{why}")),
            prompt: visible(format!("Delete {objects}? {answers}")),
            word,
            archive,
        }
    }

    /// What a line that was typed means.
    pub fn judge(&self, line: &str) -> Answer {
        let line = line.trim();
        match &self.word {
            Some(word) if line == word => Answer::Yes,
            None if is_yes(line) => Answer::Yes,
            _ if self.archive == Some(line) => Answer::Archive,
            _ => Answer::No,
        }
    }

    /// Asks on the terminal.
    ///
    /// # Errors
    /// Where there is no terminal to ask on: nobody is taken to have agreed.
    pub fn ask(&self) -> Result<Answer, OperationError> {
        if !can_ask() {
            let why =
                "nothing was deleted: there is no terminal to ask on; give --yes if it is to be done without asking";
            return Err(OperationError::Refusal(why.to_owned()));
        }
        let lines = wrapped(self.preface.split(' '), terminal_width().unwrap_or(usize::MAX));
        // Nobody is left to tell when standard error is closed.
        let _ = writeln!(std::io::stderr(), "\n{}", lines.join("\n"));
        Ok(self.judge(&prompt::line(&self.prompt)))
    }
}

fn or_stop(key: &str) -> String {
    if key.is_empty() { "anything else: stop".to_owned() } else { format!("{key}, anything else: stop") }
}

fn heavy(weight: ConfirmationReason) -> &'static str {
    match weight {
        ConfirmationReason::Namespace => "goes with everything in it",
        ConfirmationReason::Definition => "goes with every object of its kind",
        ConfirmationReason::Volume | ConfirmationReason::Claim => "stored data may go with it",
        ConfirmationReason::Outside(kind) => match kind {
            EffectKind::DataDestroyed => "stored data is destroyed",
            EffectKind::ExternalDeleted => "something outside of the cluster is deleted with it",
            EffectKind::ObjectsDeleted => "other objects are deleted although no reference says so",
            EffectKind::LoadBalancerReleased => "a load balancer is released",
            _ => "what its finalizers do is not known",
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(word: Option<&str>, archive: Option<&'static str>) -> Question {
        Question { preface: String::new(), prompt: String::new(), word: word.map(str::to_owned), archive }
    }

    #[test]
    fn only_what_was_asked_for_is_a_yes() {
        let plain = question(None, Some("a"));
        for yes in ["y", "Y", "yes", " YES "] {
            assert_eq!(plain.judge(yes), Answer::Yes, "{yes:?}");
        }
        for no in ["", "n", "no", "yy", "j", "A", "yes please"] {
            assert_eq!(plain.judge(no), Answer::No, "{no:?}");
        }
        assert_eq!(plain.judge("a"), Answer::Archive);
        assert_eq!(question(None, None).judge("a"), Answer::No, "it was archived already");
    }

    #[test]
    fn a_name_has_to_be_typed_as_it_is() {
        let named = question(Some("shop"), Some("a"));
        assert_eq!(named.judge("shop"), Answer::Yes);
        for no in ["", "y", "yes", "Shop", "sho", "shop shop"] {
            assert_eq!(named.judge(no), Answer::No, "{no:?}");
        }
        let awkward = question(Some("a"), Some("A"));
        assert_eq!((awkward.judge("a"), awkward.judge("A")), (Answer::Yes, Answer::Archive));
    }
}
