//! Objects of a snapshot that are asked for one by one, for more than their list told.

use http::StatusCode;

use crate::model::{ObjectId, Resource, Snapshot, gaps::Gaps};

use super::{
    Connection,
    answer::{Answer, Malformed},
    failure::Failure,
    path,
};

/// Why an object that a list has shown can't be had.
pub(super) const GONE: &str = "gone since it was listed";

/// One object, and where it is.
pub(super) struct Named {
    pub object: ObjectId,
    pub resource: Resource,
    pub namespace: String,
    pub name: String,
    pub uid: String,
}

impl Named {
    pub(super) fn of(snapshot: &Snapshot, id: ObjectId) -> Self {
        let object = snapshot.object(id);
        let text = |symbol| snapshot.text(symbol).to_owned();
        Named {
            object: id,
            resource: snapshot.resources.get(object.resource).clone(),
            namespace: text(object.namespace),
            name: text(object.name),
            uid: text(object.uid),
        }
    }

    /// Notes that it could not be read.
    pub(super) fn missing(&self, reason: String, gaps: &mut Gaps) {
        gaps.add(self.resource.full_name(), &self.namespace, &self.name, reason);
    }
}

impl Connection {
    /// GETs an object and reads its uid and something else of it. The error says why that could not be had; so it does
    /// where another object has taken the place of this one.
    pub(super) async fn get_named<T>(
        &self,
        named: &Named,
        accept: &str,
        read: impl FnOnce(&Answer) -> Result<(String, T), Malformed>,
    ) -> Result<T, String> {
        let answer = match path::of_object(&named.resource, &named.namespace, &named.name) {
            Some(url) => self.get(&url, accept).await,
            None => Err(Failure::Malformed("its name has no URL".to_owned())),
        };
        match answer.and_then(|answer| Ok(read(&answer)?)) {
            Ok((uid, found)) if uid == named.uid => Ok(found),
            Ok(_) => Err(GONE.to_owned()),
            Err(failure) if failure.status() == Some(StatusCode::NOT_FOUND) => Err(GONE.to_owned()),
            Err(failure) => Err(failure.to_string()),
        }
    }
}
