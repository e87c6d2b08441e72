//! Counts objects without listing them.

use serde::Deserialize;

use crate::model::Resource;

use super::{Connection, answer::Malformed, failure::Failure, path};

/// A list's metadata, in JSON: the list has only one item.
const METADATA_LIST: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct List {
    metadata: ListMetadata,
    items: Vec<serde::de::IgnoredAny>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ListMetadata {
    r#continue: String,
    remaining_item_count: Option<u64>,
}

impl Connection {
    /// Counts the objects of a resource in a namespace: reads one, and adds `remainingItemCount`. None if the server
    /// doesn't say. That is no gap, because only a printed number depends on it.
    pub async fn count(&self, resource: &Resource, namespace: &str) -> Option<u64> {
        self.try_count(resource, namespace).await.ok().flatten()
    }

    async fn try_count(&self, resource: &Resource, namespace: &str) -> Result<Option<u64>, Failure> {
        let url = format!("{}?limit=1", path::of_resource(resource, Some(namespace)));
        let answer = self.get(&url, METADATA_LIST).await?;
        let list: List = serde_json::from_slice(&answer.body).map_err(Malformed::from)?;
        let rest = match (list.metadata.remaining_item_count, list.metadata.r#continue.is_empty()) {
            (Some(rest), _) => Some(rest),
            (None, true) => Some(0),
            (None, false) => None,
        };
        Ok(rest.map(|rest| rest + list.items.len() as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::testing::{json, refuse, serve};

    fn events() -> Resource {
        Resource {
            version: "v1".to_owned(),
            plural: "events".to_owned(),
            kind: "Event".to_owned(),
            namespaced: true,
            ..Resource::default()
        }
    }

    async fn count(body: &'static str) -> Option<u64> {
        let connection = serve(move |asked| match asked.url.as_str() {
            "/api/v1/namespaces/shop/events?limit=1" => json(200, body.to_owned()),
            other => panic!("{other}"),
        });
        connection.await.count(&events(), "shop").await
    }

    #[tokio::test]
    async fn one_is_read_and_the_rest_is_told() {
        assert_eq!(
            count(r#"{"metadata":{"continue":"t","remainingItemCount":41},"items":[{"metadata":{}}]}"#).await,
            Some(42)
        );
        assert_eq!(count(r#"{"metadata":{},"items":[{"metadata":{}}]}"#).await, Some(1));
        assert_eq!(count(r#"{"metadata":{}}"#).await, Some(0));
    }

    #[tokio::test]
    async fn what_is_not_told_is_not_made_up() {
        assert_eq!(count(r#"{"metadata":{"continue":"t"},"items":[{"metadata":{}}]}"#).await, None);
        assert_eq!(count("garbage").await, None);
        let forbidden = serve(|_| refuse(403)).await;
        assert_eq!(forbidden.count(&events(), "shop").await, None);
    }
}
