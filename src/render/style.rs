//! Colours by meaning, or none. The caller decides whether to use colours: this module doesn't look at a terminal.

use owo_colors::OwoColorize;

use gc_core::tree::Health;

use super::document::TemplateOptions;

/// What a text means to the reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Plain,
    /// Less important text.
    Quiet,
    /// Text to see first: headings, verdicts.
    Strong,
    /// As it should be.
    Good,
    /// What follows later.
    Later,
    Warning,
    Error,
}

/// How an object is: as `kubectl tree` shows it by its conditions.
impl From<Health> for Tone {
    fn from(health: Health) -> Self {
        match health {
            Health::Good => Tone::Good,
            Health::NotReady => Tone::Warning,
            Health::Failing => Tone::Error,
        }
    }
}

/// How tones are shown. The default has no colours.
#[derive(Clone, Debug, Default)]
pub struct Style {
    colours: bool,
}

impl Style {
    /// With or without colours.
    pub fn new(colours: bool) -> Self {
        Style { colours }
    }

    /// Whether there are colours.
    pub fn colours(&self) -> bool {
        self.colours
    }

    /// The text in its tone. Pad it first: escape sequences would count as characters.
    pub fn paint(&self, tone: Tone, text: &str) -> String {
        let style = owo_colors::Style::new();
        let style = match tone {
            // Only the sixteen colours of the terminal's own palette, none of them bright: they are readable on light
            // and on dark.
            _ if !self.colours || text.is_empty() => return text.to_owned(),
            Tone::Plain => return text.to_owned(),
            Tone::Quiet => style.dimmed(),
            Tone::Strong => style.bold(),
            Tone::Good => style.green(),
            Tone::Later => style.magenta(),
            Tone::Warning => style.yellow(),
            Tone::Error => style.red().bold(),
        };
        text.style(style).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paints_only_when_told_to() {
        let tones = [Tone::Plain, Tone::Quiet, Tone::Strong, Tone::Good, Tone::Later, Tone::Warning, Tone::Error];
        let painted = tones.map(|tone| Style::new(true).paint(tone, "x"));
        assert_eq!(
            painted,
            [
                "x",
                "\x1b[2mx\x1b[0m",
                "\x1b[1mx\x1b[0m",
                "\x1b[32mx\x1b[0m",
                "\x1b[35mx\x1b[0m",
                "\x1b[33mx\x1b[0m",
                "\x1b[31;1mx\x1b[0m"
            ]
        );
        for tone in tones {
            assert_eq!(Style::default().paint(tone, "x"), "x");
            assert_eq!(Style::new(true).paint(tone, ""), "");
        }
    }
}

/// A text in one tone.
pub type Toned = (Tone, String);

/// How to write text.
#[derive(Clone, Copy, Debug)]
pub struct TextOptions<'a> {
    /// The width of the terminal in columns; `None` if the output goes elsewhere, and nothing is cut.
    pub width: Option<usize>,
    /// Whether similar objects are folded, and objects without owners and dependents are only counted.
    pub fold: bool,
    /// Whether more columns are shown.
    pub wide: bool,
    /// How templates are applied, and whether columns have titles.
    pub templates: TemplateOptions,
    /// The current time in Unix seconds, for ages.
    pub now: Option<i64>,
    pub style: &'a Style,
}
