//! Checks the arguments of a sweep before anything is read.

use std::{sync::Arc, time::Duration};

use crate::{
    cluster::Connection,
    metrics::{Listen, Metrics},
    operations::{OperationError, live::SweepLoad, usage},
};

use super::super::{args::SweepArgs, connection::time_of};

/// The configuration of a sweep.
#[derive(Clone, Debug)]
pub struct SweepConfig {
    pub load: SweepLoad,
    /// How often `--watch` looks for new and removed resources.
    pub resync: Duration,
    /// Where `--watch` serves its metrics.
    pub metrics: Option<Listen>,
}

impl SweepConfig {
    /// # Errors
    /// Invalid arguments, or a combination that can't work on any cluster.
    pub fn read(args: &SweepArgs) -> Result<Self, OperationError> {
        if !args.dry_run && !args.source.from.is_empty() {
            return usage("--from reads files, which cannot be swept: use --dry-run to see what a sweep would do");
        }
        let resync = time_of("--resync", &args.watching.resync)?.ok_or_else(|| {
            let why = "--resync=0 would never find new resources: give a time as in kubectl (30s, 5m)";
            OperationError::Usage(why.to_owned())
        })?;
        let metrics = args.watching.metrics_bind_address.as_deref().map(|address| {
            let address = address.parse::<Listen>();
            address.map_err(|why| OperationError::Usage(format!("--metrics-bind-address: {why}")))
        });
        Ok(SweepConfig {
            load: SweepLoad {
                workers: usize::from(args.load.workers),
                qps: args.load.qps,
                burst: args.load.burst,
                timeout: time_of("--timeout", &args.timeout)?,
            },
            resync,
            metrics: metrics.transpose()?,
        })
    }

    /// A connection with the configured rate limit, whose requests are counted.
    #[must_use]
    pub fn within_limits(&self, connection: Connection, metrics: &Metrics) -> Connection {
        let requests = metrics.requests(&connection.endpoint().server);
        connection.also_telling(Arc::new(requests)).with_limits(self.load.qps, self.load.burst)
    }
}
