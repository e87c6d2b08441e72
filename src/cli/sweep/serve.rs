//! Where a sweep that keeps on tells how it gets on.

use std::io::{self, Write as _};

use crate::metrics::{Health, Metrics, bind};

use super::{super::error::CliError, Order};

/// Serves what was asked for, if anything was, from now until the runtime ends, and says on standard error where. To be called before
/// any work is done.
///
/// # Errors
/// When the address can't be had.
pub async fn serve(order: &Order, metrics: &Metrics, health: &Health) -> Result<(), CliError> {
    let Some(address) = &order.metrics else { return Ok(()) };
    let bound = bind(address).await?;
    // Nobody is left to tell when standard error is closed.
    let _ = writeln!(io::stderr(), "serving /metrics, /healthz and /readyz at http://{}", bound.address());
    tokio::spawn(bound.serve(metrics.clone(), health.clone()));
    Ok(())
}
