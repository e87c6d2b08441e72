//! What would be collected at once if a file were applied, and the file with its owner references mended.

#[cfg(test)]
mod tests;

use std::ops::Range;

use rustc_hash::FxHashMap;
use serde_json::{Value, json};

use gc_cluster::archive::yaml_of;
use gc_core::{
    apply::{ApplyPlan, LastApplied, ManifestObject, Mend, Mending, Scene},
    graph::OwnerGraph,
    plan::{Plan, explore, plan},
    simulate::{Assume, Request, SimContext},
};

use super::{
    Session,
    manifests::{Document, ManifestFile, Spans, yaml_value},
    session::{ROUNDS, complete},
    signals::now,
};

/// Predicts what the collector does once these objects are applied. Objects without a namespace are in `namespace`.
/// Reads everything that this depends on.
pub fn predict_apply(session: &mut Session, objects: &[ManifestObject], namespace: &str, assume: Assume) -> ApplyPlan {
    let mut last: FxHashMap<String, LastApplied> = FxHashMap::default();
    let mut played = |session: &mut Session, play: fn(&SimContext<'_>, &Request) -> Plan| {
        let simulate = |session: &mut Session| {
            let scene = loop {
                let scene = Scene::of(&mut session.snapshot, objects, namespace, &last);
                let read = session.fetch_last_applied(&scene.unread_last);
                if read.is_empty() {
                    break scene;
                }
                last.extend(read);
            };
            let time = now(session);
            let follow = |scene: &Scene, graph: &OwnerGraph| {
                let context = SimContext::new(&scene.snapshot, graph, assume).at(time);
                play(&context.with_obstacles(time), &Request::appear(scene.appearing.clone()))
            };
            let graph = OwnerGraph::new(&scene.snapshot);
            let plan = follow(&scene, &graph);
            let served = scene.once_served().map(|served| follow(&served, &OwnerGraph::new(&served.snapshot)));
            let mut apply = ApplyPlan::of(scene, &graph, plan, objects);
            if let Some(served) = served {
                apply.add_once_served(served);
            }
            Ok::<_, std::convert::Infallible>((apply, ()))
        };
        let learn = |session: &mut Session, (apply, ()): &(ApplyPlan, ())| {
            let mut needs = apply.scene.of_cluster(&apply.plan.needs);
            needs.add(&apply.scene.needs);
            Ok(session.learn(&needs))
        };
        let Ok((apply, ())) = complete(ROUNDS, session, simulate, learn);
        apply
    };
    // One order of events finds nearly all missing reads.
    played(session, plan);
    played(session, explore)
}

/// How to write the mended file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileFormat {
    Yaml,
    Json,
}

/// A mended file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fixed {
    pub text: String,
    /// What could not be kept as it is: a sentence for each document.
    pub notes: Vec<String>,
}

/// The files with all these changes, as one text. There is a mending for each object, in order.
pub fn fixed(files: &[ManifestFile], mendings: &[Mending], format: FileFormat) -> Fixed {
    let mut mendings = mendings.iter();
    let mut fixed = Fixed::default();
    let mut values = Vec::new();
    let kept = files.iter().all(|file| file.json == (format == FileFormat::Json));
    for file in files {
        let mut text = String::new();
        let mut end = 0;
        for (index, document) in file.documents.iter().enumerate() {
            let of_document: Vec<(&[usize], &Mending)> =
                document.objects.iter().map(|found| found.path.as_slice()).zip(mendings.by_ref()).collect();
            let value = mended_value(&document.value, &of_document);
            let source = &file.text[document.range.clone()];
            text += &file.text[end..document.range.start];
            end = document.range.end;
            text += &match mended_text(source, document, &of_document, &value, file.json) {
                Some(mended) => mended,
                None => {
                    if kept {
                        let place =
                            if file.documents.len() > 1 { format!(", document {}", index + 1) } else { String::new() };
                        let path = if file.path == "-" { "standard input" } else { &file.path };
                        fixed.notes.push(format!(
                            "{path}{place} was written anew, without its comments: its owner references could not be \
                             changed where they are."
                        ));
                    }
                    written(&value, file.json, source)
                }
            };
            values.push(value);
        }
        text += &file.text[end..];
        append(&mut fixed.text, &text, file.json);
    }
    if !kept {
        fixed.text = converted(values, format);
        fixed.notes.push(match format {
            FileFormat::Json => "YAML was written as JSON: comments are lost.".to_owned(),
            FileFormat::Yaml => "JSON was written as YAML: the order of fields is lost.".to_owned(),
        });
    }
    fixed
}

