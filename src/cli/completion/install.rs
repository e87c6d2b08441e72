//! `kubectl gc completion install`

use std::{
    env, fs, io,
    path::{Path, PathBuf},
};

use crate::operations::{OperationError, usage};

use super::{
    super::{
        report::{Exit, Report},
        values::ShellArg,
    },
    BINARY, COMPLETER, man_pages, script,
};

/// What every script that `install` writes says of itself: a file without it is not replaced.
const SCRIPT: &str = "Completion of kubectl-gc";
/// The same for man pages.
const PAGE: &str = ".TH kubectl-gc";

/// Where this user's shells and programs are.
struct Places {
    path: Vec<PathBuf>,
    data: PathBuf,
    config: PathBuf,
    /// bash-completion's own folder, if the user chose one.
    bash: Option<PathBuf>,
    /// The folders where zsh looks for functions, if it says so.
    functions: Vec<PathBuf>,
}

/// Puts the scripts and kubectl's completer where they are found.
pub(in super::super) fn install() -> Result<Report, OperationError> {
    let variable = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
    let Some(home) = env::home_dir().filter(|home| !home.as_os_str().is_empty()) else {
        return usage("there is no home folder: HOME is not set");
    };
    let below = |name: &str, otherwise: &str| variable(name).map_or_else(|| home.join(otherwise), PathBuf::from);
    let list = |name: &str| variable(name).map(|list| env::split_paths(&list).collect()).unwrap_or_default();
    let places = Places {
        path: list("PATH"),
        data: below("XDG_DATA_HOME", ".local/share"),
        config: below("XDG_CONFIG_HOME", ".config"),
        bash: variable("BASH_COMPLETION_USER_DIR").map(PathBuf::from),
        functions: list("FPATH"),
    };
    Ok(places.install())
}

impl Places {
    fn install(&self) -> Report {
        let mut lines = Vec::new();
        let mut whole = true;
        let mut done = |result: Result<String, String>| match result {
            Ok(line) => lines.push(line),
            Err(line) => {
                whole = false;
                lines.push(line);
            }
        };
        done(self.completer());
        let bash = self.bash.clone().unwrap_or_else(|| self.data.join("bash-completion"));
        let zsh = self.data.join("zsh/site-functions");
        let shells = [
            ("bash", ShellArg::Bash, bash.join("completions").join(BINARY)),
            ("zsh", ShellArg::Zsh, zsh.join(format!("_{BINARY}"))),
            ("fish", ShellArg::Fish, self.config.join("fish/completions").join(format!("{BINARY}.fish"))),
        ];
        let mut missing = Vec::new();
        for (name, shell, file) in shells {
            if !self.has(name) {
                missing.push(name);
                continue;
            }
            done(put(&file, &script(shell), SCRIPT).map(|()| format!("{name}: {}", file.display())));
            if name == "zsh" && !self.functions.contains(&zsh) {
                done(Ok("     Put into ~/.zshrc, before compinit:".to_owned()));
                done(Ok(format!("     fpath=({} $fpath)", shown(&zsh))));
            }
        }
        if self.has("man") {
            done(self.manual());
        }
        if !missing.is_empty() {
            done(Ok(format!("Not on this machine: {}.", missing.join(", "))));
        }
        done(Ok("New shells complete kubectl-gc, and kubectl gc where kubectl is completed:".to_owned()));
        done(Ok("     kubectl completion --help".to_owned()));
        Report { exit: if whole { Exit::Fine } else { Exit::Failed }, ..Report::of(lines.join("\n") + "\n") }
    }

    /// Puts the man pages where `man` looks: beside `~/.local/bin`, and elsewhere if MANPATH says so.
    fn manual(&self) -> Result<String, String> {
        let folder = self.data.join("man");
        let section = folder.join("man1");
        man_pages().try_for_each(|(name, page)| put(&section.join(name), &page, PAGE))?;
        let told = format!("man: {}/{BINARY}.1, and a page for each command", section.display());
        let found = self.path.iter().any(|bin| bin.with_file_name("share").join("man") == folder);
        if found { Ok(told) } else { Ok(format!("{told}\n     Set, in your shell: MANPATH={}:", shown(&folder))) }
    }

    fn has(&self, program: &str) -> bool {
        self.path.iter().any(|folder| folder.join(program).is_file())
    }

    /// Puts what kubectl calls beside the plugin that kubectl finds, or into another folder of the user's on the PATH.
    fn completer(&self) -> Result<String, String> {
        if cfg!(not(unix)) {
            return Err(format!("kubectl: put a copy of {BINARY}.exe named {COMPLETER}.exe beside it."));
        }
        let Some(at) = self.path.iter().find(|folder| folder.join(BINARY).is_file()) else {
            return Err(format!("kubectl: {BINARY} is not on the PATH, so kubectl does not find the plugin."));
        };
        let plugin = at.join(BINARY);
        let own = self.path.iter().filter(|folder| folder.ends_with(".local/bin") || folder.ends_with(".krew/bin"));
        let mut why = String::new();
        for folder in std::iter::once(at).chain(own) {
            let link = folder.join(COMPLETER);
            let target = if folder == at { Path::new(BINARY) } else { plugin.as_path() };
            match put_link(&link, target) {
                Ok(()) => return Ok(format!("kubectl: {} -> {}", link.display(), target.display())),
                Err(error) => why = error,
            }
        }
        Err(format!("kubectl: {why}. To do it yourself: ln -s {} FOLDER/{COMPLETER}", shown(&plugin)))
    }
}

/// A path as a shell takes it.
fn shown(path: &Path) -> String {
    gc_core::command_line::quoted(&path.display().to_string()).into_owned()
}

/// Writes a file, unless one without the mark of ours is there.
fn put(file: &Path, content: &[u8], mark: &str) -> Result<(), String> {
    let failed = |error: io::Error| format!("{}: {error}", file.display());
    match fs::read(file) {
        Ok(there) if there == content => return Ok(()),
        Ok(there) if !String::from_utf8_lossy(&there).contains(mark) => return Err(foreign(file)),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(failed(error)),
    }
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    fs::write(file, content).map_err(failed)
}

fn foreign(file: &Path) -> String {
    format!("{} is not from kubectl gc, and was left as it is: move it away first", file.display())
}

/// Makes a link, unless something else is there.
fn put_link(link: &Path, target: &Path) -> Result<(), String> {
    let failed = |error: io::Error| format!("{}: {error}", link.display());
    match fs::read_link(link) {
        Ok(there) if there == target => return Ok(()),
        // A link to another kubectl-gc is an older one of ours.
        Ok(there) if there.file_name() == Some(BINARY.as_ref()) => fs::remove_file(link).map_err(failed)?,
        Ok(_) => return Err(foreign(link)),
        Err(_) if link.exists() => return Err(foreign(link)),
        Err(_) => {}
    }
    make_link(link, target).map_err(failed)
}

#[cfg(unix)]
fn make_link(link: &Path, target: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, link)
}

#[cfg(not(unix))]
fn make_link(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
