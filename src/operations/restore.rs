//! A restore from an archive: what is asked for, in words and as positions in the archive; then planned, approved and
//! carried out.

use std::collections::BTreeSet;

use clap::Args;

use gc_cluster::{
    act::{Access, Mode, restore},
    archive::Header,
};
use gc_core::{
    command_line::is_label,
    model::{Gap, Mapping, Resource, Resources},
    progress::{self, Work},
    restore::{
        Archived, Item, ItemId, NamespaceMap, Outcome, Owner, Place, RestoreOptions, RestorePlan, Restored, ToDo,
        defined, selected_namespaces,
    },
    wording::named,
};

use super::{
    ClusterConfig, Discovered, OperationError,
    approve::{Proposal, World},
    live::{Cluster, is_interrupted},
    rights::Rights,
    targets, usage,
};

/// A restore that is being approved.
pub struct Restore {
    pub cluster: Cluster,
    /// The resources that are served before anything is created.
    pub resources: Resources,
    pub gaps: Vec<Gap>,
    pub plan: RestorePlan,
}

impl Restore {
    /// Connects to the cluster, discovers its resources, and plans what is asked for.
    ///
    /// # Errors
    /// Why the cluster can't be used, and objects or namespaces that the archive lacks.
    pub fn open(
        cluster: &ClusterConfig,
        archived: Vec<Archived>,
        header: &Header,
        request: &RestoreRequest,
    ) -> Result<Self, OperationError> {
        let Discovered { cluster, resources, gaps, .. } = Discovered::connect(cluster)?;
        let mut options = request.resolve(&archived, &resources)?;
        options.archived_at.clone_from(&header.time);
        options.targets.extend(header.targets.iter().map(|target| target.uid.clone()));
        let plan = RestorePlan::of(archived, &options).map_err(|why| OperationError::Unusable(why.to_string()))?;
        Ok(Restore { cluster, resources, gaps, plan })
    }

    /// Restores the objects, or only finds out what would happen. An interrupt stops it after the writes under way.
    pub fn carry_out(&self, mode: Mode) -> Vec<Restored> {
        let restore = || {
            progress::expect(self.plan.steps.iter().map(Vec::len).sum::<usize>() as u64);
            let restored = restore(&self.cluster.connection, &self.plan, self.resources.clone(), mode, &is_interrupted);
            self.cluster.runtime.block_on(restored)
        };
        if mode != Mode::Apply {
            return restore();
        }
        self.cluster.hear_interrupts();
        progress::during(Work::Restoring, restore)
    }

    /// What is served once it is needed.
    fn with_defined(&self) -> Resources {
        with_defined(&self.resources, self.plan.items.iter().map(|item| &item.archived))
    }

    /// The least rights that this needs if none of its objects exists.
    pub fn rights(&self) -> Rights {
        let resources = self.with_defined();
        let there = self.plan.items.iter().filter(|item| item.left_out.is_none());
        let created: BTreeSet<&str> = there
            .clone()
            .filter(|item| item.archived.place.is("", "Namespace"))
            .map(|item| item.archived.place.name.as_str())
            .collect();
        let absent = vec![Restored::absent(Outcome::WouldBeCreated); self.plan.items.len()];
        let owners = there.flat_map(|Item { archived, owners, .. }| {
            let elsewhere = archived.references.iter().zip(owners).filter(|(_, it)| !matches!(it, Owner::Archived(_)));
            let find = |place: &Place| resources.by_group_kind(place.group(), &place.kind);
            let found = elsewhere.filter_map(move |(reference, _)| find(&reference.place));
            found.flat_map(|id| Access::each(&["get"], id, &archived.place.namespace, ""))
        });
        // No Role can be in a namespace that doesn't exist yet.
        let placed = |access: Access| match created.contains(access.namespace.as_str()) {
            true => Access { namespace: String::new(), ..access },
            false => access,
        };
        let mut rights = Rights::default();
        rights.grant(&resources, wanted(&self.plan, &resources, &absent).into_iter().chain(owners).map(placed));
        rights
    }

