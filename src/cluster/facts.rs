//! Reads the few facts beyond metadata that decide an outcome, for the objects that a command is about; and who set
//! their finalizers, which lists could only include with all managed fields of all objects.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use serde_json::Value;

use crate::model::{
    Fact, GONE, ObjectId, RawObject, Resource, ResourceId, Snapshot, Symbol,
    facts::{Setter, has_facts, read_facts, read_setters},
};

use super::{
    Connection,
    answer::{Answer, Malformed, Page},
    facts_protobuf,
    get_object::{LIST_FROM, ask_each, learn_each},
    json, path, protobuf,
    request::{JSON, METADATA_IN_JSON, WHOLE},
};

/// One request, and the objects whose facts it reads.
enum Request<'s> {
    One(ObjectId),
    /// The list of one kind in one namespace.
    List {
        resource: &'s Resource,
        namespace: &'s str,
        wanted: Vec<ObjectId>,
    },
}

/// Each object with its facts, or the reason of a gap.
type Answers = Vec<(ObjectId, Result<Fact, String>)>;

const FACTLESS: &str = "its spec or status is missing";

/// The format in which to request whole objects.
fn form(resource: &Resource) -> &'static str {
    if facts_protobuf::reads(&resource.group, &resource.kind) { WHOLE } else { JSON }
}

impl Connection {
    /// Reads the facts of these objects into the snapshot, if they have any ([`has_facts`]) that are not yet known. If
    /// an object can't be read or was replaced, its facts stay unknown and a gap is recorded.
    pub async fn fetch_facts(&self, snapshot: &mut Snapshot, objects: &[ObjectId]) {
        self.fetch_pods_of_nodes(snapshot, objects).await;
        self.fetch_tokens_of_accounts(snapshot, objects).await;
        let nodes = snapshot.resources.by_group_kind("", "Node");
        let others: Vec<ObjectId> =
            objects.iter().copied().filter(|id| Some(snapshot.object(*id).resource) != nodes).collect();
        self.fetch_whole_facts(snapshot, &others).await;
    }

    /// Reads whether the kubelets of these Nodes report.
    pub async fn fetch_kubelets(&self, snapshot: &mut Snapshot, nodes: &[ObjectId]) {
        let is_unread = |id: &ObjectId| snapshot.facts.node(*id).is_none_or(|facts| facts.kubelet.is_none());
        let unread: Vec<ObjectId> = nodes.iter().copied().filter(is_unread).collect();
        self.fetch_whole_facts(snapshot, &unread).await;
    }

    /// Reads who set the finalizers of these objects into the snapshot, unless known: one request each. If an object
    /// can't be read or was replaced, that stays unknown and a gap is recorded.
    pub async fn fetch_setters(&self, snapshot: &mut Snapshot, objects: &[ObjectId]) {
        let mut wanted: Vec<ObjectId> =
            objects.iter().copied().filter(|id| snapshot.facts.setters(*id).is_none()).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let asked = &*snapshot;
        let ask = async |id| (id, self.get_same(asked, id, METADATA_IN_JSON, |answer, _| read_managers(answer)).await);
        let answers = ask_each(wanted, ask).await;
        learn_each(snapshot, answers, |snapshot, id, setters| snapshot.facts.insert_setters(id, setters));
    }

    /// Reads facts from whole objects.
    async fn fetch_whole_facts(&self, snapshot: &mut Snapshot, objects: &[ObjectId]) {
        let asked = &*snapshot;
        let answers = ask_each(plan(asked, objects), async |request| match request {
            Request::One(id) => vec![(id, self.fetch_one(asked, id).await)],
            Request::List { resource, namespace, wanted } => self.list_facts(asked, resource, namespace, wanted).await,
        });
        let answers = answers.await;
        learn_each(snapshot, answers.into_iter().flatten(), Snapshot::learn);
    }

    async fn fetch_one(&self, snapshot: &Snapshot, id: ObjectId) -> Result<Fact, String> {
        let resource = snapshot.resources.get(snapshot.object(id).resource);
        let read = |answer: &Answer, metadata: RawObject<'_>| read_one(answer, &metadata, resource);
        self.get_same(snapshot, id, form(resource), read).await?.ok_or_else(|| FACTLESS.to_owned())
    }

