//! YAML with bounded depth and aliases, one document at a time.

use std::{panic, thread};

use memchr::memmem;
use serde_saphyr::{
    Deserializer, Error, Options, UserMessageFormatter, budget::Budget, options::NonFiniteFloatPolicy,
    with_deserializer_from_str_with_options,
};

use super::error::DumpError;
use gc_core::escape::visible;

/// Deeper than any object.
const DEPTH: usize = 200;

/// Four times the stack that this depth takes, even in an unoptimised build.
const STACK: usize = 16 << 20;

/// One document of a text.
#[derive(Debug, PartialEq, Eq)]
pub struct Document<'a> {
    pub text: &'a str,
    /// The number of lines before it.
    pub lines_before: usize,
}

/// The documents of a text. By the YAML specification, a line that begins with `---` or `...` separates documents even
/// in a quoted or literal text.
pub fn documents(text: &str) -> Vec<Document<'_>> {
    let mut documents = Vec::new();
    let mut at = warnings(text.as_bytes());
    let mut lines = text[..at].lines().count();
    let mut start = (at, lines);
    let mut cut = |start: &mut (usize, usize), end: usize, line: usize| {
        let document = Document { text: &text[start.0..end], lines_before: start.1 };
        if !document.is_blank() {
            documents.push(document);
        }
        *start = (end, line);
    };
    for line in text[at..].split_inclusive('\n') {
        if is_marker(line.as_bytes(), "---") {
            cut(&mut start, at, lines);
        }
        at += line.len();
        lines += 1;
        if is_marker(line.as_bytes(), "...") {
            cut(&mut start, at, lines);
        }
    }
    cut(&mut start, at, lines);
    documents
}

/// Whether a line separates documents.
fn is_marker(line: &[u8], marker: &str) -> bool {
    let rest = line.strip_prefix(marker.as_bytes());
    rest.is_some_and(|rest| matches!(rest.first(), None | Some(b' ' | b'\t' | b'\r' | b'\n')))
}

impl Document<'_> {
    /// Whether it contains only comments and directives, and no `---` starts a document.
    fn is_blank(&self) -> bool {
        let blank =
            |line: &str| line.trim().is_empty() || line.starts_with(['#', '%']) || is_marker(line.as_bytes(), "...");
        self.text.lines().all(blank)
    }
}

/// Runs `run` on a thread with enough stack: the YAML reader recurses.
pub fn with_stack<R: Send>(path: &str, run: impl FnOnce() -> Result<R, DumpError> + Send) -> Result<R, DumpError> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, run);
        let thread = thread.map_err(|source| DumpError::Unreadable { path: path.to_owned(), source })?;
        thread.join().unwrap_or_else(|panic| panic::resume_unwind(panic))
    })
}

/// Reads a document. Must run in [`with_stack`].
pub fn read<'de, R>(
    document: &Document<'de>,
    read: impl for<'e> FnOnce(Deserializer<'de, 'e>) -> Result<R, Error>,
) -> Result<R, Error> {
    with_deserializer_from_str_with_options(document.text, options(), read)
}

/// Unlimited length, limited depth, and the library's limits for aliases.
fn options() -> Options {
    let mut budget = Budget::default();
    budget.max_reader_input_bytes = None;
    budget.max_events = usize::MAX;
    budget.max_nodes = usize::MAX;
    budget.max_total_scalar_bytes = usize::MAX;
    budget.max_documents = usize::MAX;
    budget.max_depth = DEPTH;
    budget.flow_nesting_limit = DEPTH;
    budget.enforce_alias_anchor_ratio = false;
    let mut options = Options::default();
    options.budget = Some(budget);
    options.strict_booleans = true;
    options.non_finite_float_policy = NonFiniteFloatPolicy::PassThrough;
    options.with_snippet = false;
    options
}

/// Whether a line is what kubectl and client-go print on standard error.
pub(super) fn is_complaint(line: &str) -> bool {
    const BEGINNINGS: [&str; 6] =
        ["Error from server", "error: ", "Warning: ", "Unable to connect", "The connection to", "No resources found"];
    BEGINNINGS.iter().any(|begin| line.starts_with(begin))
}

