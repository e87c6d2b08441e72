//! Reads whole objects, with every field that the API server returns. An object that can't be read is never taken as
//! gone.

use futures::StreamExt as _;
use serde_json::Value;

use crate::model::{ObjectId, RawObject, Resource, Snapshot};

use super::{
    Connection,
    answer::{Answer, Malformed},
    get_object::{AT_ONCE, Current},
    json, path,
    request::JSON,
};

/// The result of reading a whole object of a snapshot.
#[derive(Clone, Debug, PartialEq)]
pub enum Whole {
    /// The whole object.
    Object(Box<Value>),
    /// The API server says that the object no longer exists: none has its name, or another object does.
    Gone,
    /// Why it can't be read.
    Unreadable(String),
}

impl Connection {
    /// GETs each of these objects and passes it to `each` with all its fields, in their order.
    ///
    /// # Errors
    /// The first error of `each`; nothing is read after that.
    pub async fn fetch_whole<E>(
        &self,
        snapshot: &Snapshot,
        objects: &[ObjectId],
        mut each: impl FnMut(ObjectId, Whole) -> Result<(), E>,
    ) -> Result<(), E> {
        let requests = futures::stream::iter(objects.iter().copied());
        let mut answers = requests.map(async |id| (id, self.whole(snapshot, id).await)).buffered(AT_ONCE);
        while let Some((id, whole)) = answers.next().await {
            each(id, whole)?;
        }
        Ok(())
    }

    async fn whole(&self, snapshot: &Snapshot, id: ObjectId) -> Whole {
        let read =
            |answer: &Answer, _: RawObject<'_>| Ok(Whole::Object(Box::new(serde_json::from_slice(&answer.body)?)));
        match self.get_current(snapshot, id, JSON, read).await {
            Ok(Current::Same(whole)) => whole,
            Ok(Current::Replaced(_) | Current::Gone) => Whole::Gone,
            Err(failure) => Whole::Unreadable(failure.in_full()),
        }
    }

    /// Lists the whole objects of a resource in a namespace, for resources that no snapshot contains.
    ///
    /// # Errors
    /// Outer: why they can't be listed. Inner: the first error of `each`. Some objects may have been passed on by then,
    /// and if the list had to be restarted, some more than once: the receiver recognizes them by their uids.
    pub async fn list_whole<E: Send>(
        &self,
        resource: &Resource,
        namespace: &str,
        each: &mut (dyn FnMut(Value) -> Result<(), E> + Send),
    ) -> Result<Result<(), E>, String> {
        let url = path::of_resource(resource, Some(namespace));
        let mut failed = None;
        let read = |answer: &Answer, (): &mut ()| {
            json::read_items(&answer.body, &mut |mut value: Value| {
                name_kind(&mut value, resource);
                each(value).map_err(|error| {
                    failed = Some(error);
                    Malformed::new("it could not be taken")
                })
            })
        };
        let read = self.get_pages(&url, "", JSON, read).await;
        match (failed, read) {
            (Some(error), _) => Ok(Err(error)),
            (None, Ok(_)) => Ok(Ok(())),
            (None, Err(failure)) => Err(failure.in_full()),
        }
    }
}

