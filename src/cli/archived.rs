//! Archives that `--from` reads: their objects are as they were, and may be gone.

use std::path::Path;

use crate::{
    archive::{Header, header_of},
    command_line::{ShellCommand, object_word},
    model::{ObjectId, Snapshot},
    wording::count,
};

use super::connection::ConnectionArgs;

/// What is said of the archives among these files: where, when and for which delete each was written.
pub(super) fn told(from: &[String]) -> Vec<String> {
    from.iter().filter_map(|path| Some(one(path, &header_of(Path::new(path))?))).collect()
}

fn one(path: &str, header: &Header) -> String {
    let place = [header.context.as_str(), header.server.as_str()].into_iter().find(|name| !name.is_empty());
    let place = place.map(|place| format!(" in {place}")).unwrap_or_default();
    let delete = match header.targets.as_slice() {
        [] => String::new(),
        [first, rest @ ..] => {
            let namespace = first.namespace.as_ref().map(|name| format!(" -n {name}")).unwrap_or_default();
            let more = match rest.len() {
                0 => String::new(),
                more => format!(" and {}", count(more, "other target", "other targets")),
            };
            let policy = header.propagation.to_lowercase();
            format!(", before a delete ({policy}) of {}/{}{namespace}{more}", first.kind, first.name)
        }
    };
    format!("{path} is an archive: objects as they were{place} at {}{delete}. They may be gone by now.", header.time)
}

/// The command that brings an object back from the only file that was read, if that is an archive.
pub(super) fn bring_back(from: &[String], snapshot: &Snapshot, id: ObjectId) -> Option<ShellCommand> {
    let [path] = from else { return None };
    let header = header_of(Path::new(path))?;
    let object = snapshot.object(id);
    let resource = snapshot.resources.get(object.resource);
    let word = object_word(&resource.plural, &resource.group, snapshot.text(object.name))?;
    let kubectl = ConnectionArgs::default().kubectl_in(&header.context);
    Some(kubectl.plugin("restore").file(path).args([word]))
}
