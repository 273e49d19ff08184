//! The safe objects over whatever device is first (`RTCG_TEST_DEVICE` picks another): a real GPU
//! where there is one, else the virtual one.
//!
//! Tests of what happens at exit, after `fork` and after a fault run in a process of their own:
//! this file starts itself again with `RTCG_TEST_CHILD` set.
#![allow(unsafe_code)]

use rtcg_driver::memory::*;
use rtcg_driver::sys::*;
use rtcg_driver::{Context, Device, ErrorKind, Event, LaunchOptions, Linker, Module, Param, Stream, TextureReference};
use std::process::Command;

const PTX: &[u8] = include_bytes!("kernels.ptx");

fn device() -> Device {
    rtcg_driver::set_notice_hook(|_| ());
    rtcg_driver::init(0).expect("there is a device, if only a virtual one");
    let ordinal = std::env::var("RTCG_TEST_DEVICE").ok().and_then(|v| v.parse().ok()).unwrap_or(0);
    Device::new(ordinal).expect("the device exists")
}

/// Runs a test body in a fresh context and takes the context down afterwards.
fn in_context(body: impl FnOnce(&Context)) {
    let ctx = device().make_context(0).expect("a context can be made");
    body(&ctx);
    Context::pop().expect("the context is on the stack");
    ctx.detach().expect("the context is alive");
}

fn is_child() -> bool {
    std::env::var_os("RTCG_TEST_CHILD").is_some()
}

/// Runs one test of this file in another process; its standard output and error.
fn child(test: &str) -> (String, String) {
    let output = Command::new(std::env::current_exe().expect("the test knows its file"))
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env("RTCG_TEST_CHILD", "1")
        .output()
        .expect("the test can start itself");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    let (out, err) = (text(output.stdout), text(output.stderr));
    assert!(output.status.success(), "{:?}\n{out}\n{err}", output.status);
    (out, err)
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|c| f32::from_ne_bytes([c[0], c[1], c[2], c[3]])).collect()
}

fn bytes_of(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_ne_bytes()).collect()
}

#[test]
fn devices_describe_themselves() {
    let dev = device();
    assert!(Device::count().unwrap() > dev.ordinal());
    assert!(!dev.name().unwrap().is_empty());
    assert!(dev.compute_capability().unwrap() >= (5, 0));
    assert!(dev.total_memory().unwrap() > 1 << 20);
    assert_eq!(dev.attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE).unwrap(), 32);
    assert_eq!(Device::from_pci_bus_id(&dev.pci_bus_id().unwrap()).unwrap(), dev);
    assert!(rtcg_driver::driver_version().unwrap() >= 12000);
    let error = Device::new(1000).unwrap_err();
    assert!(error.to_string().starts_with("cuDeviceGet failed: invalid device ordinal - "), "{error}");
    let error = Device::from_pci_bus_id("ffff:ff:1f.0").unwrap_err();
    assert!(error.to_string().starts_with("cuDeviceGetByPCIBusId failed: "), "{error}");
}

#[test]
fn the_context_stack_belongs_to_the_thread() {
    let dev = device();
    assert!(Context::current().is_none());
    let error = mem_alloc(16).unwrap_err();
    let expected = "explicit_context_dependent failed: invalid device context - no currently active context?";
    assert_eq!(error.to_string(), expected);
    assert_eq!(error.kind, ErrorKind::Logic);
    assert!(Context::pop().unwrap_err().to_string().contains("cannot pop non-current context"));

    let a = dev.make_context(0).unwrap();
    let b = dev.make_context(0).unwrap();
    assert_ne!(a, b);
    assert_eq!(Context::stack(), [a.clone(), b.clone()]);
    assert_eq!(Context::current_device().unwrap(), dev);
    assert_eq!(Context::pop().unwrap(), b);
    assert_eq!(Context::current(), Some(a.clone()));
    Context::synchronize().unwrap();
    std::thread::scope(|s| {
        s.spawn(|| {
            assert!(Context::current().is_none());
            b.push().unwrap();
            assert_eq!(Context::current(), Some(b.clone()));
            Context::synchronize().unwrap();
        });
    });
    b.push().unwrap();
    b.detach().unwrap();
    assert_eq!(Context::current(), Some(a.clone()));
    mem_alloc(16).unwrap();
    assert_eq!(b.detach().unwrap_err().kind, ErrorKind::Logic);
    assert!(b.push().is_err());
    a.detach().unwrap();
    assert!(Context::current().is_none());
    assert!(mem_alloc(16).is_err());
}

#[test]
fn primary_contexts_are_shared_and_not_pushed() {
    let dev = device();
    let a = dev.retain_primary_context().unwrap();
    let b = dev.retain_primary_context().unwrap();
    assert_eq!(a, b);
    assert!(Context::current().is_none());
    a.push().unwrap();
    let memory = mem_alloc(64).unwrap();
    memory.write(0, &[7; 64]).unwrap();
    Context::pop().unwrap();
    drop(memory);
    a.detach().unwrap();
    assert!(b.is_alive());
    b.push().unwrap();
    Context::synchronize().unwrap();
    Context::pop().unwrap();
}

#[test]
fn primary_contexts_have_flags() {
    if !is_child() {
        child("primary_contexts_have_flags");
        return;
    }
    let dev = device();
    assert_eq!(dev.primary_context_state().unwrap(), (0, false));
    dev.set_primary_context_flags(CU_CTX_SCHED_YIELD.0).unwrap();
    let ctx = dev.retain_primary_context().unwrap();
    assert_eq!(dev.primary_context_state().unwrap(), (CU_CTX_SCHED_YIELD.0, true));
    ctx.detach().unwrap();
    assert!(!dev.primary_context_state().unwrap().1);
    assert_eq!(dev.set_primary_context_flags(1 << 30).unwrap_err().code, CUresult::CUDA_ERROR_INVALID_VALUE);
}

