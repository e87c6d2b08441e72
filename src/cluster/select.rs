//! Finds the objects that match selectors. Only the server can: field selectors differ from kind to kind.

use crate::model::{ResourceId, Resources};

use super::{
    Connection,
    answer::{Answer, Malformed, Page},
    error::ConnectError,
    pages::TakePages,
    path,
    request::METADATA_LIST,
};

#[derive(Default)]
struct Uids(Vec<String>);

impl TakePages for Uids {
    fn page(&mut self, answer: &Answer) -> Result<Page, Malformed> {
        answer.read_list(|object| {
            if !object.uid.is_empty() {
                self.0.push(object.uid.clone().into_owned());
            }
        })
    }

    fn restart(&mut self) {
        self.0.clear();
    }
}

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
        let mut uids = Uids::default();
        let url = path::of_resource(resource, namespace);
        match self.get_pages(&url, &query.join("&"), METADATA_LIST, &mut uids).await {
            Ok(_) => Ok(uids.0),
            Err(failure) => Err(self.connect_error(&failure).unwrap_or_else(|| ConnectError::Refused {
                resource: resource.full_name(),
                reason: failure.in_full(),
            })),
        }
    }
}