    async fn list_facts(
        &self,
        snapshot: &Snapshot,
        resource: &Resource,
        namespace: &str,
        wanted: Vec<ObjectId>,
    ) -> Answers {
        let url = path::of_resource(resource, Some(namespace));
        let by_uid = wanted.iter().map(|id| (snapshot.text(snapshot.object(*id).uid), *id)).collect();
        let mut facts = FxHashMap::default();
        // Facts are kept if the list is restarted or fails: they are stored by uid, so they are still valid.
        let read = |answer: &Answer, (): &mut ()| facts_of_list(answer, resource, &by_uid, &mut facts);
        let failure = self.get_pages(&url, "", form(resource), read).await.err();
        let reason = failure.map_or_else(|| GONE.to_owned(), |failure| failure.to_string());
        let mut fact = |id| facts.remove(&id).ok_or_else(|| reason.clone());
        wanted.into_iter().map(|id| (id, fact(id))).collect()
    }
}

/// Decides which objects to request one by one and which by lists.
fn plan<'s>(snapshot: &'s Snapshot, objects: &[ObjectId]) -> Vec<Request<'s>> {
    let mut batches: BTreeMap<(ResourceId, Symbol), Vec<ObjectId>> = BTreeMap::new();
    for id in objects {
        let object = snapshot.object(*id);
        let resource = snapshot.resources.get(object.resource);
        let finalizers = object.finalizers.iter().map(|finalizer| snapshot.text(*finalizer));
        let is_read = match snapshot.facts.get(*id) {
            Some(Fact::Node(facts)) => facts.kubelet.is_some(),
            fact => fact.is_some(),
        };
        if !is_read && has_facts(&resource.group, &resource.kind, finalizers) {
            batches.entry((object.resource, object.namespace)).or_default().push(*id);
        }
    }
    let mut requests = Vec::new();
    for ((resource, namespace), mut wanted) in batches {
        wanted.sort_unstable();
        wanted.dedup();
        if wanted.len() >= LIST_FROM {
            let (resource, namespace) = (snapshot.resources.get(resource), snapshot.text(namespace));
            requests.push(Request::List { resource, namespace, wanted });
        } else {
            requests.extend(wanted.into_iter().map(Request::One));
        }
    }
    requests
}

/// Takes the facts of the wanted objects, by their uids, from a page of a list.
fn facts_of_list(
    answer: &Answer,
    resource: &Resource,
    wanted: &FxHashMap<&str, ObjectId>,
    facts: &mut FxHashMap<ObjectId, Fact>,
) -> Result<Page, Malformed> {
    let (group, kind) = (resource.group.as_str(), resource.kind.as_str());
    if !answer.is_protobuf() {
        return json::read_items(&answer.body, &mut |item: Value| {
            let uid = item.pointer("/metadata/uid").and_then(Value::as_str);
            if let Some(object) = uid.and_then(|uid| wanted.get(uid))
                && let Some(fact) = read_facts(group, kind, &item)
            {
                facts.insert(*object, fact);
            }
            Ok(())
        });
    }
    let mut metadata = RawObject::default();
    protobuf::read_items(&answer.body, |item| {
        protobuf::metadata(protobuf::at(item, &[1])?.unwrap_or_default(), &mut metadata)?;
        if let Some(object) = wanted.get(&*metadata.uid)
            && let Some(fact) = facts_protobuf::read_facts(group, kind, &metadata.name, item)?
        {
            facts.insert(*object, fact);
        }
        Ok(())
    })
}

/// Reads one whole object's facts.
fn read_one(answer: &Answer, metadata: &RawObject<'_>, resource: &Resource) -> Result<Option<Fact>, Malformed> {
    let (group, kind) = (resource.group.as_str(), resource.kind.as_str());
    if answer.is_protobuf() {
        let whole = protobuf::open(&answer.body)?.raw;
        return facts_protobuf::read_facts(group, kind, &metadata.name, whole);
    }
    Ok(read_facts(group, kind, &serde_json::from_slice(&answer.body)?))
}

