//! What custom resources name in their spec: their controllers need that, or may, to remove a finalizer (R9.47).

use serde_json::Value;

use super::operators::{KnownNeed, OPERATORS};

sparse! {
    /// An object as the spec of another names it.
    pub struct NamedObject {
        /// The key that names it, or that contains its name; empty in a list, which tells the kind.
        pub key?: String,
        pub group?: String,
        /// Empty: the key tells.
        pub kind?: String,
        /// Empty: where the object is that names it; [`ANYWHERE`]: where its controller runs.
        pub namespace?: String,
        pub name: String,
    }
}

/// The namespace of what may be in any.
const ANYWHERE: &str = "*";

/// At most this many names of an object are kept, and they are looked for so deep.
const MOST: usize = 16;
/// At most this many objects of its lists are kept.
const MOST_LISTED: usize = 256;
const DEEPEST: usize = 8;

/// Below these keys is what pods, or objects that are made, need, and not their controller; or what others trust.
const OF_OTHERS: [&str; 14] = [
    "template",
    "podTemplate",
    "containers",
    "initContainers",
    "env",
    "envFrom",
    "volumes",
    "imagePullSecrets",
    "tls",
    "ca",
    "target",
    "output",
    "affinity",
    "tolerations",
];

/// What is in a key, in lower case, that names a Secret; and in one of a Secret that the controller writes.
const SECRET: [&str; 6] = ["secret", "credential", "password", "token", "kubeconfig", "auth"];
const WRITTEN: [&str; 4] = ["write", "output", "target", "publish"];

fn known_needs<'k>(group: &'k str, kind: &'k str) -> impl Iterator<Item = &'static KnownNeed> + 'k {
    OPERATORS.needs.iter().filter(move |need| need.on == (group, kind))
}

/// Whether the controller of a finalizer surely needs what objects of this kind name.
pub(crate) fn surely_needs(finalizer: &str, group: &str, kind: &str) -> bool {
    known_needs(group, kind).any(|need| finalizer.contains(need.finalizer))
}

impl NamedObject {
    /// What the spec of a whole object of a kind names, as far as its keys tell; where it is known what its controller
    /// needs, that only.
    pub(super) fn read(group: &str, kind: &str, object: &Value) -> Vec<NamedObject> {
        let mut found = Vec::new();
        if known_needs(group, kind).next().is_none() {
            object.get("spec").into_iter().for_each(|spec| collect("", spec, DEEPEST, &mut found));
        }
        for need in known_needs(group, kind) {
            let value = object.pointer(need.path).unwrap_or(&Value::Null);
            for value in value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice).iter().take(MOST) {
                let text = |key: &str| value.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
                let kind = text("kind").unwrap_or(need.kind).to_owned();
                let name = value.as_str().or_else(|| text("name")).filter(|name| is_name(name));
                let name = name.filter(|name| *name != need.except);
                let namespace = text("namespace").filter(|_| need.namespace.is_empty()).unwrap_or(need.namespace);
                found.extend(name.map(|name| NamedObject {
                    group: need.group.to_owned(),
                    kind,
                    namespace: namespace.to_owned(),
                    name: name.to_owned(),
                    ..NamedObject::default()
                }));
            }
        }
        found
    }

    /// What a whole object lists by kind and name: its controller may have applied that.
    pub(super) fn read_lists(object: &Value) -> Vec<NamedObject> {
        let mut found = Vec::new();
        for key in ["spec", "status"] {
            object.get(key).into_iter().for_each(|value| collect_listed(value, false, DEEPEST, &mut found));
        }
        found
    }

    /// Whether the controller of a finalizer surely needs what this names, unless it keeps all.
    pub(crate) fn is_needed_for(&self, finalizer: &str) -> bool {
        OPERATORS.needed_keys.iter().any(|known| known.finalizer == finalizer && known.key == self.key)
    }

    /// Whether it may be in any namespace.
    pub(crate) fn is_anywhere(&self) -> bool {
        self.namespace == ANYWHERE
    }

    /// Whether it may be an object of another kind in the same group.
    pub(crate) fn may_be(&self, kind: &str) -> bool {
        let (key, kind) = (self.stem(), kind.to_ascii_lowercase());
        let is_part = |whole: &str, end: &str| end.len() >= SHORTEST && whole.ends_with(end);
        if self.kind.is_empty() { is_part(&kind, &key) || is_part(&key, &kind) } else { kind == self.kind_in_lower() }
    }

    /// Whether it surely is of this kind, though there may be no such object.
    pub(crate) fn is(&self, kind: &str) -> bool {
        let kind = kind.to_ascii_lowercase();
        if self.kind.is_empty() { self.stem() == kind } else { self.kind_in_lower() == kind }
    }

    /// Whether it surely is a Secret that its controller reads.
    pub(crate) fn is_secret(&self) -> bool {
        let key = self.key.to_ascii_lowercase();
        match self.kind.as_str() {
            "" => self.is_read() && SECRET.iter().any(|word| key.contains(word)),
            kind => kind == "Secret" && self.group.is_empty(),
        }
    }

    /// Whether it may be one: any reference may.
    pub(crate) fn may_be_secret(&self) -> bool {
        let is_reference = || REFERENCE.iter().any(|end| self.key.ends_with(end));
        self.is_secret() || self.kind.is_empty() && self.is_read() && is_reference()
    }

    fn is_read(&self) -> bool {
        let key = self.key.to_ascii_lowercase();
        !WRITTEN.iter().any(|word| key.starts_with(word))
    }

    fn kind_in_lower(&self) -> String {
        self.kind.to_ascii_lowercase()
    }

    /// The key without what only says that it names something, in lower case.
    fn stem(&self) -> String {
        let ends = REFERENCE.iter().chain(&["Name"]);
        let stem = ends.into_iter().find_map(|end| self.key.strip_suffix(end)).unwrap_or(&self.key);
        stem.to_ascii_lowercase()
    }
}

