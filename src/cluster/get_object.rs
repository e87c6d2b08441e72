//! Reads one object. Every GET of a single object goes through here: an answer counts only if it is about the object
//! that was asked for, and only the server's word on that object says that it doesn't exist. What else a gateway may
//! answer is a failure: it proves nothing.

use futures::StreamExt as _;

use crate::model::{Coordinate, GONE, ObjectId, RawObject, Resource, Snapshot, gaps::Gaps, group_of};

use super::{
    Connection,
    answer::{Answer, Malformed},
    failure::Failure,
    path::{self, ObjectPath},
    request::{JSON, LARGEST_ANSWER, METADATA},
};

/// The number of parallel requests: enough to hide the latency, few enough not to load the API server.
pub(super) const AT_ONCE: usize = 16;

/// From so many requests on, one list of the same is cheaper.
pub(super) const LIST_FROM: usize = 9;
/// The same if the list is of all namespaces, and has objects that nobody asks for.
pub(super) const LIST_ALL_FROM: usize = 300;

/// What the API server sends instead of an object if only metadata are wanted.
const PARTIAL: (&str, &str) = ("meta.k8s.io", "PartialObjectMetadata");

/// The object that is now at the coordinate of an object in a snapshot.
pub(super) enum Current<T> {
    /// The same object (equal uid).
    Same(T),
    /// Another object: same coordinate, other uid.
    Replaced(T),
    /// No object: the API server answered so for this very name.
    Gone,
}

/// Asks about each of these, some at once. The answers come in the order of their arrival.
pub(super) async fn ask_each<I, F: Future>(
    items: impl IntoIterator<Item = I>,
    ask: impl FnMut(I) -> F,
) -> Vec<F::Output> {
    futures::stream::iter(items).map(ask).buffer_unordered(AT_ONCE).collect().await
}

/// Puts what was read of objects into a snapshot. What could not be read, for this reason, becomes a gap.
pub(super) fn learn_each<T>(
    snapshot: &mut Snapshot,
    answers: impl IntoIterator<Item = (ObjectId, Result<T, String>)>,
    learn: impl Fn(&mut Snapshot, ObjectId, T),
) {
    let mut gaps = Gaps::default();
    for (id, answer) in answers {
        match answer {
            Ok(found) => learn(snapshot, id, found),
            Err(reason) => gaps.add_object(snapshot, snapshot.object(id).coordinate(), reason),
        }
    }
    gaps.record(snapshot);
}

/// What an answer has of the object.
#[derive(PartialEq, Eq)]
enum Extent {
    Whole,
    Metadata,
}

/// What an answer has of the object that was asked for; none if the server says that it doesn't exist.
fn checked(path: &ObjectPath, answer: Result<Answer, Failure>) -> Result<Option<(Answer, Extent)>, Failure> {
    let answer = match answer {
        Ok(answer) => answer,
        Err(failure) if failure.proves_absence(path) => return Ok(None),
        Err(failure) => return Err(failure.about(path)),
    };
    let (api_version, kind) = answer.type_meta()?;
    let extent = match (group_of(&api_version), kind.as_str()) {
        PARTIAL => Extent::Metadata,
        (group, kind) if group == path.group && kind == path.kind => Extent::Whole,
        _ => return Err(not_requested()),
    };
    let object = answer.read_object()?;
    if object.name != path.name || object.namespace != path.namespace {
        return Err(not_requested());
    }
    if object.uid.is_empty() {
        return Err(Failure::Malformed("it has no uid".to_owned()));
    }
    Ok(Some((answer, extent)))
}

/// The answer, if it has the whole object.
fn whole(path: &ObjectPath, answer: Result<Answer, Failure>) -> Result<Option<Answer>, Failure> {
    match checked(path, answer)? {
        Some((answer, Extent::Whole)) => Ok(Some(answer)),
        Some((_, Extent::Metadata)) => Err(not_requested()),
        None => Ok(None),
    }
}

fn not_requested() -> Failure {
    Failure::Malformed("not the requested object".to_owned())
}

impl Connection {
    /// GETs a whole object in JSON; none if the server says that it doesn't exist.
    pub(crate) async fn get_one(&self, path: &ObjectPath) -> Result<Option<Answer>, Failure> {
        whole(path, self.get(path.url(), JSON).await)
    }

    /// The same, without retries.
    pub(crate) async fn get_one_once(&self, path: &ObjectPath) -> Result<Option<Answer>, Failure> {
        whole(path, self.send_get(path.url(), JSON, LARGEST_ANSWER).await.and_then(Answer::success))
    }

