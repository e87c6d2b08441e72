//! Commands for users to paste into a shell. Each is a vector of arguments that is quoted in one place, so no text from
//! a cluster or file can become a flag, a second command or another argument.

use std::{
    borrow::Cow,
    fmt::{self, Write as _},
};

use serde::{Serialize, Serializer};

use crate::{
    escape::visible,
    model::{Identity, Mapping, ObjectId, Resource, Resources, Snapshot, group_of},
};

#[cfg(test)]
mod tests;

/// The longest argument, in bytes: Linux accepts arguments of less than 128 KiB.
pub const LONGEST_WORD: usize = 100_000;

/// Starts a command that contains unprintable characters. It makes the line a comment, so pasting it does nothing.
const UNPASTEABLE: &str = "# a name in this has characters that don't print, and has to be put in by hand:";

/// After `kubectl get`: lists the pods of the controller manager, if the control plane runs in pods.
pub const SEE_MANAGER: [&str; 5] = ["pods", "-n", "kube-system", "-l", "component=kube-controller-manager"];

/// Ends the flags of a program.
const OPERANDS: &str = "--";

/// One line for a POSIX shell.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ShellCommand {
    parts: Vec<Part>,
    /// The objects that it is about, as far as that is known, and how it writes each; `None`: it only reads it.
    about: Vec<(ObjectId, Option<WriteKind>)>,
}

