//! What is known of an object that doesn't exist: what happened to it, who may have made it, and who takes its like.

use std::collections::BTreeMap;

use super::evidence::{Evidence, RecordedName};
use crate::{
    document::rfc3339,
    graph::OwnerGraph,
    model::{NamedEvent, ObjectId, Presence, ResourceId, Snapshot},
    wording::{age, and_more, count, some_of},
};

/// At most this many objects or events are named.
const NAMED: usize = 5;
/// For so many seconds before a controller deletes an object, other deletes may have led to that.
const LED_TO: i64 = 60;

/// The coordinates of an object that doesn't exist.
#[derive(Clone, Copy, Debug)]
pub struct Vanished<'v> {
    pub resource: ResourceId,
    /// Empty for cluster scope.
    pub namespace: &'v str,
    pub name: &'v str,
}

/// Tells what is known of an object that doesn't exist, in sentences. `events` are those about objects of its name:
/// `None` if the source has none, `Some(None)` if they could not be read. `evidence` tells who deleted it. `now` is in
/// Unix seconds.
pub fn vanished(
    snapshot: &Snapshot,
    graph: &OwnerGraph,
    what: Vanished<'_>,
    events: Option<Option<&[NamedEvent]>>,
    evidence: &Evidence,
    now: Option<i64>,
) -> Vec<String> {
    let teller = Teller { snapshot, graph, what, now };
    let mut lines = teller.recorded(evidence);
    lines.extend(teller.place());
    lines.extend(teller.named_as_owner());
    lines.extend(teller.alike());
    lines.extend(teller.makers());
    lines.extend(events.map(|events| teller.events(events)).unwrap_or_default());
    lines
}

struct Teller<'t> {
    snapshot: &'t Snapshot,
    graph: &'t OwnerGraph,
    what: Vanished<'t>,
    now: Option<i64>,
}

