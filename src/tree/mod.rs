//! Who owns whom, as a forest to look at: the walk, the marks, the folding, and the collector's own debug graph. Pure:
//! nothing here prints.
//!
//! Nothing here recurses: a chain of 100,000 owners is as good as any other graph.

pub mod debug_graph;
pub mod document;
pub mod fold;
pub mod marks;
pub mod reference_status;
pub mod roots;
pub mod walk;

#[cfg(test)]
mod document_tests;
#[cfg(test)]
pub(crate) mod fixture;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;

pub use debug_graph::DebugGraph;
pub use marks::{Mark, State, known_instead};
pub use reference_status::{ReferenceStatus, ResolvedReference};
pub use walk::{Direction, Entry, Showing, Tree};
