//! Accounts of scripted events.

mod kit;
mod loops;
mod lost;
mod reasons;
mod scopes;