/// Adds the text of another file.
fn append(all: &mut String, text: &str, json: bool) {
    if !all.is_empty() && !all.ends_with('\n') {
        all.push('\n');
    }
    if !all.is_empty() && !json && !text.starts_with("---") {
        all.push_str("---\n");
    }
    all.push_str(text);
}

/// All documents in the other format.
fn converted(mut values: Vec<Value>, format: FileFormat) -> String {
    values.retain(|value| !value.is_null());
    match format {
        FileFormat::Yaml => values.iter().map(|value| written(value, false, "---")).collect(),
        FileFormat::Json => {
            let value = match values.len() {
                1 => values.remove(0),
                _ => json!({"apiVersion": "v1", "kind": "List", "items": values}),
            };
            written(&value, true, "")
        }
    }
}

/// A document without anything of its text but how it begins.
fn written(value: &Value, json: bool, source: &str) -> String {
    if json {
        return serde_json::to_string_pretty(value).unwrap_or_default() + "\n";
    }
    let marker = if source.starts_with("---") { "---\n" } else { "" };
    format!("{marker}{}", yaml_of(value))
}

/// The document with all changes.
fn mended_value(document: &Value, mendings: &[(&[usize], &Mending)]) -> Value {
    let mut value = document.clone();
    for (path, mending) in mendings.iter().filter(|(_, mending)| !mending.is_nothing()) {
        let object = path.iter().try_fold(&mut value, |at, index| at["items"].get_mut(*index));
        let Some(metadata) = object.and_then(|object| object["metadata"].as_object_mut()) else { continue };
        if mending.remove_uid {
            metadata.remove("uid");
        }
        if mending.remove_version {
            metadata.remove("resourceVersion");
        }
        let Some(references) = metadata.get_mut("ownerReferences").and_then(Value::as_array_mut) else { continue };
        let mut mends = mending.references.iter();
        references.retain_mut(|reference| match mends.next() {
            Some(Mend::Remove | Mend::RemoveForNow) => false,
            Some(Mend::SetUid(uid)) => {
                reference["uid"] = json!(uid);
                true
            }
            Some(Mend::Keep) | None => true,
        });
        if references.is_empty() {
            metadata.remove("ownerReferences");
        }
    }
    value
}

/// The text of a document with all changes, if it says then what it should.
fn mended_text(
    source: &str,
    document: &Document,
    mendings: &[(&[usize], &Mending)],
    wanted: &Value,
    json: bool,
) -> Option<String> {
    if *wanted == document.value {
        return Some(source.to_owned());
    }
    let spans = Spans::of(source)?;
    let mut edits = Edits { source, spans: &spans, all: Vec::new() };
    for (path, mending) in mendings.iter().filter(|(_, mending)| !mending.is_nothing()) {
        edits.object(spans.object(path)?, mending)?;
    }
    let text = edits.done()?;
    let read: Value = if json { serde_json::from_str(&text).ok()? } else { yaml_value(&text).ok()? };
    (read == *wanted).then_some(text)
}

/// Changes of a text, by place.
struct Edits<'s, 't> {
    source: &'t str,
    spans: &'s Spans<'t>,
    all: Vec<(Range<usize>, String)>,
}

impl Edits<'_, '_> {
    fn object(&mut self, object: usize, mending: &Mending) -> Option<()> {
        let (_, metadata) = self.spans.entry(object, "metadata")?;
        let mut fields = Vec::new();
        fields.extend(mending.remove_uid.then_some("uid"));
        fields.extend(mending.remove_version.then_some("resourceVersion"));
        let is_gone = |mend: &Mend| matches!(mend, Mend::Remove | Mend::RemoveForNow);
        if !mending.references.is_empty() && mending.references.iter().all(is_gone) {
            fields.push("ownerReferences");
        } else if mending.references.iter().any(|mend| *mend != Mend::Keep) {
            self.references(self.spans.entry(metadata, "ownerReferences")?.1, &mending.references)?;
        }
        self.remove_fields(metadata, &fields)
    }

