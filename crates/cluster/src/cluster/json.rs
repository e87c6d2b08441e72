//! Lists and objects in JSON, for servers without protobuf.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};

use gc_core::model::{
    RawObject, RawReference,
    effects::{Spared, TRACKING_ID, application_named},
    facts::unix_seconds,
};

use super::answer::{Malformed, Page};

/// Reads a list item by item.
pub(super) fn read_list<'a>(body: &'a [u8], each: &mut impl FnMut(&RawObject<'a>)) -> Result<Page, Malformed> {
    read_items(body, &mut |item: Item<'a>| {
        each(&item.into_raw()?);
        Ok(())
    })
}

/// Reads a list of whole objects item by item: calls `each` with the metadata and the whole object.
pub(super) fn read_whole_list(
    body: &[u8],
    each: &mut impl FnMut(&RawObject<'_>, &serde_json::Value),
) -> Result<Page, Malformed> {
    read_items(body, &mut |whole: serde_json::Value| {
        each(&Item::deserialize(&whole)?.into_raw()?, &whole);
        Ok(())
    })
}

/// Passes on the items of a list one by one, deserialized as `T`.
pub(super) fn read_items<'a, T: Deserialize<'a>>(
    body: &'a [u8],
    each: &mut impl FnMut(T) -> Result<(), Malformed>,
) -> Result<Page, Malformed> {
    let list: List<'a, T> = serde_json::from_slice(body)?;
    if let Some(Text(kind)) = list.kind.filter(|Text(kind)| !kind.ends_with("List")) {
        return Err(Malformed(format!("a {kind} instead of a list")));
    }
    // Every API server writes the items of an empty list, too. What has none is another document.
    let items = list.items.ok_or_else(|| Malformed::new("not a list"))?;
    items.into_iter().flatten().try_for_each(each)?;
    Ok(list.metadata.unwrap_or_default().into())
}

/// A list, with items of any kind.
#[derive(Deserialize)]
#[serde(bound(deserialize = "T: Deserialize<'de>"))]
struct List<'a, T> {
    #[serde(borrow, default)]
    kind: Option<Text<'a>>,
    #[serde(default)]
    metadata: Option<ListMeta>,
    /// An empty list may be null.
    #[serde(default, deserialize_with = "given")]
    items: Option<Option<Vec<T>>>,
}

/// Tells a field that is null from one that is missing.
fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// Reads one object.
pub(super) fn read_object(body: &[u8]) -> Result<RawObject<'_>, Malformed> {
    serde_json::from_slice::<Item<'_>>(body)?.into_raw()
}

/// The apiVersion and kind of a document; empty if it doesn't say.
pub(super) fn type_meta(body: &[u8]) -> Result<(String, String), Malformed> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct TypeMeta {
        api_version: Option<String>,
        kind: Option<String>,
    }
    let TypeMeta { api_version, kind } = serde_json::from_slice(body)?;
    Ok((api_version.unwrap_or_default(), kind.unwrap_or_default()))
}

/// The metadata of a list or a Table.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct ListMeta {
    resource_version: Option<String>,
    #[serde(rename = "continue")]
    next: Option<String>,
    remaining_item_count: Option<u64>,
}

impl From<ListMeta> for Page {
    fn from(meta: ListMeta) -> Self {
        Page {
            resource_version: meta.resource_version.unwrap_or_default(),
            next: meta.next.filter(|token| !token.is_empty()),
            remaining: meta.remaining_item_count,
        }
    }
}

/// A string that borrows from the body unless it has escapes. (`Cow` by itself does so only as a direct field.)
#[derive(Default, Deserialize)]
#[serde(transparent)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// An object of which only the metadata is read.
#[derive(Deserialize)]
pub(super) struct Item<'a> {
    #[serde(borrow, default)]
    metadata: Option<Metadata<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Metadata<'a> {
    #[serde(borrow)]
    name: Option<Text<'a>>,
    #[serde(borrow)]
    namespace: Option<Text<'a>>,
    #[serde(borrow)]
    uid: Option<Text<'a>>,
    #[serde(borrow)]
    resource_version: Option<Text<'a>>,
    #[serde(borrow)]
    creation_timestamp: Option<Text<'a>>,
    #[serde(borrow)]
    deletion_timestamp: Option<Text<'a>>,
    deletion_grace_period_seconds: Option<i64>,
    #[serde(borrow)]
    labels: Option<Pairs<'a>>,
    #[serde(borrow)]
    annotations: Option<Pairs<'a>>,
    #[serde(borrow)]
    owner_references: Option<Vec<Owner<'a>>>,
    #[serde(borrow)]
    finalizers: Option<Vec<Text<'a>>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Owner<'a> {
    #[serde(borrow)]
    api_version: Text<'a>,
    #[serde(borrow)]
    kind: Text<'a>,
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    uid: Text<'a>,
    controller: Option<bool>,
    block_owner_deletion: Option<bool>,
}

