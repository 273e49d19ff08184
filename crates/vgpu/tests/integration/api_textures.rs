//! Texture and surface objects and references through the driver API.

use crate::api_common::*;
use rtcg_cuda_sys::*;
use std::ffi::c_void;
use std::ptr::{null, null_mut};

const PTX: &str = r#"
.version 8.0
.target sm_80
.address_size 64
.global .texref tex;
.global .surfref surf;
.visible .entry sample(.param .u64 t, .param .u64 xs, .param .u64 out, .param .u32 n)
{
    .reg .pred %p<2>; .reg .b32 %r<6>; .reg .f32 %f<7>; .reg .b64 %d<8>;
    ld.param.u64 %d1, [t]; ld.param.u64 %d2, [xs]; ld.param.u64 %d3, [out]; ld.param.u32 %r2, [n];
    mov.u32 %r1, %tid.x;
    setp.ge.u32 %p1, %r1, %r2;
    @%p1 bra END;
    mul.wide.u32 %d4, %r1, 8;
    add.u64 %d5, %d2, %d4;
    ld.global.v2.f32 {%f1, %f2}, [%d5];
    tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%d1, {%f1, %f2}];
    mul.wide.u32 %d6, %r1, 16;
    add.u64 %d7, %d3, %d6;
    st.global.v4.f32 [%d7], {%f3, %f4, %f5, %f6};
END: ret;
}
.visible .entry refs(.param .u64 out)
{
    .reg .b32 %r<9>; .reg .f32 %f<7>; .reg .b64 %d<8>; .reg .pred %p<3>;
    ld.param.u64 %d1, [out];
    mov.u32 %r1, %tid.x;
    tex.2d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [tex, {%r1, 1}];
    mov.u64 %d4, tex;
    txq.width.b32 %r3, [%d4];
    suq.height.b32 %r4, [surf];
    mov.b32 %r5, %f1;
    add.u32 %r5, %r5, 1;
    shl.b32 %r2, %r1, 2;
    sust.b.2d.b32.trap [surf, {%r2, %r1}], {%r5};
    suld.b.2d.b32.zero {%r6}, [surf, {%r2, 77}];
    mul.wide.u32 %d2, %r1, 16;
    add.u64 %d3, %d1, %d2;
    st.global.v4.u32 [%d3], {%r5, %r3, %r4, %r6};
    ret;
}
.visible .entry outside(.param .u64 s)
{
    .reg .b32 %r<3>; .reg .b64 %d<2>;
    ld.param.u64 %d1, [s];
    mov.u32 %r1, 4000;
    sust.b.2d.b32.trap [%d1, {%r1, %r1}], {%r1};
    ret;
}
"#;

fn load_module() -> CUmodule {
    let text = std::ffi::CString::new(PTX).unwrap();
    let mut module = CUmodule::null();
    ok!(cuModuleLoadData(&raw mut module, text.as_ptr().cast()));
    module
}

fn get_function(module: CUmodule, name: &std::ffi::CStr) -> CUfunction {
    let mut f = CUfunction::null();
    ok!(cuModuleGetFunction(&raw mut f, module, name.as_ptr()));
    f
}

fn launch(f: CUfunction, threads: u32, args: &mut [*mut c_void]) {
    ok!(cuLaunchKernel(f, 1, 1, 1, threads, 1, 1, 0, CUstream::null(), args.as_mut_ptr(), null_mut()));
}

/// An array of 32-bit floats counted from 0.
fn new_counting_array(width: usize, height: usize, flags: u32) -> CUarray {
    let d = CUDA_ARRAY3D_DESCRIPTOR {
        Width: width,
        Height: height,
        Depth: 0,
        Format: CUarray_format::CU_AD_FORMAT_FLOAT,
        NumChannels: 1,
        Flags: flags,
    };
    let mut array = CUarray::null();
    ok!(cuArray3DCreate(&raw mut array, &raw const d));
    let data: Vec<f32> = (0..width * height.max(1)).map(|v| v as f32).collect();
    ok!(cuMemcpy2D(&CUDA_MEMCPY2D {
        srcMemoryType: CUmemorytype::CU_MEMORYTYPE_HOST,
        srcHost: data.as_ptr().cast(),
        dstMemoryType: CUmemorytype::CU_MEMORYTYPE_ARRAY,
        dstArray: array,
        WidthInBytes: width * 4,
        Height: height.max(1),
        ..Default::default()
    }));
    array
}

fn array_resource_desc(array: CUarray) -> CUDA_RESOURCE_DESC {
    let mut d = CUDA_RESOURCE_DESC { resType: CUresourcetype::CU_RESOURCE_TYPE_ARRAY, ..Default::default() };
    d.res.array = CUDA_RESOURCE_DESC_res_array { hArray: array };
    d
}

