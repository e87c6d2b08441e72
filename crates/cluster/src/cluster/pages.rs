//! Reading a list page by page; what only the server selects of one; and how long one is.

use http::StatusCode;
use serde_json::Value;

use crate::bounded;
use gc_core::model::{Resource, ResourceId, Resources};

use super::{
    Connection,
    answer::{Answer, Malformed, Page},
    early::{EarlyLists, Get},
    error::{ConnectError, Failure},
    path,
    request::{LARGEST_LIST, METADATA_LIST},
};

/// The size of the first page, as in kubectl: most lists are shorter.
const FIRST_PAGE: usize = 500;
/// The size of the following pages. Each page takes a round trip, and the pages of one list can't be requested in
/// parallel. Still larger pages gain little, and take memory on both sides.
const NEXT_PAGES: usize = 2000;
/// A list of more than two pages is read in one piece, if no more objects than this follow its first page: the API
/// server has them in its cache, whereas it reads each further page, and its whole objects, from etcd. Larger lists
/// are read in pages, for the server's memory.
const MOST_AT_ONCE: u64 = 100_000;
/// The most that all pages of a list may have, in bytes: etcd doesn't hold more (`--quota-backend-bytes`).
const LONGEST_LIST: u64 = if cfg!(test) { 8 << 20 } else { 8 << 30 };
/// The most pages that a list may have: empty ones have an end, too. Full ones have 16 million objects.
const MOST_PAGES: u64 = 8192;

/// A list that is read one page after another.
pub(super) struct Pages<'p> {
    path: &'p str,
    query: &'p str,
    accept: &'static str,
    paged: bool,
    next: Option<String>,
    /// The size of the pages so far.
    bytes: u64,
    /// The number of the pages so far.
    read: u64,
    /// Whether to read the whole at once was tried.
    is_in_pages: bool,
    early: Option<&'p EarlyLists>,
}

impl<'p> Pages<'p> {
    /// Requests nothing yet.
    pub(super) fn of(path: &'p str, query: &'p str, accept: &'static str) -> Self {
        Pages { path, query, accept, paged: true, next: None, bytes: 0, read: 0, is_in_pages: false, early: None }
    }

    /// The same, with the first page from here, if it was asked for already.
    pub(super) fn early(self, early: &'p EarlyLists) -> Self {
        Pages { early: Some(early), ..self }
    }

    /// The request for the whole list, if that is better than further pages after this one.
    pub(super) fn whole(&self, page: &Page) -> Option<String> {
        let is_first = !self.is_in_pages && self.next.is_none();
        let is_better = page.remaining.is_some_and(|more| more > NEXT_PAGES as u64 && more <= MOST_AT_ONCE);
        if !is_first || !is_better || page.resource_version.is_empty() {
            return None;
        }
        let (path, version) = (self.path, path::encoded(&page.resource_version));
        let query = if self.query.is_empty() { String::new() } else { format!("{}&", self.query) };
        Some(format!("{path}?{query}resourceVersion={version}&resourceVersionMatch=NotOlderThan"))
    }

    /// The request for the first page of a list.
    pub(super) fn first(path: &str, accept: &'static str) -> Get {
        (Pages::of(path, "", accept).url(), accept)
    }

    fn url(&self) -> String {
        let mut url = format!("{}?{}", self.path, self.query);
        if self.paged {
            let size = if self.next.is_none() { FIRST_PAGE } else { NEXT_PAGES };
            url.push_str(&format!("{}limit={size}", if self.query.is_empty() { "" } else { "&" }));
        }
        if let Some(token) = &self.next {
            url.push_str("&continue=");
            url.push_str(&path::encoded(token));
        }
        url
    }

    /// Requests the next page; `None` if the list has to be restarted, which discards the pages so far.
    pub(super) async fn get(&mut self, connection: &Connection) -> Result<Option<Answer>, Failure> {
        let get = (self.url(), self.accept);
        let tried = match self.early.take() {
            Some(early) => early.take(&get, connection).await,
            None => None,
        };
        match connection.get_up_to(LARGEST_LIST, tried, &get.0, self.accept).await {
            // The continue token expired while reading. A list in one piece needs no token.
            Err(failure) if self.next.is_some() && failure.status() == Some(StatusCode::GONE) => {
                (self.paged, self.next, self.bytes, self.read) = (false, None, 0, 0);
                Ok(None)
            }
            answer => {
                let answer = answer?;
                self.bytes += answer.body.len() as u64;
                self.read += 1;
                if self.bytes > LONGEST_LIST {
                    return Err(Failure::Malformed(format!("the list is larger than {}", bounded::size(LONGEST_LIST))));
                }
                if self.read > MOST_PAGES {
                    return Err(Failure::Malformed(format!("the list has more than {MOST_PAGES} pages")));
                }
                Ok(Some(answer))
            }
        }
    }

