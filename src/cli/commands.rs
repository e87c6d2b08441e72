//! The command line: its commands, their help, and what reads it, from kubectl's grammar to clap's.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    io::{self, IsTerminal as _},
    path::PathBuf,
};

use clap::{
    ArgAction, Args as _, Error, FromArgMatches as _, Parser, Subcommand,
    error::{ContextKind, ContextValue, ErrorKind},
};

use crate::{
    operations::{OperationError, usage},
    render::output::Format,
};
use gc_cluster::{cluster, dump::EXAMPLE};

use super::{
    args::{
        ArchiveArgs, CancelArgs, CompletionArgs, DoctorArgs, ExplainArgs, GlobalArgs, OpenArgs, PlanArgs, PrintArgs,
        ReclaimArgs, ResourcesArgs, RestoreArgs, SnapshotArgs, SourceArgs, TreeArgs, TuiArgs, VersionArgs, WatchArgs,
    },
    delete::DeleteArgs,
    examples,
    sweep::SweepArgs,
    values::{self, truth},
};

/// Show, predict and perform Kubernetes' cascading deletion.
///
/// Shows what Kubernetes' garbage collector (a part of kube-controller-manager) sees, and predicts what a delete
/// does to every object.
#[derive(Debug, Parser)]
#[command(
    name = "kubectl-gc",
    bin_name = "kubectl gc",
    display_name = "kubectl gc",
    version,
    disable_version_flag = true,
    // `help COMMAND` is read as `COMMAND --help-in-full`.
    disable_help_subcommand = true,
    disable_help_flag = true,
    // As in kubectl, the last of a repeated flag wins.
    args_override_self = true,
    max_term_width = 80,
    after_long_help = "Exit codes: 0 success, 1 the command failed, 2 the command worked and found a problem."
)]
pub struct Cli {
    /// Print help
    #[arg(short, long, action = clap::ArgAction::HelpShort, global = true, display_order = 990)]
    help: Option<bool>,
    /// Print all of the help, also flags that only tune
    #[arg(long, action = clap::ArgAction::HelpLong, global = true, hide = true)]
    help_in_full: Option<bool>,
    /// Print version
    #[arg(short = 'V', long, action = clap::ArgAction::Version, hide_short_help = true)]
    version: Option<bool>,
    #[command(flatten)]
    pub global: GlobalArgs,
    #[command(subcommand)]
    pub command: Command,
}

/// The commands, in the order of the pages. What their arguments say of themselves is what the command does: in a line,
/// and in its own help, its man page and its page in `docs/commands` also at length, and when to use it.
#[derive(Debug, Subcommand)]
pub enum Command {
    Tree(TreeArgs),
    Plan(PlanArgs),
    Delete(DeleteArgs),
    Cancel(CancelArgs),
    Archive(ArchiveArgs),
    Restore(RestoreArgs),
    Sweep(SweepArgs),
    Doctor(DoctorArgs),
    Explain(ExplainArgs),
    Tui(TuiArgs),
    Watch(WatchArgs),
    Reclaim(ReclaimArgs),
    Resources(ResourcesArgs),
    Snapshot(SnapshotArgs),
    Completion(CompletionArgs),
    Version(VersionArgs),
}

impl Command {
    /// Whether what a command draws is opened and where, and whether it is printed again and again.
    fn drawing(&self) -> Option<(&OpenArgs, bool)> {
        Some(match self {
            Command::Tree(args) => (&args.open, args.watch),
            Command::Plan(args) => (&args.open, false),
            Command::Delete(args) => (&args.open, false),
            Command::Sweep(args) => (&args.open, args.watching.watch),
            Command::Doctor(args) => (&args.open, args.watch),
            Command::Explain(args) => (&args.open, false),
            _ => return None,
        })
    }

