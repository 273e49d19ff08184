//! The safe objects over whatever device is first (`RTCG_TEST_DEVICE` picks another): a real GPU
//! where there is one, else the virtual one.
//!
//! Tests of what happens at exit, after `fork` and after a fault run in a process of their own:
//! this program starts itself again with `RTCG_TEST_CHILD` set.

mod contexts;
mod streams;

use crate::own_process::{is_child, rerun};
use crate::support::{run_in_context, test_device};
use rtcg_driver::memory::*;
use rtcg_driver::sys::*;
use rtcg_driver::{Context, Device, ErrorKind, Event, LaunchOptions, Linker, Module, Param, Stream, TextureReference};

const PTX: &[u8] = include_bytes!("../kernels.ptx");

/// Runs one test of this file in another process; its standard output and error.
fn run_test_in_child(test: &str) -> (String, String) {
    let output = rerun(module_path!(), test).output().expect("the test can start itself");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    let (out, err) = (text(output.stdout), text(output.stderr));
    assert!(output.status.success(), "{:?}\n{out}\n{err}", output.status);
    assert!(out.contains("running 1 test"), "no test has the name {test}");
    (out, err)
}

fn floats_from_bytes(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|c| f32::from_ne_bytes([c[0], c[1], c[2], c[3]])).collect()
}

fn bytes_from_floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_ne_bytes()).collect()
}

