//! Checks the files that ship with the binary (archives, completion scripts, krew manifest, example of running in a
//! cluster, licence), and the rule book.

mod commands;
mod completions;
mod in_cluster;
mod krew;
mod kubectl;
mod licence;
mod links;
mod page;
mod release;
mod robustness;
mod rooms;
mod rows;
mod rules;
mod supply;
mod versions;
mod width;
mod words;
