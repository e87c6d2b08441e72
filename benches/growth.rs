//! Measures how the commands' time and memory grow with large dumps of odd shapes: `cargo bench --bench growth
//! [-- SHAPE… COMMAND… SIZE…]`, by default all shapes and commands, each in its own sizes.
//!
//! *n* is the number of objects, references or files, whichever there are most of. The growth is that of the time,
//! less that of a tiny dump, divided by that of n log n since the size before: 1.0 grows like n log n, and a quadratic
//! time by nearly 10 where the sizes are ten times apart. `KEEP=FOLDER` keeps the dumps. `UPDATE_PERFORMANCE=1` writes
//! the figures into `docs/performance.md`.

#[allow(dead_code, reason = "shared by all benchmarks; one needs only parts of it")]
mod figures;

use std::{
    env, fs,
    io::{BufWriter, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use figures::{Ran, machine, record};

/// A command that takes longer is ended.
const LIMIT: Duration = Duration::from_secs(180);
/// Shorter times say nothing about growth.
const TELLING: f64 = 0.1;

/// Writes the dump of that size to a path, as a file or a folder.
type Shape = fn(usize, &Path) -> std::io::Result<()>;

const SHAPES: &[(&str, Shape)] = &[
    ("star", |n, to| config_maps(n, to, |number| (number > 0).then_some(0).into_iter().collect())),
    ("chain", |n, to| config_maps(n, to, |number| number.checked_sub(1).into_iter().collect())),
    ("cycle", |n, to| config_maps(n, to, |number| vec![(number + n - 1) % n])),
    // Each object is owned by all before it, or by all others: n is the number of references.
    ("complete-order", |n, to| config_maps((2 * n).isqrt().max(2), to, |number| (0..number).collect())),
    ("complete-graph", |n, to| {
        let objects = n.isqrt().max(2);
        config_maps(objects, to, |number| (0..objects).filter(|owner| *owner != number).collect())
    }),
    // The last object is owned by all others.
    ("many-owners", |n, to| config_maps(n, to, |number| if number == n - 1 { (0..number).collect() } else { vec![] })),
    // No object has the numbers from n on.
    ("absent-owners", |n, to| config_maps(n, to, |number| vec![n + number])),
    ("many-absent-owners", |n, to| config_maps(2, to, |number| if number == 1 { (2..n).collect() } else { vec![] })),
    // Each object is owned by two before it, some of which orphan or wait: very many orders of events have other ends.
    ("orders", |n, to| {
        let finalizer = |number: usize| match number % 7 {
            3 => "\"finalizers\":[\"orphan\"],",
            5 => "\"finalizers\":[\"foregroundDeletion\"],",
            _ => "",
        };
        let owned = |number: usize| {
            let owners = if number == 0 { vec![] } else { vec![(number - 1) / 2, (number - 1) / 3] };
            let references: Vec<String> = owners.into_iter().map(|owner| reference("v1", "ConfigMap", owner)).collect();
            let references_of_it = "\"ownerReferences\"";
            object("v1", "ConfigMap", number, &references.join(","))
                .replace(references_of_it, &format!("{}{references_of_it}", finalizer(number)))
        };
        write(to, (0..n).map(owned))
    }),
    ("kinds", |n, to| {
        write(to, (0..n).map(|number| object(&format!("g{number}.io/v1"), "Thing", number, "")).chain([root()]))
    }),
    ("unserved-kinds", |n, to| {
        let owned = |number| {
            let owner = reference(&format!("g{number}.io/v1"), "Thing", n + number);
            object("v1", "ConfigMap", number, &owner)
        };
        write(to, (0..n).map(owned))
    }),
    ("files", |n, to| {
        fs::create_dir_all(to)?;
        (0..n).try_for_each(|number| {
            let owner = if number == 0 { String::new() } else { reference("v1", "ConfigMap", 0) };
            fs::write(to.join(format!("{number}.json")), object("v1", "ConfigMap", number, &owner))
        })
    }),
];

/// The sizes of a shape, if none are given: as many as a cluster may have, and those that were slow once.
fn usual_sizes(shape: &str) -> Vec<usize> {
    match shape {
        // 1,000 and 2,000 objects.
        "complete-graph" => vec![100_000, 1_000_000, 4_000_000],
        "orders" | "kinds" | "unserved-kinds" => vec![1_000, 10_000],
        "files" => vec![10_000, 100_000],
        _ => vec![10_000, 100_000, 1_000_000],
    }
}

/// The commands, by name. `o0` is the first object, `LAST` the last.
const COMMANDS: &[(&str, &[&str])] = &[
    ("tree", &["tree", "-n", "shop"]),
    ("plan", &["plan", "cm/o0", "-n", "shop"]),
    ("explain", &["explain", "cm/LAST", "-n", "shop"]),
    ("doctor", &["doctor"]),
];

fn main() {
    let arguments: Vec<String> = env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let sizes: Vec<usize> = arguments.iter().filter_map(|argument| argument.parse().ok()).collect();
    let is_chosen = |name: &str, all: &[&str]| {
        let named = |argument: &String| all.contains(&argument.as_str());
        !arguments.iter().any(named) || arguments.iter().any(|argument| argument == name)
    };
    let names: Vec<&str> = SHAPES.iter().map(|(name, _)| *name).collect();
    let commands: Vec<&str> = COMMANDS.iter().map(|(name, _)| *name).collect();
    let unknown = |argument: &&String| {
        let name = argument.as_str();
        name.parse::<usize>().is_err() && !names.contains(&name) && !commands.contains(&name)
    };
    if let Some(unknown) = arguments.iter().find(unknown) {
        panic!("{unknown}: the shapes are {}, and the commands {}", names.join(", "), commands.join(", "));
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = env::var_os("KEEP").map_or(folder.path().to_owned(), PathBuf::from);
    let header = "| shape | command | n | CPU seconds | MB | growth by n log n |\n|---|---|---|---|---|---|\n";
    print!("{header}");
    let mut table = header.to_owned();
    for (shape, make) in SHAPES.iter().filter(|(name, _)| is_chosen(name, &names)) {
        for (name, line) in COMMANDS.iter().filter(|(name, _)| is_chosen(name, &commands)) {
            let run = |size: usize| {
                let dump = folder.join(format!("{shape}-{size}{}", if *shape == "files" { "" } else { ".json" }));
                if !dump.exists() {
                    make(size, &dump).expect("the disk has room");
                }
                let last = format!("cm/o{}", last(shape, size));
                let line: Vec<&str> =
                    line.iter().map(|word| if *word == "cm/LAST" { last.as_str() } else { *word }).collect();
                measured(&line, &dump)
            };
            let least = run(10).processor;
            let mut before: Option<(usize, f64)> = None;
            for size in if sizes.is_empty() { usual_sizes(shape) } else { sizes.clone() } {
                let ran = run(size);
                let ended = ran.status.is_some();
                let seconds = (ran.processor - least).max(0.0);
                let growth = before.filter(|(_, before)| *before > TELLING && ended).map(|(smaller, before)| {
                    let expected = |n: usize| n as f64 * (n as f64).log2();
                    format!("{:.1}", seconds / before / (expected(size) / expected(smaller)))
                });
                let more = if ended { "" } else { "more than " };
                let row = format!(
                    "| {shape} | {name} | {size} | {more}{:.2} | {} | {} |\n",
                    ran.processor,
                    ran.memory / 1_000_000,
                    growth.as_deref().unwrap_or("")
                );
                print!("{row}");
                table.push_str(&row);
                if !ended {
                    break;
                }
                before = Some((size, seconds));
            }
        }
    }
    record(
        "Growth",
        &[
            &figures::command("growth"),
            "",
            &format!("On {}. *n* is the number of objects, references or files, whichever there are most", machine()),
            "of. The growth is that of the time, divided by that of n log n since the size before: 1.0 grows like",
            "n log n, and a quadratic time by nearly 10 where the sizes are ten times apart.",
            "`benches/growth.rs` makes the shapes.",
            "",
            &table,
        ],
    );
}

/// The number of the last ConfigMap of a shape.
fn last(shape: &str, size: usize) -> usize {
    match shape {
        "complete-order" => (2 * size).isqrt().max(2) - 1,
        "complete-graph" => size.isqrt().max(2) - 1,
        "many-absent-owners" => 1,
        "kinds" => 0,
        _ => size - 1,
    }
}

/// Runs one command on a dump.
fn measured(line: &[&str], dump: &Path) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kubectl-gc"));
    command.args(line).arg("--assume-complete").arg("--from").arg(dump);
    let ran = figures::measured(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()), LIMIT);
    let code = ran.status.map(|status| status.code());
    assert!(matches!(code, None | Some(Some(0 | 2 | 3))), "{line:?} {}: {code:?}", dump.display());
    ran
}

/// Writes ConfigMaps of which each is owned by those with these numbers.
fn config_maps(objects: usize, to: &Path, owners: impl Fn(usize) -> Vec<usize>) -> std::io::Result<()> {
    let config_map = |number| {
        let references: Vec<String> =
            owners(number).into_iter().map(|owner| reference("v1", "ConfigMap", owner)).collect();
        object("v1", "ConfigMap", number, &references.join(","))
    };
    write(to, (0..objects).map(config_map))
}

fn write(to: &Path, objects: impl Iterator<Item = String>) -> std::io::Result<()> {
    let mut to = BufWriter::new(fs::File::create(to)?);
    to.write_all(br#"{"apiVersion":"v1","kind":"List","items":["#)?;
    for (number, object) in objects.enumerate() {
        write!(to, "{}{object}", if number == 0 { "" } else { "," })?;
    }
    to.write_all(b"]}")?;
    to.flush()
}

fn root() -> String {
    object("v1", "ConfigMap", 0, "").replace("\"u0\"", "\"root\"")
}

fn object(api_version: &str, kind: &str, number: usize, references: &str) -> String {
    format!(
        r#"{{"apiVersion":"{api_version}","kind":"{kind}","metadata":{{"name":"o{number}","namespace":"shop",
        "uid":"u{number}","resourceVersion":"{}","creationTimestamp":"2026-01-31T08:00:00Z",
        "ownerReferences":[{references}]}}}}"#,
        number + 1
    )
    .replace("\n        ", "")
}

fn reference(api_version: &str, kind: &str, owner: usize) -> String {
    format!(
        r#"{{"apiVersion":"{api_version}","kind":"{kind}","name":"o{owner}","uid":"u{owner}","blockOwnerDeletion":true}}"#
    )
}
