//! Asks the API server whether the user may do what is about to be done, so that nothing turns out to be forbidden
//! half-way.
//!
//! This checks only what the *user* sends: a cascade runs with the collector's rights.

use std::collections::{BTreeMap, BTreeSet};

use futures::StreamExt as _;
use k8s_openapi::api::{
    authentication::v1::SelfSubjectReview,
    authorization::v1::{
        ResourceAttributes, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec, SubjectAccessReviewStatus,
    },
};

use crate::cluster::{Connection, Failure};
use gc_core::{
    model::{ObjectId, ResourceId, Resources, Snapshot},
    wording::{all_of, grouped, named},
};

use super::request::{Write, document, send_with_retry};

/// The path of a SelfSubjectAccessReview.
const REVIEWS: &str = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
/// The path of a SelfSubjectReview.
const WHO_AM_I: &str = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
/// How many reviews are sent at once.
const AT_ONCE: usize = 16;

/// One request that the user is about to make.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Access {
    /// In RBAC's words: `delete`, `patch`, `get`, `create`.
    pub verb: &'static str,
    pub resource: ResourceId,
    /// A subresource with rights of its own (`status`); usually empty.
    pub subresource: &'static str,
    /// Empty for cluster scope.
    pub namespace: String,
    /// Empty for an object that is yet to be created.
    pub name: String,
}

/// A request that is denied, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denied {
    pub access: Access,
    /// The authorizer's own words; often empty.
    pub reason: String,
}

/// The answers of all reviews.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdicts {
    /// In the order of [`Access`].
    pub denied: Vec<Denied>,
    /// Why a review failed, if one did. The requests it was about may turn out to be forbidden.
    pub unknown: Option<String>,
}

/// Returns which of these requests the user may not make. Several objects of one resource and namespace are reviewed
/// together first, and one by one only if that is denied.
pub async fn review(connection: &Connection, resources: &Resources, wanted: &BTreeSet<Access>) -> Verdicts {
    let mut groups: BTreeMap<Access, Vec<&Access>> = BTreeMap::new();
    for access in wanted {
        groups.entry(Access { name: String::new(), ..access.clone() }).or_default().push(access);
    }
    // Review a single object by name right away.
    let (single, many): (Vec<_>, Vec<_>) = groups.into_iter().partition(|(_, members)| members.len() == 1);
    let mut verdicts = Verdicts::default();
    let mut open: Vec<&Access> = single.into_iter().flat_map(|(_, members)| members).collect();
    for ((_, members), answer) in ask_all(connection, resources, many, |(whole, _)| whole).await {
        match answer {
            Ok(status) if status.allowed => {}
            // Some may be allowed by name.
            Ok(_) => open.extend(members),
            Err(failure) => verdicts.unknown = Some(failure.in_full()),
        }
    }
    for (access, answer) in ask_all(connection, resources, open, |access| access).await {
        match answer {
            Ok(status) if status.allowed => {}
            Ok(status) => {
                let reason = status.reason.unwrap_or_default();
                verdicts.denied.push(Denied { access: access.clone(), reason });
            }
            Err(failure) => verdicts.unknown = Some(failure.in_full()),
        }
    }
    verdicts.denied.sort_by(|a, b| a.access.cmp(&b.access));
    verdicts
}

/// The name that the API server knows the user by; `None` if it doesn't say.
pub async fn user_name(connection: &Connection) -> Option<String> {
    let body = document(&SelfSubjectReview::default());
    let answer = send_with_retry(connection, WHO_AM_I, Write::post(&body)).await.ok()?;
    let review: SelfSubjectReview = serde_json::from_slice(&answer.body).ok()?;
    review.status?.user_info?.username
}

async fn ask_all<T>(
    connection: &Connection,
    resources: &Resources,
    questions: Vec<T>,
    access: impl Fn(&T) -> &Access,
) -> Vec<(T, Result<SubjectAccessReviewStatus, Failure>)> {
    let access = &access;
    let answers = futures::stream::iter(questions).map(async |question| {
        let answer = ask(connection, resources, access(&question)).await;
        (question, answer)
    });
    answers.buffer_unordered(AT_ONCE).collect().await
}

async fn ask(
    connection: &Connection,
    resources: &Resources,
    access: &Access,
) -> Result<SubjectAccessReviewStatus, Failure> {
    let resource = resources.get(access.resource);
    let text = |text: &str| Some(text.to_owned());
    let attributes = ResourceAttributes {
        verb: text(access.verb),
        group: text(&resource.group),
        version: text(&resource.version),
        resource: text(&resource.plural),
        subresource: text(access.subresource),
        namespace: text(&access.namespace),
        name: text(&access.name),
        ..ResourceAttributes::default()
    };
    let spec = SelfSubjectAccessReviewSpec { resource_attributes: Some(attributes), non_resource_attributes: None };
    let body = document(&SelfSubjectAccessReview { spec, ..SelfSubjectAccessReview::default() });
    // A review may be sent twice: it changes nothing.
    let answer = send_with_retry(connection, REVIEWS, Write::post(&body)).await?;
    let review: SelfSubjectAccessReview =
        serde_json::from_slice(&answer.body).map_err(|error| Failure::Malformed(error.to_string()))?;
    review.status.ok_or_else(|| Failure::Malformed("a review without a status".to_owned()))
}

