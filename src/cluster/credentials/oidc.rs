//! Tokens of an OpenID provider, refreshed and saved as kubectl does (client-go's `plugin/pkg/client/auth/oidc`).

use std::{collections::HashMap, fmt::Write as _, path::Path, time::Duration};

use base64::Engine as _;
use http::{HeaderValue, Request, StatusCode, Uri, header};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use jiff::Timestamp;
use kube::client::Body;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;
use tokio::sync::Mutex;

use crate::bounded;

use super::{
    super::{failure::Failure, fetch, kubeconfig::Origin},
    headers::basic,
    save::{Alone, Saved},
};

/// How long before its end a token counts as expired: clocks differ (client-go's `expiryDelta`).
const LEEWAY: Duration = Duration::from_secs(10);
/// How long the provider may take to answer.
const PATIENCE: Duration = Duration::from_secs(30);
/// No answer is longer: the limit of Go's package oauth2.
const LARGEST: usize = 1 << 20;
/// As Go's `url.QueryEscape`, except that a space becomes `%20`, which means the same.
const FORM: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// The settings of a user's auth-provider.
pub(super) type Settings = HashMap<String, String>;

pub(super) struct Oidc {
    origin: Origin,
    settings: Mutex<Settings>,
    user_agent: HeaderValue,
}

impl Oidc {
    pub(super) fn new(settings: Settings, origin: Option<Origin>, user_agent: HeaderValue) -> Result<Self, String> {
        for name in ["idp-issuer-url", "client-id"] {
            set(&settings, name).ok_or_else(|| format!("{name} is missing"))?;
        }
        let origin = origin.ok_or("it is in no file")?;
        Ok(Oidc { origin, settings: Mutex::new(settings), user_agent })
    }

    /// The ID token, refreshed if it has expired. The lock makes other requests wait for the refresh.
    pub(super) async fn id_token(&self) -> Result<HeaderValue, String> {
        let mut settings = self.settings.lock().await;
        if let Some(token) = valid(&settings)? {
            return super::bearer(&token);
        }
        let failed = |reason: String| {
            format!(
                "the ID token of user {:?} has expired, and cannot be refreshed: {reason}; log in again",
                self.origin.user
            )
        };
        // A task of its own: whoever waits for it may give up, and the new tokens must be saved nevertheless.
        let refreshed = tokio::spawn(refreshed(self.origin.clone(), self.user_agent.clone())).await;
        let refreshed =
            refreshed.map_err(|error| error.to_string()).and_then(|refreshed| refreshed).map_err(&failed)?;
        *settings = refreshed.settings;
        if let Some(why) = refreshed.unsaved {
            return Err(failed(why));
        }
        let token = set(&settings, "id-token").ok_or_else(|| failed("the provider sent no ID token".to_owned()))?;
        super::bearer(&token)
    }
}

/// Refreshed tokens.
struct Refreshed {
    settings: Settings,
    /// Why they could not be saved.
    unsaved: Option<String>,
}

/// Refreshes the tokens and saves them. Another process may have done so: refresh tokens are often valid only once.
async fn refreshed(origin: Origin, user_agent: HeaderValue) -> Result<Refreshed, String> {
    let of_origin = origin.clone();
    let begun = tokio::task::spawn_blocking(move || {
        let alone = Alone::wait(&of_origin)?;
        // kubectl doesn't wait for its lock, so nobody holds it while the provider is asked.
        let saved = Saved::lock(&of_origin)?;
        let settings = saved.settings()?;
        let fresh = matches!(valid(&settings), Ok(Some(_)));
        if !fresh {
            saved.check(&settings)?;
        }
        Ok::<_, String>((alone, settings, fresh))
    });
    let (_alone, old, fresh) = begun.await.map_err(|error| error.to_string())??;
    if fresh {
        return Ok(Refreshed { settings: old, unsaved: None });
    }
    let refresh = set(&old, "refresh-token").ok_or("there is no refresh-token")?;
    let tokens = tokio::time::timeout(PATIENCE, request(&old, &refresh, &user_agent)).await;
    let tokens = tokens.map_err(|_| format!("the provider did not answer within {PATIENCE:?}"))??;
    let mut settings = old.clone();
    settings
        .extend([("id-token".to_owned(), tokens.id), ("refresh-token".to_owned(), tokens.refresh.unwrap_or(refresh))]);
    let new = settings.clone();
    let written = tokio::task::spawn_blocking(move || Saved::lock(&origin)?.write(&old, &new)).await;
    let unsaved = written.map_err(|error| error.to_string()).and_then(|written| written).err();
    Ok(Refreshed { settings, unsaved })
}

