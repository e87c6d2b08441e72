//! Kubernetes' protobuf answers, read field by field from the wire: unneeded fields are skipped, and kept ones borrow
//! from the body. The field numbers are those of the published `.proto` files.

use std::borrow::Cow;

use prost::encoding::{DecodeContext, WireType, decode_key, decode_varint, skip_field};
use serde_json::{Map, Value as Json};

use gc_core::model::{
    RawObject, RawReference,
    effects::{Spared, TRACKING_ID, application_named},
};

use super::{
    answer::{LARGEST_ANSWER, Malformed, Page},
    json,
};

/// The first bytes of every protobuf body of the API server.
const MAGIC: &[u8] = b"k8s\0";

/// One field's content. Fixed-width numbers don't occur in the messages read here, and are skipped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
    Skipped,
}

/// The fields of one message, in wire order. Ends after an error.
pub(super) struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    pub(super) fn of(message: &'a [u8]) -> Self {
        Fields { rest: message }
    }

    fn read(&mut self) -> Result<(u32, Value<'a>), Malformed> {
        let (tag, wire_type) = decode_key(&mut self.rest)?;
        let value = match wire_type {
            WireType::Varint => Value::Number(decode_varint(&mut self.rest)?),
            WireType::LengthDelimited => {
                let length = usize::try_from(decode_varint(&mut self.rest)?).ok();
                let (bytes, rest) =
                    length.and_then(|length| self.rest.split_at_checked(length)).ok_or_else(too_long)?;
                self.rest = rest;
                Value::Bytes(bytes)
            }
            other => {
                skip_field(other, tag, &mut self.rest, DecodeContext::default())?;
                Value::Skipped
            }
        };
        Ok((tag, value))
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(u32, Value<'a>), Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let field = self.read();
        if field.is_err() {
            self.rest = &[];
        }
        Some(field)
    }
}

/// All occurrences of one field of bytes (strings and messages).
pub(super) fn all(message: &[u8], wanted: u32) -> impl Iterator<Item = Result<&[u8], Malformed>> {
    Fields::of(message).filter_map(move |field| match field {
        Ok((tag, Value::Bytes(bytes))) if tag == wanted => Some(Ok(bytes)),
        Ok(_) => None,
        Err(error) => Some(Err(error)),
    })
}

/// The message or string at a path of field numbers; the last one if there are several.
pub(super) fn at<'a>(message: &'a [u8], path: &[u32]) -> Result<Option<&'a [u8]>, Malformed> {
    let mut found = message;
    for tag in path {
        match all(found, *tag).last().transpose()? {
            Some(bytes) => found = bytes,
            None => return Ok(None),
        }
    }
    Ok(Some(found))
}