    /// Whether the page is to be opened, and which file it is written to. Then its format is chosen, too.
    ///
    /// # Errors
    /// Another format was chosen, pictures that would follow each other in one stream, or a page for a terminal.
    pub(super) fn opens(&self, output: &mut Option<Format>) -> Result<Option<Option<PathBuf>>, OperationError> {
        let Some((open, watch)) = self.drawing() else { return Ok(None) };
        let format = output.unwrap_or_default();
        let opens = open.open.is_some();
        match format {
            Format::Text if opens => *output = Some(Format::Html),
            Format::Html if !opens && io::stdout().is_terminal() => {
                return usage("-o html writes a page for a browser: -o html > FILE keeps it, --open shows it");
            }
            Format::Html => {}
            other if opens => {
                return usage(format!("--open shows -o html: it cannot be used with -o {}", other.name()));
            }
            _ => {}
        }
        let format = output.unwrap_or_default();
        if watch && format.draws() {
            return usage(format!("--watch cannot be used with -o {}: a picture is of one moment", format.name()));
        }
        Ok(open.open.clone())
    }
}

/// As kubectl's: the examples come before the flags.
const TEMPLATE: &str = "{about-with-newline}\n{before-help}{usage-heading} {usage}\n\n{all-args}{after-help}\n\n\
                        Use \"kubectl gc options\" for flags of the connection";

/// The flags of every command.
const OPTIONS: &str = "The following flags can be passed to any command:\n\n{options}";

/// kubectl's word for the help about these.
const OF_OPTIONS: &str = "options";

/// What people do with the commands, in the order of the help.
const GROUPS: [(&str, &[&str]); 4] = [
    ("Look", &["tree", "explain", "doctor", "watch", "tui", "reclaim"]),
    ("Delete", &["plan", "delete", "cancel", "archive", "restore"]),
    // Where no collector runs.
    ("Sweep", &["sweep"]),
    ("More", &["resources", "snapshot", "completion", "version"]),
];

/// The help of all commands: what each does, by what people do with them.
fn list_of_commands(root: &clap::Command) -> String {
    let mut list = String::from("{about-with-newline}{usage-heading} {usage}\n");
    for (group, names) in GROUPS {
        for (index, command) in names.iter().filter_map(|name| root.find_subcommand(name)).enumerate() {
            let group = if index == 0 { group } else { "" };
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            list += &format!("  {group:<7}{:<11}{about}\n", command.get_name());
        }
    }
    list + "\nOptions:\n{options}\n\nTry: kubectl gc plan namespace/NAME   (reads only)\n{after-help}"
}

const ABOUT_ROLE: &str =
    "Only print the least rights that this command needs with these arguments, as YAML for kubectl apply";

/// A command with its help, its formats, and the flags for its source and its rights.
fn with_help(command: clap::Command) -> clap::Command {
    let template = [TEMPLATE, ",\n\"kubectl gc help ", command.get_name(), "\" for all flags."].concat();
    let examples = examples::of(command.get_name());
    let takes_format = |arg: &clap::Arg| arg.get_value_names().is_some_and(|names| names == ["FORMAT"]);
    let offered = values::of(command.get_name());
    let command = command.mut_args(|arg| match takes_format(&arg) {
        true => arg.long_help(values::ABOUT).value_parser(values::formats(offered.clone())),
        false => arg,
    });
    let command = match command.get_name() {
        "tree" | "plan" | "sweep" | "doctor" | "explain" | "tui" | "reclaim" | "resources" => {
            // What flags are added for says nothing of the command.
            let [about, more] =
                [command.get_about(), command.get_long_about()].map(|text| text.cloned().unwrap_or_default());
            SourceArgs::augment_args(command).about(about).long_about(more)
        }
        _ => command,
    };
    let command = match command.get_name() {
        // These need no rights that depend on their arguments.
        "watch" | "completion" | "version" => command,
        // Nor does a sweep, but for --watch.
        "sweep" => {
            let others = command.get_arguments().map(clap::Arg::get_id).cloned();
            let others: Vec<clap::Id> = others.filter(|id| !["watch", "print_role"].contains(&id.as_str())).collect();
            command.mut_args(|arg| if arg.get_id() == "print_role" { arg.conflicts_with_all(&others) } else { arg })
        }
        _ => command.arg(
            clap::Arg::new("print_role")
                .long("print-role")
                .action(clap::ArgAction::SetTrue)
                .help(ABOUT_ROLE)
                .help_heading("Rights"),
        ),
    };
    command.before_help(examples).help_template(template)
}

