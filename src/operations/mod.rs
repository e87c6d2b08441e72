//! The use cases: what a command does between its checked arguments and its view.
//!
//! No command-line parser and no terminal: questions, progress and time are inputs.

mod error;
pub mod live;
pub mod open;
pub mod session;
pub mod targets;

pub use error::OperationError;
pub use live::LiveSession;
pub use open::{ClusterConfig, Discovered, Opening, ReadScope, SourceConfig, TargetConfig};
pub use session::{Session, Source};
