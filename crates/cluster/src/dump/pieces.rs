//! Cuts JSON into pieces while it is read: whole documents, the items of lists, the elements of arrays. Only one piece
//! is in memory at a time. What is malformed ends a piece early, or in the wrong place; its parser says so.

use std::io::{self, Read};

use memchr::{memchr, memchr_iter, memchr2, memmem, memrchr};

use crate::bounded;
use gc_core::model::Times;

/// How much is read at once, in bytes.
pub(super) const CHUNK: usize = 256 << 10;

/// A place in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Position {
    /// From 1.
    pub line: usize,
    /// The number of bytes before it in its line.
    pub column: usize,
}

impl Position {
    pub(super) const START: Position = Position { line: 1, column: 0 };

    /// The position after these bytes.
    pub(super) fn after(self, bytes: &[u8]) -> Position {
        match memrchr(b'\n', bytes) {
            Some(last) => {
                Position { line: self.line + memchr_iter(b'\n', bytes).count(), column: bytes.len() - last - 1 }
            }
            None => Position { column: self.column + bytes.len(), ..self },
        }
    }
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// How a piece ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// With its value.
    Value,
    /// After the bracket that opens its items.
    Items,
    /// With the input, too early.
    Input,
}

/// How many bytes are read at once.
const STEP: usize = 64 << 10;

/// The most that one piece, a text in YAML or a snapshot file may have, in bytes: a million objects in YAML have 600
/// MiB.
const LARGEST_PIECE: usize = if cfg!(test) { 4 << 20 } else { 2 << 30 };

/// A text that is read piece by piece.
pub(super) struct Pieces<R> {
    reader: R,
    chunk: usize,
    /// The most that may be in the buffer.
    most: usize,
    buffer: Vec<u8>,
    /// Where the next piece begins in the buffer.
    start: usize,
    /// Where that is in the text.
    pub at: Position,
    /// How much of the buffer is UTF-8 for certain.
    checked: usize,
    /// Whether what follows that is the beginning of a character, or nothing.
    is_text: bool,
    /// How many bytes were read.
    pub read: u64,
    /// The latest times of the fields that say when something happened.
    pub latest: Times,
    /// Finds what may be the name of such a field.
    times: memmem::Finder<'static>,
}

/// What the names of all fields with a time have in common.
const TIME: &[u8] = b"ime";

/// Fields, beside those that begin with `last`, whose time is when something happened. Others may lie ahead: a
/// certificate's `renewalTime`, a `startTime` that is planned, the end of a grace period.
const PAST: [&[u8]; 6] =
    [b"creationTimestamp", b"renewTime", b"acquireTime", b"eventTime", b"firstTimestamp", b"completionTime"];

/// The latest time in a text, in JSON or YAML, of fields whose names say that it is when something happened:
/// `lastTransitionTime`, `renewTime`, `lastTimestamp`, the `time` of managed fields.
fn latest_times(finder: &memmem::Finder<'_>, text: &[u8]) -> Times {
    const LENGTH: usize = "2026-01-31T08:00:00".len();
    let times = finder.find_iter(text).filter_map(|at| {
        let begin = at - text[..at].iter().rev().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let rest = text[at + 3..].strip_prefix(b"stamp").unwrap_or(&text[at + 3..]);
        let name = &text[begin..text.len() - rest.len()];
        // Managed fields say when right after they have said which operation that was.
        let before = &text[begin.saturating_sub(80)..begin];
        let of_managed = || name == b"time" && memmem::find(before, b"operation").is_some();
        if !name.starts_with(b"last") && !PAST.contains(&name) && !of_managed() {
            return None;
        }
        let between = rest.iter().take(6).take_while(|byte| matches!(byte, b'"' | b'\'' | b':' | b' ')).count();
        let time = std::str::from_utf8(rest.get(between..between + LENGTH)?).ok()?;
        let is_named = rest[..between].contains(&b':') && time.as_bytes()[10] == b'T';
        let time: jiff::civil::DateTime = is_named.then(|| time.parse().ok()).flatten()?;
        let latest = Some(jiff::tz::Offset::UTC.to_timestamp(time).ok()?.as_second());
        let beats = matches!(name, b"renewTime" | b"lastHeartbeatTime");
        Some(Times { latest, heartbeat: latest.filter(|_| beats) })
    });
    times.fold(Times::default(), Times::max)
}

impl<R: Read> Pieces<R> {
    pub(super) fn of(reader: R) -> Self {
        Pieces {
            reader,
            chunk: CHUNK,
            most: LARGEST_PIECE,
            buffer: Vec::new(),
            start: 0,
            checked: 0,
            is_text: true,
            at: Position::START,
            read: 0,
            latest: Times::default(),
            times: memmem::Finder::new(TIME),
        }
    }

    /// The same, read in chunks of another size.
    #[cfg(any(test, feature = "testing"))]
    pub(super) fn in_chunks(self, chunk: usize) -> Self {
        Pieces { chunk, ..self }
    }