impl Cli {
    /// Every command with every argument.
    pub fn command() -> clap::Command {
        let root = <Self as clap::CommandFactory>::command().mut_subcommands(with_help);
        let list = list_of_commands(&root);
        root.help_template(list)
    }

    /// Reads the arguments of a process; the first one is its name.
    ///
    /// # Errors
    /// What clap prints: help, the version, or what is wrong.
    pub fn of(args: impl IntoIterator<Item = OsString>) -> Result<Self, Error> {
        let mut args = as_written_for_clap(args.into_iter());
        let mut command = Self::command();
        if is_about_options(&args) {
            command = command.help_template(OPTIONS);
            args.splice(1.., ["--help-in-full".into()]);
        }
        let args = with_switches(&command, args)?;
        let words = args.iter().skip(1).filter_map(|word| word.to_str());
        let name = words.filter(|word| command.find_subcommand(word).is_some()).map(str::to_owned).next();
        let mut matches =
            command.try_get_matches_from_mut(args).map_err(|error| of_a_cluster(error, name.as_deref()))?;
        // Flags that many commands have are read here, once for all of them.
        let Some((name, given)) = matches.subcommand() else { return Err(Error::new(ErrorKind::MissingSubcommand)) };
        let flag = |name: &str| given.try_get_one::<bool>(name).ok().flatten().copied();
        let printing = PrintArgs {
            output: given.try_get_one("output").ok().flatten().copied(),
            no_headers: flag("no_headers").unwrap_or(false),
            allow_missing_template_keys: flag("allow_missing_template_keys").unwrap_or(true),
        };
        let print_role = flag("print_role").unwrap_or(false);
        let source = match given.try_contains_id("from") {
            Ok(_) => SourceArgs::from_arg_matches(given).map_err(|error| error.format(&mut command))?,
            Err(_) => SourceArgs::default(),
        };
        let user_agent = Some(format!("{} {name}", cluster::program()));
        let mut cli = Self::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command))?;
        cli.global = GlobalArgs { printing, print_role, source, ..cli.global };
        cli.global.connection.chosen.user_agent = user_agent;
        Ok(cli)
    }
}

/// Says why a command that changes a cluster has no `--from`, and why a number is none.
fn of_a_cluster(error: Error, command: Option<&str>) -> Error {
    let said = match (error.get(ContextKind::InvalidArg), command) {
        (Some(ContextValue::String(flag)), None) if flag == "--from" => {
            "--from and --example need a command, such as doctor or plan\n".to_owned()
        }
        (Some(ContextValue::String(flag)), Some(command)) if flag == "--from" => {
            let instead = match command {
                "delete" => ". With files, use `kubectl gc plan`",
                "sweep" => ". With files, use `kubectl gc sweep --dry-run`",
                _ => "",
            };
            format!("--from and --example read files, and {command} needs a cluster{instead}\n")
        }
        (Some(ContextValue::String(flag)), Some("plan")) if flag == "--dry-run" => {
            "plan changes nothing: leave out --dry-run\n".to_owned()
        }
        (Some(ContextValue::String(flag)), Some("plan"))
            if flag == "--apply" && error.kind() == ErrorKind::ArgumentConflict && of_targets(&error) =>
        {
            "--apply needs -f FILE or -k FOLDER, and no TARGET\n".to_owned()
        }
        _ => return error,
    };
    Error::raw(error.kind(), said)
}

/// Whether TARGETs are what the flag of an error can't be used with.
fn of_targets(error: &Error) -> bool {
    match error.get(ContextKind::PriorArg) {
        Some(ContextValue::String(other)) => other.contains("[TARGET]"),
        Some(ContextValue::Strings(others)) => others.iter().any(|other| other.contains("[TARGET]")),
        _ => false,
    }
}

fn is_about_options(args: &[OsString]) -> bool {
    let is_help = |arg: &OsString| arg == "-h" || arg == "--help";
    args.get(1).is_some_and(|first| first == OF_OPTIONS) && args[2..].iter().all(is_help)
}

