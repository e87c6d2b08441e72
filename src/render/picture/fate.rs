//! What becomes of an object, as far as shapes and colours tell it.

use serde::Serialize;

use crate::render::style::Tone;

/// What becomes of an object, as far as shapes and colours tell it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// Nothing is said to become of it.
    Stays,
    Deleted,
    /// It loses owner references, or no longer blocks its owner.
    Kept,
    /// It stays Terminating until a controller finishes it.
    Waits,
    /// It stays Terminating, and no controller is known to finish it.
    Stuck,
    /// It depends on something that could not be read.
    Unsure,
    /// No object has this uid.
    Absent,
    Error,
    Warning,
    Note,
}

impl Fate {
    /// The fate that a word of the text stands for; its tone decides if the word is none of a fate.
    pub(in crate::render) fn of_word(word: &str, tone: Tone) -> Self {
        match word.to_ascii_lowercase().as_str() {
            "stuck" => Fate::Stuck,
            "waits" | "depends" | "depends on controller" | "terminating" | "also terminating" => Fate::Waits,
            "unsure" | "not read" => Fate::Unsure,
            "deleted" | "also deleted" | "deletes" | "will be deleted" => Fate::Deleted,
            "changes" | "stops blocking" => Fate::Kept,
            "absent" | "missing" | "invalid" => Fate::Absent,
            _ => Fate::of_tone(tone),
        }
    }

    /// The fate that a tone stands for.
    pub(in crate::render) fn of_tone(tone: Tone) -> Self {
        match tone {
            Tone::Error => Fate::Error,
            Tone::Warning => Fate::Warning,
            Tone::Plain | Tone::Quiet | Tone::Strong | Tone::Good => Fate::Stays,
        }
    }
}
