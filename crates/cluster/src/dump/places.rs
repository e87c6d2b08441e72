//! Where the objects of a dump stand, for messages. Most stand behind the one before, so that only the others are kept.

use gc_core::model::Symbol;

/// A place: its file, and numbers that are 0 if there are none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CompactPlace {
    pub file: Symbol,
    pub document: u32,
    pub item: u32,
}

impl CompactPlace {
    /// So many items, or documents, further on.
    fn after(self, steps: u32) -> Self {
        match self {
            CompactPlace { item: 0, document: 0, .. } => self,
            CompactPlace { item: 0, document, .. } => CompactPlace { document: document.saturating_add(steps), ..self },
            CompactPlace { item, .. } => CompactPlace { item: item.saturating_add(steps), ..self },
        }
    }
}

/// The places of objects, by their index.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// Objects from which on each stands behind the one before; the first of them, and its place.
    runs: Vec<(u32, CompactPlace)>,
    len: u32,
}

impl Places {
    pub(super) fn push(&mut self, place: CompactPlace) {
        if self.runs.last().is_none_or(|(first, begin)| begin.after(self.len - first) != place) {
            self.runs.push((self.len, place));
        }
        self.len += 1;
    }

    pub(super) fn get(&self, index: usize) -> CompactPlace {
        let index = index as u32;
        let run = self.runs.partition_point(|(first, _)| *first <= index);
        let (first, begin) = self.runs[run - 1];
        begin.after(index - first)
    }

    pub(super) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len as u32);
        while self.runs.last().is_some_and(|(first, _)| *first >= self.len) {
            self.runs.pop();
        }
    }

    /// The document that the objects from this one stand in is the only one of its file: it needs no number.
    pub(super) fn only_document(&mut self, first: usize) {
        let begins = self.runs.partition_point(|(own, _)| (*own as usize) < first);
        for (_, place) in &mut self.runs[begins..] {
            place.document = 0;
        }
    }

    /// Keeps only these objects, in this order.
    pub(super) fn keep(&self, indices: impl Iterator<Item = usize>) -> Places {
        let mut kept = Places::default();
        indices.for_each(|index| kept.push(self.get(index)));
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_comes_back() {
        let place = |document, item| CompactPlace { file: Symbol::EMPTY, document, item };
        let all = [
            place(1, 1),
            place(1, 2),
            place(1, 4),
            place(2, 0),
            place(3, 0),
            place(3, 0),
            place(0, 0),
            place(0, 0),
            place(1, u32::MAX),
            place(1, u32::MAX),
        ];
        let mut places = Places::default();
        all.iter().for_each(|place| places.push(*place));
        assert!(places.runs.len() < all.len());
        let get = |places: &Places| (0..places.len as usize).map(|index| places.get(index)).collect::<Vec<_>>();
        assert_eq!(get(&places), all);
        assert_eq!(get(&places.keep([0, 2, 5].into_iter())), [all[0], all[2], all[5]]);
        places.truncate(5);
        assert_eq!(get(&places), all[..5]);
        places.truncate(2);
        places.push(place(1, 3));
        assert_eq!(get(&places), [place(1, 1), place(1, 2), place(1, 3)]);
        places.only_document(0);
        assert_eq!(get(&places), [place(0, 1), place(0, 2), place(0, 3)]);
    }
}
