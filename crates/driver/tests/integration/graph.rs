//! Graphs over whatever device is first (`RTCG_TEST_DEVICE` picks another).

use rtcg_driver::memory::*;
use rtcg_driver::sys::*;
use rtcg_driver::{
    Context, CopyEndpoint, Device, DeviceAllocation, ErrorKind, Event, Function, Graph, KernelNode, MemsetNode, Module,
    Stream, linear_copy_params, retain_in_capture,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

const PTX: &[u8] = include_bytes!("kernels.ptx");

/// Runs a test body in a fresh context and takes the context down afterwards.
fn run_in_context(body: impl FnOnce(&Function)) {
    rtcg_driver::set_notice_hook(|_| ());
    rtcg_driver::init(0).expect("there is a device, if only a virtual one");
    let ordinal = std::env::var("RTCG_TEST_DEVICE").ok().and_then(|v| v.parse().ok()).unwrap_or(0);
    let ctx = Device::new(ordinal).expect("the device exists").make_context(0).expect("a context can be made");
    let module = Module::from_image(PTX).expect("the module loads");
    body(&module.function("scale").expect("the kernel exists"));
    drop(module);
    Context::pop().expect("the context is on the stack");
    ctx.detach().expect("the context is alive");
}

const N_FLOATS: usize = 8;

fn allocate_floats(values: &[f32; N_FLOATS]) -> Arc<DeviceAllocation> {
    let memory = mem_alloc(N_FLOATS * 4).unwrap();
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_ne_bytes()).collect();
    memory.write(0, &bytes).unwrap();
    Arc::new(memory)
}

fn read_first_float(memory: &DeviceAllocation) -> f32 {
    let mut bytes = [0; 4];
    memory.read(0, &mut bytes).unwrap();
    f32::from_ne_bytes(bytes)
}

fn scale_node(function: &Function, memory: &DeviceAllocation, by: f32) -> KernelNode {
    let mut args = function.arg_packer();
    args.push(&memory.ptr().to_ne_bytes(), 8).unwrap();
    args.push(&by.to_ne_bytes(), 4).unwrap();
    args.push(&(N_FLOATS as u32).to_ne_bytes(), 4).unwrap();
    KernelNode {
        function: function.clone(),
        grid: [1, 1, 1],
        block: [32, 1, 1],
        shared_bytes: 0,
        args: args.into_bytes().unwrap(),
        cooperative: false,
    }
}

/// Sets all of `memory` to the number with these bits, N_FLOATS words.
fn fill_node(memory: &DeviceAllocation, value: f32) -> MemsetNode {
    MemsetNode { dst: memory.ptr(), pitch: 0, value: value.to_bits(), element_size: 4, width: N_FLOATS, height: 1 }
}

