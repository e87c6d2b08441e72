//! The command line as it is typed: raw arguments, nothing checked beyond their form.

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::simulate::Assume;

use super::connection::ConnectionArgs;

/// See, foretell and drive Kubernetes' cascading deletion.
///
/// Shows what Kubernetes' garbage collector sees, and says beforehand what a delete will do to every object.
#[derive(Debug, Parser)]
#[command(
    name = "kubectl-gc",
    bin_name = "kubectl gc",
    display_name = "kubectl gc",
    version,
    subcommand_required = true,
    // -h and --help say the same, also after a command.
    disable_help_subcommand = true,
    arg_required_else_help = true,
    max_term_width = 80,
    after_long_help = "Exit codes: 0 fine, 1 it could not be done, 2 it was done and the answer is bad news."
)]
pub struct Cli {
    #[command(flatten)]
    pub global: GlobalArgs,
    #[command(subcommand)]
    pub command: Command,
}

/// What every command takes.
#[derive(Debug, Args)]
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
}

/// One variant for each command.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Who owns whom: dependents down, owners up
    Tree(TreeArgs),
    /// What a delete would do to every object, and why
    Plan(PlanArgs),
    /// Delete, and follow the cascade to its end
    ///
    /// Shows what the delete will do to every object, asks, deletes the TARGETs (and only them: the collector does the
    /// rest), and follows until all has come to its end. What came out otherwise than foretold is told, and what is
    /// stuck, with what holds it.
    ///
    /// Nothing is deleted unless the API server says that you may, everything that decides the outcome could be read,
    /// and you agree. If the cluster changes meanwhile so that something else would go, you are asked again.
    Delete(DeleteArgs),
    /// Write what a delete would remove into a file; delete nothing
    ///
    /// Writes every object that a delete of the TARGETs would remove, whole, into FILE: YAML for kubectl and for
    /// restore, compressed if FILE ends in .gz. What is terminating already can be archived too, as long as it is
    /// there.
    Archive(ArchiveArgs),
    /// Bring back what was archived
    ///
    /// Creates what ARCHIVE holds and the cluster lacks: namespaces first, then definitions, then owners before their
    /// dependents, whose references get the new uids. What is there already is compared and left alone. Can be run
    /// again after it was interrupted.
    Restore(RestoreArgs),
    /// Do the collector's work from here: one pass, or --watch
    ///
    /// One pass does to everything there is what the garbage collector does, with nothing else deleted: dangling
    /// references are dropped, what only owners that are gone hold is deleted, and owners that wait for their
    /// dependents, or are to free them, come to their end. It shows what it will do, asks, does it until nothing is
    /// left to do, and tells what came of it. --dry-run only shows. --watch keeps on, as the controller does, without
    /// asking.
    ///
    /// Without -n it covers the whole cluster. -n NAMESPACE and TARGETs limit what may be written to, never what is
    /// read to decide.
    Sweep(SweepArgs),
    /// What is wrong, what it leads to, and what mends it
    ///
    /// Looks for owner references that lead nowhere, circles of owners, deletions that are stuck, what would be set off
    /// by bringing something back, and signs that the collector doesn't work. Each finding says what is so, what
    /// follows, and the kubectl command that mends it with the least harm. On a live cluster everything is looked at
    /// again before it is told.
    ///
    /// Without -n it covers the whole cluster. -n NAMESPACE and TARGETs limit what is told, never what is read to find
    /// out.
    Doctor(DoctorArgs),
    /// One object's story: its owners, what it waits for, what comes next
    ///
    /// Says of each TARGET how its owner references stand and by which rule, what the collector does with it next and
    /// whether it looks at it at all, what would change that, and, where it is terminating, whom it waits for, down to
    /// what holds it all. What is found to be wrong with it, and mends it, stands there, too.
    Explain(ExplainArgs),
    /// What can be deleted, and what of that the collector watches
    Resources(ResourcesArgs),
    /// Write the cluster's metadata into one file, for --from
    Snapshot(SnapshotArgs),
    /// Print a shell's completion script
    Completion(CompletionArgs),
    /// Print the version
    #[command(hide = true)]
    Version(VersionArgs),
}

/// Where a reading command reads: a cluster, or with `--from` files.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Source")]
pub struct SourceArgs {
    /// Read a dump or snapshot file, a folder of them or - (standard input) instead of a cluster; may be repeated
    #[arg(long, value_name = "FILE|FOLDER|-")]
    pub from: Vec<String>,
    /// The dump is everything there is: what it lacks does not exist
    #[arg(long, requires = "from")]
    pub assume_complete: bool,
}

