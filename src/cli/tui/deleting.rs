//! A delete from the screen: the plan, the question and the archive of `kubectl gc delete`, on the ordinary screen;
//! then it is carried out beside the screen, which shows how far it is.

use std::{
    ffi::OsString,
    io::{self, Write as _},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, mpsc::Sender},
};

use crate::{
    cli::{
        args::GlobalArgs,
        commands::{Cli, Command},
        delete::{Approved, Asked, DeleteArgs, ask, delete_config},
        follow::describe,
        report::{Exit, Report, describe_error},
    },
    operations::{OperationError, TargetConfig, delete::Delete},
    render::escape::visible,
    tui::{Line, News, lines as lines_of},
};
use gc_core::{model::Identity, server::Propagation};

use super::progress::{Message, OffScreen};

/// An approved delete.
pub(super) struct Deleting {
    global: GlobalArgs,
    args: DeleteArgs,
    approved: Box<Approved>,
}

impl Deleting {
    /// Reads everything again, shows the plan of these very objects, and asks. `None`: not approved, as was printed.
    ///
    /// # Errors
    /// Why nothing can be deleted; also if another object has the name of one of them by now.
    pub(super) fn ask(
        global: &GlobalArgs,
        targets: &[Identity],
        propagation: Propagation,
        news: &Sender<Message>,
    ) -> Result<Option<Self>, OperationError> {
        let args = as_typed(propagation)?;
        let mut cluster = global.cluster()?;
        cluster.progress = Some(Arc::new(OffScreen::new(cluster.progress.take(), news.clone())));
        // One that is gone already needs no delete.
        let delete = Delete::open(&cluster, &TargetConfig::of_objects(targets), delete_config(&args)?)?;
        let snapshot = &delete.session.snapshot;
        for target in delete.session.targets.iter().flatten() {
            let found = Identity::of(snapshot, *target);
            if !targets.iter().any(|target| target.uid == found.uid) {
                return Err(OperationError::Replaced { object: found.short_name() });
            }
        }
        match ask(global, &args, delete)? {
            Asked::Approved(approved) => Ok(Some(Deleting { global: global.clone(), args, approved })),
            Asked::Over(report) => {
                report.print();
                Ok(None)
            }
        }
    }

    /// Deletes, and follows the cascade to its end.
    pub(super) fn start(self, news: Sender<Message>) {
        let Deleting { global, args, approved } = self;
        std::thread::spawn(move || {
            // Ignore errors: the screen may be closed.
            let tell = |message| drop(news.send(message));
            let deleted = catch_unwind(AssertUnwindSafe(|| {
                approved.carry_out(&global, &args, None, &mut |noted, event| {
                    if let Some(text) = describe(&event, noted) {
                        tell(Message::News(News::Deleting(format!("Deleting: {text}"))));
                    }
                })
            }));
            tell(match deleted {
                Ok(Ok(report)) => Message::Deleted(Box::new(report)),
                Ok(Err(error)) => Message::Deleted(Box::new(failed(&error))),
                Err(_) => Message::Broken,
            });
        });
    }
}

/// The arguments of `kubectl gc delete` with this policy, and its defaults.
fn as_typed(propagation: Propagation) -> Result<DeleteArgs, OperationError> {
    let policy = format!("--propagation={}", propagation.name().to_lowercase());
    let words = ["kubectl-gc", "delete", &policy].map(OsString::from);
    match Cli::of(words).map(|cli| cli.command) {
        Ok(Command::Delete(args)) => Ok(args),
        Ok(_) | Err(_) => Err(OperationError::Usage(format!("delete does not take {policy}"))),
    }
}

fn failed(error: &OperationError) -> Report {
    Report { notes: vec![format!("error: {}", describe_error(error))], exit: Exit::Failed, ..Report::of(Vec::new()) }
}

/// A report as text.
pub(super) fn lines(report: &Report) -> Vec<Line> {
    let notes = report.notes.iter().map(|note| visible(note).into_owned() + "\n");
    lines_of((String::from_utf8_lossy(&report.data).into_owned() + &notes.collect::<String>()).trim_start_matches('\n'))
}

/// Prints an error on the ordinary screen.
pub(super) fn tell(error: &OperationError) {
    // Ignore errors: stderr may be closed.
    let _ = writeln!(io::stderr(), "error: {}", describe_error(error));
}

/// Lets the user read what is on the ordinary screen.
pub(super) fn wait_for_enter() {
    let _ = write!(io::stderr(), "\nEnter goes back to the screen. ");
    let _ = io::stderr().flush();
    let _ = io::stdin().read_line(&mut String::new());
}
