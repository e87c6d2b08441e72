//! The recipes of `docs/recipes.md` work: their YAML is YAML, and the gate for CI exits as the page says. What they
//! print is compared by `page.rs`. The flags of every command on every page exist, also where it needs a cluster.

use std::{collections::BTreeSet, fs, path::Path, process::Command};

use serde::Deserialize as _;
use serde_json::Value;
use walkdir::WalkDir;

use super::run::{SHOP, gc, repository};
use crate::pages::PROMPT;

const PAGE: &str = "docs/recipes.md";

/// The blocks of the page in a language.
fn blocks(language: &str) -> Vec<String> {
    let page = repository(PAGE);
    let begin = format!("```{language}\n");
    page.split(&begin).skip(1).filter_map(|rest| rest.split("```").next()).map(str::to_owned).collect()
}

fn documents(yaml: &str) -> Vec<Value> {
    let documents = serde_yaml::Deserializer::from_str(yaml);
    documents.map(|document| Value::deserialize(document).unwrap_or_else(|error| panic!("{error}\n{yaml}"))).collect()
}

/// The words of a list in YAML.
fn words_of(list: &Value) -> Vec<String> {
    let words = list.as_array().unwrap_or_else(|| panic!("no list: {list}")).iter();
    words.map(|word| word.as_str().expect("a word").to_owned()).collect()
}

/// The parser accepts these arguments, and rejects only the unknown flag after them.
fn accepted(args: &[String]) {
    let mut line: Vec<&str> = args.iter().map(String::as_str).collect();
    line.push("--no-such-flag");
    let ran = gc(&line);
    assert!(ran.err.starts_with("error: unexpected argument '--no-such-flag' found"), "{args:?}: {ran}");
}

/// The arguments of every call of the program in a page: in its blocks, and in its text between backticks.
fn calls(page: &str) -> BTreeSet<Vec<String>> {
    let page = page.replace("\\\n", " ");
    let mut lines: Vec<String> = Vec::new();
    for (number, part) in page.split("```").enumerate() {
        match number % 2 {
            0 => lines.extend(part.replace('\n', " ").split('`').skip(1).step_by(2).map(str::to_owned)),
            _ => lines.extend(part.lines().map(|line| line.trim_start_matches(PROMPT).to_owned())),
        }
    }
    let parts = lines.iter().flat_map(|line| line.split(" && "));
    let calls = parts.filter_map(|part| part.strip_prefix("kubectl gc ")?.split(['|', '#', '>', '<', '[']).next());
    // CODE stands for any.
    let words = |call: &str| call.split_whitespace().map(|word| word.replace("=CODE", "=stuck-finalizer")).collect();
    // A version that is printed is no command.
    let is_call = |call: &Vec<String>| call.first().is_some_and(|word| !word.starts_with(char::is_numeric));
    calls.map(words).filter(is_call).collect()
}

#[test]
fn every_flag_on_a_page_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = ["README.md", "examples/README.md", "docs"].iter().flat_map(|name| WalkDir::new(root.join(name)));
    let pages = files.map(|entry| entry.expect("a readable folder").into_path());
    let pages = pages.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    let calls: BTreeSet<Vec<String>> =
        pages.flat_map(|page| calls(&fs::read_to_string(page).expect("a page"))).collect();
    assert!(calls.len() >= 120, "only {} commands", calls.len());
    calls.iter().for_each(|call| accepted(call));
}

