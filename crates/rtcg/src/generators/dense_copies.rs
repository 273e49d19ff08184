//! Contiguous copies, in C order, of arrays with gaps for kernels that index memory linearly. What the kernel may have
//! written is copied back, all in stream order.

#![allow(unsafe_code, reason = "the copies touch the elements of the arrays and nothing else")]

use crate::context::Context;
use crate::generators::compiled_kernel::{CompileSettings, PerContextCache};
use crate::generators::elementwise::{ElementwiseKernel, IndexRange};
use crate::generators::operand::{ArrayView, GeneratedKernelArg};
use rtcg_codegen::c_declarations::{Argument, CType, CTypeForm};
use rtcg_codegen::pointwise::ElementwiseSnippet;
use rtcg_cuda::Result;
use rtcg_driver::Stream;
use rtcg_driver::pool::{DeviceMemoryPool, PooledDeviceAllocation};
use rtcg_hal::BoundedCache;
use std::convert::Infallible;
use std::sync::{Arc, LazyLock};

static COPY_POOLS: LazyLock<PerContextCache<(), DeviceMemoryPool>> = LazyLock::new(PerContextCache::default);

/// Copying kernels by the bytes of a word and the words of an element, of so many kinds of elements.
static COPY_KERNELS: LazyLock<BoundedCache<Arc<ElementwiseKernel>>> = LazyLock::new(|| BoundedCache::new(64));

/// Whether a kernel can index the array as it lies.
pub(crate) fn is_dense(view: &ArrayView<'_>) -> bool {
    view.is_c_contiguous() || view.is_f_contiguous()
}

/// A contiguous copy of an array.
struct DenseCopy {
    memory: PooledDeviceAllocation,
    strides: Vec<isize>,
}

impl DenseCopy {
    fn new_copy(ctx: &Context, view: &ArrayView<'_>, stream: Option<&Stream>) -> Result<Self> {
        let pool = COPY_POOLS.get_or_create(ctx, &(), || Ok(DeviceMemoryPool::trimmed_when_idle()))?;
        let nbytes = view.n_elements() * view.itemsize;
        let memory = ctx.enter(|| pool.allocate(nbytes, stream))?;
        memory.used_in(stream);
        let mut strides = vec![0; view.shape.len()];
        let mut step = view.itemsize as isize;
        for (stride, &length) in strides.iter_mut().zip(view.shape).rev() {
            *stride = step;
            step *= length as isize;
        }
        let copy = Self { memory, strides };
        copy_elements(ctx, &copy.view_as(view), view, stream)?;
        Ok(copy)
    }

    fn view_as<'a>(&'a self, of: &ArrayView<'a>) -> ArrayView<'a> {
        ArrayView { ptr: self.memory.ptr(), strides: &self.strides, ..*of }
    }
}

/// Copies all elements between arrays of one shape.
fn copy_elements(ctx: &Context, to: &ArrayView<'_>, from: &ArrayView<'_>, stream: Option<&Stream>) -> Result<()> {
    let strides = to.strides.iter().chain(from.strides).fold(0, |bits, &stride| bits | stride as u64);
    let bits = to.ptr | from.ptr | strides | to.itemsize as u64;
    let word = 1 << bits.trailing_zeros().min(3);
    let copier = copy_kernel(word, to.itemsize / word);
    // SAFETY: both arrays have the shape, and their memory is used in the order of the stream.
    unsafe {
        copier.launch(ctx, &[GeneratedKernelArg::Array(*to), GeneratedKernelArg::Array(*from)], IndexRange::All, stream)
    }
}

fn copy_kernel(word: usize, words: usize) -> Arc<ElementwiseKernel> {
    let make = || {
        let name = ["unsigned char", "unsigned short", "unsigned int", "unsigned long long"][word.ilog2() as usize];
        let ctype = CType {
            name: "rtcg_item".into(),
            form: CTypeForm::Registered(u32::MAX),
            itemsize: word * words,
            align: word,
        };
        let argument =
            |name: &str, is_const| Argument { name: name.into(), ctype: ctype.clone(), is_vector: true, is_const };
        let spec = ElementwiseSnippet {
            name: "rtcg_stage".into(),
            arguments: vec![argument("to", false), argument("from", true)],
            operation: "to[i] = from[i]".into(),
            preamble: format!("struct rtcg_item {{ {name} words[{words}]; }};"),
            ..ElementwiseSnippet::default()
        };
        let settings = CompileSettings { options: Some(Vec::new()), keep: false };
        Ok::<_, Infallible>(Arc::new(ElementwiseKernel::new(spec, settings)))
    };
    COPY_KERNELS.get_or_insert_with(&(word, words), make).unwrap_or_else(|never| match never {})
}

/// Calls `body` with contiguous arrays in place of those with gaps. Those at which `is_written` holds are copied back.
/// One array that is given twice has one copy.
pub(crate) fn run_with_dense_copies(
    ctx: &Context,
    args: &[GeneratedKernelArg<'_>],
    is_written: impl Fn(usize) -> bool,
    stream: Option<&Stream>,
    body: impl FnOnce(&[GeneratedKernelArg<'_>]) -> Result<()>,
) -> Result<()> {
    let mut copies: Vec<(ArrayView<'_>, DenseCopy, bool)> = Vec::new();
    let mut places = vec![None; args.len()];
    for (at, view) in args.iter().enumerate().filter_map(|(at, value)| Some((at, value.as_array()?))) {
        if is_dense(view) {
            continue;
        }
        let known = copies.iter().position(|(of, ..)| of == view);
        let place = match known {
            Some(place) => place,
            None => {
                copies.push((*view, DenseCopy::new_copy(ctx, view, stream)?, false));
                copies.len() - 1
            }
        };
        copies[place].2 |= is_written(at);
        places[at] = Some(place);
    }
    let dense: Vec<_> = args
        .iter()
        .zip(&places)
        .map(|(value, place)| match place {
            Some(place) => GeneratedKernelArg::Array(copies[*place].1.view_as(&copies[*place].0)),
            None => *value,
        })
        .collect();
    body(&dense)?;
    for (view, copy, _) in copies.iter().filter(|(.., written)| *written) {
        copy_elements(ctx, view, &copy.view_as(view), stream)?;
    }
    Ok(())
}

/// [`run_with_dense_copies`] of one array that is written.
pub(crate) fn run_with_dense_output(
    ctx: &Context,
    out: &ArrayView<'_>,
    stream: Option<&Stream>,
    body: impl FnOnce(&ArrayView<'_>) -> Result<()>,
) -> Result<()> {
    out.check_writable("out")?;
    run_with_dense_copies(
        ctx,
        &[GeneratedKernelArg::Array(*out)],
        |_| true,
        stream,
        |args| match args[0].as_array() {
            Some(view) => body(view),
            None => body(out),
        },
    )
}
