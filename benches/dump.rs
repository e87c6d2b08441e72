//! Measures how long it takes to read dumps, and how much memory: `cargo bench --bench dump [-- OBJECTS…]`.
//!
//! Each file is read by a process of its own, beside serde_json, which reads the same objects into a slim struct.
//! `UPDATE_PERFORMANCE=1` writes the figures into `docs/performance.md`.

#[allow(dead_code, reason = "shared by all benchmarks; one needs only parts of it")]
mod figures;

use std::{
    collections::BTreeMap,
    env, fs,
    io::{BufWriter, Write},
    ops::Range,
    path::Path,
    process::{Command, Stdio},
    time::Instant,
};

use figures::{machine, record};

use flate2::{Compression, write::GzEncoder};
use gc_cluster::dump;
use serde::{Deserialize, de::IgnoredAny};

/// Tells a child process what to read: how, and which file.
const ROLE: &str = "KUBECTL_GC_BENCH_DUMP";
/// Each file is read so often; the medians count.
const TIMES: usize = 3;

fn main() {
    if let Ok(role) = env::var(ROLE) {
        let (how, path) = role.split_once(' ').expect("a role and a path");
        return child(how, path);
    }
    let sizes: Vec<usize> = env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    let sizes = if sizes.is_empty() { vec![100_000, 1_000_000] } else { sizes };
    let header = "| objects | file | MB | seconds | seconds of CPU | ÷ serde_json | bytes of memory an object |\n\
                  |---|---|---|---|---|---|---|\n";
    print!("{header}");
    let mut table = header.to_owned();
    for size in sizes {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut slim = f64::NAN;
        for (name, how) in [
            ("list.json", "slim"),
            ("list.json", "read"),
            ("pretty.json", "read"),
            ("array.json", "read"),
            ("lines.ndjson", "read"),
            ("list.json", "stdin"),
            ("list.json.gz", "read"),
            ("folder", "read"),
            ("snapshot.json", "read"),
            ("list.yaml", "parse"),
            ("list.yaml", "read"),
        ] {
            let path = folder.path().join(name);
            if !path.exists() {
                write(&path, size);
            }
            let text = bytes(&path);
            let nothing = measured("nothing", &path).memory;
            let mut runs: Vec<Run> = (0..TIMES).map(|_| measured(how, &path)).collect();
            runs.sort_by(|one, other| one.processor.total_cmp(&other.processor));
            let Run { seconds, processor, memory } = runs[TIMES / 2];
            if how == "slim" {
                slim = processor;
            }
            let each = memory.saturating_sub(nothing) / size as u64;
            let label = match how {
                "slim" => format!("{name} (serde_json)"),
                "parse" => format!("{name} (serde-saphyr)"),
                "stdin" => format!("{name} (standard input)"),
                _ => name.to_owned(),
            };
            let row = format!(
                "| {size} | {label} | {:.1} | {seconds:.2} | {processor:.2} | {:.2} | {each} |\n",
                text as f64 / 1e6,
                processor / slim
            );
            print!("{row}");
            table.push_str(&row);
        }
    }
    record(
        "Reading dumps",
        &[
            &figures::command("dump"),
            "",
            &format!("Medians of {TIMES} runs on {}.", machine()),
            "Each file has the same Deployments, ReplicaSets and Pods. *serde_json* reads the whole text at once, into",
            "structs with the same names and references, and no more; *serde-saphyr* reads YAML and keeps nothing. The",
            "memory is the most that the process had, less what it has without reading.",
            "",
            &table,
        ],
    );
}

/// What a process took.
struct Run {
    seconds: f64,
    /// How long it ran, on all cores together.
    processor: f64,
    /// The most at once, in bytes.
    memory: u64,
}

fn measured(how: &str, path: &Path) -> Run {
    let this = env::current_exe().expect("it runs");
    let input = match how {
        "stdin" => fs::File::open(path).expect("it was written").into(),
        _ => Stdio::null(),
    };
    let role = format!("{how} {}", path.display());
    let ran = Command::new(this).env(ROLE, role).stdin(input).output().expect("it starts");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let said = String::from_utf8(ran.stdout).expect("numbers");
    let numbers: Vec<f64> = said.split_whitespace().map(|number| number.parse().expect("a number")).collect();
    Run { seconds: numbers[0], processor: numbers[1], memory: numbers[2] as u64 }
}

fn child(how: &str, path: &str) {
    let start = Instant::now();
    let objects = match how {
        "slim" => slim(&fs::read(path).expect("it can be read")),
        "parse" => parse(&fs::read_to_string(path).expect("it can be read")),
        "read" => dump::read(&[path.to_owned()], true).expect("it is well-formed").len(),
        "stdin" => dump::read(&["-".to_owned()], true).expect("it is well-formed").len(),
        _ => 0,
    };
    let seconds = start.elapsed().as_secs_f64();
    assert!(how == "nothing" || objects > 0);
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
    let memory = peak.and_then(|peak| peak.trim().parse::<u64>().ok()).unwrap_or(0) * 1024;
    println!("{seconds} {} {memory}", processor());
}

/// How many seconds this process has run, also in the system. Linux counts hundredths.
fn processor() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
    after_name.split(' ').skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// As little of the same objects as a program can read.
