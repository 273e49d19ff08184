//! Waits of the core with the interpreter released.
//!
//! Array operations and generators enqueue with the interpreter held, because releasing it costs as much as they do.
//! Where a launch may wait, the core says so, and the interpreter is released for that launch. So it is where the driver
//! frees something, whoever dropped it, while a host function may be queued.

use pyo3::prelude::*;
use std::ffi::{CStr, c_int, c_void};
use std::sync::OnceLock;

type GilStateCheck = unsafe extern "C" fn() -> c_int;
type CurrentThreadState = unsafe extern "C" fn() -> *mut c_void;

/// Functions of CPython that say who holds the interpreter, which all versions have, but no stable ABI promises.
struct InterpreterQueries {
    /// `PyGILState_Check`. After the end of the interpreter it says that every thread holds it.
    gil_state_check: GilStateCheck,
    /// The current state, which is null while no thread has one: also after the end of the interpreter.
    current_thread_state: CurrentThreadState,
}

static QUERIES: OnceLock<Option<InterpreterQueries>> = OnceLock::new();

fn find_symbol(names: &[&CStr]) -> Option<*mut c_void> {
    // SAFETY: looks up a symbol among those that are loaded; the name is NUL-terminated.
    names.iter().map(|name| unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) }).find(|symbol| !symbol.is_null())
}

fn find_queries() -> Option<InterpreterQueries> {
    let check = find_symbol(&[c"PyGILState_Check"])?;
    let current = find_symbol(&[c"PyThreadState_GetUnchecked", c"_PyThreadState_UncheckedGet"])?;
    // SAFETY: CPython documents these types.
    Some(unsafe {
        InterpreterQueries {
            gil_state_check: std::mem::transmute::<*mut c_void, GilStateCheck>(check),
            current_thread_state: std::mem::transmute::<*mut c_void, CurrentThreadState>(current),
        }
    })
}

/// Whether this thread holds the interpreter.
fn holds_interpreter() -> bool {
    // SAFETY: both may be called by any thread of a process with an interpreter, or with one that has ended.
    QUERIES.get().and_then(Option::as_ref).is_some_and(|queries| unsafe {
        (queries.gil_state_check)() == 1 && !(queries.current_thread_state)().is_null()
    })
}

/// What a thread does while it waits. It stays in the thread that made it.
struct DetachedWait<'a>(&'a mut dyn FnMut());

// SAFETY: `detach` runs it in the thread that it was made in. It is code of the core, which touches no Python object
// without taking the interpreter first.
unsafe impl Send for DetachedWait<'_> {}

impl DetachedWait<'_> {
    fn run_wait(self) {
        (self.0)();
    }
}

fn run_with_gil_released(body: &mut dyn FnMut()) {
    if !holds_interpreter() {
        return body();
    }
    let wait = DetachedWait(body);
    // SAFETY: the thread holds the interpreter, as was just asked.
    unsafe { Python::assume_attached() }.detach(|| wait.run_wait());
}

pub(crate) fn register_blocking_hook() {
    QUERIES.get_or_init(find_queries);
    rtcg::array::set_blocking_hook(run_with_gil_released);
}
