//! Rechecks listed objects before anything is reported about them (R8.7).

use std::collections::{BTreeMap, BTreeSet};

use http::StatusCode;
use rustc_hash::FxHashMap;

use crate::model::{ObjectId, RawObject, RecheckResult, ResourceId, Snapshot, Symbol};

use super::{
    Connection,
    answer::Answer,
    get_object::{Current, LIST_ALL_FROM, ask_each},
    path,
    request::{METADATA, METADATA_LIST},
};

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        cluster::testing::{json, pods, refuse, serve},
        model::{ListRecord, Origin, Presence, RawObject, ResourceId, Resources, SnapshotBuilder},
    };

    /// A snapshot of pods with these names; each has a uid made from its name, two labels and a finalizer.
    fn listed(names: &[&str]) -> (Snapshot, Vec<ObjectId>) {
        let mut builder =
            SnapshotBuilder::new(Origin::Dump { paths: Vec::new() }, Resources::new(vec![pods()], Vec::new()));
        let resource = ResourceId(0);
        let mut add = |name: &str| {
            let object = RawObject {
                name: name.to_owned().into(),
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
        let metadata = format!(r#""name":"{name}","namespace":"shop","uid":"{uid}","resourceVersion":"9"{rest}"#);
        format!(r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{{metadata}}}}}"#)
    }

    const AS_LISTED: &str = r#","finalizers":["acme.io/x"],"labels":{"a":"1","b":"2"}"#;

    #[tokio::test]
    async fn each_answer_is_told_apart() {
        let names =
            ["same", "changed", "labelled", "gone", "replaced", "unserved", "secret", "odd", "elsewhere", "a/b"];
        let (mut snapshot, ids) = listed(&names);
        let connection = serve(|asked| match asked.url.rsplit('/').next().unwrap_or_default() {
            _ if asked.before > 0 => panic!("{} was asked for twice", asked.url),
            "same" => json(200, pod("same", "u-same", AS_LISTED)),
            "changed" => json(200, pod("changed", "u-changed", r#","labels":{"a":"1","b":"2"}"#)),
            "labelled" => {
                json(200, pod("labelled", "u-labelled", r#","finalizers":["acme.io/x"],"labels":{"a":"1","b":"3"}"#))
            }
            "gone" => json(404, r#"{"kind":"Status","reason":"NotFound","details":{"name":"gone","kind":"pods"}}"#),
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
                let name = snapshot.text(snapshot.object(*id).name);
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
        let names: Vec<String> = (0..LIST_ALL_FROM).map(|number| format!("p{number}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let (snapshot, ids) = listed(&names);
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
            "/api/v1/namespaces/shop/pods/p0" => {
                json(404, r#"{"kind":"Status","reason":"NotFound","details":{"name":"p0","kind":"pods"}}"#)
            }
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
        let names: Vec<String> = (0..LIST_ALL_FROM).map(|number| format!("p{number}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let (snapshot, ids) = listed(&names);
        let connection = serve(|asked| match asked.url.strip_prefix("/api/v1/namespaces/shop/pods/") {
            Some(name) => json(200, pod(name, &format!("u-{name}"), AS_LISTED)),
            None => refuse(403),
        });
        let seen = connection.await.recheck(&snapshot, &ids).await;
        assert!(seen.len() == LIST_ALL_FROM && seen.iter().all(|(_, again)| *again == RecheckResult::Same));
    }

    #[tokio::test]
    async fn nothing_is_asked_about_nothing() {
        let (snapshot, _) = listed(&["a"]);
        let connection = serve(|asked| panic!("{}", asked.url)).await;
        assert_eq!(connection.recheck(&snapshot, &[]).await, []);
    }
}
