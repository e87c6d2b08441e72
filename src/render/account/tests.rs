//! Every type of happening, as text and as a document.

use jiff::tz::TimeZone;
use serde_json::Value;

use super::{AccountOptions, document, summary, text};
use crate::render::{
    states::Style,
    testing::{errors, schema},
};
use gc_core::{
    account::{
        Change, Content, DeletionPolicy, Happening, Holds, Loop, Missing, Owner, OwnerState, Reason, Summary, What,
    },
    model::Identity,
};

/// 14:02:11 UTC
const AT: i64 = 1_769_868_131_000;

fn identity(kind: &str, name: &str) -> Identity {
    Identity {
        api_version: "v1".to_owned(),
        kind: kind.to_owned(),
        namespace: if kind == "Namespace" { "" } else { "shop" }.to_owned(),
        name: name.to_owned(),
        uid: format!("uid-{name}"),
    }
}

fn owner(name: &str, state: OwnerState) -> Owner {
    let text = str::to_owned;
    Owner { api_version: text("acme.io/v1"), kind: text("Runner"), name: text(name), uid: text("u-1"), state }
}

fn one(state: OwnerState) -> Vec<Owner> {
    vec![owner("a", state)]
}

fn absent() -> OwnerState {
    OwnerState::Absent { current_uid: None }
}

fn unknown() -> OwnerState {
    OwnerState::Unknown("forbidden".to_owned())
}

fn of(kind: &str, change: Change) -> What {
    What::Object { object: identity(kind, "x"), change }
}

fn gone(why: Reason) -> What {
    of("Pod", Change::Gone { why: Some(why), after: None, removed: Vec::new() })
}

fn requested(kind: &str, policy: DeletionPolicy, holds: Holds) -> What {
    of(kind, Change::DeletionRequested { policy, why: Reason::NoOwner, holds })
}