/// The length of the lines before a text in which kubectl warns of something, on standard error.
pub(super) fn warnings(text: &[u8]) -> usize {
    // Older ones write them as a log.
    let is_log = |line: &[u8]| line.starts_with(b"W") && memmem::find(line, b" warnings.go:").is_some();
    let is_warning = |line: &&[u8]| line.starts_with(b"Warning: ") || is_log(line);
    let length = text.split_inclusive(|byte| *byte == b'\n').take_while(is_warning).map(<[u8]>::len).sum();
    if length == text.len() { 0 } else { length }
}

/// What a line is that is no part of a dump, and what to do with it.
fn left_over(line: &str) -> Option<&'static str> {
    let rest = line.trim();
    let is_call = || rest.split_whitespace().any(|word| matches!(word, "kubectl" | "oc")) && !rest.contains(": ");
    let is_prompt = || rest.contains('@') && rest.ends_with(['$', '#', '%', '>']);
    Some(match rest {
        _ if is_complaint(line) => "a message of kubectl (2>/dev/null leaves it out)",
        "..." | "…" | "[...]" | "<...>" => "which stands for what was left out",
        _ if is_call() || is_prompt() => "which is the shell's",
        _ => return None,
    })
}

/// What to do about an error in this line, after a semicolon; empty if that is not known.
pub(super) fn hint(line: &str, message: &str) -> String {
    if let Some(what) = left_over(line) {
        return format!("; remove this line, {what}: {}", shown(line));
    }
    if message.contains("found a tab") || message.contains("tabs disallowed") {
        return "; put spaces where it has tabs, as YAML has none".to_owned();
    }
    if line.starts_with("==== START logs") {
        return "; logs between lists are read in JSON only: run kubectl cluster-info dump without -o yaml".to_owned();
    }
    if line.starts_with("```") {
        return "; remove the lines that begin with ```: they belong to a page of text".to_owned();
    }
    let begins = ["apiVersion:", "kind:", "metadata:", "items:"].iter().any(|key| line.starts_with(key));
    let repeats = begins && message.contains("duplicate mapping key");
    let between = "; if another document begins here, put a line --- before it";
    if repeats { between.to_owned() } else { String::new() }
}

fn shown(line: &str) -> String {
    visible(&line.trim().chars().take(100).collect::<String>()).into_owned()
}

/// A parser error, its position separate from its message.
pub fn error(path: &str, document: &Document<'_>, error: &Error) -> DumpError {
    let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let (line, column) =
        error.location().map_or((0, 0), |location| (number(location.line()), number(location.column())));
    let mut message = error.without_snippet().render_with_formatter(&UserMessageFormatter);
    if let Some(end) = message.find(" at line ") {
        message.truncate(end);
    }
    let text = |line: usize| document.text.lines().nth(line.wrapping_sub(1)).unwrap_or_default();
    // What is wrong there, or with what stands before it.
    let before = [line.wrapping_sub(1), 1].into_iter().filter(|before| *before < line);
    let before = before.filter_map(|before| Some((before, left_over(text(before))?))).next();
    message += &match (hint(text(line), &message), before) {
        (hint, Some((before, what))) if hint.is_empty() => {
            format!("; remove line {}, {what}: {}", before + document.lines_before, shown(text(before)))
        }
        (hint, _) => hint,
    };
    if document.text.lines().count() == line && message.contains("unclosed") {
        message += super::error::CUT_OFF;
    } else if !["apiVersion", "kind:"].iter().any(|key| document.text.contains(key)) {
        message += super::error::A_DUMP;
    }
    let line = if line == 0 { 0 } else { line + document.lines_before };
    DumpError::Yaml { path: path.to_owned(), line, column, message }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_separate_documents_wherever_they_stand() {
        let text = "%YAML 1.2\n---\na: |\n  ---\n--- b\n...\n# end\n...\n---\r\n---x\n";
        let found: Vec<_> =
            documents(text).into_iter().map(|document| (document.text, document.lines_before)).collect();
        assert_eq!(found, [("---\na: |\n  ---\n", 1), ("--- b\n...\n", 4), ("---\r\n---x\n", 8)]);
        assert!(documents("").is_empty() && documents("\n# x\n").is_empty());
    }
}