#[test]
fn limits_and_memory_information() {
    in_context(|ctx| {
        let (free, total) = mem_get_info().unwrap();
        assert!(free <= total && total > 1 << 20);
        assert!(ctx.api_version().unwrap() >= 3010);
        let old = Context::limit(CU_LIMIT_PRINTF_FIFO_SIZE).unwrap();
        Context::set_limit(CU_LIMIT_PRINTF_FIFO_SIZE, old * 2).unwrap();
        assert!(Context::limit(CU_LIMIT_PRINTF_FIFO_SIZE).unwrap() >= old * 2);
        Context::cache_config().unwrap();
        let (least, greatest) = Context::stream_priority_range().unwrap();
        assert!(greatest <= least);
    });
}

#[test]
fn memory_is_copied_filled_and_checked() {
    in_context(|_| {
        let memory = mem_alloc(1000).unwrap();
        let data: Vec<u8> = (0..1000u32).map(|i| (i * 7) as u8).collect();
        memory.write(0, &data).unwrap();
        let mut back = vec![0; 500];
        memory.read(250, &mut back).unwrap();
        assert_eq!(back, data[250..750]);
        assert_eq!(mem_get_address_range(memory.ptr() + 10).unwrap().0, memory.ptr());

        let error = memory.write(990, &[0; 11]).unwrap_err();
        assert!(error.to_string().contains("11 bytes at 990 are outside 1000 bytes"), "{error}");

        let other = mem_alloc(1000).unwrap();
        // SAFETY: both allocations have 1000 bytes.
        unsafe {
            memcpy_dtod(other.ptr(), memory.ptr(), 1000).unwrap();
            memset_d16(other.ptr() + 100, 0xabcd, 50).unwrap();
            memset_d32_async(other.ptr() + 200, 0x0102_0304, 2, None).unwrap();
        }
        let mut back = vec![0; 1000];
        other.read(0, &mut back).unwrap();
        assert_eq!(back[..100], data[..100]);
        assert!(back[100..200].chunks(2).all(|c| c == [0xcd, 0xab]));
        assert_eq!(back[200..208], [4, 3, 2, 1, 4, 3, 2, 1]);
        assert_eq!(back[208..], data[208..]);

        memory.free().unwrap();
        let error = memory.free().unwrap_err();
        assert!(error.to_string().starts_with("device_allocation::free failed: "), "{error}");
        assert_eq!(error.kind, ErrorKind::Logic);
        assert!(memory.read(0, &mut back).is_err());
        let error = mem_alloc(0).unwrap_err();
        assert_eq!(
            error.to_string(),
            "cuMemAlloc failed: invalid argument - 0 bytes were asked for; expected 1 or more"
        );
        let error = mem_alloc(1 << 60).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Memory);
        assert!(error.to_string().starts_with("cuMemAlloc failed: out of memory"), "{error}");
    });
}

#[test]
fn regions_are_copied() {
    in_context(|_| {
        let (memory, pitch) = mem_alloc_pitch(10, 4, 4).unwrap();
        assert!(pitch >= 10 && memory.nbytes() == pitch * 4);
        let src: Vec<u8> = (0..40).collect();
        let mut dst = vec![0xff_u8; 4 * 12];
        let mut copy = CUDA_MEMCPY2D {
            srcMemoryType: CU_MEMORYTYPE_HOST,
            srcHost: src.as_ptr().cast(),
            srcPitch: 10,
            dstMemoryType: CU_MEMORYTYPE_DEVICE,
            dstDevice: memory.ptr(),
            dstPitch: pitch,
            WidthInBytes: 10,
            Height: 4,
            ..Default::default()
        };
        // SAFETY: source, destination and pitches describe memory that exists.
        unsafe {
            memset_d2d8(memory.ptr(), pitch, 9, 10, 4).unwrap();
            memcpy_2d(&copy, false).unwrap();
            copy = CUDA_MEMCPY2D {
                srcMemoryType: CU_MEMORYTYPE_DEVICE,
                srcDevice: memory.ptr(),
                srcPitch: pitch,
                dstMemoryType: CU_MEMORYTYPE_HOST,
                dstHost: dst.as_mut_ptr().cast(),
                dstPitch: 12,
                ..copy
            };
            memcpy_2d(&copy, true).unwrap();
        }
        for row in 0..4 {
            assert_eq!(dst[row * 12..row * 12 + 10], src[row * 10..row * 10 + 10]);
            assert_eq!(dst[row * 12 + 10..row * 12 + 12], [0xff, 0xff]);
        }
    });
}

#[test]
fn host_memory_of_all_kinds() {
    in_context(|_| {
        let host = HostAllocation::new(4096, CU_MEMHOSTALLOC_DEVICEMAP).unwrap();
        assert!(host.flags().unwrap() & CU_MEMHOSTALLOC_DEVICEMAP != 0);
        assert_ne!(host.device_pointer().unwrap(), 0);
        let device = mem_alloc(4096).unwrap();
        // SAFETY: both have 4096 bytes, and the stream is waited for.
        unsafe {
            host.as_ptr().write_bytes(0x5a, 4096);
            memcpy_htod_async(device.ptr(), host.as_ptr(), 4096, None).unwrap();
            host.as_ptr().write_bytes(0, 0);
            memcpy_dtoh_async(host.as_ptr(), device.ptr(), 4096, None).unwrap();
        }
        Context::synchronize().unwrap();
        // SAFETY: the copy is done.
        assert_eq!(unsafe { *host.as_ptr().add(4095) }, 0x5a);
        host.free().unwrap();
        assert!(host.free().unwrap_err().to_string().contains("it was freed before"));

        let aligned = AlignedHostAllocation::new(8192, 4096).unwrap();
        assert_eq!(aligned.as_ptr().addr() % 4096, 0);
        assert!(AlignedHostAllocation::new(8, 3).is_err());
        // SAFETY: `aligned` outlives the registration.
        let registered = unsafe { RegisteredHost::new(aligned.as_ptr(), 8192, 0) }.unwrap();
        assert_ne!(registered.device_pointer().unwrap(), 0);
        registered.unregister().unwrap();
        assert!(registered.unregister().is_err());

        let managed = ManagedAllocation::new(256, 0).unwrap();
        // SAFETY: managed memory, and no kernel is running.
        unsafe {
            memset_d8(managed.ptr(), 3, 256).unwrap();
            Context::synchronize().unwrap();
            assert_eq!(*managed.as_ptr().add(200), 3);
        }
    });
}

