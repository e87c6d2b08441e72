//! Pictures: what they say, and that what shows them can read them: Graphviz, librsvg, a browser, and Mermaid in one.

use std::{fs, path::Path, process::Command};

use serde_json::{Value, json};

use super::{
    chromium::{data, opened},
    run::{LEFTOVERS, Ran, SHOP, gc, program, with_input, words},
};

/// What each command says of the examples, as a command line.
const COMMANDS: [(&str, &[&str]); 7] = [
    ("tree", &["tree", "-n", "shop", "--from", SHOP]),
    ("owners", &["tree", "pod/web-6d5f8c7b94-x2lqp", "-n", "shop", "--owners", "--from", SHOP]),
    ("plan", &["plan", "deployment/web", "-n", "shop", "--from", SHOP]),
    ("radius", &["plan", "-A", "--assume-complete", "--from", SHOP]),
    ("doctor", &["doctor", "--from", LEFTOVERS]),
    ("explain", &["explain", "pod/web-6d5f8c7b94-x2lqp", "-n", "shop", "--from", SHOP]),
    ("sweep", &["sweep", "--dry-run", "--from", LEFTOVERS]),
];

/// Texts that mean something to HTML, XML, JavaScript, DOT, Mermaid, Markdown or a shell.
const MARKUP: [&str; 14] = [
    "</script><script>document.title='forged'</script>",
    "<img src=x onerror=document.title='forged'>",
    "]]> --> */ <!--",
    "\"; } digraph { forged [label=\"forged\"",
    "a\\\"b\\Nc\\",
    "`**x**` _y_ [z](javascript:alert(1))",
    "%% comment %%{init: {'theme': 'forged'}}%%",
    "#quot; #35; &amp; &lt; &#60;",
    "style x: #a; classDef forged fill:#f00;",
    "end; subgraph forged",
    "click n0 href \"javascript:alert(1)\"",
    "fa:fa-ban 1. one - two",
    "ﬂ°°60¶ß",
    "{{TITLE}} {{PICTURE}}",
];

fn drawn(args: &[&str], format: &str) -> String {
    let ran = gc(&[args, &["-o", format]].concat());
    assert!(ran.code == 0 || ran.code == 2, "{args:?} {ran}");
    ran.out
}

/// Objects whose names are markup, each owning the next, and one that doesn't exist.
fn markup() -> String {
    let object = |(index, name): (usize, &&str)| {
        let owner = index.checked_sub(1).map_or("gone", |before| MARKUP[before]);
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {
            "name": name, "namespace": "shop", "uid": format!("{name}{index}"), "finalizers": [name],
            "ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": owner,
                "uid": index.checked_sub(1).map_or("gone".to_owned(), |before| format!("{owner}{before}"))}]}})
    };
    let items: Vec<Value> = MARKUP.iter().enumerate().map(object).collect();
    json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string()
}

fn markup_drawn(args: &[&str], format: &str) -> String {
    let ran: Ran = with_input(&[args, &["--from", "-", "-o", format]].concat(), markup());
    assert!(ran.code == 0 || ran.code == 2, "{args:?} {ran}");
    ran.out
}

