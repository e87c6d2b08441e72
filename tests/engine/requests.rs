//! Single DELETE and PATCH requests, one row for each case of §1.

use std::borrow::Cow;

use gc_core::{
    model::{Reference, References, Resource, Strings, Symbol, facts::PodFacts},
    server::{
        DeleteAnswer, DeleteOptions, KindRules, Patch, PatchAnswer,
        Propagation::{self, Background, Foreground, Orphan},
        Stored, delete, patch,
    },
};

fn rules(api_version: &str, kind: &str) -> KindRules {
    let (group, version) = api_version.rsplit_once('/').unwrap_or(("", api_version));
    KindRules::of(&Resource {
        group: group.into(),
        version: version.into(),
        kind: kind.into(),
        namespaced: true,
        ..Resource::default()
    })
}

/// `fg`, `orphan`, or any other word for another component's finalizer.
fn finalizers(strings: &mut Strings, text: &str) -> Vec<Symbol> {
    let symbol = |word: &str| match word {
        "fg" => Symbol::FOREGROUND,
        "orphan" => Symbol::ORPHAN,
        other => strings.intern(other),
    };
    text.split_whitespace().map(symbol).collect()
}

fn describe(strings: &Strings, answer: &DeleteAnswer<'_>) -> String {
    match answer {
        DeleteAnswer::Removed => "removed".into(),
        DeleteAnswer::Unchanged => "unchanged".into(),
        DeleteAnswer::Conflict => "conflict".into(),
        DeleteAnswer::Updated(stored) => {
            let names = stored.finalizers.iter().map(|finalizer| match *finalizer {
                Symbol::FOREGROUND => "fg",
                Symbol::ORPHAN => "orphan",
                other => strings.text(other),
            });
            let names: Vec<&str> = names.collect();
            format!("T={:?} [{}]", stored.grace, names.join(" ")).replace("Some(", "").replace(')', "")
        }
    }
}

fn stored(strings: &mut Strings, has: &str, terminating: Option<i64>) -> Stored<'static> {
    Stored {
        terminating: terminating.is_some(),
        grace: terminating,
        finalizers: Cow::Owned(finalizers(strings, has)),
        owners: References::Read(&[]),
        version: 7,
    }
}