/// How a command writes an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WriteKind {
    Change,
    Scale,
    Delete,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Part {
    /// One argument, quoted when it is written.
    Word(String),
    /// Shell syntax, such as `&&`, written unquoted. Static, so it can't contain text from outside.
    Syntax(&'static str),
}

impl ShellCommand {
    /// A program without arguments.
    pub fn new(program: &'static str) -> Self {
        ShellCommand { parts: vec![Part::Word(program.to_owned())], about: Vec::new() }
    }

    /// A line that starts with shell syntax, such as a loop or a function.
    pub fn of_syntax(syntax: &'static str) -> Self {
        ShellCommand { parts: vec![Part::Syntax(syntax)], about: Vec::new() }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, word: impl Into<String>) -> Self {
        self.parts.push(Part::Word(word.into()));
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<T: Into<String>>(mut self, words: impl IntoIterator<Item = T>) -> Self {
        self.parts.extend(words.into_iter().map(|word| Part::Word(word.into())));
        self
    }

    /// Adds shell syntax: `&&`, `>`, a loop.
    #[must_use]
    pub fn syntax(mut self, syntax: &'static str) -> Self {
        self.parts.push(Part::Syntax(syntax));
        self
    }

    /// Adds another command.
    #[must_use]
    pub fn command(mut self, other: ShellCommand) -> Self {
        self.parts.extend(other.parts);
        self.about.extend(other.about);
        self
    }

    /// Adds another command that runs only if this one succeeds.
    #[must_use]
    pub fn and(self, next: ShellCommand) -> Self {
        self.syntax("&&").command(next)
    }

    /// Adds [`object_word`].
    pub fn object(self, of_type: &str, group: &str, name: &str) -> Option<Self> {
        Some(self.arg(object_word(of_type, group, name)?))
    }

    /// Adds an object as [`word_of`] writes it, and its namespace. None if no API server accepts its name, type or
    /// namespace.
    pub fn naming(self, resources: &Resources, object: &Identity) -> Option<Self> {
        let word = match resources.map(&object.api_version, &object.kind) {
            Mapping::Served(id) => word_in(resources.get(id), &object.name),
            _ => object_word(&object.kind.to_lowercase(), group_of(&object.api_version), &object.name),
        };
        self.arg(word?).in_namespace(&object.namespace)
    }

    /// Says which objects it is about, and how it writes them; `None`: it only reads them.
    #[must_use]
    pub(crate) fn about(mut self, write: Option<WriteKind>, objects: impl IntoIterator<Item = ObjectId>) -> Self {
        self.about.extend(objects.into_iter().map(|object| (object, write)));
        self
    }

    /// What it writes, as far as that is known.
    pub fn writes(&self) -> impl Iterator<Item = (ObjectId, WriteKind)> {
        self.about.iter().filter_map(|(object, write)| Some((*object, (*write)?)))
    }

    /// Whether it reads or writes this object.
    pub(crate) fn names(&self, object: ObjectId) -> bool {
        self.about.iter().any(|(about, _)| *about == object)
    }

    /// Adds `TYPE`. None if no API server can serve such a type.
    pub fn of_type(self, of_type: &str, group: &str) -> Option<Self> {
        Some(self.arg(type_name(of_type, group)?))
    }

    /// Adds `-n NAMESPACE`, or nothing if the namespace is empty. None for an invalid namespace.
    pub fn in_namespace(self, namespace: &str) -> Option<Self> {
        if namespace.is_empty() {
            return Some(self);
        }
        is_label(namespace).then(|| self.args(["-n", namespace]))
    }

    /// Adds a flag of this program, with a value that may start with a dash.
    #[must_use]
    pub fn option(self, flag: &str, value: &str) -> Self {
        self.args(option_words(flag, value))
    }

    /// Adds operands that may start with a dash. [`Self::flags`] can still add flags afterwards.
    #[must_use]
    pub fn operands(self, words: &[String]) -> Self {
        let dashed = words.iter().any(|word| word.starts_with('-'));
        if dashed { self.syntax(OPERANDS).args(words) } else { self.args(words) }
    }

    /// Adds flags, before a `--` if there is one.
    #[must_use]
    pub fn flags(mut self, flags: &[&str]) -> Self {
        let place = self.parts.iter().position(|part| *part == Part::Syntax(OPERANDS)).unwrap_or(self.parts.len());
        self.parts.splice(place..place, flags.iter().map(|flag| Part::Word((*flag).to_owned())));
        self
    }

    /// Adds the path of a file, as `./PATH` if it would otherwise look like a flag.
    #[must_use]
    pub fn file(self, path: &str) -> Self {
        self.arg(if path.starts_with('-') { format!("./{path}") } else { path.to_owned() })
    }

    /// Whether this is written as a command rather than as a comment: every character is printable.
    pub fn is_runnable(&self) -> bool {
        let prints = |part: &Part| match part {
            Part::Word(word) => matches!(visible(word), Cow::Borrowed(_)),
            Part::Syntax(_) => true,
        };
        self.parts.iter().all(prints)
    }

    /// Whether each argument is short enough for the operating system.
    pub fn fits(&self) -> bool {
        self.parts.iter().all(|part| {
            matches!(part, Part::Word(word) if word.len() <= LONGEST_WORD) || matches!(part, Part::Syntax(_))
        })
    }
}

impl Serialize for ShellCommand {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl fmt::Display for ShellCommand {
    /// Writes the line to paste, or a comment if it contains unprintable characters, which a terminal would obey or
    /// drop.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let runnable = self.is_runnable();
        if !runnable {
            write!(f, "{UNPASTEABLE} ")?;
        }
        for (index, part) in self.parts.iter().enumerate() {
            if index > 0 {
                f.write_char(' ')?;
            }
            match part {
                Part::Word(word) if runnable => f.write_str(&quoted(word))?,
                Part::Word(word) => f.write_str(&visible(&quoted(word)))?,
                Part::Syntax(syntax) => f.write_str(syntax)?,
            }
        }
        Ok(())
    }
}

/// kubectl with the flags that choose one cluster. Without them, a command pasted elsewhere would reach another
/// cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kubectl {
    flags: Vec<String>,
    /// The flags of commands that read files instead of a cluster.
    source: Vec<String>,
}

/// The commands of this plugin that can read files.
const READING: [&str; 5] = ["explain", "plan", "doctor", "tree", "reclaim"];

/// A flag of this program, with a value that may start with a dash.
pub fn option_words(flag: &str, value: &str) -> Vec<String> {
    match value.starts_with('-') && value != "-" {
        true => vec![format!("{flag}={value}")],
        false => vec![flag.to_owned(), value.to_owned()],
    }
}

/// kubectl with its current context.
pub static PLAIN: Kubectl = Kubectl { flags: Vec::new(), source: Vec::new() };

impl Default for &Kubectl {
    fn default() -> Self {
        &PLAIN
    }
}

impl Kubectl {
    /// kubectl with these flags, each as one word: `--context=prod`.
    pub fn new(flags: Vec<String>) -> Self {
        Kubectl { flags, source: Vec::new() }
    }

    /// The same, where this plugin's commands read files with these flags.
    #[must_use]
    pub fn reading(self, source: Vec<String>) -> Self {
        Kubectl { source, ..self }
    }

    /// Whether no flag chooses the cluster.
    pub fn is_plain(&self) -> bool {
        self.flags.is_empty()
    }

    /// kubectl without a verb yet.
    pub fn call(&self) -> ShellCommand {
        ShellCommand::new("kubectl").args(&self.flags)
    }

    /// A command of kubectl.
    pub fn verb(&self, verb: &'static str) -> ShellCommand {
        self.call().arg(verb)
    }

    /// A command of this plugin. kubectl accepts no flags before a plugin's name.
    pub fn plugin(&self, verb: &'static str) -> ShellCommand {
        let source = READING.contains(&verb).then_some(&self.source);
        ShellCommand::new("kubectl").args(["gc", verb]).args(&self.flags).args(source.into_iter().flatten())
    }

    /// A shell function that makes every `kubectl` in a script use this cluster. kubectl accepts no flags before a
    /// plugin's name.
    pub fn shell_function(&self) -> ShellCommand {
        let begin = "kubectl() { if [ \"$1\" = gc ]; then command kubectl \"$@\"";
        let plugin = ShellCommand::of_syntax(begin).args(&self.flags);
        plugin.syntax("; else command kubectl").args(&self.flags).syntax("\"$@\"; fi; }")
    }
}

/// Quotes a word so that every shell reads it as one argument with exactly these characters.
pub fn quoted(word: &str) -> Cow<'_, str> {
    // zsh expands a leading equals sign to a command's path, and every shell expands a leading tilde: quote both.
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._/:@=,+%".contains(c);
    if !word.is_empty() && !word.starts_with('=') && word.chars().all(plain) {
        return Cow::Borrowed(word);
    }
    Cow::Owned(format!("'{}'", word.replace('\'', r"'\''")))
}

