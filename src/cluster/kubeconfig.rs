//! Server, user and namespace: finds, merges and overrides the kubeconfig as kubectl does.

use std::{
    collections::HashMap,
    ffi::OsString,
    path::{Path, PathBuf},
};

use kube::config::{AuthInfo, Cluster, Config, Context, ExecAuthCluster};
use secrecy::{ExposeSecret as _, SecretString};

use crate::{bounded, url};

use super::{ConnectionOptions, error::ConnectError, kubeconfig_files::Merged, proxy};

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
    let (kubeconfig, looked_at) = read(options, environment)?;
    let mut chosen = if kubeconfig.is_empty() {
        // As in kubectl: an empty kubeconfig counts as none.
        if options.server.is_none() && environment.variable("KUBERNETES_SERVICE_HOST").is_some() {
            inside_pod(options)?
        } else if options.server.is_some() {
            from_parts(options, Cluster::default(), AuthInfo::default())?
        } else {
            return Err(ConnectError::NoKubeconfig { looked_at });
        }
    } else {
        from_kubeconfig(options, kubeconfig)?
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
    config.connect_timeout = Some(super::request::CONNECT_TIMEOUT);
    Ok(chosen)
}

/// Reads and merges the files: the given one, else those of KUBECONFIG that exist, else the one in the home directory.
fn read(options: &ConnectionOptions, environment: &dyn Environment) -> Result<(Merged, Vec<PathBuf>), ConnectError> {
    if let Some(path) = &options.kubeconfig {
        return Ok((Merged::read([path.as_path()])?, vec![path.clone()]));
    }
    let listed = environment.variable("KUBECONFIG").unwrap_or_default();
    let mut paths: Vec<PathBuf> = std::env::split_paths(&listed).filter(|path| !path.as_os_str().is_empty()).collect();
    if paths.is_empty() {
        paths.extend(environment.home().map(|home| home.join(".kube").join("config")));
    }
    let merged = Merged::read(paths.iter().filter(|path| path.exists()).map(PathBuf::as_path))?;
    Ok((merged, paths))
}

fn inside_pod(options: &ConnectionOptions) -> Result<Chosen, ConnectError> {
    let failed = |error: kube::config::InClusterError| ConnectError::Setting {
        what: "no kubeconfig, and this pod's service account cannot be used".to_owned(),
        reason: error.to_string(),
    };
    let mut config = Config::incluster_env().map_err(failed)?;
    config.auth_info = override_user(options, std::mem::take(&mut config.auth_info));
    refuse_two_log_ins(&config.auth_info)?;
    config.accept_invalid_certs |= options.insecure_skip_tls_verify;
    if let Some(file) = &options.certificate_authority {
        config.root_cert =
            Some(certificates("--certificate-authority", &read_setting("--certificate-authority", file)?)?);
        config.root_cert_file = None;
    }
    config.tls_server_name = options.tls_server_name.clone();
    Ok(Chosen { config, context: String::new(), user: String::new(), origin: None })
}

