//! Reads what decides when the cluster removes objects by itself ([`crate::reclaim`]): whole lists of the kinds that
//! decide, and nothing of the content of Secrets but the expiration of bootstrap tokens.

use serde_json::Value;

use crate::model::{
    Fact, Gap, ObjectId, RawObject, Resource, Snapshot,
    facts::{
        BOOTSTRAP_TOKEN, RECLAIM_KINDS, ReclaimFacts, TRACKING, TokenFacts, read_facts, read_reclaim_facts, token,
    },
};

use super::{
    Connection,
    answer::Answer,
    get_object::{ask_each, learn_each},
    json, path,
    request::{JSON, METADATA_LIST_IN_JSON},
};

/// The namespace of bootstrap tokens, and of the ConfigMap that says since when uses of tokens are recorded.
const SYSTEM: &str = "kube-system";

/// One list to read.
struct List<'s> {
    resource: &'s Resource,
    /// `None`: all.
    namespace: Option<&'s str>,
    fields: String,
    accept: &'static str,
}

/// Facts of one object, by its uid.
struct Read {
    uid: String,
    fact: Option<Fact>,
    reclaim: Option<ReclaimFacts>,
}

impl Connection {
    /// Reads the facts that decide when objects go into the snapshot. Where that is forbidden in the whole cluster, it
    /// reads this namespace, if any. What can't be read becomes a gap.
    pub(crate) async fn fetch_reclaim_facts(&self, snapshot: &mut Snapshot, namespace: Option<&str>) {
        let asked = &*snapshot;
        let lists: Vec<List<'_>> = RECLAIM_KINDS
            .into_iter()
            .filter_map(|(group, kind)| asked.resources.by_group_kind(group, kind))
            .map(|id| asked.resources.get(asked.resources.picked(id)))
            .filter(|resource| resource.has_verb("list"))
            .flat_map(lists_of)
            .collect();
        let answers = ask_each(lists, async |list| self.list_reclaim_facts(list, namespace).await).await;
        for (read, gap) in answers {
            for Read { uid, fact, reclaim } in read {
                // What was created since the metadata was listed is left out.
                let Some(id) = snapshot.strings.find(&uid).and_then(|uid| snapshot.by_uid(uid)) else { continue };
                if let Some(fact) = fact {
                    snapshot.learn(id, fact);
                }
                if let Some(reclaim) = reclaim {
                    snapshot.facts.insert_reclaim(id, reclaim);
                }
            }
            if let Some(gap) = gap.filter(|gap| !snapshot.gaps.contains(gap)) {
                snapshot.gaps.push(gap);
            }
        }
        snapshot.gaps.sort();
    }

    /// The same of single objects, as far as it isn't known. Nothing is read of a Secret.
    pub(crate) async fn fetch_reclaim_facts_of(&self, snapshot: &mut Snapshot, objects: &[ObjectId]) {
        let asked = &*snapshot;
        let resource = |id: ObjectId| asked.resources.get(asked.object(id).resource);
        let is_read = |id: ObjectId| asked.facts.reclaim(id).is_some() && asked.facts.get(id).is_some();
        let of_secret = |id: ObjectId| matches!(resource(id).kind.as_str(), "Secret" | "ConfigMap");
        let unread: Vec<ObjectId> = objects.iter().copied().filter(|id| !is_read(*id) && !of_secret(*id)).collect();
        let read = |answer: &Answer, _: RawObject<'_>| Ok(serde_json::from_slice::<Value>(&answer.body)?);
        let answers = ask_each(unread, async |id| (id, self.get_same(asked, id, JSON, read).await)).await;
        learn_each(snapshot, answers, |snapshot, id, item| {
            let Resource { group, kind, .. } = snapshot.resources.get(snapshot.object(id).resource);
            let (fact, reclaim) = (read_facts(group, kind, &item), read_reclaim_facts(group, kind, &item));
            if let Some(fact) = fact {
                snapshot.learn(id, fact);
            }
            if let Some(reclaim) = reclaim {
                snapshot.facts.insert_reclaim(id, reclaim);
            }
        });
    }

    /// What could be read of a list, and what could not.
    async fn list_reclaim_facts(&self, list: List<'_>, namespace: Option<&str>) -> (Vec<Read>, Option<Gap>) {
        let read = async |namespace: Option<&str>| {
            let read = |answer: &Answer, found: &mut Vec<Read>| {
                json::read_items(&answer.body, &mut |item| {
                    found.extend(Read::of(list.resource, &item));
                    Ok(())
                })
            };
            let url = path::of_resource(list.resource, namespace);
            let read = self.get_pages(&url, &list.fields, list.accept, read).await;
            read.map(|(found, _)| found)
        };
        let Err(failure) = (match read(list.namespace).await {
            Ok(read) => return (read, None),
            failed => failed,
        }) else {
            return (Vec::new(), None);
        };
        let gap = Gap {
            resource: list.resource.full_name(),
            namespace: list.namespace.map(str::to_owned),
            reason: failure.to_string().into(),
        };
        let narrower = namespace.filter(|_| list.resource.namespaced && list.namespace.is_none());
        let rest = match narrower {
            Some(namespace) => read(Some(namespace)).await.unwrap_or_default(),
            None => Vec::new(),
        };
        (rest, Some(gap))
    }
}

