// SPDX-License-Identifier: MIT
//! Tables by identifier.

/// What is known of some of a module's identifiers. These are dense, so that they index a table; the outer form bounds
/// them by the size of the module (`module.rs`), and with them the table.
#[derive(Debug)]
pub(super) struct Ids<T> {
    /// One more than the place among the entries, or 0. Empty as long as there are none.
    places: Vec<u32>,
    entries: Vec<T>,
    bound: u32,
}

impl<T> Ids<T> {
    /// An empty table for the identifiers below `bound`.
    pub(super) fn new(bound: u32) -> Self {
        Self {
            places: Vec::new(),
            entries: Vec::new(),
            bound,
        }
    }

    pub(super) fn get(&self, id: u32) -> Option<&T> {
        let place = *self.places.get(id as usize)?;
        self.entries.get(place.checked_sub(1)? as usize)
    }

    /// Replaces what was known. An identifier beyond the bound stays unknown: the validator and Mesa refuse it.
    pub(super) fn insert(&mut self, id: u32, entry: T) {
        if id >= self.bound {
            return;
        }
        let id = id as usize;
        if self.places.is_empty() {
            self.places = vec![0; self.bound as usize];
        }
        match self.places[id].checked_sub(1) {
            Some(place) => self.entries[place as usize] = entry,
            None => {
                self.entries.push(entry);
                self.places[id] = self.entries.len() as u32;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Ids;

    #[test]
    fn the_last_entry_counts_and_the_bound_holds() {
        let mut ids = Ids::new(9);
        ids.insert(8, 'a');
        ids.insert(3, 'b');
        ids.insert(8, 'c');
        ids.insert(9, 'd');
        ids.insert(u32::MAX, 'e');
        let known = [3, 8, 0, 9, u32::MAX].map(|id| ids.get(id).copied());
        assert_eq!(known, [Some('b'), Some('c'), None, None, None]);
    }
}
