//! The few things beyond metadata that decide an outcome, read for the objects that a question is about.

use std::collections::BTreeMap;

use futures::StreamExt as _;
use rustc_hash::FxHashMap;

use crate::model::{
    Fact, ObjectId, RawObject, Resource, ResourceId, Snapshot,
    facts::{has_facts, read_facts},
    gaps::Gaps,
};

use super::{
    Connection,
    answer::{Answer, Malformed, Page},
    facts_protobuf, json,
    look_up::AT_ONCE,
    named::{GONE, Named},
    pages::TakePages,
    path, protobuf,
    request::{JSON, WHOLE},
};

/// From how many objects of one kind in one namespace on the whole list is cheaper than asking for each.
const LIST_FROM: usize = 9;

/// Objects of one kind in one namespace.
struct Batch {
    resource: Resource,
    namespace: String,
    /// By uid, with the name.
    wanted: FxHashMap<String, (ObjectId, String)>,
}

impl Batch {
    /// Its objects one by one.
    fn into_named(self) -> impl Iterator<Item = Named> {
        let Batch { resource, namespace, wanted } = self;
        let named = move |(uid, (object, name))| Named {
            object,
            resource: resource.clone(),
            namespace: namespace.clone(),
            name,
            uid,
        };
        wanted.into_iter().map(named)
    }
}

/// One request, and what it is to bring.
enum Request {
    All(Batch),
    One(Named),
}

/// What came of one request: facts, and objects of which there are none.
#[derive(Default)]
struct Outcome {
    facts: Vec<(ObjectId, Fact)>,
    missing: Vec<(Named, String)>,
}

const FACTLESS: &str = "its spec or status is missing";

/// In which form whole objects are asked for.
fn form(resource: &Resource) -> &'static str {
    if facts_protobuf::reads(&resource.group, &resource.kind) { WHOLE } else { JSON }
}

impl Connection {
    /// Reads the facts of these objects into the snapshot: of those that have any ([`has_facts`]), and that are not
    /// known yet. What can't be read stays unknown and becomes a gap; so does what is not the same object any more.
    pub async fn fetch_facts(&self, snapshot: &mut Snapshot, objects: &[ObjectId]) {
        self.fetch_pods_of_nodes(snapshot, objects).await;
        let requests = plan(snapshot, objects);
        let mut outcomes = futures::stream::iter(requests)
            .map(async |request| match request {
                Request::All(batch) => self.fetch_all(batch).await,
                Request::One(named) => self.fetch_one(named).await,
            })
            .buffer_unordered(AT_ONCE);
        let mut gaps = Gaps::default();
        while let Some(outcome) = outcomes.next().await {
            for (object, fact) in outcome.facts {
                snapshot.learn(object, fact);
            }
            for (named, reason) in outcome.missing {
                named.missing(reason, &mut gaps);
            }
        }
        gaps.record(snapshot);
    }

    async fn fetch_one(&self, named: Named) -> Outcome {
        match self.get_named(&named, form(&named.resource), |answer| read_one(answer, &named.resource)).await {
            Ok(Some(fact)) => Outcome { facts: vec![(named.object, fact)], missing: Vec::new() },
            Ok(None) => Outcome { facts: Vec::new(), missing: vec![(named, FACTLESS.to_owned())] },
            Err(reason) => Outcome { facts: Vec::new(), missing: vec![(named, reason)] },
        }
    }

    async fn fetch_all(&self, batch: Batch) -> Outcome {
        let url = path::of_resource(&batch.resource, Some(&batch.namespace));
        let form = form(&batch.resource);
        let mut taker = FromList { batch, facts: FxHashMap::default() };
        let failure = self.get_pages(&url, "", form, &mut taker).await.err();
        let FromList { mut batch, facts } = taker;
        let reason = failure.map_or_else(|| GONE.to_owned(), |failure| failure.to_string());
        batch.wanted.retain(|_, (object, _)| !facts.contains_key(object));
        let missing = batch.into_named().map(|named| (named, reason.clone()));
        Outcome { missing: missing.collect(), facts: facts.into_iter().collect() }
    }
}

