use super::*;

#[test]
fn plain_words_are_not_quoted() {
    assert_eq!(quoted("deployment.apps/web-1"), "deployment.apps/web-1");
    assert_eq!(quoted("clusterrole/a $(reboot) isn't"), r"'clusterrole/a $(reboot) isn'\''t'");
    assert_eq!([quoted(""), quoted("=ls"), quoted("~root")], ["''", "'=ls'", "'~root'"]);
}

#[test]
fn objects_are_named_with_their_types() {
    let delete = |of_type: &str, group: &str, name: &str, namespace: &str| {
        PLAIN.verb("delete").object(of_type, group, name)?.in_namespace(namespace).map(|command| command.to_string())
    };
    let roles = "rbac.authorization.k8s.io";
    assert_eq!(
        delete("roles", roles, "--all", "x").unwrap(),
        "kubectl delete roles.rbac.authorization.k8s.io/--all -n x"
    );
    assert_eq!(delete("nodes", "", "a b:c", "").unwrap(), "kubectl delete 'nodes/a b:c'");
    for (of_type, group, name, namespace) in [
        ("roles", "acme.io$(touch PWNED)", "a", "x"),
        ("roles", "-acme.io", "a", "x"),
        ("roles", "acme..io", "a", "x"),
        ("--all", "", "a", "x"),
        ("a b", "", "a", "x"),
        ("Roles", "", "a", "x"),
        ("", "", "a", "x"),
        ("roles", roles, "", "x"),
        ("roles", roles, ".", "x"),
        ("roles", roles, "..", "x"),
        ("roles", roles, "a/b", "x"),
        ("roles", roles, "a%2fb", "x"),
        ("roles", roles, "a", "--all-namespaces"),
        ("roles", roles, "a", "x.y"),
        ("roles", roles, "a", "x y"),
    ] {
        assert_eq!(delete(of_type, group, name, namespace), None, "{of_type:?} {group:?} {name:?} {namespace:?}");
    }
    for (text, is_one) in
        [("v1", true), ("apps/v1", true), ("a.io/v1$(x)", false), ("a b/v1", false), ("a/b/v1", false), ("", false)]
    {
        assert_eq!(is_api_version(text), is_one, "{text:?}");
    }
}

#[test]
fn dashes_make_no_flags() {
    let command = PLAIN.plugin("doctor").option("--from", "--server=x").option("--from", "-").option("-l", "a=b");
    assert_eq!(command.to_string(), "kubectl gc doctor --from=--server=x --from - -l a=b");
    let operands = |words: &[&str]| {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        PLAIN.plugin("doctor").operands(&words).flags(&["-o", "json"]).to_string()
    };
    assert_eq!(operands(&["role", "a"]), "kubectl gc doctor role a -o json");
    assert_eq!(operands(&["role", "--all"]), "kubectl gc doctor -o json -- role --all");
    assert_eq!(PLAIN.plugin("restore").file("-a.yaml").to_string(), "kubectl gc restore ./-a.yaml");
}

#[test]
fn what_does_not_print_is_a_comment() {
    for name in ["a\u{1b}[31mb", "a\nb", "a\u{2028}b", "a\u{85}b", "a\u{202e}b", "a\0b"] {
        let command = PLAIN.verb("get").object("roles", "", name).unwrap();
        let text = command.to_string();
        assert!(
            !command.is_runnable() && text.starts_with("# a name in this has characters that don't print,"),
            "{text}"
        );
        assert!(matches!(visible(&text), Cow::Borrowed(_)), "{text}");
    }
}

#[test]
fn what_no_system_takes_does_not_fit() {
    let command = |length: usize| PLAIN.verb("patch").arg("x".repeat(length));
    assert!(command(LONGEST_WORD).fits() && !command(LONGEST_WORD + 1).fits());
}

#[cfg(unix)]
mod in_shells {
    use std::{fs, os::unix::fs::PermissionsExt as _, path::Path, process::Command};

    use super::*;

    const RANDOM_NAMES: usize = 4_000;
    /// Those that are installed are tried.
    const SHELLS: [&str; 5] = ["sh", "bash", "dash", "zsh", "ksh"];

    /// Prints each argument after a separator byte that no argument contains, and another separator at the end.
    const RECORD: &str = "printf '\\037%s' \"$@\"; printf '\\036'\n";

