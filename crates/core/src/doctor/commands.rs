//! Remedies as plain kubectl commands to paste: readers may not have this plugin.

use std::{collections::BTreeMap, iter};

use rustc_hash::FxHashSet;
use serde_json::{Value, json};

use crate::{
    command_line::{Kubectl, ShellCommand, WriteKind, is_api_version, object_word, word_of},
    graph::OwnerGraph,
    model::{
        Mapping, ObjectId, Reference, ResourceId, Snapshot, Symbol,
        effects::{Guard, Policy, PolicyEffect},
        facts::exempting,
    },
    wording::thousands,
};

use super::case::{NAMED, sorted};

/// A longer patch or list of names, in bytes, is split into several commands: Linux refuses an argument of more than
/// 128 KiB.
const LONGEST: usize = 80_000;
/// A patch that takes single items out of a list takes out at most this many.
const MOST_STEPS: usize = 100;

/// Builds commands about the objects of one snapshot. Returns `None` for an object whose name, kind or namespace no API
/// server accepts: a dump may contain anything.
#[derive(Clone, Copy, Debug)]
pub struct Commands<'a> {
    pub snapshot: &'a Snapshot,
    pub kubectl: &'a Kubectl,
    /// Whether an owner that waits must not be let go while dependents may be among what could not be read: they would
    /// lose what it waits for. Of a dump, whose lists are always missing, the reader knows what it lacks.
    pub guarded: bool,
}

/// As who the namespace controller writes.
const NAMESPACE_CONTROLLER: &str = "system:serviceaccount:kube-system:namespace-controller";

impl<'a> Commands<'a> {
    /// Whether an object waits for dependents, and some may be among what could not be read.
    fn may_wait_for_hidden(self, id: ObjectId) -> bool {
        self.guarded && !self.snapshot.may_hide_blockers(&[id]).is_empty()
    }

    /// `kubectl VERB deployments.apps/web -n shop`
    pub fn about(self, verb: &'static str, id: ObjectId) -> Option<ShellCommand> {
        let command = self.kubectl.verb(verb).arg(self.word(id)?).in_namespace(self.snapshot.namespace(id))?;
        let write = match verb {
            "delete" => Some(WriteKind::Delete),
            "patch" => Some(WriteKind::Change),
            "scale" => Some(WriteKind::Scale),
            _ => None,
        };
        Some(command.about(write, [id]))
    }

    /// `Kind/name`, and its namespace if that differs from the namespace of `beside`.
    pub(super) fn name(self, id: ObjectId, beside: Option<ObjectId>) -> String {
        self.snapshot.located(id, beside.map(|beside| self.snapshot.namespace(beside)))
    }

    /// The names of the first few objects. A namespace that all are in stands at the end, once.
    pub(super) fn names(self, ids: &[ObjectId], beside: Option<ObjectId>) -> String {
        let namespace = |id: ObjectId| self.snapshot.object(id).namespace;
        let is_shared = |shared: &Symbol| {
            let is_told = shared.is_empty() || beside.is_some_and(|beside| namespace(beside) == *shared);
            !is_told && ids.len() > 1 && ids.iter().all(|id| namespace(*id) == *shared)
        };
        let shared = ids.first().map(|first| namespace(*first)).filter(is_shared);
        let place = shared.map(|shared| format!(" -n {}", self.snapshot.text(shared))).unwrap_or_default();
        let beside = if shared.is_some() { ids.first().copied() } else { beside };
        let mut names: Vec<String> = ids.iter().take(NAMED).map(|id| self.name(*id, beside)).collect();
        if ids.len() > NAMED {
            return format!("{} and {} more{place}", names.join(", "), thousands(ids.len() - NAMED));
        }
        match names.pop() {
            Some(last) if !names.is_empty() => format!("{} and {last}{place}", names.join(", ")),
            last => last.unwrap_or_default(),
        }
    }

