//! The propagation policy of a DELETE.

/// What is to become of the dependents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Propagation {
    /// The object goes first, then the dependents.
    Background,
    /// The dependents go first; those that block are waited for.
    Foreground,
    /// The dependents stay, without their references to the object.
    Orphan,
}

impl Propagation {
    /// As the API writes it.
    pub fn name(self) -> &'static str {
        match self {
            Propagation::Background => "Background",
            Propagation::Foreground => "Foreground",
            Propagation::Orphan => "Orphan",
        }
    }
}
