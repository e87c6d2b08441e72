//! From arguments to a query, as the resource builder of kubectl's cli-runtime does it.

use super::{FieldSelector, Form, LabelSelector, Selection, TargetError, TargetQuery, TargetWords, TypeName, manifest};

impl TargetQuery {
    /// Parses the arguments, and reads the manifests of `-f`; `None` if they name no target.
    pub fn parse(args: &TargetWords) -> Result<Option<TargetQuery>, TargetError> {
        // As in kubectl, an empty selector selects nothing: an unset variable must not mean "all".
        let labels = given(args.selector.as_deref());
        let fields = given(args.field_selector.as_deref());
        let flag = if labels.is_some() { Some("-l") } else { fields.map(|_| "--field-selector") };
        if let Some(flag) = flag
            && args.all
        {
            return Err(TargetError::AllAndSelector { flag });
        }
        if !args.filenames.is_empty() || args.kustomize.is_some() {
            if let Some(flag) = flag.or(args.all.then_some("--all")) {
                return Err(TargetError::ManifestAndSelector { flag });
            }
            if let Some(target) = args.targets.first() {
                return Err(TargetError::ManifestAndTarget { target: target.clone() });
            }
            let entries = match &args.kustomize {
                Some(folder) => manifest::kustomized(folder)?,
                None => manifest::read(&args.filenames, args.recursive)?,
            };
            return Ok(Some(TargetQuery { form: Form::Manifests(entries) }));
        }
        let Some(first) = args.targets.first() else {
            return flag.map_or(Ok(None), |flag| Err(TargetError::SelectorWithoutType { flag }));
        };
        let names = names(&args.targets)?;
        let flag = flag.or(args.all.then_some("--all"));
        let form = match (names, flag) {
            (Some(names), None) => Form::Named(names),
            (Some(names), Some(flag)) => {
                return Err(TargetError::NameAndSelector {
                    flag,
                    name: names.first().map(|name| name.name.clone()).unwrap_or_default(),
                });
            }
            (None, None) if args.type_alone => {
                Form::Selected { types: types(first)?, selection: Selection { labels: None, fields: None } }
            }
            (None, None) => return Err(TargetError::NoName { types: first.clone() }),
            (None, Some(_)) => Form::Selected {
                types: types(first)?,
                selection: Selection {
                    labels: labels.map(LabelSelector::parse).transpose()?,
                    fields: fields.map(FieldSelector::parse).transpose()?,
                },
            },
        };
        Ok(Some(TargetQuery { form }))
    }
}

fn given(text: Option<&str>) -> Option<&str> {
    text.map(str::trim).filter(|text| !text.is_empty())
}

/// The objects that the arguments name; `None` if they are a type alone.
pub(super) fn names(targets: &[String]) -> Result<Option<Vec<TypeName>>, TargetError> {
    let with_slash = targets.iter().filter(|target| target.contains('/')).count();
    if with_slash == targets.len() {
        return targets.iter().map(|target| type_and_name(target)).collect::<Result<_, _>>().map(Some);
    }
    if with_slash > 0 {
        let find = |slash| targets.iter().find(|target| target.contains('/') == slash).cloned().unwrap_or_default();
        return Err(TargetError::Mixed { with_slash: find(true), without: find(false) });
    }
    let Some((first, names)) = targets.split_first() else { return Ok(None) };
    let types = types(first)?;
    if names.is_empty() {
        return Ok(None);
    }
    if names.iter().any(String::is_empty) {
        return Err(TargetError::EmptyName { target: format!("{first} \"\"") });
    }
    let pair = |type_name: &String, name: &String| TypeName { type_name: type_name.clone(), name: name.clone() };
    Ok(Some(types.iter().flat_map(|type_name| names.iter().map(move |name| pair(type_name, name))).collect()))
}

pub(super) fn type_and_name(target: &str) -> Result<TypeName, TargetError> {
    let target = target.to_owned();
    match target.split('/').collect::<Vec<_>>()[..] {
        ["", _] => Err(TargetError::EmptyType { target }),
        [_, ""] => Err(TargetError::EmptyName { target }),
        [types, _] if types.contains(',') => Err(TargetError::SeveralTypes { target }),
        [type_name, name] => Ok(TypeName { type_name: type_name.to_owned(), name: name.to_owned() }),
        _ => Err(TargetError::TwoSlashes { target }),
    }
}

/// `TYPE,TYPE`, each once.
pub(super) fn types(text: &str) -> Result<Vec<String>, TargetError> {
    let mut types: Vec<String> = Vec::new();
    for name in text.split(',') {
        if name.is_empty() {
            return Err(TargetError::EmptyType { target: text.to_owned() });
        }
        if !types.iter().any(|known| known == name) {
            types.push(name.to_owned());
        }
    }
    Ok(types)
}
