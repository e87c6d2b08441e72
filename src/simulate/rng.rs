//! Reproducible pseudo-random numbers.

use std::hash::Hasher;

/// Numbers that look random and are the same each time, by xorshift: nothing hangs on their quality.
#[derive(Clone, Debug)]
pub(crate) struct Rng(u64);

impl Rng {
    /// The dice with this number.
    pub fn new(number: u64) -> Self {
        let mut hasher = rustc_hash::FxHasher::default();
        hasher.write_u64(number.wrapping_add(0x9e37_79b9_7f4a_7c15));
        Rng(hasher.finish() | 1)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound.max(1)
    }

    /// Puts items into another order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for place in (1..items.len()).rev() {
            items.swap(place, self.below(place + 1));
        }
    }
}
