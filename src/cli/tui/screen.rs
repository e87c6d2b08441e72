//! The terminal: entered, drawn on, and left as it was found, also after a panic or a signal.

use std::{
    io::{self, Stdout, Write as _, stdout},
    sync::{
        Once,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use parking_lot::{Mutex, const_mutex};
use ratatui::{
    Terminal,
    backend::CrosstermBackend,
    crossterm::{
        cursor::{Hide, Show},
        event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers},
        execute,
        terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode},
    },
};

use crate::{
    operations::signals::{HANG_UP, INTERRUPT, Signals, TERMINATE},
    tui::{Effect, Key, State, draw},
};

/// Whether the screen is open.
static OPEN: AtomicBool = AtomicBool::new(false);
/// Held while something is drawn, so that nothing is drawn after a signal has restored the terminal.
static DRAWING: Mutex<()> = const_mutex(());
static PREPARED: Once = Once::new();

/// Whether the terminal shows the screen, and not what was on it before.
pub(super) fn is_open() -> bool {
    OPEN.load(Ordering::SeqCst)
}

/// What comes from the terminal.
pub(super) enum Input {
    Key(Key),
    /// Ctrl-L: everything is to be drawn again.
    Redraw,
    Nothing,
}

/// The screen. Dropped, it leaves the terminal as it was.
pub(super) struct Screen(Terminal<CrosstermBackend<Stdout>>);

impl Screen {
    pub(super) fn enter() -> io::Result<Self> {
        PREPARED.call_once(|| {
            let told = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                restore();
                told(panic);
            }));
            restore_on_signals();
        });
        open()?;
        Ok(Screen(Terminal::new(CrosstermBackend::new(stdout()))?))
    }

    /// Shows what was on the terminal before.
    pub(super) fn leave(&self) {
        restore();
        forget_keys();
    }

    pub(super) fn reenter(&mut self) -> io::Result<()> {
        forget_keys();
        open()?;
        while event::poll(Duration::ZERO)? {
            event::read()?;
        }
        self.forget()
    }

    /// Forgets what was drawn: next time, everything is.
    pub(super) fn forget(&mut self) -> io::Result<()> {
        self.0.clear()
    }

    pub(super) fn size(&self) -> io::Result<(u16, u16)> {
        self.0.size().map(|size| (size.width, size.height))
    }

    /// Draws, and returns what another size asks for.
    pub(super) fn draw(&mut self, state: &mut State) -> io::Result<Vec<Effect>> {
        let drawing = DRAWING.lock();
        let mut effects = Vec::new();
        self.0.draw(|frame| effects = draw(state, frame.buffer_mut()).effects)?;
        drop(drawing);
        Ok(effects)
    }

    /// Waits for a key, but no longer than this.
    pub(super) fn next(&self, at_most: Duration) -> io::Result<Input> {
        if !event::poll(at_most)? {
            return Ok(Input::Nothing);
        }
        Ok(match event::read()? {
            // For the tests: a program that panics must leave the terminal as it was, too.
            Event::Key(key) if cfg!(debug_assertions) && key.code == KeyCode::Insert && may_panic() => {
                panic!("Insert, with {MAY_PANIC} set")
            }
            Event::Key(key) if key.kind != KeyEventKind::Release => input(key),
            _ => Input::Nothing,
        })
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

/// The variable that lets tests have a panic.
const MAY_PANIC: &str = "KUBECTL_GC_TEST_PANIC";

fn may_panic() -> bool {
    std::env::var_os(MAY_PANIC).is_some()
}

fn input(KeyEvent { code, modifiers, .. }: KeyEvent) -> Input {
    if modifiers.contains(KeyModifiers::ALT) {
        return Input::Nothing;
    }
    Input::Key(match code {
        KeyCode::Char('l') if modifiers.contains(KeyModifiers::CONTROL) => return Input::Redraw,
        KeyCode::Char(character) if modifiers.contains(KeyModifiers::CONTROL) => Key::Ctrl(character),
        KeyCode::Char(character) => Key::Char(character),
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Esc,
        KeyCode::Tab => Key::Tab,
        KeyCode::Backspace => Key::Backspace,
        _ => return Input::Nothing,
    })
}

fn open() -> io::Result<()> {
    enable_raw_mode()?;
    OPEN.store(true, Ordering::SeqCst);
    execute!(stdout(), EnterAlternateScreen, Hide)
}

/// Leaves the terminal as it was found. Does nothing a second time.
fn restore() {
    if OPEN.swap(false, Ordering::SeqCst) {
        // Ignore errors: the terminal may be gone.
        let _ = execute!(stdout(), Show, LeaveAlternateScreen);
        let _ = stdout().flush();
        let _ = disable_raw_mode();
    }
}

/// Drops what was typed before a question is asked: it was not meant for it.
fn forget_keys() {
    #[cfg(unix)]
    let _ = rustix::termios::tcflush(io::stdin(), rustix::termios::QueueSelector::IFlush);
}

/// Restores the terminal at a signal that ends the process, with the code that shells expect. Returns once signals are
/// heard: one that came sooner would end the process on a screen that is never left.
fn restore_on_signals() {
    let (listens, is_listening) = mpsc::channel();
    std::thread::spawn(move || {
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
        let Ok(mut signals) = runtime.block_on(async { Signals::hear(&[INTERRUPT, TERMINATE, HANG_UP]) }) else {
            return;
        };
        let _ = listens.send(());
        let signal = runtime.block_on(signals.next());
        // What is being drawn is finished first, if it isn't stuck.
        let _drawing = DRAWING.try_lock_for(Duration::from_secs(1));
        restore();
        std::process::exit(128 + signal);
    });
    // An error: signals can't be heard.
    let _ = is_listening.recv();
}

pub(super) fn copy(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(sequence(text).as_bytes())?;
    out.flush()
}

/// Base64 keeps whatever the text contains from ending the sequence.
fn sequence(text: &str) -> String {
    format!("\u{1b}]52;c;{}\u{7}", STANDARD.encode(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_the_text_reaches_the_terminal_as_it_is() {
        assert_eq!(sequence("kubectl\u{7}\u{1b}"), "\u{1b}]52;c;a3ViZWN0bAcb\u{7}");
    }
}