fn from_kubeconfig(options: &ConnectionOptions, merged: Merged) -> Result<Chosen, ConnectError> {
    let kubeconfig = &merged.kubeconfig;
    let known = || kubeconfig.contexts.iter().map(|context| context.name.clone()).collect();
    let current = kubeconfig.current_context.as_ref().filter(|name| !name.is_empty());
    let (name, context) = match options.context.as_ref().or(current) {
        Some(name) => match kubeconfig.contexts.iter().find(|context| &context.name == name) {
            Some(context) => (name.clone(), context.context.clone().unwrap_or_default()),
            None => {
                let missing = || ConnectError::ContextNotFound { context: name.clone(), known: known() };
                return Err(merged.broken_context(name).unwrap_or_else(missing));
            }
        },
        // With --cluster or --server, no context is needed.
        None if options.cluster.is_some() || options.server.is_some() => (String::new(), Context::default()),
        None => return Err(ConnectError::NoContext { known: known() }),
    };

    let wanted = options.cluster.as_ref().unwrap_or(&context.cluster);
    let cluster = match kubeconfig.clusters.iter().find(|cluster| &cluster.name == wanted) {
        Some(cluster) => cluster.cluster.clone().unwrap_or_default(),
        None if wanted.is_empty() && options.server.is_some() => Cluster::default(),
        None => {
            let known = kubeconfig.clusters.iter().map(|cluster| cluster.name.clone()).collect();
            let missing = ConnectError::ClusterNotFound { cluster: wanted.clone(), known };
            return Err(merged.broken_cluster(wanted).unwrap_or(missing));
        }
    };

    let wanted = options.user.as_ref().or(context.user.as_ref());
    if let Some(broken) = wanted.and_then(|wanted| merged.broken_user(wanted)) {
        return Err(broken);
    }
    let user = match wanted.and_then(|wanted| kubeconfig.auth_infos.iter().find(|user| &user.name == wanted)) {
        Some(user) => user.auth_info.clone().unwrap_or_default(),
        // A missing user of the context means no credentials; a user given by --user must exist.
        None => match &options.user {
            Some(user) => {
                let known = kubeconfig.auth_infos.iter().map(|user| user.name.clone()).collect();
                return Err(ConnectError::UserNotFound { user: user.clone(), known });
            }
            None => AuthInfo::default(),
        },
    };
    let user_name = wanted.cloned().unwrap_or_default();
    let repeated = options.given().into_iter().filter(|flag| flag.repeated);
    let flags = repeated.map(|flag| format!("{}={}", flag.name, flag.value)).collect();
    let origin = merged.users.get(&user_name).map(|file| Origin { file: file.clone(), user: user_name.clone(), flags });
    let mut chosen = from_parts(options, cluster, user)?;
    if let Some(namespace) = context.namespace.filter(|namespace| !namespace.is_empty()) {
        chosen.config.default_namespace = namespace;
    }
    Ok(Chosen { context: name, user: user_name, origin, ..chosen })
}

fn from_parts(options: &ConnectionOptions, cluster: Cluster, user: AuthInfo) -> Result<Chosen, ConnectError> {
    let cluster = override_cluster(options, cluster);
    let mut user = override_user(options, user);
    refuse_two_log_ins(&user)?;
    refuse_insecure_authority(&cluster)?;
    let insecure = cluster.insecure_skip_tls_verify.unwrap_or(false);
    let authority = authority_bytes(&cluster)?;

    let server = cluster.server.clone().unwrap_or_default();
    let tls =
        insecure || authority.is_some() || user.client_certificate.is_some() || user.client_certificate_data.is_some();
    let mut config = Config::new(server_url(&server, tls)?);
    config.accept_invalid_certs = insecure;
    if let Some((what, bytes)) = authority {
        config.root_cert = Some(certificates(&what, &bytes)?);
    }
    config.tls_server_name = cluster.tls_server_name.clone();
    config.disable_compression = cluster.disable_compression.unwrap_or(false);
    if let Some(url) = &cluster.proxy_url {
        let invalid = |reason| ConnectError::Setting { what: "the cluster's proxy-url".to_owned(), reason };
        config.proxy_url = Some(proxy::parse(url).map_err(invalid)?);
    }
    if let Some(exec) = user.exec.as_mut().filter(|exec| exec.provide_cluster_info) {
        let invalid = |error: kube::config::KubeconfigError| ConnectError::Setting {
            what: "the cluster's description for the credential plugin".to_owned(),
            reason: error.to_string(),
        };
        exec.cluster = Some(ExecAuthCluster::try_from(&cluster).map_err(invalid)?);
    }
    config.auth_info = user;
    Ok(Chosen { config, context: String::new(), user: String::new(), origin: None })
}

