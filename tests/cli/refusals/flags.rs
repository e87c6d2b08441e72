//! Contradictory flags and invalid values.

use super::{describe, finish, first_line, gc, on_shop, program};

/// R1.41: kubectl refuses these, too.
#[test]
fn contradictions() {
    for (args, error) in [
        (&["--now", "--grace-period", "5"][..], "--now and --grace-period contradict each other: use one of them"),
        (&["--now", "--grace-period=0"], "--now and --grace-period contradict each other: use one of them"),
        (
            &["--force", "--grace-period", "5"],
            "--force means no grace period: it cannot be used with --now or a --grace-period above 0",
        ),
        (
            &["--force", "--now"],
            "--force means no grace period: it cannot be used with --now or a --grace-period above 0",
        ),
        (&["-l", "app=web"], "-l selects among all objects of a type, \"web\" is one object: use one or the other"),
        (&["-f", "-"], "\"deploy/web\" cannot be used with -f, which names its objects: leave one out"),
    ] {
        assert_eq!(describe(&on_shop(&[&["plan", "deploy/web"], args].concat())), error, "{args:?}");
    }
    assert_eq!(
        describe(&gc(&["plan", "-f", "-", "--from", "-"])),
        "standard input cannot be both --from and -f: use a file for one of them"
    );
}

/// Gates need one delete to judge, and a gate with an unknown type would never trigger: both errors are reported before
/// any input is read.
#[test]
fn gates_without_a_target_or_a_type() {
    for args in [&["--deny=pods"][..], &["--max=3", "-A"], &["--deny=nope", "--from", "nowhere.yaml"]] {
        let error = "--deny, --deny-effect, --max and --fail-on need a TARGET, such as deployment/web";
        assert_eq!(describe(&gc(&[&["plan"], args].concat())), error, "{args:?}");
    }
    for (deny, error) in [
        ("deploymnts", "the server has no resource type \"deploymnts\"; did you mean deployments?"),
        ("pods,confgmaps", "the server has no resource type \"confgmaps\"; did you mean configmaps?"),
        ("pods,", "a value is required for '--deny <TYPE>' but none was supplied\nFor more information, try '--help'."),
    ] {
        assert_eq!(describe(&on_shop(&["plan", "deploy/web", "--deny", deny])), error, "{deny}");
    }
    // A command that fails exits with 1, regardless of the gates.
    assert_eq!(describe(&on_shop(&["plan", "ns/default", "--max=0"])), "namespaces \"default\" not found");
}

/// If `--keep` can't be fulfilled, there is no plan: the error lists every object, each with its reason.
#[test]
fn what_can_not_be_kept() {
    assert_eq!(describe(&gc(&["plan", "--keep=pods"])), "--keep needs a TARGET, such as deployment/web");
    let goes = "its namespace shop is deleted with everything in it; recreate it in another namespace, or do \
        not delete the namespace";
    let target = "it is a target of this delete; leave it out of the TARGETs, or narrow --keep";
    for (line, error) in [
        (
            "ns/shop --keep cm/shop-settings -n shop",
            format!("--keep: ConfigMap/shop-settings -n shop can't be kept: {goes}"),
        ),
        ("deploy/api -n shop --keep -lapp=api", format!("--keep: Deployment/api -n shop can't be kept: {target}")),
        (
            "crd/shops.acme.io --keep shops",
            "--keep: Shop/main -n shop can't be kept: its CRD shops.acme.io is deleted with all its \
             instances; do not delete the CRD"
                .to_owned(),
        ),
        (
            "pvc/data-db-0 -n shop --keep pv",
            "--keep: PersistentVolume/pvc-adede329-16dc-4dad-9af2-55bbee80aba6 can't be kept: it is deleted \
             because PersistentVolumeClaim/data-db-0 is, not because of an owner reference; removing references \
             does not save it"
                .to_owned(),
        ),
        ("deploy/api -n shop --keep pod/nobody", "pods \"nobody\" not found in namespace \"shop\"".to_owned()),
        (
            "deploy/api -n shop --keep pds",
            "the server has no resource type \"pds\"; did you mean pods, daemonsets, poddisruptionbudgets?".to_owned(),
        ),
        ("deploy/api -n shop --keep ''", "\"\" lacks a type: write TYPE/NAME, TYPE NAME or TYPE,TYPE".to_owned()),
    ] {
        assert_eq!(describe(&on_shop(&[&["plan"], &super::super::run::words(line)[..]].concat())), error, "{line}");
    }
    // All of which the same is said have one line.
    let ran = on_shop(&["plan", "ns/shop", "--keep=pods"]);
    assert!(ran.code == 1 && ran.out.is_empty(), "{ran}");
    let kept: Vec<&str> = ran.err.lines().filter(|line| line.contains("--keep: Pod/")).collect();
    assert!(matches!(kept.as_slice(), [one] if one.contains(" more can't be kept, each: its namespace shop")), "{ran}");
}

