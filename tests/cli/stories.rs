//! The stories in `tests/cli/stories`: what the program says of a few objects. A new one needs no Rust.
//!
//! ```yaml
//! objects: # which several stories of this file have; those of `common.yaml` are in every file
//!   locksmith: {runs: locksmith}
//!   safe: {is: bank.dev/v1 Locker safe, finalizers: [bank.dev/keys], owners: [bank.dev/v1 Locker room!]}
//! stories:
//! - story: Who must act is told.
//!   objects:
//!     free: {like: safe, finalizers: null}
//!   steps:
//!   - on: safe locksmith
//!     run: [plan locker/safe -n vault, explain locker/safe -n vault]
//!     says: ["WAITS: ", Deployment/locksmith]
//!     not: "STUCK: "
//!     exit: 0
//! ```
//!
//! An object is in the namespace `vault` (`namespace: ""`: in none), its uid is its name, and the fields of its
//! metadata stand beside the others. `like` has another object's fields, but for these (`null`: without). An owner is
//! `VERSION KIND NAME`, with `*` its controller, with `!` blocked. `addedBy: PROGRAM FINALIZER TIME` says who has added
//! a finalizer. `{runs: NAME}` is a Deployment with ready pods.
//!
//! A step runs its command lines on these objects, or on each list of them; without `on`, on those of the step before.
//! They are the whole cluster, unless it has `part: true`. `says` and `not` are texts of standard output, `order` texts
//! that come one after the other, `count` how often a text comes.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{
    agree::{object, on, on_a_part, owners, running, set_fields},
    run::Ran,
};

const FOLDER: &str = "tests/cli/stories";
const COMMON: &str = "common.yaml";