fn override_cluster(options: &ConnectionOptions, cluster: Cluster) -> Cluster {
    let mut cluster = Cluster {
        server: cluster.server.and_then(said),
        certificate_authority: cluster.certificate_authority.filter(|file| is_file_name(file)),
        certificate_authority_data: cluster.certificate_authority_data.and_then(said),
        proxy_url: cluster.proxy_url.and_then(said),
        tls_server_name: cluster.tls_server_name.and_then(said),
        ..cluster
    };
    if let Some(server) = &options.server {
        cluster.server = Some(server.clone());
        // The name belongs to the other server.
        cluster.tls_server_name = None;
    }
    if let Some(name) = &options.tls_server_name {
        cluster.tls_server_name = Some(name.clone());
    }
    if let Some(url) = &options.proxy_url {
        cluster.proxy_url = Some(url.clone());
    }
    // client-go's `DirectClientConfig.getCluster`.
    if options.insecure_skip_tls_verify || options.certificate_authority.is_some() {
        let file = options.certificate_authority.as_ref();
        cluster.insecure_skip_tls_verify = Some(options.insecure_skip_tls_verify);
        cluster.certificate_authority = file.map(|file| file.to_string_lossy().into_owned());
        cluster.certificate_authority_data = None;
    }
    cluster
}

