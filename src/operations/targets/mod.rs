//! TARGETs: from typed arguments to objects, as in kubectl.
//!
//! ```text
//! selector  -l and --field-selector     keep  --keep
//! resolve   a query with resolved types to objects of a snapshot
//! ```

mod error;
#[cfg(any(test, feature = "testing"))]
pub(crate) mod fuzzing;
mod resolve;
mod selector;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use clap::Args;

use gc_core::{
    apply::ManifestObject,
    model::{Identity, Mapping, ResourceId, Resources, facts::LabelSelector},
};

use super::manifests::{ManifestError, ManifestFile};

pub use error::{Hint, Missing, NoMatch, TargetError, Why};
use error::{in_namespaces, served_as, wrong};
pub use gc_core::apply::Place;
pub use resolve::{KeepQuery, KeepTargets};
pub use selector::{FieldSelector, SelectorError, parse_labels};

/// The flags and arguments that select objects, as in kubectl.
#[derive(Clone, Debug, Default, Args)]
pub struct TargetArgs {
    /// TYPE/NAME..., TYPE NAME..., or TYPE[,TYPE...] with -l, --field-selector or --all
    #[arg(value_name = "TARGET")]
    pub targets: Vec<String>,
    /// Objects of the TYPE whose labels match, as in kubectl
    #[arg(short = 'l', long, value_name = "LABELS", help_heading = "Targets", allow_hyphen_values = true)]
    pub selector: Option<String>,
    /// Objects of the TYPE whose fields match, as in kubectl
    #[arg(long, value_name = "FIELDS", help_heading = "Targets", hide_short_help = true)]
    pub field_selector: Option<String>,
    /// Every object of the TYPE
    #[arg(long, help_heading = "Targets")]
    pub all: bool,
    /// The objects named in a manifest: a file, a pattern such as '*.yaml', a folder or -; may be repeated
    #[arg(short = 'f', long = "filename", value_name = "MANIFEST,…", value_delimiter = ',', help_heading = "Targets")]
    pub filenames: Vec<String>,
    /// The objects that kubectl kustomize makes of a folder
    #[arg(
        short,
        long,
        value_name = "FOLDER",
        help_heading = "Targets",
        conflicts_with = "filenames",
        hide_short_help = true
    )]
    pub kustomize: Option<String>,
    /// Look for manifests in sub-folders too
    #[arg(short = 'R', long, requires = "filenames", help_heading = "Targets", hide_short_help = true)]
    pub recursive: bool,
    /// In all namespaces
    #[arg(short = 'A', long, help_heading = "Targets")]
    pub all_namespaces: bool,
    /// Whether to skip targets that do not exist; set by the flag of the commands that have it.
    #[arg(skip)]
    pub ignore_not_found: bool,
    /// Whether a TYPE alone means all of its objects; set by commands that only show them.
    #[arg(skip)]
    pub type_alone: bool,
}

impl TargetArgs {
    /// Whether objects are named or chosen by TYPE.
    pub fn any(&self) -> bool {
        !self.targets.is_empty() || self.names_manifests()
    }

    /// Whether `--all` or a selector chooses among the objects of a TYPE.
    pub fn selects(&self) -> bool {
        let given = |text: &Option<String>| text.as_deref().is_some_and(|text| !text.trim().is_empty());
        self.all || given(&self.selector) || given(&self.field_selector)
    }

    /// Like kubectl get, for commands that show what there is of a type, and that may be nothing.
    pub fn to_be_shown(&self) -> Self {
        let by_type = self.selects() || matches!(self.targets.as_slice(), [one] if !one.contains('/'));
        TargetArgs { type_alone: true, ignore_not_found: by_type, ..self.clone() }
    }

    /// Like kubectl delete: with `--all` or a selector, it is fine if no object matches.
    pub fn to_be_deleted(&self, ignore_not_found: bool) -> Self {
        let chooses = self.all || self.selector.is_some() || self.field_selector.is_some();
        TargetArgs { ignore_not_found: ignore_not_found || chooses, ..self.clone() }
    }

    /// Whether manifests name the objects.
    pub fn names_manifests(&self) -> bool {
        !self.filenames.is_empty() || self.kustomize.is_some()
    }
}

/// A query, with types as typed.
#[derive(Clone, Debug)]
pub struct TargetQuery {
    form: Form,
}

#[derive(Clone, Debug)]
enum Form {
    /// `TYPE/NAME…`, `TYPE NAME…`
    Named(Vec<TypeName>),
    /// `TYPE,TYPE -l …`
    Selected { types: Vec<String>, selection: Selection },
    /// `-f`
    Manifests(Vec<Entry>),
}

/// One `TYPE/NAME`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct TypeName {
    type_name: String,
    name: String,
}

