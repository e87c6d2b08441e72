//! An account of what goes and why, from watches and look-ups: a pure observer that decides by the collector's rules.
//!
//! The caller passes in events with their times, makes the look-ups that the account wants, and takes the happenings,
//! which come in the order of the events. That an owner does not exist is said only if a look-up found that, or if a
//! watch showed the owner's deletion. What a lost watch may have missed is unknown, and is told so.

mod draft;
mod happening;
mod objects;
mod recreated;
#[cfg(test)]
mod tests;

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, VecDeque},
    sync::Arc,
};

use rustc_hash::FxHashSet;

use crate::model::Resource;

use self::{
    draft::{Body, Draft, LookUps},
    happening::Policy,
    objects::{Concern, Kind, Objects},
    recreated::{Loops, Names, Recent},
};

pub use draft::{Answer, LookUp};
pub use happening::{
    Change, Content, Happening, Holds, Loop, Millis, Missing, Owner, OwnerState, Policy as DeletionPolicy, Reason,
    What, time,
};
pub use objects::Scope;

/// How many deleted objects are remembered as owners.
const MOST_GONE: usize = 50_000;
/// After how long a Terminating object is told again, and the longest time until the next.
const STILL: Millis = 30_000;
const LONGEST_STILL: Millis = 3_600_000;

/// A deleted object, as an owner of others.
#[derive(Debug)]
struct GoneOwner {
    at: Millis,
    /// The resourceVersion of its end, if its watch has shown that.
    version: Option<u64>,
    policy: Option<Policy>,
    concerned: bool,
}

/// What an account has told so far, for its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Objects that are gone: by the collector, with their namespace or definition, otherwise, and unknown.
    pub collected: usize,
    pub with_container: usize,
    pub otherwise: usize,
    pub unknown: usize,
    pub recreated: usize,
    /// How many are Terminating now.
    pub terminating: usize,
    pub loops: Vec<Loop>,
    /// The resources that can't be watched now.
    pub missing: Vec<Missing>,
}

/// The account.
#[derive(Debug)]
pub struct Account {
    concern: Concern,
    objects: Objects,
    look_ups: LookUps,
    gone: Recent<Arc<str>, GoneOwner>,
    names: Names,
    loops: Loops,
    /// Whether namespaces (true) and definitions are or were Terminating, by name.
    containers: Recent<(bool, Arc<str>), bool>,
    drafts: VecDeque<Draft>,
    /// When Terminating objects are told again.
    still: BinaryHeap<Reverse<(Millis, Arc<str>)>>,
    /// Grows with each event, so that answers can be compared with events.
    clock: u64,
    /// The resourceVersion of the present event.
    version: Option<u64>,
    /// Objects whose end was told with the request of their deletion.
    merged: FxHashSet<String>,
    begun: bool,
    told: Summary,
}

impl Account {
    pub fn new(scope: Scope) -> Self {
        Account {
            concern: Concern::new(scope),
            objects: Objects::default(),
            look_ups: LookUps::new(),
            gone: Recent::new(MOST_GONE),
            names: Names::new(),
            loops: Loops::new(),
            containers: Recent::new(MOST_GONE),
            drafts: VecDeque::new(),
            still: BinaryHeap::new(),
            clock: 1,
            version: None,
            merged: FxHashSet::default(),
            begun: false,
            told: Summary::default(),
        }
    }

    /// A resource is watched from now on, under this number.
    pub fn watch(&mut self, id: u32, resource: &Resource) {
        self.objects.kinds.insert(id, Kind::of(resource));
    }

    /// Whether every watched resource was listed, or is known to fail.
    pub fn is_ready(&self) -> bool {
        self.objects.kinds.values().all(|kind| kind.listed || kind.failing.is_some())
    }

    /// Whether nothing at all could be listed.
    pub fn is_blind(&self) -> bool {
        !self.objects.kinds.values().any(|kind| kind.listed)
    }

    /// Begins to tell. `missing` are resources that are not even served.
    pub fn begin(&mut self, missing: Vec<Missing>, now: Millis) {
        self.begun = true;
        let mut missing: Vec<Missing> = self.missing().into_iter().chain(missing).collect();
        missing.sort_by(|a, b| a.resource.cmp(&b.resource));
        let is_watched = |kind: &&Kind| kind.listed && kind.failing.is_none() && !kind.polled;
        let resources = self.objects.kinds.values().filter(is_watched).count();
        let what = What::Watching { resources, missing };
        self.drafts.push_front(self.draft(Body::Told(Box::new(what)), now));
    }

    /// The resources that can't be read now.
    fn missing(&self) -> Vec<Missing> {
        let missing = |kind: &Kind| {
            let why = match &kind.failing {
                Some(why) => why.clone(),
                None if !kind.listed => "not listed yet".to_owned(),
                None => return None,
            };
            Some(Missing { resource: kind.full_name.clone(), why })
        };
        self.objects.kinds.values().filter_map(missing).collect()
    }

