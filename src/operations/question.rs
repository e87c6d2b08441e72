//! Questions and their answers.

/// Where questions are asked.
pub trait Terminal {
    /// Whether a user can answer.
    fn can_ask(&self) -> bool;

    /// Asks, and returns the typed line; an empty one at the end of input.
    fn ask(&mut self, preface: &str, prompt: &str) -> String;

    /// Prints a line while a question is open.
    fn say(&mut self, line: &str);

    fn now(&self) -> jiff::Zoned;
}

/// What is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Question {
    /// Printed above the question; may be empty.
    pub preface: String,
    /// Printed before the answer.
    pub prompt: String,
    /// The word to type; `None`: yes.
    pub word: Option<String>,
    /// What to type to archive first; `None` if that isn't offered.
    pub archive: Option<&'static str>,
}

/// What was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Yes,
    No,
    /// Archive first, and ask again.
    Archive,
}

impl Question {
    /// The meaning of a line: no, unless it is an expected answer.
    pub fn judge(&self, line: &str) -> Answer {
        let line = line.trim();
        match &self.word {
            Some(word) if line == word => Answer::Yes,
            None if is_yes(line) => Answer::Yes,
            _ if self.archive == Some(line) => Answer::Archive,
            _ => Answer::No,
        }
    }
}

fn is_yes(line: &str) -> bool {
    ["y", "yes"].contains(&line.to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(word: Option<&str>, archive: Option<&'static str>) -> Question {
        Question { word: word.map(str::to_owned), archive, ..Question::default() }
    }

    #[test]
    fn only_what_was_asked_for_is_a_yes() {
        let plain = question(None, Some("a"));
        for yes in ["y", "Y", "yes", " YES "] {
            assert_eq!(plain.judge(yes), Answer::Yes, "{yes:?}");
        }
        for no in ["", "n", "no", "yy", "j", "A", "yes please"] {
            assert_eq!(plain.judge(no), Answer::No, "{no:?}");
        }
        assert_eq!(plain.judge("a"), Answer::Archive);
        assert_eq!(question(None, None).judge("a"), Answer::No, "it was archived already");
    }

    #[test]
    fn a_name_has_to_be_typed_as_it_is() {
        let named = question(Some("shop"), Some("a"));
        assert_eq!(named.judge("shop"), Answer::Yes);
        for no in ["", "y", "yes", "Shop", "sho", "shop shop"] {
            assert_eq!(named.judge(no), Answer::No, "{no:?}");
        }
        let awkward = question(Some("a"), Some("A"));
        assert_eq!((awkward.judge("a"), awkward.judge("A")), (Answer::Yes, Answer::Archive));
    }
}
