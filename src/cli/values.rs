//! Values of flags that clap doesn't read itself.

use crate::operations::unread::AllowIncomplete;

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
