//! Objects behind handles: a head with the dispatch table, two reference counts, and the body.
//!
//! The user's count is what `clRetain…` and `clRelease…` change; the other also counts the references between objects,
//! which keep a handle valid that a query may return. Memory of heads is used again for the same kind and never given
//! back, so that the kind of a handle that was released can be read and refused.

use crate::error::{ClError, Result};
use crate::head_arena::HEADS;
use rtcg_opencl_sys::{DispatchTable, ObjectHead};
use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

/// What every object's first word points to.
static TABLE: OnceLock<&'static DispatchTable> = OnceLock::new();

/// Says which table that is; the same one each time.
pub(crate) fn set_table(table: &'static DispatchTable) {
    TABLE.get_or_init(|| table);
}

/// The table of this platform.
pub(crate) fn table() -> &'static DispatchTable {
    TABLE.get().expect("all functions are reached through the table")
}

/// A type whose values live behind handles.
pub(crate) trait Body: Sized + Send + Sync + 'static {
    /// The type of the handle.
    type Handle: Copy + Into<*mut ObjectHead> + From<*mut ObjectHead>;
    /// A number that no other kind has, and that no memory holds by chance.
    const KIND: u32;
    /// What is returned for a handle of another kind.
    const INVALID: i32;
    /// The kind in words.
    const NAME: &'static str;

    /// Heads that wait to be used again.
    fn free_heads() -> &'static Mutex<Vec<FreeHead<Self>>>;

    /// Called when the user gives up the last reference, before references between objects are gone.
    fn on_last_release(_object: &Ref<Self>) {}

    /// Whether a query may still return the handle when the user has no reference: it is then valid.
    fn survives_release(&self) -> bool {
        true
    }

    /// Taken out before the body is dropped, and called after that with the handle, which no other object has yet.
    fn take_destructors(&mut self) -> Option<Box<dyn FnOnce(Self::Handle)>> {
        None
    }
}

/// Declares the kind of a body.
macro_rules! body {
    ($body:ty: $handle:ident, $kind:literal, $invalid:ident, $name:literal
        $(, on_last_release = $hook:path)? $(, survives_release = $survives:path)? $(, destructors = $take:path)?
    ) => {
        impl $crate::object::Body for $body {
            type Handle = rtcg_opencl_sys::$handle;
            const KIND: u32 = u32::from_le_bytes(*$kind);
            const INVALID: i32 = rtcg_opencl_sys::$invalid;
            const NAME: &'static str = $name;

            fn free_heads() -> &'static std::sync::Mutex<Vec<$crate::object::FreeHead<Self>>> {
                static HEADS: std::sync::Mutex<Vec<$crate::object::FreeHead<$body>>> =
                    std::sync::Mutex::new(Vec::new());
                &HEADS
            }

            $(fn on_last_release(object: &$crate::object::Ref<Self>) {
                $hook(object);
            })?

            $(fn survives_release(&self) -> bool {
                $survives(self)
            })?

            $(fn take_destructors(&mut self) -> Option<Box<dyn FnOnce(Self::Handle)>> {
                $take(self)
            })?
        }
    };
}
pub(crate) use body;

#[repr(C)]
struct Object<T> {
    head: ObjectHead,
    kind: AtomicU32,
    users: AtomicU32,
    references: AtomicUsize,
    /// How many objects this memory was before; changes only while there are no references.
    generation: AtomicUsize,
    body: UnsafeCell<MaybeUninit<T>>,
}

/// The memory of an object that is gone.
pub(crate) struct FreeHead<T>(NonNull<Object<T>>);

// SAFETY: only the memory is owned; there is no body in it.
unsafe impl<T> Send for FreeHead<T> {}

/// A counted reference to an object.
pub(crate) struct Ref<T: Body>(NonNull<Object<T>>);

// SAFETY: bodies are `Send` and `Sync`, the counts are atomic.
unsafe impl<T: Body> Send for Ref<T> {}
// SAFETY: bodies are `Send` and `Sync`, the counts are atomic.
unsafe impl<T: Body> Sync for Ref<T> {}