/// Labels or annotations, in their order.
struct Pairs<'a>(Vec<(Cow<'a, str>, Cow<'a, str>)>);

impl<'de: 'a, 'a> Deserialize<'de> for Pairs<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OfMap;

        impl<'de> Visitor<'de> for OfMap {
            type Value = Pairs<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("names with texts")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs<'de>, A::Error> {
                let mut pairs = Vec::with_capacity(map.size_hint().unwrap_or(0));
                while let Some((key, value)) = map.next_entry::<Text<'de>, Option<Text<'de>>>()? {
                    pairs.push((key.0, value.unwrap_or_default().0));
                }
                Ok(Pairs(pairs))
            }
        }

        deserializer.deserialize_map(OfMap)
    }
}

impl<'a> Item<'a> {
    pub(super) fn into_raw(self) -> Result<RawObject<'a>, Malformed> {
        let metadata = self.metadata.unwrap_or_default();
        let text = |text: Option<Text<'a>>| text.unwrap_or_default().0;
        let owners = metadata.owner_references.into_iter().flatten().map(|owner| RawReference {
            api_version: owner.api_version.0,
            kind: owner.kind.0,
            name: owner.name.0,
            uid: owner.uid.0,
            controller: owner.controller,
            block_owner_deletion: owner.block_owner_deletion,
        });
        let (mut spared, mut tracked_by) = (Spared::default(), Cow::default());
        for (key, value) in metadata.annotations.iter().flat_map(|annotations| &annotations.0) {
            if Spared::is_said_by(key) {
                spared.heed(key, value);
            } else if key == TRACKING_ID {
                tracked_by = Cow::Owned(application_named(value).to_owned());
            }
        }
        let time =
            |time: Text<'_>| unix_seconds(&time.0).ok_or_else(|| Malformed(format!("{:?} is not a time", time.0)));
        Ok(RawObject {
            namespace: text(metadata.namespace),
            name: text(metadata.name),
            uid: text(metadata.uid),
            resource_version: text(metadata.resource_version),
            created: metadata.creation_timestamp.map(time).transpose()?,
            deleted: metadata.deletion_timestamp.map(time).transpose()?,
            grace: metadata.deletion_grace_period_seconds,
            finalizers: metadata.finalizers.into_iter().flatten().map(|finalizer| finalizer.0).collect(),
            owners: owners.collect(),
            labels: metadata.labels.map(|labels| labels.0).unwrap_or_default(),
            spared,
            tracked_by,
            ..RawObject::default()
        })
    }
}

