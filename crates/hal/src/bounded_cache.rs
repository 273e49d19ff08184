//! A bounded least-recently-used (LRU) cache, with keys of any type.
//!
//! A look-up hashes the key itself and compares it with keys of its own type, so it allocates nothing; only inserted
//! keys are boxed. Values are handed out as clones, so evicting one does not affect its holders.

use crate::blocking_regions::lock_ignoring_poison;
use hashbrown::HashTable;
use rustc_hash::FxHasher;
use std::any::{Any, TypeId};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Mutex;

/// Usage counters of a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CacheUse {
    /// Number of values it holds.
    pub len: usize,
    /// Maximum number of values.
    pub capacity: usize,
    /// Number of insertions so far, including evicted values.
    pub inserted: u64,
    /// Number of evictions so far.
    pub evicted: u64,
}

struct Entry<V> {
    hash: u64,
    /// The clock when it was last found.
    last_use: u64,
    key: Box<dyn Any + Send>,
    value: V,
}

struct Entries<V> {
    table: HashTable<Entry<V>>,
    clock: u64,
    usage: CacheUse,
}

/// A cache that keeps the most recently used values.
pub struct BoundedCache<V>(Mutex<Entries<V>>);

impl<V> fmt::Debug for BoundedCache<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("BoundedCache").field(&lock_ignoring_poison(&self.0).usage).finish()
    }
}

fn hash_of<K: Hash + 'static>(key: &K) -> u64 {
    let mut hasher = FxHasher::default();
    TypeId::of::<K>().hash(&mut hasher);
    key.hash(&mut hasher);
    hasher.finish()
}

impl<V: Clone> BoundedCache<V> {
    /// Makes an empty cache of at most `capacity` values, but at least one.
    pub fn new(capacity: usize) -> Self {
        let usage = CacheUse { capacity: capacity.max(1), ..CacheUse::default() };
        Self(Mutex::new(Entries { table: HashTable::new(), clock: 0, usage }))
    }

    /// Looks up the value of `key`, which becomes the most recently used one.
    pub fn get<K: Hash + Eq + 'static>(&self, key: &K) -> Option<V> {
        let hash = hash_of(key);
        lock_ignoring_poison(&self.0).find(hash, key)
    }

    /// [`BoundedCache::get`], or else inserts what `make` returns. Racing threads may both call `make`; the value
    /// inserted first stays.
    ///
    /// # Errors
    /// Those of `make`.
    pub fn get_or_insert_with<K, E>(&self, key: &K, make: impl FnOnce() -> Result<V, E>) -> Result<V, E>
    where
        K: Hash + Eq + Clone + Send + 'static,
    {
        if let Some(found) = self.get(key) {
            return Ok(found);
        }
        // Without the lock: what makes values may take long, and may look into this cache.
        let made = make()?;
        let hash = hash_of(key);
        let mut entries = lock_ignoring_poison(&self.0);
        if let Some(found) = entries.find(hash, key) {
            return Ok(found);
        }
        let room = entries.usage.capacity - 1;
        let evicted = entries.shrink_to(room);
        entries.clock += 1;
        entries.usage.inserted += 1;
        let new = Entry { hash, last_use: entries.clock, key: Box::new(key.clone()), value: made.clone() };
        entries.table.insert_unique(new.hash, new, |entry| entry.hash);
        entries.usage.len = entries.table.len();
        drop(entries);
        // Dropping a value may call into a driver.
        drop(evicted);
        Ok(made)
    }

    /// Changes the capacity, at least one; evicts the least recently used values beyond it.
    pub fn set_capacity(&self, capacity: usize) {
        let mut entries = lock_ignoring_poison(&self.0);
        entries.usage.capacity = capacity.max(1);
        let evicted = entries.shrink_to(capacity.max(1));
        drop(entries);
        drop(evicted);
    }

    /// The usage counters.
    pub fn usage(&self) -> CacheUse {
        lock_ignoring_poison(&self.0).usage
    }
}

