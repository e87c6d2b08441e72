//! Server, user and namespace: kube reads and merges the kubeconfig, kubectl's flags replace what it says.
//!
//! `Config::from_custom_kubeconfig` would do some of the rest, too, but it refuses a `NO_PROXY` that ends with a comma,
//! and compares `NO_PROXY` with the proxy instead of the server.

use std::{
    collections::HashMap,
    ffi::OsString,
    path::{MAIN_SEPARATOR, Path, PathBuf},
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use kube::config::{AuthInfo, Cluster, Config, ExecAuthCluster, Kubeconfig, KubeconfigError};
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::bounded;
use gc_core::url;

use super::{ConnectionOptions, error::ConnectError, proxy, transport};

/// The chosen configuration, ready to connect.
pub(super) struct Chosen {
    pub config: Config,
    pub context: String,
    pub user: String,
    /// Where the user is; `None` inside a pod.
    pub origin: Option<Origin>,
}

/// A user of a kubeconfig file.
#[derive(Clone, Debug)]
pub(super) struct Origin {
    pub file: PathBuf,
    pub user: String,
    /// The flags by which kubectl chooses the same user.
    pub flags: Vec<String>,
}

/// The parts of the process's environment that matter; tests provide their own.
pub(super) trait Environment {
    fn variable(&self, name: &str) -> Option<OsString>;
    fn home(&self) -> Option<PathBuf>;
}

/// The real environment.
pub(super) struct Process;

impl Environment for Process {
    fn variable(&self, name: &str) -> Option<OsString> {
        std::env::var_os(name)
    }

    fn home(&self) -> Option<PathBuf> {
        std::env::home_dir().filter(|home| !home.as_os_str().is_empty())
    }
}

/// Chooses the cluster, user and namespace by the options. Reads files; runs nothing.
pub(super) fn choose(options: &ConnectionOptions, environment: &dyn Environment) -> Result<Chosen, ConnectError> {
    let paths = paths(options, environment);
    let (kubeconfig, users) = merged(&paths, options.kubeconfig.is_some())?;
    // As in kubectl: an empty kubeconfig counts as none.
    let is_empty = kubeconfig.clusters.is_empty() && kubeconfig.contexts.is_empty() && kubeconfig.auth_infos.is_empty();
    let mut chosen = if !is_empty || options.server.is_some() {
        from_kubeconfig(options, &kubeconfig, &users)?
    } else if environment.variable("KUBERNETES_SERVICE_HOST").is_some() {
        inside_pod(options)?
    } else {
        let (files, missing): (Vec<PathBuf>, _) = paths.into_iter().partition(|path| path.exists());
        return Err(match files.as_slice() {
            [] => ConnectError::NoKubeconfig { looked_at: missing },
            _ => ConnectError::EmptyKubeconfig { files },
        });
    };

    let config = &mut chosen.config;
    // Over the loopback interface, compression costs more than it saves.
    config.disable_compression |= options.disable_compression || proxy::is_loopback(&config.cluster_url);
    if config.proxy_url.is_none() {
        let variable = |name: &str| environment.variable(name).and_then(|value| value.into_string().ok());
        config.proxy_url = proxy::from_environment(&config.cluster_url, variable)
            .map_err(|reason| ConnectError::Setting { what: "HTTPS_PROXY".to_owned(), reason })?;
    }
    // kube's own retries go on for 15 minutes.
    config.default_retry = false;
    config.connect_timeout = Some(transport::CONNECT_TIMEOUT);
    Ok(chosen)
}

/// The files to read: the given one, else those of KUBECONFIG, else the one in the home directory.
fn paths(options: &ConnectionOptions, environment: &dyn Environment) -> Vec<PathBuf> {
    if let Some(path) = &options.kubeconfig {
        return vec![path.clone()];
    }
    let listed = environment.variable("KUBECONFIG").unwrap_or_default();
    let mut paths: Vec<PathBuf> = std::env::split_paths(&listed).filter(|path| !path.as_os_str().is_empty()).collect();
    if paths.is_empty() {
        paths.extend(environment.home().map(|home| home.join(".kube").join("config")));
    }
    paths
}

/// Merges the files, and says in which of them each user is. Unless it `must_exist`, a missing file is skipped.
fn merged(paths: &[PathBuf], must_exist: bool) -> Result<(Kubeconfig, HashMap<String, PathBuf>), ConnectError> {
    let (mut merged, mut users) = (Kubeconfig::default(), HashMap::new());
    for path in paths.iter().filter(|path| must_exist || path.exists()) {
        let mut next = read_file(path)?;
        // As in kubectl: `kubectl config unset` leaves an empty one.
        next.current_context.take_if(|name| name.is_empty());
        for user in &next.auth_infos {
            users.entry(user.name.clone()).or_insert_with(|| path.clone());
        }
        merged = merged
            .merge(next)
            .map_err(|error| ConnectError::Kubeconfig { file: path.clone(), reason: error.to_string() })?;
    }
    Ok((merged, users))
}

/// Reads one file. No error quotes it: it has credentials.
pub(super) fn read_file(path: &Path) -> Result<Kubeconfig, ConnectError> {
    let failed = |reason: String| ConnectError::Kubeconfig { file: path.to_owned(), reason };
    // It may be a device without end.
    let bytes = bounded::read_setting(path).map_err(|error| failed(error.to_string()))?;
    // kube also reads UTF-16, but doesn't expect an odd number of bytes.
    if matches!(bytes.as_slice(), [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..]) && bytes.len() % 2 == 1 {
        return Err(failed("not UTF-16, though it begins like it".to_owned()));
    }
    Kubeconfig::read_from(path).map_err(|error| match error {
        KubeconfigError::ReadConfig(error, _) => failed(error.to_string()),
        KubeconfigError::Parse(error) => {
            // The other lines show the file around the error.
            let error = error.to_string();
            let message = error.lines().next().unwrap_or_default();
            failed(format!("not a kubeconfig: {}", message.strip_prefix("error: ").unwrap_or(message)))
        }
        error => failed(error.to_string()),
    })
}

fn inside_pod(options: &ConnectionOptions) -> Result<Chosen, ConnectError> {
    let pod = Config::incluster_env().map_err(|error| ConnectError::Setting {
        what: "no kubeconfig, and this pod's service account cannot be used".to_owned(),
        reason: error.to_string(),
    })?;
    let authority = pod.root_cert_file.as_ref().map(|file| file.to_string_lossy().into_owned());
    let server = Some(pod.cluster_url.to_string());
    let cluster = Cluster { server, certificate_authority: authority, ..Cluster::default() };
    let mut config = configuration(options, cluster, pod.auth_info)?;
    config.default_namespace = pod.default_namespace;
    // kube reads it again now and then.
    config.root_cert_file = pod.root_cert_file.filter(|_| options.certificate_authority.is_none());
    Ok(Chosen { config, context: String::new(), user: String::new(), origin: None })
}

fn from_kubeconfig(
    options: &ConnectionOptions,
    kubeconfig: &Kubeconfig,
    users: &HashMap<String, PathBuf>,
) -> Result<Chosen, ConnectError> {
    let Kubeconfig { contexts, clusters, auth_infos, current_context, .. } = kubeconfig;
    let (name, context) = match options.context.as_ref().or(current_context.as_ref()) {
        Some(name) => (name.clone(), find("context", contexts, |context| &context.name, name)?.context.clone()),
        // With --cluster or --server, no context is needed.
        None if options.cluster.is_some() || options.server.is_some() => (String::new(), None),
        None => {
            let known = contexts.iter().map(|context| context.name.clone()).collect();
            return Err(ConnectError::NoContext { known });
        }
    };
    let context = context.unwrap_or_default();

    let wanted = options.cluster.as_ref().unwrap_or(&context.cluster);
    let cluster = match find("cluster", clusters, |cluster| &cluster.name, wanted) {
        Err(_) if wanted.is_empty() && options.server.is_some() => Cluster::default(),
        found => found?.cluster.clone().unwrap_or_default(),
    };

    let wanted = options.user.as_ref().or(context.user.as_ref());
    let user = match find("user", auth_infos, |user| &user.name, wanted.map_or("", |name| name)) {
        // As in kubectl, a missing user of the context means no credentials; a user given by --user must exist.
        Err(_) if options.user.is_none() => None,
        found => Some(found?.auth_info.clone().unwrap_or_default()),
    };
    let mut user_name = wanted.cloned().unwrap_or_default();
    let repeated = options.given().into_iter().filter(|flag| flag.repeated);
    let flags = repeated.map(|flag| format!("{}={}", flag.name, flag.value)).collect();
    let origin = users.get(&user_name).map(|file| Origin { file: file.clone(), user: user_name.clone(), flags });
    if user.is_none() && !user_name.is_empty() {
        user_name += ", which the kubeconfig does not have";
    }
    let mut config = configuration(options, cluster, user.unwrap_or_default())?;
    if let Some(namespace) = context.namespace.filter(|namespace| !namespace.is_empty()) {
        config.default_namespace = namespace;
    }
    Ok(Chosen { config, context: name, user: user_name, origin })
}

/// The part of a kubeconfig that has this name.
fn find<'a, T>(
    sort: &'static str,
    parts: &'a [T],
    name_of: impl Fn(&T) -> &String,
    name: &str,
) -> Result<&'a T, ConnectError> {
    parts.iter().find(|part| name_of(part) == name).ok_or_else(|| {
        let known = parts.iter().map(|part| name_of(part).clone()).collect();
        ConnectError::NotFound { sort, name: name.to_owned(), known }
    })
}