/// Which objects of the types to select.
#[derive(Clone, Debug, Default)]
struct Selection {
    labels: Option<LabelSelector>,
    fields: Option<FieldSelector>,
}

/// A query with its types resolved: objects by name, or what a selection matches of some types.
#[derive(Clone, Debug, Default)]
pub struct TypedQuery {
    objects: Vec<NamedTarget>,
    types: Vec<SelectedType>,
    selection: Selection,
}

/// One object, by name.
#[derive(Clone, Debug)]
struct NamedTarget {
    resource: ResourceId,
    namespaced: bool,
    name: String,
    /// The namespace in the manifest; none for cluster scope.
    namespace: Option<String>,
    /// The manifest's position.
    place: Option<Place>,
}

/// One type of a selection.
#[derive(Clone, Debug)]
struct SelectedType {
    resource: ResourceId,
    /// Whether only a category contains it: then it may be skipped if it can't be read.
    of_category: bool,
}

/// Where to look for names without a namespace of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NamespaceChoice {
    /// `-n`, or the kubeconfig's namespace.
    One(String),
    /// `-A`
    All,
    /// A dump without `-n`: a name that is unique in the dump needs no namespace, and selectors search all namespaces.
    WhereverUnique,
}

/// A selection that only a server can make: by fields other than name and namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerSelection {
    pub resource: ResourceId,
    /// In the syntax of the `labelSelector` parameter.
    pub labels: Option<String>,
    /// In the syntax of the `fieldSelector` parameter.
    pub fields: String,
}

/// The types and names of arguments that name objects: `TYPE/NAME…` or `TYPE NAME…`.
///
/// # Errors
/// Arguments that name no object.
pub fn type_and_names(words: &[String]) -> Result<Vec<(String, String)>, TargetError> {
    match names(words)? {
        Some(names) => Ok(names.into_iter().map(|TypeName { type_name, name }| (type_name, name)).collect()),
        None => no_name(words.first().map_or("", String::as_str)),
    }
}

impl TargetQuery {
    /// These objects, each in its own namespace. Their uids don't count.
    pub fn of_objects(objects: &[Identity]) -> Self {
        let entry = |object: &Identity| Entry {
            place: Place::default(),
            api_version: object.api_version.clone(),
            kind: object.kind.clone(),
            name: object.name.clone(),
            namespace: Some(object.namespace.clone()).filter(|namespace| !namespace.is_empty()),
        };
        TargetQuery { form: Form::Manifests(objects.iter().map(entry).collect()) }
    }

    /// Resolves the types, before any list is read.
    pub fn with_types(self, resources: &Resources) -> Result<TypedQuery, TargetError> {
        match self.form {
            Form::Named(names) => TypedQuery::of_objects(names.into_iter().map(|name| name.wanted(resources))),
            Form::Manifests(entries) => {
                TypedQuery::of_objects(entries.into_iter().map(|entry| entry.wanted(resources)))
            }
            Form::Selected { types, selection } => {
                let types = selected_types(&types, resources)?;
                Ok(TypedQuery { types, selection, ..TypedQuery::default() })
            }
        }
    }
}

/// An object in a manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    place: Place,
    api_version: String,
    kind: String,
    name: String,
    namespace: Option<String>,
}

impl Entry {
    fn of(object: &ManifestObject) -> Result<Self, TargetError> {
        let ManifestObject { place, api_version, kind, name, namespace, .. } = object.clone();
        if let Some(what) = &object.malformed {
            return Err(ManifestError::Malformed { place, message: format!("metadata.{what}") }.into());
        }
        if name.is_empty() {
            return match object.generate_name.is_empty() {
                true => Err(ManifestError::MissingField { place, field: "metadata.name" }.into()),
                false => wrong(format!("{place}: this {kind} has only a generateName: name the object as TYPE/NAME")),
            };
        }
        Ok(Entry { place, api_version, kind, name, namespace: Some(namespace).filter(|own| !own.is_empty()) })
    }

    /// The object, with its kind resolved.
    fn wanted(self, resources: &Resources) -> Result<NamedTarget, TargetError> {
        let Mapping::Served(id) = resources.map(&self.api_version, &self.kind) else {
            let mut served: Vec<String> = Vec::new();
            for (_, resource) in resources.iter().filter(|(_, resource)| resource.kind.eq_ignore_ascii_case(&self.kind))
            {
                let api_version = resource.api_version();
                if !served.contains(&api_version) {
                    served.push(api_version);
                }
            }
            let Entry { place, api_version, kind, .. } = self;
            let served = served_as(&served);
            return wrong(format!("{place}: no kind {kind:?} is served in {api_version:?}{served}"));
        };
        let namespaced = resources.get(id).namespaced;
        Ok(NamedTarget {
            resource: resources.picked(id),
            namespaced,
            name: self.name,
            // kubectl allows a namespace in a cluster-scoped manifest, and ignores it.
            namespace: self.namespace.filter(|_| namespaced),
            place: Some(self.place),
        })
    }
}