/// A setting that is not empty.
fn set(settings: &Settings, name: &str) -> Option<String> {
    settings.get(name).filter(|text| !text.is_empty()).cloned()
}

/// The ID token, if there is one that has not expired.
fn valid(settings: &Settings) -> Result<Option<String>, String> {
    let Some(token) = set(settings, "id-token") else { return Ok(None) };
    let expires = expiry(&token).ok_or("the id-token in the kubeconfig is no JSON Web Token: log in again")?;
    Ok((Timestamp::now() + LEEWAY < expires).then_some(token))
}

fn expiry(token: &str) -> Option<Timestamp> {
    let [_, payload, _] = token.split('.').collect::<Vec<_>>()[..] else { return None };
    let payload = base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(payload.trim_end_matches('=')).ok()?;
    let claims: Value = serde_json::from_slice(&payload).ok()?;
    let seconds = claims["exp"].as_i64().or_else(|| claims["exp"].as_f64().map(|seconds| seconds as i64))?;
    Timestamp::from_second(seconds).ok()
}

struct Tokens {
    id: String,
    refresh: Option<String>,
}

/// Spends a refresh token.
async fn request(settings: &Settings, refresh: &str, user_agent: &HeaderValue) -> Result<Tokens, String> {
    let issuer = set(settings, "idp-issuer-url").unwrap_or_default();
    let discovery = format!("{}/.well-known/openid-configuration", issuer.trim_end_matches('/'));
    let answer = send(settings, &discovery, user_agent, |request| request.method("GET").body(Body::empty())).await?;
    if answer.status != StatusCode::OK {
        return Err(format!("GET {discovery}: {}", answer.status));
    }
    let endpoint = answer.body["token_endpoint"].as_str().filter(|endpoint| !endpoint.is_empty());
    let endpoint = endpoint.ok_or_else(|| format!("{discovery} names no token_endpoint"))?;
    let (client, secret) = (set(settings, "client-id").unwrap_or_default(), set(settings, "client-secret"));
    // Providers differ in where they expect the client's name and password: Go's oauth2 tries the header first.
    let ask =
        async |in_header| ask(settings, endpoint, user_agent, refresh, &client, secret.as_deref(), in_header).await;
    let by_header = ask(true).await;
    let tokens = match by_header {
        Ok(tokens) => tokens,
        // It knows the client.
        Err(Refused::Grant(reason)) => return Err(reason),
        Err(Refused::Other(_)) => ask(false).await.map_err(|refused| match refused {
            Refused::Grant(reason) | Refused::Other(reason) => reason,
        })?,
    };
    let text = |name: &str| tokens[name].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let id = text("id_token").ok_or_else(|| {
        format!("{endpoint} sent no id_token: the log-in lacked the scope openid, or the provider sends none here")
    })?;
    Ok(Tokens { id, refresh: text("refresh_token") })
}

/// Why there are no tokens.
enum Refused {
    /// The refresh token isn't valid.
    Grant(String),
    Other(String),
}

