//! `docs/comparison.md`: what other programs say of the same objects, and what that costs. `scripts/compare` writes it.

use std::{
    env,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Value, json};

use crate::{
    bench::number,
    doctor::healthy::fill,
    harness::{ADMIN, Alone, COLLECTOR, NAMESPACES, Options, PATIENCE, WORKLOADS, owner_reference},
    page::as_on_the_page,
    pages::read,
    plan::draft::blocking,
};

/// What stands above this line in the page is written by hand; what stands below is written here.
const MEASURED: &str = "<!-- Below: what scripts/compare has run. -->\n";

/// Runs a command, and prints its CPU seconds, its peak memory in KiB and its exit code.
const MEASURE: &str = "import resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, used.ru_maxrss, code)";

/// How often each is measured; the best counts.
const TIMES: usize = 3;

/// Where the programs come from: the folder of our own, named as kubectl looks for it, and the `PATH`.
struct Programs {
    folder: PathBuf,
    kubeconfig: PathBuf,
    cluster: Alone,
}

impl Programs {
    /// What a shell would print, and the exit code; `None` if there is no such program.
    fn told(&self, line: &str) -> Option<(String, i32)> {
        let output = self.command(line)?.output().ok()?;
        let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
        Some((as_on_the_page(&text), output.status.code()?))
    }

    fn command(&self, line: &str) -> Option<Command> {
        let mut words = line.split(' ');
        let program = self.found(words.next()?)?;
        let mut command = Command::new(program);
        command.args(words);
        self.prepare(&mut command);
        Some(command)
    }

    fn prepare(&self, command: &mut Command) {
        command.env("PATH", self.path()).env("KUBECONFIG", &self.kubeconfig).env("HOME", self.cluster.folder());
        command.env("NO_COLOR", "1").current_dir(self.cluster.folder());
    }

    fn path(&self) -> std::ffi::OsString {
        let rest = env::var_os("PATH").unwrap_or_default();
        env::join_paths(std::iter::once(self.folder.clone()).chain(env::split_paths(&rest))).expect("a PATH")
    }

    fn found(&self, program: &str) -> Option<PathBuf> {
        env::split_paths(&self.path()).map(|folder| folder.join(program)).find(|path| path.is_file())
    }

    /// Its CPU seconds and its peak memory in MiB.
    fn measured(&self, line: &str) -> Option<(f64, u64)> {
        let mut words = line.split(' ');
        let program = self.found(words.next()?)?;
        let arguments: Vec<&str> = words.collect();
        let once = || {
            let mut command = Command::new("python3");
            command.args(["-c", MEASURE]).arg(&program).args(&arguments);
            self.prepare(&mut command);
            let output = command.output().expect("Python 3");
            let text = String::from_utf8(output.stdout).expect("numbers");
            let numbers: Vec<f64> = text.split_whitespace().map(|number| number.parse().expect("a number")).collect();
            let [seconds, kibibytes, code] = numbers[..] else { panic!("{line}: {text:?}") };
            assert!(code == 0.0 || code == 2.0, "{line}: exit code {code}");
            (seconds, kibibytes as u64 / 1024)
        };
        (0..TIMES).map(|_| once()).min_by(|a, b| a.0.total_cmp(&b.0))
    }
}

/// A question, and what is run to answer it.
struct Question {
    title: &'static str,
    says: &'static str,
    commands: &'static [&'static str],
}

