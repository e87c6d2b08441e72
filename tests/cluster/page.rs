//! The examples of `docs/commands/` that need a cluster show what is printed on one. `UPDATE_PAGES=1 cargo test --test
//! cluster page` writes what is printed into the pages.

use std::{
    cell::Cell,
    env, fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
};

use kubectl_gc::cli::examples::EXAMPLES;
use regex::Regex;
use serde::Deserialize as _;
use serde_json::{Value, json};

use crate::{
    harness::{ADMIN, Alone, COLLECTOR, NAMESPACES, Options, PATIENCE, WORKLOADS, Watching, uid},
    pages::{Fill, check, filled, first_lines, head, read},
    tmux::Tmux,
};

/// The namespace of the examples, and that into which one of them restores.
const TEAM: &str = "team";
const COPY: &str = "team-copy";

/// The namespaces of the examples in the help.
const SHOP: &str = "shop";
const SHOP_COPY: &str = "shop-copy";

/// The ConfigMap with a finalizer.
const SETTINGS: &str = "/api/v1/namespaces/team/configmaps/settings";

/// A cluster of one's own, on which nothing else happens, and a folder for the files of the examples.
struct Stage {
    cluster: Alone,
    folder: PathBuf,
    /// The exit code of the last command.
    code: Cell<Option<i32>>,
}

impl Stage {
    fn new() -> Self {
        let cluster = Alone::start(&Options::default());
        cluster.start_controllers(&[&[COLLECTOR, NAMESPACES], WORKLOADS].concat());
        let folder = cluster.folder().join("pages");
        fs::create_dir_all(&folder).expect("a folder");
        for name in [TEAM, COPY, SHOP, SHOP_COPY] {
            cluster.create(object!("v1 Namespace", {"name": name}));
        }
        Self { cluster, folder, code: Cell::default() }
    }

    /// Makes everything in `examples/team.yaml` that isn't there, and waits until the Pods are there.
    fn furnish(&self) {
        let settings = || self.cluster.get(SETTINGS);
        if settings().is_some_and(|it| it["metadata"]["deletionTimestamp"].is_string()) {
            self.release();
            self.cluster.wait_until("the ConfigMap is gone", PATIENCE, || settings().is_none());
        }
        self.make(TEAM, team());
    }

    /// Makes those of these objects that aren't in a namespace, and waits until the Pods of `db` are there.
    fn make(&self, namespace: &str, objects: impl IntoIterator<Item = Value>) {
        for mut object in objects {
            object["metadata"]["namespace"] = json!(namespace);
            if self.cluster.get(&self.cluster.path_of(&object)).is_none() {
                self.cluster.create(object);
            }
        }
        let pods = ["db-0", "db-1"].map(|pod| format!("/api/v1/namespaces/{namespace}/pods/{pod}"));
        self.cluster
            .wait_until("both Pods are there", PATIENCE, || pods.iter().all(|pod| self.cluster.get(pod).is_some()));
        self.cluster.settled();
    }

    /// Does the work of the controller that has put the finalizer on the ConfigMap.
    fn release(&self) {
        self.cluster.patch(SETTINGS, &json!({"metadata": {"finalizers": null}}));
    }

    /// What a command prints on a terminal, as a page shows it.
    fn run(&self, command: &str) -> String {
        if command == "echo $?" {
            return self.code.get().map(|code| format!("{code}\n")).expect("a command was run before");
        }
        let (line, lines) = head(command);
        let line = line.strip_prefix("kubectl gc ").expect("our own command");
        let mut program = self.cluster.gc_command(&self.cluster.kubeconfig(ADMIN));
        program.args(line.split(' ')).current_dir(&self.folder);
        let printed = if line.starts_with("watch ") { self.watched(&mut program) } else { self.printed(&mut program) };
        first_lines(&as_on_the_page(&printed), lines)
    }

    fn printed(&self, program: &mut Command) -> String {
        let output = program.output().expect("the program runs");
        let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).expect("UTF-8")).concat();
        self.code.set(output.status.code());
        assert!(matches!(output.status.code(), Some(0 | 2)), "{program:?}: {text}");
        text
    }

    /// What `watch` prints while the ConfigMap is deleted, and goes in the end.
    fn watched(&self, program: &mut Command) -> String {
        let watching = Watching::of(program);
        let mut lines = watching.until(" Watching ");
        self.cluster.delete(SETTINGS, None, None);
        lines.extend(watching.until("is being deleted"));
        self.release();
        lines.extend(watching.rest());
        lines.join("\n") + "\n"
    }
}

/// The objects of `examples/team.yaml`.
pub fn team() -> impl Iterator<Item = Value> {
    let text = read(Path::new("examples/team.yaml"));
    let objects = serde_yaml::Deserializer::from_str(&text)
        .map(|document| Value::deserialize(document).expect("an object"))
        .collect::<Vec<_>>();
    objects.into_iter()
}

/// Whether the objects must be there before a command.
type NeedsObjects = fn(&str) -> bool;