/// Rewrites what clap reads differently from kubectl:
///
/// * `--keep -l LABELS` becomes one argument: everywhere else, labels are written that way.
/// * `help COMMAND` becomes `COMMAND --help-in-full`, and `help` alone `--help`.
/// * A switch takes a truth value, as in `--yes=false`. The last one wins.
/// * `--example` is `--from` with a dump that the program brings, which is complete.
/// * `--dry_run` is `--dry-run` (component-base's `WordSepNormalizeFunc`).
///
/// [`with_switches`] does the third.
pub(super) fn as_written_for_clap(args: impl Iterator<Item = OsString>) -> Vec<OsString> {
    with_labels(with_known_names(with_help_in_full(args)))
}

/// Long flags without underscores in their names, and `--from` for `--example`.
fn with_known_names(args: impl Iterator<Item = OsString>) -> impl Iterator<Item = OsString> {
    let mut ended = false;
    args.map(move |arg| {
        ended |= arg == "--";
        let Some(text) = arg.to_str().filter(|text| !ended && text.starts_with("--")) else { return arg };
        let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
        match (name.replace('_', "-").as_str(), value) {
            ("--example", name) => format!("--from={EXAMPLE}{}", name.unwrap_or("shop")),
            (name, Some(value)) => format!("{name}={value}"),
            (name, None) => name.to_owned(),
        }
        .into()
    })
}

fn with_help_in_full(args: impl Iterator<Item = OsString>) -> impl Iterator<Item = OsString> {
    let mut args: Vec<OsString> = args.collect();
    if args.get(1).is_some_and(|first| first == "help") {
        args.remove(1);
        args.push(if args.len() == 1 { "--help" } else { "--help-in-full" }.into());
    }
    args.into_iter()
}

fn with_labels(args: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut joined: Vec<OsString> = Vec::new();
    let mut args = args.peekable();
    while let Some(arg) = args.next() {
        let labels = joined.last().is_some_and(|last| last == "--keep") && (arg == "-l" || arg == "--selector");
        match args.next_if(|_| labels) {
            Some(value) => {
                let mut both = OsString::from("-l ");
                both.push(value);
                joined.push(both);
            }
            None => joined.push(arg),
        }
    }
    joined
}

/// # Errors
/// A switch with another value.
pub(super) fn with_switches(command: &clap::Command, args: Vec<OsString>) -> Result<Vec<OsString>, clap::Error> {
    let switches = switches(command, args.get(1));
    let mut taken: Vec<OsString> = Vec::new();
    let mut args = args.into_iter();
    while let Some(arg) = args.next() {
        if arg == "--" {
            taken.push(arg);
            taken.extend(args);
            break;
        }
        let given = arg.to_str().filter(|text| text.starts_with('-')).and_then(|text| text.split_once('='));
        let Some((name, spellings, value)) = given.and_then(|(name, value)| Some((name, switches.get(name)?, value)))
        else {
            taken.push(arg);
            continue;
        };
        match truth(value) {
            Some(true) => taken.push(name.into()),
            Some(false) => {
                taken = taken.into_iter().filter_map(|before| without(before, spellings, &switches)).collect();
            }
            None => {
                let why = format!("invalid argument {value:?} for {name}: write {name}=true or {name}=false");
                return Err(command.clone().error(ErrorKind::InvalidValue, why));
            }
        }
    }
    Ok(taken)
}

/// An argument without a switch; `None` if nothing is left of it. Short switches may be written together: `-Ay`.
fn without(arg: OsString, spellings: &[String], switches: &BTreeMap<String, Vec<String>>) -> Option<OsString> {
    let Some(text) = arg.to_str() else { return Some(arg) };
    let Some(together) = text.strip_prefix('-').filter(|rest| !rest.starts_with('-')) else {
        return (!spellings.iter().any(|spelling| spelling == text)).then_some(arg);
    };
    // What follows an option with a value is its value.
    let is_switch = |c: &char| switches.contains_key(&format!("-{c}"));
    let ours: String = together.chars().take_while(is_switch).collect();
    let kept: String = ours.chars().filter(|c| !spellings.contains(&format!("-{c}"))).collect();
    if kept.len() == ours.len() {
        return Some(arg);
    }
    let left = format!("{kept}{}", &together[ours.len()..]);
    (!left.is_empty()).then(|| format!("-{left}").into())
}

