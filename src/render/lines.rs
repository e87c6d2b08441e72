//! Lines of a name with remarks beside it: trees and plans. In a terminal, lines fit its width if possible: remarks
//! wrap, and start below a name that leaves them no room. Names are never shortened, so that they can be copied.

use std::{
    collections::BTreeSet,
    io::{self, Write},
};

use unicode_width::UnicodeWidthStr;

use super::{
    escape::visible,
    states::{Fate, Style, TextOptions, Tone, Toned},
    table, words,
};

/// The column after the names starts here at the latest, however long a name is.
const MOST_ALIGNED: usize = 100;
/// In lines with a column, remarks wrap and stand beside the name as long as they have this much room.
const ROOM_FOR_REMARKS: usize = 28;
/// Long words are broken if at least this much room is left; with less, the text would be unreadable anyway.
const LEAST_BROKEN: usize = 16;
/// The gap between two columns.
const GAP: usize = 2;

/// Up to this many lines are laid out so that they need the least room.
const A_SCREEN: usize = 40;
/// Then at most so many percent of the names stand above their texts.
const MOST_ABOVE: usize = 34;

/// The indent of lines below a first line.
const MARGIN: usize = 2;

/// One line before layout.
#[derive(Clone, Debug)]
pub(super) struct Line {
    /// The guide that connects it with the lines above.
    pub guide: String,
    pub tone: Tone,
    pub name: String,
    /// What becomes of the object, if the line says that.
    pub fate: Fate,
    /// The columns after the name.
    pub columns: Vec<Toned>,
    pub remarks: Vec<Toned>,
}

impl Line {
    /// A line with nothing but a name.
    pub(super) fn new(name: &str) -> Self {
        Line {
            guide: String::new(),
            tone: Tone::Plain,
            name: visible(name).into_owned(),
            fate: Fate::Untouched,
            columns: Vec::new(),
            remarks: Vec::new(),
        }
    }

    /// A line that stands for others.
    pub(super) fn quiet(name: &str) -> Self {
        Line { tone: Tone::Quiet, ..Line::new(name) }
    }

    /// The same with what becomes of the object, and the column that says so.
    pub(super) fn becomes(self, fate: Fate, column: Toned) -> Self {
        Line { fate, columns: vec![column], ..self }
    }

    /// The same with remarks of one tone.
    pub(super) fn remarked<T: AsRef<str>>(mut self, tone: Tone, remarks: impl IntoIterator<Item = T>) -> Self {
        remarks.into_iter().for_each(|remark| self.remark(tone, remark.as_ref()));
        self
    }

    /// Adds a remark, unless it is empty.
    pub(super) fn remark(&mut self, tone: Tone, remark: &str) {
        if !remark.is_empty() {
            self.remarks.push((tone, visible(remark).into_owned()));
        }
    }

    fn first(&self) -> usize {
        self.guide.width() + self.name.width()
    }

    fn column_width(&self) -> usize {
        self.columns.iter().map(|(_, text)| GAP + text.width()).sum()
    }

    /// The width of all remarks in one line, including the gap before them.
    fn remarks_width(&self) -> usize {
        let texts: usize = self.remarks.iter().map(|(_, text)| text.width()).sum();
        if self.remarks.is_empty() { 0 } else { GAP + texts + 2 * (self.remarks.len() - 1) }
    }

    fn is_bare(&self) -> bool {
        self.columns.is_empty() && self.remarks.is_empty()
    }