const QUESTIONS: [Question; 4] = [
    Question {
        title: "What hangs below a StatefulSet?",
        says: "kubectl has no tree; it lists one type at a time.",
        commands: &[
            "kubectl gc tree statefulset/db -n shop",
            "kubectl-tree statefulset db -n shop",
            "kube-lineage statefulset/db -n shop",
            "kubectl get statefulsets,controllerrevisions,pods -n shop",
        ],
    },
    Question {
        title: "Why does this Pod exist?",
        says: "kubectl-tree only goes downwards.",
        commands: &[
            "kubectl gc tree pod/db-0 -n shop --owners",
            "kube-lineage pod/db-0 -n shop --dependencies",
            "kubectl get pod/db-0 -n shop -o custom-columns=POD:.metadata.name,OWNER:.metadata.ownerReferences[*].name",
        ],
    },
    Question {
        title: "What would a foreground delete do?",
        says: "`held` has a finalizer, and `shared` has another owner.",
        commands: &[
            "kubectl gc plan configmap/root -n shop --propagation=foreground",
            "kubectl delete configmap/root -n shop --cascade=foreground --dry-run=server",
        ],
    },
    Question {
        title: "Which owner references are wrong?",
        says: "What a working collector deletes at once is not there any more; these two stay for ever.",
        commands: &["kubectl gc doctor -o oneline", "kubectl-check-ownerreferences"],
    },
];

/// What is measured. Ours is called directly, as the others are: kubectl would be measured, too.
const MEASUREMENTS: [&str; 5] = [
    "kubectl-gc tree statefulset/db -n shop",
    "kubectl-tree statefulset db -n shop",
    "kube-lineage statefulset/db -n shop",
    "kubectl-gc doctor",
    "kubectl-check-ownerreferences",
];

/// Starts a cluster with the objects of the page, and as many others.
fn stage(objects: usize) -> Programs {
    let cluster = Alone::start(&Options::default());
    fill(&cluster, objects);
    cluster.start_controllers(&[&[COLLECTOR, NAMESPACES], WORKLOADS].concat());
    cluster.create(object!("v1 Namespace", {"name": "shop"}));
    let team = read(Path::new("examples/team.yaml"));
    let set = team
        .split("\n---\n")
        .next()
        .expect("a StatefulSet")
        .replace("  name: db\nspec", "  name: db\n  namespace: shop\nspec");
    cluster.apply_yaml(&set);
    let config_map =
        |name: &str, owners| object!("v1 ConfigMap", {"name": name, "namespace": "shop", "ownerReferences": owners});
    let [root, other] = ["root", "other"].map(|name| cluster.create(config_map(name, Vec::new())));
    cluster.create(config_map("child", vec![blocking(&root)]));
    cluster.create(config_map("shared", vec![blocking(&root), owner_reference(&other)]));
    let mut held = config_map("held", vec![blocking(&root)]);
    held["metadata"]["finalizers"] = json!(["example.com/cleanup"]);
    cluster.create(held);
    let unserved = json!({
        "apiVersion": "example.com/v1", "kind": "Gadget", "name": "gone", "uid": "00000000-0000-4000-8000-000000000001",
    });
    cluster.create(config_map("unserved-owner", vec![unserved]));
    cluster.create(object!("rbac.authorization.k8s.io/v1 ClusterRole", {
        "name": "everywhere", "ownerReferences": [owner_reference(&other)],
        "rules": [],
    }));
    let pods = ["db-0", "db-1"].map(|pod| format!("/api/v1/namespaces/shop/pods/{pod}"));
    cluster.wait_until("both Pods are there", PATIENCE, || pods.iter().all(|pod| cluster.get(pod).is_some()));
    cluster.settled();
    let folder = cluster.folder().join("programs");
    fs::create_dir_all(&folder).expect("a folder");
    let ours = env::var_os("KUBECTL_GC").unwrap_or_else(|| env!("CARGO_BIN_EXE_kubectl-gc").into());
    std::os::unix::fs::symlink(ours, folder.join("kubectl-gc")).expect("a link");
    Programs { folder, kubeconfig: cluster.kubeconfig(ADMIN), cluster }
}

/// The modules of the programs that are written in Go, which record their versions.
const MODULES: [(&str, &str); 3] = [
    ("kubectl-tree", "github.com/ahmetb/kubectl-tree"),
    ("kube-lineage", "github.com/tohjustin/kube-lineage"),
    ("kubectl-check-ownerreferences", "github.com/kubernetes-sigs/kubectl-check-ownerreferences"),
];

