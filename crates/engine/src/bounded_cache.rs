//! The one bounded cache: so many values of so many bytes together, and the oldest go first.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// Values by their keys, as many as fit; a value that is inserted again is new again.
///
/// Invariant: `known` and `order` have the same keys, each with the number under which it came.
#[derive(Debug)]
pub struct BoundedCache<K, V> {
    count_max: usize,
    bytes_max: usize,
    /// By keys, with when they came.
    known: BTreeMap<K, Cached<V>>,
    /// Keys by when they came.
    order: BTreeMap<u64, K>,
    bytes: usize,
    next: u64,
}

#[derive(Debug)]
struct Cached<V> {
    number: u64,
    bytes: usize,
    value: V,
}

impl<K: Ord + Clone, V> BoundedCache<K, V> {
    /// Nothing yet; at most so many values, and of so many bytes together.
    #[must_use]
    pub fn new(count_max: usize, bytes_max: usize) -> Self {
        let (known, order) = (BTreeMap::new(), BTreeMap::new());
        Self { count_max, bytes_max, known, order, bytes: 0, next: 0 }
    }

    /// Nothing yet; at most so many values, of any size.
    #[must_use]
    pub fn of_count(count_max: usize) -> Self {
        Self::new(count_max, usize::MAX)
    }

    /// How many values there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// True if there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Bytes of all values together.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The value of a key.
    #[must_use]
    pub fn get(&self, key: &K) -> Option<&V> {
        self.known.get(key).map(|cached| &cached.value)
    }

    /// Forgets all values.
    pub fn clear(&mut self) {
        (self.known, self.order, self.bytes) = (BTreeMap::new(), BTreeMap::new(), 0);
    }

    /// Keeps a value; the newest is kept however large it is.
    pub fn insert(&mut self, key: K, value: V, bytes: usize) {
        if let Some(before) = self.known.remove(&key) {
            self.order.remove(&before.number);
            self.bytes -= before.bytes;
        }
        self.make_room(bytes);
        let number = self.number(&key);
        self.known.insert(key, Cached { number, bytes, value });
        self.bytes += bytes;
    }

    /// The value of a key, made now if it is new.
    ///
    /// # Errors
    /// What `make` says; then nothing is kept.
    pub fn get_or_try_insert<E>(
        &mut self,
        key: K,
        make: impl FnOnce() -> Result<V, E>,
    ) -> Result<&mut V, E> {
        if self.known.len() >= self.count_max && !self.known.contains_key(&key) {
            self.make_room(0);
        }
        match self.known.entry(key) {
            Entry::Occupied(found) => Ok(&mut found.into_mut().value),
            Entry::Vacant(place) => {
                let value = make()?;
                self.order.insert(self.next, place.key().clone());
                self.next += 1;
                Ok(&mut place.insert(Cached { number: self.next - 1, bytes: 0, value }).value)
            }
        }
    }

    fn number(&mut self, key: &K) -> u64 {
        self.order.insert(self.next, key.clone());
        self.next += 1;
        self.next - 1
    }

    fn make_room(&mut self, bytes: usize) {
        while self.known.len() >= self.count_max
            || self.bytes.saturating_add(bytes) > self.bytes_max
        {
            let Some((_, oldest)) = self.order.pop_first() else { break };
            self.bytes -= self.known.remove(&oldest).map_or(0, |cached| cached.bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(cache: &BoundedCache<u32, u32>) -> Vec<u32> {
        (0..9).filter(|key| cache.get(key).is_some()).collect()
    }

    #[test]
    fn the_oldest_go_first_and_what_comes_again_is_new() {
        let mut cache = BoundedCache::new(3, 100);
        for key in [1, 2, 3, 1, 4] {
            cache.insert(key, key * 10, 1);
        }
        assert_eq!(keys(&cache), [1, 3, 4]);
        cache.insert(5, 50, 98);
        assert_eq!(keys(&cache), [1, 4, 5]);
        cache.insert(6, 60, 99);
        assert_eq!(keys(&cache), [6]);
        cache.insert(7, 70, 1000);
        assert_eq!((keys(&cache), cache.bytes()), (vec![7], 1000));
        cache.insert(7, 71, 3);
        assert_eq!((cache.get(&7), cache.bytes(), cache.len()), (Some(&71), 3, 1));
        cache.clear();
        assert!(cache.is_empty() && cache.bytes() == 0);
    }

    #[test]
    fn values_are_made_once_until_they_are_the_oldest() {
        let mut cache = BoundedCache::of_count(2);
        let mut made = Vec::new();
        for key in [1, 2, 1, 3, 2, 1] {
            let value = cache.get_or_try_insert(key, || {
                made.push(key);
                Ok::<u32, ()>(key * 10)
            });
            assert_eq!(value, Ok(&mut (key * 10)));
        }
        assert_eq!((made, keys(&cache)), (vec![1, 2, 3, 1], vec![1, 3]));
        assert_eq!(cache.get_or_try_insert(4, || Err("no")), Err("no"));
        assert!(cache.get(&4).is_none() && cache.len() <= 2);
        cache.insert(5, 50, 0);
        cache.insert(6, 60, 0);
        assert_eq!(keys(&cache), [5, 6]);
    }
}
