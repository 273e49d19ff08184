//! Kernel launches: packing arguments, checking their sizes, and launching. `signature` checks types, and `diagnosis`
//! explains failures.
//!
//! Arguments are packed into one buffer at the offsets of the kernel's parameters. If the driver reports these
//! ([`Function::params`]), the number and sizes of arguments are checked, and an error says which argument is wrong;
//! otherwise C's alignment rules determine the offsets.

mod diagnosis;
mod occupancy;
mod prepared;

use crate::context::{Context, restore_displaced_context};
use crate::error::{Error, Result, count_with_noun, count_with_was_or_were};
use crate::last_launch::KernelId;
use crate::launch_options::LaunchOptions;
use crate::module::signature::GivenArgument;
use crate::module::{Function, Param};
use crate::process_state;
use crate::stream::capture::retain_in_capture;
use crate::stream::{Stream, checked_stream_handle};
use rtcg_cuda_sys::*;
use rtcg_hal::{ConversionError, WeakScalar};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Packs the arguments of one launch.
#[derive(Debug)]
pub struct ArgPacker<'f> {
    function: &'f Function,
    params: Option<&'f [Param]>,
    packed: PackedArgs,
    count: usize,
}

const INLINE_ARG_BYTES: usize = 256;

/// Packed arguments, which dereference to bytes. Short ones need no heap memory.
#[derive(Clone)]
#[repr(C, align(16))]
pub struct PackedArgs {
    inline: [u8; INLINE_ARG_BYTES],
    /// Holds all bytes once they are too many for `inline`.
    heap: Vec<u8>,
    len: usize,
}

impl std::fmt::Debug for PackedArgs {
    /// The bytes that are there.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PackedArgs(")?;
        self.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
        f.write_str(")")
    }
}

impl PackedArgs {
    fn new() -> Self {
        Self { inline: [0; INLINE_ARG_BYTES], heap: Vec::new(), len: 0 }
    }

    /// Puts `bytes` at `offset`, which is not before the end of what is there.
    fn write_at_offset(&mut self, offset: usize, bytes: &[u8]) {
        let end = offset + bytes.len();
        if end <= INLINE_ARG_BYTES {
            copy_argument_bytes(&mut self.inline[offset..end], bytes);
        } else {
            if self.heap.is_empty() {
                self.heap.extend_from_slice(&self.inline[..self.len]);
            }
            self.heap.resize(offset, 0);
            self.heap.extend_from_slice(bytes);
        }
        self.len = end;
    }
}

/// Copies as much as `to` has; the commonest sizes without a call.
#[inline(always)]
fn copy_argument_bytes(to: &mut [u8], from: &[u8]) {
    if let (Some(to), Some(from)) = (to.as_mut_array::<8>(), from.as_array::<8>()) {
        *to = *from;
    } else if let (Some(to), Some(from)) = (to.as_mut_array::<4>(), from.as_array::<4>()) {
        *to = *from;
    } else {
        to.copy_from_slice(from);
    }
}

impl std::ops::Deref for PackedArgs {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        if self.heap.is_empty() { &self.inline[..self.len] } else { &self.heap }
    }
}

/// The argument layout of a kernel, checked once for many launches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PreparedArgs {
    /// The place of each argument.
    pub slots: Vec<Param>,
    /// The size of the packed arguments in bytes.
    pub nbytes: usize,
}

impl<'f> ArgPacker<'f> {
    /// The number of arguments so far.
    pub fn argument_count(&self) -> usize {
        self.count
    }

    /// Appends an argument's bytes. `align` is its alignment in C, used only if the kernel's parameters are unknown.
    pub fn push(&mut self, bytes: &[u8], align: usize) -> Result<()> {
        let slot = self.next_param_slot(bytes.len(), align)?;
        self.packed.write_at_offset(slot.offset, bytes);
        self.count += 1;
        Ok(())
    }

    /// Like [`ArgPacker::push`] for an argument of known type, which is checked against the kernel's source if that is
    /// known.
    pub fn push_typed_argument(&mut self, bytes: &[u8], align: usize, given: GivenArgument) -> Result<()> {
        let slot = self.next_param_slot(bytes.len(), align)?;
        self.function.check_argument_type(self.count, given)?;
        self.packed.write_at_offset(slot.offset, bytes);
        self.count += 1;
        Ok(())
    }

