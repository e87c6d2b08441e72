//! Response bodies that record how much of them is sent.

use std::{
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll},
};

use http::{Response, header};
use http_body_util::{BodyExt as _, combinators::UnsyncBoxBody};
use hyper::body::{Body, Bytes, Frame, SizeHint};

use super::Request;

pub type Failure = Box<dyn std::error::Error + Send + Sync>;
pub type AnyBody = UnsyncBoxBody<Bytes, Failure>;

/// A request whose response may still be incomplete.
pub type Entry = Arc<Mutex<Request>>;

/// Records the response with its request. Breaks the connection after `left` bytes of the body, if given.
pub fn count(response: Response<AnyBody>, entry: Entry, left: Option<u64>) -> Response<AnyBody> {
    let length = response.headers().get(header::CONTENT_LENGTH);
    let length = length.and_then(|value| value.to_str().ok()?.parse().ok()).or(response.body().size_hint().exact());
    {
        let mut request = entry.lock().unwrap();
        request.status = Some(response.status().as_u16());
        request.finished = length == Some(0);
    }
    response.map(|inner| Counted { inner, entry, left, length }.boxed_unsync())
}

/// A body that records how much of it is sent, and fails after `left` bytes.
struct Counted {
    inner: AnyBody,
    entry: Entry,
    left: Option<u64>,
    /// If the length is known, the server stops polling after that many bytes, so only the count shows the end.
    length: Option<u64>,
}

impl Body for Counted {
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        if self.left == Some(0) {
            return Poll::Ready(Some(Err("the test's proxy breaks the connection here".into())));
        }
        let polled = Pin::new(&mut self.inner).poll_frame(context);
        let Poll::Ready(Some(Ok(frame))) = polled else {
            if matches!(polled, Poll::Ready(None)) {
                self.entry.lock().unwrap().finished = true;
            }
            return polled;
        };
        let frame = match (frame.into_data(), self.left) {
            (Ok(data), Some(left)) => {
                Frame::data(data.slice(..data.len().min(usize::try_from(left).unwrap_or(usize::MAX))))
            }
            (Ok(data), None) => Frame::data(data),
            (Err(other), _) => other,
        };
        let bytes = frame.data_ref().map_or(0, |data| data.len() as u64);
        self.left = self.left.map(|left| left - bytes);
        {
            let mut request = self.entry.lock().unwrap();
            request.response_bytes += bytes;
            request.finished = self.length == Some(request.response_bytes);
        }
        Poll::Ready(Some(Ok(frame)))
    }

    fn is_end_stream(&self) -> bool {
        self.left.is_none() && self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
