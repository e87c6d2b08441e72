//! Reads and merges kubeconfig files as client-go's `ClientConfigLoadingRules.Load` does.

use std::{
    collections::HashMap,
    path::{MAIN_SEPARATOR, Path, PathBuf},
};

use kube::config::{Kubeconfig, KubeconfigError};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::error::ConnectError;
use crate::bounded;

/// The merged files.
#[derive(Default)]
pub(super) struct Merged {
    pub kubeconfig: Kubeconfig,
    /// The file of each user.
    pub users: HashMap<String, PathBuf>,
    /// What can't be used.
    pub broken: Vec<Broken>,
}

/// A cluster, context or user that can't be used. Only who chooses it is told.
#[derive(Clone)]
pub(super) struct Broken {
    section: &'static str,
    name: String,
    file: PathBuf,
    reason: String,
}

/// Much deeper than any kubeconfig. The YAML reader takes minutes for what is ten times as deep.
const DEEPEST: usize = 10_000;

const CLUSTERS: &str = "clusters";
const CONTEXTS: &str = "contexts";
const USERS: &str = "users";

impl Merged {
    /// Merges these files: the first that names a cluster, a context or a user decides about all of it, and the first
    /// current context that is not empty counts.
    pub(super) fn read<'a>(files: impl IntoIterator<Item = &'a Path>) -> Result<Self, ConnectError> {
        let mut merged = Merged::default();
        for file in files {
            let (mut next, broken) = read_file(file)?;
            // kube refuses to merge files that differ in these, and client-go ignores an empty current context.
            (next.kind, next.api_version) = (None, None);
            next.current_context.take_if(|name| name.is_empty());
            let shadowed =
                |section: &str, name: &str| merged.broken.iter().any(|one| one.section == section && one.name == name);
            next.clusters.retain(|one| !shadowed(CLUSTERS, &one.name));
            next.contexts.retain(|one| !shadowed(CONTEXTS, &one.name));
            next.auth_infos.retain(|one| !shadowed(USERS, &one.name));
            let is_new = |one: &Broken| !merged.has(one.section, &one.name);
            let broken: Vec<Broken> = broken.into_iter().filter(is_new).collect();
            for user in &next.auth_infos {
                merged.users.entry(user.name.clone()).or_insert_with(|| file.to_owned());
            }
            merged.broken.extend(broken);
            merged.kubeconfig = std::mem::take(&mut merged.kubeconfig)
                .merge(next)
                .map_err(|error| ConnectError::Kubeconfig { file: file.to_owned(), reason: error.to_string() })?;
        }
        Ok(merged)
    }

    fn has(&self, section: &str, name: &str) -> bool {
        let kubeconfig = &self.kubeconfig;
        match section {
            CLUSTERS => kubeconfig.clusters.iter().any(|one| one.name == name),
            CONTEXTS => kubeconfig.contexts.iter().any(|one| one.name == name),
            _ => kubeconfig.auth_infos.iter().any(|one| one.name == name),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        let Kubeconfig { clusters, contexts, auth_infos, .. } = &self.kubeconfig;
        clusters.is_empty() && contexts.is_empty() && auth_infos.is_empty() && self.broken.is_empty()
    }

    /// Why a cluster can't be used, although it is there.
    pub(super) fn broken_cluster(&self, name: &str) -> Option<ConnectError> {
        self.why_broken(CLUSTERS, name)
    }

    pub(super) fn broken_context(&self, name: &str) -> Option<ConnectError> {
        self.why_broken(CONTEXTS, name)
    }

    pub(super) fn broken_user(&self, name: &str) -> Option<ConnectError> {
        self.why_broken(USERS, name)
    }

    fn why_broken(&self, section: &str, name: &str) -> Option<ConnectError> {
        let Broken { file, reason, .. } = self.broken.iter().find(|one| one.section == section && one.name == name)?;
        let reason = format!("{} {name:?} can't be used: {reason}", section.trim_end_matches('s'));
        Some(ConnectError::Kubeconfig { file: file.clone(), reason })
    }
}

fn read_file(path: &Path) -> Result<(Kubeconfig, Vec<Broken>), ConnectError> {
    let failed = |reason: String| ConnectError::Kubeconfig { file: path.to_owned(), reason };
    let bytes = bounded::read_setting(path).map_err(|error| failed(error.to_string()))?;
    // kube also reads UTF-16, but doesn't expect an odd number of bytes.
    if matches!(bytes.as_slice(), [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..]) && bytes.len() % 2 == 1 {
        return Err(failed("not UTF-16, though it begins like it".to_owned()));
    }
    if is_too_deep(&bytes) {
        return Err(failed("not a kubeconfig: it is nested too deeply".to_owned()));
    }
    let error = match Kubeconfig::read_from(path) {
        Ok(read) => return Ok((read, Vec::new())),
        Err(error) => error,
    };
    match error {
        KubeconfigError::ReadConfig(error, _) => Err(failed(error.to_string())),
        KubeconfigError::Parse(error) => part_by_part(path, &bytes).ok_or_else(|| {
            // The other lines quote the file around the error, including credentials.
            let error = error.to_string();
            let message = error.lines().next().unwrap_or_default();
            failed(format!("not a kubeconfig: {}", message.strip_prefix("error: ").unwrap_or(message)))
        }),
        error => Err(failed(error.to_string())),
    }
}

