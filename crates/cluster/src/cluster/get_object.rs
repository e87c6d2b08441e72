//! Reads one object. Every GET of a single object goes through here: an answer counts only if it is about the object
//! that was asked for, and only the server's word on that object says that it doesn't exist. What else a gateway may
//! answer is a failure: it proves nothing.
//!
//! Only such an answer proves that an object doesn't exist, and objects of a list are read again before anything is
//! reported about them (R8.7).

use std::collections::{BTreeMap, BTreeSet};

use futures::StreamExt as _;
use http::StatusCode;
use rustc_hash::FxHashMap;
use serde_json::Value;

use gc_core::model::{
    Coordinate, GONE, ObjectId, RawObject, RecheckResult, Reference, Resource, ResourceId, Snapshot, Symbol,
    gaps::Gaps, group_of,
};

use super::{
    Connection,
    answer::{Answer, LARGEST_ANSWER, Malformed},
    error::Failure,
    json,
    path::{self, ObjectPath},
    request::{JSON, METADATA, METADATA_LIST},
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

impl Connection {
    /// Reads the metadata of each of these objects once, and returns their current state in the order of the ids. A
    /// resource with many objects is listed again, and only objects that the list lacks are requested one by one.
    /// [`Snapshot::update`] applies the result.
    pub async fn recheck(&self, snapshot: &Snapshot, objects: &[ObjectId]) -> Vec<(ObjectId, RecheckResult)> {
        let mut wanted: BTreeMap<ResourceId, BTreeSet<ObjectId>> = BTreeMap::new();
        for id in objects {
            wanted.entry(snapshot.object(*id).resource).or_default().insert(*id);
        }
        let (mut seen, mut single): (Vec<(ObjectId, RecheckResult)>, Vec<ObjectId>) = Default::default();
        for (resource, ids) in wanted {
            if ids.len() < LIST_ALL_FROM {
                single.extend(ids);
                continue;
            }
            let listed = self.list_again(snapshot, resource, &ids).await;
            single.extend(ids.iter().filter(|id| !listed.contains_key(id)));
            seen.extend(listed);
        }
        seen.extend(ask_each(single, async |id| (id, self.look_at(snapshot, id).await)).await);
        seen.sort_unstable_by_key(|(id, _)| *id);
        seen
    }

    /// The state of these objects according to a new list of their resource. Leaves out those that the list lacks: only
    /// an answer about the object itself proves that it is gone. If the list fails (unless it is forbidden), all are
    /// unanswered.
    async fn list_again(
        &self,
        snapshot: &Snapshot,
        resource: ResourceId,
        ids: &BTreeSet<ObjectId>,
    ) -> FxHashMap<ObjectId, RecheckResult> {
        let at = |id: &ObjectId| ((snapshot.object(*id).namespace, snapshot.object(*id).name), *id);
        let wanted: FxHashMap<(Symbol, Symbol), ObjectId> = ids.iter().map(at).collect();
        let read = |answer: &Answer, seen: &mut FxHashMap<ObjectId, RecheckResult>| {
            answer.read_list(|raw| {
                let find = |text: &str| snapshot.strings.find(text);
                let id = find(&raw.namespace).zip(find(&raw.name)).and_then(|place| wanted.get(&place).copied());
                if let Some(id) = id.filter(|_| !raw.uid.is_empty()) {
                    seen.insert(id, compared(snapshot, id, raw));
                }
            })
        };
        let url = path::of_resource(snapshot.resources.get(resource), None);
        match self.get_pages(&url, "", METADATA_LIST, read).await {
            Ok((seen, _)) => seen,
            // GET may be allowed even if LIST is not.
            Err(failure) if failure.status() == Some(StatusCode::FORBIDDEN) => FxHashMap::default(),
            Err(failure) => ids.iter().map(|id| (*id, RecheckResult::Unanswered(failure.to_string()))).collect(),
        }
    }

    async fn look_at(&self, snapshot: &Snapshot, id: ObjectId) -> RecheckResult {
        match self.get_current(snapshot, id, METADATA, |_, metadata| Ok(compared(snapshot, id, &metadata))).await {
            Ok(Current::Same(result) | Current::Replaced(result)) => result,
            Ok(Current::Gone) => RecheckResult::Gone,
            Err(failure) => RecheckResult::Unanswered(failure.to_string()),
        }
    }
}

/// Compares the object's current metadata with the snapshot.
fn compared(snapshot: &Snapshot, id: ObjectId, raw: &RawObject<'_>) -> RecheckResult {
    if snapshot.is_still(id, raw) {
        RecheckResult::Same
    } else if raw.uid == snapshot.text(snapshot.object(id).uid) {
        RecheckResult::Changed(raw.clone().into_owned())
    } else {
        RecheckResult::Replaced(raw.clone().into_owned())
    }
}

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
    use crate::cluster::{
        Whole,
        testing::{absent, json, mix_ups, pods, refuse, serve, serving},
    };
    use gc_core::model::{ListRecord, Presence, RawObject, RawReference, RecheckResult, Resource, ResourceId};

    use super::*;

    /// A snapshot with the Pod `web`. It has an owner `named` that was not read, and one that is `web` by its uid.
    fn listed() -> (Snapshot, ObjectId) {
        let mut builder = serving([pods()]);
        let owner = |name: &'static str, uid: &'static str| RawReference::to("v1", "Pod", name, uid);
        let object = RawObject {
            owners: vec![owner("named", "u-named"), owner("twin", "u-web")],
            ..RawObject::named("shop", "web", "u-web")
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

    #[tokio::test]
    async fn only_the_servers_word_on_the_object_proves_absence() {
        let mut snapshot = serving([pods()]).build();
        let mut untouched = snapshot.clone();
        let connection = serve(|asked| match asked.url.rsplit('/').next().unwrap_or_default() {
            "there" => json(
                200,
                r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"there","namespace":"shop","uid":"u"}}"#,
            ),
            "gone" => absent(asked),
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
        let mut builder = serving([pods]);
        let resource = ResourceId(0);
        for (name, uid) in [("replaced", "old"), ("kept", "same"), ("secret", "s")] {
            let object = RawObject::named("shop", name, uid);
            builder.add(resource, &object);
        }
        let list = ListRecord { resource, namespace: None, resource_version: "7".to_owned(), failure: None };
        builder.list(list);
        let mut snapshot = builder.build();
        let connection = serve(|asked| match asked.url.rsplit('/').next().unwrap_or_default() {
            "gone" => absent(asked),
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

#[cfg(test)]
mod recheck_tests {
    use super::*;
    use crate::cluster::testing::{absent, json, pods, refuse, serve, serving};
    use gc_core::model::{ListRecord, Presence, RawObject, ResourceId};

    /// A snapshot of pods with these names; each has a uid made from its name, two labels and a finalizer.
    pub(super) fn listed(names: impl IntoIterator<Item = impl Into<String>>) -> (Snapshot, Vec<ObjectId>) {
        let mut builder = serving([pods()]);
        let resource = ResourceId(0);
        let mut add = |name: String| {
            let uid = format!("u-{name}");
            let object = RawObject {
                resource_version: "1".into(),
                finalizers: vec!["acme.io/x".into()],
                labels: vec![("b".into(), "2".into()), ("a".into(), "1".into())],
                ..RawObject::named("shop", name, uid)
            };
            builder.add(resource, &object)
        };
        let ids = names.into_iter().map(|name| add(name.into())).collect();
        builder.list(ListRecord { resource, namespace: None, resource_version: "7".to_owned(), failure: None });
        (builder.build(), ids)
    }

    fn pod(name: &str, uid: &str, rest: &str) -> String {
        let metadata = format!(r#""name":"{name}","namespace":"shop","uid":"{uid}","resourceVersion":"9"{rest}"#);
        format!(r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{{metadata}}}}}"#)
    }

    const AS_LISTED: &str = r#","finalizers":["acme.io/x"],"labels":{"a":"1","b":"2"}"#;

    #[tokio::test]
    async fn each_answer_is_told_apart() {
        let names =
            ["same", "changed", "labelled", "gone", "replaced", "unserved", "secret", "odd", "elsewhere", "a/b"];
        let (mut snapshot, ids) = listed(names);
        let connection = serve(|asked| match asked.url.rsplit('/').next().unwrap_or_default() {
            _ if asked.before > 0 => panic!("{} was asked for twice", asked.url),
            "same" => json(200, pod("same", "u-same", AS_LISTED)),
            "changed" => json(200, pod("changed", "u-changed", r#","labels":{"a":"1","b":"2"}"#)),
            "labelled" => {
                json(200, pod("labelled", "u-labelled", r#","finalizers":["acme.io/x"],"labels":{"a":"1","b":"3"}"#))
            }
            "gone" => absent(asked),
            "replaced" => json(200, pod("replaced", "u-new", AS_LISTED)),
            "unserved" => refuse(404),
            "odd" => json(200, pod("another", "u-odd", AS_LISTED)),
            "elsewhere" => json(200, pod("elsewhere", "u-elsewhere", "").replace(r#""shop""#, r#""other""#)),
            _ => refuse(403),
        });
        let connection = connection.await;
        let asked: Vec<ObjectId> = ids.iter().rev().chain(&ids).copied().collect();
        let seen = connection.recheck(&snapshot, &asked).await;
        let describe: Vec<String> = seen
            .iter()
            .map(|(id, again)| {
                let name = snapshot.name(*id);
                match again {
                    RecheckResult::Changed(raw) => format!("{name}: changed {} {:?}", raw.uid, raw.finalizers),
                    RecheckResult::Replaced(raw) => format!("{name}: replaced by {}", raw.uid),
                    RecheckResult::Unanswered(reason) => format!("{name}: unanswered, {reason}"),
                    other => format!("{name}: {other:?}"),
                }
            })
            .collect();
        assert_eq!(
            describe,
            [
                "same: Same",
                "changed: changed u-changed []",
                "labelled: changed u-labelled [\"acme.io/x\"]",
                "gone: Gone",
                "replaced: replaced by u-new",
                "unserved: unanswered, no longer served (404 Not Found)",
                "secret: unanswered, forbidden",
                "odd: unanswered, unreadable answer: not the requested object",
                "elsewhere: unanswered, unreadable answer: not the requested object",
                "a/b: unanswered, not a valid object name",
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

    /// Many objects are listed, and only those that the list lacks are requested: only an answer about the object
    /// itself proves that it is gone.
    #[tokio::test]
    async fn many_are_listed_again() {
        let (snapshot, ids) = listed((0..LIST_ALL_FROM).map(|number| format!("p{number}")));
        let connection = serve(|asked| match asked.url.split('?').next().unwrap_or_default() {
            _ if asked.before > 0 => panic!("{} was asked for twice", asked.url),
            "/api/v1/pods" => {
                let all = (1..LIST_ALL_FROM).map(|number| match number {
                    1 => pod("p1", "u-new", AS_LISTED),
                    2 => pod("p2", "u-p2", ""),
                    number => pod(&format!("p{number}"), &format!("u-p{number}"), AS_LISTED),
                });
                let others = [pod("other", "u-other", AS_LISTED)];
                let items: Vec<String> = all.chain(others).collect();
                json(200, format!(r#"{{"kind":"PodList","metadata":{{}},"items":[{}]}}"#, items.join(",")))
            }
            "/api/v1/namespaces/shop/pods/p0" => absent(asked),
            other => panic!("{other}"),
        });
        let seen = connection.await.recheck(&snapshot, &ids).await;
        assert_eq!(seen.len(), LIST_ALL_FROM);
        let describe = |place: usize| match &seen[place].1 {
            RecheckResult::Changed(raw) => format!("changed {}", raw.name),
            RecheckResult::Replaced(raw) => format!("replaced by {}", raw.uid),
            other => format!("{other:?}"),
        };
        assert_eq!([0, 1, 2].map(describe), ["Gone", "replaced by u-new", "changed p2"]);
        assert!(seen[3..].iter().all(|(_, again)| *again == RecheckResult::Same));
    }

    #[tokio::test]
    async fn many_that_may_not_be_listed_are_asked_for() {
        let (snapshot, ids) = listed((0..LIST_ALL_FROM).map(|number| format!("p{number}")));
        let connection = serve(|asked| match asked.url.strip_prefix("/api/v1/namespaces/shop/pods/") {
            Some(name) => json(200, pod(name, &format!("u-{name}"), AS_LISTED)),
            None => refuse(403),
        });
        let seen = connection.await.recheck(&snapshot, &ids).await;
        assert!(seen.len() == LIST_ALL_FROM && seen.iter().all(|(_, again)| *again == RecheckResult::Same));
    }

    #[tokio::test]
    async fn nothing_is_asked_about_nothing() {
        let (snapshot, _) = listed(["a"]);
        let connection = serve(|asked| panic!("{}", asked.url)).await;
        assert_eq!(connection.recheck(&snapshot, &[]).await, []);
    }
}

#[cfg(test)]
mod whole_tests {
    use super::{recheck_tests::listed, *};
    use crate::cluster::testing::{absent, json, pods, refuse, serve};

    fn pod(name: &str, uid: &str) -> String {
        format!(
            r#"{{"apiVersion":"v1","kind":"Pod",
            "metadata":{{"name":"{name}","namespace":"shop","uid":"{uid}","managedFields":[{{}}]}},"spec":{{"odd":[1.5,null,{{"deep":{{}}}}]}},"more":"x"}}"#
        )
    }

    #[tokio::test]
    async fn only_what_is_proved_to_be_gone_is_gone() {
        let names = ["there", "gone", "replaced", "secret", "unserved", "odd", "broken", "deep", "a/b"];
        let (snapshot, ids) = listed(names);
        let connection = serve(|asked| match asked.url.rsplit('/').next().unwrap_or_default() {
            _ if asked.accept != JSON => panic!("{}", asked.accept),
            "there" => json(200, pod("there", "u-there")),
            "gone" => absent(asked),
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
        let (snapshot, ids) = listed((0..100).map(|number| format!("p{number}")));
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
