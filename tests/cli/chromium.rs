//! Pages of `-o html` for tests: what they know, and a real browser, headless Chromium. Also part of the tests on
//! clusters.

use std::{fs, io::read_to_string, process::Command};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use flate2::read::GzDecoder;
use serde_json::{Value, json};

/// What a page knows: its columns as objects.
#[track_caller]
pub fn data(page: &str) -> Value {
    let (before, rest) = page.split_once("\" id=\"picture\">").expect("a picture");
    let (data, _) = rest.split_once("</script>").expect("its end");
    let data: Value = if before.ends_with("application/gzip") {
        let packed = BASE64_STANDARD.decode(data).expect("base64");
        serde_json::from_str(&read_to_string(GzDecoder::new(&*packed)).expect("gzip")).expect("JSON")
    } else {
        serde_json::from_str(data).expect("JSON")
    };
    let number = |column: &Value, at: usize| column[at].as_u64().expect("a number") as usize;
    let list = |value: &Value| value.as_array().expect("a list").clone();
    let text = |column: &Value, at: usize| data["texts"][number(column, at)].clone();
    let objects = &data["objects"];
    let names = list(&objects["name"]);
    let fate = |number: usize| data["states"][number]["name"].clone();
    let row = |rows: &Value, at: usize| {
        let object = number(&rows["object"], at).checked_sub(1);
        let own = object.map(|object| {
            let kind = text(&objects["kind"], object);
            format!("{}/{}", kind.as_str().expect("a kind"), names[object].as_str().expect("a name"))
        });
        let title = own.filter(|_| number(&rows["title"], at) == 0);
        json!({
            "object": object,
            "title": title.map_or_else(|| text(&rows["title"], at), Value::from),
            "fate": fate(number(&rows["fate"], at)),
            "word": text(&rows["word"], at),
        })
    };
    let view = |view: &Value| {
        let mut verdict = view["verdict"].clone();
        if let Some(number) = verdict["fate"].as_u64() {
            verdict["fate"] = fate(number as usize);
        }
        let rows = &view["rows"];
        let size = list(&rows["fate"]).len();
        let rows: Vec<Value> = (0..size).map(|at| row(rows, at)).collect();
        json!({
            "name": view["name"], "verdict": verdict, "rows": rows, "reasons": view["reasons"], "facts": view["facts"],
        })
    };
    let views: Vec<Value> = list(&data["views"]).iter().map(view).collect();
    let objects: Vec<Value> = names.iter().map(|name| json!({"name": name})).collect();
    json!({"kind": data["kind"], "objects": objects, "views": views})
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
