//! `kubectl gc version`

use serde::Serialize;

use crate::{
    operations::OperationError,
    render::{
        document::{API_VERSION, json, yaml},
        output::Format,
    },
};

use super::{args::PrintArgs, output::apply};

const VERSION: &str = env!("CARGO_PKG_VERSION");

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    api_version: &'static str,
    kind: &'static str,
    version: &'static str,
}

/// The version of this program, in the requested format.
///
/// # Errors
/// A template that can't be applied.
pub(super) fn text(printing: PrintArgs) -> Result<String, OperationError> {
    let document = Document { api_version: API_VERSION, kind: "Version", version: VERSION };
    Ok(match printing.output {
        Some(Format::Json) => json(&document),
        Some(Format::Yaml) => yaml(&document),
        Some(format @ Format::Template(template)) => apply(format, template, &json(&document), printing)?,
        // As `--version` prints it.
        _ => format!("kubectl gc {VERSION}\n"),
    })
}

#[cfg(test)]
mod tests {
    use super::{super::commands::Cli, *};

    #[test]
    fn says_the_same_in_every_form() {
        let text = |output| text(PrintArgs { output, ..PrintArgs::default() }).unwrap();
        assert_eq!(text(None), Cli::command().render_version());
        assert_eq!(
            text(Some(Format::Json)),
            format!(
                "{{\n  \"apiVersion\": \"kubectl-gc/v1\",\n  \"kind\": \"Version\",\n  \"version\": \"{VERSION}\"\n}}\n"
            )
        );
        assert_eq!(text(Some(Format::Yaml)), format!("apiVersion: kubectl-gc/v1\nkind: Version\nversion: {VERSION}\n"));
    }
}
