//! `tree --watch` and `doctor --watch` under faults for a while, and then over a good line: nothing that they say is
//! wrong, and in the end they say what is so.

use std::{fs, path::PathBuf, time::Instant};

use serde_json::Value;

use super::{
    scene::{Scene, check},
    seeded::{Came, PATIENCE, WHILE, are_found_too, complete, findings, right, tree_is_true},
};
use crate::harness::{Ran, Retry, Watching, poll};

/// A command that goes on, and what it has said.
struct GoingOn {
    watching: Watching,
    errors: PathBuf,
    said: String,
}

impl GoingOn {
    /// Starts it over the faulty line, and lets it work for a while.
    fn start(scene: &Scene<'_>, args: &[&str]) -> Result<Self, String> {
        let errors = scene.file("errors");
        let watching = scene.watching(&[args, &["--watch", "--interval=1", "-o", "json"]].concat(), &errors)?;
        let mut going = GoingOn { watching, errors, said: String::new() };
        let begun = Instant::now();
        while begun.elapsed() < WHILE {
            going.hear();
        }
        Ok(going)
    }

    /// The next line, if there is one soon.
    fn hear(&mut self) {
        if let Some(line) = self.watching.next() {
            self.said += &(line + "\n");
        }
    }

    /// What it has said, with the code that it ended with.
    fn ran(&mut self) -> Result<Ran, String> {
        let ended = self.watching.child.try_wait().map_err(|error| error.to_string())?;
        if ended.is_some() {
            self.said.extend(self.watching.rest().map(|line| line + "\n"));
        }
        let stderr = fs::read_to_string(&self.errors).map_err(|error| error.to_string())?;
        let ran = Ran { code: ended.and_then(|status| status.code()), stdout: self.said.clone(), stderr };
        check(!ran.stderr.contains("panicked"), "it crashed", &ran)?;
        Ok(ran)
    }

    /// The documents that it has written, each as if it were alone. The last one may not be complete yet.
    fn documents(&mut self) -> Result<Vec<Ran>, String> {
        let ran = self.ran()?;
        let alone = |stdout: String| Ran { code: ran.code, stdout, stderr: ran.stderr.clone() };
        let mut documents = Vec::new();
        for document in serde_json::Deserializer::from_str(&ran.stdout).into_iter::<Value>() {
            match document {
                Ok(document) => documents.push(alone(document.to_string())),
                Err(error) if error.is_eof() => break,
                Err(error) => return Err(format!("{error}: {ran:#?}")),
            }
        }
        Ok(documents)
    }

    /// Whether faults have kept it from beginning.
    fn has_ended(&mut self) -> Result<bool, String> {
        let ran = self.ran()?;
        let failed = ran.code == Some(1) && ran.stderr.contains("error: ");
        check(ran.code.is_none() || failed, "it ended without an error", &ran)?;
        Ok(ran.code.is_some())
    }

    /// Waits until the last document is right.
    fn until(&mut self, is_right: impl Fn(&Ran) -> Result<(), String>) -> Result<(), String> {
        poll(PATIENCE, || {
            self.hear();
            if self.has_ended().map_err(Retry::Never)? {
                return Err(Retry::Never(format!("it ended: {:#?}", self.ran())));
            }
            let documents = self.documents().map_err(Retry::Never)?;
            let last = documents.last().ok_or_else(|| Retry::Later("no document".to_owned()))?;
            is_right(last).map_err(Retry::Later)
        })
    }
}

/// Each tree is as true as one of `tree`. The last one shows what was created when the line was good.
pub(super) fn tree_watch(scene: &Scene<'_>) -> Result<Came, String> {
    let mut going = GoingOn::start(scene, &["tree"])?;
    let mut early = false;
    for ran in going.documents()? {
        early |= complete(&ran)?.is_some();
        tree_is_true(scene, &ran.json(), &ran)?;
    }
    if going.has_ended()? {
        return Ok(Came::Less);
    }
    scene.mend();
    scene.trial.config_map("latecomer").create();
    going.until(|last| {
        let document = complete(last)?.ok_or_else(|| format!("not complete: {last:#?}"))?;
        tree_is_true(scene, &document, last)?;
        check(document.to_string().contains("latecomer"), "a tree lacks what is new", last)
    })?;
    Ok(if early { Came::Whole } else { Came::Less })
}

/// What it finds over a complete reading is what `doctor` finds; in the end it finds all of that.
pub(super) fn doctor_watch(scene: &Scene<'_>) -> Result<Came, String> {
    let ns = scene.trial.namespace.as_str();
    let mut going = GoingOn::start(scene, &["doctor"])?;
    let right = findings(&right(scene, &["doctor", "-o", "json"])?, ns);
    let mut early = false;
    for ran in going.documents()? {
        let Some(document) = complete(&ran)? else { continue };
        let said = findings(&document, ns);
        let true_of_then = scene.faults.are_stale() && are_found_too(&said, &right);
        check(said == right || true_of_then, &format!("{said:?} instead of {right:?}"), &ran)?;
        early = true;
    }
    if going.has_ended()? {
        return Ok(Came::Less);
    }
    scene.mend();
    going.until(|last| {
        let document = complete(last)?.ok_or_else(|| format!("not complete: {last:#?}"))?;
        let said = findings(&document, ns);
        check(said == right, &format!("{said:?} instead of {right:?}"), last)
    })?;
    Ok(if early { Came::Whole } else { Came::Less })
}