/// The configuration for a cluster and a user, each as the flags change it.
fn configuration(options: &ConnectionOptions, cluster: Cluster, user: AuthInfo) -> Result<Config, ConnectError> {
    let cluster = with_cluster_flags(options, cluster);
    let mut user = with_user_flags(options, user);
    refuse_two_log_ins(&user)?;
    refuse_insecure_authority(&cluster)?;
    let (cluster, what) = with_authority_read(cluster)?;
    let invalid = |reason: String| ConnectError::Setting { what: what.clone(), reason };
    let insecure = cluster.insecure_skip_tls_verify.unwrap_or(false);
    // kube decodes the authority for this.
    let info = ExecAuthCluster::try_from(&cluster).map_err(|_| invalid("not valid base64".to_owned()))?;
    let authority = &info.certificate_authority_data;

    let server = cluster.server.unwrap_or_default();
    let tls =
        insecure || authority.is_some() || user.client_certificate.is_some() || user.client_certificate_data.is_some();
    let mut config = Config::new(server_url(&server, tls)?);
    config.accept_invalid_certs = insecure;
    config.root_cert = authority.as_deref().map(certificates).transpose().map_err(invalid)?;
    config.tls_server_name = cluster.tls_server_name;
    config.disable_compression = cluster.disable_compression.unwrap_or(false);
    if let Some(url) = &cluster.proxy_url {
        let invalid = |reason| ConnectError::Setting { what: "the cluster's proxy-url".to_owned(), reason };
        config.proxy_url = Some(proxy::parse(url).map_err(invalid)?);
    }
    if let Some(exec) = user.exec.as_mut().filter(|exec| exec.provide_cluster_info) {
        exec.cluster = Some(info);
    }
    config.auth_info = user;
    Ok(config)
}

