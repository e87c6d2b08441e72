//! Compares a plan with what every controller made of the delete.
//!
//! What counts as a change is what a plan speaks of: that an object is removed, created again, marked for deletion, or
//! has other finalizers or owner references. Nothing else of an object is compared: status, and fields that controllers
//! keep up (an EndpointSlice's addresses, a quota's use, a Lease's time), change without a delete, too, and no plan
//! speaks of them. Events are written about everything and expire by themselves; a plan counts them (`alsoDeletes`).

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::{self, Display, Formatter},
};

use serde_json::Value;

use crate::plan::compare::{State, by_uid, check_holders, described, described_real, is_so};

pub use crate::harness::text;

/// How a plan and reality differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sort {
    /// The plan called it certain, and it ended differently.
    Wrong,
    /// It changed, and the plan says nothing of it.
    Missed,
}

/// One object that ended differently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    pub sort: Sort,
    pub object: String,
    pub predicted: String,
    pub real: String,
    /// Equal for differences that probably have one cause.
    pub cause: String,
}

impl Display for Difference {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Difference { sort, object, predicted, real, .. } = self;
        let sort = if *sort == Sort::Wrong { "WRONG " } else { "MISSED" };
        write!(f, "{sort} {object}\n    predicted: {predicted}\n    real:      {real}")
    }
}

/// A plan compared with reality.
#[derive(Clone, Debug, Default)]
pub struct Compared {
    pub differences: Vec<Difference>,
    /// Objects with outcomes, and how many of these are certain.
    pub outcomes: usize,
    pub certain: usize,
    /// Objects that changed, came or went.
    pub changed: usize,
}

/// What is compared: the objects of one case, or of a whole cluster.
struct Comparison<'a> {
    plan: &'a Value,
    before: BTreeMap<&'a str, &'a Value>,
    now: BTreeMap<&'a str, &'a Value>,
    compared: Compared,
}

/// Compares. `before` and `after` contain what belongs to the case, and whatever its plan names.
pub fn compare(plan: &Value, before: &[Value], after: &[Value]) -> Compared {
    let mut comparison = Comparison { plan, before: by_uid(before), now: by_uid(after), compared: Compared::default() };
    comparison.outcomes();
    comparison.joint_outcomes();
    comparison.effects();
    comparison.unnamed();
    comparison.new_objects();
    comparison.compared.differences.sort_by(|one, other| (one.sort, &one.object).cmp(&(other.sort, &other.object)));
    comparison.compared
}

