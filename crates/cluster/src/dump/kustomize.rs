//! What `kubectl kustomize` makes of a folder.

use std::process::{Command, Stdio};

/// Runs `kubectl kustomize`, and returns the manifests that it prints.
///
/// # Errors
/// What kubectl complains about, or why it can't be run.
pub fn kustomized(folder: &str) -> Result<Vec<u8>, String> {
    let mut kubectl = Command::new("kubectl");
    let ran = kubectl.arg("kustomize").arg("--").arg(folder).stdin(Stdio::null()).output();
    let ran = ran.map_err(|error| format!("cannot run kubectl: {error}"))?;
    if ran.status.success() {
        return Ok(ran.stdout);
    }
    let said = String::from_utf8_lossy(&ran.stderr);
    Err(said.trim().trim_start_matches("error: ").to_owned())
}
