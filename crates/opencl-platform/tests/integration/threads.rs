//! Random operations of several threads on one context, its queues and its buffers.

use crate::depth::at_depth;
use crate::random::{Random, first_seed};
use crate::setup::{Setup, set, set_up};
use rtcg_opencl_sys::*;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

const THREADS: usize = 8;
const OPERATIONS: usize = 1000;
/// Elements of each buffer.
const N: usize = 256;
const BYTES: usize = 4 * N;

const SOURCE: &str = "
    __kernel void add(__global uint *x, uint a, __global uint *shared) {
        x[get_global_id(0)] += a;
        if (get_global_id(0) == 0) atomic_add(shared, a);
    }
    __kernel void mix(__global uint *x, __global const uint *y, __local uint *l) {
        uint i = get_local_id(0), n = get_local_size(0);
        l[i] = y[get_global_id(0)];
        barrier(CLK_LOCAL_MEM_FENCE);
        x[get_global_id(0)] ^= l[n - 1 - i];
    }";

/// What all threads use.
struct Shared {
    context: cl_context,
    device: cl_device_id,
    queues: Vec<cl_command_queue>,
    program: cl_program,
    kernels: [cl_kernel; 2],
    counter: cl_mem,
}

/// A buffer with what it should hold.
struct Own {
    buffer: cl_mem,
    model: Vec<u32>,
}

struct Worker<'s> {
    shared: &'s Shared,
    random: Random,
    own: Vec<Own>,
    kernels: [cl_kernel; 2],
    /// The last command of this thread: the next waits for it, whatever queue it is in.
    last: cl_event,
    total: u32,
    calls: Box<AtomicU32>,
    n_calls: u32,
}

unsafe extern "C" fn called(event: cl_event, status: cl_int, calls: *mut c_void) {
    assert_eq!(status, CL_COMPLETE);
    let mut queue = cl_command_queue::NULL;
    let pointer = (&raw mut queue).cast();
    assert_eq!(cl!(clGetEventInfo(event, CL_EVENT_COMMAND_QUEUE, 8, pointer, null_mut())), CL_SUCCESS);
    assert_eq!(cl!(clFlush(queue)), CL_SUCCESS);
    unsafe { &*calls.cast::<AtomicU32>() }.fetch_add(1, Ordering::SeqCst);
}