/// client-go's `DirectClientConfig.getCluster`.
fn with_cluster_flags(options: &ConnectionOptions, cluster: Cluster) -> Cluster {
    let mut cluster = without_empty(cluster);
    if let Some(data) = &mut cluster.certificate_authority_data {
        // As in Go, line breaks are ignored.
        data.retain(|c| !c.is_whitespace());
    }
    if options.server.is_some() {
        // The name belongs to the other server.
        cluster.tls_server_name = None;
    }
    replace(&mut cluster.server, options.server.clone());
    replace(&mut cluster.tls_server_name, options.tls_server_name.clone());
    replace(&mut cluster.proxy_url, options.proxy_url.clone());
    if options.insecure_skip_tls_verify || options.certificate_authority.is_some() {
        cluster.insecure_skip_tls_verify = Some(options.insecure_skip_tls_verify);
        cluster.certificate_authority = path(&options.certificate_authority);
        cluster.certificate_authority_data = None;
    }
    cluster
}

/// client-go's `DirectClientConfig.getUserIdentificationPartialConfig`.
fn with_user_flags(options: &ConnectionOptions, user: AuthInfo) -> AuthInfo {
    let mut user = without_empty(user);
    if options.token.is_some() || options.username.is_some() || options.password.is_some() {
        // Given credentials replace a plugin's, a provider's and a file's.
        user.auth_provider = None;
        user.exec = None;
        user.token_file = None;
    }
    // As in kubectl, a token doesn't replace a password, nor the other way round: the conflict is told.
    replace(&mut user.token, options.token.clone().map(SecretString::from));
    replace(&mut user.username, options.username.clone());
    replace(&mut user.password, options.password.clone().map(SecretString::from));
    if options.client_certificate.is_some() {
        user.client_certificate = path(&options.client_certificate);
        user.client_certificate_data = None;
    }
    if options.client_key.is_some() {
        user.client_key = path(&options.client_key);
        user.client_key_data = None;
    }
    replace(&mut user.impersonate, options.impersonate.clone());
    replace(&mut user.impersonate_uid, options.impersonate_uid.clone());
    if !options.impersonate_groups.is_empty() {
        user.impersonate_groups = Some(options.impersonate_groups.clone());
    }
    if !options.impersonate_user_extra.is_empty() {
        let mut extra: HashMap<String, Vec<String>> = HashMap::new();
        for (key, value) in options.impersonate_user_extra.clone() {
            extra.entry(key).or_default().push(value);
        }
        user.impersonate_user_extra = Some(extra);
    }
    user
}

