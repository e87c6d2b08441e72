//! kubectl and the shells' scripts complete what a real cluster has.

use std::{
    env, fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use crate::{
    harness::{ADMIN, Retry, poll},
    plan::trial::Trial,
};

/// Completion asks for a second and then stays silent. On a busy machine that may be too short, so tests ask again.
const DEADLINE: Duration = Duration::from_mins(3);

struct Shell {
    home: PathBuf,
    kubeconfig: PathBuf,
}

impl Shell {
    /// A home with the program under both of its names.
    fn new(trial: &Trial<'_>) -> Self {
        let home = trial.cluster.folder().join(format!("completion-{}", trial.namespace));
        fs::create_dir_all(home.join("bin")).unwrap();
        let program = Path::new(env!("CARGO_BIN_EXE_kubectl-gc"));
        for name in ["kubectl-gc", "kubectl_complete-gc"] {
            symlink(program, home.join("bin").join(name)).unwrap();
        }
        Self { home, kubeconfig: trial.cluster.kubeconfig(ADMIN) }
    }

    /// What `kubectl gc WORDS…` is completed to.
    fn completed(&self, words: &[&str]) -> Vec<String> {
        let path = env::var_os("PATH").unwrap_or_default();
        let path = env::join_paths([self.home.join("bin")].into_iter().chain(env::split_paths(&path))).unwrap();
        let mut command = Command::new("kubectl");
        command.args(["__complete", "gc"]).args(words).env("PATH", path).env("HOME", &self.home);
        command.env("KUBECONFIG", &self.kubeconfig);
        let ran = command.output().expect("kubectl is needed for this test");
        let text = String::from_utf8(ran.stdout).unwrap();
        let candidates = text.lines().filter(|line| !line.starts_with(':'));
        candidates.map(|line| line.split('\t').next().unwrap().to_owned()).collect()
    }

    /// Asks until there is an answer, and expects it to have these candidates.
    #[track_caller]
    fn expect(&self, words: &[&str], expected: &[&str]) {
        let answer = poll(DEADLINE, || match self.completed(words) {
            silent if silent.is_empty() => Err(Retry::Later(format!("{words:?}: silent"))),
            answer => Ok(answer),
        });
        let answer = answer.unwrap_or_else(|error| panic!("{error}"));
        for one in expected {
            assert!(answer.iter().any(|candidate| candidate == one), "{one} for {words:?} in {answer:?}");
        }
    }
}

/// kubectl habit: completion of types, objects, namespaces and contexts | same: and of short names
#[test]
fn types_objects_namespaces_and_contexts_are_completed() {
    let trial = Trial::new("completion", "Background");
    trial.config_map("settings").create();
    trial.config_map("other").create();
    let shell = Shell::new(&trial);
    let namespace = trial.namespace.as_str();
    shell.expect(&["plan", "dep"], &["deploy", "deployments", "deployments.apps"]);
    shell.expect(&["plan", "-n", namespace, "cm/se"], &["cm/settings"]);
    assert!(!shell.completed(&["plan", "-n", namespace, "cm/se"]).contains(&"cm/other".to_owned()));
    shell.expect(&["plan", "-n", namespace, "cm", ""], &["settings", "other"]);
    shell.expect(&["plan", "-n", namespace, "cm", "settings", ""], &["other"]);
    shell.expect(&["explain", "--namespace", &namespace[..4]], &[namespace]);
    shell.expect(&["plan", "--deny=po,dep"], &["po,deploy"]);
    shell.expect(&["plan", "--context", ""], &["test"]);
    // Who may not read anything gets no candidates, and no error.
    assert_eq!(shell.completed(&["plan", "-n", namespace, "--as=nobody", "cm/"]), Vec::<String>::new());
}
