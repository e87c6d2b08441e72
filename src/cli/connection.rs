//! kubectl's connection flags, with kubectl's meaning. [`ConnectionOptions`] are those that choose a cluster and a
//! user.

use std::{path::PathBuf, time::Duration};

use clap::Args;

use crate::operations::{OperationError, usage};
use gc_cluster::cluster::{ConnectionOptions, path_or_nothing as path};
use gc_core::command_line::Kubectl;

/// The raw flags.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Connection (as in kubectl)")]
pub struct ConnectionArgs {
    /// One namespace (doctor, sweep, snapshot: all)
    // Under the heading of no group, which saves two lines of the short help.
    #[arg(short, long, value_name = "NAMESPACE", global = true, help_heading = None::<&str>)]
    pub namespace: Option<String>,
    #[command(flatten)]
    pub chosen: ConnectionOptions,
    /// How long one request may take: 10s, 2m, 1h; 0 is for ever
    #[arg(long, value_name = "TIME", global = true, hide_short_help = true)]
    pub request_timeout: Option<String>,
    /// Don't ask for compressed responses
    #[arg(
        long,
        global = true,
        hide_short_help = true,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        default_value_t = false,
        hide_default_value = true,
        hide_possible_values = true,
        action = clap::ArgAction::Set
    )]
    pub disable_compression: bool,
    /// Exit with 1 if the server has sent a warning, after all else is done
    #[arg(long, global = true, hide_short_help = true)]
    pub warnings_as_errors: bool,
    /// Require that the server has the version of kubectl
    #[arg(long, global = true, hide_short_help = true)]
    pub match_server_version: bool,
    /// Accepted because kubectl does, without effect: this program has no such profiles
    #[arg(long, value_name = "PROFILE", global = true, hide_short_help = true, hide_possible_values = true,
        value_parser = PROFILES)]
    pub profile: Option<String>,
    /// Accepted because kubectl does, without effect
    #[arg(long, value_name = "FILE", global = true, hide_short_help = true, value_parser = path())]
    pub profile_output: Option<PathBuf>,
    /// Accepted because kubectl does, without effect: preferences are for kubectl's own commands
    #[arg(long, value_name = "FILE", global = true, hide_short_help = true, value_parser = path())]
    pub kuberc: Option<PathBuf>,
    /// Accepted because kubectl does, and not read.
    #[arg(long, global = true, hide = true)]
    pub vmodule: Option<String>,
    /// Accepted because kubectl does, and not read.
    #[arg(long, global = true, hide = true)]
    pub log_flush_frequency: Option<String>,
    /// Where to keep what servers serve, so that lists begin sooner (default: as in kubectl)
    #[arg(long, value_name = "FOLDER", global = true, hide_short_help = true, value_parser = path())]
    pub cache_dir: Option<PathBuf>,
    /// How much to tell on standard error: 6 every request, 7 its headers, 8 bodies, 9 all; secrets are masked
    #[arg(
        short,
        long = "v",
        value_name = "LEVEL",
        default_value_t = 0,
        hide_default_value = true,
        allow_negative_numbers = true,
        global = true,
        hide_short_help = true
    )]
    pub verbosity: i32,
}

impl ConnectionArgs {
    /// The given flags that make kubectl use the same cluster and user. Leaves out secrets, and the context:
    /// [`Self::kubectl_in`] adds it, because it may be known even if no flag was given.
    fn flags(&self) -> Vec<String> {
        let flags = self.chosen.given().into_iter().filter(|flag| flag.repeated && flag.name != "--context");
        flags.map(|flag| format!("{}={}", flag.name, flag.value)).collect()
    }

    /// kubectl with the flags that choose the same cluster and user: a pasted command must not reach another cluster.
    pub fn kubectl(&self) -> Kubectl {
        self.kubectl_in(self.chosen.context.as_deref().unwrap_or_default())
    }

    /// The same for a known context, whether a flag gave it or not; `context` is empty if there is none.
    pub fn kubectl_in(&self, context: &str) -> Kubectl {
        let context = Some(context).filter(|context| !context.is_empty()).map(|context| format!("--context={context}"));
        Kubectl::new(context.into_iter().chain(self.flags()).collect())
    }

