//! What was read: objects, references, kinds, facts, and what is missing. No I/O here.

pub mod effects;
pub mod events;
pub mod facts;
pub mod gap;
pub(crate) mod gaps;
pub mod identity;
pub mod nearest;
pub mod object;
pub mod object_event;
pub mod recheck;
pub mod reference;
pub mod resources;
pub mod rule;
pub mod snapshot;
pub mod strings;
pub mod type_names;
pub mod well_known;

pub use events::OwnerEvent;
pub use facts::{Fact, Facts};
pub use gap::{Gap, GapKind, GapReason};
pub use identity::Identity;
pub use object::{Coordinate, Object, ObjectId, RawObject, RawReference};
pub use object_event::ObjectEvent;
pub use recheck::RecheckResult;
pub use reference::Reference;
pub use resources::{Mapping, NotWatched, Resource, ResourceId, Resources};
pub use rule::Rule;
pub use snapshot::{ListRecord, Origin, Presence, Snapshot, SnapshotBuilder};
pub use strings::{DEFINITION_FINALIZER, FOREGROUND_FINALIZER, ORPHAN_FINALIZER, Strings, Symbol};
pub use type_names::UnknownType;
