//! A command that fails prints to standard error what happened and what to do about it, prints nothing to standard
//! output, and exits with 1.

mod cluster;
mod dumps;
mod flags;
mod snapshots;
mod targets;

use super::run::{Ran, describe, finish, gc, on_shop, program, with_input, write};

/// The first line of a usage error; the usage follows it.
#[track_caller]
fn first_line(ran: &Ran) -> &str {
    describe(ran).lines().next().unwrap_or_default()
}
