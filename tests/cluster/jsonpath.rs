//! JSONPath and custom columns, compared with kubectl on the same documents.

use gc_core::jsonpath::{CustomColumns, JsonPath};
use kubectl_gc::render::document::{Template, TemplateOptions};
use serde_json::Value;

use crate::{
    harness::{Ran, shared},
    plan::trial::Trial,
};

/// No text contains a space, so that the results of one action can be told apart.
fn document() -> Value {
    object!("gc.test/v1 Widget", {
        "name": "paths", "namespace": "default", "labels": {"app.kubernetes.io/name": "shop", "a": "b"},
        "nodes": [
            {"name": "a", "kind": "Pod", "weight": 1, "ports": [80, 443], "ready": true, "ratio": 0.5},
            {"name": "b", "kind": "Node", "weight": 25, "owner": null,
             "nested": {"name": "deep", "list": [[1, 2], [3]]}},
            {"name": "c", "kind": "Pod", "weight": -3, "note": "a-b", "ports": [], "ready": false},
            {"name": "d", "kind": "Shop", "weight": 10, "ratio": 0.25, "ports": [8080], "empty": {}},
            {"name": "é日", "kind": "Pod", "weight": 2, "ratio": 0.75},
        ],
        "words": ["one", "two", "three", "four", "five", "six"],
        "mixed": [1, "one", 1.5, true, null, {"x": 1}, [1]],
        "text": "abc",
        "count": 3,
        "nothing": null,
    })
}

/// Runs kubectl on the document.
fn kubectl(document: &Value, output: &str, flags: &[&str]) -> Ran {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("document.json");
    std::fs::write(&file, document.to_string()).expect("a file");
    let file = file.to_str().expect("a readable name");
    let create = ["create", "--dry-run=client", "--validate=false", "-f", file, "-o", output];
    shared().kubectl(&[&create[..], flags].concat())
}

fn ours(document: &Value, template: &str, allow_missing: bool) -> Result<String, String> {
    let path = JsonPath::parse(template).map_err(|error| error.to_string())?;
    path.text(document, allow_missing).map_err(|error| error.to_string())
}

/// The fields of an object come in a random order in kubectl.
fn in_any_order(template: &str, text: &str) -> String {
    if !template.contains('*') && !template.contains("..") {
        return text.to_owned();
    }
    let mut words: Vec<&str> = text.split(' ').collect();
    words.sort_unstable();
    words.join(" ")
}

/// What separates templates that kubectl evaluates together.
const BETWEEN: &str = "\n~~\n";

