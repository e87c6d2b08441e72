//! How each fate looks, and what a legend says of it. Shape, word and colour tell the same.

use std::collections::BTreeSet;

use super::{Fate, View};

/// The colours and the words of a fate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    /// Its name in style sheets.
    pub class: &'static str,
    /// What the legend says.
    pub meaning: &'static str,
    /// The colour of its line and its word on light, and on dark.
    pub light: &'static str,
    pub dark: &'static str,
    /// A fill on which black text is readable.
    pub fill: &'static str,
}

/// How a fate looks.
pub(super) const fn look(fate: Fate) -> Look {
    let (class, meaning, light, dark, fill) = match fate {
        Fate::Stays => ("stays", "stays as it is", "#57606a", "#9da7b3", "#f6f8fa"),
        Fate::Deleted => ("deleted", "deleted", "#8250df", "#c297ff", "#eddeff"),
        Fate::Kept => ("kept", "kept, with changed owner references", "#116329", "#56d364", "#dafbe1"),
        Fate::Waits => ("waits", "Terminating until something else is done", "#7d4e00", "#e3b341", "#fff8c5"),
        Fate::Stuck => {
            ("stuck", "Terminating, and no controller is known to finish it", "#a40e26", "#ff7b72", "#ffd7d5")
        }
        Fate::Unsure => ("unsure", "not certain", "#0550ae", "#79c0ff", "#ddf4ff"),
        Fate::Absent => ("absent", "no object has this uid", "#57606a", "#9da7b3", "#ffffff"),
        Fate::Error => ("error", "an error, as its line says", "#a40e26", "#ff7b72", "#ffd7d5"),
        Fate::Warning => ("warning", "a warning, as its line says", "#7d4e00", "#e3b341", "#fff8c5"),
        Fate::Note => ("note", "note", "#0550ae", "#79c0ff", "#ddf4ff"),
    };
    Look { class, meaning, light, dark, fill }
}

/// The fates that occur, in a fixed order.
pub(super) fn occurring(view: &View) -> BTreeSet<Fate> {
    view.rows.iter().map(|row| row.fate).collect()
}
