//! kubectl's connection flags: they mean what they mean there. Those that choose a cluster, and who one is there, are
//! [`ConnectionOptions`].

use std::{path::PathBuf, time::Duration};

use clap::Args;

use crate::{cluster::ConnectionOptions, command_line::Kubectl, operations::OperationError};

/// The flags as typed.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Connection (as in kubectl)")]
pub struct ConnectionArgs {
    /// The namespace; without it the context's
    #[arg(short, long, value_name = "NAMESPACE", global = true)]
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
    /// Accepted because kubectl does; nothing is cached
    #[arg(long, value_name = "FOLDER", global = true, hide_short_help = true)]
    pub cache_dir: Option<PathBuf>,
    /// How much to tell on standard error; from 6 on: every request
    #[arg(
        short,
        long = "v",
        value_name = "LEVEL",
        default_value_t = 0,
        hide_default_value = true,
        global = true,
        hide_short_help = true
    )]
    pub verbosity: u8,
}

impl ConnectionArgs {
    /// The flags with which kubectl reaches the same cluster in the same role, as they were given. Secrets are left
    /// out, and the context: it is known where none was given, too.
    fn flags(&self) -> Vec<String> {
        let flags = self.chosen.given().into_iter().filter(|flag| flag.repeated && flag.name != "--context");
        flags.map(|flag| format!("{}={}", flag.name, flag.value)).collect()
    }

    /// How kubectl is called so that it reaches the same cluster in the same role, wherever that was chosen on the
    /// command line: what is pasted elsewhere must not hit another.
    pub fn kubectl(&self) -> Kubectl {
        self.kubectl_in(self.chosen.context.as_deref().unwrap_or_default())
    }

    /// The same for what was read: a dump says nothing of where it is from.
    pub fn kubectl_for(&self, live: bool) -> Kubectl {
        if live { self.kubectl() } else { Kubectl::default() }
    }

    /// The same for a context that is known, whether it was given or not; empty where it has no name.
    pub fn kubectl_in(&self, context: &str) -> Kubectl {
        let context = Some(context).filter(|context| !context.is_empty()).map(|context| format!("--context={context}"));
        Kubectl::new(context.into_iter().chain(self.flags()).collect())
    }

    /// The checked form.
    pub fn options(&self) -> Result<ConnectionOptions, TimeoutError> {
        Ok(ConnectionOptions {
            disable_compression: self.disable_compression,
            request_timeout: self.request_timeout.as_deref().map(request_timeout).transpose()?.flatten(),
            ..self.chosen.clone().without_empty()
        })
    }

    /// A flag that chooses a cluster or who one is there, if any was given. The rest means nothing without a cluster,
    /// and harms nobody.
    pub fn chosen(&self) -> Option<&'static str> {
        self.chosen.given().first().map(|flag| flag.name)
    }

    /// The namespace that was asked for.
    pub fn namespace(&self) -> Option<&str> {
        self.namespace.as_deref().filter(|namespace| !namespace.is_empty())
    }
}

/// A `--request-timeout` that is not a time.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("--request-timeout={0:?} is not a time: give seconds, or a number with its unit such as 1s, 2m, 3h")]
pub struct TimeoutError(String);

/// Reads kubectl's notation: whole seconds, or Go's durations; zero is no limit.
fn request_timeout(text: &str) -> Result<Option<Duration>, TimeoutError> {
    let unreadable = || TimeoutError(text.to_owned());
    let seconds = match text.parse::<u64>() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => {
            let duration: jiff::SignedDuration = text.parse().map_err(|_| unreadable())?;
            Duration::try_from(duration).map_err(|_| unreadable())?
        }
    };
    Ok((!seconds.is_zero()).then_some(seconds))
}

/// A time on the command line, in kubectl's notation; none where it is zero, which is no limit.
///
/// # Errors
/// When it is no time, with the flag that it was given for.
pub(super) fn time_of(flag: &str, text: &str) -> Result<Option<Duration>, OperationError> {
    request_timeout(text).map_err(|_| {
        OperationError::Usage(format!(
            "{flag}={text} is not a duration: give one as in kubectl (30s, 5m), or 0 for no limit"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timeouts_are_read_as_kubectl_reads_them() {
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

    /// A command that is pasted must reach the cluster that was looked at, and no other.
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
        // "flags cannot be placed before plugin name"
        assert_eq!(chosen.kubectl().plugin("explain").to_string(), format!("kubectl gc explain {flags}"));
    }
}