#[test]
fn nodes_run_in_the_order_of_their_edges() {
    run_in_context(|function| {
        let a = allocate_floats(&[0.0; N_FLOATS]);
        let stream = Stream::new(0).unwrap();
        let graph = Graph::new().unwrap();
        let seen = Box::leak(Box::new([0f32; N_FLOATS]));
        let calls = Arc::new(AtomicU32::new(0));
        let counter = calls.clone();
        // SAFETY: the memory outlives the graph, the arguments fit the kernel.
        let (set, twice, thrice, back) = unsafe {
            let thrice = graph.add_kernel_node(scale_node(function, &a, 3.0), &[]).unwrap();
            let set = graph.add_memset_node(&fill_node(&a, 1.0), &[]).unwrap();
            let twice = graph.add_kernel_node(scale_node(function, &a, 2.0), std::slice::from_ref(&set)).unwrap();
            graph.add_dependencies(&[(twice.clone(), thrice.clone())]).unwrap();
            let copy = linear_copy_params(
                CopyEndpoint::Host(seen.as_mut_ptr().cast()),
                CopyEndpoint::Device(a.ptr()),
                N_FLOATS * 4,
            );
            let back = graph.add_memcpy_node(&copy, std::slice::from_ref(&thrice)).unwrap();
            (set, twice, thrice, back)
        };
        let count = Box::new(move || {
            counter.fetch_add(1, Ordering::SeqCst);
        });
        let host = graph.add_host_node(count, std::slice::from_ref(&back)).unwrap();
        let empty = graph.add_empty_node(&[host.clone(), twice.clone()]).unwrap();

        assert_eq!(graph.nodes().unwrap().len(), 6);
        assert_eq!(graph.root_nodes().unwrap(), std::slice::from_ref(&set));
        assert_eq!(graph.edges().unwrap().len(), 6);
        assert_eq!(thrice.dependencies().unwrap(), std::slice::from_ref(&twice));
        assert_eq!(set.dependents().unwrap(), std::slice::from_ref(&twice));
        assert_eq!(host.kind().unwrap(), CU_GRAPH_NODE_TYPE_HOST);
        assert_eq!(twice.kernel().unwrap().block, [32, 1, 1]);

        let exec = graph.instantiate(0).unwrap();
        assert_eq!(exec.flags().unwrap(), 0);
        exec.upload(Some(&stream)).unwrap();
        for round in 1..=3 {
            exec.launch(Some(&stream)).unwrap();
            stream.synchronize().unwrap();
            assert_eq!((read_first_float(&a), seen[N_FLOATS - 1], calls.load(Ordering::SeqCst)), (6.0, 6.0, round));
        }
        let dot = graph.to_dot(0).unwrap();
        assert!(dot.starts_with("digraph") && dot.contains("->"), "{dot}");

        empty.remove().unwrap();
        let error = empty.kind().unwrap_err();
        assert!(error.to_string().contains("the node was removed from its graph"), "{error}");
        assert_eq!(graph.nodes().unwrap().len(), 5);
        graph.remove_dependencies(&[(back.clone(), host.clone())]).unwrap();
        assert_eq!(graph.edges().unwrap().len(), 3);
        // A cycle is found when the graph is instantiated or the edge added.
        let cyclic = graph.add_dependencies(&[(thrice, set)]).and_then(|()| graph.instantiate(0).map(drop));
        assert_eq!(cyclic.unwrap_err().kind, ErrorKind::Logic);
        let other = Graph::new().unwrap();
        let error = other.add_empty_node(&[twice]).unwrap_err();
        assert!(error.to_string().contains("a node of another graph was given"), "{error}");
    });
}

#[test]
fn executable_graphs_can_be_changed() {
    run_in_context(|function| {
        let (a, b) = (allocate_floats(&[1.0; N_FLOATS]), allocate_floats(&[1.0; N_FLOATS]));
        let graph = Graph::new().unwrap();
        // SAFETY: the memory outlives the graphs, the arguments fit the kernel.
        let (set, twice) = unsafe {
            let set = graph.add_memset_node(&fill_node(&a, 1.0), &[]).unwrap();
            let twice = graph.add_kernel_node(scale_node(function, &a, 2.0), std::slice::from_ref(&set)).unwrap();
            (set, twice)
        };
        let exec = graph.instantiate(0).unwrap();
        let run = |memory: &DeviceAllocation| {
            exec.launch(None).unwrap();
            Context::synchronize().unwrap();
            read_first_float(memory)
        };
        assert_eq!(run(&a), 2.0);
        // SAFETY: the memory outlives the graphs.
        unsafe { exec.set_memset(&set, &fill_node(&b, 10.0)).unwrap() };
        // SAFETY: the memory outlives the graphs, the arguments fit the kernel.
        unsafe { exec.set_kernel(&twice, scale_node(function, &b, 5.0)).unwrap() };
        assert_eq!((run(&b), read_first_float(&a)), (50.0, 2.0));
        exec.set_enabled(&set, false).unwrap();
        assert!(!exec.is_enabled(&set).unwrap() && exec.is_enabled(&twice).unwrap());
        assert_eq!(run(&b), 250.0);

        // The graph has not changed, and can be the source of an update.
        exec.update(&graph).unwrap();
        exec.set_enabled(&set, true).unwrap();
        assert_eq!(run(&a), 2.0);
        let copy = graph.duplicate().unwrap();
        // SAFETY: the memory outlives the graphs, the arguments fit the kernel.
        unsafe { twice.find_in_clone(&copy).unwrap().set_kernel(scale_node(function, &a, 7.0)).unwrap() };
        exec.update(&copy).unwrap();
        assert_eq!(run(&a), 7.0);
        let extra = copy.add_empty_node(&[]).unwrap();
        let error = exec.update(&copy).unwrap_err();
        assert!(error.to_string().contains("the graphs differ: topology changed"), "{error}");
        extra.remove().unwrap();
        assert_eq!(run(&a), 7.0);
    });
}

