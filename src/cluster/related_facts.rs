//! Facts that lists of other objects tell: which pods are bound to a Node, by one request instead of one for every pod
//! of the cluster; and which Secrets contain tokens of ServiceAccounts, from their metadata, and never what is in them.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use serde_json::Value;

use crate::model::{
    Fact, ObjectId, Snapshot, Symbol,
    facts::{AccountFacts, NodeFacts, TokenFacts, token},
    gaps::Gaps,
};

use super::{
    Connection,
    answer::Answer,
    get_object::{LIST_FROM, ask_each},
    json, path,
    request::METADATA_LIST_IN_JSON,
};

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
        let wanted: Vec<(ObjectId, String)> = objects
            .iter()
            .filter(is_wanted)
            .map(|id| (*id, snapshot.text(snapshot.object(*id).name).to_owned()))
            .collect();
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
                        let found = snapshot.strings.find(&uid).and_then(|uid| snapshot.by_uid(uid));
                        if let Some(secret) = found {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        cluster::testing::{json, refuse, serve},
        model::{Origin, RawObject, Resource, Resources, SnapshotBuilder},
    };

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
        let resources =
            Resources::new(vec![resource("nodes", "Node", false), resource("pods", "Pod", true)], Vec::new());
        let mut builder = SnapshotBuilder::new(Origin::Dump { paths: Vec::new() }, resources);
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
            let object =
                RawObject { namespace: namespace.into(), name: name.into(), uid: uid.into(), ..RawObject::default() };
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
