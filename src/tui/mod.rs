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
mod news;
mod pane;
mod rows;
mod scene;
mod state;
mod text;

#[cfg(test)]
mod tests;

pub use draw::{Drawn, draw};
pub use keys::Key;
pub use news::{Finding, News, Planned};
pub use scene::{Scene, find};
pub use state::{Effect, Start, State};
pub use text::{Line, lines};