impl Worker<'_> {
    fn queue(&mut self) -> cl_command_queue {
        let index = self.random.below(self.shared.queues.len());
        self.shared.queues[index]
    }

    /// Enqueues a command behind the last one of this thread, and remembers it.
    fn enqueue(&mut self, call: impl FnOnce(cl_command_queue, cl_uint, *const cl_event, *mut cl_event) -> cl_int) {
        let (queue, last, mut event) = (self.queue(), self.last, cl_event::NULL);
        let (count, list) = if last.is_null() { (0, null()) } else { (1, &raw const last) };
        assert_eq!(call(queue, count, list, &raw mut event), CL_SUCCESS);
        self.forget_last();
        self.last = event;
        if self.random.one_in(10) {
            let calls = (&raw const *self.calls).cast_mut().cast();
            assert_eq!(cl!(clSetEventCallback(event, CL_COMPLETE, Some(called), calls)), CL_SUCCESS);
            self.n_calls += 1;
        }
    }

    fn forget_last(&mut self) {
        if !self.last.is_null() {
            assert_eq!(cl!(clReleaseEvent(std::mem::replace(&mut self.last, cl_event::NULL))), CL_SUCCESS);
        }
    }

    /// Two different buffers of this thread.
    fn pair(&mut self) -> (usize, usize) {
        let first = self.random.below(self.own.len());
        let second = (first + 1 + self.random.below(self.own.len() - 1)) % self.own.len();
        (first, second)
    }

    fn make(&mut self) {
        let value = self.random.next() as u32;
        let model = vec![value; N];
        let flags = CL_MEM_COPY_HOST_PTR | if self.random.one_in(4) { CL_MEM_ALLOC_HOST_PTR } else { 0 };
        let pointer = model.as_ptr().cast_mut().cast();
        let mut code = 1;
        let buffer = cl!(clCreateBuffer(self.shared.context, flags, BYTES, pointer, &raw mut code));
        assert_eq!(code, CL_SUCCESS);
        self.own.push(Own { buffer, model });
    }

    fn run_one(&mut self) {
        let (a, b) = self.pair();
        let (x, y) = (self.own[a].buffer, self.own[b].buffer);
        let value = self.random.next() as u32;
        let pattern = (&raw const value).cast::<c_void>();
        let global = N;
        match self.random.below(14) {
            0 => {
                let from = 64 * self.random.below(2);
                self.enqueue(|queue, n, list, event| {
                    cl!(clEnqueueFillBuffer(queue, x, pattern, 4, 4 * from, 512, n, list, event))
                });
                self.own[a].model[from..from + 128].fill(value);
            }
            1 => {
                self.enqueue(|queue, n, list, event| {
                    cl!(clEnqueueCopyBuffer(queue, x, y, 0, 0, BYTES, n, list, event))
                });
                self.own[b].model = self.own[a].model.clone();
            }
            2 | 3 => {
                let kernel = self.kernels[0];
                let amount = value % 1000;
                for code in [set(kernel, 0, &x), set(kernel, 1, &amount), set(kernel, 2, &self.shared.counter)] {
                    assert_eq!(code, CL_SUCCESS);
                }
                let global = &raw const global;
                self.enqueue(|queue, n, list, event| {
                    cl!(clEnqueueNDRangeKernel(queue, kernel, 1, null(), global, null(), n, list, event))
                });
                self.own[a].model.iter_mut().for_each(|element| *element = element.wrapping_add(amount));
                self.total = self.total.wrapping_add(amount);
            }
            4 | 5 => {
                let kernel = self.kernels[1];
                let local = 32 << self.random.below(3);
                for code in [set(kernel, 0, &x), set(kernel, 1, &y)] {
                    assert_eq!(code, CL_SUCCESS);
                }
                assert_eq!(cl!(clSetKernelArg(kernel, 2, 4 * local, null())), CL_SUCCESS);
                let (global, size) = (&raw const global, &raw const local);
                self.enqueue(|queue, n, list, event| {
                    cl!(clEnqueueNDRangeKernel(queue, kernel, 1, null(), global, size, n, list, event))
                });
                let other = self.own[b].model.clone();
                for (index, element) in self.own[a].model.iter_mut().enumerate() {
                    *element ^= other[index / local * local + local - 1 - index % local];
                }
            }
            6 => self.check(a),
            7 => {
                let values: Vec<u32> = (0..N as u32).map(|i| i.wrapping_mul(value)).collect();
                let pointer = values.as_ptr().cast();
                self.enqueue(|queue, n, list, event| {
                    cl!(clEnqueueWriteBuffer(queue, x, CL_TRUE, 0, BYTES, pointer, n, list, event))
                });
                self.own[a].model = values;
            }
            8 => self.map(a, value),
            9 => {
                // What is released lives as long as its commands.
                let gone = self.own.swap_remove(a);
                self.enqueue(|queue, n, list, event| {
                    cl!(clEnqueueFillBuffer(queue, gone.buffer, pattern, 4, 0, BYTES, n, list, event))
                });
                assert_eq!(cl!(clReleaseMemObject(gone.buffer)), CL_SUCCESS);
                self.make();
            }
            10 => {
                let region = cl_buffer_region { origin: 256, size: 256 };
                let (kind, region) = (CL_BUFFER_CREATE_TYPE_REGION, (&raw const region).cast());
                let part = cl!(clCreateSubBuffer(x, 0, kind, region, null_mut()));
                self.enqueue(|queue, n, list, event| {
                    cl!(clEnqueueFillBuffer(queue, part, pattern, 4, 0, 256, n, list, event))
                });
                assert_eq!(cl!(clReleaseMemObject(part)), CL_SUCCESS);
                self.own[a].model[64..128].fill(value);
            }
            11 => {
                let queue = self.queue();
                let code = if self.random.one_in(4) { cl!(clFinish(queue)) } else { cl!(clFlush(queue)) };
                assert_eq!(code, CL_SUCCESS);
                self.enqueue(|queue, n, list, event| cl!(clEnqueueMarkerWithWaitList(queue, n, list, event)));
            }
            12 => self.wait_for_a_user_event(a, value),
            _ => {
                // A queue of its own for one command; it may be released before that has run.
                let (context, device) = (self.shared.context, self.shared.device);
                let properties = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE * (u64::from(value) & 1);
                let queue = cl!(clCreateCommandQueue(context, device, properties, null_mut()));
                self.enqueue(|_, n, list, event| {
                    cl!(clEnqueueFillBuffer(queue, x, pattern, 4, 0, BYTES, n, list, event))
                });
                assert_eq!(cl!(clReleaseCommandQueue(queue)), CL_SUCCESS);
                self.own[a].model.fill(value);
            }
        }
    }

    fn check(&mut self, index: usize) {
        let mut found = vec![0u32; N];
        let (buffer, pointer) = (self.own[index].buffer, found.as_mut_ptr().cast());
        self.enqueue(|queue, n, list, event| {
            cl!(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, BYTES, pointer, n, list, event))
        });
        assert_eq!(found, self.own[index].model);
    }

    fn map(&mut self, index: usize, value: u32) {
        let buffer = self.own[index].buffer;
        let mut code = 1;
        let mut pointer = null_mut::<c_void>();
        let flags = CL_MAP_READ | CL_MAP_WRITE;
        self.enqueue(|queue, n, list, event| {
            pointer = cl!(clEnqueueMapBuffer(queue, buffer, CL_TRUE, flags, 0, BYTES, n, list, event, &raw mut code));
            code
        });
        let mapped = unsafe { std::slice::from_raw_parts_mut(pointer.cast::<u32>(), N) };
        assert_eq!(mapped, self.own[index].model);
        mapped[..10].fill(value);
        self.own[index].model[..10].fill(value);
        self.enqueue(|queue, n, list, event| cl!(clEnqueueUnmapMemObject(queue, buffer, pointer, n, list, event)));
    }

    /// A command that waits for this thread in a queue out of order, which holds up nobody else.
    fn wait_for_a_user_event(&mut self, index: usize, value: u32) {
        let gate = cl!(clCreateUserEvent(self.shared.context, null_mut()));
        let waits = [gate, self.last];
        let count = if self.last.is_null() { 1 } else { 2 };
        let (queue, buffer, mut event) = (self.shared.queues[1], self.own[index].buffer, cl_event::NULL);
        let pattern = (&raw const value).cast();
        let (waits, at) = (waits.as_ptr(), &raw mut event);
        assert_eq!(cl!(clEnqueueFillBuffer(queue, buffer, pattern, 4, 0, BYTES, count, waits, at)), CL_SUCCESS);
        assert_eq!(cl!(clSetUserEventStatus(gate, CL_COMPLETE)), CL_SUCCESS);
        assert_eq!(cl!(clReleaseEvent(gate)), CL_SUCCESS);
        self.forget_last();
        self.last = event;
        self.own[index].model.fill(value);
    }

    /// Runs all operations; returns what it has added to the shared counter.
    fn run(mut self, operations: usize) -> u32 {
        (0..4).for_each(|_| self.make());
        (0..operations).for_each(|_| self.run_one());
        (0..self.own.len()).for_each(|index| self.check(index));
        let begin = Instant::now();
        while self.calls.load(Ordering::SeqCst) != self.n_calls {
            assert!(begin.elapsed() < Duration::from_secs(60), "callbacks are missing");
            std::thread::sleep(Duration::from_millis(1));
        }
        self.forget_last();
        for own in &self.own {
            assert_eq!(cl!(clReleaseMemObject(own.buffer)), CL_SUCCESS);
        }
        for kernel in self.kernels {
            assert_eq!(cl!(clReleaseKernel(kernel)), CL_SUCCESS);
        }
        self.total
    }
}

