//! Credentials that a plugin issues and renews.

use http::{Request, Response};
use kube::{
    Config,
    client::{AuthError, Body, ConfigExt as _},
};
use tower::{BoxError, Layer as _, ServiceExt as _, util::BoxCloneSyncService};

use super::failure::Failure;

/// Adds the plugin's credentials to a request, and runs the plugin again before they expire.
pub(super) type Authorizer = BoxCloneSyncService<Request<Body>, Response<Request<Body>>, BoxError>;

/// Runs the user's credential plugin, if there is one, and removes it from the configuration.
///
/// A kube client whose configuration contains a plugin runs it three times, and a plugin may take seconds. A plugin
/// that issues client certificates stays in the configuration, because the TLS connection needs them.
pub(super) fn take_plugin(config: &mut Config) -> Result<Option<Authorizer>, kube::Error> {
    let user = &config.auth_info;
    let other =
        user.auth_provider.is_some() || user.token.is_some() || user.token_file.is_some() || user.username.is_some();
    if user.exec.is_none() || other {
        return Ok(None);
    }
    let Some(layer) = config.auth_layer()? else { return Ok(None) };
    config.auth_info.exec = None;
    // The layer wraps a service that answers: this one answers with the request itself, as the layer changed it.
    let hand_back =
        tower::service_fn(|request: Request<Body>| async move { Ok::<_, BoxError>(Response::new(request)) });
    Ok(Some(BoxCloneSyncService::new(layer.layer(hand_back))))
}

/// Adds the credentials to a request.
pub(super) async fn authorize(authorizer: &Authorizer, request: Request<Body>) -> Result<Request<Body>, Failure> {
    match authorizer.clone().oneshot(request).await {
        Ok(response) => Ok(response.into_body()),
        Err(error) => Err(match error.downcast_ref::<AuthError>() {
            Some(error) => Failure::Credentials(explain(error, None)),
            None => Failure::Credentials(error.to_string()),
        }),
    }
}

/// Describes an authentication error. kube's own message contains a failed plugin's output in Rust's debug format.
pub(super) fn explain(error: &AuthError, plugin: Option<&kube::config::ExecConfig>) -> String {
    let name = match plugin.and_then(|plugin| plugin.command.as_deref()) {
        Some(command) => format!("credential plugin {command}"),
        None => "the credential plugin".to_owned(),
    };
    match error {
        AuthError::AuthExecStart(error) => {
            let hint = plugin.and_then(|plugin| plugin.install_hint.as_deref()).unwrap_or_default().trim();
            let end = if hint.is_empty() { String::new() } else { format!("\n{hint}") };
            format!("{name} cannot be run: {error}{end}")
        }
        AuthError::AuthExecRun { out, .. } => {
            let said = String::from_utf8_lossy(&out.stderr);
            let said = said.trim();
            let end = if said.is_empty() { String::new() } else { format!(": {said}") };
            format!("{name} failed ({}){end}", out.status)
        }
        AuthError::AuthExecParse(error) => format!("{name} returned no ExecCredential: {error}"),
        AuthError::ExecPluginFailed => format!("{name} returned no credentials"),
        AuthError::ReadTokenFile(error, file) => format!("token file {}: {error}", file.display()),
        error => error.to_string(),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use crate::cluster::{Connection, ConnectionOptions};

    /// Opens a connection with this script as the credential plugin, in its own folder.
    async fn open(script: &str, folder: &std::path::Path) -> Result<Connection, String> {
        let kubeconfig = folder.join("config");
        let settings = format!(
            "current-context: x\ncontexts: [{{name: x, context: {{cluster: c, user: u}}}}]\n\
             clusters: [{{name: c, cluster: {{server: 'http://127.0.0.1:1'}}}}]\n\
             users: [{{name: u, user: {{exec: {{apiVersion: client.authentication.k8s.io/v1, interactiveMode: \
                 Never,\n  \
             command: sh, args: ['-c', '{script}']}}}}}}]\n"
        );
        std::fs::write(&kubeconfig, settings).unwrap();
        let options = ConnectionOptions { kubeconfig: Some(kubeconfig), ..Default::default() };
        Connection::open(&options).await.map_err(|error| error.to_string())
    }

    #[tokio::test]
    async fn a_plugin_is_run_once() {
        let folder = tempfile::tempdir().unwrap();
        let runs = folder.path().join("runs");
        let credential =
            r#"{"kind":"ExecCredential","status":{"token":"t","expirationTimestamp":"2099-01-01T00:00:00Z"}}"#;
        let script = format!(
            "echo run >> {}; echo \"$KUBERNETES_EXEC_INFO\" > /dev/null; printf %s ''{credential}''",
            runs.display()
        );
        let connection = open(&script, folder.path()).await.unwrap();
        let request = http::Request::new(kube::client::Body::empty());
        let request = connection.authorize(request).await.unwrap();
        assert_eq!(request.headers()[http::header::AUTHORIZATION], "Bearer t");
        assert_eq!(std::fs::read_to_string(runs).unwrap(), "run\n");
    }

    #[tokio::test]
    async fn a_plugin_that_fails_has_its_say() {
        let folder = tempfile::tempdir().unwrap();
        let error = open("echo log in first >&2; exit 3", folder.path()).await.err().unwrap();
        assert_eq!(
            error,
            "no credentials for 127.0.0.1:1 (context x, user u): credential plugin sh failed (exit status: 3): log in \
                first"
        );
        let error = open("echo no idea", folder.path()).await.err().unwrap();
        assert!(error.contains("credential plugin sh returned no ExecCredential"), "{error}");
    }
}