impl TypeName {
    fn wanted(self, resources: &Resources) -> Result<NamedTarget, TargetError> {
        let TypeName { type_name, name } = self;
        let resource =
            resources.find_type(&type_name).map_err(|unknown| match resources.category(&type_name).len() {
                0 => TargetError::UnknownType(unknown),
                types => TargetError::Wrong(format!(
                    "{type_name:?} is a category of {types} types: write TYPE/NAME, or choose objects of all types \
                     with -l SELECTOR or --all"
                )),
            })?;
        Ok(NamedTarget { resource, namespaced: resources.get(resource).namespaced, name, namespace: None, place: None })
    }
}

fn selected_types(texts: &[String], resources: &Resources) -> Result<Vec<SelectedType>, TargetError> {
    let mut types: Vec<SelectedType> = Vec::new();
    for text in texts {
        let of_category = !resources.category(text).is_empty();
        let found = resources.find_types(text).map_err(|unknown| match texts {
            [text] if unknown.nearest.is_empty() => TargetError::Wrong(format!(
                "the server has no resource type {text:?}; an object is TYPE/NAME, for instance deploy/web"
            )),
            _ => TargetError::UnknownType(unknown),
        });
        for resource in found? {
            match types.iter_mut().find(|known| known.resource == resource) {
                Some(known) => known.of_category &= of_category,
                None => types.push(SelectedType { resource, of_category }),
            }
        }
    }
    Ok(types)
}

impl TypedQuery {
    fn of_objects(objects: impl Iterator<Item = Result<NamedTarget, TargetError>>) -> Result<Self, TargetError> {
        Ok(TypedQuery { objects: objects.collect::<Result<_, _>>()?, ..TypedQuery::default() })
    }

    /// Whether any target is of a cluster-scoped kind.
    pub fn any_cluster_scoped(&self, resources: &Resources) -> bool {
        self.resources().any(|resource| !resources.get(resource).namespaced)
    }

    /// The resources of the targets, possibly repeated.
    pub fn resources(&self) -> impl Iterator<Item = ResourceId> {
        self.objects.iter().map(|wanted| wanted.resource).chain(self.selected())
    }

    /// The resources of which objects are selected, not named.
    pub fn selected(&self) -> impl Iterator<Item = ResourceId> {
        self.types.iter().map(|selected| selected.resource)
    }

    /// The resource of each target, its namespace in the manifest, and its name; none if it isn't selected by name.
    pub fn named(&self) -> impl Iterator<Item = (ResourceId, Option<&str>, Option<&str>)> {
        let objects = self.objects.iter();
        let named = objects.map(|wanted| (wanted.resource, wanted.namespace.as_deref(), Some(wanted.name.as_str())));
        named.chain(self.selected().map(|resource| (resource, None, None)))
    }

    /// The namespaces in the `metadata.namespace` of manifests, each once.
    pub fn own_namespaces(&self) -> impl Iterator<Item = &str> {
        let mut seen = BTreeSet::new();
        let own = self.objects.iter().filter_map(|wanted| wanted.namespace.as_deref());
        own.filter(move |namespace| seen.insert(*namespace))
    }

    /// Checks that no manifest contradicts an explicit `-n`.
    pub fn check_namespace(&self, explicit: &str) -> Result<(), TargetError> {
        let is_elsewhere = |wanted: &&NamedTarget| wanted.namespace.as_deref().is_some_and(|own| own != explicit);
        match self.objects.iter().find(is_elsewhere) {
            Some(NamedTarget { name, namespace, place, .. }) => {
                let (place, own) = (place.clone().unwrap_or_default(), namespace.as_deref().unwrap_or_default());
                Err(TargetError::other_namespace(&place, name, own, explicit))
            }
            None => Ok(()),
        }
    }

    /// The selections that only a server can make: by fields other than `metadata.name` and `metadata.namespace`. Empty
    /// if a snapshot suffices.
    pub fn server_selections(&self) -> Vec<ServerSelection> {
        let Selection { labels, fields } = &self.selection;
        let Some(fields) = fields.as_ref().filter(|fields| !fields.local()) else { return Vec::new() };
        let labels = labels.as_ref().map(LabelSelector::to_string);
        let of = |resource| ServerSelection { resource, labels: labels.clone(), fields: fields.to_string() };
        self.selected().map(of).collect()
    }
}

