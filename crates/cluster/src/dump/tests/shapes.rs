//! The many forms in which kubectl and users write objects.

use super::*;
use gc_core::model::ResourceVersion;

#[test]
fn json_has_one_document_or_several() {
    let a = object("v1", "ConfigMap", "shop", "a", "");
    let b = object("v1", "ConfigMap", "shop", "b", "");
    for text in [format!("{a}\n{b}\n"), format!("{a}{b}"), format!("[{a},{b}]"), format!("\u{feff} {a}\r\n\r\n{b}")] {
        assert_eq!(names(&read(&text)), ["ConfigMap/a", "ConfigMap/b"], "{text}");
    }
}

/// Inspecting the rest of the text after every document makes reading quadratic; it once took minutes.
#[test]
fn many_documents_take_no_longer_than_a_list() {
    let text: String =
        (0..20_000).map(|number| object("v1", "ConfigMap", "shop", &format!("a{number}"), "") + "\n").collect();
    let started = std::time::Instant::now();
    assert_eq!(read(&text).len(), 20_000);
    assert!(started.elapsed() < std::time::Duration::from_secs(20));
}

#[test]
fn lists_may_name_the_kind_of_their_items_before_or_after_them() {
    let item = r#"{"metadata":{"namespace":"shop","name":"a","uid":"1"},"spec":{"nodeName":"n1"}}"#;
    for text in [
        format!(r#"{{"apiVersion":"v1","kind":"PodList","items":[{item}]}}"#),
        format!(r#"{{"items":[{item}],"kind":"PodList","apiVersion":"v1"}}"#),
        format!(r#"{{"apiVersion":"v1","items":[{item}],"kind":"PodList","metadata":{{"resourceVersion":"7"}}}}"#),
        r#"{"apiVersion":"v1","items":[{"spec":{"nodeName":"n1"},"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"shop","name":"a","uid":"1"}}],"kind":"List"}"#.to_owned(),
    ] {
        let snapshot = read(&text);
        assert_eq!(names(&snapshot), ["Pod/a"], "{text}");
        let (id, _) = snapshot.objects().next().unwrap();
        assert_eq!(snapshot.facts.pod(id).unwrap().node.as_deref(), Some("n1"), "{text}");
    }
}

#[test]
fn lists_that_are_empty_or_null_hold_nothing() {
    let pod = object("v1", "Pod", "shop", "a", "");
    let text = format!(
        r#"{{"kind":"NodeList","apiVersion":"v1","items":null}}{{"kind":"List","apiVersion":"v1","items":[]}}{pod}"#
    );
    assert_eq!(names(&read(&text)), ["Pod/a"]);
}

#[test]
fn an_object_whose_kind_ends_in_list_is_no_list() {
    let text =
        r#"{"apiVersion":"acme.io/v1","kind":"AllowList","items":["10.0.0.1"],"metadata":{"name":"a","uid":"1"}}"#;
    assert_eq!(names(&read(text)), ["AllowList/a"]);
}

#[test]
fn what_an_object_calls_its_items_are_no_objects() {
    let pod = object("acme.io/v1", "Toy", "shop", "a", "");
    let metadata = r#""metadata":{"name":"b","uid":"2"}"#;
    for text in [
        format!(r#"{{"apiVersion":"acme.io/v1","items":[{pod},{pod}],"kind":"Basket",{metadata}}}"#),
        format!(r#"{{"apiVersion":"acme.io/v1","items":[{pod},"x"],"kind":"BasketList",{metadata}}}"#),
        format!(r#"[{{"items":[{pod},{{}}],"items":[{pod}],"apiVersion":"acme.io/v1","kind":"Basket",{metadata}}}]"#),
    ] {
        assert_eq!(names(&read(&text)).len(), 1, "{text}");
    }
    let twice = format!(r#"{{"items":[{pod},"x"],"items":[{pod}],"apiVersion":"v1","kind":"List"}}"#);
    assert_eq!(names(&read(&twice)), ["Toy/a"]);
    let node = object("v1", "Node", "", "n", "");
    assert_eq!(names(&read(&format!(r#"{{"type":"DELETED","object":{pod}}}{node}"#))), ["Node/n"]);
}

/// However the text is cut, objects and errors are the same.
#[test]
fn every_size_of_chunks_reads_the_same() {
    let a = object("v1", "ConfigMap", "shop", "a", r#","labels":{"k":"\\\"]}\u00e4ä"}"#);
    let pod = r#"{"metadata":{"namespace":"shop","name":"p","uid":"1"},"spec":{"nodeName":"n1"}}"#;
    let spaced = "\u{feff} {\n \"apiVersion\" : \"v1\", \"x\":{\"items\":[1]},\n\"items\" :\n[ POD ,POD\n], \
        \"kind\":\"PodList\"\n}\n";
    let texts = [
        format!("{a}\n{a}"),
        format!("[{a} , {a}]"),
        spaced.replace("POD", pod),
        format!(r#"{{"apiVersion":"v1","kind":"PodList","items":[{pod},{pod}],"metadata":{{"resourceVersion":"7"}}}}"#),
        format!(r#"{{"apiVersion":"v1","kind":"List","items":[{a},{pod}]}}"#),
        format!("{{\"kind\":\"List\",\"apiVersion\":\"v1\",\"items\":[{a}],\n\"metadata\":oops}}"),
        format!("{{\"kind\":\"List\",\n\"apiVersion\":\"v1\",\"items\":[{a},\n  {{\"a\" 1}}]}}"),
        format!(r#"{{"kind":"List","items":[{a} {a}]}}"#),
        format!(r#"{{"kind":"List","items":[{a},]}}"#),
        format!(r#"{{"kind":"List","items":[{a},"#),
        format!(r#"{{"kind":"List","items":[{a}"#),
        format!(r#"[{a}}}"#),
        format!(r#"[[{a}],1]"#),
        r#"{"kind":"List","items":["#.to_owned(),
        r#"{"apiVersion":"v1","kind":"Status","message":"no","items":[]}"#.to_owned(),
    ];
    texts.iter().for_each(|text| assert_same_in_chunks(text));
}

fn assert_same_in_chunks(text: &str) {
    let whole = shown(text.as_bytes(), 1 << 20);
    for chunk in [1, 2, 3, 7, 50] {
        assert_eq!(shown(text.as_bytes(), chunk), whole, "{text} by {chunk}");
    }
}

/// serde_json says the same of the whole text.
#[test]
fn errors_of_lists_have_their_places() {
    let a = object("v1", "ConfigMap", "shop", "a", "");
    let list = "{\"kind\":\"List\",\n\"items\":[";
    for rest in [
        format!("\n{a},\n {{\"a\" 1}}]}}"),
        format!("\n{{}} {a}]}}"),
        "{},]}".to_owned(),
        "{}".to_owned(),
        "{},".to_owned(),
        "{}}".to_owned(),
        "{},}".to_owned(),
        "{}], x}".to_owned(),
        "{}],\n x}".to_owned(),
        "{}]".to_owned(),
        "{}],\"a\":\n\"b".to_owned(),
        "{\"a\":[1}, {}]}".to_owned(),
    ] {
        let text = format!("{list}{rest}");
        let whole = serde_json::from_str::<serde_json::Value>(&text).unwrap_err().to_string();
        let (message, place) = whole.split_once(" at line ").unwrap();
        let place = place.replace(" column ", ", column ");
        let cut_off =
            if message.starts_with("EOF") { "; the file ends here: it seems cut off, dump it again" } else { "" };
        assert_eq!(error(&text), format!("dump: malformed JSON at line {place}: {message}{cut_off}"), "{text}");
    }
}

#[test]
fn of_several_copies_the_newest_counts() {
    let pod = |uid: &str, version: u32, created: &str| {
        format!(
            r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"namespace":"shop","name":"a","uid":"{uid}",
            "resourceVersion":"{version}"{created}}},"spec":{{"nodeName":"n{version}"}}}}"#
        )
    };
    let counts = |pods: &[String]| {
        let snapshot = read(&pods.concat());
        let object = only(&snapshot);
        let (id, _) = snapshot.objects().next().unwrap();
        assert_eq!(snapshot.by_uid(object.uid), Some(id));
        (snapshot.text(object.uid).to_owned(), snapshot.facts.pod(id).unwrap().node.clone().unwrap())
    };
    let of = |uid: &str, node: &str| (uid.to_owned(), node.to_owned());
    let [first, second, third] = ["7", "9", "8"].map(|version| pod("2", version.parse().unwrap(), ""));
    assert_eq!(counts(&[first, second, third]), of("2", "n9"));
    // A name exists once: another uid was made later, or before.
    let [monday, tuesday] = ["2", "3"].map(|day| format!(r#","creationTimestamp":"2026-03-0{day}T10:00:00Z""#));
    let pods = [pod("1", 5, &monday), pod("2", 7, &tuesday), pod("1", 6, &monday), pod("2", 8, &tuesday)];
    assert_eq!(counts(&pods), of("2", "n8"));
    assert_eq!(counts(&pods.map(|pod| pod.replace("03-03", "03-01"))), of("1", "n6"));
}

#[test]
fn what_an_api_server_computes_for_each_answer_is_no_object() {
    let computed = |api_version: &str, kind: &str| {
        format!(r#"{{"apiVersion":"{api_version}","kind":"{kind}","metadata":{{"name":"a","namespace":"shop"}}}}"#)
    };
    let text = [
        computed("metrics.k8s.io/v1beta1", "PodMetrics"),
        computed("packages.operators.coreos.com/v1", "PackageManifest"),
        object("v1", "ConfigMap", "shop", "a", ""),
    ]
    .concat();
    assert_eq!(names(&read(&text)), ["ConfigMap/a"]);
}

#[test]
fn watch_events_are_applied() {
    let event = |what: &str, object: String| format!(r#"{{"type":"{what}","object":{object}}}"#);
    let a = |version: u32| object("v1", "ConfigMap", "shop", "a", &format!(r#","resourceVersion":"{version}""#));
    let b = || object("v1", "ConfigMap", "shop", "b", "");
    let bookmark =
        r#"{"type":"BOOKMARK","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":"9"}}}"#;
    let text = [
        event("ADDED", a(9)),
        event("ADDED", b()),
        event("MODIFIED", a(10)),
        bookmark.to_owned(),
        event("DELETED", b()),
    ]
    .join("\n");
    let snapshot = read(&text);
    assert_eq!(only(&snapshot).resource_version.number(), Some(10));
    assert_eq!(names(&read(&(text + &event("ADDED", b())))), ["ConfigMap/a", "ConfigMap/b"]);
}

#[test]
fn yaml_features_are_supported() {
    let text = "\u{feff}# only a comment\r\n---\r\n---\r\n# another\r\n---\r\napiVersion: v1\r\nkind: \
        ConfigMap\r\nmetadata: &meta\r\n  \
                name: a\r\n  namespace: shop\r\n  uid: 1-a\r\n  labels: &labels {app: web, tier: !!str 1}\r\nmore: \
                    *labels\r\ndata: {a: !secret b, ? [x] : y}\r\n\
                ---\r\napiVersion: v1\r\nkind: !kind Secret\r\nmetadata:\r\n  name: b\r\n  namespace: shop\r\n  uid: \
                    12345\r\n  \
                resourceVersion: 77\r\n  labels: {app: web, tier: !!str 1}\r\n...\r\n---\r\n";
    let snapshot = read(text);
    assert_eq!(names(&snapshot), ["ConfigMap/a", "Secret/b"]);
    let (_, secret) = snapshot.objects().nth(1).unwrap();
    assert_eq!((snapshot.text(secret.uid), secret.resource_version.number()), ("12345", Some(77)));
    let labels: Vec<_> =
        secret.labels.iter().map(|(key, value)| (snapshot.text(*key), snapshot.text(*value))).collect();
    assert_eq!(labels, [("app", "web"), ("tier", "1")]);
}

#[test]
fn yaml_lists_are_read_as_kubectl_writes_them() {
    let text = "apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Namespace\n  metadata:\n    name: shop\n    uid: \
        \"1\"\n  spec:\n    \
                finalizers:\n    - kubernetes\n- apiVersion: v1\n  kind: PersistentVolume\n  metadata:\n    name: \
                    v\n    uid: \"2\"\n  \
                spec:\n    claimRef:\n      name: c\n      namespace: shop\n    persistentVolumeReclaimPolicy: \
                    Delete\nkind: List\n\
                metadata:\n  resourceVersion: \"\"\n";
    let snapshot = read(text);
    assert_eq!(names(&snapshot), ["Namespace/shop", "PersistentVolume/v"]);
    let ids: Vec<_> = snapshot.objects().map(|(id, _)| id).collect();
    assert_eq!(snapshot.facts.namespace(ids[0]).unwrap().finalizers, ["kubernetes"]);
    let volume = snapshot.facts.volume(ids[1]).unwrap();
    assert_eq!((volume.claim.as_deref(), volume.reclaim_policy.as_deref()), (Some("shop/c"), Some("Delete")));
}

#[test]
fn metadata_is_kept_as_written() {
    let text = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"shop","name":"a","uid":"1","resourceVersion":"5",
        "creationTimestamp":"2026-01-31T08:00:00Z","deletionTimestamp":"2026-01-31T10:00:30+02:00","deletionGracePeriodSeconds":30,
        "finalizers":["b","a"],"labels":null,"annotations":{"secret":"thing"},"managedFields":[{"deep":[[[[[[]]]]]]}],
        "ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"rs","uid":"2","controller":true,"blockOwnerDeletion":false}]}}"#;
    let snapshot = read(text);
    let pod = only(&snapshot);
    assert_eq!(
        [pod.created, pod.deleted, pod.grace].map(|time| time.get()),
        [1_769_846_400, 1_769_846_430, 30].map(Some)
    );
    assert_eq!(pod.finalizers.iter().map(|finalizer| snapshot.text(*finalizer)).collect::<Vec<_>>(), ["b", "a"]);
    assert!(pod.labels.is_empty());
    let owner = pod.owners[0];
    assert_eq!((owner.controller, owner.block_owner_deletion), (Some(true), Some(false)));
    assert!(snapshot.strings.find("thing").is_none(), "annotations are not kept");
}

#[test]
fn only_deletion_policies_are_kept() {
    let policy = |metadata: &str, spec: &str| {
        let text = format!(
            r#"{{"apiVersion":"s3.services.k8s.aws/v1alpha1","kind":"Bucket","metadata":{{"namespace":"a","name":"b","uid":"1",{metadata}}},
            "spec":{spec}}}"#
        );
        let snapshot = read(&text);
        let (id, _) = snapshot.objects().next().unwrap();
        snapshot.facts.policy(id).map(|facts| facts.fields.clone().into_iter().collect::<Vec<_>>())
    };
    let annotations = r#""annotations":{"services.k8s.aws/deletion-policy":"retain","secret":"thing"}"#;
    let finalizer = r#""finalizers":["finalizers.s3.services.k8s.aws/Bucket"]"#;
    let kept = vec![("services.k8s.aws/deletion-policy".to_owned(), "retain".to_owned())];
    assert_eq!(policy(&format!("{annotations},{finalizer}"), r#"{"name":"b"}"#), Some(kept));
    assert_eq!(policy(finalizer, "{}"), Some(Vec::new()), "known to say nothing");
    assert_eq!(policy(annotations, "{}"), None, "without its finalizer no controller heeds it");
    let crossplane = r#""finalizers":["finalizer.managedresource.crossplane.io"]"#;
    let kept = [("spec.deletionPolicy", "Orphan"), ("spec.managementPolicies", r#"["*"]"#)];
    let kept = kept.map(|(field, value)| (field.to_owned(), value.to_owned())).to_vec();
    let spec = r#"{"deletionPolicy":"Orphan","managementPolicies":["*"],"forProvider":{"password":"x"}}"#;
    assert_eq!(policy(crossplane, spec), Some(kept));
}

#[test]
fn facts_are_read_before_and_after_metadata() {
    let text = "spec:\n  volumeName: pv-1\nkind: PersistentVolumeClaim\napiVersion: v1\nmetadata: {namespace: a, name: \
        c, uid: \"1\"}\n---\n\
                apiVersion: v1\nkind: Service\nspec: {type: LoadBalancer}\nmetadata: {namespace: a, name: s, uid: \
                    \"2\"}\n";
    let snapshot = read(text);
    let ids: Vec<_> = snapshot.objects().map(|(id, _)| id).collect();
    assert_eq!(snapshot.facts.claim(ids[0]).unwrap().volume.as_deref(), Some("pv-1"));
    assert_eq!(snapshot.facts.service(ids[1]).unwrap().kind.as_deref(), Some("LoadBalancer"));
    assert!(snapshot.strings.find("pv-1").is_some(), "so that it can be looked up");
}

#[test]
fn malformed_owner_references_are_kept_as_far_as_possible() {
    let text = |owners: &str| object("v1", "Pod", "shop", "a", &format!(r#","ownerReferences":{owners}"#));
    let owners = |owners: &str| {
        let snapshot = read(&text(owners));
        let owners: Vec<_> = only(&snapshot)
            .owners
            .iter()
            .map(|owner| {
                [owner.api_version, owner.kind, owner.name, owner.uid]
                    .map(|text| snapshot.text(text).to_owned())
                    .join(",")
            })
            .collect();
        owners.join(" ")
    };
    assert_eq!(owners(r#"[{"uid":"1","controller":"yes"},{"name":"x","kind":{},"uid":7}]"#), ",,,1 ,,x,7");
    assert_eq!(owners(r#"[null,"x",[],{}]"#), ",,, ,,, ,,, ,,,");
    assert_eq!(owners(r#"{"kind":"Pod","uid":"1"}"#), ",Pod,,1");
    assert_eq!(owners("null"), "");
    assert_eq!(owners("[]"), "");
}

#[test]
fn values_of_the_wrong_type_count_as_missing() {
    let text = object(
        "v1",
        "Pod",
        "shop",
        "a",
        r#","finalizers":"x","labels":["x"],"deletionGracePeriodSeconds":1e99,"resourceVersion":[]"#,
    );
    let snapshot = read(&text);
    let pod = only(&snapshot);
    assert!(
        pod.finalizers.is_empty()
            && pod.labels.is_empty()
            && pod.grace.get().is_none()
            && pod.resource_version == ResourceVersion::default()
    );
}

#[test]
fn deep_documents_are_safe() {
    let deep = |open: &str, close: &str| open.repeat(100_000) + &close.repeat(100_000);
    let with = |spec: &str| {
        format!(
            r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"namespace":"x","name":"a","uid":"1"}},"spec":{spec}}}"#
        )
    };
    assert_eq!(names(&read(&with(&deep("[", "]")))), ["Pod/a"]);
    assert_eq!(names(&read(&with(&(r#"{"a":"#.repeat(100_000) + "1" + &"}".repeat(100_000))))), ["Pod/a"]);
    assert!(error(&deep("[", "]")).contains("a list instead of a Kubernetes object"));
    for deep in [deep("[", "]"), "{a: ".repeat(100_000), "- ".repeat(100_000), "? ".repeat(100_000)] {
        let message = error(&format!("apiVersion: v1\nspec:\n  {deep}"));
        assert!(message.starts_with("dump: malformed YAML at line 3, column "), "{message}");
    }
    let nested: String = (0..190).map(|n| " ".repeat(n + 2) + "a:\n").collect();
    let text = format!("apiVersion: v1\nkind: Pod\nmetadata: {{name: a, namespace: x, uid: u}}\nspec:\n{nested}");
    assert_eq!(names(&read(&text)), ["Pod/a"]);
}

#[test]
fn huge_numbers_are_safe() {
    let number = "9".repeat(400);
    let yaml = format!(
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  namespace: x\n  uid: u\n  deletionGracePeriodSeconds: \
            {number}\n\
         spec: {{terminationGracePeriodSeconds: 170141183460469231731687303715884105727, nodeName: .nan, {number}: \
             -{number}}}\n"
    );
    assert_eq!(names(&read(&yaml)), ["Pod/a"]);
    let json = |field: &str| object("v1", "ConfigMap", "x", "a", &format!(r#","{field}":{number}.5e99999"#));
    assert!(error(&json("deletionGracePeriodSeconds")).ends_with("number out of range"));
    assert_eq!(names(&read(&json("generation"))), ["ConfigMap/a"], "nobody reads it");
}

#[test]
#[ignore = "long: reads megabytes"]
fn aliases_cannot_multiply_without_bound() {
    let list = "x,".repeat(50_000);
    let aliases = "*a,".repeat(50_000);
    let text = format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{name: a, namespace: b, uid: c}}\nspec:\n  a: &a [{list}]\n  b: \
            [{aliases}]\n"
    );
    assert!(error(&text).contains("YAML document too large or too complex: total_replayed_events"), "{}", error(&text));
    let laughs: String = (1..40).map(|n| format!("l{n}: &l{n} [*l{0}, *l{0}, *l{0}]\n", n - 1)).collect();
    assert!(
        error(&format!("apiVersion: v1\nkind: Pod\nmetadata:\n{}", format!("l0: &l0 x\n{laughs}").replace("l", " l")))
            .contains("YAML")
    );
}
