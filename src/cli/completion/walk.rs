//! What the word at the cursor is, by the words before it, and its candidates.

use clap::{Arg, Command};

/// A candidate, and what it means.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Candidate {
    pub(super) text: String,
    pub(super) about: String,
}

impl Candidate {
    pub(super) fn new(text: impl Into<String>, about: impl Into<String>) -> Self {
        Self { text: text.into(), about: about.into() }
    }
}

/// What a shell does with the candidates: cobra's `ShellCompDirective`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Directive {
    /// Complete files if there is no candidate.
    Files = 0,
    /// Never complete files.
    NoFiles = 4,
    /// The same, and put no space behind the candidate.
    NoSpace = 6,
}

/// The candidates of a word.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) candidates: Vec<Candidate>,
    pub(super) directive: Directive,
}

/// What answers for the cluster and the kubeconfig. Whatever it can't find out in time is not in its answers.
pub(super) trait Ask {
    /// The types, as a TARGET names them.
    fn types(&self) -> Vec<Candidate>;
    /// The names of the objects of a type.
    fn objects(&self, kind: &str) -> Vec<String>;
    /// The values of one of kubectl's flags: `--namespace`, `--context`, `--cluster`, `--user`.
    fn values(&self, flag: &str) -> Vec<String>;
}

/// The word at the cursor.
#[derive(Debug)]
pub(super) enum Word {
    /// The name of a command.
    Command(Vec<Candidate>),
    /// The name of a flag.
    Flag(Vec<Candidate>),
    /// The value of a flag or of a positional argument, with the names of its possible values.
    Value { name: String, possible: Vec<Candidate> },
    /// A TARGET, with those before it.
    Target(Vec<String>),
}

/// A word, and what else decides on its candidates.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) word: Word,
    /// What is typed of it.
    pub(super) current: String,
    /// The connection flags of the line, as kubectl takes them; `None` if the line has a secret: nobody is asked then,
    /// because other users of the machine see the arguments of a running kubectl, and without the secret it would send
    /// the kubeconfig's to a server that is not meant to get them.
    pub(super) connection: Option<Vec<String>>,
}

/// The flags with the user's own credentials.
const CREDENTIALS: [&str; 3] = ["token", "username", "password"];

/// kubectl's flags that choose what it asks, and as whom.
const CONNECTION: [&str; 16] = [
    "namespace",
    "context",
    "kubeconfig",
    "cluster",
    "user",
    "server",
    "as",
    "as-group",
    "as-uid",
    "certificate-authority",
    "client-certificate",
    "client-key",
    "insecure-skip-tls-verify",
    "tls-server-name",
    "disable-compression",
    "cache-dir",
];

/// Reads the words before the cursor as clap does, but accepts everything: a line that is being typed is rarely right.
pub(super) fn walk(root: &Command, before: &[String], current: &str) -> Asked {
    let mut line =
        Line { command: root, positionals: Vec::new(), connection: Some(Vec::new()), only_positionals: false };
    let mut words = before.iter();
    let mut awaited = None;
    while let Some(word) = words.next() {
        match line.read(word) {
            Some(arg) => match words.next() {
                Some(value) => line.given(arg, Some(value)),
                None => awaited = Some(arg),
            },
            None => awaited = None,
        }
    }
    let (word, current) = line.at_cursor(awaited, current);
    Asked { word, current, connection: line.connection }
}

struct Line<'a> {
    command: &'a Command,
    positionals: Vec<String>,
    connection: Option<Vec<String>>,
    only_positionals: bool,
}