    /// GETs an object in one of these media types; none if the server says that it doesn't exist.
    ///
    /// Metadata don't say of which kind an object is, and an object of another kind may have its name. So an object
    /// with an unexpected uid is asked for as a whole, and only that answer counts.
    pub(crate) async fn get_expected(
        &self,
        path: &ObjectPath,
        accept: &str,
        is_expected: impl FnOnce(&str) -> bool,
    ) -> Result<Option<Answer>, Failure> {
        match checked(path, self.get(path.url(), accept).await)? {
            Some((answer, Extent::Metadata)) if !is_expected(&answer.read_object()?.uid) => self.get_one(path).await,
            found => Ok(found.map(|(answer, _)| answer)),
        }
    }

    /// GETs the object at a coordinate and reads it from the answer; none if the server says that it doesn't exist.
    pub(super) async fn get_object<T>(
        &self,
        snapshot: &Snapshot,
        at: Coordinate,
        accept: &str,
        is_expected: impl FnOnce(&str) -> bool,
        read: impl FnOnce(&Answer, RawObject<'_>) -> Result<T, Malformed>,
    ) -> Result<Option<T>, Failure> {
        let (namespace, name) = (snapshot.text(at.namespace), snapshot.text(at.name));
        let path = path::of_object(snapshot.resources.get(at.resource), namespace, name).ok_or(Failure::InvalidName)?;
        let answer = self.get_expected(&path, accept, is_expected).await?;
        Ok(answer.map(|answer| read(&answer, answer.read_object()?)).transpose()?)
    }

    /// GETs the metadata of whatever has this name now; none if the API server says that nothing has. `uid` is that of
    /// the object that should have it; empty if any may.
    ///
    /// # Errors
    /// Why that is unknown.
    pub async fn find(
        &self,
        resource: &Resource,
        namespace: &str,
        name: &str,
        uid: &str,
    ) -> Result<Option<RawObject<'static>>, String> {
        let found = async {
            let path = path::of_object(resource, namespace, name).ok_or(Failure::InvalidName)?;
            // Without a uid, only the whole object shows that it is the right one.
            let accept = if uid.is_empty() { JSON } else { METADATA };
            let answer = self.get_expected(&path, accept, |found| found == uid).await?;
            Ok::<_, Failure>(answer.map(|answer| answer.read_object().map(RawObject::into_owned)).transpose()?)
        };
        found.await.map_err(|failure| failure.to_string())
    }

    /// GETs the object that is now at the coordinate of an object in the snapshot.
    pub(super) async fn get_current<T>(
        &self,
        snapshot: &Snapshot,
        id: ObjectId,
        accept: &str,
        read: impl FnOnce(&Answer, RawObject<'_>) -> Result<T, Malformed>,
    ) -> Result<Current<T>, Failure> {
        let object = snapshot.object(id);
        let uid = snapshot.text(object.uid);
        let read = |answer: &Answer, metadata: RawObject<'_>| {
            let current = if metadata.uid == uid { Current::Same } else { Current::Replaced };
            Ok(current(read(answer, metadata)?))
        };
        let found = self.get_object(snapshot, object.coordinate(), accept, |found| found == uid, read).await?;
        Ok(found.unwrap_or(Current::Gone))
    }

