//! Counts objects without listing them.

use serde_json::Value;

use crate::model::Resource;

use super::{Connection, answer::Malformed, failure::Failure, path};

/// A list's metadata, in JSON: the list has only one item.
const METADATA_LIST: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";

impl Connection {
    /// Counts the objects of a resource in a namespace: reads one, and adds `remainingItemCount`. None if the server
    /// doesn't say. That is no gap, because only a printed number depends on it.
    pub async fn count(&self, resource: &Resource, namespace: &str) -> Option<u64> {
        self.try_count(resource, namespace).await.ok().flatten()
    }

    async fn try_count(&self, resource: &Resource, namespace: &str) -> Result<Option<u64>, Failure> {
        let url = format!("{}?limit=1", path::of_resource(resource, Some(namespace)));
        let answer = self.get(&url, METADATA_LIST).await?;
        let list: Value = serde_json::from_slice(&answer.body).map_err(Malformed::from)?;
        if !list["metadata"].is_object() {
            return Ok(None);
        }
        let read = list["items"].as_array().map_or(0, Vec::len) as u64;
        let is_all = list["metadata"]["continue"].as_str().is_none_or(str::is_empty);
        let rest = list["metadata"]["remainingItemCount"].as_u64().or(is_all.then_some(0));
        Ok(rest.map(|rest| rest + read))
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
        for no_list in ["garbage", "[]", r#"{"items":[{}]}"#] {
            assert_eq!(count(no_list).await, None, "{no_list}");
        }
        let forbidden = serve(|_| refuse(403)).await;
        assert_eq!(forbidden.count(&events(), "shop").await, None);
    }
}
