//! Reproducible pseudo-random numbers.

use std::hash::Hasher;

/// A reproducible pseudo-random generator (xorshift). Its quality doesn't matter.
#[derive(Clone, Debug)]
pub(crate) struct Rng(u64);

impl Rng {
    /// The generator with this seed.
    pub(super) fn new(seed: u64) -> Self {
        let mut hasher = rustc_hash::FxHasher::default();
        hasher.write_u64(seed.wrapping_add(0x9e37_79b9_7f4a_7c15));
        Rng(hasher.finish() | 1)
    }

    /// A number below `bound`.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound.max(1)
    }

    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for place in (1..items.len()).rev() {
            items.swap(place, self.below(place + 1));
        }
    }
}