fn replace<T>(setting: &mut Option<T>, flag: Option<T>) {
    if flag.is_some() {
        *setting = flag;
    }
}

fn path(flag: &Option<PathBuf>) -> Option<String> {
    flag.as_ref().map(|path| path.to_string_lossy().into_owned())
}

/// kubectl reads an empty string as "not set"; kube reads it as an empty token, and resolves an empty file name to the
/// kubeconfig's folder.
fn without_empty<T: Serialize + DeserializeOwned>(part: T) -> T {
    const FILES: [&str; 4] = ["certificate-authority", "client-certificate", "client-key", "tokenFile"];
    let Ok(Value::Object(mut settings)) = serde_json::to_value(&part) else { return part };
    settings.retain(|name, value| {
        let is_folder = |text: &str| FILES.contains(&name.as_str()) && text.ends_with(MAIN_SEPARATOR);
        value.as_str().map_or(!value.is_null(), |text| !text.is_empty() && !is_folder(text))
    });
    serde_json::from_value(Value::Object(settings)).unwrap_or(part)
}

/// As kubectl does: the server would not say whose rights count.
fn refuse_two_log_ins(user: &AuthInfo) -> Result<(), ConnectError> {
    let is_given = |text: &Option<SecretString>| text.as_ref().is_some_and(|text| !text.expose_secret().is_empty());
    let has_name = user.username.as_ref().is_some_and(|name| !name.is_empty());
    if !is_given(&user.token) || !(has_name || is_given(&user.password)) {
        return Ok(());
    }
    let what = "the user's credentials".to_owned();
    let reason = "more than one authentication method found: token and basic authentication, and only one is allowed";
    Err(ConnectError::Setting { what, reason: reason.to_owned() })
}

/// As kubectl does: kube would ignore the authority, and trust any server. Without TLS, there is nothing to verify.
fn refuse_insecure_authority(cluster: &Cluster) -> Result<(), ConnectError> {
    let has_authority = cluster.certificate_authority.is_some() || cluster.certificate_authority_data.is_some();
    let is_plain = cluster.server.as_deref().is_some_and(|server| server.starts_with("http://"));
    if !has_authority || cluster.insecure_skip_tls_verify != Some(true) || is_plain {
        return Ok(());
    }
    let what = "insecure-skip-tls-verify and certificate-authority".to_owned();
    let reason = "specifying a certificate authority with the insecure flag is not allowed: remove one of them";
    Err(ConnectError::Setting { what, reason: reason.to_owned() })
}