    /// Appends a number without a fixed type, converted to the type that the source declares.
    pub fn push_weak_scalar(&mut self, value: WeakScalar) -> Result<()> {
        let call = "cuLaunchKernel";
        let refuse = |why: String| Error::new(call, CUresult::CUDA_ERROR_INVALID_VALUE, why);
        let describe = || self.function.describe_parameter(self.count);
        let Some(declared) = self.function.param_declaration(self.count) else {
            return Err(refuse(format!("{} has no known type for {value:?}", describe())));
        };
        let bytes = declared.kind.convert_number(value).map_err(|why| match why {
            ConversionError::Kind => refuse(format!("{} cannot be {value:?}", describe())),
            ConversionError::Value => refuse(format!("{} has no value {value:?}", describe())),
        })?;
        self.push(&bytes, bytes.len().min(8))
    }

    fn next_param_slot(&self, nbytes: usize, align: usize) -> Result<Param> {
        match self.params {
            Some(params) => match params.get(self.count) {
                Some(param) if param.nbytes == nbytes => Ok(*param),
                Some(param) => Err(self.function.wrong_size_error(self.count, nbytes, param.nbytes)),
                None => Err(self.function.too_many_error(self.count + 1)),
            },
            None => Ok(Param { offset: self.packed.len.next_multiple_of(align.max(1)), nbytes }),
        }
    }

    /// The packed arguments, once all have been added.
    #[inline]
    pub fn packed_bytes(&self) -> Result<&[u8]> {
        match self.params {
            Some(params) if params.len() != self.count => Err(self.function.too_few_error(self.count)),
            _ => Ok(&self.packed),
        }
    }

    /// [`ArgPacker::packed_bytes`] as an owned value.
    pub fn into_packed_args(self) -> Result<PackedArgs> {
        self.packed_bytes()?;
        Ok(self.packed)
    }

    /// [`ArgPacker::packed_bytes`] as a vector.
    pub fn into_bytes(self) -> Result<Vec<u8>> {
        self.packed_bytes().map(<[u8]>::to_vec)
    }
}

/// Checking and packing arguments.
impl Function {
    /// Starts packing the arguments of a launch.
    pub fn arg_packer(&self) -> ArgPacker<'_> {
        let params = self.params();
        ArgPacker { function: self, params, packed: PackedArgs::new(), count: 0 }
    }

    /// Checks the sizes and C alignments of arguments against the kernel, and computes the place of each.
    pub fn prepare(&self, args: &[(usize, usize)]) -> Result<PreparedArgs> {
        let slots = match self.params() {
            Some(params) => {
                self.check_arg_sizes(params, args).map_err(|error| Error { call: "prepare", ..error })?.to_vec()
            }
            None => c_struct_layout(args),
        };
        let nbytes = slots.last().map_or(0, |slot| slot.offset + slot.nbytes);
        Ok(PreparedArgs { slots, nbytes })
    }

    fn check_arg_sizes<'p>(&self, params: &'p [Param], args: &[(usize, usize)]) -> Result<&'p [Param]> {
        for (index, (param, (nbytes, _))) in params.iter().zip(args).enumerate() {
            if param.nbytes != *nbytes {
                return Err(self.wrong_size_error(index, *nbytes, param.nbytes));
            }
        }
        match args.len() {
            n if n < params.len() => Err(self.too_few_error(n)),
            n if n > params.len() => Err(self.too_many_error(n)),
            _ => Ok(params),
        }
    }

    #[cold]
    fn wrong_size_error(&self, index: usize, given: usize, wanted: usize) -> Error {
        let declared = self.param_declaration(index).map_or_else(String::new, |declared| format!(", '{declared}',"));
        self.argument_error(format!(
            "argument #{index} (0-based) has {given} bytes, but the parameter{declared} of kernel '{}' has {wanted}",
            self.name()
        ))
    }

    #[cold]
    fn too_few_error(&self, given: usize) -> Error {
        let wanted = self.params().map_or(0, <[Param]>::len);
        self.argument_error(format!(
            "kernel '{}' takes {}, {} given; argument #{given} (0-based) is missing",
            self.name(),
            count_with_noun(wanted, "argument"),
            count_with_was_or_were(given)
        ))
    }

    /// The error of a launch with more arguments than the kernel has parameters.
    #[cold]
    pub fn too_many_error(&self, given: usize) -> Error {
        let wanted = self.params().map_or(0, <[Param]>::len);
        self.argument_error(format!(
            "kernel '{}' takes {}, but argument #{} (0-based) was given",
            self.name(),
            count_with_noun(wanted, "argument"),
            given - 1
        ))
    }

    fn argument_error(&self, detail: String) -> Error {
        Error::new("cuLaunchKernel", CUresult::CUDA_ERROR_INVALID_VALUE, detail)
    }
}