/// How the keys of references end.
const REFERENCE: [&str; 4] = ["Ref", "Reference", "Refs", "References"];
/// How keys end whose text is a name.
const NAMES: [&str; 7] = ["Ref", "Reference", "Name", "Secret", "secret", "Cluster", "cluster"];
/// Shorter words are in too many kinds.
const SHORTEST: usize = 4;

/// Collects what a value names that a key contains.
fn collect(key: &str, value: &Value, depth: usize, found: &mut Vec<NamedObject>) {
    let fields = match value {
        Value::Array(items) if depth > 0 => {
            return items.iter().take(MOST).for_each(|item| collect(key, item, depth - 1, found));
        }
        Value::Object(fields) if depth > 0 => fields,
        _ => return,
    };
    let text = |key: &str| fields.get(key).and_then(Value::as_str).unwrap_or_default();
    let mut add = |key: &str, name: &str, typed: bool| {
        if found.len() < MOST && is_name(name) && fields.get("optional") != Some(&Value::Bool(true)) {
            let api_version = text("apiVersion").split_once('/').map_or("", |(group, _)| group);
            let group = [text("apiGroup"), text("group"), api_version].into_iter().find(|group| !group.is_empty());
            let own = |text: &str| if typed { text.to_owned() } else { String::new() };
            let named = NamedObject {
                key: key.to_owned(),
                group: own(group.unwrap_or_default()),
                kind: own(text("kind")),
                namespace: own(text("namespace")),
                name: name.to_owned(),
            };
            found.extend((!found.contains(&named)).then_some(named));
        }
    };
    if !key.is_empty() {
        add(key, text("name"), true);
    }
    for (key, value) in fields {
        match value {
            Value::String(name) if NAMES.iter().any(|end| key.ends_with(end)) => add(key, name, false),
            _ => {}
        }
    }
    let below = fields.iter().filter(|(key, _)| !OF_OTHERS.contains(&key.as_str()));
    below.for_each(|(key, value)| collect(key, value, depth - 1, found));
}

/// Collects what stands with its kind and name in the lists of a value.
fn collect_listed(value: &Value, is_item: bool, depth: usize, found: &mut Vec<NamedObject>) {
    let fields = match value {
        Value::Array(items) if depth > 0 => {
            return items.iter().for_each(|item| collect_listed(item, true, depth - 1, found));
        }
        Value::Object(fields) if depth > 0 && found.len() < MOST_LISTED => fields,
        _ => return,
    };
    let text = |key: &str| fields.get(key).and_then(Value::as_str);
    let metadata = |key: &str| fields.get("metadata").and_then(|metadata| metadata.get(key)).and_then(Value::as_str);
    let own = |key: &str| text(key).or_else(|| metadata(key)).unwrap_or_default();
    let group = text("apiVersion").and_then(|version| version.split_once('/')).map(|(group, _)| group);
    let listed = NamedObject {
        group: group.or(text("group")).or(text("apiGroup")).unwrap_or_default().to_owned(),
        kind: text("kind").or(text("resource")).unwrap_or_default().to_owned(),
        namespace: own("namespace").to_owned(),
        name: own("name").to_owned(),
        key: String::new(),
    };
    if is_item && !listed.kind.is_empty() && is_name(&listed.name) {
        found.extend((!found.contains(&listed)).then_some(listed));
    } else {
        // What it selects was there before.
        let is_its = |key: &str| !OF_OTHERS.contains(&key) && !key.ends_with("Selectors") && key != "conditions";
        let below = fields.iter().filter(|(key, _)| is_its(key));
        below.for_each(|(_, value)| collect_listed(value, is_item, depth - 1, found));
    }
}

