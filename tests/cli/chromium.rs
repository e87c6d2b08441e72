//! A real browser for tests: headless Chromium. Also part of the tests on clusters.

use std::{fs, process::Command};

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
