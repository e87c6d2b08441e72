use std::collections::BTreeMap;

use super::{
    output::{Output as _, TextOptions},
    resources::ResourcesView,
    testing::{plain, shown},
};
use gc_core::model::{Gap, Resource, ResourceId, Resources, well_known};

fn resource(group: &str, version: &str, plural: &str, kind: &str, verbs: &[&str]) -> Resource {
    Resource::named(group, version, plural, kind).with_verbs(verbs)
}

/// Resources of every sort: core, several versions, missing verbs, ignored, long names.
fn some() -> Resources {
    let all = &["create", "delete", "get", "list", "watch"];
    let long = "widgets-with-a-name-that-is-longer-than-anybody-could-ever-want-it-to-be";
    Resources::new(
        vec![
            Resource {
                short_names: vec!["cm".to_owned()],
                categories: vec!["all".to_owned()],
                ..resource("", "v1", "configmaps", "ConfigMap", all)
            },
            resource("", "v1", "bindings", "Binding", &["create"]),
            resource("", "v1", "events", "Event", all),
            Resource { namespaced: false, ..resource("", "v1", "nodes", "Node", all) },
            resource("autoscaling", "v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler", all),
            resource("autoscaling", "v1", "horizontalpodautoscalers", "HorizontalPodAutoscaler", all),
            resource(
                "widgets.shop.example.org",
                "v1",
                long,
                "WidgetWithANameThatIsLongerThanAnybodyCouldEverWantItToBe",
                all,
            ),
            resource("widgets.shop.example.org", "v1", "gadgets", "Gadget", all),
            resource(
                "widgets.shop.example.org",
                "v1beta1",
                long,
                "WidgetWithANameThatIsLongerThanAnybodyCouldEverWantItToBe",
                all,
            ),
            resource("metrics.k8s.io", "v1beta1", "pods", "PodMetrics", &["get", "list"]),
            resource("metrics.k8s.io", "v1alpha1", "pods", "PodMetrics", &["get", "list"]),
        ],
        Vec::new(),
    )
}

fn table(view: &ResourcesView<'_>, wide: bool, width: Option<usize>) -> String {
    shown(view, &TextOptions { wide, ..plain(width) })
}

fn of(resources: &Resources) -> ResourcesView<'_> {
    ResourcesView { resources, gaps: &[], counts: None }
}

#[test]
fn one_line_a_resource_where_there_is_room() {
    insta::assert_snapshot!(table(&of(&some()), false, None));
}

#[test]
fn headings_where_there_is_none() {
    insta::assert_snapshot!(table(&of(&some()), false, Some(80)));
}

#[test]
fn every_column_when_asked_for() {
    insta::assert_snapshot!(table(&of(&some()), true, Some(80)));
}

#[test]
fn counts_say_what_they_rest_on() {
    let resources = some();
    let counts = BTreeMap::from([(ResourceId(0), 12), (ResourceId(3), 0), (ResourceId(4), 1_234)]);
    let gap = |resource: &str| Gap { resource: resource.to_owned(), namespace: None, reason: "forbidden".into() };
    let gaps = [gap("configmaps"), gap("gadgets.widgets.shop.example.org")];
    let view = ResourcesView { resources: &resources, gaps: &gaps, counts: Some(&counts) };
    insta::assert_snapshot!(table(&view, false, Some(80)));
}

#[test]
fn a_real_cluster_fits_80_columns() {
    let resources = well_known::served();
    let counts: BTreeMap<ResourceId, usize> = resources.deletable().map(|(id, _)| (id, 123_456)).collect();
    for counts in [None, Some(&counts)] {
        for resources in [&resources, &some()] {
            let shown = table(&ResourcesView { resources, gaps: &[], counts }, false, Some(80));
            assert!(shown.lines().all(|line| unicode_width::UnicodeWidthStr::width(line) <= 80), "{shown}");
        }
    }
    insta::assert_snapshot!(table(&of(&resources), false, Some(80)));
}

#[test]
fn any_width_will_do() {
    for width in 0..400 {
        for resources in [&some(), &Resources::default()] {
            let shown = table(&of(resources), false, Some(width));
            assert_eq!(shown.contains("gadgets"), !resources.is_empty());
        }
    }
}

#[test]
fn names_come_once_and_the_watched_first() {
    insta::assert_snapshot!(of(&some()).names().unwrap().join("\n"), @r"
    configmaps
    nodes
    horizontalpodautoscalers.autoscaling
    widgets-with-a-name-that-is-longer-than-anybody-could-ever-want-it-to-be.widgets.shop.example.org
    gadgets.widgets.shop.example.org
    bindings
    events
    pods.metrics.k8s.io
    ");
}

#[test]
fn nothing_served_is_said() {
    assert_eq!(table(&of(&Resources::default()), false, Some(80)), "No resources.\n");
}

#[test]
fn names_cannot_steer_a_terminal() {
    let all = &["delete", "list", "watch"];
    let resources = Resources::new(vec![resource("a\u{1b}[2J", "v1\n", "b\u{7}s", "B\r", all)], Vec::new());
    for width in [None, Some(20)] {
        let shown = table(&of(&resources), false, width);
        assert!(!shown.contains(['\u{1b}', '\u{7}', '\r']) && !shown.contains("v1\n"), "{shown}");
    }
}

#[test]
fn the_document_tells_every_version() {
    let counts = BTreeMap::from([(ResourceId(4), 3)]);
    let resources = some();
    let view = ResourcesView { resources: &resources, gaps: &[], counts: Some(&counts) };
    let document = serde_json::to_value(view.document()).unwrap();
    let autoscalers: Vec<&serde_json::Value> = document["resources"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|resource| resource["group"] == "autoscaling")
        .collect();
    let common = serde_json::json!({
        "group": "autoscaling", "name": "horizontalpodautoscalers", "kind": "HorizontalPodAutoscaler", "shortNames": [],
        "categories": [], "namespaced": true, "verbs": ["create", "delete", "get", "list", "watch"],
    });
    let mut expected = [common.clone(), common];
    expected[0]["version"] = "v2".into();
    expected[0]["watched"] = true.into();
    expected[0]["objects"] = 3.into();
    expected[1]["version"] = "v1".into();
    expected[1]["watched"] = false.into();
    expected[1]["notWatchedBecause"] = serde_json::json!({"reason": "other-version", "message": "watched as v2"});
    assert_eq!(autoscalers, expected.iter().collect::<Vec<_>>());
    assert!(document["resources"][0].get("objects").is_none());
    let last = &document["resources"][10]["notWatchedBecause"];
    assert_eq!(
        *last,
        serde_json::json!({"reason": "other-version", "message": "served after v1beta1, which is not watched"})
    );
}
