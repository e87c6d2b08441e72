//! Objects that keep another: as long as they are there, its controller leaves its finalizer alone (R9.40).

use serde_json::Value;

use super::{
    operators::{Kind, KnownUsers, Naming, OPERATORS},
    pauses::matches_pattern,
};

const APPLICATION: Kind = ("argoproj.io", "Application");

/// What the controller of this finalizer must create first, if anything.
pub(crate) fn creates_first(finalizer: &str) -> Option<&'static str> {
    OPERATORS.creates_first.iter().find(|known| known.finalizer == finalizer).map(|known| known.what)
}

/// What keeps this finalizer of an object of a kind in its place.
pub fn known_users<'t>(finalizer: &'t str, kind: &'t str) -> impl Iterator<Item = &'static KnownUsers> + 't {
    let keeps = move |users: &&KnownUsers| matches_pattern(users.finalizer, finalizer);
    OPERATORS.kept_by.iter().filter(keeps).filter(move |users| users.of.is_empty() || users.of == kind)
}

/// How objects of a kind name what they use in fields, and the kind of that.
fn by_field<'k>(group: &'k str, kind: &'k str) -> impl Iterator<Item = &'static KnownUsers> + 'k {
    let is_it = move |user: &Kind| user.1 == kind && (user.0 == "*" || user.0 == group);
    let in_fields = |naming| matches!(naming, Naming::Field(_) | Naming::FieldOr(..) | Naming::Fields(..));
    let names = move |users: &&KnownUsers| in_fields(users.naming);
    OPERATORS.kept_by.iter().filter(names).filter(move |users| users.kinds.iter().any(is_it))
}

/// Whether objects of a kind name what they use in a field.
pub(crate) fn names_by_field(group: &str, kind: &str) -> bool {
    by_field(group, kind).next().is_some() || PROTECTORS.contains(&(group, kind))
}

/// Crossplane's objects that protect another one (R9.48), and its user, for which they wait.
const PROTECTORS: &[Kind] = &[
    ("apiextensions.crossplane.io", "Usage"),
    ("protection.crossplane.io", "Usage"),
    ("protection.crossplane.io", "ClusterUsage"),
];

/// What a protector names in one of its fields. It has resolved selectors to names.
fn named_by_protector(protector: &Value, field: &str, so: fn(&str, &str) -> String) -> Option<String> {
    let named = protector.get("spec")?.get(field)?;
    Some(so(named.get("kind")?.as_str()?, named.pointer("/resourceRef/name")?.as_str()?))
}

/// What a protector protects, as it names that.
pub(crate) fn protected(kind: &str, name: &str) -> String {
    used(kind, "", name)
}

/// The user of that, as it names it.
pub(crate) fn protected_for(kind: &str, name: &str) -> String {
    used(kind, "by", name)
}

/// What a whole object of a kind names as used by it, sorted.
pub(crate) fn names_used(group: &str, kind: &str, object: &Value) -> Vec<String> {
    let mut names = Vec::new();
    let one = |field: &str| object.pointer(&format!("/{}", field.replace('.', "/"))).and_then(Value::as_str);
    for users in by_field(group, kind) {
        match users.naming {
            Naming::Field(field) => texts(object, field, &mut names),
            Naming::FieldOr(field, other) => {
                names.push(one(field).filter(|name| !name.is_empty()).unwrap_or(other).to_owned());
            }
            Naming::Fields(namespace, "") => names.extend(one(namespace).map(|it| used(users.of, it, ""))),
            Naming::Fields(namespace, name) => {
                names.extend(one(namespace).zip(one(name)).map(|(namespace, name)| used(users.of, namespace, name)));
            }
            _ => {}
        }
    }
    if (group, kind) == APPLICATION {
        names.extend(hooks_of(object));
    }
    if PROTECTORS.contains(&(group, kind)) {
        names.extend(named_by_protector(object, "of", protected));
        names.extend(named_by_protector(object, "by", protected_for));
    }
    names.sort_unstable();
    names.dedup();
    names
}

/// The hooks that the running operation of an Application has made, as [`hook`] writes them: those that it lists, and
/// the one that it says it waits for.
fn hooks_of(application: &Value) -> Vec<String> {
    let operation = &application["status"]["operationState"];
    if operation["phase"] != "Running" {
        return Vec::new();
    }
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let listed = operation["syncResult"]["resources"].as_array().into_iter().flatten();
    let hooks = listed.filter(|resource| !text(&resource["hookType"]).is_empty());
    let hooks = hooks.map(|it| hook(&text(&it["kind"]), &text(&it["namespace"]), &text(&it["name"])));
    // `waiting for deletion of hook batch/Job/migrate and 2 more hooks`
    let message = text(&operation["message"]);
    let waited = message.split_once(" of hook ").and_then(|(_, rest)| rest.split_whitespace().next());
    let waited = waited.and_then(|waited| waited.rsplit_once('/')).map(|(kind, name)| {
        let kind = kind.rsplit('/').next().unwrap_or(kind);
        hook(kind, &text(&application["spec"]["destination"]["namespace"]), name)
    });
    hooks.chain(waited).collect()
}

/// What is used, as two fields name it.
pub(crate) fn used(kind: &str, namespace: &str, name: &str) -> String {
    format!("{kind} {namespace} {name}")
}

/// What an operation has made, as a name that nothing else has.
pub(crate) fn hook(kind: &str, namespace: &str, name: &str) -> String {
    format!("{kind}/{namespace}/{name}")
}

/// The texts at a path of keys, in every item of the lists on the way.
fn texts(value: &Value, path: &str, found: &mut Vec<String>) {
    match (value, path.split_once('.').unwrap_or((path, ""))) {
        (Value::Array(items), _) => items.iter().for_each(|item| texts(item, path, found)),
        (Value::String(text), ("", _)) => found.push(text.clone()),
        (Value::Object(fields), (key, rest)) => {
            fields.get(key).into_iter().for_each(|value| texts(value, rest, found));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_are_read_through_lists() {
        let used = |kind, object: Value| names_used("kueue.x-k8s.io", kind, &object);
        let flavors =
            |names: &[&str]| json!({"flavors": names.iter().map(|name| json!({"name": name})).collect::<Vec<_>>()});
        let queue = json!({"spec": {"resourceGroups": [flavors(&["spot", "gpu"]), flavors(&["gpu"]), 7]}});
        assert_eq!(used("ClusterQueue", queue.clone()), ["gpu", "spot"]);
        assert_eq!(used("Workload", json!({"status": {"admission": {"clusterQueue": "main"}}})), ["main"]);
        assert_eq!(used("LocalQueue", queue), Vec::<String>::new());
        assert_eq!(used("Workload", json!({"status": {"admission": {"clusterQueue": {"name": "main"}}}})), [""; 0]);
    }
}
