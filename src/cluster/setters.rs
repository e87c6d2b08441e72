//! Reads who set the finalizers of objects. Lists could only include this with all managed fields of all objects.

use serde_json::Value;

use crate::model::{
    ObjectId, Snapshot,
    facts::{Setter, read_setters},
};

use super::{
    Connection,
    answer::{Answer, Malformed},
    get_object::{ask_each, learn_each},
    request::METADATA_IN_JSON,
};

impl Connection {
    /// Reads who set the finalizers of these objects into the snapshot, unless known: one request each. If an object
    /// can't be read or was replaced, that stays unknown and a gap is recorded.
    pub async fn fetch_setters(&self, snapshot: &mut Snapshot, objects: &[ObjectId]) {
        let mut wanted: Vec<ObjectId> =
            objects.iter().copied().filter(|id| snapshot.facts.setters(*id).is_none()).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let asked = &*snapshot;
        let ask = async |id| (id, self.get_same(asked, id, METADATA_IN_JSON, |answer, _| read(answer)).await);
        let answers = ask_each(wanted, ask).await;
        learn_each(snapshot, answers, |snapshot, id, setters| snapshot.facts.insert_setters(id, setters));
    }
}

/// Who set an object's finalizers; empty if the server has no managed fields for it.
fn read(answer: &Answer) -> Result<Vec<Setter>, Malformed> {
    let object: Value = serde_json::from_slice(&answer.body)?;
    Ok(object.get("metadata").and_then(Value::as_object).and_then(read_setters).unwrap_or_default())
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
            let name = asked.url.strip_prefix("/api/v1/namespaces/shop/pods/").unwrap_or_default();
            let metadata = |uid: &str, more: &str| {
                let metadata = format!(r#"{{"name":"{name}","namespace":"shop","uid":"{uid}"{more}}}"#);
                let body = format!(r#"{{"apiVersion":"v1","kind":"Pod","metadata":{metadata}}}"#);
                json(200, body)
            };
            match name {
                "noted" => metadata(
                    "u-noted",
                    r#","managedFields":[{"manager":"acme","time":"2026-01-31T08:00:00Z",
                    "fieldsV1":{"f:metadata":{"f:finalizers":{"v:\"acme.io/x\"":{}}}}}]"#,
                ),
                "nobody" => metadata("u-nobody", ""),
                "replaced" => metadata("another", ""),
                "gone" => json(404, r#"{"kind":"Status","details":{"name":"gone","kind":"pods"}}"#),
                "unserved" => refuse(404),
                "secret" => refuse(403),
                "garbage" => json(200, "garbage"),
                other => panic!("{other}"),
            }
        });
        let mut builder =
            SnapshotBuilder::new(Origin::Dump { paths: Vec::new() }, Resources::new(vec![pods()], Vec::new()));
        let ids =
            ["noted", "nobody", "replaced", "gone", "unserved", "secret", "garbage", "not-asked-for"].map(|name| {
                let uid = format!("u-{name}");
                let object =
                    RawObject { namespace: "shop".into(), name: name.into(), uid: uid.into(), ..RawObject::default() };
                builder.add(ResourceId(0), &object)
            });
        let mut snapshot = builder.build();
        let connection = connection.await;
        connection.fetch_setters(&mut snapshot, &[&ids[..7], &ids[..7]].concat()).await;
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
                "pods in namespace shop (gone, replaced: deleted since it was listed)",
                "pods in namespace shop (secret: forbidden)",
                "pods in namespace shop (unserved: no longer served (404 Not Found))"
            ]
        );
        // Known setters are not requested again.
        connection.fetch_setters(&mut snapshot, &ids[..2]).await;
    }
}