#[test]
fn streams_and_events_order_and_time_work() {
    in_context(|_| {
        let (a, b) = (Stream::new(0).unwrap(), Stream::with_priority(0, 0).unwrap());
        let (start, end) = (Event::new(0).unwrap(), Event::new(0).unwrap());
        let memory = mem_alloc(1 << 20).unwrap();
        start.record(Some(&a)).unwrap();
        // SAFETY: the memory outlives both streams' work.
        unsafe { memset_d8_async(memory.ptr(), 1, 1 << 20, Some(&a)).unwrap() };
        end.record(Some(&a)).unwrap();
        b.wait_for_event(&end).unwrap();
        // SAFETY: as above.
        unsafe { memset_d8_async(memory.ptr(), 2, 1, Some(&b)).unwrap() };
        b.synchronize().unwrap();
        assert!(b.is_done().unwrap() && end.query().unwrap());
        let ms = end.time_since(&start).unwrap();
        assert!((0.0..10_000.0).contains(&ms), "{ms}");
        assert_eq!(start.time_till(&end).unwrap(), ms);
        let mut back = [0; 2];
        memory.read(0, &mut back).unwrap();
        assert_eq!(back, [2, 1]);
        a.synchronize().unwrap();
    });
}

#[test]
fn kernels_run_with_checked_arguments() {
    in_context(|_| {
        let module = Module::from_image(PTX).unwrap();
        let scale = module.function("scale").unwrap();
        let data: Vec<f32> = (0..100).map(|i| i as f32).collect();
        let memory = mem_alloc(400).unwrap();
        memory.write(0, &bytes_of(&data)).unwrap();
        let mut args = scale.args();
        args.push(&memory.ptr().to_ne_bytes(), 8).unwrap();
        args.push(&2.5f32.to_ne_bytes(), 4).unwrap();
        args.push(&90u32.to_ne_bytes(), 4).unwrap();
        let args = args.finish().unwrap();
        // SAFETY: the arguments fit the kernel, the memory is alive.
        unsafe { scale.launch([4, 1, 1], [32, 1, 1], 0, None, &args).unwrap() };
        let mut back = vec![0; 400];
        memory.read(0, &mut back).unwrap();
        let expected: Vec<f32> = (0..100).map(|i| if i < 90 { i as f32 * 2.5 } else { i as f32 }).collect();
        assert_eq!(floats(&back), expected);

        let mixed = module.function("mixed").unwrap();
        let mut args = mixed.args();
        args.push(&[200], 1).unwrap();
        args.push(&0x0123_4567_89ab_cdef_u64.to_ne_bytes(), 8).unwrap();
        args.push(&memory.ptr().to_ne_bytes(), 8).unwrap();
        let stream = Stream::new(0).unwrap();
        // SAFETY: as above.
        unsafe { mixed.launch([1, 1, 1], [1, 1, 1], 0, Some(&stream), &args.finish().unwrap()).unwrap() };
        stream.synchronize().unwrap();
        memory.read(0, &mut back[..16]).unwrap();
        assert_eq!(back[..8], 200u64.to_ne_bytes());
        assert_eq!(back[8..16], 0x0123_4567_89ab_cdef_u64.to_ne_bytes());
    });
}

#[test]
fn wrong_arguments_are_named() {
    in_context(|_| {
        let module = Module::from_image(PTX).unwrap();
        let scale = module.function("scale").unwrap();
        let param = |offset, nbytes| Param { offset, nbytes };
        assert_eq!(scale.params(), Some(&[param(0, 8), param(8, 4), param(12, 4)][..]));
        assert_eq!(scale.prepare(&[(8, 8), (4, 4), (4, 4)]).unwrap().nbytes, 16);
        let text = |args: &[(usize, usize)]| scale.prepare(args).unwrap_err().to_string();
        assert_eq!(
            text(&[(8, 8), (8, 8), (4, 4)]),
            "prepare failed: invalid argument - argument #1 (0-based) has 8 bytes, but the parameter of \
             kernel 'scale' has 4"
        );
        assert!(text(&[(8, 8), (4, 4)]).contains("takes 3 arguments, 2 were given; argument #2 (0-based) is missing"));
        assert!(text(&[(8, 8), (4, 4), (4, 4), (4, 4)]).contains("takes 3 arguments, but argument #3 (0-based)"));
        let mut args = scale.args();
        assert!(args.push(&[0; 4], 4).unwrap_err().to_string().contains("argument #0 (0-based) has 4 bytes"));
        assert!(scale.args().finish().unwrap_err().to_string().contains("argument #0 (0-based) is missing"));
        assert_eq!(module.function("nothing").unwrap().params(), Some(&[][..]));
    });
}

#[test]
fn impossible_launches_say_why() {
    in_context(|_| {
        let module = Module::from_image(PTX).unwrap();
        let nothing = module.function("nothing").unwrap();
        let launch = |grid, block, shared| {
            // SAFETY: the kernel takes no arguments and touches no memory.
            unsafe { nothing.launch(grid, block, shared, None, &[]) }
        };
        launch([1, 1, 1], [1024, 1, 1], 0).unwrap();
        let error = launch([1, 1, 1], [1025, 1, 1], 0).unwrap_err();
        assert!(error.to_string().starts_with("cuLaunchKernel failed: invalid argument"), "{error}");
        assert!(error.to_string().contains("1024"), "{error}");
        assert!(launch([1, 1, 1], [64, 64, 1], 0).is_err());
        assert!(launch([0, 1, 1], [1, 1, 1], 0).is_err());
        let error = launch([1, 1, 1], [1, 1, 1], 1 << 20).unwrap_err();
        assert!(error.to_string().contains("1048576 bytes"), "{error}");
        launch([1, 1, 1], [32, 1, 1], 0).unwrap();
        Context::synchronize().unwrap();
        assert!(nothing.max_active_blocks(128, 0).unwrap() >= 1);
        assert!(nothing.max_potential_block_size(0, 0).unwrap().1 >= 32);
        assert!(nothing.attribute(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK).unwrap() >= 1024);
    });
}