/// Which objects are meant, in kubectl's ways of saying it.
#[derive(Clone, Debug, Default, Args)]
pub struct TargetArgs {
    /// TYPE/NAME..., TYPE NAME..., or TYPE[,TYPE...] with -l, --field-selector or --all
    #[arg(value_name = "TARGET")]
    pub targets: Vec<String>,
    /// Objects of the TYPE whose labels match, as in kubectl
    #[arg(short = 'l', long, value_name = "LABELS", help_heading = "Targets", allow_hyphen_values = true)]
    pub selector: Option<String>,
    /// Objects of the TYPE whose fields match, as in kubectl
    #[arg(long, value_name = "FIELDS", help_heading = "Targets")]
    pub field_selector: Option<String>,
    /// Every object of the TYPE; without a TARGET: list all, not only the worst
    #[arg(long, help_heading = "Targets")]
    pub all: bool,
    /// The objects named in a manifest: a file, a folder or -; may be repeated
    #[arg(short = 'f', long = "filename", value_name = "MANIFEST", help_heading = "Targets")]
    pub filenames: Vec<String>,
    /// Look for manifests in sub-folders too
    #[arg(short = 'R', long, requires = "filenames", help_heading = "Targets")]
    pub recursive: bool,
    /// In all namespaces
    #[arg(short = 'A', long, help_heading = "Targets")]
    pub all_namespaces: bool,
    /// Whether targets that verifiably aren't there are left out; the flag is that of the one command which has it.
    #[arg(skip)]
    pub ignore_not_found: bool,
}

/// `kubectl gc tree`
#[derive(Debug, Args)]
pub struct TreeArgs {
    #[command(flatten)]
    pub targets: TargetArgs,
    /// Show owners upwards instead of dependents downwards
    #[arg(long)]
    pub owners: bool,
    /// Show at most this many levels below (or above) each target
    #[arg(long, value_name = "LEVELS")]
    pub depth: Option<usize>,
    /// Show every object, also where many alike are folded into one line
    #[arg(long)]
    pub no_fold: bool,
    /// Output format
    #[arg(short, long, value_name = "FORMAT", value_enum)]
    pub output: Option<TreeFormat>,
    #[command(flatten)]
    pub source: SourceArgs,
}

/// `kubectl gc plan`
#[derive(Debug, Args)]
pub struct PlanArgs {
    #[command(flatten)]
    pub targets: TargetArgs,
    #[command(flatten)]
    pub propagation: PropagationArgs,
    #[command(flatten)]
    pub grace: GraceArgs,
    #[command(flatten)]
    pub keep: KeepArgs,
    #[command(flatten)]
    pub gates: GateArgs,
    /// What is taken for granted of other controllers: known ones remove their own finalizers, or none does
    #[arg(long, value_name = "WHAT", value_enum, default_value_t)]
    pub assume: AssumeArg,
    /// Output format
    #[arg(short, long, value_name = "FORMAT", value_enum)]
    pub output: Option<PlanFormat>,
    #[command(flatten)]
    pub source: SourceArgs,
}

/// What is to survive a delete.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Deletion")]
pub struct KeepArgs {
    /// Dependents that survive: TYPE/NAME, TYPE, or labels (-l LABELS or LABELS); their references to what dies are
    /// removed first; may be repeated
    #[arg(long, value_name = "TYPE/NAME|TYPE|LABELS", allow_hyphen_values = true)]
    pub keep: Vec<String>,
}

/// What a delete must not do.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Gates")]
pub struct GateArgs {
    /// Exit code 2, and nothing done, if any object of these types would go
    #[arg(long, value_name = "TYPE", value_delimiter = ',')]
    pub deny: Vec<String>,
    /// Exit code 2, and nothing done, if more objects than this would go
    #[arg(long, value_name = "N")]
    pub max: Option<usize>,
}

/// Whether it is to be done, and whether somebody is to be asked before.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct ConsentArgs {
    /// Only show what would happen; `server` has the API server judge the requests, too
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
    pub dry_run: DryRunArg,
    /// Don't ask
    #[arg(short, long)]
    pub yes: bool,
}