/// What was run, and when, in a sentence.
fn versions(programs: &Programs) -> String {
    let mut versions = vec![concat!("kubectl gc ", env!("CARGO_PKG_VERSION")).to_owned()];
    let (kubectl, _) = programs.told("kubectl version --client -o json").expect("kubectl");
    let kubectl: Value = serde_json::from_str(&kubectl).expect("a document");
    versions.push(format!("kubectl {}", kubectl["clientVersion"]["gitVersion"].as_str().expect("a version")));
    for (program, module) in MODULES {
        let Some(path) = programs.found(program) else { continue };
        let told = Command::new("go").args(["version", "-m"]).arg(path).output().expect("Go");
        let told = String::from_utf8_lossy(&told.stdout).into_owned();
        let of_module = |line: &str| {
            let mut words = line.split_whitespace();
            (words.nth(1) == Some(module)).then(|| words.next().unwrap_or("of unknown version").to_owned())
        };
        let version = told.lines().find_map(of_module).unwrap_or_else(|| "of unknown version".to_owned());
        versions.push(format!("{program} {version}"));
    }
    let server = programs.cluster.get("/version").expect("a server has a version");
    let server = server["gitVersion"].as_str().expect("a version").to_owned();
    let today = jiff::Timestamp::now().strftime("%F");
    format!("Run on {today}, on Kubernetes {server}, with {}.", versions.join(", "))
}

/// The lines that are shown of an output; the page says how many it leaves out.
const SHOWN: usize = 25;

#[test]
#[ignore = "long: makes 2,000 objects, and measures; with COMPARE=FILE it writes the page"]
fn beside_other_programs() {
    let objects = number("OBJECTS", 2_000) as usize;
    let programs = stage(objects);
    let mut page = format!("\n{}\n", versions(&programs));
    for Question { title, says, commands } in QUESTIONS {
        writeln!(page, "\n### {title}\n\n{says}").expect("a String");
        for line in commands {
            let Some((told, code)) = programs.told(line) else {
                let program = line.split(' ').next().unwrap_or_default();
                writeln!(page, "\n`{line}`: not run, {program} was not there.").expect("a String");
                continue;
            };
            let lines: Vec<&str> = told.trim_end().lines().collect();
            let shown = lines[..lines.len().min(SHOWN)].join("\n");
            let left = match lines.len().saturating_sub(SHOWN) {
                0 => String::new(),
                left => format!("… {left} more lines\n"),
            };
            let code = if code == 0 { String::new() } else { format!("$ echo $?\n{code}\n") };
            writeln!(page, "\n```text\n$ {line}\n{shown}\n{left}{code}```").expect("a String");
        }
    }
    // A build for debugging says nothing of the program: `scripts/compare` gives one that is optimised.
    if env::var_os("KUBECTL_GC").is_some() {
        writeln!(
            page,
            "\n## What it costs\n\nOn {} objects, the best of {TIMES} runs: CPU seconds, on which other work has \
             little influence, and the peak of resident memory.\n\n| command | CPU | memory |\n|---|---|---|",
            programs.cluster.objects_of(&programs.cluster.listed()).len()
        )
        .expect("a String");
        for line in MEASUREMENTS {
            let cells = match programs.measured(line) {
                Some((seconds, mebibytes)) => format!("{seconds:.2} s | {mebibytes} MiB"),
                None => "not run | ".to_owned(),
            };
            writeln!(page, "| `{line}` | {cells} |").expect("a String");
        }
    }
    // Ours are always there.
    assert!(page.contains("STUCK: ") && page.contains("namespaced-owner-of-cluster-scoped"), "{page}");
    match env::var_os("COMPARE") {
        Some(file) => {
            let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
            let present = fs::read_to_string(&file).expect("the page is there");
            let (head, _) = present.split_once(MEASURED).expect("the page has the line");
            fs::write(&file, format!("{head}{MEASURED}{page}")).expect("the page can be written");
        }
        None => println!("{page}"),
    }
}
