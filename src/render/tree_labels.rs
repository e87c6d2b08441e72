//! `-L` and `--show-labels`: columns of labels, as kubectl prints them (cli-runtime `printers/tableprinter.go`).

use crate::model::{Object, Snapshot};

use super::escape::visible;

/// For an object without labels; a label that it lacks is an empty cell.
const NONE: &str = "<none>";

/// Which labels have columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelColumns {
    /// A column for each of these keys.
    pub keys: Vec<String>,
    /// A column of all labels.
    pub all: bool,
}

impl LabelColumns {
    /// The last part of each key in upper case, and LABELS.
    pub(super) fn titles(&self) -> Vec<String> {
        let title = |key: &String| visible(&key.rsplit('/').next().unwrap_or_default().to_uppercase()).into_owned();
        self.keys.iter().map(title).chain(self.all.then(|| "LABELS".to_owned())).collect()
    }

    /// The labels of an object.
    pub(super) fn cells(&self, snapshot: &Snapshot, object: &Object) -> Vec<String> {
        let labels = || object.labels.iter().map(|(key, value)| (snapshot.text(*key), snapshot.text(*value)));
        let value = |key: &String| {
            let value = labels().find(|(known, _)| known == key).map_or("", |(_, value)| value);
            visible(value).into_owned()
        };
        let all = || {
            let mut all: Vec<String> = labels().map(|(key, value)| format!("{key}={value}")).collect();
            all.sort_unstable();
            if all.is_empty() { NONE.to_owned() } else { visible(&all.join(",")).into_owned() }
        };
        self.keys.iter().map(value).chain(self.all.then(all)).collect()
    }

    /// The same text for something without an object.
    pub(super) fn each(&self, text: &str) -> Vec<String> {
        vec![text.to_owned(); self.keys.len() + usize::from(self.all)]
    }
}
