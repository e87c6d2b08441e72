//! Small matters of wording that everything which speaks needs: numbers, ages, words for a shell.

use std::borrow::Cow;

/// `1 object`, `3 objects`.
pub fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// An age as kubectl's short form: the largest unit that fits.
pub fn age(seconds: i64) -> String {
    match seconds {
        ..0 => "0s".to_owned(),
        0..120 => format!("{seconds}s"),
        120..7_200 => format!("{}m", seconds / 60),
        7_200..172_800 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// A word as a shell takes it for one, whatever is in it: some names may hold anything, and commands are there to be pasted.
pub fn shell_word(text: &str) -> Cow<'_, str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._/:@=,+%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("'{}'", text.replace('\'', r"'\''")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shells_take_words_for_words() {
        assert_eq!(shell_word("deployment.apps/web-1"), "deployment.apps/web-1");
        assert_eq!(shell_word("clusterrole/a $(reboot) isn't"), r"'clusterrole/a $(reboot) isn'\''t'");
        assert_eq!(shell_word(""), "''");
    }

    #[test]
    fn ages_are_short() {
        let ages = [-5, 119, 120, 7_199, 7_200, 172_799, 172_800].map(age);
        assert_eq!(ages, ["0s", "119s", "2m", "119m", "2h", "47h", "2d"]);
    }
}