impl<'a> Line<'a> {
    /// Reads a word; returns the flag whose value is the next one.
    fn read(&mut self, word: &str) -> Option<&'a Arg> {
        if self.only_positionals || !word.starts_with('-') || word == "-" {
            match self.command.find_subcommand(word) {
                Some(command) if self.positionals.is_empty() && !self.only_positionals => self.command = command,
                _ => self.positionals.push(word.to_owned()),
            }
            return None;
        }
        if word == "--" {
            self.only_positionals = true;
            return None;
        }
        if let Some(long) = word.strip_prefix("--") {
            let (name, value) = match long.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (long, None),
            };
            let arg = self.long(name)?;
            if value.is_none() && awaits_value(arg) {
                return Some(arg);
            }
            self.given(arg, value);
            return None;
        }
        match self.short(word) {
            Some((arg, "")) => Some(arg),
            Some((arg, value)) => {
                self.given(arg, Some(value));
                None
            }
            None => None,
        }
    }

    fn long(&self, name: &str) -> Option<&'a Arg> {
        self.command.get_arguments().find(|arg| arg.get_long() == Some(name))
    }

    /// The flag at the end of a cluster such as `-An` that takes a value, and what of it stands in the same word.
    fn short<'w>(&self, word: &'w str) -> Option<(&'a Arg, &'w str)> {
        let word = word.strip_prefix('-').filter(|word| !word.starts_with('-'))?;
        word.char_indices().find_map(|(at, letter)| {
            let arg = self.command.get_arguments().find(|arg| arg.get_short() == Some(letter))?;
            let rest = &word[at + letter.len_utf8()..];
            awaits_value(arg).then(|| (arg, rest.strip_prefix('=').unwrap_or(rest)))
        })
    }

    fn given(&mut self, arg: &Arg, value: Option<&str>) {
        let name = arg.get_long().unwrap_or_default();
        if CREDENTIALS.contains(&name) {
            self.connection = None;
        } else if let Some(connection) = self.connection.as_mut().filter(|_| CONNECTION.contains(&name)) {
            connection.push(match value {
                Some(value) => format!("--{name}={value}"),
                None => format!("--{name}"),
            });
        }
    }

    fn at_cursor(&self, awaited: Option<&Arg>, current: &str) -> (Word, String) {
        if let Some(arg) = awaited {
            return (value_of(arg), current.to_owned());
        }
        if !self.only_positionals && current.starts_with('-') && current != "-" {
            if let Some((name, value)) = current.strip_prefix("--").and_then(|long| long.split_once('=')) {
                let word = self.long(name).map_or(Word::Flag(Vec::new()), value_of);
                return (word, value.to_owned());
            }
            if let Some((arg, value)) = self.short(current).filter(|(_, value)| !value.is_empty()) {
                // The shell replaces the whole word.
                let typed = &current[..current.len() - value.len()];
                let Word::Value { name, possible } = value_of(arg) else { return (value_of(arg), value.to_owned()) };
                let possible =
                    possible.into_iter().map(|one| Candidate { text: format!("{typed}{}", one.text), ..one });
                return (Word::Value { name, possible: possible.collect() }, current.to_owned());
            }
        }
        if !self.only_positionals && current.starts_with('-') {
            return (Word::Flag(self.flags()), current.to_owned());
        }
        if self.command.has_subcommands() {
            let commands = self.command.get_subcommands().filter(|command| !command.is_hide_set());
            let about = |command: &Command| command.get_about().map(ToString::to_string).unwrap_or_default();
            let commands = commands.map(|command| Candidate::new(command.get_name(), about(command)));
            return (Word::Command(commands.collect()), current.to_owned());
        }
        let positionals: Vec<&Arg> = self.command.get_positionals().collect();
        let at = self.positionals.len().min(positionals.len().saturating_sub(1));
        let word = match positionals.get(at) {
            Some(arg) if value_name(arg) == "TARGET" => Word::Target(self.positionals[at..].to_vec()),
            Some(arg) if self.positionals.len() <= at => value_of(arg),
            _ => Word::Flag(Vec::new()),
        };
        (word, current.to_owned())
    }

    fn flags(&self) -> Vec<Candidate> {
        let shown = self.command.get_arguments().filter(|arg| !arg.is_hide_set());
        let flags = shown.filter_map(|arg| {
            let equals = if arg.is_require_equals_set() && !is_truth(arg) { "=" } else { "" };
            let about = arg.get_help().map(ToString::to_string).unwrap_or_default();
            Some(Candidate::new(format!("--{}{equals}", arg.get_long()?), about.replace('\n', " ")))
        });
        flags.collect()
    }
}

/// Whether the next word is the value of a flag.
fn awaits_value(arg: &Arg) -> bool {
    arg.get_action().takes_values() && !arg.is_require_equals_set()
}

/// Whether a flag takes true or false, and means true without them.
fn is_truth(arg: &Arg) -> bool {
    value_name(arg) == "BOOL"
}

fn value_name(arg: &Arg) -> &str {
    arg.get_value_names().and_then(|names| names.first()).map_or("", |name| name.as_str())
}

fn value_of(arg: &Arg) -> Word {
    // Values that the help hides, too: templates.
    let possible = arg
        .get_possible_values()
        .into_iter()
        .map(|value| Candidate::new(value.get_name(), value.get_help().map(ToString::to_string).unwrap_or_default()));
    // --as takes a user of the cluster, which no kubeconfig knows.
    let name = if arg.get_long() == Some("as") { "" } else { value_name(arg) };
    Word::Value { name: name.to_owned(), possible: possible.collect() }
}

