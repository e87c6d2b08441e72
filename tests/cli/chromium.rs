//! Pages of `-o html` for tests: what they know, and a real browser, headless Chromium. Also part of the tests on
//! clusters.

use std::{fs, io::read_to_string, process::Command};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use flate2::read::GzDecoder;
use serde_json::Value;

/// What a page knows.
#[track_caller]
pub fn data(page: &str) -> Value {
    let (before, rest) = page.split_once("\" id=\"picture\">").expect("a picture");
    let (data, _) = rest.split_once("</script>").expect("its end");
    if !before.ends_with("application/gzip") {
        return serde_json::from_str(data).expect("JSON");
    }
    let packed = BASE64_STANDARD.decode(data).expect("base64");
    serde_json::from_str(&read_to_string(GzDecoder::new(&*packed)).expect("gzip")).expect("JSON")
}

/// What stands in a page once its script has run, as markup.
#[track_caller]
pub fn opened(page: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("page.html");
    fs::write(&path, page).unwrap();
    let output = Command::new("chromium")
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync", "--dump-dom"])
        .args(["--virtual-time-budget=600000", "--timeout=600000"])
        .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
        .arg(format!("file://{}", path.display()))
        .output()
        .unwrap_or_else(|error| panic!("chromium: {error}"));
    String::from_utf8_lossy(&output.stdout).into_owned()
}