/// Every happening with its text.
#[allow(clippy::too_many_lines, reason = "one row for each text")]
fn rows() -> Vec<(What, &'static str)> {
    let text = str::to_owned;
    let missing = |resource: &str| Missing { resource: text(resource), why: text("forbidden") };
    let seen = |policy| OwnerState::SeenGoing { at: AT, policy: Some(policy) };
    let exists = OwnerState::Exists { terminating: false, orphaning: false };
    let other = OwnerState::Absent { current_uid: Some(text("u-2")) };
    let blocking = Holds {
        finalizers: vec![text("acme.io/x")],
        blocking: vec![identity("Pod", "p")],
        blocking_count: 3,
        ..Holds::default()
    };
    let content = |held| Holds { content: Some(Content { objects: 12, held }), ..Holds::default() };
    let looped = Loop {
        object: identity("Pod", "runner-7"),
        owner: owner("a", other.clone()),
        times: 2,
        managers: vec![text("runner-controller")],
        since: AT,
    };
    vec![
        (What::Watching { resources: 1, missing: Vec::new() }, "Watching 1 resource."),
        (
            What::Watching { resources: 30, missing: vec![missing("namespaces"), missing("secrets")] },
            "Watching 30 resources. What happens to these is not seen: namespaces, secrets (forbidden).",
        ),
        (
            What::WatchFailing { resource: text("pods"), why: text("it cannot be watched: forbidden") },
            "pods: it cannot be watched: forbidden; what happens to them is not seen until that works again",
        ),
        (
            What::Polled { resources: ["pods", "secrets", "services", "jobs"].map(missing).into() },
            "Cannot watch 4 resources (forbidden): listing them again and again instead (pods, secrets, services and 1 \
             more).",
        ),
        (What::WatchRecovered { resource: text("pods") }, "pods are watched again; nothing was missed"),
        (
            What::WatchLost { resource: text("pods") },
            "pods: the watch was lost; listing them again. What happened in between is not known.",
        ),
        (
            What::Listed { resource: text("pods"), again: true, gone: 2, new: 1 },
            "pods are watched again; meanwhile, 2 went and 1 came",
        ),
        (What::Listed { resource: text("pods"), again: false, gone: 0, new: 0 }, "pods are watched from now on"),
        (What::NotServed { resource: text("runners"), objects: 0 }, "runners are no longer served"),
        (What::NotServed { resource: text("runners"), objects: 1 }, "runners are no longer served; 1 object was known"),
        (
            gone(Reason::OwnersGone { owners: one(absent()) }),
            "Pod/x collected: its owner Runner/a (uid u-1) is missing",
        ),
        (
            gone(Reason::OwnersGone { owners: one(other.clone()) }),
            "Pod/x collected: its owner Runner/a (uid u-1) is missing, Runner/a has uid u-2 now",
        ),
        (
            gone(Reason::OwnersGone { owners: one(seen(DeletionPolicy::Background)) }),
            "Pod/x collected: its owner Runner/a was deleted in the background at 14:02:11",
        ),
        (
            gone(Reason::OwnersGone { owners: one(OwnerState::SeenGoing { at: AT, policy: None }) }),
            "Pod/x collected: its owner Runner/a was deleted at 14:02:11",
        ),
        (
            gone(Reason::OwnersGone { owners: vec![owner("a", absent()), owner("b", unknown())] }),
            "Pod/x collected (not certain): its owner Runner/a (uid u-1) is missing; whether its owner \
             Runner/b (uid u-1) exists is not known (forbidden)",
        ),
        (
            gone(Reason::OwnerWaits { owners: one(OwnerState::Waiting) }),
            "Pod/x collected: its owner Runner/a is being deleted in the foreground",
        ),
        (gone(Reason::Namespace { name: text("shop") }), "Pod/x deleted with Namespace/shop, which is being deleted"),
        (
            gone(Reason::Definition { name: text("runners.acme.io") }),
            "Pod/x deleted with CustomResourceDefinition/runners.acme.io, which is being deleted",
        ),
        (gone(Reason::NoOwner), "Pod/x deleted, not by the collector: it has no owner"),
        (
            gone(Reason::OwnerExists { owners: vec![owner("a", absent()), owner("b", exists.clone())] }),
            "Pod/x deleted, not by the collector: its owner Runner/b exists",
        ),
        (
            gone(Reason::OwnerExists { owners: one(OwnerState::Watched) }),
            "Pod/x deleted, not by the collector: its owner Runner/a exists, as far as its watch shows",
        ),
        (
            gone(Reason::OwnerExists { owners: one(OwnerState::Exists { terminating: true, orphaning: false }) }),
            "Pod/x deleted, not by the collector: its owner Runner/a exists: it is Terminating, but not in the \
             foreground",
        ),
        (
            gone(Reason::Unknown { owners: one(unknown()) }),
            "Pod/x deleted; by whom is not known: whether its owner Runner/a (uid u-1) exists is not known (forbidden)",
        ),
        (gone(Reason::WhileLost), "Pod/x gone; when and why is not known, because its watch was lost"),
        (of("Pod", Change::Gone { why: None, after: Some(300), removed: Vec::new() }), "Pod/x gone after 0.3s"),
        (
            of("Pod", Change::Gone { why: None, after: Some(61_000), removed: vec![text("acme.io/x")] }),
            "Pod/x gone after 61s",
        ),
        (
            requested("Pod", DeletionPolicy::Background, Holds { grace: Some(30), ..Holds::default() }),
            "Pod/x is being deleted, not by the collector: it has no owner; it waits for its kubelet (grace period \
             30s)",
        ),
        (
            requested("Deployment", DeletionPolicy::Foreground, blocking),
            "Deployment/x is being deleted in the foreground, not by the collector: it has no owner; it waits for \
             finalizer acme.io/x; its dependents Pod/p and 2 more",
        ),
        (
            requested("Deployment", DeletionPolicy::Orphan, Holds { orphaning: true, ..Holds::default() }),
            "Deployment/x is being deleted with --cascade=orphan, not by the collector: it has no owner; it waits for \
             the collector, which frees its dependents",
        ),
        (
            requested("Namespace", DeletionPolicy::Background, content(vec![identity("Pod", "p")])),
            "Namespace/x is being deleted, not by the collector: it has no owner; it waits for 12 objects in it, with \
             finalizers: Pod/p",
        ),
        (
            of("Pod", Change::PolicyChanged { policy: DeletionPolicy::Foreground }),
            "Pod/x was deleted again, in the foreground",
        ),
        (
            of("Pod", Change::PolicyChanged { policy: DeletionPolicy::Orphan }),
            "Pod/x was deleted again, with --cascade=orphan",
        ),
        (
            of("Pod", Change::FinalizersRemoved { removed: vec![text("a"), text("b")], left: Vec::new() }),
            "Pod/x lost finalizers a, b; none is left",
        ),
        (
            of("Pod", Change::FinalizersRemoved { removed: vec![text("a")], left: vec![text("b")] }),
            "Pod/x lost finalizer a; left: b",
        ),
        (
            of("Pod", Change::StillTerminating { since: AT - 30_000, holds: Holds::default() }),
            "Pod/x still Terminating since 14:01:41: what it waits for is not in its metadata",
        ),
        (
            of("CustomResourceDefinition", Change::StillTerminating { since: AT, holds: content(Vec::new()) }),
            "CustomResourceDefinition/x still Terminating since 14:02:11: it waits for 12 objects of its kind",
        ),
        (
            of("Pod", Change::OwnersRemoved { owners: one(seen(DeletionPolicy::Orphan)), left: 0 }),
            "Pod/x orphaned: its owner Runner/a was deleted with --cascade=orphan at 14:02:11; it has no owner any \
             more",
        ),
        (
            of("Pod", Change::OwnersRemoved { owners: one(absent()), left: 1 }),
            "Pod/x lost its reference to Runner/a: its owner Runner/a (uid u-1) is missing; 1 owner is left",
        ),
        (
            of("Pod", Change::OwnersRemoved { owners: one(exists), left: 2 }),
            "Pod/x lost its reference to Runner/a: its owner Runner/a exists; 2 owners are left",
        ),
        (of("Pod", Change::OwnersAdded { owners: one(OwnerState::Watched) }), "Pod/x is now owned by Runner/a"),
        (
            of(
                "Pod",
                Change::CreatedDangling { manager: Some(text("kubectl-gc-restore:5a1f")), owners: one(absent()) },
            ),
            "Pod/x created by kubectl gc restore: its owner Runner/a (uid u-1) is missing; the collector deletes \
             it",
        ),
        (
            of("Pod", Change::Recreated { times: 1, manager: None, former_uid: text("old"), owners: Vec::new() }),
            "Pod/x recreated (uid uid-x; by whom is not known)",
        ),
        (
            of(
                "Pod",
                Change::Recreated {
                    times: 3,
                    manager: Some(text("acme")),
                    former_uid: text("old"),
                    owners: one(absent()),
                },
            ),
            "Pod/x recreated (uid uid-x, by acme), the 3rd time: its owner Runner/a (uid u-1) is missing; the \
             collector deletes it",
        ),
        (
            What::Loop(looped.clone()),
            "LOOP: Pod/runner-7 was made 2 times since 14:02:11 with the same owner that is missing, Runner/a (uid \
             u-1), and the collector deletes it each time: Runner/a has uid u-2 now, so the maker goes by what it knew \
             before. It is made by runner-controller. Next: restart or fix the maker, so that it names a Runner that \
             exists, or no owner. From here on, only every doubling of this number is told.",
        ),
        (
            What::Loop(Loop { owner: owner("a", absent()), managers: Vec::new(), ..looped }),
            "LOOP: Pod/runner-7 was made 2 times since 14:02:11 with the same owner that is missing, Runner/a (uid \
             u-1), and the collector deletes it each time: there is no Runner/a with this uid any more, so the maker \
             goes by what it knew before. Its maker is not known (no field manager). Next: restart or fix the maker, \
             so that it names a Runner that exists, or no owner. From here on, only every doubling of this number is \
             told.",
        ),
    ]
}