impl<T: Body> Ref<T> {
    /// A new object with one reference of the user's, which the returned reference is not.
    pub(crate) fn new_for_user(body: T) -> T::Handle {
        let object = Self::new(body);
        let handle = object.handle();
        object.object().users.store(1, Ordering::Relaxed);
        std::mem::forget(object);
        handle
    }

    /// A new object that the user has no reference to yet.
    pub(crate) fn new(body: T) -> Self {
        let free = T::free_heads().lock().expect("no panic while heads are listed").pop();
        let object = free.map_or_else(allocate_head::<T>, |head| head.0);
        // SAFETY: the memory is a head's, and nobody else has it.
        unsafe {
            let object = object.as_ref();
            (*object.body.get()).write(body);
            object.generation.fetch_add(1, Ordering::Relaxed);
            object.users.store(0, Ordering::Relaxed);
            object.references.store(1, Ordering::Release);
            object.kind.store(T::KIND, Ordering::Release);
        }
        Self(object)
    }

    fn object(&self) -> &Object<T> {
        // SAFETY: a reference keeps its object.
        unsafe { self.0.as_ref() }
    }

    /// The handle; valid as long as there are references.
    pub(crate) fn handle(&self) -> T::Handle {
        self.0.as_ptr().cast::<ObjectHead>().into()
    }

    /// Gives the user a reference.
    pub(crate) fn retain_for_user(&self) {
        if self.object().users.fetch_add(1, Ordering::Relaxed) == 0 {
            std::mem::forget(self.clone());
        }
    }

    /// The handle with one more reference of the user's.
    pub(crate) fn into_user_handle(self) -> T::Handle {
        self.retain_for_user();
        self.handle()
    }

    /// How many references the user has.
    pub(crate) fn user_count(&self) -> u32 {
        self.object().users.load(Ordering::Relaxed)
    }

    /// Whether others than the user and this reference refer to the object.
    pub(crate) fn is_used_elsewhere(&self) -> bool {
        self.object().references.load(Ordering::Relaxed) > 2
    }

    /// Whether both are one object.
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<T: Body> Clone for Ref<T> {
    fn clone(&self) -> Self {
        self.object().references.fetch_add(1, Ordering::Relaxed);
        Self(self.0)
    }
}

impl<T: Body> std::ops::Deref for Ref<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the body is there from the making of the object until its last reference goes.
        unsafe { (*self.object().body.get()).assume_init_ref() }
    }
}

impl<T: Body> Drop for Ref<T> {
    fn drop(&mut self) {
        let object = self.object();
        if object.references.fetch_sub(1, Ordering::Release) != 1 {
            return;
        }
        std::sync::atomic::fence(Ordering::Acquire);
        object.kind.store(0, Ordering::Relaxed);
        // SAFETY: this was the last reference; the body was written when the object was made.
        let destructors = unsafe {
            let body = &mut *object.body.get();
            let destructors = body.assume_init_mut().take_destructors();
            body.assume_init_drop();
            destructors
        };
        if let Some(call) = destructors {
            call(self.handle());
        }
        if let Ok(mut heads) = T::free_heads().lock() {
            heads.push(FreeHead(self.0));
        }
    }
}

/// A reference that does not keep its object.
pub(crate) struct WeakRef<T: Body>(NonNull<Object<T>>, usize);

impl<T: Body> Clone for WeakRef<T> {
    fn clone(&self) -> Self {
        Self(self.0, self.1)
    }
}

// SAFETY: the memory of heads is never given back, and its counts are atomic.
unsafe impl<T: Body> Send for WeakRef<T> {}
// SAFETY: the memory of heads is never given back, and its counts are atomic.
unsafe impl<T: Body> Sync for WeakRef<T> {}

impl<T: Body> WeakRef<T> {
    pub(crate) fn new(object: &Ref<T>) -> Self {
        Self(object.0, object.object().generation.load(Ordering::Relaxed))
    }

    /// The object, unless it is gone.
    pub(crate) fn upgrade(&self) -> Option<Ref<T>> {
        // SAFETY: the memory of heads is never given back.
        let object = unsafe { self.0.as_ref() };
        let add = |count: usize| (count != 0).then_some(count + 1);
        object.references.fetch_update(Ordering::AcqRel, Ordering::Relaxed, add).ok()?;
        let found = Ref(self.0);
        (object.generation.load(Ordering::Relaxed) == self.1).then_some(found)
    }

