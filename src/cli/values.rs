//! Values of flags that clap doesn't read itself.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::operations::unread::AllowIncomplete;
use gc_core::{
    model::effects::Severity,
    plan::{EffectClass, VerdictResult},
    server::Propagation,
    simulate::Assume,
};

/// A value that a flag takes: its names, of which the help shows the first, what the help says of it, and what it
/// means.
pub(super) type Choice<T> = (&'static [&'static str], &'static str, T);

/// `--propagation` and `--cascade`
pub(super) const POLICIES: &[Choice<Propagation>] = &[
    (&["background", "true"], "Owner first, then the dependents", Propagation::Background),
    (&["foreground"], "Dependents first, then the owner", Propagation::Foreground),
    (&["orphan", "false"], "Only the owner; keep the dependents", Propagation::Orphan),
];

/// `--assume`
pub(super) const ASSUMPTIONS: &[Choice<Assume>] = &[
    (&["known"], "Known controllers do what they are known to do", Assume::Known),
    (&["none"], "No other controller does anything", Assume::None),
];

/// `--deny-effect`
pub(super) const EFFECTS: &[Choice<EffectClass>] = &[
    (&["data-loss"], "Data is lost", EffectClass::DataLoss),
    (&["external"], "Something outside the owner graph is deleted", EffectClass::External),
    (&["unknown"], "The effect is not known", EffectClass::Unknown),
];

/// `--fail-on` of a delete, the worst first: the best verdict that is bad news; `None` if none is.
pub(super) const VERDICTS: &[Choice<Option<VerdictResult>>] = &[
    (&["takes-down"], "A webhook or an API loses its backend", Some(VerdictResult::TakesDown)),
    (&["data-loss"], "Data is lost", Some(VerdictResult::DataLoss)),
    (&["stuck"], "Something stays Terminating, and no controller is known to finish it", Some(VerdictResult::Stuck)),
    (&["depends"], "Something waits for a controller that is not known to run", Some(VerdictResult::Depends)),
    (&["waits"], "Something waits for a controller that runs", Some(VerdictResult::Waits)),
    (&["unsure"], "Something is not certain", Some(VerdictResult::Unsure)),
    (&["external"], "Something outside the owner graph is deleted", Some(VerdictResult::External)),
    (&["deletes"], "Anything is deleted or changed", Some(VerdictResult::Deletes)),
    (&["never"], "No verdict", None),
];

/// `--fail-on` of doctor
pub(super) const SEVERITIES: &[Choice<Option<Severity>>] =
    &[(&["error"], "", Some(Severity::Error)), (&["warning"], "", Some(Severity::Warning)), (&["never"], "", None)];

/// The shells that get a completion script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShellArg {
    Bash,
    Zsh,
    Fish,
    PowerShell,
}

/// What `completion` takes: a shell whose script it prints, or none to install.
pub(super) const SHELLS: &[Choice<Option<ShellArg>>] = &[
    (&["bash"], "", Some(ShellArg::Bash)),
    (&["zsh"], "", Some(ShellArg::Zsh)),
    (&["fish"], "", Some(ShellArg::Fish)),
    (&["powershell"], "", Some(ShellArg::PowerShell)),
    (&["install"], "Put everything where shells and kubectl find it", None),
];

/// A value as clap's help shows it.
pub(super) fn possible_value(name: &'static str, help: &'static str) -> PossibleValue {
    let value = PossibleValue::new(name);
    if help.is_empty() { value } else { value.help(help) }
}

/// Takes one of these values.
pub(super) fn choice<T: Clone + Send + Sync + 'static>(
    choices: &'static [Choice<T>],
) -> impl TypedValueParser<Value = T> {
    let value = |(names, help, _): &Choice<T>| possible_value(names[0], help).aliases(names[1..].iter().copied());
    PossibleValuesParser::new(choices.iter().map(value)).try_map(|given| {
        let is_it = |(names, ..): &&Choice<T>| names.iter().any(|name| name.eq_ignore_ascii_case(&given));
        choices.iter().find(is_it).map(|(.., meaning)| meaning.clone()).ok_or("no possible value")
    })
}

/// A truth value as Go's `strconv.ParseBool` reads it.
pub(super) fn truth(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "TRUE" | "true" | "True" => Some(true),
        "0" | "f" | "F" | "FALSE" | "false" | "False" => Some(false),
        _ => None,
    }
}

/// The value of `--allow-incomplete`: a truth value as of a switch, or TYPEs separated by commas.
///
/// # Errors
/// An empty list.
pub(super) fn allow_incomplete(value: &str) -> Result<AllowIncomplete, String> {
    match truth(value.trim()) {
        Some(true) => return Ok(AllowIncomplete::Everything),
        Some(false) => return Ok(AllowIncomplete::Nothing),
        None => {}
    }
    let types: Vec<String> = value.split(',').map(str::trim).filter(|one| !one.is_empty()).map(str::to_owned).collect();
    if types.is_empty() { Err("name at least one TYPE".to_owned()) } else { Ok(AllowIncomplete::These(types)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_stay_unread_is_a_truth_value_or_a_list() {
        assert_eq!(allow_incomplete("true"), Ok(AllowIncomplete::Everything));
        assert_eq!(allow_incomplete("false"), Ok(AllowIncomplete::Nothing));
        let types = ["secrets", "PODS", "a.io/v1"].map(str::to_owned).to_vec();
        assert_eq!(allow_incomplete("secrets, PODS,a.io/v1"), Ok(AllowIncomplete::These(types)));
        assert!(allow_incomplete(" , ").is_err());
    }
}