    fn references(&mut self, list: usize, mends: &[Mend]) -> Option<()> {
        let items = self.spans.items(list)?;
        if items.len() != mends.len() {
            return None;
        }
        for (item, mend) in items.iter().zip(mends) {
            if let Mend::SetUid(uid) = mend {
                let (_, value) = self.spans.entry(*item, "uid")?;
                let quote = self.spans.source(value).chars().next().filter(|first| matches!(first, '"' | '\''));
                let uid = match quote {
                    Some(quote) if is_plain(uid) => format!("{quote}{uid}{quote}"),
                    None if is_plain(uid) && uid.contains('-') => uid.clone(),
                    _ => json!(uid).to_string(),
                };
                self.all.push((self.spans.node(value).range.clone(), uid));
            }
        }
        let gone: Vec<bool> = mends.iter().map(|mend| matches!(mend, Mend::Remove | Mend::RemoveForNow)).collect();
        let ranges: Vec<Range<usize>> = items.iter().map(|item| self.spans.node(*item).range.clone()).collect();
        if !self.spans.node(list).block {
            self.remove_between_commas(&ranges, &gone);
            return Some(());
        }
        for (range, _) in ranges.iter().zip(&gone).filter(|(_, gone)| **gone) {
            let before = &self.source[..range.start];
            let dash = before.trim_end().strip_suffix('-')?.len();
            self.remove_lines(dash..range.end)?;
        }
        Some(())
    }

    fn remove_fields(&mut self, mapping: usize, fields: &[&str]) -> Option<()> {
        if fields.is_empty() {
            return Some(());
        }
        let entries = self.spans.entries(mapping);
        let wanted: Vec<(usize, usize)> =
            fields.iter().map(|field| self.spans.entry(mapping, field)).collect::<Option<_>>()?;
        let range =
            |(key, value): &(usize, usize)| self.spans.node(*key).range.start..self.spans.node(*value).range.end;
        if self.spans.node(mapping).block {
            for entry in &wanted {
                self.remove_lines(range(entry))?;
            }
            return Some(());
        }
        let ranges: Vec<Range<usize>> = entries.iter().map(range).collect();
        let gone: Vec<bool> = entries.iter().map(|entry| wanted.contains(entry)).collect();
        self.remove_between_commas(&ranges, &gone);
        Some(())
    }

    /// Removes whole lines; `None` if something else is on the first of them, or on the last.
    fn remove_lines(&mut self, range: Range<usize>) -> Option<()> {
        let start = self.source[..range.start].rfind('\n').map_or(0, |end| end + 1);
        let end = self.source[range.end..].find('\n').map_or(self.source.len(), |end| range.end + end + 1);
        let rest = self.source[range.end..end].trim();
        let alone = self.source[start..range.start].trim().is_empty() && (rest.is_empty() || rest.starts_with('#'));
        alone.then(|| self.all.push((start..end, String::new())))
    }

    /// Removes values in brackets, each with the comma that separates it from the next, or from the one before if no
    /// other follows.
    fn remove_between_commas(&mut self, ranges: &[Range<usize>], gone: &[bool]) {
        let last = (0..ranges.len()).rev().find(|index| !gone[*index]);
        for index in (0..ranges.len()).filter(|index| gone[*index]) {
            match last {
                Some(last) if index > last => {
                    let before = if index == last + 1 { ranges[last].end } else { ranges[index - 1].end };
                    self.all.push((before..ranges[index].end, String::new()));
                }
                Some(_) => self.all.push((ranges[index].start..ranges[index + 1].start, String::new())),
                None => self.all.push((ranges[index].clone(), String::new())),
            }
        }
    }

    /// The text with all changes; `None` if two of them overlap.
    fn done(mut self) -> Option<String> {
        self.all.sort_by_key(|(range, _)| range.start);
        let mut text = String::with_capacity(self.source.len());
        let mut end = 0;
        for (range, new) in self.all {
            text += self.source.get(end..range.start)?;
            text += &new;
            end = range.end;
        }
        text += self.source.get(end..)?;
        Some(text)
    }
}

/// Whether a text needs no escapes between quotes.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_'))
}