/// The tables of R1.43 and R1.46, and §1.4: existing finalizers, whether the object is already terminating, policy,
/// answer.
#[test]
fn finalizers_after_a_delete() {
    /// Rule, finalizers, grace if terminating, policy, answer.
    type Row = (&'static str, &'static str, Option<i64>, Option<Propagation>, &'static str);
    let rows: &[Row] = &[
        ("R1.11 nothing holds it", "", None, Some(Background), "removed"),
        ("R1.12 foreign finalizer", "x", None, Some(Background), "T=0 [x]"),
        ("R1.43 foreground", "", None, Some(Foreground), "T=0 [fg]"),
        ("R1.43 orphan", "", None, Some(Orphan), "T=0 [orphan]"),
        ("R1.43 foreground replaces orphan", "orphan", None, Some(Foreground), "T=0 [fg]"),
        ("R1.43 orphan replaces foreground", "fg", None, Some(Orphan), "T=0 [orphan]"),
        ("R1.43 background drops foreground", "fg", None, Some(Background), "removed"),
        ("R1.43 background drops orphan", "orphan", None, Some(Background), "removed"),
        ("R1.43, M22 nothing given: orphan stays", "orphan", None, None, "T=0 [orphan]"),
        ("R1.43, M22 nothing given: foreground stays", "fg", None, None, "T=0 [fg]"),
        ("R1.43 nothing given: the first of both decides", "orphan fg", None, None, "T=0 [orphan]"),
        ("R1.43 nothing given: background for most kinds", "", None, None, "removed"),
        (
            "R1.9 appended at the end, foreign ones keep their order",
            "b orphan a",
            None,
            Some(Foreground),
            "T=0 [b a fg]",
        ),
        ("R1.9 the same set is left alone", "fg b a", None, Some(Foreground), "T=0 [fg b a]"),
        ("R1.46 fg, background", "fg", Some(0), Some(Background), "removed"),
        ("R1.46 fg and foreign, background", "fg x", Some(0), Some(Background), "T=0 [x]"),
        ("R1.46 fg, orphan", "fg", Some(0), Some(Orphan), "T=0 [orphan]"),
        ("R1.46 orphan, background", "orphan", Some(0), Some(Background), "removed"),
        ("R1.46 orphan, foreground", "orphan", Some(0), Some(Foreground), "T=0 [fg]"),
        ("R1.46 none and foreign, foreground", "x", Some(0), Some(Foreground), "T=0 [x fg]"),
        ("R1.46 none and foreign, orphan", "x", Some(0), Some(Orphan), "T=0 [x orphan]"),
        ("R1.46 nothing given", "x fg", Some(0), None, "unchanged"),
        ("R1.46 the same again", "x", Some(0), Some(Background), "unchanged"),
    ];
    let widget = rules("acme.io/v1", "Widget");
    for (rule, has, terminating, propagation, expected) in rows {
        let mut strings = Strings::default();
        let before = stored(&mut strings, has, *terminating);
        let options = DeleteOptions { propagation: *propagation, ..DeleteOptions::default() };
        let answer = delete(&before, Symbol::EMPTY, widget, None, false, &options);
        assert_eq!(describe(&strings, &answer), *expected, "{rule}");
    }
}

/// R1.45, R1.20: the policy of a request without one, by kind and version.
#[test]
fn default_policies() {
    let rows = [
        ("batch/v1", "Job", Orphan),
        ("v1", "ReplicationController", Orphan),
        ("batch/v1beta1", "CronJob", Orphan),
        ("batch/v1", "CronJob", Background),
        ("apps/v1", "Deployment", Background),
        ("apps/v1", "ReplicaSet", Background),
        ("apps/v1", "StatefulSet", Background),
        ("apps/v1", "DaemonSet", Background),
        ("acme.io/v1", "Job", Background),
    ];
    for (api_version, kind, expected) in rows {
        assert_eq!(rules(api_version, kind).default_policy, expected, "{api_version} {kind}");
        let mut strings = Strings::default();
        let plain = stored(&mut strings, "", None);
        let answer = delete(&plain, Symbol::EMPTY, rules(api_version, kind), None, false, &DeleteOptions::default());
        let stays = if expected == Orphan { "T=0 [orphan]" } else { "removed" };
        assert_eq!(describe(&strings, &answer), stays, "M21: {api_version} {kind} without a policy");
    }
    let mut strings = Strings::default();
    let event = stored(&mut strings, "fg x", None);
    let options = DeleteOptions { propagation: Some(Foreground), ..DeleteOptions::default() };
    let answer = delete(&event, Symbol::EMPTY, rules("v1", "Event"), None, false, &options);
    assert_eq!(describe(&strings, &answer), "T=0 [x]", "R1.44: core Events never have the collector's finalizers");
}

/// R1.6 and R1.7.
#[test]
fn preconditions() {
    let widget = rules("acme.io/v1", "Widget");
    let mut strings = Strings::default();
    let (mine, other) = (strings.intern("mine"), strings.intern("other"));
    let plain = stored(&mut strings, "", None);
    let ask = |stored: &Stored<'_>, options: DeleteOptions| {
        let strings = Strings::default();
        describe(&strings, &delete(stored, mine, widget, None, false, &options))
    };
    let options = DeleteOptions { propagation: Some(Background), ..DeleteOptions::default() };
    assert_eq!(ask(&plain, DeleteOptions { uid: Some(mine), ..options }), "removed");
    assert_eq!(ask(&plain, DeleteOptions { uid: Some(other), ..options }), "conflict");
    assert_eq!(ask(&plain, DeleteOptions { version: Some(7), ..options }), "removed");
    assert_eq!(ask(&plain, DeleteOptions { version: Some(6), ..options }), "conflict");
    let held = stored(&mut strings, "fg", Some(0));
    assert_eq!(
        ask(&held, DeleteOptions { version: Some(7), ..options }),
        "conflict",
        "R1.7: although the version is right"
    );
    assert_eq!(ask(&held, DeleteOptions { uid: Some(mine), ..options }), "removed");
}

