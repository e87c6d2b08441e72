//! What is shipped around the binary: completion scripts, the krew manifest, an example of how to run it in a cluster,
//! the licence; and the rule book.

mod commands;
mod completions;
mod in_cluster;
mod krew;
mod licence;
mod rules;
mod width;
