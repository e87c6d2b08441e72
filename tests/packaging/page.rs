//! The template of `-o html` runs its own script and style, and nothing else. `npm test` in the folder `web` compares
//! it with its sources, and tries it in a browser.

use std::{fs, path::Path, process::Command};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use ring::digest::{Context, SHA256, digest};

fn template() -> String {
    fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/src/render/html/page.html")).unwrap()
}

/// What stands between a tag that occurs once, and its end.
fn inside<'a>(page: &'a str, begin: &str, end: &str) -> &'a str {
    assert_eq!(page.matches(begin).count(), 1, "{begin}");
    page.split_once(begin).unwrap().1.split_once(end).unwrap().0
}

fn source(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(digest(&SHA256, text.as_bytes())))
}

#[test]
fn its_policy_allows_its_own_script_and_style_only() {
    let page = template();
    let script = source(inside(&page, "<script>", "</script>"));
    let style = source(inside(&page, "<style>", "</style>"));
    let policy = format!(
        "default-src 'none'; script-src {script}; style-src {style}; img-src data:; base-uri 'none'; \
         form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    );
    assert_eq!(inside(&page, "<meta http-equiv=\"Content-Security-Policy\" content=\"", "\">"), policy);
    // The policy stands before all that it must hold for.
    assert!(page.find("Content-Security-Policy").unwrap() < page.find("<title>").unwrap());
}

#[test]
fn it_has_one_place_for_the_title_the_text_and_the_picture() {
    let page = template();
    assert_eq!(inside(&page, "<title>", "</title>"), "{{TITLE}}");
    assert_eq!(inside(&page, "<script type=\"{{TYPE}}\" id=\"picture\">", "</script>"), "{{PICTURE}}");
    assert_eq!(inside(&page, "<pre id=\"text\">", "</pre>"), "{{TEXT}}");
    assert_eq!(page.matches("{{").count(), 4);
}

#[test]
fn it_names_no_other_place_and_makes_no_markup_of_text() {
    let page = template();
    // The names of XML's namespaces look like addresses.
    let names = page.match_indices("://").filter(|(at, _)| !page[at + 3..].starts_with("www.w3.org/"));
    assert_eq!(names.map(|(at, _)| &page[at.saturating_sub(20)..at + 20]).collect::<Vec<_>>(), [""; 0]);
    for word in ["@import", "url(", "insertAdjacentHTML", "document.write", "new Function", "eval("] {
        let markers = if word == "url(" { page.matches("url(#").count() } else { 0 };
        assert_eq!(page.matches(word).count(), markers, "{word}");
    }
}

/// Every page has it in it, and people mail pages.
#[test]
fn it_is_small() {
    let size = template().len();
    assert!(size <= 27_000, "{size} bytes");
}

/// Who changes its sources makes it again.
#[test]
fn it_is_made_of_its_sources() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("web");
    let sources = fs::read_dir(folder.join("src")).unwrap();
    let mut sources: Vec<String> =
        sources.map(|file| format!("src/{}", file.unwrap().file_name().to_str().unwrap())).collect();
    sources.sort();
    let mut hash = Context::new(&SHA256);
    for name in ["build.mjs", "package-lock.json"].into_iter().chain(sources.iter().map(String::as_str)) {
        hash.update(format!("{name}\n").as_bytes());
        hash.update(&fs::read(folder.join(name)).unwrap());
    }
    let hash: String = hash.finish().as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    let said = format!("<script>/* Sources: SHA-256 {hash} */\n");
    assert!(template().contains(&said), "the page is not what its sources make: npm run build in the folder web");
}

/// Its types, that it is what its sources make, and every feature in a browser.
#[test]
#[ignore = "long: installs packages and drives Chromium"]
fn its_sources_pass_their_own_tests() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/web");
    for args in [&["ci", "--ignore-scripts", "--no-audit", "--no-fund"][..], &["test"]] {
        let ran = Command::new("npm").args(args).current_dir(folder).status().expect("npm runs");
        assert!(ran.success(), "npm {}", args.join(" "));
    }
}
