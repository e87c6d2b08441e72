//! Happenings whose reason may still have to be looked up, and what is known of owners: which look-ups are wanted,
//! under way, and answered. Drafts are told in their order, as soon as everything that they need is known.

use std::{cmp::Reverse, collections::VecDeque, sync::Arc};

use crate::model::Identity;

use super::{
    Account, LONGEST_STILL, STILL,
    happening::{Change, Happening, Holds, Millis, Owner, OwnerState, Policy, Reason, What, reason},
    objects::{Reference, owner_of},
    recreated::Recent,
};

/// How long a look-up may take before its owner counts as unknown, in milliseconds.
const PATIENCE: Millis = 5_000;
/// How long a draft waits for others that happened before it, in milliseconds: each resource has its own watch.
const ORDERED: Millis = 300;
/// How much later than a look-up the watch may show that an owner is gone.
const LATE: Millis = 1_000;

/// A happening to be.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub at: Millis,
    /// When it happened, by the account's clock.
    pub order: u64,
    pub object: Option<Identity>,
    pub kind: Option<u32>,
    /// The resourceVersion of the event; none if it has none. Of one store, they are in the order of the changes.
    pub version: Option<u64>,
    /// The owners whose state matters.
    pub references: Vec<Reference>,
    pub body: Body,
}

#[derive(Clone, Debug)]
pub(super) enum Body {
    Told(Box<What>),
    Changed(Box<Change>),
    Requested { policy: Policy, holds: Box<Holds> },
    Gone { requested: bool, after: Option<Millis>, removed: Vec<String>, lost: bool },
    OwnersRemoved { left: usize },
    Appeared { manager: Option<String>, past: Option<(u32, String)> },
}

impl Body {
    /// Whether it needs to know why an object goes.
    fn needs_reason(&self) -> bool {
        matches!(self, Body::Requested { .. } | Body::Gone { requested: false, lost: false, .. })
    }
}

/// What is known at the moment when a draft is told.
pub(super) struct Known {
    pub owners: Vec<Owner>,
    /// Whether the namespace is being deleted.
    pub namespace_goes: bool,
}

impl Account {
    /// The look-ups that a draft needs.
    pub(super) fn needs(&self, draft: &Draft) -> Vec<LookUp> {
        let Some(object) = &draft.object else { return Vec::new() };
        let owners = draft.references.iter().filter(|owner| self.gone.get(&owner.uid).is_none());
        let mut needs: Vec<LookUp> = owners.map(|owner| of_owner(owner, object)).collect();
        needs.extend(self.of_namespace(draft));
        needs
    }

    /// The look-up of the namespace, if no watch shows it.
    fn of_namespace(&self, draft: &Draft) -> Option<LookUp> {
        let object = draft.object.as_ref().filter(|object| !object.namespace.is_empty())?;
        let needed = draft.body.needs_reason() && !self.objects.is_watched("namespaces");
        needed.then(|| LookUp {
            api_version: "v1".to_owned(),
            kind: "Namespace".to_owned(),
            namespace: String::new(),
            name: object.namespace.clone(),
            uid: String::new(),
        })
    }

    /// What is known for a draft; none while a look-up may still tell more.
    pub(super) fn known(&self, draft: &Draft, now: Millis) -> Option<Known> {
        let age = now.saturating_sub(draft.at);
        if age < ORDERED {
            return None;
        }
        let Some(object) = &draft.object else { return Some(Known { owners: Vec::new(), namespace_goes: false }) };
        let owners: Option<Vec<Owner>> = draft
            .references
            .iter()
            .map(|owner| Some(owner_of(owner, self.owner_state(owner, object, draft, age)?)))
            .collect();
        let watched = self.containers.get(&(true, Arc::from(object.namespace.as_str()))).copied().unwrap_or(false);
        let namespace_goes = match self.of_namespace(draft) {
            _ if watched => true,
            Some(look_up) => match self.look_ups.answer(&look_up, draft.order) {
                Some(Answer::Found { terminating, .. }) => *terminating,
                // Its content went first.
                Some(Answer::Absent { .. }) => true,
                Some(Answer::Unknown(_)) => false,
                None if age < PATIENCE => return None,
                None => false,
            },
            None => false,
        };
        Some(Known { owners: owners?, namespace_goes })
    }

