//! A test server with scripted answers, request by request.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpListener,
    sync::{Arc, Mutex},
};

use prost::encoding::{WireType, encode_key, encode_varint};

use super::{Connection, ConnectionOptions};
use gc_core::model::{Origin, Resource, Resources, SnapshotBuilder, group_of};

/// A namespaced resource.
pub(crate) fn pods() -> Resource {
    Resource::named("", "v1", "pods", "Pod")
}

/// A request to the test server.
pub(crate) struct RecordedRequest {
    pub method: String,
    /// Path and query, without the field manager of writes that name no other.
    pub url: String,
    pub accept: String,
    pub body: Vec<u8>,
    /// How often the same request (apart from its body) was sent before.
    pub before: usize,
}

/// A scripted answer; with status zero, the server closes the connection without an answer.
#[derive(Clone)]
pub(crate) struct Say {
    pub status: u16,
    pub content_type: &'static str,
    pub headers: &'static str,
    pub body: Vec<u8>,
    /// Whether to keep the connection open after the body, as in a watch, until the client closes it.
    pub open: bool,
}

pub(crate) fn json(status: u16, body: impl Into<Vec<u8>>) -> Say {
    Say { status, content_type: "application/json", headers: "", body: body.into(), open: false }
}

/// A `Status` about the path, not about an object.
pub(crate) fn refuse(status: u16) -> Say {
    json(status, format!(r#"{{"kind":"Status","message":"no","code":{status}}}"#))
}

/// A `Status` about an object.
pub(crate) fn status(code: u16, message: &str) -> Say {
    let details = serde_json::json!({"name": "x"});
    let status = serde_json::json!({"kind": "Status", "code": code, "message": message, "details": details});
    json(code, status.to_string())
}

/// The API server's answer to a DELETE that removed an object of this name.
pub(crate) fn removed(name: &str) -> Say {
    let details = serde_json::json!({"name": name, "uid": format!("u-{name}")});
    json(200, serde_json::json!({"kind": "Status", "status": "Success", "details": details}).to_string())
}

/// A snapshot in which these resources are served.
pub(crate) fn serving(resources: impl IntoIterator<Item = Resource>) -> SnapshotBuilder {
    let resources = Resources::new(resources.into_iter().collect(), Vec::new());
    SnapshotBuilder::new(Origin::Dump { paths: Vec::new() }, resources)
}

/// The API server's answer that the object with the requested path doesn't exist.
pub(crate) fn absent(asked: &RecordedRequest) -> Say {
    let mut parts = asked.url.split('?').next().unwrap_or_default().rsplit('/');
    let [name, plural] = [(); 2].map(|()| parts.next().unwrap_or_default());
    let group = asked.url.strip_prefix("/apis/").and_then(|rest| rest.split('/').next()).unwrap_or_default();
    no_such(group, plural, name)
}

/// The API server's answer that an object doesn't exist.
pub(crate) fn no_such(group: &str, plural: &str, name: &str) -> Say {
    let details = serde_json::json!({"name": name, "group": group, "kind": plural});
    let status =
        serde_json::json!({"kind": "Status", "code": 404, "reason": "NotFound", "message": "none", "details": details});
    json(404, status.to_string())
}

/// What a gateway that mixes up its answers may say if it is asked for an object in namespace `shop`. None of that is
/// about the object.
pub(crate) fn mix_ups(api_version: &str, kind: &str, name: &str) -> Vec<(&'static str, Say)> {
    let plural = format!("{}s", kind.to_lowercase());
    let object = |api_version: &str, kind: &str, name: &str, namespace: &str, uid: &str| {
        let metadata = serde_json::json!({"name": name, "namespace": namespace, "uid": uid, "resourceVersion": "1"});
        json(200, serde_json::json!({"apiVersion": api_version, "kind": kind, "metadata": metadata}).to_string())
    };
    let list =
        serde_json::json!({"apiVersion": api_version, "kind": format!("{kind}List"), "metadata": {}, "items": []});
    vec![
        ("another name", object(api_version, kind, "other", "shop", "u-other")),
        ("another namespace", object(api_version, kind, name, "elsewhere", "u-other")),
        ("another kind", object(api_version, "Service", name, "shop", "u-other")),
        ("another group", object("acme.com/v1", kind, name, "shop", "u-other")),
        // Nothing but another uid shows that it is of another kind.
        ("metadata of another kind", object("meta.k8s.io/v1", "PartialObjectMetadata", name, "shop", "u-other")),
        ("no uid", object(api_version, kind, name, "shop", "")),
        ("a list", json(200, list.to_string())),
        ("a success", json(200, r#"{"apiVersion":"v1","kind":"Status","metadata":{},"status":"Success"}"#)),
        ("no object of another name", no_such(group_of(api_version), &plural, "other")),
        ("no object of another kind", no_such(group_of(api_version), "services", name)),
        ("no object of another group", no_such("acme.com", &plural, name)),
    ]
}

/// A watch event about an object, in JSON.
pub(crate) fn event(kind: &str, name: &str, version: u32) -> String {
    let metadata = format!(r#""name":"{name}","namespace":"shop","uid":"u-{name}","resourceVersion":"{version}""#);
    format!("{{\"type\":\"{kind}\",\"object\":{{\"metadata\":{{{metadata}}}}}}}\n")
}

/// A bookmark: all changes up to this version were sent.
pub(crate) fn bookmark(version: u32) -> String {
    format!("{{\"type\":\"BOOKMARK\",\"object\":{{\"metadata\":{{\"resourceVersion\":\"{version}\"}}}}}}\n")
}

/// A stream that stays open.
pub(crate) fn open(body: impl Into<Vec<u8>>) -> Say {
    Say { open: true, ..json(200, body) }
}

/// The version that a watch starts from.
pub(crate) fn begins_at(asked: &RecordedRequest) -> &str {
    let version = asked.url.split("resourceVersion=").nth(1).unwrap_or_else(|| panic!("no watch: {}", asked.url));
    version.split('&').next().unwrap_or_default()
}

/// Starts a server and connects to it. It runs until the test process ends.
pub(crate) async fn serve(answer: impl Fn(&RecordedRequest) -> Say + Send + Sync + 'static) -> Connection {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let answer = Arc::new(answer);
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (answer, seen) = (answer.clone(), seen.clone());
            std::thread::spawn(move || {
                let mut stream = stream.unwrap();
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                let mut lines = reader.by_ref().lines().map_while(Result::ok);
                let Some(first) = lines.next() else { return };
                let mut words = first.split(' ').map(str::to_owned);
                let [method, url] = [(); 2].map(|()| words.next().unwrap_or_default());
                let managed = ["?", "&"].map(|join| format!("{join}fieldManager=kubectl-gc"));
                let url = managed.iter().find_map(|end| url.strip_suffix(end)).unwrap_or(&url).to_owned();
                let headers: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
                let header = |name| headers.iter().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
                let accept = header("accept: ").to_owned();
                let mut body = vec![0; header("content-length: ").parse().unwrap_or(0)];
                reader.read_exact(&mut body).unwrap();
                let before = {
                    let mut seen = seen.lock().unwrap();
                    let key = format!("{method} {url} {accept}");
                    let before = seen.iter().filter(|known| **known == key).count();
                    seen.push(key);
                    before
                };
                let say = answer(&RecordedRequest { method, url, accept, body, before });
                if say.status != 0 {
                    let Say { status, content_type, headers, body, open } = say;
                    let length = if open { String::new() } else { format!("content-length: {}\r\n", body.len()) };
                    let head = format!(
                        "HTTP/1.1 {status} X\r\ncontent-type: {content_type}\r\n{headers}{length}connection: \
                            close\r\n\r\n"
                    );
                    let _ = stream.write_all(head.as_bytes());
                    let _ = stream.write_all(&body);
                    if open {
                        let _ = reader.read_to_end(&mut Vec::new());
                    }
                }
            });
        }
    });
    let empty = tempfile::NamedTempFile::new().unwrap();
    let options = ConnectionOptions {
        kubeconfig: Some(empty.path().to_owned()),
        server: Some(format!("http://127.0.0.1:{port}")),
        request_timeout: Some(std::time::Duration::from_secs(20)),
        ..Default::default()
    };
    Connection::open(&options).await.unwrap()
}

/// A protobuf field with a string or a message.
pub(crate) fn bytes(tag: u32, content: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    encode_key(tag, WireType::LengthDelimited, &mut out);
    encode_varint(content.len() as u64, &mut out);
    out.extend_from_slice(content);
    out
}

/// A protobuf field with a number.
pub(crate) fn varint(tag: u32, value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    encode_key(tag, WireType::Varint, &mut out);
    encode_varint(value, &mut out);
    out
}
