//! The commands: their names, what they do, and what reads their arguments.

use std::ffi::OsString;

use clap::{
    ArgMatches, Args, CommandFactory as _, Error, FromArgMatches as _,
    error::{ContextKind, ContextValue, ErrorKind},
};

use crate::cluster;

use super::{
    args::{
        ArchiveArgs, CancelArgs, CompletionArgs, DeleteArgs, DoctorArgs, ExplainArgs, GlobalArgs, PlanArgs,
        ReclaimArgs, ResourcesArgs, RestoreArgs, Root, SnapshotArgs, SweepArgs, TreeArgs, TuiArgs, VersionArgs,
        WatchArgs,
    },
    arguments, examples, formats,
};

/// The command line of a run: only its syntax is checked.
#[derive(Debug)]
pub struct Cli {
    pub global: GlobalArgs,
    pub command: Command,
}

/// One variant for each command.
#[derive(Debug)]
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

/// What makes a command.
struct Entry {
    name: &'static str,
    /// What it does, in a line.
    about: &'static str,
    /// What its own help, its man page and its page in `docs/commands` say besides: what it does, and when to use it.
    more: &'static str,
    /// Adds its arguments.
    arguments: fn(clap::Command) -> clap::Command,
    /// Reads its arguments.
    read: fn(&mut ArgMatches) -> Result<Command, Error>,
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
fn list_of_commands() -> String {
    let mut list = String::from("{about-with-newline}{usage-heading} {usage}\n");
    for (group, names) in GROUPS {
        for (index, entry) in names.iter().filter_map(|name| Entry::of(name)).enumerate() {
            let group = if index == 0 { group } else { "" };
            list += &format!("  {group:<7}{:<11}{}\n", entry.name, entry.about);
        }
    }
    list + "\nOptions:\n{options}\n\nTry: kubectl gc plan namespace/NAME   (reads only)\n{after-help}"
}

/// In the order of the pages.
const COMMANDS: [Entry; 16] = [
    entry::<TreeArgs>(
        "tree",
        "Show owners and dependents as a tree",
        "Shows the TARGETs with their dependents, or with --owners what owns them; without a TARGET, everything in the \
         namespace. A Namespace stands for what is in it. Marks cycles, and owners that are missing or invalid. \
         Changes nothing.\n\n\
         Use it to see what belongs together before you touch it, or to find out why an object exists.",
        |matches| TreeArgs::from_arg_matches_mut(matches).map(Command::Tree),
    ),
    entry::<PlanArgs>(
        "plan",
        "Predict what a delete does to every object, and why",
        "Simulates the delete of the TARGETs by the rules of the API server, the garbage collector and the built-in \
         controllers: which objects are deleted, which are kept, which get stuck and behind what, and what is lost \
         outside the cluster. Without a TARGET, it shows the result of deleting each root, which is an object without \
         owners (--all: also the many whose delete does little). Changes nothing.\n\n\
         With --apply -f FILE, it predicts kubectl apply of a file instead: which of its objects the garbage collector \
         deletes at once, because their owner references lead nowhere. --fix prints the file with these mended.\n\n\
         Use it before a delete that you are not sure of, before a backup is applied, and in scripts: a gate (--deny, \
         --deny-effect, --max, --fail-on) makes it exit with code 2.",
        |matches| PlanArgs::from_arg_matches_mut(matches).map(Command::Plan),
    ),
    entry::<DeleteArgs>(
        "delete",
        "Show the plan, ask, delete, and follow it to its end",
        "Shows what the delete does to every object, asks, deletes the TARGETs (the garbage collector deletes their \
         dependents), and follows the cascade until nothing more happens. Reports objects that ended differently \
         than planned, and objects that are stuck with what blocks them.\n\n\
         Deletes nothing unless the API server says that you may, everything that decides the outcome could be read, \
         and you confirm. Asks again if the cluster changes so that other objects would be deleted.\n\n\
         With --hold, the delete waits, and can be taken back until its time is up: see docs/hold.md.\n\n\
         Use it in place of kubectl delete wherever an object has dependents, data or finalizers.",
        |matches| DeleteArgs::from_arg_matches_mut(matches).map(Command::Delete),
    ),
    entry::<CancelArgs>(
        "cancel",
        "Take back a delete that waits",
        "Takes back what delete --hold has deleted and not let go yet: keeps the dependents of the TARGETs, creates \
         the TARGETs again, and gives their dependents references to them. Nothing below a TARGET is restarted. Works \
         from anywhere, also if the program that holds is gone, and can be run again after an interruption.\n\n\
         Use it if the delete was a mistake. What is deleted already comes back with restore, from an archive.",
        |matches| CancelArgs::from_arg_matches_mut(matches).map(Command::Cancel),
    ),
    entry::<ArchiveArgs>(
        "archive",
        "Write the objects a delete would remove into a file",
        "Writes every complete object that a delete of the TARGETs would remove into FILE: YAML for kubectl and for \
         restore, compressed if FILE ends in .gz. Objects that are already Terminating can be archived, too.\n\n\
         Use it before a delete that you may regret, also if another program deletes.",
        |matches| ArchiveArgs::from_arg_matches_mut(matches).map(Command::Archive),
    ),
    entry::<RestoreArgs>(
        "restore",
        "Restore archived objects",
        "Creates the objects in ARCHIVE that the cluster lacks: namespaces, then CRDs, then owners before their \
         dependents, whose owner references get the new uids. Compares existing objects and does not change them. \
         Can be run again after an interruption.\n\n\
         TARGETs restore only these objects and their dependents. -n restores into another namespace.\n\n\
         Use it after a delete that should not have happened, or to copy an application.",
        |matches| RestoreArgs::from_arg_matches_mut(matches).map(Command::Restore),
    ),
    entry::<SweepArgs>(
        "sweep",
        "Do the garbage collector's work: one pass, or --watch",
        "For clusters where no collector is running. One pass removes references to missing owners, deletes objects \
         whose owners are all gone, and finishes foreground and orphan deletes. It shows the plan, asks, works until \
         nothing is left to do, and reports the result. --dry-run only shows the plan. --watch continues like the \
         controller, without asking.\n\n\
         Covers the whole cluster unless -n NAMESPACE or TARGETs limit which objects may be changed; it always reads \
         everything that decides.\n\n\
         Use it where only an API server runs, as in envtest, or while the controller manager is down.",
        |matches| SweepArgs::from_arg_matches_mut(matches).map(Command::Sweep),
    ),
    entry::<DoctorArgs>(
        "doctor",
        "Find problems with owners and deletions, and how to fix them",
        "Finds owner references to missing objects, ownership cycles, stuck deletions, deletions that start when a \
         controller or API comes back, and signs that the garbage collector does not work. Each finding says what is \
         wrong, what follows, and which kubectl command fixes it with the least harm. On a live cluster, findings \
         are checked again before they are reported.\n\n\
         Covers the whole cluster unless -n NAMESPACE or TARGETs limit which findings are reported; it always reads \
         everything that matters.\n\n\
         Use it when something does not go away, or went away by itself, and now and then before that happens.",
        |matches| DoctorArgs::from_arg_matches_mut(matches).map(Command::Doctor),
    ),
    entry::<ExplainArgs>(
        "explain",
        "Explain one object: owners, what it waits for, what is next",
        "Shows for each TARGET its owners and whether they count, what the collector does next, what would change \
         that, and, if it is Terminating, what it waits for, down to the root cause. Includes the findings of doctor \
         for this object.\n\n\
         Use it when one object is stuck in Terminating, or when you wonder why it is still there.",
        |matches| ExplainArgs::from_arg_matches_mut(matches).map(Command::Explain),
    ),
    entry::<TuiArgs>(
        "tui",
        "Walk through owners, plans and findings on the screen",
        "Shows owners and dependents as a forest to walk through: open and close, filter, go to owners, mark objects \
         and see what a delete of them does, read findings and their remedies, and watch a cascade while it happens. \
         ? lists the keys. A delete shows the plan and asks, as the command delete does; nothing else changes \
         anything.",
        |matches| TuiArgs::from_arg_matches_mut(matches).map(Command::Tui),
    ),
    entry::<WatchArgs>(
        "watch",
        "Tell what goes and why, while it happens",
        "Prints a line whenever an object is deleted or collected, waits for something, loses owners or finalizers, \
         or is recreated, with the reason as far as it can be found out: an owner is called missing only if a \
         look-up says so. Objects that are made again and again with an owner that does not exist are reported as a \
         LOOP, with their maker. Changes nothing.\n\n\
         Covers the namespace; -A covers all, and TARGETs limit it to these objects, what is in them, and their \
         dependents, also future ones.\n\n\
         Use it while objects vanish or come back, and nobody knows why.",
        |matches| WatchArgs::from_arg_matches_mut(matches).map(Command::Watch),
    ),
    entry::<ReclaimArgs>(
        "reclaim",
        "Say what the cluster will remove by itself, when and why",
        "Lists what controllers of Kubernetes will remove without being asked: finished Jobs, old ReplicaSets and \
         revisions, Pods that have ended or whose Node is gone, released volumes, certificate requests, tokens and \
         Leases. For each, it says when, by which controller and which rule, what goes with it, and what holds it. \
         --never lists what one might expect to go, and stays. Changes nothing.\n\n\
         Covers the namespace; -A covers all, with what has no namespace, and TARGETs limit it to these objects. \
         Settings of controllers can't be read: Kubernetes' defaults are assumed, which flags override.\n\n\
         Use it to see what is about to vanish, or why something is still there.",
        |matches| ReclaimArgs::from_arg_matches_mut(matches).map(Command::Reclaim),
    ),
    entry::<ResourcesArgs>(
        "resources",
        "List deletable resources, and which the collector watches",
        "Lists the resources that the cluster serves, in the version that the collector watches, and says why it does \
         not watch the others.\n\n\
         Use it to find out why objects of some type are never collected.",
        |matches| ResourcesArgs::from_arg_matches_mut(matches).map(Command::Resources),
    ),
    entry::<SnapshotArgs>(
        "snapshot",
        "Write the cluster's metadata into a file for --from",
        "Writes what the other commands read: no contents of Secrets, no annotations except deletion policies, and of \
         managed fields only who set the finalizers of Terminating objects. Records what it covers, so that a reader \
         knows which objects do not exist, and which were not read.\n\n\
         Use it to look at a cluster later, elsewhere, or together with people who may not read it.",
        |matches| SnapshotArgs::from_arg_matches_mut(matches).map(Command::Snapshot),
    ),
    entry::<CompletionArgs>(
        "completion",
        "Complete commands, types and objects in a shell",
        "Prints the completion script of a shell for kubectl-gc. `install` puts it, what kubectl calls to complete \
         `kubectl gc`, and man pages where they are found, and says what it did. It replaces no file that is not its \
         own.\n\n\
         Use it once, after you have put the program on the PATH.",
        |matches| CompletionArgs::from_arg_matches_mut(matches).map(Command::Completion),
    ),
    entry::<VersionArgs>(
        "version",
        "Print the version",
        "Needs no cluster. Use it when you report a bug.",
        |matches| VersionArgs::from_arg_matches_mut(matches).map(Command::Version),
    ),
];

const fn entry<A: Args>(
    name: &'static str,
    about: &'static str,
    more: &'static str,
    read: fn(&mut ArgMatches) -> Result<Command, Error>,
) -> Entry {
    Entry { name, about, more, arguments: A::augment_args, read }
}

impl Entry {
    fn of(name: &str) -> Option<&'static Self> {
        COMMANDS.iter().find(|entry| entry.name == name)
    }