    /// A list begins.
    pub fn listing(&mut self, id: u32, now: Millis) {
        let Some(kind) = self.objects.kinds.get_mut(&id) else { return };
        let resource = kind.full_name.clone();
        // A list that begins again is told once.
        let lost = kind.listed && !kind.listing && kind.failing.is_none() && !kind.polled;
        kind.lists += 1;
        kind.listing = true;
        kind.new.clear();
        if lost {
            self.tell(What::WatchLost { resource }, now);
        }
    }

    /// A list is complete: objects that it didn't show are gone.
    pub fn listed(&mut self, id: u32, now: Millis) {
        self.version = None;
        let Some(kind) = self.objects.kinds.get_mut(&id) else { return };
        let (again, polled, failed, lists) = (kind.listed, kind.polled, kind.failing.take().is_some(), kind.lists);
        (kind.listing, kind.listed) = (false, true);
        let (resource, new) = (kind.full_name.clone(), std::mem::take(&mut kind.new));
        let late = self.begun && !again;
        let mut gone: Vec<Arc<str>> = Vec::new();
        if lists > 1 {
            let left_out = |object: &objects::Object| object.kind == id && object.seen_in != lists;
            gone.extend(self.objects.iter().filter(|(_, object)| left_out(object)).map(|(uid, _)| uid.clone()));
            gone.sort_unstable();
        }
        let is_told = |account: &Self, uid: &str| account.objects.get(uid).is_some_and(|known| account.is_told(known));
        let told = gone.iter().filter(|uid| is_told(self, uid)).count();
        // Before the lines about the objects: it explains them.
        let place = (self.begun && (again && !polled || failed || late)).then(|| {
            self.tell(What::Listed { resource, again, gone: told, new: 0 }, now);
            self.drafts.len() - 1
        });
        for uid in gone {
            self.remove(&uid, None, now, !again);
        }
        let mut appeared = 0;
        for raw in new {
            self.appear(id, &(*raw.uid).into(), &raw, now);
            appeared += usize::from(is_told(self, &raw.uid));
        }
        let told = place.and_then(|place| self.drafts.get_mut(place));
        if let Some(Draft { body: Body::Told(what), .. }) = told
            && let What::Listed { new, .. } = what.as_mut()
        {
            *new = appeared;
        }
    }

    /// A resource can't be listed or watched for now.
    pub fn failing(&mut self, id: u32, why: String, now: Millis) {
        let Some(kind) = self.objects.kinds.get_mut(&id) else { return };
        kind.failing = Some(why.clone());
        let resource = kind.full_name.clone();
        if self.begun {
            self.tell(What::WatchFailing { resource, why }, now);
        }
    }

    /// A resource can't be watched, and is listed again and again instead. Returns its name if that is news.
    pub fn is_polled(&mut self, id: u32) -> Option<String> {
        let kind = self.objects.kinds.get_mut(&id)?;
        kind.failing = None;
        (!std::mem::replace(&mut kind.polled, true)).then(|| kind.full_name.clone())
    }

    /// Tells of resources that are listed instead of watched.
    pub fn tell_polled(&mut self, resources: Vec<Missing>, now: Millis) {
        self.tell(What::Polled { resources }, now);
    }

    /// A failing watch goes on from where it was.
    pub fn recovered(&mut self, id: u32, now: Millis) {
        let Some(kind) = self.objects.kinds.get_mut(&id) else { return };
        (kind.failing, kind.polled) = (None, false);
        let resource = kind.full_name.clone();
        if self.begun {
            self.tell(What::WatchRecovered { resource }, now);
        }
    }

    /// A resource is no longer served.
    pub fn stopped(&mut self, id: u32, now: Millis) {
        let Some(kind) = self.objects.kinds.get(&id) else { return };
        let (resource, objects) = (kind.full_name.clone(), kind.objects);
        self.tell(What::NotServed { resource, objects }, now);
        let left = self.objects.iter().filter(|(_, object)| object.kind == id).map(|(uid, _)| uid.clone());
        for uid in left.collect::<Vec<_>>() {
            self.objects.remove(&uid);
        }
        self.objects.kinds.remove(&id);
    }

    fn tell(&mut self, what: What, now: Millis) {
        let draft = self.draft(Body::Told(Box::new(what)), now);
        self.drafts.push_back(draft);
    }

    /// How many targets are known to exist.
    pub fn targets_left(&self) -> usize {
        self.concern.targets().filter(|uid| self.objects.get(uid).is_some()).count()
    }

    /// What was told so far.
    pub fn summary(&self) -> Summary {
        let terminating =
            |(_, object): &(&Arc<str>, &objects::Object)| object.deleted.is_some() && self.is_told(object);
        let mut missing = self.missing();
        missing.sort_by(|a, b| a.resource.cmp(&b.resource));
        Summary {
            terminating: self.objects.iter().filter(terminating).count(),
            loops: self.loops.found(),
            missing,
            ..self.told.clone()
        }
    }
}
