//! Serves the metrics and health of `sweep --watch`.

use std::io::{self, Write as _};

use crate::{
    metrics::{Health, Metrics, bind},
    operations::OperationError,
};

use super::SweepConfig;

/// Serves the configured address, if there is one, until the runtime ends, and prints the address on standard error.
/// Call it before any work is done.
///
/// # Errors
/// The address can't be bound.
pub async fn serve(order: &SweepConfig, metrics: &Metrics, health: &Health) -> Result<(), OperationError> {
    let Some(address) = &order.metrics else { return Ok(()) };
    let bound = bind(address).await?;
    // Ignore errors: stderr may be closed.
    let _ = writeln!(io::stderr(), "serving /metrics, /healthz and /readyz at http://{}", bound.address());
    tokio::spawn(bound.serve(metrics.clone(), health.clone()));
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::cli::{
        commands::{Cli, Command},
        report::describe_error,
    };

    fn order(line: &str) -> SweepConfig {
        let Command::Sweep(args) = Cli::of(line.split(' ').map(Into::into)).unwrap().command else { panic!("{line}") };
        SweepConfig::read(&args).unwrap()
    }

    /// If the address is in use, the error comes before anything is done, and says what to do.
    #[tokio::test]
    async fn an_address_that_is_taken_is_an_error() {
        let (metrics, health) = (Metrics::new(), Health::new(Duration::from_secs(60)));
        let taken = bind(&"127.0.0.1:0".parse().unwrap()).await.unwrap();
        let address = taken.address();
        let order = order(&format!("gc sweep --watch --metrics-bind-address={address}"));
        let error = describe_error(&serve(&order, &metrics, &health).await.unwrap_err());
        assert!(error.starts_with(&format!("cannot listen on {address}: ")), "{error}");
        assert!(error.ends_with("; choose another --metrics-bind-address, or leave it out"), "{error}");
        drop(taken);
        serve(&order, &metrics, &health).await.unwrap();
    }

    #[tokio::test]
    async fn nothing_is_served_unless_it_is_asked_for() {
        let order = order("gc sweep --watch");
        assert_eq!(order.metrics, None);
        serve(&order, &Metrics::new(), &Health::new(Duration::from_secs(60))).await.unwrap();
        assert_eq!((order.load.workers, order.load.qps, order.load.burst), (20, 50.0, 100));
        assert_eq!((order.resync, order.load.timeout), (Duration::from_secs(30), None));
    }
}