    /// Skips the mark that some editors put before a text.
    pub(super) fn skip_byte_order_mark(&mut self) -> io::Result<()> {
        const MARK: &[u8] = "\u{feff}".as_bytes();
        while self.rest().len() < MARK.len() && self.fill()? {}
        if self.rest().starts_with(MARK) {
            self.start += MARK.len();
        }
        Ok(())
    }

    /// All the rest.
    pub(super) fn all(mut self) -> io::Result<Vec<u8>> {
        self.most = usize::MAX;
        while self.fill()? {}
        self.buffer.drain(..self.start);
        Ok(self.buffer)
    }

    /// The first byte that is no whitespace; everything stays.
    pub(super) fn first(&mut self) -> io::Result<Option<u8>> {
        let mut blank = 0;
        loop {
            let rest = &self.rest()[blank..];
            match rest.iter().position(|byte| !is_blank(*byte)) {
                Some(at) => return Ok(Some(rest[at])),
                None => blank += rest.len(),
            }
            if !self.fill()? {
                return Ok(None);
            }
        }
    }

    /// What was read of the rest.
    pub(super) fn rest(&self) -> &[u8] {
        &self.buffer[self.start..]
    }

    /// Whether what was read of the rest is UTF-8, but perhaps for a character that is not complete yet.
    pub(super) fn is_text(&self) -> bool {
        self.is_text
    }

    /// Reads more; `false` at the end.
    pub(super) fn fill(&mut self) -> io::Result<bool> {
        if self.rest().len() > self.most {
            let most = bounded::size(self.most as u64);
            let hint = "YAML is held as a whole: get a dump of this size with -o json";
            return Err(io::Error::other(format!("{most} of it are no whole object; {hint}")));
        }
        if self.start > 0 {
            self.buffer.drain(..self.start);
            self.checked = self.checked.saturating_sub(self.start);
            self.start = 0;
        }
        let before = self.buffer.len();
        let end = before + self.chunk;
        loop {
            let step = STEP.min(end - self.buffer.len());
            // With less room than this, `read_to_end` makes some by itself, and aborts where there is no memory.
            self.buffer.try_reserve(step + 32)?;
            if (&mut self.reader).take(step as u64).read_to_end(&mut self.buffer)? == 0 {
                break;
            }
        }
        let more = self.buffer.len() - before;
        self.read += more as u64;
        match std::str::from_utf8(&self.buffer[self.checked..]) {
            Ok(_) => (self.checked, self.is_text) = (self.buffer.len(), true),
            // The last character may not be complete yet.
            Err(error) => {
                (self.checked, self.is_text) = (self.checked + error.valid_up_to(), error.error_len().is_none())
            }
        }
        Ok(more > 0)
    }

    /// Takes the next bytes away.
    pub(super) fn skip(&mut self, length: usize) {
        let text = &self.buffer[self.start..self.start + length];
        self.latest = self.latest.max(latest_times(&self.times, text));
        self.at = self.at.after(text);
        self.start += length;
    }

    /// The next byte that is no whitespace; it stays.
    pub(super) fn peek(&mut self) -> io::Result<Option<u8>> {
        loop {
            match self.rest().iter().position(|byte| !is_blank(*byte)) {
                Some(at) => {
                    self.skip(at);
                    return Ok(self.rest().first().copied());
                }
                None => {
                    self.skip(self.rest().len());
                    if !self.fill()? {
                        return Ok(None);
                    }
                }
            }
        }
    }

    /// The next line, with its end; it stays. Empty at the end. Of a very long line, only a part.
    pub(super) fn line(&mut self) -> io::Result<&[u8]> {
        let mut searched = 0;
        let length = loop {
            if let Some(at) = memchr(b'\n', &self.rest()[searched..]) {
                break searched + at + 1;
            }
            searched = self.rest().len();
            if searched >= self.chunk || !self.fill()? {
                break searched;
            }
        };
        Ok(&self.rest()[..length])
    }

