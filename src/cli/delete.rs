//! `kubectl gc delete`

use super::{
    args::{DeleteArgs, GlobalArgs},
    error::CliError,
    report::Report,
};

/// See the command's help.
pub fn run(_global: &GlobalArgs, _args: &DeleteArgs) -> Result<Report, CliError> {
    Err(CliError::Usage("delete is not there yet".to_owned()))
}
