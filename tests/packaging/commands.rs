//! Commands must be built as vectors of arguments (`crates/core/src/command_line.rs`), never by string formatting.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Programs that printed commands call.
const PROGRAMS: [&str; 3] = ["kubectl ", "etcdctl ", "curl "];

/// Characters that end a command within a sentence.
const END: [char; 6] = [',', ';', '.', '(', ')', '`'];

/// Format strings that begin like a command but are none.
const NO_COMMANDS: [&str; 2] = ["kubectl gc {VERSION}\\n", "version of kubectl gc that wrote it{}"];

/// The string literals of a source file, except those in comments and in the test module at its end.
fn literals(source: &str) -> Vec<String> {
    let source = source.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let mut literals = Vec::new();
    let mut rest = source;
    while let Some(place) = rest.find(['"', '/', '\'']) {
        let before = &rest[..place];
        let raw = before.ends_with("r#");
        rest = &rest[place..];
        if rest.starts_with("//") {
            rest = rest.split_once('\n').map_or("", |(_, after)| after);
        } else if let Some(after) = rest.strip_prefix('"') {
            let end = if raw { after.find("\"#").unwrap_or(after.len()) } else { end_of(after) };
            literals.push(after[..end].to_owned());
            rest = after.get(end + 1..).unwrap_or_default();
        } else {
            // A character literal, a lifetime or a division.
            let character =
                ["'\"'", "'\\''", "'\\\"'", "'/'"].into_iter().find(|character| rest.starts_with(character));
            rest = &rest[character.map_or(1, str::len)..];
        }
    }
    literals
}

fn end_of(text: &str) -> usize {
    let mut escaped = false;
    let closes = |c: char| {
        let closes = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        closes
    };
    text.find(closes).unwrap_or(text.len())
}

/// Whether a literal formats a value into a command.
fn builds_a_command(literal: &str) -> bool {
    let puts_in = |text: &str| text.replace("{{", "").contains('{');
    let command = |program: &str| {
        literal.match_indices(program).any(|(place, _)| {
            let word_begins = literal[..place].chars().next_back().is_none_or(|c| !c.is_alphanumeric() && c != '-');
            word_begins && puts_in(literal[place..].split(END).next().unwrap_or_default())
        })
    };
    let named = literal.contains("{kubectl") || literal.contains("{command} -");
    !NO_COMMANDS.iter().any(|none| literal.ends_with(none)) && (named || PROGRAMS.into_iter().any(command))
}

fn sources(root: &Path) -> Vec<PathBuf> {
    let mut open = ["src", "crates/core/src", "crates/cluster/src"].map(|folder| root.join(folder)).to_vec();
    let mut sources = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            match () {
                () if path.is_dir() && name != "tests" => open.push(path),
                () if name.ends_with(".rs") && !name.ends_with("tests.rs") => sources.push(path),
                () => {}
            }
        }
    }
    sources
}

#[test]
fn no_command_is_built_by_formatting() {
    let sources = sources(Path::new(env!("CARGO_MANIFEST_DIR")));
    assert!(sources.len() > 300, "{}", sources.len());
    let mut seen = 0;
    for path in sources {
        for literal in literals(&fs::read_to_string(&path).unwrap()) {
            seen += usize::from(literal.contains("kubectl"));
            assert!(!builds_a_command(&literal), "{}: {literal:?}: build it as a ShellCommand", path.display());
        }
    }
    assert!(seen > 20, "{seen}");
}

#[test]
fn what_it_looks_for() {
    for source in [
        r#"format!("kubectl delete {name}")"#,
        r#"write!(f, "run: {kubectl} delete x")"#,
        r##"format!(r#"kubectl patch {name} -p '{{"a":null}}'"#)"##,
        r#"let c = '"'; format!("remove it with: kubectl delete configmap {name}")"#,
        r#"format!("{command} --dry-run=server")"#,
        r#"#[error("pipe it: curl -sSL {url}")]"#,
    ] {
        assert!(literals(source).iter().any(|literal| builds_a_command(literal)), "{source}");
    }
    for source in [
        r#"// format!("kubectl delete {name}")"#,
        r#"format!("see {place}: kubectl get -o yaml, or {other}")"#,
        r#"format!("kubectl-gc-probe-{:016x}")"#,
        r#"format!("removed with: {command}")"#,
    ] {
        assert!(!literals(source).iter().any(|literal| builds_a_command(literal)), "{source}");
    }
}
