//! `-o svg`: a picture without scripts, which every browser, wiki and mail program shows. Its rows are those of the
//! text.

use unicode_width::UnicodeWidthStr;

use crate::{render::guides::Guides, wording::count};

use super::{
    Fate, Picture, Row, View,
    graph::{Edge, Graph},
    legend::{Look, look, occurring},
    lines::broken,
    markup::escaped,
};

/// The size of letters in pixels, and the width of one: monospaced fonts differ by a percent.
const SIZE: usize = 13;
const COLUMN: f64 = 7.83;
/// The height of a line.
const LINE: usize = 20;
/// The space around everything.
const MARGIN: usize = 16;
/// The width of a shape and the gap after it, in columns.
const SHAPE: usize = 3;
/// Longer names push what stands beside them.
const MOST_ALIGNED: usize = 64;
/// The width of what is said beside a name, and of text below the rows, in columns.
const DETAIL: usize = 64;
const TEXT: usize = 110;
/// At most this many owner references that the rows don't show are drawn.
const MOST_CURVES: usize = 200;
/// The width that curves have, in pixels.
const CURVES: usize = 72;

/// The picture as a document of its own.
pub(super) fn write(picture: &Picture, view: &View) -> String {
    let mut page = Page { body: String::new(), y: MARGIN, right: 0 };
    page.heading(picture, view);
    let mut curves = curves(picture, view);
    let more = curves.len().saturating_sub(MOST_CURVES);
    curves.truncate(MOST_CURVES);
    page.rows(view, &curves, more);
    page.sections(view);
    page.legend(view, !curves.is_empty());
    page.finish(picture, view)
}

/// A document under construction.
struct Page {
    body: String,
    /// Where the next line begins, and the right edge of what was written.
    y: usize,
    right: usize,
}

impl Page {
    /// Writes one line of text at a column.
    fn text(&mut self, column: usize, class: &str, text: &str) {
        if text.is_empty() {
            return;
        }
        let (x, baseline) = (x_of(column), self.y + LINE - 6);
        self.right = self.right.max((x_of(column + text.width())).ceil() as usize);
        self.body += &format!("<text class=\"{class}\" x=\"{x:.1}\" y=\"{baseline}\">{}</text>\n", escaped(text));
    }

    fn heading(&mut self, picture: &Picture, view: &View) {
        for line in broken(&picture.title, TEXT) {
            self.text(0, "strong", &line);
            self.y += LINE;
        }
        for line in broken(&picture.source, TEXT) {
            self.text(0, "quiet", &line);
            self.y += LINE;
        }
        if let Some(verdict) = &view.verdict {
            self.y += LINE / 2;
            let word = format!("{}:", verdict.word);
            let indent = SHAPE + word.width() + 1;
            self.shape(0, verdict.fate);
            self.text(SHAPE, &format!("strong {}", look(verdict.fate).class), &word);
            for line in broken(&verdict.sentence, TEXT.saturating_sub(indent).max(DETAIL)) {
                self.text(indent, "plain", &line);
                self.y += LINE;
            }
        }
        self.y += LINE / 2;
    }

    fn rows(&mut self, view: &View, curves: &[Curve], more: usize) {
        let mut depths: Vec<u32> = Vec::with_capacity(view.rows.len());
        for row in &view.rows {
            depths.push(row.parent.map_or(0, |parent| depths[parent] + 1));
        }
        let guides = Guides::of(depths.iter().copied());
        let end = |row: &Row, guide: &str| guide.width() + SHAPE + row.title.width();
        let ends = view.rows.iter().zip(&guides).map(|(row, guide)| end(row, guide));
        let aligned = ends.filter(|end| *end <= MOST_ALIGNED).max().unwrap_or(0).max(16);
        let gutter = if curves.is_empty() { 0 } else { (CURVES as f64 / COLUMN).ceil() as usize + 1 };
        let words = aligned + gutter + 2;
        let word_width = view.rows.iter().map(|row| row.word.width()).max().unwrap_or(0);
        let details = if word_width == 0 { words } else { words + word_width + 2 };
        let mut middles: Vec<(usize, f64)> = Vec::with_capacity(view.rows.len());
        for (row, guide) in view.rows.iter().zip(&guides) {
            let beside = broken(&row.detail, DETAIL);
            let begin = guide.width();
            // Names are whole: a long one has a line of its own.
            let is_long = begin + SHAPE + row.title.width() > aligned;
            let story = if row.object.is_none() { said_below(row) } else { Vec::new() };
            let height = beside.len().max(1) + usize::from(is_long && !(row.word.is_empty() && beside.is_empty()));
            let height = height + story.len();
            self.guide(guide, height);
            middles.push((self.y + LINE / 2, x_of(begin + SHAPE + row.title.width()) + 4.0));
            self.shape(begin, row.fate);
            let class = look(row.fate).class;
            let name = match () {
                () if row.more > 0 => "quiet".to_owned(),
                () if row.object.is_none() => "strong".to_owned(),
                () => "plain".to_owned(),
            };
            let top = self.y;
            self.text(begin + SHAPE, &name, &row.title);
            if is_long && height > story.len() + beside.len().max(1) {
                self.y += LINE;
            }
            self.text(words, class, &row.word);
            for line in &beside {
                self.text(details, "plain", line);
                self.y += LINE;
            }
            let below = top + (height - story.len()) * LINE;
            self.y = below;
            for (indent, line) in story {
                self.text(begin + SHAPE + indent, "quiet", &line);
                self.y += LINE;
            }
        }
        self.curves(view, curves, &middles, x_of(aligned) + 6.0);
        if more > 0 {
            self.text(
                0,
                "quiet",
                &format!("{} not drawn", count(more, "more owner reference is", "more owner references are")),
            );
            self.y += LINE;
        }
        if !view.rows.is_empty() {
            self.y += LINE / 2;
        }
    }

