//! Reading a list page by page.

use http::StatusCode;

use super::{
    Connection,
    answer::{Answer, Malformed, Page},
    failure::Failure,
    path,
};

/// The size of the first page, as in kubectl: most lists are shorter.
const FIRST_PAGE: usize = 500;
/// The size of the following pages. Each page takes a round trip, and the pages of one list can't be requested in
/// parallel. Still larger pages gain little, and take memory on both sides.
const NEXT_PAGES: usize = 2000;

/// Receives the pages of a list.
pub(super) trait TakePages {
    /// Reads one page.
    fn page(&mut self, answer: &Answer) -> Result<Page, Malformed>;
    /// Discards the pages so far: the list is restarted.
    fn restart(&mut self);
}

/// A list that is read one page after another.
pub(super) struct Pages<'p> {
    path: &'p str,
    query: &'p str,
    accept: &'p str,
    paged: bool,
    next: Option<String>,
}

impl<'p> Pages<'p> {
    /// Requests nothing yet.
    pub(super) fn of(path: &'p str, query: &'p str, accept: &'p str) -> Self {
        Pages { path, query, accept, paged: true, next: None }
    }

    /// Requests the next page; `None` if the list has to be restarted, which discards the pages so far.
    pub(super) async fn get(&mut self, connection: &Connection) -> Result<Option<Answer>, Failure> {
        let mut url = format!("{}?{}", self.path, self.query);
        if self.paged {
            let size = if self.next.is_none() { FIRST_PAGE } else { NEXT_PAGES };
            url.push_str(&format!("{}limit={size}", if self.query.is_empty() { "" } else { "&" }));
        }
        if let Some(token) = &self.next {
            url.push_str("&continue=");
            url.push_str(&path::encoded(token));
        }
        match connection.get(&url, self.accept).await {
            // The continue token expired while reading. A list in one piece needs no token.
            Err(failure) if self.next.is_some() && failure.status() == Some(StatusCode::GONE) => {
                (self.paged, self.next) = (false, None);
                Ok(None)
            }
            answer => answer.map(Some),
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
    /// GETs a list page by page. Returns its resourceVersion.
    pub(super) async fn get_pages(
        &self,
        path: &str,
        query: &str,
        accept: &str,
        taker: &mut (dyn TakePages + Send),
    ) -> Result<String, Failure> {
        let mut pages = Pages::of(path, query, accept);
        loop {
            match pages.get(self).await? {
                Some(answer) => {
                    let page = taker.page(&answer)?;
                    if let Some(version) = pages.after(page)? {
                        return Ok(version);
                    }
                }
                None => taker.restart(),
            }
        }
    }
}