/// What can't be held is known before a cluster is asked.
#[test]
fn a_hold_that_makes_no_sense() {
    for (args, error) in [
        (
            &["--hold=5m", "--cascade=foreground"][..],
            "--hold can't be used with --cascade=foreground: the collector would begin with the dependents",
        ),
        (
            &["--hold=5m", "--propagation=orphan"],
            "--hold can't be used with --cascade=orphan: the collector would free the dependents at once",
        ),
        (&["--hold=soon"], "--hold=soon is not a duration: give one as in kubectl (30s, 5m), or 0 for no limit"),
    ] {
        assert_eq!(describe(&gc(&[&["delete", "deploy/web"], args].concat())), error, "{args:?}");
    }
    for args in [
        &["delete", "deploy/web", "--hold=5m", "--keep=pods"][..],
        &["delete", "deploy/web", "--hold-namespace=shop"],
        &["cancel"],
        &["cancel", "deploy/web", "-o", "wide"],
    ] {
        let ran = gc(args);
        assert!(ran.code == 1 && ran.out.is_empty() && ran.err.starts_with("error: "), "{args:?}: {ran}");
    }
    assert_eq!(describe(&gc(&["cancel", "deploy/web"])), NO_CLUSTER);
}

/// The error if there is no cluster.
const NO_CLUSTER: &str = "no kubeconfig: looked for /nonexistent/home/.kube/config, and this is not inside a pod; set \
    KUBECONFIG or give --kubeconfig";

/// A real sweep needs a cluster; a dump only allows `--dry-run`.
#[test]
fn a_sweep_that_is_no_dry_run() {
    for args in [
        &["sweep"][..],
        &["sweep", "pod/x", "-n", "shop"],
        &["sweep", "-o", "json"],
        &["sweep", "--yes", "--timeout=5m"],
    ] {
        assert_eq!(describe(&gc(args)), NO_CLUSTER, "{args:?}");
    }
    for (args, error) in [
        (&["--dry-run", "-l", "a=b"][..], "-l needs a TYPE, as in: deployments -l …"),
        (&["--dry-run", "-n", "nowhere"], "no namespace \"nowhere\" in the dump, which contains elsewhere, shop"),
        (&["--dry-run", "pod/nobody", "-n", "shop"], "pods \"nobody\" not found in namespace \"shop\""),
        (&[], "--from and --example read files, which cannot be swept: --dry-run shows what a sweep would do"),
    ] {
        assert_eq!(describe(&on_shop(&[&["sweep"], args].concat())), error, "{args:?}");
    }
}