fn slim(text: &[u8]) -> usize {
    #[derive(Deserialize)]
    struct List {
        items: Vec<Object>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    #[expect(dead_code, reason = "it is only read")]
    struct Object {
        api_version: String,
        kind: String,
        metadata: Metadata,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    #[expect(dead_code, reason = "it is only read")]
    struct Metadata {
        namespace: String,
        name: String,
        uid: String,
        resource_version: String,
        #[serde(default)]
        labels: BTreeMap<String, String>,
        #[serde(default)]
        owner_references: Vec<Reference>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    #[expect(dead_code, reason = "it is only read")]
    struct Reference {
        api_version: String,
        kind: String,
        name: String,
        uid: String,
    }
    serde_json::from_slice::<List>(text).expect("it is well-formed").items.len()
}

/// What reads YAML, without doing anything with it.
fn parse(text: &str) -> usize {
    let mut options = serde_saphyr::Options::default();
    options.budget = None;
    serde_saphyr::from_str_with_options::<IgnoredAny>(text, options).expect("it is well-formed");
    text.len()
}

/// The size of a file, or of the files in a folder.
fn bytes(path: &Path) -> u64 {
    let metadata = fs::metadata(path).expect("it was written");
    match metadata.is_dir() {
        true => fs::read_dir(path).expect("a folder").map(|entry| bytes(&entry.expect("an entry").path())).sum(),
        false => metadata.len(),
    }
}

/// How many objects each file of a folder has.
const FILE: usize = 1000;

/// Writes a file of that many objects, in the form that its name tells.
fn write(path: &Path, size: usize) {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if name == "folder" {
        fs::create_dir(path).expect("it can be made");
        for first in (0..size).step_by(FILE) {
            let file = fs::File::create(path.join(format!("{first}.json"))).expect("it can be made");
            list(&mut BufWriter::new(file), first..size.min(first + FILE)).expect("the disk has room");
        }
        return;
    }
    let file = BufWriter::new(fs::File::create(path).expect("it can be made"));
    let mut to: Box<dyn Write> = match name.ends_with(".gz") {
        true => Box::new(GzEncoder::new(file, Compression::fast())),
        false => Box::new(file),
    };
    let value = |number| serde_json::from_str::<serde_json::Value>(&object(number)).expect("JSON");
    let written = match name {
        "lines.ndjson" => (0..size).try_for_each(|number| writeln!(to, "{}", object(number))),
        "pretty.json" => {
            let item = |number| serde_json::to_string_pretty(&value(number)).expect("JSON").replace('\n', "\n    ");
            write!(to, "{{\n  \"apiVersion\": \"v1\",\n  \"items\": [\n    ")
                .and_then(|()| separated(&mut to, 0..size, ",\n    ", item))
                .and_then(|()| to.write_all(b"\n  ],\n  \"kind\": \"List\"\n}\n"))
        }
        "list.yaml" => {
            let item = |number| serde_yaml::to_string(&[value(number)]).expect("YAML");
            write!(to, "apiVersion: v1\nitems:\n")
                .and_then(|()| separated(&mut to, 0..size, "", item))
                .and_then(|()| to.write_all(b"kind: List\n"))
        }
        "array.json" => {
            write!(to, "[").and_then(|()| separated(&mut to, 0..size, ",", object)).and_then(|()| to.write_all(b"]"))
        }
        "snapshot.json" => {
            let list = path.with_file_name("list.json").display().to_string();
            dump::write(&dump::read(&[list], true).expect("it is well-formed"), &mut to)
        }
        _ => list(&mut to, 0..size),
    };
    written.and_then(|()| to.flush()).expect("the disk has room");
}

fn list(to: &mut dyn Write, numbers: Range<usize>) -> std::io::Result<()> {
    to.write_all(br#"{"apiVersion":"v1","items":["#)?;
    separated(to, numbers, ",", object)?;
    to.write_all(br#"],"kind":"List"}"#)
}

fn separated(
    to: &mut dyn Write,
    mut numbers: Range<usize>,
    separator: &str,
    item: impl Fn(usize) -> String,
) -> std::io::Result<()> {
    let first = numbers.start;
    numbers.try_for_each(|number| write!(to, "{}{}", if number == first { "" } else { separator }, item(number)))
}

/// One of a Deployment, its ReplicaSet and eight Pods, as `kubectl get -o json` prints them, without most of the spec.
fn object(number: usize) -> String {
    let first = number - number % 10;
    let uid = |number: usize| format!("{:08x}-4d3c-4e1b-9d1f-{:012x}", number.wrapping_mul(2_654_435_761), number);
    let owned_by = |kind: &str, name: &str, number: usize| {
        format!(
            r#""ownerReferences":[{{"apiVersion":"apps/v1","blockOwnerDeletion":true,"controller":true,"kind":"{kind}",
            "name":"{name}","uid":"{}"}}],"#,
            uid(number)
        )
    };
    let (web, set) = (format!("web-{first}"), format!("web-{first}-5d4f8c7b9"));
    let workload = r#""spec":{"replicas":8},"status":{"readyReplicas":8,"replicas":8}"#;
    let (api_version, kind, name, owner, rest) = match number % 10 {
        0 => ("apps/v1", "Deployment", web, String::new(), workload),
        1 => ("apps/v1", "ReplicaSet", set, owned_by("Deployment", &web, first), workload),
        pod => (
            "v1",
            "Pod",
            format!("{set}-x{pod}z"),
            owned_by("ReplicaSet", &set, first + 1),
            r#""spec":{"containers":[{"image":"acme/web:1","name":"web"}],"nodeName":"node-7",
            "terminationGracePeriodSeconds":30},"status":{"phase":"Running"}"#,
        ),
    };
    format!(
        r#"{{"apiVersion":"{api_version}","kind":"{kind}","metadata":{{"creationTimestamp":"2026-01-31T08:00:00Z",
        "labels":{{"app":"web-{}","pod-template-hash":"5d4f8c7b9"}},"name":"{name}","namespace":"team-{}",{owner}
        "resourceVersion":"{}","uid":"{}"}},{rest}}}"#,
        first % 500,
        first / 10 % 200,
        1_000_000 + number,
        uid(number)
    )
    .replace("\n            ", "")
    .replace("\n        ", "")
}
