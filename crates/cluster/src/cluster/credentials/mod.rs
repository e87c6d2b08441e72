//! Credentials that are issued, expire and are renewed: those of a plugin, of an OpenID provider, and in a file.
//!
//! kube has all three, but runs a plugin twice for each client, for every request while its token has less than a
//! minute left, never after a 401, and never again for a certificate; its errors quote what a plugin printed; it spends
//! an OpenID refresh token without saving the next one; and it sends the line break at the end of a token file. These
//! are client-go's rules, from its `plugin/pkg/client/auth`. kubectl itself renews OpenID tokens: it knows how to save
//! them.

mod oidc;
mod plugin;

use std::{
    convert::Infallible,
    error::Error as _,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use http::{HeaderMap, HeaderValue, Request, header};
use kube::{
    Client, Config,
    client::{Body, ConfigExt as _},
    config::AuthInfo,
};
use parking_lot::Mutex;
use secrecy::{ExposeSecret as _, SecretString};
use tower::{Layer as _, Service as _, service_fn};

use crate::bounded;

use self::{
    oidc::Oidc,
    plugin::{Issued, Plugin},
};
use super::{
    error::{ConnectError, Endpoint, Failure},
    kubeconfig::{Origin, read_encoded},
    transport,
};

/// Clients that send requests with valid credentials.
pub(super) struct Clients {
    /// Without the issued credentials.
    base: Client,
    source: Source,
    /// The headers of every request.
    headers: Arc<HeaderMap>,
}

enum Source {
    /// Nothing is issued: a certificate, a token or a password, if there are any.
    Fixed(Option<HeaderValue>),
    Plugin(Box<Plugin>),
    Oidc(Oidc),
    TokenFile(TokenFile),
}

/// What one request is sent with.
pub(super) struct Lease {
    client: Client,
    authorization: Option<HeaderValue>,
    issued: Option<Arc<Issued>>,
    headers: Arc<HeaderMap>,
}

impl Clients {
    /// Takes the issued credentials out of the configuration: kube would handle them in its way.
    ///
    /// As in client-go, a token, a password and a certificate take precedence over a plugin
    /// (`exec.Authenticator.UpdateTransportConfig`), and a token and a password over an OpenID provider.
    pub(super) fn new(
        mut config: Config,
        origin: Option<Origin>,
        user_agent: Option<&str>,
        endpoint: &Endpoint,
    ) -> Result<Self, ConnectError> {
        let none = |reason: String| ConnectError::Credentials { endpoint: endpoint.clone(), reason };
        let invalid = |what: String, reason: String| ConnectError::Setting { what, reason };
        let headers = Arc::new(headers_of(config.clone(), user_agent).map_err(none)?);
        let user = &mut config.auth_info;
        let has_token = user.token.is_some() || user.token_file.is_some() || user.username.is_some();
        let has_certificate = user.client_certificate.is_some() || user.client_certificate_data.is_some();
        read_certificate(user)?;
        let (exec, provider) = (user.exec.take(), user.auth_provider.take());
        if exec.is_some() && provider.is_some() {
            let reason = "it has both exec and auth-provider: remove one of them".to_owned();
            return Err(invalid(user_name(origin.as_ref()), reason));
        }
        let source = match (exec, provider) {
            (Some(exec), _) if !has_token && !has_certificate => {
                let what = format!("the credential plugin of {}", user_name(origin.as_ref()));
                let plugin = Plugin::new(exec, config.clone()).map_err(|reason| invalid(what, reason))?;
                Source::Plugin(Box::new(plugin))
            }
            (_, Some(provider)) if !has_token && provider.name == "oidc" => {
                let what = format!("the OpenID provider of {}", user_name(origin.as_ref()));
                Source::Oidc(Oidc::new(&provider.config, origin).map_err(|reason| invalid(what, reason))?)
            }
            (_, Some(provider)) if !has_token => {
                return Err(invalid(user_name(origin.as_ref()), unavailable(&provider.name)));
            }
            _ => {
                // The file is read again and again; the token is only for the case that it is gone (client-go's
                // `NewBearerAuthWithRefreshRoundTripper`).
                match config.auth_info.token_file.take().filter(|_| config.auth_info.username.is_none()) {
                    Some(file) => Source::TokenFile(
                        TokenFile::open(PathBuf::from(file), config.auth_info.token.take()).map_err(none)?,
                    ),
                    None => Source::Fixed(authorization(&mut config.auth_info).map_err(none)?),
                }
            }
        };
        let base = transport::client(config);
        let base = base.map_err(|error| invalid(format!("the settings for {endpoint}"), explain(&error)))?;
        Ok(Clients { base, source, headers })
    }

    /// A client with valid credentials. Gets new ones first if there are none, or if they have expired.
    pub(super) async fn lease(&self) -> Result<Lease, Failure> {
        let authorization = match &self.source {
            Source::Fixed(authorization) => authorization.clone(),
            Source::Plugin(plugin) => {
                return Ok(self.lease_of(plugin.credential().await.map_err(Failure::Credentials)?));
            }
            Source::Oidc(oidc) => Some(oidc.id_token().await.map_err(Failure::Credentials)?),
            Source::TokenFile(file) => Some(file.token().map_err(Failure::Credentials)?),
        };
        Ok(Lease { client: self.base.clone(), authorization, issued: None, headers: self.headers.clone() })
    }

    fn lease_of(&self, issued: Arc<Issued>) -> Lease {
        let client = issued.client.clone().unwrap_or_else(|| self.base.clone());
        let authorization = issued.authorization.clone();
        Lease { client, authorization, issued: Some(issued), headers: self.headers.clone() }
    }

    /// Renews credentials that the server has rejected (401), and returns the new ones; `None` if there are no others.
    pub(super) async fn renew(&self, rejected: &Lease) -> Result<Option<Lease>, Failure> {
        let (Source::Plugin(plugin), Some(issued)) = (&self.source, &rejected.issued) else { return Ok(None) };
        let renewed = plugin.renew(issued).await.map_err(Failure::Credentials)?;
        Ok(renewed.map(|issued| self.lease_of(issued)))
    }
}

impl Lease {
    /// Adds the headers of every request.
    pub(super) fn add_headers(&self, headers: &mut HeaderMap) {
        for (name, value) in self.headers.iter() {
            headers.append(name, value.clone());
        }
        if let Some(authorization) = &self.authorization {
            headers.insert(header::AUTHORIZATION, authorization.clone());
        }
    }

    /// Sends a request, which has all its headers.
    pub(super) async fn send(&self, request: Request<Body>) -> Result<http::Response<Body>, Failure> {
        self.client.send(request).await.map_err(|error| Failure::of_transport(&error))
    }
}

/// The user's certificate and key as data, which count before files (client-go's `dataFromSliceOrFile`).
fn read_certificate(user: &mut AuthInfo) -> Result<(), ConnectError> {
    let file = user.client_certificate.take().filter(|_| user.client_certificate_data.is_none());
    if let Some(file) = file {
        user.client_certificate_data = Some(read_encoded("client certificate", &file)?);
    }
    let file = user.client_key.take().filter(|_| user.client_key_data.is_none());
    if let Some(file) = file {
        user.client_key_data = Some(read_encoded("client key", &file)?.into());
    }
    Ok(())
}

fn user_name(origin: Option<&Origin>) -> String {
    origin.map_or_else(|| "the user".to_owned(), |origin| format!("user {:?}", origin.user))
}

/// `Bearer TOKEN`, which no log shows.
fn bearer(token: &str) -> Result<HeaderValue, String> {
    let mut value = HeaderValue::try_from(format!("Bearer {token}"))
        .map_err(|_| "the token has characters that no HTTP header can have".to_owned())?;
    value.set_sensitive(true);
    Ok(value)
}

/// Why there are no credentials of this provider (client-go's `GetAuthProvider` and stubs).
fn unavailable(provider: &str) -> String {
    let instead = match provider {
        "gcp" => "the gcp auth plugin has been removed; use the credential plugin gke-gcloud-auth-plugin instead",
        "azure" => {
            "the azure auth plugin has been removed; use the credential plugin of \
            https://github.com/Azure/kubelogin instead"
        }
        _ => return format!("no auth-provider {provider:?} is known, only oidc; use a credential plugin (exec)"),
    };
    instead.to_owned()
}

/// Describes an error of kube about certificates and keys, in the words of who has to replace them.
fn explain(error: &kube::Error) -> String {
    known(error).unwrap_or_else(|| error.to_string())
}

/// The same for errors that say nothing of what is in the certificate or the key; `None` for others.
fn known(error: &kube::Error) -> Option<String> {
    let mut all = error.to_string();
    let mut next = error.source();
    while let Some(error) = next {
        all = format!("{all}: {error}");
        next = error.source();
    }
    // rustls reads only version 3; Go reads all.
    all.contains("UnsupportedCertVersion").then(|| {
        "the client certificate is of X.509 version 1, which can't be used here: have it signed again as \
         version 3, with openssl x509 -req … -extfile FILE, where FILE has the line \
         extendedKeyUsage=clientAuth"
            .to_owned()
    })
}

/// The headers of every request, but for the credentials: the program, and whom to impersonate. kube's layer would add
/// them behind our back; [`crate::cluster::Exchange`] tells what was really sent.
///
/// # Errors
/// A setting that no header can have.
fn headers_of(mut config: Config, user_agent: Option<&str>) -> Result<HeaderMap, String> {
    let own = HeaderValue::try_from(user_agent.map_or_else(program, str::to_owned));
    let own = own.map_err(|_| "the User-Agent has characters that no HTTP header can have")?;
    config.headers.push((header::USER_AGENT, own));
    let layer = config.extra_headers_layer().map_err(|error| format!("the user to impersonate: {error}"))?;
    let taken = |request: Request<()>| std::future::ready(Ok::<_, Infallible>(request.into_parts().0.headers));
    let Ok(headers) = layer.layer(service_fn(taken)).call(Request::new(())).into_inner();
    Ok(headers)
}

/// The header for a token, or for a name and a password, if the settings have one. Takes them out of the settings. A
/// password counts only with a name, as in client-go's `Config.HasBasicAuth`.
fn authorization(user: &mut AuthInfo) -> Result<Option<HeaderValue>, String> {
    let (name, password) = (user.username.take(), user.password.take());
    if let Some(token) = user.token.take() {
        return bearer(token.expose_secret()).map(Some);
    }
    let Some(name) = name else { return Ok(None) };
    let password = password.as_ref().map(|password| password.expose_secret()).unwrap_or_default();
    transport::basic(format!("{name}:{password}")).map(Some)
}

/// This program, as kubectl names itself: `kubectl-gc/0.1.0 (linux/amd64)`.
pub fn program() -> String {
    let system = match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    };
    let architecture = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        "x86" => "386",
        other => other,
    };
    format!("kubectl-gc/{} ({system}/{architecture})", env!("CARGO_PKG_VERSION"))
}

