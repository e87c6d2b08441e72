//! `-o svg`: a picture without scripts and style sheets, which every browser, wiki and mail program shows. Its rows are
//! those of the text, each in a box.

use unicode_width::UnicodeWidthStr;

use crate::render::words::broken;

use super::{
    Picture, Row, View,
    fold::{depths, fitting},
    html::escaped,
};

/// As wide as a comment on GitHub, in pixels like all lengths here.
const WIDTH: usize = 860;
const MARGIN: usize = 16;
/// The height of a row, and of its box.
const ROW: usize = 28;
const BOX: usize = 22;
/// The space at the sides of a name in its box.
const PADDING: usize = 8;
/// The height of a line of other text.
const LINE: usize = 16;
/// How far a row stands to the right of its owner's. Rows deeper than so many levels stand below each other.
const INDENT: usize = 22;
const MOST_INDENTED: usize = 12;
/// The sizes of letters: of a verdict, of names, and of what is said beside them.
const LARGE: usize = 16;
const MIDDLE: usize = 12;
const SMALL: usize = 11;
/// The width of a letter by its size: no font is measured.
const LETTER: f64 = 0.605;
/// What is said beside a name has at least so many columns, and at most so many lines; else it stands below.
const NARROWEST: usize = 28;
const MOST_BESIDE: usize = 3;
/// A larger picture can't be read: it is folded.
const MOST_ROWS: usize = 120;

const INK: &str = "#1f2328";
const FAINT: &str = "#57606a";
const GUIDE: &str = "#8c959f";

/// The picture as a document of its own.
pub(in crate::render) fn write(picture: &Picture, view: &View) -> String {
    let view = fitting(picture, view, MOST_ROWS).next().unwrap_or_default();
    let mut page = Page { body: String::new(), y: MARGIN };
    page.lines(MARGIN, MIDDLE, INK, " font-weight=\"bold\"", &picture.title);
    page.lines(MARGIN, SMALL, FAINT, "", &picture.source);
    if let Some(verdict) = &view.verdict {
        let colour = verdict.fate.look().colours[0];
        page.y += LINE / 2;
        page.lines(MARGIN, LARGE, colour, " font-weight=\"bold\"", &format!("{}: {}", verdict.word, verdict.sentence));
    }
    page.y += LINE / 2;
    page.rows(&view);
    page.sections(&view);
    for fate in view.fates() {
        page.lines(MARGIN, SMALL, fate.look().colours[0], "", &fate.legend());
    }
    page.finish(picture, &view)
}

/// A document under construction.
struct Page {
    body: String,
    /// Where the next line begins.
    y: usize,
}

impl Page {
    /// Writes one line of text; `y` is its baseline.
    fn text(&mut self, (x, y): (usize, usize), size: usize, colour: &str, more: &str, text: &str) {
        if !text.is_empty() {
            let text = escaped(text);
            self.body +=
                &format!("<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" fill=\"{colour}\"{more}>{text}</text>\n");
        }
    }

    /// Writes a text in as many lines as it needs.
    fn lines(&mut self, x: usize, size: usize, colour: &str, more: &str, text: &str) {
        for line in broken(text, columns(WIDTH - MARGIN - x, size)) {
            self.text((x, self.y + size), size, colour, more, &line);
            self.y += LINE.max(size + 6);
        }
    }

    fn rows(&mut self, view: &View) {
        // Where the box of each row begins, and where it ends below.
        let mut places: Vec<(usize, usize)> = Vec::with_capacity(view.rows.len());
        for (row, depth) in view.rows.iter().zip(depths(&view.rows)) {
            let x = MARGIN + INDENT * depth.min(MOST_INDENTED);
            let (top, middle) = (self.y + (ROW - BOX) / 2, self.y + ROW / 2);
            if let Some((from, bottom)) = row.parent.map(|parent| places[parent])
                && from < x
            {
                let from = from + INDENT / 2;
                self.body +=
                    &format!("<path d=\"M{from}.5 {bottom}V{middle}.5H{x}\" fill=\"none\" stroke=\"{GUIDE}\"/>\n");
            }
            places.push((x, top + BOX));
            self.row(row, x, top);
        }
        self.y += LINE / 2;
    }

