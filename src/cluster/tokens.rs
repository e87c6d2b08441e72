//! Reads which Secrets contain tokens of ServiceAccounts: their metadata, and never what is in them.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use serde_json::Value;

use crate::model::{
    Fact, ObjectId, Snapshot, Symbol,
    facts::{AccountFacts, TokenFacts, token},
    gaps::Gaps,
};

use super::{Connection, answer::Answer, get_object::ask_each, json, path, request::METADATA_LIST_IN_JSON};

/// From so many namespaces on, one list of all namespaces is cheaper.
const NAMESPACES: usize = 9;

impl Connection {
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
        let everywhere = namespaces.len() >= NAMESPACES;
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

    fn resource(plural: &str, kind: &str) -> Resource {
        let (version, plural, kind) = ("v1".to_owned(), plural.to_owned(), kind.to_owned());
        Resource { version, plural, kind, namespaced: true, ..Resource::default() }
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
            vec![resource("serviceaccounts", "ServiceAccount"), resource("secrets", "Secret")],
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