impl Verdicts {
    /// Everything that is denied, as errors name it: `delete pods web-1 in namespace shop (why)`. None if nothing is
    /// denied.
    pub fn forbidden(&self, resources: &Resources) -> Option<String> {
        // Verbs on the same objects are named together: `create and get pods in namespace shop`.
        let denied = grouped(self.denied.iter().map(|Denied { access, reason }| {
            let because = if reason.is_empty() { String::new() } else { format!(" ({reason})") };
            (format!("{}{because}", access.objects(resources)), access.verb)
        }));
        let denied: Vec<String> = denied.iter().map(|(what, all)| format!("{} {what}", all_of(all, "and"))).collect();
        (!denied.is_empty()).then(|| named(&denied))
    }
}

impl Access {
    /// Requests with these verbs: for one object, or without a name for all of the resource, in a namespace or without
    /// one everywhere.
    pub fn each(
        verbs: &[&'static str],
        resource: ResourceId,
        namespace: &str,
        name: &str,
    ) -> impl Iterator<Item = Access> {
        verbs.iter().map(move |verb| {
            let (namespace, name) = (namespace.to_owned(), name.to_owned());
            Access { verb, resource, subresource: "", namespace, name }
        })
    }

    /// Requests with these verbs for an object of a snapshot.
    pub fn to(verbs: &[&'static str], snapshot: &Snapshot, object: ObjectId) -> impl Iterator<Item = Access> {
        let found = snapshot.object(object);
        Access::each(verbs, found.resource, snapshot.text(found.namespace), snapshot.text(found.name))
    }

    /// As errors name it: `delete pods web-1 in namespace shop`.
    pub fn describe(&self, resources: &Resources) -> String {
        format!("{} {}", self.verb, self.objects(resources))
    }

    fn objects(&self, resources: &Resources) -> String {
        let mut describe = resources.get(self.resource).full_name();
        if !self.subresource.is_empty() {
            describe = format!("{describe}/{}", self.subresource);
        }
        if !self.name.is_empty() {
            describe = format!("{describe} {}", self.name);
        }
        if self.namespace.is_empty() { describe } else { format!("{describe} in namespace {}", self.namespace) }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use serde_json::{Value, json};

    use super::*;
    use crate::cluster::testing::{json as say, pods, refuse, serve};
    use gc_core::model::Resources;

    fn resources() -> Resources {
        Resources::new(vec![pods()], Vec::new())
    }

    fn delete(name: &str) -> Access {
        let (namespace, name) = ("shop".to_owned(), name.to_owned());
        Access { verb: "delete", resource: ResourceId(0), subresource: "", namespace, name }
    }

    /// What a server denies that allows these names (an empty name: the whole resource), and which names were reviewed.
    async fn asked(allowed: &'static [&'static str], names: &[&str]) -> (Vec<String>, Vec<String>) {
        let log: Arc<Mutex<Vec<String>>> = Arc::default();
        let seen = log.clone();
        let connection = serve(move |asked| {
            assert_eq!((asked.method.as_str(), asked.url.as_str()), ("POST", REVIEWS));
            let body: Value = serde_json::from_slice(&asked.body).unwrap();
            let attributes = &body["spec"]["resourceAttributes"];
            assert_eq!(
                (&attributes["verb"], &attributes["resource"], &attributes["namespace"]),
                (&json!("delete"), &json!("pods"), &json!("shop"))
            );
            let name = attributes["name"].as_str().unwrap();
            seen.lock().unwrap().push(name.to_owned());
            say(201, json!({"status": {"allowed": allowed.contains(&name), "reason": "rule"}}).to_string())
        });
        let wanted = names.iter().map(|name| delete(name)).collect();
        let verdicts = review(&connection.await, &resources(), &wanted).await;
        assert_eq!(verdicts.unknown, None);
        let denied = verdicts.denied.iter().map(|denied| {
            assert_eq!(denied.reason, "rule");
            denied.access.describe(&resources())
        });
        let denied = denied.collect();
        let mut log = log.lock().unwrap().clone();
        log.sort();
        (denied, log)
    }

    #[tokio::test]
    async fn one_question_answers_for_a_whole_resource() {
        assert_eq!(asked(&[""], &["a", "b", "c"]).await, (vec![], vec![String::new()]));
    }

    #[tokio::test]
    async fn rights_on_single_objects_count() {
        let (denied, asked) = asked(&["a", "c"], &["a", "b", "c"]).await;
        assert_eq!(denied, ["delete pods b in namespace shop"]);
        assert_eq!(asked, ["", "a", "b", "c"]);
    }

    #[tokio::test]
    async fn one_object_is_asked_about_by_name() {
        assert_eq!(asked(&["a"], &["a"]).await, (vec![], vec!["a".to_owned()]));
    }

    #[tokio::test]
    async fn whoever_may_not_ask_does_not_know() {
        let connection = serve(|_| refuse(403)).await;
        let verdicts = review(&connection, &resources(), &BTreeSet::from([delete("a"), delete("b")])).await;
        assert_eq!(verdicts.denied, []);
        assert_eq!(verdicts.unknown.as_deref(), Some("forbidden: no"));
    }
}