/// The candidates of a word.
pub(super) fn answer(asked: &Asked, ask: &impl Ask) -> Answer {
    let plain = |texts: Vec<String>| texts.into_iter().map(|text| Candidate::new(text, "")).collect::<Vec<_>>();
    let (candidates, directive) = match &asked.word {
        Word::Command(commands) => (commands.clone(), Directive::NoFiles),
        Word::Flag(flags) => (flags.clone(), Directive::NoFiles),
        Word::Value { possible, .. } if !possible.is_empty() => (possible.clone(), Directive::NoFiles),
        Word::Value { name, .. } => match name.as_str() {
            "NAMESPACE" => (plain(ask.values("--namespace")), Directive::NoFiles),
            "CONTEXT" => (plain(ask.values("--context")), Directive::NoFiles),
            "CLUSTER" => (plain(ask.values("--cluster")), Directive::NoFiles),
            "USER" => (plain(ask.values("--user")), Directive::NoFiles),
            "TYPE" | "TYPE,…" => listed(&asked.current, ask),
            "TYPE/NAME|TYPE|LABELS" => target(&[], &asked.current, ask),
            "FILE" | "FOLDER" | "FILE|FOLDER|URL|-" | "MANIFEST,…" | "ARCHIVE" => (Vec::new(), Directive::Files),
            _ => (Vec::new(), Directive::NoFiles),
        },
        Word::Target(before) => target(before, &asked.current, ask),
    };
    let matching = candidates.into_iter().filter(|candidate| candidate.text.starts_with(&asked.current));
    let candidates: Vec<Candidate> = matching.collect();
    let open = |candidate: &Candidate| candidate.text.ends_with(['/', '=']);
    let directive = if !candidates.is_empty() && candidates.iter().all(open) { Directive::NoSpace } else { directive };
    Answer { candidates, directive }
}

/// The types behind the last comma.
fn listed(current: &str, ask: &impl Ask) -> (Vec<Candidate>, Directive) {
    let head = &current[..current.rfind(',').map_or(0, |comma| comma + 1)];
    let types = ask.types().into_iter().map(|kind| Candidate { text: format!("{head}{}", kind.text), ..kind });
    (types.collect(), Directive::NoFiles)
}

/// A type, a name after a type, or TYPE/NAME.
fn target(before: &[String], current: &str, ask: &impl Ask) -> (Vec<Candidate>, Directive) {
    // `archive` ends with a file, which no type looks like.
    if current.starts_with(['.', '~', '/']) {
        return (Vec::new(), Directive::Files);
    }
    if let Some((kind, _)) = current.split_once('/') {
        let objects = ask.objects(kind).into_iter().map(|name| Candidate::new(format!("{kind}/{name}"), ""));
        return (objects.collect(), Directive::NoFiles);
    }
    match before.first() {
        Some(kind) if !kind.contains('/') => {
            // Those that are named already are not named again.
            let objects = ask.objects(kind).into_iter().filter(|name| !before[1..].contains(name));
            (objects.map(|name| Candidate::new(name, "")).collect(), Directive::NoFiles)
        }
        _ => listed(current, ask),
    }
}

#[cfg(test)]
mod tests {
    use super::{super::super::commands::Cli, *};

    struct Known;

    impl Ask for Known {
        fn types(&self) -> Vec<Candidate> {
            ["deploy", "deployments", "deployments.apps", "po", "pods"].map(|text| Candidate::new(text, "")).to_vec()
        }

        fn objects(&self, kind: &str) -> Vec<String> {
            if kind == "po" { vec!["web".to_owned(), "api".to_owned()] } else { Vec::new() }
        }

        fn values(&self, flag: &str) -> Vec<String> {
            vec![format!("of{flag}")]
        }
    }

    fn asked(line: &str) -> Asked {
        let mut command = Cli::command();
        command.build();
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let (current, before) = words.split_last().unwrap();
        walk(&command, before, current)
    }

    fn texts(line: &str) -> Vec<String> {
        answer(&asked(line), &Known).candidates.into_iter().map(|candidate| candidate.text).collect()
    }

    fn directive(line: &str) -> Directive {
        answer(&asked(line), &Known).directive
    }

