//! Looking at objects again that a list showed, before anything is said of them (R8.7).

use futures::StreamExt as _;

use crate::model::{Again, ObjectId, Snapshot};

use super::{Connection, answer::Answer, failure::Failure, look_up::AT_ONCE, path, request::METADATA};

impl Connection {
    /// GETs the metadata of each of these objects, once, and says what is there now, in the order of the ids.
    /// [`Snapshot::update`] takes it in.
    pub async fn look_again(&self, snapshot: &Snapshot, objects: &[ObjectId]) -> Vec<(ObjectId, Again)> {
        let mut wanted = objects.to_vec();
        wanted.sort_unstable();
        wanted.dedup();
        let looks = futures::stream::iter(wanted).map(async |id| (id, self.look_at(snapshot, id).await));
        let mut seen: Vec<(ObjectId, Again)> = looks.buffer_unordered(AT_ONCE).collect().await;
        seen.sort_unstable_by_key(|(id, _)| *id);
        seen
    }

    async fn look_at(&self, snapshot: &Snapshot, id: ObjectId) -> Again {
        let object = snapshot.object(id);
        let resource = snapshot.resources.get(object.resource);
        let Some(url) = path::of_object(resource, snapshot.text(object.namespace), snapshot.text(object.name)) else {
            return Again::Unanswered("not the name of an object there can be".to_owned());
        };
        read(snapshot, id, self.get(&url, METADATA).await).unwrap_or_else(|failure| Again::Unanswered(failure.to_string()))
    }
}

