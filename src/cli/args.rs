//! The raw command line: only its syntax is checked.

use std::{path::PathBuf, sync::Arc};

use clap::{Args, ValueEnum, ValueHint, builder::NonEmptyStringValueParser};

use crate::{
    operations::{
        OperationError, hold::CancelConfig, restore::RestoreRequest, targets::TargetArgs, unread::AllowIncomplete,
        usage,
    },
    render::{document::TemplateOptions, output::Format},
};
use gc_cluster::{act::Mode, bounded::parse_size};
use gc_core::{
    model::effects::Severity,
    plan::{EffectClass, Gates, VerdictResult},
    server::Propagation,
    simulate::Assume,
};

use super::{
    connection::ConnectionArgs,
    values::{
        ASSUMPTIONS, EFFECTS, POLICIES, SEVERITIES, SHELLS, ShellArg, VERDICTS, allow_incomplete, choice, formats,
    },
    verbosity::Warnings,
};

/// The flags of every command.
#[derive(Clone, Debug, Args)]
pub struct GlobalArgs {
    /// Colour the output
    #[arg(
        long,
        value_name = "WHEN",
        value_enum,
        default_value_t,
        global = true,
        display_order = 900,
        hide_short_help = true
    )]
    pub color: ColorArg,
    #[command(flatten)]
    pub connection: ConnectionArgs,
    /// What the server has warned of so far.
    #[arg(skip)]
    pub(super) warnings: Arc<Warnings>,
    /// How the command prints.
    #[arg(skip)]
    pub printing: PrintArgs,
    /// What a command that only reads reads.
    #[arg(skip)]
    pub source: SourceArgs,
    /// Whether only the rights are asked for.
    #[arg(skip)]
    pub print_role: bool,
}

/// [`MAX_INPUT`](gc_cluster::dump::MAX_INPUT) as text.
const DEFAULT_MAX_INPUT: &str = "4Gi";

/// The source of a command that only reads: a cluster, or with `--from` files.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Source")]
pub struct SourceArgs {
    /// Read a dump, snapshot or archive, a folder of them, a URL, or - (standard input) instead of a cluster; may be
    /// repeated
    #[arg(long, value_name = "FILE|FOLDER|URL|-")]
    pub from: Vec<String>,
    /// Read an example instead of a cluster: shop, a small one to try all on, leftovers, old or owners
    // Replaced by --from before clap reads it.
    #[arg(long, value_name = "NAME", num_args = 0..=1, require_equals = true, default_missing_value = "shop")]
    pub example: Option<String>,
    /// Treat the dump as complete: objects that it lacks do not exist
    #[arg(long, requires = "from")]
    pub assume_complete: bool,
    /// Refuse more input than this, decompressed: bytes, or with Ki, Mi, Gi or Ti
    #[arg(long, requires = "from", value_name = "SIZE", value_parser = parse_size, default_value = DEFAULT_MAX_INPUT,
        hide_short_help = true)]
    pub max_input: u64,
}

/// The flags of every command that has `-o`, except `archive` and `snapshot`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Args)]
pub struct PrintArgs {
    /// Output format
    // Which ones there are depends on the command.
    #[arg(short, long, value_name = "FORMAT", ignore_case = true, value_parser = formats(Vec::new()))]
    pub output: Option<Format>,
    /// Print neither the titles of columns nor the first line of a text
    #[arg(long, help_heading = "Output", hide_short_help = true)]
    pub no_headers: bool,
    /// In templates, a missing field is no error
    #[arg(long, help_heading = "Output", value_name = "BOOL", num_args = 0..=1, require_equals = true,
        default_value_t = true, default_missing_value = "true", action = clap::ArgAction::Set,
        hide_short_help = true)]
    pub allow_missing_template_keys: bool,
}

impl PrintArgs {
    pub(super) fn format(self) -> Format {
        self.output.unwrap_or_default()
    }

    pub(super) fn templates(self) -> TemplateOptions {
        TemplateOptions { allow_missing: self.allow_missing_template_keys, titles: !self.no_headers }
    }
}

