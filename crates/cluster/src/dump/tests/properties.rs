//! No input makes the reader panic, and a written snapshot loses nothing.

use proptest::{collection::vec, option, prelude::*};

use super::*;
use crate::dump::{self, fuzzing};
use gc_core::model::{
    Fact, Gap, ListRecord, Origin, RawObject, RawReference, Resource, Resources, SnapshotBuilder, effects::PolicyFacts,
    facts,
};

const DUMP: &str = "apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata:\n    labels: &l {app: web}\n    \
    name: a\n    \
    namespace: shop\n    uid: \"1\"\n    ownerReferences:\n    - {apiVersion: apps/v1, kind: ReplicaSet, name: rs, \
        uid: \"2\"}\n  \
    spec: {nodeName: n, x: *l}\n- apiVersion: v1\n  kind: Secret\n  metadata:\n    creationTimestamp: \
        \"2026-01-31T08:00:00Z\"\n    \
    name: b\n    namespace: shop\n    uid: \"3\"\nkind: List\n---\napiVersion: v1\nkind: Node\nmetadata: {name: n, \
        uid: \"4\"}\n";

const JSON: &str = r#"{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":"a","namespace":"x","uid":"1","labels":{"a":"b"},
    "finalizers":["f"],"managedFields":[{"manager":"m","fieldsV1":{"f:metadata":{"f:finalizers":{"v:\"f\"":{}}}}}],
    "ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"rs","uid":"2","controller":true}]},"spec":{"nodeName":"n"}}]}
    {"type":"ADDED","object":{"apiVersion":"v1","kind":"Node","metadata":{"name":"n","uid":"4","creationTimestamp":"2026-01-31T08:00:00Z"}}}"#;

/// Tokens with a meaning for one of the parsers.
fn token() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "\"",
        "- ",
        "\n",
        "  ",
        "---\n",
        "...",
        "&a ",
        "*a",
        "!t ",
        "!!int ",
        "? ",
        "|",
        ">",
        "%",
        "#",
        "null",
        "1e9",
        "99999999999999999999999999",
        "kind",
        "apiVersion",
        "items",
        "metadata",
        "spec",
        "List",
        "Pod",
        "v1",
        "ownerReferences",
        "uid",
        "name",
        "object",
        "type",
        "\"kind\":\"List\",",
        "\"items\":[",
        "kubectl-gc/v1",
        "\u{feff}",
        "\0",
        "\t",
        "\r",
        "<<: ",
        "~",
        ".inf",
    ])
}

fn mutated(text: &'static str) -> impl Strategy<Value = Vec<u8>> {
    let change =
        (0..text.len(), 0..text.len() / 4, prop_oneof![Just(String::new()), token().prop_map(str::to_owned), ".{0,4}"]);
    vec(change, 1..6).prop_map(move |changes| {
        let mut bytes = text.as_bytes().to_vec();
        for (at, length, new) in changes {
            let at = at.min(bytes.len());
            let end = (at + length).min(bytes.len());
            bytes.splice(at..end, new.bytes());
        }
        bytes
    })
}

fn short() -> impl Strategy<Value = String> {
    prop_oneof![3 => "[a-c]{1,2}", 1 => ".{0,6}"]
}

fn resource() -> impl Strategy<Value = Resource> {
    let part = |from: &'static [&'static str]| prop::sample::select(from).prop_map(str::to_owned);
    (
        part(&["", "apps", "acme.io"]),
        part(&["v1", "v1beta1", "v2"]),
        part(&["as", "bs", "cs"]),
        part(&["A", "B", "a"]),
        any::<bool>(),
        vec(part(&["get", "delete", "list", "watch"]), 0..4),
        vec(short(), 0..2),
    )
        .prop_map(|(group, version, plural, kind, namespaced, verbs, names)| Resource {
            singular: plural.trim_end_matches('s').to_owned(),
            group,
            version,
            plural,
            kind,
            short_names: names.clone(),
            categories: names,
            namespaced,
            verbs,
            ..Resource::default()
        })
}

fn time() -> impl Strategy<Value = Option<i64>> {
    option::of(prop_oneof![0..4_000_000_000_i64, any::<i64>()])
}