type Objects = BTreeMap<String, Map<String, Value>>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    objects: Objects,
    stories: Vec<Story>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Story {
    story: String,
    #[serde(default)]
    objects: Objects,
    steps: Vec<Step>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
#[derive(Default)]
struct Step {
    on: Texts,
    run: Texts,
    part: bool,
    says: Texts,
    not: Texts,
    order: Texts,
    count: BTreeMap<String, usize>,
    exit: Option<i32>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Texts {
    One(String),
    Several(Vec<String>),
}

impl Default for Texts {
    fn default() -> Self {
        Texts::Several(Vec::new())
    }
}

impl Texts {
    fn all(&self) -> &[String] {
        match self {
            Texts::One(one) => std::slice::from_ref(one),
            Texts::Several(several) => several,
        }
    }
}

impl Step {
    /// What is otherwise than expected.
    fn wrong(&self, ran: &Ran) -> Vec<String> {
        let place = |text: &String| ran.out.find(text.as_str());
        let lacks = self.says.all().iter().chain(self.order.all()).filter(|text| place(text).is_none());
        let mut wrong: Vec<String> = lacks.map(|text| format!("{text:?} is missing")).collect();
        wrong.extend(
            self.not.all().iter().filter(|text| place(text).is_some()).map(|text| format!("{text:?} is there")),
        );
        if !self.order.all().iter().map(place).is_sorted() {
            wrong.push(format!("{:?} come in another order", self.order.all()));
        }
        for (text, count) in &self.count {
            let found = ran.out.matches(text.as_str()).count();
            if found != *count {
                wrong.push(format!("{text:?} comes {found} times, not {count} times"));
            }
        }
        wrong.extend(self.exit.filter(|code| *code != ran.code).map(|code| format!("the exit code is not {code}")));
        wrong
    }

    fn expects_nothing(&self) -> bool {
        let texts = [&self.says, &self.not, &self.order];
        texts.iter().all(|texts| texts.all().is_empty()) && self.count.is_empty() && self.exit.is_none()
    }
}

/// The objects that a story can name: its own, those of its file, and those of all files.
struct Named<'s> {
    scopes: [&'s Objects; 3],
    used: BTreeSet<&'s str>,
}

impl<'s> Named<'s> {
    /// The fields of an object, as they are written, with those of the object that it is like.
    fn fields(&mut self, name: &str) -> Map<String, Value> {
        let found = self.scopes.iter().find_map(|objects| objects.get_key_value(name));
        let (name, fields) = found.unwrap_or_else(|| panic!("there is no object {name}"));
        self.used.insert(name);
        let Some(like) = fields.get("like") else { return fields.clone() };
        let mut all = Value::Object(self.fields(like.as_str().expect("the name of an object")));
        let mut changes = fields.clone();
        changes.remove("like");
        merge(&mut all, &Value::Object(changes));
        all.as_object().unwrap().clone()
    }

    fn object(&mut self, name: &str) -> Value {
        let mut fields = self.fields(name);
        let mut take = |field: &str| fields.remove(field).map(|value| value.as_str().expect("a text").to_owned());
        let (runs, is, added_by) = (take("runs"), take("is"), take("addedBy"));
        let mut made = match (&runs, &is) {
            (Some(workload), _) => running(workload),
            (None, is) => {
                let [api_version, kind, name] = words(is.as_deref().unwrap_or_default());
                object((api_version, kind), name, json!({}))
            }
        };
        if let Some(added_by) = &added_by {
            let [program, finalizer, time] = words(added_by);
            let set = json!({"f:metadata": {"f:finalizers": {(format!("v:\"{finalizer}\"")): {}}}});
            made["metadata"]["managedFields"] = json!([{"manager": program, "operation": "Update",
                "apiVersion": "v1", "time": time, "fieldsType": "FieldsV1", "fieldsV1": set}]);
        }
        if let Some(all) = fields.remove("owners") {
            let all = all.as_array().expect("a list").iter().map(|owner| reference(owner.as_str().expect("a text")));
            made["metadata"]["ownerReferences"] = all.collect();
        }
        set_fields(&mut made, &fields);
        made["metadata"].as_object_mut().unwrap().retain(|_, value| value != "");
        made
    }
}

/// The words of a text that has so many.
fn words<const N: usize>(text: &str) -> [&str; N] {
    let words: Vec<&str> = text.split(' ').collect();
    words.try_into().unwrap_or_else(|_| panic!("{N} words, and not {text:?}"))
}

fn reference(text: &str) -> Value {
    let [api_version, kind, name] = words(text.trim_end_matches(['*', '!']));
    let mut reference = owners((api_version, kind), &[name])[0].take();
    if !text.ends_with('!') {
        reference.as_object_mut().unwrap().remove("blockOwnerDeletion");
    }
    if text.trim_end_matches('!').ends_with('*') {
        reference["controller"] = json!(true);
    }
    reference
}

/// Changes a value as a merge patch does.
fn merge(value: &mut Value, patch: &Value) {
    let (Some(fields), Some(changes)) = (value.as_object_mut(), patch.as_object()) else {
        *value = patch.clone();
        return;
    };
    for (field, change) in changes {
        match change {
            Value::Null => drop(fields.remove(field)),
            change => merge(fields.entry(field).or_insert(Value::Null), change),
        }
    }
}

/// A command line, the objects that it sees, and what is expected of it.
struct Play<'s> {
    story: String,
    objects: Vec<Value>,
    line: &'s str,
    step: &'s Step,
}

impl Play<'_> {
    fn wrong(&self) -> Option<String> {
        let ran = if self.step.part { on_a_part(&self.objects, self.line) } else { on(&self.objects, self.line) };
        let wrong = self.step.wrong(&ran);
        (!wrong.is_empty()).then(|| format!("{}\n{}: {}\n{ran}\n", self.story, self.line, wrong.join(", ")))
    }
}