/// A file that the kubeconfig names, as data: kube reads files of any size, and waits for pipes without an end.
pub(super) fn read_encoded(what: &str, file: &str) -> Result<String, ConnectError> {
    let encoded = bounded::read_setting(Path::new(file)).map(|bytes| BASE64_STANDARD.encode(bytes));
    encoded.map_err(|error| ConnectError::Setting { what: format!("{what} {file}"), reason: error.to_string() })
}

/// The cluster with its authority as data, and what messages call that.
fn with_authority_read(mut cluster: Cluster) -> Result<(Cluster, String), ConnectError> {
    let file = cluster.certificate_authority.take().filter(|_| cluster.certificate_authority_data.is_none());
    let Some(file) = file else { return Ok((cluster, "the cluster's certificate-authority-data".to_owned())) };
    cluster.certificate_authority_data = Some(read_encoded("certificate authority", &file)?);
    Ok((cluster, format!("certificate authority {file}")))
}

/// The certificates of an authority.
fn certificates(pem: &[u8]) -> Result<Vec<Vec<u8>>, String> {
    let blocks = pem::parse_many(pem).map_err(|error| format!("not PEM: {error}"))?;
    let certificates: Vec<Vec<u8>> =
        blocks.into_iter().filter(|block| block.tag() == "CERTIFICATE").map(pem::Pem::into_contents).collect();
    if certificates.is_empty() {
        return Err("holds no certificate".to_owned());
    }
    Ok(certificates)
}

/// Reads a server's address. Without a scheme it is HTTPS if any TLS setting exists, else HTTP, as in kubectl.
fn server_url(server: &str, tls: bool) -> Result<http::Uri, ConnectError> {
    let invalid = |reason: &str| ConnectError::Setting {
        what: format!("server {:?}", url::without_password(server)),
        reason: reason.to_owned(),
    };
    if server.is_empty() {
        let reason = "the cluster has none in the kubeconfig; give --server".to_owned();
        return Err(ConnectError::Setting { what: "no server".to_owned(), reason });
    }
    let whole = match server.contains("://") {
        true => server.to_owned(),
        false if tls => format!("https://{server}"),
        false => format!("http://{server}"),
    };
    let url: http::Uri = whole.parse().map_err(|_| invalid("not a URL"))?;
    match (url.scheme_str(), url.host()) {
        (Some("http" | "https"), Some(host)) if !host.is_empty() => Ok(url),
        (Some("http" | "https"), _) => Err(invalid("names no host")),
        _ => Err(invalid("neither http:// nor https://")),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Default)]
    struct Fake {
        variables: HashMap<&'static str, OsString>,
        home: Option<PathBuf>,
    }

    impl Environment for Fake {
        fn variable(&self, name: &str) -> Option<OsString> {
            self.variables.get(name).cloned()
        }

        fn home(&self) -> Option<PathBuf> {
            self.home.clone()
        }
    }

    const FIRST: &str = "
apiVersion: v1
kind: Config
current-context: dev
contexts:
- {name: dev, context: {cluster: here, user: me, namespace: shop}}
- {name: broken, context: {cluster: nowhere, user: me}}
clusters:
- {name: here, cluster: {server: 'https://127.0.0.1:6443', tls-server-name: kubernetes}}
users:
- {name: me, user: {token: secret}}
";
    const SECOND: &str = "