/// `TYPE/NAME`; the type is a plural or a kind in lower case. None for a name, type or group that no API server
/// accepts. A name that begins with a dash can't become a flag, because the type precedes it.
pub fn object_word(of_type: &str, group: &str, name: &str) -> Option<String> {
    let type_name = type_name(of_type, group).filter(|_| is_path_segment(name))?;
    Some(format!("{type_name}/{name}"))
}

/// An object as commands write it: `PLURAL.GROUP/NAME`, or `KIND.GROUP/NAME` in lower case where no plural is known.
pub fn word_of(snapshot: &Snapshot, id: ObjectId) -> Option<String> {
    word_in(snapshot.resource(id), snapshot.name(id))
}

fn word_in(resource: &Resource, name: &str) -> Option<String> {
    object_word(resource.type_word(), &resource.group, name)
}

/// `plural.group`; none if no API server can serve such a type.
fn type_name(of_type: &str, group: &str) -> Option<String> {
    match group {
        _ if !is_label(of_type) => None,
        "" => Some(of_type.to_owned()),
        group => is_subdomain(group).then(|| format!("{of_type}.{group}")),
    }
}

/// Whether an object may have this name: names become path segments (`IsValidPathSegmentName`).
fn is_path_segment(name: &str) -> bool {
    !matches!(name, "" | "." | "..") && !name.contains(['/', '%'])
}

/// Whether this is a DNS label (RFC 1123), as namespaces, plurals and versions are.
pub fn is_label(text: &str) -> bool {
    text.len() <= 63 && !text.contains('.') && is_subdomain(text)
}

/// Whether this is a DNS subdomain (RFC 1123), as API groups are.
pub fn is_subdomain(text: &str) -> bool {
    let label = |label: &str| {
        let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        !label.is_empty() && !label.starts_with('-') && !label.ends_with('-') && label.bytes().all(allowed)
    };
    text.len() <= 253 && text.split('.').all(label)
}

/// Whether this is `version` or `group/version`.
pub fn is_api_version(text: &str) -> bool {
    match text.split_once('/') {
        Some((group, version)) => is_subdomain(group) && is_label(version),
        None => is_label(text),
    }
}