impl Default for PrintArgs {
    fn default() -> Self {
        PrintArgs { output: None, no_headers: false, allow_missing_template_keys: true }
    }
}

/// The flags of every command that draws.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub struct OpenArgs {
    /// Show the picture in the browser: writes -o html to FILE, or to a temporary file
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, value_hint = ValueHint::FilePath,
        help_heading = "Output", hide_short_help = true)]
    pub open: Option<Option<PathBuf>>,
    #[command(flatten)]
    pub printing: PrintArgs,
}

/// Show owners and dependents as a tree
///
/// Shows the TARGETs with their dependents, or with --owners what owns them; without a TARGET, everything in the
/// namespace. A Namespace stands for what is in it. Marks cycles, and owners that are missing or invalid. Changes
/// nothing.
///
/// Use it to see what belongs together before you touch it, or to find out why an object exists.
#[derive(Debug, Args)]
#[command(after_long_help = "Exit codes: 0 success, whatever it has to tell, 1 the command failed.")]
pub struct TreeArgs {
    #[command(flatten)]
    pub targets: TargetArgs,
    /// Show owners upwards instead of dependents downwards
    #[arg(long)]
    pub owners: bool,
    /// Show at most this many levels below (or above) each target
    #[arg(long, value_name = "LEVELS", value_parser = whole_number)]
    pub depth: Option<usize>,
    /// Show every object instead of folding many similar ones into one line
    #[arg(long)]
    pub no_fold: bool,
    /// Keep watching, and show the tree again whenever something in it changes
    #[arg(short, long, conflicts_with = "from")]
    pub watch: bool,
    /// At least this many seconds between two looks of --watch
    #[arg(long, value_name = "SECONDS", default_value_t = 2, requires = "watch",
        value_parser = clap::value_parser!(u64).range(1..))]
    pub interval: u64,
    /// Walk through it on the screen, as with tui
    #[arg(short, long, conflicts_with_all = ["owners", "depth", "no_fold", "watch", "include_types", "exclude_types",
        "sort_by", "label_columns", "show_labels", "output"])]
    pub interactive: bool,
    /// Show only objects of these types, and what leads to them; TARGETs in any case
    #[arg(long, value_name = "TYPE,…", value_delimiter = ',')]
    pub include_types: Vec<String>,
    /// Leave out objects of these types, and what only they own
    #[arg(long, value_name = "TYPE,…", value_delimiter = ',')]
    pub exclude_types: Vec<String>,
    /// Sort siblings by this field of their metadata, such as .metadata.creationTimestamp or .metadata.labels.app
    #[arg(long, value_name = "JSONPATH")]
    pub sort_by: Option<String>,
    /// Show these labels as columns; may be repeated
    #[arg(short = 'L', long, value_name = "LABEL,…", value_delimiter = ',')]
    pub label_columns: Vec<String>,
    /// Show all labels as the last column
    #[arg(long)]
    pub show_labels: bool,
    #[command(flatten)]
    pub open: OpenArgs,
}

/// Predict what a delete does to every object, and why
///
/// Simulates the delete of the TARGETs by the rules of the API server, the garbage collector and the built-in
/// controllers: which objects are deleted, which are kept, which get stuck and behind what, and what is lost outside
/// the cluster. Without a TARGET, it shows the result of deleting each root, which is an object without owners (--all:
/// also the many whose delete does little). Changes nothing.
///
/// With --apply -f FILE, it predicts kubectl apply of a file instead: which of its objects the garbage collector
/// deletes at once, because their owner references lead nowhere. --fix prints the file with these mended.
///
/// Use it before a delete that you are not sure of, before a backup is applied, and in scripts: a gate (--deny,
/// --deny-effect, --max, --fail-on) makes it exit with code 2.
#[derive(Debug, Args)]
pub struct PlanArgs {
    #[command(flatten)]
    pub targets: TargetArgs,
    #[command(flatten)]
    pub apply: ApplyArgs,
    #[command(flatten)]
    pub propagation: PropagationArgs,
    #[command(flatten)]
    pub grace: GraceArgs,
    #[command(flatten)]
    pub keep: KeepArgs,
    #[command(flatten)]
    pub gates: GateArgs,
    /// Walk through it on the screen, as with tui
    #[arg(short, long, conflicts_with_all = [
        "grace_period", "now", "force", "keep", "deny", "deny_effect", "max", "fail_on", "assume", "output",
    ])]
    pub interactive: bool,
    /// Ignore TARGETs that do not exist
    #[arg(long, hide_short_help = true)]
    pub ignore_not_found: bool,
    #[command(flatten)]
    pub assumed: AssumeArgs,
    #[command(flatten)]
    pub open: OpenArgs,
}

