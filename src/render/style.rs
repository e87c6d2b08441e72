//! Colours by meaning, or none.

/// What a text means to the reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Plain,
    Quiet,
    Warning,
    Error,
}

/// How tones are shown.
#[derive(Clone, Debug, Default)]
pub struct Style {}

impl Style {
    /// A text in its tone.
    pub fn paint(&self, _tone: Tone, text: &str) -> String {
        text.to_owned()
    }
}