#[test]
fn devices_describe_themselves() {
    let dev = test_device();
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
fn limits_and_memory_information_are_reported() {
    run_in_context(|ctx| {
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
    run_in_context(|_| {
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
fn regions_2d_are_copied() {
    run_in_context(|_| {
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
fn host_memory_of_all_kinds_is_allocated_and_freed() {
    run_in_context(|_| {
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
        let registered = unsafe { RegisteredHostMemory::new(aligned.as_ptr(), 8192, 0) }.unwrap();
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
fn kernels_run_with_checked_arguments() {
    run_in_context(|_| {
        let module = Module::from_image(PTX).unwrap();
        let scale = module.function("scale").unwrap();
        let data: Vec<f32> = (0..100).map(|i| i as f32).collect();
        let memory = mem_alloc(400).unwrap();
        memory.write(0, &bytes_from_floats(&data)).unwrap();
        let mut args = scale.arg_packer();
        args.push(&memory.ptr().to_ne_bytes(), 8).unwrap();
        args.push(&2.5f32.to_ne_bytes(), 4).unwrap();
        args.push(&90u32.to_ne_bytes(), 4).unwrap();
        let args = args.into_bytes().unwrap();
        // SAFETY: the arguments fit the kernel, the memory is alive.
        unsafe { scale.launch([4, 1, 1], [32, 1, 1], 0, None, &args).unwrap() };
        let mut back = vec![0; 400];
        memory.read(0, &mut back).unwrap();
        let expected: Vec<f32> = (0..100).map(|i| if i < 90 { i as f32 * 2.5 } else { i as f32 }).collect();
        assert_eq!(floats_from_bytes(&back), expected);

        let mixed = module.function("mixed").unwrap();
        let mut args = mixed.arg_packer();
        args.push(&[200], 1).unwrap();
        args.push(&0x0123_4567_89ab_cdef_u64.to_ne_bytes(), 8).unwrap();
        args.push(&memory.ptr().to_ne_bytes(), 8).unwrap();
        let stream = Stream::new(0).unwrap();
        // SAFETY: the arguments fit the kernel, the memory is alive.
        unsafe { mixed.launch([1, 1, 1], [1, 1, 1], 0, Some(&stream), &args.into_bytes().unwrap()).unwrap() };
        stream.synchronize().unwrap();
        memory.read(0, &mut back[..16]).unwrap();
        assert_eq!(back[..8], 200u64.to_ne_bytes());
        assert_eq!(back[8..16], 0x0123_4567_89ab_cdef_u64.to_ne_bytes());
    });
}

#[test]
fn wrong_arguments_are_named() {
    run_in_context(|_| {
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
        let mut args = scale.arg_packer();
        assert!(args.push(&[0; 4], 4).unwrap_err().to_string().contains("argument #0 (0-based) has 4 bytes"));
        assert!(scale.arg_packer().into_bytes().unwrap_err().to_string().contains("argument #0 (0-based) is missing"));
        assert_eq!(module.function("nothing").unwrap().params(), Some(&[][..]));
    });
}

#[test]
fn impossible_launches_say_why() {
    run_in_context(|_| {
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
        for (grid, block, reason) in [
            ([1, 1, 1], [64, 64, 1], "block [64, 64, 1] has 4096 threads, 1024 are allowed"),
            ([1, 1, 1], [1, 1, 65], "block [1, 1, 65]: z may be 64 at most"),
            ([1, 1, 1], [1, 0, 1], "block [1, 0, 1] has no threads"),
            ([0, 1, 1], [1, 1, 1], "grid [0, 1, 1] has no blocks"),
            ([1, 65536, 1], [1, 1, 1], "grid [1, 65536, 1]: y may be 65535 at most"),
        ] {
            let error = launch(grid, block, 0).unwrap_err().to_string();
            assert!(error.ends_with(reason), "{error}");
        }
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
    run_in_context(|ctx| {
        let module = Module::from_image(PTX).unwrap();
        let nothing = module.function("nothing").unwrap();
        let options = LaunchOptions { cooperative: true, ..Default::default() };
        let launch = |blocks| {
            // SAFETY: the kernel takes no arguments and touches no memory.
            unsafe { nothing.launch_with_options([blocks, 1, 1], [64, 1, 1], 0, None, &[], options) }
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
    run_in_context(|_| {
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
fn regions_3d_and_peer_memory_are_copied() {
    run_in_context(|ctx| {
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
fn modules_have_globals_and_refuse_invalid_images() {
    run_in_context(|_| {
        let module = Module::from_image(PTX).unwrap();
        let (ptr, nbytes) = module.global("counter").unwrap();
        let mut value = [0; 4];
        assert_eq!(nbytes, 4);
        // SAFETY: the global has four bytes.
        unsafe { memcpy_dtoh(&mut value, ptr).unwrap() };
        assert_eq!(u32::from_ne_bytes(value), 7);
        let error = module.function("nope").unwrap_err();
        assert!(error.to_string().starts_with("cuModuleGetFunction failed: named symbol not found"), "{error}");
        assert!(error.to_string().contains("'nope'; the module has "), "{error}");
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
    run_in_context(|ctx| {
        if !ctx.driver_table().has_function(DriverFn::cuLinkCreate) {
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
    run_in_context(|ctx| {
        let descriptor = CUDA_ARRAY_DESCRIPTOR { Width: 16, Height: 0, Format: CU_AD_FORMAT_FLOAT, NumChannels: 1 };
        if !ctx.driver_table().has_function(DriverFn::cuArrayCreate) {
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
        if ctx.driver_table().has_function(DriverFn::cuTexRefCreate) {
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

#[test]
fn kernels_of_closed_modules_are_errors() {
    run_in_context(|_| {
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
fn occupancy_is_reported_and_unsupported_options_are_errors() {
    run_in_context(|ctx| {
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
        let error = unsafe { scale.launch_with_options([2, 1, 1], [1; 3], 0, None, &[0; 16], options) }.unwrap_err();
        assert!(error.to_string().contains("clusters of blocks are not supported by"), "{error}");
    });
}

#[test]
fn opengl_needs_a_current_context() {
    run_in_context(|_| {
        let device = Context::current_device().unwrap();
        if !device.is_virtual() {
            return;
        }
        for error in [
            rtcg_driver::gl::devices().unwrap_err(),
            rtcg_driver::gl::RegisteredObject::register_buffer(1, 0).unwrap_err(),
        ] {
            assert_eq!(error.code, CUresult::CUDA_ERROR_INVALID_GRAPHICS_CONTEXT, "{error}");
            assert!(error.to_string().contains("OpenGL"), "{error}");
        }
        let error = rtcg_driver::gl::RegisteredObject::register_image(1, 0x0DE1, 0).unwrap_err();
        assert!(error.to_string().contains("not supported on the virtual GPU"), "{error}");
    });
}

#[test]
fn modules_list_their_kernels() {
    run_in_context(|_| {
        let module = Module::from_image(PTX).unwrap();
        let mut names: Vec<_> = module.functions().unwrap().iter().map(|f| f.name().to_owned()).collect();
        names.sort();
        assert_eq!(names, ["fault", "mixed", "nothing", "scale"]);
    });
}