    /// The command with its arguments.
    fn complete(&self) -> clap::Command {
        let command = (self.arguments)(clap::Command::new(self.name)).about(self.about);
        let template = [TEMPLATE, ",\n\"kubectl gc help ", self.name, "\" for all flags."].concat();
        let command = command.before_help(examples::of(self.name)).help_template(template);
        let takes_format = |arg: &clap::Arg| arg.get_value_names().is_some_and(|names| names == ["FORMAT"]);
        let command = command.mut_args(|arg| if takes_format(&arg) { arg.long_help(formats::ABOUT) } else { arg });
        command.long_about(format!("{}\n\n{}", self.about, self.more))
    }
}

impl Cli {
    /// Every command with every argument.
    pub fn command() -> clap::Command {
        let root = Root::command().help_template(list_of_commands());
        root.subcommands(COMMANDS.iter().map(Entry::complete))
    }

    /// Reads the arguments of a process; the first one is its name.
    ///
    /// # Errors
    /// What clap prints: help, the version, or what is wrong.
    pub fn of(args: impl IntoIterator<Item = OsString>) -> Result<Self, Error> {
        let mut args = arguments::as_written_for_clap(args.into_iter());
        let mut command = Self::command();
        if is_about_options(&args) {
            command = Root::command().subcommand_required(false).help_template(OPTIONS);
            args.splice(1.., ["--help-in-full".into()]);
        }
        let args = arguments::with_switches(&command, args)?;
        let mut matches = command.try_get_matches_from_mut(args).map_err(of_a_cluster)?;
        let read = Self::read(&mut matches);
        read.map_err(|error| error.format(&mut command))
    }

    fn read(matches: &mut ArgMatches) -> Result<Self, Error> {
        let mut global = Root::from_arg_matches_mut(matches)?.global;
        let given = matches.remove_subcommand();
        let given = given.and_then(|(name, matches)| Some((Entry::of(&name)?, matches)));
        let (entry, mut matches) = given.ok_or_else(|| Error::new(ErrorKind::MissingSubcommand))?;
        let command = (entry.read)(&mut matches)?;
        global.connection.chosen.user_agent = Some(format!("{} {}", cluster::program(), entry.name));
        global.printing = command.printing();
        Ok(Self { global, command })
    }
}

/// Says why a command that changes a cluster has no `--from`.
fn of_a_cluster(error: Error) -> Error {
    match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(flag)) if flag == "--from" => Error::raw(
            error.kind(),
            "--from and --example read files, and this command needs a cluster. With files, use `kubectl gc plan` \
             instead of delete, and `kubectl gc sweep --dry-run` instead of sweep\n",
        ),
        _ => error,
    }
}

fn is_about_options(args: &[OsString]) -> bool {
    let is_help = |arg: &OsString| arg == "-h" || arg == "--help";
    args.get(1).is_some_and(|first| first == OF_OPTIONS) && args[2..].iter().all(is_help)
}
