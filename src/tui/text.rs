//! Text in tones, made of what the views write for a terminal.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::render::style::{Tone, Toned};

/// One line: its parts, each in a tone.
pub type Line = Vec<Toned>;

/// The lines of a text whose tones are written as [`crate::render::style::Style`] paints them. Other sequences are left
/// out: views escape what comes from a cluster.
pub fn lines(text: &str) -> Vec<Line> {
    text.lines().map(line).collect()
}

fn line(text: &str) -> Line {
    let mut line: Line = Vec::new();
    let mut tone = Tone::Plain;
    for (index, part) in text.split("\u{1b}[").enumerate() {
        let part = match part.split_once('m').filter(|_| index > 0) {
            Some((code, rest)) => {
                tone = painted_as(code);
                rest
            }
            None => part,
        };
        if !part.is_empty() {
            line.push((tone, part.to_owned()));
        }
    }
    line
}

fn painted_as(code: &str) -> Tone {
    match code {
        "2" => Tone::Quiet,
        "1" => Tone::Strong,
        "32" => Tone::Good,
        "33" => Tone::Warning,
        "35" => Tone::Later,
        "31;1" => Tone::Error,
        _ => Tone::Plain,
    }
}

/// A line, broken into lines of so many columns: at spaces if it has some, and otherwise anywhere.
pub(super) fn wrapped(line: &Line, width: usize) -> Vec<Line> {
    let all: usize = line.iter().map(|(_, text)| text.width()).sum();
    if all <= width {
        return vec![line.clone()];
    }
    let characters: Vec<(Tone, char)> =
        line.iter().flat_map(|(tone, text)| text.chars().map(|character| (*tone, character))).collect();
    let mut lines = Vec::new();
    let mut begin = 0;
    while begin < characters.len() {
        let mut used = 0;
        let fits = characters[begin..].iter().take_while(|(_, character)| {
            used += character.width().unwrap_or(0);
            used <= width
        });
        // At least one character, or there would be no end.
        let fits = fits.count().max(1);
        let mut end = begin + fits;
        let mut next = end;
        if end < characters.len()
            && let Some(space) = characters[begin..=end].iter().rposition(|(_, character)| *character == ' ')
            && characters[begin..begin + space].iter().any(|(_, character)| *character != ' ')
        {
            end = begin + space;
            next = end + 1;
        }
        lines.push(joined(&characters[begin..end]));
        begin = next;
    }
    lines
}

/// Characters of one tone after another, as parts.
fn joined(characters: &[(Tone, char)]) -> Line {
    let mut line: Line = Vec::new();
    for (tone, character) in characters {
        match line.last_mut() {
            Some((last, text)) if last == tone => text.push(*character),
            _ => line.push((*tone, character.to_string())),
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::style::Style;

    /// Every tone comes back as it was painted.
    #[test]
    fn tones_are_read_back() {
        let style = Style::new(true);
        for tone in [Tone::Plain, Tone::Quiet, Tone::Strong, Tone::Good, Tone::Later, Tone::Warning, Tone::Error] {
            let painted = format!("a {} b", style.paint(tone, "x"));
            let expected = [(Tone::Plain, "a "), (tone, "x"), (Tone::Plain, " b")];
            let read = line(&painted);
            match tone {
                Tone::Plain => assert_eq!(read, [(Tone::Plain, "a x b".to_owned())]),
                _ => assert_eq!(read, expected.map(|(tone, text)| (tone, text.to_owned()))),
            }
        }
    }
}
