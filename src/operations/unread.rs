//! What could not be read and may change what is deleted, and what of it the user accepts.

use gc_core::{
    escape::visible,
    model::{ANY_RESOURCE, Gap, GapKind, Resources, Snapshot, gaps::each_once},
    plan::{Incomplete, Plan},
    wording::{count, grouped, some_of},
};

use super::{LiveSession, OperationError, error::Unread};

/// At most this many TYPEs are proposed for `--allow-incomplete`.
const TYPES: usize = 12;

/// What the roles that Kubernetes brings along may not list in a namespace. These objects hold no data and run nothing,
/// and hardly any has an owner: on a terminal, a question about them is enough.
const ASKED_ABOUT: [&str; 4] = [
    "csistoragecapacities.storage.k8s.io",
    "podtemplates",
    "rolebindings.rbac.authorization.k8s.io",
    "roles.rbac.authorization.k8s.io",
];

/// `--allow-incomplete`: what may stay unread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum AllowIncomplete {
    #[default]
    Nothing,
    Everything,
    /// Only these: TYPEs as in a TARGET, or `group/version` for what discovery could not describe.
    These(Vec<String>),
}

impl AllowIncomplete {
    /// The full names of the resources that may stay unread.
    ///
    /// # Errors
    /// A TYPE that the API server does not serve.
    pub(super) fn resolve(&self, resources: &Resources) -> Result<Self, OperationError> {
        let AllowIncomplete::These(types) = self else { return Ok(self.clone()) };
        let resolve = |one: &String| match resources.find_type(one) {
            _ if one.contains('/') || one == ANY_RESOURCE => Ok(one.clone()),
            Ok(resource) => Ok(resources.get(resource).full_name()),
            Err(error) => Err(OperationError::Usage(format!("--allow-incomplete={one}: {error}"))),
        };
        types.iter().map(resolve).collect::<Result<_, _>>().map(Self::These)
    }

    /// The same, and what a question names.
    pub(super) fn or_asked(self) -> Self {
        let asked = ASKED_ABOUT.map(str::to_owned);
        match self {
            AllowIncomplete::Nothing => AllowIncomplete::These(asked.to_vec()),
            AllowIncomplete::Everything => AllowIncomplete::Everything,
            AllowIncomplete::These(types) => AllowIncomplete::These([types, asked.to_vec()].concat()),
        }
    }

    /// Whether this may stay unread. Names are full names: see [`resolve`](Self::resolve).
    pub(super) fn allows(&self, resource: &str) -> bool {
        match self {
            AllowIncomplete::Nothing => false,
            AllowIncomplete::Everything => true,
            AllowIncomplete::These(types) => types.iter().any(|one| one == resource),
        }
    }
}

impl Unread {
    /// Describes these gaps; `None` if all of them are allowed. Asks the API server for the user's name if that user
    /// lacks a right.
    pub(super) fn of_gaps(session: &LiveSession, plan: &Plan, gaps: &[Gap], allowed: &AllowIncomplete) -> Option<Self> {
        let gaps = each_once(gaps);
        let missing: Vec<&Gap> = gaps.iter().filter(|gap| !allowed.allows(&gap.resource)).collect();
        if missing.is_empty() {
            return None;
        }
        let forbidden = missing.iter().any(|gap| gap.reason.kind() == GapKind::Forbidden);
        let user = if forbidden { session.user_name() } else { None };
        let user = user.map_or_else(|| "you".to_owned(), |name| format!("user {name}"));
        let namespace = session.namespace_of(&plan.request.targets);
        let lines = lines(missing.iter().map(|gap| describe(&session.snapshot, gap, &user, namespace.as_deref())));
        // What was allowed already is repeated, so that the flag can be copied as it is.
        let before: &[String] = if let AllowIncomplete::These(types) = allowed { types } else { &[] };
        let mut allow: Vec<&str> = Vec::new();
        for one in before.iter().map(String::as_str).chain(missing.iter().map(|gap| gap.resource.as_str())) {
            if !allow.contains(&one) {
                allow.push(one);
            }
        }
        let allow = if allow.len() > TYPES { String::new() } else { format!("={}", allow.join(",")) };
        Some(Unread { lines, allow, forbidden })
    }