fn options(style: &Style, width: Option<usize>, namespaces: bool) -> AccountOptions<'_> {
    AccountOptions { namespaces, width, style, zone: TimeZone::UTC, server: None }
}

#[test]
fn every_happening_is_one_line() {
    let style = Style::default();
    for (what, expected) in rows() {
        let written = text(&Happening { at: AT, what }, &options(&style, None, false));
        assert_eq!(written, format!("14:02:11 {expected}\n"));
    }
}

#[test]
fn every_document_matches_the_schema() {
    let style = Style::default();
    let mut types = std::collections::BTreeSet::new();
    for (what, expected) in rows() {
        let line = document(&Happening { at: AT, what }, &options(&style, None, false));
        assert_eq!(line.matches('\n').count(), 1, "{line}");
        let document: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(errors("watch-event", &document), [""; 0], "{line}");
        assert_eq!((&document["message"], &document["time"]), (&expected.into(), &"2026-01-31T14:02:11Z".into()));
        types.insert(document["type"].to_string());
    }
    let known =
        schema("watch-event")["properties"]["type"]["enum"].as_array().unwrap().iter().map(Value::to_string).collect();
    assert_eq!(types, known);
}

#[test]
fn lines_fit_the_terminal_and_names_stay_whole() {
    let style = Style::default();
    let what = gone(Reason::OwnersGone { owners: one(absent()) });
    let written = text(&Happening { at: AT, what: what.clone() }, &options(&style, Some(45), true));
    let expected = "14:02:11 Pod/x -n shop collected: its owner\n         Runner/a (uid u-1) is missing\n";
    assert_eq!(written, expected);
    // Even where nothing fits.
    let narrow = text(&Happening { at: AT, what }, &options(&style, Some(1), true));
    assert!(narrow.lines().all(|line| line.chars().count() <= 29), "{narrow}");
}

