//! All output, in every format. These modules only write: they neither read from the cluster nor decide.

pub mod account;
pub mod deletion;
pub mod doctor;
pub mod document;
pub mod dot;
pub mod explain;
pub mod gaps;
mod guides;
pub mod header;
mod lines;
pub mod output;
pub mod plan;
pub mod resources;
pub mod restore;
pub mod style;
pub mod table;
pub mod template;
pub mod tree;
mod tree_columns;
pub mod tree_document;
pub mod tree_labels;
pub mod tree_view;
pub mod words;

pub use crate::go_quote;

#[cfg(test)]
mod resources_tests;
#[cfg(test)]
mod tree_document_tests;
#[cfg(test)]
mod tree_tests;
