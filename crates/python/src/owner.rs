//! References to the Python objects that memory and views keep alive.
//!
//! An owner may itself keep another one, and so on: arrays over arrays of other libraries, each made from the one
//! before. Dropping the last of a million must not be a million nested calls.
//!
//! Establishes: dropping an [`Owner`] takes a bounded part of the stack, however long the chain behind it is.

use pyo3::prelude::*;
use std::cell::{Cell, RefCell};
use std::mem::ManuallyDrop;
use std::ops::Deref;

/// How many owners may be dropped within each other.
const MAX_NESTED_DROPS: u32 = 32;

thread_local! {
    static N_NESTED_DROPS: Cell<u32> = const { Cell::new(0) };
    /// Owners that were to be dropped too deep within others. The outermost one drops them.
    static POSTPONED: RefCell<Vec<Py<PyAny>>> = const { RefCell::new(Vec::new()) };
}

/// An object that something else keeps alive.
pub(crate) struct Owner(ManuallyDrop<Py<PyAny>>);

impl Owner {
    pub(crate) fn new(object: Bound<'_, PyAny>) -> Self {
        Self(ManuallyDrop::new(object.unbind()))
    }

    pub(crate) fn clone_ref(&self, py: Python<'_>) -> Self {
        Self(ManuallyDrop::new(self.0.clone_ref(py)))
    }
}

impl Deref for Owner {
    type Target = Py<PyAny>;

    fn deref(&self) -> &Py<PyAny> {
        &self.0
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        // SAFETY: this is the last use.
        let object = unsafe { ManuallyDrop::take(&mut self.0) };
        let depth = N_NESTED_DROPS.try_with(Cell::get).unwrap_or(0);
        if depth < MAX_NESTED_DROPS {
            drop_counted(object, depth);
        } else if let Err(object) = postpone_drop(object) {
            drop(object);
        }
    }
}

/// Drops an object that is within `depth` others, and if it is within none, what these have postponed.
fn drop_counted(object: Py<PyAny>, depth: u32) {
    let _ = N_NESTED_DROPS.try_with(|n| n.set(depth + 1));
    drop(object);
    if depth == 0 {
        while let Some(next) = POSTPONED.try_with(|all| all.borrow_mut().pop()).ok().flatten() {
            drop(next);
        }
    }
    let _ = N_NESTED_DROPS.try_with(|n| n.set(depth));
}

/// The object again where the thread has ended.
fn postpone_drop(object: Py<PyAny>) -> Result<(), Py<PyAny>> {
    let mut object = Some(object);
    let _ = POSTPONED.try_with(|all| all.borrow_mut().extend(object.take()));
    object.map_or(Ok(()), Err)
}
