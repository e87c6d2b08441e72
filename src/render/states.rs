//! The states of objects and findings: each has one symbol, one word, one tone and colours, the same in all texts and
//! pictures. Colours are by meaning, or none: the caller decides, and nothing here looks at a terminal.

use owo_colors::OwoColorize;
use serde::Serialize;
use strum::{IntoStaticStr, VariantArray};

use gc_core::tree::Health;

use super::document::TemplateOptions;

/// What becomes of an object, or how grave a finding is: what needs attention most comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, VariantArray)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// It stays Terminating, and no controller is known to finish it.
    Stuck,
    /// A finding.
    Error,
    /// Terminating; it is unknown whether its controller runs.
    Depends,
    /// Terminating; a controller will finish the deletion.
    Waits,
    /// Nothing happens to it in the simulations, but something could; or it depends on what could not be read.
    Unsure,
    /// A finding.
    Warning,
    /// Deleted once others have done their part.
    Later,
    Deleted,
    /// No object has this uid.
    Missing,
    /// It loses owner references, or no longer blocks its owner.
    Kept,
    /// A finding.
    Note,
    /// Nothing is said to become of it.
    #[default]
    Untouched,
}

/// How a fate looks, in texts and in pictures.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Look {
    pub name: Fate,
    pub symbol: char,
    pub word: &'static str,
    /// What a legend says.
    pub meaning: &'static str,
    pub tone: Tone,
    /// The colours of its words, and of what is behind them. On dark, the page's style sheet has others.
    #[serde(skip)]
    pub colours: [&'static str; 2],
}

/// The border of a box, as each picture writes it: a state shows without colour.
#[derive(Clone, Copy, Debug)]
pub(super) struct Border {
    pub svg: &'static str,
    pub mermaid: &'static str,
    pub dot: &'static str,
}

impl Fate {
    pub(super) const fn look(self) -> Look {
        const RED: [&str; 2] = ["#b3261e", "#fdecea"];
        const YELLOW: [&str; 2] = ["#7a4b00", "#fff3d9"];
        const VIOLET: [&str; 2] = ["#5a3d99", "#efeafa"];
        const GREEN: [&str; 2] = ["#17683a", "#e4f4ea"];
        const GREY: [&str; 2] = ["#3c4147", "#eceff2"];
        const DIM: [&str; 2] = ["#5b6169", "#ffffff"];
        let (symbol, word, tone, colours, meaning) = match self {
            Self::Stuck => ('■', "STUCK", Tone::Error, RED, "Terminating, and no controller is known to finish it"),
            Self::Error => ('▲', "ERROR", Tone::Error, RED, "an error, as its line says"),
            Self::Depends => {
                ('◊', "DEPENDS", Tone::Warning, YELLOW, "Terminating; it is not known whether its controller runs")
            }
            Self::Waits => ('○', "waits", Tone::Warning, YELLOW, "Terminating until something else is done"),
            Self::Unsure => ('?', "unsure", Tone::Warning, YELLOW, "not certain"),
            Self::Warning => ('▲', "WARNING", Tone::Warning, YELLOW, "a warning, as its line says"),
            Self::Later => ('»', "later", Tone::Later, VIOLET, "deleted once others have done their part"),
            Self::Deleted => ('×', "deleted", Tone::Plain, GREY, "deleted"),
            Self::Missing => ('□', "missing", Tone::Quiet, DIM, "no object has this uid"),
            Self::Kept => ('●', "kept", Tone::Good, GREEN, "kept; loses an owner, or no longer blocks one"),
            Self::Note => ('▲', "NOTE", Tone::Quiet, DIM, "a note, as its line says"),
            Self::Untouched => ('·', "untouched", Tone::Quiet, DIM, "nothing is said to happen to it"),
        };
        Look { name: self, symbol, word, meaning, tone, colours }
    }

