use std::process::Command;

use super::world;
use crate::harness::Ran;

const COMMANDS: [&str; 13] = [
    "tree",
    "plan",
    "delete",
    "archive",
    "restore",
    "sweep",
    "doctor",
    "explain",
    "watch",
    "resources",
    "snapshot",
    "completion",
    "version",
];

/// Flags that newer kubectls have, or only the kubeconfig has.
const MORE: [&str; 5] =
    ["--as-user-extra=a=b", "--kuberc=x", "--proxy-url=http://127.0.0.1:1", "--profile=trace", "--as_group=x"];

/// The global flags of the kubectl that is installed, each with a value.
fn global_flags() -> Vec<String> {
    let options = Command::new("kubectl").arg("options").output().expect("kubectl is installed").stdout;
    let options = String::from_utf8(options).expect("text");
    let lines = options.lines().map(str::trim).filter(|line| line.starts_with('-') && line.ends_with(':'));
    let flags = lines.flat_map(|line| {
        let (names, default) = line.trim_end_matches(':').split_once('=').expect("a default");
        let default = default.trim_matches('\'');
        let value = if default.is_empty() || default == "[]" { "" } else { default };
        names.split(", ").map(move |name| format!("{name}={value}")).collect::<Vec<_>>()
    });
    flags.collect()
}

/// kubectl flag: all of `kubectl options`, on every command, also with an empty value | same
/// kubectl flag: `--proxy-url` | own: kubectl reads it only from the kubeconfig
/// kubectl flag: `--kuberc` | different: accepted, without effect; preferences are for kubectl's own commands
#[test]
#[ignore = "long: each command with each flag"]
fn every_command_takes_every_global_flag_of_kubectl() {
    let flags = global_flags();
    assert!(flags.len() > 25 && flags.contains(&"-n=".to_owned()), "{flags:?}");
    let more = MORE.map(str::to_owned);
    for command in COMMANDS {
        for flag in flags.iter().chain(&more) {
            let ran = world().gc(&[command, flag, "--help"]);
            assert!(ran.code == Some(0) && ran.stdout.contains("Usage:"), "{command} {flag}: {}", ran.stderr);
        }
    }
    // `options` has all of them, as `kubectl options` does, but for those that are not read.
    let help = world().gc(&["options"]).stdout;
    for flag in flags {
        let name = flag.split('=').next().unwrap_or_default();
        let is_read = !["--vmodule", "--log-flush-frequency"].contains(&name);
        assert_eq!(help.contains(name), is_read, "{name}");
    }
}

/// kubectl flag: `--as`, `--as-group`, `--as-uid`, `--as-user-extra` | same: and refused without `--as`
/// kubectl flag: `--match-server-version` | same: the server must have the version of the kubectl in `PATH`
/// kubectl flag: `--profile`, `--profile-output` | different: accepted, without effect, and that is said
/// kubectl flag: `--vmodule`, `--log-flush-frequency` | different: accepted, and not read
/// kubectl habit: `--dry_run` for `--dry-run`, underscores in flags | same
/// kubectl credential: a token and a password, also if one is in the kubeconfig | refused: as in kubectl
/// kubectl credential: `--insecure-skip-tls-verify` and `--certificate-authority` | refused: as in kubectl
/// kubectl credential: a client certificate without its key | refused: as in kubectl
#[test]
#[ignore = "long: each flag of kubectl"]
fn flags_are_accepted_and_refused_as_in_kubectl() {
    let cluster = world();
    let ca = cluster.folder().join("any.pem").display().to_string();
    std::fs::write(&ca, "").expect("a file");
    let authority = format!("--certificate-authority={ca}");
    let certificate = format!("--client-certificate={ca}");
    let refused: [(&[&str], &str); 11] = [
        (&["--token=x", "--username=u", "--password=p"], "more than one authentication method"),
        (&["--username=u", "--password=p"], "more than one authentication method"),
        (&["--insecure-skip-tls-verify", &authority], "not allowed"),
        (&["--as-uid=1"], "without impersonating a user"),
        (&["--as-group=g"], "without impersonating a user"),
        (&["--profile=some"], "some"),
        (&["--match-server-version"], "differs from client version"),
        (&["--request-timeout=soon"], "time"),
        (&["-v=much"], "much"),
        (&["--context=none"], "none"),
        (&["--nothing"], "nothing"),
    ];
    let both = |flags: &[&str]| -> (Ran, Ran) {
        let theirs = cluster.kubectl(&[&["get", "namespaces"], flags].concat());
        (theirs, cluster.gc(&[&["tree", "namespaces"], flags].concat()))
    };
    for (flags, why) in refused {
        let (theirs, ours) = both(flags);
        assert!(theirs.code == Some(1) && theirs.stderr.contains(why), "{flags:?}: kubectl: {}", theirs.stderr);
        assert!(ours.code == Some(1) && ours.stderr.contains(why), "{flags:?}: {}", ours.stderr);
    }
    // The words are kube's.
    let (theirs, ours) = both(&[&certificate]);
    assert!(theirs.code == Some(1) && ours.code == Some(1), "{}\n{}", theirs.stderr, ours.stderr);
    assert!(ours.stderr.contains("failed to load client key"), "{}", ours.stderr);
    let accepted: [&[&str]; 14] = [
        &["--as=someone", "--as-group=system:masters", "--as-uid=1"],
        &["--v=-1"],
        &["-v", "0"],
        &["--vmodule=a=1,b=2", "--log-flush-frequency=1s"],
        &["--profile=none", "--profile-output=x"],
        &["--insecure-skip-tls-verify=true"],
        &["--insecure_skip_tls_verify=true"],
        &["--match-server-version=false"],
        &["--cache-dir=/nonexistent/cache"],
        &["--request-timeout=10"],
        &["--request_timeout", "1m"],
        &["--disable-compression"],
        &["-n=default"],
        &["-ndefault"],
    ];
    for flags in accepted {
        let (theirs, ours) = both(flags);
        assert_eq!((theirs.code, ours.code), (Some(0), Some(0)), "{flags:?}: {}\n{}", theirs.stderr, ours.stderr);
    }
    let ours = cluster.gc(&["tree", "namespaces", "--profile=cpu"]);
    assert!(ours.code == Some(0) && ours.stderr.contains("--profile=cpu has no effect"), "{}", ours.stderr);
    let extra = ["--as=someone", "--as-group=system:masters", "--as-user-extra=example.com/a=b=c", "-v7"];
    let ours = cluster.gc(&[&["tree", "namespaces"], &extra[..]].concat());
    assert!(ours.code == Some(0) && ours.stderr.contains("Impersonate-Extra-Example.com%2fa: b=c"), "{}", ours.stderr);
}
