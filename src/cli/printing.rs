//! How a command prints, besides its format.

use clap::Args;

use crate::render::template::TemplateOptions;

/// The flags of every command that has `-o`, except `archive` and `snapshot`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Args)]
pub struct PrintArgs {
    /// Print neither the titles of columns nor the first line of a text
    #[arg(long, help_heading = "Output", hide_short_help = true)]
    pub no_headers: bool,
    /// In templates, a missing field is no error
    #[arg(long, help_heading = "Output", value_name = "BOOL", num_args = 0..=1, require_equals = true,
        default_value_t = true, default_missing_value = "true", action = clap::ArgAction::Set,
        hide_short_help = true)]
    pub allow_missing_template_keys: bool,
}

impl PrintArgs {
    pub(super) fn templates(self) -> TemplateOptions {
        TemplateOptions { allow_missing: self.allow_missing_template_keys, titles: !self.no_headers }
    }
}

impl Default for PrintArgs {
    fn default() -> Self {
        PrintArgs { no_headers: false, allow_missing_template_keys: true }
    }
}
