//! The examples in the help of each command. `tests/cli/examples.rs` and `tests/cluster/page.rs` run them.

/// What an example does, and its command line after `kubectl gc`.
pub type Example = (&'static str, &'static str);

/// The examples of all commands; each line begins with its command.
pub const EXAMPLES: &[Example] = &[
    ("Everything in a namespace", "tree namespace/shop"),
    ("What belongs to a Deployment", "tree deployment/web -n shop"),
    ("Upwards: why does this Pod exist?", "tree pod/db-0 -n shop --owners"),
    ("Only Pods and claims, and what leads to them", "tree -n shop --include-types=pods,pvc"),
    ("A picture to hand round", "tree -n shop -o svg"),
    ("What goes with a Deployment, and what hangs?", "plan deployment/web -n shop --cascade=foreground"),
    ("What goes with a namespace, and which data?", "plan namespace/shop"),
    ("Keep the claims of a StatefulSet", "plan statefulset/db -n shop --keep=pvc"),
    ("In a script: exit code 2 if data is lost, or too much goes", "plan shop/main -n shop --deny=pvc --max=10"),
    ("Which delete would do the most harm?", "plan -A"),
    ("Show the plan, ask, delete, and follow it to the end", "delete deployment/web -n shop"),
    ("The same, with every object in a file first", "delete statefulset/db -n shop --archive=db.yaml"),
    ("Wait ten minutes, in which cancel takes it back", "delete deployment/web -n shop --hold=10m"),
    ("In a script, and never with data", "delete deployment/web -n shop --yes --deny-effect=data-loss"),
    ("Only look, and ask the API server too", "delete namespace/shop --dry-run=server"),
    ("Take back a delete that waits", "cancel deployment/web -n shop"),
    ("What would that create again?", "cancel deployment/web -n shop --dry-run"),
    ("Several, without a question", "cancel deployment/web statefulset/db -n shop --yes"),
    ("The rights that this needs", "cancel deployment/web -n shop --print-role"),
    ("Save what a delete would remove", "archive statefulset/db -n shop db.yaml"),
    ("All that is in a namespace, compressed", "archive namespace/shop shop.yaml.gz"),
    ("All that have a label, and what goes with them", "archive deployments -l app=web -n shop web.yaml"),
    ("The object alone: its dependents stay", "archive deployment/web -n shop web.yaml --cascade=orphan"),
    ("What would be created?", "restore db.yaml --dry-run"),
    ("Create it again", "restore db.yaml"),
    ("Into another namespace", "restore db.yaml -n shop-copy"),
    ("Only one object and what is below it", "restore shop.yaml.gz deployment/web"),
    ("What would the collector do?", "sweep --dry-run"),
    ("One pass over a namespace, after a question", "sweep -n shop"),
    ("Keep on, like the controller", "sweep --watch"),
    ("The rights that this needs", "sweep --watch --print-role"),
    ("What is wrong in the cluster, and what mends it?", "doctor"),
    ("In one namespace", "doctor -n shop"),
    ("About one object", "doctor cronjob/report -n shop"),
    ("A line for each finding, for a script", "doctor -o oneline --fail-on=warning"),
    ("All that it can find", "doctor --list-codes"),
    ("Why is it still there, or still Terminating?", "explain cronjob/report -n shop"),
    ("What does a namespace wait for?", "explain namespace/shop"),
    ("Which owners keep it?", "explain configmap/shop-settings -n shop"),
    ("With the rules behind each answer", "explain pod/db-0 -n shop -o wide"),
    ("Walk through a namespace", "tui -n shop"),
    ("Without a cluster", "tui --example"),
    ("Through all namespaces of a dump", "tui -A --from cluster.yaml"),
    ("From one object down", "tui deployment/web -n shop"),
    ("What goes in a namespace, and why, until Ctrl-C", "watch -n shop"),
    ("Until an object is gone", "watch deployment/web -n shop --until-gone"),
    ("Only Pods with a label", "watch pods -l app=web -n shop"),
    ("A line of JSON for each event, for five minutes", "watch -A --timeout=5m -o json"),
    ("What will the cluster remove by itself, and when?", "reclaim -A"),
    ("Only what goes soon, and what stays for ever", "reclaim -n shop --within=1h --never"),
    ("As of another time, for a script", "reclaim -A --at=2026-12-01T00:00:00Z -o json"),
    ("With rules and controllers", "reclaim jobs,replicasets -n shop -o wide"),
    ("What can be deleted, and what does the collector watch?", "resources"),
    ("The number of objects of each kind", "resources --count"),
    ("With verbs, short names and categories", "resources -o wide"),
    ("Only the names, for a script", "resources -o name"),
    ("The cluster's metadata in a file, for --from", "snapshot -o cluster.json.gz"),
    ("Of one namespace", "snapshot -n shop -o shop.json.gz"),
    ("In place of an older one", "snapshot -o cluster.json.gz --force"),
    ("The rights that this needs", "snapshot --print-role"),
    ("For all shells that are here, and for kubectl", "completion install"),
    ("Only print it, for bash", "completion bash"),
    ("For zsh", "completion zsh"),
    ("For PowerShell", "completion powershell"),
    ("For people", "version"),
    ("For programs", "version -o json"),
];

/// The examples of a command as its help shows them.
pub(super) fn of(command: &str) -> String {
    let examples = EXAMPLES.iter().filter(|(_, line)| line.split(' ').next() == Some(command));
    // These are for people to read: nothing in them comes from a cluster.
    let lines = examples.map(|(what, line)| ["  # ", what, "\n  kubectl gc ", line, "\n"].concat());
    format!("Examples:\n{}", lines.collect::<String>())
}
