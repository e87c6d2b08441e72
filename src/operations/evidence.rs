//! Reads records of deletions: audit logs of the API server, and archives.

use std::{
    cell::Cell,
    fs::File,
    io::{self, BufReader, Read},
    path::Path,
};

use flate2::bufread::MultiGzDecoder;
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
    let entries = serde_json::Deserializer::from_reader(reader).into_iter::<Value>();
    for (index, entry) in entries.enumerate() {
        left.set(LARGEST_SETTING);
        // The API server may be about to write the last one.
        if index > 0 && entry.as_ref().is_err_and(serde_json::Error::is_eof) {
            break;
        }
        let entry = entry.map_err(|error| {
            fails(format!("entry {} is not one of an audit log (audit.k8s.io, JSON lines): {error}", index + 1))
        })?;
        let (kind, api_version) = (text(&entry["kind"]), text(&entry["apiVersion"]));
        if kind != "Event" || !api_version.starts_with("audit.k8s.io/") {
            let found = format!("entry {} is {kind:?} of {api_version:?}", index + 1);
            return Err(fails(format!("{found}: neither an audit log nor an archive")));
        }
        record(&entry, path, evidence);
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

/// Adds a delete that the API server accepted, from an entry of an audit log (`audit.k8s.io/v1`).
fn record(entry: &Value, source: &str, evidence: &mut Evidence) {
    let of_collection = entry["verb"] == "deletecollection";
    if entry["verb"] != "delete" && !of_collection || entry["stage"] != "ResponseComplete" {
        return;
    }
    let query = text(&entry["requestURI"]).split_once('?').map_or("", |(_, query)| query);
    let parameter = |key: &str| {
        let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.find(|(name, _)| *name == key).map(|(_, value)| value)
    };
    // Logged at the levels Request and RequestResponse, and of any shape: patches are lists.
    let body = &entry["requestObject"];
    let is_dry_run =
        body["dryRun"].as_array().is_some_and(|stages| !stages.is_empty()) || parameter("dryRun").is_some();
    let accepted = entry["responseStatus"]["code"].as_u64().is_some_and(|code| (200..300).contains(&code));
    let object = &entry["objectRef"];
    let field = |key: &str| text(&object[key]).to_owned();
    let (group, resource, name) = (field("apiGroup"), field("resource"), field("name"));
    let is_whole = object.is_object() && field("subresource").is_empty() && name.is_empty() == of_collection;
    if !accepted || is_dry_run || !is_whole {
        return;
    }
    // The answer is a Status with the uid in its details, or the object; logged at the level RequestResponse.
    let answer = &entry["responseObject"];
    let uids = [&answer["details"], &answer["metadata"], &body["preconditions"]];
    let uid = uids.iter().find_map(|of| of["uid"].as_str());
    let user = ["impersonatedUser", "user"].iter().map(|user| &entry[*user]).find(|user| user.is_object());
    let orphans = || body["orphanDependents"] == true || parameter("orphanDependents") == Some("true");
    let propagation = body["propagationPolicy"].as_str().or_else(|| parameter("propagationPolicy"));
    let record = RecordedDelete {
        by: user.map(|user| text(&user["username"]).to_owned()).filter(|name| !name.is_empty()),
        time: unix_seconds(text(&entry["requestReceivedTimestamp"])),
        propagation: propagation.or_else(|| orphans().then_some("Orphan")).map(str::to_owned),
        is_sure: uid.is_some(),
        controller: controller(text(&entry["userAgent"])),
        source: source.to_owned(),
    };
    // A request about a Namespace is in it, too.
    let is_namespace = group.is_empty() && resource == "namespaces";
    let namespace = if is_namespace { String::new() } else { field("namespace") };
    if let Some(uid) = uid.filter(|_| !of_collection) {
        evidence.add(uid, record.clone());
    }
    evidence.add_named(RecordedName { group, resource, namespace, name }, record);
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The controller of kube-controller-manager that a user agent names, after the version: with its service account, as
/// `system:serviceaccount:kube-system:generic-garbage-collector`, or without.
fn controller(user_agent: &str) -> Option<String> {
    let (_, name) = user_agent.strip_prefix("kube-controller-manager/")?.rsplit_once('/')?;
    Some(name.rsplit(':').next().unwrap_or(name).to_owned())
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
