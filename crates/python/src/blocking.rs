//! Waits of the core with the interpreter released.
//!
//! Array operations and generators enqueue with the interpreter held, because releasing it costs as much as they do.
//! Where a launch may wait, the core says so, and the interpreter is released for that launch.

use pyo3::prelude::*;
use std::ffi::c_int;
use std::sync::OnceLock;

type GilStateCheck = unsafe extern "C" fn() -> c_int;

/// CPython's `PyGILState_Check`, which all versions have, but no stable ABI promises.
static GIL_STATE_CHECK: OnceLock<Option<GilStateCheck>> = OnceLock::new();

fn find_gil_state_check() -> Option<GilStateCheck> {
    // SAFETY: looks up a symbol among those that are loaded; the name is NUL-terminated.
    let symbol = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"PyGILState_Check".as_ptr()) };
    // SAFETY: CPython documents this type.
    (!symbol.is_null()).then(|| unsafe { std::mem::transmute::<*mut libc::c_void, GilStateCheck>(symbol) })
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
    // SAFETY: may be called by any thread of a process with an interpreter.
    let holds = GIL_STATE_CHECK.get().copied().flatten().is_some_and(|check| unsafe { check() } == 1);
    if !holds {
        return body();
    }
    let wait = DetachedWait(body);
    // SAFETY: the thread holds the interpreter, as was just asked.
    unsafe { Python::assume_attached() }.detach(|| wait.run_wait());
}

pub(crate) fn register_blocking_hook() {
    GIL_STATE_CHECK.get_or_init(find_gil_state_check);
    rtcg::array::set_blocking_hook(run_with_gil_released);
}