    /// Describes what may change a plan; `None` if nothing does, or all of it is allowed.
    pub(super) fn of_plan(session: &LiveSession, plan: &Plan, allowed: &AllowIncomplete) -> Option<Self> {
        let missing = Incomplete::of(&session.snapshot, plan);
        if !missing.matters() || *allowed == AllowIncomplete::Everything {
            return None;
        }
        let gaps = Incomplete::gaps_in_the_way(&session.snapshot, plan);
        let unread = Unread::of_gaps(session, plan, &gaps, allowed);
        // Outcomes are uncertain, and no gap explains it: no list of TYPEs can allow that.
        let unexplained = missing.cut_short > 0 || missing.uncertain > 0 && gaps.is_empty();
        if !unexplained {
            return unread;
        }
        let mut unread = unread.unwrap_or_default();
        let outcomes = count(missing.uncertain, "outcome is", "outcomes are");
        unread.lines.push(format!("{outcomes} not certain: not all orders of events could be tried"));
        unread.allow = String::new();
        Some(unread)
    }
}

/// A gap in words: what is said before and after the name of the resource.
struct Said {
    before: String,
    resource: String,
    after: String,
}

/// One line for all resources of which the same is said.
fn lines(said: impl Iterator<Item = Said>) -> Vec<String> {
    let groups = grouped(said.map(|Said { before, resource, after }| ((before, after), resource)));
    let line = |((before, after), resources): &((String, String), Vec<String>)| {
        let resources: Vec<&str> = resources.iter().map(String::as_str).collect();
        visible(&format!("{before}{}{after}", some_of(&resources, TYPES))).into_owned()
    };
    groups.iter().map(line).collect()
}

