//! Shells complete `kubectl-gc`, and kubectl completes `kubectl gc`: tried in the shells themselves. The PowerShell
//! script is generated; `UPDATE_COMPLETIONS=1` rewrites it.

use std::{
    env, fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
};

use kubectl_gc::cli::{completion::script, values::ShellArg};

const PROGRAM: &str = env!("CARGO_BIN_EXE_kubectl-gc");

#[test]
fn the_generated_script_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("completions/_kubectl-gc.ps1");
    let script = String::from_utf8(script(ShellArg::PowerShell)).unwrap();
    if env::var_os("UPDATE_COMPLETIONS").is_some_and(|value| value == "1") {
        fs::write(&path, &script).unwrap();
    }
    // `assert_eq` would print both scripts completely.
    let checked_in = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        checked_in == script,
        "completions/_kubectl-gc.ps1 is out of date: UPDATE_COMPLETIONS=1 cargo test --test packaging"
    );
}

/// A user who has installed the plugin, and has the completion installed by it.
struct User {
    home: tempfile::TempDir,
}

impl User {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let bin = home.path().join("bin");
        fs::create_dir(&bin).unwrap();
        symlink(PROGRAM, bin.join("kubectl-gc")).unwrap();
        // Where there is a `man`, there are pages for it.
        fs::write(bin.join("man"), "").unwrap();
        Self { home }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.home.path().join(path)
    }

    fn path(&self) -> std::ffi::OsString {
        let rest = env::var_os("PATH").unwrap_or_default();
        env::join_paths([self.at("bin")].into_iter().chain(env::split_paths(&rest))).unwrap()
    }

    fn run(&self, program: &str, args: &[&str]) -> (bool, String) {
        let mut command = Command::new(program);
        command.args(args).env_clear().env("HOME", self.home.path()).env("PATH", self.path()).env("TERM", "dumb");
        command.env("KUBECONFIG", self.at("config")).current_dir(self.home.path());
        let ran = command.output().unwrap_or_else(|error| panic!("{program} is needed for this test: {error}"));
        let told = format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
        (ran.status.success(), told)
    }

    fn install(&self) -> String {
        let (fine, told) = self.run("kubectl-gc", &["completion", "install"]);
        assert!(fine, "{told}");
        told
    }

    /// What a shell's program prints, line by line.
    fn lines(&self, program: &str, args: &[&str]) -> Vec<String> {
        let (fine, told) = self.run(program, args);
        assert!(fine, "{program} {args:?}: {told}");
        told.lines().map(|line| line.trim_end().to_owned()).filter(|line| !line.is_empty()).collect()
    }

    /// The candidates in bash, from the script that bash-completion loads.
    fn bash(&self, line: &str) -> Vec<String> {
        let file = ".local/share/bash-completion/completions/kubectl-gc";
        // As readline does it: words break at spaces, = and :, and the last one may be empty.
        let words = format!(
            "source {file}; COMP_LINE={line:?}; COMP_POINT=${{#COMP_LINE}}; COMP_WORDBREAKS=$' \\t\\n\"\\'><=;|&(:'
            COMP_WORDS=({}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
            _kubectl_gc; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            broken(line).iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" ")
        );
        self.lines("bash", &["--norc", "-c", &words])
    }

    /// The candidates in fish: its own completion of a line.
    fn fish(&self, line: &str) -> Vec<String> {
        let lines = self.lines("fish", &["-c", &format!("complete -C {line:?}")]);
        lines.iter().map(|line| line.split('\t').next().unwrap().to_owned()).collect()
    }

    /// What zsh makes of a line after a TAB, in a terminal of its own.
    fn zsh(&self, line: &str) -> String {
        let script = r#"
            zmodload zsh/zpty
            zpty shell zsh -f -i
            zpty -w shell "PS1= PS2=; fpath=($HOME/.local/share/zsh/site-functions \$fpath)"
            zpty -w shell "autoload -U compinit; compinit -u -d $HOME/.zcompdump; unsetopt beep"
            zpty -w shell "stty rows 50 columns 200"
            zpty -w shell 'show() { print -r -- "<<$BUFFER>>"; BUFFER=; zle accept-line }; zle -N show'
            zpty -w shell 'bindkey "^I" complete-word; bindkey "^Y" show; print READY'
            zpty -r shell shown '*READY*READY*'
            zpty -n -w shell "$1"$'\t'
            sleep 1
            zpty -n -w shell $'\x19'
            zpty -r shell shown '*<<*>>*'
            print -r -- "$shown"
            zpty -d shell
        "#;
        // zpty waits for ever for what isn't printed.
        let (_, told) = self.run("timeout", &["60", "zsh", "-f", "-c", script, "zsh", line]);
        let shown = told.rsplit("<<").next().unwrap_or_default();
        shown.split(">>").next().unwrap_or_default().to_owned()
    }
}

/// The words of a line as readline has them.
fn broken(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for letter in line.chars() {
        match letter {
            ' ' => words.push(String::new()),
            '=' | ':' => words.extend([letter.to_string(), String::new()]),
            _ => words.last_mut().unwrap().push(letter),
        }
    }
    let last = words.len() - 1;
    let kept = words.into_iter().enumerate().filter(|(at, word)| !word.is_empty() || *at == last);
    kept.map(|(_, word)| word).collect()
}

