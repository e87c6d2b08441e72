//! The commands: their names, what they do, and what reads their arguments.

use std::ffi::OsString;

use clap::{ArgMatches, Args, CommandFactory as _, Error, FromArgMatches as _, error::ErrorKind};

use crate::cluster;

use super::{
    args::{
        ArchiveArgs, CompletionArgs, DeleteArgs, DoctorArgs, ExplainArgs, GlobalArgs, PlanArgs, ResourcesArgs,
        RestoreArgs, Root, SnapshotArgs, SweepArgs, TreeArgs, VersionArgs, WatchArgs,
    },
    arguments,
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
    Archive(ArchiveArgs),
    Restore(RestoreArgs),
    Sweep(SweepArgs),
    Doctor(DoctorArgs),
    Explain(ExplainArgs),
    Watch(WatchArgs),
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
    /// What its own help says besides.
    more: &'static str,
    /// Adds its arguments.
    arguments: fn(clap::Command) -> clap::Command,
    /// Reads its arguments.
    read: fn(&mut ArgMatches) -> Result<Command, Error>,
}

/// In the order of the help.
const COMMANDS: [Entry; 13] = [
    entry::<TreeArgs>("tree", "Show owners and dependents as a tree", "", |matches| {
        TreeArgs::from_arg_matches_mut(matches).map(Command::Tree)
    }),
    entry::<PlanArgs>("plan", "Predict what a delete does to every object, and why", "", |matches| {
        PlanArgs::from_arg_matches_mut(matches).map(Command::Plan)
    }),
    entry::<DeleteArgs>(
        "delete",
        "Show the plan, ask, delete, and follow the cascade to its end",
        "Shows what the delete does to every object, asks, deletes the TARGETs (the garbage collector deletes their \
         dependents), and follows the cascade until nothing more happens. Reports objects that ended differently \
         than planned, and objects that are stuck with what blocks them.\n\n\
         Deletes nothing unless the API server says that you may, everything that decides the outcome could be read, \
         and you confirm. Asks again if the cluster changes so that other objects would be deleted.",
        |matches| DeleteArgs::from_arg_matches_mut(matches).map(Command::Delete),
    ),
    entry::<ArchiveArgs>(
        "archive",
        "Write the objects a delete would remove into a file",
        "Writes every complete object that a delete of the TARGETs would remove into FILE: YAML for kubectl and for \
         restore, compressed if FILE ends in .gz. Objects that are already Terminating can be archived, too.",
        |matches| ArchiveArgs::from_arg_matches_mut(matches).map(Command::Archive),
    ),
    entry::<RestoreArgs>(
        "restore",
        "Restore archived objects",
        "Creates the objects in ARCHIVE that the cluster lacks: namespaces, then CRDs, then owners before their \
         dependents, whose owner references get the new uids. Compares existing objects and does not change them. \
         Can be run again after an interruption.\n\n\
         TARGETs restore only these objects and their dependents. -n restores into another namespace.",
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
         everything that decides.",
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
         everything that matters.",
        |matches| DoctorArgs::from_arg_matches_mut(matches).map(Command::Doctor),
    ),
    entry::<ExplainArgs>(
        "explain",
        "Explain one object: owners, what it waits for, what is next",
        "Shows for each TARGET its owners and whether they count, what the collector does next, what would change \
         that, and, if it is Terminating, what it waits for, down to the root cause. Includes the findings of doctor \
         for this object.",
        |matches| ExplainArgs::from_arg_matches_mut(matches).map(Command::Explain),
    ),
    entry::<WatchArgs>(
        "watch",
        "Tell what goes and why, while it happens",
        "Prints a line whenever an object is deleted or collected, waits for something, loses owners or finalizers, \
         or is recreated, with the reason as far as it can be found out: an owner is called missing only if a \
         look-up says so. Objects that are made again and again with an owner that does not exist are reported as a \
         LOOP, with their maker. Changes nothing.\n\n\
         Covers the namespace; -A covers all, and TARGETs limit it to these objects, what is in them, and their \
         dependents, also future ones.",
        |matches| WatchArgs::from_arg_matches_mut(matches).map(Command::Watch),
    ),
    entry::<ResourcesArgs>("resources", "List deletable resources, and which the collector watches", "", |matches| {
        ResourcesArgs::from_arg_matches_mut(matches).map(Command::Resources)
    }),
    entry::<SnapshotArgs>("snapshot", "Write the cluster's metadata into a file for --from", "", |matches| {
        SnapshotArgs::from_arg_matches_mut(matches).map(Command::Snapshot)
    }),
    entry::<CompletionArgs>(
        "completion",
        "Complete commands, types and objects in a shell",
        "Prints the completion script of a shell for kubectl-gc. `install` puts it, and what kubectl calls to \
         complete `kubectl gc`, where they are found, and says what it did. It replaces no file that is not its own.",
        |matches| CompletionArgs::from_arg_matches_mut(matches).map(Command::Completion),
    ),
    entry::<VersionArgs>("version", "Print the version", "", |matches| {
        VersionArgs::from_arg_matches_mut(matches).map(Command::Version)
    }),
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
        match self.more {
            "" => command.long_about(None),
            more => command.long_about(format!("{}\n\n{more}", self.about)),
        }
    }

    /// What the list of all commands shows of it.
    fn listed(&self) -> clap::Command {
        clap::Command::new(self.name).about(self.about)
    }
}

