//! What arguments select, and the errors of invalid ones.

mod keep;
mod manifest;
mod parse;
mod resolve;
mod selectors;

use super::{NamespaceChoice, TargetArgs, TargetError, TargetQuery, TypedQuery};
use gc_core::model::{ListRecord, Origin, RawObject, Snapshot, SnapshotBuilder, well_known};

/// Splits arguments as a shell would, without quotes.
fn args(line: &str) -> TargetArgs {
    let mut args = TargetArgs::default();
    let mut words =
        line.split(' ').filter(|word| !word.is_empty()).map(|word| word.replace('_', " ").replace("''", ""));
    while let Some(word) = words.next() {
        match word.as_str() {
            "-l" => args.selector = words.next(),
            "--field-selector" => args.field_selector = words.next(),
            "-f" => args.filenames.extend(words.next()),
            "-R" => args.recursive = true,
            "--all" => args.all = true,
            _ => args.targets.push(word),
        }
    }
    args
}

fn typed(line: &str) -> Result<TypedQuery, TargetError> {
    let query = TargetQuery::parse(&args(line))?.unwrap_or_else(|| panic!("{line:?} is no target"));
    query.with_types(&well_known::served())
}

fn error(line: &str) -> String {
    typed(line).map(|_| ()).unwrap_err().to_string()
}

/// Each line is an object, `TYPE NAMESPACE/NAME labels`; a `TYPE` alone was listed completely; `TYPE !reason` could not
/// be read.
fn snapshot(origin: Origin, text: &str) -> Snapshot {
    let mut builder = SnapshotBuilder::new(origin, well_known::served());
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let words: Vec<&str> = line.split(' ').collect();
        let resource = builder.snapshot().resources.find_type(words[0]).unwrap();
        let failure = words.get(1).and_then(|word| word.strip_prefix('!')).map(Into::into);
        let list = ListRecord { resource, namespace: None, resource_version: String::new(), failure };
        let Some(place) = words.get(1).filter(|_| list.failure.is_none()) else {
            builder.list(list);
            continue;
        };
        let (namespace, name) = place.split_once('/').unwrap_or(("", place));
        let labels = words.iter().skip(2).filter_map(|label| label.split_once('='));
        builder.add(
            resource,
            &RawObject {
                labels: labels.map(|(key, value)| (key.into(), value.into())).collect(),
                ..RawObject::named(namespace, name, format!("uid-{}-{namespace}-{name}", words[0]))
            },
        );
    }
    builder.build()
}

fn cluster() -> Origin {
    Origin::Cluster { context: "test".to_owned(), server: "test:6443".to_owned() }
}

fn dump() -> Origin {
    Origin::Dump { paths: vec!["dump.yaml".to_owned()] }
}

fn one(namespace: &str) -> NamespaceChoice {
    NamespaceChoice::One(namespace.to_owned())
}

/// The `namespace/name` of the objects that a line selects, or the error.
fn resolve(snapshot: &Snapshot, choice: &NamespaceChoice, line: &str) -> String {
    let found = typed(line).and_then(|query| query.resolve(snapshot, choice, &[]));
    match found {
        Ok(found) => show(snapshot, &found),
        Err(error) => error.to_string(),
    }
}

fn show(snapshot: &Snapshot, found: &[gc_core::model::ObjectId]) -> String {
    let name = |id: &gc_core::model::ObjectId| {
        let object = snapshot.object(*id);
        let kind = &snapshot.resources.get(object.resource).plural;
        format!("{kind}:{}/{}", snapshot.text(object.namespace), snapshot.text(object.name))
    };
    found.iter().map(name).collect::<Vec<_>>().join(" ")
}
