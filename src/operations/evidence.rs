//! Reads records of deletions: audit logs of the API server, and archives.

use std::{
    cell::Cell,
    fs::File,
    io::{self, BufReader, Read},
    path::Path,
};

use flate2::bufread::MultiGzDecoder;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::DeleteOptions;
use serde::Deserialize;
use serde_json::Value;

use gc_cluster::{
    archive::{self, Archive},
    bounded::LARGEST_SETTING,
};
use gc_core::{
    doctor::{Evidence, RecordedDelete, RecordedName},
    model::facts::unix_seconds,
};

use super::OperationError;

/// One entry of an audit log, as far as it matters here (`audit.k8s.io/v1`).
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct AuditEvent {
    kind: String,
    #[serde(default)]
    api_version: String,
    #[serde(default)]
    stage: String,
    #[serde(default)]
    verb: String,
    #[serde(default, rename = "requestURI")]
    request_uri: String,
    user: Option<User>,
    impersonated_user: Option<User>,
    object_ref: Option<ObjectRef>,
    response_status: Option<ResponseStatus>,
    /// Of any shape: patches are lists.
    request_object: Option<Value>,
    response_object: Option<Value>,
    #[serde(default)]
    user_agent: String,
    #[serde(default)]
    request_received_timestamp: String,
}

#[derive(Debug, Deserialize)]
struct User {
    #[serde(default)]
    username: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ObjectRef {
    api_group: String,
    resource: String,
    namespace: String,
    name: String,
    subresource: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ResponseStatus {
    code: u16,
}

/// A `Status` with the uid in its details, or the object; logged at the level RequestResponse.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct DeleteAnswer {
    details: Option<Uid>,
    metadata: Option<Uid>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Uid {
    uid: Option<String>,
}

/// Reads all records of these files.
///
/// # Errors
/// A file that can't be read, or is neither an audit log nor an archive.
pub fn read_evidence(paths: &[String]) -> Result<Evidence, OperationError> {
    let mut evidence = Evidence::default();
    for path in paths {
        match archive::header_of(Path::new(path)) {
            Some(_) => read_archive(path, &mut evidence)?,
            None => read_audit_log(path, &mut evidence)?,
        }
    }
    Ok(evidence)
}

/// Whatever an archive holds was to be deleted, by its targets' delete.
fn read_archive(path: &str, evidence: &mut Evidence) -> Result<(), OperationError> {
    let archive = Archive::open(Path::new(path))?;
    let header = archive.header();
    let record = RecordedDelete {
        by: None,
        time: unix_seconds(&header.time),
        propagation: Some(header.propagation.clone()).filter(|propagation| !propagation.is_empty()),
        is_sure: true,
        controller: None,
        source: path.to_owned(),
    };
    for target in &header.targets {
        evidence.add(&target.uid, record.clone());
    }
    for object in archive.objects()? {
        let object = object?;
        if let Some(uid) = object["metadata"]["uid"].as_str() {
            evidence.add(uid, record.clone());
        }
    }
    Ok(())
}

/// An audit log: a JSON object in each line, perhaps compressed. It is read entry by entry.
fn read_audit_log(path: &str, evidence: &mut Evidence) -> Result<(), OperationError> {
    let fails = |why: String| OperationError::Usage(format!("--evidence {path}: {why}"));
    let file = BufReader::new(File::open(path).map_err(|error| fails(error.to_string()))?);
    let reader: Box<dyn Read> = match path.ends_with(".gz") {
        true => Box::new(BufReader::new(MultiGzDecoder::new(file))),
        false => Box::new(file),
    };
    let left = Cell::new(LARGEST_SETTING);
    let reader = Limited { reader, left: &left };
    let entries = serde_json::Deserializer::from_reader(reader).into_iter::<AuditEvent>();
    for (index, entry) in entries.enumerate() {
        left.set(LARGEST_SETTING);
        // The API server may be about to write the last one.
        if index > 0 && entry.as_ref().is_err_and(serde_json::Error::is_eof) {
            break;
        }
        let entry = entry.map_err(|error| {
            fails(format!("entry {} is not one of an audit log (audit.k8s.io, JSON lines): {error}", index + 1))
        })?;
        if entry.kind != "Event" || !entry.api_version.starts_with("audit.k8s.io/") {
            let found = format!("entry {} is {:?} of {:?}", index + 1, entry.kind, entry.api_version);
            return Err(fails(format!("{found}: neither an audit log nor an archive")));
        }
        entry.record(path, evidence);
    }
    Ok(())
}

/// A reader that fails if one entry takes more than is left.
struct Limited<'a, R> {
    reader: R,
    left: &'a Cell<u64>,
}

impl<R: Read> Read for Limited<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        let left = self.left.get().checked_sub(read as u64);
        self.left.set(left.ok_or_else(|| io::Error::other("it is too large for an entry"))?);
        Ok(read)
    }
}