/// What a prediction assumes.
#[derive(Clone, Copy, Debug, Args)]
pub struct AssumeArgs {
    /// What other controllers are assumed to do: known ones remove their finalizers, or none does
    #[arg(long, value_name = "WHAT", value_parser = choice(ASSUMPTIONS), default_value = "known",
        hide_short_help = true)]
    pub assume: Assume,
}

/// What is applied, instead of deleted.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct ApplyArgs {
    /// Predict kubectl apply of what -f or -k names, not a delete: what the garbage collector deletes at once
    #[arg(long, help_heading = "Apply", conflicts_with_all = [
        "targets", "selector", "field_selector", "all", "all_namespaces", "propagation", "cascade", "grace_period",
        "now", "force", "keep", "deny", "deny_effect", "max", "interactive", "open",
    ])]
    pub apply: bool,
    /// Print the file with its owner references mended, as YAML or with -o json as JSON
    #[arg(long, help_heading = "Apply", requires = "apply")]
    pub fix: bool,
}

/// The objects that a delete keeps.
#[derive(Clone, Debug, Default, Args)]
pub struct KeepArgs {
    /// Keep these dependents: TYPE/NAME, TYPE, or labels (-l LABELS or LABELS); their references to deleted owners
    /// are removed first; may be repeated
    #[arg(long, help_heading = "Deletion", value_name = "TYPE/NAME|TYPE|LABELS", allow_hyphen_values = true)]
    pub keep: Vec<String>,
}

fn whole_number(text: &str) -> Result<usize, &'static str> {
    text.parse().map_err(|_| "give a number from 0 up")
}

fn seconds(text: &str) -> Result<i64, &'static str> {
    text.parse().map_err(|_| "give a number of seconds, or -1 for the pod's own")
}

/// The limits of a delete.
#[derive(Clone, Debug, Default, Args)]
pub struct GateArgs {
    /// Refuse with exit code 2 if any object of these types would be deleted
    #[arg(long, help_heading = "Gates", value_name = "TYPE", value_delimiter = ',',
        value_parser = NonEmptyStringValueParser::new())]
    pub deny: Vec<String>,
    /// Refuse with exit code 2 if the delete has such an effect, or may have: data-loss (data is lost), external (a
    /// load balancer, a cloud's resource, what an add-on manages), unknown
    #[arg(long, help_heading = "Gates", value_name = "EFFECT", value_parser = choice(EFFECTS), value_delimiter = ',')]
    pub deny_effect: Vec<EffectClass>,
    /// Refuse with exit code 2 if more objects than this would be deleted, not counting events
    #[arg(long, help_heading = "Gates", value_name = "N", value_parser = whole_number)]
    pub max: Option<usize>,
    /// Refuse with exit code 2 for this verdict or one that stands before it [plan: depends; delete: none]
    #[arg(long, help_heading = "Gates", value_name = "VERDICT", value_parser = choice(VERDICTS))]
    pub fail_on: Option<Worst<VerdictResult>>,
}

impl GateArgs {
    /// Whether any gate is given.
    pub fn any(&self) -> bool {
        !self.deny.is_empty() || !self.deny_effect.is_empty() || self.max.is_some() || self.fail_on.is_some()
    }

    /// Whether this verdict is bad news: the given one or a worse one, else one that can't be taken back or does not
    /// end by itself.
    pub fn fails_at(&self, verdict: VerdictResult) -> bool {
        match self.fail_on {
            None => verdict <= VerdictResult::Depends,
            Some(worst) => worst.is_some_and(|worst| verdict <= worst),
        }
    }