    /// What references that block their owners need besides, where OwnerReferencesPermissionEnforcement is on: the
    /// right to update the finalizers of these (R1.38), as `gadgets.acme.io/finalizers in namespace shop`.
    pub fn rights_to_block(&self) -> Vec<String> {
        let resources = self.with_defined();
        let there = self.plan.items.iter().filter(|item| item.left_out.is_none());
        let blocking = there.flat_map(|item| item.archived.references.iter()).filter(|reference| reference.blocks());
        let finalizers = blocking.filter_map(|reference| {
            let id = resources.by_group_kind(reference.place.group(), &reference.place.kind)?;
            let (resource, namespace) = (resources.get(id), &reference.place.namespace);
            let place = if resource.namespaced { format!(" in namespace {namespace}") } else { String::new() };
            Some(format!("{}/finalizers{place}", resource.full_name()))
        });
        let finalizers: BTreeSet<String> = finalizers.collect();
        finalizers.into_iter().collect()
    }
}

/// The served resources, with the kinds that archived CRDs define: these may not be served any more, or not yet.
fn with_defined<'a>(served: &Resources, archived: impl IntoIterator<Item = &'a Archived>) -> Resources {
    let all = served.iter().map(|(_, resource)| resource.clone()).chain(archived.into_iter().flat_map(defined));
    Resources::new(all.collect(), served.preferred_versions().to_vec())
}

/// How many objects would be created, and how many objects of an earlier restore completed.
pub fn to_write(foreseen: &[Restored]) -> (usize, usize) {
    (
        foreseen.iter().filter(|restored| restored.outcome == Outcome::WouldBeCreated).count(),
        foreseen.iter().filter(|restored| restored.to_do != ToDo::default()).count(),
    )
}

impl Proposal for Restore {
    type Plan = Vec<Restored>;
    type Fingerprint = ();

    fn plan(&mut self, notes: &mut Vec<String>) -> Result<Option<Vec<Restored>>, OperationError> {
        let foreseen = self.carry_out(Mode::ClientDryRun);
        let resources = self.with_defined();
        let wanted = wanted(&self.plan, &resources, &foreseen);
        notes.extend(self.cluster.require_allowed(&resources, &wanted, "restored")?);
        Ok(Some(foreseen))
    }

    fn fingerprint(&self, _: &Vec<Restored>) {}

    /// Nothing would be written.
    fn is_settled(&self, foreseen: &Vec<Restored>) -> bool {
        to_write(foreseen) == (0, 0)
    }

    /// None: every object is read again right before it is created.
    fn world(&mut self) -> Option<&mut dyn World> {
        None
    }
}

/// The requests of a restore: a get of each object, and depending on the prediction its create and its patches.
fn wanted(plan: &RestorePlan, resources: &Resources, foreseen: &[Restored]) -> BTreeSet<Access> {
    let mut wanted = BTreeSet::new();
    for (id, (item, restored)) in plan.items.iter().zip(foreseen).enumerate() {
        let place = &item.archived.place;
        let Mapping::Served(resource) = resources.map(&place.api_version, &place.kind) else { continue };
        if item.left_out.is_some() {
            continue;
        }
        if let (Some(volume), Some(kind)) = (&restored.volume, resources.by_group_kind("", "PersistentVolume")) {
            wanted.extend(Access::each(&["get", "patch"], kind, "", volume));
        }
        let mut want = |verb, subresource| {
            let with_subresource = |access| Access { subresource, ..access };
            wanted.extend(Access::each(&[verb], resource, &place.namespace, "").map(with_subresource));
        };
        want("get", "");
        // If it is unknown whether it exists, it may have to be created.
        let create = matches!(restored.outcome, Outcome::WouldBeCreated | Outcome::Failed(_) | Outcome::Blocked(_));
        let closes = plan.closing_of(id).next().is_some();
        if create {
            want("create", "");
        }
        if create && closes || restored.to_do.references {
            want("patch", "");
        }
        if create && item.status.is_some() && resources.get(resource).has_status || restored.to_do.status {
            want("patch", "status");
        }
    }
    wanted
}

/// What the user asks for.
#[derive(Clone, Debug, Default, Args)]
pub struct RestoreRequest {
    /// Only these objects and what is theirs: TYPE/NAME, or TYPE NAME…; ns/NAME is all that was in it
    #[arg(value_name = "TARGET")]
    pub targets: Vec<String>,
    /// Also restore objects that a restored controller recreates, and those that were Terminating when archived
    #[arg(long)]
    pub all: bool,
    /// Restore what was in namespace OLD into NEW; may be repeated. With one namespace, -n NEW does the same
    #[arg(long, value_name = "OLD=NEW", value_parser = namespace_pair)]
    pub namespace_map: Vec<(String, String)>,
    /// With -n or --namespace-map: also restore what is cluster-scoped, under the same names
    #[arg(long)]
    pub cluster_scoped: bool,
    /// `-n`
    #[arg(skip)]
    pub namespace: Option<String>,
}