/// How long a token is used before the file is read again (client-go's `fileTokenSource`, less its leeway).
const PERIOD: Duration = Duration::from_secs(50);

/// A token in a file, which others replace: that of a pod's service account, for example.
struct TokenFile {
    path: PathBuf,
    last: Mutex<(HeaderValue, Instant)>,
}

impl TokenFile {
    /// Reads the file; `otherwise` is the token to use if that fails.
    fn open(path: PathBuf, otherwise: Option<SecretString>) -> Result<Self, String> {
        let token = match (token_in(&path), otherwise) {
            (Err(_), Some(token)) => bearer(token.expose_secret())?,
            (read, _) => read?,
        };
        Ok(TokenFile { path, last: Mutex::new((token, Instant::now())) })
    }

    /// The current token. If the file can't be read any more, the last one: a program may remove the file once it runs.
    fn token(&self) -> Result<HeaderValue, String> {
        let mut last = self.last.lock();
        if last.1.elapsed() >= PERIOD {
            if let Ok(token) = token_in(&self.path) {
                last.0 = token;
            }
            last.1 = Instant::now();
        }
        Ok(last.0.clone())
    }
}

fn token_in(path: &Path) -> Result<HeaderValue, String> {
    let failed = |reason: String| format!("token file {}: {reason}", path.display());
    let text = bounded::read_setting(path).map_err(|error| failed(error.to_string()))?;
    let text = String::from_utf8(text).map_err(|_| failed("not UTF-8".to_owned()))?;
    match text.trim() {
        "" => Err(failed("it is empty".to_owned())),
        token => bearer(token).map_err(failed),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn the_headers_say_who_asks() {
        let mut config = Config::new(http::Uri::from_static("https://h"));
        config.auth_info = AuthInfo {
            token: Some("secret".to_owned().into()),
            impersonate: Some("alice".to_owned()),
            impersonate_groups: Some(vec!["a".to_owned(), "b".to_owned()]),
            impersonate_user_extra: Some(HashMap::from([(
                "example.com/scopes é".to_owned(),
                vec!["1".to_owned(), "2".to_owned()],
            )])),
            ..AuthInfo::default()
        };
        let headers = headers_of(config.clone(), None).unwrap();
        let all = |name: &str| headers.get_all(name).iter().map(|value| value.to_str().unwrap()).collect::<Vec<_>>();
        assert_eq!(all("impersonate-user"), ["alice"]);
        assert_eq!(all("impersonate-group"), ["a", "b"]);
        assert_eq!(all("impersonate-extra-example.com%2fscopes%20%c3%a9"), ["1", "2"]);
        assert!(all("user-agent")[0].starts_with("kubectl-gc/"));
        let bearer = authorization(&mut config.auth_info).unwrap().unwrap();
        assert!(bearer == "Bearer secret" && bearer.is_sensitive());
        assert!(authorization(&mut config.auth_info).unwrap().is_none(), "the settings have nothing left");
        config.auth_info.impersonate = Some("a\nb".to_owned());
        assert!(headers_of(config, None).unwrap_err().starts_with("the user to impersonate"));
    }

    /// kube would read a pipe without an end, and one that gives its content a second time.
    #[test]
    fn a_certificate_is_read_once_and_what_cannot_be_read_is_named() {
        let user = |certificate: &str, key: &str| AuthInfo {
            client_certificate: Some(certificate.to_owned()),
            client_key: Some(key.to_owned()),
            client_key_data: key.is_empty().then(|| "data".to_owned().into()),
            ..AuthInfo::default()
        };
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pem").to_string_lossy().into_owned();
        std::fs::write(&file, "abc").unwrap();
        let mut read = user(&file, &file);
        read_certificate(&mut read).unwrap();
        assert_eq!((read.client_certificate, read.client_key), (None, None));
        assert_eq!(read.client_certificate_data.as_deref(), Some("YWJj"));
        read_certificate(&mut user(&file, "")).unwrap();
        for (certificate, key, what) in
            [("/gone", &*file, "client certificate /gone"), (&file, "/gone", "client key /gone")]
        {
            let error = read_certificate(&mut user(certificate, key)).unwrap_err().to_string();
            assert!(error.contains(&format!("{what}: No such file")), "{error}");
        }
    }

    /// kubectl credential: a password without a name | same: none
    #[test]
    fn names_and_passwords_are_basic_authentication() {
        let mut user = AuthInfo {
            username: Some("Aladdin".to_owned()),
            password: Some("open sesame".to_owned().into()),
            ..AuthInfo::default()
        };
        assert_eq!(authorization(&mut user).unwrap().unwrap(), "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
        let mut user = AuthInfo { password: Some("alone".to_owned().into()), ..AuthInfo::default() };
        assert_eq!(authorization(&mut user), Ok(None));
    }
}
