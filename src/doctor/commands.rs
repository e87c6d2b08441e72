//! Remedies in plain kubectl, to be pasted: whoever gets one may not have this plugin.

use std::{borrow::Cow, collections::BTreeMap};

use serde_json::{Value, json};

use crate::{
    graph::OwnerGraph,
    model::{Mapping, ObjectId, Reference, ResourceId, Snapshot, Symbol},
    wording::shell_word,
};

/// Commands about the objects of one snapshot.
#[derive(Clone, Copy, Debug)]
pub struct Commands<'a> {
    pub snapshot: &'a Snapshot,
    /// How kubectl is called, with the flags that choose the same cluster: pasted elsewhere, a command would hit
    /// another.
    pub kubectl: &'a str,
}

impl Commands<'_> {
    /// `deployments.apps/web -n shop`
    pub fn named(self, id: ObjectId) -> String {
        let object = self.snapshot.object(id);
        let name =
            format!("{}/{}", self.snapshot.resources.get(object.resource).full_name(), self.snapshot.text(object.name));
        format!("{}{}", shell_word(&name), self.in_namespace(object.namespace))
    }

    fn in_namespace(self, namespace: Symbol) -> String {
        if namespace.is_empty() { String::new() } else { format!(" -n {}", shell_word(self.snapshot.text(namespace))) }
    }

    /// Shows an object.
    pub fn get(self, id: ObjectId) -> String {
        format!("{} get {} -o yaml", self.kubectl, self.named(id))
    }

    /// Shows the owner that a reference of an object in a namespace names, or what is in the way of that.
    pub fn look_at_owner(self, reference: &Reference, graph: &OwnerGraph, namespace: Symbol) -> String {
        match graph.mapping(reference) {
            Mapping::Served(kind) => {
                let kind = self.snapshot.resources.get(kind);
                let name = format!("{}/{}", kind.full_name(), self.snapshot.text(reference.name));
                let namespace = if kind.namespaced { self.in_namespace(namespace) } else { String::new() };
                format!("{} get {}{namespace}", self.kubectl, shell_word(&name))
            }
            _ => {
                let version = self.snapshot.text(reference.api_version);
                let path = if version.contains('/') { format!("/apis/{version}") } else { format!("/api/{version}") };
                format!("{} get --raw {}", self.kubectl, shell_word(&path))
            }
        }
    }

    /// Makes an object again as it is, under a new uid. The copy has a name of its own: where that of one
    /// object is all that is left, that of another must not take its place.
    pub fn make_again(self, id: ObjectId) -> String {
        let (named, object) = (self.named(id), self.snapshot.object(id));
        let names = [object.namespace, object.name]
            .map(|symbol| self.snapshot.text(symbol))
            .into_iter()
            .filter(|name| !name.is_empty());
        let plural = &self.snapshot.resources.get(object.resource).plural;
        let file = names.fold(plural.clone(), |file, name| format!("{file}-{name}")) + ".json";
        let file = shell_word(&file);
        let kubectl = self.kubectl;
        format!(
            "{kubectl} get {named} -o json > {file} && {kubectl} delete {named} --cascade=background && {kubectl} create -f {file}"
        )
    }

    /// Deletes objects, those of one kind and namespace together. It doesn't wait: what is stuck would be waited for,
    /// too. And what the first of them has released may be gone before its turn comes.
    pub fn delete(self, objects: &[ObjectId], cascade: &str) -> Vec<String> {
        let mut by_place: BTreeMap<(ResourceId, Symbol), Vec<ObjectId>> = BTreeMap::new();
        for id in objects {
            let object = self.snapshot.object(*id);
            by_place.entry((object.resource, object.namespace)).or_default().push(*id);
        }
        let command = |((resource, namespace), ids): ((ResourceId, Symbol), Vec<ObjectId>)| {
            let names: Vec<Cow<'_, str>> =
                ids.iter().map(|id| shell_word(self.snapshot.text(self.snapshot.object(*id).name))).collect();
            let kind = self.snapshot.resources.get(resource).full_name();
            let (kubectl, names, place) = (self.kubectl, names.join(" "), self.in_namespace(namespace));
            format!("{kubectl} delete {kind} {names}{place} --cascade={cascade} --wait=false --ignore-not-found")
        };
        by_place.into_iter().map(command).collect()
    }

    /// Drops the references at these places, if they are still what they were.
    pub fn drop_references(self, id: ObjectId, places: &[usize]) -> String {
        let mut places = places.to_vec();
        places.sort_unstable();
        places.dedup();
        let mut steps: Vec<Value> = places.iter().map(|place| self.same_reference(id, *place)).collect();
        // From the last on, so that the others keep their places.
        steps.extend(
            places
                .iter()
                .rev()
                .map(|place| json!({"op": "remove", "path": format!("/metadata/ownerReferences/{place}")})),
        );
        self.patch(id, steps)
    }

    /// Drops every reference to the owner with this uid.
    pub fn drop_owner(self, id: ObjectId, uid: Symbol) -> String {
        let owners = &self.snapshot.object(id).owners;
        let places: Vec<usize> = (0..owners.len()).filter(|place| owners[*place].uid == uid).collect();
        self.drop_references(id, &places)
    }

    /// Changes fields of the reference at a place, if it is still what it was.
    pub fn change_reference(self, id: ObjectId, place: usize, fields: &[(&str, Value)]) -> String {
        let mut steps = vec![self.same_reference(id, place)];
        for (field, value) in fields {
            steps.push(
                json!({"op": "replace", "path": format!("/metadata/ownerReferences/{place}/{field}"), "value": value}),
            );
        }
        self.patch(id, steps)
    }

    /// Removes a finalizer, if it is still where it was.
    pub fn remove_finalizer(self, id: ObjectId, finalizer: Symbol) -> Option<String> {
        self.remove_finalizers(id, &[finalizer])
    }

    /// Removes those of these finalizers that an object has, if they are still where they were.
    pub fn remove_finalizers(self, id: ObjectId, finalizers: &[Symbol]) -> Option<String> {
        let has = &self.snapshot.object(id).finalizers;
        let places: Vec<usize> = (0..has.len()).filter(|place| finalizers.contains(&has[*place])).collect();
        let path = |place: usize| format!("/metadata/finalizers/{place}");
        let same =
            |place: &usize| json!({"op": "test", "path": path(*place), "value": self.snapshot.text(has[*place])});
        let mut steps: Vec<Value> = places.iter().map(same).collect();
        // From the last on, so that the others keep their places.
        steps.extend(places.iter().rev().map(|place| json!({"op": "remove", "path": path(*place)})));
        if steps.is_empty() { None } else { Some(self.patch(id, steps)) }
    }

    /// Changes fields of an object, or removes them where they are null.
    pub fn merge(self, id: ObjectId, fields: &Value) -> String {
        format!("{} patch {} --type=merge -p {}", self.kubectl, self.named(id), shell_word(&fields.to_string()))
    }

    /// A reference is known by its uid; one without is known by nothing, so that nothing may have changed.
    fn same_reference(self, id: ObjectId, place: usize) -> Value {
        let object = self.snapshot.object(id);
        match object.owners.get(place).map(|reference| reference.uid).filter(|uid| !uid.is_empty()) {
            Some(uid) => {
                json!({"op": "test", "path": format!("/metadata/ownerReferences/{place}/uid"), "value": self.snapshot.text(uid)})
            }
            None => {
                json!({"op": "test", "path": "/metadata/resourceVersion", "value": self.snapshot.text(object.resource_version)})
            }
        }
    }

    /// Changes an object by these steps of a JSON patch.
    pub fn patch(self, id: ObjectId, steps: Vec<Value>) -> String {
        let steps = Value::Array(steps).to_string();
        format!("{} patch {} --type=json -p {}", self.kubectl, self.named(id), shell_word(&steps))
    }
}
