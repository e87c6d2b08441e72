//! The states of objects: each has one symbol, one word and one tone, the same in all texts.

use super::style::Tone;

/// What will happen to an object, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Word {
    Stuck,
    /// Terminating; it is unknown whether its controller runs.
    Unclear,
    /// Terminating; a controller will finish the deletion.
    Waits,
    /// Deleted once others have done their part.
    Later,
    Gone,
    Stays,
    /// Nothing happens to it in the simulations, but something could.
    Unsure,
}

impl Word {
    /// The symbol, the printed word, and its tone.
    const fn look(self) -> (char, &'static str, Tone) {
        match self {
            Word::Stuck => ('■', "STUCK", Tone::Error),
            Word::Unclear => ('◊', "DEPENDS", Tone::Warning),
            Word::Waits => ('○', "waits", Tone::Warning),
            Word::Later => ('»', "later", Tone::Plain),
            Word::Gone => ('×', "deleted", Tone::Plain),
            Word::Stays => ('●', "kept", Tone::Good),
            Word::Unsure => ('?', "unsure", Tone::Warning),
        }
    }

    /// The printed word.
    pub(super) fn text(self) -> &'static str {
        self.look().1
    }

    pub(super) fn tone(self) -> Tone {
        self.look().2
    }

    /// A column with the symbol and the word, as wide as words of this width.
    pub(super) fn column(self, width: usize) -> (Tone, String) {
        self.column_of(self.text(), width)
    }

    /// The same with another word for this state.
    pub(super) fn column_of(self, word: &str, width: usize) -> (Tone, String) {
        (self.tone(), format!("{} {word:<width$}", self.look().0))
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

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Word; 7] =
        [Word::Stuck, Word::Unclear, Word::Waits, Word::Later, Word::Gone, Word::Stays, Word::Unsure];

    const MARKS: [&str; 6] = [LOSS, OUTSIDE, BACK, DOUBT, MISSING, FINDING];

    #[test]
    fn each_state_has_a_symbol_of_its_own_also_in_ascii() {
        let columns = ALL.map(|word| word.column(7).1);
        for (word, column) in ALL.iter().zip(&columns) {
            assert_eq!(word_in(column), word.text());
            assert!(in_ascii(column).is_ascii(), "{column}");
        }
        let symbols = |text: &dyn Fn(&String) -> String| {
            let mut all: Vec<char> = columns.iter().filter_map(|column| text(column).chars().next()).collect();
            all.sort_unstable();
            all.dedup();
            all.len()
        };
        assert_eq!([symbols(&|column| column.clone()), symbols(&|column| in_ascii(column))], [ALL.len(); 2]);
        assert_eq!(in_ascii("├─ └─ │  → …"), "|- `- |  > .");
        assert_eq!(word_in("will be deleted"), "will be deleted");
    }

    /// The page about the words has the same symbols.
    #[test]
    fn the_page_has_the_symbols() {
        let page = include_str!("../../docs/commands/plan.md");
        for word in ALL {
            let column = word.column(0).1;
            assert!(page.contains(&format!("| {column}")), "{column}");
        }
        for mark in MARKS {
            assert!(page.contains(&format!("| {mark} ")), "{mark}");
            assert_eq!(in_ascii(mark).len(), 1, "{mark}");
        }
    }
}
