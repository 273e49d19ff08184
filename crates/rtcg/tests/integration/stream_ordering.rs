//! Memory that streams and graphs still work with: it stays where it is, and copies to the host wait.

use rtcg::driver::pool::DeviceMemoryPool;
use rtcg::driver::sys::{CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_RELAXED};
use rtcg::driver::{GraphExec, Stream, StreamFlags};
use rtcg::generators::{ArrayView, ElementwiseKernel, GeneratedKernelArg, IndexRange};
use rtcg::prelude::*;

const ELEMENT_COUNT: usize = 32;
/// The second kernel writes when so much time has passed.
const KERNEL_DELAY_NS: i64 = 50_000_000;
const FILL_SOURCE: &str = "__global__ void fill(float *a, float value) { a[threadIdx.x] = value; }
__global__ void fill_late(float *a, float value, long long ns)
{
    long long start, now;
    asm volatile(\"mov.u64 %0, %globaltimer;\" : \"=l\"(start));
    do asm volatile(\"mov.u64 %0, %globaltimer;\" : \"=l\"(now)); while (now - start < ns);
    a[threadIdx.x] = value;
}";

fn context() -> Context {
    Context::new().expect("the virtual GPU is always there")
}

fn non_blocking_stream(ctx: &Context) -> Stream {
    ctx.stream_with_flags(StreamFlags::NON_BLOCKING).unwrap()
}

/// What `body` submits to the stream, as an executable graph.
fn capture_graph(stream: &Stream, body: impl FnOnce()) -> GraphExec {
    let captured = stream.capture(CU_STREAM_CAPTURE_MODE_RELAXED, || {
        body();
        rtcg::Result::Ok(())
    });
    captured.unwrap().0.instantiate(0).unwrap()
}

#[test]
fn a_graph_retains_launch_arguments() {
    own_process!();
    let ctx = context();
    let stream = non_blocking_stream(&ctx);
    let a = ctx.zeros::<f32>(ELEMENT_COUNT).unwrap();
    let exec = {
        let fill = ctx.compile(FILL_SOURCE).unwrap().function("fill").unwrap();
        // SAFETY: the kernel writes ELEMENT_COUNT elements.
        capture_graph(&stream, || unsafe {
            fill.launch(Grid::new(1, ELEMENT_COUNT as u32).stream(&stream), &[&a, &3.0f32]).unwrap();
        })
    };
    let place = a.ptr();
    drop(a);
    let allocate = || (0..256).map(|_| ctx.zeros::<f32>(ELEMENT_COUNT).unwrap()).collect::<Vec<_>>();
    let others = allocate();
    exec.launch(Some(&stream)).unwrap();
    stream.synchronize().unwrap();
    assert!(others.iter().all(|b| b.to_vec().unwrap() == [0.0; ELEMENT_COUNT]), "the graph wrote to memory of others");
    assert!(others.iter().all(|b| b.ptr() != place));
    // What the graph kept goes with it.
    drop(exec);
    if !ctx.device().can_load_cubins() {
        assert!(allocate().iter().any(|b| b.ptr() == place));
    }
}

#[test]
fn a_graph_retains_pool_blocks() {
    own_process!();
    let ctx = context();
    let (stream, pool) = (non_blocking_stream(&ctx), DeviceMemoryPool::new());
    let fill = ctx.compile(FILL_SOURCE).unwrap().function("fill").unwrap();
    let a = ctx.zeros_from_pool::<f32>(&pool, ELEMENT_COUNT).unwrap();
    // SAFETY: the kernel writes ELEMENT_COUNT elements.
    let exec = capture_graph(&stream, || unsafe {
        fill.launch(Grid::new(1, ELEMENT_COUNT as u32).stream(&stream), &[&a, &3.0f32]).unwrap();
    });
    let place = a.ptr();
    drop(a);
    let b = ctx.zeros_from_pool::<f32>(&pool, ELEMENT_COUNT).unwrap();
    exec.launch(Some(&stream)).unwrap();
    stream.synchronize().unwrap();
    assert_eq!(b.to_vec().unwrap(), [0.0; ELEMENT_COUNT]);
    assert_eq!(pool.statistics().active_blocks, 2, "one of them is the graph's");
    drop(exec);
    assert_eq!(pool.statistics().active_blocks, 1);
    assert_eq!(ctx.zeros_from_pool::<f32>(&pool, ELEMENT_COUNT).unwrap().ptr(), place);
}

#[test]
fn a_graph_retains_arrays_and_temporaries() {
    own_process!();
    let ctx = context();
    let (stream, arrays) = (non_blocking_stream(&ctx), ArrayFactory::new(&ctx).unwrap());
    let sum = arrays.zeros::<f32>(&[1000]).unwrap();
    let run = || {
        rtcg::run_in_stream(Some(&stream), || {
            let ones = arrays.full(&[1000], 1.0f32).unwrap();
            sum.assign(&(&(&ones + &ones) + &ones)).unwrap();
        });
    };
    run();
    stream.synchronize().unwrap();
    let exec = capture_graph(&stream, run);
    let others: Vec<_> = (0..4).map(|_| arrays.zeros::<f32>(&[1000]).unwrap()).collect();
    sum.fill(0.0).unwrap();
    ctx.synchronize().unwrap();
    exec.launch(Some(&stream)).unwrap();
    stream.synchronize().unwrap();
    assert_eq!(sum.to_vec().unwrap(), [3.0; 1000]);
    assert!(others.iter().all(|b| b.to_vec().unwrap() == [0.0; 1000]), "the graph wrote to memory of others");
}

#[test]
fn a_graph_retains_arguments_of_generated_kernels() {
    own_process!();
    let ctx = context();
    let stream = non_blocking_stream(&ctx);
    let kernel = ElementwiseKernel::parse("float *y", "y[i] = 7").unwrap();
    let run = |y: &DeviceVec<f32>| {
        let args = [GeneratedKernelArg::Array(ArrayView { ..y.view() })];
        // SAFETY: the snippet stays inside y.
        rtcg::run_in_stream(Some(&stream), || unsafe { kernel.launch(&ctx.arrays().unwrap(), &args, IndexRange::All) })
            .unwrap();
    };
    let a = ctx.zeros::<f32>(ELEMENT_COUNT).unwrap();
    run(&a);
    assert_eq!(a.to_vec().unwrap(), [7.0; ELEMENT_COUNT]);
    let exec = capture_graph(&stream, || run(&a));
    drop(a);
    let others: Vec<_> = (0..4).map(|_| ctx.zeros::<f32>(ELEMENT_COUNT).unwrap()).collect();
    exec.launch(Some(&stream)).unwrap();
    stream.synchronize().unwrap();
    assert!(others.iter().all(|b| b.to_vec().unwrap() == [0.0; ELEMENT_COUNT]));
}

#[test]
fn copies_wait_for_launches_in_non_blocking_streams() {
    let ctx = context();
    let late = ctx.compile(FILL_SOURCE).unwrap().function("fill_late").unwrap();
    let streams = [non_blocking_stream(&ctx), non_blocking_stream(&ctx)];
    let a = ctx.zeros::<f32>(ELEMENT_COUNT).unwrap();
    let fill = |stream: &Stream, a: &DeviceVec<f32>, value: f32| {
        // SAFETY: the kernel writes ELEMENT_COUNT elements.
        unsafe {
            late.launch(Grid::new(1, ELEMENT_COUNT as u32).stream(stream), &[a, &value, &KERNEL_DELAY_NS]).unwrap()
        };
    };
    fill(&streams[0], &a, 2.0);
    assert_eq!(a.to_vec().unwrap(), [2.0; ELEMENT_COUNT], "reading");
    // What is shared is the same memory.
    fill(&streams[1], &a.share(), 3.0);
    assert_eq!(a.to_vec().unwrap(), [3.0; ELEMENT_COUNT], "reading after a launch with what shares it");
    fill(&streams[0], &a, 4.0);
    a.write(&[5.0; ELEMENT_COUNT]).unwrap();
    streams[0].synchronize().unwrap();
    assert_eq!(a.to_vec().unwrap(), [5.0; ELEMENT_COUNT], "writing");
    // A stream that the thread has entered is one like those that are named.
    ctx.driver_context().push().unwrap();
    streams[1].push_current_stream().unwrap();
    // SAFETY: the kernel writes ELEMENT_COUNT elements.
    unsafe { late.launch(Grid::new(1, ELEMENT_COUNT as u32), &[&a, &6.0f32, &KERNEL_DELAY_NS]).unwrap() };
    streams[1].pop_current_stream().unwrap();
    rtcg::driver::Context::pop().unwrap();
    assert_eq!(a.to_vec().unwrap(), [6.0; ELEMENT_COUNT], "reading after a launch in a stream that was entered");
    fill(&streams[0], &a, 7.0);
    streams[0].close().unwrap();
    assert_eq!(a.to_vec().unwrap(), [7.0; ELEMENT_COUNT], "reading after the stream was closed");
}

#[test]
fn array_copies_wait_for_launches() {
    let ctx = context();
    let (stream, arrays) = (non_blocking_stream(&ctx), ArrayFactory::new(&ctx).unwrap());
    let late = ctx.compile(FILL_SOURCE).unwrap().function("fill_late").unwrap();
    let gate = ctx.zeros::<f32>(ELEMENT_COUNT).unwrap();
    let a = arrays.full(&[1000], 1.0f32).unwrap();
    ctx.synchronize().unwrap();
    let hold = || {
        // SAFETY: the kernel writes ELEMENT_COUNT elements.
        unsafe {
            late.launch(Grid::new(1, ELEMENT_COUNT as u32).stream(&stream), &[&gate, &2.0f32, &KERNEL_DELAY_NS])
                .unwrap()
        };
    };
    hold();
    let b = rtcg::run_in_stream(Some(&stream), || &a + &a);
    assert_eq!(b.to_vec().unwrap(), [2.0; 1000], "a result of the stream");
    hold();
    rtcg::run_in_stream(Some(&stream), || a.fill(5.0)).unwrap();
    assert_eq!(a.to_vec().unwrap(), [5.0; 1000], "an array of the default stream");
    hold();
    rtcg::run_in_stream(Some(&stream), || a.fill(6.0)).unwrap();
    a.write(&[7.0; 1000]).unwrap();
    stream.synchronize().unwrap();
    assert_eq!(a.to_vec().unwrap(), [7.0; 1000], "writing");
}

#[test]
fn copies_wait_for_graphs() {
    own_process!();
    let ctx = context();
    let stream = non_blocking_stream(&ctx);
    let late = ctx.compile(FILL_SOURCE).unwrap().function("fill_late").unwrap();
    let a = ctx.zeros::<f32>(ELEMENT_COUNT).unwrap();
    let (graph, ()) = stream
        .capture(CU_STREAM_CAPTURE_MODE_GLOBAL, || {
            // SAFETY: the kernel writes ELEMENT_COUNT elements.
            unsafe {
                late.launch(Grid::new(1, ELEMENT_COUNT as u32).stream(&stream), &[&a, &2.0f32, &KERNEL_DELAY_NS])
                    .unwrap()
            };
            rtcg::Result::Ok(())
        })
        .unwrap();
    let exec = graph.instantiate(0).unwrap();
    exec.launch(Some(&stream)).unwrap();
    assert_eq!(a.to_vec().unwrap(), [2.0; ELEMENT_COUNT]);
}

#[test]
fn dropped_memory_is_not_reused_before_its_streams_finish() {
    let ctx = context();
    let pool = DeviceMemoryPool::new();
    let late = ctx.compile(FILL_SOURCE).unwrap().function("fill_late").unwrap();
    for pool in [None, Some(&pool)] {
        let stream = non_blocking_stream(&ctx);
        let make = || match pool {
            None => ctx.zeros::<f32>(ELEMENT_COUNT).unwrap(),
            Some(pool) => ctx.zeros_from_pool::<f32>(pool, ELEMENT_COUNT).unwrap(),
        };
        let a = make();
        // SAFETY: the kernel writes ELEMENT_COUNT elements, which are not given to others before that.
        unsafe {
            late.launch(Grid::new(1, ELEMENT_COUNT as u32).stream(&stream), &[&a, &2.0f32, &KERNEL_DELAY_NS]).unwrap()
        };
        drop(a);
        let b = make();
        stream.synchronize().unwrap();
        assert_eq!(b.to_vec().unwrap(), [0.0; ELEMENT_COUNT], "from a pool: {}", pool.is_some());
    }
}

#[test]
fn new_memory_is_zero_for_every_stream() {
    let ctx = context();
    let stream = non_blocking_stream(&ctx);
    let module = ctx.compile(
        "__global__ void count(const int *a, int n, int *ones)
        { for (int i = threadIdx.x; i < n; i += blockDim.x) if (a[i]) atomicAdd(ones, 1); }",
    );
    let count = module.unwrap().function("count").unwrap();
    let (n, pool) = (4 << 20, DeviceMemoryPool::new());
    for _ in 0..3 {
        let ones = ctx.zeros::<i32>(1).unwrap();
        drop(ctx.to_device_from_pool(&pool, &vec![1i32; n]).unwrap());
        let a = ctx.zeros_from_pool::<i32>(&pool, n).unwrap();
        // SAFETY: the kernel reads n elements and counts in one.
        unsafe { count.launch(Grid::new(1, 256).stream(&stream), &[&a, &(n as i32), &ones]).unwrap() };
        assert_eq!(ones.to_vec().unwrap(), [0]);
    }
}
