//! Builds the control plane from the Go module in `tests/control-plane`, once for each set of versions.
//!
//! `go.mod` there names the newest version of Kubernetes. Each file `vX.Y.Z.mod` beside it names another one, which
//! `CONTROL_PLANE_VERSION=vX.Y.Z` chooses.

use std::{
    fmt::Write as _,
    fs::{self, File, TryLockError},
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use sha2::{Digest, Sha256};

use super::{
    binaries::Binaries,
    supervisor::{Program, Supervised},
};

const INSTALL_GO: &str = "The tests for clusters build a control plane and need Go 1.26 or newer (https://go.dev/dl/), \
    or \
                          KUBEBUILDER_ASSETS set to a folder with etcd, kube-apiserver and kube-controller-manager.";

/// The variable that chooses the version of Kubernetes.
pub const VERSION: &str = "CONTROL_PLANE_VERSION";

/// How often to report that the build is still running.
const SIGN_OF_LIFE: Duration = Duration::from_secs(30);

/// The versions of a control plane, and where they are written.
struct Module {
    folder: PathBuf,
    /// The version of Kubernetes, such as `v1.36.3`.
    version: String,
    /// The names of the file that names all versions, and of the file with their digests.
    files: [String; 2],
}

impl Module {
    /// The module of this version; of the newest one if it is empty.
    fn of(wanted: &str) -> Result<Self, String> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/control-plane");
        let newest = kubernetes_version(&folder.join("go.mod"))?;
        if wanted.is_empty() || wanted == newest {
            return Ok(Self { folder, version: newest, files: ["go.mod", "go.sum"].map(str::to_owned) });
        }
        let files = ["mod", "sum"].map(|ending| format!("{wanted}.{ending}"));
        let path = folder.join(&files[0]);
        if !path.is_file() {
            return Err(format!(
                "{VERSION}={wanted}: there is no {}. tests/control-plane/add {wanted} makes it; there is {}.",
                path.display(),
                versions()?.join(", ")
            ));
        }
        let version = kubernetes_version(&path)?;
        Ok(Self { folder, version, files })
    }
}

/// The versions of Kubernetes that can be built, the oldest first.
pub fn versions() -> Result<Vec<String>, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/control-plane");
    let entries = fs::read_dir(&folder).map_err(|error| format!("cannot read {}: {error}", folder.display()))?;
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let mut versions: Vec<String> =
        names.filter_map(|name| name.strip_suffix(".mod").filter(|name| *name != "go").map(str::to_owned)).collect();
    versions.push(kubernetes_version(&folder.join("go.mod"))?);
    versions.sort_by_key(|version| {
        version.trim_start_matches('v').split('.').map(|part| part.parse().unwrap_or(0)).collect::<Vec<u32>>()
    });
    Ok(versions)
}

/// Returns the folder with the programs of this version, or of the newest one if it is empty. Builds them first if they
/// don't exist.
pub fn build(wanted: &str) -> Result<PathBuf, String> {
    let module = Module::of(wanted)?;
    let cache = cache_folder();
    let finished = cache.join(format!("{}-{}", module.version, fingerprint(&module)?));
    // A folder gets its final name when it is complete, so reading it needs no lock.
    if finished.is_dir() {
        return Ok(finished);
    }
    fs::create_dir_all(&cache).map_err(|error| format!("cannot make {}: {error}", cache.display()))?;
    let _lock = lock(&cache)?;
    if finished.is_dir() {
        return Ok(finished);
    }
    check_go(&module)?;
    let unfinished = cache.join("unfinished");
    // The rest of a killed build: while this process has the lock, no other build is running.
    let _ = fs::remove_dir_all(&unfinished);
    let built = run_go(&module, &unfinished).and_then(|programs| {
        fs::rename(&programs, &finished).map_err(|error| format!("cannot make {}: {error}", finished.display()))
    });
    let _ = fs::remove_dir_all(&unfinished);
    built.map(|()| finished)
}

/// `target/control-plane`, wherever the target folder is.
fn cache_folder() -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("target/tmp has a parent");
    target.join("control-plane")
}

/// The version of Kubernetes, from a file as `go.mod`.
fn kubernetes_version(go_mod: &Path) -> Result<String, String> {
    let version = String::from_utf8_lossy(&read(go_mod)?)
        .lines()
        .find_map(|line| line.trim().trim_start_matches("require ").strip_prefix("k8s.io/kubernetes "))
        .and_then(|rest| rest.split_whitespace().next().map(str::to_owned));
    version.ok_or_else(|| format!("{} does not require k8s.io/kubernetes", go_mod.display()))
}

/// A digest of everything that affects the build.
fn fingerprint(module: &Module) -> Result<String, String> {
    let sources = Binaries::NAMES.map(|name| format!("{name}/main.go"));
    let mut hash = Sha256::new();
    for file in module.files.iter().chain(&sources) {
        hash.update(read(&module.folder.join(file))?);
    }
    let mut text = String::new();
    for byte in &hash.finalize()[..6] {
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}

/// Allows one build at a time, even across test processes: a build takes all processors and a few gigabytes of memory.
fn lock(cache: &Path) -> Result<File, String> {
    let path = cache.join("lock");
    let failed = |error: io::Error| format!("cannot lock {}: {error}", path.display());
    let file = File::create(&path).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            say("another process is building the control plane for the tests; waiting for it");
            file.lock().map_err(failed)?;
        }
        Err(TryLockError::Error(error)) => return Err(failed(error)),
    }
    Ok(file)
}