/// Adds apiVersion and kind, which the items of a list may leave out.
fn name_kind(value: &mut Value, resource: &Resource) {
    if let Some(object) = value.as_object_mut() {
        object.entry("apiVersion").or_insert_with(|| resource.api_version().into());
        object.entry("kind").or_insert_with(|| resource.kind.clone().into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        cluster::testing::{json, pods, refuse, serve},
        model::{Origin, RawObject, ResourceId, Resources, SnapshotBuilder},
    };

    fn listed(names: &[&str]) -> (Snapshot, Vec<ObjectId>) {
        let mut builder =
            SnapshotBuilder::new(Origin::Dump { paths: Vec::new() }, Resources::new(vec![pods()], Vec::new()));
        let mut add = |name: &str| {
            let uid = format!("u-{name}").into();
            builder.add(
                ResourceId(0),
                &RawObject { name: name.to_owned().into(), namespace: "shop".into(), uid, ..RawObject::default() },
            )
        };
        let ids = names.iter().map(|name| add(name)).collect();
        (builder.build(), ids)
    }

    fn pod(name: &str, uid: &str) -> String {
        format!(
            r#"{{"apiVersion":"v1","kind":"Pod",
            "metadata":{{"name":"{name}","namespace":"shop","uid":"{uid}","managedFields":[{{}}]}},"spec":{{"odd":[1.5,null,{{"deep":{{}}}}]}},"more":"x"}}"#
        )
    }

    #[tokio::test]
    async fn only_what_is_proved_to_be_gone_is_gone() {
        let names = ["there", "gone", "replaced", "secret", "unserved", "odd", "broken", "deep", "a/b"];
        let (snapshot, ids) = listed(&names);
        let connection = serve(|asked| match asked.url.rsplit('/').next().unwrap_or_default() {
            _ if asked.accept != JSON => panic!("{}", asked.accept),
            "there" => json(200, pod("there", "u-there")),
            "gone" => json(404, r#"{"kind":"Status","reason":"NotFound","details":{"name":"gone","kind":"pods"}}"#),
            "replaced" => json(200, pod("replaced", "u-new")),
            "unserved" => refuse(404),
            "odd" => json(200, pod("another", "u-odd")),
            "broken" => json(200, r#"{"metadata":{"name":"broken","namesp"#),
            "deep" => {
                let spec = format!("{}{}", "[".repeat(200), "]".repeat(200));
                json(200, pod("deep", "u-deep").replace(r#""x""#, &spec))
            }
            _ => json(403, r#"{"kind":"Status","message":"pods \"secret\" is forbidden","code":403}"#),
        });
        let connection = connection.await;
        let mut seen = Vec::new();
        let take = |id: ObjectId, whole| {
            seen.push((id, whole));
            Ok::<(), ()>(())
        };
        connection.fetch_whole(&snapshot, &ids, take).await.unwrap();
        assert!(seen.iter().map(|(id, _)| *id).eq(ids), "in their order");
        let mut describe = seen.into_iter().map(|(_, whole)| whole);
        let Some(Whole::Object(there)) = describe.next() else { panic!("it is there") };
        let expected: Value = serde_json::from_str(&pod("there", "u-there")).unwrap();
        assert_eq!(*there, expected, "every key is kept");
        assert_eq!([describe.next(), describe.next()], [Some(Whole::Gone), Some(Whole::Gone)]);
        let reasons: Vec<String> = describe
            .map(|whole| match whole {
                Whole::Unreadable(reason) => reason,
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(
            reasons[..3],
            [
                r#"forbidden: pods "secret" is forbidden"#,
                "no longer served (404 Not Found)",
                "unreadable answer: not the requested object",
            ]
        );
        assert!(
            reasons[3].starts_with("unreadable answer: EOF") && reasons[4].contains("recursion limit"),
            "{reasons:?}"
        );
        assert_eq!(reasons[5], "not a valid object name");
    }

    #[tokio::test]
    async fn who_takes_no_more_gets_no_more() {
        let names: Vec<String> = (0..100).map(|number| format!("p{number}")).collect();
        let (snapshot, ids) = listed(&names.iter().map(String::as_str).collect::<Vec<_>>());
        let connection = serve(|_| refuse(403)).await;
        let mut taken = 0;
        let take = |_, _| {
            taken += 1;
            if taken < 3 { Ok(()) } else { Err("full") }
        };
        assert_eq!(connection.fetch_whole(&snapshot, &ids, take).await, Err("full"));
        assert_eq!(taken, 3);
    }

    #[tokio::test]
    async fn what_is_on_no_list_of_metadata_is_listed_whole() {
        let connection = serve(|asked| match asked.url.as_str() {
            "/api/v1/namespaces/shop/pods?limit=500" => json(
                200,
                format!(r#"{{"kind":"PodList","metadata":{{"continue":"t"}},"items":[{}]}}"#, pod("a", "u-a")),
            ),
            "/api/v1/namespaces/shop/pods?limit=2000&continue=t" => {
                json(200, format!(r#"{{"kind":"PodList","metadata":{{}},"items":[{}]}}"#, pod("b", "u-b")))
            }
            _ => refuse(403),
        });
        let connection = connection.await;
        let mut names = Vec::new();
        let mut take = |value: Value| {
            names.push(format!("{} {}", value["kind"].as_str().unwrap(), value["metadata"]["name"].as_str().unwrap()));
            Ok::<(), ()>(())
        };
        assert_eq!(connection.list_whole(&pods(), "shop", &mut take).await, Ok(Ok(())));
        assert_eq!(names, ["Pod a", "Pod b"]);
        assert_eq!(connection.list_whole(&pods(), "shop", &mut |_| Err("full")).await, Ok(Err("full")));
        assert_eq!(
            connection.list_whole::<()>(&pods(), "other", &mut |_| Ok(())).await,
            Err("forbidden: no".to_owned())
        );
    }
}
