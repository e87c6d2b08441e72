//! What is shipped around the binary: completion scripts, the krew manifest, the licence.

mod completions;
mod krew;
mod licence;