impl AuditEvent {
    /// Adds a delete that the API server accepted.
    fn record(self, source: &str, evidence: &mut Evidence) {
        let of_collection = self.verb == "deletecollection";
        if self.verb != "delete" && !of_collection || self.stage != "ResponseComplete" {
            return;
        }
        // Logged at the levels Request and RequestResponse.
        let body: DeleteOptions = self.request_object.and_then(of_shape).unwrap_or_default();
        let query = self.request_uri.split_once('?').map_or("", |(_, query)| query);
        let parameter = |key: &str| {
            let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
            pairs.find(|(name, _)| *name == key).map(|(_, value)| value.to_owned())
        };
        let is_dry_run = body.dry_run.is_some_and(|stages| !stages.is_empty()) || parameter("dryRun").is_some();
        let accepted = self.response_status.is_some_and(|status| (200..300).contains(&status.code));
        let Some(object) = self.object_ref.filter(|_| accepted && !is_dry_run) else { return };
        if !object.subresource.is_empty() || object.name.is_empty() != of_collection {
            return;
        }
        let answer: DeleteAnswer = self.response_object.and_then(of_shape).unwrap_or_default();
        let answered = [answer.details, answer.metadata].into_iter().flatten().find_map(|uid| uid.uid);
        let uid = answered.or_else(|| body.preconditions?.uid);
        let user = self.impersonated_user.or(self.user);
        let record = RecordedDelete {
            by: user.map(|user| user.username).filter(|name| !name.is_empty()),
            time: unix_seconds(&self.request_received_timestamp),
            propagation: body.propagation_policy.or_else(|| parameter("propagationPolicy")).or_else(|| {
                let orphans = body.orphan_dependents == Some(true) || parameter("orphanDependents")? == "true";
                orphans.then(|| "Orphan".to_owned())
            }),
            is_sure: uid.is_some(),
            controller: controller(&self.user_agent),
            source: source.to_owned(),
        };
        let ObjectRef { api_group: group, resource, mut namespace, name, .. } = object;
        // A request about a Namespace is in it, too.
        if group.is_empty() && resource == "namespaces" {
            namespace.clear();
        }
        if let Some(uid) = uid.filter(|_| !of_collection) {
            evidence.add(&uid, record.clone());
        }
        evidence.add_named(RecordedName { group, resource, namespace, name }, record);
    }
}

/// The controller of kube-controller-manager that a user agent names, after the version: with its service account, as
/// `system:serviceaccount:kube-system:generic-garbage-collector`, or without.
fn controller(user_agent: &str) -> Option<String> {
    let (_, name) = user_agent.strip_prefix("kube-controller-manager/")?.rsplit_once('/')?;
    Some(name.rsplit(':').next().unwrap_or(name).to_owned())
}

fn of_shape<T: serde::de::DeserializeOwned>(value: Value) -> Option<T> {
    serde_json::from_value(value).ok()
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use serde_json::json;

    use super::*;

    /// An entry of the level Metadata, with changes.
    fn entry(changes: &Value) -> Value {
        let mut entry = json!({
            "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Metadata", "stage": "ResponseComplete",
            "verb": "delete", "requestURI": "/apis/apps/v1/namespaces/shop/deployments/web?propagationPolicy=Orphan",
            "user": {"username": "alice", "groups": ["ops"]},
            "objectRef": {"apiGroup": "apps", "apiVersion": "v1", "resource": "deployments", "namespace": "shop",
                "name": "web"},
            "responseStatus": {"metadata": {}, "status": "Success", "code": 200},
            "requestReceivedTimestamp": "1970-01-01T00:01:40.000000Z",
        });
        for (key, value) in changes.as_object().into_iter().flatten() {
            entry[key] = value.clone();
        }
        entry
    }

    fn read(text: &str) -> Result<Evidence, OperationError> {
        let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
        file.write_all(text.as_bytes()).expect("a file that can be written");
        read_evidence(&[file.path().display().to_string()])
    }

    #[test]
    fn only_deletes_that_the_server_accepted_count() {
        let unlogged = json!({"objectRef": {"resource": "deployments", "namespace": "shop"}});
        let uid = json!({"responseObject": {"kind": "Status", "details": {"uid": "u"}}});
        for (changes, counts) in [
            (json!({}), true),
            (uid.clone(), true),
            (json!({"stage": "RequestReceived"}), false),
            (json!({"verb": "get"}), false),
            (json!({"responseStatus": {"code": 403}}), false),
            (json!({"responseStatus": null}), false),
            (json!({"requestURI": "/apis/apps/v1/namespaces/shop/deployments/web?dryRun=All"}), false),
            (json!({"requestObject": {"kind": "DeleteOptions", "dryRun": ["All"]}}), false),
            (json!({"objectRef": {"resource": "pods", "name": "web", "subresource": "eviction"}}), false),
            (unlogged, false),
            (json!({"verb": "patch", "requestObject": [{"op": "remove", "path": "/x"}]}), false),
            (json!({"responseObject": {"details": "of another kind", "metadata": {"uid": "u"}}}), true),
        ] {
            let evidence = read(&entry(&changes).to_string()).expect("an audit log");
            assert_eq!(!evidence.is_empty(), counts, "{changes}");
        }
        let twice = [entry(&uid), entry(&json!({}))].map(|entry| entry.to_string()).join("\n");
        assert!(!read(&twice).expect("an audit log").is_empty());
        // The API server may be writing the last one.
        assert!(!read(&twice[..twice.len() - 10]).expect("an audit log").is_empty());
    }

    #[test]
    fn whatever_else_a_file_holds_is_refused() {
        let pod = json!({"kind": "Pod", "apiVersion": "v1"}).to_string();
        let cut = entry(&json!({})).to_string();
        for (text, says) in [
            (pod.as_str(), "entry 1 is \"Pod\" of \"v1\": neither an audit log nor an archive"),
            ("kind: Pod", "entry 1 is not one of an audit log"),
            (&cut[..40], "entry 1 is not one of an audit log"),
        ] {
            let error = read(text).expect_err("no evidence").to_string();
            assert!(error.starts_with("--evidence ") && error.contains(says), "{error}");
        }
        assert!(read("").expect("an empty log").is_empty());
        let error = read_evidence(&["none.log".to_owned()]).expect_err("no file").to_string();
        assert!(error.starts_with("--evidence none.log: "), "{error}");
    }
}
