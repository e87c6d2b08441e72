//! krew's rules: those that krew checks when it reads a manifest (validation.ValidatePlugin), those of
//! validate-krew-manifest, which every change of the index has to pass, those of krew's installer, and the requirements
//! of the index's reviewers (plugin manifest, naming guide, new plugins).

use super::{
    manifest::{Manifest, Platform, Spec},
    selector::SUPPORTED,
};

/// Device names that Windows reserves, in addition to COM1 to COM9 and LPT1 to LPT9.
const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];

/// What is wrong with a manifest in a file of this name.
pub fn complaints(file: &str, text: &str) -> Vec<String> {
    let manifest = match Manifest::read(text) {
        Ok(manifest) => manifest,
        Err(error) => return vec![format!("unreadable: {error}")],
    };
    let mut complaints = Vec::new();
    let mut rule = |holds: bool, complaint: String| {
        if !holds {
            complaints.push(complaint);
        }
    };
    let (api_version, name) = (&manifest.api_version, &manifest.metadata.name);
    rule(api_version == "krew.googlecontainertools.github.com/v1alpha2", format!("apiVersion is {api_version:?}"));
    rule(manifest.kind == "Plugin", format!("kind is {:?}", manifest.kind));
    rule(safe_name(name), format!("{name:?} is no safe name"));
    rule(kebab_case(name), format!("{name:?} is not in kebab-case"));
    rule(file.strip_suffix(".yaml") == Some(name), format!("{name:?} is not in {name}.yaml but in {file}"));
    words(&manifest.spec, &mut rule);
    version(&manifest.spec.version, &mut rule);
    let platforms = &manifest.spec.platforms;
    rule(!platforms.is_empty(), "no platforms".to_owned());
    for platform in platforms {
        self::platform(platform, &manifest.spec.version, &mut rule);
    }
    for (os, arch) in SUPPORTED {
        let selects =
            |platform: &&Platform| platform.selector.as_ref().is_some_and(|selector| selector.matches(os, arch));
        rule(platforms.iter().filter(selects).count() <= 1, format!("platforms overlap in {os}/{arch}"));
    }
    complaints
}

type Rule<'a> = dyn FnMut(bool, String) + 'a;

fn words(spec: &Spec, rule: &mut Rule<'_>) {
    let short = &spec.short_description;
    rule(!short.trim().is_empty(), "no shortDescription".to_owned());
    rule(!short.contains(['\r', '\n']), "shortDescription has line breaks".to_owned());
    rule(short.chars().count() <= 50, "shortDescription has more than 50 characters".to_owned());
    rule(!spec.description.trim().is_empty(), "no description".to_owned());
    rule(!spec.description.contains("kubectl gc"), "description has examples".to_owned());
    for (field, text) in [("description", &spec.description), ("caveats", &spec.caveats)] {
        let fits = |line: &str| line.chars().count() <= 80 || !line.trim().contains(' ');
        rule(text.lines().all(fits), format!("{field} is not wrapped at 80 columns"));
    }
    let page = spec.homepage.strip_prefix("https://").unwrap_or_default();
    rule(page.contains('.') && !page.contains(char::is_whitespace), format!("homepage is {:?}", spec.homepage));
}

fn version(version: &str, rule: &mut Rule<'_>) {
    let semantic = version.strip_prefix('v').is_some_and(|version| semver::Version::parse(version).is_ok());
    rule(semantic, format!("version {version:?} is not a v and a semantic version"));
    let cargo = concat!("v", env!("CARGO_PKG_VERSION"));
    rule(version == cargo, format!("version {version:?} is not Cargo's, {cargo}"));
}

fn platform(platform: &Platform, version: &str, rule: &mut Rule<'_>) {
    let uri = &platform.uri;
    rule(!uri.is_empty(), "no uri".to_owned());
    rule(uri.starts_with("https://"), format!("uri {uri:?} is not https"));
    rule(uri.ends_with(".tar.gz") || uri.ends_with(".zip"), format!("uri {uri:?} is no archive"));
    let of_version = uri.contains(&format!("/{version}/")) && uri.contains(&format!("-{version}-"));
    rule(of_version, format!("uri {uri:?} is not of {version}"));
    let hex = |c: char| matches!(c, '0'..='9' | 'a'..='f');
    let sha256 = &platform.sha256;
    rule(
        sha256.len() == 64 && sha256.chars().all(hex),
        format!("sha256 {sha256:?} is not 64 lower-case hexadecimal digits"),
    );
    match &platform.selector {
        None => rule(false, "no selector".to_owned()),
        Some(selector) => {
            let complaint = selector.complaint();
            rule(complaint.is_none(), complaint.unwrap_or_default());
        }
    }
    files(platform, rule);
}

fn files(platform: &Platform, rule: &mut Rule<'_>) {
    let bin = &platform.bin;
    rule(!bin.is_empty(), "no bin".to_owned());
    let windows = platform.selector.as_ref().is_some_and(|selector| selector.matches("windows", "amd64"));
    rule(!windows || bin.ends_with(".exe"), format!("bin {bin:?} is no .exe"));
    // Without `files`, krew installs the whole archive, whose content is unknown here.
    let Some(files) = &platform.files else { return };
    rule(!files.is_empty(), "files is empty".to_owned());
    for file in files {
        rule(!file.from.is_empty(), "no from".to_owned());
        rule(!file.to.is_empty(), "no to".to_owned());
        rule(file.to == "." || clean(&file.to), format!("to {:?} is not a clean path inside of the plugin", file.to));
        rule(clean(&file.from), format!("from {:?} is not a clean path inside of the archive", file.from));
    }
    rule(files.iter().any(|file| file.installed() == bin), format!("bin {bin:?} is not among files"));
    let licence = files.iter().any(|file| file.installed().eq_ignore_ascii_case("license"));
    rule(licence, "the licence is not among files".to_owned());
}

fn safe_name(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let port = lower.strip_prefix("com").or(lower.strip_prefix("lpt"));
    let device = DEVICES.contains(&lower.as_str()) || port.is_some_and(|port| matches!(port.as_bytes(), [b'1'..=b'9']));
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-') && !device
}

fn kebab_case(name: &str) -> bool {
    name.split('-').all(|word| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit()))
}

/// Whether Go's filepath.Clean would leave the path unchanged, and it stays inside its folder.
fn clean(path: &str) -> bool {
    path.split('/').all(|part| !["", ".", ".."].contains(&part))
}
