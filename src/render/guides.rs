//! The lines that lead from an owner to its dependents, for trees of any depth.

/// So many levels are drawn side by side. Deeper ones restart at the left, with the number of omitted levels.
const LEVELS: usize = 10;

/// The guides before every name.
pub(super) struct Guides;

impl Guides {
    /// The guides of lines with these depths, in reading order. Takes linear time, at any depth.
    pub(super) fn of(depths: impl Iterator<Item = u32>) -> Vec<String> {
        let depths: Vec<usize> = depths.map(|depth| depth as usize).collect();
        let last = last_of_siblings(&depths);
        let mut ends = Vec::new();
        let mut guides = Vec::with_capacity(depths.len());
        for (index, depth) in depths.iter().copied().enumerate() {
            ends.truncate(depth);
            // A line is at most one level deeper than the one before it; more is never drawn.
            ends.resize(depth, true);
            ends.push(last[index]);
            guides.push(draw(depth, &ends[depth + 1 - levels(depth)..]));
        }
        guides
    }
}

/// For every line, whether it is the last of its siblings.
pub(crate) fn last_of_siblings(depths: &[usize]) -> Vec<bool> {
    let mut follows: Vec<bool> = Vec::new();
    let mut last = vec![true; depths.len()];
    for (index, depth) in depths.iter().copied().enumerate().rev() {
        follows.truncate(depth + 1);
        follows.resize(depth + 1, false);
        last[index] = !std::mem::replace(&mut follows[depth], true);
    }
    last
}

/// How many levels the guide of a line at this depth draws: its own, and those of its nearest ancestors.
pub(crate) fn levels(depth: usize) -> usize {
    depth - left_out(depth)
}

/// The omitted levels.
fn left_out(depth: usize) -> usize {
    depth.saturating_sub(1) / LEVELS * LEVELS
}

/// The guide of a line. `ends` says of its nearest ancestors and, last, of itself, whether each is the last of its
/// siblings, for as many [`levels`] as are drawn.
pub(crate) fn draw(depth: usize, ends: &[bool]) -> String {
    let Some((end, ancestors)) = ends.split_last() else { return String::new() };
    let left_out = left_out(depth);
    let mut guides = if left_out == 0 { String::new() } else { format!("+{left_out} ") };
    for end in ancestors {
        guides.push_str(if *end { "   " } else { "│  " });
    }
    guides.push_str(if *end { "└─ " } else { "├─ " });
    guides
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connects_siblings() {
        let guides = Guides::of([0, 1, 2, 2, 1, 0, 1].into_iter());
        assert_eq!(guides, ["", "├─ ", "│  ├─ ", "│  └─ ", "└─ ", "", "└─ "]);
    }

    #[test]
    fn starts_again_at_the_left_when_deep() {
        let guides = Guides::of(0..25);
        assert_eq!(guides[10], format!("{}└─ ", " ".repeat(27)));
        assert_eq!(guides[11], "+10 └─ ");
        assert_eq!(guides[12], "+10    └─ ");
        assert_eq!(guides[21], "+20 └─ ");
    }

    #[test]
    fn stays_linear_in_a_chain() {
        let guides = Guides::of((0..100_000).chain((1..100_000).rev()));
        assert!(guides.iter().all(|guides| guides.chars().count() < 50));
    }
}
