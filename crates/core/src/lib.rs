//! The pure core of `kubectl gc`: no I/O, no clock, no async, no terminal.
//!
//! The data that was read ([`model`]), the owner graph ([`graph`], [`tree`]), the behaviour of the API server
//! ([`server`]) and the collector ([`collector`]), the predicted result ([`simulate`], [`plan`]), and the account of
//! what goes and why ([`account`]).

#![deny(unreachable_pub)]
#![allow(rustdoc::private_intra_doc_links, reason = "the documentation is for those who work on this crate")]

/// Gives an enum that derives `strum::IntoStaticStr` its name in documents and on command lines: the variant's.
macro_rules! named {
    (&$type:ident) => {
        impl $type {
            /// The name in documents; its meaning never changes.
            pub fn name(&self) -> &'static str {
                self.into()
            }
        }
    };
    ($type:ident) => {
        impl $type {
            /// The name in documents; its meaning never changes.
            pub fn name(self) -> &'static str {
                self.into()
            }
        }
    };
}

pub mod account;
pub mod apply;
pub mod collector;
pub mod command_line;
pub mod doctor;
pub mod document;
pub mod escape;
pub mod graph;
mod groups;
pub mod hold;
pub mod jsonpath;
pub mod model;
pub mod plan;
pub mod progress;
mod quantity;
pub mod reclaim;
pub mod restore;
pub mod server;
pub mod simulate;
pub mod tree;
pub mod url;
pub mod wording;