    /// `deployments.apps/web`
    pub(super) fn word(self, id: ObjectId) -> Option<String> {
        word_of(self.snapshot, id)
    }

    /// Shows an object.
    pub fn get(self, id: ObjectId) -> Option<ShellCommand> {
        Some(self.about("get", id)?.args(["-o", "yaml"]))
    }

    /// A command of this plugin about an object.
    pub fn plugin(self, verb: &'static str, id: ObjectId) -> Option<ShellCommand> {
        let command = self.kubectl.plugin(verb).arg(self.word(id)?).about(None, [id]);
        command.in_namespace(self.snapshot.namespace(id))
    }

    /// Shows what a delete of an object would do.
    pub fn plan(self, id: ObjectId) -> Option<ShellCommand> {
        self.plugin("plan", id)
    }

    /// Shows an object with the names of the clients that wrote its fields.
    pub fn managed_fields(self, id: ObjectId) -> Option<ShellCommand> {
        Some(self.about("get", id)?.args(["-o", "yaml", "--show-managed-fields"]))
    }

    /// Opens an object in an editor.
    pub fn edit(self, id: ObjectId) -> Option<ShellCommand> {
        self.about("edit", id)
    }

    /// Shows the end of what a workload has logged.
    pub fn logs(self, id: ObjectId) -> Option<ShellCommand> {
        Some(self.about("logs", id)?.arg("--tail=100"))
    }

    /// Scales a workload up, so that it runs.
    pub fn scale_up(self, id: ObjectId) -> Option<ShellCommand> {
        self.scale(id, "--replicas=1")
    }

    /// Scales a workload.
    pub fn scale(self, id: ObjectId, replicas: &'static str) -> Option<ShellCommand> {
        Some(self.about("scale", id)?.arg(replicas))
    }

    /// Shows the owner that a reference names, or what prevents reading it. `namespace` is that of the dependent.
    pub fn look_at_owner(self, reference: &Reference, graph: &OwnerGraph, namespace: Symbol) -> Option<ShellCommand> {
        match graph.mapping(reference) {
            Mapping::Served(kind) => {
                let kind = self.snapshot.resources.get(kind);
                let command = self.kubectl.verb("get").object(
                    kind.type_word(),
                    &kind.group,
                    self.snapshot.text(reference.name),
                )?;
                if kind.namespaced { command.in_namespace(self.snapshot.text(namespace)) } else { Some(command) }
            }
            _ => {
                let version =
                    Some(self.snapshot.text(reference.api_version)).filter(|version| is_api_version(version))?;
                let root = if version.contains('/') { "apis" } else { "api" };
                Some(self.kubectl.verb("get").args(["--raw", &format!("/{root}/{version}")]))
            }
        }
    }

    /// Saves, deletes and recreates an object, which then has a new uid. The file has a name of its own, so that no
    /// other object's copy overwrites the only one.
    pub fn make_again(self, id: ObjectId) -> Option<ShellCommand> {
        let file = self.file_of(id) + ".json";
        let save = absent(&file).and(self.about("get", id)?.args(["-o", "json"]).syntax(">").file(&file));
        let delete = self.about("delete", id)?.arg("--cascade=background");
        Some(save.and(delete).and(self.kubectl.verb("create").arg("-f").file(&file)))
    }

    /// Saves an object to a file of its own, unless there is one: a second run must not overwrite the only copy.
    pub fn saved(self, id: ObjectId) -> Option<ShellCommand> {
        let file = self.file_of(id) + ".yaml";
        Some(absent(&file).and(self.get(id)?.syntax(">").file(&file)))
    }

    /// Deletes an object, and keeps a copy that `kubectl apply` accepts.
    pub fn take_away(self, id: ObjectId) -> Option<ShellCommand> {
        let delete = one_after_another(self.delete(&[id], "background", &[]))?;
        Some(self.saved(id)?.and(delete))
    }