fn copy_to_host<T: Copy + Default>(src: CUdeviceptr, n: usize) -> Vec<T> {
    let mut out = vec![T::default(); n];
    ok!(cuMemcpyDtoH(out.as_mut_ptr().cast(), src, n * size_of::<T>()));
    out
}

fn sample_texture(f: CUfunction, texture: CUtexObject, xs: &[[f32; 2]]) -> Vec<[f32; 4]> {
    let (inputs, out) = (alloc(xs.len() * 8), alloc(xs.len() * 16));
    ok!(cuMemcpyHtoD(inputs, xs.as_ptr().cast(), xs.len() * 8));
    let (mut t, mut i, mut o, mut n) = (texture, inputs, out, xs.len() as u32);
    let mut args: [*mut c_void; 4] =
        [(&raw mut t).cast(), (&raw mut i).cast(), (&raw mut o).cast(), (&raw mut n).cast()];
    launch(f, xs.len().next_multiple_of(8) as u32, &mut args);
    let got = copy_to_host(out, xs.len());
    ok!(cuMemFree(inputs));
    ok!(cuMemFree(out));
    got
}

#[test]
fn objects_are_sampled_and_described() {
    new_context();
    let f = get_function(load_module(), c"sample");
    let array = new_counting_array(4, 3, 0);
    let mut t = 0;
    let texture = CUDA_TEXTURE_DESC {
        addressMode: [CUaddress_mode::CU_TR_ADDRESS_MODE_CLAMP; 3],
        filterMode: CUfilter_mode::CU_TR_FILTER_MODE_LINEAR,
        ..Default::default()
    };
    let r = array_resource_desc(array);
    ok!(cuTexObjectCreate(&raw mut t, &raw const r, &raw const texture, null()));
    let points: Vec<[f32; 2]> = (0..40).map(|i| [i as f32 * 0.25 - 1.0, i as f32 * 0.1]).collect();
    for (p, got) in points.iter().zip(sample_texture(f, t, &points)) {
        let at = |v: f32, n: f64| {
            let fixed = ((f64::from(v) - 0.5) * 256.0 + 0.5).floor() / 256.0;
            fixed.clamp(0.0, n - 1.0)
        };
        let want = at(p[0], 4.0) + 4.0 * at(p[1], 3.0);
        assert_eq!(got, [want as f32, 0.0, 0.0, 0.0], "{p:?}");
    }
    let (mut seen, mut told) = (CUDA_TEXTURE_DESC::default(), CUDA_RESOURCE_DESC::default());
    ok!(cuTexObjectGetTextureDesc(&raw mut seen, t));
    assert_eq!(seen.filterMode, CUfilter_mode::CU_TR_FILTER_MODE_LINEAR);
    ok!(cuTexObjectGetResourceDesc(&raw mut told, t));
    assert_eq!(told.resType, CUresourcetype::CU_RESOURCE_TYPE_ARRAY);
    ok!(cuTexObjectDestroy(t));
    fails!(CUDA_ERROR_INVALID_VALUE, cuTexObjectDestroy(t));
    let strange = CUDA_TEXTURE_DESC { flags: 0x1000, ..texture };
    fails!(CUDA_ERROR_INVALID_VALUE, cuTexObjectCreate(&raw mut t, &raw const r, &raw const strange, null()));
}

#[test]
fn references_of_a_module_are_bound() {
    new_context();
    let module = load_module();
    let f = get_function(module, c"refs");
    let (mut texref, mut again, mut surfref) = (CUtexref::null(), CUtexref::null(), CUsurfref::null());
    ok!(cuModuleGetTexRef(&raw mut texref, module, c"tex".as_ptr()));
    ok!(cuModuleGetTexRef(&raw mut again, module, c"tex".as_ptr()));
    assert_eq!(texref.addr(), again.addr());
    ok!(cuModuleGetSurfRef(&raw mut surfref, module, c"surf".as_ptr()));
    fails!(CUDA_ERROR_NOT_FOUND, cuModuleGetTexRef(&raw mut again, module, c"surf".as_ptr()));
    let (source, target) = (new_counting_array(8, 2, 0), new_counting_array(8, 9, CUDA_ARRAY3D_SURFACE_LDST));
    fails!(CUDA_ERROR_INVALID_VALUE, cuSurfRefSetArray(surfref, source, 0));
    ok!(cuTexRefSetArray(texref, source, CU_TRSA_OVERRIDE_FORMAT));
    ok!(cuSurfRefSetArray(surfref, target, 0));
    let mut out = alloc(8 * 16);
    launch(f, 8, &mut [(&raw mut out).cast()]);
    let got: Vec<[u32; 4]> = copy_to_host(out, 8);
    let want: Vec<[u32; 4]> = (0..8).map(|i| [(8.0 + i as f32).to_bits() + 1, 8, 9, 0]).collect();
    assert_eq!(got, want);
    let mut stored = vec![0.0_f32; 72];
    ok!(cuMemcpy2D(&CUDA_MEMCPY2D {
        srcMemoryType: CUmemorytype::CU_MEMORYTYPE_ARRAY,
        srcArray: target,
        dstMemoryType: CUmemorytype::CU_MEMORYTYPE_HOST,
        dstHost: stored.as_mut_ptr().cast(),
        WidthInBytes: 32,
        Height: 9,
        ..Default::default()
    }));
    let diagonal: Vec<u32> = (0..8).map(|i| stored[i * 9].to_bits()).collect();
    assert_eq!(diagonal, want.iter().map(|w| w[0]).collect::<Vec<_>>());
    let mut bound = CUarray::null();
    ok!(cuTexRefGetArray(&raw mut bound, texref));
    assert_eq!(bound.addr(), source.addr());
    ok!(cuModuleUnload(module));
    fails!(CUDA_ERROR_INVALID_HANDLE, cuTexRefGetArray(&raw mut bound, texref));
}

