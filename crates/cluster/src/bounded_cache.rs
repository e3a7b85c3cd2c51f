//! A bounded cache: so many values of so many bytes together; the oldest are evicted first.

use std::collections::BTreeMap;

/// Values by their keys, as many as fit; what is inserted again is new again.
pub(crate) struct BoundedCache<K, V> {
    count_max: usize,
    bytes_max: usize,
    /// By keys, with when they came.
    known: BTreeMap<K, (u64, usize, V)>,
    /// Keys by when they came.
    order: BTreeMap<u64, K>,
    bytes: usize,
    next: u64,
}

impl<K: Ord + Clone, V> BoundedCache<K, V> {
    /// Nothing yet; at most so many values, and of so many bytes together.
    pub(crate) fn new(count_max: usize, bytes_max: usize) -> Self {
        let (known, order) = (BTreeMap::new(), BTreeMap::new());
        Self { count_max, bytes_max, known, order, bytes: 0, next: 0 }
    }

    /// How many there are.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.known.len()
    }

    pub(crate) fn get(&self, key: &K) -> Option<&V> {
        self.known.get(key).map(|(_, _, value)| value)
    }

    /// Takes note of something; the newest is kept however large it is.
    pub(crate) fn insert(&mut self, key: K, value: V, bytes: usize) {
        if let Some((when, before, _)) = self.known.remove(&key) {
            self.order.remove(&when);
            self.bytes -= before;
        }
        while self.known.len() >= self.count_max
            || self.bytes.saturating_add(bytes) > self.bytes_max
        {
            let Some((_, oldest)) = self.order.pop_first() else { break };
            self.bytes -= self.known.remove(&oldest).map_or(0, |(_, bytes, _)| bytes);
        }
        self.order.insert(self.next, key.clone());
        self.known.insert(key, (self.next, bytes, value));
        self.bytes += bytes;
        self.next += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_go_first_and_what_is_inserted_again_is_new() {
        let mut bounded_cache = BoundedCache::new(3, 100);
        for key in [1, 2, 3, 1, 4] {
            bounded_cache.insert(key, key * 10, 1);
        }
        let known = |bounded_cache: &BoundedCache<u32, u32>| {
            (0..9).filter(|key| bounded_cache.get(key).is_some()).collect::<Vec<_>>()
        };
        assert_eq!(known(&bounded_cache), [1, 3, 4]);
        bounded_cache.insert(5, 50, 98);
        assert_eq!(known(&bounded_cache), [1, 4, 5]);
        bounded_cache.insert(6, 60, 99);
        assert_eq!(known(&bounded_cache), [6]);
        bounded_cache.insert(7, 70, 1000);
        assert_eq!((known(&bounded_cache), bounded_cache.bytes), (vec![7], 1000));
        bounded_cache.insert(7, 71, 3);
        assert_eq!((bounded_cache.get(&7), bounded_cache.bytes), (Some(&71), 3));
    }
}
