//! Checks the files that ship with the binary (completion scripts, krew manifest, example of running in a cluster,
//! licence), and the rule book.

mod commands;
mod completions;
mod in_cluster;
mod krew;
mod licence;
mod rules;
mod width;