/// Asks Go itself, inside the module: it knows whether it is new enough, or may download a newer toolchain.
fn check_go(module: &Module) -> Result<(), String> {
    let mut go = Command::new("go");
    go.args(["list", &modfile(module), "-f", "{{.Dir}}", "-m"]).envs(GO_ENVIRONMENT).current_dir(&module.folder);
    let answer = go.output();
    let answer = answer.map_err(|error| format!("cannot run `go`: {error}. {INSTALL_GO}"))?;
    if answer.status.success() {
        return Ok(());
    }
    Err(format!(
        "Go refuses the module of the control plane: {}\n{INSTALL_GO}",
        String::from_utf8_lossy(&answer.stderr).trim()
    ))
}

/// Replaces settings in the environment that would change or break the build.
const GO_ENVIRONMENT: [(&str, &str); 2] = [("GOFLAGS", "-mod=readonly -buildvcs=false"), ("GOWORK", "off")];

/// The flag that names the file with the versions.
fn modfile(module: &Module) -> String {
    format!("-modfile={}", module.files[0])
}

/// Builds into a new folder inside `unfinished`, and returns it.
fn run_go(module: &Module, unfinished: &Path) -> Result<PathBuf, String> {
    let Module { folder, version, .. } = module;
    let programs = unfinished.join("programs");
    let scratch = unfinished.join("scratch");
    for folder in [&programs, &scratch] {
        fs::create_dir_all(folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    }
    let names = Binaries::NAMES.join(", ");
    say(&format!("building the control plane for the tests ({names} {version}): about 8 minutes the first time"));
    let started = Instant::now();
    // Supervised, so that the build ends when the tests are killed.
    let mut program = Program::new("go").in_folder(folder).env("GOTMPDIR", &scratch);
    for (name, value) in GO_ENVIRONMENT {
        program = program.env(name, value);
    }
    let program = program.args([
        "build",
        &modfile(module),
        // Prints each package that it compiles.
        "-v",
        "-trimpath",
        "-ldflags",
        &linker_flags(version)?,
        "-o",
        &format!("{}/", programs.display()),
        "./...",
    ]);
    let build =
        Supervised::start("go-build", unfinished, program).map_err(|error| format!("cannot run go: {error}"))?;
    let status = watch(&build, started);
    if !status {
        return Err(format!("building the control plane for the tests failed:\n{}", build.log_tail()));
    }
    say(&format!("the control plane is built, after {} seconds", started.elapsed().as_secs()));
    Ok(programs)
}

/// Waits for the build, and reports from time to time that it is still running. Returns whether it succeeded.
fn watch(build: &Supervised, started: Instant) -> bool {
    let mut next = SIGN_OF_LIFE;
    loop {
        if let Some(status) = build.ended() {
            return status.success();
        }
        if started.elapsed() >= next {
            let (seconds, phase) = (started.elapsed().as_secs(), phase(&build.log()));
            say(&format!("still building the control plane ({seconds} seconds): {phase}"));
            next += SIGN_OF_LIFE;
        }
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// What Go is doing, from its output: it names the modules that it downloads and the packages that it compiles.
fn phase(log: &str) -> String {
    let is_download = |line: &&str| line.starts_with("go: downloading ");
    let packages: Vec<&str> = log.lines().filter(|line| !line.starts_with("go: ") && !line.contains(' ')).collect();
    match packages.last() {
        Some(last) => format!("compiling and linking, {} packages so far, the last of them {last}", packages.len()),
        None => match log.lines().filter(is_download).count() {
            0 => "nothing to compile so far, reading modules or linking".to_owned(),
            modules => format!("downloading, {modules} modules so far"),
        },
    }
}

#[test]
fn it_says_which_phase_a_build_is_in() {
    assert_eq!(phase(""), "nothing to compile so far, reading modules or linking");
    let log = "go: downloading k8s.io/kubernetes v1.36.3\ngo: downloading k8s.io/api v0.36.3\n";
    assert_eq!(phase(log), "downloading, 2 modules so far");
    let log = format!("{log}internal/abi\nk8s.io/api/core/v1\n");
    assert_eq!(phase(&log), "compiling and linking, 2 packages so far, the last of them k8s.io/api/core/v1");
}

/// Sets the version: without it, the server would report v0.0.0 and kubectl would warn.
fn linker_flags(version: &str) -> Result<String, String> {
    let mut parts = version.trim_start_matches('v').split('.');
    let (Some(major), Some(minor)) = (parts.next(), parts.next()) else {
        return Err(format!(
            "the module in tests/control-plane requires k8s.io/kubernetes {version}, which is no version"
        ));
    };
    let package = "k8s.io/component-base/version";
    Ok(format!("-s -w -X {package}.gitVersion={version} -X {package}.gitMajor={major} -X {package}.gitMinor={minor}"))
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

/// Prints a line at once: the print macros hide their output until a test fails.
pub fn say(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}
