//! Manifests of `-f URL` and dumps of `--from URL`, fetched as kubectl's resource builder does (cli-runtime's
//! `readHttpWithRetries`), within limits.

use std::time::Duration;

use http::{HeaderValue, Request, Uri, header, uri::PathAndQuery};
use http_body_util::BodyExt as _;
use kube::{Client, Config, client::Body};
use percent_encoding::percent_decode_str;

use gc_core::url;

use super::{
    credentials::program,
    error::Failure,
    proxy,
    request::within,
    transport::{self, CONNECT_TIMEOUT, basic},
};

/// How often a URL is asked for at most, and the pause in between.
const TRIES: u32 = 3;
const PAUSE: Duration = Duration::from_secs(1);
/// As Go's http package.
const REDIRECTS: usize = 10;
/// How long the server may be silent, and how long one try may take.
const SILENCE: Duration = Duration::from_secs(30);
const LONGEST: Duration = Duration::from_mins(5);
/// No manifest is larger, and no dump that isn't downloaded first.
const LARGEST: usize = 64 << 20;

/// The content behind a URL. Blocks.
///
/// # Errors
/// Why it can't be read; never with the password of the URL.
pub fn fetch(url: &str) -> Result<Vec<u8>, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    runtime.block_on(async {
        let mut tried = 0;
        loop {
            tried += 1;
            let fetched = within(Some(LONGEST), async { Ok(once(url).await) }).await;
            match fetched.unwrap_or_else(|failure| Err(failure.into())) {
                Ok(content) => return Ok(content),
                Err(Error::MayPass(_)) if tried < TRIES => tokio::time::sleep(PAUSE).await,
                Err(Error::MayPass(why) | Error::Final(why)) => return Err(why),
            }
        }
    })
}

enum Error {
    /// Another try may succeed: no answer, or one with 5xx.
    MayPass(String),
    Final(String),
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        Error::MayPass(failure.to_string())
    }
}

async fn once(url: &str) -> Result<Vec<u8>, Error> {
    let mut at = Place::of(url).map_err(Error::Final)?;
    for _ in 0..=REDIRECTS {
        let (head, body) = at.get().await?.into_parts();
        let location = head.headers.get(header::LOCATION).and_then(|value| value.to_str().ok());
        let why = format!("server reported {}", head.status);
        match (head.status.as_u16(), location) {
            (200, _) => return read(body).await,
            (301..=303 | 307 | 308, Some(location)) => at = at.followed(location).map_err(Error::Final)?,
            (500.., _) => return Err(Error::MayPass(why)),
            _ => return Err(Error::Final(why)),
        }
    }
    Err(Error::Final(format!("stopped after {REDIRECTS} redirects")))
}

async fn read(mut body: Body) -> Result<Vec<u8>, Error> {
    let mut content = Vec::new();
    while let Some(frame) = within(Some(SILENCE), async { Ok(body.frame().await) }).await? {
        let frame = frame.map_err(|error| Failure::of_transport(&error))?;
        content.extend_from_slice(&frame.into_data().unwrap_or_default());
        if content.len() > LARGEST {
            return Err(Error::Final(format!("it is larger than {} MB: download it first", LARGEST >> 20)));
        }
    }
    Ok(content)
}

/// Where something is to be fetched.
struct Place {
    /// `https://host:port`
    server: String,
    path: PathAndQuery,
    authorization: Option<HeaderValue>,
}

impl Place {
    fn of(url: &str) -> Result<Self, String> {
        let url = url.split('#').next().unwrap_or_default();
        let uri: Uri = url.parse().map_err(|_| "not a URL".to_owned())?;
        let scheme = uri.scheme_str().filter(|scheme| ["http", "https"].contains(scheme));
        let scheme = scheme.ok_or("neither http:// nor https://")?;
        let authority = uri.authority().map(|authority| authority.as_str()).unwrap_or_default();
        let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
        if host.is_empty() {
            return Err("it names no host".to_owned());
        }
        let authorization = if user.is_empty() { None } else { Some(authorization(user)?) };
        let path = uri.path_and_query().cloned().unwrap_or_else(|| PathAndQuery::from_static("/"));
        Ok(Place { server: format!("{scheme}://{host}"), path, authorization })
    }

