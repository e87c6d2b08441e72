//! What was asked for, checked before anything is read.

use std::{path::PathBuf, time::Duration};

use crate::{act::Deletion, operations::OperationError, server::Propagation, simulate::Assume};

use super::super::{
    args::{DeleteArgs, DryRunArg, TargetArgs},
    connection::time_of,
    predict::{grace_period, propagation_of},
};

/// A delete as it was ordered.
#[derive(Clone, Debug)]
pub struct DeleteConfig {
    pub targets: TargetArgs,
    pub propagation: Propagation,
    pub grace: Option<i64>,
    pub assume: Assume,
    pub dry_run: DryRunArg,
    /// How long to follow; none: to the end.
    pub timeout: Option<Duration>,
    pub archive: Option<PathBuf>,
}

impl DeleteConfig {
    /// # Errors
    /// What makes no sense, or can't work whatever the cluster says.
    pub fn read(args: &DeleteArgs) -> Result<Self, OperationError> {
        let named = !args.targets.targets.is_empty() || !args.targets.filenames.is_empty();
        if !named {
            let why =
                "what is to be deleted? Give a TARGET: TYPE/NAME, TYPE NAME, TYPE with -l or --all, or -f MANIFEST";
            return Err(OperationError::Usage(why.to_owned()));
        }
        let timeout = time_of("--timeout", &args.timeout)?;
        if timeout.is_some() && !args.wait {
            return Err(OperationError::Usage(
                "--timeout says how long to wait, and --wait=false not to: give one of them".to_owned(),
            ));
        }
        // As kubectl: whoever asks for all of a type, or for all that match, is content where there is nothing of it.
        let chooses = args.targets.all || args.targets.selector.is_some() || args.targets.field_selector.is_some();
        let ignore_not_found = args.ignore_not_found || chooses;
        Ok(DeleteConfig {
            targets: TargetArgs { ignore_not_found, ..args.targets.clone() },
            propagation: args.propagation.policy().map_or(Propagation::Background, propagation_of),
            grace: grace_period(&args.grace)?,
            assume: args.assume.assume(),
            dry_run: args.consent.dry_run,
            timeout,
            archive: args.archive.clone(),
        })
    }

    /// What each DELETE asks for.
    pub fn deletion(&self, dry_run: bool) -> Deletion {
        Deletion { propagation: self.propagation, grace: self.grace, dry_run }
    }
}
