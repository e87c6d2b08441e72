//! `kubectl gc tui`, and `-i` of tree, plan and doctor: keys and news in, effects out. [`crate::tui`] decides.

mod screen;
mod worker;

use std::{
    ffi::OsString,
    io::{self, IsTerminal as _, Write as _, stdin, stdout},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc::{Receiver, Sender, TryRecvError, channel},
    },
    time::{Duration, Instant},
};

use crate::{
    operations::{OperationError, SourceConfig, TargetConfig, delete::Delete, targets::TargetArgs, usage},
    render::escape::visible,
    tui::{Effect, Line, News, Scene, Start, State, lines as lines_of},
};
use gc_cluster::cluster::{ReadEvent, ReadObserver, clock};
use gc_core::{model::Identity, server::Propagation, wording::thousands};

use super::{
    args::{GlobalArgs, SourceArgs, TuiArgs},
    commands::{Cli, Command},
    delete::{Approved, Asked, DeleteArgs, ask, delete_config},
    progress::describe,
    report::{self, Exit, Report, describe_error},
    tui::{screen::Screen, worker::Worker},
};

/// How long to wait for a key before looking for news.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);
/// How often ages and statuses are brought up to date.
const TICK: Duration = Duration::from_secs(1);

/// Opens the screen.
pub(super) fn run(global: &GlobalArgs, args: &TuiArgs) -> Result<Report, OperationError> {
    let policy = args.propagation.policy();
    open(global, &args.targets, policy, Start::Forest)
}

/// Opens the screen at this place.
pub(super) fn open(
    global: &GlobalArgs,
    targets: &TargetArgs,
    policy: Propagation,
    start: Start,
) -> Result<Report, OperationError> {
    require_terminal(&global.source)?;
    let (news, messages) = channel();
    let mut targets = targets.clone();
    // As with tree: a TYPE alone means all of its objects.
    targets.type_alone = true;
    let (mut source_config, target_config) = global.configuration(&targets)?;
    if let SourceConfig::Cluster(cluster) = &mut source_config {
        let before = cluster.observer.take();
        cluster.observer = Some(off_screen(before, news.clone()));
    }
    let (requests, effects) = channel();
    let worker = Worker {
        global: global.clone(),
        targets: targets.clone(),
        source: source_config,
        wanted: target_config,
        colours: report::is_coloured(global.color, &stdout()),
        news: news.clone(),
    };
    worker.start(effects);
    // Reading may ask for credentials, and fail: that belongs on the ordinary screen.
    let (scene, named) = loop {
        match messages.recv() {
            Ok(Message::Ready(scene, named)) => break (scene, named),
            Ok(Message::Failed(error)) => return Err(error),
            Ok(Message::Broken) | Err(_) => return Err(broken()),
            Ok(_) => {}
        }
    };
    let screen = Screen::enter().map_err(OperationError::Print)?;
    let size = screen.size().map_err(OperationError::Print)?;
    let state = State::new(scene, policy, size, now(), report::is_coloured(global.color, &stdout()));
    let mut session = Running { global, screen, state, requests, news, messages, ended: Report::of(Vec::new()) };
    let effects = session.state.start(start, &named);
    session.run(effects)
}

/// # Errors
/// There is no terminal to draw on, or to read keys from.
fn require_terminal(source: &SourceArgs) -> Result<(), OperationError> {
    let why = match () {
        () if source.from.iter().any(|from| from == "-") => {
            "standard input brings the keys, so it cannot be --from, too: write the dump into a file"
        }
        () if !stdin().is_terminal() || !stdout().is_terminal() => {
            "this needs a terminal on standard input and output; tree, plan and doctor without -i print text for pipes \
             and files"
        }
        () if std::env::var_os("TERM").is_some_and(|term| term == "dumb") => {
            "a terminal with TERM=dumb cannot show this: use tree, plan and doctor without -i"
        }
        () => return Ok(()),
    };
    usage(why)
}

/// A thread ended without a word.
fn broken() -> OperationError {
    OperationError::Print(std::io::Error::other("the reading of the source has ended unexpectedly: please report this"))
}

fn now() -> i64 {
    clock::now().as_second()
}

/// The screen while it is open.
struct Running<'a> {
    global: &'a GlobalArgs,
    screen: Screen,
    state: State,
    requests: Sender<Effect>,
    news: Sender<Message>,
    messages: Receiver<Message>,
    /// What came of deletes, to be printed at the end.
    ended: Report,
}

