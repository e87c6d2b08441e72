//! All output, in every format. These modules only write: they neither read from the cluster nor decide.

pub mod account;
pub mod apply;
pub mod deletion;
pub mod doctor;
pub mod document;
pub mod explain;
pub mod hold;
mod lines;
pub(crate) mod outline;
pub mod output;
pub mod picture;
pub mod plan;
pub mod reclaim;
pub mod resources;
#[cfg(test)]
mod resources_tests;
pub mod restore;
mod sections;
pub mod states;
pub mod table;
#[cfg(test)]
pub(crate) mod testing;
pub mod tree;
#[cfg(test)]
mod tree_document_tests;
#[cfg(test)]
mod tree_property_tests;
#[cfg(test)]
mod tree_tests;
pub mod words;

pub use gc_core::escape;
pub(crate) use tree::no_objects;
