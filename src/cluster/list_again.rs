//! Tries a list again that failed: a fault that has passed is no fault of the cluster.

use crate::model::{ListRecord, Resource, Snapshot};

use super::{Connection, answer::Answer, path, request::METADATA_LIST};

impl Connection {
    /// Whether a list that failed still fails. It is no failure that the resource is no longer served, if discovery
    /// says so, too: its CRD may have been deleted after discovery and before the list.
    pub async fn still_fails(&self, snapshot: &Snapshot, list: &ListRecord) -> bool {
        let resource = snapshot.resources.get(list.resource);
        let url = path::of_resource(resource, list.namespace.as_deref());
        let read = |answer: &Answer, (): &mut ()| answer.read_list(|_| ());
        match self.get_pages(&url, "", METADATA_LIST, read).await {
            Ok(_) => false,
            Err(failure) if failure.is_missing_api() => !self.is_no_longer_named(resource).await,
            Err(_) => true,
        }
    }

    /// Whether discovery works for this API and doesn't name the resource.
    async fn is_no_longer_named(&self, resource: &Resource) -> bool {
        let Ok((resources, gaps)) = self.discover().await else { return false };
        let same = |other: &Resource| {
            (&other.group, &other.version, &other.plural) == (&resource.group, &resource.version, &resource.plural)
        };
        gaps.iter().all(|gap| gap.resource != resource.api_version()) && !resources.iter().any(|(_, other)| same(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        cluster::testing::{RecordedRequest, Say, json, refuse, serve},
        model::{Resources, SnapshotBuilder},
    };

    type Answers = fn() -> Say;

    const EMPTY: &str = r#"{"kind":"List","metadata":{"resourceVersion":"1"},"items":[]}"#;

    fn shops() -> Resource {
        Resource {
            group: "acme.io".to_owned(),
            version: "v1".to_owned(),
            plural: "shops".to_owned(),
            kind: "Shop".to_owned(),
            ..Resource::default()
        }
    }

    /// Discovery that names one group, with these resources or without an answer.
    fn discovery(resources: &[&str], freshness: &str) -> Say {
        let of = |name: &&str| format!(r#"{{"resource":"{name}","responseKind":{{"kind":"K"}},"verbs":["list"]}}"#);
        let resources: Vec<String> = resources.iter().map(of).collect();
        json(
            200,
            format!(
                r#"{{"kind":"APIGroupDiscoveryList","items":[{{"metadata":{{"name":"acme.io"}},"versions":
                [{{"version":"v1","freshness":"{freshness}","resources":[{}]}}]}}]}}"#,
                resources.join(",")
            ),
        )
    }

    async fn still_fails(list: Answers, discovered: Answers) -> bool {
        let connection = serve(move |asked: &RecordedRequest| match asked.url.as_str() {
            "/apis" | "/api" => discovered(),
            _ => list(),
        })
        .await;
        let resources = Resources::new(vec![shops()], Vec::new());
        let resource = resources.by_group_kind("acme.io", "Shop").unwrap();
        let snapshot = SnapshotBuilder::new(connection.origin(), resources).build();
        let record = ListRecord { resource, namespace: None, resource_version: String::new(), failure: None };
        connection.still_fails(&snapshot, &record).await
    }

    #[tokio::test]
    async fn a_list_fails_until_it_answers_or_is_gone_from_discovery() {
        let cases: [(Answers, Answers, bool); 6] = [
            (|| json(200, EMPTY), || refuse(503), false),
            (|| refuse(500), || discovery(&["other"], "Current"), true),
            (|| json(200, "<html>"), || discovery(&["other"], "Current"), true),
            (|| refuse(404), || discovery(&["other"], "Current"), false),
            (|| refuse(404), || discovery(&["other", "shops"], "Current"), true),
            (|| refuse(404), || discovery(&["other"], "Stale"), true),
        ];
        for (row, (list, discovered, expected)) in cases.into_iter().enumerate() {
            assert_eq!(still_fails(list, discovered).await, expected, "row {row}");
        }
        assert!(still_fails(|| refuse(404), || refuse(503)).await);
    }
}