    /// Whether both are of one object.
    pub(crate) fn is(&self, other: &Self) -> bool {
        (self.0, self.1) == (other.0, other.1)
    }
}

fn allocate_head<T: Body>() -> NonNull<Object<T>> {
    let memory: *mut Object<T> = HEADS.allocate();
    let head = Object::<T> {
        head: ObjectHead { dispatch: table() },
        kind: AtomicU32::new(0),
        users: AtomicU32::new(0),
        references: AtomicUsize::new(0),
        generation: AtomicUsize::new(0),
        body: UnsafeCell::new(MaybeUninit::uninit()),
    };
    // SAFETY: the memory is for one such value, and nobody else's.
    unsafe {
        memory.write(head);
        NonNull::new_unchecked(memory)
    }
}

/// The object behind a handle that a user gave.
///
/// # Errors
/// The code of the kind where the handle is null, of another kind or platform, or was released.
///
/// # Safety
/// The handle is null or was made by a platform (of this or another library).
pub(crate) unsafe fn resolve<T: Body>(handle: T::Handle) -> Result<Ref<T>> {
    let object = checked_object::<T>(handle)?;
    // SAFETY: the kind says that there is such an object.
    unsafe { object.as_ref() }.references.fetch_add(1, Ordering::Relaxed);
    let found = Ref(object);
    if found.user_count() == 0 && !found.survives_release() {
        return Err(ClError::new(T::INVALID, format!("{}: the handle was released", T::NAME)));
    }
    Ok(found)
}

/// [`resolve`] where a null handle means that there is none.
///
/// # Safety
/// As for [`resolve`].
pub(crate) unsafe fn resolve_optional<T: Body>(handle: T::Handle) -> Result<Option<Ref<T>>> {
    let pointer: *mut ObjectHead = handle.into();
    // SAFETY: the caller's promise.
    if pointer.is_null() { Ok(None) } else { unsafe { resolve(handle) }.map(Some) }
}

fn checked_object<T: Body>(handle: T::Handle) -> Result<NonNull<Object<T>>> {
    let pointer: *mut ObjectHead = handle.into();
    let refuse = |why| ClError::new(T::INVALID, format!("{}: {why}", T::NAME));
    let Some(object) = NonNull::new(pointer.cast::<Object<T>>()) else { return Err(refuse("the handle is null")) };
    if !object.is_aligned() {
        return Err(refuse("the handle is not an object's address"));
    }
    if !HEADS.has(object.as_ptr()) {
        return Err(refuse("the handle is no object of this platform"));
    }
    // SAFETY: the memory is that of heads: zeros, or a head, which has its kind behind the table.
    unsafe {
        if !std::ptr::eq((*pointer).dispatch, table()) {
            return Err(refuse("the handle is not an object's address"));
        }
        if object.as_ref().kind.load(Ordering::Acquire) != T::KIND {
            return Err(refuse("the handle is of another kind of object, or was released"));
        }
    }
    Ok(object)
}

/// `clRetain…`.
///
/// # Safety
/// As for [`resolve`].
pub(crate) unsafe fn retain<T: Body>(handle: T::Handle) -> Result<()> {
    // SAFETY: the caller's promise.
    unsafe { resolve::<T>(handle) }?.retain_for_user();
    Ok(())
}

/// `clRelease…`.
///
/// # Safety
/// As for [`resolve`].
pub(crate) unsafe fn release<T: Body>(handle: T::Handle) -> Result<()> {
    // SAFETY: the caller's promise.
    let object = unsafe { resolve::<T>(handle) }?;
    let users = &object.object().users;
    let lower = |count: u32| count.checked_sub(1);
    match users.fetch_update(Ordering::AcqRel, Ordering::Relaxed, lower) {
        Err(_) => Err(ClError::new(T::INVALID, format!("{}: the handle was released", T::NAME))),
        Ok(1) => {
            T::on_last_release(&object);
            // The user's reference; `object` goes after it.
            drop(Ref(object.0));
            Ok(())
        }
        Ok(_) => Ok(()),
    }
}
