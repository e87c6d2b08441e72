//! Whatever cannot be done is told on standard error, in words that say what to do; nothing is printed, and the exit
//! code is 1.

mod cluster;
mod dumps;
mod flags;
mod snapshots;
mod targets;

use super::run::{Ran, finish, gc, on_shop, program, with_input, write};

/// What is said about a command that can't be done.
#[track_caller]
fn describe(ran: &Ran) -> &str {
    assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{}", ran.err);
    ran.err.strip_prefix("error: ").expect("an error").trim_end()
}

/// The same of a usage error, which goes on with the usage.
#[track_caller]
fn first_line(ran: &Ran) -> &str {
    describe(ran).lines().next().unwrap_or_default()
}
