//! Credentials that are issued, expire and are renewed: those of a plugin, of an OpenID provider, and in a file.
//!
//! kube has all three, but runs a plugin twice for each client, for every request while its token has less than a
//! minute left, never after a 401, and never again for a certificate; its errors quote what a plugin printed; it spends
//! an OpenID refresh token without saving the next one; and it sends the line break at the end of a token file. These
//! are client-go's rules, from its `plugin/pkg/client/auth`. kubectl itself renews OpenID tokens: it knows how to save
//! them.

pub(super) mod headers;
mod oidc;
mod plugin;
mod token_file;

use std::{error::Error as _, path::PathBuf, sync::Arc};

use http::{HeaderMap, HeaderValue, Request, header};
use kube::{Client, Config, client::Body};

use super::{
    error::{ConnectError, Endpoint},
    failure::Failure,
    kubeconfig::Origin,
    transport,
};

use self::{
    oidc::Oidc,
    plugin::{Issued, Plugin},
    token_file::TokenFile,
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
        let headers = Arc::new(headers::of(config.clone(), user_agent).map_err(none)?);
        let user = &mut config.auth_info;
        let has_token = user.token.is_some() || user.token_file.is_some() || user.username.is_some();
        let has_certificate = user.client_certificate.is_some() || user.client_certificate_data.is_some();
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
                    None => Source::Fixed(headers::authorization(&mut config.auth_info).map_err(none)?),
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
