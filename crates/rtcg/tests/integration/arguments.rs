//! What launches take: structures, small numbers, arrays, textures, surfaces, variables and allocations of all kinds.

use half::{bf16, f16};
use num_complex::Complex;
use rtcg::driver::sys::{CU_AD_FORMAT_FLOAT, CUDA_ARRAY3D_DESCRIPTOR, CUDA_ARRAY3D_SURFACE_LDST, CUDA_TEXTURE_DESC};
use rtcg::driver::{
    Array, DeviceAllocation, HostAllocFlags, HostAllocation, ManagedAllocation, MemAttachFlags, SurfaceObject,
    TextureObject, TextureResource,
};
use rtcg::prelude::*;
use rtcg::{DevicePtr, Element, Strided, index};

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Element)]
struct Inner {
    half: f16,
    is_odd: bool,
}

/// Padding before `weight`, inside of `inner` and at the end.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Element)]
struct Record {
    inner: [Inner; 2],
    weight: f64,
    r#type: u8,
    next: DevicePtr<[i32; 2]>,
    count: usize,
    last: u8,
}

#[repr(C, align(16))]
#[derive(Clone, Copy, Debug, PartialEq, Element)]
struct Aligned(f32, i16);

fn record(at: usize) -> Record {
    let inner = [Inner { half: f16::from_f32(at as f32), is_odd: at % 2 == 1 }; 2];
    Record { inner, weight: at as f64 / 2.0, r#type: at as u8, next: DevicePtr::new(0), count: at, last: 9 }
}

#[test]
fn structures_are_elements_and_arguments() {
    let ctx = Context::new().unwrap();
    let source = Record::c_declaration()
        + &Aligned::c_declaration()
        + "__global__ void change(Record *all, Record one, Aligned *out, Aligned in)
        {
            Record &mine = all[threadIdx.x];
            mine.weight += one.weight + mine.type;
            mine.count *= one.count;
            mine.inner[1].half = one.inner[0].half;
            mine.inner[0].is_odd = !mine.inner[0].is_odd;
            out[threadIdx.x] = {in._0 + threadIdx.x, (short) -in._1};
        }";
    let change = ctx.compile(&source).unwrap().function("change").unwrap();
    let host: Vec<_> = (0..3).map(record).collect();
    let (all, out) = (ctx.to_device(&host).unwrap(), ctx.zeros::<Aligned>(3).unwrap());
    // SAFETY: the kernel writes three structures of each.
    unsafe { change.launch(Grid::new(1, 3), &[&all, &record(4), &out, &Aligned(0.5, 7)]).unwrap() };
    let expected: Vec<_> = host
        .iter()
        .map(|old| {
            let mut new = Record { weight: old.weight + 2.0 + f64::from(old.r#type), count: old.count * 4, ..*old };
            new.inner[1].half = f16::from_f32(4.0);
            new.inner[0].is_odd = !old.inner[0].is_odd;
            new
        })
        .collect();
    assert_eq!(all.to_vec().unwrap(), expected);
    assert_eq!(out.to_vec().unwrap(), [Aligned(0.5, -7), Aligned(1.5, -7), Aligned(2.5, -7)]);
    // SAFETY: it is refused.
    let error = unsafe { change.launch(Grid::new(1, 3), &[&all, &1.0f32, &out, &Aligned(0.5, 7)]).unwrap_err() };
    assert!(error.to_string().contains("argument #1 (0-based) has 4 bytes"), "{error}");
}

/// Rust lets `align` ask for less than the fields need, C does not.
#[repr(C, align(2))]
#[derive(Clone, Copy, Debug, PartialEq, Element)]
struct LooselyAligned(f32, u8);

/// The alignment of a field that is an aligned structure itself.
#[repr(C, align(8))]
#[derive(Clone, Copy, Debug, PartialEq, Element)]
struct Outer(Aligned, u8);

#[test]
fn structures_are_never_declared_with_less_than_their_natural_alignment() {
    assert_eq!((align_of::<LooselyAligned>(), LooselyAligned::C_ALIGN), (4, 4));
    assert!(!LooselyAligned::c_declaration().contains("alignas"));
    let declaration = Outer::c_declaration();
    assert_eq!((Outer::C_ALIGN, declaration.matches("alignas").count()), (16, 1), "{declaration}");
    let ctx = Context::new().unwrap();
    let source = LooselyAligned::c_declaration()
        + &declaration
        + "__global__ void f(LooselyAligned *x, Outer *y) { x->_0 += x->_1; y->_0._0 += y->_1; }";
    let f = ctx.compile(&source).unwrap().function("f").unwrap();
    let x = ctx.to_device(&[LooselyAligned(0.5, 1)]).unwrap();
    let y = ctx.to_device(&[Outer(Aligned(0.5, 7), 2)]).unwrap();
    // SAFETY: the kernel writes one structure of each.
    unsafe { f.launch(Grid::new(1, 1), &[&x, &y]).unwrap() };
    assert_eq!(x.to_vec().unwrap(), [LooselyAligned(1.5, 1)]);
    assert_eq!(y.to_vec().unwrap(), [Outer(Aligned(2.5, 7), 2)]);
}

#[test]
fn all_numbers_are_elements_and_arguments() {
    fn check<T: Element + PartialEq + std::fmt::Debug>(ctx: &Context, values: [T; 2]) {
        let declare = |name: &str| T::c_declarator(name);
        let source = format!(
            "{}struct Holder {{ {}; }};
             __global__ void set(Holder *a, Holder value) {{ a[1] = value; }}",
            T::c_declaration(),
            declare("value")
        );
        let set = ctx.compile(&source).unwrap().function("set").unwrap();
        let a = ctx.to_device(&[values[0]; 3]).unwrap();
        // SAFETY: the kernel writes the second of three elements.
        unsafe { set.launch(Grid::new(1, 1), &[&a, &values[1]]).unwrap() };
        assert_eq!(a.to_vec().unwrap(), [values[0], values[1], values[0]], "{source}");
    }
    let ctx = Context::new().unwrap();
    check(&ctx, [false, true]);
    check(&ctx, [1usize, usize::MAX]);
    check(&ctx, [1isize, -2]);
    check(&ctx, [-1i8, 2]);
    check(&ctx, [f16::from_f32(1.5), f16::MAX]);
    check(&ctx, [bf16::from_f32(1.5), bf16::MIN]);
    check(&ctx, [Complex::new(1.0f32, 2.0), Complex::new(-3.0, 4.0)]);
    check(&ctx, [Complex::new(1.0f64, 2.0), Complex::new(-3.0, 4.0)]);
    check(&ctx, [[1.0f32; 4], [1.0, 2.0, 3.0, 4.0]]);
    check(&ctx, [[[1i16; 2]; 3], [[1, 2], [3, 4], [5, 6]]]);
    check(&ctx, [DevicePtr::<f32>::new(0), DevicePtr::new(64)]);
}

#[test]
fn types_of_new_elements_are_checked() {
    let ctx = Context::new().unwrap();
    let source = "__global__ void f(const float4 *v, bool *b, bool flag, float2 z) { b[0] = flag && v->w == z.y; }";
    let f = ctx.compile(source).unwrap().function("f").unwrap();
    let (vectors, truths) = (ctx.to_device(&[[1.0f32, 2.0, 3.0, 4.0]]).unwrap(), ctx.to_device(&[false]).unwrap());
    let z = Complex::new(0.0f32, 4.0);
    // SAFETY: the kernel writes one truth value; the second launch is refused.
    let error = unsafe {
        f.launch(Grid::new(1, 1), &[&vectors, &truths, &true, &z]).unwrap();
        f.launch(Grid::new(1, 1), &[&vectors, &truths, &true, &1.0f64]).unwrap_err()
    };
    assert_eq!(truths.to_vec().unwrap(), [true]);
    assert!(error.to_string().contains("cannot be a value of type double"), "{error}");
    // A device may leave any byte.
    let bytes = ctx.compile("__global__ void g(bool *b) { ((char *) b)[0] = 64; }").unwrap().function("g").unwrap();
    // SAFETY: the kernel writes one byte.
    unsafe { bytes.launch(Grid::new(1, 1), &[&truths]).unwrap() };
    assert_eq!(truths.to_vec().unwrap()[0] as u8, 1);
}

const TWICE: &str = "
__device__ float table[4] = {1, 2, 3, 4};
__global__ void twice(float *a) { a[threadIdx.x] *= 2; }";

#[test]
fn arrays_are_arguments() {
    let ctx = Context::new().unwrap();
    let arrays = ArrayFactory::new(&ctx).unwrap();
    let twice = ctx.compile(TWICE).unwrap().function("twice").unwrap();
    let a = arrays.from_shape_and_values(&[2, 3], &[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
    let (row, doubles) = (a.index(&index![1]).unwrap(), arrays.zeros::<f64>(&[4]).unwrap());
    // SAFETY: the kernel writes three elements of the row, and one of the array; others are refused.
    unsafe {
        twice.launch(Grid::new(1, 3), &[&row]).unwrap();
        twice.launch(Grid::new(1, 1), &[a.as_dyn()]).unwrap();
        twice.launch(Grid::new(1, 1), &[&Strided(&a.t())]).unwrap();
        let refused =
            |argument: &dyn KernelArgument| twice.launch(Grid::new(1, 1), &[argument]).unwrap_err().to_string();
        let text = refused(&a.t());
        assert!(text.contains("shape (3, 2) with strides of [4, 12] bytes; expected one without gaps"), "{text}");
        let text = refused(&doubles);
        assert!(text.contains("cannot be an array of double"), "{text}");
    }
    assert_eq!(a.to_vec().unwrap(), [4.0, 2.0, 3.0, 8.0, 10.0, 12.0]);
}

#[test]
fn arrays_in_a_graph_outlive_it() {
    own_process!();
    let ctx = Context::new().unwrap();
    let arrays = ArrayFactory::new(&ctx).unwrap();
    let (stream, twice) = (ctx.stream().unwrap(), ctx.compile(TWICE).unwrap().function("twice").unwrap());
    let (a, keep) = (arrays.full(&[32], 1.0f32).unwrap(), arrays.full(&[32], 1.0f32).unwrap());
    ctx.synchronize().unwrap();
    stream.begin_capture(rtcg::driver::sys::CU_STREAM_CAPTURE_MODE_RELAXED).unwrap();
    // SAFETY: the kernel writes 32 elements.
    unsafe {
        twice.launch(Grid::new(1, 32).stream(&stream), &[&a]).unwrap();
        twice.launch(Grid::new(1, 32).stream(&stream), &[&keep]).unwrap();
    }
    let exec = stream.end_capture().unwrap().instantiate(0).unwrap();
    drop(a);
    let others: Vec<_> = (0..16).map(|_| arrays.zeros::<f32>(&[32]).unwrap() + 1.0).collect();
    exec.launch(Some(&stream)).unwrap();
    stream.synchronize().unwrap();
    assert_eq!(keep.to_vec().unwrap(), [2.0; 32]);
    assert!(others.iter().all(|other| other.to_vec().unwrap() == [1.0; 32]), "the graph wrote to memory of others");
}

#[test]
fn variables_and_allocations_are_arguments() {
    let ctx = Context::new().unwrap();
    let module = ctx.compile(TWICE).unwrap();
    let (twice, table) = (module.function("twice").unwrap(), module.global_variable::<f32>("table").unwrap());
    let n = 16;
    let (plain, managed, host) = ctx
        .with_current(|| {
            let managed = ManagedAllocation::new(n, MemAttachFlags::GLOBAL)?;
            rtcg::Result::Ok((DeviceAllocation::new(n)?, managed, HostAllocation::new(n, HostAllocFlags::DEVICE_MAP)?))
        })
        .unwrap();
    let mut pinned = ctx.pinned::<f32>(4).unwrap();
    pinned.copy_from_slice(&[1.0; 4]);
    let ones: Vec<u8> = [1.0f32; 4].iter().flat_map(|x| x.to_ne_bytes()).collect();
    plain.write(0, &ones).unwrap();
    // SAFETY: 16 bytes of each, which nobody else uses; the kernel writes four elements.
    unsafe {
        [managed.as_ptr(), host.as_ptr()].iter().for_each(|to| to.copy_from_nonoverlapping(ones.as_ptr(), n));
        let all: [&dyn KernelArgument; 5] = [&table, &plain, &managed, &host, &pinned];
        all.iter().for_each(|argument| twice.launch(Grid::new(1, 4), &[*argument]).unwrap());
    }
    ctx.synchronize().unwrap();
    assert_eq!(table.to_vec().unwrap(), [2.0, 4.0, 6.0, 8.0]);
    assert_eq!(*pinned, [2.0; 4]);
    let twos: Vec<u8> = [2.0f32; 4].iter().flat_map(|x| x.to_ne_bytes()).collect();
    let mut bytes = [0; 16];
    plain.read(0, &mut bytes).unwrap();
    // SAFETY: 16 bytes of each, and the kernels that wrote them have ended.
    let (of_managed, of_host) =
        unsafe { (std::slice::from_raw_parts(managed.as_ptr(), n), std::slice::from_raw_parts(host.as_ptr(), n)) };
    assert!([&bytes[..], of_managed, of_host].iter().all(|bytes| *bytes == twos));
    plain.free().unwrap();
    // SAFETY: it is refused.
    let error = unsafe { twice.launch(Grid::new(1, 4), &[&plain]).unwrap_err() };
    assert!(error.to_string().contains("device memory that was freed"), "{error}");
}

#[test]
fn texture_and_surface_objects_are_arguments() {
    let ctx = Context::new().unwrap();
    let source = "__global__ void f(cudaSurfaceObject_t surface, cudaTextureObject_t texture, float *out)
    {
        float old = tex2D<float>(texture, 1.5f, 0.5f);
        surf2Dwrite(old + 5, surface, 8, 0);
        surf2Dread(out, surface, 8, 0);
        out[1] = old;
    }";
    let f = ctx.compile(source).unwrap().function("f").unwrap();
    let described = CUDA_ARRAY3D_DESCRIPTOR {
        Width: 4,
        Height: 1,
        Format: CU_AD_FORMAT_FLOAT,
        NumChannels: 1,
        Flags: CUDA_ARRAY3D_SURFACE_LDST,
        ..Default::default()
    };
    let out = ctx.zeros::<f32>(2).unwrap();
    let texels: Vec<u8> = [1.0f32, 2.0, 3.0, 4.0].iter().flat_map(|x| x.to_ne_bytes()).collect();
    let (surface, texture) = ctx
        .with_current(|| {
            let array = Array::new_3d(&described)?;
            rtcg::driver::memory::memcpy_htoa(&array, 0, &texels)?;
            // SAFETY: an array lives as long as the object.
            let texture =
                unsafe { TextureObject::new(TextureResource::Array(array.clone()), &CUDA_TEXTURE_DESC::default())? };
            rtcg::Result::Ok((SurfaceObject::new(&array)?, texture))
        })
        .unwrap();
    // SAFETY: the kernel writes two elements and one texel.
    unsafe { f.launch(Grid::new(1, 1), &[&surface, &texture, &out]).unwrap() };
    assert_eq!(out.to_vec().unwrap(), [7.0, 2.0]);
}