/// Compares templates that can be evaluated; many at once, because each kubectl takes its time.
fn all_alike(document: &Value, templates: &[String]) {
    for templates in templates.chunks(40) {
        let together = templates.join(r#"{"\n~~\n"}"#);
        let ran = kubectl(document, &format!("jsonpath={together}"), &[]);
        assert_eq!(ran.code, Some(0), "{together}\n{}", ran.stderr);
        let theirs: Vec<&str> = ran.stdout.split(BETWEEN).collect();
        assert_eq!(theirs.len(), templates.len(), "{together}");
        for (template, theirs) in templates.iter().zip(theirs) {
            let ours = ours(document, template, true).unwrap_or_else(|error| panic!("{template}: {error}"));
            assert_eq!(in_any_order(template, &ours), in_any_order(template, theirs), "{template}");
        }
    }
}

const TEMPLATES: [&str; 62] = [
    "{.kind}",
    "{.metadata.name}",
    "{$.kind}",
    "{@.kind}",
    "{ .kind }",
    "kind={.kind}, name={.metadata.name}",
    "{.nodes[*].name}",
    "{.nodes[0].name}",
    "{.nodes[-1].name}",
    "{.nodes[-2:].name}",
    "{.nodes[1:3].name}",
    "{.nodes[:2].name}",
    "{.nodes[::2].name}",
    "{.words[1:5:2]}",
    "{.words[0,2,4]}",
    "{.words[0:0]}",
    "{.words[-1]}",
    "{.words}",
    "{.words[*]}",
    "{.nodes[0]['name','kind']}",
    "{.nodes[0,1]['name','weight']}",
    "{.nodes[*]['name']}",
    "{['kind']}",
    r"{.metadata.labels.app\.kubernetes\.io/name}",
    r"{.metadata.labels['app\.kubernetes\.io/name']}",
    r#"{.nodes[?(@.kind=="Pod")].name}"#,
    "{.nodes[?(@.kind=='Pod')].name}",
    r#"{.nodes[?(@.kind!="Pod")].name}"#,
    "{.nodes[?(@.weight>2)].name}",
    "{.nodes[?(@.weight>=2)].name}",
    "{.nodes[?(@.weight<2)].name}",
    "{.nodes[?(@.weight<=-3)].name}",
    "{.nodes[?(@.weight==25)].name}",
    "{.nodes[?(@.ratio)].name}",
    "{.nodes[?(@.ratio>0.1)].name}",
    "{.nodes[?(@.ready==true)].name}",
    "{.nodes[?(@.ready!=true)].name}",
    "{.nodes[?(@.nested.name)].name}",
    r#"{.nodes[?(@.name>"b")].name}"#,
    r#"{.words[?(@=="two")]}"#,
    r#"{.nodes[?(@.kind=="Pod")].ports[*]}"#,
    r#"{.nodes[?(@.nope=="x")].name}"#,
    r#"{range .nodes[*]}{.name}{"\t"}{.weight}{"\n"}{end}"#,
    r#"{range .nodes[*]}{.name}:{range .ports[*]}{@},{end};{end}"#,
    r#"{range .nodes[?(@.kind=="Pod")]}[{.name}]{end}"#,
    r#"{range .nope[*]}{.name}{end}after"#,
    r#"{range .words[*]}{@}{"-"}{end}"#,
    r"{range .nodes[*]}{.name} {.owner} {end}",
    "{..name}",
    "{.nodes..name}",
    "{..list}",
    "{.nodes[1].nested.list[*][0]}",
    "{.nodes[2]}",
    "{.nodes[3].ratio}|{.nodes[4].ratio}|{.nodes[0].ratio}",
    "{.nodes[3]}{.nodes[4]}",
    "{.nothing}",
    "{.nodes[*].owner}",
    "{.nope}",
    "{.text.*}",
    "{.mixed}",
    r#"{"a\u00e9\n\x41\""}{'single'}"#,
    "{5}{1.5}{true}{-1}",
];

/// kubectl output: `-o jsonpath=` | same: on the JSON document; an object's fields in the order of their names; numbers
///   as in JSON (`1e21`)
#[test]
fn templates_are_evaluated_as_by_kubectl() {
    let templates: Vec<String> = TEMPLATES.iter().map(|template| (*template).to_owned()).collect();
    all_alike(&document(), &templates);
}

/// kubectl flag: `--allow-missing-template-keys` | same
#[test]
fn what_kubectl_refuses_is_refused() {
    let document = document();
    for template in [
        "{.kind",
        "{.nodes[9]}",
        "{.nodes[-9]}",
        "{.nodes[3:1]}",
        "{.words[::0]}",
        "{.kind[0]}",
        "{.kind[?(@.a)]}",
        "{.nodes[?(@.weight>1.5)]}",
        "{.nodes[?(@.kind=~\"P\")]}",
        "{.nodes[?(@.name==5)]}",
        "{.nodes[?(@.ready>true)]}",
        "{end}",
        "{foo}",
        "{.nodes[a]}",
        "{....name}",
        "{\"a}",
        "{|}",
        "{.nodes[?(@.a=='x']}",
        "{1.2.3}",
        "{.nodes[1,a]}",
    ] {
        let theirs = kubectl(&document, &format!("jsonpath={template}"), &[]);
        assert_ne!(theirs.code, Some(0), "{template}");
        let ours = ours(&document, template, true).expect_err(template);
        // kubectl says more around it. Its names of types and characters are those of Go.
        let short = ours.split(['"', '+', '\'']).next().unwrap_or_default();
        assert!(theirs.stderr.contains(short), "{template}: {ours}\n{}", theirs.stderr);
    }
    for (template, allow) in [("{.nope}", false), ("{.nope}", true), ("{.nodes[*].owner}", false)] {
        let theirs =
            kubectl(&document, &format!("jsonpath={template}"), &[&format!("--allow-missing-template-keys={allow}")]);
        let ours = ours(&document, template, allow);
        assert_eq!(ours.is_ok(), theirs.code == Some(0), "{template} {allow}: {ours:?}");
    }
}

/// kubectl output: `-o jsonpath-as-json=` | same
#[test]
fn results_as_json_are_as_with_kubectl() {
    let document = document();
    for template in ["{.nodes[*].name}", "{.nodes[2]}", "{.nope}", "{.kind}{.words}", "{.mixed}", "{.nodes[3].empty}"] {
        let theirs = kubectl(&document, &format!("jsonpath-as-json={template}"), &[]);
        let ours = JsonPath::parse(template).expect("a template").json(&document, true).expect("results");
        assert_eq!(ours, theirs.stdout, "{template}");
    }
}

/// Only `kubectl get` has custom columns: the object has to be there.
/// kubectl output: `-o custom-columns=` | same: objects, arrays and null are JSON (`{"a":1}`, not `map[a:1]`)
#[test]
fn custom_columns_are_as_with_kubectl() {
    let trial = Trial::new("columns", "Background");
    let (cluster, namespace) = (trial.cluster, trial.namespace.as_str());
    let mut object = document();
    object["metadata"]["namespace"] = namespace.into();
    let object = cluster.create(object);
    for spec in [
        "NAME:.metadata.name,KIND:kind",
        "N:{.metadata.name},ALL:.nodes[*].name,NOPE:.nope",
        "WORDS:.words[*],PORTS:.nodes[0].ports[*],DEEP:.nodes[1].nested.name,X:.text",
        "A-LONG-TITLE:.count,B:.nodes[3].ratio,C:.mixed[1]",
        "A:.nodes[?(@.kind=='Pod')].name",
    ] {
        for headers in [true, false] {
            let (columns, no_headers) = (format!("custom-columns={spec}"), format!("--no-headers={}", !headers));
            let ran =
                cluster.kubectl(&["get", "widgets.gc.test", "paths", "-n", namespace, "-o", &columns, &no_headers]);
            let template = Template::Columns(CustomColumns::parse(spec).expect("columns"));
            let options = TemplateOptions { titles: headers, ..TemplateOptions::default() };
            let ours = template.write(&object, options).expect("rows");
            assert_eq!(ours, ran.stdout, "{spec}: {}", ran.stderr);
        }
    }
}

/// A small generator, so that the same templates are made on each machine.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % limit
    }

    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }

    fn template(&mut self) -> String {
        const STEPS: [&str; 30] = [
            ".nodes",
            "[*]",
            ".name",
            "[0]",
            "[-1]",
            "[1:3]",
            "[::2]",
            ".ports",
            ".weight",
            ".kind",
            "..name",
            ".nope",
            ".nested",
            ".list",
            "['name']",
            "[0,1]",
            "['name','kind']",
            ".words",
            ".metadata",
            ".labels",
            ".*",
            "[:2]",
            "[?(@.kind==\"Pod\")]",
            "[?(@.weight>2)]",
            "[?(@.ports)]",
            "[?(@.name!='a')]",
            "[?(@>1)]",
            ".owner",
            ".ratio",
            "[-2:]",
        ];
        let path = |random: &mut Random| -> String {
            (0..=random.below(4)).map(|_| random.of(&STEPS)).collect::<Vec<_>>().concat()
        };
        match self.below(4) {
            0 => {
                let (list, first, second) = (path(self), path(self), path(self));
                format!("{{range .nodes[*]{list}}}<{{{first}}}={{{second}}}>{{end}}")
            }
            1 => format!("{{.nodes[*]{}}}", path(self)),
            _ => format!("{{{}}}", path(self)),
        }
    }
}

#[test]
fn generated_templates_are_evaluated_as_by_kubectl() {
    let document = document();
    let mut random = Random(16);
    let templates: Vec<String> = (0..3500).map(|_| random.template()).collect();
    let (good, bad): (Vec<String>, Vec<String>) =
        templates.into_iter().partition(|template| ours(&document, template, true).is_ok());
    // An empty result says little: most of the templates find something.
    let (full, empty): (Vec<String>, Vec<String>) = good
        .into_iter()
        // Templates in which a range repeats an unordered result can't be compared word by word.
        .filter(|template| !(template.contains("range") && (template.contains("..") || template.contains(".*"))))
        .partition(|template| ours(&document, template, true).is_ok_and(|text| !text.is_empty()));
    assert!(full.len() >= 200 && bad.len() >= 100, "{} full, {} empty, {} refused", full.len(), empty.len(), bad.len());
    all_alike(&document, &full);
    all_alike(&document, &empty[..empty.len().min(80)]);
    for template in bad.iter().step_by(bad.len() / 20) {
        let theirs = kubectl(&document, &format!("jsonpath={template}"), &[]);
        assert_ne!(theirs.code, Some(0), "{template}: {}", theirs.stdout);
    }
}