#[test]
fn a_destroyed_texture_faults() {
    let ctx = new_context();
    let f = get_function(load_module(), c"sample");
    let (mut t, r, texture) = (0, array_resource_desc(new_counting_array(4, 4, 0)), CUDA_TEXTURE_DESC::default());
    ok!(cuTexObjectCreate(&raw mut t, &raw const r, &raw const texture, null()));
    assert_eq!(sample_texture(f, t, &[[1.5, 1.5]])[0][0], 5.0);
    ok!(cuTexObjectDestroy(t));
    let (mut p, mut n) = (alloc(512), 1_u32);
    launch(f, 32, &mut [(&raw mut t).cast(), (&raw mut p).cast(), (&raw mut p).cast(), (&raw mut n).cast()]);
    fails!(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
    let report = rtcg_vgpu::last_fault_report(ctx).unwrap();
    assert!(report.contains("this is no texture object"), "{report}");
}

#[test]
fn a_store_outside_a_surface_traps() {
    let ctx = new_context();
    let f = get_function(load_module(), c"outside");
    let (mut s, r) = (0, array_resource_desc(new_counting_array(4, 4, CUDA_ARRAY3D_SURFACE_LDST)));
    ok!(cuSurfObjectCreate(&raw mut s, &raw const r));
    launch(f, 32, &mut [(&raw mut s).cast()]);
    fails!(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
    let report = rtcg_vgpu::last_fault_report(ctx).unwrap();
    assert!(report.contains("surface access out of bounds"), "{report}");
}

#[test]
fn mipmaps_have_levels() {
    new_context();
    let d = CUDA_ARRAY3D_DESCRIPTOR {
        Width: 20,
        Height: 5,
        Depth: 0,
        Format: CUarray_format::CU_AD_FORMAT_HALF,
        NumChannels: 2,
        Flags: 0,
    };
    let mut mipmap = CUmipmappedArray::null();
    ok!(cuMipmappedArrayCreate(&raw mut mipmap, &raw const d, 9));
    let mut level = CUarray::null();
    let mut told = CUDA_ARRAY_DESCRIPTOR::default();
    for (l, size) in [(20, 5), (10, 2), (5, 1), (2, 1), (1, 1)].into_iter().enumerate() {
        ok!(cuMipmappedArrayGetLevel(&raw mut level, mipmap, l as u32));
        ok!(cuArrayGetDescriptor(&raw mut told, level));
        assert_eq!((told.Width, told.Height), size);
    }
    fails!(CUDA_ERROR_INVALID_VALUE, cuMipmappedArrayGetLevel(&raw mut level, mipmap, 5));
    fails!(CUDA_ERROR_INVALID_VALUE, cuArrayDestroy(level));
    ok!(cuMipmappedArrayDestroy(mipmap));
    fails!(CUDA_ERROR_INVALID_HANDLE, cuArrayGetDescriptor(&raw mut told, level));
}

#[test]
fn fetches_by_number_in_one_dimension_read_linear_memory_only() {
    const FETCH_PTX: &std::ffi::CStr = c".version 8.0\n.target sm_80\n.address_size 64\n\
        .visible .entry fetch(.param .u64 t, .param .u64 out) { .reg .f32 %f<5>; .reg .b64 %d<3>; .reg .b32 %r;\n\
        ld.param.u64 %d1, [t]; ld.param.u64 %d2, [out]; mov.u32 %r, 3;\n\
        tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%d1, {%r}]; st.global.f32 [%d2], %f1; ret; }\n\
        .visible .entry misaligned(.param .u64 s) { .reg .b64 %d; .reg .b32 %r<3>; ld.param.u64 %d, [s];\n\
        mov.u32 %r1, 29; suld.b.1d.b32.zero {%r2}, [%d, {%r1}]; ret; }\n";
    let _ctx = new_context();
    let mut module = CUmodule::null();
    ok!(cuModuleLoadData(&raw mut module, FETCH_PTX.as_ptr().cast()));
    let fetch = get_function(module, c"fetch");
    let out = alloc(16);
    let fetched = |resource: &CUDA_RESOURCE_DESC| {
        let (mut t, mut o, plain) = (0, out, CUDA_TEXTURE_DESC::default());
        ok!(cuTexObjectCreate(&raw mut t, resource, &raw const plain, null()));
        launch(fetch, 1, &mut [(&raw mut t).cast(), (&raw mut o).cast()]);
        copy_to_host::<f32>(out, 1)[0]
    };
    let array = new_counting_array(8, 0, CUDA_ARRAY3D_SURFACE_LDST);
    assert_eq!(fetched(&array_resource_desc(array)), 0.0);
    let memory = alloc(512);
    ok!(cuMemsetD32(memory, 5.0_f32.to_bits(), 128));
    let mut linear = CUDA_RESOURCE_DESC { resType: CUresourcetype::CU_RESOURCE_TYPE_LINEAR, ..Default::default() };
    let describe = |bytes| CUDA_RESOURCE_DESC_res_linear {
        devPtr: memory,
        format: CUarray_format::CU_AD_FORMAT_FLOAT,
        numChannels: 1,
        sizeInBytes: bytes,
    };
    for (bytes, value) in [(512, 5.0), (0, 0.0), (3, 0.0)] {
        linear.res.linear = describe(bytes);
        assert_eq!(fetched(&linear), value, "{bytes} bytes");
    }
    // Bytes that no texel begins at fault, also outside of the surface.
    let (mut s, r) = (0, array_resource_desc(array));
    ok!(cuSurfObjectCreate(&raw mut s, &raw const r));
    launch(get_function(module, c"misaligned"), 1, &mut [(&raw mut s).cast()]);
    fails!(CUDA_ERROR_MISALIGNED_ADDRESS, cuCtxSynchronize());
}

#[test]
fn descriptions_are_checked_as_a_device_checks_them() {
    let ctx = new_context();
    let make = |resource: &CUDA_RESOURCE_DESC, texture: &CUDA_TEXTURE_DESC, view: Option<&CUDA_RESOURCE_VIEW_DESC>| {
        let mut t = 0;
        let view = view.map_or(null(), std::ptr::from_ref);
        call!(cuTexObjectCreate(&raw mut t, resource, texture, view)).map(|()| t)
    };
    let refused = Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    let (array, plain) = (array_resource_desc(new_counting_array(16, 16, 0)), CUDA_TEXTURE_DESC::default());
    assert_eq!(make(&array_resource_desc(CUarray::null()), &plain, None), refused);
    // An axis that the array does not have takes any mode, which is then clamping.
    let mode = |axis: usize| {
        let mut texture = CUDA_TEXTURE_DESC::default();
        texture.addressMode[axis] = CUaddress_mode(4);
        texture
    };
    assert_eq!(make(&array, &mode(0), None), refused);
    assert_eq!(make(&array, &mode(1), None), refused);
    let t = make(&array, &mode(2), None).unwrap();
    let mut described = CUDA_TEXTURE_DESC::default();
    ok!(cuTexObjectGetTextureDesc(&raw mut described, t));
    assert_eq!(described.addressMode[2], CUaddress_mode::CU_TR_ADDRESS_MODE_CLAMP);
    let view = |format, width| CUDA_RESOURCE_VIEW_DESC {
        format: CUresourceViewFormat(format),
        width,
        height: 16,
        ..Default::default()
    };
    assert!(make(&array, &plain, Some(&view(22, 16))).is_ok());
    for (format, width) in [(0, 16), (22, 0), (22, 8), (19, 16), (35, 16), (27, 16)] {
        assert_eq!(make(&array, &plain, Some(&view(format, width))), refused, "{format} {width}");
    }
    for flags in [4, 8, 0x20] {
        assert!(make(&array, &CUDA_TEXTURE_DESC { flags, ..plain }, None).is_ok(), "{flags}");
    }
    assert_eq!(make(&array, &CUDA_TEXTURE_DESC { flags: 0x40, ..plain }, None), refused);
    let mut surface = 0;
    ok!(cuSurfObjectCreate(&raw mut surface, &raw const array));
    ok!(cuCtxDestroy(ctx));
}
