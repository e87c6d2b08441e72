use super::{Code, Finding, Limit};
use crate::{model::ObjectId, tree::fixture::World};

fn finding(code: Code, objects: &[ObjectId], related: &[ObjectId]) -> Finding {
    Finding { objects: objects.to_vec(), related: related.to_vec(), ..Finding::of(code, "") }
}

#[test]
fn a_finding_is_reported_where_an_object_suffers_or_has_a_part() {
    let mut world = World::empty();
    let here = world.add("shop", "ConfigMap/a", &[]);
    let there = world.add("other", "ConfigMap/b", &[]);
    let (snapshot, _) = world.build();
    let namespace = |name: &str| Limit::namespace(snapshot.strings.find(name).expect("a name of the snapshot"));
    let of_here = finding(Code::OwnerAbsent, &[here], &[]);
    let part = finding(Code::OwnerAbsent, &[there], &[here]);
    assert!(Limit::Everything.takes(&snapshot, &of_here));
    assert!(namespace("shop").takes(&snapshot, &of_here) && namespace("shop").takes(&snapshot, &part));
    assert!(!namespace("other").takes(&snapshot, &of_here));
    let one = Limit::objects(&snapshot, [there]);
    assert!(!one.takes(&snapshot, &of_here) && one.takes(&snapshot, &part));
}

/// A problem of the whole cluster concerns each namespace, but no single object.
#[test]
fn trouble_of_the_cluster_concerns_each_namespace() {
    let mut world = World::empty();
    let here = world.add("shop", "ConfigMap/a", &[]);
    let (snapshot, _) = world.build();
    let of_all = finding(Code::CollectorStopped, &[], &[]);
    let shop = Limit::namespace(snapshot.object(here).namespace);
    assert!(shop.takes(&snapshot, &of_all));
    let one = Limit::objects(&snapshot, [here]);
    assert!(!one.takes(&snapshot, &of_all));
}