impl Running<'_> {
    fn run(mut self, effects: Vec<Effect>) -> Result<Report, OperationError> {
        if self.carry_out(effects)? {
            return Ok(self.ended);
        }
        let mut ticked = Instant::now();
        loop {
            let mut effects = self.screen.draw(&mut self.state).map_err(OperationError::Print)?;
            match self.screen.next(BETWEEN_LOOKS).map_err(OperationError::Print)? {
                screen::Input::Key(key) => effects.extend(self.state.key(key)),
                screen::Input::Redraw => self.screen.forget().map_err(OperationError::Print)?,
                screen::Input::Nothing => {}
            }
            loop {
                match self.messages.try_recv() {
                    Ok(Message::News(news)) => effects.extend(self.state.news(news)),
                    Ok(Message::Deleted(report)) => effects.extend(self.deleted(*report)),
                    Ok(Message::Broken) | Err(TryRecvError::Disconnected) => return Err(broken()),
                    Ok(Message::Ready(..) | Message::Failed(_)) => {}
                    Err(TryRecvError::Empty) => break,
                }
            }
            if ticked.elapsed() >= TICK {
                ticked = Instant::now();
                effects.extend(self.state.tick(now()));
            }
            if self.carry_out(effects)? {
                return Ok(self.ended);
            }
        }
    }

    /// Returns whether to leave.
    fn carry_out(&mut self, effects: Vec<Effect>) -> Result<bool, OperationError> {
        for effect in effects {
            match effect {
                Effect::Leave => return Ok(true),
                Effect::Copy(text) => screen::copy(&text).map_err(OperationError::Print)?,
                Effect::Delete { targets, propagation } => self.delete(&targets, propagation)?,
                // If the worker has ended, its message comes next.
                other => drop(self.requests.send(other)),
            }
        }
        Ok(false)
    }

    /// Asks on the ordinary screen, and deletes beside this one.
    fn delete(&mut self, targets: &[Identity], propagation: Propagation) -> Result<(), OperationError> {
        self.screen.leave();
        let asked = Deleting::ask(self.global, targets, propagation, &self.news);
        match asked {
            Ok(Some(deleting)) => {
                self.state.begins_to_delete();
                deleting.start(self.news.clone());
            }
            Ok(None) => wait_for_enter(),
            Err(error) => {
                tell(&error);
                wait_for_enter();
            }
        }
        self.screen.reenter().map_err(OperationError::Print)
    }

    fn deleted(&mut self, report: Report) -> Vec<Effect> {
        let lines = lines_of_report(&report);
        self.ended.data.extend_from_slice(&report.data);
        self.ended.notes.extend(report.notes);
        self.ended.exit = report.exit;
        self.state.news(News::Deleted(lines))
    }
}

/// An approved delete.
struct Deleting {
    global: GlobalArgs,
    args: DeleteArgs,
    approved: Box<Approved>,
}

impl Deleting {
    /// Reads everything again, shows the plan of these very objects, and asks. `None`: not approved, as was printed.
    ///
    /// # Errors
    /// Why nothing can be deleted; also if another object has the name of one of them by now.
    fn ask(
        global: &GlobalArgs,
        targets: &[Identity],
        propagation: Propagation,
        news: &Sender<Message>,
    ) -> Result<Option<Self>, OperationError> {
        let args = as_typed(propagation)?;
        let mut cluster = global.cluster()?;
        cluster.observer = Some(off_screen(cluster.observer.take(), news.clone()));
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
    fn start(self, news: Sender<Message>) {
        let Deleting { global, args, approved } = self;
        std::thread::spawn(move || {
            // Ignore errors: the screen may be closed.
            let tell = |message| drop(news.send(message));
            let deleted = catch_unwind(AssertUnwindSafe(|| {
                approved.carry_out(&global, &args, None, &mut |event| {
                    tell(Message::News(News::Deleting(format!("Deleting: {}", describe(&event)))));
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
    let policy = propagation.flag();
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
fn lines_of_report(report: &Report) -> Vec<Line> {
    let notes = report.notes.iter().map(|note| visible(note).into_owned() + "\n");
    lines_of((String::from_utf8_lossy(&report.data).into_owned() + &notes.collect::<String>()).trim_start_matches('\n'))
}

/// Prints an error on the ordinary screen.
fn tell(error: &OperationError) {
    // Ignore errors: stderr may be closed.
    let _ = writeln!(io::stderr(), "error: {}", describe_error(error));
}

/// Lets the user read what is on the ordinary screen.
fn wait_for_enter() {
    let _ = write!(io::stderr(), "\nEnter goes back to the screen. ");
    let _ = io::stderr().flush();
    let _ = io::stdin().read_line(&mut String::new());
}

/// Passes on what is told: to the ordinary screen if that is shown, and otherwise as news.
fn off_screen(ordinary: Option<ReadObserver>, news: Sender<Message>) -> ReadObserver {
    let (lists, done, objects) = <[AtomicUsize; 3]>::default().into();
    Arc::new(move |event| {
        let shown = ordinary.as_deref().filter(|_| !screen::is_open());
        if let Some(shown) = shown {
            shown(event);
        }
        let told = match event {
            ReadEvent::Started(all) => {
                for (count, value) in [(&lists, all), (&done, 0), (&objects, 0)] {
                    count.store(value, Ordering::Relaxed);
                }
                return;
            }
            _ if shown.is_some() => return,
            ReadEvent::Listed(more) => {
                let (done, lists) = (done.fetch_add(1, Ordering::Relaxed) + 1, lists.load(Ordering::Relaxed));
                let objects = objects.fetch_add(more, Ordering::Relaxed) + more;
                News::Doing(match done < lists {
                    true => format!("Reading {done} of {lists} lists, {} objects", thousands(objects)),
                    false => String::new(),
                })
            }
            ReadEvent::Exchanged(_) => return,
            ReadEvent::Warned(text) => News::Note(format!("The server warns: {text}")),
            ReadEvent::Untested(text) => News::Note(text.to_owned()),
        };
        // Ignore errors: the screen may be closed.
        let _ = news.send(Message::News(told));
    })
}

/// What the threads beside the screen say.
enum Message {
    /// The source is read: the first scene, and the targets in it.
    Ready(Box<Scene>, Vec<Identity>),
    Failed(OperationError),
    News(News),
    /// A delete is over.
    Deleted(Box<Report>),
    /// A thread has panicked: what it said is on standard error.
    Broken,
}