/// The lists of a kind: of Secrets and ConfigMaps, only what decides.
fn lists_of(resource: &Resource) -> Vec<List<'_>> {
    let list = |namespace, fields: &str, accept| {
        let fields = if fields.is_empty() { String::new() } else { format!("fieldSelector={}", path::encoded(fields)) };
        List { resource, namespace, fields, accept }
    };
    match (resource.group.as_str(), resource.kind.as_str()) {
        ("", "ConfigMap") => vec![list(Some(SYSTEM), &format!("metadata.name={TRACKING}"), JSON)],
        ("", "Secret") => vec![
            list(Some(SYSTEM), &format!("type={BOOTSTRAP_TOKEN}"), JSON),
            list(None, &format!("type={}", TokenFacts::TYPE), METADATA_LIST_IN_JSON),
        ],
        _ => vec![list(None, "", JSON)],
    }
}

impl Read {
    /// Takes the facts from an object of a list, and nothing else.
    fn of(resource: &Resource, item: &Value) -> Option<Read> {
        let (group, kind) = (resource.group.as_str(), resource.kind.as_str());
        let uid = item.pointer("/metadata/uid").and_then(Value::as_str)?;
        let fact = match (group, kind) {
            ("", "Secret") => token(item).map(Fact::Token),
            ("", "ServiceAccount" | "ConfigMap") => None,
            _ => read_facts(group, kind, item),
        };
        let reclaim = read_reclaim_facts(group, kind, item);
        Some(Read { uid: uid.to_owned(), fact, reclaim })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        cluster::testing::{json, pods, refuse, serve},
        model::{Origin, RawObject, Resources, SnapshotBuilder},
    };

    fn snapshot() -> Snapshot {
        let secrets = Resource {
            plural: "secrets".to_owned(),
            kind: "Secret".to_owned(),
            verbs: vec!["list".to_owned()],
            ..pods()
        };
        let pods = Resource { verbs: vec!["list".to_owned()], ..pods() };
        let resources = Resources::new(vec![pods, secrets], Vec::new());
        let of = |kind| resources.by_group_kind("", kind).unwrap();
        let (pods, secrets) = (of("Pod"), of("Secret"));
        let mut builder = SnapshotBuilder::new(Origin::Dump { paths: Vec::new() }, resources);
        for (resource, namespace, name) in [(pods, "shop", "p"), (secrets, "kube-system", "t")] {
            let uid = format!("u-{name}").into();
            let object = RawObject { namespace: namespace.into(), name: name.into(), uid, ..RawObject::default() };
            builder.add(resource, &object);
        }
        builder.build()
    }

    #[tokio::test]
    async fn of_secrets_only_what_decides_is_read() {
        let connection = serve(|asked| match asked.url.as_str() {
            "/api/v1/pods?limit=500" => refuse(403),
            "/api/v1/namespaces/shop/pods?limit=500" => json(
                200,
                r#"{"metadata":{},"items":[{"metadata":{"name":"p","namespace":"shop","uid":"u-p"},
                    "spec":{"nodeName":"n"},"status":{"phase":"Failed","reason":"Evicted"}}]}"#,
            ),
            url if url.starts_with("/api/v1/namespaces/kube-system/secrets?fieldSelector=type%3Dbootstrap") => json(
                200,
                r#"{"metadata":{},"items":[{"metadata":{"name":"t","namespace":"kube-system","uid":"u-t"},
                    "type":"bootstrap.kubernetes.io/token","data":{"expiration":"MjAyNi0wMS0wMVQwMDowMDowMFo="}}]}"#,
            ),
            url if url.starts_with("/api/v1/secrets?fieldSelector=type%3Dkubernetes.io") => {
                assert_eq!(asked.accept, METADATA_LIST_IN_JSON, "never what is in them");
                json(200, r#"{"metadata":{},"items":[]}"#)
            }
            other => panic!("{other}"),
        });
        let mut snapshot = snapshot();
        connection.await.fetch_reclaim_facts(&mut snapshot, Some("shop")).await;
        let ids: Vec<_> = snapshot.objects().map(|(id, _)| id).collect();
        assert!(matches!(snapshot.facts.reclaim(ids[0]), Some(ReclaimFacts::Pod(pod)) if pod.evicted));
        assert_eq!(snapshot.facts.pod(ids[0]).unwrap().node.as_deref(), Some("n"));
        let expires = crate::model::facts::Expiration::At(1_767_225_600);
        assert_eq!(snapshot.facts.reclaim(ids[1]), Some(&ReclaimFacts::BootstrapToken(expires)));
        let gaps: Vec<String> = snapshot.gaps.iter().map(ToString::to_string).collect();
        assert_eq!(gaps, ["pods (forbidden)"], "of the other namespaces");
    }
}