    fn owner_state(&self, owner: &Reference, object: &Identity, draft: &Draft, age: Millis) -> Option<OwnerState> {
        let order = draft.order;
        if let Some(gone) = self.gone.get(&owner.uid) {
            // In a circle of owners, the last to go is not why the first went. An owner that waited for its dependents,
            // or freed them, goes last, though.
            let later = |(gone, this): (u64, u64)| gone > this;
            let is_later = gone.version.zip(draft.version).is_some_and(later) && gone.at + ORDERED >= draft.at;
            if is_later && gone.policy == Some(Policy::Background) {
                return Some(OwnerState::Watched);
            }
            return Some(OwnerState::SeenGoing { at: gone.at, policy: gone.policy });
        }
        let watched = self.objects.get(&owner.uid);
        let shown = |why: &str| match watched {
            Some(owner) if owner.deleted.is_some() && owner.policy == Some(Policy::Foreground) => OwnerState::Waiting,
            Some(_) => OwnerState::Watched,
            None => OwnerState::Unknown(why.to_owned()),
        };
        Some(match self.look_ups.answer(&of_owner(owner, object), order) {
            // Its watch will show how it went.
            Some(Answer::Absent { .. }) if age < LATE && self.is_at(owner, object) => return None,
            Some(Answer::Absent { current_uid }) => OwnerState::Absent { current_uid: current_uid.clone() },
            Some(Answer::Found { waiting: true, .. }) => OwnerState::Waiting,
            // Other finalizers may keep an owner that waited for its dependents before: its watch has shown that.
            Some(Answer::Found { terminating: true, orphaning: false, .. }) => match watched.and_then(|one| one.policy)
            {
                Some(Policy::Foreground) => OwnerState::Waiting,
                Some(_) => OwnerState::Exists { terminating: true, orphaning: false },
                None if watched.is_some() && age < LATE => return None,
                None => OwnerState::Unknown("it is Terminating, and may have waited for its dependents".to_owned()),
            },
            Some(Answer::Found { terminating, orphaning, .. }) => {
                OwnerState::Exists { terminating: *terminating, orphaning: *orphaning }
            }
            Some(Answer::Unknown(why)) => shown(why),
            None if age < PATIENCE => return None,
            None => shown("it was not looked up in time"),
        })
    }

    /// Adds a draft in the order of the changes: watches of several resources are some milliseconds apart.
    pub(super) fn place(&mut self, draft: Draft) {
        let is_later = |other: &Draft| match (other.version, draft.version) {
            (Some(other_version), Some(version)) => other_version > version && draft.at - other.at < ORDERED,
            _ => false,
        };
        let later = self.drafts.iter().rev().take_while(|other| is_later(other)).count();
        self.drafts.insert(self.drafts.len() - later, draft);
    }

    /// Whether watches show the owner where the reference leads.
    fn is_at(&self, owner: &Reference, object: &Identity) -> bool {
        self.objects.get(&owner.uid).is_some_and(|known| {
            let here = known.namespace.is_empty() || *known.namespace == *object.namespace;
            let kind = self.objects.kinds.get(&known.kind);
            here && *known.name == *owner.name && kind.is_some_and(|kind| kind.kind == *owner.kind)
        })
    }

    /// When the first draft must be told although look-ups are missing.
    pub(super) fn draft_due(&self, now: Millis) -> Option<Millis> {
        let draft = self.drafts.front()?;
        let due = [ORDERED, LATE, PATIENCE].map(|pause| draft.at + pause);
        // After the last one, it is told: never earlier than in a moment.
        Some(due.into_iter().find(|due| *due > now).unwrap_or(now + ORDERED))
    }
}

fn of_owner(owner: &Reference, object: &Identity) -> LookUp {
    LookUp {
        api_version: owner.api_version.to_string(),
        kind: owner.kind.to_string(),
        namespace: object.namespace.clone(),
        name: owner.name.to_string(),
        uid: owner.uid.to_string(),
    }
}

impl Account {
    /// What can be told by now. Call it after events and answers, and when it is [due](Self::due).
    pub fn advance(&mut self, now: Millis) -> Vec<Happening> {
        if !self.begun {
            return Vec::new();
        }
        self.tell_again(now);
        self.tell_drafts(now)
    }

    /// Tells the drafts of which everything is known, or which have waited long enough.
    fn tell_drafts(&mut self, now: Millis) -> Vec<Happening> {
        let mut told = Vec::new();
        while let Some(draft) = self.drafts.front() {
            let Some(known) = self.known(draft, now) else { break };
            if let Some(draft) = self.drafts.pop_front() {
                self.emit(draft, known, &mut told);
            }
        }
        told
    }

    /// Whether everything is told.
    pub fn is_idle(&self) -> bool {
        self.drafts.is_empty()
    }

    /// Tells the rest with what is known.
    pub fn finish(&mut self) -> Vec<Happening> {
        if self.begun { self.tell_drafts(Millis::MAX) } else { Vec::new() }
    }

