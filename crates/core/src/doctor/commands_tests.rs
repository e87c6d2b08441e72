use super::commands::Commands;
use crate::{
    command_line::{Kubectl, PLAIN, ShellCommand},
    model::{ObjectId, Symbol},
    tree::fixture::{World, owner, terminating},
};

/// The commands about some objects, one per line.
fn command<C: IntoIterator<Item = ShellCommand>>(world: World, make: impl FnOnce(Commands<'_>) -> C) -> String {
    let (snapshot, _) = world.build();
    let kubectl = Kubectl::new(vec!["--context=test".to_owned()]);
    let commands = make(Commands { snapshot: &snapshot, kubectl: &kubectl, guarded: false }).into_iter();
    commands.map(|command| command.to_string()).collect::<Vec<_>>().join("\n")
}

/// One command deletes all objects of one kind and namespace. It doesn't wait for stuck ones, and accepts that some are
/// gone.
#[test]
fn one_delete_takes_what_has_one_kind_and_namespace() {
    let mut world = World::empty();
    let all: Vec<ObjectId> = [("shop", "Pod/b"), ("shop", "Pod/a"), ("other", "Pod/a"), ("", "Node/n")]
        .map(|(namespace, name)| world.add(namespace, name, &[]))
        .to_vec();
    let commands = command(world, |commands| commands.delete(&all, "background", &[]));
    let flags = "--cascade=background --wait=false --ignore-not-found";
    let mut lines: Vec<String> = commands.lines().map(str::to_owned).collect();
    lines.sort();
    assert_eq!(
        lines,
        [
            format!("kubectl --context=test delete nodes/n {flags}"),
            format!("kubectl --context=test delete pods/a -n other {flags}"),
            format!("kubectl --context=test delete pods/b pods/a -n shop {flags}"),
        ]
    );
}

/// A patch that removes references tests each uid first, and removes the last one first, so that the indexes remain
/// right.
#[test]
fn references_are_dropped_only_if_they_are_what_they_were() {
    let mut world = World::empty();
    let id = world.add("shop", "ConfigMap/a", &["Shop/x", "Shop/y", "Shop/z"]);
    let patch = command(world, |commands| commands.drop_references(id, &[2, 0, 2]));
    let of =
        |op: &str, place: usize| patch.find(&format!("\"op\":\"{op}\",\"path\":\"/metadata/ownerReferences/{place}"));
    let steps = [of("test", 0), of("test", 2), of("remove", 2), of("remove", 0)];
    assert!(steps.iter().all(Option::is_some) && steps.is_sorted(), "{steps:?}: {patch}");
    assert!(of("remove", 1).is_none() && patch.matches("\"remove\"").count() == 2, "{patch}");
}

/// A missing finalizer needs no command; an existing one is tested by its name.
#[test]
fn a_finalizer_is_removed_only_if_it_is_where_it_was() {
    let mut world = World::empty();
    let held = world.add_with("shop", "ConfigMap/held", Vec::new(), terminating(&["acme.io/a", "acme.io/b"]));
    let other = world.add_with("shop", "ConfigMap/other", vec![owner("Shop/x")], terminating(&["acme.io/c"]));
    let (snapshot, _) = world.build();
    let commands = Commands { snapshot: &snapshot, kubectl: &PLAIN, guarded: false };
    let finalizer = |name: &str| snapshot.strings.find(name).expect("a name of the snapshot");
    let patch = commands.remove_finalizers(held, &[finalizer("acme.io/b")])[0].to_string();
    assert!(patch.contains("/metadata/finalizers/1\",\"value\":\"acme.io/b\""), "{patch}");
    assert_eq!(commands.remove_finalizers(other, &[finalizer("acme.io/b")]), []);
}

/// A million steps would be longer than any command, and gigabytes.
#[test]
fn many_finalizers_are_removed_at_once() {
    let mut world = World::empty();
    let names: Vec<&'static str> = (0..300).map(|number| &*format!("acme.io/{number}").leak()).collect();
    let held = world.add_with("shop", "ConfigMap/held", Vec::new(), |raw| {
        terminating(&names)(raw);
        raw.resource_version = "7".into();
    });
    let (snapshot, _) = world.build();
    let commands = Commands { snapshot: &snapshot, kubectl: &PLAIN, guarded: false };
    let wanted: Vec<Symbol> = names[1..].iter().filter_map(|name| snapshot.strings.find(name)).collect();
    let patches = commands.remove_finalizers(held, &wanted);
    let [patch] = patches.as_slice() else { panic!("{patches:?}") };
    assert!(patch.to_string().contains(r#""finalizers":["acme.io/0"],"resourceVersion":"7""#), "{patch}");
}

/// The delete is joined to the save: it must not run without it.
#[test]
fn an_object_is_deleted_only_after_it_was_saved() {
    let mut world = World::empty();
    let id = world.add("shop", "ConfigMap/a", &[]);
    assert_eq!(
        command(world, |commands| commands.make_again(id)),
        "test ! -e configmaps-shop-a.json && \
         kubectl --context=test get configmaps/a -n shop -o json > configmaps-shop-a.json && \
         kubectl --context=test delete configmaps/a -n shop --cascade=background && \
         kubectl --context=test create -f configmaps-shop-a.json"
    );
}
