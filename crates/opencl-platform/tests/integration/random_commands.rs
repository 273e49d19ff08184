//! Random commands in several queues, in order and out of order, with wait lists, user events, callbacks, barriers and failures, against
//! a model: each command stamps its begin and its end, and ends as what it waits for says.

use crate::depth::at_depth;
use crate::random::{Random, first_seed};
use crate::setup::{Setup, set, set_up};
use rtcg_opencl_sys::*;
use std::ptr::{null, null_mut};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

const QUEUES: usize = 6;
/// The last ones are in order.
const QUEUES_OUT_OF_ORDER: usize = 4;

const SOURCE: &str =
    "__kernel void stamp(__global uint *clock, __global uint *begin, __global uint *end, uint command, uint n) {
    begin[command] = atomic_inc(clock);
    uint x = command;
    for (uint i = 0; i < n; i++) x = x * 1664525 + 1013904223;
    end[command] = atomic_inc(clock) + (n == 0xffffffff ? x : 0);
}";

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// Stamps.
    Kernel,
    /// Writes 7 to the end of its command.
    Fill,
    Marker,
    Barrier,
}

/// What the model knows of a command.
struct Expected {
    kind: Kind,
    queue: usize,
    /// Commands, and user events, that it was told to wait for.
    commands: Vec<usize>,
    gates: Vec<usize>,
    event: cl_event,
}

/// A user event, and what completes it.
struct Gate {
    event: cl_event,
    status: cl_int,
}

/// What callbacks have told, and the gates that they open.
struct Told {
    statuses: Mutex<Vec<(usize, cl_int)>>,
    opened: AtomicU32,
}

struct Call<'t> {
    told: &'t Told,
    command: usize,
    gate: Option<(cl_event, cl_int)>,
}

unsafe extern "C" fn tell(_: cl_event, status: cl_int, call: *mut c_void) {
    let call = unsafe { Box::from_raw(call.cast::<Call>()) };
    if let Some((event, status)) = call.gate {
        assert_eq!(cl!(clSetUserEventStatus(event, status)), CL_SUCCESS);
        call.told.opened.fetch_add(1, Ordering::SeqCst);
    }
    call.told.statuses.lock().unwrap().push((call.command, status));
}

unsafe extern "C" fn count(_: cl_context, counter: *mut c_void) {
    unsafe { &*counter.cast::<AtomicU32>() }.fetch_add(1, Ordering::SeqCst);
}

struct Run<'t> {
    setup: Setup,
    queues: Vec<cl_command_queue>,
    kernel: cl_kernel,
    program: cl_program,
    buffers: [cl_mem; 3],
    commands: Vec<Expected>,
    gates: Vec<Gate>,
    /// Gates that this thread opens.
    mine: Vec<usize>,
    told: &'t Told,
    n_calls: usize,
    random: Random,
}

impl<'t> Run<'t> {
    fn new(seed: u64, count: usize, told: &'t Told) -> Self {
        let setup = set_up(0);
        let program = setup.build(SOURCE);
        let kernel = setup.kernel(program, "stamp");
        let empty = vec![0u32; count];
        let buffers = [setup.buffer(&[1u32]), setup.buffer(&empty), setup.buffer(&empty)];
        for (index, buffer) in buffers.iter().enumerate() {
            assert_eq!(set(kernel, index as cl_uint, buffer), CL_SUCCESS);
        }
        let mut random = Random::new(seed);
        let queues = (0..QUEUES).map(|index| {
            let profiling = if random.one_in(3) { CL_QUEUE_PROFILING_ENABLE } else { 0 };
            let order = if index < QUEUES_OUT_OF_ORDER { CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE } else { 0 };
            let properties = order | profiling;
            let queue = cl!(clCreateCommandQueue(setup.context, setup.device, properties, null_mut()));
            assert!(!queue.is_null());
            queue
        });
        let queues = queues.collect();
        let (commands, gates, mine) = (Vec::new(), Vec::new(), Vec::new());
        Self { setup, queues, kernel, program, buffers, commands, gates, mine, told, n_calls: 0, random }
    }

    fn new_gate(&mut self) -> usize {
        let event = cl!(clCreateUserEvent(self.setup.context, null_mut()));
        let status = if self.random.one_in(12) { -(1 + self.random.below(100) as cl_int) } else { CL_COMPLETE };
        self.gates.push(Gate { event, status });
        self.gates.len() - 1
    }