async fn ask(
    settings: &Settings,
    endpoint: &str,
    user_agent: &HeaderValue,
    refresh: &str,
    client: &str,
    secret: Option<&str>,
    in_header: bool,
) -> Result<Value, Refused> {
    let escaped = |text: &str| utf8_percent_encode(text, FORM).to_string();
    let mut form = format!("grant_type=refresh_token&refresh_token={}", escaped(refresh));
    if !in_header {
        let _ = write!(form, "&client_id={}", escaped(client));
        if let Some(secret) = secret {
            let _ = write!(form, "&client_secret={}", escaped(secret));
        }
    }
    let in_header = in_header.then(|| basic(format!("{}:{}", escaped(client), escaped(secret.unwrap_or_default()))));
    let in_header = in_header.transpose().map_err(Refused::Other)?;
    let answer = send(settings, endpoint, user_agent, |request| {
        let mut request = request.method("POST").header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
        if let Some(value) = in_header {
            request = request.header(header::AUTHORIZATION, value);
        }
        request.body(Body::from(form.into_bytes()))
    })
    .await
    .map_err(Refused::Other)?;
    if !answer.status.is_success() {
        // RFC 6749, 5.2. Anything else in the answer may be a token.
        let text = |name: &str| answer.body[name].as_str().unwrap_or_default();
        let why = [text("error"), text("error_description")].map(str::to_owned);
        let why = why.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(": ");
        let end = if why.is_empty() { String::new() } else { format!(" ({why})") };
        let reason = format!("{endpoint} refuses the refresh token: {}{end}", answer.status);
        return Err(if text("error") == "invalid_grant" { Refused::Grant(reason) } else { Refused::Other(reason) });
    }
    Ok(answer.body)
}

struct Answer {
    status: StatusCode,
    /// `null` if it is no JSON.
    body: Value,
}

async fn send(
    settings: &Settings,
    url: &str,
    user_agent: &HeaderValue,
    request: impl FnOnce(http::request::Builder) -> http::Result<Request<Body>>,
) -> Result<Answer, String> {
    let failed = |reason: String| format!("{url}: {reason}");
    let whole: Uri = url.parse().map_err(|_| failed("not a URL".to_owned()))?;
    let (Some(scheme), Some(host)) = (whole.scheme_str(), whole.authority()) else {
        return Err(failed("not a URL with a host".to_owned()));
    };
    let client = fetch::client(&format!("{scheme}://{host}"), authority(settings)?).map_err(failed)?;
    let path = whole.path_and_query().map_or("/", |path| path.as_str());
    let builder = Request::builder().uri(path).header(header::ACCEPT, "application/json");
    let request = request(builder.header(header::USER_AGENT, user_agent)).map_err(|error| failed(error.to_string()))?;
    let response = client.send(request).await.map_err(|error| failed(Failure::of_transport(&error).to_string()))?;
    let status = response.status();
    let body = Limited::new(response.into_body(), LARGEST).collect().await.map_err(|error| {
        failed(match error.is::<LengthLimitError>() {
            true => format!("its answer is longer than {} MB", LARGEST >> 20),
            false => Failure::of_transport(&*error).to_string(),
        })
    })?;
    Ok(Answer { status, body: serde_json::from_slice(&body.to_bytes()).unwrap_or(Value::Null) })
}

/// `idp-certificate-authority-data`, or else the file `idp-certificate-authority`.
fn authority(settings: &Settings) -> Result<Option<Vec<Vec<u8>>>, String> {
    let (what, bytes) = if let Some(data) = set(settings, "idp-certificate-authority-data") {
        let what = "idp-certificate-authority-data".to_owned();
        let data: String = data.split_whitespace().collect();
        let bytes = base64::engine::general_purpose::STANDARD.decode(data);
        (what.clone(), bytes.map_err(|error| format!("{what}: not base64: {error}"))?)
    } else if let Some(file) = set(settings, "idp-certificate-authority") {
        let what = format!("idp-certificate-authority {file}");
        let bytes = bounded::read_setting(Path::new(&file));
        (what.clone(), bytes.map_err(|error| format!("{what}: {error}"))?)
    } else {
        return Ok(None);
    };
    super::super::kubeconfig::certificates(&what, &bytes).map(Some).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::testing::{json, serve};

    #[tokio::test]
    async fn an_endless_answer_is_not_read() {
        let server =
            serve(|asked| json(200, vec![b' '; if asked.url == "/long" { LARGEST + 1 } else { LARGEST }])).await;
        let get = async |path: &str| {
            let url = format!("{}{path}", server.server_url);
            let get = |request: http::request::Builder| request.body(Body::empty());
            send(&Settings::new(), &url, &HeaderValue::from_static("test"), get).await.map(|answer| answer.status)
        };
        assert_eq!(get("/short").await, Ok(StatusCode::OK));
        let failed = get("/long").await.unwrap_err();
        assert!(failed.ends_with("/long: its answer is longer than 1 MB"), "{failed}");
    }
}
