//! kubectl's flags that choose a cluster and a user: the only list of them.

use std::{path::PathBuf, time::Duration};

/// kubectl's connection flags, as given.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct ConnectionOptions {
    /// The kubeconfig's context to use
    #[arg(long, value_name = "CONTEXT", global = true, hide_short_help = true)]
    pub context: Option<String>,
    /// The kubeconfig file to use
    #[arg(long, value_name = "FILE", global = true,
        hide_short_help = true, value_parser = path())]
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
    /// Something else that is known of the user to impersonate; may be repeated
    #[arg(long = "as-user-extra", value_name = "KEY=VALUE", global = true,
        hide_short_help = true, value_parser = user_extra)]
    pub impersonate_user_extra: Vec<(String, String)>,
    /// The certificate authority's file
    #[arg(long, value_name = "FILE", global = true,
        hide_short_help = true, value_parser = path())]
    pub certificate_authority: Option<PathBuf>,
    /// The client certificate's file
    #[arg(long, value_name = "FILE", global = true,
        hide_short_help = true, value_parser = path())]
    pub client_certificate: Option<PathBuf>,
    /// The client key's file
    #[arg(long, value_name = "FILE", global = true,
        hide_short_help = true, value_parser = path())]
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
    /// The HTTP or SOCKS5 proxy to the API server, as proxy-url in the kubeconfig
    #[arg(long, value_name = "URL", global = true, hide_short_help = true)]
    pub proxy_url: Option<String>,
    /// The User-Agent of every request; [`program`](super::program) if unset.
    #[arg(skip)]
    pub user_agent: Option<String>,
    /// kubectl's cache; its usual place if unset.
    #[arg(skip)]
    pub cache_dir: Option<PathBuf>,
    #[arg(skip)]
    pub disable_compression: bool,
    /// Zero means no limit. If unset, the limit is 30 seconds without any data from the server.
    #[arg(skip)]
    pub request_timeout: Option<Duration>,
}

/// One flag that was given, with its value.
pub struct GivenFlag {
    /// As it is typed: `--context`.
    pub name: &'static str,
    pub value: String,
    /// Whether printed kubectl commands include this flag. Secrets are not printed, and client certificates usually
    /// come from a kubeconfig.
    pub repeated: bool,
}

impl ConnectionOptions {
    /// The given flags. As in kubectl, an empty value counts as not given.
    pub fn given(&self) -> Vec<GivenFlag> {
        let path = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
        let before_groups = [
            ("--context", self.context.clone(), true),
            ("--kubeconfig", path(&self.kubeconfig), true),
            ("--cluster", self.cluster.clone(), true),
            ("--user", self.user.clone(), true),
            ("--server", self.server.clone(), true),
            ("--token", self.token.clone(), false),
            ("--username", self.username.clone(), false),
            ("--password", self.password.clone(), false),
            ("--as", self.impersonate.clone(), true),
        ];
        let groups = self.impersonate_groups.iter().map(|group| ("--as-group", Some(group.clone()), true));
        let extra = self.impersonate_user_extra.iter();
        let extra = extra.map(|(key, value)| ("--as-user-extra", Some(format!("{key}={value}")), true));
        let after_groups = [
            ("--as-uid", self.impersonate_uid.clone(), true),
            ("--certificate-authority", path(&self.certificate_authority), true),
            ("--client-certificate", path(&self.client_certificate), false),
            ("--client-key", path(&self.client_key), false),
            ("--insecure-skip-tls-verify", self.insecure_skip_tls_verify.then(|| "true".to_owned()), false),
            ("--tls-server-name", self.tls_server_name.clone(), true),
            // kubectl has it only in the kubeconfig.
            ("--proxy-url", self.proxy_url.clone(), false),
        ];
        let all = before_groups.into_iter().chain(groups).chain(extra).chain(after_groups);
        let given = all.filter_map(|(name, value, repeated)| Some(GivenFlag { name, value: value?, repeated }));
        given.filter(|flag| !flag.value.is_empty()).collect()
    }

    /// Removes empty values, which count as not given.
    #[must_use]
    pub fn without_empty(mut self) -> Self {
        for text in [
            &mut self.context,
            &mut self.cluster,
            &mut self.user,
            &mut self.server,
            &mut self.token,
            &mut self.username,
            &mut self.password,
            &mut self.impersonate,
            &mut self.impersonate_uid,
            &mut self.tls_server_name,
            &mut self.proxy_url,
        ] {
            text.take_if(|text| text.is_empty());
        }
        for path in [
            &mut self.kubeconfig,
            &mut self.certificate_authority,
            &mut self.client_certificate,
            &mut self.client_key,
            &mut self.cache_dir,
        ] {
            path.take_if(|path| path.as_os_str().is_empty());
        }
        self
    }
}

/// Reads a path, also an empty one, which counts as not given.
pub fn path() -> impl clap::builder::TypedValueParser<Value = PathBuf> {
    clap::builder::TypedValueParser::map(clap::builder::OsStringValueParser::new(), PathBuf::from)
}

/// Reads `KEY=VALUE`.
fn user_extra(text: &str) -> Result<(String, String), &'static str> {
    let (key, value) = text.split_once('=').filter(|(key, _)| !key.is_empty()).ok_or("give it as KEY=VALUE")?;
    Ok((key.to_owned(), value.to_owned()))
}
