//! The Secrets that store held objects.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    act::{
        Deletion,
        request::{MERGE_PATCH, Write, delete_options, once, send_with_retry},
        update::{get, read, uid},
    },
    cluster::{
        Connection, Failure,
        path::{self, ObjectPath},
    },
};
use gc_core::{
    hold::{HoldRecord, LABEL, MOST, Malformed, Stage, secret_name},
    server::Propagation,
};

use super::{HoldFailure, TRIES};

/// The record of a held object, and its Secret.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredHold {
    pub namespace: String,
    pub name: String,
    uid: String,
    version: String,
    pub record: HoldRecord,
}

/// The path of the Secrets of a namespace, or of all.
fn secrets(namespace: Option<&str>) -> String {
    namespace.map_or_else(
        || "/api/v1/secrets".to_owned(),
        |namespace| format!("/api/v1/namespaces/{}/secrets", path::encoded(namespace)),
    )
}

fn secret_path(namespace: &str, name: &str) -> ObjectPath {
    let url = format!("{}/{}", secrets(Some(namespace)), path::encoded(name));
    ObjectPath::at(url, "v1", "Secret", namespace, name)
}

impl StoredHold {
    fn of(secret: &Value) -> Result<Self, Malformed> {
        let text = |field: &str| secret["metadata"][field].as_str().unwrap_or_default().to_owned();
        let (namespace, name) = (text("namespace"), text("name"));
        let data = |name: &str| STANDARD.decode(secret["data"][name].as_str()?).ok();
        match HoldRecord::read(data) {
            Ok(record) => {
                Ok(StoredHold { namespace, name, uid: text("uid"), version: text("resourceVersion"), record })
            }
            Err(why) => Err(Malformed { namespace, name, why }),
        }
    }

    /// A record that no Secret stores.
    pub(super) fn unstored(namespace: &str, record: HoldRecord) -> Self {
        let [uid, version] = [const { String::new() }; 2];
        let name = secret_name(&record.about.identity.uid);
        StoredHold { namespace: namespace.to_owned(), name, uid, version, record }
    }

    fn path(&self) -> ObjectPath {
        secret_path(&self.namespace, &self.name)
    }

    /// `Secret/name -n NAMESPACE`
    fn describe(&self) -> String {
        format!("Secret/{} -n {}", self.name, self.namespace)
    }

    /// Stores a record, or the newer one of the same object.
    ///
    /// # Errors
    /// The record is too big or can't be stored; or the delete is being taken back.
    pub(super) async fn create(
        connection: &Connection,
        namespace: &str,
        record: HoldRecord,
    ) -> Result<Self, HoldFailure> {
        fits(&record)?;
        let url = secrets(Some(namespace));
        let doing = || format!("creating Secret/{} -n {namespace}", secret_name(&record.about.identity.uid));
        let failure = match once(connection, url.as_str(), &Write::post(&record.secret(namespace))).await {
            Ok(answer) => {
                let secret = read(&answer).map_err(|failure| HoldFailure::failed(doing(), &failure))?;
                return Self::of(&secret).map_err(|malformed| invalid(doing(), &malformed));
            }
            Err(failure) => failure,
        };
        // An earlier run has stored it, or the answer of a try was lost.
        let path = secret_path(namespace, &secret_name(&record.about.identity.uid));
        let Ok(Some(there)) = get(connection, &path).await else { return Err(HoldFailure::failed(doing(), &failure)) };
        let mut stored = Self::of(&there).map_err(|malformed| invalid(doing(), &malformed))?;
        if stored.record.about.stage != Stage::Held {
            return Err(HoldFailure::BeingTakenBack);
        }
        // The first archive is that of the object before it was deleted.
        stored.record.about.until.clone_from(&record.about.until);
        stored.rewrite(connection).await?;
        Ok(stored)
    }

