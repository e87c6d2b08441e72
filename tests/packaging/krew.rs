//! `scripts/release` makes krew's manifest of `krew-manifest.yaml`. The release workflow runs krew's own validator on
//! it; here stands what that doesn't know: that each platform gets its own archive, and what the index's reviewers ask
//! for.

use std::collections::BTreeMap;

use serde_yaml::Value;

use super::release::{finish, made_up, script};

/// The released platforms, with krew's names.
pub const PLATFORMS: [(&str, &str); 6] = [
    ("linux", "amd64"),
    ("linux", "arm64"),
    ("darwin", "amd64"),
    ("darwin", "arm64"),
    ("windows", "amd64"),
    ("windows", "arm64"),
];

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("not a text: {value:?}"))
}

/// Whether the manifest has these platforms, each with its own archive of this version.
#[track_caller]
fn has_platforms(manifest: &str, platforms: &[(&str, &str)], archives: &BTreeMap<String, String>) {
    let read: Value = serde_yaml::from_str(manifest).unwrap();
    let version = concat!("v", env!("CARGO_PKG_VERSION"));
    assert_eq!(read["spec"]["version"], version);
    let listed = read["spec"]["platforms"].as_sequence().unwrap();
    let selected = |entry: &Value| ["os", "arch"].map(|key| text(&entry["selector"]["matchLabels"][key]).to_owned());
    let expected: Vec<_> = platforms.iter().map(|(os, arch)| [*os, *arch].map(str::to_owned)).collect();
    assert_eq!(listed.iter().map(selected).collect::<Vec<_>>(), expected);
    for entry in listed {
        let [os, arch] = selected(entry);
        let (address, archive) = text(&entry["uri"]).rsplit_once('/').unwrap();
        assert!(address.starts_with("https://") && address.ends_with(version), "{address}");
        assert!(archive.contains(&format!("-{version}-{os}-{arch}.")), "{archive}");
        assert_eq!(text(&entry["sha256"]), archives[archive], "{archive}");
        let files: Vec<&str> = entry["files"].as_sequence().unwrap().iter().map(|file| text(&file["from"])).collect();
        assert!(files.contains(&text(&entry["bin"])) && files.contains(&"LICENSE"), "{files:?}");
        assert_eq!(text(&entry["bin"]).ends_with(".exe"), os == "windows");
    }
}

#[test]
fn every_platform_gets_its_own_archive() {
    let folder = tempfile::tempdir().unwrap();
    let archives = made_up(folder.path(), &PLATFORMS);
    finish(folder.path());
    let manifest = std::fs::read_to_string(folder.path().join("gc.yaml")).unwrap();
    has_platforms(&manifest, &PLATFORMS, &archives);
    // YAML reads a checksum such as 1234…e7 as a number.
    assert_eq!(manifest.matches("\n    sha256: \"").count(), PLATFORMS.len());
    let read: Value = serde_yaml::from_str(&manifest).unwrap();
    let [short, description, caveats] =
        ["shortDescription", "description", "caveats"].map(|key| text(&read["spec"][key]));
    assert!(!short.contains('\n') && (1..=50).contains(&short.chars().count()), "{short}");
    assert!(!description.contains("kubectl gc"), "no examples: {description}");
    let is_wrapped = |text: &str| text.lines().all(|line| line.chars().count() <= 80);
    assert!(is_wrapped(description) && is_wrapped(caveats), "{description}{caveats}");
}

/// A machine builds some of the platforms: their manifest can be tried there.
#[test]
fn a_manifest_of_some_platforms_has_these() {
    let folder = tempfile::tempdir().unwrap();
    let archives = made_up(folder.path(), &PLATFORMS[..2]);
    assert!(!script(folder.path(), &["--finish"]).status.success(), "a release of two platforms is not whole");
    let manifest = std::fs::read_to_string(folder.path().join("gc.yaml")).unwrap();
    has_platforms(&manifest, &PLATFORMS[..2], &archives);
}
