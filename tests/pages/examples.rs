//! The examples on the pages of `docs/commands/`: what is run, on which dump or cluster, and where to read on.

/// What a page shows besides the command's own help.
pub struct Page {
    pub command: &'static str,
    pub examples: &'static [Example],
    /// Where to read on: a page, and what it says.
    pub see: &'static [(&'static str, &'static str)],
}

/// Some commands, and a sentence about them. A command with `--from`, or one that needs no cluster, is run by
/// `tests/cli/page.rs`; every other one by `tests/cluster/page.rs`.
pub struct Example {
    pub says: &'static str,
    pub commands: &'static [&'static str],
}

const fn example(says: &'static str, commands: &'static [&'static str]) -> Example {
    Example { says, commands }
}

const RULES: (&str, &str) = ("../rules.md", "the rules that decide, each with its source and its test");
const HOW: (&str, &str) = ("../how-collection-works.md", "owners, dependents, policies and finalizers");
const SCHEMA: (&str, &str) = ("../schema", "the JSON Schemas of all documents");
const FINDINGS: (&str, &str) = ("../findings.md", "every finding: what it means, and what mends it");
const RECIPES: (&str, &str) = ("../recipes.md", "a gate in CI, Argo CD, k9s, envtest, an incident");
const RESTORE: (&str, &str) = ("../restore.md", "what can be restored, and what can't");
const HOLD: (&str, &str) = ("../hold.md", "a delete that waits: what it protects, and how it is taken back");
const ARCHIVE: (&str, &str) = ("../archive.md", "what an archive contains");

/// The pages, in the order of the help.
pub const PAGES: [Page; 16] = [
    Page {
        command: "tree",
        examples: &[
            example(
                "What belongs to the shop. On a cluster, READY, STATUS and AGE stand beside each object.",
                &["kubectl gc tree shop/main -n shop --example"],
            ),
            example("Upwards: why does this pod exist?", &["kubectl gc tree pod/db-0 -n shop --owners --example"]),
            example(
                "Only some types, and what leads to them, with a column for a label.",
                &["kubectl gc tree -n shop --include-types pods,pvc -L app --example"],
            ),
            example(
                "For other programs.",
                &[
                    "kubectl gc tree sts/db -n shop -o name --example",
                    "kubectl gc tree sts/db -n shop -o custom-columns=KIND:.kind,NAME:.name --example",
                ],
            ),
        ],
        see: &[HOW, SCHEMA],
    },
    Page {
        command: "plan",
        examples: &[
            example(
                "A foreground delete that gets stuck: the verdict, each object, and what to do.",
                &["kubectl gc plan deploy/web -n shop --propagation=foreground --example", "echo $?"],
            ),
            example(
                "Data is lost, too: the claims go with the StatefulSet. `--keep` keeps them.",
                &["kubectl gc plan sts/db -n shop --example", "kubectl gc plan sts/db -n shop --keep pvc --example"],
            ),
            example(
                "Gates, for scripts.",
                &[
                    "kubectl gc plan shop/main -n shop --deny=pvc --max=10 --example | head -4",
                    "kubectl gc plan service/web -n shop --deny=pvc --max=10 --example",
                    "echo $?",
                ],
            ),
            example(
                "Without a target: what would deleting each root do? The worst comes first.",
                &["kubectl gc plan -A --example"],
            ),
            example(
                "Before a backup is applied, or restored by another tool: its owners have other uids now, and the \
                 collector deletes at once what names the old ones.",
                &["kubectl gc plan --apply -f examples/backup.yaml --example", "echo $?"],
            ),
            example(
                "The same file with its owner references mended; what was changed goes to standard error.",
                &["kubectl gc plan --apply -f examples/backup.yaml --fix --example"],
            ),
        ],
        see: &[HOW, RULES, RECIPES, SCHEMA],
    },
    Page {
        command: "delete",
        examples: &[
            example(
                "On a terminal, it asks before it deletes. `--yes` is for scripts.",
                &["kubectl gc delete sts/db -n team --yes"],
            ),
            example(
                "A gate, and nothing is deleted.",
                &["kubectl gc delete sts/db -n team --deny=pods --yes", "echo $?"],
            ),
            example(
                "A finalizer that nobody removes: what is left is reported, with what blocks it.",
                &["kubectl gc delete cm/settings -n team --yes --propagation=foreground", "echo $?"],
            ),
            example("A delete that waits, and then goes on.", &["kubectl gc delete sts/db -n team --yes --hold=2s"]),
            example(
                "Every object that goes is archived first.",
                &["kubectl gc delete sts/db -n team --yes --archive=db.yaml"],
            ),
        ],
        see: &[HOW, HOLD, ARCHIVE, RECIPES, SCHEMA],
    },
    Page {
        command: "cancel",
        examples: &[example(
            "A delete that was a mistake: it waits, and is taken back. The Pods keep running.",
            &[
                "kubectl gc delete sts/db -n team --yes --hold=10m --wait=false",
                "kubectl gc cancel sts/db -n team --yes",
            ],
        )],
        see: &[HOLD, RESTORE, SCHEMA],
    },
    Page {
        command: "archive",
        examples: &[example(
            "Everything that a delete would remove, and whether the file is as it was written.",
            &["kubectl gc archive sts/db -n team db.yaml", "kubectl gc tree --from db.yaml -n team"],
        )],
        see: &[ARCHIVE, RESTORE],
    },
    Page {
        command: "restore",
        examples: &[
            example(
                "What would be created, and what is left to its controller.",
                &["kubectl gc restore db.yaml --dry-run"],
            ),
            example("Into another namespace.", &["kubectl gc restore db.yaml -n team-copy --yes"]),
        ],
        see: &[RESTORE, ARCHIVE, SCHEMA],
    },
    Page {
        command: "sweep",
        examples: &[
            example(
                "What the collector would do, if one were running.",
                &["kubectl gc sweep --dry-run --example=leftovers"],
            ),
            example("Limited to a namespace.", &["kubectl gc sweep --dry-run -n elsewhere --example=leftovers"]),
            example("The rights of a sweep that runs like the controller.", &["kubectl gc sweep --watch --print-role"]),
        ],
        see: &[("../sweep.md", "what a sweep does, what it never does, and its metrics"), RECIPES],
    },
    Page {
        command: "doctor",
        examples: &[
            example(
                "What is wrong in one namespace, what follows, and the remedy with the least harm.",
                &["kubectl gc doctor -n elsewhere --example=leftovers"],
            ),
            example("A line for each finding.", &["kubectl gc doctor -o oneline --example=leftovers", "echo $?"]),
            example(
                "Only errors of one kind, for a program.",
                &["kubectl gc doctor --only=owner-absent -o name --example=leftovers"],
            ),
        ],
        see: &[FINDINGS, RECIPES, SCHEMA],
    },
    Page {
        command: "explain",
        examples: &[
            example(
                "Why is it still there? It waits, down to the finalizer of another object.",
                &["kubectl gc explain cronjob/backup -n shop --example=leftovers"],
            ),
            example(
                "What keeps an object, and what would change that?",
                &["kubectl gc explain cm/shop-settings -n shop --example"],
            ),
        ],
        see: &[HOW, RULES, FINDINGS, SCHEMA],
    },
    Page { command: "tui", examples: &[], see: &[HOW, FINDINGS] },
    Page {
        command: "watch",
        examples: &[example(
            "Until an object and its dependents are gone. Meanwhile, somebody else deletes it.",
            &["kubectl gc watch cm/settings -n team --until-gone"],
        )],
        see: &[HOW, ("../schema/watch-event.json", "the JSON Schema of a line")],
    },
    Page {
        command: "reclaim",
        examples: &[
            example(
                "What goes, when and why. A dump tells its own time: the latest in it.",
                &["kubectl gc reclaim -A --example=old"],
            ),
            example(
                "Only what goes soon, in one namespace, and what stays though one might expect it to go.",
                &["kubectl gc reclaim -n shop --within 1h --never --example=old"],
            ),
            example(
                "Only some types, with rules and controllers, as of another time.",
                &["kubectl gc reclaim jobs,replicasets -n shop -o wide --at 2026-03-01T12:30:00Z --from \
                    examples/old.yaml"],
            ),
        ],
        see: &[("../rules.md#section-12", "the rules, each with its source and its test"), HOW, SCHEMA],
    },
    Page {
        command: "resources",
        examples: &[example(
            "Which resources does the collector watch, and why not the others?",
            &["kubectl gc resources --example"],
        )],
        see: &[("../rules.md#section-2", "what the collector watches")],
    },
    Page {
        command: "snapshot",
        examples: &[example(
            "A file, and a look into it.",
            &["kubectl gc snapshot -n team -o team.json.gz", "kubectl gc tree -n team --from team.json.gz"],
        )],
        see: &[("../../examples/README.md", "dumps to try the commands on")],
    },
    Page {
        command: "completion",
        examples: &[example(
            "For PowerShell, which has no folder for such scripts.",
            &["kubectl gc completion powershell | head -3"],
        )],
        see: &[("../kubectl.md", "what is as in kubectl, and what isn't")],
    },
    Page {
        command: "version",
        examples: &[example("", &["kubectl gc version", "kubectl gc version -o json"])],
        see: &[("../versions.md", "the versions of Kubernetes that are tested")],
    },
];