    /// The lines from the left to a row of this height: those of the text.
    fn guide(&mut self, guide: &str, height: usize) {
        let (top, middle, bottom) = (self.y, self.y + LINE / 2, self.y + height * LINE);
        let (mut lines, mut digits) = (String::new(), String::new());
        for (column, c) in guide.chars().enumerate() {
            let x = x_of(column) + COLUMN / 2.0;
            match c {
                '│' => lines += &format!("M{x:.1} {top}V{bottom}"),
                '├' => lines += &format!("M{x:.1} {top}V{bottom}M{x:.1} {middle}h{:.1}", COLUMN * 2.4),
                '└' => lines += &format!("M{x:.1} {top}V{middle}h{:.1}", COLUMN * 2.4),
                '─' | ' ' => {}
                c => digits.push(c),
            }
        }
        if !lines.is_empty() {
            self.body += &format!("<path class=\"guide\" d=\"{lines}\"/>\n");
        }
        self.text(0, "quiet", &digits);
    }

    /// The shape of a fate.
    fn shape(&mut self, column: usize, fate: Fate) {
        let (x, y) = (x_of(column) + 8.0, (self.y + LINE / 2) as f64);
        let class = look(fate).class;
        let path = |d: &str, kind: &str| {
            format!("<path class=\"{kind} {class}\" transform=\"translate({x:.1} {y})\" d=\"{d}\"/>\n")
        };
        self.body += &match fate {
            Fate::Stays => path("M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z", "line"),
            Fate::Deleted => path("M-4.5-4.5L4.5 4.5M4.5-4.5L-4.5 4.5", "line"),
            Fate::Kept => path("M-5 0.5L-1.5 4L5-4", "line"),
            Fate::Waits => path("M-4.5-5H4.5L-4.5 5H4.5z", "line"),
            Fate::Stuck => path("M-5.5-5.5H5.5V5.5H-5.5z", "solid"),
            Fate::Unsure => path("m0-6L6 0L0 6L-6 0z", "line"),
            Fate::Absent => path("M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z", "line dashed"),
            Fate::Error => path("M-2.5-6H2.5L6-2.5V2.5L2.5 6H-2.5L-6 2.5V-2.5z", "solid"),
            Fate::Warning => path("m0-6L6 5H-6z", "line"),
            Fate::Note => path("M-4-6H4V6H-4zM-2-2H2M-2 2H2", "line"),
        };
    }

    /// The owner references that the rows don't show, beside the names.
    fn curves(&mut self, view: &View, curves: &[Curve], middles: &[(usize, f64)], edge: f64) {
        for curve in curves {
            let ((from, from_x), (to, to_x)) = (middles[curve.dependent], middles[curve.owner]);
            let (from_x, to_x) = (from_x.min(edge), to_x.min(edge));
            let bend = (14.0 + from.abs_diff(to) as f64 / 8.0).min(CURVES as f64 - 8.0);
            let x = edge + bend;
            let class = if curve.invalid { "curve error" } else { "curve" };
            let titles = (&view.rows[curve.dependent].title, &view.rows[curve.owner].title);
            let (dependent, owner) = (escaped(titles.0), escaped(titles.1));
            let way =
                format!("M{from_x:.1} {from}L{edge:.1} {from}C{x:.1} {from} {x:.1} {to} {edge:.1} {to}L{to_x:.1} {to}");
            self.body += &format!(
                "<path class=\"{class}\" marker-end=\"url(#arrow)\" d=\"{way}\"><title>{dependent} is owned by \
                 {owner}</title></path>\n"
            );
        }
    }

    fn sections(&mut self, view: &View) {
        let indent = view.sections.iter().map(|section| section.label.width() + 2).max().unwrap_or(0).min(DETAIL / 2);
        for section in &view.sections {
            let is_long = section.label.width() + 2 > indent;
            self.text(0, "strong", &section.label);
            if is_long {
                self.y += LINE;
            }
            for line in section.lines.iter().flat_map(|line| broken(line, TEXT.saturating_sub(indent))) {
                self.text(indent, "plain", &line);
                self.y += LINE;
            }
        }
        if !view.sections.is_empty() {
            self.y += LINE / 2;
        }
    }

