//! Tells drafts in their order, as soon as everything that they need is known.

use std::cmp::Reverse;

use super::{
    Account, LONGEST_STILL, STILL,
    draft::{Body, Draft, Known},
    happening::{Change, Happening, Millis, Policy, Reason, What, reason},
};

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
