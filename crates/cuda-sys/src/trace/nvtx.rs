//! NVTX: named ranges and marks for NVIDIA's profilers, and for our own traces.
//!
//! A profiler that starts a program names a library in `NVTX_INJECTION64_PATH`; when asked to initialise, the library
//! fills a table of functions (NVTX 3). Otherwise `libnvToolsExt` is used if the process has loaded it or `RTCG_NVTX`
//! names it (NVTX 2). Without either, a range costs two loads. A running trace also records ranges and marks.

use super::{JsonObject, clock_ns, emit_thread_event, is_tracing};
use crate::load::OpenLibrary;
use std::cell::UnsafeCell;
use std::ffi::{CString, c_char, c_int, c_uint, c_void};
use std::sync::OnceLock;

type PushFn = unsafe extern "C" fn(*const c_char) -> c_int;
type PopFn = unsafe extern "C" fn() -> c_int;
type MarkFn = unsafe extern "C" fn(*const c_char);

/// Who listens.
struct NvtxListener {
    push: Option<PushFn>,
    pop: Option<PopFn>,
    mark: Option<MarkFn>,
    origin: String,
}

fn nvtx_listener() -> Option<&'static NvtxListener> {
    static NVTX_LISTENER: OnceLock<Option<NvtxListener>> = OnceLock::new();
    NVTX_LISTENER.get_or_init(|| nvtx3_injected_listener().or_else(nvtx2_listener)).as_ref()
}

/// The library that receives ranges and marks, if there is one.
pub fn listener_library_name() -> Option<&'static str> {
    nvtx_listener().map(|l| l.origin.as_str())
}

/// Begins a range on the calling thread, nested in those already begun.
pub fn range_push(name: &str) {
    if let Some(push) = nvtx_listener().and_then(|l| l.push)
        && let Ok(name) = CString::new(name)
    {
        // SAFETY: the function that NVTX declares for this place; the text is NUL-terminated.
        unsafe { push(name.as_ptr()) };
    }
    if is_tracing() {
        let now = clock_ns();
        emit_thread_event(|event| {
            event.push_text("ph", "B").push_text("cat", "range").push_text("name", name).push_microseconds("ts", now);
        });
    }
}

/// Ends the calling thread's innermost range.
pub fn range_pop() {
    if is_tracing() {
        let now = clock_ns();
        emit_thread_event(|event| {
            event.push_text("ph", "E").push_text("cat", "range").push_microseconds("ts", now);
        });
    }
    if let Some(pop) = nvtx_listener().and_then(|l| l.pop) {
        // SAFETY: the function that NVTX declares for this place.
        unsafe { pop() };
    }
}

/// Marks a moment on the calling thread.
pub fn mark(name: &str) {
    if let Some(mark) = nvtx_listener().and_then(|l| l.mark)
        && let Ok(name) = CString::new(name)
    {
        // SAFETY: as in `range_push`.
        unsafe { mark(name.as_ptr()) };
    }
    if is_tracing() {
        let now = clock_ns();
        emit_thread_event(|event: &mut JsonObject| {
            event
                .push_text("ph", "i")
                .push_text("cat", "mark")
                .push_text("name", name)
                .push_text("s", "t")
                .push_microseconds("ts", now);
        });
    }
}

/// A range that ends when this value is dropped.
#[derive(Debug)]
pub struct NvtxRange(std::marker::PhantomData<*const ()>);

/// Begins a range that ends when the returned value is dropped, on the same thread.
#[must_use = "the range ends at once when its value is not kept"]
pub fn scoped_range(name: &str) -> NvtxRange {
    range_push(name);
    NvtxRange(std::marker::PhantomData)
}

impl Drop for NvtxRange {
    fn drop(&mut self) {
        range_pop();
    }
}

// -- NVTX 3: a profiler's library fills a table ---------------------------------------------------

/// Places of the core table, as NVTX numbers them.
const CALLBACK_ID_MARK_A: usize = 2;
const CALLBACK_ID_RANGE_PUSH_A: usize = 9;
const CALLBACK_ID_RANGE_POP: usize = 11;
/// Functions of the core table, the unused place 0 included.
const CORE_CALLBACK_COUNT: usize = 16;
const MODULE_CORE: c_int = 1;
const TABLE_CALLBACKS: c_uint = 1;
const TABLE_VERSION: c_uint = 3;

/// Functions that a profiler fills in before its initialisation returns.
struct CallbackSlots(UnsafeCell<[*const c_void; CORE_CALLBACK_COUNT]>);

// SAFETY: written only inside of the profiler's initialisation, which `OnceLock` runs once and
// before anybody reads.
unsafe impl Sync for CallbackSlots {}

static CORE_CALLBACKS: CallbackSlots = CallbackSlots(UnsafeCell::new([std::ptr::null(); CORE_CALLBACK_COUNT]));

/// Pointers to the places, as the interface hands them out.
struct CallbackSlotPointers([*const c_void; CORE_CALLBACK_COUNT + 1]);

// SAFETY: addresses of a static.
unsafe impl Sync for CallbackSlotPointers {}
// SAFETY: addresses of a static.
unsafe impl Send for CallbackSlotPointers {}