    /// Writes the record, if no other client has gone further since it was read. Whoever holds the object again has
    /// only changed the time.
    ///
    /// # Errors
    /// The record is too big, can't be written, or another client takes the delete back.
    pub(super) async fn rewrite(&mut self, connection: &Connection) -> Result<(), HoldFailure> {
        fits(&self.record)?;
        let what = self.describe();
        let failed = |failure: &Failure| HoldFailure::failed(format!("writing {what}"), failure);
        for _ in 0..TRIES {
            let body = json!({
                "metadata": {"uid": self.uid, "resourceVersion": self.version},
                "stringData": self.record.string_data(),
            });
            let sent = send_with_retry(connection, &self.path(), Write::patch(MERGE_PATCH, &body)).await;
            let undone = match sent {
                Ok(answer) => {
                    let secret = read(&answer).map_err(|failure| failed(&failure))?;
                    self.version = secret["metadata"]["resourceVersion"].as_str().unwrap_or_default().to_owned();
                    return Ok(());
                }
                Err(undone) if undone.failure.status() == Some(StatusCode::CONFLICT) => undone,
                Err(undone) => return Err(failed(&undone.failure)),
            };
            let there = get(connection, &self.path()).await.map_err(|failure| failed(&failure))?;
            let there = there.filter(|there| uid(there) == self.uid).and_then(|there| Self::of(&there).ok());
            let there = there.ok_or_else(|| failed(&undone.failure))?;
            let is_done = there.record == self.record;
            if !is_done && there.record.about.stage != Stage::Held {
                return Err(HoldFailure::BeingTakenBack);
            }
            self.version = there.version;
            // A lost answer may have been a success.
            if is_done {
                return Ok(());
            }
        }
        Err(HoldFailure::Unstable)
    }

    /// Removes the Secret, unless it is gone.
    ///
    /// # Errors
    /// Why it can't be removed.
    pub(super) async fn remove(&self, connection: &Connection) -> Result<(), HoldFailure> {
        let options = delete_options(&Deletion::by(Propagation::Background), &self.uid, None);
        let path = self.path();
        match send_with_retry(connection, &path, Write::delete(&options)).await {
            Ok(_) => Ok(()),
            Err(undone) if undone.failure.proves_absence(&path) => Ok(()),
            Err(undone) if undone.failure.status() == Some(StatusCode::CONFLICT) => Ok(()),
            Err(undone) => Err(HoldFailure::failed(format!("removing {}", self.describe()), &undone.failure)),
        }
    }
}

fn fits(record: &HoldRecord) -> Result<(), HoldFailure> {
    let size = record.size(&[]);
    if size > MOST { Err(HoldFailure::TooBig(size)) } else { Ok(()) }
}

fn invalid(doing: String, malformed: &Malformed) -> HoldFailure {
    HoldFailure::Failed { doing, reason: malformed.to_string() }
}

/// All records in a namespace, or in all; those that can't be read separately.
///
/// # Errors
/// Why Secrets can't be listed.
pub async fn list_holds(
    connection: &Connection,
    namespace: Option<&str>,
) -> Result<(Vec<StoredHold>, Vec<Malformed>), Failure> {
    let url = format!("{}?labelSelector={}", secrets(namespace), path::encoded(LABEL));
    let answer = connection.get(&url, "application/json").await?;
    let list: Value = serde_json::from_slice(&answer.body).map_err(|error| Failure::Malformed(error.to_string()))?;
    let items = list["items"].as_array().ok_or_else(|| Failure::Malformed("not a list".to_owned()))?;
    let (mut stored, mut malformed) = (Vec::new(), Vec::new());
    for item in items {
        match StoredHold::of(item) {
            Ok(hold) => stored.push(hold),
            Err(why) => malformed.push(why),
        }
    }
    Ok((stored, malformed))
}

/// The record in a Secret; none if there is no such Secret.
///
/// # Errors
/// Why it can't be read, or is no record.
pub async fn find_hold(
    connection: &Connection,
    namespace: &str,
    name: &str,
) -> Result<Option<Result<StoredHold, Malformed>>, Failure> {
    Ok(get(connection, &secret_path(namespace, name)).await?.map(|secret| StoredHold::of(&secret)))
}