/// The pages, in the order in which their commands are run.
const SCENES: [(&str, NeedsObjects); 6] = [
    ("cancel", |command| command.contains("gc delete")),
    ("delete", |_| true),
    // The delete before it has left an archive, and nothing of what is in it.
    ("restore", |_| false),
    ("archive", |command| command.contains("gc archive")),
    ("snapshot", |command| command.contains("gc snapshot")),
    ("watch", |_| true),
];

#[test]
#[ignore = "long: every example of every page"]
fn the_pages_show_what_a_cluster_answers() {
    let stage = Stage::new();
    for (name, needs_objects) in SCENES {
        let page = Path::new("docs/commands").join(format!("{name}.md"));
        let expected = filled(&read(&page), Fill::All, |command, _| {
            if command != "echo $?" && needs_objects(command) {
                let archive = stage.folder.join("db.yaml");
                if archive.exists() {
                    fs::remove_file(archive).expect("a file of this test");
                }
                stage.furnish();
            }
            Some(stage.run(command))
        });
        check(&page, &expected, "cluster");
    }
}

/// A newcomer has an empty folder, kubectl, the program, and the lines of README: they lead to plans, a delete with an
/// archive, and its restore.
#[test]
fn the_lines_of_the_readme_are_enough() {
    let stage = Stage::new();
    stage.furnish();
    let newcomer = Newcomer::at(&stage);
    let database = || stage.cluster.get("/apis/apps/v1/namespaces/team/statefulsets/db");
    let before = database().expect("it is there");
    let mut done = Vec::new();
    filled(&read(Path::new("README.md")), Fill::Shown, |command, _| {
        let line = command.strip_prefix("kubectl gc ")?;
        let shown = newcomer.runs(command);
        match line.split(' ').next().unwrap_or_default() {
            "delete" => assert!(database().is_none() && newcomer.folder.join("db.yaml").exists(), "{shown}"),
            "restore" => assert!(database().is_some_and(|it| uid(&it) != uid(&before)), "{shown}"),
            _ => {}
        }
        done.push(line.split(' ').next().unwrap_or_default().to_owned());
        None
    });
    for command in ["plan", "delete", "restore", "doctor", "explain", "tree", "sweep"] {
        assert!(done.iter().any(|it| it == command), "{command} in {done:?}");
    }
}

/// Those examples in the help that act, write a file, follow or open a screen, on a cluster; `tests/cli/examples.rs`
/// runs the others.
#[test]
#[ignore = "long: each of some thirty commands"]
fn the_examples_of_the_help_are_run() {
    const COMMANDS: [&str; 8] = ["delete", "cancel", "archive", "restore", "watch", "snapshot", "sweep", "tui"];
    let stage = Stage::new();
    let database = team().find(|it| it["kind"] == "StatefulSet").expect("it is there");
    let mut web = database.clone();
    web["kind"] = json!("Deployment");
    web["metadata"] = json!({"name": "web", "labels": {"app": "web"}});
    web["spec"]["selector"]["matchLabels"]["app"] = json!("web");
    web["spec"]["template"]["metadata"]["labels"]["app"] = json!("web");
    for field in ["serviceName", "podManagementPolicy"] {
        web["spec"].as_object_mut().expect("fields").remove(field);
    }
    let newcomer = Newcomer::at(&stage);
    fs::copy("examples/shop.yaml", newcomer.folder.join("cluster.yaml")).expect("a dump");
    let file_of = |line: &str| {
        let names = [".yaml", ".json"];
        let file = line.split([' ', '=']).find(|word| names.iter().any(|name| word.contains(name)))?;
        Some(newcomer.folder.join(file))
    };
    let web_of = |namespace: &str| {
        let found = stage.cluster.get(&format!("/apis/apps/v1/namespaces/{namespace}/deployments/web"))?;
        Some(found["metadata"]["deletionTimestamp"].is_string())
    };
    const HELD: Option<bool> = Some(true);
    const BOTH: &str = "deployment/web statefulset/db -n shop --yes";
    let mut run = 0;
    for (what, line) in EXAMPLES {
        let command = line.split(' ').next().unwrap_or_default();
        if !COMMANDS.contains(&command) {
            continue;
        }
        run += 1;
        if command != "cancel" && web_of(SHOP) == HELD {
            newcomer.runs(&format!("kubectl gc delete {BOTH} --hold=0s"));
        }
        stage.make(SHOP, [database.clone(), web.clone()]);
        match command {
            "cancel" => _ = newcomer.runs(&format!("kubectl gc delete {BOTH} --hold=10m --wait=false")),
            "restore" => _ = newcomer.runs(&format!("kubectl gc delete {BOTH}")),
            "delete" | "archive" | "snapshot" if !line.contains("--force") => {
                file_of(line).map(fs::remove_file).into_iter().for_each(drop);
            }
            _ => {}
        }
        let shown = newcomer.runs(&format!("kubectl gc {line}"));
        let done = match *line {
            "delete deployment/web -n shop" => web_of(SHOP).is_none(),
            "delete deployment/web -n shop --hold=10m" => web_of(SHOP) == HELD,
            "delete deployment/web -n shop --yes --deny-effect=data-loss" => web_of(SHOP).is_none(),
            "cancel deployment/web -n shop" => web_of(SHOP) == Some(false),
            "restore db.yaml -n shop-copy" => {
                stage.cluster.get("/apis/apps/v1/namespaces/shop-copy/statefulsets/db").is_some()
            }
            "restore shop.yaml.gz deployment/web" => web_of(SHOP) == Some(false),
            _ => true,
        };
        assert!(done && file_of(line).is_none_or(|file| file.exists()), "{what}: {shown}");
    }
    assert_eq!(run, EXAMPLES.iter().filter(|(_, line)| COMMANDS.iter().any(|it| line.starts_with(it))).count());
}

