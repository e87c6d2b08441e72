//! The version of the server; and `--match-server-version`: whether the server has the version of kubectl, which this
//! program is a plugin of.

use std::{
    process::{Command, Stdio},
    time::Duration,
};

use serde::Deserialize;

use super::{Connection, request::JSON};
use crate::model::ServerVersion;

/// How long to wait for the version. Nothing depends on it but a warning and the rules that differ by version, so a
/// gateway that never answers `/version` must not hold up a command.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// What kubectl compares (client-go's `discovery.MatchesServerVersion`).
#[derive(Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
struct Version {
    git_version: String,
    #[serde(default)]
    git_commit: String,
    #[serde(default)]
    git_tree_state: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Printed {
    client_version: Version,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Told {
    #[serde(default)]
    git_version: String,
    #[serde(default)]
    major: String,
    #[serde(default)]
    minor: String,
}

impl Connection {
    /// The version of the server, which is asked once; `None` if it doesn't say.
    pub(super) async fn server_version(&self) -> Option<ServerVersion> {
        if let Some(known) = self.server_version.get() {
            return known.clone();
        }
        let answer = tokio::time::timeout(LONGEST_WAIT, self.get("/version", JSON)).await;
        let told =
            answer.ok().and_then(Result::ok).and_then(|answer| serde_json::from_slice::<Told>(&answer.body).ok());
        let version = told.and_then(|told| ServerVersion::read(&told.git_version, &told.major, &told.minor));
        self.server_version.get_or_init(|| version).clone()
    }

    /// # Errors
    /// The server's version differs from kubectl's, or one of them is unknown.
    pub(crate) async fn require_version_of_kubectl(&self) -> Result<(), String> {
        let client = tokio::task::spawn_blocking(of_kubectl).await.map_err(|error| error.to_string())?;
        let client = client.map_err(|why| format!("which version the client has is unknown: {why}"))?;
        let unknown = |why: String| format!("which version the server has is unknown: {why}");
        let answer = self.get("/version", JSON).await.map_err(|failure| unknown(failure.to_string()))?;
        let server: Version = serde_json::from_slice(&answer.body).map_err(|error| unknown(error.to_string()))?;
        if server == client {
            return Ok(());
        }
        let build = |version: &Version| match server.git_version == client.git_version {
            true => format!("{} ({} {})", version.git_version, version.git_commit, version.git_tree_state),
            false => version.git_version.clone(),
        };
        Err(format!("server version {} differs from client version {}", build(&server), build(&client)))
    }
}

fn of_kubectl() -> Result<Version, String> {
    let mut kubectl = Command::new("kubectl");
    let ran = kubectl.args(["version", "--client", "--output=json"]).stdin(Stdio::null()).output();
    let ran = ran.map_err(|error| format!("cannot run kubectl: {error}"))?;
    let printed: Printed = serde_json::from_slice(&ran.stdout).map_err(|error| error.to_string())?;
    Ok(printed.client_version)
}