impl Teller<'_> {
    /// `4m ago`, or the time if that is later than the dump; nothing if it is unknown.
    fn ago(&self, time: Option<i64>) -> Option<String> {
        let (now, time) = (self.now?, time?);
        Some(if time > now { format!("at {}", rfc3339(time)) } else { format!("{} ago", age(now - time)) })
    }

    /// Who deleted it, and what may have led to that.
    fn recorded(&self, evidence: &Evidence) -> Vec<String> {
        if evidence.is_empty() {
            return Vec::new();
        }
        let resource = self.snapshot.resources.get(self.what.resource);
        let name = RecordedName {
            group: resource.group.clone(),
            resource: resource.plural.clone(),
            namespace: self.what.namespace.to_owned(),
            name: self.what.name.to_owned(),
        };
        let Some((record, of_collection)) = evidence.last_of(&name) else {
            return vec!["No record of its delete is in what --evidence names.".to_owned()];
        };
        let when = self.ago(record.time).map(|ago| format!(" {ago}")).unwrap_or_default();
        let source = &record.source;
        let mut lines = Vec::new();
        let by = record.by.as_deref().unwrap_or("somebody");
        lines.push(match record.controller.as_deref() {
            Some("generic-garbage-collector") => format!(
                "The garbage collector deleted it{when}: all its owners were gone, or one waited for it in a \
                 foreground delete ({source})."
            ),
            Some("namespace-controller") => {
                format!("The namespace controller deleted it{when}, with its namespace ({source}).")
            }
            Some(controller) => format!("The controller {controller} of Kubernetes deleted it{when} ({source})."),
            None if of_collection => format!(
                "{by} deleted {}{when}, or some of them: it may have been among these ({source}).",
                self.collection(&name)
            ),
            None => format!("{by} deleted it{when} ({source})."),
        });
        let Some(time) = record.time.filter(|_| record.controller.is_some()) else { return lines };
        let led = evidence.before(self.what.namespace, time, LED_TO);
        if !led.is_empty() {
            let told = led.iter().take(NAMED).map(|(name, record)| {
                let by = record.by.as_deref().map(|by| format!(" by {by}")).unwrap_or_default();
                match name.name.as_str() {
                    "" => format!("{}{by}", self.collection(name)),
                    one => format!("{}/{one}{by}", name.resource),
                }
            });
            let more = and_more(led.len().saturating_sub(NAMED));
            lines.push(format!(
                "Deleted in the {LED_TO}s before, and may have been its owner: {}{more}.",
                told.collect::<Vec<_>>().join(", ")
            ));
        }
        lines
    }

    /// `all configmaps in namespace shop`
    fn collection(&self, name: &RecordedName) -> String {
        let place = if name.namespace.is_empty() { String::new() } else { format!(" in namespace {}", name.namespace) };
        format!("all {}{place}", name.resource)
    }

    /// Its namespace and its kind, if they are going or gone.
    fn place(&self) -> Vec<String> {
        let snapshot = self.snapshot;
        let resource = snapshot.resources.get(self.what.resource);
        let mut lines = Vec::new();
        let found = |group: &str, kind: &str, name: &str| {
            let resource = snapshot.resources.by_group_kind(group, kind)?;
            Some(snapshot.look_up_named(resource, "", name))
        };
        if !self.what.namespace.is_empty() {
            match found("", "Namespace", self.what.namespace) {
                Some(Presence::Absent) => lines.push(format!("Its namespace {} does not exist.", self.what.namespace)),
                Some(Presence::Present(id)) if snapshot.object(id).terminating() => {
                    let since = self.ago(snapshot.object(id).deleted.get());
                    let since = since.map(|since| format!(", deleted {since}")).unwrap_or_default();
                    lines.push(format!(
                        "Its namespace {} is Terminating{since}: everything in it is deleted.",
                        self.what.namespace
                    ));
                }
                _ => {}
            }
        }
        let definition = format!("{}.{}", resource.plural, resource.group);
        if let Some(Presence::Present(id)) = found("apiextensions.k8s.io", "CustomResourceDefinition", &definition)
            && snapshot.object(id).terminating()
        {
            lines.push(format!("Its definition {definition} is Terminating: all objects of its kind are deleted."));
        }
        lines
    }

    /// The objects that name it as their owner: it existed, and they go, too.
    fn named_as_owner(&self) -> Option<String> {
        let snapshot = self.snapshot;
        let kind = &snapshot.resources.get(self.what.resource).kind;
        let mut by_uid: BTreeMap<&str, Vec<ObjectId>> = BTreeMap::new();
        for (id, object) in snapshot.objects() {
            let here = self.what.namespace.is_empty() || snapshot.text(object.namespace) == self.what.namespace;
            for owner in object.owners.iter().filter(|_| here) {
                if snapshot.text(owner.name) == self.what.name && snapshot.text(owner.kind) == kind.as_str() {
                    by_uid.entry(snapshot.text(owner.uid)).or_default().push(id);
                }
            }
        }
        let (uid, dependents) = by_uid.into_iter().next()?;
        Some(format!(
            "It existed, with uid {uid}: {} it as owner ({}).",
            count(dependents.len(), "object names", "objects name"),
            self.names(&dependents)
        ))
    }

    /// Objects of its kind whose names begin like its own: it may have been replaced.
    fn alike(&self) -> Option<String> {
        let snapshot = self.snapshot;
        let (stem, _) = self.what.name.rsplit_once('-')?;
        let is_alike = |id: &ObjectId| {
            let object = snapshot.object(*id);
            let rest = snapshot.text(object.name).strip_prefix(stem);
            object.resource == self.what.resource
                && snapshot.text(object.namespace) == self.what.namespace
                && rest.is_some_and(|rest| rest.starts_with('-'))
        };
        let mut alike: Vec<ObjectId> = snapshot.objects().map(|(id, _)| id).filter(is_alike).collect();
        alike.sort_by_key(|id| std::cmp::Reverse(snapshot.object(*id).created));
        let newest = *alike.first()?;
        let made = self.ago(snapshot.object(newest).created.get()).map(|ago| format!(", the newest made {ago}"));
        Some(format!(
            "{} of its kind {} like it{}: {}.",
            count(alike.len(), "object", "objects"),
            if alike.len() == 1 { "is called" } else { "are called" },
            made.unwrap_or_default(),
            self.names(&alike)
        ))
    }

    /// Objects whose names its own begins with: controllers name what they make after themselves.
    fn makers(&self) -> Option<String> {
        let snapshot = self.snapshot;
        let kind_owns = |id: ObjectId| {
            let dependents = self.graph.dependents(id.into());
            dependents.iter().any(|dependent| snapshot.object(*dependent).resource == self.what.resource)
        };
        let is_maker = |id: &ObjectId| {
            let object = snapshot.object(*id);
            let namespace = snapshot.text(object.namespace);
            let rest = self.what.name.strip_prefix(snapshot.text(object.name));
            let is_workload = matches!(&*snapshot.resources.get(object.resource).group, "apps" | "batch");
            (namespace == self.what.namespace || namespace.is_empty())
                && rest.is_some_and(|rest| rest.starts_with('-'))
                && (is_workload || kind_owns(*id))
        };
        let mut makers: Vec<ObjectId> = snapshot.objects().map(|(id, _)| id).filter(is_maker).collect();
        makers.sort_by_key(|id| std::cmp::Reverse(snapshot.name(*id).len()));
        let first = *makers.first()?;
        let going = snapshot.object(first).terminating();
        Some(format!(
            "By its name, {} may have made it{}.",
            self.names(&makers),
            if going { ", and is being deleted" } else { "" }
        ))
    }

    fn events(&self, events: Option<&[NamedEvent]>) -> Vec<String> {
        let kind = &self.snapshot.resources.get(self.what.resource).kind;
        let Some(events) = events else {
            return vec!["Events about it could not be read.".to_owned()];
        };
        let mut about: Vec<&NamedEvent> = events.iter().filter(|event| event.kind == *kind).collect();
        about.sort_by_key(|event| std::cmp::Reverse(event.last));
        if about.is_empty() {
            return vec!["There are no events about it; they expire, usually after an hour.".to_owned()];
        }
        let describe = about.iter().take(NAMED).map(|event| {
            let when = self.ago(event.last).unwrap_or_else(|| "at a time that is not known".to_owned());
            let by = if event.by.is_empty() { String::new() } else { format!(" ({})", event.by) };
            format!("Event, {when}: {}: {}{by}", event.reason, event.message)
        });
        describe.collect()
    }

    /// The first few of these objects.
    fn names(&self, ids: &[ObjectId]) -> String {
        some_of(ids.iter().map(|id| self.snapshot.short_name(*id)), NAMED)
    }
}