/// `kubectl gc delete`
#[derive(Debug, Args)]
#[command(
    after_long_help = "Exit codes: 0 fine, 1 it could not be done, or what could not be read may change the outcome, 2 a gate is shut, something stays stuck, or it came out otherwise than foretold."
)]
pub struct DeleteArgs {
    #[command(flatten)]
    pub targets: TargetArgs,
    #[command(flatten)]
    pub propagation: PropagationArgs,
    #[command(flatten)]
    pub grace: GraceArgs,
    #[command(flatten)]
    pub keep: KeepArgs,
    #[command(flatten)]
    pub gates: GateArgs,
    #[command(flatten)]
    pub consent: ConsentArgs,
    /// From more objects than this on, the number of them is to be typed
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub confirm_above: usize,
    /// Write whole what will go into FILE (.yaml or .yaml.gz) before anything is deleted
    #[arg(long, value_name = "FILE")]
    pub archive: Option<std::path::PathBuf>,
    /// Delete although something that could not be read may change the outcome
    #[arg(long)]
    pub allow_incomplete: bool,
    /// TARGETs that aren't there are no error
    #[arg(long)]
    pub ignore_not_found: bool,
    /// Follow the cascade to its end; --wait=false only sends the deletes
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t = true, default_missing_value = "true", value_name = "BOOL", action = clap::ArgAction::Set)]
    pub wait: bool,
    /// How long to follow, as in kubectl (30s, 5m); 0: to the end
    #[arg(long, value_name = "TIME", default_value = "0")]
    pub timeout: String,
    /// What is taken for granted of other controllers: known ones remove their own finalizers, or none does
    #[arg(long, value_name = "WHAT", value_enum, default_value_t)]
    pub assume: AssumeArg,
    /// Output format
    #[arg(short, long, value_name = "FORMAT", value_enum)]
    pub output: Option<PlanFormat>,
}

/// `kubectl gc archive`
#[derive(Debug, Args)]
#[command(override_usage = "kubectl gc archive [OPTIONS] TARGET... FILE")]
pub struct ArchiveArgs {
    #[command(flatten)]
    pub targets: TargetArgs,
    #[command(flatten)]
    pub propagation: PropagationArgs,
    /// What is taken for granted of other controllers: known ones remove their own finalizers, or none does
    #[arg(long, value_name = "WHAT", value_enum, default_value_t)]
    pub assume: AssumeArg,
    /// Archive although something that could not be read may hold more that goes; the archive says so
    #[arg(long)]
    pub allow_incomplete: bool,
}

/// `kubectl gc restore`
#[derive(Debug, Args)]
#[command(after_long_help = "Exit codes: 0 fine, 1 it could not be done, 2 something could not be brought back.")]
pub struct RestoreArgs {
    /// The archive: a file that archive or delete --archive has written
    #[arg(value_name = "ARCHIVE")]
    pub archive: std::path::PathBuf,
    /// Bring back also what a restored controller makes anew by itself
    #[arg(long)]
    pub all: bool,
    #[command(flatten)]
    pub consent: ConsentArgs,
    /// Output format
    #[arg(short, long, value_name = "FORMAT", value_enum)]
    pub output: Option<DocumentFormat>,
}

/// `kubectl gc sweep`
#[derive(Debug, Args)]
#[command(
    after_long_help = "Exit codes: 0 fine, 1 it could not be done, or what could not be read may change an outcome, 2 something that it takes up stays stuck. --watch ends with 0 when it is told to (SIGTERM, Ctrl-C)."
)]
pub struct SweepArgs {
    #[command(flatten)]
    pub targets: TargetArgs,
    /// Only show what would happen
    #[arg(long)]
    pub dry_run: bool,
    /// Don't ask; --watch never asks
    #[arg(short, long, conflicts_with = "dry_run")]
    pub yes: bool,
    /// How long to go on, as in kubectl (30s, 5m); 0: to the end
    #[arg(long, value_name = "TIME", default_value = "0", conflicts_with = "dry_run")]
    pub timeout: String,
    /// What is taken for granted of other controllers: known ones remove their own finalizers, or none does
    #[arg(long, value_name = "WHAT", value_enum, default_value_t)]
    pub assume: AssumeArg,
    /// Where a whole API answers 404, its objects are absent, as the collector itself takes it; otherwise that is not
    /// known
    #[arg(long)]
    pub trust_missing_apis: bool,
    /// Print the ClusterRole that a sweep needs, with --watch that of --watch; needs no cluster
    #[arg(long, conflicts_with_all = WHAT_A_ROLE_DOES_NOT_DEPEND_ON)]
    pub print_role: bool,
    /// Output format
    #[arg(short, long, value_name = "FORMAT", value_enum)]
    pub output: Option<PlanFormat>,
    #[command(flatten)]
    pub watching: WatchingArgs,
    #[command(flatten)]
    pub load: LoadArgs,
    #[command(flatten)]
    pub source: SourceArgs,
}

