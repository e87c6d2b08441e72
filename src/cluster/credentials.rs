//! Logging in, as far as it is more than a header that never changes.

use http::{Request, Response};
use kube::{
    Config,
    client::{AuthError, Body, ConfigExt as _},
};
use tower::{BoxError, Layer as _, ServiceExt as _, util::BoxCloneSyncService};

use super::failure::Failure;

/// Puts the credentials that a plugin gave into a request, and asks the plugin again before they expire.
pub(super) type Authorizer = BoxCloneSyncService<Request<Body>, Response<Request<Body>>, BoxError>;

/// Runs the user's credential plugin, if there is one, and takes it out of the configuration.
///
/// A client made from a configuration with a plugin runs it three times, and a plugin may take seconds. One that gives
/// certificates stays in the configuration, because those are needed where connections are made.
pub(super) fn take_plugin(config: &mut Config) -> Result<Option<Authorizer>, kube::Error> {
    let user = &config.auth_info;
    let other = user.auth_provider.is_some() || user.token.is_some() || user.token_file.is_some() || user.username.is_some();
    if user.exec.is_none() || other {
        return Ok(None);
    }
    let Some(layer) = config.auth_layer()? else { return Ok(None) };
    config.auth_info.exec = None;
    // The layer goes around anything that answers; this answers with the request as the layer left it.
    let hand_back = tower::service_fn(|request: Request<Body>| async move { Ok::<_, BoxError>(Response::new(request)) });
    Ok(Some(BoxCloneSyncService::new(layer.layer(hand_back))))
}

/// Puts credentials into a request.
pub(super) async fn authorize(authorizer: &Authorizer, request: Request<Body>) -> Result<Request<Body>, Failure> {
    match authorizer.clone().oneshot(request).await {
        Ok(response) => Ok(response.into_body()),
        Err(error) => Err(match error.downcast_ref::<AuthError>() {
            Some(error) => Failure::Credentials(explain(error, None)),
            None => Failure::Credentials(error.to_string()),
        }),
    }
}

/// What went wrong with the credentials, in words. kube prints a failed plugin's output as it is in memory.
pub(super) fn explain(error: &AuthError, plugin: Option<&kube::config::ExecConfig>) -> String {
    let name = plugin.and_then(|plugin| plugin.command.as_deref()).unwrap_or("the credential plugin");
    match error {
        AuthError::AuthExecStart(error) => {
            let hint = plugin.and_then(|plugin| plugin.install_hint.as_deref()).unwrap_or_default().trim();
            let end = if hint.is_empty() { String::new() } else { format!("\n{hint}") };
            format!("credential plugin {name} cannot be run: {error}{end}")
        }
        AuthError::AuthExecRun { out, .. } => {
            let said = String::from_utf8_lossy(&out.stderr);
            let said = said.trim();
            let end = if said.is_empty() { String::new() } else { format!(": {said}") };
            format!("credential plugin {name} failed ({}){end}", out.status)
        }
        AuthError::AuthExecParse(error) => format!("credential plugin {name} gave no ExecCredential: {error}"),
        AuthError::ExecPluginFailed => format!("credential plugin {name} gave no credentials"),
        AuthError::ReadTokenFile(error, file) => format!("token file {}: {error}", file.display()),
        error => error.to_string(),
    }
}
