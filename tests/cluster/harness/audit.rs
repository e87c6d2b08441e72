//! The API server's audit log: if an object is wrongly deleted, it shows the object's history.

use std::{fmt::Write as _, fs, path::PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;

/// Flags that make an API server log writes to the kinds of this test, and the folder of that log.
pub struct Audit {
    folder: TempDir,
}

impl Audit {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let resources = [json!({"group": "", "resources": ["configmaps", "secrets"]}), json!({"group": "gc.test"})];
        let policy = json!({
            "apiVersion": "audit.k8s.io/v1",
            "kind": "Policy",
            "omitStages": ["RequestReceived", "ResponseStarted"],
            "rules": [
                {"level": "RequestResponse", "verbs": ["create", "patch", "delete"], "resources": resources},
                {"level": "None"},
            ],
        });
        fs::write(folder.path().join("policy.yaml"), policy.to_string()).expect("a policy can be written");
        Self { folder }
    }

    pub fn flags(&self) -> Vec<String> {
        let policy = self.folder.path().join("policy.yaml");
        vec![format!("--audit-policy-file={}", policy.display()), format!("--audit-log-path={}", self.log().display())]
    }

    /// The log: a JSON object in each line.
    pub fn log(&self) -> PathBuf {
        self.folder.path().join("audit.log")
    }

    /// The last 60 requests about an object and its owners, in the order of their answers.
    pub fn history(&self, path: &str) -> String {
        let log = fs::read_to_string(self.log()).unwrap_or_default();
        let events: Vec<Value> = log.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let (list, name) = path.rsplit_once('/').unwrap_or_default();
        let about = |event: &Value, path: &str| {
            let uri = event["requestURI"].as_str().and_then(|uri| uri.split('?').next());
            uri == Some(path) || uri == Some(list) && event["requestObject"]["metadata"]["name"] == name
        };
        let mut names: Vec<String> = Vec::new();
        for event in events.iter().filter(|event| about(event, path)) {
            let owners = event["responseObject"]["metadata"]["ownerReferences"].as_array();
            names.extend(owners.into_iter().flatten().filter_map(|owner| owner["name"].as_str().map(str::to_owned)));
        }
        let is_owner = |event: &Value| {
            let object = &event["objectRef"]["name"];
            let created = &event["requestObject"]["metadata"]["name"];
            names.iter().any(|name| object == name.as_str() || created == name.as_str())
        };
        let mut lines = Vec::new();
        for event in events.iter().filter(|event| about(event, path) || is_owner(event)) {
            let mut line = String::new();
            let metadata = &event["responseObject"]["metadata"];
            let _ = write!(
                line,
                "{} {} {} {} {}: {} uid {} version {} finalizers {} owners {}",
                event["stageTimestamp"].as_str().unwrap_or_default(),
                event["userAgent"].as_str().unwrap_or_default().split('/').next().unwrap_or_default(),
                event["verb"].as_str().unwrap_or_default(),
                event["requestURI"].as_str().unwrap_or_default(),
                event["requestObject"],
                event["responseStatus"]["code"],
                metadata["uid"],
                metadata["resourceVersion"],
                metadata["finalizers"],
                metadata["ownerReferences"],
            );
            lines.push(line);
        }
        lines.sort();
        lines[lines.len().saturating_sub(60)..].join("\n")
    }
}