/// Reads `OLD=NEW`.
fn namespace_pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((from, to)) if is_label(from) && is_label(to) => Ok((from.to_owned(), to.to_owned())),
        _ => Err("give the names of two namespaces: OLD=NEW".to_owned()),
    }
}

impl RestoreRequest {
    /// Finds the objects in the archive. `resources` are those that the server serves.
    ///
    /// # Errors
    /// An object that the archive lacks or has in several namespaces, and namespaces that it lacks.
    pub fn resolve(&self, archived: &[Archived], resources: &Resources) -> Result<RestoreOptions, OperationError> {
        let named = match self.targets.is_empty() {
            true => None,
            false => Some(self.named(archived, resources)?),
        };
        let namespaces = selected_namespaces(archived, named.as_ref());
        let namespaces = self.map(&namespaces)?;
        let RestoreRequest { all, cluster_scoped, .. } = *self;
        Ok(RestoreOptions { all, named, namespaces, cluster_scoped, ..RestoreOptions::default() })
    }

    fn named(&self, archived: &[Archived], resources: &Resources) -> Result<BTreeSet<ItemId>, OperationError> {
        let resources = with_defined(resources, archived);
        let mut found = BTreeSet::new();
        for (type_name, name) in targets::type_and_names(&self.targets)? {
            let is_kind: Box<dyn Fn(&Archived) -> bool> = match resources.find_type(&type_name) {
                Ok(id) => {
                    let Resource { group, kind, .. } = resources.get(id);
                    Box::new(move |object| object.place.is(group, kind))
                }
                // A kind that is no longer served, by its name.
                Err(_) if archived.iter().any(|object| object.place.kind.eq_ignore_ascii_case(&type_name)) => {
                    Box::new(|object| object.place.kind.eq_ignore_ascii_case(&type_name))
                }
                Err(unknown) => return Err(targets::TargetError::from(unknown).into()),
            };
            let of_kind = || archived.iter().enumerate().filter(|(_, object)| is_kind(object));
            let matching: Vec<(ItemId, &Archived)> =
                of_kind().filter(|(_, object)| object.place.name == name).collect();
            if matching.is_empty() {
                let others: BTreeSet<String> = of_kind().map(|(_, object)| object.place.to_string()).collect();
                let others: Vec<String> = others.into_iter().collect();
                let has = if others.is_empty() { String::new() } else { format!("; it has {}", named(&others)) };
                return usage(format!("the archive has no {type_name}/{name}{has}"));
            }
            found.extend(self.one_namespace(&format!("{type_name}/{name}"), &matching)?);
        }
        Ok(found)
    }

    /// The objects of one name, if they are in one namespace, or if it is clear in which.
    fn one_namespace(&self, target: &str, matching: &[(ItemId, &Archived)]) -> Result<Vec<ItemId>, OperationError> {
        let namespaces: BTreeSet<&str> = matching.iter().map(|(_, object)| object.place.namespace.as_str()).collect();
        let wanted = |namespace: &&&str| {
            self.namespace.as_deref() == Some(**namespace)
                || self.namespace_map.iter().any(|(from, _)| from == **namespace)
        };
        let mut clear = namespaces.iter().filter(wanted);
        let chosen = match (namespaces.len(), clear.next(), clear.next()) {
            (1, ..) => None,
            (_, Some(one), None) => Some(*one),
            _ => {
                let all: Vec<String> = namespaces.iter().map(|namespace| (*namespace).to_owned()).collect();
                return usage(format!(
                    "the archive has {target} in the namespaces {}: say which with -n, or with --namespace-map=OLD=NEW",
                    all.join(", ")
                ));
            }
        };
        let is_chosen = |object: &Archived| chosen.is_none_or(|chosen| object.place.namespace == chosen);
        Ok(matching.iter().filter(|(_, object)| is_chosen(object)).map(|(item, _)| *item).collect())
    }

