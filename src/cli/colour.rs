//! Whether output gets colours.

use std::{ffi::OsString, io::IsTerminal};

use super::args::ColorArg;

/// Whether to colour the output to this stream. `auto` depends on the terminal and on the conventions of
/// <https://no-color.org> and <https://bixense.com/clicolors>.
pub(super) fn wanted(when: ColorArg, stream: &impl IsTerminal) -> bool {
    decide(when, stream.is_terminal(), |name| std::env::var_os(name))
}

fn decide(when: ColorArg, terminal: bool, variable: impl Fn(&str) -> Option<OsString>) -> bool {
    let set = |name| variable(name).filter(|value| !value.is_empty());
    match when {
        ColorArg::Always => true,
        ColorArg::Never => false,
        ColorArg::Auto if set("NO_COLOR").is_some() => false,
        ColorArg::Auto if set("CLICOLOR_FORCE").is_some_and(|value| value != "0") => true,
        ColorArg::Auto => terminal && set("TERM").is_none_or(|value| value != "dumb"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn auto(terminal: bool, variables: &[(&str, &str)]) -> bool {
        let variable = |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into());
        decide(ColorArg::Auto, terminal, variable)
    }

    #[test]
    fn follows_the_terminal_and_the_environment() {
        assert!(auto(true, &[]));
        assert!(!auto(false, &[]));
        assert!(auto(true, &[("TERM", "xterm-256color"), ("NO_COLOR", "")]));
        assert!(!auto(true, &[("NO_COLOR", "1")]));
        assert!(!auto(true, &[("TERM", "dumb")]));
        assert!(auto(false, &[("CLICOLOR_FORCE", "1"), ("TERM", "dumb")]));
        assert!(!auto(false, &[("CLICOLOR_FORCE", "0")]));
        assert!(!auto(true, &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
    }

    #[test]
    fn the_flag_wins() {
        let no_color = |_: &str| Some(OsString::from("1"));
        assert!(decide(ColorArg::Always, false, no_color));
        assert!(!decide(ColorArg::Never, true, |_| None));
    }
}
