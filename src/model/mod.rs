//! The data that was read: objects, references, resources, facts and gaps. No I/O.

mod compact;
pub mod effects;
pub(crate) mod events;
pub mod facts;
pub(crate) mod gap;
pub(crate) mod gaps;
pub(crate) mod identity;
pub(crate) mod nearest;
mod object;
mod object_event;
pub(crate) mod pool;
mod recheck;
mod reference;
pub(crate) mod resources;
mod rule;
pub(crate) mod snapshot;
mod strings;
pub(crate) mod type_names;
pub mod well_known;

pub use compact::{MaybeSeconds, ResourceVersion};
pub use events::{NamedEvent, OwnerEvent};
pub use facts::{Fact, Facts};
pub use gap::{Gap, GapKind, GapReason};
pub use identity::Identity;
pub use object::{Coordinate, Object, ObjectId, RawObject, RawReference};
pub use object_event::ObjectEvent;
pub(crate) use object_event::is_older;
pub use recheck::RecheckResult;
pub(crate) use reference::FirstOfUid;
pub use reference::Reference;
pub use resources::{Mapping, NotWatched, Resource, ResourceId, Resources};
pub use rule::Rule;
pub use snapshot::{ListRecord, Origin, Presence, Snapshot, SnapshotBuilder};
pub(crate) use strings::ORPHAN_FINALIZER;
pub use strings::{FOREGROUND_FINALIZER, Strings, Symbol};
pub use type_names::UnknownType;