/// Flags that a sweep can't combine, and values that it can't use.
#[test]
fn sweeps_that_make_no_sense() {
    for (line, error) in [
        ("--watch --dry-run", "the argument '--watch' cannot be used with '--dry-run'"),
        ("-w --timeout=5m", "the argument '--watch' cannot be used with '--timeout <TIME>'"),
        ("--watch --assume=none", "the argument '--watch' cannot be used with '--assume <WHAT>'"),
        ("--watch -o json", "the argument '--watch' cannot be used with '--output <FORMAT>'"),
        ("--watch --from examples", "the argument '--watch' cannot be used with '--from <FILE|FOLDER|URL|->'"),
        ("--dry-run --yes", "the argument '--dry-run' cannot be used with '--yes'"),
        ("--dry-run --qps=5", "the argument '--dry-run' cannot be used with '--qps <N>'"),
        ("--dry-run --workers=5", "the argument '--dry-run' cannot be used with '--workers <N>'"),
        ("--dry-run --burst=5", "the argument '--dry-run' cannot be used with '--burst <N>'"),
        ("--dry-run --timeout=5m", "the argument '--dry-run' cannot be used with '--timeout <TIME>'"),
        ("--print-role pod/x", "the argument '--print-role' cannot be used with '[TARGET]...'"),
        ("--print-role --dry-run", "the argument '--print-role' cannot be used with '--dry-run'"),
        ("--print-role --watch --qps=5", "the argument '--print-role' cannot be used with '--qps <N>'"),
        ("--workers=0", "invalid value '0' for '--workers <N>': 0 is not in 1..=1000"),
        ("--burst=0", "invalid value '0' for '--burst <N>': 0 is not in 1..=4294967295"),
        (
            "--qps=NaN",
            "invalid value 'NaN' for '--qps <N>': give a number of requests per second, such as 50 or 0.5, or 0 for no \
                limit",
        ),
    ] {
        let ran = gc(&[&["sweep"], &super::super::run::words(line)[..]].concat());
        assert_eq!(first_line(&ran), error, "{line}");
    }
    for alone in ["--resync=5s", "--metrics-bind-address=:8080"] {
        assert_eq!(
            first_line(&gc(&["sweep", alone])),
            "the following required arguments were not provided:",
            "{alone}"
        );
    }
    for (args, error) in [
        (
            &["--timeout=soon"][..],
            "--timeout=soon is not a duration: give one as in kubectl (30s, 5m), or 0 for no limit",
        ),
        (&["--watch", "--resync=0"], "--resync=0 would never find new resources: give a time as in kubectl (30s, 5m)"),
        (
            &["--watch", "--resync=soon"],
            "--resync=soon is not a duration: give one as in kubectl (30s, 5m), or 0 for no limit",
        ),
        (
            &["--watch", "--metrics-bind-address=8080"],
            "--metrics-bind-address: \"8080\" is not a listen address: give a host and a port, such as :8080, \
             127.0.0.1:8080 or [::1]:8080",
        ),
        (&["--watch"], NO_CLUSTER),
        // `--watch` never asks for confirmation, but scripts may still pass `--yes`.
        (&["--watch", "--yes"], NO_CLUSTER),
    ] {
        assert_eq!(describe(&gc(&[&["sweep"], args].concat())), error, "{args:?}");
    }
}

/// `explain` needs a target.
#[test]
fn a_story_of_nobody() {
    let error = "explain needs a TARGET, such as pod/web-0";
    for args in
        [&["explain"][..], &["explain", "-n", "shop"], &["explain", "-A"], &["explain", "--from", "nowhere.yaml"]]
    {
        assert_eq!(describe(&gc(args)), error, "{args:?}");
    }
    assert_eq!(
        describe(&on_shop(&["explain", "pod/nobody", "-n", "shop"])),
        "pods \"nobody\" not found in namespace \"shop\""
    );
}

/// If `--context prod` is combined with a dump, a warning says that the flag is ignored: the dump is not that cluster.
#[test]
fn a_dump_is_no_cluster() {
    for flag in [
        "--context=prod",
        "--kubeconfig=config",
        "--cluster=c",
        "--user=u",
        "--server=https://localhost",
        "--token=secret",
        "--as=admin",
        "--as-group=admins",
        "--insecure-skip-tls-verify",
    ] {
        for command in [
            &["tree"][..],
            &["plan", "deploy/web"],
            &["sweep", "--dry-run"],
            &["doctor"],
            &["explain", "deploy/api"],
            &["resources"],
            &["resources", "--count"],
        ] {
            let ran = on_shop(&[command, &[flag]].concat());
            let name = flag.split('=').next().unwrap_or_default();
            assert!(ran.code == 0 || ran.code == 2, "{ran}");
            assert!(ran.err.contains(&format!("{name} is ignored: --from reads files, not a cluster.")), "{ran}");
        }
    }
    for harmless in ["--request-timeout=5s", "--context=", "--cache-dir=x", "-v6", "--insecure-skip-tls-verify=false"] {
        let ran = on_shop(&["tree", harmless]);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{harmless}");
    }
    // Environment variables aren't meant for this one command, so they cause no warning.
    assert_eq!(
        finish(program().env("KUBECONFIG", "/nonexistent").args(["tree", "--from", super::super::run::SHOP])).code,
        0
    );
}