    /// GETs an object of the snapshot, and reads it from the answer; the error is the reason of a gap, also if another
    /// object has its name by now.
    pub(super) async fn get_same<T>(
        &self,
        snapshot: &Snapshot,
        id: ObjectId,
        accept: &str,
        read: impl FnOnce(&Answer, RawObject<'_>) -> Result<T, Malformed>,
    ) -> Result<T, String> {
        match self.get_current(snapshot, id, accept, read).await {
            Ok(Current::Same(found)) => Ok(found),
            Ok(Current::Replaced(_) | Current::Gone) => Err(GONE.to_owned()),
            Err(failure) => Err(failure.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        cluster::{
            Whole,
            testing::{absent, json, mix_ups, pods, serve},
        },
        model::{Origin, Presence, RawReference, RecheckResult, ResourceId, Resources, SnapshotBuilder},
    };

    /// A snapshot with the Pod `web`. It has an owner `named` that was not read, and one that is `web` by its uid.
    fn listed() -> (Snapshot, ObjectId) {
        let mut builder =
            SnapshotBuilder::new(Origin::Dump { paths: Vec::new() }, Resources::new(vec![pods()], Vec::new()));
        let owner = |name: &'static str, uid: &'static str| RawReference {
            api_version: "v1".into(),
            kind: "Pod".into(),
            name: name.into(),
            uid: uid.into(),
            ..RawReference::default()
        };
        let object = RawObject {
            name: "web".into(),
            namespace: "shop".into(),
            uid: "u-web".into(),
            owners: vec![owner("named", "u-named"), owner("twin", "u-web")],
            ..RawObject::default()
        };
        let id = builder.add(ResourceId(0), &object);
        (builder.build(), id)
    }

    /// Every way to read one object, while the answer is about another one.
    #[tokio::test]
    async fn only_an_answer_about_the_object_counts() {
        for (what, answer) in mix_ups("v1", "Pod", "web") {
            let (mut snapshot, id) = listed();
            let mut connection = serve(move |_| answer.clone()).await;
            connection.trust_missing_apis();
            for uid in ["u-web", ""] {
                let found = connection.find(&pods(), "shop", "web", uid).await;
                assert!(found.is_err(), "{what}: {found:?}");
            }
            let again = connection.recheck(&snapshot, &[id]).await;
            assert!(matches!(again[..], [(_, RecheckResult::Unanswered(_))]), "{what}: {again:?}");
            let mut read = Vec::new();
            let keep = |_, whole| {
                read.push(whole);
                Ok::<_, ()>(())
            };
            let _ = connection.fetch_whole(&snapshot, &[id], keep).await;
            assert!(matches!(read[..], [Whole::Unreadable(_)]), "{what}: {read:?}");
            let at = snapshot.object(id).coordinate();
            connection.look_up(&mut snapshot, &[at]).await;
            assert_eq!((snapshot.look_up(at), snapshot.gaps.len()), (Presence::Unknown, 1), "{what}");
        }
    }

    fn object(kind: [&str; 2], name: &str, uid: &str) -> String {
        let [api_version, kind] = kind;
        let metadata = format!(r#"{{"name":"{name}","namespace":"shop","uid":"{uid}"}}"#);
        format!(r#"{{"apiVersion":"{api_version}","kind":"{kind}","metadata":{metadata}}}"#)
    }

    /// Metadata of another kind's object look as those of a new object of this kind.
    #[tokio::test]
    async fn an_unexpected_uid_is_confirmed_once() {
        const PARTIAL: [&str; 2] = ["meta.k8s.io/v1", "PartialObjectMetadata"];
        const POD: [&str; 2] = ["v1", "Pod"];
        let connection = serve(|asked| {
            assert_eq!(asked.before, 0, "{}", asked.url);
            match (asked.url.rsplit('/').next().unwrap_or_default(), asked.accept == JSON) {
                ("same", false) => json(200, object(PARTIAL, "same", "u-same")),
                ("web", false) => json(200, object(PARTIAL, "web", "u-of-a-service")),
                ("web", true) => json(200, object(POD, "web", "u-web")),
                ("replaced", false) => json(200, object(PARTIAL, "replaced", "u-new")),
                ("replaced", true) => json(200, object(POD, "replaced", "u-new")),
                ("removed", false) => json(200, object(PARTIAL, "removed", "u-new")),
                ("removed", true) => absent(asked),
                ("named", false) => json(200, object(PARTIAL, "named", "u-named")),
                ("twin", false) => json(200, object(PARTIAL, "twin", "u-web")),
                ("twin", true) => json(200, object(["v1", "Service"], "twin", "u-web")),
                other => panic!("{other:?}"),
            }
        });
        let connection = connection.await;
        for (name, uid) in
            [("same", Some("u-same")), ("web", Some("u-web")), ("replaced", Some("u-new")), ("removed", None)]
        {
            let found = connection.find(&pods(), "shop", name, &format!("u-{name}")).await;
            assert_eq!(found.unwrap().map(|found| found.uid.into_owned()).as_deref(), uid, "{name}");
        }
        // A look-up expects what references name; but not an object that is known under another name.
        let (mut snapshot, id) = listed();
        let [named, twin] = ["named", "twin"]
            .map(|name| Coordinate { name: snapshot.strings.intern(name), ..snapshot.object(id).coordinate() });
        connection.look_up(&mut snapshot, &[named, twin]).await;
        assert!(matches!(snapshot.look_up(named), Presence::Present(_)));
        assert_eq!(snapshot.look_up(twin), Presence::Unknown);
    }
}