    /// The length of the value that begins here, or of what `depth` open brackets before it enclose. Ends after the
    /// opening bracket of a top-level list called `items`, if that is wanted.
    pub(super) fn measure(&mut self, mut depth: usize, stop_at_items: bool) -> io::Result<(usize, End)> {
        let mut at = 0;
        // Where an unfinished string begins, and how much of it was searched for its end.
        let mut string: Option<(usize, usize)> = None;
        let (mut was_items, mut is_items) = (false, false);
        loop {
            let bytes = &self.buffer[self.start..];
            while at < bytes.len() {
                if let Some((begin, searched)) = string {
                    match memchr2(b'"', b'\\', &bytes[searched..]).map(|found| searched + found) {
                        Some(found) if bytes[found] == b'"' => {
                            was_items = depth == 1 && &bytes[begin..found] == b"items";
                            (string, at) = (None, found + 1);
                            if depth == 0 {
                                return Ok((at, End::Value));
                            }
                        }
                        Some(found) if found + 2 <= bytes.len() => string = Some((begin, found + 2)),
                        Some(found) => {
                            string = Some((begin, found));
                            break;
                        }
                        None => {
                            string = Some((begin, bytes.len()));
                            break;
                        }
                    }
                    continue;
                }
                let byte = bytes[at];
                match byte {
                    b'"' => (string, is_items) = (Some((at + 1, at + 1)), false),
                    b'{' | b'[' => {
                        if stop_at_items && is_items && byte == b'[' {
                            return Ok((at + 1, End::Items));
                        }
                        depth += 1;
                        (was_items, is_items) = (false, false);
                    }
                    b'}' | b']' => {
                        // The end of a number, or of nothing.
                        if depth == 0 {
                            return Ok((at, End::Value));
                        }
                        depth -= 1;
                        if depth == 0 {
                            return Ok((at + 1, End::Value));
                        }
                    }
                    b':' => is_items = std::mem::take(&mut was_items),
                    byte if depth == 0 && (byte == b',' || is_blank(byte)) => return Ok((at, End::Value)),
                    byte if is_blank(byte) => {}
                    _ => (was_items, is_items) = (false, false),
                }
                at += 1;
            }
            if !self.fill()? {
                return Ok((self.rest().len(), End::Input));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// robustness input: a text without an end, in YAML and in JSON | once | an error that says what to do
    #[test]
    fn a_piece_has_a_limit() {
        for (begin, rest) in [("", "a: b\n"), ("{\"a\": \"", "b")] {
            let endless = std::iter::repeat(rest).flat_map(str::bytes);
            let text: Vec<u8> = begin.bytes().chain(endless.take(2 * LARGEST_PIECE)).collect();
            let error = crate::dump::read_bytes(&text, false).unwrap_err().to_string();
            assert!(error.contains("4Mi of it are no whole object; YAML is held as a whole"), "{error}");
        }
    }

    #[test]
    fn the_latest_time_is_one_at_which_something_happened() {
        let latest =
            |text: &str| latest_times(&memmem::Finder::new(TIME), text.as_bytes()).latest.map(|it| it - 1_767_225_600);
        for (text, expected) in [
            (
                r#"{"lastUpdateTime": "2026-01-01T00:00:05Z", "operation":"Apply","time":"2026-01-01T00:00:07Z"}"#,
                Some(7),
            ),
            ("renewTime: 2026-01-01T00:00:09.123456Z\nlastTimestamp: '2026-01-01T00:00:03Z'", Some(9)),
            ("creationTimestamp: \"2026-01-01T00:00:01Z\"", Some(1)),
            ("deletionTimestamp: \"2026-01-01T00:00:30Z\"", None),
            ("renewalTime: \"2036-01-01T00:00:00Z\"\nstartTime: \"2036-01-01T00:00:00Z\"", None),
            ("schedule:\n  time: \"2036-01-01T00:00:00Z\"", None),
            ("notAfter: \"2036-01-01T00:00:00Z\"", None),
            ("runtime: 2036-01-01T00:00", None),
            ("the time is 2036-01-01T00:00:00Z", None),
            ("lastTransitionTime: null, time", None),
        ] {
            assert_eq!(latest(text), expected, "{text}");
        }
    }

    #[test]
    fn only_one_piece_is_in_memory() {
        let item = br#"{"a":"]}","items":[1]},"#;
        let many = 200_000;
        let endless = std::iter::repeat_n(&item[..], many).flatten().copied().collect::<Vec<u8>>();
        let mut pieces = Pieces::of(&endless[..]).in_chunks(1000);
        for _ in 0..many {
            let (length, end) = pieces.measure(0, false).unwrap();
            assert_eq!((length, end), (item.len() - 1, End::Value));
            pieces.skip(length);
            assert_eq!(pieces.peek().unwrap(), Some(b','));
            pieces.skip(1);
            assert!(pieces.buffer.capacity() < 5000, "{}", pieces.buffer.capacity());
        }
        assert_eq!((pieces.peek().unwrap(), pieces.read), (None, endless.len() as u64));
    }

    #[test]
    fn only_the_list_of_a_document_is_cut() {
        let items = |text: &str| match Pieces::of(text.as_bytes()).in_chunks(3).measure(0, true).unwrap() {
            (length, End::Items) => Some(text[..length].to_owned()),
            _ => None,
        };
        assert_eq!(
            items(r#"{"a":["items",{"items":[]}],"items" : [1]}"#).unwrap(),
            r#"{"a":["items",{"items":[]}],"items" : ["#
        );
        for other in [
            r#"{"items":{},"a":[]}"#,
            r#"{"a":"items","b":[]}"#,
            r#"{"items":1,"b":[]}"#,
            r#"["items",[1]]"#,
            r#"{"it\"ems":[]}"#,
            r#"{"items":"x":[]}"#,
        ] {
            assert_eq!(items(other), None, "{other}");
        }
    }
}
