//! The arguments of the process, from kubectl's grammar to clap's.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
};

use clap::{ArgAction, Command, error::ErrorKind};

use gc_cluster::dump::EXAMPLE;

use super::values::truth;

/// Rewrites what clap reads differently from kubectl:
///
/// * `--keep -l LABELS` becomes one argument: everywhere else, labels are written that way.
/// * `help COMMAND` becomes `COMMAND --help-in-full`, and `help` alone `--help`.
/// * A switch takes a truth value, as in `--yes=false`. The last one wins.
/// * `--example` is `--from` with a dump that the program brings, which is complete.
/// * `--dry_run` is `--dry-run` (component-base's `WordSepNormalizeFunc`).
///
/// [`with_switches`] does the third.
pub(super) fn as_written_for_clap(args: impl Iterator<Item = OsString>) -> Vec<OsString> {
    with_labels(with_known_names(with_help(args)))
}

/// Long flags without underscores in their names, and `--from` for `--example`.
fn with_known_names(args: impl Iterator<Item = OsString>) -> impl Iterator<Item = OsString> {
    let mut ended = false;
    args.map(move |arg| {
        ended |= arg == "--";
        let Some(text) = arg.to_str().filter(|text| !ended && text.starts_with("--")) else { return arg };
        let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
        match (name.replace('_', "-").as_str(), value) {
            ("--example", name) => format!("--from={EXAMPLE}{}", name.unwrap_or("shop")),
            (name, Some(value)) => format!("{name}={value}"),
            (name, None) => name.to_owned(),
        }
        .into()
    })
}

fn with_help(args: impl Iterator<Item = OsString>) -> impl Iterator<Item = OsString> {
    let mut args: Vec<OsString> = args.collect();
    if args.get(1).is_some_and(|first| first == "help") {
        args.remove(1);
        args.push(if args.len() == 1 { "--help" } else { "--help-in-full" }.into());
    }
    args.into_iter()
}

fn with_labels(args: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut joined: Vec<OsString> = Vec::new();
    let mut args = args.peekable();
    while let Some(arg) = args.next() {
        let labels = joined.last().is_some_and(|last| last == "--keep") && (arg == "-l" || arg == "--selector");
        match args.next_if(|_| labels) {
            Some(value) => {
                let mut both = OsString::from("-l ");
                both.push(value);
                joined.push(both);
            }
            None => joined.push(arg),
        }
    }
    joined
}

/// # Errors
/// A switch with another value.
pub(super) fn with_switches(command: &Command, args: Vec<OsString>) -> Result<Vec<OsString>, clap::Error> {
    let switches = switches(command, args.get(1));
    let mut taken: Vec<OsString> = Vec::new();
    let mut args = args.into_iter();
    while let Some(arg) = args.next() {
        if arg == "--" {
            taken.push(arg);
            taken.extend(args);
            break;
        }
        let given = arg.to_str().filter(|text| text.starts_with('-')).and_then(|text| text.split_once('='));
        let Some((name, spellings, value)) = given.and_then(|(name, value)| Some((name, switches.get(name)?, value)))
        else {
            taken.push(arg);
            continue;
        };
        match truth(value) {
            Some(true) => taken.push(name.into()),
            Some(false) => {
                taken = taken.into_iter().filter_map(|before| without(before, spellings, &switches)).collect();
            }
            None => {
                let why = format!("invalid argument {value:?} for {name}: write {name}=true or {name}=false");
                return Err(command.clone().error(ErrorKind::InvalidValue, why));
            }
        }
    }
    Ok(taken)
}

/// An argument without a switch; `None` if nothing is left of it. Short switches may be written together: `-Ay`.
fn without(arg: OsString, spellings: &[String], switches: &BTreeMap<String, Vec<String>>) -> Option<OsString> {
    let Some(text) = arg.to_str() else { return Some(arg) };
    let Some(together) = text.strip_prefix('-').filter(|rest| !rest.starts_with('-')) else {
        return (!spellings.iter().any(|spelling| spelling == text)).then_some(arg);
    };
    // What follows an option with a value is its value.
    let is_switch = |c: &char| switches.contains_key(&format!("-{c}"));
    let ours: String = together.chars().take_while(is_switch).collect();
    let kept: String = ours.chars().filter(|c| !spellings.contains(&format!("-{c}"))).collect();
    if kept.len() == ours.len() {
        return Some(arg);
    }
    let left = format!("{kept}{}", &together[ours.len()..]);
    (!left.is_empty()).then(|| format!("-{left}").into())
}

