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
            guides.push(draw(&ends));
        }
        guides
    }
}

/// For every line, whether it is the last of its siblings.
fn last_of_siblings(depths: &[usize]) -> Vec<bool> {
    let mut follows: Vec<bool> = Vec::new();
    let mut last = vec![true; depths.len()];
    for (index, depth) in depths.iter().copied().enumerate().rev() {
        follows.truncate(depth + 1);
        follows.resize(depth + 1, false);
        last[index] = !std::mem::replace(&mut follows[depth], true);
    }
    last
}

/// The guides of a line. `ends` says of it and its ancestors whether each is the last of its siblings.
fn draw(ends: &[bool]) -> String {
    let depth = ends.len() - 1;
    if depth == 0 {
        return String::new();
    }
    let left_out = (depth - 1) / LEVELS * LEVELS;
    let mut guides = if left_out == 0 { String::new() } else { format!("+{left_out} ") };
    for end in &ends[left_out + 1..depth] {
        guides.push_str(if *end { "   " } else { "│  " });
    }
    guides.push_str(if ends[depth] { "└─ " } else { "├─ " });
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