    /// # Errors
    /// An invalid `--request-timeout`.
    pub fn options(&self) -> Result<ConnectionOptions, OperationError> {
        let request_timeout = match self.request_timeout.as_deref().map(|text| (text, duration(text))) {
            Some((text, None)) => {
                return usage(format!(
                    "--request-timeout={text:?} is not a time: give seconds, or a number with its unit such as 1s, 2m, \
                     3h"
                ));
            }
            given => given.and_then(|(_, time)| time).filter(|time| !time.is_zero()),
        };
        Ok(ConnectionOptions {
            disable_compression: self.disable_compression,
            request_timeout,
            ..ConnectionOptions { cache_dir: self.cache_dir.clone(), ..self.chosen.clone() }.without_empty()
        })
    }

    /// A given flag that chooses a cluster or a user, if there is one. The other flags are harmless without a cluster.
    pub fn chosen(&self) -> Option<&'static str> {
        self.chosen.given().first().map(|flag| flag.name)
    }

    /// The namespace of `--namespace`.
    pub fn namespace(&self) -> Option<&str> {
        self.namespace.as_deref().filter(|namespace| !namespace.is_empty())
    }
}

/// kubectl's profiles (`pkg/cmd/profiling.go`).
const PROFILES: [&str; 8] = ["none", "cpu", "heap", "goroutine", "threadcreate", "block", "mutex", "trace"];

/// Reads a duration as kubectl does: whole seconds, or Go's durations.
fn duration(text: &str) -> Option<Duration> {
    let seconds = text.parse().map(Duration::from_secs);
    seconds.ok().or_else(|| Duration::try_from(text.parse::<jiff::SignedDuration>().ok()?).ok())
}

/// Reads the duration of a flag, in kubectl's notation; none if it is zero, which means no limit.
///
/// # Errors
/// An invalid duration, with the name of the flag.
pub(super) fn time_of(flag: &str, text: &str) -> Result<Option<Duration>, OperationError> {
    match duration(text) {
        Some(time) => Ok((!time.is_zero()).then_some(time)),
        None => usage(format!("{flag}={text} is not a duration: give one as in kubectl (30s, 5m), or 0 for no limit")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// kubectl flag: `--request-timeout` | same
    #[test]
    fn timeouts_are_read_as_kubectl_reads_them() {
        let request_timeout = |text: &str| {
            let args = ConnectionArgs { request_timeout: Some(text.to_owned()), ..ConnectionArgs::default() };
            args.options().map(|options| options.request_timeout).map_err(|why| why.to_string())
        };
        assert_eq!(request_timeout("0"), Ok(None));
        assert_eq!(request_timeout("0s"), Ok(None));
        assert_eq!(request_timeout("10"), Ok(Some(Duration::from_secs(10))));
        assert_eq!(request_timeout("1m30s"), Ok(Some(Duration::from_secs(90))));
        assert_eq!(request_timeout("1.5h"), Ok(Some(Duration::from_secs(5400))));
        assert_eq!(request_timeout("500ms"), Ok(Some(Duration::from_millis(500))));
        for bad in ["", "soon", "-1s", "10 parsecs", "9999999999999999999999"] {
            assert!(request_timeout(bad).is_err(), "{bad:?}");
        }
    }

    /// A pasted command must reach the same cluster, and no other.
    #[test]
    fn kubectl_is_called_with_what_chose_the_cluster() {
        assert_eq!(ConnectionArgs::default().kubectl().verb("get").to_string(), "kubectl get");
        let chosen = ConnectionOptions {
            context: Some("prod".to_owned()),
            kubeconfig: Some("my files/config".into()),
            cluster: Some(String::new()),
            token: Some("secret".to_owned()),
            impersonate_groups: vec!["ops".to_owned()],
            ..ConnectionOptions::default()
        };
        let chosen = ConnectionArgs { chosen, ..ConnectionArgs::default() };
        let flags = "--context=prod '--kubeconfig=my files/config' --as-group=ops";
        assert_eq!(chosen.kubectl().verb("get").to_string(), format!("kubectl {flags} get"));
        // kubectl: "flags cannot be placed before plugin name".
        assert_eq!(chosen.kubectl().plugin("explain").to_string(), format!("kubectl gc explain {flags}"));
    }
}