/// The field manager that created an object, from the `managedFields` of its first state; empty if it has none.
pub(super) fn creator(object: &serde_json::Value) -> &str {
    let mut entries = object["metadata"]["managedFields"].as_array().into_iter().flatten();
    let first = entries.find(|entry| entry["subresource"].as_str().is_none_or(str::is_empty));
    first.and_then(|entry| entry["manager"].as_str()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LIST: &str = r#"{
        "kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1",
        "metadata": {"resourceVersion": "77", "continue": "next-page", "remainingItemCount": 5},
        "items": [
            {"kind": "PartialObjectMetadata", "metadata": {
                "name": "web-1", "namespace": "shop", "uid": "uid-1", "resourceVersion": "42", "generation": 3,
                "creationTimestamp": "2023-11-14T22:13:20Z", "deletionTimestamp": "2023-11-14T22:13:50Z",
                "deletionGracePeriodSeconds": 30, "labels": {"app": "we\u0062", "empty": null},
                "annotations": {"note": "skipped"}, "managedFields": [{"manager": "x"}],
                "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "owner-uid",
                                     "controller": true, "blockOwnerDeletion": false}],
                "finalizers": ["acme.io/drain", "orphan"]}, "spec": {"ignored": [1, 2]}},
            {"metadata": {"name": "web-2", "uid": "uid-2", "creationTimestamp": null, "labels": null,
                          "finalizers": null}}
        ]}"#;

    fn read(body: &str) -> Result<(Page, Vec<RawObject<'_>>), Malformed> {
        let mut seen = Vec::new();
        let page = read_list(body.as_bytes(), &mut |object| seen.push(object.clone()))?;
        Ok((page, seen))
    }

    #[test]
    fn a_list_is_read_item_by_item() {
        let (page, seen) = read(LIST).unwrap();
        assert_eq!((page.resource_version.as_str(), page.next.as_deref()), ("77", Some("next-page")));
        let [first, second] = seen.as_slice() else { panic!("two items") };
        assert_eq!(
            (&*first.namespace, &*first.name, &*first.uid, &*first.resource_version),
            ("shop", "web-1", "uid-1", "42")
        );
        assert!(matches!(first.name, Cow::Borrowed(_)), "names are not copied");
        assert_eq!((first.created, first.deleted, first.grace), (Some(1_700_000_000), Some(1_700_000_030), Some(30)));
        assert_eq!(first.finalizers, ["acme.io/drain", "orphan"]);
        assert!(matches!(first.finalizers[0], Cow::Borrowed(_)));
        assert_eq!(first.labels, [("app".into(), "web".into()), ("empty".into(), "".into())]);
        let owner = &first.owners[0];
        assert_eq!(
            (&*owner.api_version, &*owner.kind, &*owner.name, &*owner.uid),
            ("apps/v1", "ReplicaSet", "web", "owner-uid")
        );
        assert_eq!((owner.controller, owner.block_owner_deletion), (Some(true), Some(false)));
        assert_eq!((&*second.name, second.created, second.owners.len()), ("web-2", None, 0));
    }

    #[test]
    fn whole_items_have_the_same_metadata() {
        let (page, seen) = read(LIST).unwrap();
        let mut whole = Vec::new();
        let whole_page = read_whole_list(LIST.as_bytes(), &mut |object, item| {
            whole.push((format!("{object:?}"), item["spec"]["ignored"][1].as_i64()));
        });
        assert_eq!(whole_page.unwrap(), page);
        assert_eq!(whole, [(format!("{:?}", seen[0]), Some(2)), (format!("{:?}", seen[1]), None)]);
    }

    #[test]
    fn empty_lists_have_many_spellings() {
        for body in
            [r#"{"kind":"XList","items":null}"#, r#"{"items":[]}"#, r#"{"kind":"XList","metadata":null,"items":[]}"#]
        {
            assert_eq!(read(body).unwrap().1.len(), 0, "{body}");
        }
    }

    #[test]
    fn what_is_no_list_is_an_error() {
        for body in [
            "",
            "[]",
            "{}",
            "null",
            r#"{"kind":"Status"}"#,
            r#"{"kind":"XList"}"#,
            r#"{"kind":"XList","items":{}}"#,
            r#"{"kind":"XList","items":[]} x"#,
        ] {
            assert!(read(body).is_err(), "{body}");
        }
        let time = r#"{"kind":"XList","items":[{"metadata":{"deletionTimestamp":"yesterday"}}]}"#;
        assert_eq!(read(time).unwrap_err().to_string(), "\"yesterday\" is not a time");
    }

    #[test]
    fn one_object_is_read() {
        let object = read_object(br#"{"kind":"PartialObjectMetadata","metadata":{"name":"n","uid":"u"}}"#).unwrap();
        assert_eq!((&*object.name, &*object.uid), ("n", "u"));
    }

    proptest! {
        #[test]
        fn damaged_lists_never_panic(cut in 0usize..1200, flip in 0usize..1200, to in any::<u8>()) {
            let mut body = LIST.as_bytes().to_vec();
            if let Some(byte) = body.get_mut(flip) {
                *byte = to;
            }
            body.truncate(cut);
            let _ = read_list(&body, &mut |_| ());
        }

        #[test]
        fn a_truncated_list_is_never_taken_for_a_whole_one(cut in 0usize..1200) {
            prop_assume!(cut < LIST.len());
            prop_assert!(read_list(&LIST.as_bytes()[..cut], &mut |_| ()).is_err());
        }
    }
}