#[test]
fn names_cannot_break_a_line() {
    let mut object = identity("Pod", "x");
    object.name = "x\n12:00:00 y\u{1b}[2J".to_owned();
    let what = What::Object { object, change: Change::OwnersAdded { owners: Vec::new() } };
    let written = text(&Happening { at: AT, what }, &options(&Style::default(), None, false));
    assert_eq!(written.matches(['\n', '\u{1b}']).count(), 1, "{written:?}");
}

#[test]
fn only_what_is_wrong_is_coloured() {
    let style = Style::new(true);
    let mut coloured = 0;
    for (what, _) in rows() {
        let is_loop = matches!(what, What::Loop(_));
        let written = text(&Happening { at: AT, what }, &options(&style, None, false));
        assert!(written.starts_with("\u{1b}[2m14:02:11\u{1b}[0m "), "{written:?}");
        assert_eq!(written.contains("\u{1b}[31;1mLOOP:\u{1b}[0m"), is_loop);
        coloured += usize::from(is_loop);
    }
    assert_eq!(coloured, 2);
}

#[test]
fn the_end_is_summed_up() {
    let took = std::time::Duration::from_secs(300);
    assert_eq!(
        summary(&Summary::default(), took),
        ["Watched for 5m: 0 deletions, 0 objects recreated, 0 still Terminating."]
    );
    let looped = |times| Loop {
        object: identity("Pod", "runner-7"),
        owner: owner("a", absent()),
        times,
        managers: vec!["acme".to_owned()],
        since: AT,
    };
    let told = Summary {
        collected: 8,
        with_container: 1,
        otherwise: 3,
        unknown: 1,
        recreated: 1,
        terminating: 2,
        loops: (2..9).map(looped).collect(),
        missing: vec![Missing { resource: "secrets".to_owned(), why: "forbidden".to_owned() }],
    };
    let lines = summary(&told, took);
    assert_eq!(
        lines[..2],
        [
            "Watched for 5m: 13 deletions (8 by the collector, 1 with their namespace or definition, 3 not by the \
             collector, 1 for a reason that is not known), 1 object recreated, 2 still Terminating.",
            "LOOP: Pod/runner-7 -n shop was made 2 times by acme with an owner that is missing: Runner/a (uid \
             u-1).",
        ]
    );
    assert_eq!(lines[6..], ["LOOP: and 2 more.", "Not watched: secrets (forbidden)."]);
}