fn parse<T: serde::de::DeserializeOwned>(name: &str, text: &str) -> T {
    serde_yaml::from_str(text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The runs of a file of stories.
fn plays<'s>(name: &str, file: &'s File, common: &'s Objects) -> (Vec<Play<'s>>, BTreeSet<&'s str>) {
    let (mut plays, mut used) = (Vec::new(), BTreeSet::new());
    for story in &file.stories {
        let title = format!("{name}: {}", story.story);
        let mut named = Named { scopes: [&story.objects, &file.objects, common], used: BTreeSet::new() };
        let mut worlds = &Texts::default();
        for step in &story.steps {
            assert!(!step.expects_nothing() && !step.run.all().is_empty(), "{title}: what is expected of what?");
            if !step.on.all().is_empty() {
                worlds = &step.on;
            }
            assert!(!worlds.all().is_empty(), "{title}: on which objects?");
            for world in worlds.all() {
                let objects: Vec<Value> = world.split_whitespace().map(|name| named.object(name)).collect();
                let play = |line| Play { story: title.clone(), objects: objects.clone(), line, step };
                plays.extend(step.run.all().iter().map(|line| play(line)));
            }
        }
        let unused = story.objects.keys().find(|object| !named.used.contains(object.as_str()));
        assert!(unused.is_none(), "{title}: no step has {unused:?}");
        used.extend(named.used);
    }
    let unused = file.objects.keys().find(|object| !used.contains(object.as_str()));
    assert!(unused.is_none(), "{name}: no story has {unused:?}");
    (plays, used)
}

/// `STORY=TEXT` tells only the stories that have this text in their title, or in the name of their file.
/// Those of R12.18 and R12.19 are in `agree_on_ends.yaml`.
#[test]
fn every_story_comes_true() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(FOLDER);
    let text = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    let common: Objects = parse(COMMON, &text(COMMON));
    let names = fs::read_dir(&folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    let names: BTreeSet<String> = names.filter(|name| name != COMMON).collect();
    let files: Vec<(String, File)> = names.into_iter().map(|name| (name.clone(), parse(&name, &text(&name)))).collect();
    let (mut all, mut used) = (Vec::new(), BTreeSet::new());
    for (name, file) in &files {
        let (plays, of_file) = plays(name, file, &common);
        all.extend(plays);
        used.extend(of_file);
    }
    let unused = common.keys().find(|object| !used.contains(object.as_str()));
    assert!(unused.is_none(), "{COMMON}: no story has {unused:?}");
    if let Ok(only) = std::env::var("STORY") {
        all.retain(|play| play.story.contains(&only));
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let plays = std::iter::from_fn(|| all.get(next.fetch_add(1, Ordering::Relaxed)));
        plays.filter_map(Play::wrong).collect::<Vec<String>>()
    };
    let wrong: Vec<String> = thread::scope(|scope| {
        let workers: Vec<_> = (0..thread::available_parallelism().unwrap().get()).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    assert!(!all.is_empty() && wrong.is_empty(), "{} of {} runs:\n{}", wrong.len(), all.len(), wrong.join("\n"));
}

#[test]
fn a_story_that_can_not_fail_is_an_error() {
    let objects = "  objects:\n    a: {is: v1 ConfigMap a}\n    b: {like: a, uid: b}\n";
    let step = "  - on: a b\n    run: plan cm/a -n vault\n    says: \"DELETES: \"\n    exit: 0\n";
    let story = format!("stories:\n- story: one\n{objects}  steps:\n{step}");
    let told = |text: &str| -> Result<Vec<String>, String> {
        let told = std::panic::catch_unwind(|| {
            let file: File = parse("x", text);
            let common = Objects::new();
            let (plays, _) = plays("x", &file, &common);
            plays.iter().filter_map(Play::wrong).collect()
        });
        told.map_err(|panic| panic.downcast_ref::<String>().expect("a text").clone())
    };
    assert_eq!(told(&story), Ok(Vec::new()));
    for (was, is, wrong) in [
        ("DELETES", "STUCK", "\"STUCK: \" is missing"),
        ("says", "not", "\"DELETES: \" is there"),
        ("says: \"DELETES: \"", "order: [object, DELETES]", "come in another order"),
        ("says: \"DELETES: \"", "count: {DELETES: 2}", "comes 1 times, not 2 times"),
        ("exit: 0", "exit: 2", "the exit code is not 2"),
    ] {
        let told = told(&story.replacen(was, is, 1)).unwrap();
        assert!(told.len() == 1 && told[0].contains(wrong), "{is}: {told:?}");
    }
    for (was, is, wrong) in [
        ("    says: \"DELETES: \"\n    exit: 0\n", "", "what is expected of what?"),
        ("on: a b\n    ", "", "on which objects?"),
        ("on: a b", "on: a", "no step has Some(\"b\")"),
        ("on: a b", "on: a b c", "there is no object c"),
        ("says", "said", "unknown field `said`"),
        ("v1 ConfigMap a}", "v1 ConfigMap}", "3 words, and not"),
        ("stories:", "objects:\n  d: {}\nstories:", "no story has Some(\"d\")"),
    ] {
        let told = told(&story.replacen(was, is, 1)).unwrap_err();
        assert!(told.contains(wrong), "{is}: {told}");
    }
}