    /// The namespaces to restore into, for those that are restored.
    fn map(&self, namespaces: &BTreeSet<&str>) -> Result<NamespaceMap, OperationError> {
        let all: Vec<String> = namespaces.iter().map(|namespace| (*namespace).to_owned()).collect();
        let has =
            if all.is_empty() { "none in any namespace".to_owned() } else { format!("some in {}", all.join(", ")) };
        if let Some(into) = &self.namespace {
            if !self.namespace_map.is_empty() {
                return usage("-n and --namespace-map both say where to: use one of them");
            }
            return match all.as_slice() {
                [] => Ok(NamespaceMap::new()),
                [one] => Ok(NamespaceMap::from([(one.clone(), into.clone())])),
                _ => usage(format!(
                    "-n {into} does not say which namespace to restore there: the archive has objects of {}; use \
                     --namespace-map=OLD={into}, or name what to restore (ns/OLD restores all that was in OLD)",
                    all.join(", ")
                )),
            };
        }
        let map: NamespaceMap = self.namespace_map.iter().cloned().collect();
        for (from, to) in &map {
            if !namespaces.contains(from.as_str()) {
                return usage(format!(
                    "--namespace-map={from}={to}: no object to be restored was in {from}; the archive has {has}"
                ));
            }
            let other = |namespace: &&&str| {
                let goes_to = map.get(**namespace).map_or(**namespace, String::as_str);
                **namespace != from && goes_to == to
            };
            if let Some(other) = namespaces.iter().find(other) {
                return usage(format!(
                    "--namespace-map={from}={to}: objects of {other} are restored into {to}, too; give each namespace \
                     its own"
                ));
            }
        }
        Ok(map)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use gc_core::model::well_known;

    use super::*;

    /// The kinds `Plain` and, with a status subresource, `Rich`.
    fn kinds() -> Resources {
        let kind = |kind: &str, has_status| gc_core::model::Resource {
            group: "acme.io".to_owned(),
            version: "v1".to_owned(),
            plural: kind.to_lowercase(),
            kind: kind.to_owned(),
            namespaced: true,
            has_status,
            ..Default::default()
        };
        Resources::new(vec![kind("Plain", false), kind("Rich", true)], Vec::new())
    }

    fn describe(plan: &RestorePlan, foreseen: &[Restored]) -> Vec<String> {
        let kinds = kinds();
        wanted(plan, &kinds, foreseen).iter().map(|access| access.describe(&kinds)).collect()
    }

    fn object(kind: &str, owners: &[&str]) -> Value {
        let references =
            owners.iter().map(|owner| json!({"apiVersion": "acme.io/v1", "kind": owner, "name": "a", "uid": owner}));
        let references: Vec<Value> = references.collect();
        json!({"apiVersion": "acme.io/v1", "kind": kind, "status": {"a": 1},
               "metadata": {"name": "a", "namespace": "shop", "uid": kind, "ownerReferences": references}})
    }

    #[test]
    fn whoever_restores_may_patch_only_what_is_patched() {
        let absent = || Restored::absent(Outcome::WouldBeCreated);
        let plan = RestorePlan::new([object("Plain", &[]), object("Rich", &[])], false).unwrap();
        assert_eq!(
            describe(&plan, &[absent(), absent()]),
            [
                "create plain.acme.io in namespace shop",
                "create rich.acme.io in namespace shop",
                "get plain.acme.io in namespace shop",
                "get rich.acme.io in namespace shop",
                "patch rich.acme.io/status in namespace shop",
            ]
        );
        // In a circle, one object is patched once the other exists.
        let circle = RestorePlan::new([object("Plain", &["Rich"]), object("Rich", &["Plain"])], false).unwrap();
        let closes = if circle.closing.contains(&(0, 0)) { "plain" } else { "rich" };
        let patches = |foreseen: &[Restored]| -> Vec<String> {
            describe(&circle, foreseen).into_iter().filter(|access| access.starts_with("patch")).collect()
        };
        let closed = format!("patch {closes}.acme.io in namespace shop");
        assert!(patches(&[absent(), absent()]).contains(&closed));
        // What an earlier run has done is not repeated.
        let back = |to_do| Restored { to_do, ..Restored::absent(Outcome::AlreadyBack) };
        assert_eq!(patches(&[back(ToDo::default()), back(ToDo::default())]), [""; 0]);
        let left = back(ToDo { status: true, references: true });
        assert_eq!(
            patches(&[back(ToDo::default()), left]),
            ["patch rich.acme.io in namespace shop", "patch rich.acme.io/status in namespace shop"]
        );
    }

    fn archive(objects: &[(&str, &str, &str, &str)]) -> Vec<Archived> {
        let object = |(number, (api_version, kind, namespace, name)): (usize, &(&str, &str, &str, &str))| {
            let mut metadata = json!({"name": name, "uid": number.to_string()});
            if !namespace.is_empty() {
                metadata["namespace"] = Value::from(*namespace);
            }
            let whole = json!({"apiVersion": api_version, "kind": kind, "metadata": metadata});
            Archived::new(number, whole).expect("a valid object")
        };
        objects.iter().enumerate().map(object).collect()
    }

    fn two_namespaces() -> Vec<Archived> {
        archive(&[
            ("v1", "Namespace", "", "shop"),
            ("apps/v1", "Deployment", "shop", "web"),
            ("apps/v1", "Deployment", "blog", "web"),
            ("v1", "ConfigMap", "shop", "only"),
            ("gone.io/v1", "Relic", "blog", "old"),
        ])
    }

    fn resolve(targets: &[&str], namespace: Option<&str>, map: &[(&str, &str)]) -> Result<RestoreOptions, String> {
        let request = RestoreRequest {
            targets: targets.iter().map(|target| (*target).to_owned()).collect(),
            namespace: namespace.map(str::to_owned),
            namespace_map: map.iter().map(|(from, to)| ((*from).to_owned(), (*to).to_owned())).collect(),
            ..RestoreRequest::default()
        };
        let resources = well_known::served();
        request.resolve(&two_namespaces(), &resources).map_err(|error| error.to_string())
    }

    fn pairs(map: &NamespaceMap) -> Vec<String> {
        map.iter().map(|(from, to)| format!("{from}={to}")).collect()
    }

    #[test]
    fn without_words_all_is_restored_where_it_was() {
        let options = resolve(&[], None, &[]).unwrap();
        assert!(options.named.is_none() && options.namespaces.is_empty());
    }

    #[test]
    fn an_object_is_found_by_the_names_of_its_type() {
        for words in [&["cm/only"][..], &["configmaps", "only"], &["ConfigMap/only"]] {
            assert_eq!(resolve(words, None, &[]).unwrap().named, Some(BTreeSet::from([3])), "{words:?}");
        }
        assert_eq!(resolve(&["relic/old"], None, &[]).unwrap().named, Some(BTreeSet::from([4])), "no longer served");
        let missing = resolve(&["cm/none"], None, &[]).unwrap_err();
        assert_eq!(missing, "the archive has no cm/none; it has ConfigMap/only -n shop");
        assert!(resolve(&["cm"], None, &[]).is_err(), "a type alone names nothing");
    }

    #[test]
    fn a_name_in_two_namespaces_needs_one() {
        let unclear = resolve(&["deploy/web"], None, &[]).unwrap_err();
        assert!(unclear.starts_with("the archive has deploy/web in the namespaces blog, shop: say which"), "{unclear}");
        let here = resolve(&["deploy/web"], Some("blog"), &[]).unwrap();
        assert_eq!((here.named, pairs(&here.namespaces)), (Some(BTreeSet::from([2])), vec!["blog=blog".to_owned()]));
        let there = resolve(&["deploy/web"], None, &[("shop", "trial")]).unwrap();
        assert_eq!((there.named, pairs(&there.namespaces)), (Some(BTreeSet::from([1])), vec!["shop=trial".to_owned()]));
    }

    #[test]
    fn a_namespace_goes_into_one_other() {
        let one = resolve(&["cm/only"], Some("trial"), &[]).unwrap();
        assert_eq!(pairs(&one.namespaces), ["shop=trial"]);
        let content = resolve(&["ns/shop"], Some("trial"), &[]).unwrap();
        assert_eq!(pairs(&content.namespaces), ["shop=trial"]);
        let unclear = resolve(&[], Some("trial"), &[]).unwrap_err();
        assert!(unclear.contains("the archive has objects of blog, shop; use --namespace-map=OLD=trial"), "{unclear}");
        let both = resolve(&[], None, &[("shop", "trial"), ("blog", "test")]).unwrap();
        assert_eq!(pairs(&both.namespaces), ["blog=test", "shop=trial"]);
    }

    #[test]
    fn objects_of_two_namespaces_never_meet() {
        for map in [&[("shop", "trial"), ("blog", "trial")][..], &[("shop", "blog")]] {
            let meets = resolve(&[], None, map).unwrap_err();
            assert!(meets.contains("give each namespace its own"), "{meets}");
        }
        assert!(resolve(&[], None, &[("shop", "blog"), ("blog", "shop")]).is_ok(), "they change places");
        let unknown = resolve(&[], None, &[("nowhere", "trial")]).unwrap_err();
        assert!(
            unknown.contains("no object to be restored was in nowhere; the archive has some in blog, shop"),
            "{unknown}"
        );
        assert!(resolve(&[], Some("a"), &[("shop", "b")]).is_err());
    }
}
