//! What fuzzers call: see `kubectl_gc::fuzzing`.

use super::{read_bytes, read_in_chunks, write};
use gc_core::model::Snapshot;

/// Dumps and snapshot files, also compressed: a snapshot that was read can be written and read again, and text reads
/// the same however it is cut.
pub fn dump(bytes: &[u8]) {
    let written = |snapshot: &Snapshot| {
        let mut text = Vec::new();
        write(snapshot, &mut text).expect("memory takes everything");
        text
    };
    let cut = |chunk| read_in_chunks(bytes, chunk, false).map(|read| written(&read)).map_err(|e| e.to_string());
    if std::str::from_utf8(bytes).is_ok() {
        assert_eq!(cut(7), cut(1 << 20));
    }
    for assume_complete in [false, true] {
        match read_bytes(bytes, assume_complete) {
            Ok(snapshot) => {
                let first = written(&snapshot);
                let again = read_bytes(&first, false).unwrap_or_else(|error| panic!("{error}"));
                assert_eq!(written(&again), first);
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
}
