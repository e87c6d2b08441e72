//! The minimal permissions of a sweep (§10).

use crate::operations::rights::{self, rule};

/// What the ClusterRole is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// One pass.
    Pass,
    /// `--watch`.
    Watch,
}

/// `list` and `watch` read the state, `get` proves what a list can't, and the collector's own writes are PATCH and
/// DELETE. It never creates or updates the objects that it collects, and the role covers all present and future
/// resources.
const VERBS: [&str; 5] = ["get", "list", "watch", "patch", "delete"];

const NAME: &str = "kubectl-gc-sweep";

/// The ClusterRole in YAML, for `kubectl apply -f -`. It never varies.
pub fn role(of: Role) -> String {
    let (command, mut notes) = match of {
        Role::Pass => ("kubectl gc sweep", Vec::new()),
        Role::Watch => (
            "kubectl gc sweep --watch",
            vec![
                "# Warnings about owners in other namespaces are written as events, like the collector's; \
                patch is granted above.",
            ],
        ),
    };
    // By default, every authenticated user has these permissions, including service accounts.
    notes.push(
        "# Discovery and checks of one's own permissions need no rule here: the API server binds \
         system:discovery and",
    );
    notes.push("# system:basic-user to system:authenticated, which covers every service account.");
    let mut rules = vec![rule("*", &["*"], &[], &VERBS)];
    if of == Role::Watch {
        rules.push(rule("", &["events"], &[], &["create"]));
    }
    let yaml = rights::role(NAME, "", rules);
    let does = format!(
        "# The permissions that {command} needs: read and watch everything, delete and patch the objects that \
         it collects."
    );
    format!("{does}\n{}\n{yaml}", notes.join("\n"))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn rules(of: Role) -> Value {
        let read: Value = serde_yaml::from_str(&role(of)).unwrap();
        assert_eq!(read["apiVersion"], "rbac.authorization.k8s.io/v1");
        assert_eq!(read["kind"], "ClusterRole");
        read["rules"].clone()
    }

    /// It creates or updates only events: a subject with this role can't create objects to make the collector delete
    /// others.
    #[test]
    fn the_role_is_what_the_collector_does() {
        let collects =
            json!({"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list", "watch", "patch", "delete"]});
        let complains = json!({"apiGroups": [""], "resources": ["events"], "verbs": ["create"]});
        assert_eq!(rules(Role::Pass), json!([collects]));
        assert_eq!(rules(Role::Watch), json!([collects, complains]));
    }

    #[test]
    fn its_lines_are_read_where_they_are_printed() {
        for of in [Role::Pass, Role::Watch] {
            assert!(role(of).lines().all(|line| line.len() <= 132) && role(of).ends_with('\n'), "{}", role(of));
        }
    }
}