impl Comparison<'_> {
    fn differs(&mut self, sort: Sort, kind: &str, object: String, predicted: impl Display, real: impl Display) {
        let (predicted, real) = (predicted.to_string(), real.to_string());
        let targets: BTreeSet<&str> = items(&self.plan["targets"]).map(|target| text(&target["kind"])).collect();
        let targets: Vec<&str> = targets.into_iter().collect();
        let short = |text: &str| text.split([',', ';', ':']).next().unwrap_or_default().to_owned();
        let cause = format!(
            "{sort:?}: {kind}: {} / {} ({} delete of {})",
            short(&predicted),
            short(&real),
            text(&self.plan["propagation"]),
            targets.join(", ")
        );
        self.compared.differences.push(Difference { sort, object, predicted, real, cause });
    }

    fn state(&self, uid: &str) -> Option<State> {
        self.now.get(uid).map(|object| State::of(object))
    }

    fn outcomes(&mut self) {
        for outcome in items(&self.plan["outcomes"]) {
            let (who, kind) = (described(&outcome["object"]), text(&outcome["object"]["kind"]));
            let uid = text(&outcome["object"]["uid"]);
            self.compared.outcomes += 1;
            self.compared.certain += usize::from(outcome["certain"] == true);
            let Some(was) = self.before.get(uid).copied() else {
                self.differs(Sort::Wrong, kind, who, "an outcome", "it was not there");
                continue;
            };
            let real = self.state(uid);
            self.compared.changed += usize::from(State::outcome(&State::of(was), real.as_ref()).is_some());
            let mut ends = vec![State::predicted(&outcome["object"], &outcome["after"])];
            let because = outcome["uncertainBecause"].as_str();
            match because {
                None => {}
                Some("order") => ends.extend(
                    items(&outcome["alternatives"]).map(|end| State::predicted(&outcome["object"], &end["after"])),
                ),
                Some("assumption" | "bound") => continue,
                Some(other) => {
                    self.differs(Sort::Wrong, kind, who, format!("uncertain: {other}"), "everything could be read");
                    continue;
                }
            }
            let adopted =
                items(&outcome["afterwards"]).any(|after| matches!(text(&after["what"]), "adopted" | "may-be-adopted"));
            let is_end = |end: &Result<Option<State>, String>| {
                end.as_ref().is_ok_and(|end| *end == real || adopted && is_adopted(end.as_ref(), real.as_ref()))
            };
            if !ends.iter().any(is_end) {
                let ends: Vec<String> = ends.iter().map(|end| end.as_ref().map_or_else(Clone::clone, told)).collect();
                self.differs(Sort::Wrong, kind, who, ends.join(", or: "), told(&real));
                continue;
            }
            if let (Some(_), "Terminating", None) = (&real, text(&outcome["outcome"]), because)
                && let Some(is) = self.now.get(uid)
                && let Err(error) = check_holders(self.plan, outcome, is, &self.now)
            {
                let held: Vec<&str> = items(&outcome["heldBy"]).map(text).collect();
                let waits: Vec<String> = items(&outcome["waitsFor"]).map(described).collect();
                let predicted = format!("{}: held by {held:?}, waits for {waits:?}", text(&outcome["state"]));
                self.differs(Sort::Wrong, kind, who, predicted, error);
            }
        }
    }

    /// Of outcomes that depend on each other, one of the joint ends that are told must be the real one.
    fn joint_outcomes(&mut self) {
        for group in items(&self.plan["jointOutcomes"]) {
            let comes_true = |end: &Value| items(end).all(|object| is_so(object, &self.now));
            if !items(group).any(comes_true) {
                let objects: Vec<String> = items(&group[0]).map(|end| described(&end["object"])).collect();
                self.differs(Sort::Wrong, "several", objects.join(", "), "one of several ends together", "another one");
            }
        }
    }

    /// Effects and reactions that say what becomes of other objects.
    fn effects(&mut self) {
        let plan = self.plan;
        // What stays Terminating has its effects later.
        let deleted: BTreeSet<&str> = items(&plan["outcomes"])
            .filter(|outcome| outcome["outcome"] == "Deleted" && outcome["certain"] == true)
            .map(|outcome| text(&outcome["object"]["uid"]))
            .collect();
        let effects = items(&plan["effects"])
            .filter(|effect| deleted.contains(text(&effect["object"]["uid"])))
            .flat_map(|effect| items(&effect["related"]).map(|related| (text(&effect["kind"]), related)));
        let removed = items(&plan["outcomes"]).flat_map(|outcome| {
            items(&outcome["afterwards"])
                .filter(|after| after["what"] == "removes")
                .map(|after| ("removes", &after["object"]))
        });
        let with_outcome: BTreeSet<&str> =
            items(&plan["outcomes"]).map(|outcome| text(&outcome["object"]["uid"])).collect();
        for (what, related) in effects.chain(removed) {
            let goes = match what {
                "pods-deleted" | "data-loss" | "removes" => true,
                // The data is kept even if the volume's object is deleted as well, which its outcome says.
                "data-kept" if !with_outcome.contains(text(&related["uid"])) => false,
                _ => continue,
            };
            let is_there = self.now.contains_key(text(&related["uid"]));
            if goes == is_there {
                let real = if is_there { "there" } else { "gone" };
                self.differs(Sort::Wrong, text(&related["kind"]), described(related), what, real);
            }
        }
    }

    /// Objects that have no outcome and yet changed.
    fn unnamed(&mut self) {
        let plan = self.plan;
        let with_outcome: BTreeSet<&str> =
            items(&plan["outcomes"]).map(|outcome| text(&outcome["object"]["uid"])).collect();
        let effects = items(&plan["effects"]).flat_map(|effect| items(&effect["related"]));
        let reactions =
            items(&plan["outcomes"]).flat_map(|outcome| items(&outcome["afterwards"])).map(|after| &after["object"]);
        let told: BTreeSet<&str> = effects.chain(reactions).map(|object| text(&object["uid"])).collect();
        let unnamed: Vec<(String, &Value)> = (self.before.iter())
            .filter(|(uid, _)| !with_outcome.contains(**uid))
            .map(|(uid, was)| ((*uid).to_owned(), *was))
            .collect();
        for (uid, was) in unnamed {
            let (old, new) = (State::of(was), self.state(&uid));
            if State::outcome(&old, new.as_ref()).is_none() {
                continue;
            }
            self.compared.changed += 1;
            if told.contains(uid.as_str()) || self.is_assumed(was) {
                continue;
            }
            let real = match &new {
                None => "gone".to_owned(),
                Some(new) => format!("{new}; before: {old}"),
            };
            self.differs(Sort::Missed, text(&was["kind"]), described_real(was), "nothing", real);
        }
    }

    /// Whether an assumption names an object.
    fn is_assumed(&self, object: &Value) -> bool {
        let name = format!("{}/{}", text(&object["kind"]), text(&object["metadata"]["name"]));
        items(&self.plan["assumes"]).any(|assumed| text(assumed).split([' ', ',']).any(|word| word == name))
    }

    /// Objects that are new: as many as the plan says, made by whom it says.
    fn new_objects(&mut self) {
        // How many of a kind somebody makes: at least, and at most.
        let mut makers: BTreeMap<(String, String), (usize, usize)> = BTreeMap::new();
        // What comes again under its name, and who makes it, if an object does.
        let mut again: BTreeMap<String, Option<(String, String)>> = BTreeMap::new();
        for outcome in items(&self.plan["outcomes"]) {
            for after in items(&outcome["afterwards"]) {
                let (sure, maybe) = match text(&after["what"]) {
                    "recreated" | "mirrored-again" => (1, 1),
                    "may-be-recreated" => (0, 1),
                    _ => continue,
                };
                let kind = text(&outcome["object"]["kind"]).to_owned();
                let maker = after["by"]["uid"].as_str().map(|uid| (kind, uid.to_owned()));
                if let Some(maker) = &maker {
                    let count = makers.entry(maker.clone()).or_default();
                    *count = (count.0 + sure, count.1 + maybe);
                }
                again.insert(described(&outcome["object"]), maker);
            }
        }
        let new: Vec<&Value> =
            self.now.iter().filter(|(uid, _)| !self.before.contains_key(**uid)).map(|(_, is)| *is).collect();
        let mut made: BTreeMap<(String, String), usize> = BTreeMap::new();
        let mut unforetold = Vec::new();
        for is in new {
            self.compared.changed += 1;
            let kind = text(&is["kind"]).to_owned();
            let mut above = self.makers(is).into_iter().map(|uid| (kind.clone(), uid));
            let maker = above.find(|key| makers.contains_key(key));
            match maker.map_or_else(|| again.get(&described_real(is)).cloned(), |maker| Some(Some(maker))) {
                Some(Some(maker)) => *made.entry(maker).or_default() += 1,
                Some(None) => {}
                None => unforetold.push(is),
            }
        }
        for is in unforetold {
            self.differs(Sort::Missed, text(&is["kind"]), described_real(is), "nothing", "new");
        }
        for ((kind, uid), (least, most)) in makers {
            let real = made.get(&(kind.clone(), uid.clone())).copied().unwrap_or_default();
            let sort = if real > most { Sort::Missed } else { Sort::Wrong };
            if !(least..=most).contains(&real) {
                let by = self.before.get(uid.as_str()).map_or("?".to_owned(), |object| described_real(object));
                let predicted = format!("{least} to {most} made again");
                self.differs(sort, &kind, format!("each {kind} made by {by}"), predicted, format!("{real} new"));
            }
        }
    }

    /// The uids of the controllers above a new object.
    fn makers(&self, object: &Value) -> Vec<String> {
        let mut found = Vec::new();
        let mut object = Some(object);
        while let Some(is) = object {
            let controller = items(&is["metadata"]["ownerReferences"]).find(|owner| owner["controller"] == true);
            let Some(uid) = controller.map(|owner| text(&owner["uid"])) else { break };
            if found.iter().any(|known| known == uid) {
                break;
            }
            found.push(uid.to_owned());
            object = self.now.get(uid).copied();
        }
        found
    }
}

/// Whether an object ended as predicted, and then got a controller.
fn is_adopted(end: Option<&State>, real: Option<&State>) -> bool {
    let (Some(end), Some(real)) = (end, real) else { return false };
    let is_new = |owner: &Value| owner["controller"] == true && !end.owners.contains(owner);
    let mut freed = real.clone();
    freed.owners.retain(|owner| !is_new(owner));
    freed == *end
}

fn told(state: &Option<State>) -> String {
    state.as_ref().map_or("gone".to_owned(), ToString::to_string)
}

pub fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}