#[test]
fn install_says_what_it_does_and_replaces_nothing_foreign() {
    let user = User::new();
    let told = user.install();
    for file in ["bin/kubectl_complete-gc", ".local/share/bash-completion/completions/kubectl-gc"] {
        assert!(user.at(file).exists() && told.contains(user.at(file).to_str().unwrap()), "{file}: {told}");
    }
    assert_eq!(fs::read_link(user.at("bin/kubectl_complete-gc")).unwrap(), Path::new("kubectl-gc"));
    assert!(told.contains("Put into ~/.zshrc, before compinit:\n     fpath=("), "{told}");
    assert_eq!(user.install(), told, "a second time does the same");

    assert!(told.contains("Set, in your shell: MANPATH="), "~/.local/bin is not on the PATH: {told}");
    let page = fs::read_to_string(user.at(".local/share/man/man1/kubectl-gc-plan.1")).unwrap();
    assert!(page.contains(".TH kubectl-gc-plan 1") && page.contains("propagation"), "{page}");

    let script = user.at(".local/share/bash-completion/completions/kubectl-gc");
    fs::write(&script, "# mine\n").unwrap();
    fs::remove_file(user.at("bin/kubectl_complete-gc")).unwrap();
    fs::write(user.at("bin/kubectl_complete-gc"), "#!/bin/sh\n").unwrap();
    let (fine, told) = user.run("kubectl-gc", &["completion", "install"]);
    assert!(!fine && told.matches("is not from kubectl gc, and was left as it is").count() == 2, "{told}");
    assert_eq!(fs::read_to_string(&script).unwrap(), "# mine\n");
    assert_eq!(fs::read_to_string(user.at("bin/kubectl_complete-gc")).unwrap(), "#!/bin/sh\n");
}

#[test]
fn bash_completes() {
    let user = User::new();
    user.install();
    assert_eq!(user.bash("kubectl-gc pl"), ["plan"]);
    assert_eq!(user.bash("kubectl-gc plan --propag"), ["--propagation"]);
    assert_eq!(user.bash("kubectl-gc plan --propagation "), ["background", "foreground", "orphan"]);
    assert_eq!(user.bash("kubectl-gc plan --cascade=f"), ["foreground"]);
    assert_eq!(user.bash("kubectl-gc plan -o y"), ["yaml"]);
    assert_eq!(user.bash("kubectl-gc plan --from "), Vec::<String>::new(), "files are bash's");
}

#[test]
fn fish_completes() {
    let user = User::new();
    user.install();
    fs::write(user.at("dump.yaml"), "").unwrap();
    assert_eq!(user.fish("kubectl-gc pl"), ["plan"]);
    assert_eq!(user.fish("kubectl-gc plan --propagation "), ["background", "foreground", "orphan"]);
    assert_eq!(user.fish("kubectl-gc plan --cascade=f"), ["--cascade=foreground"]);
    assert_eq!(user.fish("kubectl-gc plan --from dum"), ["dump.yaml"]);
}

#[test]
fn zsh_completes() {
    let user = User::new();
    user.install();
    fs::write(user.at("dump.yaml"), "").unwrap();
    assert_eq!(user.zsh("kubectl-gc pl"), "kubectl-gc plan ");
    assert_eq!(user.zsh("kubectl-gc plan --propagation f"), "kubectl-gc plan --propagation foreground ");
    assert_eq!(user.zsh("kubectl-gc plan --cascade=f"), "kubectl-gc plan --cascade=foreground ");
    assert_eq!(user.zsh("kubectl-gc plan --from dum"), "kubectl-gc plan --from dump.yaml ");
}

/// kubectl habit: `kubectl gc <TAB>` | same: through `kubectl_complete-gc`
#[test]
fn kubectl_completes_its_plugin() {
    let user = User::new();
    user.install();
    let completed = |words: &[&str]| user.lines("kubectl", &[&["__complete", "gc"], words].concat());
    assert!(completed(&["pl"]).contains(&"plan\tPredict what a delete does to every object, and why".to_owned()));
    let values = completed(&["plan", "--propagation", "f"]);
    assert!(values.iter().any(|line| line.starts_with("foreground\t")), "{values:?}");
    assert!(values.contains(&":4".to_owned()), "{values:?}");
    assert!(completed(&["plan", "--from", ""]).contains(&":0".to_owned()));
}

/// A server that accepts connections and says nothing: shells must not wait for it, nor complain.
/// kubectl habit: completion of a server that doesn't answer | different: silent after a second
#[test]
fn a_silent_server_leaves_completion_silent() {
    let user = User::new();
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = server.local_addr().unwrap();
    let server_flag = format!("--server=http://{address}");
    let words = ["__complete", "--", "plan", &server_flag];
    assert_eq!(user.lines("kubectl-gc", &[&words[..], &["po/"]].concat()), [":4"]);
    assert_eq!(user.lines("kubectl-gc", &[&words[..], &["de"]].concat()), [":4"]);
    assert_eq!(user.lines("kubectl-gc", &[&words[..], &["-n", ""]].concat()), [":4"]);
}
