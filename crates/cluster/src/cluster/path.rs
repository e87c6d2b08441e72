//! The API's paths: all are built here, whatever a name contains.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use gc_core::model::{ObjectId, Resource, Snapshot, group_of};

use super::answer::Named;

/// The characters that a path segment may contain unescaped. Names of RBAC objects have colons.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b':');

/// The path of a resource: in all namespaces, or in one.
pub fn of_resource(resource: &Resource, namespace: Option<&str>) -> String {
    let mut path = match resource.group.as_str() {
        "" => "/api".to_owned(),
        group => format!("/apis/{}", encoded(group)),
    };
    let namespace = namespace.filter(|namespace| resource.namespaced && !namespace.is_empty());
    let in_namespace = namespace.map(|namespace| ["namespaces".to_owned(), encoded(namespace)]);
    for segment in [encoded(&resource.version)].into_iter().chain(in_namespace.into_iter().flatten()) {
        path.push('/');
        path.push_str(&segment);
    }
    path.push('/');
    path.push_str(&encoded(&resource.plural));
    path
}

/// An object's path, and what an answer to a request there must be about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectPath {
    url: String,
    pub(super) group: String,
    plural: String,
    pub(super) kind: String,
    pub(super) namespace: String,
    pub(super) name: String,
}

/// The path of an object; an empty namespace means cluster scope.
///
/// The API server doesn't check names in owner references (R1.31), and a name that is no path segment must not lead
/// elsewhere: an empty one would list the resource. Such a name has no path, as in the collector's client.
pub fn of_object(resource: &Resource, namespace: &str, name: &str) -> Option<ObjectPath> {
    let in_scope = if resource.namespaced { is_segment(namespace) } else { namespace.is_empty() };
    if !is_segment(name) || !in_scope {
        return None;
    }
    let url = format!("{}/{}", of_resource(resource, Some(namespace)), encoded(name));
    Some(ObjectPath::at(url, &resource.api_version(), &resource.kind, namespace, name))
}

/// The path of an object of a snapshot.
pub fn of(snapshot: &Snapshot, id: ObjectId) -> Option<ObjectPath> {
    let object = snapshot.object(id);
    let resource = snapshot.resources.get(object.resource);
    of_object(resource, snapshot.text(object.namespace), snapshot.text(object.name))
}

impl ObjectPath {
    /// A path that was built before, and the object that it leads to.
    pub(crate) fn at(url: String, api_version: &str, kind: &str, namespace: &str, name: &str) -> Self {
        ObjectPath {
            plural: url.rsplit('/').nth(1).unwrap_or_default().to_owned(),
            group: group_of(api_version).to_owned(),
            kind: kind.to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            url,
        }
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    pub(crate) fn is_namespaced(&self) -> bool {
        !self.namespace.is_empty()
    }

    /// The same object's path with more at its end: a subresource, or a query.
    pub(crate) fn with(&self, end: &str) -> Self {
        ObjectPath { url: format!("{}{end}", self.url), ..self.clone() }
    }

    /// Whether a `Status` names this object. It calls the kind by its plural, a few servers by its name, and some
    /// leave out the group: so does Kubernetes for `events` and `clustertrustbundles`.
    pub(super) fn is_named(&self, named: &Named) -> bool {
        let is_kind = |kind: &str| [&self.plural, &self.kind].iter().any(|own| kind.eq_ignore_ascii_case(own));
        named.name == self.name
            && (named.kind.is_empty() || is_kind(&named.kind))
            && (named.group.is_empty() || named.group == self.group)
    }
}

/// Whether a name can be a segment of a path, and leads nowhere else.
pub(crate) fn is_segment(name: &str) -> bool {
    !name.is_empty() && !matches!(name, "." | "..") && !name.contains(['/', '%'])
}

/// Escapes a value for a path segment or a query.
pub(crate) fn encoded(value: &str) -> String {
    utf8_percent_encode(value, SEGMENT).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resource(group: &str, namespaced: bool) -> Resource {
        Resource { namespaced, ..Resource::named(group, "v1", "things", "Thing") }
    }

    #[test]
    fn paths_are_those_of_the_api() {
        assert_eq!(of_resource(&resource("", true), None), "/api/v1/things");
        assert_eq!(of_resource(&resource("apps", true), Some("shop")), "/apis/apps/v1/namespaces/shop/things");
        assert_eq!(of_resource(&resource("apps", false), Some("shop")), "/apis/apps/v1/things");
        let path = of_object(&resource("", true), "shop", "system:a b?c#d").unwrap();
        assert_eq!(path.url(), "/api/v1/namespaces/shop/things/system:a%20b%3Fc%23d");
        assert_eq!(path.with("/status?x=y").url(), "/api/v1/namespaces/shop/things/system:a%20b%3Fc%23d/status?x=y");
        assert_eq!(of_object(&resource("", false), "", "x").unwrap().url(), "/api/v1/things/x");
    }

    #[test]
    fn names_that_lead_elsewhere_have_no_path() {
        for name in ["", ".", "..", "a/b", "a%2fb"] {
            assert_eq!(of_object(&resource("", false), "", name), None, "{name}");
            assert_eq!(of_object(&resource("", true), name, "x"), None, "{name}");
        }
        assert_eq!(of_object(&resource("", false), "shop", "x"), None, "no namespace in cluster scope");
    }

    #[test]
    fn a_status_names_the_object_or_another() {
        let path = of_object(&resource("acme.io", true), "shop", "x").unwrap();
        let is_named = |[group, kind, name]: [&str; 3]| {
            path.is_named(&Named { group: group.to_owned(), kind: kind.to_owned(), name: name.to_owned() })
        };
        for named in [["acme.io", "things", "x"], ["acme.io", "thing", "x"], ["", "things", "x"], ["", "", "x"]] {
            assert!(is_named(named), "{named:?}");
        }
        for other in [["acme.io", "things", "y"], ["acme.io", "others", "x"], ["acme.com", "things", "x"]] {
            assert!(!is_named(other), "{other:?}");
        }
    }
}