    /// Writes the line, indented by a margin. `at` is the result of [`aligned`]; its columns are padded.
    pub(super) fn write(
        &self,
        at: usize,
        margin: usize,
        width: Option<usize>,
        style: &Style,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let width = width.map_or(usize::MAX, |width| width.saturating_sub(margin));
        let fits = self.first() + self.column_width() + self.remarks_width() <= width;
        let used = self.first();
        let mut text = format!(
            "{}{}{}",
            " ".repeat(margin),
            style.paint(Tone::Quiet, &self.guide),
            style.paint(self.tone, &self.name)
        );
        if self.is_bare() {
            return writeln!(out, "{text}");
        }
        let beside = fits && self.columns.is_empty();
        let guide = continued(&self.guide);
        // Columns stay aligned, so a name may not push them; remarks alone may start further right.
        let used = if beside || used <= at || width == usize::MAX {
            used
        } else {
            writeln!(out, "{text}")?;
            text = format!("{}{}", " ".repeat(margin), style.paint(Tone::Quiet, &guide));
            guide.width()
        };
        let gap = at.saturating_sub(used);
        text.push_str(&" ".repeat(gap));
        for (tone, column) in &self.columns {
            text.push_str(&" ".repeat(GAP));
            let word = column.trim_end();
            text.push_str(&style.paint(*tone, word));
            text.push_str(&column[word.len()..]);
        }
        let mut before = used + gap + self.column_width() + GAP;
        let room = width.saturating_sub(before);
        // Several columns may leave too little room beside them.
        let below = self.columns.len() > 1 && room < ROOM_FOR_REMARKS && room + GAP < self.remarks_width();
        if below {
            before = guide.width() + 2 * GAP;
        }
        let mut remarks = wrapped(&self.remarks, width.saturating_sub(before), style).into_iter().peekable();
        if let Some(first) = remarks.next_if(|_| !below) {
            text.push_str(&" ".repeat(GAP));
            text.push_str(&first);
        }
        writeln!(out, "{}", text.trim_end())?;
        for remark in remarks {
            let padding = " ".repeat(before - guide.width());
            writeln!(out, "{}{}{padding}{remark}", " ".repeat(margin), style.paint(Tone::Quiet, &guide))?;
        }
        Ok(())
    }
}

/// Makes each column of the lines as wide as its widest text, and as its title if there is one.
pub(super) fn pad(titles: &mut [String], lines: &mut [Line]) {
    let columns = lines.iter().map(|line| line.columns.len()).max().unwrap_or(0).max(titles.len());
    for at in 0..columns {
        let cells = lines.iter().filter_map(|line| Some(line.columns.get(at)?.1.as_str()));
        let padded = table::column(titles.get(at).map(String::as_str).into_iter().chain(cells));
        let cells = lines.iter_mut().filter_map(|line| Some(&mut line.columns.get_mut(at)?.1));
        titles.get_mut(at).into_iter().chain(cells).zip(padded).for_each(|(text, padded)| *text = padded);
    }
}

/// Writes the lines, indented, with their columns side by side.
pub(super) fn write_padded(mut lines: Vec<Line>, options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
    pad(&mut [], &mut lines);
    let widest = aligned(&lines, options.width.map(|width| width.saturating_sub(MARGIN)));
    let at = if lines.len() <= A_SCREEN { lowest(&lines, widest, options) } else { widest };
    lines.iter().try_for_each(|line| line.write(at, MARGIN, options.width, options.style, out))
}

/// Where the text after the names starts, so that they need the fewest lines on the terminal: some long names may stand
/// above their texts.
fn lowest(lines: &[Line], widest: usize, options: &TextOptions<'_>) -> usize {
    let mut ends: Vec<usize> = lines.iter().filter(|line| !line.columns.is_empty()).map(Line::first).collect();
    ends.sort_unstable();
    let ends = ends.split_off(ends.len() * (100 - MOST_ABOVE) / 100);
    let ends: BTreeSet<usize> = ends.into_iter().filter(|end| *end < widest).chain([widest]).collect();
    let height = |at: usize| {
        let (mut text, plain) = (Vec::new(), Style::default());
        // Writing into memory doesn't fail.
        let _ = lines.iter().try_for_each(|line| line.write(at, MARGIN, options.width, &plain, &mut text));
        text.iter().filter(|byte| **byte == b'\n').count()
    };
    match options.width {
        Some(_) => ends.into_iter().rev().min_by_key(|at| height(*at)).unwrap_or(widest),
        None => widest,
    }
}

