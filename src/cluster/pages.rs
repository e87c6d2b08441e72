//! Reading a list page by page.

use http::StatusCode;

use super::{
    Connection,
    answer::{Answer, Malformed, Page},
    failure::Failure,
    path,
};

/// How many objects to ask for at first, like kubectl: most lists are shorter.
const FIRST_PAGE: usize = 500;
/// How many more at a time where a list turns out to be long. Each page is a way there and back, and nothing of one
/// list can be asked for before the last page is there. Still larger pages gain little, and take memory on both sides.
const NEXT_PAGES: usize = 2000;

/// Takes the pages of a list.
pub(super) trait TakePages {
    /// Reads one page.
    fn page(&mut self, answer: &Answer) -> Result<Page, Malformed>;
    /// What came so far is void: the list begins anew.
    fn restart(&mut self);
}

/// A list that is being read, one page after the other.
pub(super) struct Pages<'p> {
    path: &'p str,
    query: &'p str,
    accept: &'p str,
    paged: bool,
    next: Option<String>,
}

impl<'p> Pages<'p> {
    /// Nothing is asked yet.
    pub(super) fn of(path: &'p str, query: &'p str, accept: &'p str) -> Self {
        Pages { path, query, accept, paged: true, next: None }
    }

    /// The next page; `None` if what came so far is void, and the list begins anew with what is asked for next.
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
            // The token has expired while the list was being read. The whole list at once can't.
            Err(failure) if self.next.is_some() && failure.status() == Some(StatusCode::GONE) => {
                (self.paged, self.next) = (false, None);
                Ok(None)
            }
            answer => answer.map(Some),
        }
    }

    /// Takes what the page said that was read last. Returns the list's resourceVersion if there are no more.
    pub(super) fn after(&mut self, page: Page) -> Result<Option<String>, Failure> {
        // A server that gave the same token for ever would be followed for ever.
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