unsafe extern "C" fn count(_: cl_context, counter: *mut c_void) {
    unsafe { &*counter.cast::<AtomicU32>() }.fetch_add(1, Ordering::SeqCst);
}

fn share(setup: &Setup) -> Shared {
    let program = setup.build(SOURCE);
    let out_of_order = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
    let queues = [0, out_of_order, CL_QUEUE_PROFILING_ENABLE, out_of_order | CL_QUEUE_PROFILING_ENABLE];
    let queues = queues.map(|properties| {
        let queue = cl!(clCreateCommandQueue(setup.context, setup.device, properties, null_mut()));
        assert!(!queue.is_null());
        queue
    });
    Shared {
        context: setup.context,
        device: setup.device,
        queues: queues.to_vec(),
        program,
        kernels: ["add", "mix"].map(|name| setup.kernel(program, name)),
        counter: setup.buffer(&[0u32]),
    }
}

#[test]
fn threads_share_a_context_its_queues_and_its_programs() {
    for seed in first_seed()..first_seed() + at_depth(1, 10) {
        let gone = AtomicU32::new(0);
        let setup = set_up(0);
        let counter = (&raw const gone).cast_mut().cast();
        assert_eq!(cl!(clSetContextDestructorCallback(setup.context, Some(count), counter)), CL_SUCCESS);
        let shared = share(&setup);
        let totals = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..THREADS as u64)
                .map(|thread| {
                    let shared = &shared;
                    scope.spawn(move || {
                        let random = Random::new(seed * 1000 + thread);
                        let kernels = shared.kernels.map(|kernel| cl!(clCloneKernel(kernel, null_mut())));
                        let (own, calls) = (Vec::new(), Box::new(AtomicU32::new(0)));
                        let last = cl_event::NULL;
                        Worker { shared, random, own, kernels, last, total: 0, calls, n_calls: 0 }.run(OPERATIONS)
                    })
                })
                .collect();
            workers.into_iter().map(|worker| worker.join().unwrap()).fold(0u32, u32::wrapping_add)
        });
        shared.queues.iter().for_each(|queue| assert_eq!(cl!(clFinish(*queue)), CL_SUCCESS));
        assert_eq!(setup.read::<u32>(shared.counter, 1), [totals], "seed {seed}");
        shared.queues.iter().for_each(|queue| assert_eq!(cl!(clReleaseCommandQueue(*queue)), CL_SUCCESS));
        shared.kernels.iter().for_each(|kernel| assert_eq!(cl!(clReleaseKernel(*kernel)), CL_SUCCESS));
        assert_eq!(cl!(clReleaseProgram(shared.program)), CL_SUCCESS);
        assert_eq!(cl!(clReleaseMemObject(shared.counter)), CL_SUCCESS);
        drop(setup);
        // The context goes with the last object that was made in it.
        let begin = Instant::now();
        while gone.load(Ordering::SeqCst) == 0 {
            assert!(begin.elapsed() < Duration::from_secs(60), "seed {seed}: an object is left");
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}
