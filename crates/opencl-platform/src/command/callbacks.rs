//! The functions of `clSetEventCallback`. They are called in a thread of their own, and may call OpenCL, which functions
//! that run in a stream must not. Those of one event are called in the order of the states that they are for.

use crate::command::event::EventBody;
use crate::completion::watcher::CALLBACKS;
use crate::context::UserData;
use crate::object::Ref;
use rtcg_opencl_sys::*;

/// A function of the user's that is called once.
pub(crate) struct EventCallback {
    pub(crate) status: cl_int,
    pub(crate) function: unsafe extern "C" fn(cl_event, cl_int, *mut c_void),
    pub(crate) user_data: UserData,
}

/// Calls the functions of an event as it goes on.
pub(crate) fn watch(event: &Ref<EventBody>) {
    let event = event.clone();
    CALLBACKS.watch(move || {
        let status = event.status(&event);
        loop {
            let (due, is_last) = event.take_due_callbacks(status);
            if due.is_empty() {
                return is_last;
            }
            for callback in due {
                let reported = if status < 0 { status } else { callback.status };
                // SAFETY: the promise of `clSetEventCallback`'s caller. The event lives as long as this task.
                unsafe { (callback.function)(event.handle(), reported, callback.user_data.0) };
            }
        }
    });
}