/// Tells when it goes.
struct DropCounter(Arc<AtomicU32>);

impl Drop for DropCounter {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn objects_of_nodes_live_as_long_as_graphs_and_launches() {
    run_in_context(|function| {
        let a = allocate_floats(&[1.0; N_FLOATS]);
        let gone = Arc::new(AtomicU32::new(0));
        let count = || gone.load(Ordering::SeqCst);
        let graph = Graph::new().unwrap();
        // SAFETY: the memory is kept by the node.
        let node = unsafe { graph.add_kernel_node(scale_node(function, &a, 2.0), &[]).unwrap() };
        let kept = Arc::downgrade(&a);
        node.retain_for_node(a.clone());
        node.retain_for_node(Arc::new(DropCounter(gone.clone())));
        drop(a);
        let exec = graph.instantiate(0).unwrap();
        let parent = Graph::new().unwrap();
        let child = parent.add_child_graph_node(&graph, &[]).unwrap();
        assert_eq!(child.child_graph().unwrap().nodes().unwrap().len(), 1);
        drop((graph, node));
        exec.launch(None).unwrap();
        Context::synchronize().unwrap();
        drop(exec);
        assert_eq!((count(), kept.upgrade().map(|a| read_first_float(&a))), (0, Some(2.0)));
        let exec = parent.instantiate(0).unwrap();
        drop((parent, child));
        exec.launch(None).unwrap();
        Context::synchronize().unwrap();
        assert_eq!((count(), kept.upgrade().map(|a| read_first_float(&a))), (0, Some(4.0)));
        drop(exec);
        assert_eq!((count(), kept.upgrade().is_none()), (1, true));
    });
}

#[test]
fn objects_wait_for_launches_that_still_run() {
    run_in_context(|_| {
        let stream = Stream::new(CU_STREAM_NON_BLOCKING.0).unwrap();
        let graph = Graph::new().unwrap();
        let go = Arc::new(AtomicU32::new(0));
        let (wait, gone) = (go.clone(), Arc::new(AtomicU32::new(0)));
        let spin = move || {
            while wait.load(Ordering::SeqCst) == 0 {
                std::thread::yield_now();
            }
        };
        let node = graph.add_host_node(Box::new(spin), &[]).unwrap();
        node.retain_for_node(Arc::new(DropCounter(gone.clone())));
        let exec = graph.instantiate(0).unwrap();
        exec.launch(Some(&stream)).unwrap();
        drop((graph, node, exec));
        let gone_early = gone.load(Ordering::SeqCst);
        go.store(1, Ordering::SeqCst);
        stream.synchronize().unwrap();
        assert_eq!(gone_early, 0);
        // Looked after when the next graph is made executable; another thread that did so may be about to drop it.
        drop(Graph::new().unwrap().instantiate(0).unwrap());
        let end = Instant::now() + Duration::from_secs(30);
        while gone.load(Ordering::SeqCst) == 0 && Instant::now() < end {
            std::thread::yield_now();
        }
        assert_eq!(gone.load(Ordering::SeqCst), 1);
    });
}

#[test]
fn streams_are_captured() {
    run_in_context(|function| {
        let a = allocate_floats(&[1.0; N_FLOATS]);
        let (stream, side) = (Stream::new(0).unwrap(), Stream::new(0).unwrap());
        let (fork, join) = (Event::new(2).unwrap(), Event::new(2).unwrap());
        let kept = Arc::downgrade(&a);
        let launch = |stream: &Stream, by: f32| {
            let node = scale_node(function, &a, by);
            // SAFETY: the memory is kept by the graph, the arguments fit the kernel.
            unsafe { function.launch(node.grid, node.block, 0, Some(stream), &node.args) }.unwrap();
        };
        assert_eq!(stream.capture_status().unwrap(), CU_STREAM_CAPTURE_STATUS_NONE);
        assert!(stream.capture_info().unwrap().is_none() && !retain_in_capture(Some(&stream), || Arc::new(())));
        let (graph, ()) = stream
            .capture(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, || {
                launch(&stream, 2.0);
                fork.record(Some(&stream))?;
                side.wait_for_event(&fork)?;
                assert!(side.is_capturing()? && retain_in_capture(Some(&side), || a.clone()));
                launch(&side, 3.0);
                join.record(Some(&side))?;
                stream.wait_for_event(&join)?;
                let info = stream.capture_info()?.expect("the stream is captured");
                assert_eq!((info.graph.nodes()?.len(), info.dependencies.len()), (2, 2));
                launch(&stream, 5.0);
                rtcg_driver::Result::Ok(())
            })
            .unwrap();
        assert!(!stream.is_capturing().unwrap());
        assert_eq!((graph.nodes().unwrap().len(), read_first_float(&a)), (3, 1.0));
        let exec = graph.instantiate(0).unwrap();
        exec.launch(Some(&stream)).unwrap();
        stream.synchronize().unwrap();
        assert_eq!(read_first_float(&a), 30.0);
        drop(a);
        assert!(kept.upgrade().is_some());
        drop((graph, exec));
        assert!(kept.upgrade().is_none());
    });
}

#[test]
fn executable_graphs_are_not_launched_in_captures() {
    run_in_context(|_| {
        let stream = Stream::new(0).unwrap();
        let exec = Graph::new().unwrap().instantiate(0).unwrap();
        let mut refused = None;
        let captured = stream.capture(CU_STREAM_CAPTURE_MODE_RELAXED, || {
            refused = exec.launch(Some(&stream)).err();
            rtcg_driver::Result::Ok(())
        });
        let refused = refused.unwrap();
        assert_eq!(refused.code, CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        assert!(refused.to_string().contains("as a child graph node"), "{refused}");
        assert_eq!(captured.unwrap_err().code, CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        exec.launch(Some(&stream)).unwrap();
        stream.synchronize().unwrap();
    });
}

#[test]
fn captured_host_functions_are_dropped_with_the_graph() {
    run_in_context(|_| {
        let stream = Stream::new(0).unwrap();
        let count = Arc::new(AtomicU32::new(0));
        let add_one = || {
            let count = count.clone();
            move || {
                count.fetch_add(1, Ordering::SeqCst);
            }
        };
        let (graph, ()) =
            stream.capture(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, || stream.launch_host_func(add_one())).unwrap();
        let exec = graph.instantiate(0).unwrap();
        drop(graph);
        exec.launch(Some(&stream)).unwrap();
        exec.launch(Some(&stream)).unwrap();
        stream.synchronize().unwrap();
        assert_eq!((count.load(Ordering::SeqCst), Arc::strong_count(&count)), (2, 2));
        drop(exec);
        assert_eq!(Arc::strong_count(&count), 1);
    });
}

#[test]
fn graphs_of_other_libraries_hold_host_functions() {
    run_in_context(|_| {
        let stream = Stream::new(0).unwrap();
        let count = Arc::new(AtomicU32::new(0));
        let (here, table) = (count.clone(), stream.context().driver_table());
        let (mut graph, mut exec) = (CUgraph::null(), CUgraphExec::null());
        // SAFETY: handles are written before they are used, and used before they are destroyed.
        unsafe {
            let begun = table.cuStreamBeginCapture(stream.handle(), CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
            assert!(begun.is_success());
            let add_one = move || {
                here.fetch_add(1, Ordering::SeqCst);
            };
            stream.launch_host_func(add_one).unwrap();
            assert!(table.cuStreamEndCapture(stream.handle(), &raw mut graph).is_success());
            assert!(table.cuGraphInstantiateWithFlags(&raw mut exec, graph, 0).is_success());
            assert!(table.cuGraphDestroy(graph).is_success());
            assert!(table.cuGraphLaunch(exec, stream.handle()).is_success());
            stream.synchronize().unwrap();
            assert_eq!((count.load(Ordering::SeqCst), Arc::strong_count(&count)), (1, 2));
            assert!(table.cuGraphExecDestroy(exec).is_success());
        }
        // A driver may do it on a thread of its own.
        let is_released = || Arc::strong_count(&count) == 1;
        let soon = std::time::Instant::now() + std::time::Duration::from_secs(5);
        while !is_released() && std::time::Instant::now() < soon {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        assert!(is_released());
    });
}

#[test]
fn captures_add_to_graphs_and_become_invalid() {
    // A capture in global mode forbids calls of other threads.
    own_process!();
    run_in_context(|function| {
        let a = allocate_floats(&[1.0; N_FLOATS]);
        let stream = Stream::new(0).unwrap();
        let node = scale_node(function, &a, 2.0);
        let graph = Graph::new().unwrap();
        // SAFETY: the memory outlives the graph, the arguments fit the kernel.
        let first_node = unsafe { graph.add_kernel_node(node.clone(), &[]).unwrap() };
        stream.begin_capture_to(&graph, std::slice::from_ref(&first_node), CU_STREAM_CAPTURE_MODE_GLOBAL).unwrap();
        // SAFETY: the arguments fit the kernel, and the launch is captured.
        unsafe { function.launch(node.grid, node.block, 0, Some(&stream), &node.args) }.unwrap();
        assert_eq!(stream.end_capture().unwrap(), graph);
        assert_eq!((graph.nodes().unwrap().len(), graph.edges().unwrap().len()), (2, 1));

        stream.begin_capture(CU_STREAM_CAPTURE_MODE_GLOBAL).unwrap();
        // A wait for a stream that is being captured can never end.
        assert!(stream.synchronize().is_err());
        assert_eq!(stream.capture_status().unwrap(), CU_STREAM_CAPTURE_STATUS_INVALIDATED);
        let error = stream.end_capture().unwrap_err();
        assert_eq!(error.code, CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        assert!(!stream.is_capturing().unwrap());
        assert_eq!(stream.end_capture().unwrap_err().code, CUresult::CUDA_ERROR_ILLEGAL_STATE);
    });
}

#[test]
fn graphs_allocate_memory_and_record_and_wait_for_events() {
    run_in_context(|function| {
        let (a, graph) = (allocate_floats(&[1.0; N_FLOATS]), Graph::new().unwrap());
        let event = Event::new(2).unwrap();
        let wait = graph.add_event_wait_node(&event, &[]).unwrap();
        let (alloc, ptr) = graph.add_mem_alloc_node(N_FLOATS * 4, &[wait]).unwrap();
        // SAFETY: the memory exists between its two nodes.
        let free = unsafe {
            let set = MemsetNode { dst: ptr, ..fill_node(&a, 4.0) };
            let set = graph.add_memset_node(&set, &[alloc]).unwrap();
            let copy = linear_copy_params(CopyEndpoint::Device(a.ptr()), CopyEndpoint::Device(ptr), N_FLOATS * 4);
            let copy = graph.add_memcpy_node(&copy, &[set]).unwrap();
            graph.add_mem_free_node(ptr, &[copy]).unwrap()
        };
        // SAFETY: the memory outlives the graph.
        let twice = unsafe { graph.add_kernel_node(scale_node(function, &a, 2.0), &[free]).unwrap() };
        let record = graph.add_event_record_node(&event, &[twice]).unwrap();
        let other = Event::new(2).unwrap();
        let exec = graph.instantiate(0).unwrap();
        exec.set_event(&record, &other).unwrap();
        exec.launch(None).unwrap();
        other.synchronize().unwrap();
        assert_eq!(read_first_float(&a), 8.0);
        assert!(graph.duplicate().is_err());
    });
}

/// Counts down and ends the loop, as CUDA C++ with `cudaGraphSetConditional` compiles to.
const COUNTDOWN_PTX: &[u8] = b".version 8.0
.target sm_80
.address_size 64
.extern .func cudaGraphSetConditional (.param .b64 handle, .param .b32 value) ;
.visible .entry countdown(.param .u64 handle, .param .u64 n)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [handle];
    ld.param.u64 %rd2, [n];
    ld.global.u32 %r1, [%rd2];
    sub.u32 %r1, %r1, 1;
    st.global.u32 [%rd2], %r1;
    {
    .param .b64 p0;
    st.param.b64 [p0], %rd1;
    .param .b32 p1;
    st.param.b32 [p1], %r1;
    call.uni cudaGraphSetConditional, (p0, p1);
    }
    ret;
}
";

#[test]
fn conditional_nodes_choose_and_repeat() {
    run_in_context(|scale_function| {
        // On a GPU the program would have to be linked with the device runtime.
        let Ok(module) = Module::from_image(COUNTDOWN_PTX) else {
            return assert!(!Context::current_device().unwrap().is_virtual());
        };
        let countdown = module.function("countdown").unwrap();
        let (a, n) = (allocate_floats(&[1.0; N_FLOATS]), allocate_floats(&[0.0; N_FLOATS]));
        let graph = Graph::new().unwrap();
        let condition = graph.create_conditional_handle(Some(1)).unwrap();
        let start = MemsetNode { value: 5, ..fill_node(&n, 0.0) };
        // SAFETY: the memory outlives the graph, the arguments fit the kernels.
        let start = unsafe { graph.add_memset_node(&start, &[]).unwrap() };
        let after = std::slice::from_ref(&start);
        let (node, bodies) = graph.add_conditional_node(condition, CU_GRAPH_COND_TYPE_WHILE, 1, after).unwrap();
        assert_eq!((node.kind().unwrap(), bodies.len()), (CU_GRAPH_NODE_TYPE_CONDITIONAL, 1));
        let mut args = countdown.arg_packer();
        args.push(&condition.0.to_ne_bytes(), 8).unwrap();
        args.push(&n.ptr().to_ne_bytes(), 8).unwrap();
        let count = KernelNode { function: countdown.clone(), block: [1, 1, 1], ..scale_node(scale_function, &a, 1.0) };
        let count = KernelNode { args: args.into_bytes().unwrap(), ..count };
        // SAFETY: the memory outlives the graph, the arguments fit the kernels.
        unsafe {
            let twice = bodies[0].add_kernel_node(scale_node(scale_function, &a, 2.0), &[]).unwrap();
            bodies[0].add_kernel_node(count, &[twice]).unwrap();
        }
        // A condition is one node's. The second graph is the "else".
        let error = graph.add_conditional_node(condition, CU_GRAPH_COND_TYPE_IF, 2, &[]).unwrap_err();
        assert_eq!(error.code, CUresult::CUDA_ERROR_INVALID_VALUE);
        let never = graph.create_conditional_handle(Some(0)).unwrap();
        let (_, choice) = graph.add_conditional_node(never, CU_GRAPH_COND_TYPE_IF, 2, &[node]).unwrap();
        // SAFETY: the memory outlives the graph, the arguments fit the kernels.
        unsafe {
            choice[0].add_kernel_node(scale_node(scale_function, &a, 1000.0), &[]).unwrap();
            choice[1].add_kernel_node(scale_node(scale_function, &a, 3.0), &[]).unwrap();
        }
        drop((bodies, choice));
        let exec = graph.instantiate(0).unwrap();
        for launch in 1..=2 {
            exec.launch(None).unwrap();
            Context::synchronize().unwrap();
            assert_eq!(read_first_float(&a), 96f32.powi(launch));
        }
        assert!(graph.duplicate().is_err());
        let unused = graph.create_conditional_handle(None).unwrap();
        assert_eq!(graph.instantiate(0).unwrap_err().code, CUresult::CUDA_ERROR_INVALID_VALUE);
        let error = graph.add_conditional_node(unused, CU_GRAPH_COND_TYPE_WHILE, 2, &[]).unwrap_err();
        assert_eq!(error.code, CUresult::CUDA_ERROR_INVALID_VALUE);
    });
}
