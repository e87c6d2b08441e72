//! Measures what commands cost that ask no server, and how large the program is: `cargo bench --bench startup`.
//! `UPDATE_PERFORMANCE=1` writes the figures into `docs/performance.md`. The weights by crate need cargo-bloat
//! (`cargo install cargo-bloat`), and one more build; `BLOAT=0` keeps them out.

#[allow(dead_code, reason = "shared by all benchmarks; one needs only parts of it")]
mod figures;

use std::{
    env, fs,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use figures::{machine, measured, median, record};

const PROGRAM: &str = env!("CARGO_BIN_EXE_kubectl-gc");
/// How often each command runs; the medians count.
const TIMES: usize = 201;
/// How many crates are named.
const CRATES: usize = 20;
/// None of them asks a server; of the last one, the kubeconfig names none.
const COMMANDS: [&[&str]; 5] =
    [&["version"], &["--help"], &["plan", "--help"], &["completion", "bash"], &["__complete", "--", "pl"]];

fn main() {
    let mut lines = vec![
        figures::command("startup"),
        String::new(),
        format!("Medians of {TIMES} runs on {}, beside `true`, which does nothing. callgrind counts the", machine()),
        "instructions of the release, without those of the kernel.".to_owned(),
        String::new(),
        "| command | milliseconds | of `true` | million instructions | page faults | threads that are started |"
            .to_owned(),
        "|---|---|---|---|---|---|".to_owned(),
    ];
    lines.iter().skip(5).for_each(|line| println!("{line}"));
    for line in COMMANDS {
        let times: Vec<[f64; 2]> =
            (0..TIMES).map(|_| [milliseconds(PROGRAM, line), milliseconds("true", &[])]).collect();
        let faults = measured(quiet(Command::new(PROGRAM).args(line)), Duration::from_secs(10)).faults;
        let row = format!(
            "| `{}` | {:.1} | {:.1} | {} | {faults} | {} |",
            line.join(" "),
            median(times.iter().map(|[program, _]| *program)),
            median(times.iter().map(|[_, nothing]| *nothing)),
            instructions(line),
            threads(line),
        );
        println!("{row}");
        lines.push(row);
    }
    let size = fs::metadata(PROGRAM).expect("it was built").len();
    let said = format!("The program has {:.1} MB.", size as f64 / 1e6);
    println!("\n{said}");
    lines.extend([String::new(), said]);
    if env::var("BLOAT").as_deref() != Ok("0") {
        lines.extend(weights());
    }
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    record("Startup and size", &lines);
}

fn quiet(command: &mut Command) -> &mut Command {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null())
}

fn milliseconds(program: &str, line: &[&str]) -> f64 {
    let start = Instant::now();
    let status = quiet(Command::new(program).args(line)).status().unwrap_or_else(|error| panic!("{program}: {error}"));
    assert!(status.success(), "{program} {line:?}: {status}");
    start.elapsed().as_secs_f64() * 1e3
}

/// In millions, as callgrind counts them.
fn instructions(line: &[&str]) -> String {
    let mut command = Command::new("valgrind");
    let command = command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null", PROGRAM]).args(line);
    let Ok(ran) = command.output() else { return "valgrind is not installed".to_owned() };
    let told = String::from_utf8_lossy(&ran.stderr);
    let count = told.lines().find_map(|line| line.split_once("Collected : ")?.1.trim().parse::<f64>().ok());
    count.map_or_else(|| panic!("no count in\n{told}"), |count| format!("{:.2}", count / 1e6))
}

/// How many threads a command starts, as strace tells.
fn threads(line: &[&str]) -> String {
    let traced = Command::new("strace").args(["-f", "-e", "trace=clone,clone3", PROGRAM]).args(line).output();
    let Ok(ran) = traced else { return "strace is not installed".to_owned() };
    let told = String::from_utf8_lossy(&ran.stderr);
    told.lines().filter(|line| line.contains("clone")).count().to_string()
}

/// The weights of the crates in the program, as cargo-bloat tells.
fn weights() -> Vec<String> {
    let said = Command::new(env!("CARGO"))
        .args(["bloat", "--release", "--locked", "--bin", "kubectl-gc", "--crates", "--message-format", "json"])
        .args(["-n", &CRATES.to_string()])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stderr(Stdio::inherit())
        .output()
        .expect("cargo runs");
    if !said.status.success() {
        println!("no weights by crate: cargo-bloat is not installed, or failed");
        return Vec::new();
    }
    let said: serde_json::Value = serde_json::from_slice(&said.stdout).expect("JSON");
    let mut lines = vec![String::new(), "| crate | kB of code |".to_owned(), "|---|---|".to_owned()];
    for of in said["crates"].as_array().into_iter().flatten() {
        let kilobytes = of["size"].as_f64().unwrap_or(0.0) / 1e3;
        lines.push(format!("| {} | {kilobytes:.0} |", of["name"].as_str().unwrap_or("?")));
    }
    lines.iter().for_each(|line| println!("{line}"));
    lines
}