fn object_of() -> impl Strategy<Value = RawObject<'static>> {
    let owner = (short(), short(), short(), short(), any::<Option<bool>>(), any::<Option<bool>>()).prop_map(
        |(api_version, kind, name, uid, controller, block_owner_deletion)| RawReference {
            api_version: api_version.into(),
            kind: kind.into(),
            name: name.into(),
            uid: uid.into(),
            controller,
            block_owner_deletion,
        },
    );
    let labels = prop::collection::btree_map(short(), short(), 0..4);
    (
        (short(), short(), short(), short()),
        (time(), time(), any::<Option<i64>>()),
        vec(short(), 0..3),
        vec(owner, 0..3),
        labels,
    )
        .prop_map(|((namespace, name, uid, version), (created, deleted, grace), finalizers, owners, labels)| {
            RawObject {
                namespace: namespace.into(),
                name: name.into(),
                uid: uid.into(),
                resource_version: version.into(),
                created,
                deleted,
                grace,
                finalizers: finalizers.into_iter().map(Into::into).collect(),
                owners,
                labels: labels.into_iter().map(|(key, value)| (key.into(), value.into())).collect(),
                ..RawObject::default()
            }
        })
}

fn condition() -> impl Strategy<Value = facts::Condition> {
    (short(), short(), short()).prop_map(|(kind, reason, message)| facts::Condition { kind, reason, message })
}

fn backend() -> impl Strategy<Value = facts::Backend> {
    prop_oneof![
        (short(), short(), any::<u16>()).prop_map(|(namespace, name, port)| facts::Backend::Service {
            namespace,
            name,
            port: port.into()
        }),
        short().prop_map(facts::Backend::Url),
    ]
}

fn selector() -> impl Strategy<Value = facts::LabelSelector> {
    let requirement = (short(), short(), vec(short(), 0..2))
        .prop_map(|(key, operator, values)| facts::LabelRequirement { key, operator, values });
    vec(requirement, 0..2).prop_map(facts::LabelSelector)
}

fn webhook() -> impl Strategy<Value = facts::Webhook> {
    let rule = (vec(short(), 0..2), vec(short(), 0..2), vec(short(), 0..2), vec(short(), 0..2), option::of(short()))
        .prop_map(|(groups, versions, resources, operations, scope)| facts::WebhookRule {
            groups,
            versions,
            resources,
            operations,
            scope,
            names: Vec::new(),
        });
    let selectors = (option::of(selector()), option::of(selector()));
    (short(), option::of(backend()), any::<[bool; 5]>(), selectors, vec(short(), 0..2), vec(rule, 0..2)).prop_map(
        |(name, backend, [required, selective, conditional, never, exact], (namespaces, objects), exempt, rules)| {
            facts::Webhook {
                name,
                backend,
                required,
                selective,
                namespaces,
                objects,
                conditional,
                never,
                exempt,
                exact,
                rules,
            }
        },
    )
}

fn setter() -> impl Strategy<Value = facts::Setter> {
    (short(), short(), any::<Option<i64>>()).prop_map(|(finalizer, manager, time)| facts::Setter {
        finalizer,
        manager,
        time,
    })
}

