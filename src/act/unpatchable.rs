//! Whether the API server accepts changes of an object: objects may no longer satisfy the schema of their CRD.

use futures::{StreamExt as _, stream};
use http::{Method, StatusCode};
use serde_json::json;

use crate::{
    cluster::{Connection, path},
    model::{ObjectId, Snapshot},
};

use super::{
    request::{JSON, MERGE_PATCH, once_as},
    update::metadata_patch,
};

/// The annotation that a dry run adds. A patch without any change would not be validated like one with a change.
const ANNOTATION: &str = "kubectl-gc/dry-run";

/// So many are asked about at the same time.
const AT_ONCE: usize = 8;

/// Of each of these objects, in order, why the API server refuses to change its metadata, as invalid: asks with dry
/// runs, which store nothing. `None` if it would accept a change, or if that could not be found out. Who may not patch
/// the first is not asked about the others: refusals may alarm somebody.
pub(crate) async fn unpatchable(
    connection: &Connection,
    snapshot: &Snapshot,
    objects: &[ObjectId],
) -> Vec<Option<String>> {
    let Some((first, others)) = objects.split_first() else { return Vec::new() };
    let Ok(first) = refused(connection, snapshot, *first).await else { return vec![None; objects.len()] };
    let ask = async |id: &ObjectId| refused(connection, snapshot, *id).await.unwrap_or_default();
    let others: Vec<Option<String>> = stream::iter(others).map(ask).buffered(AT_ONCE).collect().await;
    [vec![first], others].concat()
}

/// The user may not patch an object.
struct Forbidden;

async fn refused(connection: &Connection, snapshot: &Snapshot, id: ObjectId) -> Result<Option<String>, Forbidden> {
    let object = snapshot.object(id);
    let resource = snapshot.resources.get(object.resource);
    let path = path::of_object(resource, snapshot.text(object.namespace), snapshot.text(object.name));
    let Some(path) = path else { return Ok(None) };
    let body = metadata_patch(snapshot.text(object.uid), None, json!({"annotations": {ANNOTATION: "true"}}));
    let sent = once_as(connection, &Method::PATCH, &path.with("?dryRun=All"), Some((MERGE_PATCH, &body)), JSON).await;
    let Some(failure) = sent.err() else { return Ok(None) };
    // A policy that denies answers 422, too, but never with these words (`validating/dispatcher.go: Dispatch`,
    // `errors.NewInvalid`).
    let text = failure.to_string();
    match failure.status() {
        Some(StatusCode::FORBIDDEN) => Err(Forbidden),
        Some(StatusCode::UNPROCESSABLE_ENTITY) if text.contains(" is invalid: ") => Ok(Some(text)),
        _ => Ok(None),
    }
}
