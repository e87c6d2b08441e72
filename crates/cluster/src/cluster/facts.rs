//! Reads the few facts beyond metadata that decide an outcome, for the objects that a command is about; and who set
//! their finalizers, which lists could only include with all managed fields of all objects.
//!
//! Lists of other objects tell two of them: which pods are bound to a Node, by one request instead of one for every pod
//! of the cluster; and which Secrets contain tokens of ServiceAccounts, from their metadata, and never what is in them.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use serde_json::Value;

use gc_core::model::{
    Fact, GONE, Gap, ObjectId, RawObject, Resource, ResourceId, Snapshot, Symbol,
    effects::PolicyFacts,
    facts::{
        AccountFacts, BOOTSTRAP_TOKEN, NodeFacts, RECLAIM_KINDS, ReclaimFacts, Said, Setter, TRACKING, TokenFacts,
        has_facts, may_say_why, read_facts, read_reclaim_facts, read_said, read_setters, token,
    },
    gaps::Gaps,
};

use super::{
    Connection,
    answer::{Answer, Malformed, Page},
    clock, facts_protobuf,
    get_object::{LIST_FROM, ask_each, learn_each},
    json, path, protobuf,
    request::{JSON, METADATA_IN_JSON, METADATA_LIST_IN_JSON, WHOLE},
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

/// The format in which to request whole objects: Pods, which are the most, in protobuf if possible.
fn form(resource: &Resource) -> &'static str {
    if (resource.group.as_str(), resource.kind.as_str()) == ("", "Pod") { WHOLE } else { JSON }
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

    /// Reads who set the finalizers of these objects into the snapshot, unless known, and what their status says of why
    /// they are not deleted: one request each. If an object can't be read or was replaced, that stays unknown and a gap
    /// is recorded.
    pub async fn fetch_setters(&self, snapshot: &mut Snapshot, objects: &[ObjectId]) {
        let mut wanted: Vec<ObjectId> =
            objects.iter().copied().filter(|id| snapshot.facts.setters(*id).is_none()).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let asked = &*snapshot;
        let ask = async |id| {
            let resource = asked.resources.get(asked.object(id).resource);
            let says_why = asked.object(id).terminating() && may_say_why(&resource.group, &resource.kind);
            let form = if says_why { JSON } else { METADATA_IN_JSON };
            (id, self.get_same(asked, id, form, |answer, _| read_managers(answer, resource)).await)
        };
        let answers = ask_each(wanted, ask).await;
        learn_each(snapshot, answers, |snapshot, id, (setters, said, fact)| {
            snapshot.facts.insert_setters(id, setters);
            snapshot.facts.insert_said(id, said);
            fact.into_iter().for_each(|fact| snapshot.learn(id, fact));
        });
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
        let resource = snapshot.resource(id);
        let read = self.get_same(snapshot, id, form(resource), |answer, _| read_one(answer, resource));
        read.await?.ok_or_else(|| FACTLESS.to_owned())
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

/// Whether an answer has Pods in protobuf. Nothing else was asked for in it.
fn is_protobuf(answer: &Answer, resource: &Resource) -> bool {
    answer.is_protobuf() && form(resource) == WHOLE
}

/// Takes the facts of the wanted objects, by their uids, from a page of a list.
fn facts_of_list(
    answer: &Answer,
    resource: &Resource,
    wanted: &FxHashMap<&str, ObjectId>,
    facts: &mut FxHashMap<ObjectId, Fact>,
) -> Result<Page, Malformed> {
    if !is_protobuf(answer, resource) {
        return json::read_items(&answer.body, &mut |item: Value| {
            let uid = item.pointer("/metadata/uid").and_then(Value::as_str);
            if let Some(object) = uid.and_then(|uid| wanted.get(uid))
                && let Some(fact) = facts_of_whole(resource, &item)
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
            && let Some(fact) = facts_protobuf::read_facts(item)?
        {
            facts.insert(*object, fact);
        }
        Ok(())
    })
}

/// Reads one whole object's facts.
fn read_one(answer: &Answer, resource: &Resource) -> Result<Option<Fact>, Malformed> {
    if is_protobuf(answer, resource) {
        return facts_protobuf::read_facts(protobuf::open(&answer.body)?.raw);
    }
    Ok(facts_of_whole(resource, &serde_json::from_slice(&answer.body)?))
}

/// The facts of an object of which nothing was left out: a custom resource without a spec says nothing there.
fn facts_of_whole(resource: &Resource, object: &Value) -> Option<Fact> {
    let (group, kind) = (resource.group.as_str(), resource.kind.as_str());
    let says_nothing = || may_say_why(group, kind).then(|| Fact::Policy(PolicyFacts::default()));
    read_now(group, kind, object).or_else(says_nothing)
}

/// The facts of an object that has just been read.
fn read_now(group: &str, kind: &str, object: &Value) -> Option<Fact> {
    let mut fact = read_facts(group, kind, object)?;
    if let Fact::Lease(facts) = &mut fact {
        facts.seen = Some(clock::now().as_second());
    }
    Some(fact)
}

/// Who set an object's finalizers, what its status says, and its facts.
type Managed = (Vec<Setter>, Vec<Said>, Option<Fact>);

/// Who set an object's finalizers, empty if the server has no managed fields for it; what its status says; and its
/// facts, if it is whole.
fn read_managers(answer: &Answer, resource: &Resource) -> Result<Managed, Malformed> {
    let object: Value = serde_json::from_slice(&answer.body)?;
    let (group, kind) = (resource.group.as_str(), resource.kind.as_str());
    let setters = object.get("metadata").and_then(Value::as_object).and_then(read_setters).unwrap_or_default();
    // Of others, only the metadata was asked for.
    let fact = may_say_why(group, kind).then(|| read_now(group, kind, &object)).flatten();
    Ok((setters, read_said(group, kind, &object), fact))
}

impl Connection {
    /// Requests the pods of the Nodes among these objects, and records them as the Nodes' facts. If that fails, they
    /// stay unknown and a gap is recorded.
    pub(super) async fn fetch_pods_of_nodes(&self, snapshot: &mut Snapshot, objects: &[ObjectId]) {
        let (Some(nodes), Some(pods)) =
            (snapshot.resources.by_group_kind("", "Node"), snapshot.resources.by_group_kind("", "Pod"))
        else {
            return;
        };
        let is_wanted = |id: &&ObjectId| {
            snapshot.object(**id).resource == nodes
                && snapshot.facts.node(**id).is_none_or(|facts| facts.pods.is_none())
        };
        let wanted: Vec<(ObjectId, String)> =
            objects.iter().filter(is_wanted).map(|id| (*id, snapshot.name(*id).to_owned())).collect();
        let resources = &snapshot.resources;
        let answers = ask_each(wanted, async |(id, name)| {
            let fields = format!("spec.nodeName={name}");
            let uids = self.select(resources, pods, None, None, Some(&fields)).await;
            (id, name, uids)
        });
        let mut gaps = Gaps::default();
        for (id, name, uids) in answers.await {
            match uids {
                Ok(pods) => snapshot.learn(id, Fact::Node(NodeFacts { pods: Some(pods), kubelet: None })),
                Err(error) => gaps.add("pods".to_owned(), "", &format!("spec.nodeName={name}"), error.to_string()),
            }
        }
        gaps.record(snapshot);
    }

    /// Requests the token Secrets of the ServiceAccounts among these objects, once for each namespace, and records
    /// whose they are. If that fails, they stay unknown and a gap is recorded.
    pub(super) async fn fetch_tokens_of_accounts(&self, snapshot: &mut Snapshot, objects: &[ObjectId]) {
        let (Some(accounts), Some(secrets)) =
            (snapshot.resources.by_group_kind("", "ServiceAccount"), snapshot.resources.by_group_kind("", "Secret"))
        else {
            return;
        };
        let is_wanted =
            |id: &&ObjectId| snapshot.object(**id).resource == accounts && snapshot.facts.get(**id).is_none();
        let wanted: Vec<ObjectId> = objects.iter().filter(is_wanted).copied().collect();
        let namespaces: BTreeSet<Symbol> = wanted.iter().map(|id| snapshot.object(*id).namespace).collect();
        let everywhere = namespaces.len() >= LIST_FROM;
        let lists: Vec<Option<Symbol>> =
            if everywhere { vec![None] } else { namespaces.into_iter().map(Some).collect() };
        let (asked, resource) = (&*snapshot, snapshot.resources.get(secrets));
        let read = |answer: &Answer, tokens: &mut FxHashMap<String, TokenFacts>| {
            json::read_items(&answer.body, &mut |secret: Value| {
                let uid = secret.pointer("/metadata/uid").and_then(Value::as_str);
                tokens.extend(uid.map(str::to_owned).zip(token(&secret)));
                Ok(())
            })
        };
        let query = format!("fieldSelector={}", path::encoded(&format!("type={}", TokenFacts::TYPE)));
        let answers = ask_each(lists, async |namespace| {
            let url = path::of_resource(resource, namespace.map(|namespace| asked.text(namespace)));
            (namespace, self.get_pages(&url, &query, METADATA_LIST_IN_JSON, read).await)
        });
        let mut gaps = Gaps::default();
        for (namespace, tokens) in answers.await {
            match tokens {
                Ok((tokens, _)) => {
                    for (uid, facts) in tokens {
                        if let Some(secret) = snapshot.with_uid(&uid) {
                            snapshot.learn(secret, Fact::Token(facts));
                        }
                    }
                    let of_list =
                        |id: &&ObjectId| namespace.is_none_or(|namespace| snapshot.object(**id).namespace == namespace);
                    let read: Vec<ObjectId> = wanted.iter().filter(of_list).copied().collect();
                    for account in read {
                        snapshot.learn(account, Fact::Account(AccountFacts {}));
                    }
                }
                Err(failure) => {
                    let namespace = namespace.map_or("", |namespace| snapshot.text(namespace));
                    gaps.add(
                        "secrets".to_owned(),
                        namespace,
                        &format!("type={}", TokenFacts::TYPE),
                        failure.to_string(),
                    );
                }
            }
        }
        gaps.record(snapshot);
    }
}

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

/// Facts of one object.
type Both = (Option<Fact>, Option<ReclaimFacts>);

fn learn_both(snapshot: &mut Snapshot, id: ObjectId, (fact, reclaim): Both) {
    if let Some(fact) = fact {
        snapshot.learn(id, fact);
    }
    if let Some(reclaim) = reclaim {
        snapshot.facts.insert_reclaim(id, reclaim);
    }
}

impl Connection {
    /// Reads the facts that decide when objects go into the snapshot. Where that is forbidden in the whole cluster, it
    /// reads this namespace, if any. What can't be read becomes a gap.
    pub async fn fetch_reclaim_facts(&self, snapshot: &mut Snapshot, namespace: Option<&str>) {
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
            for (uid, both) in read {
                // What was created since the metadata was listed is left out.
                if let Some(id) = snapshot.with_uid(&uid) {
                    learn_both(snapshot, id, both);
                }
            }
            if let Some(gap) = gap.filter(|gap| !snapshot.gaps.contains(gap)) {
                snapshot.gaps.push(gap);
            }
        }
        snapshot.gaps.sort();
    }

    /// The same of single objects, as far as it isn't known. Nothing is read of a Secret.
    pub async fn fetch_reclaim_facts_of(&self, snapshot: &mut Snapshot, objects: &[ObjectId]) {
        let asked = &*snapshot;
        let resource = |id: ObjectId| asked.resources.get(asked.object(id).resource);
        let is_read = |id: ObjectId| asked.facts.reclaim(id).is_some() && asked.facts.get(id).is_some();
        let of_secret = |id: ObjectId| matches!(resource(id).kind.as_str(), "Secret" | "ConfigMap");
        let unread: Vec<ObjectId> = objects.iter().copied().filter(|id| !is_read(*id) && !of_secret(*id)).collect();
        let read = |answer: &Answer, _: RawObject<'_>| Ok(serde_json::from_slice::<Value>(&answer.body)?);
        let answers = ask_each(unread, async |id| (id, self.get_same(asked, id, JSON, read).await)).await;
        learn_each(snapshot, answers, |snapshot, id, item| {
            let Resource { group, kind, .. } = snapshot.resource(id);
            let both = (read_now(group, kind, &item), read_reclaim_facts(group, kind, &item));
            learn_both(snapshot, id, both);
        });
    }

    /// What could be read of a list, by uid, and what could not.
    async fn list_reclaim_facts(&self, list: List<'_>, namespace: Option<&str>) -> (Vec<(String, Both)>, Option<Gap>) {
        let read = async |namespace: Option<&str>| {
            let read = |answer: &Answer, found: &mut Vec<(String, Both)>| {
                json::read_items(&answer.body, &mut |item| {
                    found.extend(both_of(list.resource, &item));
                    Ok(())
                })
            };
            let url = path::of_resource(list.resource, namespace);
            let read = self.get_pages(&url, &list.fields, list.accept, read).await;
            read.map(|(found, _)| found)
        };
        let failure = match read(list.namespace).await {
            Ok(read) => return (read, None),
            Err(failure) => failure,
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

/// Takes the uid and the facts from an object of a list, and nothing else.
fn both_of(resource: &Resource, item: &Value) -> Option<(String, Both)> {
    let (group, kind) = (resource.group.as_str(), resource.kind.as_str());
    let uid = item.pointer("/metadata/uid").and_then(Value::as_str)?;
    let fact = match (group, kind) {
        ("", "Secret") => token(item).map(Fact::Token),
        ("", "ServiceAccount" | "ConfigMap") => None,
        _ => read_now(group, kind, item),
    };
    Some((uid.to_owned(), (fact, read_reclaim_facts(group, kind, item))))
}

#[cfg(test)]
mod tests {
    use crate::cluster::testing::{json, pods, refuse, serve, serving};
    use gc_core::model::{Origin, RawObject, Resource, Resources, SnapshotBuilder};

    use super::*;

    fn snapshot(count: usize) -> (Snapshot, Vec<ObjectId>) {
        let mut builder = serving([pods()]);
        let ids = (0..count).map(|index| {
            let (name, uid) = (format!("p{index}"), format!("u{index}"));
            builder.add(ResourceId(0), &RawObject::named("shop", name, uid))
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
        let mut builder = serving([lease]);
        let names: Vec<String> = (0..10).map(|index| format!("l{index}")).collect();
        let ids: Vec<ObjectId> = names
            .iter()
            .map(|name| {
                let namespace = if name == "l9" { "other" } else { "shop" };
                let object = RawObject::named(namespace, name, name);
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
        let mut builder = serving([pods()]);
        let ids =
            ["noted", "nobody", "replaced", "gone", "unserved", "secret", "garbage", "not-asked-for"].map(|name| {
                let uid = format!("u-{name}");
                let object = RawObject::named("shop", name, uid);
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

    fn resource(plural: &str, kind: &str, namespaced: bool) -> Resource {
        let (version, plural, kind) = ("v1".to_owned(), plural.to_owned(), kind.to_owned());
        Resource { version, plural, kind, namespaced, ..Resource::default() }
    }

    #[tokio::test]
    async fn a_node_is_asked_for_its_pods() {
        let connection = serve(|asked| match asked.url.as_str() {
            url if url.starts_with("/api/v1/pods?fieldSelector=spec.nodeName%3Dn1") => {
                let item = r#"{"metadata":{"name":"a","namespace":"ns","uid":"u-a"}}"#;
                json(200, format!(r#"{{"kind":"PartialObjectMetadataList","metadata":{{}},"items":[{item}]}}"#))
            }
            url if url.starts_with("/api/v1/pods?fieldSelector=spec.nodeName%3Dn2") => refuse(403),
            other => panic!("{other}"),
        });
        let mut builder = serving([resource("nodes", "Node", false), resource("pods", "Pod", true)]);
        let nodes = builder.snapshot().resources.by_group_kind("", "Node").unwrap();
        let mut add = |name: &'static str| {
            builder
                .add(nodes, &RawObject { name: name.into(), uid: format!("u-{name}").into(), ..RawObject::default() })
        };
        let ids = [add("n1"), add("n2")];
        let mut snapshot = builder.build();
        connection.await.fetch_facts(&mut snapshot, &ids).await;
        assert_eq!(snapshot.facts.node(ids[0]), Some(&NodeFacts { pods: Some(vec!["u-a".to_owned()]), kubelet: None }));
        assert_eq!(snapshot.facts.node(ids[1]), None);
        let gaps: Vec<String> = snapshot.gaps.iter().map(ToString::to_string).collect();
        assert_eq!(gaps.len(), 1);
        assert!(gaps[0].starts_with("pods (spec.nodeName=n2: "), "{gaps:?}");
    }

    #[tokio::test]
    async fn each_namespace_is_asked_once() {
        let connection = serve(|asked| match asked.url.as_str() {
            url if url.starts_with("/api/v1/namespaces/a/secrets?fieldSelector=type%3Dkubernetes.io") => {
                let item = r#"{"metadata":{"name":"t","namespace":"a","uid":"u-t",
                    "annotations":{"kubernetes.io/service-account.name":"robot"}}}"#;
                json(200, format!(r#"{{"kind":"PartialObjectMetadataList","metadata":{{}},"items":[{item}]}}"#))
            }
            url if url.starts_with("/api/v1/namespaces/b/secrets?") => refuse(403),
            other => panic!("{other}"),
        });
        let resources = Resources::new(
            vec![resource("serviceaccounts", "ServiceAccount", true), resource("secrets", "Secret", true)],
            Vec::new(),
        );
        let (accounts, secrets) =
            (resources.by_group_kind("", "ServiceAccount"), resources.by_group_kind("", "Secret"));
        let mut builder = SnapshotBuilder::new(Origin::Dump { paths: Vec::new() }, resources);
        let mut add = |resource, namespace: &'static str, name: &'static str, uid: &'static str| {
            let object = RawObject::named(namespace, name, uid);
            builder.add(resource, &object)
        };
        let [robot, other, denied] = [("a", "robot", "u-r"), ("a", "other", "u-o"), ("b", "denied", "u-d")]
            .map(|(namespace, name, uid)| add(accounts.unwrap(), namespace, name, uid));
        let secret = add(secrets.unwrap(), "a", "t", "u-t");
        let mut snapshot = builder.build();
        connection.await.fetch_tokens_of_accounts(&mut snapshot, &[robot, other, denied]).await;
        assert!(snapshot.facts.account(robot).is_some() && snapshot.facts.account(other).is_some());
        assert!(snapshot.facts.account(denied).is_none());
        let facts = TokenFacts { account: "robot".to_owned(), uid: None };
        assert_eq!(snapshot.facts.token(secret), Some(&facts));
        let gaps: Vec<String> = snapshot.gaps.iter().map(ToString::to_string).collect();
        assert_eq!(gaps, ["secrets in namespace b (type=kubernetes.io/service-account-token: forbidden)"]);
    }
}

#[cfg(test)]
mod reclaim_tests {
    use super::*;
    use crate::cluster::testing::{json, pods, refuse, serve};
    use gc_core::model::{Origin, RawObject, Resources, SnapshotBuilder};

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
            let uid = format!("u-{name}");
            let object = RawObject::named(namespace, name, uid);
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
        let expires = gc_core::model::facts::Expiration::At(1_767_225_600);
        assert_eq!(snapshot.facts.reclaim(ids[1]), Some(&ReclaimFacts::BootstrapToken(expires)));
        let gaps: Vec<String> = snapshot.gaps.iter().map(ToString::to_string).collect();
        assert_eq!(gaps, ["pods (forbidden)"], "of the other namespaces");
    }
}
