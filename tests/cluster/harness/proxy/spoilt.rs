//! Response bodies that end too early, too late or not at all, or that contain what nobody sent.

use std::{future, time::Duration};

use futures::stream;
use http::{Response, header};
use http_body_util::{BodyExt as _, StreamBody};
use hyper::body::{Bytes, Frame};

use super::counted::{AnyBody, Failure};

/// What happens to a body.
#[derive(Clone, Copy, Debug)]
pub enum Spoilt {
    /// It ends after this many bytes, as if that were all.
    Truncated(usize),
    /// Nothing follows after this many bytes, and the connection stays open.
    Stalled(usize),
    /// It comes in pieces of this many bytes, with this pause before each.
    Dripping(usize, Duration),
    /// These bytes come after this many of its own, or at its end.
    Garbled(usize, &'static [u8]),
    /// Each piece comes twice: of a watch, each event.
    Repeated,
}

/// A response with such a body.
pub fn spoil(mut response: Response<AnyBody>, how: Spoilt) -> Response<AnyBody> {
    if matches!(how, Spoilt::Truncated(_) | Spoilt::Garbled(..)) {
        response.headers_mut().remove(header::CONTENT_LENGTH);
    }
    response.map(|body| {
        let pieces = stream::unfold(Pieces { body, how, passed: 0, waiting: Bytes::new(), again: None }, Pieces::next);
        StreamBody::new(pieces).boxed_unsync()
    })
}

struct Pieces {
    body: AnyBody,
    how: Spoilt,
    /// How many bytes of the body have passed.
    passed: usize,
    /// Bytes that the API server has sent, and that have not passed.
    waiting: Bytes,
    /// What comes a second time now.
    again: Option<Bytes>,
}

impl Pieces {
    async fn next(mut self) -> Option<(Result<Frame<Bytes>, Failure>, Self)> {
        if let Some(piece) = self.again.take() {
            return Some((Ok(Frame::data(piece)), self));
        }
        let mut most = match self.how {
            Spoilt::Truncated(end) | Spoilt::Stalled(end) | Spoilt::Garbled(end, _) => end - self.passed,
            Spoilt::Dripping(size, pause) => {
                tokio::time::sleep(pause).await;
                size
            }
            Spoilt::Repeated => usize::MAX,
        };
        if most > 0 && self.waiting.is_empty() {
            self.waiting = loop {
                match self.body.frame().await {
                    Some(Ok(frame)) => match frame.into_data() {
                        Ok(data) if !data.is_empty() => break data,
                        _ => {}
                    },
                    Some(Err(failure)) => return Some((Err(failure), self)),
                    None if matches!(self.how, Spoilt::Garbled(..)) => {
                        most = 0;
                        break Bytes::new();
                    }
                    None => return None,
                }
            };
        }
        if most == 0 {
            match self.how {
                Spoilt::Stalled(_) => future::pending::<()>().await,
                Spoilt::Garbled(_, bytes) => {
                    // The rest comes as it is.
                    self.how = Spoilt::Dripping(usize::MAX, Duration::ZERO);
                    return Some((Ok(Frame::data(Bytes::from_static(bytes))), self));
                }
                Spoilt::Truncated(_) | Spoilt::Dripping(..) | Spoilt::Repeated => return None,
            }
        }
        let piece = self.waiting.split_to(most.min(self.waiting.len()));
        self.passed += piece.len();
        self.again = matches!(self.how, Spoilt::Repeated).then(|| piece.clone());
        Some((Ok(Frame::data(piece)), self))
    }
}
