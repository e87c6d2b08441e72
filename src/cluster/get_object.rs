//! Reads one object, and checks that the answer is about that object.

use crate::model::{Coordinate, GONE, ObjectId, RawObject, Resource, Snapshot};

use super::{
    Connection,
    answer::{Answer, Malformed},
    failure::Failure,
    path,
    request::METADATA,
};

/// The number of parallel requests: enough to hide the latency, few enough not to load the API server.
pub(super) const AT_ONCE: usize = 16;

/// The object that is now at the coordinate of an object in a snapshot.
pub(super) enum Current<T> {
    /// The same object (equal uid).
    Same(T),
    /// Another object: same coordinate, other uid.
    Replaced(T),
    /// No object: the API server answered so for this very name.
    Gone,
}

impl<T> Current<T> {
    /// The result if it is the same object; otherwise the reason of a gap.
    pub(super) fn same(self) -> Result<T, String> {
        match self {
            Current::Same(found) => Ok(found),
            Current::Replaced(_) | Current::Gone => Err(GONE.to_owned()),
        }
    }
}

impl Connection {
    /// GETs the object at a coordinate and reads it from the answer. An answer without a uid, or about another name or
    /// namespace, is a failure.
    pub(super) async fn get_object<T>(
        &self,
        snapshot: &Snapshot,
        at: Coordinate,
        accept: &str,
        read: impl FnOnce(&Answer, RawObject<'_>) -> Result<T, Malformed>,
    ) -> Result<T, Failure> {
        let resource = snapshot.resources.get(at.resource);
        self.get_named(resource, snapshot.text(at.namespace), snapshot.text(at.name), accept, read).await
    }

    async fn get_named<T>(
        &self,
        resource: &Resource,
        namespace: &str,
        name: &str,
        accept: &str,
        read: impl FnOnce(&Answer, RawObject<'_>) -> Result<T, Malformed>,
    ) -> Result<T, Failure> {
        let url = path::of_object(resource, namespace, name).ok_or(Failure::InvalidName)?;
        let answer = self.get(&url, accept).await?;
        let metadata = answer.read_object()?;
        if metadata.uid.is_empty() && metadata.name == name {
            return Err(Failure::Malformed("it has no uid".to_owned()));
        }
        if metadata.uid.is_empty() || metadata.name != name || metadata.namespace != namespace {
            return Err(Failure::Malformed("not the requested object".to_owned()));
        }
        Ok(read(&answer, metadata)?)
    }

    /// GETs the metadata of whatever has this name now; `None` if the API server says that nothing has.
    ///
    /// # Errors
    /// Why that is unknown.
    pub async fn find(
        &self,
        resource: &Resource,
        namespace: &str,
        name: &str,
    ) -> Result<Option<RawObject<'static>>, String> {
        match self.get_named(resource, namespace, name, METADATA, |_, metadata| Ok(metadata.into_owned())).await {
            Ok(found) => Ok(Some(found)),
            Err(failure) if failure.proves_absence() => Ok(None),
            Err(failure) => Err(failure.to_string()),
        }
    }

    /// GETs the object that is now at the coordinate of an object in the snapshot.
    pub(super) async fn get_current<T>(
        &self,
        snapshot: &Snapshot,
        id: ObjectId,
        accept: &str,
        read: impl FnOnce(&Answer, RawObject<'_>) -> Result<T, Malformed>,
    ) -> Result<Current<T>, Failure> {
        let object = snapshot.object(id);
        let uid = snapshot.text(object.uid);
        let read = |answer: &Answer, metadata: RawObject<'_>| {
            let current = if metadata.uid == uid { Current::Same } else { Current::Replaced };
            Ok(current(read(answer, metadata)?))
        };
        match self.get_object(snapshot, object.coordinate(), accept, read).await {
            Err(failure) if failure.proves_absence() => Ok(Current::Gone),
            current => current,
        }
    }
}
