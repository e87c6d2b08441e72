//! `kubectl gc restore`

use std::{
    collections::BTreeSet,
    io::{self, Write as _},
};

use serde_json::Value;

use crate::{
    operations::{
        OperationError,
        approve::{Approval, OnMissed, Policy, Proposal as _, Question, View, approve},
        archive::EVENTS_STAY,
        restore::{Restore, RestoreRequest, to_write},
    },
    render::{escape::visible, restore::RestoreView, states::Style},
};
use gc_cluster::{
    act::Mode,
    archive::{Archive, ArchiveError, Header, LeftOut},
    cluster::Connection,
};
use gc_core::{
    command_line::ShellCommand,
    restore::{Archived, Restored},
    wording::{count, some_of},
};

use super::{
    args::{GlobalArgs, RestoreArgs},
    output::Printer,
    report::{self, Exit, Report, StdTerminal},
};

/// At most this many lists that could not be read are named.
const NAMED_GAPS: usize = 3;

/// Restores the objects of an archive.
pub(super) fn run(global: &GlobalArgs, args: &RestoreArgs) -> Result<Report, OperationError> {
    // Report problems of the file before anything else is read.
    let archive = Archive::open(&args.archive)?;
    let mut restore = Restore::open(&global.cluster()?, objects(&archive)?, archive.header(), &request(global, args))?;
    let mut view = RestoreReport { global, args, header: archive.header(), again: again(global, args) };
    let mode = args.consent.dry_run;
    let mut notes = Vec::new();
    if mode == Mode::Apply {
        // Every object is read again right before it is created: no watch is needed.
        let policy = Policy { yes: args.consent.yes, missed: OnMissed::Recheck };
        let approval = approve(&mut restore, &mut view, &mut StdTerminal, policy, &mut notes)?;
        if let Approval::Declined(word) = approval {
            return Ok(Report::declined(word.as_deref()).with_gaps(&restore.gaps));
        }
    }
    let mut report = view.report(&restore, mode, &restore.carry_out(mode))?;
    report.notes.extend(notes);
    Ok(report)
}

/// The objects of an archive.
///
/// # Errors
/// An archive that was changed or cut off.
pub(super) fn objects(archive: &Archive) -> Result<Vec<Archived>, OperationError> {
    let objects: Vec<Value> = archive.objects()?.collect::<Result<_, ArchiveError>>()?;
    Archived::all(objects).map_err(|malformed| OperationError::Unusable(malformed.to_string()))
}

/// What the arguments ask for.
pub(super) fn request(global: &GlobalArgs, args: &RestoreArgs) -> RestoreRequest {
    RestoreRequest { namespace: global.connection.namespace().map(str::to_owned), ..args.request.clone() }
}

/// The command that runs this restore again, on the same cluster.
fn again(global: &GlobalArgs, args: &RestoreArgs) -> ShellCommand {
    let mut command = global.connection.kubectl().plugin("restore");
    if let Some(namespace) = global.connection.namespace() {
        command = command.arg(format!("--namespace={namespace}"));
    }
    let RestoreRequest { namespace_map, all, cluster_scoped, targets, .. } = &args.request;
    for (from, to) in namespace_map {
        command = command.arg(format!("--namespace-map={from}={to}"));
    }
    for (flag, given) in [("--all", *all), ("--cluster-scoped", *cluster_scoped)] {
        command = if given { command.arg(flag) } else { command };
    }
    command.file(&args.archive.display().to_string()).args(targets.iter().cloned())
}

/// Prints a restore.
struct RestoreReport<'a> {
    global: &'a GlobalArgs,
    args: &'a RestoreArgs,
    header: &'a Header,
    again: ShellCommand,
}

impl View<Restore> for RestoreReport<'_> {
    /// Shows what would be done, if the user has to confirm.
    fn show(&mut self, restore: &Restore, foreseen: &Vec<Restored>, _: Option<&()>) -> Result<(), OperationError> {
        if self.args.consent.yes || restore.is_settled(foreseen) {
            return Ok(());
        }
        let style = Style::new(report::is_coloured(self.global.color, &io::stderr()));
        let printer = Printer::new(self.global).text_in(style);
        let text = self.print(restore, Mode::ClientDryRun, foreseen, &printer)?;
        io::stderr().write_all(&text).and_then(|()| io::stderr().write_all(b"\n")).map_err(OperationError::Print)
    }

    fn question(&self, restore: &Restore, foreseen: &Vec<Restored>) -> Question {
        let what = match to_write(foreseen) {
            (0, complete) => {
                format!("Complete {} created by an earlier restore", count(complete, "object", "objects"))
            }
            (create, _) => format!("Create {}", count(create, "object", "objects")),
        };
        let place = place(&restore.cluster.connection);
        let into = match self.moves(restore).as_str() {
            "" => String::new(),
            moves => format!(" ({moves})"),
        };
        Question { prompt: format!("{what} in {place}{into}? [y/N]"), ..Question::default() }
    }
}

