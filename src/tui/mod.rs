//! The screen of `kubectl gc tui`, without a terminal: keys and news go in, effects and a picture come out.
//!
//! ```text
//! scene   what was read, as a forest      rows     which of it is open, filtered, and in which row
//! state   keys and news to effects        pane     what covers the forest: texts, findings, owners
//! keys    what each key does              draw     the picture, of the visible rows alone
//! text    text in tones
//! ```
//!
//! Nothing here does I/O: `cli/tui` reads keys and the cluster, and carries out [`Effect`]s.

mod draw;
mod keys;
mod pane;
mod scene;
mod state;

#[cfg(test)]
mod tests;

use rustc_hash::FxHashMap;

use gc_core::{
    model::{Identity, effects::Severity},
    server::Propagation,
    tree::ObjectStatus,
};

pub use draw::{Drawn, draw};
pub use keys::Key;
pub use pane::{Line, lines};
pub use scene::{Scene, find};
pub use state::{Effect, Start, State};

/// What comes from outside: the answers to effects, and what happens by itself.
#[derive(Debug)]
pub enum News {
    /// A new state of the source.
    Scene(Box<Scene>),
    /// READY and STATUS by uid; `None`: could not be read.
    Statuses(FxHashMap<String, Option<ObjectStatus>>),
    Planned(Planned),
    /// What doctor found, or why it could not look.
    Diagnosed(Result<Vec<Finding>, String>),
    /// How far a long read is, or what failed and is tried again; empty: all is well.
    Doing(String),
    /// How far the delete is.
    Deleting(String),
    /// The delete is over: its report.
    Deleted(Vec<Line>),
    /// A note, shown until the next key.
    Note(String),
}

/// What a delete would do.
#[derive(Debug)]
pub struct Planned {
    /// The number of the request.
    pub request: u64,
    pub propagation: Propagation,
    pub text: Vec<Line>,
    /// The commands that do it.
    pub commands: Vec<String>,
}

/// A finding of doctor.
#[derive(Clone, Debug)]
pub struct Finding {
    pub severity: Severity,
    /// Its line in the list.
    pub title: String,
    /// All of it, with its remedies.
    pub text: Vec<Line>,
    /// The commands of its remedies, the least harmful first.
    pub commands: Vec<String>,
    /// The first affected object.
    pub object: Option<Identity>,
}