    pub(super) const fn border(self) -> Border {
        let (svg, mermaid, dot) = match self {
            Self::Stuck | Self::Error => (" stroke-width=\"2.5\"", ",stroke-width:3px", "filled,bold"),
            Self::Later => (" stroke-dasharray=\"5 3\"", ",stroke-dasharray:6 3", "filled,dashed"),
            Self::Missing | Self::Note | Self::Untouched => {
                (" stroke-dasharray=\"1.5 2\"", ",stroke-dasharray:2 2", "filled,dotted")
            }
            Self::Kept => ("", "", "filled,rounded"),
            Self::Depends | Self::Waits | Self::Unsure | Self::Warning | Self::Deleted => ("", "", "filled"),
        };
        Border { svg, mermaid, dot }
    }

    /// What a legend says of it: `■ STUCK: Terminating, …`.
    pub(super) fn legend(self) -> String {
        let Look { symbol, word, meaning, .. } = self.look();
        if meaning.starts_with(word) { format!("{symbol} {meaning}") } else { format!("{symbol} {word}: {meaning}") }
    }

    /// Its name in style sheets.
    pub(super) fn class(self) -> String {
        self.text().to_ascii_lowercase()
    }

    /// The printed word.
    pub(super) fn text(self) -> &'static str {
        self.look().word
    }

    pub(super) fn tone(self) -> Tone {
        self.look().tone
    }

    /// A column with the symbol and the word.
    pub(super) fn column(self) -> Toned {
        self.column_of(self.text())
    }

    /// The same with another word for this fate.
    pub(super) fn column_of(self, word: &str) -> Toned {
        (self.tone(), format!("{} {word}", self.look().symbol))
    }
}

/// Marks stand before words beside a state. Stored data is lost.
pub(super) const LOSS: &str = "!";
/// Something outside of the owner graph is deleted.
pub(super) const OUTSIDE: &str = "→";
/// A controller creates it again.
pub(super) const BACK: &str = "«";
/// It is not certain.
pub(super) const DOUBT: &str = "?";
/// An owner that does not exist.
pub(super) const MISSING: &str = "□";
/// A finding.
pub(super) const FINDING: &str = "▲";

/// The word in a column, without its symbol.
pub(super) fn word_in(column: &str) -> &str {
    let column = column.trim();
    match column.split_once(' ') {
        Some((symbol, word)) if symbol.chars().count() == 1 => word,
        _ => column,
    }
}

/// A text in ASCII: the symbols, the guides and the signs of these texts each become one character.
pub fn in_ascii(text: &str) -> String {
    let plain = |c: char| match c {
        '■' => '#',
        '◊' => '%',
        '○' => 'o',
        '»' | '~' => '~',
        '×' => 'x',
        '●' => '+',
        '·' | '…' => '.',
        '→' | '▸' => '>',
        '←' | '«' => '<',
        '□' => '_',
        '▲' => '*',
        '─' => '-',
        '│' | '├' => '|',
        '└' => '`',
        other => other,
    };
    text.chars().map(plain).collect()
}

/// The longest first line of an answer, in characters, its word included: one look is enough. Only a name may make it
/// longer.
pub(super) const LONGEST: usize = 100;

/// The word that begins the first line of an answer, and its name in documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "kebab-case", const_into_str)]
pub(super) enum Headline {
    // Of what would happen.
    Refused,
    TakesDown,
    DataLoss,
    Stuck,
    Depends,
    Waits,
    Unsure,
    Deletes,
    Creates,
    Nothing,
    // Of one object, or of a sweep.
    WillBeDeleted,
    Changes,
    Ok,
    // Of what was done.
    Done,
    Sent,
    PartlyDone,
    Unexpected,
    NotFinished,
    NotDone,
}

