//! What is known of operators: one entry for each in `operators.json`. Who adds an operator writes its entry.
//!
//! The types of an entry's parts stand where they are asked. Of what matches, the first counts, in the file's order.

use std::sync::LazyLock;

use serde::{Deserialize, Deserializer, de::IgnoredAny};

use super::{
    add_ons::AddOn,
    finalizers::KnownFinalizer,
    guards::Guard,
    named::{KnownKey, KnownNeed},
    pauses::Pausable,
    policies::Setting,
    users::{CreatedFirst, KnownUsers},
};

/// An entry of the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Operator {
    /// It stands for who has none of its own.
    name: &'static str,
    #[serde(default)]
    controllers: Vec<AddOn>,
    #[serde(default)]
    finalizers: Vec<KnownFinalizer>,
    #[serde(default)]
    policies: Vec<Setting>,
    #[serde(default)]
    pauses: Vec<Pausable>,
    #[serde(default)]
    kept_by: Vec<KnownUsers>,
    #[serde(default)]
    creates_first: Vec<CreatedFirst>,
    #[serde(default)]
    needs: Vec<KnownNeed>,
    #[serde(default)]
    needed_keys: Vec<KnownKey>,
    #[serde(default)]
    guards: Vec<Guard>,
}

/// What is known of all operators, by what is asked.
#[derive(Default)]
pub(super) struct Operators {
    pub add_ons: Vec<AddOn>,
    pub finalizers: Vec<KnownFinalizer>,
    pub policies: Vec<Setting>,
    pub pauses: Vec<Pausable>,
    pub kept_by: Vec<KnownUsers>,
    pub creates_first: Vec<CreatedFirst>,
    pub needs: Vec<KnownNeed>,
    pub needed_keys: Vec<KnownKey>,
    pub guards: Vec<Guard>,
}

const FILE: &str = include_str!("operators.json");

/// All of the file, read when it is asked for the first time.
pub(super) static OPERATORS: LazyLock<Operators> = LazyLock::new(|| {
    let entries: Vec<Operator> = serde_json::from_str(FILE).expect("a test of this file parses it");
    let mut all = Operators::default();
    for mut of in entries {
        let names = of.controllers.iter_mut().map(|it| &mut it.name);
        let names = names.chain(of.finalizers.iter_mut().map(|it| &mut it.by));
        names.filter(|name| name.is_empty()).for_each(|name| *name = of.name);
        all.add_ons.extend(of.controllers);
        all.finalizers.extend(of.finalizers);
        all.policies.extend(of.policies);
        all.pauses.extend(of.pauses);
        all.kept_by.extend(of.kept_by);
        all.creates_first.extend(of.creates_first);
        all.needs.extend(of.needs);
        all.needed_keys.extend(of.needed_keys);
        all.guards.extend(of.guards);
    }
    all
});

/// A group, empty for the core's, and a kind.
pub(super) type Kind = (&'static str, &'static str);

/// Reads `apps/Deployment` and `Secret`.
pub(super) fn kinds<'de: 'static, D: Deserializer<'de>>(from: D) -> Result<Vec<Kind>, D::Error> {
    let kinds = Vec::<&'static str>::deserialize(from)?;
    Ok(kinds.into_iter().map(split).collect())
}

/// Reads one of these.
pub(super) fn kind<'de: 'static, D: Deserializer<'de>>(from: D) -> Result<Kind, D::Error> {
    <&'static str>::deserialize(from).map(split)
}

fn split(kind: &'static str) -> Kind {
    kind.split_once('/').unwrap_or(("", kind))
}

/// Where something is documented, or what else a reader of the file should know: nothing asks for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Remark;

impl<'de> Deserialize<'de> for Remark {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(from).map(|_| Remark)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;

    fn entries() -> Vec<Value> {
        serde_json::from_str(FILE).unwrap()
    }

    #[test]
    fn the_file_is_read_strictly() {
        let refused = |entry: &'static str| serde_json::from_str::<Operator>(entry).is_err();
        assert!(!refused(r#"{"name": "Acme", "controllers": [{"domains": ["acme.io"]}]}"#));
        assert!(refused(r#"{"name": "Acme", "controlers": []}"#));
        assert!(refused(r#"{"name": "Acme", "controllers": [{"domain": "acme.io"}]}"#));
        assert!(refused(r#"{"name": "Acme", "controllers": [], "controllers": []}"#));
        assert!(refused(r#"{"name": "Acme", "finalizers": [{"finalizer": "acme.io/x", "does": "nothing"}]}"#));
        assert!(!OPERATORS.add_ons.is_empty() && !OPERATORS.finalizers.is_empty());
    }

    #[test]
    fn each_operator_has_one_entry_that_says_something() {
        let mut names = BTreeSet::new();
        for entry in entries() {
            let name = entry["name"].as_str().unwrap().to_owned();
            assert!(!name.is_empty() && names.insert(name), "{}", entry["name"]);
            assert!(entry.as_object().unwrap().len() > 1, "{} is empty", entry["name"]);
            for (part, rows) in entry.as_object().unwrap().iter().filter(|(part, _)| *part != "name") {
                let rows = rows.as_array().unwrap();
                assert!(!rows.is_empty(), "{}: {part} is empty", entry["name"]);
                let others = |row: &Value| rows.iter().filter(|other| *other == row).count();
                assert!(rows.iter().all(|row| others(row) == 1), "{}: {part} has a row twice", entry["name"]);
                for row in rows.iter().filter_map(Value::as_object) {
                    // What a setting is to be may well be false or empty.
                    let values = row.iter().filter(|(key, _)| *key != "keep").map(|(_, value)| value);
                    let is_empty =
                        |value: &Value| [Value::from(""), Value::Array(Vec::new()), false.into()].contains(value);
                    assert!(!values.clone().any(is_empty), "{}: {row:?} says what is so without it", entry["name"]);
                }
            }
        }
    }

    #[test]
    fn what_is_documented_names_a_file_or_a_page() {
        let rows = entries().into_iter().flat_map(|entry| entry.as_object().unwrap().clone());
        for row in rows.filter_map(|(_, rows)| rows.as_array().cloned()).flatten() {
            let sources = row["source"].as_array().cloned().unwrap_or_else(|| vec![row["source"].clone()]);
            for source in sources.iter().filter_map(Value::as_str) {
                let parts = if row.get("says").is_some() { 3 } else { 2 };
                let cited = source.starts_with("https://") || source.split(['/', ' ']).count() >= parts;
                assert!(cited, "{source}");
            }
            assert!(row["source"] != Value::Null || row.get("finalizer").is_none(), "{row}: says who?");
        }
    }

    #[test]
    fn each_finalizer_stands_once() {
        let mut found = BTreeSet::new();
        for known in &OPERATORS.finalizers {
            let kinds = if known.on.is_empty() { &[("", "")][..] } else { &known.on };
            for kind in kinds {
                assert!(found.insert((known.finalizer, *kind)), "{} on {kind:?}", known.finalizer);
            }
        }
    }
}
