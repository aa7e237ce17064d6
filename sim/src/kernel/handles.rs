// SPDX-License-Identifier: MIT
//! The two ways in which an open file numbers its objects.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// Handles of the DRM core (buffers, syncobjs): from 1, always the lowest free number.
#[derive(Debug)]
pub(crate) struct Handles<T> {
    slots: Vec<Option<T>>,
    free: BinaryHeap<Reverse<u32>>,
}

impl<T> Default for Handles<T> {
    fn default() -> Handles<T> {
        Handles {
            slots: Vec::new(),
            free: BinaryHeap::new(),
        }
    }
}

impl<T> Handles<T> {
    /// Gives the object a handle.
    pub(crate) fn insert(&mut self, value: T) -> u32 {
        if let Some(Reverse(handle)) = self.free.pop() {
            self.slots[handle as usize - 1] = Some(value);
            return handle;
        }
        self.slots.push(Some(value));
        u32::try_from(self.slots.len()).expect("handles are objects in memory")
    }

    fn index(handle: u32) -> Option<usize> {
        (handle as usize).checked_sub(1)
    }

    /// The object of a handle.
    pub(crate) fn get(&self, handle: u32) -> Option<&T> {
        self.slots.get(Self::index(handle)?)?.as_ref()
    }

    /// Takes a handle back.
    pub(crate) fn remove(&mut self, handle: u32) -> Option<T> {
        let value = self.slots.get_mut(Self::index(handle)?)?.take()?;
        self.free.push(Reverse(handle));
        Some(value)
    }
}

/// IDs of the Asahi driver (VMs, queues, timestamp objects): from 1, never reused (kernel-uapi, 4).
#[derive(Debug)]
pub(crate) struct Ids<T> {
    objects: BTreeMap<u32, T>,
    last: u32,
}

impl<T> Default for Ids<T> {
    fn default() -> Ids<T> {
        Ids {
            objects: BTreeMap::new(),
            last: 0,
        }
    }
}

impl<T> Ids<T> {
    /// Gives the object an ID; the object back when all are used up.
    pub(crate) fn insert(&mut self, value: T) -> Result<u32, T> {
        let Some(id) = self.last.checked_add(1) else {
            return Err(value);
        };
        self.last = id;
        self.objects.insert(id, value);
        Ok(id)
    }

    /// The object of an ID.
    pub(crate) fn get(&self, id: u32) -> Option<&T> {
        self.objects.get(&id)
    }

    /// Takes an ID out of use.
    pub(crate) fn remove(&mut self, id: u32) -> Option<T> {
        self.objects.remove(&id)
    }

    /// Takes all IDs of objects that match out of use.
    pub(crate) fn remove_where(&mut self, matches: impl Fn(&T) -> bool) -> Vec<T> {
        let ids = self.objects.iter().filter(|(_, value)| matches(value));
        let ids: Vec<u32> = ids.map(|(id, _)| *id).collect();
        ids.into_iter()
            .filter_map(|id| self.objects.remove(&id))
            .collect()
    }

    /// All objects.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.objects.values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_are_the_lowest_free() {
        let mut handles = Handles::default();
        assert_eq!(
            [
                handles.insert('a'),
                handles.insert('b'),
                handles.insert('c')
            ],
            [1, 2, 3]
        );
        assert_eq!(handles.remove(2), Some('b'));
        assert_eq!(handles.remove(1), Some('a'));
        assert_eq!(handles.remove(1), None);
        assert_eq!(handles.get(2), None);
        assert_eq!(
            [
                handles.insert('d'),
                handles.insert('e'),
                handles.insert('f')
            ],
            [1, 2, 4]
        );
        assert_eq!(handles.get(1), Some(&'d'));
        assert_eq!(handles.get(0), None);
        assert_eq!(handles.remove(0), None);
        assert_eq!(handles.get(u32::MAX), None);
    }

    #[test]
    fn ids_are_never_reused_and_run_out() {
        let mut ids = Ids::default();
        assert_eq!(ids.insert('a'), Ok(1));
        assert_eq!(ids.remove(1), Some('a'));
        assert_eq!(ids.insert('b'), Ok(2));
        assert_eq!(ids.get(0), None);
        assert_eq!(ids.get(1), None);
        ids.last = u32::MAX - 1;
        assert_eq!(ids.insert('y'), Ok(u32::MAX));
        assert_eq!(ids.insert('z'), Err('z'));
        assert_eq!(ids.remove_where(|c| *c == 'b'), ['b']);
        assert_eq!(ids.iter().collect::<String>(), "y");
    }
}