fn override_user(options: &ConnectionOptions, user: AuthInfo) -> AuthInfo {
    let mut user = without_empty_settings(user);
    if options.token.is_some() || options.username.is_some() || options.password.is_some() {
        // Given credentials replace a plugin's, a provider's and a file's.
        user.auth_provider = None;
        user.exec = None;
        user.token_file = None;
    }
    // As in kubectl, a token doesn't replace a password, nor the other way round: the conflict is told.
    if let Some(token) = &options.token {
        user.token = Some(token.clone().into());
    }
    if let Some(name) = &options.username {
        user.username = Some(name.clone());
    }
    if let Some(password) = &options.password {
        user.password = Some(password.clone().into());
    }
    let path = |path: &PathBuf| path.to_string_lossy().into_owned();
    if let Some(file) = &options.client_certificate {
        user.client_certificate = Some(path(file));
        user.client_certificate_data = None;
    }
    if let Some(file) = &options.client_key {
        user.client_key = Some(path(file));
        user.client_key_data = None;
    }
    if let Some(name) = &options.impersonate {
        user.impersonate = Some(name.clone());
    }
    if let Some(uid) = &options.impersonate_uid {
        user.impersonate_uid = Some(uid.clone());
    }
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

/// kubectl reads an empty string as "not set"; kube reads it as an empty token or file name.
fn without_empty_settings(user: AuthInfo) -> AuthInfo {
    let Ok(serde_json::Value::Object(mut settings)) = serde_json::to_value(&user) else { return user };
    settings.retain(|name, value| match (name.as_str(), value.as_str()) {
        ("client-certificate" | "client-key" | "tokenFile", Some(file)) => is_file_name(file),
        (_, said) => said != Some("") && !value.is_null(),
    });
    serde_json::from_value(serde_json::Value::Object(settings)).unwrap_or(user)
}

fn said(setting: String) -> Option<String> {
    Some(setting).filter(|setting| !setting.is_empty())
}

/// kube resolves file names relative to the kubeconfig's folder, so an empty name becomes the folder itself.
fn is_file_name(file: &str) -> bool {
    !file.is_empty() && !file.ends_with(std::path::MAIN_SEPARATOR)
}

/// The certificate authority, with its name for messages.
fn authority_bytes(cluster: &Cluster) -> Result<Option<(String, Vec<u8>)>, ConnectError> {
    use base64::Engine as _;
    if let Some(data) = &cluster.certificate_authority_data {
        let what = "the cluster's certificate-authority-data".to_owned();
        // As in Go, line breaks are ignored.
        let data: String = data.split_whitespace().collect();
        return match base64::engine::general_purpose::STANDARD.decode(data) {
            Ok(bytes) => Ok(Some((what, bytes))),
            Err(error) => Err(ConnectError::Setting { what, reason: format!("not base64: {error}") }),
        };
    }
    match &cluster.certificate_authority {
        Some(file) => {
            let what = format!("certificate authority {file}");
            Ok(Some((what.clone(), read_setting(&what, Path::new(file))?)))
        }
        None => Ok(None),
    }
}

fn read_setting(what: &str, file: &Path) -> Result<Vec<u8>, ConnectError> {
    bounded::read_setting(file)
        .map_err(|error| ConnectError::Setting { what: what.to_owned(), reason: error.to_string() })
}

fn certificates(what: &str, bytes: &[u8]) -> Result<Vec<Vec<u8>>, ConnectError> {
    let invalid = |reason: String| ConnectError::Setting { what: what.to_owned(), reason };
    let blocks = pem::parse_many(bytes).map_err(|error| invalid(format!("not PEM: {error}")))?;
    let certificates: Vec<Vec<u8>> =
        blocks.into_iter().filter(|block| block.tag() == "CERTIFICATE").map(pem::Pem::into_contents).collect();
    if certificates.is_empty() { Err(invalid("holds no certificate".to_owned())) } else { Ok(certificates) }
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
    }

    /// As kubectl merges: an empty current context says nothing, and only what is chosen has to be complete.
    #[test]
    fn what_is_not_used_may_be_incomplete() {
        let directory = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            std::fs::write(directory.path().join(name), text).unwrap();
            directory.path().join(name)
        };
        let first = write(
            "first",
            "current-context: ''\nkind: Config\nusers: [{name: half, user: {token: {secret: 1}}}, {user: {}}, null]\n\
             clusters: [{name: empty}, {name: nothing, cluster: null}]\n\
             contexts: [{name: lost, context: {user: half}}, {name: half, context: {cluster: here, user: half}}]\n",
        );
        let env = "env: [{name: A, value: null}, null], args: null, interactiveMode: Never, installHint: null";
        let second = write(
            "second",
            &format!(
                "{}- {{name: half, user: {{token: other}}}}\n- name: runs\n  user:\n    tokenFile: null\n    \
                 client-certificate: certificate.pem\n    client-key: key.pem\n    \
                 exec: {{command: ./plugin, apiVersion: v1, {env}}}\n",
                FIRST.replace("kind: Config", "kind: Other")
            ),
        );
        let variables = HashMap::from([("KUBECONFIG", std::env::join_paths([&first, &second]).unwrap())]);
        let environment = Fake { variables, home: None };
        let options = |context: &str, user: &str| ConnectionOptions {
            context: Some(context.to_owned()).filter(|context| !context.is_empty()),
            user: Some(user.to_owned()).filter(|user| !user.is_empty()),
            ..Default::default()
        };

        let chosen = choose(&options("", ""), &environment).unwrap();
        assert_eq!((chosen.context.as_str(), chosen.user.as_str()), ("dev", "me"));
        assert_eq!(chosen.origin.unwrap().file, second);

        let chosen = choose(&options("dev", "runs"), &environment).unwrap();
        let exec = chosen.config.auth_info.exec.unwrap();
        assert_eq!(exec.command.unwrap(), directory.path().join("./plugin").to_string_lossy());
        assert_eq!(exec.env.unwrap().len(), 1);
        let certificate = directory.path().join("certificate.pem").to_string_lossy().into_owned();
        assert_eq!(chosen.config.auth_info.client_certificate, Some(certificate));

        let fails = |context: &str| choose(&options(context, ""), &environment).err().unwrap().to_string();
        // The first file decides about a user, whether it can be used or not.
        let broken = fails("half");
        assert!(broken.contains("first: user \"half\" can't be used: a field has the wrong type"), "{broken}");
        assert!(!broken.contains("secret"), "{broken}");
        assert!(fails("lost").starts_with("there is no cluster \"\""), "{}", fails("lost"));
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
        assert_eq!(fails(user), "there is no user \"x\" in the kubeconfig (it has me, other)");
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

    /// kubectl credential: a cluster's authority both as file and as data | different: the data counts; kubectl refuses
    #[test]
    fn data_count_before_a_file() {
        let cluster = r#"{"certificate-authority": "/nonexistent", "certificate-authority-data": "YQ=="}"#;
        let cluster: Cluster = serde_json::from_str(cluster).unwrap();
        let (what, bytes) = authority_bytes(&cluster).unwrap().unwrap();
        assert_eq!((what.as_str(), bytes.as_slice()), ("the cluster's certificate-authority-data", &b"a"[..]));
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
