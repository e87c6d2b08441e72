//! The archive that is written before a delete.

use std::path::{Path, PathBuf};

use crate::{
    archive::{Header, Saved},
    model::{ObjectId, Snapshot},
    plan::Plan,
    simulate::Assume,
    wording::count,
};

use super::super::{
    LiveSession, OperationError,
    archiving::{Archiving, goes, of_content},
    unread::AllowIncomplete,
};

/// An archive of all objects that will be deleted.
pub struct Archived {
    path: PathBuf,
    archiving: Archiving,
    /// The header of the archive that existed before, if any.
    resumed: Option<Header>,
    /// What is on disk; `None` if something that was taken is not.
    saved: Option<Saved>,
}

impl Archived {
    /// Checks whether an archive can be written there, or continued.
    ///
    /// # Errors
    /// Why not.
    pub fn begin(path: &Path) -> Result<Self, OperationError> {
        let (archiving, resumed) = Archiving::begin_or_resume(path)?;
        Ok(Archived { path: path.to_owned(), archiving, resumed, saved: None })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether this continues an existing archive.
    pub fn resumed(&self) -> bool {
        self.resumed.is_some()
    }

    /// # Errors
    /// If the existing archive was written for the delete of other objects: nothing is added to it.
    pub fn check(&self, snapshot: &Snapshot, targets: &[ObjectId]) -> Result<(), OperationError> {
        let Some(resumed) = &self.resumed else { return Ok(()) };
        let here = Header::new(snapshot, String::new());
        // The same name is not enough: adding another object of that name would replace the archived one.
        let named = |target: &ObjectId| {
            let uid = snapshot.text(snapshot.object(*target).uid);
            resumed.targets.iter().any(|known| known.uid == uid)
        };
        if here.server == resumed.server && targets.iter().all(named) {
            return Ok(());
        }
        Err(OperationError::OtherArchive(self.path.clone()))
    }

    /// Archives objects that will be deleted and are not in it yet, and saves. Returns whether there were any.
    ///
    /// # Errors
    /// Objects that can't be archived or written: nothing may be deleted then.
    pub fn complete(
        &mut self,
        session: &LiveSession,
        plan: &Plan,
        assume: Assume,
        allow_incomplete: &AllowIncomplete,
    ) -> Result<bool, OperationError> {
        let goes = goes(&session.snapshot, plan, assume);
        goes.require_complete(session, plan, self.archiving.path(), allow_incomplete)?;
        if self.saved.is_some() && self.archiving.has(&session.snapshot, &goes.objects) {
            return Ok(false);
        }
        self.archiving.take(session, &goes)?;
        self.saved = Some(self.archiving.save(&session.snapshot, plan)?);
        Ok(true)
    }

    /// Time has passed: objects must be read again.
    pub fn grow_stale(&mut self) {
        self.archiving.grow_stale();
    }

    /// Lines about what it contains, and what not.
    pub fn describe(&self) -> Vec<String> {
        let mut describe =
            vec![format!("Archived {} in {}.", count(self.archiving.size(), "object", "objects"), self.path.display())];
        describe.extend(self.archiving.notes());
        let content = self.saved.as_ref().map(|saved| of_content(&saved.kinds)).unwrap_or_default();
        describe.extend(content.into_iter().map(str::to_owned));
        describe
    }
}

/// A new file in the current folder, named after the first target and the time.
pub(super) fn default_path(snapshot: &Snapshot, plan: &Plan, now: &jiff::Zoned) -> PathBuf {
    let now = now.strftime("%Y%m%d-%H%M%S%.3f").to_string();
    let safe = |text: &str| {
        text.chars().map(|c| if c.is_ascii_alphanumeric() || "-.".contains(c) { c } else { '_' }).collect::<String>()
    };
    let first = plan.request.targets.first().map_or_else(String::new, |target| {
        let object = snapshot.object(*target);
        let kind = snapshot.resources.get(object.resource).kind.to_lowercase();
        let namespace =
            if object.namespace.is_empty() { String::new() } else { format!("{}-", snapshot.text(object.namespace)) };
        format!("{namespace}{kind}-{}-", safe(snapshot.text(object.name)))
    });
    PathBuf::from(format!("{first}{now}.yaml"))
}
