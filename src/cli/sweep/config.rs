//! What was asked for, checked before anything is read.

use std::{sync::Arc, time::Duration};

use crate::{
    cluster::Connection,
    metrics::{Listen, Metrics},
    operations::{OperationError, sweep::SweepLoad},
};

use super::super::{args::SweepArgs, connection::time_of};

/// A sweep as it was ordered.
#[derive(Clone, Debug)]
pub struct SweepConfig {
    pub load: SweepLoad,
    /// How often `--watch` looks for resources that are new or gone.
    pub resync: Duration,
    /// Where `--watch` tells how it gets on.
    pub metrics: Option<Listen>,
}

impl SweepConfig {
    /// # Errors
    /// What makes no sense, or can't work whatever the cluster says.
    pub fn read(args: &SweepArgs) -> Result<Self, OperationError> {
        if !args.dry_run && !args.source.from.is_empty() {
            let why = "--from reads files, which cannot be swept: use --dry-run to see what a sweep would do";
            return Err(OperationError::Usage(why.to_owned()));
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

    /// A connection that asks no more of the API server than was ordered, and whose requests are counted.
    #[must_use]
    pub fn within_limits(&self, connection: Connection, metrics: &Metrics) -> Connection {
        let requests = metrics.requests(&connection.endpoint().server);
        connection.also_telling(Arc::new(requests)).with_limits(self.load.qps, self.load.burst)
    }
}