    /// The name of a file for an object, without an extension.
    fn file_of(self, id: ObjectId) -> String {
        let object = self.snapshot.object(id);
        let names = [object.namespace, object.name]
            .map(|symbol| self.snapshot.text(symbol))
            .into_iter()
            .filter(|name| !name.is_empty());
        let plural = &self.snapshot.resources.get(object.resource).plural;
        names.fold(plural.clone(), |file, name| format!("{file}-{name}"))
    }

    /// Deletes objects, one command per kind and namespace, but no living Events: they expire by themselves, and tell
    /// what happened. `more` are further flags.
    /// The commands don't wait, because objects may be stuck, and they accept objects that are already gone, because an
    /// earlier delete may have released them. Owners that may wait for hidden dependents are left out: a delete in the
    /// background lets them go (R1.21).
    pub fn delete(self, objects: &[ObjectId], cascade: &'static str, more: &[&'static str]) -> Vec<ShellCommand> {
        let mut by_place: BTreeMap<(ResourceId, Symbol), Vec<ObjectId>> = BTreeMap::new();
        for id in objects {
            let object = self.snapshot.object(*id);
            if self.may_wait_for_hidden(*id) {
                continue;
            }
            if !object.terminating() && self.snapshot.resources.get(object.resource).kind == "Event" {
                continue;
            }
            by_place.entry((object.resource, object.namespace)).or_default().push(*id);
        }
        let mut commands = Vec::new();
        for ((_, namespace), ids) in by_place {
            let words = ids.iter().filter_map(|id| Some((self.word(*id)?, *id)));
            // kubectl splits the first of several arguments at commas.
            let (together, alone): (Vec<_>, Vec<_>) = words.partition(|(word, _)| !word.contains(','));
            let batches =
                in_batches(together, |(word, _)| word.len() + 1).chain(alone.into_iter().map(|one| vec![one]));
            for named in batches {
                let (words, ids): (Vec<String>, Vec<ObjectId>) = named.into_iter().unzip();
                let command = self.kubectl.verb("delete").args(words).in_namespace(self.snapshot.text(namespace));
                let command = command.map(|command| command.about(Some(WriteKind::Delete), ids));
                let cascade = format!("--cascade={cascade}");
                let flags = [&*cascade, "--wait=false", "--ignore-not-found"];
                commands.extend(command.map(|command| command.args(flags).args(more.iter().copied())));
            }
        }
        commands
    }

    /// Removes the references at these indexes if they are unchanged. Several commands each remove some of them, the
    /// last ones first.
    pub fn drop_references(self, id: ObjectId, places: &[usize]) -> Vec<ShellCommand> {
        let path = |place: usize| format!("/metadata/ownerReferences/{place}");
        self.remove_places(id, places, &|place| self.same_reference(id, place), &path)
    }

    /// Removes every reference to the owner with this uid.
    pub fn drop_owner(self, id: ObjectId, uid: Symbol) -> Vec<ShellCommand> {
        let owners = &self.snapshot.object(id).owners;
        let places: Vec<usize> = (0..owners.len()).filter(|place| owners[*place].uid == uid).collect();
        self.drop_references(id, &places)
    }

    /// Changes fields of the references at these indexes if the references are unchanged.
    pub fn change_references(self, id: ObjectId, changes: &[(usize, Vec<(&str, Value)>)]) -> Vec<ShellCommand> {
        let steps = |(place, fields): &(usize, Vec<(&str, Value)>)| {
            let mut steps = vec![self.same_reference(id, *place)];
            for (field, value) in fields {
                steps.push(json!({"op": "replace", "path": format!("/metadata/ownerReferences/{place}/{field}"),
                    "value": value}));
            }
            steps
        };
        let batches = in_batches(changes.iter().map(steps), |steps| steps.iter().map(size_of).sum());
        batches.filter_map(|steps| self.patch(id, steps.concat())).collect()
    }

    /// Removes those of these finalizers that an object has, if their indexes are unchanged. Several commands each
    /// remove some of them, the last ones first. If they are many, one command writes those that stay, if the whole
    /// object is unchanged. The collector's stay while dependents may be hidden.
    pub fn remove_finalizers(self, id: ObjectId, finalizers: &[Symbol]) -> Vec<ShellCommand> {
        let has = &self.snapshot.object(id).finalizers;
        if finalizers.iter().any(|finalizer| finalizer.is_collectors_finalizer()) && self.may_wait_for_hidden(id) {
            return Vec::new();
        }
        let wanted: FxHashSet<Symbol> = finalizers.iter().copied().collect();
        let places: Vec<usize> = (0..has.len()).filter(|place| wanted.contains(&has[*place])).collect();
        let version = self.snapshot.object(id).resource_version.text(&self.snapshot.strings);
        if places.len() > MOST_STEPS && has.len() - places.len() <= MOST_STEPS && !version.is_empty() {
            let kept = has.iter().filter(|finalizer| !wanted.contains(finalizer));
            let kept: Vec<&str> = kept.map(|finalizer| self.snapshot.text(*finalizer)).collect();
            let fields = json!({"metadata": {"resourceVersion": version, "finalizers": kept}});
            return self.merge(id, &fields).into_iter().collect();
        }
        let path = |place: usize| format!("/metadata/finalizers/{place}");
        let same = |place: usize| json!({"op": "test", "path": path(place), "value": self.snapshot.text(has[place])});
        self.remove_places(id, &places, &same, &path)
    }

    /// Removes the list items at these indexes, after a test of each.
    fn remove_places(
        self,
        id: ObjectId,
        places: &[usize],
        test: &dyn Fn(usize) -> Value,
        path: &dyn Fn(usize) -> String,
    ) -> Vec<ShellCommand> {
        // Start with the last, so that the other indexes remain right.
        let places = sorted(places.iter().copied()).into_iter().rev();
        let steps = places.map(|place| (test(place), json!({"op": "remove", "path": path(place)})));
        let batches = in_batches(steps, |(test, remove)| size_of(test) + size_of(remove));
        let command = |steps: Vec<(Value, Value)>| {
            let (mut tests, removes): (Vec<Value>, Vec<Value>) = steps.into_iter().unzip();
            tests.reverse();
            tests.extend(removes);
            self.patch(id, tests)
        };
        batches.filter_map(command).collect()
    }

    /// Makes a PersistentVolume keep its data when its claim goes, or a VolumeSnapshotContent when its VolumeSnapshot
    /// goes.
    pub fn retain(self, holder: ObjectId) -> Option<ShellCommand> {
        match self.volume(holder) {
            Some(_) => self.retain_all(&[holder]),
            None => self.merge(holder, &json!({"spec": {"deletionPolicy": "Retain"}})),
        }
    }

    /// The same for several PersistentVolumes, in one command.
    pub fn retain_all(self, volumes: &[ObjectId]) -> Option<ShellCommand> {
        let word = |holder: &ObjectId| object_word("persistentvolumes", "", self.volume(*holder)?);
        let words: Option<Vec<String>> = volumes.iter().map(word).collect();
        let fields = json!({"spec": {"persistentVolumeReclaimPolicy": "Retain"}});
        let patch = self.kubectl.verb("patch").args(words?).args(["--type=merge", "-p", &fields.to_string()]);
        Some(patch.about(Some(WriteKind::Change), volumes.iter().copied()))
    }

    /// Makes an object's controller keep what the object stands for, if its policy allows that.
    pub fn keep_outside(self, id: ObjectId) -> Option<ShellCommand> {
        let object = self.snapshot.object(id);
        let resource = self.snapshot.resources.get(object.resource);
        let finalizers = object.finalizers.iter().map(|finalizer| self.snapshot.text(*finalizer));
        let policy = Policy::of(&resource.group, &resource.kind, finalizers)?;
        let facts = self.snapshot.facts.policy(id)?;
        let acts = matches!(policy.says(facts), PolicyEffect::Act(_));
        acts.then(|| policy.keeping(facts, resource.namespaced)).flatten().and_then(|fields| self.merge(id, &fields))
    }

    /// Whether [`Self::retain`] is for it.
    pub fn holds_data(self, id: ObjectId) -> bool {
        let resource = self.snapshot.resource(id);
        self.is_volume(id) || resource.group == "snapshot.storage.k8s.io" && resource.kind == "VolumeSnapshotContent"
    }

    /// Whether it stands for a PersistentVolume, of what holds data.
    pub fn is_volume(self, id: ObjectId) -> bool {
        self.volume(id).is_some()
    }

    /// The name of a PersistentVolume, or of that which a claim names and which was not read.
    fn volume(self, id: ObjectId) -> Option<&'a str> {
        let resource = self.snapshot.resource(id);
        match resource.kind.as_str() {
            "PersistentVolume" if resource.group.is_empty() => Some(self.snapshot.name(id)),
            "PersistentVolumeClaim" if resource.group.is_empty() => {
                let named = self.snapshot.facts.claim(id)?.volume.as_deref()?;
                let volumes = self.snapshot.resources.by_group_kind("", "PersistentVolume")?;
                self.snapshot.look_up_named(volumes, "", named).object().is_none().then_some(named)
            }
            _ => None,
        }
    }

    /// Sets fields of an object, or removes them if they are null.
    pub fn merge(self, id: ObjectId, fields: &Value) -> Option<ShellCommand> {
        Some(self.about("patch", id)?.args(["--type=merge", "-p", &fields.to_string()]))
    }

    /// Lets an object go that a value guards (R9.48); `None`: others take the value away.
    pub fn lift(self, id: ObjectId, guard: &Guard) -> Option<ShellCommand> {
        let facts = self.snapshot.facts.policy(id);
        self.merge(id, &guard.lifted(|field| facts.is_some_and(|facts| facts.has(field)))?)
    }

    /// Serves the storage version of a CRD that serves none.
    pub fn serve(self, definition: ObjectId) -> Option<ShellCommand> {
        let stored = self.snapshot.facts.definition(definition)?.unserved.as_deref()?;
        let path = |field| format!("/spec/versions/{}/{field}", stored.place);
        let same = json!({"op": "test", "path": path("name"), "value": stored.name});
        self.patch(definition, vec![same, json!({"op": "replace", "path": path("served"), "value": true})])
    }

    /// A test that the reference is unchanged, by its uid. Without a uid, the whole object must be unchanged.
    fn same_reference(self, id: ObjectId, place: usize) -> Value {
        let object = self.snapshot.object(id);
        match object.owners.get(place).map(|reference| reference.uid).filter(|uid| !uid.is_empty()) {
            Some(uid) => {
                json!({"op": "test", "path": format!("/metadata/ownerReferences/{place}/uid"),
                    "value": self.snapshot.text(uid)})
            }
            None => {
                json!({"op": "test", "path": "/metadata/resourceVersion",
                    "value": object.resource_version.text(&self.snapshot.strings)})
            }
        }
    }

    /// Exempts a resource, by its plural, from an admission policy, or from webhooks at these places of a
    /// configuration; `None` if the server is older than `matchConditions` (on by default since 1.28).
    pub fn exempt(self, configuration: ObjectId, places: &[usize], plural: &str) -> Option<ShellCommand> {
        self.add_condition(configuration, places, &format!("except-{plural}"), &exempting(plural))
    }

    /// Exempts what the namespace controller writes from an admission policy.
    pub fn exempt_namespace_controller(self, policy: ObjectId) -> Option<ShellCommand> {
        let is_other = format!("request.userInfo.username != \"{NAMESPACE_CONTROLLER}\"");
        self.add_condition(policy, &[], "except-namespace-controller", &is_other)
    }

    /// Has an admission policy judge only what the collector writes: with or without an account of its own.
    pub fn exempt_all_but_the_collector(self, policy: ObjectId) -> Option<ShellCommand> {
        let only = "request.userInfo.username in [\"system:serviceaccount:kube-system:generic-garbage-collector\", \
                    \"system:kube-controller-manager\"]";
        self.add_condition(policy, &[], "only-the-collector", only)
    }

    fn add_condition(self, configuration: ObjectId, places: &[usize], name: &str, only: &str) -> Option<ShellCommand> {
        if self.snapshot.resources.server().is_some_and(|server| server.is_before(28)) {
            return None;
        }
        let condition = json!({"name": name, "expression": only});
        let adding = |to: String, has_conditions: bool| match has_conditions {
            true => json!({"op": "add", "path": format!("{to}/matchConditions/-"), "value": condition}),
            false => json!({"op": "add", "path": format!("{to}/matchConditions"), "value": [condition]}),
        };
        if let Some(policy) = self.snapshot.facts.admission_policy(configuration) {
            return self.patch(configuration, vec![adding("/spec".to_owned(), policy.conditional)]);
        }
        let webhooks = &self.snapshot.facts.webhooks(configuration)?.webhooks;
        let mut steps = Vec::new();
        for place in places {
            let webhook = webhooks.get(*place)?;
            steps.push(json!({"op": "test", "path": format!("/webhooks/{place}/name"), "value": webhook.name}));
            let has_conditions = webhook.conditional || !webhook.exempt.is_empty();
            steps.push(adding(format!("/webhooks/{place}"), has_conditions));
        }
        self.patch(configuration, steps)
    }

    /// Lets writes pass while webhooks can't be called: those at these places of a configuration.
    pub fn let_pass(self, configuration: ObjectId, places: &[usize]) -> Option<ShellCommand> {
        let webhooks = &self.snapshot.facts.webhooks(configuration)?.webhooks;
        let named = places.iter().filter_map(|place| Some((place, &webhooks.get(*place)?.name)));
        let at = |place: &usize, field: &str| format!("/webhooks/{place}/{field}");
        let same = |(place, name): (&usize, &String)| json!({"op": "test", "path": at(place, "name"), "value": name});
        let pass = |(place, _): (&usize, &String)| {
            let path = at(place, "failurePolicy");
            json!({"op": "replace", "path": path, "value": "Ignore"})
        };
        let steps: Vec<Value> = named.clone().map(same).chain(named.map(pass)).collect();
        (!steps.is_empty()).then(|| self.patch(configuration, steps))?
    }

    /// Applies these steps of a JSON patch.
    pub fn patch(self, id: ObjectId, steps: Vec<Value>) -> Option<ShellCommand> {
        let steps = Value::Array(steps).to_string();
        Some(self.about("patch", id)?.args(["--type=json", "-p", &steps]))
    }
}

/// Joins commands with `&&`, so that each runs only if those before it succeeded; `None` if there are none.
pub(super) fn one_after_another(commands: impl IntoIterator<Item = ShellCommand>) -> Option<ShellCommand> {
    commands.into_iter().reduce(ShellCommand::and)
}

/// The items in order, in batches of at most [`LONGEST`] bytes or of one item, made one after the other.
pub(super) fn in_batches<T>(
    items: impl IntoIterator<Item = T>,
    size: impl Fn(&T) -> usize,
) -> impl Iterator<Item = Vec<T>> {
    let mut items = items.into_iter().peekable();
    iter::from_fn(move || {
        let mut batch = vec![items.next()?];
        let mut room = LONGEST.saturating_sub(size(&batch[0]));
        while let Some(item) = items.next_if(|item| size(item) <= room) {
            room -= size(&item);
            batch.push(item);
        }
        Some(batch)
    })
}

/// The size of a step in a patch, including its comma.
fn size_of(step: &Value) -> usize {
    step.to_string().len() + 1
}
/// Succeeds if there is no such file.
fn absent(file: &str) -> ShellCommand {
    ShellCommand::of_syntax("test ! -e").file(file)
}
