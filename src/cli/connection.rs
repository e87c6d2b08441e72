//! kubectl's connection flags: they mean what they mean there.

use std::{path::PathBuf, time::Duration};

use clap::Args;

use crate::{cluster::ConnectionOptions, operations::OperationError, wording::shell_word};

/// The flags as typed.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Connection (as in kubectl)")]
pub struct ConnectionArgs {
    /// The namespace; without it the context's
    #[arg(short, long, value_name = "NAMESPACE", global = true)]
    pub namespace: Option<String>,
    /// The kubeconfig's context to use
    #[arg(long, value_name = "CONTEXT", global = true)]
    pub context: Option<String>,
    /// The kubeconfig file to use
    #[arg(long, value_name = "FILE", global = true, hide_short_help = true)]
    pub kubeconfig: Option<PathBuf>,
    /// The kubeconfig's cluster to use
    #[arg(long, value_name = "CLUSTER", global = true, hide_short_help = true)]
    pub cluster: Option<String>,
    /// The kubeconfig's user to use
    #[arg(long, value_name = "USER", global = true, hide_short_help = true)]
    pub user: Option<String>,
    /// The address and port of the API server
    #[arg(short, long, value_name = "URL", global = true, hide_short_help = true)]
    pub server: Option<String>,
    /// Bearer token for the API server
    #[arg(long, value_name = "TOKEN", global = true, hide_short_help = true)]
    pub token: Option<String>,
    /// User name for basic authentication
    #[arg(long, value_name = "NAME", global = true, hide_short_help = true)]
    pub username: Option<String>,
    /// Password for basic authentication
    #[arg(long, value_name = "PASSWORD", global = true, hide_short_help = true)]
    pub password: Option<String>,
    /// The user to impersonate
    #[arg(long = "as", value_name = "USER", global = true, hide_short_help = true)]
    pub impersonate: Option<String>,
    /// A group to impersonate; may be repeated
    #[arg(long = "as-group", value_name = "GROUP", global = true, hide_short_help = true)]
    pub impersonate_groups: Vec<String>,
    /// The uid to impersonate
    #[arg(long = "as-uid", value_name = "UID", global = true, hide_short_help = true)]
    pub impersonate_uid: Option<String>,
    /// The certificate authority's file
    #[arg(long, value_name = "FILE", global = true, hide_short_help = true)]
    pub certificate_authority: Option<PathBuf>,
    /// The client certificate's file
    #[arg(long, value_name = "FILE", global = true, hide_short_help = true)]
    pub client_certificate: Option<PathBuf>,
    /// The client key's file
    #[arg(long, value_name = "FILE", global = true, hide_short_help = true)]
    pub client_key: Option<PathBuf>,
    /// Don't check the server's certificate: this is insecure
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
    pub insecure_skip_tls_verify: bool,
    /// The name that the server's certificate is checked for
    #[arg(long, value_name = "NAME", global = true, hide_short_help = true)]
    pub tls_server_name: Option<String>,
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
    pub fn flags(&self) -> Vec<String> {
        let path = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
        let given = [
            ("kubeconfig", path(&self.kubeconfig)),
            ("cluster", self.cluster.clone()),
            ("user", self.user.clone()),
            ("server", self.server.clone()),
            ("as", self.impersonate.clone()),
            ("as-uid", self.impersonate_uid.clone()),
            ("certificate-authority", path(&self.certificate_authority)),
            ("tls-server-name", self.tls_server_name.clone()),
        ];
        let groups = self.impersonate_groups.iter().map(|group| ("as-group", Some(group.clone())));
        let given = given.into_iter().chain(groups).filter_map(|(flag, value)| Some((flag, value?)));
        given.filter(|(_, value)| !value.is_empty()).map(|(flag, value)| format!("--{flag}={value}")).collect()
    }

    /// How kubectl is called so that it reaches the same cluster in the same role, wherever that was chosen on the
    /// command line: what is pasted elsewhere must not hit another.
    pub fn kubectl(&self) -> String {
        let context =
            self.context.iter().filter(|context| !context.is_empty()).map(|context| format!("--context={context}"));
        let flags: Vec<String> = context.chain(self.flags()).map(|flag| shell_word(&flag).into_owned()).collect();
        [vec!["kubectl".to_owned()], flags].concat().join(" ")
    }

    /// The checked form. As in kubectl an empty value is no value.
    pub fn options(&self) -> Result<ConnectionOptions, TimeoutError> {
        let text = |value: &Option<String>| value.clone().filter(|value| !value.is_empty());
        let path = |value: &Option<PathBuf>| value.clone().filter(|value| !value.as_os_str().is_empty());
        Ok(ConnectionOptions {
            kubeconfig: path(&self.kubeconfig),
            context: text(&self.context),
            cluster: text(&self.cluster),
            user: text(&self.user),
            server: text(&self.server),
            token: text(&self.token),
            username: text(&self.username),
            password: text(&self.password),
            impersonate: text(&self.impersonate),
            impersonate_groups: self.impersonate_groups.clone(),
            impersonate_uid: text(&self.impersonate_uid),
            certificate_authority: path(&self.certificate_authority),
            client_certificate: path(&self.client_certificate),
            client_key: path(&self.client_key),
            insecure_skip_tls_verify: self.insecure_skip_tls_verify,
            tls_server_name: text(&self.tls_server_name),
            disable_compression: self.disable_compression,
            request_timeout: self.request_timeout.as_deref().map(request_timeout).transpose()?.flatten(),
        })
    }

    /// A flag that chooses a cluster or who one is there, if any was given. The rest means nothing without a cluster,
    /// and harms nobody.
    pub fn chosen(&self) -> Option<&'static str> {
        let text = |value: &Option<String>| value.as_deref().is_some_and(|value| !value.is_empty());
        let path = |value: &Option<PathBuf>| value.as_deref().is_some_and(|value| !value.as_os_str().is_empty());
        let flags = [
            ("--context", text(&self.context)),
            ("--kubeconfig", path(&self.kubeconfig)),
            ("--cluster", text(&self.cluster)),
            ("--user", text(&self.user)),
            ("--server", text(&self.server)),
            ("--token", text(&self.token)),
            ("--username", text(&self.username)),
            ("--password", text(&self.password)),
            ("--as", text(&self.impersonate)),
            ("--as-group", !self.impersonate_groups.is_empty()),
            ("--as-uid", text(&self.impersonate_uid)),
            ("--certificate-authority", path(&self.certificate_authority)),
            ("--client-certificate", path(&self.client_certificate)),
            ("--client-key", path(&self.client_key)),
            ("--insecure-skip-tls-verify", self.insecure_skip_tls_verify),
            ("--tls-server-name", text(&self.tls_server_name)),
        ];
        flags.into_iter().find_map(|(flag, given)| given.then_some(flag))
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
        OperationError::Usage(format!("{flag}={text} is no time: give one as in kubectl (30s, 5m), or 0 for no limit"))
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
        assert_eq!(ConnectionArgs::default().kubectl(), "kubectl");
        let chosen = ConnectionArgs {
            context: Some("prod".to_owned()),
            kubeconfig: Some("my files/config".into()),
            token: Some("secret".to_owned()),
            impersonate_groups: vec!["ops".to_owned()],
            ..ConnectionArgs::default()
        };
        assert_eq!(chosen.kubectl(), "kubectl --context=prod '--kubeconfig=my files/config' --as-group=ops");
    }
}
