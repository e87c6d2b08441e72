//! The version of the server; and with `--match-server-version`, whether it is that of kubectl, which this program is a
//! plugin of.

use std::{
    process::{Command, Stdio},
    time::Duration,
};

use k8s_openapi::apimachinery::pkg::version::Info;
use serde::Deserialize as _;
use serde_json::Value;

use gc_core::model::ServerVersion;

use super::{Connection, request::JSON};

/// How long to wait for the version. Nothing depends on it but a warning and the rules that differ by version, so a
/// gateway that never answers `/version` must not hold up a command.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

impl Connection {
    /// The version of the server, which is asked once; `None` if it doesn't say.
    pub(super) async fn server_version(&self) -> Option<ServerVersion> {
        if let Some(known) = self.server_version.get() {
            return known.clone();
        }
        let answer = tokio::time::timeout(LONGEST_WAIT, self.get("/version", JSON)).await;
        let told =
            answer.ok().and_then(Result::ok).and_then(|answer| serde_json::from_slice::<Info>(&answer.body).ok());
        let version = told.and_then(|told| ServerVersion::read(&told.git_version, &told.major, &told.minor));
        self.server_version.get_or_init(|| version).clone()
    }

    /// # Errors
    /// The server's version differs from kubectl's, or one of them is unknown.
    pub async fn require_version_of_kubectl(&self) -> Result<(), String> {
        let client = tokio::task::spawn_blocking(of_kubectl).await.map_err(|error| error.to_string())?;
        let client = client.map_err(|why| format!("which version the client has is unknown: {why}"))?;
        let unknown = |why: String| format!("which version the server has is unknown: {why}");
        let answer = self.get("/version", JSON).await.map_err(|failure| unknown(failure.to_string()))?;
        let server: Info = serde_json::from_slice(&answer.body).map_err(|error| unknown(error.to_string()))?;
        if server.git_version.is_empty() {
            return Err(unknown("it has no gitVersion".to_owned()));
        }
        // What kubectl compares (client-go's `discovery.MatchesServerVersion`).
        let compared = |it: &Info| [&it.git_version, &it.git_commit, &it.git_tree_state].map(String::clone);
        if compared(&server) == compared(&client) {
            return Ok(());
        }
        let build = |version: &Info| match server.git_version == client.git_version {
            true => format!("{} ({} {})", version.git_version, version.git_commit, version.git_tree_state),
            false => version.git_version.clone(),
        };
        Err(format!("server version {} differs from client version {}", build(&server), build(&client)))
    }
}

fn of_kubectl() -> Result<Info, String> {
    let mut kubectl = Command::new("kubectl");
    let ran = kubectl.args(["version", "--client", "--output=json"]).stdin(Stdio::null()).output();
    let ran = ran.map_err(|error| format!("cannot run kubectl: {error}"))?;
    let printed: Value = serde_json::from_slice(&ran.stdout).map_err(|error| error.to_string())?;
    Info::deserialize(&printed["clientVersion"]).map_err(|error| error.to_string())
}
