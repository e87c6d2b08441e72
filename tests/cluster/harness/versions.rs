//! Tests that need a newer Kubernetes than the control plane has.

use std::{panic::Location, thread};

use super::{cluster::shared, go_build::say};

/// How a line begins that tells of a test that was not run.
pub const NOT_RUN: &str = "not run: ";

/// Whether the control plane is at least of this minor version of Kubernetes 1, which the calling test needs, or a part
/// of it. If not, it says so, with the reason: `docs/versions.md` lists the test.
#[must_use]
#[track_caller]
pub fn needs(minor: u32, why: &str) -> bool {
    let version = shared().get("/version").expect("every server has a version");
    let own: u32 = version["minor"].as_str().and_then(|minor| minor.parse().ok()).expect("a number");
    if own < minor {
        let thread = thread::current();
        let name = thread.name().filter(|name| *name != "main").unwrap_or(Location::caller().file());
        say(&format!("{NOT_RUN}`{name}` | 1.{minor} | {why}"));
    }
    own >= minor
}