/// Where the text after the names starts, in columns from the left.
pub(super) fn aligned(lines: &[Line], width: Option<usize>) -> usize {
    let beside = || lines.iter().filter(|line| !line.is_bare());
    let longest = beside().map(Line::first).filter(|first| *first <= MOST_ALIGNED).max().unwrap_or(0);
    let longest = if longest == 0 && beside().next().is_some() { MOST_ALIGNED } else { longest };
    let room = |width: usize| {
        let most = |of: fn(&Line) -> usize| beside().map(of).max().unwrap_or(0);
        let (column, remarks) = (most(Line::column_width), most(Line::remarks_width));
        let remarks = remarks.min(GAP + ROOM_FOR_REMARKS);
        width.saturating_sub(column + remarks).max(width / 2)
    };
    longest.min(width.map_or(usize::MAX, room))
}

/// Writes a paragraph of several tones.
pub(super) fn write_runs(
    runs: &[Toned],
    hanging: usize,
    options: &TextOptions<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let lines = painted(runs, options.width.unwrap_or(usize::MAX), hanging, options.style);
    lines.iter().try_for_each(|line| writeln!(out, "{line}"))
}

/// The lines of a text of several tones.
fn painted(runs: &[Toned], width: usize, hanging: usize, style: &Style) -> Vec<String> {
    // The tone of each byte of the text, as pieces.
    let mut text = String::new();
    let mut ends = Vec::new();
    for (tone, run) in runs {
        for c in visible(run).chars() {
            // Of several spaces in a row, one is left.
            if c != ' ' || !text.ends_with(' ') {
                text.push(c);
            }
        }
        ends.push((text.len(), *tone));
    }
    let mut at = 0;
    let paint = |line: String| {
        let indent = line.len() - line.trim_start().len();
        let mut painted = " ".repeat(indent);
        // A line is broken at a space or inside of a word.
        at += usize::from(text[at..].starts_with(' '));
        let end = at + line.len() - indent;
        for (until, tone) in &ends {
            let part = at.min(end)..end.min(*until);
            if !part.is_empty() {
                at = part.end;
                painted += &style.paint(*tone, &text[part]);
            }
        }
        painted
    };
    words::set(&text, width, hanging).into_iter().map(paint).collect()
}

/// Writes a sentence that begins with a highlighted word.
pub(super) fn write_sentence(
    word: &str,
    tone: Tone,
    sentence: &str,
    options: &TextOptions<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    write_runs(&[(tone, word.to_owned()), (Tone::Plain, format!(": {sentence}"))], 0, options, out)
}

/// Writes a paragraph of one tone.
pub(super) fn write_paragraph(
    tone: Tone,
    text: &str,
    options: &TextOptions<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    write_runs(&[(tone, text.to_owned())], 0, options, out)
}

/// The guide of a continuation line: its own branch ends, those of its ancestors continue.
fn continued(guide: &str) -> String {
    guide.replace("├─ ", "│  ").replace("└─ ", "   ")
}

/// The remarks, wrapped at `width` columns where their words allow it.
fn wrapped(remarks: &[Toned], width: usize, style: &Style) -> Vec<String> {
    let mut runs: Vec<Toned> = Vec::new();
    for (tone, remark) in remarks {
        if let Some((_, before)) = runs.last_mut() {
            before.push(';');
            runs.push((Tone::Plain, " ".to_owned()));
        }
        runs.push((*tone, remark.clone()));
    }
    painted(&runs, width, 0, style)
}