fn fact() -> impl Strategy<Value = Fact> {
    prop_oneof![
        (option::of(short()), any::<Option<i64>>(), vec(short(), 0..2), option::of(short())).prop_map(
            |(node, grace, claims, account)| {
                let not_ready = facts::NotReady { since: grace, waiting: node.clone(), because: account.clone() };
                let not_ready = account.is_some().then(|| Box::new(not_ready));
                Fact::Pod(facts::PodFacts { node, grace, claims, account, not_ready, ..facts::PodFacts::default() })
            }
        ),
        (option::of(short()), option::of(short()), option::of(short())).prop_map(
            |(volume, attributes_class, filled_from)| {
                let modified_between = attributes_class.iter().cloned().collect();
                let class = filled_from.clone().filter(|_| volume.is_none());
                Fact::Claim(facts::ClaimFacts { volume, attributes_class, modified_between, filled_from, class })
            }
        ),
        (option::of(short()), vec(short(), 0..2), vec(0..4_i64, 0..2), any::<bool>(), option::of(selector())).prop_map(
            |(kind, cluster_ips, ports, selects, selector)| {
                Fact::Service(facts::ServiceFacts { kind, cluster_ips, ports, selects, selector })
            }
        ),
        (vec(short(), 0..2), any::<bool>())
            .prop_map(|(exceeded, demands)| Fact::Quota(facts::QuotaFacts { exceeded, demands })),
        any::<[Option<i64>; 2]>()
            .prop_map(|cpu| Fact::LimitRange(facts::LimitRangeFacts { cpu, memory: [cpu[1], None] })),
        vec((short(), short()), 0..2).prop_map(|labels| {
            let one = |(key, value)| facts::LabelRequirement { key, operator: "In".to_owned(), values: vec![value] };
            let parts = labels.into_iter().map(|label| facts::LabelSelector(vec![one(label)])).collect();
            Fact::Role(facts::RoleFacts { writes: Vec::new(), parts })
        }),
        (option::of(short()), any::<([Option<i64>; 2], [bool; 3])>()).prop_map(
            |(managed_by, ([failures_left, expires], [judges_failures, fails_with_node, tries_indexes_once]))| {
                let more =
                    facts::JobFacts { expires, fails_with_node, tries_indexes_once, ..facts::JobFacts::default() };
                Fact::Job(facts::JobFacts { managed_by, failures_left, judges_failures, ..more })
            }
        ),
        Just(Fact::Account(facts::AccountFacts {})),
        (short(), option::of(short())).prop_map(|(account, uid)| Fact::Token(facts::TokenFacts { account, uid })),
        vec(short(), 0..2).prop_map(|pods| Fact::Node(facts::NodeFacts { pods: Some(pods), kubelet: None })),
        (option::of(short()), option::of(short()), option::of(short())).prop_map(|(content, taken_of, failure)| {
            Fact::VolumeSnapshot(facts::SnapshotFacts { content, taken_of, failure: failure.map(Into::into) })
        }),
        (option::of(short()), option::of(short()), option::of(short())).prop_map(
            |(deletion_policy, snapshot, driver)| {
                Fact::VolumeSnapshotContent(facts::SnapshotContentFacts { deletion_policy, snapshot, driver })
            }
        ),
        (vec(short(), 0..2), any::<bool>())
            .prop_map(|(pods, others)| Fact::ResourceClaim(facts::ResourceClaimFacts { others, pods })),
        vec(short(), 0..2).prop_map(|ranges| Fact::ServiceCidr(facts::ServiceCidrFacts { ranges })),
        vec((short(), short()), 0..2).prop_map(|fields| Fact::Policy(PolicyFacts {
            requires: fields.iter().map(|(_, name)| facts::Required::Certificate(name.clone())).collect(),
            fields: fields.into_iter().collect(),
            ..PolicyFacts::default()
        })),
        (vec(short(), 0..2), vec(condition(), 0..2)).prop_map(|(finalizers, conditions)| Fact::Namespace(
            facts::NamespaceFacts { emptied: conditions.is_empty(), finalizers, conditions, ..Default::default() }
        )),
        (short(), any::<[bool; 2]>(), option::of(backend()), vec(condition(), 0..2)).prop_map(
            |(group, [established, revised], conversion, conditions)| Fact::Definition(facts::DefinitionFacts {
                group,
                kind: "K".into(),
                plural: "ks".into(),
                established,
                conversion: conversion.map(Box::new),
                revised,
                unserved: revised.then(|| Box::new(facts::StoredVersion { place: 1, name: "v1".to_owned() })),
                conditions,
            })
        ),
        (option::of(short()), any::<[Option<i64>; 3]>()).prop_map(|(holder, [seconds, renewed, seen])| {
            Fact::Lease(facts::LeaseFacts { holder, seconds, renewed, seen })
        }),
        (any::<(Option<i64>, i64)>(), option::of((vec(short(), 0..2), any::<bool>())), vec(short(), 0..2)).prop_map(
            |((wanted, ready), claims, accounts)| {
                let claims = claims.map(|(names, deleted)| facts::ClaimTemplates { names, deleted });
                let named = [facts::Required::ServiceAccount, facts::Required::Secret, facts::Required::ConfigMap];
                let requires = accounts.into_iter().zip(named).map(|(name, of)| of(name)).collect();
                let asked = wanted.map(|all| facts::Asked { cpu: [ready, all], memory: [0, ready] });
                let more = facts::WorkloadFacts { asks: asked.map(Box::new), ..facts::WorkloadFacts::default() };
                Fact::Workload(facts::WorkloadFacts { wanted, ready, claims, requires, ..more })
            }
        ),
        (any::<u64>(), vec(short(), 0..2)).prop_map(|(ready, pods)| Fact::Slice(facts::SliceFacts { ready, pods })),
        (short(), short(), option::of(backend()), any::<Option<bool>>(), short()).prop_map(
            |(group, version, service, available, reason)| Fact::ApiService(facts::ApiServiceFacts {
                group,
                version,
                service,
                available,
                since: available.and_then(|available| u32::from(available).try_into().ok()),
                message: format!("{reason}!"),
                reason,
            })
        ),
        vec(webhook(), 0..2).prop_map(|webhooks| Fact::Webhooks(facts::WebhookFacts { webhooks })),
    ]
}

fn said() -> impl Strategy<Value = facts::Said> {
    use facts::Source::{Before, Event, Status, Untimed};
    let source = prop_oneof![Just(Status), Just(Untimed), Just(Before), Just(Event)];
    (short(), source, any::<bool>(), any::<Option<i64>>()).prop_map(|(words, source, is_error, at)| facts::Said {
        words,
        source,
        is_error,
        at,
    })
}

