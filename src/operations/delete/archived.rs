//! The archive that is written before anything is deleted.

use std::path::{Path, PathBuf};

use crate::{
    archive::Header,
    graph::OwnerGraph,
    model::{ObjectId, Snapshot},
    plan::Plan,
    simulate::{Assume, SimContext},
    wording::count,
};

use super::super::{
    LiveSession, OperationError,
    archiving::{Archiving, goes},
};

/// What goes, whole, in a file.
pub struct Archived {
    path: PathBuf,
    archiving: Archiving,
    /// What it was written for, where it was there already.
    resumed: Option<Header>,
    /// Whether what was taken is on the disk.
    saved: bool,
}

impl Archived {
    /// Finds out whether an archive can be written there, or gone on with.
    ///
    /// # Errors
    /// Why not.
    pub fn begin(path: &Path) -> Result<Self, OperationError> {
        let (archiving, resumed) = Archiving::begin_or_resume(path)?;
        Ok(Archived { path: path.to_owned(), archiving, resumed, saved: false })
    }

    /// Where it is, or will be.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether there was such an archive before.
    pub fn resumed(&self) -> bool {
        self.resumed.is_some()
    }

    /// # Errors
    /// Where the archive that is there was written for the delete of something else: nothing is added to that.
    pub fn check(&self, snapshot: &Snapshot, targets: &[ObjectId]) -> Result<(), OperationError> {
        let Some(resumed) = &self.resumed else { return Ok(()) };
        let here = Header::new(snapshot, String::new());
        // The same name is not the same object: what was archived of that one would be lost.
        let named = |target: &ObjectId| {
            let uid = snapshot.text(snapshot.object(*target).uid);
            resumed.targets.iter().any(|known| known.uid == uid)
        };
        if here.server == resumed.server && targets.iter().all(named) {
            return Ok(());
        }
        Err(OperationError::OtherArchive(self.path.clone()))
    }

    /// Takes what it lacks of all that goes, and saves it. Says whether there was anything to take.
    ///
    /// # Errors
    /// What can't be archived, or written: nothing is to be deleted then.
    pub fn complete(
        &mut self,
        session: &LiveSession,
        plan: &Plan,
        assume: Assume,
        allow_incomplete: bool,
    ) -> Result<bool, OperationError> {
        let goes = {
            let graph = OwnerGraph::new(&session.snapshot);
            goes(&SimContext::new(&session.snapshot, &graph, assume), plan)
        };
        goes.require_complete(self.archiving.path(), allow_incomplete)?;
        if self.saved && self.archiving.has(&session.snapshot, &goes.objects) {
            return Ok(false);
        }
        self.archiving.take(session, &goes)?;
        self.archiving.save(&session.snapshot, plan)?;
        self.saved = true;
        Ok(true)
    }

    /// Time has passed since it was made complete.
    pub fn grow_stale(&mut self) {
        self.archiving.grow_stale();
    }

    /// What is in it, and what is not.
    pub fn describe(&self) -> Vec<String> {
        let mut describe =
            vec![format!("Archived {} in {}.", count(self.archiving.size(), "object", "objects"), self.path.display())];
        describe.extend(self.archiving.notes());
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