    /// Forgets the pages so far. What follows is read in pages.
    pub(super) fn begin_anew(&mut self) {
        (self.next, self.bytes, self.is_in_pages) = (None, 0, true);
    }

    /// Takes the metadata of the last page. Returns the list's resourceVersion if there are no more pages.
    pub(super) fn after(&mut self, page: Page) -> Result<Option<String>, Failure> {
        // The same token again would make an endless loop.
        if page.next.is_some() && page.next == self.next {
            return Err(Failure::Malformed("the list does not advance".to_owned()));
        }
        self.next = page.next;
        Ok(self.next.is_none().then_some(page.resource_version))
    }
}

impl Connection {
    /// GETs a list page by page, and collects what `read` takes from each. Returns that, and the list's
    /// resourceVersion. If the list has to be restarted, what was collected so far is discarded.
    pub(super) async fn get_pages<T: Default>(
        &self,
        path: &str,
        query: &str,
        accept: &'static str,
        mut read: impl FnMut(&Answer, &mut T) -> Result<Page, Malformed>,
    ) -> Result<(T, String), Failure> {
        let mut pages = Pages::of(path, query, accept);
        let mut found = T::default();
        loop {
            match pages.get(self).await? {
                Some(answer) => {
                    let page = read(&answer, &mut found)?;
                    if let Some(version) = pages.after(page)? {
                        return Ok((found, version));
                    }
                }
                None => found = T::default(),
            }
        }
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

/// A list's metadata, in JSON: the list has only one item.
const METADATA_OF_ONE: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";

impl Connection {
    /// Counts the objects of a resource in a namespace: reads one, and adds `remainingItemCount`. None if the server
    /// doesn't say. That is no gap, because only a printed number depends on it.
    pub async fn count(&self, resource: &Resource, namespace: &str) -> Option<u64> {
        self.try_count(resource, namespace).await.ok().flatten()
    }

    async fn try_count(&self, resource: &Resource, namespace: &str) -> Result<Option<u64>, Failure> {
        let url = format!("{}?limit=1", path::of_resource(resource, Some(namespace)));
        let answer = self.get(&url, METADATA_OF_ONE).await?;
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
    use crate::cluster::{
        request::JSON,
        testing::{RecordedRequest, Say, json, refuse, serve},
    };

    use super::*;

    /// The size of a page, in bytes.
    const PAGE: usize = 1_000_000;

    /// One page of a list without end, with so many blanks in it.
    fn page(asked: &RecordedRequest, blanks: usize) -> Say {
        let next = asked.url.split("continue=").nth(1).and_then(|token| token.parse().ok()).unwrap_or(0) + 1;
        let metadata = format!(r#"{{"resourceVersion":"1","continue":"{next}"}}"#);
        json(200, format!(r#"{{"metadata":{metadata},"items":[]{}}}"#, " ".repeat(blanks)))
    }

    /// robustness input: lists of pages of {PAGE} bytes and of empty pages without end, and an answer that is too large
    ///   | each | a gap that says so
    #[tokio::test]
    #[ignore = "long: reads 8,192 pages"]
    async fn a_list_without_end_is_a_failure() {
        let list = async |connection: Connection| {
            let read = |answer: &Answer, (): &mut ()| answer.read_list(|_| ());
            connection.get_pages("/api/v1/pods", "", JSON, read).await.unwrap_err().to_string()
        };
        assert_eq!(
            list(serve(|asked| page(asked, PAGE)).await).await,
            "unreadable answer: the list is larger than 8Mi"
        );
        let empty = list(serve(|asked| page(asked, 0)).await).await;
        assert_eq!(empty, "unreadable answer: the list has more than 8192 pages");
        let large = |_: &RecordedRequest| json(200, " ".repeat(65 << 20));
        assert_eq!(list(serve(large).await).await, "unreadable answer: it is larger than 64Mi");
    }

    fn events() -> Resource {
        Resource::named("", "v1", "events", "Event")
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