#[repr(C)]
struct ExportTableCallbacks {
    struct_size: usize,
    get_module_function_table: unsafe extern "C" fn(c_int, *mut *const *const c_void, *mut c_uint) -> c_int,
}

#[repr(C)]
struct ExportTableVersion {
    struct_size: usize,
    version: u32,
    reserved: u32,
    set_injection_version: unsafe extern "C" fn(u32),
}

unsafe extern "C" fn get_module_function_table(
    module: c_int,
    table: *mut *const *const c_void,
    size: *mut c_uint,
) -> c_int {
    static SLOT_POINTERS: OnceLock<CallbackSlotPointers> = OnceLock::new();
    if module != MODULE_CORE {
        return 0;
    }
    let pointers = SLOT_POINTERS.get_or_init(|| {
        let first: *mut *const c_void = CORE_CALLBACKS.0.get().cast();
        let mut all = [std::ptr::null(); CORE_CALLBACK_COUNT + 1];
        for (place, pointer) in all.iter_mut().enumerate().take(CORE_CALLBACK_COUNT).skip(1) {
            *pointer = first.wrapping_add(place).cast::<c_void>().cast_const();
        }
        CallbackSlotPointers(all)
    });
    if !table.is_null() {
        // SAFETY: the caller's place for a pointer.
        unsafe { *table = pointers.0.as_ptr() };
    }
    if !size.is_null() {
        // SAFETY: the caller's place for a number.
        unsafe { *size = CORE_CALLBACK_COUNT as c_uint };
    }
    1
}

unsafe extern "C" fn set_injection_version(_version: u32) {}

unsafe extern "C" fn get_export_table(id: c_uint) -> *const c_void {
    static CALLBACKS_TABLE: ExportTableCallbacks =
        ExportTableCallbacks { struct_size: size_of::<ExportTableCallbacks>(), get_module_function_table };
    static VERSION_TABLE: ExportTableVersion = ExportTableVersion {
        struct_size: size_of::<ExportTableVersion>(),
        version: 3,
        reserved: 0,
        set_injection_version,
    };
    match id {
        TABLE_CALLBACKS => (&raw const CALLBACKS_TABLE).cast(),
        TABLE_VERSION => (&raw const VERSION_TABLE).cast(),
        _ => std::ptr::null(),
    }
}

type InitializeInjectionFn = unsafe extern "C" fn(unsafe extern "C" fn(c_uint) -> *const c_void) -> c_int;

fn nvtx3_injected_listener() -> Option<NvtxListener> {
    let path = std::env::var("NVTX_INJECTION64_PATH").ok().filter(|v| !v.is_empty())?;
    let library = OpenLibrary::dlopen_named_by("NVTX_INJECTION64_PATH", &path)?;
    let symbol = library.dlsym("InitializeInjectionNvtx2")?;
    // SAFETY: a library that the environment names for this purpose exports this name with this type.
    let initialize: InitializeInjectionFn = unsafe { std::mem::transmute(symbol) };
    // SAFETY: as NVTX asks for; the table it gets lives as long as the process.
    if unsafe { initialize(get_export_table) } == 0 {
        return None;
    }
    // SAFETY: the initialisation, which alone writes the places, is over.
    let places = unsafe { &*CORE_CALLBACKS.0.get() };
    let place = |at: usize| Some(places[at]).filter(|p| !p.is_null());
    Some(NvtxListener {
        // SAFETY: what stands in a place has the type that NVTX declares for it.
        push: place(CALLBACK_ID_RANGE_PUSH_A).map(|p| unsafe { std::mem::transmute::<*const c_void, PushFn>(p) }),
        // SAFETY: NVTX declares this type for the place.
        pop: place(CALLBACK_ID_RANGE_POP).map(|p| unsafe { std::mem::transmute::<*const c_void, PopFn>(p) }),
        // SAFETY: NVTX declares this type for the place.
        mark: place(CALLBACK_ID_MARK_A).map(|p| unsafe { std::mem::transmute::<*const c_void, MarkFn>(p) }),
        origin: path,
    })
}

// -- NVTX 2: a library with functions ---------------------------------------------------------------

/// The library is not searched: nobody listens to one that no profiler has loaded.
fn nvtx2_listener() -> Option<NvtxListener> {
    let named = std::env::var("RTCG_NVTX").ok().filter(|v| !v.is_empty());
    let (library, origin) = match named {
        Some(name) => (OpenLibrary::dlopen_named_by("RTCG_NVTX", &name)?, name),
        None => (OpenLibrary::open_if_already_loaded("libnvToolsExt.so.1")?, "libnvToolsExt.so.1".to_owned()),
    };
    Some(NvtxListener {
        // SAFETY: the library exports these names with these types.
        push: library.dlsym("nvtxRangePushA").map(|p| unsafe { std::mem::transmute::<*const c_void, PushFn>(p) }),
        // SAFETY: the library exports the name with this type.
        pop: library.dlsym("nvtxRangePop").map(|p| unsafe { std::mem::transmute::<*const c_void, PopFn>(p) }),
        // SAFETY: the library exports the name with this type.
        mark: library.dlsym("nvtxMarkA").map(|p| unsafe { std::mem::transmute::<*const c_void, MarkFn>(p) }),
        origin,
    })
}