impl RestoreReport<'_> {
    fn report(&self, restore: &Restore, mode: Mode, restored: &[Restored]) -> Result<Report, OperationError> {
        let view = self.view(restore, mode, restored);
        let data = self.print(restore, mode, restored, &Printer::new(self.global))?;
        let mut report = Report::of(data).with_gaps(&restore.gaps);
        report.notes.extend(self.not_archived());
        if view.is_interrupted() {
            report.exit = Exit::Failed;
        } else if !view.is_fine() {
            report.exit = Exit::BadNews;
        }
        Ok(report)
    }

    fn view<'a>(&'a self, restore: &'a Restore, mode: Mode, restored: &'a [Restored]) -> RestoreView<'a> {
        let Restore { plan, resources, gaps, .. } = restore;
        RestoreView { plan, restored, mode, resources, gaps, targets: &self.header.targets, again: &self.again }
    }

    fn print(
        &self,
        restore: &Restore,
        mode: Mode,
        restored: &[Restored],
        printer: &Printer,
    ) -> Result<Vec<u8>, OperationError> {
        let heading = || {
            let nothing = if mode == Mode::Apply { "" } else { " Nothing was changed." };
            let mut place = place(&restore.cluster.connection);
            place[..1].make_ascii_uppercase();
            let moves = match self.moves(restore).as_str() {
                "" => String::new(),
                moves => format!("Moved: {}.\n", visible(moves)),
            };
            format!("{}.{nothing}\n{}\n{moves}\n", visible(&place), visible(&self.origin(restore))).into_bytes()
        };
        printer.print(&self.view(restore, mode, restored), heading)
    }

    /// Which namespaces are restored into others: `from namespace shop into trial`.
    fn moves(&self, restore: &Restore) -> String {
        let moved = restore.plan.items.iter().filter_map(|item| {
            let archived = &item.archived;
            archived.moved_from.as_ref().map(|from| format!("from namespace {from} into {}", archived.place.namespace))
        });
        let moved: BTreeSet<String> = moved.collect();
        moved.into_iter().collect::<Vec<_>>().join(", ")
    }

    /// What the archive lacks, according to its own header.
    fn not_archived(&self) -> impl Iterator<Item = String> + '_ {
        let Header { gaps, gone, left_out, .. } = self.header;
        let names: Vec<String> = gaps.iter().map(ToString::to_string).collect();
        let unread = "could not be read when the archive was written, so objects may be missing.";
        let gaps = (!names.is_empty()).then(|| format!("{} {unread}", some_of(&names, NAMED_GAPS)));
        let gone = gone
            .iter()
            .map(|object| format!("{}/{} was already deleted when the archive was written.", object.kind, object.name));
        // That is so of every archive.
        let left_out = left_out.iter().filter(|left_out| left_out.why != EVENTS_STAY);
        let left_out = left_out.map(|LeftOut { resource, namespace, why }| match namespace {
            Some(namespace) => format!("{resource} in namespace {namespace} were not archived: {why}."),
            None => format!("{resource} were not archived: {why}."),
        });
        gaps.into_iter().chain(gone).chain(left_out)
    }

    /// The cluster that the archive was written from.
    fn origin(&self, restore: &Restore) -> String {
        let Header { context, server, time, .. } = self.header;
        let file = self.args.archive.display();
        let objects = count(restore.plan.items.len(), "object", "objects");
        let endpoint = restore.cluster.connection.endpoint();
        let from = match *server == endpoint.server || server.is_empty() {
            true => String::new(),
            false => format!(" from another cluster: context {context} ({server})"),
        };
        format!("Archive {file}: {objects}, archived {time}{from}.")
    }
}

/// `context prod-eu (api.prod-eu:6443)`
fn place(connection: &Connection) -> String {
    let endpoint = connection.endpoint();
    match endpoint.context.as_str() {
        "" => format!("server {}", endpoint.server),
        context => format!("context {context} ({})", endpoint.server),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::commands::{Cli, Command};

    #[test]
    fn what_is_to_be_done_again_goes_to_the_same_cluster() {
        let said = ["kubectl-gc", "restore", "my shop.yaml", "--all", "--context=prod", "--yes"];
        let cli = Cli::of(said.map(Into::into)).unwrap();
        let Command::Restore(args) = &cli.command else { panic!("{said:?}") };
        assert_eq!(again(&cli.global, args).to_string(), "kubectl gc restore --context=prod --all 'my shop.yaml'");
        let said = ["kubectl-gc", "restore", "a.yaml", "deploy/web", "-n", "trial", "--cluster-scoped"];
        let cli = Cli::of(said.map(Into::into)).unwrap();
        let Command::Restore(args) = &cli.command else { panic!("{said:?}") };
        assert_eq!(
            again(&cli.global, args).to_string(),
            "kubectl gc restore --namespace=trial --cluster-scoped a.yaml deploy/web"
        );
    }
}