    /// The gates, as they are given again.
    pub fn flags(&self) -> Vec<String> {
        let effects: Vec<&str> = self.deny_effect.iter().map(|class| class.name()).collect();
        let joined = |flag: &str, values: String| (!values.is_empty()).then(|| format!("{flag}={values}"));
        let deny = joined("--deny", self.deny.join(",")).into_iter().chain(joined("--deny-effect", effects.join(",")));
        let fail_on = self.fail_on.flatten().map(|verdict| format!("--fail-on={}", verdict.name()));
        deny.chain(self.max.map(|max| format!("--max={max}"))).chain(fail_on).collect()
    }

    /// The gates, whose types are not resolved yet.
    pub fn named(&self) -> Gates<String> {
        Gates {
            deny: self.deny.clone(),
            deny_effects: self.deny_effect.clone(),
            max: self.max,
            fail_on: self.fail_on.flatten(),
        }
    }
}

/// Whether to carry out a delete, and whether to ask before.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct ConsentArgs {
    /// Only show what would happen; `server` also sends the requests to the API server as a dry run
    #[arg(
        long,
        value_name = "WHERE",
        value_enum,
        num_args = 0..=1,
        require_equals = true,
        default_value_t,
        default_missing_value = "client",
        hide_default_value = true
    )]
    pub dry_run: Mode,
    /// Do not ask
    #[arg(short, long)]
    pub yes: bool,
}

/// Take back a delete that waits
///
/// Takes back what delete --hold has deleted and not let go yet: keeps the dependents of the TARGETs, creates the
/// TARGETs again, and gives their dependents references to them. Nothing below a TARGET is restarted. Works from
/// anywhere, also if the program that holds is gone, and can be run again after an interruption.
///
/// Use it if the delete was a mistake. What is deleted already comes back with restore, from an archive.
#[derive(Debug, Args)]
#[command(
    after_long_help = "Exit codes: 0 success, 1 the command failed, or no delete waits, 2 something is not taken \
    back, or its delete had gone on."
)]
pub struct CancelArgs {
    #[command(flatten)]
    pub config: CancelConfig,
    /// Only show what would happen
    #[arg(long)]
    pub dry_run: bool,
    /// Do not ask
    #[arg(short, long)]
    pub yes: bool,
    #[command(flatten)]
    pub printing: PrintArgs,
}

/// Write the objects a delete would remove into a file
///
/// Writes every complete object that a delete of the TARGETs would remove into FILE: YAML for kubectl and for restore,
/// compressed if FILE ends in .gz. Objects that are already Terminating can be archived, too.
///
/// Use it before a delete that you may regret, also if another program deletes.
#[derive(Debug, Args)]
#[command(override_usage = "kubectl gc archive [OPTIONS] TARGET... FILE")]
pub struct ArchiveArgs {
    #[command(flatten)]
    pub targets: TargetArgs,
    #[command(flatten)]
    pub propagation: PropagationArgs,
    #[command(flatten)]
    pub assumed: AssumeArgs,
    /// Archive even if deleted objects could not all be read, and say so in the archive; TYPEs allow only these
    #[arg(long, value_name = "TYPE,…", num_args = 0..=1, require_equals = true, default_value = "false",
        default_missing_value = "true", hide_default_value = true, value_parser = allow_incomplete)]
    pub allow_incomplete: AllowIncomplete,
}

/// Restore archived objects
///
/// Creates the objects in ARCHIVE that the cluster lacks: namespaces, then CRDs, then owners before their dependents,
/// whose owner references get the new uids. Compares existing objects and does not change them. Can be run again after
/// an interruption.
///
/// TARGETs restore only these objects and their dependents. -n restores into another namespace.
///
/// Use it after a delete that should not have happened, or to copy an application.
#[derive(Debug, Args)]
#[command(
    after_long_help = "Exit codes: 0 success, 1 the command failed or was interrupted, 2 some objects could not be \
        restored."
)]
pub struct RestoreArgs {
    /// A file written by archive or delete --archive
    #[arg(value_name = "ARCHIVE")]
    pub archive: std::path::PathBuf,
    #[command(flatten)]
    pub request: RestoreRequest,
    #[command(flatten)]
    pub consent: ConsentArgs,
    #[command(flatten)]
    pub printing: PrintArgs,
}

