//! The command line: arguments in, reports out.

mod account;
mod apply;
mod archive;
pub mod args;
mod cancel;
pub mod commands;
pub mod completion;
mod config;
mod connection;
mod delete;
mod doctor;
pub mod examples;
mod explain;
mod output;
mod plan;
mod progress;
mod reclaim;
mod report;
mod resources;
mod restore;
pub mod role;
mod screen;
mod snapshot;
pub mod sweep;
mod tree;
mod tui;
pub mod values;
mod verbosity;
mod version;

use std::io::{self, Write};

use clap::error::ErrorKind;

use self::{
    args::GlobalArgs,
    commands::{Cli, Command},
    report::{Exit, Report, complain, describe_error},
};
use crate::operations::OperationError;

/// Runs the command of this process's arguments.
pub fn run() -> Exit {
    if let Some(words) = completion::asked(std::env::args_os()) {
        return Report::of(completion::complete(&words)).print();
    }
    let mut cli = match Cli::of(std::env::args_os()) {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    let opens = cli.command.opens(&mut cli.global.printing.output);
    let done = opens.and_then(|opens| {
        let report = dispatch(&cli)?;
        Ok(match opens {
            Some(file) => output::show(report, file.as_deref()),
            None => report,
        })
    });
    match done {
        Ok(report) => warned(&cli.global, report.print()),
        Err(error) => {
            complain(&format!("error: {}", describe_error(&error)));
            // What a plan comes to, as if a gate had forbidden it.
            if matches!(error, OperationError::Refused { .. }) { Exit::BadNews } else { Exit::Failed }
        }
    }
}

/// The exit code with `--warnings-as-errors`. As in kubectl, a command that failed says only why.
fn warned(global: &GlobalArgs, exit: Exit) -> Exit {
    let error = global.warnings.as_error().filter(|_| global.connection.warnings_as_errors);
    let Some(error) = error.filter(|_| exit != Exit::Failed) else { return exit };
    // Ignore errors: stderr may be closed.
    let _ = writeln!(io::stderr(), "error: {error}");
    Exit::Failed
}

fn dispatch(cli: &Cli) -> Result<Report, OperationError> {
    if let Some(rights) = role::asked(&cli.global, &cli.command)? {
        return Ok(rights);
    }
    // The screen shows what is being done itself.
    if !matches!(cli.command, Command::Tui(_)) {
        progress::show_work();
    }
    let mut report = match &cli.command {
        Command::Tree(args) => tree::run(&cli.global, args),
        Command::Plan(args) => plan::run(&cli.global, args),
        Command::Delete(args) => delete::run(&cli.global, args),
        Command::Cancel(args) => cancel::run(&cli.global, args),
        Command::Archive(args) => archive::run(&cli.global, args),
        Command::Restore(args) => restore::run(&cli.global, args),
        Command::Tui(args) => tui::run(&cli.global, args),
        Command::Sweep(args) => sweep::run(&cli.global, args),
        Command::Doctor(args) => doctor::run(&cli.global, args),
        Command::Explain(args) => explain::run(&cli.global, args),
        Command::Watch(args) => account::run(&cli.global, args),
        Command::Reclaim(args) => reclaim::run(&cli.global, args),
        Command::Resources(args) => resources::run(&cli.global, args),
        Command::Snapshot(args) => snapshot::run(&cli.global, args),
        Command::Completion(args) => match args.shell {
            Some(shell) => Ok(Report::of(completion::script(shell))),
            None => completion::install(),
        },
        Command::Version(_) => Ok(Report::of(version::text(cli.global.printing)?)),
    }?;
    if let Some(profile) = cli.global.connection.profile.as_deref().filter(|profile| *profile != "none") {
        report.notes.push(format!("--profile={profile} has no effect: kubectl gc has no such profiles."));
    }
    // The user chose both files and a cluster: say which one counts.
    if let (true, Some(flag)) = (!cli.global.source.from.is_empty(), cli.global.connection.chosen()) {
        report.notes.push(format!("{flag} is ignored: --from reads files, not a cluster."));
    }
    Ok(report)
}

/// Prints clap's message. Help and version go to stdout and exit with 0, as in kubectl, also without any argument;
/// usage errors go to stderr and exit with 1, not with clap's 2.
fn usage(error: &clap::Error) -> Exit {
    let no_arguments = error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    let asked_for = no_arguments || matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    if !asked_for {
        // What is indented is not wrapped.
        complain(error.render().to_string().replace("\n  [", "\n[").trim_end());
        return Exit::Failed;
    }
    // clap itself would print the help to stderr.
    let printed = write!(io::stdout(), "{}", error.render());
    match printed {
        Err(closed) if closed.kind() == io::ErrorKind::BrokenPipe => Exit::Fine,
        Err(_) => Exit::Failed,
        Ok(()) => Exit::Fine,
    }
}
