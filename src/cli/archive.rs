//! `kubectl gc archive`

use super::{
    args::{ArchiveArgs, GlobalArgs},
    error::CliError,
    report::Report,
};

/// See the command's help.
pub fn run(_global: &GlobalArgs, _args: &ArchiveArgs) -> Result<Report, CliError> {
    Err(CliError::Usage("archive is not there yet".to_owned()))
}
