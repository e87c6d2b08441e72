//! Requests single objects by coordinate. Only such an answer proves that an object doesn't exist (R8.7).

use crate::model::{Coordinate, RawObject, Reference, Snapshot, gaps::Gaps, group_of};

use super::{Connection, answer::Answer, get_object::ask_each, request::METADATA};

impl Connection {
    /// GETs coordinates that no list covers, or for which a list may be too old, and records each as present or absent.
    /// A coordinate that can't be read becomes unknown, whatever a list said, and a gap is recorded. The same applies
    /// if its name can't be part of a URL, or if its resource is no longer served (R3.16) and missing APIs don't count
    /// as absence.
    pub async fn look_up(&self, snapshot: &mut Snapshot, coordinates: &[Coordinate]) {
        let mut wanted = coordinates.to_vec();
        wanted.sort_unstable_by_key(|coordinate| (coordinate.resource, coordinate.namespace, coordinate.name));
        wanted.dedup();
        let asked = &*snapshot;
        let answers = ask_each(wanted, async |coordinate| {
            let is_expected = |uid: &str| is_expected(asked, coordinate, uid);
            let read = |_: &Answer, metadata: RawObject<'_>| Ok(metadata.into_owned());
            (coordinate, self.get_object(asked, coordinate, METADATA, is_expected, read).await)
        });
        let mut gaps = Gaps::default();
        for (coordinate, answer) in answers.await {
            match answer {
                Ok(Some(object)) => {
                    snapshot.found(coordinate.resource, &object);
                }
                Ok(None) => snapshot.confirm_absent(coordinate),
                Err(failure) if self.trusts_missing_apis && failure.is_missing_api() => {
                    snapshot.confirm_absent(coordinate);
                }
                Err(failure) => {
                    gaps.add_object(snapshot, coordinate, failure.to_string());
                    snapshot.leave_unanswered(coordinate);
                }
            }
        }
        gaps.record(snapshot);
    }
}

