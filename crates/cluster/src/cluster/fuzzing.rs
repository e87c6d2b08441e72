//! What fuzzers call: see `kubectl_gc::fuzzing`.

use std::{ffi::OsString, path::Path, path::PathBuf};

use http::StatusCode;

use super::{Answer, ConnectionOptions, facts_protobuf, kubeconfig};

/// Reads bytes as each kind of answer.
pub fn answer(bytes: &[u8]) {
    for content_type in ["application/vnd.kubernetes.protobuf", "application/json"] {
        let answer = Answer { content_type: content_type.to_owned(), body: bytes.to_vec(), ..Answer::default() };
        drop(answer.read_list(|_| ()));
        drop(answer.read_object());
        let refusal = Answer { status: StatusCode::INTERNAL_SERVER_ERROR, ..answer.clone() }.refusal();
        assert!(!refusal.to_string().is_empty());
    }
    drop(facts_protobuf::read_facts(bytes));
}

/// No variables, no home.
struct Nothing;

impl kubeconfig::Environment for Nothing {
    fn variable(&self, _: &str) -> Option<OsString> {
        None
    }

    fn home(&self) -> Option<PathBuf> {
        None
    }
}

/// Reads a kubeconfig file and chooses what it says.
pub fn kubeconfig(file: &Path) {
    let options = ConnectionOptions { kubeconfig: Some(file.to_owned()), ..ConnectionOptions::default() };
    if let Err(error) = kubeconfig::choose(&options, &Nothing) {
        assert!(!error.to_string().is_empty());
    }
}