    /// Runs a script in a shell, and returns the arguments of each `kubectl` call.
    fn calls(shell: &str, folder: &Path, script: &str) -> Option<Vec<Vec<String>>> {
        let (kubectl, file) = (folder.join("kubectl"), folder.join("script"));
        fs::write(&kubectl, format!("#!/bin/sh\n{RECORD}")).unwrap();
        fs::set_permissions(&kubectl, fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(&file, script).unwrap();
        let path = format!("{}:/usr/bin:/bin", folder.display());
        let output = Command::new(shell).arg(&file).env("PATH", path).current_dir(folder).output().ok()?;
        assert!(
            output.stderr.is_empty() && output.status.success(),
            "{shell}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        let said = String::from_utf8(output.stdout).unwrap();
        let call = |call: &str| call.split('\u{1f}').skip(1).map(str::to_owned).collect();
        Some(said.split_terminator('\u{1e}').map(call).collect())
    }

    /// Names of all kinds: each character alone, at the start and in the middle, and thousands of random names of
    /// shell syntax.
    fn names() -> Vec<String> {
        const MEANS: [&str; 34] = [
            "'",
            "\"",
            "\\",
            "$",
            "`",
            "$(touch pwned)",
            ";",
            "&",
            "|",
            "<",
            ">",
            "(",
            ")",
            "{",
            "}",
            "[",
            "]",
            "*",
            "?",
            "!",
            "#",
            "~",
            "=",
            "%",
            "-",
            "--all",
            " ",
            "a",
            "B",
            "7",
            ":",
            "ü",
            "日",
            "🙂",
        ];
        let one = (' '..='~').chain('¡'..='ÿ').chain(['Ω', '☃', '\u{1f600}']);
        let mut names: Vec<String> =
            one.flat_map(|c| [c.to_string(), format!("{c}{c}"), format!("a{c}b"), format!("{c}a")]).collect();
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        for _ in 0..RANDOM_NAMES {
            let mut name = String::new();
            loop {
                // A linear congruential generator.
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let drawn = usize::try_from(state >> 33).unwrap();
                name.push_str(MEANS[drawn % MEANS.len()]);
                if drawn.is_multiple_of(7) {
                    break;
                }
            }
            names.push(name);
        }
        names
    }

    /// A shell function instead of a program, to record thousands of commands within a second.
    /// robustness command: names of shell syntax, pasted | {RANDOM_NAMES}, in each of {SHELLS} shells | exact arguments
    #[test]
    fn every_shell_takes_the_exact_arguments() {
        let names = names();
        let command =
            |name: &String| Kubectl::new(vec![format!("--context={name}")]).verb("get").args([name, "-n", "x"]);
        let (runnable, others): (Vec<_>, Vec<_>) =
            names.iter().map(|name| (name, command(name))).partition(|(_, it)| it.is_runnable());
        assert!(
            runnable.len() > RANDOM_NAMES && others.iter().all(|(name, _)| name.contains(['\u{ad}', '\u{a0}'])),
            "{others:?}"
        );
        let lines: String = names.iter().map(|name| format!("{}\n", command(name))).collect();
        let script = format!("kubectl() {{ {} }}\n{lines}", RECORD.trim_end().to_owned() + ";");
        let folder = tempfile::tempdir().unwrap();
        let mut shells = 0;
        for shell in SHELLS {
            let Some(calls) = calls(shell, folder.path(), &script) else { continue };
            shells += 1;
            assert_eq!(calls.len(), runnable.len(), "{shell}");
            for (call, (name, _)) in calls.iter().zip(&runnable) {
                assert_eq!(*call, [&*format!("--context={name}"), "get", name, "-n", "x"], "{shell}");
            }
        }
        assert!(shells > 0 && !folder.path().join("pwned").exists());
    }

    /// Complete commands: called programs, `&&`, redirections, and a function that makes kubectl use one cluster.
    #[test]
    fn syntax_is_the_only_syntax() {
        let folder = tempfile::tempdir().unwrap();
        let kubectl = Kubectl::new(vec!["--context=$(touch pwned)".to_owned()]);
        let body = r#"{"name":"\\u001b\n'"}"#;
        let script = [
            kubectl.shell_function(),
            PLAIN.verb("get").arg("a;b").and(PLAIN.verb("create").arg("-f").file("-c")),
            ShellCommand::new("printf").args(["%s", body]).syntax("> out"),
            PLAIN.verb("get").arg("> out").syntax("> other"),
            PLAIN.plugin("sweep").arg("a"),
        ];
        let script: String = script.iter().map(|line| format!("{line}\n")).collect();
        let calls = calls("sh", folder.path(), &script).expect("a shell");
        assert_eq!(
            calls,
            [
                ["--context=$(touch pwned)", "get", "a;b"].as_slice(),
                &["--context=$(touch pwned)", "create", "-f", "./-c"],
                &["gc", "sweep", "a", "--context=$(touch pwned)"],
            ]
        );
        assert_eq!(fs::read_to_string(folder.path().join("out")).unwrap(), body);
        assert!(folder.path().join("other").exists() && !folder.path().join("pwned").exists());
    }
}