#[test]
fn cooperative_launches_are_checked() {
    in_context(|ctx| {
        let module = Module::from_image(PTX).unwrap();
        let nothing = module.function("nothing").unwrap();
        let options = LaunchOptions { cooperative: true, ..Default::default() };
        let launch = |blocks| {
            // SAFETY: the kernel takes no arguments and touches no memory.
            unsafe { nothing.launch_with([blocks, 1, 1], [64, 1, 1], 0, None, &[], options) }
        };
        launch(4).unwrap();
        Context::synchronize().unwrap();
        // As many as the occupancy promises must do; no device holds a million blocks at once.
        let resident = nothing.max_active_blocks(64, 0).unwrap();
        let multiprocessors = ctx.device().attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT).unwrap() as u32;
        launch(resident * multiprocessors).unwrap();
        Context::synchronize().unwrap();
        let error = launch(1 << 20).unwrap_err();
        assert_eq!(error.code, CUresult::CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, "{error}");
    });
}

#[test]
fn memory_may_be_allocated_in_stream_order() {
    in_context(|_| {
        let stream = Stream::new(0).unwrap();
        let memory = DeviceAllocation::new_async(4096, Some(&stream)).unwrap();
        let mut back = vec![0; 4096];
        // SAFETY: the stream is waited for before `back` is looked at.
        unsafe {
            memset_d8_async(memory.ptr(), 0x77, 4096, Some(&stream)).unwrap();
            memcpy_dtoh_async(back.as_mut_ptr(), memory.ptr(), 4096, Some(&stream)).unwrap();
        }
        drop(memory);
        stream.synchronize().unwrap();
        assert!(back.iter().all(|b| *b == 0x77));
    });
}

#[test]
fn boxes_and_peers_are_copied() {
    in_context(|ctx| {
        let (src, dst) = (mem_alloc(4 * 4 * 4).unwrap(), mem_alloc(4 * 4 * 4).unwrap());
        let data: Vec<u8> = (0..64).collect();
        src.write(0, &data).unwrap();
        // The inner 2 x 2 x 2 box of a cube of 4 bytes a side.
        let copy = CUDA_MEMCPY3D {
            srcXInBytes: 1,
            srcY: 1,
            srcZ: 1,
            srcMemoryType: CU_MEMORYTYPE_DEVICE,
            srcDevice: src.ptr(),
            srcPitch: 4,
            srcHeight: 4,
            dstMemoryType: CU_MEMORYTYPE_DEVICE,
            dstDevice: dst.ptr(),
            dstPitch: 4,
            dstHeight: 4,
            WidthInBytes: 2,
            Height: 2,
            Depth: 2,
            ..Default::default()
        };
        let mut back = vec![0; 64];
        // SAFETY: both boxes lie inside the allocations.
        unsafe {
            memset_d8(dst.ptr(), 0xff, 64).unwrap();
            memcpy_3d(&copy).unwrap();
        }
        dst.read(0, &mut back).unwrap();
        let mut expected = vec![0xff; 64];
        for (z, y, x) in (0..8).map(|i| (i / 4, i / 2 % 2, i % 2)) {
            expected[z * 16 + y * 4 + x] = data[(z + 1) * 16 + (y + 1) * 4 + x + 1];
        }
        assert_eq!(back, expected);
        // SAFETY: both allocations have 64 bytes.
        unsafe { memcpy_peer(dst.ptr(), None, src.ptr(), Some(ctx), 64).unwrap() };
        dst.read(0, &mut back).unwrap();
        assert_eq!(back, data);
    });
}

#[test]
fn modules_have_globals_and_refuse_nonsense() {
    in_context(|_| {
        let module = Module::from_image(PTX).unwrap();
        let (ptr, nbytes) = module.global("counter").unwrap();
        let mut value = [0; 4];
        assert_eq!(nbytes, 4);
        // SAFETY: the global has four bytes.
        unsafe { memcpy_dtoh(&mut value, ptr).unwrap() };
        assert_eq!(u32::from_ne_bytes(value), 7);
        let error = module.function("nope").unwrap_err();
        assert!(error.to_string().starts_with("cuModuleGetFunction failed: named symbol not found"), "{error}");
        assert!(error.to_string().contains("nope"), "{error}");
        assert!(module.global("nope").unwrap_err().to_string().contains("nope"));

        let bad = b".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k() { frobnicate.u32 %r1; ret; }\n";
        let (result, log) = Module::from_image_with(bad, &[]);
        let error = result.unwrap_err();
        assert!(!log.error.is_empty(), "{error}");
        assert!(error.to_string().starts_with("cuModuleLoadDataEx failed: "), "{error}");
        assert!(error.to_string().contains("frobnicate"), "{error}");
        let error = Module::from_file(std::path::Path::new("/nowhere/x.cubin")).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Runtime);
    });
}

#[test]
fn linked_modules_run() {
    in_context(|ctx| {
        if !ctx.table().has(DriverFn::cuLinkCreate) {
            let error = Linker::new(&[]).unwrap_err();
            assert!(error.to_string().contains("cuLinkCreate"), "{error}");
            return;
        }
        let mut linker = Linker::new(&[]).unwrap();
        linker.add_data(PTX, CU_JIT_INPUT_PTX, "kernels.ptx").unwrap();
        let module = linker.link_module().unwrap();
        drop(linker);
        let nothing = module.function("nothing").unwrap();
        // SAFETY: the kernel takes no arguments.
        unsafe { nothing.launch([1, 1, 1], [1, 1, 1], 0, None, &[]).unwrap() };
        Context::synchronize().unwrap();
    });
}