impl<V: Clone> Entries<V> {
    fn find<K: Eq + 'static>(&mut self, hash: u64, key: &K) -> Option<V> {
        let found = self.table.find_mut(hash, |entry| entry.key.downcast_ref::<K>() == Some(key))?;
        self.clock += 1;
        found.last_use = self.clock;
        Some(found.value.clone())
    }
}

impl<V> Entries<V> {
    /// Takes out the least recently used entries but `len` ones. All are looked at for each: this follows making a value,
    /// which takes far longer.
    fn shrink_to(&mut self, len: usize) -> Vec<Entry<V>> {
        let mut evicted = Vec::new();
        while self.table.len() > len {
            let oldest = self.table.iter().map(|entry| (entry.last_use, entry.hash)).min();
            let Some((last_use, hash)) = oldest else { break };
            if let Ok(entry) = self.table.find_entry(hash, |entry| entry.last_use == last_use) {
                evicted.push(entry.remove().0);
            }
        }
        self.usage.evicted += evicted.len() as u64;
        self.usage.len = self.table.len();
        evicted
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;
    use std::sync::Arc;

    fn insert<K: Hash + Eq + Clone + Send + 'static>(cache: &BoundedCache<Arc<str>>, key: K, value: &str) -> Arc<str> {
        cache.get_or_insert_with(&key, || Ok::<_, Infallible>(value.into())).unwrap_or_else(|never| match never {})
    }

    #[test]
    fn equal_keys_of_different_types_are_different() {
        let cache = BoundedCache::new(8);
        insert(&cache, 7u32, "u32");
        insert(&cache, 7i32, "i32");
        insert(&cache, (7u32, "seven".to_string()), "both");
        assert_eq!(cache.get(&7u32).as_deref(), Some("u32"));
        assert_eq!(cache.get(&7i32).as_deref(), Some("i32"));
        assert_eq!(cache.get(&(7u32, "seven".to_string())).as_deref(), Some("both"));
        assert_eq!(cache.get(&7u64), None);
        assert_eq!(&*insert(&cache, 7u32, "not made again"), "u32");
    }

    #[test]
    fn the_least_recently_used_value_is_evicted_and_its_holders_keep_it() {
        let cache = BoundedCache::new(3);
        let held = insert(&cache, 0, "zero");
        (1..3).for_each(|key| drop(insert(&cache, key, "other")));
        assert!(cache.get(&0).is_some());
        insert(&cache, 3, "new");
        let present = (0..4).map(|key| cache.get(&key).is_some()).collect::<Vec<_>>();
        assert_eq!(present, [true, false, true, true]);
        assert_eq!(cache.usage(), CacheUse { len: 3, capacity: 3, inserted: 4, evicted: 1 });
        cache.set_capacity(1);
        assert_eq!((cache.usage().len, cache.usage().evicted), (1, 3));
        assert!(cache.get(&3).is_some(), "the last one that was found");
        assert_eq!((&*held, Arc::strong_count(&held)), ("zero", 1));
    }

    #[test]
    fn an_error_inserts_nothing() {
        let cache = BoundedCache::<u8>::new(2);
        assert_eq!(cache.get_or_insert_with(&1, || Err("refused")), Err("refused"));
        assert_eq!((cache.usage().len, cache.usage().inserted), (0, 0));
        // What makes a value may use the cache.
        let outer =
            cache.get_or_insert_with(&1, || cache.get_or_insert_with(&2, || Ok::<_, ()>(20)).map(|two| two + 1));
        assert_eq!((outer, cache.get(&2)), (Ok(21), Some(20)));
    }

    #[test]
    fn many_keys_stay_within_the_capacity() {
        let cache = BoundedCache::new(100);
        for key in 0..1000u64 {
            insert(&cache, key, "value");
            assert!(cache.usage().len <= 100);
        }
        assert!((900..1000u64).all(|key| cache.get(&key).is_some()));
    }
}