fn c_struct_layout(args: &[(usize, usize)]) -> Vec<Param> {
    let mut end = 0usize;
    args.iter()
        .map(|&(nbytes, align)| {
            let offset = end.next_multiple_of(align.max(1));
            end = offset + nbytes;
            Param { offset, nbytes }
        })
        .collect()
}

/// The launch.
impl Function {
    /// Launches the kernel with packed arguments. Returns once the launch is enqueued.
    ///
    /// Opts in to more dynamic shared memory than the default if `shared_bytes` requires it.
    ///
    /// # Safety
    /// The arguments must be what the kernel expects (see [`Function::arg_packer`]), and the memory
    /// they point to must be valid until the kernel has run.
    #[inline]
    pub unsafe fn launch(
        &self,
        grid: [u32; 3],
        block: [u32; 3],
        shared_bytes: u32,
        stream: Option<&Stream>,
        args: &[u8],
    ) -> Result<()> {
        if let Some(ready) = self.prepared_launch(shared_bytes, stream) {
            // SAFETY: the caller's promise.
            let launch = || unsafe { ready.launch(grid, block, shared_bytes, args) };
            let code = launch();
            if code.is_success() {
                return Ok(());
            }
            let options = &LaunchOptions::default();
            return self.retry_or_explain_launch("cuLaunchKernel", code, grid, block, shared_bytes, options, launch);
        }
        // SAFETY: the caller's promise.
        unsafe { self.launch_checked(grid, block, shared_bytes, stream, args) }
    }

    /// [`Function::launch`] that looks at everything first, and makes later launches ready.
    #[inline(never)]
    unsafe fn launch_checked(
        &self,
        grid: [u32; 3],
        block: [u32; 3],
        shared_bytes: u32,
        stream: Option<&Stream>,
        args: &[u8],
    ) -> Result<()> {
        let (table, handle) = self.check_launch("cuLaunchKernel", shared_bytes, stream)?;
        let ([gx, gy, gz], [bx, by, bz]) = (grid, block);
        let f = self.0.handle;
        let launch = |each: *mut *mut c_void, extra: *mut *mut c_void| {
            // SAFETY: the function is alive; the arguments are the caller's promise, and the
            // driver copies them before it returns.
            unsafe { table.cuLaunchKernel(f, gx, gy, gz, bx, by, bz, shared_bytes, handle, each, extra) }
        };
        let code = self.with_arguments_unless_forked(args, launch);
        if code.is_success() {
            self.record_launch(stream, handle, args);
            return Ok(());
        }
        let again = || self.with_arguments_unless_forked(args, launch);
        self.retry_or_explain_launch(
            "cuLaunchKernel",
            code,
            grid,
            block,
            shared_bytes,
            &LaunchOptions::default(),
            again,
        )
    }

    /// What comes after each launch. A graph that it became part of needs the kernel's module.
    fn record_launch(&self, stream: Option<&Stream>, handle: CUstream, args: &[u8]) {
        self.0.ctx.launch_queue().count_launch(handle, KernelId::from_kernel_address(&*self.0));
        retain_in_capture(stream, || Arc::new(self.clone()));
        // Prepared launches have packed arguments.
        if !self.has_tensor_maps(args) {
            self.prepare_launch();
        }
    }