/// The flags that mean nothing beside `--print-role`.
const WHAT_A_ROLE_DOES_NOT_DEPEND_ON: [&str; 19] = [
    "targets",
    "selector",
    "field_selector",
    "all",
    "filenames",
    "all_namespaces",
    "dry_run",
    "yes",
    "timeout",
    "assume",
    "trust_missing_apis",
    "output",
    "resync",
    "metrics_bind_address",
    "workers",
    "qps",
    "burst",
    "from",
    "assume_complete",
];

/// How `sweep` keeps on.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Watching")]
pub struct WatchingArgs {
    /// Keep on like the controller, until SIGTERM or Ctrl-C
    #[arg(
        short,
        long,
        conflicts_with_all = ["dry_run", "timeout", "assume", "output", "from", "assume_complete"]
    )]
    pub watch: bool,
    /// How often to look for resources that are new or gone
    #[arg(long, value_name = "TIME", default_value = "30s", requires = "watch")]
    pub resync: String,
    /// Serve /metrics, /healthz and /readyz here: :8080, 127.0.0.1:8080; port 0: a free one, which is told [default:
    /// nowhere]
    #[arg(long, value_name = "[HOST]:PORT", requires = "watch")]
    pub metrics_bind_address: Option<String>,
}

/// How much `sweep` asks of the API server, and of itself.
#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = "Load")]
pub struct LoadArgs {
    /// How many objects are worked on at once
    #[arg(long, value_name = "N", default_value_t = 20, conflicts_with = "dry_run", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub workers: u16,
    /// Requests a second; 0: as many as there are. Watches don't count
    #[arg(long, value_name = "N", default_value_t = 50.0, conflicts_with = "dry_run", value_parser = per_second)]
    pub qps: f64,
    /// How many requests may come at once after a pause
    #[arg(long, value_name = "N", default_value_t = 100, conflicts_with = "dry_run", value_parser = clap::value_parser!(u32).range(1..))]
    pub burst: u32,
}

fn per_second(text: &str) -> Result<f64, &'static str> {
    let rate = text.parse::<f64>().ok().filter(|rate| rate.is_finite() && *rate >= 0.0);
    rate.ok_or("give a number of requests a second, such as 50 or 0.5, or 0 for no limit")
}

/// `kubectl gc doctor`
#[derive(Debug, Args)]
#[command(
    after_long_help = "Exit codes: 0 fine, 1 it could not be done, 2 there are findings as bad as --fail-on says."
)]
pub struct DoctorArgs {
    #[command(flatten)]
    pub targets: TargetArgs,
    /// Only findings of these codes (--list-codes)
    #[arg(long, value_name = "CODE", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Find out with a throw-away object whether a collector runs: creates a ConfigMap and deletes it
    #[arg(long)]
    pub probe: bool,
    /// Keep looking, and print whenever something has changed
    #[arg(short, long)]
    pub watch: bool,
    /// Seconds between two looks of --watch
    #[arg(long, value_name = "SECONDS", default_value_t = 30, requires = "watch", value_parser = clap::value_parser!(u64).range(1..))]
    pub interval: u64,
    /// Print every code with its severity and meaning; needs no cluster
    #[arg(long, conflicts_with_all = ["only", "targets", "filenames", "from", "probe", "watch"])]
    pub list_codes: bool,
    /// From which severity on findings make exit code 2
    #[arg(long, value_name = "SEVERITY", value_enum, default_value_t)]
    pub fail_on: FailOnArg,
    /// Output format
    #[arg(short, long, value_name = "FORMAT", value_enum)]
    pub output: Option<DoctorFormat>,
    #[command(flatten)]
    pub source: SourceArgs,
}

/// `kubectl gc explain`
#[derive(Debug, Args)]
pub struct ExplainArgs {
    #[command(flatten)]
    pub targets: TargetArgs,
    /// Output format
    #[arg(short, long, value_name = "FORMAT", value_enum)]
    pub output: Option<ExplainFormat>,
    #[command(flatten)]
    pub source: SourceArgs,
}

/// `kubectl gc resources`
#[derive(Debug, Args)]
pub struct ResourcesArgs {
    /// Count the objects of each resource (reads them all)
    #[arg(long)]
    pub count: bool,
    /// Output format
    #[arg(short, long, value_name = "FORMAT", value_enum)]
    pub output: Option<TableFormat>,
    #[command(flatten)]
    pub source: SourceArgs,
}