#[test]
fn arrays_are_copied_and_described() {
    in_context(|ctx| {
        let descriptor = CUDA_ARRAY_DESCRIPTOR { Width: 16, Height: 0, Format: CU_AD_FORMAT_FLOAT, NumChannels: 1 };
        if !ctx.table().has(DriverFn::cuArrayCreate) {
            let error = Array::new_2d(&descriptor).unwrap_err();
            assert!(error.to_string().contains("the virtual GPU does not implement cuArrayCreate"), "{error}");
            return;
        }
        let array = Array::new_2d(&descriptor).unwrap();
        assert_eq!(array.descriptor().unwrap().Width, 16);
        let data: Vec<u8> = (0..64).collect();
        memcpy_htoa(&array, 0, &data).unwrap();
        let mut back = [0; 32];
        memcpy_atoh(&mut back, &array, 16).unwrap();
        assert_eq!(back, data[16..48]);
        if ctx.table().has(DriverFn::cuTexRefCreate) {
            let texref = TextureReference::new().unwrap();
            texref.set_array(&array).unwrap();
            texref.set_filter_mode(CU_TR_FILTER_MODE_LINEAR).unwrap();
            assert_eq!(texref.filter_mode().unwrap(), CU_TR_FILTER_MODE_LINEAR);
            assert_eq!(texref.format().unwrap(), (CU_AD_FORMAT_FLOAT, 1));
        } else {
            let error = TextureReference::new().unwrap_err();
            assert!(error.to_string().contains("the virtual GPU does not implement cuTexRefCreate"), "{error}");
        }
        array.free().unwrap();
        assert!(array.free().is_err());
    });
}

/// Everything of one context, to be dropped in odd ways.
fn one_of_each() -> Vec<Box<dyn Send>> {
    let module = Module::from_image(PTX).unwrap();
    let function = module.function("scale").unwrap();
    vec![
        Box::new(mem_alloc(100).unwrap()),
        Box::new(HostAllocation::new(100, 0).unwrap()),
        Box::new(ManagedAllocation::new(100, 0).unwrap()),
        Box::new(Stream::new(0).unwrap()),
        Box::new(Event::new(0).unwrap()),
        Box::new(module),
        Box::new(function),
    ]
}

#[test]
fn objects_may_be_dropped_in_any_order_and_from_any_thread() {
    rtcg_driver::set_cleanup_hook(|error| panic!("{error}"));
    let dev = device();
    let ctx = dev.make_context(0).unwrap();
    let (here, there, after) = (one_of_each(), one_of_each(), one_of_each());
    drop(here);
    std::thread::spawn(move || drop(there)).join().unwrap();
    let other = dev.make_context(0).unwrap();
    drop(one_of_each());
    Context::pop().unwrap();
    Context::pop().unwrap();
    let late = {
        ctx.push().unwrap();
        let late = one_of_each();
        Context::pop().unwrap();
        late
    };
    drop(late);
    ctx.detach().unwrap();
    drop(after);
    drop(ctx);
    drop(other);
}

#[test]
fn using_objects_of_a_dead_context_is_an_error() {
    let ctx = device().make_context(0).unwrap();
    let module = Module::from_image(PTX).unwrap();
    let function = module.function("nothing").unwrap();
    let (memory, stream, event) = (mem_alloc(8).unwrap(), Stream::new(0).unwrap(), Event::new(0).unwrap());
    ctx.detach().unwrap();
    let other = device().make_context(0).unwrap();
    // SAFETY: the kernel takes no arguments; its context is gone, which the call must notice.
    let launch = |stream| unsafe { function.launch([1, 1, 1], [1, 1, 1], 0, stream, &[]) };
    let errors = [
        launch(None).unwrap_err(),
        launch(Some(&stream)).unwrap_err(),
        module.function("nothing").unwrap_err(),
        module.global("counter").unwrap_err(),
        stream.synchronize().unwrap_err(),
        stream.wait_for_event(&event).unwrap_err(),
        event.record(None).unwrap_err(),
        event.query().unwrap_err(),
        memory.write(0, &[0; 8]).unwrap_err(),
        function.attribute(CU_FUNC_ATTRIBUTE_NUM_REGS).unwrap_err(),
        // SAFETY: nothing is copied, the stream is gone.
        unsafe { memcpy_dtod_async(memory.ptr(), memory.ptr(), 8, Some(&stream)) }.unwrap_err(),
    ];
    for error in errors {
        assert_eq!(error.code, CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED, "{error}");
    }
    assert_eq!(stream.synchronize().unwrap_err().to_string(), "cuStreamSynchronize failed: context is destroyed");
    memory.free().unwrap();
    other.detach().unwrap();
}

#[test]
fn objects_of_two_drivers_do_not_mix() {
    let first = device();
    let Some(second) = Device::all().unwrap().into_iter().find(|d| d.is_virtual() != first.is_virtual()) else {
        return;
    };
    assert!(!first.can_access_peer(&second).unwrap());
    let a = first.make_context(0).unwrap();
    let stream = Stream::new(0).unwrap();
    let memory = mem_alloc(64).unwrap();
    memory.write(0, &[5; 64]).unwrap();
    let b = second.make_context(0).unwrap();
    let elsewhere = mem_alloc(64).unwrap();
    elsewhere.write(0, &[6; 64]).unwrap();
    // SAFETY: the driver is not called, because the stream is not its own.
    let error = unsafe { memset_d8_async(elsewhere.ptr(), 0, 64, Some(&stream)) }.unwrap_err();
    assert!(error.to_string().contains("the stream belongs to another driver"), "{error}");
    assert!(Context::enable_peer_access(&a, 0).is_err());
    let mut back = [0; 64];
    memory.read(0, &mut back).unwrap();
    assert_eq!(back, [5; 64]);
    b.detach().unwrap();
    assert_eq!(Context::current(), Some(a.clone()));
    mem_alloc(64).unwrap().write(0, &back).unwrap();
    a.detach().unwrap();
}