    /// A box with the state and the name, and beside it or below what is said of it.
    fn row(&mut self, row: &Row, x: usize, top: usize) {
        let room = WIDTH - MARGIN - x;
        let [colour, behind] = row.fate.look().colours;
        let state = row.state();
        let needed = pixels(state.width() + 1 + row.title.width(), MIDDLE) + 2 * PADDING;
        let width = needed.min(room);
        let said = [row.title.as_str(), row.word.as_str(), row.detail.as_str()];
        let said: Vec<&str> = said.into_iter().filter(|text| !text.is_empty()).collect();
        self.body += &format!("<g><title>{}</title>\n", escaped(&said.join(": ")));
        let stroke = row.fate.border().svg;
        let mut draw = |x: usize, y: usize| {
            self.body += &format!(
                "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{BOX}\" rx=\"3\" fill=\"{behind}\" \
                 stroke=\"{colour}\"{stroke}/>\n"
            );
        };
        if row.more + row.below > 0 {
            draw(x + 3, top - 3);
        }
        draw(x, top);
        // A name that is too long for the picture is drawn narrower: it stays whole.
        let squeezed = if needed > room {
            format!(" textLength=\"{}\" lengthAdjust=\"spacingAndGlyphs\"", width - 2 * PADDING)
        } else {
            String::new()
        };
        self.body += &format!(
            "<text x=\"{}\" y=\"{}\" font-size=\"{MIDDLE}\" fill=\"{INK}\"{squeezed}><tspan font-weight=\"bold\" \
             fill=\"{colour}\">{}</tspan> {}</text>\n",
            x + PADDING,
            top + BOX - 7,
            escaped(&state),
            escaped(&row.title)
        );
        let beside = columns((room - width).saturating_sub(PADDING), SMALL);
        let is_beside = beside >= NARROWEST && broken(&row.detail, beside).len() <= MOST_BESIDE;
        let at = if is_beside { x + width + PADDING } else { x + INDENT };
        if !is_beside {
            self.y += ROW;
        }
        for (index, line) in broken(&row.detail, columns(WIDTH - MARGIN - at, SMALL)).iter().enumerate() {
            if is_beside && index > 0 {
                self.y += LINE;
            }
            let baseline = if is_beside { self.y + ROW / 2 + 4 } else { self.y + SMALL };
            self.text((at, baseline), SMALL, INK, "", line);
            if !is_beside {
                self.y += LINE;
            }
        }
        if is_beside {
            self.y += ROW;
        }
        for section in row.story.iter().filter(|_| row.object.is_none()) {
            for (index, line) in section.lines.iter().enumerate() {
                let label = if index == 0 { format!("{}: ", section.label) } else { String::new() };
                self.lines(x + INDENT, SMALL, FAINT, "", &format!("{label}{line}"));
            }
        }
        self.body += "</g>\n";
    }

    fn sections(&mut self, view: &View) {
        let widest = view.sections.iter().map(|section| section.label.width() + 1).max().unwrap_or(0);
        let indent = MARGIN + pixels(widest, MIDDLE).min(WIDTH / 4);
        for section in &view.sections {
            self.text((MARGIN, self.y + MIDDLE), MIDDLE, INK, " font-weight=\"bold\"", &section.label);
            if MARGIN + pixels(section.label.width() + 1, MIDDLE) > indent {
                self.y += LINE;
            }
            section.lines.iter().for_each(|line| self.lines(indent, MIDDLE, INK, "", line));
        }
        if !view.sections.is_empty() {
            self.y += LINE / 2;
        }
    }

    fn finish(self, picture: &Picture, view: &View) -> String {
        let height = self.y + MARGIN;
        let said = view.verdict.as_ref().map(|verdict| format!(": {}: {}", verdict.word, verdict.sentence));
        let title = escaped(&format!("{}{}", picture.title, said.unwrap_or_default()));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
             viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" \
             font-family=\"ui-monospace,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace\">\n\
             <title>{title}</title>\n<rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#ffffff\"/>\n{}</svg>\n",
            self.body
        )
    }
}

/// The width of so many columns.
fn pixels(columns: usize, size: usize) -> usize {
    (columns as f64 * size as f64 * LETTER).ceil() as usize
}

/// How many columns have room.
fn columns(pixels: usize, size: usize) -> usize {
    (pixels as f64 / (size as f64 * LETTER)) as usize
}
