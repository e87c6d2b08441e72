//! Tokens of an OpenID provider. `kubectl` renews those that have expired, and saves them.

use std::{collections::HashMap, fs::File, path::Path, process::Stdio, time::Duration};

use base64::Engine as _;
use http::HeaderValue;
use jiff::Timestamp;
use serde_json::Value;
use tokio::{process::Command, sync::Mutex};

use super::super::kubeconfig::{self, Origin};

/// How long before its end a token counts as expired: clocks differ (client-go's `expiryDelta`).
const LEEWAY: Duration = Duration::from_secs(10);
/// How long kubectl may take.
const PATIENCE: Duration = Duration::from_mins(1);
/// A request that anybody may send. kubectl renews the token before it sends any.
const REQUEST: [&str; 3] = ["get", "--raw", "/version"];

/// The settings of a user's auth-provider.
pub(super) type Settings = HashMap<String, String>;

pub(super) struct Oidc {
    origin: Origin,
    token: Mutex<Option<String>>,
}

impl Oidc {
    pub(super) fn new(settings: &Settings, origin: Option<Origin>) -> Result<Self, String> {
        Ok(Oidc { origin: origin.ok_or("it is in no file")?, token: Mutex::new(token(settings)) })
    }

    /// The ID token, renewed if it has expired. The lock makes other requests wait for that.
    pub(super) async fn id_token(&self) -> Result<HeaderValue, String> {
        let mut token = self.token.lock().await;
        if let Some(token) = token.as_deref()
            && is_valid(token)?
        {
            return super::bearer(token);
        }
        // A task of its own: whoever waits for it may give up, and kubectl must save the new tokens nevertheless.
        let renewed = tokio::spawn(renewed(self.origin.clone(), token.clone())).await;
        let renewed = renewed.map_err(|error| error.to_string()).and_then(|renewed| renewed);
        let renewed = renewed.map_err(|reason| {
            let user = &self.origin.user;
            format!("the ID token of user {user:?} has expired, and was not renewed by kubectl: {reason}; log in again")
        })?;
        super::bearer(token.insert(renewed))
    }
}

/// Lets kubectl renew and save the tokens, and reads what it has saved.
async fn renewed(origin: Origin, old: Option<String>) -> Result<String, String> {
    let file = origin.file.clone();
    let turn = tokio::task::spawn_blocking(move || wait_for_turn(&file));
    let _turn = turn.await.map_err(|error| error.to_string())?;
    // Another process may have renewed them meanwhile.
    if let Some(token) = saved(&origin)?
        && is_valid(&token)?
    {
        return Ok(token);
    }
    let mut kubectl = Command::new("kubectl");
    kubectl.args(REQUEST).args(&origin.flags).stdin(Stdio::null()).kill_on_drop(true);
    let ran = tokio::time::timeout(PATIENCE, kubectl.output()).await;
    let ran = ran.map_err(|_| format!("it did not end within {PATIENCE:?}"))?;
    let ran = ran.map_err(|error| format!("it cannot be run: {error}"))?;
    match saved(&origin)? {
        Some(token) if Some(&token) != old.as_ref() => Ok(token),
        _ => {
            let complaints = String::from_utf8_lossy(&ran.stderr);
            let complaint = complaints.lines().find(|line| !line.trim().is_empty());
            Err(complaint.unwrap_or("its kubeconfig has no other token").to_owned())
        }
    }
}

/// Keeps other processes of this program from renewing the same tokens: refresh tokens are often valid only once. The
/// lock ends with the file. On Windows it would keep kubectl from writing.
fn wait_for_turn(file: &Path) -> Option<File> {
    let file = File::open(file).ok().filter(|_| cfg!(unix))?;
    file.lock().ok()?;
    Some(file)
}

/// The token that is in the kubeconfig now.
fn saved(origin: &Origin) -> Result<Option<String>, String> {
    let read = kubeconfig::read_file(&origin.file).map_err(|error| error.to_string())?;
    let user = read.auth_infos.into_iter().find(|user| user.name == origin.user);
    let provider = user.and_then(|user| user.auth_info?.auth_provider);
    Ok(provider.and_then(|provider| token(&provider.config)))
}

fn token(settings: &Settings) -> Option<String> {
    settings.get("id-token").filter(|token| !token.is_empty()).cloned()
}

fn is_valid(token: &str) -> Result<bool, String> {
    let expires = expiry(token).ok_or("the id-token in the kubeconfig is no JSON Web Token: log in again")?;
    Ok(Timestamp::now() + LEEWAY < expires)
}

fn expiry(token: &str) -> Option<Timestamp> {
    let [_, payload, _] = token.split('.').collect::<Vec<_>>()[..] else { return None };
    let payload = base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(payload.trim_end_matches('=')).ok()?;
    let claims: Value = serde_json::from_slice(&payload).ok()?;
    let seconds = claims["exp"].as_i64().or_else(|| claims["exp"].as_f64().map(|seconds| seconds as i64))?;
    Timestamp::from_second(seconds).ok()
}
