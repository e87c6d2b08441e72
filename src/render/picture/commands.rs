//! The commands that show an object of a picture.

use crate::{
    command_line::{Kubectl, ShellCommand},
    model::group_of,
};

/// The commands that show an object, without its name.
#[derive(Clone, Debug)]
pub struct ObjectCommands {
    explain: ShellCommand,
    /// Only for a cluster: a dump may be old, or of another one.
    get: Option<ShellCommand>,
}

impl ObjectCommands {
    /// `explain` is the command without its target, with all that names the source.
    pub fn new(explain: ShellCommand, get: Option<ShellCommand>) -> Self {
        ObjectCommands { explain, get }
    }

    /// For a cluster.
    pub fn of_cluster(kubectl: &Kubectl) -> Self {
        ObjectCommands { explain: kubectl.plugin("explain"), get: Some(kubectl.verb("get")) }
    }

    /// The commands for an object; none if its name, kind or namespace is one that no API server accepts.
    pub(super) fn of(&self, api_version: &str, kind: &str, namespace: &str, name: &str) -> Vec<String> {
        let group = group_of(api_version);
        let about =
            |command: &ShellCommand| command.clone().object(&kind.to_lowercase(), group, name)?.in_namespace(namespace);
        let explain = about(&self.explain);
        let get = self.get.as_ref().and_then(about).map(|get| get.args(["-o", "yaml"]));
        explain.into_iter().chain(get).map(|command| command.to_string()).collect()
    }
}