/// Who set an object's finalizers; empty if the server has no managed fields for it.
fn read_managers(answer: &Answer) -> Result<Vec<Setter>, Malformed> {
    let object: Value = serde_json::from_slice(&answer.body)?;
    Ok(object.get("metadata").and_then(Value::as_object).and_then(read_setters).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        cluster::testing::{json, pods, refuse, serve},
        model::{Origin, Resources, SnapshotBuilder},
    };

    fn snapshot(count: usize) -> (Snapshot, Vec<ObjectId>) {
        let mut builder =
            SnapshotBuilder::new(Origin::Dump { paths: Vec::new() }, Resources::new(vec![pods()], Vec::new()));
        let ids = (0..count).map(|index| {
            let (name, uid) = (format!("p{index}"), format!("u{index}"));
            builder.add(
                ResourceId(0),
                &RawObject { namespace: "shop".into(), name: name.into(), uid: uid.into(), ..RawObject::default() },
            )
        });
        let ids = ids.collect();
        (builder.build(), ids)
    }

    fn pod(name: &str, uid: &str) -> String {
        format!(
            r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{name}","namespace":"shop","uid":"{uid}"}},
            "spec":{{"nodeName":"n-{name}"}}}}"#
        )
    }

    #[tokio::test]
    async fn a_few_are_asked_for_one_by_one() {
        let connection = serve(|asked| match asked.url.as_str() {
            "/api/v1/namespaces/shop/pods/p0" => json(200, pod("p0", "u0")),
            "/api/v1/namespaces/shop/pods/p1" => json(200, pod("p1", "another")),
            "/api/v1/namespaces/shop/pods/p2" => {
                json(404, r#"{"kind":"Status","details":{"name":"p2","kind":"pods"}}"#)
            }
            "/api/v1/namespaces/shop/pods/p3" => refuse(403),
            other => panic!("{other}"),
        });
        let (mut snapshot, ids) = snapshot(4);
        connection.await.fetch_facts(&mut snapshot, &ids).await;
        assert_eq!(snapshot.facts.len(), 1);
        assert_eq!(snapshot.facts.pod(ids[0]).unwrap().node.as_deref(), Some("n-p0"));
        let gaps: Vec<String> = snapshot.gaps.iter().map(ToString::to_string).collect();
        assert_eq!(
            gaps,
            ["pods in namespace shop (p1, p2: deleted since it was listed)", "pods in namespace shop (p3: forbidden)"]
        );
    }

    #[tokio::test]
    async fn what_has_no_protobuf_reader_is_asked_for_in_json() {
        let lease = Resource {
            group: "coordination.k8s.io".to_owned(),
            plural: "leases".to_owned(),
            kind: "Lease".to_owned(),
            ..pods()
        };
        let mut builder =
            SnapshotBuilder::new(Origin::Dump { paths: Vec::new() }, Resources::new(vec![lease], Vec::new()));
        let names: Vec<String> = (0..10).map(|index| format!("l{index}")).collect();
        let ids: Vec<ObjectId> = names
            .iter()
            .map(|name| {
                let namespace = if name == "l9" { "other" } else { "shop" };
                let object = RawObject {
                    namespace: namespace.into(),
                    name: name.into(),
                    uid: name.into(),
                    ..RawObject::default()
                };
                builder.add(ResourceId(0), &object)
            })
            .collect();
        let connection = serve(|asked| {
            assert_eq!(asked.accept, JSON, "{}", asked.url);
            let lease = |name: &str| {
                let namespace = if name == "l9" { "other" } else { "shop" };
                format!(
                    r#"{{"apiVersion":"coordination.k8s.io/v1","kind":"Lease",
                    "metadata":{{"name":"{name}","namespace":"{namespace}","uid":"{name}"}},
                    "spec":{{"holderIdentity":"of-{name}"}}}}"#
                )
            };
            match asked.url.as_str() {
                "/apis/coordination.k8s.io/v1/namespaces/shop/leases?limit=500" => {
                    let items: Vec<String> = (0..9).map(|index| lease(&format!("l{index}"))).collect();
                    json(200, format!(r#"{{"kind":"LeaseList","metadata":{{}},"items":[{}]}}"#, items.join(",")))
                }
                "/apis/coordination.k8s.io/v1/namespaces/other/leases/l9" => json(200, lease("l9")),
                other => panic!("{other}"),
            }
        });
        let mut snapshot = builder.build();
        connection.await.fetch_facts(&mut snapshot, &ids).await;
        assert_eq!(snapshot.gaps, []);
        for (id, name) in ids.iter().zip(&names) {
            let lease = snapshot.facts.lease(*id).unwrap_or_else(|| panic!("{name}"));
            assert_eq!(lease.holder, Some(format!("of-{name}")));
        }
    }

    #[tokio::test]
    async fn many_are_listed() {
        let connection = serve(|asked| match asked.url.as_str() {
            "/api/v1/namespaces/shop/pods?limit=500" => {
                let items: Vec<String> = (1..20).map(|index| pod(&format!("p{index}"), &format!("u{index}"))).collect();
                json(200, format!(r#"{{"kind":"PodList","metadata":{{}},"items":[{}]}}"#, items.join(",")))
            }
            other => panic!("{other}"),
        });
        let (mut snapshot, ids) = snapshot(10);
        let connection = connection.await;
        connection.fetch_facts(&mut snapshot, &ids).await;
        assert_eq!(snapshot.facts.len(), 9);
        let gaps: Vec<String> = snapshot.gaps.iter().map(ToString::to_string).collect();
        assert_eq!(gaps, ["pods in namespace shop (p0: deleted since it was listed)"]);
        // Known facts are not requested again.
        connection.fetch_facts(&mut snapshot, &ids[1..]).await;
    }

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
