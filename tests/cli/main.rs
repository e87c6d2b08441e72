//! Runs the built program as a shell does: checks what it prints, to which stream, and its exit code.

#[macro_use]
mod agree;

mod advice;
mod agree_on_ends;
mod anew;
mod apply;
mod archive;
mod chromium;
mod colour;
mod columns;
mod doctor;
mod documents;
mod examples;
mod exit_codes;
mod field;
mod findings;
mod found;
mod hostile;
mod inputs;
mod keepers;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod obstacles;
mod one_cause;
mod operators;
mod overdue;
mod page;
#[path = "../pages/mod.rs"]
mod pages;
mod pictures;
mod pipes;
mod recipes;
mod refusals;
mod refused;
mod removers;
mod reports;
mod restore;
mod rights;
mod run;
mod sizes;
mod stored;
mod stories;
mod streams;
mod targets;
mod templates;
mod terminal;
mod texts;
mod then;
#[cfg(unix)]
mod tmux;
mod tui;
#[cfg(unix)]
mod unbounded;
mod waits;
