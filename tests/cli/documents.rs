//! Every JSON document matches its schema, on many kinds of graphs; and YAML output equals JSON output.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use serde_json::Value;

use super::run::{LEFTOVERS, OLD, Ran, SHOP, gc, repository, words};

const FORMATS: [(&str, &str); 11] = [
    ("Plan", "plan"),
    ("ApplyPlan", "apply-plan"),
    ("Sweep", "sweep"),
    ("Tree", "tree"),
    ("BlastRadius", "blast-radius"),
    ("Reclaim", "reclaim"),
    ("Resources", "resources"),
    ("Version", "version"),
    ("Diagnosis", "diagnosis"),
    ("Codes", "codes"),
    ("Explanation", "explanation"),
];

/// Dumps with all kinds of problems.
fn dumps() -> Vec<String> {
    let mut dumps = vec![SHOP.to_owned(), LEFTOVERS.to_owned(), "tests/debug-graph/objects.json".to_owned()];
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/cli/dumps");
    let mut own: Vec<String> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path().display().to_string()).collect();
    own.sort();
    dumps.extend(own);
    assert!(dumps.len() >= 5);
    dumps
}

struct Schemas(BTreeMap<&'static str, jsonschema::Validator>);

impl Schemas {
    fn new() -> Self {
        let schema =
            |file: &str| -> Value { serde_json::from_str(&repository(&format!("docs/schema/{file}.json"))).unwrap() };
        // Schemas may refer to each other by id, also to the schema of documents that only a live cluster produces.
        let files = FORMATS.iter().map(|(_, file)| *file).chain(["deletion"]);
        let registry = files.fold(jsonschema::Registry::new(), |registry, file| {
            registry.add(format!("urn:kubectl-gc:v1:{file}"), schema(file)).unwrap()
        });
        let registry = registry.prepare().unwrap();
        let validator = |file: &str| {
            let options = jsonschema::options().with_draft(jsonschema::Draft::Draft202012).with_registry(&registry);
            options.build(&schema(file)).unwrap()
        };
        Schemas(FORMATS.into_iter().map(|(kind, file)| (kind, validator(file))).collect())
    }

    /// Runs a command, and checks its JSON against the schema.
    fn json(&self, kind: &str, args: &[&str]) -> Value {
        self.checked(kind, args, &gc(&[args, &["-o", "json"]].concat()))
    }

    fn checked(&self, kind: &str, args: &[&str], ran: &Ran) -> Value {
        // A sweep whose result depends on unread objects exits with 1, but still prints its document.
        assert!(ran.code == 0 || ran.code == 2 || kind == "Sweep", "{args:?}: {}", ran.err);
        let json: Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!(json["kind"], kind, "{args:?}");
        let errors: Vec<String> =
            self.0[kind].iter_errors(&json).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(errors.is_empty(), "{args:?}\n{}", errors.join("\n"));
        json
    }

    /// Checks the JSON against the schema, and compares the YAML with it.
    fn check(&self, kind: &str, args: &[&str]) -> Value {
        let json = self.json(kind, args);
        let yaml: Value = serde_yaml::from_str(&gc(&[args, &["-o", "yaml"]].concat()).out).unwrap();
        assert_eq!(json, yaml, "{args:?}");
        json
    }
}

/// `-n NAMESPACE KIND.GROUP/NAME` of every object of a dump.
fn targets(dump: &str) -> Vec<Vec<String>> {
    let tree: Value = serde_json::from_str(&gc(&["tree", "-A", "-o", "json", "--from", dump]).fine()).unwrap();
    let objects = tree["nodes"].as_array().unwrap().iter();
    let real = |node: &&Value| node["virtual"] != true;
    let target = |node: &Value| {
        let text = |field: &str| node[field].as_str().unwrap_or_default().to_owned();
        let group = text("apiVersion")
            .split_once('/')
            .map(|(group, version)| format!(".{version}.{group}"))
            .unwrap_or_default();
        let name = format!("{}{group}/{}", text("kind").to_lowercase(), text("name"));
        match node["namespace"].as_str() {
            Some(namespace) => vec![name, "-n".to_owned(), namespace.to_owned()],
            None => vec![name],
        }
    };
    objects.filter(real).map(target).collect()
}

/// Every third object, in one of the ways to delete it.
#[test]
fn plans() {
    check_plans(false);
}

#[test]
#[ignore = "long: each object in each way"]
fn plans_in_each_way() {
    check_plans(true);
}

fn check_plans(each_way: bool) {
    let schemas = Schemas::new();
    let mut seen = Seen::default();
    for dump in dumps() {
        for (number, target) in targets(&dump).iter().step_by(if each_way { 1 } else { 3 }).enumerate() {
            let policies = ["foreground", "background", "orphan"];
            for policy in if each_way { &policies[..] } else { &policies[number % 3..][..1] } {
                let mut args: Vec<&str> = vec!["plan", "--propagation", policy, "--from", &dump];
                args.extend(target.iter().map(String::as_str));
                let ran = gc(&[&args[..], &["-o", "json"]].concat());
                if ran.err.contains("the API server refuses to delete") {
                    assert_eq!(ran.code, 2, "{args:?} {ran}");
                } else {
                    seen.add(&schemas.checked("Plan", &args, &ran));
                }
            }
        }
    }
    seen.add(&schemas.check("Plan", &["plan", "deploy/web", "--assume=none", "--from", "tests/cli/dumps/unseen.yaml"]));
    for (target, gates, gate_violations) in [
        ("ns/shop", "--deny=all --max=0", true),
        ("ns/shop", "--deny=events,pods", true),
        ("crd/shops.acme.io", "--deny=pods --max=2", true),
        ("deploy/api", "--deny=events,secrets --max=4", false),
        ("sts/db", "--deny-effect=data-loss,external --deny-effect=unknown -n shop", true),
        ("ns/shop", "--deny-effect=data-loss --fail-on=stuck", true),
        ("deploy/web", "--deny-effect=data-loss,external --fail-on=unsure", true),
        ("deploy/api", "--deny-effect=data-loss,external,unknown --fail-on=unsure", false),
    ] {
        let plan = schemas.check("Plan", &[&["plan", target, "--from", SHOP], &words(gates)[..]].concat());
        assert_eq!(plan["gates"].is_array(), gate_violations, "{target} {gates}");
    }
    for (target, keep, kept, stays) in [
        ("deploy/web", "--keep=rs/web-6d5f8c7b94", 1, 3),
        ("crd/shops.acme.io", "--keep=deploy --keep=pods", 9, 8),
        ("deploy/api", "--keep=secrets", 0, 0),
    ] {
        let plan = schemas.check("Plan", &[&["plan", target, "--from", SHOP], &words(keep)[..]].concat());
        let lengths = ["kept", "alsoKept"].map(|field| plan[field].as_array().unwrap().len());
        assert_eq!(lengths, [kept, stays], "{target} {keep} {}", plan["kept"]);
        seen.add(&plan);
    }
    seen.check();
}

#[test]
fn apply_plans() {
    let schemas = Schemas::new();
    let backup = ["plan", "--apply", "-f", "examples/backup.yaml", "--from"];
    for dump in dumps() {
        // What is applied where it is: everything exists.
        schemas.check("ApplyPlan", &["plan", "--apply", "-f", &dump, "--from", &dump]);
        schemas.check("ApplyPlan", &[&backup[..], &[&dump]].concat());
    }
    let plan = schemas.json("ApplyPlan", &[&backup[..], &[SHOP]].concat());
    let fates: Vec<&str> =
        plan["objects"].as_array().unwrap().iter().filter_map(|object| object["fate"].as_str()).collect();
    assert_eq!(fates, ["Kept", "Collected", "Collected", "Collected", "Stripped", "Kept"]);
}

/// Counts the values that occur in all plans together: if a value never occurs, its schema is untested.
#[derive(Default)]
struct Seen(BTreeMap<String, usize>);

impl Seen {
    fn add(&mut self, plan: &Value) {
        for outcome in plan["outcomes"].as_array().unwrap() {
            for field in ["outcome", "state", "uncertainBecause"] {
                if let Some(value) = outcome[field].as_str() {
                    *self.0.entry(value.to_owned()).or_default() += 1;
                }
            }
        }
        for note in plan["notes"].as_array().unwrap() {
            *self.0.entry(note["kind"].as_str().unwrap().to_owned()).or_default() += 1;
        }
        if plan["complete"] == false {
            *self.0.entry("incomplete".to_owned()).or_default() += 1;
        }
    }

    fn add_story(&mut self, story: &Value) {
        let mut see = |field: &str, value: &Value| {
            if let Some(value) = value.as_str() {
                *self.0.entry(format!("{field} {value}")).or_default() += 1;
            }
        };
        for reference in story["references"].as_array().unwrap() {
            ["verdict", "blocks", "ownerState"].iter().for_each(|field| see(field, &reference[field]));
        }
        ["action", "reason", "attention"].iter().for_each(|field| see(field, &story["next"][field]));
        ["outcome", "state", "uncertainBecause"].iter().for_each(|field| see(field, &story["end"][field]));
        story["conditions"].as_array().unwrap().iter().for_each(|condition| see("then", &condition["then"]));
        story["causes"].as_array().unwrap().iter().for_each(|cause| see("cause", &cause["state"]));
    }

    fn check(&self) {
        for value in
            ["Deleted", "Terminating", "Orphaned", "Detached", "waiting", "stuck", "unknown", "gap", "incomplete"]
        {
            assert!(self.0.contains_key(value), "no plan has {value}: {:?}", self.0);
        }
    }
}

#[test]
fn plans_of_several_targets() {
    let schemas = Schemas::new();
    for line in [
        "plan deploy/web sts/db shop/main -n shop",
        "plan pods --all -n shop --propagation=foreground",
        "plan deploy,rs -l app --cascade=orphan",
        "plan deploy/web -n shop --grace-period=7",
        "plan deploy/web -n shop --force",
        "plan deploy/web -n shop --assume=none",
        "plan deploy/web -n shop --assume-complete",
    ] {
        schemas.check("Plan", &[&words(line)[..], &["--from", SHOP]].concat());
    }
}

/// Sweeps of everything, of some objects, and of each namespace.
#[test]
fn sweeps() {
    check_sweeps(20);
}

#[test]
#[ignore = "long: of every object"]
fn sweeps_of_every_object() {
    check_sweeps(1);
}

/// Those of objects: of every so many.
fn check_sweeps(every: usize) {
    let schemas = Schemas::new();
    let mut seen = Seen::default();
    let mut stays = 0;
    for dump in dumps() {
        for line in ["", "--assume=none", "--assume-complete", "-n shop"] {
            let args = [&["sweep", "--dry-run", "--from", &dump], &words(line)[..]].concat();
            if line == "-n shop" && gc(&args).err.contains("no namespace") {
                continue;
            }
            let sweep = schemas.check("Sweep", &args);
            seen.add(&sweep);
            stays += sweep["remaining"].as_array().unwrap().len();
        }
        for target in targets(&dump).iter().step_by(every) {
            let mut args: Vec<&str> = vec!["sweep", "--dry-run", "--from", &dump];
            args.extend(target.iter().map(String::as_str));
            let sweep = schemas.json("Sweep", &args);
            stays += sweep["remaining"].as_array().unwrap().len();
        }
    }
    for value in
        ["Deleted", "Terminating", "Orphaned", "Detached", "Unchanged", "stuck", "gap", "incomplete", "missing-api"]
    {
        assert!(seen.0.contains_key(value), "no sweep has {value}: {:?}", seen.0);
    }
    assert!(stays > 0);
}

/// Explains every object, and counts the values that occur.
#[test]
fn explanations() {
    let schemas = Schemas::new();
    let mut seen = Seen::default();
    for dump in dumps() {
        // Targets in the same namespace go into one command.
        let mut by_place: BTreeMap<Vec<String>, Vec<String>> = BTreeMap::new();
        for target in targets(&dump) {
            by_place.entry(target[1..].to_vec()).or_default().push(target[0].clone());
        }
        for (place, names) in by_place {
            let mut args: Vec<&str> = vec!["explain", "--from", &dump];
            args.extend(place.iter().chain(&names).map(String::as_str));
            let document = schemas.json("Explanation", &args);
            let stories = document["explanations"].as_array().unwrap();
            assert_eq!(stories.len(), names.len(), "{args:?}");
            stories.iter().for_each(|story| seen.add_story(story));
        }
    }
    for value in [
        "verdict Solid",
        "verdict Waiting",
        "verdict Absent",
        "verdict OtherName",
        "verdict OtherKind",
        "verdict OtherNamespace",
        "verdict InvalidScope",
        "verdict Unread",
        "blocks Would",
        "blocks Now",
        "action Delete",
        "action RemoveReferences",
        "action Wait",
        "action RemoveFinalizer",
        "action OrphanDependents",
        "action Nothing",
        "reason NoOwners",
        "reason OwnersSolid",
        "reason AlreadyTerminating",
        "reason InvalidScope",
        "reason SharedUid",
        "reason Unread",
        "outcome Deleted",
        "outcome Changes",
        "outcome Kept",
        "state stuck",
        "uncertainBecause gap",
        "then Deleted",
        "then LosesReferences",
        "cause stuck",
    ] {
        assert!(seen.0.contains_key(value), "no story has {value}: {:?}", seen.0);
    }
    let several = ["explain", "deploy/web", "sts/db", "cm/shop-settings", "-n", "shop", "--from", SHOP];
    assert_eq!(schemas.check("Explanation", &several)["explanations"].as_array().unwrap().len(), 3);
}

#[test]
fn trees() {
    check_trees(20);
}

#[test]
#[ignore = "long: of every object"]
fn trees_of_every_object() {
    check_trees(1);
}

/// Those of objects: of every so many.
fn check_trees(every: usize) {
    let schemas = Schemas::new();
    for dump in dumps() {
        for line in ["tree", "tree -A", "tree --assume-complete", "tree --depth 1"] {
            schemas.check("Tree", &[&words(line)[..], &["--from", &dump]].concat());
        }
        for target in targets(&dump).iter().step_by(every) {
            let target: Vec<&str> = target.iter().map(String::as_str).collect();
            let tree = schemas.json("Tree", &[&["tree", "--owners", "--from", &dump], &target[..]].concat());
            assert_eq!(tree["direction"], "Owners");
        }
    }
}

#[test]
fn blast_radii_resources_and_the_version() {
    let schemas = Schemas::new();
    for dump in dumps() {
        for line in ["plan", "plan -A --all", "plan --propagation=foreground", "plan --cascade=orphan --assume=none"] {
            schemas.check("BlastRadius", &[&words(line)[..], &["--from", &dump]].concat());
        }
        // What is stuck is among what is Terminating, of each root.
        let all = gc(&["plan", "-A", "--all", "-o", "wide", "--from", &dump]);
        assert!([0, 2].contains(&all.code) && !all.out.is_empty(), "{all}");
        for line in ["resources", "resources --count"] {
            schemas.check("Resources", &[&words(line)[..], &["--from", &dump]].concat());
        }
    }
    schemas.check("Version", &["version"]);
}

#[test]
fn forecasts() {
    let schemas = Schemas::new();
    let mut kinds: BTreeSet<String> = BTreeSet::new();
    for dump in dumps().into_iter().chain([OLD.to_owned()]) {
        for line in ["reclaim -A --never", "reclaim -A --within=1h --terminated-pod-gc-threshold=1"] {
            // A dump may tell no time.
            let source = ["--at=2026-03-01T12:00:00Z", "--from", &dump];
            let forecast = schemas.check("Reclaim", &[&words(line)[..], &source].concat());
            let reasons =
                forecast["removals"].as_array().unwrap().iter().flat_map(|one| one["reasons"].as_array().unwrap());
            kinds.extend(reasons.map(|reason| reason["when"]["kind"].as_str().unwrap().to_owned()));
        }
    }
    assert!(kinds.iter().eq(["At", "Now", "Once", "Pass"]), "{kinds:?}");
}

/// Checks diagnoses and the list of codes; the schema names every code that occurs.
#[test]
fn diagnoses() {
    let schemas = Schemas::new();
    let codes = schemas.check("Codes", &["doctor", "--list-codes"]);
    let schema: Value = serde_json::from_str(&repository("docs/schema/diagnosis.json")).unwrap();
    let named = &schema["$defs"]["finding"]["properties"]["code"]["anyOf"];
    let mut expected: Vec<Value> = codes["codes"].as_array().unwrap().iter().map(described).collect();
    expected.push(serde_json::json!({"type": "string"}));
    assert_eq!(named.as_array().unwrap(), &expected);
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for dump in dumps() {
        for line in ["doctor", "doctor --assume-complete", "doctor -A"] {
            let diagnosis = schemas.check("Diagnosis", &[&words(line)[..], &["--from", &dump]].concat());
            let mut counts = BTreeMap::from([("Error", 0), ("Warning", 0), ("Note", 0)]);
            for finding in diagnosis["findings"].as_array().unwrap() {
                let severity = finding["severity"].as_str().unwrap();
                *counts.get_mut(severity).unwrap() += 1;
                *seen.entry(severity.to_owned()).or_default() += 1;
                assert!(expected.iter().any(|code| code["const"] == finding["code"]), "{finding}");
                assert_eq!(finding["object"], finding["objects"][0]);
                *seen.entry("reference".to_owned()).or_default() += usize::from(!finding["reference"].is_null());
            }
            let summary = &diagnosis["summary"];
            assert_eq!(
                (&summary["error"], &summary["warning"]),
                (&counts["Error"].into(), &counts["Warning"].into()),
                "{dump}"
            );
        }
    }
    for value in ["Error", "Warning", "Note", "reference"] {
        assert!(seen.get(value).is_some_and(|seen| *seen > 0), "no finding has {value}");
    }
}

/// A code as the schema describes it: the description is the code's title.
fn described(code: &Value) -> Value {
    let title = code["title"].as_str().unwrap();
    let (first, rest) = title.split_at(1);
    serde_json::json!({"const": code["code"], "description": format!("{}{rest}.", first.to_uppercase())})
}

/// A schema that accepts everything would prove nothing.
#[test]
fn the_schemas_take_nothing_else() {
    let schemas = Schemas::new();
    for (kind, _) in FORMATS {
        assert!(!schemas.0[kind].is_valid(&serde_json::json!({"apiVersion": "kubectl-gc/v1", "kind": kind})), "{kind}");
    }
    let mut plan = schemas.check("Plan", &["plan", "deploy/web", "-n", "shop", "--from", SHOP]);
    plan["outcomes"][0]["certain"] = false.into();
    assert!(!schemas.0["Plan"].is_valid(&plan), "an uncertain outcome says why");
    let mut diagnosis = schemas.check("Diagnosis", &["doctor", "--from", LEFTOVERS]);
    assert!(diagnosis["findings"][0].as_object_mut().unwrap().remove("object").is_some());
    assert!(!schemas.0["Diagnosis"].is_valid(&diagnosis), "an object is only absent where there are none");
}