#[test]
fn a_context_may_go_while_other_threads_free_its_memory() {
    let dev = device();
    for round in 0..8_u32 {
        let ctx = dev.make_context(0).unwrap();
        let memory: Vec<_> = (0..64).map(|_| (mem_alloc(256).unwrap(), Event::new(0).unwrap())).collect();
        Context::pop().unwrap();
        let mut parts: Vec<Vec<_>> = (0..4).map(|_| Vec::new()).collect();
        for (index, item) in memory.into_iter().enumerate() {
            parts[index % 4].push(item);
        }
        std::thread::scope(|s| {
            for part in parts {
                s.spawn(|| {
                    for (memory, event) in part {
                        // Either it is still there or the error says that it is gone.
                        if let Err(error) = memory.write(0, &[1; 256]) {
                            let gone =
                                [CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED, CUresult::CUDA_ERROR_INVALID_CONTEXT];
                            assert!(gone.contains(&error.code), "{error}");
                        }
                        drop((memory, event));
                    }
                });
            }
            std::thread::sleep(std::time::Duration::from_micros(u64::from(round) * 40));
            ctx.detach().unwrap();
        });
    }
}

#[test]
fn resources_keep_a_dropped_context_alive() {
    let dev = device();
    let ctx = dev.make_context(0).unwrap();
    let memory = mem_alloc(64).unwrap();
    Context::pop().unwrap();
    drop(ctx);
    memory.write(0, &[1; 64]).unwrap();
    let mut back = [0; 64];
    std::thread::scope(|s| s.spawn(|| memory.read(0, &mut back).unwrap()).join().unwrap());
    assert_eq!(back, [1; 64]);
}

#[test]
fn a_thread_may_end_with_contexts_on_its_stack() {
    let dev = device();
    let survivors = std::thread::spawn(move || {
        dev.make_context(0).unwrap();
        let kept = one_of_each();
        dev.make_context(0).unwrap();
        one_of_each();
        kept
    })
    .join()
    .unwrap();
    drop(survivors);
}

#[test]
fn a_process_may_exit_with_everything_alive() {
    if !is_child() {
        let (_, err) = child("a_process_may_exit_with_everything_alive");
        assert_eq!(err, "");
        return;
    }
    thread_local! {
        static AT_THREAD_END: std::cell::RefCell<Vec<Box<dyn Send>>> = const { std::cell::RefCell::new(Vec::new()) };
    }
    device().make_context(0).unwrap();
    AT_THREAD_END.with(|kept| kept.borrow_mut().extend(one_of_each()));
    Box::leak(Box::new(one_of_each()));
    std::process::exit(0);
}

#[cfg(unix)]
#[test]
fn after_a_fork_the_child_does_nothing() {
    if !is_child() {
        let (out, _) = child("after_a_fork_the_child_does_nothing");
        assert!(out.contains("the parent goes on"), "{out}");
        return;
    }
    let ctx = device().make_context(0).unwrap();
    let objects = one_of_each();
    let memory = mem_alloc(64).unwrap();
    // SAFETY: the child only drops objects, looks at errors and leaves by `_exit`.
    unsafe {
        let pid = libc::fork();
        if pid == 0 {
            let error = memory.write(0, &[0; 64]).unwrap_err();
            let told = error.to_string().contains("forked");
            drop(objects);
            drop(memory);
            let _ = Context::pop();
            drop(ctx);
            libc::_exit(if told { 0 } else { 3 });
        }
        let mut status = -1;
        assert_eq!(libc::waitpid(pid, &raw mut status, 0), pid);
        assert_eq!(status, 0);
    }
    memory.write(0, &[1; 64]).unwrap();
    drop(objects);
    println!("the parent goes on");
}

#[test]
fn a_faulting_kernel_is_an_error_and_nothing_more() {
    if !is_child() {
        let (out, _) = child("a_faulting_kernel_is_an_error_and_nothing_more");
        assert!(out.contains("failed: an illegal memory access was encountered"), "{out}");
        return;
    }
    let dev = device();
    let ctx = dev.make_context(0).unwrap();
    let objects = one_of_each();
    let fault = Module::from_image(PTX).unwrap().function("fault").unwrap();
    // SAFETY: the kernel's access is wrong on purpose; the driver must contain it.
    let launched = unsafe { fault.launch([1, 1, 1], [1, 1, 1], 0, None, &[]) };
    let error = launched.and_then(|()| Context::synchronize()).unwrap_err();
    println!("{error}");
    assert_eq!(error.code, CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
    if dev.is_virtual() {
        assert!(error.to_string().contains("fault"), "the kernel is named: {error}");
    }
    assert!(Context::synchronize().is_err(), "the error is sticky");
    drop(objects);
    drop(fault);
    Context::pop().unwrap();
    drop(ctx);
}

#[test]
fn streams_can_be_entered_and_closed() {
    in_context(|_| {
        let (a, b) = (Stream::new(1).unwrap(), Stream::new(0).unwrap());
        assert_eq!((a.flags().unwrap(), b.flags().unwrap()), (1, 0));
        assert_ne!(a.id().unwrap(), b.id().unwrap());
        assert!(Stream::current().is_none());
        a.enter().unwrap();
        b.enter().unwrap();
        assert_eq!(Stream::current(), Some(b.clone()));
        b.leave().unwrap();
        assert_eq!(Stream::current(), Some(a.clone()));
        std::thread::scope(|s| s.spawn(|| assert!(Stream::current().is_none())).join().unwrap());
        // `None` is now the stream, which the event shows: it waits for what is in `a`.
        let (event, gate) = (Event::new(0).unwrap(), mem_alloc(4).unwrap());
        gate.write(0, &[0; 4]).unwrap();
        // SAFETY: the memory lives until the streams are done.
        unsafe { a.wait_value32(gate.ptr(), 1, CU_STREAM_WAIT_VALUE_EQ.0).unwrap() };
        event.record(None).unwrap();
        assert!(!event.query().unwrap());
        // SAFETY: as above.
        unsafe { b.write_value32(gate.ptr(), 1, 0).unwrap() };
        event.synchronize().unwrap();
        a.leave().unwrap();
        assert!(a.leave().is_err());
        a.close().unwrap();
        a.close().unwrap();
        assert!(a.is_closed());
        let error = a.synchronize().unwrap_err().to_string();
        assert!(error.contains("the stream was closed"), "{error}");
        assert!(event.record(Some(&a)).is_err() && a.enter().is_err());
        event.close().unwrap();
        event.close().unwrap();
        assert!(event.query().unwrap_err().to_string().contains("the event was closed"));
        Stream::legacy_default().unwrap().synchronize().unwrap();
        Stream::per_thread_default().unwrap().synchronize().unwrap();
    });
}

#[test]
fn host_functions_run_in_stream_order() {
    in_context(|_| {
        let stream = Stream::new(1).unwrap();
        let (send, receive) = std::sync::mpsc::channel();
        let gate = mem_alloc(8).unwrap();
        gate.write(0, &[0; 8]).unwrap();
        // SAFETY: the memory lives until the stream is done.
        unsafe { stream.wait_value64(gate.ptr(), 5, CU_STREAM_WAIT_VALUE_GEQ.0).unwrap() };
        let to = send.clone();
        stream.launch_host_func(move || to.send(1).unwrap()).unwrap();
        let to = send.clone();
        stream.add_callback(move |result| to.send(if result.is_ok() { 2 } else { -2 }).unwrap()).unwrap();
        stream.launch_host_func(move || send.send(3).unwrap()).unwrap();
        assert!(receive.try_recv().is_err());
        // SAFETY: as above.
        unsafe { Stream::new(1).unwrap().write_value64(gate.ptr(), 6, 0).unwrap() };
        stream.synchronize().unwrap();
        assert_eq!(receive.iter().collect::<Vec<_>>(), [1, 2, 3]);
    });
}

/// How many threads of this process have a name of the virtual GPU's streams.
#[cfg(target_os = "linux")]
fn n_stream_threads() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").expect("Linux has it");
    let names = tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok());
    names.filter(|name| ["rtcg-host", "rtcg-stream"].contains(&name.trim())).count()
}