/// What is read of a message: of each field its number, its name in JSON, and its type. All else is skipped.
pub(super) type Field = (u32, &'static str, Read);

/// The type of a field.
pub(super) enum Read {
    Text,
    Number,
    Flag,
    Time,
    /// A map of texts.
    Texts,
    One(&'static [Field]),
    Many(&'static [Field]),
    /// A message whose fields JSON has in the place of the message.
    Inline(&'static [Field]),
}

/// A message as JSON has it. The server writes unset texts as empty ones.
pub(super) fn decoded(message: &[u8], fields: &[Field]) -> Result<Map<String, Json>, Malformed> {
    let mut object = Map::new();
    decode(message, fields, &mut object)?;
    Ok(object)
}

fn decode(message: &[u8], fields: &[Field], into: &mut Map<String, Json>) -> Result<(), Malformed> {
    for field in Fields::of(message) {
        let (tag, value) = field?;
        let Some((_, name, read)) = fields.iter().find(|(number, ..)| *number == tag) else { continue };
        let value = match (read, value) {
            (Read::Number, Value::Number(number)) => Json::from(number as i64),
            (Read::Flag, Value::Number(flag)) => Json::from(flag != 0),
            (Read::Text, Value::Bytes([])) => continue,
            (Read::Text, Value::Bytes(bytes)) => Json::from(text(bytes)?),
            (Read::Time, Value::Bytes(time)) => {
                let time = jiff::Timestamp::from_second(number(time, 1)?.unwrap_or_default());
                time.map_or(Json::Null, |time| Json::from(time.to_string()))
            }
            (Read::One(fields), Value::Bytes(message)) => decoded(message, fields)?.into(),
            (Read::Many(fields), Value::Bytes(message)) => {
                let next = decoded(message, fields)?.into();
                if let Json::Array(all) = into.entry(*name).or_insert_with(|| Json::Array(Vec::new())) {
                    all.push(next);
                }
                continue;
            }
            (Read::Texts, Value::Bytes(entry)) => {
                let text = |field| text_at(entry, &[field]).map(Option::unwrap_or_default);
                into.entry(*name).or_insert_with(|| Json::Object(Map::new()))[text(1)?] = Json::from(text(2)?);
                continue;
            }
            (Read::Inline(fields), Value::Bytes(message)) => {
                decode(message, fields, into)?;
                continue;
            }
            _ => continue,
        };
        into.insert((*name).to_owned(), value);
    }
    Ok(())
}

/// The string at a path of field numbers.
pub(super) fn text_at(message: &[u8], path: &[u32]) -> Result<Option<String>, Malformed> {
    at(message, path)?.map(|bytes| text(bytes).map(str::to_owned)).transpose()
}

/// The number in a field of a message.
pub(super) fn number(message: &[u8], wanted: u32) -> Result<Option<i64>, Malformed> {
    let mut found = None;
    for field in Fields::of(message) {
        if let (tag, Value::Number(number)) = field?
            && tag == wanted
        {
            found = Some(number as i64);
        }
    }
    Ok(found)
}

pub(super) fn text(bytes: &[u8]) -> Result<&str, Malformed> {
    std::str::from_utf8(bytes).map_err(|_| Malformed::new("a string is not UTF-8"))
}

/// A body without its envelope (`runtime.Unknown`: typeMeta 1 { apiVersion 1, kind 2 }, raw 2).
pub(super) struct Envelope<'a> {
    pub api_version: &'a str,
    pub kind: &'a str,
    pub raw: &'a [u8],
}

/// The apiVersion and kind in the envelope of a body.
pub(super) fn type_meta(body: &[u8]) -> Result<(String, String), Malformed> {
    let Envelope { api_version, kind, .. } = open(body)?;
    Ok((api_version.to_owned(), kind.to_owned()))
}

/// Removes the envelope of a body.
pub(super) fn open(body: &[u8]) -> Result<Envelope<'_>, Malformed> {
    let unknown = body.strip_prefix(MAGIC).ok_or_else(|| Malformed::new("not a Kubernetes protobuf body"))?;
    Ok(Envelope {
        api_version: text(at(unknown, &[1, 1])?.unwrap_or_default())?,
        kind: text(at(unknown, &[1, 2])?.unwrap_or_default())?,
        raw: at(unknown, &[2])?.ok_or_else(|| Malformed::new("the protobuf envelope is empty"))?,
    })
}

/// Reads a list item by item: any kind of list whose metadata is field 1 and whose items are field 2, with metadata as
/// field 1, as `PartialObjectMetadataList` and all generated lists have it.
pub(super) fn read_list<'a>(body: &'a [u8], each: &mut impl FnMut(&RawObject<'a>)) -> Result<Page, Malformed> {
    let mut object = RawObject::default();
    read_items(body, |item| {
        metadata(at(item, &[1])?.unwrap_or_default(), &mut object)?;
        each(&object);
        Ok(())
    })
}

/// Passes on the items of a list one by one, undecoded.
pub(super) fn read_items<'a>(
    body: &'a [u8],
    mut each: impl FnMut(&'a [u8]) -> Result<(), Malformed>,
) -> Result<Page, Malformed> {
    let mut reader = ListReader::default();
    let read = reader.take(body, &mut each)?;
    reader.rest = body[read..].to_vec();
    reader.end()
}

/// Reads a list as [`read_list`] does, whose body comes in pieces.
#[derive(Default)]
pub(super) struct ListReader {
    place: Place,
    kind: String,
    page: Page,
    /// The beginning of a field of which the rest is still to come.
    rest: Vec<u8>,
}

/// Where in a body a reader is.
#[derive(Default)]
enum Place {
    #[default]
    Magic,
    Envelope,
    /// In the list, of which so many bytes are still to come.
    List(usize),
    /// Behind the list.
    End,
}

impl ListReader {
    /// Reads the next piece: passes on the metadata of the items that it completes.
    pub(super) fn feed(&mut self, piece: &[u8], each: &mut impl FnMut(&RawObject<'_>)) -> Result<(), Malformed> {
        let mut held = std::mem::take(&mut self.rest);
        held.extend_from_slice(piece);
        let mut object = RawObject::default();
        let read = self.take(&held, &mut |item| {
            metadata(at(item, &[1])?.unwrap_or_default(), &mut object)?;
            each(&object);
            Ok(())
        })?;
        held.drain(..read);
        if held.len() > LARGEST_ANSWER {
            return Err(Malformed::new("an item is larger than any object"));
        }
        self.rest = held;
        Ok(())
    }

    /// What the list says of itself. A body that ends too early is an error.
    pub(super) fn end(self) -> Result<Page, Malformed> {
        match self.place {
            Place::Magic => Err(Malformed::new("not a Kubernetes protobuf body")),
            Place::Envelope if self.rest.is_empty() => Err(Malformed::new("the protobuf envelope is empty")),
            Place::End if self.rest.is_empty() => Ok(self.page),
            Place::Envelope | Place::List(_) | Place::End => Err(too_long()),
        }
    }

    /// Reads as far as there are whole fields. Returns how many bytes that are.
    fn take<'a>(
        &mut self,
        bytes: &'a [u8],
        each: &mut impl FnMut(&'a [u8]) -> Result<(), Malformed>,
    ) -> Result<usize, Malformed> {
        let mut rest = bytes;
        loop {
            match self.place {
                Place::Magic if rest.len() < MAGIC.len() => break,
                Place::Magic => {
                    rest = rest.strip_prefix(MAGIC).ok_or_else(|| Malformed::new("not a Kubernetes protobuf body"))?;
                    self.place = Place::Envelope;
                }
                Place::Envelope => {
                    let Some(Head { tag, length, size }) = Head::of(rest)? else { break };
                    if tag == 2 && self.kind.ends_with("List") {
                        (rest, self.place) = (&rest[size..], Place::List(length));
                        continue;
                    }
                    let Some(value) = rest.get(size..size.saturating_add(length)) else { break };
                    match tag {
                        1 => self.kind = text_at(value, &[2])?.unwrap_or_default(),
                        2 => return Err(Malformed(format!("a {} instead of a list", self.kind))),
                        _ => {}
                    }
                    rest = &rest[size + length..];
                }
                Place::List(0) => self.place = Place::End,
                Place::List(left) => {
                    let Some(Head { tag, length, size }) = Head::of(&rest[..rest.len().min(left)])? else { break };
                    let whole = size.saturating_add(length);
                    if whole > left {
                        return Err(too_long());
                    }
                    let Some(value) = rest.get(size..whole) else { break };
                    match tag {
                        // ListMeta: resourceVersion 2, continue 3, remainingItemCount 4.
                        1 => {
                            self.page = Page {
                                resource_version: text_at(value, &[2])?.unwrap_or_default(),
                                next: text_at(value, &[3])?.filter(|token| !token.is_empty()),
                                remaining: number(value, 4)?.and_then(|number| u64::try_from(number).ok()),
                            };
                        }
                        2 => each(value)?,
                        _ => {}
                    }
                    (rest, self.place) = (&rest[whole..], Place::List(left - whole));
                }
                Place::End => {
                    let Some(Head { length, size, .. }) = Head::of(rest)? else { break };
                    let Some(after) = rest.get(size.saturating_add(length)..) else { break };
                    rest = after;
                }
            }
        }
        Ok(bytes.len() - rest.len())
    }
}

/// The beginning of a field.
struct Head {
    tag: u32,
    /// The length of its value.
    length: usize,
    /// The length of what stands before its value.
    size: usize,
}

impl Head {
    /// The longest: two numbers of ten bytes.
    const LONGEST: usize = 20;

    /// That of the first field; `None` if more bytes are needed to tell.
    fn of(bytes: &[u8]) -> Result<Option<Self>, Malformed> {
        let mut rest = bytes;
        let mut read = || {
            let (tag, wire_type) = decode_key(&mut rest)?;
            let length = match wire_type {
                WireType::LengthDelimited => decode_varint(&mut rest)?,
                other => {
                    skip_field(other, tag, &mut rest, DecodeContext::default())?;
                    0
                }
            };
            Ok::<_, prost::DecodeError>((tag, length))
        };
        match read() {
            Ok((tag, length)) => {
                let length = usize::try_from(length).map_err(|_| too_long())?;
                Ok(Some(Head { tag, length, size: bytes.len() - rest.len() }))
            }
            Err(_) if bytes.len() < Self::LONGEST => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

fn too_long() -> Malformed {
    Malformed::new("a field is longer than the message it is in")
}

/// Reads one object of any kind whose metadata is field 1.
pub(super) fn read_object(body: &[u8]) -> Result<RawObject<'_>, Malformed> {
    let mut object = RawObject::default();
    metadata(at(open(body)?.raw, &[1])?.unwrap_or_default(), &mut object)?;
    Ok(object)
}

/// The field manager that created an object; empty if it has none.
pub(super) fn creator(body: &[u8]) -> Result<String, Malformed> {
    const ENTRIES: &[Field] =
        &[(17, "managedFields", Read::Many(&[(1, "manager", Read::Text), (8, "subresource", Read::Text)]))];
    let object = decoded(open(body)?.raw, &[(1, "metadata", Read::One(ENTRIES))])?;
    Ok(json::creator(&Json::Object(object)).to_owned())
}

/// Reads an `ObjectMeta` into `object`: replaces its content and reuses its allocations.
pub(super) fn metadata<'a>(bytes: &'a [u8], object: &mut RawObject<'a>) -> Result<(), Malformed> {
    object.finalizers.clear();
    object.owners.clear();
    object.labels.clear();
    *object = RawObject {
        finalizers: std::mem::take(&mut object.finalizers),
        owners: std::mem::take(&mut object.owners),
        labels: std::mem::take(&mut object.labels),
        ..RawObject::default()
    };
    for field in Fields::of(bytes) {
        match field? {
            (1, Value::Bytes(name)) => object.name = Cow::Borrowed(text(name)?),
            (3, Value::Bytes(namespace)) => object.namespace = Cow::Borrowed(text(namespace)?),
            (5, Value::Bytes(uid)) => object.uid = Cow::Borrowed(text(uid)?),
            (6, Value::Bytes(version)) => object.resource_version = Cow::Borrowed(text(version)?),
            (8, Value::Bytes(time)) => object.created = seconds(time)?,
            // The presence of a deletion time counts, even if it is zero seconds.
            (9, Value::Bytes(time)) => object.deleted = Some(number(time, 1)?.unwrap_or(0)),
            (10, Value::Number(grace)) => object.grace = Some(grace as i64),
            (11, Value::Bytes(entry)) => {
                let (key, value) = (at(entry, &[1])?.unwrap_or_default(), at(entry, &[2])?.unwrap_or_default());
                object.labels.push((Cow::Borrowed(text(key)?), Cow::Borrowed(text(value)?)));
            }
            (12, Value::Bytes(entry)) => {
                let key = text(at(entry, &[1])?.unwrap_or_default())?;
                let value = || text(at(entry, &[2])?.unwrap_or_default());
                if Spared::is_said_by(key) {
                    object.spared.heed(key, value()?);
                } else if key == TRACKING_ID {
                    object.tracked_by = Cow::Borrowed(application_named(value()?));
                }
            }
            (13, Value::Bytes(owner)) => object.owners.push(reference(owner)?),
            (14, Value::Bytes(finalizer)) => object.finalizers.push(Cow::Borrowed(text(finalizer)?)),
            _ => {}
        }
    }
    Ok(())
}

/// The server writes an unset creation time as an empty `Time`, or one of zero seconds.
fn seconds(time: &[u8]) -> Result<Option<i64>, Malformed> {
    Ok(number(time, 1)?.filter(|seconds| *seconds != 0))
}

fn reference(bytes: &[u8]) -> Result<RawReference<'_>, Malformed> {
    let mut reference = RawReference::default();
    for field in Fields::of(bytes) {
        match field? {
            (1, Value::Bytes(kind)) => reference.kind = Cow::Borrowed(text(kind)?),
            (3, Value::Bytes(name)) => reference.name = Cow::Borrowed(text(name)?),
            (4, Value::Bytes(uid)) => reference.uid = Cow::Borrowed(text(uid)?),
            (5, Value::Bytes(api_version)) => reference.api_version = Cow::Borrowed(text(api_version)?),
            (6, Value::Number(controller)) => reference.controller = Some(controller != 0),
            (7, Value::Number(block)) => reference.block_owner_deletion = Some(block != 0),
            _ => {}
        }
    }
    Ok(reference)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{
        allocations::allocated_for_each,
        cluster::testing::{bytes, serving, varint},
    };
    use gc_core::model::ResourceId;

    fn envelope(kind: &str, raw: &[u8]) -> Vec<u8> {
        let type_meta = [bytes(1, b"meta.k8s.io/v1"), bytes(2, kind.as_bytes())].concat();
        [MAGIC.to_vec(), bytes(1, &type_meta), bytes(2, raw)].concat()
    }

    /// A list of one terminating pod, with all fields that are kept and some that aren't.
    fn list() -> Vec<u8> {
        let owner = [
            bytes(1, b"ReplicaSet"),
            bytes(3, b"web"),
            bytes(4, b"owner-uid"),
            bytes(5, b"apps/v1"),
            varint(6, 1),
            varint(7, 0),
        ]
        .concat();
        let metadata = [
            bytes(1, b"web-1"),
            bytes(2, b"web-"),
            bytes(3, b"shop"),
            bytes(5, b"uid-1"),
            bytes(6, b"42"),
            varint(7, 3),
            bytes(8, &varint(1, 1_700_000_000)),
            bytes(9, &varint(1, 1_700_000_030)),
            varint(10, 30),
            bytes(11, &[bytes(1, b"app"), bytes(2, b"web")].concat()),
            bytes(11, &bytes(1, b"empty")),
            bytes(12, &[bytes(1, b"note"), bytes(2, b"skipped")].concat()),
            bytes(13, &owner),
            bytes(14, b"acme.io/drain"),
            bytes(14, b"orphan"),
            bytes(17, b"managed fields, not looked into"),
        ]
        .concat();
        let second = [bytes(1, b"web-2"), bytes(5, b"uid-2"), bytes(8, b"")].concat();
        let meta = [bytes(2, b"77"), bytes(3, b"next-page"), varint(4, 5)].concat();
        let raw = [bytes(1, &meta), bytes(2, &bytes(1, &metadata)), bytes(2, &bytes(1, &second))].concat();
        envelope("PartialObjectMetadataList", &raw)
    }

    #[test]
    fn a_list_is_read_item_by_item() {
        let body = list();
        let mut seen = Vec::new();
        let page = read_list(&body, &mut |object| seen.push(object.clone())).unwrap();
        assert_eq!((page.resource_version.as_str(), page.next.as_deref()), ("77", Some("next-page")));
        let [first, second] = seen.as_slice() else { panic!("two items") };
        assert_eq!(
            (&*first.namespace, &*first.name, &*first.uid, &*first.resource_version),
            ("shop", "web-1", "uid-1", "42")
        );
        assert_eq!((first.created, first.deleted, first.grace), (Some(1_700_000_000), Some(1_700_000_030), Some(30)));
        assert_eq!(first.finalizers, ["acme.io/drain", "orphan"]);
        assert_eq!(first.labels, [("app".into(), "web".into()), ("empty".into(), "".into())]);
        let owner = &first.owners[0];
        assert_eq!(
            (&*owner.api_version, &*owner.kind, &*owner.name, &*owner.uid),
            ("apps/v1", "ReplicaSet", "web", "owner-uid")
        );
        assert_eq!(
            (owner.controller, owner.block_owner_deletion),
            (Some(true), Some(false)),
            "unset and false are kept apart"
        );
        // The second item contains nothing from the first.
        assert_eq!((&*second.namespace, &*second.name), ("", "web-2"));
        assert_eq!((second.created, second.deleted, second.grace), (None, None, None));
        assert!(second.owners.is_empty() && second.labels.is_empty() && second.finalizers.is_empty());
    }

    /// So many pods with a label, an owner and a finalizer.
    fn pods(number: usize) -> Vec<u8> {
        let items = (0..number).map(|number| {
            let of_set = number / 10;
            let owner = [
                bytes(1, b"ReplicaSet"),
                bytes(3, format!("web-{of_set}").as_bytes()),
                bytes(4, &uid(of_set)),
                bytes(5, b"apps/v1"),
                varint(6, 1),
                varint(7, 1),
            ]
            .concat();
            let metadata = [
                bytes(1, format!("web-{of_set}-{number}").as_bytes()),
                bytes(3, b"shop"),
                bytes(5, &uid(number)),
                bytes(6, number.to_string().as_bytes()),
                bytes(8, &varint(1, 1_700_000_000)),
                bytes(11, &[bytes(1, b"app"), bytes(2, b"web")].concat()),
                bytes(13, &owner),
                bytes(14, b"acme.io/drain"),
            ]
            .concat();
            bytes(2, &bytes(1, &metadata))
        });
        let raw: Vec<u8> = items.flatten().collect();
        envelope("PartialObjectMetadataList", &raw)
    }

    fn uid(number: usize) -> Vec<u8> {
        format!("{number:08x}-4d3c-4e1b-9d1f-{number:012x}").into_bytes()
    }

    /// A large cluster has a million of them. Ten share a list of owners.
    #[test]
    fn an_object_of_a_list_costs_little_memory() {
        let lists = [1000, 5000].map(pods);
        let read = |number: usize| {
            let body = if number == 1000 { &lists[0] } else { &lists[1] };
            let mut builder = serving([crate::cluster::testing::pods()]);
            read_list(body, &mut |object| {
                builder.add(ResourceId(0), object);
            })
            .unwrap();
            assert_eq!(builder.build().len(), number);
        };
        let (times, bytes) = allocated_for_each(1000, 5000, read);
        assert!(times <= 0.11 && bytes <= 606.0, "{times} allocations of {bytes} bytes for each object");
    }

    #[test]
    fn one_object_is_read() {
        let body = envelope("PartialObjectMetadata", &bytes(1, &[bytes(1, b"n"), bytes(5, b"u")].concat()));
        let object = read_object(&body).unwrap();
        assert_eq!((&*object.name, &*object.uid), ("n", "u"));
    }

    #[test]
    fn what_is_no_list_is_an_error() {
        assert!(read_list(b"", &mut |_| ()).is_err());
        assert!(read_list(b"{}", &mut |_| ()).is_err());
        let error = read_list(&envelope("Status", b""), &mut |_| ()).unwrap_err();
        assert_eq!(error.to_string(), "a Status instead of a list");
    }

    proptest! {
        #[test]
        fn random_bytes_never_panic(noise in proptest::collection::vec(any::<u8>(), 0..400)) {
            let _ = read_list(&noise, &mut |_| ());
            let _ = read_list(&envelope("PodList", &noise), &mut |_| ());
            let _ = read_list(&envelope("PodList", &bytes(2, &bytes(1, &noise))), &mut |_| ());
            let _ = read_object(&envelope("Pod", &noise));
        }

        #[test]
        fn damaged_lists_never_panic(cut in 0usize..600, flip in 0usize..600, to in any::<u8>()) {
            let mut body = list();
            if let Some(byte) = body.get_mut(flip) {
                *byte = to;
            }
            body.truncate(cut);
            let _ = read_list(&body, &mut |_| ());
        }

        #[test]
        fn a_truncated_list_is_never_taken_for_a_whole_one(cut in 0usize..400) {
            let body = list();
            prop_assume!(cut < body.len());
            prop_assert!(read_list(&body[..cut], &mut |_| ()).is_err());
        }

        #[test]
        fn a_list_in_pieces_is_read_as_the_whole(size in 1usize..400, cut in 0usize..600) {
            let body = list();
            let (mut of_whole, mut in_pieces) = (Vec::new(), Vec::new());
            let page = read_list(&body, &mut |object| of_whole.push(object.clone())).unwrap();
            let mut reader = ListReader::default();
            for piece in body[..cut.min(body.len())].chunks(size) {
                reader.feed(piece, &mut |object| in_pieces.push(object.clone().into_owned())).unwrap();
            }
            match cut < body.len() {
                true => prop_assert!(reader.end().is_err()),
                false => prop_assert_eq!((reader.end().unwrap(), in_pieces), (page, of_whole)),
            }
        }
    }
}