    fn open(&self, gate: usize) {
        let Gate { event, status } = self.gates[gate];
        assert_eq!(cl!(clSetUserEventStatus(event, status)), CL_SUCCESS);
    }

    /// Some of the last commands, and now and then a gate.
    fn choose_waits(&mut self) -> (Vec<usize>, Vec<usize>) {
        let present = self.commands.len();
        let n_waits = [0, 0, 1, 1, 2, 3][self.random.below(6)];
        let mut commands: Vec<usize> = Vec::new();
        for _ in 0..n_waits.min(present) {
            commands.push(present - 1 - self.random.below(present.min(40)));
        }
        let n_gates = self.gates.len();
        let gates = if n_gates != 0 && self.random.one_in(20) {
            vec![n_gates - 1 - self.random.below(n_gates.min(3))]
        } else {
            Vec::new()
        };
        (commands, gates)
    }

    fn enqueue(&mut self) {
        let kind = match self.random.below(40) {
            0..=27 => Kind::Kernel,
            28..=33 => Kind::Fill,
            34..=38 => Kind::Marker,
            _ if self.random.one_in(4) => Kind::Barrier,
            _ => Kind::Kernel,
        };
        let (commands, gates) = if kind == Kind::Barrier { Default::default() } else { self.choose_waits() };
        if kind == Kind::Marker && commands.len() + gates.len() == 0 {
            return;
        }
        let list: Vec<cl_event> = commands
            .iter()
            .map(|index| self.commands[*index].event)
            .chain(gates.iter().map(|index| self.gates[*index].event))
            .collect();
        let (n, waits) = (list.len() as cl_uint, if list.is_empty() { null() } else { list.as_ptr() });
        let (number, queue) = (self.commands.len(), self.random.below(QUEUES));
        let (handle, mut event) = (self.queues[queue], cl_event::NULL);
        let at = &raw mut event;
        let code = match kind {
            Kind::Kernel => {
                let length = if self.random.one_in(30) { 100_000u32 } else { 0 };
                assert_eq!(set(self.kernel, 3, &(number as u32)), CL_SUCCESS);
                assert_eq!(set(self.kernel, 4, &length), CL_SUCCESS);
                let one = 1usize;
                let one = &raw const one;
                cl!(clEnqueueNDRangeKernel(handle, self.kernel, 1, null(), one, null(), n, waits, at))
            }
            Kind::Fill => {
                let seven = 7u32;
                let seven = (&raw const seven).cast();
                cl!(clEnqueueFillBuffer(handle, self.buffers[2], seven, 4, 4 * number, 4, n, waits, at))
            }
            Kind::Marker => cl!(clEnqueueMarkerWithWaitList(handle, n, waits, at)),
            Kind::Barrier => cl!(clEnqueueBarrierWithWaitList(handle, 0, null(), at)),
        };
        assert_eq!(code, CL_SUCCESS);
        self.commands.push(Expected { kind, queue, commands, gates, event });
        if self.random.one_in(20) {
            self.add_callback(number);
        }
        if self.random.one_in(20) {
            let asked = number - self.random.below(number.min(5) + 1);
            let _ = self.status(asked);
        }
        if self.random.one_in(10) {
            // Nobody looks at the event of the queue's last command.
            assert_eq!(cl!(clEnqueueMarkerWithWaitList(handle, 0, null(), at)), CL_SUCCESS);
            assert_eq!(cl!(clReleaseEvent(event)), CL_SUCCESS);
        }
    }

    fn status(&self, command: usize) -> cl_int {
        let mut found = 100;
        let (pointer, name) = ((&raw mut found).cast(), CL_EVENT_COMMAND_EXECUTION_STATUS);
        assert_eq!(cl!(clGetEventInfo(self.commands[command].event, name, 4, pointer, null_mut())), CL_SUCCESS);
        found
    }

    /// A callback, which may open a new gate.
    fn add_callback(&mut self, command: usize) {
        let gate = self.random.one_in(3).then(|| self.new_gate());
        let gate = gate.map(|gate| (self.gates[gate].event, self.gates[gate].status));
        let call = Box::into_raw(Box::new(Call { told: self.told, command, gate }));
        let event = self.commands[command].event;
        assert_eq!(cl!(clSetEventCallback(event, CL_COMPLETE, Some(tell), call.cast())), CL_SUCCESS);
        self.n_calls += 1;
    }