/// Before anything is read.
#[test]
fn a_watch_that_ends_with_its_targets_needs_some() {
    assert_eq!(describe(&gc(&["watch", "--until-gone"])), "--until-gone needs a TARGET, such as namespace/shop");
    assert_eq!(
        describe(&gc(&["watch", "--timeout=soon"])),
        "--timeout=soon is not a duration: give one as in kubectl (30s, 5m), or 0 for no limit"
    );
}

#[test]
fn values_that_are_none() {
    for (args, error) in [
        (&["tree", "-o", "xml"][..], "invalid value 'xml' for '--output <FORMAT>'"),
        (&["explain", "pod/x", "-o", "name"], "invalid value 'name' for '--output <FORMAT>'"),
        (&["plan", "-o", "png"], "invalid value 'png' for '--output <FORMAT>'"),
        (&["sweep", "--dry-run", "-o", "remedies"], "invalid value 'remedies' for '--output <FORMAT>'"),
        (&["resources", "-o", "dot"], "invalid value 'dot' for '--output <FORMAT>'"),
        (&["doctor", "--fail-on=info"], "invalid value 'info' for '--fail-on <SEVERITY>'"),
        (&["sweep", "--dry-run", "--propagation=orphan"], "unexpected argument '--propagation' found"),
        (&["plan", "--propagation=sideways"], "invalid value 'sideways' for '--propagation <POLICY>'"),
        (&["plan", "--cascade=sideways"], "invalid value 'sideways' for '--cascade[=<POLICY>]'"),
        (&["tree", "--depth", "-1"], "unexpected argument '-1' found"),
        (&["tree", "--depth", "deep"], "invalid value 'deep' for '--depth <LEVELS>': give a number from 0 up"),
        (
            &["plan", "--grace-period", "soon"],
            "invalid value 'soon' for '--grace-period <SECONDS>': give a number of seconds, or -1 for the pod's own",
        ),
        (&["tree", "--color", "sometimes"], "invalid value 'sometimes' for '--color <WHEN>'"),
        (&["completion", "tcsh"], "invalid value 'tcsh' for '<SHELL>'"),
        (
            &["-n", "shop", "delete", "deploy/web", "--from", "examples"],
            "--from and --example read files, and delete needs a cluster. With files, use `kubectl gc plan`",
        ),
        (&["snapshot", "--from", "examples"], "--from and --example read files, and snapshot needs a cluster"),
        (&["--example"], "--from and --example need a command, such as doctor or plan"),
        (&["plan", "deploy/web", "--dry-run"], "plan changes nothing: leave out --dry-run"),
        (&["plan", "deploy/web", "--example", "--fix"], "--fix needs --apply"),
        (&["plan", "--apply", "deploy/web"], "--apply needs -f FILE or -k FOLDER, and no TARGET"),
        (
            &["plan", "deploy/web,api", "--example"],
            "deployments.apps \"web,api\" not found; a TARGET names one object: write deployments.apps/web \
             deployments.apps/api",
        ),
        (&["plan", "--max=-1"], "invalid value '-1' for '--max <N>': give a number from 0 up"),
        (&["plan", "--deny="], "a value is required for '--deny <TYPE>' but none was supplied"),
        (&["watch", "-o", "yaml"], "invalid value 'yaml' for '--output <FORMAT>'"),
        (&["watch", "--example"], "--from and --example read files, and watch needs a cluster"),
        (&["nope"], "unrecognized subcommand 'nope'"),
        (&["tree", "--nope"], "unexpected argument '--nope' found"),
    ] {
        assert_eq!(first_line(&gc(args)), error, "{args:?}");
    }
    let both = on_shop(&["plan", "deploy/web", "--cascade=orphan", "--propagation=orphan"]);
    assert_eq!(first_line(&both), "the argument '--cascade[=<POLICY>]' cannot be used with '--propagation <POLICY>'");
    assert_eq!(first_line(&gc(&["plan", "--assume-complete"])), "the following required arguments were not provided:");
}
