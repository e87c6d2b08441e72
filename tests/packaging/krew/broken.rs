//! Every rule is tested with a manifest that breaks it, and must report the expected complaint.

use super::{complaints, rendered};

/// A text in the manifest, its replacement (first occurrence only), and the expected complaint.
const BREAKS: &[(&str, &str, &str)] = &[
    ("kind: Plugin", "kind: Plugin\nplugin: gc", "unreadable: unknown field"),
    ("os: linux", "os: [linux", "unreadable"),
    ("v1alpha2", "v1alpha3", "apiVersion is"),
    ("kind: Plugin", "kind: Plugins", "kind is"),
    ("name: gc", "name: gk", "is not in gk.yaml but in gc.yaml"),
    ("name: gc", "name: ''", "no safe name"),
    ("name: gc", "name: ../gc", "no safe name"),
    ("name: gc", "name: nul", "no safe name"),
    ("name: gc", "name: Com1", "no safe name"),
    ("name: gc", "name: GC", "not in kebab-case"),
    ("name: gc", "name: g_c", "not in kebab-case"),
    ("version: v", "version: ", "not a v and a semantic version"),
    ("version: v", "version: v0", "not a v and a semantic version"),
    ("version: v", "version: v1.", "not a v and a semantic version"),
    ("version: v", "version: v1", "is not Cargo's"),
    ("  shortDescription: ", "  caveats: ", "no shortDescription"),
    ("shortDescription: See", "shortDescription: |\n    See", "shortDescription has line breaks"),
    ("shortDescription: See", "shortDescription: A kubectl plugin that makes you see", "more than 50 characters"),
    ("  description: |", "  caveats: |", "no description"),
    ("    Works on", "    Try kubectl gc plan. Works on", "description has examples"),
    ("object, and why: ", "object, and why, and even more than you would think: ", "description is not wrapped"),
    (
        "  platforms:",
        "  caveats: \"\\\n    0123456789012345678901234567890123456789012345678901234567890123456789 \\\n    \
            0123456789\"\n  platforms:",
        "caveats is not wrapped",
    ),
    ("homepage: https://", "homepage: http://", "homepage is"),
    ("homepage: https://", "homepage: # ", "homepage is"),
    ("    uri: https:", "    uri: '' # ", "no uri"),
    ("    uri: https:", "    uri: ftp:", "is not https"),
    (".tar.gz", ".rpm", "is no archive"),
    ("/download/v", "/download/v9", "is not of v"),
    ("/kubectl-gc-v", "/kubectl-gc-v9", "is not of v"),
    ("    sha256: \"1", "    sha256: \"", "is not 64 lower-case"),
    ("    sha256: \"1", "    sha256: \"11", "is not 64 lower-case"),
    ("    sha256: \"1", "    sha256: \"g", "is not 64 lower-case"),
    ("    sha256: \"1", "    sha256: \"A", "is not 64 lower-case"),
    ("    sha256: \"1", "    # \"", "is not 64 lower-case"),
    ("    bin: kubectl-gc\n", "", "no bin"),
    ("    bin: kubectl-gc.exe", "    bin: kubectl-gc", "is no .exe"),
    ("    bin: kubectl-gc\n", "    bin: kubectl_gc\n", "is not among files"),
    ("    - from: kubectl-gc\n", "    - from: ''\n", "no from"),
    ("    - from: kubectl-gc\n", "    - from: ../kubectl-gc\n", "not a clean path inside of the archive"),
    ("      to: .\n", "      to: ''\n", "no to"),
    ("      to: .\n", "      to: ./\n", "not a clean path inside of the plugin"),
    ("      to: .\n", "      to: ./kubectl-gc\n", "not a clean path inside of the plugin"),
    ("      to: .\n", "      to: ../kubectl-gc\n", "not a clean path inside of the plugin"),
    ("      to: .\n", "      to: gc\n", "is not among files"),
    ("    - from: LICENSE\n      to: .\n", "", "the licence is not among files"),
    (
        "    files:\n    - from: kubectl-gc\n      to: .\n    - from: LICENSE\n      to: .\n    - from: \
            THIRD-PARTY-NOTICES.txt\n      to: .\n",
        "    files: []\n",
        "files is empty",
    ),
    ("  - selector:\n      matchLabels:\n        os: linux\n        arch: amd64\n    uri", "  - uri", "no selector"),
    ("      matchLabels:\n        os: linux\n        arch: amd64\n", "      {}\n", "an empty selector"),
    (
        "      matchLabels:\n        os: linux\n        arch: amd64\n",
        "      matchLabels: {}\n",
        "matchLabels without labels",
    ),
    (
        "      matchLabels:\n        os: linux\n        arch: amd64\n",
        "      matchExpressions: []\n",
        "matchExpressions without expressions",
    ),
    ("        arch: amd64", "        cpu: amd64", "a selector cannot be by \"cpu\""),
    (
        "        arch: amd64",
        "        arch: amd64\n      matchExpressions: [{key: libc, operator: Exists}]",
        "cannot be by \"libc\"",
    ),
    ("        arch: amd64", "        arch: x86_64", "selects no platform"),
    ("        os: linux", "        os: macos", "selects no platform"),
    ("        arch: arm64", "        arch: amd64", "platforms overlap in linux/amd64"),
    ("        arch: arm64\n", "", "platforms overlap in linux/amd64"),
    (
        "        arch: amd64",
        "        arch: amd64\n      matchExpressions: [{key: os, operator: NotIn, values: [linux]}]",
        "selects no platform",
    ),
    (
        "      matchLabels:\n        os: windows\n        arch: amd64\n",
        "      matchExpressions: [{key: os, operator: In, values: [windows, darwin]}]\n",
        "platforms overlap in darwin/arm64",
    ),
];

