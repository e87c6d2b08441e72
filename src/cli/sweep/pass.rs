//! One pass: it is shown, asked about, done and told.

use super::{
    super::{
        args::{GlobalArgs, SweepArgs},
        error::CliError,
        report::Report,
    },
    Order,
};

/// Not there yet.
pub fn pass(_global: &GlobalArgs, _args: &SweepArgs, _order: &Order) -> Result<Report, CliError> {
    let told = "only --dry-run exists so far: it shows what a sweep would do, and nothing is changed";
    Err(CliError::Usage(told.to_owned()))
}