/// Decides what is asked for one by one and what in lists.
fn plan(snapshot: &Snapshot, objects: &[ObjectId]) -> Vec<Request> {
    let mut batches: BTreeMap<(ResourceId, String), Batch> = BTreeMap::new();
    for id in objects {
        let object = snapshot.object(*id);
        let resource = snapshot.resources.get(object.resource);
        let finalizers = object.finalizers.iter().map(|finalizer| snapshot.text(*finalizer));
        if snapshot.facts.get(*id).is_some() || !has_facts(&resource.group, &resource.kind, finalizers) {
            continue;
        }
        let namespace = snapshot.text(object.namespace).to_owned();
        let batch = batches.entry((object.resource, namespace.clone())).or_insert_with(|| Batch {
            resource: resource.clone(),
            namespace,
            wanted: FxHashMap::default(),
        });
        batch.wanted.insert(snapshot.text(object.uid).to_owned(), (*id, snapshot.text(object.name).to_owned()));
    }
    let mut requests = Vec::new();
    for batch in batches.into_values() {
        if batch.wanted.len() >= LIST_FROM {
            requests.push(Request::All(batch));
        } else {
            requests.extend(batch.into_named().map(Request::One));
        }
    }
    requests
}

/// Takes the wanted objects' facts from a list.
struct FromList {
    batch: Batch,
    facts: FxHashMap<ObjectId, Fact>,
}

impl TakePages for FromList {
    fn page(&mut self, answer: &Answer) -> Result<Page, Malformed> {
        let FromList { batch, facts } = self;
        let (group, kind) = (batch.resource.group.as_str(), batch.resource.kind.as_str());
        if !answer.is_protobuf() {
            return json::read_items(&answer.body, &mut |item: serde_json::Value| {
                if let Some((object, _)) = uid_of(&item).and_then(|uid| batch.wanted.get(uid))
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
            if let Some((object, _)) = batch.wanted.get(&*metadata.uid)
                && let Some(fact) = facts_protobuf::read_facts(group, kind, &metadata.name, item)?
            {
                facts.insert(*object, fact);
            }
            Ok(())
        })
    }

    /// Facts are kept by uid: what came of the first attempt is as true as what comes of the second.
    fn restart(&mut self) {}
}

/// Reads one whole object's uid and facts.
fn read_one(answer: &Answer, resource: &Resource) -> Result<(String, Option<Fact>), Malformed> {
    let (group, kind) = (resource.group.as_str(), resource.kind.as_str());
    if answer.is_protobuf() {
        let metadata = protobuf::read_object(&answer.body)?;
        let whole = protobuf::open(&answer.body)?.raw;
        let fact = facts_protobuf::read_facts(group, kind, &metadata.name, whole)?;
        return Ok((metadata.uid.into_owned(), fact));
    }
    let whole: serde_json::Value = serde_json::from_slice(&answer.body)?;
    Ok((uid_of(&whole).unwrap_or_default().to_owned(), read_facts(group, kind, &whole)))
}

fn uid_of(object: &serde_json::Value) -> Option<&str> {
    object.pointer("/metadata/uid")?.as_str()
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
        format!(r#"{{"metadata":{{"name":"{name}","uid":"{uid}"}},"spec":{{"nodeName":"n-{name}"}}}}"#)
    }

    #[tokio::test]
    async fn a_few_are_asked_for_one_by_one() {
        let connection = serve(|asked| match asked.url.as_str() {
            "/api/v1/namespaces/shop/pods/p0" => json(200, pod("p0", "u0")),
            "/api/v1/namespaces/shop/pods/p1" => json(200, pod("p1", "another")),
            "/api/v1/namespaces/shop/pods/p2" => refuse(404),
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
            ["pods in namespace shop (p1, p2: gone since it was listed)", "pods in namespace shop (p3: forbidden)"]
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
                format!(r#"{{"metadata":{{"name":"{name}","uid":"{name}"}},"spec":{{"holderIdentity":"of-{name}"}}}}"#)
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
        assert_eq!(gaps, ["pods in namespace shop (p0: gone since it was listed)"]);
        // What is known is not asked for again.
        connection.fetch_facts(&mut snapshot, &ids[1..]).await;
    }
}