/// The manifest without its caveats, into which a description can then be turned, and with a checksum of ones.
fn without_caveats() -> String {
    let sound = rendered();
    let (head, rest) = sound.split_once("  caveats: |\n").unwrap();
    let (_, platforms) = rest.split_once("  platforms:").unwrap();
    let (before, sum) = platforms.split_once("    sha256: \"").unwrap();
    let ones = "1".repeat(64);
    format!("{head}  platforms:{before}    sha256: \"{ones}{}", &sum[64..])
}

#[test]
fn every_rule_bites() {
    let sound = without_caveats();
    assert_eq!(complaints("gc.yaml", &sound), Vec::<String>::new());
    for (from, to, expected) in BREAKS {
        assert!(sound.contains(from), "nothing to replace: {from:?}");
        let broken = sound.replacen(from, to, 1);
        let complaints = complaints("gc.yaml", &broken);
        assert!(complaints.iter().any(|complaint| complaint.contains(expected)), "{from:?} -> {to:?}: {complaints:?}");
    }
}

#[test]
fn it_needs_platforms() {
    let sound = rendered();
    let (head, _) = sound.split_once("  platforms:").unwrap();
    assert_eq!(complaints("gc.yaml", head), ["no platforms"]);
}

#[test]
fn the_file_has_the_plugins_name() {
    for file in ["krew-manifest.yaml", "gc.yml", "gc", "plugins/gc.yaml"] {
        assert!(
            complaints(file, &rendered()).iter().any(|complaint| complaint.contains("is not in gc.yaml")),
            "{file}"
        );
    }
}

#[test]
fn what_may_be_left_out_may_be_left_out() {
    let sound = rendered();
    let files = "    files:\n    - from: kubectl-gc\n      to: .\n    - from: LICENSE\n      to: .\n    - from: \
            THIRD-PARTY-NOTICES.txt\n      to: .\n";
    assert!(sound.contains(files));
    assert_eq!(complaints("gc.yaml", &sound.replace(files, "")), Vec::<String>::new());
}
