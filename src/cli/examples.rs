//! The examples in the help of each command. `tests/cli/examples.rs` runs them.

/// What an example does, and its command line after `kubectl gc`.
pub type Example = (&'static str, &'static str);

/// The examples of each command.
pub const EXAMPLES: [(&str, &[Example]); 16] = [
    (
        "tree",
        &[
            ("Everything in a namespace", "tree namespace/shop"),
            ("What belongs to a Deployment", "tree deployment/web -n shop"),
            ("Upwards: why does this Pod exist?", "tree pod/db-0 -n shop --owners"),
            ("Only Pods and claims, and what leads to them", "tree -n shop --include-types=pods,pvc"),
            ("A picture to hand round", "tree -n shop -o svg"),
        ],
    ),
    (
        "plan",
        &[
            ("What goes with a Deployment, and what hangs?", "plan deployment/web -n shop --cascade=foreground"),
            ("What goes with a namespace, and which data?", "plan namespace/shop"),
            ("Keep the claims of a StatefulSet", "plan statefulset/db -n shop --keep=pvc"),
            (
                "In a script: exit code 2 if data is lost, or too much goes",
                "plan shop/main -n shop --deny=pvc --max=10",
            ),
            ("Which delete would do the most harm?", "plan -A"),
        ],
    ),
    (
        "delete",
        &[
            ("Show the plan, ask, delete, and follow it to the end", "delete deployment/web -n shop"),
            ("The same, with every object in a file first", "delete statefulset/db -n shop --archive=db.yaml"),
            ("Wait ten minutes, in which cancel takes it back", "delete deployment/web -n shop --hold=10m"),
            ("In a script, and never with data", "delete deployment/web -n shop --yes --deny-effect=data-loss"),
            ("Only look, and ask the API server too", "delete namespace/shop --dry-run=server"),
        ],
    ),
    (
        "cancel",
        &[
            ("Take back a delete that waits", "cancel deployment/web -n shop"),
            ("Several, without a question", "cancel deployment/web statefulset/db -n shop --yes"),
        ],
    ),
    (
        "archive",
        &[
            ("Save what a delete would remove", "archive statefulset/db -n shop db.yaml"),
            ("All that is in a namespace, compressed", "archive namespace/shop shop.yaml.gz"),
        ],
    ),
    (
        "restore",
        &[
            ("What would be created?", "restore db.yaml --dry-run"),
            ("Create it again", "restore db.yaml"),
            ("Into another namespace", "restore db.yaml -n shop-copy"),
        ],
    ),
    (
        "sweep",
        &[
            ("What would the collector do?", "sweep --dry-run"),
            ("One pass over a namespace, after a question", "sweep -n shop"),
            ("Keep on, like the controller", "sweep --watch"),
            ("The rights that this needs", "sweep --watch --print-role"),
        ],
    ),
    (
        "doctor",
        &[
            ("What is wrong in the cluster, and what mends it?", "doctor"),
            ("In one namespace", "doctor -n shop"),
            ("About one object", "doctor cronjob/backup -n shop"),
            ("A line for each finding, for a script", "doctor -o oneline --fail-on=warning"),
            ("All that it can find", "doctor --list-codes"),
        ],
    ),
    (
        "explain",
        &[
            ("Why is it still Terminating?", "explain cronjob/backup -n shop"),
            ("What does a namespace wait for?", "explain namespace/shop"),
            ("Which owners keep it?", "explain configmap/shop-settings -n shop"),
        ],
    ),
    (
        "tui",
        &[
            ("Walk through a namespace", "tui -n shop"),
            ("Through all namespaces of a dump", "tui -A --from cluster.yaml"),
        ],
    ),
    (
        "watch",
        &[
            ("What goes in a namespace, and why, until Ctrl-C", "watch -n shop"),
            ("Until an object is gone", "watch deployment/web -n shop --until-gone"),
            ("A line of JSON for each event, for five minutes", "watch -A --timeout=5m -o json"),
        ],
    ),
    (
        "reclaim",
        &[
            ("What will the cluster remove by itself, and when?", "reclaim -A"),
            ("Only what goes soon, and what stays for ever", "reclaim -n shop --within=1h --never"),
            ("With rules and controllers", "reclaim jobs,replicasets -n shop -o wide"),
        ],
    ),
    (
        "resources",
        &[
            ("What can be deleted, and what does the collector watch?", "resources"),
            ("The number of objects of each kind", "resources --count"),
        ],
    ),
    (
        "snapshot",
        &[
            ("The cluster's metadata in a file, for --from", "snapshot -o cluster.json.gz"),
            ("Of one namespace", "snapshot -n shop -o shop.json.gz"),
        ],
    ),
    (
        "completion",
        &[
            ("For all shells that are here, and for kubectl", "completion install"),
            ("Only print it", "completion bash"),
        ],
    ),
    ("version", &[("For people", "version"), ("For programs", "version -o json")]),
];

/// The examples of a command as its help shows them.
pub(super) fn of(command: &str) -> String {
    let examples = EXAMPLES.iter().filter(|(name, _)| *name == command).flat_map(|(_, examples)| *examples);
    // These are for people to read: nothing in them comes from a cluster.
    let lines = examples.map(|(what, line)| ["  # ", what, "\n  kubectl gc ", line, "\n"].concat());
    format!("Examples:\n{}", lines.collect::<String>())
}
