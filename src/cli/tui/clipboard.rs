//! Asks the terminal to put a text on its clipboard (OSC 52). That works over ssh, too; some terminals ignore it.

use std::io::{self, Write as _};

use base64::{Engine as _, engine::general_purpose::STANDARD};

pub(super) fn copy(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(sequence(text).as_bytes())?;
    out.flush()
}

/// Base64 keeps whatever the text contains from ending the sequence.
fn sequence(text: &str) -> String {
    format!("\u{1b}]52;c;{}\u{7}", STANDARD.encode(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_the_text_reaches_the_terminal_as_it_is() {
        assert_eq!(sequence("kubectl\u{7}\u{1b}"), "\u{1b}]52;c;a3ViZWN0bAcb\u{7}");
    }
}