impl Cli {
    /// Every command with every argument.
    pub fn command() -> clap::Command {
        Root::command().subcommands(COMMANDS.iter().map(Entry::complete))
    }

    /// Reads the arguments of a process; the first one is its name.
    ///
    /// # Errors
    /// What clap prints: help, the version, or what is wrong.
    pub fn of(args: impl IntoIterator<Item = OsString>) -> Result<Self, Error> {
        let args = arguments::as_written_for_clap(args.into_iter());
        let mut command = needed(&args);
        let args = arguments::with_switches(&command, args.into_iter())?;
        let mut matches = command.try_get_matches_from_mut(args)?;
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

/// The part of [`Cli::command`] that reads these arguments: to build all of it takes longer than what most runs do.
pub(super) fn needed(args: &[OsString]) -> clap::Command {
    let named = |arg: &OsString| arg.to_str().and_then(Entry::of);
    // clap leaves everything after the first word to its command.
    if let Some(entry) = args.get(1).and_then(named) {
        return Root::command().subcommand(entry.complete());
    }
    if args.iter().skip(1).any(|arg| named(arg).is_some()) {
        return Cli::command();
    }
    // No command is called: what comes is the list of commands, the version or an error. No flag has to reach them.
    Root::command().mut_args(|arg| arg.global(false)).subcommands(COMMANDS.iter().map(Entry::listed))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    /// What comes of reading a line with these commands.
    fn told(mut command: clap::Command, line: &str) -> String {
        let read = command.try_get_matches_from_mut(words(line)).and_then(|mut matches| Cli::read(&mut matches));
        match read {
            Ok(cli) => format!("{cli:?}"),
            Err(error) => format!("{:?} {}", error.kind(), error.render().ansi()),
        }
    }

    #[test]
    fn the_needed_part_says_what_the_whole_says() {
        let of_each =
            ["-h", "--help", "--nonsense", "--nam=x", "-n", "-A -n x a b --help", "x --color=no", "-V", "plan"];
        let of_each = COMMANDS.iter().flat_map(|entry| of_each.map(|rest| format!("gc {} {rest}", entry.name)));
        let lines = [
            "gc",
            "gc -h",
            "gc --help",
            "gc -V",
            "gc --version",
            "gc tre",
            "gc tre plan",
            "gc --nonsense",
            "gc -n",
            "gc --nonsense tree",
            "gc -n tree",
            "gc -n x tree",
            "gc -n tree plan x",
            "gc -- tree",
            "gc --owners tree",
            "gc --owners",
            "gc -v 6 version",
            "gc --color never",
            "gc --color=never tree -A",
            "gc plan x --max 3",
            "gc version version",
            "gc --help tree",
            "gc tree --from a --assume-complete",
            "gc --namespac x",
        ];
        for line in lines.map(str::to_owned).into_iter().chain(of_each) {
            assert_eq!(told(needed(&words(&line)), &line), told(Cli::command(), &line), "{line}");
        }
    }

    /// Arguments that no run reads aren't built.
    #[test]
    fn only_the_needed_part_is_built() {
        let built = |line: &str| {
            let command = needed(&words(line));
            command.get_subcommands().filter(|command| command.get_arguments().count() > 0).count()
        };
        assert_eq!(built("gc --help"), 0);
        assert_eq!(built("gc version"), 1);
        assert_eq!(built("gc plan tree"), 1);
        assert_eq!(built("gc -n x plan"), COMMANDS.len());
    }
}