/// Find problems with owners and deletions, and how to fix them
///
/// Finds owner references to missing objects, ownership cycles, stuck deletions, deletions that start when a controller
/// or API comes back, and signs that the garbage collector does not work. Each finding says what is wrong, what
/// follows, and which kubectl command fixes it with the least harm. On a live cluster, findings are checked again
/// before they are reported.
///
/// Covers the whole cluster unless -n NAMESPACE or TARGETs limit which findings are reported; it always reads
/// everything that matters.
///
/// Use it when something does not go away, or went away by itself, and now and then before that happens.
#[derive(Debug, Args)]
#[command(
    after_long_help = "Exit codes: 0 success, 1 the command failed, 2 there are findings of at least the --fail-on \
        severity."
)]
pub struct DoctorArgs {
    #[command(flatten)]
    pub targets: TargetArgs,
    /// Report only findings with these codes (see --list-codes)
    #[arg(long, value_name = "CODE", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Test whether a collector is running: create a ConfigMap and delete it
    #[arg(long)]
    pub probe: bool,
    /// An audit log of the API server, or an archive: who deleted the owners that are gone; may be repeated
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub evidence: Vec<String>,
    /// Keep looking, and print whenever something changes
    #[arg(short, long)]
    pub watch: bool,
    /// Seconds between two looks of --watch
    #[arg(long, value_name = "SECONDS", default_value_t = 30, requires = "watch",
        value_parser = clap::value_parser!(u64).range(1..))]
    pub interval: u64,
    /// Walk through it on the screen, as with tui
    #[arg(short, long, conflicts_with_all = ["only", "probe", "evidence", "watch", "list_codes", "fail_on", "output"])]
    pub interactive: bool,
    /// Print every code with its severity and meaning; needs no cluster
    #[arg(long, conflicts_with_all = ["only", "targets", "filenames", "kustomize", "from", "probe",
        "watch"])]
    pub list_codes: bool,
    /// Exit with code 2 for findings of at least this severity
    #[arg(long, value_name = "SEVERITY", value_parser = choice(SEVERITIES), default_value = "error")]
    pub fail_on: Worst<Severity>,
    #[command(flatten)]
    pub open: OpenArgs,
}

/// Explain one object: owners, what it waits for, what is next
///
/// Shows for each TARGET its owners and whether they count, what the collector does next, what would change that, and,
/// if it is Terminating, what it waits for, down to the root cause. Includes the findings of doctor for this object.
///
/// Use it when one object is stuck in Terminating, or when you wonder why it is still there.
#[derive(Debug, Args)]
#[command(after_long_help = "Exit codes: 0 success, whatever it has to tell, 1 the command failed.")]
pub struct ExplainArgs {
    #[command(flatten)]
    pub targets: TargetArgs,
    /// An audit log of the API server, or an archive: who deleted what is gone; may be repeated
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub evidence: Vec<String>,
    #[command(flatten)]
    pub open: OpenArgs,
}

/// Walk through owners, plans and findings on the screen
///
/// Shows owners and dependents as a forest to walk through: open and close, filter, go to owners, mark objects and see
/// what a delete of them does, read findings and their remedies, and watch a cascade while it happens. ? lists the
/// keys. A delete shows the plan and asks, as the command delete does; nothing else changes anything.
#[derive(Debug, Args)]
pub struct TuiArgs {
    #[command(flatten)]
    pub targets: TargetArgs,
    #[command(flatten)]
    pub propagation: PropagationArgs,
}

