//! Facts about RBAC: who may write what. Only what takes a finalizer away is kept: `update` and `patch`.

use serde_json::Value;

use super::{
    selector::{LabelSelector, selector},
    values::list,
};
use crate::model::resources::Resource;

/// The API group of roles and their bindings.
pub const RBAC: &str = "rbac.authorization.k8s.io";

sparse! {
    /// Whom a RoleBinding or ClusterRoleBinding gives which role.
    pub struct BindingFacts {
        /// The name of its role.
        pub role: String,
        /// Whether that is a ClusterRole.
        pub cluster?: bool,
        /// The ServiceAccounts among its subjects, as users and groups: `system:serviceaccount:NAMESPACE:NAME`.
        pub accounts?: Vec<String>,
    }

    /// What a Role or ClusterRole allows to be changed.
    pub struct RoleFacts {
        /// Its rules with the verbs `update` or `patch`.
        pub writes?: Vec<WriteRule>,
        /// Of an aggregated ClusterRole: `aggregationRule.clusterRoleSelectors`. Its rules are those of its parts.
        pub parts?: Vec<LabelSelector>,
    }

    /// Objects that may be changed.
    pub struct WriteRule {
        pub groups?: Vec<String>,
        pub resources?: Vec<String>,
        /// By name only; empty: all.
        pub names?: Vec<String>,
    }
}

/// The groups that every ServiceAccount is in, besides that of its namespace.
const EVERYONE: [&str; 2] = ["system:authenticated", "system:serviceaccounts"];

impl BindingFacts {
    /// Reads those of a whole binding. The namespace of a subject may be left out
    /// (kubernetes/kubernetes plugin/pkg/auth/authorizer/rbac/rbac.go: appliesToUser).
    pub(super) fn read(object: &Value) -> Option<BindingFacts> {
        let role = object.get("roleRef")?;
        let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        let own = object.get("metadata").and_then(|metadata| text(metadata, "namespace")).unwrap_or_default();
        let account = |subject: &Value| {
            let name = text(subject, "name")?;
            match subject.get("kind")?.as_str()? {
                "ServiceAccount" => {
                    let namespace = text(subject, "namespace").filter(|namespace| !namespace.is_empty());
                    Some(account_user(namespace.as_deref().unwrap_or(&own), &name))
                }
                "User" => Some(name).filter(|name| name.starts_with("system:serviceaccount:")),
                "Group" => {
                    let is_theirs = EVERYONE.contains(&&*name) || name.starts_with("system:serviceaccounts:");
                    Some(name).filter(|_| is_theirs)
                }
                _ => None,
            }
        };
        Some(BindingFacts {
            role: text(role, "name").unwrap_or_default(),
            cluster: role.get("kind").is_some_and(|kind| kind == "ClusterRole"),
            accounts: list(object.get("subjects")).filter_map(account).collect(),
        })
    }

    /// Whether it gives its role to the ServiceAccount of this name in a namespace; `None`: to any there.
    pub(crate) fn names(&self, namespace: &str, name: Option<&str>) -> bool {
        let (user, group) =
            (account_user(namespace, name.unwrap_or("")), format!("system:serviceaccounts:{namespace}"));
        let is_user = |account: &str| if name.is_some() { account == user } else { account.starts_with(&user) };
        self.accounts.iter().any(|account| is_user(account) || *account == group || EVERYONE.contains(&&**account))
    }

    /// Whether it gives its role to this very ServiceAccount, and not to a group that has it.
    pub(crate) fn names_itself(&self, namespace: &str, name: &str) -> bool {
        self.accounts.contains(&account_user(namespace, name))
    }
}

fn account_user(namespace: &str, name: &str) -> String {
    format!("system:serviceaccount:{namespace}:{name}")
}

impl RoleFacts {
    /// Reads those of a whole role. The API server writes no rules as null.
    pub(super) fn read(object: &Value) -> Option<RoleFacts> {
        let texts = |rule: &Value, key: &str| -> Vec<String> {
            list(rule.get(key)).filter_map(|text| text.as_str().map(str::to_owned)).collect()
        };
        let writes =
            |rule: &&Value| list(rule.get("verbs")).any(|verb| verb == "update" || verb == "patch" || verb == "*");
        let read = |rule: &Value| WriteRule {
            groups: texts(rule, "apiGroups"),
            resources: texts(rule, "resources"),
            names: texts(rule, "resourceNames"),
        };
        let rules = object.get("rules")?;
        let parts = list(object.pointer("/aggregationRule/clusterRoleSelectors")).map(|part| selector(Some(part)));
        Some(RoleFacts {
            writes: list(Some(rules)).filter(writes).map(read).collect(),
            parts: parts.map(Option::unwrap_or_default).collect(),
        })
    }

    /// Whether it allows to change the object of this name, and so to remove a finalizer
    /// (kubernetes/kubernetes pkg/apis/rbac/v1/evaluation_helpers.go).
    pub(crate) fn may_write(&self, resource: &Resource, name: &str) -> bool {
        let has = |all: &[String], one: &str| all.iter().any(|text| text == "*" || text == one);
        self.writes.iter().any(|rule| {
            has(&rule.groups, &resource.group)
                && has(&rule.resources, &resource.plural)
                && (rule.names.is_empty() || rule.names.iter().any(|of| of == name))
        })
    }
}
