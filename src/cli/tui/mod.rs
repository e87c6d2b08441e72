//! `kubectl gc tui`, and `-i` of tree, plan and doctor: keys and news in, effects out. [`crate::tui`] decides.

mod deleting;
mod progress;
mod screen;
mod worker;

use std::{
    io::{IsTerminal as _, stdin, stdout},
    sync::{
        Arc,
        mpsc::{Receiver, Sender, TryRecvError, channel},
    },
    time::{Duration, Instant},
};

use crate::{
    operations::{OperationError, SourceConfig, usage},
    tui::{Effect, News, Start, State},
};
use gc_core::{model::Identity, server::Propagation};

use super::{
    args::{GlobalArgs, SourceArgs, TargetArgs, TuiArgs},
    report::{self, Report},
    tui::{
        deleting::Deleting,
        progress::{Message, OffScreen},
        screen::Screen,
        worker::Worker,
    },
};

/// How long to wait for a key before looking for news.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);
/// How often ages and statuses are brought up to date.
const TICK: Duration = Duration::from_secs(1);

/// Opens the screen.
pub(super) fn run(global: &GlobalArgs, args: &TuiArgs) -> Result<Report, OperationError> {
    let policy = args.propagation.policy();
    open(global, &args.targets, &args.source, policy, Start::Forest)
}

/// Opens the screen at this place.
pub(super) fn open(
    global: &GlobalArgs,
    targets: &TargetArgs,
    source: &SourceArgs,
    policy: Propagation,
    start: Start,
) -> Result<Report, OperationError> {
    require_terminal(source)?;
    let (news, messages) = channel();
    let mut targets = targets.clone();
    // As with tree: a TYPE alone means all of its objects.
    targets.type_alone = true;
    let (mut source_config, target_config) = global.configuration(source, &targets)?;
    if let SourceConfig::Cluster(cluster) = &mut source_config {
        let before = cluster.progress.take();
        cluster.progress = Some(Arc::new(OffScreen::new(before, news.clone())));
    }
    let (requests, effects) = channel();
    let worker = Worker {
        global: global.clone(),
        targets: targets.clone(),
        from: source.clone(),
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
    jiff::Timestamp::now().as_second()
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
            Ok(None) => deleting::wait_for_enter(),
            Err(error) => {
                deleting::tell(&error);
                deleting::wait_for_enter();
            }
        }
        self.screen.reenter().map_err(OperationError::Print)
    }

    fn deleted(&mut self, report: Report) -> Vec<Effect> {
        let lines = deleting::lines(&report);
        self.ended.data.extend_from_slice(&report.data);
        self.ended.notes.extend(report.notes);
        self.ended.exit = report.exit;
        self.state.news(News::Deleted(lines))
    }
}
