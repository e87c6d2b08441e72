//! A gateway that mixes up its answers: whoever asks for one object is answered with another one, or that another one
//! doesn't exist. Nothing is deleted that has an owner, and nothing is called absent.

use super::{
    scene::{OWNED, Scene, check},
    seeded::{PATIENCE, is_back, is_swept},
};
use crate::{
    harness::{Ran, Retry, poll, shared},
    sweep::uncollected,
};

/// What is answered in place of each object that exists: see `others` of the proxy.
const ANSWERS: [&str; 3] =
    ["another object", "that no object has another name", "that no object of another kind has it"];

type Try = fn(usize) -> Result<(), String>;

const COMMANDS: [(&str, Try); 6] = [
    ("sweep", sweep),
    ("sweep --watch", sweep_watch),
    ("plan", plan),
    ("delete", |other| delete(other, &[])),
    ("delete --keep", |other| delete(other, &["--keep", "cm/block"])),
    ("restore", restore),
];

/// robustness line: a gateway that answers each read of one object with another one, or with a 404 about another one,
///   under `sweep`, `plan`, `delete` and `restore` | {COMMANDS} commands with {ANSWERS} answers each | nothing with an
///   owner is deleted, nothing is called absent, and `restore` and `--keep` write nothing
#[test]
#[ignore = "long: each command with each answer"]
fn an_answer_about_another_object_proves_nothing() {
    prove_nothing(|_, _| true);
}

/// A sweep with one answer: it is what deletes because of an absence.
#[test]
fn an_answer_about_another_object_proves_nothing_to_a_sweep() {
    prove_nothing(|command, answer| command == 0 && answer == 0);
}

fn prove_nothing(is_tried: impl Fn(usize, usize) -> bool) {
    let mut wrong = Vec::new();
    for (number, (name, command)) in COMMANDS.into_iter().enumerate() {
        for (other, answer) in ANSWERS.into_iter().enumerate().filter(|(other, _)| is_tried(number, *other)) {
            wrong.extend(command(other).err().map(|why| format!("{name}: {answer}: {why}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

fn sweep(other: usize) -> Result<(), String> {
    let scene = Scene::mixed_up(uncollected(), other, true);
    let ran = scene.faulty(&["sweep", "--yes", "--timeout=20s"])?;
    check(ran.code != Some(0), "success, although it could not read owners", &ran)?;
    check(scene.reads("keeper") > 0, "it read no owner", &ran)?;
    is_swept(&scene, false, &ran)?;
    let again = scene.flawless(&["sweep", "--yes"])?;
    check(again.code == Some(0), &format!("it can't be finished after this: {ran:#?}\n"), &again)?;
    is_swept(&scene, true, &again)
}

fn sweep_watch(other: usize) -> Result<(), String> {
    let scene = Scene::mixed_up(uncollected(), other, true);
    let sweeping = scene.sweeping();
    let ran = || Ran { code: None, stdout: sweeping.said(), stderr: String::new() };
    // It asks again once it has judged an answer.
    poll(PATIENCE, || if scene.reads("keeper") > 1 { Ok(()) } else { Err(Retry::Later(sweeping.said())) })?;
    is_swept(&scene, false, &ran())?;
    scene.mend();
    poll(PATIENCE, || is_swept(&scene, true, &ran()).map_err(Retry::Later))
}

fn plan(other: usize) -> Result<(), String> {
    let scene = Scene::mixed_up(uncollected(), other, true);
    let ran = scene.faulty(&["plan", "cm/owner", "-o", "json"])?;
    scene.untouched_but(&[], &ran).map(drop)
}

/// `options`: what is kept.
fn delete(other: usize, options: &[&str]) -> Result<(), String> {
    let scene = Scene::mixed_up(shared(), other, false);
    // The collector has to know what it will collect.
    scene.trial.cluster.settled();
    let ran = scene.faulty(&[&["delete", "cm/owner", "--yes", "--timeout=20s"], options].concat())?;
    if !options.is_empty() {
        check(ran.code != Some(0), "kept without being read", &ran)?;
        return scene.untouched_but(&[], &ran).map(drop);
    }
    let now = scene.untouched_but(&[&OWNED[..], &["shared"]].concat(), &ran)?;
    check(now.contains_key("shared"), "shared is gone", &ran)
}

fn restore(other: usize) -> Result<(), String> {
    let scene = Scene::mixed_up(uncollected(), other, false);
    let (cluster, file) = (scene.trial.cluster, scene.file("archive.yaml"));
    let args = ["restore", file.to_str().expect("UTF-8"), "--yes", "-o", "json"];
    let archived = scene.flawless(&["archive", "cm/owner", args[1]])?;
    check(archived.code == Some(0), "it can't be archived over a good line", &archived)?;
    for name in OWNED {
        cluster.delete(&cluster.path_of(&scene.before[name]), Some("Background"), None);
    }
    let ran = scene.faulty(&args)?;
    let now = scene.untouched_but(&OWNED, &ran)?;
    let created: Vec<&&str> = OWNED.iter().filter(|name| now.contains_key(**name)).collect();
    check(ran.code != Some(0) && created.is_empty(), &format!("it created {created:?}"), &ran)?;
    let again = scene.flawless(&args)?;
    check(again.code == Some(0), &format!("it can't be finished after this: {ran:#?}\n"), &again)?;
    is_back(&scene, &again)
}
