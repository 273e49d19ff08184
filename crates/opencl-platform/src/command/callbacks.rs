//! The thread that calls the functions of `clSetEventCallback`: they may call OpenCL, which functions that run in a
//! stream must not.

use crate::command::event::{EventBody, EventCallback};
use crate::object::Ref;
use rtcg_driver::Event;
use rtcg_opencl_sys::*;
use std::sync::OnceLock;
use std::sync::mpsc::{Sender, channel};

struct Call {
    event: Ref<EventBody>,
    status: cl_int,
    callback: EventCallback,
    /// What to wait for before.
    end: Option<Event>,
}

/// The command is in a stream: calls those who wanted to know that, and the others when it has ended.
pub(crate) fn submitted(event: &Ref<EventBody>, end: &Event, callbacks: &mut Vec<EventCallback>) {
    for callback in callbacks.drain(..) {
        let is_at_end = callback.status == CL_COMPLETE;
        let end = is_at_end.then(|| end.clone());
        send(Call { event: event.clone(), status: callback.status, callback, end });
    }
}

/// The command ended: calls all, with its error where there was one.
pub(crate) fn done(event: &Ref<EventBody>, code: cl_int, callbacks: Vec<EventCallback>) {
    for callback in callbacks {
        let status = if code < 0 { code } else { callback.status };
        send(Call { event: event.clone(), status, callback, end: None });
    }
}

fn send(call: Call) {
    static CALLS: OnceLock<Sender<Call>> = OnceLock::new();
    let calls = CALLS.get_or_init(|| {
        let (sender, receiver) = channel::<Call>();
        let run = move || {
            for call in receiver {
                // Commands end in an order that is not known: each that is waited for has a thread of its own.
                if call.end.is_some() {
                    std::thread::spawn(move || run(call));
                } else {
                    run(call);
                }
            }
        };
        std::thread::Builder::new().name("rtcg OpenCL callbacks".into()).spawn(run).expect("a thread can be started");
        sender
    });
    // The receiver lives as long as the process.
    let _ = calls.send(call);
}

fn run(call: Call) {
    let failed = call.end.as_ref().is_some_and(|end| end.synchronize().is_err());
    let status = if failed { CL_OUT_OF_RESOURCES } else { call.status };
    // SAFETY: the promise of `clSetEventCallback`'s caller.
    unsafe { (call.callback.function)(call.event.handle(), status, call.callback.user_data.0) };
}