/// `kubectl gc snapshot`
#[derive(Debug, Args)]
pub struct SnapshotArgs {
    /// The file to write, compressed if it ends in .gz; without it: standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<std::path::PathBuf>,
    /// Replace an existing file without asking
    #[arg(long, requires = "output")]
    pub force: bool,
}

/// `kubectl gc completion`
#[derive(Debug, Args)]
pub struct CompletionArgs {
    #[arg(value_enum)]
    pub shell: ShellArg,
}

/// `kubectl gc version`
#[derive(Debug, Args)]
pub struct VersionArgs {
    /// Output format
    #[arg(short, long, value_name = "FORMAT", value_enum)]
    pub output: Option<DocumentFormat>,
}

/// The policy of a delete, as `--propagation` or as kubectl's `--cascade`.
#[derive(Clone, Copy, Debug, Default, Args)]
#[command(next_help_heading = "Deletion")]
pub struct PropagationArgs {
    /// How the delete treats dependents [default: background]
    #[arg(long, value_name = "POLICY", value_enum, ignore_case = true)]
    pub propagation: Option<PropagationArg>,
    /// kubectl's name for --propagation
    #[arg(
        long,
        value_name = "POLICY",
        value_enum,
        ignore_case = true,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "background",
        conflicts_with = "propagation"
    )]
    pub cascade: Option<PropagationArg>,
}

impl PropagationArgs {
    /// The policy that was asked for, if any was.
    pub fn policy(&self) -> Option<PropagationArg> {
        self.propagation.or(self.cascade)
    }
}

/// How long pods get to end, as kubectl takes it.
#[derive(Clone, Copy, Debug, Default, Args)]
#[command(next_help_heading = "Deletion")]
pub struct GraceArgs {
    /// Seconds a pod gets to end; negative: the pod's own
    #[arg(long, value_name = "SECONDS", default_value_t = -1, hide_default_value = true, allow_hyphen_values = true)]
    pub grace_period: i64,
    /// One second of grace
    #[arg(long)]
    pub now: bool,
    /// No grace: pods are removed at once
    #[arg(long)]
    pub force: bool,
}

/// `--propagation`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PropagationArg {
    /// Owner first, then the dependents
    #[value(alias = "true")]
    Background,
    /// Dependents first, then the owner
    Foreground,
    /// Only the owner; the dependents stay
    #[value(alias = "false")]
    Orphan,
}

impl AssumeArg {
    /// What the engine takes for granted then.
    pub fn assume(self) -> Assume {
        match self {
            AssumeArg::Known => Assume::Known,
            AssumeArg::None => Assume::None,
        }
    }
}

/// `--dry-run`, as in kubectl.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum DryRunArg {
    /// Do it
    #[default]
    None,
    /// Only show what would happen
    Client,
    /// Send the requests, to be judged and not to be done
    Server,
}

/// `--assume`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum AssumeArg {
    /// Known controllers do what they are known to do
    #[default]
    Known,
    /// No other controller does anything
    None,
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

/// Formats of `tree`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TreeFormat {
    Json,
    Yaml,
    /// TYPE/NAME, one a line
    Name,
    /// For Graphviz
    Dot,
    /// Text with more columns
    Wide,
}

/// Formats of `plan` and `sweep`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PlanFormat {
    Json,
    Yaml,
    /// TYPE/NAME of what would go, one a line
    Name,
    /// Text with more columns
    Wide,
}

/// Formats of `doctor`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DoctorFormat {
    Json,
    Yaml,
    /// TYPE/NAME of what suffers, one a line
    Name,
    /// Text with more columns
    Wide,
    /// A shell script that mends it all, to be read before it is run
    Remedies,
}

/// Formats of `explain`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExplainFormat {
    Json,
    Yaml,
    /// Text with rules, uids and all remedies
    Wide,
}

/// `--fail-on`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum FailOnArg {
    #[default]
    Error,
    Warning,
    Never,
}

/// Formats of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TableFormat {
    Json,
    Yaml,
    /// Only the names, one a line
    Name,
    /// Every column, one line a row
    Wide,
}

/// Formats of a document that is nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DocumentFormat {
    Json,
    Yaml,
}

/// The shells that get a completion script.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ShellArg {
    Bash,
    Zsh,
    Fish,
    #[value(name = "powershell")]
    PowerShell,
}
