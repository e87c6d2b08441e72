//! Users who may do little.

use serde_json::{Value, json};

use crate::harness::Cluster;

/// Where a right holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the namespace of the world.
    Here,
    Everywhere,
}

/// What a right is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    All,
    AllButSecrets,
    /// What is in namespaces.
    Namespaced,
    /// The rules of this role, which every cluster has.
    Role(&'static str),
}

/// A user's rights.
#[derive(Clone, Copy, Debug)]
pub struct User {
    pub name: &'static str,
    pub place: Place,
    pub verbs: &'static [&'static str],
    pub what: &'static [What],
}

pub const ALL: &[&str] = &["get", "list", "watch", "create", "update", "patch", "delete"];
const EVERYWHERE: User = User { name: "", place: Place::Everywhere, verbs: ALL, what: &[What::All] };
const HERE: User = User { place: Place::Here, ..EVERYWHERE };

/// The roles that clusters have by default, without the controller that aggregates them: `admin` has the rules of
/// `edit`, which has those of `view`.
const VIEW: What = What::Role("system:aggregate-to-view");
const EDIT: What = What::Role("system:aggregate-to-edit");
const ADMIN: What = What::Role("system:aggregate-to-admin");

/// The name of the user without a name.
pub const ANONYMOUS: &str = "system:anonymous";

pub const USERS: [User; 12] = [
    User { name: "nothing", what: &[], ..HERE },
    User { name: "one-namespace", ..HERE },
    User { name: "no-secrets", what: &[What::AllButSecrets], ..EVERYWHERE },
    User { name: "list-not-get", verbs: &["list", "watch", "create", "update", "patch", "delete"], ..EVERYWHERE },
    User { name: "get-not-list", verbs: &["get", "watch", "create", "update", "patch", "delete"], ..EVERYWHERE },
    User { name: "delete-not-patch", verbs: &["get", "list", "watch", "create", "delete"], ..EVERYWHERE },
    User { name: "no-watch", verbs: &["get", "list", "create", "update", "patch", "delete"], ..EVERYWHERE },
    User { name: "namespaced", what: &[What::Namespaced], ..EVERYWHERE },
    User { name: "view", what: &[VIEW], ..HERE },
    User { name: "edit", what: &[VIEW, EDIT], ..HERE },
    User { name: "admin", what: &[VIEW, EDIT, ADMIN], ..HERE },
    User { name: ANONYMOUS, what: &[], ..HERE },
];

const GROUP: &str = "rbac.authorization.k8s.io";

impl User {
    /// The user's name in a namespace: tests that run at the same time grant rights to different users.
    pub fn in_namespace(&self, namespace: &str) -> String {
        if self.name == ANONYMOUS { ANONYMOUS.to_owned() } else { format!("{namespace}-{}", self.name) }
    }

    /// Grants the rights, and waits until they hold.
    #[track_caller]
    pub fn grant(&self, cluster: &Cluster, namespace: &str) {
        let user = self.in_namespace(namespace);
        for (number, what) in self.what.iter().enumerate() {
            let name = format!("{user}-{number}");
            let role = match what {
                What::Role(role) => (*role).to_owned(),
                _ => {
                    let rules = json!([{"apiGroups": ["*"], "resources": resources(cluster, *what),
                        "verbs": self.verbs}]);
                    cluster.create(json!({"apiVersion": format!("{GROUP}/v1"), "kind": "ClusterRole",
                        "metadata": {"name": name}, "rules": rules}));
                    name.clone()
                }
            };
            let (kind, metadata) = match self.place {
                Place::Here => ("RoleBinding", json!({"name": name, "namespace": namespace})),
                Place::Everywhere => ("ClusterRoleBinding", json!({"name": name})),
            };
            cluster.create(json!({"apiVersion": format!("{GROUP}/v1"), "kind": kind, "metadata": metadata,
                "roleRef": {"apiGroup": GROUP, "kind": "ClusterRole", "name": role},
                "subjects": [{"apiGroup": GROUP, "kind": "User", "name": user}]}));
            cluster.wait_until("the role to hold", std::time::Duration::from_secs(60), || match what {
                What::Role(role) if role.ends_with("edit") => self.may(cluster, namespace, "delete", "configmaps"),
                What::Role(role) if role.ends_with("admin") => self.may(cluster, namespace, "get", "roles"),
                What::Role(_) => self.may(cluster, namespace, "get", "configmaps"),
                _ => self.verbs.iter().all(|verb| self.may(cluster, namespace, verb, "configmaps")),
            });
        }
    }

    /// Whether the API server lets the user do this in a namespace.
    #[track_caller]
    pub fn may(&self, cluster: &Cluster, namespace: &str, verb: &str, resource: &str) -> bool {
        let group = if resource == "roles" { GROUP } else { "" };
        let review = cluster.create(json!({
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": {
                "user": self.in_namespace(namespace),
                "resourceAttributes": {"namespace": namespace, "verb": verb, "group": group, "resource": resource},
            },
        }));
        review["status"]["allowed"] == true
    }
}

/// The plurals of what a right is about.
fn resources(cluster: &Cluster, what: What) -> Value {
    if what == What::All {
        return json!(["*"]);
    }
    let plural = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    let listed = cluster.listed();
    let wanted = listed.iter().filter(|kind| match what {
        What::AllButSecrets => plural(&kind.path) != "secrets",
        _ => kind.path_in("any") != kind.path,
    });
    json!(wanted.map(|kind| plural(&kind.path)).chain(["events".to_owned()]).collect::<Vec<_>>())
}