/// Whether an object may be called so (RFC 1123).
fn is_name(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'.');
    (1..=253).contains(&text.len()) && text.bytes().all(is_part)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn references_are_told_by_their_keys() {
        let named = |spec: Value| {
            let named = NamedObject::read("acme.io", "Database", &json!({ "spec": spec })).into_iter();
            named.map(|it| format!("{} {}/{}/{}", it.key, it.kind, it.namespace, it.name)).collect::<Vec<_>>()
        };
        assert_eq!(named(json!({"providerRef": {"name": "aws"}})), ["providerRef //aws"]);
        assert_eq!(named(json!({"githubConfigSecret": "token", "replicas": 3})), ["githubConfigSecret //token"]);
        assert_eq!(
            named(json!({"solver": [{"dns": {"tokenSecretRef": {"name": "dns", "key": "t"}}}]})),
            ["tokenSecretRef //dns"]
        );
        assert_eq!(
            named(json!({"identityRef": {"kind": "Secret", "name": "v", "namespace": "infra"}})),
            ["identityRef Secret/infra/v"]
        );
        let none = [
            json!({"name": "own"}),
            json!({"template": {"spec": {"volumes": [{"secret": {"secretName": "a"}}]}}}),
            json!({"tls": {"secretName": "a"}}),
            json!({"secretName": "Not A Name"}),
            json!({"secretRef": {"name": "a", "optional": true}}),
            json!("text"),
        ];
        none.into_iter().for_each(|spec| assert!(named(spec.clone()).is_empty(), "{spec}"));
        let mut deep = json!({"secretName": "deep"});
        (0..100).for_each(|_| deep = json!([{ "a": deep }]));
        assert!(named(deep).is_empty());
    }

    #[test]
    fn where_it_is_known_only_that_is_needed() {
        let named = |(group, kind), spec: Value| {
            let named = NamedObject::read(group, kind, &json!({ "spec": spec })).into_iter();
            named.map(|it| format!("{}/{}", it.kind, it.name)).collect::<Vec<_>>()
        };
        let stores = json!([{"name": "vault"}, {"name": "all", "kind": "ClusterSecretStore"}, {"labelSelector": {}}]);
        let push = json!({"secretStoreRefs": stores, "selector": {"secret": {"name": "source"}}});
        assert_eq!(named(("external-secrets.io", "PushSecret"), push), ["SecretStore/vault", "ClusterSecretStore/all"]);
        let application = json!({"project": "shop", "source": {"tokenSecret": "other"}});
        assert_eq!(named(("argoproj.io", "Application"), application), ["AppProject/shop"]);
        assert!(named(("argoproj.io", "Application"), json!({"project": "default"})).is_empty());
        assert!(named(("argoproj.io", "Application"), json!({})).is_empty());
        assert!(surely_needs("resources-finalizer.argocd.argoproj.io/background", "argoproj.io", "Application"));
        assert!(!surely_needs("acme.io/audit", "argoproj.io", "Application"));
    }

    #[test]
    fn lists_tell_kinds_and_names() {
        let listed = |object: Value| {
            let listed = NamedObject::read_lists(&object).into_iter();
            listed.map(|it| format!("{} {}/{}/{}", it.group, it.kind, it.namespace, it.name)).collect::<Vec<_>>()
        };
        let whole =
            json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "a"}});
        assert_eq!(listed(json!({"spec": {"workload": {"manifests": [whole]}}})), ["apps Deployment/a/web"]);
        let by_resource = json!([{"meta": {"group": "", "resource": "persistentvolumeclaims", "name": "data"}}]);
        assert_eq!(listed(json!({"status": {"applied": by_resource}})), [" persistentvolumeclaims//data"]);
        let none = [
            json!({"spec": {"resourceSelectors": [{"kind": "Deployment", "name": "web"}]}}),
            json!({"spec": {"targetRef": {"kind": "Deployment", "name": "web"}}}),
            json!({"status": {"conditions": [{"type": "Ready", "reason": "x"}]}}),
            json!({"spec": {"subjects": [{"kind": "User", "name": "Jane Doe"}]}}),
        ];
        none.into_iter().for_each(|object| assert!(listed(object.clone()).is_empty(), "{object}"));
    }

    #[test]
    fn kinds_are_told_by_keys() {
        let named = |key: &str| NamedObject { key: key.to_owned(), name: "a".to_owned(), ..NamedObject::default() };
        assert!(named("opensearchCluster").is("OpenSearchCluster"));
        assert!(named("rabbitmqClusterReference").may_be("RabbitmqCluster"));
        assert!(named("cluster").may_be("OpenSearchCluster") && !named("cluster").is("OpenSearchCluster"));
        assert!(named("kafkaClusterRef").may_be("Cluster"));
        assert!(!named("dbRef").may_be("MariaDb"));
        assert!(named("secretName").is_secret() && named("adminCredentials").is_secret());
        assert!(!named("providerRef").is_secret() && named("providerRef").may_be_secret());
        assert!(!named("writeConnectionSecretToRef").may_be_secret());
        assert!(!named("clusterName").may_be_secret());
    }
}
