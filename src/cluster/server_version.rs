//! `--match-server-version`: whether the server has the version of kubectl, which this program is a plugin of.

use std::process::{Command, Stdio};

use serde::Deserialize;

use super::{Connection, request::JSON};

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

impl Connection {
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
