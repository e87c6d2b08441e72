//! Fills in the template, as envsubst does, and checks that all variables are set.

use std::collections::BTreeMap;

/// The values that a release fills in.
pub struct Release<'a> {
    /// Without the leading `v`.
    pub version: &'a str,
    pub homepage: &'a str,
    /// The sha256 of each archive, `kubectl-gc-vVERSION-OS-ARCH.ENDING`.
    pub archives: &'a BTreeMap<String, String>,
}

/// The manifest of a release; an error if the template and the release don't match.
pub fn render(template: &str, release: &Release<'_>) -> Result<String, String> {
    let mut text = template.to_owned();
    let mut fill = |variable: &str, value: &str| {
        let placeholder = format!("${{{variable}}}");
        let used = text.contains(&placeholder);
        text = text.replace(&placeholder, value);
        used
    };
    fill("VERSION", release.version);
    fill("HOMEPAGE", release.homepage);
    let prefix = format!("kubectl-gc-v{}-", release.version);
    for (archive, sha256) in release.archives {
        let platform = archive.strip_prefix(&prefix).and_then(|rest| rest.split('.').next()).unwrap_or_default();
        let variable = format!("SHA256_{}", platform.to_uppercase().replace('-', "_"));
        if !fill(&variable, sha256) {
            return Err(format!("no platform has {archive}"));
        }
    }
    match text.split_once("${") {
        Some((_, rest)) => Err(format!("nothing is given for {}", rest.split('}').next().unwrap_or_default())),
        None => Ok(text),
    }
}
