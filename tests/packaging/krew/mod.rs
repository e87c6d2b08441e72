//! `krew-manifest.yaml` renders to a manifest that krew accepts.

mod broken;
mod manifest;
mod render;
mod rules;
mod selector;

use std::{collections::BTreeMap, fs};

use self::{
    render::{Release, render},
    rules::complaints,
};

/// The released platforms, with krew's names.
const PLATFORMS: [(&str, &str); 5] =
    [("linux", "amd64"), ("linux", "arm64"), ("darwin", "amd64"), ("darwin", "arm64"), ("windows", "amd64")];

fn template() -> String {
    fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/krew-manifest.yaml")).unwrap()
}

/// The archives of a release of this version. YAML would read most of these checksums as numbers if they weren't
/// quoted.
fn archives() -> BTreeMap<String, String> {
    let name = |(os, arch): (&str, &str)| {
        let ending = if os == "windows" { "zip" } else { "tar.gz" };
        format!("kubectl-gc-v{}-{os}-{arch}.{ending}", env!("CARGO_PKG_VERSION"))
    };
    let sums = [
        "1".repeat(64),
        format!("{}e7", "2".repeat(62)),
        "0".repeat(64),
        format!("0{}", "7".repeat(63)),
        "ab".repeat(32),
    ];
    PLATFORMS.into_iter().map(name).zip(sums).collect()
}

fn rendered() -> String {
    let release = Release {
        version: env!("CARGO_PKG_VERSION"),
        homepage: "https://example.org/kubectl-gc",
        archives: &archives(),
    };
    render(&template(), &release).unwrap()
}

#[test]
fn the_rendered_manifest_keeps_the_rules() {
    assert_eq!(complaints("gc.yaml", &rendered()), Vec::<String>::new());
}

#[test]
fn every_platform_gets_its_own_archive() {
    let manifest = manifest::Manifest::read(&rendered()).unwrap();
    let archives = archives();
    assert_eq!(manifest.spec.platforms.len(), PLATFORMS.len());
    for (os, arch) in PLATFORMS {
        let platforms: Vec<_> = manifest
            .spec
            .platforms
            .iter()
            .filter(|platform| platform.selector.as_ref().unwrap().matches(os, arch))
            .collect();
        let [platform] = platforms[..] else { panic!("{os}/{arch} has {} platforms", platforms.len()) };
        let archive = platform.uri.rsplit('/').next().unwrap();
        assert!(archive.contains(&format!("-{os}-{arch}.")), "{archive}");
        assert_eq!(archives[archive], platform.sha256);
    }
}

#[test]
fn a_release_has_to_be_whole() {
    let archives = archives();
    let try_with = |archives: &BTreeMap<String, String>| {
        render(&template(), &Release { version: env!("CARGO_PKG_VERSION"), homepage: "https://example.org", archives })
    };
    for name in archives.keys() {
        let mut fewer = archives.clone();
        fewer.remove(name);
        assert!(try_with(&fewer).unwrap_err().contains("SHA256_"), "{name}");
    }
    for more in ["kubectl-gc-v9.9.9-linux-amd64.tar.gz", "kubectl-gc.zip", "checksums.txt"] {
        let mut archives = archives.clone();
        archives.insert(more.to_owned(), "0".repeat(64));
        assert!(try_with(&archives).unwrap_err().contains(more), "{more}");
    }
    let mut more = archives;
    more.insert(format!("kubectl-gc-v{}-plan9-amd64.zip", env!("CARGO_PKG_VERSION")), "0".repeat(64));
    assert!(try_with(&more).unwrap_err().contains("plan9"));
}