/// R1.14–R1.19: requested grace period, the pod's own, its node and phase, and the earlier grace period.
#[test]
fn pods_and_their_grace() {
    struct Pod {
        node: bool,
        phase: &'static str,
        own: Option<i64>,
    }
    let running = Pod { node: true, phase: "Running", own: Some(30) };
    /// Rule, pod, finalizers, grace if terminating, requested grace, policy, answer.
    type Row<'p> = (&'static str, &'p Pod, &'static str, Option<i64>, Option<i64>, Option<Propagation>, &'static str);
    let rows: &[Row<'_>] = &[
        ("R1.14 the pod's own", &running, "", None, None, Some(Background), "T=30 []"),
        ("R1.14 none of its own", &Pod { own: None, ..running }, "", None, None, Some(Background), "removed"),
        ("R1.14 as asked for", &running, "", None, Some(5), Some(Background), "T=5 []"),
        ("R1.3 below zero is one", &running, "", None, Some(-3), Some(Background), "T=1 []"),
        ("R1.14 never scheduled", &Pod { node: false, ..running }, "", None, Some(5), Some(Background), "removed"),
        ("R1.14 succeeded", &Pod { phase: "Succeeded", ..running }, "", None, None, Some(Background), "removed"),
        ("R1.14 failed", &Pod { phase: "Failed", ..running }, "", None, None, Some(Background), "removed"),
        ("R1.15 with its policy", &running, "", None, None, Some(Foreground), "T=30 [fg]"),
        ("R1.16 no grace", &running, "", None, Some(0), Some(Background), "removed"),
        ("R1.16 no grace, but finalizers", &running, "x", None, Some(0), Some(Background), "T=0 [x]"),
        ("R1.17 nothing given", &running, "", Some(30), None, Some(Foreground), "unchanged"),
        ("R1.17 not shorter", &running, "fg", Some(30), Some(30), Some(Background), "unchanged"),
        ("R1.17 shorter, with its policy", &running, "", Some(30), Some(5), Some(Foreground), "T=5 [fg]"),
        ("R1.17 none any more", &running, "", Some(30), Some(0), None, "removed"),
        ("R1.18 as any other object", &running, "x", Some(0), None, Some(Foreground), "T=0 [x fg]"),
        ("R1.19 the kubelet's last delete keeps finalizers", &running, "fg", Some(30), Some(0), None, "T=0 [fg]"),
    ];
    for (rule, pod, has, terminating, grace, propagation, expected) in rows {
        let mut strings = Strings::default();
        let before = stored(&mut strings, has, *terminating);
        let facts = PodFacts {
            node: pod.node.then(|| "n1".to_owned()),
            phase: Some(pod.phase.to_owned()),
            grace: pod.own,
            ..PodFacts::default()
        };
        let options = DeleteOptions { propagation: *propagation, grace: *grace, ..DeleteOptions::default() };
        let answer = delete(&before, Symbol::EMPTY, rules("v1", "Pod"), Some(&facts), false, &options);
        assert_eq!(describe(&strings, &answer), *expected, "{rule}");
    }
}

/// R1.25 and R1.26: kinds with special DELETE handling.
#[test]
fn kinds_with_their_own_delete() {
    /// Rule, kind, finalizers, grace if terminating, whether `spec.finalizers` exist, policy, answer.
    type Row = (&'static str, &'static str, &'static str, Option<i64>, bool, Propagation, &'static str);
    let rows: &[Row] = &[
        ("R1.25 first delete", "Namespace", "", None, true, Background, "T=None []"),
        ("R1.25 first delete, foreground", "Namespace", "x", None, true, Foreground, "T=None [x fg]"),
        ("R1.25 held by its spec, nothing changes", "Namespace", "x", Some(0), true, Foreground, "unchanged"),
        ("R1.25 not held any more", "Namespace", "x", Some(0), false, Foreground, "T=0 [x fg]"),
        (
            "R1.26 first delete ignores the policy",
            "CustomResourceDefinition",
            "orphan",
            None,
            false,
            Foreground,
            "T=None [orphan customresourcecleanup.apiextensions.k8s.io]",
        ),
        ("R1.26 the second applies it", "CustomResourceDefinition", "x", Some(0), false, Foreground, "T=0 [x fg]"),
    ];
    for (rule, kind, has, terminating, held_by_spec, propagation, expected) in rows {
        let mut strings = Strings::default();
        let before = stored(&mut strings, has, *terminating);
        let group = if *kind == "Namespace" { "v1" } else { "apiextensions.k8s.io/v1" };
        let options = DeleteOptions { propagation: Some(*propagation), ..DeleteOptions::default() };
        let answer = delete(&before, Symbol::EMPTY, rules(group, kind), None, *held_by_spec, &options);
        assert_eq!(describe(&strings, &answer), *expected, "{rule}");
    }
}