fn read(snapshot: &Snapshot, id: ObjectId, answer: Result<Answer, Failure>) -> Result<Again, Failure> {
    let answer = match answer {
        Err(failure) if failure.proves_absence() => return Ok(Again::Gone),
        answer => answer?,
    };
    let (object, raw) = (snapshot.object(id), answer.read_object()?);
    // An answer about something else is none.
    if raw.uid.is_empty() || raw.name != snapshot.text(object.name) || raw.namespace != snapshot.text(object.namespace) {
        return Err(Failure::Malformed("another object than was asked for".to_owned()));
    }
    Ok(if snapshot.is_still(id, &raw) {
        Again::Same
    } else if raw.uid == snapshot.text(object.uid) {
        Again::Changed(raw.into_owned())
    } else {
        Again::Replaced(raw.into_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        cluster::testing::{json, refuse, serve},
        model::{ListRecord, Origin, Presence, RawObject, Resource, ResourceId, Resources, SnapshotBuilder},
    };

    fn pods() -> Resources {
        let pods = Resource {
            group: String::new(),
            version: "v1".to_owned(),
            plural: "pods".to_owned(),
            singular: String::new(),
            kind: "Pod".to_owned(),
            short_names: Vec::new(),
            categories: Vec::new(),
            namespaced: true,
            verbs: Vec::new(),
        };
        Resources::new(vec![pods], Vec::new())
    }

    /// What a list showed: pods of these names, each with a uid that tells its name, two labels and a finalizer.
    fn listed(names: &[&'static str]) -> (Snapshot, Vec<ObjectId>) {
        let mut builder = SnapshotBuilder::new(Origin::Dump { paths: Vec::new() }, pods());
        let resource = ResourceId(0);
        let mut add = |name: &'static str| {
            let object = RawObject {
                name: name.into(),
                namespace: "shop".into(),
                uid: format!("u-{name}").into(),
                resource_version: "1".into(),
                finalizers: vec!["acme.io/x".into()],
                labels: vec![("b".into(), "2".into()), ("a".into(), "1".into())],
                ..RawObject::default()
            };
            builder.add(resource, &object)
        };
        let ids = names.iter().map(|name| add(name)).collect();
        builder.list(ListRecord { resource, namespace: None, resource_version: "7".to_owned(), failure: None });
        (builder.build(), ids)
    }

    fn pod(name: &str, uid: &str, rest: &str) -> String {
        format!(r#"{{"metadata":{{"name":"{name}","namespace":"shop","uid":"{uid}","resourceVersion":"9"{rest}}}}}"#)
    }

    const AS_LISTED: &str = r#","finalizers":["acme.io/x"],"labels":{"a":"1","b":"2"}"#;

    #[tokio::test]
    async fn each_answer_is_told_apart() {
        let names = ["same", "changed", "labelled", "gone", "replaced", "unserved", "secret", "odd", "elsewhere", "a/b"];
        let (mut snapshot, ids) = listed(&names);
        let connection = serve(|asked| match asked.url.rsplit('/').next().unwrap_or_default() {
            _ if asked.before > 0 => panic!("{} was asked for twice", asked.url),
            "same" => json(200, pod("same", "u-same", AS_LISTED)),
            "changed" => json(200, pod("changed", "u-changed", r#","labels":{"a":"1","b":"2"}"#)),
            "labelled" => json(200, pod("labelled", "u-labelled", r#","finalizers":["acme.io/x"],"labels":{"a":"1","b":"3"}"#)),
            "gone" => json(404, r#"{"kind":"Status","reason":"NotFound","details":{"name":"gone","kind":"pods"}}"#),
            "replaced" => json(200, pod("replaced", "u-new", AS_LISTED)),
            "unserved" => refuse(404),
            "odd" => json(200, pod("another", "u-odd", AS_LISTED)),
            "elsewhere" => json(200, r#"{"metadata":{"name":"elsewhere","namespace":"other","uid":"u-elsewhere"}}"#),
            _ => refuse(403),
        });
        let connection = connection.await;
        let asked: Vec<ObjectId> = ids.iter().rev().chain(&ids).copied().collect();
        let seen = connection.look_again(&snapshot, &asked).await;
        let told: Vec<String> = seen
            .iter()
            .map(|(id, again)| {
                let name = snapshot.text(snapshot.object(*id).name);
                match again {
                    Again::Changed(raw) => format!("{name}: changed {} {:?}", raw.uid, raw.finalizers),
                    Again::Replaced(raw) => format!("{name}: replaced by {}", raw.uid),
                    Again::Unanswered(reason) => format!("{name}: unanswered, {reason}"),
                    other => format!("{name}: {other:?}"),
                }
            })
            .collect();
        assert_eq!(
            told,
            [
                "same: Same",
                "changed: changed u-changed []",
                "labelled: changed u-labelled [\"acme.io/x\"]",
                "gone: Gone",
                "replaced: replaced by u-new",
                "unserved: unanswered, not served any more (404 Not Found)",
                "secret: unanswered, forbidden",
                "odd: unanswered, unreadable answer: another object than was asked for",
                "elsewhere: unanswered, unreadable answer: another object than was asked for",
                "a/b: unanswered, not the name of an object there can be",
            ]
        );
        let coordinates: Vec<_> = ids.iter().map(|id| snapshot.object(*id).coordinate()).collect();
        snapshot.update(seen);
        let found: Vec<String> = coordinates
            .iter()
            .map(|coordinate| match snapshot.look_up(*coordinate) {
                Presence::Present(id) => snapshot.text(snapshot.object(id).uid).to_owned(),
                other => format!("{other:?}"),
            })
            .collect();
        let unknown = ["Unknown"; 5];
        assert_eq!(found[..5], ["u-same", "u-changed", "u-labelled", "Absent", "u-new"]);
        assert_eq!(found[5..], unknown);
        assert!(coordinates.iter().all(|coordinate| snapshot.was_looked_up(*coordinate)));
        let gaps: Vec<String> = snapshot.gaps.iter().map(ToString::to_string).collect();
        assert_eq!(gaps.len(), 4, "{gaps:?}");
        assert!(gaps.contains(&"pods in namespace shop (secret: forbidden)".to_owned()), "{gaps:?}");
    }

    #[tokio::test]
    async fn nothing_is_asked_about_nothing() {
        let (snapshot, _) = listed(&["a"]);
        let connection = serve(|asked| panic!("{}", asked.url)).await;
        assert_eq!(connection.look_again(&snapshot, &[]).await, []);
    }
}
