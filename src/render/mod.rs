//! What is shown, in every form. Writers only: nothing here reads or decides.

pub mod document;
pub mod dot;
mod go_quote;
mod guides;
pub mod resources;
pub mod style;
pub mod table;
pub mod tree;
pub mod words;

#[cfg(test)]
mod resources_tests;
#[cfg(test)]
mod tree_tests;
