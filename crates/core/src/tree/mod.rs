//! The forest of owners and dependents: the walk, marks, folding, and the collector's debug graph. Nothing here prints.
//!
//! Nothing here recurses: a chain may have 100,000 owners.

pub mod debug_graph;
pub mod fold;
pub mod marks;
pub mod status;
pub mod walk;

#[cfg(any(test, feature = "testing"))]
pub mod fixture;
#[cfg(test)]
mod tests;

pub use debug_graph::DebugGraph;
pub use marks::{Mark, ReferenceStatus, ResolvedReference, State};
pub use status::{Health, ObjectStatus, StatusOf, Statuses};
pub(crate) use walk::known_instead;
pub use walk::{Direction, Entry, Places, Query, Showing, SortBy, Tree, TypeFilter};