#[test]
fn the_hook_is_a_job_whose_flags_exist() {
    let hook = documents(&blocks("yaml")[0]);
    let kinds: Vec<&str> = hook.iter().filter_map(|document| document["kind"].as_str()).collect();
    assert_eq!(kinds, ["Job", "ServiceAccount", "ClusterRoleBinding"]);
    let container = &hook[0]["spec"]["template"]["spec"]["containers"][0];
    assert_eq!(container["image"], concat!("kubectl-gc:", env!("CARGO_PKG_VERSION")));
    accepted(&words_of(&container["args"]));
    let account = &hook[0]["spec"]["template"]["spec"]["serviceAccountName"];
    assert_eq!((account, account), (&hook[1]["metadata"]["name"], &hook[2]["subjects"][0]["name"]));
    assert!(
        repository("docs/install.md").contains(&format!("name: {}\n", hook[2]["roleRef"]["name"].as_str().unwrap()))
    );
    // On the example, the same plan finds data.
    let mut args = words_of(&container["args"]);
    args.retain(|arg| !arg.starts_with("--selector"));
    args.extend(["--all", "--from", SHOP].map(str::to_owned));
    let ran = gc(&args.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(ran.code == 2 && ran.out.contains("--deny-effect=data-loss"), "{ran}");
}

/// Go reads the function, and the flags in it exist.
#[test]
fn the_collector_of_envtest_is_started_with_flags_that_exist() {
    let function = &blocks("go")[0];
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.go"), format!("package a\n\n{function}")).unwrap();
    let ran = Command::new("gofmt").args(["-l", "a.go"]).current_dir(folder.path()).output().expect("Go");
    assert!(ran.status.success() && ran.stdout.is_empty(), "as gofmt writes it: {ran:?}");
    let (_, call) = function.split_once("exec.Command(\"kubectl-gc\", ").expect("it starts the program");
    let (call, _) = call.split_once(")\n").expect("the end of the call");
    let args = call.split(", ").map(|word| word.split('"').nth(1).expect("a literal").to_owned());
    accepted(&args.collect::<Vec<_>>());
}

/// The function of the shell leaves all but `delete` to kubectl.
#[test]
fn a_shell_function_makes_delete_ask() {
    let folder = tempfile::tempdir().unwrap();
    let kubectl = folder.path().join("kubectl");
    fs::write(&kubectl, "#!/bin/sh\necho \"$@\"\n").unwrap();
    fs::set_permissions(&kubectl, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let script = format!("{}kubectl delete ns shop; kubectl get -o wide pods\n", blocks("bash")[0]);
    let path = format!("{}:/usr/bin:/bin", folder.path().display());
    let ran = Command::new("bash").args(["-c", &script]).env("PATH", path).output().expect("bash");
    assert_eq!(String::from_utf8_lossy(&ran.stdout), "gc delete ns shop\nget -o wide pods\n", "{ran:?}");
}

/// k9s puts the values into the words. An object of the core group has an empty group.
#[test]
fn a_key_in_k9s_shows_the_object_under_the_cursor() {
    let plugins = &documents(&blocks("yaml")[1])[0]["plugins"];
    for (plugin, begins) in [("gc-plan", "WAITS"), ("gc-explain", "OK")] {
        let plugin = &plugins[plugin];
        for key in ["shortCut", "description", "command"] {
            assert!(plugin[key].is_string(), "k9s wants it: {key} of {plugin}");
        }
        let args = words_of(&plugin["args"]);
        assert_eq!((&args[0], &args[1]), (&"-c".to_owned(), &r#""$@" 2>&1 | less"#.to_owned()));
        let ours: Vec<String> = args[args.iter().position(|arg| arg == "gc").unwrap() + 1..].to_vec();
        accepted(&ours);
        let filled = |values: [(&str, &str); 4]| -> Vec<String> {
            let fill = |arg: &String| values.iter().fold(arg.clone(), |arg, (name, value)| arg.replace(name, value));
            let filled = ours.iter().map(fill).filter(|arg| !arg.starts_with("--context"));
            filled.chain(["--from", SHOP].map(str::to_owned)).collect()
        };
        let names = |plural, group, name| {
            [("$RESOURCE_NAME", plural), ("$RESOURCE_GROUP", group), ("$NAMESPACE", "shop"), ("$NAME", name)]
        };
        for (values, about) in [
            (names("persistentvolumeclaims", "", "web-uploads"), "PersistentVolumeClaim/web-uploads"),
            (names("deployments", "apps", "web"), "Deployment/web"),
        ] {
            let args = filled(values);
            let ran = gc(&args.iter().map(String::as_str).collect::<Vec<_>>());
            assert!(ran.code != 1 && ran.out.contains(about), "{args:?}: {ran}");
            assert!(about.starts_with("Deployment") || ran.out.contains(begins), "{ran}");
        }
    }
}

/// Runs the gate in a repository whose change removes these manifests.
fn gate(removed: &[(&str, &str)]) -> (i32, String) {
    let folder = tempfile::tempdir().unwrap();
    let at = |path: &str| folder.path().join(path);
    let git = |args: &[&str]| {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]).args(args);
        let ran = command.current_dir(folder.path()).env("GIT_CONFIG_GLOBAL", "/dev/null").output().expect("git");
        assert!(ran.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&ran.stderr));
    };
    fs::create_dir_all(at("manifests/stays")).unwrap();
    fs::write(at("manifests/stays/a.yaml"), "kind: List\napiVersion: v1\nitems: []\n").unwrap();
    for (name, manifest) in removed {
        fs::write(at("manifests").join(name), manifest).unwrap();
    }
    git(&["init", "-q"]);
    git(&["add", "."]);
    git(&["commit", "-q", "-m", "before"]);
    git(&["update-ref", "refs/remotes/origin/main", "HEAD"]);
    for (name, _) in removed {
        git(&["rm", "-q", &format!("manifests/{name}")]);
    }
    git(&["commit", "-q", "--allow-empty", "-m", "after"]);
    fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join(SHOP), at("cluster.json.gz")).unwrap();
    fs::write(at("gate.sh"), &blocks("sh")[0]).unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_kubectl-gc")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let mut shell = Command::new("sh");
    shell.args(["-e", "gate.sh"]).current_dir(folder.path()).env("PATH", path).env("HOME", folder.path());
    let ran = shell.env("KUBECONFIG", "/nonexistent").output().unwrap();
    let told = [ran.stdout, ran.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
    (ran.status.code().unwrap(), told)
}

#[test]
fn the_gate_in_ci_exits_as_the_page_says() {
    let manifest = |kind: &str, version: &str, name: &str| {
        format!("apiVersion: {version}\nkind: {kind}\nmetadata: {{name: {name}, namespace: shop}}\n")
    };
    assert_eq!(gate(&[]).0, 0, "nothing is removed");
    let (code, told) = gate(&[("service.yaml", &manifest("Service", "v1", "web"))]);
    assert_eq!(code, 0, "{told}");
    let data = manifest("StatefulSet", "apps/v1", "db");
    let (code, told) = gate(&[("a db.yaml", &data), ("service.yaml", &manifest("Service", "v1", "db"))]);
    assert!(code == 2 && told.contains("--deny=") && told.contains("--deny-effect=data-loss"), "{told}");
    let (code, told) = gate(&[("gone.yaml", &manifest("Service", "v1", "nothing"))]);
    assert!(code == 1 && told.contains("nothing"), "{code} {told}");
}