impl TargetQuery {
    /// Parses the arguments, and reads the manifests of `-f`; `None` if they name no target.
    pub fn parse(args: &TargetArgs) -> Result<Option<TargetQuery>, TargetError> {
        // As in kubectl, an empty selector selects nothing: an unset variable must not mean "all".
        let labels = given(args.selector.as_deref());
        let fields = given(args.field_selector.as_deref());
        let flag = if labels.is_some() { Some("-l") } else { fields.map(|_| "--field-selector") };
        if let Some(flag) = flag
            && args.all
        {
            return wrong(format!("{flag} and --all contradict each other: leave one out"));
        }
        if args.names_manifests() {
            if let Some(flag) = flag.or(args.all.then_some("--all")) {
                return wrong(format!("{flag} cannot be used with -f, which names its objects: leave one out"));
            }
            if let Some(target) = args.targets.first() {
                return wrong(format!("{target:?} cannot be used with -f, which names its objects: leave one out"));
            }
            let files = ManifestFile::read(&args.filenames, args.kustomize.as_deref(), args.recursive)?;
            let objects = files.iter().flat_map(ManifestFile::objects);
            let entries = objects.map(|found| Entry::of(&found.object)).collect::<Result<_, _>>()?;
            return Ok(Some(TargetQuery { form: Form::Manifests(entries) }));
        }
        let Some(first) = args.targets.first() else {
            let needs_type = |flag| wrong(format!("{flag} needs a TYPE, as in: deployments {flag} …"));
            return flag.map_or(Ok(None), needs_type);
        };
        let names = names(&args.targets)?;
        let flag = flag.or(args.all.then_some("--all"));
        let form = match (names, flag) {
            (Some(names), None) => Form::Named(names),
            (Some(names), Some(flag)) => {
                let name = names.first().map_or("", |name| &name.name);
                return wrong(format!(
                    "{flag} selects among all objects of a type, {name:?} is one object: use one or the other"
                ));
            }
            (None, None) if args.type_alone => {
                Form::Selected { types: types(first)?, selection: Selection { labels: None, fields: None } }
            }
            (None, None) => return no_name(first),
            (None, Some(_)) => Form::Selected {
                types: types(first)?,
                selection: Selection {
                    labels: labels.map(parse_labels).transpose()?,
                    fields: fields.map(FieldSelector::parse).transpose()?,
                },
            },
        };
        Ok(Some(TargetQuery { form }))
    }
}

/// `TYPE` alone.
fn no_name<T>(types: &str) -> Result<T, TargetError> {
    wrong(format!(
        "{types:?} is not enough: write TYPE/NAME, as in deploy/web, or a TYPE with a NAME, -l SELECTOR or --all"
    ))
}

fn given(text: Option<&str>) -> Option<&str> {
    text.map(str::trim).filter(|text| !text.is_empty())
}

/// The objects that the arguments name; `None` if they are a type alone.
fn names(targets: &[String]) -> Result<Option<Vec<TypeName>>, TargetError> {
    let with_slash = targets.iter().filter(|target| target.contains('/')).count();
    if with_slash == targets.len() {
        return targets.iter().map(|target| type_and_name(target)).collect::<Result<_, _>>().map(Some);
    }
    if with_slash > 0 {
        let find = |slash| targets.iter().find(|target| target.contains('/') == slash).map_or("", String::as_str);
        let (with, without) = (find(true), find(false));
        return wrong(format!(
            "{with:?} and {without:?} cannot be mixed: write TYPE/NAME everywhere, or TYPE NAME NAME"
        ));
    }
    let Some((first, names)) = targets.split_first() else { return Ok(None) };
    let types = types(first)?;
    if names.is_empty() {
        return Ok(None);
    }
    if names.iter().any(String::is_empty) {
        return Err(TargetError::empty_name(&format!("{first} \"\"")));
    }
    let pair = |type_name: &String, name: &String| TypeName { type_name: type_name.clone(), name: name.clone() };
    Ok(Some(types.iter().flat_map(|type_name| names.iter().map(move |name| pair(type_name, name))).collect()))
}

fn type_and_name(target: &str) -> Result<TypeName, TargetError> {
    match target.split('/').collect::<Vec<_>>()[..] {
        ["", _] => Err(TargetError::empty_type(target)),
        [_, ""] => Err(TargetError::empty_name(target)),
        [types, _] if types.contains(',') => {
            wrong(format!("{target:?} has several types before the slash: write TYPE,TYPE NAME"))
        }
        [type_name, name] => Ok(TypeName { type_name: type_name.to_owned(), name: name.to_owned() }),
        _ => wrong(format!("{target:?} has more than one slash: write TYPE/NAME, the namespace with -n")),
    }
}

/// `TYPE,TYPE`, each once.
fn types(text: &str) -> Result<Vec<String>, TargetError> {
    let mut types: Vec<String> = Vec::new();
    for name in text.split(',') {
        if name.is_empty() {
            return Err(TargetError::empty_type(text));
        }
        if !types.iter().any(|known| known == name) {
            types.push(name.to_owned());
        }
    }
    Ok(types)
}
