//! The table of §4.2, row by row, and which resource the collector picks in §2 and §3.4.

use gc_core::{
    collector::{Decision, OwnerState, decide},
    model::{Mapping, NotWatched, Reference, Resource, Resources, Strings, Symbol},
    server::Propagation::{Background, Foreground, Orphan},
};

#[test]
fn every_row_of_the_decision_table() {
    let mut strings = Strings::default();
    let uids: Vec<Symbol> = ["a", "b", "c"].map(|uid| strings.intern(uid)).to_vec();
    let classes = |letters: &str| -> Vec<(Reference, OwnerState)> {
        letters
            .chars()
            .zip(&uids)
            .map(|(letter, uid)| {
                let class = match letter {
                    'S' => OwnerState::Solid,
                    'W' => OwnerState::Waiting,
                    _ => OwnerState::Dangling,
                };
                let reference = Reference {
                    api_version: Symbol::EMPTY,
                    kind: Symbol::EMPTY,
                    name: Symbol::EMPTY,
                    uid: *uid,
                    controller: None,
                    // R4.5: blockOwnerDeletion doesn't matter here.
                    block_owner_deletion: (letter == 'W').then_some(true),
                };
                (reference, class)
            })
            .collect()
    };
    let (fg, orphan) = (Symbol::FOREGROUND, Symbol::ORPHAN);
    let rows: &[(&str, bool, &[Symbol], Decision)] = &[
        ("", true, &[], Decision::Keep),
        // D1
        ("S", true, &[], Decision::Keep),
        ("SS", false, &[orphan], Decision::Keep),
        // D2
        ("SD", false, &[], Decision::Strip(vec![uids[1]])),
        ("WS", true, &[fg], Decision::Strip(vec![uids[0]])),
        ("SWD", true, &[], Decision::Strip(vec![uids[2], uids[1]])),
        // D3
        ("W", true, &[], Decision::DeleteForWaitingOwner),
        ("WD", true, &[orphan], Decision::DeleteForWaitingOwner),
        // D4, D5, D6
        ("W", false, &[], Decision::Delete(Background)),
        ("W", false, &[orphan], Decision::Delete(Orphan)),
        ("D", true, &[], Decision::Delete(Background)),
        ("DD", true, &[fg], Decision::Delete(Foreground)),
        ("D", true, &[orphan, fg], Decision::Delete(Orphan)),
        ("D", false, &[uids[0]], Decision::Delete(Background)),
    ];
    for (letters, has_dependents, finalizers, expected) in rows {
        assert_eq!(
            decide(&classes(letters), *has_dependents, finalizers),
            *expected,
            "{letters} {has_dependents} {finalizers:?}"
        );
    }
}

fn resource(group: &str, version: &str, plural: &str, kind: &str, verbs: &[&str]) -> Resource {
    Resource { namespaced: kind != "Region", ..Resource::named(group, version, plural, kind).with_verbs(verbs) }
}

const ALL: &[&str] = &["delete", "list", "watch", "get"];

fn served() -> Resources {
    Resources::new(
        vec![
            resource("", "v1", "events", "Event", ALL),
            resource("", "v1", "pods", "Pod", ALL),
            resource("", "v1", "bindings", "Binding", &["create"]),
            resource("acme.io", "v1alpha1", "shops", "Shop", ALL),
            resource("acme.io", "v1alpha1", "olds", "Old", ALL),
            resource("acme.io", "v1", "shops", "Shop", ALL),
            resource("acme.io", "v1", "regions", "Region", &["delete", "list", "get"]),
            resource("events.k8s.io", "v1", "events", "Event", ALL),
        ],
        vec![("acme.io".into(), "v1".into())],
    )
}

#[test]
fn the_collector_watches_one_version_of_what_can_be_deleted() {
    let served = served();
    let watched: Vec<String> =
        served.deletable().map(|(_, resource)| format!("{} {}", resource.api_version(), resource.plural)).collect();
    assert_eq!(watched, ["v1 pods", "acme.io/v1alpha1 olds", "acme.io/v1 shops"], "R2.1, R2.2, R2.3");
    let why: Vec<Option<&NotWatched>> = served.iter().map(|(id, _)| served.not_watched(id)).collect();
    assert_eq!(why[0], Some(&NotWatched::Ignored), "R2.3");
    assert_eq!(why[2], Some(&NotWatched::MissingVerbs(vec!["delete", "list", "watch"])), "R2.2");
    assert_eq!(why[3], Some(&NotWatched::OtherVersion("v1".into())), "R2.1");
    assert_eq!(why[6], Some(&NotWatched::MissingVerbs(vec!["watch"])), "R2.2");
    assert_eq!(why[7], Some(&NotWatched::Ignored), "R2.3");
}

#[test]
fn references_map_as_the_collectors_mapper_maps_them() {
    let served = served();
    let name = |mapping: Mapping| match mapping {
        Mapping::Served(id) => format!("{} {}", served.get(id).api_version(), served.get(id).plural),
        Mapping::ListKind { namespaced } => format!("list kind, namespaced {namespaced}"),
        Mapping::Unmappable => "unmappable".into(),
        Mapping::Undiscovered => "undiscovered".into(),
    };
    let rows = [
        ("v1", "Pod", "v1 pods"),
        ("v1", "pod", "v1 pods"),
        ("v1", "POD", "unmappable"),
        ("v1", "pOd", "unmappable"),
        ("v2", "Pod", "unmappable"),
        ("acme.io/v1alpha1", "Shop", "acme.io/v1alpha1 shops"),
        ("acme.io/v1", "Shop", "acme.io/v1 shops"),
        ("acme.io/v1", "Old", "unmappable"),
        ("acme.io/v1", "ShopList", "list kind, namespaced true"),
        ("acme.io/v1", "RegionList", "list kind, namespaced false"),
        ("acme.io/v1", "shopList", "unmappable"),
        ("acme.io/v1", "List", "list kind, namespaced false"),
        ("acme.io/v9", "List", "unmappable"),
        ("", "", "unmappable"),
        ("events.k8s.io/v1", "Event", "events.k8s.io/v1 events"),
    ];
    for (api_version, kind, expected) in rows {
        assert_eq!(name(served.map(api_version, kind)), expected, "R3.14, R3.15: {api_version} {kind}");
    }
}
