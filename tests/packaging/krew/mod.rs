//! `.krew.yaml` renders to a manifest that krew accepts.

mod broken;
mod manifest;
mod rules;
mod selector;

use std::sync::LazyLock;

use super::release::{finish, made_up};

use self::rules::complaints;

/// The manifest of a whole release.
fn rendered() -> String {
    static RENDERED: LazyLock<String> = LazyLock::new(|| {
        let folder = tempfile::tempdir().unwrap();
        made_up(folder.path(), &PLATFORMS);
        finish(folder.path());
        std::fs::read_to_string(folder.path().join("gc.yaml")).unwrap()
    });
    RENDERED.clone()
}

/// The released platforms, with krew's names.
pub const PLATFORMS: [(&str, &str); 6] = [
    ("linux", "amd64"),
    ("linux", "arm64"),
    ("darwin", "amd64"),
    ("darwin", "arm64"),
    ("windows", "amd64"),
    ("windows", "arm64"),
];

#[test]
fn the_rendered_manifest_keeps_the_rules() {
    assert_eq!(complaints("gc.yaml", &rendered()), Vec::<String>::new());
}

#[test]
fn every_platform_gets_its_own_archive() {
    let folder = tempfile::tempdir().unwrap();
    let archives = made_up(folder.path(), &PLATFORMS);
    finish(folder.path());
    let text = std::fs::read_to_string(folder.path().join("gc.yaml")).unwrap();
    let manifest = manifest::Manifest::read(&text).unwrap();
    assert_eq!(manifest.spec.platforms.len(), PLATFORMS.len());
    // YAML reads a checksum such as 1234…e7 as a number.
    assert_eq!(text.matches("\n    sha256: \"").count(), PLATFORMS.len());
    for (os, arch) in PLATFORMS {
        let selected = |platform: &&manifest::Platform| platform.selector.as_ref().unwrap().matches(os, arch);
        let platforms: Vec<_> = manifest.spec.platforms.iter().filter(selected).collect();
        let [platform] = platforms[..] else { panic!("{os}/{arch} has {} platforms", platforms.len()) };
        let archive = platform.uri.rsplit('/').next().unwrap();
        assert!(archive.contains(&format!("-{os}-{arch}.")), "{archive}");
        assert_eq!(archives[archive], platform.sha256);
    }
}

/// A machine builds some of the platforms: their manifest can be tried there.
#[test]
fn a_manifest_of_some_platforms_keeps_the_rules() {
    let folder = tempfile::tempdir().unwrap();
    made_up(folder.path(), &PLATFORMS[..2]);
    let told = super::release::script(folder.path(), &["--finish"]);
    assert!(!told.status.success(), "a release of two platforms is not whole");
    let text = std::fs::read_to_string(folder.path().join("gc.yaml")).unwrap();
    assert_eq!(complaints("gc.yaml", &text), Vec::<String>::new());
    assert_eq!(manifest::Manifest::read(&text).unwrap().spec.platforms.len(), 2);
}
