//! Credential plugins: programs that print an ExecCredential (client-go's `plugin/pkg/client/auth/exec`).

use std::{
    collections::HashMap,
    io::{self, IsTerminal as _},
    process::{Child, Command, ExitStatus, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

use base64::Engine as _;
use http::HeaderValue;
use jiff::Timestamp;
use kube::{
    Client, Config,
    config::{AuthInfo, ExecConfig, ExecInteractiveMode},
};
use serde::Deserialize;
use serde_json::json;
use tokio::sync::Mutex;

use crate::{bounded, cluster::transport};

/// The protocol's versions, as in client-go; v1alpha1 is gone since Kubernetes 1.24.
const VERSIONS: [&str; 2] = ["client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"];

/// The most that a plugin may print, in bytes: a token and a certificate have a few thousand.
const LARGEST_OUTPUT: u64 = 1 << 20;

/// How long a failed run, or a credential that was rejected at once, stands: many requests are under way at once, and
/// each would run the plugin.
const PAUSE: Duration = Duration::from_secs(10);

/// One credential, used by all requests of its lifetime.
pub(super) struct Issued {
    pub authorization: Option<HeaderValue>,
    /// The client with the certificate; `None` if none was issued.
    pub client: Option<Client>,
    /// The certificate and its key, to tell whether they have changed.
    certificate: Option<(String, String)>,
    expires: Option<Timestamp>,
    at: Instant,
    /// Whether it replaces a credential that the server rejected.
    replaces: bool,
}

impl Issued {
    fn is_expired(&self) -> bool {
        self.expires.is_some_and(|expires| Timestamp::now() > expires)
    }
}

pub(super) struct Plugin {
    exec: ExecConfig,
    command: String,
    interactive: ExecInteractiveMode,
    /// The configuration to which issued certificates are added.
    config: Config,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    issued: Option<Arc<Issued>>,
    failed: Option<(Instant, String)>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Credential {
    api_version: Option<String>,
    kind: Option<String>,
    status: Option<Status>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Status {
    expiration_timestamp: Option<String>,
    #[serde(default)]
    token: Option<String>,
    client_certificate_data: Option<String>,
    client_key_data: Option<String>,
}

impl Plugin {
    /// Checks the settings as client-go's `validateAuthInfo` does; runs nothing.
    pub(super) fn new(exec: ExecConfig, config: Config) -> Result<Self, String> {
        let set = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        let command = set(&exec.command).ok_or("it has no command")?;
        let version = set(&exec.api_version).ok_or_else(|| {
            format!("it has no apiVersion: write {}, or what the plugin's documentation says", VERSIONS[0])
        })?;
        if !VERSIONS.contains(&version.as_str()) {
            return Err(format!("apiVersion {version:?} is not supported, only {}", VERSIONS.join(" and ")));
        }
        let interactive = match exec.interactive_mode.clone() {
            Some(mode) => mode,
            // As client-go's SetDefaults_ExecConfig.
            None if version == VERSIONS[1] => ExecInteractiveMode::IfAvailable,
            None => return Err("it has no interactiveMode: write Never, IfAvailable or Always".to_owned()),
        };
        if exec.env.iter().flatten().any(|variable| variable.get("name").is_none_or(String::is_empty)) {
            return Err("a variable in its env has no name".to_owned());
        }
        Ok(Plugin { exec, command, interactive, config, state: Mutex::default() })
    }

    /// The current credential. Runs the plugin if there is none, or if it has expired.
    pub(super) async fn credential(self: &Plugin) -> Result<Arc<Issued>, String> {
        let mut state = self.state.lock().await;
        // A credential that had expired when it was issued: the clocks differ. The server decides.
        let usable = |issued: &Issued| !issued.is_expired() || issued.at.elapsed() < PAUSE;
        match &state.issued {
            Some(issued) if usable(issued) => Ok(issued.clone()),
            _ => self.issue(&mut state, false).await,
        }
    }

    /// A credential other than this one, which the server has rejected. Runs the plugin once for all requests that the
    /// server rejects; `None` if its new credential was rejected at once, too.
    pub(super) async fn renew(&self, rejected: &Arc<Issued>) -> Result<Option<Arc<Issued>>, String> {
        let mut state = self.state.lock().await;
        match &state.issued {
            Some(issued) if !Arc::ptr_eq(issued, rejected) => return Ok(Some(issued.clone())),
            Some(issued) if issued.replaces && issued.at.elapsed() < PAUSE => return Ok(None),
            _ => {}
        }
        self.issue(&mut state, true).await.map(Some)
    }

    /// Runs the plugin. The caller's lock keeps other requests from running it, too.
    async fn issue(&self, state: &mut State, replaces: bool) -> Result<Arc<Issued>, String> {
        if let Some((_, reason)) = state.failed.as_ref().filter(|(at, _)| at.elapsed() < PAUSE) {
            return Err(reason.clone());
        }
        let issued = match self.run().await.and_then(|status| self.issued(status, state.issued.as_deref(), replaces)) {
            Ok(issued) => Arc::new(issued),
            Err(reason) => {
                let reason = format!("credential plugin {}{reason}", self.command);
                state.failed = Some((Instant::now(), reason.clone()));
                return Err(reason);
            }
        };
        (state.failed, state.issued) = (None, Some(issued.clone()));
        Ok(issued)
    }

    fn issued(&self, status: Status, before: Option<&Issued>, replaces: bool) -> Result<Issued, String> {
        let set = |text: Option<String>| text.filter(|text| !text.is_empty());
        let token = set(status.token);
        let certificate = match (set(status.client_certificate_data), set(status.client_key_data)) {
            (Some(certificate), Some(key)) => Some((certificate, key)),
            (None, None) if token.is_none() => return Err(" returned neither a token nor a certificate".to_owned()),
            (None, None) => None,
            _ => return Err(" returned only one of clientCertificateData and clientKeyData".to_owned()),
        };
        let expires = set(status.expiration_timestamp).map(|text| time(&text));
        let authorization = token.as_deref().map(super::bearer).transpose();
        let client = match (&certificate, before) {
            (None, _) => None,
            // The same certificate: its connections go on.
            (Some(certificate), Some(before)) if before.certificate.as_ref() == Some(certificate) => {
                before.client.clone()
            }
            (Some((certificate, key)), _) => Some(self.client(certificate, key)?),
        };
        Ok(Issued {
            authorization: authorization.map_err(|reason| format!(": {reason}"))?,
            client,
            certificate,
            expires: expires.transpose()?,
            at: Instant::now(),
            replaces,
        })
    }

    /// A client whose new connections present this certificate.
    fn client(&self, certificate: &str, key: &str) -> Result<Client, String> {
        let encode = |pem: &str| base64::engine::general_purpose::STANDARD.encode(pem);
        let mut config = self.config.clone();
        config.auth_info = AuthInfo {
            client_certificate_data: Some(encode(certificate)),
            client_key_data: Some(encode(key).into()),
            ..config.auth_info
        };
        // An error of the library may repeat the key.
        let invalid = |error: kube::Error| match super::known(&error) {
            Some(why) => format!(" returned a certificate that can't be used: {why}"),
            None => " returned a certificate or a key that can't be read".to_owned(),
        };
        transport::client(config).map_err(invalid)
    }

    async fn run(&self) -> Result<Status, String> {
        let is_interactive = is_interactive(&self.interactive, io::stdin().is_terminal())?;
        let mut command = self.command(is_interactive)?;
        // A plugin may wait for a log-in in the browser.
        let (status, printed) = tokio::task::spawn_blocking(move || output(command.spawn()?))
            .await
            .map_err(|error| format!(" could not be run: {error}"))?
            .map_err(|error| {
                let hint = self.exec.install_hint.as_deref().unwrap_or_default().trim();
                format!(" cannot be run: {error}{}{hint}", if hint.is_empty() { "" } else { "\n" })
            })?;
        let printed =
            printed.map_err(|error| format!(" returned no ExecCredential: its output can't be read: {error}"))?;
        if !status.success() {
            // What it says about that goes to standard error, as it says it.
            return Err(format!(" failed ({status})"));
        }
        read(&printed, self.exec.api_version.as_deref().unwrap_or_default())
    }

    fn command(&self, is_interactive: bool) -> Result<Command, String> {
        let mut spec = json!({"interactive": is_interactive});
        if let Some(cluster) = self.exec.cluster.as_ref().filter(|_| self.exec.provide_cluster_info) {
            spec["cluster"] = serde_json::to_value(cluster).map_err(|error| format!(": {error}"))?;
        }
        let info = json!({"apiVersion": self.exec.api_version, "kind": "ExecCredential", "spec": spec});
        let mut command = Command::new(&self.command);
        let variable = |variable: &HashMap<String, String>| {
            Some((variable.get("name")?.clone(), variable.get("value").cloned().unwrap_or_default()))
        };
        command
            .args(self.exec.args.iter().flatten())
            .envs(self.exec.env.iter().flatten().filter_map(variable))
            .env("KUBERNETES_EXEC_INFO", info.to_string())
            .stdin(if is_interactive { Stdio::inherit() } else { Stdio::null() })
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit());
        Ok(command)
    }
}

/// How a plugin ended, and what it has printed.
fn output(mut plugin: Child) -> io::Result<(ExitStatus, io::Result<Vec<u8>>)> {
    let printed = plugin.stdout.take().map_or_else(|| Ok(Vec::new()), |stdout| bounded::read(stdout, LARGEST_OUTPUT));
    if printed.is_err() {
        // It may go on for ever. Ignore errors: it may have ended.
        let _ = plugin.kill();
    }
    Ok((plugin.wait()?, printed))
}

/// Reads what a plugin of this version has printed. No message repeats any of it: it may be a token.
fn read(printed: &[u8], wanted: &str) -> Result<Status, String> {
    // client-go reads YAML, too.
    let credential: Credential = serde_json::from_slice(printed)
        .or_else(|_| serde_yaml::from_slice(printed))
        .map_err(|_| " returned no ExecCredential: its output is neither JSON nor YAML of one".to_owned())?;
    if credential.kind.as_deref().is_some_and(|kind| kind != "ExecCredential") {
        return Err(" returned no ExecCredential: its output is of another kind".to_owned());
    }
    if let Some(returned) = credential.api_version.as_deref().filter(|returned| *returned != wanted) {
        let returned = VERSIONS.iter().find(|version| **version == returned).unwrap_or(&"another one");
        return Err(format!(" is configured for apiVersion {wanted}, and returned {returned}"));
    }
    credential.status.ok_or_else(|| " returned no credentials: its output has no status".to_owned())
}

/// When a credential expires. No message repeats what the plugin has printed.
fn time(text: &str) -> Result<Timestamp, String> {
    text.parse().map_err(|_| " returned an expirationTimestamp that is not a time".to_owned())
}

/// Whether the plugin may use standard input (client-go's `isInteractive`).
fn is_interactive(mode: &ExecInteractiveMode, is_terminal: bool) -> Result<bool, String> {
    match mode {
        ExecInteractiveMode::Never => Ok(false),
        ExecInteractiveMode::IfAvailable => Ok(is_terminal),
        ExecInteractiveMode::Always if is_terminal => Ok(true),
        ExecInteractiveMode::Always => Err(" needs a terminal (interactiveMode: Always), and standard input is none: \
                                            log in on a terminal, or use a context that needs no terminal"
            .to_owned()),
    }
}

// With programs that Windows lacks.
#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// robustness input: a credential plugin that prints without end | once | it is ended, and an error says why
    #[test]
    fn output_without_end_ends_the_plugin() {
        let run =
            |program: &str, arg: &str| output(Command::new(program).arg(arg).stdout(Stdio::piped()).spawn().unwrap());
        let (status, printed) = run("yes", "SECRET").unwrap();
        assert!(!status.success());
        assert_eq!(printed.unwrap_err().to_string(), "it is larger than 1Mi");
        let (status, printed) = run("echo", "token").unwrap();
        assert_eq!((status.success(), printed.unwrap()), (true, b"token\n".to_vec()));
    }

    /// What plugins may print by mistake.
    const PRINTED: [&str; 7] = [
        "SECRET",
        r#"{"status": {"token": "SECRET""#,
        r#"{"kind": "SECRET", "status": {}}"#,
        r#"{"apiVersion": "SECRET", "status": {}}"#,
        r#"{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "SECRET": 1}"#,
        r#"{"status": {"token": ["SECRET"]}}"#,
        "status:\n  token: {SECRET: [}",
    ];

    /// robustness secret: what a credential plugin prints that is no ExecCredential | {PRINTED} | no error repeats it
    #[test]
    fn no_error_repeats_what_a_plugin_printed() {
        for printed in PRINTED {
            let failed = read(printed.as_bytes(), VERSIONS[0]).err().unwrap();
            assert!(failed.starts_with(' ') && !failed.contains("SECRET"), "{printed} {failed}");
        }
        assert_eq!(time("SECRET").unwrap_err(), " returned an expirationTimestamp that is not a time");
        let failed = read(format!("apiVersion: {}\nstatus: {{}}", VERSIONS[1]).as_bytes(), VERSIONS[0]).err().unwrap();
        assert_eq!(failed, format!(" is configured for apiVersion {}, and returned {}", VERSIONS[0], VERSIONS[1]));
    }
}
