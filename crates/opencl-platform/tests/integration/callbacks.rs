//! Functions of events: one thread, an order, and any function of the interface inside.

use crate::setup::{Setup, set_up};
use rtcg_opencl_sys::*;
use std::collections::HashSet;
use std::ptr::{null, null_mut};
use std::sync::{Condvar, Mutex};
use std::thread::ThreadId;
use std::time::Duration;

/// Calls that were made: number of the callback, status, thread.
struct Calls {
    list: Mutex<Vec<(usize, cl_int, ThreadId)>>,
    changed: Condvar,
}

impl Calls {
    fn new() -> Self {
        Self { list: Mutex::new(Vec::new()), changed: Condvar::new() }
    }

    fn add(&self, number: usize, status: cl_int) {
        self.list.lock().unwrap().push((number, status, std::thread::current().id()));
        self.changed.notify_all();
    }

    fn wait_for(&self, count: usize) -> Vec<(usize, cl_int, ThreadId)> {
        let list = self.list.lock().unwrap();
        let is_short = |list: &mut Vec<_>| list.len() < count;
        let (list, timeout) = self.changed.wait_timeout_while(list, Duration::from_secs(20), is_short).unwrap();
        assert!(!timeout.timed_out(), "{} of {count} calls", list.len());
        list.clone()
    }
}

/// What a callback is given.
struct Call<'c> {
    calls: &'c Calls,
    number: usize,
    /// A queue to finish, and a user event to complete, where they are not null.
    queue: cl_command_queue,
    gate: cl_event,
}

unsafe extern "C" fn record(event: cl_event, status: cl_int, call: *mut c_void) {
    let call = unsafe { &*call.cast::<Call>() };
    let mut found = 100i32;
    let pointer = (&raw mut found).cast();
    assert_eq!(cl!(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, 4, pointer, null_mut())), CL_SUCCESS);
    assert!(found <= status, "the event is as far as it is said to be");
    if !call.gate.is_null() {
        assert_eq!(cl!(clSetUserEventStatus(call.gate, CL_COMPLETE)), CL_SUCCESS);
    }
    if !call.queue.is_null() {
        assert_eq!(cl!(clFinish(call.queue)), CL_SUCCESS);
    }
    call.calls.add(call.number, status);
}

/// The same, and releases the reference that the program gave away.
unsafe extern "C" fn record_and_release(event: cl_event, status: cl_int, call: *mut c_void) {
    unsafe { record(event, status, call) };
    assert_eq!(cl!(clReleaseEvent(event)), CL_SUCCESS);
}

fn fill(setup: &Setup, queue: cl_command_queue, buffer: cl_mem, waits: &[cl_event]) -> cl_event {
    let (pattern, mut event) = (7u32, cl_event::NULL);
    let list = if waits.is_empty() { null() } else { waits.as_ptr() };
    let (count, pattern) = (waits.len() as cl_uint, (&raw const pattern).cast());
    let code = cl!(clEnqueueFillBuffer(queue, buffer, pattern, 4, 0, 1024, count, list, &raw mut event));
    assert_eq!(code, CL_SUCCESS);
    let _ = setup;
    event
}

