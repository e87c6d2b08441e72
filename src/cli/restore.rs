//! `kubectl gc restore`

use super::{
    args::{GlobalArgs, RestoreArgs},
    error::CliError,
    report::Report,
};

/// See the command's help.
pub fn run(_global: &GlobalArgs, _args: &RestoreArgs) -> Result<Report, CliError> {
    Err(CliError::Usage("restore is not there yet".to_owned()))
}