/// Tell what goes and why, while it happens
///
/// Prints a line whenever an object is deleted or collected, waits for something, loses owners or finalizers, or is
/// recreated, with the reason as far as it can be found out: an owner is called missing only if a look-up says so.
/// Objects that are made again and again with a missing owner are reported as a LOOP, with their maker.
/// Changes nothing.
///
/// Covers the namespace; -A covers all, and TARGETs limit it to these objects, what is in them, and their dependents,
/// also future ones.
///
/// Use it while objects vanish or come back, and nobody knows why.
#[derive(Debug, Args)]
#[command(
    after_long_help = "Exit codes: 0 success, also on Ctrl-C, 1 the command failed, 2 when --timeout ended it: with \
        --until-gone, or after a LOOP."
)]
pub struct WatchArgs {
    #[command(flatten)]
    pub targets: TargetArgs,
    /// End once all TARGETs are gone
    #[arg(long)]
    pub until_gone: bool,
    /// How long to watch, as in kubectl (30s, 5m); 0: until Ctrl-C
    #[arg(long, value_name = "TIME", default_value = "0")]
    pub timeout: String,
    #[command(flatten)]
    pub printing: PrintArgs,
}

/// Say what the cluster will remove by itself, when and why
///
/// Lists what controllers of Kubernetes will remove without being asked: finished Jobs, old ReplicaSets and revisions,
/// Pods that have ended or whose Node is gone, released volumes, certificate requests, tokens and Leases. For each, it
/// says when, by which controller and which rule, what goes with it, and what holds it. --never lists what one might
/// expect to go, and stays. Changes nothing.
///
/// Covers the namespace; -A covers all, with what has no namespace, and TARGETs limit it to these objects. Settings of
/// controllers can't be read: Kubernetes' defaults are assumed, which flags override.
///
/// Use it to see what is about to vanish, or why something is still there.
#[derive(Debug, Args)]
pub struct ReclaimArgs {
    #[command(flatten)]
    pub targets: TargetArgs,
    /// Only what goes within this time, as in kubectl (30s, 5m, 1h)
    #[arg(long, value_name = "TIME")]
    pub within: Option<String>,
    /// Also list what stays, though you may expect it to go
    #[arg(long)]
    pub never: bool,
    /// As of this time, such as 2026-01-31T12:00:00Z [default: now; for files: the latest time in them]
    #[arg(long, value_name = "TIME")]
    pub at: Option<String>,
    /// The controller manager's flag: how many Pods that have ended stay [default: 12500]
    #[arg(long, value_name = "NUMBER", help_heading = "Controllers", allow_hyphen_values = true)]
    pub terminated_pod_gc_threshold: Option<i64>,
    /// The controller manager's flag: how long a token stays that nobody uses [default: 8760h]
    #[arg(long, value_name = "TIME", help_heading = "Controllers")]
    pub legacy_service_account_token_clean_up_period: Option<String>,
    #[command(flatten)]
    pub printing: PrintArgs,
}

/// List deletable resources, and which the collector watches
///
/// Lists the resources that the cluster serves, in the version that the collector watches, and says why it does not
/// watch the others.
///
/// Use it to find out why objects of some type are never collected.
#[derive(Debug, Args)]
pub struct ResourcesArgs {
    /// Count the objects of each resource (reads all of them)
    #[arg(long)]
    pub count: bool,
    #[command(flatten)]
    pub printing: PrintArgs,
}

/// Write the cluster's metadata into a file for --from
///
/// Writes what the other commands read: no contents of Secrets, no annotations except deletion policies, and of managed
/// fields only who set the finalizers of Terminating objects. Records what it covers, so that a reader knows which
/// objects do not exist, and which were not read.
///
/// Use it to look at a cluster later, elsewhere, or together with people who may not read it.
#[derive(Debug, Args)]
pub struct SnapshotArgs {
    /// The file to write, compressed if it ends in .gz [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<std::path::PathBuf>,
    /// Replace an existing file without asking
    #[arg(long, requires = "output")]
    pub force: bool,
}

/// Complete commands, types and objects in a shell
///
/// Prints the completion script of a shell for kubectl-gc. `install` puts it, what kubectl calls to complete `kubectl
/// gc`, and man pages where they are found, and says what it did. It replaces no file that is not its own.
///
/// Use it once, after you have put the program on the PATH.
#[derive(Debug, Args)]
pub struct CompletionArgs {
    #[arg(value_parser = choice(SHELLS))]
    pub shell: ChosenShell,
}

