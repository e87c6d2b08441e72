//! The data that was read: objects, references, resources, facts and gaps. No I/O.

#[macro_use]
mod sparse;

mod compact;
pub mod effects;
pub mod events;
pub mod facts;
pub mod gap;
pub mod gaps;
pub mod identity;
pub mod made;
pub mod nearest;
mod object;
mod propagation;
mod reference;
pub mod resources;
mod rule;
pub mod server_version;
pub mod snapshot;
mod strings;
pub mod type_names;
pub mod well_known;

pub use compact::{MaybeSeconds, ResourceVersion};
pub use events::{
    NamedEvent, ObjectEvent, OwnerEvent, RecheckResult, is_older, is_owner_complaint, read_owner_complaint,
};
pub use facts::{Fact, Facts};
pub use gap::{ANY_RESOURCE, GONE, Gap, GapKind, GapReason};
pub use identity::Identity;
pub use object::{Coordinate, Object, ObjectId, RawObject, RawReference};
pub use propagation::Propagation;
pub(crate) use reference::FirstOfUid;
pub use reference::{Reference, References};
pub use resources::{Described, Mapping, NotWatched, Resource, ResourceId, Resources, group_of, is_built_in_group};
pub use rule::Rule;
pub use server_version::ServerVersion;
pub use snapshot::{API_SERVICE, NOT_IN_THE_DUMP, UNDISCOVERED, group_version_of_service};
pub use snapshot::{ListRecord, Origin, Presence, Snapshot, SnapshotBuilder, Times};
pub use strings::{FOREGROUND_FINALIZER, HOLD, ORPHAN_FINALIZER, Strings, Symbol, UNCANCELLED};
pub use type_names::UnknownType;