    /// [`Function::launch`] with the options of `cuLaunchKernelEx`.
    ///
    /// # Safety
    /// As [`Function::launch`]; events among the options must be alive and belong to this context.
    pub unsafe fn launch_with_options(
        &self,
        grid: [u32; 3],
        block: [u32; 3],
        shared_bytes: u32,
        stream: Option<&Stream>,
        args: &[u8],
        options: LaunchOptions,
    ) -> Result<()> {
        if options == LaunchOptions::default() {
            // SAFETY: the caller's promise.
            return unsafe { self.launch(grid, block, shared_bytes, stream, args) };
        }
        let (table, handle) = self.check_launch("cuLaunchKernelEx", shared_bytes, stream)?;
        let mut attributes = options.launch_attributes();
        let config = launch_config(grid, block, shared_bytes, handle, &mut attributes);
        let launch = |each: *mut *mut c_void, extra: *mut *mut c_void| {
            // SAFETY: as in `launch`; config and attributes live until the call returns.
            unsafe { table.cuLaunchKernelEx(&raw const config, self.0.handle, each, extra) }
        };
        let code = self.with_arguments_unless_forked(args, launch);
        if code.is_success() {
            self.record_launch(stream, handle, args);
            return Ok(());
        }
        let again = || self.with_arguments_unless_forked(args, launch);
        self.retry_or_explain_launch("cuLaunchKernelEx", code, grid, block, shared_bytes, &options, again)
    }

    /// Prepares each launch: the driver table and the stream's handle, after all checks that are possible
    /// before the launch.
    #[inline(always)]
    fn check_launch(
        &self,
        call: &'static str,
        shared_bytes: u32,
        stream: Option<&Stream>,
    ) -> Result<(&'static DriverTable, CUstream)> {
        let table = self.0.module.driver_table_if_alive(call)?;
        if !self.0.has_checked_textures.load(Ordering::Relaxed) {
            self.warn_of_unbound_textures();
        }
        let stream = checked_stream_handle(call, table, stream)?;
        if shared_bytes > self.0.dynamic_limit.load(Ordering::Relaxed) {
            self.allow_dynamic_shared(shared_bytes);
        }
        Ok((table, stream))
    }

    /// Raises the attribute `MAX_DYNAMIC_SHARED_SIZE_BYTES` to `nbytes` where it is smaller. What
    /// the device cannot give is left to the launch, which then fails.
    #[cold]
    fn allow_dynamic_shared(&self, nbytes: u32) {
        let attribute = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        let limit = self.attribute(attribute).ok().and_then(|limit| u32::try_from(limit).ok()).unwrap_or(0);
        let wanted = i32::try_from(nbytes).unwrap_or(i32::MAX);
        if limit >= nbytes {
            self.0.dynamic_limit.store(limit, Ordering::Relaxed);
        } else if self.set_attribute(attribute, wanted).is_ok() {
            self.0.dynamic_limit.store(nbytes, Ordering::Relaxed);
        }
    }

    /// A launch that the driver refused. Another library of this process may have made its own
    /// context current in this thread; then ours is put back and the launch tried once more.
    #[cold]
    #[inline(never)]
    #[expect(clippy::too_many_arguments, reason = "what the failed call was given")]
    fn retry_or_explain_launch(
        &self,
        call: &'static str,
        code: CUresult,
        grid: [u32; 3],
        block: [u32; 3],
        shared_bytes: u32,
        options: &LaunchOptions,
        again: impl FnOnce() -> CUresult,
    ) -> Result<()> {
        let is_in_its_context = Context::current().is_some_and(|current| current == *self.0.module.context());
        let code = if is_in_its_context && restore_displaced_context(code) { again() } else { code };
        if code.is_success() {
            return Ok(());
        }
        Err(self.explain_launch_failure(call, code, grid, block, shared_bytes, options))
    }
}

/// The size of a tensor map.
const TENSOR_MAP_BYTES: usize = 128;

