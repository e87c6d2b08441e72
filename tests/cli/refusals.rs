//! A command that fails prints to standard error what happened and what to do about it, prints nothing to standard
//! output, and exits with 1.

mod cluster;
mod dumps;
mod flags;
mod snapshots;
mod targets;

use super::run::{Ran, finish, gc, on_shop, program, with_input, write};

/// The error of a failed command.
#[track_caller]
fn describe(ran: &Ran) -> &str {
    assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{}", ran.err);
    ran.err.strip_prefix("error: ").expect("an error").trim_end()
}

/// The first line of a usage error; the usage follows it.
#[track_caller]
fn first_line(ran: &Ran) -> &str {
    describe(ran).lines().next().unwrap_or_default()
}