#[test]
fn functions_of_many_events_are_called_by_one_thread_in_the_order_of_states() {
    const COUNT: usize = 200;
    let setup = set_up(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    let buffer = setup.buffer(&[0u32; 256]);
    let mut code = 1;
    let gate = cl!(clCreateUserEvent(setup.context, &raw mut code));
    let calls = Calls::new();
    let none = (cl_command_queue::NULL, cl_event::NULL);
    let list: Vec<_> = (0..COUNT).map(|number| Call { calls: &calls, number, queue: none.0, gate: none.1 }).collect();
    for call in &list {
        let event = fill(&setup, setup.queue, buffer, &[gate]);
        let data = (&raw const *call).cast_mut().cast();
        for status in [CL_COMPLETE, CL_RUNNING] {
            assert_eq!(cl!(clSetEventCallback(event, status, Some(record), data)), CL_SUCCESS);
        }
        assert_eq!(cl!(clSetEventCallback(event, CL_SUBMITTED, Some(record), data)), CL_SUCCESS);
        // The event lives until its functions were called.
        assert_eq!(cl!(clReleaseEvent(event)), CL_SUCCESS);
    }
    assert_eq!(calls.list.lock().unwrap().len(), 0);
    assert_eq!(cl!(clSetUserEventStatus(gate, CL_COMPLETE)), CL_SUCCESS);
    let found = calls.wait_for(3 * COUNT);
    assert_eq!(found.iter().map(|(_, _, thread)| *thread).collect::<HashSet<_>>().len(), 1);
    for number in 0..COUNT {
        let states: Vec<_> = found.iter().filter(|call| call.0 == number).map(|call| call.1).collect();
        assert_eq!(states, [CL_SUBMITTED, CL_RUNNING, CL_COMPLETE], "event {number}");
    }
    cl!(clReleaseEvent(gate));
    cl!(clReleaseMemObject(buffer));
}

#[test]
fn a_callback_may_release_its_event_complete_another_and_finish_a_queue() {
    let setup = set_up(0);
    let buffer = setup.buffer(&[0u32; 256]);
    let mut code = 1;
    let other = cl!(clCreateCommandQueue(setup.context, setup.device, 0, &raw mut code));
    let gates = [0, 1].map(|_| cl!(clCreateUserEvent(setup.context, &raw mut code)));
    let calls = Calls::new();
    let last = fill(&setup, other, buffer, &[gates[1]]);
    let first = fill(&setup, setup.queue, buffer, &[gates[0]]);
    let call = Call { calls: &calls, number: 0, queue: other, gate: gates[1] };
    let data = (&raw const call).cast_mut().cast();
    assert_eq!(cl!(clSetEventCallback(first, CL_COMPLETE, Some(record_and_release), data)), CL_SUCCESS);
    assert_eq!(cl!(clSetUserEventStatus(gates[0], CL_COMPLETE)), CL_SUCCESS);
    assert_eq!(calls.wait_for(1)[0].1, CL_COMPLETE);
    assert_eq!(cl!(clWaitForEvents(1, &raw const last)), CL_SUCCESS);
    for event in gates.into_iter().chain([last]) {
        assert_eq!(cl!(clReleaseEvent(event)), CL_SUCCESS);
    }
    assert_eq!(cl!(clReleaseCommandQueue(other)), CL_SUCCESS);
    cl!(clReleaseMemObject(buffer));
}

#[test]
fn callbacks_are_told_of_failures_and_of_what_was_done_before_they_were_given() {
    let setup = set_up(0);
    let buffer = setup.buffer(&[0u32; 256]);
    let mut code = 1;
    let gate = cl!(clCreateUserEvent(setup.context, &raw mut code));
    let calls = Calls::new();
    let failing = fill(&setup, setup.queue, buffer, &[gate]);
    let list =
        [0, 1, 2].map(|number| Call { calls: &calls, number, queue: cl_command_queue::NULL, gate: cl_event::NULL });
    let data = |index: usize| (&raw const list[index]).cast_mut().cast();
    assert_eq!(cl!(clSetEventCallback(failing, CL_COMPLETE, Some(record), data(0))), CL_SUCCESS);
    assert_eq!(cl!(clSetEventCallback(gate, CL_COMPLETE, Some(record), data(1))), CL_SUCCESS);
    assert_eq!(cl!(clSetUserEventStatus(gate, -77)), CL_SUCCESS);
    assert_eq!(calls.wait_for(2).len(), 2);
    assert_eq!(cl!(clSetEventCallback(failing, CL_RUNNING, Some(record), data(2))), CL_SUCCESS);
    let found = calls.wait_for(3);
    let status = |number| found.iter().find(|call| call.0 == number).unwrap().1;
    let failed = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    assert_eq!([status(0), status(1), status(2)], [failed, -77, failed]);
    for event in [gate, failing] {
        assert_eq!(cl!(clReleaseEvent(event)), CL_SUCCESS);
    }
    cl!(clReleaseMemObject(buffer));
}

#[test]
fn a_user_event_is_submitted_from_the_beginning() {
    let setup = set_up(0);
    let calls = Calls::new();
    let gate = cl!(clCreateUserEvent(setup.context, null_mut()));
    let list = [0, 1].map(|number| Call { calls: &calls, number, queue: cl_command_queue::NULL, gate: cl_event::NULL });
    let data = |index: usize| (&raw const list[index]).cast_mut().cast();
    assert_eq!(cl!(clSetEventCallback(gate, CL_COMPLETE, Some(record), data(0))), CL_SUCCESS);
    assert_eq!(cl!(clSetEventCallback(gate, CL_SUBMITTED, Some(record), data(1))), CL_SUCCESS);
    let found = calls.wait_for(1);
    assert_eq!((found[0].0, found[0].1), (1, CL_SUBMITTED));
    assert_eq!(cl!(clSetUserEventStatus(gate, CL_COMPLETE)), CL_SUCCESS);
    let found = calls.wait_for(2);
    assert_eq!((found[1].0, found[1].1), (0, CL_COMPLETE));
    assert_eq!(cl!(clReleaseEvent(gate)), CL_SUCCESS);
}
