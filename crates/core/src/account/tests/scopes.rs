//! Which objects are told of.

use super::kit::{ABSENT, Play, gone_for, holds, object, owned, terminating};
use crate::{
    account::{Answer, Change, Reason, Scope},
    model::{Identity, RawObject},
};

fn elsewhere(object: RawObject<'static>) -> RawObject<'static> {
    RawObject { namespace: "elsewhere".into(), uid: format!("{}-else", object.uid).into(), ..object }
}

fn target(kind: &str, api_version: &str, object: &RawObject<'static>) -> Identity {
    Identity {
        api_version: api_version.to_owned(),
        kind: kind.to_owned(),
        namespace: object.namespace.to_string(),
        name: object.name.to_string(),
        uid: object.uid.to_string(),
    }
}

fn names(play: &mut Play) -> Vec<String> {
    play.changes().into_iter().map(|(name, _)| name).collect()
}

#[test]
fn a_namespace_has_its_objects_and_itself() {
    let here = object("ConfigMap", "here", 1);
    let there = elsewhere(object("ConfigMap", "there", 1));
    let (shop, other) = (object("Namespace", "shop", 1), object("Namespace", "elsewhere", 1));
    let objects = [here.clone(), there.clone(), shop.clone(), other.clone()];
    let mut play = Play::with(Scope::Namespace("shop".to_owned()), &objects);
    for namespace in [shop, other] {
        play.see(&terminating(namespace, &[]));
    }
    play.gone(&there);
    play.gone(&here);
    let changes = play.changes();
    assert_eq!(changes.len(), 2, "{changes:#?}");
    assert_eq!(holds(&changes[0].1).content.as_ref().map(|content| content.objects), Some(1));
    assert_eq!(gone_for(&changes, "ConfigMap/here"), Reason::Namespace { name: "shop".to_owned() });
}

/// Whoever may watch only in a namespace can at least look it up.
#[test]
fn a_namespace_that_is_not_watched_is_looked_up() {
    let map = object("ConfigMap", "x", 1);
    for terminating in [true, false] {
        let mut play = Play::with(Scope::Namespace("shop".to_owned()), std::slice::from_ref(&map));
        play.account.failing(2, "it cannot be listed: forbidden".to_owned(), play.now);
        play.gone(&map);
        play.answer(|_| Answer::Found { terminating, waiting: false, orphaning: false });
        assert_eq!(
            (play.asked.len(), play.asked[0].kind.as_str(), play.asked[0].name.as_str()),
            (1, "Namespace", "shop")
        );
        let why = gone_for(&play.changes(), "ConfigMap/x");
        assert_eq!(why == Reason::NoOwner, !terminating, "{why:?}");
    }
}

#[test]
fn a_definition_takes_its_instances() {
    let definition = object("CustomResourceDefinition", "runners.acme.io", 1);
    let runner = object("Runner", "a", 1);
    for scope in [Scope::Everything, Scope::Namespace("shop".to_owned())] {
        let mut play = Play::with(scope, &[definition.clone(), runner.clone()]);
        play.see(&terminating(definition.clone(), &["customresourcecleanup.apiextensions.k8s.io"]));
        play.gone(&runner);
        let changes = play.changes();
        assert_eq!(holds(&changes[0].1).content.as_ref().map(|content| content.objects), Some(1));
        assert_eq!(gone_for(&changes, "Runner/a"), Reason::Definition { name: "runners.acme.io".to_owned() });
    }
    // It is none of a namespace's business without instances there.
    let mut play = Play::with(Scope::Namespace("shop".to_owned()), std::slice::from_ref(&definition));
    play.gone(&definition);
    assert_eq!(names(&mut play), [""; 0]);
}

#[test]
fn targets_have_their_dependents_and_what_comes_later() {
    let runner = object("Runner", "a", 1);
    let middle = owned(object("Deployment", "web", 1), "Runner", "a", 1);
    let leaf = owned(object("ConfigMap", "leaf", 1), "Deployment", "web", 1);
    let other = object("ConfigMap", "other", 1);
    let scope = Scope::Targets(vec![target("Runner", "acme.io/v1", &runner)]);
    let objects = [leaf.clone(), other.clone(), middle.clone(), runner.clone()];
    let mut play = Play::with(scope, &objects);
    assert_eq!(play.account.targets_left(), 1);
    // A dependent that comes later, with one of its own.
    let late = owned(object("ConfigMap", "late", 1), "Deployment", "web", 1);
    play.see(&late);
    play.gone(&other);
    for gone in [&runner, &middle, &leaf, &late] {
        play.gone(gone);
    }
    assert_eq!(names(&mut play), ["Runner/a", "Deployment/web", "ConfigMap/leaf", "ConfigMap/late"]);
    assert_eq!(play.account.targets_left(), 0);
    // The target's name, a dependent's name, and one more dependent of the object that is gone.
    play.see(&object("Runner", "a", 2));
    play.see(&object("ConfigMap", "leaf", 2));
    play.see(&owned(object("ConfigMap", "stale", 1), "Runner", "a", 1));
    play.see(&object("ConfigMap", "other", 2));
    play.answer(|_| ABSENT);
    assert_eq!(names(&mut play), ["Runner/a", "ConfigMap/leaf", "ConfigMap/stale"]);
    assert_eq!(play.account.targets_left(), 0, "another object has the name");
}

#[test]
fn a_target_may_hold_others() {
    let (shop, map) = (object("Namespace", "shop", 1), object("ConfigMap", "x", 1));
    let definition = object("CustomResourceDefinition", "runners.acme.io", 1);
    let runner = elsewhere(object("Runner", "a", 1));
    let there = elsewhere(object("ConfigMap", "there", 1));
    let crd = "apiextensions.k8s.io/v1";
    let scope =
        Scope::Targets(vec![target("Namespace", "v1", &shop), target("CustomResourceDefinition", crd, &definition)]);
    let mut play = Play::with(scope, &[shop, map.clone(), definition, runner.clone(), there.clone()]);
    for gone in [&map, &runner, &there] {
        play.gone(gone);
    }
    assert_eq!(names(&mut play), ["ConfigMap/x", "Runner/a"]);
}

/// An object that gets an owner of the scope belongs to it from then on, with its dependents.
#[test]
fn adopted_objects_belong_to_the_scope() {
    let runner = object("Runner", "a", 1);
    let middle = object("Deployment", "web", 1);
    let leaf = owned(object("ConfigMap", "leaf", 1), "Deployment", "web", 1);
    let scope = Scope::Targets(vec![target("Runner", "acme.io/v1", &runner)]);
    let mut play = Play::with(scope, &[leaf.clone(), middle.clone(), runner]);
    play.see(&owned(middle, "Runner", "a", 1));
    let changes = play.changes();
    assert!(matches!(&changes[0].1, Change::OwnersAdded { owners } if owners[0].name == "a"), "{changes:#?}");
    play.gone(&leaf);
    play.answer(|_| ABSENT);
    play.now += 2_000;
    assert_eq!(names(&mut play), ["ConfigMap/leaf"]);
}