/// The spellings of each switch, by each of them. If the first argument doesn't name a command, an option that takes a
/// value in any command is none.
fn switches(command: &clap::Command, first: Option<&OsString>) -> BTreeMap<String, Vec<String>> {
    let mut commands = vec![command];
    match first.and_then(|name| command.find_subcommand(name)) {
        Some(named) => commands.push(named),
        None => commands.extend(command.get_subcommands()),
    }
    let mut switches = BTreeMap::new();
    let mut others = BTreeSet::new();
    for command in commands {
        for arg in command.get_arguments() {
            let long = arg.get_long().map(|long| format!("--{long}"));
            let spellings: Vec<String> = long.into_iter().chain(arg.get_short().map(|c| format!("-{c}"))).collect();
            for spelling in &spellings {
                match arg.get_action() {
                    ArgAction::SetTrue => {
                        switches.insert(spelling.clone(), spellings.clone());
                    }
                    _ => {
                        others.insert(spelling.clone());
                    }
                }
            }
        }
    }
    switches.retain(|spelling, _| !others.contains(spelling));
    switches
}

#[cfg(test)]
mod tests {
    use super::{super::commands::Cli, *};

    fn taken(line: &str) -> Result<String, clap::Error> {
        let args = as_written_for_clap(line.split(' ').map(OsString::from));
        let args = with_switches(&Cli::command(), args)?;
        let args: Vec<String> = args.into_iter().map(|arg| arg.into_string().unwrap()).collect();
        Ok(args.join("|"))
    }

    #[test]
    fn labels_to_keep_are_written_as_everywhere() {
        assert_eq!(
            taken("gc plan deploy/web --keep -l app=web -n shop").unwrap(),
            "gc|plan|deploy/web|--keep|-l app=web|-n|shop"
        );
        assert_eq!(taken("gc delete pods -l app=web --keep pod/a").unwrap(), "gc|delete|pods|-l|app=web|--keep|pod/a");
        assert_eq!(taken("gc plan x --keep -l").unwrap(), "gc|plan|x|--keep|-l");
    }

    /// kubectl habit: `help COMMAND` | same
    #[test]
    fn help_is_a_command_too() {
        assert_eq!(taken("gc help plan").unwrap(), "gc|plan|--help-in-full");
        assert_eq!(taken("gc help").unwrap(), "gc|--help");
        assert_eq!(taken("gc tree help").unwrap(), "gc|tree|help");
    }

    /// kubectl habit: switches take `=true` and `=false` | same
    #[test]
    fn switches_take_truth_values_and_the_last_wins() {
        for (line, expected) in [
            ("gc delete x --yes=true", "gc|delete|x|--yes"),
            ("gc delete x --yes=T", "gc|delete|x|--yes"),
            ("gc delete x -y --yes=false", "gc|delete|x"),
            ("gc delete x --yes=false -y", "gc|delete|x|-y"),
            ("gc delete x -Ay --yes=false", "gc|delete|x|-A"),
            ("gc delete x -yA -A=false", "gc|delete|x|-y"),
            ("gc delete x -yn shop -y=false", "gc|delete|x|-n|shop"),
            ("gc delete x -nany --yes=0", "gc|delete|x|-nany"),
            ("gc delete x -yy --yes=0", "gc|delete|x"),
            ("gc delete x --yes --yes=0 --all", "gc|delete|x|--all"),
            ("gc plan x -A=true", "gc|plan|x|-A"),
            // An option of delete, and no flag of plan.
            ("gc sweep --dry-run=true --dry-run=false", "gc|sweep"),
            ("gc plan x --yes=false", "gc|plan|x|--yes=false"),
            // Options with values are clap's business.
            ("gc delete x --wait=false --dry-run=server", "gc|delete|x|--wait=false|--dry-run=server"),
            ("gc delete x -- --yes=false", "gc|delete|x|--|--yes=false"),
            ("gc delete x --dry_run=a_b --all_namespaces", "gc|delete|x|--dry-run=a_b|--all-namespaces"),
            ("gc delete x -n a_b -- --dry_run", "gc|delete|x|-n|a_b|--|--dry_run"),
        ] {
            assert_eq!(taken(line).unwrap(), expected, "{line}");
        }
        let error = taken("gc delete x --yes=perhaps").unwrap_err().to_string();
        assert!(error.contains(r#"invalid argument "perhaps" for --yes"#), "{error}");
    }
}