/// The spellings of each switch, by each of them. If the first argument doesn't name a command, an option that takes a
/// value in any command is none.
fn switches(command: &Command, first: Option<&OsString>) -> BTreeMap<String, Vec<String>> {
    let mut commands = vec![command];
    match first.and_then(|name| command.find_subcommand(name)) {
        Some(named) => commands.push(named),
        None => commands.extend(command.get_subcommands()),
    }
    let mut switches = BTreeMap::new();
    let mut others = BTreeSet::new();
    for command in commands {
        for arg in command.get_arguments() {
            let long = arg.get_long().map(|long| format!("--{long}"));
            let spellings: Vec<String> = long.into_iter().chain(arg.get_short().map(|c| format!("-{c}"))).collect();
            for spelling in &spellings {
                match arg.get_action() {
                    ArgAction::SetTrue => {
                        switches.insert(spelling.clone(), spellings.clone());
                    }
                    _ => {
                        others.insert(spelling.clone());
                    }
                }
            }
        }
    }
    switches.retain(|spelling, _| !others.contains(spelling));
    switches
}

#[cfg(test)]
mod tests {
    use super::{super::commands::Cli, *};

    fn taken(line: &str) -> Result<String, clap::Error> {
        let args = as_written_for_clap(line.split(' ').map(OsString::from));
        let args = with_switches(&Cli::command(), args)?;
        let args: Vec<String> = args.into_iter().map(|arg| arg.into_string().unwrap()).collect();
        Ok(args.join("|"))
    }

    #[test]
    fn labels_to_keep_are_written_as_everywhere() {
        assert_eq!(
            taken("gc plan deploy/web --keep -l app=web -n shop").unwrap(),
            "gc|plan|deploy/web|--keep|-l app=web|-n|shop"
        );
        assert_eq!(taken("gc delete pods -l app=web --keep pod/a").unwrap(), "gc|delete|pods|-l|app=web|--keep|pod/a");
        assert_eq!(taken("gc plan x --keep -l").unwrap(), "gc|plan|x|--keep|-l");
    }

    /// kubectl habit: `help COMMAND` | same
    #[test]
    fn help_is_a_command_too() {
        assert_eq!(taken("gc help plan").unwrap(), "gc|plan|--help-in-full");
        assert_eq!(taken("gc help").unwrap(), "gc|--help");
        assert_eq!(taken("gc tree help").unwrap(), "gc|tree|help");
    }

    /// kubectl habit: switches take `=true` and `=false` | same
    #[test]
    fn switches_take_truth_values_and_the_last_wins() {
        for (line, expected) in [
            ("gc delete x --yes=true", "gc|delete|x|--yes"),
            ("gc delete x --yes=T", "gc|delete|x|--yes"),
            ("gc delete x -y --yes=false", "gc|delete|x"),
            ("gc delete x --yes=false -y", "gc|delete|x|-y"),
            ("gc delete x -Ay --yes=false", "gc|delete|x|-A"),
            ("gc delete x -yA -A=false", "gc|delete|x|-y"),
            ("gc delete x -yn shop -y=false", "gc|delete|x|-n|shop"),
            ("gc delete x -nany --yes=0", "gc|delete|x|-nany"),
            ("gc delete x -yy --yes=0", "gc|delete|x"),
            ("gc delete x --yes --yes=0 --all", "gc|delete|x|--all"),
            ("gc plan x -A=true", "gc|plan|x|-A"),
            // An option of delete, and no flag of plan.
            ("gc sweep --dry-run=true --dry-run=false", "gc|sweep"),
            ("gc plan x --yes=false", "gc|plan|x|--yes=false"),
            // Options with values are clap's business.
            ("gc delete x --wait=false --dry-run=server", "gc|delete|x|--wait=false|--dry-run=server"),
            ("gc delete x -- --yes=false", "gc|delete|x|--|--yes=false"),
            ("gc delete x --dry_run=a_b --all_namespaces", "gc|delete|x|--dry-run=a_b|--all-namespaces"),
            ("gc delete x -n a_b -- --dry_run", "gc|delete|x|-n|a_b|--|--dry_run"),
        ] {
            assert_eq!(taken(line).unwrap(), expected, "{line}");
        }
        let error = taken("gc delete x --yes=perhaps").unwrap_err().to_string();
        assert!(error.contains(r#"invalid argument "perhaps" for --yes"#), "{error}");
    }
}