    fn enqueue_all(&mut self, count: usize) {
        while self.commands.len() < count {
            if self.random.one_in(60) {
                let gate = self.new_gate();
                self.mine.push(gate);
            }
            if self.mine.len() > 2 || (!self.mine.is_empty() && self.random.one_in(60)) {
                let gate = self.random.below(self.mine.len());
                let gate = self.mine.swap_remove(gate);
                self.open(gate);
            }
            self.enqueue();
        }
        for gate in std::mem::take(&mut self.mine) {
            self.open(gate);
        }
    }

    fn check(&self) {
        let read = |buffer| self.setup.read::<u32>(buffer, self.commands.len());
        let (begin, end) = (read(self.buffers[1]), read(self.buffers[2]));
        let mut statuses: Vec<cl_int> = Vec::new();
        // The last stamp that a command comes after, through those that have no stamps of their own.
        let mut last: Vec<u32> = Vec::new();
        let mut barrier = [0u32; QUEUES];
        let mut latest = [0u32; QUEUES];
        for (number, command) in self.commands.iter().enumerate() {
            let Expected { kind, queue, .. } = *command;
            let fails = command.commands.iter().any(|index| statuses[*index] < 0)
                || command.gates.iter().any(|index| self.gates[*index].status < 0);
            let expected = if fails { CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST } else { CL_COMPLETE };
            let found = self.status(number);
            assert_eq!(found, expected, "command {number}");
            let mut after = command.commands.iter().map(|index| last[*index]).max().unwrap_or(0).max(barrier[queue]);
            if queue >= QUEUES_OUT_OF_ORDER {
                after = after.max(latest[queue]);
            }
            match kind {
                Kind::Kernel if fails => assert_eq!((begin[number], end[number]), (0, 0), "command {number} failed"),
                Kind::Kernel => {
                    assert!(begin[number] > after, "command {number} began at {}, not after {after}", begin[number]);
                    assert!(end[number] > begin[number], "command {number}");
                    after = end[number];
                }
                Kind::Fill => assert_eq!(end[number], if fails { 0 } else { 7 }, "command {number}"),
                Kind::Marker => {}
                Kind::Barrier => {
                    after = after.max(latest[queue]);
                    barrier[queue] = after;
                }
            }
            // What failed has waited for nothing.
            last.push(if fails { 0 } else { after });
            latest[queue] = latest[queue].max(if fails { 0 } else { after });
            statuses.push(found);
        }
        let told = self.told.statuses.lock().unwrap();
        for (command, status) in told.iter() {
            assert_eq!(*status, statuses[*command], "the callback of command {command}");
        }
        let failed = statuses.iter().filter(|status| **status < 0).count();
        assert!(failed > statuses.len() / 200 && failed < statuses.len() / 2, "{failed} of {} failed", statuses.len());
    }
}

impl Drop for Run<'_> {
    fn drop(&mut self) {
        let events = self.commands.iter().map(|command| command.event).chain(self.gates.iter().map(|gate| gate.event));
        for event in events {
            cl!(clReleaseEvent(event));
        }
        for queue in &self.queues {
            cl!(clReleaseCommandQueue(*queue));
        }
        for buffer in self.buffers {
            cl!(clReleaseMemObject(buffer));
        }
        cl!(clReleaseKernel(self.kernel));
        cl!(clReleaseProgram(self.program));
    }
}

#[test]
fn commands_in_and_out_of_order_go_as_a_model_says() {
    let count_of_commands = 10_000;
    for seed in first_seed()..first_seed() + at_depth(1, 20) {
        let (gone, begin) = (AtomicU32::new(0), Instant::now());
        let told = Told { statuses: Mutex::new(Vec::new()), opened: AtomicU32::new(0) };
        let mut run = Run::new(seed, count_of_commands, &told);
        let counter = (&raw const gone).cast_mut().cast();
        assert_eq!(cl!(clSetContextDestructorCallback(run.setup.context, Some(count), counter)), CL_SUCCESS);
        run.enqueue_all(count_of_commands);
        for queue in &run.queues {
            assert_eq!(cl!(clFinish(*queue)), CL_SUCCESS, "seed {seed}");
        }
        let n_calls = run.n_calls;
        let wait = |what: &str, is_so: &dyn Fn() -> bool| {
            while !is_so() {
                assert!(begin.elapsed() < Duration::from_secs(120), "seed {seed}: {what}");
                std::thread::sleep(Duration::from_millis(1));
            }
        };
        wait("callbacks are called", &|| told.statuses.lock().unwrap().len() == n_calls);
        run.check();
        drop(run);
        // The context goes with the last object that was made in it.
        wait("no object is left", &|| gone.load(Ordering::SeqCst) == 1);
    }
}