fn reference(uid: Symbol, name: Symbol, blocks: Option<bool>) -> Reference {
    Reference {
        api_version: Symbol::EMPTY,
        kind: Symbol::EMPTY,
        name,
        uid,
        controller: None,
        block_owner_deletion: blocks,
    }
}

/// R1.22: removal by update, R4.15 for finalizers, and R4.8, R4.9, R4.13, R4.14, R4.16, R1.35 for references.
#[test]
fn patches() {
    let mut strings = Strings::default();
    let (one, two, name) = (strings.intern("one"), strings.intern("two"), strings.intern("name"));
    let remove = |version| Patch::RemoveFinalizer { finalizer: Symbol::FOREGROUND, version };
    let last = stored(&mut strings, "fg", Some(0));
    assert_eq!(patch(&last, &remove(7), false), PatchAnswer::Removed, "R1.22");
    assert_eq!(patch(&last, &remove(6), false), PatchAnswer::Conflict);
    let in_grace = stored(&mut strings, "fg", Some(30));
    assert!(
        matches!(patch(&in_grace, &remove(7), false), PatchAnswer::Updated(_)),
        "R1.22: a pod in its grace period stays"
    );
    let live = stored(&mut strings, "fg", None);
    assert!(matches!(patch(&live, &remove(7), false), PatchAnswer::Updated(_)), "live objects stay");
    assert!(
        matches!(patch(&last, &remove(7), true), PatchAnswer::Updated(_)),
        "R1.25: a namespace that its spec holds stays"
    );

    let twice = [reference(one, name, Some(true)), reference(one, two, Some(true)), reference(two, name, None)];
    let owned = Stored { owners: twice.to_vec().into(), ..stored(&mut strings, "", None) };
    let owners = |answer: PatchAnswer<'_>| match answer {
        PatchAnswer::Updated(stored) => stored.owners.to_vec(),
        other => panic!("{other:?}"),
    };
    assert_eq!(owners(patch(&owned, &Patch::StripByUid(vec![one]), false)), [reference(two, name, None)], "R4.8");
    assert_eq!(patch(&owned, &Patch::StripByUid(vec![name]), false), PatchAnswer::Unchanged);
    let unblock = Patch::MergeOwners(vec![reference(one, name, Some(false))]);
    assert_eq!(
        owners(patch(&owned, &unblock, false)),
        [reference(one, name, Some(false)), reference(one, two, Some(true)), reference(two, name, None)],
        "R4.9: only the first of a uid"
    );
    let controller = |reference: Reference| Reference { controller: Some(true), ..reference };
    let controlled = [reference(one, name, Some(true)), controller(reference(one, two, Some(true)))];
    let controlled = Stored { owners: controlled.to_vec().into(), ..stored(&mut strings, "", None) };
    let merged = [reference(one, name, Some(false)), controller(reference(one, two, Some(false)))];
    assert_eq!(
        patch(&controlled, &Patch::MergeOwners(merged.to_vec()), false),
        PatchAnswer::Invalid,
        "R1.32: two controllers"
    );
    let three = strings.intern("three");
    let apart = [(one, name), (three, name), (two, name), (one, two), (three, two)];
    let apart = Stored {
        owners: apart.iter().map(|(uid, name)| reference(*uid, *name, None)).collect::<Vec<_>>().into(),
        ..stored(&mut strings, "", None)
    };
    assert_eq!(
        owners(patch(&apart, &unblock, false)),
        [
            reference(one, name, Some(false)),
            reference(one, two, None),
            reference(three, name, None),
            reference(three, two, None),
            reference(two, name, None)
        ],
        "R4.16: a strategic merge puts references of one uid side by side"
    );
    assert_eq!(
        owners(patch(&apart, &Patch::StripByUid(vec![one]), false)),
        [reference(three, name, None), reference(three, two, None), reference(two, name, None)],
        "R4.16: and so does one that only takes away"
    );
    let same = Patch::SetOwners { owners: vec![reference(two, name, None); 2], version: 7 };
    assert_eq!(owners(patch(&owned, &same, false)), [reference(two, name, None)], "R1.35");
    let stale = Patch::SetOwners { owners: Vec::new(), version: 6 };
    assert_eq!(patch(&owned, &stale, false), PatchAnswer::Conflict);
}
