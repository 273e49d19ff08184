//! Handles that C code holds: numbers with a kind, an index and a generation, never addresses.
//!
//! A handle that is stale, forged or of another kind is told from a live one without touching
//! memory it names. Handles orphaned by the destruction of their context are remembered as such
//! until their slot is used again, so that the caller can be told what happened.

use crate::IgnorePoison;
use std::collections::VecDeque;
use std::sync::{Arc, RwLock};

use crate::error::{Res, ResultCode};

const INDEX_BITS: u32 = 24;
const GENERATION_BITS: u32 = 28;
const LOW_ZERO_BITS: u32 = 4;
/// So many slots rest before one is used again: for as long it is known what became of its handle.
const MIN_FREE_SLOTS_BEFORE_REUSE: usize = 256;

/// One kind of handle and the objects behind it.
#[derive(Debug)]
pub struct HandleTable<T> {
    kind: u8,
    slots: RwLock<HandleSlots<T>>,
}

#[derive(Debug)]
struct HandleSlots<T> {
    slots: Vec<HandleSlot<T>>,
    /// Unused slots, the longest unused first.
    free: VecDeque<u32>,
}

#[derive(Debug)]
struct HandleSlot<T> {
    generation: u32,
    value: Option<Arc<T>>,
    orphaned: bool,
}

impl<T> HandleTable<T> {
    /// An empty table; `kind` must be unique and below 128 (handles stay positive as `i64`).
    pub const fn new(kind: u8) -> HandleTable<T> {
        assert!(kind > 0 && kind < 128);
        HandleTable { kind, slots: RwLock::new(HandleSlots { slots: Vec::new(), free: VecDeque::new() }) }
    }

    /// Stores an object and returns its handle. `make` learns the handle before it is published.
    pub fn insert_with(&self, make: impl FnOnce(u64) -> Arc<T>) -> Res<(u64, Arc<T>)> {
        let mut table = self.slots.write().ignore_poison();
        let full = table.slots.len() >= 1 << INDEX_BITS;
        let reuse = full || table.free.len() > MIN_FREE_SLOTS_BEFORE_REUSE;
        let index = match if reuse { table.free.pop_front() } else { None } {
            Some(index) => index as usize,
            None => {
                if full {
                    return ResultCode::OUT_OF_MEMORY.err();
                }
                table.slots.push(HandleSlot { generation: 1, value: None, orphaned: false });
                table.slots.len() - 1
            }
        };
        let handle = self.encode_handle(index, table.slots[index].generation);
        let value = make(handle);
        table.slots[index].value = Some(value.clone());
        table.slots[index].orphaned = false;
        Ok((handle, value))
    }

    /// Puts another object behind a live handle.
    pub fn replace_object(&self, handle: u64, value: Arc<T>) -> Res {
        let mut table = self.slots.write().ignore_poison();
        let (index, generation) = self.decode_handle(handle).ok_or(ResultCode::INVALID_HANDLE)?;
        let slot =
            table.slots.get_mut(index).filter(|s| s.generation == generation).ok_or(ResultCode::INVALID_HANDLE)?;
        slot.value = Some(value);
        Ok(())
    }

    /// The object behind a handle; `missing` is the error for anything but a live handle.
    pub fn get_object_or(&self, handle: u64, missing: ResultCode) -> Res<Arc<T>> {
        let table = self.slots.read().ignore_poison();
        let (index, generation) = self.decode_handle(handle).ok_or(missing)?;
        let slot = table.slots.get(index).ok_or(missing)?;
        match &slot.value {
            Some(value) if slot.generation == generation => Ok(value.clone()),
            None if slot.orphaned && next_generation(generation) == slot.generation => {
                ResultCode::CONTEXT_IS_DESTROYED.err()
            }
            _ => missing.err(),
        }
    }

    /// The object behind a handle, else `CUDA_ERROR_INVALID_HANDLE`.
    pub fn get_object(&self, handle: u64) -> Res<Arc<T>> {
        self.get_object_or(handle, ResultCode::INVALID_HANDLE)
    }

    /// Some live object for which `wanted` holds.
    pub fn find_object(&self, wanted: impl Fn(&T) -> bool) -> Option<Arc<T>> {
        let table = self.slots.read().ignore_poison();
        table.slots.iter().filter_map(|slot| slot.value.as_ref()).find(|value| wanted(value)).cloned()
    }

    /// Shows every live object to `f`.
    pub fn for_each(&self, mut f: impl FnMut(&T)) {
        let values: Vec<Arc<T>> = {
            let table = self.slots.read().ignore_poison();
            table.slots.iter().filter_map(|slot| slot.value.clone()).collect()
        };
        values.iter().for_each(|value| f(value));
    }

