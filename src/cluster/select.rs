//! Finds the objects that match selectors. Only the server can: field selectors differ from kind to kind.

use crate::model::{ResourceId, Resources};

use super::{Connection, answer::Answer, error::ConnectError, path, request::METADATA_LIST};

impl Connection {
    /// The uids of one resource's objects that match the selectors, as the server evaluates them. Without a namespace
    /// (or for a cluster-scoped resource), of all objects.
    ///
    /// # Errors
    /// The list cannot be read; for an invalid selector, with the server's message.
    pub async fn select(
        &self,
        resources: &Resources,
        resource: ResourceId,
        namespace: Option<&str>,
        labels: Option<&str>,
        fields: Option<&str>,
    ) -> Result<Vec<String>, ConnectError> {
        let resource = resources.get(resource);
        let selectors = [("labelSelector", labels), ("fieldSelector", fields)];
        let query: Vec<String> = selectors
            .into_iter()
            .filter_map(|(name, selector)| Some(format!("{name}={}", path::encoded(selector?))))
            .collect();
        let read = |answer: &Answer, uids: &mut Vec<String>| {
            answer.read_list(|object| {
                if !object.uid.is_empty() {
                    uids.push(object.uid.clone().into_owned());
                }
            })
        };
        let url = path::of_resource(resource, namespace);
        match self.get_pages(&url, &query.join("&"), METADATA_LIST, read).await {
            Ok((uids, _)) => Ok(uids),
            Err(failure) => Err(self.connect_error(&failure).unwrap_or_else(|| ConnectError::Refused {
                resource: resource.full_name(),
                reason: failure.in_full(),
            })),
        }
    }
}
