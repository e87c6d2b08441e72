//! What every benchmark does with a process and with its figures: measures it, and writes its own section of
//! `docs/performance.md`.

use std::{
    env, fs,
    process::{Child, Command, ExitStatus},
    time::{Duration, Instant},
};

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/performance.md");
/// What stands before the first section.
const INTRODUCTION: &str = "\
# How fast it is

Each section is written by the command that it names, and the whole page, in about a quarter of an hour, by
`UPDATE_PERFORMANCE=1 cargo bench --bench dump --bench growth --bench live --bench startup`. Times are those of one
machine; compare them with each other. What doesn't depend on the machine is counted by tests, which fail if it grows.
";
/// The sections, in their order.
const SECTIONS: [&str; 4] = ["Reading dumps", "Growth", "A live cluster", "Startup and size"];
/// How often a process is looked at for its memory and threads.
const LOOK: Duration = Duration::from_millis(2);

/// What a process took.
#[derive(Clone, Copy, Debug)]
pub struct Ran {
    /// From its start to its end.
    pub seconds: f64,
    /// Of all its threads, in the user's and the system's mode. Linux counts hundredths.
    pub processor: f64,
    /// The most memory that it had at once, in bytes, as far as it was seen.
    pub memory: u64,
    /// The most threads that it was seen with.
    pub threads: u64,
    /// Page faults that needed no disk.
    pub faults: u64,
    /// How it ended; `None` if it was ended because it took too long.
    pub status: Option<ExitStatus>,
}

/// Runs a command to its end, or for so long.
pub fn measured(command: &mut Command, limit: Duration) -> Ran {
    let start = Instant::now();
    let mut child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let id = child.id();
    let (mut memory, mut threads, mut ended) = (0, 1, true);
    while !has_ended(&child) {
        let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
        let number = |key: &str| {
            let value = status.lines().find_map(|line| line.strip_prefix(key))?.trim().trim_end_matches(" kB");
            value.parse::<u64>().ok()
        };
        memory = number("VmHWM:").map_or(memory, |kilobytes| kilobytes * 1024);
        threads = number("Threads:").unwrap_or(0).max(threads);
        if ended && start.elapsed() > limit {
            ended = false;
            child.kill().expect("it is a child");
        }
        std::thread::sleep(LOOK);
    }
    let seconds = start.elapsed().as_secs_f64();
    // It isn't reaped before its times are read.
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).expect("Linux keeps it until it is reaped");
    // The name, in parentheses, may contain anything; the next field is the third.
    let rest = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
    let fields: Vec<f64> = rest.split(' ').map(|field| field.parse().unwrap_or(0.0)).collect();
    let field = |number: usize| fields.get(number - 3).copied().unwrap_or(0.0);
    let processor = (field(14) + field(15)) / rustix::param::clock_ticks_per_second() as f64;
    let status = child.wait().expect("it is a child");
    Ran { seconds, processor, memory, threads, faults: field(10) as u64, status: ended.then_some(status) }
}

fn has_ended(child: &Child) -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    waitid(WaitId::Pid(Pid::from_child(child)), options).expect("it is a child").is_some()
}

/// The middle one of some numbers.
pub fn median(numbers: impl IntoIterator<Item = f64>) -> f64 {
    let mut numbers: Vec<f64> = numbers.into_iter().collect();
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

/// The machine, in words.
pub fn machine() -> String {
    let processor = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = processor.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let model = model.map_or("an unknown processor", |(_, model)| model);
    format!("{} cores of {model}", std::thread::available_parallelism().map_or(1, usize::from))
}

/// The command that writes a benchmark's section, as it was given.
pub fn command(benchmark: &str) -> String {
    let arguments: Vec<String> = env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let arguments = if arguments.is_empty() { String::new() } else { format!(" -- {}", arguments.join(" ")) };
    format!("`UPDATE_PERFORMANCE=1 cargo bench --bench {benchmark}{arguments}`")
}

/// Replaces one section of the page by these lines, if that is wanted; the others stay.
pub fn record(section: &str, lines: &[&str]) {
    if env::var_os("UPDATE_PERFORMANCE").is_none() {
        return;
    }
    assert!(SECTIONS.contains(&section), "{section} has no place in the page");
    let page = fs::read_to_string(PAGE).unwrap_or_default();
    let mut parts = vec![INTRODUCTION.to_owned()];
    for name in SECTIONS {
        let kept = page.split("\n## ").find(|part| part.strip_prefix(name).is_some_and(|rest| rest.starts_with('\n')));
        match kept {
            _ if name == section => parts.push(format!("## {name}\n\n{}\n", lines.join("\n").trim_end())),
            Some(kept) => parts.push(format!("## {}\n", kept.trim_end())),
            None => {}
        }
    }
    fs::write(PAGE, parts.join("\n")).unwrap_or_else(|error| panic!("{PAGE}: {error}"));
}