prop_compose! {
    fn snapshot()(
        resources in vec(resource(), 1..6),
        preferred in vec((short(), short()), 0..3),
        objects in vec((any::<prop::sample::Index>(), object_of(), option::of(fact()), option::of(vec(setter(),
            0..2)), vec(said(), 0..2)), 0..8),
        lists in vec((any::<prop::sample::Index>(), option::of(short()), short(), option::of(short())), 0..4),
        absent in vec((any::<prop::sample::Index>(), short(), short(), any::<bool>()), 0..3),
        gaps in vec((short(), option::of(short()), short()), 0..3),
        cluster in any::<bool>(),
    ) -> Snapshot {
        // Discovery never lists a resource version twice.
        let mut seen = std::collections::HashSet::new();
        let mut resources = resources;
        resources.retain(|resource| seen.insert((resource.api_version(), resource.plural.clone())));
        let resources = Resources::new(resources, preferred);
        let ids: Vec<_> = resources.iter().map(|(id, _)| id).collect();
        let origin = match cluster {
            true => Origin::Cluster { context: "c".into(), server: "s:1".into() },
            false => Origin::Dump { paths: vec!["-".into(), "a\nb".into()] },
        };
        let mut builder = SnapshotBuilder::new(origin, resources);
        for (index, raw, fact, setters, said) in &objects {
            let id = builder.add(*index.get(&ids), raw);
            if let Some(fact) = fact {
                builder.snapshot().facts.insert(id, fact.clone());
            }
            if let Some(setters) = setters {
                builder.snapshot().facts.insert_setters(id, setters.clone());
            }
            builder.snapshot().facts.insert_said(id, said.clone());
        }
        for (index, namespace, resource_version, failure) in lists {
            builder.list(ListRecord { resource: *index.get(&ids), namespace, resource_version,
                failure: failure.map(Into::into) });
        }
        for (index, namespace, name, answered) in absent {
            let snapshot = builder.snapshot();
            let resource = snapshot.resources.picked(*index.get(&ids));
            let (namespace, name) = (snapshot.strings.intern(&namespace), snapshot.strings.intern(&name));
            let coordinate = Coordinate { resource, namespace, name };
            match answered {
                true => snapshot.confirm_absent(coordinate),
                false => snapshot.leave_unanswered(coordinate),
            }
        }
        for (resource, namespace, reason) in gaps {
            builder.gap(Gap { resource, namespace, reason: reason.into() });
        }
        builder.build()
    }
}

fn written(snapshot: &Snapshot) -> Vec<u8> {
    let mut bytes = Vec::new();
    dump::write(snapshot, &mut bytes).unwrap();
    bytes
}

proptest! {
    #[test]
    fn a_snapshot_file_loses_nothing(snapshot in snapshot()) {
        let first = written(&snapshot);
        let back = read_bytes(&first, false).unwrap();
        prop_assert_eq!(String::from_utf8(written(&back)).unwrap(), String::from_utf8(first).unwrap());
        prop_assert_eq!(&back.gaps, &snapshot.gaps);
        prop_assert_eq!(&back.lists, &snapshot.lists);
        prop_assert_eq!(back.unanswered().count(), snapshot.unanswered().count());
        for (id, object) in snapshot.objects() {
            let other = back.object(id);
            prop_assert_eq!(object.resource, other.resource);
            prop_assert_eq!(snapshot.text(object.name), back.text(other.name));
            prop_assert_eq!(snapshot.facts.get(id), back.facts.get(id));
            prop_assert_eq!(snapshot.facts.setters(id), back.facts.setters(id));
            prop_assert_eq!(snapshot.facts.said(id), back.facts.said(id));
        }
    }

    #[test]
    fn any_bytes_are_read_without_panic(bytes in vec(any::<u8>(), 0..200)) {
        fuzzing::dump(&bytes);
    }

    #[test]
    fn any_tokens_are_read_without_panic(tokens in vec(token(), 0..60)) {
        fuzzing::dump(tokens.concat().as_bytes());
    }

    #[test]
    fn mutated_yaml_is_read_without_panic(bytes in mutated(DUMP)) {
        fuzzing::dump(&bytes);
    }

    #[test]
    fn mutated_json_is_read_without_panic(bytes in mutated(JSON)) {
        fuzzing::dump(&bytes);
    }

    #[test]
    fn mutated_snapshots_are_read_without_panic(snapshot in snapshot(), at in any::<prop::sample::Index>(),
        new in token()) {
        let mut bytes = written(&snapshot);
        let at = at.index(bytes.len());
        bytes.splice(at..(at + 1), new.bytes());
        fuzzing::dump(&bytes);
    }
}
