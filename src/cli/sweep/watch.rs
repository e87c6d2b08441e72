//! `--watch`: the collector's work, again and again.

use super::{
    super::{
        args::{GlobalArgs, SweepArgs},
        error::CliError,
        report::Report,
    },
    Order,
};

/// Not there yet.
pub fn watch(_global: &GlobalArgs, _args: &SweepArgs, _order: &Order) -> Result<Report, CliError> {
    Err(CliError::Usage("--watch doesn't exist yet; --dry-run shows what a sweep would do".to_owned()))
}