    fn legend(&mut self, view: &View, has_curves: bool) {
        let fates = occurring(view);
        if fates.is_empty() {
            return;
        }
        self.text(0, "strong", "Legend");
        self.y += LINE;
        for fate in fates {
            let look = look(fate);
            self.shape(0, fate);
            self.text(SHAPE, look.class, look.meaning);
            self.y += LINE;
        }
        if has_curves {
            let y = self.y + LINE / 2;
            self.body += &format!("<path class=\"curve\" marker-end=\"url(#arrow)\" d=\"m{} {y}h16\"/>\n", MARGIN);
            self.text(SHAPE, "plain", "another owner reference: from the dependent to its owner");
            self.y += LINE;
        }
    }

    fn finish(self, picture: &Picture, view: &View) -> String {
        let (width, height) = (self.right + MARGIN, self.y + MARGIN);
        let title = escaped(&picture.title);
        let said = view.verdict.as_ref().map(|verdict| format!("{}: {} ", verdict.word, verdict.sentence));
        let lines = count(view.rows.len(), "line", "lines");
        let about = escaped(&format!("{} {}{lines}.", picture.source, said.unwrap_or_default()));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\" aria-labelledby=\"title about\">\n\
             <title id=\"title\">{title}</title>\n<desc id=\"about\">{about}</desc>\n<style>{}</style>\n\
             <defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" \
             orient=\"auto\"><path class=\"arrow\" d=\"m0 0L8 4L0 8z\"/></marker></defs>\n\
             <rect class=\"page\" width=\"{width}\" height=\"{height}\"/>\n{}</svg>\n",
            style(),
            self.body
        )
    }
}

/// What is said below a finding: what follows from it, and what mends it.
fn said_below(row: &Row) -> Vec<(usize, String)> {
    let mut said = Vec::new();
    for section in &row.story {
        for (index, line) in section.lines.iter().enumerate() {
            for (part, line) in broken(line, TEXT).into_iter().enumerate() {
                let label = if index == 0 && part == 0 {
                    format!("{:<6}", format!("{}:", section.label))
                } else {
                    " ".repeat(6)
                };
                said.push((0, format!("{label}{line}")));
            }
        }
    }
    said.into_iter().map(|(_, line)| (line.len() - line.trim_start().len(), line.trim_start().to_owned())).collect()
}

/// An owner reference that the rows don't show, between two of them.
struct Curve {
    dependent: usize,
    owner: usize,
    invalid: bool,
}

fn curves(picture: &Picture, view: &View) -> Vec<Curve> {
    let graph = Graph::of(picture, view);
    let hidden = graph.edges.iter().filter(|edge| !edge.places && !edge.repeats);
    let curve = |edge: &Edge<'_>| Curve {
        dependent: edge.to,
        owner: edge.from,
        invalid: edge.link.is_some_and(|link| !link.invalid.is_empty()),
    };
    hidden.map(curve).collect()
}

/// Where a column begins.
fn x_of(column: usize) -> f64 {
    MARGIN as f64 + column as f64 * COLUMN
}

fn style() -> String {
    let fates = [
        Fate::Stays,
        Fate::Deleted,
        Fate::Kept,
        Fate::Waits,
        Fate::Stuck,
        Fate::Unsure,
        Fate::Absent,
        Fate::Error,
        Fate::Warning,
        Fate::Note,
    ];
    let of = |colour: fn(Look) -> &'static str| -> String {
        let rules = fates.map(|fate| {
            let (look, colour) = (look(fate), colour(look(fate)));
            let class = look.class;
            format!("text.{class},.solid.{class}{{fill:{colour}}}.line.{class},.curve.{class}{{stroke:{colour}}}")
        });
        rules.concat()
    };
    format!(
        "text{{font:{SIZE}px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace;fill:#1f2328;\
         white-space:pre}}.page{{fill:#fff}}.strong{{font-weight:bold}}text.quiet{{fill:#57606a}}\
         .guide{{fill:none;stroke:#8c959f}}.line{{fill:none;stroke-width:1.8}}.dashed{{stroke-dasharray:2 1.6}}\
         .curve{{fill:none;stroke:#57606a;stroke-dasharray:4 3}}.arrow{{fill:#57606a}}{}\
         @media(prefers-color-scheme:dark){{text{{fill:#e6edf3}}.page{{fill:#0d1117}}text.quiet{{fill:#9da7b3}}\
         .guide{{stroke:#6e7681}}.curve{{stroke:#9da7b3}}.arrow{{fill:#9da7b3}}{}}}",
        of(|look| look.light),
        of(|look| look.dark)
    )
}