    #[test]
    fn commands_flags_and_their_values_come_from_the_command_line() {
        assert_eq!(texts("pl"), ["plan"]);
        assert!(texts("").contains(&"doctor".to_owned()) && !texts("").contains(&"__complete".to_owned()));
        assert_eq!(texts("plan --prop"), ["--propagation"]);
        assert_eq!(texts("plan --cas"), ["--cascade="]);
        assert_eq!(directive("plan --cas"), Directive::NoSpace);
        assert_eq!(texts("plan --propagation "), ["background", "foreground", "orphan"]);
        assert_eq!(texts("plan --cascade=f"), ["foreground"]);
        assert_eq!(texts("plan -o y"), ["yaml"]);
        assert_eq!(texts("plan -oy"), ["-oyaml"]);
        assert_eq!(texts("--color al"), ["always"]);
        assert_eq!(texts("completion z"), ["zsh"]);
        assert!(texts("completion zsh ").is_empty());
        assert!(texts("delete --wa").contains(&"--wait".to_owned()));
    }

    #[test]
    fn targets_are_types_names_and_both() {
        assert_eq!(texts("plan dep"), ["deploy", "deployments", "deployments.apps"]);
        assert_eq!(texts("plan po/"), ["po/web", "po/api"]);
        assert_eq!(texts("plan po/w"), ["po/web"]);
        assert_eq!(texts("plan po "), ["web", "api"]);
        assert_eq!(texts("plan po web "), ["api"]);
        assert_eq!(texts("plan -n shop po/web po/"), ["po/web", "po/api"]);
        assert_eq!(texts("plan po,dep"), ["po,deploy", "po,deployments", "po,deployments.apps"]);
        assert_eq!(texts("plan --deny=po,dep"), ["po,deploy", "po,deployments", "po,deployments.apps"]);
        assert_eq!(texts("plan --keep po/w"), ["po/web"]);
        assert_eq!(texts("plan -- po/w"), ["po/web"]);
        assert_eq!(directive("plan po/"), Directive::NoFiles);
    }

    #[test]
    fn connection_flags_and_files_are_completed() {
        assert_eq!(texts("plan -n "), ["of--namespace"]);
        assert_eq!(texts("--context o"), ["of--context"]);
        assert_eq!(texts("plan --cluster="), ["of--cluster"]);
        assert_eq!(texts("plan -A --user "), ["of--user"]);
        assert!(texts("plan --as ").is_empty());
        for line in ["plan -f ", "plan --from ", "restore ", "plan --kubeconfig ", "archive po/web ./", "plan -k "] {
            assert_eq!((texts(line), directive(line)), (Vec::new(), Directive::Files), "{line}");
        }
        assert_eq!(texts("restore web.yaml po/a"), ["po/api"]);
        assert_eq!(directive("plan --grace-period "), Directive::NoFiles);
    }

    /// The cluster of the line is asked, as the user of the line.
    #[test]
    fn the_connection_of_the_line_counts() {
        let connection = |line: &str| asked(line).connection.unwrap_or_else(|| vec!["secret".to_owned()]);
        assert_eq!(connection("--context prod plan -nshop po/"), ["--context=prod", "--namespace=shop"]);
        assert_eq!(connection("plan -An shop --as=bob po/"), ["--namespace=shop", "--as=bob"]);
        assert_eq!(connection("plan --propagation foreground po/"), Vec::<String>::new());
        // Nothing secret becomes an argument of another program, and no server gets another user's instead.
        for secret in ["plan --token=t --server=https://other po/", "--username me plan po/", "plan --password p po/"] {
            assert_eq!(connection(secret), ["secret"], "{secret}");
        }
        // What is being typed doesn't count yet.
        assert_eq!(connection("plan -n sho"), Vec::<String>::new());
    }

    /// Every name of a value that has an answer is that of a flag or argument.
    #[test]
    fn every_answer_is_asked_for() {
        let mut command = Cli::command();
        command.build();
        let named = |name: &str| {
            command.get_subcommands().any(|one| one.get_arguments().any(|argument| value_name(argument) == name))
        };
        let rest = ["TYPE", "TYPE,…", "TYPE/NAME|TYPE|LABELS", "MANIFEST,…", "ARCHIVE", "TARGET", "BOOL"];
        for name in
            ["NAMESPACE", "CONTEXT", "CLUSTER", "USER", "FILE", "FOLDER", "FILE|FOLDER|URL|-"].iter().chain(&rest)
        {
            assert!(named(name), "{name}");
        }
    }
}