/// One gap: who may not do what and where, or what failed. `of_targets` is the namespace of all targets.
fn describe(snapshot: &Snapshot, gap: &Gap, user: &str, of_targets: Option<&str>) -> Said {
    let resource = &gap.resource;
    let said = |before: String, after: String| Said { before, resource: resource.clone(), after };
    if gap.is_undiscovered() {
        return said("the API server does not say what is in ".to_owned(), format!(" ({})", gap.reason));
    }
    let place = |namespace: Option<&str>, namespaced: bool| match namespace {
        Some(namespace) => format!(" in namespace {namespace}"),
        None if namespaced => " in all namespaces".to_owned(),
        None => String::new(),
    };
    let list = snapshot.lists.iter().find(|list| {
        list.failure.as_ref() == Some(&gap.reason) && snapshot.resources.get(list.resource).full_name() == *resource
    });
    let namespaced = list.is_some_and(|list| snapshot.resources.get(list.resource).namespaced);
    let namespace = list.and_then(|list| list.namespace.as_deref()).or(gap.namespace.as_deref());
    // A right in the targets' namespace is enough.
    let where_needed = namespace.or(of_targets.filter(|_| namespaced));
    match (gap.reason.as_str(), gap.forbidden_objects()) {
        ("forbidden", _) => said(format!("{user} may not list "), place(where_needed, namespaced)),
        (_, Some(names)) => said(format!("{user} may not get "), format!(" {names}{}", place(namespace, false))),
        (reason, None) => said(String::new(), format!("{} could not be read: {reason}", place(namespace, namespaced))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gc_core::model::{ListRecord, Origin, Resource, ResourceId, SnapshotBuilder};

    fn snapshot() -> Snapshot {
        let resource = |plural: &str, namespaced: bool| Resource {
            namespaced,
            ..Resource::named("", "v1", plural, plural).with_verbs(&["delete", "get", "list", "watch"])
        };
        let resources =
            Resources::new(vec![resource("secrets", true), resource("pods", true), resource("nodes", false)], vec![]);
        let mut builder =
            SnapshotBuilder::new(Origin::Cluster { context: "test".to_owned(), server: "test".to_owned() }, resources);
        for (id, namespace) in [(0, Some("shop".to_owned())), (1, None), (2, None)] {
            let resource = ResourceId(id);
            let failure = Some("forbidden".into());
            builder.list(ListRecord { resource, namespace, resource_version: "1".to_owned(), failure });
        }
        builder.build()
    }

    #[test]
    fn a_line_says_who_may_not_do_what_and_where() {
        let snapshot = snapshot();
        let within = |resource: &str, namespace: Option<&str>, reason: &str, of_targets: Option<&str>| {
            let (resource, namespace) = (resource.to_owned(), namespace.map(str::to_owned));
            let gap = Gap { resource, namespace, reason: reason.into() };
            lines(std::iter::once(describe(&snapshot, &gap, "user bob", of_targets))).concat()
        };
        let line = |resource: &str, namespace: Option<&str>, reason: &str| within(resource, namespace, reason, None);
        let in_web = |resource: &str| within(resource, None, "forbidden", Some("web"));
        assert_eq!(in_web("pods"), "user bob may not list pods in namespace web");
        assert_eq!(in_web("nodes"), "user bob may not list nodes");
        assert_eq!(line("secrets", None, "forbidden"), "user bob may not list secrets in namespace shop");
        assert_eq!(line("pods", None, "forbidden"), "user bob may not list pods in all namespaces");
        assert_eq!(line("nodes", None, "forbidden"), "user bob may not list nodes");
        assert_eq!(line("pods", Some("shop"), "a, b: forbidden"), "user bob may not get pods a, b in namespace shop");
        assert_eq!(
            line("pods", Some("shop"), "timed out after 30s"),
            "pods in namespace shop could not be read: timed out after 30s"
        );
        assert_eq!(line("a.io/v1", None, "away"), "the API server does not say what is in a.io/v1 (away)");
    }

    #[test]
    fn what_is_said_of_many_is_said_once() {
        let snapshot = snapshot();
        let said = |resource: &str, reason: &str| {
            let gap = Gap { resource: resource.to_owned(), namespace: None, reason: reason.into() };
            describe(&snapshot, &gap, "you", None)
        };
        let few =
            [said("nodes", "forbidden"), said("pods", "forbidden"), said("a.io/v1", "gone"), said("b", "forbidden")];
        let told = lines(few.into_iter());
        assert_eq!(
            told,
            [
                "you may not list nodes, b",
                "you may not list pods in all namespaces",
                "the API server does not say what is in a.io/v1 (gone)",
            ]
        );
        let many = (0..TYPES + 2).map(|number| said(&format!("kind-{number}"), "forbidden"));
        let told = lines(many).concat();
        assert!(told.ends_with(", kind-11 and 2 more"), "{told}");
    }

    #[test]
    fn types_are_named_as_in_targets() {
        let resources = snapshot().resources;
        let these = |types: &[&str]| AllowIncomplete::These(types.iter().map(|one| (*one).to_owned()).collect());
        let resolved = these(&["secret", "PODS", "a.io/v1"]).resolve(&resources);
        assert!(resolved.is_err(), "there is no such singular");
        let resolved = these(&["secrets", "PODS", "a.io/v1"]).resolve(&resources).unwrap();
        for (resource, allowed) in [("secrets", true), ("pods", true), ("a.io/v1", true), ("nodes", false)] {
            assert_eq!(resolved.allows(resource), allowed, "{resource}");
        }
        assert!(AllowIncomplete::Everything.allows("nodes"));
        assert!(!AllowIncomplete::Nothing.allows("nodes"));
    }
}