/// Runs a program on a file; it must be installed, as `CONTRIBUTING.md` says.
fn read_by(program: &str, args: &[&str], text: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("picture");
    fs::write(&path, text).unwrap();
    let output = Command::new(program).args(args).arg(&path).output();
    let output = output.unwrap_or_else(|error| panic!("{program}: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.trim().is_empty(), "{program}: {said}\n{text}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn pictures_of_the_examples() {
    for (name, args) in COMMANDS {
        for format in ["svg", "mermaid", "dot"] {
            insta::assert_snapshot!(format!("{name}_{format}"), drawn(args, format));
        }
    }
}

#[test]
fn a_page_has_the_picture_of_every_policy() {
    let page = drawn(COMMANDS[2].1, "html");
    let picture = data(&page);
    assert_eq!(picture["kind"], "Plan");
    let names: Vec<&str> = picture["views"].as_array().unwrap().iter().map(|v| v["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["background", "foreground", "orphan"]);
    let of = |view: usize| -> Vec<&str> {
        let rows = picture["views"][view]["rows"].as_array().unwrap().iter();
        rows.map(|row| row["fate"].as_str().unwrap()).collect()
    };
    assert_eq!(of(0).iter().filter(|fate| **fate == "stuck").count(), 1);
    let view = &picture["views"][0];
    assert_eq!(view["reasons"], "1 object stays Terminating because of the finalizer acme.io/drain");
    let goes =
        ["3 ReplicaSets, 2 Pods, 1 ConfigMap, 1 Deployment", "Shop/main stays, and may create Deployment/web again"];
    let facts = view["facts"].as_array().unwrap();
    let labels: Vec<&str> = facts.iter().map(|fact| fact["label"].as_str().unwrap()).collect();
    assert_eq!(labels, ["What holds it up", "Goes", "Next"]);
    assert_eq!(facts[1], json!({"label": "Goes", "lines": goes}));
    let held = facts[0]["objects"][0][0].as_u64().unwrap() as usize;
    assert_eq!(facts[0]["objects"], json!([[held]]));
    assert_eq!(picture["objects"][held]["name"], "web-6d5f8c7b94-x2lqp");
    // The text of each policy says the same.
    for (view, policy) in names.iter().enumerate() {
        let text =
            gc(&["plan", "deployment/web", "-n", "shop", "--from", SHOP, "--propagation", policy, "-o", "wide"]).out;
        let (verdict, rows) = (&picture["views"][view]["verdict"], picture["views"][view]["rows"].as_array().unwrap());
        let said = format!("{}: {}", verdict["word"].as_str().unwrap(), verdict["sentence"].as_str().unwrap());
        assert!(text.replace('\n', " ").contains(&said), "{said}\n{text}");
        for row in rows {
            let title = row["title"].as_str().unwrap();
            let line = text.lines().find(|line| line.split("  ").any(|part| part.ends_with(title) || part == title));
            let line = line.unwrap_or_else(|| panic!("{title}\n{text}"));
            assert!(line.contains(row["word"].as_str().unwrap()), "{line}");
        }
    }
}

#[test]
fn a_page_says_when_and_by_which_command_it_was_made() {
    let args = [COMMANDS[2].1, &["--token=not-to-be-told", "--password", "nor-this"]].concat();
    let page = drawn(&args, "html");
    let (made, rest) = page.split_once(" by: kubectl gc plan deployment/web -n shop --from ").expect("a command");
    let (_, time) = made.rsplit_once("Made ").expect("a time");
    assert!(time.parse::<jiff::Timestamp>().is_ok(), "{time}");
    let (command, _) = rest.split_once('\n').unwrap();
    assert!(command.contains("--token=…") && command.ends_with(" -o html"), "{command}");
    assert!(!page.contains("not-to-be-told") && !page.contains("nor-this"), "{command}");
}

#[test]
fn a_page_has_no_markup_from_names() {
    for args in [&["tree"][..], &["plan", "cm", "--all"], &["doctor"], &["explain", "cm", "--all"]] {
        let page = markup_drawn(args, "html");
        assert_eq!(
            page.matches("</script").count(),
            drawn(COMMANDS[0].1, "html").matches("</script").count(),
            "{args:?}"
        );
        let objects = data(&page)["objects"].as_array().unwrap().clone();
        // The doctor shows only what is wrong: the first owner is missing.
        let shown = if args == ["doctor"] { &MARKUP[..1] } else { &MARKUP[..] };
        for name in shown {
            assert!(objects.iter().any(|object| object["name"] == *name), "{args:?} {name}");
        }
        assert!(!page.contains("<img src"), "{args:?}");
    }
}

#[test]
#[ignore = "long: Graphviz draws it"]
fn graphviz_reads_dot() {
    for (name, args) in COMMANDS {
        let svg = read_by("dot", &["-Tsvg"], &drawn(args, "dot"));
        assert!(svg.contains("</svg>"), "{name}");
    }
    for args in [&["plan", "cm", "--all"][..], &["doctor"], &["explain", "cm", "--all"]] {
        let svg = read_by("dot", &["-Tsvg"], &markup_drawn(args, "dot"));
        assert!(!svg.contains(">forged<") && svg.contains("forged"), "{args:?}");
    }
}

#[test]
#[ignore = "long: librsvg draws it"]
fn librsvg_reads_svg() {
    for (name, args) in COMMANDS {
        let svg = drawn(args, "svg");
        assert!(!svg.contains("<script") && !svg.contains("href") && svg.contains("<title"), "{name}");
        read_by("rsvg-convert", &["--format=png"], &svg);
    }
    for args in [&["tree"][..], &["plan", "cm", "--all"], &["doctor"], &["explain", "cm", "--all"]] {
        let svg = markup_drawn(args, "svg");
        assert!(!svg.contains("<script") && !svg.contains("<img"), "{args:?}");
        read_by("rsvg-convert", &["--format=png"], &svg);
    }
}

/// A namespace of Deployments with so many Pods.
fn large(deployments: usize, pods: usize) -> String {
    let mut items = Vec::new();
    let object = |kind: &str, api: &str, name: String, owner: Option<(&str, &str, String)>| {
        let owners = owner.map(|(kind, api, name)| {
            json!({"apiVersion": api, "kind": kind, "name": name, "uid": format!("{kind}{name}"), "controller": true,
                "blockOwnerDeletion": true})
        });
        json!({"apiVersion": api, "kind": kind, "metadata": {"namespace": "shop", "uid": format!("{kind}{name}"),
            "name": name, "ownerReferences": owners.into_iter().collect::<Vec<_>>()}})
    };
    for deployment in 0..deployments {
        items.push(object("Deployment", "apps/v1", format!("app-{deployment}"), None));
        let owner = ("Deployment", "apps/v1", format!("app-{deployment}"));
        items.push(object("ReplicaSet", "apps/v1", format!("app-{deployment}-5b9c6fd4c8"), Some(owner)));
        for pod in 0..pods {
            let owner = ("ReplicaSet", "apps/v1", format!("app-{deployment}-5b9c6fd4c8"));
            items.push(object("Pod", "v1", format!("app-{deployment}-5b9c6fd4c8-{pod}"), Some(owner)));
        }
    }
    json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string()
}

#[test]
#[ignore = "long: Mermaid draws it in Chromium"]
fn mermaid_draws_what_it_gets() {
    let mut pictures: Vec<(String, String)> = Vec::new();
    for (name, args) in COMMANDS {
        pictures.push((name.to_owned(), drawn(args, "mermaid")));
    }
    for args in [&["tree"][..], &["plan", "cm", "--all"], &["doctor"], &["explain", "cm", "--all"]] {
        pictures.push((format!("markup {args:?}"), markup_drawn(args, "mermaid")));
    }
    for args in [&["tree", "--no-fold"][..], &["plan", "deployments", "--all", "-n", "shop", "-o", "mermaid"]] {
        let args = [args, &["--from", "-", "-o", "mermaid"]].concat();
        pictures.push((format!("large {args:?}"), with_input(&args, large(400, 10)).done()));
    }
    for (name, text) in &pictures {
        assert!(text.encode_utf16().count() <= 20_000, "{name}");
        let edges = text.lines().filter(|line| line.contains("->") || line.contains("-.-") || line.contains("==>"));
        assert!(edges.count() <= 500, "{name}");
    }
    let drawn = in_browser(&pictures);
    for ((name, text), drawn) in pictures.iter().zip(&drawn) {
        // A title and a legend are nodes, too.
        let nodes = text.lines().filter(|line| line.contains(":::")).count();
        assert_eq!(drawn, &format!("{nodes} nodes"), "{name}\n{text}");
    }
}

/// What is too large to be read is folded, and every object is counted.
#[test]
fn large_pictures_are_folded() {
    for (format, most, boxes) in [("svg", 120, "<title>"), ("dot", 200, " [label="), ("mermaid", 80, ":::")] {
        for args in [&["tree", "--no-fold"][..], &["plan", "deployments", "--all", "-n", "shop"]] {
            let args = [args, &["--from", "-", "-o", format]].concat();
            let ran = with_input(&args, large(400, 10));
            let drawn = ran.out.matches(boxes).count();
            // The picture has a title, and a legend of at most three states.
            assert!((10..=most + 4).contains(&drawn), "{format}: {drawn}\n{}", ran.out);
            assert!(ran.out.contains("more of kind Deployment, and"), "{format}\n{}", ran.out);
            assert!(ran.out.len() < 60_000, "{format}: {} bytes\n{}", ran.out.len(), ran.out);
        }
    }
}

/// What Mermaid says to each of these texts, with its defaults, as on GitHub.
fn in_browser(pictures: &[(String, String)]) -> Vec<String> {
    let library = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pictures/node_modules/mermaid/dist/mermaid.min.js");
    let library = fs::read_to_string(&library)
        .unwrap_or_else(|error| panic!("{}: {error}: run npm ci --prefix tests/pictures", library.display()));
    let texts: Vec<&str> = pictures.iter().map(|(_, text)| text.as_str()).collect();
    let texts = serde_json::to_string(&texts).unwrap().replace('<', "\\u003c");
    let page = format!(
        "<!doctype html><meta charset=utf-8><title>mermaid</title><script>{}</script><pre id=said></pre><script>
        mermaid.initialize({{ startOnLoad: false }});
        (async () => {{
            const said = [];
            for (const [index, text] of {texts}.entries()) {{
                try {{
                    const holder = document.createElement('div');
                    holder.innerHTML = (await mermaid.render('picture' + index, text)).svg;
                    const bad = holder.querySelector('script, img, a[href], [onclick], [onerror]');
                    said.push(bad ? 'markup ' + bad.outerHTML : holder.querySelectorAll('.node').length + ' nodes');
                }} catch (error) {{ said.push('failed: ' + error); }}
            }}
            document.getElementById('said').textContent = JSON.stringify(said);
        }})();
        </script>",
        library.replace("</script", "<\\/script")
    );
    let page = opened(&page);
    let (_, said) = page.split_once("<pre id=\"said\">").expect("a page");
    let (said, _) = said.split_once("</pre>").expect("what Mermaid said");
    let said = said.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said:?}"))
}

/// `--open` writes a file that others can't read, and hands it to what the system opens files with.
#[cfg(target_os = "linux")]
#[test]
fn a_picture_is_opened() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let opener = at("xdg-open");
    fs::write(&opener, format!("#!/bin/sh\nprintf %s \"$1\" > {}\n", at("opened").display())).unwrap();
    fs::set_permissions(&opener, fs::Permissions::from_mode(0o755)).unwrap();
    let run = |args: &[&str]| {
        let mut command = program();
        command.env("PATH", folder.path()).env("TMPDIR", folder.path()).args(args).args(["--from", SHOP]);
        super::run::finish(command.env("DISPLAY", ":0"))
    };
    let ran = run(&["plan", "deployment/web", "-n", "shop", "--open"]);
    let path = fs::read_to_string(at("opened")).unwrap();
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (2, "", format!("Opened {path}\n").as_str()));
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(data(&fs::read_to_string(&path).unwrap())["kind"], "Plan");
    let file = at("plan.html");
    let ran = run(&["plan", "deployment/web", "-n", "shop", &format!("--open={}", file.display())]);
    assert_eq!(ran.err, format!("Opened {}\n", file.display()));
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let away = at("none").join("plan.html");
    let ran = run(&["tree", &format!("--open={}", away.display())]);
    let told = format!("error: the picture could not be written to {}: ", away.display());
    assert!(ran.code == 1 && ran.err.contains(&told), "{ran}");
    let link = at("link.html");
    std::os::unix::fs::symlink(&file, &link).unwrap();
    let ran = run(&["tree", &format!("--open={}", link.display())]);
    assert!(ran.code == 1 && ran.err.contains("it exists, and is no regular file"), "{ran}");
    // Without a screen, a program for terminals might be opened.
    let mut command = program();
    command.env("TMPDIR", folder.path()).env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
    command.env_remove("WSL_DISTRO_NAME");
    let ran = super::run::finish(command.args(["tree", "--open", "--from", SHOP]));
    assert!(ran.code == 0 && ran.err.starts_with("The picture is in "), "{ran}");
    fs::remove_file(&opener).unwrap();
    let ran = run(&["tree", "--open", "-o", "html"]);
    assert!(ran.code == 1 && ran.err.contains("error: no browser could be opened: "), "{ran}");
    assert!(ran.err.contains(&format!("The picture is in {}", folder.path().display())), "{ran}");
}

#[test]
fn pictures_that_are_not_drawn() {
    let refused = |args: &[&str], why: &str| {
        let ran = gc(args);
        assert_eq!((ran.code, ran.err.as_str(), ran.out.as_str()), (1, format!("error: {why}\n").as_str(), ""));
    };
    refused(&["tree", "--open", "-o", "svg", "--from", SHOP], "--open shows -o html: it cannot be used with -o svg");
    refused(&["tree", "--watch", "-o", "svg"], "--watch cannot be used with -o svg: a picture is of one moment");
    refused(&["doctor", "--list-codes", "-o", "html"], "--list-codes cannot be combined with -o html");
}

/// Beyond 20,000 objects, a page shows one policy, and is packed.
#[test]
fn a_page_of_many_objects_is_bounded() {
    let metadata = |name: &str| json!({"name": name, "namespace": "shop", "uid": name});
    let owner = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata("owner")});
    let owned = |number: usize| {
        let mut metadata = metadata(&format!("c{number}"));
        metadata["ownerReferences"] =
            json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": "owner"}]);
        json!({"apiVersion": "v1", "kind": "Secret", "metadata": metadata})
    };
    let objects: Vec<Value> = std::iter::once(owner).chain((0..20_001).map(owned)).collect();
    let list = json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string();
    let line = "plan cm/owner -n shop --assume-complete -o html --from -";
    let ran = with_input(&words(line), list.as_bytes());
    assert!(
        ran.err.contains("More than 20,000 objects are changed: only --cascade=background is shown."),
        "{}",
        ran.err
    );
    assert!(ran.out.contains("application/gzip"), "{}", ran.err);
}
