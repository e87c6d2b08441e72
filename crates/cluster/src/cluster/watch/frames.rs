//! Splits a watch's stream into events: length-delimited in protobuf, one per line in JSON.

use http::StatusCode;
use serde::Deserialize as _;
use serde_json::Value;

use crate::cluster::{
    answer::{Answer, Malformed, Refusal},
    json::{self, Item},
    protobuf,
};
use gc_core::model::RawObject;

/// The longest accepted frame: no metadata is longer, so don't buffer more.
const LONGEST: usize = 64 << 20;

/// One event of a watch.
#[derive(Debug, PartialEq)]
pub(super) enum Frame<'a> {
    /// The new state of an object: created, changed, or existing at the start.
    There(RawObject<'a>),
    /// The last state of a deleted object.
    Gone(RawObject<'a>),
    /// A bookmark: all changes up to this resourceVersion were sent.
    UpTo(String),
    /// The server ends the watch with a Status.
    Failed(Refusal),
}

/// The unread part of a stream.
pub(super) struct Frames {
    content_type: String,
    protobuf: bool,
    buffer: Vec<u8>,
    /// How many bytes of the buffer were read.
    read: usize,
}

impl Frames {
    /// At the start of a stream.
    pub(super) fn of(content_type: &str) -> Self {
        let protobuf = content_type.starts_with("application/vnd.kubernetes.protobuf");
        Frames { content_type: content_type.to_owned(), protobuf, buffer: Vec::new(), read: 0 }
    }

    /// Appends data of the stream.
    pub(super) fn push(&mut self, data: &[u8]) {
        self.buffer.drain(..self.read);
        self.read = 0;
        self.buffer.extend_from_slice(data);
        // Releases the memory of a large frame.
        self.buffer.shrink_to(64 << 10);
    }

    /// The next complete frame. After an error the stream can't be used any more.
    pub(super) fn next(&mut self) -> Result<Option<Frame<'_>>, Malformed> {
        loop {
            let rest = &self.buffer[self.read..];
            let (start, length) = match self.protobuf {
                true => match rest.split_first_chunk::<4>() {
                    Some((prefix, _)) => (4, u32::from_be_bytes(*prefix) as usize),
                    None => return Ok(None),
                },
                false => match rest.iter().position(|byte| *byte == b'\n') {
                    Some(0) => {
                        self.read += 1;
                        continue;
                    }
                    Some(end) => (0, end),
                    None => (0, rest.len() + 1),
                },
            };
            if length > LONGEST {
                return Err(Malformed::new("a frame of the watch is too long"));
            }
            let from = self.read + start;
            if from + length > self.buffer.len() {
                return Ok(None);
            }
            // Includes the line break after it.
            self.read = from + length + usize::from(!self.protobuf);
            let frame = &self.buffer[from..from + length];
            return if self.protobuf { of_protobuf(frame, &self.content_type) } else { of_json(frame) }.map(Some);
        }
    }
}

/// `WatchEvent`: type 1, object 2 { raw 1 }; the object has its own envelope.
fn of_protobuf<'a>(frame: &'a [u8], content_type: &str) -> Result<Frame<'a>, Malformed> {
    let kind = protobuf::text(protobuf::at(frame, &[1])?.unwrap_or_default())?;
    let object = protobuf::at(frame, &[2, 1])?.unwrap_or_default();
    match kind {
        "ERROR" => {
            let code = protobuf::number(protobuf::open(object)?.raw, 6)?;
            Ok(failed(code, content_type, object.to_vec()))
        }
        kind => {
            let mut read = protobuf::read_object(object)?;
            if kind == "ADDED" {
                read.manager = protobuf::creator(object)?.into();
            }
            describe(kind, read)
        }
    }
}

fn of_json(frame: &[u8]) -> Result<Frame<'static>, Malformed> {
    let event: Value = serde_json::from_slice(frame)?;
    let (kind, object) = (event["type"].as_str().unwrap_or_default(), &event["object"]);
    if kind == "ERROR" {
        return Ok(failed(object["code"].as_i64(), "application/json", object.to_string().into_bytes()));
    }
    let mut read = Item::deserialize(object)?.into_raw()?.into_owned();
    if kind == "ADDED" {
        read.manager = json::creator(object).to_owned().into();
    }
    describe(kind, read)
}