#[test]
#[cfg(target_os = "linux")]
fn host_functions_that_nobody_waits_for_keep_no_threads() {
    if !is_child() {
        child("host_functions_that_nobody_waits_for_keep_no_threads");
        return;
    }
    in_context(|_| {
        let (open, gate) = std::sync::mpsc::channel::<()>();
        let gate = std::sync::Arc::new(std::sync::Mutex::new(gate));
        let (send, receive) = std::sync::mpsc::channel();
        for number in 0..100 {
            let (gate, send) = (gate.clone(), send.clone());
            let wait = move || {
                gate.lock().expect("no thread panics").recv().expect("the gate is there");
                send.send(number).expect("somebody listens");
            };
            Stream::new(1).unwrap().launch_host_func(wait).unwrap();
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
        assert!(n_stream_threads() < 20, "{} threads", n_stream_threads());
        assert!(receive.try_recv().is_err());
        (0..100).for_each(|_| open.send(()).unwrap());
        let mut numbers: Vec<i32> = receive.iter().take(100).collect();
        numbers.sort_unstable();
        assert!(numbers.into_iter().eq(0..100));
    });
}

#[test]
fn a_panic_in_a_host_function_is_reported_and_ends_nothing() {
    if !is_child() {
        let (out, _) = child("a_panic_in_a_host_function_is_reported_and_ends_nothing");
        assert!(out.contains("a host function panicked: not to reach the driver"), "{out}");
        return;
    }
    rtcg_driver::set_cleanup_hook(|error| println!("{error}"));
    in_context(|_| {
        let stream = Stream::new(1).unwrap();
        stream.launch_host_func(|| panic!("not to reach the driver")).unwrap();
        stream.synchronize().unwrap();
    });
}

#[test]
fn events_say_why_there_is_no_time() {
    in_context(|_| {
        let (a, b, untimed) = (Event::new(0).unwrap(), Event::new(0).unwrap(), Event::new(2).unwrap());
        let text = |end: &Event, start: &Event| end.time_since(start).unwrap_err().to_string();
        assert!(text(&b, &a).ends_with("the first event was never recorded; call record() before"));
        a.record(None).unwrap();
        assert!(text(&b, &a).contains("the second event was never recorded"));
        b.record(None).unwrap();
        b.synchronize().unwrap();
        assert!(b.time_since(&a).unwrap() >= 0.0);
        untimed.record(None).unwrap();
        assert!(text(&untimed, &a).contains("the second event was created with DISABLE_TIMING"));
        let error = a.ipc_handle().unwrap_err().to_string();
        assert!(error.contains("INTERPROCESS | DISABLE_TIMING") || error.contains("not supported"), "{error}");
    });
}

#[test]
fn contexts_of_others_are_seen_and_do_no_harm() {
    in_context(|ctx| {
        let (table, module) = (ctx.table(), Module::from_image(PTX).unwrap());
        let scale = module.function("scale").unwrap();
        let foreign = std::thread::spawn({
            let ctx = ctx.clone();
            move || {
                // Another library, which knows nothing of our stack.
                // SAFETY: the handle is alive.
                assert!(unsafe { ctx.table().cuCtxSetCurrent(ctx.handle()) }.is_success());
                assert!(Context::current().is_none());
                let seen = Context::current_or_foreign().expect("it is current");
                assert_eq!((&seen, seen.kind()), (&ctx, rtcg_driver::ContextKind::Foreign));
                mem_alloc(16).unwrap();
                seen.close().unwrap();
                assert!(ctx.is_alive());
            }
        });
        foreign.join().unwrap();
        let mut other = CUcontext::null();
        // SAFETY: writes one handle; the context is destroyed below.
        unsafe { assert!(table.cuCtxCreate_v2(&raw mut other, 0, ctx.device().handle()).is_success()) };
        let memory = mem_alloc(16).unwrap();
        // SAFETY: as before.
        unsafe { assert!(table.cuCtxSetCurrent(other).is_success()) };
        let args = [&memory.ptr().to_ne_bytes()[..], &[0; 8]].concat();
        // SAFETY: the arguments fit the kernel, which does nothing for n = 0.
        unsafe { scale.launch([1; 3], [1; 3], 0, None, &args).unwrap() };
        Stream::new(0).unwrap().synchronize().unwrap();
        let mut current = CUcontext::null();
        // SAFETY: writes one handle; the other context is alive and not used any more.
        unsafe {
            assert!(table.cuCtxGetCurrent(&raw mut current).is_success());
            assert_eq!(current, ctx.handle());
            assert!(table.cuCtxDestroy(other).is_success());
        }
    });
}

#[test]
fn copies_and_fills_put_the_context_back() {
    in_context(|ctx| {
        let table = ctx.table();
        let (a, b, stream) = (mem_alloc(16).unwrap(), mem_alloc(16).unwrap(), Stream::new(0).unwrap());
        // SAFETY: null means none.
        let displace = || assert!(unsafe { table.cuCtxSetCurrent(CUcontext::null()) }.is_success());
        let mut host = [0; 16];
        let copies: [&mut dyn FnMut() -> rtcg_driver::Result<()>; 8] = unsafe {
            // SAFETY: all memory has 16 bytes and lives until the streams are done.
            [
                &mut || memset_d32(a.ptr(), 7, 4),
                &mut || memset_d32_async(a.ptr(), 9, 2, Some(&stream)),
                &mut || memset_d2d8(a.ptr(), 4, 3, 2, 2),
                &mut || memcpy_dtod(b.ptr(), a.ptr(), 16),
                &mut || memcpy_htod(a.ptr(), &[5; 16]),
                &mut || mem_get_info().map(drop),
                &mut || Context::flags().map(drop),
                &mut || memcpy_dtoh(&mut host, b.ptr()),
            ]
        };
        for copy in copies {
            displace();
            copy().unwrap();
            stream.synchronize().unwrap();
        }
        assert_eq!(host, [3, 3, 0, 0, 3, 3, 0, 0, 7, 0, 0, 0, 7, 0, 0, 0]);
    });
}

#[test]
fn set_current_replaces_the_top() {
    let dev = device();
    let (a, b) = (dev.make_context(0).unwrap(), dev.make_context(0).unwrap());
    Context::set_current(Some(&a)).unwrap();
    assert_eq!(Context::stack(), [a.clone(), a.clone()]);
    Context::set_current(Some(&b)).unwrap();
    assert_eq!(Context::stack(), [a.clone(), b.clone()]);
    Context::set_current(None).unwrap();
    Context::set_current(None).unwrap();
    Context::set_current(None).unwrap();
    assert!(Context::stack().is_empty());
    Context::set_current(Some(&b)).unwrap();
    assert_eq!(Context::stack(), std::slice::from_ref(&b));
    a.close().unwrap();
    a.close().unwrap();
    b.close().unwrap();
    assert!(Context::stack().is_empty() && Context::set_current(Some(&b)).is_err());
}

#[test]
fn closed_modules_launch_nothing() {
    in_context(|_| {
        let module = Module::from_image(PTX).unwrap();
        let scale = module.function("scale").unwrap();
        module.close().unwrap();
        module.close().unwrap();
        assert!(module.function("scale").unwrap_err().to_string().contains("the module was closed"));
        // SAFETY: nothing is launched.
        let error = unsafe { scale.launch([1; 3], [1; 3], 0, None, &[0; 16]) }.unwrap_err();
        assert!(error.to_string().contains("the module was closed"), "{error}");
        assert!(scale.attribute(CU_FUNC_ATTRIBUTE_NUM_REGS).is_err() && scale.max_active_blocks(32, 0).is_err());
    });
}

#[test]
fn occupancy_and_options_a_device_lacks() {
    in_context(|ctx| {
        let module = Module::from_image(PTX).unwrap();
        let scale = module.function("scale").unwrap();
        assert!(scale.max_active_blocks(64, 0).unwrap() >= 1);
        let (grid, block) = scale.max_potential_block_size(0, 0).unwrap();
        assert!(grid >= 1 && block >= 32);
        assert!(scale.max_potential_block_size(0, 64).unwrap().1 <= 64);
        assert!(scale.available_dynamic_shared(1, 64).unwrap() >= 16 << 10);
        let device = ctx.device();
        if device.attribute(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH).unwrap() != 0 {
            assert!(scale.max_potential_cluster_size([64, 1, 1], 0).unwrap() >= 1);
            assert!(scale.max_active_clusters([2, 1, 1], [64, 1, 1], 0).unwrap() >= 1);
            return;
        }
        let options = LaunchOptions { cluster: Some([2, 1, 1]), ..LaunchOptions::default() };
        // SAFETY: the arguments fit the kernel, which does nothing for n = 0.
        let error = unsafe { scale.launch_with([2, 1, 1], [1; 3], 0, None, &[0; 16], options) }.unwrap_err();
        assert!(error.to_string().contains("clusters of blocks are not supported by"), "{error}");
    });
}

#[test]
fn opengl_needs_a_current_context() {
    in_context(|_| {
        let device = Context::current_device().unwrap();
        if !device.is_virtual() {
            return;
        }
        for error in
            [rtcg_driver::gl::devices().unwrap_err(), rtcg_driver::gl::RegisteredObject::buffer(1, 0).unwrap_err()]
        {
            assert_eq!(error.code, CUresult::CUDA_ERROR_INVALID_GRAPHICS_CONTEXT, "{error}");
            assert!(error.to_string().contains("OpenGL"), "{error}");
        }
        let error = rtcg_driver::gl::RegisteredObject::image(1, 0x0DE1, 0).unwrap_err();
        assert!(error.to_string().contains("not supported on the virtual GPU"), "{error}");
    });
}

#[test]
fn modules_list_their_kernels() {
    in_context(|_| {
        let module = Module::from_image(PTX).unwrap();
        let mut names: Vec<_> = module.functions().unwrap().iter().map(|f| f.name().to_owned()).collect();
        names.sort();
        assert_eq!(names, ["fault", "mixed", "nothing", "scale"]);
    });
}