/// Print the version
///
/// Needs no cluster. Use it when you report a bug.
#[derive(Debug, Args)]
pub struct VersionArgs {
    #[command(flatten)]
    pub printing: PrintArgs,
}

/// The policy of a delete, given as kubectl's `--cascade` or by the API's name for it, `--propagation`.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct PropagationArgs {
    /// How the delete treats dependents; --propagation=POLICY is the same [default: background]
    #[arg(
        long,
        help_heading = "Deletion",
        value_name = "POLICY",
        value_parser = choice(POLICIES),
        ignore_case = true,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "background",
        conflicts_with = "propagation"
    )]
    pub cascade: Option<Propagation>,
    /// The API's name for --cascade
    #[arg(
        long,
        help_heading = "Deletion",
        hide_short_help = true,
        value_name = "POLICY",
        value_parser = choice(POLICIES),
        ignore_case = true
    )]
    pub propagation: Option<Propagation>,
}

impl PropagationArgs {
    /// The policy that counts.
    pub fn policy(&self) -> Propagation {
        self.propagation.or(self.cascade).unwrap_or_default()
    }
}

/// The grace period of pods, as in kubectl.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct GraceArgs {
    /// Grace period of pods in seconds; negative: the pod's own
    #[arg(long, help_heading = "Deletion", value_name = "SECONDS", default_value_t = -1, hide_default_value = true,
        allow_hyphen_values = true, value_parser = seconds)]
    pub grace_period: i64,
    /// A grace period of one second
    #[arg(long, help_heading = "Deletion", hide_short_help = true)]
    pub now: bool,
    /// No grace period: remove pods at once
    #[arg(long, help_heading = "Deletion")]
    pub force: bool,
}

/// `--color`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ColorArg {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    Always,
    Never,
}

/// The least bad result that is a failure; `None` if nothing is. To clap, it is one value.
type Worst<T> = Option<T>;

/// A shell whose script is printed; `None`: to install. To clap, it is one value.
type ChosenShell = Option<ShellArg>;

/// The grace period that kubectl derives from its flags (R1.41); none uses each pod's own.
///
/// # Errors
/// Contradictory flags.
pub(super) fn grace_period(args: &GraceArgs) -> Result<Option<i64>, OperationError> {
    if args.now && args.grace_period >= 0 {
        return usage("--now and --grace-period contradict each other: use one of them");
    }
    if args.force && (args.grace_period > 0 || args.now) {
        return usage("--force means no grace period: it cannot be used with --now or a --grace-period above 0");
    }
    Ok(match (args.force, args.now, args.grace_period) {
        (true, ..) => Some(0),
        (_, true, _) => Some(1),
        // Without --force, kubectl turns 0 into 1.
        (_, _, 0) => Some(1),
        (_, _, seconds) if seconds > 0 => Some(seconds),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// kubectl flag: `--grace-period`, `--now`, `--force` | same
    #[test]
    fn grace_flags_mean_what_they_mean_in_kubectl() {
        let grace = |grace_period, now, force| grace_period_of(grace_period, now, force).map_err(|_| ());
        fn grace_period_of(grace_period: i64, now: bool, force: bool) -> Result<Option<i64>, OperationError> {
            super::grace_period(&GraceArgs { grace_period, now, force })
        }
        assert_eq!(grace(-1, false, false), Ok(None));
        assert_eq!(grace(0, false, false), Ok(Some(1)));
        assert_eq!(grace(7, false, false), Ok(Some(7)));
        assert_eq!(grace(-1, true, false), Ok(Some(1)));
        assert_eq!(grace(-1, false, true), Ok(Some(0)));
        assert_eq!(grace(0, false, true), Ok(Some(0)));
        assert_eq!(grace(7, false, true), Err(()));
        assert_eq!(grace(7, true, false), Err(()));
        assert_eq!(grace(-1, true, true), Err(()));
    }
}
