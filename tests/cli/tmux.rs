//! A real terminal emulator for tests: tmux, which these need as the completion needs its shells. Also part of the
//! tests on clusters.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    thread,
    time::{Duration, Instant},
};

/// No picture takes longer.
const DEADLINE: Duration = Duration::from_secs(60);

/// A shell in a terminal of its own.
pub struct Tmux {
    folder: tempfile::TempDir,
}

impl Tmux {
    pub fn of(columns: u16, lines: u16, folder: &Path) -> Self {
        let tmux = Tmux { folder: tempfile::tempdir().unwrap() };
        let (width, height) = (columns.to_string(), lines.to_string());
        let shell = "env -i PATH=\"$PATH\" TERM=\"$TERM\" HOME=/nonexistent LC_ALL=C.UTF-8 PS1='$ ' sh";
        let folder = folder.display().to_string();
        tmux.call(&["new-session", "-d", "-x", &width, "-y", &height, "-c", &folder, shell]);
        tmux.call(&["set-option", "-g", "status", "off"]);
        tmux.call(&["resize-window", "-x", &width, "-y", &height]);
        tmux.until("$");
        tmux
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn call(&self, args: &[&str]) -> String {
        let output = Command::new("tmux")
            .args(["-u", "-f", "/dev/null", "-S"])
            .arg(self.path("socket"))
            .args(args)
            .env_remove("TMUX")
            .output()
            .expect("tmux is installed");
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Types a line into the shell.
    pub fn types(&self, line: &str) {
        self.call(&["send-keys", "-l", line]);
        self.call(&["send-keys", "Enter"]);
    }

    /// Presses keys, as tmux calls them.
    pub fn press(&self, keys: &[&str]) {
        self.call(&[&["send-keys"], keys].concat());
    }

    pub fn shown(&self) -> String {
        self.call(&["capture-pane", "-p"])
    }

    /// The same with the sequences of its colours.
    #[allow(dead_code, reason = "for the tests on clusters")]
    pub fn coloured(&self) -> String {
        self.call(&["capture-pane", "-p", "-e"])
    }

    /// The picture, once these words are in it and it has come to rest.
    #[track_caller]
    pub fn until(&self, words: &str) -> String {
        self.until_it(words, |shown| shown.contains(words))
    }

    #[track_caller]
    pub fn until_it(&self, what: &str, is: impl Fn(&str) -> bool) -> String {
        let begun = Instant::now();
        let mut before = String::new();
        loop {
            let shown = self.shown();
            // One that has just changed may be drawn in part.
            if is(&shown) && shown == before {
                return shown;
            }
            assert!(begun.elapsed() < DEADLINE, "{what:?} is not shown:\n{shown}");
            before = shown;
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Starts the program, and writes the terminal's settings before and after it into files.
    pub fn starts(&self, args: &str) {
        self.starts_with("", args);
    }

    /// The same with a variable, `NAME=VALUE`, in its environment.
    pub fn starts_with(&self, variable: &str, args: &str) {
        let (before, after) = (self.path("before"), self.path("after"));
        self.types("echo what was here before");
        // What is typed sooner is shown above the prompt.
        self.until_it("the prompt", |shown| shown.trim_end().ends_with("what was here before\n$"));
        self.types(&format!(
            "stty -g > {}; sh -c 'echo $$ > {}; exec env {variable} {} {args}'; echo ended with $?; stty -g > {}; \
             echo all over",
            before.display(),
            self.path("pid").display(),
            env!("CARGO_BIN_EXE_kubectl-gc"),
            after.display()
        ));
    }

    /// After the program has left: what was there before is there again, perhaps scrolled, and so are the settings.
    #[track_caller]
    pub fn is_restored(&self, code: i32) {
        self.is_restored_and_says(code, "what was here before");
    }

    /// The same, and these words are on it.
    #[track_caller]
    pub fn is_restored_and_says(&self, code: i32, words: &str) {
        let shown = self.until_it("the end", |shown| shown.lines().any(|line| line == "all over"));
        let all = self.call(&["capture-pane", "-p", "-S", "-"]);
        assert!(all.contains("what was here before") && all.contains(words), "{words:?}: {all}");
        assert!(shown.lines().any(|line| line == format!("ended with {code}")), "{shown}");
        let settings = |name: &str| fs::read_to_string(self.path(name)).unwrap();
        assert_eq!(settings("before"), settings("after"));
        let modes = self.call(&["display-message", "-p", "#{alternate_on} #{cursor_flag}"]);
        assert_eq!(modes.trim(), "0 1", "the ordinary screen, with its cursor");
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        let _ = Command::new("tmux").arg("-S").arg(self.path("socket")).arg("kill-server").output();
    }
}