fn describe<'a>(kind: &str, object: RawObject<'a>) -> Result<Frame<'a>, Malformed> {
    match kind {
        "BOOKMARK" => Ok(Frame::UpTo(object.resource_version.into_owned())),
        "ADDED" | "MODIFIED" | "DELETED" if object.uid.is_empty() || object.name.is_empty() => {
            Err(Malformed::new("the watch sent an object without name or uid"))
        }
        "ADDED" | "MODIFIED" => Ok(Frame::There(object)),
        "DELETED" => Ok(Frame::Gone(object)),
        other => Err(Malformed(format!("the watch sent an event of type {other:?}"))),
    }
}

/// Reads a Status as if it were the answer to a request.
fn failed(code: Option<i64>, content_type: &str, body: Vec<u8>) -> Frame<'static> {
    let code = code.and_then(|code| u16::try_from(code).ok()).and_then(|code| StatusCode::from_u16(code).ok());
    let status = code.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let answer = Answer { status, content_type: content_type.to_owned(), body, ..Answer::default() };
    Frame::Failed(answer.refusal())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::cluster::testing::{bytes, varint};

    const PROTOBUF: &str = "application/vnd.kubernetes.protobuf;stream=watch";

    /// An object in its envelope, in a frame with its length prefix.
    fn frame(kind: &str, object_kind: &str, raw: &[u8]) -> Vec<u8> {
        let type_meta = [bytes(1, b"v1"), bytes(2, object_kind.as_bytes())].concat();
        let object = [b"k8s\0".to_vec(), bytes(1, &type_meta), bytes(2, raw)].concat();
        let event = [bytes(1, kind.as_bytes()), bytes(2, &bytes(1, &object))].concat();
        [(event.len() as u32).to_be_bytes().to_vec(), event].concat()
    }

    fn pod(kind: &str, version: &str) -> Vec<u8> {
        let metadata = [bytes(1, b"web"), bytes(3, b"shop"), bytes(5, b"u"), bytes(6, version.as_bytes())].concat();
        frame(kind, "PartialObjectMetadata", &bytes(1, &metadata))
    }

    fn protobuf() -> Vec<u8> {
        let bookmark = frame("BOOKMARK", "PartialObjectMetadata", &bytes(1, &bytes(6, b"9")));
        let status = [bytes(2, b"Failure"), bytes(3, b"too old resource version"), varint(6, 410)].concat();
        [pod("ADDED", "7"), pod("DELETED", "8"), bookmark, frame("ERROR", "Status", &status)].concat()
    }

    fn json() -> Vec<u8> {
        let pod = |kind, version| {
            format!(
                r#"{{"type":"{kind}","object":{{"metadata":{{"name":"web","namespace":"shop","uid":"u","resourceVersion":"{version}"}}}}}}"#
            )
        };
        let rest = r#"{"type":"BOOKMARK","object":{"kind":"Pod","metadata":{"resourceVersion":"9"}}}
{"type":"ERROR","object":{"kind":"Status","message":"too old resource version","code":410}}
"#;
        format!("{}\n\n{}\n{rest}", pod("ADDED", 7), pod("DELETED", 8)).into_bytes()
    }

    /// The events read from a stream that arrives in pieces of this size.
    fn read(content_type: &str, stream: &[u8], piece: usize) -> Result<Vec<String>, Malformed> {
        let mut frames = Frames::of(content_type);
        let mut describe = Vec::new();
        for piece in stream.chunks(piece) {
            frames.push(piece);
            while let Some(frame) = frames.next()? {
                describe.push(match frame {
                    Frame::There(object) => {
                        format!("there {}/{} {}", object.namespace, object.name, object.resource_version)
                    }
                    Frame::Gone(object) => {
                        format!("gone {}/{} {}", object.namespace, object.name, object.resource_version)
                    }
                    Frame::UpTo(version) => format!("up to {version}"),
                    Frame::Failed(refusal) => refusal.to_string(),
                });
            }
        }
        Ok(describe)
    }

    #[test]
    fn streams_are_read_in_whatever_pieces_they_come() {
        for (content_type, stream) in [(PROTOBUF, protobuf()), ("application/json;stream=watch", json())] {
            for piece in [1, 2, 3, 7, 64, 10_000] {
                let describe = read(content_type, &stream, piece).unwrap();
                let expected = ["there shop/web 7", "gone shop/web 8", "up to 9", "410 Gone: too old resource version"];
                assert_eq!(describe, expected, "{content_type} in pieces of {piece}");
            }
        }
    }

    /// The first state of an object names the manager that created it; writes to a subresource come later.
    #[test]
    fn a_created_object_names_its_manager() {
        let entry = |manager: &[u8], more: &[u8]| bytes(17, &[bytes(1, manager), more.to_vec()].concat());
        let metadata = [bytes(1, b"web"), bytes(5, b"u"), entry(b"kubelet", &bytes(8, b"status")), entry(b"acme", b"")];
        let raw = bytes(1, &metadata.concat());
        let stream = [frame("ADDED", "PartialObjectMetadata", &raw), frame("MODIFIED", "PartialObjectMetadata", &raw)];
        let object = r#"{"metadata":{"name":"web","uid":"u","managedFields":[{"manager":"kubelet",
            "subresource":"status"},{"manager":"acme"}]}}"#;
        let json = ["ADDED", "MODIFIED"].map(|kind| format!(r#"{{"type":"{kind}","object":{object}}}"#));
        let json = json.map(|line| line.replace('\n', "") + "\n").concat().into_bytes();
        for (content_type, stream) in [(PROTOBUF, stream.concat()), ("application/json", json)] {
            let mut frames = Frames::of(content_type);
            frames.push(&stream);
            for expected in ["acme", ""] {
                let Some(Frame::There(object)) = frames.next().unwrap() else { panic!("{content_type}") };
                assert_eq!(object.manager, expected, "{content_type}");
            }
        }
        assert_eq!(json::creator(&Value::Null), "");
    }

    /// A watch lasts for hours, so its buffer must not grow.
    #[test]
    fn what_was_read_is_not_kept() {
        let mut frames = Frames::of("application/json");
        let line = json().split_inclusive(|byte| *byte == b'\n').next().unwrap().to_vec();
        for _ in 0..1000 {
            frames.push(&line);
            assert!(frames.next().unwrap().is_some());
        }
        assert_eq!(frames.buffer.len(), line.len());
    }

    #[test]
    fn what_is_no_frame_is_an_error() {
        let long = [u32::MAX.to_be_bytes().to_vec(), vec![0; 9]].concat();
        assert!(read(PROTOBUF, &long, 64).is_err());
        let errors = [
            r#"{"type":"ADDED","object":{"metadata":{"name":"web"}}}"#,
            r#"{"type":"SWAPPED","object":{"metadata":{"name":"web","uid":"u"}}}"#,
            r#"{"type":"ADDED"}"#,
            "<html>",
        ];
        for error in errors {
            assert!(read("application/json", format!("{error}\n").as_bytes(), 64).is_err(), "{error}");
        }
    }

    #[test]
    fn a_status_without_a_code_is_a_failure() {
        let describe =
            read("application/json", b"{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\"}}\n", 64).unwrap();
        assert_eq!(describe, ["500 Internal Server Error"]);
    }

    proptest! {
        #[test]
        fn random_bytes_never_panic(noise in proptest::collection::vec(any::<u8>(), 0..400), piece in 1usize..50) {
            let _ = read(PROTOBUF, &noise, piece);
            let _ = read("application/json", &noise, piece);
            let length = [(noise.len() as u32).to_be_bytes().to_vec(), noise.clone()].concat();
            let _ = read(PROTOBUF, &length, piece);
        }

        #[test]
        fn damaged_streams_never_panic(cut in 0usize..900, flip in 0usize..900, to in any::<u8>()) {
            for (content_type, mut stream) in [(PROTOBUF, protobuf()), ("application/json", json())] {
                if let Some(byte) = stream.get_mut(flip) {
                    *byte = to;
                }
                stream.truncate(cut);
                let _ = read(content_type, &stream, 64);
            }
        }
    }
}