/// Breaks a word that is too long for a line, such as a finalizer: after a slash or a comma, else after a full stop or
/// before a capital letter, and never at a hyphen, so that each part of a name can be copied.
pub(super) fn pieces(word: &str, width: usize) -> Vec<&str> {
    if word.width() <= width || width < LEAST_BROKEN {
        return vec![word];
    }
    let mut pieces = Vec::new();
    let mut rest = word;
    while rest.width() > width {
        let fits = |at: &usize| rest[..*at].width() <= width;
        let places = rest.char_indices().skip(1).map(|(at, _)| at).take_while(fits);
        let is_part = |at: &usize| rest[..*at].ends_with(['/', ',']);
        let is_end = |at: &usize| {
            rest[..*at].ends_with('.')
                || rest[..*at].ends_with(char::is_lowercase) && rest[*at..].starts_with(char::is_uppercase)
        };
        let place = places.clone().filter(is_part).last().or_else(|| places.filter(is_end).last());
        let Some(at) = place else { break };
        pieces.push(&rest[..at]);
        rest = &rest[at..];
    }
    pieces.push(rest);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(guide: &str, name: &str, column: Option<&str>, remarks: &[&str]) -> Line {
        Line {
            guide: guide.to_owned(),
            tone: Tone::Plain,
            name: name.to_owned(),
            fate: Fate::Untouched,
            columns: column.map(|text| (Tone::Plain, text.to_owned())).into_iter().collect(),
            remarks: remarks.iter().map(|text| (Tone::Plain, (*text).to_owned())).collect(),
        }
    }

    fn written(lines: &[Line], width: Option<usize>) -> Vec<String> {
        let mut out = Vec::new();
        let at = aligned(lines, width);
        lines.iter().try_for_each(|line| line.write(at, 0, width, &Style::default(), &mut out)).unwrap();
        String::from_utf8(out).unwrap().lines().map(str::to_owned).collect()
    }

    #[test]
    fn remarks_go_on_below_themselves() {
        let lines = [
            line("", "Shop/main", None, &[]),
            line("├─ ", "Pod/a", None, &["one two three", "four five"]),
            line("└─ ", "Pod/b", None, &["six"]),
        ];
        assert_eq!(written(&lines, None), ["Shop/main", "├─ Pod/a  one two three; four five", "└─ Pod/b  six"]);
        let narrow = ["Shop/main", "├─ Pod/a  one two three;", "│         four five", "└─ Pod/b  six"];
        assert_eq!(written(&lines, Some(24)), narrow);
        assert_eq!(written(&lines, Some(23))[1..4], ["├─ Pod/a  one two", "│         three; four", "│         five"]);
    }

    #[test]
    fn names_are_whole_and_columns_aligned() {
        let lines = [
            line("", "a-name-that-is-too-long-for-it", Some("gone "), &["why"]),
            line("└─ ", "short", Some("stays"), &[]),
        ];
        assert_eq!(written(&lines, Some(42))[0], "a-name-that-is-too-long-for-it  gone   why");
        let broken = [
            "a-name-that-is-too-long-for-it",
            "                               gone   why",
            "└─ short                       stays",
        ];
        assert_eq!(written(&lines, Some(41)), broken);
        for width in [0, 1, 20, 30] {
            assert_eq!(written(&lines, Some(width))[0], "a-name-that-is-too-long-for-it");
        }
        let below = [line("├─ ", "a-name-that-is-too-long-for-it", None, &["one", "two"]), lines[1].clone()];
        let broken = ["├─ a-name-that-is-too-long-for-it", "│                one; two", "└─ short         stays"];
        assert_eq!(written(&below, Some(30)), broken);
    }

    #[test]
    fn long_finalizers_are_broken_where_they_can_be() {
        assert_eq!(
            pieces("resources-finalizer.argocd.argoproj.io", 30),
            ["resources-finalizer.argocd.", "argoproj.io"]
        );
        assert_eq!(pieces("short.example.org", 30), ["short.example.org"]);
        assert_eq!(pieces("Pod/web-6d5f8c7b94-x2lqp", 22), ["Pod/", "web-6d5f8c7b94-x2lqp"]);
        assert_eq!(pieces("web-6d5f8c7b94-x2lqp", 18), ["web-6d5f8c7b94-x2lqp"]);
        assert_eq!(pieces("aaaaaaaaaaaaaaaaaaaaaaaaaaaa", 16), ["aaaaaaaaaaaaaaaaaaaaaaaaaaaa"]);
        assert_eq!(pieces("日本.日本語日本語日本語日本語/x", 16), ["日本.", "日本語日本語日本語日本語/x"]);
        let lines =
            [line("", "Application/shop", Some("waits"), &["finalizer resources-finalizer.argocd.argoproj.io"])];
        assert!(written(&lines, Some(60)).iter().all(|line| line.width() <= 60), "{:?}", written(&lines, Some(60)));
    }

    #[test]
    fn words_that_never_fit_get_lines_of_their_own() {
        let lines = [line("", "x", None, &["a-word-that-is-too-long and another"])];
        assert_eq!(written(&lines, Some(10)), ["x  a-word-that-is-too-long", "   and", "   another"]);
    }
}
