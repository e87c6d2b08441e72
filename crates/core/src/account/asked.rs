//! Look-ups of owners: which are wanted, under way, and answered.

use std::collections::VecDeque;

use crate::model::Identity;

use super::recreated::Recent;

/// How many look-ups may wait. More are not made: their owners stay unknown.
const MOST_WAITING: usize = 2_000;
/// How many look-ups are remembered.
const MOST_KNOWN: usize = 20_000;

/// A GET of an object: an owner in its dependent's namespace (a cluster-scoped one is looked up without it), or a
/// namespace. Without a uid, any will do.
pub type LookUp = Identity;

/// The answer to a look-up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// No object has the name and the uid; another one may have the name.
    Absent {
        current_uid: Option<String>,
    },
    Found {
        terminating: bool,
        waiting: bool,
        orphaning: bool,
    },
    /// Why it is unknown.
    Unknown(String),
}

#[derive(Debug)]
struct Asked {
    /// When it was sent last; none: it waits.
    sent: Option<u64>,
    answer: Option<Answer>,
    /// The request of the answer was sent at this time.
    answered: u64,
    /// Something happened after it was sent: ask again.
    again: bool,
}

/// All look-ups. Times are numbers that grow with each event.
#[derive(Debug)]
pub(super) struct LookUps {
    known: Recent<LookUp, Asked>,
    waiting: VecDeque<LookUp>,
}

impl LookUps {
    pub(super) fn new() -> Self {
        LookUps { known: Recent::new(MOST_KNOWN), waiting: VecDeque::new() }
    }

    /// Wants an answer that is not older than `now`. A uid that is absent stays absent.
    pub(super) fn want(&mut self, look_up: LookUp) {
        let waits = match self.known.get_mut(&look_up) {
            Some(Asked { answer: Some(Answer::Absent { .. }), .. }) if !look_up.uid.is_empty() => return,
            Some(Asked { sent: None, .. }) => return,
            Some(asked) if asked.answered == asked.sent.unwrap_or_default() => {
                asked.sent = None;
                true
            }
            Some(asked) => {
                asked.again = true;
                false
            }
            None => {
                self.known.set(look_up.clone(), Asked { sent: None, answer: None, answered: 0, again: false });
                true
            }
        };
        if waits {
            self.wait(look_up);
        }
    }

    fn wait(&mut self, look_up: LookUp) {
        if self.waiting.len() < MOST_WAITING {
            self.waiting.push_back(look_up);
        } else if let Some(asked) = self.known.get_mut(&look_up) {
            // As if it had been sent and answered: the next event wants it again.
            (asked.sent, asked.answered) = (Some(0), 0);
        }
    }

    /// The next look-up to make.
    pub(super) fn next(&mut self, now: u64) -> Option<LookUp> {
        let look_up = self.waiting.pop_front()?;
        if let Some(asked) = self.known.get_mut(&look_up) {
            asked.sent = Some(now);
        }
        Some(look_up)
    }

    pub(super) fn answered(&mut self, look_up: &LookUp, answer: Answer) {
        let Some(asked) = self.known.get_mut(look_up) else { return };
        asked.answered = asked.sent.unwrap_or_default();
        asked.answer = Some(answer);
        if std::mem::take(&mut asked.again) {
            self.want(look_up.clone());
        }
    }

    /// The answer, if it is valid for something that happened at this time.
    pub(super) fn answer(&self, look_up: &LookUp, since: u64) -> Option<&Answer> {
        let asked = self.known.get(look_up)?;
        let answer = asked.answer.as_ref()?;
        let lasts = matches!(answer, Answer::Absent { .. }) && !look_up.uid.is_empty();
        (lasts || asked.answered >= since).then_some(answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(uid: &str) -> LookUp {
        let text = str::to_owned;
        LookUp { api_version: text("v1"), kind: text("Pod"), namespace: text("shop"), name: text("a"), uid: text(uid) }
    }

    const FOUND: Answer = Answer::Found { terminating: false, waiting: false, orphaning: false };

    #[test]
    fn what_was_found_is_asked_again_and_what_is_absent_is_not() {
        let mut look_ups = LookUps::new();
        let one = owner("u");
        look_ups.want(one.clone());
        look_ups.want(one.clone());
        assert_eq!((look_ups.next(3), look_ups.next(3)), (Some(one.clone()), None));
        // Something happens while it is under way: the answer is too old for that.
        look_ups.want(one.clone());
        look_ups.answered(&one, FOUND);
        assert_eq!((look_ups.answer(&one, 3), look_ups.answer(&one, 4)), (Some(&FOUND), None));
        assert_eq!((look_ups.next(5), look_ups.next(5)), (Some(one.clone()), None));
        let absent = Answer::Absent { current_uid: None };
        look_ups.answered(&one, absent.clone());
        look_ups.want(one.clone());
        assert_eq!((look_ups.answer(&one, 99).cloned(), look_ups.next(100)), (Some(absent.clone()), None));
        // A name can come back.
        let any = owner("");
        look_ups.want(any.clone());
        look_ups.next(101);
        look_ups.answered(&any, absent);
        look_ups.want(any.clone());
        assert_eq!((look_ups.answer(&any, 102).cloned(), look_ups.next(102)), (None, Some(any)));
    }

    #[test]
    fn the_number_of_waiting_look_ups_is_limited() {
        let mut look_ups = LookUps::new();
        for number in 0..MOST_WAITING + 5 {
            look_ups.want(owner(&number.to_string()));
        }
        let last = owner(&(MOST_WAITING + 4).to_string());
        for _ in 0..MOST_WAITING {
            assert!(look_ups.next(1).is_some_and(|next| next != last));
        }
        assert_eq!((look_ups.next(1), look_ups.answer(&last, 0)), (None, None));
        look_ups.want(last.clone());
        assert_eq!(look_ups.next(2), Some(last));
    }
}
