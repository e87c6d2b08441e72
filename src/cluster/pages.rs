//! Reading a list page by page.

use http::StatusCode;

use crate::bounded;

use super::{
    Connection,
    answer::{Answer, Malformed, Page},
    early::{EarlyLists, Get},
    failure::Failure,
    path,
    request::LARGEST_LIST,
};

/// The size of the first page, as in kubectl: most lists are shorter.
const FIRST_PAGE: usize = 500;
/// The size of the following pages. Each page takes a round trip, and the pages of one list can't be requested in
/// parallel. Still larger pages gain little, and take memory on both sides.
const NEXT_PAGES: usize = 2000;
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
    early: Option<&'p EarlyLists>,
}

impl<'p> Pages<'p> {
    /// Requests nothing yet.
    pub(super) fn of(path: &'p str, query: &'p str, accept: &'static str) -> Self {
        Pages { path, query, accept, paged: true, next: None, bytes: 0, read: 0, early: None }
    }

    /// The same, with the first page from here, if it was asked for already.
    pub(super) fn early(self, early: &'p EarlyLists) -> Self {
        Pages { early: Some(early), ..self }
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
            Some(early) => early.take(&get, &*connection.progress).await,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::{
        request::JSON,
        testing::{RecordedRequest, Say, json, serve},
    };

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
}