    /// Where a redirect leads. Another server gets no password.
    fn followed(&self, location: &str) -> Result<Self, String> {
        let scheme = self.server.split("://").next().unwrap_or_default();
        let folder = self.path.path().rsplit_once('/').map_or("", |(folder, _)| folder);
        let url = match location {
            _ if location.starts_with("//") => format!("{scheme}:{location}"),
            _ if location.starts_with('/') => format!("{}{location}", self.server),
            _ if location.contains("://") => location.to_owned(),
            _ => format!("{}{folder}/{location}", self.server),
        };
        let mut next = Place::of(&url).map_err(|why| format!("it is redirected to {:?}: {why}", public(location)))?;
        if next.authorization.is_none() && next.server == self.server {
            next.authorization.clone_from(&self.authorization);
        }
        Ok(next)
    }

    async fn get(&self) -> Result<http::Response<Body>, Error> {
        let client = client(&self.server).map_err(Error::Final)?;
        let mut request = Request::builder().uri(self.path.as_str());
        request = request.header(header::USER_AGENT, program()).header(header::ACCEPT, "*/*");
        if let Some(authorization) = &self.authorization {
            request = request.header(header::AUTHORIZATION, authorization);
        }
        let request = request.body(Body::empty()).map_err(|error| Error::Final(error.to_string()))?;
        let sent = async { client.send(request).await.map_err(|error| Failure::of_transport(&error)) };
        Ok(within(Some(SILENCE), sent).await?)
    }
}

/// A URL without what may be secret in it: name, password, query and fragment.
fn public(url: &str) -> String {
    url::without_password(url.split(['?', '#']).next().unwrap_or_default())
}

/// The header for the name and the password in a URL.
fn authorization(user: &str) -> Result<HeaderValue, String> {
    let decoded: Vec<u8> = percent_decode_str(user).collect();
    basic(if decoded.contains(&b':') { decoded } else { [&decoded[..], b":"].concat() })
}

/// A client for this server, through the proxy of the environment.
fn client(server: &str) -> Result<Client, String> {
    let mut config = Config::new(server.parse().map_err(|_| "not a URL with a host".to_owned())?);
    config.default_retry = false;
    config.connect_timeout = Some(CONNECT_TIMEOUT);
    config.proxy_url = proxy::from_environment(&config.cluster_url, |name| std::env::var(name).ok())?;
    transport::client(config).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirects_lead_where_they_say() {
        let place = Place::of("https://me:p%40ss@h:8443/a/b.yaml?x=1#part").unwrap();
        assert_eq!((place.server.as_str(), place.path.as_str()), ("https://h:8443", "/a/b.yaml?x=1"));
        assert_eq!(place.authorization.as_ref().unwrap(), "Basic bWU6cEBzcw==");
        let next = |location: &str| {
            let next = place.followed(location).unwrap();
            (format!("{}{}", next.server, next.path), next.authorization.is_some())
        };
        assert_eq!(next("c.yaml"), ("https://h:8443/a/c.yaml".to_owned(), true));
        assert_eq!(next("/c?y=2"), ("https://h:8443/c?y=2".to_owned(), true));
        assert_eq!(next("//other/c"), ("https://other/c".to_owned(), false));
        assert_eq!(next("http://h:8443/c"), ("http://h:8443/c".to_owned(), false));
        let odd = place.followed("ftp://me:p%40ss@h/a?token=secret#secret");
        assert_eq!(odd.err().unwrap(), "it is redirected to \"ftp://h/a\": neither http:// nor https://");
        for odd in ["file:///etc/passwd", "https://", "ftp://h/a"] {
            assert!(place.followed(odd).is_err() && Place::of(odd).is_err(), "{odd}");
        }
    }
}