    /// The handle of some live object for which `wanted` holds.
    pub fn find_handle(&self, wanted: impl Fn(&T) -> bool) -> Option<u64> {
        let table = self.slots.read().ignore_poison();
        let index = table.slots.iter().position(|slot| slot.value.as_deref().is_some_and(&wanted))?;
        Some(self.encode_handle(index, table.slots[index].generation))
    }

    /// Takes an object out; its handle is dead from now on.
    pub fn remove_object_or(&self, handle: u64, missing: ResultCode) -> Res<Arc<T>> {
        let value = self.get_object_or(handle, missing)?;
        let mut table = self.slots.write().ignore_poison();
        let (index, generation) = self.decode_handle(handle).ok_or(missing)?;
        // Another thread may have been faster between the two locks.
        if table.slots[index].generation != generation || table.slots[index].value.is_none() {
            return missing.err();
        }
        table.retire_slot(index, false);
        Ok(value)
    }

    /// Takes an object out, else `CUDA_ERROR_INVALID_HANDLE`.
    pub fn remove_object(&self, handle: u64) -> Res<Arc<T>> {
        self.remove_object_or(handle, ResultCode::INVALID_HANDLE)
    }

    /// Takes out every object for which `dead` holds, because its context is going away.
    pub fn remove_orphaned_objects(&self, dead: impl Fn(&T) -> bool) -> Vec<Arc<T>> {
        let mut table = self.slots.write().ignore_poison();
        let doomed: Vec<usize> =
            (0..table.slots.len()).filter(|&i| table.slots[i].value.as_deref().is_some_and(&dead)).collect();
        doomed.into_iter().filter_map(|i| table.retire_slot(i, true)).collect()
    }

    fn encode_handle(&self, index: usize, generation: u32) -> u64 {
        (u64::from(self.kind) << 56)
            | (u64::from(generation) << (INDEX_BITS + LOW_ZERO_BITS))
            | ((index as u64) << LOW_ZERO_BITS)
    }

    fn decode_handle(&self, handle: u64) -> Option<(usize, u32)> {
        let low_zero = handle & ((1 << LOW_ZERO_BITS) - 1) == 0;
        let index = (handle >> LOW_ZERO_BITS) & ((1 << INDEX_BITS) - 1);
        let generation = (handle >> (INDEX_BITS + LOW_ZERO_BITS)) & ((1 << GENERATION_BITS) - 1);
        (low_zero && handle >> 56 == u64::from(self.kind)).then_some((index as usize, generation as u32))
    }
}

impl<T> HandleSlots<T> {
    fn retire_slot(&mut self, index: usize, orphaned: bool) -> Option<Arc<T>> {
        let slot = &mut self.slots[index];
        let value = slot.value.take();
        slot.generation = next_generation(slot.generation);
        slot.orphaned = orphaned;
        self.free.push_back(index as u32);
        value
    }
}

/// Generations skip 0 when they wrap, so that no handle has an all-zero generation.
fn next_generation(generation: u32) -> u32 {
    let following = (generation + 1) & ((1 << GENERATION_BITS) - 1);
    following.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stale_handles_and_handles_of_other_tables_are_refused() {
        let table: HandleTable<u32> = HandleTable::new(5);
        let other: HandleTable<u32> = HandleTable::new(6);
        let (handle, _) = table.insert_with(|_| Arc::new(7)).unwrap();
        assert_eq!(*table.get_object(handle).unwrap(), 7);
        assert_eq!(other.get_object(handle).unwrap_err().code, ResultCode::INVALID_HANDLE);
        assert_eq!(table.get_object(handle | 1).unwrap_err().code, ResultCode::INVALID_HANDLE);
        assert_eq!(table.get_object(0xdead_beef_0000).unwrap_err().code, ResultCode::INVALID_HANDLE);
        table.remove_object(handle).unwrap();
        assert_eq!(table.get_object(handle).unwrap_err().code, ResultCode::INVALID_HANDLE);
        assert_eq!(table.remove_object(handle).unwrap_err().code, ResultCode::INVALID_HANDLE);
        let (again, _) = table.insert_with(|_| Arc::new(8)).unwrap();
        assert_ne!(again, handle);
        assert_eq!(table.get_object(handle).unwrap_err().code, ResultCode::INVALID_HANDLE);
    }

    #[test]
    fn handles_of_orphaned_objects_report_a_destroyed_context() {
        let table: HandleTable<u32> = HandleTable::new(5);
        let (handle, _) = table.insert_with(|_| Arc::new(7)).unwrap();
        assert_eq!(table.remove_orphaned_objects(|v| *v == 7).len(), 1);
        assert_eq!(table.get_object(handle).unwrap_err().code, ResultCode::CONTEXT_IS_DESTROYED);
    }
}