impl Function {
    /// Whether an argument may be, or have, a tensor map. Drivers copy such ones right only if they are given each by
    /// itself: of packed ones, which 580.159 takes without an error, bulk copies read zeros, or end in an illegal
    /// instruction.
    fn has_tensor_maps(&self, args: &[u8]) -> bool {
        let is_large = |param: &Param| param.nbytes >= TENSOR_MAP_BYTES;
        let are_all = |params: &[Param]| params.iter().all(|param| param.offset + param.nbytes <= args.len());
        args.len() >= TENSOR_MAP_BYTES
            && self.params().is_some_and(|params| params.iter().any(is_large) && are_all(params))
    }

    /// Calls `launch` with the lists of arguments by themselves and of packed ones, one of which is null.
    pub(crate) fn with_arguments<T>(
        &self,
        args: &[u8],
        launch: impl FnOnce(*mut *mut c_void, *mut *mut c_void) -> T,
    ) -> T {
        let Some(params) = self.params().filter(|_| self.has_tensor_maps(args)) else {
            return with_launch_extra(args, |extra| launch(std::ptr::null_mut(), extra));
        };
        let address = |param: &Param| args[param.offset..].as_ptr().cast_mut().cast();
        let mut each: Vec<*mut c_void> = params.iter().map(address).collect();
        launch(each.as_mut_ptr(), std::ptr::null_mut())
    }

    /// [`Function::with_arguments`]; in a forked child without calling.
    fn with_arguments_unless_forked(
        &self,
        args: &[u8],
        launch: impl FnOnce(*mut *mut c_void, *mut *mut c_void) -> CUresult,
    ) -> CUresult {
        if process_state::is_forked() {
            return CUresult::CUDA_ERROR_NOT_INITIALIZED;
        }
        self.with_arguments(args, launch)
    }
}

/// Calls `launch` with the list that hands over packed arguments.
#[inline(always)]
pub(crate) fn with_launch_extra<T>(args: &[u8], launch: impl FnOnce(*mut *mut c_void) -> T) -> T {
    if args.is_empty() {
        return launch(std::ptr::null_mut());
    }
    let mut nbytes = args.len();
    let mut extra = [
        CU_LAUNCH_PARAM_BUFFER_POINTER,
        args.as_ptr().cast_mut().cast(),
        CU_LAUNCH_PARAM_BUFFER_SIZE,
        (&raw mut nbytes).cast(),
        CU_LAUNCH_PARAM_END,
    ];
    launch(extra.as_mut_ptr())
}

/// The configuration of a launch. It points to `attributes`.
pub(crate) fn launch_config(
    grid: [u32; 3],
    block: [u32; 3],
    shared_bytes: u32,
    stream: CUstream,
    attributes: &mut [CUlaunchAttribute],
) -> CUlaunchConfig {
    CUlaunchConfig {
        gridDimX: grid[0],
        gridDimY: grid[1],
        gridDimZ: grid[2],
        blockDimX: block[0],
        blockDimY: block[1],
        blockDimZ: block[2],
        sharedMemBytes: shared_bytes,
        hStream: stream,
        attrs: attributes.as_mut_ptr(),
        numAttrs: attributes.len() as c_uint,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_arguments_grow_past_the_inline_buffer() {
        let mut packed = PackedArgs::new();
        let mut expected = Vec::new();
        for (offset, nbytes) in [(0, 4), (8, 8), (16, 200), (240, 16), (256, 8), (272, 600)] {
            let bytes: Vec<u8> = (0..nbytes).map(|i| (i + offset + 1) as u8).collect();
            packed.write_at_offset(offset, &bytes);
            expected.resize(offset, 0);
            expected.extend_from_slice(&bytes);
            assert_eq!(*packed, expected[..]);
            if offset == 8 {
                assert_eq!(format!("{packed:?}"), "PackedArgs(0102030400000000090a0b0c0d0e0f10)");
            }
        }
    }

    #[test]
    fn c_struct_layout_aligns_arguments_as_c_does() {
        let layout = c_struct_layout(&[(4, 4), (8, 8), (1, 1), (2, 2), (16, 8)]);
        let offsets: Vec<_> = layout.iter().map(|p| p.offset).collect();
        assert_eq!(offsets, [0, 8, 16, 18, 24]);
    }
}