/// Whoever has an empty folder, kubectl, the program, and a cluster, and sits before a terminal.
struct Newcomer {
    folder: PathBuf,
    tmux: Tmux,
    steps: Cell<usize>,
}

impl Newcomer {
    fn at(stage: &Stage) -> Self {
        let [folder, bin] = ["clean", "bin"].map(|name| stage.folder.join(name));
        for folder in [&folder, &bin] {
            fs::create_dir(folder).expect("a folder");
        }
        let on_path = |program: &str| {
            let folders = env::var_os("PATH").expect("a PATH");
            env::split_paths(&folders).map(|it| it.join(program)).find(|it| it.is_file()).expect("it is installed")
        };
        symlink(env!("CARGO_BIN_EXE_kubectl-gc"), bin.join("kubectl-gc")).expect("a link");
        for program in ["kubectl", "head"] {
            symlink(on_path(program), bin.join(program)).expect("a link");
        }
        let tmux = Tmux::of(80, 24, &folder);
        let kubeconfig = stage.cluster.kubeconfig(ADMIN);
        tmux.types(&format!("export PATH={} KUBECONFIG={}", bin.display(), kubeconfig.display()));
        Self { folder, tmux, steps: Cell::default() }
    }

    /// Types a command, says yes if it asks, and ends it if it goes on by itself; what is shown in the end.
    fn runs(&self, command: &str) -> String {
        /// What is shown, and the keys that answer it.
        const ANSWERS: [(&str, &[&str]); 6] = [
            ("[y/N", &["y", "Enter"]),
            ("Ctrl-C asks", &["C-c"]),
            ("l leaves it held", &["l", "Enter"]),
            ("Watching", &["C-c"]),
            ("synced", &["C-c"]),
            ("? help", &["q"]),
        ];
        let step = self.steps.replace(self.steps.get() + 1);
        let end = format!("step {step} ended with ");
        // A command that was interrupted leaves `^C` on the line.
        let code = |shown: &str| shown.lines().find_map(|line| line.split_once(&end)?.1.parse::<i32>().ok());
        self.tmux.types(&format!("printf '\\033[2J\\033[H'; {command}; echo {end}$?"));
        let mut answers = ANSWERS.to_vec();
        loop {
            let next = |shown: &str| answers.iter().position(|(text, _)| shown.contains(text));
            let shown = self.tmux.until_it(command, |shown| code(shown).is_some() || next(shown).is_some());
            if let Some(code) = code(&shown) {
                assert!([0, 2].contains(&code), "{shown}");
                return shown;
            }
            let (_, keys) = answers.swap_remove(next(&shown).expect("one of them"));
            self.tmux.press(keys);
        }
    }
}

/// What differs from run to run is replaced here, and nowhere else: the port, uids, times, how long it took, and how
/// much there is of what the example is not about. What only reports progress is left out; a terminal overwrites it.
pub fn as_on_the_page(text: &str) -> String {
    let mut page = text.to_owned();
    for (pattern, instead) in [
        (r"(?m)^\d+ of \d+ deleted.*\n", ""),
        (r"\b127\.0\.0\.1:\d+", "127.0.0.1:6443"),
        (r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "5a1f0c1e-7d0b-4c55-9a57-3f0a4b8f2d10"),
        (r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "2026-01-31T14:02:09Z"),
        (r"\b\d\d:\d\d:\d\d\b", "14:02:09"),
        (r"\bafter \d+(\.\d+)?s\b", "after 0.6s"),
        (r"\b\d+(\.\d+)?s after\b", "0.3s after"),
        (r"\([\d,]+ bytes\)", "(5,301 bytes)"),
        (r"Wrote \d+ objects of \d+ kinds", "Wrote 195 objects of 17 kinds"),
        (r"Watching \d+ resources", "Watching 32 resources"),
    ] {
        page = Regex::new(pattern).expect("a pattern").replace_all(&page, instead).into_owned();
    }
    page
}

#[test]
fn only_what_differs_from_run_to_run_is_replaced() {
    let told = "Context test (127.0.0.1:41234), namespace team.\n3 of 4 deleted, after 2s\n09:58:01 DONE: as planned, \
                after 12.3s: 30s\n";
    let page = "Context test (127.0.0.1:6443), namespace team.\n14:02:09 DONE: as planned, after 0.6s: 30s\n";
    assert_eq!(as_on_the_page(told), page);
}