/// Whether a text may be deeper than [`DEEPEST`]: by the brackets that are open, and the entries that begin in a line.
fn is_too_deep(bytes: &[u8]) -> bool {
    let mut open = 0_usize;
    bytes.split(|byte| *byte == b'\n').any(|line| {
        let entries = line.windows(2).filter(|pair| b"-?".contains(&pair[0]) && pair[1] == b' ').count();
        let (mut before, mut comment, mut deepest) = (b' ', false, open);
        for byte in line {
            match byte {
                b'[' | b'{' => open += 1,
                b']' | b'}' if !comment => open = open.saturating_sub(1),
                b'#' => comment |= b" \t[{,".contains(&before),
                _ => {}
            }
            (before, deepest) = (*byte, deepest.max(open));
        }
        deepest.max(entries) > DEEPEST
    })
}

/// Reads a file that kube doesn't read as a whole: it wants each field in each part, while client-go reads `null` as
/// nothing, and checks only what is chosen (`ConfirmUsable`). `None` if it is no kubeconfig at all.
fn part_by_part(path: &Path, bytes: &[u8]) -> Option<(Kubeconfig, Vec<Broken>)> {
    let text = std::str::from_utf8(bytes).ok()?;
    let mut document: Value = serde_yaml::from_str(text.trim_start_matches('\u{feff}')).ok()?;
    remove_nulls(&mut document);
    let mut document = std::mem::take(document.as_object_mut()?);
    let mut broken = Vec::new();
    let folder = path.parent().unwrap_or(Path::new(""));
    let clusters = parts(&mut document, CLUSTERS, path, &mut broken, |part| {
        absolute(folder, part.get_mut("cluster"), &["certificate-authority"], |_| true);
    })?;
    let contexts = parts(&mut document, CONTEXTS, path, &mut broken, |part| {
        // A context may be completed by --cluster.
        let context = part.entry("context").or_insert_with(|| Value::Object(Map::new()));
        if let Some(context) = context.as_object_mut() {
            context.entry("cluster").or_insert_with(|| Value::from(""));
        }
    })?;
    let auth_infos = parts(&mut document, USERS, path, &mut broken, |part| {
        let user = part.get_mut("user");
        if let Some(user) = user {
            absolute(folder, user.get_mut("exec"), &["command"], |file| file.contains(MAIN_SEPARATOR));
            absolute(folder, Some(user), &["client-certificate", "client-key", "tokenFile"], |_| true);
        }
    })?;
    if clusters.is_empty() && contexts.is_empty() && auth_infos.is_empty() && broken.is_empty() {
        return None;
    }
    let current_context = document.get("current-context").and_then(Value::as_str).map(str::to_owned);
    Some((Kubeconfig { clusters, contexts, auth_infos, current_context, ..Kubeconfig::default() }, broken))
}

/// The parts of a section that can be used; the others are added to `broken`. `None` if the section is no list.
fn parts<T: DeserializeOwned>(
    document: &mut Map<String, Value>,
    section: &'static str,
    path: &Path,
    broken: &mut Vec<Broken>,
    complete: impl Fn(&mut Map<String, Value>),
) -> Option<Vec<T>> {
    let Some(list) = document.remove(section) else { return Some(Vec::new()) };
    let Value::Array(list) = list else { return None };
    let mut parts = Vec::with_capacity(list.len());
    for part in list {
        let Value::Object(mut part) = part else { continue };
        // Nothing can choose a part without a name.
        let Some(name) = part.get("name").and_then(Value::as_str).map(str::to_owned) else { continue };
        complete(&mut part);
        match serde_json::from_value(Value::Object(part)) {
            Ok(part) => parts.push(part),
            // The whole message may quote a credential.
            Err(error) => {
                let error = error.to_string();
                let reason = if error.starts_with("missing field") { &error } else { "a field has the wrong type" };
                broken.push(Broken { section, name, file: path.to_owned(), reason: reason.to_owned() });
            }
        }
    }
    Some(parts)
}

/// File names are relative to the kubeconfig's folder.
fn absolute(folder: &Path, part: Option<&mut Value>, names: &[&str], is_file: impl Fn(&str) -> bool) {
    let Some(part) = part else { return };
    for name in names {
        if let Some(Value::String(file)) = part.get_mut(*name)
            && !file.is_empty()
            && is_file(file)
        {
            *file = folder.join(&*file).to_string_lossy().into_owned();
        }
    }
}

/// As in Go, `null` is the same as nothing. A document's depth is limited by its parser.
fn remove_nulls(value: &mut Value) {
    let mut all = vec![value];
    while let Some(value) = all.pop() {
        match value {
            Value::Array(items) => {
                items.retain(|item| !item.is_null());
                all.extend(items.iter_mut());
            }
            Value::Object(members) => {
                members.retain(|_, member| !member.is_null());
                all.extend(members.values_mut());
            }
            _ => {}
        }
    }
}