impl Headline {
    /// The word, its tone, and the state that it stands for.
    const fn look(self) -> (&'static str, Tone, Fate) {
        match self {
            Self::Refused => ("REFUSED", Tone::Error, Fate::Error),
            Self::TakesDown => ("TAKES DOWN", Tone::Error, Fate::Error),
            Self::DataLoss => ("DATA LOSS", Tone::Error, Fate::Error),
            Self::Stuck => ("STUCK", Tone::Error, Fate::Stuck),
            Self::Depends => ("DEPENDS", Tone::Warning, Fate::Depends),
            Self::Waits => ("WAITS", Tone::Warning, Fate::Waits),
            Self::Unsure => ("UNSURE", Tone::Warning, Fate::Unsure),
            Self::Deletes => ("DELETES", Tone::Strong, Fate::Deleted),
            Self::Creates => ("CREATES", Tone::Strong, Fate::Kept),
            Self::Nothing => ("NOTHING", Tone::Warning, Fate::Warning),
            Self::WillBeDeleted => ("WILL BE DELETED", Tone::Warning, Fate::Deleted),
            Self::Changes => ("CHANGES", Tone::Warning, Fate::Kept),
            Self::Ok => ("OK", Tone::Good, Fate::Untouched),
            Self::Done => ("DONE", Tone::Good, Fate::Untouched),
            Self::Sent => ("SENT", Tone::Strong, Fate::Untouched),
            Self::PartlyDone => ("PARTLY DONE", Tone::Error, Fate::Error),
            Self::Unexpected => ("UNEXPECTED", Tone::Error, Fate::Error),
            Self::NotFinished => ("NOT FINISHED", Tone::Error, Fate::Error),
            Self::NotDone => ("NOT DONE", Tone::Error, Fate::Error),
        }
    }

    pub(super) const fn word(self) -> &'static str {
        self.look().0
    }

    pub(super) const fn tone(self) -> Tone {
        self.look().1
    }

    pub(super) const fn fate(self) -> Fate {
        self.look().2
    }
}

/// What a text means to the reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Those of an object in a text.
    const OF_OBJECTS: [Fate; 7] =
        [Fate::Stuck, Fate::Depends, Fate::Waits, Fate::Later, Fate::Deleted, Fate::Kept, Fate::Unsure];

    const MARKS: [&str; 6] = [LOSS, OUTSIDE, BACK, DOUBT, MISSING, FINDING];

    #[test]
    fn each_state_has_a_symbol_of_its_own_also_in_ascii() {
        let columns = OF_OBJECTS.map(|fate| fate.column().1);
        for (word, column) in OF_OBJECTS.iter().zip(&columns) {
            assert_eq!(word_in(column), word.text());
            assert!(in_ascii(column).is_ascii(), "{column}");
        }
        let symbols = |text: &dyn Fn(&String) -> String| {
            let mut all: Vec<char> = columns.iter().filter_map(|column| text(column).chars().next()).collect();
            all.sort_unstable();
            all.dedup();
            all.len()
        };
        assert_eq!([symbols(&|column| column.clone()), symbols(&|column| in_ascii(column))], [OF_OBJECTS.len(); 2]);
        assert_eq!(in_ascii("├─ └─ │  → …"), "|- `- |  > .");
        assert_eq!(word_in("will be deleted"), "will be deleted");
    }

    /// The page's style sheet has the same colours.
    #[test]
    fn the_page_has_the_colours() {
        let page = include_str!("html/page.html");
        for look in Fate::VARIANTS.iter().map(|fate| fate.look()) {
            assert!(page.contains(look.colours[0]), "{look:?}");
        }
    }

    /// The page about the words has the same symbols.
    #[test]
    fn the_page_has_the_symbols() {
        let page = include_str!("../../docs/commands/plan.md");
        for fate in OF_OBJECTS {
            let column = fate.column().1;
            assert!(page.contains(&format!("| {column}")), "{column}");
        }
        for mark in MARKS {
            assert!(page.contains(&format!("| {mark} ")), "{mark}");
            assert_eq!(in_ascii(mark).len(), 1, "{mark}");
        }
    }
}

#[cfg(test)]
mod style_tests {
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
