//! Every dependency has a licence that `deny.toml` allows, comes from crates.io, and is there once, but for the older
//! versions that `deny.toml` names. `cargo deny check` says the same, and reads the advisories where it can.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    process::Command,
};

use semver::Version;
use serde_json::Value;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// The crates of this repository.
const OWN: [&str; 3] = ["kubectl-gc", "kubectl-gc-cluster", "kubectl-gc-core"];

/// The texts of a list in `deny.toml`.
fn list(name: &str) -> BTreeSet<String> {
    let text = fs::read_to_string(Path::new(ROOT).join("deny.toml")).unwrap();
    let begin = format!("\n{name} = [\n");
    let (_, after) = text.split_once(&begin).unwrap_or_else(|| panic!("no list {name}"));
    let lines = after.split_once("\n]").expect("the list ends").0.lines();
    let texts = lines.filter_map(|line| line.trim().strip_prefix('"')?.strip_suffix("\","));
    texts.map(str::to_owned).collect()
}

fn packages() -> Vec<Value> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version=1", "--locked", "--all-features"])
        .current_dir(ROOT)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap().clone();
    assert!(packages.len() > 200, "{}", packages.len());
    packages
}

fn text<'a>(package: &'a Value, field: &str) -> &'a str {
    package[field].as_str().unwrap_or_default()
}

/// Whether an SPDX expression is satisfied by the allowed licences alone: one of each choice, all that are joined.
fn is_allowed(expression: &str, allowed: &BTreeSet<String>) -> bool {
    // An older spelling of a choice.
    let expression = expression.replace(" / ", " OR ").replace('/', " OR ");
    let mut depth = 0;
    let mut parts = vec![String::new()];
    let mut joins = BTreeSet::new();
    for word in expression.replace('(', " ( ").replace(')', " ) ").split_whitespace() {
        match word {
            "OR" | "AND" if depth == 0 => {
                joins.insert(word.to_owned());
                parts.push(String::new());
                continue;
            }
            "(" => depth += 1,
            ")" => depth -= 1,
            _ => {}
        }
        let part = parts.last_mut().unwrap();
        part.push_str(if part.is_empty() { "" } else { " " });
        part.push_str(word);
    }
    if let [part] = &parts[..] {
        return match part.strip_prefix("( ").and_then(|inner| inner.strip_suffix(" )")) {
            Some(inner) => is_allowed(inner, allowed),
            None => allowed.contains(part),
        };
    }
    assert_eq!(joins.len(), 1, "write {expression} with parentheses");
    let mut each = parts.iter().map(|part| is_allowed(part, allowed));
    if joins.contains("AND") { each.all(|it| it) } else { each.any(|it| it) }
}

#[test]
fn every_licence_is_allowed() {
    let allowed = list("allow");
    assert!(allowed.len() > 5, "{allowed:?}");
    for package in packages() {
        let licence = text(&package, "license");
        assert!(is_allowed(licence, &allowed), "{} {licence:?}", package["id"]);
    }
}

#[test]
fn licences_are_read_as_spdx_says() {
    let allowed = ["MIT", "ISC", "Apache-2.0 WITH LLVM-exception"].map(str::to_owned).into();
    for (expression, is) in [
        ("MIT", true),
        ("GPL-3.0", false),
        ("", false),
        ("GPL-3.0 OR MIT", true),
        ("GPL-3.0/MIT", true),
        ("GPL-3.0 AND MIT", false),
        ("ISC AND MIT", true),
        ("(GPL-3.0 OR MIT) AND ISC", true),
        ("(GPL-3.0 AND MIT) OR LGPL-2.1", false),
        ("Apache-2.0 WITH LLVM-exception", true),
        ("Apache-2.0", false),
    ] {
        assert_eq!(is_allowed(expression, &allowed), is, "{expression}");
    }
}

#[test]
fn every_dependency_comes_from_the_registry_and_is_there_once() {
    let mut versions: BTreeMap<String, BTreeSet<Version>> = BTreeMap::new();
    for package in packages() {
        let (name, source) = (text(&package, "name"), text(&package, "source"));
        let is_own = OWN.contains(&name) && package["source"].is_null();
        assert!(is_own || source == "registry+https://github.com/rust-lang/crates.io-index", "{name} {source:?}");
        versions.entry(name.to_owned()).or_default().insert(text(&package, "version").parse().unwrap());
    }
    let mut older = BTreeSet::new();
    for (name, versions) in versions {
        older.extend(versions.iter().rev().skip(1).map(|version| format!("{name}@{version}")));
    }
    assert_eq!(older, list("skip"), "the older versions of dependencies, and skip in deny.toml");
    let lock = fs::read_to_string(Path::new(ROOT).join("Cargo.lock")).unwrap();
    let count = |what: &str| lock.lines().filter(|line| line.starts_with(what)).count();
    assert_eq!(count("checksum = "), count("source = "), "a dependency without a checksum");
}

/// Otherwise, Cargo writes the file anew while the fuzzers are built, with other versions than were tried.
#[test]
fn the_lock_file_of_the_fuzzers_is_up_to_date() {
    let packages = packages();
    let lock = fs::read_to_string(Path::new(ROOT).join("fuzz/Cargo.lock")).unwrap();
    for name in OWN {
        let own = packages.iter().find(|package| text(package, "name") == name).unwrap();
        let dependencies = own["dependencies"].as_array().unwrap().iter();
        let needed: BTreeSet<&str> =
            dependencies.filter(|dependency| dependency["kind"] != "dev").map(|it| text(it, "name")).collect();
        let begin = format!("name = \"{name}\"\n");
        let (_, after) = lock.split_once(&begin).unwrap_or_else(|| panic!("{name} is not in it"));
        let block = after.split_once("\n]").expect("its dependencies end").0;
        let locked: BTreeSet<&str> =
            block.lines().filter_map(|line| line.trim().strip_prefix('"')?.split([' ', '"']).next()).collect();
        assert_eq!(locked, needed, "{name}");
    }
}
