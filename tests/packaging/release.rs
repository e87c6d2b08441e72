//! `scripts/release` makes archives of all that belongs into them, and the files that name platforms and versions agree
//! with it. No release is built here: something small is packed as the program.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    process::{Command, Output},
};

use kubectl_gc::cli::completion::man_pages;
use sha2::{Digest as _, Sha256};

use super::krew::PLATFORMS;

const VERSION: &str = env!("CARGO_PKG_VERSION");

fn repository(file: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file))
        .unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// Runs the script; python3 is needed for that.
pub fn script(dist: &Path, args: &[&str]) -> Output {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/release");
    let homepage = "https://example.org/kubectl-gc";
    let mut command = Command::new(script);
    command.args(args).arg("--dist").arg(dist).args(["--homepage", homepage]).env("SOURCE_DATE_EPOCH", "1700000000");
    command.output().expect("scripts/release runs: it needs python3 (3.11 or newer)")
}

/// Finishes a whole release.
pub fn finish(dist: &Path) {
    let ran = script(dist, &["--finish"]);
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}

fn digest(content: &[u8]) -> String {
    Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Writes made-up archives of these platforms, and returns their checksums by name.
pub fn made_up(dist: &Path, platforms: &[(&str, &str)]) -> BTreeMap<String, String> {
    let archive = |(os, arch): &(&str, &str)| {
        let ending = if *os == "windows" { "zip" } else { "tar.gz" };
        let name = format!("kubectl-gc-v{VERSION}-{os}-{arch}.{ending}");
        fs::write(dist.join(&name), name.as_bytes()).unwrap();
        (name.clone(), digest(name.as_bytes()))
    };
    platforms.iter().map(archive).collect()
}

#[test]
fn checksums_are_of_every_archive() {
    let folder = tempfile::tempdir().unwrap();
    let archives = made_up(folder.path(), &PLATFORMS);
    finish(folder.path());
    let sums = fs::read_to_string(folder.path().join("SHA256SUMS")).unwrap();
    let read: BTreeMap<String, String> = sums
        .lines()
        .map(|line| line.split_once("  ").unwrap())
        .map(|(sum, file)| (file.to_owned(), sum.to_owned()))
        .collect();
    assert_eq!(read, archives);
}

/// The files of a tar archive, with their modes.
fn unpacked(archive: &Path, into: &Path) -> BTreeSet<String> {
    let ran = Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(into).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let ran = Command::new("tar").arg("-tzf").arg(archive).output().unwrap();
    String::from_utf8(ran.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn an_archive_has_the_program_its_licences_and_its_manuals() {
    let program = tempfile::NamedTempFile::new().unwrap();
    fs::write(&program, "#!/bin/sh\necho it runs\n").unwrap();
    // The script would have cargo make them, and compile again what cargo has compiled for the tests.
    let pages = tempfile::tempdir().unwrap();
    for (name, page) in man_pages() {
        fs::write(pages.path().join(name), page).unwrap();
    }
    let pack = |dist: &Path| {
        let (program, pages) = (program.path().to_str().unwrap(), pages.path().to_str().unwrap());
        let ran = script(dist, &["linux-amd64", "--binary", program, "--man-pages", pages]);
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        dist.join(format!("kubectl-gc-v{VERSION}-linux-amd64.tar.gz"))
    };
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (archive, again) = (pack(first.path()), pack(second.path()));
    assert!(fs::read(&archive).unwrap() == fs::read(again).unwrap(), "two archives of the same differ");

    let into = tempfile::tempdir().unwrap();
    let files = unpacked(&archive, into.path());
    let ran = Command::new(into.path().join("kubectl-gc")).output().unwrap();
    assert_eq!(String::from_utf8(ran.stdout).unwrap(), "it runs\n");
    for file in ["LICENSE", "README.md", "CHANGELOG.md", "completions/kubectl-gc.bash", "man/man1/kubectl-gc.1"] {
        assert!(files.contains(file), "{file} in {files:?}");
    }
    for command in ["plan", "delete", "restore", "sweep", "doctor"] {
        let page = format!("man/man1/kubectl-gc-{command}.1");
        assert!(files.contains(&page), "{page} in {files:?}");
    }

    let notices = fs::read_to_string(into.path().join("THIRD-PARTY-NOTICES.txt")).unwrap();
    let sbom = fs::read(first.path().join(format!("kubectl-gc-v{VERSION}-linux-amd64.cdx.json"))).unwrap();
    let sbom: serde_json::Value = serde_json::from_slice(&sbom).unwrap();
    assert_eq!((&sbom["bomFormat"], &sbom["specVersion"]), (&"CycloneDX".into(), &"1.5".into()));
    let components = sbom["components"].as_array().unwrap();
    let named: BTreeSet<&str> = components.iter().map(|component| component["name"].as_str().unwrap()).collect();
    for name in ["kube", "ring", "rustls", "clap", "petgraph", "mimalloc", "libmimalloc-sys", "glob"] {
        assert!(named.contains(name), "{name} in the SBOM");
    }
    // What only tests and builds need is not in the program.
    for name in ["proptest", "insta", "cc", "syn"] {
        assert!(!named.contains(name), "{name} in the SBOM");
    }
    for component in components {
        let title = format!("{} {} (", component["name"].as_str().unwrap(), component["version"].as_str().unwrap());
        assert!(notices.contains(&format!("\n{title}")), "{title}…) in the notices");
        assert!(component["hashes"][0]["content"].as_str().is_some_and(|sum| sum.len() == 64), "{title}");
    }
    for text in ["Permission is hereby granted, free of charge", "Apache License", "musl", "Microsoft Corporation"] {
        assert!(notices.contains(text), "{text:?} in the notices");
    }
}

#[test]
fn what_cannot_be_built_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let foreign = if cfg!(target_os = "macos") { "windows-arm64" } else { "darwin-arm64" };
    let ran = script(folder.path(), &[foreign]);
    let told = String::from_utf8(ran.stderr).unwrap();
    assert!(!ran.status.success() && told.contains(&format!("not {foreign}: only ")), "{told}");
    let ran = script(folder.path(), &["linux-sparc"]);
    let told = String::from_utf8(ran.stderr).unwrap();
    assert!(!ran.status.success() && told.contains("there is no platform linux-sparc"), "{told}");
}

/// The script's platforms, those of krew's manifest and those of `cargo binstall` are the same.
#[test]
fn every_file_names_the_same_platforms() {
    let folder = tempfile::tempdir().unwrap();
    let told = script(folder.path(), &["--platforms"]).stdout;
    let told: Vec<BTreeMap<String, String>> = serde_json::from_slice(&told).unwrap();
    let expected: BTreeSet<String> = PLATFORMS.iter().map(|(os, arch)| format!("{os}-{arch}")).collect();
    let platforms: BTreeSet<String> = told.iter().map(|row| row["platform"].clone()).collect();
    assert_eq!(platforms, expected);

    let cargo = repository("Cargo.toml");
    for row in &told {
        let ending = if row["platform"].starts_with("windows") { "zip" } else { "tar.gz" };
        let expected = format!(
            "[package.metadata.binstall.overrides.{}]\npkg-url = \"{{ repo }}/releases/download/v{{ version }}/{{ name \
                }}-v{{ version }}-{}.{ending}\"",
            row["target"], row["platform"]
        );
        assert!(cargo.contains(&expected), "{expected}");
    }
}

/// The workflow builds what the script names, with the script, and publishes what that writes.
#[test]
fn the_workflow_runs_the_script() {
    let workflow: serde_yaml::Value = serde_yaml::from_str(&repository(".github/workflows/release.yaml")).unwrap();
    let jobs = &workflow["jobs"];
    assert_eq!(jobs["build"]["strategy"]["matrix"]["include"], "${{ fromJSON(needs.platforms.outputs.platforms) }}");
    let steps = |job: &str| {
        let steps = jobs[job]["steps"].as_sequence().unwrap().iter();
        steps.filter_map(|step| step["run"].as_str()).collect::<Vec<_>>().join("\n")
    };
    assert!(steps("platforms").contains("scripts/release --platforms"));
    assert!(steps("build").contains("scripts/release \"${{ matrix.platform }}\""));
    assert!(steps("publish").contains("scripts/release --finish"));
    assert_eq!(jobs["publish"]["permissions"]["attestations"], "write");
    for file in ["test", "release"] {
        let text = repository(&format!(".github/workflows/{file}.yaml"));
        let workflow: serde_yaml::Value = serde_yaml::from_str(&text).unwrap();
        assert_eq!(workflow["env"]["RUST"].as_str(), Some(env!("CARGO_PKG_RUST_VERSION")), "{file}");
        assert_eq!(workflow["permissions"]["contents"], "read", "{file}");
    }
}

#[test]
fn every_file_names_this_version() {
    assert!(repository("CHANGELOG.md").contains(&format!("\n## {VERSION}\n")));
    assert!(repository("docs/install.md").contains(&format!("kubectl-gc-v{VERSION}-linux-amd64.tar.gz")));
    assert!(repository("Dockerfile").contains(&format!("--tag kubectl-gc:{VERSION} ")));
    assert!(repository("README.md").contains(concat!("Rust ", env!("CARGO_PKG_RUST_VERSION"))));
}

/// The image of the example holds the program where the example looks for it, and runs as the same user.
#[test]
fn the_image_is_the_examples() {
    let (dockerfile, example) = (repository("Dockerfile"), repository("examples/sweep-in-cluster.yaml"));
    assert!(dockerfile.contains("\nFROM scratch\n"));
    assert!(dockerfile.contains("/kubectl-gc /kubectl-gc\n") && example.contains("command: [\"/kubectl-gc\"]"));
    assert!(dockerfile.contains("\nUSER 65532:65532\n") && example.contains("runAsUser: 65532\n"));
}