    /// When [`Account::advance`] has something to do even without events.
    pub fn due(&self, now: Millis) -> Option<Millis> {
        if !self.begun {
            return None;
        }
        let still = self.still.peek().map(|Reverse((at, _))| *at);
        [still, self.draft_due(now)].into_iter().flatten().min()
    }

    /// Tells which objects are still Terminating, with longer and longer pauses.
    fn tell_again(&mut self, now: Millis) {
        self.version = None;
        while let Some(Reverse((at, _))) = self.still.peek()
            && *at <= now
            && let Some(Reverse((_, uid))) = self.still.pop()
        {
            let Some(object) = self.objects.get(&uid).filter(|object| object.deleted.is_some()) else { continue };
            if !self.is_told(object) {
                continue;
            }
            let since = object.terminating_since.unwrap_or(now);
            let change = Change::StillTerminating { since, holds: self.objects.holds(&uid, object) };
            let pause = STILL.checked_shl(object.times_told).unwrap_or(LONGEST_STILL).clamp(STILL, LONGEST_STILL);
            self.tell_change(&uid, change, now);
            if let Some(object) = self.objects.get_mut(&uid) {
                object.times_told = (object.times_told + 1).min(20);
            }
            self.still.push(Reverse((now + pause, uid)));
        }
    }

    fn emit(&mut self, draft: Draft, known: Known, told: &mut Vec<Happening>) {
        let at = draft.at;
        let Some(object) = draft.object.clone() else {
            if let Body::Told(what) = draft.body {
                told.push(Happening { at, what: *what });
            }
            return;
        };
        let mut looped = None;
        let change = match draft.body {
            Body::Told(_) => return,
            Body::Changed(change) => *change,
            // It went at once: one line tells it.
            Body::Requested { policy: Policy::Background, .. } if self.objects.get(&object.uid).is_none() => {
                self.merged.insert(object.uid.clone());
                let why = Some(self.why(draft.kind, &object, known));
                Change::Gone { why, after: None, removed: Vec::new() }
            }
            Body::Requested { policy, holds } => {
                let why = self.why(draft.kind, &object, known);
                Change::DeletionRequested { policy, why, holds: *holds }
            }
            Body::Gone { .. } if self.merged.remove(&object.uid) => return,
            Body::Gone { requested, after, removed, lost } => {
                let why = match (requested, lost) {
                    (_, true) => Some(Reason::WhileLost),
                    (true, false) => None,
                    (false, false) => Some(self.why(draft.kind, &object, known)),
                };
                Change::Gone { why, after, removed }
            }
            Body::OwnersRemoved { left } => Change::OwnersRemoved { owners: known.owners, left },
            Body::Appeared { manager, past } => {
                let dangling = !known.owners.is_empty() && known.owners.iter().all(super::Owner::is_absent);
                let owners = if dangling { known.owners } else { Vec::new() };
                if dangling {
                    looped = self.loops.made(&object, &owners, manager.as_ref(), at);
                }
                match past {
                    Some((times, former_uid)) => {
                        self.told.recreated += 1;
                        Change::Recreated { times, manager, former_uid, owners }
                    }
                    None if dangling => Change::CreatedDangling { manager, owners },
                    None => return,
                }
            }
        };
        let why = match &change {
            Change::DeletionRequested { why, .. } => Some(why),
            Change::Gone { why, .. } => why.as_ref(),
            _ => None,
        };
        if let Some(why) = why {
            if let Reason::OwnersGone { owners } = why {
                self.loops.collected(&object, owners);
            }
            self.told.count(why);
        }
        if !self.loops.is_quiet(&object.uid) {
            told.push(Happening { at, what: What::Object { object, change } });
        }
        if let Some(found) = looped {
            told.push(Happening { at, what: What::Loop(found) });
        }
    }

    /// Why an object goes.
    fn why(&self, kind: Option<u32>, object: &crate::model::Identity, known: Known) -> Reason {
        if known.namespace_goes {
            return Reason::Namespace { name: object.namespace.clone() };
        }
        let definition = kind.and_then(|kind| self.objects.kinds.get(&kind)).map(|kind| kind.full_name.clone());
        if let Some(name) = definition
            && self.containers.get(&(false, name.as_str().into())) == Some(&true)
        {
            return Reason::Definition { name };
        }
        reason(known.owners)
    }
}

impl super::Summary {
    /// Counts an object that goes.
    fn count(&mut self, why: &Reason) {
        match why {
            Reason::OwnersGone { .. } | Reason::OwnerWaits { .. } => self.collected += 1,
            Reason::Namespace { .. } | Reason::Definition { .. } => self.with_container += 1,
            Reason::NoOwner | Reason::OwnerExists { .. } => self.otherwise += 1,
            Reason::Unknown { .. } | Reason::WhileLost => self.unknown += 1,
        }
    }
}

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
