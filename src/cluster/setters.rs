//! Who set the finalizers of objects. Lists don't tell without telling far more: what all their objects' fields were
//! written by.

use futures::StreamExt as _;
use serde_json::Value;

use crate::model::{
    ObjectId, Snapshot,
    facts::{Setter, read_setters},
    gaps::Gaps,
};

use super::{
    Connection,
    answer::{Answer, Malformed},
    look_up::AT_ONCE,
    named::Named,
    request::METADATA_IN_JSON,
};

impl Connection {
    /// Reads who set the finalizers of these objects into the snapshot, as far as that is not known yet: one request
    /// each. What can't be read stays unknown and becomes a gap; so does what is not the same object any more.
    pub async fn fetch_setters(&self, snapshot: &mut Snapshot, objects: &[ObjectId]) {
        let mut wanted: Vec<ObjectId> =
            objects.iter().copied().filter(|id| snapshot.facts.setters(*id).is_none()).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let requests: Vec<Named> = wanted.into_iter().map(|id| Named::of(snapshot, id)).collect();
        let mut answers = futures::stream::iter(requests)
            .map(async |named| {
                let read = self.get_named(&named, METADATA_IN_JSON, read).await;
                (named, read)
            })
            .buffer_unordered(AT_ONCE);
        let mut gaps = Gaps::default();
        while let Some((named, read)) = answers.next().await {
            match read {
                Ok(setters) => snapshot.facts.insert_setters(named.object, setters),
                Err(reason) => named.missing(reason, &mut gaps),
            }
        }
        gaps.record(snapshot);
    }
}

/// An object's uid, and who set its finalizers: nobody, where the server keeps no managed fields of it.
fn read(answer: &Answer) -> Result<(String, Vec<Setter>), Malformed> {
    let object: Value = serde_json::from_slice(&answer.body)?;
    let metadata = object.get("metadata").and_then(Value::as_object);
    let uid = metadata.and_then(|metadata| metadata.get("uid")?.as_str());
    Ok((uid.unwrap_or_default().to_owned(), metadata.and_then(read_setters).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        cluster::testing::{json, pods, refuse, serve},
        model::{Origin, RawObject, ResourceId, Resources, SnapshotBuilder},
    };

    #[tokio::test]
    async fn each_object_is_asked_for_once() {
        let connection = serve(|asked| {
            assert_eq!(asked.before, 0, "{}", asked.url);
            assert!(asked.accept.starts_with("application/json;as=PartialObjectMetadata;"), "{}", asked.accept);
            let metadata = |uid: &str, more: &str| json(200, format!(r#"{{"metadata":{{"uid":"{uid}"{more}}}}}"#));
            match asked.url.strip_prefix("/api/v1/namespaces/shop/pods/").unwrap_or_default() {
                "noted" => metadata(
                    "u-noted",
                    r#","managedFields":[{"manager":"acme","time":"2026-01-31T08:00:00Z",
                    "fieldsV1":{"f:metadata":{"f:finalizers":{"v:\"acme.io/x\"":{}}}}}]"#,
                ),
                "nobody" => metadata("u-nobody", ""),
                "replaced" => metadata("another", ""),
                "gone" => refuse(404),
                "secret" => refuse(403),
                "garbage" => json(200, "garbage"),
                other => panic!("{other}"),
            }
        });
        let mut builder =
            SnapshotBuilder::new(Origin::Dump { paths: Vec::new() }, Resources::new(vec![pods()], Vec::new()));
        let ids = ["noted", "nobody", "replaced", "gone", "secret", "garbage", "asked-for-by-nobody"].map(|name| {
            let uid = format!("u-{name}");
            let object =
                RawObject { namespace: "shop".into(), name: name.into(), uid: uid.into(), ..RawObject::default() };
            builder.add(ResourceId(0), &object)
        });
        let mut snapshot = builder.build();
        let connection = connection.await;
        connection.fetch_setters(&mut snapshot, &[&ids[..6], &ids[..6]].concat()).await;
        let setter =
            Setter { finalizer: "acme.io/x".to_owned(), manager: "acme".to_owned(), time: Some(1_769_846_400) };
        assert_eq!(snapshot.facts.setters(ids[0]), Some(&[setter][..]));
        assert_eq!(snapshot.facts.setters(ids[1]), Some(&[][..]));
        assert!(ids[2..].iter().all(|id| snapshot.facts.setters(*id).is_none()));
        let gaps: Vec<String> = snapshot.gaps.iter().map(ToString::to_string).collect();
        assert_eq!(
            gaps,
            [
                "pods in namespace shop (garbage: unreadable answer: expected value at line 1 column 1)",
                "pods in namespace shop (gone, replaced: gone since it was listed)",
                "pods in namespace shop (secret: forbidden)"
            ]
        );
        // What is known is not asked for again.
        connection.fetch_setters(&mut snapshot, &ids[..2]).await;
    }
}