current-context: prod
contexts:
- {name: dev, context: {cluster: there, user: other}}
- {name: prod, context: {cluster: there, user: other}}
clusters:
- {name: there, cluster: {server: 'https://api.example.com', insecure-skip-tls-verify: true, proxy-url: 'proxy:3128'}}
users:
- {name: other, user: {username: u, password: p, token: '', client-certificate: ''}}
- {name: lone, user: {username: '', password: p}}
";

    fn files(directory: &Path) -> Fake {
        std::fs::write(directory.join("first"), FIRST).unwrap();
        std::fs::write(directory.join("second"), SECOND).unwrap();
        let paths = ["missing", "first", "second"].map(|name| directory.join(name));
        let variables = HashMap::from([("KUBECONFIG", std::env::join_paths(paths).unwrap())]);
        Fake { variables, home: None }
    }

    #[test]
    fn files_are_merged_and_the_first_to_say_something_wins() {
        let directory = tempfile::tempdir().unwrap();
        let environment = files(directory.path());
        let chosen = choose(&ConnectionOptions::default(), &environment).unwrap();
        assert_eq!((chosen.context.as_str(), chosen.user.as_str()), ("dev", "me"));
        assert_eq!(chosen.config.cluster_url, "https://127.0.0.1:6443");
        assert_eq!(chosen.config.default_namespace, "shop");
        assert_eq!(chosen.config.tls_server_name.as_deref(), Some("kubernetes"));
        assert!(chosen.config.disable_compression, "on loopback");

        let options = ConnectionOptions { context: Some("prod".into()), ..Default::default() };
        let chosen = choose(&options, &environment).unwrap();
        assert_eq!(chosen.config.cluster_url, "https://api.example.com");
        assert_eq!(chosen.config.default_namespace, "default");
        assert!(chosen.config.accept_invalid_certs && !chosen.config.disable_compression);
        assert_eq!(chosen.config.proxy_url.unwrap(), "http://proxy:3128/");
        assert!(chosen.config.auth_info.token.is_none() && chosen.config.auth_info.client_certificate.is_none());
        assert_eq!(chosen.config.auth_info.username.as_deref(), Some("u"));
        let options = ConnectionOptions { user: Some("lone".into()), ..options };
        assert_eq!(choose(&options, &environment).unwrap().config.auth_info.username, None);
    }

    /// As kubectl merges: an empty current context says nothing, and file names lead from the kubeconfig's folder.
    #[test]
    fn the_first_current_context_counts_that_is_not_empty() {
        let directory = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            std::fs::write(directory.path().join(name), text).unwrap();
            directory.path().join(name)
        };
        let first = write("first", "current-context: ''\nclusters: null\nusers: [{name: bob, user: {token: t}}]\n");
        let plugin = "exec: {command: ./plugin, apiVersion: v1, env: null, args: null, interactiveMode: Never}";
        let second = write(
            "second",
            &format!(
                "{FIRST}- name: runs\n  user:\n    tokenFile: null\n    client-certificate: certificate.pem\n    \
                 client-key: key.pem\n    {plugin}\n"
            ),
        );
        let variables = HashMap::from([("KUBECONFIG", std::env::join_paths([&first, &second]).unwrap())]);
        let environment = Fake { variables, home: None };

        let chosen = choose(&ConnectionOptions::default(), &environment).unwrap();
        assert_eq!((chosen.context.as_str(), chosen.user.as_str()), ("dev", "me"));
        assert_eq!(chosen.origin.unwrap().file, second);

        let options = ConnectionOptions { user: Some("runs".to_owned()), ..Default::default() };
        let user = choose(&options, &environment).unwrap().config.auth_info;
        assert_eq!(user.exec.unwrap().command.unwrap(), directory.path().join("./plugin").to_string_lossy());
        let certificate = directory.path().join("certificate.pem").to_string_lossy().into_owned();
        assert_eq!(user.client_certificate, Some(certificate));
    }

    /// Whichever part of it is chosen.
    #[test]
    fn a_file_that_kube_cannot_read_is_refused_and_not_quoted() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("config");
        for part in [
            "users: [{name: half, user: {token: {SECRET: 1}}}]",
            "users: [{name: half, user: SECRET}]",
            "users: SECRET",
            "users: [{name: half, user: {token: SECRET, exec: {interactiveMode: Sometimes}}}]",
            "contexts: [{name: half, context: {user: SECRET}}]",
            "users: [{name: half, user: {token: SECRET\"}}]\n  - SECRET: `SECRET`",
            "users: [{name: half, user: {token: \"SECRET}}]",
            "users: [{name: half, user: {token: *SECRET}}]",
            "users: [{name: half, user: {token: SECRET, token: SECRET}}]",
        ] {
            std::fs::write(&file, part).unwrap();
            let options = ConnectionOptions { kubeconfig: Some(file.clone()), ..Default::default() };
            let refused = choose(&options, &Fake::default()).err().unwrap().to_string();
            assert!(refused.starts_with(&format!("kubeconfig {}: not a kubeconfig: ", file.display())), "{refused}");
            assert!(!refused.contains("SECRET"), "{refused}");
        }
    }

    #[test]
    fn options_override_the_file() {
        let directory = tempfile::tempdir().unwrap();
        let environment = files(directory.path());
        let options = ConnectionOptions {
            server: Some("http://localhost:8080".into()),
            token: Some("given".into()),
            impersonate: Some("alice".into()),
            impersonate_groups: vec!["dev".into()],
            ..Default::default()
        };
        let chosen = choose(&options, &environment).unwrap();
        assert_eq!(chosen.config.cluster_url, "http://localhost:8080");
        assert_eq!(chosen.config.tls_server_name, None);
        let user = &chosen.config.auth_info;
        assert!(user.token.is_some() && user.username.is_none() && user.password.is_none());
        assert_eq!(user.impersonate.as_deref(), Some("alice"));
        // As in kubectl, a token doesn't replace a password.
        let both = ConnectionOptions { user: Some("other".into()), ..options };
        let refused = choose(&both, &environment).err().unwrap().to_string();
        assert!(refused.contains("more than one authentication method found"), "{refused}");
    }

    /// kubectl credential: a context whose user is not in the kubeconfig | same: no credentials, and messages say why
    #[test]
    fn what_is_not_there_is_named_with_what_is() {
        let directory = tempfile::tempdir().unwrap();
        let environment = files(directory.path());
        let fails = |options: ConnectionOptions| choose(&options, &environment).err().unwrap().to_string();
        let context = ConnectionOptions { context: Some("x".into()), ..Default::default() };
        assert_eq!(fails(context), "there is no context \"x\" in the kubeconfig (it has dev, broken, prod)");
        let cluster = ConnectionOptions { context: Some("broken".into()), ..Default::default() };
        assert_eq!(fails(cluster), "there is no cluster \"nowhere\" in the kubeconfig (it has here, there)");
        let user = ConnectionOptions { user: Some("x".into()), ..Default::default() };
        assert_eq!(fails(user), "there is no user \"x\" in the kubeconfig (it has me, other, lone)");
        std::fs::write(directory.path().join("first"), FIRST.replace("name: me", "name: you")).unwrap();
        let gone = choose(&ConnectionOptions::default(), &environment).unwrap();
        assert_eq!(gone.user, "me, which the kubeconfig does not have");
        let file = ConnectionOptions { kubeconfig: Some(directory.path().join("missing")), ..Default::default() };
        assert!(fails(file).contains("missing: No such file"));
    }

    #[test]
    fn without_any_kubeconfig_the_message_says_where_it_was_looked_for() {
        let environment = Fake { home: Some(PathBuf::from("/nobody")), ..Default::default() };
        let error = choose(&ConnectionOptions::default(), &environment).err().unwrap();
        assert_eq!(error, ConnectError::NoKubeconfig { looked_at: vec!["/nobody/.kube/config".into()] });
        let options = ConnectionOptions { server: Some("localhost:8080".into()), ..Default::default() };
        assert_eq!(choose(&options, &environment).unwrap().config.cluster_url, "http://localhost:8080");
        let variables = HashMap::from([("KUBERNETES_SERVICE_HOST", "10.0.0.1".into())]);
        let in_pod = Fake { variables, home: None };
        assert!(matches!(choose(&ConnectionOptions::default(), &in_pod), Err(ConnectError::Setting { .. }) | Ok(_)));
    }

    /// kubectl credential: an empty kubeconfig | different: says which file is empty; kubectl asks localhost:8080
    #[test]
    fn an_empty_kubeconfig_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("config");
        for content in ["", "# nothing\n", "kind: Config\n"] {
            std::fs::write(&file, content).unwrap();
            let listed = std::env::join_paths([&directory.path().join("missing"), &file]).unwrap();
            let environment = Fake { variables: HashMap::from([("KUBECONFIG", listed)]), home: None };
            let error = choose(&ConnectionOptions::default(), &environment).err().unwrap();
            assert_eq!(error, ConnectError::EmptyKubeconfig { files: vec![file.clone()] });
        }
    }

    /// kubectl credential: a cluster's authority both as file and as data | different: the data counts; kubectl refuses
    #[test]
    fn data_count_before_a_file() {
        let refused = |settings: &str| {
            let cluster: Cluster = serde_json::from_str(&format!("{{{settings}}}")).unwrap();
            let refused = configuration(&ConnectionOptions::default(), cluster, AuthInfo::default());
            refused.err().unwrap().to_string()
        };
        let file = r#""server": "https://h", "certificate-authority": "/nonexistent""#;
        assert!(refused(file).contains("/nonexistent"), "{}", refused(file));
        let both = refused(&format!(r#"{file}, "certificate-authority-data": "YQ\n==""#));
        assert_eq!(both, "the cluster's certificate-authority-data: holds no certificate");
    }

    #[test]
    fn what_kube_would_not_refuse_is_refused() {
        let cluster = |settings: &str| -> Cluster { serde_json::from_str(&format!("{{{settings}}}")).unwrap() };
        let user = |settings: &str| -> AuthInfo { serde_json::from_str(&format!("{{{settings}}}")).unwrap() };
        for (settings, is_refused) in [
            ("", false),
            (r#""certificate-authority": "a", "insecure-skip-tls-verify": true"#, true),
            (r#""certificate-authority-data": "YQ==", "insecure-skip-tls-verify": true"#, true),
            (r#""certificate-authority": "a", "insecure-skip-tls-verify": false"#, false),
            (r#""server": "http://h", "certificate-authority": "a", "insecure-skip-tls-verify": true"#, false),
        ] {
            assert_eq!(refuse_insecure_authority(&cluster(settings)).is_err(), is_refused, "{settings}");
        }
        for (settings, is_refused) in [
            (r#""token": "t", "username": "u", "password": "p""#, true),
            (r#""token": "t", "password": "p""#, true),
            (r#""token": "t", "client-certificate": "c", "client-key": "k""#, false),
            (r#""username": "u", "password": "p""#, false),
        ] {
            assert_eq!(refuse_two_log_ins(&user(settings)).is_err(), is_refused, "{settings}");
        }
    }

    #[test]
    fn odd_servers_are_refused() {
        for server in ["", "https://", "ftp://host", "https://[", "/path", "https:///path", "a b", "unix:///run/x"] {
            assert!(server_url(server, true).is_err(), "{server}");
        }
        assert_eq!(server_url("host:6443", true).unwrap(), "https://host:6443");
        assert_eq!(server_url("host", false).unwrap(), "http://host");
        assert_eq!(
            server_url("https://rancher.example.com/k8s/clusters/c-1", true).unwrap().path(),
            "/k8s/clusters/c-1"
        );
    }

    #[test]
    fn odd_files_are_errors() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("config");
        let odd: [&[u8]; 7] = [
            b"\xFF\xFEa",
            b"\xFE\xFFabc",
            b"\x80\x81",
            b"clusters: 7",
            b"contexts: [{context: {}}]",
            b"{",
            b"current-context: x\ncontexts: [{name: x, context: {cluster: c}}]\n\
              clusters: [{name: c, cluster: {server: 'https://h', certificate-authority-data: '!'}}]",
        ];
        for content in odd {
            std::fs::write(&file, content).unwrap();
            let options = ConnectionOptions { kubeconfig: Some(file.clone()), ..Default::default() };
            let error = choose(&options, &Fake::default()).err().unwrap();
            assert!(!matches!(error, ConnectError::NoKubeconfig { .. }), "{content:?}: {error}");
        }
    }

    proptest! {
        #[test]
        fn damaged_kubeconfigs_never_panic(cut in 0usize..500, flip in 0usize..500, to in any::<u8>()) {
            let directory = tempfile::tempdir().unwrap();
            let file = directory.path().join("config");
            let mut content = SECOND.as_bytes().to_vec();
            if let Some(byte) = content.get_mut(flip) {
                *byte = to;
            }
            content.truncate(cut);
            std::fs::write(&file, content).unwrap();
            let options = ConnectionOptions { kubeconfig: Some(file), ..Default::default() };
            let _ = choose(&options, &Fake::default());
        }
    }
}