/// Whether an object with this uid is known as the one at the coordinate: it was listed there, or a reference to it
/// names the coordinate.
fn is_expected(snapshot: &Snapshot, at: Coordinate, uid: &str) -> bool {
    let Some(uid) = snapshot.strings.find(uid) else { return false };
    let resource = snapshot.resources.get(at.resource);
    let names_it = |reference: &Reference| {
        reference.uid == uid
            && reference.name == at.name
            && snapshot.text(reference.kind) == resource.kind
            && group_of(snapshot.text(reference.api_version)) == resource.group
    };
    match snapshot.by_uid(uid) {
        Some(known) => {
            let at = Coordinate { resource: snapshot.resources.picked(at.resource), ..at };
            snapshot.object(known).coordinate() == at
        }
        None => snapshot.objects().any(|(_, object)| object.owners.iter().any(names_it)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        cluster::testing::{json, pods, refuse, serve},
        model::{ListRecord, Origin, Presence, RawObject, Resource, ResourceId, Resources, SnapshotBuilder},
    };

    #[tokio::test]
    async fn only_the_servers_word_on_the_object_proves_absence() {
        let origin = Origin::Dump { paths: Vec::new() };
        let mut snapshot = SnapshotBuilder::new(origin, Resources::new(vec![pods()], Vec::new())).build();
        let mut untouched = snapshot.clone();
        let connection = serve(|asked| match asked.url.rsplit('/').next().unwrap_or_default() {
            "there" => json(
                200,
                r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"there","namespace":"shop","uid":"u"}}"#,
            ),
            "gone" => json(404, r#"{"kind":"Status","reason":"NotFound","details":{"name":"gone","kind":"pods"}}"#),
            "unserved" => refuse(404),
            "odd" => json(200, r#"{"kind":"PartialObjectMetadata","metadata":{"name":"another","uid":"u2"}}"#),
            _ => refuse(403),
        });
        let names = ["there", "gone", "unserved", "odd", "secret", "a/b", ""];
        let namespace = snapshot.strings.intern("shop");
        let coordinates =
            names.map(|name| Coordinate { resource: ResourceId(0), namespace, name: snapshot.strings.intern(name) });
        untouched.strings = snapshot.strings.clone();
        let mut connection = connection.await;
        connection.look_up(&mut snapshot, &coordinates).await;
        let [there, gone, rest @ ..] = coordinates.map(|coordinate| snapshot.look_up(coordinate));
        assert!(matches!(there, Presence::Present(_)));
        assert_eq!(gone, Presence::Absent);
        assert_eq!(rest, [Presence::Unknown; 5]);
        let gaps: Vec<String> = snapshot.gaps.iter().map(|gap| gap.reason.to_string()).collect();
        assert_eq!(
            gaps,
            [
                r#""", a/b: not a valid object name"#,
                "odd: unreadable answer: not the requested object",
                "secret: forbidden",
                "unserved: no longer served (404 Not Found)",
            ]
        );
        // The collector treats an unserved path as absence.
        connection.trust_missing_apis();
        connection.look_up(&mut untouched, &coordinates).await;
        let trusted = [1, 2, 3, 4].map(|place| untouched.look_up(coordinates[place]));
        assert_eq!(trusted, [Presence::Absent, Presence::Absent, Presence::Unknown, Presence::Unknown]);
    }

    /// Lists are outdated as soon as they are read: a look-up overrides them, even one that fails.
    #[tokio::test]
    async fn a_look_up_outweighs_a_list() {
        let pods = Resource {
            verbs: vec!["get".to_owned(), "list".to_owned(), "watch".to_owned(), "delete".to_owned()],
            ..pods()
        };
        let origin = Origin::Dump { paths: Vec::new() };
        let mut builder = SnapshotBuilder::new(origin, Resources::new(vec![pods], Vec::new()));
        let resource = ResourceId(0);
        for (name, uid) in [("replaced", "old"), ("kept", "same"), ("secret", "s")] {
            let object =
                RawObject { name: name.into(), namespace: "shop".into(), uid: uid.into(), ..RawObject::default() };
            builder.add(resource, &object);
        }
        let list = ListRecord { resource, namespace: None, resource_version: "7".to_owned(), failure: None };
        builder.list(list);
        let mut snapshot = builder.build();
        let connection = serve(|asked| match asked.url.rsplit('/').next().unwrap_or_default() {
            "gone" => json(404, r#"{"kind":"Status","reason":"NotFound","details":{"name":"gone","kind":"pods"}}"#),
            name @ ("new" | "replaced") => {
                let metadata = format!(r#"{{"name":"{name}","namespace":"shop","uid":"{name}-uid"}}"#);
                json(200, format!(r#"{{"apiVersion":"v1","kind":"Pod","metadata":{metadata}}}"#))
            }
            "kept" => json(
                200,
                r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"kept","namespace":"shop","uid":"same"}}"#,
            ),
            _ => refuse(403),
        });
        let namespace = snapshot.strings.intern("shop");
        let names = ["gone", "new", "replaced", "kept", "secret", "hidden"];
        let coordinates = names.map(|name| Coordinate { resource, namespace, name: snapshot.strings.intern(name) });
        let connection = connection.await;
        connection.look_up(&mut snapshot, &coordinates).await;
        let seen = coordinates.map(|coordinate| match snapshot.look_up(coordinate) {
            Presence::Present(object) => snapshot.text(snapshot.object(object).uid).to_owned(),
            other => format!("{other:?}"),
        });
        assert_eq!(seen, ["Absent", "new-uid", "replaced-uid", "same", "Unknown", "Unknown"]);
        assert!(coordinates.iter().all(|coordinate| snapshot.was_looked_up(*coordinate)));
        // A replaced object is also removed from the snapshot's objects.
        let mut uids: Vec<&str> = snapshot.objects().map(|(_, object)| snapshot.text(object.uid)).collect();
        uids.sort_unstable();
        assert_eq!(uids, ["new-uid", "replaced-uid", "s", "same"]);
        for uid in uids {
            let id = snapshot.strings.find(uid).and_then(|symbol| snapshot.by_uid(symbol));
            assert_eq!(id.map(|id| snapshot.text(snapshot.object(id).uid)), Some(uid));
        }
        assert_eq!(snapshot.strings.find("old").and_then(|symbol| snapshot.by_uid(symbol)), None);
    }
}
